"""Records: what they hold, and the same in every form."""

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


def test_a_sequence_of_dictionaries():
    records = Records(COLUMNS)
    assert list(records) == ROWS
    assert (len(records), records[1], records[-1]) == (3, ROWS[1], ROWS[2])
    assert list(records[1:]) == ROWS[1:]
    assert list(reversed(records)) == ROWS[::-1]
    assert records.columns == ("id", "rank", "F1", "WMD")
    assert records.column("F1") == [0.5, None, 1 / 3]
    assert records.drop("rank", "WMD")[0] == {"id": "a", "F1": 0.5}
    assert repr(records) == "Records(3 rows: id, rank, F1, WMD)"
    with pytest.raises(IndexError):
        records[3]
    with refused("bad-choice"):
        records.column("F2")
    with pytest.raises(TypeError):
        records[0] = {}


def test_columns_of_different_lengths_are_refused():
    with refused("wrong-count", "columns"):
        Records({"a": [1], "b": [1, 2]})


def test_forms():
    records = Records(COLUMNS)
    assert records.to_csv().splitlines() == [
        "id,rank,F1,WMD",
        "a,1,0.5,",
        '"b,c",,,0.0',
        "ü,3,0.3333333333333333,",
    ]
    assert json.loads(records.to_json()) == ROWS
    assert [json.loads(line) for line in records.to_jsonl().splitlines()] == ROWS
    assert "ü" in records.to_json()
    out = io.StringIO()
    records.write(out, "jsonl")
    assert out.getvalue() == records.to_jsonl()
    with refused("bad-choice"):
        records.write(out, "xml")


FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1|x!A1",
    "@SUM(A1)",
    " =1",
    "\t=1",
    "'=1",
    "=",
    '=HYPERLINK("x")',
]
TEXTS = [
    "",
    "-",
    "+",
    "-0.5",
    "+3",
    "-1e-05",
    "-1e+05",
    "-50%",
    "-inf",
    "-4wsuPCjDBc_5-15",
    "@user",
    "a=1",
    "'a",
    "3-4",
]


def test_csv_runs_no_formula_and_keeps_numbers():
    table = Records(
        {"text": FORMULAS + TEXTS, "-x()": [-0.5] * (len(FORMULAS) + len(TEXTS))}
    )
    head, *rows = csv.reader(io.StringIO(table.to_csv()))
    assert head == ["text", "'-x()"]
    assert [text for text, _ in rows] == [f"'{text}" for text in FORMULAS] + TEXTS
    assert {number for _, number in rows} == {"-0.5"}
    assert [row["text"] for row in json.loads(table.to_json())] == FORMULAS + TEXTS
    assert draw([["a"], ["=1"], ["-0.5"]], "csv").split("\n") == ["a", "'=1", "-0.5"]
    lists = Records({"a": [["\x1b[2J", "=1", "\x7f\x9b"]]}).to_csv()
    assert lists.isascii()
    assert json.loads(list(csv.reader(io.StringIO(lists)))[1][0]) == [
        "\x1b[2J",
        "=1",
        "\x7f\x9b",
    ]


def test_the_best_is_bold_and_all_are_shaded():
    refs = [["cat", "dog"], ["bus"]]
    systems = {"a": refs, "b": [["cat"], ["bus"]], "<c>": [["cow"], ["car"]]}
    found = semmetrics.score_systems(systems, refs, measures="Recall HammingLoss")
    shape = {"graded": True, "digits": 2, "systems": "columns"}
    latex = found.render("latex", **shape).split("\n")[4:6]
    assert [line.replace(r"\cellcolor[HTML]", "") for line in latex] == [
        r"Recall & {63BE7B}\textbf{1.00} & {B1D480}0.75 & {F8696B}0.00 \\",
        r"HammingLoss & {63BE7B}\textbf{0.00} & {A1D07F}0.10 & {F8696B}0.50 \\",
    ]
    html = found.render("html", **shape)
    assert (
        '<td style="text-align: right; background: #F8696B; color: black">0.00</td>'
        in html
    )
    assert html.count("<strong>") == 2
    assert "&lt;c&gt;" in html
    assert "| Recall | **1.00** | 0.75 | 0.00 |" in found.render("markdown", **shape)
    for form, bold in (("latex", "textbf"), ("markdown", "| **"), ("html", "<strong>")):
        plain = found.render(form)
        assert plain.count(bold) == 2
        assert "cellcolor" not in plain
        assert "background" not in plain
    alone = semmetrics.score(refs, refs, measures="Recall")
    assert alone.render("html", graded=True) == alone.render("html")
