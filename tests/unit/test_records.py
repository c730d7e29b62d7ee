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
from semmetrics.reports.result import draw

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
    with refused("bad-choice", "records"):
        records.column("F2")
    with pytest.raises(TypeError):
        records[0] = {}


def test_columns_of_different_lengths_are_refused():
    with refused("wrong-count", "columns"):
        Records({"a": [1], "b": [1, 2]})


def test_rows_are_cut_into_columns():
    records = Records.from_rows(["id", "rank"], iter([{"rank": 1, "id": "a"}, {"id": "b"}]))
    assert list(records) == [{"id": "a", "rank": 1}, {"id": "b", "rank": None}]
    assert list(Records.from_rows(["id"], [])) == []
    assert Records.from_rows(["id"], []).to_csv() == "id\n"


def test_more_rows_than_are_made_at_once():
    values = np.arange(10_001) / 7
    records = Records({"n": range(10_001), "x": values})
    assert [row["x"] for row in records] == values.tolist()
    assert records.to_csv().count("\n") == 10_002


def test_forms():
    records = Records(COLUMNS)
    assert records.to_csv().splitlines() == [
        "id,rank,F1,WMD", "a,1,0.5,", '"b,c",,,0.0', "ü,3,0.3333333333333333,",
    ]  # fmt: skip
    assert json.loads(records.to_json()) == ROWS
    assert [json.loads(line) for line in records.to_jsonl().splitlines()] == ROWS
    assert "ü" in records.to_json()
    out = io.StringIO()
    records.write(out, "jsonl")
    assert out.getvalue() == records.to_jsonl()
    with refused("bad-choice"):
        records.write(out, "xml")


def test_lists_in_cells_are_json():
    records = Records({"id": ["a"], "true": [["cat", "dog"]]})
    assert records.to_csv() == 'id,true\na,"[""cat"", ""dog""]"\n'


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = Records(COLUMNS).to_pandas()
    assert frame.columns.tolist() == list(COLUMNS)
    assert frame["F1"].dtype == np.float64
    assert frame["F1"].isna().tolist() == [False, True, False]
    assert isinstance(Records({}).to_pandas(), pandas.DataFrame)
    table = Records(COLUMNS).to_arrow()
    assert table.to_pylist() == ROWS


def test_a_table_of_scores_is_records_too():
    table = semmetrics.score([["cat"], []], [["cat"], []], measures=["F1", "F1(empty=nan)"])
    rows = table.to_arrow().to_pylist()
    assert [row["heading"] for row in rows] == ["F1", "F1(empty=nan)"]
    assert rows[1]["value"] is None
    assert rows[1]["undefined"] == "empty=1"


def test_latex_escapes_what_means_something_else_in_text():
    drawn = Records({"a|b": ["<0.0001", "x_1 > 50%"]})
    text = draw([list(drawn.columns), *([row["a|b"]] for row in drawn)], "latex")
    assert r"a\textbar{}b" in text
    assert r"\textless{}0.0001" in text
    assert r"x\_1 \textgreater{} 50\%" in text
    assert not {"<", ">", "|"} & {*text}


def test_markdown_escapes_what_means_something_else_in_text():
    _, _, row = draw([["system", "p"], [r"a`|<img>[b](c)\`", "<0.1"]], "markdown").split("\n")
    assert row == r"| a\`\|&lt;img>[b]\(c)\\\` | &lt;0.1 |"


FORMULAS = ["=1+1", "+1+1", "-1+1|x!A1", "@SUM(A1)", " =1", "\t=1", "'=1", "=", '=HYPERLINK("x")']
TEXTS = ["", "-", "+", "-0.5", "+3", "-1e-05", "-1e+05", "-50%", "-inf", "-4wsuPCjDBc_5-15",
         "@user", "a=1", "'a", "3-4"]  # fmt: skip


def test_csv_runs_no_formula_and_keeps_numbers():
    table = Records({"text": FORMULAS + TEXTS, "-x()": [-0.5] * (len(FORMULAS) + len(TEXTS))})
    head, *rows = csv.reader(io.StringIO(table.to_csv()))
    assert head == ["text", "'-x()"]
    assert [text for text, _ in rows] == [f"'{text}" for text in FORMULAS] + TEXTS
    assert {number for _, number in rows} == {"-0.5"}
    assert [row["text"] for row in json.loads(table.to_json())] == FORMULAS + TEXTS
    assert draw([["a"], ["=1"], ["-0.5"]], "csv").split("\n") == ["a", "'=1", "-0.5"]
    lists = Records({"a": [["\x1b[2J", "=1", "\x7f\x9b"]]}).to_csv()
    assert lists.isascii()
    assert json.loads(list(csv.reader(io.StringIO(lists)))[1][0]) == ["\x1b[2J", "=1", "\x7f\x9b"]


def test_columns_of_names_stand_to_the_left():
    rows = [["measure", "system", "value", "p"], ["F1", "a 1", "0.5", "<0.0001"],
            ["F1", "b", "nan", ""]]  # fmt: skip
    assert draw(rows, "markdown").split("\n")[1] == "|---|---|---:|---:|"
    assert draw(rows, "latex").startswith(r"\begin{tabular}{llrr}")
    assert draw(rows[:1], "latex").startswith(r"\begin{tabular}{lrrr}")
