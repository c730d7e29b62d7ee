"""SPICE of every caption for every image, as products of sparse matrices.

Conventions
-----------
A candidate's tuple is a hit for an image if any tuple of the image's graph matches it.
Distinct tuples are matched once. The product of ``matches`` (tuples of candidates x
tuples of references) and the tuples of each image is ``meets`` (tuples of candidates x
images), 1 if any tuple of the image matches. A caption's hits are the sum over its
tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.metrics.tuple_matching import SimilarConcepts
from semmetrics.text.concepts import Concepts
from semmetrics.text.scene_graphs import GraphTable

_MAX_PAIRS_PER_BATCH = 1 << 22
"""Pairs of tuples that are compared at a time."""


class SpicePairs:
    """F of every caption for every image, over all categories, in blocks of images.

    An entry (image, candidate) is SPICE of the candidate for the image.

    Parameters
    ----------
    candidates : GraphTable
        One graph per column.
    images : GraphTable
        One graph per row, of the image's references.
    concepts : Concepts
    """

    def __init__(
        self, candidates: GraphTable, images: GraphTable, concepts: Concepts
    ) -> None:
        self.n_columns = len(candidates)
        self.n_rows = len(images)
        self._n_tuples_of_column = candidates.n_tuples
        self._n_tuples_of_row = images.n_tuples
        hit_type = self._choose_hit_type()
        candidate_tuples = _distinct_tuples(candidates, hit_type)
        image_tuples = _distinct_tuples(images, hit_type)
        matches = _match_distinct(candidate_tuples, image_tuples, concepts, hit_type)
        meets = matches @ image_tuples.incidence.T
        meets.data[:] = 1
        self._captions = candidate_tuples.incidence
        self._meets = meets.tocsc()

    def _choose_hit_type(self) -> type[np.signedinteger[Any]]:
        """Return the smallest integer type that can count the hits of a graph."""
        most = max(
            self._n_tuples_of_row.max(initial=0),
            self._n_tuples_of_column.max(initial=0),
        )
        if most <= np.iinfo(np.int16).max:
            return np.int16
        return np.int32

    def block(self, start: int, stop: int, out: Floats | None = None) -> Floats:
        """Return F of the rows start to stop, shape (stop - start, columns)."""
        values = out
        if values is None:
            values = np.zeros((stop - start, self.n_columns))
        values[...] = 0.0
        hits = (self._captions @ self._meets[:, start:stop]).T.tocsr()
        row = ragged.row_numbers(hits.indptr)
        column = hits.indices
        n_hits = hits.data.astype(np.float64)
        recall = n_hits / self._n_tuples_of_row[start:stop][row]
        precision = n_hits / self._n_tuples_of_column[column]
        values[row, column] = 2.0 * (precision * recall) / (precision + recall)
        return values


class _DistinctTuples(NamedTuple):
    """The distinct tuples of graphs, and which graph contains which.

    Attributes
    ----------
    slots : list of int arrays, shape (slots, distinct tuples)
        The concepts of objects, attributes and relations.
    starts : list of int
        The number of the first object, attribute and relation, and the number of all
        tuples.
    incidence : sparse matrix, graphs x distinct tuples
        How often a graph contains a tuple.
    """

    slots: list[Ints]
    starts: list[int]
    incidence: Any


def _distinct_tuples(table: GraphTable, dtype: Any) -> _DistinctTuples:
    """Number the distinct tuples of graphs."""
    from scipy import sparse

    slots = []
    codes = []
    starts = [0]
    for slots_of_kind in table.slots:
        distinct, code_of_tuple = np.unique(slots_of_kind, axis=0, return_inverse=True)
        slots.append(distinct.T)
        codes.append(code_of_tuple.ravel() + starts[-1])
        starts.append(starts[-1] + len(distinct))
    graphs = np.concatenate([ragged.row_numbers(indptr) for indptr in table.indptr])
    ones = np.ones(len(graphs), dtype)
    incidence = sparse.csr_matrix(
        (ones, (graphs, np.concatenate(codes))), shape=(len(table), starts[-1])
    )
    return _DistinctTuples(slots, starts, incidence)


def _match_distinct(
    candidates: _DistinctTuples, images: _DistinctTuples, concepts: Concepts, dtype: Any
) -> Any:
    """Return which distinct tuples match, as a sparse matrix of ones."""
    from scipy import sparse

    similar = SimilarConcepts(candidates.slots, images.slots, concepts)
    # Without tuples on one side, no tuples are compared.
    pairs = [np.zeros((2, 0), np.int64)]
    for kind in range(len(candidates.slots)):
        candidate_rows = similar.row_of[candidates.slots[kind]]
        image_columns = similar.column_of[images.slots[kind]]
        start = np.array([[candidates.starts[kind]], [images.starts[kind]]])
        for pairs_of_kind in _find_pairs(candidate_rows, image_columns, similar.table):
            pairs.append(pairs_of_kind + start)
    candidate_numbers, image_numbers = np.concatenate(pairs, axis=1)
    ones = np.ones(len(candidate_numbers), dtype)
    return sparse.csr_matrix(
        (ones, (candidate_numbers, image_numbers)),
        shape=(candidates.starts[-1], images.starts[-1]),
    )


def _find_pairs(
    candidate_slots: Ints, image_slots: Ints, similar: Bools
) -> Iterator[Ints]:
    """Yield the pairs of tuples of one length that are similar in every slot.

    A tuple of the candidates is compared only with tuples that are similar to it in one
    slot: the slot in which the fewest are.

    Parameters
    ----------
    candidate_slots, image_slots : int arrays, shapes (slots, m) and (slots, n)
        Rows and columns of ``similar``.
    similar : bool array
        Which concepts of candidates are similar to which of images.

    Yields
    ------
    int array, shape (2, pairs)
    """
    n_slots = len(candidate_slots)
    near_by_slot = _list_near_tuples(image_slots, similar)
    n_near_by_slot = []
    for slot, near in enumerate(near_by_slot):
        n_near_of_concept = ragged.lengths(near.indptr)
        n_near_by_slot.append(n_near_of_concept[candidate_slots[slot]])
    chosen_slot = np.array(n_near_by_slot).argmin(axis=0)
    for slot, near in enumerate(near_by_slot):
        near_indptr = near.indptr.astype(np.int64)
        numbers = np.flatnonzero(chosen_slot == slot)
        costs = ragged.offsets(n_near_by_slot[slot][numbers])
        for run in ragged.runs_within(costs, _MAX_PAIRS_PER_BATCH):
            tuples = numbers[run]
            indptr, places = ragged.take_rows(
                near_indptr, candidate_slots[slot][tuples]
            )
            first = tuples[ragged.row_numbers(indptr)]
            second = near.indices[places]
            are_similar = np.ones(len(first), np.bool_)
            for other in range(n_slots):
                if other != slot:
                    rows = candidate_slots[other][first]
                    columns = image_slots[other][second]
                    are_similar &= similar[rows, columns]
            yield np.stack([first[are_similar], second[are_similar]])


def _list_near_tuples(image_slots: Ints, similar: Bools) -> list[Any]:
    """Return, for each slot, the tuples of images that are similar to each concept.

    Returns
    -------
    list of sparse matrices, concepts of candidates x tuples of images
    """
    from scipy import sparse

    similar_concepts = sparse.csr_matrix(similar)
    n_concepts = similar.shape[1]
    n_tuples = image_slots.shape[1]
    ones = np.ones(n_tuples, np.int8)
    near_by_slot = []
    for concepts in image_slots:
        has_concept = sparse.csr_matrix(
            (ones, (concepts, np.arange(n_tuples))), shape=(n_concepts, n_tuples)
        )
        near_by_slot.append(similar_concepts @ has_concept)
    return near_by_slot
