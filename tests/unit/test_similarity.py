"""Cosines, and whether they are above a threshold: the same numbers in any table."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from semmetrics.core.cosine_thresholds import ThresholdTest
from semmetrics.core.similarity import cosine_table, is_close, unit_rows


def draw_vectors(n, dimension):
    """Draw similar vectors with a zero vector, duplicates and cosines of about 0.6."""
    rng = np.random.default_rng(dimension)
    centres = rng.normal(size=(5, dimension))
    vectors = centres[rng.integers(5, size=n)] + rng.normal(size=(n, dimension))
    vectors[0] = 0.0
    vectors[1] = vectors[3]
    vectors[2] = -2.5 * vectors[4]
    vectors[5:8] = 0.0
    vectors[5, 0] = 1.0
    vectors[6, :2] = 0.6, 0.8
    vectors[7, :2] = 0.6 + 1e-7, 0.8
    return vectors.astype(np.float32)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30, 1e-140, 1e140])
def test_cosines_are_products_of_unit_vectors_at_any_scale(scale):
    vectors = draw_vectors(40, 50).astype(float)

    cosines = cosine_table(vectors * scale, vectors)

    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None]
    assert_allclose(cosines, units @ units.T, rtol=0, atol=1e-8)
    assert_allclose(unit_rows(vectors * scale), units, rtol=0, atol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-30, 1e140, 1e-160, 1e-200])
@pytest.mark.parametrize("dimension", [3, 9])
def test_torch_gives_the_cosines_of_numpy(tensor, dimension, scale):
    vectors = draw_vectors(12, dimension).astype(float)

    cosines = cosine_table(tensor(vectors * scale).requires_grad_(), tensor(vectors))

    assert str(cosines.dtype) == "torch.float64"
    assert_array_equal(cosines.cpu(), cosine_table(vectors * scale, vectors))
    units = unit_rows(tensor(vectors * scale)).cpu()
    assert_allclose(units, unit_rows(vectors * scale), rtol=0, atol=1e-15)
    with refused("out-of-range"):
        cosine_table(tensor(vectors * np.nan), tensor(vectors))


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e200])
def test_vectors_outside_the_range_of_squares_are_errors(number):
    with refused("out-of-range"):
        cosine_table(np.eye(3), np.array([[1.0, number, 0]]))


@pytest.mark.parametrize("n", [40, 300])
@pytest.mark.parametrize("dimension", [3, 50, 700])
def test_cosines_above_a_threshold_are_those_of_the_table(dimension, n):
    vectors = draw_vectors(n, dimension)
    cosines = cosine_table(vectors, vectors)
    test = ThresholdTest(vectors)
    every = np.arange(n)
    rng = np.random.default_rng(0)

    for cosine in [0.6, 0.0, 1.0, -1.0, *rng.choice(cosines.ravel(), 3)]:
        for threshold in (np.nextafter(cosine, -2), cosine, np.nextafter(cosine, 2)):
            close = np.flatnonzero(is_close(cosines, threshold))
            for decisions in (
                test.test_table(every, every, threshold),
                test.test_items(every[None], every[None], threshold),
            ):
                is_above = decisions.above.reshape(n, n)
                assert_array_equal(is_above, cosines > threshold)
                assert_array_equal(np.sort(decisions.close), close)
