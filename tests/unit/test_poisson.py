"""Intervals with ci_method="poisson": each item has its own weights in all resamples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from batches import signatures, update_with
from refusals import refused

import semmetrics
from semmetrics import Bootstrap, Scorer
from semmetrics.core.hashing import hash_strings
from semmetrics.scoring import resampling
from semmetrics.scoring.draws import Draws

LABELS = [f"label {number}" for number in range(9)]
MEASURES = "F1 MicroF1 MacroF1 SemF1 WMD"


def draw_labels(n=150, seed=0):
    """Draw up to two predicted, and up to three true labels, for each item."""
    rng = np.random.default_rng(seed)
    preds = {}
    gts = {}
    for number in range(n):
        preds[f"item {number}"] = rng.permutation(LABELS)[: rng.integers(3)].tolist()
        gts[f"item {number}"] = rng.permutation(LABELS)[: rng.integers(1, 4)].tolist()
    return preds, gts


# ---- weights ------------------------------------------------------------------------------------


def weights_of_items(seed):
    """Return the weights of 4,000 items in 203 resamples."""
    names = [f"item {number}" for number in range(4000)]
    draws = Draws.of_hashes(np.sort(hash_strings(names)))
    bootstrap = Bootstrap(resamples=203, seed=seed, method="poisson")
    return np.concatenate([*draws.counts(bootstrap, 64)]).astype(int)


def test_weights_have_the_poisson_distribution():
    weights = weights_of_items(seed=5)

    shares = np.bincount(weights.ravel(), minlength=6)[:6] / weights.size
    expected = [math.exp(-1) / math.factorial(k) for k in range(6)]
    np.testing.assert_allclose(shares, expected, atol=0.002)
    assert (weights_of_items(seed=6) != weights).mean() > 0.5


@pytest.mark.parametrize("axis", ["resamples", "items"])
def test_weights_are_independent(axis):
    weights = weights_of_items(seed=5)
    table = weights if axis == "resamples" else weights.T[:200]

    correlations = np.corrcoef(table)[np.triu_indices(len(table), 1)]

    assert abs(correlations.mean()) < 0.002
    assert correlations.std() == pytest.approx(1 / math.sqrt(table.shape[1]), rel=0.1)


# ---- intervals ----------------------------------------------------------------------------------


def draw_captions():
    """Draw two candidates, and up to three references, for each image."""
    rng = np.random.default_rng(0)
    words = np.array(["a", "man", "dog", "cat", "runs", "on", "red", "beach"])
    preds = {}
    gts = {}
    for number in range(150):
        captions = [" ".join(rng.choice(words, 6)) for _ in range(5)]
        preds[f"image {number}"] = captions[:2]
        gts[f"image {number}"] = captions[2 : rng.integers(3, 6)]
    return preds, gts


def test_batches_of_captions_give_the_intervals_of_one_call(monkeypatch):
    """All candidates of an image have the same weight."""
    preds, gts = draw_captions()
    options = {"measures": "BLEU-4 ROUGE-L", "ci": True, "resamples": 90}
    whole = semmetrics.score(preds, gts, ci_method="poisson", **options)
    monkeypatch.setattr(resampling, "MAX_CHUNK_COUNTS", 600)
    scorers = []
    for ids in np.array_split(np.random.default_rng(1).permutation([*gts]), 4):
        scorer = Scorer(keep_rows=False, **options)
        update_with(scorer, preds, gts, ids)
        scorers.append(scorer)

    table = sum(scorers).compute()

    assert signatures(table) == signatures(whole)
    for row, expected in zip(table, whole, strict=True):
        limits = (expected.ci.low, expected.ci.high)
        assert (row.ci.low, row.ci.high) == pytest.approx(limits, rel=1e-11)


ALL_RIGHT = {str(number): [LABELS[number % 9]] for number in range(30)}


@pytest.mark.parametrize(
    ("sides", "tolerance"),
    [(draw_labels(5000), 0.1), ((ALL_RIGHT, ALL_RIGHT), 1e-6)],
    ids=["many items", "values at a bound"],
)
def test_intervals_are_near_those_of_the_default_methods(sides, tolerance):
    options = {"measures": "SubsetAccuracy MicroF1", "ci": True}

    table = semmetrics.score(*sides, ci_method="poisson", **options)

    default_table = semmetrics.score(*sides, **options)
    for row, default in zip(table, default_table, strict=True):
        low, high = default.ci.low, default.ci.high
        expected = pytest.approx((low, high), rel=0, abs=tolerance * (high - low))
        assert (row.ci.low, row.ci.high) == expected


def test_systems_that_were_scored_separately_are_compared_with_the_same_weights():
    preds, gts = draw_labels()
    systems = {"a": preds, "b": draw_labels(seed=7)[0]}
    options = {"measures": MEASURES, "ci_method": "poisson", "resamples": 200}
    whole = semmetrics.compare(systems, gts, **options)
    tables = {}
    for name, side in systems.items():
        scorer = Scorer(system=name, ci=True, keep_rows=False, **options)
        scorer.update(side, gts)
        tables[name] = scorer.compute()

    differences = semmetrics.compare(tables, None)

    for row, expected in zip(differences, whole, strict=True):
        assert row.method == expected.method == "poisson"
        assert row.p == pytest.approx(expected.p)
        assert (row.low, row.high) == pytest.approx((expected.low, expected.high))
        assert row.wins is None  # values of items are not stored


# ---- errors -------------------------------------------------------------------------------------


def test_too_many_resamples_raise_an_error_with_the_number_that_fits(monkeypatch):
    monkeypatch.setattr(resampling, "MAX_BYTES_OF_RESAMPLES", 8 * 50 * 100)
    sides = draw_labels(20)
    options = {"measures": "MacroF1", "ci": True, "keep_rows": False}

    with refused("too-many-resamples", sums=28, fit=178):
        Scorer(**options).update(*sides)

    with refused("too-many-resamples"):
        Scorer(resamples=179, **options).update(*sides)

    scorer = Scorer(resamples=178, **options)
    scorer.update(*sides)
    assert scorer.compute()["MacroF1"].ci.bootstrap.resamples == 178


@pytest.mark.parametrize(("method", "other"), [("poisson", "bca"), ("auto", "poisson")])
def test_replicates_of_one_method_have_no_interval_of_another(method, other):
    sides = draw_labels(20)
    options = {"measures": "F1", "ci": True, "ci_method": method, "resamples": 9}
    replicates = semmetrics.score(*sides, **options)["F1"].replicates

    with refused("bad-option", name="ci_method"):
        replicates.interval(method=other)
