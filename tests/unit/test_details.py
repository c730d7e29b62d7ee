"""What a result holds beyond its values: items, labels, the worst, what was undefined."""

from __future__ import annotations

from refusals import refused

import semmetrics

GTS = {"a": ["cat", "dog"], "b": ["car"], "c": [], "d": ["boat"]}
ONE = {"a": ["dog"], "b": ["bus"], "c": [], "d": ["boat"]}
TWO = {"a": ["cat", "dog"], "b": ["car"], "c": ["cow"], "d": []}


def table(*measures, **options):
    return semmetrics.score_systems(
        {"one": ONE, "two": TWO}, GTS, measures=measures, **options
    )


def test_weights_make_counts_of_labels_that_are_not_whole():
    weights = {"a": 0.5, "b": 1, "c": 1, "d": 1}
    rows = {row["label"]: row for row in table("MacroF1", weights=weights).per_label()}
    assert rows["dog"]["support"] == 0.5
    assert rows["car"]["support"] == 1


def test_what_is_not_there():
    for collect, measure in (
        ("per_item", "MacroF1"),
        ("worst", "MacroF1"),
        ("per_label", "F1"),
        ("matches", "F1"),
    ):
        with refused("lacks-measure"):
            getattr(table(measure), collect)()
    with refused("rows-not-kept"):
        table("F1", keep_rows=False).per_item()
    for number in (0, -1):
        with refused("bad-option"):
            table("F1").worst(number)


def test_the_worst_by_a_measure():
    found = table("F1", "Recall")
    assert list(found.worst(2, "recall")) == list(
        found.worst(2, found["one", "Recall"].measure)
    )
    assert list(found.worst(2, "recall")) == list(table("Recall").worst(2))
    assert list(found.worst(2, "F1")) == list(found.worst(2))
    with refused("unknown-name"):
        found.worst(1, "Recal")
    with refused("no-item-values"):
        table("F1", "MacroF1").worst(1, "MacroF1")


def test_values_of_labels():
    records = table("F1", "MacroF1", "F1(average=weighted)").per_label()
    assert set(records.column("measure")) == {"MacroF1", "F1(average=weighted)"}
    rows = {
        (row["system"], row["label"]): row
        for row in records
        if row["measure"] == "MacroF1"
    }
    assert rows["one", "cat"] | {"measure": ""} == {
        "system": "one",
        "measure": "",
        "label": "cat",
        "value": 0.0,
        "support": 1,
        "predicted": 0,
        "hit": 0,
    }
    assert isinstance(rows["one", "dog"]["hit"], int)


def test_labels_that_stand_for_missed_ones():
    def counted(*measures, **options):
        rows = table(*measures, **options).confusion()
        return {(r["system"], r["true"], r["predicted"]): r["count"] for r in rows}

    assert counted("F1") == {
        ("one", "dog", "dog"): 1,
        ("one", "cat", None): 1,
        ("one", "car", "bus"): 1,
        ("one", "boat", "boat"): 1,
        ("two", "cat", "cat"): 1,
        ("two", "dog", "dog"): 1,
        ("two", "car", "car"): 1,
        ("two", None, "cow"): 1,
        ("two", "boat", None): 1,
    }
    vectors = {
        "cat": [1, 0, 0],
        "dog": [0.8, 0.6, 0],
        "car": [0, 0, 1],
        "bus": [0, 0.6, 0.8],
        "boat": [0, 1, 0],
        "cow": [-1, 0, 0],
    }
    by_meaning = counted("SemF1(threshold=0.75)", embedding=vectors)
    assert by_meaning["one", "car", "bus"] == 1
    assert by_meaning["one", "dog", "dog"] == 1  # equal labels are paired first
    assert ("one", "cat", "dog") not in by_meaning
    with refused("lacks-measure"):
        semmetrics.score(
            [[("cat", 0.5)]], [["cat"]], measures="LRAP SoftF1"
        ).confusion()
