"""Add the label vectors and the taxonomy that measures need to the tasks.

The labels that an embedding or the taxonomy has are counted. `check_shared` raises an error if there
are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.lists import Terms
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds import side_input_checks
from semmetrics.kinds.base import Measures, Options, Tasks, each_task
from semmetrics.kinds.embeddings import embedding_name, open_models
from semmetrics.kinds.labels.observation_codes import (
    EMBEDDED_TERMS,
    LABELS_IN_TAXONOMY,
    LABELS_WITH_PARENTS,
    TERM_PROBLEMS,
)
from semmetrics.metrics.definition import Measure, model_key

_TERM_VECTORS = "embedding"
_TEXT_VECTORS = "text_embedding"
"""The kinds of vectors that measures need: of terms, or of whole label lists as text."""


class _NeededEmbeddings(NamedTuple):
    """The embeddings that measures need.

    Attributes
    ----------
    needs : dict from `embedding_name` to set of str
        The kinds of vectors that the measures need of each embedding.
    measures : dict from `model_key` to Measure
        A measure for each set of label vectors.
    """

    needs: dict[str, set[str]]
    measures: dict[str, Measure]


class _OpenModels(NamedTuple):
    """The embeddings that measures need, opened.

    Attributes
    ----------
    needed : _NeededEmbeddings
    models : mapping from `embedding_name` to Embedder
    options : ResolvedOptions
    device : torch.device or None
        Where measures compute.
    """

    needed: _NeededEmbeddings
    models: Mapping[str, Any]
    options: Options
    device: Any

    def look_up(self, terms: Sequence[Terms]) -> dict[str, Any]:
        """Return the vectors of labels in each embedding, by `embedding_name`."""
        from semmetrics.embed.label_vectors import label_vectors
        from semmetrics.embed.lookup import rules_for

        vectors = {}
        for name, model in self.models.items():
            rules = rules_for(model, self.options.lookup, self.options.oov)
            needs_texts_only = self.needed.needs[name] == {_TEXT_VECTORS}
            vectors[name] = label_vectors(
                terms, model, whole=needs_texts_only, device=self.device, **rules
            )
        return vectors

    def vectors_of_measures(self, vectors: Mapping[str, Any]) -> dict[str, Any]:
        """Return the label vectors of each measure, by `model_key`."""
        vectors_of_key = {}
        for key, measure in self.needed.measures.items():
            name = embedding_name(measure, self.options.embedding)
            vectors_of_key[key] = _with_policy(vectors[name], measure, self.options)
        return vectors_of_key


def prepare_labels(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Add the label vectors that measures need, and the taxonomy.

    Only embeddings that a measure uses are opened, and each distinct term of a task is looked up
    once in each. `semmetrics.kinds.embeddings` has the rules for which embedding a measure uses.

    Raises
    ------
    InputError
        If a measure cannot leave unverified cells out, an embedding is unknown or cannot be
        opened, the device does not exist or has no double precision, or ``max_words`` applies to
        none of the embeddings.
    MissingDependencyError
        If the device needs torch, which is not installed.
    """
    _check_unverified(tasks, measures)
    needed = _find_needed(measures, options)
    taxonomy = options.taxonomy
    if not needed.needs and taxonomy is None:
        return tasks
    models = None
    if needed.needs:
        models = _open_models(needed, options)
    uses_taxonomy = any("taxonomy" in measure.definition.needs for measure in measures)
    prepared: dict[str, dict[str, Any]] = {}
    for system, parts in tasks.items():
        prepared[system] = {}
        for part, task in parts.items():
            with_vectors = _add_vectors(task, models)
            if taxonomy is not None and uses_taxonomy:
                _observe_taxonomy(with_vectors, taxonomy)
            prepared[system][part] = replace(with_vectors, taxonomy=taxonomy)
    return prepared


def _check_unverified(tasks: Tasks, measures: Measures) -> None:
    """Raise an error for a measure that cannot leave unverified cells out."""
    names = [str(measure) for measure in measures if measure["q"] is not None]
    if not names:
        return
    for _, task in each_task(tasks):
        if task.unverified is None:
            continue
        if task.unverified.categories is not None:
            raise InputError("counts-unverified", measure=names[0])
        raise InputError("not-applicable", name="unknown_value", what=names[0])


def _find_needed(measures: Measures, options: Options) -> _NeededEmbeddings:
    """Return the embeddings that measures need."""
    needs_of_name: dict[str, set[str]] = {}
    measure_of_key: dict[str, Measure] = {}
    for measure in measures:
        needs = measure.definition.needs & {_TERM_VECTORS, _TEXT_VECTORS}
        if needs:
            name = embedding_name(measure, options.embedding)
            needs_of_name.setdefault(name, set()).update(needs)
            measure_of_key.setdefault(model_key(measure), measure)
    return _NeededEmbeddings(needs_of_name, measure_of_key)


def _open_models(needed: _NeededEmbeddings, options: Options) -> _OpenModels:
    """Open the device and the embeddings."""
    from semmetrics.core.backend import find_device

    device = find_device(options.device)
    models = open_models(list(needed.measures.values()), options)
    return _OpenModels(needed, models, options, device)


def _add_vectors(task: LabelTask, models: _OpenModels | None) -> LabelTask:
    """Return a task with label vectors, and with observations of its own."""
    observations = task.observations.copy()
    if models is None:
        return replace(task, models={}, observations=observations)
    vectors = models.look_up(_terms_as_written(task))
    vectors_of_key = models.vectors_of_measures(vectors)
    _observe_terms(observations, vectors_of_key)
    for name, term_vectors in vectors.items():
        if _TERM_VECTORS in models.needed.needs[name]:
            n_known = int(term_vectors.known.sum())
            observations.count(EMBEDDED_TERMS, n_known, "known", name)
    return replace(task, models=vectors_of_key, observations=observations)


def _terms_as_written(task: LabelTask) -> Sequence[Terms]:
    """Return the terms of each label as it was written."""
    if task.synonyms is not None:
        return task.synonyms.terms
    return [(name,) for name in task.classes]


def _with_policy(vectors: Any, measure: Measure, options: Options) -> Any:
    """Return label vectors under a measure's policy for unknown labels."""
    from semmetrics.embed.lookup import rules_for

    default = measure.definition.oov
    rules = rules_for(vectors.embedder, options.lookup, options.oov, default)
    if rules["oov"] == "skip" and vectors.oov != "skip":
        return vectors.skip_unknown()
    return vectors


def _observe_terms(observations: Observations, models: Mapping[str, Any]) -> None:
    """Observe the terms with a problem in an embedding, and count truncated ones.

    Parameters
    ----------
    observations : Observations
        Observations are added here.
    models : mapping from `model_key` to LabelVectors
    """
    for name, vectors in models.items():
        is_zero = np.zeros_like(vectors.known)
        if vectors.counts["zero_vectors"]:
            is_zero = vectors.known & ~vectors.vectors.any(axis=1)
        flags = (~vectors.known, vectors.composed, vectors.untuned, is_zero)
        for problem, has_problem in zip(TERM_PROBLEMS, flags, strict=True):
            if has_problem.any():
                terms = compress(vectors.terms, has_problem.tolist())
                observations.add_names(EMBEDDED_TERMS, terms, problem, name)
        n_truncated = vectors.counts["truncated"]
        if n_truncated:
            observations.count(EMBEDDED_TERMS, n_truncated, "truncated", name)


def _observe_taxonomy(task: LabelTask, taxonomy: Any) -> None:
    """Count the labels of a task in the taxonomy, and those that have parents."""
    nodes = []
    for terms in task.terms or _terms_as_written(task):
        node = _find_node(taxonomy, terms)
        if node is not None:
            nodes.append(node)
    n_with_parents = int((taxonomy.depth[nodes] > 0).sum())
    task.observations.count(LABELS_IN_TAXONOMY, len(nodes))
    task.observations.count(LABELS_WITH_PARENTS, n_with_parents)


def _find_node(taxonomy: Any, terms: Iterable[str]) -> int | None:
    """Return the node of a label: of its first term in the taxonomy, or None."""
    for term in terms:
        node: int | None = taxonomy.find(term)
        if node is not None:
            return node
    return None


# ---- inputs without any label of the data -------------------------------------------------------


def check_shared(
    observations: Iterable[Observations], options: Options, names: Sequence[str]
) -> None:
    """Raise an error if no label is in the taxonomy or in the embedding of the user.

    The right embedding may not know a single true label, which a note counts. Labels to ignore
    need not occur, because the same list is used for many files.

    Parameters
    ----------
    observations : iterable of Observations
        The observations in each task.
    options : ResolvedOptions
    names : sequence of str
        Some labels of the data.
    """
    # A count of 0 is stored, and is an error.
    n_shared: Counter[str] = Counter()
    for observed in observations:
        if observed.has(LABELS_IN_TAXONOMY):
            n_shared["taxonomy"] += observed.number(LABELS_IN_TAXONOMY)
        for (detail, _), n in observed.counts_of(EMBEDDED_TERMS).items():
            if detail == "known":
                n_shared["embedding"] += n
    if len(names) < 2:
        n_shared.pop("embedding", None)
    side_input_checks.check_shared(n_shared, options, "label", names)
