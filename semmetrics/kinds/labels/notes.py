"""What is said beside the scores of label sets: what was odd, left out, or not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.tasks import LabelTask
from semmetrics.kinds import (
    Options,
    Tasks,
    different_items,
    each_task,
    first_of_alike,
    task_notes,
    unused_weights,
)
from semmetrics.kinds.embeddings import (
    cache_notes,
    model_notes,
    unused_embeddings,
    unused_rules,
)
from semmetrics.kinds.labels.oddities import oddity_notes
from semmetrics.kinds.labels.score_notes import score_notes, unlike_scores
from semmetrics.kinds.labels.uncalibrated import uncalibrated_notes
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS, is_given

__all__ = ["BY_NAME", "label_notes"]

_MANY = 3
BY_NAME = "give labels by name, or the class list of a matrix's columns (classes=, --classes)"

_COUNTS = {
    "missing_prediction": "items without a prediction",
    "missing_reference": "items without ground truth",
    "empty_prediction_skipped": "items left out because nothing is predicted",
    "shared_terms": "terms that several classes share",
    "ignored_labels_not_found": "labels to ignore that do not occur",
}
_NUMBERS = f"the labels are numbers, compared as they are; {BY_NAME}"


def label_notes(
    tasks: Tasks,
    measures: Sequence[Measure],
    options: Options,
    noted: Mapping[str, Any],
    inputs: Sequence[Any] = (),
) -> list[str]:
    """Say what was odd, left out or not known, and which options have no effect.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : sequence of Measure
    options : ResolvedOptions
    noted : mapping from name of a task to mapping
        What steps noted, where tasks were evaluated.
    inputs : sequence of Lists
        The predictions of each system, then the ground truth.

    Returns
    -------
    list of str
    """
    said = {}
    for name, task in each_task(tasks):
        odd = noted.get(name, task.odd)
        pairs = zip(
            oddity_notes(odd, options["normalize"], options["protocol"]),
            score_notes(odd, measures, options, ranked=task.ranked),
            strict=True,
        )
        said[name] = [first + second for first, second in pairs]
    notes = task_notes(
        tasks, _COUNTS, lambda name, task: said[name][0] + _model_notes(task, noted.get(name, {}))
    )
    notes += [f"{one.source}: {line}" for one in inputs for line in unlike_scores(one)]
    notes += first_of_alike(line for _, lines in said.values() for line in lines)
    notes += different_items(tasks)
    notes += unused_embeddings(measures, options["embedding"])
    models = [model.embedder for _, task in each_task(tasks) for model in task.models.values()]
    notes += cache_notes(models, options["cache"])
    notes += unused_weights(options["weights"], inputs)
    notes += () if options["taxonomy"] is None else map(str, options["taxonomy"].notes)
    if noted:  # a calibration evaluates nothing
        notes += uncalibrated_notes(tasks, measures, options, inputs)
    return notes + _unused_options(measures, options)


def _model_notes(task: LabelTask, noted: Mapping[Any, Any]) -> list[str]:
    """Say what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.bags import list_counts
    from semmetrics.metrics.semantic import pairs_near

    lines = [_NUMBERS] if task.numbered else []
    for model in task.models.values():
        of = f"of {pluralize(len(model.terms), 'term')}"
        found = {key: f"{n:,} {of}" for key, n in model.counts.items() if n}
        flags = {"unknown": ~model.known, "composed": model.composed}
        which = {
            key: [model.terms[row] for row in np.flatnonzero(some).tolist()]
            for key, some in flags.items()
        }
        lines += model_notes(model, found, which, "; semmetrics embed coverage counts them")
    for name, counts in list_counts(noted).items():
        found = {key: pluralize(n, "label list") for key, n in counts.items() if n}
        lines += model_notes(task.models[name], found)
    return lines + _near_notes(pairs_near(noted))


def _unused_options(measures: Sequence[Measure], options: Options) -> list[str]:
    """Say which options about meaning no measure takes up."""
    notes = unused_rules(measures, options, "SemF1")
    by_size = any(str(m["decode"]).startswith("cardinality") for m in measures)
    notes += [
        f"{OPTIONS[name].both} has no effect: no decoding rule here uses it "
        "(decode=cardinality does)"
        for name in ("set_size_probs", "first_set_size")
        if is_given(options[name]) and not by_size
    ]
    if options["taxonomy"] is not None and not any(
        "taxonomy" in m.definition.needs for m in measures
    ):
        notes.append(
            f"{OPTIONS['taxonomy'].both} has no effect: no measure here counts ancestors (hF does)"
        )
    return notes


def _near_notes(near: Mapping[tuple[str, float], int]) -> list[str]:
    some = {threshold: n for (_, threshold), n in near.items() if n}
    if len(some) > _MANY:
        most = pluralize(max(some.values()), "pair")
        return [f"at most {most} of labels within 1e-6 of each of {len(some)} thresholds"]
    return [
        f"{pluralize(n, 'pair')} of labels {'is' if n == 1 else 'are'} within 1e-6 of the "
        f"threshold {threshold!r}"
        for threshold, n in some.items()
    ]
