"""With unknown_value, cells of a dense ground truth that nobody verified do not count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as peer
from batches import signatures, values
from refusals import codes, facts, refused
from scipy.sparse import csr_array
from verified_cells import (
    MEASURES,
    N_ITEMS,
    NAMES,
    draw_cells,
    expected_values,
)

import semmetrics
from semmetrics import Scorer


def draw_case(seed, unknown=-1):
    """Draw scores, and a truth with a number in the cells that nobody verified."""
    scores, truth, verified = draw_cells(seed)
    return scores, np.where(verified, truth, unknown)


def score(preds, gts, *, measures=MEASURES, unknown_value=-1, **options):
    return semmetrics.score(
        preds, gts, measures=measures, unknown_value=unknown_value, **options
    )


@pytest.mark.parametrize("seed", range(4))
def test_only_verified_cells_count(seed):
    scores, truth = draw_case(seed)

    table = score(scores, truth)

    expected = expected_values(*draw_cells(seed))
    assert table.to_dict() == pytest.approx(expected, abs=1e-6)
    assert all("|unverified:-1|" in signature for signature in signatures(table))
    assert "unverified-cells" in codes(table)


def test_unverified_labels_without_a_score_are_not_negatives():
    scores, truth, verified = draw_cells(5)
    has_score = np.random.default_rng(0).random(scores.shape) < 0.5
    preds = []
    for row, columns in zip(scores, has_score, strict=True):
        preds.append([(NAMES[k], float(row[k])) for k in np.flatnonzero(columns)])
    frame = pd.DataFrame(np.where(verified, truth, -1), columns=NAMES)
    weights = np.arange(1, N_ITEMS + 1)

    table = score(preds, frame, measures="ROC-AUC(average=micro)", weights=weights)

    below_all_others = -1.0
    scores = np.where(has_score, scores, below_all_others)
    cell_weights = np.repeat(weights[:, None], len(NAMES), axis=1)
    area = peer.roc_auc_score(
        truth[verified], scores[verified], sample_weight=cell_weights[verified]
    )
    assert table[0].value == pytest.approx(area)


# ---- forms of the ground truth --------------------------------------------------------------------


def test_a_matrix_may_have_nan_in_unverified_cells():
    scores, truth = draw_case(6, np.nan)

    table = score(scores, truth, unknown_value="nan")

    assert values(table) == values(score(*draw_case(6)))


def test_a_sparse_matrix_has_unverified_cells():
    scores, truth = draw_case(6)

    assert values(score(scores, csr_array(truth))) == values(score(scores, truth))


def test_there_may_be_two_unknown_values():
    scores, truth = draw_case(6)
    with_two_values = truth.astype(float)
    with_two_values[::2][truth[::2] == -1] = np.nan

    table = score(scores, with_two_values, unknown_value="-1,nan")

    assert values(table) == values(score(scores, truth))


@pytest.mark.parametrize("extension", ["csv", "parquet", "json"])
def test_a_file_has_unverified_cells(tmp_path, extension):
    scores, truth = draw_case(5, np.nan)
    ids = [f"i{number:02}" for number in range(N_ITEMS)]
    frame = pd.DataFrame(truth, ids, NAMES).rename_axis("id")
    pred = tmp_path / "pred.csv"
    pd.DataFrame(scores, ids, NAMES).rename_axis("id").to_csv(pred)
    gt = tmp_path / f"gt.{extension}"
    unknown_value = "nan"
    if extension == "csv":
        frame.to_csv(gt)
    elif extension == "parquet":
        frame.reset_index().to_parquet(gt)
    else:
        unknown_value = -1
        frame.fillna(-1).to_json(gt, orient="index")

    table = score(pred, gt, unknown_value=unknown_value)

    assert values(table) == pytest.approx(values(score(*draw_case(5))))


# ---- without the option -------------------------------------------------------------------------


PREDS = {"a": {"x": 0.9, "y": 0.2}, "b": {"x": 0.3, "y": 0.8}}


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        (np.array([[0.9, 0.2], [0.3, 0.8]]), np.array([[1, -1], [0, 1]])),
        (PREDS, {"a": {"x": 1, "y": -1}, "b": {"x": 0, "y": 1}}),
    ],
    ids=["matrix", "mapping"],
)
def test_a_note_on_minus_ones_names_the_option(preds, gts):
    table = semmetrics.score(preds, gts, measures="mAP")

    assert any("unknown_value=-1" in note for note in table.notes)


@pytest.mark.parametrize("cell", ["-1", ""])
def test_an_unverified_cell_of_a_csv_file_raises_an_error(tmp_path, cell):
    path = tmp_path / "gt.csv"
    path.write_text(f"id,x,y\na,1,{cell}\nb,0,1\n")

    with refused("unverified-cell"):
        semmetrics.score(PREDS, path, measures="mAP")


CELLS = [[1, None], [0, 1]]
WITH_EMPTY_CELL = {
    "array": np.array([[1, np.nan], [0, 1]]),
    "objects": pd.DataFrame(CELLS, ["a", "b"], ["x", "y"], dtype=object),
    "null": {"a": {"x": 1, "y": None}, "b": {"x": 0, "y": 1}},
}


@pytest.mark.parametrize("form", WITH_EMPTY_CELL)
def test_an_empty_cell_raises_an_error_unless_it_is_an_unknown_value(form):
    truth = WITH_EMPTY_CELL[form]
    preds = np.array([[0.9, 0.2], [0.3, 0.8]]) if form == "array" else PREDS

    with refused("empty-truth-cell"):
        semmetrics.score(preds, truth, measures="mAP")
    with refused("empty-truth-cell"):
        Scorer(measures="mAP").update(preds, truth)

    table = score(preds, truth, measures="mAP", unknown_value="nan")
    (fact,) = facts(table, "unverified-cells")
    assert fact.n == 1


def test_difficult_labels_of_voc_are_not_unverified_cells():
    truth = np.array([[1, 0, -1], [-1, 1, 1]])
    scores = np.array([[0.9, 0.8, 0.1], [0.3, 0.6, 0.7]])

    table = semmetrics.score(scores, truth, measures="mAP")

    assert "difficult-labels" in codes(table)
    assert "|unverified:" not in table[0].signature


TRUTH_WITH_MINUS = {"a": {"cat": 1, "dog": -1}, "b": {"cat": -1, "dog": 1}}
LABELS = {"a": ["cat"], "b": ["dog"]}


@pytest.mark.parametrize("preds", [LABELS, {"a": {"cat": 0.9}, "b": {"dog": 0.8}}])
def test_a_note_reports_minus_ones_with_any_predictions(preds):
    table = semmetrics.score(preds, TRUTH_WITH_MINUS, measures="F1")

    assert "true-minus" in codes(table)


# ---- errors -------------------------------------------------------------------------------------


NUMBERS = np.array([[0.9, 0.2], [0.3, 0.8]])
TRUTH = np.array([[1, -1], [0, 1]])


@pytest.mark.parametrize("value", [0, 1, "maybe", ""])
def test_a_value_that_means_something_else_raises_an_error(value):
    with refused("bad-option", name="unknown_value"):
        score(NUMBERS, TRUTH, measures="mAP", unknown_value=value)


@pytest.mark.parametrize(
    ("preds", "gts", "code"),
    [
        (NUMBERS, np.array([[1.0, np.inf], [0, 1]]), "not-finite"),
        (np.array([[0.9, np.nan], [0.3, 0.8]]), TRUTH, "not-finite"),
        ({"a": {"x": None}}, {"a": {"x": 1}}, "not-a-number"),
        (NUMBERS, 2 * TRUTH, "out-of-range"),
    ],
)
def test_other_numbers_are_not_unknown_values(preds, gts, code):
    with refused(code):
        score(preds, gts, measures="mAP", unknown_value="-1")


def test_a_measure_of_a_fixed_number_of_labels_raises_an_error():
    with refused("not-applicable", name="unknown_value"):
        score(np.abs(TRUTH), TRUTH, measures="BalancedAccuracy(q=2)")


def test_a_note_reports_that_the_option_has_no_effect_on_lists():
    table = score([["a"]], [["a"]], measures="F1")

    assert "no-effect" in codes(table)
