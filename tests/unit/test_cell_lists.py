"""Lists and objects that a program wrote as text into one cell."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from reading import saved
from refusals import refused
from tables import write_table

from semmetrics import ReadOptions, Scorer, as_captions, as_labels
from semmetrics.data.cells import (
    are_lists_of_scores,
    pair_lists,
    read_cell,
    recipe,
)
from semmetrics.scale.stream import score_stream

LABELS = [["cat", "dog's"], ["a, b"], [], ["two\nlines", 'say "hi"']]
WRITERS = {
    "python": str,
    "tuple": lambda labels: str(tuple(labels)),
    "numpy": lambda labels: str(np.array(labels, object)),
    "numpy strings": lambda labels: str([np.str_(label) for label in labels]),
    "json": json.dumps,
}
"""How programs write a list as text."""


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "frame"])
def test_lists_written_as_text_are_read(tmp_path, writer, suffix):
    rows = []
    for number, labels in enumerate(LABELS):
        rows.append({"id": f"i{number}", "labels": WRITERS[writer](labels)})
    data = pd.DataFrame(rows)
    if suffix != "frame":
        data = write_table(tmp_path / f"gt.{suffix}", rows)

    lists = as_labels(data)

    assert lists.to_list() == LABELS
    assert "lists written as text" in lists.understood


@pytest.mark.parametrize("writer", ["python", "numpy", "json"])
def test_scores_written_as_lists_are_read(writer):
    write = WRITERS[writer]
    columns = {
        "id": ["a", "b"],
        "labels": [write(["cat", "dog"]), write(["bus"])],
        "scores": [write([0.9, 0.5]), write([0.25])],
    }

    lists = as_labels(pd.DataFrame(columns))

    assert lists.to_list() == [["cat", "dog"], ["bus"]]
    assert lists.side.scores.tolist() == [0.9, 0.5, 0.25]


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("{'cat', 'dog'}", ["cat", "dog"]),
        ("[('cat', 0.9), ('dog', 0.3)]", ["cat", "dog"]),
        ("[{'label': 'cat', 'score': 0.9}]", ["cat"]),
        ("[3, 17]", ["3", "17"]),
        ("[3 17]", ["3", "17"]),
        ("['cat;dog']", ["cat;dog"]),
    ],
)
def test_sets_pairs_objects_and_numbers_are_read(cell, labels):
    assert as_labels([cell]).to_list() == [labels]


@pytest.mark.parametrize(
    "data",
    [
        pd.Series(["['a cat', 'the cat']", '["a dog"]'], ["a", "b"]),
        {"a": "['a cat', 'the cat']", "b": '["a dog"]'},
        ["['a cat', 'the cat']", '["a dog"]'],
    ],
)
def test_lists_of_captions_are_read(data):
    assert as_captions(data).to_list() == [["a cat", "the cat"], ["a dog"]]


def test_brackets_around_other_texts_are_not_lists():
    texts = [
        *("[CLS] a dog", "a dog [sic]", "[unclear]", "(a dog)", "{dog}", "('a dog')"),
        *("[cat, dog]", "[it's a dog]", "['", "[1st] place", "set(ting) sun"),
        *("[" * 5000 + "]" * 5000, "[{" * 2000, "['a''b']", "['a', b]"),
    ]

    lists = as_captions(texts)

    assert lists.to_list() == [[text] for text in texts]
    assert lists.notes == []


@pytest.mark.parametrize(
    "cells", [["[CLS]", "[SEP]"], ["[cat, dog]", "bus"], ["{cat}", "{bus}"]]
)
def test_brackets_of_labels_are_part_of_them(cells):
    lists = as_labels([[cell] for cell in cells])

    assert lists.to_list() == [[cell] for cell in cells]


def test_lists_among_other_captions_are_noted_and_remain_text():
    texts = ["a dog", "['a cat']", "two cows"]

    lists = as_captions(texts)

    assert lists.to_list() == [[text] for text in texts]
    assert [note.code for note in lists.notes] == ["lists-among-texts"]


# Errors


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("labels\na,\"['x', 'y']\"\nb,cat\n", "mixed-cells"),
        ("labels,scores\na,\"['x']\",[0.5]\nb,cat,0.4\n", "not-a-list"),
        ("labels,scores\na,,\nb,\"['x', 'y']\",0.5\n", "score-of-a-list"),
        ("labels,scores\na,\"['x']\",[0.5]\nb,\"['x', 'y']\",[0.5]\n", "wrong-count"),
    ],
)
def test_cells_that_are_not_lists_among_lists_are_an_error(tmp_path, rows, code):
    path = saved(tmp_path, "gt.csv", f"id,{rows}")

    with refused(code, where=f"{path}, line 3, id 'b'"):
        as_labels(path)


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("{'cat': 0.9, 'dog': 0.4}", [["cat", 0.9], ["dog", 0.4]]),
        ("[{'cat': 0.9}, {'dog': 0.4}]", [["cat", 0.9], ["dog", 0.4]]),
        ('{"choice": "cat"}', ["cat"]),
        ("[{'id': 3, 'name': 'cat'}, {'id': 4, 'name': 'dog'}]", ["cat", "dog"]),
        ('[{"x": 3, "labels": ["cat"]}, {"x": 4, "labels": ["dog"]}]', ["cat", "dog"]),
    ],
)
def test_the_code_of_an_error_reads_the_cell(cell, labels):
    expression = recipe(read_cell(cell), cell)
    program = f"import ast, json\ncell = {cell!r}\nprint(json.dumps({expression}))"

    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert json.loads(process.stdout) == labels


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ('{"class": "dog"}', "[json.loads(cell)['class']]"),
        ('[{"id": 3, "name": "cat"}]', "[one['name'] for one in json.loads(cell)]"),
    ],
)
def test_objects_with_other_keys_are_an_error_with_code(cell, code):
    with refused("objects-as-text") as caught:
        as_labels({"a": cell})

    assert code in str(caught.value)


def test_a_list_that_numpy_abbreviated_is_an_error():
    labels = np.array([f"label {number}" for number in range(2000)])

    with refused("cut-list", place="item 0 (from 0)"):
        as_labels([str(labels)])


@pytest.mark.parametrize("delimiter", [None, ","])
@pytest.mark.parametrize("cells", [["[cat, dog]", "[bus]"], ["{cat,dog}", "{bus}"]])
def test_lists_without_quotes_are_an_error(tmp_path, cells, delimiter):
    rows = [{"id": "a", "labels": cells[0]}, {"id": "b", "labels": cells[1]}]
    path = write_table(tmp_path / "gt.csv", rows)
    brackets = cells[0][0] + cells[0][-1]
    options = ReadOptions(label_delimiter=delimiter)

    with refused("unquoted-list", f"{path}, line 2, id 'a'", brackets=brackets):
        as_labels(path, options=options)


@pytest.mark.parametrize(
    "cells",
    [
        ["[1, 0, 1]", "[0, 1, 0]"],
        ["[1 0 1]", "[0 1 1]"],
        ["[1, 0]", "[0, 1]"],
        ["[1, 1]", "[]"],
        ["tensor([1, 0, 1])", "tensor([0, 1, 0], device='cuda:0')"],
    ],
)
def test_vectors_of_0_and_1_are_an_error(cells):
    with refused("vector-as-labels", place="id 'a'"):
        as_labels({"a": cells[0], "b": cells[1]})


@pytest.mark.parametrize(
    ("cells", "delimiter"),
    [(["1;0;1", "0;1;0"], ";"), (["True False", "False True"], " ")],
)
def test_vectors_of_0_and_1_in_split_cells_are_an_error(tmp_path, cells, delimiter):
    path = saved(tmp_path, "gt.csv", f"id,labels\na,{cells[0]}\nb,{cells[1]}\n")

    with refused("vector-as-labels", where=f"{path}, line 2, id 'a'"):
        as_labels(path, options=ReadOptions(label_delimiter=delimiter))


@pytest.mark.parametrize(
    "cells",
    [
        ["['1', '0', '1']", "['0', '1', '0']"],
        ["[1, 0]", "[1]"],
        ["[0, 1]", "[0, 1]"],
        ["[1, 0, 2]", "[0, 1, 1]"],
        ["[1]", "[0]"],
    ],
)
def test_numbers_that_are_not_vectors_are_labels(cells):
    labels = []
    for cell in cells:
        labels.append([str(number) for number in read_cell(cell)])

    assert as_labels(cells).to_list() == labels


def test_vectors_with_a_class_list_are_rows_of_a_matrix():
    lists = as_labels(["[1, 0, 1]", "[0, 1, 0]"], classes=["cat", "dog", "bus"])

    assert lists.to_list() == [["cat", "bus"], ["dog"]]


# Streams and batches


def test_a_stream_whose_cells_change_is_an_error(tmp_path, monkeypatch):
    lists = [f"list{number},\"['cat', 'dog']\"" for number in range(300)]
    empty = [f"empty{number}," for number in range(1000)]
    texts = [f"text{number},cat" for number in range(300)]
    text = "\n".join(["id,labels", *lists, *empty, *texts])
    path = str(saved(tmp_path, "preds.csv", text))
    monkeypatch.setattr("semmetrics.data.blocks.BLOCK_BYTES", 2**12)
    monkeypatch.setattr("semmetrics.data.source.MAX_SMALL_BYTES", 99)
    monkeypatch.setattr("semmetrics.data.blocks.MAX_SMALL_BYTES", 99)

    with refused("other-style") as caught:
        score_stream(path, path, measures="F1")

    assert re.search(r"preds\.csv, line \d+, id 'text", caught.value.where)


LISTS = [["['cat', 'dog']"], ["[]"], ["['cat']"]]
TEXTS = [["cat"], ["dog"], ["['x']"]]


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    "batches", [[LISTS], [LISTS[1:2], LISTS], [[[]], LISTS], [[], LISTS[:1], [[]]]]
)
def test_batches_of_lists_may_begin_with_empty_items(batches, keep_rows):
    scorer = Scorer(measures="F1(empty=1)", keep_rows=keep_rows)

    for batch in batches:
        scorer.update(batch, batch)

    assert scorer.compute()["F1(empty=1)"].value == 1


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    ("first", "later", "row"),
    [
        (LISTS, TEXTS, 0),
        (TEXTS, LISTS, 0),
        (TEXTS[:1], [[], *LISTS[:1]], 1),
    ],
)
def test_batches_with_other_cells_are_an_error(first, later, row, keep_rows):
    scorer = Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update([["cat"]] * len(first), first)

    with refused("other-style", where=f"gts, item {row} (from 0)"):
        scorer.update([["cat"]] * len(later), later)

    assert len(scorer) == len(first)


@pytest.mark.parametrize(
    ("labels", "scores", "code"),
    [
        ("cat", "[0.5]", "not-a-list"),
        ("['cat']", "half", "not-a-list"),
        ("['cat']", "[0.5, 0.1]", "wrong-count"),
        ("['cat']", "", "wrong-count"),
        ("[True]", "[0.5]", "wrong-type"),
        ("[1.5]", "[0.5]", "wrong-type"),
    ],
)
def test_labels_and_scores_in_two_cells_have_to_match(labels, scores, code):
    with refused(code):
        pair_lists(labels, scores)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([" ", "", "[0.5]"], True),
        (["", "0.5", "[0.5]"], False),
        (["", 0.5], False),
        (["", " "], False),
    ],
)
def test_the_first_cell_with_content_decides_whether_scores_are_lists(cells, expected):
    assert are_lists_of_scores(cells) is expected
