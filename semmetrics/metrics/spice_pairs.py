"""SPICE of all captions for all images, from scene graphs that are merged once.

Conventions
-----------
A candidate's tuple is a hit for an image where any tuple of the image's graph matches it. Distinct
tuples are matched once: ``match`` (tuples of candidates x tuples of references) gives ``meets``
(tuples of candidates x images), 1 where any does, and a caption's hits are the sum over its tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.text.graphs import Concepts, GraphTable

_BLOCK = 1 << 22  # pairs of tuples that are compared at a time
_CELLS = 1 << 26  # of a table of concepts, and
_PAIRS = 1 << 20  # similar ones, up to which it is made instead of comparing those of a pair


class SpicePairs:
    """F of every caption for every image, in blocks of images.

    Parameters
    ----------
    rows, columns : GraphTable
        Of images and of captions, of the same concepts.
    concepts : Concepts
    """

    def __init__(self, rows: GraphTable, columns: GraphTable, concepts: Concepts) -> None:
        from scipy import sparse

        theirs, mine = _Tuples(rows), _Tuples(columns)
        self.n_rows, self.n_columns = len(rows), len(columns)
        self._in_row, self._in_column = rows.n_tuples, columns.n_tuples
        most = max(self._in_row.max(initial=0), self._in_column.max(initial=0))
        kind = np.int16 if most <= np.iinfo(np.int16).max else np.int32  # that hits are counted in
        meets = _match(mine, theirs, concepts, kind, sparse) @ theirs.incidence(kind, sparse).T
        meets.data[:] = 1
        self._meets = meets.tocsc()
        self._captions = mine.incidence(kind, sparse)

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return F of the rows start to stop, shape (stop - start, columns)."""
        values = np.zeros((stop - start, self.n_columns)) if out is None else out
        values[...] = 0.0
        hits = (self._captions @ self._meets[:, start:stop]).T.tocsr()
        row = row_numbers(hits.indptr)
        found = hits.data.astype(np.float64)
        recall = found / self._in_row[start:stop][row]
        precision = found / self._in_column[hits.indices]
        values[row, hits.indices] = 2.0 * (precision * recall) / (precision + recall)
        return values


class _Tuples:
    """The distinct tuples of graphs, and which graph has which.

    They are numbered from 0, the objects before the attributes, and these before the relations.
    """

    def __init__(self, table: GraphTable) -> None:
        self.slots, graphs, codes, start = list[Ints](), list[Ints](), list[Ints](), 0
        self.starts = list[int]()
        for indptr, slots in zip(table.indptr, table.slots, strict=True):
            distinct, code = np.unique(slots, axis=0, return_inverse=True)
            self.slots.append(distinct.T)
            self.starts.append(start)
            graphs.append(row_numbers(indptr))
            codes.append(code.ravel() + start)
            start += len(distinct)
        self.n_graphs, self.n_distinct = len(table), start
        self._cells = np.concatenate(graphs), np.concatenate(codes)

    def incidence(self, kind: Any, sparse: Any) -> Any:
        """Return a matrix, graphs x distinct tuples: how often a graph has one."""
        ones = np.ones(len(self._cells[0]), kind)
        return sparse.csr_matrix((ones, self._cells), shape=(self.n_graphs, self.n_distinct))


def _match(mine: _Tuples, theirs: _Tuples, concepts: Concepts, kind: Any, sparse: Any) -> Any:
    """Return a sparse matrix, distinct tuples of mine x theirs: 1 where two match."""
    near = SimilarConcepts(mine.slots, theirs.slots, concepts)
    rows, columns = [], []
    for place in range(len(mine.slots)):
        slots = near.row_of[mine.slots[place]], near.column_of[theirs.slots[place]]
        for one, other in _pairs_of_slots(*slots, near.table, sparse):
            rows.append(one + mine.starts[place])
            columns.append(other + theirs.starts[place])
    shape = mine.n_distinct, theirs.n_distinct
    cells = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_matrix((np.ones(len(cells[0]), kind), cells), shape=shape)


class SimilarConcepts:
    """Which concepts of candidates are similar to which of references.

    Parameters
    ----------
    mine, theirs : sequence of arrays of int
        The concepts of either side; some several times.
    concepts : Concepts

    Attributes
    ----------
    row_of, column_of : array of int, shape (concepts,)
        The row of each concept of ``mine``, and the column of each of ``theirs``.
    """

    def __init__(self, mine: Sequence[Ints], theirs: Sequence[Ints], concepts: Concepts) -> None:
        used, places = [], []
        for side in (mine, theirs):
            is_used = np.zeros(len(concepts), np.bool_)
            for slots in side:
                is_used[slots] = True
            used.append(np.flatnonzero(is_used))
            places.append(np.cumsum(is_used) - 1)
        self.row_of, self.column_of = places
        self._used, self._shape = used, (len(used[0]), len(used[1]))
        self._features = concepts.features
        self._n_pairs, self._pairs = concepts.similar_pairs(used[0], used[1])

    @cached_property
    def table(self) -> Bools:
        """Whether the concepts of a row and of a column are similar."""
        table = np.zeros(self._shape, np.bool_)
        for pairs in self._pairs:
            table[pairs] = True
        return table

    def are_similar(self, ones: Ints, others: Ints) -> Bools:
        """Return whether the concepts of each pair are similar."""
        rows, columns = self.row_of[ones], self.column_of[others]
        if self._n_pairs <= _PAIRS and self._shape[0] * self._shape[1] <= _CELLS:
            found: Bools = self.table[rows, columns]
            return found
        keys, codes = np.unique(rows * self._shape[1] + columns, return_inverse=True)
        (mine, theirs), features = self._used, self._features
        row, column = np.divmod(keys, self._shape[1])
        near = [
            not features[one].isdisjoint(features[other])
            for one, other in zip(mine[row].tolist(), theirs[column].tolist(), strict=True)
        ]
        return np.array(near, np.bool_)[codes]


def _pairs_of_slots(
    mine: Ints, theirs: Ints, similar: Bools, sparse: Any
) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of tuples of one length that are similar in each slot.

    A tuple of ``mine`` is compared with those of ``theirs`` that are similar in one slot: the slot
    in which the fewest are.
    """
    n_slots = len(mine)
    near = sparse.csr_matrix(similar)
    found = []
    for slot in range(n_slots):
        held = sparse.csr_matrix(
            (np.ones(theirs.shape[1], np.int8), (theirs[slot], np.arange(theirs.shape[1]))),
            shape=(similar.shape[1], theirs.shape[1]),
        )
        found.append(near @ held)  # concepts of mine x tuples of theirs
    counts = np.array([lengths(one.indptr)[mine[slot]] for slot, one in enumerate(found)])
    chosen = counts.argmin(axis=0)
    for slot, one in enumerate(found):
        numbers = np.flatnonzero(chosen == slot)
        for run in runs_within(offsets(counts[slot][numbers]), _BLOCK):
            some = numbers[run]
            indptr, places = take_rows(one.indptr.astype(np.int64), mine[slot][some])
            first, second = some[row_numbers(indptr)], one.indices[places]
            kept = np.ones(len(first), np.bool_)
            for other in set(range(n_slots)) - {slot}:
                kept &= similar[mine[other][first], theirs[other][second]]
            yield first[kept], second[kept]
