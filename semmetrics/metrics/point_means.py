"""Exact means of measures at every cut of the rankings: first k labels, or a threshold.

Conventions
-----------
The cuts, called *points*, are ordered from the strictest to the loosest. The *bin* of a
label is the first point that keeps it. The value of an item, or of a class, changes only
at the bins of its labels. The changes are computed once and summed along the points, so
the time does not grow with the number of points.

Sums are exact. Each value is rounded once, to a multiple of 2**-62, and stored as two
integers. The result therefore does not depend on the order or the number of changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.formulas import divide

Average: TypeAlias = Literal["example", "micro", "macro", "weighted"]
Formula: TypeAlias = Callable[..., Floats]
AVERAGES: tuple[Average, ...] = get_args(Average)

_MAX_LABELS_PER_PART = 1 << 20
_HIGH_BITS = 26  # bits of a value that are summed as the first integer
_LOW_BITS = 36  # further bits, that are summed as the second integer
_MAX_BITS_OF_WEIGHT_SUMS = 61


class Rows(NamedTuple):
    """The scored labels of items, and the numbers of references of items and classes.

    Attributes
    ----------
    indptr : array, shape (items + 1,), int64
    codes : int array, shape (indptr[-1],)
        The class of each scored label.
    hit : bool array, same shape
        Whether it is a reference label of its item.
    scores : float array, same shape
    n_ref : int array, shape (items,)
        The number of reference labels of each item, with or without a score.
    class_ref : int array, shape (classes,)
        The number of items that have each class as a reference, or the sum of their
        weights.
    weights : int array, shape (items,), or None
        Weights of items, as `whole_weights` returns them. None if all weigh the same.
    """

    indptr: Ints
    codes: NDArray[np.integer]
    hit: NDArray[Any]
    scores: Floats
    n_ref: NDArray[np.integer]
    class_ref: NDArray[np.integer]
    weights: Ints | None = None


class _Groups(NamedTuple):
    """Scored labels grouped by item or by class, whichever a mean is over.

    Attributes
    ----------
    indptr : int array, shape (groups + 1,)
    bins : int array, shape (labels,)
    columns : list of arrays, shape (labels,)
        What to sum over kept labels: hits, ones, and further arrays.
    n_ref : int array, shape (groups,)
    weights : array, shape (groups,)
        Weights in the mean: integers, or floats in [0, 1].
    """

    indptr: Ints
    bins: Ints
    columns: list[NDArray[Any]]
    n_ref: NDArray[np.integer]
    weights: NDArray[Any]

    def part(self, groups: slice) -> _Groups:
        """Return some of the groups."""
        first = self.indptr[groups.start]
        labels = slice(first, self.indptr[groups.stop])
        return _Groups(
            self.indptr[groups.start : groups.stop + 1] - first,
            self.bins[labels],
            [column[labels] for column in self.columns],
            self.n_ref[groups],
            self.weights[groups],
        )


# ---- means ----------------------------------------------------------------------------


def means_at_points(
    rows: Rows,
    average: str,
    bins: Ints,
    n_points: int,
    formula: Formula,
    *extra_columns: NDArray[Any],
) -> Floats:
    """Return the mean over items or classes of values on counts, at every point.

    Parameters
    ----------
    rows : Rows
        The scores are not used.
    average : {"example", "micro", "macro", "weighted"}
        "example" is the mean over items, and "micro" evaluates the formula on the counts
        of all labels. "macro" is the mean over classes, and "weighted" the mean over
        classes weighted by their references.
    bins : array, shape (indptr[-1],)
        The first point that keeps each label, or `n_points` if none does.
    n_points : int
    formula : callable (hit, kept, ref, *extra_sums) -> array, shape (values, ...)
        Computes values in [0, 1] from counts, which are arrays of one shape: hits, kept
        labels, references, and the sums of ``extra_columns`` over the kept labels.
    *extra_columns : int arrays, shape (indptr[-1],)
        Further arrays to sum over the kept labels.

    Returns
    -------
    array, shape (values, n_points)
        Exact, except that each value is rounded once. nan without items or classes, or if
        all have weight 0.

    Raises
    ------
    InputError
        If the average is unknown.
    """
    check_choice("average", average, AVERAGES)
    ones = np.ones(len(bins), np.int8)
    columns: list[NDArray[Any]] = [rows.hit, ones, *extra_columns]
    if rows.weights is not None and average != "example":
        label_weights = np.repeat(rows.weights, ragged.lengths(rows.indptr))
        columns = [column * label_weights for column in columns]
    if average == "micro":
        return _micro_values(rows, bins, n_points, columns, formula)
    if average == "example":
        groups = _group_by_item(rows, bins, columns)
    else:
        groups = _group_by_class(rows, average, bins, columns)
    means = _ExactMeans(formula, n_points, n_extra=len(extra_columns))
    max_labels = max(_MAX_LABELS_PER_PART, n_points // 4)
    for part in ragged.runs_within(groups.indptr, max_labels):
        means.add(groups.part(part))
    return means.values()


def _micro_values(
    rows: Rows,
    bins: Ints,
    n_points: int,
    columns: Sequence[NDArray[Any]],
    formula: Formula,
) -> Floats:
    """Evaluate the formula on the counts of all labels, at every point."""
    n_ref = rows.n_ref
    if rows.weights is not None:
        n_ref = n_ref * rows.weights
    counts = []
    for column in columns:
        changes = sums_by_key(bins, column, n_points)
        counts.append(changes.cumsum())
    hit, kept, *extra_sums = counts
    references = np.full(n_points, n_ref.sum())
    return formula(hit, kept, references, *extra_sums)


def _group_by_item(rows: Rows, bins: Ints, columns: list[NDArray[Any]]) -> _Groups:
    """Group labels by item, with the weights of items."""
    weights: NDArray[Any] = np.ones(len(rows.n_ref), np.int64)
    if rows.weights is not None:
        weights = _scale_to_1(rows.weights)
    return _Groups(rows.indptr, bins, columns, rows.n_ref, weights)


def _group_by_class(
    rows: Rows, average: str, bins: Ints, columns: Sequence[NDArray[Any]]
) -> _Groups:
    """Group labels by class, with the weights of classes in the average."""
    n_ref = rows.class_ref
    n_classes = len(n_ref)
    order = np.argsort(rows.codes, kind="stable")
    indptr = ragged.offsets(np.bincount(rows.codes, minlength=n_classes))
    weights: NDArray[Any] = np.ones(n_classes, np.int64)
    if average == "weighted":
        if n_ref.any():
            weights = n_ref
        if rows.weights is not None:
            weights = _scale_to_1(weights)
    ordered_columns = [column[order] for column in columns]
    return _Groups(indptr, bins[order], ordered_columns, n_ref, weights)


def _scale_to_1(weights: NDArray[Any]) -> Floats:
    """Divide integer weights by the largest."""
    scaled: Floats = weights / max(1, weights.max(initial=0))
    return scaled


class _ExactMeans:
    """Weighted means over groups of labels at every point, summed exactly.

    Parameters
    ----------
    formula : callable
        See `means_at_points`.
    n_points : int
    n_extra : int
        The number of extra sums that the formula takes.
    """

    def __init__(self, formula: Formula, n_points: int, n_extra: int) -> None:
        no_counts = np.zeros((3 + n_extra, 0))
        n_values = len(formula(*no_counts))
        self._formula = formula
        # High and low bits of the change of each value at each point. The last column is
        # for labels that no point keeps.
        self._changes = np.zeros((2, n_values, n_points + 1), np.int64)
        self._total_weight = np.zeros(2, np.int64)

    def add(self, groups: _Groups) -> None:
        """Add how the values of the groups change from point to point.

        A value is rounded after it is multiplied by a float weight, and before it is
        multiplied by an integer weight. The weight itself is summed like a value that is
        1 in every group.
        """
        n_groups = len(groups.weights)
        factors = np.ones(n_groups)
        multiples: Ints = np.ones(n_groups, np.int64)
        if groups.weights.dtype.kind == "f":
            factors = groups.weights
        else:
            multiples = groups.weights
        # The values of each group before any label is kept, shape (2, values, groups).
        no_labels = np.zeros(n_groups, np.int64)
        nothing_kept = [no_labels] * len(groups.columns)
        start = self._evaluate(nothing_kept, groups.n_ref, factors)

        # The values before and after each change, shape (2, values, changes). The value before
        # is the value after the group's previous change, or at the start.
        group, point, counts = self._count_kept(groups)
        after = self._evaluate(counts, groups.n_ref[group], factors[group])
        before = np.concatenate([after[..., :1], after[..., :-1]], axis=-1)
        is_first_of_group = ragged.starts_run(group)
        before[..., is_first_of_group] = start[..., group[is_first_of_group]]
        changes = (after - before) * multiples[group]

        width = self._changes.shape[-1]
        for part_and_value in np.ndindex(changes.shape[:2]):
            sums = np.bincount(point, changes[part_and_value], width)
            self._changes[part_and_value] += sums.astype(np.int64)
        start_sums = (start * multiples).sum(axis=-1)
        self._changes[..., 0] += start_sums.astype(np.int64)
        weights = (_split_bits(factors) * multiples).sum(axis=-1)
        self._total_weight += weights.astype(np.int64)

    def values(self) -> Floats:
        """Return the means, shape (values, points)."""
        sums = self._changes.cumsum(axis=-1)[..., :-1]
        return divide(_join_bits(sums), _join_bits(self._total_weight))

    def _count_kept(self, groups: _Groups) -> tuple[Ints, Ints, list[Ints]]:
        """Count the kept labels of a group after each point at which it changes.

        Returns
        -------
        group, point : int arrays, shape (changes,)
            By group, then by point.
        counts : list of int arrays, shape (changes,)
            The sum of each column over the kept labels.
        """
        width = self._changes.shape[-1]
        keys = ragged.row_numbers(groups.indptr) * width + groups.bins
        order = np.argsort(keys)
        keys = keys[order]
        # The last label of each group at each point.
        is_last = ragged.starts_run(keys[::-1])[::-1]
        last = np.flatnonzero(is_last)
        group, point = np.divmod(keys[last], width)
        ends = last + 1
        starts = groups.indptr[group]
        counts = []
        for column in groups.columns:
            running_sum = ragged.offsets(column[order])
            counts.append(running_sum[ends] - running_sum[starts])
        return group, point, counts

    def _evaluate(
        self, counts: Sequence[Ints], n_ref: NDArray[np.integer], factors: Floats
    ) -> Floats:
        """Return the high and low bits of weighted values, shape (2, values, ...)."""
        hit, kept, *extra_sums = counts
        values = self._formula(hit, kept, n_ref, *extra_sums)
        return _split_bits(values * factors)


def _split_bits(values: Floats) -> Floats:
    """Split values in [0, 1] into high and low bits, as integers in floats.

    Sums of such integers are exact.
    """
    scaled = np.ldexp(values, _HIGH_BITS)
    high = np.floor(scaled)
    low = np.rint(np.ldexp(scaled - high, _LOW_BITS))
    return np.stack([high, low])


def _join_bits(sums: Ints) -> Floats:
    """Return sums of high and of low bits as one float each."""
    high, low = sums.astype(np.float64)
    high_values = np.ldexp(high, -_HIGH_BITS)
    low_values = np.ldexp(low, -_HIGH_BITS - _LOW_BITS)
    total: Floats = high_values + low_values
    return total


# ---- integers -------------------------------------------------------------------------


def sums_by_key(keys: NDArray[np.integer], values: NDArray[Any], size: int) -> Ints:
    """Sum integers by key, exactly. Keys from ``size`` on are left out.

    Examples
    --------
    >>> sums_by_key(np.array([1, 0, 1, 3]), np.array([2**60, 1, 1, 5]), 3).tolist()
    [1, 1152921504606846977, 0]
    """
    if values.dtype.itemsize == 1:
        # Float sums of such small integers are exact too, and faster.
        return np.bincount(keys, values, size)[:size].astype(np.int64)
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys[order], np.arange(size), side="right")
    running_sum = ragged.offsets(values[order])
    return np.diff(running_sum[ends], prepend=0)


def whole_weights(weights: Floats, labels: Ints) -> Ints:
    """Scale weights of items to integers whose sums over labels fit an int64.

    Parameters
    ----------
    weights : array, shape (n,), at least 0
    labels : int array, shape (n,)
        The number of labels and references of each item.

    Returns
    -------
    array, shape (n,), int64
        The weights times a power of two. Numbers with few digits stay exact.

    Raises
    ------
    InputError
        If a weight is so much smaller than the largest that it becomes 0.

    Examples
    --------
    >>> whole_weights(np.array([1.0, 0.5, 3.0]), np.ones(3, np.int64)) // 2**56
    array([2, 1, 6])
    """
    largest = weights.max(initial=0.0)
    shares = weights / (largest or 1.0)  # so that their sum does not overflow
    # A number is below 2 to the power of its exponent.
    _, exponent_of_sum = np.frexp(np.dot(shares, labels + 1))
    _, exponent_of_largest = np.frexp(largest)
    shift = _MAX_BITS_OF_WEIGHT_SUMS - exponent_of_sum - exponent_of_largest
    scaled = np.ldexp(weights, shift)
    integers: Ints = np.rint(scaled).astype(np.int64)
    is_lost = (integers == 0) & (weights > 0)
    if is_lost.any():
        low = weights[is_lost].min()
        raise InputError("weights-apart", low=low, high=weights.max())
    return integers
