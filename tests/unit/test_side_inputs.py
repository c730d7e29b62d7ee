"""Class lists, numbers by id, matrices, and weights from files and data frames."""

import io
import sys

import numpy as np
import pytest
from reading import saved
from refusals import refused

from semmetrics.data.form import ReadOptions
from semmetrics.data.side_inputs import read_class_list, read_dense, read_numbers


@pytest.mark.parametrize(
    "text",
    [
        "dog\ncat\n",
        '["dog", "cat"]',
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


def test_classes_that_appear_twice_are_an_error(tmp_path):
    path = saved(tmp_path, "classes.txt", "a\nb\na\n")

    with refused("duplicate-at", place="line 3"):
        read_class_list(path)


def test_ids_of_classes_that_appear_twice_are_an_error(tmp_path):
    categories = [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]
    path = saved(tmp_path, "classes.json", categories)

    with refused("duplicate-id", place="categories[1]"):
        read_class_list(path)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('{"a": 0.5, "b": 2}', {"a": 0.5, "b": 2.0}),
        ("id,weight\na,0.5\nb,2\n", {"a": 0.5, "b": 2.0}),
        ("id\tweight\na\t0.5\nb\t2\n", {"a": 0.5, "b": 2.0}),
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
        ("w.csv", "id,weight\n", "nothing-given", ""),
    ],
)
def test_wrong_numbers_are_an_error(tmp_path, name, text, code, place):
    path = saved(tmp_path, name, text)

    with refused(code, place=place):
        read_numbers(path)


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i2"])
def test_a_matrix_is_read_from_a_npy_file(tmp_path, dtype):
    values = np.arange(6, dtype=dtype).reshape(2, 3)
    np.save(tmp_path / "m.npy", values)

    matrix = read_dense(tmp_path / "m.npy", ReadOptions(), "a matrix is", ["npy"])

    np.testing.assert_array_equal(matrix, values)
