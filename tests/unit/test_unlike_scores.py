"""Labels that stand in one item several times with different scores are named."""

import json

import pandas as pd
import polars as pl
import pytest
from refusals import facts

import semmetrics

BOTH = "1 label of 1 item stands there several times with different scores (such as 'cat' of 'a': "
ROWS = [("a", "cat", 1), ("a", "cat", 0), ("b", "dog", 1)]
PLAIN = {"a": ["cat"], "b": ["dog"]}


def inputs(tmp_path):
    """The same rows, once in each form."""
    frame = pd.DataFrame(ROWS, columns=["id", "label", "score"])
    frame.to_csv(tmp_path / "long.csv", index=False)
    frame.to_parquet(tmp_path / "long.parquet")
    lists = {"a": [["cat", 1], ["cat", 0]], "b": [["dog", 1]]}
    (tmp_path / "lists.json").write_text(json.dumps(lists))
    (tmp_path / "wide.jsonl").write_text(
        '{"id": "a", "labels": ["cat", "cat"], "scores": [1, 0]}\n'
        '{"id": "b", "labels": ["dog"], "scores": [1]}\n'
    )
    files = ("long.csv", "long.parquet", "lists.json", "wide.jsonl")
    objects = [frame, pl.from_pandas(frame), {k: [*map(tuple, v)] for k, v in lists.items()}]
    return [*(str(tmp_path / name) for name in files), *objects]


@pytest.mark.parametrize("form", range(7))
def test_either_side_and_validate_say_it(tmp_path, form):
    data = inputs(tmp_path)[form]
    for pred, ref in ((data, PLAIN), (PLAIN, data)):
        table = semmetrics.score(pred, ref, measures="F1")
        assert table["F1"].value == 1.0
        (fact,) = facts(table, "unlike-scores")
        assert (fact.n, fact.values, fact.examples) == (1, {"items": 1}, ("'cat' of 'a': 1 and 0",))
    assert [line for line in semmetrics.validate(data)["odd"] if "different scores" in line]


def test_scores_between_and_counts():
    pred = {"a": [("cat", 0.1), ("cat", 0.9), ("dog", 0.2), ("dog", 0.3)], "b": [("dog", 1.0)]}
    pred["c"] = [("dog", 0.5), ("dog", 0.5)]  # alike: a repeat and no more
    table = semmetrics.score(pred, {**PLAIN, "c": ["dog"]}, measures="F1(decode=threshold:0.5)")
    assert table["F1(decode=threshold:0.5)"].value == pytest.approx(2 / 3)
    (fact,) = facts(table, "unlike-scores")
    assert (fact.n, fact.values) == (2, {"items": 1})
    assert fact.examples == ("'cat' of 'a': 0.1 and 0.9",)


def test_by_position():
    pred = [[("dog", 1)], [("cat", 0), ("cat", 1)]]
    (fact,) = facts(semmetrics.score(pred, [["dog"], ["cat"]], measures="F1"), "unlike-scores")
    assert fact.examples == ("'cat' of item 1 (from 0): 0 and 1",)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_are_counted_together(keep_rows):
    scorers = [semmetrics.Scorer(measures="F1", keep_rows=keep_rows) for _ in range(2)]
    for number in range(5):
        pred = {f"{number}": [("cat", 1), ("cat", 0)], f"x{number}": [("cat", 1)]}
        scorers[number % 2].update(pred, {id_: ["cat"] for id_ in pred})
    (fact,) = facts(sum(scorers).compute(), "unlike-scores")
    assert (fact.n, fact.values) == (5, {"items": 5})
