"""Approximate randomisation: differences of systems after items are swapped between them.

Conventions
-----------
A coin is tossed for each item, or for each group of items that is drawn together. At heads a system
keeps its item, and at tails it gets the item of the other system. After a swap, statistics of items
are added up and measures are computed from the sums. So a measure may be a ratio of sums as well as
a mean.

Sums are exact, and coins depend only on the ids, the seed and the number of swaps. The order of the
input therefore changes nothing, and all systems and measures are swapped alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import concatenate_columns
from semmetrics.core.prefetch import prefetch
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.metrics.definition import Statistic
from semmetrics.metrics.families import Derived
from semmetrics.scoring.draws import Draws
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.resampling import chunk_size
from semmetrics.scoring.result import Score
from semmetrics.scoring.statistics import Statistics
from semmetrics.scoring.weighted_sums import Stack, WeightedSums
from semmetrics.studies.significance import subtract

ScorePairs: TypeAlias = Sequence[tuple[Score, Score]]
"""Pairs of the score of a system and of its baseline."""
_Sums: TypeAlias = Mapping[str, Any]
_SumsBySystem: TypeAlias = Mapping[str, Mapping[Statistic, Any]]


def swapped_differences(
    pairs: ScorePairs, bootstrap: Bootstrap, progress: Progress = None
) -> Floats:
    """Compute differences after items are swapped at random between a system and its baseline.

    Parameters
    ----------
    pairs : sequence of (Score, Score)
        The scores of a system and of its baseline, on the same items.
    bootstrap : Bootstrap
        The number of swaps, and the seed.
    progress : callable, optional

    Returns
    -------
    float array, shape (pairs, resamples)

    Raises
    ------
    InputError
        If the systems have different items.

    References
    ----------
    Noreen 1989, section 2.4. Riezler & Maxwell 2005, figure 1.
    """
    # A derived measure, such as rsum, is computed from the swapped values of its terms.
    terms_of_pairs = [_split_into_terms(score, against) for score, against in pairs]
    terms: list[tuple[Score, Score]] = []
    for terms_of_pair in terms_of_pairs:
        terms += terms_of_pair
    values, values_against = _swap_all_parts(terms, bootstrap, progress)

    differences = np.empty((len(pairs), bootstrap.resamples))
    start = 0
    for row, (score, _) in enumerate(pairs):
        stop = start + len(terms_of_pairs[row])
        values_of_pair = _combine(score, values[start:stop])
        values_against_pair = _combine(score, values_against[start:stop])
        differences[row] = subtract(values_of_pair, values_against_pair)
        start = stop
    return differences


def _split_into_terms(score: Score, against: Score) -> list[tuple[Score, Score]]:
    """Return the pairs of scores that a derived measure combines, or the pair itself."""
    terms = list(zip(score.terms, against.terms, strict=True))
    return terms or [(score, against)]


def _combine(score: Score, values: Floats) -> Floats:
    """Return the values of a score, given the values of its terms, shape (terms, resamples)."""
    family = score.measure.definition.family
    if isinstance(family, Derived):
        combined: Floats = family.combine(score.measure, list(values))
        return combined
    own_values: Floats = values[0]
    return own_values


def _swap_all_parts(
    pairs: ScorePairs, bootstrap: Bootstrap, progress: Progress
) -> Floats:
    """Return the values of both sides of pairs after swaps, one part of the data at a time.

    Each part has its own items. Parts with the same ids have the same coins.

    Returns
    -------
    float array, shape (2, pairs, resamples)
    """
    values = np.empty((2, len(pairs), bootstrap.resamples))
    parts = dict.fromkeys(score.part for score, _ in pairs)
    for part in parts:
        rows = [row for row, (score, _) in enumerate(pairs) if score.part == part]
        pairs_of_part = [pairs[row] for row in rows]
        values[:, rows] = _swap(pairs_of_part, bootstrap, progress)
    return values


def _swap(pairs: ScorePairs, bootstrap: Bootstrap, progress: Progress) -> Floats:
    """Return the values of both sides of pairs of one part after swaps.

    Returns
    -------
    float array, shape (2, pairs, resamples)
    """
    systems = _SummedSystems(pairs)
    draws = systems.draws
    every_unit = np.ones((1, len(draws.hashes)), np.uint8)
    total = systems.sum(every_unit)
    values = np.empty((2, len(pairs), bootstrap.resamples))
    start = 0
    for coins in prefetch(
        draws.coins(bootstrap, systems.chunk), in_thread=draws.are_many
    ):
        swaps = _Swaps(heads=systems.sum(coins), total=total)
        stop = start + len(coins)
        for row, (score, against) in enumerate(pairs):
            values[0, row, start:stop] = _swapped_values(score, against, swaps)
            values[1, row, start:stop] = _swapped_values(against, score, swaps)
        start = stop
        report_progress(
            progress, start, bootstrap.resamples, "randomization", "resample"
        )
    return values


class _SummedSystems:
    """The statistics of all systems of some pairs, which are summed by one product.

    Attributes
    ----------
    draws : Draws
        The items that can be swapped, the same for all systems.
    chunk : int
        The number of swaps at a time.
    """

    def __init__(self, pairs: ScorePairs) -> None:
        statistics_by_system: dict[str, Statistics] = {}
        needed_by_system: dict[str, list[Statistic]] = {}
        for pair in pairs:
            for score in pair:
                statistics_by_system.setdefault(score.system, score.statistics)
                needed_of_system = needed_by_system.setdefault(score.system, [])
                needed_of_system.append(_statistic_of(score))
        self._stack = Stack()
        self._summer_by_system: dict[str, WeightedSums] = {}
        for system, statistics in statistics_by_system.items():
            self._summer_by_system[system] = WeightedSums(
                statistics,
                needed_by_system[system],
                Draws.of(statistics),
                self._stack,
            )
        self.draws = _shared_draws(list(self._summer_by_system.values()))
        self.chunk = chunk_size(list(statistics_by_system.values()))

    def sum(self, coins: NDArray[np.uint8]) -> _SumsBySystem:
        """Return sums over the items whose coin is 1, for each row of coins."""
        product = self._stack.multiply(coins)
        sums = {}
        for system, summer in self._summer_by_system.items():
            sums[system] = summer.sums(coins, product)
        return sums


class _Swaps(NamedTuple):
    """Sums of statistics, from which the sums of swapped items follow.

    The sum over the items at tails is the total minus the sum at heads.

    Attributes
    ----------
    heads : mapping from system and statistic to sums
        Over the items for which a coin shows heads, one row per swap.
    total : mapping from system and statistic to sums
        Over all items, one row.
    """

    heads: _SumsBySystem
    total: _SumsBySystem


def _statistic_of(score: Score) -> Statistic:
    """Return the statistic that the measure of a score aggregates."""
    return score.measure.definition.family.statistic(score.measure)


def _shared_draws(sums: Sequence[WeightedSums]) -> Draws:
    """Return the items that can be swapped, which must be the same for all systems."""
    first, *others = sums
    for other in others:
        if not np.array_equal(other.draws.hashes, first.draws.hashes):
            raise InputError("unlike-items", only="some have no value")
    return first.draws


def _swapped_values(score: Score, other: Score, swaps: _Swaps) -> Floats:
    """Return the values of a score with its own items at heads, and the other's at tails."""
    statistic = _statistic_of(score)
    own_heads = swaps.heads[score.system][statistic]
    other_statistic = _statistic_of(other)
    other_heads = swaps.heads[other.system][other_statistic]
    other_total = swaps.total[other.system][other_statistic]
    if statistic.additive:
        sums = _swap_sums(own_heads, other_heads, other_total)
    else:
        sums = _swap_rows(own_heads, other_heads, other_total)
    return score.measure.definition.family.aggregate(score.measure, sums, score.frame)


def _swap_sums(own_heads: _Sums, other_heads: _Sums, other_total: _Sums) -> _Sums:
    """Return sums over own items at heads and the other's items at tails, by column."""
    sums = {}
    for name, own in own_heads.items():
        other_tails = other_total[name] - other_heads[name]
        sums[name] = own + other_tails
    return sums


def _swap_rows(own_heads: _Sums, other_heads: _Sums, other_total: _Sums) -> _Sums:
    """Return the rows of both systems, and weights that select one row of each item."""
    rows = {}
    for name, column in own_heads["rows"].items():
        rows[name] = concatenate_columns([column, other_heads["rows"][name]])
    other_tails = other_total["weights"] - other_heads["weights"]
    weights = np.concatenate([own_heads["weights"], other_tails], axis=1)
    # Rows are added in an order in which both rows of an item are neighbours, so that the order of
    # the input changes nothing. The rows of the other system come after all own rows.
    own_order = own_heads["order"]
    other_order = other_heads["order"] + len(own_order)
    order = np.stack([own_order, other_order], axis=1).ravel()
    return {"rows": rows, "weights": weights, "order": order}
