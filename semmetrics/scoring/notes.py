"""What a user is told beside the scores: what was odd, left out, or not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.data.labels import Labels
from semmetrics.data.task import LabelTask
from semmetrics.metrics.bags import texts_cut
from semmetrics.metrics.semantic_steps import pairs_near
from semmetrics.scoring.statistics import Task

__all__ = ["count_notes", "different_items", "notes_on"]

_MANY = 3

_COUNTS = {
    "missing_prediction": "items without a prediction",
    "missing_reference": "items without ground truth",
    "empty_prediction_skipped": "items left out because nothing is predicted",
    "shared_terms": "terms that several classes share",
    "predicted_outside_classes": "predicted labels outside the class list",
    "ignored_predictions": "predicted labels ignored",
    "ignored_references": "reference labels ignored",
    "ignored_labels_not_found": "labels to ignore that do not occur",
    "several_candidates": "images with several candidates, each scored on its own",
    "single_reference": "images left out that have a single reference",
    "empty_candidates": "empty candidates",
    "empty_references": "empty references",
}
_OF_MODELS = {  # {model} is its identity, {oov} the policy
    "unknown": "unknown to {model}: {oov}",
    "zero_vectors": "with a vector of zeros in {model}: similar to none but themselves",
    "truncated": "longer than {model} reads: cut to their beginning",
}


def notes_on(tasks: Mapping[str, LabelTask], inputs: Iterable[Labels]) -> list[str]:
    """Notes on inputs, on the task of each system, and on the vectors of its labels.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
    inputs : iterable of Labels

    Returns
    -------
    list of str
    """
    notes = [f"{one.source}: {note}" for one in inputs for note in one.notes]
    for name, task in tasks.items():
        told = count_notes(task)
        told += [line for model in task.models.values() for line in _model_notes(model)]
        told += [
            f"{cut:,} label lists longer than {task.models[name].embedder.identity} reads: "
            "cut to their beginning"
            for name, cut in texts_cut(task).items()
            if cut
        ]
        told += _near_notes(pairs_near(task))
        notes += [f"{name}: {line}" for line in dict.fromkeys(told)]
    return notes + different_items(tasks)


def different_items(tasks: Mapping[str, Task]) -> list[str]:
    """That systems are on different items, if they are."""
    sizes = {len(task) for task in tasks.values()}
    return ["systems are scored on different items: compare with care"] if len(sizes) > 1 else []


def count_notes(task: Task) -> list[str]:
    """What was left out, merged or odd in a task."""
    return [f"{_COUNTS.get(key, key)}: {n:,}" for key, n in task.counts.items() if n]


def _model_notes(model: Any) -> list[str]:
    """What was not known or not read of a task's terms, as label vectors count it."""
    of, words = f"of {len(model.terms):,} terms", {"model": model.embedder.identity}
    return [
        f"{model.counts[key]:,} {of} {text.format(**words, oov=model.oov)}"
        for key, text in _OF_MODELS.items()
        if model.counts.get(key)
    ]


def _near_notes(near: Mapping[tuple[str, float], int]) -> list[str]:
    some = {threshold: n for (_, threshold), n in near.items() if n}
    if len(some) > _MANY:
        of = f"{len(some)} thresholds"
        return [f"{max(some.values()):,} pairs of labels or fewer are within 1e-6 of {of}"]
    return [
        f"{n:,} pairs of labels are within 1e-6 of the threshold {threshold!r}"
        for threshold, n in some.items()
    ]
