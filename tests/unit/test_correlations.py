"""Correlations with ratings against scipy and loops, under any weights; Williams' test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import agreement as oracle
from refusals import refused
from scipy import stats

from semmetrics.options import AGREEMENT
from semmetrics.studies.correlations import Correlated, correlation
from semmetrics.studies.significance import williams_p


def of_scipy(scores, ratings):
    return {
        "pearson": stats.pearsonr(scores, ratings).statistic,
        "spearman": stats.spearmanr(scores, ratings).statistic,
        "kendall-b": stats.kendalltau(scores, ratings).statistic,
        "kendall-c": stats.kendalltau(scores, ratings, variant="c").statistic,
    }


def some(n, levels, seed=0):
    rng = np.random.default_rng([n, levels, seed])
    ratings = rng.integers(0, levels, n).astype(float)
    scores = np.round(rng.normal(size=n) + ratings / levels, 1)
    ratings[:2], scores[:2] = (0, 1), (1, 0)
    return scores, ratings


@pytest.mark.parametrize("levels", [2, 3, 4, 7, 50, 10_000])
@pytest.mark.parametrize("n", [2, 3, 10, 61])
def test_statistics_equal_scipy_and_loops(n, levels):
    scores, ratings = some(n, levels)
    known = of_scipy(scores, ratings)
    for name in AGREEMENT:
        found = correlation(scores, ratings, name)
        plain = oracle.STATISTICS[name](scores.tolist(), ratings.tolist())
        assert found == pytest.approx(plain, abs=1e-12), name
        assert found == pytest.approx(known.get(name, plain), abs=1e-12), name


def test_many_items_equal_scipy():
    for levels in (4, 100_000):
        scores, ratings = some(16_992, levels)
        for name, value in of_scipy(scores, ratings).items():
            assert correlation(scores, ratings, name) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("levels", [2, 4, 30])
def test_weights_are_repetitions(levels):
    scores, ratings = some(40, levels)
    groups = np.arange(40) // 3
    table = Correlated.of(scores, ratings, groups, 15)  # the last group has no items
    counts = np.random.default_rng(1).multinomial(15, np.ones(15) / 15, size=20)
    found = table.weighted(list(AGREEMENT), counts)
    for row, some_counts in enumerate(counts):
        drawn = np.repeat(np.arange(40), some_counts[groups])
        for name in AGREEMENT:
            plain = oracle.STATISTICS[name](
                scores[drawn].tolist(), ratings[drawn].tolist()
            )
            assert_allclose(found[name][row], plain, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0, 2.0], [1.0]), "wrong-count"),
        (([1.0, np.nan], [1.0, 2.0]), "not-finite"),
        (([1.0, 2.0], np.ma.masked_equal([1.0, 2.0], 2)), "masked"),
        (([1.0, 2.0], [1.0, 2.0], "kendal-c"), "bad-choice"),
    ],
)
def test_what_cannot_be_correlated(given, message):
    with refused(message):
        correlation(*given)


@pytest.mark.parametrize("n", [4, 10, 103, 5000])
def test_williams_equals_the_equation(n):
    rng = np.random.default_rng(n)
    ratings = rng.normal(size=n)
    one, other = ratings + rng.normal(size=(2, n)) * [[1.0], [2.0]]
    first, second, between = (
        stats.pearsonr(*pair).statistic
        for pair in ((one, ratings), (other, ratings), (one, other))
    )
    p = 2 * stats.t.sf(abs(oracle.williams_t(first, second, between, n)), n - 3)
    assert williams_p(first, second, between, n) == pytest.approx(p, rel=1e-9)
    assert williams_p(second, first, between, n) == pytest.approx(p, rel=1e-9)


def test_williams_at_its_limits():
    assert round(williams_p(0.4, 0.5, 0.1, 103), 2) == 0.37  # the example of R's psych
    assert williams_p(0.3, 0.3, 0.9, 50) == 1.0
    assert williams_p(1.0, 0.999, 0.999, 50) < 1e-6
    assert math.isnan(williams_p(math.nan, 0.3, 0.1, 50))
    with refused("too-few-for-test"):
        williams_p(0.1, 0.2, 0.3, 3)
