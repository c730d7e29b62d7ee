"""p values of single tests and their corrections, against scipy and simple cases."""

import math

import numpy as np
import pytest
from refusals import refused
from scipy import stats

from semmetrics.studies.rank_tests import nemenyi_p, signed_rank_p
from semmetrics.studies.significance import (
    correct_p,
    shifted_p,
    shifted_size_p,
    simulated_p,
    student_t,
)


@pytest.mark.parametrize("n", [5, 12, 30, 50])
def test_signed_rank_p_is_exact_for_up_to_50_items(n):
    differences = np.random.default_rng(n).normal(0.2, 1, n)

    p = signed_rank_p(differences)

    expected = stats.wilcoxon(differences, method="exact").pvalue
    assert p == pytest.approx(expected, rel=1e-9)


def test_signed_rank_p_of_more_items_is_the_normal_approximation():
    differences = np.random.default_rng(4).integers(-3, 5, 200) / 4

    p = signed_rank_p(differences)

    expected = stats.wilcoxon(differences, method="asymptotic").pvalue
    assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("power", [1, 2, 10, 29])
def test_sizes_that_differ_by_rounding_share_a_rank(power):
    size = 2.0**-power
    below = math.nextafter(size, 0)
    above = math.nextafter(size, 1)

    p = signed_rank_p([1.0, size, -below, size, -size, above])

    assert p == signed_rank_p([1.0, size, -size, size, -size, size])


def test_simulated_differences_that_equal_the_observed_one_up_to_rounding_count():
    assert simulated_p([0.3, -0.3], 0.1 + 0.2) == 1.0
    assert shifted_p([0.1 + 0.2, -0.3], 0.1 + 0.2) == 1.0


def test_sizes_of_replicates_that_differ_only_by_rounding_are_equal():
    replicates = [0.1 + 0.2] * 3 + [-0.3] * 4

    assert shifted_size_p(replicates, 0.0) == pytest.approx(1 / 8)


def test_infinite_replicates_have_no_p():
    assert math.isnan(shifted_p([math.inf, 1.0], 1.0))
    assert math.isnan(shifted_size_p([math.inf, 1.0], 1.0))


P_VALUES = [0.01, 0.04, 0.03, 0.005]


@pytest.mark.parametrize(
    ("method", "corrected"),
    [
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("benjamini-hochberg", stats.false_discovery_control(P_VALUES)),
        ("none", P_VALUES),
    ],
)
def test_correction_leaves_out_undefined_p(method, corrected):
    *values, undefined = correct_p([*P_VALUES, math.nan], method)

    assert values == pytest.approx(corrected)
    assert math.isnan(undefined)
    assert max(correct_p([0.6, 0.9, 1.0], method)) <= 1


@pytest.mark.parametrize(
    ("function", "arguments", "code"),
    [
        (student_t, ([0.1, math.nan],), "not-finite"),
        (student_t, ([0.1, 0.2], 1.5), "bad-option"),
        (student_t, ([0.1],), "too-few-for-test"),
        (simulated_p, ([[0.1, 0.2]], 0.1), "wrong-shape"),
        (correct_p, ([0.5, 1.5],), "out-of-range"),
        (correct_p, ([-0.1],), "out-of-range"),
        (nemenyi_p, ([1.0, math.nan], 3), "not-finite"),
    ],
)
def test_invalid_numbers_raise_an_error(function, arguments, code):
    with refused(code):
        function(*arguments)
