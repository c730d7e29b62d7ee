"""Parse captions into the scene graphs that measures need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.data.source import no_collection
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import Fact
from semmetrics.kinds.base import Measures, Tasks, each_task

if TYPE_CHECKING:
    from semmetrics.text.graphs import Graphs

_OTHER_FORM = {
    "tokens": ("written", "captions as written"),
    "written": ("tokens", "tokens"),
}
"""The other form in which captions can be parsed, by the form that a measure names."""


class OpenGraphs:
    """Scene graphs by the name of their parser. Each parser is opened when it is first used.

    Parameters
    ----------
    given : TupleTable, FunctionParser or None
        The parser with the name "given".
    progress : callable, optional
        Called with the number of captions that are parsed and the number of all captions.
    """

    def __init__(
        self, given: Any, progress: Callable[[int, int], None] | None = None
    ) -> None:
        self.given = given
        self._progress = progress
        self._open: dict[str, Graphs] = {}

    def __getitem__(self, name: str) -> Graphs:
        """Return the graphs of a parser."""
        if name not in self._open:
            from semmetrics.text.graphs import Graphs
            from semmetrics.text.parses import open_parser

            parser = open_parser(name, self.given, self._progress)
            self._open[name] = Graphs(parser)
        return self._open[name]

    @property
    def troubles(self) -> list[Fact]:
        """The faults of the files in which parses are cached, each once."""
        troubles: dict[Fact, None] = {}
        for graphs in self._open.values():
            trouble = graphs.trouble
            if trouble:
                troubles[trouble] = None
        return list(troubles)


class _GraphUse(NamedTuple):
    """How a measure uses scene graphs.

    Attributes
    ----------
    parser : str
    captions : {"tokens", "written"}
        The form of the captions that are parsed.
    merges_synonyms : bool
        Whether graphs are merged by synonyms, as in SPICE.
    """

    parser: str
    captions: str
    merges_synonyms: bool


def parse_captions(tasks: Tasks, measures: Measures, graphs: OpenGraphs) -> None:
    """Parse the captions that measures use, and store the parses in the graphs.

    The captions of all systems are parsed at once, because a parser takes seconds to start.

    Raises
    ------
    InputError
        If the synonyms or a parser cannot be opened, or a caption has no tuples.
    """
    from semmetrics.metrics.spice import parsed_texts, tied_captions
    from semmetrics.text.synonyms import category_words

    uses = _graph_uses(measures)
    # Open the synonyms first. Without them, it would be pointless to parse for measures that need
    # them.
    for use in uses:
        if use.merges_synonyms:
            _ = graphs[use.parser].concepts
            category_words()
    all_tasks = [task for _, task in each_task(tasks)]
    for use in uses:
        graphs_of_parser = graphs[use.parser]
        parser = graphs_of_parser.parser
        missing = _MissingTuples(tasks, use.captions, graphs.given, parser.identity)
        texts = []
        if use.merges_synonyms:
            groups = _each_group(all_tasks, use.captions)
            graphs_of_parser.prepare(groups, missing.explain)
            for task in all_tasks:
                texts += tied_captions(task, use.captions, graphs_of_parser)
        else:
            with no_collection():
                for task in all_tasks:
                    texts += parsed_texts(task, use.captions)
        parser.tuples(texts, missing.explain)


def _graph_uses(measures: Measures) -> list[_GraphUse]:
    """Return how measures use scene graphs, each use once."""
    uses: dict[_GraphUse, None] = {}
    for measure in measures:
        if measure["parser"] is not None:
            parser = str(measure["parser"])
            captions = str(measure["captions"])
            merges_synonyms = "synonyms" in measure.definition.needs
            uses[_GraphUse(parser, captions, merges_synonyms)] = None
    return list(uses)


def _each_group(
    tasks: Sequence[CaptionTask], captions: str
) -> Iterator[tuple[str, ...]]:
    """Yield the captions of each graph of tasks: one candidate, or the references of an image."""
    from semmetrics.metrics.spice import parsed_groups

    for task in tasks:
        candidates, references = parsed_groups(task, captions)
        yield from chain(candidates, references)


@dataclass(frozen=True, eq=False, repr=False)
class _MissingTuples:
    """Explains why a caption has no tuples.

    Attributes
    ----------
    tasks : mapping from system and part to CaptionTask
    captions : {"tokens", "written"}
        The form of the captions that are parsed.
    given : TupleTable, FunctionParser or None
        The tuples or the parser that the user gave.
    parser_identity : str
        The identity of the parser. Only tuples by this parser count.
    """

    tasks: Tasks
    captions: str
    given: Any
    parser_identity: str

    def explain(self, text: str) -> tuple[str, str]:
        """Return where a caption is, and a remedy if its other form has tuples.

        Both are empty if the text is not a caption of the tasks.
        """
        from semmetrics.metrics.spice import parsed_texts

        for name, task in each_task(self.tasks):
            texts = parsed_texts(task, self.captions)
            if text in texts:
                code = texts.index(text)
                return _locate_caption(name, task, code), self._remedy(task, code)
        return "", ""

    def _remedy(self, task: CaptionTask, code: int) -> str:
        """Return which option of a measure helps, if the other form of a caption has tuples."""
        from semmetrics.metrics.spice import parsed_texts

        other, description = _OTHER_FORM[self.captions]
        text = parsed_texts(task, other)[code]
        if text not in self._given_tuples():
            return ""
        return (
            f"write captions={other} in the measure, because the tuples are for "
            f"{description}"
        )

    def _given_tuples(self) -> Mapping[str, Any]:
        """Return the given tuples of this parser, by caption."""
        from semmetrics.text.tuple_tables import TupleTable

        if not isinstance(self.given, TupleTable):
            return {}
        if self.parser_identity == self.given.identity:
            return self.given.tuples
        return self.given.of_parser(self.parser_identity)


def _locate_caption(name: str, task: CaptionTask, code: int) -> str:
    """Return the place of a caption for messages: its candidate, or else its image as a reference.

    A task without a name has no ids that the user knows, and the result is empty. An example is
    the task of all pairs of images and captions.
    """
    if not name:
        return ""
    items = np.flatnonzero(task.candidates == code)
    if len(items):
        return f"{name}, id {task.ids[items[0]]!r}"
    position = np.flatnonzero(task.references == code)[0]
    image = np.searchsorted(task.indptr, position, side="right") - 1
    items = np.flatnonzero(task.images == image)
    return f"the references, id {task.ids[items[0]]!r}"
