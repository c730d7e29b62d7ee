"""Columns of weights, pairs and taxonomies that nothing is read from."""

import semmetrics
from semmetrics.data.beside import as_pairs

GTS = {"a": ["cat"], "b": ["dog"]}


def test_of_weights(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("id,weight,by,why\na,1,x,y\nb,2,x,y\n")
    note = f"{path}: columns not used: 'by', 'why'"
    assert semmetrics.score(GTS, GTS, measures="F1", weights=path).notes == [note]
    captions = {"a": "a cat sits", "b": "a dog sits"}
    table = semmetrics.score(captions, captions, measures="BLEU-1", weights=path)
    assert note in table.notes
    path.write_text("id,weight\na,1\nb,2\n")
    assert semmetrics.score(GTS, GTS, measures="F1", weights=path).notes == []


def test_weights_of_no_item_in_a_file(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("id,weight\na,1\nb,2\nx,3\n")
    (note,) = semmetrics.score(GTS, GTS, measures="F1", weights=path).notes
    assert note == "1 of 3 sample weights has no effect: no input has its id: 'x'"


def test_of_pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,same,by\ncat,kitten,1,x\ncat,dog,0,y\n")
    vectors = {"cat": [1, 0], "kitten": [1, 0.1], "dog": [0, 1]}
    found = semmetrics.calibrate_threshold_on_pairs(path, vectors)
    assert found.notes[0] == f"{path}: columns not used: 'by'"
    said = []
    assert len(as_pairs(path, notes=said)) == 2
    assert said == [found.notes[0]]


def test_of_a_taxonomy(tmp_path):
    path = tmp_path / "taxonomy.csv"
    path.write_text("parent,child,by\nanimal,cat,x\nanimal,dog,x\n")
    table = semmetrics.score(GTS, GTS, measures="hF", taxonomy=path, normalize="lower")
    assert table.notes == [f"{path}: columns not used: 'by'"]
