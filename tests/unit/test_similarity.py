"""The similarity core against plain sums, and bit for bit in any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from semmetrics.core import similarity
from semmetrics.core.similarity import (
    cosine_blocks,
    cosine_table,
    euclidean_table,
    is_torch,
    top_k,
    unit_rows,
)
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
    distances = [[math.dist(a, b) for b in right.tolist()] for a in left.tolist()]
    found = euclidean_table(left * scale, right * scale)
    assert_allclose(found / scale, distances, rtol=0, atol=1e-11 + 1e-12 / scale)
    assert found[-1, -1] == 0
    units = unit_rows(left * scale)
    assert_allclose(np.linalg.norm(units, axis=1), left.any(axis=1), atol=1e-15)
    assert not units[0].any()


@pytest.mark.parametrize("dimension", [1, 3, 64, 300, 1024])
@pytest.mark.parametrize("table", [cosine_table, euclidean_table])
def test_a_cell_has_the_same_bits_in_any_table(table, dimension):
    rng = np.random.default_rng(dimension)
    vectors = (rng.normal(size=(200, dimension)) * rng.choice(SCALES[:3], (200, 1))).astype("f4")
    whole = table(vectors, vectors)
    assert_array_equal(whole, whole.T)
    for _ in range(30):
        rows, columns = (rng.choice(200, rng.integers(1, 60), replace=False) for _ in range(2))
        expected = whole[np.ix_(rows, columns)]
        assert_array_equal(table(vectors[rows], vectors[columns]), expected)
        assert_array_equal(table(np.asfortranarray(vectors[rows]), vectors[columns]), expected)


def test_distances_of_vectors_that_nearly_agree(monkeypatch):
    base = np.random.default_rng(0).normal(size=(1, 50)) * 7
    vectors = np.concatenate([base, base + 1e-9, base * (1 + 1e-12), base + 1e-3, base])
    expected = np.sqrt(((vectors[:, None] - vectors) ** 2).sum(axis=2))
    assert_allclose(euclidean_table(vectors, vectors), expected, rtol=0, atol=1e-12)
    monkeypatch.setattr(similarity, "_NUMBERS", 60)  # one difference at a time
    assert_allclose(euclidean_table(vectors, vectors), expected, rtol=0, atol=1e-12)


def test_many_equal_vectors_take_little_memory():
    """As where one vector stands for all unknown words."""
    tracemalloc = pytest.importorskip("tracemalloc")
    vectors = np.ones((700, 300))
    tracemalloc.start()
    assert not euclidean_table(vectors, vectors).any()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # 700 * 700 differences would be 1.2 GB


@pytest.mark.parametrize("memory", [1, 100, 1 << 20])
def test_blocks_and_the_nearest(memory):
    rng = np.random.default_rng(1)
    left, right = rng.normal(size=(23, 5)), np.round(rng.normal(size=(17, 5)))
    whole = cosine_table(left, right)
    blocks = list(cosine_blocks(left, right, memory=memory))
    assert [start for start, _ in blocks] == [0, *np.cumsum([len(b) for _, b in blocks])[:-1]]
    assert_allclose(np.concatenate([b for _, b in blocks]), whole, rtol=0, atol=1e-9)
    for k in (1, 4, 17):
        values, places = top_k(left, right, k, memory=memory)
        for row, found, where in zip(whole.tolist(), values, places.tolist(), strict=True):
            order = sorted(range(17), key=lambda j: (-row[j], j))[:k]
            assert where == order
            assert found.tolist() == [row[j] for j in order]


def test_the_nearest_have_the_cosines_of_the_table():
    rows = np.random.default_rng(0).normal(size=(700, 300))
    values, places = top_k(rows, rows, 700, memory=1 << 20)
    assert_array_equal(values, np.take_along_axis(cosine_table(rows, rows), places, axis=1))


def test_ties_are_in_their_order():
    _, places = top_k(np.ones((1, 2)), np.array([[1, 1], [0, 0], [2, 2], [0, 0]]), 4)
    assert places.tolist() == [[0, 2, 1, 3]]


def test_no_rows():
    none = np.zeros((0, 3))
    assert cosine_table(none, np.eye(3)).shape == (0, 3)
    assert cosine_table(np.eye(3), none).shape == (3, 0)
    assert euclidean_table(none, none).shape == (0, 0)
    assert list(cosine_blocks(none, np.eye(3))) == []
    values, places = top_k(none, np.eye(3), 2)
    assert values.shape == places.shape == (0, 2)


@pytest.mark.parametrize("table", [cosine_table, euclidean_table])
@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (np.eye(2), np.eye(3), "vectors have 2 and 3 numbers"),
        (np.ones(3), np.eye(3), r"vectors have shape \(3,\)"),
        (np.array([[1.0, np.nan, 0]]), np.eye(3), "not finite"),
        (np.eye(3), np.array([[1.0, np.inf, 0]]), "not finite"),
        (np.eye(3), np.array([[1.0, -1e200, 0]]), r"not finite, or beyond 1e\+150"),
    ],
)
def test_wrong_vectors(table, left, right, message):
    with pytest.raises(InputError, match=message):
        table(left, right)


def test_wrong_numbers_of_neighbours():
    for k in (0, 4):
        with pytest.raises(InputError, match=f"k={k} for 3 rows"):
            top_k(np.eye(3), np.eye(3), k)
    with pytest.raises(InputError, match="vectors have 2 and 3 numbers"):
        next(cosine_blocks(np.eye(2), np.eye(3)))


@given(matrices())
@settings(max_examples=40, deadline=None)
def test_torch_gives_the_same_numbers(tensor, problem):
    left, right, scale = problem
    mine, theirs = (tensor(side * scale) for side in (left, right))
    assert is_torch(mine)
    pairs = [(f(mine, theirs), f(left * scale, right * scale)) for f in
             (cosine_table, euclidean_table)]  # fmt: skip
    for found, expected in pairs:
        assert is_torch(found)
        assert str(found.dtype) == "torch.float64"
        assert_allclose(found.cpu().numpy(), expected, rtol=1e-12, atol=1e-12)
    assert_array_equal(pairs[0][0].cpu().numpy(), pairs[0][1])
    for k in (1, len(right)):
        expected = top_k(left * scale, right * scale, k)
        for found, one in zip(top_k(mine, theirs.requires_grad_(), k), expected, strict=True):
            assert_array_equal(found.cpu().numpy(), one)
    with pytest.raises(InputError, match="not finite"):
        cosine_table(mine * np.nan, theirs)
    with pytest.raises(InputError, match="one side is a torch tensor, the other is not"):
        cosine_table(mine, right)


def test_cosines_have_nine_decimals_and_lie_between_minus_1_and_1():
    rows = np.random.default_rng(9).normal(size=(60, 7))
    both = np.vstack([rows, -3 * rows])
    for table in (cosine_table(rows, both), next(cosine_blocks(rows, both))[1]):
        assert_array_equal(table, np.round(table, 9))
        assert (table.min(), table.max()) == (-1.0, 1.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e-150, 1e-140, 1e-130, 1e140])
def test_the_unit_rows_of_short_and_long_vectors(scale):
    rows = np.random.default_rng(10).normal(size=(50, 7))
    assert_allclose(unit_rows(rows * scale), unit_rows(rows), rtol=1e-13)


def test_numpy_is_no_torch():
    assert not is_torch(np.eye(2))
