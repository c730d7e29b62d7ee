"""Karpathy's JSON and Flickr's token files: captions, captions by id, and positives."""

import gzip
import json

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_candidates, as_captions
from semmetrics.kinds.captions import as_texts

SPLITS = "train", "test", "restval", "test"


def image(row, split="test", **changes):
    sentences = [
        {
            "sentid": 10 * row + one,
            "imgid": row,
            "raw": f"A cat, {row} {one}.",
            "tokens": ["cat"],
        }
        for one in range(1 + row % 2)
    ]
    return {
        "imgid": row,
        "split": split,
        "filename": f"{row}.jpg",
        "sentences": sentences,
        **changes,
    }


KARPATHY = {
    "dataset": "coco",
    "images": [image(row, split) for row, split in enumerate(SPLITS)],
}


@pytest.fixture(params=["object", "file", "coco", "gzip"])
def karpathy(request, tmp_path):
    if request.param == "object":
        return lambda read, value, **options: read(
            value, options=ReadOptions(**options)
        )
    packed = request.param == "gzip"
    path = tmp_path / f"dataset_coco.json{'.gz' if packed else ''}"

    def load(read, value, **options):
        data = json.dumps(value).encode()
        path.write_bytes(gzip.compress(data) if packed else data)
        form = "coco" if request.param == "coco" else None
        return read(path, options=ReadOptions(format=form, **options))

    return load


@pytest.mark.parametrize(
    ("changes", "code", "where"),
    [
        ({"imgid": 0}, "duplicate-id", "images[1]"),
        ({"imgid": None}, "wrong-id", "images[1], imgid"),
        ({"split": 3}, "wrong-type", "images[1]"),
        ({"sentences": None}, "wrong-type", "images[1]"),
        ({"sentences": [7]}, "wrong-type", "images[1].sentences[0]"),
        ({"sentences": [{"raw": "a"}]}, "missing-key", "images[1].sentences[0]"),
        ({"sentences": [{"sentid": 1}]}, "missing-key", "images[1].sentences[0]"),
        (
            {"sentences": [{"sentid": 1, "raw": 2}]},
            "wrong-type",
            "images[1].sentences[0]",
        ),
        (
            {"sentences": [{"sentid": 0, "raw": "a"}]},
            "duplicate-id",
            "images[1].sentences[0]",
        ),
    ],
)
def test_what_is_wrong_has_its_place(karpathy, changes, code, where):
    value = {"images": [image(0), image(1, **changes)]}
    for read in (as_captions, as_candidates, as_texts):
        with refused(code, place=where):
            karpathy(read, value)


def test_a_split_that_is_not_there(karpathy):
    with refused("unknown-name"):
        karpathy(as_captions, KARPATHY, split="dev")
    broken = {"images": [image(0), 7]}
    with refused("wrong-type"):
        karpathy(as_captions, broken)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("1.jpg#0\ta\nno name\n", "wrong-content", "line 2"),
        ("1.jpg#0\ta\n\n", "wrong-content", "line 2"),
        ("1.jpg#0\ta\n1.jpg#0\tb\n", "duplicate", "line 2"),
        ("1.jpg#0\ta\n1.jpg#x\tb\n", "wrong-content", "line 2"),
    ],
)
def test_wrong_token_files(text, code, where, tmp_path):
    path = tmp_path / "results.token"
    path.write_text(text, encoding="utf-8")
    for read in (as_captions, as_candidates, as_texts):
        with refused(code, place=where):
            read(path)


def test_one_file_has_the_positives_and_the_captions(tmp_path):
    path = tmp_path / "dataset_coco.json"
    path.write_text(json.dumps(KARPATHY), encoding="utf-8")
    names = {"queries": ["1", "3"], "gallery": ["10", "11", "30", "31"]}
    sims = np.random.default_rng(0).random((2, 4))
    options = {
        "task": "retrieval",
        "measures": "HitRate@1 NCS@2",
        "direction": "both",
        **names,
    }
    found = semmetrics.score(
        sims, path, captions=path, read=ReadOptions(split="test"), **options
    )
    texts = {
        "10": "A cat, 1 0.",
        "11": "A cat, 1 1.",
        "30": "A cat, 3 0.",
        "31": "A cat, 3 1.",
    }
    given = semmetrics.score(
        sims, {"1": ["10", "11"], "3": ["30", "31"]}, captions=texts, **options
    )
    assert found.to_dict() == given.to_dict()


TOKENS = "1.jpg#0\tA cat .\r\n2.jpg#0\tTwo dogs\tand more\n1.jpg#1\t\n"


@pytest.mark.parametrize("name", ["results.token", "Flickr8k.token.txt"])
def test_token_files(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(TOKENS.encode())
    found = as_captions(path)
    assert list(found.ids) == ["1.jpg", "2.jpg"]
    assert found.to_list() == [["A cat .", ""], ["Two dogs\tand more"]]
    assert found.understood == "Flickr's token file, 3 captions"
    assert as_candidates(path).to_list() == [["1.jpg#0", "1.jpg#1"], ["2.jpg#0"]]
    assert list(as_texts(path).ids) == ["1.jpg#0", "2.jpg#0", "1.jpg#1"]


def test_without_a_split_all_are_read(karpathy):
    found = karpathy(as_candidates, KARPATHY)
    assert found.to_list() == [["0"], ["10", "11"], ["20"], ["30", "31"]]
    assert "splits train, test, restval" in found.understood
