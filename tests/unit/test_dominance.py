"""Equation 7 of Wan et al. and dominances, against loops and dense eigenvectors."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from oracles import competition as oracle
from refusals import refused

from semmetrics.studies.dominance import compute_dominance, rank_dominance

POSITIVE_SCORES = st.integers(2, 9).flatmap(
    lambda size: arrays(np.float64, (size, size), elements=st.floats(0.01, 100))
)


@given(POSITIVE_SCORES)
def test_dominances_are_ratios_of_scores(scores):
    dominance = compute_dominance(scores)

    assert_allclose(dominance, oracle.dominance(scores.tolist()), rtol=1e-14)
    assert_allclose(dominance * dominance.T, 1.0, rtol=1e-14)


@given(POSITIVE_SCORES)
def test_positive_dominances_are_ranked_by_the_perron_vector(scores):
    dominance = compute_dominance(scores)

    rank = rank_dominance(dominance)

    values, vectors = np.linalg.eig(dominance)
    perron = np.abs(vectors[:, np.argmax(values.real)].real)
    assert_allclose(rank.scores, perron / perron.sum(), rtol=1e-9)
    assert rank.irreducible
    assert rank.period == 1
    assert rank.converged


CYCLES_OF_2_AND_3 = [
    [0, 4, 0, 0, 0],
    [1, 0, 0, 0, 0],
    [0, 0, 0, 8, 0],
    [0, 0, 0, 0, 1],
    [0, 0, 1, 0, 0],
]


@pytest.mark.parametrize(
    ("matrix", "period", "irreducible"),
    [
        ([[0, 1, 0], [0, 0, 1], [3, 0, 0]], 3, True),
        ([[1, 2, 0], [0.5, 1, 0], [0, 0, 3]], 1, False),
        ([[0, 2, 0], [1, 0, 0], [1, 1, 1]], 2, False),
        (CYCLES_OF_2_AND_3, 6, False),
    ],
)
def test_scores_are_the_mean_over_all_powers(matrix, period, irreducible):
    rank = rank_dominance(matrix)

    assert_allclose(rank.scores, oracle.power_mean(matrix, 20_000), atol=1e-3)
    assert rank.period == period
    assert rank.irreducible is irreducible
    assert rank.converged


def test_a_block_that_grows_with_the_power_takes_all():
    rank = rank_dominance([[1, 2], [0, 1]])  # F^a 1 = (1 + 2a, 1)

    assert_allclose(rank.scores, [1, 0], atol=1e-11)
    assert rank.ranks == (1, 2)


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 1e300], [1e-300, 1]],
        [[1, 1e300, 2], [1e-300, 1, 1e-150], [0.5, 1e150, 1]],
        [[0, 3e-5, 0], [1.5, 1.4e-18, 0], [0, 2.6e-7, 6.4e-4]],  # nearly of period 2
        [[1e-300, 1, 0], [0, 1e-300, 1], [0, 0, 2e-300]],
    ],
)
def test_dominances_of_any_magnitude_agree_with_60_digits(matrix):
    rank = rank_dominance(matrix)

    expected = oracle.power_limit(matrix, rank.period)
    assert rank.converged
    assert_allclose(rank.scores, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("gap", [1e-3, 1e-9, 3e-11, 1e-12, 1e-14])
@pytest.mark.parametrize("size", [1, 2])
def test_the_faster_of_two_blocks_with_nearly_equal_growth_wins(gap, size):
    matrix = np.kron([[1, 0], [0, 1 + gap]], np.ones((size, size)))

    rank = rank_dominance(matrix)

    assert rank.converged
    assert_allclose(rank.scores, oracle.power_limit(matrix), atol=1e-11)
    assert rank.ranks == (1 + size,) * size + (1,) * size


@pytest.mark.parametrize(
    "matrix", [[[0, 0], [0, 0]], [[0, 1, 1], [0, 0, 1], [0, 0, 0]]]
)
def test_matrices_whose_powers_vanish_raise_an_error(matrix):
    with refused("vanishing-dominance"):
        rank_dominance(matrix)


def test_powers_with_a_period_above_the_limit_raise_an_error():
    lengths = (2, 3, 5, 7, 11, 13)  # of cycles, with a common period of 30,030
    matrix = np.zeros((sum(lengths), sum(lengths)))
    start = 0
    for length in lengths:
        places = start + np.arange(length)
        matrix[places, np.roll(places, 1)] = 1
        start += length

    with refused("vanishing-dominance"):
        rank_dominance(matrix)


@pytest.mark.parametrize("function", [compute_dominance, rank_dominance])
@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        ([[0, -0.5], [1, 0]], "out-of-range"),
        ([[0, math.nan], [1, 0]], "out-of-range"),
        ([[0, math.inf], [1, 0]], "out-of-range"),
        ([[1, 2]], "wrong-shape"),
        ([], "wrong-shape"),
        (5, "wrong-shape"),
    ],
)
def test_only_square_matrices_of_numbers_from_0_are_accepted(function, matrix, code):
    with refused(code):
        function(matrix)


@pytest.mark.parametrize("floor", [0.0, math.inf])
def test_a_floor_that_is_not_positive_and_finite_raises_an_error(floor):
    with refused("bad-option"):
        compute_dominance([[0, 1], [1, 0]], floor=floor)


@pytest.mark.parametrize("scores", [[[0, 1e-320], [1, 0]], [[0, 1], [0, 0]]])
def test_infinite_dominances_raise_an_error(scores):
    with refused("no-dominance"):
        compute_dominance(scores)


def test_scores_of_0_are_raised_to_the_floor():
    dominance = compute_dominance([[0, 1], [0, 0]], floor=0.1)

    assert dominance.tolist() == [[1, 10], [0.1, 1]]
