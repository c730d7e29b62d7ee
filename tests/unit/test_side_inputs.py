"""Class lists, numbers by id, matrices, and weights from files and data frames."""

import io
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading import saved
from refusals import refused

import semmetrics
from semmetrics.data.side_inputs import read_class_list, read_numbers


@pytest.mark.parametrize(
    "text",
    [
        "dog\ncat\n",
        '["dog", "cat"]',
        '[{"id": 0, "name": "dog"}, {"id": 1, "name": "cat"}]',
        '{"dog": 0, "cat": 1}',
        '{"1": "cat", "0": "dog"}',
    ],
)
def test_a_class_list_is_lines_or_json(tmp_path, text):
    name = "classes.json" if text[0] in "[{" else "classes.txt"

    assert read_class_list(saved(tmp_path, name, text)) == ["dog", "cat"]


@pytest.mark.parametrize(
    "document", [{"dog": 1, "cat": 2}, {"images": []}, {}, {"a": "cat"}, []]
)
def test_other_json_is_not_a_class_list(tmp_path, document):
    path = saved(tmp_path, "classes.json", document)

    with refused("wrong-type", value=document):
        read_class_list(path)


def test_a_class_list_in_another_format_is_an_error(tmp_path):
    path = saved(tmp_path, "classes.csv", "cat\ndog\n")

    with refused("wrong-format"):
        read_class_list(path)


def test_classes_that_appear_twice_are_an_error(tmp_path):
    path = saved(tmp_path, "classes.txt", "a\nb\na\n")

    with refused("duplicate-at", place="line 3"):
        read_class_list(path)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('{"a": 0.5, "b": 2}', {"a": 0.5, "b": 2.0}),
        ("id,weight\na,0.5\nb,2\n", {"a": 0.5, "b": 2.0}),
        (" [0.5, 2]\n", [0.5, 2.0]),
    ],
)
def test_numbers_are_read_from_standard_input(monkeypatch, text, numbers):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    read = read_numbers("-")

    assert (read if isinstance(read, dict) else read.tolist()) == numbers


@pytest.mark.parametrize(
    ("name", "text", "code", "place"),
    [
        ("w.json", '{"a": true}', "not-a-number", "id 'a'"),
        ("w.json", '{"a": 1e999}', "not-finite", "id 'a'"),
        ("w.json", '{"a": 1' + "0" * 400 + "}", "not-finite", "id 'a'"),
        ("w.json", '{"": 1}', "empty-id", ""),
        ("w.json", "{}", "nothing-given", ""),
        ("w.csv", "id,weight\n,1\n", "empty-id", "line 2, id ''"),
    ],
)
def test_wrong_numbers_are_an_error(tmp_path, name, text, code, place):
    path = saved(tmp_path, name, text)

    with refused(code, place=place):
        read_numbers(path)


# Sample weights in data frames

WEIGHTS = pd.DataFrame({"id": ["a", "b"], "weight": [3.0, 1.0]})
WEIGHTS_BY_ID = WEIGHTS.set_index("id")


def weighted_f1(weights):
    """Return F1 of a true prediction for "a", and a wrong one for "b"."""
    preds = {"a": ["x"], "b": ["y"]}
    truth = {"b": ["x"], "a": ["x"]}
    return semmetrics.score(preds, truth, measures="F1", weights=weights)["F1"].value


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        pl.from_pandas(WEIGHTS),
        pa.table(WEIGHTS),
        WEIGHTS.set_axis(["image_id", "Sample_Weight"], axis=1),
        WEIGHTS_BY_ID,
        WEIGHTS_BY_ID.set_axis(["w"], axis=1),
        WEIGHTS_BY_ID["weight"],
    ],
    ids=["pandas", "polars", "arrow", "names", "index", "one column", "series"],
)
def test_weights_may_be_a_data_frame(weights):
    assert weighted_f1(weights) == 0.75


@pytest.mark.parametrize(
    ("weights", "code", "place"),
    [
        (WEIGHTS.set_axis(["id", "w"], axis=1), "missing-column", ", row 0 (from 0)"),
        (pd.concat([WEIGHTS, WEIGHTS]), "duplicate-id", ", row 2 (from 0), id 'a'"),
        (pd.Series([1.0, 2.0, 3.0], ["a", "a", "b"]), "duplicate-id", ""),
        (WEIGHTS.assign(weight="x"), "not-a-number", ", row 0 (from 0), id 'a'"),
    ],
)
def test_an_error_in_a_data_frame_of_weights_names_the_place(weights, code, place):
    with refused(code, f"weights{place}"):
        weighted_f1(weights)
