"""Scene graphs: the tuples of captions merged by synonyms, and which of two graphs' tuples match.

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

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from semmetrics.errors import InputError, brief
from semmetrics.frozen import dataclass
from semmetrics.text.synonyms import SynonymTable

__all__ = ["Concepts", "RawTuple", "SceneGraph", "Tuple", "check_tuples", "every_merge",
           "merge_captions"]  # fmt: skip

RawTuple: TypeAlias = Sequence[str]
Tuple: TypeAlias = tuple[int, ...]


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
    return several and all(isinstance(word, str) for word in raw)


class Concepts:
    """Concepts by number, and how similar they are.

    Parameters
    ----------
    synonyms : SynonymTable

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
        self._synonyms = synonyms
        self._words: list[frozenset[str]] = []
        self._synsets: list[frozenset[int]] = []
        self._features: list[frozenset[str | int]] = []  # words and synsets
        self._names: list[str] = []
        self._numbers: dict[frozenset[str], int] = {}
        self._of: dict[str, int] = {}
        self._similarities: dict[tuple[int, int], float] = {}

    def __len__(self) -> int:
        return len(self._words)

    def of(self, word: str) -> int:
        """Return the concept of one word or phrase."""
        number = self._of.get(word)
        if number is None:
            number = self._number(frozenset([word]), self._synonyms.synsets(word))
            self._of[word] = number
        return number

    def join(self, one: int, other: int) -> int:
        """Return the concept of the words of both."""
        return self._number(
            self._words[one] | self._words[other], self._synsets[one] | self._synsets[other]
        )

    def _number(self, words: frozenset[str], synsets: frozenset[int]) -> int:
        number = self._numbers.setdefault(words, len(self._words))
        if number == len(self._words):
            self._words.append(words)
            self._synsets.append(synsets)
            self._features.append(words | synsets)
            self._names.append("/".join(sorted(words)))
        return number

    def similarity(self, one: int, other: int) -> float:
        """Return how similar two concepts are, in [0, 1]."""
        if one == other:
            return 1.0
        found = self._similarities.get((one, other))
        if found is None:
            found = self._similarities[one, other] = self._compare(one, other)
        return found

    def _compare(self, one: int, other: int) -> float:
        if not self._words[one].isdisjoint(self._words[other]):
            return 1.0
        left, right = self._synsets[one], self._synsets[other]
        common = len(left & right)
        return common / (len(left) + len(right) - common) if common else 0.0

    def is_similar(self, one: int, other: int) -> bool:
        """Whether two concepts share a word or a synset."""
        return one == other or not self._features[one].isdisjoint(self._features[other])

    def words(self, concept: int) -> frozenset[str]:
        """Return the words of a concept."""
        return self._words[concept]

    def synsets(self, concept: int) -> frozenset[int]:
        """Return the numbers of a concept's synsets."""
        return self._synsets[concept]

    def name(self, concept: int) -> str:
        """Write a concept: its words with slashes between them."""
        return self._names[concept]

    def match(self, one: Tuple, other: Tuple) -> bool:
        """Whether two tuples are of one length and similar in each slot."""
        return len(one) == len(other) and all(map(self.is_similar, one, other))


@dataclass(frozen=True, eq=False)
class SceneGraph:
    """The tuples of captions that were merged.

    Attributes
    ----------
    tuples : tuple of tuples of int
        Concepts: each object, then each attribute behind its object, then each relation behind its
        subject and its object.
    ties : int
        Where several nodes, attributes or relations were equally good to merge into.
    """

    tuples: tuple[Tuple, ...]
    ties: int = 0


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
    """A scene graph while captions are merged into it."""

    def __init__(self, concepts: Concepts, choices: _Choices) -> None:
        self._concepts, self._choices = concepts, choices
        self._nodes: list[int] = []
        self._attributes: list[list[int]] = []
        self._relations: dict[tuple[int, int], list[int]] = {}

    def add(self, raw: RawTuple) -> None:
        """Merge one raw tuple."""
        of = self._concepts.of
        if len(raw) == 1:
            self._node(of(raw[0]))
        elif len(raw) == 2:
            self._merge(self._attributes[self._node(of(raw[0]))], of(raw[1]))
        else:
            ends = self._node(of(raw[0])), self._node(of(raw[1]))
            self._merge(self._relations.setdefault(ends, []), of(raw[2].removeprefix("be ")))

    def _node(self, concept: int) -> int:
        """Return the place of an object's node: an equal one, the most similar, or a new one."""
        nodes = self._nodes
        if concept in nodes:
            return nodes.index(concept)
        is_similar, similarity = self._concepts.is_similar, self._concepts.similarity
        near = [place for place, node in enumerate(nodes) if is_similar(node, concept)]
        if not near:
            nodes.append(concept)
            self._attributes.append([])
            return len(nodes) - 1
        likeness = [similarity(nodes[place], concept) for place in near]
        most = max(likeness)
        best = [place for place, one in zip(near, likeness, strict=True) if one == most]
        place = best[self._choices.among(len(best))]
        nodes[place] = self._concepts.join(nodes[place], concept)
        return place

    def _merge(self, among: list[int], concept: int) -> None:
        """Merge an attribute or a relation into a similar one, or add it."""
        if concept in among:
            return
        near = [p for p, other in enumerate(among) if self._concepts.is_similar(other, concept)]
        if near:
            place = near[self._choices.among(len(near))]
            among[place] = self._concepts.join(among[place], concept)
        else:
            among.append(concept)

    def graph(self) -> SceneGraph:
        """Return what was merged."""
        nodes = self._nodes
        tuples: list[Tuple] = [(node,) for node in nodes]
        for node, several in zip(nodes, self._attributes, strict=True):
            tuples += [(node, attribute) for attribute in several]
        for (subject, object_), several in self._relations.items():
            tuples += [(nodes[subject], nodes[object_], relation) for relation in several]
        return SceneGraph(tuple(tuples), len(self._choices.sizes))


def merge_captions(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts, taken: Sequence[int] = ()
) -> SceneGraph:
    """Merge the raw tuples of captions into one scene graph.

    Parameters
    ----------
    captions : sequence of sequences of raw tuples
    concepts : Concepts
    taken : sequence of int
        At each tie, which of those that are equally good; the first where it ends.

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
        for raw in tuples:
            merger.add(raw)
    return merger.graph()


def every_merge(captions: Sequence[Sequence[RawTuple]], concepts: Concepts) -> Iterator[SceneGraph]:
    """Merge captions in every way in which ties can be decided.

    Yields the graph of `merge_captions` first.
    """
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        taken = waiting.pop()
        choices = _Choices(taken)
        yield _merged(captions, concepts, choices)
        # What the first of those tied was taken at, the others are still to be taken at.
        for place in range(len(taken), len(choices.sizes)):
            before = taken + (0,) * (place - len(taken))
            waiting += [(*before, other) for other in range(1, choices.sizes[place])]
