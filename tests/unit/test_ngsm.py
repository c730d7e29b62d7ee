"""NGSM of pairs of captions against bags counted in loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored
from refusals import refused

from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import offsets
from semmetrics.metrics.caption_overlap import (
    NGSM,
    common_ngrams,
    ngsm,
    ngsm_pairs,
    ngsm_systems,
)

TOKENS = st.lists(st.sampled_from("ab"), max_size=7)


def counted(captions, orders=4):
    words = sorted({word for caption in captions for word in caption})
    codes = np.array(
        [words.index(word) for caption in captions for word in caption], np.int64
    )
    return count_ngrams(offsets(np.array([*map(len, captions)])), codes, orders)


@given(TOKENS, TOKENS, st.integers(1, 6))
def test_two_captions(first, second, n):
    value = ngsm(first, second, n)
    assert value == pytest.approx(oracle.ngsm(first, second, n), rel=1e-14)
    assert value == ngsm(second, first, n)
    assert 0 <= value <= 1
    same = [
        oracle.ngrams(first, k) == oracle.ngrams(second, k) for k in range(1, n + 1)
    ]
    assert (value == 1) == all(same)


def test_pairs_are_counted_in_runs():
    rng = np.random.default_rng(0)
    captions = [
        rng.integers(0, 3, size).astype(str).tolist() for size in rng.integers(0, 9, 20)
    ]
    grams = counted(captions)
    first, second = rng.integers(0, 20, (2, 200))
    whole = [common_ngrams(one, first, second) for one in grams]
    for one, expected in zip(grams, whole, strict=True):
        assert_array_equal(common_ngrams(one, first, second, at_once=7), expected)
    assert whole[0].tolist() == [
        sum((oracle.ngrams(captions[a], 1) & oracle.ngrams(captions[b], 1)).values())
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]


@given(
    st.lists(st.tuples(TOKENS, st.lists(TOKENS, max_size=4)), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from(["mean", "max"]),
)
def test_a_candidate_and_its_references(items, order, refs):
    combine = max if refs == "max" else lambda values: sum(values) / len(values)
    expected = [
        combine([oracle.ngsm(mine, other, order) for other in theirs])
        if theirs
        else np.nan
        for mine, theirs in items
    ]
    candidates = [" ".join(mine) for mine, _ in items]
    references = [[" ".join(other) for other in theirs] for _, theirs in items]
    got = scored(candidates, references, [NGSM(order=order, refs=refs)])[0]
    assert_allclose(got.items, expected, rtol=1e-13)
    defined = [value for value in expected if value == value]
    mean = sum(defined) / len(defined) if defined else np.nan
    assert got.value == pytest.approx(mean, nan_ok=True)


def test_bad_input():
    with refused("wrong-type", "first"):
        ngsm("a b", ["a", "b"])
    for n in (0, 1.5, True):
        with refused("bad-option", name="n"):
            ngsm(["a"], ["a"], n)


def test_systems_have_the_values_of_pairs():
    grams = counted([["a", "b", "a"], ["b", "a", "b"], ["a", "a"]])
    given, pairs = np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]]), [(0, 1), (2, 0), (1, 2)]
    found = ngsm_systems(grams, given, pairs)
    for values, (first, second) in zip(found, pairs, strict=True):
        assert_array_equal(values, ngsm_pairs(grams, given[first], given[second]))
