"""Notes on label sets: probable mistakes, omitted data, and options without effect."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import Fact, first_of_each
from semmetrics.kinds.base import (
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.embedding_notes import (
    cache_facts,
    unused_embeddings,
    unused_rules,
)
from semmetrics.kinds.item_notes import count_facts, different_items
from semmetrics.kinds.labels.excluded_labels import LabelsToIgnore
from semmetrics.kinds.labels.input_notes import input_notes
from semmetrics.kinds.labels.mistake_notes import mistake_notes
from semmetrics.kinds.labels.model_notes import label_model_notes, uncalibrated_facts
from semmetrics.kinds.labels.normalization import normalization
from semmetrics.kinds.labels.observation_codes import (
    DIFFICULT_LABELS,
    IGNORED_LABELS,
    LABELS_IN_TAXONOMY,
    LABELS_WITH_PARENTS,
    MINUS_ONE_SCORES,
    SCORES,
    SHARED_TERMS,
    UNVERIFIED_CELLS,
    UNVERIFIED_PREDICTIONS,
)
from semmetrics.kinds.labels.predicted_scores import activation_facts, score_facts
from semmetrics.kinds.note_builders import counted, no_effect
from semmetrics.kinds.sample_weights import unused_weights
from semmetrics.kinds.side_observations import swapped_facts
from semmetrics.metrics.definition import Measure
from semmetrics.options import is_on


def label_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    observations: ObservationsByTask,
    inputs: Sequence[Any] = (),
) -> list[Fact]:
    """Return notes on probable mistakes, omitted data, and options without effect.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : sequence of Measure
    options : ResolvedOptions
    observations : mapping from name of a task to Observations
        The observations that were made while tasks were evaluated. Empty for a calibration, which
        evaluates no task.
    inputs : sequence of Lists
        The predictions of each system, then the ground truth.
    """
    truth_source = inputs[-1].source if inputs else ""
    ignored = LabelsToIgnore.of(options.ignore, normalization(options.normalize))
    notes: list[Fact] = []
    truth_notes: list[Fact] = []
    for name, task in each_task(tasks):
        observed = observations.get(name, task.observations)
        notes += counted("shared-terms", len(observed.names_of(SHARED_TERMS)), (), name)
        notes += _ignored_label_notes(name, observed, ignored, options)
        notes += _task_notes(name, task, observed, measures, options)
        n_left_out = observed.number(UNVERIFIED_PREDICTIONS)
        notes += counted("unverified-labels", n_left_out, (), name, other=truth_source)
        truth_notes += _truth_notes(observed, truth_source, options)
    notes += input_notes(inputs, options)
    notes += first_of_each(truth_notes)
    notes += different_items(tasks)

    all_tasks = [task for _, task in each_task(tasks)]
    all_models = chain.from_iterable(task.models.values() for task in all_tasks)
    embedders = [model.embedder for model in all_models]
    notes += unused_embeddings(measures, options.embedding)
    notes += cache_facts(embedders, options.cache)
    notes += unused_weights(options.weights, inputs)
    if options.taxonomy is not None:
        notes += options.taxonomy.notes
    if observations:
        notes += uncalibrated_facts(all_tasks[0].models, measures, options)
    notes += unused_rules(measures, options, "SemF1")
    return notes + _unused_options(all_tasks, measures, options)


# ---- tasks --------------------------------------------------------------------------------------


def _ignored_label_notes(
    where: str, observed: Observations, ignored: LabelsToIgnore, options: Options
) -> list[Fact]:
    """Return notes on labels to ignore that do not occur."""
    n_missing = len(ignored.names) - len(observed.names_of(IGNORED_LABELS))
    if not n_missing:
        return []
    notes = counted("ignored-labels-not-found", n_missing, (), where)
    return notes + _ignored_file_notes(options.ignore)


def _ignored_file_notes(labels: Any) -> list[Fact]:
    """Return notes on labels to ignore that are the names of files."""
    notes = []
    for label in labels or ():
        is_file = isinstance(label, str) and os.path.isfile(label)  # noqa: PTH113 - also long names
        if is_file:
            notes.append(Fact("ignored-file", values={"name": label}))
    return notes


def _task_notes(
    where: str,
    task: LabelTask,
    observed: Observations,
    measures: Measures,
    options: Options,
) -> list[Fact]:
    """Return notes on the taxonomy, the predictions and the embeddings of a task."""
    notes: list[Fact] = []
    if not observed.number(LABELS_WITH_PARENTS):
        # No label has a parent, as if the taxonomy was upside down.
        notes += counted("no-parents", observed.number(LABELS_IN_TAXONOMY), (), where)
    notes += count_facts(where, task)
    notes += mistake_notes(observed, "pred", where, options)
    notes += score_facts(observed, where, task, measures, options)
    notes += activation_facts(observed, where, options)
    return notes + label_model_notes(where, task, observed)


def _truth_notes(observed: Observations, where: str, options: Options) -> list[Fact]:
    """Return notes on the ground truth."""
    notes = mistake_notes(observed, "ref", where, options)
    if observed.has(MINUS_ONE_SCORES, "ref"):
        notes.append(Fact("true-minus", where=where))
    elif observed.has(SCORES, "ref"):
        notes.append(Fact("true-scores", where=where))
    notes += swapped_facts(observed)
    notes += counted("difficult-labels", observed.number(DIFFICULT_LABELS), (), where)
    notes += counted("unverified-cells", observed.number(UNVERIFIED_CELLS), (), where)
    return notes


# ---- options ------------------------------------------------------------------------------------


def _unused_options(
    tasks: Sequence[LabelTask], measures: Measures, options: Options
) -> list[Fact]:
    """Return notes on options that have no effect on these tasks and measures."""
    reasons: dict[str, str] = {}
    if not any(map(_uses_set_sizes, measures)):
        reasons["set_size_probs"] = "only decode=cardinality uses it"
        reasons["first_set_size"] = "only decode=cardinality uses it"
    if all(task.unverified is None for task in tasks):
        reasons["unknown_value"] = "the ground truth has no 0/1 cells"
    if all(task.pred.scores is None for task in tasks):
        reasons["activation"] = "the predictions have no scores"
    if not any("taxonomy" in measure.definition.needs for measure in measures):
        reasons["taxonomy"] = "no requested measure counts ancestors (hF does)"
    notes = []
    for option, reason in reasons.items():
        if is_on(options.value(option)):
            notes.append(no_effect(option, reason))
    return notes


def _uses_set_sizes(measure: Measure) -> bool:
    """Return whether the decoding rule of a measure uses the probabilities of set sizes."""
    return str(measure["decode"]).startswith(("cardinality", "dirichlet"))
