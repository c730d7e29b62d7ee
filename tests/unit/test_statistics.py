"""Descriptive statistics of label lists against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import statistics as oracle

from semmetrics.core.ragged import offsets
from semmetrics.errors import InputError
from semmetrics.metrics import sets

LISTS = st.lists(st.lists(st.integers(0, 5), max_size=7), max_size=9)


def ragged(lists):
    flat = np.array([label for labels in lists for label in labels], np.int32)
    return offsets(np.array([len(labels) for labels in lists], np.int64)), flat


@given(lists=LISTS)
def test_cardinality_counts_list_sizes(lists):
    got = sets.cardinality(ragged(lists)[0])
    n, mean, std, histogram = oracle.cardinality(lists)
    assert got.n == n
    assert_allclose([got.mean, got.std], [mean, std], rtol=0, atol=1e-12)
    assert got.histogram.tolist() == histogram


@given(lists=LISTS, more=st.integers(0, 2))
def test_label_frequencies_fall(lists, more):
    got = sets.label_frequencies(ragged(lists)[1], 6 + more)
    pairs = list(zip(got.labels.tolist(), got.counts.tolist(), strict=True))
    assert pairs == oracle.label_frequencies(lists, 6 + more)


def as_rows(found):
    columns = [*found.pairs.T.tolist(), found.a.tolist(), found.b.tolist(), found.order.tolist()]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("cells", [1, 1 << 22])
@given(lists=LISTS)
def test_label_order_equals_counting(cells, lists):
    whole, sets._CELLS = (
        sets._CELLS,
        cells,
    )  # pairs are counted in several parts
    try:
        found = sets.label_order(*ragged(lists))
    finally:
        sets._CELLS = whole
    expected = oracle.label_order(lists)
    assert as_rows(found) == expected
    assert found.pairs.shape == (len(expected), 2)
    mean = sum(row[4] for row in expected) / len(expected) if expected else np.nan
    assert_allclose(found.mean, mean, rtol=0, atol=1e-12)


def test_only_the_first_place_of_a_repeated_label_counts():
    found = sets.label_order(*ragged([[3, 1, 3], [1, 3, 1]]))
    assert as_rows(found) == [(1, 3, 1, 1, 0.5)]


def test_label_order_with_large_codes():
    big = 2_000_000_000
    found = sets.label_order([0, 2, 4], np.array([big, 7, big, 7], np.int32))
    assert as_rows(found) == [(7, big, 0, 2, 1.0)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sets.cardinality([1, 2]), "row offsets"),
        (lambda: sets.cardinality([0, 2, 1]), "row offsets"),
        (lambda: sets.label_frequencies([0, 3], 3), "code 3 is outside"),
        (lambda: sets.label_frequencies([0, -1], 3), "code -1 is negative"),
        (lambda: sets.label_frequencies([0.5], 3), "flat array of integers"),
        (lambda: sets.label_order([0, 2], [1]), "2 codes are needed"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
