"""Scores that count for nothing, and an order of labels that nobody gave, are said."""

from __future__ import annotations

import numpy as np
import pytest

import semmetrics
from semmetrics.errors import InputError

LISTS = {"a": ["cat"]}
SCORED = {"a": {"cat": 0.9, "dog": 0.1}}


def said(preds, gts, measures, **options):
    return list(semmetrics.score(preds, gts, measures=measures, **options).notes)


# ---- the order of labels ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preds", "order"),
    [
        ([{"dog", "cat"}], "sets of labels are taken in sorted order"),
        (np.array([[1, 0, 1]]), "the labels of a 0/1 matrix are taken in the order of its columns"),
        (
            {"0": {"dog": 1, "ox": 0}},
            "labels given 0 or 1 are taken in the order in which they",
        ),
    ],
)
def test_an_order_that_nobody_gave_is_said_where_it_matters(preds, order):
    gts = {"0": ["cat"]} if isinstance(preds, dict) else [["cat"]]
    options = {"classes": ["cat", "ox", "dog"]}
    for measures in ("F1", ["MacroF1", "SemF1(match=optimal)"]):
        assert said(preds, gts, measures, **options) == []
    for measure in ("F1@1", "AP", "SemF1"):
        (note,) = said(preds, gts, ["F1", measure], **options)
        assert note.startswith(f"preds: {order}")
        assert f", and {measure} depends on the order of the predictions: give scores" in note


def test_of_the_ground_truth_no_order_is_expected():
    assert said(LISTS, {"a": {"cat", "dog"}}, ["F1@1", "AP", "SemF1"]) == []


def test_the_order_is_said_of_batches_that_were_let_go():
    scorer = semmetrics.Scorer(measures=["F1", "F1@1"], keep_rows=False)
    scorer.update({"a": {"cat", "dog"}}, LISTS)
    scorer.update({"b": ["cat"]}, {"b": ["cat"]})
    (note,) = scorer.compute().notes
    assert note.startswith("preds: sets of labels are taken in sorted order, and F1@1 depends")


# ---- scores -------------------------------------------------------------------------------------


def test_lists_with_low_scores_and_no_rule_are_said():
    (note,) = said(SCORED, LISTS, ["mAP", "F1"])
    assert note.startswith("preds: every label listed counts as predicted, whatever its score (1 o")
    assert all(way in note for way in ("--threshold 0.5", "--decode", "F1@3"))
    for measures in ("mAP", "AP", "F1@1", "F1(decode=threshold:0.5)"):
        assert said(SCORED, LISTS, measures) == []
    for options in ({"threshold": 0.5}, {"decode": "cumulative:0.5"}, {"top_k": 1}):
        assert said(SCORED, LISTS, "F1", **options) == []
    assert said({"a": {"cat": 0.9, "dog": 0.5}}, LISTS, "F1") == []  # what a tagger is sure of


@pytest.mark.parametrize("preds", [SCORED, np.array([[0.9, 0.1]])])
def test_a_threshold_that_no_score_is_above_is_said(preds):
    gts = LISTS if isinstance(preds, dict) else [["cat"]]
    options = {"classes": ["cat", "dog"]}
    (note,) = said(preds, gts, "F1", threshold=50, **options)
    assert note.startswith("preds: no score is above the threshold 50.0, so nothing is predicted")
    assert note.endswith("the highest is 0.9")
    assert said(preds, gts, "F1", threshold=0.5, **options) == []


def test_scores_of_the_ground_truth_count_for_nothing():
    (note,) = said({"a": {"cat": 0.9}}, SCORED, "F1")
    assert note == "the scores of the ground truth count for nothing: every label listed is true"
    assert said({"a": {"cat": 0.9}}, {"a": {"cat": 1.0, "dog": 1.0}}, "F1") == []


@pytest.mark.parametrize("dog", [0, 1, False, np.bool_(False)])
def test_a_threshold_that_0_and_1_are_not_above_is_said(dog):
    kind = type(dog)
    preds = {"a": {"cat": kind(1), "dog": dog}}
    for number in ("1", "1.5"):
        (note,) = said(preds, {"a": ["cat"]}, "F1", decode=f"threshold:{number}")
        assert note.startswith(
            f"preds: no score is above the threshold {float(number)}, so nothing is"
        )
        assert note.endswith("the highest is 1")
    assert said(preds, {"a": ["cat"]}, "F1", decode="threshold:0.5") == []


@pytest.mark.parametrize(
    "measure", ["F1(decode=threshold:best)", "F1(decode=threshold:-1)", "LRAP"]
)
def test_the_system_without_scores_is_named(measure):
    zeros = {"a": {"cat": 1, "dog": 0}, "b": {"cat": 0, "dog": 1}}
    other = {"a": {"cat": 0.4, "dog": 0.2}, "b": {"cat": 0.3, "dog": 1}}
    gts = {"a": ["cat"], "b": ["dog"]}
    for systems in ({"s1": zeros, "s2": other}, {"s2": other, "s1": zeros}):
        with pytest.raises(InputError, match=r"^s1: .*needs a score for each predicted label, and"):
            semmetrics.score_systems(systems, gts, measures=measure)
    with pytest.raises(InputError, match=r"^\S+ needs a score"):
        semmetrics.score(zeros, gts, measures=measure)
