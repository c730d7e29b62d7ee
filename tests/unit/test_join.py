"""Items brought together by id or by position, with their weights and cardinalities."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.data.join import aligned_rows, aligned_weights, join
from semmetrics.kinds.labels import as_labels


def side(ids, *, source="preds"):
    """Each item has two labels that tell its id."""
    return as_labels({name: [f"{source} {name}", name] for name in ids}, source=source)


@pytest.mark.parametrize(
    ("pred", "ref", "code", "where"),
    [
        (side("ab"), side("bcd", source="gts"), "missing-ids", ""),
        (side("ab"), side("a", source="gts"), "missing-ids", ""),
        (side("ab"), side("cd", source="gts"), "other-ids", ""),
        (side([]), side("abcdefg", source="gts"), "other-ids", ""),
        (as_labels([["a"]], source="preds"), side("a", source="gts"), "one-side-has-ids", "preds"),
        (side("a"), as_labels([["a"]], source="gts"), "one-side-has-ids", "gts"),
        (
            as_labels([["a"]], source="preds"),
            as_labels([["a"], []], source="gts"),
            "other-length",
            "preds, item 0 (from 0)",
        ),
    ],
)
def test_what_does_not_match_is_refused(pred, ref, code, where):
    with refused(code) as caught:
        join(pred, ref)
    assert caught.value.where.endswith(where)


HEADS = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("mine", "theirs", "missing", "rows"),
    [
        ("abc", "abc", "error", [0, 1, 2]),
        ("abc", "cab", "error", [2, 0, 1]),
        ("abc", "dcb", "skip", [2, 1]),
        ("abc", "b", "empty", [1, 0, 2]),
    ],
)
def test_cardinalities_follow_their_items(mine, theirs, missing, rows):
    pred, ref = side(mine), side(theirs)
    joined = join(pred, ref, missing=missing)
    assert aligned_rows(HEADS, pred, joined.ids).tolist() == HEADS[rows].tolist()
    assert aligned_rows(HEADS.tolist(), pred, joined.ids).tolist() == HEADS[rows].tolist()


@pytest.mark.parametrize(
    ("heads", "theirs", "code", "where"),
    [
        (HEADS[:2], "abc", "wrong-shape", ""),
        (HEADS[0], "abc", "wrong-shape", ""),
        (HEADS, "abcd", "no-rows", ""),
    ],
)
def test_cardinalities_that_are_refused(heads, theirs, code, where):
    pred = side("abc")
    joined = join(pred, side(theirs), missing="empty")
    with refused(code) as caught:
        aligned_rows(heads, pred, joined.ids)
    assert caught.value.where.endswith(where)


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({"a": 1}, "without-value"),
        ({"a": 1, "b": -0.5, "c": 1}, "out-of-range"),
        ([1, 1, float("inf")], "out-of-range"),
        ([1, float("nan"), 1], "out-of-range"),
        ([1, None, 1], "out-of-range"),
        (["1", 1, 1], "out-of-range"),
        ([1, [1, 2], 1], "out-of-range"),
        ([1, 10**400, 1], "out-of-range"),
        ([1, 1], "wrong-count"),
        (2.0, "wrong-type"),
        ({"a": 1, 1: 1, "1": 1}, "duplicate-id"),
        ([1e308, 1e308, 0], "infinite-sum"),
    ],
)
def test_weights_that_are_refused(weights, code):
    ref = side("abc")
    with refused(code, "weights"):
        aligned_weights(weights, ref, ref.ids)


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ("im00", "im00.jpg", "a file extension"),
        ("im00", "im00.mp4", "a file extension"),
        ("7", "007", "leading zeros"),
        ("7", "7.0", "the .0 of a number"),
        ("val/im.jpg", "im.jpg", "their folders"),
        ("IM ", "im", "case or blanks"),
        ("caf\u00e9", "cafe\u0301", "Unicode normal form"),
    ],
)
def test_ids_that_are_nearly_the_same_get_a_hint(ours, theirs, difference):
    for one, other in ((ours, theirs), (theirs, ours)):
        for more in ({}, {"same": ["x"]}):
            with refused("unlike-ids", how=difference):
                semmetrics.score({one: ["cat"], **more}, {other: ["cat"], **more})
    with refused("other-ids"):
        semmetrics.score({"7": ["cat"]}, {"7.5": ["cat"]})
