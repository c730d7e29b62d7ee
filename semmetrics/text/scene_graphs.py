"""Scene graphs: the tuples of captions, merged by synonyms.

Conventions
-----------
A parser gives an ordered list of raw tuples for each caption: ``(object,)``, ``(object,
attribute)`` and ``(subject, object, relation)``, in this order of the slots. A *concept* is a set
of words with the union of their synsets. Two concepts are *similar* if they share a word or a
synset; their *similarity* is 1 where they share a word, and otherwise the intersection over the
union of their synsets.

The captions of a graph are merged in their order, and each caption's tuples in theirs. SPICE's own
program looks at nodes in an order that changes from run to run; here the one that was there first
wins where several are equally good. ``SceneGraph.ties`` counts where that decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from semmetrics.core.ragged import (
    Ints,
    offsets,
    positions,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.errors import InputError
from semmetrics.messages import brief
from semmetrics.text.synonyms import SynonymTable

__all__ = [
    "MERGING",
    "Concepts",
    "RawTuple",
    "SceneGraph",
    "check_tuples",
    "every_merge",
    "merge_captions",
]

MERGING = 1
"""The version of the rules of merging, by which merged graphs are kept."""

RawTuple: TypeAlias = Sequence[str]
Words: TypeAlias = tuple[str, ...]
Features: TypeAlias = frozenset[int]  # synsets, and words as the complements of their numbers


def check_tuples(caption: Sequence[RawTuple], where: str) -> None:
    """Refuse what is no list of raw tuples.

    Raises
    ------
    InputError
        Shows the first that is none.
    """
    several = isinstance(caption, list | tuple)
    wrong = [raw for raw in caption if not _is_tuple(raw)] if several else [caption]
    if wrong:
        raise InputError(
            f"{brief(wrong[0])} is no tuple of a scene graph",
            where=where,
            remedy='give lists such as [["dog"], ["dog", "small"], ["dog", "sofa", "on"]]',
        )


def _is_tuple(raw: Any) -> bool:
    several = isinstance(raw, list | tuple) and 1 <= len(raw) <= 3
    return several and all(isinstance(word, str) and word.strip() for word in raw)


class _Numbers(dict[str, int]):
    """Numbers of words; a new word gets one, and features, at its first use.

    It knows nothing of its owner: many concepts in a cycle would wait for the garbage collector.
    """

    def __init__(self, synonyms: SynonymTable) -> None:
        super().__init__()
        self._synonyms = synonyms
        self.features: dict[int, Features] = {}
        self.words: dict[int, Words] = {}

    def __missing__(self, word: str) -> int:
        return self.setdefault(word, self.add(self._synonyms.synsets(word), (word,)))

    def add(self, features: Features, words: Words) -> int:
        """Return a number of its own for a new concept; one word is among its own features.

        Nothing finds it before it is whole, and no number is given twice: whoever interrupts a run,
        or scores in another thread, goes on with the same concepts.
        """
        for number in count(len(self.features)):
            whole = features.union((~number,)) if len(words) == 1 else features
            if self.features.setdefault(number, whole) is whole:
                break
        self.words[number] = words
        return number


class Concepts:
    """Concepts by number, and how similar they are.

    Parameters
    ----------
    synonyms : SynonymTable

    Attributes
    ----------
    numbers : mapping from str to int
        The concept of each word or phrase; a new one is made at its first look-up.
    features : mapping from int to frozenset
        The synsets of each concept, and its words: ``~number`` of each.
    words : mapping from int to tuple of str
        The words of each concept in order.
    identity : str
        Which synonyms they have; "" if it is not known.

    Examples
    --------
    >>> concepts = Concepts(SynonymTable({"sofa": "1", "couch": "1 2", "lounge": "1 2"}, {}))
    >>> sofa, couch, dog = map(concepts.of, ["sofa", "couch", "dog"])
    >>> concepts.similarity(sofa, couch), concepts.is_similar(sofa, dog)
    (0.5, False)
    >>> concepts.name(concepts.join(sofa, couch))
    'couch/sofa'
    """

    def __init__(self, synonyms: SynonymTable) -> None:
        self.identity = synonyms.identity
        self._numbers = numbers = _Numbers(synonyms)
        self.features: Mapping[int, Features] = numbers.features
        self.words: Mapping[int, Words] = numbers.words
        self.numbers: Mapping[str, int] = numbers
        self._several: dict[frozenset[str], int] = {}  # concepts of several words
        self._similarities: dict[tuple[int, int], float] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._all_features = np.zeros(0, np.int64), np.zeros(0, np.int64)  # lengths, and flat

    def __len__(self) -> int:
        return len(self.features)

    def of(self, words: str | Collection[str]) -> int:
        """Return the concept of a word or phrase, or that of several of them."""
        if isinstance(words, str):
            return self.numbers[words]
        key = frozenset(words)
        if len(key) == 1:
            return self.numbers[min(key)]
        if key not in self._several:
            features = Features().union(*(self.features[self.numbers[word]] for word in key))
            self._several.setdefault(key, self._numbers.add(features, tuple(sorted(key))))
        return self._several[key]

    def join(self, one: int, other: int) -> int:
        """Return the concept of the words of both."""
        found = self._joined.get((one, other))
        if found is None:
            words = self.words[one] + self.words[other]
            found = self._joined[one, other] = self.of(words)
        return found

    def similarity(self, one: int, other: int) -> float:
        """Return how similar two concepts are, in [0, 1]."""
        found = self._similarities.get((one, other))
        if found is None:
            found = self._similarities[one, other] = self._compare(one, other)
        return found

    def _compare(self, one: int, other: int) -> float:
        left, right = self.features[one], self.features[other]
        common, union = left & right, left | right
        if any(one < 0 for one in common):
            return 1.0
        return len(common) / sum(one >= 0 for one in union) if common else 0.0

    def is_similar(self, one: int, other: int) -> bool:
        """Whether two concepts share a word or a synset."""
        return not self.features[one].isdisjoint(self.features[other])

    def similar_pairs(
        self, ones: Ints, others: Ints, most: int = 1 << 20
    ) -> tuple[int, Iterator[tuple[Ints, Ints]]]:
        """Return how many pairs of places have similar concepts, and these, some at a time.

        A pair comes, and counts, once for each feature that its concepts share.
        """
        (values, mine), (among, theirs) = map(self._flat, (ones, others))
        order = np.argsort(among)
        among, theirs = among[order], theirs[order]
        first, last = (np.searchsorted(among, values, side) for side in ("left", "right"))
        indptr = offsets(last - first)

        def pairs() -> Iterator[tuple[Ints, Ints]]:
            for run in runs_within(indptr, most):
                counts = (last - first)[run]
                places = np.repeat(first[run], counts) + positions(offsets(counts))
                yield np.repeat(mine[run], counts), theirs[places]

        return int(indptr[-1]), pairs()

    def _flat(self, concepts: Ints) -> tuple[Ints, Ints]:
        """Return all features of concepts, and whose they are."""
        counts, flat = self._all_features
        if len(counts) < len(self):  # those that came since
            new = [self.features[one] for one in range(len(counts), len(self))]
            more = np.fromiter(map(len, new), np.int64, len(new))
            counts = np.concatenate([counts, more])
            flat = np.concatenate([flat, np.fromiter(chain.from_iterable(new), np.int64)])
            self._all_features = counts, flat
        indptr, places = take_rows(offsets(counts), concepts)
        return flat[places], row_numbers(indptr)

    def name(self, concept: int) -> str:
        """Write a concept: its words with slashes between them."""
        return "/".join(self.words[concept])


class SceneGraph(NamedTuple):
    """The tuples of captions that were merged, in few objects.

    Attributes
    ----------
    objects, attributes, relations : tuple of int
        Concepts, one tuple after the other: each object; each object and its attribute; each
        subject, object and relation.
    ties : int
        Where several nodes, attributes or relations were equally good to merge into.
    """

    objects: tuple[int, ...]
    attributes: tuple[int, ...]
    relations: tuple[int, ...]
    ties: int = 0

    @property
    def tuples(self) -> list[tuple[int, ...]]:
        """The objects, attributes and relations as tuples of concepts."""
        sides = enumerate((self.objects, self.attributes, self.relations), 1)
        return [one for n, side in sides for one in zip(*[iter(side)] * n, strict=True)]


class _Choices:
    """Which of several equally good ones is taken each time: the first, where nothing is said."""

    def __init__(self, taken: Sequence[int] = ()) -> None:
        self._taken = taken
        self.sizes: list[int] = []

    def among(self, number: int) -> int:
        if number < 2:
            return 0
        place = len(self.sizes)
        self.sizes.append(number)
        return self._taken[place] if place < len(self._taken) else 0


class _Merger:
    """A scene graph while captions are merged into it.

    Most tuples are of a node that is there already, or of one that is like none: both are told
    without a comparison of nodes.
    """

    def __init__(self, concepts: Concepts, choices: _Choices) -> None:
        self._concepts, self._choices = concepts, choices
        self._nodes: list[int] = []
        # A node stays the one most similar to the word that made it, whatever is merged into it:
        # all others have synsets that this word has not.
        self._places: dict[int, int] = {}
        self._held: set[int] = set()  # words and synsets of all nodes
        self._attributes: list[list[int]] = []
        self._relations: dict[tuple[int, int], list[int]] = {}

    def add(self, caption: Sequence[RawTuple]) -> None:
        """Merge the raw tuples of a caption."""
        numbers, places, node = self._concepts.numbers, self._places, self._node
        for raw in caption:
            concept = numbers[raw[0]]
            place = places[concept] if concept in places else node(concept)
            if len(raw) == 1:
                continue
            concept = numbers[raw[1]]
            if len(raw) == 2:
                among = self._attributes[place]
            else:
                end = places[concept] if concept in places else node(concept)
                concept = numbers[raw[2].removeprefix("be ")]
                among = self._relations.setdefault((place, end), [])
            if concept not in among:
                self._merge(among, concept)

    def _node(self, concept: int) -> int:
        """Return the place of the node that a new object is merged into, or of one of its own."""
        nodes, features = self._nodes, self._concepts.features[concept]
        is_new = self._held.isdisjoint(features)
        self._held |= features
        if is_new:
            place = self._places[concept] = len(nodes)
            nodes.append(concept)
            self._attributes.append([])
            return place
        is_similar, similarity = self._concepts.is_similar, self._concepts.similarity
        near = [place for place, node in enumerate(nodes) if is_similar(node, concept)]
        likeness = [similarity(nodes[place], concept) for place in near]
        most = max(likeness)
        best = [place for place, one in zip(near, likeness, strict=True) if one == most]
        place = best[self._choices.among(len(best))]
        nodes[place] = self._concepts.join(nodes[place], concept)
        return place

    def _merge(self, among: list[int], concept: int) -> None:
        """Merge an attribute or a relation into a similar one, or add it."""
        is_similar = self._concepts.is_similar
        near = among and [p for p, other in enumerate(among) if is_similar(other, concept)]
        if near:
            place = near[self._choices.among(len(near))]
            among[place] = self._concepts.join(among[place], concept)
        else:
            among.append(concept)

    def graph(self) -> SceneGraph:
        """Return what was merged."""
        nodes, attributes, relations = self._nodes, list[int](), list[int]()
        for node, several in zip(nodes, self._attributes, strict=True):
            for one in several:
                attributes += node, one
        for (subject, end), several in self._relations.items():
            for one in several:
                relations += nodes[subject], nodes[end], one
        ties = len(self._choices.sizes)
        return SceneGraph(tuple(nodes), tuple(attributes), tuple(relations), ties)


def merge_captions(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts, taken: Sequence[int] = ()
) -> SceneGraph:
    """Merge the raw tuples of captions into one scene graph.

    Parameters
    ----------
    captions : sequence of sequences of raw tuples
    concepts : Concepts
    taken : sequence of int
        The choice at each tie, from 0; ties beyond its end take the first.

    Examples
    --------
    >>> concepts = Concepts(SynonymTable({"sofa": "1", "couch": "1"}, {}))
    >>> captions = [[("sofa", "red")], [("dog", "couch", "be on"), ("dog", "couch", "on")]]
    >>> graph = merge_captions(captions, concepts)
    >>> [" ".join(map(concepts.name, one)) for one in graph.tuples]
    ['couch/sofa', 'dog', 'couch/sofa red', 'dog couch/sofa on']
    """
    return _merged(captions, concepts, _Choices(taken))


def _merged(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts, choices: _Choices
) -> SceneGraph:
    merger = _Merger(concepts, choices)
    for tuples in captions:
        merger.add(tuples)
    return merger.graph()


def every_merge(captions: Sequence[Sequence[RawTuple]], concepts: Concepts) -> Iterator[SceneGraph]:
    """Merge captions in every way in which ties can be decided.

    Yields the graph of `merge_captions` first.

    Examples
    --------
    >>> concepts = Concepts(SynonymTable({"dog": "1", "cat": "1 2", "man": "2"}, {}))
    >>> for graph in every_merge([[("dog",), ("man",), ("cat",)]], concepts):
    ...     print(*map(concepts.name, graph.objects))
    cat/dog man
    dog cat/man
    """
    waiting: list[Iterator[tuple[int, ...]]] = [iter([()])]
    while waiting:
        taken = next(waiting[-1], None)
        if taken is None:
            waiting.pop()
            continue
        choices = _Choices(taken)
        yield _merged(captions, concepts, choices)
        waiting.append(_others(taken, choices.sizes))


def _others(taken: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield what else may be taken: what the first of those tied was taken at, one of the others.

    One at a time, as a large graph may have thousands of ties.
    """
    for place in reversed(range(len(taken), len(sizes))):
        before = taken + (0,) * (place - len(taken))
        yield from ((*before, other) for other in reversed(range(1, sizes[place])))
