"""Add scene graphs, embeddings and document frequencies to the tasks of captions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.kinds import embeddings
from semmetrics.kinds.base import Measures, Options, Tasks
from semmetrics.kinds.captions.scene_graphs import parse_captions
from semmetrics.kinds.captions.task import HUMAN
from semmetrics.metrics.cider import task_frequencies


def prepare_captions(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Add to the tasks the scene graphs, embeddings and document frequencies that measures need.

    References that score each other have the document frequencies of all references, as the
    systems do.
    """
    parsers = {str(m["parser"]) for m in measures if m["parser"] is not None}
    graphs = {f"parser/{name}": options.tuples[name] for name in sorted(parsers)}
    models = embeddings.open_text_models(measures, options)
    parse_captions(tasks, measures, options.tuples)
    for measure in measures:
        open_data = measure.definition.extra.get("open")
        if open_data:
            open_data(measure, options.progress)

    frequencies = _frequencies_by_system(tasks, measures, options)
    prepared = {}
    for system, parts in tasks.items():
        task = parts[""]
        fits = {**graphs, **frequencies[system]}
        prepared_task = replace(task, fits=fits, models=models)
        # What was memoised to check measures is not computed again.
        prepared_task.shared.update(task.shared)
        prepared[system] = {"": prepared_task}
    return prepared


def _frequencies_by_system(
    tasks: Tasks, measures: Measures, options: Options
) -> dict[str, Mapping[str, Any]]:
    """Return the document frequencies of each system that are not counted in its own task."""
    doc_freq = options.doc_freq
    if isinstance(doc_freq, Mapping):
        return {system: dict(doc_freq) for system in tasks}
    if doc_freq is not None:
        return {system: {"df": doc_freq} for system in tasks}
    frequencies: dict[str, Mapping[str, Any]] = {system: {} for system in tasks}
    if options.score_references:
        first_system = next(iter(tasks))
        frequencies[HUMAN] = _count_frequencies(tasks[first_system][""], measures)
    return frequencies


def _count_frequencies(task: CaptionTask, measures: Measures) -> dict[str, Any]:
    """Count the document frequencies that measures use in the references of a task."""
    frequencies = {}
    for source, stem in sorted({(str(m["df"]), str(m["stem"])) for m in measures}):
        if source in ("references", "rows"):
            frequencies[f"{source}/{stem}"] = task_frequencies(task, source, stem)
    return frequencies
