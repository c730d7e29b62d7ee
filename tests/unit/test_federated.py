"""Ground truths in which each item has its own verified categories, as LVIS has."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import sklearn.metrics as peer

import semmetrics
from semmetrics import as_labels
from tests.refusals import codes, refused

RULE = "decode=threshold:0.5"
RANKING = ["LRAP", "RankingLoss", "CoverageError"]
CURVES = ["mAP", "ROC-AUC", "ROC-AUC(average=micro)", "ROC-AUC(average=weighted)"]
SETS = [
    *(f"HammingLoss({RULE})", f"HammingLoss(average=macro,{RULE})", f"MicroF1({RULE})"),
    *(
        f"MacroF1({RULE})",
        f"F1({RULE})",
        f"Precision({RULE})",
        f"SubsetAccuracy({RULE})",
    ),
]
MEASURES = [*SETS, *RANKING, *CURVES]
NAMES = [f"c{number:02}" for number in range(9)]


def data(seed, n_items=14):
    """Return scores, truth and verified cells; no item has the last label, which is verified."""
    rng = np.random.default_rng(seed)
    scores = rng.random((n_items, len(NAMES))).round(2)
    truth = (rng.random(scores.shape) < 0.25).astype(int)
    truth[:, -1] = 0
    verified = (truth == 1) | (rng.random(scores.shape) < 0.3)
    verified[0] = True
    truth[0, :4] = 1
    return scores, truth, verified


def as_lvis(truth, verified):
    """Return the cells as a file of LVIS."""
    images, annotations = [], []
    for row, (true, known) in enumerate(zip(truth, verified, strict=True)):
        absent = (np.flatnonzero(known & (true == 0)) + 1).tolist()
        images.append(
            {"id": row, "file_name": f"{row}.jpg", "neg_category_ids": absent}
        )
        present = (np.flatnonzero(true) + 1).tolist()
        annotations += [
            {"image_id": row, "category_id": category} for category in present
        ]
    categories = [{"id": number, "name": name} for number, name in enumerate(NAMES, 1)]
    return {"images": images, "annotations": annotations, "categories": categories}


def as_scores(scores, known=None):
    """Return the scores of each item by label, perhaps only those of some cells."""
    found = {}
    for row, own in enumerate(scores):
        found[str(row)] = {
            name: float(own[place])
            for place, name in enumerate(NAMES)
            if known is None or known[row, place]
        }
    return found


def of_rows(measure, scores, truth, known):
    values = []
    for own, true, verified in zip(scores, truth, known, strict=True):
        n_true, n = true[verified].sum(), verified.sum()
        if not n_true or (measure is peer.label_ranking_loss and n_true == n):
            continue
        values.append(1.0 if n == 1 else measure([true[verified]], [own[verified]]))
    return np.mean(values)


def of_columns(measure, given, truth, known, weighted=False):
    """Average over labels whose verified cells have positives, and negatives for a curve."""
    values, supports = [], []
    for column in range(truth.shape[1]):
        rows = known[:, column]
        true, own = truth[rows, column], given[rows, column]
        if not true.any() or (measure is peer.roc_auc_score and true.all()):
            continue
        values.append(measure(true, own))
        supports.append(true.sum())
    return np.average(values, weights=supports if weighted else None)


def oracle(scores, truth, known):
    """Return values of the verified cells by plain masks and scikit-learn."""
    chosen = (scores > 0.5).astype(int)
    wrong = (chosen != truth) & known
    items = [(truth[i, k], chosen[i, k]) for i, k in enumerate(known)]
    true, own = truth[known], chosen[known]
    seen = ((truth == 1) | (chosen == 1)) & known
    of_seen = [
        peer.f1_score(truth[k, j], chosen[k, j])
        for j, k in enumerate(known.T)
        if seen[:, j].any()
    ]
    with_cells = known.any(axis=0)
    shares = wrong.sum(axis=0)[with_cells] / known.sum(axis=0)[with_cells]
    precisions = []
    for t, c in items:
        if c.sum() or t.sum():
            precisions.append((t & c).sum() / max(1, c.sum()))
        else:
            precisions.append(1.0)
    f1 = [peer.f1_score(t, c, zero_division=1) if len(t) else 1.0 for t, c in items]
    return {
        f"HammingLoss({RULE})": wrong.sum() / known.sum(),
        f"HammingLoss(average=macro,{RULE})": shares.mean(),
        f"MicroF1({RULE})": peer.f1_score(true, own),
        f"MacroF1({RULE})": np.mean(of_seen),
        f"F1({RULE})": np.mean(f1),
        f"Precision({RULE})": np.mean(precisions),
        f"SubsetAccuracy({RULE})": np.mean([(t == c).all() for t, c in items]),
        "LRAP": of_rows(
            peer.label_ranking_average_precision_score, scores, truth, known
        ),
        "RankingLoss": of_rows(peer.label_ranking_loss, scores, truth, known),
        "CoverageError": of_rows(peer.coverage_error, scores, truth, known),
        "mAP": of_columns(peer.average_precision_score, scores, truth, known),
        "ROC-AUC": of_columns(peer.roc_auc_score, scores, truth, known),
        "ROC-AUC(average=micro)": peer.roc_auc_score(true, scores[known]),
        "ROC-AUC(average=weighted)": of_columns(
            peer.roc_auc_score, scores, truth, known, weighted=True
        ),
    }


@pytest.mark.parametrize("seed", range(6))
def test_only_verified_cells_count(seed):
    scores, truth, known = data(seed)
    table = semmetrics.score(
        as_scores(scores), as_lvis(truth, known), measures=MEASURES
    )
    assert table.to_dict() == pytest.approx(oracle(scores, truth, known), abs=1e-6)
    assert all("|verified:listed|" in score.signature for score in table)
    assert "unverified-labels" in codes(table)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_dense_truth_with_unknown_cells_gives(seed):
    scores, truth, known = data(seed)
    table = semmetrics.score(
        as_scores(scores), as_lvis(truth, known), measures=MEASURES
    )
    cells = {
        row: {
            name: truth[int(row), place] if known[int(row), place] else -1
            for place, name in enumerate(NAMES)
        }
        for row in as_scores(scores)
    }
    dense = semmetrics.score(
        as_scores(scores), cells, measures=MEASURES, unknown_value=-1
    )
    assert table.to_dict() == pytest.approx(dense.to_dict(), abs=1e-12)


def part_of(lvis, rows):
    """Return the file with some of the images."""
    images = [image for image in lvis["images"] if image["id"] in rows]
    annotations = [one for one in lvis["annotations"] if one["image_id"] in rows]
    return {**lvis, "images": images, "annotations": annotations}


@pytest.mark.parametrize("keep_rows", [True, False])
def test_batches_give_the_values_of_the_whole(keep_rows):
    scores, truth, known = data(1)
    preds, lvis = as_scores(scores), as_lvis(truth, known)
    measures = MEASURES if keep_rows else SETS
    whole = semmetrics.score(preds, lvis, measures=measures)
    scorer = semmetrics.Scorer(measures=measures, keep_rows=keep_rows)
    for rows in (range(4), range(4, 5), range(5, 14)):
        batch = {row: preds[row] for row in map(str, rows)}
        scorer.update(batch, part_of(lvis, rows))
    found = scorer.compute()
    assert found.to_dict() == pytest.approx(whole.to_dict(), abs=1e-12)
    assert [score.signature for score in found] == [score.signature for score in whole]
    assert "unverified-labels" in codes(found)
    for other in ({"x": ["c01"]}, {"x": {"c01": 1, "c02": 0}}):
        with refused("other-batch"):
            scorer.update({"x": {"c01": 0.7}}, other)


def test_merged_states_give_the_values_of_the_whole():
    scores, truth, known = data(2)
    preds, lvis = as_scores(scores), as_lvis(truth, known)
    scorers = []
    for rows in (range(6), range(6, 14)):
        scorers.append(semmetrics.Scorer(measures=SETS, keep_rows=False))
        scorers[-1].update(
            {row: preds[row] for row in map(str, rows)}, part_of(lvis, rows)
        )
    merged = pickle.loads(pickle.dumps(scorers[0]))
    merged.merge(scorers[1])
    whole = semmetrics.score(preds, lvis, measures=SETS)
    assert [score.signature for score in merged.compute()] == [
        one.signature for one in whole
    ]
    assert merged.compute().to_dict() == pytest.approx(whole.to_dict(), abs=1e-12)


def test_a_signature_is_computed_again():
    scores, truth, known = data(0)
    preds, lvis = as_scores(scores), as_lvis(truth, known)
    for score in semmetrics.score(preds, lvis, measures=MEASURES):
        again = semmetrics.rescore(score.signature, preds, lvis)
        assert again.differences == []
        assert again[0].value == score.value
    for image in lvis["images"]:
        del image["neg_category_ids"]
    assert semmetrics.rescore(score.signature, preds, lvis).differences


def test_the_data_of_a_signature_do_not_depend_on_the_predictions():
    scores, truth, known = data(0)
    lvis = as_lvis(truth, known)
    hashes = set()
    for preds in (as_scores(scores), {str(row): ["zebra", "c01"] for row in range(14)}):
        (score,) = semmetrics.score(preds, lvis, measures="Precision@2")
        hashes.update(
            part for part in score.signature.split("|") if part.startswith("data:")
        )
    assert len(hashes) == 1
    known[3, 5] = ~known[3, 5] | (truth[3, 5] == 1)
    (score,) = semmetrics.score(preds, as_lvis(truth, known), measures="Precision@2")
    assert not hashes & set(score.signature.split("|"))


def test_a_label_that_is_not_a_category_is_wrong_in_its_item_only():
    truth, known = np.zeros((2, 9), int), np.zeros((2, 9), bool)
    truth[:, 0] = 1
    known[:, :2] = True
    preds = {"0": ["c00", "zebra", "c05"], "1": ["c00"]}
    table = semmetrics.score(
        preds, as_lvis(truth, known), measures="HammingLoss Precision"
    )
    # zebra, of four verified cells and itself
    assert table["HammingLoss"].value == 1 / 5
    assert table["Precision"].value == 0.75


def test_an_ignored_category_counts_nowhere():
    scores, truth, known = data(4)
    lvis = as_lvis(truth, known)
    table = semmetrics.score(as_scores(scores), lvis, measures=MEASURES, ignore=["c01"])
    rest = [place for place in range(9) if place != 1]
    want = oracle(scores[:, rest], truth[:, rest], known[:, rest])
    assert table.to_dict() == pytest.approx(want, abs=1e-6)


def test_classes_other_than_the_categories_are_left_out():
    scores, truth, known = data(5)
    table = semmetrics.score(
        as_scores(scores),
        as_lvis(truth, known),
        measures=MEASURES,
        classes=[*NAMES, "zebra"],
    )
    got = table.to_dict()
    want = oracle(scores, truth, known)
    assert {name: got[name] for name in RANKING} == pytest.approx(
        {name: want[name] for name in RANKING}, abs=1e-6
    )
    assert got[f"HammingLoss({RULE})"] == pytest.approx(want[f"HammingLoss({RULE})"])


def test_weights_and_resamples_count_verified_cells():
    scores, truth, known = data(3)
    preds, lvis = as_scores(scores), as_lvis(truth, known)
    doubled = {str(row): 2.0 if row == 5 else 1.0 for row in range(14)}
    weighted = semmetrics.score(
        preds, lvis, measures=[*SETS, "ROC-AUC"], weights=doubled
    )
    rows = [*range(14), 5]
    want = oracle(scores[rows], truth[rows], known[rows])
    names = [f"HammingLoss({RULE})", f"MicroF1({RULE})", "ROC-AUC"]
    got = weighted.to_dict()
    assert [got[name] for name in names] == pytest.approx(
        [want[name] for name in names]
    )
    for score in semmetrics.score(preds, lvis, measures=names, ci=True, resamples=50):
        assert score.ci.low <= score.value <= score.ci.high


def test_predictions_of_the_file_itself_have_its_labels_only():
    _, truth, known = data(0)
    lists = as_labels(as_lvis(truth, known))
    assert [len(labels) for labels in lists.to_list()] == truth.sum(axis=1).tolist()
    table = semmetrics.score(lists, lists, measures="HammingLoss F1")
    assert table.to_dict() == {"HammingLoss": 0.0, "F1": 1.0}


def test_a_measure_of_a_fixed_number_of_labels_is_an_error(tmp_path):
    scores, truth, known = data(0)
    path = tmp_path / "lvis.json"
    path.write_text(json.dumps(as_lvis(truth, known)))
    with refused("counts-unverified"):
        semmetrics.score(
            as_scores(scores), path, measures=f"BalancedAccuracy(q=9,{RULE})"
        )
