"""Test which cosines are above a threshold: in single precision, and exactly where that is unsure.

Conventions
-----------
A cosine in single precision is wrong by less than a bound that follows from the number of
dimensions (Higham 2002, section 3.1). Cells farther from the threshold than that are decided; the
few others are computed as ``core.similarity.cosine_table`` computes them, so the decision is that
of its rounded cosines, whatever is asked for together.

References
----------
Higham, 2002, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.similarity import SplitVectors, cosine_table

__all__ = ["Decisions", "ThresholdTest", "is_close"]

_CLOSE = 1e-6

_BLOCK = 1 << 21  # cells of a product at a time
_NUMBERS = 1 << 18  # of gathered vectors at a time
_FEW = 64  # one cell in so many may be computed apart before a table is less work
_ORDINARY = 1e-15, 1e15  # lengths of vectors for which single precision has its full digits


def is_close(cosines: Floats, threshold: float) -> Bools:
    """Return whether a cosine is within 1e-6 of a threshold, and not 1.

    There another machine's rounding of the vectors may decide otherwise.

    Examples
    --------
    >>> is_close(np.array([0.3999999, 0.41, 1.0]), 0.4).tolist()
    [True, False, False]
    """
    close: Bools = (abs(cosines - threshold) <= _CLOSE) & (cosines < 1.0)
    return close


class Decisions(NamedTuple):
    """Decisions, and those of them that were close.

    Attributes
    ----------
    above : bool array
        Cells whose cosine is strictly above the threshold.
    close : int array
        Flat places of cells for which ``is_close``.
    """

    above: Bools
    close: Ints


class ThresholdTest:
    """Tests whether cosines of vectors are above a threshold.

    Parameters
    ----------
    vectors : float array, shape (n, d)
        Finite, not normalised. A zero vector has cosine 0 with every vector.

    Examples
    --------
    >>> test = ThresholdTest(np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]], np.float32))
    >>> test.test_table(np.array([0]), np.array([0, 1, 2]), 0.6).above.tolist()
    [[True, False, False]]
    """

    def __init__(self, vectors: NDArray[np.floating[Any]]) -> None:
        self._vectors = vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        self._zero: Bools = np.all(vectors == 0, axis=1)  # the squares of small numbers are 0
        low, high = _ORDINARY
        inside = (lengths > low) & (lengths < high)
        self._ordinary = bool((self._zero | inside).all())
        scale = np.where(inside, 1 / np.where(inside, lengths, 1.0), 0.0)  # 0 is not used
        self._units = (vectors * scale.astype(np.float32)[:, None]).astype(np.float32, copy=False)
        # sums of d products, three roundings of each vector, and that of the exact cosine; and
        # all that may be close
        self._bound = (vectors.shape[1] + 16) * 2.0**-24 + 1e-8 + _CLOSE

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
        above = np.empty((len(rows), len(columns)), np.bool_)
        unsure = []
        if self._ordinary:
            left, right = self._units[rows], np.ascontiguousarray(self._units[columns].T)
            step = min(len(rows), max(256, _BLOCK // max(1, len(columns))))
            room = np.empty((step, len(columns)), np.float32)
            for part in _parts(len(rows), step):
                product = _products(left[part], right, room[: part.stop - part.start])
                unsure.append(
                    self._compare(product, threshold, above[part]) + part.start * len(columns)
                )
        places = np.concatenate(unsure) if unsure else np.zeros(0, np.int64)
        if not self._ordinary or len(places) > above.size // _FEW:
            exact = cosine_table(self._vectors[rows], self._vectors[columns])
            return Decisions(exact > threshold, np.flatnonzero(is_close(exact, threshold)))
        row, column = np.divmod(places, max(1, len(columns)))
        return self._recheck(above, places, rows[row], columns[column], threshold)

    def test_items(self, rows: Ints, columns: Ints, threshold: float) -> Decisions:
        """Test within items: every row of one with every column of it.

        Parameters
        ----------
        rows, columns : int arrays, shapes (items, m) and (items, n)
        threshold : float

        Returns
        -------
        Decisions
            Of shape (items, m, n).
        """
        (size, m), n = rows.shape, columns.shape[1]
        above = np.empty((size, m, n), np.bool_)
        unsure = [np.zeros(0, np.int64)]
        for part in _parts(size, _NUMBERS // max(1, (m + n) * self._units.shape[1])):
            product = _products(self._units[rows[part]], self._units[columns[part]].swapaxes(1, 2))
            unsure.append(self._compare(product, threshold, above[part]) + part.start * m * n)
        places = np.concatenate(unsure) if self._ordinary else np.arange(above.size)
        item, cell = np.divmod(places, max(1, m * n))
        row, column = np.divmod(cell, max(1, n))
        return self._recheck(above, places, rows[item, row], columns[item, column], threshold)

    def _compare(self, product: Any, threshold: float, above: Bools) -> Ints:
        """Fill in what is above, and return the flat places of what is unsure."""
        product -= np.float32(threshold)
        np.greater(product, 0, out=above)
        np.abs(product, out=product)
        # the threshold in single precision, and its difference, are two more roundings
        return np.flatnonzero(product.ravel() <= self._bound)

    def _recheck(
        self, above: Bools, places: Ints, rows: Ints, columns: Ints, threshold: float
    ) -> Decisions:
        """Test the cells at those places again, exactly."""
        exact = np.zeros(len(places))
        some = np.flatnonzero(~(self._zero[rows] | self._zero[columns]))
        for part in _parts(len(some), _NUMBERS // max(1, self._units.shape[1])):
            exact[some[part]] = self._cosines(rows[some[part]], columns[some[part]])
        above.ravel()[places] = exact > threshold
        return Decisions(above, places[is_close(exact, threshold)])

    def _cosines(self, rows: Ints, columns: Ints) -> Floats:
        used, place = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        parts = SplitVectors.of(self._vectors[used].astype(np.float64))
        mine, theirs = parts[place[: len(rows)], None], parts[place[len(rows) :], None]
        found: Floats = mine.cosines(theirs)[:, 0, 0]
        return found


def _products(left: Any, right: Any, out: Any = None) -> Any:
    """Multiply vectors of length 1 or 0.

    Now and then BLAS raises floating-point flags of numbers that are in no result.
    """
    with np.errstate(all="ignore"):
        return np.matmul(left, right, out=out)


def _parts(size: int, step: int) -> Iterator[slice]:
    for start in range(0, size, max(1, step)):
        yield slice(start, min(size, start + max(1, step)))
