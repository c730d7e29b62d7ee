"""Properties of measures of any kind.

A check takes a function that computes the statistics of items, which are a mapping by id.
"""

from __future__ import annotations

import random
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from blocks import in_blocks

from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.result import score_statistics


def named(data):
    """Return items with ids."""
    return {f"id{place}": item for place, item in enumerate(data)}


def scores(statistics, measures, ci=None):
    """Return the scores of statistics."""
    pairs = {"system": [(measure, "") for measure in measures]}
    headings = list(map(str, measures))
    return score_statistics({"system": statistics}, pairs, headings=headings, ci=ci)


def values(statistics, measures):
    """Return the value of each measure."""
    return {str(score.measure): score.value for score in scores(statistics, measures)}


def by_id(score):
    """Return the value of each item."""
    if score.items is None:
        return {}
    return dict(zip(score.ids, score.items.tolist(), strict=True))


def bits(statistics, measures):
    """Return all that scores contain, with all digits and the items in the order of their ids."""
    texts = []
    for score in scores(statistics, measures, Bootstrap(resamples=6)):
        per_label = None
        if score.per_label is not None:
            columns = score.per_label.items()
            per_label = {name: column.tolist() for name, column in columns}
        replicates = score.replicates.values.tolist()
        items = sorted(by_id(score).items())
        texts.append(repr((score.to_dict(), replicates, items, per_label)))
    return texts


def check_bounds(statistics, measures):
    """Check that values, intervals, items and labels are within the bounds; return the scores."""
    every_score = scores(statistics, measures, Bootstrap(resamples=4))
    for score in every_score:
        low, high = score.measure.definition.bounds
        numbers = [score.value, score.ci.low, score.ci.high, *by_id(score).values()]
        if score.per_label is not None:
            numbers += score.per_label["value"].tolist()
        for number in numbers:
            assert np.isnan(number) or low - 1e-12 <= number <= high + 1e-12, score
        assert np.isnan(score.ci.low) or score.ci.low <= score.ci.high
    return every_score


def check_order(statistics, data, measures, weighted, seed, cuts=None):
    """Check that the order of items, and of added parts, does not change a bit."""
    rng = random.Random(seed)
    weights = None
    if weighted:
        weights = {name: rng.random() for name in data}
    names = rng.sample(list(data), len(data))
    if cuts is None:
        cuts = sorted(rng.choices(range(len(names) + 1), k=2))
    bounds = [0, *cuts, len(names)]
    parts = []
    for start, stop in pairwise(bounds):
        if start < stop:
            parts.append(names[start:stop])
    rng.shuffle(parts)

    def compute(names):
        items = {name: data[name] for name in names}
        return statistics(items, measures, weights=weights)

    whole = bits(compute(data), measures)
    assert bits(compute(names), measures) == whole
    assert bits(reduce(add, map(compute, parts)), measures) == whole


def check_blocks(statistics, data, measures, weighted):
    """Check that blocks of one item have the bits of one block."""
    weights = None
    if weighted:
        weights = {name: 0.1 + place for place, name in enumerate(data)}
    whole = statistics(data, measures, weights=weights)
    blocks = statistics(data, measures, weights=weights, change=in_blocks)
    assert bits(blocks, measures) == bits(whole, measures)


def check_double(statistics, data, measures, places):
    """Check that an item with a weight of two counts as two equal items."""
    weights = dict.fromkeys(data, 1.0)
    repeated = dict(data)
    for place, name in enumerate(data):
        if place in places:
            weights[name] = 2.0
            repeated[f"{name}, again"] = data[name]
    weighted_values = values(statistics(data, measures, weights=weights), measures)
    repeated_values = values(statistics(repeated, measures), measures)
    assert weighted_values == pytest.approx(repeated_values, abs=1e-12, nan_ok=True)
