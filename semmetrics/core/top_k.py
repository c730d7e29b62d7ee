"""The k largest numbers of each row or column of a matrix.

Conventions
-----------
Equal numbers keep the order of their places: the first one counts as the largest. Numbers are
compared exactly, including large integers that float64 cannot represent. Infinite numbers are
ordered. NaN raises an error.

The matrix is an array, which may be memory-mapped or transposed, or any object with a shape whose
slices of rows are arrays or sparse matrices. It is read in blocks and never copied as a whole.

A *line* is a row or a column. Each line is divided into chunks. The k-th largest of the maxima of
its chunks is a bound: smaller numbers are not among the k largest. Few numbers remain, and only
these candidates are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, count_workers, run_parts, to_numpy
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    Ints,
    offsets,
    positions,
    slices,
)
from semmetrics.errors import FROM_0, InputError

_DEFAULT_MEMORY = 1 << 26  # bytes of a block
# Of a block of rows: about the size of a processor's cache.
_MAX_BYTES_OF_ROWS = 1 << 21
_MIN_CHUNKS = 256
_MIN_CHUNKS_OF_LONG_ROW = 1024  # maxima of a long row are found faster with more chunks
_CHUNKS_PER_K = 8
# More candidates of a line are reduced before they are sorted.
_MAX_CANDIDATES_PER_K = 4
_MAX_CELLS_PER_STEP = 1 << 22  # of first_places
_EXTRA_CANDIDATES = 64  # examined after the k-th at first, as they may be tied with it


class TopK(NamedTuple):
    """The largest numbers of each line, in decreasing order.

    Attributes
    ----------
    values : float64 array, shape (lines, k)
    places : int64 array, shape (lines, k)
    """

    values: Floats
    places: Ints

    @staticmethod
    def empty(n_lines: int, k: int) -> TopK:
        """Return arrays that are to be filled in."""
        return TopK(np.empty((n_lines, k)), np.empty((n_lines, k), np.int64))


def top_k(
    values: Any, k: int, *, columns: bool = False, memory: int = _DEFAULT_MEMORY
) -> TopK:
    """Find the k largest numbers of each row or each column.

    Parameters
    ----------
    values : array of shape (rows, columns), or object with a shape whose slices of rows are arrays
    k : int
        From 1 to the length of a line.
    columns : bool
        Whether the lines are the columns.
    memory : int
        The approximate number of bytes for a block and its temporary arrays.

    Returns
    -------
    TopK
        Equal numbers are in the order of their places. Integers above 2^53 have the nearest float64
        as their value, and their exact place.

    Raises
    ------
    InputError
        If k is out of range or a number is NaN. The message names its row and column.

    Examples
    --------
    >>> found, places = top_k(np.array([[0.5, 0.9, 0.5, 0.1]]), 3)
    >>> found.tolist(), places.tolist()
    ([[0.9, 0.5, 0.5]], [[1, 0, 2]])
    >>> top_k(np.array([[0.5, 0.9], [0.7, 0.2]]), 1, columns=True)[1].tolist()
    [[1], [0]]
    """
    n_lines, width = values.shape
    if columns:
        width, n_lines = values.shape
    if not 1 <= k <= width:
        wanted = f"a number from 1 to {width}"
        raise InputError("bad-option", name="k", value=k, wanted=wanted)
    if _is_stored_by_columns(values):  # read it in the order in which it is stored
        values = values.T
        columns = not columns
    top = TopK.empty(n_lines, k)
    workers = count_workers()
    memory_per_worker = memory // workers
    if columns:
        lines_per_worker = -(-n_lines // workers)  # rounded up
        parts = slices(n_lines, lines_per_worker)
        find_part = partial(_find_in_columns, values, k, memory_per_worker, top)
    else:
        parts = row_slices(values, min(memory_per_worker, _MAX_BYTES_OF_ROWS))
        find_part = partial(_find_in_rows, values, k, top)
    run_parts(find_part, parts, workers)
    return top


def _is_stored_by_columns(values: Any) -> bool:
    """Return whether values are an array in Fortran order only."""
    if not isinstance(values, np.ndarray):
        return False
    return values.flags.f_contiguous and not values.flags.c_contiguous


# ---- the nearest candidates under a rule for ties ---------------------------


def first_places(table: Any, k: int, later: Bools | None = None) -> Codes:
    """Return the first k candidates of each query, the nearest first.

    Parameters
    ----------
    table : array or tensor, shape (queries, candidates)
        Finite. Larger numbers mean nearer candidates.
    k : int
        At most the number of candidates.
    later : bool array of the same shape, optional
        Which candidates come after the others among tied candidates. Otherwise the column decides.

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
    backend = Backend(table)
    n_queries, width = table.shape
    if not n_queries or not k:
        return np.empty((n_queries, k), np.int32)
    if later is None and not backend.uses_torch:
        return top_k(table, k).places.astype(np.int32)
    first = np.empty((n_queries, k), np.int32)
    # Queries to be solved, and how many of their candidates are examined.
    pending = [(np.arange(n_queries), k + _EXTRA_CANDIDATES)]
    while pending:
        rows, n_examined = pending.pop()
        n_examined = min(n_examined, width)
        max_rows = max(1, _MAX_CELLS_PER_STEP // n_examined)
        if len(rows) > max_rows:
            pending.append((rows[max_rows:], n_examined))
            rows = rows[:max_rows]
        values, places = _find_largest(backend, table, rows, n_examined)
        is_later: NDArray[Any] = np.zeros_like(places)
        if later is not None:
            is_later = np.take_along_axis(later[rows], places, 1)
        order = np.lexsort((places, is_later, _descending_keys(values)))[:, :k]
        first[rows] = np.take_along_axis(places, order, 1)
        # If the last examined candidate is tied with the k-th, further candidates may also be tied.
        is_open = (values[:, -1] == values[:, k - 1]) & (n_examined < width)
        if is_open.any():
            pending.append((rows[is_open], 4 * n_examined))
    return first


def _find_largest(
    backend: Backend, table: Any, rows: Ints, k: int
) -> tuple[NDArray[Any], Ints]:
    """Return the k largest numbers of some rows, in decreasing order, and their places.

    Torch may return any of the places of equal numbers.
    """
    part = table
    if len(rows) < len(table):
        part = table[backend.array(rows)]
    if backend.uses_torch:
        values, places = backend.xp.topk(part, k, dim=1)
        return to_numpy(values), to_numpy(places)
    places = top_k(part, k).places
    return np.take_along_axis(part, places, 1), places


def _descending_keys(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers whose increasing order is the decreasing order of the values."""
    if values.dtype.kind == "f":
        return -values
    return ~values  # the negative of an integer may overflow


# ---- blocks of a matrix -----------------------------------------------------


def read_rows(values: Any, rows: slice) -> NDArray[Any]:
    """Return some rows of a matrix as an array. Sparse rows are filled with 0."""
    block = values[rows]
    if hasattr(block, "toarray"):
        block = block.toarray()
    return np.asarray(block)


def row_slices(values: Any, memory: int) -> list[slice]:
    """Divide the rows of a matrix into blocks of ``memory`` bytes, and at least one row."""
    n_rows, width = values.shape
    return slices(n_rows, memory // max(1, 8 * width))


def _read_block(values: Any, rows: slice, columns: slice = slice(None)) -> NDArray[Any]:
    """Return a block in a type that is fast to compare and represents all values exactly."""
    if isinstance(values, np.ndarray):
        block = np.asarray(values[rows, columns])
    else:
        block = read_rows(values, rows)[:, columns]
    if block.dtype in (np.float32, np.float64) or block.dtype.kind in "iu":
        return block
    if block.dtype in (np.float16, np.bool_):
        return block.astype(np.float32)
    return block.astype(np.float64)


def _choose_n_chunks(width: int, k: int, min_chunks: int = _MIN_CHUNKS) -> int:
    """Return the number of chunks of a line, or 0 if the whole line is to be sorted."""
    n_chunks = max(min_chunks, _CHUNKS_PER_K * k)
    if 2 * n_chunks > width:
        return 0
    return n_chunks


def _check_nan(
    maxima: Sequence[NDArray[Any]], block: NDArray[Any], row: int, column: int
) -> None:
    """Raise an error if a block contains NaN.

    Parameters
    ----------
    maxima : sequence of arrays
        The maxima of all parts of the block. A maximum is NaN if one of its numbers is NaN.
    block : array
    row, column : int
        The place of the block in the matrix.
    """
    if maxima[0].dtype.kind != "f":
        return
    if not any(np.isnan(table).any() for table in maxima):
        return
    block_row, block_column = np.argwhere(np.isnan(block))[0]
    where = f"row {block_row + row}, column {block_column + column}{FROM_0}"
    raise InputError(
        "out-of-range", where, role="a value", value=np.nan, wanted="a number"
    )


# ---- rows -------------------------------------------------------------------


def _find_in_rows(values: Any, k: int, top: TopK, rows: slice) -> None:
    """Find the largest numbers of some rows."""
    block = _read_block(values, rows)
    n_rows, width = block.shape
    min_chunks = _MIN_CHUNKS
    if width >= 4 * _MIN_CHUNKS_OF_LONG_ROW:
        min_chunks = _MIN_CHUNKS_OF_LONG_ROW
    n_chunks = _choose_n_chunks(width, k, min_chunks)
    if not n_chunks:
        _check_nan([block], block, rows.start, 0)
        _sort_lines(block, k, rows, top)
        return
    maxima = _chunk_maxima(block, n_chunks)
    _check_nan([maxima], block, rows.start, 0)
    partitioned = np.partition(maxima, maxima.shape[1] - k, axis=1)
    bounds = partitioned[:, -k, None]
    is_candidate = block >= bounds
    cells = np.flatnonzero(is_candidate)
    if len(cells) > _MAX_CANDIDATES_PER_K * n_rows * k:
        _limit_equal_candidates(is_candidate, block, bounds, k)
        cells = np.flatnonzero(is_candidate)
    lines, places = np.divmod(cells, width)
    _sort_candidates(lines, places, block[lines, places], k, rows, top)


def _chunk_maxima(block: NDArray[Any], n_chunks: int) -> NDArray[Any]:
    """Return the maxima of the chunks of each row, and the last numbers that fill no chunk.

    Chunks are interleaved: a chunk consists of every ``n_chunks``-th number of a row.
    """
    n_rows, width = block.shape
    chunk_size = width // n_chunks
    n_in_chunks = chunk_size * n_chunks
    chunks = block[:, :n_in_chunks].reshape(n_rows, chunk_size, n_chunks)
    maxima: NDArray[Any] = chunks.max(axis=1)
    if width > n_in_chunks:
        maxima = np.concatenate([maxima, block[:, n_in_chunks:]], axis=1)
    return maxima


def _limit_equal_candidates(
    is_candidate: Bools, block: NDArray[Any], bounds: NDArray[Any], k: int
) -> None:
    """Keep only the first k of the candidates that equal the bound of their row, in place.

    Only rows with many candidates are changed.
    """
    n_candidates = is_candidate.sum(axis=1)
    for row in np.flatnonzero(n_candidates > _MAX_CANDIDATES_PER_K * k):
        equal_places = np.flatnonzero(block[row] == bounds[row])
        is_candidate[row] = block[row] > bounds[row]
        is_candidate[row, equal_places[:k]] = True


# ---- columns ----------------------------------------------------------------


def _find_in_columns(values: Any, k: int, memory: int, top: TopK, part: slice) -> None:
    """Find the largest numbers of some columns."""
    width = values.shape[0]
    n_chunks = _choose_n_chunks(width, k)
    if n_chunks:
        _filter_columns(values, k, memory, top, part, width // n_chunks)
    else:
        _sort_columns(values, k, memory, top, part)


def _sort_columns(values: Any, k: int, memory: int, top: TopK, part: slice) -> None:
    """Sort whole columns."""
    width = values.shape[0]
    row_parts = [slice(None)]
    if not isinstance(values, np.ndarray):
        row_parts = row_slices(values, memory)
    for step in slices(part.stop - part.start, memory // (32 * width)):
        columns = slice(part.start + step.start, part.start + step.stop)
        blocks = [_read_block(values, rows, columns) for rows in row_parts]
        block = blocks[0]
        if len(blocks) > 1:
            block = np.concatenate(blocks)
        _check_nan([block], block, 0, columns.start)
        _sort_lines(np.ascontiguousarray(block.T), k, columns, top)


def _filter_columns(
    values: Any, k: int, memory: int, top: TopK, part: slice, chunk_size: int
) -> None:
    """Sort only the numbers of each column that reach its bound.

    The blocks are read twice: first for the bounds, and then for the candidates.
    """
    width = values.shape[0]
    n_columns = part.stop - part.start
    bounds = _find_column_bounds(values, k, part, chunk_size)
    n_equal = np.zeros(n_columns, np.int64)
    lines = []
    places = []
    candidates = []
    for rows in slices(width, memory // (16 * n_columns)):
        block = _read_block(values, rows, part)
        cells = np.flatnonzero(block >= bounds)
        block_rows, columns = np.divmod(cells, n_columns)
        numbers = block[block_rows, columns]
        lines.append(columns)
        places.append(block_rows + rows.start)
        candidates.append(numbers)
        is_equal = numbers == bounds[columns]
        n_equal += np.bincount(columns[is_equal], minlength=n_columns)
        # With k numbers equal to the bound, further equal ones are not among the largest.
        has_enough = (n_equal >= k) & (bounds < _largest_number(bounds.dtype))
        bounds[has_enough] = _next_above(bounds[has_enough])
        n_equal[has_enough] = 0
    _sort_candidates(
        np.concatenate(lines),
        np.concatenate(places),
        np.concatenate(candidates),
        k,
        part,
        top,
    )


def _find_column_bounds(
    values: Any, k: int, part: slice, chunk_size: int
) -> NDArray[Any]:
    """Return the k-th largest of the maxima of the chunks of each column."""
    maxima: list[NDArray[Any]] = []
    for rows in slices(values.shape[0], 32 * chunk_size):
        block = _read_block(values, rows, part)
        n_chunks = len(block) // chunk_size
        n_in_chunks = n_chunks * chunk_size
        block_maxima = []
        if n_chunks:
            chunks = block[:n_in_chunks].reshape(chunk_size, n_chunks, -1)
            block_maxima.append(chunks.max(axis=0))
        if len(block) > n_in_chunks:
            block_maxima.append(block[n_in_chunks:].max(axis=0)[None])
        _check_nan(block_maxima, block, rows.start, part.start)
        maxima += block_maxima
    table = np.concatenate(maxima)
    table.partition(len(table) - k, axis=0)
    bounds: NDArray[Any] = table[-k]
    return bounds


def _largest_number(dtype: np.dtype[Any]) -> float:
    """Return the largest number of a type."""
    if dtype.kind == "f":
        return np.inf
    return int(np.iinfo(dtype).max)


def _smallest_number(dtype: np.dtype[Any]) -> float:
    """Return the smallest number of a type."""
    if dtype.kind == "f":
        return -np.inf
    return int(np.iinfo(dtype).min)


def _next_above(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the next larger number of the same type."""
    if numbers.dtype.kind == "f":
        return np.asarray(np.nextafter(numbers, np.inf), numbers.dtype)
    return np.asarray(numbers + 1, numbers.dtype)


# ---- sorting ----------------------------------------------------------------


def _sort_lines(block: NDArray[Any], k: int, lines: slice, top: TopK) -> None:
    """Find the largest numbers of whole lines, which are the rows of a block."""
    order = np.argsort(_descending_keys(block), axis=1, kind="stable")
    places = order[:, :k]
    top.values[lines] = np.take_along_axis(block, places, axis=1)
    top.places[lines] = places


def _sort_candidates(
    line_of_candidate: Ints,
    place_of_candidate: Ints,
    candidates: NDArray[Any],
    k: int,
    lines: slice,
    top: TopK,
) -> None:
    """Find the largest candidates of each line.

    Parameters
    ----------
    line_of_candidate : int array, shape (n,)
        The line of each candidate, from 0. Every line has at least k candidates.
    place_of_candidate : int array, shape (n,)
        The place of each candidate in its line. Within a line, places are in increasing order.
    candidates : array, shape (n,)
    k : int
    lines : slice
        The lines in the result.
    top : TopK
        The result.
    """
    n_lines = lines.stop - lines.start
    # NumPy sorts integers of 16 bits much faster.
    line_type = np.uint16 if n_lines <= 1 << 16 else np.int64
    by_line = np.argsort(line_of_candidate.astype(line_type), kind="stable")
    line = line_of_candidate[by_line]
    candidates = candidates[by_line]
    indptr = offsets(np.bincount(line, minlength=n_lines))
    max_candidates = int(np.diff(indptr).max(initial=0))
    if max_candidates <= _MAX_CANDIDATES_PER_K * k:
        padding = _smallest_number(candidates.dtype)
        table = np.full((n_lines, max_candidates), padding, candidates.dtype)
        table[line, positions(indptr)] = candidates
        order = np.argsort(_descending_keys(table), axis=1, kind="stable")
        best = order[:, :k] + indptr[:-1, None]
    else:
        order = np.lexsort((_descending_keys(candidates), line))
        best = order[positions(indptr) < k].reshape(n_lines, k)
    top.values[lines] = candidates[best]
    top.places[lines] = place_of_candidate[by_line][best]
