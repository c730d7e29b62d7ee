"""Columns of weights, pairs and taxonomies that nothing is read from."""

import json

import pytest
from refusals import codes, refused

import semmetrics
from semmetrics.data.side_inputs import as_pairs

GTS = {"a": ["cat"], "b": ["dog"]}


def test_of_weights(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("id,weight,by,why\na,1,x,y\nb,2,x,y\n")
    note = f"{path}: 2 columns not used: 'by', 'why'"
    assert semmetrics.score(GTS, GTS, measures="F1", weights=path).notes == [note]
    captions = {"a": "a cat sits", "b": "a dog sits"}
    table = semmetrics.score(captions, captions, measures="BLEU-1", weights=path)
    assert note in table.notes
    path.write_text("id,weight\na,1\nb,2\n")
    assert semmetrics.score(GTS, GTS, measures="F1", weights=path).notes == []


def test_weights_of_no_item_in_a_file(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("id,weight\na,1\nb,2\nx,3\n")
    (fact,) = semmetrics.score(GTS, GTS, measures="F1", weights=path).facts
    assert (fact.code, fact.n, fact.examples) == ("unused-weights", 1, ("x",))


@pytest.mark.parametrize("keep_rows", [True, False])
def test_of_weights_that_come_with_batches(tmp_path, keep_rows):
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    paths[0].write_text("id,weight,by\na,1,x\n")
    paths[1].write_text("id,weight,why\nb,2,y\n")
    notes = [f"{paths[0]}: 1 column not used: 'by'", f"{paths[1]}: 1 column not used: 'why'"]
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
    for name, path in zip("ab", paths, strict=True):
        scorer.update({name: GTS[name]}, {name: GTS[name]}, weights=path)
    assert scorer.compute().notes == notes
    other = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
    other.update({"c": ["ox"]}, {"c": ["ox"]}, weights={"c": 1})
    assert (scorer + other).compute().notes == notes
    assert (other + scorer).compute().notes == notes
    scorer.reset()
    scorer.update({"c": ["ox"]}, {"c": ["ox"]}, weights={"c": 1})
    assert scorer.compute().notes == []


def test_weights_of_no_item_in_a_file_of_batches(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("id,weight\na,1\nb,2\nx,3\n")
    scorer = semmetrics.Scorer(measures="F1")
    for name, labels in GTS.items():
        scorer.update({name: labels}, {name: labels}, weights=path)
    assert scorer.compute().notes == semmetrics.score(GTS, GTS, measures="F1", weights=path).notes
    assert codes(scorer.compute()) == ["unused-weights"]
    scorer = semmetrics.Scorer(measures="F1", missing="skip")
    path.write_text("id,weight\na,1\n")  # the item b is left out and needs none
    scorer.update({"a": ["cat"]}, GTS, weights=path)
    assert scorer.compute()["F1"].value == 1
    scorer = semmetrics.Scorer(measures="F1")
    with refused("no-weights"):
        scorer.update(GTS, GTS, weights=path)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_weights_of_no_item_among_items_without_ids(keep_rows):
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)
    scorer.update([["cat"]], [["cat"]], weights={"0": 1, "7": 2})
    (fact,) = scorer.compute().facts
    assert (fact.code, fact.n, fact.examples) == ("unused-weights", 1, ("7",))


RECORDS = [
    {"a": "cat", "b": "kitten", "same": 1, "by": "x"},
    {"a": "cat", "b": "dog", "same": 0, "why": "y"},
]


@pytest.mark.parametrize("form", ["list", "json", "jsonl"])
def test_keys_of_pairs(tmp_path, form):
    path = tmp_path / f"pairs.{form}"
    lines = [json.dumps(record) for record in RECORDS]
    path.write_text("\n".join(lines) if form == "jsonl" else f"[{','.join(lines)}]")
    pairs, name = (RECORDS, "pairs") if form == "list" else (path, str(path))
    vectors = {"cat": [1, 0], "kitten": [1, 0.1], "dog": [0, 1]}
    found = semmetrics.calibrate_threshold_on_pairs(pairs, vectors)
    assert found.notes[0] == f"{name}: 2 columns not used: 'by', 'why'"
    said = []
    plain = [{"word1": "cat", "word2": "dog", "match": True}, ("cat", "kitten", 1)]
    assert len(as_pairs(plain, notes=said)) == 2
    assert said == []


def test_of_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,same,by\ncat,kitten,1,x\ncat,dog,0,y\n")
    vectors = {"cat": [1, 0], "kitten": [1, 0.1], "dog": [0, 1]}
    found = semmetrics.calibrate_threshold_on_pairs(path, vectors)
    assert found.notes[0] == f"{path}: 1 column not used: 'by'"
    said = []
    assert len(as_pairs(path, notes=said)) == 2
    assert [str(fact) for fact in said] == [found.notes[0]]


def test_of_a_taxonomy(tmp_path):
    path = tmp_path / "taxonomy.csv"
    path.write_text("parent,child,by\nanimal,cat,x\nanimal,dog,x\n")
    table = semmetrics.score(GTS, GTS, measures="hF", taxonomy=path, normalize="lower")
    assert table.notes == [f"{path}: 1 column not used: 'by'"]
