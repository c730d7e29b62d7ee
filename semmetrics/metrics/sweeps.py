"""Precision, recall and F1 at every cut of the rankings: first k labels, or a threshold.

Conventions
-----------
A label is kept at k if it is among the first k of its item. It is kept at threshold t if
its score is above t. This is the same decision that ``decode`` makes.

Averages
--------
example   means over items of the precision, recall and F1 of each item
micro     values on the counts of all items and labels together
macro     means over all labels of the dictionary
weighted  means over labels, weighted by the number of their references

`Undefined` sets the value of a ratio 0/0.

References
----------
Pineda, Salvador et al., 2019, section 4 (I-F1, O-F1, C-F1 are the first three averages of F1).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core import ragged
from semmetrics.core.backend import dense_array
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import integer_list, score_matrix, target_matrix
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.point_means import AVERAGES, Average, Rows, means_at_points

Points: TypeAlias = NDArray[np.generic]
_EQUAL = 2.0**-50
"""Values whose difference is at most this are equal, such as 1/3 + 2/3 and 1/2 + 1/2."""


class Undefined(NamedTuple):
    """The values of 0/0. nan makes a mean nan if it depends on the value.

    Attributes
    ----------
    ratio : float
        A precision without predictions, or a recall without references.
    item : float
        The F1 of an item without predictions and references. Also the micro F1.
    label : float
        The F1 of a label without predictions and references. pineda2019 uses 1,
        scikit-learn 0.
    """

    ratio: float = 0.0
    item: float = 1.0
    label: float = 0.0


DEFAULT = Undefined()


@by_value()
class Sweep(NamedTuple):
    """Precision, recall and F1 at each point (a k or a threshold), arrays of one length."""

    points: Points
    precision: Floats
    recall: Floats
    f1: Floats


class BestThreshold(NamedTuple):
    """The threshold with the best F1, and that F1."""

    threshold: float
    value: float


class _Cuts(NamedTuple):
    """The points of a sweep, and the labels that each of them keeps.

    Attributes
    ----------
    points : array, shape (points,)
        In the order of the result.
    order : int array, shape (points,)
        The numbers of the points, from the strictest to the loosest.
    bins : int array, shape (labels,)
        For each label the first point in that order that keeps it.
    """

    points: Points
    order: Ints
    bins: Ints


# ---- sweeps ---------------------------------------------------------------------------


def sweep_top_k(
    scores: ArrayLike,
    targets: ArrayLike,
    ks: Sequence[int],
    *,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Compute precision, recall and F1 of the first k labels, for every k, with one sort.

    Parameters
    ----------
    scores : array-like, shape (n, L)
        Equal scores rank in the order of the columns.
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    ks : sequence of int, at least 0
    undefined : Undefined

    Returns
    -------
    dict
        A `Sweep` for each of AVERAGES. Points are in the given order.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), shapes
        differ, or a k is negative.

    Examples
    --------
    >>> sweep = sweep_top_k([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]], [1, 2])
    >>> sweep["micro"].precision.tolist(), sweep["example"].recall.tolist()
    ([0.5, 0.5], [0.5, 1.0])
    """
    points = integer_list(ks, "ks")
    rows = _dense_rows(scores, targets)
    ranking = ragged.order_rows(rows.indptr, rows.scores)
    rows = rows._replace(codes=rows.codes[ranking], hit=rows.hit[ranking])
    order = np.argsort(points, kind="stable")
    ranks = ragged.positions(rows.indptr)
    bins = np.searchsorted(points[order], ranks, side="right")
    return _sweep_averages(rows, AVERAGES, _Cuts(points, order, bins), undefined)


def sweep_thresholds(
    scores: ArrayLike,
    targets: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Compute precision, recall and F1 of the labels scored above t, for every threshold t.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    thresholds : array-like, shape (T,), optional
        Default: `candidate_thresholds`, in descending order. They cover every decision
        that a threshold can make.
    undefined : Undefined

    Returns
    -------
    dict
        A `Sweep` for each of AVERAGES. Given thresholds keep their order.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), shapes
        differ, or a threshold is NaN.

    Examples
    --------
    >>> sweep = sweep_thresholds([[0.9, 0.4], [0.3, 0.2]], [[0, 1], [1, 0]], [0.35, 0.25])
    >>> sweep["micro"].f1.tolist(), sweep["example"].recall.tolist()
    ([0.5, 0.8], [0.5, 1.0])
    """
    return sweep_rows(_dense_rows(scores, targets), thresholds, undefined=undefined)


def sweep_rows(
    rows: Rows,
    thresholds: ArrayLike | None = None,
    *,
    averages: Sequence[Average] = AVERAGES,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Sweep thresholds like `sweep_thresholds`, but on ragged rows.

    Parameters
    ----------
    rows : Rows
        Labels may be in any order within a row. A label without a score is above no
        threshold.
    thresholds
        See `sweep_thresholds`.
    averages : sequence of {"example", "micro", "macro", "weighted"}
        Which averages to compute.
    undefined
        See `sweep_thresholds`.

    Returns
    -------
    dict of Sweep
    """
    if thresholds is None:
        points, bins = points_of_scores(rows.scores)
        order = np.arange(len(points))
    else:
        points = dense_array(thresholds, "thresholds", np.float64)
        if points.ndim != 1 or np.isnan(points).any():
            raise InputError(
                "bad-option",
                name="thresholds",
                value=thresholds,
                wanted="a list of numbers without NaN",
            )
        order = np.argsort(-points, kind="stable")
        # The first point below each score. Both are negated to search in ascending numbers.
        bins = np.searchsorted(-points[order], -rows.scores, side="right")
    return _sweep_averages(rows, averages, _Cuts(points, order, bins), undefined)


def _dense_rows(scores: ArrayLike, targets: ArrayLike) -> Rows:
    """Check matrices of scores and targets, and return them as rows."""
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n_items, n_labels = table.shape
    indptr = ragged.offsets(np.full(n_items, n_labels))
    codes = np.tile(np.arange(n_labels), n_items)
    n_ref = truth.sum(axis=1, dtype=np.int64)
    class_ref = truth.sum(axis=0, dtype=np.int64)
    return Rows(indptr, codes, truth.ravel(), table.ravel(), n_ref, class_ref)


def _sweep_averages(
    rows: Rows, averages: Sequence[Average], cuts: _Cuts, undefined: Undefined
) -> dict[Average, Sweep]:
    """Return each average at every point."""
    sweeps = {}
    for average in averages:
        if np.isnan(undefined).any():
            sweeps[average] = _sweep_average_with_nan(rows, average, cuts, undefined)
        else:
            sweeps[average] = _sweep_average(rows, average, cuts, undefined)
    return sweeps


def _sweep_average_with_nan(
    rows: Rows, average: Average, cuts: _Cuts, undefined: Undefined
) -> Sweep:
    """Return an average that is nan if it depends on a value of 0/0 that is nan.

    It depends on the value if 0 and 1 in its place give different averages.
    """
    lowest = Undefined(*np.nan_to_num(undefined, nan=0.0))
    highest = Undefined(*np.nan_to_num(undefined, nan=1.0))
    low = _sweep_average(rows, average, cuts, lowest)
    high = _sweep_average(rows, average, cuts, highest)
    return Sweep(
        cuts.points,
        _nan_unless_equal(low.precision, high.precision),
        _nan_unless_equal(low.recall, high.recall),
        _nan_unless_equal(low.f1, high.f1),
    )


def _nan_unless_equal(low: Floats, high: Floats) -> Floats:
    """Return the values that are equal in both arrays, and nan for the others."""
    return np.where(low == high, low, np.nan)


def _sweep_average(
    rows: Rows, average: Average, cuts: _Cuts, undefined: Undefined
) -> Sweep:
    """Return an average at every point. No value of 0/0 is nan."""
    empty_f1 = undefined.item
    if average in ("macro", "weighted"):
        empty_f1 = undefined.label
    formula = partial(_ratios, undefined.ratio, empty_f1)
    n_points = len(cuts.points)
    means = np.empty((3, n_points))
    means[:, cuts.order] = means_at_points(rows, average, cuts.bins, n_points, formula)
    precision, recall, f1 = means
    return Sweep(cuts.points, precision, recall, f1)


def _ratios(
    empty_ratio: float, empty_f1: float, hit: Ints, kept: Ints, ref: Ints
) -> Floats:
    """Return precision, recall and F1 on counts, stacked."""
    precision = divide(hit, kept, empty_ratio)
    recall = divide(hit, ref, empty_ratio)
    f1 = divide(2 * hit, kept + ref, empty_f1)
    return np.stack([precision, recall, f1])


# ---- thresholds -----------------------------------------------------------------------


def best_threshold(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    average: Average = "micro",
    thresholds: ArrayLike | None = None,
    undefined: Undefined = DEFAULT,
) -> BestThreshold:
    """Find the threshold with the best F1, or the highest of several that are equally good.

    F1 values that differ by less than 1e-15 are equally good.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    average : {"micro", "macro", "example", "weighted"}
        The average of F1 to maximise.
    thresholds : array-like, shape (T,), optional
        The thresholds to choose from. Default: every decision that a threshold can make.
    undefined : Undefined

    Returns
    -------
    BestThreshold
        The threshold and its value, which ``keep_above`` at this threshold reproduces.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), shapes
        differ, a threshold is NaN, or there is no item or no threshold.

    Examples
    --------
    >>> best_threshold([[0.9, 0.4], [0.3, 0.2]], [[0, 1], [1, 0]])
    BestThreshold(threshold=0.2, value=0.8)
    """
    rows = _dense_rows(scores, targets)
    sweeps = sweep_rows(rows, thresholds, averages=[average], undefined=undefined)
    sweep = sweeps[average]
    if not len(sweep.points) or not len(rows.n_ref):
        what = "scores to choose a threshold from"
        raise InputError("nothing-given", what=what, remedy="give some items")
    points = np.asarray(sweep.points, np.float64)
    best = best_place(points, sweep.f1)
    return BestThreshold(float(points[best]), float(sweep.f1[best]))


def best_place(points: Floats, values: Floats) -> int:
    """Return the index of the best value, or of the highest point if several are equal.

    Examples
    --------
    >>> best_place(np.array([0.2, 0.9, 0.5]), np.array([0.1 + 0.2, 0.0, 0.3]))
    2
    """
    comparable = np.nan_to_num(values, nan=-1.0, neginf=-np.inf)
    candidates = np.flatnonzero(comparable >= comparable.max() - _EQUAL)
    return int(candidates[points[candidates].argmax()])


def candidate_thresholds(scores: ArrayLike) -> Floats:
    """Return thresholds that cover all decisions "score > t" on these scores, descending.

    These are the distinct scores, and a number below the lowest score. A threshold that is a
    score excludes this score and all lower ones. The number below keeps everything. It is
    missing if the lowest score is -inf.

    Parameters
    ----------
    scores : array-like, any shape, without NaN

    Returns
    -------
    array, shape (T,)

    Examples
    --------
    >>> candidate_thresholds([0.5, 1.0, 0.5]).tolist()
    [1.0, 0.5, 0.0]
    """
    flat = np.asarray(scores, np.float64).ravel()
    points, _ = points_of_scores(flat)
    return points


def points_of_scores(scores: Floats) -> tuple[Floats, Ints]:
    """Return the candidate thresholds, and the first of them below each score.

    Parameters
    ----------
    scores : array, shape (m,), without NaN

    Returns
    -------
    points : array, shape (T,)
        As `candidate_thresholds` returns them.
    bins : array, shape (m,)
        The index of the first point that a score is above. T for -inf, which is above
        none.

    Examples
    --------
    >>> [part.tolist() for part in points_of_scores(np.array([0.5, 1.0, 0.5]))]
    [[1.0, 0.5, 0.0], [2, 1, 2]]
    """
    order = np.argsort(-scores)
    descending = scores[order]
    is_new = ragged.starts_run(descending)
    bins = np.empty(len(scores), np.int64)
    bins[order] = np.cumsum(is_new)
    points = descending[is_new]
    if len(points) and points[-1] != -np.inf:
        points = np.append(points, _number_below(points[-1]))
    return points, bins


def _number_below(lowest: float) -> float:
    """Return a number below a score: 0 if possible, else 1 less or the next float64."""
    if lowest > 0:
        return 0.0
    next_float = float(np.nextafter(lowest, -np.inf))
    return min(lowest - 1.0, next_float)
