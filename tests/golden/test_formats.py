"""Every general file format is read to the same lists."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
import pytest
import scipy.sparse

import semmetrics
from semmetrics import ReadOptions

LABELS = {"007": ["café", "bus"], "8 b": ["street light"], "3": []}
SCORED = {"007": [("bus", 0.75), ("café", 0.5)], "8 b": [("cat", 0.25)], "3": []}
CAPTIONS = {
    "7": ["A cat sleeps.", "the cat"],
    "é 1": ["Un café, s'il vous plaît!", "un café"],
}
CLASSES = ["bus", "car", "cat"]
TRUTH = np.array([[1, 0, 1], [0, 0, 0]])
SCORES = np.array([[0.75, 0.5, 0.25], [0.0, 0.25, 1.0]])


def labels_of(lists):
    return dict(zip(lists.ids, lists.to_list(), strict=True))


def scored_labels_of(lists):
    """Return the pairs of labels and scores of each item, with falling scores."""
    pairs = zip(lists.values(), lists.side.scores.tolist(), strict=True)
    items = {}
    for id_, labels in labels_of(lists).items():
        item = [next(pairs) for _ in labels]
        items[id_] = sorted(item, key=lambda pair: -pair[1])
    return items


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write_file(name, content):
        data = content.encode() if isinstance(content, str) else content
        if name.endswith(".gz"):
            data = gzip.compress(data)
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write_file


@pytest.fixture
def write_parquet(tmp_path):
    """Return a function that writes columns to a Parquet file and returns its path."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def write_file(columns):
        path = tmp_path / "columns.parquet"
        parquet.write_table(pyarrow.table(columns), path)
        return path

    return write_file


def as_json(value):
    return json.dumps(value, ensure_ascii=False)


RECORDS = """[{"id": "007", "labels": ["café", "bus"]},
 {"id": "8 b", "labels": ["street light"]},
 {"id": "3", "labels": []}]"""
LINES = """{"id": "007", "labels": ["café", "bus"]}
{"id": "8 b", "labels": ["street light"]}
{"id": "3", "labels": []}
"""
TABLE = "id,label\n007,café\n007,bus\n8 b,street light\n3,\n"
WIDE_TABLE = "img_id,names\n007,café;bus\n8 b,street light\n3,\n"
COCO = {
    "images": [
        {"id": 1, "file_name": "007"},
        {"id": 2, "file_name": "8 b"},
        {"id": 3, "file_name": "3"},
    ],
    "annotations": [
        {"id": 0, "image_id": 1, "category_id": 5},
        {"id": 1, "image_id": 1, "category_id": 6},
        {"id": 2, "image_id": 2, "category_id": 7},
    ],
    "categories": [
        {"id": 5, "name": "café"},
        {"id": 6, "name": "bus"},
        {"id": 7, "name": "street light"},
    ],
}
OWN_NAMES = {"id_column": "photo", "label_column": "seen"}
LABEL_FILES = [
    ("mapping.json", as_json(LABELS), {}),
    ("byte_order_mark.json", "\ufeff" + as_json(LABELS), {}),
    ("records.json", RECORDS, {}),
    ("image_ids.json", RECORDS.replace('"id"', '"image_id"'), {}),
    (
        "own_keys.json",
        RECORDS.replace('"id"', '"photo"').replace('"labels"', '"seen"'),
        OWN_NAMES,
    ),
    ("mapping.dat", as_json(LABELS), {"format": "json"}),
    ("lines.jsonl", LINES, {}),
    ("blank_lines.ndjson", "\n" + LINES.replace("\n", "\r\n\n"), {}),
    ("table.csv", TABLE, {}),
    ("windows.csv", "\ufeff" + TABLE.replace("\n", "\r\n"), {}),
    ("capitals.csv", TABLE.replace("id,label", "ID,Label"), {}),
    ("own_names.csv", TABLE.replace("id,label", "photo,seen"), OWN_NAMES),
    ("bars.csv", TABLE.replace(",", "|"), {"delimiter": "|"}),
    ("table.tsv", TABLE.replace(",", "\t"), {}),
    ("table.tab", TABLE.replace(",", "\t"), {}),
    ("wide.csv", WIDE_TABLE, {"label_delimiter": ";"}),
    ("wide.tsv", WIDE_TABLE.replace(",", "\t"), {"label_delimiter": ";"}),
    ("mapping.json.gz", as_json(LABELS), {}),
    ("lines.jsonl.gz", LINES, {}),
    ("table.csv.gz", TABLE, {}),
]


@pytest.mark.parametrize(("name", "content", "options"), LABEL_FILES)
def test_files_of_labels_have_the_same_lists(write, name, content, options):
    path = write(name, content)

    lists = semmetrics.as_labels(path, options=ReadOptions(**options))

    assert labels_of(lists) == LABELS


def test_coco_instances_have_the_categories_of_each_image(write):
    path = write("instances.json", as_json(COCO))

    lists = semmetrics.as_labels(path)

    assert lists.to_list() == list(LABELS.values())


def test_a_list_of_lists_has_positions_instead_of_ids(write):
    path = write("positions.json", as_json(list(LABELS.values())))

    lists = semmetrics.as_labels(path)

    assert labels_of(lists) == dict(enumerate(LABELS.values()))


@pytest.mark.parametrize(
    "columns",
    [
        {
            "id": ["007", "007", "8 b", "3"],
            "label": ["café", "bus", "street light", None],
        },
        {"id": list(LABELS), "labels": list(LABELS.values())},
    ],
    ids=["one label per row", "one item per row"],
)
def test_parquet_files_of_labels_have_the_same_lists(write_parquet, columns):
    assert labels_of(semmetrics.as_labels(write_parquet(columns))) == LABELS


SCORED_RECORDS = """[
 {"id": "007", "labels": [{"label": "café", "score": 0.5}, {"label": "bus", "score": 0.75}]},
 {"id": "8 b", "labels": [{"label": "cat", "score": 0.25}]},
 {"id": "3", "labels": []}]"""
SEPARATE_SCORES = """[
 {"id": "007", "labels": ["café", "bus"], "scores": [0.5, 0.75]},
 {"id": "8 b", "labels": ["cat"], "scores": [0.25]},
 {"id": "3", "labels": [], "scores": []}]"""
SCORED_TABLE = "id,label,score\n007,café,0.5\n007,bus,0.75\n8 b,cat,0.25\n3,,\n"
SCORED_FILES = [
    ("pairs.json", as_json(SCORED), {}),
    (
        "mappings.json",
        as_json({id_: dict(pairs) for id_, pairs in SCORED.items()}),
        {},
    ),
    ("records.json", SCORED_RECORDS, {}),
    ("separate_scores.json", SEPARATE_SCORES, {}),
    ("lines.jsonl", SCORED_RECORDS[2:-1].replace("},\n", "}\n"), {}),
    ("table.csv", SCORED_TABLE, {}),
    (
        "confidence.tsv",
        SCORED_TABLE.replace("score", "confidence").replace(",", "\t"),
        {},
    ),
    (
        "own_names.csv",
        SCORED_TABLE.replace("id,label,score", "photo,seen,sure"),
        {**OWN_NAMES, "score_column": "sure"},
    ),
    (
        "wide.csv",
        "id,labels,scores\n007,café;bus,0.5;0.75\n8 b,cat,0.25\n3,,\n",
        {"label_delimiter": ";"},
    ),
]


@pytest.mark.parametrize(("name", "content", "options"), SCORED_FILES)
def test_files_of_scored_labels_have_the_same_lists(write, name, content, options):
    path = write(name, content)

    lists = semmetrics.as_labels(path, options=ReadOptions(**options))

    assert scored_labels_of(lists) == SCORED


@pytest.mark.parametrize(
    "columns",
    [
        {
            "id": ["007", "007", "8 b", "3"],
            "label": ["café", "bus", "cat", None],
            "score": [0.5, 0.75, 0.25, None],
        },
        {
            "id": ["007", "8 b", "3"],
            "labels": [["café", "bus"], ["cat"], []],
            "scores": [[0.5, 0.75], [0.25], []],
        },
    ],
    ids=["one label per row", "one item per row"],
)
def test_parquet_files_of_scored_labels_have_the_same_lists(write_parquet, columns):
    assert scored_labels_of(semmetrics.as_labels(write_parquet(columns))) == SCORED


CAPTION_TABLE = """image_id,caption
7,A cat sleeps.
7,the cat
é 1,"Un café, s'il vous plaît!"
é 1,un café
"""
CAPTION_RESULTS = [
    {"image_id": id_, "caption": caption}
    for id_, captions in CAPTIONS.items()
    for caption in captions
]
CAPTION_FILES = [
    ("mapping.json", as_json(CAPTIONS), {}),
    ("results.json", as_json(CAPTION_RESULTS), {}),
    ("coco.json", as_json({"annotations": CAPTION_RESULTS}), {}),
    ("results.jsonl.gz", "\n".join(map(as_json, CAPTION_RESULTS)), {}),
    ("table.csv", CAPTION_TABLE, {}),
    (
        "own_names.csv",
        CAPTION_TABLE.replace("image_id,caption", "photo,said"),
        {"id_column": "photo", "caption_column": "said"},
    ),
]


@pytest.mark.parametrize(("name", "content", "options"), CAPTION_FILES)
def test_files_of_captions_have_the_same_lists(write, name, content, options):
    path = write(name, content)

    lists = semmetrics.as_captions(path, options=ReadOptions(**options))

    assert labels_of(lists) == CAPTIONS


def test_lines_of_text_are_captions_of_positions(write):
    path = write("captions.txt", "a cat\tthe cat\na dog\n")

    lists = semmetrics.as_captions(path)

    assert lists.to_list() == [["a cat", "the cat"], ["a dog"]]


@pytest.mark.parametrize(
    "form", ["array", "bool", "csr_matrix", "csc_matrix", "coo_matrix"]
)
def test_files_of_0_and_1_have_the_classes_of_each_row(write, form):
    buffer = io.BytesIO()
    if form == "array":
        np.save(buffer, TRUTH)
    elif form == "bool":
        np.savez(buffer, truth=TRUTH > 0)
    else:
        scipy.sparse.save_npz(buffer, getattr(scipy.sparse, form)(TRUTH))
    name = "truth.npy" if form == "array" else "truth.npz"

    lists = semmetrics.as_labels(write(name, buffer.getvalue()), classes=CLASSES)

    assert lists.to_list() == [["bus", "cat"], []]


def test_archives_with_names_have_the_scores_of_each_class(write):
    buffer = io.BytesIO()
    np.savez(buffer, scores=SCORES, classes=np.array(CLASSES), ids=np.array(["x", "y"]))

    lists = semmetrics.as_labels(write("scores.npz", buffer.getvalue()))

    assert scored_labels_of(lists) == {
        "x": [("bus", 0.75), ("car", 0.5), ("cat", 0.25)],
        "y": [("cat", 1.0), ("car", 0.25), ("bus", 0.0)],
    }
