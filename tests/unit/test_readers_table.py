"""CSV and TSV."""

import csv
import gzip
import time

import pytest
from reading import codes, read, refused_in

import semmetrics
from semmetrics import ReadOptions, as_labels
from semmetrics.errors import Fact


@pytest.fixture
def load(tmp_path):
    def reader(text, name="gt.csv", **options):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        return read(path, ReadOptions(**options))

    return reader


@pytest.mark.parametrize("name", ["gt.csv", "gt.csv.gz"])
def test_one_row_a_label(load, name):
    raw = load("img_id,names\na,cat\na,dog\n b ,cat\n", name)
    assert raw.ids == ["a", " b "]
    assert raw.items == [["cat", "dog"], ["cat"]]
    assert raw.where(1).endswith(f"{name}, line 4, id ' b '")
    assert raw.understood.startswith("CSV, one row a label: id 'img_id', label 'names'")
    assert raw.notes == []


def test_scores_and_other_columns(load):
    raw = load("img_id,label,conf_level,run_date,api\r\na,cat,0.5,1,x\r\na,dog,1e-3,1,x\r\n")
    assert raw.items == [[("cat", 0.5), ("dog", 0.001)]]
    assert codes(raw) == [("unused-columns", 2, "run_date", "api")]


@pytest.mark.parametrize(
    "id_", ["id", "image_id", "IMG_ID", "image", "img", "item", "item_id", "FileName"]
)
@pytest.mark.parametrize(
    "label", ["label", "labels", "name", "names", "Class", "category", "tag", "tags"]
)
def test_known_columns(load, id_, label):
    raw = load(f"{label},{id_}\ncat,a\n")
    assert (raw.ids, raw.items) == (["a"], [["cat"]])


def test_columns_by_option(load):
    text = "id,key,label,name,p\n1,a,cat,dog,0.5\n"
    raw = load(text, id_column="key", label_column="name", score_column="p")
    assert (raw.ids, raw.items) == (["a"], [[("dog", 0.5)]])
    # A column that was given a role is no candidate for another one.
    assert load("name,label\na,cat\n", id_column="name").items == [["cat"]]


def test_tsv_and_delimiters(load):
    assert load("id\tlabel\na\tx,y\n", "gt.tsv").items == [["x,y"]]
    assert load("id;label\na;x,y\n", delimiter=";").items == [["x,y"]]


def test_quotes_and_lines_in_cells(load):
    raw = load('id,label\na,"x\n""y"", z"\nb,w\n')
    assert raw.items == [['x\n"y", z'], ["w"]]
    assert raw.where(1).endswith("line 4, id 'b'")


def test_rows_of_an_id_that_are_apart_are_merged_and_noted(load):
    raw = load("id,label\na,x\nb,y\na,z\n")
    assert raw.items == [["x", "z"], ["y"]]
    assert codes(raw) == [("scattered-rows", 1)]
    assert raw.where(0).endswith("line 2, id 'a'")


@pytest.mark.parametrize("rows", ["a,\nb,x\n", "b,x\na,\n"])
def test_the_only_row_of_an_id_may_have_no_label(load, rows):
    raw = load("id,label\n" + rows)
    assert dict(zip(raw.ids, raw.items, strict=True)) == {"a": [], "b": ["x"]}
    assert codes(raw) == [("empty-cells", 1)]
    scored = load("id,label,score\n" + rows.replace("x", "x,1").replace("a,", "a,,"))
    assert sorted(scored.items) == [[], [("x", 1.0)]]


def test_blank_lines_are_counted_and_final_ones_are_not(load):
    raw = load("id,label\na,x\n\n\nb,y\n\nc,z\n\n\n")
    assert raw.notes == [Fact("blank-lines", 3, values={"between": "rows", "first": 3})]
    assert raw.where(2).endswith("line 7, id 'c'")
    assert load("id,label\na,x\n\n\n").notes == []


def test_one_row_an_item(load):
    raw = load("id,labels\na,x|y\nb,\nc, z\n", label_delimiter="|")
    assert raw.items == [["x", "y"], [], [" z"]]
    assert raw.where(2).endswith("line 4, id 'c'")
    assert codes(raw) == [("empty-cells", 1)]
    assert raw.understood.startswith("CSV, one row an item")
    assert raw.understood.endswith(", split at '|' in 1 of 3 rows")
    raw = load("id,labels,scores\na,x|y,0.5|1\nb,,\n", label_delimiter="|")
    assert raw.items == [[("x", 0.5), ("y", 1.0)], []]


def test_a_list_of_labels_is_not_split_by_a_guess(load):
    assert load("id,labels\na,x|y\n").items == [["x|y"]]


def test_many_rows(load):
    rows = "".join(f"i{i // 3},l{i % 7},0.{i % 10}\n" for i in range(60_000))
    raw = load("id,label,score\n" + rows)
    assert len(raw.ids) == 20_000
    assert raw.items[-1] == [("l0", 0.7), ("l1", 0.8), ("l2", 0.9)]
    assert raw.where(19_999).endswith("line 59999, id 'i19999'")
    assert raw.notes == []


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a,x\nb,y\n", ("missing-column", "gt.csv, line 1")),
        ("id,x\na,y\n", ("missing-column", "gt.csv, line 1")),
        ("id,img_id,label\na,b,c\n", ("ambiguous-column", "gt.csv, line 1")),
        ("id,label,class\na,b,c\n", ("ambiguous-column", "gt.csv, line 1")),
        ("id,label,conf,prob\na,b,1,1\n", ("ambiguous-column", "gt.csv, line 1")),
        ("id,label\n", ("nothing-given", "gt.csv")),
        ("\nid,label\n", ("empty", "gt.csv, line 1")),
        ("id,label\na,b\nc\n", ("wrong-width", "gt.csv, line 3")),
        ("id,label\na,b\nc,d,e\n", ("wrong-width", "gt.csv, line 3")),
        ("id,label\n,b\n", ("empty-id", "gt.csv, line 2")),
        ("id,label\na,b\na,\n", ("empty-cell", "gt.csv, line 3, id 'a'")),
        ("id,label\na,\na,\n", ("empty-cell", "gt.csv, line 2, id 'a'")),
        ("id,label\na,b\nc,'d\n" + 'e,"f\n', ("not-csv", "gt.csv, line 4")),
        ('id,label\na,"b" c\n', ("not-csv", "gt.csv, line 2")),
        ("id,label\na,b\0\n", ("bad-character", "gt.csv, line 2")),
        ("id,label,score\na,b,x\n", ("not-finite", "gt.csv, line 2, id 'a'")),
        ("id,label,score\na,b,nan\n", ("not-finite", "gt.csv, line 2, id 'a'")),
        ("id,label,score\na,b,1\na,b,-inf\n", ("not-finite", "gt.csv, line 3, id 'a'")),
        ("id,label,score\na,b,1e999\n", ("not-finite", "gt.csv, line 2, id 'a'")),
        ("id,label,score\na,b,1_0\n", ("not-finite", "gt.csv, line 2, id 'a'")),
        ("id,label,score\na,b,\n", ("empty", "gt.csv, line 2, id 'a'")),
        ("id,label,score\na,,1\n", ("score-alone", "gt.csv, line 2, id 'a'")),
    ],
)
def test_bad_tables(load, text, match):
    with refused_in(*match):
        load(text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("id,labels\na,x\na,y\n", ("duplicate-at", "gt.csv, line 3, id 'a'")),
        ("id,labels\na,x||y\n", ("empty", "gt.csv, line 2, id 'a'")),
        ("id,labels\n,x\n", ("empty-id", "gt.csv, line 2, id ''")),
        ("id,labels,score\na,x|y,0.5\n", ("wrong-count", "gt.csv, line 2, id 'a'")),
        ("id,labels,score\na,x|y,0.5|z\n", ("not-finite", "gt.csv, line 2, id 'a'")),
    ],
)
def test_bad_rows_of_items(load, text, match):
    with refused_in(*match):
        load(text, label_delimiter="|")


def test_chosen_columns_must_be_there_once(load):
    with refused_in("missing-column", "gt.csv, line 1"):
        load("id,label\na,x\n", score_column="p")
    with refused_in("ambiguous-column", "gt.csv, line 1"):
        load("id,x,x\na,b,c\n", label_column="x")


def test_long_lines_and_cells(load):
    before = csv.field_size_limit()
    long = "x" * (before + 1)
    assert load(f"id,label\na,{long}\n").items == [[long]]
    with refused_in("line-too-long", "gt.csv, line 2"):
        load(f"id,label\na,{long}\n", max_line_bytes=99)
    with refused_in("not-csv", "gt.csv, line 2"):
        load('id,label\na,"' + "x\n" * 99 + '"\n', max_line_bytes=99)
    text = f"id,label\na,{'é' * 60}\n"
    with refused_in("line-too-long", "gt.csv, line 2"):
        load(text, max_line_bytes=99)
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_runs_of_blank_lines_are_passed_over_and_counted(tmp_path, end):
    path = tmp_path / "gt.csv"
    quoted = f'b,"do{end}{end}{end}g"'  # blank lines within a cell are its text
    rows = ["id,label", "", "", "a,cat", *[""] * 700_000, quoted, "", "c,a,b"]
    path.write_bytes(end.join(rows).encode())
    with refused_in("wrong-width", "gt.csv, line 700010"):
        as_labels(path)
    path.write_bytes(end.join([*rows[:-1], "c,bus", *[""] * 99]).encode())
    found = as_labels(path)
    assert found.to_list() == [["cat"], [f"do{end}{end}{end}g"], ["bus"]]
    assert Fact("blank-lines", 700_003, values={"between": "rows", "first": 2}) in found.notes
    assert found.where(2) == f"{path}, line {700_000 + 10}, id 'c'"


@pytest.mark.parametrize("size", [2**21, 16])
def test_how_many_cells_were_split_is_said(tmp_path, monkeypatch, size):
    monkeypatch.setattr("semmetrics.data.source.SMALL", size)
    preds, gts = tmp_path / "p.csv", tmp_path / "g.csv"
    preds.write_text("id,labels\na,cat,dog\n".replace("cat,dog", '"cat,dog"') + "b,ox\nc,\n")
    gts.write_text('id,labels\na,cat\nb,"ox, wild"\nc,ox\n')
    split = ReadOptions(label_delimiter=",")
    table = semmetrics.score(preds, gts, measures="F1", read=split)
    assert all(", split at ',' in 1 of 3 rows: 3 items" in text for text in table.understood)
    whole = semmetrics.score(as_labels(preds, options=split), gts, measures="F1")
    assert ["split at" in text for text in whole.understood] == [True, False]
    gts.write_text("id,labels\na,cat\nb,ox\nc,ox\n")
    assert as_labels(gts, options=split).understood.endswith("split at ',' in 0 of 3 rows")


@pytest.mark.parametrize("place", [0, 50_000])
def test_one_quote_in_a_large_table_takes_no_longer(tmp_path, place):
    path = tmp_path / "gt.csv"
    rows = [f"{number},{'a label that makes a row long ' * 2}" for number in range(100_000)]
    rows[place] = f'{place},a 12" pizza'
    path.write_text("\n".join(["id,label", *rows]))
    began = time.monotonic()
    found = as_labels(path)
    assert (
        time.monotonic() - began < 10
    )  # half a minute, where quotes are counted again for each line
    assert found.to_list()[place] == ['a 12" pizza']
    assert len(found) == 100_000
