"""Scene graphs: the raw tuples of captions, merged by synonyms.

Conventions
-----------
A parser returns an ordered list of raw tuples for each caption. The captions of a graph
are merged in their order, and so are the tuples of each caption. An object is merged
into the node with the highest similarity, attributes and relations into the first
similar ones.

SPICE's own program iterates over nodes in an order that changes from run to run. Here
the first of equally good nodes, attributes or relations is chosen. ``SceneGraph.ties``
counts how often that mattered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints, lengths, offsets, take_rows
from semmetrics.text.concepts import Concepts
from semmetrics.text.raw_tuples import RawTuple

MERGING = 1
"""The version of the merging rules. Merged graphs are cached by it."""

TUPLE_LENGTHS = (1, 2, 3)
"""The number of slots of objects, attributes and relations."""


class SceneGraph(NamedTuple):
    """The tuples of merged captions, as flat tuples of concepts.

    Attributes
    ----------
    objects : tuple of int
        The concept of each object.
    attributes : tuple of int
        Pairs of an object and its attribute, one after the other.
    relations : tuple of int
        Triples of subject, object and relation, one after the other.
    ties : int
        How often several nodes, attributes or relations were equally good to merge
        into.
    """

    objects: tuple[int, ...]
    attributes: tuple[int, ...]
    relations: tuple[int, ...]
    ties: int = 0

    @property
    def slots(self) -> tuple[tuple[int, ...], ...]:
        """The concepts of objects, of attributes and of relations."""
        return (self.objects, self.attributes, self.relations)

    @property
    def tuples(self) -> list[tuple[int, ...]]:
        """The objects, attributes and relations as tuples of concepts."""
        tuples = []
        for length, flat in zip(TUPLE_LENGTHS, self.slots, strict=True):
            for start in range(0, len(flat), length):
                tuples.append(flat[start : start + length])
        return tuples


# ---- merging -------------------------------------------------------------------------


class _Merger:
    """A scene graph while captions are merged into it.

    Most tuples have an object that is a node already, or one that is similar to no
    node. Neither case needs a comparison of nodes.

    Parameters
    ----------
    concepts : Concepts
    choices : sequence of int
        What to choose at the first ties. Later ties choose the first candidate.

    Attributes
    ----------
    tie_sizes : list of int
        The number of candidates of each tie so far.
    """

    def __init__(self, concepts: Concepts, choices: Sequence[int] = ()) -> None:
        self.tie_sizes: list[int] = []
        self._concepts = concepts
        self._choices = choices
        self._nodes: list[int] = []
        self._features_of_nodes: set[int] = set()
        # The node that each word created. It remains the most similar node of this
        # word, whatever is merged into it, because all other nodes have synsets that
        # the word does not have.
        self._node_of_word: dict[int, int] = {}
        self._attributes: list[list[int]] = []  # by node
        self._relations: dict[tuple[int, int], list[int]] = {}  # by subject and object

    def merge(self, captions: Sequence[Sequence[RawTuple]]) -> SceneGraph:
        """Merge the raw tuples of captions into one graph."""
        self._add_tuples(chain.from_iterable(captions))
        attributes = []
        for node, attributes_of_node in zip(self._nodes, self._attributes, strict=True):
            for attribute in attributes_of_node:
                attributes += [node, attribute]
        relations = []
        for (subject, other), relations_of_nodes in self._relations.items():
            for relation in relations_of_nodes:
                relations += [self._nodes[subject], self._nodes[other], relation]
        return SceneGraph(
            objects=tuple(self._nodes),
            attributes=tuple(attributes),
            relations=tuple(relations),
            ties=len(self.tie_sizes),
        )

    def _add_tuples(self, tuples: Iterable[RawTuple]) -> None:
        """Add raw tuples, one after the other."""
        numbers = self._concepts.numbers
        node_of_word = self._node_of_word
        for raw in tuples:
            word = numbers[raw[0]]
            node = node_of_word.get(word)
            if node is None:
                node = self._add_object(word)
            if len(raw) == 1:
                continue
            # The siblings are the attributes of the node, or the relations of two nodes.
            if len(raw) == 2:
                siblings = self._attributes[node]
                concept = numbers[raw[1]]
            else:
                word = numbers[raw[1]]
                other_node = node_of_word.get(word)
                if other_node is None:
                    other_node = self._add_object(word)
                siblings = self._relations.setdefault((node, other_node), [])
                concept = numbers[raw[2].removeprefix("be ")]
            if concept not in siblings:
                self._merge_into_siblings(concept, siblings)

    def _add_object(self, word: int) -> int:
        """Merge a word into a node or make it a new one, and return the node's index."""
        nodes = self._nodes
        features = self._concepts.features[word]
        is_new = self._features_of_nodes.isdisjoint(features)
        self._features_of_nodes |= features
        if is_new:
            index = len(nodes)
            self._node_of_word[word] = index
            nodes.append(word)
            self._attributes.append([])
            return index
        candidates = self._find_most_similar_nodes(word)
        index = candidates[self._choose(len(candidates))]
        nodes[index] = self._concepts.join(nodes[index], word)
        return index

    def _find_most_similar_nodes(self, word: int) -> list[int]:
        """Return the indices of the nodes with the highest similarity to a word."""
        is_similar = self._concepts.is_similar
        similarity = self._concepts.similarity
        highest = 0.0
        candidates: list[int] = []
        for index, node in enumerate(self._nodes):
            if not is_similar(node, word):
                continue
            similarity_of_node = similarity(node, word)
            if similarity_of_node > highest:
                highest = similarity_of_node
                candidates = [index]
            elif similarity_of_node == highest:
                candidates.append(index)
        return candidates

    def _merge_into_siblings(self, concept: int, siblings: list[int]) -> None:
        """Merge an attribute or relation into a similar one, or append it."""
        is_similar = self._concepts.is_similar
        candidates = [
            i for i, other in enumerate(siblings) if is_similar(other, concept)
        ]
        if not candidates:
            siblings.append(concept)
            return
        index = candidates[self._choose(len(candidates))]
        siblings[index] = self._concepts.join(siblings[index], concept)

    def _choose(self, n_candidates: int) -> int:
        """Choose one of several candidates."""
        if n_candidates == 1:
            return 0
        tie = len(self.tie_sizes)
        self.tie_sizes.append(n_candidates)
        if tie < len(self._choices):
            return self._choices[tie]
        return 0


def merge_captions(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts
) -> SceneGraph:
    """Merge the raw tuples of captions into a scene graph, with first choices at ties.

    Parameters
    ----------
    captions : sequence of sequences of raw tuples
    concepts : Concepts

    Examples
    --------
    >>> from semmetrics.text.synonyms import SynonymTable
    >>> concepts = Concepts(SynonymTable({"sofa": "1", "couch": "1"}, {}))
    >>> captions = [[("sofa", "red")], [("dog", "couch", "be on"), ("dog", "couch", "on")]]
    >>> graph = merge_captions(captions, concepts)
    >>> [" ".join(map(concepts.name, slots)) for slots in graph.tuples]
    ['couch/sofa', 'dog', 'couch/sofa red', 'dog couch/sofa on']
    """
    return _Merger(concepts).merge(captions)


def every_merge(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts
) -> Iterator[SceneGraph]:
    """Merge captions in every way in which ties can be decided.

    Yields the graph of `merge_captions` first.

    Examples
    --------
    >>> from semmetrics.text.synonyms import SynonymTable
    >>> concepts = Concepts(SynonymTable({"dog": "1", "cat": "1 2", "man": "2"}, {}))
    >>> for graph in every_merge([[("dog",), ("man",), ("cat",)]], concepts):
    ...     print(*map(concepts.name, graph.objects))
    cat/dog man
    dog cat/man
    """
    # A stack of iterators instead of recursion, as a large graph may have thousands of
    # ties.
    stack: list[Iterator[tuple[int, ...]]] = [iter([()])]
    while stack:
        choices = next(stack[-1], None)
        if choices is None:
            stack.pop()
            continue
        merger = _Merger(concepts, choices)
        yield merger.merge(captions)
        stack.append(_other_choices(choices, merger.tie_sizes))


def _other_choices(
    choices: tuple[int, ...], tie_sizes: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """Yield choices that decide one of the ties after the given choices differently.

    Ties before it are decided by the given choices, or else by the first candidate.
    """
    for tie in reversed(range(len(choices), len(tie_sizes))):
        first_choices = (0,) * (tie - len(choices))
        for choice in reversed(range(1, tie_sizes[tie])):
            yield (*choices, *first_choices, choice)


# ---- tables --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class GraphTable:
    """Many scene graphs in few arrays.

    Attributes
    ----------
    indptr : three int arrays, each of shape (graphs + 1,)
        Where the objects, attributes and relations of each graph begin.
    slots : three int arrays, shapes (objects, 1), (attributes, 2) and (relations, 3)
        The concepts of each tuple.
    ties : int array, shape (graphs,)
        The ties of each graph, as in `SceneGraph`.

    Examples
    --------
    >>> table = GraphTable.of([SceneGraph((0, 1), (0, 2), ()), SceneGraph((3,), (), (), 1)])
    >>> table.slots[0].tolist(), table.indptr[1].tolist()
    ([[0], [1], [3]], [0, 1, 1])
    >>> table.take(np.array([1, 0])).slots[0].tolist()
    [[3], [0], [1]]
    """

    indptr: tuple[Ints, ...]
    slots: tuple[Ints, ...]
    ties: Ints

    @classmethod
    def of(cls, graphs: Sequence[SceneGraph]) -> GraphTable:
        """Return the table of graphs."""
        objects = [graph.objects for graph in graphs]
        attributes = [graph.attributes for graph in graphs]
        relations = [graph.relations for graph in graphs]
        sizes = []
        flat_slots = []
        for slots in (objects, attributes, relations):
            sizes.append(np.fromiter(map(len, slots), np.int64, len(slots)))
            flat_slots.append(np.fromiter(chain.from_iterable(slots), np.int64))
        ties = np.array([graph.ties for graph in graphs], np.int64)
        return cls.from_slots(sizes, flat_slots, ties)

    @classmethod
    def join(cls, tables: Sequence[GraphTable]) -> GraphTable:
        """Return the graphs of several tables in their order."""
        indptr = []
        slots = []
        for kind in range(len(TUPLE_LENGTHS)):
            sizes = [lengths(table.indptr[kind]) for table in tables]
            indptr.append(offsets(np.concatenate(sizes)))
            slots.append(np.concatenate([table.slots[kind] for table in tables]))
        ties = np.concatenate([table.ties for table in tables])
        return cls(tuple(indptr), tuple(slots), ties)

    @classmethod
    def from_slots(
        cls, sizes: Sequence[Ints], flat_slots: Sequence[Ints], ties: Ints
    ) -> GraphTable:
        """Return the table of flat slots of objects, attributes and relations.

        Parameters
        ----------
        sizes : three int arrays, each of shape (graphs,)
            The number of slots of each graph.
        flat_slots : three int arrays
            The slots of all graphs.
        ties : int array, shape (graphs,)
        """
        indptr = []
        slots = []
        for length, size, flat in zip(TUPLE_LENGTHS, sizes, flat_slots, strict=True):
            indptr.append(offsets(size) // length)
            slots.append(flat.reshape(-1, length))
        return cls(tuple(indptr), tuple(slots), ties)

    def __len__(self) -> int:
        return len(self.ties)

    @property
    def n_tuples(self) -> Ints:
        """The number of tuples of each graph, shape (graphs,)."""
        n_tuples = np.zeros(len(self), np.int64)
        for indptr in self.indptr:
            n_tuples += lengths(indptr)
        return n_tuples

    def take(self, rows: Ints) -> GraphTable:
        """Return the graphs of these rows, in this order."""
        taken_indptr = []
        taken_slots = []
        for indptr, slots in zip(self.indptr, self.slots, strict=True):
            new_indptr, cells = take_rows(indptr, rows)
            taken_indptr.append(new_indptr)
            taken_slots.append(slots[cells])
        return GraphTable(tuple(taken_indptr), tuple(taken_slots), self.ties[rows])
