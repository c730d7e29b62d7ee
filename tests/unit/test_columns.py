"""Columns of each kind against dense tables of fractions, and exact sums of floats."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from semmetrics.core import columns
from semmetrics.core.columns import (
    UNIT,
    Coded,
    Dense,
    OneHot,
    Sparse,
    add_sums,
    concatenate_columns,
)
from semmetrics.core.ragged import offsets

WIDTH = 4
ROWS = st.lists(st.lists(st.integers(0, WIDTH - 1), max_size=4), max_size=7)
KINDS = ["dense", "counts", "coded", "onehot", "sparse"]


class Column(NamedTuple):
    """A column, and its dense table with a row for each item."""

    column: Any
    table: Any


def make_column(kind, rows):
    """Return a column of a kind for some rows."""
    sizes = np.array([len(row) for row in rows], np.int64)
    if kind == "dense":
        values = sizes / 3 - 0.7
        return Column(Dense(values), values[:, None])
    if kind == "counts":
        values = sizes.astype(np.int8)
        return Column(Dense(values), values[:, None])
    if kind == "coded":
        values = np.array([0.1, 0.7, -0.3, 1 / 3, 5.0])
        table = values[sizes][:, None]
        return Column(Coded(sizes, values), table)
    if kind == "onehot":
        codes = (sizes % WIDTH).astype(np.int8)
        return Column(OneHot(codes, WIDTH), np.eye(WIDTH)[codes])
    counts = np.zeros((len(rows), WIDTH))
    codes = []
    for row, row_codes in enumerate(rows):
        codes += row_codes
        for code in row_codes:
            counts[row, code] += 1
    codes = np.array(codes, np.int32)
    return Column(Sparse(offsets(sizes), codes, WIDTH), counts)


def exact_column_sums(table, weights):
    """Return the sum of each column as a fraction, of weighted rows."""
    sums = [Fraction(0)] * table.shape[1]
    for row, weight in zip(table.tolist(), weights, strict=True):
        for place, value in enumerate(row):
            sums[place] += Fraction(value) * Fraction(weight)
    return sums


def as_fractions(sums):
    """Return exact sums as fractions."""
    unit = UNIT if sums.dtype == object else 1
    numbers = sums.ravel().tolist()
    return [Fraction(number) / unit for number in numbers]


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS)
def test_sums_are_exact(kind, rows):
    column, table = make_column(kind, rows)

    sums = column.sum()

    expected = exact_column_sums(table, [1] * len(rows))
    has_classes = kind in ("onehot", "sparse")
    assert len(column) == len(rows)
    assert as_fractions(sums) == expected
    assert sums.shape == ((WIDTH,) if has_classes else ())


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_weighted_sums_are_exact_after_products_are_rounded(kind, rows, seed):
    column, table = make_column(kind, rows)
    weights = np.random.default_rng(seed).random(len(rows))

    sums = column.sum(weights)

    if kind in ("onehot", "sparse"):
        expected = exact_column_sums(table, weights)
    else:
        products = table * weights[:, None]
        expected = exact_column_sums(products, [1] * len(rows))
    assert as_fractions(sums) == expected


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_resampled_sums_equal_sums_of_repeated_items(kind, rows, seed):
    column, table = make_column(kind, rows)
    rng = np.random.default_rng(seed)
    n_copies = rng.integers(0, 3, len(rows))
    group = np.zeros(len(rows), np.int64)

    sums = column.group_sums(group, 1, n_copies.astype(np.float64))

    expected = np.repeat(table, n_copies, axis=0).sum(axis=0)
    assert_allclose(sums.ravel(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, n_first=st.integers(0, 7))
def test_concatenated_parts_have_the_sums_of_the_whole(kind, rows, n_first):
    whole, _ = make_column(kind, rows)
    first, _ = make_column(kind, rows[:n_first])
    second, _ = make_column(kind, rows[n_first:])
    weights = np.arange(len(rows)) / 7

    joined = concatenate_columns([first, second])
    added = add_sums(first.sum(), second.sum())

    expected = as_fractions(whole.sum())
    expected_weighted = as_fractions(whole.sum(weights))
    assert len(joined) == len(rows)
    assert as_fractions(added) == expected
    assert as_fractions(joined.sum()) == expected
    assert as_fractions(joined.sum(weights)) == expected_weighted


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
GROUPED_FLOATS = st.lists(st.tuples(FLOATS, st.integers(0, 3)), max_size=30)


@pytest.mark.parametrize("max_table_cells", [0, 1 << 22], ids=["sorted", "table"])
@pytest.mark.parametrize("max_values_per_step", [3, 1 << 26])
@given(pairs=GROUPED_FLOATS)
def test_sums_of_groups_are_exact(max_table_cells, max_values_per_step, pairs):
    values = np.array([value for value, _ in pairs], np.float64)
    groups = np.array([group for _, group in pairs], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "MAX_TABLE_CELLS", max_table_cells)
        patch.setattr(columns, "MAX_VALUES_PER_STEP", max_values_per_step)
        sums = columns.exact_sums(values, groups, 4)

    expected = [Fraction(0)] * 4
    for value, group in pairs:
        expected[group] += Fraction(value)
    assert as_fractions(sums) == expected


@given(values=st.lists(FLOATS.filter(lambda x: abs(x) < 1e300), max_size=30))
def test_a_sum_is_rounded_once(values):
    sums = columns.exact_sums(np.array(values, np.float64))

    total = columns.to_floats(sums)

    assert total.tolist() == [math.fsum(values)]


def test_cells_of_many_groups_with_distant_exponents_do_not_overflow():
    n_groups = 2_000_000  # times 2,000 exponents is more than 32 bits
    groups = np.array([0, n_groups - 1, 7], np.int32)
    values = np.array([1e-300, 1e300, 1e300])

    sums = columns.exact_sums(values, groups, n_groups)

    sums_of_groups = columns.to_floats(sums[groups])
    assert np.flatnonzero(sums).tolist() == [0, 7, n_groups - 1]
    assert_array_equal(sums_of_groups, values)


def test_a_column_without_classes_has_no_sums():
    no_classes = Sparse(np.array([0, 0]), np.zeros(0, np.int32), 0)

    sums = no_classes.sum()
    group_sums = no_classes.group_sums(np.array([0]), 3, np.ones(1))

    assert sums.shape == (0,)
    assert group_sums.shape == (3, 0)
