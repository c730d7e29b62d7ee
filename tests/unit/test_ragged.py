"""Membership and repeats of integer keys, which are looked up in a table or sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.core import ragged

KEYS = st.lists(st.integers(0, 9), max_size=20).map(lambda keys: np.array(keys, int))
SIZES = pytest.mark.parametrize("size", [10, 1 << 40], ids=["table", "sorted"])


@SIZES
@given(keys=KEYS, others=KEYS)
def test_members_are_the_keys_that_occur_among_others(size, keys, others):
    is_member = ragged.is_member(keys, others, size)

    assert is_member.tolist() == [key in others for key in keys]


@SIZES
@given(keys=KEYS)
def test_first_occurrences_are_none_if_there_are_no_repeats(size, keys):
    is_first = ragged.first_occurrences(keys, size)

    expected = [key not in keys[:place] for place, key in enumerate(keys)]
    assert is_first is None or is_first.tolist() == expected
    assert (is_first is None) == all(expected)


def test_keys_of_cells_may_exceed_32_bits():
    codes = np.array([2_000_000_000, 1], np.int32)

    keys = ragged.cell_keys(np.array([0, 1, 1, 2]), codes, 2_100_000_000)

    assert keys.tolist() == [2_000_000_000, 4_200_000_001]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("largest", [1, 400, 10**6])
@pytest.mark.parametrize("n_columns", [3, 300])
def test_equal_keys_keep_their_order_in_short_and_long_rows(n_columns, largest, dtype):
    generator = np.random.default_rng(0)
    table = generator.integers(-largest, largest, (7, n_columns)).astype(dtype)
    if dtype is not np.int32:
        table[:, 1::9] = -0.0
        table[:, 2::9] = np.inf
    row_starts = np.arange(8) * n_columns

    order = ragged.order_rows(row_starts, table.ravel())

    columns = np.argsort(-table, axis=1, kind="stable")
    expected = columns + row_starts[:-1, None]
    assert order.tolist() == expected.ravel().tolist()
