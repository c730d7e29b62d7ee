"""Lengths of longest common subsequences (LCS) of coded sequences.

Conventions
-----------
Sequences are ragged rows of token codes. The algorithm is bit-parallel (Crochemore et al. 2001,
Hyyrö 2004): it reads one sequence token by token, and updates a state with one bit for each token
of the other sequence, the pattern. The bit of a token becomes 0 when the LCS grows at that token.
So a pair costs the length of the first sequence times the number of machine words for the pattern.

References
----------
Crochemore, Iliopoulos, Pinzon, Reid, 2001, A fast and practical bit-vector algorithm for the
longest common subsequence problem, Information Processing Letters 80.
Hyyrö, 2004, Bit-parallel LCS-length computation revisited, AWOCA.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Ints

Words: TypeAlias = NDArray[np.uint64]

_WORD_BITS = 64
_ALL_ONES = ~np.uint64(0)
# Of a long pattern. A mask has one bit for each token of the pattern.
_MAX_STORED_MASKS = 4096


def _count_bits_of_bytes() -> NDArray[np.uint64]:
    """Return the number of ones of each byte, shape (256,)."""
    every_byte = np.arange(256, dtype=np.uint8)
    bits = np.unpackbits(every_byte[:, None], axis=1)
    n_bits: NDArray[np.uint64] = bits.sum(axis=1)
    return n_bits


_ONES_OF_BYTE = _count_bits_of_bytes()


def lcs_lengths(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> Ints:
    """Return the length of the longest common subsequence of pairs of sequences.

    Parameters
    ----------
    indptr : int array, shape (sequences + 1,)
    codes : int array, shape (tokens,)
    first, second : int arrays, shape (pairs,)
        The sequences of each pair. Fastest if ``first`` repeats sequences.

    Returns
    -------
    int array, shape (pairs,)

    Examples
    --------
    >>> indptr, codes = np.array([0, 4, 7]), np.array([1, 2, 3, 2, 2, 1, 2])
    >>> lcs_lengths(indptr, codes, np.array([0, 1]), np.array([1, 1])).tolist()
    [2, 3]
    """
    sequence_lengths = ragged.lengths(indptr)
    longest = np.maximum(sequence_lengths[first], sequence_lengths[second])
    is_long = longest > _WORD_BITS
    if not is_long.any():
        return _lcs_of_short_sequences(indptr, codes, first, second)
    lcs = np.empty(len(first), np.int64)
    lcs[~is_long] = _lcs_of_short_sequences(
        indptr, codes, first[~is_long], second[~is_long]
    )
    for pair in np.flatnonzero(is_long).tolist():
        left = _take_sequence(indptr, codes, first[pair])
        right = _take_sequence(indptr, codes, second[pair])
        if len(left) > len(right):
            left, right = right, left
        lcs[pair] = _lcs_of_long_sequences(left, right)
    return lcs


def _take_sequence(
    indptr: Ints, codes: NDArray[np.integer], sequence: int
) -> NDArray[np.integer]:
    """Return the tokens of a sequence."""
    return codes[indptr[sequence] : indptr[sequence + 1]]


# ---- sequences of at most 64 tokens ---------------------------------------------


def _lcs_of_short_sequences(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> Ints:
    """Return the LCS lengths of pairs of sequences of at most 64 tokens, all pairs at once."""
    masks, n_steps = _find_masks(indptr, codes, first, second)
    # Pairs with more steps come first, so that the pairs of each step are a slice.
    order = np.argsort(-n_steps, kind="stable")
    starts = ragged.offsets(n_steps)[:-1][order]
    n_pairs_with_steps = np.bincount(n_steps)
    n_pairs_with_at_least = np.cumsum(n_pairs_with_steps[::-1])[::-1]
    n_pairs_of_step = n_pairs_with_at_least[1:]  # at least step + 1 steps
    states = np.full(len(first), _ALL_ONES)
    for step, n_pairs in enumerate(n_pairs_of_step.tolist()):
        state = states[:n_pairs]
        matches = state & masks[starts[:n_pairs] + step]
        states[:n_pairs] = (state + matches) | (state - matches)
    zeros_as_bytes = (~states).view(np.uint8)
    n_zeros = _ONES_OF_BYTE[zeros_as_bytes].reshape(-1, _WORD_BITS // 8).sum(axis=1)
    lcs = np.empty(len(first), np.int64)
    lcs[order] = n_zeros
    return lcs


def _find_masks(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> tuple[Words, Ints]:
    """Return the places of the tokens of the second sequence in the first sequence.

    Tokens that the first sequence does not contain change nothing, and are left out.

    Returns
    -------
    masks : uint64 array
        For each pair, and for each token of its second sequence that the first sequence contains: the
        places of that token in the first sequence, as bits.
    n_tokens : int array, shape (pairs,)
        How many masks a pair has.
    """
    width = int(codes.max(initial=0)) + 1
    patterns, pattern_of_pair = np.unique(first, return_inverse=True)
    # One mask for each distinct token of each pattern, sorted by (pattern, token).
    pattern_indptr, flat = ragged.take_rows(indptr, patterns)
    keys = ragged.row_numbers(pattern_indptr) * width + codes[flat]
    order = np.argsort(keys)
    keys, starts = np.unique(keys[order], return_index=True)
    places = ragged.positions(pattern_indptr).astype(np.uint64)
    bits = np.left_shift(np.uint64(1), places)[order]
    masks = bits
    if len(starts):
        masks = np.bitwise_or.reduceat(bits, starts)
    # Look up the tokens of the second sequences.
    sequence_indptr, flat = ragged.take_rows(indptr, second)
    pattern_keys = np.repeat(
        pattern_of_pair.ravel() * width, ragged.lengths(sequence_indptr)
    )
    token_keys = pattern_keys + codes[flat]
    mask_numbers = np.searchsorted(keys, token_keys)
    is_in_pattern = np.append(keys, -1)[mask_numbers] == token_keys
    n_tokens = ragged.sum_rows(is_in_pattern, sequence_indptr)
    return masks[mask_numbers[is_in_pattern]], n_tokens


# ---- sequences of any length ----------------------------------------------------


def _lcs_of_long_sequences(
    sequence: NDArray[np.integer], pattern: NDArray[np.integer]
) -> int:
    """Return the LCS length of one pair of sequences.

    The bits of the pattern are one Python integer.
    """
    if not len(sequence) or not len(pattern):
        return 0
    order = np.argsort(pattern, kind="stable")
    tokens, starts = np.unique(pattern[order], return_index=True)
    places = np.split(order, starts[1:])
    places_of_token = dict(zip(tokens.tolist(), places, strict=True))
    store_masks = lru_cache(maxsize=_MAX_STORED_MASKS)
    find_mask = store_masks(partial(_mask, places_of_token))
    all_ones = (1 << len(pattern)) - 1
    state = all_ones
    for token in sequence[np.isin(sequence, pattern)].tolist():
        matches = state & find_mask(token)
        state = ((state + matches) | (state - matches)) & all_ones
    return len(pattern) - state.bit_count()


def _mask(places_of_token: Mapping[int, Ints], token: int) -> int:
    """Return the places of a token in the pattern, as bits."""
    return sum(1 << place for place in places_of_token[token].tolist())
