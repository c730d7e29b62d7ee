"""Notes on scores that do not count, and on labels without an order."""

from __future__ import annotations

import pytest
from refusals import codes, refused

import semmetrics


def test_a_note_reports_that_labels_of_dropped_items_had_no_order():
    scorer = semmetrics.Scorer(measures="F1 F1@1", keep_rows=False)
    scorer.update({"a": {"cat", "dog"}}, {"a": ["cat"]})
    scorer.update({"b": ["cat"]}, {"b": ["cat"]})

    assert codes(scorer.compute()) == ["order-of-labels"]


def test_a_note_reports_that_scores_of_the_ground_truth_do_not_count():
    preds = {"a": {"cat": 0.9}}

    table = semmetrics.score(preds, {"a": {"cat": 0.9, "dog": 0.1}}, measures="F1")
    other_table = semmetrics.score(preds, {"a": {"cat": 1, "dog": 1}}, measures="F1")

    assert codes(table) == ["true-scores"]
    assert codes(other_table) == []


@pytest.mark.parametrize("order", [("s1", "s2"), ("s2", "s1")])
@pytest.mark.parametrize(
    "measure", ["F1(decode=threshold:best)", "F1(decode=threshold:-1)", "LRAP"]
)
def test_an_error_names_the_system_without_scores(measure, order):
    systems = {
        "s1": {"a": {"cat": 1, "dog": 0}, "b": {"cat": 0, "dog": 1}},
        "s2": {"a": {"cat": 0.4, "dog": 0.2}, "b": {"cat": 0.3, "dog": 1}},
    }
    systems = {name: systems[name] for name in order}

    with refused("no-scores", place="s1"):
        semmetrics.score_systems(
            systems, {"a": ["cat"], "b": ["dog"]}, measures=measure
        )
