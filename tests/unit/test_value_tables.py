"""Tables of published values: forms, cells as papers print them, and wrong tables."""

import pandas as pd
import pytest
from refusals import refused
from tables import write_table

from semmetrics.studies import compare_values, read_values

VALUES = {"SUN": {"A": 0.7, "B": 0.6}, "CUB": {"A": 0.8, "B": 0.9}, "aPY": {"A": 0.4}}
WIDE = [{"data": row, **values} for row, values in VALUES.items()]
LONG = [
    {"dataset": "SUN", "system": "A", "value": 0.7},
    {"dataset": "SUN", "system": "B", "value": 0.6},
    {"dataset": "CUB", "system": "A", "value": 0.8},
    {"dataset": "CUB", "system": "B", "value": 0.9},
    {"dataset": "aPY", "system": "A", "value": 0.4},
]


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.json", "v.jsonl"])
@pytest.mark.parametrize("rows", [WIDE, LONG], ids=["wide", "long"])
def test_a_table_is_read_from_a_file(tmp_path, name, rows):
    assert read_values(write_table(tmp_path / name, rows)) == VALUES


@pytest.mark.parametrize("table", [VALUES, pd.DataFrame(WIDE), pd.DataFrame(LONG)])
def test_a_table_is_read_from_an_object(table):
    assert read_values(table) == VALUES


@pytest.mark.parametrize("cell", ["86.4 (0.2)", "86.4 ± 0.2", "86.40", "86.4(0.2)"])
def test_a_cell_may_have_a_deviation_after_the_mean(tmp_path, cell):
    path = tmp_path / "v.csv"
    path.write_text(f"data,A,B\nx,{cell},-\n")

    assert read_values(path) == {"x": {"A": 86.4}}


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ([*LONG, LONG[0]], "duplicate"),
        ([{"data": "SUN", "A": 1e200, "B": 0.1}], "not-finite"),
        ([{"data": "SUN", "A": "high"}], "not-a-number"),
        (["SUN"], "wrong-type"),
    ],
)
def test_wrong_rows_are_an_error(tmp_path, rows, code):
    path = write_table(tmp_path / "v.json", rows)

    with refused(code):
        read_values(path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model,COCO,VOC\nours,0.5,0.6", "wrong-content"),
        ("data,seed,A\nx,1,0.5", "wrong-content"),
        ("A,B,seed\n0,0.1,1", "wrong-content"),
        ("A,B\n0.5,86.4 (0.2)\n", "wrong-content"),
        ("x,0.5,0.6\ny,0.1,0.2", "wrong-content"),
        ("data,A,B,A\nx,1,2,3\n", "duplicate"),
    ],
    ids=["transposed", "two names", "no names", "no datasets", "no header", "twice"],
)
def test_tables_of_another_form_are_an_error(tmp_path, text, code):
    path = tmp_path / "v.csv"
    path.write_text(text)

    with refused(code):
        read_values(path)


@pytest.mark.parametrize("name", ["Average", "mean", "AVG"])
def test_a_row_of_means_is_an_error(name):
    values = {"d1": {"A": 0.5, "B": 0.6}, name: {"A": 0.45, "B": 0.55}}

    with refused("summary", what="row", name=name):
        compare_values(values)


@pytest.mark.parametrize("name", ["A_std", "mean", "n"])
def test_a_column_of_means_or_deviations_is_an_error(name):
    values = {"d1": {"A": 0.5, "B": 0.6, name: 0.1}, "d2": {"A": 0.4, "B": 0.5}}

    with refused("summary", what="column", name=name):
        compare_values(values)
