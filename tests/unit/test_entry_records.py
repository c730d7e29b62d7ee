"""JSON records of one label or candidate each, and tables as pandas writes them to JSON."""

import json

import pandas as pd
import pytest
from refusals import refused

import semmetrics
from semmetrics import ReadOptions, as_captions, as_classes, as_labels, score

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


ORIENTS = ["records", "columns", "index", "split", "table"]
IDS = ["x", "a", "b", "c"]
LABELS = ["owl", "cat", "dog", "bus"]
TABLES = {
    "label": (as_labels, pd.DataFrame({"id": IDS, "label": LABELS})),
    "integer ids": (as_labels, pd.DataFrame({"id": [3, 2, 1, 0], "label": LABELS})),
    "label lists": (
        as_labels,
        pd.DataFrame({"image_id": IDS, "labels": [["owl"], ["cat", "sofa"], [], []]}),
    ),
    "captions": (
        as_captions,
        pd.DataFrame({"id": [7, 8, 9, 6], "image_id": IDS, "caption": LABELS}),
    ),
    "classes": (as_classes, pd.DataFrame({"file_name": IDS, "label": LABELS})),
}


def filtered(table):
    return table[1:]


def sorted_by_ids(table):
    return table.sort_values(table.columns[0])


def concatenated(table):
    return pd.concat([table[:2], table[2:].reset_index(drop=True)])


def with_strings(table):
    return table.set_axis(["r1", "r2", "r3", "r4"])


def with_floats(table):
    return table.set_axis([0.5, 1.0, -2.0, 4.5])


def with_two_levels(table):
    return table.set_axis(pd.MultiIndex.from_product([["u", "v"], [0, 1]]))


ODD_INDEXES = [
    filtered,
    sorted_by_ids,
    concatenated,
    with_strings,
    with_floats,
    with_two_levels,
]


TABLE_ORIENTS = [orient for orient in ORIENTS if orient != "index"]
"""Without ``index``, which writes a mapping from keys to records."""


@pytest.mark.parametrize("orient", TABLE_ORIENTS)
@pytest.mark.parametrize("reindex", ODD_INDEXES)
@pytest.mark.parametrize("name", TABLES)
def test_an_id_column_has_the_ids_whatever_the_index(tmp_path, name, reindex, orient):
    read, table = TABLES[name]
    frame = reindex(table)
    if orient == "columns" and not frame.index.is_unique:
        pytest.skip("pandas does not write it")
    frame.to_json(tmp_path / "p.json", orient=orient)

    lists = read(tmp_path / "p.json")

    expected = read(frame)
    assert list(lists.ids) == list(expected.ids)
    assert lists.to_list() == expected.to_list()


@pytest.mark.parametrize("orient", TABLE_ORIENTS)
@pytest.mark.parametrize("reindex", [filtered, sorted_by_ids])
def test_files_in_different_orders_agree(tmp_path, reindex, orient):
    _, table = TABLES["label"]
    reindex(table).to_json(tmp_path / "p.json", orient=orient)
    others = table.iloc[[0, 3, 1, 2]].reset_index(drop=True)
    reindex(others)[::-1].to_json(tmp_path / "g.json", orient=orient)

    assert score(tmp_path / "p.json", tmp_path / "g.json", measures="F1")[0].value == 1


@pytest.mark.parametrize("orient", ORIENTS[1:])
def test_a_chosen_column_has_the_ids(tmp_path, orient):
    frame = TABLE.rename(columns={"image_id": "photo"}).set_axis([4, 3])
    frame.to_json(tmp_path / "p.json", orient=orient)

    lists = as_labels(tmp_path / "p.json", options=ReadOptions(id_column="photo"))

    assert list(lists.ids) == ["a", "b"]


@pytest.mark.parametrize("column", [{"label": LABELS}, {"labels": [["cat"]] * 4}])
@pytest.mark.parametrize("orient", TABLE_ORIENTS[1:])
def test_a_column_of_items_has_the_ids(tmp_path, column, orient):
    frame = pd.DataFrame({"item": IDS, **column})[::-1]
    frame.to_json(tmp_path / "p.json", orient=orient)

    assert list(as_labels(tmp_path / "p.json").ids) == IDS[::-1]


@pytest.mark.parametrize("name", [None, "id", "photo"])
@pytest.mark.parametrize("orient", ORIENTS[1:])
def test_the_index_has_the_ids_of_a_table_without_id_column(tmp_path, name, orient):
    frame = pd.DataFrame({"label": ["cat", "dog"]}, index=["a", "b"]).rename_axis(name)
    frame.to_json(tmp_path / "p.json", orient=orient)

    lists = as_labels(tmp_path / "p.json")

    assert list(lists.ids) == ["a", "b"]
    assert lists.notes == []


@pytest.mark.parametrize(("index", "n_notes"), [([0, 1], 0), ([1, 0], 1)])
def test_a_note_reports_an_index_that_is_not_used(index, n_notes):
    frame = pd.DataFrame({"id": ["a", "b"], "label": ["cat", "dog"]}, index=index)

    lists = as_labels(frame.to_dict(orient="split"))

    assert [note.code for note in lists.notes] == ["index-not-used"] * n_notes


@pytest.mark.parametrize("keys", [("r1", "r2"), ("17", "23")])
def test_keys_of_records_are_the_ids_and_a_note_reports_other_ids(keys):
    first = {"id": "a", "labels": ["cat"]}
    second = {"id": "b", "labels": ["dog"]}
    document = dict(zip(keys, (first, second), strict=True))

    lists = as_labels(document)
    by_column = as_labels(document, options=ReadOptions(id_column="id"))

    assert list(lists.ids) == list(keys)
    assert [note.code for note in lists.notes] == ["own-ids-not-used"]
    assert list(by_column.ids) == ["a", "b"]
    assert by_column.notes == []


def test_records_without_an_id_of_their_own_have_their_keys_as_ids():
    lists = as_labels({"a": {"labels": ["cat"], "id": 3}, "b": {"labels": ["dog"]}})

    assert list(lists.ids) == ["a", "b"]


# ---- columns, index and data ---------------------------------------------------------------------


def split(columns, row, **index):
    return {"columns": columns, "data": [row], **index}


@pytest.mark.parametrize("index", [{}, {"index": None}, {"index": [5]}])
def test_a_split_table_may_have_no_index(index):
    lists = as_labels(split(["id", "label"], ["a", "cat"], **index))

    assert list(lists.ids) == ["a"]
    assert lists.to_list() == [["cat"]]


@pytest.mark.parametrize(
    ("columns", "row", "name"),
    [
        (["id", "label", "label"], ["a", "cat", "dog"], "label"),
        (["id", "id", "label"], ["a", "b", "cat"], "id"),
        (["id", "categories", "categories"], ["a", ["cat"], ["dog"]], "categories"),
    ],
)
def test_a_repeated_column_of_a_split_table_is_an_error(tmp_path, columns, row, name):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(split(columns, row, index=[0])))

    with refused("duplicate-column", str(path), name=name):
        as_labels(path)


def test_a_repeated_column_that_is_not_used_is_accepted():
    lists = as_labels(split(["id", "label", "x", "x"], ["a", "cat", 1, 2], index=[0]))

    assert lists.to_list() == [["cat"]]


def test_the_name_of_a_column_may_be_a_list():
    columns = ["id", "label", ["size", "height"]]

    lists = as_labels(split(columns, ["a", "cat", 3], index=[0]))

    assert lists.to_list() == [["cat"]]
    assert lists.notes[0].examples == ("['size', 'height']",)


@pytest.mark.parametrize(
    "document",
    [
        split(["id", [[]]], [1, "cat"], index=[0]),
        split(3, ["a", "cat"], index=[0]),
        split(["id", "label"], ["a", "cat"], index=0),
        split(["id", {}], ["a", "cat"], index=[{}]),
        {"schema": {"primaryKey": [[]]}, "data": [{"label": "cat"}, 3]},
    ],
)
def test_a_damaged_table_is_an_error(document):
    with pytest.raises(semmetrics.InputError):
        as_labels(document)


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
