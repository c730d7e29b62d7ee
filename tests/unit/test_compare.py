"""Two systems compared: every test against plain Python, scipy or sacrebleu, for every measure."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from refusals import refused
from unit.test_scorer import EVERY, case_of, stand_ins  # noqa: F401

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap, compare, options
from semmetrics.errors import InputError
from semmetrics.scoring.resampling import Draws
from semmetrics.studies import significance
from semmetrics.studies.differences import Design, compare_scores, swapped_differences
from semmetrics.studies.significance import nemenyi_p

CLASSES = list("abcdef")
TESTS = ("interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon")


def label_systems(n=60, seed=0, gains=(0.0, 0.15, 0.0)):
    rng = random.Random(seed)
    gts = {f"id {i}": rng.sample(CLASSES, rng.randrange(1, 4)) for i in range(n)}

    def system(gain):
        return {
            name: [x if rng.random() < 0.6 + gain else rng.choice(CLASSES) for x in labels]
            for name, labels in gts.items()
        }

    return {name: system(gain) for name, gain in zip("abc", gains, strict=True)}, gts


def caption_systems(n=40, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(40)])
    texts = [rng.choice(words, 12) for _ in range(n)]

    def noisy(text, noise):
        return " ".join(np.where(rng.random(len(text)) < noise, rng.choice(words, len(text)), text))

    names = [f"image {i}" for i in range(n)]
    gts = {name: [noisy(t, 0.05), noisy(t, 0.1)] for name, t in zip(names, texts, strict=True)}
    systems = {
        system: {name: [noisy(t, noise)] for name, t in zip(names, texts, strict=True)}
        for system, noise in (("a", 0.3), ("b", 0.25), ("c", 0.2))
    }
    return systems, gts


# ---- each test against another implementation ---------------------------------------------------


def test_differences_are_those_of_scores_with_paired_replicates():
    systems, gts = label_systems()
    options = {"measures": "F1 MicroF1 MacroF1", "resamples": 500, "seed": 3,
               "ci_method": "percentile"}  # fmt: skip
    found = compare(systems, gts, test="bootstrap", **options)
    alone = {name: semmetrics.score(preds, gts, ci=True, **options)
             for name, preds in systems.items()}  # fmt: skip
    assert [(one.system, one.baseline) for one in found] == [("b", "a")] * 3 + [("c", "a")] * 3
    for one in found:
        mine, theirs = (alone[name][one.heading] for name in (one.system, "a"))
        assert (one.value, one.baseline_value) == (mine.value, theirs.value)
        assert one.difference == mine.value - theirs.value
        values = mine.replicates.values - theirs.replicates.values
        far = np.abs(values - values.mean()) >= abs(one.difference) - 1e-12
        assert one.p == (far.sum() + 1) / 501
    assert (found["b", "F1"].low, found["b", "F1"].high) == pytest.approx(
        tuple(np.quantile(alone["b"]["F1"].replicates.values
                          - alone["a"]["F1"].replicates.values, [0.025, 0.975])), abs=1e-12,
    )  # fmt: skip


def case(definition):
    """As `case_of`; phi needs matrices, and has tests of its own below."""
    if "phi" in definition.needs:
        pytest.skip("needs phi")
    return case_of(definition)


def statistic_of(score):
    return score.measure.definition.family.statistic(score.measure)


@EVERY
def test_swaps_are_those_of_predictions(definition):
    """Every measure of every kind: the values of swapped statistics are those of swapped items."""
    measures, options, (preds, gts) = case(definition)
    other = preds[7:] + preds[:7]
    scores = semmetrics.score_systems(
        {"a": preds, "b": other}, gts, measures=measures, ci=True, resamples=2, **options
    ).scores
    base = {score.heading: score for score in scores if score.system == "a"}
    pairs = [(score, base[score.heading]) for score in scores if score.system == "b"]
    made = Bootstrap(resamples=3, seed=5)
    if definition.name in ("Rsum", "Nsum"):
        pytest.skip("needs both directions, and has a test of its own below")
    found = swapped_differences(pairs, made)
    draws = Draws.of((pairs[0][0].terms or pairs[0])[0].statistics)
    (coins,) = draws.coins(made, 3)
    assert 0 < coins.mean() < 1
    for column, coin in zip(found.T, coins[:, draws.place], strict=True):
        sides = [[b if heads == own else a for a, b, heads in zip(preds, other, coin, strict=True)]
                 for own in (1, 0)]  # fmt: skip
        swapped = semmetrics.score_systems(
            dict(zip("ba", sides, strict=True)), gts, measures=measures, **options
        )
        expected = [swapped["b", m].value - swapped["a", m].value for m in map(str, measures)]
        np.testing.assert_allclose(column, expected, rtol=0, atol=1e-9)


@EVERY
def test_values_that_are_averaged_have_the_score_as_their_mean(definition):
    measures, options, (preds, gts) = case(definition)
    for score in semmetrics.score(preds, gts, measures=measures, **options):
        values = score.averaged
        if score.measure["average"] == "example":
            assert values is not None
        if values is not None and not math.isnan(score.value):
            assert np.nanmean(values) == pytest.approx(score.value, abs=1e-12)


def test_both_directions_of_retrieval():
    rng = np.random.default_rng(5)
    positives = {f"i{row}": [f"c{2 * row}", f"c{2 * row + 1}"] for row in range(20)}
    true = np.repeat(np.eye(20), 2, axis=1)
    systems = {"a": rng.random((20, 40)) + true / 4, "b": rng.random((20, 40)) + true / 2}
    options = {
        "task": "retrieval", "direction": "both", "phi": true + rng.random((20, 40)) / 9,
        "queries": [*positives], "gallery": [f"c{one}" for one in range(40)], "resamples": 200,
    }  # fmt: skip
    found = compare(systems, positives, measures="Recall@1 NCS@5", **options)
    assert [(one.score.part, one.score.n) for one in found] == [
        ("i2t", 20), ("i2t", 20), ("t2i", 40), ("t2i", 40),
    ]  # fmt: skip
    assert [row["part"] for row in found.to_dicts()] == ["i2t", "i2t", "t2i", "t2i"]
    swapped = compare(systems, positives, measures="Recall@1 NCS@5", test="randomization",
                      **options)  # fmt: skip
    for one, other in zip(found, swapped, strict=True):
        assert one.difference == other.difference
        assert abs(one.p - other.p) < 0.2
    table = semmetrics.score_systems(
        systems,
        positives,
        measures="Recall@1 NCS@5",
        **{k: v for k, v in options.items() if k != "resamples"},
    )
    for one in found:
        expected = table["b", one.heading].value - table["a", one.heading].value
        assert one.difference == expected


def test_swaps_of_groups_and_weights():
    systems, gts = caption_systems(20)
    twice = {name: {k: v * 2 for k, v in preds.items()} for name, preds in systems.items()}
    options = {"task": "captions", "measures": "BLEU-4 ROUGE-L", "test": "randomization",
               "resamples": 200}  # fmt: skip
    one, two = (compare(some, gts, **options) for some in (systems, twice))
    for a, b in zip(one, two, strict=True):  # captions of one image are swapped together
        assert (a.score.unit, b.score.unit) == ("image", "caption")
        assert (a.p, a.difference) == pytest.approx((b.p, b.difference))
    weights = {name: 1.0 + (i % 3) for i, name in enumerate(gts)}
    heavy = compare(systems, gts, weights=weights, **options)
    repeated = {f"{name} {i}": name for name, w in weights.items() for i in range(int(w))}
    again = [{new: side[old] for new, old in repeated.items()} for side in (systems["b"], gts)]
    assert heavy["b", "BLEU-4"].value == pytest.approx(
        semmetrics.score(*again, task="captions", measures="BLEU-4")[0].value
    )
    assert heavy["b", "BLEU-4"].p != one["b", "BLEU-4"].p


def test_t_and_wilcoxon_are_those_of_scipy():
    from scipy import stats

    systems, gts = label_systems(200, 4)
    table = semmetrics.score_systems(systems, gts, measures="F1")
    a, b = (table[name, "F1"].items for name in "ab")
    one = compare(systems, gts, measures="F1", test="t", correction="none")["b", "F1"]
    expected = stats.ttest_rel(b, a)
    assert one.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (one.low, one.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-9)
    assert one.effect_size == pytest.approx((b - a).mean() / (b - a).std(ddof=1), rel=1e-9)
    assert (one.wins, one.ties, one.losses) == ((b > a).sum(), (b == a).sum(), (b < a).sum())
    one = compare(systems, gts, measures="F1", test="wilcoxon", correction="none")["b", "F1"]
    rounded = np.round(b - a, 9)  # so that scipy, too, sees which differences are equal
    expected = stats.wilcoxon(rounded, method="asymptotic").pvalue
    assert one.p == pytest.approx(expected, rel=1e-9)
    rng = np.random.default_rng(1)
    for n in (5, 12, 30, 50):
        values = rng.normal(0.2, 1, n)
        expected = stats.wilcoxon(values, method="exact").pvalue
        assert significance.signed_rank_p(values) == pytest.approx(expected, rel=1e-9)


def test_ties_of_few_items_are_counted_out():
    import itertools

    values = np.array([0.5, 0.5, -0.25, 1.0, 0.25, 0.5, -1.0])
    ranks = np.array([4, 4, 1.5, 6.5, 1.5, 4, 6.5])
    sums = [ranks[np.array(signs)].sum()
            for signs in itertools.product([True, False], repeat=7)]  # fmt: skip
    less = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    expected = 2 * np.mean(np.array(sums) <= less)
    assert significance.signed_rank_p(values) == pytest.approx(expected)


def test_ranks_of_differences_that_rounding_alone_tells_apart():
    for power in range(1, 30):
        size = 2.0**-power
        exact = [1.0, size, -size, size, -size, size]
        near = [1.0, size, -math.nextafter(size, 0), size, -size, math.nextafter(size, 1)]
        assert significance.signed_rank_p(near) == significance.signed_rank_p(exact)


def test_numbers_that_rounding_alone_tells_apart_are_equal_to_every_test():
    assert significance.simulated_p([0.3, -0.3], 0.1 + 0.2) == 1.0
    assert significance.shifted_p([0.1 + 0.2, -0.3], 0.1 + 0.2) == 1.0
    p, low, high = significance.student_t([0.1 + 0.2, 0.3, 0.3])
    assert (p, low) == (0.0, high)


def test_no_corrected_p_is_above_1():
    for method in ("holm", "bonferroni", "benjamini-hochberg"):
        assert significance.correct_p([0.6, 0.9, 1.0], method) == pytest.approx([1.0] * 3)
        assert max(significance.correct_p([0.6, 0.9, 1.0], method)) <= 1


def test_differences_of_rounding_are_none():
    values, others = np.array([0.1 + 0.2, 1e9, 0.0]), np.array([0.3, 1e9 + 1e-6, 1e-17])
    assert significance.subtract(values, others).tolist() == [0.0, 0.0, 0.0]
    tiny = significance.subtract(np.array([3e-15, 1e-15]), np.array([1e-15, 1e-15]))
    assert tiny.tolist() == [3e-15 - 1e-15, 0.0]
    assert np.isnan(significance.subtract(np.array([math.nan]), np.array([1.0])))


@pytest.mark.parametrize("test", TESTS)
def test_labels_in_another_order_are_the_same_to_every_test(test):
    rng = random.Random(2)
    words = ["cat", "dog", "bus", "car", "tree", "house", "river", "boat", "plane", "bird", "fish",
             "horse", "sheep", "cow", "person"]  # fmt: skip
    gts = {str(i): rng.sample(words, rng.randint(2, 5)) for i in range(40)}
    one = {name: rng.sample(words, rng.randint(2, 6)) for name in gts}
    turned = {name: labels[::-1] for name, labels in one.items()}
    for measure in ("SoftF1", "WMD"):  # whose sums round otherwise
        found = compare({"a": one, "b": turned}, gts, measures=measure, test=test, resamples=99)[0]
        assert (found.p, found.difference, found.ties) == (1.0, 0.0, 40)
        assert not found.significant


def test_corrections():
    from scipy.stats import false_discovery_control

    p = [0.01, 0.04, 0.03, 0.005, math.nan]
    assert significance.correct_p(p, "holm")[:4] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.correct_p(p, "bonferroni")[:4] == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert significance.correct_p(p, "benjamini-hochberg")[:4] == pytest.approx(
        false_discovery_control(p[:4])
    )
    assert significance.correct_p(p, "none")[:4] == p[:4]
    assert all(math.isnan(significance.correct_p(p, name)[4]) for name in options.CORRECTIONS)


def test_paired_bootstrap_of_bleu_is_that_of_sacrebleu():
    """The same test on the same captions with other draws: p agrees within four standard errors."""
    pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    n = 4000
    for seed in (0, 3):
        systems, gts = caption_systems(150, seed)
        lines = {name: [text for (text,) in preds.values()] for name, preds in systems.items()}
        references = [list(column) for column in zip(*gts.values(), strict=True)]
        metric = BLEU(tokenize="none", references=references)
        test = PairedTest(list(lines.items()), {"BLEU": metric}, None, "bs", n_samples=n)
        _, theirs = test()
        ours = compare(systems, gts, task="captions", measures="BLEU-4", tokenizer="whitespace",
                       test="bootstrap-sacrebleu", correction="none", resamples=n)  # fmt: skip
        for place, name in ((1, "b"), (2, "c")):
            one, other = ours[name, "BLEU-4"], theirs["BLEU"][place]
            assert 100 * one.value == pytest.approx(other.score, abs=1e-4)
            error = math.sqrt(2 * max(other.p_value * (1 - other.p_value), 1 / n) / n)
            assert abs(one.p - other.p_value) < 4 * error


@pytest.mark.parametrize(
    "case",
    [case for case in simulation.CASES if case.name in ("12 labels", "captions", "retrieval")],
    ids=lambda case: case.name,
)
def test_systems_without_a_difference_are_rarely_told_apart(case):
    """The shares of 2,000 data sets are in docs/measures/comparison.md; here of a few."""
    null = simulation.simulate(case, 60, 100, resamples=200)
    large = simulation.simulate(case, 60, 25, effect=0.12, resamples=200)
    for none, some in zip(null, large, strict=True):
        assert np.nanmax(none.found[:5]) <= 0.12  # of 100 at 0.05, four standard errors are 0.087
        assert none.measure != "F1" or np.nanmin(some.found[:3]) > 0.5


@pytest.mark.parametrize("method", ["auto", "percentile", "bca", "jackknife-bias", "hall"])
def test_p_of_the_interval_is_where_it_excludes_0(method):
    """For every level: p is below 1 - level just where the interval does not hold 0."""
    for seed, n in enumerate((8, 20, 50)):
        systems, gts = label_systems(n, seed, (0.0, 0.2, 0.05))
        options = {"measures": "F1 MicroF1 MacroF1 SubsetAccuracy", "resamples": 400,
                   "ci_method": method}  # fmt: skip
        for one in compare(systems, gts, **options):
            if math.isnan(one.low):
                continue
            for apart in (-1e-3, 1e-3):
                level = 1 - one.p + apart
                if 1 / 401 < 1 - level < 1 and one.p < 1:
                    (other,) = compare(
                        {name: systems[name] for name in ("a", one.system)}, gts,
                        **{**options, "measures": str(one.score.measure)}, level=level,
                    )  # fmt: skip
                    assert (other.low > 0 or other.high < 0) == (apart < 0)


def test_p_of_the_interval_of_a_mean_is_students():
    from scipy import stats

    systems, gts = label_systems(40, 4)
    found = compare(systems, gts, measures="F1")["b", "F1"]
    a, b = (semmetrics.score(systems[name], gts, measures="F1")[0].items for name in "ab")
    expected = stats.ttest_rel(b, a)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx(tuple(interval), rel=1e-9)
    assert (found.method, found.design.test) == ("jackknife", "interval")
    assert "|ci:jackknife,0.95,10000,12345|" in found.signature
    assert found.signature.endswith("|test:interval|correction:holm,2")


def test_swaps_of_sums_over_directions():
    """Rsum of swapped items is the sum of its terms, each of the items that the coins give it."""
    rng = np.random.default_rng(6)
    ids = [f"i{n}" for n in range(12)]
    names = [f"c{n}" for n in range(12)]
    systems = {name: rng.normal(size=(12, 12)) + np.eye(12) for name in "ab"}
    gts = dict(zip(ids, [[name] for name in names], strict=True))
    options = {"task": "retrieval", "direction": "both", "queries": ids, "gallery": names,
               "ci": True, "resamples": 50}  # fmt: skip
    terms = " ".join(f"HitRate@{k}" for k in (1, 5, 10))
    table = semmetrics.score_systems(systems, gts, measures=f"Rsum {terms}", **options)
    base = {(s.part, s.heading): s for s in table if s.system == "a"}
    pairs = [(s, base[s.part, s.heading]) for s in table if s.system == "b"][::-1]  # Rsum first
    found = dict(zip([s.heading for s, _ in pairs], swapped_differences(pairs, Bootstrap()),
                     strict=True))  # fmt: skip
    whole = found.pop("Rsum")
    assert len(found) == 6
    np.testing.assert_allclose(whole, 100 * sum(found.values()), atol=1e-9)
    assert whole.std() > 0


# ---- what does not change p --------------------------------------------------------------------


def test_the_order_of_items_changes_no_digit():
    systems, gts = label_systems(50, 2)
    names = random.Random(1).sample(list(gts), len(gts))
    mixed = {system: {name: preds[name] for name in names} for system, preds in systems.items()}
    for test in ("bootstrap", "randomization"):
        options = {"measures": "F1 MicroF1 MacroF1 HammingLoss", "test": test, "resamples": 100}
        rows = [
            [{**row, "signature": ""} for row in compare(*sides, **options).to_dicts()]
            for sides in ((systems, gts), (mixed, {name: gts[name] for name in names}))
        ]
        assert rows[0] == rows[1]


def test_a_test_turned_round_has_the_same_p():
    systems, gts = label_systems(50, 2, (0.0, 0.1, 0.0))
    for test in TESTS:
        options = {"measures": "F1", "test": test, "resamples": 300, "correction": "none"}
        one = compare(systems, gts, baseline="a", **options)["b", "F1"]
        other = compare(systems, gts, baseline="b", **options)["a", "F1"]
        if test != "randomization":  # heads are the other system's there
            assert one.p == other.p
        assert (one.difference, one.wins, one.losses) == (
            -other.difference, other.losses, other.wins,
        )  # fmt: skip
        assert (one.better, other.better) == (True, False)


def test_lower_is_better_where_the_measure_says_so():
    systems, gts = label_systems(80, 1, (0.0, 0.3, 0.0))
    found = compare(systems, gts, measures="F1 HammingLoss", resamples=500)
    gain, loss = found["b", "F1"], found["b", "HammingLoss"]
    assert gain.difference > 0 > loss.difference
    assert gain.better
    assert loss.better
    assert loss.wins > loss.losses
    assert found.sentences()[0].startswith("b is better than a in F1 (p < ")
    assert "HammingLoss" in found.sentences()[0]


# ---- stated results ----------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_1_and_it_is_said(test):
    systems, gts = label_systems(20)
    found = compare({"a": systems["a"], "same": systems["a"]}, gts, measures="F1", test=test)
    one = found[0]
    assert (one.p, one.p_corrected, one.difference, one.low, one.high) == (1, 1, 0, 0, 0)
    assert (one.wins, one.ties, one.losses, one.undefined) == (0, 20, 0, 0)
    assert math.isnan(one.effect_size)
    assert not one.significant
    assert found.sentences()[0] == "same and a are the same in every resample in F1 (p = 1.0000)"
    assert one.to_dict()["effect_size"] is None
    assert list(found.differing()) == []


def test_a_difference_that_one_item_decides_has_no_p():
    gts = ["cat", "cat", "dog", "dog", "fish"]
    scores = np.eye(3)[[0, 0, 1, 1, 2]]
    other = np.eye(3)[[0, 1, 1, 1, 2]]
    options = {"task": "classes", "classes": ["cat", "dog", "fish"], "seen": ["cat", "dog"]}
    found = compare({"a": scores, "b": other}, gts, measures="H UnseenAccuracy", **options)
    assert all(math.isnan(one.p) and math.isnan(one.low) for one in found)
    assert "H: too few images decide it" in str(found)
    assert "(p = )" not in str(found)
    assert "[nan, nan]" in str(found)
    assert not [note for note in found.notes if "interval" in note]
    drawn = compare(
        {"a": scores, "b": other}, gts, measures="H", test="randomization", **options
    )  # fmt: skip
    assert drawn[0].p == 1.0


def test_items_that_cannot_count_prove_nothing():
    """Two of 100 images have a prediction: no p, and randomisation has one of two coins."""
    gts = {str(i): ["cat"] for i in range(100)}
    systems = {
        name: {i: [label] if int(i) < 2 else [] for i in gts}
        for name, label in (("wrong", "dog"), ("right", "cat"))
    }
    (one,) = found = compare(systems, gts, measures="MicroPrecision")
    assert math.isnan(one.p)
    assert "no p for Precision(average=micro)" in found.sentences()[0]
    (one,) = compare(systems, gts, measures="MicroPrecision", test="randomization")
    assert one.p == pytest.approx(0.5, abs=0.03)


def test_it_is_said_where_few_items_decide():
    gts = {str(i): ["cat"] for i in range(60)}
    systems = {
        name: {i: [] if int(i) >= 6 else ["cat" if int(i) % k else "dog"] for i in gts}
        for name, k in (("one", 2), ("two", 3))
    }
    found = compare(systems, gts, measures="MicroPrecision F1")
    assert found.sentences()[-1] == (
        "a few images decide Precision(average=micro): compare them by test='randomization' "
        "(--test)"
    )


def test_a_bias_without_an_error_has_no_p():
    ids = [str(i) for i in range(8)]
    systems = {"a": {i: [f"w{i}"] for i in ids}, "b": {i: [f"w{i} v{i}"] for i in ids}}
    (one,) = compare(systems, {i: ["a b"] for i in ids}, measures="Vocabulary", task="captions",
                     tokenizer="whitespace", ci_method="jackknife-bias", resamples=99)  # fmt: skip
    assert math.isnan(one.p)


def test_undefined_items_are_counted():
    gts = {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["a"]}
    one = {"1": ["a"], "2": [], "3": ["c"], "4": []}
    two = {"1": ["b"], "2": [], "3": [], "4": ["a"]}
    options = {"measures": "Precision(no_prediction=skip)", "resamples": 50}
    found = compare({"one": one, "two": two}, gts, **options)[0]
    assert (found.wins, found.ties, found.losses, found.undefined) == (0, 0, 1, 3)
    with refused("test-does-not-fit", "Precision(no_prediction=skip)"):
        compare({"one": one, "two": two}, gts, test="t", **options)
    counted = compare({"one": one, "two": two}, gts, measures="Precision", resamples=50)[0]
    assert (counted.wins, counted.ties, counted.losses, counted.undefined) == (1, 1, 2, 0)


def test_a_measure_without_a_value_has_no_p():
    gts = [["a"], ["b"], []]
    found = compare({"x": gts, "y": gts}, gts, measures="F1(empty=nan) F1", resamples=50)
    assert math.isnan(found[0].p)
    assert (found[1].p, found[1].comparisons) == (1.0, 1)
    assert found.to_dicts()[0]["p"] is None
    assert "y and x: undefined is F1(empty=nan)" in found.sentences()
    by_t = compare({"x": gts, "y": gts}, gts, measures="F1(empty=nan) F1", test="t")
    assert [math.isnan(one.p) for one in by_t] == [True, False]


def test_the_signature_has_what_a_test_draws():
    systems, gts = label_systems(10)
    for test, drawn in (("interval", ""), ("t", ""), ("wilcoxon", ""), ("bootstrap", ",50,7")):
        found = compare(systems, gts, measures="F1", test=test, resamples=50, seed=7)[0]
        assert found.signature.endswith(f"|test:{test}{drawn}|correction:holm,2")


def test_swaps_tell_how_far_they_are():
    systems, gts = label_systems(10)
    table = semmetrics.score_systems(systems, gts, measures="F1", ci=True)
    calls = []
    pairs = [(table["b", "F1"], table["a", "F1"])]
    swapped_differences(pairs, Bootstrap(resamples=70), lambda *done: calls.append(done))
    assert calls[-1] == (70, 70)


def test_a_mean_that_is_undefined_has_no_interval_of_students():
    gts = {"1": [], "2": ["a"], "3": ["b"], "4": ["c"]}
    systems = {"x": gts, "y": {**gts, "3": ["a"]}}
    found = compare(systems, gts, measures="F1(empty=nan)", test="t", resamples=50)[0]
    assert math.isnan(found.p)
    assert found.method != "t"


def test_too_few_items_or_resamples_are_said():
    systems, gts = label_systems(5, 0, (0.0, 0.4, 0.0))
    small = compare(systems, gts, measures="F1", test="randomization", resamples=100)
    (line,) = [line for line in small.sentences() if line.startswith("no difference can hold")]
    assert line.endswith("p, corrected, is at least 0.1250; take more images, or fewer comparisons")
    systems, gts = label_systems(100, 0, (0.0, 0.4, 0.4))
    few = compare(systems, gts, measures="F1", resamples=30, test="bootstrap")
    assert "no difference can hold" in few.sentences()[-1]
    enough = compare(systems, gts, measures="F1", resamples=50, test="bootstrap")
    assert "no difference can hold" not in enough.sentences()[-1]


# ---- the result --------------------------------------------------------------------------------


def test_forms_of_the_result():
    pandas = pytest.importorskip("pandas")
    systems, gts = label_systems()
    found = compare(systems, gts, measures="F1 MacroF1", resamples=200)
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["system"]) == ["b", "b", "c", "c"]
    assert list(frame["p_corrected"]) == [one.p_corrected for one in found]
    assert frame["wins"].isna().tolist() == [False, True, False, True]
    entries = json.loads(found.to_json())
    assert entries == found.to_dicts()
    assert {entry["schema"] for entry in entries} == {"semmetrics.comparison/1"}
    assert list(frame.columns) == [name for name in entries[0] if name != "schema"]
    signature = found[0].signature
    own = found[0].score.signature.replace("ci:wilson", "ci:jackknife")
    assert signature.startswith(own + "|test:interval|")
    assert signature.endswith("|correction:holm,4")
    for form in ("table", "csv", "markdown", "latex"):
        assert "macro" in found.render(form)
    assert "[0.95]" in str(found)
    assert "<table>" in found._repr_html_()
    assert found["b", "f1"] is found[0]
    assert len(found.scores) == 6
    with refused("ambiguous-key"):
        found["F1"]
    with refused("unknown-name"):
        found["Recall"]


def test_items_that_differ_most():
    gts = {"x": ["a", "b"], "y": ["c"], "z": ["d"]}
    one = {"x": ["a"], "y": ["c"], "z": ["d"]}
    two = {"x": ["a", "b"], "y": ["e"], "z": ["d"]}
    found = compare({"one": one, "two": two}, gts, measures="MacroF1 F1", resamples=50)
    rows = list(found.differing(5))
    assert [(row["id"], row["measure"]) for row in rows] == [("y", "F1"), ("x", "F1")]
    assert rows[0]["difference"] == -1
    assert rows[0]["predicted"] == ["e"]
    assert rows[0]["baseline_predicted"] == rows[0]["true"] == ["c"]
    assert len(found.differing(1, "F1")) == 1
    with refused("no-item-values"):
        found.differing(1, "MacroF1")
    with refused("unknown-name"):
        found.differing(1, "F2")
    with refused("bad-option"):
        found.differing(0)


def test_ranks_over_resamples():
    systems, gts = label_systems(60, 3, (0.0, 0.3, 0.15))
    found = compare(systems, gts, measures="F1 HammingLoss", resamples=400)
    for name in ("F1", "HammingLoss"):
        rows = list(found.rank_matrix(name))
        shares = np.array([[row[f"rank_{i}"] for i in (1, 2, 3)] for row in rows])
        np.testing.assert_allclose(shares.sum(axis=0), 1)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert [row["system"] for row in rows] == ["b", "c", "a"]
        np.testing.assert_allclose(shares @ [1, 2, 3], [row["mean_rank"] for row in rows])
    with refused("bad-choice"):
        found.rank_matrix("Recall")


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"systems": {"a": [["x"], ["y"]]}}, "too-few-compared"),
        ({"systems": {}}, "there are no systems to score"),
        ({"systems": [[["x"]]]}, ", not {name: predictions}"),
        (
            {"baseline": "z"},
            "unknown-name",
        ),
        ({"systems": {1: [["x"]] * 3, 2: [["x"]] * 3}}, "1 is an int, not "),
        ({"test": "wilcox"}, "bad-choice"),
        ({"correction": "fdr"}, "correction='fdr'"),
        ({"ci_method": "wilson"}, "bad-option"),
        ({"resamples": 1}, "resamples=1"),
        ({"level": 1.5}, "level=1.5"),
        ({"ci": True}, "unknown-name"),
        ({"n_boot": 5}, "unknown-name"),
        ({"test": "t", "measures": "MicroF1 MacroF1 F1"},
         "test-does-not-fit"),
        ({"test": "wilcoxon", "measures": "MicroF1"}, "test-does-not-fit"),
        ({"test": "t", "weights": [1, 2, 3]}, "test-does-not-fit"),
    ],
)  # fmt: skip
def test_bad_input(changed, message):

    given = {
        "systems": {"a": [["x"], ["y"], []], "b": [["x"], ["x"], []]},
        "gts": [["x"], ["y"], ["x"]],
        "measures": "F1",
        **changed,
    }
    with refused(message) if message else pytest.raises(InputError):
        compare(**given)


def test_systems_with_other_items():
    gts = {"1": ["a"], "2": ["b"], "3": ["c"]}
    systems = {"one": {"1": ["a"], "2": ["b"]}, "two": {"2": ["b"], "3": ["c"]}}
    only = "two alone has '3'; one alone has '1'"
    with refused("unlike-items", "two and one", only=only):
        compare(systems, gts, measures="F1", missing="skip")
    assert compare(systems, gts, measures="F1", missing="empty", resamples=20)[0].score.n == 3
    with refused("missing-ids"):
        compare(systems, gts, measures="F1")
    single = {name: {"1": ["a"]} for name in systems}
    with refused("too-few-for-test"):
        compare(single, {"1": ["a"]}, measures="F1")


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (significance.student_t, ([0.1, math.nan],), "not-finite"),
        (significance.signed_rank_p, ([0.1, math.inf],), "not-finite"),
        (significance.student_t, ([[0.1, 0.2]],), "wrong-shape"),
        (significance.signed_rank_p, ([[0.1, 0.2]],), "wrong-shape"),
        (significance.student_t, ([0.1, 0.2], 1.5), "bad-option"),
        (significance.student_t, ([0.1],), "too-few-for-test"),
        (significance.simulated_p, ([[0.1, 0.2]], 0.1), "wrong-shape"),
        (significance.shifted_p, ([[0.1, 0.2]], 0.1), "wrong-shape"),
        (significance.shifted_size_p, ([[0.1]], 0.1), "wrong-shape"),
        (significance.correct_p, ([0.5, 1.5],), "out-of-range"),
        (significance.correct_p, ([-0.1],), "out-of-range"),
        (nemenyi_p, ([1.0, math.nan], 3), "not-finite"),
        (nemenyi_p, ([[1.0, 2.0]], 3), "wrong-shape"),
    ],
)
def test_numbers_that_no_test_can_be_made_of(function, given, message):
    with refused(message):
        function(*given)


def test_endless_resamples_have_no_mean():
    assert math.isnan(significance.shifted_p([math.inf, 1.0], 1.0))
    assert math.isnan(significance.shifted_size_p([math.inf, 1.0], 1.0))


@pytest.mark.parametrize("method", ["jackknife", "jackknife-bias"])
def test_limits_of_a_difference_are_cut_where_differences_end(method):
    gts = {str(i): ["a"] for i in range(3)}
    systems = {"best": gts, "worse": {"0": ["a"], "1": ["b"], "2": ["b"]}}
    found = compare(systems, gts, measures="F1", ci_method=method, resamples=50)[0]
    assert found.low == -1.0  # and not 0, which is the least value
    assert found.high <= 1.0


def constant(n=6):
    """Two systems that differ by the same on each item."""
    gts = {str(i): ["a", "b"] for i in range(n)}
    return {"x": {name: ["a"] for name in gts}, "y": gts}, gts


def test_p_at_the_level_is_not_below_it():
    for resamples, holds in ((19, False), (20, True)):
        found = compare(*constant(), measures="F1", resamples=resamples, test="bootstrap")
        assert found[0].p_corrected == 1 / (resamples + 1)
        assert found[0].significant is holds
        said = any("no difference can hold" in line for line in found.sentences())
        assert said is not holds


def test_differences_without_spread_have_no_effect_size():
    found = compare(*constant(), measures="F1", resamples=20)
    assert math.isnan(found[0].p)  # nothing says how much other items differ
    assert "no p for F1" in found.sentences()[0]
    assert math.isnan(found[0].low)
    assert math.isnan(found[0].effect_size)
    assert found.to_dicts()[0]["effect_size"] is None


@pytest.mark.parametrize("test", ["bootstrap", "bootstrap-sacrebleu", "randomization"])
def test_one_group_is_no_sample(test):
    gts = {"1": ["a dog"]}
    systems = {"x": {"1": ["a cow", "the cow"]}, "y": {"1": ["a dog", "the dog"]}}
    with refused("too-few-for-test"):
        compare(systems, gts, task="captions", measures="ROUGE-L", test=test, resamples=99)


def test_few_groups_of_many_items_cannot_differ():
    gts = {name: ["a dog"] for name in "123"}
    systems = {one: {name: [f"a {one}"] * 9 for name in gts} for one in ("cow", "dog")}
    found = compare(systems, gts, task="captions", measures="ROUGE-L", test="randomization",
                    resamples=99)  # fmt: skip
    assert (found[0].score.n, found[0].drawn) == (27, 3)
    assert any("p, corrected, is at least 0.2500; take more groups of captions" in line
               for line in found.sentences())  # fmt: skip
    drawn = compare(systems, gts, task="captions", measures="ROUGE-L", resamples=99,
                    test="bootstrap")  # fmt: skip
    assert "with 3 groups of captions the bootstrap p tends" in drawn.sentences()[-1]


@pytest.mark.parametrize(("test", "few"), [("bootstrap", True), ("bootstrap-sacrebleu", True),
                                           ("randomization", False), ("t", False)])  # fmt: skip
def test_a_bootstrap_of_few_items_is_warned_of(test, few):
    for n, said in ((49, few), (50, False)):
        found = compare(*constant(n), measures="F1", resamples=99, test=test)
        assert (
            any("the bootstrap p tends to be too small" in line for line in found.sentences())
            is said
        )


def test_groups_are_no_items_of_a_t_test():
    systems, gts = caption_systems(5)
    twice = {name: {k: v * 2 for k, v in preds.items()} for name, preds in systems.items()}
    with refused("test-does-not-fit"):
        compare(twice, gts, task="captions", measures="ROUGE-L", test="t", resamples=10)


def test_designs_are_checked_where_scores_are_compared():
    with refused("bad-choice"):
        Design("z", "a", "holm", Bootstrap())
    table = semmetrics.score_systems({"a": [["x"]] * 3, "b": [["x"]] * 3}, [["x"]] * 3,
                                     measures="F1")  # fmt: skip
    with refused("not-paired", "F1"):
        compare_scores(table.scores, Design("t", "a", "holm", Bootstrap()))
    apart = [
        semmetrics.score_systems({n: [["x"], ["y"], []]}, [["x"]] * 3, measures="F1", seed=seed,
                                 ci=True)[0]
        for seed, n in enumerate("ab")
    ]  # fmt: skip
    with refused("not-paired", "F1"):  # drawn otherwise
        compare_scores(apart, Design("bootstrap", "a", "holm", Bootstrap()))


def test_differences_of_several_parts():
    rng = np.random.default_rng(0)
    systems = {name: rng.random((30, 60)) for name in "ab"}
    gts = [[2 * row, 2 * row + 1] for row in range(30)]
    found = compare(systems, gts, task="retrieval", measures="HitRate@1 Rsum", direction="both",
                    resamples=20)  # fmt: skip
    assert any(line.endswith("; i2t 30 queries, t2i 60 queries") for line in found.sentences())
    with refused("ambiguous-key"):
        found["b", "HitRate@1"]
    with refused("test-does-not-fit"):
        compare(systems, gts, task="retrieval", measures="MRR", direction="both", test="t")


def test_items_that_differ_alike_keep_the_order_of_the_file():
    names = [f"id {n}" for n in range(40)]
    gts = {name: ["x"] for name in names}
    systems = {"a": {name: ["y"] for name in names}, "b": gts}
    found = compare(systems, gts, measures="F1", resamples=20)
    assert found.differing(40).column("id") == names


def made_vectors(seed):
    def embed(texts):
        return np.array([np.random.default_rng([seed, *map(ord, text)]).normal(size=3)
                         for text in texts])  # fmt: skip

    return embed


def two_embeddings(**options):
    rng = np.random.default_rng(0)
    pool = ["cat", "dog", "cow", "car", "bus", "kitten", "puppy", "bull", "auto"]
    gts, preds = (
        {f"i{k}": rng.choice(pool, 2, replace=False).tolist() for k in range(40)} for _ in "ab"
    )
    given = {"measures": "SemF1 SemF1(average=micro)", "ci": True, "resamples": 200, **options}
    return (
        gts,
        preds,
        {
            name: semmetrics.score(preds, gts, embedding=made_vectors(seed), **given)
            for seed, name in enumerate(("first", "second"))
        },
    )


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "bootstrap-sacrebleu"])
def test_scored_results_may_differ_in_options(test):
    gts, preds, results = two_embeddings()
    found = semmetrics.compare(results, test=test)
    assert [(one.system, one.baseline, one.heading) for one in found] == [
        ("second", "first", "SemF1"), ("second", "first", "SemF1(average=micro)")
    ]  # fmt: skip
    one = found["second", "SemF1"]
    values = [results[name]["SemF1"].items for name in ("second", "first")]
    assert one.difference == pytest.approx(values[0].mean() - values[1].mean())
    assert (one.wins, one.losses) == ((values[0] > values[1]).sum(), (values[0] < values[1]).sum())
    assert one.wins != one.losses
    turned = semmetrics.compare(results, test=test, baseline="second")["first", "SemF1"]
    assert turned.difference == -one.difference
    assert found.scores.systems == ["first", "second"]
    # predictions that are the same, compared as scored results, are compared as they always are
    other = {**preds, "i0": gts["i0"], "i1": ["bus"]}
    options = {"measures": "F1 MicroF1", "resamples": 200}
    plain = semmetrics.compare({"a": preds, "b": other}, gts, test=test, **options)
    scored = {name: semmetrics.score(run, gts, ci=True, **options)
              for name, run in {"a": preds, "b": other}.items()}  # fmt: skip
    assert semmetrics.compare(scored, test=test).to_dicts() == plain.to_dicts()


def test_results_of_other_measures_are_compared_in_what_they_share():
    gts = {f"{n}": ["cat"] for n in range(30)}
    measures = {"x": "F1 Recall", "y": "F1", "z": "F1 Recall Jaccard"}
    scored = {
        name: semmetrics.score(gts, gts, measures=some, ci=True, resamples=50)
        for name, some in measures.items()
    }
    found = semmetrics.compare(scored)
    assert [(one.system, one.heading) for one in found] == [
        ("y", "F1"), ("z", "F1"), ("z", "Recall")]  # fmt: skip
    assert found.sentences()[-2:] == [
        "not computed: Recall - not of 'y'; score all with the same measures",
        "not computed: Jaccard - not of 'x', 'y'; score all with the same measures",
    ]


def test_scored_results_that_cannot_be_compared():
    gts, preds, results = two_embeddings()
    first = results["first"]
    options = {"measures": "SemF1", "ci": True, "resamples": 200}
    for other, code in (
        (preds, "wrong-type"),
        (semmetrics.score(preds, gts, measures="SemF1"), "not-comparable"),
        (semmetrics.score(preds, gts, **{**options, "seed": 3}), "scored-otherwise"),
        (semmetrics.score(preds, gts, **{**options, "measures": "F1"}), "nothing-given"),
        (semmetrics.score(preds, {**gts, "i0": ["cat"]}, **options), "scored-otherwise"),
        (semmetrics.score_systems({"x": preds, "y": preds}, gts, **options), "not-comparable"),
    ):
        with refused(code):
            semmetrics.compare({"first": first, "second": other})
    for more, code in (
        ({"gts": gts}, "not-applicable"),
        ({"measures": "F1"}, "not-applicable"),
        ({"baseline": "third"}, "unknown-name"),
        ({"test": "t"}, "test-does-not-fit"),
    ):
        with refused(code):
            semmetrics.compare(results, **more)
    with refused("too-few-compared"):
        semmetrics.compare({"first": first})
