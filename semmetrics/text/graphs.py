"""Scene graphs of captions, each parsed and merged once, and cached in a file.

Conventions
-----------
Captions that were scored before are neither parsed nor merged again. Merged graphs are
cached in the same file as the parses (`semmetrics.text.parses`), by the parser, the
synonyms and the captions in their order. Thousands of graphs are stored in a few
arrays, so that they are read and compared at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Ints, offsets, positions
from semmetrics.data.source import no_collection
from semmetrics.errors import Fact
from semmetrics.store.text_cache import Row, TextCache, as_json
from semmetrics.text.concepts import Concepts
from semmetrics.text.parses import CachingParser
from semmetrics.text.scene_graphs import (
    MERGING,
    GraphTable,
    SceneGraph,
    merge_captions,
)
from semmetrics.text.synonyms import SynonymTable, open_synonyms

Group: TypeAlias = tuple[str, ...]
"""The captions of a graph, in the order in which they are merged."""

MAX_SHARED_CONCEPTS = 1 << 14
_ROW_BITS = 32
_ROW_MASK = (1 << _ROW_BITS) - 1
_CACHE_TABLE = ("merged_graphs", {"words": "BLOB", "places": "BLOB"})
_CACHED_NUMBER = np.dtype("<i4")
_N_HEADER_NUMBERS = 4  # of a cached graph: the ties, and three numbers of slots


class Graphs:
    """The scene graphs of captions, each parsed and merged once.

    Parameters
    ----------
    parser : CachingParser

    Examples
    --------
    >>> from semmetrics.text.parses import FunctionParser
    >>> def parse(captions):
    ...     return [[(word,) for word in caption.split()] for caption in captions]
    >>> graphs = Graphs(CachingParser(FunctionParser(parse)))
    >>> graphs.prepare([("dog", "dog cat")])
    >>> len(graphs.take([("dog", "dog cat")]).slots[0])
    2
    """

    def __init__(self, parser: CachingParser) -> None:
        self.parser = parser
        # Each batch has a table of its own, so that adding a few graphs to many is
        # cheap. The place of a graph is the number of its table and, in the lower bits,
        # its row.
        self._tables: dict[int, GraphTable] = {}
        self._places: dict[Group, int] = {}
        self._cache: TextCache | None = None

    @property
    def trouble(self) -> Fact | None:
        """Why the cache is not used, or that rows of it were damaged."""
        if self.parser.trouble is not None:
            return self.parser.trouble
        if self._cache is not None:
            return self._cache.trouble
        return None

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of all merged graphs, for which pycocoevalcap must be installed.

        The graphs of a process share them, because runs have most words in common,
        until there are too many.
        """
        synonyms = open_synonyms()
        if len(_shared_concepts(synonyms)) > MAX_SHARED_CONCEPTS:
            _shared_concepts.cache_clear()
        return _shared_concepts(synonyms)

    @property
    def has_ties(self) -> bool:
        """Whether any graph so far has ties."""
        tables = list(self._tables.values())
        return any(table.ties.any() for table in tables)

    def prepare(
        self,
        groups: Iterable[Group],
        explain: Callable[[str], tuple[str, str]] | None = None,
    ) -> None:
        """Merge the groups of captions that are not cached. All are parsed at once.

        Parameters
        ----------
        groups : iterable of tuples of str
        explain : callable, optional
            As in `CachingParser.tuples`.

        Raises
        ------
        InputError
            If the parser fails on captions. The message has their number and the first
            of them.
        """
        # The collector would search many small lists and tuples for cycles, and find
        # none.
        with no_collection():
            distinct = list(dict.fromkeys(groups))
            self._read_cached(self._without_graph(distinct))
        new_groups = self._without_graph(distinct)
        captions = list(dict.fromkeys(chain.from_iterable(new_groups)))
        self.parser.tuples(captions, explain)
        with no_collection():
            graphs = []
            for group in new_groups:
                tuples = self.parser.tuples(group)
                graphs.append(merge_captions(tuples, self.concepts))
        self._add(new_groups, GraphTable.of(graphs))
        self._write_cached(new_groups, graphs)
        if len(self.concepts) > MAX_SHARED_CONCEPTS:
            # They are freed with these graphs, not at the end of the process.
            _shared_concepts.cache_clear()

    def take(self, groups: Sequence[Group]) -> GraphTable:
        """Return the graph of each group of captions, merged in their order.

        Groups that were not prepared are prepared first.
        """
        if self._without_graph(groups):
            self.prepare(groups)
        if not groups:
            return GraphTable.of([])
        places = np.fromiter(
            map(self._places.__getitem__, groups), np.int64, len(groups)
        )
        table_numbers = places >> _ROW_BITS
        rows = places & _ROW_MASK
        first_number = int(table_numbers[0])
        if (table_numbers == first_number).all():
            return self._tables[first_number].take(rows)
        order = np.argsort(table_numbers, kind="stable")
        changes = np.flatnonzero(np.diff(table_numbers[order])) + 1
        parts = []
        for run in np.split(order, changes):
            table = self._tables[int(table_numbers[run[0]])]
            parts.append(table.take(rows[run]))
        # From the order of the tables back to the order of the groups.
        return GraphTable.join(parts).take(np.argsort(order))

    def _without_graph(self, groups: Iterable[Group]) -> list[Group]:
        """Return the groups that were not prepared yet."""
        return [group for group in groups if group not in self._places]

    def _add(self, groups: Sequence[Group], table: GraphTable) -> None:
        """Add the graphs of groups.

        An interruption or another thread cannot change graphs that are there already.
        """
        if not groups:
            return
        number = len(self._tables)
        while self._tables.setdefault(number, table) is not table:
            number += 1
        start = number << _ROW_BITS
        self._places.update(zip(groups, range(start, start + len(table)), strict=True))

    # ---- the cache -------------------------------------------------------------------

    @property
    def _identity(self) -> str:
        """The parser, merging rules and synonyms of cached graphs."""
        return f"{self.parser.identity}, merged {MERGING} by {self.concepts.identity}"

    def _open_cache(self) -> TextCache | None:
        """Return the cache, or None if it must not be used.

        It is used only if parses are cached, none of them was given by the user, and
        the synonyms have an identity.
        """
        parser = self.parser
        if parser.file is None or parser.n_given or parser.trouble:
            return None
        if not self.concepts.identity:
            return None
        # Path.exists raises an error if the folder may not be entered.
        if self._cache is None and os.path.exists(parser.file):  # noqa: PTH110
            self._cache = TextCache(parser.file, *_CACHE_TABLE)
        return self._cache

    def _read_cached(self, groups: Sequence[Group]) -> None:
        """Add the graphs of those groups that are in the cache."""
        group_of_key = {}
        for group in groups:
            key = _cache_key(group)
            if key:
                group_of_key[key] = group
        if not group_of_key:
            return
        cache = self._open_cache()
        if cache is None:
            return
        rows = cache.find(self._identity, list(group_of_key))
        cached_groups = [group_of_key[key] for key in rows]
        self._add(cached_groups, _decode_graphs(list(rows.values()), self.concepts))

    def _write_cached(
        self, groups: Sequence[Group], graphs: Sequence[SceneGraph]
    ) -> None:
        """Write the graphs of groups to the cache."""
        if not groups:
            return
        cache = self._open_cache()
        if cache is None:
            return
        rows: dict[str, Row] = {}
        for group, graph in zip(groups, graphs, strict=True):
            key = _cache_key(group)
            if key:
                rows[key] = _encode_graph(graph, self.concepts)
        cache.store(self._identity, rows)


@lru_cache(maxsize=1)
def _shared_concepts(synonyms: SynonymTable) -> Concepts:
    """Return the concepts that all graphs of the process share."""
    return Concepts(synonyms)


def _cache_key(captions: Group) -> str:
    """Return captions as lines, or an empty string if one of them has a line break."""
    text = "\n".join(captions)
    if text.count("\n") + 1 != len(captions):
        return ""
    return text


def _encode_graph(graph: SceneGraph, concepts: Concepts) -> Row:
    """Return a graph as the words of its concepts in JSON, and numbers.

    A concept is its word, or a list of its words if it has several. The numbers are the
    ties, the numbers of slots of objects, attributes and relations, and for each slot
    the index of its concept.
    """
    slots = list(chain.from_iterable(graph.slots))
    index_of_concept: dict[int, int] = {}
    names: list[str | tuple[str, ...]] = []
    for concept in dict.fromkeys(slots):
        index_of_concept[concept] = len(names)
        words = concepts.words[concept]
        names.append(words if len(words) > 1 else words[0])
    numbers = [graph.ties]
    numbers += map(len, graph.slots)
    numbers += map(index_of_concept.__getitem__, slots)
    return as_json(names), np.array(numbers, _CACHED_NUMBER).tobytes()


def _decode_graphs(rows: Sequence[Row], concepts: Concepts) -> GraphTable:
    """Return the graphs of rows that `_encode_graph` returned."""
    # Concepts of all graphs.
    names_of_graphs = json.loads(b"[" + b",".join([row[0] for row in rows]) + b"]")
    codes = _concepts_of_names(chain.from_iterable(names_of_graphs), concepts)
    n_names = np.fromiter(map(len, names_of_graphs), np.int64, len(rows))
    first_name = offsets(n_names)[:-1]

    # Numbers of all graphs.
    content = b"".join([row[1] for row in rows])
    numbers = np.frombuffer(content, _CACHED_NUMBER).astype(np.int64)
    n_bytes = np.array([len(row[1]) for row in rows], np.int64)
    first_number = offsets(n_bytes // _CACHED_NUMBER.itemsize)[:-1]
    ties = numbers[first_number]
    n_slots = [numbers[first_number + i] for i in range(1, _N_HEADER_NUMBERS)]

    start = first_number + _N_HEADER_NUMBERS
    flat_slots: list[Ints] = []
    for n in n_slots:  # of objects, attributes, relations
        cells = np.repeat(start, n) + positions(offsets(n))
        names = np.repeat(first_name, n) + numbers[cells]
        flat_slots.append(codes[names])
        start = start + n
    return GraphTable.from_slots(n_slots, flat_slots, ties)


def _concepts_of_names(names: Iterable[str | list[str]], concepts: Concepts) -> Ints:
    """Return the concept of each word or list of words."""
    numbers = concepts.numbers
    codes = []
    for name in names:
        if isinstance(name, str):
            codes.append(numbers[name])
        else:
            codes.append(concepts.of(name))
    return np.array(codes, np.int64)
