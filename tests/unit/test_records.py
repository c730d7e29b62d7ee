"""Records are a sequence of dictionaries that can be written as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import Records
from semmetrics.reports import draw

COLUMNS = {
    "id": ["a", "b,c", "ü"],
    "rank": [1, None, 3],
    "F1": np.array([0.5, np.nan, 1 / 3]),
    "WMD": np.array([np.inf, 0.0, -np.inf]),
}
ROWS = [
    {"id": "a", "rank": 1, "F1": 0.5, "WMD": None},
    {"id": "b,c", "rank": None, "F1": None, "WMD": 0.0},
    {"id": "ü", "rank": 3, "F1": 1 / 3, "WMD": None},
]


def test_records_are_a_sequence_of_rows():
    records = Records(COLUMNS)

    assert list(records) == ROWS
    assert len(records) == 3
    assert records[-1] == ROWS[2]
    assert list(records[1:]) == ROWS[1:]
    assert list(reversed(records)) == ROWS[::-1]
    with pytest.raises(IndexError):
        records[3]
    with pytest.raises(TypeError):
        records[0] = {}


def test_records_have_columns():
    records = Records(COLUMNS)

    assert records.columns == ("id", "rank", "F1", "WMD")
    assert records.column("F1") == [0.5, None, 1 / 3]
    assert records.drop("rank", "WMD")[0] == {"id": "a", "F1": 0.5}
    assert repr(records) == "Records(3 rows: id, rank, F1, WMD)"
    with refused("bad-choice"):
        records.column("F2")


def test_columns_of_different_lengths_raise_an_error():
    with refused("wrong-count", "columns"):
        Records({"a": [1], "b": [1, 2]})


def test_records_are_written_as_csv():
    assert Records(COLUMNS).to_csv().splitlines() == [
        "id,rank,F1,WMD",
        "a,1,0.5,",
        '"b,c",,,0.0',
        "ü,3,0.3333333333333333,",
    ]


def test_records_are_written_as_json():
    records = Records(COLUMNS)
    lines = io.StringIO()
    records.write(lines, "jsonl")

    assert json.loads(records.to_json()) == ROWS
    assert "ü" in records.to_json()
    assert lines.getvalue() == records.to_jsonl()
    assert [json.loads(line) for line in records.to_jsonl().splitlines()] == ROWS
    with refused("bad-choice"):
        records.write(lines, "xml")


# ---- spreadsheets -------------------------------------------------------------------------------


def csv_cell(text):
    """Return a value as it is written in a CSV file."""
    _, (cell,) = csv.reader(io.StringIO(Records({"a": [text]}).to_csv()))
    return cell


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-1+1|x!A1", "@SUM(A1)", " =1", "\t=1", "'=1", '=HYPERLINK("x")'],
)
def test_a_formula_is_a_text_in_csv(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "text",
    [
        "-",
        "-0.5",
        "+3",
        "-1e-05",
        "-1e+05",
        "-50%",
        "-inf",
        "-4wsuPCjDBc_5-15",
        "@user",
    ],
)
def test_numbers_and_names_are_the_same_in_csv(text):
    assert csv_cell(text) == text


def test_headings_and_drawn_tables_have_no_formulas():
    assert Records({"-x()": [-0.5]}).to_csv().splitlines() == ["'-x()", "-0.5"]
    assert draw([["a"], ["=1"], ["-0.5"]], "csv").split("\n") == ["a", "'=1", "-0.5"]


def test_lists_in_csv_have_no_control_characters():
    entries = ["\x1b[2J", "=1", "\x7f\x9b"]

    cell = csv_cell(entries)

    assert cell.isascii()
    assert json.loads(cell) == entries


# ---- shading ------------------------------------------------------------------------------------


REFS = [["cat", "dog"], ["bus"]]
SYSTEMS = {"a": REFS, "b": [["cat"], ["bus"]], "<c>": [["cow"], ["car"]]}


def render(form, **options):
    table = semmetrics.score_systems(SYSTEMS, REFS, measures="Recall HammingLoss")
    return table.render(form, **options)


@pytest.mark.parametrize(
    ("form", "mark"), [("latex", "textbf"), ("markdown", "| **"), ("html", "<strong>")]
)
def test_the_best_value_of_each_measure_is_bold(form, mark):
    text = render(form)

    assert text.count(mark) == 2
    assert "cellcolor" not in text
    assert "background" not in text


def test_graded_values_are_shaded_from_the_worst_to_the_best():
    shape = {"graded": True, "digits": 2, "systems": "columns"}
    latex = render("latex", **shape).replace(r"\cellcolor[HTML]", "")
    html = render("html", **shape)

    assert r"Recall & {63BE7B}\textbf{1.00} & {B1D480}0.75 & {F8696B}0.00 \\" in latex
    assert r"HammingLoss & {63BE7B}\textbf{0.00} & {A1D07F}0.10 & {F8696B}0.50" in latex
    assert "background: #F8696B; color: black" in html
    assert "&lt;c&gt;" in html


def test_the_values_of_one_system_are_not_shaded():
    table = semmetrics.score(REFS, REFS, measures="Recall")

    assert table.render("html", graded=True) == table.render("html")
