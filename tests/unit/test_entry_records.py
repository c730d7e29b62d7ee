"""JSON records of one label or candidate each, as ``DataFrame.to_json`` writes them."""

from __future__ import annotations

import json

import pytest
from refusals import refused

import semmetrics
from semmetrics.scale import score_stream

MAP = {"task": "retrieval", "measures": "MAP MRR"}
RUN = [
    {"qid": "1", "docno": "a", "score": 0.9},
    {"qid": "1", "docno": "b", "score": 0.8},
    {"qid": "2", "docno": "d", "score": 0.2},
    {"qid": "2", "docno": "c", "score": 0.7},
]
TRUTH = [
    {"qid": "1", "docno": "a", "label": 0},
    {"qid": "1", "docno": "b", "label": 1},
    {"qid": "2", "docno": "d", "label": 2},
]


def lines(folder, name, records):
    path = folder / name
    path.write_text(
        "".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8"
    )
    return str(path)


def values(table):
    return [score.value for score in table]


def test_records_of_a_run_and_judgements(tmp_path):
    assert values(semmetrics.score(RUN, TRUTH, **MAP)) == [0.5, 0.5]
    run, truth = lines(tmp_path, "run.jsonl", RUN), lines(tmp_path, "gt.jsonl", TRUTH)
    assert values(semmetrics.score(run, truth, **MAP)) == [0.5, 0.5]
    assert values(score_stream(run, truth, **MAP).compute()) == [0.5, 0.5]
    with refused("swapped-order"):
        semmetrics.score(TRUTH, RUN, **MAP)


def test_numbers_as_ids_and_ranks():
    run = [{"query": 1, "docno": 7, "rank": 2}, {"query": 1, "docno": 8, "rank": 1}]
    truth = [{"query": 1, "docno": 8, "label": 1}]
    assert values(semmetrics.score(run, truth, **MAP)) == [1.0, 1.0]
    unknown = [{"query": 1, "docno": 7, "stars": 2}]
    with refused("unknown-numbers", name="stars"):
        semmetrics.score(unknown, truth, **MAP)


def test_records_of_labels():
    preds = [
        {"id": "a", "label": "cat", "confidence": 0.2},
        {"id": "a", "label": "dog", "confidence": 0.9},
        {"id": "b", "label": "bus", "confidence": 0.5},
    ]
    truth = [
        {"id": "a", "label": "dog"},
        {"id": "b", "label": "bus"},
        {"id": "c", "label": None},
    ]
    found = semmetrics.as_labels(preds)
    assert found.to_list() == [["cat", "dog"], ["bus"]]
    assert found.side.scores.tolist() == [0.2, 0.9, 0.5]
    assert semmetrics.as_labels(truth).to_list() == [["dog"], ["bus"], []]
    assert values(semmetrics.score(preds, truth[:2], measures="Precision@1")) == [1.0]
    assert semmetrics.as_labels([{"id": 1, "class": "cat"}]).to_list() == [["cat"]]


@pytest.mark.parametrize(
    ("records", "code", "place"),
    [
        ([{"id": 1, "labels": "cat, dog"}], "text-as-list", "element [0]"),
        (
            [{"id": 1, "label": "cat"}, {"id": 1, "label": ["dog"]}],
            "wrong-type",
            "element [1]",
        ),
        (
            [{"id": 1, "label": "cat"}, {"id": 1, "label": 3}],
            "wrong-type",
            "element [1]",
        ),
        ([{"id": 1, "label": "cat"}, ["dog"]], "wrong-type", "element [1]"),
        ([{"id": 1, "label": "cat"}, {"id": 1, "label": " "}], "empty", "element [0]"),
        (
            [{"id": 1, "label": "cat"}, {"label": "dog"}],
            "missing-column",
            "element [1]",
        ),
        (
            [{"id": 1, "label": "cat", "score": 0.5}, {"id": 1, "label": "dog"}],
            "mixed-rows",
            "element [1]",
        ),
        ([{"id": 1, "label": "cat", "score": "high"}], "not-a-number", "element [0]"),
        (
            [
                {"id": 1, "label": "a", "score": 0.5},
                {"id": 1, "label": "b", "score": None},
            ],
            "not-a-number",
            "element [1]",
        ),
    ],
)
def test_odd_records(records, code, place):
    with refused(code) as caught:
        semmetrics.as_labels(records)
    assert place in caught.value.where


def test_records_with_lists_stay_items():
    records = [{"id": 1, "labels": ["cat", "dog"], "name": "a.jpg", "score": 0.5}]
    found = semmetrics.as_labels(records)
    assert found.to_list() == [["cat", "dog"]]
    assert [note.code for note in found.notes] == ["unused-columns"]


pandas = pytest.importorskip("pandas")
LABELS = pandas.DataFrame(
    {
        "image_id": ["a", "a", "b"],
        "label": ["cat", "dog", "bus"],
        "score": [0.9, 0.8, 0.7],
    }
)
CAPTIONS = pandas.DataFrame(
    {"image_id": ["a", "b"], "caption": ["a cat sits", "a bus"]}
)


@pytest.mark.parametrize("orient", ["records", "columns", "index", "split", "table"])
def test_tables_that_pandas_wrote(orient, tmp_path):
    path = tmp_path / "p.json"
    LABELS.to_json(path, orient=orient)
    found = semmetrics.as_labels(str(path))
    assert (list(found.ids), found.to_list()) == (["a", "b"], [["cat", "dog"], ["bus"]])
    assert found.side.scores.tolist() == [0.9, 0.8, 0.7]
    CAPTIONS.to_json(path, orient=orient)
    found = semmetrics.as_captions(str(path))
    assert (list(found.ids), found.to_list()) == (
        ["a", "b"],
        [["a cat sits"], ["a bus"]],
    )


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
def test_tables_whose_index_has_the_ids(orient, tmp_path):
    path = tmp_path / "p.json"
    CAPTIONS.set_index("image_id").to_json(path, orient=orient)
    found = semmetrics.as_captions(str(path))
    assert (list(found.ids), found.to_list()) == (
        ["a", "b"],
        [["a cat sits"], ["a bus"]],
    )


def test_records_by_id():
    lists = {"a": {"labels": ["cat", "dog"], "scores": [0.9, 0.2]}, "b": {"labels": []}}
    found = semmetrics.as_labels({"a": lists["a"]})
    assert (found.to_list(), found.side.scores.tolist()) == (
        [["cat", "dog"]],
        [0.9, 0.2],
    )
    found = semmetrics.as_labels({"a": {"label": "cat", "score": 0.5}})
    assert (list(found.ids), found.to_list(), found.side.scores.tolist()) == (
        ["a"],
        [["cat"]],
        [0.5],
    )
    found = semmetrics.as_captions(
        {"a": {"caption": "a cat"}, "b": {"caption": ["a", "b"]}}
    )
    assert found.to_list() == [["a cat"], ["a", "b"]]
    found = semmetrics.as_captions(
        {"a": [{"caption": "a cat"}, {"caption": "the cat"}]}
    )
    assert found.to_list() == [["a cat", "the cat"]]


def test_mappings_to_numbers_are_scores():
    found = semmetrics.as_labels({"a": {"label": 0.5, "name": 0.25}, "b": {"cat": 0.5}})
    assert found.to_list() == [["label", "name"], ["cat"]]
    found = semmetrics.as_labels({"label": {"a": 0.5}, "image_id": {"a": 0.25}})
    assert list(found.ids) == ["label", "image_id"]


def test_rows_without_names_of_columns():
    with refused("id-pairs"):
        semmetrics.as_labels([["a", ["cat", "dog"]], ["b", ["bus"]]])
    found = semmetrics.as_labels([["cat", ["dog", "puppy"]]])
    assert len(found.to_list()[0]) == 2
