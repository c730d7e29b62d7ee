"""One-to-one assignment against trying every assignment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import transport as oracle

from semmetrics.core.assignment import (
    first_allowed,
    greedy_matching,
    max_cardinality_matching,
    max_similarity_matching,
    rows_with_more_pairs,
)


def most_similar(table, threshold):
    return max_similarity_matching(np.where(table > threshold, table, -np.inf))


def above(function):
    return lambda table, threshold: function(table > threshold)


greedy, most_pairs = above(greedy_matching), above(max_cardinality_matching)
any_reference = above(first_allowed)
FUNCTIONS = (greedy, most_pairs, most_similar, any_reference)


@st.composite
def tables(draw):
    """Similarities with many ties, some of them at the threshold."""
    m, n = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    kind = draw(st.sampled_from([np.float32, np.float64]))
    share = draw(st.sampled_from([0.3, 0.6, 0.9]))
    values = np.random.default_rng(seed).choice(
        [-0.5, 0.0, 0.4, 0.5, 0.75, 1.0],
        (4, m, n),
        p=[(1 - share) / 3] * 3 + [share / 3] * 3,
    )
    return values.astype(kind)


def check_one_to_one(table, found, threshold):
    for rows, places in zip(table, found.tolist(), strict=True):
        used = [place for place in places if place >= 0]
        assert len(set(used)) == len(used)
        assert all(rows[i][j] > threshold for i, j in enumerate(places) if j >= 0)


@given(tables(), st.sampled_from([0.4, 0.0, -1.0, 0.75]))
def test_assignments_are_those_of_brute_force(table, threshold):
    paired, similar = most_pairs(table, threshold), most_similar(table, threshold)
    first = greedy(table, threshold)
    threshold = float(table.dtype.type(threshold))  # as numpy compares them
    for found in (paired, similar, first):
        assert found.shape == table.shape[:2]
        assert found.dtype == np.int64
        check_one_to_one(table, found, threshold)
    for k, rows in enumerate(table.tolist()):
        most, total = oracle.best_matching(rows, threshold)
        assert (paired[k] >= 0).sum() == most
        mine = sum(rows[i][j] for i, j in enumerate(similar[k].tolist()) if j >= 0)
        assert mine == pytest.approx(total, abs=1e-9)
        assert first[k].tolist() == oracle.greedy(rows, threshold)
        expected = [
            next((j for j, s in enumerate(r) if s > threshold), -1) for r in rows
        ]
        assert any_reference(table, threshold)[k].tolist() == expected


def test_larger_tables_against_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = np.random.default_rng(1)
    table = rng.random((40, 17, 23))
    for threshold in (0.8, 0.9, 0.95):
        found = most_pairs(table, threshold)
        check_one_to_one(table, found, threshold)
        for k in range(40):
            best = maximum_bipartite_matching(sparse.csr_array(table[k] > threshold))
            assert (found[k] >= 0).sum() == (best >= 0).sum()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(3, 0, 2), (3, 2, 0), (0, 2, 2), (3, 0, 0)])
def test_empty_sides_match_nothing(function, shape):
    found = function(np.zeros(shape), 0.4)
    assert found.shape == shape[:2]
    assert (found == -1).all()


@pytest.mark.parametrize("seed", range(60))
def test_rows_with_more_pairs_are_those_of_the_matchings_of_the_first_rows(seed):
    rng = np.random.default_rng(seed)
    items, m, n = rng.integers(1, 7), *rng.integers(1, 60 if seed % 6 == 0 else 9, 2)
    table = (
        rng.random((items, m, n))
        if seed % 2
        else rng.integers(-2, 6, (items, m, n)) / 8
    )
    table = np.round(table, 9)
    # of equal sums that with more pairs
    gain = np.where(table > rng.choice([0, 0.3, 0.6]), table + 5e-10 / (1 + m), 0.0)
    pairs = [
        (max_similarity_matching(gain[:, :k]) >= 0).sum(axis=1) for k in range(m + 1)
    ]
    expected = np.diff(pairs, axis=0).T.astype(bool)
    np.testing.assert_array_equal(rows_with_more_pairs(gain), expected)
    alone = [rows_with_more_pairs(gain[k : k + 1]) for k in range(items)]
    np.testing.assert_array_equal(np.concatenate(alone), expected)
