"""The score threshold with the best F1: ``decode=threshold:best``.

Conventions
-----------
Every decision that a threshold can make on these scores is looked at. All rules keep a prefix of
the ranked labels, and whether a label matches depends on those before it alone; so one matching and
one sort serve all thresholds, for equal labels and for those that mean the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, positions, sum_rows
from semmetrics.data.tasks import Block, LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import LABEL_AVERAGES, formula_options
from semmetrics.metrics.formulas import f1, f1_many_to_one
from semmetrics.metrics.matching import Matches, Ranked, Reference, no_scores
from semmetrics.metrics.semantic import SemanticFamily, SemF1
from semmetrics.metrics.sweeps import (
    Rows,
    best_place,
    means_at_points,
    points_of_scores,
    sums_by_key,
    whole_weights,
)
from semmetrics.scoring.evaluate import frame_of


def find_best_threshold(measure: Measure, task: LabelTask) -> tuple[float, str]:
    """Find the score threshold with the best F1, of equally good ones the highest.

    The F1 is that of the measure's average, label universe, cutoff and policies; for semantic
    measures it is SemF1, with the measure's own matching. F1 values that differ by less than 1e-15
    are equally good.

    Parameters
    ----------
    measure : Measure
    task : LabelTask
        With scores.

    Returns
    -------
    threshold : float
        One of the scores, or the next float64 below the lowest.
    judge : str
        What it is best for: "F1" or "SemF1".

    Raises
    ------
    InputError
        If the predictions have no scores, or the measure has no best score threshold.
    """
    judge = _judge(measure)
    if task.pred.scores is None:
        raise no_scores(f"decode={measure['decode']}", task)
    rows, points, bins, more = _matched_rows(measure, task)
    usable = np.isfinite(points)
    if not usable.any():
        raise InputError("nothing-given", what="scores", remedy="a threshold is chosen among them")
    values = np.nan_to_num(_under_policy(measure, rows, bins, len(points), more), nan=-1.0)
    return float(points[best_place(points, np.where(usable, values, -np.inf))]), judge


def _matched_rows(measure: Measure, task: LabelTask) -> tuple[Rows, Floats, Ints, list[Ints]]:
    """Match all labels; return those that count, the thresholds, and which first keeps each label.

    The last is how many references each label is the first to find, where several labels may.
    """
    inside = _universe(measure, task)
    blocks = task.blocks() if len(task) else [Block(task, 0, 0)]
    parts = [_of_block(measure, block, inside) for block in blocks]
    scores, chosen, always, lengths, codes, hit, n_ref, served, true, n_true = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    points, bins = points_of_scores(scores)
    weights = None if task.weights is None else whole_weights(task.weights, lengths + n_true)
    counted = np.ones(len(true), np.int8) if weights is None else np.repeat(weights, n_true)
    class_ref = sums_by_key(true, counted, len(inside))
    place: Any = np.cumsum(inside) - 1
    rows = Rows(
        offsets(lengths), place[codes], hit, scores[chosen], n_ref, class_ref[inside], weights
    )
    bins = np.where(always, 0, bins)[
        chosen
    ]  # labels that are always kept are above every threshold
    return rows, points, bins, [served] if measure["match"] == "any" else []


def _of_block(measure: Measure, block: Block[LabelTask], inside: Bools) -> tuple[Any, ...]:
    ranked: Any = block.get(Ranked())
    ref, matched = block.get(Reference()), block.get(_matches(measure))
    place, served = positions(ranked.indptr), np.zeros(0, np.int64)
    chosen = inside[ranked.codes] & (place < (measure.k or np.inf))
    if matched.counted is not None:
        chosen &= matched.counted
    if measure["match"] == "any":
        served = np.bincount(matched.first, minlength=len(chosen) + 1)[:-1][chosen]
    always = place < int(measure["keep_at_least"] or 0)
    lengths = sum_rows(chosen, ranked.indptr)
    true = ref if matched.once is None else ref.keep(matched.once)
    of_labels = ranked.codes[chosen], matched.hit[chosen]
    of_items = matched.n_ref, served, true.codes, np.diff(true.indptr)
    return ranked.scores, chosen, always, lengths, *of_labels, *of_items


def _matches(measure: Measure) -> Any:
    """Return the step that matches labels as the measure does."""
    if measure["threshold"] is not None:
        counts: Any = SemanticFamily().counts(measure)
        return counts.matches
    return Matches(
        str(measure["duplicates"] or "once"), "item" if measure["average"] == "example" else "class"
    )


def _universe(measure: Measure, task: LabelTask) -> Bools:
    """The classes that the measure averages over, as far as this system has them."""
    return frame_of([task.axis]).universe(measure)


def _under_policy(
    measure: Measure, rows: Rows, bins: Ints, n_points: int, more: list[Ints]
) -> Floats:
    """Return F1 at each point, under the policy for nothing on both sides; nan where undefined."""

    def known(*counts: Any) -> Floats:  # floats: products of weighted counts are large
        hit, kept, ref, *served = (np.asarray(count, np.float64) for count in counts)
        value = f1_many_to_one(hit, served[0], kept, ref) if served else f1(hit, kept, ref)
        return np.stack([np.nan_to_num(value, nan=0.0), (kept + ref == 0).astype(np.float64)])

    average, policy = str(measure["average"]), _empty_value(measure)
    total: Floats
    empty: Floats
    total, empty = means_at_points(rows, average, bins, n_points, known, *more)
    if policy == "1":
        return total + empty
    if policy == "0":
        return total
    undefined = empty == 1 if policy == "skip" else empty > 0
    share = np.where(undefined, 1.0, 1.0 - empty)
    return np.where(undefined, np.nan, total / share)


def _empty_value(measure: Measure) -> str:
    """What nothing on both sides is worth: the formula's value, or else the policy."""
    formula, arguments = measure.definition.formula, measure.definition.arguments
    if formula is not None and set(arguments) == {"hit", "n_pred", "n_ref"}:
        value = float(formula(*np.zeros((3, 1)), **dict(formula_options(measure)))[0])
        if value in (0.0, 1.0):
            return str(int(value))
    return str(measure["absent" if measure["average"] in LABEL_AVERAGES else "empty"])


def _judge(measure: Measure) -> str:
    """What the best score threshold is best for."""
    if measure["threshold"] is not None:
        return SemF1.name
    if measure["embedding"] is not None or "taxonomy" in measure.definition.needs:
        raise InputError("no-best-threshold", measure=measure.definition.name)
    return "F1"
