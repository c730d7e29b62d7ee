"""Systems compared: paired resamples of many items and measures, and of BLEU beside sacrebleu.

Both start from what a user has: lists of labels, or captions. The peer is sacrebleu's paired
bootstrap with one worker; it gets the same captions, and p must agree within sampling error
before a time is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import semmetrics
from benchmarks.labels import Scale, make_sets
from benchmarks.simulation import captions
from benchmarks.timing import Row, Times, ratio, seconds, take_turns
from semmetrics import Bootstrap
from semmetrics.scoring.result import score_statistics

__all__ = ["WORKLOADS"]

ITEMS, RESAMPLES = 100_000, 10_000
MEASURES = [
    "F1",
    "Precision",
    "Recall",
    "Jaccard",
    "SubsetAccuracy",
    "HammingLoss",
    "CardinalityError",
    "AP",
    "F1@1",
    "F1@2",
    "F1@3",
    "Precision@1",
    "Precision@2",
    "Recall@1",
    "Recall@2",
    "Recall@3",
    "F1(average=micro)",
    "Precision(average=micro)",
    "Recall(average=micro)",
    "F1(average=macro)",
]
SEGMENTS = 2_000


def labels(scale: Scale) -> list[Row]:
    """Two systems and twenty measures: resamples alone, and the whole comparison."""
    one, gts = (sets.lists() for sets in make_sets(ITEMS, scale.labels))
    two = make_sets(ITEMS, scale.labels, seed=1)[0].lists()
    two = [
        b if place % 10 == 0 else a
        for place, (a, b) in enumerate(zip(one, two, strict=True))
    ]
    table = semmetrics.score_systems({"one": one, "two": two}, gts, measures=MEASURES)
    found = {
        name: next(s.statistics for s in table if s.system == name)
        for name in ("one", "two")
    }
    chosen = {
        name: [(s.measure, "") for s in table if s.system == name] for name in found
    }
    made = Bootstrap(resamples=RESAMPLES)

    def resample() -> Any:
        return score_statistics(found, chosen, headings=MEASURES, ci=made)

    def whole() -> Any:
        return semmetrics.compare({"one": one, "two": two}, gts, measures=MEASURES)

    def swap() -> Any:
        return semmetrics.compare(
            {"one": one, "two": two}, gts, measures=MEASURES, test="randomization"
        )

    contenders = {
        "resamples, intervals and jackknife": resample,
        "`compare`": whole,
        "`compare`, test=randomization (swaps beside the resamples)": swap,
    }
    times = take_turns(contenders, min(scale.repeats, 3))
    what = (
        f"2 systems, {ITEMS:,} items, {len(MEASURES)} measures, {RESAMPLES:,} resamples"
    )
    return [Row(f"{what}: {name}", seconds(times[name])) for name in contenders]


def bleu(scale: Scale) -> list[Row]:
    """The paired bootstrap of BLEU beside sacrebleu's, from captions to p."""
    systems, references, _ = captions(SEGMENTS, 0.004, np.random.default_rng(5))
    rows = []
    for resamples in (1_000, 10_000):

        def ours(resamples: int = resamples) -> float:
            found = semmetrics.compare(
                systems,
                references,
                task="captions",
                measures="BLEU-4",
                tokenizer="whitespace",
                test="bootstrap-sacrebleu",
                resamples=resamples,
            )
            return found[0].p

        what = (
            f"BLEU-4, 2 systems, {SEGMENTS:,} captions, {resamples:,} paired resamples"
        )
        peer = _peer(systems, references, resamples)
        if peer is None:
            rows.append(Row(what, seconds(take_turns({"": ours}, scale.repeats)[""])))
            continue
        mine, other = ours(), peer()
        error = math.sqrt(2 * max(other * (1 - other), 1 / resamples) / resamples)
        if abs(mine - other) > 4 * error:
            raise SystemExit(f"p is {mine}, and {other} by sacrebleu")
        times: dict[str, Times] = take_turns(
            {"ours": ours, "peer": peer}, min(scale.repeats, 3)
        )
        theirs = times["peer"]
        rows.append(
            Row(
                what,
                seconds(times["ours"]),
                f"sacrebleu: {seconds(theirs)}",
                ratio(theirs, times["ours"]),
            )
        )
    return rows


def _peer(systems: Any, references: Any, resamples: int) -> Callable[[], float] | None:
    """The same by sacrebleu; None where it is not installed."""
    try:
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import PairedTest
    except ImportError:
        return None
    named = [(name, [text for (text,) in preds]) for name, preds in systems.items()]
    streams = [list(column) for column in zip(*references, strict=True)]

    def run() -> float:
        metric = BLEU(tokenize="none", references=streams)
        test = PairedTest(named, {"BLEU": metric}, None, "bs", n_samples=resamples)
        return float(test()[1]["BLEU"][1].p_value)

    return run


WORKLOADS: dict[str, Callable[[Scale], list[Row]]] = {"labels": labels, "bleu": bleu}
