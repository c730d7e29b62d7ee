"""The k largest of rows and columns against a stable sort, for every way that they are found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused
from stand_ins import Sliced

from semmetrics.core.top_k import first_places, top_k


def sort(values, k, columns):
    table = np.asarray(values, np.float64)
    table = table.T if columns else table
    places = np.argsort(-table, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(table, places, axis=1), places


def tables(seed):
    rng = np.random.default_rng(seed)
    n, width = rng.integers(515, 800, 2)
    yield rng.random((n, width))
    yield rng.integers(0, 3, (n, width)).astype(np.float32)
    yield np.zeros((n, width), np.float32)
    yield np.sort(rng.random((n, width)), axis=1)[:, ::-1]
    yield np.sort(rng.random((n, width)), axis=0)
    yield rng.normal(size=(n, width)).astype(np.float16)
    yield rng.integers(-5, 5, (n, width))
    yield rng.integers(0, 256, (n, width)).astype(np.uint8)
    yield rng.random((n, width)) < 0.01
    sparse = rng.random((n, width))
    sparse[rng.random((n, width)) < 0.99] = -np.inf
    yield sparse
    yield np.where(rng.random((n, width)) < 0.05, np.inf, 0.0)
    late = np.zeros((n, width), np.int64)
    late[-1] = 1  # just above enough equal ones
    yield late


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("k", [1, 12, 300])
def test_equals_a_stable_sort(k, columns):
    for table in tables(k):
        expected = sort(table, k, columns)
        forms = (table, 1 << 26), (table, 1 << 18), (np.asfortranarray(table), 1 << 26)
        for values, memory in (*forms, (Sliced(table), 1 << 18)):
            found = top_k(values, k, columns=columns, memory=memory)
            assert_array_equal(found[1], expected[1])
            assert_array_equal(found[0], expected[0])


def test_small_and_long_tables():
    rng = np.random.default_rng(0)
    for shape in ((1, 1), (1, 700), (700, 1), (3, 5000), (5000, 3), (7, 9)):
        table = rng.integers(0, 4, shape).astype(float)
        for columns in (False, True):
            for k in {1, shape[0 if columns else 1]}:
                assert_array_equal(
                    top_k(table, k, columns=columns)[1], sort(table, k, columns)[1]
                )


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (600, 700)])
def test_nan_is_named(shape, columns):
    table = np.ones(shape)
    table[3, 2] = np.nan
    with refused("out-of-range", "row 3, column 2 (from 0)"):
        top_k(table, 2, columns=columns)


@pytest.mark.parametrize("k", [0, 6, -1])
def test_what_is_refused(k):
    with refused("bad-option"):
        top_k(np.ones((9, 5)), k)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(9, 20), (600, 20), (20, 600)])
@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.int8])
def test_integers_keep_their_order_where_no_float_holds_them(columns, shape, kind):
    rng, ends = np.random.default_rng(4), np.iinfo(kind)
    for k in (1, 4, 9):
        table = rng.integers(
            ends.max - 40 % ends.max, ends.max, shape, kind, endpoint=True
        )
        table[rng.random(shape) < 0.3] = ends.min
        for values in (
            table,
            np.full(shape, ends.min, kind),
            np.full(shape, ends.max, kind),
        ):
            lines = (values.T if columns else values).tolist()
            exact = [
                sorted(range(len(one)), key=lambda p: (-one[p], p))[:k] for one in lines
            ]
            assert top_k(values, k, columns=columns)[1].tolist() == exact


def devices():
    yield np.asarray
    try:
        import torch
    except ImportError:
        return
    yield torch.as_tensor


@pytest.mark.parametrize("make", [*devices()])
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("width", [7, 700])
@pytest.mark.parametrize("cells", [500, 1 << 22])
def test_first_places_are_those_of_a_sort_under_every_rule_of_ties(
    monkeypatch, make, kind, width, cells
):
    monkeypatch.setattr("semmetrics.core.top_k._MAX_CELLS_PER_STEP", cells)
    rng = np.random.default_rng(6)
    for top in (2, 40, 1 << 20):
        table = rng.integers(0, top, (30, width)).astype(kind)
        if kind == np.int64:
            table += 1 << 60
        for later in (None, rng.random((30, width)) < 0.5):
            behind = np.zeros((30, width), bool) if later is None else later
            for k in (1, 5, 7):
                found = first_places(make(table), k, later)
                assert found.dtype == np.int32
                for line, flags, places in zip(
                    table.tolist(), behind.tolist(), found.tolist(), strict=True
                ):
                    order = sorted(range(width), key=lambda p: (-line[p], flags[p], p))
                    assert places == order[:k]
