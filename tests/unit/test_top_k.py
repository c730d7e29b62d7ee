"""The k largest of rows and columns against a stable sort, for every way that they are found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from semmetrics.core import top_k as module
from semmetrics.core.top_k import top_k
from semmetrics.errors import InputError


class Sliced:
    """Gives rows by slices, as HDF5 and zarr do, and nothing else."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.values[rows]


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
    yield rng.random((n, width)) < 0.01
    sparse = rng.random((n, width))
    sparse[rng.random((n, width)) < 0.99] = -np.inf
    yield sparse
    yield np.where(rng.random((n, width)) < 0.05, np.inf, 0.0)


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
                assert_array_equal(top_k(table, k, columns=columns)[1], sort(table, k, columns)[1])


def test_a_memory_map_is_read_as_an_array(tmp_path):
    table = np.random.default_rng(1).random((600, 700), np.float32)
    np.save(tmp_path / "phi.npy", table)
    mapped = np.load(tmp_path / "phi.npy", mmap_mode="r")
    for columns in (False, True):
        assert_array_equal(top_k(mapped, 5, columns=columns)[1], sort(table, 5, columns)[1])
        assert_array_equal(top_k(mapped.T, 5, columns=columns)[1], sort(table.T, 5, columns)[1])


def test_threads_change_nothing(monkeypatch):
    table = np.random.default_rng(2).integers(0, 9, (900, 800)).astype(float)
    found = [top_k(table, 7, columns=columns) for columns in (False, True)]
    monkeypatch.setattr(module, "count_workers", lambda backend: 1)
    alone = [top_k(table, 7, columns=columns) for columns in (False, True)]
    for one, other in zip(found, alone, strict=True):
        assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (600, 700)])
def test_nan_is_named(shape, columns):
    table = np.ones(shape)
    table[3, 2] = np.nan
    with pytest.raises(InputError, match=r"row 3, column 2 \(from 0\): a number is NaN"):
        top_k(table, 2, columns=columns)


@pytest.mark.parametrize("k", [0, 6, -1])
def test_k_is_one_of_the_line(k):
    with pytest.raises(InputError, match=f"k={k} of lines of 5"):
        top_k(np.ones((9, 5)), k)


def test_what_is_no_matrix():
    with pytest.raises(InputError, match="has shape"):
        top_k(np.ones(3), 1)
    with pytest.raises(InputError, match="has no shape"):
        top_k([[1.0]], 1)
