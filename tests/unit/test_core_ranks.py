"""Ranks of candidates: counts of nearer and tied candidates, and medians of ranks."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import retrieval as oracle

from semmetrics.core.ragged import offsets
from semmetrics.core.ranks import count_down, count_nearer
from semmetrics.core.top_k import first_places
from semmetrics.metrics.retrieval import median_rank


def random_table(shape, dtype):
    """Integers from 0 to 3, which are often equal, or booleans."""
    n_levels = 2 if dtype == np.bool_ else 4
    return np.random.default_rng(0).integers(0, n_levels, shape).astype(dtype)


def choose_candidates(n_queries, n_candidates):
    """Choose up to three candidates of each query."""
    rng = np.random.default_rng(1)
    sizes = np.resize([2, 0, 3, 1, 2], n_queries)
    codes = [rng.permutation(n_candidates)[:size] for size in sizes]
    return offsets(sizes), np.concatenate(codes).astype(np.int32)


# The second shape needs several blocks of rows, and the third one several tiles of columns.
@pytest.mark.parametrize("shape", [(5, 3), (5, 5000), (4200, 3)])
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int64, np.bool_]
)
@pytest.mark.parametrize("queries_are", ["rows", "columns"])
def test_nearer_and_tied_candidates_are_counted(queries_are, dtype, shape):
    table = random_table(shape, dtype)
    indptr, codes = choose_candidates(*shape)

    if queries_are == "rows":
        counts = count_nearer(table, indptr, codes)
    else:
        counts = count_down(np.ascontiguousarray(table.T), indptr, codes)

    rows = np.repeat(table, np.diff(indptr), axis=0)
    values = rows[np.arange(len(codes)), codes][:, None]
    is_earlier = np.arange(shape[1]) < codes[:, None]
    np.testing.assert_array_equal(counts.nearer, (rows > values).sum(1))
    np.testing.assert_array_equal(counts.tied, (rows == values).sum(1) - 1)
    n_tied_before = ((rows == values) & is_earlier).sum(1)
    np.testing.assert_array_equal(counts.tied_before, n_tied_before)


@pytest.mark.parametrize("n_candidates", [3, 5000])
def test_the_first_places_are_those_of_a_stable_sort(n_candidates):
    table = random_table((5, n_candidates), np.float64)

    places = first_places(table, 3)

    for row, row_places in zip(table.tolist(), places.tolist(), strict=True):
        assert row_places == oracle.ranking(row, set())[:3]


@pytest.mark.parametrize("weight", [1, 0.1, 1e-9, 1 / 3, 12345.678])
def test_equal_weights_do_not_change_the_median_rank(weight):
    rng = np.random.default_rng(1)
    for n_queries in range(1, 40):
        ranks = rng.integers(1, 3 * n_queries + 1, n_queries)
        resampled = rng.integers(0, 5, (20, n_queries))
        counts = np.vstack([np.ones(n_queries), resampled, np.zeros(n_queries)])

        medians = median_rank(ranks, weight * counts)

        repeated = [np.repeat(ranks, row.astype(int)) for row in counts]
        expected = [oracle.median_rank(row) for row in repeated]
        np.testing.assert_array_equal(medians, expected)
