"""The sums and notes of items that a `Scorer` evaluated and dropped.

Conventions
-----------
No attribute of `DroppedItems` is changed in place, so a shallow copy is independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from secrets import randbits
from typing import NamedTuple

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.errors import ITEM, Fact, InputError, Places, unite
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.fits import EvaluatedPart, FittedMeasure
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.resampling import check_added
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.statistics import Statistics

_MAX_SAMPLE_VOCABULARY = 1000
"""A longer vocabulary, such as all captions, is not stored with the sample item."""


class LoadedPart(NamedTuple):
    """Items that were summed elsewhere, and whose sums were loaded.

    Attributes
    ----------
    shard : str
        The part of the data, such as "3/8". Empty if it is unknown.
    n : int
        The number of items.
    fingerprint : int
        A hash of the ids and their references.
    key : int
        Detects that a part is merged twice. It is the fingerprint, or a random number for items
        without ids, since other parts may have the same fingerprint.
    """

    shard: str
    n: int
    fingerprint: int
    key: int


class DroppedItems:
    """The sums and notes of items that were evaluated and dropped.

    Attributes
    ----------
    chosen : ChosenMeasures or None
        None before the first items are summed.
    fitted : dict from part to list of FittedMeasure
        The measures, which were fitted on the first items.
    statistics : dict from part to Statistics
        Without rows, ids, hashes and weights.
    counts : dict from part to counts
        The number of items that were left out or merged.
    without_items : dict from part to Observations
        Observations in batches without any remaining item.
    sample : list of Lists
        One item, the predictions and the ground truth, with which notes are made.
    notes : list of Fact
        On weights, and on batches that were evaluated whole.
    stored_notes : list of Fact
        The notes on loaded items, for which notes cannot be made again.
    shard_sizes : dict from str to int
        The number of items from which the items of each shard were chosen.
    identified_by : set of str
        "ids", "numbers", or "other numbers" if the same number means different items in different
        parts.
    parts : list of LoadedPart
    """

    def __init__(self) -> None:
        self.chosen: ChosenMeasures | None = None
        self.fitted: dict[str, list[FittedMeasure]] = {}
        self.statistics: dict[str, Statistics] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.without_items: dict[str, Observations] = {}
        self.sample: list[Lists] = []
        self.notes: list[Fact] = []
        self.stored_notes: list[Fact] = []
        self.shard_sizes: dict[str, int] = {}
        self.identified_by: frozenset[str] = frozenset()
        self.parts: list[LoadedPart] = []

    def copy(self) -> DroppedItems:
        """Return a copy, to which other items can be added."""
        return copy(self)

    @property
    def measures(self) -> list[Measure]:
        """The measures of the items."""
        return [] if self.chosen is None else list(self.chosen.measures)

    @property
    def evaluated(self) -> dict[str, EvaluatedPart]:
        """The measures and the statistics of each part of the data."""
        evaluated = {}
        for part, statistics in self.statistics.items():
            evaluated[part] = EvaluatedPart(self.fitted[part], statistics)
        return evaluated

    def sample_names(self) -> list[str]:
        """Return the labels or captions of the sample item."""
        names: list[str] = []
        for lists in self.sample:
            names += map(str, lists.vocabulary)
        return names

    # ---- adding items ---------------------------------------------------------------------------

    def add_sums(
        self,
        statistics: Mapping[str, Statistics],
        counts: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Add the sums of other items. If an error occurs, nothing changes."""
        for part in self.statistics.keys() & statistics.keys():
            check_added(self.statistics[part], statistics[part])
        added = dict(self.statistics)
        for part, other in statistics.items():
            if part in added:
                added[part] = added[part] + other
            else:
                added[part] = other
        self.statistics = added
        self.counts = _add_counts(self.counts, counts)

    def add_observations(self, observations: Mapping[str, Observations]) -> None:
        """Add observations in batches without any remaining item."""
        self.without_items = merge_observations(self.without_items, observations)

    def add_notes(self, notes: Sequence[Fact]) -> None:
        """Add notes on weights, or on a batch that was evaluated whole."""
        self.notes = unite([*self.notes, *notes])

    def add_identification(self, *identified_by: str) -> None:
        """Add how items are identified, as in the attribute ``identified_by``."""
        self.identified_by = self.identified_by.union(identified_by)

    def add_sample(self, inputs: Sequence[Lists]) -> None:
        """Use the first item of some inputs as the sample, if it has entries on more sides."""
        sample = [_first_item(lists) for lists in inputs]
        self.sample = _fuller_sample(self.sample, sample)

    def number_in_shard(self, shard: Shard, n_items: int) -> int:
        """Count items from which a shard is chosen, and return the number of the first."""
        name = f"{shard.number}/{shard.of}"
        first_number = self.shard_sizes.get(name, 0)
        self.shard_sizes = {**self.shard_sizes, name: first_number + n_items}
        return first_number

    def merge(self, other: DroppedItems) -> None:
        """Add other items.

        Raises
        ------
        InputError
            If the measures, their fits, or the items do not fit.
        """
        _check_same_measures(self, other)
        _check_parts(self.parts, other.parts)
        self.add_sums(other.statistics, other.counts)
        self.add_observations(other.without_items)
        self.chosen = self.chosen or other.chosen
        self.fitted = {**other.fitted, **self.fitted}
        self.parts = [*self.parts, *other.parts]
        self.shard_sizes = _add_numbers(self.shard_sizes, other.shard_sizes)
        self.identified_by |= other.identified_by
        self.add_notes(other.notes)
        self.stored_notes = unite([*self.stored_notes, *other.stored_notes])
        self.sample = _fuller_sample(self.sample, other.sample)

    # ---- parts of the data ----------------------------------------------------------------------

    def add_part(self, shard: str, n: int, *, have_ids: bool) -> None:
        """Record items that were summed here, so that a merge notices if they are added twice.

        Parameters
        ----------
        shard : str
            As in `LoadedPart`.
        n : int
            The number of items.
        have_ids : bool
            Whether the items have ids.
        """
        # Fingerprints add up, so the difference is the fingerprint of the new items.
        total = sum(part.fingerprint for part in self.statistics.values())
        total_of_parts = sum(part.fingerprint for part in self.parts)
        fingerprint = (total - total_of_parts) % (1 << 64)
        key = fingerprint if have_ids else randbits(64)
        self.parts = [*self.parts, LoadedPart(shard, n, fingerprint, key)]

    def check_shards(self) -> None:
        """Raise an error if some of the shards of loaded parts are missing."""
        shards = [Shard.read(part.shard) for part in self.parts if part.shard]
        if not shards:
            return
        n_shards = max(shard.of for shard in shards)
        loaded = {shard.number for shard in shards}
        missing = [n for n in range(1, n_shards + 1) if n not in loaded]
        if missing:
            names = [f"{number}/{n_shards}" for number in missing]
            raise InputError("missing-shards", names=names)


# ---- checks of merged items ---------------------------------------------------------------------


def _check_same_measures(items: DroppedItems, others: DroppedItems) -> None:
    """Raise an error if the measures of both or their fits differ."""
    if items.chosen and others.chosen:
        names = _measure_names(items.chosen)
        other_names = _measure_names(others.chosen)
        if names != other_names:
            why = f"{names}, and {other_names}"
            raise InputError("different-statistics", why=why)
    for part, fitted in others.fitted.items():
        if items.fitted.get(part, fitted) != fitted:
            why = "fitted values, such as document frequencies or a threshold, differ"
            raise InputError("different-statistics", why=why)


def _measure_names(chosen: ChosenMeasures) -> str:
    return ", ".join(map(str, chosen.measures))


def _check_parts(parts: Sequence[LoadedPart], others: Sequence[LoadedPart]) -> None:
    """Raise an error if the shards or keys of parts show that they have items in common."""
    _check_same_number_of_shards([*parts, *others])
    shards = {part.shard for part in parts if part.shard}
    # The key is 0 if no item of a part is counted.
    keys = {part.key for part in parts if part.key}
    repeated = []
    for part in others:
        if part.shard in shards or part.key in keys:
            repeated.append(part.shard or pluralize(part.n, "item"))
    if repeated:
        raise InputError("merged-twice", names=repeated)


def _check_same_number_of_shards(parts: Sequence[LoadedPart]) -> None:
    """Raise an error if the data were split into different numbers of shards."""
    shard_counts: list[str] = []
    for part in parts:
        if part.shard:
            _, _, n_shards = part.shard.partition("/")
            shard_counts.append(n_shards)
    distinct_counts = list(dict.fromkeys(shard_counts))
    if len(distinct_counts) > 1:
        why = f"shards of {' and of '.join(distinct_counts)}"
        raise InputError("different-statistics", why=why)


# ---- sums by part -------------------------------------------------------------------------------


def _add_counts(
    counts: Mapping[str, Mapping[str, int]], others: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the sums of the counts of both, by part."""
    added = {part: dict(part_counts) for part, part_counts in counts.items()}
    for part, other in others.items():
        added[part] = _add_numbers(added.get(part, {}), other)
    return added


def _add_numbers(
    numbers: Mapping[str, int], others: Mapping[str, int]
) -> dict[str, int]:
    """Return the sums of the numbers of both, by name."""
    added = dict(numbers)
    for name, n in others.items():
        added[name] = added.get(name, 0) + n
    return added


def merge_observations(
    observations: Mapping[str, Observations], others: Mapping[str, Observations]
) -> dict[str, Observations]:
    """Return the observations of both, by part."""
    merged = {part: observed.copy() for part, observed in observations.items()}
    for part, other in others.items():
        merged.setdefault(part, Observations()).merge(other.of_parts())
    return merged


# ---- the sample item ----------------------------------------------------------------------------


def _first_item(lists: Lists) -> Lists:
    """Return the first item that has an entry, or an empty item. It has no id."""
    row = -1  # an item without entries
    if len(lists):
        row = int((lists.side.sizes > 0).argmax())
    side = lists.side.take(np.array([row]))
    where = Places(lists.source, None, ITEM, range(1))
    item = replace(lists, ids=range(1), side=side, where=where, whole=None)
    if len(item.vocabulary) > _MAX_SAMPLE_VOCABULARY:
        return item.without_unused_entries()
    return item


def _fuller_sample(sample: list[Lists], other: list[Lists]) -> list[Lists]:
    """Return the sample with entries on more sides, or the first one if both are equal."""
    if _fullness(other) > _fullness(sample):
        return other
    return sample


def _fullness(sample: list[Lists]) -> tuple[int, int]:
    """Return the number of sides of a sample, and how many of them have an entry."""
    n_filled = sum(len(lists.side.codes) > 0 for lists in sample)
    return len(sample), n_filled
