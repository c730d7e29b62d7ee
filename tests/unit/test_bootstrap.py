"""Bootstrap replicates and intervals against plain Python with the same draws."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from oracles import measures as oracle
from refusals import refused

import semmetrics
from semmetrics import Bootstrap
from semmetrics.core.hashing import hash_ids
from semmetrics.scoring import draws as drawing
from semmetrics.scoring import resampling, weighted_sums

CLASSES = list("abcde")
MEASURES = [
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
]


def data(n, seed=0, *, scored=False):
    rng = random.Random(seed)
    names = [f"id{i}" for i in range(n)]
    refs = {name: rng.sample(CLASSES, rng.randrange(4)) for name in names}
    preds = {name: rng.sample([*CLASSES, "z"], rng.randrange(5)) for name in names}
    if scored:
        preds = {
            name: [(label, rng.randrange(5) / 4) for label in labels]
            for name, labels in preds.items()
        }
    return preds, refs


def draws(ids, bootstrap):
    """How often each item is drawn, resample by resample, from the order of the ids' hashes."""
    order = np.argsort(hash_ids(ids))
    generator = np.random.default_rng(bootstrap.seed)
    for _ in range(bootstrap.resamples):
        drawn = [
            ids[order[i]] for i in generator.integers(0, len(ids), len(ids)).tolist()
        ]
        yield {name: drawn.count(name) for name in ids}


def percentile(values, share):
    """Linear between the order statistics."""
    ranked = sorted(values)
    place = share * (len(ranked) - 1)
    low = math.floor(place)
    return ranked[low] + (ranked[min(low + 1, len(ranked) - 1)] - ranked[low]) * (
        place - low
    )


def plain(text, preds, refs, weights, bootstrap):
    """The interval of a measure by counting again in every resample."""
    (measure,) = semmetrics.parse(text)
    ids = list(refs)
    options = {
        name: str(value) for name, value in measure.options if name in oracle.DEFAULTS
    }
    labels = "given" if measure["labels"] == "auto" else str(measure["labels"])
    # the union, and the reference for micro, are those of the whole: conditions, not results
    sides = (
        refs
        if labels == "reference"
        else {**preds, **{f"r{i}": r for i, r in refs.items()}}
    )
    universe = CLASSES if labels == "given" else sorted(set().union(*sides.values()))
    values = []
    for counts in draws(ids, bootstrap):
        if labels == "reference" and measure["average"] != "micro":
            universe = "reference"
        kept = [name for name in ids if counts[name] * weights[name]]
        if not kept:
            values.append(math.nan)
            continue
        values.append(
            oracle.score(
                measure.definition.name,
                [set(preds[name]) for name in kept],
                [set(refs[name]) for name in kept],
                average=measure["average"],
                labels=universe,
                weights=[counts[name] * weights[name] for name in kept],
                **options,
            )
        )
    known = [value for value in values if not math.isnan(value)]
    tail = (1 - bootstrap.level) / 2
    return (
        percentile(known, tail),
        percentile(known, 1 - tail),
        len(values) - len(known),
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_plain_python(seed, weighted):
    preds, refs = data(11, seed)
    rng = random.Random(seed)
    weights = {name: rng.choice([0.5, 1.0, 3.25]) if weighted else 1.0 for name in refs}
    bootstrap = Bootstrap(0.8, 40, seed)
    table = semmetrics.score(
        preds,
        refs,
        measures=MEASURES,
        classes=CLASSES,
        ci=bootstrap,
        weights=weights if weighted else None,
    )
    for text, score in zip(MEASURES, table, strict=True):
        low, high, undefined = plain(text, preds, refs, weights, bootstrap)
        found = score.replicates.interval(0.8, "percentile")
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12), text
        assert found.undefined == undefined
        assert replace(score.ci.bootstrap, method="auto") == bootstrap


def texts(table):
    return [repr((s.value, s.ci, s.replicates.left_out.tolist())) for s in table]


EVERY = [
    "F1",
    "I-F1",
    "AP",
    "F1(average=macro)",
    "F1(average=micro)",
    "F1(average=weighted)",
    "CardinalityError",
    "LRAP",
    "RankingLoss",
    "mAP",
    "mAP(average=weighted)",
]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_digits_do_not_depend_on_order_chunks_or_blocks(weighted):
    preds, refs = data(300, 1, scored=True)
    weights = {n: 1 / (3 + i % 7) for i, n in enumerate(refs)} if weighted else None
    options = {"measures": EVERY, "ci": Bootstrap(resamples=30), "weights": weights}
    expected = texts(semmetrics.score(preds, refs, **options))
    names = random.Random(2).sample(list(refs), len(refs))
    mixed = [{name: side[name] for name in names} for side in (preds, refs)]
    assert texts(semmetrics.score(*mixed, **options)) == expected
    for changed in (
        {"chunk_size": lambda _: 1},
        {"chunk_size": lambda _: 7},
        {"_MAX_CHUNK_BYTES": 500},
    ):
        with mock.patch.multiple(resampling, **changed):
            assert texts(semmetrics.score(preds, refs, **options)) == expected
    for size in (1, 64):
        with (
            mock.patch.object(drawing, "MAX_DRAWS_AT_ONCE", size),
            mock.patch.object(resampling, "MAX_DRAWS_AT_ONCE", size),
            mock.patch.object(weighted_sums, "_MIN_UNITS_PER_BLOCK", size),
        ):
            assert texts(semmetrics.score(preds, refs, **options)) == expected


def test_grids_lose_nothing_and_add_up_exactly():
    rng = np.random.default_rng(0)
    for values in (
        rng.random(1000),
        rng.normal(size=500) * 1e9,
        np.zeros(3),
        np.full(4, 1 / 3),
    ):
        parts = weighted_sums.split_on_grids(values, len(values))
        scale = np.abs(values).max()
        np.testing.assert_allclose(sum(parts), values, rtol=0, atol=2.0**-80 * scale)
        drawn = rng.integers(0, len(values), len(values))
        for part in parts:
            assert (
                math.fsum(part[drawn])
                == part[drawn].sum()
                == part[np.sort(drawn)].sum()
            )


def test_progress_counts_resamples():
    preds, refs = data(10)
    seen = []
    semmetrics.score(
        preds,
        refs,
        measures=["F1"],
        ci=Bootstrap(resamples=3000),
        progress=lambda *a: seen.append(a),
    )
    assert seen[0] == (10, 10)
    assert seen[-1] == (3000, 3000)
    assert len(seen) > 2


@pytest.mark.parametrize(
    ("options", "code"),
    [
        *[({"level": level}, "bad-option") for level in (1.0, 0, math.nan)],
        *[({"resamples": n}, "bad-option") for n in (1, 10**11)],
        *[({"seed": seed}, "bad-option") for seed in (-1, None)],
        ({"method": "basic"}, "bad-choice"),
    ],
)
def test_errors(options, code):
    with refused(code):
        Bootstrap(**options)


def test_resamples_without_a_value_are_left_out_and_counted():
    # an item without references makes the mean undefined whenever it is drawn
    preds, refs = {"x": ["a"], "y": ["a"], "z": []}, {"x": ["a"], "y": ["b"], "z": []}
    bootstrap = Bootstrap(resamples=200)
    table = semmetrics.score(preds, refs, measures=["F1(empty=nan)"], ci=bootstrap)
    score = table.scores[0]
    without = sum(not counts["z"] for counts in draws(list(refs), bootstrap))
    assert np.isnan(score.value)
    assert score.replicates.interval(method="percentile").undefined == 200 - without > 0
    drawn = [bool(counts["z"]) for counts in draws(list(refs), bootstrap)]
    assert np.isnan(score.replicates.values).tolist() == drawn
    nothing = semmetrics.score(
        [[]], [[]], measures=["F1(empty=nan)"], ci=bootstrap
    ).scores[0]
    nothing = nothing.replicates.interval(method="percentile")
    assert np.isnan([nothing.low, nothing.high]).all()
    assert nothing.undefined == 200
