"""Items brought together by id or by position, with their weights and cardinalities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import semmetrics
from semmetrics.data.join import aligned_rows, aligned_weights, join
from semmetrics.kinds.labels import as_labels

IDS = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


def side(ids, *, source="preds"):
    """Each item has two labels that tell its id."""
    return as_labels({name: [f"{source} {name}", name] for name in ids}, source=source)


def texts(labels, joined):
    bounds = pairwise(joined.indptr)
    return [[labels.vocabulary[c] for c in joined.codes[a:b]] for a, b in bounds]


@given(mine=IDS, theirs=IDS, missing=st.sampled_from(["skip", "empty"]))
def test_items_are_matched_by_id_in_the_order_of_the_ground_truth(mine, theirs, missing):
    pred, ref = side(mine), side(theirs, source="gts")
    got = join(pred, ref, missing=missing)
    if missing == "skip":
        names = [name for name in theirs if name in mine]
    else:
        names = [*theirs, *(name for name in mine if name not in theirs)]
    assert list(got.ids) == names
    assert texts(pred, got.pred) == [[f"preds {n}", n] if n in mine else [] for n in names]
    assert texts(ref, got.ref) == [[f"gts {n}", n] if n in theirs else [] for n in names]
    assert got.counts.get("missing_prediction", 0) == len(set(theirs) - set(mine))
    assert got.counts.get("missing_reference", 0) == len(set(mine) - set(theirs))


@given(names=IDS.filter(bool), seed=st.integers(0, 99))
def test_the_order_of_predictions_does_not_matter(names, seed):
    mixed = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    pred, ref = side(mixed), side(names, source="gts")
    got = join(pred, ref)
    assert list(got.ids) == names
    assert texts(pred, got.pred) == [[f"preds {n}", n] for n in names]


def test_scores_follow_their_labels():
    pred = as_labels({"b": [("x", 2.0)], "a": [("y", 1.0), ("x", 0.5)]})
    got = join(pred, as_labels({"a": [], "b": []}))
    assert got.pred.scores.tolist() == [1.0, 0.5, 2.0]


def test_items_by_position():
    pred, ref = as_labels([["a"], []]), as_labels([[], ["b"]])
    got = join(pred, ref)
    assert (got.ids, texts(pred, got.pred), texts(ref, got.ref)) == (
        range(2),
        [["a"], []],
        [[], ["b"]],
    )


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


def test_positions_of_different_number_never_match():
    with refused("other-length", "input"):
        join(as_labels([["a"]]), as_labels([]), missing="skip")


def test_unknown_policies_are_refused():
    with refused("bad-choice"):
        join(side("a"), side("a"), missing="drop")


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
    "weights",
    [
        {"a": 1, "b": 0.0, "c": 2.5, "unused": -1},
        [1, 0, 2.5],
        np.array([1, 0, 2.5], np.float32),
        (True, False, np.float64(2.5)),
    ],
)
@pytest.mark.parametrize(
    ("mine", "missing", "expected"),
    [("cba", "error", [1, 0, 2.5]), ("ca", "skip", [1, 2.5]), ("ca", "empty", [1, 0, 2.5])],
)
def test_weights_follow_their_items(weights, mine, missing, expected):
    ref = side("abc")
    got = aligned_weights(weights, ref, join(side(mine), ref, missing=missing).ids)
    assert (got.dtype, got.tolist()) == (np.float64, expected)


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 3}, {"0": 1.0, "1": 3}, [1.0, 3]])
def test_weights_of_positions(weights):
    ref = as_labels([[], []])
    assert aligned_weights(weights, ref, ref.ids).tolist() == [1, 3]


def test_weights_by_number_of_ids_that_are_numbers():
    ref = as_labels({5: [], 7: []})
    assert aligned_weights({7: 1.0, 5: 3.0}, ref, ref.ids).tolist() == [3, 1]


BAD = "weights are finite numbers, and not negative"


@pytest.mark.parametrize(
    ("weights", "code", "where"),
    [
        ({"a": 1}, "no-weights", "weights"),
        ({"a": 1, "b": -0.5, "c": 1}, "out-of-range", "weights"),
        ([1, 1, float("inf")], "out-of-range", "weights"),
        ([1, float("nan"), 1], "out-of-range", "weights"),
        ([1, None, 1], "out-of-range", "weights"),
        (["1", 1, 1], "out-of-range", "weights"),
        ([1, [1, 2], 1], "out-of-range", "weights"),
        ([1, 10**400, 1], "out-of-range", "weights"),
        ([1, 1], "wrong-count", "weights"),
        (2.0, "wrong-type", "weights"),
        ({"a": 1, 1: 1, "1": 1}, "duplicate-id", "weights"),
        ([1e308, 1e308, 0], "infinite-sum", "weights"),
    ],
)
def test_weights_that_are_refused(weights, code, where):
    ref = side("abc")
    with refused(code) as caught:
        aligned_weights(weights, ref, ref.ids)
    assert caught.value.where.endswith(where)


def test_items_that_only_predictions_have_need_weights_by_id():
    ref = side("ab")
    joined = join(side("cab"), ref, missing="empty")
    with refused("no-weights", "weights"):
        aligned_weights([1, 1], ref, joined.ids)
    assert aligned_weights({"a": 1, "b": 2, "c": 3}, ref, joined.ids).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ("im00", "im00.jpg", "a file extension"),
        ("7", "007", "leading zeros"),
        ("val/im.jpg", "im.jpg", "their folders"),
        ("IM ", "im", "case or blanks"),
    ],
)
def test_ids_that_are_nearly_the_same_get_a_hint(ours, theirs, difference):
    preds, gts = {ours: ["cat"]}, {theirs: ["cat"]}
    with refused("unlike-ids"):
        semmetrics.score(preds, gts)
    with refused("unlike-ids", how=difference):
        semmetrics.score({**preds, "same": ["x"]}, {**gts, "same": ["x"]})


def test_ids_that_have_nothing_in_common():
    with refused("other-ids"):
        semmetrics.score({"q": ["cat"]}, {"z": ["cat"]})
