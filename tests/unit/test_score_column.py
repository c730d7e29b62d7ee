"""A column of scores that is named: predictions must have it, a ground truth need not."""

import pytest
from reading import refused_in, saved

import semmetrics
from semmetrics import ReadOptions
from semmetrics.data.large_text import read_large
from semmetrics.data.read_options import truth_options
from semmetrics.data.source import load
from semmetrics.kinds.labels import FORM

TRUTHS = {
    "plain.csv": "id,label\na,x\nb,y\n",
    "scored.csv": "id,label,score\na,x,1\na,y,0\nb,y,1\n",
    "same.csv": "id,label,how\na,x,1\na,y,0\nb,y,1\n",
    "one_hot.csv": "id,x,y\na,1,0\nb,0,1\n",
    "records.json": '[{"id": "a", "labels": ["x"]}, {"id": "b", "labels": ["y"]}]',
    "columns.json": '{"id": ["a", "b"], "labels": [["x"], ["y"]]}',
    "lines.jsonl": '{"id": "a", "labels": ["x"]}\n{"id": "b", "labels": ["y"]}\n',
}
NAMED = ReadOptions(score_column="how")


def test_large_lines_of_a_ground_truth(tmp_path):
    text = TRUTHS["lines.jsonl"]
    source = load(saved(tmp_path, "gt.jsonl", text), 2**20)
    found = read_large(source, "jsonl", FORM, truth_options(NAMED))
    assert found.to_list() == [["x"], ["y"]]


PRED = "id,label,how\na,x,.9\na,y,.1\nb,y,.8\n"


@pytest.mark.parametrize("name", TRUTHS)
def test_a_ground_truth_may_lack_it(tmp_path, name):
    pred, truth = saved(tmp_path, "p.csv", PRED), saved(tmp_path, name, TRUTHS[name])
    measure = "F1(decode=threshold:0.5)"
    assert (
        semmetrics.score(pred, truth, measures=measure, read=NAMED)[measure].value
        == 1.0
    )
    scorer = semmetrics.Scorer(measures="AP", read=NAMED)
    scorer.update(pred, truth)
    assert scorer.compute()["AP"].value == 1.0


@pytest.mark.parametrize("role", ["id", "label"])
def test_other_columns_are_needed_on_both_sides(tmp_path, role):
    named = ReadOptions(**{f"{role}_column": "k"})
    text = TRUTHS["plain.csv"].replace(role, "k", 1)
    pred = saved(tmp_path, "p.csv", text)
    with refused_in("missing-column", "gt.csv, line 1"):
        semmetrics.score(
            pred, saved(tmp_path, "gt.csv", TRUTHS["plain.csv"]), read=named
        )
