"""Methods of intervals: the jackknife, Wilson's and Hall's limits, and their coverage."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from own_measures import temporary_measures
from refusals import codes, refused
from scipy.optimize import brentq
from scipy.special import stdtrit
from scipy.stats import binomtest, norm

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap, score
from semmetrics.scoring.intervals import Replicates


def draw_labels(n, seed=0):
    """Draw three labels with scores, and up to three true labels, for each item."""
    rng = random.Random(seed)
    preds = {}
    refs = {}
    for i in range(n):
        refs[f"id{i}"] = rng.sample("abcde", 1 + rng.randrange(3))
        labels = rng.sample("abcdez", 3)
        preds[f"id{i}"] = [(label, rng.randrange(9) / 8) for label in labels]
    return preds, refs


# ---- jackknife ----------------------------------------------------------------------------------


def test_of_many_items_parts_are_left_out():
    preds, refs = draw_labels(2500, 4)

    table = score(preds, refs, measures="F1 MacroF1 LRAP", ci=True, resamples=2)

    for row, n_parts in zip(table, (1000, 1000, 100), strict=True):
        sizes = row.replicates.sizes
        assert len(row.replicates.left_out) == len(sizes) == n_parts
        assert sizes.sum() == 2500
        assert sizes.max() - sizes.min() <= 1
    f1 = table["F1"]
    standard_error = f1.items.std(ddof=1) / math.sqrt(2500)
    # For normal values, the relative error is 1 / sqrt(2 (n_parts - 1)).
    assert f1.replicates.standard_error == pytest.approx(standard_error, rel=0.07)


def test_parts_of_different_sizes_count_by_their_size():
    values = np.random.default_rng(0).normal(size=300)
    sizes = np.array([1] * 20 + [4] * 70)
    sums = np.add.reduceat(values, np.cumsum(sizes) - sizes)
    left_out = (values.sum() - sums) / (300 - sizes)

    replicates = Replicates(
        np.zeros(2),
        0,
        "item",
        False,
        "",
        value=values.mean(),
        left_out=left_out,
        sizes=sizes,
    )

    share = sizes / 300
    pseudo_values = values.mean() / share - (1 / share - 1) * left_out
    mean = (pseudo_values * share).sum()
    variance = ((pseudo_values - mean) ** 2 / (1 / share - 1)).sum() / 90
    assert replicates.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_undefined_values_without_an_item_are_counted_and_noted():
    # x has the only reference.
    preds = {"x": ["a"], "y": ["a"], "z": ["b"]}
    refs = {"x": ["a"], "y": [], "z": []}
    measure = "Recall(no_reference=skip)"

    table = score(preds, refs, measures=measure, ci=True, ci_method="jackknife")

    replicates = table[0].replicates
    assert np.isnan(replicates.left_out).sum() == 1
    assert table[0].ci.undefined == 1
    assert math.isnan(table[0].ci.low)
    assert codes(table)[-1] == "undefined-without-one"
    with_resamples = replicates.interval(method="jackknife-bias")
    assert with_resamples.undefined == 1 + np.isnan(replicates.values).sum()


def notes_on_intervals(table):
    notes = []
    for fact in table.facts:
        if fact.code in ("one-item", "few-decide", "few-true-items"):
            notes.append((fact.code, fact.where, fact.values.get("headings")))
    return notes


SMALL_GTS = {"a": ["cat", "dog"], "b": ["car"], "c": ["fish"], "d": ["tree"]}
SMALL_PREDS = {"a": ["cat"], "b": ["car"], "c": ["bird"], "d": ["tree"]}


def score_at_once(systems, **options):
    return semmetrics.score_systems(systems, SMALL_GTS, **options)


def score_without_rows(systems, **options):
    scorer = semmetrics.Scorer(keep_rows=False, **options)
    for name, preds in systems.items():
        scorer.update(preds, SMALL_GTS, system=name)
    return scorer.compute()


@pytest.mark.parametrize("score_all", [score_at_once, score_without_rows])
def test_a_note_on_an_interval_names_the_system_that_it_is_about(score_all):
    systems = {"full": SMALL_PREDS, "short": {"a": ["cat"]}}

    table = score_all(systems, measures="F1 MicroF1", ci=True, missing="skip")

    notes = notes_on_intervals(table)
    assert ("one-item", "short", "F1, MicroF1") in notes
    assert "" not in {where for _, where, _ in notes}


def test_a_note_on_the_same_intervals_of_all_systems_names_none():
    systems = {"one": SMALL_PREDS, "two": dict(SMALL_PREDS)}

    table = semmetrics.score_systems(systems, SMALL_GTS, measures="F1 MacroF1", ci=True)

    notes = notes_on_intervals(table)
    assert ("few-true-items", "", "MacroF1") in notes
    assert {where for _, where, _ in notes} == {""}


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"level": 0.95}, {"seed": 0}, {"resamples": 10}, {"ci_method": "bca"}]
)
def test_an_option_that_contradicts_a_bootstrap_raises_an_error(options):
    ci = Bootstrap(0.8, 20, 3, "jackknife")

    with refused("conflicting-options"):
        score(*draw_labels(5), measures="F1", ci=ci, **options)


@pytest.mark.parametrize(
    "method",
    ["percentile", "bca", "jackknife", "jackknife-bias", "wilson", "hall", "poisson"],
)
def test_an_interval_is_computed_again_from_its_signature(method):
    sides = draw_labels(25)
    ci = Bootstrap(0.9, 50, 4, method)
    (first,) = score(*sides, measures="MacroF1", ci=ci)

    again = semmetrics.rescore(first.signature, *sides)
    without_interval = semmetrics.rescore(first.signature, *sides, ci=False)

    assert again[0].ci == first.ci
    assert again.differences == []
    assert without_interval[0].ci is None
    assert without_interval[0].value == first.value


@pytest.mark.parametrize("option", [{"ci_method": "bca"}, {"seed": 0}])
def test_options_that_are_in_a_signature_raise_an_error(option):
    sides = draw_labels(5)
    (first,) = score(*sides, measures="F1", ci=True, resamples=20)

    with refused("in-signature"):
        semmetrics.rescore(first.signature, *sides, **option)


# ---- limits -------------------------------------------------------------------------------------


def wilson_limits(row, t):
    """Return the limits from which the value is t scaled standard errors away."""
    least, most = row.replicates.bounds
    value = row.value

    def excess(limit):
        scale = (limit - least) / (value - least)
        if math.isfinite(most):
            scale *= (most - limit) / (most - value)
        scaled_error = row.replicates.standard_error * math.sqrt(max(scale, 0))
        return abs(value - limit) - t * scaled_error

    low = brentq(excess, least + 1e-9, value)
    high = brentq(excess, value, min(most - 1e-9, 99))
    return low, high


def test_wilsons_limits_invert_the_test_with_the_jackknife_error():
    measures = "F1 SubsetAccuracy MicroF1 HammingLoss CardinalityError LRAP"

    for row in score(*draw_labels(30, 10), measures=measures, ci=True):
        interval = row.replicates.interval(0.9, "wilson")

        expected = wilson_limits(row, float(stdtrit(29, 0.95)))
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-6)


def test_wilsons_interval_of_a_proportion_is_the_textbooks():
    n = 20_000
    gts = [["a"]] * n
    preds = [["a"] if i % 5 else ["b"] for i in range(n)]

    interval = score(preds, gts, measures="SubsetAccuracy", ci=True)[0].ci

    expected = binomtest(16_000, n).proportion_ci(method="wilson")
    limits = (expected.low, expected.high)
    assert (interval.low, interval.high) == pytest.approx(limits, abs=3e-4)


@pytest.mark.parametrize(
    ("bounds", "low"), [((0, 1), 6.37), ((0, 1e14), 6.45), ((-1e308, 1e308), 6.37)]
)
def test_wrong_or_wide_bounds_of_a_user_measure_do_no_harm(bounds, low):
    gts = [list("abcdefghijkl")] * 12
    preds = [labels[: 5 + i % 6] for i, labels in enumerate(gts)]
    with temporary_measures():

        @semmetrics.measure(bounds=bounds)
        def Hits(hit):
            return hit * 1.0

        (row,) = score(preds, gts, measures="Hits", ci=True)

    assert row.value == 7.5
    assert row.ci.low == pytest.approx(low, abs=0.01)


def test_halls_limits_remove_skewness_by_a_cubic():
    t_quantile = float(stdtrit(24, 0.05))

    for row in score(*draw_labels(25, 3), measures="F1 CardinalityError", ci=True):
        replicates = row.replicates
        deviations = row.items - row.items.mean()
        skewness = (deviations**3).sum() / (deviations**2).sum() ** 1.5
        assert 6 * replicates.acceleration == pytest.approx(skewness, rel=1e-9)

        interval = replicates.interval(0.9, "hall")
        for limit, expected in (
            (interval.low, -t_quantile),
            (interval.high, t_quantile),
        ):
            t = (replicates.value - limit) / replicates.standard_error
            cubic = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
            assert cubic == pytest.approx(expected, rel=1e-9)


# ---- BCa ----------------------------------------------------------------------------------------


def test_of_resamples_equal_to_the_value_half_are_below_it():
    measures = "SubsetAccuracy F1"

    for row in score(*draw_labels(12, 5), measures=measures, ci=True, resamples=500):
        values = np.array(row.replicates.values)
        share_of_ties = np.mean(values == row.value)
        bias = norm.ppf(np.mean(values < row.value) + share_of_ties / 2)
        acceleration = row.replicates.acceleration
        shares = []
        for z in norm.ppf([0.05, 0.95]):
            shares.append(norm.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))))

        interval = row.replicates.interval(0.9, "bca")

        limits = (interval.low, interval.high)
        assert limits == pytest.approx(np.quantile(values, shares), abs=1e-12)
        assert row.measure != "SubsetAccuracy" or share_of_ties > 0.1


# ---- p-values -----------------------------------------------------------------------------------


def test_a_p_value_by_hall_may_be_smaller_than_one_resample():
    n_replicates = 100
    values = np.random.default_rng(0).normal(0.4, 0.7, 50)
    left_out = (values.sum() - values) / 49

    replicates = Replicates(
        np.ones(n_replicates),
        0,
        "item",
        False,
        "",
        value=values.mean(),
        left_out=left_out,
        sizes=np.ones(50, int),
        default="hall",
    )

    p = replicates.p_value()
    assert 1e-6 < p < 1 / n_replicates
    assert replicates.interval(1 - p * 1.01, "hall").low > 0
    assert replicates.interval(1 - p * 0.99, "hall").low < 0


# ---- coverage -----------------------------------------------------------------------------------


def simulated_case(name):
    (case,) = [case for case in simulation.CASES if case.name == name]
    return case


@pytest.mark.parametrize(
    "name",
    ["6 labels, nearly all right", pytest.param("retrieval", marks=pytest.mark.slow)],
)
def test_default_intervals_contain_the_true_value_as_often_as_they_should(name):
    """Of 100 intervals at 0.95, four standard errors are 0.087."""
    for line in simulation.simulate(simulated_case(name), 30, 100, resamples=100):
        shares = dict(zip(simulation.METHODS, line.held, strict=True))
        assert shares[line.default] > 0.86


def test_macro_averages_of_many_labels_need_the_correction_of_bias():
    case = simulated_case("100 labels")
    measures = "F1(average=macro,labels=union) F1"
    case = simulation.Case(case.name, case.draw, measures, 30_000)

    macro_f1, f1 = simulation.simulate(case, 400, 40, resamples=200)

    shares = dict(zip(simulation.METHODS, macro_f1.held, strict=True))
    assert macro_f1.default == "jackknife-bias"
    assert np.mean(macro_f1.values) - np.mean(macro_f1.truths) < -0.015
    assert shares["percentile"] < 0.6
    assert shares["jackknife-bias"] > 0.9
    assert min(f1.held) > 0.85
