"""Telling labels from captions where nobody has said."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time

import numpy as np
import pytest
from refusals import refused

from semmetrics import ReadOptions
from semmetrics.data import inputs
from semmetrics.data.inputs import open_input
from semmetrics.data.source import Source
from semmetrics.kinds.captions import as_captions
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.resolve import resolve_kind

LABELS = {"a": ["cat", "traffic light"], "b": []}
SENTENCES = {"a": ["a cat sleeps on the mat", "the cat is asleep on a mat"], "b": ["x y z u v"]}
TEXTS = {"a": "a cat sleeps", "b": ""}
RESULTS = [{"image_id": 1, "caption": "a cat"}]
COCO = {"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a cat"}]}
INSTANCES = {
    "images": [{"id": 1}],
    "annotations": [{"image_id": 1, "category_id": 2}],
    "categories": [{"id": 2, "name": "cat"}],
}


@pytest.mark.parametrize(
    ("pred", "ref", "task"),
    [
        (LABELS, LABELS, "labels"),
        (LABELS, SENTENCES, "labels"),
        (SENTENCES, LABELS, "labels"),
        ([["cat"]], [["cat"]], "labels"),
        ({"a": []}, {"a": []}, "labels"),
        ({}, {}, "labels"),
        (TEXTS, SENTENCES, "captions"),
        (TEXTS, LABELS, "captions"),
        (TEXTS, TEXTS, "captions"),
        (SENTENCES, TEXTS, "captions"),
        ({"a": "cat"}, {"a": ["a cat sleeps"]}, "captions"),
        ({"a": "猫が寝ている"}, {"a": ["猫が寝ています"]}, "captions"),
        (["a cat sleeps"], [["the cat sleeps", "a cat"]], "captions"),
        (RESULTS, COCO, "captions"),
        (RESULTS, SENTENCES, "captions"),
        (RESULTS, LABELS, "captions"),
        (SENTENCES, COCO, "captions"),
        ({"annotations": COCO["annotations"]}, COCO, "captions"),
        (LABELS, INSTANCES, "labels"),
        (np.eye(2), LABELS, "labels"),
        (TEXTS, np.eye(2), "labels"),
        ({"a": {"cat": 0.5}}, SENTENCES, "labels"),
        ({"a": [("cat", 0.5)]}, SENTENCES, "labels"),
        ({"a": [["bin", "trash can"]]}, LABELS, "labels"),
        ({"a": ["a cat sleeps on the mat", {"label": "cat"}]}, SENTENCES, "labels"),
        ({"a": ["cat"], "b": "dog"}, LABELS, "labels"),
        ({"a": {"cat", "dog"}}, LABELS, "labels"),
        ([{"id": 1, "labels": ["cat"]}], SENTENCES, "labels"),
        ([{"id": 1, "labels": ["cat"], "text": "a cat"}], LABELS, "labels"),
        ([{"id": 1, "boxes": []}], LABELS, "labels"),
        ([{"id": 1}, {"id": 2, "refs": []}], SENTENCES, "captions"),
        (3, LABELS, "labels"),
        (as_labels(LABELS), SENTENCES, "labels"),
        (as_captions(SENTENCES), SENTENCES, "captions"),
    ],
)
def test_objects_and_json_files_alike(tmp_path, pred, ref, task):
    assert resolve_kind(pred, ref).kind == task
    paths = []
    for name, data in (("pred.json", pred), ("ref.json.gz", ref)):
        try:
            text = json.dumps(data).encode()
        except TypeError:  # not all objects are JSON
            return
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        paths.append(tmp_path / name)
    assert resolve_kind(*paths).kind == task


@pytest.mark.parametrize(
    ("name", "text", "task"),
    [
        ("x.txt", "cat\n", "captions"),
        ("x.csv", "image_id,caption\n1,a cat\n", "captions"),
        ("x.csv", '"id","text"\r\n1,cat\r\n', "captions"),
        ("x.csv", "id,label\n1,cat\n", "labels"),
        ("x.csv", "id,label,caption\n1,cat,a cat\n", "labels"),
        ("x.csv", "id,score\n1,2\n", "labels"),
        ("x.tsv.gz", "img\tsentence\n1\ta cat\n", "captions"),
        ("x.jsonl", '\n{"id": 1, "references": ["a cat"]}\n', "captions"),
        ("x.jsonl", '{"id": 1, "labels": ["cat"]}\n', "labels"),
        ("x.json", "3", "labels"),
    ],
)
def test_files(tmp_path, name, text, task):
    raw = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    assert resolve_kind(tmp_path / name, SENTENCES if task == "captions" else LABELS).kind == task
    assert resolve_kind(LABELS, tmp_path / name).kind == task


def test_binary_files(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(2))
    assert resolve_kind(tmp_path / "x.npy", SENTENCES).kind == "labels"
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for column, task in (("caption", "captions"), ("label", "labels")):
        table = arrow.table({"id": ["a"], column: ["a cat sleeps on a mat"]})
        parquet.write_table(table, tmp_path / "x.parquet")
        assert resolve_kind(tmp_path / "x.parquet", SENTENCES).kind == task


def test_series():
    pandas = pytest.importorskip("pandas")
    sentences, lists = pandas.Series(["a cat sleeps"]), pandas.Series([["the cat"]])
    assert resolve_kind(sentences, lists).kind == "captions"
    assert resolve_kind(pandas.Series([["cat"]]), pandas.Series([["cat"]])).kind == "labels"
    assert resolve_kind(pandas.DataFrame({"cat": [1]}), pandas.Series([["cat"]])).kind == "labels"


def test_columns_by_option():
    records = [{"id": 1, "hyp": "a cat", "labels": ["cat"]}]
    assert resolve_kind(records, SENTENCES).kind == "labels"
    options = ReadOptions(caption_column="hyp")
    assert resolve_kind(records, SENTENCES, options=options).kind == "captions"
    options = ReadOptions(label_column="caption")
    assert resolve_kind(RESULTS, LABELS, options=options).kind == "labels"


@pytest.mark.parametrize(
    ("pred", "ref", "match"),
    [
        (SENTENCES, SENTENCES, "ambiguous-kind"),
        (list(SENTENCES.values()), SENTENCES, "lists of sentences could be"),
        ({"a": "cat"}, {"a": ["cat", "dog"]}, "ambiguous-kind"),
        (["cat"], ["cat"], "single words could be"),
        (RESULTS, INSTANCES, "different-kinds"),
        (np.eye(2), RESULTS, "different kinds: predictions: a ndarray; ground truth: keys"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_is_an_error(pred, ref, match):
    with refused(match):
        resolve_kind(pred, ref)


def test_damaged_and_absent_files_are_named(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"a": ')
    with refused("not-json"):
        resolve_kind(path, LABELS)
    with refused("missing-file"):
        resolve_kind(LABELS, tmp_path / "y.json")


def test_what_was_understood_is_said():
    found = resolve_kind(TEXTS, SENTENCES)
    assert found.understood == "predictions: a string an item; ground truth: lists of strings"


@pytest.mark.parametrize(
    ("text", "task"),
    [("id,label\na,cat\n", "labels"), ("a cat\nthe dog\n", "captions"), ('{"a": ["b"]}', "labels")],
)
def test_standard_input_is_read_once(monkeypatch, text, task):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    held = open_input("-")
    assert isinstance(held, Source)
    assert resolve_kind(held, {"a": ["cat"]} if task == "labels" else SENTENCES).kind == task
    assert len((as_labels if task == "labels" else as_captions)(held)) == 1 + (task == "captions")


def test_a_json_file_is_parsed_once(tmp_path, monkeypatch):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(LABELS))
    calls = []
    parsed = Source.parsed
    monkeypatch.setattr(
        Source, "parsed", lambda held, parse: parsed(held, lambda *a: calls.append(a) or parse(*a))
    )
    held = open_input(path)
    assert resolve_kind(held, LABELS).kind == "labels"
    assert len(as_labels(held)) == 2
    assert len(calls) == 1


def test_only_a_sample_is_looked_at():
    class Counted(dict):
        seen = 0

        def values(self):
            for value in super().values():
                self.seen += 1
                yield value

    large = Counted({str(i): ["cat"] * 1000 for i in range(100_000)})
    start = time.perf_counter()
    assert resolve_kind(large, large).kind == "labels"
    assert time.perf_counter() - start < 0.5
    assert large.seen <= 2 * inputs._ITEMS


def test_reference_data(reference_dir):
    coco = reference_dir / "coco"
    raw, references = (
        coco / "captions_val2014_fakecap_results.json",
        coco / "fakecap_tokenized_gts.json",
    )
    assert resolve_kind(raw, references).kind == "captions"
    assert resolve_kind(raw, coco / "coco_karpathy_test5k.tsv").kind == "captions"
    with refused("lists of sentences"):
        resolve_kind(coco / "fakecap_tokenized_res.json", references)
    images = reference_dir / "openimages"
    found = resolve_kind(images / "microsoft_predictions.csv", images / "ground_truth.csv")
    assert found.kind == "labels"


@pytest.mark.parametrize(
    ("data", "task", "sure"),
    [
        ({"1": "cat"}, "captions", False),
        ({"1": "a cat sleeps"}, "captions", True),
        ({"1": ["cat"]}, "labels", True),
        ({"1": ["ice cream", "hot dog"]}, "labels", True),
        ({"1": ["the cat sleeps"]}, "labels", False),
        ({"1": ["a man rides a horse"]}, "captions", False),
        ([["a man rides a horse"], ["a cat"]], "labels", False),
        ([("cat", "dog")], "labels", True),
        ({"1": [["cat", 0.5]]}, "labels", True),
        (np.zeros((2, 3)), "labels", True),
        ([{"id": 1, "caption": "cat"}], "captions", True),
        ([{"id": 1, "labels": ["a man rides a horse"]}], "labels", True),
        ({"1": []}, "labels", True),
    ],
)
def test_one_side_alone(data, task, sure):
    kind = resolve_kind(data)
    assert (kind.kind, not kind.others) == (task, sure)


def test_parsed_json_is_forgotten_once_it_is_read(tmp_path):
    path = tmp_path / "gt.json"
    path.write_text('{"a": ["cat"], "b": ["dog", "cat"]}', encoding="utf-8")
    loaded = open_input(path)
    assert resolve_kind(loaded, loaded).kind == "labels"
    assert "value" in vars(loaded)
    first = as_labels(loaded)
    assert "value" not in vars(loaded)
    assert as_labels(loaded).vocabulary == first.vocabulary
