"""Batches of labels with scores: 0 and 1 mean the same in every batch as in one call."""

from __future__ import annotations

import numpy as np
import pytest
from batches import update_in_batches, update_with, values
from refusals import refused

from semmetrics import Scorer, score
from semmetrics.errors import InputError

STORED_OR_SUMMED = pytest.mark.parametrize("keep_rows", [True, False])
BATCH_OF = {
    "zero and one": {"cat": 1, "dog": 0},
    "zero": {"cat": 0},
    "one": {"cat": 1},
    "fraction": {"cat": 0.3},
    "plain": ["cat"],
    "booleans": {"cat": True, "dog": False},
    "empty": {},
}
SAME_MEANING = [
    ("zero and one", "one", "one"),
    ("zero", "empty", "one", "one"),
    ("zero", "zero and one"),
    ("booleans", "zero and one", "one"),
    ("booleans", "one", "one"),
    ("one", "fraction"),
    ("fraction", "one", "zero"),
    ("fraction", "zero and one"),
    ("one", "one"),
    ("empty", "fraction"),
    ("plain", "empty", "plain"),
]
OTHER_MEANING = [
    ("zero", "fraction"),
    ("zero and one", "one", "fraction"),
    ("one", "zero"),
    ("one", "zero and one"),
    ("plain", "fraction"),
    ("plain", "zero"),
    ("fraction", "plain"),
    ("booleans", "fraction"),
]


def items_of(batches, side):
    """Return both sides of items: an item per batch on one side, and a label on the other."""
    items = {str(i): BATCH_OF[name] for i, name in enumerate(batches)}
    others = {name: ["cat"] for name in items}
    return (items, others) if side == "preds" else (others, items)


def update_item_by_item(preds, gts, **options):
    """Return a scorer to which each item was added as a batch."""
    scorer = Scorer(**options)
    for name in preds:
        update_with(scorer, preds, gts, [name])
    return scorer


def values_or_error(compute):
    """Return the values of a table, or "error" if computing it raises one."""
    try:
        return values(compute())
    except InputError:
        return "error"


@pytest.mark.sampled(30)
@STORED_OR_SUMMED
@pytest.mark.parametrize("side", ["preds", "gts"])
@pytest.mark.parametrize(
    "rule", ["all", "threshold:-1", "threshold:0.5", "cumulative:0.5"]
)
@pytest.mark.parametrize("batches", SAME_MEANING, ids=" ".join)
def test_batches_of_one_meaning_are_read_as_in_one_call(batches, rule, side, keep_rows):
    preds, gts = items_of(batches, side)
    options = {"measures": "F1", "decode": rule, "keep_rows": keep_rows}

    whole = values_or_error(lambda: score(preds, gts, **options))
    in_batches = values_or_error(
        lambda: update_item_by_item(preds, gts, **options).compute()
    )

    assert in_batches == whole


@STORED_OR_SUMMED
@pytest.mark.parametrize("side", ["preds", "gts"])
@pytest.mark.parametrize("batches", OTHER_MEANING, ids=" ".join)
def test_a_batch_that_changes_the_meaning_of_scores_raises_an_error(
    batches, side, keep_rows
):
    preds, gts = items_of(batches, side)

    with pytest.raises(InputError) as caught:
        update_item_by_item(preds, gts, measures="F1", keep_rows=keep_rows).compute()

    assert caught.value.code in ("other-scores", "other-batch", "truth-of-scores")


def test_a_scorer_of_ones_can_be_added_to_a_scorer_of_memberships():
    preds, gts = items_of(["zero and one", "one", "one"], "preds")
    first = Scorer(measures="F1")
    update_with(first, preds, gts, "0")
    second = Scorer(measures="F1")
    update_with(second, preds, gts, "12")

    both = first + second

    assert values(both.compute()) == values(score(preds, gts, measures="F1"))
    with refused("other-scores"):
        second.merge(first)


# ---- matrices -----------------------------------------------------------------------------------


SCORES = np.array([[0.5, 0.25], [0, 1.0], [1, 0], [1, 1]])
MEMBERS = np.array([[0, 1], [1, 1], [0, 1], [1, 0]])


@STORED_OR_SUMMED
def test_after_a_matrix_of_scores_0_and_1_are_scores(keep_rows):
    measure = "F1(decode=threshold:0.3)"
    scorer = Scorer(measures=measure, keep_rows=keep_rows)

    update_in_batches(scorer, np.float32(SCORES), MEMBERS, range(5))

    whole = score(np.float32(SCORES), MEMBERS, measures=measure)
    assert values(scorer.compute()) == values(whole)


@STORED_OR_SUMMED
def test_the_option_scores_makes_0_and_1_scores_in_the_first_batch(keep_rows):
    options = {"measures": "F1(decode=threshold:0.3)", "scores": "values"}
    scorer = Scorer(keep_rows=keep_rows, **options)

    update_in_batches(scorer, SCORES[::-1], MEMBERS[::-1], [0, 1, 4])

    whole = score(SCORES, MEMBERS, **options)
    assert values(scorer.compute()) == values(whole)
    assert "|scores:values|" in whole[0].signature


@pytest.mark.parametrize(
    ("preds", "gts"), [(SCORES, MEMBERS), ({"a": {"cat": 0.5}}, {"a": ["cat"]})]
)
def test_fractions_that_should_be_memberships_raise_an_error(preds, gts):
    with refused("fractional-members"):
        score(preds, gts, measures="F1", scores="members")


def test_a_matrix_with_other_columns_raises_an_error():
    scorer = Scorer(measures="HammingLoss")
    scorer.update(MEMBERS, MEMBERS)

    with refused("other-batch"):
        scorer.update(MEMBERS[:, :1], MEMBERS[:, :1])


@pytest.mark.parametrize("matrix_first", [True, False])
def test_columns_without_names_and_names_in_one_scorer_raise_an_error(matrix_first):
    batches = [[["cat"], ["dog"]], np.array([[1, 0]])]
    if matrix_first:
        batches.reverse()
    scorer = Scorer(measures="HammingLoss")
    scorer.update(batches[0], batches[0])

    with refused("other-batch"):
        scorer.update(batches[1], batches[1])


@pytest.mark.parametrize("classes", [["cat", "dog"], None])
def test_a_matrix_may_follow_lists_that_name_its_columns(classes):
    first, second = classes or ["0", "1"]
    scorer = Scorer(measures="HammingLoss", classes=classes)

    scorer.update([[first], [second]], [[first], [second]])
    scorer.update(np.array([[1, 0]]), np.array([[1, 1]]))

    assert scorer.compute()["HammingLoss"].value == pytest.approx(1 / 6)
