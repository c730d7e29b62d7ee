"""Inputs of wrong types and shapes: read, or refused with their place; never anything else."""

import collections
import contextlib
import datetime
import decimal
import os
import types
import warnings

import numpy as np
import pytest
from reading import refused_in
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_captions, as_labels, score
from semmetrics.data import source as sources
from semmetrics.errors import InputError
from semmetrics.studies.validation import validate

ITSELF: list = []
ITSELF.append(ITSELF)
VALUES = {
    "number": 1,
    "float": 0.5,
    "nan": float("nan"),
    "none": None,
    "bytes": b"cat",
    "set": {"cat"},
    "generator": (x for x in ()),
    "bool": True,
    "nested": [[["cat"]]],
    "dict of numbers": {1: 2},
    "datetime": datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
    "decimal": decimal.Decimal("0.5"),
    "numpy float": np.float32(0.5),
    "numpy integer": np.int64(3),
    "numpy bool": np.bool_(True),
    "numpy text": np.str_("cat"),
    "numpy time": np.datetime64("2020-01-01"),
    "no dimension": np.array(1.0),
    "one dimension": np.array([1.0, 0]),
    "three dimensions": np.zeros((1, 1, 1)),
    "objects": np.array([["cat"], ["dog", "x"]], object),
    "records": np.zeros(2, [("a", "i4")]),
    "complex": np.ones((2, 2), complex),
    "times": np.zeros((2, 2), "M8[s]"),
    "in itself": ITSELF,
    "deque": collections.deque([["cat"]]),
    "values": {"a": ["cat"]}.values(),
    "mapping": types.MappingProxyType({"a": ["cat"]}),
    "type": int,
}
PLACES = {
    "bare": lambda v: v,
    "item": lambda v: [v],
    "label": lambda v: [["cat", v]],
    "by id": lambda v: {"a": v},
    "label by id": lambda v: {"a": [v]},
    "score": lambda v: {"a": [["cat", v]]},
    "score of a mapping": lambda v: {"a": {"cat": v}},
    "id": lambda v: {v: ["cat"]},
    "two ids": lambda v: {"a": ["cat"], v: ["cat"]},
    "label with a score": lambda v: {"a": {v: 0.5}},
    "id of a record": lambda v: [{"id": v, "labels": ["cat"]}],
    "labels of a record": lambda v: [{"id": "a", "labels": v}],
    "scores of a record": lambda v: [{"id": "a", "labels": ["cat"], "scores": v}],
    "score of a record": lambda v: [{"id": "a", "labels": ["cat"], "scores": [v]}],
    "label of a mapping": lambda v: {"a": [{"label": v, "score": 0.5}]},
    "column": lambda v: {"id": ["a", "b"], "label": [v, v]},
    "column of ids": lambda v: {"id": [v, v], "label": ["cat", "dog"]},
    "column of scores": lambda v: {
        "id": ["a", "b"],
        "label": ["x", "y"],
        "score": [v, v],
    },
    "after a list": lambda v: [["cat"], v],
    "caption": lambda v: [{"image_id": 1, "caption": v}],
    "COCO image": lambda v: {
        "images": [{"id": v}],
        "annotations": [],
        "categories": [],
    },
    "COCO captions": lambda v: {
        "images": v,
        "annotations": [{"image_id": 1, "caption": "x"}],
    },
}
ONE, SCORED = {"a": ["cat"]}, {"a": [["cat", 0.5]]}
READERS = {
    "as_labels": as_labels,
    "as_captions": as_captions,
    "validate": validate,
    "preds": lambda v: score(v, ONE, measures="F1"),
    "gts": lambda v: score(ONE, v),
    "classes": lambda v: as_labels(np.eye(1), classes=v),
}
GIVEN = {
    **{
        name: lambda v, name=name: ReadOptions(**{name: v})
        for name in (
            "format",
            "id_column",
            "delimiter",
            "label_delimiter",
            "max_bytes",
            "classes",
        )
    },
    **{
        name: lambda v, name=name: score(ONE, ONE, measures="F1", **{name: v})
        for name in ("weights", "ignore", "classes", "read", "calibration")
    },
    "taxonomy": lambda v: score(ONE, ONE, taxonomy=v, measures="hF"),
    "doc_freq": lambda v: score(
        {"a": "a cat"}, {"a": "a cat"}, doc_freq=v, measures="CIDEr-D"
    ),
}


def check(function, value):
    """Call a function; it works, or raises an InputError, and never warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(InputError):
            function(value)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", VALUES)
def test_readers_take_or_refuse(value, reader):
    pytest.importorskip("pyarrow")
    for make in PLACES.values():
        try:
            made = make(VALUES[value])
        except TypeError:  # it cannot be a key
            continue
        check(READERS[reader], made)


@pytest.mark.parametrize("option", GIVEN)
def test_options_take_or_refuse(option):
    for value in VALUES.values():
        check(GIVEN[option], value)


@pytest.mark.parametrize(
    ("function", "data", "message"),
    [
        (as_labels, [("a", ["cat"]), ("b", [])], ("id-pairs", "input")),
        (
            as_labels,
            {"a": [["cat", "0.9"]]},
            ("not-a-number", "input, id 'a', label 1"),
        ),
        (
            as_labels,
            [{"id": "a", "labels": ["x"], "scores": ["0.9"]}],
            ("not-a-number", "input, element [0], id 'a'"),
        ),
        (as_labels, {1: ["cat"], "1": ["cat"]}, ("duplicate-id", "input")),
        (as_labels, {"id": ["a"], "label": [ITSELF]}, ("deep-column", "input")),
    ],
)
def test_messages(function, data, message):
    pytest.importorskip("pyarrow")
    with refused_in(*message):
        function(data)


@pytest.mark.parametrize(
    ("row", "what"), [([1.0, 0.5], "sum is 1.5"), ([-0.5, 1.5], "negative")]
)
def test_set_sizes_are_probabilities(row, what):
    with refused("not-probabilities"):
        score(SCORED, ONE, set_size_probs=[row], decode="cardinality", measures="F1")
    masked = np.ma.masked_array([[0.5, 0.5]], mask=[[False, True]])
    with refused("masked"):
        score(SCORED, ONE, set_size_probs=masked, decode="cardinality", measures="F1")


@pytest.mark.parametrize("small", [16, 2**20])
@pytest.mark.parametrize("cell", ["x\n" * 100, "x" * 200])
def test_long_headers_and_cells_of_large_files(cell, small, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sources, "SMALL", small)
    path = tmp_path / "a.csv"
    for text in (f'id,label\na,"{cell}"\nb,y\n', f'id,label,"{cell}"\na,x,1\n'):
        path.write_text(text)
        with refused_in("not-csv" if "\n" in cell else "line-too-long"):
            as_labels(path, options=ReadOptions(max_line_bytes=100))


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_that_points_nowhere_says_so(tmp_path):
    (tmp_path / "link.json").symlink_to("nowhere.json")
    with refused_in("missing-file", "link.json"):
        semmetrics.as_labels(tmp_path / "link.json")


def test_negative_zero_is_zero(tmp_path, monkeypatch):
    for name, text in {
        "a.json": '{"a": [["x", -0.0]]}',
        "a.jsonl": '{"id": "a", "labels": ["x"], "scores": [-0.0]}\n',
        "a.csv": "id,label,score\na,x,-0\n",
    }.items():
        path = tmp_path / name
        path.write_text(text)
        for small in (sources.SMALL, 16):
            monkeypatch.setattr(sources, "SMALL", small)
            assert str(as_labels(path).whole.side.scores[0]) == "0.0"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("p.csv", b"PK\x03\x04\x14\x00[Content_Types].xml\x00\xff", "workbook"),
        ("p.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "workbook"),
        ("p.json", b"\n<!DOCTYPE html><html>404</html>", "web-page"),
        ("p.csv", b"<html><table><tr><td>id</td></tr></table></html>", "web-page"),
        (
            "p.json",
            b"version https://git-lfs.github.com/spec/v1\nsize 12\n",
            "lfs-pointer",
        ),
        (
            "p.npy",
            b"version https://git-lfs.github.com/spec/v1\nsize 12\n",
            "lfs-pointer",
        ),
    ],
)
def test_files_that_are_no_data_are_named(name, content, problem, tmp_path):
    (tmp_path / name).write_bytes(content)
    with refused(problem):
        semmetrics.as_labels(tmp_path / name)


def test_text_about_the_web_is_no_web_page(tmp_path):
    (tmp_path / "p.txt").write_text("<html> on a screen\na dog\n")
    assert len(semmetrics.as_captions(tmp_path / "p.txt")) == 2
