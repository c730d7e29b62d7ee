"""Sweeps against scikit-learn and against decoding every point on its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, precision_score, recall_score

from semmetrics.metrics import sweeps
from semmetrics.metrics.decoding import decode, keep_above

FIELDS = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
PEER_AVERAGE = {
    "example": "samples",
    "micro": "micro",
    "macro": "macro",
    "weighted": "weighted",
}


def tables(seed):
    """Scores with ties, targets with empty rows and an absent class."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(3, 25)), int(rng.integers(2, 9))
    scores = rng.integers(0, 9, (n, width)) / 8 - 0.5
    targets = (rng.random((n, width)) < 0.3).astype(int)
    targets[0] = 0
    targets[:, 0] = 0
    return scores, targets


def plain(kept, targets, average, undefined=sweeps.DEFAULT):
    """Precision, recall, F1 from sets of (item, label), group by group."""
    kept, true = np.asarray(kept, bool), np.asarray(targets, bool)
    if average == "micro":
        groups = [(kept.ravel(), true.ravel())]
    elif average in ("macro", "weighted"):
        groups = list(zip(kept.T, true.T, strict=True))
    else:
        groups = list(zip(kept, true, strict=True))
    empty = undefined.label if average in ("macro", "weighted") else undefined.item
    total, weights = np.zeros(3), 0
    for k, t in groups:
        hits, a, b = int((k & t).sum()), int(k.sum()), int(t.sum())
        weight = b if average == "weighted" else 1
        weights += weight
        if not weight:
            continue
        total += weight * np.array(
            [
                hits / a if a else undefined.ratio,
                hits / b if b else undefined.ratio,
                2 * hits / (a + b) if a + b else empty,
            ]
        )
    return total / weights if weights else np.full(3, np.nan)


def assert_point(sweep, place, expected):
    got = sweep.precision[place], sweep.recall[place], sweep.f1[place]
    assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(12))
def test_equals_scikit_learn_where_policies_agree(seed, average):
    scores, targets = tables(seed)
    zeros = sweeps.Undefined(0.0, 0.0, 0.0)  # zero_division=0
    ks, limits = [3, 0, 1, 2, 3], [0.1, -2.0, 0.25, 0.25, 3.0]
    by_k = sweeps.sweep_top_k(scores, targets, ks, undefined=zeros)[average]
    by_t = sweeps.sweep_thresholds(scores, targets, limits, undefined=zeros)[average]
    assert by_k.points.tolist() == ks
    assert by_t.points.tolist() == limits
    for field, peer in FIELDS.items():
        for sweep, decoded in (
            (by_k, [decode(scores, "top", k=k) for k in ks]),
            (by_t, [decode(scores, threshold=t) for t in limits]),
        ):
            expected = [
                peer(targets, kept, average=PEER_AVERAGE[average], zero_division=0)
                for kept in decoded
            ]
            assert_allclose(getattr(sweep, field), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("place", range(3))
def test_what_a_policy_leaves_undefined_is_nan(place):
    scores, targets = tables(1)
    undefined = [0.0, 0.0, 0.0]
    undefined[place] = np.nan
    for average in sweeps.AVERAGES:
        sweep = sweeps.sweep_thresholds(
            scores, targets, undefined=sweeps.Undefined(*undefined)
        )
        got = sweep[average]
        with np.errstate(invalid="ignore"):
            for point, threshold in enumerate(got.points):
                expected = plain(
                    scores > threshold, targets, average, sweeps.Undefined(*undefined)
                )
                assert_point(got, point, expected)


def exact_best(scores, targets, average, empty):
    """The highest threshold with the best F1, in fractions, one threshold at a time."""
    kept = [(float(t), scores > t) for t in sweeps.candidate_thresholds(scores)]
    found = []
    for threshold, table in kept:
        groups = [(table.ravel(), targets.ravel())]
        if average != "micro":
            groups = list(
                zip(
                    *(
                        (table, targets)
                        if average == "example"
                        else (table.T, targets.T)
                    ),
                    strict=True,
                )
            )
        total = weights = Fraction(0)
        for mine, true in groups:
            hits, size = (
                int((mine & (true > 0)).sum()),
                int(mine.sum()) + int(true.sum()),
            )
            weight = int(true.sum()) if average == "weighted" else 1
            total += weight * (Fraction(2 * hits, size) if size else Fraction(empty))
            weights += weight
        found.append((total / weights, threshold))
    return max(found)


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [7, 400])
def test_the_best_threshold_is_that_of_fractions(average, seed, levels):
    """Of thresholds that are exactly as good, the highest; with many equal scores, and few."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (30, 9)) / levels
    targets = (rng.random((30, 9)) < scores / 2).astype(int)
    targets[3] = targets[:, 2] = 0
    value, threshold = exact_best(scores, targets, average, seed % 2)
    undefined = sweeps.Undefined(0.0, seed % 2, seed % 2)
    best = sweeps.best_threshold(scores, targets, average=average, undefined=undefined)
    assert best.threshold == threshold
    assert best.value == pytest.approx(float(value), abs=1e-15)
    kept = keep_above(np.arange(31) * 9, -np.sort(-scores, axis=1).ravel(), threshold)
    assert_array_equal(kept, (scores > threshold).sum(axis=1))


def test_sparse_targets_and_no_items():
    scores, targets = tables(3)
    sparse = sweeps.best_threshold(scores, scipy.sparse.csr_array(targets))
    assert sparse == sweeps.best_threshold(scores, targets)
    nothing = sweeps.sweep_top_k(np.zeros((0, 2)), np.zeros((0, 2)), [1])
    assert np.isnan(nothing["example"].f1).all()
    assert nothing["macro"].precision.tolist() == [0.0]
