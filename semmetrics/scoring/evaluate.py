"""From a task to additive statistics, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from numpy.typing import NDArray

from semmetrics.core.columns import OneHot, add_sums
from semmetrics.core.ragged import Floats
from semmetrics.data.tasks.base import Block, Task
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.metrics.definition import Measure, Statistic
from semmetrics.metrics.hints import HINTS
from semmetrics.scoring.statistics import Statistics

Progress: TypeAlias = "Callable[[int, int], None] | None"
"""A function that is called with the number of items done and the number of all items."""


def _weights_of_block(task: Task, block: Block[Any]) -> Floats | None:
    """Return the weights of the items of a block, or None without weights."""
    if task.weights is None:
        return None
    return task.weights[block.start : block.stop]


def evaluate(
    task: Task,
    measures: Iterable[Measure],
    *,
    keep_rows: bool = True,
    progress: Progress = None,
) -> Statistics:
    """Compute the statistics that the measures need, block by block.

    Parameters
    ----------
    task : Task
    measures : iterable of Measure
        They are for the task's kind of data.
    keep_rows : bool
        Store one row per item, which values of items, intervals and ranking measures need.
    progress : callable, optional
        Called with the number of items done and the number of all items.

    Returns
    -------
    Statistics

    Raises
    ------
    InputError
        If there is no item, or a measure cannot be computed from such data.
    """
    if not len(task):
        raise InputError("no-items")
    measures = list(measures)
    check_kind(measures, task.kind)
    needed = list(dict.fromkeys(m.definition.family.statistic(m) for m in measures))
    sums: dict[Statistic, dict[str, NDArray[Any]]] = {}
    parts: dict[Statistic, list[dict[str, Any]]] = {}
    observations = task.observations.copy()
    for block in task.blocks():
        weights = _weights_of_block(task, block)
        for statistic in needed:
            columns = block.get(statistic)
            if statistic.additive:
                _add(sums.setdefault(statistic, {}), columns, weights)
            if keep_rows or not statistic.additive:
                parts.setdefault(statistic, []).append(columns)
        observations.merge(block.observations)
        report_progress(progress, block.stop, len(task), "scoring", "item")
    return Statistics(
        sums=sums,
        parts=parts if keep_rows or parts else None,
        **task.axis._asdict(),
        ids=task.ids,
        hashes=task.hashes,
        weights=task.weights,
        fingerprint=task.fingerprint,
        weighting=task.weighting,
        settings=task.settings,
        counts=task.counts,
        unit=task.unit,
        groups=task.groups,
        models=task.identities,
        observations=observations,
    )


def check_kind(measures: Iterable[Measure], kind: str) -> None:
    """Raise an error for measures of another kind of data.

    Raises
    ------
    InputError
        Names the measures.
    """
    requested = list(measures)
    others = [measure for measure in requested if measure.definition.kind != kind]
    if not others:
        return
    default_hint = "`semmetrics list` shows the measures of each kind"
    if len(others) < len(requested):
        default_hint = "score measures of different kinds in separate calls"
    hint = HINTS.get(others[0].definition.name, default_hint)
    raise InputError("wrong-kind", names=list(map(str, others)), kind=kind, hint=hint)


def _add(
    sums: dict[str, NDArray[Any]], columns: dict[str, Any], weights: Floats | None
) -> None:
    """Add the sums of a block's columns.

    With weights, items are also counted without weights by category, as ``name_items``.
    """
    block_sums = {name: column.sum(weights) for name, column in columns.items()}
    if weights is not None:
        for name, column in columns.items():
            if isinstance(column, OneHot):
                block_sums[f"{name}_items"] = column.sum()
    for name, block_sum in block_sums.items():
        if name in sums:
            sums[name] = add_sums(sums[name], block_sum)
        else:
            sums[name] = block_sum
