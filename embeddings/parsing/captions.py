"""Which captions are learned from, which are looked at meanwhile, and which are kept for the test.

    python -m embeddings.parsing.captions --reference FOLDER --out FOLDER

The folder has COCO's test split of Karpathy, Flickr30k's, and the captions of the tests, as
`reference` does for the tests of the package. Written are lists of captions, one a line:
`coco-tokens`, `coco-raw`, `flickr30k` and `flickr30k-tokens` to learn from, `dev-tokens` and
`dev-raw` (every twentieth image of COCO), `test-flickr30k` (every fifth image of Flickr30k) and
`test-regions` (1,000 descriptions of parts of images, of Visual Genome). `kept-out`, not to be
parsed, has the captions of `dev-*` and of all tests, which no made caption may repeat. Left out
everywhere: the captions and images of COCO's "fakecap" example, captions of Flickr8k, and images of
Flickr30k that have one.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

from semmetrics.text.parser_tokens import cut_sentences

__all__ = ["in_tokens", "main", "plain", "split"]

_DEV, _TEST = 20, 5  # one image of so many
_REGIONS = 1000


def plain(caption: str) -> str:
    """Return what captions are compared by: letters and digits alone, in lower case."""
    return re.sub(r"[^a-z0-9]+", " ", caption.lower()).strip()


def in_tokens(caption: str) -> str:
    """Return a caption's tokens in lower case and without signs, joined by blanks."""
    tokens = [token.lower() for one in cut_sentences(caption) for token in one]
    return " ".join(
        word for word in tokens if word == "'s" or any(map(str.isalnum, word))
    )


def split(reference: Path) -> tuple[dict[str, list[str]], list[list[str]]]:
    """Return the lists of captions by name, and the tokens of `dev-tokens` by image."""
    kept_out = {plain(text) for text in _tuples(reference, "fakecap")}
    images_out = set(
        json.loads((reference / "coco/fakecap_tokenized_gts.json").read_text())
    )
    flickr8k = {plain(text) for text in _tuples(reference, "flickr8k")}
    lists: dict[str, list[str]] = {}

    tokens = dict(
        line.split("\t")
        for line in _lines(reference / "coco/ptb_tokens_coco_test5k.tsv.gz")
    )
    rows = [
        line.split("\t")
        for line in _lines(reference / "coco/coco_karpathy_test5k.tsv")[1:]
    ]
    images: dict[str, list[str]] = {}
    for image, _, raw in rows:
        form = tokens.get(raw, "")
        if image in images_out or kept_out & {plain(raw), plain(form)}:
            continue
        if flickr8k & {plain(raw), plain(form)}:
            continue
        if raw == form:
            raw = ""
        dev = crc32(image.encode()) % _DEV == 0
        lists.setdefault("dev-tokens" if dev else "coco-tokens", []).append(form)
        lists.setdefault("dev-raw" if dev else "coco-raw", []).append(raw)
        if dev:
            images.setdefault(image, []).append(form)

    texts = _lines(reference / "flickr30k/test_caps.txt")
    for image, start in enumerate(range(0, len(texts), 5)):
        captions = texts[start : start + 5]
        if flickr8k.isdisjoint(map(plain, captions)):
            name = "test-flickr30k" if image % _TEST == 0 else "flickr30k"
            lists.setdefault(name, []).extend(captions)

    lists["flickr30k-tokens"] = list(map(in_tokens, dict.fromkeys(lists["flickr30k"])))

    regions = _lines(reference / "spice/SPICE_parsing_outputs.txt")
    lists["test-regions"] = [line.split("\t")[0] for line in regions[:_REGIONS]]
    tests = [
        text for name in ("fakecap", "flickr8k") for text in _tuples(reference, name)
    ]
    lists["kept-out"] = tests + [
        text
        for name, some in lists.items()
        if name.startswith(("dev-", "test-"))
        for text in some
    ]
    found = {
        name: list(dict.fromkeys(filter(None, some))) for name, some in lists.items()
    }
    return found, list(images.values())


def _tuples(reference: Path, name: str) -> Iterable[str]:
    for line in _lines(reference / f"spice/raw_tuples_{name}.jsonl.gz"):
        yield json.loads(line)["caption"]


def _lines(path: Path) -> list[str]:
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return content.decode("utf-8").removesuffix("\n").split("\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.captions", description=__doc__)
    command.add_argument("--reference", type=Path, required=True)
    command.add_argument("--out", type=Path, required=True)
    given = command.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    lists, images = split(given.reference)
    (given.out / "dev-images.json").write_text(json.dumps(images), encoding="utf-8")
    for name, captions in lists.items():
        content = "".join(f"{caption}\n" for caption in captions).encode()
        (given.out / f"{name}.txt").write_bytes(content)
        print(
            f"{name}: {len(captions):,} captions, {hashlib.sha256(content).hexdigest()[:12]}"
        )


if __name__ == "__main__":
    main()
