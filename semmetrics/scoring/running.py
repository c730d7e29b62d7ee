"""Scores of items that are let go: sums of what their measures need, and nothing of the items.

Conventions
-----------
Measures are chosen on the first items and then fixed. What needs all items at once cannot be
computed so, and is refused: rows of items, document frequencies of the references, a threshold that
is the best for the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.data.block import adds_up
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import terms_of
from semmetrics.scoring.evaluate import Statistics, evaluate
from semmetrics.scoring.fits import BEST, fit
from semmetrics.scoring.plan import Prepared, Setup
from semmetrics.scoring.protocols import Plan, plan_measures
from semmetrics.scoring.result import Score, score_statistics

__all__ = ["RunningScores"]

_KEEP = "keep the rows (keep_rows=True)"


class RunningScores:
    """Additive statistics of parts that come one after the other."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._chosen: dict[str, list[tuple[Measure, str]]] = {}  # by system
        self._statistics: dict[tuple[str, str], Statistics] = {}  # by system and part
        self._counts: dict[tuple[str, str], dict[str, int]] = {}
        self._numbered: frozenset[bool] = frozenset()

    @property
    def differently_named(self) -> bool:
        """Whether items were known by their numbers, and in other parts by names made of them."""
        return len(self._numbered) > 1

    def copy(self) -> RunningScores:
        """Return the same sums, to which others can be added."""
        new = RunningScores()
        new.plan, new._numbered = self.plan, self._numbered
        new._chosen, new._statistics = dict(self._chosen), dict(self._statistics)
        new._counts = dict(self._counts)
        return new

    def add(self, setup: Setup, preds: Mapping[str, Any], ref: Any, **by_item: Any) -> None:
        """Add the statistics of items; nothing is added if something is wrong.

        Parameters
        ----------
        setup : Setup
        preds : mapping from system to Lists
        ref : Lists
        **by_item
            Options that have a value for each item.

        Raises
        ------
        InputError
            If the input is wrong, or a measure needs all items at once.
        """
        prepared = setup.prepare(preds, ref, plan=self.plan, **by_item)
        new = self.copy()
        new.plan = prepared.plan
        for system, parts in prepared.tasks.items():
            for part, task in parts.items():
                new._count({(system, part): task.counts}, setup)
                if not len(task):
                    continue
                if system not in new._chosen:
                    new._chosen[system] = _freeze(prepared, task)
                measures = [measure for measure, _ in new._chosen[system]]
                progress = setup.options["progress"]
                task = replace(task, odd={k: n for k, n in task.odd.items() if adds_up(k)})
                found = evaluate(task, measures, keep_rows=False, progress=progress)
                new._add({(system, part): found.without_items()})
                new._numbered |= {isinstance(task.ids, (range, np.ndarray))}
        vars(self).update(vars(new))

    def merge(self, other: RunningScores, setup: Setup) -> None:
        """Add the statistics of other items; nothing is added if they do not fit."""
        new = self.copy()
        if self.plan and other.plan and _names(self.plan) != _names(other.plan):
            raise InputError(
                "different-statistics", why=f"{_names(self.plan)}, and {_names(other.plan)}"
            )
        new.plan = self.plan or other.plan
        new._numbered |= other._numbered
        new._chosen = {**other._chosen, **self._chosen}
        new._count(other._counts, setup)
        new._add(other._statistics)
        vars(self).update(vars(new))

    def _add(self, found: Mapping[tuple[str, str], Statistics]) -> None:
        for key, statistics in found.items():
            before = self._statistics.get(key)
            self._statistics[key] = statistics if before is None else before + statistics

    def _count(self, found: Mapping[tuple[str, str], Mapping[str, int]], setup: Setup) -> None:
        same = [name for name, how in setup.kind.name_counts.items() if how == "same"]
        for key, counts in found.items():
            before = self._counts.get(key, {})
            self._counts[key] = {
                n: max(before.get(n, 0), counts.get(n, 0))
                if n in same
                else before.get(n, 0) + counts.get(n, 0)
                for n in {**before, **counts}
            }

    def scores(self) -> list[Score]:
        """Return the scores of all items: part by part, system by system.

        Raises
        ------
        InputError
            If there is no item, or all weigh nothing.
        """
        if not self._statistics and any("weight_0" in counts for counts in self._counts.values()):
            raise InputError("zero-weights")
        if not self._statistics or self.plan is None:
            raise InputError("no-items")
        scores: list[Score] = []
        for part in dict.fromkeys(part for _, part in self._statistics):
            systems = {name: s for (name, own), s in self._statistics.items() if own == part}
            headings = [f"{part} {heading}" if part else heading for heading in self.plan.headings]
            made = score_statistics(systems, self._chosen, headings=headings)
            scores += [replace(score, part=part) for score in made]
        return scores

    def describe(
        self, setup: Setup, preds: Mapping[str, Any], ref: Any, inputs: Sequence[Any]
    ) -> Prepared:
        """Return what describes all items, from tasks that have every entry that they had.

        Parameters
        ----------
        setup : Setup
        preds : mapping from system to Lists
        ref : Lists
            One item with all entries of all items, where the kind keeps those; else any item.
        inputs : sequence
            What was read, for ``Prepared.inputs``.

        Raises
        ------
        InputError
            If no measure was named, and all items have other default measures than the first.
        """
        nothing = {"weights": None, "set_size_probs": None}
        prepared = setup.prepare(preds, ref, plan=self.plan, **nothing)
        if setup.kind.name_counts:
            plan = plan_measures(setup.kind, prepared.tasks, prepared.options)
            if self.plan is not None and _names(plan) != _names(self.plan):
                raise InputError("other-defaults", first=_names(self.plan), every=_names(plan))
        tasks = {
            system: {
                part: self._counted(task, (system, part), setup) for part, task in parts.items()
            }
            for system, parts in prepared.tasks.items()
        }
        return replace(prepared, tasks=tasks, inputs=inputs)

    def _counted(self, task: Any, key: tuple[str, str], setup: Setup) -> Any:
        """Give a task the counts of all items, in place of those of distinct entries it has."""
        names = setup.kind.name_counts
        distinct = {n: c for n, c in task.counts.items() if names.get(n) == "distinct"}
        others = {n: c for n, c in self._counts[key].items() if names.get(n) != "distinct"}
        return replace(task, counts=distinct | others)


def _names(plan: Plan) -> str:
    return ", ".join(map(str, plan.measures))


def _freeze(prepared: Prepared, task: Any) -> list[tuple[Measure, str]]:
    """Freeze the measures of the first items; refuse those that need all items at once."""
    chosen = []
    for measure in prepared.plan.measures:
        _check_fit(measure, task)
        frozen, note = fit(measure, task, prepared.calibrations)
        if not frozen.definition.family.statistic(frozen).additive:
            raise _needs_all(measure, "is no function of sums over items", _KEEP)
        chosen.append((frozen, note))
    return chosen


def _check_fit(measure: Measure, task: Any) -> None:
    """Refuse a measure that is fitted on all items, or made of the values of other measures."""
    if terms_of(measure):
        raise _needs_all(measure, "is made of the values of other measures", _KEEP)
    if measure["decode"] == BEST:
        remedy = f"{_KEEP}, or find the threshold on other data and give the number"
        raise _needs_all(measure, "chooses a threshold by the scores of all items", remedy)
    counted = measure["df"] == "rows" or (measure["df"] == "references" and "df" not in task.fits)
    if counted:
        remedy = f"{_KEEP}, or give document frequencies (doc_freq=)"
        raise _needs_all(measure, "counts document frequencies on the references", remedy)


def _needs_all(measure: Measure, reason: str, remedy: str) -> InputError:
    return InputError("needs-all-items", what=measure, reason=reason, remedy=remedy)
