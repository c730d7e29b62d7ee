"""BLEU and ROUGE-L of captions beside pycocoevalcap in the same run.

Captions are tokenised before the clock: ours starts from a list of tokens of each distinct caption,
the peer from the tokens joined by blanks, which is what it takes. The first caption of an image is
the candidate, its others are the references. All values must agree to 1e-12, corpus and items,
before a time is reported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labels import Scale, agree
from benchmarks.timing import ROOT, Row, ratio, seconds, take_turns
from semmetrics.data.tasks.captions import CaptionTask, caption_task
from semmetrics.metrics.bleu import BLEU
from semmetrics.metrics.caption_overlap import NGSM, ROUGE_L
from semmetrics.metrics.definition import Frame, Measure
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.result import score_statistics

__all__ = ["WORKLOADS"]

TOLERANCE = 1e-12
IMAGES, CAPTIONS, WORDS = 5_000, 5, 10_000
BLEUS = [definition() for definition in BLEU]
FRAME = Frame((), np.zeros(0, np.bool_), np.zeros(0, np.bool_), None)
Texts = dict[str, list[str]]


@dataclass(frozen=True)
class Captions:
    """Captions of each image, their tokens joined by blanks; and the same captions as lists."""

    what: str
    texts: Texts
    lists: dict[str, list[str]]
    name: str = "made before"

    def tokens(self, captions: tuple[str, ...]) -> list[list[str]]:
        """The tokens of each caption, as a tokenizer gives them."""
        return [self.lists[caption] for caption in captions]

    def sides(self) -> tuple[Texts, Texts]:
        """Candidates and references by image."""
        candidates = {image: texts[:1] for image, texts in self.texts.items()}
        return candidates, {image: texts[1:] for image, texts in self.texts.items()}


def captions(clean: Callable[[str], str] | None = None) -> Captions:
    """Those of the COCO test split where they are, cleaned, and synthetic ones otherwise."""
    named = os.environ.get("SEMMETRICS_REFERENCE")
    folder = Path(named) if named else ROOT.parent / "shared" / "reference"
    file = folder / "coco" / "coco_karpathy_test5k.tsv"
    if file.is_file():
        what, texts = "COCO test captions (Karpathy)", read(file, clean or _words)
    else:
        what, texts = "synthetic captions", make()
    what = f"{what}, {len(texts):,} images, {sum(map(len, texts.values())):,} captions"
    return Captions(
        what, texts, {t: t.split() for some in texts.values() for t in some}
    )


def _words(caption: str) -> str:
    """Words in lower case."""
    return " ".join(re.findall(r"\w+", caption.lower()))


def read(file: Path, clean: Callable[[str], str]) -> Texts:
    """The captions of each image."""
    texts: Texts = {}
    for line in file.read_text(encoding="utf-8").splitlines()[1:]:
        image, _, caption = line.split("\t")
        texts.setdefault(image, []).append(clean(caption))
    return texts


def make(seed: int = 0) -> Texts:
    """Captions of about ten words; a word of rank r comes about as often as 1 / r."""
    rng = np.random.default_rng(seed)
    sizes = 8 + rng.poisson(2.5, IMAGES * CAPTIONS)
    words = np.exp(rng.random(sizes.sum()) * np.log(WORDS)).astype(np.int64)
    flat = [f"word{word}" for word in words.tolist()]
    ends = np.cumsum(sizes).tolist()
    rows = [" ".join(flat[a:b]) for a, b in zip([0, *ends], ends, strict=False)]
    return {f"image{n}": rows[n * CAPTIONS : (n + 1) * CAPTIONS] for n in range(IMAGES)}


def task_of(data: Captions) -> CaptionTask:
    """The task; nothing of it is computed yet."""
    candidates, references = data.sides()
    return caption_task(
        [*candidates.values()], [*references.values()], [*candidates], data
    )


def ours(data: Captions, measures: list[Measure]) -> list[float]:
    """Values of the corpus and of all items: tokens coded, counted and compared."""
    task = task_of(data)
    statistics = [measure.definition.family.statistic(measure) for measure in measures]
    found = []
    (block,) = task.blocks(1 << 40)
    for measure, statistic in zip(measures, statistics, strict=True):
        columns = block.get(statistic)
        sums = {name: column.sum() for name, column in columns.items()}
        family = measure.definition.family
        items = family.items(measure, columns, FRAME)
        found += [float(family.aggregate(measure, sums, FRAME)), *items.tolist()]
    return found


def evaluated(data: Captions, measures: list[Measure]) -> list[float]:
    """The same through `evaluate`, with ids and a fingerprint of the data."""
    statistics = evaluate(task_of(data), measures)
    chosen = {"ours": [(measure, "") for measure in measures]}
    scores = score_statistics(
        {"ours": statistics}, chosen, headings=[*map(str, measures)]
    )
    return [x for score in scores for x in (score.value, *score.items.tolist())]


def peer_bleu(candidates: Texts, references: Texts) -> list[float]:
    """BLEU-1 to BLEU-4 by pycocoevalcap."""
    from pycocoevalcap.bleu.bleu import Bleu

    values, items = Bleu(4).compute_score(references, candidates, verbose=0)
    return [
        x for value, each in zip(values, items, strict=True) for x in (value, *each)
    ]


def peer_rouge(candidates: Texts, references: Texts) -> list[float]:
    """ROUGE-L by pycocoevalcap."""
    from pycocoevalcap.rouge.rouge import Rouge

    value, items = Rouge().compute_score(references, candidates)
    return [float(value), *items.tolist()]


def beside(
    measures: list[Measure], peer: Callable[[Texts, Texts], list[float]], scale: Scale
) -> list[Row]:
    """Measures beside pycocoevalcap."""
    data = captions()
    what = f"{', '.join(map(str, measures))}, {data.what}"
    mine: dict[str, Any] = {
        "": partial(ours, data, measures),
        "; through `evaluate`": partial(evaluated, data, measures),
    }
    try:
        import pycocoevalcap  # noqa: F401
    except ImportError as error:
        times = take_turns(mine, scale.repeats)
        skipped = f"skipped: {error}"
        return [
            Row(what + name, seconds(taken), skipped) for name, taken in times.items()
        ]
    theirs = partial(peer, *data.sides())
    for name, run in mine.items():
        agree(f"pycocoevalcap{name}", run(), theirs(), TOLERANCE)
    times = take_turns({**mine, "peer": theirs}, scale.repeats)
    other = times.pop("peer")
    return [
        Row(
            f"{what}{name}; pycocoevalcap",
            seconds(taken),
            seconds(other),
            ratio(other, taken),
        )
        for name, taken in times.items()
    ]


def alone(scale: Scale) -> list[Row]:
    """NGSM, which no other package has."""
    data = captions()
    (times,) = take_turns(
        {"ours": partial(ours, data, [NGSM()])}, scale.repeats
    ).values()
    return [
        Row(f"NGSM of every candidate with each reference, {data.what}", seconds(times))
    ]


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {
    "bleu": partial(beside, BLEUS, peer_bleu),
    "rouge": partial(beside, [ROUGE_L()], peer_rouge),
    "ngsm": alone,
}
