"""NGSM of pairs of captions, against bags of n-grams counted in loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import captions_ngram as oracle
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


@given(TOKENS, TOKENS, st.integers(1, 6))
def test_ngsm_is_symmetric_and_1_only_for_equal_ngrams(first, second, n):
    value = ngsm(first, second, n)

    assert value == pytest.approx(oracle.ngsm(first, second, n), rel=1e-14)
    assert value == ngsm(second, first, n)
    assert 0 <= value <= 1
    orders = range(1, n + 1)
    same = all(oracle.ngrams(first, k) == oracle.ngrams(second, k) for k in orders)
    assert (value == 1) == same


@given(TOKENS, st.lists(TOKENS, max_size=4), st.integers(1, 4))
def test_captions_have_the_mean_or_the_largest_ngsm_of_their_references(
    candidate, references, order
):
    candidates = [" ".join(candidate)]
    reference_texts = [[" ".join(reference) for reference in references]]
    measures = [NGSM(order=order, refs="mean"), NGSM(order=order, refs="max")]

    mean, largest = oracle.scored(candidates, reference_texts, measures)

    values = [oracle.ngsm(candidate, reference, order) for reference in references]
    expected_mean = sum(values) / len(values) if values else math.nan
    assert_allclose(mean.items, [expected_mean], rtol=1e-13)
    assert_allclose(largest.items, [max(values, default=math.nan)], rtol=1e-13)


def count(captions):
    """Count the n-grams of captions over the words 0, 1 and 2."""
    lengths = np.array([len(caption) for caption in captions])
    return count_ngrams(offsets(lengths), np.concatenate(captions), 4)


def test_common_ngrams_of_many_pairs_are_counted_in_runs():
    rng = np.random.default_rng(0)
    captions = [rng.integers(0, 3, size) for size in rng.integers(0, 9, 20)]
    first, second = rng.integers(0, 20, (2, 200))
    unigrams = count(captions)[0]

    common = common_ngrams(unigrams, first, second)

    assert_array_equal(common_ngrams(unigrams, first, second, at_once=7), common)
    bags = [oracle.ngrams(caption.tolist(), 1) for caption in captions]
    expected = [(bags[a] & bags[b]).total() for a, b in zip(first, second, strict=True)]
    assert common.tolist() == expected


def test_pairs_of_systems_have_the_ngsm_of_their_captions():
    grams = count([np.array(caption) for caption in ([0, 1, 0], [1, 0, 1], [0, 0])])
    captions = np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]])

    values = ngsm_systems(grams, captions, [(0, 1), (2, 0)])

    assert_array_equal(values[0], ngsm_pairs(grams, captions[0], captions[1]))
    assert_array_equal(values[1], ngsm_pairs(grams, captions[2], captions[0]))


def test_captions_must_be_lists_of_tokens():
    with refused("wrong-type", "first"):
        ngsm("a b", ["a", "b"])


@pytest.mark.parametrize("n", [0, 1.5, True])
def test_the_largest_order_must_be_a_positive_integer(n):
    with refused("bad-option", name="n"):
        ngsm(["a"], ["a"], n)
