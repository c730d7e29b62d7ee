"""The k largest numbers of rows and columns, compared with a stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused
from stand_ins import Sliced

from semmetrics.core.top_k import first_places, top_k


def stable_places(table, k):
    """Return the places of the k largest numbers of each row, of equal ones the first."""
    places = []
    for row in table.tolist():
        places.append(sorted(range(len(row)), key=lambda place: -row[place])[:k])
    return places


def check_top_k(table, k, columns=False, **options):
    values, places = top_k(table, k, columns=columns, **options)

    lines = getattr(table, "values", table)
    if columns:
        lines = lines.T
    expected = stable_places(lines, k)
    assert places.tolist() == expected
    assert_array_equal(values, np.take_along_axis(lines, places, axis=1))


SHAPE = (600, 530)  # several blocks


def with_larger_last_row(rng):
    table = np.zeros(SHAPE, np.int64)
    table[-1] = 1
    return table


TABLES = {
    "random": lambda rng: rng.random(SHAPE),
    "equal": lambda rng: np.zeros(SHAPE, np.float32),
    "few values": lambda rng: rng.integers(0, 3, SHAPE).astype(np.float32),
    "falling rows": lambda rng: -np.sort(-rng.random(SHAPE), axis=1),
    "rising columns": lambda rng: np.sort(rng.random(SHAPE), axis=0),
    "half precision": lambda rng: rng.normal(size=SHAPE).astype(np.float16),
    "bytes": lambda rng: rng.integers(0, 256, SHAPE).astype(np.uint8),
    "mostly false": lambda rng: rng.random(SHAPE) < 0.01,
    "mostly -inf": lambda rng: np.where(rng.random(SHAPE) < 0.99, -np.inf, 0.0),
    "some inf": lambda rng: np.where(rng.random(SHAPE) < 0.05, np.inf, 0.0),
    "larger last row": with_larger_last_row,
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("k", [1, 12, 300])
@pytest.mark.parametrize("name", TABLES)
def test_top_k_equals_a_stable_sort(name, k, columns):
    table = TABLES[name](np.random.default_rng(0))

    check_top_k(table, k, columns)
    check_top_k(np.asfortranarray(table), k, columns)
    check_top_k(Sliced(table), k, columns, memory=1 << 18)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 700), (700, 1), (3, 5000), (5000, 3), (7, 9)]
)
def test_small_and_long_tables_are_sorted(shape, columns):
    table = np.random.default_rng(0).integers(0, 4, shape).astype(float)

    check_top_k(table, 1, columns)
    check_top_k(table, shape[not columns], columns)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(600, 20), (20, 600)])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8])
def test_integers_that_floats_cannot_represent_are_sorted_exactly(
    columns, shape, dtype
):
    rng = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    table = rng.integers(limits.max - 40, limits.max, shape, dtype, endpoint=True)
    table[rng.random(shape) < 0.3] = limits.min

    check_top_k(table, 9, columns)
    check_top_k(np.full(shape, limits.min), 4, columns)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("shape", [(4, 5), (600, 700)])
def test_nan_is_an_error_that_names_its_place(shape, columns):
    table = np.ones(shape)
    table[3, 2] = np.nan

    with refused("out-of-range", "row 3, column 2 (from 0)"):
        top_k(table, 2, columns=columns)


@pytest.mark.parametrize("k", [0, 6, -1])
def test_k_outside_the_table_is_an_error(k):
    with refused("bad-option"):
        top_k(np.ones((9, 5)), k)


def to_torch(table):
    torch = pytest.importorskip("torch")
    return torch.as_tensor(table)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("convert", [np.asarray, to_torch])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("shape", [(30, 7), (7000, 700)])
@pytest.mark.parametrize("n_values", [2, 1 << 20])
@pytest.mark.parametrize("k", [1, 5])
def test_of_equal_numbers_the_ones_marked_later_come_last(
    convert, dtype, shape, n_values, k
):
    rng = np.random.default_rng(6)
    table = rng.integers(0, n_values, shape).astype(dtype)
    if dtype == np.int64:
        table += 1 << 60
    is_later = rng.random(shape) < 0.5

    places = first_places(convert(table), k, is_later)

    order = np.lexsort((is_later, -table))[:, :k]
    assert_array_equal(places, order)
    assert_array_equal(first_places(convert(table), k), np.lexsort((-table,))[:, :k])
