"""Queries that rank a gallery, and the positives of each.

Conventions
-----------
Ranks count from 1. Where similarities are equal, the rule of ties decides: by ``position`` (what
stands first in the gallery is ranked first), ``optimistic`` (positives before others), or
``pessimistic`` (others before positives). Positives that are tied with each other have different
ranks under every rule. A query may rank only the candidates of its own *fold*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semmetrics.core.backend import is_torch
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
from semmetrics.core.ranks import Counts
from semmetrics.data.block import Block, Task
from semmetrics.data.lists import Ids
from semmetrics.data.phi import phi_identities
from semmetrics.data.rankings import Rows
from semmetrics.frozen import dataclass

__all__ = ["UNRANKED", "Ranks", "RetrievalTask"]

UNRANKED = 1 << 60
"""The rank of a positive that a ranked list does not have."""


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
    """Queries with their positives, and the ranking of the gallery for each.

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
    scores: Rows
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
    def identities(self) -> dict[str, str]:
        """What each phi is, for signatures."""
        return phi_identities(self.beside)

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
