"""Label lists and matrices as label codes, and errors of their values."""

from __future__ import annotations

import numpy as np
import pytest
from reading import refused_in
from refusals import refused
from scipy.sparse import csr_array

from semmetrics import as_labels
from semmetrics.errors import Fact


def test_a_note_counts_unused_keys_of_labels():
    labels = as_labels([[{"label": "cat", "color": "red"}, {"label": "dog", "box": 1}]])

    fact = Fact("unused-entry-keys", 2, ("color", "box"), values={"noun": "label"})
    assert labels.notes == [fact]


@pytest.mark.parametrize(
    "entry",
    [
        {"label": "cat", "confidence": 0.5},
        {"label": "cat", "probability": 0.5},
        {"name": "cat", "prob": 0.5},
        {"class": "cat", "conf": 0.5},
        {"tag": "cat", "conf_level": 0.5},
        {"Name": "cat", "Confidence": 0.5},
        {"description": "cat", "score": 0.5},
        {"label": "cat", "similarity": 0.5},
    ],
)
def test_common_keys_of_labels_and_scores_are_read(entry):
    labels = as_labels({"a": [entry]})

    assert labels.to_list() == [["cat"]]
    assert labels.side.scores.tolist() == [0.5]
    assert labels.notes == []


def test_a_note_names_a_second_score():
    labels = as_labels([[{"label": "cat", "score": 0.5, "confidence": 0.9}]])

    assert labels.side.scores.tolist() == [0.5]
    assert [fact.examples for fact in labels.notes] == [("confidence",)]


def nest_lists(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ("cat", "text-as-list"),
        (np.array("cat"), "text-as-list"),
        (float("nan"), "wrong-type"),
        ({"cat": 0.5}, "wrong-type"),
        (iter(["cat"]), "wrong-type"),
    ],
)
def test_an_item_that_is_not_a_list_is_an_error(item, code):
    with refused_in(code, "gt.json, item 1 (from 0)"):
        as_labels([[], item, ["a"]], source="gt.json")


@pytest.mark.parametrize(
    ("label", "code"),
    [
        (b"a", "wrong-type"),
        (["a", ["b"], "c"], "wrong-type"),
        (nest_lists(100_000), "wrong-type"),
        ({"id": 1}, "wrong-type"),
        (("a", float("nan")), "not-finite"),
        (("a", 10**5000), "not-finite"),
        (("a", None), "not-a-number"),
        (("a", np.complex128(1)), "not-a-number"),
    ],
)
def test_an_invalid_label_or_score_is_an_error(label, code):
    with refused_in(code, "gt.json, item 1, label 0 (from 0)"):
        as_labels([[], [label], ["a"]], source="gt.json")


def test_a_sparse_matrix_is_not_changed():
    data = np.array([1, 0, 0]), np.array([1, 0, 1]), np.array([0, 2, 3])
    table = csr_array(data, shape=(2, 2))

    assert as_labels(table).to_list() == [["1"], []]

    assert table.nnz == 3
    assert table.indices.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("values", "classes", "code"),
    [
        (np.zeros(3), None, "vector-as-matrix"),
        (np.zeros((2, 2)), ["a", "a"], "duplicate-column"),
        (np.zeros((2, 2)), ["a", 1], "wrong-type"),
        (np.zeros((2, 2)), ["a", " "], r"class list, class 1 \(from 0\)"),
        (np.array([[0, 2]]), None, "out-of-range"),
        (np.array([[np.inf]], np.float16), None, "not-finite"),
        (csr_array([[0.0, np.nan], [0.5, 0.0]]), None, "not-finite"),
        (np.array([["2020"]], "M8[Y]"), None, "wrong-dtype"),
        (np.ma.masked_equal([[0, 1]], 1), None, "masked"),
    ],
)
def test_invalid_matrices_are_errors(values, classes, code):
    with refused(code):
        as_labels(values, classes=classes, source="m.npy")
