"""JSON records of one label or candidate each, and tables as pandas writes them to JSON."""

import pandas as pd
import pytest
from refusals import refused

import semmetrics
from semmetrics import as_captions, as_labels

MRR = {"task": "retrieval", "measures": "MRR"}
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


def test_records_of_a_run_and_judgements_are_read():
    assert semmetrics.score(RUN, TRUTH, **MRR)["MRR"].value == 0.5
    with refused("swapped-order"):
        semmetrics.score(TRUTH, RUN, **MRR)


def test_records_of_a_run_may_have_integers_as_ids_and_ranks():
    run = [{"query": 1, "docno": 7, "rank": 2}, {"query": 1, "docno": 8, "rank": 1}]
    truth = [{"query": 1, "docno": 8, "label": 1}]

    assert semmetrics.score(run, truth, **MRR)["MRR"].value == 1.0
    with refused("unknown-numbers", name="stars"):
        semmetrics.score([{"query": 1, "docno": 7, "stars": 2}], truth, **MRR)


def test_records_of_labels_are_read():
    records = [
        {"id": "a", "label": "cat", "confidence": 0.2},
        {"id": "a", "label": "dog", "confidence": 0.9},
        {"id": "b", "label": "bus", "confidence": 0.5},
    ]

    lists = as_labels(records)

    assert lists.to_list() == [["cat", "dog"], ["bus"]]
    assert lists.side.scores.tolist() == [0.2, 0.9, 0.5]


def test_a_record_without_a_label_is_an_item_without_labels():
    records = [{"id": "a", "label": "dog"}, {"id": "c", "label": None}]

    assert as_labels(records).to_list() == [["dog"], []]


CAT = {"id": 1, "label": "cat"}


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"id": 1, "label": ["dog"]}, "wrong-type"),
        ({"id": 1, "label": 3}, "wrong-type"),
        (["dog"], "wrong-type"),
        ({"label": "dog"}, "missing-column"),
        ({"id": 1, "label": "dog", "score": "high"}, "mixed-rows"),
    ],
)
def test_a_record_that_differs_from_the_first_is_an_error(record, code):
    with refused(code) as caught:
        as_labels([CAT, record])

    assert "element [1]" in caught.value.where


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"id": 1, "labels": "cat, dog"}, "text-as-list"),
        ({"id": 1, "label": "cat", "score": "high"}, "not-a-number"),
        ({"id": 1, "label": "cat", "score": None}, "not-a-number"),
    ],
)
def test_a_wrong_first_record_is_an_error(record, code):
    with refused(code):
        as_labels([record])


TABLE = pd.DataFrame(
    {
        "image_id": ["a", "b"],
        "label": ["cat", "bus"],
        "score": [0.9, 0.7],
    }
)


@pytest.mark.parametrize(
    ("table", "orients"),
    [
        (TABLE, ["records", "columns", "index", "split", "table"]),
        (TABLE.set_index("image_id"), ["columns", "index", "split", "table"]),
    ],
    ids=["column of ids", "index of ids"],
)
def test_tables_that_pandas_wrote_are_read(tmp_path, table, orients):
    for orient in orients:
        table.to_json(tmp_path / "p.json", orient=orient)

        lists = as_labels(tmp_path / "p.json")

        assert list(lists.ids) == ["a", "b"]
        assert lists.to_list() == [["cat"], ["bus"]]
        assert lists.side.scores.tolist() == [0.9, 0.7]


@pytest.mark.parametrize(
    ("read", "record", "entries"),
    [
        (as_labels, {"labels": ["cat", "dog"], "scores": [0.9, 0.2]}, ["cat", "dog"]),
        (as_labels, {"label": "cat", "score": 0.5}, ["cat"]),
        (as_captions, {"caption": "a cat"}, ["a cat"]),
        (as_captions, {"caption": ["a cat", "the cat"]}, ["a cat", "the cat"]),
        (as_captions, [{"caption": "a cat"}, {"caption": "cats"}], ["a cat", "cats"]),
    ],
)
def test_records_may_be_the_values_of_ids(read, record, entries):
    lists = read({"a": record})

    assert list(lists.ids) == ["a"]
    assert lists.to_list() == [entries]


@pytest.mark.parametrize("pair", [list, tuple])
def test_pairs_of_an_id_and_labels_are_an_error(pair):
    pairs = [pair(["a", ["cat", "dog"]]), pair(["b", ["bus"]])]

    with refused("id-pairs"):
        as_labels(pairs)
