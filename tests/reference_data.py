"""Files of published data that several reference tests read."""

from __future__ import annotations

import gzip
import json
from typing import NamedTuple


class CocoCaptions(NamedTuple):
    """Captions by sentence id, and lists of captions by image id."""

    by_sentence: dict
    by_image: dict


def read_lines(path):
    """The lines of a text file, which may be compressed."""
    if path.suffix == ".gz":
        text = gzip.decompress(path.read_bytes()).decode()
    else:
        text = path.read_text("utf-8")
    return text.rstrip("\n").split("\n")


def read_json(path):
    return json.loads("\n".join(read_lines(path)))


def read_json_lines(path):
    return [json.loads(line) for line in read_lines(path)]


def coco_test_captions(reference_dir):
    """The captions of the 5,000 images of the Karpathy test split."""
    captions = CocoCaptions({}, {})
    lines = read_lines(reference_dir / "coco" / "coco_karpathy_test5k.tsv")
    for line in lines[1:]:
        image, sentence, text = line.split("\t")
        captions.by_sentence[sentence] = text
        captions.by_image.setdefault(image, []).append(text)
    return captions


def ptb_tokens(reference_dir, name):
    """The tokens of the released tokenizer, joined by spaces, by caption."""
    lines = read_lines(reference_dir / "coco" / f"ptb_tokens_{name}.tsv.gz")
    return dict(line.split("\t") for line in lines)


def raw_tuples(reference_dir, name):
    """The tuples of the official SPICE parser by caption."""
    lines = read_json_lines(reference_dir / "spice" / f"raw_tuples_{name}.jsonl.gz")
    return {line["caption"]: line["tuples"] for line in lines}
