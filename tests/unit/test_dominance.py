"""Equation 7 and dominance, against loops and a dense eigen-solver."""

from __future__ import annotations

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

SIZES = st.integers(2, 9)


def positive(size):
    return arrays(np.float64, (size, size), elements=st.floats(0.01, 100))


@given(SIZES.flatmap(positive))
def test_of_positive_scores_it_is_the_perron_vector(scores):
    dominance = compute_dominance(scores)
    assert_allclose(dominance, oracle.dominance(scores.tolist()), rtol=1e-14)
    assert_allclose(dominance * dominance.T, 1.0, rtol=1e-14)
    found = rank_dominance(dominance)
    values, vectors = np.linalg.eig(dominance)
    perron = np.abs(vectors[:, np.argmax(values.real)].real)
    assert_allclose(found.scores, perron / perron.sum(), rtol=1e-9)
    assert found.irreducible
    assert found.period == 1
    assert found.converged
    assert math.isclose(sum(found.scores), 1.0)


@pytest.mark.parametrize(
    ("matrix", "period", "irreducible"),
    [
        ([[0, 2], [1, 0]], 2, True),  # no power is positive: the powers go round
        ([[0, 1, 0], [0, 0, 1], [3, 0, 0]], 3, True),
        ([[1, 2, 0], [0.5, 1, 0], [0, 0, 3]], 1, False),
        ([[0, 2, 0], [1, 0, 0], [1, 1, 1]], 2, False),
        ([[1, 0, 0], [0, 0.5, 0], [0, 0, 0.4]], 1, False),
        ([[1, 1, 1], [1, 1, 1], [1, 1, 1]], 1, True),
        ([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], 2, True),
        # two cycles that grow alike, of lengths 2 and 3
        (
            [
                [0, 4, 0, 0, 0],
                [1, 0, 0, 0, 0],
                [0, 0, 0, 8, 0],
                [0, 0, 0, 0, 1],
                [0, 0, 1, 0, 0],
            ],
            6,
            False,
        ),
    ],
)
def test_equation_7_as_it_stands(matrix, period, irreducible):
    found = rank_dominance(matrix)
    assert_allclose(found.scores, oracle.power_mean(matrix, 20_000), atol=1e-3)
    assert (found.period, found.irreducible, found.converged) == (
        period,
        irreducible,
        True,
    )


def test_a_block_that_grows_with_the_power_takes_all():
    # F^a 1 = (1 + 2a, 1): the mean approaches (1, 0) by 1/a alone
    found = rank_dominance([[1, 2], [0, 1]])
    assert_allclose(found.scores, [1, 0], atol=1e-11)
    assert oracle.power_mean([[1, 2], [0, 1]], 20_000)[0] == pytest.approx(1, abs=1e-3)
    assert not found.irreducible
    assert found.ranks == (1, 2)


FAR = [
    [[0, 1e200], [1e-200, 0]],
    [[1, 1e300], [1e-300, 1]],
    [[1, 1e300], [0, 1]],
    [[1, 1e300, 2], [1e-300, 1, 1e-150], [0.5, 1e150, 1]],
    [[0, 1e-200, 0], [0, 0, 1e-200], [1e-100, 0, 0]],
    [[0, 3e-5, 0], [1.5, 1.4e-18, 0], [0, 2.6e-7, 6.4e-4]],  # nearly of period 2
    [[1e-300, 1, 0], [0, 1e-300, 1], [0, 0, 2e-300]],
]


@pytest.mark.parametrize("matrix", FAR)
def test_dominances_of_any_size_against_60_digits(matrix):
    found = rank_dominance(matrix)
    assert found.converged
    assert_allclose(
        found.scores, oracle.power_limit(matrix, found.period), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 3e-11, 1e-12, 1e-13, 1e-14])
@pytest.mark.parametrize("size", [1, 2])
def test_blocks_that_grow_nearly_alike(gap, size):
    block = np.ones((size, size))
    matrix = np.kron([[1, 0], [0, 1 + gap]], block)
    found = rank_dominance(matrix)
    assert found.converged
    assert_allclose(found.scores, oracle.power_limit(matrix), atol=1e-11)
    assert found.ranks == (1 + size,) * size + (1,) * size


@pytest.mark.parametrize(
    "matrix",
    [
        [[0, 0], [0, 0]],
        [[0, 1], [0, 0]],
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
    ],
)
def test_matrices_whose_powers_vanish(matrix):
    with refused("vanishing-dominance"):
        rank_dominance(matrix)


def test_powers_that_repeat_too_late_are_refused():
    lengths = (2, 3, 5, 7, 11, 13)  # of cycles; they are in step after 30,030 powers
    matrix, start = np.zeros((sum(lengths), sum(lengths))), 0
    for length in lengths:
        places = start + np.arange(length)
        matrix[places, np.roll(places, 1)] = 1
        start += length
    with refused("vanishing-dominance"):
        rank_dominance(matrix)


@pytest.mark.parametrize(
    ("scores", "floor", "words"),
    [
        *[
            ([[0, odd], [1, 0]], floor, "out-of-range")
            for odd in (-0.5, math.nan, math.inf)
            for floor in (None, 0.1, "of dominances")
        ],
        ([[0, 1], [1, 0]], 0.0, "bad-option"),
        ([[0, 1], [1, 0]], math.inf, "bad-option"),
        ([[0, 1e-320], [1, 0]], None, "no-dominance"),
        ([[0, 1], [1e-320, 0]], None, "no-dominance"),
        *[
            (odd, floor, "wrong-shape")
            for odd in ([[1, 2]], [], np.ones((2, 2, 2)), 5)
            for floor in (None, "of dominances")
        ],
    ],
)
def test_scores_and_dominances_that_are_refused(scores, floor, words):
    with refused(words):
        if floor == "of dominances":
            rank_dominance(scores)
        else:
            compute_dominance(scores, floor=floor)
