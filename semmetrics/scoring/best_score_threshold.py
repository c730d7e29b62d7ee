"""Search for the score threshold with the best F1, for ``decode=threshold:best``.

Conventions
-----------
The F1 uses the average, label universe, cutoff and policies of the measure. For semantic
measures it is SemF1 with the matching of the measure. Of equally good thresholds the
highest wins. F1 values that differ by less than 1e-15 are equally good.

The search compares one threshold for each distinct set of decisions on the scores. Every
decoding rule keeps a prefix of the ranked labels, and whether a label matches depends only on
the labels before it. Therefore one matching and one sort are enough for all thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import Bools, Floats, Ints, offsets, positions, sum_rows
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import LABEL_AVERAGES
from semmetrics.metrics.formula_values import formula_options
from semmetrics.metrics.formulas import f1, f1_many_to_one
from semmetrics.metrics.matching import Matches, no_scores, sides_of
from semmetrics.metrics.point_means import (
    Rows,
    means_at_points,
    sums_by_key,
    whole_weights,
)
from semmetrics.metrics.semantic import matches_of
from semmetrics.metrics.sweeps import best_place, points_of_scores
from semmetrics.scoring.statistics import frame_of

_COUNTS_OF_F1 = {"hit", "n_pred", "n_ref"}
"""The arguments of formulas that can be evaluated without labels on both sides."""
_MIN_STEPS_PER_NUMBER = 128
"""No floating-point type has fewer numbers between a power of two and the next."""


class _BlockMatches(NamedTuple):
    """The ranked predictions of a block, or of all items, and their matches.

    Attributes
    ----------
    scores : float array, shape (predictions,)
    is_counted : bool array, shape (predictions,)
        Predictions that count, before a threshold.
    is_always_kept : bool array, shape (predictions,)
        Predictions that are kept at every threshold.
    n_counted : int array, shape (items,)
        The number of counted predictions.
    codes, hit : arrays, shape (counted predictions,)
        The label of each prediction, and whether it matches a reference.
    n_ref : int array, shape (items,)
        The number of references that count.
    served : int array, shape (counted predictions,)
        The number of references that each prediction is the first to match. Empty if a
        prediction matches at most one reference.
    true_codes : int array, shape (references,)
        The label of each reference that counts.
    n_true : int array, shape (items,)
        The number of these labels.
    """

    scores: Floats
    is_counted: Bools
    is_always_kept: Bools
    n_counted: Ints
    codes: NDArray[np.integer]
    hit: NDArray[Any]
    n_ref: Ints
    served: Ints
    true_codes: NDArray[np.integer]
    n_true: Ints


def searched_measure(measure: Measure) -> str:
    """Return the measure whose best value is searched: "F1", or "SemF1" if semantic."""
    if measure["threshold"] is None:
        return "F1"
    return "SemF1"


def find_best_threshold(measure: Measure, task: LabelTask) -> float:
    """Return the score threshold with the best F1.

    It is a score, or a number below the lowest score.

    Raises
    ------
    InputError
        If the measure has no best score threshold, or the predictions have no scores.
    """
    by_meaning = (
        measure["embedding"] is not None or "taxonomy" in measure.definition.needs
    )
    if searched_measure(measure) == "F1" and by_meaning:
        raise InputError("no-best-threshold", measure=measure.definition.name)
    if task.pred.scores is None:
        raise no_scores(f"decode={measure['decode']}", task)
    points, values = _values_at_points(measure, task)
    if len(points):
        # The last point is below all scores, and rounding must not change this.
        points[-1] = _round_down(points[-1], task.precision)
    is_usable = np.isfinite(points)
    if not is_usable.any():
        remedy = "give scores, because the threshold is one of them"
        raise InputError("nothing-given", what="scores", remedy=remedy)
    # Undefined values are below all values, and above the values at infinite points.
    comparable = np.nan_to_num(values, nan=-1.0)
    comparable = np.where(is_usable, comparable, -np.inf)
    return float(points[best_place(points, comparable)])


def _round_down(point: float, precision: str) -> float:
    """Return the largest number of a floating-point type that is not above a point."""
    rounded = round_to(point, precision)
    if rounded <= point:
        return rounded
    step = abs(rounded) / _MIN_STEPS_PER_NUMBER
    return round_to(rounded - step, precision)


def _values_at_points(measure: Measure, task: LabelTask) -> tuple[Floats, Floats]:
    """Return the candidate thresholds in descending order, and the F1 at each."""
    in_universe = frame_of([task.axis]).universe(measure)
    matches = _match_all(measure, task, in_universe)
    points, bins = points_of_scores(matches.scores)
    # Bin 0 is the highest threshold.
    first_bins = np.where(matches.is_always_kept, 0, bins)
    bins = first_bins[matches.is_counted]
    weights = None
    weight_of_reference = np.ones(len(matches.true_codes), np.int8)
    if task.weights is not None:
        weights = whole_weights(task.weights, matches.n_counted + matches.n_true)
        weight_of_reference = np.repeat(weights, matches.n_true)
    n_ref_by_label = sums_by_key(
        matches.true_codes, weight_of_reference, len(in_universe)
    )
    # The code of each label of the universe on an axis without other labels.
    code_in_universe = np.cumsum(in_universe) - 1
    rows = Rows(
        indptr=offsets(matches.n_counted),
        codes=code_in_universe[matches.codes],
        hit=matches.hit,
        scores=matches.scores[matches.is_counted],
        n_ref=matches.n_ref,
        class_ref=n_ref_by_label[in_universe],
        weights=weights,
    )
    served = None
    if measure["match"] == "any":
        served = matches.served
    return points, _f1_at_points(measure, rows, bins, len(points), served)


# ---- matches --------------------------------------------------------------------------


def _match_all(measure: Measure, task: LabelTask, in_universe: Bools) -> _BlockMatches:
    """Match the labels of all items.

    Parameters
    ----------
    measure : Measure
    task : LabelTask
    in_universe : bool array, shape (labels,)
        The labels that count.
    """
    step = _matching_step(measure)
    blocks: Iterable[Block[LabelTask]] = task.blocks()
    if not len(task):
        blocks = [Block(task, 0, 0)]
    parts = [_match_block(measure, block, in_universe, step) for block in blocks]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return _BlockMatches(*columns)


def _matching_step(measure: Measure) -> Any:
    """Return the step that matches labels, by meaning or exactly."""
    if measure["threshold"] is not None:
        return matches_of(measure)
    duplicates = str(measure["duplicates"] or "once")
    if measure["average"] == "example":
        return Matches(duplicates, "item")
    return Matches(duplicates, "class")


def _match_block(
    measure: Measure, block: Block[LabelTask], in_universe: Bools, step: Any
) -> _BlockMatches:
    """Match the labels of a block."""
    ranked, ref = sides_of(block)
    matched = block.get(step)
    ranks = positions(ranked.indptr)
    is_counted = in_universe[ranked.codes] & (ranks < (measure.k or np.inf))
    if matched.is_counted_pred is not None:
        is_counted &= matched.is_counted_pred
    served = np.zeros(0, np.int64)
    if measure["match"] == "any":
        n_predictions = len(is_counted)
        # The last bin counts references that no prediction matches.
        n_served = np.bincount(matched.first, minlength=n_predictions + 1)[:-1]
        served = n_served[is_counted]
    counted_ref = ref
    if matched.is_first_ref is not None:
        counted_ref = ref.keep(matched.is_first_ref)
    assert ranked.scores is not None
    return _BlockMatches(
        scores=ranked.scores,
        is_counted=is_counted,
        is_always_kept=ranks < int(measure["keep_at_least"] or 0),
        n_counted=sum_rows(is_counted, ranked.indptr),
        codes=ranked.codes[is_counted],
        hit=matched.hit[is_counted],
        n_ref=matched.n_ref,
        served=served,
        true_codes=counted_ref.codes,
        n_true=counted_ref.sizes,
    )


# ---- values ---------------------------------------------------------------------------


def _f1_at_points(
    measure: Measure, rows: Rows, bins: Ints, n_points: int, served: Ints | None
) -> Floats:
    """Return the F1 at each point under the policies of the measure, nan if undefined.

    Parameters
    ----------
    measure : Measure
    rows : Rows
    bins : int array, shape (counted predictions,)
        The first point at which each prediction is kept.
    n_points : int
    served : int array, shape (counted predictions,), or None
        The number of references that each prediction is the first to match. None if a
        prediction matches at most one reference.
    """
    further_columns = []
    if served is not None:
        further_columns.append(served)
    average = str(measure["average"])
    mean_f1: Floats
    share_empty: Floats
    mean_f1, share_empty = means_at_points(
        rows, average, bins, n_points, _f1_and_empty, *further_columns
    )
    policy = _policy_for_empty(measure)
    if policy == "1":
        return mean_f1 + share_empty
    if policy == "0":
        return mean_f1
    is_undefined = share_empty > 0
    if policy == "skip":
        is_undefined = share_empty == 1
    share_defined = np.where(is_undefined, 1.0, 1.0 - share_empty)
    return np.where(is_undefined, np.nan, mean_f1 / share_defined)


def _f1_and_empty(hit: Any, kept: Any, ref: Any, *served: Any) -> Floats:
    """Return F1 (0 if undefined), and 1 if both sides are empty or else 0.

    Counts are converted to floats, because products of weighted counts are large.
    """
    n_hit = np.asarray(hit, np.float64)
    n_pred = np.asarray(kept, np.float64)
    n_ref = np.asarray(ref, np.float64)
    if served:
        n_served = np.asarray(served[0], np.float64)
        values = f1_many_to_one(n_hit, n_served, n_pred, n_ref)
    else:
        values = f1(n_hit, n_pred, n_ref)
    is_empty = n_pred + n_ref == 0
    return np.stack([np.nan_to_num(values, nan=0.0), is_empty.astype(np.float64)])


def _policy_for_empty(measure: Measure) -> str:
    """Return the policy if both sides are empty: "0", "1", "skip" or "nan".

    If the formula of the measure has the value 0 or 1 in this case, the value is the policy.
    """
    name = "empty"
    if measure["average"] in LABEL_AVERAGES:
        name = "absent"
    policy = str(measure[name] or "skip")
    definition = measure.definition
    if definition.formula is None or set(definition.arguments) != _COUNTS_OF_F1:
        return policy
    no_counts = np.zeros((3, 1))
    options = dict(formula_options(measure))
    value = float(definition.formula(*no_counts, **options)[0])
    if value in (0.0, 1.0):
        return str(int(value))
    return policy
