"""Match the tuples of scene graphs, and score the matches as SPICE does.

Conventions
-----------
A tuple of the candidate is a hit if any tuple of the reference matches it. Several
tuples may match the same one, so ``fn`` may be negative and F above 1. Tuples match if
they have the same length and their concepts are similar slot by slot.

A category restricts both sides to some tuples: objects, attributes and relations are
identified by their length, and colours, numbers and sizes are attributes from lists of words.

Source: Anderson et al., 2016, ECCV, sections 3.1 to 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice, product
from math import isqrt
from typing import NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks.base import occurring
from semmetrics.text.concepts import Concepts
from semmetrics.text.raw_tuples import RawTuple
from semmetrics.text.scene_graphs import GraphTable, SceneGraph, every_merge
from semmetrics.text.synonyms import category_words

TUPLE_KINDS = ("Object", "Attribute", "Relation")
"""Categories of the tuples with one, two and three slots."""
CATEGORIES = ("All", *TUPLE_KINDS, "Color", "Cardinality", "Size")

_MAX_PAIRS_PER_RANGE = 1 << 26
"""Pairs of tuples that are compared to find the range of one item."""
MAX_PAIRS_PER_BATCH = 1 << 20
"""Pairs of tuples that are compared at a time."""
_MAX_TABLE_CELLS = 1 << 26
"""Cells up to which similar concepts are looked up in a table."""
_MAX_TABLE_PAIRS = 1 << 20
"""Pairs of similar concepts up to which they are looked up in a table."""


def index_of_kind(category: str) -> int:
    """Return which array of a `GraphTable` contains the tuples of a category.

    Colours, numbers and sizes are attributes.
    """
    if category in TUPLE_KINDS:
        return TUPLE_KINDS.index(category)
    return TUPLE_KINDS.index("Attribute")


class SimilarConcepts:
    """Which concepts of candidates are similar to which concepts of references.

    Parameters
    ----------
    candidate_slots, reference_slots : sequences of int arrays
        The concepts of either side, with repeats.
    concepts : Concepts

    Attributes
    ----------
    row_of, column_of : int arrays, shape (concepts,)
        The row of each concept of the candidates in ``table``, and the column of each
        concept of the references.
    """

    def __init__(
        self,
        candidate_slots: Sequence[Ints],
        reference_slots: Sequence[Ints],
        concepts: Concepts,
    ) -> None:
        in_candidates = _find_used(candidate_slots, len(concepts))
        in_references = _find_used(reference_slots, len(concepts))
        self.row_of = np.cumsum(in_candidates) - 1
        self.column_of = np.cumsum(in_references) - 1
        self._row_concepts = np.flatnonzero(in_candidates)
        self._column_concepts = np.flatnonzero(in_references)
        self._n_columns = len(self._column_concepts)
        self._features = concepts.features
        self._n_pairs, self._pairs = concepts.similar_pairs(
            self._row_concepts, self._column_concepts
        )

    @cached_property
    def table(self) -> Bools:
        """Whether the concepts of a row and of a column are similar."""
        table = np.zeros((len(self._row_concepts), self._n_columns), np.bool_)
        for pairs in self._pairs:
            table[pairs] = True
        return table

    def are_similar(self, candidates: Ints, references: Ints) -> Bools:
        """Return whether the concepts of each pair are similar.

        Parameters
        ----------
        candidates, references : int arrays, shape (pairs,)
            Concepts of either side.
        """
        rows = self.row_of[candidates]
        columns = self.column_of[references]
        n_cells = len(self._row_concepts) * self._n_columns
        if self._n_pairs <= _MAX_TABLE_PAIRS and n_cells <= _MAX_TABLE_CELLS:
            return np.asarray(self.table[rows, columns])
        # Compare each distinct pair once
        keys, key_of_pair = np.unique(
            rows * self._n_columns + columns, return_inverse=True
        )
        rows, columns = np.divmod(keys, self._n_columns)
        first_concepts = self._row_concepts[rows].tolist()
        second_concepts = self._column_concepts[columns].tolist()
        similar = []
        for first, second in zip(first_concepts, second_concepts, strict=True):
            shares_feature = not self._features[first].isdisjoint(
                self._features[second]
            )
            similar.append(shares_feature)
        return np.array(similar, np.bool_)[key_of_pair]


def _find_used(slots_by_kind: Sequence[Ints], n_concepts: int) -> Bools:
    """Return which concepts occur in any slot."""
    all_slots = np.concatenate([slots.ravel() for slots in slots_by_kind])
    return occurring(all_slots, n_concepts)


class TupleFlags(NamedTuple):
    """Flags of all tuples of one kind on one side, bool arrays of shape (tuples,)."""

    in_category: Bools
    matched: Bools


class TupleMatches:
    """Which tuples of candidates match a tuple of their references.

    Parameters
    ----------
    candidates, references : GraphTable
        One graph per item, of the same concepts.
    concepts : Concepts
    """

    def __init__(
        self, candidates: GraphTable, references: GraphTable, concepts: Concepts
    ) -> None:
        self._candidates = candidates
        self._references = references
        self._concepts = concepts
        self._similar = SimilarConcepts(candidates.slots, references.slots, concepts)
        self._pairs = [self._find_pairs(kind) for kind in range(len(TUPLE_KINDS))]
        self._counts: dict[str, Ints] = {}

    def counts(self, category: str) -> Ints:
        """Count hits, tuples of the candidate and tuples of the reference.

        Returns
        -------
        int array, shape (items, 3)
        """
        if category not in self._counts:
            if category == "All":
                counts = np.sum([self.counts(kind) for kind in TUPLE_KINDS], axis=0)
            else:
                counts = self._count_category(category)
            self._counts[category] = counts
        return self._counts[category]

    def _count_category(self, category: str) -> Ints:
        """Count as `counts` for a category other than "All"."""
        kind = index_of_kind(category)
        candidate, reference = self.flags(category)
        candidate_indptr = self._candidates.indptr[kind]
        reference_indptr = self._references.indptr[kind]
        columns = (
            ragged.sum_rows(candidate.matched, candidate_indptr),
            ragged.sum_rows(candidate.in_category, candidate_indptr),
            ragged.sum_rows(reference.in_category, reference_indptr),
        )
        return np.stack(columns, axis=1)

    def scores(self, category: str) -> dict[str, Floats]:
        """Return precision, recall, F and counts of a category, each of shape (items,).

        Without tuples in the reference they are 0 for "All", and nan for a category.
        """
        counts = self.counts(category).T.astype(np.float64)
        tp, n_candidate, n_reference = counts
        with np.errstate(divide="ignore", invalid="ignore"):
            recall = tp / n_reference
            precision = np.where(n_candidate > 0, tp / n_candidate, 0.0)
            f = 2.0 * (precision * recall) / (precision + recall)
            f = np.where(tp > 0, f, 0.0)
        undefined = np.nan
        if category == "All":
            undefined = 0.0
        for values in (precision, recall, f):
            values[n_reference == 0] = undefined
        return {
            "f": f,
            "precision": precision,
            "recall": recall,
            "tp": tp,
            "fp": n_candidate - tp,
            "fn": n_reference - tp,
        }

    def flags(self, category: str) -> tuple[TupleFlags, TupleFlags]:
        """Return which tuples are in a category, and which of them match.

        The first flags are of the candidates, the second of the references. Each array
        covers all tuples that have the category's length.
        """
        first, second = self._pairs[index_of_kind(category)]
        in_candidates = self._select_category(self._candidates, category)
        in_references = self._select_category(self._references, category)
        is_pair = in_candidates[first] & in_references[second]
        candidate_matched = np.zeros(len(in_candidates), np.bool_)
        candidate_matched[first[is_pair]] = True
        reference_matched = np.zeros(len(in_references), np.bool_)
        reference_matched[second[is_pair]] = True
        return (
            TupleFlags(in_candidates, candidate_matched),
            TupleFlags(in_references, reference_matched),
        )

    def _find_pairs(self, kind: int) -> tuple[Ints, Ints]:
        """Return the pairs of tuples of an item that are similar in every slot."""
        candidate_slots = self._candidates.slots[kind]
        reference_slots = self._references.slots[kind]
        reference_indptr = self._references.indptr[kind]
        item_of_tuple = ragged.row_numbers(self._candidates.indptr[kind])
        n_compared = ragged.lengths(reference_indptr)[item_of_tuple]
        costs = ragged.offsets(n_compared)
        pairs = [np.zeros((2, 0), np.int64)]
        for run in ragged.runs_within(costs, MAX_PAIRS_PER_BATCH):
            indptr, second = ragged.take_rows(reference_indptr, item_of_tuple[run])
            first = ragged.row_numbers(indptr) + run.start
            for slot in range(candidate_slots.shape[1]):
                is_similar = self._similar.are_similar(
                    candidate_slots[first, slot], reference_slots[second, slot]
                )
                first = first[is_similar]
                second = second[is_similar]
            pairs.append(np.stack([first, second]))
        first, second = np.concatenate(pairs, axis=1)
        return first, second

    def _select_category(self, table: GraphTable, category: str) -> Bools:
        """Return which tuples of one length are in a category.

        These are all tuples, or the attributes that the category's list contains.
        """
        slots = table.slots[index_of_kind(category)]
        if category in TUPLE_KINDS:
            return np.ones(len(slots), np.bool_)
        attributes = slots[:, 1]
        distinct_concepts, place_of_tuple = np.unique(attributes, return_inverse=True)
        words = category_words()[category]
        names = map(self._concepts.name, distinct_concepts.tolist())
        is_listed = np.array([name in words for name in names], np.bool_)
        return is_listed[place_of_tuple]


# ---- ties ----------------------------------------------------------------------------


class ScoreRange(NamedTuple):
    """The smallest and the largest F that ties in merging can give an item.

    Attributes
    ----------
    low, high : float
    is_complete : bool
        Whether all ways of merging were tried.
    """

    low: float
    high: float
    is_complete: bool


def spice_range(
    candidate: Sequence[RawTuple],
    references: Sequence[Sequence[RawTuple]],
    concepts: Concepts,
    most: int = 4096,
) -> ScoreRange:
    """Return the range of F over the ways in which ties in merging can be decided.

    Parameters
    ----------
    candidate : sequence of raw tuples
    references : sequence of sequences of raw tuples
    concepts : Concepts
    most : int
        The maximum number of pairs of graphs to try, with at most the square root of it
        for the candidate. Fewer are tried if the captions have more than 128 tuples in
        all.

    Returns
    -------
    ScoreRange
    """
    n_tuples = 1 + len(candidate) + sum(map(len, references))
    most = min(most, max(1, _MAX_PAIRS_PER_RANGE // n_tuples**2))
    candidate_merges = _list_merges([candidate], concepts, isqrt(most))
    n_left = most // len(candidate_merges.graphs)
    reference_merges = _list_merges(references, concepts, n_left)
    pairs = list(product(candidate_merges.graphs, reference_merges.graphs))
    candidate_table = GraphTable.of([first for first, _ in pairs])
    reference_table = GraphTable.of([second for _, second in pairs])
    matches = TupleMatches(candidate_table, reference_table, concepts)
    values = matches.scores("All")["f"]
    is_complete = candidate_merges.is_complete and reference_merges.is_complete
    return ScoreRange(float(values.min()), float(values.max()), is_complete)


class _Merges(NamedTuple):
    """Graphs into which captions can be merged, and whether these are all."""

    graphs: list[SceneGraph]
    is_complete: bool


def _list_merges(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts, limit: int
) -> _Merges:
    """Merge captions in every way in which ties can be decided, up to a limit."""
    graphs = list(islice(every_merge(captions, concepts), limit + 1))
    return _Merges(graphs[:limit], len(graphs) <= limit)
