"""Several runs of a system, and systems ranked over data sets."""

from __future__ import annotations

import math

import pytest
from refusals import refused

import semmetrics
from semmetrics.scoring.runs import summarize
from semmetrics.studies.ranks import rank_normalized

REFS = [["a"], ["b"], ["a", "b"]]
RUNS = {"seed 1": REFS, "seed 2": [["a"], ["a"], ["a"]], "seed 3": [[], [], []]}


def test_a_run_without_a_value_leaves_none():
    table = semmetrics.score_systems(RUNS, [["a"], [], []], measures=["F1(empty=nan)"])
    (summary,) = summarize(table.scores)
    assert math.isnan(table["seed 3", "F1(empty=nan)"].value)
    assert math.isnan(summary.mean)
    assert math.isnan(summary.std)


def test_every_run_has_every_measure():
    table = semmetrics.score_systems(RUNS, REFS, measures=["F1", "Recall"])
    with refused("wrong-count", "Recall"):
        summarize(table.scores[:-1])
    assert summarize([]) == []


VALUES = {
    "VOC": {"A": 0.8, "B": 0.9, "C": 0.9, "D": 0.5},
    "COCO": {"A": 0.7, "B": 0.6, "C": 0.6},
    "NUS": {"A": 0.5, "B": 0.4, "C": 0.4, "D": math.nan},
}


def test_ranks_by_the_mean_of_normalised_values():
    ranks = {rank.system: rank for rank in rank_normalized(VALUES)}
    assert list(ranks) == ["A", "B", "C", "D"]
    assert [rank.rank for rank in ranks.values()] == [1, 2, 2, None]
    assert ranks["A"].value == pytest.approx((8 / 9 + 1 + 1) / 3)
    assert ranks["B"].value == pytest.approx((1 + 6 / 7 + 4 / 5) / 3)
    assert ranks["A"].normalized == pytest.approx({"VOC": 8 / 9, "COCO": 1, "NUS": 1})
    # a system that lacks a data set is not ranked, and says which
    assert ranks["D"].lacking == ("COCO", "NUS")
    assert ranks["D"].value == pytest.approx(5 / 9)
    assert ranks["A"].lacking == ()


def test_systems_are_ranked_by_scores_of_any_form(tmp_path):
    systems = {"A": [["a"], ["b"], ["a"]], "B": [["a"], ["a"], []]}
    first = semmetrics.score_systems(systems, REFS, measures=["F1", "O-F1"])
    second = semmetrics.score_systems({"A": systems["A"]}, REFS, measures=["O-F1"])
    path = tmp_path / "second.json"
    path.write_text(second.to_json())
    expected = rank_normalized(
        {
            "VOC": {name: first[name, "O-F1"].value for name in systems},
            "COCO": {"A": second["O-F1"].value},
        }
    )
    assert (
        semmetrics.rank_systems({"VOC": first, "COCO": second}).places
        == expected.places
    )
    again = semmetrics.rank_systems({"VOC": first.to_dicts(), "COCO": path})
    assert again.places == expected.places
    assert [rank.lacking for rank in expected] == [(), ("COCO",)]
    by_f1 = semmetrics.rank_systems({"VOC": first}, "F1")
    assert [(rank.system, rank.rank) for rank in by_f1] == [("A", 1), ("B", 2)]
