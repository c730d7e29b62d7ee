"""The similarity core: normalised rows, cosine and Euclidean tables, top-k, on numpy or torch.

Conventions
-----------
The backend is that of the input: numpy arrays stay numpy, torch tensors stay where they are. Torch
is used only where it is loaded already.

Everything is computed in float64. A value of a table has the same bits in whatever table it is
computed: vectors are cut into parts so short that sums of their products are exact in any order
(`Parts`). Cosines are rounded to 1e-9, so that 0.6 is 0.6, and distances to 1e-12. The blocks of
``cosine_blocks`` are one plain product each, rounded the same way: there a last digit can depend
on the block.

A zero vector has cosine 0 with every vector. Squared distances are clamped at 0 before the root.
Gradients are not followed: rounding has none.

References
----------
Ozaki, Ogita, Oishi, Rump, 2012, Error-free transformations of matrix multiplication by using fast
routines of matrix multiplication, Numerical Algorithms 59.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.errors import InputError

__all__ = [
    "Parts",
    "cosine_blocks",
    "cosine_table",
    "euclidean_table",
    "is_torch",
    "top_k",
    "unit_rows",
]

_DECIMALS = 9  # of cosines
_PLACES = 32  # bits of a row's number beside a cosine
_DIGITS = 12  # decimals of distances
_MEMORY = 1 << 28
_MOST = 1e150  # larger numbers have squares that are not finite
_SMALL = 1e-140  # numbers of shorter vectors have squares that vanish
_HIGH, _LOW = 2.0**26, 2.0**46  # one over the last place of each part
_NEAR = 1e-4  # of the squared lengths: below it, vectors are subtracted first
_NUMBERS = 1 << 20  # in the differences of near pairs that are there at a time


def is_torch(values: Any) -> bool:
    """Whether it is a torch tensor; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def _checked(vectors: Any) -> Any:
    """As a float64 matrix of its own backend."""
    table = vectors.detach().double() if is_torch(vectors) else np.asarray(vectors, np.float64)
    if table.ndim != 2:
        raise InputError(f"vectors have shape {tuple(table.shape)}", remedy="give rows of numbers")
    if not (abs(table) <= _MOST).all():
        raise InputError(
            f"a vector holds a number that is not finite, or beyond {_MOST}",
            remedy="check the model",
        )
    return table


def _checked_sides(left: Any, right: Any) -> tuple[Any, Any]:
    if is_torch(left) != is_torch(right):
        raise InputError(
            "one side is a torch tensor, the other is not", remedy="give both sides as one kind"
        )
    mine, theirs = _checked(left), _checked(right)
    if mine.shape[1] != theirs.shape[1]:
        raise InputError(
            f"vectors have {mine.shape[1]} and {theirs.shape[1]} numbers",
            remedy="embed both sides with one model",
        )
    return mine, theirs


@dataclass(frozen=True, eq=False)
class Parts:
    """Vectors scaled to lengths below 1, each number cut into 26 bits and the next 20.

    Products of such parts are whole multiples of one number, and their sums below 2**53 of it: no
    order of adding them, and no fused multiplication, changes a bit. What is left out is some
    1e-14 of the product of the lengths.

    Attributes
    ----------
    high, low : float64 arrays or tensors, shape (..., n, d)
        With at most 2**14 dimensions.
    scales : float64 array or tensor, shape (..., n)
        The powers of 2 that the vectors were divided by.
    lengths : float64 array or tensor, shape (..., n)
        After that.
    """

    high: Any
    low: Any
    scales: Any
    lengths: Any

    @staticmethod
    def of(vectors: Any) -> Parts:
        """The parts of float64 rows, shape (n, d)."""
        xp = _module(vectors)
        first = _power_above(abs(vectors).sum(1))  # now squares neither overflow nor vanish
        scaled = vectors / first[:, None]
        second = _power_above(xp.sqrt(xp.einsum("ij,ij->i", scaled, scaled)))
        scaled = scaled / second[:, None]
        high = xp.round(scaled * _HIGH) / _HIGH
        low = xp.round((scaled - high) * _LOW) / _LOW
        squares = (high * high).sum(1) + 2 * (high * low).sum(1)
        return Parts(high, low, first * second, xp.sqrt(squares))

    def __getitem__(self, rows: Any) -> Parts:
        """Some of the vectors, or a table of them."""
        return Parts(self.high[rows], self.low[rows], self.scales[rows], self.lengths[rows])

    def dots(self, other: Parts) -> Any:
        """Products of the scaled vectors, shape (..., n, m)."""
        high, low = other.high.swapaxes(-1, -2), other.low.swapaxes(-1, -2)
        table = self.low @ high
        table += self.high @ low
        table += self.high @ high
        return table

    def cosines(self, other: Parts) -> Any:
        """Cosines, rounded, shape (..., n, m)."""
        table, xp = self.dots(other), _module(self.high)
        mine, theirs = (xp.where(s.lengths > 0, s.lengths, 1.0) for s in (self, other))
        table /= mine[..., :, None] * theirs[..., None, :]
        return _rounded(table)


def _module(values: Any) -> Any:
    return sys.modules["torch"] if is_torch(values) else np


def _power_above(sizes: Any) -> Any:
    """The least power of 2 above each size; 1 for 0."""
    xp = _module(sizes)
    nothing = sizes == 0
    return xp.where(nothing, 1.0, sizes / xp.where(nothing, 1.0, xp.frexp(sizes)[0]))


def unit_rows(vectors: Any) -> Any:
    """Rows divided by their Euclidean norm; zero rows stay zero.

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
    norms = _norms(table)
    if (norms < _SMALL).any():
        table = table / _power_above(abs(table).sum(1))[:, None]
        norms = _norms(table)
    return table / _module(table).where(norms == 0, 1.0, norms)[:, None]


def _norms(table: Any) -> Any:
    if is_torch(table):
        return (table * table).sum(1).sqrt()
    return np.sqrt(np.einsum("ij,ij->i", table, table))


def cosine_table(left: Any, right: Any) -> Any:
    """Cosine of every row of one matrix with every row of another.

    Parameters
    ----------
    left, right : arrays or tensors, shapes (n, d) and (m, d)

    Returns
    -------
    float64 array or tensor, shape (n, m), in [-1, 1]

    Raises
    ------
    InputError
        If the vectors have different lengths, or are not finite.

    Examples
    --------
    >>> cosine_table(np.array([[2.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])).round(4).tolist()
    [[1.0, 0.7071]]
    """
    mine, theirs = _checked_sides(left, right)
    return Parts.of(mine).cosines(Parts.of(theirs))


def _rounded(table: Any) -> Any:
    """In its place; what exceeds 1 by the last digits becomes 1."""
    return _module(table).round(table, decimals=_DECIMALS, out=table)


def cosine_blocks(left: Any, right: Any, *, memory: int = _MEMORY) -> Iterator[tuple[int, Any]]:
    """Rows of the cosine table in blocks of at most that many bytes, each with its first row.

    Examples
    --------
    >>> rows = np.eye(3)
    >>> [(start, block.shape) for start, block in cosine_blocks(rows, rows, memory=48)]
    [(0, (2, 3)), (2, (1, 3))]
    """
    mine, theirs = map(unit_rows, _checked_sides(left, right))
    step = max(1, memory // (8 * max(1, len(theirs))))
    for start in range(0, len(mine), step):
        yield start, _rounded(mine[start : start + step] @ theirs.T)


def top_k(left: Any, right: Any, k: int, *, memory: int = _MEMORY) -> tuple[Any, Any]:
    """The k most similar rows of the right matrix for each row of the left one.

    Parameters
    ----------
    left, right : arrays or tensors, shapes (n, d) and (m, d)
    k : int
        At most m.
    memory : int
        Bytes of the table that are there at a time.

    Returns
    -------
    cosines, positions : arrays or tensors, shape (n, k)
        Those of ``cosine_table``, falling; equal cosines by rising position.

    Raises
    ------
    InputError
        If k is not between 1 and m.

    Examples
    --------
    >>> cosines, rows = top_k(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]), 1)
    >>> cosines.tolist(), rows.tolist()
    ([[1.0]], [[1]])
    """
    if not 1 <= k <= len(right):
        raise InputError(f"k={k} for {len(right)} rows", remedy="choose k from 1 to their number")
    mine, theirs = map(Parts.of, _checked_sides(left, right))
    starts = range(0, max(1, len(mine.high)), max(1, memory // (8 * len(right))))
    parts = [_best(mine[start : start + starts.step].cosines(theirs), k) for start in starts]
    values, places = zip(*parts, strict=True)
    if is_torch(values[0]):
        torch = sys.modules["torch"]
        return torch.cat(values), torch.cat(places)
    return np.concatenate(values), np.concatenate(places)


def _best(block: Any, k: int) -> tuple[Any, Any]:
    """By whole numbers that hold a rounded cosine and, below it, its place."""
    if is_torch(block):
        torch = sys.modules["torch"]
        keys = (block * -(10.0**_DECIMALS)).round().long() << _PLACES
        keys += torch.arange(block.shape[1], device=block.device)
        places = keys.topk(k, dim=1, largest=False).values & ((1 << _PLACES) - 1)
        return block.gather(1, places), places
    keys = np.rint(block * -(10.0**_DECIMALS)).astype(np.int64) << _PLACES
    keys += np.arange(block.shape[1])
    keys.partition(k - 1, axis=1)
    places = np.sort(keys[:, :k], axis=1) & ((1 << _PLACES) - 1)
    return np.take_along_axis(block, places, axis=1), places


def euclidean_table(left: Any, right: Any) -> Any:
    """Euclidean distance of every row of one matrix from every row of another.

    Parameters
    ----------
    left, right : arrays or tensors, shapes (n, d) and (m, d)
        As the model gives them, not normalised.

    Returns
    -------
    float64 array or tensor, shape (n, m)
        Exactly 0 for rows that are equal.

    Raises
    ------
    InputError
        If the vectors have different lengths, or are not finite.

    Examples
    --------
    >>> euclidean_table(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[5.0, 0.0]]
    """
    mine, theirs = _checked_sides(left, right)
    rows, columns = Parts.of(mine), Parts.of(theirs)
    table = rows.dots(columns)
    table *= -2.0 * rows.scales[:, None] * columns.scales
    squares = ((rows.lengths * rows.scales) ** 2)[:, None] + (columns.lengths * columns.scales) ** 2
    table += squares
    xp = _module(table)
    near = xp.where(table < _NEAR * squares)
    table = xp.sqrt(xp.clip(table, 0.0, None))
    step = max(1, _NUMBERS // max(1, mine.shape[1]))
    for start in range(0, len(near[0]), step):  # their difference is exact, their squares are not
        row, column = (places[start : start + step] for places in near)
        apart = mine[row] - theirs[column]
        table[row, column] = xp.sqrt((apart * apart).sum(1))
    return xp.round(table, decimals=_DIGITS)
