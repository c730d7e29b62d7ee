"""Notes on retrieval: runs and ties, probable mistakes, and options without effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.data.tasks.retrieval import RetrievalTask
from semmetrics.errors import Fact
from semmetrics.kinds import item_notes, note_builders, sample_weights
from semmetrics.kinds.base import (
    Measures,
    ObservationsByTask,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.retrieval.phi import phi_notes
from semmetrics.kinds.retrieval.task import LISTED
from semmetrics.metrics.retrieval import HitRate, Recall

_MIN_QUERIES = 10
"""The fewest queries that show in which order a run is."""
_MIN_SHARE_RANKED_LAST = 0.9
"""The share of queries with positives at the end from which on a run looks reversed."""
_OBSERVATION_OF_NOTE = {
    "numbered-positives": "numbered",
    "transposed": "transposed",
    "places-as-scores": "places",
}
"""The observation on which a note is based, by the code of the note."""


def retrieval_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    observations: ObservationsByTask,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Return notes on the size of each run, ties, probable mistakes, and options without effect."""
    notes: list[Fact] = []
    recalls = [m for m in measures if m.definition in (Recall, HitRate)]
    has_recall_only = {m.definition for m in recalls} == {Recall}
    for name, task in each_task(tasks):
        observed = observations.get(name, task.observations)
        notes += _task_notes(name, task, observed)
        if has_recall_only:
            n_several = observed.number("several")
            notes += note_builders.counted("recall-of-several", n_several, (), name)
    notes += sample_weights.unused_weights(options.weights, inputs[-1:])
    if "similarity" in options.set_by_user and options.queries_embeddings is None:
        notes.append(
            note_builders.no_effect("similarity", "no embeddings are compared")
        )
    notes += phi_notes(measures, options)
    notes += _cutoff_notes(tasks, recalls)
    return notes + item_notes.different_items(tasks)


def _cutoff_notes(tasks: Tasks, recalls: Measures) -> list[Fact]:
    """Return notes on recall without a cutoff, which counts all positives of a gallery as found."""
    for _, task in each_task(tasks):
        if task.settings["gallery"] == LISTED:
            return []
    notes = []
    for measure in recalls:
        if measure.k is None:
            notes.append(Fact("counts-all", values={"measure": str(measure)}))
    return notes


def _task_notes(name: str, task: RetrievalTask, observed: Observations) -> list[Fact]:
    """Return notes on the size and direction of a run, ties, omissions, and probable mistakes."""
    n_queries = observed.number("queries") or len(task)
    values = {"how": _describe_run(name, task)}
    notes = item_notes.count_facts(name, task)
    notes.append(Fact("run-size", n_queries, (), name, values))
    notes += note_builders.counted("tied-ranks", _count_undecided(observed), (), name)
    notes += _tied_phi_notes(name, observed)
    notes += _few_candidates_notes(name, observed)
    return notes + _mistake_notes(name, observed)


def _describe_run(name: str, task: RetrievalTask) -> str:
    """Write the gallery, the direction if it is not in the name, and the rule for ties."""
    if task.settings["gallery"] == LISTED:
        gallery = "ranked lists"
    else:
        gallery = f"a gallery of {task.scores.shape[1]:,}"
    ties = f"{task.ties} ties"
    if task.ties == "position":
        ties = "ties by position"
    parts = [gallery]
    if not name.endswith(f", {task.settings['direction']}"):
        parts.append(task.settings["direction"])
    parts.append(ties)
    if task.folds is not None:
        parts.append(f"{task.settings['folds']} folds")
    return ", ".join(parts)


def _few_candidates_notes(name: str, observed: Observations) -> list[Fact]:
    """Return notes on queries that rank fewer candidates than the cutoff of a measure."""
    # By the cutoff, and whether the positives of a query are left out of its candidates.
    n_fewer: dict[tuple[Any, Any], int] = {}
    for (k, _, left_out), n in observed.counts_of("fewer").items():
        if n:
            n_fewer[k, left_out] = n
    notes = []
    for (k, left_out), n in sorted(n_fewer.items()):
        besides = ""
        if left_out:
            if n == n_fewer.get((k, False)):
                continue  # the same queries also have too few candidates with their positives
            besides = " besides their positives"
        values = {"k": str(k), "besides": besides}
        notes.append(Fact("fewer-candidates", n, (), name, values))
    return notes


def _mistake_notes(name: str, observed: Observations) -> list[Fact]:
    """Return notes on probable mistakes in a run or its positives."""
    notes = note_builders.counted("own-ids", observed.number("own_ids"), (), name)
    for code, observation in _OBSERVATION_OF_NOTE.items():
        if observed.number(observation):
            notes.append(Fact(code, where=name))
    notes += _reversed_run_notes(name, observed)
    n_truths = observed.number("run_as_truth")
    notes += note_builders.counted("run-as-truth", n_truths, (), name)
    n_fractional = observed.number("fractional_grades")
    return notes + note_builders.counted("fractional-grades", n_fractional, (), name)


def _reversed_run_notes(name: str, observed: Observations) -> list[Fact]:
    """Return a note if nearly all queries rank their positives last, as distances would."""
    n_last = observed.number("last")
    n_queries = observed.number("queries") - observed.number("without_positives")
    if n_queries < _MIN_QUERIES or n_last < _MIN_SHARE_RANKED_LAST * n_queries:
        return []
    return [Fact("positives-last", n_last, where=name, values={"total": n_queries})]


def _count_undecided(observed: Observations) -> int:
    """Return how many queries have a rank that ties decide.

    Measures with different levels of relevance count different queries. The result is the largest
    number.
    """
    return max(observed.counts_of("undecided").values(), default=0)


def _tied_phi_notes(name: str, observed: Observations) -> list[Fact]:
    """Return a note on the measures of a run that depend on the order of items with equal phi."""
    n_by_measure = {}
    for (measure,), n in observed.counts_of("tied-phi").items():
        if n:
            n_by_measure[str(measure)] = n
    if not n_by_measure:
        return []
    most = max(n_by_measure.values())
    return [Fact("tied-phi", most, tuple(n_by_measure), name)]
