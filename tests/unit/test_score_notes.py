"""Scores that count for nothing, and an order of labels that nobody gave, are noted."""

from __future__ import annotations

import pytest
from refusals import codes, refused

import semmetrics

LISTS = {"a": ["cat"]}
SCORED = {"a": {"cat": 0.9, "dog": 0.1}}


def score(preds, gts, measures, **options):
    return semmetrics.score(preds, gts, measures=measures, **options)


def test_the_order_is_noted_of_batches_that_were_let_go():
    scorer = semmetrics.Scorer(measures=["F1", "F1@1"], keep_rows=False)
    scorer.update({"a": {"cat", "dog"}}, LISTS)
    scorer.update({"b": ["cat"]}, {"b": ["cat"]})
    assert codes(scorer.compute()) == ["order-of-labels"]


def test_scores_of_the_ground_truth_count_for_nothing():
    (fact,) = score({"a": {"cat": 0.9}}, SCORED, "F1").facts
    assert (fact.code, fact.where) == ("true-scores", "gts")
    assert (
        codes(score({"a": {"cat": 0.9}}, {"a": {"cat": 1.0, "dog": 1.0}}, "F1")) == []
    )


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
