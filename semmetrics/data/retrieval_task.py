"""Queries that rank a gallery: similarities, embeddings or ranked lists, and the positives of each.

Conventions
-----------
Ranks count from 1. Where similarities are equal, the rule of ties decides: by ``position`` (what
stands first in the gallery is ranked first), ``optimistic`` (positives before others), or
``pessimistic`` (others before positives). Positives that are tied with each other have different
ranks under every rule. A query may rank only the candidates of its own *fold*.

Similarities are never sorted whole, and those of embeddings never held whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from semmetrics.core.backend import Backend, is_torch
from semmetrics.core.hashing import hash_ids, mix
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Ints,
    lengths,
    offsets,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.core.ranks import Counts, count_down, count_nearer, first_places
from semmetrics.data.block import Block, Task
from semmetrics.data.lists import Ids, Side
from semmetrics.frozen import dataclass

__all__ = ["UNRANKED", "Products", "RankedLists", "Ranks", "RetrievalTask", "Rows", "Similarities"]

UNRANKED = 1 << 60
"""The rank of a positive that a ranked list does not have."""

_MEMORY = 1 << 26  # bytes of a table
_PRODUCTS = 1 << 28  # the same of products, which are faster the more rows they have
_LEAST, _MOST = 64, 4096  # rows of a table
_FEW = 3  # positives of a query up to which a table is read as it lies


class Rows(Protocol):
    """What ranks the gallery, a row for each query."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and the size of the gallery."""
        ...

    @property
    def step(self) -> int:
        """How many rows are looked at together."""
        ...

    def count(self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes) -> Counts:
        """Count what is nearer than some candidates; -1 where a candidate is not ranked."""
        ...

    def first(self, rows: Ints, columns: Ints | None, k: int, later: Any) -> list[Codes]:
        """Return the first k candidates of each row, fewer where it ranks fewer."""
        ...

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each row ranks."""
        ...


class _Tables:
    """Rows whose similarities to all candidates are computed, or read, a table at a time."""

    shape: tuple[int, int]

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of some rows to some candidates."""
        raise NotImplementedError

    def count(self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes) -> Counts:
        """Count what is nearer than some candidates, among the columns given."""
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
        return count_nearer(self.table(rows, columns), indptr, codes)

    def first(self, rows: Ints, columns: Ints | None, k: int, later: Any) -> list[Codes]:
        """Return the first k candidates of each row."""
        table = self.table(rows, columns)
        if later is not None and columns is not None:
            later = later[:, columns]
        found = first_places(table, min(k, table.shape[1]), later)
        return list(found if columns is None else columns[found])

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each row ranks: all."""
        return np.full(len(rows), self.shape[1] if columns is None else len(columns))


def _selection(numbers: Ints) -> Any:
    """Return numbers as a slice where they are a run, so that nothing is copied."""
    run = len(numbers) > 0 and bool((np.diff(numbers) == 1).all())
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if run else numbers


@dataclass(frozen=True, eq=False)
class Similarities(_Tables):
    """A matrix of similarities.

    Attributes
    ----------
    values : array
        Queries x gallery, or gallery x queries where ``transposed``; perhaps memory-mapped.
    transposed : bool
    """

    values: Any
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The number of rows, and the size of the gallery."""
        rows, columns = self.values.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def step(self) -> int:
        """How many rows are looked at together."""
        return min(_MOST, max(_LEAST, _MEMORY // max(1, 8 * self.shape[1])))

    def turned(self) -> Similarities:
        """Return the same with the gallery as queries."""
        return Similarities(self.values, not self.transposed)

    def count(self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes) -> Counts:
        """Count what is nearer than some candidates; down the columns where that is less work."""
        several = int(lengths(indptr).max(initial=0)) > _FEW
        if not self.transposed or several:
            return super().count(rows, columns, indptr, codes)
        part = self.values
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
            part = part[_selection(columns)]
        return count_down(part[:, _selection(rows)], indptr, codes)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of some rows; of half precision as single, which is exact."""
        mine = _selection(rows)
        theirs = slice(None) if columns is None else _selection(columns)
        first, second = (theirs, mine) if self.transposed else (mine, theirs)
        part = self.values[first][:, second]
        kind = np.float32 if part.dtype.itemsize < 4 else part.dtype
        return np.ascontiguousarray(part.T if self.transposed else part, kind)


@dataclass(frozen=True, eq=False)
class Products(_Tables):
    """Similarities that are inner products of vectors, computed a table at a time.

    Every table has the same number of rows, the last one too, so that the bits of a product do not
    depend on the rows computed with it.

    Attributes
    ----------
    queries, gallery : arrays or tensors, shapes (queries, d) and (gallery, d)
    """

    queries: Any
    gallery: Any

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The number of queries, and the size of the gallery."""
        return len(self.queries), len(self.gallery)

    @property
    def step(self) -> int:
        """How many rows are multiplied together."""
        size = self.queries.dtype.itemsize
        return int(min(_MOST, max(_LEAST, _PRODUCTS // max(1, size * self.shape[1]))))

    def turned(self) -> Products:
        """Return the same with the gallery as queries."""
        return Products(self.gallery, self.queries)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Multiply some rows with some of the gallery."""
        backend = Backend(self.queries)
        part = self.queries[_chosen(backend, rows)]
        gallery = self.gallery if columns is None else self.gallery[_chosen(backend, columns)]
        if len(rows) < self.step < self.shape[0]:
            full = backend.xp.zeros((self.step, part.shape[1]), dtype=part.dtype, **backend.place)
            full[: len(rows)] = part
            part = full
        return (part @ gallery.T)[: len(rows)]


def _chosen(backend: Backend, numbers: Ints) -> Any:
    found = _selection(numbers)
    return found if isinstance(found, slice) or not backend.torch else backend.array(found)


@dataclass(frozen=True, eq=False)
class RankedLists:
    """Ranked lists of candidates, the nearest first.

    Attributes
    ----------
    side : Side
        Candidates of each row; where they have scores these fall.
    size : int
        Of the gallery.
    """

    side: Side
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """The number of lists, and the size of the gallery."""
        return len(self.side), self.size

    @property
    def step(self) -> int:
        """How many lists are looked at together."""
        return max(1, _MEMORY * len(self.side) // max(1, 64 * len(self.side.codes)))

    def _taken(self, rows: Ints, columns: Ints | None) -> Side:
        side = self.side.take(rows)
        if columns is None:
            return side
        inside = np.zeros(self.size, np.bool_)
        inside[columns] = True
        return side.keep(inside[side.codes])

    def count(self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes) -> Counts:
        """Find each candidate in its list, and count what stands before it; -1 if it is not there.

        Candidates with equal scores are tied; their order in the list is that of the gallery.
        """
        side = self._taken(rows, columns)
        keys = row_numbers(side.indptr) * self.size + side.codes
        order = np.argsort(keys, kind="stable")
        sought = row_numbers(indptr) * self.size + codes
        place = np.searchsorted(keys[order], sought)
        place[place == len(keys)] = 0
        there = np.zeros(len(sought), np.bool_)
        if len(keys):
            there = keys[order][place] == sought
        found = Counts.empty(len(codes))
        flat = order[place[there]]
        first, last = self._runs(side)
        starts = side.indptr[row_numbers(side.indptr)]
        found.nearer[:] = -1
        found.nearer[there] = (first - starts)[flat]
        found.tied[there] = (last - first)[flat] - 1
        found.tied_before[there] = flat - first[flat]
        return found

    def _runs(self, side: Side) -> tuple[Ints, Ints]:
        """Return where the run of equal scores begins and ends that each entry is in."""
        n = len(side.codes)
        new = np.ones(n, np.bool_)
        if side.scores is not None and n:
            rows = row_numbers(side.indptr)
            new[1:] = (side.scores[1:] != side.scores[:-1]) | (rows[1:] != rows[:-1])
        starts = np.flatnonzero(new)
        widths = np.diff(starts, append=n)
        return np.repeat(starts, widths), np.repeat(starts + widths, widths)

    def first(self, rows: Ints, columns: Ints | None, k: int, later: Any) -> list[Codes]:
        """Return the first k candidates of each list."""
        side = self._taken(rows, columns)
        found = []
        for row in range(len(side)):
            one = side.rows(row, row + 1)
            codes = one.codes
            if later is not None and one.scores is not None:
                codes = codes[np.lexsort((later[row][codes], -one.scores))]
            found.append(codes[:k])
        return found

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each list has."""
        return lengths(self._taken(rows, columns).indptr)


class Ranks(NamedTuple):
    """The ranks of the positives of some queries.

    Attributes
    ----------
    indptr : int array, shape (queries + 1,)
    ranks : int array
        From 1, rising within a query; `UNRANKED` where a list lacks the positive.
    candidates : int array, shape (queries,)
        How many candidates each query ranks.
    undecided : bool array, shape (queries,)
        Whether a positive is tied with what is none, so that the rule of ties decides its rank.
    """

    indptr: Ints
    ranks: Ints
    candidates: Ints
    undecided: Bools

    @property
    def number(self) -> Ints:
        """The number of positives of each query."""
        return lengths(self.indptr)

    def hits(self, k: Any) -> Ints:
        """Return how many positives each query has among the first k, one k or one for each."""
        limits = np.broadcast_to(np.asarray(k), self.candidates.shape)
        within = self.ranks <= np.repeat(limits, self.number)
        return np.bincount(row_numbers(self.indptr)[within], minlength=len(self.candidates))

    @property
    def best(self) -> Ints:
        """The rank of the first positive of each query; `UNRANKED` without one."""
        found = np.full(len(self.candidates), UNRANKED)
        some = self.number > 0
        found[some] = self.ranks[self.indptr[:-1][some]]
        return found


def _ranks_of(counts: Counts, indptr: Ints, ties: str) -> tuple[Ints, Bools]:
    """Return the ranks of positives under a rule of ties, and which queries the rule decides."""
    rows = row_numbers(indptr)
    # positives of one query are tied with each other where as many candidates are nearer
    order = np.lexsort((counts.tied_before, counts.nearer, rows))
    nearer = counts.nearer[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (nearer[1:] != nearer[:-1])
    starts = np.flatnonzero(new)
    widths = np.diff(starts, append=len(order))
    mine, among = np.repeat(widths, widths), np.arange(len(order)) - np.repeat(starts, widths)
    others = np.where(nearer < 0, 0, counts.tied[order] + 1 - mine)  # tied, and no positives
    before = {
        "position": counts.tied_before[order],
        "optimistic": among,
        "pessimistic": others + among,
    }[ties]
    ranks = np.where(nearer < 0, UNRANKED, nearer + before + 1)
    undecided = np.zeros(len(indptr) - 1, np.bool_)
    undecided[rows[others > 0]] = True
    # an unranked positive comes last
    return ranks[np.lexsort((ranks, rows))], undecided


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrievalTask(Task):
    """Queries, what ranks the gallery for each, and their positives.

    Attributes
    ----------
    gallery : sequence of str, range or int array
        The names of the candidates; numbers where they are known by position. Behind them there
        may be names of positives that are no candidates.
    scores : Rows
        What ranks the gallery.
    rows : int array, shape (queries,)
        The row of each query in ``scores``; -1 where it has none, and so ranks nothing.
    indptr, positives : int arrays, shapes (queries + 1,) and (n,)
        The positives of each query by their place in the gallery, rising and each once.
    ties : {"position", "optimistic", "pessimistic"}
    folds : pair of int arrays, or None
        The fold of each query and of each candidate.
    beside : mapping from name to object
        What measures take besides, such as matrices of queries x gallery.
    """

    kind: ClassVar[str] = "retrieval"
    gallery: Ids
    scores: Any
    rows: Ints
    indptr: Ints
    positives: Codes
    ties: str = "position"
    folds: tuple[Ints, Ints] | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block[RetrievalTask]]:
        """Queries in blocks whose tables fit into memory."""
        step = self.scores.step
        for start in range(0, len(self), step):
            yield Block(self, start, min(start + step, len(self)))

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and the names of their positives; parts add up."""
        names = mix(self.gallery_hashes[self.positives])
        total = np.zeros(len(names) + 1, np.uint64)
        np.cumsum(names, out=total[1:])
        items = total[self.indptr[1:]] - total[self.indptr[:-1]]
        return int(mix(items + self.hashes).sum(dtype=np.uint64))

    @cached_property
    def gallery_hashes(self) -> Any:
        """A hash of the name of each candidate."""
        return hash_ids(self.gallery)

    def ranks(self, start: int, stop: int) -> Ranks:
        """Return the ranks of the positives of queries ``start`` to ``stop``."""
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        codes = self.positives[self.indptr[start] : self.indptr[stop]]
        counts, sizes = Counts.empty(len(codes)), np.zeros(stop - start, np.int64)
        counts.nearer[:] = -1
        inside = codes < self.scores.shape[1]
        for chosen, rows, columns in self._by_fold(start, stop):
            indices, flat = take_rows(indptr, chosen)
            indices, flat = offsets(sum_rows(inside[flat], indices)), flat[inside[flat]]
            part = self.scores.count(rows, columns, indices, codes[flat])
            for whole, some in zip(counts, part, strict=True):
                whole[flat] = some
            sizes[chosen] = self.scores.sizes(rows, columns)
        ranks, undecided = _ranks_of(counts, indptr, self.ties)
        return Ranks(indptr, ranks, sizes, undecided)

    def first(self, start: int, stop: int, k: int) -> list[Codes]:
        """Return the first k candidates of queries ``start`` to ``stop``, the nearest first.

        Returns
        -------
        list of int32 arrays
            Fewer than k where a query ranks fewer.
        """
        found: list[Codes] = [np.zeros(0, np.int32)] * (stop - start)
        for chosen, rows, columns in self._by_fold(start, stop):
            later = None if self.ties == "position" else self._later(chosen + start)
            part = self.scores.first(rows, columns, k, later)
            for place, codes in zip(chosen.tolist(), part, strict=True):
                found[place] = codes
        return found

    def _later(self, queries: Ints) -> Bools:
        """Say which of tied candidates stand behind the others, by the rule of ties."""
        later = np.full((len(queries), len(self.gallery)), self.ties == "optimistic")
        indptr, flat = take_rows(self.indptr, queries)
        later[row_numbers(indptr), self.positives[flat]] = self.ties == "pessimistic"
        return later[:, : self.scores.shape[1]]

    def _by_fold(self, start: int, stop: int) -> Iterator[tuple[Ints, Ints, Ints | None]]:
        """Yield queries of one fold (from 0 in the block), their rows, and their candidates."""
        rows = self.rows[start:stop]
        ranked = np.flatnonzero(rows >= 0)
        if self.folds is None:
            if len(ranked):
                yield ranked, rows[ranked], None
            return
        mine, theirs = self.folds[0][start:stop], self.folds[1]
        for fold in np.unique(mine[ranked]).tolist():
            chosen = ranked[mine[ranked] == fold]
            yield chosen, rows[chosen], np.flatnonzero(theirs == fold)

    @property
    def on_device(self) -> bool:
        """Whether torch computes the similarities."""
        return is_torch(getattr(self.scores, "queries", None))

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        indptr, flat = take_rows(self.indptr, rows)
        folds = None if self.folds is None else (self.folds[0][rows], self.folds[1])
        return {
            "rows": self.rows[rows],
            "indptr": indptr,
            "positives": self.positives[flat],
            "folds": folds,
        }
