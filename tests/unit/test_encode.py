"""Raw label lists and matrices to codes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from reading import refused_in
from refusals import refused

from semmetrics import as_labels
from semmetrics.errors import Fact


def test_keys_of_labels_that_are_not_used_are_noted():
    got = as_labels([[{"label": "cat", "color": "red"}, {"label": "dog", "box": 1}]])
    assert got.notes == [
        Fact("unused-entry-keys", 2, ("color", "box"), values={"noun": "label"})
    ]
    assert as_labels([[{"label": "cat", "score": 0.5}]]).notes == []


@pytest.mark.parametrize(
    "label_object",
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
def test_the_usual_keys_of_label_objects_are_read(label_object):
    got = as_labels({"a": [label_object]})
    assert got.to_list() == [["cat"]]
    assert got.side.scores.tolist() == [0.5]
    assert got.notes == []


def test_a_second_score_of_a_label_object_is_noted():
    got = as_labels([[{"label": "cat", "score": 0.5, "confidence": 0.9}]])
    assert got.side.scores.tolist() == [0.5]
    assert [fact.examples for fact in got.notes] == [("confidence",)]


def nested(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("cat", ("text-as-list", "gt.json, item 1 (from 0)")),
        (float("nan"), ("wrong-type", "gt.json, item 1 (from 0)")),
        ({"cat": 0.5}, ("wrong-type", "gt.json, item 1 (from 0)")),
        (iter(["cat"]), ("wrong-type", "gt.json, item 1 (from 0)")),
        (np.array("cat"), ("text-as-list", "gt.json, item 1 (from 0)")),
        ([b"a"], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([["a", ["b"], "c"]], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([nested(100_000)], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([{"id": 1}], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([("a", float("nan"))], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
        ([("a", None)], ("not-a-number", "gt.json, item 1, label 0 (from 0)")),
        (
            [("a", np.complex128(1))],
            ("not-a-number", "gt.json, item 1, label 0 (from 0)"),
        ),
        ([("a", 10**5000)], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
    ],
)
def test_what_is_refused(item, message):
    with refused_in(*message):
        as_labels([[], item, ["a"]], source="gt.json")


def test_a_sparse_matrix_is_left_as_it_is():
    table = scipy.sparse.csr_array(
        (np.array([1, 0, 0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert as_labels(table).to_list() == [["1"], []]
    assert (table.nnz, table.indices.tolist()) == (3, [1, 0, 1])


SPARSE_NAN = scipy.sparse.csr_array(np.array([[0.0, np.nan], [0.5, 0.0]]))


@pytest.mark.parametrize(
    ("values", "classes", "message"),
    [
        (np.zeros(3), None, "vector-as-matrix"),
        (np.zeros((2, 2)), ["a", "a"], "duplicate-column"),
        (np.zeros((2, 2)), ["a", 1], "wrong-type"),
        (
            np.zeros((2, 2)),
            ["a", " "],
            r"class list, class 1 \(from 0\): the class is empty. Name",
        ),
        (np.array([[0, 2]]), None, "out-of-range"),
        (np.array([[np.inf]], np.float16), None, "not-finite"),
        (SPARSE_NAN, None, "not-finite"),
        (np.array([["2020"]], "M8[Y]"), None, "wrong-dtype"),
        (
            np.ma.masked_equal([[0, 1]], 1),
            None,
            r"m\.npy: some values are masked. Fill",
        ),
    ],
)
def test_matrices_that_are_refused(values, classes, message):
    with refused(message):
        as_labels(values, classes=classes, source="m.npy")
