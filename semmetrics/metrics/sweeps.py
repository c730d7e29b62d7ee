"""Precision, recall and F1 over every cut of the rankings: first k labels, or a threshold.

Conventions
-----------
A label is kept at k where it is among its item's first k, and at threshold t where its score is
above t, strictly; so ``decode`` repeats the decision of every point. Each label is put once at the
first point that keeps it, and each item (or class) says how much its value changes there; sums of
the changes give every point, so that the time does not grow with the number of points.

Averages
--------
example   means over items of each item's precision, recall and F1
micro     from the counts of all items and labels together
macro     means over all labels of the dictionary
weighted  the same, each label weighted by the number of its references

A ratio 0/0 is a matter of policy: see `Undefined`.

References
----------
Pineda, Salvador et al., 2019, section 4 (I-F1, O-F1, C-F1 are the first three averages of F1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.backend import dense_array
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.decoding import integer_list, score_matrix, target_matrix
from semmetrics.metrics.formulas import divide

Average: TypeAlias = Literal["example", "micro", "macro", "weighted"]
Formula: TypeAlias = Callable[..., Floats]
Points: TypeAlias = NDArray[np.generic]
AVERAGES: tuple[Average, ...] = get_args(Average)
_LABELS = 1 << 20  # labels that are looked at together
_HIGH, _LOW = 26, 36  # bits of a value that are summed apart, so that sums are exact
_WHOLE = 61  # bits of sums of weights over labels
_EQUAL = 2.0**-50  # values closer than that are equal: 1/3 + 2/3 is 1/2 + 1/2


class Undefined(NamedTuple):
    """What stands for 0/0.

    Attributes
    ----------
    ratio : float
        A precision without predictions, a recall without references.
    item : float
        The F1 of an item (and the micro F1) with nothing on both sides.
    label : float
        The F1 of a label with nothing on both sides; pineda2019 has 1, scikit-learn 0.
    """

    ratio: float = 0.0
    item: float = 1.0
    label: float = 0.0


DEFAULT = Undefined()


@by_value()
class Sweep(NamedTuple):
    """Precision, recall and F1 at each point (a k or a threshold); arrays of one length."""

    points: Points
    precision: Floats
    recall: Floats
    f1: Floats


class Rows(NamedTuple):
    """Scored labels of each item, and the references of each item and of each label.

    Attributes
    ----------
    indptr : array, shape (n + 1,), int64
    codes, hit, scores : arrays, shape (indptr[-1],)
        Code of each label in the dictionary, whether it is a reference label of its item, and its
        score.
    n_ref : array, shape (n,)
        Reference labels of each item, scored or not.
    class_ref : array, shape (n_labels,)
        Items that each label is a reference of, or the sum of their weights.
    weights : int array, shape (n,), or None
        Weights of the items, as `whole_weights` makes them; None where all weigh the same.
    """

    indptr: Ints
    codes: NDArray[np.integer]
    hit: NDArray[Any]
    scores: Floats
    n_ref: NDArray[np.integer]
    class_ref: NDArray[np.integer]
    weights: Ints | None = None


class BestThreshold(NamedTuple):
    """The threshold with the best F1, and that F1."""

    threshold: float
    value: float


def sweep_top_k(
    scores: ArrayLike,
    targets: ArrayLike,
    ks: Sequence[int],
    *,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Compute precision, recall and F1 of the first k labels, for every k, after one sort.

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
        A `Sweep` for each of AVERAGES; points in the order given.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or a k is
        negative.

    Examples
    --------
    >>> sweep = sweep_top_k([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]], [1, 2])
    >>> sweep["micro"].precision.tolist(), sweep["example"].recall.tolist()
    ([0.5, 0.5], [0.5, 1.0])
    """
    points, rows = integer_list(ks, "ks"), _dense_rows(scores, targets)
    order = ragged.order_rows(rows.indptr, rows.scores)
    rows = rows._replace(codes=rows.codes[order], hit=rows.hit[order])
    rising = np.argsort(points, kind="stable")
    bins = np.searchsorted(points[rising], ragged.positions(rows.indptr), side="right")
    return {
        one: _average(rows, one, points, rising, bins, undefined) for one in AVERAGES
    }


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
        Left out, those of `candidate_thresholds`, falling: every decision that a threshold can
        make.
    undefined : Undefined

    Returns
    -------
    dict
        A `Sweep` for each of AVERAGES; given thresholds keep their order.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or a
        threshold is NaN.

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
    """Do what `sweep_thresholds` does on ragged rows, in any order within a row.

    Parameters
    ----------
    rows : Rows
        A label without a score is above no threshold.
    averages : sequence of {"example", "micro", "macro", "weighted"}
        Which to compute.
    thresholds, undefined
        As for `sweep_thresholds`.

    Returns
    -------
    dict of Sweep
    """
    if thresholds is None:
        points, bins = points_of_scores(rows.scores)
        falling = np.arange(len(points))
    else:
        points = dense_array(thresholds, "thresholds", np.float64)
        if points.ndim != 1 or np.isnan(points).any():
            wanted = "a list of numbers without NaN"
            raise InputError(
                "bad-option", name="thresholds", value=thresholds, wanted=wanted
            )
        falling = np.argsort(-points, kind="stable")
        bins = np.searchsorted(-points[falling], -rows.scores, side="right")
    return {
        one: _average(rows, one, points, falling, bins, undefined) for one in averages
    }


def best_threshold(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    average: Average = "micro",
    thresholds: ArrayLike | None = None,
    undefined: Undefined = DEFAULT,
) -> BestThreshold:
    """Find the threshold with the best F1; of equally good ones the highest.

    Every decision that a threshold can make is looked at, or every threshold given. F1 values that
    differ by less than 1e-15 are equally good.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    average : {"micro", "macro", "example", "weighted"}
        Whose F1 is to be best.
    thresholds : array-like, shape (T,), optional
        Left out, every decision that a threshold can make.
    undefined : Undefined

    Returns
    -------
    BestThreshold
        threshold and value; ``keep_above`` at this threshold gives this value.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, a threshold
        is NaN, or there is no item or no threshold to choose from.

    Examples
    --------
    >>> best_threshold([[0.9, 0.4], [0.3, 0.2]], [[0, 1], [1, 0]])
    BestThreshold(threshold=0.2, value=0.8)
    """
    rows = _dense_rows(scores, targets)
    sweep = sweep_rows(rows, thresholds, averages=[average], undefined=undefined)[
        average
    ]
    if not len(sweep.points) or not len(rows.n_ref):
        what = "scores to choose a threshold by"
        raise InputError("nothing-given", what=what, remedy="give some items")
    points: Any = sweep.points
    best = best_place(points, sweep.f1)
    return BestThreshold(float(points[best]), float(sweep.f1[best]))


def best_place(points: Floats, values: Floats) -> int:
    """Return the place of the best value, of equally good ones that of the highest point.

    Examples
    --------
    >>> best_place(np.array([0.2, 0.9, 0.5]), np.array([0.1 + 0.2, 0.0, 0.3]))
    2
    """
    known = np.nan_to_num(values, nan=-1.0, neginf=-np.inf)
    good = np.flatnonzero(known >= known.max() - _EQUAL)
    return int(good[points[good].argmax()])


def candidate_thresholds(scores: ArrayLike) -> Floats:
    """Return thresholds that make every decision "score > t" can make on these scores, falling.

    These are the distinct scores, each leaving out itself and all below it, and the next float64
    below the lowest score, which keeps everything (where the lowest is not -inf).

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
    return points_of_scores(np.asarray(scores, np.float64).ravel())[0]


def points_of_scores(scores: Floats) -> tuple[Floats, Ints]:
    """Return the candidate thresholds, and for each score the first of them that it is above.

    Parameters
    ----------
    scores : array, shape (m,), without NaN

    Returns
    -------
    points : array, shape (T,)
        As `candidate_thresholds` returns them.
    bins : array, shape (m,)
        T for -inf, which is above none.

    Examples
    --------
    >>> [part.tolist() for part in points_of_scores(np.array([0.5, 1.0, 0.5]))]
    [[1.0, 0.5, 0.0], [2, 1, 2]]
    """
    order = np.argsort(-scores)
    falling = scores[order]
    fresh = ragged.starts_run(falling)
    bins = np.empty(len(scores), np.int64)
    bins[order] = np.cumsum(fresh)
    points = falling[fresh]
    if len(points) and points[-1] != -np.inf:
        # what all scores are above: 0 where they are, or 1 below the lowest
        lowest = points[-1]
        below = 0.0 if lowest > 0 else min(lowest - 1.0, np.nextafter(lowest, -np.inf))
        points = np.append(points, below)
    return points, bins


def _dense_rows(scores: ArrayLike, targets: ArrayLike) -> Rows:
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    indptr, codes = ragged.offsets(np.full(n, width)), np.tile(np.arange(width), n)
    n_ref, class_ref = (truth.sum(axis=axis, dtype=np.int64) for axis in (1, 0))
    return Rows(indptr, codes, truth.ravel(), table.ravel(), n_ref, class_ref)


def _average(
    rows: Rows,
    average: Average,
    points: Points,
    order: Ints,
    bins: Ints,
    undefined: Undefined,
) -> Sweep:
    """Return one average at every point; bins count along the points in that order."""
    if np.isnan(undefined).any():  # a mean that depends on what stands for nan is nan
        fixed = rows, average, points, order, bins
        ends = [Undefined(*np.nan_to_num(undefined, nan=value)) for value in (0.0, 1.0)]
        low, high = (_average(*fixed, end) for end in ends)
        columns = zip(low[1:], high[1:], strict=True)
        return Sweep(
            points, *(np.where(one == other, one, np.nan) for one, other in columns)
        )
    empty = undefined.label if average in ("macro", "weighted") else undefined.item

    def ratios(true: Any, kept: Any, ref: Any) -> Floats:
        precision, recall = (
            divide(true, kept, undefined.ratio),
            divide(true, ref, undefined.ratio),
        )
        return np.stack([precision, recall, divide(2 * true, kept + ref, empty)])

    means = np.empty((3, len(points)))
    means[:, order] = means_at_points(rows, average, bins, len(points), ratios)
    return Sweep(points, *means)


def means_at_points(
    rows: Rows,
    average: str,
    bins: Ints,
    n_points: int,
    formula: Formula,
    *more: NDArray[Any],
) -> Floats:
    """Return the mean over items or labels of values on counts, at every point.

    Parameters
    ----------
    rows : Rows
        The scores are not looked at.
    average : {"example", "micro", "macro", "weighted"}
    bins : array, shape (indptr[-1],)
        The first point that keeps each label; `n_points` where none does.
    n_points : int
    formula : callable (hit, kept, ref, *more) -> array, shape (values, ...)
        Values in [0, 1] from counts of one shape: of hits, of labels that are kept, of references,
        and sums of what further arrays hold for the labels kept.
    *more : int arrays, shape (indptr[-1],)

    Returns
    -------
    array, shape (values, n_points)
        Sums are exact: the error is at most that of rounding each value once. nan without items or
        labels, or weights of them.

    Raises
    ------
    InputError
        If the average is unknown.
    """
    check_choice("average", average, AVERAGES)
    columns: list[Any] = [rows.hit, np.ones(len(bins), np.int8), *more]
    n_refs: Any = rows.n_ref
    # sums over items are weighted
    if rows.weights is not None and average != "example":
        of_label = np.repeat(rows.weights, np.diff(rows.indptr))
        columns, n_refs = [c * of_label for c in columns], n_refs * rows.weights
    if average == "micro":
        known = [sums_by_key(bins, c, n_points).cumsum() for c in columns]
        return formula(known[0], known[1], np.full(n_points, n_refs.sum()), *known[2:])
    indptr = rows.indptr
    if average != "example":
        by_class = np.argsort(rows.codes, kind="stable")
        indptr = ragged.offsets(np.bincount(rows.codes, minlength=len(rows.class_ref)))
        columns, bins, n_refs = (
            [c[by_class] for c in columns],
            bins[by_class],
            rows.class_ref,
        )
    by_support = average == "weighted" and n_refs.any()  # without references as "macro"
    weights = n_refs if by_support else np.ones(len(n_refs), np.int64)
    if rows.weights is not None and average != "macro":
        weights = rows.weights if average == "example" else weights
        weights = weights / max(1, weights.max(initial=0))
    sums = np.zeros(
        (2, len(formula(*np.zeros((3 + len(more), 0)))), n_points + 1), np.int64
    )
    total = np.zeros(2, np.int64)
    for part in ragged.runs_within(indptr, max(_LABELS, n_points // 4)):
        flat = slice(indptr[part.start], indptr[part.stop])
        some = indptr[part.start : part.stop + 1] - flat.start
        groups = (
            some,
            bins[flat],
            [c[flat] for c in columns],
            n_refs[part],
            weights[part],
        )
        total += _add_changes(sums, *groups, formula)
    return divide(_joined(sums.cumsum(axis=-1)[..., :-1]), _joined(total))


def sums_by_key(keys: NDArray[np.integer], values: NDArray[Any], size: int) -> Ints:
    """Sum whole numbers by key, exactly; keys from ``size`` on are left out.

    Examples
    --------
    >>> sums_by_key(np.array([1, 0, 1, 3]), np.array([2**60, 1, 1, 5]), 3).tolist()
    [1, 1152921504606846977, 0]
    """
    if values.dtype.itemsize == 1:  # sums of floats are exact, too, and quicker
        return np.bincount(keys, values, size)[:size].astype(np.int64)
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], np.arange(size), side="right")
    return np.diff(ragged.offsets(values[order])[ends], prepend=0)


def whole_weights(weights: Floats, labels: Ints) -> Ints:
    """Scale weights of items to whole numbers, whose sums over labels an int64 holds.

    Parameters
    ----------
    weights : array, shape (n,), at least 0
    labels : int array, shape (n,)
        How many labels and references each item has.

    Returns
    -------
    array, shape (n,), int64
        The weights times a power of two. Numbers of few digits stay exact.

    Raises
    ------
    InputError
        If a weight is so far below the largest that nothing is left of it.

    Examples
    --------
    >>> whole_weights(np.array([1.0, 0.5, 3.0]), np.ones(3, np.int64)) // 2**56
    array([2, 1, 6])
    """
    scaled = weights / (weights.max(initial=0.0) or 1.0)  # no sum of them overflows
    _, exponent = np.frexp(np.dot(scaled, labels + 1))
    exact = np.frexp(weights.max(initial=0.0))[1]
    whole: Ints = np.rint(np.ldexp(weights, _WHOLE - exponent - exact)).astype(np.int64)
    lost = (whole == 0) & (weights > 0)
    if lost.any():
        raise InputError("weights-apart", low=weights[lost].min(), high=weights.max())
    return whole


def _add_changes(
    sums: Ints,
    indptr: Ints,
    bins: Ints,
    columns: Sequence[NDArray[Any]],
    n_ref: NDArray[np.integer],
    weights: NDArray[Any],
    formula: Formula,
) -> Ints:
    """Add how the values of groups of labels change from point to point; return their weight.

    A value is rounded to a multiple of 2**-62 and summed in two whole numbers, so that neither the
    order nor the number of the changes rounds anything. The weight is rounded as a value that is 1
    in every group. Weights are whole numbers, or floats in [0, 1]: a value is then rounded once it
    is weighted. The other arguments are those of `means_at_points`.
    """
    wide, floats = sums.shape[-1], weights.dtype.kind == "f"
    share = weights if floats else np.ones(len(weights))
    whole = np.ones(len(weights), np.int64) if floats else weights
    keys = ragged.row_numbers(indptr) * wide + bins
    order = np.argsort(keys)
    keys = keys[order]
    last = np.flatnonzero(ragged.starts_run(keys[::-1])[::-1])
    group, at = np.divmod(keys[last], wide)
    counts = [ragged.offsets(column[order]) for column in columns]
    hit, kept, *more = (c[last + 1] - c[indptr[group]] for c in counts)
    zero = np.zeros(len(n_ref), np.int64)
    start = _cut(formula(zero, zero, n_ref, *[zero for _ in more]) * share)
    after = _cut(formula(hit, kept, n_ref[group], *more) * share[group])
    before = np.concatenate([after[..., :1], after[..., :-1]], axis=-1)
    first = ragged.starts_run(group)
    before[..., first] = start[..., group[first]]
    change = (after - before) * whole[group]
    for place in np.ndindex(change.shape[:2]):
        sums[place] += np.bincount(at, change[place], wide).astype(np.int64)
    sums[..., 0] += (start * whole).sum(axis=-1).astype(np.int64)
    weight: Ints = (_cut(share) * whole).sum(axis=-1).astype(np.int64)
    return weight


def _joined(parts: Ints) -> Floats:
    """Return the sums of upper and lower bits as numbers."""
    high, low = parts.astype(np.float64)
    total: Floats = np.ldexp(high, -_HIGH) + np.ldexp(low, -_HIGH - _LOW)
    return total


def _cut(values: Floats) -> Floats:
    """Return the upper and the lower bits of values in [0, 1], each as whole numbers."""
    scaled = np.ldexp(values, _HIGH)
    high = np.floor(scaled)
    return np.stack([high, np.rint(np.ldexp(scaled - high, _LOW))])
