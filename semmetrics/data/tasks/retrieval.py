"""The task of retrieval: queries with positives, and a ranking of the gallery for each query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import hash_ids, mix
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.core.ranks import Counts
from semmetrics.data.item_ids import Ids
from semmetrics.data.rankings import PHI, Rows
from semmetrics.data.tasks.base import Task, sum_hashes

UNRANKED = 1 << 60
"""The rank of a positive that is not in a ranked list."""


class Ranks(NamedTuple):
    """The ranks of the positives of some queries.

    Attributes
    ----------
    indptr : int array, shape (queries + 1,)
    ranks : int array
        From 1, ascending within a query. `UNRANKED` if the positive is not in a list.
    candidates : int array, shape (queries,)
        The number of candidates of each query.
    undecided : bool array, shape (queries,)
        Whether a positive is tied with a candidate that is not positive, so that the rule for ties
        decides its rank.
    grades : float array, optional
        The grades of the positives, in the order of the ranks.
    """

    indptr: Ints
    ranks: Ints
    candidates: Ints
    undecided: Bools
    grades: Floats | None = None

    @property
    def n_positives(self) -> Ints:
        """The number of positives of each query."""
        return ragged.lengths(self.indptr)

    def hits(self, k: Any) -> Ints:
        """Return the number of positives among the first k candidates of each query.

        ``k`` is one number, or an array with a number for each query.
        """
        limits = np.broadcast_to(np.asarray(k), self.candidates.shape)
        is_within = self.ranks <= np.repeat(limits, self.n_positives)
        queries = ragged.row_numbers(self.indptr)[is_within]
        return np.bincount(queries, minlength=len(self.candidates))

    @property
    def best(self) -> Ints:
        """The rank of the first positive of each query. `UNRANKED` without a positive."""
        best = np.full(len(self.candidates), UNRANKED)
        has_positives = self.n_positives > 0
        best[has_positives] = self.ranks[self.indptr[:-1][has_positives]]
        return best


class _OrderedRanks(NamedTuple):
    """Ranks in ascending order within each query.

    Attributes
    ----------
    ranks : int array
    undecided : bool array, shape (queries,)
        Whether the rule for ties decides a rank.
    order : int array
        The original position of each positive.
    """

    ranks: Ints
    undecided: Bools
    order: Ints


def _rank_positives(counts: Counts, indptr: Ints, ties: str) -> _OrderedRanks:
    """Rank positives under a rule for ties.

    Positives of a query that have the same number of nearer candidates are tied with each other.
    They get different ranks under every rule.
    """
    rows = ragged.row_numbers(indptr)
    order = np.lexsort((counts.tied_before, counts.nearer, rows))
    nearer = counts.nearer[order]
    # A group consists of the positives of a query that are tied with each other.
    group_starts = np.flatnonzero(ragged.starts_run(rows) | ragged.starts_run(nearer))
    group_sizes = np.diff(group_starts, append=len(order))
    n_tied_positives = np.repeat(group_sizes, group_sizes)
    place_in_group = np.arange(len(order)) - np.repeat(group_starts, group_sizes)
    # The candidates that are tied with a positive include the other positives of its group.
    n_tied_others = counts.tied[order] - (n_tied_positives - 1)
    n_tied_others = np.where(nearer < 0, 0, n_tied_others)
    if ties == "position":
        before = counts.tied_before[order]
    elif ties == "optimistic":
        before = place_in_group
    else:
        before = n_tied_others + place_in_group
    ranks = np.where(nearer < 0, UNRANKED, nearer + before + 1)
    undecided = np.zeros(len(indptr) - 1, np.bool_)
    undecided[rows[n_tied_others > 0]] = True
    ascending = np.lexsort((ranks, rows))  # an unranked positive comes last
    return _OrderedRanks(ranks[ascending], undecided, order[ascending])


class _FoldQueries(NamedTuple):
    """Queries of one fold, in a block.

    Attributes
    ----------
    queries : int array
        The queries, numbered from 0 in the block.
    rows : int array
        Their rows in the scores.
    columns : int array or None
        The candidates of the fold. None means all.
    """

    queries: Ints
    rows: Ints
    columns: Ints | None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RetrievalTask(Task):
    """Queries with their positives, and the ranking of the gallery for each.

    Attributes
    ----------
    gallery : sequence of str, range or int array
        The names of the candidates, or numbers if they are identified by position. The names of
        positives that are not candidates may follow.
    scores : Rows
        The rankings of the gallery.
    rows : int array, shape (queries,)
        The row of each query in ``scores``, or -1 if it has none and ranks nothing.
    indptr, positives : int arrays, shapes (queries + 1,) and (n,)
        The positions of the distinct positives of each query in the gallery, ascending.
    ties : {"position", "optimistic", "pessimistic"}
    folds : pair of int arrays, or None
        The fold of each query and of each candidate.
    extra_inputs : mapping from name to object
        Other inputs of measures, such as matrices of queries x gallery.
    grades : float array, shape (n,), or None
        The grades of the positives, all above 0.
    """

    kind: ClassVar[str] = "retrieval"
    gallery: Ids
    scores: Rows
    rows: Ints
    indptr: Ints
    positives: Codes
    ties: str = "position"
    folds: tuple[Ints, Ints] | None = None
    extra_inputs: Mapping[str, Any] = field(default_factory=dict)
    grades: Floats | None = None

    def _items_per_block(self, memory: int) -> int:
        return self.scores.rows_per_table

    @cached_property
    def fingerprint(self) -> int:
        """64-bit hash of the ids, the names of positives, and grades other than 1.

        The hashes of parts add up.
        """
        grades = np.ones(1) if self.grades is None else self.grades
        # The bits of a grade, so that positives of grade 1 have the hash of those without a grade.
        grade_bits = grades.view(np.uint64) - np.ones(1).view(np.uint64)
        positives = mix(hash_ids(self.gallery)[self.positives] + grade_bits)
        queries = sum_hashes(positives, self.indptr) + self.hashes
        return int(mix(queries).sum(dtype=np.uint64))

    def at_level(self, rel: int) -> RetrievalTask:
        """Return the task with only the positives of a grade of at least ``rel``.

        Positives without grades have grade 1.
        """
        if self.grades is None:
            is_relevant = np.full(len(self.positives), rel <= 1)
        else:
            is_relevant = self.grades >= rel
        return replace(
            self,
            indptr=ragged.offsets(ragged.sum_rows(is_relevant, self.indptr)),
            positives=self.positives[is_relevant],
            grades=None if self.grades is None else self.grades[is_relevant],
        )

    def ranks(self, start: int, stop: int) -> Ranks:
        """Return the ranks of the positives of queries ``start`` to ``stop``."""
        indptr = self.indptr[start : stop + 1] - self.indptr[start]
        codes = self.positives[self.indptr[start] : self.indptr[stop]]
        counts = Counts.empty(len(codes))
        counts.nearer[:] = -1
        sizes = np.zeros(stop - start, np.int64)
        is_candidate = codes < self.scores.shape[1]
        for fold in self._by_fold(start, stop):
            fold_indptr, flat = ragged.take_rows(indptr, fold.queries)
            n_candidates = ragged.sum_rows(is_candidate[flat], fold_indptr)
            flat = flat[is_candidate[flat]]
            offsets = ragged.offsets(n_candidates)
            fold_counts = self.scores.count(
                fold.rows, fold.columns, offsets, codes[flat]
            )
            for all_values, fold_values in zip(counts, fold_counts, strict=True):
                all_values[flat] = fold_values
            sizes[fold.queries] = self.scores.sizes(fold.rows, fold.columns)
        ordered = _rank_positives(counts, indptr, self.ties)
        grades = None
        if self.grades is not None:
            grades = self.grades[self.indptr[start] + ordered.order]
        return Ranks(indptr, ordered.ranks, sizes, ordered.undecided, grades)

    def first(self, start: int, stop: int, k: int) -> list[Codes]:
        """Return the first k candidates of queries ``start`` to ``stop``, the nearest first.

        Returns
        -------
        list of int32 arrays
            Fewer than k if a query ranks fewer.
        """
        first: list[Codes] = [np.zeros(0, np.int32)] * (stop - start)
        for fold in self._by_fold(start, stop):
            later = None
            if self.ties != "position":
                later = self._ranked_later(start, fold.queries)
            candidates = self.scores.first(fold.rows, fold.columns, k, later)
            for query, codes in zip(fold.queries.tolist(), candidates, strict=True):
                first[query] = codes
        return first

    def _ranked_later(self, start: int, queries: Ints) -> Bools:
        """Return which candidates are ranked after others with the same score, for each query.

        Under "optimistic" these are the candidates that are not positive, otherwise the positives.
        """
        is_optimistic = self.ties == "optimistic"
        later = np.full((len(queries), len(self.gallery)), is_optimistic)
        indptr, flat = ragged.take_rows(self.indptr, queries + start)
        later[ragged.row_numbers(indptr), self.positives[flat]] = not is_optimistic
        return later[:, : self.scores.shape[1]]

    def _by_fold(self, start: int, stop: int) -> Iterator[_FoldQueries]:
        """Yield the queries of each fold that rank something."""
        rows = self.rows[start:stop]
        ranked = np.flatnonzero(rows >= 0)
        if self.folds is None:
            if len(ranked):
                yield _FoldQueries(ranked, rows[ranked], None)
            return
        fold_of_query = self.folds[0][start:stop]
        fold_of_candidate = self.folds[1]
        for fold in np.unique(fold_of_query[ranked]).tolist():
            queries = ranked[fold_of_query[ranked] == fold]
            columns = np.flatnonzero(fold_of_candidate == fold)
            yield _FoldQueries(queries, rows[queries], columns)

    @property
    def identities(self) -> dict[str, str]:
        """The identity of each phi, for signatures. Without one, nDCG uses the grades."""
        identities = {f"{PHI}:default": "grades"}
        for name, phi in self.extra_inputs.get(PHI, {}).items():
            identities[f"{PHI}:{name}"] = phi.identity
        return identities

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        indptr, flat = ragged.take_rows(self.indptr, rows)
        folds = None
        if self.folds is not None:
            folds = self.folds[0][rows], self.folds[1]
        return {
            "rows": self.rows[rows],
            "indptr": indptr,
            "positives": self.positives[flat],
            "grades": None if self.grades is None else self.grades[flat],
            "folds": folds,
        }
