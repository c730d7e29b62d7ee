"""Cosines and sums of vectors, on NumPy or torch.

Conventions
-----------
The input decides which library computes: arrays stay NumPy arrays, and tensors stay on their
device. Everything is computed in float64, without gradients. A zero vector has cosine 0 with every
vector.

A cosine has the same bits no matter which other cosines are computed with it. For that, vectors are
split into parts with so few bits that the sums of their products are exact in any order
(`SplitVectors`). Cosines are rounded to 1e-9, so that 0.6 is exactly 0.6.

References
----------
Ozaki, Ogita, Oishi, Rump, 2012, Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication, Numerical Algorithms 59.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.backend import Backend, is_torch
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.errors import InputError

_DECIMALS = 9  # of cosines
_MAX_NUMBER = 1e150  # squares of larger numbers may overflow
_MIN_LENGTH = 1e-140  # squares of the numbers of shorter vectors may underflow
_HIGH_SCALE = 2.0**26  # one over the last place of the upper parts
_LOW_SCALE = 2.0**46  # one over the last place of the lower parts

CLOSE = 1e-6
"""Distance to a threshold up to which a cosine counts as close."""


# ---- cosines ----------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class SplitVectors:
    """Vectors that are scaled to lengths below 1, with each number split into 26 and 20 bits.

    Products of such parts are integer multiples of one number, and their sums are below 2**53 times
    that number. Therefore neither the order of addition nor fused multiplication changes a bit. The
    bits left out are about 1e-14 of the product of the lengths.

    Attributes
    ----------
    high, low : float64 arrays or tensors, shape (..., n, d)
        The upper and the lower parts. At most 2**14 dimensions.
    lengths : float64 array or tensor, shape (..., n)
        The lengths of the scaled vectors.
    """

    high: Any
    low: Any
    lengths: Any

    @staticmethod
    def of(vectors: Any) -> SplitVectors:
        """Split the rows of a float64 array or tensor, shape (n, d)."""
        xp = _module(vectors)
        scaled = vectors / _power_above(abs(vectors).sum(1))[:, None]
        # The squares of the scaled numbers neither overflow nor underflow.
        scaled = scaled / _power_above(_lengths(scaled))[:, None]
        high = xp.round(scaled * _HIGH_SCALE) / _HIGH_SCALE
        low = xp.round((scaled - high) * _LOW_SCALE) / _LOW_SCALE
        squares = (high * high).sum(1) + 2 * (high * low).sum(1)
        return SplitVectors(high, low, xp.sqrt(squares))

    def __getitem__(self, rows: Any) -> SplitVectors:
        """Select vectors by number. The numbers may have any shape."""
        return SplitVectors(self.high[rows], self.low[rows], self.lengths[rows])

    def products(self, other: SplitVectors) -> Any:
        """Return the inner products of the scaled vectors, shape (..., n, m)."""
        other_high = other.high.swapaxes(-1, -2)
        other_low = other.low.swapaxes(-1, -2)
        table = self.low @ other_high
        table += self.high @ other_low
        table += self.high @ other_high
        return table

    def cosines(self, other: SplitVectors) -> Any:
        """Return the rounded cosines, shape (..., n, m)."""
        xp = _module(self.high)
        table = self.products(other)
        lengths = xp.where(self.lengths > 0, self.lengths, 1.0)
        other_lengths = xp.where(other.lengths > 0, other.lengths, 1.0)
        table /= lengths[..., :, None] * other_lengths[..., None, :]
        # Numbers slightly above 1 are rounded to 1.
        return xp.round(table, decimals=_DECIMALS, out=table)


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
    split_left = SplitVectors.of(_checked(left))
    split_right = SplitVectors.of(_checked(right))
    return split_left.cosines(split_right)


def paired_cosines(left: Any, right: Any) -> Any:
    """Return the rounded cosine of each row of one matrix with the same row of another.

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
    left_units = unit_rows(left)
    right_units = unit_rows(right)
    xp = _module(left_units)
    products = xp.einsum("ij,ij->i", left_units, right_units)
    return xp.round(products, decimals=_DECIMALS)


def is_close(cosines: Floats, threshold: float) -> Bools:
    """Return whether cosines are within 1e-6 of a threshold, and below 1.

    On another machine, vectors may be rounded differently, and such a cosine may lie on the other
    side of the threshold.

    Examples
    --------
    >>> is_close(np.array([0.3999999, 0.41, 1.0]), 0.4).tolist()
    [True, False, False]
    """
    return (abs(cosines - threshold) <= CLOSE) & (cosines < 1.0)


# ---- unit vectors and sums --------------------------------------------------


def unit_rows(vectors: Any) -> Any:
    """Divide rows by their Euclidean norms. Zero rows stay zero.

    Parameters
    ----------
    vectors : array or tensor, shape (n, d)

    Returns
    -------
    float64 array or tensor, shape (n, d)

    Raises
    ------
    InputError
        If a number is not finite or is too large.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    table = _checked(vectors)
    norms = _lengths(table)
    if (norms < _MIN_LENGTH).any():
        table = table / _power_above(abs(table).sum(1))[:, None]
        norms = _lengths(table)
    divisors = _module(table).where(norms == 0, 1.0, norms)
    return table / divisors[:, None]


def sum_vectors(vectors: Any, indptr: Ints, codes: Ints) -> Any:
    """Sum the vectors of each ragged row of codes.

    Parameters
    ----------
    vectors : float64 array or tensor, shape (n, d)
    indptr : int array, shape (rows + 1,)
    codes : int array
        Numbers of vectors.

    Returns
    -------
    float64 array or tensor, shape (rows, d)

    Examples
    --------
    >>> sum_vectors(np.eye(2), np.array([0, 2, 2]), np.array([0, 0])).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    backend = Backend(vectors)
    n_rows = len(indptr) - 1
    if backend.uses_torch:
        if not len(codes):
            return backend.zeros(n_rows, vectors.shape[1])
        return backend.xp.nn.functional.embedding_bag(
            backend.array(codes), vectors, backend.array(indptr[:-1]), mode="sum"
        )
    from scipy.sparse import csr_array

    ones = np.ones(len(codes))
    selection = csr_array((ones, codes, indptr), shape=(n_rows, len(vectors)))
    return selection @ vectors


# ---- helpers ----------------------------------------------------------------


def _checked(vectors: Any) -> Any:
    """Return vectors in float64. Raise an error for numbers that are not finite or too large."""
    if is_torch(vectors):
        table = vectors.detach().double()
    else:
        table = np.asarray(vectors, np.float64)
    is_valid = abs(table) <= _MAX_NUMBER
    if not is_valid.all():
        value = float(table[~is_valid][0])
        wanted = f"finite numbers up to {_MAX_NUMBER}"
        raise InputError(
            "out-of-range", role="a number of a vector", value=value, wanted=wanted
        )
    return table


def _module(values: Any) -> Any:
    """Return numpy or torch, for an array or a tensor."""
    return Backend(values).xp


def _lengths(table: Any) -> Any:
    """Return the Euclidean length of each row."""
    xp = _module(table)
    return xp.sqrt(xp.einsum("ij,ij->i", table, table))


def _power_above(sizes: Any) -> Any:
    """Return the least power of 2 above each size, or 1 for 0."""
    xp = _module(sizes)
    is_zero = sizes == 0
    fractions = xp.frexp(sizes)[0]  # in [0.5, 1)
    powers = sizes / xp.where(is_zero, 1.0, fractions)
    return xp.where(is_zero, 1.0, powers)
