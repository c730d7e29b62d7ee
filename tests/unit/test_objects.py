"""Lists and matrices from frames, columns, tensors and Arrow streams."""

from __future__ import annotations

import io
import json
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import Read, codes, refused_in
from refusals import refused

import semmetrics
from semmetrics import as_captions, as_labels

LONG = {"id": ["a", "a", "b"], "label": ["cat", "dog", "cat"]}
WIDE = {"image_id": [7, 8], "labels": [["cat", "dog"], []]}


class Stream:
    """What speaks the Arrow C stream, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


KINDS = {
    "columns": dict,
    "pandas": pd.DataFrame,
    "arrow": pa.table,
    "stream": lambda columns: Stream(pa.table(columns)),
    "records": lambda columns: pa.table(columns).to_pylist(),
}


@pytest.mark.parametrize("kind", ["columns", "pandas", "arrow", "stream"])
def test_a_row_a_label(kind):
    got = as_labels(KINDS[kind](LONG), source="gts")
    assert (list(got.ids), got.to_list()) == (["a", "b"], [["cat", "dog"], ["cat"]])
    assert got.where(1) == "gts, row 2 (from 0), id 'b'"
    scored = as_labels(KINDS[kind]({**LONG, "score": [0.5, 1.0, 0.25]}))
    assert Read(scored).items == [[("cat", 0.5), ("dog", 1.0)], [("cat", 0.25)]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_a_row(kind):
    got = as_labels(KINDS[kind](WIDE))
    assert (list(got.ids), got.to_list()) == (["7", "8"], [["cat", "dog"], []])
    texts = {"image_id": [1, 1, 2], "caption": ["a cat", "the cat", ""]}
    got = as_captions(KINDS[kind](texts))
    assert (list(got.ids), got.to_list()) == (["1", "2"], [["a cat", "the cat"], [""]])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_labels_is_no_class_where_all_columns_have_a_role(kind):
    for columns in ({"id": [1, 2], "label": [3, 5]}, {"id": [1], "label": [3], "score": [0.5]}):
        with refused_in("wrong-column-type", "input, column 'label'"):
            as_labels(kind(columns))
    classes = kind({"id": ["a", "b"], "cat": [1, 0], "label": [0, 1]})  # classes by those names
    assert as_labels(classes).to_list() == [["cat"], ["label"]]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_without_numbers_among_classes_is_named(kind):
    with refused_in("not-a-label-column", "input, column 'file'"):
        as_labels(kind({"cat": [1, 0], "file": ["a", "b"]}))
    with refused_in("not-a-label-column", "input, column 'index'"):
        as_labels(kind({"index": ["a", "b"], "cat": [1, 0], "item": [1, 0]}))
    with refused_in("duplicate-id", "input, column 'item'"):
        as_labels(kind({"cat": [1, 0], "item": [1, 1]}))


def test_columns_of_several_types_are_one_matrix():
    frame = pd.DataFrame({"cat": [True, False], "dog": [0.5, 0.25]}, index=["a", "b"])
    assert Read(as_labels(frame)).items[0] == [("cat", 1.0), ("dog", 0.5)]
    assert codes(as_labels(frame.assign(item=[1, 2]))) == [("index-not-used", 0)]
    with refused("not-a-label-column"):
        as_labels(frame.assign(split="train"))


@pytest.mark.parametrize(("no", "yes"), [(0, 1), (0.0, 1.0), (False, True)])
def test_numbers_that_are_0_or_1_say_which_labels_an_item_has(tmp_path, no, yes):
    mapped = {"a": {"dog": yes, "cat": no, "ant": yes}, "b": {"cat": no}}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(mapped))
    records = [{"id": id_, "labels": labels} for id_, labels in mapped.items()]
    for given in (mapped, file, records, pd.Series(mapped)):
        got = as_labels(given)
        assert (got.to_list(), got.side.scores) == ([["dog", "ant"], []], None)
        assert "0/1" in got.understood
    table = semmetrics.score({"a": {"x": yes, "y": no}}, {"a": {"x": no, "y": yes}}, measures="F1")
    assert table["F1"].value == 0.0


def test_other_numbers_beside_0_and_1_are_scores_of_the_whole_side():
    got = as_labels({"a": {"cat": 1, "dog": 0}, "b": {"cat": 0.5}})
    assert Read(got).items == [[("cat", 1.0), ("dog", 0.0)], [("cat", 0.5)]]
    assert Read(as_labels({"a": {"cat": 1.0}})).items == [[("cat", 1.0)]]  # perhaps a sure score
    assert as_labels({"a": {"cat": True}}).side.scores is None
    scorer = semmetrics.Scorer(measures="F1")
    scorer.update({"a": {"cat": 1.0, "dog": 0.0}}, {"a": ["cat"]})
    scorer.update({"b": {"cat": 0.5}}, {"b": ["cat"]})  # so 0 was a score, too
    assert scorer.compute()[0].value == pytest.approx((2 / 3 + 1) / 2)
    scorer = semmetrics.Scorer(measures="F1", keep_rows=False)
    scorer.update({"a": {"cat": 1.0, "dog": 0.0}}, {"a": ["cat"]})
    scorer.compute()  # which lets the items go
    with refused_in("other-batch", "preds"):
        scorer.update({"b": {"cat": 0.5}}, {"b": ["cat"]})


ONES = {"1": {"cat": 1, "dog": 0, "ox": 1}, "2": {"cat": 0}, "3": {"dog": 1, "cat": 0}}
TRUE = {"1": ["cat"], "2": ["dog"], "3": ["dog"]}


def written(folder, kind):  # noqa: PLR0911, PLR0912
    """The same 0/1 scores in every format, long and with lists."""
    rows = [(id_, name, score) for id_, item in ONES.items() for name, score in item.items()]
    long = pd.DataFrame(rows, columns=["id", "label", "score"])
    records = [
        {"id": id_, "labels": list(item), "scores": [float(s) for s in item.values()]}
        for id_, item in ONES.items()
    ]
    path = folder / f"preds.{kind.rpartition(' ')[2]}"
    match kind:
        case "long csv" | "long tsv":
            long.to_csv(path, index=False, sep="\t" if "tsv" in kind else ",")
        case "cells csv":
            cells = [(r["id"], ";".join(r["labels"]), ";".join(map(str, r["scores"])))
                     for r in records]  # fmt: skip
            pd.DataFrame(cells, columns=["id", "labels", "scores"]).to_csv(path, index=False)
        case "long parquet":
            long.to_parquet(path)
        case "lists parquet":
            pd.DataFrame(records).rename(columns={"labels": "label"}).to_parquet(path)
        case "long feather":
            long.to_feather(path)
        case "jsonl":
            path.write_text("\n".join(map(json.dumps, records)))
        case "json":
            path.write_text(json.dumps(ONES))
        case "long frame":
            return long
        case "polars":
            return pl.DataFrame(long)
        case "columns":
            return {name: list(column) for name, column in long.items()}
        case "records":
            return records
        case "pairs":
            return {id_: list(item.items()) for id_, item in ONES.items()}
        case "entries":
            return {id_: [{"label": name, "score": s} for name, s in item.items()]
                    for id_, item in ONES.items()}  # fmt: skip
        case "series":
            return pd.Series(ONES)
    return path


@pytest.mark.parametrize("kind", [
    "long csv", "long tsv", "cells csv", "long parquet", "lists parquet", "long feather", "jsonl",
    "json", "long frame", "polars", "columns", "records", "pairs", "entries", "series",
])  # fmt: skip
@pytest.mark.parametrize("large", [False, True])
def test_0_and_1_mean_the_same_in_every_format(tmp_path, monkeypatch, kind, large):
    if large:
        monkeypatch.setattr("semmetrics.data.source.SMALL", 64)
    read = semmetrics.ReadOptions(label_delimiter=";" if kind == "cells csv" else None)
    given = written(tmp_path, kind)
    if kind == "lists parquet":
        read = semmetrics.ReadOptions(label_column="label")
    measures = ["F1", "MicroF1", "MacroF1", "F1@1", "SubsetAccuracy"]
    plain = {id_: [name for name, one in item.items() if one] for id_, item in ONES.items()}
    expected = semmetrics.score(plain, TRUE, measures=measures)
    table = semmetrics.score(given, TRUE, measures=measures, read=read)
    assert [s.value for s in table] == [s.value for s in expected]
    assert not any("whatever its score" in note for note in table.notes)
    assert "0/1" in table.understood[0]
    ref = {id_: list(item) for id_, item in ONES.items()}
    swapped = semmetrics.score(ref, given, measures=measures, read=read)  # of the ground truth, too
    assert [s.value for s in swapped] == [
        s.value for s in semmetrics.score(ref, plain, measures=measures)
    ]
    cut = semmetrics.score(given, TRUE, measures="F1", threshold=0.5, read=read)
    assert cut[0].value == expected[0].value
    none = semmetrics.score(given, TRUE, measures="F1", threshold=1.0, read=read)
    assert none[0].value == 0
    for measure in ("mAP", "F1(decode=threshold:best)", "F1(decode=threshold:-1)"):
        with refused("no-scores"):
            semmetrics.score(given, TRUE, measures=measure, read=read)


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_batches_of_0_and_1_are_those_of_one_call(order, merged, keep_rows):
    parts = [
        {"1": {"cat": 1, "dog": 0}}, {"2": {"cat": 1.0}}, {"3": {"cat": 0.0}},
        {"4": {"ox": 0, "cat": 1, "dog": 1}},
    ]  # fmt: skip
    gts = {"1": ["cat"], "2": ["dog"], "3": [], "4": ["cat", "ox"]}
    whole = {id_: item for place in order for id_, item in parts[place].items()}
    expected = semmetrics.score(whole, gts, measures="F1 MacroF1")
    scorers = [semmetrics.Scorer(measures="F1 MacroF1", keep_rows=keep_rows) for _ in range(2)]
    for number, place in enumerate(order):
        (id_,) = parts[place]
        scorers[merged and number > 1].update(parts[place], {id_: gts[id_]})
    found = (sum(scorers) if merged else scorers[0]).compute()
    assert [s.value for s in found] == pytest.approx([s.value for s in expected])


def test_records_and_scores_as_files_have_them():
    got = as_labels([{"id": 1, "labels": {"cat": 0.5}}, {"id": "b", "labels": []}])
    assert (list(got.ids), Read(got).items) == (["1", "b"], [[("cat", 0.5)], []])
    assert Read(as_labels({"a": {"cat": np.float32(0.5)}})).items == [[("cat", 0.5)]]
    with refused_in("duplicate-at", "preds, element [1], id '1'"):
        as_labels([{"id": 1, "labels": []}, {"id": "1", "labels": []}], source="preds")


def test_an_index_that_counts_is_the_id():
    frame = pd.DataFrame({"label": ["cat", "dog"]}, index=["a", "b"])
    assert list(as_labels(frame).ids) == ["a", "b"]
    filtered = pd.DataFrame(LONG).iloc[1:]
    assert list(as_labels(filtered).ids) == ["a", "b"]


def test_frames_of_numbers_are_matrices():
    table = pa.table({"id": ["a", "b"], "cat": [1, 0], "dog": [1, 1]})
    got = as_labels(table)
    assert (list(got.ids), got.to_list(), got.ranked) == (
        ["a", "b"],
        [["cat", "dog"], ["dog"]],
        False,
    )
    scores = as_labels(pa.table({"cat": [0.5, 0.25], "label": [0.5, 1.0]}))
    assert (scores.ids, scores.ranked) == (range(2), True)
    assert scores.vocabulary == ["cat", "label"]


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"id": ["a", ""], "label": ["x", "y"]}, ("empty-id", "gts, row 1 (from 0)")),
        (
            {"id": ["a", "a"], "labels": [["x"], []]},
            ("duplicate-at", "gts, row 1 (from 0), id 'a'"),
        ),
        ({"id": ["a", "b"], "labels": [["x"], None]}, ("null", "gts, row 1 (from 0), id 'b'")),
        (
            {"id": ["a"], "labels": [["x", None]]},
            ("wrong-type", "gts, row 0, id 'a', label 1 (from 0)"),
        ),
        ({"id": ["a"], "labels": [["x", " "]]}, ("empty", "gts, row 0, id 'a', label 1 (from 0)")),
        ({"id": ["a"], "label": [{"x": 1}]}, ("wrong-column-type", "gts, column 'label'")),
        ({"label": ["x"], "y": ["z"]}, ("missing-column", "gts")),
    ],
)
def test_tables_that_are_refused(columns, match):
    with refused_in(*match):
        as_labels(pa.table(columns), source="gts")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("columns", [LONG, WIDE])
def test_arrow_files(tmp_path, columns, stream):
    table, out = pa.table(columns), io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    path = tmp_path / "gt.arrow"
    path.write_bytes(out.getvalue())
    got = as_labels(path)
    expected = as_labels(table)
    assert (list(got.ids), got.to_list()) == (list(expected.ids), expected.to_list())
    assert got.understood.startswith("Arrow, one row a")
    path.write_bytes(out.getvalue()[: len(out.getvalue()) // 2])
    with refused_in("damaged", "gt.arrow"):
        as_labels(path)


def test_rows_of_an_id_that_are_apart():
    got = as_labels(pa.table({"id": [1, 2, 1], "label": ["x", "y", "z"]}))
    assert (list(got.ids), got.to_list()) == (["1", "2"], [["x", "z"], ["y"]])
    assert codes(got) == [("scattered-rows", 1)]


def test_dictionaries_may_hold_more_than_occurs():
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["x", "unused", "y"]))
    got = as_labels(pa.table({"id": ["a", "b"], "label": coded}))
    assert (got.vocabulary, got.to_list()) == (["y", "x"], [["y"], ["x"]])


class Array:
    def __array__(self, dtype=None, copy=None):
        return np.eye(2)


class DLPack:
    def __dlpack__(self, **options):
        return np.eye(2).__dlpack__(**options)

    def __dlpack_device__(self):
        return np.eye(2).__dlpack_device__()


@pytest.mark.parametrize("data", [Array(), DLPack()], ids=["array", "dlpack"])
def test_arrays_by_protocol(data):
    assert as_labels(data, classes=["cat", "dog"]).to_list() == [["cat"], ["dog"]]


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for dtype in (torch.bool, torch.int64, torch.float16, torch.bfloat16, torch.float64):
        got = as_labels(torch.eye(2).to(dtype).requires_grad_(dtype.is_floating_point))
        assert got.to_list() == [["0"], ["1"]]
    assert as_labels(torch.eye(2).to_sparse()).to_list() == [["0"], ["1"]]


def test_polars():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert as_labels(polars.DataFrame(LONG)).to_list() == [["cat", "dog"], ["cat"]]
    assert as_labels(polars.DataFrame(WIDE)).to_list() == [["cat", "dog"], []]
    assert as_labels(polars.Series([["cat"], []])).to_list() == [["cat"], []]
    hot = polars.DataFrame({"id": ["a"], "cat": [True], "dog": [False]})
    assert as_labels(hot).to_list() == [["cat"]]


def test_hugging_face():
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = datasets.Dataset.from_dict(WIDE)
    assert as_labels(data).to_list() == [["cat", "dog"], []]
    assert list(as_labels(data.select([1])).ids) == ["8"]


def test_a_stream_is_read_once():
    table = pa.table({"id": ["a", "b"], "label": ["x", "y"]})
    assert semmetrics.as_labels(table.to_reader()).to_list() == [["x"], ["y"]]
    found = semmetrics.score(table.to_reader(), table.to_reader(), measures=["F1"])
    assert found["F1"].value == 1


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"id": ["a", "b"], "label": ["x", 1]}),
        pd.DataFrame({"id": ["a", "b"], "labels": [["x"], "y"]}),
        pd.DataFrame([["a", "x", 1]], columns=["id", "label", "label"]),
        {"id": ["a", "b"], "label": ["x", 3]},
        pa.chunked_array([[1, 2]]),
        pa.table({"id": pa.array([b"\xff"]).view(pa.string()), "label": ["x"]}),
    ],
)
def test_what_is_no_table_is_refused(data):
    with refused_in("not-a-table", "input"):
        semmetrics.as_labels(data)


def test_options_of_reading_of_the_wrong_type():
    with refused("bad-option"):
        semmetrics.score([["a"]], [["a"]], measures=["F1"], read="csv")


@pytest.mark.parametrize("values", [{"a", "b"}, {"a": 1.0, "b": 0.5}])
def test_sets_and_mappings_are_no_columns(values):
    found = semmetrics.as_labels({"id": values, "label": values})
    assert list(found.ids) == ["id", "label"]


def by_id(found):
    return dict(zip(map(str, found.ids), found.to_list(), strict=True))


@pytest.mark.parametrize("ids", [["x", "y"], [3, 4]])
def test_a_column_of_ids_beside_classes_is_no_class(ids):
    frame = pd.DataFrame({"image_id": ids, "cat": [1, 0], "dog": [0, 1]})
    found = as_labels(frame)
    assert by_id(found) == {str(ids[0]): ["cat"], str(ids[1]): ["dog"]}
    assert by_id(as_labels(frame.set_index("image_id"))) == by_id(found)
    scores = pd.DataFrame({"item": ids, "cat": [0.9, 0.1]})
    truth = {str(ids[0]): ["cat"], str(ids[1]): []}
    (score,) = semmetrics.score(scores, truth, measures=["SubsetAccuracy"], decode="threshold:0.5")
    assert score.value == 1


def test_columns_are_the_same_in_a_file_and_in_python(tmp_path):
    for columns in (LONG, WIDE):
        path = tmp_path / "columns.json"
        path.write_text(json.dumps(columns))
        assert by_id(as_labels(path)) == by_id(as_labels(columns))


def test_columns_without_ids_are_refused(tmp_path):
    columns = {"labels": [["cat", "dog"], ["car"]]}
    path = tmp_path / "columns.json"
    path.write_text(json.dumps(columns))
    for data in (columns, path):
        with refused_in("missing-column"):
            as_labels(data)
    assert by_id(as_labels({"labels": ["cat", "dog"]})) == {"labels": ["cat", "dog"]}


def test_options_of_cells_are_said_to_mean_nothing_in_memory():
    options = semmetrics.ReadOptions(label_delimiter=";")
    found = as_labels(pd.DataFrame({"id": ["a"], "label": ["cat;dog"]}), options=options)
    assert codes(found) == [("unused-options", 1, "label_delimiter")]


def test_booleans_of_numpy_say_which_labels_an_item_has():
    yes, no = np.bool_(True), np.bool_(False)
    for given in ({"a": {"cat": yes, "dog": no}}, {"a": {"cat": yes, "dog": 0}}):
        got = as_labels(given)
        assert (got.to_list(), got.order) == ([["cat"]], "keys")
    with refused_in("not-a-number", "input, id 'a'"):
        as_labels({"a": {"cat": yes, "dog": 0.5}})
