"""Lists and objects that a program wrote as text into one cell."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from refusals import codes, refused

import semmetrics
from semmetrics import ReadOptions, Scorer, as_captions, as_labels
from semmetrics.data.cells import read_cell, recipe
from semmetrics.data.source import SMALL
from semmetrics.scale.stream import score_stream

LABELS = [["cat", "dog's"], ["a, b"], [], ["two\nlines", 'say "hi"']]
WAYS = {
    "python": list,
    "tuple": tuple,
    "numpy": lambda labels: np.array(labels, object),
    "numpy-strings": lambda labels: [np.str_(label) for label in labels],
    "json": json.dumps,
}


def frame_of(labels, write):
    return pd.DataFrame(
        {"id": [f"i{n}" for n in range(len(labels))], "labels": map(write, labels)}
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "frame", "jsonl"])
def test_lists_written_as_text_are_read(way, kind, tmp_path):
    frame, path = frame_of(LABELS, WAYS[way]), tmp_path / f"gt.{kind}"
    written = frame.assign(labels=frame.labels.map(str))
    data = path
    if kind == "parquet":
        written.to_parquet(path)
    elif kind == "jsonl":
        written.to_json(path, orient="records", lines=True)
    elif kind == "frame":
        data = written
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    found = as_labels(data)
    assert found.to_list() == LABELS
    assert "lists written as text" in found.understood


@pytest.mark.parametrize("way", ["python", "numpy", "json"])
def test_scores_in_lists_go_with_their_labels(way, tmp_path):
    path = tmp_path / "preds.csv"
    frame = pd.DataFrame({"id": ["a", "b"], "labels": [["cat", "dog"], ["bus"]]})
    scores = [[0.9, 0.5], [0.25]]
    frame["scores"] = [np.array(one) if way == "numpy" else one for one in scores]
    frame["labels"] = frame.labels.map(WAYS[way])
    frame.to_csv(path, index=False)
    for data in (
        path,
        frame.assign(labels=frame.labels.map(str), scores=frame.scores.map(str)),
    ):
        found = as_labels(data)
        assert found.to_list() == [["cat", "dog"], ["bus"]]
        assert found.side.scores.tolist() == [0.9, 0.5, 0.25]
    path.write_text("id,labels,scores\na,\"['cat', 'dog']\",[0.9]\n")
    with refused("wrong-count", where=f"{path}, line 2, id 'a'"):
        as_labels(path)


def test_sets_pairs_and_numbers(tmp_path):
    path = tmp_path / "gt.csv"
    for cell, wanted in (
        ("\"{'cat', 'dog'}\"", ["cat", "dog"]),
        ("\"[('cat', 0.9), ('dog', 0.3)]\"", ["cat", "dog"]),
        ("\"[{'label': 'cat', 'score': 0.9}]\"", ["cat"]),
        ('"[3, 17]"', ["3", "17"]),
        ("[3 17]", ["3", "17"]),
    ):
        path.write_text(f"id,labels\na,{cell}\n")
        assert as_labels(path).to_list() == [wanted]
    assert as_labels(path, classes=list("abcdefghijklmnopqrst")).to_list() == [
        ["d", "r"]
    ]


def test_captions_of_a_series_and_of_values_by_id():
    texts = ["['a cat', 'the cat']", '["a dog"]']
    wanted = [["a cat", "the cat"], ["a dog"]]
    for data in (
        pd.Series(texts, ["a", "b"]),
        dict(zip("ab", texts, strict=True)),
        texts,
    ):
        assert as_captions(data).to_list() == wanted


def test_brackets_alone_change_nothing():
    texts = [
        "[CLS] a dog",
        "a dog [sic]",
        "[unclear]",
        "(a dog)",
        "{dog}",
        "('a dog')",
        "[cat, dog]",
    ]
    texts += [
        "[]",
        "[it's a dog]",
        "['",
        "[1st] place",
        "array of dogs",
        "set(ting) sun",
    ]
    for text in texts[:7] + texts[8:]:
        assert as_captions([text]).to_list() == [[text]]
    found = as_captions(texts)
    assert found.to_list() == [[text] for text in texts]
    assert found.notes == []


def test_some_lists_among_texts_stay_text_and_are_noted():
    texts = ["a dog", "['a cat']", "two cows"]
    found = as_captions(texts)
    assert found.to_list() == [[text] for text in texts]
    assert [note.code for note in found.notes] == ["lists-among-texts"]
    assert (
        codes(semmetrics.score(texts, texts, measures="BLEU-1"))
        == ["lists-among-texts"] * 2
    )


def test_texts_among_lists_are_refused(tmp_path):
    path = tmp_path / "gt.csv"
    path.write_text("id,labels\na,\"['x', 'y']\"\nb,\"['z']\"\nc,cat\n")
    with refused("mixed-cells", where=f"{path}, line 4, id 'c'"):
        as_labels(path)
    path.write_text("id,labels,scores\na,\"['x']\",[0.5]\nc,cat,0.4\n")
    with refused("not-a-list", where=f"{path}, line 3, id 'c'"):
        as_labels(path)
    path.write_text("id,labels,scores\na,\"['x', 'y']\",0.5\n")
    with refused("score-of-a-list", where=f"{path}, line 2, id 'a'"):
        as_labels(path)


@pytest.mark.parametrize(
    ("cell", "recipe"),
    [
        ({"class": "dog"}, "[json.loads(cell)['class']]"),
        ({"x": 1, "picked": ["a", "b"]}, "json.loads(cell)['picked']"),
        ([{"id": 3, "name": "cat"}], "[one['name'] for one in json.loads(cell)]"),
    ],
)
def test_objects_are_refused_with_a_recipe(cell, recipe, tmp_path):
    path = tmp_path / "gt.csv"
    pd.DataFrame({"id": ["a"], "labels": [json.dumps(cell)]}).to_csv(path, index=False)
    with refused("objects-as-text", where=f"{path}, line 2, id 'a'") as error:
        as_labels(path)
    assert recipe in str(error.value)


def test_a_list_that_numpy_cut_is_refused(tmp_path):
    path = tmp_path / "gt.csv"
    frame_of([[f"label {n}" for n in range(2000)]], np.array).to_csv(path, index=False)
    with refused("cut-list", where=f"{path}, line 2, id 'i0'"):
        as_labels(path)


def test_large_files_and_streams_read_the_same_lists(tmp_path):
    labels = [[f"cat {n % 7} {'and so on' * 9}", "dog"][: n % 3] for n in range(40_000)]
    path, gt = tmp_path / "preds.csv", tmp_path / "gt.jsonl"
    frame_of(labels, list).to_csv(path, index=False)
    frame_of(labels, list).to_json(gt, orient="records", lines=True)
    assert path.stat().st_size > SMALL
    assert as_labels(path).to_list() == labels
    options = {"measures": ["F1(empty=1)", "Precision(no_prediction=1)"]}
    whole = semmetrics.score(path, gt, **options)
    stream = score_stream(str(path), str(gt), **options).compute()
    assert (
        list(whole.to_dict().values()) == list(stream.to_dict().values()) == [1.0, 1.0]
    )


def test_a_stream_whose_cells_change_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "preds.csv"
    rows = [f"i{n},\"['cat', 'dog']\"" for n in range(300)]
    rows += [f"empty{n}," for n in range(1000)]  # no block has both lists and texts
    rows += [f"j{n},cat" for n in range(300)]
    path.write_text("\n".join(["id,labels", *rows, ""]))
    monkeypatch.setattr("semmetrics.data.blocks.BLOCK", 2**12)
    monkeypatch.setattr("semmetrics.data.source.SMALL", 99)
    monkeypatch.setattr("semmetrics.data.blocks.SMALL", 99)
    with refused("other-style") as caught:
        score_stream(str(path), str(path), measures="F1")
    assert re.search(r"preds\.csv, line \d+, id 'j", caught.value.where)
    path.write_text("\n".join(["id,labels", *reversed(rows), ""]))
    with refused("other-style") as caught:
        score_stream(str(path), str(path), measures="F1")
    assert re.search(r"preds\.csv, line \d+, id 'i", caught.value.where)


def test_files_of_a_folder_whose_cells_differ_are_refused(tmp_path):
    folder, other = tmp_path / "preds", tmp_path / "gt.jsonl"
    folder.mkdir()
    (folder / "1.csv").write_text("id,labels\na,\"['cat', 'dog']\"\n")
    (folder / "2.csv").write_text("id,labels\nb,\"['cat']\"\n")
    other.write_text('{"id": "a", "labels": ["cat"]}\n{"id": "b", "labels": ["cat"]}\n')
    found = score_stream(str(folder), str(other), measures="Precision").compute()
    assert found["Precision"].value == 0.75
    (folder / "2.csv").write_text("id,labels\nb,cat\n")
    for pair in ((folder, other), (other, folder)):
        with refused("other-style", where=f"{folder}/2.csv, line 2, id 'b'"):
            score_stream(*map(str, pair), measures="F1")


LISTED, TEXTS = [["['cat', 'dog']"], ["[]"], ["['cat']"]], [["cat"], ["dog"], ["['x']"]]


@pytest.mark.parametrize("keep_rows", [True, False])
def test_the_first_batch_decides_whether_cells_are_lists(keep_rows):
    options = {"measures": "F1(empty=1)", "keep_rows": keep_rows}
    for batches in (
        [LISTED],
        [LISTED[1:2], LISTED],
        [[[]], LISTED],
        [[], LISTED[:1], [[]]],
    ):
        scorer = Scorer(**options)
        for batch in batches:
            scorer.update(batch, batch)
        assert scorer.compute()["F1(empty=1)"].value == 1
    for first, later, row in (
        (LISTED, TEXTS, 0),
        (LISTED[:1], TEXTS[::-1], 1),
        (TEXTS, LISTED, 0),
        (TEXTS[:1], [[], *LISTED[:1]], 1),
        (TEXTS, LISTED[1:2], 0),
    ):
        scorer = Scorer(**options)
        scorer.update([["cat"]] * len(first), first)
        with refused("other-style", where=f"gts, item {row} (from 0)"):
            scorer.update([["cat"]] * len(later), later)
        assert len(scorer) == len(first)
        scorer.update([["cat"]] * len(first), first)
    with refused("other-style", where="gts, item 0 (from 0)"):
        scorer.update([["cat"]] * 3, LISTED, **({} if keep_rows else {"shard": "1/1"}))


def test_few_lists_among_texts_stay_text_in_batches():
    whole, scorer = (
        semmetrics.score(TEXTS * 2, TEXTS * 2, measures="F1"),
        Scorer(measures="F1"),
    )
    for _ in range(2):
        scorer.update(TEXTS, TEXTS)
    assert scorer.compute().to_dict() == whole.to_dict()
    assert codes(scorer.compute()) == codes(whole)
    captions = Scorer(measures="BLEU-1")
    captions.update([""], ["a dog"])
    with refused("other-style", where="gts, item 0 (from 0)"):
        captions.update(["a dog"], ["['a dog', 'the dog']"])
    with refused("other-style", where="preds, item 0 (from 0)"):
        captions.update(["['a dog']"], ["a dog"])


def test_states_with_other_cells_are_not_merged():
    files = []
    for batch in (LISTED, TEXTS):
        scorer = Scorer(measures="F1", keep_rows=False)
        scorer.update(batch, batch)
        files.append(io.BytesIO())
        scorer.save(files[-1])
    with refused("other-style", where="preds, item 0 (from 0)"):
        Scorer.load(*files)
    again = Scorer.load(files[0])
    again.update([["['dog']"]], [["['dog']"]])
    with refused("other-style", where="preds, item 0 (from 0)"):
        again.update([["dog"]], [["dog"]])
    with refused("other-style", where="preds, item 0 (from 0)"):
        again.merge(Scorer.load(files[1]))


def test_deep_brackets_are_text():
    for text in (
        "[" * 5000 + "]" * 5000,
        "[{" * 2000,
        "[" + "'a'" * 10 + "]",
        "['a', b]",
    ):
        assert as_captions([text]).to_list() == [[text]]


def test_options_of_cells_still_apply(tmp_path):
    path = tmp_path / "gt.csv"
    path.write_text("id,labels\na,\"['cat;dog']\"\n")
    assert as_labels(path).to_list() == [["cat;dog"]]
    path.write_text('id,tags\na,"[""x""]"\n')
    assert as_labels(path, options=ReadOptions(label_column="tags")).to_list() == [
        ["x"]
    ]


@pytest.mark.parametrize("delimiter", [None, ","])
@pytest.mark.parametrize("cells", [["[cat, dog]", "[bus]"], ["[cat,dog]", "[a, b]"]])
def test_lists_without_quotes_are_refused(tmp_path, cells, delimiter):
    path = tmp_path / "p.csv"
    path.write_text(
        "id,labels\n" + "".join(f'{n},"{cell}"\n' for n, cell in enumerate(cells))
    )
    with refused("unquoted-list", where=f"{path}, line 2, id '0'"):
        semmetrics.as_labels(
            path, options=semmetrics.ReadOptions(label_delimiter=delimiter)
        )


@pytest.mark.parametrize(
    "cells", [["[CLS]", "[SEP]"], ["[cat, dog]", "bus"], ["[a] b, c", "d"]]
)
def test_brackets_of_labels_stay_in_them(cells):
    lists = semmetrics.as_labels({str(n): [cell] for n, cell in enumerate(cells)})
    assert lists.to_list() == [[cell] for cell in cells]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("{'cat': 0.9, 'dog': 0.4}", [["cat", 0.9], ["dog", 0.4]]),
        ('{"cat": 0.9, "dog": 0.4}', [["cat", 0.9], ["dog", 0.4]]),
        ("[{'cat': 0.9}, {'dog': 0.4}]", [["cat", 0.9], ["dog", 0.4]]),
        ("{'choices': ['cat', 'dog']}", ["cat", "dog"]),
        ('{"choice": "cat"}', ["cat"]),
        ("[{'id': 3, 'name': 'cat'}, {'id': 4, 'name': 'dog'}]", ["cat", "dog"]),
        ('[{"x": 3, "labels": ["cat"]}, {"x": 4, "labels": ["dog"]}]', ["cat", "dog"]),
    ],
)
def test_the_code_that_an_error_shows_reads_the_cell(text, entries):
    program = f"import ast, json\ncell = {text!r}\nprint(json.dumps({recipe(read_cell(text), text)}))"
    command = [sys.executable, "-c", program]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(shown) == entries


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
def test_vectors_written_as_text_are_refused(cells, tmp_path):
    path = tmp_path / "gt.csv"
    frame = pd.DataFrame({"id": ["a", "b"], "labels": cells})
    frame.to_csv(path, index=False)
    for data in (
        path,
        frame,
        frame.set_index("id").labels,
        dict(zip("ab", cells, strict=True)),
    ):
        with refused("vector-as-labels", place="id 'a'"):
            as_labels(data)
    with refused("vector-as-labels", where=f"{path}, line 2, id 'a'"):
        score_stream(path, path, measures="F1")


@pytest.mark.parametrize(
    ("delimiter", "one", "zero"), [(";", "1", "0"), (" ", "True", "False")]
)
def test_vectors_in_split_cells_are_refused(delimiter, one, zero, tmp_path):
    path = tmp_path / "gt.csv"
    rows = [delimiter.join([one, zero, one]), delimiter.join([zero, one, zero])]
    path.write_text(f"id,labels\na,{rows[0]}\nb,{rows[1]}\n")
    with refused("vector-as-labels", where=f"{path}, line 2, id 'a'"):
        as_labels(path, options=ReadOptions(label_delimiter=delimiter))
    path.write_text("id,labels\na,1;0\nb,1\nc,\n")
    options = ReadOptions(label_delimiter=";")
    assert as_labels(path, options=options).to_list() == [["1", "0"], ["1"], []]


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
def test_numbers_and_quoted_names_in_cells_are_labels(cells):
    wanted = [[str(value) for value in read_cell(cell)] for cell in cells]
    assert as_labels(cells).to_list() == wanted


def test_vectors_with_a_class_list_are_rows():
    cells = ["[1, 0, 1]", "[0, 1, 0]"]
    assert as_labels(cells, classes=["cat", "dog", "bus"]).to_list() == [
        ["cat", "bus"],
        ["dog"],
    ]


@pytest.mark.parametrize(
    "cells",
    [["{cat,dog}", "{bus}"], ["{}", "{cat, dog}"], ['{cat,"fire truck"}', "{bus}"]],
)
def test_arrays_of_postgresql_are_refused_with_a_fix(cells, tmp_path):
    path = tmp_path / "gt.csv"
    pd.DataFrame({"id": ["a", "b"], "labels": cells}).to_csv(path, index=False)
    with refused("unquoted-list", brackets="{}"):
        as_labels(path)


@pytest.mark.parametrize("cells", [["{cat}", "{bus}"], ["{a, b}", "bus"]])
def test_braces_of_labels_stay_in_them(cells):
    assert as_labels([[cell] for cell in cells]).to_list() == [[cell] for cell in cells]
