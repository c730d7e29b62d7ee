"""The scene graphs of groups of captions, each merged once and kept.

Conventions
-----------
What is scored a second time is neither parsed nor merged again: the graph that captions are merged
into is kept beside their parses (`semmetrics.text.parses`), by the parser, the synonyms and the
captions in their order. Graphs are held in a few arrays, in which thousands are read and compared
at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain, count
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Ints, lengths, offsets, positions, take_rows
from semmetrics.data.source import no_collection
from semmetrics.frozen import dataclass
from semmetrics.store.cache import Row, TextCache, as_json
from semmetrics.text.parses import KeptParser
from semmetrics.text.scene_graphs import MERGING, Concepts, SceneGraph, merge_captions
from semmetrics.text.synonyms import SynonymTable, open_synonyms

__all__ = ["GraphTable", "Graphs", "Group"]

Group: TypeAlias = tuple[str, ...]

_MANY = 1 << 14  # concepts that are too many to stay for the next graphs
_ROW_BITS = 32
_NUMBER = np.dtype("<i4")  # of what is kept
_TABLE = ("merged_graphs", {"words": "BLOB", "places": "BLOB"})


@dataclass(frozen=True, eq=False)
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
    >>> table.take(np.array([1, 0])).graph(0)
    SceneGraph(objects=(3,), attributes=(), relations=(), ties=1)
    """

    indptr: tuple[Ints, ...]
    slots: tuple[Ints, ...]
    ties: Ints

    @classmethod
    def of(cls, graphs: Sequence[SceneGraph]) -> GraphTable:
        """Return the table of graphs."""
        sides = (
            [graph.objects for graph in graphs],
            [graph.attributes for graph in graphs],
            [graph.relations for graph in graphs],
        )
        widths = [np.fromiter(map(len, side), np.int64, len(side)) for side in sides]
        flat = [np.fromiter(chain.from_iterable(side), np.int64) for side in sides]
        return cls.from_slots(widths, flat, np.array([graph.ties for graph in graphs], np.int64))

    @classmethod
    def join(cls, tables: Sequence[GraphTable]) -> GraphTable:
        """Return the graphs of several tables in their order."""
        widths = [
            np.concatenate([np.diff(table.indptr[place]) for table in tables]) for place in range(3)
        ]
        return cls(
            tuple(map(offsets, widths)),
            tuple(np.concatenate([table.slots[place] for table in tables]) for place in range(3)),
            np.concatenate([table.ties for table in tables]),
        )

    @classmethod
    def from_slots(cls, widths: Sequence[Ints], flat: Sequence[Ints], ties: Ints) -> GraphTable:
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
        objects, attributes, relations = map(lengths, self.indptr)
        return objects + attributes + relations

    def take(self, rows: Ints) -> GraphTable:
        """Return the graphs of rows, in the order given."""
        taken = [take_rows(indptr, rows) for indptr in self.indptr]
        slots = (slots[places] for slots, (_, places) in zip(self.slots, taken, strict=True))
        return GraphTable(tuple(indptr for indptr, _ in taken), tuple(slots), self.ties[rows])

    def graph(self, row: int) -> SceneGraph:
        """Return the graph of a row."""
        objects, attributes, relations = (
            tuple(slots[indptr[row] : indptr[row + 1]].ravel().tolist())
            for indptr, slots in zip(self.indptr, self.slots, strict=True)
        )
        return SceneGraph(objects, attributes, relations, int(self.ties[row]))


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
        self._numbers = count()
        self._cache: TextCache | None = None

    @property
    def trouble(self) -> str:
        """Why what is kept is not used, and what to do; "" where all is well."""
        return self.parser.trouble or ("" if self._cache is None else self._cache.trouble)

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of all merged graphs; they need the package that brings synonyms."""
        return _shared_concepts(open_synonyms())

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
            If the parser fails on captions; says on how many, and the first.
        """
        with no_collection():  # of many small lists and tuples, none of which is a cycle
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
        places = np.fromiter(map(self._places.__getitem__, groups), np.int64, len(groups))
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
        if groups:
            number = next(self._numbers)
            self._tables[number] = table
            start = number << _ROW_BITS
            self._places.update(zip(groups, range(start, start + len(table)), strict=True))

    def _open(self) -> TextCache | None:
        """Return the table of what is kept, where parses are kept that are the parser's own."""
        parser = self.parser
        if parser.file is None or parser.n_given or parser.trouble or not self.concepts.identity:
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
            self._add([keys[key] for key in rows], _read_graphs(list(rows.values()), self.concepts))

    def _keep(self, groups: Sequence[Group], graphs: Sequence[SceneGraph]) -> None:
        cache = self._open() if groups else None
        if cache is not None:
            pairs = zip(map(_key, groups), graphs, strict=True)
            rows = {key: _write_graph(graph, self.concepts) for key, graph in pairs if key}
            cache.keep(self._identity, rows)


def _shared_concepts(synonyms: SynonymTable) -> Concepts:
    """Return the concepts that the graphs of a process share, new ones where those are too many.

    Runs have most words in common.
    """
    if len(_concepts(synonyms)) > _MANY:
        _concepts.cache_clear()
    return _concepts(synonyms)


@lru_cache(maxsize=1)
def _concepts(synonyms: SynonymTable) -> Concepts:
    return Concepts(synonyms)


def _key(captions: Group) -> str:
    """Return captions as one text; "" where a line break is in one of them."""
    text = "\n".join(captions)
    return text if text.count("\n") + 1 == len(captions) else ""


def _write_graph(graph: SceneGraph, concepts: Concepts) -> tuple[bytes, bytes]:
    """Write the words of a graph's concepts as JSON, and the rest as numbers.

    The words of a concept are a list where they are several. The numbers are the ties, the numbers
    of slots of objects, attributes and relations, and for each slot the place of its concept.
    """
    slots = list(chain(*graph[:3]))
    places = {one: place for place, one in enumerate(dict.fromkeys(slots))}
    words = map(concepts.words.__getitem__, places)
    names = [several if len(several) > 1 else several[0] for several in words]
    numbers = [graph.ties, *map(len, graph[:3]), *map(places.__getitem__, slots)]
    return as_json(names), np.array(numbers, _NUMBER).tobytes()


def _read_graphs(rows: Sequence[Row], concepts: Concepts) -> GraphTable:
    """Return the graphs that were written."""
    names = json.loads(b"[" + b",".join([row[0] for row in rows]) + b"]")
    numbers = concepts.numbers
    flat = chain.from_iterable(names)
    found = (numbers[one] if type(one) is str else concepts.of(one) for one in flat)
    codes = np.fromiter(found, np.int64)
    first = offsets(np.fromiter(map(len, names), np.int64, len(rows)))[:-1]
    written = np.frombuffer(b"".join([row[1] for row in rows]), _NUMBER).astype(np.int64)
    place = offsets(np.array([len(row[1]) for row in rows], np.int64) // _NUMBER.itemsize)[:-1]
    ties, *widths = (written[place + number] for number in range(4))
    place, slots = place + 4, list[Ints]()
    for width in widths:
        within = np.repeat(place, width) + positions(offsets(width))
        slots.append(codes[np.repeat(first, width) + written[within]])
        place = place + width
    return GraphTable.from_slots(widths, slots, ties)
