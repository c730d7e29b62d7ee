"""N-grams of coded texts, counted for all texts at once.

Conventions
-----------
Texts are ragged rows of token codes. An n-gram of each order has a code of its own, dense from 0;
equal n-grams have equal codes, whatever text they stand in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.keys import distinct
from semmetrics.core.ragged import Ints, lengths, offsets, row_numbers, runs_within

__all__ = ["NGrams", "count_ngrams"]

_BITS = 63  # of a number that is not negative
_SMALL = 1 << 30  # numbers up to this have 32 bits
_CELLS = 1 << 20  # n-grams counted at a time


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

    Codes, counts and places have 32 bits, and 64 only where there are more than 2³⁰ tokens.
    """

    order: int
    indptr: Ints
    codes: NDArray[np.integer]
    counts: NDArray[np.integer]
    places: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def totals(self) -> Ints:
        """How many n-grams each text has, shape (texts,)."""
        found, some = np.zeros(len(self.indptr) - 1, np.int64), lengths(self.indptr) > 0
        if some.any():
            found[some] = np.add.reduceat(self.counts, self.indptr[:-1][some], dtype=np.int64)
        return found

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
    small = _places(len(codes))
    text = row_numbers(indptr).astype(small)
    starts = np.arange(len(codes), dtype=small)
    numbers = np.zeros(len(codes), small)  # there is one n-gram of no token
    width = int(codes.max(initial=0)) + 1
    found = []
    for order in range(1, orders + 1):
        inside = starts + order <= indptr[1:][text]
        starts, text, numbers = starts[inside], text[inside], numbers[inside]
        grams = numbers.astype(np.int64) * width + codes[starts + (order - 1)]
        numbers, places = _dense(grams, starts)
        del grams  # not needed beside what is made next
        rows = offsets(np.bincount(text, minlength=len(indptr) - 1))
        found.append(NGrams(order, *_counted(rows, numbers, len(places)), places))
    return found


def _places(size: int) -> type[np.signedinteger[Any]]:
    """A type of integers for numbers of that size."""
    return np.int32 if size <= _SMALL else np.int64


def _dense(grams: Ints, starts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes from 0 in the order of the keys, and a place where each occurs."""
    ordered, order = _sorted(grams)
    new = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    del ordered
    dense = np.empty(len(order), starts.dtype)
    dense[order] = np.cumsum(new, dtype=starts.dtype) - 1
    return dense, starts[order[new]]


def _sorted(keys: Ints) -> tuple[Ints, NDArray[Any]]:
    """Keys that are not negative, rising, and where each stood."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _BITS:
        order = np.argsort(keys)  # not stable, which would take longer
        return keys[order], order
    # key and place in one number: several times faster than an order
    both = keys << bits
    both |= np.arange(len(keys))
    both.sort()
    return both >> bits, (both & ((1 << bits) - 1)).astype(_places(len(keys)))


def _counted(
    indptr: Ints, codes: NDArray[Any], size: int
) -> tuple[Ints, NDArray[Any], NDArray[Any]]:
    """Offsets, the distinct codes of each row and their counts, some rows at a time."""
    widths, done = [np.zeros(0, np.int64)], 0
    held = np.empty((2, len(codes)), codes.dtype)  # what is not filled takes no memory
    for rows in runs_within(indptr, _CELLS):
        some = indptr[rows.start : rows.stop + 1]
        flat = codes[some[0] : some[-1]]
        part, cells, counts = distinct(some - some[0], flat, max(1, size))
        widths.append(lengths(part))
        held[:, done : done + len(cells)] = cells, counts
        done += len(cells)
    return offsets(np.concatenate(widths)), *held[:, :done]
