"""Ragged rows: lists of different lengths kept as one flat array and row offsets.

Conventions
-----------
``indptr`` has one entry more than there are rows; row ``i`` is ``flat[indptr[i]:indptr[i + 1]]``.
Every function is vectorised over all rows; none loops over them.

The key of a cell (row, code) is ``row * width + code``. Membership is looked up in a table of all
cells while that stays in memory caches, and in sorted keys otherwise, so that the cost does not
grow with the number of codes.

0/1 matrices of items x labels are read in blocks that stay in the processor's cache; each block is
checked to hold nothing but 0 and 1, and its columns are added in bytes, 255 rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import FROM_0, InputError

Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

_TABLE = 1 << 26
_DENSE = 8  # cells for each key above which a table of numbers is not worth its memory
_SPARSE = 64  # cells for each key above which sorting the keys is faster than a table


def as_slice(numbers: Ints) -> Any:
    """Return numbers as a slice where they are a run, so that nothing is copied.

    Examples
    --------
    >>> as_slice(np.array([3, 4, 5])), as_slice(np.array([3, 5]))
    (slice(3, 6, None), array([3, 5]))
    """
    run = len(numbers) > 0 and bool((np.diff(numbers) == 1).all())
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if run else numbers


def offsets(lengths: NDArray[np.generic]) -> Ints:
    """Return row offsets from row lengths, or sums of a flat array to difference at offsets.

    Examples
    --------
    >>> offsets(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def lengths(indptr: Ints) -> Ints:
    """Return row lengths from row offsets."""
    # np.diff takes far longer on short arrays
    return indptr[1:] - indptr[:-1]


def row_numbers(indptr: Ints) -> Ints:
    """Return the row of each flat element.

    Examples
    --------
    >>> row_numbers(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(indptr) - 1), lengths(indptr))


def positions(indptr: Ints) -> Ints:
    """Return the position of each flat element in its row, from 0.

    Examples
    --------
    >>> positions(np.array([0, 2, 2, 3])).tolist()
    [0, 1, 0]
    """
    return np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths(indptr))


def prefixes(indptr: Ints, kept: NDArray[np.integer]) -> Bools:
    """Return whether each flat element is among the first so many of its row.

    Examples
    --------
    >>> prefixes(np.array([0, 2, 2, 3]), np.array([1, 5, 1])).tolist()
    [True, False, True]
    """
    return np.arange(indptr[-1]) < np.repeat(indptr[:-1] + kept, lengths(indptr))


def sum_rows(flat: NDArray[np.generic], indptr: Ints) -> Ints:
    """Sum the integers of each row; empty rows give 0.

    Examples
    --------
    >>> sum_rows(np.array([1, 2, 5]), np.array([0, 2, 2, 3])).tolist()
    [3, 0, 5]
    """
    total = offsets(flat)
    return total[indptr[1:]] - total[indptr[:-1]]


def runs_within(costs: Ints, most: int) -> Iterator[slice]:
    """Yield rows in runs that cost at most so much together; a run has at least one row.

    Parameters
    ----------
    costs : array, shape (rows + 1,)
        Running sums of what each row costs, from 0.
    most : int

    Examples
    --------
    >>> list(runs_within(np.array([0, 3, 5, 6, 20]), 5))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    start, rows = 0, len(costs) - 1
    while start < rows:
        stop = max(
            start + 1, int(np.searchsorted(costs, costs[start] + most, "right")) - 1
        )
        yield slice(start, stop)
        start = stop


def slices(stop: int, step: int) -> list[slice]:
    """Cut a range from 0 into slices of so many, at least one each.

    Examples
    --------
    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, step)
    return [slice(start, min(start + step, stop)) for start in range(0, stop, step)]


def group_by_size(n_rows: Ints, n_columns: Ints, cells: int) -> Iterator[Ints]:
    """Yield the numbers of tables of similar sizes, each group of about ``cells`` cells.

    Examples
    --------
    >>> [part.tolist() for part in group_by_size(np.array([1, 2, 1]), np.array([4, 2, 4]), 8)]
    [[0, 2], [1]]
    """
    order = np.lexsort((n_columns, n_rows))
    tall, wide, start = n_rows[order], n_columns[order], 0
    while start < len(order):
        stop = start + max(1, cells // max(1, int(tall[start] * wide[start])))
        area = int(tall[start:stop][-1]) * int(wide[start:stop].max())
        stop = min(stop, start + max(1, cells // max(1, area)))
        yield order[start:stop]
        start = stop


def order_rows(indptr: Ints, keys: Floats) -> Ints:
    """Return flat indices that sort each row by falling key; equal keys keep their order.

    Examples
    --------
    >>> order_rows(np.array([0, 3, 4]), np.array([0.1, 0.9, 0.9, 0.5])).tolist()
    [1, 2, 0, 3]
    """
    widths = lengths(indptr)
    if len(widths) and widths[0] and (widths == widths[0]).all():
        table = keys.reshape(len(widths), widths[0])
        order = np.argsort(-table, axis=1, kind="stable")
        return (order + indptr[:-1, None]).ravel()
    return np.lexsort((-keys, row_numbers(indptr)))


def take_rows(indptr: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return offsets and flat indices of the rows chosen, in the order given.

    Examples
    --------
    >>> [part.tolist() for part in take_rows(np.array([0, 2, 3]), np.array([1, 0]))]
    [[0, 1, 3], [2, 0, 1]]
    """
    widths = lengths(indptr)[rows]
    chosen = offsets(widths)
    return chosen, np.arange(chosen[-1]) + np.repeat(indptr[rows] - chosen[:-1], widths)


def cell_keys(indptr: Ints, codes: NDArray[np.integer], width: int) -> Ints:
    """Return the key of each flat element."""
    rows = np.repeat(
        np.arange(len(indptr) - 1, dtype=np.int64) * width, lengths(indptr)
    )
    rows += codes
    return rows


def distinct_codes(
    indptr: Ints, codes: NDArray[np.integer], width: int
) -> tuple[Ints, Ints, Ints]:
    """Return offsets, the distinct codes of each row in rising order, and how often each occurs.

    Codes lie in [0, width).

    Examples
    --------
    >>> [part.tolist() for part in distinct_codes(np.array([0, 3, 4]), np.array([5, 2, 5, 0]), 6)]
    [[0, 2, 3], [2, 5, 0], [1, 2, 1]]
    """
    keys = cell_keys(indptr, codes, width)
    keys.sort()
    starts = np.flatnonzero(starts_run(keys))
    times, keys = np.diff(starts, append=len(keys)), keys[starts]
    rows = keys // width  # cheaper than a remainder
    keys -= rows * width
    return offsets(np.bincount(rows, minlength=len(indptr) - 1)), keys, times


def distinct_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys, rising, and the place of each key among them.

    Keys are at least 0.

    Examples
    --------
    >>> [part.tolist() for part in distinct_keys(np.array([7, 2, 7]))]
    [[2, 7], [1, 0, 1]]
    """
    size = int(keys.max(initial=-1)) + 1
    if size > _DENSE * len(keys):
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place
    is_present = np.zeros(size, np.bool_)
    is_present[keys] = True
    return np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[keys]


def starts_run(flat: NDArray[Any]) -> Bools:
    """Return whether each element differs from the one before; the first does.

    Examples
    --------
    >>> starts_run(np.array([3, 3, 1])).tolist()
    [True, False, True]
    """
    fresh = np.ones(len(flat), np.bool_)
    np.not_equal(flat[1:], flat[:-1], out=fresh[1:])
    return fresh


def is_member(keys: Ints, among: Ints, size: int) -> Bools:
    """Return whether each key is among the others; all lie in [0, size).

    Examples
    --------
    >>> is_member(np.array([3, 1]), np.array([1, 2]), 4).tolist()
    [False, True]
    """
    if size <= _TABLE:
        table = np.zeros(size, np.bool_)
        table[among] = True
        return np.asarray(table[keys])
    # of keys nearly in order, far faster than the hashing of np.isin
    ordered = np.sort(among)
    return np.asarray(np.append(ordered, -1)[np.searchsorted(ordered, keys)] == keys)


def first_occurrences(keys: Ints, size: int) -> Bools | None:
    """Return whether each key appears for the first time; None where no key is repeated.

    Examples
    --------
    >>> first_occurrences(np.array([3, 1, 3]), 4).tolist()
    [True, True, False]
    """
    if size <= _SPARSE * len(keys):
        table = np.zeros(size, np.bool_)
        table[keys] = True
        if np.count_nonzero(table) == len(keys):
            return None
    else:
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
    first = np.unique(keys, return_index=True)[1]
    flags = np.zeros(len(keys), np.bool_)
    flags[first] = True
    return flags


def occurrence_numbers(keys: Ints) -> Ints:
    """Count how many equal keys stand before each key.

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


_GROUP = 255  # so many ones fit a byte
_CELLS = 1 << 19


def dense_array(values: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    """Return what a user hands over as an array; scipy.sparse becomes dense.

    Raises
    ------
    InputError
        If values are masked, which NumPy would take for the numbers below the mask.
    """
    if np.ma.is_masked(values):
        raise InputError("masked", name)
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype)


def binary_matrix(values: Any, name: str) -> NDArray[Any]:
    """Return a 0/1 matrix as an array of shape (items, labels).

    Raises
    ------
    InputError
        If it has another shape.
    """
    table, wanted = dense_array(values, name), "items x labels of 0 and 1"
    if table.ndim != 2:
        raise InputError(
            "wrong-shape", name, role="the matrix", shape=table.shape, wanted=wanted
        )
    return table


def _bytes(table: NDArray[Any], name: str, start: int) -> NDArray[np.uint8]:
    """Return a block as bytes, checked to be 0/1."""
    if table.dtype == np.bool_:
        return np.ascontiguousarray(table).view(np.uint8)
    if table.dtype == np.uint8:
        small = np.ascontiguousarray(table)
        wrong = small.size > 0 and small.max() > 1
    else:
        small = (table == 1).view(np.uint8)
        wrong = not np.array_equal(table, small)
    if wrong:
        row, column = np.argwhere((table != 0) & (table != 1))[0].tolist()
        where, value = (
            f"{name}, row {start + row}, column {column}{FROM_0}",
            table[row, column],
        )
        raise InputError(
            "out-of-range", where, role="a value", value=value, wanted="0 or 1"
        )
    return small


def _blocks(
    pred: NDArray[Any], ref: NDArray[Any], rows: int
) -> Iterator[tuple[slice, NDArray[np.uint8], NDArray[np.uint8]]]:
    for part in slices(len(pred), rows):
        yield (
            part,
            _bytes(pred[part], "pred", part.start),
            _bytes(ref[part], "ref", part.start),
        )


def _sum_columns(block: NDArray[np.uint8]) -> Ints:
    """Sum columns: whole groups of rows are added side by side, in bytes."""
    width = block.shape[1]
    side = len(block) // _GROUP
    total = np.zeros(width, np.int64)
    if side:
        groups = block[: side * _GROUP].reshape(_GROUP, side * width)
        bytes_ = np.add.reduce(groups, axis=0, dtype=np.uint8)
        total += np.add.reduce(bytes_.reshape(side, width), axis=0, dtype=np.int64)
    total += np.add.reduce(block[side * _GROUP :], axis=0, dtype=np.int64)
    return total


def column_counts(
    pred: NDArray[Any], ref: NDArray[Any], weights: Floats | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count hits, predictions and references of each label.

    Parameters
    ----------
    pred, ref : arrays, shape (items, labels)
        0/1 of any numeric type.
    weights : array, shape (items,), optional

    Returns
    -------
    three arrays, shape (labels,)
        int64, or float64 with weights.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1; names row and column.

    Examples
    --------
    >>> counts = column_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [2, 1], [1, 1]]
    """
    width = pred.shape[1]
    side = max(1, _CELLS // (_GROUP * max(1, width)))
    total = np.zeros((3, width), np.int64 if weights is None else np.float64)
    for part, mine, theirs in _blocks(pred, ref, side * _GROUP):
        for place, block in enumerate((mine & theirs, mine, theirs)):
            total[place] += (
                _sum_columns(block) if weights is None else weights[part] @ block
            )
    return total[0], total[1], total[2]


def row_counts(pred: NDArray[Any], ref: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Count hits, predictions and references of each item; three int64 arrays of shape (items,).

    Examples
    --------
    >>> counts = row_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [1, 2], [1, 1]]
    """
    total = np.zeros((3, len(pred)), np.int64)
    for part, mine, theirs in _blocks(
        pred, ref, max(1, _CELLS // max(1, pred.shape[1]))
    ):
        for place, block in enumerate((mine & theirs, mine, theirs)):
            total[place, part] = np.count_nonzero(block.view(np.bool_), axis=1)
    return total[0], total[1], total[2]


# A pair that meets costs in a sparse product about what so many pairs cost in a dense one.
_DENSE_GAIN = 1024
_MOST_DENSE = 1 << 27  # bytes of dense columns


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Values of features, row after row; a row may name a feature several times.

    Attributes
    ----------
    indptr : int array, shape (rows + 1,)
    features : int array, shape (cells,)
        From 0.
    values : float array, shape (cells,)
    """

    indptr: Ints
    features: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def kept(self, chosen: Bools, features: Ints) -> Cells:
        """Select cells, their features renamed."""
        counts = np.bincount(row_numbers(self.indptr)[chosen], minlength=len(self))
        return Cells(
            offsets(counts), features[self.features[chosen]], self.values[chosen]
        )

    def rows(self, start: int, stop: int) -> Cells:
        """Select rows."""
        flat = slice(self.indptr[start], self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - flat.start
        return Cells(indptr, self.features[flat], self.values[flat])


class SparsePairs:
    """Products of all rows with all columns, in blocks of rows.

    A row's values are of kinds and each column is of a class; ``scale[class, kind]`` multiplies
    them: ``out[i, j] = Σ_f column[j, f] · Σ_(cells of row i with f) row[cell] · scale[class_j,
    kind_cell]``. Features that meet in many pairs go through dense matrix products, the others
    through sparse ones. Which way a feature goes depends on the whole input, not on the block.

    Parameters
    ----------
    rows, columns : Cells
    kinds : int array
        The kind of each cell of ``rows``.
    classes : int array, shape (columns,)
    scale : float array, shape (classes, kinds)

    Examples
    --------
    >>> rows = Cells(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 2.0]))
    >>> columns = Cells(np.array([0, 1, 3]), np.array([0, 0, 1]), np.array([3.0, 4.0, 5.0]))
    >>> scale = np.array([[1.0, 0.5]])
    >>> pairs = SparsePairs(rows, columns, np.array([0, 1]), np.array([0, 0]), scale)
    >>> pairs.block(0, 1)
    array([[3., 9.]])
    """

    def __init__(
        self, rows: Cells, columns: Cells, kinds: Ints, classes: Ints, scale: Floats
    ) -> None:
        from scipy.sparse import csr_array

        self._scale, self.n_rows, self.n_columns = scale, len(rows), len(columns)
        self._buffer: Floats | None = None
        self._order = np.argsort(classes, kind="stable")
        dense, rare = _ways(rows, columns)
        self._n_dense = int(dense.sum())
        self._parts = []
        for chosen in (dense, rare):
            inside = chosen[rows.features]
            self._parts.append(
                (rows.kept(inside, np.cumsum(chosen) - 1), kinds[inside])
            )
        indptr, flat = take_rows(columns.indptr, self._order)
        ordered = Cells(indptr, columns.features[flat], columns.values[flat])
        kept = ordered.kept(dense[ordered.features], np.cumsum(dense) - 1)
        self._dense = np.zeros((self._n_dense, self.n_columns))  # features x columns
        self._dense[kept.features, row_numbers(kept.indptr)] = kept.values
        self._classes = []
        kept = ordered.kept(rare[ordered.features], np.cumsum(rare) - 1)
        bounds = np.flatnonzero(
            np.diff(classes[self._order], prepend=-1, append=-1)
        ).tolist()
        for start, stop in pairwise(bounds):
            part, shape = kept.rows(start, stop), (stop - start, int(rare.sum()))
            table = csr_array((part.values, part.features, part.indptr), shape=shape)
            number = int(classes[self._order[start]])
            self._classes.append((number, slice(start, stop), table.T.tocsr()))

    @cached_property
    def _places(self) -> Ints:
        """Return where each column stands among columns ordered by class."""
        places = np.empty(self.n_columns, np.int64)
        places[self._order] = np.arange(self.n_columns)
        return places

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the products of rows ``start`` to ``stop`` with all columns.

        Parameters
        ----------
        start, stop : int
        out : float array, shape (stop - start, columns), optional
            Where they are written.

        Returns
        -------
        float array, shape (stop - start, columns)
        """
        made = np.empty((stop - start, self.n_columns)) if out is None else out
        if len(self._classes) < 2:
            self._fill(made, start, stop)
            return made
        if self._buffer is None or len(self._buffer) < stop - start:
            self._buffer = np.empty((stop - start, self.n_columns))  # blocks share it
        ordered = self._buffer[: stop - start]
        self._fill(ordered, start, stop)
        return ordered.take(self._places, axis=1, out=made, mode="clip")

    def _fill(self, out: Floats, start: int, stop: int) -> None:
        """Write the products, columns ordered by class."""
        from scipy.sparse import csr_array

        (dense, dense_kinds), (rare, rare_kinds) = (
            (cells.rows(start, stop), kinds[cells.indptr[start] : cells.indptr[stop]])
            for cells, kinds in self._parts
        )
        where = row_numbers(dense.indptr) * self._n_dense + dense.features
        shape = stop - start, self._n_dense
        for number, columns, others in self._classes:
            scale = self._scale[number]
            left = np.bincount(
                where, dense.values * scale[dense_kinds], shape[0] * shape[1]
            )
            np.matmul(left.reshape(shape), self._dense[:, columns], out=out[:, columns])
            values = rare.values * scale[rare_kinds]
            table = csr_array(
                (values, rare.features, rare.indptr), (len(rare), others.shape[0])
            )
            product = table @ others
            indptr = product.indptr.astype(np.int64)
            # a product names each of its cells once
            out[:, columns][row_numbers(indptr), product.indices] += product.data


def _ways(rows: Cells, columns: Cells) -> tuple[Bools, Bools]:
    """Choose which features go through dense products, and which through sparse ones."""
    width = 1 + max(rows.features.max(initial=-1), columns.features.max(initial=-1))
    mine, theirs = (
        np.bincount(side.features, minlength=width) for side in (rows, columns)
    )
    pairs = mine * theirs
    dense = pairs * _DENSE_GAIN > len(rows) * len(columns)
    most = _MOST_DENSE // (8 * max(1, len(columns)))
    if dense.sum() > most:
        dense &= pairs > np.sort(pairs)[-most - 1]
    return dense, (pairs > 0) & ~dense
