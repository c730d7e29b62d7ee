"""Cells: membership and repeats against sets and loops, by table and by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.core import ragged

KEYS = st.lists(st.integers(0, 9), max_size=20)


# Keys below a small number are looked up in a table, others are sorted.
SIZES = pytest.mark.parametrize("size", [10, 1 << 40], ids=["table", "sorted"])


def ints(values):
    return np.array(values, np.int64)


@SIZES
@given(some=KEYS, among=KEYS)
def test_membership(size, some, among):
    assert ragged.is_member(ints(some), ints(among), size).tolist() == [
        k in among for k in some
    ]


@SIZES
@given(some=KEYS)
def test_first_occurrences(size, some):
    got = ragged.first_occurrences(ints(some), size)
    if len(set(some)) == len(some):
        assert got is None
    else:
        assert got.tolist() == [key not in some[:n] for n, key in enumerate(some)]


def test_cells_beyond_32_bits():
    codes = np.array([2_000_000_000, 1], np.int32)
    got = ragged.cell_keys(ints([0, 1, 1, 2]), codes, 2_100_000_000)
    assert got.tolist() == [2_000_000_000, 4_200_000_001]
    assert ragged.first_occurrences(got, 3 * 2_100_000_000) is None
    assert ragged.is_member(got, got[1:], 3 * 2_100_000_000).tolist() == [False, True]
