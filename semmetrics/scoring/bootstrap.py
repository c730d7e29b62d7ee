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

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Column, Dense
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats, Ints
from semmetrics.frozen import dataclass
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.intervals import Bootstrap, Replicates, default_method
from semmetrics.scoring.statistics import Statistics

__all__ = ["replicate"]

_Part: TypeAlias = tuple[str, Column, "Floats | None"]
_BLOCK = 1 << 15
_MEMORY = 1 << 26
_PARTS, _ROW_PARTS = 1000, 100  # left out at most: of sums, and of rows, which cost more


def replicate(
    statistics: Statistics,
    measures: Sequence[Measure],
    points: Sequence[float],
    frame: Frame,
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> list[Replicates]:
    """Compute the replicates of all measures from one set of resamples, and their jackknife.

    Parameters
    ----------
    statistics : Statistics
        With rows.
    measures : sequence of Measure
    points : sequence of float
        Their values.
    frame : Frame
    bootstrap : Bootstrap
        Its level and method are not used.
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    list of Replicates, one a measure

    Raises
    ------
    InputError
        If rows were not kept.
    """
    needed = {m: m.definition.family.statistic(m) for m in measures}
    draws = _Draws.of(statistics)
    exact = _exact_columns(statistics, set(needed.values()), draws.most)
    sums_of = _resampler(statistics, set(needed.values()), exact)
    values = np.empty((len(measures), bootstrap.resamples))
    done = 0
    for counts in draws.counts(bootstrap, _chunk(statistics)):
        sums = sums_of(counts)
        for place, m in enumerate(measures):
            part = m.definition.family.aggregate(m, sums[needed[m]], frame)
            values[place, done : done + len(counts)] = part
        done += len(counts)
        if progress is not None:
            progress(done, bootstrap.resamples)
    grouped, drawn = statistics.groups is not None, draws.fingerprint(bootstrap)
    without: dict[Measure, tuple[Floats, Ints]] = {}
    for s in set(needed.values()):
        left = _LeftOut.of(statistics, s, exact.get(s), draws)
        chosen = [m for m in needed if needed[m] == s]
        found = zip(chosen, left.values(chosen, frame), strict=True)
        without.update({m: (row, left.sizes) for m, row in found})
    return [
        Replicates(
            row,
            bootstrap.seed,
            statistics.unit,
            grouped,
            drawn,
            value=point,
            left_out=without[m][0],
            sizes=without[m][1],
            bounds=m.definition.bounds,
            default=default_method(m),
        )
        for m, row, point in zip(measures, values, points, strict=True)
    ]


def _exact_columns(
    statistics: Statistics, needed: set[Statistic], most: int
) -> dict[Statistic, Sequence[_Part]]:
    """Return the columns of additive statistics in parts whose resampled sums are exact."""
    return {
        s: [
            (name, part, heavy)
            for name, column in statistics.rows(s).items()
            for part, heavy in _exact(column, statistics.weights, most)
        ]
        for s in needed
        if s.additive
    }


def _resampler(
    statistics: Statistics, needed: set[Statistic], exact: Mapping[Statistic, Sequence[_Part]]
) -> Callable[[NDArray[np.uint16]], dict[Statistic, Any]]:
    """Return a function that gives what measures aggregate, in resamples of given counts."""
    order, weights = statistics.order, statistics.weights

    def sums_of(counts: NDArray[np.uint16]) -> dict[Statistic, Any]:
        sums: dict[Statistic, Any] = {s: _resampled(parts, counts) for s, parts in exact.items()}
        for s in needed - set(exact):
            heavy = counts.astype(np.float64)
            heavy *= 1.0 if weights is None else weights
            sums[s] = {"rows": statistics.rows(s), "weights": heavy, "order": order}
        return sums

    return sums_of


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
    exact: Sequence[_Part] | None
    parts: Ints
    sizes: Ints

    @staticmethod
    def of(
        statistics: Statistics, statistic: Statistic, exact: Sequence[_Part] | None, draws: _Draws
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

    def _from_sums(self, exact: Sequence[_Part]) -> Callable[[int, int], Any]:
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


def _chunk(statistics: Statistics) -> int:
    """Resamples at a time, so that weights and label sums stay within the memory budget."""
    largest = max(len(statistics) * 2, 8 * 4 * len(statistics.labels), _BLOCK * 8)
    return max(1, min(128, _MEMORY // largest))


@dataclass(frozen=True)
class _Draws:
    """What is drawn: items, or groups of items together.

    Attributes
    ----------
    place : int array, shape (items,)
        The place of each item, or of its group, among those drawn: by rising hash, which no
        permutation or split changes.
    most : int
        How many items a resample can have.
    hashes : uint64 array
        Of what can be drawn, rising.
    """

    place: Ints
    most: int
    hashes: Hashes

    @staticmethod
    def of(statistics: Statistics) -> _Draws:
        """Items where there are no groups."""
        if statistics.groups is None:
            order = statistics.order
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            return _Draws(place, len(place), statistics.hashes[order])
        groups, place, sizes = np.unique(statistics.groups, return_inverse=True, return_counts=True)
        return _Draws(place.ravel(), len(groups) * int(sizes.max()), groups)

    def fingerprint(self, bootstrap: Bootstrap) -> str:
        """Return sixteen hex digits of a hash of all that decides the weights."""
        hashed = hashlib.blake2b(f"{bootstrap.seed},{bootstrap.resamples},".encode(), digest_size=8)
        hashed.update(self.hashes.astype("<u8").tobytes())
        return hashed.hexdigest()

    def counts(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint16]]:
        """How often each item is drawn, shape (up to ``chunk`` resamples, items)."""
        generator, n = np.random.default_rng(bootstrap.seed), len(self.hashes)
        for start in range(0, bootstrap.resamples, chunk):
            counts = np.empty((min(chunk, bootstrap.resamples - start), len(self.place)), np.uint16)
            for row in counts:
                row[:] = np.bincount(generator.integers(0, n, n), minlength=n)[self.place]
            yield counts


def _exact(column: Any, weights: Floats | None, most: int) -> list[tuple[Column, Floats | None]]:
    """Columns, with item weights, that add up to the column and whose resampled sums are exact."""
    if hasattr(column, "values"):
        values = column.values.astype(np.float64)
        parts = _grids(values if weights is None else values * weights, most)
        return [(Dense(part), None) for part in parts]
    return (
        [(column, None)] if weights is None else [(column, part) for part in _grids(weights, most)]
    )


def _grids(values: Floats, most: int) -> list[Floats]:
    """Two parts, on a coarse and a fine grid of powers of two; their sum is the values.

    No more than ``most`` items are drawn, so that all sums of either part are whole multiples of
    its grid that a float64 holds: they are the same in any order.
    """
    bits = 52 - most.bit_length()
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    parts, rest = [], values
    for shift in (bits - exponent, 2 * bits - exponent):
        part = np.ldexp(np.rint(np.ldexp(rest, shift)), -shift)
        parts.append(part)
        rest = rest - part
        if not rest.any():
            break
    return parts


def _resampled(parts: Sequence[_Part], counts: NDArray[np.uint16]) -> dict[str, Floats]:
    sums: list[Any] = [0.0] * len(parts)
    for start in range(0, counts.shape[1], _BLOCK):
        stop = min(start + _BLOCK, counts.shape[1])
        # by item in memory, as the sparse product reads it
        drawn = counts[:, start:stop].astype(np.float64, order="F")
        for place, (_, column, weights) in enumerate(parts):
            heavy = drawn if weights is None else drawn * weights[start:stop]
            sums[place] = sums[place] + column.rows(start, stop).resample(heavy)
    total: dict[str, Floats] = {}
    for (name, _, _), part in zip(parts, sums, strict=True):
        total[name] = total[name] + part if name in total else part
    return total
