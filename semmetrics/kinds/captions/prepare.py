"""Add scene graphs, embeddings and document frequencies to the tasks of captions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semmetrics.data.form import DEFAULTS
from semmetrics.kinds import embeddings
from semmetrics.kinds.base import (
    Measures,
    Options,
    Tasks,
)
from semmetrics.metrics.cider import (
    DocumentFrequencies,
    task_frequencies,
)

if TYPE_CHECKING:
    pass
from semmetrics.kinds.captions.scene_graphs import parse_captions

HUMAN = "human"
"""The system whose candidates are references, each against the others of its image."""


def read_frequencies(given: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return document frequencies from themselves or from a path; or by what was counted."""
    if given is None or isinstance(given, (DocumentFrequencies, Mapping)):
        return given
    return DocumentFrequencies.load(given, max_bytes=max_bytes)


def prepare_captions(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Hand over scene graphs, embeddings and document frequencies, given or of the first system.

    References score each other with the weights of all references, as the systems do.
    """
    parsers = {str(m["parser"]) for m in measures if m["parser"] is not None}
    graphs = {f"parser/{name}": options.tuples[name] for name in sorted(parsers)}
    models = embeddings.open_text_models(measures, options)
    parse_captions(tasks, measures, options.tuples)
    for measure in measures:
        if open_data := measure.definition.extra.get("open"):
            open_data(measure, options.progress)
    fits, chosen = {}, list(tasks)
    if options.doc_freq is not None:
        given = options.doc_freq
        fits = dict(given) if isinstance(given, Mapping) else {"df": given}
    elif options.score_references:
        first, chosen = tasks[chosen[0]][""], [HUMAN]
        counted = sorted({(str(m["df"]), str(m["stem"])) for m in measures})
        fits = {
            f"{source}/{stem}": task_frequencies(first, source, stem)
            for source, stem in counted
            if source in ("references", "rows")
        }
    prepared = {}
    for name, parts in tasks.items():
        more = fits if name in chosen else {}
        task = replace(parts[""], fits={**graphs, **more}, models=models)
        # what told whether a measure can be is not done again
        task.shared.update(parts[""].shared)
        prepared[name] = {"": task}
    return prepared
