"""CIDEr-D beside pycocoevalcap: candidates with their references, and the matrix of all pairs.

Captions are those of the 5,000 test images of COCO, tokenised before the clock. Counting n-grams
and document frequencies is part of every contender's time, except of the loop over pairs. Values
must agree, candidate by candidate to 1e-12 and pair by pair to 1e-9, before a time is reported.
Without the reference data or without pycocoevalcap the rows say so.
"""

from __future__ import annotations

import gzip
import os
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labels import Scale, agree
from benchmarks.timing import Row, Times, fresh, ratio, seconds, take_turns
from semmetrics.data.tasks.captions import caption_task
from semmetrics.kinds.captions.matrix import (
    caption_blocks,
    caption_matrix,
    caption_top_k,
)
from semmetrics.metrics.cider import CIDErD, fit_document_frequencies
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.tokenizers import open_tokenizer

__all__ = ["WORKLOADS"]

Images = list[list[str]]
TOKENS = "whitespace"


def read_images() -> Images:
    """The tokenised captions of each image, joined by blanks."""
    named = os.environ.get("SEMMETRICS_REFERENCE")
    beside = Path(__file__).resolve().parents[2] / "shared" / "reference"
    folder = (Path(named) if named else beside) / "coco"
    with gzip.open(
        folder / "ptb_tokens_coco_test5k.tsv.gz", "rt", encoding="utf-8"
    ) as lines:
        tokens = dict(line.rstrip("\n").split("\t") for line in lines)
    images: dict[str, list[str]] = {}
    with (folder / "coco_karpathy_test5k.tsv").open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            image, _, caption = line.rstrip("\n").split("\t")
            images.setdefault(image, []).append(tokens[caption])
    return list(images.values())


def ours(images: Images) -> list[float]:
    """CIDEr-D of each first caption against the others."""
    candidates, references = [one[:1] for one in images], [one[1:] for one in images]
    names = list(map(str, range(len(images))))
    task = caption_task(candidates, references, names, open_tokenizer(TOKENS))
    measure = CIDErD()
    rows: Any = evaluate(task, [measure]).rows(
        measure.definition.family.statistic(measure)
    )
    return [float(value) for value in rows["value"].values]


def released(images: Images) -> list[float]:
    """The same by ``Cider().compute_score``."""
    from pycocoevalcap.cider.cider import Cider

    gts = {number: one[1:] for number, one in enumerate(images)}
    res = {number: one[:1] for number, one in enumerate(images)}
    return [float(value) for value in Cider().compute_score(gts, res)[1]]


def candidates(scale: Scale) -> list[Row]:
    """One candidate an image, four references."""
    what = "CIDEr-D, {:,} candidates, 4 references each; pycocoevalcap"
    contenders: dict[str, Callable[[], list[float]]]
    try:
        images = read_images()
        contenders = {
            "ours": partial(ours, images),
            "theirs": partial(released, images),
        }
        agree("pycocoevalcap", contenders["ours"](), contenders["theirs"](), 1e-12)
    except (ImportError, OSError) as error:
        return [Row(what.format(5_000), "", f"skipped: {error}")]
    times = take_turns(contenders, scale.repeats)
    mine, theirs = times["ours"], times["theirs"]
    return [
        Row(
            what.format(len(images)),
            seconds(mine),
            seconds(theirs),
            ratio(theirs, mine),
        )
    ]


def loop(
    scorer_of: Any, images: Images, captions: list[str], pairs: Any, frequencies: Any
) -> list[float]:
    """Some pairs by the released scorer: as many as there are images, so that log N is the same."""
    scorer = scorer_of()
    for image, caption in pairs:
        scorer += (captions[caption], images[image])
    scorer.document_frequency.update(frequencies)
    return [float(value) for value in scorer.compute_cider()]


def pairs(scale: Scale) -> list[Row]:
    """Every caption for every image, beside a loop over a sample of pairs."""
    what = "CIDEr-D matrix, {:,} images x {:,} captions; loop of pycocoevalcap, from {:,} pairs"
    sizes = 5_000, 25_000, 5_000
    try:
        images = read_images()
        from pycocoevalcap.cider.cider_scorer import CiderScorer
    except (ImportError, OSError) as error:
        return [Row(what.format(*sizes), "", f"skipped: {error}")]
    captions = [text for one in images for text in one]
    rng = np.random.default_rng(0)
    rows, columns = (
        rng.integers(0, len(side), len(images)) for side in (images, captions)
    )
    sample = list(zip(rows.tolist(), columns.tolist(), strict=True))
    frequencies = fit_document_frequencies(images, TOKENS).as_dict()
    matrix = caption_matrix(images, captions, tokenizer=TOKENS)
    one_by_one = partial(loop, CiderScorer, images, captions, sample, frequencies)
    agree("pycocoevalcap", matrix[rows, columns].tolist(), one_by_one(), 1e-9)
    del matrix
    contenders: dict[str, Callable[[], object]] = {
        "in memory": partial(caption_matrix, images, captions, tokenizer=TOKENS),
        "in blocks": partial(drain, images, captions),
        "best 10": partial(caption_top_k, images, captions, 10, tokenizer=TOKENS),
        "loop": one_by_one,
    }
    times = take_turns(contenders, scale.repeats)
    each = len(images) * len(captions) / len(sample)
    whole = Times(tuple(run * each for run in times.pop("loop").runs))
    title = what.format(len(images), len(captions), len(sample))
    hours = f"{statistics.median(whole.runs) / 3600:.2g} hours, extrapolated"
    made = [
        Row(f"{title}; {name}", seconds(taken), hours, ratio(whole, taken))
        for name, taken in times.items()
    ]
    peak = float(fresh(MEMORY))
    return [
        *made,
        Row("peak memory of the whole process, matrix in blocks", f"{peak:,.0f} MB"),
    ]


def drain(images: Images, captions: list[str]) -> float:
    """Compute every block and keep none."""
    return sum(
        float(block[0, 0])
        for _, block in caption_blocks(images, captions, tokenizer=TOKENS)
    )


MEMORY = """
from benchmarks.captions_cider import drain, read_images
from benchmarks.timing import megabytes
images = read_images()
drain(images, [text for one in images for text in one])
print(megabytes()[0])
"""

WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "candidates": candidates,
    "pairs": pairs,
}
