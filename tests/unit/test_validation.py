"""``semmetrics.validate``, the description of one input."""

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import description
from semmetrics.studies.validation import report_validation

SENTENCES = {"1": ["a man rides a brown horse"], "2": ["a dog sleeps on the mat"]}


def test_lists_of_sentences_are_described_as_captions_with_a_note():
    described = semmetrics.validate(SENTENCES)

    (note,) = described["notes"]
    assert described["task"] == "captions"
    assert note.startswith("lists of strings of 6.0 words on average")


@pytest.mark.parametrize("options", [{"task": "labels"}, {"classes": ["a"]}])
def test_options_of_labels_make_sentences_labels(options):
    described = semmetrics.validate(SENTENCES, **options)

    assert described["task"] == "labels"
    assert described["vocabulary"] == 2
    (note,) = described["odd"]
    assert "6.0 words on average" in note


def test_an_option_without_an_effect_is_noted():
    described = semmetrics.validate(SENTENCES, task="captions", classes=["a"])

    assert described["notes"] == ["classes= (--classes) has no effect on captions"]


def test_labels_in_nearly_all_items_and_in_one_item_are_noted():
    data = [["cat"]] * 100 + [["dog"]]

    notes = semmetrics.validate(data)["odd"]

    assert any("'cat'" in note for note in notes)
    assert any("1 of 2 labels in only one item" in note for note in notes)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([["cat:dog"], ["dog:cat"], ["van"]], "separates labels"),
        ([[["cat", 0.5]], [["dog", 0.5]]], "all scores are 0.5"),
    ],
)
def test_joined_labels_and_equal_scores_are_noted(data, words):
    (note,) = semmetrics.validate(data)["odd"]

    assert words in note


@pytest.mark.parametrize("data", [[], {}, np.zeros((0, 3))])
def test_an_empty_input_is_an_error(data):
    with refused("nothing-given"):
        semmetrics.validate(data)


@pytest.mark.parametrize(
    ("limit", "number"), [("_MAX_PAIRS", 3), ("_MAX_DISTINCT_PAIRS", 2)]
)
def test_the_label_order_of_too_many_pairs_is_not_computed(monkeypatch, limit, number):
    monkeypatch.setattr(description, limit, number)

    described = semmetrics.validate([["a", "b"], ["a", "b", "c"]])

    assert described["order"] == {"mean": None, "pairs": 4}
    report = report_validation(described)
    assert "not computed: 4 pairs of labels are too many" in report


def test_a_matrix_is_described_by_the_range_of_its_scores(tmp_path):
    scores = np.array([[0.5, 0.25], [1.5, 0.0]])
    (tmp_path / "classes.txt").write_text("cat\ndog\n")

    described = semmetrics.validate(scores, classes=tmp_path / "classes.txt")

    assert described["ranked"]
    assert described["scores"] == {"min": 0.0, "max": 1.5}
    assert "1 of 4 scores not between 0 and 1" in described["odd"]
