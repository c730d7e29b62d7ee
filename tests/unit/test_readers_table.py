"""CSV and TSV."""

import csv
import gzip
import time

import pytest
from reading import read

import semmetrics
from semmetrics import ReadOptions, as_labels
from semmetrics.data.json_files import BlankLines
from semmetrics.data.side_inputs import as_pairs
from semmetrics.errors import InputError


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
    assert raw.notes == ["columns not used: 'run_date', 'api'"]


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
    assert raw.notes == ["1 id with rows that are not together; merged in file order"]
    assert raw.where(0).endswith("line 2, id 'a'")


@pytest.mark.parametrize("rows", ["a,\nb,x\n", "b,x\na,\n"])
def test_the_only_row_of_an_id_may_have_no_label(load, rows):
    raw = load("id,label\n" + rows)
    assert dict(zip(raw.ids, raw.items, strict=True)) == {"a": [], "b": ["x"]}
    assert raw.notes == ["1 item with an empty label cell: no labels"]
    scored = load("id,label,score\n" + rows.replace("x", "x,1").replace("a,", "a,,"))
    assert sorted(scored.items) == [[], [("x", 1.0)]]


def test_blank_lines_are_counted_and_final_ones_are_not(load):
    raw = load("id,label\na,x\n\n\nb,y\n\nc,z\n\n\n")
    assert raw.notes == ["3 blank lines between rows, the first is line 3"]
    assert raw.where(2).endswith("line 7, id 'c'")
    assert load("id,label\na,x\n\n\n").notes == []


def test_one_row_an_item(load):
    raw = load("id,labels\na,x|y\nb,\nc, z\n", label_delimiter="|")
    assert raw.items == [["x", "y"], [], [" z"]]
    assert raw.where(2).endswith("line 4, id 'c'")
    assert raw.notes == ["1 item with an empty label cell: no labels"]
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
        ("a,x\nb,y\n", r"gt\.csv, line 1: there is no id column: .*found 'a', 'x'; .*--id-column"),
        ("id,x\na,y\n", "there is no label column.*--label-column"),
        ("id,img_id,label\na,b,c\n", "2 columns could be the id: 'id', 'img_id'; .*--id-column"),
        ("id,label,class\na,b,c\n", "could be the label: 'label', 'class'; .*--label-column"),
        ("id,label,conf,prob\na,b,1,1\n", "could be the score.*--score-column"),
        ("id,label\n", "there are no items"),
        ("\nid,label\n", "line 1: the line is blank; begin with a header"),
        ("id,label\na,b\nc\n", "line 3: the row has 1 cell, the header 2; .*quote cells"),
        ("id,label\na,b\nc,d,e\n", "line 3: the row has 3 cells"),
        ("id,label\n,b\n", "line 2: the id is empty"),
        ("id,label\na,b\na,\n", "line 3, id 'a': the label is empty, and the id has 2 rows"),
        ("id,label\na,\na,\n", "line 2, id 'a': the label is empty"),
        ("id,label\na,b\nc,'d\n" + 'e,"f\n', "line 4: .*no valid CSV.*check its quotes"),
        ('id,label\na,"b" c\n', "line 2: .*no valid CSV"),
        ("id,label\na,b\0\n", "line 2: a NUL character"),
        ("id,label,score\na,b,x\n", "line 2, id 'a': the score 'x' is no finite number"),
        ("id,label,score\na,b,nan\n", "the score 'nan' is no finite number"),
        ("id,label,score\na,b,1\na,b,-inf\n", "line 3, id 'a': the score '-inf'"),
        ("id,label,score\na,b,1e999\n", "'1e999' is no finite number"),
        ("id,label,score\na,b,1_0\n", "'1_0' is no finite number"),
        ("id,label,score\na,b,\n", "line 2, id 'a': the score is empty; write the score as"),
        ("id,label,score\na,,1\n", "line 2, id 'a': a score stands beside an empty label"),
    ],
)
def test_bad_tables(load, text, match):
    with pytest.raises(InputError, match=match):
        load(text)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("id,labels\na,x\na,y\n", r"line 3, id 'a': the id is also in line 2; .*--label-delimiter"),
        ("id,labels\na,x||y\n", "line 2, id 'a': a label of the cell is empty; remove"),
        ("id,labels\n,x\n", "the id is empty"),
        ("id,labels,score\na,x|y,0.5\n", "line 2, id 'a': beside 2 labels there is 1 score"),
        ("id,labels,score\na,x|y,0.5|z\n", "the score 'z' is no finite number"),
    ],
)
def test_bad_rows_of_items(load, text, match):
    with pytest.raises(InputError, match=match):
        load(text, label_delimiter="|")


def test_chosen_columns_must_be_there_once(load):
    with pytest.raises(InputError, match=r"no score column: sought 'p', found .*--score-column"):
        load("id,label\na,x\n", score_column="p")
    with pytest.raises(InputError, match=r"2 columns could be the label.*rename one"):
        load("id,x,x\na,b,c\n", label_column="x")


def test_long_lines_and_cells(load):
    before = csv.field_size_limit()
    long = "x" * (before + 1)
    assert load(f"id,label\na,{long}\n").items == [[long]]
    with pytest.raises(InputError, match=r"gt\.csv, line 2: the line is longer than 99 bytes"):
        load(f"id,label\na,{long}\n", max_line_bytes=99)
    with pytest.raises(InputError, match=r"line 2: .*field larger than field limit.*--max-line"):
        load('id,label\na,"' + "x\n" * 99 + '"\n', max_line_bytes=99)
    text = f"id,label\na,{'é' * 60}\n"
    with pytest.raises(InputError, match="line 2: the line is longer than 99 bytes"):
        load(text, max_line_bytes=99)
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_runs_of_blank_lines_are_passed_over_and_counted(tmp_path, end):
    path = tmp_path / "gt.csv"
    quoted = f'b,"do{end}{end}{end}g"'  # blank lines within a cell are its text
    rows = ["id,label", "", "", "a,cat", *[""] * 700_000, quoted, "", "c,a,b"]
    path.write_bytes(end.join(rows).encode())
    with pytest.raises(InputError, match=f"line {700_000 + 10}: the row has 3 cells"):
        as_labels(path)
    path.write_bytes(end.join([*rows[:-1], "c,bus", *[""] * 99]).encode())
    found = as_labels(path)
    assert found.to_list() == [["cat"], [f"do{end}{end}{end}g"], ["bus"]]
    assert "700,003 blank lines between rows, the first is line 2" in found.notes
    assert found.where(2) == f"{path}, line {700_000 + 10}, id 'c'"


def test_blank_lines_are_not_looked_at_one_by_one(tmp_path, monkeypatch):
    seen = []
    whole = BlankLines.see
    monkeypatch.setattr(BlankLines, "see", lambda *given: (seen.append(given[1:]), whole(*given)))
    blank = "\n" * 3_000_000
    table, lines, pairs = tmp_path / "gt.csv", tmp_path / "gt.jsonl", tmp_path / "pairs.jsonl"
    table.write_text(f"id,label\na,cat\n{blank}b,dog\n{blank}")
    record = '{{"id": "{}", "labels": []}}\n'
    lines.write_text(f"{record.format('a')} {blank} \n\t\n{record.format('b')}{blank}  ")
    pair = '{"a": "x", "b": "y", "same": 1}\n'
    pairs.write_text(f"{pair}{blank}{pair}")
    assert as_labels(table).notes == ["3,000,000 blank lines between rows, the first is line 3"]
    found = as_labels(lines)
    assert found.notes == ["3,000,002 blank lines between records, the first is line 2"]
    assert found.where(1) == f"{lines}, line 3000004, id 'b'"
    assert len(as_pairs(pairs)) == 2
    assert len(seen) == 5


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
