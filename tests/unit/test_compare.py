"""Comparisons of systems: differences, their p and intervals, and the resulting table."""

import math

import numpy as np
import pytest
from every_measure import EVERY, case_of, stand_ins  # noqa: F401
from paired_systems import caption_systems, label_systems
from refusals import refused
from scipy import stats

import semmetrics
from benchmarks import simulation
from semmetrics import Bootstrap, compare
from semmetrics.studies.comparisons import compare_scores
from semmetrics.studies.differences import Design

TESTS = (
    "interval",
    "bootstrap",
    "bootstrap-sacrebleu",
    "randomization",
    "t",
    "wilcoxon",
)


# ---- each test against another implementation ---------------------------------------------------


@pytest.mark.sampled(30)
@EVERY
def test_averaged_item_values_have_the_score_as_their_mean(definition):
    measures, options, (preds, gts) = case_of(definition)

    for score in semmetrics.score(preds, gts, measures=measures, **options):
        if score.averaged is None:
            assert score.measure["average"] != "example"
        elif not math.isnan(score.value):
            mean = np.nanmean(score.averaged)
            assert mean == pytest.approx(score.value, abs=1e-12)


@pytest.fixture(scope="module")
def two_systems():
    """Two systems with 200 items, the ground truth, and their F1 by item."""
    systems, gts = label_systems(200, 4)
    del systems["c"]
    table = semmetrics.score_systems(systems, gts, measures="F1")
    return systems, gts, table["a", "F1"].items, table["b", "F1"].items


@pytest.mark.parametrize("test", ["t", "interval"])
def test_t_and_the_interval_of_a_mean_are_students_t(two_systems, test):
    systems, gts, baseline_f1, f1 = two_systems

    (difference,) = compare(systems, gts, measures="F1", test=test)

    expected = stats.ttest_rel(f1, baseline_f1)
    gains = f1 - baseline_f1
    low, high = expected.confidence_interval()
    assert difference.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert difference.low == pytest.approx(low, rel=1e-9)
    assert difference.high == pytest.approx(high, rel=1e-9)
    effect_size = gains.mean() / gains.std(ddof=1)
    assert difference.effect_size == pytest.approx(effect_size, rel=1e-9)
    assert difference.wins == (gains > 0).sum()
    assert difference.losses == (gains < 0).sum()


def test_wilcoxon_agrees_with_scipy(two_systems):
    systems, gts, baseline_f1, f1 = two_systems

    (difference,) = compare(systems, gts, measures="F1", test="wilcoxon")

    rounded = np.round(f1 - baseline_f1, 9)  # so that scipy also finds the ties
    expected = stats.wilcoxon(rounded, method="asymptotic")
    assert difference.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_limits_of_students_t_are_within_the_range_of_differences():
    gts = {"1": ["a"], "2": ["a"], "3": ["a"]}
    worse = {"1": ["b"], "2": ["b"], "3": ["a"]}

    (difference,) = compare({"good": gts, "bad": worse}, gts, measures="F1", test="t")

    expected = stats.ttest_1samp([-1.0, -1.0, 0.0], 0)
    interval = expected.confidence_interval()
    assert interval.low < -1
    assert difference.low == -1.0
    assert difference.high == pytest.approx(interval.high)


@pytest.mark.parametrize("seed", [0, 3])
def test_paired_bootstrap_of_bleu_agrees_with_sacrebleu(seed):
    """The draws differ, so p agrees within four standard errors."""
    pytest.importorskip("sacrebleu")
    resamples = 4000
    systems, gts = caption_systems(seed=seed)

    table = compare(
        systems,
        gts,
        task="captions",
        measures="BLEU-4",
        tokenizer="whitespace",
        baseline="a",
        test="bootstrap-sacrebleu",
        correction="none",
        resamples=resamples,
    )

    expected = paired_bootstrap_of_sacrebleu(systems, gts, resamples)
    for difference, result in zip(table, expected[1:], strict=True):
        assert 100 * difference.value == pytest.approx(result.score, abs=1e-4)
        p = result.p_value
        error = math.sqrt(2 * max(p * (1 - p), 1 / resamples) / resamples)
        assert difference.p == pytest.approx(p, abs=4 * error)


def paired_bootstrap_of_sacrebleu(systems, gts, resamples):
    """Return sacrebleu's results, one per system. The first system is the baseline."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest

    references = [list(column) for column in zip(*gts.values(), strict=True)]
    metric = BLEU(tokenize="none", references=references)
    lines = []
    for system, preds in systems.items():
        lines.append((system, [caption for (caption,) in preds.values()]))
    test = PairedTest(lines, {"BLEU": metric}, None, "bs", n_samples=resamples)
    _, results = test()
    return results["BLEU"]


SIMULATED = {case.name: case for case in simulation.CASES}


@pytest.mark.parametrize(
    "name",
    [
        "12 labels",
        pytest.param("captions", marks=pytest.mark.slow),
        pytest.param("retrieval", marks=pytest.mark.slow),
    ],
)
def test_equal_systems_rarely_differ_and_unequal_systems_often(name):
    """docs/measures/comparison.md has the rates of 2,000 simulated datasets."""
    case = SIMULATED[name]

    equal = simulation.simulate(case, 60, 100, resamples=200)
    unequal = simulation.simulate(case, 60, 25, effect=0.12, resamples=200)

    for line in equal:
        # of 100 at 0.05, four standard errors are 0.087
        assert np.nanmax(line.found[:5]) <= 0.12
    for line in unequal:
        assert line.measure != "F1" or np.nanmin(line.found[:3]) > 0.5


@pytest.mark.parametrize(
    "method", ["auto", "percentile", "bca", "jackknife-bias", "hall"]
)
@pytest.mark.parametrize(("seed", "n"), [(0, 8), (1, 20), (2, 50)])
def test_p_is_below_1_minus_level_if_the_interval_excludes_0(method, seed, n):
    systems, gts = label_systems(n, seed, (0.0, 0.2, 0.05))
    options = {"resamples": 400, "ci_method": method, "baseline": "a"}
    measures = "F1 MicroF1 MacroF1 SubsetAccuracy"

    for difference in compare(systems, gts, measures=measures, **options):
        p = difference.p
        if math.isnan(difference.low) or p == 1:
            continue
        pair = {name: systems[name] for name in ("a", difference.system)}
        for level, excludes_0 in ((1 - p - 1e-3, True), (1 - p + 1e-3, False)):
            if 1 / 401 < 1 - level < 1:
                (other,) = compare(
                    pair, gts, measures=difference.measure, level=level, **options
                )
                assert (other.low > 0 or other.high < 0) == excludes_0


# ---- systems that differ in nothing or everywhere -----------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems_have_a_p_of_1(test):
    systems, gts = label_systems(20)
    systems = {"a": systems["a"], "same": systems["a"]}

    table = compare(systems, gts, measures="F1", test=test)

    (difference,) = table
    assert difference.p == difference.p_corrected == 1
    assert difference.difference == difference.low == difference.high == 0
    assert not difference.significant
    assert math.isnan(difference.effect_size)
    assert difference.to_dict()["effect_size"] is None
    assert list(table.differing()) == []


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("measure", ["SoftF1", "WMD"])  # sums that round differently
def test_label_order_changes_no_test(test, measure):
    rng = np.random.default_rng(2)
    words = [
        "cat",
        "dog",
        "bus",
        "car",
        "tree",
        "house",
        "river",
        "boat",
        "bird",
        "cow",
    ]
    gts = [rng.permutation(words)[: rng.integers(2, 6)].tolist() for _ in range(40)]
    preds = [rng.permutation(words)[: rng.integers(2, 7)].tolist() for _ in range(40)]
    reversed_preds = [labels[::-1] for labels in preds]

    (difference,) = compare(
        {"a": preds, "b": reversed_preds},
        gts,
        measures=measure,
        test=test,
        resamples=99,
    )

    assert difference.p == 1.0
    assert difference.difference == 0.0
    assert difference.ties == 40


@pytest.fixture
def systems_with_empty_predictions():
    gts = {"1": ["a"], "2": ["b"], "3": ["c"], "4": ["a"]}
    first = {"1": ["a"], "2": [], "3": ["c"], "4": []}
    second = {"1": ["b"], "2": [], "3": [], "4": ["a"]}
    return {"first": first, "second": second}, gts


@pytest.mark.parametrize(
    ("measure", "counts"),
    [
        ("Precision", (1, 1, 2, 0)),
        ("Precision(no_prediction=skip)", (0, 0, 1, 3)),
    ],
)
def test_items_without_a_value_are_counted(
    systems_with_empty_predictions, measure, counts
):
    systems, gts = systems_with_empty_predictions

    (difference,) = compare(systems, gts, measures=measure, resamples=50)

    assert counts == (
        difference.wins,
        difference.ties,
        difference.losses,
        difference.undefined,
    )


def test_tests_of_items_need_the_values_of_both_systems(systems_with_empty_predictions):
    systems, gts = systems_with_empty_predictions
    measure = "Precision(no_prediction=skip)"

    with refused("test-does-not-fit", measure):
        compare(systems, gts, test="t", measures=measure)


def test_two_items_with_predictions_prove_nothing():
    gts = {str(i): ["cat"] for i in range(100)}
    nothing = {item: [] for item in gts}
    wrong = {**nothing, "0": ["dog"], "1": ["dog"]}
    right = {**nothing, "0": ["cat"], "1": ["cat"]}
    systems = {"wrong": wrong, "right": right}

    table = compare(systems, gts, measures="MicroPrecision")
    (by_swaps,) = compare(systems, gts, measures="MicroPrecision", test="randomization")

    assert math.isnan(table[0].p)
    assert "no p for MicroPrecision" in table.sentences()[0]
    assert by_swaps.p == pytest.approx(0.5, abs=0.03)  # one of the two coins


def test_smaller_losses_are_better():
    systems, gts = label_systems(80, 1, (0.0, 0.3, 0.0))

    table = compare(systems, gts, measures="F1 HammingLoss", baseline="a")

    gain = table["b", "F1"]
    assert gain.difference > 0
    assert gain.better
    loss = table["b", "HammingLoss"]
    assert loss.difference < 0
    assert loss.better
    assert loss.wins > loss.losses


def test_a_bias_without_an_error_has_no_p():
    gts = {str(i): ["a b"] for i in range(8)}
    systems = {"a": {i: [f"w{i}"] for i in gts}, "b": {i: [f"w{i} v{i}"] for i in gts}}
    options = {"task": "captions", "tokenizer": "whitespace"}

    (difference,) = compare(
        systems, gts, measures="Vocabulary", ci_method="jackknife-bias", **options
    )

    assert math.isnan(difference.p)


def test_undefined_measures_have_no_p_and_count_as_no_comparison():
    gts = [["a"], ["b"], []]
    systems = {"x": gts, "y": gts}

    undefined, defined = compare(systems, gts, measures="F1(empty=nan) F1", test="t")

    assert math.isnan(undefined.p)
    assert undefined.to_dict()["p"] is None
    assert defined.p == 1.0
    assert defined.comparisons == 1


@pytest.mark.parametrize(("resamples", "significant"), [(19, False), (20, True)])
def test_p_at_the_level_is_not_significant(resamples, significant):
    gts = {str(i): ["a", "b"] for i in range(6)}
    systems = {"x": {item: ["a"] for item in gts}, "y": gts}

    table = compare(systems, gts, measures="F1", resamples=resamples, test="bootstrap")

    (difference,) = table
    assert difference.p_corrected == 1 / (resamples + 1)
    assert difference.significant is significant
    assert ("no difference can be significant" in str(table)) is not significant
    assert math.isnan(difference.effect_size)  # all items differ equally
    assert math.isnan(difference.low)


# ---- several systems ----------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_all_pairs_are_compared_as_if_alone_and_corrected_together(test):
    systems, gts = label_systems(60, 3, (0.0, 0.2, 0.25))
    options = {"measures": "F1 Recall", "test": test, "resamples": 200}

    table = compare(systems, gts, **options)

    alone = []
    for system, baseline in (("b", "a"), ("c", "a"), ("c", "b")):
        pair = {baseline: systems[baseline], system: systems[system]}
        alone += compare(pair, gts, **options)
    assert [uncorrected(row) for row in table] == [uncorrected(row) for row in alone]
    p_values = [difference.p for difference in table]
    corrected = [difference.p_corrected for difference in table]
    assert corrected == pytest.approx(holm(p_values))
    assert table["c", "b", "Recall"] is table[-1]


def uncorrected(difference):
    """Return a difference as a dict without what depends on the correction."""
    entry = difference.to_dict()
    for name in ("comparisons", "p_corrected", "significant", "signature"):
        del entry[name]
    return entry


def holm(p_values):
    corrected = {}
    largest = 0
    for n_smaller, p in enumerate(sorted(p_values)):
        largest = max(largest, p * (len(p_values) - n_smaller))
        corrected[p] = min(1, largest)
    return [corrected[p] for p in p_values]


def test_items_that_differ_most_come_first():
    gts = {"x": ["a", "b"], "y": ["c"], "z": ["d"]}
    first = {"x": ["a"], "y": ["c"], "z": ["d"]}
    second = {"x": ["a", "b"], "y": ["e"], "z": ["d"]}

    table = compare({"1": first, "2": second}, gts, measures="MacroF1 F1", resamples=9)

    rows = list(table.differing(5))
    assert [row["id"] for row in rows] == ["y", "x"]
    assert {row["measure"] for row in rows} == {"F1"}
    assert rows[0]["difference"] == -1
    assert rows[0]["predicted"] == ["e"]
    assert rows[0]["baseline_predicted"] == rows[0]["true"] == ["c"]
    assert list(table.differing(1, "F1")) == rows[:1]


@pytest.mark.parametrize("measure", ["F1", "HammingLoss"])
def test_rank_matrix_has_shares_of_resamples(measure):
    systems, gts = label_systems(60, 3, (0.0, 0.3, 0.15))
    table = compare(systems, gts, measures="F1 HammingLoss", resamples=400)

    frame = table.rank_matrix(measure).to_pandas()

    shares = frame[["rank_1", "rank_2", "rank_3"]].to_numpy()
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert list(frame["system"]) == ["b", "c", "a"]
    np.testing.assert_allclose(shares @ [1, 2, 3], frame["mean_rank"])


# ---- systems that were scored before ------------------------------------------------------------


@pytest.mark.parametrize("test", ["interval", "bootstrap", "randomization"])
def test_scored_systems_have_the_same_differences(test):
    systems, gts = label_systems(60, 3)
    options = {"measures": "F1 Recall", "resamples": 200}

    scored = semmetrics.score_systems(systems, gts, ci=True, **options)

    expected = compare(systems, gts, test=test, **options)
    assert compare(scored, test=test).differences == expected.differences


def test_scored_systems_are_compared_by_the_measures_that_they_share():
    gts = {str(n): ["cat"] for n in range(30)}
    tables = {}
    for system, measures in (("x", "F1 Recall"), ("y", "F1"), ("z", "F1 Recall WMD")):
        tables[system] = semmetrics.score(
            gts, gts, measures=measures, ci=True, resamples=50
        )

    table = compare(tables)

    assert [(row.system, row.baseline, row.heading) for row in table] == [
        ("y", "x", "F1"),
        ("z", "x", "F1"),
        ("z", "x", "Recall"),
        ("z", "y", "F1"),
    ]
    assert [entry.heading for entry in table.not_computed] == ["Recall", "WMD"]


@pytest.fixture(scope="module")
def scored():
    systems, gts = label_systems(20)
    options = {"measures": "F1 MacroF1", "ci": True, "resamples": 50}
    return {
        "a": semmetrics.score(systems["a"], gts, **options),
        "predictions": systems["b"],
        "without resamples": semmetrics.score(systems["b"], gts, measures="F1"),
        "several systems": semmetrics.score_systems(systems, gts, **options),
        "other seed": semmetrics.score(systems["b"], gts, **options, seed=3),
        "other truth": semmetrics.score(systems["b"], systems["c"], **options),
        "other measure": semmetrics.score(
            systems["b"], gts, **{**options, "measures": "Recall"}
        ),
    }


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ("predictions", "not-comparable"),
        ("without resamples", "not-comparable"),
        ("several systems", "not-comparable"),
        ("other seed", "scored-otherwise"),
        ("other truth", "scored-on-other-items"),
        ("other measure", "nothing-given"),
    ],
)
def test_scores_that_cannot_be_compared_raise_an_error(scored, other, code):
    with refused(code):
        compare({"a": scored["a"], "b": scored[other]})


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"gts": {}}, "not-applicable"),
        ({"measures": "F1"}, "not-applicable"),
        ({"baseline": "third"}, "unknown-name"),
        ({"test": "t"}, "test-does-not-fit"),
    ],
)
def test_options_that_do_not_apply_to_scored_systems_raise_an_error(
    scored, options, code
):
    with refused(code):
        compare(scored["several systems"], **options)


def test_parts_of_the_table_that_do_not_exist_raise_an_error(scored):
    table = compare(scored["several systems"])

    with refused("ambiguous-key"):
        table["F1"]
    with refused("unknown-name"):
        table["Recall"]
    with refused("bad-choice"):
        table.rank_matrix("Recall")
    with refused("no-item-values"):
        table.differing(1, "MacroF1")
    with refused("bad-option"):
        table.differing(0)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"systems": {}}, "too-few-compared"),
        ({"ci_method": "wilson"}, "bad-option"),
        ({"test": "wilcoxon", "measures": "MicroF1"}, "test-does-not-fit"),
    ],
)
def test_invalid_options_raise_an_error(changed, code):
    systems = {"a": [["x"], ["y"]], "b": [["x"], ["x"]]}
    arguments = {"systems": systems, "gts": [["x"], ["y"]], "measures": "F1"}

    with refused(code):
        compare(**{**arguments, **changed})


@pytest.mark.parametrize(
    ("test", "n_images", "code"),
    [
        ("bootstrap", 1, "too-few-for-test"),
        ("randomization", 1, "too-few-for-test"),
        ("t", 5, "test-does-not-fit"),
    ],
)
def test_captions_of_an_image_are_not_independent(test, n_images, code):
    gts = {str(i): ["a dog"] for i in range(n_images)}
    captions = {image: ["a cow", "the cow"] for image in gts}

    with refused(code):
        compare({"a": captions, "b": captions}, gts, measures="ROUGE-L", test=test)


def test_scores_without_resamples_raise_an_error():
    systems = {"a": [["x"], ["y"]], "b": [["x"], ["x"]]}
    scores = semmetrics.score_systems(systems, [["x"], ["y"]], measures="F1")

    with refused("not-paired", "F1"):
        compare_scores(scores, Design("t", "a", "holm", Bootstrap()))


@pytest.mark.parametrize("options", [{}, {"measures": "F1"}])
@pytest.mark.parametrize("function", [semmetrics.compare, semmetrics.score_systems])
def test_predictions_by_id_are_not_systems(function, options):
    # given the predictions of a single system in place of several systems
    preds = {"a.jpg": ["cat", "dog"], "b.jpg": ["dog"]}
    gts = {"a.jpg": ["cat"], "b.jpg": ["dog"]}

    # then the error asks for names of systems
    with refused("ids-as-systems", "systems"):
        function(preds, gts, **options)


def test_systems_can_have_names_that_are_also_ids():
    # given systems named like items, each with predictions by id
    gts = {"a": ["cat"], "b": ["dog"]}

    # then they are compared
    table = semmetrics.compare({"a": gts, "b": gts}, gts, measures="F1")
    assert table.scores.systems == ["a", "b"]


def test_missing_ids_of_systems_can_be_left_out_for_all():
    # given a system without one of the items
    gts = {"a": ["cat"], "b": ["dog"]}
    systems = {"old": gts, "new": {"a": ["cat"]}}

    # then the error offers the policy that keeps the same items for all systems
    with refused("missing-ids") as caught:
        compare(systems, gts, measures="F1")
    assert "missing='common'" in str(caught.value)
    assert "skip" not in str(caught.value)
