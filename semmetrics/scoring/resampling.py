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

The jackknife leaves out one item, or group, after the other. Many are left out in parts of equal
size: neighbours in the order of hashes, so chosen at random.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Column, Dense, OneHot, Sparse
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats, Ints, offsets, row_numbers
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.evaluate import Statistics
from semmetrics.scoring.intervals import Bootstrap, Replicates, default_method

Part: TypeAlias = tuple[str, Column, "Floats | None"]
T = TypeVar("T")
_BLOCK = 1 << 15
_CELLS = 1 << 12  # of what is drawn, summed at a time: they stay in a processor's cache
_MEMORY = 1 << 26
_TOGETHER, _MOST = 1 << 20, 1024  # items and resamples of one chunk, where items are few
_WHOLE = 1 << 24  # below it sums of whole numbers are exact in float32, too, at half the cost


def chunk_size(systems: Sequence[Statistics]) -> int:
    """Return how many resamples are taken at a time, so that memory stays within the budget."""
    items, labels = len(systems[0]), sum(len(one.labels) for one in systems)
    largest = max(items * 2, 8 * 4 * labels, min(items, _BLOCK) * 8, 1)
    return max(1, min(_MOST, max(128, _TOGETHER // max(items, 1)), _MEMORY // largest))


def ahead(items: Iterator[T], *, worth: bool = True) -> Iterator[T]:
    """Make the next item in a thread of its own, while the one before is used.

    Parameters
    ----------
    items : iterator
    worth : bool
        Whether an item takes longer than handing it over; if not, there is no thread.

    Examples
    --------
    >>> list(ahead(iter("abc"))), list(ahead(iter("abc"), worth=False))
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    """
    if not worth:
        yield from items
        return
    from concurrent.futures import ThreadPoolExecutor  # only large data need it

    nothing = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = pool.submit(next, items, nothing)
            yield item  # type: ignore[misc]


@dataclass(frozen=True)
class Draws:
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
    def of(statistics: Statistics) -> Draws:
        """Items where there are no groups."""
        if statistics.groups is None:
            return Draws.of_hashes(statistics.hashes, statistics.order)
        groups, place, sizes = np.unique(statistics.groups, return_inverse=True, return_counts=True)
        return Draws(place.ravel(), len(groups) * int(sizes.max()), groups)

    @staticmethod
    def of_hashes(hashes: Hashes, order: Ints | None = None) -> Draws:
        """Whatever has these hashes, each by itself; perhaps with their rising order."""
        order = np.argsort(hashes, kind="stable") if order is None else order
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return Draws(place, len(place), hashes[order])

    def fingerprint(self, bootstrap: Bootstrap) -> str:
        """Return sixteen hex digits of a hash of all that decides the weights."""
        hashed = hashlib.blake2b(f"{bootstrap.seed},{bootstrap.resamples},".encode(), digest_size=8)
        hashed.update(self.hashes.astype("<u8").tobytes())
        return hashed.hexdigest()

    def counts(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint16]]:
        """Draw as many as there are, with replacement: shape (up to ``chunk``, drawn)."""
        generator, n = np.random.default_rng(bootstrap.seed), len(self.hashes)
        together = max(1, _BLOCK // max(n, 1))
        for start in range(0, bootstrap.resamples, chunk):
            counts = np.empty((min(chunk, bootstrap.resamples - start), n), np.uint16)
            for first in range(0, len(counts), together):
                rows = counts[first : first + together]
                drawn = generator.integers(0, n, rows.shape)  # the same as row by row
                drawn += n * np.arange(len(rows))[:, None]
                rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)
            yield counts

    def coins(self, bootstrap: Bootstrap, chunk: int) -> Iterator[NDArray[np.uint8]]:
        """Draw 0 or 1 for each, as likely: shape (up to ``chunk``, drawn)."""
        generator, n = np.random.default_rng(bootstrap.seed), len(self.hashes)
        for start in range(0, bootstrap.resamples, chunk):
            number = min(chunk, bootstrap.resamples - start)
            rows = [np.frombuffer(generator.bytes(-(-n // 8)), np.uint8) for _ in range(number)]
            yield np.unpackbits(np.stack(rows), axis=1, count=n)

    @property
    def are_many(self) -> bool:
        """Whether drawing some chunks of them takes longer than handing them over."""
        return len(self.hashes) >= _BLOCK

    def added(self, values: Floats) -> Floats:
        """Sum the values of items that are drawn together."""
        sums: Floats = np.bincount(self.place, values, len(self.hashes)).astype(
            np.float64, copy=False
        )
        return sums

    def gathered(self, column: Sparse, weights: Floats | None) -> tuple[Sparse, Floats | None]:
        """Gather the labels of items that are drawn together, and the weight of each."""
        items = row_numbers(column.indptr)
        drawn = self.place[items]
        order = np.argsort(drawn, kind="stable")
        indptr = offsets(np.bincount(drawn, minlength=len(self.hashes)))
        gathered = Sparse(indptr, column.codes[order], column.width)
        return gathered, None if weights is None else weights[items][order]


class Product(NamedTuple):
    """Sums under weights: of vectors, shape (weights, vectors), and of each label column."""

    vectors: Floats
    labels: list[Floats]


class _Labels(NamedTuple):
    """The label columns of a stack that are summed in one type, below each other."""

    places: list[int]
    blocks: list[Any]
    ends: Ints

    @staticmethod
    def of(columns: Mapping[int, Any], step: int) -> _Labels:
        """Put columns below each other, each by its place in the stack."""
        from scipy.sparse import vstack

        whole: Any = vstack([*columns.values()], format="csc")
        ends = np.cumsum([one.shape[0] for one in columns.values()])
        blocks = [whole[:, start : start + step] for start in range(0, whole.shape[1], step)]
        return _Labels([*columns], blocks, ends)


class Stack:
    """Columns of what is drawn, side by side: all are summed by one product; equal ones once.

    Whole numbers whose sums float32 holds are summed in it: vectors where all are, as a second
    product takes longer. All columns are added before the first product.
    """

    def __init__(self) -> None:
        self._vectors: list[Floats] = []
        self._small: list[bool] = []
        self._columns: list[Any] = []
        self._step = _CELLS  # or the number of labels, whose sums each block adds to
        self._known: dict[bytes, int] = {}

    def add(self, vector: Floats) -> int:
        """Keep a vector, and return its place."""
        place = self._known.setdefault(_hash(vector), len(self._vectors))
        if place == len(self._vectors):
            whole = bool((vector == np.rint(vector)).all())
            self._vectors.append(vector)
            self._small.append(
                whole and float(np.abs(vector).max(initial=0)) * len(vector) < _WHOLE
            )
        return place

    def add_labels(self, column: Sparse, weights: Floats | None) -> int:
        """Keep a column of labels, each weighted where weights are given; return its place."""
        some = [] if weights is None else [weights]
        key = _hash(column.indptr, column.codes, np.array(column.width), *some)
        place = self._known.setdefault(key, len(self._columns))
        if place == len(self._columns):
            self._columns.append(_by_label(column, weights))
            self._step = max(_CELLS, sum(one.shape[0] for one in self._columns))
        return place

    def multiply(self, counts: NDArray[Any]) -> Product:
        """Return the sums of all columns under counts, shape (B, drawn).

        No row of counts draws more than there are.
        """
        dense, tables = self._dense, self._labels
        vectors = np.zeros((len(dense), len(counts)))
        labels = {kind: np.zeros((table.ends[-1], len(counts))) for kind, table in tables.items()}
        kinds = {*tables, *([dense.dtype] if len(dense) else [])}
        for number, start in enumerate(range(0, counts.shape[1], self._step)):
            part = slice(start, start + self._step)
            for kind in kinds:
                transposed = counts[:, part].T.astype(kind, "C" if kind in tables else "K")
                if len(dense) and kind == dense.dtype:
                    vectors += dense[:, part] @ transposed
                if kind in tables:
                    labels[kind] += tables[kind].blocks[number] @ transposed
        found: dict[int, Floats] = {}
        for kind, table in tables.items():
            found.update(zip(table.places, np.split(labels[kind], table.ends[:-1]), strict=True))
        return Product(vectors.T, [np.ascontiguousarray(found[i].T) for i in sorted(found)])

    @cached_property
    def _dense(self) -> NDArray[Any]:
        """All vectors, shape (vectors, drawn), in one type."""
        table = np.array(self._vectors, np.float32 if all(self._small) else np.float64)
        self._vectors.clear()  # held once
        return table

    @cached_property
    def _labels(self) -> dict[Any, _Labels]:
        """All label columns, by the type in which they are summed."""
        kinds: dict[Any, dict[int, Any]] = {}
        for place, column in enumerate(self._columns):
            kinds.setdefault(column.dtype, {})[place] = column
        self._columns.clear()
        return {kind: _Labels.of(some, self._step) for kind, some in kinds.items()}


def _by_label(column: Sparse, weights: Floats | None) -> Any:
    """Return a sparse array of shape (labels, drawn), in the type in which it is summed."""
    from scipy.sparse import csc_array

    most = len(column) * int(np.diff(column.indptr).max(initial=0))
    kind = np.float32 if weights is None and most < _WHOLE else np.float64
    data = np.ones(len(column.codes), kind) if weights is None else weights
    return csc_array((data, column.codes, column.indptr), shape=(column.width, len(column)))


def _hash(*arrays: NDArray[Any]) -> bytes:
    hashed = hashlib.blake2b(digest_size=16)
    for array in arrays:
        hashed.update(f"{array.dtype}{array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).data)
    return hashed.digest()


@dataclass(frozen=True)
class _Term:
    """A sum, or a category's share of it, as one vector's sum less those of others."""

    statistic: Statistic
    name: str
    plus: int
    minus: tuple[int, ...] = ()
    category: int = 0
    width: int = 0


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """What measures of one system aggregate, under weights of what is drawn.

    Attributes
    ----------
    statistics : Statistics
        With rows.
    draws : Draws
    exact : mapping from additive statistic to its columns in parts whose sums are exact
    rows : tuple of Statistic
        Those that are not additive.
    """

    statistics: Statistics
    draws: Draws
    exact: dict[Statistic, list[Part]]
    rows: tuple[Statistic, ...]
    terms: list[_Term] = field(repr=False)
    labels: list[tuple[Statistic, str, int]] = field(repr=False)

    @staticmethod
    def of(
        statistics: Statistics, needed: Iterable[Statistic], draws: Draws, stack: Stack
    ) -> WeightedSums:
        """Put the columns that statistics have into a stack.

        Raises
        ------
        InputError
            If rows were not kept.
        """
        needed = list(dict.fromkeys(needed))
        exact = {
            s: [
                (name, part, item_weights)
                for name, column in statistics.rows(s).items()
                for part, item_weights in _exact(column, statistics.weights, draws.most)
            ]
            for s in needed
            if s.additive
        }
        found = WeightedSums(
            statistics, draws, exact, tuple(s for s in needed if not s.additive), [], []
        )
        for s, parts in exact.items():
            for part in parts:
                found._place(s, part, stack)
        return found

    def _place(self, s: Statistic, part: Part, stack: Stack) -> None:
        name, column, item_weights = part
        if isinstance(column, Dense):
            place = stack.add(self.draws.added(column.values))
            self.terms.append(_Term(s, name, place))
        elif isinstance(column, OneHot):
            self.terms.extend(self._categories(s, name, column, item_weights, stack))
        elif isinstance(column, Sparse):
            self.labels.append(
                (s, name, stack.add_labels(*self.draws.gathered(column, item_weights)))
            )
        else:
            raise TypeError(f"no sums of {type(column).__name__}")

    def _categories(
        self, s: Statistic, name: str, column: OneHot, item_weights: Floats | None, stack: Stack
    ) -> list[_Term]:
        """Sum each category but the commonest, which is all less the others."""
        ones = np.ones(len(column)) if item_weights is None else item_weights
        counts = np.bincount(column.codes, minlength=column.width)
        common = int(counts.argmax())
        others = [c for c in np.flatnonzero(counts).tolist() if c != common]
        places = {
            c: stack.add(self.draws.added(np.where(column.codes == c, ones, 0.0))) for c in others
        }
        every = stack.add(self.draws.added(ones))
        width, rest = column.width, tuple(places.values())
        terms = [_Term(s, name, place, (), c, width) for c, place in places.items()]
        return [*terms, _Term(s, name, every, rest, common, width)]

    def sums(self, counts: NDArray[Any], product: Product) -> dict[Statistic, Any]:
        """Return what each statistic's measures aggregate.

        Parameters
        ----------
        counts : int array, shape (B, drawn)
            At most 2**16.
        product : Product
            Of the stack, with these counts.
        """
        total: dict[Statistic, Any] = {s: {} for s in self.exact}
        for term in self.terms:
            minus = product.vectors[:, list(term.minus)].sum(axis=1)
            part, sums = product.vectors[:, term.plus] - minus, total[term.statistic]
            if term.width:
                cells = sums.setdefault(term.name, np.zeros((len(counts), term.width)))
                cells[:, term.category] += part
            else:
                sums[term.name] = sums[term.name] + part if term.name in sums else part
        for s, name, place in self.labels:
            part = product.labels[place]
            total[s][name] = total[s][name] + part if name in total[s] else part
        return total | self._weighted_rows(counts)

    def _weighted_rows(self, counts: NDArray[Any]) -> dict[Statistic, Any]:
        if not self.rows:
            return {}
        item_weights = counts[:, self.draws.place].astype(np.float64)
        item_weights *= 1.0 if self.statistics.weights is None else self.statistics.weights
        order = self.statistics.order
        return {
            s: {"rows": self.statistics.rows(s), "weights": item_weights, "order": order}
            for s in self.rows
        }


def _exact(column: Any, weights: Floats | None, most: int) -> list[tuple[Column, Floats | None]]:
    """Columns, with item weights, that add up to the column and whose weighted sums are exact."""
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
    by_draws: dict[str, list[int]] = {}
    for place, one in enumerate(draws):
        by_draws.setdefault(one.fingerprint(bootstrap), []).append(place)
    found: list[list[Replicates]] = [[] for _ in systems]
    for drawn, places in by_draws.items():
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
    item_weights = np.ones(len(values)) if statistics.weights is None else statistics.weights
    drawn = draws.added(np.where(np.isnan(values), 0.0, item_weights / item_weights.max()))
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
        totals = [column.group_sums(one, 1, item_weights) for _, column, item_weights in exact]

        def sums_without(start: int, stop: int) -> dict[str, Floats]:
            sums: dict[str, Floats] = {}
            for (name, column, item_weights), total in zip(exact, totals, strict=True):
                rest = total - column.group_sums(self.parts - start, stop - start, item_weights)
                sums[name] = sums[name] + rest if name in sums else rest
            return sums

        return sums_without

    def _from_rows(self) -> Callable[[int, int], Any]:
        rows, order = self.statistics.rows(self.statistic), self.statistics.order
        weights = self.statistics.weights

        def sums_without(start: int, stop: int) -> dict[str, Any]:
            item_weights = (self.parts != np.arange(start, stop)[:, None]).astype(np.float64)
            item_weights *= 1.0 if weights is None else weights
            return {"rows": rows, "weights": item_weights, "order": order}

        return sums_without
