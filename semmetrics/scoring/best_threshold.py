"""The score threshold with the best F1: ``decode=threshold:best``."""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, positions
from semmetrics.data.block import Block
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import formula_options
from semmetrics.metrics.matching import Matches, Ranked, Reference
from semmetrics.metrics.semantic import SemF1
from semmetrics.metrics.sweeps import (
    AVERAGES,
    Rows,
    Sweep,
    Undefined,
    candidate_thresholds,
    sweep_rows,
    thin_out,
)
from semmetrics.scoring.score_result import score_values

__all__ = ["find_best_threshold"]

_POINTS, _AT_ONCE = 1001, 64  # score thresholds tried for a semantic measure; and at a time


def find_best_threshold(measure: Measure, task: LabelTask) -> tuple[float, str]:
    """Find the score threshold with the best F1, of equally good ones the highest.

    The F1 is that of the measure's average, label universe, cutoff and policies; for semantic
    measures it is SemF1, with the measure's own matching.

    Parameters
    ----------
    measure : Measure
    task : LabelTask
        With scores.

    Returns
    -------
    threshold : float
        One of at most 1,001 scores for example, macro and semantic measures; of all distinct
        scores for micro.
    judge : str
        What it is best for: "F1" or "SemF1".

    Raises
    ------
    InputError
        If the predictions have no scores, items have weights, or the measure has no best score
        threshold.
    """
    judge = _judge(measure)
    average = str(measure["average"])
    if average not in AVERAGES:  # narrows the text to an Average
        raise InputError(
            f"decode={measure['decode']} is not known for average={average}",
            remedy=f"choose one of {', '.join(AVERAGES)}",
        )
    if task.pred.scores is None:
        raise InputError(
            f"decode={measure['decode']} needs a score for each predicted label",
            remedy="give scores",
        )
    if task.weights is not None:
        raise InputError(
            f"decode={measure['decode']} does not know sample weights",
            remedy="find the threshold without weights, and give it as decode=threshold:0.5",
        )
    find = _best_by_meaning if judge == SemF1.name else _best_of_sets
    return find(measure, task), judge


def _best_of_sets(measure: Measure, task: LabelTask) -> float:
    """Find the score threshold with the best F1 of equal labels, in one pass over all scores."""
    average: Any = measure["average"]
    block: Block[LabelTask] = Block(task, 0, len(task))
    ranked = block.get(Ranked())
    example = average == "example"
    matched = block.get(
        Matches(str(measure["duplicates"] or "once"), "item" if example else "class")
    )
    inside = _universe(measure, task)
    place = positions(ranked.indptr)
    chosen = inside[ranked.codes] & (place < (measure.k or np.inf))
    if matched.counted is not None:
        chosen &= matched.counted
    side = ranked.keep(chosen)
    scores: Any = side.scores
    # labels that are always kept are above every threshold
    scores = np.where((place < int(measure["keep_at_least"] or 0))[chosen], np.inf, scores)
    rows = Rows(
        side.indptr,
        (np.cumsum(inside) - 1)[side.codes],
        matched.hit[chosen],
        scores,
        matched.n_ref,
        np.bincount(block.get(Reference()).codes, minlength=len(inside))[inside],
    )
    low, high = (
        sweep_rows(rows, averages=[average], undefined=Undefined(0.0, empty, empty))[average]
        for empty in (0.0, 1.0)
    )
    groups = {"example": len(task), "micro": 1, "macro": int(inside.sum())}[average]
    values = _under_policy(measure, low, high, groups)
    if not len(values) or not np.isfinite(low.points).any():
        raise InputError("there is no score to choose a threshold by", remedy="give some scores")
    return float(low.points[np.lexsort((low.points, values))[-1]])


def _best_by_meaning(measure: Measure, task: LabelTask) -> float:
    """The score threshold with the best SemF1; some at a time, so that little is kept."""
    every: Any = task.pred.scores
    points = candidate_thresholds(every)
    points = thin_out(points[np.isfinite(points)], _POINTS)
    if not len(points):
        raise InputError("there is no score to choose a threshold by", remedy="give some scores")
    options = {name: value for name, value in measure.options if name != "normalize"}
    values: list[float] = []
    for start in range(0, len(points), _AT_ONCE):
        rules = [f"threshold:{point!r}" for point in points[start : start + _AT_ONCE].tolist()]
        chosen = [SemF1(k=measure.k, **{**options, "decode": rule}) for rule in rules]
        values += score_values(task, chosen)
    known = np.where(np.isnan(values), -1.0, values)
    return float(points[np.lexsort((points, known))[-1]])


def _universe(measure: Measure, task: LabelTask) -> Bools:
    """The classes that the measure averages over, as far as this system has them."""
    width = len(task.classes)
    if measure["labels"] == "reference":
        return np.bincount(task.ref.codes, minlength=width) > 0
    if measure["labels"] == "given" and task.given is not None:
        return np.arange(width) < task.given
    return np.ones(width, np.bool_)


def _under_policy(measure: Measure, low: Sweep, high: Sweep, groups: int) -> Floats:
    """F1 at each threshold; of nothing on both sides it is 0 in ``low`` and 1 in ``high``."""
    policy = _empty_value(measure)
    empty = np.rint((high.f1 - low.f1) * groups)
    if policy == "skip":
        values = low.f1 * groups / np.maximum(groups - empty, 1)
    else:
        values = high.f1 if policy == "1" else low.f1
    bad = ~np.isfinite(low.points) | ((policy == "nan") & (empty > 0))
    return np.where(bad, -1.0, values)


def _empty_value(measure: Measure) -> str:
    """What nothing on both sides is worth: the formula's value, or else the policy."""
    formula, arguments = measure.definition.formula, measure.definition.arguments
    if formula is not None and set(arguments) == {"hit", "n_pred", "n_ref"}:
        value = float(formula(*np.zeros((3, 1)), **dict(formula_options(measure)))[0])
        if value in (0.0, 1.0):
            return str(int(value))
    return str(measure["empty"] or measure["absent"])


def _judge(measure: Measure) -> str:
    """What the best score threshold is best for."""
    if measure["threshold"] is not None:
        return SemF1.name
    if measure["embedding"] is not None or "taxonomy" in measure.definition.needs:
        raise InputError(
            f"decode={measure['decode']} is not known for {measure.definition.name}",
            remedy="it is the one with the best F1 or SemF1: score F1(decode=threshold:best) or "
            "SemF1(decode=threshold:best), and give the number that the signature says",
        )
    return "F1"
