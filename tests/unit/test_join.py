"""Items brought together by id or by position, with their weights and cardinalities."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semmetrics
from semmetrics.data.join import aligned_rows, aligned_weights, join
from semmetrics.errors import InputError
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
    ("pred", "ref", "message"),
    [
        (
            side("ab"),
            side("bcd", source="gts"),
            "preds lacks 2 of the ids: 'c', 'd'; gts lacks 1 of the ids: 'a'; add them, or say "
            "missing='skip' to leave them out, missing='empty' for empty lists",
        ),
        (side("ab"), side("a", source="gts"), "gts lacks 1 of the ids: 'b'; add them, or say"),
        (
            side("ab"),
            side("cd", source="gts"),
            "preds lacks 2 of the ids: 'c', 'd'; gts lacks 2 of the ids: 'a', 'b'; check that both "
            "sides use the same ids",
        ),
        (
            side([]),
            side("abcdefg", source="gts"),
            "preds lacks 7 of the ids: 'a', 'b', 'c', 'd', 'e' and 2 more; check that both",
        ),
        (
            as_labels([["a"]], source="preds"),
            side("a", source="gts"),
            "preds: this side has no ids and the other has; give both sides ids, or neither "
            r"\(a matrix, lines of text and plain lists have none\)",
        ),
        (side("a"), as_labels([["a"]], source="gts"), "gts: this side has no ids"),
        (
            as_labels([["a"]], source="preds"),
            as_labels([["a"], []], source="gts"),
            r"preds has 1 item and gts has 2; the last is preds, item 0 \(from 0\); items without",
        ),
    ],
)
def test_what_does_not_match_is_refused(pred, ref, message):
    with pytest.raises(InputError, match=f"^{message}"):
        join(pred, ref)


def test_positions_of_different_number_never_match():
    with pytest.raises(InputError, match="give as many on both sides, or ids"):
        join(as_labels([["a"]]), as_labels([]), missing="skip")


def test_unknown_policies_are_refused():
    with pytest.raises(
        InputError, match=r"^missing='drop'; choose one of 'error', 'skip', 'empty'$"
    ):
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
    ("heads", "theirs", "message"),
    [
        (HEADS[:2], "abc", r"the cardinality matrix has shape \(2, 2\) for 3 items; give one row"),
        (HEADS[0], "abc", r"the cardinality matrix has shape \(2,\) for 3 items"),
        (
            HEADS,
            "abcd",
            "1 item has no row in the cardinality matrix: 'd'; use missing='skip'",
        ),
    ],
)
def test_cardinalities_that_are_refused(heads, theirs, message):
    pred = side("abc")
    joined = join(pred, side(theirs), missing="empty")
    with pytest.raises(InputError, match=f"^{message}"):
        aligned_rows(heads, pred, joined.ids)


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
    ("weights", "message"),
    [
        ({"a": 1}, "2 items have no weight: 'b', 'c'; give it to each"),
        ({"a": 1, "b": -0.5, "c": 1}, f"the weight of item 'b' is -0.5; {BAD}"),
        ([1, 1, float("inf")], f"the weight of item 'c' is inf; {BAD}"),
        ([1, float("nan"), 1], f"the weight of item 'b' is nan; {BAD}"),
        ([1, None, 1], f"the weight of item 'b' is None; {BAD}"),
        (["1", 1, 1], f"the weight of item 'a' is '1'; {BAD}"),
        ([1, [1, 2], 1], rf"the weight of item 'b' is \[1, 2\]; {BAD}"),
        ([1, 10**400, 1], f"the weight of item 'b' is 10+.*; {BAD}"),
        ([1, 1], "2 weights for 3 items of the ground truth; give one weight an item in the order"),
        (2.0, "the weights are a float; give one weight an item"),
        ({"a": 1, 1: 1, "1": 1}, "the id '1' has two weights; keep one"),
        ([1e308, 1e308, 0], "the sum of all sample weights is infinite; scale them down"),
    ],
)
def test_weights_that_are_refused(weights, message):
    ref = side("abc")
    with pytest.raises(InputError, match=f"^weights: {message}"):
        aligned_weights(weights, ref, ref.ids)


def test_items_that_only_predictions_have_need_weights_by_id():
    ref = side("ab")
    joined = join(side("cab"), ref, missing="empty")
    with pytest.raises(InputError, match=r"^weights: 1 item has no weight: 'c'; give it to each"):
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
    with pytest.raises(InputError, match=rf"the same ids: .* differ by {difference}$"):
        semmetrics.score(preds, gts)
    message = rf"; write ids alike \(.* differ by {difference}\), or add them, or say missing="
    with pytest.raises(InputError, match=message):
        semmetrics.score({**preds, "same": ["x"]}, {**gts, "same": ["x"]})


def test_ids_that_have_nothing_in_common():
    with pytest.raises(InputError, match=r"; check that both sides use the same ids$"):
        semmetrics.score({"q": ["cat"]}, {"z": ["cat"]})
