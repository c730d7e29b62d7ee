"""Class lists, numbers by id, and plain matrices."""

import io
import json
import sys

import numpy as np
import pytest
from reading import saved
from refusals import refused

from semmetrics.data.read_options import ReadOptions
from semmetrics.data.side_inputs import read_class_list, read_dense, read_numbers


@pytest.fixture
def write(tmp_path):
    def writer(name, data):
        path = tmp_path / name
        if isinstance(data, np.ndarray):
            np.save(path, data)
            return path
        return saved(tmp_path, name, data)

    return writer


@pytest.mark.parametrize(
    ("name", "data", "code", "where"),
    [
        ("c.txt", "a\nb\na\n", None, "line 3"),
        ("c.json", [], "wrong-type", ""),
        (
            "c.json",
            [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}],
            "duplicate-id",
            "categories[1]",
        ),
    ],
)
def test_bad_class_lists(write, name, data, code, where):
    with refused(code, place=where):
        read_class_list(write(name, data))


@pytest.mark.parametrize(
    ("name", "data", "code", "where"),
    [
        ("w.json", {"a": True}, "not-a-number", "id 'a'"),
        ("w.json", '{"a": 1e999}', "not-finite", "id 'a'"),
        ("w.json", '{"a": 1' + "0" * 400 + "}", "not-finite", "id 'a'"),
        ("w.json", {"": 1}, "empty-id", ""),
        ("w.json", "{}", "nothing-given", ""),
        ("w.csv", "id,weight\n,1\n", "empty-id", "line 2, id ''"),
        ("w.csv", "id,weight\n", "nothing-given", ""),
    ],
)
def test_bad_numbers(write, name, data, code, where):
    with refused(code, place=where):
        read_numbers(write(name, data))


@pytest.mark.parametrize("kind", ["f4", "f8", "f2", "i2"])
def test_matrix(write, kind):
    values = np.arange(6, dtype=kind).reshape(2, 3)
    read = read_dense(write("m.npy", values), ReadOptions(), "a matrix is", ["npy"])
    np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{"a": 0.5, "b": 2}', {"a": 0.5, "b": 2.0}),
        ("id,weight\na,0.5\nb,2\n", {"a": 0.5, "b": 2.0}),
        ("id\tweight\na\t0.5\nb\t2\n", {"a": 0.5, "b": 2.0}),
        (" [0.5, 2]\n", [0.5, 2.0]),
    ],
)
def test_numbers_from_standard_input(monkeypatch, text, result):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    numbers = read_numbers("-")
    assert (numbers if isinstance(numbers, dict) else numbers.tolist()) == result


@pytest.mark.parametrize(
    "text",
    ['{"dog": 0, "cat": 1}', '{"0": "dog", "1": "cat"}', '{"1": "cat", "0": "dog"}'],
)
def test_class_lists_by_number_are_read_in_order(write, text):
    assert read_class_list(write("classes.json", text)) == ["dog", "cat"]


@pytest.mark.parametrize(
    "text", ['{"dog": 1, "cat": 2}', '{"images": []}', "{}", '{"a": "cat"}']
)
def test_other_mappings_are_no_class_lists(write, text):
    with refused("wrong-type", value=json.loads(text)):
        read_class_list(write("classes.json", text))
