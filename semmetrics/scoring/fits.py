"""What is fitted on the data before a measure is computed: the best threshold.

Conventions
-----------
A fit is made once on the whole data and then frozen: resamples do not fit again. The measure that
is computed, and its signature, hold the number that was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, positions
from semmetrics.data.block import Block
from semmetrics.data.task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import own_options
from semmetrics.metrics.matching import Matches, Ranked, Reference
from semmetrics.metrics.similar import model_of
from semmetrics.metrics.sweeps import AVERAGES, Sweep, Undefined, sweep_thresholds_rows

__all__ = ["best_threshold_of", "frozen"]

BEST = "threshold:best"


def frozen(measure: Measure, task: LabelTask) -> tuple[Measure, str]:
    """The measure with whatever it asks to be fitted, fitted; and a note for the signature.

    Raises
    ------
    InputError
        If the predictions have no scores, or items have weights.
    """
    if measure["threshold"] == "auto":
        measure = measure.with_options(threshold=_own_threshold(measure, task))
    if measure["decode"] != BEST:
        return measure, ""
    threshold = best_threshold_of(measure, task)
    note = f"fit:best-F1-{measure['average']}"
    return measure.with_options(decode=f"threshold:{threshold!r}"), note


def _own_threshold(measure: Measure, task: LabelTask) -> str:
    """The threshold that the measure's embedding was calibrated to."""
    return repr(model_of(task, str(measure["embedding"])).threshold)


def best_threshold_of(measure: Measure, task: LabelTask) -> float:
    """The threshold with the best F1, of equally good ones the highest.

    The F1 is that of the measure's average, label universe, cutoff and policies.

    Parameters
    ----------
    measure : Measure
    task : LabelTask
        With scores.

    Returns
    -------
    float
        One of at most 1,001 scores for example and macro; of all distinct scores for micro.
    """
    average = str(measure["average"])
    if average not in AVERAGES:  # narrows the text to an Average
        raise InputError(
            f"decode={BEST} is not known for average={average}",
            remedy=f"choose one of {', '.join(AVERAGES)}",
        )
    if task.pred.scores is None:
        raise InputError(
            f"decode={BEST} needs a score for each predicted label", remedy="give scores"
        )
    if task.weights is not None:
        raise InputError(
            f"decode={BEST} does not know sample weights",
            remedy="find the threshold without weights, and give it as decode=threshold:0.5",
        )
    block: Block[LabelTask] = Block(task, 0, len(task))
    ranked = block.get(Ranked())
    example = average == "example"
    matched = block.get(Matches(str(measure["count"] or "set"), "item" if example else "class"))
    inside = _universe(measure, task)
    place = positions(ranked.indptr)
    chosen = inside[ranked.codes] & (place < (measure.k or np.inf))
    if matched.counted is not None:
        chosen &= matched.counted
    side = ranked.keep(chosen)
    scores: Any = side.scores
    # labels that are always kept are above every threshold
    scores = np.where((place < int(measure["min_labels"] or 0))[chosen], np.inf, scores)
    rows = (
        side.indptr,
        (np.cumsum(inside) - 1)[side.codes],
        matched.hit[chosen],
        matched.n_ref,
        np.bincount(block.get(Reference()).codes, minlength=len(inside))[inside],
        scores,
    )
    low, high = (
        sweep_thresholds_rows(*rows, averages=[average], undefined=Undefined(0.0, empty, empty))[
            average
        ]
        for empty in (0.0, 1.0)
    )
    groups = {"example": len(task), "micro": 1, "macro": int(inside.sum())}[average]
    values = _under_policy(measure, low, high, groups)
    if not len(values) or not np.isfinite(low.points).any():
        raise InputError("there is no score to choose a threshold by", remedy="give some scores")
    return float(low.points[np.lexsort((low.points, values))[-1]])


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
        value = float(formula(*np.zeros((3, 1)), **dict(own_options(measure)))[0])
        if value in (0.0, 1.0):
            return str(int(value))
    return str(measure["empty"] or measure["absent"])
