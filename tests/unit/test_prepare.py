"""From two inputs to a task: classes, ignored labels, normalisation, counts and errors."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

import semmetrics
from semmetrics import as_labels
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import class_terms
from semmetrics.kinds.labels.normalization import class_name, normalization
from semmetrics.kinds.labels.task import label_task


def task(preds, refs, measures="F1", **options):
    """What a score is computed on."""
    return semmetrics.score(preds, refs, measures=measures, **options).scores[0].task


def joined(preds, refs):
    """The same of any items, also of none, on which nothing can be scored."""
    return label_task(as_labels(preds), as_labels(refs))


def names(task, side):
    """For each item the names of its classes."""
    side = getattr(task, side)
    bounds = zip(side.indptr, side.indptr[1:], strict=False)
    return [[task.classes[c] for c in side.codes[a:b]] for a, b in bounds]


def both(task):
    return names(task, "pred"), names(task, "ref")


# Classes


def test_classes_are_all_labels_by_name():
    got = task([["dog", "ant"], ["cat"]], [["cat"], ["bee", "cat"]])
    assert got.classes == ("ant", "bee", "cat", "dog")
    assert both(got) == ([["dog", "ant"], ["cat"]], [["cat"], ["bee", "cat"]])
    assert (got.given, got.synonyms, got.counts) == (None, None, {})
    assert got.settings == {"norm": "none", "missing": "error", "emptypred": "keep"}


def test_given_classes_keep_their_order_before_the_others():
    got = task([["x", "dog", "b"], ["b"]], [["cat"], []], classes=["dog", "cat", "emu"])
    assert got.classes == ("dog", "cat", "emu", "b", "x")
    assert (got.given, got.counts) == (3, {})
    assert got.axis.n_prediction.tolist() == [1, 0, 0, 2, 1]
    assert both(got) == ([["x", "dog", "b"], ["b"]], [["cat"], []])


def test_class_lists_are_signed_by_terms_and_order():
    lists = [["a", "b"], ["b", "a"], ["a", ["b", "c"]], [["a", "b"]], ["a", "b", "c"]]
    signed = [task([[]], [[]], classes=classes).settings["classes"] for classes in lists]
    assert len(set(signed)) == len(lists)
    assert signed[0] == task([["a"]], [["b"]], classes=(c for c in "ab")).settings["classes"]
    assert signed[0].startswith("2@")


CATS = ["cat", "kitty"]


@pytest.mark.parametrize(
    ("pred", "refs", "classes", "expected"),
    [
        ("kitty", [[CATS]], None, "cat | kitty"),
        (["kitty", "puss"], [[CATS]], None, "cat | kitty"),
        ("puss", [[CATS]], None, "puss"),
        # the first term that any class has, in the first class that has it
        (["dog", "kitty"], [[CATS, "dog"]], None, "dog"),
        (["kitty", "dog"], [[CATS, "dog"]], None, "cat | kitty"),
        ("b", [[["z", "b"], ["a", "b"]]], None, "a | b"),
        ("b", [[]], [["z", "b"], ["a", "b"]], "z | b"),
        # a label that is a class is no other
        ("b", [[["a", "b"], "b"]], None, "b"),
        (["b", "c"], [[["a", "b"], ["b", "c"]]], None, "b | c"),
        (["b", "c"], [[]], [["a", "b"], ["b", "c"]], "b | c"),
        (["c", "b"], [[["a", "b"], ["b", "c"]]], None, "b | c"),
        # a class that no evaluated item has is none
        ("b", [[["z", "b"]], [["a", "b"]]], None, "z | b"),
    ],
)
def test_the_class_of_a_prediction(pred, refs, classes, expected):
    preds = [[pred], *([] for _ in refs[1:])]
    got = task(preds, refs, classes=classes, empty_predictions="skip")
    assert names(got, "pred") == [[expected]]


def test_reference_labels_belong_to_the_class_list():
    classes = [["a", "b"], ["b", "c"], ["d", "e"]]
    refs = [["a", "b", "c", ["b", "c"], ["x", "e"]]]
    assert names(task([[]], refs, classes=classes), "ref") == [
        ["a | b", "a | b", "b | c", "b | c", "d | e"]
    ]


def test_shared_terms_are_counted():
    refs = [[["a", "b"], ["b", "c"], ["c", "b", "d"]]]
    assert task([[]], refs).counts == {"shared_terms": 2}


def test_items_left_out_do_not_decide_the_classes():
    preds = {"1": ["b"]}
    refs = {"1": [["z", "b"]], "2": [["a", "b"]]}
    got = task(preds, refs, missing="skip")
    assert both(got) == ([["z | b"]], [["z | b"]])
    assert got.counts == {"missing_prediction": 1}


def test_columns_of_a_matrix_that_share_terms_stay_apart():
    classes = [["a", "b"], ["b", "c"]]
    assert both(task(*[np.eye(2, dtype=int)] * 2, classes=classes)) == ([["a | b"], ["b | c"]],) * 2


def test_columns_that_no_item_has_need_no_class():
    table = as_labels(np.array([[1, 0]]), classes=["a", "&"])
    got = task(table, table, classes=["a"], normalize="kubany2020")
    assert both(got) == ([["a"]], [["a"]])
    assert (got.given, got.counts) == (1, {})


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array])
def test_scores_stay_with_their_classes(kind):
    scores = kind(np.array([[0.5, 0.25], [0.125, 1.0]]))
    sides = as_labels(scores, classes=["b", "a"]), [["a"], ["b"]]
    got = task(*sides, measures="mAP")
    assert got.ranked
    assert names(got, "pred") == [["b", "a"]] * 2
    assert got.pred.scores.tolist() == [0.5, 0.25, 0.125, 1.0]


@pytest.mark.parametrize(
    ("refs", "options", "message"),
    [
        ({"7": ["a"], "8": ["z"]}, {"classes": ["a"]}, "outside-classes"),
        ({"7": [["x", "y"]], "8": []}, {"classes": ["a"]}, r"gts, id '7': .* 'x \| y' is not in"),
        ({"7": ["a"], "8": []}, {"classes": []}, "gts, id '7': the reference label 'a' is not"),
        ({"7": [], "8": []}, {"classes": ["a", "b", "a"]}, "duplicate"),
        ({"7": [], "8": []}, {"classes": ["A", "a"], "normalize": "lower"}, "duplicate"),
        ({"7": [["a", "b"], "a | b"], "8": []}, {}, "duplicate"),
        ({"7": [], "8": []}, {"classes": ["a", 3]}, r"class list, class 1 \(from 0\): 3 is an int"),
        ({"7": [], "8": []}, {"classes": [""]}, r"class list, class 0 \(from 0\): the class is em"),
        ({"7": [], "8": []}, {"classes": ["a", "&"], "normalize": "kubany2020"}, "nothing-left"),
        ({"7": [], "8": []}, {"ignore": [3]}, r"ignore=\[3\]; give a text, a path"),
        ({"7": [], "8": []}, {"ignore": [["a"]]}, r"ignore=\[\['a'\]\]; give a text, a path"),
        ({"7": [], "8": []}, {"normalize": "upper"}, "bad-option"),
        ({"7": [], "8": []}, {"normalize": ["lower"]}, r"normalize=\['lower'\]; give a text"),
        ({"7": [], "8": []}, {"missing": "drop"}, "bad-choice"),
        ({"7": [], "8": []}, {"empty_predictions": "drop"}, "empty_predictions='drop'"),
    ],
)
def test_what_is_refused(refs, options, message):
    with refused(message):
        task({"7": ["a"], "8": []}, refs, **options)


def test_scores_as_ground_truth_are_refused():
    with refused(r"^gts: the ground truth is a matrix of scores; give 0/1"):
        task([["a"]], np.array([[0.5]]))


# Ignored labels


@pytest.mark.parametrize("ignore", [["cat"], ["kitty"], ["cat | kitty"], ["kitty", "cat"]])
def test_ignoring_a_term_leaves_out_its_class(ignore):
    got = task([["kitty", "cat", "dog"], []], [["dog", CATS], [CATS]], ignore=ignore)
    assert got.classes == ("dog",)
    assert both(got) == ([["dog"], []], [["dog"], []])
    assert (got.ignored.times(), got.counts) == ({"cat | kitty": (2, 2)}, {})


def test_what_is_ignored_is_signed_and_counted():
    got = task([["a", "b"]], [["b", "c"]], ignore=["c", "b", "zebra", "b"], classes=["c", "a", "b"])
    assert (got.classes, got.given) == (("a",), 1)
    assert both(got) == ([["a"]], [[]])
    assert got.settings["ignore"] == "b,c,zebra"
    assert got.axis.ignored == {"c": (0, 1), "b": (1, 1)}
    assert got.counts == {"ignored_labels_not_found": 1}


def test_reference_labels_outside_the_class_list_can_be_ignored():
    got = task([["z", "a"]], [["a", "z"]], classes=["a"], ignore=["z"])
    assert both(got) == ([["a"]], [["a"]])
    with refused("the reference label 'y' is not in the class list"):
        task([["z", "a"]], [["a", "z", "y"]], classes=["a"], ignore=["z"])


def test_labels_are_ignored_as_they_are_written_and_as_they_are_cleaned():
    options = {"normalize": "kubany2020", "ignore": ["Traffic Light", "street_sign", "&"]}
    got = task([["traffic_light", "car"]], [["car", "Street sign!", "&"]], **options)
    assert both(got) == ([["car"]], [["car"]])
    assert got.settings["ignore"] == "&,street_sign,traffic_light"


def test_what_a_signature_says_was_ignored_can_be_ignored_again():
    options = {"normalize": "kubany2020", "ignore": ["Letter box, mailbox"]}
    first = task([["mailbox"]], [["car", "letter box, mailbox"]], **options)
    again = {**options, "ignore": first.settings["ignore"].split(",")}
    assert both(first) == both(task([["mailbox"]], [["car", "letter box, mailbox"]], **again))
    assert both(first) == ([[]], [["car"]])


def test_ignored_labels_keep_the_others_as_they_were_written():
    refs = [[["a", "b"], ["b", "c"], "d"]]
    got = task([["d", "b"]], refs, ignore=["d"])
    terms = [got.synonyms.terms[code] for code in got.pred.written]
    assert terms == [("b",)]
    assert [got.synonyms.terms[c] for c in got.ref.written] == [("a", "b"), ("b", "c")]


# Normalisation


@pytest.mark.parametrize(
    ("name", "label", "terms"),
    [
        ("none", " A b ", (" A b ",)),
        ("lower", " A b ", ("a b",)),
        ("kubany2020", " Kitchen & room\t", ("kitchen__room",)),
        ("kubany2020", "Mail-box, letter box", ("mailbox", "letter_box")),
        ("kubany2020", "Café, 犬", ("café", "犬")),
    ],
)
def test_normalisations(name, label, terms):
    assert normalization(name)(label) == terms


@pytest.mark.parametrize(
    ("label", "terms"),
    [
        ("a, b", ("a", "b")),
        ("a, A!", ("a",)),
        ("a,", ("a",)),
        (",a,&, b", ("a", "b")),
        (["a, b", "b", "c"], ("a", "b", "c")),
        (["&", "c"], ("c",)),
    ],
)
def test_commas_separate_synonyms(label, terms):
    got = as_labels([[label]]).normalized(normalization("kubany2020"))
    assert got.terms == [terms]


def test_labels_that_become_equal_are_one():
    got = task([["Cat", "cat"]], [["cat ", "CAT", "Cat"]], normalize="lower")
    assert got.classes == ("cat",)
    assert both(got) == ([["cat", "cat"]], [["cat"] * 3])
    labels = as_labels([["Cat", "cat", "dog"]])
    one = labels.normalized(normalization("lower"))
    assert (one.vocabulary, one.side.codes.tolist()) == (["cat", "dog"], [0, 0, 1])
    assert len(labels.vocabulary) == 3


@pytest.mark.parametrize(("label", "text"), [("&", "&"), (["&", "?"], "&, \\?"), (",", ",")])
def test_labels_that_become_empty_are_refused(label, text):
    with refused("nothing-left"):
        task({"a": [], "b": []}, {"a": ["x"], "b": ["x", label]}, normalize="kubany2020")


# Items


def test_items_with_empty_predictions_are_kept_or_left_out():
    preds, refs = [["a"], [], ["z"]], [["a"], ["b"], []]
    assert len(task(preds, refs)) == 3
    got = task(preds, refs, empty_predictions="skip", weights=[1, 2, 3], set_size_probs=np.eye(3))
    assert both(got) == ([["a"], ["z"]], [["a"], []])
    assert got.counts == {"empty_prediction_skipped": 1}
    assert got.ids.tolist() == [0, 2]
    assert got.weights.tolist() == [1, 3]
    assert got.heads.tolist() == [[1, 0, 0], [0, 0, 1]]
    only = task(preds, refs, empty_predictions="skip", ignore=["z"])
    assert (len(only), only.counts["empty_prediction_skipped"]) == (1, 2)


def test_weights_of_no_evaluated_item_are_refused():
    with refused("all sample weights are zero"):
        task([["a"], []], [["a"], ["b"]], empty_predictions="skip", weights=[0, 1])


def test_weights_are_signed():
    assert task([["a"]], [["a"]], weights=[2]).settings["weights"] == "given"


def test_missing_items_are_counted():
    preds, refs = {"a": ["x"], "b": []}, {"b": ["x"], "c": ["y"]}
    counts = {"missing_prediction": 1, "missing_reference": 1}
    skipped, empty = (task(preds, refs, missing=m) for m in ("skip", "empty"))
    assert skipped.counts == empty.counts == counts
    assert (skipped.ids, both(skipped)) == (["b"], ([[]], [["x"]]))
    assert (empty.ids, both(empty)) == (["b", "c", "a"], ([[], [], ["x"]], [["x"], ["y"], []]))


@pytest.mark.parametrize("ids", [False, True])
def test_nothing_to_evaluate(ids):
    got = joined({}, {}) if ids else joined([], [])
    assert (len(got), got.classes, list(got.blocks())) == (0, (), [])
    assert got.fingerprint == 0
    assert task([[]], [[]], classes=[]).classes == ()
    with refused("no-items"):
        task({}, {}) if ids else task([], [])


def test_inputs_are_left_as_they_are():
    pred, ref = as_labels([["A", "b"]]), as_labels([["a", ["b", "c"]]])
    before = [(x.vocabulary, x.side.codes.tolist(), list(x.notes)) for x in (pred, ref)]
    options = {"classes": ["A", ["b", "c"]], "ignore": ["a"], "weights": {0: 1.0}}
    task(pred, ref, normalize="lower", **options)
    assert [(x.vocabulary, x.side.codes.tolist(), list(x.notes)) for x in (pred, ref)] == before
    assert options == {"classes": ["A", ["b", "c"]], "ignore": ["a"], "weights": {0: 1.0}}


def test_terms_of_classes():
    assert class_terms(["a", ("b", "c", "b")]) == [("a",), ("b", "c")]
    assert class_name(("b", "c")) == "b | c"
    assert isinstance(as_labels([["a"]]), Lists)


# Blocks and fingerprints

ITEMS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(st.sampled_from(["a", "b", "cat"]), max_size=4)
)


@given(items=ITEMS, seed=st.integers(0, 99), memory=st.sampled_from([0, 1, 300, 1 << 25]))
def test_blocks_hold_each_item_once_in_order(items, seed, memory):
    got = joined(items, items)
    blocks = list(got.blocks(memory))
    places = [place for block in blocks for place in range(block.start, block.stop)]
    assert places == list(range(len(items)))
    assert all(len(block) for block in blocks)


def fingerprint(items, **options):
    return (task if items else joined)({name: [] for name in items}, items, **options).fingerprint


@given(items=ITEMS, seed=st.integers(0, 99))
def test_fingerprints_do_not_depend_on_the_order_of_items(items, seed):
    order = np.random.default_rng(seed).permutation(len(items))
    mixed = {list(items)[i]: items[list(items)[i]] for i in order}
    assert fingerprint(items) == fingerprint(mixed)


@given(items=ITEMS, seed=st.integers(0, 99), cut=st.integers(0, 8), ids=st.booleans())
def test_fingerprints_of_parts_add_up(items, seed, cut, ids):
    whole = joined(items, items) if ids else joined(*[list(items.values())] * 2)
    order = np.random.default_rng(seed).permutation(len(items))
    parts = [whole.take(order[:cut]), whole.take(order[cut:])]
    assert sum(part.fingerprint for part in parts) % 2**64 == whole.fingerprint
    again = parts[0].take(np.arange(len(parts[0]))[::-1])
    assert again.fingerprint == parts[0].fingerprint


def test_fingerprints_tell_ids_labels_and_their_order_apart():
    every = [
        {"a": ["b"], "b": []},
        {"b": ["a"], "a": []},
        {"b": ["b"], "a": []},
        {"a": ["b"]},
        {"b": ["a"]},
        {"a": ["b", "b"]},
        {"a": ["b", "c"]},
        {"a": ["c", "b"]},
        {"a": ["bc"]},
        {"a": []},
        {"0": ["b"]},
        {},
    ]
    positions = task([[]], [["b"]]).fingerprint
    assert len({positions, *map(fingerprint, every)}) == len(every) + 1


def test_fingerprints_depend_on_the_ground_truth_alone():
    refs = {"a": ["b"], "c": ["d"]}
    expected = fingerprint(refs)
    assert task({"a": ["x", "d"], "c": [("y"), "b"]}, refs).fingerprint == expected
    assert fingerprint(refs, classes=["z", "d", "b"]) == expected
    assert fingerprint(refs, normalize="lower") == expected


PROGRAM = """
import semmetrics
preds = {"1": {"b", "a", "d"}, "2": ["c", ["x", "y"]], "3": ["z"]}
refs = {"3": [["a", "b"], "e"], "1": {"b", "c"}, "4": [["b", "q"]]}
options = {"measures": "F1", "missing": "empty", "ignore": {"e", "d", "w"}}
task = semmetrics.score(preds, refs, **options).scores[0].task
print(task.ids, task.classes, task.pred, task.ref, task.counts, task.settings, task.fingerprint)
"""


def test_nothing_depends_on_the_hash_seed_of_the_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert runs[0] == runs[1] == runs[2] != ""
