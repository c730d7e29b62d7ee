"""What a result holds beyond its values: items, labels, the worst, what was undefined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.scoring.table import ScoreTable

GTS = {"a": ["cat", "dog"], "b": ["car"], "c": [], "d": ["boat"]}
ONE = {"a": ["dog"], "b": ["bus"], "c": [], "d": ["boat"]}
TWO = {"a": ["cat", "dog"], "b": ["car"], "c": ["cow"], "d": []}


def table(*measures, **options):
    return semmetrics.score_systems({"one": ONE, "two": TWO}, GTS, measures=measures, **options)


def test_values_of_items():
    found = table("Recall(empty=nan)", "MacroF1", "F1")
    records = found.per_item()
    assert records.columns == ("id", "system", "Recall(empty=nan)", "F1")
    assert records.column("id") == [*GTS, *GTS]
    assert records.column("system") == ["one"] * 4 + ["two"] * 4
    assert records.column("Recall(empty=nan)") == [0.5, 0.0, None, 1.0, 1.0, 1.0, None, 0.0]
    assert records.column("F1")[4:] == found["two", "F1"].items.tolist()


def test_items_known_by_position_have_numbers():
    found = semmetrics.score([["cat"], []], [["cat"], ["dog"]], measures=["F1"])
    assert found.per_item().column("id") == [0, 1]
    assert found.worst(1)[0]["id"] == 1


def test_values_of_labels():
    records = table("F1", "MacroF1", "F1(average=weighted)").per_label()
    assert set(records.column("measure")) == {"F1(average=macro)", "F1(average=weighted)"}
    rows = {(row["system"], row["label"]): row for row in records if "macro" in row["measure"]}
    assert rows["one", "cat"] | {"measure": ""} == {
        "system": "one", "measure": "", "label": "cat", "value": 0.0, "support": 1, "predicted": 0,
        "hit": 0,
    }  # fmt: skip
    assert isinstance(rows["one", "dog"]["hit"], int)


def test_weights_make_counts_of_labels_that_are_not_whole():
    weights = {"a": 0.5, "b": 1, "c": 1, "d": 1}
    rows = {row["label"]: row for row in table("MacroF1", weights=weights).per_label()}
    assert rows["dog"]["support"] == 0.5
    assert rows["car"]["support"] == 1


@pytest.mark.parametrize(
    ("collect", "measure", "message"),
    [
        ("per_item", "MacroF1", "lacks-measure"),
        ("worst", "MacroF1", "lacks-measure"),
        ("per_label", "F1", "lacks-measure"),
        ("matches", "F1", "lacks-measure"),
    ],
)
def test_what_no_measure_has(collect, measure, message):
    with refused(message):
        getattr(table(measure), collect)()


def test_rows_that_were_not_kept():
    with refused("rows-not-kept"):
        table("F1", keep_rows=False).per_item()


def test_the_worst_items_of_each_system():
    found = table("MacroF1", "Recall(empty=nan)")
    assert list(found.worst(2)) == [
        {"system": "one", "measure": "Recall(empty=nan)", "id": "b", "value": 0.0,
         "predicted": ["bus"], "true": ["car"]},
        {"system": "one", "measure": "Recall(empty=nan)", "id": "a", "value": 0.5,
         "predicted": ["dog"], "true": ["cat", "dog"]},
        {"system": "two", "measure": "Recall(empty=nan)", "id": "d", "value": 0.0,
         "predicted": [], "true": ["boat"]},
        {"system": "two", "measure": "Recall(empty=nan)", "id": "a", "value": 1.0,
         "predicted": ["cat", "dog"], "true": ["cat", "dog"]},
    ]  # fmt: skip
    # items without a value are none of the worst
    assert len(found.worst(100)) == 3 + 3


def test_the_worst_by_a_measure():
    found = table("F1", "Recall")
    assert list(found.worst(2, "recall")) == list(found.worst(2, found["one", "Recall"].measure))
    assert list(found.worst(2, "recall")) == list(table("Recall").worst(2))
    assert list(found.worst(2, "F1")) == list(found.worst(2))
    with refused("unknown-name"):
        found.worst(1, "Recal")
    with refused("lacks-measure"):
        table("F1", "MacroF1").worst(1, "MacroF1")


def test_the_worst_are_the_highest_where_lower_is_better():
    found = semmetrics.score({"a": ["cat"], "b": []}, {"a": ["cat"], "b": ["cat", "dog"]},
                             measures=["HammingLoss"])  # fmt: skip
    assert found.worst(1)[0]["id"] == "b"


def test_what_a_measure_keeps_is_shown():
    preds = {"a": [["x", 0.2], ["cat", 0.9]], "b": [["dog", 0.4]]}
    refs = {"a": ["cat"], "b": ["dog"]}
    cut = semmetrics.score(preds, refs, measures=["Recall@1"])
    assert cut.worst(2).column("predicted") == [["cat"], ["dog"]]
    scores = np.array([[0.2, 0.9], [0.4, 0.1]])
    options = {"classes": ["dog", "cat"], "decode": "threshold:0.5", "measures": ["F1"]}
    decoded = semmetrics.score(scores, [["cat"], ["dog"]], **options)
    assert decoded.worst(2).column("predicted") == [[], ["cat"]]


def test_the_worst_captions():
    found = semmetrics.score(
        {"1": "a cat sleeps", "2": "a dog"},
        {"1": ["a cat is sleeping", "the cat"], "2": ["a dog"]},
        measures=["ROUGE-L"],
    )
    (row,) = found.worst(1)
    assert (row["id"], row["caption"]) == ("1", "a cat sleeps")
    assert row["references"] == ["a cat is sleeping", "the cat"]


@pytest.mark.parametrize("number", [0, -1])
def test_wrong_numbers(number):
    with refused("bad-option"):
        table("F1").worst(number)


def test_scores_without_what_was_evaluated_have_values_alone():
    alone = ScoreTable([replace(score, task=None) for score in table("F1")])
    assert alone.worst(1).columns == ("system", "measure", "id", "value")


def test_what_was_undefined():
    found = table("Recall(empty=nan)", "MacroF1", "MicroF1")
    rows = [tuple(row.values()) for row in found.undefined()]
    assert ("one", "Recall(empty=nan)", "empty", "image", "nan", 1) in rows
    assert ("two", "Recall(empty=nan)", "no_reference", "image", "0", 1) in rows
    assert all(row[5] > 0 for row in rows)
    assert found.undefined().columns == ("system", "measure", "cause", "unit", "policy", "count")
    macro = [row for row in found.undefined() if "macro" in row["measure"]]
    assert {row["unit"] for row in macro} <= {"label"}
    assert len(semmetrics.score([["a"]], [["a"]], measures=["F1"]).undefined()) == 0


def test_resamples_without_a_value_are_undefined():
    ci = semmetrics.Bootstrap(resamples=50, method="percentile")
    found = semmetrics.score([["a"], []], [["a"], []], measures=["MicroF1(empty=nan)"], ci=ci)
    (row,) = [row for row in found.undefined() if row["cause"] == "resample"]
    assert row["policy"] == "skip"
    assert row["count"] == found.scores[0].ci.undefined > 0
