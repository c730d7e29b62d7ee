"""Sweeps over thresholds and k, against scikit-learn and single decodings."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from refusals import refused
from sklearn.metrics import f1_score, precision_score, recall_score

from semmetrics import sweep
from semmetrics.metrics import sweeps
from semmetrics.metrics.decoding import decode

AVERAGES_OF_SKLEARN = {
    "example": "samples",
    "micro": "micro",
    "macro": "macro",
    "weighted": "weighted",
}


def random_table(seed):
    """Return scores with ties, and targets with an empty row and an absent class."""
    rng = np.random.default_rng(seed)
    n = rng.integers(3, 25)
    width = rng.integers(2, 9)
    scores = rng.integers(0, 9, (n, width)) / 8 - 0.5
    targets = (rng.random((n, width)) < 0.3).astype(int)
    targets[0] = 0
    targets[:, 0] = 0
    return scores, targets


def check_against_sklearn(curve, targets, decoded, average):
    for name, function in (
        ("precision", precision_score),
        ("recall", recall_score),
        ("f1", f1_score),
    ):
        expected = []
        for kept in decoded:
            options = {"average": AVERAGES_OF_SKLEARN[average], "zero_division": 0}
            expected.append(function(targets, kept, **options))
        assert_allclose(getattr(curve, name), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(8))
def test_sweeps_equal_scikit_learn_at_each_point(seed, average):
    scores, targets = random_table(seed)
    zeros = sweeps.Undefined(0.0, 0.0, 0.0)
    ks = [3, 0, 1, 2, 3]
    thresholds = [0.1, -2.0, 0.25, 0.25, 3.0]

    by_k = sweeps.sweep_top_k(scores, targets, ks, undefined=zeros)
    by_threshold = sweeps.sweep_thresholds(scores, targets, thresholds, undefined=zeros)

    assert by_k[average].points.tolist() == ks
    kept = [decode(scores, "top", k=k) for k in ks]
    check_against_sklearn(by_k[average], targets, kept, average)
    assert by_threshold[average].points.tolist() == thresholds
    kept = [scores > threshold for threshold in thresholds]
    check_against_sklearn(by_threshold[average], targets, kept, average)


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize(
    "policy",
    [
        sweeps.Undefined(ratio=0.25, item=0.5, label=0.75),
        sweeps.Undefined(ratio=np.nan, item=0.0, label=0.0),
        sweeps.Undefined(ratio=0.0, item=np.nan, label=0.0),
        sweeps.Undefined(ratio=0.0, item=0.0, label=np.nan),
    ],
)
def test_undefined_ratios_have_the_value_of_the_policy(average, policy):
    scores, targets = random_table(1)

    curve = sweeps.sweep_thresholds(scores, targets, undefined=policy)[average]

    for point, threshold in enumerate(curve.points):
        expected = mean_over_groups(scores > threshold, targets == 1, average, policy)
        values = (curve.precision[point], curve.recall[point], curve.f1[point])
        assert_allclose(values, expected, rtol=0, atol=1e-12)


def mean_over_groups(kept, targets, average, policy):
    """Return the means of precision, recall and F1 over items, labels, or all cells."""
    empty = policy.item
    if average == "micro":
        kept = kept.reshape(1, -1)
        targets = targets.reshape(1, -1)
    elif average != "example":
        kept = kept.T
        targets = targets.T
        empty = policy.label
    n_kept = kept.sum(axis=1)
    n_targets = targets.sum(axis=1)
    n_hits = (kept & targets).sum(axis=1)
    weights = n_targets if average == "weighted" else np.ones(len(kept))
    counts = weights > 0
    ratios = [
        divide(n_hits, n_kept, policy.ratio),
        divide(n_hits, n_targets, policy.ratio),
        divide(2 * n_hits, n_kept + n_targets, empty),
    ]
    return [np.average(values[counts], weights=weights[counts]) for values in ratios]


def divide(numerators, denominators, default):
    defined = denominators > 0
    return np.where(defined, numerators / np.maximum(denominators, 1), default)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [7, 400])
def test_the_best_threshold_is_the_highest_of_equally_good_ones(average, seed, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (30, 9)) / levels
    targets = (rng.random((30, 9)) < scores / 2).astype(int)
    targets[3] = 0
    targets[:, 2] = 0
    empty = seed % 2
    undefined = sweeps.Undefined(0.0, empty, empty)

    best = sweeps.best_threshold(scores, targets, average=average, undefined=undefined)

    values = {}
    for threshold in sweeps.candidate_thresholds(scores).tolist():
        values[threshold] = exact_f1(scores > threshold, targets == 1, average, empty)
    highest = max(values.values())
    assert best.value == pytest.approx(float(highest), abs=1e-15)
    assert best.threshold == max(t for t, value in values.items() if value == highest)


def exact_f1(kept, targets, average, empty):
    """Return the mean F1 over items, labels, or all cells as a fraction."""
    if average == "micro":
        kept = kept.reshape(1, -1)
        targets = targets.reshape(1, -1)
    elif average != "example":
        kept = kept.T
        targets = targets.T
    total = Fraction(0)
    weights = 0
    for kept_of_group, targets_of_group in zip(kept, targets, strict=True):
        hits = int((kept_of_group & targets_of_group).sum())
        n_targets = int(targets_of_group.sum())
        size = int(kept_of_group.sum()) + n_targets
        weight = n_targets if average == "weighted" else 1
        f1 = Fraction(2 * hits, size) if size else Fraction(empty)
        total += weight * f1
        weights += weight
    return total / weights


def test_targets_may_be_sparse():
    scores, targets = random_table(3)

    best = sweeps.best_threshold(scores, scipy.sparse.csr_array(targets))

    assert best == sweeps.best_threshold(scores, targets)


def test_sweeps_without_items():
    curves = sweeps.sweep_top_k(np.zeros((0, 2)), np.zeros((0, 2)), [1])

    assert np.isnan(curves["example"].f1).all()
    assert curves["macro"].precision.tolist() == [0.0]


BAD_THRESHOLDS = ["", "0:1", "0:1:0.00001", "0,x", "0:nan:1", [], [True], [None]]


@pytest.mark.parametrize("thresholds", BAD_THRESHOLDS)
def test_invalid_thresholds_raise_an_error(thresholds):
    with refused("bad-thresholds"):
        sweep([["bike"]], [["bicycle"]], thresholds=thresholds)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"measures": "SoftF1"}, "no-threshold"),
        ({"treshold": 0.4}, "unknown-name"),
        ({"protocol": "kubany2020"}, "not-applicable"),
    ],
)
def test_sweeps_that_cannot_be_computed_raise_an_error(options, code):
    with refused(code):
        sweep([["bike"]], [["bicycle"]], **options)
