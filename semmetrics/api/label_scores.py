"""Label lists against label lists: from inputs to a table of scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.api.inputs import classes_of, conventions, heads_of, names_of, weights_of
from semmetrics.data.form import ReadOptions
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Lists
from semmetrics.data.taxonomy_files import as_taxonomy
from semmetrics.errors import InputError
from semmetrics.kinds.labels.normalize import normalization
from semmetrics.kinds.labels.reading import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.calibrated import as_calibrations, calibration_notes
from semmetrics.scoring.fits import frozen
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.models import embeddings_by_name, with_models
from semmetrics.scoring.notes import notes_on, unused_cache, unused_embeddings
from semmetrics.scoring.planning import cutoffs_of, plan_measures, plan_protocol
from semmetrics.scoring.protocols import Plan
from semmetrics.scoring.score import score_tasks

__all__ = ["score_labels"]

Progress = Callable[[int, int], None]


def score_labels(
    systems: Mapping[str, Any],
    gts: Any,
    *,
    measures: Any = None,
    protocol: str | None = None,
    top_k: int | Sequence[int] | None = None,
    decode: str | Sequence[str] | None = None,
    min_labels: int = 0,
    cardinality: Any = None,
    normalize: str | None = None,
    missing: str | None = None,
    unpredicted: str | None = None,
    classes: Any = None,
    ignore: Iterable[str] = (),
    weights: Any = None,
    embedding: Any = None,
    lookup: str | None = None,
    oov: str | None = None,
    device: str | None = None,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    calibration: Any = None,
    taxonomy: Any = None,
    ci: Bootstrap | None = None,
    read: ReadOptions | None = None,
    keep_rows: bool = True,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score label lists; parameters, result and errors are those of ``score_systems``."""
    calibrations = as_calibrations(calibration)
    said = {"normalize": normalize, "missing": missing, "unpredicted": unpredicted}
    settings = conventions(protocol, {**said, "lookup": lookup, "oov": oov})
    rules = {name: settings.pop(name) for name in ("lookup", "oov") if name in settings}
    settings["classes"] = classes_of(classes, read)
    settings.update(ignore=names_of(ignore, read), weights=weights_of(weights, read))
    tasks, inputs = _tasks(systems, gts, cardinality, settings, read)
    cuts: dict[str, Any] = {"top_k": top_k, "decode": decode, "min_labels": min_labels}
    plan = _plan(tasks, measures, protocol, embedding, **cuts)
    opening: dict[str, Any] = {"device": device, "limit": limit, "cache": cache}
    tasks = with_models(tasks, plan.measures, embedding, **opening, **rules)
    tasks = _with_taxonomy(tasks, taxonomy, settings.get("normalize", "none"), read)
    chosen = {
        name: [frozen(m, task, calibrations) for m in plan.measures] for name, task in tasks.items()
    }
    scores = score_tasks(
        tasks, chosen, headings=plan.headings, ci=ci, keep_rows=keep_rows, progress=progress
    )
    notes = notes_on(tasks, inputs) + unused_embeddings(plan.measures, embedding)
    notes += unused_cache(tasks, cache)
    notes += calibration_notes(tasks, plan.measures, calibrations)
    return ScoreTable(scores, plan.not_computed, notes, tasks)


def _tasks(
    systems: Mapping[str, Any],
    gts: Any,
    cardinality: Any,
    settings: Mapping[str, Any],
    read: ReadOptions | None,
) -> tuple[dict[str, LabelTask], list[Lists]]:
    """The task of each system, and everything that was read."""
    listed = settings["classes"]
    ref = as_labels(gts, source="gts", classes=listed, options=read)
    preds = {
        name: as_labels(data, source=name, classes=listed, options=read)
        for name, data in systems.items()
    }
    if not preds:
        raise InputError("there is no system to score", remedy="give predictions")
    tasks = {
        name: label_task(pred, ref, heads=heads_of(cardinality, name, read), **settings)
        for name, pred in preds.items()
    }
    return tasks, [*preds.values(), ref]


def _plan(
    tasks: Mapping[str, LabelTask],
    measures: Any,
    protocol: str | None,
    embedding: Any,
    *,
    top_k: Any,
    decode: str | Sequence[str] | None,
    min_labels: int,
) -> Plan:
    """What is computed: a protocol's measures, those named, or the default ones."""
    asked: dict[str, Any] = {
        "top_k": cutoffs_of(top_k),
        "rules": (decode,) if decode is None or isinstance(decode, str) else tuple(decode),
        "min_labels": min_labels,
    }
    if protocol is None:
        ranked = any(task.ranked for task in tasks.values())
        named = not all(task.numbered for task in tasks.values())
        return plan_measures(measures, ranked=ranked, named=named, **asked)
    given = next(iter(tasks.values())).given
    return plan_protocol(
        protocol, n_classes=given, embeddings=embeddings_by_name(embedding), **asked
    )


def _with_taxonomy(
    tasks: Mapping[str, LabelTask], taxonomy: Any, normalize: str, read: ReadOptions | None
) -> dict[str, LabelTask]:
    """The tasks with the taxonomy, whose terms are cleaned as the labels are."""
    if taxonomy is None:
        return dict(tasks)
    kinds = as_taxonomy(taxonomy, options=read or ReadOptions())
    kinds = kinds.normalized(normalization(normalize))
    return {name: replace(task, taxonomy=kinds) for name, task in tasks.items()}
