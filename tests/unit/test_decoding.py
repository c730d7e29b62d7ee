"""Decoding rules, compared label by label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import decoding as oracle

from semmetrics.core.ragged import offsets
from semmetrics.metrics import decoding


def falling(numbers):
    return sorted(numbers, reverse=True)


# Sums of sixteenths are exact and often equal to the thresholds, which are exclusive.
SIXTEENTHS = st.integers(0, 16).map(lambda number: number / 16)
ROW = st.lists(SIXTEENTHS, max_size=7).map(falling)
ROWS = st.lists(ROW, max_size=8)
THRESHOLDS = st.integers(-1, 33).map(lambda number: number / 16)
SMALL = st.integers(0, 4)


def to_ragged(rows):
    sizes = np.array([len(row) for row in rows], int)
    return offsets(sizes), np.concatenate([*rows, []])


@pytest.mark.parametrize("rule", ["above", "cumulative"])
@given(rows=ROWS, threshold=THRESHOLDS, keep_at_least=SMALL)
def test_thresholds_keep_the_labels_of_the_oracle(rule, rows, threshold, keep_at_least):
    indptr, scores = to_ragged(rows)
    keep = getattr(decoding, f"keep_{rule}")
    expected_size = getattr(oracle, rule)

    sizes = keep(indptr, scores, threshold, keep_at_least)

    for row, size in zip(rows, sizes, strict=True):
        assert size == expected_size(row, threshold, keep_at_least)


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.7, 1.0])
def test_cumulative_sums_do_not_depend_on_the_other_rows(limit):
    rng = np.random.default_rng(0)
    rows = []
    for size in rng.integers(1, 30, 300):
        row = np.array(falling(rng.random(size)))
        rows.append(row / row.sum())
    indptr, scores = to_ragged(rows)

    sizes = decoding.keep_cumulative(indptr, scores, limit)

    for row, size in zip(rows, sizes, strict=True):
        one_row = np.array([0, len(row)])
        assert decoding.keep_cumulative(one_row, row, limit) == size
        assert oracle.cumulative(row.tolist(), limit) == size


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, seed=SMALL)
def test_the_most_probable_set_size_is_kept(rows, columns, offset, seed):
    rng = np.random.default_rng(seed)
    heads = rng.integers(0, 4, (len(rows), columns))
    indptr, _ = to_ragged(rows)

    sizes = decoding.keep_cardinality(indptr, heads, offset)

    for size, row, head in zip(sizes, rows, heads, strict=True):
        assert size == oracle.cardinality(row, head, offset)


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, extra=st.integers(0, 1))
def test_the_set_size_of_the_largest_joint_probability_is_kept(
    rows, columns, offset, extra
):
    rng = np.random.default_rng(len(rows))
    heads = rng.random((len(rows), columns))
    heads[::2, ::2] = 0
    indptr, scores = to_ragged(rows)

    sizes = decoding.keep_cardinality_with_scores(indptr, scores, heads, offset, extra)

    for size, row, head in zip(sizes, rows, heads, strict=True):
        assert size == oracle.cardinality_with_scores(row, head, offset, extra)


SCORES = np.random.default_rng(7).integers(0, 6, (40, 5)) / 8
HEADS = np.random.default_rng(8).random((40, 4))


LIMITS = {"threshold": 0.25, "keep_at_least": 2}
SET_SIZES = {"head": HEADS, "offset": 1}
OPTIONS = {
    "threshold": LIMITS,
    "cumulative": LIMITS,
    "cardinality": SET_SIZES,
    "cardinality+scores": SET_SIZES,
    "top": {},
}


def expected_size(rule, row, head):
    if rule == "threshold":
        return oracle.above(row, 0.25, 2)
    if rule == "cumulative":
        return oracle.cumulative(row, 0.25, 2)
    if rule == "cardinality":
        return oracle.cardinality(row, head, 1)
    if rule == "cardinality+scores":
        return oracle.cardinality_with_scores(row, head, 1)
    return len(row)


@pytest.mark.parametrize("k", [0, 2, 3, 9])
@pytest.mark.parametrize("rule", OPTIONS)
def test_decode_marks_the_best_columns(rule, k):
    is_kept = decoding.decode(SCORES, rule, k=k, **OPTIONS[rule])

    for row, marks, head in zip(SCORES, is_kept, HEADS, strict=True):
        order = np.argsort(-row, kind="stable")[:k]
        size = expected_size(rule, row[order], head)
        marked_columns = np.flatnonzero(marks)
        assert set(marked_columns) == set(order[:size])
