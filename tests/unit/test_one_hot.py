"""Tables with a column for each label, from files: the same lists as from frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reading import refused_in
from refusals import codes

import semmetrics
from semmetrics import ReadOptions, as_labels

TABLE = pd.DataFrame(
    {
        "image_id": ["a", "b", "c"],
        "cat": [1, 0, 0],
        "big, dog": [0, 1, 0],
        "ox": [1, 1, 0],
    }
)
NAMES = ["cat", "big, dog", "ox"]
LISTS = [["cat", "ox"], ["big, dog", "ox"], []]
TRUE = {"a": ["cat"], "b": ["ox"], "c": []}
WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "csv.gz": lambda table, path: table.to_csv(path, index=False),
    "parquet": lambda table, path: table.to_parquet(path),
    "feather": lambda table, path: table.to_feather(path),
}


def saved(folder, table, ending):
    path = folder / f"table.{ending}"
    WRITERS[ending](table, path)
    return path


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("kind", [int, float, bool, "int8"])
@pytest.mark.parametrize("large", [False, True])
def test_cells_of_0_and_1_are_label_sets(tmp_path, monkeypatch, ending, kind, large):
    # of a packed file the beginning must be unpacked
    if large and not ending.endswith("gz"):
        monkeypatch.setattr("semmetrics.data.source.SMALL", 32)
    table = TABLE.astype(dict.fromkeys(NAMES, kind))
    path = saved(tmp_path, table, ending)
    got, frame = as_labels(path), as_labels(table)
    assert (got.to_list(), list(got.ids), got.side.scores) == (
        LISTS,
        ["a", "b", "c"],
        None,
    )
    assert got.to_list() == frame.to_list() == as_labels(pl.DataFrame(table)).to_list()
    assert (got.order, got.vocabulary) == (frame.order, frame.vocabulary)
    assert "one row an item, one column a label: id 'image_id'" in got.understood
    assert "0/1" in got.understood
    for side in (TRUE, path):
        scores = [
            [s.value for s in semmetrics.score(given, side, measures="F1 MacroF1 F1@1")]
            for given in (path, table, dict(zip("abc", LISTS, strict=True)))
        ]
        assert scores[0] == scores[1] == scores[2]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"width": [640, 1], "cat": [1, 0]}, "not-a-label-column"),
        ({"cat": [1, 0], "shift": [0, -0.5]}, "not-a-label-column"),
        ({"cat": [1, 0], "split": ["x", "y"]}, "not-a-label-column"),
        ({"cat": [1.0, None], "dog": [1, 0]}, None),  # an empty cell, or a null
        ({"score": [1, 0]}, "missing-column"),
        ({"score": [1, 0], "cat": [0, 1]}, "missing-column"),
    ],
)
def test_what_is_no_column_of_a_label_is_refused(tmp_path, ending, columns, code):
    path = saved(tmp_path, pd.DataFrame({"id": ["a", "b"], **columns}), ending)
    with refused_in(code) as caught:
        as_labels(path)
    if code != "missing-column":  # the column is named
        assert any(repr(name) in caught.value.where for name in columns)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("id,cat,dog\na,1,0\na,0,1\n", ("duplicate-at", "t.csv, line 3, id 'a'")),
        ("id,cat,dog\n,1,0\n", ("empty-id", "t.csv, line 2")),
        ("id,cat,cat\na,1,0\n", (None, "t.csv")),
        ("id,cat,dog\na,1\n", ("wrong-width", "t.csv, line 2")),
        (
            "id,cat,dog\na,1,yes\n",
            ("not-a-label-column", "t.csv, line 2, column 'dog', id 'a'"),
        ),
        ("id,cat,dog\n", ("nothing-given", "t.csv")),
        ("key,cat,dog\na,1,0\n", ("no-header", "t.csv, line 1")),
    ],
)
def test_bad_text(tmp_path, text, refusal):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with refused_in(*refusal):
        as_labels(path)


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        (
            {"id": ["", "b"], "cat": [1, 0], "dog": [0, 1]},
            "column 'id', row 0 (from 0)",
        ),
        (
            {"cat": [1, 0], "id": ["a", "b"], "dog": [0, None]},
            "row 1 (from 0), column 'dog', id 'b'",
        ),
        (
            {"cat": [1, 0], "id": ["a", "b"], "dog": [0, float("inf")]},
            "row 1 (from 0), column 'dog', id 'b'",
        ),
        ({"": [0, 1], "id": ["a", "b"], "cat": [1, 0]}, "column 0 (from 0)"),
    ],
)
def test_bad_cells_of_parquet_are_named(tmp_path, columns, place):
    table = pl.DataFrame(columns, strict=False)
    table.write_parquet(tmp_path / "t.parquet")
    with refused_in(None, f"t.parquet, {place}"):
        as_labels(tmp_path / "t.parquet")
    with refused_in(None, f"input, {place}"):
        as_labels(table)


@pytest.mark.parametrize(
    "roles", [("id", "label"), ("id", "score"), ("label", "score"), ("id", "caption")]
)
def test_no_column_has_two_roles(roles):
    with refused_in("one-column-two-roles"):
        ReadOptions(**{f"{role}_column": "x" for role in roles})
    assert ReadOptions(label_column="x", caption_column="x")


@pytest.mark.parametrize("ending", WRITERS)
def test_other_cells_up_to_1_are_scores(tmp_path, ending):
    table = TABLE.astype(dict.fromkeys(NAMES, float))
    table[NAMES] = np.array([[0.9, 0.25, 0.5], [0, 1, 1e-3], [0.125, 0.1, 0.2]])
    got, frame = as_labels(saved(tmp_path, table, ending)), as_labels(table)
    assert got.ranked
    assert "scores" in got.understood
    assert (
        got.side.scores.tolist()
        == frame.side.scores.tolist()
        == table[NAMES].values.ravel().tolist()
    )
    measures = "mAP F1(decode=threshold:0.4)"
    values = [
        [s.value for s in semmetrics.score(given, TRUE, measures=measures)]
        for given in (saved(tmp_path, table, ending), table)
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ['"y\nz"', "y\u2028z", "y\x0cz", '"y\r\nz"'])
def test_the_whole_header_says_what_columns_there_are(
    tmp_path, monkeypatch, name, large
):
    if large:
        monkeypatch.setattr("semmetrics.data.source.SMALL", 9)
    path = tmp_path / "t.csv"
    path.write_bytes(f"id,x,{name},label\na,1,0,ox\nb,0,0,cat\n".encode())
    assert as_labels(path).to_list() == [["ox"], ["cat"]]
    path.write_bytes(f"id,x,{name}\na,1,0\nb,0,1\n".encode())
    assert as_labels(path).to_list() == [["x"], [name.strip('"')]]


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", ["label", "Tag", "confidence"])
def test_a_class_may_be_called_as_labels_or_scores_are(
    tmp_path, monkeypatch, ending, large, name
):
    if large and not ending.endswith("gz"):
        monkeypatch.setattr("semmetrics.data.source.SMALL", 32)
    table = pd.DataFrame(
        {"image_id": [1, 2], name: [1, 0], "dog": [0, 1], "bus": [0, 1]}
    )
    wanted = [[name], ["dog", "bus"]]
    assert as_labels(saved(tmp_path, table, ending)).to_list() == wanted
    assert (
        as_labels(table).to_list() == as_labels(pl.DataFrame(table)).to_list() == wanted
    )


@pytest.mark.parametrize("name", ["label", "score"])
def test_scores_of_a_class_that_is_called_so(tmp_path, name):
    columns = {
        "id": ["a", "b"],
        name: [0.5, 0.25],
        "dog": [0.0, 1.0],
        "bus": [0.75, 0.0],
    }
    lists = as_labels(saved(tmp_path, pd.DataFrame(columns), "csv"))
    assert (lists.vocabulary, len(lists.side.scores)) == ([name, "dog", "bus"], 6)


def test_rows_or_columns_that_only_the_user_can_tell_apart(tmp_path):
    one_flag = saved(
        tmp_path, pd.DataFrame({"id": [1, 2], "label": [1, 0], "dog": [0, 1]}), "csv"
    )
    with refused_in("rows-or-columns") as caught:
        as_labels(one_flag)
    assert "label_column" in str(caught.value)
    assert as_labels(one_flag, options=ReadOptions(label_column="label")).to_list() == [
        ["1"],
        ["0"],
    ]
    repeated = tmp_path / "repeated.csv"
    repeated.write_text("id,label,dog,bus\n1,1,0,0\n1,0,1,1\n")
    with refused_in("rows-or-columns"):
        as_labels(repeated)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("id,label\na,1\nb,0\n", [["1"], ["0"]]),
        ("id,label,score\na,1,1\nb,0,1\n", [["1"], ["0"]]),
        ("id,label,x,y\na,1,0.25,0.5\nb,0,0.5,1\n", [["1"], ["0"]]),
        ("id,label,x,y\na,3,1,0\nb,0,0,1\n", [["3"], ["0"]]),
        ("id,label,x,y\na,cat,1,0\na,dog,0,1\n", [["cat", "dog"]]),
        ("id,label,x,y\na,,1,0\nb,0,0,1\n", [[], ["0"]]),
    ],
)
def test_tables_of_labels_stay_tables_of_labels(tmp_path, text, labels):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert as_labels(path).to_list() == labels


def flag_notes(pred, truth, **options):
    ids = {"id": ["a", "b"]}
    frames = [pd.DataFrame(ids | columns) for columns in (pred, truth)]
    found = codes(semmetrics.score(*frames, measures="F1", **options))
    return [code for code in found if code in ("one-sided-columns", "flag-columns")]


def test_columns_that_are_probably_no_labels_are_noted():
    labels = {"cat": [1, 0], "dog": [0, 1]}
    with_flag = {**labels, "is_valid": [1, 1]}
    assert flag_notes(labels, with_flag) == ["one-sided-columns"]
    assert flag_notes(with_flag, labels) == ["one-sided-columns"]
    scores = {"cat": [0.9, 0.2], "dog": [0.1, 0.6]}
    assert flag_notes(scores, with_flag, threshold=0.5) == ["one-sided-columns"]
    fold = {**labels, "fold": [0, 1]}
    assert flag_notes(fold, fold) == ["flag-columns"]


def test_columns_that_may_be_labels_are_not_noted():
    labels = {"cat": [1, 0], "dog": [0, 1]}
    assert flag_notes(labels, labels) == []
    assert flag_notes({**labels, "person": [1, 1]}, {**labels, "person": [1, 1]}) == []
    assert flag_notes({**labels, "train": [1, 1]}, {**labels, "train": [1, 0]}) == []
    assert flag_notes(labels, {**labels, "fold": [0, 1]}, ignore=["fold"]) == []
    assert (
        flag_notes(labels, {**labels, "bus": [0, 1]}, classes=["cat", "dog", "bus"])
        == []
    )
    assert flag_notes({"Cat": [1, 0], "dog": [0, 1]}, labels, normalize="lower") == []
