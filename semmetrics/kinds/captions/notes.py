"""What a user should know of captions besides the scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.data.observations import Observations
from semmetrics.data.tasks import CaptionTask
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
    Notes,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.captions.oddities import (
    joined_facts,
    mark_facts,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.caption_similarity import KNOWN_TEXTS
from semmetrics.metrics.cider import (
    KNOWN_WORDS,
    frequency_notes,
)
from semmetrics.metrics.definition import Measure

if TYPE_CHECKING:
    pass
from semmetrics.kinds.captions.prepare import HUMAN
from semmetrics.kinds.captions.scene_graphs import OpenGraphs

# document frequencies that doc_freq takes the place of
_TAKEN = (
    "references",
    "given",
)


def caption_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Note what was odd in the captions, and which options have no effect."""
    facts: list[Fact] = []
    odd_ones: list[Fact] = []
    own = [str(m) for m in measures if m["df"] == "rows"]
    if options.doc_freq is not None and not any(m["df"] in _TAKEN for m in measures):
        facts.append(
            note_builders.no_effect(
                "doc_freq", "no measure here takes document frequencies"
            )
        )
    elif options.doc_freq is not None and own:
        facts.append(
            Fact("no-effect-on", values={"option": "doc_freq", "on": ", ".join(own)})
        )
    if {"CIDEr"} == {m.definition.name for m in measures} & {"CIDEr", "CIDEr-D"}:
        facts.append(Fact("cider-of-coco"))
    for name, task in each_task(tasks):
        counted = [
            m for m in measures if m["df"] != "references" or "df" not in task.fits
        ]
        facts += item_notes.count_facts(name, task)
        facts += [replace(fact, where=name) for fact in frequency_notes(task, counted)]
        facts += _text_facts(name, task, noted.get(name, Observations()))
        odd = noted.get(name, task.observations)
        odd_ones += side_observations.word_facts(
            "single-words", odd, "pred", "candidates"
        )
        odd_ones += side_observations.word_facts(
            "single-words", odd, "ref", "references"
        )
        odd_ones += side_observations.swapped_facts(odd)
        odd_ones += mark_facts(odd, "pred", "candidates")
        odd_ones += mark_facts(odd, "ref", "references")
        odd_ones += joined_facts(odd)
    facts += first_of_each(odd_ones) + sample_weights.unused_weights(
        options.weights, inputs
    )
    facts += _graph_facts(tasks, measures, options, noted)
    facts += embedding_notes.unused_embeddings(measures, options.embedding)
    facts += embedding_notes.unused_rules(measures, options, "Soft-SPICE")
    facts += embedding_notes.cache_facts(
        options.opened.get("models", {}).values(), options.cache
    )
    return facts + item_notes.different_items(
        tasks, [HUMAN] if options.score_references else []
    )


def check_shared(
    noted: Iterable[Observations], options: Options, names: Sequence[str]
) -> None:
    """Raise if the captions have no word of the document frequencies or vectors that are given."""
    counts: Counter[str] = Counter()
    for observed in noted:
        if observed.has(KNOWN_WORDS):
            counts["doc_freq"] += observed.number(KNOWN_WORDS)
        for n in observed.counts_of(KNOWN_TEXTS).values():
            counts["embedding"] += n
    side_input_checks.check_shared(counts, options, "caption", names)


def _text_facts(where: str, task: CaptionTask, noted: Observations) -> list[Fact]:
    """Note which phrases or captions embeddings do not know, or read in part."""
    if not task.models:
        return []
    from semmetrics.metrics import caption_similarity as noting

    facts: list[Fact] = []
    for name, model in task.models.items():
        unknown = sorted(noted.names_of(noting.UNKNOWN_PHRASES, name))
        n = {"unknown": len(unknown)}
        facts += embedding_notes.model_facts(
            where, model, n, "phrase", {"unknown": unknown}
        )
        codes = {"unknown": noting.UNKNOWN_CAPTIONS, "truncated": noting.CUT_CAPTIONS}
        n = {key: noted.number(what, name) for key, what in codes.items()}
        facts += embedding_notes.model_facts(where, model, n, "caption")
    return facts


def _graph_facts(
    tasks: Tasks, measures: Measures, options: Options, noted: Notes
) -> list[Fact]:
    """Note what is wrong with kept parses, what has no effect, and what ties leave open."""
    graphs: OpenGraphs = options.tuples
    takers = [m for m in measures if m["parser"] is not None]
    facts: list[Fact] = [*graphs.troubles]
    if graphs.given is not None and not takers and options.protocol is None:
        facts.append(
            note_builders.no_effect("tuples", "no measure here takes scene graphs")
        )
    if not takers:
        return facts
    from semmetrics.metrics.spice import HITS, NO_TUPLES, TIED

    facts += idle_tuples(takers, graphs)
    for name, task in each_task(tasks):
        found = noted.get(name, Observations())
        for side in ("candidates", "references"):
            items = sorted(found.names_of(NO_TUPLES, side))
            facts += note_builders.counted(
                "without-tuples", len(items), items[:1], name, side=side
            )
        if found.has(HITS) and not found.number(HITS):
            facts.append(Fact("no-tuple-matches", where=name))
        facts += _tie_facts(name, task, sorted(map(json.loads, found.names_of(TIED))))
    return facts


def idle_tuples(takers: Sequence[Measure], graphs: OpenGraphs) -> list[Fact]:
    """Note that the given tuples are not of a parser that measures name."""
    names = {str(m["parser"]) for m in takers}
    if (
        graphs.given is None
        or "given" in names
        or any(graphs[n].parser.n_given for n in names)
    ):
        return []
    wanted = sorted(graphs[name].parser.identity for name in names)
    own = getattr(graphs.given, "makers", graphs.given.identity)
    return [Fact("idle-tuples", values={"wanted": wanted, "own": own})]


def _tie_facts(where: str, task: CaptionTask, items: Sequence[Any]) -> list[Fact]:
    """Note items whose F depends on ties in merging graphs: [id, lowest, F, highest, all ways]."""
    if not items:
        return []
    name, low, _, high, _ = items[0]
    some = sum(not every for *_, every in items)
    untried = f"; not all ways were tried for {pluralize(some, 'item')}" if some else ""
    values = {"low": low, "high": high, "untried": untried}
    if task.weights is not None:
        return [Fact("tied-graphs", len(items), (name,), where, values)]
    n = np.count_nonzero(np.diff(task.indptr)[task.images])
    less, more = (
        abs(float(sum(one[place] - one[2] for one in items) / n)) for place in (1, 3)
    )
    values |= {"less": less, "more": more}
    return [Fact("tied-graphs-of-mean", len(items), (name,), where, values)]
