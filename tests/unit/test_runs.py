"""Several runs of a system, and systems ranked over datasets."""

import math

import pytest
from refusals import refused

import semmetrics
from semmetrics.scoring.runs import summarize
from semmetrics.studies.ranks import rank_normalized

GTS = [["a"], ["b"], ["a", "b"]]
RUNS = {"seed 1": GTS, "seed 2": [["a"], ["a"], ["a"]], "seed 3": [[], [], []]}


def test_an_undefined_run_has_no_mean():
    table = semmetrics.score_systems(RUNS, [["a"], [], []], measures="F1(empty=nan)")

    (summary,) = summarize(table.scores)

    assert math.isnan(summary.mean)
    assert math.isnan(summary.std)


def test_all_runs_need_all_measures():
    table = semmetrics.score_systems(RUNS, GTS, measures="F1 Recall")

    with refused("wrong-count", "Recall"):
        summarize(table.scores[:-1])


def test_systems_are_ranked_by_the_mean_of_normalised_values():
    values = {
        "VOC": {"A": 0.8, "B": 0.9, "C": 0.9, "D": 0.5},
        "COCO": {"A": 0.7, "B": 0.6, "C": 0.6},
        "NUS": {"A": 0.5, "B": 0.4, "C": 0.4, "D": math.nan},
    }

    first, second, third, unranked = rank_normalized(values)

    assert [first.system, second.system, third.system] == ["A", "B", "C"]
    assert [first.rank, second.rank, third.rank] == [1, 2, 2]
    assert first.value == pytest.approx((8 / 9 + 1 + 1) / 3)
    assert second.value == pytest.approx((1 + 6 / 7 + 4 / 5) / 3)
    assert first.normalized == pytest.approx({"VOC": 8 / 9, "COCO": 1, "NUS": 1})
    assert unranked.rank is None
    assert unranked.lacking == ("COCO", "NUS")
    assert unranked.value == pytest.approx(5 / 9)


def test_scores_to_rank_may_be_tables_dicts_and_files(tmp_path):
    systems = {"A": [["a"], ["b"], ["a"]], "B": [["a"], ["a"], []]}
    voc = semmetrics.score_systems(systems, GTS, measures="F1 O-F1")
    coco = semmetrics.score_systems({"A": systems["A"]}, GTS, measures="O-F1")
    path = tmp_path / "coco.json"
    path.write_text(coco.to_json(), encoding="utf-8")

    ranking = semmetrics.rank_systems({"VOC": voc, "COCO": coco})

    values = {
        "VOC": {"A": voc["A", "O-F1"].value, "B": voc["B", "O-F1"].value},
        "COCO": {"A": coco["O-F1"].value},
    }
    assert ranking.places == rank_normalized(values).places
    from_files = semmetrics.rank_systems({"VOC": voc.to_dicts(), "COCO": path})
    assert from_files.places == ranking.places
    by_f1 = semmetrics.rank_systems({"VOC": voc}, "F1")
    assert [place.system for place in by_f1] == ["A", "B"]
