"""Distances of chosen pairs of vectors, for when few of all pairs are needed.

Conventions
-----------
Float64 throughout, without gradients. Each item's distances are a product of its own shape,
whatever the block, and are rounded to 1e-12; vectors that nearly agree are subtracted before they
are squared. The last of these digits can differ from that of ``core.similarity.euclidean_table``,
and in torch, which chooses how to multiply by the number of items, from that of another block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.space import Space

__all__ = ["Euclidean"]

_CLOSE = 1e-6  # of the squared lengths
_DIGITS = 12
_NUMBERS = 1 << 16  # of gathered vectors at a time: they stay in a cache
_CELLS = 1 << 15  # distances at a time, for the same reason
_TORCH_NUMBERS = 1 << 24, 1 << 29  # of gathered vectors in torch on the processor; on a device


class Euclidean:
    """Distances of pairs of vectors, for when few of all pairs are needed.

    Parameters
    ----------
    vectors : array or torch tensor, shape (words, dimension)
        As the model gives them, not normalised.

    Examples
    --------
    >>> distances = Euclidean(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> distances(np.array([[0, 1]]), np.array([[1]])).tolist()
    [[[5.0], [0.0]]]
    """

    def __init__(self, vectors: Any) -> None:
        self.space = Space(vectors)
        self.vectors = self.space.array(vectors, "float64")
        self.squares = self.space.xp.einsum("ij,ij->i", self.vectors, self.vectors)

    def __len__(self) -> int:
        return len(self.vectors)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Distances of codes (items, m) and (items, n), of shape (items, m, n)."""
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        table, step = self._room(items, m, n)
        for start in range(0, items, step):
            part = slice(start, start + step)
            self._products(pred_codes[part], ref_codes[part], table[part])
            self._distances(table[part], pred_codes[part], ref_codes[part])
        return table

    def _room(self, items: int, m: int, n: int) -> tuple[Any, int]:
        """A table to be filled, and of how many items at a time."""
        if not self.space.torch:
            return np.empty((items, m, n)), max(1, _CELLS // max(1, m * n))
        numbers = _TORCH_NUMBERS[self.vectors.device.type != "cpu"]
        step = numbers // max(1, (m + n) * self.vectors.shape[1])
        return self.space.zeros(items, m, n), max(1, step)

    def _products(self, pred_codes: Any, ref_codes: Any, table: Any) -> None:
        """Write inner products into a table."""
        if self.space.torch:
            left, right = self.vectors[pred_codes], self.vectors[ref_codes]
            self.space.xp.matmul(left, right.swapaxes(1, 2), out=table)
            return
        (items, m), n = pred_codes.shape, ref_codes.shape[1]
        codes, dimension = np.concatenate([pred_codes, ref_codes], 1), self.vectors.shape[1]
        step = max(1, min(items, _NUMBERS // max(1, (m + n) * dimension)))
        taken = np.empty((step, m + n, dimension))  # the same memory for every step
        for start in range(0, items, step):
            part = codes[start : start + step]
            both = taken[: len(part)]
            self.vectors.take(part, 0, out=both, mode="wrap")  # "raise" would copy once more
            np.matmul(both[:, :m], both[:, m:].swapaxes(1, 2), out=table[start : start + step])

    def _distances(self, square: Any, pred_codes: Any, ref_codes: Any) -> Any:
        """Turn inner products into distances, in their place."""
        space, squares = self.space, self.squares
        square *= -2
        lengths = squares[pred_codes][:, :, None] + squares[ref_codes][:, None]
        square += lengths
        # few tables have any
        if 0 not in square.shape and square.min() < _CLOSE * lengths.max():
            item, row, column = space.xp.where(square < lengths * _CLOSE)
            apart = self.vectors[pred_codes[item, row]] - self.vectors[ref_codes[item, column]]
            square[item, row, column] = (apart * apart).sum(1)
        space.xp.sqrt(square, out=square)
        return space.xp.round(square, decimals=_DIGITS, out=square)
