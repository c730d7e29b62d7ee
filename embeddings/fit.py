"""What words and pieces add to a longer text: a ridge regression on the sentence model's vectors.

The vector of a text of n entries is modelled as ``mean + sum(parts) / sqrt(n / 2)``. Texts to fit
are phrases and rare words of the vocabulary, cut as if they were no entries, nouns outside it, and
joined labels. A part starts as a share of its entry's own vector less the mean, and is drawn to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from semmetrics.embed.static import VECTOR_SHARE, Tokenizer

__all__ = ["bags", "fit_parts", "often"]

_RIDGE = 2.0
_STEPS = 40
#: A word has a part of its own where it occurs in this many of the texts.
_OFTEN = 2

Matrix = NDArray[np.float32]


def bags(tokenizer: Tokenizer, texts: Sequence[str]) -> sp.csr_array:
    """Texts as rows of entries, each text cut as if it were no entry, scaled by its length."""
    rows, columns, weights = [], [], []
    for row, text in enumerate(texts):
        own = tokenizer.numbers.pop(text, None)
        numbers = tokenizer(text)
        if own is not None:
            tokenizer.numbers[text] = own
        rows += [row] * len(numbers)
        columns += numbers
        weights += [1 / np.sqrt(max(len(numbers), 1) / 2)] * len(numbers)
    shape = (len(texts), len(tokenizer.numbers))
    return sp.csr_array((np.array(weights, np.float32), (rows, columns)), shape=shape)


def often(bag: sp.csr_array, entries: Sequence[str]) -> NDArray[np.bool_]:
    """Which entries have a part of their own: continuations, and words that occur often enough."""
    occurs = np.bincount(bag.indices, minlength=len(entries)) >= _OFTEN
    word = np.array([" " not in entry for entry in entries])
    continues = np.array([entry.startswith("##") for entry in entries])
    return (word & occurs) | continues


def fit_parts(
    bag: sp.csr_array, targets: Matrix, centred: Matrix, free: NDArray[np.bool_]
) -> Matrix:
    """Parts of the free entries, by conjugate gradients on the normal equations.

    Parameters
    ----------
    bag : sparse array, shape (texts, entries)
    targets : array, shape (texts, dimension)
        The sentence model's vectors less the mean.
    centred : array, shape (entries, dimension)
        The entries' own vectors less the mean.
    free : bool array, shape (entries,)

    Returns
    -------
    array, shape (free entries, dimension)
    """
    start = VECTOR_SHARE * centred
    design = sp.csr_array(bag[:, np.flatnonzero(free)])
    across = sp.csr_array(design.T)
    residual = across @ (targets - bag @ start)
    change, step = np.zeros_like(residual), residual.copy()
    squares = np.square(residual).sum(axis=0)
    for _ in range(_STEPS):
        image = across @ (design @ step) + _RIDGE * step
        length = squares / np.maximum((step * image).sum(axis=0), 1e-20)
        change += length * step
        residual -= length * image
        before, squares = squares, np.square(residual).sum(axis=0)
        step = residual + squares / np.maximum(before, 1e-20) * step
    return np.asarray(start[free] + change, np.float32)
