"""Ranks of candidates, found by counting the nearer ones.

Conventions
-----------
A table has one row per query and one column per candidate. Larger numbers mean nearer candidates.
The rank of a candidate is found by counting the candidates that are nearer, without sorting.
Candidates with equal similarities are *tied*. Tables are NumPy arrays or torch tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, count_workers, run_parts, to_numpy
from semmetrics.core.ragged import Bools, Codes, Ints, as_slice, lengths, slices

_MIN_WIDE_ROW = 2048  # candidates from which rows are counted one by one, in the cache
_MAX_CELLS_PER_STEP = 1 << 22  # of a comparison of many rows
_BYTES_PER_TILE = 1 << 19  # rows of this size stay in a cache

# A block of a tall table that stays in a cache. At most 255 rows, as they are counted in bytes.
_ROWS_PER_BLOCK = 128
_COLUMNS_PER_TILE = 4096


# ---- nearer and tied candidates ---------------------------------------------


class Counts(NamedTuple):
    """How many candidates precede given candidates of each query.

    Attributes
    ----------
    nearer : int array
        Candidates of the same query with a larger similarity.
    tied : int array
        Other candidates with the same similarity.
    tied_before : int array
        How many of the tied candidates come before it in the table.
    """

    nearer: Ints
    tied: Ints
    tied_before: Ints

    @staticmethod
    def empty(size: int) -> Counts:
        """Return zeros that are to be filled in."""
        return Counts(
            nearer=np.zeros(size, np.int64),
            tied=np.zeros(size, np.int64),
            tied_before=np.zeros(size, np.int64),
        )


def count_nearer(table: Any, indptr: Ints, codes: Codes) -> Counts:
    """Count how many candidates are nearer than given candidates, and how many are tied with them.

    Parameters
    ----------
    table : array or tensor, shape (queries, candidates)
        Finite.
    indptr, codes : int arrays, shapes (queries + 1,) and (n,)
        The given candidates of each query, as column numbers.

    Returns
    -------
    Counts
        Arrays of shape (n,).

    Examples
    --------
    >>> table = np.array([[0.9, 0.5, 0.5, 0.1]])
    >>> [part.tolist() for part in count_nearer(table, np.array([0, 2]), np.array([2, 3]))]
    [[1, 3], [1, 0], [1, 0]]
    """
    counts = Counts.empty(len(codes))
    backend = Backend(table)
    rows = np.flatnonzero(lengths(indptr))
    n_candidates = table.shape[1]
    if backend.uses_torch or n_candidates < _MIN_WIDE_ROW:
        rows_per_step = len(rows)
        if backend.on_cpu:
            rows_per_step = _MAX_CELLS_PER_STEP // max(1, n_candidates)
        for part in slices(len(rows), rows_per_step):
            _count_together(backend, table, indptr, codes, rows[part], counts)
        return counts
    workers = count_workers()
    parts = [part for part in np.array_split(rows, workers) if len(part)]
    count_part = partial(_count_row_by_row, table, indptr, codes, counts)
    run_parts(count_part, parts, workers)
    return counts


def _count_row_by_row(
    table: Any, indptr: Ints, codes: Codes, counts: Counts, rows: Ints
) -> None:
    """Count for the given candidates of some rows of a NumPy array, one candidate at a time."""
    passes = np.empty(table.shape[1], np.bool_)
    columns = codes.tolist()
    starts = indptr[rows].tolist()
    stops = indptr[rows + 1].tolist()
    for row, start, stop in zip(rows.tolist(), starts, stops, strict=True):
        similarities = table[row]
        for place in range(start, stop):
            column = columns[place]
            value = similarities[column]
            np.greater(similarities, value, out=passes)
            counts.nearer[place] = np.count_nonzero(passes)
            np.equal(similarities, value, out=passes)
            n_tied = np.count_nonzero(passes) - 1
            if n_tied:
                counts.tied[place] = n_tied
                counts.tied_before[place] = np.count_nonzero(passes[:column])


def _count_together(
    backend: Backend, table: Any, indptr: Ints, codes: Codes, rows: Ints, counts: Counts
) -> None:
    """Count for the first given candidates of all rows, then for the second ones, and so on.

    All counts are transferred from a device once, at the end. With torch, tied candidates before a
    candidate are counted even if nothing is tied, as finding that out means waiting for the device.
    """
    xp = backend.xp
    n_queries, n_candidates = table.shape
    row_numbers = xp.arange(n_queries, **backend.device_options)
    column_numbers = xp.arange(n_candidates, **backend.device_options)
    n_given = lengths(indptr)[rows]
    places_of_slots = []
    counts_of_slots = []
    for slot in range(int(n_given.max(initial=0))):
        slot_rows = rows[n_given > slot]
        places = indptr[slot_rows] + slot
        columns = backend.array(codes[places].astype(np.int64))[:, None]
        similarities = table
        if len(slot_rows) < n_queries:
            similarities = table[backend.array(slot_rows)]
        values = similarities[row_numbers[: len(slot_rows), None], columns]
        is_equal = similarities == values
        n_tied = is_equal.sum(1) - 1
        n_tied_before = xp.zeros_like(n_tied)
        if backend.uses_torch or n_tied.any():
            n_tied_before = (is_equal & (column_numbers[None] < columns)).sum(1)
        n_nearer = (similarities > values).sum(1)
        places_of_slots.append(places)
        counts_of_slots.append(xp.stack([n_nearer, n_tied, n_tied_before]))
    all_places = np.concatenate(places_of_slots)
    all_counts = to_numpy(xp.concatenate(counts_of_slots, 1))
    for target, numbers in zip(counts, all_counts, strict=True):
        target[all_places] = numbers


# ---- the same with queries as columns ---------------------------------------


class _DownTile(NamedTuple):
    """A part of the work of `count_down`.

    Attributes
    ----------
    slot : int
        Which of the given candidates of a query is counted for: the first, the second, ...
    queries : int array
    """

    slot: int
    queries: Ints


_BlockTest: TypeAlias = Callable[[NDArray[Any], int], NDArray[np.bool_]]
"""A test of a block of rows, called with the block and the number of its first row."""


def count_down(table: Any, indptr: Ints, codes: Codes) -> Counts:
    """Count as `count_nearer`, for a table with one column per query, which is not transposed.

    This is faster if queries have few given candidates.

    Parameters
    ----------
    table : array, shape (candidates, queries)
        Finite. May be a memory map.
    indptr, codes : int arrays, shapes (queries + 1,) and (n,)
        The given candidates of each query, as row numbers.

    Returns
    -------
    Counts
        Arrays of shape (n,).

    Examples
    --------
    >>> table = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> [part.tolist() for part in count_down(table, np.array([0, 2]), np.array([2, 3]))]
    [[1, 3], [1, 0], [1, 0]]
    """
    counts = Counts.empty(len(codes))
    n_given = lengths(indptr)
    tiles = []
    for slot in range(int(n_given.max(initial=0))):
        queries = np.flatnonzero(n_given > slot)
        for part in slices(len(queries), _COLUMNS_PER_TILE):
            tiles.append(_DownTile(slot, queries[part]))
    count_tile = partial(_count_down_tile, table, indptr, codes, counts)
    run_parts(count_tile, tiles, count_workers())
    return counts


def _count_down_tile(
    table: Any, indptr: Ints, codes: Codes, counts: Counts, tile: _DownTile
) -> None:
    """Count for one given candidate of each query of a tile."""
    places = indptr[tile.queries] + tile.slot
    rows = codes[places]
    values = _as_fast_type(table[rows, tile.queries])
    columns = as_slice(tile.queries)
    counts.nearer[places] = _sum_down(table, columns, lambda block, _: block > values)
    n_equal = _sum_down(table, columns, lambda block, _: block == values)
    n_tied = n_equal - 1
    counts.tied[places] = n_tied
    is_tied = np.flatnonzero(n_tied)
    if len(is_tied):
        test = partial(_is_equal_before, values[is_tied], rows[is_tied])
        n_before = _sum_down(table, tile.queries[is_tied], test)
        counts.tied_before[places[is_tied]] = n_before


def _is_equal_before(
    values: NDArray[Any], limits: Codes, block: NDArray[Any], first_row: int
) -> Bools:
    """Return which cells of a block equal the value of their column, in rows before its limit."""
    row_numbers = np.arange(first_row, first_row + len(block))[:, None]
    is_before: Bools = (block == values) & (row_numbers < limits)
    return is_before


def _as_fast_type(values: NDArray[Any]) -> NDArray[Any]:
    """Return half precision and booleans in single precision, which is faster to compare."""
    if values.dtype.itemsize < 4:
        return values.astype(np.float32)
    return values


def _sum_down(table: Any, columns: Any, test: _BlockTest) -> Ints:
    """Count the rows that pass a test, in each of some columns."""
    total = 0
    for rows in slices(len(table), _ROWS_PER_BLOCK):
        block = _as_fast_type(table[rows, columns])
        passes = test(block, rows.start).view(np.uint8)
        block_total = np.add.reduce(passes, axis=0, dtype=np.uint8)
        total = total + block_total.astype(np.int64)
    return np.asarray(total)


# ---- nearest candidates -----------------------------------------------------


class Nearest(NamedTuple):
    """The nearest candidates of each query, compared with one given candidate of each query.

    Attributes
    ----------
    places : int32 array
        The nearest candidate, and the first one if several are tied. -1 if there is none.
    values : float array
        Its similarity. nan if there is none.
    tied : int array
        How many other candidates are tied with the given one if that is among the nearest, or 0.
    reached : bool array
        Whether the given candidate is among the nearest.
    others : int32 array
        The first of the nearest candidates other than the given one. If the given one is the only
        nearest candidate, it is that one.
    finite : bool array
        Whether all similarities of the query are finite. If not, its other entries are undefined.
    """

    places: Codes
    values: Any
    tied: Ints
    reached: Bools
    others: Codes
    finite: Bools

    @staticmethod
    def empty(size: int) -> Nearest:
        """Return the entries of queries without candidates, which are to be filled in."""
        return Nearest(
            places=np.full(size, -1, np.int32),
            values=np.full(size, np.nan),
            tied=np.zeros(size, np.int64),
            reached=np.zeros(size, np.bool_),
            others=np.full(size, -1, np.int32),
            finite=np.ones(size, np.bool_),
        )


def find_nearest(table: Any, codes: Codes) -> Nearest:
    """Find the nearest candidate of each query, in tiles of rows that stay in the cache.

    Parameters
    ----------
    table : array, shape (queries, candidates)
        With at least one column.
    codes : int array, shape (queries,)
        The given candidate of each query, or -1.

    Returns
    -------
    Nearest

    Examples
    --------
    >>> found = find_nearest(np.array([[0.1, 0.5, 0.5], [0.3, 0.2, 0.1]]), np.array([1, 2]))
    >>> found.places.tolist(), found.tied.tolist(), found.reached.tolist(), found.others.tolist()
    ([1, 0], [1, 0], [True, False], [2, 0])
    """
    nearest = Nearest.empty(len(table))
    bytes_per_row = table.shape[1] * table.dtype.itemsize
    tiles = slices(len(table), _BYTES_PER_TILE // max(1, bytes_per_row))
    run_parts(
        partial(_find_nearest_of_tile, table, codes, nearest), tiles, count_workers()
    )
    return nearest


def _find_nearest_of_tile(
    table: Any, codes: Codes, nearest: Nearest, tile: slice
) -> None:
    """Find the nearest candidates of some queries."""
    similarities = table[tile]
    given_columns = codes[tile]
    rows = np.arange(len(similarities))
    places = similarities.argmax(axis=1)
    best = similarities[rows, places]
    with np.errstate(all="ignore"):
        is_sum_finite = np.isfinite(similarities.sum())
    if not is_sum_finite:  # a sum of finite numbers may overflow
        nearest.finite[tile] = np.isfinite(similarities).all(axis=1)
    is_reached = (similarities[rows, given_columns] == best) & (given_columns >= 0)
    nearest.places[tile] = places
    nearest.others[tile] = places
    nearest.values[tile] = best
    nearest.reached[tile] = is_reached
    reached_rows = np.flatnonzero(is_reached)
    if not len(reached_rows):
        return
    is_nearest = similarities[reached_rows] == best[reached_rows, None]
    if np.count_nonzero(is_nearest) == len(reached_rows):
        return  # usually nothing is tied
    # The given candidate is not tied with itself.
    is_nearest[np.arange(len(reached_rows)), given_columns[reached_rows]] = False
    n_tied = is_nearest.sum(axis=1)
    nearest.tied[tile][reached_rows] = n_tied
    is_tied = n_tied > 0
    nearest.others[tile][reached_rows[is_tied]] = is_nearest[is_tied].argmax(axis=1)
