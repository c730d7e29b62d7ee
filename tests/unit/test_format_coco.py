"""COCO results, COCO instances, and LVIS, which lists the verified labels of each image."""

import copy

import pandas as pd
import pytest
from public_formats import measure_values, scores_by_id
from refusals import facts, refused
from tables import write_table

import semmetrics
from semmetrics import as_captions, as_labels

INSTANCES = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 18},
        {"id": 2, "image_id": 2, "category_id": 44},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 44, "name": "bottle"}],
}
RESULTS = [
    {"image_id": 1, "category_id": 44, "score": 0.25},
    {"image_id": 1, "category_id": 18, "score": 0.5},
    {"image_id": 1, "category_id": 44, "score": 0.75},
    {"image_id": 2, "category_id": 18, "score": 0.125},
]


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv", "tsv"])
def test_a_label_of_coco_results_has_the_highest_score_of_its_detections(
    tmp_path, suffix
):
    path = write_table(tmp_path / f"results.{suffix}", RESULTS)

    lists = as_labels(path)

    assert scores_by_id(lists) == {"1": {"44": 0.75, "18": 0.5}, "2": {"18": 0.125}}
    assert "COCO results" in lists.understood


def test_coco_results_may_be_a_parquet_file(tmp_path):
    pd.DataFrame(RESULTS).to_parquet(tmp_path / "results.parquet")

    lists = as_labels(tmp_path / "results.parquet")

    assert lists.to_list() == [["44", "18"], ["18"]]


@pytest.mark.parametrize("results", [RESULTS, pd.DataFrame(RESULTS)])
def test_category_ids_of_results_get_the_names_of_the_instances(results):
    values = measure_values(results, INSTANCES, measures="F1@1 F1@2")

    assert values["F1@1"] == 0.0
    assert values["F1@2"] == pytest.approx(1 / 3)


def test_systems_with_category_ids_and_with_names_can_be_compared():
    named = {"1": [["bottle", 0.75], ["dog", 0.5]], "2": [["dog", 0.125]]}
    systems = {"ids": RESULTS, "names": named}

    (row,) = semmetrics.compare(systems, INSTANCES, measures="F1@2").to_records()

    assert row["value"] == pytest.approx(1 / 3)
    assert row["difference"] == 0.0


def test_category_ids_are_not_positions_in_the_class_list():
    options = {"measures": "F1@2", "classes": ["dog", "bottle", "cat"]}

    values = measure_values(RESULTS, INSTANCES, **options)

    assert values["F1@2"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("classes", [None, ["dog", "bottle"]])
def test_category_ids_without_a_name_on_the_other_side_are_an_error(classes):
    truth = {"1": ["dog"], "2": ["bottle"]}

    with refused("unnamed-categories", other="gts"):
        measure_values(RESULTS, truth, measures="F1", classes=classes)


def test_category_ids_equal_numbers_of_the_other_side():
    truth = {"1": ["18", "44"], "2": ["44"]}

    assert measure_values(RESULTS, truth, measures="F1")["F1"] == 0.5


def test_category_ids_of_both_sides_are_compared():
    results = [{"image_id": 1, "category_id": 18}]

    assert measure_values(results, results, measures="F1")["F1"] == 1.0


def test_an_unknown_category_id_is_an_error():
    results = [{"image_id": 1, "category_id": 18}, {"image_id": 1, "category_id": 99}]

    with refused("unknown-category", "preds, id '1'", value="99"):
        measure_values(results, INSTANCES, measures="F1", missing="empty")


def test_results_may_have_names_instead_of_category_ids():
    results = [{"image_id": 1, "category_id": "dog", "score": 0.5}]

    values = measure_values(results, INSTANCES, measures="F1", missing="skip")

    assert values["F1"] == 1.0


def test_instances_may_have_scores():
    scored = copy.deepcopy(INSTANCES)
    scored["annotations"][0]["score"] = 0.25
    scored["annotations"][1]["score"] = 0.75

    assert scores_by_id(as_labels(scored)) == {
        "1": {"dog": 0.25},
        "2": {"bottle": 0.75},
    }


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"image_id": 1, "category_id": 18, "score": "high"}, "not-a-number"),
        ({"image_id": 1, "category_id": None, "score": 0.5}, "wrong-id"),
        ({"category_id": 18, "score": 0.5}, "missing-key"),
        ({"image_id": 0, "category_id": 18}, "some-scores"),
    ],
)
def test_an_error_in_results_names_the_record(record, code):
    results = []
    for image in range(24):
        results.append({"image_id": image, "category_id": 18, "score": 0.5})
    results.append(record)

    with refused(code, place="element [24]"):
        as_labels(results)


@pytest.mark.parametrize(
    ("read", "values"),
    [(as_labels, {"category_id": 18}), (as_captions, {"caption": "a dog"})],
)
def test_a_note_names_the_unused_keys_of_annotations(read, values):
    annotation = {"id": 1, "image_id": 1, **values}
    document = {**INSTANCES, "images": [{"id": 1}], "annotations": [annotation]}
    assert read(document).notes == []

    annotation["crowd"] = 1
    (note,) = read(document).notes

    assert note.code == "unused-entry-keys"
    assert note.examples == ("crowd",)


# Image 1 has a cat and no bus, and image 2 a bus and no cat. Other labels are unverified.
LVIS = {
    "images": [
        {"id": 1, "file_name": "a.jpg", "neg_category_ids": [3]},
        {"id": 2, "file_name": "b.jpg", "neg_category_ids": [1]},
    ],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1},
        {"id": 2, "image_id": 2, "category_id": 3},
    ],
    "categories": [
        {"id": 1, "name": "cat"},
        {"id": 2, "name": "alarm_clock"},
        {"id": 3, "name": "bus"},
    ],
}
WITH_UNVERIFIED = {"1": ["cat", "alarm_clock"], "2": ["bus", "alarm_clock"]}


def test_predictions_of_unverified_labels_are_left_out_and_counted():
    table = semmetrics.score(WITH_UNVERIFIED, LVIS, measures="Precision F1")

    assert table["Precision"].value == 1.0
    assert table["F1"].value == 1.0
    (fact,) = facts(table, "unverified-labels")
    assert fact.n == 2


@pytest.mark.parametrize(
    ("preds", "precision"),
    [
        ({"1": ["cat", "bus"], "2": ["bus", "cat"]}, 0.5),
        ({"1": ["cat", "zebra"], "2": ["bus"]}, 0.75),
    ],
    ids=["verified as absent", "not a category"],
)
def test_wrong_labels_that_were_verified_or_are_no_category_count(preds, precision):
    values = measure_values(preds, LVIS, measures="Precision")

    assert values["Precision"] == precision


@pytest.mark.parametrize(
    ("preds", "options"),
    [
        ({"a.jpg": ["cat", "alarm_clock"], "b.jpg": ["bus"]}, {}),
        (
            {"1": ["cat", "Alarm clock"], "2": ["bus"]},
            {"normalize": "lower+separators"},
        ),
    ],
    ids=["file names as ids", "normalised labels"],
)
def test_unverified_labels_are_found_under_other_names(preds, options):
    values = measure_values(preds, LVIS, measures="Precision", **options)

    assert values["Precision"] == 1.0


def test_unverified_categories_of_results_do_not_take_a_rank():
    results = [
        {"image_id": 1, "category_id": 1, "score": 0.5},
        {"image_id": 1, "category_id": 2, "score": 0.9},
        {"image_id": 2, "category_id": 3, "score": 0.5},
        {"image_id": 2, "category_id": 2, "score": 0.9},
    ]
    plain_coco = copy.deepcopy(LVIS)
    for image in plain_coco["images"]:
        del image["neg_category_ids"]

    lvis_values = measure_values(results, LVIS, measures="Precision@1")
    coco_values = measure_values(results, plain_coco, measures="Precision@1")

    assert lvis_values["Precision@1"] == 1.0
    assert coco_values["Precision@1"] == 0.0
