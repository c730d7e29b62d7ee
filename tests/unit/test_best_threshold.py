"""``decode=threshold:best``, against every threshold scored on its own."""

import json

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.metrics.sweeps import candidate_thresholds

LABELS = [f"w{number}" for number in range(12)]
VECTORS = np.random.default_rng(0).integers(-2, 5, (12, 3)).tolist()
MODEL = Tiny(dict(zip(LABELS, VECTORS, strict=True)))


def random_items(seed, levels=50, n=14):
    """Return scored labels with repeats and ties, and references with repeats and empty lists."""
    rng = np.random.default_rng(seed)
    preds = []
    refs = []
    for _ in range(n):
        labels = rng.choice(LABELS[:10], rng.integers(0, 9)).tolist()
        scores = rng.integers(0, levels, len(labels)) / levels
        preds.append(list(zip(labels, scores.tolist(), strict=True)))
        refs.append(rng.choice(LABELS[2:], rng.integers(0, 5)).tolist())
    return preds, refs


MEASURES = [
    "F1",
    "F1@3",
    "F1(duplicates=each)",
    "F1(empty=0)",
    "F1(empty=skip)",
    "F1(keep_at_least=1)",
    "F1(average=micro)@2",
    "F1(average=micro,labels=reference)",
    "F1(average=macro,labels=reference)",
    "F1(average=macro,absent=1)",
    "F1(average=macro,keep_at_least=2)@4",
    "F1(average=weighted)",
    "F1(average=weighted,labels=reference)@3",
    "F1(average=macro,labels=given,absent=nan)",
    "SemF1(threshold=0.5)",
    "SemF1(threshold=0.7,match=optimal)",
    "SemF1(threshold=0.6,match=total)",
    "SemF1(threshold=0.6,match=any,average=micro)",
    "SemF1(threshold=0.5,average=micro,empty=0)",
    "SemF1(threshold=0.5,duplicates=each)",
    "SemF1(threshold=0.5,match=any,keep_at_least=1)@3",
]
UNWEIGHTED_MEASURES = ["O-F1", "C-F1", "I-F1", "I-F1(keep_at_least=2)@3"]


@pytest.mark.sampled(40)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weights", ["none", "integers", "floats", "one item"])
@pytest.mark.parametrize(("seed", "levels"), [(1, 4), (2, 1000), (3, 20)])
def test_the_best_threshold_is_the_highest_of_equally_good_ones(
    measure, weights, seed, levels
):
    rng = np.random.default_rng(seed)
    integers = rng.integers(0, 4, 14)
    integers[0] += 1
    floats = rng.random(14) * 10.0 ** rng.integers(-3, 4, 14)
    one_item = np.zeros(14)
    one_item[7] = 1
    weights_by_name = {
        "none": None,
        "integers": integers,
        "floats": floats,
        "one item": one_item,
    }

    check_best_threshold(measure, seed, levels, weights_by_name[weights])


@pytest.mark.parametrize("measure", UNWEIGHTED_MEASURES)
@pytest.mark.parametrize(("seed", "levels"), [(1, 4), (2, 1000)])
def test_the_best_threshold_of_measures_without_weights(measure, seed, levels):
    check_best_threshold(measure, seed, levels, None)


def check_best_threshold(name, seed, levels, weights):
    preds, refs = random_items(seed, levels)
    options = {"weights": weights, "embedding": MODEL}
    if "given" in name or "-F1" in name:
        options["classes"] = LABELS
    (measure,) = semmetrics.parse(name)

    best = measure.with_options(decode="threshold:best")
    (score,) = semmetrics.score(preds, refs, measures=best, **options)

    thresholds = possible_thresholds(preds, weights)
    decoded = [measure.with_options(decode=f"threshold:{t!r}") for t in thresholds]
    table = semmetrics.score(preds, refs, measures=decoded, **options)
    values = np.array([other.value for other in table])
    if np.isnan(values).all():  # the only item with a weight is always undefined
        assert np.isnan(score.value)
        return
    tolerance = 1e-15 if weights is None else 2e-15
    highest = np.nanmax(values)
    assert score.value == pytest.approx(highest, abs=tolerance)
    is_best = values > highest - tolerance
    assert score.best_threshold == np.array(thresholds)[is_best].max()


def possible_thresholds(preds, weights):
    """Return one threshold for each way to decode the items that have a weight."""
    scores = []
    for place, labels in enumerate(preds):
        if weights is None or weights[place]:
            scores += [score for _, score in labels]
    return candidate_thresholds(scores).tolist()


@pytest.mark.parametrize("measure", ["F1", "MacroF1"])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_only_ratios_of_weights_matter(measure, scale):
    preds, refs = random_items(5)
    weights = np.random.default_rng(0).random(len(preds))
    options = {"measures": measure, "decode": "threshold:best"}

    (score,) = semmetrics.score(preds, refs, weights=weights, **options)
    (scaled,) = semmetrics.score(preds, refs, weights=weights * scale, **options)

    assert score.best_threshold == scaled.best_threshold


def test_weights_that_differ_by_more_than_the_precision_raise_an_error():
    preds = [[], [("b", 1.0), ("c", 1.0), ("d", 0.5), ("a", 0.5)]]
    refs = [[], ["b", "c"]]
    options = {"measures": "MicroF1", "decode": "threshold:best"}

    (score,) = semmetrics.score(preds, refs, weights=[1e15, 1], **options)
    assert score.value == 1.0

    with refused("weights-apart"):
        semmetrics.score(preds, refs, weights=[1e20, 1], **options)


@pytest.fixture(scope="module")
def table():
    preds, refs = random_items(5)
    thirds = []
    for labels in preds:
        thirds.append([(label, score / 3) for label, score in labels])
    measures = "F1(decode=threshold:best) MicroF1"
    return semmetrics.score_systems({"a": preds, "b": thirds}, refs, measures=measures)


def test_the_best_threshold_of_each_system_is_shown_below_the_score(table):
    of_a = table["a", "F1(decode=threshold:best)"].best_threshold
    of_b = table["b", "F1(decode=threshold:best)"].best_threshold
    assert of_a != of_b

    lines = [line.split() for line in str(table).splitlines()]

    assert lines[1][0] == "F1(decode=threshold:best)"
    assert lines[2] == ["threshold", str(of_a), str(of_b)]


def test_the_best_threshold_is_in_json(table):
    entries = json.loads(table.to_json())["scores"]

    thresholds = [score.best_threshold for score in table]
    assert [entry["best_threshold"] for entry in entries] == thresholds
    assert [threshold is None for threshold in thresholds] == [False, True] * 2


def test_the_best_threshold_is_a_fixed_threshold_when_scored_again(table):
    preds, refs = random_items(5)
    score = table["a", "F1(decode=threshold:best)"]

    again = semmetrics.rescore(score.signature, preds, refs)

    assert again[0].value == score.value
    assert again.differences == []
    assert again.scores[0].best_threshold is None
