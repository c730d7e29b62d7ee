"""Captions from Python objects."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reading import refused_in

from semmetrics import ReadOptions
from semmetrics.errors import Fact
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels


def lists(captions):
    return captions.to_list()


@pytest.mark.parametrize(
    ("data", "ids", "expected", "understood"),
    [
        ({"a": "x", 7: "y"}, ["a", "7"], [["x"], ["y"]], "{id: caption}"),
        ({"a": ["x", "y"], "b": ()}, ["a", "b"], [["x", "y"], []], "{id: [captions]}"),
        ({"a": np.array(["x", "y"])}, ["a"], [["x", "y"]], "{id: [captions]}"),
        (["x", ""], range(2), [["x"], [""]], "[captions] by position"),
        ((["x"], ["y", "z"]), range(2), [["x"], ["y", "z"]], "[[captions]] by position"),
        (np.array(["x", "y"]), range(2), [["x"], ["y"]], "[captions] by position"),
        (np.array(["x", "y"], object), range(2), [["x"], ["y"]], "[captions] by position"),
        ([np.str_("x")], range(1), [["x"]], "[captions] by position"),
        (
            [{"image_id": np.int64(3), "caption": "x"}, {"image_id": 3, "caption": "y"}],
            ["3"],
            [["x", "y"]],
            "one record a caption",
        ),
        (
            {"annotations": [{"image_id": 3, "caption": "x"}], "images": [{"id": 3}]},
            ["3"],
            [["x"]],
            "COCO captions, 1 caption",
        ),
        ({}, [], [], "{id: [captions]}"),
    ],
)
def test_objects(data, ids, expected, understood):
    got = as_captions(data, source="refs")
    assert (got.ids, lists(got), got.understood) == (ids, expected, understood)
    assert set(map(type, got.values())) <= {str}
    assert (got.source, got.notes) == ("refs", [])


def test_captions_pass_through():
    captions = as_captions(["x"])
    assert as_captions(captions) is captions


def test_places_name_the_input():
    assert as_captions({"a": "x"}, source="refs").where(0) == "refs, id 'a'"
    assert as_captions(["x"], source="refs").where(0) == "refs, item 0 (from 0)"
    assert as_captions([{"id": 5, "text": "x"}]).where(0) == "input, element [0], id '5'"


def test_sets_are_sorted_and_said():
    got = as_captions({"a": {"y", "x"}})
    assert (lists(got), got.notes) == (
        [["x", "y"]],
        [Fact("sorted-sets", values={"noun": "caption"})],
    )


def test_columns_of_records_by_option():
    options = ReadOptions(id_column="file", caption_column="hyp")
    got = as_captions([{"file": "f", "hyp": "x", "text": "y"}], options=options)
    assert (got.ids, lists(got)) == (["f"], [["x"]])


def test_series():
    pandas = pytest.importorskip("pandas")
    got = as_captions(pandas.Series(["x", "y"]))
    assert (got.ids, lists(got)) == (range(2), [["x"], ["y"]])
    got = as_captions(pandas.Series([["x", "y"], ["z"]], index=["a", 7]))
    assert (got.ids, lists(got), got.understood) == (
        ["a", "7"],
        [["x", "y"], ["z"]],
        "a Series of captions",
    )
    got = as_captions(pandas.Series(["x", "y", "z"], index=[3, 4, 3]), source="refs")
    assert (got.ids, lists(got)) == (["3", "4"], [["x", "z"], ["y"]])
    assert got.where(1) == "refs, row 1 (from 0), id '4'"
    with refused_in("wrong-type", "input, id 'b'"):
        as_captions(pandas.Series(["x", float("nan")], index=["a", "b"]))
    with refused_in("duplicate-id", "input"):
        as_captions(pandas.Series([["x"], ["y"]], index=["a", "a"]))
    with refused_in("missing-column", "input"):
        as_captions(pandas.DataFrame({"caption": ["x"]}))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        ({"a": ["x"], "b": "y"}, ("wrong-type", "refs, id 'b'")),
        ({"a": [3]}, ("wrong-type", "refs, id 'a', caption 1")),
        ({"a": [["x"]]}, ("wrong-type", "refs, id 'a', caption 1")),
        ({"a": None}, ("wrong-type", "refs, id 'a'")),
        ({"a": b"x"}, ("wrong-type", "refs, id 'a'")),
        (["x", 4], ("wrong-type", "refs, item 1 (from 0)")),
        ({"a": ["x", "y\ud800"]}, ("lone-surrogate", "refs, id 'a', caption 2")),
        (["x", "\udfff"], ("lone-surrogate", "refs, item 1, caption 0 (from 0)")),
        ({1.5: "x"}, ("wrong-id", "refs")),
        ({1: "x", "1": "y"}, ("duplicate-id", "refs")),
        ({"": "x"}, ("empty-id", "refs, key ''")),
        ([{"id": True, "text": "x"}], ("wrong-id", "refs, element [0]")),
        (np.eye(2), ("wrong-type", "refs")),
        (3, ("wrong-type", "refs")),
        (b"x", ("wrong-type", "refs")),
        (iter(["x"]), ("wrong-type", "refs")),
    ],
)
def test_errors(data, match):
    with refused_in(*match):
        as_captions(data, source="refs")


def test_paired_surrogates_are_characters():
    assert as_captions(json.loads(r'{"a": "\ud83d\ude00"}')).values() == ["😀"]


def test_labels_of_the_same_objects_are_read_as_before():
    assert as_labels({"a": ["x", "y"]}).vocabulary == ["x", "y"]
