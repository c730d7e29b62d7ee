"""The scene graphs of groups of captions, each merged once and kept.

Conventions
-----------
The references of an image are the same for every system and every run. So the graph that several
captions are merged into is kept beside their parses (`semmetrics.text.parses`), by the parser, the
synonyms and the captions in their order; what is kept needs no parse. The graph of a single caption
is not kept: it is little more than its parse, and most candidates are scored once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

from semmetrics.data.source import no_collection
from semmetrics.store.cache import TextCache
from semmetrics.text.parses import KeptParser
from semmetrics.text.scene_graphs import MERGING, Concepts, SceneGraph, merge_captions
from semmetrics.text.synonyms import open_synonyms

__all__ = ["Graphs", "Group"]

Group: TypeAlias = tuple[str, ...]


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
    >>> len(graphs.of(("dog", "dog cat")).objects)
    2
    """

    def __init__(self, parser: KeptParser) -> None:
        self.parser = parser
        self._merged: dict[Group, SceneGraph] = {}
        self._cache: TextCache | None = None

    @property
    def trouble(self) -> str:
        """Why what is kept is not used, and what to do; "" where all is well."""
        return self.parser.trouble or ("" if self._cache is None else self._cache.trouble)

    @cached_property
    def concepts(self) -> Concepts:
        """The concepts of all merged graphs; they need the package that brings synonyms."""
        return Concepts(open_synonyms())

    def prepare(
        self,
        groups: Sequence[Group],
        explain: Callable[[str], tuple[str, str]] | None = None,
    ) -> None:
        """Merge groups of captions that are not kept; all are parsed at once.

        Parameters
        ----------
        groups : sequence of tuples of str
        explain : callable, optional
            As that of `KeptParser.tuples`.

        Raises
        ------
        InputError
            If the parser fails on captions; says on how many, and the first.
        """
        distinct = dict.fromkeys(groups)
        self._recall([one for one in distinct if one not in self._merged])
        new = [one for one in distinct if one not in self._merged]
        self.parser.tuples(list(dict.fromkeys(chain.from_iterable(new))), explain)
        with no_collection():
            for one in new:
                self.of(one)
        self._keep(new)

    def of(self, captions: Group) -> SceneGraph:
        """Return the graph that captions are merged into, in their order."""
        if captions not in self._merged:
            tuples = self.parser.tuples(captions)
            self._merged[captions] = merge_captions(tuples, self.concepts)
        return self._merged[captions]

    def _open(self) -> TextCache | None:
        """Return the table of what is kept, where parses are kept that are the parser's own."""
        parser = self.parser
        if parser.file is None or parser.n_given or parser.trouble or not self.concepts.identity:
            return None
        if self._cache is None and os.path.exists(parser.file):  # noqa: PTH110, no error
            self._cache = TextCache(parser.file, "graphs", {"graph": "BLOB"})
        return self._cache

    @property
    def _identity(self) -> str:
        return f"{self.parser.identity}, merged {MERGING} by {self.concepts.identity}"

    @no_collection()  # of many small lists, none of which is a cycle
    def _recall(self, groups: Sequence[Group]) -> None:
        """Read the graphs that are kept."""
        keys = {key: one for one in groups if (key := _key(one))}
        cache = self._open() if keys else None
        if cache is not None:
            rows = cache.rows(self._identity, list(keys), lambda texts: [None] * len(texts))
            found = json.loads(b"[" + b",".join(row[0] for row in rows.values()) + b"]")
            for key, row in zip(rows, found, strict=True):
                self._merged[keys[key]] = _read_graph(row, self.concepts)

    def _keep(self, groups: Sequence[Group]) -> None:
        keys = {key: one for one in groups if (key := _key(one))}
        cache = self._open() if keys else None
        if cache is not None:
            cache.rows(
                self._identity,
                list(keys),
                lambda texts: [
                    (_write_graph(self._merged[keys[text]], self.concepts),) for text in texts
                ],
            )


def _key(captions: Group) -> str:
    """Return captions as one text; "" for one caption, and where a line break is in a caption."""
    text = "\n".join(captions)
    return text if 1 < len(captions) == text.count("\n") + 1 else ""


def _write_graph(graph: SceneGraph, concepts: Concepts) -> bytes:
    """Write a graph as JSON: the words of its concepts, and of its tuples the places among them.

    The words of a concept are a list where they are several.
    """
    places = {one: place for place, one in enumerate(dict.fromkeys(chain(*graph[:3])))}
    written = [[places[one] for one in slots] for slots in graph[:3]]
    words = map(concepts.words, places)
    names = [several if len(several) > 1 else several[0] for several in words]
    return json.dumps([names, *written, graph.ties]).encode()


def _read_graph(row: list[Any], concepts: Concepts) -> SceneGraph:
    """Return the graph that was written."""
    names, *written, ties = row
    numbers = concepts.numbers
    codes = [numbers[one] if type(one) is str else concepts.of(one) for one in names]
    objects, attributes, relations = (tuple([codes[n] for n in places]) for places in written)
    return SceneGraph(objects, attributes, relations, ties)
