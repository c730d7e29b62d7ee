"""Bootstrap replicates and intervals equal plain Python with the same draws."""

from __future__ import annotations

import math
import random
from unittest import mock

import numpy as np
import pytest
from batches import select
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics import Bootstrap
from semmetrics.core.hashing import hash_ids
from semmetrics.scoring import draws as drawing
from semmetrics.scoring import resampling, weighted_sums

CLASSES = list("abcde")


def draw_labels(n, seed):
    """Draw up to four predicted labels, and up to three true labels, for each item."""
    rng = random.Random(seed)
    names = [f"id{i}" for i in range(n)]
    refs = {name: rng.sample(CLASSES, rng.randrange(4)) for name in names}
    preds = {name: rng.sample([*CLASSES, "z"], rng.randrange(5)) for name in names}
    return preds, refs


def draw_counts(ids, bootstrap):
    """Yield how often each resample has each item, in the order of the hashes of the ids."""
    order = np.argsort(hash_ids(ids))
    rng = np.random.default_rng(bootstrap.seed)
    for _ in range(bootstrap.resamples):
        drawn = order[rng.integers(0, len(ids), len(ids))]
        counts = np.bincount(drawn, minlength=len(ids))
        yield dict(zip(ids, counts.tolist(), strict=True))


# ---- oracle -------------------------------------------------------------------------------------


def classes_of(measure, preds, refs):
    """Return the classes of a measure in all resamples, or "reference"."""
    labels = str(measure["labels"])
    if labels in ("auto", "given"):
        return CLASSES
    if labels == "reference" and measure["average"] != "micro":
        return "reference"
    sides = [*refs.values()]
    if labels != "reference":
        sides += preds.values()
    return sorted(set().union(*sides))


def expected_interval(name, preds, refs, weights, bootstrap):
    """Return the limits of a measure, and the number of resamples without a value."""
    (measure,) = semmetrics.parse(name)
    options = {}
    for option, value in measure.options:
        if option in oracle.DEFAULTS:
            options[option] = str(value)
    universe = classes_of(measure, preds, refs)
    values = []
    for counts in draw_counts(list(refs), bootstrap):
        ids = [item for item in refs if counts[item] * weights[item]]
        values.append(
            oracle.score(
                measure.definition.name,
                [set(preds[item]) for item in ids],
                [set(refs[item]) for item in ids],
                average=measure["average"],
                labels=universe,
                weights=[counts[item] * weights[item] for item in ids],
                **options,
            )
        )
    defined = [value for value in values if not math.isnan(value)]
    tail = (1 - bootstrap.level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return low, high, len(values) - len(defined)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("weight_choices", [[1.0], [0.5, 1.0, 3.25]])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "measure",
    [
        "F1",
        "Precision(empty=skip)",
        "CardinalityError",
        "F1(average=macro)",
        "F1(average=macro,labels=union)",
        "F1(average=weighted)",
        "F1(average=micro)",
        "Recall(average=macro,labels=given,absent=0)",
        "HammingLoss(labels=given)",
        "O-F1",
        "I-F1",
        "C-F1",
    ],
)
def test_percentile_intervals_equal_plain_python(measure, seed, weight_choices):
    preds, refs = draw_labels(11, seed)
    rng = random.Random(seed)
    weights = {name: rng.choice(weight_choices) for name in refs}
    bootstrap = Bootstrap(0.8, 40, seed, "percentile")

    (score,) = semmetrics.score(
        preds, refs, measures=measure, classes=CLASSES, ci=bootstrap, weights=weights
    )

    low, high, undefined = expected_interval(measure, preds, refs, weights, bootstrap)
    assert score.ci.low == pytest.approx(low, abs=1e-12)
    assert score.ci.high == pytest.approx(high, abs=1e-12)
    assert score.ci.undefined == undefined


def test_resamples_without_a_value_are_counted():
    # The mean is undefined if z, which has no labels, is drawn.
    preds = {"x": ["a"], "y": ["a"], "z": []}
    refs = {"x": ["a"], "y": ["b"], "z": []}
    bootstrap = Bootstrap(resamples=200, method="percentile")

    (score,) = semmetrics.score(preds, refs, measures="F1(empty=nan)", ci=bootstrap)

    has_z = [counts["z"] > 0 for counts in draw_counts(list(refs), bootstrap)]
    assert np.isnan(score.value)
    assert np.isnan(score.replicates.values).tolist() == has_z
    assert score.ci.undefined == sum(has_z)


# ---- exact sums ---------------------------------------------------------------------------------


MEASURES = (
    "F1 I-F1 AP MacroF1 MicroF1 F1(average=weighted) CardinalityError LRAP RankingLoss "
    "mAP mAP(average=weighted)"
)
ONE_ITEM_PER_CHUNK = mock.patch.object(resampling, "chunk_size", return_value=1)
SMALL_CHUNKS = mock.patch.object(resampling, "MAX_CHUNK_BYTES", 500)
FEW_DRAWS = mock.patch.object(drawing, "MAX_DRAWS_AT_ONCE", 64)
FEW_RESAMPLED = mock.patch.object(resampling, "MAX_DRAWS_AT_ONCE", 64)
SMALL_BLOCKS = mock.patch.object(weighted_sums, "MIN_UNITS_PER_BLOCK", 64)


def intervals(preds, refs, weighted):
    """Return values, intervals and jackknife values with all digits."""
    weights = None
    if weighted:
        weights = {name: 1 / (3 + int(name[2:]) % 7) for name in refs}
    ci = Bootstrap(resamples=30)
    table = semmetrics.score(preds, refs, measures=MEASURES, ci=ci, weights=weights)
    rows = []
    for score in table:
        rows.append(repr((score.value, score.ci, score.replicates.left_out.tolist())))
    return rows


@pytest.mark.parametrize("weighted", [False, True])
def test_no_digit_depends_on_the_order_of_items_or_the_size_of_chunks(weighted):
    labels, refs = draw_labels(300, 1)
    rng = random.Random(2)
    preds = {}
    for name, names in labels.items():
        preds[name] = [(label, rng.randrange(5) / 4) for label in names]
    expected = intervals(preds, refs, weighted)

    shuffled = rng.sample(list(refs), len(refs))
    assert (
        intervals(select(preds, shuffled), select(refs, shuffled), weighted) == expected
    )
    with ONE_ITEM_PER_CHUNK:
        assert intervals(preds, refs, weighted) == expected
    with SMALL_CHUNKS:
        assert intervals(preds, refs, weighted) == expected
    with FEW_DRAWS, FEW_RESAMPLED, SMALL_BLOCKS:
        assert intervals(preds, refs, weighted) == expected


@pytest.mark.parametrize("scale", [1e9, 1 / 3, 0])
def test_values_are_split_into_parts_whose_sums_are_exact(scale):
    rng = np.random.default_rng(0)
    values = rng.normal(size=500) * scale
    drawn = rng.integers(0, 500, 500)

    parts = weighted_sums.split_on_grids(values, len(values))

    tolerance = 2.0**-80 * np.abs(values).max()
    np.testing.assert_allclose(sum(parts), values, rtol=0, atol=tolerance)
    for part in parts:
        assert part[drawn].sum() == part[np.sort(drawn)].sum() == math.fsum(part[drawn])


# ---- options ------------------------------------------------------------------------------------


def test_progress_counts_items_and_resamples():
    calls = []

    semmetrics.score(
        *draw_labels(10, 0),
        measures="F1",
        ci=Bootstrap(resamples=3000),
        progress=lambda *progress: calls.append(progress),
    )

    assert calls[0] == (10, 10)
    assert calls[-1] == (3000, 3000)
    assert len(calls) > 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"level": 1.0}, "bad-option"),
        ({"level": 0}, "bad-option"),
        ({"level": math.nan}, "bad-option"),
        ({"resamples": 1}, "bad-option"),
        ({"resamples": 10**11}, "bad-option"),
        ({"seed": -1}, "bad-option"),
        ({"seed": None}, "bad-option"),
        ({"method": "basic"}, "bad-choice"),
    ],
)
def test_a_wrong_option_of_a_bootstrap_raises_an_error(options, code):
    with refused(code):
        Bootstrap(**options)
