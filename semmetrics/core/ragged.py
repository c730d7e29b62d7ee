"""Ragged rows: lists of different lengths, stored as one flat array and the offsets of the rows.

Conventions
-----------
``indptr`` has one more entry than there are rows. Row ``i`` is ``flat[indptr[i]:indptr[i + 1]]``.
All functions are vectorised over rows.

The key of a cell (row, code) is ``row * width + code``. Keys are looked up in a table with one
entry per possible key if it fits into memory caches. Otherwise sorted keys are searched, so that
the cost does not grow with the number of codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

_MAX_MEMBER_TABLE = 1 << 26  # entries of a table in which members are looked up
_MAX_NUMBER_TABLE_PER_KEY = 8  # entries per key of a table that numbers keys
_MAX_REPEAT_TABLE_PER_KEY = 64  # entries per key of a table that finds repeated keys
_MIN_COLUMNS_FOR_DEFAULT_SORT = 256  # in shorter rows a stable sort is as fast
_MAX_SAMPLED_COLUMNS = 4_096  # of the first row, to choose how to sort


# ---- offsets and rows -------------------------------------------------------


def offsets(lengths: NDArray[np.generic]) -> Ints:
    """Return the row offsets for row lengths.

    With other numbers, these are running sums from 0. The difference of the running sums at two
    offsets is the sum of the numbers between them.

    Parameters
    ----------
    lengths : int or bool array, shape (rows,)

    Returns
    -------
    int array, shape (rows + 1,)

    Examples
    --------
    >>> offsets(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def lengths(indptr: Ints) -> Ints:
    """Return the row lengths for row offsets."""
    # np.diff takes much longer on short arrays.
    return indptr[1:] - indptr[:-1]


def row_numbers(indptr: Ints) -> Ints:
    """Return the row of each flat element.

    Examples
    --------
    >>> row_numbers(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    n_rows = len(indptr) - 1
    return np.repeat(np.arange(n_rows), lengths(indptr))


def positions(indptr: Ints) -> Ints:
    """Return the position of each flat element in its row, from 0.

    Examples
    --------
    >>> positions(np.array([0, 2, 2, 3])).tolist()
    [0, 1, 0]
    """
    row_starts = np.repeat(indptr[:-1], lengths(indptr))
    return np.arange(indptr[-1]) - row_starts


def prefixes(indptr: Ints, n_first: NDArray[np.integer]) -> Bools:
    """Return whether each flat element is among the first elements of its row.

    Parameters
    ----------
    indptr : int array, shape (rows + 1,)
    n_first : int array, shape (rows,), or int
        How many elements of a row count as the first. May be larger than the row.

    Examples
    --------
    >>> prefixes(np.array([0, 2, 2, 3]), np.array([1, 5, 1])).tolist()
    [True, False, True]
    """
    stops = np.repeat(indptr[:-1] + n_first, lengths(indptr))
    return np.arange(indptr[-1]) < stops


def sum_rows(flat: NDArray[np.generic], indptr: Ints) -> Ints:
    """Sum the integers of each row. Empty rows have the sum 0.

    Parameters
    ----------
    flat : int or bool array
    indptr : int array, shape (rows + 1,)

    Returns
    -------
    int array, shape (rows,)

    Examples
    --------
    >>> sum_rows(np.array([1, 2, 5]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 5]
    """
    running_sums = offsets(flat)
    return running_sums[indptr[1:]] - running_sums[indptr[:-1]]


def take_rows(indptr: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the offsets and the flat indices of chosen rows.

    Parameters
    ----------
    indptr : int array, shape (rows + 1,)
    rows : int array, shape (chosen rows,)
        In any order, and perhaps repeated.

    Returns
    -------
    indptr : int array, shape (chosen rows + 1,)
    flat : int array
        The indices of their elements.

    Examples
    --------
    >>> [part.tolist() for part in take_rows(np.array([0, 2, 3]), np.array([1, 0]))]
    [[0, 1, 3], [2, 0, 1]]
    """
    row_lengths = lengths(indptr)[rows]
    taken_indptr = offsets(row_lengths)
    shifts = np.repeat(indptr[rows] - taken_indptr[:-1], row_lengths)
    return taken_indptr, np.arange(taken_indptr[-1]) + shifts


def order_rows(indptr: Ints, keys: Floats) -> Ints:
    """Return flat indices that sort each row by decreasing key. Equal keys keep their order.

    Keys may be infinite, but not NaN.

    Examples
    --------
    >>> order_rows(np.array([0, 3, 4]), np.array([0.1, 0.9, 0.9, 0.5])).tolist()
    [1, 2, 0, 3]
    """
    row_lengths = lengths(indptr)
    n_rows = len(row_lengths)
    if n_rows and row_lengths[0] and (row_lengths == row_lengths[0]).all():
        table = keys.reshape(n_rows, row_lengths[0])
        return (_order_stably(-table) + indptr[:-1, None]).ravel()
    return np.lexsort((-keys, row_numbers(indptr)))


def _order_stably(table: Floats) -> Ints:
    """Return the columns that sort each row of a table. Equal values keep their order.

    NumPy's default sort takes a third of the time of its stable sort in long rows, on many
    processors. The stable sort is faster if there are many equal values or the rows are sorted.
    """
    is_short = table.shape[1] < _MIN_COLUMNS_FOR_DEFAULT_SORT
    if is_short or _is_tied_or_sorted(table[0, :_MAX_SAMPLED_COLUMNS]):
        return np.argsort(table, axis=1, kind="stable")
    order = np.argsort(table, axis=1)
    _sort_columns_of_ties(order, np.take_along_axis(table, order, axis=1))
    return order


def _sort_columns_of_ties(order: Ints, sorted_table: Floats) -> None:
    """Sort the columns of equal values in place, within each row of an order.

    Parameters
    ----------
    order : int array, shape (rows, columns)
        The columns of each row, by rising value.
    sorted_table : array of the same shape
        The values in this order.
    """
    starts_group = np.ones(sorted_table.shape, np.bool_)
    starts_group[:, 1:] = sorted_table[:, 1:] != sorted_table[:, :-1]
    is_tied = ~starts_group
    is_tied[:, :-1] |= is_tied[:, 1:]
    tied_places = np.flatnonzero(is_tied)
    if not len(tied_places):
        return
    group_of_tied = np.cumsum(starts_group)[tied_places]
    n_columns = order.shape[1]
    # One number for the group and the column, so that one sort keeps the groups together.
    flat_order = order.ravel()  # a view
    keys = group_of_tied * n_columns + flat_order[tied_places]
    keys.sort()
    flat_order[tied_places] = keys % n_columns


def _is_tied_or_sorted(values: Floats) -> bool:
    """Return whether at least half of the values repeat others, or they are in order."""
    n_distinct = len(np.unique(values))
    is_rising = bool((values[1:] >= values[:-1]).all())
    return n_distinct <= len(values) / 2 or is_rising


# ---- slices and groups of rows ----------------------------------------------


def as_slice(numbers: Ints) -> Any:
    """Return numbers as a slice if they are consecutive, so that indexing copies nothing.

    Examples
    --------
    >>> as_slice(np.array([3, 4, 5])), as_slice(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    are_consecutive = len(numbers) > 0 and bool((np.diff(numbers) == 1).all())
    if not are_consecutive:
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


def slices(stop: int, step: int) -> list[slice]:
    """Divide the range from 0 to ``stop`` into slices of ``step`` numbers.

    A step below 1 counts as 1.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, step)
    return [slice(start, min(start + step, stop)) for start in range(0, stop, step)]


def runs_within(costs: Ints, max_cost: int) -> Iterator[slice]:
    """Yield consecutive runs of rows, each with a limited cost. A run has at least one row.

    Parameters
    ----------
    costs : array, shape (rows + 1,)
        Running sums of the costs of rows, from 0.
    max_cost : int
        The largest cost of a run of several rows.

    Examples
    --------
    >>> list(runs_within(np.array([0, 3, 5, 6, 20]), 5))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    n_rows = len(costs) - 1
    start = 0
    while start < n_rows:
        last = int(np.searchsorted(costs, costs[start] + max_cost, "right")) - 1
        stop = max(start + 1, last)
        yield slice(start, stop)
        start = stop


def group_by_size(n_rows: Ints, n_columns: Ints, cells: int) -> Iterator[Ints]:
    """Yield groups of tables of similar sizes, each with about ``cells`` cells after padding.

    Parameters
    ----------
    n_rows, n_columns : int arrays, shape (tables,)
    cells : int

    Yields
    ------
    int array
        The numbers of the tables of a group.

    Examples
    --------
    >>> [part.tolist() for part in group_by_size(np.array([1, 2, 1]), np.array([4, 2, 4]), 8)]
    [[0, 2], [1]]
    """
    order = np.lexsort((n_columns, n_rows))
    heights = n_rows[order]
    widths = n_columns[order]
    start = 0
    while start < len(order):
        first_area = int(heights[start] * widths[start])
        stop = start + max(1, cells // max(1, first_area))
        # Later tables may be larger, and all are padded to the largest.
        area = int(heights[start:stop][-1]) * int(widths[start:stop].max())
        stop = min(stop, start + max(1, cells // max(1, area)))
        yield order[start:stop]
        start = stop


# ---- keys -------------------------------------------------------------------


def cell_keys(indptr: Ints, codes: NDArray[np.integer], width: int) -> Ints:
    """Return the key of each flat element: ``row * width + code``."""
    n_rows = len(indptr) - 1
    row_keys = np.arange(n_rows, dtype=np.int64) * width
    keys = np.repeat(row_keys, lengths(indptr))
    keys += codes
    return keys


def distinct_codes(
    indptr: Ints, codes: NDArray[np.integer], width: int
) -> tuple[Ints, Ints, Ints]:
    """Return the distinct codes of each row, in increasing order, and how often each occurs.

    Parameters
    ----------
    indptr : int array, shape (rows + 1,)
    codes : int array
        In [0, width).
    width : int

    Returns
    -------
    indptr : int array, shape (rows + 1,)
    codes, counts : int arrays
        The distinct codes, row by row, and their counts.

    Examples
    --------
    >>> [part.tolist() for part in distinct_codes(np.array([0, 3, 4]), np.array([5, 2, 5, 0]), 6)]
    [[0, 2, 3], [2, 5, 0], [1, 2, 1]]
    """
    keys = cell_keys(indptr, codes, width)
    keys.sort()
    starts = np.flatnonzero(starts_run(keys))
    counts = np.diff(starts, append=len(keys))
    keys = keys[starts]
    rows = keys // width
    keys -= rows * width  # leaves the codes, and is cheaper than the remainder
    row_lengths = np.bincount(rows, minlength=len(indptr) - 1)
    return offsets(row_lengths), keys, counts


def distinct_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in increasing order, and the place of each key among them.

    Parameters
    ----------
    keys : int array
        Not negative.

    Examples
    --------
    >>> [part.tolist() for part in distinct_keys(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    table_size = int(keys.max(initial=-1)) + 1
    if table_size > _MAX_NUMBER_TABLE_PER_KEY * len(keys):
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places
    is_present = np.zeros(table_size, np.bool_)
    is_present[keys] = True
    place_of_key = np.cumsum(is_present) - 1
    return np.flatnonzero(is_present), place_of_key[keys]


def starts_run(flat: NDArray[Any]) -> Bools:
    """Return whether each element differs from the previous one. True for the first element.

    Examples
    --------
    >>> starts_run(np.array([3, 3, 1])).tolist()
    [True, False, True]
    """
    is_start = np.ones(len(flat), np.bool_)
    np.not_equal(flat[1:], flat[:-1], out=is_start[1:])
    return is_start


def is_member(keys: Ints, members: Ints, size: int) -> Bools:
    """Return whether each key is one of the members. All are in [0, size).

    Examples
    --------
    >>> is_member(np.array([3, 1]), np.array([1, 2]), 4).tolist()
    [False, True]
    """
    if size <= _MAX_MEMBER_TABLE:
        table = np.zeros(size, np.bool_)
        table[members] = True
        return np.asarray(table[keys])
    # For keys that are nearly sorted, this is much faster than np.isin, which uses hashes.
    sorted_members = np.sort(members)
    places = np.searchsorted(sorted_members, keys)
    sorted_members = np.append(sorted_members, -1)  # for keys above all members
    return np.asarray(sorted_members[places] == keys)


def first_occurrences(keys: Ints, size: int) -> Bools | None:
    """Return whether each key occurs for the first time, or None if no key is repeated.

    Parameters
    ----------
    keys : int array
        In [0, size).
    size : int

    Examples
    --------
    >>> first_occurrences(np.array([3, 1, 3]), 4).tolist()
    [True, True, False]
    """
    if not _has_repeats(keys, size):
        return None
    _, first_places = np.unique(keys, return_index=True)
    is_first = np.zeros(len(keys), np.bool_)
    is_first[first_places] = True
    return is_first


def _has_repeats(keys: Ints, size: int) -> bool:
    """Return whether a key is repeated. Keys are in [0, size)."""
    if size <= _MAX_REPEAT_TABLE_PER_KEY * len(keys):
        is_present = np.zeros(size, np.bool_)
        is_present[keys] = True
        return bool(np.count_nonzero(is_present) != len(keys))
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def occurrence_numbers(keys: Ints) -> Ints:
    """Return how many equal keys precede each key.

    Examples
    --------
    >>> occurrence_numbers(np.array([3, 1, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(starts_run(keys[order]))
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = positions(np.append(starts, len(keys)))
    return numbers
