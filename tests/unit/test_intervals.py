"""Methods of intervals: the jackknife against leaving items out, limits against plain Python."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap
from semmetrics.scoring import resampling
from semmetrics.scoring.intervals import Replicates, default_method

CLASSES = list("abcde")
METHODS = (
    "percentile",
    "bca",
    "jackknife",
    "jackknife-bias",
    "wilson",
    "hall",
    "poisson",
)


def labels(n, seed=0):
    rng = random.Random(seed)
    refs = {f"id{i}": rng.sample(CLASSES, 1 + rng.randrange(3)) for i in range(n)}
    preds = {
        name: [
            (label, rng.randrange(9) / 8) for label in rng.sample([*CLASSES, "z"], 3)
        ]
        for name in refs
    }
    return preds, refs


def test_many_items_are_left_out_in_parts():
    preds, refs = labels(2500, 4)
    table = semmetrics.score(preds, refs, measures=["F1", "MacroF1", "LRAP"], ci=True)
    for score, parts in zip(table, (1000, 1000, 100), strict=True):
        replicates = score.replicates
        assert len(replicates.left_out) == len(replicates.sizes) == parts
        assert replicates.sizes.sum() == 2500
        assert replicates.sizes.max() - replicates.sizes.min() <= 1
        if score.items is not None:  # a mean has its well-known standard error
            exact = score.items.std(ddof=1) / math.sqrt(2500)
            # of normal pseudo-values its relative error is 1 / sqrt(2 (parts - 1))
            assert replicates.standard_error == pytest.approx(
                exact, rel=3 / math.sqrt(2 * parts)
            )
    again = semmetrics.score(
        preds, refs, measures=["F1", "MacroF1", "LRAP"], ci=True, seed=9
    )
    for score, other in zip(table, again, strict=True):
        np.testing.assert_array_equal(
            score.replicates.left_out, other.replicates.left_out
        )


def test_parts_of_unequal_sizes_count_by_their_size():
    rng = np.random.default_rng(0)
    values = rng.normal(size=300)
    sizes = np.array([1] * 20 + [4] * 70)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    left_out = [(values.sum() - p.sum()) / (300 - len(p)) for p in parts]
    made = Replicates(
        np.zeros(2),
        0,
        "item",
        False,
        "",
        value=values.mean(),
        left_out=left_out,
        sizes=sizes,
    )
    assert made.standard_error == pytest.approx(
        values.std(ddof=1) / math.sqrt(300), rel=0.1
    )
    # by hand: pseudo-values of parts, their weighted mean, and their squares
    share = sizes / 300
    pseudo = [
        m / s - (1 / s - 1) * lo
        for m, s, lo in zip([values.mean()] * 90, share, left_out, strict=True)
    ]
    mean = sum(p * s for p, s in zip(pseudo, share, strict=True))
    squares = [
        (p - mean) ** 2 / (1 / s - 1) for p, s in zip(pseudo, share, strict=True)
    ]
    assert made.standard_error == pytest.approx(math.sqrt(sum(squares) / 90), rel=1e-12)


def test_undefined_left_out_values_are_counted():
    # without "x" there is no reference, and without "y" the mean has no undefined item
    preds, refs = {"x": ["a"], "y": ["a"], "z": ["b"]}, {"x": ["a"], "y": [], "z": []}
    measure = "Recall(no_reference=skip)"
    score = semmetrics.score(
        preds, refs, measures=[measure], ci=True, ci_method="jackknife"
    )
    replicates = score.scores[0].replicates
    assert np.isnan(replicates.left_out).sum() == 1
    assert score.scores[0].ci.undefined == 1
    # what decides the value is not known to vary
    assert math.isnan(score.scores[0].ci.low)
    assert score.facts[-1].code == "undefined-without-one"
    assert "replicate" in [one["cause"] for one in score.undefined()]
    both = replicates.interval(method="jackknife-bias").undefined
    assert both == 1 + np.isnan(replicates.values).sum() > 1
    nothing = semmetrics.score([["a"], ["b"]], [["a"], []], measures=[measure], ci=True)
    found = nothing.scores[0].replicates.interval(method="jackknife")
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_a_bootstrap_beside_its_own_options_is_refused():
    preds, refs = labels(5)
    ci = Bootstrap(0.8, 20, 3, "jackknife")
    for given in (
        {"level": 0.95},
        {"seed": 0},
        {"resamples": 10},
        {"ci_method": "bca"},
    ):
        with refused("conflicting-options"):
            semmetrics.score(preds, refs, measures=["F1"], ci=ci, **given)
    same = {"level": 0.8, "resamples": 20, "seed": 3, "ci_method": "jackknife"}
    assert semmetrics.score(preds, refs, measures=["F1"], ci=ci, **same).scores[0].ci


@pytest.mark.parametrize("method", METHODS)
def test_a_signature_gives_the_interval_again(method):
    preds, refs = labels(25)
    ci = Bootstrap(0.9, 50, 4, method)
    score = semmetrics.score(preds, refs, measures=["MacroF1"], ci=ci).scores[0]
    again = semmetrics.rescore(score.signature, preds, refs)
    assert (again.scores[0].ci, again.differences) == (score.ci, [])
    plain = semmetrics.rescore(score.signature, preds, refs, ci=False)
    assert plain.scores[0].ci is None
    assert plain.scores[0].value == score.value
    with refused("in-signature"):
        semmetrics.rescore(score.signature, preds, refs, ci_method="bca")
    with refused("in-signature"):
        semmetrics.rescore(score.signature, preds, refs, seed=0)


def test_memory_of_the_parts_is_bounded(monkeypatch):
    preds, refs = labels(60)
    options = {"measures": ["F1", "MacroF1", "LRAP"], "ci": True, "classes": CLASSES}
    expected = [
        score.replicates.left_out for score in semmetrics.score(preds, refs, **options)
    ]
    monkeypatch.setattr(resampling, "_MAX_CHUNK_BYTES", 500)
    for score, values in zip(
        semmetrics.score(preds, refs, **options), expected, strict=True
    ):
        np.testing.assert_array_equal(score.replicates.left_out, values)


@pytest.mark.parametrize(
    "name",
    ["6 labels, nearly all right", pytest.param("retrieval", marks=pytest.mark.slow)],
)
def test_simulated_coverage_of_few_items(name):
    """The shares of 2,000 data sets are in docs/measures/intervals.md; here of a few."""
    (case,) = [case for case in simulation.CASES if case.name == name]
    for line in simulation.simulate(case, 30, 100, resamples=100):
        share = dict(zip(simulation.METHODS, line.held, strict=True))[line.default]
        # of 100 at 0.95, four standard errors are 0.087
        assert share > 0.86, line.measure


def test_wilson_inverts_the_test_by_the_jackknife_error():
    """The limits are where |value - c| is t errors, scaled as that of a proportion is."""
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    preds, refs = labels(30, 8)
    measures = "F1 SubsetAccuracy MicroF1 HammingLoss CardinalityError LRAP"
    for score in semmetrics.score(preds, refs, measures=measures, ci=True):
        made = score.replicates.interval(0.9, "wilson")
        value, (least, most) = score.value, score.replicates.bounds
        t = float(stdtrit(29, 0.95)) * score.replicates.standard_error

        def excess(c, value=value, least=least, most=most, t=t):
            scale = (c - least) / (value - least)
            if math.isfinite(most):
                scale *= (most - c) / (most - value)
            return abs(value - c) - t * math.sqrt(max(scale, 0))

        assert made.low == pytest.approx(brentq(excess, least + 1e-9, value), abs=1e-6)
        assert made.high == pytest.approx(
            brentq(excess, value, min(most - 1e-9, 99)), abs=1e-6
        )


def test_wilson_of_a_proportion_is_the_textbooks():
    from scipy.stats import binomtest

    n = 20_000  # where Student's t is normal, and n - 1 is n
    gts = [["a"]] * n
    preds = [["a"] if i % 5 else ["b"] for i in range(n)]
    found = semmetrics.score(preds, gts, measures="SubsetAccuracy", ci=True)[0].ci
    expected = binomtest(16_000, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == (
        pytest.approx(expected.low, abs=3e-4),
        pytest.approx(expected.high, abs=3e-4),
    )
    nothing = semmetrics.score([["b"]] * 30, [["a"]] * 30, measures="F1", ci=True)[0].ci
    assert nothing.low == 0
    assert nothing.high == pytest.approx(0.122, abs=1e-3)  # t² / (30 + t²)


@pytest.mark.parametrize(
    ("bounds", "low"), [((0, 1), 6.37), ((0, 1e14), 6.45), ((-1e308, 1e308), 6.37)]
)
def test_bounds_of_ones_own_measures_that_are_wrong_or_wide(bounds, low):
    from semmetrics.metrics.registry import forget

    @semmetrics.measure(bounds=bounds)
    def Hits(hit):
        return hit * 1.0

    try:
        gts = [list("abcdefghijkl")] * 12
        preds = [labels[: 5 + i % 6] for i, labels in enumerate(gts)]
        found = semmetrics.score(preds, gts, measures="Hits", ci=True)[0]
        assert (found.value, found.ci.low) == (7.5, pytest.approx(low, abs=0.01))
    finally:
        forget(Hits)


def test_hall_removes_skewness_by_its_cubic():
    from scipy.special import stdtrit

    preds, refs = labels(25, 3)
    for score in semmetrics.score(preds, refs, measures="F1 CardinalityError", ci=True):
        made, values = score.replicates, score.items
        less = values - values.mean()
        skew = (less**3).sum() / (less**2).sum() ** 1.5
        assert 6 * made.acceleration == pytest.approx(skew, rel=1e-9)
        found = made.interval(0.9, "hall")
        for limit, sign in ((found.low, 1), (found.high, -1)):
            t = (made.value - limit) / made.standard_error
            cubic = t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6
            assert cubic == pytest.approx(sign * -float(stdtrit(24, 0.05)), rel=1e-9)


def test_simulated_coverage_of_macro_averages():
    (case,) = [case for case in simulation.CASES if case.name == "100 labels"]
    small = simulation.Case(
        case.name, case.draw, "F1(average=macro,labels=union) F1", 30_000
    )
    macro, example = simulation.simulate(small, 400, 40, resamples=200)
    shares = dict(zip(simulation.METHODS, macro.held, strict=True))
    assert macro.default == "jackknife-bias"
    assert np.mean(macro.values) - np.mean(macro.truths) < -0.015
    assert shares["percentile"] < 0.6
    assert shares["jackknife-bias"] > 0.9
    assert min(example.held) > 0.85
    assert "| 100 labels | `F1` | 400 |" in simulation.coverage_table([example])


def test_notes_of_several_systems_name_each_measure_once():
    items = {str(i): ["a", "b", "c"][: 1 + i % 3] for i in range(30)}
    gts = {i: ["a", "b"] for i in items}
    table = semmetrics.score_systems(
        {"one": items, "two": items},
        gts,
        measures="Jaccard MacroF1",
        ci=True,
        resamples=20,
    )
    (fact,) = [fact for fact in table.facts if fact.code == "interval-methods"]
    assert [fact.values["used"].count(score.heading) for score in table] == [1] * 4


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("mAP", "wilson"),
        ("ROC-AUC", "wilson"),
        ("CR", "wilson"),
        ("mAP(interpolation=voc2007)", "wilson"),
        ("mAP(average=weighted)", "wilson"),
        ("mAP(no_reference=0)", "jackknife-bias"),
        ("MacroRecall", "jackknife-bias"),
        ("MacroF1", "jackknife-bias"),
        ("CP", "jackknife-bias"),
        ("CF1", "jackknife-bias"),
    ],
)
def test_averages_that_skip_absent_labels_have_wilsons_interval(name, method):
    (measure,) = semmetrics.parse(name)
    assert default_method(measure) == method


def test_intervals_hold_or_are_noted_in_every_simulation():
    path = Path(simulation.__file__).with_name("COVERAGE.md")
    rows = [
        line.split(" | ")
        for line in path.read_text("utf-8").splitlines()
        if "**" in line
    ]
    assert {"`mAP`", "`ROC-AUC`", "`CR`"} <= {row[1] for row in rows}
    for row in rows:
        (default,) = (cell for cell in row if "**" in cell)
        held = float(default.split("**")[1])
        noted = int(row[-1].removesuffix(" |").removesuffix("%"))
        assert held >= 0.928 or noted > 50, row
