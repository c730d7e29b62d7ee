"""One-to-one assignment, compared with every possible assignment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles import transport as oracle

from semmetrics.core.assignment import (
    first_allowed,
    greedy_matching,
    max_cardinality_matching,
    max_similarity_matching,
    rows_with_more_pairs,
)

SIZES = st.integers(0, 5)
SIMILARITIES = st.sampled_from([-0.5, 0.0, 0.375, 0.5, 0.75, 1.0])
TABLES = st.tuples(st.just(4), SIZES, SIZES).flatmap(
    lambda shape: arrays(float, shape, elements=SIMILARITIES)
)
THRESHOLDS = pytest.mark.parametrize("threshold", [0.375, 0.0, -1.0, 0.75])


def check_one_to_one(is_allowed, places):
    """Check that no column is used twice, and that all pairs are allowed."""
    assert places.dtype == np.int64
    for allowed, row_places in zip(is_allowed, places, strict=True):
        rows = np.flatnonzero(row_places >= 0)
        columns = row_places[rows]
        assert len(set(columns)) == len(columns)
        assert allowed[rows, columns].all()


@THRESHOLDS
@given(tables=TABLES)
def test_the_largest_matching_has_as_many_pairs_as_possible(tables, threshold):
    places = max_cardinality_matching(tables > threshold)

    check_one_to_one(tables > threshold, places)
    for table, row_places in zip(tables.tolist(), places, strict=True):
        assert (row_places >= 0).sum() == oracle.best_matching(table, threshold)[0]


@THRESHOLDS
@given(tables=TABLES)
def test_the_most_similar_matching_has_the_largest_sum(tables, threshold):
    places = max_similarity_matching(np.where(tables > threshold, tables, -np.inf))

    check_one_to_one(tables > threshold, places)
    for table, row_places in zip(tables, places, strict=True):
        rows = np.flatnonzero(row_places >= 0)
        total = table[rows, row_places[rows]].sum()
        expected = oracle.best_matching(table.tolist(), threshold)[1]
        assert total == pytest.approx(expected, abs=1e-9)


@THRESHOLDS
@given(tables=TABLES)
def test_greedy_matching_gives_each_row_the_first_unused_column(tables, threshold):
    places = greedy_matching(tables > threshold)

    for table, row_places in zip(tables.tolist(), places.tolist(), strict=True):
        assert row_places == oracle.greedy(table, threshold)


def test_first_allowed_columns_may_be_used_twice():
    is_allowed = np.array([[[False, True, True], [False, True, False], [False] * 3]])

    assert first_allowed(is_allowed).tolist() == [[1, 1, -1]]


@pytest.mark.parametrize("threshold", [0.8, 0.9, 0.95])
def test_the_largest_matching_of_larger_tables_equals_scipy(threshold):
    from scipy.sparse import csgraph, csr_array

    is_allowed = np.random.default_rng(1).random((40, 17, 23)) > threshold

    places = max_cardinality_matching(is_allowed)

    check_one_to_one(is_allowed, places)
    for allowed, row_places in zip(is_allowed, places, strict=True):
        expected = csgraph.maximum_bipartite_matching(csr_array(allowed))
        assert (row_places >= 0).sum() == (expected >= 0).sum()


@pytest.mark.parametrize(
    "match",
    [greedy_matching, max_cardinality_matching, first_allowed, max_similarity_matching],
)
@pytest.mark.parametrize("shape", [(3, 0, 2), (3, 2, 0), (0, 2, 2), (3, 0, 0)])
def test_empty_sides_have_no_pairs(match, shape):
    dtype = float if match is max_similarity_matching else bool

    places = match(np.zeros(shape, dtype))

    assert places.shape == shape[:2]
    assert (places == -1).all()


@pytest.mark.parametrize("max_size", [8, 60])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_rows_with_more_pairs_are_where_matchings_of_the_first_rows_grow(
    max_size, ties, threshold, seed
):
    rng = np.random.default_rng(seed)
    shape = (5, *rng.integers(1, max_size, 2))
    tables = np.round(rng.random(shape), 9)
    if ties:
        tables = rng.integers(-2, 6, shape) / 8
    # Of equal sums, the one with more pairs is larger.
    gains = np.where(tables > threshold, tables + 5e-10 / (1 + shape[1]), 0.0)

    has_more = rows_with_more_pairs(gains)

    n_pairs = []
    for n_rows in range(shape[1] + 1):
        places = max_similarity_matching(gains[:, :n_rows])
        n_pairs.append((places >= 0).sum(axis=1))
    expected = np.diff(n_pairs, axis=0).T.astype(bool)
    np.testing.assert_array_equal(has_more, expected)
    np.testing.assert_array_equal(rows_with_more_pairs(gains[:1]), expected[:1])
