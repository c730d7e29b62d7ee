"""Draw verified cells of a ground truth, and compute their measures with scikit-learn."""

from __future__ import annotations

import numpy as np
import sklearn.metrics as peer

NAMES = [f"c{number:02}" for number in range(9)]
N_ITEMS = 14
RULE = "decode=threshold:0.5"
HAMMING = f"HammingLoss({RULE})"
MACRO_HAMMING = f"HammingLoss(average=macro,{RULE})"
MICRO_F1 = f"MicroF1({RULE})"
MACRO_F1 = f"MacroF1({RULE})"
F1 = f"F1({RULE})"
PRECISION = f"Precision({RULE})"
SUBSET_ACCURACY = f"SubsetAccuracy({RULE})"
SET_MEASURES = [
    HAMMING,
    MACRO_HAMMING,
    MICRO_F1,
    MACRO_F1,
    F1,
    PRECISION,
    SUBSET_ACCURACY,
]
RANKING_MEASURES = ["LRAP", "RankingLoss", "CoverageError"]
CURVE_MEASURES = [
    "mAP",
    "ROC-AUC",
    "ROC-AUC(average=micro)",
    "ROC-AUC(average=weighted)",
]
MEASURES = [*SET_MEASURES, *RANKING_MEASURES, *CURVE_MEASURES]


def draw_cells(seed):
    """Draw scores, truth and verified cells. The last label is verified and never true."""
    rng = np.random.default_rng(seed)
    scores = rng.random((N_ITEMS, len(NAMES))).round(2)
    truth = (rng.random(scores.shape) < 0.25).astype(int)
    truth[:, -1] = 0
    verified = (truth == 1) | (rng.random(scores.shape) < 0.3)
    verified[0] = True
    truth[0, :4] = 1
    return scores, truth, verified


def by_label(scores):
    """Return the scores of each item by label."""
    items = {}
    for row, values in enumerate(scores.tolist()):
        items[str(row)] = dict(zip(NAMES, values, strict=True))
    return items


def expected_values(scores, truth, verified):
    """Return the value of each measure of the verified cells."""
    chosen = (scores > 0.5).astype(int)
    return {
        **_values_of_sets(chosen, truth, verified),
        **_values_of_items(chosen, truth, verified),
        **_values_of_rankings(scores, truth, verified),
    }


def _values_of_sets(chosen, truth, verified):
    wrong = (chosen != truth) & verified
    n_verified = verified.sum(axis=0)
    has_cells = n_verified > 0
    is_used = (((truth == 1) | (chosen == 1)) & verified).any(axis=0)
    f1_of_labels = []
    for column in np.flatnonzero(is_used):
        rows = verified[:, column]
        f1_of_labels.append(peer.f1_score(truth[rows, column], chosen[rows, column]))
    return {
        HAMMING: wrong.sum() / verified.sum(),
        MACRO_HAMMING: np.mean(wrong.sum(axis=0)[has_cells] / n_verified[has_cells]),
        MICRO_F1: peer.f1_score(truth[verified], chosen[verified]),
        MACRO_F1: np.mean(f1_of_labels),
    }


def _values_of_items(chosen, truth, verified):
    f1 = []
    precisions = []
    are_equal = []
    for predicted, true, rows in zip(chosen, truth, verified, strict=True):
        predicted = predicted[rows]
        true = true[rows]
        are_equal.append((predicted == true).all())
        if not predicted.any() and not true.any():
            f1.append(1.0)
            precisions.append(1.0)
            continue
        f1.append(peer.f1_score(true, predicted))
        precisions.append((true & predicted).sum() / max(1, predicted.sum()))
    return {
        F1: np.mean(f1),
        PRECISION: np.mean(precisions),
        SUBSET_ACCURACY: np.mean(are_equal),
    }


def _values_of_rankings(scores, truth, verified):
    cells = scores, truth, verified
    areas = _of_labels(peer.roc_auc_score, *cells)
    supports = _of_labels(lambda true, _: true.sum(), *cells)
    precisions = _of_labels(peer.average_precision_score, *cells, needs_negatives=False)
    lrap = peer.label_ranking_average_precision_score
    return {
        "LRAP": _mean_of_items(lrap, *cells),
        "RankingLoss": _mean_of_items(peer.label_ranking_loss, *cells),
        "CoverageError": _mean_of_items(peer.coverage_error, *cells),
        "mAP": np.mean(precisions),
        "ROC-AUC": np.mean(areas),
        "ROC-AUC(average=micro)": peer.roc_auc_score(truth[verified], scores[verified]),
        "ROC-AUC(average=weighted)": np.average(areas, weights=supports),
    }


def _mean_of_items(measure, scores, truth, verified):
    """Average over items with true labels, and with others for the ranking loss."""
    values = []
    for own_scores, own_truth, cells in zip(scores, truth, verified, strict=True):
        true = own_truth[cells]
        if not true.any() or (measure is peer.label_ranking_loss and true.all()):
            continue
        if len(true) == 1:
            values.append(1.0)
        else:
            values.append(measure([true], [own_scores[cells]]))
    return np.mean(values)


def _of_labels(measure, scores, truth, verified, *, needs_negatives=True):
    """Return a value for each label that is true, and somewhere false, in verified cells."""
    values = []
    for column in range(truth.shape[1]):
        rows = verified[:, column]
        true = truth[rows, column]
        if true.any() and not (needs_negatives and true.all()):
            values.append(measure(true, scores[rows, column]))
    return values
