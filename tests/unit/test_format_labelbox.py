"""Labelbox: exports of version 2 with one data row per line, and of version 1."""

import json

import pytest
from public_formats import items_by_id, measure_values
from refusals import facts, refused

import semmetrics
from semmetrics import as_labels

CAR = {"name": "Car", "bounding_box": {}}
WEATHER = {"name": "Weather", "radio_answer": {"name": "Sunny", "value": "sunny"}}
TIME = {"name": "Time", "checklist_answers": [{"name": "day"}, {"name": "night"}]}
NOTE = {"name": "Note", "text_answer": {"content": "x"}}


def data_row(name, *labels):
    """Return a data row of version 2, with one label for each annotator."""
    ids = {"id": f"id-{name}", "external_id": name, "global_key": f"key-{name}"}
    return {"data_row": ids, "projects": {"p": {"labels": list(labels)}}}


def label(objects=(), classifications=()):
    """Return the annotations of one annotator."""
    annotations = {"objects": list(objects), "classifications": list(classifications)}
    return {"annotations": annotations}


def test_labels_are_names_of_objects_and_answers(tmp_path):
    rows = [
        data_row("a.jpg", label([CAR, CAR], [WEATHER, NOTE])),
        data_row("b.jpg", label([CAR])),
    ]
    path = tmp_path / "export.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    lists = as_labels(path)

    assert items_by_id(lists) == {"a.jpg": ["Car", "Sunny"], "b.jpg": ["Car"]}


def test_predictions_may_use_any_id_of_a_data_row():
    rows = [data_row(name, label([CAR])) for name in ("a", "b", "c")]
    preds = {"a": ["Car"], "key-b": ["Car"], "id-c": ["Car"]}

    assert measure_values(preds, rows, measures="F1") == {"F1": 1.0}


def test_answers_to_several_questions_name_their_question():
    row = data_row("a", label([CAR], [WEATHER, TIME]))

    lists = as_labels([row])

    wanted = ["Car", "Weather: Sunny", "Time: day", "Time: night"]
    assert items_by_id(lists) == {"a": wanted}


def test_rows_that_nobody_labelled_or_that_were_skipped_are_left_out():
    skipped = {**label([CAR]), "performance_details": {"skipped": True}}
    rows = [
        data_row("a", label([CAR])),
        data_row("b"),
        data_row("c", skipped),
        data_row("d", label()),
    ]

    table = semmetrics.score({"a": ["Car"], "d": []}, rows, measures="F1")

    (fact,) = facts(table, "unannotated-items")
    assert fact.n == 2
    assert table["F1"].n == 2


# Version 1


def test_labels_of_version_1_are_titles_and_answers():
    answer = {"title": "day", "value": "day"}
    labels = {
        "objects": [{"title": "Car", "value": "car"}],
        "classifications": [{"title": "Time", "answer": answer}],
    }
    record = {"External ID": "a.jpg", "DataRow ID": "d", "Label": labels}

    assert items_by_id(as_labels([record])) == {"a.jpg": ["Car", "day"]}


@pytest.mark.parametrize(
    "row", [{"Label": {}, "Skipped": True}, {"Label": "Skip"}, {"Label": None}]
)
def test_rows_of_version_1_that_were_skipped_are_left_out(row):
    labelled = {"External ID": "a.jpg", "Label": {"objects": [{"title": "Car"}]}}
    rows = [labelled, {"External ID": "b.jpg", **row}]

    table = semmetrics.score({"a.jpg": ["Car"]}, rows, measures="F1")

    assert len(facts(table, "unannotated-items")) == 1
    assert table["F1"].n == 1


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ({"objects": [{"color": "red"}]}, "missing-key"),
        ({"classifications": [{"title": "day", "answer": {"title": " "}}]}, "empty"),
    ],
)
def test_an_error_names_the_record_even_if_rows_are_repeated(labels, code):
    car = {"External ID": "a", "Label": {"objects": [{"title": "Car"}]}}
    damaged = {"External ID": "b", "Label": labels}

    with refused(code, place="element [3]"):
        as_labels([car, car, car, damaged])
