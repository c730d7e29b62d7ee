"""Items of both sides brought together by id, position, or another name of the id."""

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics.data.id_parts import PARTS, with_compared_ids
from semmetrics.data.join import Weights, aligned_rows, join
from semmetrics.kinds.labels import as_labels
from semmetrics.options import flag


def side(ids):
    """Return one label for each id."""
    return as_labels({id_: ["x"] for id_ in ids})


def without_ids(n_items):
    """Return items that are identified by position."""
    return as_labels([["x"]] * n_items)


@pytest.mark.parametrize(
    ("pred", "ref", "code"),
    [
        (side("ab"), side("bcd"), "missing-ids"),
        (side("ab"), side("cd"), "other-ids"),
        (without_ids(1), side("a"), "one-side-has-ids"),
        (side("a"), without_ids(1), "one-side-has-ids"),
        (without_ids(1), without_ids(2), "other-length"),
    ],
)
def test_items_of_one_side_are_an_error(pred, ref, code):
    with refused(code):
        join(pred, ref)


def test_items_of_one_side_are_noted_if_the_other_side_is_empty():
    preds = {"a": ["cat"], "b": ["cat"]}

    table = semmetrics.score(preds, {"b": ["cat"], "c": []}, missing="empty")

    assert codes(table) == ["missing-prediction", "missing-reference"]


ROWS = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("ref_ids", "missing", "row_numbers"),
    [
        ("abc", "error", [0, 1, 2]),
        ("cab", "error", [2, 0, 1]),
        ("dcb", "skip", [2, 1]),
        ("b", "empty", [1, 0, 2]),
    ],
)
def test_rows_of_the_predictions_follow_their_items(ref_ids, missing, row_numbers):
    pred = side("abc")

    joined = join(pred, side(ref_ids), missing=missing)

    rows = aligned_rows(ROWS, pred, joined.ids)
    assert rows.tolist() == ROWS[row_numbers].tolist()


@pytest.mark.parametrize(
    ("rows", "ref_ids", "code"),
    [
        (ROWS[:2], "abc", "wrong-shape"),
        (ROWS, "abcd", "no-rows"),
    ],
)
def test_rows_that_do_not_match_the_items_are_an_error(rows, ref_ids, code):
    pred = side("abc")
    joined = join(pred, side(ref_ids), missing="empty")

    with refused(code):
        aligned_rows(rows, pred, joined.ids)


@pytest.mark.parametrize(
    ("weights", "code"),
    [
        ({"a": 1}, "without-value"),
        ({"a": 1, "b": -0.5, "c": 1}, "out-of-range"),
        ([1, float("nan"), 1], "out-of-range"),
        (["1", 1, 1], "out-of-range"),
        ([1, 10**400, 1], "out-of-range"),
        ([1, 1], "wrong-count"),
        (2.0, "wrong-type"),
        ({"a": 1, 1: 1, "1": 1}, "duplicate-id"),
        ([1e308, 1e308, 0], "infinite-sum"),
    ],
)
def test_wrong_weights_are_an_error(weights, code):
    ref = side("abc")

    with refused(code, "weights"):
        Weights(weights).align(ref, ref.ids)


# Ids that are nearly equal


@pytest.mark.parametrize(
    ("id_", "other_id", "difference"),
    [
        ("7", "7.0", "the .0 of a number"),
        ("IM ", "im", "case or spaces"),
        ("caf\u00e9", "cafe\u0301", "Unicode normal form"),
    ],
)
def test_the_error_for_ids_that_are_nearly_equal_says_how_they_differ(
    id_, other_id, difference
):
    with refused("unlike-ids", how=difference):
        semmetrics.score(
            {id_: ["cat"], "same": ["x"]}, {other_id: ["cat"], "same": ["x"]}
        )


@pytest.mark.parametrize(
    ("id_", "other_id"),
    [
        ("7", "007"),
        ("val/im.jpg", "im.png"),
        ("C:\\img\\a.jpg", "/data/a.jpg"),
        ("COCO_val2014_000000001000.jpg", "1000"),
    ],
)
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_the_error_for_ids_with_an_equal_part_has_an_option_that_joins_them(
    id_, other_id, missing
):
    preds = {id_: ["cat"]}
    gts = {other_id: ["cat"]}

    with refused("joinable-ids") as caught:
        semmetrics.score(preds, gts, measures="F1", missing=missing)

    expression = caught.value.values["expression"]
    assert caught.value.text(flag).endswith(f"--ids '{expression}'.")
    score = semmetrics.score(preds, gts, measures="F1", ids=expression)["F1"]
    assert score.value == 1.0
    assert semmetrics.rescore(score.signature, preds, gts).differences == []


def test_parts_of_ids_that_are_equal_or_missing_are_an_error():
    truth = {"a.jpg": ["cat"], "a.png": ["cat"]}

    with refused("equal-parts", value="a"):
        semmetrics.score(truth, truth, ids=PARTS[0])
    with refused("id-mismatch", value="a.jpg"):
        semmetrics.score(truth, truth, ids=PARTS[1])


@pytest.mark.parametrize("are_read", [(False, True), (True, False), (True, True)])
@pytest.mark.parametrize(
    ("read", "value", "measure"),
    [
        (semmetrics.as_labels, ["cat"], "F1"),
        (semmetrics.as_classes, ["cat"], "Accuracy"),
    ],
)
def test_parts_of_ids_join_sides_that_were_read_before(read, value, measure, are_read):
    preds = {"1": value, "2": value}
    gts = {"x/1.jpg": value, "x/2.jpg": value}
    preds = read(preds) if are_read[0] else preds
    gts = read(gts) if are_read[1] else gts

    (score,) = semmetrics.score(
        preds, gts, measures=measure, ids=r"(\d+)(?:\.jpg)?$"
    ).scores

    assert score.value == pytest.approx(1)
    assert score.ids == ["1", "2"]


def test_the_part_of_an_id_is_not_matched_again():
    lists = semmetrics.as_labels({"a-1-2": ["cat"]})
    expression = "-(.*)$"

    parts = with_compared_ids(lists, expression)

    assert parts.ids == ["1-2"]
    assert with_compared_ids(parts, expression).ids == ["1-2"]


# File names and Karpathy's cocoids

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


def test_predictions_may_use_the_file_names_of_coco_images():
    preds = {"COCO_1000.jpg": ["cat"], "7": ["dog"]}

    table = semmetrics.score(preds, COCO, measures="F1")

    assert table["F1"].value == 0.5
    assert table["F1"].ids == ["1000", "7"]
    assert facts(table, "joined-names")[0].n == 1


def test_an_id_and_the_file_name_of_the_same_image_are_an_error():
    preds = {"COCO_1000.jpg": ["cat"], "7": ["dog"], "val/7.jpg": ["cat"]}

    with refused("equal-parts", value="7"):
        semmetrics.score(preds, COCO)


@pytest.mark.parametrize("key", ["filename", "image", "img"])
def test_file_names_of_records_are_ids_unless_there_are_other_ids(key):
    records = [{key: "a.jpg", "labels": ["cat"]}, {key: "b.jpg", "labels": ["dog"]}]
    numbered = [{"id": 0, **records[0]}, {"id": 1, **records[1]}]

    assert as_labels(records).ids == ["a.jpg", "b.jpg"]
    assert as_labels(numbered).ids == ["0", "1"]


def karpathy(*images):
    """Return Karpathy's JSON of images with a split, an imgid and a cocoid."""
    records = []
    for split, imgid, cocoid in images:
        record = {"split": split, "imgid": imgid, "cocoid": cocoid}
        record["filename"] = f"COCO_{cocoid}.jpg"
        text = f"the {split} image {cocoid}"
        record["sentences"] = [{"sentid": imgid, "raw": text}]
        records.append(record)
    return {"images": records, "dataset": "coco"}


IMAGES = karpathy(
    ("test", 0, 391895), ("test", 1, 3), ("val", 2, 184613), ("val", 3, 1)
)
FIRST = "the test image 391895"
SECOND = "the test image 3"
TEST_SPLIT = {"measures": "BLEU-1", "split": "test"}


@pytest.mark.parametrize(
    ("preds", "n_cocoids"),
    [
        ({"391895": FIRST, "3": SECOND}, [2]),
        ({"0": FIRST, "1": SECOND}, []),
        ({"COCO_391895.jpg": FIRST, "1": SECOND}, []),
    ],
    ids=["cocoids", "imgids", "a file name"],
)
def test_predictions_may_use_any_id_of_karpathys_images(preds, n_cocoids):
    table = semmetrics.score(preds, IMAGES, **TEST_SPLIT)

    assert table["BLEU-1"].value == pytest.approx(1)
    assert [fact.n for fact in facts(table, "joined-cocoid")] == n_cocoids


def test_cocoids_of_other_splits_are_not_imgids():
    preds = {"391895": FIRST, "3": SECOND, "1": "other", "184613": "other"}

    table = semmetrics.score(preds, IMAGES, missing="skip", **TEST_SPLIT)

    assert table["BLEU-1"].value == pytest.approx(1)
    with refused("missing-ids"):
        semmetrics.score(preds, IMAGES, **TEST_SPLIT)


def test_ids_that_may_be_imgids_or_cocoids_are_an_error():
    preds = {"0": "the test image 0", "1": "the test image 1"}
    images = karpathy(("test", 0, 1), ("test", 1, 0))

    with refused("ambiguous-cocoid", n=2, m=2):
        semmetrics.score(preds, images, measures="BLEU-1")

    for id_column, value in (("cocoid", 1.0), ("imgid", 0.75)):
        table = semmetrics.score(preds, images, measures="BLEU-1", id_column=id_column)
        assert table["BLEU-1"].value == pytest.approx(value)


def test_ids_that_are_both_imgids_and_cocoids_of_the_same_images_are_joined():
    preds = {"0": "the test image 0", "1": "the test image 1"}
    images = karpathy(("test", 0, 0), ("test", 1, 1))

    table = semmetrics.score(preds, images, measures="BLEU-1")

    assert table["BLEU-1"].value == pytest.approx(1)


# Items that all systems have

SYSTEMS = {
    "one": {"a": ["x"], "b": ["y"], "c": ["x"]},
    "two": {"a": ["x"], "c": ["y"], "d": ["q"]},
}
TRUTH = {"a": ["x"], "b": ["y"], "c": ["y"], "d": ["q"], "e": ["x"]}


def test_common_items_are_the_items_of_all_systems():
    table = semmetrics.score_systems(SYSTEMS, TRUTH, measures="F1", missing="common")

    first, second = table.scores
    assert first.value == 0.5
    assert second.value == 1.0
    assert first.n == second.n == 2
    assert "|missing:common|" in first.signature
    assert not facts(table, "different-items")


def test_systems_with_different_items_are_noted():
    table = semmetrics.score_systems(SYSTEMS, TRUTH, measures="F1", missing="skip")

    assert len(facts(table, "different-items")) == 1


def test_only_common_items_can_be_compared():
    with refused("unlike-items"):
        semmetrics.compare(SYSTEMS, TRUTH, measures="F1", missing="skip")

    comparison = semmetrics.compare(SYSTEMS, TRUTH, measures="F1", missing="common")
    assert [score.n for score in comparison.scores] == [2, 2]


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ("x", "y", {"task": "classes"}),
        (["x"], ["y"], {"task": "retrieval", "measures": "MRR"}),
        ("a dog", "a cat", {"task": "captions", "measures": "BLEU-1"}),
    ],
)
def test_other_kinds_have_common_items(first, second, options):
    truth = {"1": first, "2": second}
    systems = {"a": truth, "b": {"2": second}}

    table = semmetrics.score_systems(systems, truth, missing="common", **options)

    assert {score.n for score in table} == {1}


def test_systems_without_a_common_item_are_an_error():
    systems = {"a": {"1": ["x"]}, "b": {"2": ["x"]}}
    truth = {"1": ["x"], "2": ["x"]}

    with refused("no-common-items", ids="a has '1', and b has '2'"):
        semmetrics.score_systems(systems, truth, measures="F1", missing="common")


def test_common_items_need_the_rows_of_all_batches():
    with refused("needs-all-items"):
        semmetrics.Scorer(measures="F1", missing="common", keep_rows=False)


@pytest.mark.parametrize("is_matrix", [False, True])
def test_only_a_matrix_without_ids_can_store_them_in_npz(tmp_path, is_matrix):
    # given predictions without ids, as a matrix or as lists
    preds = [["cat"]]
    if is_matrix:
        preds = tmp_path / "preds.npy"
        np.save(preds, np.array([[1, 0]]))

    # then the error mentions .npz files for the matrix only
    with refused("one-side-has-ids") as caught:
        semmetrics.score(preds, {"a": ["0"]}, measures="F1")
    assert (".npz" in str(caught.value)) is is_matrix
