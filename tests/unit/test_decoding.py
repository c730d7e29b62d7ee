"""Decoding rules, compared label by label."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import decoding as oracle

from semmetrics.core.ragged import offsets
from semmetrics.metrics import decoding

# Sums of sixteenths are exact and often equal to the thresholds, which are exclusive.
SIXTEENTHS = st.integers(0, 16).map(lambda number: number / 16)
ROWS = st.lists(
    st.lists(SIXTEENTHS, max_size=7).map(lambda row: sorted(row, reverse=True)),
    max_size=8,
)
SMALL = st.integers(0, 4)


def to_ragged(rows):
    return offsets(np.array([len(row) for row in rows], int)), np.concatenate(
        [*rows, []]
    )


@pytest.mark.parametrize("rule", ["above", "cumulative"])
@given(
    rows=ROWS,
    threshold=st.integers(-1, 33).map(lambda number: number / 16),
    keep_at_least=SMALL,
)
def test_thresholds_keep_the_labels_of_the_oracle(rule, rows, threshold, keep_at_least):
    keep = getattr(decoding, f"keep_{rule}")
    expected = getattr(oracle, rule)

    sizes = keep(*to_ragged(rows), threshold, keep_at_least)

    assert sizes.tolist() == [expected(row, threshold, keep_at_least) for row in rows]


@pytest.mark.parametrize("limit", [0.1, 0.3, 0.7, 1.0])
def test_cumulative_sums_do_not_depend_on_the_other_rows(limit):
    rng = np.random.default_rng(0)
    rows = []
    for size in rng.integers(1, 30, 300):
        row = -np.sort(-rng.random(size))
        rows.append(row / row.sum())

    sizes = decoding.keep_cumulative(*to_ragged(rows), limit)

    for row, size in zip(rows, sizes, strict=True):
        assert decoding.keep_cumulative(*to_ragged([row]), limit) == [size]
        assert oracle.cumulative(row.tolist(), limit) == size


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, seed=SMALL)
def test_the_most_probable_set_size_is_kept(rows, columns, offset, seed):
    rng = np.random.default_rng(seed)
    heads = rng.integers(0, 4, (len(rows), columns)) / 4

    sizes = decoding.keep_cardinality(to_ragged(rows)[0], heads, offset)

    pairs = zip(rows, heads, strict=True)
    assert sizes.tolist() == [oracle.cardinality(*pair, offset) for pair in pairs]


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, extra=st.integers(0, 1))
def test_the_set_size_of_the_largest_joint_probability_is_kept(
    rows, columns, offset, extra
):
    heads = np.random.default_rng(len(rows)).random((len(rows), columns))
    heads[::2, ::2] = 0

    sizes = decoding.keep_cardinality_with_scores(
        *to_ragged(rows), heads, offset, extra
    )

    for size, row, head in zip(sizes, rows, heads, strict=True):
        assert size == oracle.cardinality_with_scores(row, head, offset, extra)


HEADS = np.random.default_rng(7).random((40, 4))
SET_SIZES = {"head": HEADS, "offset": 1}


@pytest.mark.parametrize("k", [0, 2, 3, 9])
@pytest.mark.parametrize(
    ("rule", "options", "expected_size"),
    [
        (
            "threshold",
            {"threshold": 0.25, "keep_at_least": 1},
            lambda row, head: oracle.above(row, 0.25, 1),
        ),
        (
            "cumulative",
            {"threshold": 0.5, "keep_at_least": 2},
            lambda row, head: oracle.cumulative(row, 0.5, 2),
        ),
        (
            "cardinality",
            SET_SIZES,
            lambda row, head: oracle.cardinality(row, head, 1),
        ),
        (
            "cardinality+scores",
            SET_SIZES,
            lambda row, head: oracle.cardinality_with_scores(row, head, 1),
        ),
        ("top", {}, lambda row, head: len(row)),
    ],
)
def test_decode_marks_the_best_columns(rule, options, expected_size, k):
    scores = np.random.default_rng(7).integers(0, 6, (40, 5)) / 8

    is_kept = decoding.decode(scores, rule, k=k, **options)

    for row, marks, head in zip(scores, is_kept, HEADS, strict=True):
        order = np.argsort(-row, kind="stable")[:k]
        size = expected_size(row[order].tolist(), head)
        assert set(np.flatnonzero(marks)) == set(order[:size])
