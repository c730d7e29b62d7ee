"""The record of retrieval: how runs and positives are read, joined and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.form import ReadOptions
from semmetrics.data.side_inputs import read_names
from semmetrics.errors import InputError
from semmetrics.kinds import (
    Defaults,
    Kind,
    Options,
    Tasks,
    different_items,
    each_task,
    read_weights,
    task_notes,
    unused_weights,
)
from semmetrics.kinds.captions.graphs import open_tuples
from semmetrics.kinds.captions.record import read_frequencies
from semmetrics.kinds.retrieval.computed_phi import read_caption_texts, refuse_without_captions
from semmetrics.kinds.retrieval.phi_matrices import chosen_phi, takes_phi, unused_phi, with_phi
from semmetrics.kinds.retrieval.reading import as_candidates, read_embeddings
from semmetrics.kinds.retrieval.task import LISTED, make_parts
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.metrics.retrieval import HitRate, Recall
from semmetrics.options import check_choice

__all__ = ["KIND"]

_DEFAULTS = ("HitRate@1", "HitRate@5", "HitRate@10", "Recall@10", "MRR", "MedR", "R-Precision")
_COUNTS = {
    "missing_prediction": "queries that nothing ranks",
    "missing_reference": "queries without ground truth",
    "positives_outside": "positives that are not in the gallery, and so never found",
    "graded_0": "candidates of grade 0 or less, no positives",
    "other_folds": "positives in other folds than their query, left out",
}
_NUMBERED = (
    "the ids of the positives were taken for numbers of rows, from 0: name the rows with "
    "queries= (--queries) if they are others"
)
_TURNED = (
    "the similarities of positives are larger where the square matrix is turned round: its rows "
    "are taken for queries; if they are the gallery, give the transpose"
)


def read_beside(options: Options) -> Options:
    """Read the names of both sides, the positives of columns, and the weights."""
    for name in ("similarity", "direction", "ties"):
        check_choice(name, options[name])
    if options["folds"] is not None and options["folds"] < 2:
        raise InputError(f"folds={options['folds']}", remedy="give a whole number from 2")
    files, doc_freq = options["read"] or ReadOptions(), options["doc_freq"]
    refuse_without_captions(options)
    reverse = options["reverse_positives"]
    if reverse is not None:
        reverse = as_candidates(reverse, source="reverse_positives", options=options["read"])
    return options.replace(
        queries=read_names(options["queries"], files, "queries"),
        gallery=read_names(options["gallery"], files, "gallery"),
        reverse_positives=reverse,
        captions=read_caption_texts(options["captions"], options),
        doc_freq=None if doc_freq is None else read_frequencies(doc_freq, files.max_bytes),
        tuples=open_tuples(options["tuples"], files.max_bytes),
        weights=read_weights(options["weights"], files.beside()),
    )


def read(data: Any, source: str, options: Options) -> Any:
    """Read one side; without predictions the embeddings that the options name."""
    embedded = options["queries_embeddings"] is not None
    if data is None and (embedded or options["gallery_embeddings"] is not None):
        return read_embeddings(options)
    if data is None:
        raise InputError(
            "there are no predictions",
            remedy="give similarities or ranked lists, or queries_embeddings= "
            "(--queries-embeddings) and gallery_embeddings= (--gallery-embeddings)",
        )
    if embedded and source != "gts":
        raise InputError(
            "predictions are given, and embeddings as well",
            remedy="leave queries_embeddings= (--queries-embeddings) out, or the predictions",
        )
    return as_candidates(data, source=source, options=options["read"])


def make_tasks(preds: Mapping[str, Any], ref: Any, options: Options) -> Tasks:
    """Make the tasks of each system: one for each direction."""
    return {name: make_parts(run, ref, options) for name, run in preds.items()}


def defaults(tasks: Tasks, options: Options) -> Defaults:
    """Return what papers print, and the recall that they do not."""
    several = ("Rsum",) if options["direction"] == "both" else ()
    return Defaults((*_DEFAULTS, *several))


def fill_entry(text: str, tasks: Tasks, options: Options) -> tuple[str, str]:
    """Name the phi that is given, or say that a measure lacks it."""
    (measure,) = parse(text, "retrieval")
    if not takes_phi([measure]):
        return text, ""
    chosen, lacking = chosen_phi(measure, tasks, options)
    return str(chosen), lacking


def prepare(tasks: Tasks, measures: Sequence[Measure], options: Options) -> Tasks:
    """Hand over the matrices phi that measures name."""
    return with_phi(tasks, measures, options)


def retrieval_notes(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> list[str]:
    """Note the sizes and direction of each run, how many ties mattered, and what was left out."""

    def of_task(name: str, task: Any) -> list[str]:
        found = noted.get(name, task.odd)
        lines = [_size_note(task, found)]
        fewer = {(key[1], key[3]): n for key, n in found.items() if isinstance(key, tuple) and n}
        lines += [
            f"{pluralize(n, 'query', 'have')} fewer than {pluralize(k, 'candidate')}"
            f"{' besides their positives' * left_out}, all of which count at @{k}"
            for (k, left_out), n in sorted(fewer.items())
            if not left_out or n != fewer.get((k, False))
        ]
        if found.get("numbered"):
            lines.append(_NUMBERED)
        return lines + [_TURNED] * bool(found.get("turned"))

    notes = task_notes(tasks, _COUNTS, of_task)
    notes += unused_weights(options["weights"], [*inputs[-1:]])
    notes += unused_phi(measures, options) + _whole_galleries(tasks, measures)
    return notes + different_items(tasks)


def _whole_galleries(tasks: Tasks, measures: Sequence[Measure]) -> list[str]:
    """Say that measures without a cutoff are 1 where all candidates are ranked."""
    if any(task.settings["gallery"] == LISTED for _, task in each_task(tasks)):
        return []
    whole = [str(m) for m in measures if m.definition in (Recall, HitRate) and m.k is None]
    return [
        f"{name} without a cutoff counts all candidates: write {name}@1, for instance"
        for name in whole
    ]


def _size_note(task: Any, found: Mapping[Any, Any]) -> str:
    queries = pluralize(found.get("queries", len(task)), "query")
    gallery = f"a gallery of {task.scores.shape[1]:,}"
    if task.settings["gallery"] == LISTED:
        gallery = "ranked lists"
    ties = f"ties by {task.ties}" if task.ties == "position" else f"{task.ties} ties"
    line = f"{queries}, {gallery}, {task.settings['direction']}, {ties}"
    if task.folds is not None:
        line += f", {task.settings['folds']} folds"
    if found.get("undecided"):
        queries = pluralize(found["undecided"], "query", "have")
        line += f"; {queries} a tie that decides the rank of a positive"
    return line


KIND = Kind(
    name="retrieval",
    read_beside=read_beside,
    read=read,
    make_tasks=make_tasks,
    defaults=defaults,
    fill_entry=fill_entry,
    prepare=prepare,
    notes=retrieval_notes,
)
