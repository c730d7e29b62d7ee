"""What holds for measures of any kind: checks of a function from items by id to statistics."""

from __future__ import annotations

import random
from functools import reduce
from operator import add

import numpy as np
import pytest
from blocks import in_blocks

from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.result import score_statistics


def named(data):
    return {f"id{place}": item for place, item in enumerate(data)}


def scores(found, measures, ci=None):
    pairs = {"system": [(m, "") for m in measures]}
    return score_statistics(
        {"system": found}, pairs, headings=list(map(str, measures)), ci=ci
    )


def values(found, measures):
    return {str(score.measure): score.value for score in scores(found, measures)}


def by_id(score):
    return (
        {}
        if score.items is None
        else dict(zip(score.ids, score.items.tolist(), strict=True))
    )


def bits(found, measures):
    """All that a score says, the items by id, with floats that show every bit."""
    result = []
    for score in scores(found, measures, Bootstrap(resamples=6)):
        table = score.per_label and {k: v.tolist() for k, v in score.per_label.items()}
        replicates = score.replicates.values.tolist()
        result.append(
            repr((score.to_dict(), replicates, sorted(by_id(score).items()), table))
        )
    return result


def check_bounds(found, measures):
    """Values, intervals, values of items and of labels lie within the bounds; return the scores."""
    every = scores(found, measures, Bootstrap(resamples=4))
    for score in every:
        low, high = score.measure.definition.bounds
        known = [score.value, score.ci.low, score.ci.high, *by_id(score).values()]
        known += [] if score.per_label is None else score.per_label["value"].tolist()
        assert all(np.isnan(v) or low - 1e-12 <= v <= high + 1e-12 for v in known), (
            score
        )
        assert np.isnan(score.ci.low) or score.ci.low <= score.ci.high
    return every


def check_order(statistics, data, measures, weighted, seed, cuts=None):
    """Items in any order, and parts of them added in any order, give the same bits."""
    rng = random.Random(seed)
    weights = {name: rng.random() for name in data} if weighted else None
    whole = bits(statistics(data, measures, weights=weights), measures)
    names = rng.sample(list(data), len(data))
    if cuts is None:
        cuts = sorted(rng.randrange(len(names) + 1) for _ in range(2))
    split = [names[a:b] for a, b in zip([0, *cuts], [*cuts, len(names)], strict=True)]
    for several in ([names], rng.sample(split, len(split))):
        found = [
            statistics({name: data[name] for name in some}, measures, weights=weights)
            for some in several
            if some
        ]
        assert bits(reduce(add, found), measures) == whole


def check_blocks(statistics, data, measures, weighted):
    """Blocks of one item give the bits of one block."""
    weights = (
        {name: 0.1 + place for place, name in enumerate(data)} if weighted else None
    )
    whole = bits(statistics(data, measures, weights=weights), measures)
    assert (
        bits(statistics(data, measures, weights=weights, change=in_blocks), measures)
        == whole
    )


def check_double(statistics, data, measures, places):
    """An item of weight two is the item twice."""
    double = [name for place, name in enumerate(data) if place in places]
    weights = {name: 2.0 if name in double else 1.0 for name in data}
    twice = {**data, **{f"{name}, again": data[name] for name in double}}
    first = values(statistics(data, measures, weights=weights), measures)
    second = values(statistics(twice, measures), measures)
    assert first == pytest.approx(second, abs=1e-12, nan_ok=True)
