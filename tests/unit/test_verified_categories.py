"""If each item has its own verified categories, as in LVIS, only those count."""

from __future__ import annotations

import json

import numpy as np
import pytest
from batches import select, signatures
from refusals import codes, refused
from verified_cells import (
    HAMMING,
    MEASURES,
    MICRO_F1,
    N_ITEMS,
    NAMES,
    RULE,
    SET_MEASURES,
    by_label,
    draw_cells,
    expected_values,
)

import semmetrics
from semmetrics import Scorer


def as_lvis(truth, verified, rows=range(N_ITEMS)):
    """Return the content of a file of LVIS that has the cells of some items."""
    images = []
    annotations = []
    for row in rows:
        absent = np.flatnonzero(verified[row] & (truth[row] == 0)) + 1
        image = {"id": row, "file_name": f"{row}.jpg"}
        images.append({**image, "neg_category_ids": absent.tolist()})
        for category in np.flatnonzero(truth[row]) + 1:
            annotations.append({"image_id": row, "category_id": int(category)})
    categories = []
    for number, name in enumerate(NAMES, 1):
        categories.append({"id": number, "name": name})
    return {"images": images, "annotations": annotations, "categories": categories}


def case(seed):
    """Return scores by label and the content of a file of LVIS."""
    scores, truth, verified = draw_cells(seed)
    return by_label(scores), as_lvis(truth, verified)


@pytest.mark.parametrize("seed", range(4))
def test_only_verified_cells_count(seed):
    preds, lvis = case(seed)

    table = semmetrics.score(preds, lvis, measures=MEASURES)

    expected = expected_values(*draw_cells(seed))
    assert table.to_dict() == pytest.approx(expected, abs=1e-6)
    assert all("|verified:listed|" in signature for signature in signatures(table))
    assert "unverified-labels" in codes(table)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_merged_batches_give_the_values_of_one_call(keep_rows):
    scores, truth, verified = draw_cells(1)
    preds = by_label(scores)
    measures = MEASURES if keep_rows else SET_MEASURES
    scorers = []
    for batches in ([range(4), range(4, 5)], [range(5, N_ITEMS)]):
        scorer = Scorer(measures=measures, keep_rows=keep_rows)
        for rows in batches:
            batch = select(preds, map(str, rows))
            scorer.update(batch, as_lvis(truth, verified, rows))
        scorers.append(scorer)

    table = sum(scorers).compute()

    whole = semmetrics.score(preds, as_lvis(truth, verified), measures=measures)
    assert table.to_dict() == pytest.approx(whole.to_dict(), abs=1e-12)
    assert signatures(table) == signatures(whole)
    assert "unverified-labels" in codes(table)


@pytest.mark.parametrize("gts", [{"x": ["c01"]}, {"x": {"c01": 1, "c02": 0}}], ids=str)
def test_a_batch_without_verified_categories_raises_an_error(gts):
    scorer = Scorer(measures="LRAP")
    scorer.update(*case(1))

    with refused("other-batch"):
        scorer.update({"x": {"c01": 0.7}}, gts)


def test_a_signature_can_be_computed_again_from_the_same_verified_cells():
    preds, lvis = case(0)
    for score in semmetrics.score(preds, lvis, measures=MEASURES):
        again = semmetrics.rescore(score.signature, preds, lvis)
        assert again.differences == []
        assert again[0].value == score.value

    for image in lvis["images"]:
        del image["neg_category_ids"]
    assert semmetrics.rescore(score.signature, preds, lvis).differences


def test_a_label_that_is_not_a_category_is_wrong_only_in_its_item():
    truth = np.zeros((2, 9), int)
    truth[:, 0] = 1
    verified = np.zeros((2, 9), bool)
    verified[:, :2] = True
    preds = {"0": ["c00", "zebra", "c05"], "1": ["c00"]}

    lvis = as_lvis(truth, verified, range(2))
    table = semmetrics.score(preds, lvis, measures="HammingLoss Precision")

    assert table["HammingLoss"].value == 1 / 5  # four verified cells, and zebra
    assert table["Precision"].value == 0.75


def test_an_ignored_category_does_not_count():
    preds, lvis = case(4)

    table = semmetrics.score(preds, lvis, measures=MEASURES, ignore=["c01"])

    others = [0, *range(2, 9)]
    expected = expected_values(*(cells[:, others] for cells in draw_cells(4)))
    assert table.to_dict() == pytest.approx(expected, abs=1e-6)


def test_an_item_of_weight_2_counts_twice():
    preds, lvis = case(3)
    weights = {name: 2.0 if name == "5" else 1.0 for name in preds}
    measures = [HAMMING, MICRO_F1, "ROC-AUC"]

    table = semmetrics.score(preds, lvis, measures=measures, weights=weights)

    rows = [*range(N_ITEMS), 5]
    expected = expected_values(*(cells[rows] for cells in draw_cells(3)))
    for name, value in table.to_dict().items():
        assert value == pytest.approx(expected[name])


def test_a_measure_of_a_fixed_number_of_labels_raises_an_error(tmp_path):
    preds, lvis = case(0)
    path = tmp_path / "lvis.json"
    path.write_text(json.dumps(lvis))

    with refused("counts-unverified"):
        semmetrics.score(preds, path, measures=f"BalancedAccuracy(q=9,{RULE})")
