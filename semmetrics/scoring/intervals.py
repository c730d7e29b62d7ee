"""Bootstrap intervals: weighted sums of rows aggregated again, never a metric computed again.

Conventions
-----------
A resample draws as many items as there are, with replacement; its weights are drawn once and used
for all measures and systems. Items are drawn in the order of their ids' hashes, so an interval
does not depend on the order of the input. Several captions of one image are drawn together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Column, Dense
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.statistics import Statistics

__all__ = ["Bootstrap", "Interval", "intervals"]

_BLOCK = 1 << 15
_MEMORY = 1 << 26


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made: percentile bootstrap over items.

    Attributes
    ----------
    level : float
        In (0, 1).
    resamples, seed : int
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 12345

    def __post_init__(self) -> None:
        for name, kinds in (("level", (float,)), ("resamples", (int,)), ("seed", (int,))):
            value = getattr(self, name)
            value = value.item() if isinstance(value, np.generic) else value
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise InputError(f"{name}={value!r}", remedy="give a number such as the default")
            object.__setattr__(self, name, value)
        if not 0 < self.level < 1:
            raise InputError(f"level={self.level} is not between 0 and 1")
        if self.resamples < 2:
            raise InputError(f"resamples={self.resamples} is less than 2")
        if self.seed < 0:
            raise InputError(f"seed={self.seed} is negative")

    def __str__(self) -> str:
        return f"percentile,{self.level},{self.resamples},{self.seed}"


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        nan where no resample has a value.
    bootstrap : Bootstrap
    undefined : int
        Resamples in which the measure had no value; they are left out.
    """

    low: float
    high: float
    bootstrap: Bootstrap
    undefined: int = 0


def intervals(
    statistics: Statistics,
    measures: Sequence[Measure],
    frame: Frame,
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> list[Interval]:
    """Percentile intervals of all measures from one set of resamples.

    Parameters
    ----------
    statistics : Statistics
        With rows.
    measures : sequence of Measure
    frame : Frame
    bootstrap : Bootstrap
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    list of Interval, one a measure

    Raises
    ------
    InputError
        If rows were not kept.
    """
    needed = {m: m.definition.family.statistic(m) for m in measures}
    order = statistics.order
    draws = _Draws.of(statistics)
    exact = {
        s: [
            (name, part, weights)
            for name, column in statistics.rows(s).items()
            for part, weights in _exact(column, statistics.weights, draws.most)
        ]
        for s in set(needed.values())
        if s.additive
    }
    values = np.empty((len(measures), bootstrap.resamples))
    done = 0
    for counts in draws.counts(bootstrap, _chunk(statistics)):
        sums: dict[Statistic, Any] = {s: _resampled(parts, counts) for s, parts in exact.items()}
        for s in set(needed.values()) - set(exact):
            heavy = counts.astype(np.float64)
            heavy *= 1.0 if statistics.weights is None else statistics.weights
            sums[s] = {"rows": statistics.rows(s), "weights": heavy, "order": order}
        for place, m in enumerate(measures):
            part = m.definition.family.aggregate(m, sums[needed[m]], frame)
            values[place, done : done + len(counts)] = part
        done += len(counts)
        if progress is not None:
            progress(done, bootstrap.resamples)
    return [_interval(row, bootstrap) for row in values]


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
    number : int
        How many are drawn.
    most : int
        How many items a resample can have.
    """

    place: Ints
    number: int
    most: int

    @staticmethod
    def of(statistics: Statistics) -> _Draws:
        """Items where there are no groups."""
        if statistics.groups is None:
            place = np.empty(len(statistics), np.int64)
            place[statistics.order] = np.arange(len(statistics))
            return _Draws(place, len(place), len(place))
        groups, place, sizes = np.unique(statistics.groups, return_inverse=True, return_counts=True)
        return _Draws(place.ravel(), len(groups), len(groups) * int(sizes.max()))

    def counts(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint16]]:
        """How often each item is drawn, shape (up to ``chunk`` resamples, items)."""
        generator, n = np.random.default_rng(bootstrap.seed), self.number
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


def _resampled(
    parts: Sequence[tuple[str, Column, Floats | None]], counts: NDArray[np.uint16]
) -> dict[str, Floats]:
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


def _interval(values: Floats, bootstrap: Bootstrap) -> Interval:
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if not len(defined):
        return Interval(float("nan"), float("nan"), bootstrap, undefined)
    tail = (1 - bootstrap.level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high), bootstrap, undefined)
