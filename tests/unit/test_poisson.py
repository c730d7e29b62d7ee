"""Intervals by Poisson weights: what a resample draws, and that any split gives the same."""

import math
from itertools import pairwise

import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics import Bootstrap, Scorer
from semmetrics.core.hashing import hash_strings
from semmetrics.scoring import resampling
from semmetrics.scoring.draws import Draws

WORDS = ["a", "man", "dog", "cat", "runs", "on", "red", "beach", "the", "two"]
NAMES = [f"label {number}" for number in range(9)]
LABELS = ["F1", "MicroF1", "MacroF1", "SemF1", "WMD"]
CAPTIONS = ["BLEU-4", "ROUGE-L", "CIDEr-D(df=given)"]


def draw(kind, n=150, seed=0):
    """Both sides by id; captions have one or two candidates an image."""
    rng = np.random.default_rng(seed)

    def some(least, most):
        if kind == "labels":
            return rng.permutation(NAMES)[: rng.integers(least, most)].tolist()
        return [
            " ".join(rng.choice(WORDS, 6)) for _ in range(rng.integers(least, most))
        ]

    ids = [f"item {number}" for number in range(n)]
    return (
        {i: some(0 if kind == "labels" else 1, 3) for i in ids},
        {i: some(1, 4) for i in ids},
    )


def weights_of(n=4000, resamples=203, seed=5):
    draws = Draws.of_hashes(
        np.sort(hash_strings([f"item {number}" for number in range(n)]))
    )
    made = Bootstrap(resamples=resamples, seed=seed, method="poisson")
    return np.concatenate([*draws.counts(made, 64)]).astype(int)


def test_weights_are_independent_poisson_numbers():
    counts = weights_of()
    assert counts.shape == (203, 4000)
    shares = np.bincount(counts.ravel(), minlength=6)[:6] / counts.size
    expected = [math.exp(-1) / math.factorial(k) for k in range(6)]
    np.testing.assert_allclose(shares, expected, atol=0.002)
    # resamples over items, and items over resamples
    for table in (
        counts,
        counts.T[:200],
    ):
        found = np.corrcoef(table)
        apart = found[np.triu_indices(len(found), 1)]
        assert abs(apart.mean()) < 0.002
        assert apart.std() == pytest.approx(1 / math.sqrt(table.shape[1]), rel=0.1)
    assert (weights_of(seed=6) != counts).mean() > 0.5


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "measures"), [("labels", LABELS), ("captions", CAPTIONS)]
)
def test_any_split_gives_the_intervals_of_one_call(
    kind, measures, weighted, monkeypatch
):
    preds, gts = draw(kind)
    options = {
        "measures": measures,
        "task": kind,
        "ci": True,
        "resamples": 90,
        "seed": 3,
    }
    if kind == "captions":
        options["doc_freq"] = semmetrics.fit_document_frequencies([*gts.values()])
    rng = np.random.default_rng(1)
    weight = {i: float(rng.integers(0, 4)) + 0.25 for i in gts}
    whole = semmetrics.score(
        preds, gts, ci_method="poisson", weights=weight if weighted else None, **options
    )
    monkeypatch.setattr(resampling, "_MAX_CHUNK_COUNTS", 600)  # few resamples at a time
    ids = rng.permutation(list(gts)).tolist()
    parts = []
    for start, stop in pairwise([0, 1, 40, 41, 150]):
        scorer = Scorer(keep_rows=False, **options)
        for some in (ids[start:stop:2], ids[start + 1 : stop : 2]):
            given = {"weights": {i: weight[i] for i in some}} if weighted else {}
            scorer.update(
                {i: preds[i] for i in some}, {i: gts[i] for i in some}, **given
            )
        parts.append(scorer)
    for other, one in zip(sum(reversed(parts)).compute(), whole, strict=True):
        assert other.signature == one.signature
        assert (other.value, other.ci.method) == (one.value, "poisson")
        np.testing.assert_allclose(
            other.replicates.values, one.replicates.values, rtol=1e-12
        )
        np.testing.assert_allclose(
            [other.ci.low, other.ci.high], [one.ci.low, one.ci.high], rtol=1e-11
        )


AT_A_BOUND = [{str(number): [NAMES[number % 9]] for number in range(30)}] * 2


@pytest.mark.parametrize(
    ("sides", "near"), [(draw("labels", 5000), 0.1), (AT_A_BOUND, 1e-6)]
)
def test_both_ends_are_near_those_of_the_default_methods(sides, near):
    measures = (
        [*LABELS, "SubsetAccuracy"] if near == 0.1 else ["SubsetAccuracy", "MicroF1"]
    )
    tables = [
        semmetrics.score(*sides, measures=measures, ci=True, ci_method=method)
        for method in ("auto", "poisson")
    ]
    for one, other in zip(*tables, strict=True):
        off = near * (one.ci.high - one.ci.low)
        ends = pytest.approx((one.ci.low, one.ci.high), rel=0, abs=off)
        assert (other.ci.low, other.ci.high) == ends, one.heading


def test_systems_scored_apart_are_compared_under_the_same_weights():
    gts = draw("labels")[1]
    systems = {
        name: draw("labels", seed=seed)[0] for name, seed in (("a", 0), ("b", 7))
    }
    options = {"measures": LABELS, "ci_method": "poisson", "resamples": 200}
    whole = semmetrics.compare(systems, gts, **options)
    scored = {}
    for name, preds in systems.items():
        scored[name] = Scorer(system=name, ci=True, keep_rows=False, **options)
        scored[name].update(preds, gts)
    apart = semmetrics.compare(
        {name: one.compute() for name, one in scored.items()}, None
    )
    for one, other in zip(whole, apart, strict=True):
        assert (one.p, one.low, one.high) == pytest.approx(
            (other.p, other.low, other.high)
        )
        assert one.method == other.method == "poisson"
        assert other.wins is None  # no values of items are kept


def test_what_does_not_fit_is_refused(monkeypatch):
    preds, gts = draw("labels", 20)
    monkeypatch.setattr(resampling, "_MAX_BYTES_OF_RESAMPLES", 8 * 50 * 100)
    scorer = Scorer(measures=["MacroF1"], ci=True, keep_rows=False)
    with refused("too-many-resamples", sums=28, fit=178):
        scorer.update(preds, gts)
    fits = Scorer(measures=["MacroF1"], ci=True, keep_rows=False, resamples=178)
    fits.update(preds, gts)
    assert fits.compute()["MacroF1"].ci.bootstrap.resamples == 178
    replicates = semmetrics.score(
        preds, gts, measures="F1", ci=True, ci_method="poisson", resamples=9
    )["F1"].replicates
    with refused("bad-option", name="ci_method", value="bca"):
        replicates.interval(method="bca")
    with refused("bad-option", name="ci_method"):
        semmetrics.score(preds, gts, measures="F1", ci=True)["F1"].replicates.interval(
            method="poisson"
        )
    few, many = (
        Scorer(measures=["F1"], ci=True, keep_rows=False, resamples=n) for n in (9, 10)
    )
    for one in (few, many):
        one.update(preds, gts)
    with refused("different-scorers"):
        _ = few + many
