"""Ranks by counting, and the k largest numbers of each row or column of a matrix.

Conventions
-----------
A table has a row for each query and a column for each candidate; what is larger is nearer. A rank
is found by counting what is nearer, so no row is sorted. Candidates with equal similarities are
*tied*. Tables are numpy arrays, or torch tensors on any device.

The k largest: equal numbers keep the order of their places, the first one wins. The matrix is an
array, also a memory-mapped or a transposed one, or anything with a shape whose slices of rows are
arrays, sparse or not; it is read in blocks and never copied whole. A number is compared as it is,
also a large integer that no float64 holds. Infinite numbers have their place in the order; NaN has
none, and is refused. Each line (row or column) is cut into chunks. The k-th largest of the chunks'
maxima is a bound: what is below it is not among the k largest. Few numbers remain, and only these
are sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.backend import Backend, count_workers, run_parts, to_numpy
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    slices,
)
from semmetrics.errors import FROM_0, InputError

_WIDE = (
    2048  # candidates from which a row is counted by itself, while it is in the cache
)
_CELLS = 1 << 22  # of a comparison of many rows
_TILE = 1 << 19  # bytes of rows that stay in a cache
_TIED = 64  # candidates behind the k-th that are looked at first, as they may be tied with it
# rows and columns compared together, at most 255 rows: they stay in a cache
_DOWN = (
    128,
    4096,
)


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
        step = _CELLS // max(1, table.shape[1]) if backend.on_cpu else len(rows)
        for part in slices(len(rows), step):
            _count_together(backend, table, indptr, codes, rows[part], found)
        return found
    workers = count_workers()
    run_parts(
        lambda part: _count_row_by_row(table, indptr, codes, part, found),
        [part for part in np.array_split(rows, workers) if len(part)],
        workers,
    )
    return found


def _count_row_by_row(
    table: Any, indptr: Ints, codes: Codes, rows: Ints, found: Counts
) -> None:
    flags = np.empty(table.shape[1], np.bool_)
    starts, stops, columns = (
        indptr[rows].tolist(),
        indptr[rows + 1].tolist(),
        codes.tolist(),
    )
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
    """Count the first candidates of all rows, then the second ones, and so on.

    Counts come from a device once; it would have to wait to hear whether any are tied.
    """
    widths = lengths(indptr)[rows]
    numbers, queries = (
        backend.xp.arange(n, **backend.place) for n in table.shape[::-1]
    )
    places, counts = [], []
    for slot in range(int(widths.max(initial=0))):
        some = rows[widths > slot]
        places.append(indptr[some] + slot)
        columns = backend.array(codes[places[-1]].astype(np.int64))[:, None]
        part = table[backend.array(some)] if len(some) < table.shape[0] else table
        values = part[queries[: len(some), None], columns]
        equal = part == values
        tied = equal.sum(1) - 1
        before = tied * 0
        if backend.torch or tied.any():
            before = (equal & (numbers[None] < columns)).sum(1)
        counts.append(backend.xp.stack([(part > values).sum(1), tied, before]))
    flat, together = np.concatenate(places), backend.xp.concatenate(counts, 1)
    found.nearer[flat], found.tied[flat], found.tied_before[flat] = to_numpy(together)


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
    tiles = []
    for slot in range(int(widths.max(initial=0))):
        some = np.flatnonzero(widths > slot)
        tiles += [(slot, some[part]) for part in slices(len(some), _DOWN[1])]

    def count(tile: tuple[int, Ints]) -> None:
        slot, queries = tile
        places = indptr[queries] + slot
        rows = codes[places]
        values = _exact(table[rows, queries])
        columns = ragged.as_slice(queries)
        found.nearer[places] = _sum_down(
            table, columns, lambda part, start: part > values
        )
        tied = _sum_down(table, columns, lambda part, start: part == values) - 1
        found.tied[places] = tied
        some = np.flatnonzero(tied)
        if len(some):
            sought, limits = values[some], rows[some]

            def before(part: Any, start: int) -> Any:
                return (part == sought) & (
                    np.arange(start, start + len(part))[:, None] < limits
                )

            found.tied_before[places[some]] = _sum_down(table, queries[some], before)

    run_parts(count, tiles, count_workers())
    return found


def _exact(values: Any) -> Any:
    """Return half precision and booleans as single precision, in which they compare faster."""
    return values.astype(np.float32) if values.dtype.itemsize < 4 else values


def _sum_down(table: Any, columns: Any, test: Callable[[Any, int], Any]) -> Ints:
    """Count down each column in how many rows a test holds."""
    total: Any = 0
    for part in slices(len(table), _DOWN[0]):
        flags = test(_exact(table[part, columns]), part.start)
        total = total + np.add.reduce(
            flags.view(np.uint8), axis=0, dtype=np.uint8
        ).astype(np.int64)
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
    tiles = slices(len(table), _TILE // max(1, table.shape[1] * table.dtype.itemsize))

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

    run_parts(fill, tiles, count_workers())
    return found


MEMORY = 1 << 26  # bytes of a block
_BLOCK = 1 << 21  # of rows at a time: about what a processor's cache holds
_CHUNKS = 256  # of a line, at least
_MORE_CHUNKS = 1024  # of a long row, along which maxima are found faster
_PER_K = 8  # chunks for each of the k
_MANY = 4  # times k: more candidates of a line are cut down first


def top_k(
    values: Any, k: int, *, columns: bool = False, memory: int = MEMORY
) -> tuple[Floats, Ints]:
    """Find the k largest numbers of each row, or of each column.

    Parameters
    ----------
    values : array, shape (rows, columns), or what gives rows by slices
    k : int
        From 1 to the length of a line.
    columns : bool
        Whether columns, and not rows, are the lines.
    memory : int
        Bytes of a block and the work on it, about.

    Returns
    -------
    values, places : arrays, shape (lines, k), float64 and int64
        Falling; equal numbers by rising place. Integers beyond 2^53 have the nearest float64 for a
        value, and their own place.

    Raises
    ------
    InputError
        If k is out of range, or a number is NaN; names its row and column.

    Examples
    --------
    >>> found, places = top_k(np.array([[0.5, 0.9, 0.5, 0.1]]), 3)
    >>> found.tolist(), places.tolist()
    ([[0.9, 0.5, 0.5]], [[1, 0, 2]])
    >>> top_k(np.array([[0.5, 0.9], [0.7, 0.2]]), 1, columns=True)[1].tolist()
    [[1], [0]]
    """
    width, lines = (values.shape[0], values.shape[1]) if columns else values.shape[::-1]
    if not 1 <= k <= width:
        raise InputError(
            "bad-option", name="k", value=k, wanted=f"a number from 1 to {width}"
        )
    if (
        isinstance(values, np.ndarray)
        and values.flags.f_contiguous > values.flags.c_contiguous
    ):
        values, columns = values.T, not columns  # read in the order in which it lies
    found = np.empty((lines, k)), np.empty((lines, k), np.int64)
    workers = count_workers()
    if columns:
        parts = slices(lines, -(-lines // workers))
        run_parts(
            lambda part: _columns(values, k, part, memory // workers, found),
            parts,
            workers,
        )
    else:
        blocks = row_slices(values, min(memory // workers, _BLOCK))
        run_parts(
            lambda part: _rows(_block(values, part), k, part, found), blocks, workers
        )
    return found


def first_places(table: Any, k: int, later: Bools | None = None) -> Codes:
    """Return the first k candidates of each query, the nearest first.

    Parameters
    ----------
    table : array or tensor, shape (queries, candidates)
        Finite; what is larger is nearer.
    k : int
        At most the number of candidates.
    later : bool array of the same shape, optional
        Of tied candidates those that stand behind the others; the rest is by position.

    Returns
    -------
    int32 array, shape (queries, k)

    Examples
    --------
    >>> table = np.array([[0.1, 0.5, 0.9, 0.5]])
    >>> first_places(table, 2).tolist()
    [[2, 1]]
    >>> first_places(table, 2, np.array([[False, True, False, False]])).tolist()
    [[2, 3]]
    """
    backend, (size, width) = Backend(table), table.shape
    if later is None and not backend.torch and size * k:
        return top_k(table, k)[1].astype(np.int32)
    found = np.empty((size, k), np.int32)
    left = [(np.arange(size), k + _TIED)] if size * k else []
    while left:
        rows, number = left.pop()
        number = min(number, width)
        most = max(1, _CELLS // number)
        if len(rows) > most:
            left.append((rows[most:], number))
            rows = rows[:most]
        values, places = _largest(backend, table, rows, number)
        behind = (
            places * 0 if later is None else np.take_along_axis(later[rows], places, 1)
        )
        order = np.lexsort((places, behind, _falling(values)))[:, :k]
        found[rows] = np.take_along_axis(places, order, 1)
        # where the last number is that of the k-th, further candidates may be tied with it
        rows = rows[(values[:, -1] == values[:, k - 1]) & (number < width)]
        if len(rows):
            left.append((rows, 4 * number))
    return found


def _largest(
    backend: Backend, table: Any, rows: Ints, k: int
) -> tuple[NDArray[Any], Ints]:
    """Return the k largest numbers of some rows, which fall, and any places that they have."""
    part = table[backend.array(rows)] if len(rows) < len(table) else table
    if backend.torch:
        values, places = map(to_numpy, backend.xp.topk(part, k, dim=1))
        return values, places
    places = top_k(part, k)[1]
    return np.take_along_axis(part, places, 1), places


def _falling(values: NDArray[Any]) -> NDArray[Any]:
    """Return what rises as numbers fall; integers have no negative that is exact."""
    return -values if values.dtype.kind == "f" else ~values


def read_rows(values: Any, rows: slice) -> NDArray[Any]:
    """Return some rows of what gives rows by slices, sparse ones filled with 0."""
    block = values[rows]
    return np.asarray(block.toarray() if hasattr(block, "toarray") else block)


def row_slices(values: Any, memory: int) -> list[slice]:
    """Cut the rows of a matrix into blocks of so many bytes, at least one row each."""
    rows, width = values.shape
    return slices(rows, memory // max(1, 8 * width))


def _block(values: Any, rows: slice, columns: slice = slice(None)) -> NDArray[Any]:
    """Read a block in a type that numpy compares fast and that holds what the matrix does."""
    if isinstance(values, np.ndarray):
        block = np.asarray(values[rows, columns])
    else:
        block = read_rows(values, rows)[:, columns]
    if block.dtype in (np.float32, np.float64) or block.dtype.kind in "iu":
        return block
    return block.astype(
        np.float32 if block.dtype in (np.float16, np.bool_) else np.float64
    )


def _n_chunks(width: int, k: int, least: int = _CHUNKS) -> int:
    """Choose the number of chunks of a line; 0 where all of it is sorted."""
    chunks = max(least, _PER_K * k)
    return chunks if 2 * chunks <= width else 0


def _rows(block: NDArray[Any], k: int, rows: slice, out: tuple[Floats, Ints]) -> None:
    """Find the largest of each row of a block, and write them at their places."""
    n, width = block.shape
    chunks = _n_chunks(width, k, _MORE_CHUNKS if width >= 4 * _MORE_CHUNKS else _CHUNKS)
    if not chunks:
        _check(block, block, rows.start, 0)
        _sort(block, k, rows, out)
        return
    long = width // chunks
    maxima = block[:, : long * chunks].reshape(n, long, chunks).max(axis=1)
    if width > long * chunks:
        maxima = np.concatenate([maxima, block[:, long * chunks :]], axis=1)
    _check(maxima, block, rows.start, 0)
    bound = np.partition(maxima, maxima.shape[1] - k, axis=1)[:, -k, None]
    kept = block >= bound
    cells = np.flatnonzero(kept)
    # a line with many numbers equal to the bound needs k of them
    if len(cells) > _MANY * n * k:
        for row in np.flatnonzero(kept.sum(axis=1) > _MANY * k):
            kept[row] = block[row] > bound[row]
            kept[row, np.flatnonzero(block[row] == bound[row])[:k]] = True
        cells = np.flatnonzero(kept)
    line, place = np.divmod(cells, width)
    _choose(line, place, block[line, place], k, rows, out)


def _sort(block: NDArray[Any], k: int, lines: slice, out: tuple[Floats, Ints]) -> None:
    """Sort whole lines, the rows of a block, and write the largest at their places."""
    places = np.argsort(_falling(block), axis=1, kind="stable")[:, :k]
    out[0][lines], out[1][lines] = np.take_along_axis(block, places, axis=1), places


def _columns(
    values: Any, k: int, part: slice, memory: int, out: tuple[Floats, Ints]
) -> None:
    """Find the largest of some columns, and write them at their places.

    The blocks are read twice: for the bounds, and for what is not below them.
    """
    width, lines = values.shape[0], part.stop - part.start
    chunks = _n_chunks(width, k)
    if not chunks:
        for one in slices(lines, memory // (32 * width)):
            some = slice(part.start + one.start, part.start + one.stop)
            whole = isinstance(values, np.ndarray)
            parts = [slice(None)] if whole else row_slices(values, memory)
            blocks = [_block(values, rows, some) for rows in parts]
            block = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
            _check(block, block, 0, some.start)
            _sort(np.ascontiguousarray(block.T), k, some, out)
        return
    bound = _column_bounds(values, k, part, width // chunks)
    found: list[tuple[Ints, Ints, NDArray[Any]]] = []
    equal = np.zeros(lines, np.int64)
    for rows in slices(width, memory // (16 * lines)):
        block = _block(values, rows, part)
        row, column = np.divmod(np.flatnonzero(block >= bound), lines)
        here = block[row, column]
        found.append((column, row + rows.start, here))
        equal += np.bincount(column[here == bound[column]], minlength=lines)
        whole = bound.dtype.kind != "f"
        full = (equal >= k) & (bound < (np.iinfo(bound.dtype).max if whole else np.inf))
        above = bound[full] + 1 if whole else np.nextafter(bound[full], np.inf)
        bound[full] = above.astype(bound.dtype, copy=False)  # no more equal ones
        equal[full] = 0
    line, place, best = map(np.concatenate, zip(*found, strict=True))
    _choose(line, place, best, k, part, out)


def _column_bounds(values: Any, k: int, part: slice, long: int) -> NDArray[Any]:
    """Return for each column the k-th largest of its chunks' maxima."""
    maxima = []
    for rows in slices(values.shape[0], 32 * long):
        block = _block(values, rows, part)
        chunks = len(block) // long
        if chunks:
            maxima.append(block[: chunks * long].reshape(long, chunks, -1).max(axis=0))
        if len(block) > chunks * long:
            maxima.append(block[chunks * long :].max(axis=0)[None])
        _check(maxima[-2:], block, rows.start, part.start)
    table = np.concatenate(maxima)
    table.partition(len(table) - k, axis=0)
    bound: NDArray[Any] = table[-k]
    return bound


def _choose(
    line: Ints,
    place: Ints,
    found: NDArray[Any],
    k: int,
    lines: slice,
    out: tuple[Floats, Ints],
) -> None:
    """Keep the k largest of each line's candidates, which are at least k, and write them.

    The candidates of a line are in the order of their places.
    """
    n = lines.stop - lines.start
    # of 16 bits, numpy sorts far faster
    small = np.uint16 if n <= 1 << 16 else np.int64
    order = np.argsort(line.astype(small), kind="stable")
    line, found = line[order], found[order]
    indptr = offsets(np.bincount(line, minlength=n))
    most = int(np.diff(indptr).max(initial=0))
    if most <= _MANY * k:
        least = -np.inf if found.dtype.kind == "f" else np.iinfo(found.dtype).min
        table = np.full((n, most), least, found.dtype)
        table[line, positions(indptr)] = found
        best = (
            np.argsort(_falling(table), axis=1, kind="stable")[:, :k]
            + indptr[:-1, None]
        )
    else:
        best = np.lexsort((_falling(found), line))[positions(indptr) < k].reshape(n, k)
    out[0][lines], out[1][lines] = found[best], place[order][best]


def _check(maxima: Any, block: NDArray[Any], row: int, column: int) -> None:
    """Refuse NaN, which is the maximum of everything that holds one."""
    tables = maxima if isinstance(maxima, list) else [maxima]
    if tables[0].dtype.kind == "f" and any(np.isnan(table).any() for table in tables):
        first = np.argwhere(np.isnan(block))[0]
        where = f"row {first[0] + row}, column {first[1] + column}{FROM_0}"
        raise InputError(
            "out-of-range", where, role="a value", value=np.nan, wanted="a number"
        )
