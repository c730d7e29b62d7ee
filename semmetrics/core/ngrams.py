"""N-grams of coded texts, counted for all texts at once, and longest common subsequences.

Conventions
-----------
Texts are ragged rows of token codes. An n-gram of each order has a code of its own, dense from 0;
equal n-grams have equal codes, whatever text they stand in.

In a table of n-grams every row is one of them, its tokens coded from 0 below ``width``. Rows are
compared two columns at a time, so that long n-grams of large codes do not overflow.

For common subsequences one bit stands for one token of a pattern; it is 0 once the longest common
subsequence grows at that token (Hyyrö 2004; Crochemore et al. 2001). A pair costs the length of one
text times the number of machine words that hold the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Ints

_BITS = 63  # of a number that is not negative
_SMALL = 1 << 30  # numbers up to this have 32 bits
_CELLS = 1 << 20  # n-grams counted at a time


@dataclass(frozen=True, eq=False, repr=False)
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
        """Return how many n-grams each text has, shape (texts,)."""
        found, some = (
            np.zeros(len(self.indptr) - 1, np.int64),
            ragged.lengths(self.indptr) > 0,
        )
        if some.any():
            found[some] = np.add.reduceat(
                self.counts, self.indptr[:-1][some], dtype=np.int64
            )
        return found

    def tokens(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return the tokens of each distinct n-gram, shape (distinct n-grams, order)."""
        words: NDArray[Any] = flat[self.places[:, None] + np.arange(self.order)]
        return words


def count_ngrams(
    indptr: Ints, codes: NDArray[np.integer], orders: int = 4
) -> list[NGrams]:
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
    text = ragged.row_numbers(indptr).astype(small)
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
        rows = ragged.offsets(np.bincount(text, minlength=len(indptr) - 1))
        found.append(NGrams(order, *_count(rows, numbers, len(places)), places))
    return found


def _places(size: int) -> type[np.signedinteger[Any]]:
    """Return an integer type for numbers of that size."""
    return np.int32 if size <= _SMALL else np.int64


def _dense(grams: Ints, starts: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return codes from 0 in the order of the keys, and a place where each occurs."""
    ordered, order = _sorted(grams)
    new = ragged.starts_run(ordered)
    del ordered
    dense = np.empty(len(order), starts.dtype)
    dense[order] = np.cumsum(new, dtype=starts.dtype) - 1
    return dense, starts[order[new]]


def _sorted(keys: Ints) -> tuple[Ints, NDArray[Any]]:
    """Sort keys that are not negative; return them and where each stood."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > _BITS:
        order = np.argsort(keys)  # not stable, which would take longer
        return keys[order], order
    # key and place in one number: several times faster than an order
    both = keys << bits
    both |= np.arange(len(keys))
    both.sort()
    return both >> bits, (both & ((1 << bits) - 1)).astype(_places(len(keys)))


def _count(
    indptr: Ints, codes: NDArray[Any], size: int
) -> tuple[Ints, NDArray[Any], NDArray[Any]]:
    """Return offsets, the distinct codes of each row and their counts, some rows at a time."""
    widths, done = [np.zeros(0, np.int64)], 0
    filled = np.empty((2, len(codes)), codes.dtype)  # unused cells take no memory
    for rows in ragged.runs_within(indptr, _CELLS):
        some = indptr[rows.start : rows.stop + 1]
        flat = codes[some[0] : some[-1]]
        part, cells, counts = ragged.distinct_codes(some - some[0], flat, max(1, size))
        widths.append(ragged.lengths(part))
        filled[:, done : done + len(cells)] = cells, counts
        done += len(cells)
    return ragged.offsets(np.concatenate(widths)), *filled[:, :done]


def find_rows(
    table: NDArray[np.integer], asked: NDArray[np.integer], width: int
) -> Ints:
    """Find each row asked for in a table of distinct rows; -1 where it is not there.

    Parameters
    ----------
    table : int array, shape (rows, length)
    asked : int array, shape (asked, length)
        A negative code is in no row of the table.
    width : int

    Examples
    --------
    >>> find_rows(np.array([[0, 2], [1, 1]]), np.array([[1, 1], [2, 0], [-1, 2]]), 3).tolist()
    [1, -1, -1]
    """
    if not len(table):
        return np.full(len(asked), -1)
    number, wanted = table[:, 0].astype(np.int64), asked[:, 0].astype(np.int64)
    for column, asks in zip(table.T[1:], asked.T[1:], strict=True):
        keys, number = _numbered(number * width + column)
        wanted = _find(
            keys, np.where((wanted >= 0) & (asks >= 0), wanted * width + asks, -1)
        )
    keys, first = np.unique(number, return_index=True)
    place = _find(keys, wanted)
    return np.where(place >= 0, first[place], -1)


def sum_equal_rows(
    rows: NDArray[np.integer], counts: Ints, width: int
) -> tuple[NDArray[np.integer], Ints]:
    """Return the distinct rows, in the order of their first places, and the sum of counts of each.

    Examples
    --------
    >>> rows, counts = sum_equal_rows(np.array([[1, 2], [0, 1], [1, 2]]), np.array([3, 4, 5]), 3)
    >>> rows.tolist(), counts.tolist()
    ([[1, 2], [0, 1]], [8, 4])
    """
    number = rows[:, 0].astype(np.int64)
    for column in rows.T[1:]:
        _, number = _numbered(number * width + column)
    _, first, same = np.unique(number, return_index=True, return_inverse=True)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, same.ravel(), counts)
    order = np.argsort(first, kind="stable")
    return rows[first[order]], total[order]


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    distinct, number = np.unique(keys, return_inverse=True)
    return distinct, number.ravel()


def _find(keys: Ints, wanted: Ints) -> Ints:
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


Words = NDArray[np.uint64]

_WORD = 64
# of each byte
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
_MASKS = (
    4096  # masks of tokens kept at a time, each of one bit for a token of the pattern
)


def lcs_lengths(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> Ints:
    """Return the length of the longest common subsequence of pairs of texts.

    Parameters
    ----------
    indptr : int array, shape (texts + 1,)
    codes : int array, shape (tokens,)
    first, second : int arrays, shape (pairs,)
        The texts of each pair; fastest where texts come back in ``first``.

    Returns
    -------
    int array, shape (pairs,)

    References
    ----------
    Hyyrö, 2004, Bit-parallel LCS-length computation revisited.

    Examples
    --------
    >>> indptr, codes = np.array([0, 4, 7]), np.array([1, 2, 3, 2, 2, 1, 2])
    >>> lcs_lengths(indptr, codes, np.array([0, 1]), np.array([1, 1])).tolist()
    [2, 3]
    """
    widths = ragged.lengths(indptr)
    long = (widths[first] > _WORD) | (widths[second] > _WORD)
    if not long.any():
        return _in_words(indptr, codes, first, second)
    found = np.empty(len(first), np.int64)
    found[~long] = _in_words(indptr, codes, first[~long], second[~long])
    for pair in np.flatnonzero(long).tolist():
        texts = (codes[indptr[i] : indptr[i + 1]] for i in (first[pair], second[pair]))
        found[pair] = _in_integers(*sorted(texts, key=len))
    return found


def _in_words(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> Ints:
    """Compare all pairs at once, where every text has at most 64 tokens."""
    masks, steps = _masks(indptr, codes, first, second)
    order = np.argsort(-steps, kind="stable")
    begins = ragged.offsets(steps)[:-1][order]
    # how many pairs have a token left at each step
    left = np.cumsum(np.bincount(steps)[::-1])[::-1][1:]
    state = np.full(len(first), ~np.uint64(0))
    for step, n in enumerate(left.tolist()):
        now = state[:n]
        hits = now & masks[begins[:n] + step]
        state[:n] = (now + hits) | (now - hits)
    found = np.empty(len(first), np.int64)
    found[order] = _ONES[(~state).view(np.uint8)].reshape(-1, _WORD // 8).sum(axis=1)
    return found


def _masks(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> tuple[Words, Ints]:
    """Return the places in the first text of each token of the second, and the tokens of each pair.

    Tokens that the first text does not have change nothing, and are left out.
    """
    patterns, which = np.unique(first, return_inverse=True)
    width = int(codes.max(initial=0)) + 1
    rows, flat = ragged.take_rows(indptr, patterns)
    keys = ragged.row_numbers(rows) * width + codes[flat]
    order = np.argsort(keys)
    keys, starts = np.unique(keys[order], return_index=True)
    bits = np.left_shift(np.uint64(1), ragged.positions(rows).astype(np.uint64))[order]
    masks = np.bitwise_or.reduceat(bits, starts) if len(starts) else bits
    rows, flat = ragged.take_rows(indptr, second)
    wanted = np.repeat(which.ravel() * width, ragged.lengths(rows)) + codes[flat]
    place = np.searchsorted(keys, wanted)
    known = np.append(keys, -1)[place] == wanted
    return masks[place[known]], ragged.sum_rows(known, rows)


def _in_integers(text: NDArray[np.integer], pattern: NDArray[np.integer]) -> int:
    """Compare one pair of texts of any length, the bits of the pattern in one integer."""
    if not len(text) or not len(pattern):
        return 0
    order = np.argsort(pattern, kind="stable")
    tokens, starts = np.unique(pattern[order], return_index=True)
    places_of = dict(zip(tokens.tolist(), np.split(order, starts[1:]), strict=True))

    @lru_cache(maxsize=_MASKS)
    def mask(token: int) -> int:
        """Return the places of a token in the pattern, as bits."""
        return sum(1 << place for place in places_of[token].tolist())

    state = full = (1 << len(pattern)) - 1
    for token in text[np.isin(text, pattern)].tolist():
        hits = state & mask(token)
        state = ((state + hits) | (state - hits)) & full
    return len(pattern) - state.bit_count()
