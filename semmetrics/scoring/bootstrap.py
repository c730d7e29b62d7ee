"""Bootstrap replicates: weighted sums of rows aggregated again, never a metric computed again.

Conventions
-----------
A resample draws as many items as there are, with replacement. Its weights depend on the ids of the
items, the seed and the number of resamples alone, so the replicates of all measures, systems and
parts that have the same items are paired: the first belongs to the first, and so on. Items are
drawn in the order of their ids' hashes, so the order of the input changes nothing. Several
captions of one image are drawn together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import checked
from semmetrics.core.columns import Column, Dense
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError, brief
from semmetrics.frozen import dataclass
from semmetrics.kinds.description import finite_or_none
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.statistics import Statistics

__all__ = ["Bootstrap", "Interval", "Replicates", "replicate"]

_BLOCK = 1 << 15
_MOST = 1_000_000  # resamples: the digits of their limits do not change any more
_MEMORY = 1 << 26


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made: percentile bootstrap over items.

    Attributes
    ----------
    level : float
        In (0, 1).
    resamples, seed : int
        From 2 to 1,000,000 resamples; a seed from 0.
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
        if self.resamples > _MOST:
            raise InputError(f"resamples={brief(self.resamples)} is more than {_MOST:,}")
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

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as JSON has it: null for what is undefined."""
        return {
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "level": self.bootstrap.level,
            "method": "percentile",
            "resamples": self.bootstrap.resamples,
            "seed": self.bootstrap.seed,
            "undefined": self.undefined,
        }


@dataclass(frozen=True, eq=False)
class Replicates:
    """The value of a measure in each resample; immutable.

    Attributes
    ----------
    values : float64 array, shape (resamples,)
        Read-only; nan where the measure has no value in a resample.
    seed : int
    unit : str
        What an item is.
    grouped : bool
        Whether items are drawn in groups, as the captions of one image.
    drawn : str
        A hash of the weights. Replicates with equal hashes are paired: a difference of their
        values, or a formula on them, is itself a set of replicates.
    method : str
        "multinomial": as many items are drawn as there are, with replacement.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["dog"]], [["cat"], ["car"]], measures="F1", ci=True)
    >>> replicates = table["F1"].replicates
    >>> interval = replicates.interval(level=0.9)
    >>> len(replicates), interval.low, interval.high
    (1000, 0.0, 1.0)
    """

    values: Floats = field(repr=False)
    seed: int
    unit: str
    grouped: bool
    drawn: str
    method: str = "multinomial"

    def __post_init__(self) -> None:
        # a copy, so that one measure's replicates do not keep those of all others in memory
        values = np.array(self.values, np.float64)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    @checked
    def interval(self, level: float = 0.95, method: str = "percentile") -> Interval:
        """Return a confidence interval, from the resamples that have a value.

        Parameters
        ----------
        level : float
            In (0, 1).
        method : {"percentile"}
            The quantiles that leave out equal shares below and above.

        Raises
        ------
        InputError
            If the level is not between 0 and 1, or the method is not known.
        """
        bootstrap = Bootstrap(level, len(self), self.seed)
        if method != "percentile":
            raise InputError(f"method={method!r}", remedy="choose 'percentile'")
        defined = self.values[~np.isnan(self.values)]
        low = high = float("nan")
        if len(defined):
            tail = (1 - bootstrap.level) / 2
            low, high = np.quantile(defined, [tail, 1 - tail]).tolist()
        return Interval(low, high, bootstrap, len(self) - len(defined))


def replicate(
    statistics: Statistics,
    measures: Sequence[Measure],
    frame: Frame,
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> list[Replicates]:
    """Compute the replicates of all measures from one set of resamples.

    Parameters
    ----------
    statistics : Statistics
        With rows.
    measures : sequence of Measure
    frame : Frame
    bootstrap : Bootstrap
        Its level is not used.
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
    sums_of = _resampler(statistics, set(needed.values()), draws.most)
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
    return [Replicates(row, bootstrap.seed, statistics.unit, grouped, drawn) for row in values]


def _resampler(
    statistics: Statistics, needed: set[Statistic], most: int
) -> Callable[[NDArray[np.uint16]], dict[Statistic, Any]]:
    """Return a function that gives what measures aggregate, in resamples of given counts."""
    order, weights = statistics.order, statistics.weights
    exact = {
        s: [
            (name, part, heavy)
            for name, column in statistics.rows(s).items()
            for part, heavy in _exact(column, weights, most)
        ]
        for s in needed
        if s.additive
    }

    def sums_of(counts: NDArray[np.uint16]) -> dict[Statistic, Any]:
        sums: dict[Statistic, Any] = {s: _resampled(parts, counts) for s, parts in exact.items()}
        for s in needed - set(exact):
            heavy = counts.astype(np.float64)
            heavy *= 1.0 if weights is None else weights
            sums[s] = {"rows": statistics.rows(s), "weights": heavy, "order": order}
        return sums

    return sums_of


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
