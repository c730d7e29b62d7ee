"""Products of all rows of one sparse matrix with all columns of another, in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, row_numbers, take_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # loaded only if products are computed

# Products of a dense matrix in the time of one product of a sparse one.
DENSE_GAIN = 1024
MAX_DENSE_BYTES = 1 << 27


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Values of features, row by row. A row may contain a feature several times.

    Attributes
    ----------
    indptr : int array, shape (rows + 1,)
        The cells of row ``i`` are at ``indptr[i]:indptr[i + 1]``.
    features : int array, shape (cells,)
        Feature numbers, from 0.
    values : float array, shape (cells,)
    """

    indptr: Ints
    features: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def rows(self, start: int, stop: int) -> Cells:
        """Return the rows from ``start`` to ``stop``."""
        cells = slice(self.indptr[start], self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - cells.start
        return Cells(indptr, self.features[cells], self.values[cells])

    def take(self, rows: Ints) -> Cells:
        """Return rows by number."""
        indptr, cells = take_rows(self.indptr, rows)
        return Cells(indptr, self.features[cells], self.values[cells])

    def with_features(self, is_chosen: Bools) -> Cells:
        """Return the cells of some features, which are numbered anew from 0.

        Parameters
        ----------
        is_chosen : bool array, shape (features,)
        """
        is_cell_chosen = is_chosen[self.features]
        rows = row_numbers(self.indptr)[is_cell_chosen]
        sizes = np.bincount(rows, minlength=len(self))
        new_features = np.cumsum(is_chosen) - 1
        return Cells(
            offsets(sizes),
            new_features[self.features[is_cell_chosen]],
            self.values[is_cell_chosen],
        )


class _RowCells(NamedTuple):
    """Cells of rows, and the kind of each cell."""

    cells: Cells
    kinds: Ints

    def rows(self, start: int, stop: int) -> _RowCells:
        """Return the rows from ``start`` to ``stop``."""
        kinds = self.kinds[self.cells.indptr[start] : self.cells.indptr[stop]]
        return _RowCells(self.cells.rows(start, stop), kinds)

    def scaled_values(self, scale_of_kind: Floats) -> Floats:
        """Return the values of the cells times the factors of their kinds."""
        return self.cells.values * scale_of_kind[self.kinds]


class _ColumnClass(NamedTuple):
    """The columns of one class.

    Attributes
    ----------
    scale_of_kind : float array, shape (kinds,)
        The factor of the class for each kind of cells.
    columns : slice
        The columns of the class, if columns are ordered by class.
    rare : csr_array, shape (rare features, columns of the class)
        Their values of rare features.
    """

    scale_of_kind: Floats
    columns: slice
    rare: csr_array[Any, Any]


class SparsePairs:
    """Products of all rows with all columns, in blocks of rows.

    Each cell of a row has a kind, and each column has a class. The product of row i and column j
    is::

        out[i, j] = sum over features f of
                    column[j, f] * sum over cells c of row i with feature f of
                                   row[c] * scale[class of j, kind of c]

    Frequent features, which occur in many pairs of a row and a column, are multiplied as dense
    matrices. Rare features are multiplied as sparse matrices. Which features are frequent depends
    on the whole input and not on the block, so that a product has the same bits in every block.

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
        self.n_rows = len(rows)
        self.n_columns = len(columns)
        self._buffer: Floats | None = None
        frequencies = _split_features(rows, columns)
        is_frequent = frequencies.is_frequent
        is_rare = frequencies.is_rare
        self._frequent_rows = _RowCells(
            rows.with_features(is_frequent), kinds[is_frequent[rows.features]]
        )
        self._rare_rows = _RowCells(
            rows.with_features(is_rare), kinds[is_rare[rows.features]]
        )
        self._order = np.argsort(classes, kind="stable")
        ordered_columns = columns.take(self._order)
        frequent_columns = ordered_columns.with_features(is_frequent)
        self._n_frequent = int(is_frequent.sum())
        # Shape (frequent features, columns), with columns ordered by class.
        self._dense_columns = np.zeros((self._n_frequent, self.n_columns))
        column_of_cell = row_numbers(frequent_columns.indptr)
        self._dense_columns[frequent_columns.features, column_of_cell] = (
            frequent_columns.values
        )
        rare_columns = ordered_columns.with_features(is_rare)
        n_rare = int(is_rare.sum())
        self._classes = _split_by_class(
            rare_columns, n_rare, classes[self._order], scale
        )

    @cached_property
    def _places(self) -> Ints:
        """Return the place of each column if columns are ordered by class."""
        places = np.empty(self.n_columns, np.int64)
        places[self._order] = np.arange(self.n_columns)
        return places

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return the products of the rows from ``start`` to ``stop`` with all columns.

        Parameters
        ----------
        start, stop : int
        out : float array, shape (stop - start, columns), optional
            The products are written to this array.

        Returns
        -------
        float array, shape (stop - start, columns)
        """
        if out is None:
            out = np.empty((stop - start, self.n_columns))
        if len(self._classes) < 2:
            # Columns of one class are in order already.
            self._write_products(out, start, stop)
            return out
        if self._buffer is None or len(self._buffer) < stop - start:
            self._buffer = np.empty((stop - start, self.n_columns))
        ordered_products = self._buffer[: stop - start]
        self._write_products(ordered_products, start, stop)
        return ordered_products.take(self._places, axis=1, out=out, mode="clip")

    def _write_products(self, out: Floats, start: int, stop: int) -> None:
        """Write the products of some rows, with columns ordered by class."""
        from scipy.sparse import csr_array

        frequent = self._frequent_rows.rows(start, stop)
        rare = self._rare_rows.rows(start, stop)
        n_rows = stop - start
        row_of_cell = row_numbers(frequent.cells.indptr)
        places = row_of_cell * self._n_frequent + frequent.cells.features
        for column_class in self._classes:
            out_of_class = out[:, column_class.columns]
            values = frequent.scaled_values(column_class.scale_of_kind)
            # Cells of the same row and feature are added.
            dense_rows = np.bincount(places, values, n_rows * self._n_frequent)
            np.matmul(
                dense_rows.reshape(n_rows, self._n_frequent),
                self._dense_columns[:, column_class.columns],
                out=out_of_class,
            )
            values = rare.scaled_values(column_class.scale_of_kind)
            sparse_rows = csr_array(
                (values, rare.cells.features, rare.cells.indptr),
                (n_rows, column_class.rare.shape[0]),
            )
            products = sparse_rows @ column_class.rare
            # A product of sparse matrices contains each of its cells once.
            product_rows = row_numbers(products.indptr.astype(np.int64))
            out_of_class[product_rows, products.indices] += products.data


class _FeatureSplit(NamedTuple):
    """Features that occur in rows and columns, by how they are multiplied.

    Attributes
    ----------
    is_frequent, is_rare : bool arrays, shape (features,)
    """

    is_frequent: Bools
    is_rare: Bools


def _split_features(rows: Cells, columns: Cells) -> _FeatureSplit:
    """Decide which features are multiplied as dense matrices, and which as sparse ones."""
    last_row_feature = rows.features.max(initial=-1)
    last_column_feature = columns.features.max(initial=-1)
    n_features = 1 + max(last_row_feature, last_column_feature)
    n_in_rows = np.bincount(rows.features, minlength=n_features)
    n_in_columns = np.bincount(columns.features, minlength=n_features)
    n_pairs = n_in_rows * n_in_columns
    is_frequent = n_pairs * DENSE_GAIN > len(rows) * len(columns)
    max_frequent = MAX_DENSE_BYTES // (8 * max(1, len(columns)))
    if is_frequent.sum() > max_frequent:
        # Only the features with the most pairs fit into memory.
        most_pairs_of_others = np.sort(n_pairs)[-max_frequent - 1]
        is_frequent &= n_pairs > most_pairs_of_others
    is_rare = (n_pairs > 0) & ~is_frequent
    return _FeatureSplit(is_frequent, is_rare)


def _split_by_class(
    rare_columns: Cells, n_rare: int, ordered_classes: Ints, scale: Floats
) -> list[_ColumnClass]:
    """Return the columns of each class.

    Parameters
    ----------
    rare_columns : Cells
        The rare features of the columns, ordered by class.
    n_rare : int
        The number of rare features.
    ordered_classes : int array, shape (columns,)
        Increasing.
    scale : float array, shape (classes, kinds)
    """
    from scipy.sparse import csr_array

    column_classes = []
    bounds = np.flatnonzero(np.diff(ordered_classes, prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(bounds):
        cells = rare_columns.rows(start, stop)
        columns_by_features = csr_array(
            (cells.values, cells.features, cells.indptr), shape=(stop - start, n_rare)
        )
        scale_of_kind = scale[int(ordered_classes[start])]
        column_classes.append(
            _ColumnClass(
                scale_of_kind, slice(start, stop), columns_by_features.T.tocsr()
            )
        )
    return column_classes
