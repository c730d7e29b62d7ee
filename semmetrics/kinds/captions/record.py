"""The record of captions: how they are read, joined, prepared and scored."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.kinds import (
    Defaults,
    Kind,
    Options,
    Tasks,
    different_items,
    each_task,
    first_of_alike,
    read_weights,
    task_notes,
    unused_weights,
)
from semmetrics.kinds.captions.graphs import (
    OpenGraphs,
    graph_fits,
    graph_notes,
    missing_graphs,
    open_tuples,
    parse_captions,
)
from semmetrics.kinds.captions.oddities import oddity_notes
from semmetrics.kinds.captions.reading import as_captions
from semmetrics.kinds.captions.task import join_captions, leave_one_out
from semmetrics.kinds.embeddings import (
    cache_notes,
    model_notes,
    open_text_models,
    read_embedding,
    unused_embeddings,
    unused_rules,
)
from semmetrics.messages import a_kind, pluralize
from semmetrics.metrics.cider import DocumentFrequencies, frequency_notes, task_frequencies
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.text.tokenizers import CachingTokenizer, open_tokenizer

__all__ = ["HUMAN", "KIND", "read_frequencies"]

HUMAN = "human"
"""The system whose candidates are references, each against the others of its image."""

_DEFAULTS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D")
_COUNTS = {
    "missing_prediction": "items without a prediction",
    "missing_reference": "items without ground truth",
    "several_candidates": "images with several candidates, each scored on its own",
    "single_reference": "images left out that have a single reference",
    "empty_candidates": "empty candidates",
    "empty_references": "empty references",
}


def read_beside(options: Options) -> Options:
    """Open the tokenizer, and read weights, document frequencies and tuples from paths."""
    given = options["doc_freq"]
    if given is not None and options["protocol"] is not None:
        raise InputError(
            f"protocol {options['protocol']} counts document frequencies on the references",
            remedy="leave doc_freq= (--doc-freq) out, or name measures instead of the protocol",
        )
    files = options["read"] or ReadOptions()
    return options.replace(
        tokenizer=CachingTokenizer(open_tokenizer(options["tokenizer"])),
        weights=read_weights(options["weights"], files.beside()),
        doc_freq=None if given is None else read_frequencies(given, files.max_bytes),
        embedding=read_embedding(options["embedding"]),
        tuples=OpenGraphs(open_tuples(options["tuples"], files.max_bytes), options["progress"]),
    )


def read_frequencies(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> DocumentFrequencies:
    """Return document frequencies from themselves or from a path.

    Raises
    ------
    InputError
        If it is neither, or the file is wrong.
    """
    if isinstance(given, DocumentFrequencies):
        return given
    if isinstance(given, (str, os.PathLike)):
        return DocumentFrequencies.load(given, max_bytes=max_bytes)
    raise InputError(
        f"doc_freq= is {a_kind(given)}",
        remedy="give a file, or what fit_document_frequencies returns",
    )


def read(data: Any, source: str, options: Options) -> Lists:
    """Read one side."""
    return as_captions(data, source=source, options=options["read"])


def make_tasks(preds: Mapping[str, Lists], ref: Lists, options: Options) -> Tasks:
    """Make the task of each system; with ``score_references`` also that of the references."""
    shared = {name: options[name] for name in ("tokenizer", "weights")}
    tasks = {
        name: join_captions(pred, ref, missing=options["missing"], **shared)
        for name, pred in preds.items()
    }
    if options["score_references"]:
        if HUMAN in tasks:
            raise InputError(f"a system is called {HUMAN!r} already", remedy="rename it")
        tasks[HUMAN] = leave_one_out(ref, **shared)
    return {name: {"": task} for name, task in tasks.items()}


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return the measures that need nothing beside the library."""
    return Defaults(_DEFAULTS)


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Say what a measure lacks that runs a program, or takes scene graphs."""
    (measure,) = parse(text)
    if measure["parser"] is not None:
        return text, missing_graphs(tasks, measure, options["tuples"])
    if lacking := measure.definition.extra.get("lacking"):
        return text, next(filter(None, (lacking(task) for _, task in each_task(tasks))), "")
    return text, ""


def prepare(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Hand over scene graphs, embeddings and document frequencies, given or of the first system.

    References score each other with the weights of all references, as the systems do.
    """
    graphs = graph_fits(measures, options["tuples"])
    models = open_text_models(measures, options)
    parse_captions(tasks, measures, options["tuples"])
    fits: Mapping[str, Any] = {}
    given = options["doc_freq"]
    chosen = list(tasks)
    if given is not None:
        fits = {"df": given}
    elif options["score_references"]:
        fits, chosen = _frequencies_of(tasks[chosen[0]][""], measures), [HUMAN]
    prepared = {}
    for name, parts in tasks.items():
        more = fits if name in chosen else {}
        task = replace(parts[""], fits={**graphs, **more}, models=models)
        task.shared.update(parts[""].shared)  # what tells whether a program runs is not done again
        prepared[name] = {"": task}
    return prepared


def _frequencies_of(
    task: CaptionTask, measures: Iterable[Measure]
) -> dict[str, DocumentFrequencies]:
    """Count the document frequencies that measures take from a task."""
    fits = {}
    for measure in measures:
        source, stem = measure["df"], str(measure["stem"])
        if source in ("references", "rows"):
            fits[f"{source}/{stem}"] = task_frequencies(task, str(source), stem)
    return fits


def caption_notes(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> list[str]:
    """Say what was odd in the captions, and which document frequencies have no effect."""

    def of_frequencies(name: str, task: CaptionTask) -> list[str]:
        counted = [m for m in measures if m["df"] != "references" or "df" not in task.fits]
        return list(map(str, frequency_notes(task, counted)))

    notes = [] if options["doc_freq"] is None else _unused_frequencies(measures)
    notes += task_notes(
        tasks,
        _COUNTS,
        lambda name, task: of_frequencies(name, task) + _text_notes(task, noted.get(name, {})),
    )
    found = [noted.get(name, task.odd) for name, task in each_task(tasks)]
    notes += first_of_alike(line for odd in found for line in oddity_notes(odd))
    notes += unused_weights(options["weights"], inputs)
    notes += graph_notes(tasks, measures, options, noted)
    notes += unused_embeddings(measures, options["embedding"], "Soft-SPICE")
    notes += unused_rules(measures, options, "Soft-SPICE")
    notes += cache_notes([*options.opened.get("models", {}).values()], options["cache"])
    return notes + different_items(tasks, apart=[HUMAN] if options["score_references"] else [])


def _text_notes(task: CaptionTask, noted: Mapping[Any, Any]) -> list[str]:
    """Say which phrases or captions embeddings do not know, or read in part."""
    if not task.models:
        return []
    from semmetrics.metrics.caption_similarity import (
        CUT_CAPTIONS,
        UNKNOWN_CAPTIONS,
        UNKNOWN_PHRASES,
    )

    lines = []
    counted = {"unknown": UNKNOWN_CAPTIONS, "truncated": CUT_CAPTIONS}
    for name, model in task.models.items():
        unknown = sorted(noted.get((UNKNOWN_PHRASES, name), ()))
        found = {"unknown": pluralize(len(unknown), "phrase")} if unknown else {}
        lines += model_notes(model, found, {"unknown": unknown})
        numbers = {key: noted.get((what, name), 0) for key, what in counted.items()}
        found = {key: pluralize(number, "caption") for key, number in numbers.items() if number}
        lines += model_notes(model, found)
    return lines


def _unused_frequencies(measures: Sequence[Measure]) -> list[str]:
    """Say which measures do not use the document frequencies that were given."""
    takers = [m for m in measures if m["df"] in ("references", "given")]
    if not takers:
        return ["doc_freq= (--doc-freq) has no effect: no measure here takes document frequencies"]
    own = [str(m) for m in measures if m["df"] == "rows"]
    return [f"doc_freq= (--doc-freq) has no effect on {', '.join(own)}"] if own else []


KIND = Kind(
    name="captions",
    read_beside=read_beside,
    read=read,
    make_tasks=make_tasks,
    defaults=defaults,
    fill_entry=fill_entry,
    prepare=prepare,
    notes=caption_notes,
)
