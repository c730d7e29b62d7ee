"""SPICE of all captions for all images, from scene graphs that are merged once.

Conventions
-----------
A candidate's tuple is a hit for an image where any tuple of the image's graph matches it. Distinct
tuples are matched once: ``match`` (tuples of candidates x tuples of references) gives ``meets``
(tuples of candidates x images), 1 where any does, and a caption's hits are the sum over its tuples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from semmetrics.text.scene_graphs import Concepts, SceneGraph, Tuple

__all__ = ["SpicePairs"]

_BLOCK = 1 << 22  # pairs of tuples that are compared at a time


class SpicePairs:
    """F of every caption for every image, in blocks of images.

    Parameters
    ----------
    rows, columns : sequence of SceneGraph
        Of images and of captions, of the same concepts.
    concepts : Concepts
    """

    def __init__(
        self, rows: Sequence[SceneGraph], columns: Sequence[SceneGraph], concepts: Concepts
    ) -> None:
        from scipy import sparse

        theirs, mine = _Tuples(rows), _Tuples(columns)
        self.n_rows, self.n_columns = len(rows), len(columns)
        self._in_row, self._in_column = lengths(theirs.indptr), lengths(mine.indptr)
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
    """The distinct tuples of graphs, by length, and which graph has which."""

    def __init__(self, graphs: Sequence[SceneGraph]) -> None:
        numbers: dict[Tuple, int] = {}
        tuples = [graph.tuples for graph in graphs]
        codes = [numbers.setdefault(one, len(numbers)) for several in tuples for one in several]
        self.indptr = offsets(np.fromiter(map(len, tuples), np.int64, len(tuples)))
        self.codes = np.array(codes, np.int64)
        self.distinct = list(numbers)
        self.of_length = {
            n: np.flatnonzero([len(one) == n for one in self.distinct]) for n in (1, 2, 3)
        }

    def slots(self, length: int) -> Ints:
        """Return the concepts of the distinct tuples of a length, shape (length, tuples)."""
        chosen = [self.distinct[place] for place in self.of_length[length].tolist()]
        slots: Ints = np.array(chosen, np.int64).reshape(len(chosen), length).T
        return slots

    def incidence(self, kind: Any, sparse: Any) -> Any:
        """Return a matrix, graphs x distinct tuples: 1 where a graph has one."""
        ones = np.ones(len(self.codes), kind)
        shape = len(self.indptr) - 1, len(self.distinct)
        return sparse.csr_matrix((ones, self.codes, self.indptr), shape=shape)


def _match(mine: _Tuples, theirs: _Tuples, concepts: Concepts, kind: Any, sparse: Any) -> Any:
    """Return a sparse matrix, distinct tuples of mine x theirs: 1 where two match."""
    similar, first, second = _similar(mine, theirs, concepts, sparse)
    rows, columns = [], []
    for length in (1, 2, 3):
        slots = first[mine.slots(length)], second[theirs.slots(length)]
        for one, other in _pairs_of_slots(*slots, similar, sparse):
            rows.append(mine.of_length[length][one])
            columns.append(theirs.of_length[length][other])
    shape = len(mine.distinct), len(theirs.distinct)
    cells = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_matrix((np.ones(len(cells[0]), kind), cells), shape=shape)


def _similar(
    mine: _Tuples, theirs: _Tuples, concepts: Concepts, sparse: Any
) -> tuple[Bools, Ints, Ints]:
    """Return which concepts of either side are similar, and each concept's row and column."""
    features: dict[Any, int] = {}
    sides, places = [], []
    for side in (mine, theirs):
        used = sorted({concept for one in side.distinct for concept in one})
        held = [concepts.features[one] for one in used]
        codes = [features.setdefault(name, len(features)) for names in held for name in names]
        sides.append(
            (np.array(codes, np.int64), offsets(np.array([len(one) for one in held], np.int64)))
        )
        place = np.zeros(len(concepts), np.int64)
        place[used] = np.arange(len(used))
        places.append(place)
    one, other = (
        sparse.csr_matrix(
            (np.ones(len(codes), np.int32), codes, indptr), shape=(len(indptr) - 1, len(features))
        )
        for codes, indptr in sides
    )
    return (one @ other.T).astype(np.bool_).toarray(), *places


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
