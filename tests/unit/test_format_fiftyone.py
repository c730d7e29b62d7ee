"""FiftyOne: labels by id, with or without a list of classes, and samples with label fields."""

from collections import deque

import pytest
from public_formats import items_by_id, measure_values, scores_by_id
from refusals import refused

from semmetrics import as_labels

CAT = {"_id": {"$oid": "1"}, "_cls": "Classification", "label": "cat", "tags": []}


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (CAT, ["cat"]),
        ({"_cls": "Classifications", "classifications": [CAT]}, ["cat"]),
        ({"detections": [{"label": "cat"}, {"label": "cat"}]}, ["cat"]),
        (None, []),
    ],
)
def test_labels_by_id_are_objects_or_lists_of_objects(labels, wanted):
    document = {"a": labels, "b": {"label": "dog"}}

    assert items_by_id(as_labels(document)) == {"a": wanted, "b": ["dog"]}


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (1, ["dog"]),
        ([0, 1], ["cat", "dog"]),
        ("cat", ["cat"]),
        ([{"label": 1}, {"label": 0}], ["dog", "cat"]),
        (None, []),
    ],
)
def test_labels_may_be_names_or_numbers_of_classes(labels, wanted):
    document = {"classes": ["cat", "dog"], "labels": {"a": labels, "b": 0}}

    assert items_by_id(as_labels(document)) == {"a": wanted, "b": ["cat"]}


def test_a_number_outside_of_the_classes_is_an_error():
    document = {"classes": ["cat", "dog"], "labels": {"a": [{"label": 2}]}}

    with refused("outside-classes", value="2"):
        as_labels(document)


def test_a_label_has_the_highest_confidence_of_its_objects():
    boxes = [
        {"label": "cat", "confidence": 0.25},
        {"label": "cat", "confidence": 0.75},
    ]

    scores = scores_by_id(as_labels({"classes": [], "labels": {"a": boxes}}))

    assert scores == {"a": {"cat": 0.75}}


def test_samples_have_a_field_for_each_side():
    sample = {
        "filepath": "/data/a.jpg",
        "ground_truth": {"detections": [{"label": "cat"}, {"label": "dog"}]},
        "predictions": {"detections": [{"label": "cat", "confidence": 0.5}]},
    }
    document = {"samples": [sample]}

    values = measure_values(document, document, measures="Precision Recall")

    assert values == {"Precision": 1.0, "Recall": 0.5}


def test_samples_may_be_a_sequence_that_cannot_be_sliced():
    samples = deque([{"filepath": "a.jpg", "ground_truth": CAT}])

    assert items_by_id(as_labels(samples)) == {"a.jpg": ["cat"]}
