"""What a user is told beside the scores: what was odd, left out, or not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Lists
from semmetrics.errors import amount
from semmetrics.metrics.bag_similarity import list_counts
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.semantic_steps import pairs_near
from semmetrics.scoring.planning import BY_NAME
from semmetrics.scoring.statistics import Task

__all__ = ["count_notes", "different_items", "notes_on", "unused_cache", "unused_embeddings"]

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
_NUMBERS = f"the labels are numbers, compared as they are; {BY_NAME}"
_OF_MODELS = {  # {model} is its identity, {oov} the policy
    "unknown": "unknown to {model}: {oov}",
    "zero_vectors": "with a vector of zeros in {model}: similar to none but themselves",
    "truncated": "longer than {model} reads: cut to their beginning",
}


def notes_on(tasks: Mapping[str, LabelTask], inputs: Iterable[Lists]) -> list[str]:
    """Notes on inputs, on the task of each system, and on the vectors of its labels.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
    inputs : iterable of Lists

    Returns
    -------
    list of str
    """
    notes = [f"{one.source}: {note}" for one in inputs for note in one.notes]
    for name, task in tasks.items():
        told = count_notes(task)
        told += [_NUMBERS] if task.models and task.numbered else []
        told += [line for model in task.models.values() for line in _model_notes(model)]
        told += _list_notes(task)
        told += _near_notes(pairs_near(task))
        notes += [f"{name}: {line}" for line in dict.fromkeys(told)]
    return notes + different_items(tasks)


def different_items(tasks: Mapping[str, Task]) -> list[str]:
    """That systems are on different items, if they are."""
    sizes = {len(task) for task in tasks.values()}
    return ["systems are scored on different items: compare with care"] if len(sizes) > 1 else []


def unused_embeddings(measures: Iterable[Measure], embedding: Any) -> list[str]:
    """What is said of embeddings that no measure takes up.

    Parameters
    ----------
    measures : iterable of Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it; the one that ships with the package is not given.

    Examples
    --------
    >>> from semmetrics.scoring.parse import parse_all
    >>> unused_embeddings(parse_all(["F1", "SemF1"]), {"default": "static", "bert": "sbert:bert"})
    ["the embedding 'bert' has no effect: no measure here uses it"]
    """
    used = {str(m["embedding"]) for m in measures if m["embedding"] is not None}
    given = embedding if isinstance(embedding, Mapping) else ["default"] * (embedding is not None)
    why = "no measure here uses it" if used else "no measure here compares meanings (SemF1 does)"
    return [
        f"the embedding{'' if name == 'default' else f' {name!r}'} has no effect: {why}"
        for name in given
        if name not in used
    ]


def unused_cache(tasks: Mapping[str, LabelTask], cache: object) -> list[str]:
    """What is said of a cache that no embedding in use needs.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
        With their models.
    cache : bool or path, or None
        As a user gives it.
    """
    if cache is None or cache is False:
        return []
    from semmetrics.embed.cache import CachedEmbedder

    models = [model.embedder for task in tasks.values() for model in task.models.values()]
    if any(isinstance(model, CachedEmbedder) for model in models):
        return []
    return ["the cache has no effect: no embedding in use is slower than it (cache=, --cache)"]


def count_notes(task: Task) -> list[str]:
    """What was left out, merged or odd in a task."""
    return [f"{_COUNTS.get(key, key)}: {n:,}" for key, n in task.counts.items() if n]


def _model_notes(model: Any) -> list[str]:
    """What was not known or not read of a task's terms, as label vectors count it."""
    of = f"of {amount(len(model.terms), 'term')}"
    words = {"model": model.embedder.identity}
    return [
        f"{model.counts[key]:,} {of} {text.format(**words, oov=model.oov)}"
        for key, text in _OF_MODELS.items()
        if model.counts.get(key)
    ]


def _list_notes(task: LabelTask) -> list[str]:
    """The same of whole label lists, where a measure takes them as texts."""
    told = []
    for name, counts in list_counts(task).items():
        model = task.models[name]
        words = {"model": model.embedder.identity, "oov": model.oov}
        told += [
            f"{amount(number, 'label list')} {_OF_MODELS[key].format(**words)}"
            for key, number in counts.items()
            if number
        ]
    return told


def _near_notes(near: Mapping[tuple[str, float], int]) -> list[str]:
    some = {threshold: n for (_, threshold), n in near.items() if n}
    if len(some) > _MANY:
        most = amount(max(some.values()), "pair")
        return [f"at most {most} of labels within 1e-6 of each of {len(some)} thresholds"]
    return [
        f"{amount(n, 'pair')} of labels {'is' if n == 1 else 'are'} within 1e-6 of the "
        f"threshold {threshold!r}"
        for threshold, n in some.items()
    ]
