"""Ranking metrics against scikit-learn, against the definitions, and against repeated items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import ranking as oracle
from sklearn import metrics as peer

import semmetrics
from semmetrics.metrics import (
    class_curves,
    class_precision,
    class_roc,
    item_ranking,
    scored_pairs,
)

INTERPOLATIONS = ["none", "voc2007", "voc2010", "coco101"]
PEERS = {
    "coverage_error": (item_ranking.coverage_error, peer.coverage_error, 0),
    "ranking_loss": (item_ranking.ranking_loss, peer.label_ranking_loss, 0),
    "lrap": (
        item_ranking.label_ranking_average_precision,
        peer.label_ranking_average_precision_score,
        1,
    ),
}


def random_tables(seed, ties):
    """Scores and targets with empty rows, full rows, absent classes and, if asked for, ties."""
    rng = np.random.default_rng(seed)
    n, width = rng.integers(3, 40), rng.integers(2, 12)
    scores = (
        rng.integers(0, 5, (n, width)) / 4.0 if ties else rng.normal(size=(n, width))
    )
    targets = (rng.random((n, width)) < rng.random()).astype(int)
    targets[0], targets[1] = 0, 1
    targets[2, :2] = 0, 1
    targets[:, 0] = 0
    return scores, targets, rng.random(n) * rng.integers(0, 2, n) + 0.01


@pytest.mark.sampled(12)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("name", PEERS)
def test_item_measures_equal_scikit_learn(name, seed, ties):
    ours, theirs, empty = PEERS[name]
    scores, targets, weights = random_tables(seed, ties)
    assert ours(scores, targets, empty=empty) == pytest.approx(
        theirs(targets, scores), abs=1e-12, rel=1e-12
    )
    assert ours(scores, targets, empty=empty, weights=weights) == pytest.approx(
        theirs(targets, scores, sample_weight=weights), abs=1e-12, rel=1e-12
    )
    kept = targets.any(axis=1)
    if name == "ranking_loss":
        kept &= ~targets.all(axis=1)
    assert ours(scores, targets) == pytest.approx(
        theirs(targets[kept], scores[kept]), abs=1e-12
    )


@given(
    rows=st.lists(
        st.tuples(st.lists(st.booleans(), max_size=6), st.integers(0, 3)),
        min_size=1,
        max_size=6,
    ),
    divisor=st.sampled_from(["hits", "references"]),
)
def test_list_average_precision_equals_the_definition(rows, divisor):
    lists = [
        [f"{'t' if hit else 'f'}{i}" for i, hit in enumerate(hits)] for hits, _ in rows
    ]
    truth = [
        [name for name in names if name[0] == "t"] + [f"m{i}" for i in range(more)]
        for names, (_, more) in zip(lists, rows, strict=True)
    ]
    measure = f"AP(normalize={divisor})"
    got = semmetrics.score(lists, truth, measures=[measure]).scores[0].items
    for value, (hits, more) in zip(got, rows, strict=True):
        n_ref = sum(hits) + more
        if not n_ref or not hits:
            assert np.isnan(value)
        else:
            name = {"hits": "matched", "references": "reference"}[divisor]
            expected = oracle.list_average_precision(hits, n_ref, name)
            assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("order", ["grouped", "ordered"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("seed", range(20))
def test_interpolations_equal_the_definition(seed, interpolation, order):
    scores, targets, _ = random_tables(seed, ties=seed % 2 == 0)
    got = class_precision.average_precision(
        scores, targets, interpolation=interpolation, ties=order
    )
    for label, value in enumerate(got):
        retrieved = list(zip(scores[:, label], targets[:, label].tolist(), strict=True))
        slow = oracle.class_average_precision(
            retrieved, int(targets[:, label].sum()), interpolation, order
        )
        assert_allclose(value, slow, rtol=0, atol=1e-12)


def partial_classes(seed, n=30, n_classes=5):
    """Some scored labels of n items, with ties; positives that are scored and that are not."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, n_classes)) < 0.3
    truth[:, 1] = False
    scored = rng.random((n, n_classes)) < 0.6
    scored[:, 2] = False
    item, classes = np.nonzero(scored)
    scores = rng.integers(0, 8, len(item)) / 7.0
    positive_item, positive_class = np.nonzero(truth)
    flat = (
        classes,
        scores,
        truth[scored],
        item,
        positive_class,
        positive_item,
        n_classes,
    )
    return flat, rng


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_a_replicate_does_not_depend_on_the_others(interpolation):
    flat, rng = partial_classes(0)
    curves = class_curves.sort_by_class(*flat)
    weights = rng.random((9, 30))

    def precision(some):
        return class_precision.class_average_precision(
            curves, some, interpolation=interpolation
        )

    few = precision(weights)
    times = 2 * class_curves.MAX_CELLS_PER_STEP // (9 * 30)  # two parts at least
    assert_array_equal(
        precision(np.tile(weights, (times, 1))), np.tile(few, (times, 1))
    )
    for row, value in zip(weights, few, strict=True):
        assert_array_equal(precision(row[None])[0], value)


@pytest.mark.parametrize("order", ["grouped", "ordered"])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("seed", range(8))
def test_resample_weights_equal_repeated_items(seed, interpolation, order):
    flat, rng = partial_classes(seed)
    classes, scores, _, item, positive_class, positive_item, n_classes = flat
    curves = class_curves.sort_by_class(*flat, ties=order)
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=9)
    weights[-1] = 1
    got = class_precision.class_average_precision(
        curves, weights, interpolation=interpolation
    )
    assert got.shape == (9, n_classes)
    truth = set(zip(positive_class.tolist(), positive_item.tolist(), strict=True))
    for row, counts in zip(got, weights.tolist(), strict=True):
        for label in range(n_classes):
            here = classes == label
            # parts equal scores, not the copies
            step = 1e-6 if order == "ordered" else 0.0
            retrieved = [
                (score - step * one, (label, one) in truth)
                for score, one in zip(scores[here], item[here].tolist(), strict=True)
                for _ in range(counts[one])
            ]
            positives = sum(counts[one] for of, one in truth if of == label)
            slow = oracle.class_average_precision(retrieved, positives, interpolation)
            assert_allclose(row[label], slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("seed", range(30))
def test_averages_over_classes_equal_scikit_learn(seed, average):
    scores, targets, weights = random_tables(seed, ties=seed % 2 == 0)
    some = targets.any(axis=0) & ~targets.all(axis=0)
    scores, targets = scores[:, some], targets[:, some]
    classes = [*map(str, range(len(scores[0])))]
    for name, theirs in (
        ("mAP", peer.average_precision_score),
        ("ROC-AUC", peer.roc_auc_score),
    ):
        for own in (None, weights):
            found = semmetrics.score(
                scores,
                targets,
                measures=f"{name}(average={average})",
                weights=own,
                classes=classes,
            )
            expected = theirs(targets, scores, average=average, sample_weight=own)
            assert found[0].value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_roc_auc_of_resamples_and_missing_scores_is_that_of_pairs(seed):
    flat, rng = partial_classes(seed)
    classes, scores, _, item, positive_class, positive_item, n_classes = flat
    weights = rng.integers(0, 3, (5, 30))
    got = class_roc.class_roc_auc(class_curves.sort_by_class(*flat), weights)
    table = np.full((n_classes, 30), -1.0)  # what has no score is behind all others
    table[classes, item] = scores
    truth = np.zeros((n_classes, 30), bool)
    truth[positive_class, positive_item] = True
    for row, counts in zip(got, weights, strict=True):
        for value, mine, positive in zip(row, table, truth, strict=True):
            won = (mine[:, None] > mine) + (mine[:, None] == mine) / 2
            pairs = np.outer(counts * positive, counts * ~positive)
            slow = (won * pairs).sum() / pairs.sum() if pairs.any() else np.nan
            assert_allclose(value, slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_a_class_that_all_items_have_has_no_roc_curve_under_any_weights(average):
    scores = np.array([[0.2, 0.7], [0.5, 0.6], [0.9, 0.3], [0.9, 0.1]])
    truth = np.array([[1, 1], [1, 0], [1, 1], [1, 0]])

    def score(truth, weights):
        options = {"classes": ["all", "b"], "measures": f"ROC-AUC(average={average})"}
        return semmetrics.score(scores, truth, weights=weights, **options)[0]

    found = [score(truth, weights) for weights in ([0.1, 0.1, 0.2, 0.3], [1, 1, 2, 3])]
    assert found[0].value == pytest.approx(found[1].value)
    assert found[0].undefined == found[1].undefined
    assert np.isnan(score(np.ones_like(truth), [0.1] * 4).value)
    for weights in ([1, 1e-17, 2e-17, 1], [1e6, 1e-8, 3e-9, 1e6]):
        tiny = class_roc.class_roc_auc(
            class_curves.sort_by_class(
                np.zeros(4, int),
                np.array([0.2, 0.7, 0.1, 0.6]),
                np.array([1, 0, 0, 1], bool),
                np.arange(4),
                np.zeros(2, int),
                np.array([0, 3]),
                1,
            ),
            np.array([weights]),
        )
        expected = peer.roc_auc_score(
            [1, 0, 0, 1], [0.2, 0.7, 0.1, 0.6], sample_weight=weights
        )
        assert tiny[0, 0] == pytest.approx(expected)


def test_empty_policies():
    scores, targets = [[0.9, 0.4], [0.4, 0.9]], [[0, 0], [1, 0]]
    heavy = item_ranking.coverage_error(
        scores, targets, empty=float("nan"), weights=[0, 3]
    )
    assert heavy == 2.0  # an item without weight is not there
    assert np.isnan(item_ranking.ranking_loss(scores, targets, weights=[1, 0]))


def test_no_items_no_labels_no_scores():
    none = np.zeros((0, 3))
    assert np.isnan(item_ranking.coverage_error(none, none))
    assert np.isnan(class_precision.average_precision(none, none)).all()
    assert class_precision.average_precision(
        np.zeros((2, 0)), np.zeros((2, 0))
    ).shape == (0,)
    assert np.isnan(
        class_precision.mean_average_precision(np.zeros((2, 1)), np.zeros((2, 1)))
    )
    empty = np.zeros(0, np.int64)
    curves = class_curves.sort_by_class(
        empty,
        np.zeros(0),
        np.zeros(0, np.bool_),
        empty,
        np.array([1]),
        np.array([0]),
        2,
    )
    got = class_precision.class_average_precision(curves, np.array([[1], [0]]))
    assert_array_equal(got, [[np.nan, 0.0], [np.nan, np.nan]])


def test_map_and_roc_auc_sort_the_scores_of_classes_once(monkeypatch):
    sort_by_class = scored_pairs.sort_by_class
    calls = []

    def sort_and_count(*args, **options):
        calls.append(options)
        return sort_by_class(*args, **options)

    monkeypatch.setattr(scored_pairs, "sort_by_class", sort_and_count)
    scores = np.array([[0.2, 0.7], [0.5, 0.6], [0.9, 0.3]])
    truth = np.array([[0, 1], [1, 0], [1, 1]])
    table = semmetrics.score(scores, truth, measures=["mAP", "ROC-AUC"])
    assert [score.value for score in table.scores] == pytest.approx([11 / 12, 3 / 4])
    assert len(calls) == 1
