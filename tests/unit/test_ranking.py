"""Ranking measures, compared with scikit-learn, their definitions and repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import ranking as oracle
from sklearn import metrics as sklearn_metrics

import semmetrics
from semmetrics.metrics import class_curves, class_precision, class_roc, item_ranking

INTERPOLATIONS = ["none", "voc2007", "voc2010", "coco101"]
LABEL_RANKINGS = {
    "coverage_error": sklearn_metrics.coverage_error,
    "ranking_loss": sklearn_metrics.label_ranking_loss,
    "label_ranking_average_precision": (
        sklearn_metrics.label_ranking_average_precision_score
    ),
}


def assert_close(values, expected):
    """Check that values are equal up to rounding, or both undefined."""
    assert_allclose(values, expected, rtol=0, atol=1e-12)


def random_tables(seed, ties):
    """Draw scores and targets with an empty and a full row, an absent class, and weights."""
    rng = np.random.default_rng(seed)
    shape = (rng.integers(3, 40), rng.integers(2, 12))
    scores = rng.normal(size=shape)
    if ties:
        scores = rng.integers(0, 5, shape) / 4.0
    targets = (rng.random(shape) < rng.random()).astype(int)
    targets[0] = 0
    targets[1] = 1
    targets[2, :2] = 0, 1
    targets[:, 0] = 0
    n_items = len(scores)
    weights = rng.random(n_items)
    weights *= rng.integers(0, 2, n_items)
    weights += 0.01
    return scores, targets, weights


# ---- measures of items --------------------------------------------------------------


@pytest.mark.sampled(12)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", LABEL_RANKINGS)
def test_label_rankings_equal_scikit_learn(name, seed, ties):
    ours = getattr(item_ranking, name)
    theirs = LABEL_RANKINGS[name]
    scores, targets, weights = random_tables(seed, ties)
    empty = 1 if name == "label_ranking_average_precision" else 0

    value = ours(scores, targets, empty=empty)
    weighted = ours(scores, targets, empty=empty, weights=weights)

    expected = theirs(targets, scores)
    expected_weighted = theirs(targets, scores, sample_weight=weights)
    assert_close(value, expected)
    assert_close(weighted, expected_weighted)


def test_undefined_items_and_items_of_weight_0_are_ignored():
    scores = [[0.9, 0.4], [0.4, 0.9]]
    targets = [[0, 0], [1, 0]]

    coverage_error = item_ranking.coverage_error(scores, targets)
    ranking_loss = item_ranking.ranking_loss(scores, targets, weights=[1, 0])

    assert coverage_error == 2.0
    assert np.isnan(ranking_loss)


@pytest.mark.parametrize(
    ("divisor", "name"), [("hits", "matched"), ("references", "reference")]
)
@given(hits=st.lists(st.booleans(), max_size=6), n_missed=st.integers(0, 3))
def test_average_precision_of_a_list_equals_its_definition(
    divisor, name, hits, n_missed
):
    predicted = [f"label {place}" for place in range(len(hits))]
    reference = [label for label, hit in zip(predicted, hits, strict=True) if hit]
    reference += [f"missed {place}" for place in range(n_missed)]
    measure = f"AP(normalize={divisor})"

    (score,) = semmetrics.score([predicted], [reference], measures=measure)

    expected = np.nan
    if predicted and reference:
        expected = oracle.list_average_precision(hits, len(reference), name)
    assert_close(score.items, [expected])


# ---- measures of classes ------------------------------------------------------------


@pytest.mark.sampled(30)
@pytest.mark.parametrize("order", ["grouped", "ordered"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("seed", range(20))
def test_interpolations_equal_the_definition(seed, interpolation, order):
    scores, targets, _ = random_tables(seed, ties=seed % 2 == 0)

    values = class_precision.average_precision(
        scores, targets, interpolation=interpolation, ties=order
    )

    columns = zip(scores.T, targets.T.tolist(), values, strict=True)
    for class_scores, class_targets, value in columns:
        retrieved = list(zip(class_scores, class_targets, strict=True))
        expected = oracle.class_average_precision(
            retrieved, sum(class_targets), interpolation, order
        )
        assert_close(value, expected)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize(
    ("measure", "theirs"),
    [
        ("mAP", sklearn_metrics.average_precision_score),
        ("ROC-AUC", sklearn_metrics.roc_auc_score),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_averages_over_classes_equal_scikit_learn(
    seed, weighted, measure, theirs, average
):
    scores, targets, weights = random_tables(seed, ties=seed % 2 == 0)
    is_defined = targets.any(axis=0) & ~targets.all(axis=0)
    scores = scores[:, is_defined]
    targets = targets[:, is_defined]
    classes = list(map(str, range(is_defined.sum())))
    if not weighted:
        weights = None

    measures = f"{measure}(average={average})"
    (score,) = semmetrics.score(
        scores, targets, measures=measures, weights=weights, classes=classes
    )

    expected = theirs(targets, scores, average=average, sample_weight=weights)
    assert_close(score.value, expected)


class ScoredClasses:
    """Some of five classes are scored for each of 30 items, also by equal scores.

    Class 1 has no positives, and class 2 no scores. Some positives have no score.
    """

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.is_positive = self.rng.random((30, 5)) < 0.3
        self.is_positive[:, 1] = False
        self.is_scored = self.rng.random((30, 5)) < 0.6
        self.is_scored[:, 2] = False
        scores = self.rng.integers(0, 8, (30, 5)) / 7.0
        self.scores = np.where(self.is_scored, scores, -1.0)

    def curves(self, ties="grouped"):
        items, classes = np.nonzero(self.is_scored)
        positive_items, positive_classes = np.nonzero(self.is_positive)
        return class_curves.sort_by_class(
            classes,
            self.scores[self.is_scored],
            self.is_positive[self.is_scored],
            items,
            positive_classes,
            positive_items,
            5,
            ties=ties,
        )

    def repeated(self, label, counts, step):
        """Return (score, is positive) of a class for repeated items, later ones scored lower."""
        pairs = []
        for item in np.flatnonzero(self.is_scored[:, label]).tolist():
            score = self.scores[item, label] - step * item
            is_positive = bool(self.is_positive[item, label])
            pairs += [(score, is_positive)] * counts[item]
        return pairs


@pytest.mark.parametrize("order", ["grouped", "ordered"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("seed", range(5))
def test_average_precision_of_weights_equals_repeated_items(seed, interpolation, order):
    data = ScoredClasses(seed)
    weights = data.rng.multinomial(30, np.full(30, 1 / 30), size=9)

    values = class_precision.class_average_precision(
        data.curves(ties=order), weights, interpolation=interpolation
    )

    # Equal scores of different items are separated, but not the copies of an item.
    step = 1e-6 if order == "ordered" else 0.0
    for counts, row in zip(weights, values, strict=True):
        for label in range(5):
            pairs = data.repeated(label, counts, step)
            n_positives = int(counts @ data.is_positive[:, label])
            expected = oracle.class_average_precision(pairs, n_positives, interpolation)
            assert_close(row[label], expected)


@pytest.mark.parametrize("seed", range(5))
def test_roc_auc_of_weights_is_the_share_of_ordered_pairs(seed):
    data = ScoredClasses(seed)
    weights = data.rng.integers(0, 3, (5, 30))

    values = class_roc.class_roc_auc(data.curves(), weights)

    for counts, row in zip(weights, values, strict=True):
        for label in range(5):
            scores = data.scores[:, label]
            is_positive = data.is_positive[:, label]
            differences = np.subtract.outer(scores, scores)
            wins = np.heaviside(differences, 0.5)
            pairs = np.outer(counts * is_positive, counts * ~is_positive)
            expected = np.nan
            if pairs.any():
                expected = np.average(wins, weights=pairs)
            assert_close(row[label], expected)


# In floats, the sum of these weights is not the sum of any two parts of them.
@pytest.mark.parametrize("weights", [[0.1, 0.1, 0.2, 0.3], [1, 1, 2, 3]])
def test_a_class_of_all_items_has_no_roc_curve_for_any_weights(weights):
    data = ScoredClasses(0)
    data.is_positive[:] = True
    item_weights = np.resize(weights, (1, 30))

    values = class_roc.class_roc_auc(data.curves(), item_weights)

    assert np.isnan(values).all()


@pytest.mark.parametrize("weights", [[1, 1e-17, 2e-17, 1], [1e6, 1e-8, 3e-9, 1e6]])
def test_tiny_weights_have_an_effect_on_roc_auc(weights):
    truth = np.array([[1], [0], [0], [1]])
    scores = np.array([[0.2], [0.7], [0.1], [0.6]])

    (score,) = semmetrics.score(
        scores, truth, classes=["a"], measures="ROC-AUC", weights=weights
    )

    expected = sklearn_metrics.roc_auc_score(truth, scores, sample_weight=weights)
    assert score.value == pytest.approx(expected)


def test_the_mean_over_classes_without_positives_is_undefined():
    table = np.zeros((2, 3))

    value = class_precision.mean_average_precision(table, table)

    assert np.isnan(value)


def test_a_class_without_scores_has_an_average_precision_of_0():
    data = ScoredClasses(0)
    data.is_scored[:] = False

    values = class_precision.class_average_precision(data.curves(), np.ones((1, 30)))

    assert_array_equal(values, [[0, np.nan, 0, 0, 0]])
