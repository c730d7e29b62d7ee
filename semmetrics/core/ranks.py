"""Ranks by counting, from tables of similarities.

Conventions
-----------
A table has a row for each query and a column for each candidate; what is larger is nearer. A rank
is found by counting what is nearer, so no row is sorted. Candidates with equal similarities are
*tied*. Tables are numpy arrays, or torch tensors on any device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.backend import Backend, count_workers, run_parts
from semmetrics.core.ragged import Bools, Codes, Ints, lengths

__all__ = ["Counts", "First", "count_down", "count_nearer", "find_first"]

_WIDE = 2048  # candidates from which a row is counted by itself, while it is in the cache
_CELLS = 1 << 22  # of a comparison of many rows
_TILE = 1 << 19  # bytes of rows that stay in a cache
_DOWN = 128, 4096  # rows and columns compared together, at most 255 rows: they stay in a cache


class Counts(NamedTuple):
    """What stands beside some candidates of each query.

    Attributes
    ----------
    nearer : int array
        Candidates of the same query with a larger similarity.
    tied : int array
        Other candidates with the same similarity.
    tied_before : int array
        Those of them that stand before it in the table.
    """

    nearer: Ints
    tied: Ints
    tied_before: Ints

    @staticmethod
    def empty(size: int) -> Counts:
        """Return counts to be filled in."""
        return Counts(*(np.zeros(size, np.int64) for _ in range(3)))


def count_nearer(table: Any, indptr: Ints, codes: Codes) -> Counts:
    """Count, for some candidates of each query, how many are nearer and how many are tied.

    Parameters
    ----------
    table : array or tensor, shape (queries, candidates)
        Finite.
    indptr, codes : int arrays, shapes (queries + 1,) and (n,)
        The candidates of each query, by their columns.

    Returns
    -------
    Counts, each of shape (n,)

    Examples
    --------
    >>> table = np.array([[0.9, 0.5, 0.5, 0.1]])
    >>> [part.tolist() for part in count_nearer(table, np.array([0, 2]), np.array([2, 3]))]
    [[1, 3], [1, 0], [1, 0]]
    """
    found = Counts.empty(len(codes))
    backend = Backend(table)
    rows = np.flatnonzero(lengths(indptr))
    if backend.torch or table.shape[1] < _WIDE:
        step = max(1, _CELLS // max(1, table.shape[1])) if backend.on_cpu else len(rows)
        for start in range(0, len(rows), max(1, step)):
            _count_together(backend, table, indptr, codes, rows[start : start + step], found)
        return found
    workers = count_workers(backend)
    run_parts(
        lambda part: _count_row_by_row(table, indptr, codes, part, found),
        [part for part in np.array_split(rows, workers) if len(part)],
        workers,
    )
    return found


def _count_row_by_row(table: Any, indptr: Ints, codes: Codes, rows: Ints, found: Counts) -> None:
    flags = np.empty(table.shape[1], np.bool_)
    starts, stops, columns = indptr[rows].tolist(), indptr[rows + 1].tolist(), codes.tolist()
    for row, start, stop in zip(rows.tolist(), starts, stops, strict=True):
        line = table[row]
        for place in range(start, stop):
            column = columns[place]
            value = line[column]
            found.nearer[place] = np.count_nonzero(np.greater(line, value, out=flags))
            tied = np.count_nonzero(np.equal(line, value, out=flags)) - 1
            if tied:
                found.tied[place] = tied
                found.tied_before[place] = np.count_nonzero(flags[:column])


def _count_together(
    backend: Backend, table: Any, indptr: Ints, codes: Codes, rows: Ints, found: Counts
) -> None:
    """Count the first candidates of all rows, then the second ones, and so on."""
    widths = lengths(indptr)[rows]
    numbers = backend.arange(table.shape[1])
    for slot in range(int(widths.max(initial=0))):
        some = rows[widths > slot]
        places = indptr[some] + slot
        columns = backend.array(codes[places].astype(np.int64))[:, None]
        part = table[backend.array(some)] if len(some) < table.shape[0] else table
        values = backend.take_along(part, columns, 1)
        equal = part == values
        found.nearer[places] = backend.numpy((part > values).sum(1))
        found.tied[places] = tied = backend.numpy(equal.sum(1)) - 1
        if tied.any():
            before = equal & (numbers[None] < columns)
            found.tied_before[places] = backend.numpy(before.sum(1))


def count_down(table: Any, indptr: Ints, codes: Codes) -> Counts:
    """Count as `count_nearer` where queries are the columns, without turning the table round.

    It pays where queries have few candidates to count for.

    Parameters
    ----------
    table : array, shape (candidates, queries)
        Finite; perhaps memory-mapped.
    indptr, codes : int arrays, shapes (queries + 1,) and (n,)
        The candidates of each query, by their rows.

    Returns
    -------
    Counts, each of shape (n,)

    Examples
    --------
    >>> table = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> [part.tolist() for part in count_down(table, np.array([0, 2]), np.array([2, 3]))]
    [[1, 3], [1, 0], [1, 0]]
    """
    found, widths = Counts.empty(len(codes)), lengths(indptr)
    tiles = [
        (slot, some[start : start + _DOWN[1]])
        for slot in range(int(widths.max(initial=0)))
        for some in [np.flatnonzero(widths > slot)]
        for start in range(0, len(some), _DOWN[1])
    ]

    def count(tile: tuple[int, Ints]) -> None:
        slot, queries = tile
        places = indptr[queries] + slot
        rows = codes[places]
        values = _exact(table[rows, queries])
        run = len(queries) and queries[-1] - queries[0] == len(queries) - 1
        columns = slice(int(queries[0]), int(queries[-1]) + 1) if run else queries
        found.nearer[places] = _sum_down(table, columns, lambda part, start: part > values)
        tied = _sum_down(table, columns, lambda part, start: part == values) - 1
        found.tied[places] = tied
        some = np.flatnonzero(tied)
        if len(some):
            sought, limits = values[some], rows[some]
            found.tied_before[places[some]] = _sum_down(
                table,
                queries[some],
                lambda part, start: (
                    (part == sought) & (np.arange(start, start + len(part))[:, None] < limits)
                ),
            )

    run_parts(count, tiles, count_workers(Backend(found.nearer)))
    return found


def _exact(values: Any) -> Any:
    """Return half precision and booleans as single precision, in which they compare faster."""
    return values.astype(np.float32) if values.dtype.itemsize < 4 else values


def _sum_down(table: Any, columns: Any, test: Callable[[Any, int], Any]) -> Ints:
    """Count down each column in how many rows a test holds."""
    total: Any = 0
    for start in range(0, len(table), _DOWN[0]):
        flags = test(_exact(table[start : start + _DOWN[0], columns]), start)
        total = total + np.add.reduce(flags.view(np.uint8), axis=0, dtype=np.uint8).astype(np.int64)
    return np.asarray(total)


class First(NamedTuple):
    """What is nearest to each query, beside one candidate of each.

    Attributes
    ----------
    places : int32 array
        The nearest candidate, of several the first; -1 where there is none.
    values : float array
        Its similarity; nan where there is none.
    tied : int array
        Other candidates with that similarity, if the candidate that was asked for has it; else 0.
    reached : bool array
        Whether the candidate that was asked for has that similarity.
    others : int32 array
        The first of the nearest candidates that is not the one asked for; that one where it is
        alone.
    finite : bool array
        Whether all similarities are finite; if not, the rest means nothing.
    """

    places: Codes
    values: Any
    tied: Ints
    reached: Bools
    others: Codes
    finite: Bools

    @staticmethod
    def empty(size: int) -> First:
        """Return what queries have that rank nothing."""
        places = np.full(size, -1, np.int32)
        nothing, none = np.zeros(size, np.int64), np.zeros(size, np.bool_)
        return First(places, np.full(size, np.nan), nothing, none, places.copy(), ~none)


def find_first(table: Any, codes: Codes) -> First:
    """Find the nearest candidate of each query; rows are looked at while they are in the cache.

    Parameters
    ----------
    table : array, shape (queries, candidates)
        Of one column at least.
    codes : int array, shape (queries,)
        The candidate that is asked for; -1 for none.

    Returns
    -------
    First

    Examples
    --------
    >>> found = find_first(np.array([[0.1, 0.5, 0.5], [0.3, 0.2, 0.1]]), np.array([1, 2]))
    >>> found.places.tolist(), found.tied.tolist(), found.reached.tolist(), found.others.tolist()
    ([1, 0], [1, 0], [True, False], [2, 0])
    """
    found = First.empty(len(table))
    step = max(1, _TILE // max(1, table.shape[1] * table.dtype.itemsize))
    tiles = [slice(start, start + step) for start in range(0, len(table), step)]

    def fill(tile: slice) -> None:
        part, own = table[tile], codes[tile]
        places = part.argmax(axis=1)
        rows = np.arange(len(part))
        best = part[rows, places]
        with np.errstate(all="ignore"):
            plain = np.isfinite(part.sum())  # a sum may overflow, too
        if not plain:
            found.finite[tile] = np.isfinite(part).all(axis=1)
        found.places[tile] = found.others[tile] = places
        found.values[tile] = best
        found.reached[tile] = (part[rows, own] == best) & (own >= 0)
        some = np.flatnonzero(found.reached[tile])
        if not len(some):
            return
        equal = part[some] == best[some, None]
        if np.count_nonzero(equal) == len(some):  # as a rule
            return
        equal[np.arange(len(some)), own[some]] = False
        tied = equal.sum(axis=1)
        found.tied[tile][some] = tied
        found.others[tile][some[tied > 0]] = equal[tied > 0].argmax(axis=1)

    run_parts(fill, tiles, count_workers(Backend(found.places)))
    return found
