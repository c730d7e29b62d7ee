"""Tables with a column for each label: the lists of data frames, from files of each format."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from reading import refused_in, saved
from refusals import codes, refused

import semmetrics
from semmetrics import ReadOptions, as_labels
from semmetrics.scale.stream import score_stream

NAMES = ["cat", "big, dog", "ox"]
CELLS = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 0]])
LISTS = [["cat", "ox"], ["big, dog", "ox"], []]
WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: frame.to_feather(path),
}


def frame_of(cells):
    """Return a data frame with ids and a column for each label."""
    frame = pd.DataFrame(cells, columns=NAMES)
    frame.insert(0, "image_id", ["a", "b", "c"])
    return frame


def save_frame(folder, frame, suffix="csv"):
    """Write a data frame in a format, and return the path."""
    path = folder / f"table.{suffix}"
    WRITERS[suffix](frame, path)
    return path


@pytest.fixture(params=[False, True], ids=["small", "large"])
def with_large_files(request, monkeypatch):
    """Read files as usual, or as files that are too large for memory."""
    if request.param:
        monkeypatch.setattr("semmetrics.data.source.MAX_SMALL_BYTES", 9)


@pytest.mark.usefixtures("with_large_files")
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("dtype", [int, float, bool, "int8"])
def test_cells_of_0_and_1_are_label_sets(tmp_path, suffix, dtype):
    frame = frame_of(CELLS.astype(dtype))

    lists = as_labels(save_frame(tmp_path, frame, suffix))

    assert lists.to_list() == LISTS
    assert list(lists.ids) == ["a", "b", "c"]
    assert lists.side.scores is None
    assert lists.vocabulary == as_labels(frame).vocabulary == NAMES
    assert "one row per item, one column per label: id 'image_id'" in lists.understood
    assert as_labels(pl.DataFrame(frame)).to_list() == LISTS


def test_a_table_has_the_values_of_label_lists(tmp_path):
    path = save_frame(tmp_path, frame_of(CELLS))
    lists = dict(zip("abc", LISTS, strict=True))
    truth = {"c": [], "a": ["cat"]}
    options = {"measures": "F1 MacroF1 F1@1", "missing": "skip"}

    table = semmetrics.score(path, truth, **options)

    expected = semmetrics.score(lists, truth, **options)
    assert [score.value for score in table] == [score.value for score in expected]


@pytest.mark.parametrize("suffix", WRITERS)
def test_other_cells_up_to_1_are_scores(tmp_path, suffix):
    scores = np.array([[0.9, 0.25, 0.5], [0, 1, 1e-3], [0.125, 0.1, 0.2]])

    matrix = as_labels(save_frame(tmp_path, frame_of(scores), suffix))

    assert matrix.ranked
    assert matrix.side.scores.tolist() == scores.ravel().tolist()
    assert "scores" in matrix.understood


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"cat": [1, 0], "shift": [0, -0.5]}, "not-a-label-column"),
        ({"cat": [1, 0], "split": ["x", "y"]}, "not-a-label-column"),
        ({"score": [1, 0], "cat": [0, 1]}, "missing-column"),
    ],
)
def test_columns_that_are_not_labels_are_an_error(tmp_path, suffix, columns, code):
    frame = pd.DataFrame({"id": ["a", "b"], **columns})

    with refused_in(code):
        as_labels(save_frame(tmp_path, frame, suffix))


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("id,cat,dog\na,1,0\na,0,1\n", "duplicate-row-at", ", line 3, id 'a'"),
        ("id,cat,dog\n,1,0\n", "empty-id", ", line 2"),
        ("id,cat,cat\na,1,0\n", "duplicate-column", ""),
        ("id,cat,dog\na,1\n", "wrong-width", ", line 2"),
        (
            "id,cat,dog\na,1,yes\n",
            "not-a-label-column",
            ", line 2, column 'dog', id 'a'",
        ),
        ("id,cat,dog\n", "nothing-given", ""),
        ("key,cat,dog\na,1,0\n", "no-header", ", line 1"),
    ],
)
def test_an_error_in_a_csv_table_names_the_place(tmp_path, text, code, place):
    path = saved(tmp_path, "t.csv", text)

    with refused_in(code, f"t.csv{place}"):
        as_labels(path)


@pytest.mark.parametrize("side", ["pred", "gt"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "frame", "polars", "stream"])
@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"image": list("xxy"), "annotation": ["cat", "dog", "cat"]}, "missing-column"),
        (
            {"image": list("xxy"), "annotation": ["cat"] * 3, "source": list("abc")},
            "not-a-label-column",
        ),
        ({"image": list("xxy"), "annotation": [1, 0, 1]}, "duplicate-row"),
    ],
)
def test_rows_of_labels_without_a_label_column_propose_to_name_it(
    tmp_path, suffix, side, columns, code
):
    table = pd.DataFrame(columns)
    score = semmetrics.score
    if suffix == "polars":
        table = pl.DataFrame(columns)
    elif suffix != "frame":
        extension = "csv" if suffix == "stream" else suffix
        table = str(save_frame(tmp_path, table, extension))
        if suffix == "stream":
            score = score_stream
    truth = str(saved(tmp_path, "other.csv", "image,label\nx,cat\ny,dog\n"))
    sides = (table, truth) if side == "pred" else (truth, table)
    if code == "duplicate-row" and suffix in ("csv", "stream"):
        code = "duplicate-row-at"

    with refused(code, flag=f"{side}_label_column"):
        score(*sides, measures="F1")


def test_repeated_ids_in_an_index_propose_to_name_the_label_column():
    frame = pd.DataFrame({"annotation": [1, 0]}, index=["x", "x"])

    with refused("duplicate-row", flag="pred_label_column"):
        semmetrics.score(frame, {"x": ["cat"]}, measures="F1")


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"id": ["", "b"], "cat": [1, 0]}, "column 'id', row 0 (from 0)"),
        ({"": [0, 1], "id": ["a", "b"], "cat": [1, 0]}, "column 0 (from 0)"),
        (
            {"id": ["a", "b"], "cat": [1, 0], "dog": [0, None]},
            "row 1 (from 0), column 'dog', id 'b'",
        ),
    ],
)
def test_an_error_in_a_frame_or_parquet_names_the_place(tmp_path, columns, place):
    frame = pl.DataFrame(columns, strict=False)
    frame.write_parquet(tmp_path / "t.parquet")

    with refused_in(None, f"t.parquet, {place}"):
        as_labels(tmp_path / "t.parquet")
    with refused_in(None, f"input, {place}"):
        as_labels(frame)


# Rows or columns of labels


@pytest.mark.usefixtures("with_large_files")
@pytest.mark.parametrize("name", ["y\nz", "y\u2028z", "y\x0cz", "y\r\nz"])
def test_a_header_with_a_line_break_is_read_completely(tmp_path, name):
    one_hot = saved(tmp_path, "a.csv", f'id,x,"{name}"\na,1,0\nb,0,1\n'.encode())
    rows = saved(tmp_path, "b.csv", f'id,x,"{name}",label\na,1,0,ox\n'.encode())

    assert as_labels(one_hot).to_list() == [["x"], [name]]
    assert as_labels(rows).to_list() == [["ox"]]


@pytest.mark.usefixtures("with_large_files")
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("name", ["label", "Tag", "confidence"])
def test_a_class_may_have_the_name_of_another_column(tmp_path, suffix, name):
    columns = {"image_id": [1, 2], name: [1, 0], "dog": [0, 1], "bus": [0, 1]}
    frame = pd.DataFrame(columns)

    lists = as_labels(save_frame(tmp_path, frame, suffix))

    assert lists.to_list() == [[name], ["dog", "bus"]]
    assert as_labels(frame).to_list() == [[name], ["dog", "bus"]]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("id,label\na,1\nb,0\n", [["1"], ["0"]]),
        ("id,label,score\na,1,1\nb,0,1\n", [["1"], ["0"]]),
        ("id,label,x,y\na,1,0.25,0.5\nb,0,0.5,1\n", [["1"], ["0"]]),
        ("id,label,x,y\na,cat,1,0\na,dog,0,1\n", [["cat", "dog"]]),
    ],
)
def test_a_table_with_a_label_in_each_row_is_not_one_hot(tmp_path, text, labels):
    assert as_labels(saved(tmp_path, "t.csv", text)).to_list() == labels


def test_a_table_that_may_have_rows_or_columns_of_labels_is_an_error(tmp_path):
    path = saved(tmp_path, "t.csv", "id,label,dog\n1,1,0\n2,0,1\n")
    repeated_ids = saved(tmp_path, "u.csv", "id,label,dog,bus\n1,1,0,0\n1,0,1,1\n")

    for ambiguous in (path, repeated_ids):
        with refused_in("rows-or-columns"):
            as_labels(ambiguous)

    options = ReadOptions(label_column="label")
    assert as_labels(path, options=options).to_list() == [["1"], ["0"]]


@pytest.mark.parametrize(
    "roles", [("id", "label"), ("id", "score"), ("label", "score"), ("id", "caption")]
)
def test_a_column_cannot_have_two_roles(roles):
    columns = {f"{role}_column": "x" for role in roles}

    with refused_in("one-column-two-roles"):
        ReadOptions(**columns)


# Notes on columns that are probably not labels

LABELS = {"cat": [1, 0], "dog": [0, 1]}
WITH_FLAG = {**LABELS, "is_valid": [1, 1]}
WITH_FOLD = {**LABELS, "fold": [0, 1]}


def column_notes(pred_columns, gt_columns, **options):
    """Return the codes of notes on the columns of two frames."""
    preds = pd.DataFrame({"id": ["a", "b"], **pred_columns})
    gts = pd.DataFrame({"id": ["a", "b"], **gt_columns})
    notes = codes(semmetrics.score(preds, gts, measures="F1", **options))
    return [code for code in notes if code in ("one-sided-columns", "flag-columns")]


def test_columns_of_one_side_are_noted():
    scores = {"cat": [0.9, 0.2], "dog": [0.1, 0.6]}

    assert column_notes(LABELS, WITH_FLAG) == ["one-sided-columns"]
    assert column_notes(WITH_FLAG, LABELS) == ["one-sided-columns"]
    assert column_notes(scores, WITH_FLAG, threshold=0.5) == ["one-sided-columns"]


def test_columns_with_the_name_of_a_flag_are_noted():
    assert column_notes(WITH_FOLD, WITH_FOLD) == ["flag-columns"]


@pytest.mark.parametrize(
    ("preds", "gts", "options"),
    [
        (LABELS, {"cat": [1, 0], "cow": [0, 1], "bus": [1, 0]}, {}),
        (LABELS, WITH_FOLD, {"ignore": ["fold"]}),
        (LABELS, {**LABELS, "bus": [0, 1]}, {"classes": ["cat", "dog", "bus"]}),
        ({"Cat": [1, 0], "dog": [0, 1]}, LABELS, {"normalize": "lower"}),
    ],
)
def test_columns_that_may_be_labels_are_not_noted(preds, gts, options):
    assert column_notes(preds, gts, **options) == []
