"""What is said beside the scores of label sets: what was odd, left out, or not known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from semmetrics.core.hashing import UNVERSIONED
from semmetrics.core.ragged import Bools
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import listing, pluralize
from semmetrics.kinds import (
    Options,
    Tasks,
    different_items,
    each_task,
    first_of_alike,
    task_notes,
    unused_weights,
)
from semmetrics.kinds.labels.oddities import oddity_notes
from semmetrics.kinds.labels.score_notes import score_notes, unlike_scores
from semmetrics.kinds.labels.uncalibrated import uncalibrated_notes
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

__all__ = ["BY_NAME", "label_notes", "unused_embeddings"]

_MANY = 3
_OF_MEANING = ("lookup", "oov", "device", "max_words")
BY_NAME = "give labels by name, or the class list of a matrix's columns (classes=, --classes)"

_COUNTS = {
    "missing_prediction": "items without a prediction",
    "missing_reference": "items without ground truth",
    "empty_prediction_skipped": "items left out because nothing is predicted",
    "shared_terms": "terms that several classes share",
    "ignored_labels_not_found": "labels to ignore that do not occur",
}
_NUMBERS = f"the labels are numbers, compared as they are; {BY_NAME}"
_OF_MODELS = {  # {model} is its identity, {oov} the policy
    "unknown": "unknown to {model}: {oov}",
    "composed": "composed by {model} from pieces of words that it does not list",
    "zero_vectors": "with a vector of zeros in {model}: similar to none but themselves",
    "truncated": "longer than {model} reads: cut to their beginning",
}


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
    notes += _cache_notes(tasks, options["cache"])
    notes += unused_weights(options["weights"], inputs)
    notes += () if options["taxonomy"] is None else options["taxonomy"].notes
    if noted:  # a calibration evaluates nothing
        notes += uncalibrated_notes(tasks, measures, options, inputs)
    return notes + _unused_options(measures, options)


def _model_notes(task: LabelTask, noted: Mapping[Any, Any]) -> list[str]:
    """Say what models did not know or read, and what the steps of semantic measures noted."""
    if not task.models:
        return []
    from semmetrics.metrics.bag_similarity import list_counts
    from semmetrics.metrics.semantic_matching import pairs_near

    lines = [_NUMBERS] if task.numbered else []
    for model in task.models.values():
        of = f"of {pluralize(len(model.terms), 'term')}"
        found = {key: f"{n:,} {of}" for key, n in model.counts.items() if n}
        which = {"unknown": ~model.known, "composed": model.composed}
        lines += _of_model(model, found, which)
    for name, counts in list_counts(noted).items():
        found = {key: pluralize(n, "label list") for key, n in counts.items() if n}
        lines += _of_model(task.models[name], found)
    return lines + _near_notes(pairs_near(noted))


def _of_model(
    model: Any, found: Mapping[str, str], which: Mapping[str, Bools] = MappingProxyType({})
) -> list[str]:
    """Say what a model did not know or read, from how much of it was found, and which terms."""
    words = {"model": model.embedder.identity, "oov": model.oov}
    lines = []
    for key, text in _OF_MODELS.items():
        named = ""
        if key in found and key in which:
            terms = (model.terms[row][:60] for row in np.flatnonzero(which[key]).tolist())
            named = f": {listing(terms, most=_MANY)}; semmetrics embed coverage counts them"
        if key in found:
            lines.append(f"{found[key]} {text.format(**words)}{named}")
    return lines


def _unused_options(measures: Sequence[Measure], options: Options) -> list[str]:
    """Say which options about meaning no measure takes up."""
    notes = []
    if all(m["embedding"] is None for m in measures):
        fixed = () if options["protocol"] is None else ("lookup", "oov")
        names = [name for name in _OF_MEANING if name in options.given and name not in fixed]
        why = "no measure here compares meanings (SemF1 does)"
        notes += [f"{OPTIONS[name].both} has no effect: {why}" for name in names]
    if options["set_size_probs"] is not None and not any(
        str(m["decode"]).startswith("cardinality") for m in measures
    ):
        notes.append(
            f"{OPTIONS['set_size_probs'].both} has no effect: no decoding rule here uses it "
            "(decode=cardinality does)"
        )
    if options["taxonomy"] is not None and not any(
        "taxonomy" in m.definition.needs for m in measures
    ):
        notes.append(
            f"{OPTIONS['taxonomy'].both} has no effect: no measure here counts ancestors (hF does)"
        )
    return notes


def unused_embeddings(measures: Iterable[Measure], embedding: Any) -> list[str]:
    """What is said of embeddings that no measure takes up.

    Parameters
    ----------
    measures : iterable of Measure
    embedding : None, specification, Embedder, or mapping from name to those
        As a user gives it; the one that ships with the package is not given.

    Examples
    --------
    >>> from semmetrics.metrics.registry import parse_all
    >>> unused_embeddings(parse_all(["F1", "SemF1"]), {"default": "static", "bert": "sbert:bert"})
    ["the embedding 'bert' has no effect: no measure here uses it"]
    """
    used = {str(m["embedding"]) for m in measures if m["embedding"] is not None}
    given = embedding if isinstance(embedding, Mapping) else ["default"] * (embedding is not None)
    why = "no measure here uses it" if used else "no measure here compares meanings (SemF1 does)"
    unused = [name for name in given if name not in used]
    if len(unused) > 1:
        why = why.replace("uses it", "uses them")
        return [f"the embeddings {listing(unused, most=_MANY)} have no effect: {why}"]
    return [
        f"the embedding{'' if name == 'default' else f' {name!r}'} has no effect: {why}"
        for name in unused
    ]


def _cache_notes(tasks: Tasks, cache: object) -> list[str]:
    """Say what is wrong with a cache, or that no embedding in use needs the one asked for."""
    if cache is None or cache is False:
        return []
    from semmetrics.embed.embedder import CachedEmbedder

    models = [model.embedder for _, task in each_task(tasks) for model in task.models.values()]
    unversioned = {model.identity for model in models if UNVERSIONED in model.identity}
    if unversioned:
        return [
            f"{name} is not kept in the cache: a function needs a version for that "
            "(CallableEmbedder(function, version='1'))"
            for name in sorted(unversioned)
        ]
    cached = [model for model in models if isinstance(model, CachedEmbedder)]
    if cached:
        return list(dict.fromkeys(model.trouble for model in cached if model.trouble))
    return ["the cache has no effect: no embedding in use is slower than it (cache=, --cache)"]


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
