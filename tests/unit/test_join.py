"""Items brought together by id or by position, with their weights and cardinalities."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import facts, refused

import semmetrics
from semmetrics.data.id_parts import PARTS, compared
from semmetrics.data.join import Weights, aligned_rows, join
from semmetrics.kinds.labels import as_labels
from semmetrics.options import flag


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
        (
            as_labels([["a"]], source="preds"),
            side("a", source="gts"),
            "one-side-has-ids",
            "preds",
        ),
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
    with refused(code, place=where):
        join(pred, ref)


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
    assert (
        aligned_rows(HEADS.tolist(), pred, joined.ids).tolist() == HEADS[rows].tolist()
    )


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
    with refused(code, place=where):
        aligned_rows(heads, pred, joined.ids)


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
        Weights(weights).align(ref, ref.ids)


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ("7", "7.0", "the .0 of a number"),
        ("IM ", "im", "case or spaces"),
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


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("im00", "im00.jpg"),
        ("im00", "im00.mp4"),
        ("7", "007"),
        ("val/im.jpg", "im.png"),
        ("COCO_val2014_000000001000.jpg", "1000"),
    ],
)
def test_the_error_says_what_joins_ids_and_it_does(ours, theirs):
    sides = {ours: ["cat"], "2": ["dog"]}, {theirs: ["cat"], "2": ["cow"]}
    with refused("joinable-ids") as caught:
        semmetrics.score(*sides, measures="F1")
    expression = caught.value.values["expression"]
    assert caught.value.text(flag).endswith(f"--ids '{expression}'.")
    found = semmetrics.score(*sides, measures="F1", ids=expression)
    assert found["F1"].value == 0.5
    assert semmetrics.rescore(found["F1"].signature, *sides).differences == []


COCO = {
    "images": [
        {"id": 1000, "file_name": "COCO_1000.jpg"},
        {"id": 7, "file_name": "val/7.jpg"},
    ],
    "annotations": [
        {"image_id": 1000, "category_id": 1},
        {"image_id": 7, "category_id": 1},
    ],
    "categories": [{"id": 1, "name": "cat"}],
}


def test_file_names_are_joined_with_the_ids_of_annotations():
    preds = {"COCO_1000.jpg": ["cat"], "7": ["dog"]}
    found = semmetrics.score(preds, COCO, measures="F1")
    assert (found["F1"].value, found["F1"].ids) == (0.5, ["1000", "7"])
    assert facts(found, "joined-names")[0].n == 1
    with refused("equal-parts", value="7"):
        semmetrics.score({**preds, "val/7.jpg": ["cat"]}, COCO)
    captions = {
        **COCO,
        "annotations": [{"image_id": n, "caption": "cat"} for n in (1000, 7)],
    }
    found = semmetrics.score({"COCO_1000.jpg": "cat", "val/7.jpg": "cat"}, captions)
    assert facts(found, "joined-names")[0].n == 2


def test_parts_of_ids_that_are_equal_or_not_there_are_refused():
    truth = {"a.jpg": ["cat"], "a.png": ["cat"]}
    with refused("equal-parts", value="a"):
        semmetrics.score(truth, truth, ids=PARTS[0])
    with refused("id-mismatch", value="a.jpg"):
        semmetrics.score(truth, truth, ids=PARTS[1])


@pytest.mark.parametrize("sides", [(False, True), (True, False), (True, True)])
def test_ids_apply_to_sides_that_were_read_before(sides):
    read = {
        "labels": semmetrics.as_labels,
        "captions": semmetrics.as_captions,
        "classes": semmetrics.as_classes,
    }
    values = {"labels": ["cat"], "captions": ["a cat sleeps"], "classes": ["cat"]}
    measures = {"labels": "F1", "captions": "BLEU-1", "classes": "Accuracy"}
    for kind, as_read in read.items():
        given = [
            {"1": values[kind], "2": values[kind]},
            {"x/1.jpg": values[kind], "x/2.jpg": values[kind]},
        ]
        given = [
            as_read(side) if was_read else side
            for side, was_read in zip(given, sides, strict=True)
        ]
        options = {"task": kind, "measures": measures[kind], "ids": r"(\d+)(?:\.jpg)?$"}
        found = semmetrics.score(*given, **options)
        assert (found[0].value, found[0].ids) == (pytest.approx(1), ["1", "2"])
        scorer = semmetrics.Scorer(**options)
        scorer.update(*given)
        assert scorer.compute()[0].value == pytest.approx(1)


def test_parts_of_ids_are_taken_once():
    sides = [
        semmetrics.as_labels({"a-1-2": ["cat"]}),
        semmetrics.as_labels({"b-1-2": ["cat"]}),
    ]
    expression = "-(.*)$"  # its part fits it again
    once = [compared(side, expression) for side in sides]
    assert [compared(side, expression).ids for side in once] == [["1-2"], ["1-2"]]
    assert semmetrics.score(*once, measures="F1", ids=expression)[0].ids == ["1-2"]


def test_parts_of_ids_are_also_those_of_file_names():
    preds = {"COCO_1000.jpg": ["cat"], "val/7.jpg": ["dog"]}
    found = semmetrics.score(
        preds, semmetrics.as_labels(COCO), measures="F1", ids="([^/]+)$"
    )
    assert (found["F1"].value, found["F1"].ids) == (0.5, ["1000", "7"])


def karpathy(*images):
    """Karpathy's JSON of images with a split, an imgid and a cocoid."""
    found = []
    for split, imgid, cocoid in images:
        sentences = [
            {"sentid": 10 * imgid + n, "raw": f"the {split} image {cocoid}"}
            for n in (0, 1)
        ]
        found.append(
            {
                "split": split,
                "imgid": imgid,
                "cocoid": cocoid,
                "filename": f"COCO_{cocoid}.jpg",
                "sentences": sentences,
            }
        )
    return {"images": found, "dataset": "coco"}


IMAGES = karpathy(
    ("test", 0, 391895), ("test", 1, 3), ("val", 2, 184613), ("val", 3, 1)
)


def test_predictions_may_have_the_cocoid_of_karpathys_images():
    options = {"measures": "BLEU-1", "split": "test"}
    results = [
        {"image_id": 391895, "caption": "the test image 391895"},
        {"image_id": 3, "caption": "the test image 3"},
    ]
    found = semmetrics.score(results, IMAGES, **options)
    assert (found[0].value, found[0].ids) == (pytest.approx(1), ["0", "1"])
    assert facts(found, "joined-cocoid")[0].n == 2
    by_imgid = {"0": "the test image 391895", "1": "the test image 3"}
    found = semmetrics.score(by_imgid, IMAGES, **options)
    assert found[0].value == pytest.approx(1)
    assert not facts(found, "joined-cocoid")
    by_name = {"COCO_391895.jpg": "the test image 391895", "1": "the test image 3"}
    assert semmetrics.score(by_name, IMAGES, **options)[0].value == pytest.approx(1)


def test_cocoids_of_other_splits_are_no_imgids():
    preds = {
        "391895": "the test image 391895",
        "3": "the test image 3",
        "1": "other",
        "184613": "other",
    }
    options = {"measures": "BLEU-1", "split": "test"}
    found = semmetrics.score(preds, IMAGES, missing="skip", **options)
    assert found[0].value == pytest.approx(1)
    with refused("missing-ids"):
        semmetrics.score(preds, IMAGES, **options)


def test_ids_that_could_be_imgid_or_cocoid_are_refused():
    data = karpathy(("test", 0, 1), ("test", 1, 0))
    preds = {"0": "the test image 0", "1": "the test image 1"}
    with refused("ambiguous-cocoid", n=2, m=2):
        semmetrics.score(preds, data, measures="BLEU-1")
    same = karpathy(("test", 0, 0), ("test", 1, 1))  # both ways are the same
    assert semmetrics.score(preds, same, measures="BLEU-1")[0].value == pytest.approx(1)
    for key, value in (("cocoid", 1.0), ("imgid", 0.75)):
        found = semmetrics.score(preds, data, measures="BLEU-1", id_column=key)
        assert found[0].value == pytest.approx(value)


def test_cocoids_are_joined_by_a_part_of_ids():
    preds = {
        "COCO_val2014_000000391895": "the test image 391895",
        "COCO_val2014_000000000003": "the test image 3",
    }
    found = semmetrics.score(
        preds, IMAGES, measures="BLEU-1", split="test", ids="0*([0-9]+)$"
    )
    assert found[0].value == pytest.approx(1)


@pytest.mark.parametrize("key", ["filename", "image", "img"])
def test_file_names_in_records_are_ids(key):
    records = [{key: "a.jpg", "caption": "a cat"}, {key: "b.jpg", "caption": "a dog"}]
    refs = {"b.jpg": ["a dog"], "a.jpg": ["a cat"]}
    assert semmetrics.score(records, refs, measures="BLEU-1")[0].value == pytest.approx(
        1
    )
    labelled = [{key: "a.jpg", "labels": ["cat"]}, {key: "b.jpg", "labels": ["dog"]}]
    truth = {"b.jpg": ["dog"], "a.jpg": ["cat"]}
    assert semmetrics.score(labelled, truth, measures="F1")[0].value == 1.0
    numbered = [{"id": number, **record} for number, record in enumerate(labelled)]
    found = semmetrics.score(numbered, {"0": ["cat"], "1": ["dog"]}, measures="F1")
    assert found[0].ids == ["0", "1"]  # an id goes before the name of a file


SYSTEMS = {
    "one": {"a": ["x"], "b": ["y"], "c": ["x"]},
    "two": {"a": ["x"], "c": ["y"], "d": ["q"]},
}
TRUTH_OF_ALL = {"a": ["x"], "b": ["y"], "c": ["y"], "d": ["q"], "e": ["x"]}


def test_common_items_are_those_of_all_systems():
    table = semmetrics.score_systems(
        SYSTEMS, TRUTH_OF_ALL, measures="F1", missing="common"
    )
    assert [score.value for score in table] == [0.5, 1.0]  # a and c
    assert [score.n for score in table] == [2, 2]
    assert all("|missing:common|" in score.signature for score in table)
    notes = [note for note in table.notes if "missing from another system" in note]
    assert notes == [
        f"{name}: 1 item left out, missing from another system" for name in SYSTEMS
    ]
    assert not facts(table, "different-items")


def test_common_items_are_compared():
    with refused("unlike-items") as caught:
        semmetrics.compare(SYSTEMS, TRUTH_OF_ALL, measures="F1", missing="skip")
    assert "missing='common'" in str(caught.value)
    found = semmetrics.compare(
        SYSTEMS, TRUTH_OF_ALL, measures="F1", missing="common", test="t"
    )
    assert [score.n for score in found.scores] == [2, 2]


def test_systems_with_as_many_but_other_items_are_noted():
    table = semmetrics.score_systems(
        SYSTEMS, TRUTH_OF_ALL, measures="F1", missing="skip"
    )
    assert len(facts(table, "different-items")) == 1


@pytest.mark.parametrize(
    ("systems", "truth", "options"),
    [
        (
            {"a": {"1": "x", "2": "y"}, "b": {"2": "y"}},
            {"1": "x", "2": "y"},
            {"task": "classes"},
        ),
        (
            {"a": {"1": ["p"], "2": ["p"]}, "b": {"2": ["p"]}},
            {"1": ["p"], "2": ["p"]},
            {"task": "retrieval", "measures": "MRR"},
        ),
        (
            {"a": {"1": "a dog", "2": "a cat"}, "b": {"2": "a cat"}},
            {"1": ["a dog"], "2": ["a cat"]},
            {"task": "captions", "measures": "BLEU-1"},
        ),
    ],
)
def test_common_items_of_other_kinds(systems, truth, options):
    table = semmetrics.score_systems(systems, truth, missing="common", **options)
    assert {score.n for score in table} == {1}
    assert all("missing:common" in score.signature for score in table)


def test_no_common_item_is_an_error():
    with refused("no-common-items"):
        systems = {"a": {"1": ["x"]}, "b": {"2": ["x"]}}
        semmetrics.score_systems(
            systems, {"1": ["x"], "2": ["x"]}, measures="F1", missing="common"
        )
    with refused("needs-all-items"):
        semmetrics.Scorer(measures="F1", missing="common", keep_rows=False)
