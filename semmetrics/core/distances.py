"""Euclidean distances of chosen pairs of vectors, on NumPy or torch.

Conventions
-----------
Distances are computed in float64 and rounded to 1e-12. They do not depend on which items are
computed together. With NumPy, a distance follows from an inner product, and each item has a matrix
product of its own shape. Vectors that nearly agree are subtracted before they are squared. With
torch, all vectors are subtracted, because its matrix products depend on the number of items.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.backend import Backend
from semmetrics.core.ragged import Floats, slices

_DECIMALS = 12  # of distances
_NEARLY_EQUAL = 1e-6  # squared distance, relative to the squared lengths
_NUMBERS_PER_PRODUCT = 1 << 16  # of gathered vectors, which then stay in a cache
_DISTANCES_PER_BLOCK = 1 << 15  # which then stay in a cache
_TORCH_NUMBERS_PER_STEP = 1 << 24  # of gathered vectors: 128 MB of a device


class EuclideanDistances:
    """Euclidean distances of chosen pairs of vectors.

    Parameters
    ----------
    vectors : array or torch tensor, shape (words, dimension)
        As the model returns them, without normalisation.

    Attributes
    ----------
    backend : Backend
    vectors : float64 array or tensor, shape (words, dimension)

    Examples
    --------
    >>> distances = EuclideanDistances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> distances(np.array([[0, 1]]), np.array([[1]])).tolist()
    [[[5.0], [0.0]]]
    """

    def __init__(self, vectors: Any) -> None:
        self.backend = Backend(vectors)
        self.vectors = self.backend.array(vectors, "float64")
        if not self.backend.uses_torch:
            self._squares = np.einsum("ij,ij->i", self.vectors, self.vectors)

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return the distances between the vectors of each item.

        Parameters
        ----------
        pred_codes, ref_codes : int arrays or tensors, shapes (items, m) and (items, n)
            Numbers of vectors.

        Returns
        -------
        float64 array or tensor, shape (items, m, n)
        """
        n_items, m = pred_codes.shape
        n = ref_codes.shape[1]
        if self.backend.uses_torch:
            return self._subtract(pred_codes, ref_codes)
        table = np.empty((n_items, m, n))
        for items in slices(n_items, _DISTANCES_PER_BLOCK // max(1, m * n)):
            self._write_products(pred_codes[items], ref_codes[items], table[items])
            self._to_distances(table[items], pred_codes[items], ref_codes[items])
        return table

    def _subtract(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return distances with torch, computed from differences."""
        n_items, m = pred_codes.shape
        n = ref_codes.shape[1]
        table = self.backend.zeros(n_items, m, n)
        numbers_per_item = (m + n) * self.vectors.shape[1]
        step = _TORCH_NUMBERS_PER_STEP // max(1, numbers_per_item)
        for items in slices(n_items, step):
            table[items] = self.backend.xp.cdist(
                self.vectors[pred_codes[items]],
                self.vectors[ref_codes[items]],
                compute_mode="donot_use_mm_for_euclid_dist",
            )
        return self.backend.xp.round(table, decimals=_DECIMALS, out=table)

    def _write_products(self, pred_codes: Any, ref_codes: Any, table: Floats) -> None:
        """Write the inner products of the vectors of each item into a table."""
        n_items, m = pred_codes.shape
        codes = np.concatenate([pred_codes, ref_codes], 1)
        n_codes = codes.shape[1]
        dimension = self.vectors.shape[1]
        steps = slices(n_items, _NUMBERS_PER_PRODUCT // max(1, n_codes * dimension))
        # All steps use the same memory.
        buffer = np.empty((steps[0].stop, n_codes, dimension))
        for items in steps:
            vectors = buffer[: items.stop - items.start]
            # With the mode "raise", NumPy would make another copy.
            self.vectors.take(codes[items], 0, out=vectors, mode="wrap")
            pred_vectors = vectors[:, :m]
            ref_vectors = vectors[:, m:]
            np.matmul(pred_vectors, ref_vectors.swapaxes(1, 2), out=table[items])

    def _to_distances(self, table: Floats, pred_codes: Any, ref_codes: Any) -> None:
        """Replace inner products by distances, in place."""
        pred_squares = self._squares[pred_codes][:, :, None]
        ref_squares = self._squares[ref_codes][:, None]
        lengths = pred_squares + ref_squares
        table *= -2
        table += lengths
        # Most tables do not have vectors that nearly agree, which this test finds out quickly.
        if table.size and table.min() < _NEARLY_EQUAL * lengths.max():
            item, row, column = np.nonzero(table < lengths * _NEARLY_EQUAL)
            pred_vectors = self.vectors[pred_codes[item, row]]
            ref_vectors = self.vectors[ref_codes[item, column]]
            differences = pred_vectors - ref_vectors
            table[item, row, column] = (differences * differences).sum(1)
        np.sqrt(table, out=table)
        np.round(table, decimals=_DECIMALS, out=table)
