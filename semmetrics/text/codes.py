"""Tokens as integers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np

from semmetrics.core.ragged import Codes, Ints, offsets

__all__ = ["encode_tokens"]


def encode_tokens(token_lists: Sequence[Sequence[str]]) -> tuple[Ints, Codes, list[str]]:
    """Code tokens by their first occurrence.

    Parameters
    ----------
    token_lists : sequence of sequence of str

    Returns
    -------
    indptr : array, shape (captions + 1,), int64
        Caption ``i`` has the codes ``codes[indptr[i]:indptr[i + 1]]``.
    codes : array, shape (tokens,), int32
        Places in the vocabulary.
    vocabulary : list of str
        The distinct tokens in order of first occurrence.

    Examples
    --------
    >>> indptr, codes, vocabulary = encode_tokens([["a", "dog"], [], ["dog", "a", "cat"]])
    >>> indptr.tolist(), codes.tolist(), vocabulary
    ([0, 2, 2, 5], [0, 1, 1, 0, 2], ['a', 'dog', 'cat'])
    """
    indptr = offsets(np.fromiter(map(len, token_lists), np.int64, len(token_lists)))
    table: defaultdict[str, int] = defaultdict(count().__next__)
    flat = chain.from_iterable(token_lists)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, int(indptr[-1]))
    return indptr, codes, list(table)
