"""Notes on captions: probable mistakes, embeddings, scene graphs, and options without effect."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.observations import Observations
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import Fact, first_of_each
from semmetrics.kinds import (
    embedding_notes,
    item_notes,
    note_builders,
    sample_weights,
    side_input_checks,
    side_observations,
)
from semmetrics.kinds.base import (
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.captions.oddities import joined_facts, mark_facts
from semmetrics.kinds.captions.scene_graphs import OpenGraphs
from semmetrics.kinds.captions.task import HUMAN
from semmetrics.messages import pluralize
from semmetrics.metrics.caption_similarity import KNOWN_TEXTS
from semmetrics.metrics.cider import KNOWN_WORDS, frequency_notes
from semmetrics.metrics.definition import Measure

_REPLACED_BY_DOC_FREQ = ("references", "given")
"""The values of a measure's option ``df`` for which ``doc_freq`` replaces its frequencies."""


def caption_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    observations: ObservationsByTask,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Return notes on probable mistakes in captions, and on options without effect."""
    notes = _doc_freq_notes(measures, options)
    definitions = {m.definition.name for m in measures}
    if "CIDEr" in definitions and "CIDEr-D" not in definitions:
        notes.append(Fact("cider-of-coco"))
    mistakes: list[Fact] = []
    for name, task in each_task(tasks):
        observed = observations.get(name, Observations())
        notes += item_notes.count_facts(name, task)
        notes += _frequency_notes(name, task, measures)
        notes += _model_notes(name, task, observed)
        mistakes += _mistake_notes(observations.get(name, task.observations))
    notes += first_of_each(mistakes)
    notes += sample_weights.unused_weights(options.weights, inputs)
    notes += _graph_notes(tasks, measures, options, observations)
    notes += embedding_notes.unused_embeddings(measures, options.embedding)
    notes += embedding_notes.unused_rules(measures, options, "Soft-SPICE")
    models = options.opened.get("models", {})
    notes += embedding_notes.cache_facts(models.values(), options.cache)
    systems_of_references = [HUMAN] if options.score_references else []
    return notes + item_notes.different_items(tasks, systems_of_references)


def check_shared(
    observations: Iterable[Observations], options: Options, names: Sequence[str]
) -> None:
    """Raise an error if no caption has a word of the given document frequencies or vectors."""
    n_shared: Counter[str] = Counter()
    for observed in observations:
        if observed.has(KNOWN_WORDS):
            n_shared["doc_freq"] += observed.number(KNOWN_WORDS)
        for n in observed.counts_of(KNOWN_TEXTS).values():
            n_shared["embedding"] += n
    side_input_checks.check_shared(n_shared, options, "caption", names)


def _doc_freq_notes(measures: Measures, options: Options) -> list[Fact]:
    """Return a note if the option ``doc_freq`` has no effect, or none on some measures."""
    if options.doc_freq is None:
        return []
    if not any(m["df"] in _REPLACED_BY_DOC_FREQ for m in measures):
        reason = "no requested measure uses document frequencies"
        return [note_builders.no_effect("doc_freq", reason)]
    unaffected = [str(m) for m in measures if m["df"] == "rows"]
    if not unaffected:
        return []
    values = {"option": "doc_freq", "on": ", ".join(unaffected)}
    return [Fact("no-effect-on", values=values)]


def _frequency_notes(name: str, task: CaptionTask, measures: Measures) -> list[Fact]:
    """Return notes on the document frequencies that were counted in a task."""
    counting = []
    for measure in measures:
        if measure["df"] != "references" or "df" not in task.fits:
            counting.append(measure)
    return [replace(note, where=name) for note in frequency_notes(task, counting)]


def _mistake_notes(observed: Observations) -> list[Fact]:
    """Return notes on probable mistakes in the captions of a task."""
    return [
        *side_observations.word_facts("single-words", observed, "pred", "candidates"),
        *side_observations.word_facts("single-words", observed, "ref", "references"),
        *side_observations.swapped_facts(observed),
        *mark_facts(observed, "pred", "candidates"),
        *mark_facts(observed, "ref", "references"),
        *joined_facts(observed),
    ]


def _model_notes(where: str, task: CaptionTask, observed: Observations) -> list[Fact]:
    """Return notes on phrases and captions that embeddings do not know or read only in part."""
    if not task.models:
        return []
    from semmetrics.metrics.caption_similarity import (
        CUT_CAPTIONS,
        UNKNOWN_CAPTIONS,
        UNKNOWN_PHRASES,
    )

    notes: list[Fact] = []
    for name, model in task.models.items():
        phrases = sorted(observed.names_of(UNKNOWN_PHRASES, name))
        n_phrases = {"unknown": len(phrases)}
        examples = {"unknown": phrases}
        notes += embedding_notes.model_facts(
            where, model, n_phrases, "phrase", examples
        )
        n_captions = {
            "unknown": observed.number(UNKNOWN_CAPTIONS, name),
            "truncated": observed.number(CUT_CAPTIONS, name),
        }
        notes += embedding_notes.model_facts(where, model, n_captions, "caption")
    return notes


# ---- scene graphs -------------------------------------------------------------------------------


def _graph_notes(
    tasks: Tasks, measures: Measures, options: Options, observations: ObservationsByTask
) -> list[Fact]:
    """Return notes on damaged caches of parses, tuples without effect, and ties between graphs."""
    graphs: OpenGraphs = options.tuples
    graph_measures = [m for m in measures if m["parser"] is not None]
    notes = list(graphs.troubles)
    if not graph_measures:
        if graphs.given is not None and options.protocol is None:
            reason = "no requested measure uses scene graphs"
            notes.append(note_builders.no_effect("tuples", reason))
        return notes
    notes += unused_tuples_notes(graph_measures, graphs)
    for name, task in each_task(tasks):
        notes += _graph_notes_of_task(
            name, task, observations.get(name, Observations())
        )
    return notes


def _graph_notes_of_task(
    name: str, task: CaptionTask, observed: Observations
) -> list[Fact]:
    """Return notes on captions without tuples, missing matches, and ties between graphs."""
    from semmetrics.metrics.spice import MATCHING_TUPLES, NO_TUPLES, TIED_SCENE_GRAPHS

    notes: list[Fact] = []
    for side in ("candidates", "references"):
        items = sorted(observed.names_of(NO_TUPLES, side))
        n_items = len(items)
        notes += note_builders.counted(
            "without-tuples", n_items, items[:1], name, side=side
        )
    if observed.has(MATCHING_TUPLES) and not observed.number(MATCHING_TUPLES):
        notes.append(Fact("no-tuple-matches", where=name))
    records = sorted(
        json.loads(record) for record in observed.names_of(TIED_SCENE_GRAPHS)
    )
    tied_items = [_TiedItem(*record) for record in records]
    return notes + _tie_notes(name, task, tied_items)


def unused_tuples_notes(measures: Sequence[Measure], graphs: OpenGraphs) -> list[Fact]:
    """Return a note if the given tuples are not by a parser that one of the measures names.

    Parameters
    ----------
    measures : sequence of Measure
        Measures of scene graphs.
    graphs : OpenGraphs
    """
    if graphs.given is None:
        return []
    names = {str(m["parser"]) for m in measures}
    if "given" in names:
        return []
    parsers = [graphs[name].parser for name in names]
    if any(parser.n_given for parser in parsers):
        return []
    wanted = sorted(parser.identity for parser in parsers)
    own = getattr(graphs.given, "makers", graphs.given.identity)
    return [Fact("idle-tuples", values={"wanted": wanted, "own": own})]


class _TiedItem(NamedTuple):
    """An item whose F depends on ties in merging its graphs.

    Attributes
    ----------
    item_id : str
    lowest, f, highest : float
        F as it is computed, and the range of F over the ways to break the ties.
    are_all_tried : bool
        Whether all ways to break the ties were tried.
    """

    item_id: Any
    lowest: float
    f: float
    highest: float
    are_all_tried: bool


def _tie_notes(where: str, task: CaptionTask, items: Sequence[_TiedItem]) -> list[Fact]:
    """Return a note on items whose F depends on ties, and on how much the mean depends on them."""
    if not items:
        return []
    first = items[0]
    n_in_part = sum(not item.are_all_tried for item in items)
    untried = ""
    if n_in_part:
        untried = f" (not all ways tried for {pluralize(n_in_part, 'item')})"
    values = {"low": first.lowest, "high": first.highest, "untried": untried}
    examples = (first.item_id,)
    if task.weights is not None:
        return [Fact("tied-graphs", len(items), examples, where, values)]
    n_references = np.diff(task.indptr)[task.images]
    n_items = np.count_nonzero(n_references)
    values["less"] = abs(float(sum(item.lowest - item.f for item in items) / n_items))
    values["more"] = abs(float(sum(item.highest - item.f for item in items) / n_items))
    return [Fact("tied-graphs-of-mean", len(items), examples, where, values)]
