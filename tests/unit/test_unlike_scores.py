"""Labels that stand in one item several times with different scores are named."""

import json

import pandas as pd
import polars as pl
import pytest

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


def said(notes):
    return [note for note in notes if "different scores" in note]


@pytest.mark.parametrize("form", range(7))
def test_either_side_and_validate_say_it(tmp_path, form):
    data = inputs(tmp_path)[form]
    for pred, ref in ((data, PLAIN), (PLAIN, data)):
        table = semmetrics.score(pred, ref, measures="F1")
        assert table["F1"].value == 1.0
        (note,) = said(table.notes)
        assert f"{BOTH}1 and 0): the highest counts" in note
    assert BOTH in said(semmetrics.validate(data)["odd"])[0]


def test_scores_between_and_counts():
    pred = {"a": [("cat", 0.1), ("cat", 0.9), ("dog", 0.2), ("dog", 0.3)], "b": [("dog", 1.0)]}
    pred["c"] = [("dog", 0.5), ("dog", 0.5)]  # alike: a repeat and no more
    table = semmetrics.score(pred, {**PLAIN, "c": ["dog"]}, measures="F1(decode=threshold:0.5)")
    assert table["F1(decode=threshold:0.5)"].value == pytest.approx(2 / 3)
    (note,) = said(table.notes)
    assert "2 labels of 1 item stand there" in note
    assert "'cat' of 'a': 0.1 and 0.9" in note


def test_by_position():
    pred = [[("dog", 1)], [("cat", 0), ("cat", 1)]]
    (note,) = said(semmetrics.score(pred, [["dog"], ["cat"]], measures="F1").notes)
    assert "'cat' of item 1 (from 0): 0 and 1" in note


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_are_counted_together(keep_rows):
    scorers = [semmetrics.Scorer(measures="F1", keep_rows=keep_rows) for _ in range(2)]
    for number in range(5):
        pred = {f"{number}": [("cat", 1), ("cat", 0)], f"x{number}": [("cat", 1)]}
        scorers[number % 2].update(pred, {id_: ["cat"] for id_ in pred})
    (note,) = said(sum(scorers).compute().notes)
    assert "5 labels of 5 items stand there" in note
