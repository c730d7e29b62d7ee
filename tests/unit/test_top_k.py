"""The k largest numbers of rows and columns, compared with a stable sort."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused
from stand_ins import Sliced

from semmetrics.core.top_k import first_places, top_k

COLUMNS = pytest.mark.parametrize("columns", [False, True])


def check_top_k(table, k, columns, **options):
    """Check the k largest numbers of each line. Of equal numbers, the first comes first."""
    values, places = top_k(table, k, columns=columns, **options)

    lines = getattr(table, "values", table)
    if columns:
        lines = lines.T
    line_places = list(range(lines.shape[1]))
    for line, k_places in zip(lines.tolist(), places.tolist(), strict=True):
        order = sorted(line_places, key=line.__getitem__, reverse=True)
        assert k_places == order[:k]
    assert_array_equal(values, np.take_along_axis(lines, places, axis=1))


SHAPE = (600, 530)  # several blocks
UNIFORM = np.random.default_rng(0).random(SHAPE)
LARGER_LAST_ROW = np.zeros(SHAPE, np.int64)
LARGER_LAST_ROW[-1] = 1
TABLES = {
    "random": UNIFORM,
    "equal": np.zeros(SHAPE, np.float32),
    "few values": np.floor(3 * UNIFORM).astype(np.float32),
    "falling rows": np.sort(UNIFORM)[:, ::-1],
    "rising columns": np.sort(UNIFORM, axis=0),
    "half precision": UNIFORM.astype(np.float16),
    "bytes": (256 * UNIFORM).astype(np.uint8),
    "mostly false": UNIFORM < 0.01,
    "mostly -inf": np.where(UNIFORM < 0.99, -np.inf, 0.0),
    "some inf": np.where(UNIFORM < 0.05, np.inf, 0.0),
    "larger last row": LARGER_LAST_ROW,
}


@pytest.mark.sampled(20)
@COLUMNS
@pytest.mark.parametrize("k", [1, 12, 300])
@pytest.mark.parametrize("name", TABLES)
def test_top_k_equals_a_stable_sort(name, k, columns):
    table = TABLES[name]

    check_top_k(table, k, columns)
    check_top_k(np.asfortranarray(table), k, columns)
    check_top_k(Sliced(table), k, columns, memory=1 << 18)


@COLUMNS
@pytest.mark.parametrize("shape", [(1, 1), (1, 700), (3, 5000), (5000, 3), (7, 9)])
def test_small_and_long_tables_are_sorted(shape, columns):
    table = np.random.default_rng(0).integers(0, 4, shape)
    length = shape[0] if columns else shape[1]

    check_top_k(table.astype(float), 1, columns)
    check_top_k(table.astype(float), length, columns)


@COLUMNS
@pytest.mark.parametrize("shape", [(600, 20), (20, 600)])
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_integers_that_floats_cannot_represent_are_sorted_exactly(
    columns, shape, dtype
):
    rng = np.random.default_rng(4)
    limits = np.iinfo(dtype)
    smallest = np.full(shape, limits.min)
    table = rng.integers(limits.max - 40, limits.max, shape, dtype, endpoint=True)
    table[rng.random(shape) < 0.3] = limits.min

    check_top_k(table, 9, columns)
    check_top_k(smallest, 4, columns)


@COLUMNS
@pytest.mark.parametrize("width", [5, 700, 709])
def test_nan_is_an_error_that_names_its_place(width, columns):
    table = np.ones((width, width))
    table[3, -1] = np.nan

    with refused("out-of-range", f"row 3, column {width - 1} (from 0)"):
        top_k(table, 2, columns=columns)


@pytest.mark.parametrize("k", [0, 6, -1])
def test_k_outside_the_table_is_an_error(k):
    with refused("bad-option"):
        top_k(np.ones((9, 5)), k)


def to_torch(table):
    torch = pytest.importorskip("torch")
    return torch.as_tensor(table)


@pytest.mark.parametrize("convert", [np.asarray, to_torch])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", [(30, 7), (7000, 700)])
def test_of_equal_numbers_the_ones_marked_later_come_last(convert, dtype, shape):
    rng = np.random.default_rng(6)
    table = rng.integers(0, 2, shape).astype(dtype)
    if dtype == "int64":
        table += 1 << 60
    is_later = rng.random(shape) < 0.9

    places = first_places(convert(table), 5, is_later)
    unmarked_places = first_places(convert(table), 5)

    order = np.lexsort((is_later, -table))
    unmarked_order = np.argsort(-table, kind="stable")
    assert_array_equal(places, order[:, :5])
    assert_array_equal(unmarked_places, unmarked_order[:, :5])
