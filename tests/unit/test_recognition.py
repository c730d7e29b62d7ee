"""Recognition of labels and captions if the user does not set the task."""

import json

import numpy as np
import pandas as pd
import pytest
from reading import saved
from refusals import refused

from semmetrics.kinds import captions, find_kind, resolve_kind
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.recognition import find_recogniser
from semmetrics.options import KINDS

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
OF_JSON = [
    (LABELS, LABELS, "labels"),
    (SENTENCES, LABELS, "labels"),
    ({"a": []}, {"a": []}, "labels"),
    (LABELS, INSTANCES, "labels"),
    ({"a": [["bin", "trash can"]]}, LABELS, "labels"),
    ({"a": ["a cat sleeps on the mat", {"label": "cat"}]}, SENTENCES, "labels"),
    ({"a": ["cat"], "b": "dog"}, LABELS, "labels"),
    (3, LABELS, "labels"),
    (TEXTS, SENTENCES, "captions"),
    (TEXTS, TEXTS, "captions"),
    ({"a": "cat"}, {"a": ["a cat sleeps"]}, "captions"),
    ({"a": "猫が寝ている"}, {"a": ["猫が寝ています"]}, "captions"),
    (RESULTS, COCO, "captions"),
    (SENTENCES, COCO, "captions"),
    ({"annotations": COCO["annotations"]}, COCO, "captions"),
    ([{"id": 1}, {"id": 2, "refs": []}], SENTENCES, "captions"),
]
OF_OBJECTS = [
    (np.eye(2), LABELS, "labels"),
    (TEXTS, np.eye(2), "labels"),
    ({"a": {"cat", "dog"}}, LABELS, "labels"),
    (as_labels(LABELS), SENTENCES, "labels"),
    (pd.Series([["cat"]]), pd.DataFrame({"cat": [1]}), "labels"),
    (as_captions(SENTENCES), SENTENCES, "captions"),
    (pd.Series(["a cat sleeps"]), pd.Series([["the cat"]]), "captions"),
]


@pytest.mark.parametrize(("pred", "ref", "kind"), OF_JSON + OF_OBJECTS)
def test_the_kind_of_objects_is_recognised(pred, ref, kind):
    assert resolve_kind(pred, ref).kind == kind


@pytest.mark.parametrize(("pred", "ref", "kind"), OF_JSON)
def test_the_kind_of_files_is_recognised(tmp_path, pred, ref, kind):
    pred_path = saved(tmp_path, "pred.json", json.dumps(pred))
    ref_path = saved(tmp_path, "ref.json.gz", json.dumps(ref))

    assert resolve_kind(pred_path, ref_path).kind == kind


@pytest.mark.parametrize(
    ("pred", "ref", "code"),
    [
        (SENTENCES, SENTENCES, "ambiguous-kind"),
        ({"a": "cat"}, {"a": ["cat", "dog"]}, "ambiguous-kind"),
        (["cat"], ["cat"], "ambiguous-kind"),
        (RESULTS, INSTANCES, "different-kinds"),
    ],
)
def test_ambiguous_and_different_kinds_are_an_error(pred, ref, code):
    with refused(code):
        resolve_kind(pred, ref)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_recognises_its_data(kind):
    assert callable(find_recogniser(kind)), f"write recognise in kinds/{kind}"


def test_a_kind_without_recognise_fails_only_if_it_is_used(monkeypatch):
    # given
    monkeypatch.delattr(captions, "recognise")

    # when labels are recognised
    kind = resolve_kind(LABELS, LABELS).kind

    # then
    assert kind == "labels"
    with pytest.raises(NotImplementedError, match=r"kinds\.captions has no function"):
        find_kind("captions")
