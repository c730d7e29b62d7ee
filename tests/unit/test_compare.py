"""Two systems compared: every test against plain Python, scipy or sacrebleu, for every measure."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from refusals import refused
from scipy import stats
from unit.test_scorer import EVERY, case_of, stand_ins  # noqa: F401

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap, compare, options
from semmetrics.errors import InputError
from semmetrics.scoring.draws import Draws
from semmetrics.studies import rank_tests, significance
from semmetrics.studies.comparisons import compare_scores
from semmetrics.studies.differences import Design
from semmetrics.studies.randomization import swapped_differences

CLASSES = list("abcdef")
TESTS = (
    "interval",
    "bootstrap",
    "bootstrap-sacrebleu",
    "randomization",
    "t",
    "wilcoxon",
)


def label_systems(n=60, seed=0, gains=(0.0, 0.15, 0.0)):
    rng = random.Random(seed)
    gts = {f"id {i}": rng.sample(CLASSES, rng.randrange(1, 4)) for i in range(n)}

    def system(gain):
        return {
            name: [
                x if rng.random() < 0.6 + gain else rng.choice(CLASSES) for x in labels
            ]
            for name, labels in gts.items()
        }

    return {name: system(gain) for name, gain in zip("abc", gains, strict=True)}, gts


def caption_systems(n=40, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(40)])
    texts = [rng.choice(words, 12) for _ in range(n)]

    def noisy(text, noise):
        return " ".join(
            np.where(rng.random(len(text)) < noise, rng.choice(words, len(text)), text)
        )

    names = [f"image {i}" for i in range(n)]
    gts = {
        name: [noisy(t, 0.05), noisy(t, 0.1)]
        for name, t in zip(names, texts, strict=True)
    }
    systems = {
        system: {name: [noisy(t, noise)] for name, t in zip(names, texts, strict=True)}
        for system, noise in (("a", 0.3), ("b", 0.25), ("c", 0.2))
    }
    return systems, gts


# ---- each test against another implementation ---------------------------------------------------


def case(definition):
    """As `case_of`; phi needs matrices, and has tests of its own below."""
    if "phi" in definition.needs:
        pytest.skip("needs phi")
    return case_of(definition)


@EVERY
def test_values_that_are_averaged_have_the_score_as_their_mean(definition):
    measures, options, (preds, gts) = case(definition)
    for score in semmetrics.score(preds, gts, measures=measures, **options):
        values = score.averaged
        if score.measure["average"] == "example":
            assert values is not None
        if values is not None and not math.isnan(score.value):
            assert np.nanmean(values) == pytest.approx(score.value, abs=1e-12)


def test_t_and_wilcoxon_are_those_of_scipy():
    from scipy import stats

    systems, gts = label_systems(200, 4)
    table = semmetrics.score_systems(systems, gts, measures="F1")
    a, b = (table[name, "F1"].items for name in "ab")
    expected = stats.ttest_rel(b, a)
    for test in ("t", "interval"):  # the interval of a mean is Student's
        one = compare(systems, gts, measures="F1", test=test, correction="none")[
            "b", "F1"
        ]
        assert one.p == pytest.approx(expected.pvalue, rel=1e-9)
        interval = tuple(expected.confidence_interval())
        assert (one.low, one.high) == pytest.approx(interval, rel=1e-9)
        assert one.effect_size == pytest.approx(
            (b - a).mean() / (b - a).std(ddof=1), rel=1e-9
        )
        assert (one.wins, one.ties, one.losses) == (
            (b > a).sum(),
            (b == a).sum(),
            (b < a).sum(),
        )
    assert (one.method, one.design.test) == ("jackknife", "interval")
    assert "|ci:jackknife,0.95,10000,12345|" in one.signature
    one = compare(systems, gts, measures="F1", test="wilcoxon", correction="none")[
        "b", "F1"
    ]
    rounded = np.round(b - a, 9)  # so that scipy, too, sees which differences are equal
    expected = stats.wilcoxon(rounded, method="asymptotic").pvalue
    assert one.p == pytest.approx(expected, rel=1e-9)
    rng = np.random.default_rng(1)
    for n in (5, 12, 30, 50):
        values = rng.normal(0.2, 1, n)
        expected = stats.wilcoxon(values, method="exact").pvalue
        assert rank_tests.signed_rank_p(values) == pytest.approx(expected, rel=1e-9)


def test_ranks_of_differences_that_rounding_alone_tells_apart():
    for power in range(1, 30):
        size = 2.0**-power
        exact = [1.0, size, -size, size, -size, size]
        near = [
            1.0,
            size,
            -math.nextafter(size, 0),
            size,
            -size,
            math.nextafter(size, 1),
        ]
        assert rank_tests.signed_rank_p(near) == rank_tests.signed_rank_p(exact)


def test_numbers_that_rounding_alone_tells_apart_are_equal_to_every_test():
    assert significance.simulated_p([0.3, -0.3], 0.1 + 0.2) == 1.0
    assert significance.shifted_p([0.1 + 0.2, -0.3], 0.1 + 0.2) == 1.0
    p, low, high = significance.student_t([0.1 + 0.2, 0.3, 0.3])
    assert math.isnan(p)
    assert low == high


@pytest.mark.parametrize("test", TESTS)
def test_labels_in_another_order_are_the_same_to_every_test(test):
    rng = random.Random(2)
    words = [
        "cat",
        "dog",
        "bus",
        "car",
        "tree",
        "house",
        "river",
        "boat",
        "plane",
        "bird",
        "fish",
        "horse",
        "sheep",
        "cow",
        "person",
    ]
    gts = {str(i): rng.sample(words, rng.randint(2, 5)) for i in range(40)}
    one = {name: rng.sample(words, rng.randint(2, 6)) for name in gts}
    turned = {name: labels[::-1] for name, labels in one.items()}
    for measure in ("SoftF1", "WMD"):  # whose sums round otherwise
        found = compare(
            {"a": one, "b": turned}, gts, measures=measure, test=test, resamples=99
        )[0]
        assert (found.p, found.difference, found.ties) == (1.0, 0.0, 40)
        assert not found.significant


def test_corrections():
    from scipy.stats import false_discovery_control

    p = [0.01, 0.04, 0.03, 0.005, math.nan]
    assert significance.correct_p(p, "holm")[:4] == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]
    )
    assert significance.correct_p(p, "bonferroni")[:4] == pytest.approx(
        [0.04, 0.16, 0.12, 0.02]
    )
    assert significance.correct_p(p, "benjamini-hochberg")[:4] == pytest.approx(
        false_discovery_control(p[:4])
    )
    assert significance.correct_p(p, "none")[:4] == p[:4]
    for name in options.CORRECTIONS:
        assert math.isnan(significance.correct_p(p, name)[4])
        assert max(significance.correct_p([0.6, 0.9, 1.0], name)) <= 1


def test_paired_bootstrap_of_bleu_is_that_of_sacrebleu():
    """The same test on the same captions with other draws: p agrees within four standard errors."""
    pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    n = 4000
    for seed in (0, 3):
        systems, gts = caption_systems(150, seed)
        lines = {
            name: [text for (text,) in preds.values()]
            for name, preds in systems.items()
        }
        references = [list(column) for column in zip(*gts.values(), strict=True)]
        metric = BLEU(tokenize="none", references=references)
        test = PairedTest(
            list(lines.items()), {"BLEU": metric}, None, "bs", n_samples=n
        )
        _, theirs = test()
        ours = compare(
            systems,
            gts,
            task="captions",
            measures="BLEU-4",
            tokenizer="whitespace",
            baseline="a",
            test="bootstrap-sacrebleu",
            correction="none",
            resamples=n,
        )
        for place, name in ((1, "b"), (2, "c")):
            one, other = ours[name, "BLEU-4"], theirs["BLEU"][place]
            assert 100 * one.value == pytest.approx(other.score, abs=1e-4)
            error = math.sqrt(2 * max(other.p_value * (1 - other.p_value), 1 / n) / n)
            assert abs(one.p - other.p_value) < 4 * error


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.name,
            marks=() if case.name == "12 labels" else pytest.mark.slow,
        )
        for case in simulation.CASES
        if case.name in ("12 labels", "captions", "retrieval")
    ],
)
def test_systems_without_a_difference_are_rarely_told_apart(case):
    """The shares of 2,000 data sets are in docs/measures/comparison.md; here of a few."""
    null = simulation.simulate(case, 60, 100, resamples=200)
    large = simulation.simulate(case, 60, 25, effect=0.12, resamples=200)
    for none, some in zip(null, large, strict=True):
        # of 100 at 0.05, four standard errors are 0.087
        assert np.nanmax(none.found[:5]) <= 0.12
        assert none.measure != "F1" or np.nanmin(some.found[:3]) > 0.5


def test_swaps_of_sums_over_directions():
    """Rsum of swapped items is the sum of its terms, each of the items that the coins give it."""
    rng = np.random.default_rng(6)
    ids = [f"i{n}" for n in range(12)]
    names = [f"c{n}" for n in range(12)]
    systems = {name: rng.normal(size=(12, 12)) + np.eye(12) for name in "ab"}
    gts = dict(zip(ids, [[name] for name in names], strict=True))
    options = {
        "task": "retrieval",
        "direction": "both",
        "queries": ids,
        "gallery": names,
        "ci": True,
        "resamples": 50,
    }
    terms = " ".join(f"HitRate@{k}" for k in (1, 5, 10))
    table = semmetrics.score_systems(systems, gts, measures=f"Rsum {terms}", **options)
    base = {(s.part, s.heading): s for s in table if s.system == "a"}
    # Rsum first
    pairs = [(s, base[s.part, s.heading]) for s in table if s.system == "b"][::-1]
    found = dict(
        zip(
            [s.heading for s, _ in pairs],
            swapped_differences(pairs, Bootstrap()),
            strict=True,
        )
    )
    whole = found.pop("Rsum")
    assert len(found) == 6
    np.testing.assert_allclose(whole, 100 * sum(found.values()), atol=1e-9)
    assert whole.std() > 0


# ---- stated results ----------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_p_1_and_it_is_said(test):
    systems, gts = label_systems(20)
    found = compare(
        {"a": systems["a"], "same": systems["a"]}, gts, measures="F1", test=test
    )
    one = found[0]
    assert (one.p, one.p_corrected, one.difference, one.low, one.high) == (
        1,
        1,
        0,
        0,
        0,
    )
    assert (one.wins, one.ties, one.losses, one.undefined) == (0, 20, 0, 0)
    assert math.isnan(one.effect_size)
    assert not one.significant
    assert one.to_dict()["effect_size"] is None
    assert list(found.differing()) == []


def test_a_bias_without_an_error_has_no_p():
    ids = [str(i) for i in range(8)]
    systems = {"a": {i: [f"w{i}"] for i in ids}, "b": {i: [f"w{i} v{i}"] for i in ids}}
    (one,) = compare(
        systems,
        {i: ["a b"] for i in ids},
        measures="Vocabulary",
        task="captions",
        tokenizer="whitespace",
        ci_method="jackknife-bias",
        resamples=99,
    )
    assert math.isnan(one.p)


def test_undefined_items_are_counted():
    gts = {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["a"]}
    systems = {
        "one": {"1": ["a"], "2": [], "3": ["c"], "4": []},
        "two": {"1": ["b"], "2": [], "3": [], "4": ["a"]},
    }
    skipping = "Precision(no_prediction=skip)"
    for measure, counts in ((skipping, (0, 0, 1, 3)), ("Precision", (1, 1, 2, 0))):
        found = compare(systems, gts, measures=measure, resamples=50)[0]
        assert (found.wins, found.ties, found.losses, found.undefined) == counts
    with refused("test-does-not-fit", skipping):
        compare(systems, gts, test="t", measures=skipping)


def test_a_measure_without_a_value_has_no_p():
    gts = [["a"], ["b"], []]
    found = compare(
        {"x": gts, "y": gts}, gts, measures="F1(empty=nan) F1", resamples=50
    )
    assert math.isnan(found[0].p)
    assert (found[1].p, found[1].comparisons) == (1.0, 1)
    assert found.to_dicts()[0]["p"] is None
    by_t = compare({"x": gts, "y": gts}, gts, measures="F1(empty=nan) F1", test="t")
    assert [math.isnan(one.p) for one in by_t] == [True, False]
    assert by_t[0].method != "t"


def test_too_few_items_are_said():
    systems, gts = label_systems(5, 0, (0.0, 0.4, 0.0))
    small = compare(systems, gts, measures="F1", test="randomization", resamples=100)
    (line,) = [
        line for line in small.sentences() if line.startswith("no difference can hold")
    ]
    assert "at least 0.1875" in line  # of three pairs, each 2 / 2**5


# ---- all pairs ---------------------------------------------------------------------------------


def holm(values):
    """The largest of the smaller p, each times how many are not below it."""
    return [
        min(1, max(q * sum(r >= q for r in values) for q in values if q <= p))
        for p in values
    ]


@pytest.mark.parametrize("test", TESTS)
def test_all_pairs_are_the_pairs_apart_and_corrected_together(test):
    systems, gts = label_systems(60, 3, (0.0, 0.2, 0.25))
    given = {"measures": "F1 Recall", "test": test, "resamples": 200}
    found = compare(systems, gts, **given)
    assert [(one.system, one.baseline) for one in found][::2] == [
        ("b", "a"),
        ("c", "a"),
        ("c", "b"),
    ]
    assert found["c", "b", "Recall"] is found[-1]
    apart = [
        one
        for b, a in (("b", "a"), ("c", "a"), ("c", "b"))
        for one in compare({a: systems[a], b: systems[b]}, gts, **given)
    ]
    for one, other in zip(found, apart, strict=True):
        own = {
            "comparisons": 6,
            "p_corrected": one.p_corrected,
            "significant": one.significant,
        }
        expected = {
            **other.to_dict(),
            **own,
            "signature": other.signature.replace("m,2", "m,6"),
        }
        assert one.to_dict() == expected
    assert [one.p_corrected for one in found] == pytest.approx(
        holm([one.p for one in found])
    )
    if test not in ("t", "wilcoxon"):  # results that were scored before
        given.pop("test")
        scored = semmetrics.score_systems(systems, gts, ci=True, **given)
        assert compare(scored, test=test).differences == found.differences


def test_sentences_of_all_pairs():
    systems, gts = label_systems(40, 3, (0.0, 0.25, 0.28))
    systems["d"] = {name: [*labels, "z"] for name, labels in systems["b"].items()}
    assert compare(systems, gts, measures="Precision Recall", resamples=99).sentences()[
        :-1
    ] == [
        "b is better than a and d in Precision (p at most 0.0080); better than a in Recall "
        "(p = 0.0003)",
        "c is better than a and d in Precision (p at most 0.0478); better than a in Recall "
        "(p = 0.0080)",
        "d is better than a in Recall (p = 0.0003)",
        "d and b are the same in every resample in Recall (p = 1.0000)",
        "c and b, d and a: no difference holds in Precision (p at least 0.2336)",
        "c and b, d and c: no difference holds in Recall (p = 1.0000)",
    ]


def test_scores_with_marks_of_significance():
    systems, gts = label_systems(200, 3, (0.0, 0.15, 0.18))
    systems = {"a": systems["a"], "b_<": systems["b"], "c": systems["c"]}
    found = compare(systems, gts, measures="F1 HammingLoss", resamples=200)
    assert str(found).split()[:6] == ["measure", "system", *["baseline", "value"] * 2]
    head, _, *rows = found.to_markdown().split("\n")
    assert [row.split(" | ")[1:] for row in (head, *rows[:3])] == [
        ["system", "F1", "HammingLoss |"],
        ["a", "0.7267", "0.1675 |"],
        ["b_&lt;", "**0.8628**<sup>a</sup>", "**0.0883**<sup>a</sup> |"],
        ["c", "0.8527<sup>a</sup>", "0.0917<sup>a</sup> |"],
    ]
    assert (
        "by Holm for 6 comparisons; a difference holds where that is below 0.05"
        in rows[4]
    )
    latex = found.to_latex(scale=100, digits=1)
    assert r"b & b\_\textless{} & \textbf{86.3}$^{a}$ & \textbf{8.8}$^{a}$" in latex
    assert "<strong>0.8628</strong><sup>a</sup>" in found.render("html")
    of_b = compare(
        systems, gts, measures="F1", resamples=200, baseline="b_<"
    ).to_markdown()
    assert of_b.count("<sup>") == 1  # a and c were not compared


# ---- the result --------------------------------------------------------------------------------


def test_forms_of_the_result():
    systems, gts = label_systems()
    found = compare(systems, gts, measures="F1 MacroF1", resamples=200, baseline="a")
    frame = found.to_pandas()
    assert list(frame["system"]) == ["b", "b", "c", "c"]
    assert list(frame["p_corrected"]) == [one.p_corrected for one in found]
    assert frame["wins"].isna().tolist() == [False, True, False, True]
    (entry, *_) = found.to_dicts()
    assert list(frame.columns) == [name for name in entry if name != "schema"]
    own = found[0].score.signature.replace("ci:wilson", "ci:jackknife")
    assert found[0].signature == own + "|test:interval|correction:holm,4"

    assert found["b", "f1"] is found[0]
    assert len(found.scores) == 6
    for key, code in (("F1", "ambiguous-key"), ("Recall", "unknown-name")):
        with refused(code):
            found[key]


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
        np.testing.assert_allclose(
            shares @ [1, 2, 3], [row["mean_rank"] for row in rows]
        )
    with refused("bad-choice"):
        found.rank_matrix("Recall")


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"systems": {}}, "too-few-compared"),
        ({"ci_method": "wilson"}, "bad-option"),
        ({"level": 1.5}, "bad-option"),
        ({"test": "wilcoxon", "measures": "MicroF1"}, "test-does-not-fit"),
    ],
)
def test_bad_input(changed, code):
    systems = {"a": [["x"], ["y"], []], "b": [["x"], ["x"], []]}
    with refused(code):
        compare(
            **{
                "systems": systems,
                "gts": [["x"], ["y"], ["x"]],
                "measures": "F1",
                **changed,
            }
        )


@pytest.mark.parametrize(
    ("function", "given", "code"),
    [
        (significance.student_t, ([0.1, math.nan],), "not-finite"),
        (rank_tests.signed_rank_p, ([0.1, math.inf],), "not-finite"),
        (significance.student_t, ([[0.1, 0.2]],), "wrong-shape"),
        (rank_tests.signed_rank_p, ([[0.1, 0.2]],), "wrong-shape"),
        (significance.student_t, ([0.1, 0.2], 1.5), "bad-option"),
        (significance.student_t, ([0.1],), "too-few-for-test"),
        (significance.simulated_p, ([[0.1, 0.2]], 0.1), "wrong-shape"),
        (significance.shifted_p, ([[0.1, 0.2]], 0.1), "wrong-shape"),
        (significance.shifted_size_p, ([[0.1]], 0.1), "wrong-shape"),
        (significance.correct_p, ([0.5, 1.5],), "out-of-range"),
        (significance.correct_p, ([-0.1],), "out-of-range"),
        (rank_tests.nemenyi_p, ([1.0, math.nan], 3), "not-finite"),
        (rank_tests.nemenyi_p, ([[1.0, 2.0]], 3), "wrong-shape"),
    ],
)
def test_numbers_that_no_test_can_be_made_of(function, given, code):
    with refused(code):
        function(*given)


def test_endless_resamples_have_no_mean():
    assert math.isnan(significance.shifted_p([math.inf, 1.0], 1.0))
    assert math.isnan(significance.shifted_size_p([math.inf, 1.0], 1.0))


def constant(n=6):
    """Two systems that differ by the same on each item."""
    gts = {str(i): ["a", "b"] for i in range(n)}
    return {"x": {name: ["a"] for name in gts}, "y": gts}, gts


def test_p_at_the_level_is_not_below_it():
    for resamples, holds in ((19, False), (20, True)):
        found = compare(
            *constant(), measures="F1", resamples=resamples, test="bootstrap"
        )
        assert found[0].p_corrected == 1 / (resamples + 1)
        assert found[0].significant is holds
        said = any("no difference can hold" in line for line in found.sentences())
        assert said is not holds


def test_differences_without_spread_have_no_effect_size():
    found = compare(*constant(), measures="F1", resamples=20)
    # nothing says how much other items differ
    assert np.isnan([found[0].p, found[0].low, found[0].effect_size]).all()
    assert found.to_dicts()[0]["effect_size"] is None


@pytest.mark.parametrize(
    ("test", "groups", "code"),
    [
        *[
            (test, 1, "too-few-for-test")
            for test in ("bootstrap", "bootstrap-sacrebleu", "randomization")
        ],
        ("t", 5, "test-does-not-fit"),  # the captions of a group are no items
    ],
)
def test_one_group_is_no_sample(test, groups, code):
    gts = {str(i): ["a dog"] for i in range(groups)}
    systems = {
        one: {name: [f"a {one}", f"the {one}"] for name in gts}
        for one in ("cow", "dog")
    }
    with refused(code):
        compare(
            systems, gts, task="captions", measures="ROUGE-L", test=test, resamples=99
        )


def test_designs_are_checked_where_scores_are_compared():
    def scored(names, **options):
        systems = {name: [["x"], ["y"], []] for name in names}
        return semmetrics.score_systems(
            systems, [["x"]] * 3, measures="F1", **options
        ).scores

    apart = [scored(name, seed=seed, ci=True)[0] for seed, name in enumerate("ab")]
    # not, or otherwise, drawn
    for test, scores in (
        ("t", scored("ab")),
        ("bootstrap", apart),
    ):
        with refused("not-paired", "F1"):
            compare_scores(scores, Design(test, "a", "holm", Bootstrap()))


def test_results_of_other_measures_are_compared_in_what_they_share():
    gts = {f"{n}": ["cat"] for n in range(30)}
    measures = {"x": "F1 Recall", "y": "F1", "z": "F1 Recall Jaccard"}
    scored = {
        name: semmetrics.score(gts, gts, measures=some, ci=True, resamples=50)
        for name, some in measures.items()
    }
    found = semmetrics.compare(scored)
    assert [(one.system, one.heading) for one in found] == [
        ("y", "F1"),
        ("z", "F1"),
        ("z", "Recall"),
        ("z", "F1"),
    ]
    assert [line.partition(" - ")[0] for line in found.sentences()[-2:]] == [
        "not computed: Recall",
        "not computed: Jaccard",
    ]


def test_scored_results_that_cannot_be_compared():
    systems, gts = label_systems(40)
    options = {"measures": "F1 MicroF1", "ci": True, "resamples": 200}

    def scored(gts=gts, **more):
        return semmetrics.score(systems["b"], gts, **{**options, **more})

    results = {
        "first": semmetrics.score(systems["a"], gts, **options),
        "second": scored(),
    }
    for other, code in (
        (systems["b"], "not-comparable"),
        (scored(ci=False), "not-comparable"),
        (semmetrics.score_systems(systems, gts, **options), "not-comparable"),
        (scored(seed=3), "scored-otherwise"),
        (scored({**gts, "id 0": ["z"]}), "scored-otherwise"),
        (scored(measures="Recall"), "nothing-given"),
    ):
        with refused(code):
            semmetrics.compare({**results, "second": other})
    for more, code in (
        ({"gts": gts}, "not-applicable"),
        ({"measures": "F1"}, "not-applicable"),
        ({"baseline": "third"}, "unknown-name"),
        ({"test": "t"}, "test-does-not-fit"),
    ):
        with refused(code):
            semmetrics.compare(results, **more)


def test_it_is_said_where_few_items_decide():
    gts = {str(i): ["cat"] for i in range(60)}
    systems = {
        name: {i: [] if int(i) >= 6 else ["cat" if int(i) % k else "dog"] for i in gts}
        for name, k in (("one", 2), ("two", 3))
    }
    found = compare(systems, gts, measures="MicroPrecision F1")
    assert found.sentences()[-1] == (
        "a few images decide MicroPrecision: compare them by test='randomization' (--test)"
    )


def test_items_that_cannot_count_prove_nothing():
    """Two of 100 images have a prediction: no p, and randomisation has one of two coins."""
    gts = {str(i): ["cat"] for i in range(100)}
    systems = {
        name: {i: [label] if int(i) < 2 else [] for i in gts}
        for name, label in (("wrong", "dog"), ("right", "cat"))
    }
    (one,) = found = compare(systems, gts, measures="MicroPrecision")
    assert math.isnan(one.p)
    assert "no p for MicroPrecision" in found.sentences()[0]
    (one,) = compare(systems, gts, measures="MicroPrecision", test="randomization")
    assert one.p == pytest.approx(0.5, abs=0.03)


def test_lower_is_better_where_the_measure_says_so():
    systems, gts = label_systems(80, 1, (0.0, 0.3, 0.0))
    found = compare(
        systems, gts, measures="F1 HammingLoss", resamples=500, baseline="a"
    )
    gain, loss = found["b", "F1"], found["b", "HammingLoss"]
    assert gain.difference > 0 > loss.difference
    assert gain.better
    assert loss.better
    assert loss.wins > loss.losses
    assert found.sentences()[0].startswith("b is better than a in F1 (p < ")
    assert "HammingLoss" in found.sentences()[0]


@pytest.mark.parametrize(
    "method", ["auto", "percentile", "bca", "jackknife-bias", "hall"]
)
def test_p_of_the_interval_is_where_it_excludes_0(method):
    """For every level: p is below 1 - level just where the interval does not hold 0."""
    for seed, n in enumerate((8, 20, 50)):
        systems, gts = label_systems(n, seed, (0.0, 0.2, 0.05))
        options = {
            "measures": "F1 MicroF1 MacroF1 SubsetAccuracy",
            "resamples": 400,
            "ci_method": method,
        }
        for one in compare(systems, gts, baseline="a", **options):
            if math.isnan(one.low):
                continue
            for apart in (-1e-3, 1e-3):
                level = 1 - one.p + apart
                if 1 / 401 < 1 - level < 1 and one.p < 1:
                    (other,) = compare(
                        {name: systems[name] for name in ("a", one.system)},
                        gts,
                        **{**options, "measures": str(one.score.measure)},
                        level=level,
                    )
                    assert (other.low > 0 or other.high < 0) == (apart < 0)


@EVERY
def test_swaps_are_those_of_predictions(definition):
    """Every measure of every kind: the values of swapped statistics are those of swapped items."""
    measures, options, (preds, gts) = case(definition)
    other = preds[7:] + preds[:7]
    scores = semmetrics.score_systems(
        {"a": preds, "b": other},
        gts,
        measures=measures,
        ci=True,
        resamples=2,
        **options,
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
        sides = [
            [
                b if heads == own else a
                for a, b, heads in zip(preds, other, coin, strict=True)
            ]
            for own in (1, 0)
        ]
        swapped = semmetrics.score_systems(
            dict(zip("ba", sides, strict=True)), gts, measures=measures, **options
        )
        expected = [
            swapped["b", m].value - swapped["a", m].value for m in map(str, measures)
        ]
        np.testing.assert_allclose(column, expected, rtol=0, atol=1e-9)


def test_limits_by_students_t_stay_within_the_range_of_differences():
    gts = {"1": ["a"], "2": ["a"], "3": ["a"]}
    systems = {
        "good": {"1": ["a"], "2": ["a"], "3": ["a"]},
        "bad": {"1": ["b"], "2": ["b"], "3": ["a"]},
    }
    (one,) = compare(systems, gts, measures="F1", test="t")
    gains = np.array([-1.0, -1.0, 0.0])
    limits = stats.ttest_1samp(gains, 0).confidence_interval()
    assert limits.low < -1
    assert (one.low, one.high) == (-1.0, pytest.approx(limits.high))
    assert one.p == pytest.approx(stats.ttest_1samp(gains, 0).pvalue)


def test_sizes_of_resamples_that_only_rounding_tells_apart_are_equal():
    replicates = [0.1 + 0.2] * 3 + [-0.3] * 4
    assert significance.shifted_size_p(replicates, 0.0) == pytest.approx(1 / 8)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "bootstrap"])
def test_units_are_in_the_plural(test):
    positives = {"q1": ["a"], "q2": ["b"]}
    first = {"q1": ["a", "b"], "q2": ["b", "a"]}
    second = {"q1": ["b", "a"], "q2": ["a", "b"]}
    table = semmetrics.compare(
        {"A": first, "B": second},
        positives,
        measures="MRR",
        task="retrieval",
        test=test,
    )
    text = str(table)
    assert "queries" in text
    assert "querys" not in text
    error = InputError("too-few-for-test", n=1, least=2, test="a test", unit="query")
    assert "needs 2 queries, not 1" in str(error)
