"""The similarity core against plain sums, and bit for bit in any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from semmetrics.core.backend import is_torch
from semmetrics.core.similarity import EuclideanDistances, cosine_table, unit_rows
from semmetrics.errors import InputError

SCALES = [1.0, 1e-3, 1e6, 1e-30, 1e30, 1e-140, 1e140, 1e-160, 1e-200]


@st.composite
def matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, d = (draw(st.integers(1, 9)) for _ in range(3))
    scale = draw(st.sampled_from(SCALES))
    left, right = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    if draw(st.booleans()):
        left, right = np.round(left), np.round(right)
    left[0], right[-1] = 0, left[-1]
    return left, right, scale


def cosine(left, right):
    lengths = math.hypot(*left) * math.hypot(*right)
    return math.fsum(x * y for x, y in zip(left, right, strict=True)) / lengths if lengths else 0.0


@given(matrices())
@settings(max_examples=100, deadline=None)
def test_tables_are_those_of_plain_sums(problem):
    left, right, scale = problem
    expected = [[cosine(a, b) for b in right.tolist()] for a in left.tolist()]
    table = cosine_table(left * scale, right * scale)
    assert_allclose(table, expected, rtol=0, atol=6e-10)
    assert np.abs(table).max() <= 1
    units = unit_rows(left * scale)
    assert_allclose(np.linalg.norm(units, axis=1), left.any(axis=1), atol=1e-15)
    assert not units[0].any()


def distances(left, right):
    """Of every row of one matrix with every row of another."""
    rows, columns = np.arange(len(left)), np.arange(len(right)) + len(left)
    return EuclideanDistances(np.concatenate([left, right]))(rows[None], columns[None])[0]


@given(matrices())
@settings(max_examples=60, deadline=None)
def test_distances_are_those_of_plain_sums(problem):
    left, right, _ = problem
    expected = [[math.dist(a, b) for b in right.tolist()] for a in left.tolist()]
    found = distances(left, right)
    assert_allclose(found, expected, rtol=0, atol=1e-11)
    assert found[-1, -1] == 0


@pytest.mark.parametrize("dimension", [1, 3, 64, 300, 1024])
def test_a_cell_has_the_same_bits_in_any_table(dimension):
    rng = np.random.default_rng(dimension)
    vectors = (rng.normal(size=(200, dimension)) * rng.choice(SCALES[:3], (200, 1))).astype("f4")
    whole = cosine_table(vectors, vectors)
    assert_array_equal(whole, whole.T)
    for _ in range(30):
        rows, columns = (rng.choice(200, rng.integers(1, 60), replace=False) for _ in range(2))
        expected = whole[np.ix_(rows, columns)]
        assert_array_equal(cosine_table(vectors[rows], vectors[columns]), expected)
        assert_array_equal(
            cosine_table(np.asfortranarray(vectors[rows]), vectors[columns]), expected
        )


def test_distances_of_vectors_that_nearly_agree():
    base = np.random.default_rng(0).normal(size=(1, 50)) * 7
    vectors = np.concatenate([base, base + 1e-9, base * (1 + 1e-12), base + 1e-3, base])
    expected = np.sqrt(((vectors[:, None] - vectors) ** 2).sum(axis=2))
    assert_allclose(distances(vectors, vectors), expected, rtol=0, atol=1e-12)


def test_no_rows():
    none = np.zeros((0, 3))
    assert cosine_table(none, np.eye(3)).shape == (0, 3)
    assert cosine_table(np.eye(3), none).shape == (3, 0)
    assert distances(none, none).shape == (0, 0)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (np.ones(3), np.eye(3), r"vectors have shape \(3,\)"),
        (np.array([[1.0, np.nan, 0]]), np.eye(3), "not finite"),
        (np.eye(3), np.array([[1.0, np.inf, 0]]), "not finite"),
        (np.eye(3), np.array([[1.0, -1e200, 0]]), r"not finite, or beyond 1e\+150"),
    ],
)
def test_wrong_vectors(left, right, message):
    with pytest.raises(InputError, match=message):
        cosine_table(left, right)


@given(matrices())
@settings(max_examples=40, deadline=None)
def test_torch_gives_the_same_numbers(tensor, problem):
    left, right, scale = problem
    mine, theirs = (tensor(side * scale) for side in (left, right))
    assert is_torch(mine)
    found = cosine_table(mine, theirs.requires_grad_())
    assert is_torch(found)
    assert str(found.dtype) == "torch.float64"
    assert_array_equal(found.cpu().numpy(), cosine_table(left * scale, right * scale))
    assert_allclose(unit_rows(mine).cpu().numpy(), unit_rows(left * scale), rtol=0, atol=1e-15)
    with pytest.raises(InputError, match="not finite"):
        cosine_table(mine * np.nan, theirs)


def test_cosines_have_nine_decimals_and_lie_between_minus_1_and_1():
    rows = np.random.default_rng(9).normal(size=(60, 7))
    both = np.vstack([rows, -3 * rows])
    table = cosine_table(rows, both)
    assert_array_equal(table, np.round(table, 9))
    assert (table.min(), table.max()) == (-1.0, 1.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e-150, 1e-140, 1e-130, 1e140])
def test_the_unit_rows_of_short_and_long_vectors(scale):
    rows = np.random.default_rng(10).normal(size=(50, 7))
    assert_allclose(unit_rows(rows * scale), unit_rows(rows), rtol=1e-13)


def test_numpy_is_no_torch():
    assert not is_torch(np.eye(2))
