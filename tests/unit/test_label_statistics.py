"""Cardinality, frequency and order of labels against plain loops."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import statistics as oracle
from refusals import refused

from semmetrics.core.ragged import offsets
from semmetrics.metrics import label_statistics

LISTS = st.lists(st.lists(st.integers(0, 5), max_size=7), max_size=9)


def boundaries_and_labels(lists):
    """Return the boundaries of lists, and all their labels."""
    sizes = [len(labels) for labels in lists]
    boundaries = offsets(np.array(sizes, np.int64))
    return boundaries, np.array(list(chain.from_iterable(lists)), np.int32)


@given(lists=LISTS)
def test_cardinality_equals_a_plain_loop(lists):
    boundaries, _ = boundaries_and_labels(lists)

    cardinality = label_statistics.cardinality(boundaries)

    n, mean, std, histogram = oracle.cardinality(lists)
    assert cardinality.n == n
    assert_allclose([cardinality.mean, cardinality.std], [mean, std], atol=1e-12)
    assert cardinality.histogram.tolist() == histogram


@given(lists=LISTS, n_other_labels=st.integers(0, 2))
def test_label_frequencies_equal_a_plain_loop(lists, n_other_labels):
    _, labels = boundaries_and_labels(lists)
    n_labels = 6 + n_other_labels

    frequencies = label_statistics.label_frequencies(labels, n_labels)

    pairs = zip(frequencies.labels.tolist(), frequencies.counts.tolist(), strict=True)
    assert list(pairs) == oracle.label_frequencies(lists, n_labels)


@pytest.mark.parametrize("max_pairs_per_count", [1, 1 << 22])
@given(lists=LISTS)
def test_label_order_equals_a_plain_loop(max_pairs_per_count, lists):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_statistics, "MAX_PAIRS_PER_COUNT", max_pairs_per_count)
        order = label_statistics.label_order(*boundaries_and_labels(lists))

    rows = oracle.label_order(lists)
    columns = [*order.pairs.T, order.a, order.b, order.order]
    assert list(zip(*columns, strict=True)) == rows
    mean = np.nan
    if rows:
        mean = sum(row[4] for row in rows) / len(rows)
    assert_allclose(order.mean, mean, atol=1e-12)


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ([0, 3], "out-of-range"),
        ([0, -1], "bad-option"),
        ([0.5], "bad-option"),
        ([[0], [1]], "bad-option"),
    ],
)
def test_labels_that_are_not_codes_are_an_error(labels, code):
    with refused(code):
        label_statistics.label_frequencies(labels, 3)


def test_boundaries_that_do_not_match_the_labels_are_an_error():
    with refused("wrong-shape"):
        label_statistics.label_order([0, 2], [1])
