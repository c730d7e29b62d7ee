"""Tests of whether cosines are above a threshold, faster than computing the cosines.

Conventions
-----------
`ThresholdTest` decides in single precision. The error is below a bound that follows from the number
of dimensions (Higham 2002, section 3.1). The few cosines that are closer to the threshold than that
are computed exactly as `cosine_table` computes them. Therefore each decision is the decision of the
rounded cosine, no matter which others are requested with it.

References
----------
Higham, 2002, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Ints, slices
from semmetrics.core.similarity import CLOSE, SplitVectors, cosine_table, is_close

_CELLS_PER_PRODUCT = 1 << 21
_MIN_ROWS_PER_PRODUCT = 256
_NUMBERS_PER_STEP = 1 << 18  # of gathered vectors
_MIN_CELLS_PER_UNSURE = 64  # with fewer, computing the whole table exactly is less work
_MIN_LENGTH = 1e-15  # of vectors for which single precision has all of its digits
_MAX_LENGTH = 1e15


class Decisions(NamedTuple):
    """Decisions whether cosines are above a threshold.

    Attributes
    ----------
    above : bool array
        Whether the cosine is strictly above the threshold.
    close : int array
        Flat indices of the cells for which ``is_close``.
    """

    above: Bools
    close: Ints


class ThresholdTest:
    """Tests whether cosines of vectors are above a threshold.

    Parameters
    ----------
    vectors : float array, shape (n, d)
        Finite, without normalisation. A zero vector has cosine 0 with every vector.

    Examples
    --------
    >>> test = ThresholdTest(np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]], np.float32))
    >>> test.test_table(np.array([0]), np.array([0, 1, 2]), 0.6).above.tolist()
    [[True, False, False]]
    """

    def __init__(self, vectors: NDArray[np.floating[Any]]) -> None:
        self._vectors = vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        # A length of 0 does not mean a zero vector, as squares of small numbers are 0.
        self._is_zero: Bools = np.all(vectors == 0, axis=1)
        is_ordinary = (lengths > _MIN_LENGTH) & (lengths < _MAX_LENGTH)
        self._are_all_ordinary = bool((self._is_zero | is_ordinary).all())
        divisors = np.where(is_ordinary, lengths, 1.0)
        # Units of vectors that are not ordinary are not used.
        scale = np.where(is_ordinary, 1 / divisors, 0.0).astype(np.float32)
        scaled = vectors * scale[:, None]
        self._units = scaled.astype(np.float32, copy=False)
        # The bound covers the rounding errors of sums of d products, three roundings of each
        # vector, the rounding of the exact cosine, and the distance of close cosines.
        dimension = vectors.shape[1]
        self._bound = (dimension + 16) * 2.0**-24 + 1e-8 + CLOSE

    def test_table(self, rows: Ints, columns: Ints, threshold: float) -> Decisions:
        """Test every row with every column.

        Parameters
        ----------
        rows, columns : int arrays, shapes (m,) and (n,)
            Numbers of vectors.
        threshold : float

        Returns
        -------
        Decisions
            Of shape (m, n).
        """
        if not self._are_all_ordinary:
            return self._test_exactly(rows, columns, threshold)
        n_columns = len(columns)
        above = np.empty((len(rows), n_columns), np.bool_)
        unsure = self._compare_table(rows, columns, threshold, above)
        if len(unsure) > above.size // _MIN_CELLS_PER_UNSURE:
            return self._test_exactly(rows, columns, threshold)
        row, column = np.divmod(unsure, max(1, n_columns))
        return self._recheck(above, unsure, rows[row], columns[column], threshold)

    def _test_exactly(self, rows: Ints, columns: Ints, threshold: float) -> Decisions:
        """Test every row with every column by their exact cosines."""
        cosines = cosine_table(self._vectors[rows], self._vectors[columns])
        close = np.flatnonzero(is_close(cosines, threshold))
        return Decisions(cosines > threshold, close)

    def test_items(self, rows: Ints, columns: Ints, threshold: float) -> Decisions:
        """Test every row of an item with every column of the same item.

        Parameters
        ----------
        rows, columns : int arrays, shapes (items, m) and (items, n)
            Numbers of vectors.
        threshold : float

        Returns
        -------
        Decisions
            Of shape (items, m, n).
        """
        n_items, m = rows.shape
        n = columns.shape[1]
        above = np.empty((n_items, m, n), np.bool_)
        unsure_parts = [np.zeros(0, np.int64)]
        numbers_per_item = (m + n) * self._units.shape[1]
        for part in slices(n_items, _NUMBERS_PER_STEP // max(1, numbers_per_item)):
            left = self._units[rows[part]]
            right = self._units[columns[part]].swapaxes(1, 2)
            unsure_cells = self._compare(left, right, threshold, above[part])
            unsure_parts.append(unsure_cells + part.start * m * n)
        if self._are_all_ordinary:
            unsure = np.concatenate(unsure_parts)
        else:
            unsure = np.arange(above.size)
        item, cell = np.divmod(unsure, max(1, m * n))
        row, column = np.divmod(cell, max(1, n))
        return self._recheck(
            above, unsure, rows[item, row], columns[item, column], threshold
        )

    def _compare_table(
        self, rows: Ints, columns: Ints, threshold: float, above: Bools
    ) -> Ints:
        """Fill in the decisions for a table. Return the flat indices of unsure cells."""
        n_columns = len(columns)
        left = self._units[rows]
        right = np.ascontiguousarray(self._units[columns].T)
        step = max(_MIN_ROWS_PER_PRODUCT, _CELLS_PER_PRODUCT // max(1, n_columns))
        step = min(len(rows), step)
        buffer = np.empty((step, n_columns), np.float32)
        unsure_parts = [np.zeros(0, np.int64)]
        for part in slices(len(rows), step):
            product = buffer[: part.stop - part.start]
            unsure_cells = self._compare(
                left[part], right, threshold, above[part], product
            )
            unsure_parts.append(unsure_cells + part.start * n_columns)
        return np.concatenate(unsure_parts)

    def _compare(
        self, left: Any, right: Any, threshold: float, above: Bools, out: Any = None
    ) -> Ints:
        """Fill in whether products are above a threshold. Return the flat indices of unsure cells.

        Parameters
        ----------
        left, right : float32 arrays, shapes (..., m, d) and (..., d, n)
        threshold : float
        above : bool array, shape (..., m, n)
        out : float32 array, shape (..., m, n), optional
            Memory for the products.
        """
        # BLAS may set floating-point flags for numbers that are not part of the result.
        with np.errstate(all="ignore"):
            product = np.matmul(left, right, out=out)
        # Rounding the threshold and the difference are two more roundings.
        product -= np.float32(threshold)
        np.greater(product, 0, out=above)
        np.abs(product, out=product)
        return np.flatnonzero(product.ravel() <= self._bound)

    def _recheck(
        self, above: Bools, cells: Ints, rows: Ints, columns: Ints, threshold: float
    ) -> Decisions:
        """Test some cells again, with their exact cosines.

        Parameters
        ----------
        above : bool array
            The decisions, which are corrected in place.
        cells : int array, shape (n,)
            Flat indices of the cells.
        rows, columns : int arrays, shape (n,)
            The vectors of each cell.
        threshold : float
        """
        cosines = np.zeros(len(cells))
        has_zero_vector = self._is_zero[rows] | self._is_zero[columns]
        pairs = np.flatnonzero(~has_zero_vector)
        dimension = self._units.shape[1]
        for part in slices(len(pairs), _NUMBERS_PER_STEP // max(1, dimension)):
            part_pairs = pairs[part]
            codes = np.stack([rows[part_pairs], columns[part_pairs]])
            used_codes, places = np.unique(codes, return_inverse=True)
            split = SplitVectors.of(self._vectors[used_codes].astype(np.float64))
            left, right = places.reshape(codes.shape)
            # Each pair is a table of one row and one column.
            pair_tables = split[left, None].cosines(split[right, None])
            cosines[part_pairs] = pair_tables[:, 0, 0]
        above.ravel()[cells] = cosines > threshold
        return Decisions(above, cells[is_close(cosines, threshold)])
