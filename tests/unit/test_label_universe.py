"""Which labels an average runs over, and what is said of those that count nowhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sklearn.metrics as peer
from refusals import refused
from sklearn.preprocessing import MultiLabelBinarizer

import semmetrics

PREDS = {"1": ["cat", "x", "y", "z"], "2": ["dog", "w"]}
GTS = {"1": ["cat"], "2": ["dog"]}
PEERS = {
    "F1": peer.f1_score,
    "Precision": peer.precision_score,
    "Recall": peer.recall_score,
    "Jaccard": peer.jaccard_score,
}


def value(measure, preds=PREDS, gts=GTS, **options):
    return semmetrics.score(preds, gts, measures=[measure], **options).scores[0].value


def test_labels_that_only_the_predictions_have_count():
    assert value("F1(average=macro)") == pytest.approx(1 / 3)
    assert value("F1(average=macro,labels=union)") == pytest.approx(1 / 3)
    assert value("F1(average=macro,labels=reference)") == 1
    assert value("MicroF1") == pytest.approx(2 * 2 / (6 + 2))


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
def test_without_a_class_list_it_is_what_scikit_learn_has(seed, name, average):
    preds, refs = lists(seed)
    columns = MultiLabelBinarizer().fit(preds + refs)  # the labels of both sides
    mine, true = columns.transform(preds), columns.transform(refs)
    want = PEERS[name](true, mine, average=average, zero_division=0)
    got = value(f"{name}(average={average})", preds, refs)
    assert got == pytest.approx(want, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("seed", range(6))
def test_with_a_class_list_it_is_that_of_scikit_learn_with_labels(seed, name, average):
    preds, refs = lists(seed)
    classes = [f"l{i}" for i in range(3, 14)]  # without three that are predicted, with two unseen
    every = MultiLabelBinarizer(classes=[f"l{i}" for i in range(14)]).fit(preds)
    mine, true = every.transform(preds), every.transform(refs)
    want = PEERS[name](true, mine, average=average, labels=range(3, 14), zero_division=0)
    absent = ",absent=0" if average == "macro" else ""
    got = semmetrics.score(
        preds, refs, measures=f"{name}(average={average}{absent})", classes=classes
    ).scores[0]
    assert got.value == pytest.approx(want, abs=1e-12)
    assert "|labels:given|" in got.signature
    assert "|L:11|" in got.signature
    outside = [label for row in preds for label in row if label not in classes]
    assert got.left_out == (len(set(outside)), len(outside), 0)


@pytest.mark.parametrize("measure", ["MacroF1", "MicroF1", "HammingLoss", "F1(average=weighted)"])
def test_the_signature_says_which_universe_it_was(measure):
    (alone,) = semmetrics.score(PREDS, GTS, measures=[measure])
    (given,) = semmetrics.score(PREDS, GTS, measures=[measure], classes=["dog", "cat", "emu"])
    assert ("|labels:union|" in alone.signature, "|L:6|" in alone.signature) == (True, True)
    assert ("|labels:given|" in given.signature, "|L:3|" in given.signature) == (True, True)
    for score, options in ((alone, {}), (given, {"classes": ["dog", "cat", "emu"]})):
        again = semmetrics.rescore(score.signature, PREDS, GTS, **options)
        assert (again.scores[0].value, again.differences) == (score.value, [])
        assert again.scores[0].signature == score.signature


def test_the_union_is_that_of_all_systems_and_the_signatures_are_equal():
    systems = {"one": GTS, "other": PREDS}
    for measure, values in (
        ("MacroF1", [1, 1 / 3]),  # a label of neither side of a system is left out of its mean
        ("F1(average=macro,absent=0)", [1 / 3, 1 / 3]),
    ):
        table = semmetrics.score_systems(systems, GTS, measures=[measure])
        assert [score.value for score in table] == pytest.approx(values)
        assert len({score.signature for score in table}) == 1
        assert "|labels:union|" in table.scores[0].signature
        assert "|L:6|" in table.scores[0].signature
    assert table["one", measure].undefined == {"absent": 4}


def test_protocols_keep_the_universe_that_they_fix():
    table = semmetrics.score(PREDS, GTS, protocol="kubany2020", top_k=4)
    assert table["Macro F1@4"].value == 1
    assert "|labels:reference|" in table["Macro F1@4"].signature
    assert "|labels:reference|" in table["Micro F1@4"].signature
    table = semmetrics.score(PREDS, GTS, protocol="pineda2019", classes=["cat", "dog", "emu"])
    for heading in ("O-F1", "C-F1"):
        assert "|labels:given|" in table[heading].signature
        assert table[heading].value == pytest.approx(1)
    with refused("needs-option"):
        value("C-F1")


NOWHERE = "4 labels outside the {} (predicted 4 times, true 0 times)"


@pytest.mark.parametrize(
    ("measures", "options", "notes"),
    [
        (["F1", "MacroF1", "MicroF1"], {}, []),
        (
            ["F1", "F1(average=macro,labels=reference)", "Recall(average=micro,labels=reference)"],
            {},
            [NOWHERE.format("ground truth, counted nowhere in F1(average=macro,labels=reference), "
                            "Recall(average=micro,labels=reference)")],
        ),
        (
            ["MacroF1", "MicroF1", "HammingLoss", "F1(average=weighted)", "F1"],
            {"classes": ["cat", "dog"]},
            [NOWHERE.format("class list, counted nowhere in F1(average=macro), F1(average=micro), "
                            "HammingLoss, F1(average=weighted)")],
        ),
        (["F1"], {"classes": ["cat", "dog"]}, [NOWHERE.format("class list")]),
        (["MacroF1(labels=union)"], {"classes": ["cat", "dog"]}, [NOWHERE.format("class list")]),
        (["F1"], {"ignore": ["x"]}, ["1 label ignored (predicted 1 time, true 0 times)"]),
        (
            ["C-F1"],
            {"ignore": ["x", "cat"], "classes": ["cat", "dog", "z", "y"]},
            ["2 labels ignored (predicted 2 times, true 1 time)", "1 label outside the class list, "
             "counted nowhere in C-F1 (predicted 1 time, true 0 times)"],
        ),
    ],
)  # fmt: skip
def test_what_counts_nowhere_is_said_for_every_measure(measures, options, notes):
    table = semmetrics.score(PREDS, GTS, measures=measures, **options)
    assert table.notes == [f"preds: {note}" for note in notes]


@pytest.mark.parametrize("measure", ["mAP", "LRAP", "RankingLoss", "CoverageError"])
def test_scores_that_count_nowhere_are_said(measure):
    preds = {name: [(label, 0.5) for label in row] for name, row in PREDS.items()}
    table = semmetrics.score(preds, GTS, measures=[measure], classes=["cat", "dog", "emu"])
    assert table.notes == [f"preds: {NOWHERE.format('class list, counted nowhere in ' + measure)}"]
    matrix = np.array([[0.9, 0.1, 0.3], [0.2, 0.7, 0.1]])
    table = semmetrics.score(
        matrix, [["a"], ["b"]], measures=["mAP(labels=reference)"], classes=["a", "b", "c"]
    )
    assert table.notes == [
        "preds: 1 label outside the ground truth, counted nowhere in mAP(labels=reference) "
        "(scored 2 times, true 0 times)"
    ]


def test_it_is_in_the_json():
    table = semmetrics.score(PREDS, GTS, measures=["MacroF1(labels=reference)", "MacroF1"])
    found = [entry["left_out"] for entry in json.loads(table.to_json())]
    assert found == [{"labels": 4, "predictions": 4, "references": 0}, None]


def test_ignored_labels_are_among_those_that_count_nowhere():
    measures = ["MacroF1(labels=reference)", "MacroF1"]
    table = semmetrics.score(PREDS, GTS, measures=measures, ignore=["x", "dog", "nowhere"])
    assert [tuple(score.left_out) for score in table] == [(5, 5, 1), (2, 2, 1)]
    assert table[1].to_dict()["left_out"] == {"labels": 2, "predictions": 2, "references": 1}
    assert "preds: 2 labels ignored (predicted 2 times, true 1 time)" in table.notes
    halves = [
        semmetrics.Scorer(measures="MacroF1", ignore=["x", "dog"], keep_rows=False) for _ in "12"
    ]
    for scorer, name in zip(halves, PREDS, strict=True):
        scorer.update({name: PREDS[name]}, {name: GTS[name]})
    assert tuple((halves[0] + halves[1]).compute()[0].left_out) == (2, 2, 1)


def test_every_system_is_told_of_its_own_labels():
    table = semmetrics.score_systems(
        {"one": GTS, "other": PREDS}, GTS, measures=["MacroF1(labels=reference)"]
    )
    assert [note.partition(":")[0] for note in table.notes] == ["other"]
