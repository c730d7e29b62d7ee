"""Cells of a dense ground truth that nobody verified count nowhere."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as peer
from scipy.sparse import csr_array

import semmetrics
from tests.refusals import codes, refused

MEASURES = [
    "mAP",
    "ROC-AUC",
    "ROC-AUC(average=micro)",
    "LRAP",
    "RankingLoss",
    "CoverageError",
    "F1@2",
    *(
        f"{name}(decode=threshold:0.5)"
        for name in (
            "HammingLoss",
            "MicroF1",
            "MacroF1",
            "F1",
            "Recall",
            "SubsetAccuracy",
        )
    ),
]
SUMS = [name for name in MEASURES if "decode" in name or "@" in name]
NAMES = list("abcd")


def data(seed, n_items=12):
    rng = np.random.default_rng(seed)
    scores = rng.random((n_items, 4))
    truth = (rng.random((n_items, 4)) < 0.4).astype(int)
    truth[:4] |= np.eye(4, dtype=int)
    unverified = rng.random((n_items, 4)) < 0.25
    unverified[:4] = False
    return scores, truth, unverified


def of_rows(measure, scores, truth, known):
    """Average scikit-learn's value of each item with references over its verified labels."""
    values = []
    for own, true, verified in zip(scores, truth, known, strict=True):
        n_true, n = true[verified].sum(), verified.sum()
        if not n_true or (measure is peer.label_ranking_loss and n_true == n):
            continue
        values.append(1.0 if n == 1 else measure([true[verified]], [own[verified]]))
    return np.mean(values)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_the_verified_cells_give(seed):
    scores, truth, unverified = data(seed)
    known = ~unverified
    table = semmetrics.score(
        scores, np.where(known, truth, -1), measures=MEASURES, unknown_value=-1
    )
    got = table.to_dict()
    chosen = (scores > 0.5).astype(int)
    columns = [(truth[k, j], scores[k, j]) for j, k in enumerate(known.T)]
    want = {
        "mAP": np.mean([peer.average_precision_score(*column) for column in columns]),
        "ROC-AUC": np.mean([peer.roc_auc_score(*column) for column in columns]),
        "ROC-AUC(average=micro)": peer.roc_auc_score(truth[known], scores[known]),
        "LRAP": of_rows(
            peer.label_ranking_average_precision_score, scores, truth, known
        ),
        "RankingLoss": of_rows(peer.label_ranking_loss, scores, truth, known),
        "CoverageError": of_rows(peer.coverage_error, scores, truth, known),
        "HammingLoss(decode=threshold:0.5)": (chosen != truth)[known].mean(),
        "MicroF1(decode=threshold:0.5)": peer.f1_score(truth[known], chosen[known]),
        "MacroF1(decode=threshold:0.5)": np.mean(
            [peer.f1_score(truth[k, j], chosen[k, j]) for j, k in enumerate(known.T)]
        ),
        "F1(decode=threshold:0.5)": np.mean(
            [
                peer.f1_score(truth[i, k], chosen[i, k], zero_division=1)
                for i, k in enumerate(known)
                if k.any()
            ]
        ),
    }
    if not known.any(axis=1).all():
        del want["F1(decode=threshold:0.5)"]
    assert {name: got[name] for name in want} == pytest.approx(want)
    assert "unverified-cells" in codes(table)
    assert all("|unverified:-1|" in score.signature for score in table)
    again = semmetrics.rescore(table[0].signature, scores, np.where(known, truth, -1))
    assert again[0].value == table[0].value
    assert again.differences == []


SHAPES = {
    "nan": lambda cells, u: (np.where(u, np.nan, cells), "nan"),
    "frame": lambda cells, u: (
        pd.DataFrame(np.where(u, np.nan, cells), columns=NAMES),
        "nan",
    ),
    "sparse": lambda cells, u: (csr_array(np.where(u, -1, cells)), -1),
    "two": lambda cells, u: (
        np.where(u, np.where(cells, -1.0, np.nan), cells),
        "-1,nan",
    ),
    "other": lambda cells, u: (np.where(u, 9, cells), "9"),
}


@pytest.mark.parametrize("weights", [None, np.arange(1, 13)])
def test_unverified_labels_without_a_score_are_no_negatives(weights):
    scores, truth, unverified = data(5)
    listed = np.random.default_rng(0).random(scores.shape) < 0.5
    preds = []
    for row, own in zip(scores, listed, strict=True):
        preds.append([(NAMES[j], float(row[j])) for j in np.flatnonzero(own)])
    frame = pd.DataFrame(np.where(unverified, -1, truth), columns=NAMES)
    given = {"measures": ["ROC-AUC", "ROC-AUC(average=micro)"], "unknown_value": -1}
    got = semmetrics.score(preds, frame, weights=weights, **given).to_dict()
    scores = np.where(listed, scores, -1.0)  # below all others
    known = ~unverified
    weight = np.ones(len(truth)) if weights is None else weights
    areas = []
    for j, k in enumerate(known.T):
        areas.append(
            peer.roc_auc_score(truth[k, j], scores[k, j], sample_weight=weight[k])
        )
    assert got["ROC-AUC"] == pytest.approx(np.mean(areas))
    of_cells = np.repeat(weight[:, None], 4, axis=1)[known]
    area = peer.roc_auc_score(truth[known], scores[known], sample_weight=of_cells)
    assert got["ROC-AUC(average=micro)"] == pytest.approx(area)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_a_matrix_has_unverified_cells(shape):
    scores, truth, unverified = data(7)
    want = semmetrics.score(
        scores, np.where(unverified, -1, truth), measures=MEASURES, unknown_value=-1
    )
    cells, value = SHAPES[shape](truth, unverified)
    preds = pd.DataFrame(scores, columns=NAMES) if shape == "frame" else scores
    got = semmetrics.score(preds, cells, measures=MEASURES, unknown_value=value)
    assert [one.value for one in got] == [one.value for one in want]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_files_have_unverified_cells(tmp_path, suffix):
    scores, truth, unverified = data(5)
    want = semmetrics.score(
        scores, np.where(unverified, -1, truth), measures=MEASURES, unknown_value=-1
    )
    ids = [f"i{number:02}" for number in range(len(truth))]
    pred, true = tmp_path / "pred.csv", tmp_path / f"gt.{suffix}"
    pd.DataFrame(scores, ids, NAMES).rename_axis("id").to_csv(pred)
    value = "nan"
    frame = pd.DataFrame(np.where(unverified, np.nan, truth), ids, NAMES).rename_axis(
        "id"
    )
    if suffix == "csv":
        frame.to_csv(true)
    elif suffix == "parquet":
        frame.reset_index().to_parquet(true)
    else:
        value = -1
        frame.fillna(-1).to_json(true, orient="index")
    got = semmetrics.score(pred, true, measures=MEASURES, unknown_value=value)
    assert [one.value for one in got] == pytest.approx([one.value for one in want])


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_have_unverified_cells(keep_rows):
    scores, truth, unverified = data(3)
    cells = np.where(unverified, -1, truth)
    measures = MEASURES if keep_rows else SUMS
    want = semmetrics.score(scores, cells, measures=measures, unknown_value=-1)
    scorer = semmetrics.Scorer(measures=measures, unknown_value=-1, keep_rows=keep_rows)
    for row in range(len(cells)):
        scorer.update(scores[row : row + 1], cells[row : row + 1])
    got = scorer.compute()
    assert [one.value for one in got] == [one.value for one in want]
    assert [one.signature for one in got] == [one.signature for one in want]


def test_without_the_option_a_note_or_an_error_names_it(tmp_path):
    truth, scores = np.array([[1, -1], [0, 1]]), np.array([[0.9, 0.2], [0.3, 0.8]])
    table = semmetrics.score(scores, truth, measures="mAP")
    assert any("unknown_value=-1" in note for note in table.notes)
    mapping = {"a": {"x": 1, "y": -1}, "b": {"x": 0, "y": 1}}
    preds = {"a": {"x": 0.9, "y": 0.2}, "b": {"x": 0.3, "y": 0.8}}
    table = semmetrics.score(preds, mapping, measures="mAP")
    assert any("unknown_value=-1" in note for note in table.notes)
    for cell in ("-1", ""):
        path = tmp_path / "gt.csv"
        path.write_text(f"id,x,y\na,1,{cell}\nb,0,1\n")
        with refused("unverified-cell"):
            semmetrics.score(preds, path, measures="mAP")


EMPTY_CELLS = {
    "array": np.array([[1, np.nan], [0, 1]]),
    "frame": pd.DataFrame([[1, np.nan], [0, 1]], ["a", "b"], ["x", "y"]),
    "objects": pd.DataFrame([[1, None], [0, 1]], ["a", "b"], ["x", "y"], dtype=object),
    "null": {"a": {"x": 1, "y": None}, "b": {"x": 0, "y": 1}},
    "nan": {"a": {"x": 1, "y": np.nan}, "b": {"x": 0, "y": 1}},
}


@pytest.mark.parametrize("shape", EMPTY_CELLS)
def test_an_empty_cell_names_the_option_which_then_reads_it(shape, tmp_path):
    truth, scores = EMPTY_CELLS[shape], np.array([[0.9, 0.2], [0.3, 0.8]])
    preds = {"a": {"x": 0.9, "y": 0.2}, "b": {"x": 0.3, "y": 0.8}}
    if shape == "array":
        preds = scores
    with refused("empty-truth-cell"):
        semmetrics.score(preds, truth, measures="mAP")
    with refused("empty-truth-cell"):
        semmetrics.Scorer(measures="mAP").update(preds, truth)
    table = semmetrics.score(preds, truth, measures="mAP", unknown_value="nan")
    (fact,) = [one for one in table.facts if one.code == "unverified-cells"]
    assert fact.n == 1
    if shape == "null":
        path = tmp_path / "gt.json"
        path.write_text(json.dumps(truth))
        with refused("empty-truth-cell"):
            semmetrics.score(preds, path, measures="mAP")
        again = semmetrics.score(preds, path, measures="mAP", unknown_value="nan")
        assert again["mAP"].value == table["mAP"].value


def test_other_bad_numbers_are_not_empty_cells():
    preds, truth = np.array([[0.9, 0.2], [0.3, 0.8]]), np.array([[1.0, 0], [0, 1]])
    with refused("not-finite"):
        semmetrics.score(preds, np.where(truth == 0, np.inf, truth), measures="mAP")
    with refused("not-finite"):
        semmetrics.score(np.where(truth == 0, np.nan, preds), truth, measures="mAP")
    with refused("not-a-number"):
        semmetrics.score(
            {"a": {"x": None}}, {"a": {"x": 1}}, measures="mAP", unknown_value="nan"
        )


def test_what_cannot_be_an_unknown_value_is_an_error():
    truth = np.array([[1, -1], [0, 1]])
    for value in (0, 1, "maybe", ""):
        with refused("bad-option", name="unknown_value"):
            semmetrics.score(truth * 0.5, truth, measures="mAP", unknown_value=value)
    with refused("out-of-range"):
        semmetrics.score(truth * 0.5, truth * 2, measures="mAP", unknown_value=-1)
    with refused("not-applicable", name="unknown_value"):
        semmetrics.score(
            np.abs(truth), truth, measures="BalancedAccuracy(q=2)", unknown_value=-1
        )
    table = semmetrics.score([["a"]], [["a"]], measures="F1", unknown_value=-1)
    assert "no-effect" in codes(table)


def test_difficult_labels_are_as_before():
    truth = np.array([[1, 0, -1], [-1, 1, 1]])
    scores = np.array([[0.9, 0.8, 0.1], [0.3, 0.6, 0.7]])
    table = semmetrics.score(scores, truth, measures="mAP")
    assert "difficult-labels" in codes(table)
    assert "|unverified:" not in table[0].signature


def test_minus_ones_of_the_truth_are_noted_also_if_predictions_have_no_scores():
    truth = {"a": {"cat": 1, "dog": -1}, "b": {"cat": -1, "dog": 1}}
    for preds in ({"a": ["cat"], "b": ["dog"]}, {"a": {"cat": 0.9}, "b": {"dog": 0.8}}):
        assert "true-minus" in codes(semmetrics.score(preds, truth, measures="F1"))
    for other in (
        {"a": ["cat"], "b": ["dog"]},
        {"a": {"cat": 1, "dog": 0}, "b": {"dog": 1}},
    ):
        assert "true-minus" not in codes(semmetrics.score(other, other, measures="F1"))
