"""Raw label lists and matrices to codes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from reading import refused_in
from refusals import refused

from semmetrics import as_labels
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.labels.normalization import normalization

NAMES = st.text("abc ", min_size=1, max_size=2).filter(str.strip)
TERMS = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)


def lists(labels):
    """For each item its labels, each with its score where there are scores."""
    side, vocabulary = labels.side, labels.terms
    found = []
    for start, stop in zip(side.indptr, side.indptr[1:], strict=False):
        row = [vocabulary[code] for code in side.codes[start:stop]]
        if side.scores is not None:
            row = list(zip(row, side.scores[start:stop].tolist(), strict=True))
        found.append(row)
    return found


FORMS = {
    "mapping": lambda terms, score: {"label": list(terms), "score": score},
    "named": lambda terms, score: {"name": list(terms), "score": np.float32(score)},
    "pair": lambda terms, score: [list(terms), np.int64(score)],
    "tuple": lambda terms, score: (terms, score),
}


@given(items=st.lists(st.lists(TERMS, max_size=4), max_size=5))
def test_labels_are_kept_in_order_with_repeats(items):
    got = as_labels([[list(terms) for terms in item] for item in items])
    # a list of two is a pair only where the second is no text
    assert lists(got) == items
    assert got.side.codes.dtype == np.int32
    assert got.terms == list(dict.fromkeys(label for item in items for label in item))


@pytest.mark.parametrize("form", FORMS)
@given(items=st.lists(st.lists(st.tuples(TERMS, st.integers(-3, 3)), max_size=4), max_size=5))
def test_scores_in_every_form(form, items):
    got = as_labels([[FORMS[form](*label) for label in item] for item in items])
    expected = [[(t, float(s)) for t, s in item] for item in items]
    assert lists(got.whole or got) == expected or not any(items)


@given(items=st.lists(st.lists(st.tuples(NAMES, st.floats(-9, 9)), max_size=4), max_size=5))
def test_pairs_of_text_and_number(items):
    got = as_labels(items)
    expected = [[((text,), number) for text, number in item] for item in items]
    assert lists(got.whole or got) == expected or not any(items)
    scores = {score for item in items for _, score in item}
    assert (got.whole is not None) == (0 in scores <= {0, 1})
    if got.whole is not None:
        chosen = [[(text,) for text, score in item if score] for item in items]
        assert lists(got) == chosen


def test_a_list_of_two_texts_holds_synonyms():
    assert lists(as_labels([[["sofa", "couch"]]])) == [[("sofa", "couch")]]


def test_repeated_terms_of_a_label_are_one():
    got = as_labels([[["sofa", "couch", "sofa"]]]).normalized(normalization("none"))
    assert lists(got) == [[("sofa", "couch")]]


def test_items_of_other_kinds():
    got = as_labels([{"b", "a"}, frozenset({"c"}), {"z": 1, "y": 2}.keys(), np.array(["q", "p"])])
    texts = [[terms[0] for terms in item] for item in lists(got)]
    assert texts == [["a", "b"], ["c"], ["y", "z"], ["q", "p"]]
    assert (got.order, got.notes) == ("sorted", [])


def test_kinds_of_text_are_one_label():
    class Text(str):
        pass

    assert len(as_labels([[np.str_("cat"), "cat", Text("cat")]]).vocabulary) == 1


def test_keys_of_labels_that_are_not_used_are_noted():
    got = as_labels([[{"label": "cat", "confidence": 0.5}, {"label": "dog", "box": 1}]])
    assert got.notes == [
        Fact("unused-entry-keys", 2, ("confidence", "box"), values={"noun": "label"})
    ]
    assert as_labels([[{"label": "cat", "score": 0.5}]]).notes == []


def test_nothing():
    assert (len(as_labels([])), as_labels([]).ids) == (0, range(0))
    none = as_labels({"a": []})
    assert (none.vocabulary, none.side.indptr.tolist(), none.side.scores) == ([], [0, 0], None)


def test_arguments_are_left_as_they_are():
    items = [["a", ["b", "b"]], {"c"}]
    as_labels(items)
    assert items == [["a", ["b", "b"]], {"c"}]


def nested(depth):
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


WHERE = r"gt\.json, item 1 \(from 0\)"
INSIDE = r"gt\.json, item 1, label {} \(from 0\)".format
LIST = r'write \["label", \.\.\.\], also for one label'
LABEL = r'write a label as "cat", \["cat", 0\.9\], or a list of synonyms \["cat", "kitty"\]'


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("cat", ("wrong-type", "gt.json, item 1 (from 0)")),
        (None, ("wrong-type", "gt.json, item 1 (from 0)")),
        (float("nan"), ("wrong-type", "gt.json, item 1 (from 0)")),
        ({"cat": 0.5}, ("wrong-type", "gt.json, item 1 (from 0)")),
        (iter(["cat"]), ("wrong-type", "gt.json, item 1 (from 0)")),
        (np.array("cat"), ("wrong-type", "gt.json, item 1 (from 0)")),
        (["a", 3], ("wrong-type", "gt.json, item 1, label 1 (from 0)")),
        ([b"a"], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([None], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([[]], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([["a", ["b"], "c"]], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([nested(100_000)], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        ([{"id": 1}], ("wrong-type", "gt.json, item 1, label 0 (from 0)")),
        (["a", ""], ("empty", "gt.json, item 1, label 1 (from 0)")),
        (["a", " \t"], ("empty", "gt.json, item 1, label 1 (from 0)")),
        ([["a", ""]], ("empty", "gt.json, item 1, label 0 (from 0)")),
        ([{"label": ""}], ("empty", "gt.json, item 1, label 0 (from 0)")),
        ([("a", 1.0), "b"], ("some-scores", "gt.json, item 1 (from 0)")),
        ([("a", float("nan"))], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
        ([("a", float("-inf"))], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
        ([("a", True)], ("not-a-number", "gt.json, item 1, label 0 (from 0)")),
        ([("a", None)], ("not-a-number", "gt.json, item 1, label 0 (from 0)")),
        ([("a", np.complex128(1))], ("not-a-number", "gt.json, item 1, label 0 (from 0)")),
        ([("a", 10**400)], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
        ([("a", 10**5000)], ("not-finite", "gt.json, item 1, label 0 (from 0)")),
        ([{"label": "a", "score": "0.5"}], ("not-a-number", "gt.json, item 1, label 0 (from 0)")),
    ],
)
def test_what_is_refused(item, message):
    with refused_in(*message):
        as_labels([[], item, ["a"]], source="gt.json")


def test_scores_of_some_items_are_refused_wherever_they_stand():
    for items in ([["a"], [("b", 1.0)]], [[("b", 1.0)], ["a"]]):
        with refused_in("some-scores", "input, item 1 (from 0)"):
            as_labels(items)


def matrix(values, classes=None, **more):
    return as_labels(values, classes=classes, **more)


KINDS = ["dense", "csr", "csc", "coo"]


def as_kind(values, kind):
    return values if kind == "dense" else getattr(scipy.sparse, f"{kind}_array")(values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
def test_membership(kind, dtype):
    table = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], dtype)
    got = matrix(as_kind(table, kind), ["a", "b", "c"])
    assert lists(got) == [[("b",), ("c",)], [], [("a",)]]
    assert (got.ranked, got.side.codes.dtype) == (False, np.int32)
    assert got.understood.endswith("0/1")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_a_matrix(kind, dtype):
    table = np.array([[0.5, 0, -2], [0, 0, 1]], dtype)
    got = matrix(as_kind(table, kind))
    every = [[(("0",), 0.5), (("1",), 0.0), (("2",), -2.0)]]
    every += [[(("0",), 0.0), (("1",), 0.0), (("2",), 1.0)]]
    if kind != "dense":  # what a sparse matrix does not hold is not scored
        every = [[pair for pair in row if pair[1]] for row in every]
    assert lists(got) == every
    assert got.ranked
    assert got.side.scores.dtype == np.float64
    assert got.understood.endswith("scores")


def test_a_sparse_matrix_is_left_as_it_is():
    table = scipy.sparse.csr_array(
        (np.array([1, 0, 0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert lists(matrix(table)) == [[("1",)], []]
    assert (table.nnz, table.indices.tolist()) == (3, [1, 0, 1])


def test_synonyms_of_columns_are_kept():
    got = matrix(np.array([[0, 1]]), ["dog", ["cat", "kitty"]])
    assert lists(got) == [[("cat", "kitty")]]


def test_matrices_of_other_classes():
    with pytest.warns(PendingDeprecationWarning):
        old = np.matrix([[0, 1], [1, 1]])
    assert lists(matrix(old)) == [[("1",)], [("0",), ("1",)]]
    plain = np.ma.masked_array([[0, 1]], mask=False)
    assert lists(matrix(plain)) == [[("1",)]]


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
@pytest.mark.parametrize("dtype", [int, float])
def test_matrices_without_values(shape, dtype):
    got = matrix(np.zeros(shape, dtype))
    assert (len(got), len(got.vocabulary), lists(got)) == (*shape, [[]] * shape[0])


SPARSE_NAN = scipy.sparse.csr_array(np.array([[0.0, np.nan], [0.5, 0.0]]))


@pytest.mark.parametrize(
    ("values", "classes", "message"),
    [
        (np.zeros(3), None, r"m\.npy: the matrix has shape \(3,\); give items x classes"),
        (np.zeros((1, 1, 1)), None, r"m\.npy: the matrix has shape \(1, 1, 1\)"),
        (np.zeros((2, 3)), ["a"], "wrong-count"),
        (np.zeros((2, 2)), ["a", "a"], "duplicate-column"),
        (np.zeros((2, 2)), ["a", 1], "wrong-type"),
        (np.zeros((2, 2)), ["a", " "], r"class list, class 1 \(from 0\): the class is empty; name"),
        (np.array([[0, 2]]), None, "out-of-range"),
        (np.array([[0, -1]], np.int8), None, "out-of-range"),
        (np.array([[0.5, np.nan]]), None, "not-finite"),
        (np.array([[np.inf]], np.float16), None, "not-finite"),
        (SPARSE_NAN, None, "not-finite"),
        (np.array([[1j]]), None, "wrong-dtype"),
        (np.array([["2020"]], "M8[Y]"), None, "wrong-dtype"),
        (np.ma.masked_equal([[0, 1]], 1), None, r"m\.npy: values are masked; fill"),
    ],
)
def test_matrices_that_are_refused(values, classes, message):
    with refused(message):
        matrix(values, classes, source="m.npy")


def test_a_file_is_named_once(tmp_path):
    path = tmp_path / "gt.json"
    path.write_text('{"a": ["cat", ""]}', encoding="utf-8")
    with pytest.raises(InputError) as caught:
        as_labels(path)
    assert str(caught.value).count("gt.json") == 1
    assert "id 'a', label 2" in str(caught.value)
