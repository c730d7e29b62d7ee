"""Scores with a calibrated threshold: which calibration a measure takes, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.label_task import LabelTask
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.similar import model_of
from semmetrics.scoring.calibration import Calibration

__all__ = ["as_calibrations", "calibrated", "calibration_notes"]


def as_calibrations(given: Any) -> list[Calibration]:
    """Calibrations from what a user gives: None, a path, a Calibration, or several of those.

    Raises
    ------
    InputError
        If one is none, or two are for the same embedding.
    """
    if given is None:
        return []
    several = [given] if isinstance(given, str | os.PathLike | Calibration) else given
    if not isinstance(several, Iterable) or isinstance(several, Mapping):
        raise InputError(
            f"a {type(given).__name__} is no calibration", remedy="give a path or a Calibration"
        )
    found = [one if isinstance(one, Calibration) else Calibration.load(one) for one in several]
    names = [one.embedding for one in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"two calibrations are for {listing(twice)}", remedy="give one of them")
    return found


def calibrated(
    measure: Measure, task: LabelTask, calibrations: Sequence[Calibration]
) -> tuple[Measure, str]:
    """The measure with the threshold calibrated for its embedding; and a note for the signature.

    Raises
    ------
    InputError
        If no calibration is for that embedding.
    """
    identity = model_of(task, str(measure["embedding"])).embedder.identity
    for one in calibrations:
        if one.embedding == identity:
            return measure.with_options(threshold=repr(one.threshold)), one.note
    raise InputError(
        f"{measure} compares by {identity}, and the calibration is for "
        f"{listing(one.embedding for one in calibrations)}",
        remedy="calibrate this embedding, name the one that was calibrated (--embedding), or write "
        f"the threshold: {measure.definition.name}(threshold=0.5)",
    )


def calibration_notes(
    tasks: Mapping[str, LabelTask],
    measures: Iterable[Measure],
    calibrations: Sequence[Calibration],
) -> list[str]:
    """What a user is told of calibrations: items that are scored and were used to calibrate.

    Parameters
    ----------
    tasks : mapping from system to LabelTask
    measures : iterable of Measure
        As they were asked for, before the threshold is known.
    calibrations : sequence of Calibration

    Returns
    -------
    list of str
    """
    names = {str(m["embedding"]) for m in measures if m["threshold"] == "auto"}
    told: dict[str, list[str]] = {}
    for system, task in tasks.items():
        models = {task.models[name].embedder.identity: task.models[name] for name in sorted(names)}
        for one in calibrations:
            model = models.get(one.embedding)
            lines = [_IDLE.format(one.embedding)] if model is None else _notes(one, task, model)
            for line in lines:
                told.setdefault(line, []).append(system)
    every = len(tasks)
    return [
        line if len(systems) == every else f"{', '.join(systems)}: {line}"
        for line, systems in told.items()
    ]


_IDLE = "the calibration for {} has no effect: no measure here with threshold=auto uses it"


def _notes(one: Calibration, task: LabelTask, model: Any) -> list[str]:
    lines = [
        f"the threshold was calibrated with {name}:{then}, and is used with {name}:{now}"
        for name, then, now in (
            ("lookup", one.lookup, model.lookup),
            ("oov", one.oov, model.oov),
        )
        if then != now
    ]
    if one.method != "contrast":
        return lines
    if isinstance(task.ids, range | np.ndarray) or not one.items:
        return [*lines, "items are known by position: whether some of them were used to "
                "calibrate the threshold is not known"]  # fmt: skip
    used = int(one.used(task.ids).sum())
    if used:
        lines.append(f"{used:,} of {len(task):,} scored items were used to calibrate the threshold")
    return lines
