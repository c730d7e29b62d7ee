"""Replicates and jackknife: exact sums of rows under drawn weights, aggregated again.

Conventions
-----------
What is drawn stands in the order of its hashes, so the order of the input changes nothing. Numbers
are cut into parts on grids of powers of two, whose sums are exact in any order; the sums of all
columns of all systems are one matrix product. Counts of labels are sparse products.

A resample draws as many items as there are, with replacement. Its weights depend on the ids of the
items, the seed and the number of resamples alone, so the replicates of all measures, systems and
parts that have the same items are paired: the first belongs to the first, and so on. Several
captions of one image are drawn together.

By ``poisson`` each item is drawn by itself, as often as a hash of the seed, the resample and its id
says. Sums under these weights add up over parts of the data, exactly, so items need not be kept.

The jackknife leaves out one item, or group, after the other. Many are left out in parts of equal
size: neighbours in the order of hashes, so chosen at random.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import (
    Coded,
    Column,
    Dense,
    OneHot,
    Sparse,
    as_floats,
    exact_sums,
)
from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import Floats, Ints, offsets, row_numbers
from semmetrics.data.source import ahead
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import POISSON, Bootstrap, Replicates, default_method
from semmetrics.scoring.statistics import Statistics, merged_labels

Part: TypeAlias = tuple[str, Column, "Floats | None"]
_Own: TypeAlias = dict[str, Any]  # fields of a measure's replicates
_BLOCK = 1 << 15
_CELLS = 1 << 12  # of what is drawn, summed at a time: they stay in a processor's cache
_MEMORY = 1 << 26
# items and resamples of one chunk, where items are few
_TOGETHER, _MOST = (
    1 << 20,
    1024,
)
# below it sums of whole numbers are exact in float32, too, at half the cost
_WHOLE = 1 << 24
# left out at most: of sums, and of rows, which cost more
_PARTS, _ROW_PARTS = (
    1000,
    100,
)
_KEPT = 1 << 30  # bytes of the sums of resamples
# how often an item is drawn, by 16 bits of a hash: Poisson numbers with mean 1, variance 1.0002
_SHARES = (24110, 24109, 12055, 4017, 1005, 201, 33, 5, 1)
_TIMES = np.repeat(np.arange(len(_SHARES), dtype=np.uint8), _SHARES)
_MOST_TIMES = len(_SHARES) - 1


def chunk_size(systems: Sequence[Statistics]) -> int:
    """Return how many resamples are taken at a time, so that memory stays within the budget."""
    items, labels = len(systems[0]), sum(len(one.labels) for one in systems)
    largest = max(items * 2, 8 * 4 * labels, min(items, _BLOCK) * 8, 1)
    return max(1, min(_MOST, max(128, _TOGETHER // max(items, 1)), _MEMORY // largest))


@dataclass(frozen=True)
class Draws:
    """What is drawn: items, or groups of items together.

    Attributes
    ----------
    place : int array, shape (items,)
        The place of each item, or of its group, among those drawn: by rising hash, which no
        permutation or split changes.
    most : int
        How many items a resample can have, drawn as often as there are.
    hashes : uint64 array
        Of what can be drawn, rising.
    """

    place: Ints
    most: int
    hashes: Hashes

    @staticmethod
    def of(statistics: Statistics) -> Draws:
        """Items where there are no groups."""
        if statistics.groups is None:
            return Draws.of_hashes(statistics.hashes)
        groups, place, sizes = np.unique(
            statistics.groups, return_inverse=True, return_counts=True
        )
        return Draws(place.ravel(), len(groups) * int(sizes.max()), groups)

    @staticmethod
    def of_hashes(hashes: Hashes) -> Draws:
        """Whatever has these hashes, each by itself."""
        order = np.argsort(hashes, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return Draws(place, len(place), hashes[order])

    def fingerprint(self, bootstrap: Bootstrap) -> str:
        """Return sixteen hex digits of a hash of all that decides the weights."""
        hashed = hashlib.blake2b(
            f"{bootstrap.seed},{bootstrap.resamples},".encode(), digest_size=8
        )
        hashed.update(self.hashes.astype("<u8").tobytes())
        return hashed.hexdigest()

    def counts(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[Any]]:
        """Draw as many as there are, or each by itself: shape (up to ``chunk``, drawn)."""
        if bootstrap.method == POISSON:
            yield from self._poisson(bootstrap, chunk)
            return
        generator, n = np.random.default_rng(bootstrap.seed), len(self.hashes)
        together = max(1, _BLOCK // max(n, 1))
        for start in range(0, bootstrap.resamples, chunk):
            counts = np.empty((min(chunk, bootstrap.resamples - start), n), np.uint16)
            for first in range(0, len(counts), together):
                rows = counts[first : first + together]
                drawn = generator.integers(0, n, rows.shape)  # the same as row by row
                drawn += n * np.arange(len(rows))[:, None]
                rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(
                    rows.shape
                )
            yield counts

    def _poisson(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint8]]:
        """Draw each by itself; a hash has 16 bits for each of four resamples."""
        seed = np.array([bootstrap.seed % (1 << 64)], np.uint64)
        words = mix(np.arange(-(-bootstrap.resamples // 4))) ^ mix(seed)
        each = max(1, chunk // 4)
        for start in range(0, len(words), each):
            counts = np.empty(
                (len(words[start : start + each]), 4, len(self.hashes)), np.uint8
            )
            for rows, word in zip(counts, words[start:], strict=False):
                bits = mix(self.hashes ^ word).astype("<u8").view("<u2").reshape(-1, 4)
                rows[:] = _TIMES.take(bits).T
            yield counts.reshape(-1, len(self.hashes))[
                : bootstrap.resamples - 4 * start
            ]

    def coins(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint8]]:
        """Draw 0 or 1 for each, as likely: shape (up to ``chunk``, drawn)."""
        generator, n = np.random.default_rng(bootstrap.seed), len(self.hashes)
        for start in range(0, bootstrap.resamples, chunk):
            number = min(chunk, bootstrap.resamples - start)
            rows = [
                np.frombuffer(generator.bytes(-(-n // 8)), np.uint8)
                for _ in range(number)
            ]
            yield np.unpackbits(np.stack(rows), axis=1, count=n)

    @property
    def are_many(self) -> bool:
        """Whether drawing some chunks of them takes longer than handing them over."""
        return len(self.hashes) >= _BLOCK

    def added(self, values: Floats) -> Floats:
        """Sum the values of items that are drawn together."""
        return np.asarray(np.bincount(self.place, values, len(self.hashes)), np.float64)

    def gathered(
        self, column: Sparse, weights: Floats | None
    ) -> tuple[Sparse, Floats | None]:
        """Gather the labels of items that are drawn together, and the weight of each."""
        items = row_numbers(column.indptr)
        drawn = self.place[items]
        order = np.argsort(drawn, kind="stable")
        indptr = offsets(np.bincount(drawn, minlength=len(self.hashes)))
        gathered = Sparse(indptr, column.codes[order], column.width)
        return gathered, None if weights is None else weights[items][order]


class _Group(NamedTuple):
    """Columns of a stack that are summed in one type, below each other.

    Attributes
    ----------
    places : list of int
        Where each column is in the stack.
    blocks : list of arrays, shape (rows, some of what is drawn)
    kind : data type
    ends : int array, shape (columns,), or None
        The end of the rows of each column of labels; None for vectors, of one row each.
    """

    places: list[int]
    blocks: list[Any]
    kind: Any
    ends: Ints | None = None


class Stack:
    """Columns of what is drawn, which are summed together; equal ones once.

    Whole numbers whose sums float32 holds are summed in it: vectors where all are, as a second
    product takes longer. All columns are added before the first product.

    Parameters
    ----------
    times : int
        As often as there are items, so many times may be drawn.
    """

    def __init__(self, times: int = 1) -> None:
        self.times = times
        self._columns: list[Any] = []
        self._known: dict[bytes, int] = {}

    def add(self, vector: Floats) -> int:
        """Keep a vector, and return its place."""
        place = self._known.setdefault(_hash(vector), len(self._columns))
        if place == len(self._columns):
            self._columns.append(vector)
        return place

    def add_labels(self, column: Sparse, weights: Floats | None) -> int:
        """Keep a column of labels, each weighted where weights are given; return its place."""
        from scipy.sparse import csc_array

        some = [] if weights is None else [weights]
        key = _hash(column.indptr, column.codes, np.array(column.width), *some)
        place = self._known.setdefault(key, len(self._columns))
        if place == len(self._columns):
            most = len(column) * int(np.diff(column.indptr).max(initial=0))
            small = weights is None and most * self.times < _WHOLE
            kind = np.float32 if small else np.float64
            data = np.ones(len(column.codes), kind) if weights is None else weights
            shape = column.width, len(column)
            self._columns.append(
                csc_array((data, column.codes, column.indptr), shape=shape)
            )
        return place

    def multiply(self, counts: NDArray[Any]) -> list[Floats]:
        """Return the sums of each column under counts, shape (B, drawn): (B,) or (B, labels).

        No row of counts draws more than there are.
        """
        step, groups = self._groups
        sums = [np.zeros((group.blocks[0].shape[0], len(counts))) for group in groups]
        sparse = {group.kind for group in groups if group.ends is not None}
        for number, start in enumerate(range(0, counts.shape[1], step)):
            part, turned = counts[:, start : start + step].T, dict[Any, Any]()
            for group, total in zip(groups, sums, strict=True):
                kind = group.kind
                if kind not in turned:
                    turned[kind] = part.astype(kind, "C" if kind in sparse else "K")
                total += group.blocks[number] @ turned[kind]
        found: dict[int, Floats] = {}
        for group, total in zip(groups, sums, strict=True):
            parts = total if group.ends is None else np.split(total, group.ends[:-1])
            each = (np.ascontiguousarray(part.T) for part in parts)
            found.update(zip(group.places, each, strict=True))
        return [found[place] for place in range(len(found))]

    @cached_property
    def _groups(self) -> tuple[int, list[_Group]]:
        """All columns by the type in which they are summed, in blocks; and the size of a block."""
        vectors: dict[int, Floats] = {}
        labels: dict[Any, dict[int, Any]] = {}
        for place, column in enumerate(self._columns):
            some = labels.setdefault(column.dtype, {}) if column.ndim > 1 else vectors
            some[place] = column
        self._columns.clear()  # held once
        # or the number of labels, whose sums each block adds to
        step = max(
            _CELLS,
            sum(one.shape[0] for some in labels.values() for one in some.values()),
        )
        groups = []
        if vectors:
            small = all(
                (one == np.rint(one)).all()
                and np.abs(one).max(initial=0) * len(one) * self.times < _WHOLE
                for one in vectors.values()
            )
            kind = np.dtype(np.float32 if small else np.float64)
            table = np.array([*vectors.values()], kind)
            blocks = [
                table[:, start : start + step]
                for start in range(0, table.shape[1], step)
            ]
            groups.append(_Group([*vectors], blocks, kind))
        for kind, some in labels.items():
            from scipy.sparse import vstack

            whole: Any = vstack([*some.values()], format="csc")
            blocks = [
                whole[:, start : start + step]
                for start in range(0, whole.shape[1], step)
            ]
            ends = np.cumsum([one.shape[0] for one in some.values()])
            groups.append(_Group([*some], blocks, kind, ends))
        return step, groups


def _hash(*arrays: NDArray[Any]) -> bytes:
    hashed = hashlib.blake2b(digest_size=16)
    for array in arrays:
        hashed.update(f"{array.dtype}{array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.digest()


@dataclass(frozen=True, repr=False)
class _Term:
    """A sum, or a category's share of it, as one column's sum less those of others."""

    statistic: Statistic
    name: str
    plus: int
    minus: tuple[int, ...] = ()
    category: int = 0
    width: int = 0


class WeightedSums:
    """What measures of one system aggregate, under weights of what is drawn.

    Parameters
    ----------
    statistics : Statistics
        With rows.
    needed : iterable of Statistic
    draws : Draws
    stack : Stack
        Where columns are put.

    Attributes
    ----------
    exact : mapping from additive statistic to its columns in parts whose sums are exact

    Raises
    ------
    InputError
        If rows were not kept.
    """

    def __init__(
        self,
        statistics: Statistics,
        needed: Iterable[Statistic],
        draws: Draws,
        stack: Stack,
    ) -> None:
        self.statistics, self.draws = statistics, draws
        self.exact: dict[Statistic, list[Part]] = {}
        self._rows: list[Statistic] = []
        self._terms: list[_Term] = []
        most, weights = draws.most * stack.times, statistics.weights
        grids = [None] if weights is None else _grids(weights, most)
        for s in dict.fromkeys(needed):
            if not s.additive:
                self._rows.append(s)
                continue
            exact = self.exact[s] = []
            for name, column in statistics.rows(s).items():
                if isinstance(column, (Dense, Coded)):
                    parts = _grids(column.values * statistics.item_weights, most)
                    exact += [(name, Dense(part), None) for part in parts]
                else:
                    exact += [(name, column, grid) for grid in grids]
            for name, column, item_weights in exact:
                if isinstance(column, OneHot):
                    self._add_categories(s, name, column, item_weights, stack)
                elif isinstance(column, Dense):
                    self._terms.append(
                        _Term(s, name, stack.add(draws.added(column.values)))
                    )
                else:
                    labels: Any = column
                    place = stack.add_labels(*draws.gathered(labels, item_weights))
                    self._terms.append(_Term(s, name, place))

    def _add_categories(
        self,
        s: Statistic,
        name: str,
        column: OneHot,
        item_weights: Floats | None,
        stack: Stack,
    ) -> None:
        """Sum each category but the commonest, which is all less the others."""
        ones = np.ones(len(column)) if item_weights is None else item_weights
        counts, width = np.bincount(column.codes, minlength=column.width), column.width
        common = int(counts.argmax())
        places = {
            c: stack.add(self.draws.added(np.where(column.codes == c, ones, 0.0)))
            for c in np.flatnonzero(counts).tolist()
            if c != common
        }
        every, rest = stack.add(self.draws.added(ones)), tuple(places.values())
        self._terms += [
            _Term(s, name, place, (), c, width) for c, place in places.items()
        ]
        self._terms.append(_Term(s, name, every, rest, common, width))

    def sums(
        self, counts: NDArray[Any], product: Sequence[Floats], *, exact: bool = False
    ) -> dict[Statistic, Any]:
        """Return what each statistic's measures aggregate.

        Parameters
        ----------
        counts : int array, shape (B, drawn)
            At most 2**16.
        product : sequence of arrays
            Of the stack, with these counts.
        exact : bool
            Whether sums that `Statistics.sums` has in the units of `exact_sums` are in these units,
            too. Otherwise they are the nearest floats.
        """
        total: dict[Statistic, Any] = {s: {} for s in self.exact}
        for term in self._terms:
            sums = total[term.statistic]
            part: NDArray[Any] = product[term.plus]
            for place in term.minus:
                part = part - product[place]
            if (
                exact
                and self.statistics.sums[term.statistic][term.name].dtype == object
            ):
                part = exact_sums(
                    part.ravel(), np.arange(part.size), part.size
                ).reshape(part.shape)
            if term.width:
                cells = sums.setdefault(
                    term.name, np.zeros((len(counts), term.width), part.dtype)
                )
                cells[:, term.category] += part
            else:
                sums[term.name] = sums[term.name] + part if term.name in sums else part
        if self._rows:
            item_weights = counts[:, self.draws.place].astype(np.float64)
            item_weights *= self.statistics.item_weights
            order = self.statistics.order
            for s in self._rows:
                rows = self.statistics.rows(s)
                total[s] = {"rows": rows, "weights": item_weights, "order": order}
        return total


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


def resampled_by(bootstrap: Bootstrap) -> str:
    """Return what decides the weights of items by ``poisson``, beside their ids."""
    return f"{POISSON},{bootstrap.resamples},{bootstrap.seed}"


def _check_size(statistics: Statistics, labels: int, resamples: int) -> None:
    """Refuse more sums of resamples than a GiB holds; says how many resamples fit."""
    width = sum(
        labels if name in s.labels else one.size
        for s, sums in statistics.sums.items()
        for name, one in sums.items()
    )
    if 8 * width * resamples > _KEPT:
        raise InputError("too-many-resamples", sums=width, fit=_KEPT // (8 * width))


def check_added(one: Statistics, other: Statistics) -> None:
    """Refuse sums of resamples that would take too much when added."""
    if one.resampled:
        labels, resamples = (
            len(merged_labels([one, other])),
            int(one.resampled.split(",")[1]),
        )
        _check_size(one, labels, resamples)


def with_resamples(statistics: Statistics, bootstrap: Bootstrap) -> Statistics:
    """Return statistics with the sums of their rows in each resample by ``poisson``.

    Parameters
    ----------
    statistics : Statistics
        With rows, all additive.
    bootstrap : Bootstrap
    """
    _check_size(statistics, len(statistics.labels), bootstrap.resamples)
    draws, stack = Draws.of(statistics), Stack(_MOST_TIMES)
    weighted = WeightedSums(statistics, statistics.sums, draws, stack)
    found: dict[Statistic, dict[str, Any]] = {s: {} for s in statistics.sums}
    for counts in draws.counts(bootstrap, chunk_size([statistics])):
        product = stack.multiply(counts)
        for s, sums in weighted.sums(counts, product, exact=True).items():
            for name, part in sums.items():
                found[s].setdefault(name, []).append(part)
    for sums in found.values():
        sums.update({name: np.concatenate(parts) for name, parts in sums.items()})
    n, how = len(draws.hashes), resampled_by(bootstrap)
    return replace(statistics, resamples=found, resampled=how, n_drawn=n)


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A system whose measures are computed in each resample.

    Attributes
    ----------
    statistics : Statistics
        With rows, or with the sums of each resample.
    frame : Frame
    points : mapping from measure to value
    """

    statistics: Statistics
    frame: Frame
    points: Mapping[Measure, float]

    @cached_property
    def draws(self) -> Draws:
        """What is drawn of its items."""
        return Draws.of(self.statistics)

    @cached_property
    def needed(self) -> dict[Measure, Statistic]:
        """The statistic of each measure."""
        return {m: m.definition.family.statistic(m) for m in self.points}


def replicate(
    systems: Sequence[Subject], bootstrap: Bootstrap, progress: Progress = None
) -> list[dict[Measure, Replicates]]:
    """Compute the replicates of all measures of systems, and their jackknife.

    Systems that have the same items share one set of resamples.

    Parameters
    ----------
    systems : sequence of Subject
    bootstrap : Bootstrap
        Its level is not used, and of its method whether it is "poisson", which has no jackknife.
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    list of dict from measure to Replicates, one a system

    Raises
    ------
    InputError
        If rows were not kept.
    """
    by_draws: dict[str, list[int]] = {}
    found: dict[int, dict[Measure, Replicates]] = {}
    for place, one in enumerate(systems):
        if (sums := one.statistics.resamples) is None:
            by_draws.setdefault(one.draws.fingerprint(bootstrap), []).append(place)
            continue
        values = [
            m.definition.family.aggregate(m, sums[s], one.frame)
            for m, s in one.needed.items()
        ]
        found[place] = _made(one, values, bootstrap, _of_poisson(one, bootstrap))
    for drawn, places in by_draws.items():
        some = [systems[place] for place in places]
        found.update(
            zip(places, _replicate_alike(some, bootstrap, drawn, progress), strict=True)
        )
    return [found[place] for place in range(len(systems))]


def _replicate_alike(
    systems: Sequence[Subject], bootstrap: Bootstrap, drawn: str, progress: Progress
) -> list[dict[Measure, Replicates]]:
    """Compute the replicates of systems that have the same items."""
    poisson = bootstrap.method == POISSON
    stack = Stack(_MOST_TIMES if poisson else 1)
    weighted = [
        WeightedSums(one.statistics, one.needed.values(), one.draws, stack)
        for one in systems
    ]
    values = [np.empty((len(one.points), bootstrap.resamples)) for one in systems]
    done, chunk = 0, chunk_size([one.statistics for one in systems])
    draws = systems[0].draws
    for counts in ahead(draws.counts(bootstrap, chunk), worth=draws.are_many):
        product = stack.multiply(counts)
        for rows, one, of in zip(values, systems, weighted, strict=True):
            sums = of.sums(counts, product)
            for row, (m, s) in zip(rows, one.needed.items(), strict=True):
                part = m.definition.family.aggregate(m, sums[s], one.frame)
                row[done : done + len(counts)] = part
        done += len(counts)
        report_progress(progress, done, bootstrap.resamples, "bootstrap", "resample")
    each = zip(systems, weighted, values, strict=True)
    return [
        _made(
            one,
            rows,
            bootstrap,
            _of_poisson(one, bootstrap) if poisson else _of_jackknife(one, of, drawn),
        )
        for one, of, rows in each
    ]


def _made(
    one: Subject,
    values: Iterable[Floats],
    bootstrap: Bootstrap,
    own: Mapping[Measure, _Own],
) -> dict[Measure, Replicates]:
    """Return the replicates of a system's measures, a row a measure."""
    unit, grouped = one.statistics.unit, one.statistics.groups is not None
    return {
        m: Replicates(
            row,
            bootstrap.seed,
            unit,
            grouped,
            value=point,
            bounds=m.definition.bounds,
            default=default_method(m),
            **own[m],
        )
        for (m, point), row in zip(one.points.items(), values, strict=True)
    }


def _of_poisson(one: Subject, bootstrap: Bootstrap) -> dict[Measure, _Own]:
    """Return how each measure is resampled, and how many items there are, and have a value."""
    n, found = one.statistics.n_drawn or len(one.draws.hashes), {}
    shared = {
        "method": POISSON,
        "drawn": resampled_by(bootstrap),
        "sizes": np.array([n]),
    }
    for m, s in one.needed.items():
        sums = one.statistics.sums.get(s, {})
        counts = sums.get("cause_items", sums.get("cause", np.array([n])))
        found[m] = {**shared, "items": float(as_floats(counts)[0])}
    return found


def _of_jackknife(
    one: Subject, weighted: WeightedSums, drawn: str
) -> dict[Measure, _Own]:
    """Return the values of each measure without each part, and how many items have a value."""
    found = {}
    for s in dict.fromkeys(one.needed.values()):
        chosen = [m for m in one.needed if one.needed[m] == s]
        rows, sizes = _leave_out(one, s, chosen, weighted.exact.get(s))
        for m, row in zip(chosen, rows, strict=True):
            items = _items(one, m) if one.points[m] in m.definition.bounds else 0.0
            found[m] = {"drawn": drawn, "left_out": row, "sizes": sizes, "items": items}
    return found


def _items(one: Subject, measure: Measure) -> float:
    """Count the items, or groups, with a value: as many as weigh alike (Kish 1965); 0 unknown."""
    rows = one.statistics.rows(one.needed[measure])
    values = measure.definition.family.items(measure, rows, one.frame)
    if values is None:
        return 0.0
    item_weights = one.statistics.item_weights
    drawn = one.draws.added(
        np.where(np.isnan(values), 0.0, item_weights / item_weights.max())
    )
    return float(drawn.sum() ** 2 / (drawn**2).sum()) if drawn.any() else 0.0


def _leave_out(
    one: Subject,
    statistic: Statistic,
    measures: Sequence[Measure],
    exact: Sequence[Part] | None,
) -> tuple[Floats, Ints]:
    """Return the values without each part, a row a measure, and how many each part has.

    Parts are neighbours by hash among what can be drawn; nan where nothing is left. All less the
    sums of a part is exact, so that it depends on no order; of a statistic that is not additive
    (``exact`` is None) rows are weighted.
    """
    statistics, draws, n = one.statistics, one.draws, len(one.draws.hashes)
    number = min(n, _ROW_PARTS if exact is None else _PARTS)
    of_drawn = np.arange(n) * number // n
    sizes, parts = np.bincount(of_drawn), of_drawn[draws.place]
    found = np.full((len(measures), number), np.nan)
    if number == 1:
        return found, sizes
    whole, order = np.zeros(len(parts), np.int64), statistics.order
    totals = [
        column.group_sums(whole, 1, weights) for _, column, weights in exact or ()
    ]
    each = len(parts) if exact is None else 4 * len(statistics.labels)
    chunk = max(1, _MEMORY // (8 * max(each, 1)))
    for start in range(0, number, chunk):
        stop, sums = min(start + chunk, number), dict[str, Any]()
        if exact is None:
            left = (parts != np.arange(start, stop)[:, None]) * statistics.item_weights
            sums = {"rows": statistics.rows(statistic), "weights": left, "order": order}
        for (name, column, weights), total in zip(exact or (), totals, strict=True):
            rest = total - column.group_sums(parts - start, stop - start, weights)
            sums[name] = sums[name] + rest if name in sums else rest
        for row, m in zip(found, measures, strict=True):
            row[start:stop] = m.definition.family.aggregate(m, sums, one.frame)
    return found, sizes
