"""Sweeps against scikit-learn and against decoding every point on its own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score, precision_score, recall_score

from semmetrics.core.ragged import offsets
from semmetrics.metrics import sweeps
from semmetrics.metrics.decoding import decode, keep_above

FIELDS = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
PEER_AVERAGE = {"example": "samples", "micro": "micro", "macro": "macro", "weighted": "weighted"}


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


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize(
    "undefined", [sweeps.DEFAULT, sweeps.Undefined(0.25, 0.5, 0.75)], ids=["default", "other"]
)
@pytest.mark.parametrize("labels", [1, 1 << 20])
def test_equals_decoding_each_point(average, undefined, labels, monkeypatch):
    monkeypatch.setattr(sweeps, "_LABELS", labels)
    for seed in range(6):
        scores, targets = tables(seed)
        sweep = sweeps.sweep_top_k(scores, targets, range(5), undefined=undefined)[average]
        for place, k in enumerate(range(5)):
            kept = decode(scores, "top", k=k)
            assert_point(sweep, place, plain(kept, targets, average, undefined))
        sweep = sweeps.sweep_thresholds(scores, targets, undefined=undefined)[average]
        assert_array_equal(sweep.points, sweeps.candidate_thresholds(scores))
        for place, threshold in enumerate(sweep.points):
            kept = scores > threshold
            assert_point(sweep, place, plain(kept, targets, average, undefined))
        assert kept.all()  # the last candidate keeps everything
        assert not (scores > sweep.points[0]).any()


def test_candidates_make_every_decision():
    scores = np.array([0.1, 0.1 + 2**-54, 0.3, -0.0, 0.0, 1e-320])
    limits = sweeps.candidate_thresholds(scores)
    assert (np.diff(limits) < 0).all()
    decisions = {tuple((scores > t).tolist()) for t in limits}
    assert len(decisions) == len(limits) == len(set(scores.tolist())) + 1
    assert sweeps.candidate_thresholds([-np.inf, 1.0]).tolist() == [1.0, -np.inf]


@pytest.mark.parametrize("average", sweeps.AVERAGES)
def test_thousands_of_scores_are_all_looked_at(average):
    rng = np.random.default_rng(2)
    scores, targets = rng.random((200, 20)), rng.integers(0, 2, (200, 20))
    sweep = sweeps.sweep_thresholds(scores, targets)[average]
    assert_array_equal(sweep.points, sweeps.candidate_thresholds(scores))
    assert len(sweep.points) == 4001
    for place in range(0, 4001, 97):
        assert_point(sweep, place, plain(scores > sweep.points[place], targets, average))


@pytest.mark.parametrize("place", range(3))
def test_what_a_policy_leaves_undefined_is_nan(place):
    scores, targets = tables(1)
    undefined = [0.0, 0.0, 0.0]
    undefined[place] = np.nan
    for average in sweeps.AVERAGES:
        sweep = sweeps.sweep_thresholds(scores, targets, undefined=sweeps.Undefined(*undefined))
        got = sweep[average]
        with np.errstate(invalid="ignore"):
            for point, threshold in enumerate(got.points):
                expected = plain(scores > threshold, targets, average, sweeps.Undefined(*undefined))
                assert_point(got, point, expected)


def exact_best(scores, targets, average, empty):
    """The highest threshold with the best F1, in fractions, one threshold at a time."""
    kept = [(float(t), scores > t) for t in sweeps.candidate_thresholds(scores)]
    found = []
    for threshold, table in kept:
        groups = [(table.ravel(), targets.ravel())]
        if average != "micro":
            groups = list(zip(*((table, targets) if average == "example" else (table.T, targets.T)),
                              strict=True))  # fmt: skip
        total = weights = Fraction(0)
        for mine, true in groups:
            hits, size = int((mine & (true > 0)).sum()), int(mine.sum()) + int(true.sum())
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


def test_values_that_rounding_parts_are_equal():
    """Sums of thirds, sixths and halves: 1/3 + 2/3 is as good as 1/2 + 1/2."""
    values = np.array([(1 / 3 + 2 / 3 + 1 / 6) / 3, (1 / 2 + 1 / 2 + 1 / 6) / 3, 0.1])
    assert sweeps.best_place(np.array([0.1, 0.2, 0.3]), values) == 1
    assert sweeps.best_place(np.array([0.3, 0.2, 0.1]), values) == 0
    assert sweeps.best_place(np.array([1.0, 0.5]), np.array([np.nan, 0.0])) == 1


def partial(seed):
    """Ragged rows that score some labels, as arrays and as dense tables with -inf."""
    rng = np.random.default_rng(seed)
    dense = np.sort(rng.integers(0, 6, (20, 5)) / 5, axis=1)[:, ::-1]
    codes = np.array([rng.permutation(5) for _ in range(20)])
    widths = rng.integers(0, 6, 20)
    inside = np.arange(5) < widths[:, None]
    targets = (rng.random((20, 5)) < 0.4).astype(int)
    hit = np.take_along_axis(targets, codes, axis=1)[inside] == 1
    table = np.full((20, 5), -np.inf)
    np.put_along_axis(table, codes, np.where(inside, dense, -np.inf), axis=1)
    rows = sweeps.Rows(
        offsets(widths), codes[inside], hit, dense[inside], targets.sum(axis=1), targets.sum(axis=0)
    )
    return rows, table, targets


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(5))
def test_partial_rows_never_keep_what_has_no_score(average, seed):
    rows, table, targets = partial(seed)
    got = sweeps.sweep_rows(rows, averages=[average])
    assert list(got) == [average]
    for place, threshold in enumerate(got[average].points):
        assert_point(got[average], place, plain(table > threshold, targets, average))


@pytest.mark.parametrize("average", sweeps.AVERAGES)
@pytest.mark.parametrize("seed", range(12))
def test_best_threshold_is_best_and_can_be_repeated(average, seed):
    scores, targets = tables(seed)
    best = sweeps.best_threshold(scores, targets, average=average)
    values = {
        float(t): plain(scores > t, targets, average)[2]
        for t in sweeps.candidate_thresholds(scores)
    }
    assert best.value == pytest.approx(max(values.values()), abs=1e-12)
    equal = [t for t, value in values.items() if value >= best.value - 1e-12]
    assert best.threshold == max(equal)
    ranked = -np.sort(-scores, axis=1)
    indptr = offsets(np.full(len(scores), scores.shape[1]))
    kept = keep_above(indptr, ranked.ravel(), best.threshold)
    assert_array_equal(kept, (scores > best.threshold).sum(axis=1))


def test_best_of_equal_thresholds_is_the_highest():
    scores, targets = [[0.9, 0.1]], [[1, 0]]
    best = sweeps.best_threshold(scores, targets, thresholds=[0.2, 0.8, 0.5, 0.95])
    assert best == (0.8, 1.0)
    assert isinstance(best.threshold, float)


def test_sparse_targets_and_no_items():
    scores, targets = tables(3)
    sparse = sweeps.best_threshold(scores, scipy.sparse.csr_array(targets))
    assert sparse == sweeps.best_threshold(scores, targets)
    nothing = sweeps.sweep_top_k(np.zeros((0, 2)), np.zeros((0, 2)), [1])
    assert np.isnan(nothing["example"].f1).all()
    assert nothing["macro"].precision.tolist() == [0.0]
