"""Scene graphs: the tuples of captions, merged by synonyms.

Conventions
-----------
A parser gives an ordered list of raw tuples for each caption. A *concept* is a set of words with
the union of their synsets. Two concepts are *similar* if they share a word or a synset; their
*similarity* is 1 if they share a word, and otherwise the intersection over the union of their
synsets.

The captions of a graph are merged in their order, and each caption's tuples in theirs. SPICE's own
program looks at nodes in an order that changes from run to run; here the one that was there first
wins among equally good ones. ``SceneGraph.ties`` counts how often that decided.

What is scored a second time is neither parsed nor merged again: the graph that captions are merged
into is kept beside their parses (`semmetrics.text.parses`), by the parser, the synonyms and the
captions in their order. Graphs are held in a few arrays, in which thousands are read and compared
at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, count
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from semmetrics.core.ragged import (
    Ints,
    offsets,
    positions,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.data.source import no_collection
from semmetrics.errors import Fact
from semmetrics.store.text_cache import Row, TextCache, as_json
from semmetrics.text.parses import KeptParser
from semmetrics.text.synonyms import SynonymTable, open_synonyms
from semmetrics.text.tokenizers import RawTuple

MERGING = 1
"""The version of the rules of merging, by which merged graphs are kept."""

Words: TypeAlias = tuple[str, ...]
# synsets, and words as the complements of their numbers
Features: TypeAlias = frozenset[int]
Group: TypeAlias = tuple[str, ...]

_MANY = 1 << 14  # concepts that are too many to stay for the next graphs
_PAIRS = 1 << 20  # of similar concepts that are found at once
_ROW_BITS = 32
_NUMBER = np.dtype("<i4")  # of what is kept
_TABLE = ("merged_graphs", {"words": "BLOB", "places": "BLOB"})


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
        # lengths, and flat
        self._all_features = (
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
        )

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
            features = Features().union(
                *(self.features[self.numbers[word]] for word in key)
            )
            self._several.setdefault(
                key, self._numbers.add(features, tuple(sorted(key)))
            )
        return self._several[key]

    def join(self, one: int, other: int) -> int:
        """Return the concept of the words of both."""
        found = self._joined.get((one, other))
        if found is None:
            found = self._joined[one, other] = self.of(
                self.words[one] + self.words[other]
            )
        return found

    def similarity(self, one: int, other: int) -> float:
        """Return how similar two concepts are, in [0, 1]."""
        found = self._similarities.get((one, other))
        if found is None:
            left, right = self.features[one], self.features[other]
            common, union = left & right, left | right
            if any(feature < 0 for feature in common):  # a word
                found = 1.0
            else:
                found = len(common) / sum(x >= 0 for x in union) if common else 0.0
            self._similarities[one, other] = found
        return found

    def is_similar(self, one: int, other: int) -> bool:
        """Whether two concepts share a word or a synset."""
        return not self.features[one].isdisjoint(self.features[other])

    def similar_pairs(
        self, ones: Ints, others: Ints
    ) -> tuple[int, Iterator[tuple[Ints, Ints]]]:
        """Return how many pairs of places have similar concepts, and these, some at a time.

        A pair comes, and counts, once for each feature that its concepts share.
        """
        (values, mine), (among, theirs) = map(self._flat, (ones, others))
        order = np.argsort(among)
        among, theirs = among[order], theirs[order]
        first, last = (
            np.searchsorted(among, values, side) for side in ("left", "right")
        )
        indptr = offsets(last - first)

        def pairs() -> Iterator[tuple[Ints, Ints]]:
            for run in runs_within(indptr, _PAIRS):
                counts = (last - first)[run]
                places = np.repeat(first[run], counts) + positions(offsets(counts))
                yield np.repeat(mine[run], counts), theirs[places]

        return int(indptr[-1]), pairs()

    def _flat(self, concepts: Ints) -> tuple[Ints, Ints]:
        """Return all features of concepts, and whose they are."""
        counts, flat = self._all_features
        if len(counts) < len(self):  # those that came since
            new = [self.features[one] for one in range(len(counts), len(self))]
            counts = np.concatenate(
                [counts, np.fromiter(map(len, new), np.int64, len(new))]
            )
            flat = np.concatenate(
                [flat, np.fromiter(chain.from_iterable(new), np.int64)]
            )
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


class _Merger:
    """A scene graph while captions are merged into it.

    Most tuples are of a node that exists already, or of one that is like none: neither needs a
    comparison of nodes.
    """

    def __init__(self, concepts: Concepts, taken: Sequence[int] = ()) -> None:
        self._concepts, self._taken = concepts, taken
        self.sizes: list[
            int
        ] = []  # of the ties so far; the first is taken, unless given
        self._nodes: list[int] = []
        # A node stays the one most similar to the word that made it, whatever is merged into it:
        # all others have synsets that this word has not.
        self._places: dict[int, int] = {}
        self._features: set[int] = set()  # words and synsets of all nodes
        self._attributes: list[list[int]] = []
        self._relations: dict[tuple[int, int], list[int]] = {}

    def _choose(self, number: int) -> int:
        if number < 2:
            return 0
        self.sizes.append(number)
        return (
            self._taken[len(self.sizes) - 1]
            if len(self.sizes) <= len(self._taken)
            else 0
        )

    def merge(self, captions: Sequence[Sequence[RawTuple]]) -> SceneGraph:
        """Merge the raw tuples of captions into one graph."""
        numbers, places, node = self._concepts.numbers, self._places, self._node
        for raw in chain.from_iterable(captions):
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
            if concept in among:
                continue
            # merged into a similar one, or added
            is_similar = self._concepts.is_similar
            near = among and [
                p for p, other in enumerate(among) if is_similar(other, concept)
            ]
            if near:
                place = near[self._choose(len(near))]
                among[place] = self._concepts.join(among[place], concept)
            else:
                among.append(concept)
        nodes, attributes, relations = self._nodes, list[int](), list[int]()
        for place, several in zip(nodes, self._attributes, strict=True):
            for one in several:
                attributes += place, one
        for (subject, end), several in self._relations.items():
            for one in several:
                relations += nodes[subject], nodes[end], one
        return SceneGraph(
            tuple(nodes), tuple(attributes), tuple(relations), len(self.sizes)
        )

    def _node(self, concept: int) -> int:
        """Return the place of the node that a new object is merged into, or of one of its own."""
        nodes, features = self._nodes, self._concepts.features[concept]
        is_new = self._features.isdisjoint(features)
        self._features |= features
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
        place = best[self._choose(len(best))]
        nodes[place] = self._concepts.join(nodes[place], concept)
        return place


def merge_captions(
    captions: Sequence[Sequence[RawTuple]], concepts: Concepts
) -> SceneGraph:
    """Merge the raw tuples of captions into one scene graph; at ties the first choice is taken.

    Parameters
    ----------
    captions : sequence of sequences of raw tuples
    concepts : Concepts

    Examples
    --------
    >>> concepts = Concepts(SynonymTable({"sofa": "1", "couch": "1"}, {}))
    >>> captions = [[("sofa", "red")], [("dog", "couch", "be on"), ("dog", "couch", "on")]]
    >>> graph = merge_captions(captions, concepts)
    >>> [" ".join(map(concepts.name, one)) for one in graph.tuples]
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
        merger = _Merger(concepts, taken)
        yield merger.merge(captions)
        waiting.append(_others(taken, merger.sizes))


def _others(taken: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield what else may be taken: what the first of those tied was taken at, one of the others.

    One at a time, as a large graph may have thousands of ties.
    """
    for place in reversed(range(len(taken), len(sizes))):
        before = taken + (0,) * (place - len(taken))
        yield from ((*before, other) for other in reversed(range(1, sizes[place])))


@dataclass(frozen=True, eq=False, repr=False)
class GraphTable:
    """Many scene graphs in few arrays.

    Attributes
    ----------
    indptr : three arrays of int, each of shape (graphs + 1,)
        Where the objects, attributes and relations of each graph begin.
    slots : three arrays of int, shapes (objects, 1), (attributes, 2) and (relations, 3)
        The concepts of each tuple.
    ties : array of int, shape (graphs,)
        How many each graph has, as in `SceneGraph`.

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
        names = ("objects", "attributes", "relations")
        sides = [list(map(attrgetter(name), graphs)) for name in names]
        widths = [np.fromiter(map(len, side), np.int64, len(side)) for side in sides]
        flat = [np.fromiter(chain.from_iterable(side), np.int64) for side in sides]
        return cls.from_slots(
            widths, flat, np.array([graph.ties for graph in graphs], np.int64)
        )

    @classmethod
    def join(cls, tables: Sequence[GraphTable]) -> GraphTable:
        """Return the graphs of several tables in their order."""
        widths = [
            np.concatenate([np.diff(one.indptr[k]) for one in tables]) for k in range(3)
        ]
        return cls(
            tuple(map(offsets, widths)),
            tuple(
                np.concatenate([table.slots[place] for table in tables])
                for place in range(3)
            ),
            np.concatenate([table.ties for table in tables]),
        )

    @classmethod
    def from_slots(
        cls, widths: Sequence[Ints], flat: Sequence[Ints], ties: Ints
    ) -> GraphTable:
        """Return the table of flat slots of objects, attributes and relations.

        ``widths`` has, for each of the three, how many slots each graph has.
        """
        return cls(
            tuple(offsets(width) // length for length, width in enumerate(widths, 1)),
            tuple(slots.reshape(-1, length) for length, slots in enumerate(flat, 1)),
            ties,
        )

    def __len__(self) -> int:
        return len(self.ties)

    @property
    def n_tuples(self) -> Ints:
        """How many tuples each graph has, shape (graphs,)."""
        return sum(map(np.diff, self.indptr), np.zeros(len(self), np.int64))

    def take(self, rows: Ints) -> GraphTable:
        """Return the graphs of rows, in the order given."""
        taken = [take_rows(indptr, rows) for indptr in self.indptr]
        slots = (
            slots[places] for slots, (_, places) in zip(self.slots, taken, strict=True)
        )
        return GraphTable(
            tuple(indptr for indptr, _ in taken), tuple(slots), self.ties[rows]
        )


class Graphs:
    """The scene graphs of captions, each parsed once and merged once.

    Parameters
    ----------
    parser : KeptParser

    Examples
    --------
    >>> from semmetrics.text.parses import FunctionParser
    >>> parser = FunctionParser(lambda captions: [[(one,) for one in c.split()] for c in captions])
    >>> graphs = Graphs(KeptParser(parser))
    >>> graphs.prepare([("dog", "dog cat")])
    >>> len(graphs.take([("dog", "dog cat")]).slots[0])
    2
    """

    def __init__(self, parser: KeptParser) -> None:
        self.parser = parser
        # Each batch stays a table of its own, so that adding few to many costs little. A place is
        # the number of a table and, in the lower bits, a row of it.
        self._tables: dict[int, GraphTable] = {}
        self._places: dict[Group, int] = {}
        self._cache: TextCache | None = None

    @property
    def trouble(self) -> Fact | None:
        """Why what is kept is not used, or that rows of it were damaged."""
        return self.parser.trouble or (
            None if self._cache is None else self._cache.trouble
        )

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of all merged graphs; they need the package that brings synonyms.

        The graphs of a process share them, as runs have most words in common, until they are many.
        """
        synonyms = open_synonyms()
        if len(_concepts(synonyms)) > _MANY:
            _concepts.cache_clear()
        return _concepts(synonyms)

    def prepare(
        self,
        groups: Iterable[Group],
        explain: Callable[[str], tuple[str, str]] | None = None,
    ) -> None:
        """Merge groups of captions that are not kept; all are parsed at once.

        Parameters
        ----------
        groups : iterable of tuples of str
        explain : callable, optional
            As that of `KeptParser.tuples`.

        Raises
        ------
        InputError
            If the parser fails on captions: on how many, and the first.
        """
        # of many small lists and tuples, none of which is a cycle
        with no_collection():
            groups = dict.fromkeys(groups)
            self._recall([one for one in groups if one not in self._places])
        new = [one for one in groups if one not in self._places]
        parse = self.parser.tuples
        parse(list(dict.fromkeys(chain.from_iterable(new))), explain)
        with no_collection():
            graphs = [merge_captions(parse(one), self.concepts) for one in new]
        self._add(new, GraphTable.of(graphs))
        self._keep(new, graphs)
        if len(self.concepts) > _MANY:
            _concepts.cache_clear()  # they go with these graphs, not with the process

    def take(self, groups: Sequence[Group]) -> GraphTable:
        """Return the graph of each group of captions, merged in their order.

        Groups that were not prepared are prepared first.
        """
        if not all(one in self._places for one in groups):
            self.prepare(groups)
        if not groups:
            return GraphTable.of([])
        places = np.fromiter(
            map(self._places.__getitem__, groups), np.int64, len(groups)
        )
        numbers, rows = places >> _ROW_BITS, places & ((1 << _ROW_BITS) - 1)
        if (numbers == numbers[0]).all():
            return self._tables[int(numbers[0])].take(rows)
        order = np.argsort(numbers, kind="stable")
        runs = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
        parts = [self._tables[int(numbers[run[0]])].take(rows[run]) for run in runs]
        return GraphTable.join(parts).take(np.argsort(order))

    @property
    def has_ties(self) -> bool:
        """Whether any graph so far has ties."""
        return any(table.ties.any() for table in list(self._tables.values()))

    def _add(self, groups: Sequence[Group], table: GraphTable) -> None:
        """Add the graphs of groups; no interruption or other thread changes what is there."""
        if not groups:
            return
        number = len(self._tables)
        while self._tables.setdefault(number, table) is not table:
            number += 1
        start = number << _ROW_BITS
        self._places.update(zip(groups, range(start, start + len(table)), strict=True))

    def _open(self) -> TextCache | None:
        """Return the table of what is kept, if parses are kept that are the parser's own."""
        parser = self.parser
        if (
            parser.file is None
            or parser.n_given
            or parser.trouble
            or not self.concepts.identity
        ):
            return None
        if self._cache is None and os.path.exists(parser.file):  # noqa: PTH110, no error
            self._cache = TextCache(parser.file, *_TABLE)
        return self._cache

    @property
    def _identity(self) -> str:
        return f"{self.parser.identity}, merged {MERGING} by {self.concepts.identity}"

    def _recall(self, groups: Sequence[Group]) -> None:
        """Read the graphs that are kept."""
        keys = {key: one for one in groups if (key := _key(one))}
        cache = self._open() if keys else None
        if cache is not None:
            rows = cache.find(self._identity, list(keys))
            self._add(
                [keys[key] for key in rows],
                _read_graphs(list(rows.values()), self.concepts),
            )

    def _keep(self, groups: Sequence[Group], graphs: Sequence[SceneGraph]) -> None:
        """Keep the words of the concepts of graphs as JSON, and the rest as numbers.

        The words of a concept are a list where they are several. The numbers are the ties, the
        numbers of slots of objects, attributes and relations, and for each slot the place of its
        concept.
        """
        cache, rows = self._open() if groups else None, dict[str, Row]()
        for key, graph in zip(map(_key, groups), graphs, strict=True) if cache else ():
            slots = list(chain(*graph[:3]))
            places = {one: place for place, one in enumerate(dict.fromkeys(slots))}
            words = map(self.concepts.words.__getitem__, places)
            names = [several if len(several) > 1 else several[0] for several in words]
            numbers = [
                graph.ties,
                *map(len, graph[:3]),
                *map(places.__getitem__, slots),
            ]
            if key:
                rows[key] = as_json(names), np.array(numbers, _NUMBER).tobytes()
        if cache is not None:
            cache.keep(self._identity, rows)


@lru_cache(maxsize=1)
def _concepts(synonyms: SynonymTable) -> Concepts:
    return Concepts(synonyms)


def _key(captions: Group) -> str:
    """Return captions as one text; "" if a line break is in one of them."""
    text = "\n".join(captions)
    return text if text.count("\n") + 1 == len(captions) else ""


def _read_graphs(rows: Sequence[Row], concepts: Concepts) -> GraphTable:
    """Return the graphs that were written."""
    names = json.loads(b"[" + b",".join([row[0] for row in rows]) + b"]")
    numbers = concepts.numbers
    flat = chain.from_iterable(names)
    found = (numbers[one] if type(one) is str else concepts.of(one) for one in flat)
    codes = np.fromiter(found, np.int64)
    first = offsets(np.fromiter(map(len, names), np.int64, len(rows)))[:-1]
    written = np.frombuffer(b"".join([row[1] for row in rows]), _NUMBER).astype(
        np.int64
    )
    place = offsets(
        np.array([len(row[1]) for row in rows], np.int64) // _NUMBER.itemsize
    )[:-1]
    ties, *widths = (written[place + number] for number in range(4))
    place, slots = place + 4, list[Ints]()
    for width in widths:
        within = np.repeat(place, width) + positions(offsets(width))
        slots.append(codes[np.repeat(first, width) + written[within]])
        place = place + width
    return GraphTable.from_slots(widths, slots, ties)
