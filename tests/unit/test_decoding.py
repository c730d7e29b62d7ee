"""Decoding rules against label-by-label oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import decoding as oracle

from semmetrics.core.ragged import offsets
from semmetrics.metrics import decoding

# sixteenths add up exactly and meet the thresholds, so that strictness is tested
SCORES = st.lists(st.integers(0, 16).map(lambda number: number / 16), max_size=7)
ROWS = st.lists(SCORES.map(lambda row: sorted(row, reverse=True)), max_size=8)
THRESHOLDS = st.integers(-1, 33).map(lambda number: number / 16)
SMALL = st.integers(0, 4)


def ragged(rows):
    flat = np.array([score for row in rows for score in row], np.float64)
    return offsets(np.array([len(row) for row in rows], np.int64)), flat


def heads(rows, columns, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (len(rows), columns)) / 4


@pytest.mark.parametrize("rule", ["above", "cumulative"])
@given(rows=ROWS, threshold=THRESHOLDS, least=SMALL)
def test_a_threshold_is_strict_and_the_least_number_is_kept(
    rule, rows, threshold, least
):
    counts = getattr(decoding, f"keep_{rule}")(*ragged(rows), threshold, least)
    assert counts.tolist() == [
        getattr(oracle, rule)(row, threshold, least) for row in rows
    ]


def test_cumulative_sums_do_not_depend_on_the_other_rows():
    rng = np.random.default_rng(0)
    rows = [sorted(rng.random(size), reverse=True) for size in rng.integers(0, 30, 300)]
    rows = [[score / sum(row) for score in row] for row in rows]
    for limit in (0.1, 0.3, 0.7, 1.0):
        expected = [decoding.keep_cumulative(*ragged([row]), limit)[0] for row in rows]
        assert decoding.keep_cumulative(*ragged(rows), limit).tolist() == expected
        assert expected == [oracle.cumulative(row, limit) for row in rows]


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, seed=SMALL)
def test_cardinality_is_the_arg_max(rows, columns, offset, seed):
    head = heads(rows, columns, seed)
    counts = decoding.keep_cardinality(ragged(rows)[0], head, offset)
    expected = [
        oracle.cardinality(row, h, offset) for row, h in zip(rows, head, strict=True)
    ]
    assert counts.tolist() == expected


@given(rows=ROWS, columns=st.integers(1, 5), offset=SMALL, extra=st.integers(0, 1))
def test_cardinality_with_scores_is_the_joint_arg_max(rows, columns, offset, extra):
    head = np.random.default_rng(len(rows)).random((len(rows), columns))
    # some cardinalities are impossible
    head[:, ::2] *= np.arange(len(rows))[:, None] % 2
    counts = decoding.keep_cardinality_with_scores(*ragged(rows), head, offset, extra)
    pairs = zip(rows, head, strict=True)
    expected = [
        oracle.cardinality_with_scores(row, h, offset, extra) for row, h in pairs
    ]
    assert counts.tolist() == expected


@pytest.mark.parametrize("k", [None, 0, 2, 3, 9])
@pytest.mark.parametrize(
    "rule", ["threshold", "top", "cumulative", "cardinality", "cardinality+scores"]
)
def test_decode_marks_the_best_columns(rule, k):
    rng = np.random.default_rng(7)
    scores = rng.integers(0, 6, (40, 5)) / 8
    head = rng.random((40, 4))
    options = {
        "threshold": {"threshold": 0.25, "keep_at_least": 1},
        "cumulative": {"threshold": 0.5, "keep_at_least": 2},
        "cardinality": {"head": head, "offset": 1},
        "cardinality+scores": {"head": head, "offset": 1},
        "top": {},
    }[rule]
    k = 9 if rule == "top" and k is None else k
    got = decoding.decode(scores, rule, k=k, **options)
    assert got.dtype == np.bool_
    for row, chosen, h in zip(scores.tolist(), got, head, strict=True):
        order = sorted(range(5), key=lambda label, row=row: -row[label])[:k]
        ranked = [row[label] for label in order]
        size = {
            "threshold": oracle.above(ranked, 0.25, 1),
            "top": oracle.top(ranked, 9 if k is None else k),
            "cumulative": oracle.cumulative(ranked, 0.5, 2),
            "cardinality": oracle.cardinality(ranked, h, 1),
            "cardinality+scores": oracle.cardinality_with_scores(ranked, h, 1),
        }[rule]
        assert set(np.flatnonzero(chosen)) == set(order[:size])
