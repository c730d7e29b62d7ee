"""Lists and matrices are read from Python objects: tables, columns, arrays and tensors."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from reading import Read, codes, refused_in
from refusals import facts, refused

import semmetrics
from semmetrics import as_captions, as_labels

CLASSES = ["cat", "dog", "cow"]
LISTS = {"image_id": [7, 8], "labels": [["cat", "dog"], []]}


def items(data, **options):
    return Read(as_labels(data, **options)).items


def by_id(lists):
    return dict(zip(map(str, lists.ids), lists.to_list(), strict=True))


# ---- integers and 0/1 ---------------------------------------------------------------------------


CLASS_LABEL = SimpleNamespace(names=CLASSES, int2str=None)
"""A feature of a dataset of Hugging Face."""


@pytest.mark.parametrize("classes", [CLASSES, CLASS_LABEL], ids=["list", "ClassLabel"])
@pytest.mark.parametrize(
    "preds",
    [
        {"a": [2, 0], "b": [1]},
        {"a": np.array([2, 0]), "b": {1}},
        pd.DataFrame({"id": ["a", "a", "b"], "label": [2, 0, 1]}),
    ],
    ids=["lists", "array and set", "frame"],
)
def test_integers_are_positions_in_the_class_list(preds, classes):
    table = semmetrics.score(
        preds, {"a": [0], "b": [1]}, measures="F1", classes=classes
    )

    assert table["F1"].value == pytest.approx((2 / 3 + 1) / 2)
    assert len(facts(table, "numbers-as-places")) == 2


def test_integers_may_be_names_of_classes():
    assert items([[3]], classes=["1", "3"]) == [["3"]]


def test_integers_that_are_not_positions_raise_an_error():
    with refused("number-outside-classes", "input, item 0 (from 0)", value="3"):
        as_labels([[0, 3]], classes=CLASSES)
    with refused("number-as-label"):
        as_labels([[0, 3]])


@pytest.mark.parametrize(
    ("rows", "n_classes", "expected"),
    [
        ([[1, 0, 1], [0, 0, 0]], 3, [["cat", "cow"], []]),
        ([[1, 0], [1, 1]], 2, [["cat"], ["cat", "dog"]]),
    ],
)
def test_rows_that_can_only_be_0_and_1_are_a_matrix(rows, n_classes, expected):
    assert items(rows, classes=CLASSES[:n_classes]) == expected


@pytest.mark.parametrize(
    ("rows", "n_classes", "code"),
    [
        ([[1, 0], [0, 1]], 2, "ambiguous-rows"),
        ([[0], [0]], 1, "ambiguous-rows"),
        ([[1, 0, 1], []], 3, "wrong-count"),
        ([[0, 1], [1, 1]], 3, "wrong-count"),
    ],
)
def test_rows_of_0_and_1_that_may_be_positions_raise_an_error(rows, n_classes, code):
    with refused(code):
        as_labels(rows, classes=CLASSES[:n_classes])


# ---- arrays -------------------------------------------------------------------------------------


class Array:
    def __array__(self, dtype=None, copy=None):
        return np.eye(2)


class DLPack:
    def __dlpack__(self, **options):
        return np.eye(2).__dlpack__(**options)

    def __dlpack_device__(self):
        return np.eye(2).__dlpack_device__()


@pytest.mark.parametrize("data", [Array(), DLPack()], ids=["array", "dlpack"])
def test_an_object_may_be_an_array_by_its_protocol(data):
    assert items(data, classes=["cat", "dog"]) == [["cat"], ["dog"]]


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "bfloat16", "float64"])
def test_tensors_are_matrices(dtype):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    tensor = torch.eye(2).to(getattr(torch, dtype))

    assert items(tensor.requires_grad_(tensor.is_floating_point())) == [["0"], ["1"]]


def test_sparse_tensors_are_matrices():
    torch = pytest.importorskip("torch", reason="torch is not installed")

    assert items(torch.eye(2).to_sparse()) == [["0"], ["1"]]


# ---- tables -------------------------------------------------------------------------------------


class Stream:
    """An object that has only the Arrow C stream."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "make_table",
    [
        dict,
        pd.DataFrame,
        pa.table,
        lambda columns: Stream(pa.table(columns)),
        lambda columns: pa.table(columns).to_pylist(),
    ],
    ids=["columns", "pandas", "arrow", "stream", "records"],
)
def test_tables_have_a_list_per_row_or_a_caption_per_row(make_table):
    captions = {"image_id": [1, 1, 2], "caption": ["a cat", "the cat", ""]}

    assert by_id(as_labels(make_table(LISTS))) == {"7": ["cat", "dog"], "8": []}
    assert by_id(as_captions(make_table(captions))) == {
        "1": ["a cat", "the cat"],
        "2": [""],
    }


def test_a_dataset_of_hugging_face_is_a_table():
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = datasets.Dataset.from_dict(LISTS)

    assert by_id(as_labels(data.select([1]))) == {"8": []}


@pytest.mark.parametrize(
    ("labels", "names"),
    [([[2, 0], [1]], [["cow", "cat"], ["dog"]]), ([2, 1], [["cow"], ["dog"]])],
)
def test_the_class_labels_of_a_dataset_are_names(labels, names):
    dataset = SimpleNamespace(
        column_names=["id", "label"],
        features={"label": CLASS_LABEL},
        with_format=lambda _: pa.table({"id": ["a", "b"], "label": labels}),
    )

    assert as_labels(dataset).to_list() == names


def test_columns_of_several_types_are_one_matrix():
    frame = pd.DataFrame({"cat": [True, False], "dog": [0.5, 0.25]}, index=["a", "b"])

    assert items(frame)[0] == [("cat", 1.0), ("dog", 0.5)]
    assert codes(as_labels(frame.assign(item=[1, 2]))) == [("index-not-used", 0)]
    with refused("not-a-label-column"):
        as_labels(frame.assign(split="train"))


def test_a_dictionary_may_have_values_that_do_not_occur():
    values = pa.array(["x", "unused", "y"])
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 0]), values)

    lists = as_labels(pa.table({"id": ["a", "b"], "label": coded}))

    assert lists.vocabulary == ["y", "x"]
    assert lists.to_list() == [["y"], ["x"]]


@pytest.mark.parametrize("make_writer", [pa.ipc.new_stream, pa.ipc.new_file])
def test_arrow_files_are_read_and_damage_raises_an_error(tmp_path, make_writer):
    table = pa.table(LISTS)
    content = io.BytesIO()
    with make_writer(content, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    path = tmp_path / "gt.arrow"
    path.write_bytes(content.getvalue())

    assert by_id(as_labels(path)) == by_id(as_labels(table))

    path.write_bytes(content.getvalue()[: len(content.getvalue()) // 2])
    with refused_in("damaged", "gt.arrow"):
        as_labels(path)


# ---- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "code", "where"),
    [
        (
            {"id": ["a"], "labels": [["x", None]]},
            "no-entry",
            "gts, row 0, id 'a', label 1 (from 0)",
        ),
        (
            {"id": ["a"], "label": [{"x": 1}]},
            "wrong-column-type",
            "gts, column 'label'",
        ),
        ({"label": ["x"], "y": ["z"]}, "missing-column", "gts"),
    ],
)
def test_a_wrong_table_raises_an_error_that_names_the_place(columns, code, where):
    with refused_in(code, where):
        as_labels(pa.table(columns), source="gts")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"id": ["a", "b"], "label": ["x", 1]}),
        pd.DataFrame([["a", "x", 1]], columns=["id", "label", "label"]),
        pa.chunked_array([[1, 2]]),
        pa.table({"id": pa.array([b"\xff"]).view(pa.string()), "label": ["x"]}),
    ],
    ids=["types", "repeated", "array", "invalid UTF-8"],
)
def test_data_that_cannot_be_a_table_raise_an_error(data):
    with refused_in("not-a-table", "input"):
        as_labels(data)


def test_columns_without_ids_raise_an_error():
    with refused_in("missing-column"):
        as_labels({"labels": [["cat", "dog"], ["car"]]})


# ---- records of scores without ids ---------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {"cat": 0.9, "dog": 0.1},
        {"cat": 1, "dog": 0},
        {"cat": True},
        {7: np.float32(0.5)},
        {"cat": None, "dog": 0.1},
        {"tag": 0.9, "dog": 0.1},
    ],
)
def test_scores_without_ids_raise_an_error_with_the_layouts_that_are_accepted(record):
    with refused("scores-without-ids", "preds, element [0]") as caught:
        semmetrics.score([record, {"cat": 0.2}], [["cat"], ["dog"]])

    message = str(caught.value)
    assert "lists of (label, score) pairs" in message
    assert "{id: {label: score}}" in message


@pytest.mark.parametrize(
    "preds",
    [
        [[("cat", 0.9), ("dog", 0.1)], [("cat", 0.2)]],
        {0: {"cat": 0.9, "dog": 0.1}, 1: {"cat": 0.2}},
    ],
)
def test_the_layouts_that_the_error_proposes_are_accepted(preds):
    gts = {0: ["cat"], 1: ["dog"]}
    if isinstance(preds, list):
        gts = list(gts.values())

    assert semmetrics.score(preds, gts, measures="Recall@1")[0].value == 0.5


@pytest.mark.parametrize(
    ("record", "options"),
    [
        ({"cat": 0.9, "dog": "yes"}, {}),
        ({"Score": 0.9, "dog": 0.1}, {}),
        ({"id": 7, "dog": 0.1}, {}),
        ({"cat": None}, {}),
        ({"cat": 0.9}, {"id_column": "photo"}),
        ({}, {}),
    ],
    ids=["string", "score column", "id column", "nulls", "chosen column", "empty"],
)
def test_other_records_without_a_known_column_name_the_missing_column(record, options):
    with refused("missing-column"):
        semmetrics.score([record], [["cat"]], **options)
