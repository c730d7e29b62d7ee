"""Replicates and jackknife: weighted sums of rows aggregated again, never a metric again.

Conventions
-----------
A resample draws as many items as there are, with replacement. Its weights depend on the ids of the
items, the seed and the number of resamples alone, so the replicates of all measures, systems and
parts that have the same items are paired: the first belongs to the first, and so on. Items are
drawn in the order of their ids' hashes, so the order of the input changes nothing. Several
captions of one image are drawn together.

The jackknife leaves out one item, or group, after the other. Where there are many, they make
parts of equal size that are left out: neighbours in the order of hashes, so chosen at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.frozen import dataclass
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.intervals import Bootstrap, Replicates, default_method
from semmetrics.scoring.resampling import Draws, Part, Stack, WeightedSums, ahead, chunk_size
from semmetrics.scoring.statistics import Statistics

__all__ = ["Subject", "replicate"]

_MEMORY = 1 << 26
_PARTS, _ROW_PARTS = 1000, 100  # left out at most: of sums, and of rows, which cost more


@dataclass(frozen=True, eq=False)
class Subject:
    """A system whose measures are computed in each resample.

    Attributes
    ----------
    statistics : Statistics
        With rows.
    measures : sequence of Measure
    points : sequence of float
        Their values.
    frame : Frame
    """

    statistics: Statistics
    measures: Sequence[Measure]
    points: Sequence[float]
    frame: Frame

    def needed(self) -> dict[Measure, Statistic]:
        """Return the statistic of each measure."""
        return {m: m.definition.family.statistic(m) for m in self.measures}

    def aggregate(self, sums: Mapping[Statistic, Any]) -> list[Floats]:
        """Compute each measure from the sums of its statistic."""
        return [m.definition.family.aggregate(m, sums[s], self.frame) for m, s in self._each()]

    def _each(self) -> list[tuple[Measure, Statistic]]:
        needed = self.needed()
        return [(m, needed[m]) for m in self.measures]


def replicate(
    systems: Sequence[Subject],
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[Replicates]]:
    """Compute the replicates of all measures of systems, and their jackknife.

    Systems that have the same items share one set of resamples.

    Parameters
    ----------
    systems : sequence of Subject
    bootstrap : Bootstrap
        Its level and method are not used.
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    list of list of Replicates, one a system and measure

    Raises
    ------
    InputError
        If rows were not kept.
    """
    draws = [Draws.of(one.statistics) for one in systems]
    alike: dict[str, list[int]] = {}
    for place, one in enumerate(draws):
        alike.setdefault(one.fingerprint(bootstrap), []).append(place)
    found: list[list[Replicates]] = [[] for _ in systems]
    for drawn, places in alike.items():
        some = [(systems[place], draws[place]) for place in places]
        made = _replicate_alike(some, bootstrap, drawn, progress)
        for place, replicates in zip(places, made, strict=True):
            found[place] = replicates
    return found


def _replicate_alike(
    systems: Sequence[tuple[Subject, Draws]],
    bootstrap: Bootstrap,
    drawn: str,
    progress: Callable[[int, int], None] | None,
) -> list[list[Replicates]]:
    """Compute the replicates of systems that have the same items."""
    stack = Stack()
    weighted = [
        WeightedSums.of(one.statistics, one.needed().values(), draws, stack)
        for one, draws in systems
    ]
    values = [np.empty((len(one.measures), bootstrap.resamples)) for one, _ in systems]
    done, chunk = 0, chunk_size([one.statistics for one, _ in systems])
    first = systems[0][1]
    for counts in ahead(first.counts(bootstrap, chunk), worth=first.are_many):
        product = stack.multiply(counts)
        for rows, (one, _), sums in zip(values, systems, weighted, strict=True):
            parts = one.aggregate(sums.sums(counts, product))
            for row, part in zip(rows, parts, strict=True):
                row[done : done + len(counts)] = part
        done += len(counts)
        if progress is not None:
            progress(done, bootstrap.resamples)
    return [
        _with_jackknife(one, sums, rows, bootstrap, drawn)
        for (one, _), sums, rows in zip(systems, weighted, values, strict=True)
    ]


def _with_jackknife(
    one: Subject, weighted: WeightedSums, values: Floats, bootstrap: Bootstrap, drawn: str
) -> list[Replicates]:
    """Return the replicates of a system's measures, with their values without each part."""
    needed, statistics = one.needed(), one.statistics
    without: dict[Measure, tuple[Floats, Ints]] = {}
    for s in dict.fromkeys(needed.values()):
        left = _LeftOut.of(statistics, s, weighted.exact.get(s), weighted.draws)
        chosen = [m for m in needed if needed[m] == s]
        found = zip(chosen, left.values(chosen, one.frame), strict=True)
        without.update({m: (row, left.sizes) for m, row in found})
    return [
        Replicates(
            row,
            bootstrap.seed,
            statistics.unit,
            statistics.groups is not None,
            drawn,
            value=point,
            left_out=without[m][0],
            sizes=without[m][1],
            bounds=m.definition.bounds,
            default=default_method(m),
            items=_items(one, m, weighted.draws) if point in m.definition.bounds else 0.0,
        )
        for m, row, point in zip(one.measures, values, one.points, strict=True)
    ]


def _items(one: Subject, measure: Measure, draws: Draws) -> float:
    """Count the items, or groups, with a value: as many as weigh alike (Kish 1965); 0 unknown."""
    family, statistics = measure.definition.family, one.statistics
    values = family.items(measure, statistics.rows(family.statistic(measure)), one.frame)
    if values is None:
        return 0.0
    heavy = np.ones(len(values)) if statistics.weights is None else statistics.weights
    drawn = draws.added(np.where(np.isnan(values), 0.0, heavy / heavy.max()))
    return float(drawn.sum() ** 2 / (drawn**2).sum()) if drawn.any() else 0.0


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """What measures of one statistic aggregate when a part of the items is left out.

    Attributes
    ----------
    statistics : Statistics
    statistic : Statistic
    exact : sequence of columns, or None
        None for a statistic that is not additive.
    parts : int array, shape (items,)
        The part of each item.
    sizes : int array, shape (parts,)
        How many items or groups each has.
    """

    statistics: Statistics
    statistic: Statistic
    exact: Sequence[Part] | None
    parts: Ints
    sizes: Ints

    @staticmethod
    def of(
        statistics: Statistics, statistic: Statistic, exact: Sequence[Part] | None, draws: Draws
    ) -> _LeftOut:
        """Divide what can be drawn into parts of neighbours by hash."""
        n = len(draws.hashes)
        number = min(n, _ROW_PARTS if exact is None else _PARTS)
        of_drawn = np.arange(n) * number // n
        sizes = np.bincount(of_drawn)
        return _LeftOut(statistics, statistic, exact, of_drawn[draws.place], sizes)

    def values(self, measures: Sequence[Measure], frame: Frame) -> Floats:
        """Return the values without each part, a row a measure; nan where nothing is left."""
        number = len(self.sizes)
        found = np.full((len(measures), number), np.nan)
        if number == 1:
            return found
        sums_without = self._from_rows() if self.exact is None else self._from_sums(self.exact)
        each = len(self.parts) if self.exact is None else 4 * len(self.statistics.labels)
        chunk = max(1, _MEMORY // (8 * max(each, 1)))
        for start in range(0, number, chunk):
            stop = min(start + chunk, number)
            sums = sums_without(start, stop)
            for row, m in zip(found, measures, strict=True):
                row[start:stop] = m.definition.family.aggregate(m, sums, frame)
        return found

    def _from_sums(self, exact: Sequence[Part]) -> Callable[[int, int], Any]:
        """All less the sums of each part; exact, so that it depends on no order."""
        one = np.zeros(len(self.parts), np.int64)
        totals = [column.group_sums(one, 1, heavy) for _, column, heavy in exact]

        def sums_without(start: int, stop: int) -> dict[str, Floats]:
            sums: dict[str, Floats] = {}
            for (name, column, heavy), total in zip(exact, totals, strict=True):
                rest = total - column.group_sums(self.parts - start, stop - start, heavy)
                sums[name] = sums[name] + rest if name in sums else rest
            return sums

        return sums_without

    def _from_rows(self) -> Callable[[int, int], Any]:
        rows, order = self.statistics.rows(self.statistic), self.statistics.order
        weights = self.statistics.weights

        def sums_without(start: int, stop: int) -> dict[str, Any]:
            heavy = (self.parts != np.arange(start, stop)[:, None]).astype(np.float64)
            heavy *= 1.0 if weights is None else weights
            return {"rows": rows, "weights": heavy, "order": order}

        return sums_without
