"""Which labels an average runs over, and what is said of those that count nowhere."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as peer
from scipy.sparse import csr_array
from sklearn.preprocessing import MultiLabelBinarizer

import semmetrics
from semmetrics import as_labels
from semmetrics.errors import InputError
from semmetrics.metrics.parsing import parse_all
from semmetrics.metrics.registry import all_definitions
from semmetrics.scale.stream import score_stream
from tests.refusals import refused

PEERS = {
    "F1": peer.f1_score,
    "Precision": peer.precision_score,
    "Recall": peer.recall_score,
    "Jaccard": peer.jaccard_score,
}


def lists(seed):
    """Sets over two vocabularies that overlap; some are empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    names = np.array([f"l{i}" for i in range(12)])
    sides = []
    for first, last in ((0, 9), (3, 12)):
        kept = rng.random((n, 12)) < 0.25
        kept[:, :first] = kept[:, last:] = False
        sides.append([names[row].tolist() for row in kept])
    sides[1][0] = ["l3"]  # scikit-learn averages over nothing otherwise
    return sides


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_scikit_learn_has(seed, name, average):
    preds, refs = lists(seed)
    columns = MultiLabelBinarizer().fit(preds + refs)  # the labels of both sides
    mine, true = columns.transform(preds), columns.transform(refs)
    want = PEERS[name](true, mine, average=average, zero_division=0)
    (got,) = semmetrics.score(preds, refs, measures=f"{name}(average={average})")
    assert got.value == pytest.approx(want, abs=1e-12)
    # without three that are predicted, with two unseen
    classes = [f"l{i}" for i in range(3, 14)]
    every = MultiLabelBinarizer(classes=[f"l{i}" for i in range(14)]).fit(preds)
    mine, true = every.transform(preds), every.transform(refs)
    want = PEERS[name](
        true, mine, average=average, labels=range(3, 14), zero_division=0
    )
    measure = f"{name}(average={average}{',absent=0' if average == 'macro' else ''})"
    (got,) = semmetrics.score(preds, refs, measures=measure, classes=classes)
    assert got.value == pytest.approx(want, abs=1e-12)
    assert "|labels:given|" in got.signature
    assert "|L:11|" in got.signature
    outside = [label for row in preds for label in row if label not in classes]
    assert got.left_out == (len(set(outside)), len(outside), 0)


def indicator(seed):
    """Two 0/1 matrices of which some columns are empty on both sides."""
    rng = np.random.default_rng(seed)
    n_items, n_labels = rng.integers(2, 12), rng.integers(2, 9)
    empty = rng.random(n_labels) < 0.4
    sides = []
    for _ in range(2):
        cells = (rng.random((n_items, n_labels)) < 0.3).astype(int)
        cells[:, empty] = 0
        sides.append(cells)
    return sides


def as_frame(cells):
    return pd.DataFrame(cells, columns=[f"l{i}" for i in range(cells.shape[1])])


def as_mapping(cells):
    return {
        str(i): row for i, row in enumerate(as_frame(cells).to_dict(orient="records"))
    }


def as_booleans(cells):
    return as_mapping(cells.astype(bool))


SHAPES = {
    "integers": np.asarray,
    "floats": lambda cells: cells.astype(float),
    "frame": as_frame,
    "sparse": csr_array,
    "mapping": as_mapping,
    "booleans": as_booleans,
    "series of booleans": lambda cells: pd.Series(as_booleans(cells)),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", SHAPES)
def test_the_columns_of_a_matrix_are_labels(shape, seed):
    preds, truth = indicator(seed)
    mine, true = SHAPES[shape](preds), SHAPES[shape](truth)
    measures = ["HammingLoss", "F1(average=macro,absent=0)", "C-F1"]
    table = semmetrics.score(mine, true, measures=measures)
    macro = peer.f1_score(truth, preds, average="macro", zero_division=0)
    perfect = peer.f1_score(truth, preds, average="macro", zero_division=1)
    want = [peer.hamming_loss(truth, preds), macro, perfect]
    assert [score.value for score in table] == pytest.approx(want, abs=1e-6)
    assert all(f"|L:{truth.shape[1]}|" in score.signature for score in table)


def of_counts():
    """Return all averages of the measures of label sets that need counts only."""
    names = []
    for definition in all_definitions("labels"):
        options = {option.name: option for option in definition.options}
        if definition.needs or "beta" in options:
            continue
        given = {"q": 9} if "q" in options else {}
        averages = options["average"].choices if "average" in options else [None]
        for average in averages:
            chosen = given if average is None else {**given, "average": average}
            names.append(definition(**chosen))
    return [*names, *parse_all(["F1@2", "Recall@1", "Precision(denominator=cutoff)@3"])]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_measure_depends_on_how_cells_are_written(shape):
    preds, truth = indicator(4)
    measures = of_counts()
    want = semmetrics.score(preds, truth, measures=measures)
    got = semmetrics.score(
        SHAPES[shape](preds), SHAPES[shape](truth), measures=measures
    )
    np.testing.assert_array_equal(
        [one.value for one in got], [one.value for one in want]
    )
    scorer = semmetrics.Scorer(measures=measures, keep_rows=False)
    scorer.update(SHAPES[shape](preds), SHAPES[shape](truth))
    found = scorer.compute()
    np.testing.assert_array_equal(
        [one.value for one in found], [one.value for one in want]
    )
    for one, other in zip(found, want, strict=True):
        universes = [
            re.findall("[|]L:[0-9]+", score.signature) for score in (one, other)
        ]
        assert universes[0] == universes[1]


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_batches_have_the_columns_of_all(shape, keep_rows):
    preds, truth = indicator(3)
    scorer = semmetrics.Scorer(measures=["HammingLoss", "C-F1"], keep_rows=keep_rows)
    for row in range(len(truth)):
        batch = [SHAPES[shape](side[row : row + 1]) for side in (preds, truth)]
        if isinstance(batch[0], dict):
            batch = [{str(row): side["0"]} for side in batch]
        elif isinstance(batch[0], pd.Series):
            batch = [side.rename({"0": str(row)}) for side in batch]
        scorer.update(*batch)
    whole = semmetrics.score(
        SHAPES[shape](preds), SHAPES[shape](truth), measures=["HammingLoss"]
    )
    assert scorer.compute()["HammingLoss"].value == whole[0].value
    assert whole[0].value == pytest.approx(peer.hamming_loss(truth, preds))


@pytest.mark.parametrize("suffix", ["json", "records.json", "jsonl"])
def test_the_keys_of_booleans_in_files_are_labels(suffix, tmp_path):
    preds, truth = indicator(2)
    paths = []
    for name, cells in (("pred", preds), ("gt", truth)):
        mapping = as_booleans(cells)
        records = [{"id": id_, "labels": row} for id_, row in mapping.items()]
        text = json.dumps(mapping if suffix == "json" else records)
        if suffix == "jsonl":
            text = "\n".join(json.dumps(record) for record in records)
        paths.append(tmp_path / f"{name}.{suffix}")
        paths[-1].write_text(text)
    table = semmetrics.score(*paths, measures="HammingLoss")
    assert table[0].value == pytest.approx(peer.hamming_loss(truth, preds))
    if suffix == "jsonl":
        stream = score_stream(*map(str, paths), measures="HammingLoss").compute()
        assert stream[0].signature == table[0].signature
        assert stream[0].value == table[0].value


def test_the_categories_of_coco_instances_are_labels():
    names = {1: "cat", 2: "dog", 3: "bus", 4: "zebra"}
    truth = {
        "images": [{"id": 1}, {"id": 2}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1},
            {"id": 2, "image_id": 2, "category_id": 3},
        ],
        "categories": [{"id": number, "name": name} for number, name in names.items()],
    }
    preds = {"1": ["cat"], "2": ["dog", "bus"]}
    table = semmetrics.score(preds, truth, measures="HammingLoss MacroF1(absent=0)")
    assert table["HammingLoss"].value == 1 / 8
    cells = [[1, 0, 0, 0], [0, 0, 1, 0]], [[1, 0, 0, 0], [0, 1, 1, 0]]
    expected = peer.f1_score(*map(np.array, cells), average="macro", zero_division=0)
    assert table["MacroF1(absent=0)"].value == pytest.approx(expected)
    assert "|L:4|" in table["HammingLoss"].signature


@pytest.mark.parametrize("key", [1, "", None])
def test_a_key_of_a_boolean_is_checked_as_other_labels_are(key):
    with pytest.raises(InputError, match="id 'a', label 2: "):
        as_labels({"a": {"x": True, key: False}})


def test_columns_of_one_side_are_labels_beside_lists():
    truth = {"x": ["a"], "y": ["b", "z"]}
    preds = pd.DataFrame([[1, 0, 0], [0, 1, 1]], ["x", "y"], ["a", "b", "c"])
    (got,) = semmetrics.score(preds, truth, measures="HammingLoss")
    assert got.value == 2 / 8  # c and z, of four labels in two items
    (got,) = semmetrics.score(truth, preds, measures="HammingLoss")
    assert got.value == 2 / 8
    (got,) = semmetrics.score(truth, preds, measures="HammingLoss", ignore=["c"])
    assert got.value == 1 / 6
    lists = {"x": ["a"], "y": ["b", "c"]}
    (got,) = semmetrics.score(lists, truth, measures="HammingLoss")
    assert got.value == 2 / 8  # of lists, the labels that occur


def test_a_protocol_takes_the_columns_for_the_dictionary():
    preds, truth = np.eye(3, 5, dtype=int), np.eye(3, 5, dtype=int)
    table = semmetrics.score(preds, truth, protocol="pineda2019")
    assert table["C-F1"].value == 1
    assert "|labels:given|" in table["C-F1"].signature
    with refused("needs-option", name="classes"):
        semmetrics.score([["a"]], [["a"]], measures="C-F1")


def test_a_class_list_wins_over_columns():
    preds = pd.DataFrame([[1, 0]], columns=["a", "b"])
    (got,) = semmetrics.score(
        preds, preds * 0, measures="HammingLoss", classes=["a", "b"]
    )
    assert got.value == 0.5
    assert "|labels:given|" in got.signature
