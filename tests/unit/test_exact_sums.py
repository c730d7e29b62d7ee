"""Sums without rounding error against rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.core import columns

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
GROUPED = st.lists(st.tuples(FLOATS, st.integers(0, 3)), max_size=30)


def oracle(pairs, n_groups):
    total = [Fraction(0)] * n_groups
    for value, group in pairs:
        total[group] += Fraction(value)
    return total


def arrays(pairs):
    values = np.array([value for value, _ in pairs], np.float64)
    return values, np.array([group for _, group in pairs], np.int32)


@pytest.mark.parametrize("table", [0, 1 << 22])
@pytest.mark.parametrize("most", [3, 1 << 26])
@given(pairs=GROUPED)
def test_sums_of_groups_are_exact(table, most, pairs):
    whole = columns._TABLE, columns._MOST
    columns._TABLE, columns._MOST = table, most  # the same by sorting, and in several blocks
    try:
        total = columns.exact_sums(*arrays(pairs), 4)
    finally:
        columns._TABLE, columns._MOST = whole
    assert [Fraction(n, columns.UNIT) for n in total.tolist()] == oracle(pairs, 4)
    assert all(type(n) is int for n in total.tolist() if n)


@given(values=st.lists(FLOATS.filter(lambda x: abs(x) < 1e300), max_size=30))
def test_the_nearest_float_is_that_of_fsum(values):
    total = columns.to_floats(columns.exact_sums(np.array(values, np.float64)))
    assert total.tolist() == [math.fsum(values)]


@given(pairs=GROUPED, cut=st.integers(0, 30), seed=st.integers(0, 99))
def test_any_split_in_any_order_gives_the_same_sum(pairs, cut, seed):
    whole = columns.exact_sums(*arrays(pairs), 4)
    mixed = [pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))]
    parts = columns.exact_sums(*arrays(mixed[:cut]), 4) + columns.exact_sums(
        *arrays(mixed[cut:]), 4
    )
    assert parts.tolist() == whole.tolist()


def test_extremes():
    values = np.array([5e-324, 1.7e308, -1.7e308, 2.0**-1030, -0.0])
    total = columns.exact_sums(values)
    assert total.tolist() == [1 + 2**44]
    assert columns.to_floats(total).tolist() == [2.0**-1030 + 5e-324]


def test_many_groups_with_far_exponents_do_not_overflow_their_cells():
    n_groups = 2_000_000  # times 2,000 exponents is past 32 bits
    total = columns.exact_sums(
        np.array([1e-300, 1e300, 1e300]), np.array([0, n_groups - 1, 7], np.int32), n_groups
    )
    assert np.flatnonzero(total).tolist() == [0, 7, n_groups - 1]
    assert columns.to_floats(total[[0, 7, n_groups - 1]]).tolist() == [1e-300, 1e300, 1e300]


def test_nothing_adds_up_to_zero_and_shapes_are_kept():
    assert columns.exact_sums(np.zeros(0)).tolist() == [0]
    assert columns.exact_sums(np.zeros(0), np.zeros(0, np.int32), 0).shape == (0,)
    table = np.array([[columns.UNIT, 0], [-columns.UNIT, columns.UNIT // 2]], object)
    assert columns.to_floats(table).tolist() == [[1.0, 0.0], [-1.0, 0.5]]


def test_the_argument_is_left_as_it_is():
    values = np.array([1.5, 2.5])
    columns.exact_sums(values, np.array([0, 0]))
    assert values.tolist() == [1.5, 2.5]
