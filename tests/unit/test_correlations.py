"""Correlations under any weights, against scipy and loops, and Williams' test."""

import math

import numpy as np
import pytest
from oracles import agreement as oracle
from refusals import refused
from scipy import stats

from semmetrics.options import AGREEMENT
from semmetrics.studies.correlations import correlation
from semmetrics.studies.significance import williams_p
from semmetrics.studies.weighted_correlations import Correlated


def expected_by_scipy(scores, ratings):
    return {
        "pearson": stats.pearsonr(scores, ratings).statistic,
        "spearman": stats.spearmanr(scores, ratings).statistic,
        "kendall-b": stats.kendalltau(scores, ratings).statistic,
        "kendall-c": stats.kendalltau(scores, ratings, variant="c").statistic,
    }


def random_ratings(n, levels):
    """Return scores and ratings, with ties on both sides. Neither side is constant."""
    rng = np.random.default_rng([n, levels, 0])
    ratings = rng.integers(0, levels, n).astype(float)
    scores = np.round(rng.normal(size=n) + ratings / levels, 1)
    ratings[:2] = (0, 1)
    scores[:2] = (1, 0)
    return scores, ratings


@pytest.mark.parametrize("levels", [2, 3, 4, 7, 50, 10_000])
@pytest.mark.parametrize("n", [2, 3, 10, 61])
def test_statistics_equal_loops(n, levels):
    scores, ratings = random_ratings(n, levels)

    for name in AGREEMENT:
        expected = oracle.STATISTICS[name](scores.tolist(), ratings.tolist())
        value = correlation(scores, ratings, name)
        assert value == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize(
    ("n", "levels"), [(10, 3), (61, 50), (16_992, 4), (16_992, 100_000)]
)
def test_correlations_equal_scipy(n, levels):
    scores, ratings = random_ratings(n, levels)

    for name, expected in expected_by_scipy(scores, ratings).items():
        value = correlation(scores, ratings, name)
        assert value == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("levels", [2, 4, 30])
def test_weights_repeat_the_items_of_a_group(levels):
    scores, ratings = random_ratings(40, levels)
    groups = np.arange(40) // 3
    n_groups = 15  # the last one has no items
    table = Correlated.of(scores, ratings, groups, n_groups)
    counts = np.random.default_rng(1).multinomial(15, np.ones(15) / 15, size=20)

    weighted = table.weighted(list(AGREEMENT), counts)

    for row, counts_of_groups in enumerate(counts):
        items = np.repeat(np.arange(40), counts_of_groups[groups])
        repeated = (scores[items].tolist(), ratings[items].tolist())
        for name in AGREEMENT:
            expected = oracle.STATISTICS[name](*repeated)
            value = weighted[name][row]
            assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (([1.0, 2.0], [1.0]), "wrong-count"),
        (([1.0, np.nan], [1.0, 2.0]), "not-finite"),
        (([1.0, 2.0], np.ma.masked_equal([1.0, 2.0], 2)), "masked"),
        (([1.0, 2.0], [1.0, 2.0], "kendal-c"), "bad-choice"),
    ],
)
def test_values_that_cannot_be_correlated_raise_an_error(arguments, code):
    with refused(code):
        correlation(*arguments)


@pytest.mark.parametrize("n", [4, 10, 103, 5000])
def test_williams_p_equals_the_equation(n):
    rng = np.random.default_rng(n)
    ratings = rng.normal(size=n)
    one = ratings + rng.normal(size=n)
    other = ratings + 2 * rng.normal(size=n)
    (_, first, second), (_, _, between), _ = np.corrcoef([ratings, one, other])

    t = oracle.williams_t(first, second, between, n)

    expected = pytest.approx(2 * stats.t.sf(abs(t), n - 3), rel=1e-9)
    assert williams_p(first, second, between, n) == expected
    assert williams_p(second, first, between, n) == expected


def test_williams_p_of_the_example_of_the_r_package_psych():
    assert round(williams_p(0.4, 0.5, 0.1, 103), 2) == 0.37


def test_williams_p_of_extreme_correlations():
    assert williams_p(0.3, 0.3, 0.9, 50) == 1.0
    assert williams_p(1.0, 0.999, 0.999, 50) < 1e-6
    assert math.isnan(williams_p(math.nan, 0.3, 0.1, 50))
    with refused("too-few-for-test"):
        williams_p(0.1, 0.2, 0.3, 3)
