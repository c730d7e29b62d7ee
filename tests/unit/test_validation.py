"""``semmetrics.validate``: what data hold, from Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import facts as describe
from semmetrics.kinds.resolve import resolve_kind
from semmetrics.studies.thresholds import report_calibration
from semmetrics.studies.validate import report_validation


def test_labels():
    found = semmetrics.validate({"a": ["cat", "dog", "cat"], "b": []})
    assert (found["task"], found["file"], found["error"]) == ("labels", None, None)
    assert (found["items"], found["labels"], found["vocabulary"]) == (2, 3, 2)
    assert found["cardinality"]["histogram"] == [1, 0, 0, 1]
    assert found["frequencies"] == [{"label": "cat", "count": 2}, {"label": "dog", "count": 1}]
    assert found["odd"] == [
        "1 of 2 items without labels: 'b'",
        "1 of 2 items with a repeated label: 'a'",
    ]
    json.dumps(found, allow_nan=False)


def test_captions():
    found = semmetrics.validate({"a": "a cat sleeps", "b": "a cat sleeps"})
    assert (found["task"], found["captions"], found["distinct"]) == ("captions", 2, 1)
    assert found["repeated"] == [{"caption": "a cat sleeps", "count": 2}]
    assert found["odd"] == ["1 caption in more than one item: 'a cat sleeps'"]


def test_a_matrix_and_its_classes(tmp_path):
    scores = np.array([[0.5, 0.25], [1.5, 0.0]])
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    for classes in (["cat", "dog"], tmp_path / "classes.txt"):
        found = semmetrics.validate(scores, classes=classes)
        assert (found["ranked"], found["scores"]) == (True, {"min": 0.0, "max": 1.5})
        assert "1 of 4 scores not between 0 and 1" in found["odd"]


def test_lists_that_could_be_either():
    lists = {"1": ["a man rides a brown horse"], "2": ["a dog sleeps on the mat"]}
    found = semmetrics.validate(lists)
    assert found["task"] == "captions"
    (note,) = found["notes"]
    assert note.startswith("lists of strings of 6.0 words on average, taken for captions; if not")
    assert semmetrics.validate(lists, task="labels")["vocabulary"] == 2
    unused = semmetrics.validate(lists, task="captions", classes=["a"])
    assert unused["notes"] == ["classes= (--classes) has no effect on captions"]


def test_errors(tmp_path):
    with refused("bad-choice"):
        semmetrics.validate([["cat"]], task="texts")
    with refused("missing-file"):
        semmetrics.validate(tmp_path / "none.json")


@pytest.mark.parametrize("nothing", [[], {}, np.zeros((0, 3))])
def test_nothing(nothing):
    with refused("nothing-given"):
        semmetrics.validate(nothing)


def test_a_label_order_that_is_not_computed_is_said(monkeypatch):
    data = [["a", "b"], ["a", "b", "c"]]
    assert semmetrics.validate(data)["order"] == {"mean": 1.0, "pairs": 3}
    monkeypatch.setattr(describe, "_PAIRS", 3)
    found = semmetrics.validate(data)
    assert found["order"] == {"mean": None, "pairs": 4}
    assert "not computed: 4 pairs of labels are too many" in report_validation(found)


@pytest.mark.parametrize(("n", "words"), [(150, "of 6.0 words"), (250, "of about 6.0 words")])
def test_words_of_a_part_of_the_items_are_said_to_be_about_so_many(n, words):
    assert words in resolve_kind([["a man rides a brown horse"]] * n).understood


def test_a_part_of_a_curve_is_said_to_be_one():
    preds, gts = [["bike"], ["cat"], ["sea"]], [["bicycle"], ["kitten"], ["ocean"]]
    found = semmetrics.calibrate_threshold(preds, gts, holdout=1)
    text = report_calibration(found)
    (line,) = [line for line in text.splitlines() if line.endswith("that were tried:")]
    shown = len(text.splitlines()) - text.splitlines().index(line) - 2
    assert line == f"{shown} of 101 thresholds that were tried:"
    few = semmetrics.calibrate_threshold(preds, gts, holdout=1, thresholds=[0.4, 0.5])
    assert "tried" not in report_calibration(few)
