"""Methods of intervals: the jackknife against leaving items out, limits against plain Python."""

from __future__ import annotations

import json
import math
import random
import statistics

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap
from semmetrics.errors import Fact
from semmetrics.scoring import resampling
from semmetrics.scoring.intervals import Replicates

CLASSES = list("abcde")
METHODS = ("percentile", "bca", "jackknife", "jackknife-bias", "wilson", "hall")
LABELS = ["F1", "Precision(empty=skip)", "HammingLoss(labels=given)", "F1(average=micro)",
          "F1(average=macro)", "F1(average=macro,labels=union)", "F1(average=weighted)",
          "Recall(average=macro,labels=given,absent=0)", "C-F1", "AP", "SemF1",
          "LRAP", "RankingLoss", "mAP(labels=given)",
          "mAP(average=weighted,labels=given)"]  # fmt: skip
CAPTIONS = ["BLEU-2", "ROUGE-L", "CIDEr-D(df=given)", "UniqueCaptions", "Vocabulary"]
T_975 = {1: 12.706204736, 4: 2.776445105, 9: 2.262157163, 99: 1.984216952}  # tables of Student's t


def labels(n, seed=0):
    rng = random.Random(seed)
    refs = {f"id{i}": rng.sample(CLASSES, 1 + rng.randrange(3)) for i in range(n)}
    preds = {
        name: [(label, rng.randrange(9) / 8) for label in rng.sample([*CLASSES, "z"], 3)]
        for name in refs
    }
    return preds, refs


def without(side, names):
    return {name: one for name, one in side.items() if name not in names}


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_values_are_those_without_the_item(weighted):
    preds, refs = labels(12, 3)
    weights = {name: 0.5 + i % 3 for i, name in enumerate(refs)} if weighted else None
    options = {"measures": LABELS, "classes": [*CLASSES, "z"]}
    table = semmetrics.score(preds, refs, weights=weights, ci=True, **options)
    order = np.argsort(table.scores[0].statistics.hashes)
    for place, item in enumerate(order.tolist()):
        name = list(refs)[item]
        less = [without(side, [name]) for side in (preds, refs)]
        some = without(weights, [name]) if weighted else None
        for score, expected in zip(table, semmetrics.score(*less, weights=some, **options),
                                   strict=True):  # fmt: skip
            found = score.replicates.left_out[place]
            assert found == pytest.approx(expected.value, abs=1e-12), score.heading
            assert score.replicates.value == score.value
            assert score.replicates.sizes.tolist() == [1] * 12


def test_captions_of_an_image_are_left_out_together():
    rng = np.random.default_rng(5)
    words = [f"w{n}" for n in range(9)]
    refs = {str(n): [" ".join(rng.choice(words, 6)) for _ in range(2)] for n in range(8)}
    preds = {name: [" ".join(rng.choice(words, 6)) for _ in range(1 + int(name) % 3)]
             for name in refs}  # fmt: skip
    frequencies = semmetrics.fit_document_frequencies(list(refs.values()))
    options = {"measures": CAPTIONS, "doc_freq": frequencies}
    table = semmetrics.score(preds, refs, ci=True, **options)
    groups = {score.replicates.grouped for score in table}
    assert groups == {True}
    expected = {
        name: semmetrics.score(without(preds, [name]), without(refs, [name]), **options)
        for name in refs
    }
    for place, score in enumerate(table):
        found = sorted(score.replicates.left_out.tolist())
        one_by_one = sorted(again.scores[place].value for again in expected.values())
        assert found == pytest.approx(one_by_one, abs=1e-12), score.heading


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
            assert replicates.standard_error == pytest.approx(exact, rel=3 / math.sqrt(2 * parts))
    again = semmetrics.score(preds, refs, measures=["F1", "MacroF1", "LRAP"], ci=True, seed=9)
    for score, other in zip(table, again, strict=True):
        np.testing.assert_array_equal(score.replicates.left_out, other.replicates.left_out)


def test_parts_of_unequal_sizes_count_by_their_size():
    rng = np.random.default_rng(0)
    values = rng.normal(size=300)
    sizes = np.array([1] * 20 + [4] * 70)
    parts = np.split(values, np.cumsum(sizes)[:-1])
    left_out = [(values.sum() - p.sum()) / (300 - len(p)) for p in parts]
    made = Replicates(np.zeros(2), 0, "item", False, "", value=values.mean(), left_out=left_out,
                      sizes=sizes)  # fmt: skip
    assert made.standard_error == pytest.approx(values.std(ddof=1) / math.sqrt(300), rel=0.1)
    # by hand: pseudo-values of parts, their weighted mean, and their squares
    share = sizes / 300
    pseudo = [m / s - (1 / s - 1) * lo for m, s, lo in
              zip([values.mean()] * 90, share, left_out, strict=True)]  # fmt: skip
    mean = sum(p * s for p, s in zip(pseudo, share, strict=True))
    squares = [(p - mean) ** 2 / (1 / s - 1) for p, s in zip(pseudo, share, strict=True)]
    assert made.standard_error == pytest.approx(math.sqrt(sum(squares) / 90), rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 10, 100])
def test_the_jackknife_of_a_mean_is_the_interval_of_the_textbook(n):
    preds, refs = labels(n, n)
    score = semmetrics.score(preds, refs, measures=["CardinalityError"], ci=True).scores[0]
    found = score.replicates.interval(method="jackknife")
    half = T_975[n - 1] * statistics.stdev(score.items.tolist()) / math.sqrt(n)
    assert found.low == pytest.approx(max(0.0, score.value - half), abs=1e-9)
    assert found.high == pytest.approx(score.value + half, abs=1e-9)
    assert found.method == "jackknife"


def plain_bca(values, value, left_out, level):
    """Efron 1987, with the usual treatment of ties, step by step."""
    normal = statistics.NormalDist()
    share = (sum(v < value for v in values) + sum(v == value for v in values) / 2) / len(values)
    bias = normal.inv_cdf(share)
    mean = sum(left_out) / len(left_out)
    cubes = sum((mean - v) ** 3 for v in left_out)
    skewness = cubes / (6 * sum((mean - v) ** 2 for v in left_out) ** 1.5)
    limits = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        limits.append(float(np.quantile(values, normal.cdf(bias + z / (1 - skewness * z)))))
    return limits


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bca_and_bias_are_those_of_plain_python(level):
    preds, refs = labels(30, 2)
    table = semmetrics.score(preds, refs, measures=["F1", "AP", "MacroF1", "MicroF1"], ci=True)
    for score in table:
        replicates = score.replicates
        values, left_out = replicates.values.tolist(), replicates.left_out.tolist()
        found = replicates.interval(level, "bca")
        expected = plain_bca(values, score.value, left_out, level)
        assert [found.low, found.high] == pytest.approx(expected, abs=1e-9)
        around = replicates.interval(level, "jackknife")
        wide = replicates.interval(level, "jackknife-bias")
        shift = score.value - sum(values) / len(values)
        assert wide.low == pytest.approx(max(0, around.low + min(shift, 0)), abs=1e-12)
        assert wide.high == pytest.approx(min(1, around.high + max(shift, 0)), abs=1e-12)
        assert 0 <= wide.low <= around.low <= around.high <= wide.high <= 1


def test_the_default_is_that_of_the_measure():
    preds, refs = labels(30)
    texts = {"F1": "wilson", "MicroF1": "wilson", "F1(average=weighted)": "wilson",
             "MacroF1": "jackknife-bias", "C-F1": "jackknife-bias", "mAP": "jackknife-bias",
             "LRAP": "wilson"}  # fmt: skip
    options = {"measures": [*texts], "classes": CLASSES}
    table = semmetrics.score(preds, refs, ci=True, **options)
    for score, method in zip(table, texts.values(), strict=True):
        assert score.ci.method == score.replicates.default == method
        assert score.to_dict()["ci"]["method"] == method
        assert f"|ci:{method},0.95,1000,12345|" in score.signature
        assert score.replicates.interval() == score.ci
    for method in METHODS:
        again = semmetrics.score(preds, refs, ci=True, ci_method=method, **options)
        same = semmetrics.score(preds, refs, ci=Bootstrap(method=method), **options)
        for score, other, one in zip(table, again, same, strict=True):
            assert other.ci == one.ci == score.replicates.interval(method=method)
            assert other.ci.method == method
    captions = semmetrics.score({"1": "a b", "2": "a b"}, {"1": ["a b"], "2": ["a b"]},
                                measures=["UniqueCaptions", "Vocabulary"], ci=True)  # fmt: skip
    assert [score.ci.method for score in captions] == ["jackknife", "jackknife"]


@pytest.mark.parametrize("method", METHODS)
def test_one_item_has_no_interval(method):
    options = {"ci": True, "ci_method": method}
    table = semmetrics.score([["a", "b"]], [["a"]], measures=["F1", "MacroF1"], **options)
    for score in table:
        assert math.isnan(score.ci.low)
        assert math.isnan(score.ci.high)
        entry = json.loads(json.dumps(score.to_dict()["ci"], allow_nan=False))
        assert (entry["low"], entry["high"], entry["method"]) == (None, None, method)
    assert table.notes == ["one image has no interval; give at least two"]
    two = {"1": ["a cat", "a dog"]}
    options |= {"measures": ["BLEU-1"], "task": "captions"}
    grouped = semmetrics.score(two, {"1": ["a cat"]}, **options)
    assert grouped.facts[-1] == Fact(
        "one-item", values={"headings": "BLEU-1", "what": "one group of captions"}
    )
    assert grouped.scores[0].to_dict()["ci"]["low"] is None
    half = semmetrics.score([["a"], ["b"]], [["a"], ["c"]], measures=["F1"], ci=True)
    assert not any("no interval" in note for note in half.notes)


def test_undefined_left_out_values_are_counted():
    # without "x" there is no reference, and without "y" the mean has no undefined item
    preds, refs = {"x": ["a"], "y": ["a"], "z": ["b"]}, {"x": ["a"], "y": [], "z": []}
    measure = "Recall(no_reference=skip)"
    score = semmetrics.score(preds, refs, measures=[measure], ci=True, ci_method="jackknife")
    replicates = score.scores[0].replicates
    assert np.isnan(replicates.left_out).sum() == 1
    assert score.scores[0].ci.undefined == 1
    assert math.isnan(score.scores[0].ci.low)  # what decides the value is not known to vary
    assert score.facts[-1].code == "undefined-without-one"
    assert "replicate" in [one["cause"] for one in score.undefined()]
    both = replicates.interval(method="jackknife-bias").undefined
    assert both == 1 + np.isnan(replicates.values).sum() > 1
    nothing = semmetrics.score([["a"], ["b"]], [["a"], []], measures=[measure], ci=True)
    found = nothing.scores[0].replicates.interval(method="jackknife")
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_a_part_without_effect_gives_an_interval_of_no_width():
    table = semmetrics.score([["a"]] * 5, [["a"]] * 5, measures=["F1", "MacroF1"], ci=True)
    for score in table:
        for method in METHODS:
            found = score.replicates.interval(method=method)
            if (score.heading, method) != ("F1", "wilson"):
                assert (found.low, found.high) == (1.0, 1.0)
    found = table["F1"].ci  # five of five items, by Wilson's formula with Student's t
    assert (found.low, found.high) == (pytest.approx(5 / (5 + T_975[4] ** 2)), 1.0)


@pytest.mark.parametrize("weights", [None, 9.0])
def test_a_note_says_where_labels_have_too_few_items(weights):
    names = [f"label {i}" for i in range(10)]
    refs = {str(i): [names[i % 4]] for i in range(24)} | {"x": names[4:8]}
    preds = {name: [*some, names[8]] for name, some in refs.items()}
    options = {"measures": ["F1", "MacroF1(labels=union)", "MacroRecall(labels=union)"], "ci": True,
               "weights": weights and dict.fromkeys(refs, weights)}  # fmt: skip
    methods, _, note = semmetrics.score(preds, refs, **options).notes
    assert methods == (
        "intervals are wilson for F1; jackknife-bias for F1(average=macro,labels=union), "
        "Recall(average=macro,labels=union)"
    )
    assert note == (
        "F1(average=macro,labels=union), Recall(average=macro,labels=union): 5 of 9 labels have "
        "fewer than 5 true items, 1 of them none: too few to trust its interval"
    )
    assert semmetrics.score(preds, refs, **{**options, "ci": False}).notes == []
    enough = {name: [one for one in some if one in names[:4]] for name, some in refs.items()}
    found = semmetrics.score(enough, enough, **options).notes
    assert [note for note in found if "intervals are" in note] == [methods]
    assert not any("true items" in note for note in found)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 0.9}, "conflicting-options"),
        ({"seed": 0}, "conflicting-options"),
        ({"resamples": 10}, "conflicting-options"),
        ({"ci_method": "bca"}, "conflicting-options"),
        ({"level": 0.95}, "conflicting-options"),
    ],
)
def test_a_bootstrap_beside_its_own_options_is_refused(given, message):
    preds, refs = labels(5)
    ci = Bootstrap(0.8, 20, 3, "jackknife")
    with refused(message):
        semmetrics.score(preds, refs, measures=["F1"], ci=ci, **given)
    same = {"level": 0.8, "resamples": 20, "seed": 3, "ci_method": "jackknife"}
    assert semmetrics.score(preds, refs, measures=["F1"], ci=ci, **same).scores[0].ci


def test_options_without_ci_are_said():
    preds, refs = labels(5)
    table = semmetrics.score(preds, refs, measures=["F1"], seed=0, ci_method="bca")
    idle = {fact.values["option"] for fact in facts(table, "needs-ci")}
    assert idle == {"ci_method", "seed"}
    with refused("bad-choice"):
        semmetrics.score(preds, refs, measures=["F1"], ci=True, ci_method="BCa")


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
    expected = [score.replicates.left_out for score in semmetrics.score(preds, refs, **options)]
    monkeypatch.setattr(resampling, "_MEMORY", 500)
    for score, values in zip(semmetrics.score(preds, refs, **options), expected, strict=True):
        np.testing.assert_array_equal(score.replicates.left_out, values)


def test_simulated_coverage_of_macro_averages():
    (case,) = [case for case in simulation.CASES if case.name == "100 labels"]
    small = simulation.Case(case.name, case.draw, "F1(average=macro,labels=union) F1", 30_000)
    macro, example = simulation.simulate(small, 400, 40, resamples=200)
    shares = dict(zip(simulation.METHODS, macro.held, strict=True))
    assert macro.default == "jackknife-bias"
    assert np.mean(macro.values) - np.mean(macro.truths) < -0.015
    assert shares["percentile"] < 0.6
    assert shares["jackknife-bias"] > 0.9
    assert min(example.held) > 0.85
    assert "| 100 labels | `F1` | 400 |" in simulation.coverage_table([example])


@pytest.mark.parametrize("name", ["6 labels, nearly all right", "retrieval"])
def test_simulated_coverage_of_few_items(name):
    """The shares of 2,000 data sets are in docs/measures/intervals.md; here of a few."""
    (case,) = [case for case in simulation.CASES if case.name == name]
    for line in simulation.simulate(case, 30, 100, resamples=100):
        share = dict(zip(simulation.METHODS, line.held, strict=True))[line.default]
        assert share > 0.86, line.measure  # of 100 at 0.95, four standard errors are 0.087


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
        assert made.high == pytest.approx(brentq(excess, value, min(most - 1e-9, 99)), abs=1e-6)


def test_wilson_of_a_proportion_is_the_textbooks():
    from scipy.stats import binomtest

    n = 20_000  # where Student's t is normal, and n - 1 is n
    gts = [["a"]] * n
    preds = [["a"] if i % 5 else ["b"] for i in range(n)]
    found = semmetrics.score(preds, gts, measures="SubsetAccuracy", ci=True)[0].ci
    expected = binomtest(16_000, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == (
        pytest.approx(expected.low, abs=3e-4), pytest.approx(expected.high, abs=3e-4),
    )  # fmt: skip
    nothing = semmetrics.score([["b"]] * 30, [["a"]] * 30, measures="F1", ci=True)[0].ci
    assert nothing.low == 0
    assert nothing.high == pytest.approx(0.122, abs=1e-3)  # t² / (30 + t²)


def test_a_value_at_a_bound_rests_on_the_items_that_have_a_value():
    """Neither items without predictions nor items of little weight make it more certain."""
    gts = {str(i): ["cat"] for i in range(50)}
    preds = {name: ["cat"] if int(name) < 2 else [] for name in gts}
    found = semmetrics.score(preds, gts, measures="MicroPrecision", ci=True)[0].ci
    square = 2.009575**2  # Student's t with 49 degrees of freedom
    assert found.low == pytest.approx(2 / (2 + square), rel=1e-6)
    weights = {name: 1e12 if name == "0" else 1.0 for name in gts}
    found = semmetrics.score(gts, gts, measures="F1", weights=weights, ci=True)[0].ci
    assert found.low == pytest.approx(1 / (1 + square), rel=1e-6)
    labels = {name: "u" if int(name) < 2 else "ab"[int(name) % 2] for name in gts}
    options = {"task": "classes", "seen": ["a", "b"], "unseen": ["u"], "ci": True}
    table = semmetrics.score(labels, labels, measures="H", **options)
    assert (table[0].ci.low, table[0].ci.high) == (1.0, 1.0)
    assert "without width" in table.notes[-1]


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


def test_levels_near_1_are_levels():
    preds, refs = labels(20)
    for method in METHODS:
        found = semmetrics.score(preds, refs, measures="F1", ci=True, ci_method=method,
                                 level=1 - 2**-53)[0].ci  # fmt: skip
        assert 0 <= found.low < found.high <= 1


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


def test_an_undefined_value_has_no_interval():
    """Resamples that miss the undefined query have values, which say nothing of the whole."""
    gallery = ["a", "b", "c"]
    preds = {"1": ["a", "b"], "2": ["b", "c"], "3": ["c"]}
    gts = {"1": ["a"], "2": ["c"], "3": ["a"]}
    options = {"task": "retrieval", "gallery": gallery, "measures": "MeanR", "ci": True}
    for method in ("auto", *METHODS):
        table = semmetrics.score(preds, gts, ci_method=method, **options)
        assert math.isnan(table[0].value)
        assert not np.isnan(table[0].replicates.values).all()
        assert math.isnan(table[0].ci.low)
        assert math.isnan(table[0].ci.high)
        assert "undefined-value" in codes(table)


def test_a_note_says_where_few_items_decide():
    gts = {str(i): ["a", "b", "c", "d"] for i in range(40)}
    right = {**gts, "0": ["a"], "1": ["a", "x"]}
    table = semmetrics.score(right, gts, measures="F1 SubsetAccuracy", ci=True)
    assert table.notes == [
        "F1: a few images decide the value: too few to trust its interval"
    ]  # a proportion has none


@pytest.mark.parametrize("method", ["percentile", "bca", "jackknife", "jackknife-bias", "hall"])
def test_an_interval_without_width_is_noted(method):
    preds, gts = [["cat"]] * 10, [["dog"]] * 5 + [["cow"]] * 5
    table = semmetrics.score(preds, gts, measures="F1 CardinalityError", ci=True, ci_method=method)
    assert table[0].ci.low == table[0].ci.high == 0
    (note,) = table.notes
    same = "all resamples are equal" if method in METHODS[:2] else "no item left out changes it"
    assert note.startswith(f"F1, CardinalityError: {same}: an interval without width")
    some = semmetrics.score(preds, [["cat"]] * 5 + [["cow"]] * 5, measures="F1", ci=True)
    assert not [note for note in some.notes if "width" in note]
