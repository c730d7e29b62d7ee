"""Cosines and Euclidean distances of vectors, on numpy or torch.

Conventions
-----------
The backend is that of the input: numpy arrays stay numpy, torch tensors stay where they are.
Everything is computed in float64, without gradients, and a zero vector has cosine 0 with every
vector.

A cosine has the same bits whatever else is computed with it: vectors are split into parts so short
that the sums of their products are exact in any order (`SplitVectors`). Cosines are rounded to
1e-9, so that 0.6 is 0.6.

Distances are computed item by item, in a product of the item's own shape, whatever the block, and
are rounded to 1e-12. Vectors that nearly agree are subtracted before they are squared; torch, which
chooses how to multiply by the number of items, subtracts all.

`ThresholdTest` decides in single precision, whose error is below a bound that follows from the
number of dimensions (Higham 2002, section 3.1). The few cells closer to the threshold than that are
computed as `cosine_table` computes them, so the decision is that of its rounded cosines, whatever
is asked for together.

References
----------
Ozaki, Ogita, Oishi, Rump, 2012, Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication, Numerical Algorithms 59.
Higham, 2002, Accuracy and Stability of Numerical Algorithms, 2nd edition, SIAM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, is_torch
from semmetrics.core.ragged import Bools, Floats, Ints, slices
from semmetrics.errors import InputError

_DECIMALS = 9  # of cosines
_DISTANCE_DECIMALS = 12
_LARGEST = 1e150  # larger numbers have squares that are not finite
_SMALL = 1e-140  # numbers of shorter vectors have squares that vanish
_HIGH, _LOW = 2.0**26, 2.0**46  # one over the last place of each part
_NEAR = 1e-6  # of the squared lengths: below it, vectors are subtracted first
_GATHERED = 1 << 16  # numbers of gathered vectors at a time: they stay in a cache
_CELLS = 1 << 15  # distances at a time, for the same reason
_TORCH_GATHERED = 1 << 24  # the same in torch: 128 MB of a device


def _checked(vectors: Any) -> Any:
    """Return vectors as a float64 matrix of their own backend."""
    table = (
        vectors.detach().double()
        if is_torch(vectors)
        else np.asarray(vectors, np.float64)
    )
    if not (abs(table) <= _LARGEST).all():
        value = float(table[~(abs(table) <= _LARGEST)][0])
        wanted = f"finite numbers up to {_LARGEST}"
        raise InputError(
            "out-of-range", role="a number of a vector", value=value, wanted=wanted
        )
    return table


@dataclass(frozen=True, eq=False, repr=False)
class SplitVectors:
    """Vectors scaled to lengths below 1, each number cut into 26 bits and the next 20.

    Products of such parts are whole multiples of one number, and their sums below 2**53 of it: no
    order of adding them, and no fused multiplication, changes a bit. What is left out is some
    1e-14 of the product of the lengths.

    Attributes
    ----------
    high, low : float64 arrays or tensors, shape (..., n, d)
        With at most 2**14 dimensions.
    lengths : float64 array or tensor, shape (..., n)
        Of the scaled vectors.
    """

    high: Any
    low: Any
    lengths: Any

    @staticmethod
    def of(vectors: Any) -> SplitVectors:
        """Split float64 rows, shape (n, d)."""
        xp = _module(vectors)
        scaled = vectors / _power_above(abs(vectors).sum(1))[:, None]
        # now squares neither overflow nor vanish
        scaled = scaled / _power_above(_lengths(scaled))[:, None]
        high = xp.round(scaled * _HIGH) / _HIGH
        low = xp.round((scaled - high) * _LOW) / _LOW
        squares = (high * high).sum(1) + 2 * (high * low).sum(1)
        return SplitVectors(high, low, xp.sqrt(squares))

    def __getitem__(self, rows: Any) -> SplitVectors:
        """Select vectors by number, in the shape of the numbers."""
        return SplitVectors(self.high[rows], self.low[rows], self.lengths[rows])

    def products(self, other: SplitVectors) -> Any:
        """Return the inner products of the scaled vectors, shape (..., n, m)."""
        high, low = other.high.swapaxes(-1, -2), other.low.swapaxes(-1, -2)
        table = self.low @ high
        table += self.high @ low
        table += self.high @ high
        return table

    def cosines(self, other: SplitVectors) -> Any:
        """Return the rounded cosines, shape (..., n, m)."""
        table, xp = self.products(other), _module(self.high)
        mine, theirs = (xp.where(s.lengths > 0, s.lengths, 1.0) for s in (self, other))
        table /= mine[..., :, None] * theirs[..., None, :]
        # what exceeds 1 becomes 1
        return xp.round(table, decimals=_DECIMALS, out=table)


def _module(values: Any) -> Any:
    return Backend(values).xp


def _lengths(table: Any) -> Any:
    xp = _module(table)
    return xp.sqrt(xp.einsum("ij,ij->i", table, table))


def _power_above(sizes: Any) -> Any:
    """Return the least power of 2 above each size; 1 for 0."""
    xp = _module(sizes)
    nothing = sizes == 0
    return xp.where(nothing, 1.0, sizes / xp.where(nothing, 1.0, xp.frexp(sizes)[0]))


def unit_rows(vectors: Any) -> Any:
    """Divide rows by their Euclidean norm; zero rows stay zero.

    Parameters
    ----------
    vectors : array or tensor, shape (n, d)

    Returns
    -------
    float64 array or tensor, shape (n, d)

    Raises
    ------
    InputError
        If it is not a matrix of finite numbers.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    table = _checked(vectors)
    norms = _lengths(table)
    if (norms < _SMALL).any():
        table = table / _power_above(abs(table).sum(1))[:, None]
        norms = _lengths(table)
    return table / _module(table).where(norms == 0, 1.0, norms)[:, None]


def cosine_table(left: Any, right: Any) -> Any:
    """Return the cosine of every row of one matrix with every row of another.

    Parameters
    ----------
    left, right : arrays or tensors, shapes (n, d) and (m, d)

    Returns
    -------
    float64 array or tensor, shape (n, m), in [-1, 1]

    Raises
    ------
    InputError
        If a vector is not finite.

    Examples
    --------
    >>> cosine_table(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).round(4).tolist()
    [[1.0, 0.7071]]
    """
    mine, theirs = (SplitVectors.of(_checked(side)) for side in (left, right))
    return mine.cosines(theirs)


def paired_cosines(left: Any, right: Any) -> Any:
    """Return the cosine of each row of one matrix with the same row of another, rounded.

    Parameters
    ----------
    left, right : arrays or tensors, shape (n, d)

    Returns
    -------
    float64 array or tensor, shape (n,), in [-1, 1]

    Raises
    ------
    InputError
        If a vector is not finite.

    Examples
    --------
    >>> paired_cosines(np.array([[2.0, 0.0], [0.0, 0.0]]), np.ones((2, 2))).round(4).tolist()
    [0.7071, 0.0]
    """
    mine, theirs = map(unit_rows, (left, right))
    xp = _module(mine)
    return xp.round(xp.einsum("ij,ij->i", mine, theirs), decimals=_DECIMALS)


def sum_vectors(vectors: Any, indptr: Ints, codes: Ints) -> Any:
    """Sum the vectors of each ragged row of codes.

    Parameters
    ----------
    vectors : float64 array or tensor, shape (n, d)
    indptr : int array, shape (rows + 1,)
    codes : int array

    Returns
    -------
    float64 array or tensor, shape (rows, d)

    Examples
    --------
    >>> sum_vectors(np.eye(2), np.array([0, 2, 2]), np.array([0, 0])).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    backend = Backend(vectors)
    if backend.torch:
        if not len(codes):
            return backend.zeros(len(indptr) - 1, vectors.shape[1])
        bags = backend.array(codes), vectors, backend.array(indptr[:-1])
        return backend.xp.nn.functional.embedding_bag(*bags, mode="sum")
    from scipy.sparse import csr_array

    shape = len(indptr) - 1, len(vectors)
    return csr_array((np.ones(len(codes)), codes, indptr), shape=shape) @ vectors


class EuclideanDistances:
    """Euclidean distances of chosen pairs of vectors.

    Parameters
    ----------
    vectors : array or torch tensor, shape (words, dimension)
        As the model gives them, not normalised.

    Examples
    --------
    >>> distances = EuclideanDistances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> distances(np.array([[0, 1]]), np.array([[1]])).tolist()
    [[[5.0], [0.0]]]
    """

    def __init__(self, vectors: Any) -> None:
        self.backend = Backend(vectors)
        self.vectors = self.backend.array(vectors, "float64")
        if not self.backend.torch:
            self._squares = np.einsum("ij,ij->i", self.vectors, self.vectors)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return the distances of codes (items, m) and (items, n), shape (items, m, n)."""
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        if self.backend.torch:
            return self._subtract(pred_codes, ref_codes)
        table = np.empty((items, m, n))
        for part in slices(items, _CELLS // max(1, m * n)):
            self._products(pred_codes[part], ref_codes[part], table[part])
            self._to_distances(table[part], pred_codes[part], ref_codes[part])
        return table

    def _subtract(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return distances from differences, in torch: no bit depends on what is beside a pair."""
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        table = self.backend.zeros(items, m, n)
        for part in slices(
            items, _TORCH_GATHERED // max(1, (m + n) * self.vectors.shape[1])
        ):
            both = self.vectors[pred_codes[part]], self.vectors[ref_codes[part]]
            table[part] = self.backend.xp.cdist(
                *both, compute_mode="donot_use_mm_for_euclid_dist"
            )
        return self.backend.xp.round(table, decimals=_DISTANCE_DECIMALS, out=table)

    def _products(self, pred_codes: Any, ref_codes: Any, table: Floats) -> None:
        """Write inner products into a table."""
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        codes, dimension = (
            np.concatenate([pred_codes, ref_codes], 1),
            self.vectors.shape[1],
        )
        parts = slices(items, _GATHERED // max(1, (m + n) * dimension))
        # the same memory for every step
        gathered = np.empty((parts[0].stop, m + n, dimension))
        for part in parts:
            both = gathered[: part.stop - part.start]
            # "raise" would copy once more
            self.vectors.take(codes[part], 0, out=both, mode="wrap")
            np.matmul(both[:, :m], both[:, m:].swapaxes(1, 2), out=table[part])

    def _to_distances(self, square: Floats, pred_codes: Any, ref_codes: Any) -> None:
        """Turn inner products into distances in place."""
        squares = self._squares
        square *= -2
        lengths = squares[pred_codes][:, :, None] + squares[ref_codes][:, None]
        square += lengths
        # few tables hold vectors that nearly agree
        if 0 not in square.shape and square.min() < _NEAR * lengths.max():
            item, row, column = np.nonzero(square < lengths * _NEAR)
            gap = (
                self.vectors[pred_codes[item, row]]
                - self.vectors[ref_codes[item, column]]
            )
            square[item, row, column] = (gap * gap).sum(1)
        np.sqrt(square, out=square)
        np.round(square, decimals=_DISTANCE_DECIMALS, out=square)


_CLOSE = 1e-6

_BLOCK = 1 << 21  # cells of a product at a time
_NUMBERS = 1 << 18  # of gathered vectors at a time
_FEW = 64  # one cell in so many may be computed singly before a table is less work
# lengths of vectors for which single precision has its full digits
_ORDINARY = (
    1e-15,
    1e15,
)


def is_close(cosines: Floats, threshold: float) -> Bools:
    """Return whether a cosine is within 1e-6 of a threshold, and not 1.

    There another machine's rounding of the vectors may decide otherwise.

    Examples
    --------
    >>> is_close(np.array([0.3999999, 0.41, 1.0]), 0.4).tolist()
    [True, False, False]
    """
    return (abs(cosines - threshold) <= _CLOSE) & (cosines < 1.0)


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
        # the squares of small numbers are 0
        self._zero: Bools = np.all(vectors == 0, axis=1)
        low, high = _ORDINARY
        inside = (lengths > low) & (lengths < high)
        self._ordinary = bool((self._zero | inside).all())
        # 0 is not used
        scale = np.where(inside, 1 / np.where(inside, lengths, 1.0), 0.0)
        self._units = (vectors * scale.astype(np.float32)[:, None]).astype(
            np.float32, copy=False
        )
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
        above, n = np.empty((len(rows), len(columns)), np.bool_), len(columns)
        unsure = [np.zeros(0, np.int64)]
        if self._ordinary:
            left, right = (
                self._units[rows],
                np.ascontiguousarray(self._units[columns].T),
            )
            step = min(len(rows), max(256, _BLOCK // max(1, n)))
            room = np.empty((step, n), np.float32)
            for part in slices(len(rows), step):
                out = room[: part.stop - part.start]
                found = self._compare(left[part], right, threshold, above[part], out)
                unsure.append(found + part.start * n)
        places = np.concatenate(unsure)
        if not self._ordinary or len(places) > above.size // _FEW:
            exact = cosine_table(self._vectors[rows], self._vectors[columns])
            return Decisions(
                exact > threshold, np.flatnonzero(is_close(exact, threshold))
            )
        row, column = np.divmod(places, max(1, n))
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
        for part in slices(size, _NUMBERS // max(1, (m + n) * self._units.shape[1])):
            left, right = (
                self._units[rows[part]],
                self._units[columns[part]].swapaxes(1, 2),
            )
            unsure.append(
                self._compare(left, right, threshold, above[part]) + part.start * m * n
            )
        places = np.concatenate(unsure) if self._ordinary else np.arange(above.size)
        item, cell = np.divmod(places, max(1, m * n))
        row, column = np.divmod(cell, max(1, n))
        return self._recheck(
            above, places, rows[item, row], columns[item, column], threshold
        )

    def _compare(
        self, left: Any, right: Any, threshold: float, above: Bools, out: Any = None
    ) -> Ints:
        """Fill in which products are above, and return the flat places of what is unsure."""
        # BLAS may raise flags of numbers that are in no result
        with np.errstate(all="ignore"):
            product = np.matmul(left, right, out=out)
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
        for part in slices(len(some), _NUMBERS // max(1, self._units.shape[1])):
            codes = np.stack([rows[some[part]], columns[some[part]]])
            used, place = np.unique(codes, return_inverse=True)
            split = SplitVectors.of(self._vectors[used].astype(np.float64))
            left, right = place.reshape(codes.shape)
            exact[some[part]] = split[left, None].cosines(split[right, None])[:, 0, 0]
        above.ravel()[places] = exact > threshold
        return Decisions(above, places[is_close(exact, threshold)])
