"""Parse captions into the scene graphs that measures need."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.data.form import DEFAULTS
from semmetrics.data.source import no_collection
from semmetrics.errors import Fact
from semmetrics.kinds.base import (
    Measures,
    Tasks,
    each_task,
)

if TYPE_CHECKING:
    from semmetrics.text.graphs import Graphs

_OTHER_FORM = {
    "tokens": ("written", "captions as they are written"),
    "written": ("tokens", "tokens"),
}


def open_tuples(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return the tuples of a file or a mapping, or the parser that a function is."""
    if given is None:
        return None
    from semmetrics.text.parses import FunctionParser
    from semmetrics.text.tuple_tables import TupleTable, read_tuples

    if isinstance(given, (TupleTable, FunctionParser)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_tuples(given, max_bytes)
    return TupleTable.of(given) if isinstance(given, Mapping) else FunctionParser(given)


class OpenGraphs:
    """Scene graphs by the name of their parser, each parser opened at its first use.

    Parameters
    ----------
    given : TupleTable, FunctionParser or None
        What the parser "given" is.
    progress : callable, optional
        Called with captions parsed and captions to parse.
    """

    def __init__(
        self, given: Any, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.given, self._progress = given, progress
        self._open: dict[str, Graphs] = {}

    def __getitem__(self, name: str) -> Graphs:
        """Return the graphs of a parser."""
        if name not in self._open:
            from semmetrics.text.graphs import Graphs
            from semmetrics.text.parses import open_parser

            self._open[name] = Graphs(open_parser(name, self.given, self._progress))
        return self._open[name]

    @property
    def troubles(self) -> list[Fact]:
        """What is wrong with the files in which parses are kept."""
        found = [graphs.trouble for graphs in self._open.values()]
        return list(dict.fromkeys(one for one in found if one))


def parse_captions(tasks: Tasks, measures: Measures, graphs: OpenGraphs) -> None:
    """Parse what measures take of all systems at once, as a parser takes seconds to start.

    Synonyms are opened first: without them the parses of measures that need them are in vain.
    """
    from semmetrics.metrics.spice import parsed_groups, parsed_texts, tied_captions
    from semmetrics.text.synonyms import category_words

    takers = dict.fromkeys(
        (str(m["parser"]), str(m["captions"]), "synonyms" in m.definition.needs)
        for m in measures
        if m["parser"] is not None
    )
    for parser, _, merges in takers:
        if merges:
            _ = graphs[parser].concepts, category_words()
    several = [task for _, task in each_task(tasks)]
    for parser, captions, merges in takers:
        by = graphs[parser].parser.identity
        explain = partial(
            _explain, tasks=tasks, captions=captions, given=graphs.given, by=by
        )
        if merges:
            sides = (side for task in several for side in parsed_groups(task, captions))
            graphs[parser].prepare(chain.from_iterable(sides), explain)
            texts = [tied_captions(task, captions, graphs[parser]) for task in several]
        else:
            with no_collection():
                texts = [parsed_texts(task, captions) for task in several]
        graphs[parser].parser.tuples(list(chain(*texts)), explain)


def _explain(
    text: str, *, tasks: Tasks, captions: str, given: Any, by: str
) -> tuple[str, str]:
    """Return where a caption without tuples is, and a remedy if tuples of its other form are given.

    Only tuples by the parser count; ``by`` is its identity. A task without a name, as that of all
    pairs, has no ids of its own.
    """
    from semmetrics.metrics.spice import parsed_texts
    from semmetrics.text.tuple_tables import TupleTable

    for name, task in each_task(tasks):
        texts = parsed_texts(task, captions)
        if text not in texts:
            continue
        code = texts.index(text)
        other, form = _OTHER_FORM[captions]
        known: Mapping[str, Any] = {}
        if isinstance(given, TupleTable):
            known = given.tuples if by == given.identity else given.of_parser(by)
        remedy = ""
        if parsed_texts(task, other)[code] in known:
            remedy = (
                f"tuples are given of {form}: write captions={other} in the measure"
            )
        row, whose = np.flatnonzero(task.candidates == code), name
        if not len(row):
            (place,) = np.flatnonzero(task.references == code)[:1]
            image = np.searchsorted(task.indptr, place, side="right") - 1
            row, whose = np.flatnonzero(task.images == image), "the references"
        return f"{whose}, id {task.ids[row[0]]!r}" if name else "", remedy
    return "", ""
