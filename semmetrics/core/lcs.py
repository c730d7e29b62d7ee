"""Lengths of longest common subsequences, a word of bits at a time.

Conventions
-----------
Texts are ragged rows of codes that are not negative. One bit stands for one token of a pattern; it
is 0 once the longest common subsequence grows at that token (Hyyrö 2004; Crochemore et al. 2001).
A pair costs the length of one text times the number of machine words that hold the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import (
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    sum_rows,
    take_rows,
)

__all__ = ["lcs_lengths"]

Words = NDArray[np.uint64]

_BITS = 64
_MASKS = 4096  # masks of tokens kept at a time, each of one bit for a token of the pattern


def lcs_lengths(indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints) -> Ints:
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
    widths = lengths(indptr)
    long = (widths[first] > _BITS) | (widths[second] > _BITS)
    if not long.any():
        return _in_words(indptr, codes, first, second)
    found = np.empty(len(first), np.int64)
    found[~long] = _in_words(indptr, codes, first[~long], second[~long])
    for pair in np.flatnonzero(long).tolist():
        texts = (codes[indptr[i] : indptr[i + 1]] for i in (first[pair], second[pair]))
        found[pair] = _in_integers(*sorted(texts, key=len))
    return found


def _in_words(indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints) -> Ints:
    """Compare all pairs at once, where every text has at most 64 tokens."""
    masks, steps = _masks(indptr, codes, first, second)
    order = np.argsort(-steps, kind="stable")
    begins = offsets(steps)[:-1][order]
    # how many pairs have a token left at each step
    left = np.cumsum(np.bincount(steps)[::-1])[::-1][1:]
    state = np.full(len(first), ~np.uint64(0))
    for step, n in enumerate(left.tolist()):
        now = state[:n]
        hits = now & masks[begins[:n] + step]
        state[:n] = (now + hits) | (now - hits)
    found = np.empty(len(first), np.int64)
    found[order] = _ones(~state)
    return found


def _masks(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> tuple[Words, Ints]:
    """Return the places in the first text of each token of the second, and the tokens of each pair.

    Tokens that the first text does not have change nothing, and are left out.
    """
    patterns, which = np.unique(first, return_inverse=True)
    width = int(codes.max(initial=0)) + 1
    rows, flat = take_rows(indptr, patterns)
    keys = row_numbers(rows) * width + codes[flat]
    order = np.argsort(keys)
    keys, starts = np.unique(keys[order], return_index=True)
    bits = np.left_shift(np.uint64(1), positions(rows).astype(np.uint64))[order]
    masks = np.bitwise_or.reduceat(bits, starts) if len(starts) else bits
    rows, flat = take_rows(indptr, second)
    wanted = np.repeat(which.ravel() * width, lengths(rows)) + codes[flat]
    place = np.searchsorted(keys, wanted)
    known = np.append(keys, -1)[place] == wanted
    return masks[place[known]], sum_rows(known, rows)


def _ones(words: Words) -> Ints:
    """Count the bits that are set: sums of 2, 4 and 8 bits side by side."""
    pairs, fours, bytes_ = (
        np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
    )
    words = words - ((words >> np.uint64(1)) & pairs)
    words = (words & fours) + ((words >> np.uint64(2)) & fours)
    words = (words + (words >> np.uint64(4))) & bytes_
    found: Ints = ((words * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.int64)
    return found


def _in_integers(text: NDArray[np.integer], pattern: NDArray[np.integer]) -> int:
    """Compare one pair of texts of any length, the bits of the pattern in one integer."""
    if not len(text):
        return 0
    mask, full = _mask_of(pattern), (1 << len(pattern)) - 1
    state = full
    for token in text[np.isin(text, pattern)].tolist():
        hits = state & mask(token)
        state = ((state + hits) | (state - hits)) & full
    return len(pattern) - state.bit_count()


def _mask_of(pattern: NDArray[np.integer]) -> Callable[[int], int]:
    """Return a function from a token to its places in the pattern, as bits."""
    order = np.argsort(pattern, kind="stable")
    tokens, starts = np.unique(pattern[order], return_index=True)
    rows = [*starts.tolist(), len(pattern)]
    row_of = {token: row for row, token in enumerate(tokens.tolist())}

    @lru_cache(maxsize=_MASKS)
    def mask(token: int) -> int:
        row = row_of[token]
        places = order[rows[row] : rows[row + 1]]
        if len(places) == 1:
            return int(1 << int(places[0]))
        cells = np.zeros(len(pattern) // 8 + 1, np.uint8)
        np.bitwise_or.at(cells, places >> 3, np.left_shift(1, places & 7).astype(np.uint8))
        return int.from_bytes(cells.tobytes(), "little")

    return mask
