"""Details of results: values of labels, the worst items and confused labels."""

import pytest
from refusals import refused

import semmetrics

GTS = {"a": ["cat", "dog"], "b": ["car"], "c": [], "d": ["boat"]}
FIRST = {"a": ["dog"], "b": ["bus"], "c": [], "d": ["boat"]}
SECOND = {"a": ["cat", "dog"], "b": ["car"], "c": ["cow"], "d": []}
SYSTEMS = {"first": FIRST, "second": SECOND}


def score(measures, **options):
    return semmetrics.score_systems(SYSTEMS, GTS, measures=measures, **options)


def test_labels_have_their_value_and_counts():
    records = score("F1 MacroF1 F1(average=weighted)").per_label()

    assert set(records.column("measure")) == {"MacroF1", "F1(average=weighted)"}
    assert records[0] == {
        "system": "first",
        "measure": "MacroF1",
        "label": "boat",
        "value": 1.0,
        "support": 1,
        "predicted": 1,
        "hit": 1,
    }
    assert isinstance(records[0]["hit"], int)


def test_counts_of_labels_are_weighted():
    weights = {"a": 0.5, "b": 1, "c": 1, "d": 1}

    records = score("MacroF1", weights=weights).per_label()

    support = dict(zip(records.column("label"), records.column("support"), strict=True))
    assert support["dog"] == 0.5
    assert support["car"] == 1


def test_the_worst_items_are_chosen_by_any_measure_with_values_of_items():
    table = score("F1 Recall MacroF1")

    by_recall = list(table.worst(2, "recall"))

    assert by_recall == list(score("Recall").worst(2))
    assert by_recall == list(table.worst(2, table["first", "Recall"].measure))
    assert list(table.worst(2)) == list(table.worst(2, "F1"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((0,), "bad-option"),
        ((-1,), "bad-option"),
        ((1, "Recal"), "unknown-name"),
        ((1, "MacroF1"), "no-item-values"),
    ],
)
def test_worst_items_that_cannot_be_chosen_raise_an_error(arguments, code):
    with refused(code):
        score("F1 MacroF1").worst(*arguments)


def confusion(measure, **options):
    counts = {}
    for row in score(measure, **options).confusion():
        counts[row["system"], row["true"], row["predicted"]] = row["count"]
    return counts


def test_wrong_labels_are_confused_with_missed_ones():
    assert confusion("F1") == {
        ("first", "dog", "dog"): 1,
        ("first", "cat", None): 1,
        ("first", "car", "bus"): 1,
        ("first", "boat", "boat"): 1,
        ("second", "cat", "cat"): 1,
        ("second", "dog", "dog"): 1,
        ("second", "car", "car"): 1,
        ("second", None, "cow"): 1,
        ("second", "boat", None): 1,
    }


def test_equal_labels_are_matched_before_similar_ones():
    vectors = {
        "cat": [1, 0, 0],
        "dog": [0.8, 0.6, 0],
        "car": [0, 0, 1],
        "bus": [0, 0.6, 0.8],
        "boat": [0, 1, 0],
        "cow": [-1, 0, 0],
    }

    counts = confusion("SemF1(threshold=0.75)", embedding=vectors)

    assert counts["first", "car", "bus"] == 1
    assert counts["first", "dog", "dog"] == 1
    assert ("first", "cat", "dog") not in counts


@pytest.mark.parametrize(
    ("measure", "method"),
    [
        ("MacroF1", "per_item"),
        ("MacroF1", "worst"),
        ("F1", "per_label"),
        ("F1", "matches"),
        ("SoftF1", "confusion"),
    ],
)
def test_details_that_no_measure_has_raise_an_error(measure, method):
    table = score(measure)

    with refused("lacks-measure"):
        getattr(table, method)()


def test_values_of_items_need_stored_rows():
    with refused("rows-not-kept"):
        score("F1", keep_rows=False).per_item()
