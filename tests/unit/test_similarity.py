"""The similarity core against plain sums, and bit for bit in any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from semmetrics.core import cosine_thresholds
from semmetrics.core.backend import is_torch
from semmetrics.core.cosine_thresholds import ThresholdTest
from semmetrics.core.similarity import cosine_table, is_close, unit_rows

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
    return (
        math.fsum(x * y for x, y in zip(left, right, strict=True)) / lengths
        if lengths
        else 0.0
    )


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1e200])
def test_wrong_vectors(wrong):
    with refused("out-of-range"):
        cosine_table(np.eye(3), np.array([[1.0, wrong, 0]]))


@given(matrices())
def test_torch_gives_the_same_numbers(tensor, problem):
    left, right, scale = problem
    mine, theirs = (tensor(side * scale) for side in (left, right))
    assert is_torch(mine)
    found = cosine_table(mine, theirs.requires_grad_())
    assert is_torch(found)
    assert str(found.dtype) == "torch.float64"
    assert_array_equal(found.cpu().numpy(), cosine_table(left * scale, right * scale))
    assert_allclose(
        unit_rows(mine).cpu().numpy(), unit_rows(left * scale), rtol=0, atol=1e-15
    )
    with refused("out-of-range"):
        cosine_table(mine * np.nan, theirs)


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
        assert_array_equal(
            np.sort(found.close), np.flatnonzero(is_close(exact, threshold))
        )
    return exact


@pytest.mark.parametrize("few", [0, 64, 10**6])
@pytest.mark.parametrize("dimension", [3, 50, 700])
def test_decisions_are_those_of_the_cosines(monkeypatch, dimension, few):
    monkeypatch.setattr(cosine_thresholds, "_MIN_CELLS_PER_UNSURE", few or 0.01)
    rng = np.random.default_rng(dimension)
    rows = vectors(rng, 40, dimension)
    exact = check(rows, 0.6)
    # at a cosine that occurs, and as little as a digit beside it
    for cosine in [*rng.choice(exact.ravel(), 5).tolist(), 0.0, 1.0, -1.0]:
        for threshold in (cosine, np.nextafter(cosine, 2), np.nextafter(cosine, -2)):
            check(rows, threshold)
