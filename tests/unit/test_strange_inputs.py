"""Inputs of wrong types and shapes are read, or raise an InputError, and never another error."""

import collections
import contextlib
import datetime
import os
import types
import warnings

import numpy as np
import pytest
from reading import saved
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_captions, as_labels, score
from semmetrics.data import source
from semmetrics.errors import InputError
from semmetrics.studies.validation import validate

NESTED_IN_ITSELF: list = []
NESTED_IN_ITSELF.append(NESTED_IN_ITSELF)
VALUES = {
    "number": 1,
    "nan": float("nan"),
    "none": None,
    "bytes": b"cat",
    "set": {"cat"},
    "generator": (number for number in ()),
    "bool": True,
    "nested": [[["cat"]]],
    "dict of numbers": {1: 2},
    "datetime": datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),
    "numpy float": np.float32(0.5),
    "numpy bool": np.bool_(True),
    "numpy string": np.str_("cat"),
    "no dimension": np.array(1.0),
    "three dimensions": np.zeros((1, 1, 1)),
    "objects": np.array([["cat"], ["dog", "x"]], object),
    "complex": np.ones((2, 2), complex),
    "times": np.zeros((2, 2), "M8[s]"),
    "nested in itself": NESTED_IN_ITSELF,
    "deque": collections.deque([["cat"]]),
    "mapping": types.MappingProxyType({"a": ["cat"]}),
    "type": int,
}
PLACES = [
    lambda value: value,
    lambda value: [value],
    lambda value: [["cat", value]],
    lambda value: {"a": value},
    lambda value: {"a": [value]},
    lambda value: {"a": [["cat", value]]},
    lambda value: {"a": {"cat": value}},
    lambda value: {value: ["cat"]},
    lambda value: {"a": {value: 0.5}},
    lambda value: [{"id": value, "labels": ["cat"]}],
    lambda value: [{"id": "a", "labels": value}],
    lambda value: [{"id": "a", "labels": ["cat"], "scores": [value]}],
    lambda value: {"a": [{"label": value, "score": 0.5}]},
    lambda value: {"id": ["a", "b"], "label": [value, value]},
    lambda value: {"id": ["a"], "label": ["x"], "score": [value]},
    lambda value: [{"image_id": 1, "caption": value}],
    lambda value: {"images": [{"id": value}], "annotations": [], "categories": []},
    lambda value: {"images": value, "annotations": [{"image_id": 1, "caption": "x"}]},
]
"""Where a value may be in an input."""
LABELS = {"a": ["cat"]}
READERS = {
    "as_labels": as_labels,
    "as_captions": as_captions,
    "validate": validate,
    "preds": lambda data: score(data, LABELS, measures="F1"),
    "gts": lambda data: score(LABELS, data),
    "classes": lambda data: as_labels(np.eye(1), classes=data),
}


def call_or_input_error(function, *args, **options):
    """Call a function, which may raise an InputError, and may not warn."""
    with warnings.catch_warnings(), contextlib.suppress(InputError):
        warnings.simplefilter("error")
        function(*args, **options)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", VALUES)
def test_readers_accept_a_value_or_raise_an_input_error(value, reader):
    for make_input in PLACES:
        try:
            data = make_input(VALUES[value])
        except TypeError:  # it cannot be a key
            continue
        call_or_input_error(READERS[reader], data)


@pytest.mark.parametrize(
    "name",
    ["format", "id_column", "delimiter", "label_delimiter", "max_bytes", "classes"],
)
def test_read_options_accept_a_value_or_raise_an_input_error(name):
    for value in VALUES.values():
        call_or_input_error(ReadOptions, **{name: value})


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("weights", "F1"),
        ("ignore", "F1"),
        ("classes", "F1"),
        ("read", "F1"),
        ("calibration", "F1"),
        ("taxonomy", "hF"),
    ],
)
def test_options_of_score_accept_a_value_or_raise_an_input_error(name, measure):
    for value in VALUES.values():
        call_or_input_error(score, LABELS, LABELS, measures=measure, **{name: value})


def test_document_frequencies_accept_a_value_or_raise_an_input_error():
    captions = {"a": "a cat"}
    for value in VALUES.values():
        options = {"doc_freq": value, "measures": "CIDEr-D"}
        call_or_input_error(score, captions, captions, **options)


def test_a_column_nested_in_itself_is_an_error():
    with refused("deep-column", where="input"):
        as_labels({"id": ["a"], "label": [NESTED_IN_ITSELF]})


@pytest.mark.parametrize(
    ("probabilities", "code"),
    [
        ([[1.0, 0.5]], "not-probabilities"),
        (np.ma.masked_array([[0.5, 0.5]], mask=[[False, True]]), "masked"),
    ],
)
def test_numbers_of_labels_must_have_probabilities(probabilities, code):
    options = {"set_size_probs": probabilities, "decode": "cardinality"}

    with refused(code):
        score({"a": [["cat", 0.5]]}, LABELS, measures="F1", **options)


# Files


@pytest.mark.parametrize("small", [16, 2**20])
@pytest.mark.parametrize(
    ("cell", "code"), [("x\n" * 100, "not-csv"), ("x" * 200, "line-too-long")]
)
def test_a_header_above_the_limit_is_an_error(tmp_path, monkeypatch, cell, code, small):
    monkeypatch.setattr(source, "MAX_SMALL_BYTES", small)
    path = saved(tmp_path, "a.csv", f'id,label,"{cell}"\na,x,1\n')

    with refused(code):
        as_labels(path, options=ReadOptions(max_line_bytes=100))


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_to_nothing_is_a_missing_file(tmp_path):
    path = tmp_path / "link.json"
    path.symlink_to("nowhere.json")

    with refused("missing-file", where=str(path)):
        as_labels(path)


@pytest.mark.parametrize("small", [16, 2**20])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"a": [["x", -0.0]]}'),
        ("a.jsonl", '{"id": "a", "labels": ["x"], "scores": [-0.0]}\n'),
        ("a.csv", "id,label,score\na,x,-0\n"),
    ],
)
def test_negative_zero_is_read_as_zero(tmp_path, monkeypatch, name, text, small):
    monkeypatch.setattr(source, "MAX_SMALL_BYTES", small)

    lists = as_labels(saved(tmp_path, name, text))

    assert str(lists.whole.side.scores[0]) == "0.0"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("p.csv", b"PK\x03\x04\x14\x00[Content_Types].xml\x00\xff", "workbook"),
        ("p.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "workbook"),
        ("p.json", b"\n<!DOCTYPE html><html>404</html>", "web-page"),
        ("p.csv", b"<html><table><tr><td>id</td></tr></table></html>", "web-page"),
        ("p.json", b"version https://git-lfs.github.com/spec/v1\n", "lfs-pointer"),
        ("p.npy", b"version https://git-lfs.github.com/spec/v1\n", "lfs-pointer"),
    ],
)
def test_the_error_for_other_files_says_what_they_are(tmp_path, name, content, code):
    path = saved(tmp_path, name, content)

    with refused(code):
        as_labels(path)


def test_captions_may_have_the_tags_of_a_web_page(tmp_path):
    path = saved(tmp_path, "p.txt", "<html> on a screen\na dog\n")

    assert len(semmetrics.as_captions(path)) == 2
