"""What a user should know of retrieval besides the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.errors import Fact
from semmetrics.kinds import common
from semmetrics.kinds.base import (
    Measures,
    Notes,
    Options,
    Tasks,
    each_task,
)
from semmetrics.kinds.retrieval import phi
from semmetrics.kinds.retrieval.relation import (
    EMBEDDINGS,
    LISTED,
)
from semmetrics.metrics.retrieval import HitRate, Recall

_LEAST_QUERIES = 10  # of which most rank their positives last
_MOSTLY = 0.9  # of the queries


def retrieval_notes(
    tasks: Tasks,
    measures: Measures,
    options: Options,
    noted: Notes,
    inputs: Sequence[Any],
) -> list[Fact]:
    """Note the sizes and direction of each run, how many ties mattered, and what was left out."""
    facts: list[Fact] = []
    listed = False
    for name, task in each_task(tasks):
        found, gallery = noted.get(name, task.odd), task.settings["gallery"]
        listed |= gallery == LISTED
        how = [
            "ranked lists"
            if gallery == LISTED
            else f"a gallery of {task.scores.shape[1]:,}"
        ]
        how += [task.settings["direction"]]
        how += [
            f"ties by {task.ties}" if task.ties == "position" else f"{task.ties} ties"
        ]
        how += [] if task.folds is None else [f"{task.settings['folds']} folds"]
        queries, values = found.get("queries", len(task)), {"how": ", ".join(how)}
        facts += [
            *common.count_facts(name, task),
            Fact("run-size", queries, (), name, values),
        ]
        facts += common.counted("tied-ranks", _count_undecided(found), (), name)
        facts += _tied_phi(name, found)
        fewer = {
            (key[1], key[3]): n for key, n in found.items() if key[0] == "fewer" and n
        }
        for (k, left_out), n in sorted(fewer.items()):
            if not left_out or n != fewer.get((k, False)):
                values = {"k": str(k), "besides": " besides their positives" * left_out}
                facts.append(Fact("fewer-candidates", n, (), name, values))
        facts += common.counted("own-ids", found.get("own_ids", 0), (), name)
        facts += [Fact("numbered-positives", where=name)] * bool(found.get("numbered"))
        facts += [Fact("transposed", where=name)] * bool(found.get("transposed"))
        facts += [Fact("places-as-scores", where=name)] * bool(found.get("places"))
        facts += _last_positives(name, found)
        facts += common.counted("run-as-truth", found.get("run_as_truth", 0), (), name)
        facts += common.counted(
            "fractional-grades", found.get("fractional_grades", 0), (), name
        )
        if {Recall} == {m.definition for m in measures} & {Recall, HitRate}:
            facts += common.counted(
                "recall-of-several", found.get("several", 0), (), name
            )
    facts += common.unused_weights(options.weights, inputs[-1:])
    if "similarity" in options.set_by_user and options.value(EMBEDDINGS[0]) is None:
        facts.append(common.no_effect("similarity", "no embeddings are compared"))
    facts += phi.phi_facts(measures, options)
    every = [
        str(m) for m in measures if m.definition in (Recall, HitRate) and m.k is None
    ]
    facts += [
        Fact("counts-all", values={"measure": one}) for one in every if not listed
    ]
    return facts + common.different_items(tasks)


def _last_positives(name: str, noted: Mapping[Any, Any]) -> list[Fact]:
    """Note that nearly all queries rank their positives last, as by distances."""
    n_last = noted.get("last", 0)
    n_queries = noted.get("queries", 0) - noted.get("without_positives", 0)
    if n_queries < _LEAST_QUERIES or n_last < _MOSTLY * n_queries:
        return []
    return [Fact("positives-last", n_last, where=name, values={"total": n_queries})]


def _count_undecided(noted: Mapping[Any, Any]) -> int:
    """Return how many queries have a rank that ties decide: the most by any level of relevance."""
    counts: list[int] = [noted.get("undecided", 0)]
    for key, number in noted.items():
        if key[0] == "undecided":
            counts.append(number)
    return max(counts)


def _tied_phi(name: str, found: Mapping[Any, Any]) -> list[Fact]:
    """Note the measures of a run that depend on the order of items with equal phi."""
    tied = {}
    for key, n in found.items():
        if isinstance(key, tuple) and key[0] == "tied-phi" and n:
            tied[key[1]] = n
    if not tied:
        return []
    return [Fact("tied-phi", max(tied.values()), tuple(tied), name)]
