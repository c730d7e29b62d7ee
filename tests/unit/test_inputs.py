"""Label lists from Python objects, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from semmetrics.errors import InputError
from semmetrics.kinds.labels import as_labels


def read(data, **options):
    """Ids, and the labels of each item."""
    labels = as_labels(data, **options)
    return labels.ids, labels.to_list()


LISTS = [["cat", "dog"], [], ["dog"]]


@pytest.mark.parametrize(
    "data",
    [
        LISTS,
        tuple(map(tuple, LISTS)),
        pd.Series(LISTS),
        np.array([*LISTS, None], object)[:3],
        np.array([[1, 1], [0, 0], [0, 1]]),
        scipy.sparse.csr_array([[1, 1], [0, 0], [0, 1]]),
        scipy.sparse.coo_matrix(np.array([[1, 1], [0, 0], [0, 1]])),
        pd.DataFrame([[1, 1], [0, 0], [0, 1]], columns=["cat", "dog"]),
    ],
    ids=["lists", "tuples", "series", "objects", "matrix", "csr", "coo", "frame"],
)
def test_items_by_position(data):
    assert read(data, classes=["cat", "dog"]) == (range(3), LISTS)


@pytest.mark.parametrize(
    "data",
    [
        dict(zip(["7", "b", "é"], LISTS, strict=True)),
        {7: LISTS[0], "b": LISTS[1], np.str_("é"): LISTS[2]},
        {np.int64(7): LISTS[0], "b": LISTS[1], "é": LISTS[2]},
        pd.Series(LISTS, index=[7, "b", "é"]),
        pd.DataFrame([[1, 1], [0, 0], [0, 1]], columns=["cat", "dog"], index=["7", "b", "é"]),
    ],
    ids=["mapping", "numbers", "numpy", "series", "frame"],
)
def test_items_by_id(data):
    ids, texts = read(data)
    assert (ids, texts) == (["7", "b", "é"], LISTS)
    assert all(type(name) is str for name in ids)


def test_labels_are_taken_as_they_are():
    labels = as_labels(LISTS)
    assert as_labels(labels) is labels


def test_texts_in_arrays_are_labels():
    assert read(np.array([["cat", "dog"], ["dog", "cat"]]))[1] == [["cat", "dog"], ["dog", "cat"]]


def test_an_index_is_positions_only_where_it_counts_from_zero():
    plain = pd.Series([["a"], ["b"], ["c"]])
    assert as_labels(plain).ids == range(3)
    assert as_labels(plain[1:]).ids == ["1", "2"]
    assert read(plain[::-1]) == (["2", "1", "0"], [["c"], ["b"], ["a"]])
    assert as_labels(plain.to_frame().iloc[:0]).ids == range(0)


def test_places_in_messages_are_ids():
    for data in ({"x": ["a"], "y": [1]}, pd.Series([["a"], [1]], index=["x", "y"])):
        with pytest.raises(InputError, match=r"^gts, id 'y', label 1: the label 1 is an int"):
            as_labels(data, source="gts")
    with pytest.raises(InputError, match=r"^gts, row 1 \(from 0\): null stands where a list"):
        as_labels(pd.Series([["a"], None]), source="gts")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "preds: cannot read labels from an int; give a path, {id: "),
        (None, "preds: cannot read labels from None"),
        (b"preds.json", "preds: cannot read labels from a bytes"),
        ((x for x in LISTS), "preds: cannot read labels from a generator"),
        ({"a", "b"}, "preds: cannot read labels from a set"),
        (["cat", "dog"], r"preds, item 0 \(from 0\): 'cat' stands where a list"),
        (np.array("cat"), r"preds, item 0 \(from 0\): 'c' stands where a list"),
        (np.array([b"cat"]), r"preds, item 0 \(from 0\): a bytes stands where a list"),
        (
            pd.Series(["cat", None], dtype="string"),
            r"preds, row 0 \(from 0\): 'cat' stands where a list",
        ),
        (pd.Series([["a"], pd.NA]), r"preds, row 1 \(from 0\): a NAType stands where"),
        ({1.0: ["a"]}, "preds: the id 1.0 is a float; ids are strings or whole numbers"),
        ({True: ["a"]}, "preds: the id True is a bool"),
        ({None: ["a"]}, "preds: an id is None"),
        ({1: ["a"], 2: [], "2": []}, "preds: the id '2' is there twice; keep one"),
        (pd.Series([[], []], index=["a", "a"]), "preds: the id 'a' is there twice; keep one"),
        (pd.Series([[], []], index=[1, "1"]), "preds: the id '1' is there twice; keep one"),
        (pd.Series([[]], index=[("a", 1)]), r"preds: the id \('a', 1\) is a tuple"),
        (pd.Series([[]], index=[np.nan]), "preds: the id nan is a float"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "preds: two columns are called 'a'"),
        (pd.DataFrame([[0, 1]], columns=[1, "1"]), "preds: two columns are called '1'"),
        (pd.DataFrame({"a": ["x"]}), "preds, column 'a': it holds text, and where no column has"),
        (
            pd.DataFrame({"a": [0.5, np.nan]}),
            "preds, row 1, column 0 \\(from 0\\): nan is no finite number",
        ),
        (np.array([[0, 3]]), "preds, row 0, column 1 \\(from 0\\): 3 is an integer, but neither"),
    ],
)
def test_what_is_refused(data, message):
    with pytest.raises(InputError, match=f"^{message}"):
        as_labels(data, source="preds")


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["a"], "input: the matrix has 2 columns and the class list 1 name"),
        (["a", []], r"class list, class 1 \(from 0\): the class is empty; name it, or remove it"),
        (["a", ["b", ""]], r"class list, class 1 \(from 0\): the class is empty"),
        (["a", 7], r"class list, class 1 \(from 0\): 7 is an int, not a string; write a class as"),
        ([None, "b"], r"class list, class 0 \(from 0\): None .null. is not"),
        ([["a", 1], "b"], r"class list, class 0 \(from 0\): \['a', 1\] is a list"),
        (["b", "b"], "input: two columns are called 'b'"),
    ],
)
def test_class_lists_of_columns_that_are_refused(classes, message):
    with pytest.raises(InputError, match=f"^{message}"):
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
