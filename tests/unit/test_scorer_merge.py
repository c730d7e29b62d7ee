"""Scorers are merged if their options mean the same and their items are of the same form."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from batches import contents, update_in_batches
from every_measure import MODEL, NAMES, label_items
from refusals import refused

from semmetrics import Scorer, score
from semmetrics.scoring.scorer import merge_pickled, pickle_items, without_items


@pytest.mark.parametrize(
    ("options", "preds", "gts", "code"),
    [
        ({"missing": "skip"}, [["cat"]], [["cat"]], "different-scorers"),
        ({"system": "other"}, [["cat"]], [["cat"]], "different-scorers"),
        ({"keep_rows": False}, [["cat"]], [["cat"]], "different-scorers"),
        ({"measures": None}, ["a cat sleeps"], [["a cat"]], "different-scorers"),
        ({}, {"a": ["cat"]}, {"a": ["cat"]}, "other-batch"),
    ],
)
def test_scorers_that_differ_raise_an_error_and_do_not_change(
    options, preds, gts, code
):
    scorer = Scorer(measures=["F1"])
    scorer.update([["cat"]], [["dog"]])
    other = Scorer(**{"measures": ["F1"], **options})
    other.update(preds, gts)
    before = [contents(scorer.compute()), contents(other.compute())]

    with refused(code):
        scorer.merge(other)
    with refused(code):
        scorer + other

    assert [contents(scorer.compute()), contents(other.compute())] == before


def test_an_id_in_both_scorers_raises_an_error():
    scorer = Scorer(measures="F1")
    scorer.update({"a": ["cat"]}, {"a": ["cat"]})

    with refused("ids-in-two-batches"):
        scorer.merge(copy.copy(scorer))

    assert len(scorer) == 1


def test_a_scorer_can_be_merged_with_a_pickled_one_and_with_empty_ones():
    def new_scorer():
        classes = np.array(NAMES).tolist()
        return Scorer(measures="SemF1 F1", embedding=MODEL, classes=classes)

    preds, gts = label_items(10)
    first = update_in_batches(new_scorer(), preds, gts, [0, 5])
    second = pickle.loads(pickle.dumps(new_scorer()))
    update_in_batches(second, preds, gts, [5, 10])

    merged = new_scorer() + first + second + new_scorer()

    options = {"measures": "SemF1 F1", "embedding": MODEL, "classes": NAMES}
    assert contents(merged.compute()) == contents(score(preds, gts, **options))


def test_options_that_mean_the_same_are_equal():
    scorer = Scorer(measures="F1", normalize="none", ignore=["x", "y"], classes=["a"])
    other = Scorer(measures="F1", ignore=("y", "x"), classes=np.array(["a"]))

    assert len(scorer + other) == 0


# ---- functions as options -----------------------------------------------------------------------


def embedding_with(number):
    """Return an embedding that differs from others only in a value of its closure."""

    def embed(labels):
        return np.array([[float(len(label)), number] for label in labels])

    return embed


class LockedEmbedding:
    """An embedding that cannot be pickled."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, labels):
        return np.array([[1.0, float(len(label))] for label in labels])


def scorer_with(embedding):
    scorer = Scorer(measures="SemF1", embedding=embedding)
    scorer.update([["aa"]], [["b"]])
    return scorer


EMBEDDING = embedding_with(9.0)
OTHER_EMBEDDING = embedding_with(0.0)
LOCKED_EMBEDDING = LockedEmbedding()


def test_scorers_of_different_kinds_raise_an_error_that_names_the_kinds():
    labels = Scorer()
    labels.update({"a": ["cat", "dog"]}, {"a": ["cat"]})
    captions = Scorer()
    captions.update({"b": "a cat sleeps"}, {"b": ["a cat is asleep"]})

    with refused("merged-kinds", names=["labels", "captions"]):
        labels + captions


@pytest.mark.parametrize(
    ("embedding", "other"),
    [
        (EMBEDDING, OTHER_EMBEDDING),
        (
            lambda labels: EMBEDDING([*labels]),
            lambda labels: OTHER_EMBEDDING([*labels]),
        ),
        (LockedEmbedding().__call__, LockedEmbedding()),
    ],
)
def test_functions_that_differ_in_more_than_their_code_raise_an_error(embedding, other):
    with refused("different-scorers"):
        scorer_with(embedding) + scorer_with(other)


@pytest.mark.parametrize(
    "embedding", [EMBEDDING, LOCKED_EMBEDDING, LOCKED_EMBEDDING.__call__]
)
def test_the_same_function_is_equal_to_itself(embedding):
    both = scorer_with(embedding) + scorer_with(embedding)

    assert len(both) == 2


def test_a_scorer_without_items_shares_the_opened_models():
    scorer = Scorer(measures="SemF1", embedding=MODEL)
    scorer.update([["cat"]], [["dog"]])

    empty = without_items(scorer)

    assert len(empty) == 0
    assert len(scorer) == 1
    assert empty.setup is scorer.setup
    assert empty.kind == "labels"


def test_pickled_items_are_merged_into_a_scorer_with_the_same_options():
    preds, gts = label_items(10)
    first = update_in_batches(Scorer(measures="F1"), preds, gts, [0, 5])
    second = update_in_batches(Scorer(measures="F1"), preds, gts, [5, 10])

    merged = Scorer(measures="F1")
    for scorer in (first, second):
        merge_pickled(merged, pickle_items(scorer))

    assert contents(merged.compute()) == contents(score(preds, gts, measures="F1"))
