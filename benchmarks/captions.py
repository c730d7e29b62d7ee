"""The coco-caption protocol from files to numbers, beside pycocoevalcap with its Java programs.

Both start from the same two JSON files in COCO's format and end with BLEU-1 to BLEU-4, ROUGE-L and
CIDEr-D, tokenisation included; METEOR and SPICE are left out of both. The peer reads its files by
the plain ``json`` module. The numbers must agree to 1e-9 before a time is reported.

METEOR is that of whole programs, from their start: the first caption of the next image is the
candidate, and all of an image are its references. The table of paraphrases was converted before.
The peer's tokenizer drops a full stop that depends on the next caption, which ours keeps: the
values must agree to 1e-6.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import semmetrics
from benchmarks.captions_ngram import captions
from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, fresh, ratio, seconds, take_turns

__all__ = ["WORKLOADS"]

TOLERANCE = 1e-9
MEASURES = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"]
Texts = dict[str, list[str]]


def write(folder: Path, texts: Texts) -> tuple[Path, Path]:
    """The first caption of each image as results, the others as annotations."""
    results = [{"image_id": image, "caption": some[0]} for image, some in texts.items()]
    flat = [(image, text) for image, some in texts.items() for text in some[1:]]
    notes = [
        {"id": number, "image_id": image, "caption": text}
        for number, (image, text) in enumerate(flat)
    ]
    paths = folder / "results.json", folder / "annotations.json"
    paths[0].write_text(json.dumps(results), encoding="utf-8")
    images = [{"id": image} for image in texts]
    paths[1].write_text(
        json.dumps({"images": images, "annotations": notes}), encoding="utf-8"
    )
    return paths


def ours(results: Path, annotations: Path) -> list[float]:
    """One call."""
    table = semmetrics.score(results, annotations, measures=MEASURES, task="captions")
    return [score.value for score in table]


def peer(results: Path, annotations: Path) -> list[float]:
    """What COCOEvalCap does, without the two metrics that need a jar of their own."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    gts: dict[str, list[dict[str, str]]] = {}
    for note in json.loads(annotations.read_text(encoding="utf-8"))["annotations"]:
        gts.setdefault(note["image_id"], []).append(note)
    res = {
        note["image_id"]: [note]
        for note in json.loads(results.read_text(encoding="utf-8"))
    }
    tokenizer = PTBTokenizer()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        both = tokenizer.tokenize(gts), tokenizer.tokenize(res)
        bleu, rouge, cider = (
            scorer.compute_score(*both)[0] for scorer in (Bleu(4), Rouge(), Cider())
        )
    return [*map(float, bleu), float(rouge), float(cider)]


def protocol(scale: Scale) -> list[Row]:
    """The whole way from files."""
    data = captions(str.strip)
    what = f"coco-caption without METEOR from JSON files, {data.what}"
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), data.texts)
        try:
            theirs = peer(*paths)
        except ImportError as error:
            return [Row(what, "", f"skipped: {error}")]
        agree("pycocoevalcap", ours(*paths), theirs, TOLERANCE)
        times = take_turns(
            {"ours": partial(ours, *paths), "peer": partial(peer, *paths)},
            scale.repeats,
        )
    mine, other = times["ours"], times["peer"]
    return [
        Row(f"{what}; pycocoevalcap", seconds(mine), seconds(other), ratio(other, mine))
    ]


_OURS = """
import sys
import semmetrics
from benchmarks.timing import megabytes
table = semmetrics.score(*sys.argv[1:], measures="METEOR", task="captions")
print(table[0].value, *megabytes())
"""
_PEER = """
import json, sys
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
res, notes = (json.load(open(path)) for path in sys.argv[1:])
gts = {}
for note in notes["annotations"]:
    gts.setdefault(note["image_id"], []).append(note)
res = {one["image_id"]: [one] for one in res}
sides = [PTBTokenizer().tokenize(side) for side in (gts, res)]
print(Meteor().compute_score(*sides)[0])
"""


def meteor(scale: Scale) -> list[Row]:
    """METEOR of a program that is started for it."""
    data, rows = captions(str.strip), []
    names = list(data.texts)
    for number in (200, len(names)):
        some = names[:number]
        texts = {
            name: [data.texts[after][0], *data.texts[name]]
            for name, after in zip(some, [*some[1:], *some[:1]], strict=True)
        }
        what = f"METEOR from JSON files, program start included, {number:,} images x 5 references"
        with tempfile.TemporaryDirectory() as folder:
            paths = list(map(str, write(Path(folder), texts)))
            try:
                theirs = float(fresh(_PEER, *paths).splitlines()[-1])
            except SystemExit as error:
                return [
                    Row(what, "", f"skipped: {str(error).strip().splitlines()[-1]}")
                ]
            fresh(_OURS, *paths)  # which converts the table where it was not
            value, peak, source = fresh(_OURS, *paths).split()
            agree("pycocoevalcap", [float(value)], [theirs], 1e-6)
            runs = {
                "ours": partial(fresh, _OURS, *paths),
                "peer": partial(fresh, _PEER, *paths),
            }
            times = take_turns(runs, scale.repeats)
        mine, other = times["ours"], times["peer"]
        what += f" ({float(peak):.0f} MB, {source}); pycocoevalcap"
        rows.append(Row(what, seconds(mine), seconds(other), ratio(other, mine)))
    return rows


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "protocol": protocol,
    "meteor": meteor,
}
