"""Telling labels from captions where nobody has said."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from refusals import refused

from semmetrics.kinds import resolve_kind
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels

LABELS = {"a": ["cat", "traffic light"], "b": []}
SENTENCES = {
    "a": ["a cat sleeps on the mat", "the cat is asleep on a mat"],
    "b": ["x y z u v"],
}
TEXTS = {"a": "a cat sleeps", "b": ""}
RESULTS = [{"image_id": 1, "caption": "a cat"}]
COCO = {"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a cat"}]}
INSTANCES = {
    "images": [{"id": 1}],
    "annotations": [{"image_id": 1, "category_id": 2}],
    "categories": [{"id": 2, "name": "cat"}],
}


@pytest.mark.parametrize(
    ("pred", "ref", "task"),
    [
        (LABELS, LABELS, "labels"),
        (LABELS, SENTENCES, "labels"),
        (SENTENCES, LABELS, "labels"),
        ([["cat"]], [["cat"]], "labels"),
        ({"a": []}, {"a": []}, "labels"),
        ({}, {}, "labels"),
        (TEXTS, SENTENCES, "captions"),
        (TEXTS, LABELS, "captions"),
        (TEXTS, TEXTS, "captions"),
        (SENTENCES, TEXTS, "captions"),
        ({"a": "cat"}, {"a": ["a cat sleeps"]}, "captions"),
        ({"a": "猫が寝ている"}, {"a": ["猫が寝ています"]}, "captions"),
        (["a cat sleeps"], [["the cat sleeps", "a cat"]], "captions"),
        (RESULTS, COCO, "captions"),
        (RESULTS, SENTENCES, "captions"),
        (RESULTS, LABELS, "captions"),
        (SENTENCES, COCO, "captions"),
        ({"annotations": COCO["annotations"]}, COCO, "captions"),
        (LABELS, INSTANCES, "labels"),
        (np.eye(2), LABELS, "labels"),
        (TEXTS, np.eye(2), "labels"),
        ({"a": {"cat": 0.5}}, SENTENCES, "labels"),
        ({"a": [("cat", 0.5)]}, SENTENCES, "labels"),
        ({"a": [["bin", "trash can"]]}, LABELS, "labels"),
        ({"a": ["a cat sleeps on the mat", {"label": "cat"}]}, SENTENCES, "labels"),
        ({"a": ["cat"], "b": "dog"}, LABELS, "labels"),
        ({"a": {"cat", "dog"}}, LABELS, "labels"),
        ([{"id": 1, "labels": ["cat"]}], SENTENCES, "labels"),
        ([{"id": 1, "labels": ["cat"], "text": "a cat"}], LABELS, "labels"),
        ([{"id": 1, "boxes": []}], LABELS, "labels"),
        ([{"id": 1}, {"id": 2, "refs": []}], SENTENCES, "captions"),
        (3, LABELS, "labels"),
        (as_labels(LABELS), SENTENCES, "labels"),
        (as_captions(SENTENCES), SENTENCES, "captions"),
    ],
)
def test_objects_and_json_files_alike(tmp_path, pred, ref, task):
    assert resolve_kind(pred, ref).kind == task
    paths = []
    for name, data in (("pred.json", pred), ("ref.json.gz", ref)):
        try:
            text = json.dumps(data).encode()
        except TypeError:  # not all objects are JSON
            return
        (tmp_path / name).write_bytes(
            gzip.compress(text) if name.endswith("gz") else text
        )
        paths.append(tmp_path / name)
    assert resolve_kind(*paths).kind == task


def test_series():
    pandas = pytest.importorskip("pandas")
    sentences, lists = pandas.Series(["a cat sleeps"]), pandas.Series([["the cat"]])
    assert resolve_kind(sentences, lists).kind == "captions"
    assert (
        resolve_kind(pandas.Series([["cat"]]), pandas.Series([["cat"]])).kind
        == "labels"
    )
    assert (
        resolve_kind(pandas.DataFrame({"cat": [1]}), pandas.Series([["cat"]])).kind
        == "labels"
    )


@pytest.mark.parametrize(
    ("pred", "ref", "match"),
    [
        (SENTENCES, SENTENCES, "ambiguous-kind"),
        (list(SENTENCES.values()), SENTENCES, "lists of sentences could be"),
        ({"a": "cat"}, {"a": ["cat", "dog"]}, "ambiguous-kind"),
        (["cat"], ["cat"], "single words could be"),
        (RESULTS, INSTANCES, "different-kinds"),
        (
            np.eye(2),
            RESULTS,
            r"different kinds of data \(predictions: a ndarray, ground truth: keys",
        ),
    ],
)
def test_what_cannot_be_told_is_an_error(pred, ref, match):
    with refused(match):
        resolve_kind(pred, ref)
