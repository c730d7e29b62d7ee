"""Bootstrap intervals: weighted sums of rows aggregated again, never a metric computed again.

Conventions
-----------
A resample draws as many items as there are, with replacement; its weights are drawn once and used
for all measures and systems. Items are drawn in the order of their ids' hashes, so an interval
does not depend on the order of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats
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
    values = np.empty((len(measures), bootstrap.resamples))
    done = 0
    for counts in _weights(statistics, bootstrap, _chunk(statistics)):
        sums = {
            s: _resampled(s, statistics.rows(s), counts, statistics) for s in set(needed.values())
        }
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


def _weights(
    statistics: Statistics, bootstrap: Bootstrap, chunk: int
) -> Iterator[NDArray[np.uint16]]:
    """Counts of shape (up to ``chunk`` resamples, items): how often each item was drawn."""
    n = len(statistics)
    order = np.argsort(statistics.hashes, kind="stable")
    generator = np.random.default_rng(bootstrap.seed)
    for start in range(0, bootstrap.resamples, chunk):
        size = min(chunk, bootstrap.resamples - start)
        counts = np.empty((size, n), np.uint16)
        for row in counts:
            row[order] = np.bincount(generator.integers(0, n, n), minlength=n)
        yield counts


def _resampled(
    statistic: Statistic, columns: Any, counts: NDArray[np.uint16], statistics: Statistics
) -> dict[str, Any]:
    if not statistic.additive:
        weights = counts.astype(np.float64)
        if statistics.weights is not None:
            weights *= statistics.weights
        return {"rows": columns, "weights": weights}
    total: dict[str, Floats] = {}
    for start in range(0, len(statistics), _BLOCK):
        stop = min(start + _BLOCK, len(statistics))
        # by item in memory, as the sparse product reads it
        weights = counts[:, start:stop].astype(np.float64, order="F")
        if statistics.weights is not None:
            weights *= statistics.weights[start:stop]
        for name, column in columns.items():
            part = column.rows(start, stop).resample(weights)
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
