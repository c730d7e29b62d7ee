"""Counts of n-grams against counters of tuples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.captions_ngram import lcs

from semmetrics.core import ngrams as module
from semmetrics.core import subsequences
from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import offsets
from semmetrics.core.subsequences import lcs_lengths

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=8)


def counted(texts, scale=1):
    flat = np.array([code * scale for text in texts for code in text], np.int64)
    return flat, count_ngrams(offsets(np.array([*map(len, texts)])), flat)


@given(TEXTS)
def test_other_order_of_keys(texts):
    """Without keys and places in one number, and with few n-grams at a time, all is as it was."""
    flat, found = counted(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_KEY_BITS", 0)
        patch.setattr(module, "_NGRAMS_PER_STEP", 3)
        patch.setattr(module, "_MAX_32_BIT_TOKENS", -1)
        flat, others = counted(texts)
    for grams, other in zip(found, others, strict=True):
        for name in ("indptr", "codes", "counts"):
            assert getattr(grams, name).tolist() == getattr(other, name).tolist()
        assert grams.tokens(flat).tolist() == other.tokens(flat).tolist()
        assert {grams.codes.dtype, grams.counts.dtype, grams.places.dtype} == {
            np.dtype(np.int32)
        }
        assert {other.codes.dtype, other.counts.dtype, other.places.dtype} == {
            np.dtype(np.int64)
        }


def packed(texts):
    widths = np.array([len(text) for text in texts], np.int64)
    return offsets(widths), np.array([*itertools.chain(*texts)], np.int64)


def text_of(most, letters=3):
    return st.lists(st.integers(0, letters), max_size=most)


@given(st.integers(60, 70), st.integers(60, 70), st.integers(1, 40), st.randoms())
@example(64, 64, 1, None)
@example(65, 64, 1, None)
def test_texts_around_a_machine_word(left, right, letters, random):
    draw = (lambda: 0) if random is None else (lambda: random.randrange(letters))
    texts = [[draw() for _ in range(size)] for size in (left, right, 5)]
    first, second = np.indices((3, 3)).reshape(2, -1)
    got = lcs_lengths(*packed(texts), first, second)
    assert got.tolist() == [
        lcs(texts[a], texts[b])
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]


@given(text_of(40), text_of(40))
def test_integers_give_what_words_give(left, right):
    texts = [np.array(text, np.int64) for text in sorted((left, right), key=len)]
    assert subsequences._lcs_of_long_sequences(*texts) == lcs(left, right)


NONE = np.zeros(0, np.int64)


def test_nothing():
    assert lcs_lengths(*packed([[]]), NONE, NONE).tolist() == []
    empty = np.array([0, 0])
    assert lcs_lengths(*packed([[], [1] * 70]), empty, np.array([0, 1])).tolist() == [
        0,
        0,
    ]
