"""Distances of chosen pairs of vectors, for when few of all pairs are needed.

Conventions
-----------
Float64 throughout. Each item's distances are a product of its own shape, whatever the block, and
are rounded to 1e-12, so that they agree with ``core.similarity.euclidean_table``; vectors that
nearly agree are subtracted before they are squared.
"""

from __future__ import annotations

from typing import Any

from semmetrics.core.space import Space

__all__ = ["Euclidean"]

_CLOSE = 1e-6  # of the squared lengths
_DIGITS = 12
_NUMBERS = 1 << 17  # of gathered vectors at a time: they stay in a cache


class Euclidean:
    """Distances of pairs of vectors, for when few of all pairs are needed.

    Parameters
    ----------
    vectors : array or torch tensor, shape (words, dimension)
        As the model gives them, not normalised.

    Examples
    --------
    >>> import numpy as np
    >>> distances = Euclidean(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> distances(np.array([[0, 1]]), np.array([[1]])).tolist()
    [[[5.0], [0.0]]]
    """

    def __init__(self, vectors: Any) -> None:
        self.space = Space(vectors)
        self.vectors = self.space.array(vectors, "float64")
        self.squares = (self.vectors * self.vectors).sum(1)

    def __len__(self) -> int:
        return len(self.vectors)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Distances of codes (items, m) and (items, n), of shape (items, m, n)."""
        items, width = len(pred_codes), pred_codes.shape[1] + ref_codes.shape[1]
        table = self.space.zeros(items, pred_codes.shape[1], ref_codes.shape[1])
        step = max(1, _NUMBERS // max(1, width * self.vectors.shape[1]))
        for start in range(0, items, step):
            part = slice(start, start + step)
            table[part] = self._block(pred_codes[part], ref_codes[part])
        return table

    def _block(self, pred_codes: Any, ref_codes: Any) -> Any:
        mine, theirs = self.vectors[pred_codes], self.vectors[ref_codes]
        squares = self.squares[pred_codes][:, :, None] + self.squares[ref_codes][:, None]
        table = squares - 2 * (mine @ theirs.swapaxes(1, 2))
        near = table < _CLOSE * squares
        if near.any():
            item, row, column = self.space.xp.where(near)
            apart = self.vectors[pred_codes[item, row]] - self.vectors[ref_codes[item, column]]
            table[item, row, column] = (apart * apart).sum(1)
        return self.space.xp.round(self.space.xp.sqrt(table), decimals=_DIGITS)
