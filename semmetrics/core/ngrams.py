"""N-grams of coded texts, counted for all texts at once.

Conventions
-----------
Texts are ragged rows of token codes. An n-gram of each order has a code of its own, dense from 0;
equal n-grams have equal codes, whatever text they stand in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.keys import distinct
from semmetrics.core.ragged import Ints, offsets, row_numbers

__all__ = ["NGrams", "count_ngrams"]


@dataclass(frozen=True, eq=False)
class NGrams:
    """How often each text has each n-gram of one order.

    Attributes
    ----------
    order : int
    indptr : int array, shape (texts + 1,)
    codes : int array, shape (cells,)
        The distinct n-grams of each text, rising.
    counts : int array, shape (cells,)
        How often the text has them, at least 1.
    places : int array, shape (distinct n-grams,)
        Where in the flat tokens one occurrence of each n-gram begins.
    """

    order: int
    indptr: Ints
    codes: Ints
    counts: Ints
    places: Ints

    def __len__(self) -> int:
        return len(self.places)

    def tokens(self, flat: NDArray[Any]) -> NDArray[Any]:
        """The tokens of each distinct n-gram, shape (distinct n-grams, order)."""
        words: NDArray[Any] = flat[self.places[:, None] + np.arange(self.order)]
        return words


def count_ngrams(indptr: Ints, codes: NDArray[np.integer], orders: int = 4) -> list[NGrams]:
    """Count the n-grams of orders 1 to ``orders``.

    Parameters
    ----------
    indptr : int array, shape (texts + 1,)
    codes : int array, shape (tokens,)
        Not negative.
    orders : int

    Returns
    -------
    list of NGrams

    Examples
    --------
    >>> unigrams, bigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 8, 7, 8, 7]), 2)
    >>> unigrams.codes.tolist(), unigrams.counts.tolist()
    ([0, 1, 0, 1], [2, 1, 1, 1])
    >>> bigrams.tokens(np.array([7, 8, 7, 8, 7])).tolist()
    [[7, 8], [8, 7]]
    """
    ends, text = indptr[1:], row_numbers(indptr)
    starts = np.arange(len(codes))
    grams, width = np.asarray(codes, np.int64), int(codes.max(initial=0)) + 1
    found = []
    for order in range(1, orders + 1):
        if order > 1:
            inside = starts + order <= ends[text[starts]]
            starts = starts[inside]
            grams = grams[inside] * width + codes[starts + order - 1]
        grams, places = _dense(grams, starts)
        found.append(_counted(order, text[starts], grams, places, len(ends)))
    return found


def _dense(grams: Ints, starts: Ints) -> tuple[Ints, Ints]:
    """Codes from 0 in the order of the keys, and a place where each occurs."""
    order = np.argsort(grams)  # not stable, which would take longer
    ordered = grams[order]
    new = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    dense = np.empty(len(order), np.int64)
    dense[order] = np.cumsum(new) - 1
    return dense, starts[order[new]]


def _counted(order: int, text: Ints, grams: Ints, places: Ints, n_texts: int) -> NGrams:
    indptr, codes, counts = distinct(_ends(text, n_texts), grams, max(1, len(places)))
    return NGrams(order, indptr, codes, counts, places)


def _ends(text: Ints, n_texts: int) -> Ints:
    """Offsets of rows from the row of each element, rising."""
    return offsets(np.bincount(text, minlength=n_texts))
