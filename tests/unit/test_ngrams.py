"""Counts of n-grams against counters of tuples."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.captions_ngram import lcs

from semmetrics.core import ngrams
from semmetrics.core import ngrams as module
from semmetrics.core.ngrams import count_ngrams, lcs_lengths
from semmetrics.core.ragged import offsets

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=8)


def counters(texts, order):
    return [
        Counter(tuple(text[at : at + order]) for at in range(len(text) - order + 1))
        for text in texts
    ]


def counted(texts, scale=1):
    flat = np.array([code * scale for text in texts for code in text], np.int64)
    return flat, count_ngrams(offsets(np.array([*map(len, texts)])), flat)


def by_text(grams, flat, scale=1):
    names = [tuple(code // scale for code in name) for name in grams.tokens(flat).tolist()]
    bounds = grams.indptr.tolist()
    found = []
    for start, stop in pairwise(bounds):
        cells = grams.codes[start:stop].tolist()
        assert cells == sorted(set(cells))
        counts = grams.counts[start:stop].tolist()
        found.append({names[cell]: count for cell, count in zip(cells, counts, strict=True)})
    assert len(set(names)) == len(names) == len(grams)
    return found


@given(TEXTS, st.sampled_from([1, 1 << 40]))
def test_equals_counters(texts, scale):
    """Also where a key and its place are too large for one number."""
    flat, found = counted(texts, scale)
    for order, grams in enumerate(found, 1):
        expected = counters(texts, order)
        assert by_text(grams, flat, scale) == expected
        assert grams.totals.tolist() == [counter.total() for counter in expected]
        assert grams.order == order


@given(TEXTS)
def test_other_order_of_keys(texts):
    """Without keys and places in one number, and with few n-grams at a time, all is as it was."""
    flat, found = counted(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BITS", 0)
        patch.setattr(module, "_CELLS", 3)
        patch.setattr(module, "_SMALL", -1)
        flat, others = counted(texts)
    for grams, other in zip(found, others, strict=True):
        for name in ("indptr", "codes", "counts"):
            assert getattr(grams, name).tolist() == getattr(other, name).tolist()
        assert grams.tokens(flat).tolist() == other.tokens(flat).tolist()
        assert {grams.codes.dtype, grams.counts.dtype, grams.places.dtype} == {np.dtype(np.int32)}
        assert {other.codes.dtype, other.counts.dtype, other.places.dtype} == {np.dtype(np.int64)}


NONE = np.zeros(0, np.int64)


def packed(texts):
    widths = np.array([len(text) for text in texts], np.int64)
    return offsets(widths), np.array([*itertools.chain(*texts)], np.int64)


def text_of(most, letters=3):
    return st.lists(st.integers(0, letters), max_size=most)


@given(
    st.lists(text_of(9), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
)
@settings(max_examples=150, deadline=None)
def test_pairs_have_the_length_of_dynamic_programming(texts, pairs):
    pairs = [(a % len(texts), b % len(texts)) for a, b in pairs]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    got = lcs_lengths(*packed(texts), first, second)
    assert got.tolist() == [lcs(texts[a], texts[b]) for a, b in pairs]


@given(st.integers(60, 70), st.integers(60, 70), st.integers(1, 40), st.randoms())
@example(64, 64, 1, None)
@example(65, 64, 1, None)
@settings(max_examples=40, deadline=None)
def test_texts_around_a_machine_word(left, right, letters, random):
    draw = (lambda: 0) if random is None else (lambda: random.randrange(letters))
    texts = [[draw() for _ in range(size)] for size in (left, right, 5)]
    first, second = np.indices((3, 3)).reshape(2, -1)
    got = lcs_lengths(*packed(texts), first, second)
    assert got.tolist() == [
        lcs(texts[a], texts[b]) for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]


@given(text_of(40), text_of(40))
@settings(max_examples=60, deadline=None)
def test_integers_give_what_words_give(left, right):
    texts = [np.array(text, np.int64) for text in sorted((left, right), key=len)]
    assert ngrams._in_integers(*texts) == lcs(left, right)


def test_integers_forget_masks_and_make_them_again():
    words = np.random.default_rng(0).permutation(5000)  # more than are remembered
    left, right = np.r_[words, words], np.r_[words, 5000, words[::-1], words]
    assert ngrams._in_integers(left, right) == len(left)


@pytest.mark.parametrize("swap", [False, True])
def test_a_caption_of_100000_words(swap):
    short = [7, 1, 3, 9, 2]
    texts = [list(range(50_000)) * 2, short]  # 7 ... then 1 3 9 of the second half
    first, second = np.array([0]), np.array([1])
    if swap:
        first, second = second, first
    assert lcs_lengths(*packed(texts), first, second).tolist() == [4]


def test_two_texts_of_20000_words():
    rng = np.random.default_rng(1)
    middle = rng.integers(0, 300, 20_000)
    texts = [[*middle.tolist(), 300], [301, *middle.tolist()]]
    assert lcs_lengths(*packed(texts), np.array([0]), np.array([1])).tolist() == [20_000]


def test_nothing():
    assert lcs_lengths(*packed([[]]), NONE, NONE).tolist() == []
    empty = np.array([0, 0])
    assert lcs_lengths(*packed([[], [1] * 70]), empty, np.array([0, 1])).tolist() == [0, 0]
