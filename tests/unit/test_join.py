"""Items brought together by id or by position, with their weights and cardinalities."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import facts, refused

import semmetrics
from semmetrics.data.join import PARTS, aligned_rows, aligned_weights, join
from semmetrics.kinds.labels import as_labels
from semmetrics.options import flag


def side(ids, *, source="preds"):
    """Each item has two labels that tell its id."""
    return as_labels({name: [f"{source} {name}", name] for name in ids}, source=source)


@pytest.mark.parametrize(("pred", "ref", "code", "where"), [
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
])  # fmt: skip
def test_what_does_not_match_is_refused(pred, ref, code, where):
    with refused(code, place=where):
        join(pred, ref)


HEADS = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize(("mine", "theirs", "missing", "rows"), [
    ("abc", "abc", "error", [0, 1, 2]), ("abc", "cab", "error", [2, 0, 1]),
    ("abc", "dcb", "skip", [2, 1]), ("abc", "b", "empty", [1, 0, 2]),
])  # fmt: skip
def test_cardinalities_follow_their_items(mine, theirs, missing, rows):
    pred, ref = side(mine), side(theirs)
    joined = join(pred, ref, missing=missing)
    assert aligned_rows(HEADS, pred, joined.ids).tolist() == HEADS[rows].tolist()
    assert aligned_rows(HEADS.tolist(), pred, joined.ids).tolist() == HEADS[rows].tolist()


@pytest.mark.parametrize(("heads", "theirs", "code", "where"), [
    (HEADS[:2], "abc", "wrong-shape", ""), (HEADS[0], "abc", "wrong-shape", ""),
    (HEADS, "abcd", "no-rows", ""),
])  # fmt: skip
def test_cardinalities_that_are_refused(heads, theirs, code, where):
    pred = side("abc")
    joined = join(pred, side(theirs), missing="empty")
    with refused(code, place=where):
        aligned_rows(heads, pred, joined.ids)


@pytest.mark.parametrize(("weights", "code"), [
    ({"a": 1}, "without-value"), ({"a": 1, "b": -0.5, "c": 1}, "out-of-range"),
    ([1, 1, float("inf")], "out-of-range"), ([1, float("nan"), 1], "out-of-range"),
    ([1, None, 1], "out-of-range"), (["1", 1, 1], "out-of-range"),
    ([1, [1, 2], 1], "out-of-range"), ([1, 10**400, 1], "out-of-range"), ([1, 1], "wrong-count"),
    (2.0, "wrong-type"), ({"a": 1, 1: 1, "1": 1}, "duplicate-id"),
    ([1e308, 1e308, 0], "infinite-sum"),
])  # fmt: skip
def test_weights_that_are_refused(weights, code):
    ref = side("abc")
    with refused(code, "weights"):
        aligned_weights(weights, ref, ref.ids)


@pytest.mark.parametrize(("ours", "theirs", "difference"), [
    ("7", "7.0", "the .0 of a number"), ("IM ", "im", "case or blanks"),
    ("caf\u00e9", "cafe\u0301", "Unicode normal form"),
])  # fmt: skip
def test_ids_that_are_nearly_the_same_get_a_hint(ours, theirs, difference):
    for one, other in ((ours, theirs), (theirs, ours)):
        for more in ({}, {"same": ["x"]}):
            with refused("unlike-ids", how=difference):
                semmetrics.score({one: ["cat"], **more}, {other: ["cat"], **more})
    with refused("other-ids"):
        semmetrics.score({"7": ["cat"]}, {"7.5": ["cat"]})


@pytest.mark.parametrize(("ours", "theirs"), [
    ("im00", "im00.jpg"), ("im00", "im00.mp4"), ("7", "007"), ("val/im.jpg", "im.png"),
    ("COCO_val2014_000000001000.jpg", "1000"),
])  # fmt: skip
def test_the_error_says_what_joins_ids_and_it_does(ours, theirs):
    sides = {ours: ["cat"], "2": ["dog"]}, {theirs: ["cat"], "2": ["cow"]}
    with refused("joinable-ids") as caught:
        semmetrics.score(*sides, measures="F1")
    expression = caught.value.values["expression"]
    assert caught.value.text(flag).endswith(f"--ids '{expression}'")
    found = semmetrics.score(*sides, measures="F1", ids=expression)
    assert found["F1"].value == 0.5
    assert semmetrics.rescore(found["F1"].signature, *sides).differences == []


COCO = {
    "images": [{"id": 1000, "file_name": "COCO_1000.jpg"}, {"id": 7, "file_name": "val/7.jpg"}],
    "annotations": [{"image_id": 1000, "category_id": 1}, {"image_id": 7, "category_id": 1}],
    "categories": [{"id": 1, "name": "cat"}],
}


def test_file_names_are_joined_with_the_ids_of_annotations():
    preds = {"COCO_1000.jpg": ["cat"], "7": ["dog"]}
    found = semmetrics.score(preds, COCO, measures="F1")
    assert (found["F1"].value, found["F1"].ids) == (0.5, ["1000", "7"])
    assert facts(found, "joined-names")[0].n == 1
    with refused("equal-parts", value="7"):
        semmetrics.score({**preds, "val/7.jpg": ["cat"]}, COCO)
    captions = {**COCO, "annotations": [{"image_id": n, "caption": "cat"} for n in (1000, 7)]}
    found = semmetrics.score({"COCO_1000.jpg": "cat", "val/7.jpg": "cat"}, captions)
    assert facts(found, "joined-names")[0].n == 2


def test_parts_of_ids_that_are_equal_or_not_there_are_refused():
    truth = {"a.jpg": ["cat"], "a.png": ["cat"]}
    with refused("equal-parts", value="a"):
        semmetrics.score(truth, truth, ids=PARTS[0])
    with refused("id-mismatch", value="a.jpg"):
        semmetrics.score(truth, truth, ids=PARTS[1])
