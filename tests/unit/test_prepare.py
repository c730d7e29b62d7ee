"""From two inputs to a task: classes, ignored labels, normalisation, counts and errors."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import as_labels
from semmetrics.kinds.labels.normalization import normalization
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


def test_columns_that_no_item_has_need_no_class():
    table = as_labels(np.array([[1, 0]]), classes=["a", "&"])
    got = task(table, table, classes=["a"], normalize="kubany2020")
    assert both(got) == ([["a"]], [["a"]])
    assert (got.given, got.counts) == (1, {})


@pytest.mark.parametrize(
    ("refs", "options", "code"),
    [
        (
            {"7": ["a", "z", "y"], "8": []},
            {"classes": ["a"], "ignore": ["z"]},
            "outside-classes",
        ),
        (
            {"7": [["x", "y"]], "8": []},
            {"classes": ["a"]},
            r"gts, id '7': .* 'x \| y' is not in",
        ),
        ({"7": ["a"], "8": []}, {"classes": []}, "outside-classes"),
        (
            {"7": [], "8": []},
            {"classes": ["A", "a"], "normalize": "lower"},
            "duplicate",
        ),
        ({"7": [["a", "b"], "a | b"], "8": []}, {}, "duplicate"),
        ({"7": [], "8": []}, {"classes": ["a", 3]}, "wrong-type"),
        ({"7": [], "8": []}, {"classes": [""]}, r"class list, class 0 \(from 0\)"),
        (
            {"7": [], "8": []},
            {"classes": ["a", "&"], "normalize": "kubany2020"},
            "nothing-left",
        ),
        ({"7": [], "8": []}, {"ignore": [["a"]]}, "bad-option"),
        ({"7": [], "8": []}, {"normalize": "upper"}, "bad-option"),
        (
            {"7": [], "8": []},
            {"empty_predictions": "skip", "weights": [0, 1]},
            "zero-weights",
        ),
        (np.array([[0.5], [0.1]]), {}, "the ground truth is a matrix of scores"),
    ],
)
def test_what_is_refused(refs, options, code):
    with refused(code):
        task({"7": ["a"], "8": []}, refs, **options)


# Ignored labels


def test_labels_are_ignored_as_they_are_written_and_as_they_are_cleaned():
    options = {
        "normalize": "kubany2020",
        "ignore": ["Traffic Light", "street_sign", "&"],
    }
    got = task([["traffic_light", "car"]], [["car", "Street sign!", "&"]], **options)
    assert both(got) == ([["car"]], [["car"]])
    assert got.settings["ignore"] == "&,street_sign,traffic_light"


def test_what_a_signature_says_was_ignored_can_be_ignored_again():
    options = {"normalize": "kubany2020", "ignore": ["Letter box, mailbox"]}
    first = task([["mailbox"]], [["car", "letter box, mailbox"]], **options)
    again = {**options, "ignore": first.settings["ignore"].split(",")}
    assert both(first) == both(
        task([["mailbox"]], [["car", "letter box, mailbox"]], **again)
    )
    assert both(first) == ([[]], [["car"]])


# Normalisation


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


@pytest.mark.parametrize(
    ("label", "text"), [("&", "&"), (["&", "?"], "&, \\?"), (",", ",")]
)
def test_labels_that_become_empty_are_refused(label, text):
    with refused("nothing-left"):
        task(
            {"a": [], "b": []}, {"a": ["x"], "b": ["x", label]}, normalize="kubany2020"
        )


# Items


def test_items_with_empty_predictions_are_kept_or_left_out():
    preds, refs = [["a"], [], ["z"]], [["a"], ["b"], []]
    assert len(task(preds, refs)) == 3
    got = task(
        preds,
        refs,
        empty_predictions="skip",
        weights=[1, 2, 3],
        set_size_probs=np.eye(3),
    )
    assert both(got) == ([["a"], ["z"]], [["a"], []])
    assert got.counts == {"empty_prediction_skipped": 1}
    assert got.ids.tolist() == [0, 2]
    assert got.weights.tolist() == [1, 3]
    assert got.heads.tolist() == [[1, 0, 0], [0, 0, 1]]
    only = task(preds, refs, empty_predictions="skip", ignore=["z"])
    assert (len(only), only.counts["empty_prediction_skipped"]) == (1, 2)


@pytest.mark.parametrize("nothing", [{}, []])
def test_nothing_to_evaluate(nothing):
    got = joined(nothing, nothing)
    assert (len(got), got.classes, list(got.blocks()), got.fingerprint) == (
        0,
        (),
        [],
        0,
    )
    assert task([[]], [[]], classes=[]).classes == ()
    with refused("no-items"):
        task(nothing, nothing)


# Blocks and fingerprints


def fingerprint(items, **options):
    return (task if items else joined)(
        {name: [] for name in items}, items, **options
    ).fingerprint


PROGRAM = """
import semmetrics
preds = {"1": {"b", "a", "d"}, "2": ["c", ["x", "y"]], "3": ["z"]}
refs = {"3": [["a", "b"], "e"], "1": {"b", "c"}, "4": [["b", "q"]]}
options = {"measures": "F1", "missing": "empty", "ignore": {"e", "d", "w"}}
task = semmetrics.score(preds, refs, **options).scores[0].task
print(task.ids, task.classes, task.pred, task.ref, task.counts, task.settings, task.fingerprint)
"""


def test_nothing_depends_on_the_hash_seed_of_the_process():
    def run(seed):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        return subprocess.run(
            command, env=env, capture_output=True, text=True, check=True
        ).stdout

    assert run("1") == run("2") == run("3") != ""
