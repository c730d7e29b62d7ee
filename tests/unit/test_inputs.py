"""Label lists and captions from Python objects."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from reading import refused_in
from refusals import refused

import semmetrics
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        ({"a", "b"}, "wrong-type", ""),
        (["cat", "dog"], "text-as-list", ", item 0 (from 0)"),
        (pd.Series([["a"], pd.NA]), "wrong-type", ", row 1 (from 0)"),
        ([["cat"], {"dog": 0.5}], "wrong-type", ", item 1 (from 0)"),
        ({1.0: ["a"]}, "wrong-id", ""),
        (pd.Series([[], []], index=[1, "1"]), "duplicate-id", ""),
        (pd.DataFrame([[0, 1]], columns=[1, "1"]), "duplicate-column", ""),
        (
            pd.DataFrame({"a": [0.5, np.nan]}),
            "not-finite",
            ", row 1, column 0 (from 0)",
        ),
        (np.array([[0, 3]]), "out-of-range", ", row 0, column 1 (from 0)"),
    ],
)
def test_an_error_in_label_lists_names_the_place(data, code, place):
    with refused_in(code, f"preds{place}"):
        as_labels(data, source="preds")


@pytest.mark.parametrize(
    ("classes", "code"),
    [
        (["a"], "classes-of-columns"),
        (["a", ["b", ""]], "empty"),
        ([["a", 1], "b"], "wrong-type"),
        (["b", "b"], "duplicate-column"),
    ],
)
def test_a_class_list_that_does_not_name_the_columns_is_an_error(classes, code):
    with refused(code):
        as_labels(np.eye(2, dtype=int), classes=classes)


def test_reading_does_not_change_the_arguments():
    matrix = scipy.sparse.csr_matrix(np.eye(2))
    matrix.data[0] = 0
    classes = ["a", ["b", "b"]]

    as_labels(matrix, classes=classes)

    assert matrix.nnz == 2
    assert classes == ["a", ["b", "b"]]


def test_an_index_has_ids_unless_it_counts_from_zero():
    series = pd.Series([["a"], ["b"], ["c"]])

    assert as_labels(series).ids == range(3)
    assert as_labels(series[1:]).ids == ["1", "2"]
    assert as_labels(series[::-1]).ids == ["2", "1", "0"]


def test_a_series_of_captions_may_repeat_ids():
    series = pd.Series(["x", "y", "z"], index=[3, 4, 3])

    lists = as_captions(series, source="refs")

    assert lists.ids == ["3", "4"]
    assert lists.to_list() == [["x", "z"], ["y"]]
    assert lists.where(1) == "refs, row 1 (from 0), id '4'"


def test_a_series_of_lists_of_captions_may_not_repeat_ids():
    with refused("duplicate-id"):
        as_captions(pd.Series([["x"], ["y"]], index=["a", "a"]))


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        ({"a": [["x"]]}, "wrong-type", ", id 'a', caption 1"),
        (["x", 4], "wrong-type", ", item 1 (from 0)"),
        ({"a": ["x", "y\ud800"]}, "lone-surrogate", ", id 'a', caption 2"),
        (np.eye(2), "wrong-type", ""),
        (pd.Series(["x", np.nan], index=["a", "b"]), "wrong-type", ", id 'b'"),
        (pd.DataFrame({"caption": ["x"]}), "missing-column", ""),
    ],
)
def test_an_error_in_captions_names_the_place(data, code, place):
    with refused_in(code, f"refs{place}"):
        as_captions(data, source="refs")


def test_a_score_that_is_not_finite_asks_how_it_was_computed():
    # given a score of nan
    with refused("not-finite") as caught:
        semmetrics.score({"a": {"cat": float("nan")}}, {"a": ["cat"]}, measures="mAP")
    # then the error does not suggest a number
    assert "0.5" not in str(caught.value)
