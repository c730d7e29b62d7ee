"""Class lists, numbers by id, and plain matrices."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

from semmetrics import ReadOptions
from semmetrics.data.beside import read_class_list, read_matrix, read_numbers
from semmetrics.errors import InputError


@pytest.fixture
def write(tmp_path):
    def writer(name, data):
        path = tmp_path / name
        if isinstance(data, np.ndarray):
            np.save(path, data)
            return path
        raw = (data if isinstance(data, str) else json.dumps(data)).encode()
        path.write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
        return path

    return writer


CATEGORIES = [{"id": 9, "name": "cat"}, {"id": 3, "name": "traffic light"}]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("c.txt", "cat\ntraffic light\n"),
        ("c.txt.gz", "cat\r\ntraffic light\r\n\r\n"),
        ("classes", "\ufeffcat\ntraffic light"),
        ("c.json", ["cat", "traffic light"]),
        ("c.json.gz", CATEGORIES),
        ("c.json", {"images": [], "categories": CATEGORIES}),
        ("c.json", {"categories": ["cat", "traffic light"]}),
    ],
)
def test_class_list(write, name, data):
    assert read_class_list(write(name, data)) == ["cat", "traffic light"]


@pytest.mark.parametrize("data", [b"cat\ndog\n", b' ["cat", "dog"]'])
def test_class_list_from_standard_input(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert read_class_list("-") == ["cat", "dog"]


@pytest.mark.parametrize(
    ("name", "data", "match"),
    [
        ("c.txt", "a\n\nb\n", r"c\.txt, line 2: the class is empty; each position is a column"),
        ("c.txt", "a\nb\na\n", r"c\.txt, line 3: 'a' also appears at line 1"),
        ("c.txt", "", "empty"),
        ("c.json", ["a", "a"], r"c\.json, class 1 \(from 0\): 'a' also appears at class 0"),
        ("c.json", ["a", 1], "1 is an int, not the name"),
        ("c.json", [], "there is no list of classes"),
        ("c.json", {"a": 1}, "there is no list of classes"),
        ("c.json", [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}], "id 1 stands twice"),
        ("c.csv", "id,name", r"c\.csv: a class list is no \.csv file; write one class a line"),
    ],
)
def test_bad_class_lists(write, name, data, match):
    with pytest.raises(InputError, match=match):
        read_class_list(write(name, data))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("w.json", {"a": 0.5, "b": 2}),
        ("w.json.gz", {"a": 0.5, "b": 2}),
        ("w.csv", "id,weight\na,0.5\nb,2\n"),
        ("w.tsv", "weight\tid\n0.5\ta\n2\tb\n"),
    ],
)
def test_numbers_by_id(write, name, data):
    assert read_numbers(write(name, data)) == {"a": 0.5, "b": 2.0}


def test_numbers_by_position(write):
    for path in (write("w.json", [0.5, 2]), write("w.npy", np.array([0.5, 2], np.float32))):
        result = read_numbers(path)
        assert result.tolist() == [0.5, 2.0]
        assert result.dtype == np.float64


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


def test_numbers_by_option(write):
    path = write("w.csv", "key,p\na,1\n")
    assert read_numbers(path, ReadOptions(id_column="key", score_column="p")) == {"a": 1.0}


@pytest.mark.parametrize(
    ("name", "data", "match"),
    [
        ("w.json", {"a": "1"}, r"w\.json, id 'a': the number is '1'|id 'a': the number"),
        ("w.json", {"a": None}, "id 'a': the number is None"),
        ("w.json", {"a": True}, "id 'a'"),
        ("w.json", '{"a": 1e999}', "id 'a': the number is inf"),
        ("w.json", '{"a": 1' + "0" * 400 + "}", "id 'a'"),
        ("w.json", '{"a": 1, "a": 2}', "the key 'a' appears twice"),
        ("w.json", {"": 1}, "an id is empty"),
        ("w.json", [1, "x"], r"element \[1\]: the number"),
        ("w.json", "3", "3 holds no items"),
        ("w.json", "{}", "there are no items"),
        ("w.csv", "id,weight\na,1\na,2\n", r"w\.csv, line 3, id 'a': the id stands twice"),
        ("w.csv", "id,weight\na,x\n", "line 2, id 'a': the number is 'x'"),
        ("w.csv", "id,weight\n,1\n", "line 2: the id is empty|line 2, id '': the id is empty"),
        ("w.csv", "id,weight\na,\n", "the number is empty"),
        ("w.csv", "id,x\na,1\n", "no column for weight"),
        ("w.csv", "id,weight\n", "there are no items"),
        ("w.jsonl", '{"a": 1}', r"w\.jsonl: numbers cannot be read from jsonl"),
        ("w.txt", "a 1", "numbers cannot be read from txt"),
        (
            "w.dat",
            "id,weight",
            r"'\.dat' does not tell the format",
        ),
        ("w.npy", np.eye(2), "not that of a vector"),
        ("w.npy", np.array([1, np.nan]), r"w\.npy, row 1 \(from 0\): nan is no finite number"),
    ],
)
def test_bad_numbers(write, name, data, match):
    with pytest.raises(InputError, match=match):
        read_numbers(write(name, data))


@pytest.mark.parametrize(
    ("kind", "result"), [("f4", "f4"), ("f8", "f8"), ("f2", "f8"), ("i2", "f8")]
)
def test_matrix(write, kind, result):
    values = np.arange(6, dtype=kind).reshape(2, 3)
    read = read_matrix(write("m.npy", values))
    np.testing.assert_array_equal(read, values)
    assert read.dtype == result


def test_bad_matrices(write, tmp_path):
    with pytest.raises(InputError, match="a matrix cannot be read from json"):
        read_matrix(write("m.json", [[1]]))
    with pytest.raises(InputError, match="tell the format"):
        read_matrix(write("m.bin", "x"))
    with pytest.raises(InputError, match="not that of rows and columns"):
        read_matrix(write("m.npy", np.zeros(3)))
    with pytest.raises(InputError, match=r"row 0, column 1 \(from 0\): inf is no finite number"):
        read_matrix(write("m.npy", np.array([[0, np.inf]])))
    np.savez(tmp_path / "m.npz", y=np.eye(2), loss=np.ones(2))
    with pytest.raises(InputError, match="beside the array 'y' there are 'loss'; save the one"):
        read_matrix(tmp_path / "m.npz")
