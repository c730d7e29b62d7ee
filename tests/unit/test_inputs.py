"""Label lists from Python objects, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from reading import refused_in
from refusals import refused

from semmetrics.kinds.labels import as_labels


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a", "b"}, ("wrong-type", "preds")),
        (["cat", "dog"], ("text-as-list", "preds, item 0 (from 0)")),
        (np.array("cat"), ("text-as-list", "preds, item 0 (from 0)")),
        (np.array([b"cat"]), ("wrong-type", "preds, item 0 (from 0)")),
        (
            pd.Series(["cat", None], dtype="string"),
            ("text-as-list", "preds, row 0 (from 0)"),
        ),
        (pd.Series([["a"], pd.NA]), ("wrong-type", "preds, row 1 (from 0)")),
        ({1.0: ["a"]}, ("wrong-id", "preds")),
        ({True: ["a"]}, ("wrong-id", "preds")),
        ({None: ["a"]}, ("wrong-id", "preds")),
        (pd.Series([[], []], index=["a", "a"]), ("duplicate-id", "preds")),
        (pd.Series([[], []], index=[1, "1"]), ("duplicate-id", "preds")),
        (pd.Series([[]], index=[("a", 1)]), ("wrong-id", "preds")),
        (pd.Series([[]], index=[np.nan]), ("wrong-id", "preds")),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), (None, "preds")),
        (pd.DataFrame([[0, 1]], columns=[1, "1"]), (None, "preds")),
        (pd.DataFrame({"a": ["x"]}), ("not-a-label-column", "preds, column 'a'")),
        (pd.DataFrame({"a": [0.5, np.nan]}), (None, "preds, row 1, column 0 (from 0)")),
        (np.array([[0, 3]]), (None, "preds, row 0, column 1 (from 0)")),
    ],
)
def test_what_is_refused(data, message):
    with refused_in(*message):
        as_labels(data, source="preds")


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a"], "wrong-count"),
        (
            ["a", []],
            r"class list, class 1 \(from 0\): the class is empty. Name it, or remove it",
        ),
        (["a", ["b", ""]], r"class list, class 1 \(from 0\): the class is empty"),
        (["a", 7], "wrong-type"),
        ([None, "b"], "wrong-type"),
        ([["a", 1], "b"], r"class list, class 0 \(from 0\): \['a', 1\] is a list"),
        (["b", "b"], "duplicate-column"),
    ],
)
def test_class_lists_of_columns_that_are_refused(classes, message):
    with refused(message):
        as_labels(np.eye(2, dtype=int), classes=classes)


def test_arguments_are_left_as_they_are():
    table = scipy.sparse.csr_matrix(np.eye(2))
    table.data[0] = 0
    frame = pd.DataFrame({"a": [0.5, 0.25]})
    classes = ["a", ["b", "b"]]
    as_labels(table, classes=classes)
    as_labels(frame)
    assert (table.nnz, classes) == (2, ["a", ["b", "b"]])
    assert frame["a"].tolist() == [0.5, 0.25]


def test_an_index_is_positions_only_where_it_counts_from_zero():
    plain = pd.Series([["a"], ["b"], ["c"]])
    assert as_labels(plain).ids == range(3)
    assert as_labels(plain[1:]).ids == ["1", "2"]
    turned = as_labels(plain[::-1])
    assert (turned.ids, turned.to_list()) == (["2", "1", "0"], [["c"], ["b"], ["a"]])
    assert as_labels(plain.to_frame().iloc[:0]).ids == range(0)
