"""Scene graphs of captions: opened for the measures that take them, and what is said of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.data.form import DEFAULTS
from semmetrics.data.source import no_collection
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.kinds import Options, Tasks, each_task, group_notes
from semmetrics.messages import a_kind, listing, pluralize
from semmetrics.metrics.definition import Measure

if TYPE_CHECKING:
    from semmetrics.text.graphs import Graphs

__all__ = ["OpenGraphs", "graph_fits", "graph_notes", "idle_tuples", "missing_graphs",
           "open_tuples", "parse_captions"]  # fmt: skip


_OTHER_FORM = {
    "tokens": ("written", "captions as they are written"),
    "written": ("tokens", "tokens"),
}


def open_tuples(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return the tuples of a file or a mapping, or the parser that a function is.

    Raises
    ------
    InputError
        If it is none of these, or what it holds is wrong.
    """
    if given is None:
        return None
    from semmetrics.text.parses import FunctionParser, TupleTable, read_tuples

    if isinstance(given, (TupleTable, FunctionParser)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_tuples(given, max_bytes)
    if isinstance(given, Mapping):
        return TupleTable.of(given)
    if callable(given) and not isinstance(given, type):
        return FunctionParser(given)
    raise InputError(
        f"tuples= is {a_kind(given)}",
        remedy="give a file, {caption: tuples}, or a function from captions to the tuples of each",
    )


class OpenGraphs:
    """Scene graphs by the name of their parser, each parser opened at its first use.

    Parameters
    ----------
    given : TupleTable, FunctionParser or None
        What the parser "given" is.
    progress : callable, optional
        Called with captions parsed and captions to parse.
    """

    def __init__(self, given: Any, progress: Callable[[int, int], None] | None = None) -> None:
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
    def troubles(self) -> list[str]:
        """What is wrong with the files in which parses are kept."""
        found = [graphs.trouble for graphs in self._open.values()]
        return list(dict.fromkeys(str(one) for one in found if one))


def graph_fits(measures: Sequence[Measure], graphs: OpenGraphs) -> dict[str, Graphs]:
    """Return what the steps of measures take their scene graphs from."""
    names = {str(m["parser"]) for m in measures if m["parser"] is not None}
    return {f"parser/{name}": graphs[name] for name in sorted(names)}


def parse_captions(tasks: Tasks, measures: Sequence[Measure], graphs: OpenGraphs) -> None:
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
    for parser, captions, merges in takers:
        by = graphs[parser].parser.identity
        explain = partial(_explain, tasks=tasks, captions=captions, given=graphs.given, by=by)
        several = [task for _, task in each_task(tasks)]
        if merges:
            sides = (side for task in several for side in parsed_groups(task, captions))
            graphs[parser].prepare(chain.from_iterable(sides), explain)
            texts = [tied_captions(task, captions, graphs[parser]) for task in several]
        else:
            with no_collection():
                texts = [parsed_texts(task, captions) for task in several]
        graphs[parser].parser.tuples(list(chain(*texts)), explain)


def _explain(text: str, *, tasks: Tasks, captions: str, given: Any, by: str) -> tuple[str, str]:
    """Say where a caption without tuples stands, and whether tuples of its other form are given.

    Only tuples by the parser count; ``by`` is its identity. A task without a name, as that of all
    pairs, has no ids of its own.
    """
    from semmetrics.metrics.spice import parsed_texts
    from semmetrics.text.parses import TupleTable

    for name, task in each_task(tasks):
        texts = parsed_texts(task, captions)
        if text not in texts:
            continue
        code = texts.index(text)
        other, form = _OTHER_FORM[captions]
        known: Mapping[str, Any] = {}
        if isinstance(given, TupleTable):
            known = given.tuples if by == given.identity else given.of_parser(by)
        remedy = f"tuples are given of {form}: write captions={other} in the measure"
        found = parsed_texts(task, other)[code] in known
        return _place(task, name, code) if name else "", remedy if found else ""
    return "", ""


def _place(task: CaptionTask, name: str, code: int) -> str:
    """Say which system has a caption, or whether it is a reference, and of which item."""
    row, whose = np.flatnonzero(task.candidates == code), name
    if not len(row):
        (place,) = np.flatnonzero(task.references == code)[:1]
        image = np.searchsorted(task.indptr, place, side="right") - 1
        row, whose = np.flatnonzero(task.images == image), "the references"
    return f"{whose}, id {task.ids[row[0]]!r}"


def missing_graphs(tasks: Tasks, measure: Measure, graphs: OpenGraphs) -> str:
    """Return why a measure cannot have the scene graphs that it takes; "" if it can.

    Only parsing tells whether all captions have one, so they are parsed; the parses are kept.
    """
    try:
        graphs[str(measure["parser"])]  # what may be missing comes before captions are parsed
        parse_captions(tasks, [measure], graphs)
    except InputError as error:
        return str(error)
    return ""


def graph_notes(
    tasks: Tasks, measures: Sequence[Measure], options: Options, noted: Mapping[str, Any]
) -> list[str]:
    """Say what is wrong with kept parses, what has no effect, and what ties leave open."""
    graphs: OpenGraphs = options["tuples"]
    takers = [m for m in measures if m["parser"] is not None]
    notes = graphs.troubles
    if graphs.given is not None and not takers and options["protocol"] is None:
        notes.append("tuples= (--tuples) has no effect: no measure here takes scene graphs")
    if not takers:
        return notes
    notes += idle_tuples(takers, graphs)
    found = {
        name: _match_notes(noted.get(name, {})) + _tie_notes(task, noted.get(name, {}))
        for name, task in each_task(tasks)
    }
    return notes + group_notes(found)


def idle_tuples(takers: Sequence[Measure], graphs: OpenGraphs) -> list[str]:
    """Say that the given tuples are of no parser that measures name."""
    from semmetrics.text.parses import ANY_PARSER, TupleTable

    names = {str(m["parser"]) for m in takers}
    if graphs.given is None or "given" in names or any(graphs[n].parser.n_given for n in names):
        return []
    wanted = listing(sorted(graphs[name].parser.identity for name in names))
    own = f", {graphs.given.makers}" if isinstance(graphs.given, TupleTable) else ""
    return [f"tuples= (--tuples) has no effect: it has none by {wanted}{own}; {ANY_PARSER}"]


def _match_notes(noted: Mapping[Any, Any]) -> list[str]:
    """Say which items have captions without tuples, and whether nothing matches at all."""
    from semmetrics.metrics.spice import HITS, NO_TUPLES

    notes = []
    for side in ("candidates", "references"):
        items = sorted(noted.get((NO_TUPLES, side), ()))
        if items:
            what = f"the {side} of {pluralize(len(items), 'item')} have no tuples"
            notes.append(f"SPICE: {what} (such as {items[0]!r})")
    if noted.get(HITS) == 0:
        notes.append("SPICE: no tuple matches; its parsers and synonyms know English alone")
    return notes


def _tie_notes(task: CaptionTask, noted: Mapping[Any, Any]) -> list[str]:
    from semmetrics.metrics.spice import TIED

    items = sorted(map(json.loads, noted.get(TIED, ())))
    if not items:
        return []
    name, low, _, high, _ = items[0]
    what = f"F of {pluralize(len(items), 'item')} depends on ties in merging scene graphs"
    note = f"SPICE: {what} (such as {name!r}: {low:.4f} to {high:.4f})"
    some = sum(not every for *_, every in items)
    more_ways = f"; not all ways were tried for {pluralize(some, 'item')}" if some else ""
    if task.weights is not None:
        return [f"{note}{more_ways}"]
    n = np.count_nonzero(np.diff(task.indptr)[task.images])
    less, more = (sum(one[place] - one[2] for one in items) / n for place in (1, 3))
    return [f"{note}: its own program may print {abs(less):.2g} less to {more:.2g} more{more_ways}"]
