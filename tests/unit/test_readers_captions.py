"""Captions from files: JSON, JSON lines, COCO, tables, Parquet and plain text."""

import json

import pytest
from reading import codes, refused_in, saved

from semmetrics import ReadOptions
from semmetrics.kinds.captions import as_captions


@pytest.fixture
def load(tmp_path):
    def reader(data, name="refs.json", **options):
        return as_captions(saved(tmp_path, name, data), options=ReadOptions(**options))

    return reader


COCO = {
    "info": {},
    "images": [{"id": 9}, {"id": 4}, {"id": 7}],
    "annotations": [
        {"id": 1, "image_id": 4, "caption": "a dog"},
        {"id": 2, "image_id": 9, "caption": "a cat"},
        {"id": 3, "image_id": 4, "caption": "the dog"},
    ],
}


def test_coco_results(load):
    records = [
        {"image_id": 404, "caption": "one"},
        {"image_id": 7, "caption": "two", "id": 3},
        {"image_id": 404, "caption": "three"},
    ]
    got = load(records)
    assert got.ids == ["404", "7"]
    assert got.to_list() == [["one", "three"], ["two"]]
    assert got.where(1).endswith("refs.json, element [1], id '7'")
    assert got.understood == "JSON, one record a caption"
    assert codes(got) == [("unused-columns", 1, "id")]


def test_coco_captions_keep_the_order_of_annotations(load):
    got = load(COCO)
    assert got.ids == ["9", "4"]
    assert got.to_list() == [["a cat"], ["a dog", "the dog"]]
    assert got.understood == "COCO captions, 3 captions"
    assert [note.code for note in got.notes] == ["without-annotations"]
    assert got.where(1).endswith("refs.json, id '4'")


def test_coco_captions_without_images(load):
    got = load({"annotations": COCO["annotations"]})
    assert (got.ids, got.to_list()) == (["4", "9"], [["a dog", "the dog"], ["a cat"]])
    assert got.notes == []


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        ([["x"], {"id": 1}], "r.json", ("wrong-type", "r.json, element [1]")),
        (
            [{"id": 1, "caption": "x"}, {"id": 1, "captions": ["y"]}],
            "r.json",
            ("duplicate-at", "r.json, element [1], id '1'"),
        ),
        (
            [{"id": 1, "captions": ["x"]}, {"id": 1, "caption": "y"}],
            "r.json",
            ("duplicate-at", "r.json, element [1], id '1'"),
        ),
        (
            {"images": [{"id": 1}], "annotations": []},
            "r.json",
            ("nothing-given", "r.json"),
        ),
        ("a\rb\r", "r.txt", ("carriage-returns", "r.txt, line 1")),
    ],
)
def test_errors_name_place_and_remedy(load, data, name, match):
    with refused_in(*match) as caught:
        load(data, name)
    assert name in caught.value.where


def test_karpathy_split(reference_dir):
    got = as_captions(reference_dir / "coco" / "coco_karpathy_test5k.tsv")
    assert (len(got), len(got.values())) == (5000, 25000)
    assert got.ids[0] == "391895"
    assert got.values()[0] == "A man with a red helmet on a small moped on a dirt road."


LONG = "a cat that sleeps " * 7  # 20,000 of them are more than is read at once


@pytest.mark.parametrize("last", ["a new one, caption 0", f"{LONG}7"])
def test_captions_that_differ_but_for_a_late_repeat(load, last):
    texts = [f"{LONG}{number}" for number in range(20_000)]
    records = [{"id": number, "captions": [text]} for number, text in enumerate(texts)]
    records.append({"id": "last", "captions": [last, texts[7]]})
    got = load("\n".join(map(json.dumps, records)), "refs.jsonl")
    assert got.to_list() == [*([text] for text in texts), [last, texts[7]]]
    assert list(got.vocabulary) == list(dict.fromkeys([*texts, last]))
