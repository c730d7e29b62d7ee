"""Notes on the embeddings of labels: unknown terms, near thresholds, and missing calibrations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import Fact
from semmetrics.kinds.base import Measures, Options
from semmetrics.kinds.embedding_notes import model_facts
from semmetrics.kinds.embeddings import by_name
from semmetrics.kinds.labels.observation_codes import (
    EMBEDDED_TERMS,
    HAS_NAMES,
    TERM_PROBLEMS,
)
from semmetrics.metrics.definition import model_key

_MAX_SHOWN_THRESHOLDS = 3  # that have a note each
_WORD2VEC = re.compile(r"word2vec|google-?news", re.IGNORECASE)
"""The identity of an embedding for which the default threshold is calibrated."""


def label_model_notes(
    where: str, task: LabelTask, observed: Observations
) -> list[Fact]:
    """Return notes on what embeddings do not know or read, and on pairs near a threshold.

    Parameters
    ----------
    where : str
        The name of the task.
    task : LabelTask
    observed : Observations
        Of the task.
    """
    if not task.models:
        return []
    notes = []
    if not observed.has(HAS_NAMES):
        notes.append(Fact("numbers-as-labels", where=where))
    notes += _term_notes(where, task, observed)
    notes += _list_notes(where, task, observed)
    notes += _near_threshold_notes(where, observed)
    return list(dict.fromkeys(notes))


def _term_notes(where: str, task: LabelTask, observed: Observations) -> list[Fact]:
    """Return notes on terms that embeddings do not know, or read in part."""
    notes: list[Fact] = []
    policy_of_identity = _name_policies(task.models)
    for name, model in task.models.items():
        terms_of_problem = {}
        counts = {}
        for problem in TERM_PROBLEMS:
            terms = sorted(observed.names_of(EMBEDDED_TERMS, problem, name))
            terms_of_problem[problem] = terms
            counts[problem] = len(terms)
        policy = policy_of_identity[model.embedder.identity]
        notes += model_facts(
            where, model, counts, "distinct term", terms_of_problem, policy
        )
        truncated = {"truncated": observed.number(EMBEDDED_TERMS, "truncated", name)}
        notes += model_facts(where, model, truncated, "term")
    return notes


def _name_policies(models: Mapping[str, Any]) -> dict[str, str]:
    """Return the policy for unknown terms of each embedding, by its identity.

    If the user sets no policy, distances skip unknown terms, and other measures of the same
    embedding do not.
    """
    policy_of_identity: dict[str, str] = {}
    for model in models.values():
        identity = model.embedder.identity
        policy = policy_of_identity.setdefault(identity, model.oov)
        if policy != model.oov:
            usual_policy = model.oov
            if model.oov == "skip":
                usual_policy = policy
            policy_of_identity[identity] = f"{usual_policy}, skip for distances"
    return policy_of_identity


def _list_notes(where: str, task: LabelTask, observed: Observations) -> list[Fact]:
    """Return notes on label lists that embeddings do not know, or read in part."""
    n_unknown = _largest_counts(observed, "unknown")
    n_truncated = _largest_counts(observed, "truncated")
    notes: list[Fact] = []
    for details, n in n_unknown.items():
        (name,) = details
        counts = {"unknown": n, "truncated": n_truncated[details]}
        notes += model_facts(where, task.models[name], counts, "label list")
    return notes


def _near_threshold_notes(where: str, observed: Observations) -> list[Fact]:
    """Return notes on pairs of labels whose similarity is close to a threshold."""
    from semmetrics.metrics.semantic import PAIRS_NEAR_THRESHOLD

    n_of_threshold = {}
    for (_, threshold), n in _largest_counts(observed, PAIRS_NEAR_THRESHOLD).items():
        if n:
            n_of_threshold[threshold] = n
    if len(n_of_threshold) > _MAX_SHOWN_THRESHOLDS:
        most = max(n_of_threshold.values())
        values = {"thresholds": len(n_of_threshold)}
        return [Fact("near-thresholds", most, (), where, values)]
    notes = []
    for threshold, n in n_of_threshold.items():
        values = {"threshold": threshold}
        notes.append(Fact("near-threshold", n, (), where, values))
    return notes


def _largest_counts(observed: Observations, code: str) -> dict[Any, int]:
    """Return the largest count with a code, by its details without the last.

    The last detail is the step that counted. Several steps count the same pairs or labels.
    """
    largest: dict[Any, int] = {}
    for (*details, _), n in observed.counts_of(code).items():
        key = tuple(details)
        largest[key] = max(n, largest.get(key, 0))
    return largest


def uncalibrated_facts(
    models: Mapping[str, Any], measures: Measures, options: Options
) -> list[Fact]:
    """Return notes on embeddings that are used with the threshold of another embedding.

    Parameters
    ----------
    models : mapping from `model_key` to LabelVectors
    measures : sequence of Measure
        As the user requests them, with "auto" for a threshold that depends on the embedding.
    options : ResolvedOptions
    """
    if options.calibration is not None:
        return []
    specs = by_name(options.embedding)
    note_of_identity: dict[str, Fact] = {}
    for measure in measures:
        if measure["threshold"] != "auto":
            continue
        model = models[model_key(measure)]
        spec = specs.get(str(measure["embedding"]))
        if _has_threshold(model.embedder, spec):
            continue
        identity = model.embedder.identity
        values = {"threshold": model.threshold, "model": identity}
        note = Fact("uncalibrated", values=values)
        note_of_identity.setdefault(identity, note)
    return list(note_of_identity.values())


def _has_threshold(embedder: Any, spec: Any) -> bool:
    """Return whether there is a threshold for an embedding.

    Parameters
    ----------
    embedder : Embedder
    spec : object
        The specification of the user.
    """
    if hasattr(embedder, "threshold") or _WORD2VEC.search(embedder.identity):
        return True
    return isinstance(spec, str) and spec.startswith("word2vec:")
