"""``semmetrics.validate``: what data hold, from Python."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import description
from semmetrics.studies.validation import report_validation


def test_lists_that_could_be_either():
    lists = {"1": ["a man rides a brown horse"], "2": ["a dog sleeps on the mat"]}
    found = semmetrics.validate(lists)
    assert found["task"] == "captions"
    (note,) = found["notes"]
    assert note.startswith(
        "lists of strings of 6.0 words on average, read as captions. If they"
    )
    assert semmetrics.validate(lists, task="labels")["vocabulary"] == 2
    assert semmetrics.validate(lists, classes=["a"])["task"] == "labels"
    unused = semmetrics.validate(lists, task="captions", classes=["a"])
    assert unused["notes"] == ["classes= (--classes) has no effect on captions"]


@pytest.mark.parametrize("nothing", [[], {}, np.zeros((0, 3))])
def test_nothing(nothing):
    with refused("nothing-given"):
        semmetrics.validate(nothing)


@pytest.mark.parametrize(
    ("limit", "number"), [("_MAX_PAIRS", 3), ("_MAX_DISTINCT_PAIRS", 2)]
)
def test_a_label_order_that_is_not_computed_is_said(monkeypatch, limit, number):
    data = [["a", "b"], ["a", "b", "c"]]
    assert semmetrics.validate(data)["order"] == {"mean": 1.0, "pairs": 3}
    monkeypatch.setattr(description, limit, number)
    found = semmetrics.validate(data)
    assert found["order"] == {"mean": None, "pairs": 4}
    assert "not computed: 4 pairs of labels are too many" in report_validation(found)


def test_a_matrix_and_its_classes(tmp_path):
    scores = np.array([[0.5, 0.25], [1.5, 0.0]])
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    for classes in (["cat", "dog"], tmp_path / "classes.txt"):
        found = semmetrics.validate(scores, classes=classes)
        assert (found["ranked"], found["scores"]) == (True, {"min": 0.0, "max": 1.5})
        assert "1 of 4 scores not between 0 and 1" in found["odd"]
