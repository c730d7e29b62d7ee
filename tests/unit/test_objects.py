"""Lists and matrices from frames, columns, tensors and Arrow streams."""

from __future__ import annotations

import io
import json
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from reading import Read, codes, refused_in
from refusals import facts, refused

import semmetrics
from semmetrics import as_captions, as_labels

LONG = {"id": ["a", "a", "b"], "label": ["cat", "dog", "cat"]}
WIDE = {"image_id": [7, 8], "labels": [["cat", "dog"], []]}


CLASSES = ["cat", "dog", "cow"]


CLASS_LABEL = SimpleNamespace(names=CLASSES, int2str=None)  # as Hugging Face has it


def dataset(labels):
    return SimpleNamespace(
        column_names=["id", "label"],
        features={"label": CLASS_LABEL},
        with_format=lambda _: pa.table({"id": ["a", "b"], "label": labels}),
    )


@pytest.mark.parametrize("classes", [CLASSES, CLASS_LABEL])
def test_whole_numbers_are_places_in_the_class_list(tmp_path, classes):
    path = tmp_path / "preds.json"
    path.write_text('{"a": [2, 0], "b": [1]}')
    frame, truth = (
        pd.DataFrame({"id": ["a", "a", "b"], "label": [2, 0, 1]}),
        {"a": [0], "b": [1]},
    )
    for preds in (
        path,
        {"a": [2, 0], "b": [1]},
        {"a": np.array([2, 0]), "b": {1}},
        frame,
    ):
        found = semmetrics.score(preds, truth, measures="F1", classes=classes)
        assert found["F1"].value == pytest.approx((2 / 3 + 1) / 2)
        assert len(facts(found, "numbers-as-places")) == 2
    assert as_labels([[3]], classes=["1", "3"]).vocabulary == ["3"]
    with refused("number-outside-classes", "input, item 0 (from 0)", value="3"):
        as_labels([[0, 3]], classes=CLASSES)
    with refused("number-as-label"):
        as_labels([[0, 3]])


def test_rows_of_0_and_1_are_a_matrix_where_they_can_be_nothing_else():
    assert Read(as_labels([[1, 0, 1], [0, 0, 0]], classes=CLASSES)).items == [
        ["cat", "cow"],
        [],
    ]
    assert Read(as_labels([[1, 0], [1, 1]], classes=CLASSES[:2])).items == [
        ["cat"],
        ["cat", "dog"],
    ]
    for code, rows, width in (
        ("ambiguous-rows", [[1, 0], [0, 1]], 2),
        ("ambiguous-rows", [[0], [0]], 1),
        ("wrong-count", [[1, 0, 1], []], 3),
        ("wrong-count", [[0, 1], [1, 1]], 3),  # 1 twice
    ):
        with refused(code):
            as_labels(rows, classes=CLASSES[:width])


def test_class_labels_of_data_sets_are_names():
    assert as_labels(dataset([[2, 0], [1]])).to_list() == [["cow", "cat"], ["dog"]]
    found = semmetrics.score(
        {"a": "cow", "b": "cat"}, dataset([2, 1]), measures="Accuracy"
    )
    assert found["accuracy"].value == 0.5


def test_columns_of_several_types_are_one_matrix():
    frame = pd.DataFrame({"cat": [True, False], "dog": [0.5, 0.25]}, index=["a", "b"])
    assert Read(as_labels(frame)).items[0] == [("cat", 1.0), ("dog", 0.5)]
    assert codes(as_labels(frame.assign(item=[1, 2]))) == [("index-not-used", 0)]
    with refused("not-a-label-column"):
        as_labels(frame.assign(split="train"))


def test_other_numbers_beside_0_and_1_are_scores_of_the_whole_side():
    got = as_labels({"a": {"cat": 1, "dog": 0}, "b": {"cat": 0.5}})
    assert Read(got).items == [[("cat", 1.0), ("dog", 0.0)], [("cat", 0.5)]]
    # perhaps a sure score
    assert Read(as_labels({"a": {"cat": 1.0}})).items == [[("cat", 1.0)]]
    assert as_labels({"a": {"cat": True}}).side.scores is None


@pytest.mark.parametrize("keep_rows", [True, False])
def test_scores_after_a_batch_of_0_and_1_are_refused(keep_rows):
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update({"a": {"cat": 1.0, "dog": 0.0}}, {"a": ["cat"]})
    with refused_in("other-scores", "preds, id 'b'"):
        scorer.update({"b": {"cat": 0.5}}, {"b": ["cat"]})


@pytest.mark.parametrize("keep_rows", [True, False])
def test_zeros_after_a_batch_of_only_1_are_refused_without_the_option(keep_rows):
    batches = [({"a": {"cat": 1}}, {"a": ["cat"]}), ({"b": {"ox": 0}}, {"b": []})]
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update(*batches[0])
    with refused_in("other-scores", "preds, id 'b'"):
        scorer.update(*batches[1])


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_batches_of_0_and_1_are_those_of_one_call(order, merged, keep_rows):
    parts = [
        {"1": {"cat": 1, "dog": 0}},
        {"2": {"cat": 1.0}},
        {"3": {"cat": 0.0}},
        {"4": {"ox": 0, "cat": 1, "dog": 1}},
    ]
    gts = {"1": ["cat"], "2": ["dog"], "3": [], "4": ["cat", "ox"]}
    whole = {id_: item for place in order for id_, item in parts[place].items()}
    options = {"measures": "F1 MacroF1", "scores": "members"}
    expected = semmetrics.score(whole, gts, **options)
    scorers = [semmetrics.Scorer(keep_rows=keep_rows, **options) for _ in range(2)]
    for number, place in enumerate(order):
        (id_,) = parts[place]
        scorers[merged and number > 1].update(parts[place], {id_: gts[id_]})
    found = (sum(scorers) if merged else scorers[0]).compute()
    assert [s.value for s in found] == pytest.approx([s.value for s in expected])


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (
            {"id": ["a"], "labels": [["x", None]]},
            ("no-entry", "gts, row 0, id 'a', label 1 (from 0)"),
        ),
        (
            {"id": ["a"], "labels": [["x", " "]]},
            ("empty", "gts, row 0, id 'a', label 1 (from 0)"),
        ),
        (
            {"id": ["a"], "label": [{"x": 1}]},
            ("wrong-column-type", "gts, column 'label'"),
        ),
        ({"label": ["x"], "y": ["z"]}, ("missing-column", "gts")),
    ],
)
def test_tables_that_are_refused(columns, match):
    with refused_in(*match):
        as_labels(pa.table(columns), source="gts")


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
    for dtype in (
        torch.bool,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float64,
    ):
        got = as_labels(torch.eye(2).to(dtype).requires_grad_(dtype.is_floating_point))
        assert got.to_list() == [["0"], ["1"]]
    assert as_labels(torch.eye(2).to_sparse()).to_list() == [["0"], ["1"]]


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


def by_id(found):
    return dict(zip(map(str, found.ids), found.to_list(), strict=True))


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


def test_dictionaries_may_hold_more_than_occurs():
    coded = pa.DictionaryArray.from_arrays(
        pa.array([2, 0]), pa.array(["x", "unused", "y"])
    )
    got = as_labels(pa.table({"id": ["a", "b"], "label": coded}))
    assert (got.vocabulary, got.to_list()) == (["y", "x"], [["y"], ["x"]])


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_a_row(kind):
    got = as_labels(KINDS[kind](WIDE))
    assert (list(got.ids), got.to_list()) == (["7", "8"], [["cat", "dog"], []])
    texts = {"image_id": [1, 1, 2], "caption": ["a cat", "the cat", ""]}
    got = as_captions(KINDS[kind](texts))
    assert (list(got.ids), got.to_list()) == (["1", "2"], [["a cat", "the cat"], [""]])


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
