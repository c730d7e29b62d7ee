"""tf-idf vectors of captions over n-grams, and their products for given pairs.

Conventions
-----------
A caption's vector of one order has, for each n-gram, how often the caption holds it times the
n-gram's weight. Sums over n-grams are exact before one rounding, so that a value does not depend on
what other captions there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ngrams import NGrams
from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, runs_within, take_rows

__all__ = ["Vectors", "caption_lengths", "pair_cosines"]

# A squared weight is cut in two parts on grids so coarse that sums of them, each times a product of
# counts, stay whole multiples within 53 bits: exact for captions that hold a word up to 500 times.
_HIGH, _LOW = 2.0**24, 2.0**60
_CELLS = 1 << 20  # n-grams whose squares are held at a time


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of one order.

    Attributes
    ----------
    ngrams : NGrams
    weights : float array, shape (distinct n-grams,)
        Not negative.
    """

    ngrams: NGrams
    weights: Floats

    @cached_property
    def norms(self) -> Floats:
        """Euclidean lengths of the vectors, shape (texts,)."""
        ngrams = self.ngrams
        found = np.empty(len(ngrams.indptr) - 1)
        for rows in runs_within(ngrams.indptr, _CELLS):
            indptr = ngrams.indptr[rows.start : rows.stop + 1]
            flat = slice(indptr[0], indptr[-1])
            counts = ngrams.counts[flat].astype(np.int64)
            texts = row_numbers(indptr - indptr[0])
            found[rows] = self.sums(texts, ngrams.codes[flat], counts * counts, len(indptr) - 1)
        return np.sqrt(found, out=found)

    def squares(self, codes: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Squared weights of n-grams, as two parts whose sum they are."""
        squares = self.weights[codes] ** 2
        high = np.rint(squares * _HIGH) / _HIGH
        return high, np.rint((squares - high) * _LOW) / _LOW

    def sums(self, rows: Ints, codes: NDArray[np.integer], times: Ints, n_rows: int) -> Floats:
        """Sum over the n-grams of each row of times · weight²."""
        high, low = (np.bincount(rows, times * part, n_rows) for part in self.squares(codes))
        total: Floats = np.add(high, low)
        return total


def pair_cosines(
    vectors: Vectors, candidates: Ints, indptr: Ints, references: Ints, *, clip: bool
) -> Floats:
    """Cosine of the vectors of each candidate and its references; 0 where one of them is zero.

    Parameters
    ----------
    vectors : Vectors
    candidates : int array, shape (items,)
        Texts.
    indptr, references : int arrays, shapes (items + 1,) and (pairs,)
        The texts of each item's references.
    clip : bool
        An n-gram counts for the candidate at most as often as the reference holds it.

    Returns
    -------
    float array, shape (pairs,)
        In [0, 1].
    """
    ngrams, size = vectors.ngrams, len(vectors.ngrams)
    item = row_numbers(indptr)
    rows, mine = take_rows(ngrams.indptr, candidates)
    held = row_numbers(rows) * size + ngrams.codes[mine]
    rows, theirs = take_rows(ngrams.indptr, references)
    wanted = np.repeat(item * size, lengths(rows)) + ngrams.codes[theirs]
    place = np.searchsorted(held, wanted)
    both = np.flatnonzero(np.append(held, -1)[place] == wanted)
    theirs = theirs[both]
    hits, counts = (ngrams.counts[cells].astype(np.int64) for cells in (mine[place[both]], theirs))
    times = (np.minimum(hits, counts) if clip else hits) * counts
    pairs = np.searchsorted(rows, both, "right") - 1
    products = vectors.sums(pairs, ngrams.codes[theirs], times, len(references))
    norms = vectors.norms[candidates[item]] * vectors.norms[references]
    return np.where(norms > 0, products / np.where(norms > 0, norms, 1.0), 0.0)


def caption_lengths(indptr: Ints) -> Ints:
    """The length that the penalty compares: how many bigrams a caption has.

    Examples
    --------
    >>> caption_lengths(np.array([0, 0, 1, 6])).tolist()
    [0, 0, 4]
    """
    bigrams: Ints = np.maximum(np.diff(indptr) - 1, np.int64(0))
    return bigrams
