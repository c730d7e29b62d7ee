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
are rounded to 1e-12. Vectors that nearly agree are subtracted before they are squared. Torch
chooses how to multiply by the number of items, so there a last digit can depend on the block.

References
----------
Ozaki, Ogita, Oishi, Rump, 2012, Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication, Numerical Algorithms 59.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.backend import Backend, is_torch
from semmetrics.core.ragged import Ints
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass

__all__ = [
    "EuclideanDistances",
    "SplitVectors",
    "cosine_table",
    "paired_cosines",
    "sum_vectors",
    "unit_rows",
]

_DECIMALS = 9  # of cosines
_DISTANCE_DECIMALS = 12
_LARGEST = 1e150  # larger numbers have squares that are not finite
_SMALL = 1e-140  # numbers of shorter vectors have squares that vanish
_HIGH, _LOW = 2.0**26, 2.0**46  # one over the last place of each part
_NEAR = 1e-6  # of the squared lengths: below it, vectors are subtracted first
_GATHERED = 1 << 16  # numbers of gathered vectors at a time: they stay in a cache
_CELLS = 1 << 15  # distances at a time, for the same reason
_TORCH_GATHERED = 1 << 24, 1 << 29  # the same in torch on the processor, and on a device


def _checked(vectors: Any) -> Any:
    """Return vectors as a float64 matrix of their own backend."""
    table = vectors.detach().double() if is_torch(vectors) else np.asarray(vectors, np.float64)
    if table.ndim != 2:
        raise InputError(f"vectors have shape {tuple(table.shape)}", remedy="give rows of numbers")
    if not (abs(table) <= _LARGEST).all():
        raise InputError(
            f"a vector holds a number that is not finite, or beyond {_LARGEST}",
            remedy="check the model",
        )
    return table


@dataclass(frozen=True, eq=False)
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
        return xp.round(table, decimals=_DECIMALS, out=table)  # what exceeds 1 becomes 1


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
        self.squares = self.backend.xp.einsum("ij,ij->i", self.vectors, self.vectors)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return the distances of codes (items, m) and (items, n), shape (items, m, n)."""
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        table, step = self._allocate(items, m, n)
        for start in range(0, items, step):
            part = slice(start, start + step)
            self._products(pred_codes[part], ref_codes[part], table[part])
            self._to_distances(table[part], pred_codes[part], ref_codes[part])
        return table

    def _allocate(self, items: int, m: int, n: int) -> tuple[Any, int]:
        """Return an empty table, and how many items to fill at a time."""
        if not self.backend.torch:
            return np.empty((items, m, n)), max(1, _CELLS // max(1, m * n))
        numbers = _TORCH_GATHERED[not self.backend.on_cpu]
        step = numbers // max(1, (m + n) * self.vectors.shape[1])
        return self.backend.zeros(items, m, n), max(1, step)

    def _products(self, pred_codes: Any, ref_codes: Any, table: Any) -> None:
        """Write inner products into a table."""
        if self.backend.torch:
            left, right = self.vectors[pred_codes], self.vectors[ref_codes]
            self.backend.xp.matmul(left, right.swapaxes(1, 2), out=table)
            return
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        codes, dimension = np.concatenate([pred_codes, ref_codes], 1), self.vectors.shape[1]
        step = max(1, min(items, _GATHERED // max(1, (m + n) * dimension)))
        taken = np.empty((step, m + n, dimension))  # the same memory for every step
        for start in range(0, items, step):
            part = codes[start : start + step]
            both = taken[: len(part)]
            self.vectors.take(part, 0, out=both, mode="wrap")  # "raise" would copy once more
            np.matmul(both[:, :m], both[:, m:].swapaxes(1, 2), out=table[start : start + step])

    def _to_distances(self, square: Any, pred_codes: Any, ref_codes: Any) -> None:
        """Turn inner products into distances in place."""
        xp, squares = self.backend.xp, self.squares
        square *= -2
        lengths = squares[pred_codes][:, :, None] + squares[ref_codes][:, None]
        square += lengths
        # few tables hold vectors that nearly agree
        if 0 not in square.shape and square.min() < _NEAR * lengths.max():
            item, row, column = xp.where(square < lengths * _NEAR)
            apart = self.vectors[pred_codes[item, row]] - self.vectors[ref_codes[item, column]]
            square[item, row, column] = (apart * apart).sum(1)
        xp.sqrt(square, out=square)
        xp.round(square, decimals=_DISTANCE_DECIMALS, out=square)
