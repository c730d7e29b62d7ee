"""tf-idf vectors of captions over n-grams, and their products for given pairs.

Conventions
-----------
A caption's vector of one order has, for each n-gram, how often the caption holds it times the
n-gram's weight. Sums over n-grams are exact before one rounding, so that a value does not depend on
what other captions there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semmetrics.core.ngrams import NGrams
from semmetrics.core.ragged import Floats, Ints, row_numbers, take_rows

__all__ = ["Vectors", "caption_lengths", "pair_cosines", "vectors_of"]

# A squared weight is cut in two parts on grids so coarse that sums of them, each times a product of
# counts, stay whole multiples within 53 bits: exact for captions that hold a word up to 500 times.
_HIGH, _LOW = 2.0**24, 2.0**60


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of one order.

    Attributes
    ----------
    ngrams : NGrams
    squares : pair of float arrays, shape (distinct n-grams,)
        Squared weights, as the sum of two parts.
    norms : float array, shape (texts,)
        Euclidean lengths of the vectors.
    cells : int array, shape (cells,)
        Text and n-gram of each count as one number, rising.
    """

    ngrams: NGrams
    squares: tuple[Floats, Floats]
    norms: Floats
    cells: Ints

    @property
    def square(self) -> Floats:
        """Squared weights, shape (distinct n-grams,)."""
        return self.squares[0] + self.squares[1]

    def sums(self, rows: Ints, codes: Ints, times: Ints, n_rows: int) -> Floats:
        """Sum over the n-grams of each row of times · weight²."""
        high, low = (np.bincount(rows, times * part[codes], n_rows) for part in self.squares)
        total: Floats = np.add(high, low)
        return total


def vectors_of(ngrams: NGrams, weights: Floats) -> Vectors:
    """The vectors of all captions of a table.

    Parameters
    ----------
    ngrams : NGrams
    weights : float array, shape (distinct n-grams,)
        Not negative.
    """
    squares = weights * weights
    high = np.rint(squares * _HIGH) / _HIGH
    low = np.rint((squares - high) * _LOW) / _LOW
    texts = row_numbers(ngrams.indptr)
    cells = texts * max(1, len(ngrams)) + ngrams.codes
    made = Vectors(ngrams, (high, low), np.zeros(0), cells)
    sums = made.sums(texts, ngrams.codes, ngrams.counts**2, len(ngrams.indptr) - 1)
    return Vectors(ngrams, (high, low), np.sqrt(sums), cells)


def pair_cosines(vectors: Vectors, candidates: Ints, references: Ints, *, clip: bool) -> Floats:
    """Cosine of the vectors of each pair of texts; 0 where one of them is zero.

    Parameters
    ----------
    vectors : Vectors
    candidates, references : int arrays, shape (pairs,)
        Texts.
    clip : bool
        An n-gram counts for the candidate at most as often as the reference holds it.

    Returns
    -------
    float array, shape (pairs,)
        In [0, 1].
    """
    ngrams = vectors.ngrams
    indptr, theirs = take_rows(ngrams.indptr, references)
    pairs = row_numbers(indptr)
    codes = ngrams.codes[theirs]
    wanted = candidates[pairs] * max(1, len(ngrams)) + codes
    mine = np.minimum(np.searchsorted(vectors.cells, wanted), len(vectors.cells) - 1)
    both = np.flatnonzero(vectors.cells[mine] == wanted) if len(wanted) else theirs
    hits, counts = ngrams.counts[mine[both]], ngrams.counts[theirs[both]]
    times = (np.minimum(hits, counts) if clip else hits) * counts
    products = vectors.sums(pairs[both], codes[both], times, len(candidates))
    lengths = vectors.norms[candidates] * vectors.norms[references]
    return np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1.0), 0.0)


def caption_lengths(indptr: Ints) -> Ints:
    """The length that the penalty compares: how many bigrams a caption has.

    Examples
    --------
    >>> caption_lengths(np.array([0, 0, 1, 6])).tolist()
    [0, 0, 4]
    """
    bigrams: Ints = np.maximum(np.diff(indptr) - 1, np.int64(0))
    return bigrams
