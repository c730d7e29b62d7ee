"""Counts of n-grams and longest common subsequences, against plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.captions_ngram import lcs, ngrams

from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import offsets
from semmetrics.core.subsequences import lcs_lengths

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=8)


def flatten(texts):
    """Return where each text begins, and all tokens."""
    lengths = np.array([len(text) for text in texts], np.int64)
    return offsets(lengths), np.array(list(chain(*texts)), np.int64)


@given(TEXTS, st.sampled_from([1, 1 << 40]))
@example([[0, 1] * 100], 1 << 56)
def test_ngrams_are_those_of_counters(texts, scale):
    scaled = [[code * scale for code in text] for text in texts]
    indptr, codes = flatten(scaled)

    for n, grams in enumerate(count_ngrams(indptr, codes), 1):
        tokens = grams.tokens(codes).tolist()
        for place, text in enumerate(scaled):
            cells = slice(grams.indptr[place], grams.indptr[place + 1])
            keys = [tuple(tokens[code]) for code in grams.codes[cells].tolist()]
            counts = dict(zip(keys, grams.counts[cells].tolist(), strict=True))
            assert counts == Counter(ngrams(text, n))


@given(st.integers(60, 70), st.integers(60, 70), st.integers(1, 40), st.randoms())
@example(64, 64, 1, None)
@example(65, 64, 1, None)
def test_common_subsequences_are_those_of_dynamic_programming(
    left_size, right_size, n_letters, rng
):
    """Texts of up to 64 tokens fit into a machine word."""
    texts = []
    for size in (left_size, right_size, 5):
        texts.append([rng.randrange(n_letters) if rng else 0 for _ in range(size)])
    first, second = np.indices((3, 3)).reshape(2, -1)

    lengths = lcs_lengths(*flatten(texts), first, second)

    pairs = zip(first.tolist(), second.tolist(), strict=True)
    assert lengths.tolist() == [lcs(texts[a], texts[b]) for a, b in pairs]


@pytest.mark.parametrize("texts", [[[]], [[], [1] * 70]])
def test_an_empty_text_has_no_common_subsequence(texts):
    last = np.array([len(texts) - 1])

    assert lcs_lengths(*flatten(texts), last[:0], last[:0]).tolist() == []
    assert lcs_lengths(*flatten(texts), 0 * last, last).tolist() == [0]
