"""NGSM of pairs of captions, against bags of n-grams counted in loops."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import captions_ngram as oracle
from refusals import refused

from semmetrics.metrics.caption_overlap import (
    NGSM,
    ngsm,
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


def test_captions_must_be_lists_of_tokens():
    with refused("wrong-type", "first"):
        ngsm("a b", ["a", "b"])


@pytest.mark.parametrize("n", [0, 1.5, True])
def test_the_largest_order_must_be_a_positive_integer(n):
    with refused("bad-option", name="n"):
        ngsm(["a"], ["a"], n)
