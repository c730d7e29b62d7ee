"""Columns of each kind against their dense tables."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

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


def column(kind, rows):
    """A column of that kind, and its table of Fractions: one row an item."""
    sizes = [len(row) for row in rows]
    if kind == "dense":
        values = [size / 3 - 0.7 for size in sizes]
        return Dense(np.array(values, np.float64)), [[Fraction(v)] for v in values]
    if kind == "counts":
        return Dense(np.array(sizes, np.int8)), [[Fraction(size)] for size in sizes]
    if kind == "coded":
        table = np.array([0.1, 0.7, -0.3, 1 / 3, 5.0])
        return Coded(np.array(sizes, np.int64), table), [
            [Fraction(table[s])] for s in sizes
        ]
    if kind == "onehot":
        codes = [size % WIDTH for size in sizes]
        one = [[Fraction(c == place) for place in range(WIDTH)] for c in codes]
        return OneHot(np.array(codes, np.int8), WIDTH), one
    codes = np.array([code for row in rows for code in row], np.int32)
    counts = [[Fraction(row.count(place)) for place in range(WIDTH)] for row in rows]
    return Sparse(offsets(np.array(sizes, np.int64)), codes, WIDTH), counts


def total(table, weights, kind):
    width = WIDTH if kind in ("onehot", "sparse") else 1
    every = [Fraction(0)] * width
    for row, weight in zip(table, weights, strict=True):
        every = [a + b * Fraction(weight) for a, b in zip(every, row, strict=True)]
    return every


def as_fractions(sums):
    flat = np.ravel(sums).tolist()
    return [Fraction(n, UNIT) if sums.dtype == object else Fraction(n) for n in flat]


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS)
def test_sums_are_exact(kind, rows):
    got, table = column(kind, rows)
    assert len(got) == len(rows)
    assert as_fractions(got.sum()) == total(table, [1] * len(rows), kind)
    assert got.sum().shape == (() if kind in ("dense", "counts", "coded") else (WIDTH,))


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_weighted_sums_are_exact(kind, rows, seed):
    got, table = column(kind, rows)
    weights = np.random.default_rng(seed).random(len(rows))
    # value times weight is rounded, once, before it is added
    if kind not in (
        "onehot",
        "sparse",
    ):
        table = [
            [Fraction(float(row[0]) * w)] for row, w in zip(table, weights, strict=True)
        ]
        assert as_fractions(got.sum(weights)) == total(table, [1] * len(rows), kind)
    else:
        assert as_fractions(got.sum(weights)) == total(table, weights, kind)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_resampled_sums_equal_repeated_items(kind, rows, seed):
    got, table = column(kind, rows)
    weights = (
        np.random.default_rng(seed).integers(0, 3, (3, len(rows))).astype(np.float64)
    )
    expected = [[float(n) for n in total(table, row, kind)] for row in weights]
    whole = np.zeros(len(rows), np.int64)
    resampled = np.concatenate([got.group_sums(whole, 1, row) for row in weights])
    assert resampled.shape == ((3, WIDTH) if kind in ("onehot", "sparse") else (3,))
    assert_allclose(resampled.reshape(3, -1), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS, cut=st.integers(0, 7))
def test_parts_joined_are_the_whole(kind, rows, cut):
    got, _ = column(kind, rows)
    cut = min(cut, len(rows))
    parts = [column(kind, some)[0] for some in (rows[:cut], rows[cut:])]
    assert [len(part) for part in parts] == [cut, len(rows) - cut]
    again = add_sums(*(part.sum() for part in parts))
    assert again.shape == got.sum().shape
    assert as_fractions(again) == as_fractions(got.sum())
    joined = concatenate_columns(parts)
    assert len(joined) == len(rows)
    assert as_fractions(joined.sum()) == as_fractions(got.sum())
    weights = np.arange(len(rows), dtype=np.float64) / 7
    assert as_fractions(joined.sum(weights)) == as_fractions(got.sum(weights))
    groups = np.arange(len(rows)) % 2
    summed = [
        part.group_sums(groups[at], 2, weights[at])
        for part, at in zip(parts, (slice(cut), slice(cut, None)), strict=True)
    ]
    assert_allclose(sum(summed), got.group_sums(groups, 2, weights), rtol=0, atol=1e-12)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
GROUPED = st.lists(st.tuples(FLOATS, st.integers(0, 3)), max_size=30)


@pytest.mark.parametrize("table", [0, 1 << 22])
@pytest.mark.parametrize("most", [3, 1 << 26])
@given(pairs=GROUPED)
def test_sums_of_groups_are_exact(table, most, pairs):
    values = np.array([value for value, _ in pairs], np.float64)
    groups = np.array([group for _, group in pairs], np.int32)
    # the same by sorting, and in several blocks
    with (
        mock.patch.object(columns, "_MAX_TABLE_CELLS", table),
        mock.patch.object(columns, "_MAX_VALUES_PER_STEP", most),
    ):
        total = columns.exact_sums(values, groups, 4)
    assert [Fraction(n, columns.UNIT) for n in total.tolist()] == [
        sum((Fraction(value) for value, one in pairs if one == group), Fraction(0))
        for group in range(4)
    ]
    assert all(type(n) is int for n in total.tolist() if n)


@given(values=st.lists(FLOATS.filter(lambda x: abs(x) < 1e300), max_size=30))
def test_the_nearest_float_is_that_of_fsum(values):
    total = columns.to_floats(columns.exact_sums(np.array(values, np.float64)))
    assert total.tolist() == [math.fsum(values)]


def test_extremes():
    values = np.array([5e-324, 1.7e308, -1.7e308, 2.0**-1030, -0.0])
    total = columns.exact_sums(values)
    assert total.tolist() == [1 + 2**44]
    assert columns.to_floats(total).tolist() == [2.0**-1030 + 5e-324]


def test_many_groups_with_far_exponents_do_not_overflow_their_cells():
    n_groups = 2_000_000  # times 2,000 exponents is past 32 bits
    total = columns.exact_sums(
        np.array([1e-300, 1e300, 1e300]),
        np.array([0, n_groups - 1, 7], np.int32),
        n_groups,
    )
    assert np.flatnonzero(total).tolist() == [0, 7, n_groups - 1]
    assert columns.to_floats(total[[0, 7, n_groups - 1]]).tolist() == [
        1e-300,
        1e300,
        1e300,
    ]


def test_nothing_adds_up_to_zero_and_shapes_are_kept():
    assert columns.exact_sums(np.zeros(0)).tolist() == [0]
    assert columns.exact_sums(np.zeros(0), np.zeros(0, np.int32), 0).shape == (0,)
    table = np.array([[columns.UNIT, 0], [-columns.UNIT, columns.UNIT // 2]], object)
    assert columns.to_floats(table).tolist() == [[1.0, 0.0], [-1.0, 0.5]]


def test_the_argument_is_left_as_it_is():
    values = np.array([1.5, 2.5])
    columns.exact_sums(values, np.array([0, 0]))
    assert values.tolist() == [1.5, 2.5]


def test_no_classes():
    empty = Sparse(np.array([0, 0]), np.zeros(0, np.int32), 0)
    assert empty.sum().shape == (0,)
    assert empty.group_sums(np.zeros(1, np.int64), 3, np.ones(1)).shape == (3, 0)
