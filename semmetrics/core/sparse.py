"""Products of sparse rows with sparse columns, all pairs, in blocks of rows.

Conventions
-----------
Row i and column j have a value for some features. A row's values are of kinds and each column is of
a class; ``scale[class, kind]`` multiplies them:

    out[i, j] = Σ_f column[j, f] · Σ_(cells of row i with f) row[cell] · scale[class_j, kind_cell]

Features that meet in many pairs go through dense matrix products, the others through sparse ones,
so that cost follows what is there. Which way a feature goes depends on the whole input and not on
the block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, row_numbers, take_rows

# A pair that meets costs in a sparse product about what so many pairs cost in a dense one.
_DENSE_GAIN = 1024
_MOST_DENSE = 1 << 27  # bytes of dense columns


@dataclass(frozen=True, eq=False)
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
        return Cells(offsets(counts), features[self.features[chosen]], self.values[chosen])


@dataclass(frozen=True, eq=False)
class _Class:
    """The columns of one class: where they stand, and their values both ways."""

    number: int
    start: int
    stop: int
    rare: Any  # csr_array, shape (rare features, columns)


class SparsePairs:
    """All rows against all columns.

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
        self,
        rows: Cells,
        columns: Cells,
        kinds: NDArray[np.integer],
        classes: NDArray[np.integer],
        scale: Floats,
    ) -> None:
        self._scale, self.n_rows, self.n_columns = scale, len(rows), len(columns)
        self._buffer: Floats | None = None
        self._order = np.argsort(classes, kind="stable")
        dense, rare = _ways(rows, columns)
        self._n_dense, self._n_rare = int(dense.sum()), int(rare.sum())
        self._parts = []
        for chosen in (dense, rare):
            inside = chosen[rows.features]
            self._parts.append((rows.kept(inside, np.cumsum(chosen) - 1), kinds[inside]))
        indptr, flat = take_rows(columns.indptr, self._order)
        ordered = Cells(indptr, columns.features[flat], columns.values[flat])
        kept = ordered.kept(dense[ordered.features], np.cumsum(dense) - 1)
        self._dense = np.zeros((self._n_dense, self.n_columns))  # features x columns
        self._dense[kept.features, row_numbers(kept.indptr)] = kept.values
        self._classes = _class_columns(ordered, rare, classes[self._order])

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

        (dense, dense_kinds), (rare, rare_kinds) = (_some(*p, start, stop) for p in self._parts)
        where = row_numbers(dense.indptr) * self._n_dense + dense.features
        shape = stop - start, self._n_dense
        for one in self._classes:
            scale, columns = self._scale[one.number], slice(one.start, one.stop)
            left = np.bincount(where, dense.values * scale[dense_kinds], shape[0] * shape[1])
            np.matmul(left.reshape(shape), self._dense[:, columns], out=out[:, columns])
            values = rare.values * scale[rare_kinds]
            table = csr_array((values, rare.features, rare.indptr), (len(rare), one.rare.shape[0]))
            product = table @ one.rare
            indptr = product.indptr.astype(np.int64)
            # a product names each of its cells once
            out[:, columns][row_numbers(indptr), product.indices] += product.data


def _ways(rows: Cells, columns: Cells) -> tuple[Bools, Bools]:
    """Choose which features go through dense products, and which through sparse ones."""
    width = 1 + max(rows.features.max(initial=-1), columns.features.max(initial=-1))
    mine, theirs = (np.bincount(side.features, minlength=width) for side in (rows, columns))
    pairs = mine * theirs
    dense = pairs * _DENSE_GAIN > len(rows) * len(columns)
    most = _MOST_DENSE // (8 * max(1, len(columns)))
    if dense.sum() > most:
        dense &= pairs > np.sort(pairs)[-most - 1]
    return dense, (pairs > 0) & ~dense


def _class_columns(columns: Cells, chosen: Bools, classes: NDArray[np.integer]) -> list[_Class]:
    from scipy.sparse import csr_array

    kept = columns.kept(chosen[columns.features], np.cumsum(chosen) - 1)
    bounds = np.flatnonzero(np.diff(classes, prepend=-1, append=-1)).tolist()
    found = []
    for start, stop in pairwise(bounds):
        first, last = kept.indptr[start], kept.indptr[stop]
        parts = kept.values[first:last], kept.features[first:last]
        shape = stop - start, int(chosen.sum())
        table = csr_array((*parts, kept.indptr[start : stop + 1] - first), shape=shape)
        found.append(_Class(int(classes[start]), start, stop, table.T.tocsr()))
    return found


def _some(
    cells: Cells, kinds: NDArray[np.integer], start: int, stop: int
) -> tuple[Cells, NDArray[np.integer]]:
    first, last = cells.indptr[start], cells.indptr[stop]
    indptr = cells.indptr[start : stop + 1] - first
    return Cells(indptr, cells.features[first:last], cells.values[first:last]), kinds[first:last]
