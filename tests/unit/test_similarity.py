"""The similarity core against plain sums, and bit for bit in any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.core import similarity as module
from semmetrics.core.backend import is_torch
from semmetrics.core.similarity import (
    EuclideanDistances,
    ThresholdTest,
    cosine_table,
    is_close,
    unit_rows,
)

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


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1e200])
def test_wrong_vectors(wrong):
    with refused("wrong-shape"):
        cosine_table(np.ones(3), np.eye(3))
    with refused("out-of-range"):
        cosine_table(np.eye(3), np.array([[1.0, wrong, 0]]))


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
    with refused("out-of-range"):
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


def vectors(rng, n, dimension):
    """Clustered, with a zero vector, repeats, and cosines that are 0.6 or nearly."""
    kinds = rng.normal(size=(5, dimension))
    rows = kinds[rng.integers(5, size=n)] + rng.normal(size=(n, dimension))
    rows[0], rows[1], rows[2] = 0.0, rows[3], -2.5 * rows[4]
    rows[5:8] = 0.0
    rows[5, 0], rows[6, :2], rows[7, :2] = 1.0, (0.6, 0.8), (0.6 + 1e-7, 0.8)
    return rows.astype(np.float32)


def check(rows, threshold):
    n = len(rows)
    exact = cosine_table(rows, rows)
    test = ThresholdTest(rows)
    every = np.arange(n)
    for found in (
        test.test_table(every, every, threshold),
        test.test_items(every.reshape(1, n), every.reshape(1, n), threshold),
    ):
        assert_array_equal(found.above.reshape(n, n), exact > threshold)
        assert_array_equal(np.sort(found.close), np.flatnonzero(is_close(exact, threshold)))
    return exact


@pytest.mark.parametrize("few", [0, 64, 10**6])
@pytest.mark.parametrize("dimension", [3, 50, 700])
def test_decisions_are_those_of_the_cosines(monkeypatch, dimension, few):
    monkeypatch.setattr(module, "_FEW", few or 0.01)
    rng = np.random.default_rng(dimension)
    rows = vectors(rng, 40, dimension)
    exact = check(rows, 0.6)
    # at a cosine that occurs, and as little as a digit beside it
    for cosine in [*rng.choice(exact.ravel(), 5).tolist(), 0.0, 1.0, -1.0]:
        for threshold in (cosine, np.nextafter(cosine, 2), np.nextafter(cosine, -2)):
            check(rows, threshold)


@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e30])
def test_vectors_of_any_length(scale):
    rows = vectors(np.random.default_rng(0), 20, 30)
    mixed = rows * np.where(np.arange(20) % 2, scale, 1.0)[:, None]
    check(mixed.astype(np.float32), 0.4)
    check(mixed, 0.4)


@pytest.mark.parametrize("scale", [1e-60, 1e-170, 1e-310])
def test_vectors_whose_squares_vanish_are_not_zero(scale):
    rows = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0], [2e170, 0.0]]) * scale
    check(rows, 0.4)


@pytest.mark.parametrize("few", [1e-9, 64])
def test_every_close_pair_is_found_in_few_dimensions(few, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    rows = np.random.default_rng(2).normal(size=(60, 1))
    for threshold in (-1.000001, -0.999999):
        check(rows, threshold)
        check(rows.astype(np.float32), threshold)


def test_vectors_without_numbers_are_zero():
    check(np.zeros((3, 0), np.float32), 0.4)
    check(np.zeros((3, 0), np.float32), -0.4)


def test_an_item_is_decided_alone_as_among_others():
    rng = np.random.default_rng(1)
    test = ThresholdTest(vectors(rng, 60, 20))
    # more numbers than are gathered at a time
    rows, columns = rng.integers(60, size=(4000, 4)), rng.integers(60, size=(4000, 7))
    whole = test.test_items(rows, columns, 0.5)
    for place in range(0, 4000, 37):
        alone = test.test_items(rows[[place]], columns[[place]], 0.5)
        assert_array_equal(alone.above[0], whole.above[place])


def test_nothing_is_decided_for_nothing():
    test = ThresholdTest(np.ones((2, 3), np.float32))
    none = np.zeros(0, np.int64)
    assert test.test_table(none, np.arange(2), 0.5).above.shape == (0, 2)
    assert test.test_table(np.arange(2), none, 0.5).above.shape == (2, 0)
    assert test.test_items(*(np.zeros((0, n), np.int64) for n in (2, 3)), 0.5).above.size == 0


def test_pairs_near_the_threshold_are_counted():
    model = Tiny({"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.6 + 1e-7, 0.8], "d": [0.5, 0.8]})

    preds, refs = [["a", "d"], ["a"], ["a"]], [["b", "c"], ["b", "a"], ["d"]]
    table = semmetrics.score(
        preds, refs, measures=["SemF1(threshold=0.6)", "SemF1(threshold=0.3)"], embedding=model
    )
    (near,) = (fact for fact in table.facts if fact.code == "near-threshold")
    assert (near.n, near.values) == (3, {"threshold": 0.6})
