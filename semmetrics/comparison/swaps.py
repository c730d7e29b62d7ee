"""Approximate randomisation: items of two systems swapped at random, and measures computed again.

Conventions
-----------
A swap gives an item, or all of a group, to the other system and adds up statistics, so it is as
good for a ratio of sums as for a mean. Sums are exact, and what is swapped depends on the ids, the
seed and the number of swaps alone: the order of the input changes nothing, and all systems and
measures are swapped alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.comparison.significance import subtract
from semmetrics.core.columns import concatenate_columns
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Statistic
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.resampling import Draws, Stack, WeightedSums, ahead, chunk_size
from semmetrics.scoring.result import Score

__all__ = ["swapped_differences"]


def swapped_differences(
    pairs: Sequence[tuple[Score, Score]],
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """Compute differences after items are swapped at random between a system and the baseline.

    Parameters
    ----------
    pairs : sequence of (Score, Score)
        A system's and the baseline's, of the same items.
    bootstrap : Bootstrap
        How many times, and the seed.
    progress : callable, optional

    Returns
    -------
    float array, shape (pairs, resamples)

    Raises
    ------
    InputError
        If the systems have other items.

    References
    ----------
    Noreen 1989, section 2.4. Riezler & Maxwell 2005, figure 1.
    """
    terms = [list(zip(a.terms, b.terms, strict=True)) or [(a, b)] for a, b in pairs]
    flat = [pair for some in terms for pair in some]
    swapped = np.empty((2, len(flat), bootstrap.resamples))
    parts: dict[str, list[int]] = {}
    for place, (score, _) in enumerate(flat):
        parts.setdefault(score.part, []).append(place)
    for places in parts.values():
        swapped[:, places] = _swap([flat[place] for place in places], bootstrap, progress)
    found, start = np.empty((len(pairs), bootstrap.resamples)), 0
    for row, (score, _), some in zip(found, pairs, terms, strict=True):
        sides: Any = swapped[:, start : start + len(some)]
        if score.terms:  # parts that are paired have the same coins
            combine = score.measure.definition.family.combine  # type: ignore[attr-defined]
            sides = [[combine(score.measure, list(side))] for side in sides]
        row[:] = subtract(sides[0][0], sides[1][0])
        start += len(some)
    return found


def _swap(
    pairs: Sequence[tuple[Score, Score]],
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Return the values of both sides after swaps, of one part: shape (2, pairs, resamples)."""
    needed: dict[str, tuple[Any, list[Statistic]]] = {}
    for pair in pairs:
        for one in pair:
            statistic = one.measure.definition.family.statistic(one.measure)
            needed.setdefault(one.system, (one.statistics, []))[1].append(statistic)
    stack = Stack()
    weighted = {
        name: WeightedSums.of(statistics, some, Draws.of(statistics), stack)
        for name, (statistics, some) in needed.items()
    }
    draws = next(iter(weighted.values())).draws
    if any(not np.array_equal(one.draws.hashes, draws.hashes) for one in weighted.values()):
        raise InputError("systems have different items", remedy="use test='bootstrap' (--test)")
    every = np.ones((1, len(draws.hashes)), np.uint8)
    whole = {name: one.sums(every, stack.multiply(every)) for name, one in weighted.items()}
    found, done = np.empty((2, len(pairs), bootstrap.resamples)), 0
    tosses = draws.coins(bootstrap, chunk_size([some for some, _ in needed.values()]))
    for coins in ahead(tosses, worth=draws.are_many):
        product = stack.multiply(coins)
        heads = {name: one.sums(coins, product) for name, one in weighted.items()}
        for row, (a, b) in enumerate(pairs):
            found[:, row, done : done + len(coins)] = _swapped_values(a, b, heads, whole)
        done += len(coins)
        if progress is not None:
            progress(done, bootstrap.resamples)
    return found


def _swapped_values(
    score: Score, against: Score, heads: Mapping[str, Any], whole: Mapping[str, Any]
) -> list[Floats]:
    """The first has its own items where a coin shows heads, and the other's elsewhere."""
    values = []
    for one, other in ((score, against), (against, score)):
        mine, theirs = (s.measure.definition.family.statistic(s.measure) for s in (one, other))
        own, left = heads[one.system][mine], heads[other.system][theirs]
        every = whole[other.system][theirs]
        if mine.additive:
            sums = {name: own[name] + (every[name] - left[name]) for name in own}
        else:
            sums = _mixed_rows(own, left, every)
        values.append(one.measure.definition.family.aggregate(one.measure, sums, one.frame))
    return values


def _mixed_rows(own: Any, left: Any, every: Any) -> dict[str, Any]:
    """The rows of both systems, of which each item weighs in one."""
    rows = {name: concatenate_columns([own["rows"][name], left["rows"][name]])
            for name in own["rows"]}  # fmt: skip
    weights = np.concatenate([own["weights"], every["weights"] - left["weights"]], axis=1)
    n = len(own["order"])
    # both rows of an item stand together, so that the order of the input changes nothing
    order = np.stack([own["order"], left["order"] + n], axis=1).ravel()
    return {"rows": rows, "weights": weights, "order": order}
