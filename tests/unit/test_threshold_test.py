"""Decisions on a threshold are those of the cosines, however they are made."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import facts
from tiny import Tiny

import semmetrics
from semmetrics.core import threshold_test as module
from semmetrics.core.similarity import cosine_table
from semmetrics.core.threshold_test import ThresholdTest, is_close


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
    measures = ["SemF1(threshold=0.6)", "SemF1(threshold=0.3)"]
    table = semmetrics.score(preds, refs, measures=measures, embedding=model)
    found = facts(table, "near-threshold")
    assert [(fact.n, fact.values["threshold"]) for fact in found] == [(3, 0.6)]
