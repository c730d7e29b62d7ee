"""Counts of n-grams and longest common subsequences, against plain Python."""

from __future__ import annotations

import random
from itertools import chain, product

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
    tokens = list(chain(*texts))
    return offsets(lengths), np.array(tokens, np.int64)


@given(TEXTS, st.sampled_from([1, 1 << 40]))
@example([[0, 1] * 100], 1 << 56)
def test_counts_of_ngrams_equal_a_counter(texts, scale):
    scaled_texts = []
    for text in texts:
        scaled_texts.append([code * scale for code in text])
    indptr, codes = flatten(scaled_texts)

    for n, grams in enumerate(count_ngrams(indptr, codes), 1):
        tokens = list(map(tuple, grams.tokens(codes).tolist()))
        for place, text in enumerate(scaled_texts):
            start, stop = grams.indptr[place : place + 2]
            keys = [tokens[code] for code in grams.codes[start:stop]]
            counts = grams.counts[start:stop].tolist()
            assert dict(zip(keys, counts, strict=True)) == ngrams(text, n)


@given(st.integers(60, 70), st.integers(60, 70), st.integers(1, 40), st.randoms())
@example(64, 64, 1, random.Random(0))
@example(65, 64, 1, random.Random(0))
def test_common_subsequences_equal_dynamic_programming(
    left_size, right_size, n_letters, rng
):
    """Texts of up to 64 tokens fit into a machine word."""
    texts = []
    for size in (left_size, right_size, 5):
        texts.append([rng.randrange(n_letters) for _ in range(size)])
    first, second = np.indices((3, 3)).reshape(2, -1)

    lengths = lcs_lengths(*flatten(texts), first, second)

    pairs = product(texts, texts)
    assert lengths.tolist() == [lcs(*pair) for pair in pairs]


EMPTY_TEXTS = pytest.mark.parametrize("texts", [[[]], [[], [1] * 70]])


@EMPTY_TEXTS
def test_an_empty_text_has_no_common_subsequence(texts):
    indptr, tokens = flatten(texts)
    first = np.array([0])
    last = np.array([len(texts) - 1])

    lengths = lcs_lengths(indptr, tokens, first, last)

    assert lengths.tolist() == [0]


@EMPTY_TEXTS
def test_no_pairs_have_no_lengths(texts):
    indptr, tokens = flatten(texts)
    no_texts = np.array([], int)

    lengths = lcs_lengths(indptr, tokens, no_texts, no_texts)

    assert lengths.tolist() == []
