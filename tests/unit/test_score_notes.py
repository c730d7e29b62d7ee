"""Scores that count for nothing, and an order of labels that nobody gave, are noted."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics

LISTS = {"a": ["cat"]}
SCORED = {"a": {"cat": 0.9, "dog": 0.1}}


def score(preds, gts, measures, **options):
    return semmetrics.score(preds, gts, measures=measures, **options)


@pytest.mark.parametrize(
    ("preds", "order"),
    [
        ([{"dog", "cat"}], "that of sorted sets"),
        (np.array([[1, 0, 1]]), "that of the columns"),
        ({"0": {"dog": 1, "ox": 0}}, "that of the keys"),
    ],
)
def test_an_order_that_nobody_gave_is_noted_where_it_matters(preds, order):
    gts = {"0": ["cat"]} if isinstance(preds, dict) else [["cat"]]
    options = {"classes": ["cat", "ox", "dog"]}
    for measures in ("F1", ["MacroF1", "SemF1(match=optimal)"]):
        assert codes(score(preds, gts, measures, **options)) == []
    for measure in ("F1@1", "AP", "SemF1"):
        (fact,) = score(preds, gts, ["F1", measure], **options).facts
        assert (fact.code, fact.where) == ("order-of-labels", "preds")
        assert fact.values == {"order": order, "measures": measure}


def test_of_the_ground_truth_no_order_is_expected():
    assert codes(score(LISTS, {"a": {"cat", "dog"}}, ["F1@1", "AP", "SemF1"])) == []


def test_the_order_is_noted_of_batches_that_were_let_go():
    scorer = semmetrics.Scorer(measures=["F1", "F1@1"], keep_rows=False)
    scorer.update({"a": {"cat", "dog"}}, LISTS)
    scorer.update({"b": ["cat"]}, {"b": ["cat"]})
    assert codes(scorer.compute()) == ["order-of-labels"]


def test_lists_with_low_scores_and_no_rule_are_noted():
    (fact,) = facts(score(SCORED, LISTS, ["mAP", "F1"]), "scores-unused")
    assert (fact.n, fact.where, fact.values) == (1, "preds", {"total": 2})
    for measures in ("mAP", "AP", "F1@1", "F1(decode=threshold:0.5)"):
        assert codes(score(SCORED, LISTS, measures)) == []
    for options in ({"threshold": 0.5}, {"decode": "cumulative:0.5"}, {"top_k": 1}):
        assert codes(score(SCORED, LISTS, "F1", **options)) == []
    sure = {"a": {"cat": 0.9, "dog": 0.5}}  # as a tagger is
    assert codes(score(sure, LISTS, "F1")) == []


@pytest.mark.parametrize("preds", [SCORED, np.array([[0.9, 0.1]])])
def test_a_threshold_that_no_score_is_above_is_noted(preds):
    gts = LISTS if isinstance(preds, dict) else [["cat"]]
    options = {"classes": ["cat", "dog"]}
    (fact,) = score(preds, gts, "F1", threshold=50, **options).facts
    assert (fact.code, fact.values) == (
        "nothing-predicted", {"threshold": "50.0", "highest": 0.9},
    )  # fmt: skip
    assert codes(score(preds, gts, "F1", threshold=0.5, **options)) == []


def test_scores_of_the_ground_truth_count_for_nothing():
    (fact,) = score({"a": {"cat": 0.9}}, SCORED, "F1").facts
    assert (fact.code, fact.where) == ("true-scores", "gts")
    assert codes(score({"a": {"cat": 0.9}}, {"a": {"cat": 1.0, "dog": 1.0}}, "F1")) == []


@pytest.mark.parametrize("dog", [0, 1, False, np.bool_(False)])
def test_a_threshold_that_0_and_1_are_not_above_is_noted(dog):
    preds = {"a": {"cat": type(dog)(1), "dog": dog}}
    for number in ("1", "1.5"):
        (fact,) = score(preds, {"a": ["cat"]}, "F1", decode=f"threshold:{number}").facts
        assert (fact.code, fact.values["highest"]) == ("nothing-predicted", 1.0)
    assert codes(score(preds, {"a": ["cat"]}, "F1", decode="threshold:0.5")) == []


@pytest.mark.parametrize(
    "measure", ["F1(decode=threshold:best)", "F1(decode=threshold:-1)", "LRAP"]
)
def test_the_system_without_scores_is_named(measure):
    zeros = {"a": {"cat": 1, "dog": 0}, "b": {"cat": 0, "dog": 1}}
    other = {"a": {"cat": 0.4, "dog": 0.2}, "b": {"cat": 0.3, "dog": 1}}
    gts = {"a": ["cat"], "b": ["dog"]}
    for systems in ({"s1": zeros, "s2": other}, {"s2": other, "s1": zeros}):
        with refused(r"^s1: .*needs a score for each predicted label"):
            semmetrics.score_systems(systems, gts, measures=measure)
    with refused(r"^\S+ needs a score"):
        semmetrics.score(zeros, gts, measures=measure)
