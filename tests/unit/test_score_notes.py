"""Notes on scores that do not count, and on labels without an order."""

from __future__ import annotations

import numpy as np
import pytest
from own_measures import temporary_measures
from refusals import codes, refused

import semmetrics
from semmetrics.data.tasks.base import LabelAxis
from semmetrics.scoring.result import LeftOut


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


def test_a_note_shows_the_first_value_outside_the_bounds_of_a_users_measure():
    preds = [["a"], ["a", "b"], ["a", "b", "c"]]
    with temporary_measures():

        @semmetrics.measure(bounds=(0, 1))
        def Hits(hit):
            return hit

        table = semmetrics.score(preds, preds, measures="Hits")

    (note,) = table.facts
    assert note.code == "outside-bounds"
    assert (
        note.values["value"] == 2.0
    )  # The mean, which comes before the items 3 and 2.
    assert codes(table) == ["outside-bounds"]


def test_labels_that_do_not_occur_are_not_counted_as_left_out():
    axis = LabelAxis(
        ("cat", "dog", "cow", "bat"),
        n_reference=np.array([1, 2, 0, 0]),
        n_prediction=np.array([1, 0, 3, 0]),
        n_listed=1,
        ignored={},
    )

    left_out = LeftOut.of(axis, np.array([False, True, True, True]))

    assert left_out == LeftOut(labels=2, predictions=3, references=2)
