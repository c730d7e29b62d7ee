"""Scores from Python objects, arrays or paths, in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.data.option_keywords import takes_options
from semmetrics.data.tasks.base import Task
from semmetrics.errors import Fact, InputError, warn_user
from semmetrics.kinds.base import Tasks, each_task
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.metrics.families import terms_of
from semmetrics.options import Data, Options
from semmetrics.scoring.derived import with_derived
from semmetrics.scoring.evaluate import Progress, evaluate
from semmetrics.scoring.evaluation import (
    Evaluation,
    check_ids_not_systems,
    check_systems_mapping,
    join_systems,
)
from semmetrics.scoring.fits import EvaluatedPart, FittedMeasure, fit, naming_system
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.result import Score, score_statistics
from semmetrics.scoring.score_notes import INTERVAL_OPTIONS
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MAX_NAMES = 5  # labels or captions that an error shows


@takes_options()
def score(
    preds: Data | None,
    gts: Data,
    *,
    system: str | None = None,
    **options: Unpack[Options],
) -> ScoreTable:
    """Score the predictions of one system against ground truth.

    >>> score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    measure   preds
    F1       0.8333
    MacroF1  0.5000

    Parameters
    ----------
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        See ``semmetrics.as_labels``, ``semmetrics.as_captions``, ``semmetrics.as_candidates`` and
        ``semmetrics.as_classes``.
        Predictions are None if embeddings replace them (``queries_embeddings``).
    system : str, optional
        The name of the system in the table. The default is the file's name without its extension,
        or "preds".
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong. The message names the place and the remedy.

    Examples
    --------
    >>> table = score([["cat", "dog"], ["cat"]], [["cat"], ["cat"]], measures=["F1", "MacroF1"])
    >>> [round(s.value, 4) for s in table]
    [0.8333, 0.5]
    """
    return _score_systems({system or system_name(preds): preds}, gts, options)


@takes_options()
def score_systems(
    systems: Mapping[str, Any], gts: Data, **options: Unpack[Options]
) -> ScoreTable:
    """Score several systems against the same ground truth.

    Parameters
    ----------
    systems : mapping from name to predictions
        Each as ``preds`` of ``score``.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
    **options

    Returns
    -------
    ScoreTable

    Raises
    ------
    InputError
        If the input or an option is wrong. The message names the place and the remedy.
    """
    check_systems_mapping(systems)
    check_ids_not_systems(systems, gts)
    return _score_systems(systems, gts, options)


def _score_systems(
    systems: Mapping[str, Any], gts: Any, options: Mapping[str, Any]
) -> ScoreTable:
    evaluation = join_systems(systems, gts, options)
    warn_of_scores(evaluation)
    return table_of(evaluation)


def system_name(data: Any) -> str:
    """Return the name of a system: its file's name without extensions, or "preds".

    Examples
    --------
    >>> system_name("runs/resnet.json.gz")
    'resnet'
    """
    if not isinstance(data, (str, os.PathLike)):
        return "preds"
    path = os.fspath(data)
    if path == "-":
        return "preds"
    name = decode_path(Path(path).name.removesuffix(".gz"))
    return name.rpartition(".")[0] or name


def decode_path(path: str) -> str:
    r"""Return a path as a string that can be written. Bytes that are not UTF-8 are escaped.

    Examples
    --------
    >>> decode_path("caf\udce9")
    'caf\\xe9'
    """
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # halves of surrogate pairs, which Windows allows
        raw = path.encode("utf-8", "backslashreplace")
    return raw.decode("utf-8", "backslashreplace")


# ---- from a joined evaluation to scores ---------------------------------------------------------


def table_of(evaluation: Evaluation) -> ScoreTable:
    """Score a joined evaluation, and return the table with its notes."""
    scores = score_evaluation(evaluation)
    # A ScoreTable calls these functions when the notes or descriptions are read.
    notes: Any = partial(evaluation.notes, tuple(scores))
    understood: Any = evaluation.understood
    return ScoreTable(scores, evaluation.chosen.not_computed, notes, understood)


def warn_of_scores(evaluation: Evaluation) -> bool:
    """Warn of scores that should be probabilities and are not, or should be logits and are not.

    Returns
    -------
    bool
        Whether there was a warning. If several systems have such scores, it names the first one.
    """
    if evaluation.kind.name != "labels":
        return False
    from semmetrics.kinds.labels.predicted_scores import (
        activation_facts,
        probability_facts,
    )

    options = evaluation.options
    measures = evaluation.chosen.measures
    scores: dict[str, Any] = {}
    notes: list[Fact] = []
    for name, task in each_task(evaluation.tasks):
        scores[name] = task.pred.scores
        notes += activation_facts(task.observations, name, options)
    notes += probability_facts(scores, measures, options)
    if notes:
        warn_user(notes[0])
    return bool(notes)


def score_evaluation(evaluation: Evaluation) -> list[Score]:
    """Score a joined evaluation.

    Returns
    -------
    list of Score
        Part by part, system by system, measures in the order of the request.

    Raises
    ------
    InputError
        If nothing in an input such as document frequencies occurs in the data.
    """
    intervals = interval_options(evaluation.options)
    progress = evaluation.options.progress
    parts = _evaluate_parts(evaluation, keep_rows=intervals is not None)
    _check_shared(evaluation, parts)
    scores = score_parts(parts, evaluation.chosen, intervals, progress)
    scores_with_tasks = []
    for measure_score in scores:
        if not measure_score.terms:
            task = evaluation.tasks[measure_score.system][measure_score.part]
            measure_score = replace(measure_score, task=task)
        scores_with_tasks.append(measure_score)
    return scores_with_tasks


EvaluatedParts = Mapping[str, Mapping[str, EvaluatedPart]]
"""The fitted measures and statistics, by part of the data and system."""


def _evaluate_parts(evaluation: Evaluation, *, keep_rows: bool) -> EvaluatedParts:
    """Fit the measures on each task, and compute their statistics."""
    options = evaluation.options
    keep_rows = keep_rows or options.keep_rows
    evaluated: dict[str, dict[str, EvaluatedPart]] = {}
    for part, tasks in _tasks_by_part(evaluation.tasks).items():
        # All systems are fitted first, so that an error comes before long computations.
        fitted_by_system = _fit_systems(evaluation, part, tasks)
        evaluated[part] = {}
        for system, fitted in fitted_by_system.items():
            with naming_system(system if len(tasks) > 1 else ""):
                statistics = evaluate(
                    tasks[system],
                    [measure for measure, _ in fitted],
                    keep_rows=keep_rows,
                    progress=options.progress,
                )
            evaluated[part][system] = EvaluatedPart(fitted, statistics)
    return evaluated


def _tasks_by_part(tasks: Tasks) -> dict[str, dict[str, Task]]:
    """Return the tasks by part and system."""
    tasks_by_part: dict[str, dict[str, Task]] = {}
    for system, parts in tasks.items():
        for part, task in parts.items():
            tasks_by_part.setdefault(part, {})[system] = task
    return tasks_by_part


def _fit_systems(
    evaluation: Evaluation, part: str, tasks: Mapping[str, Task]
) -> dict[str, list[FittedMeasure]]:
    """Return the measures of a part, fitted on the task of each system."""
    measures = evaluation.chosen.evaluated(part)
    calibrations = evaluation.calibrations
    fitted = {}
    for system, task in tasks.items():
        with naming_system(system if len(tasks) > 1 else ""):
            fitted[system] = [fit(measure, task, calibrations) for measure in measures]
    return fitted


def _check_shared(evaluation: Evaluation, parts: EvaluatedParts) -> None:
    """Raise an error if nothing in an input such as document frequencies occurs in the data."""
    observations = []
    for systems in parts.values():
        for evaluated in systems.values():
            observations.append(evaluated.statistics.observations)
    vocabulary = evaluation.inputs[-1].vocabulary
    names = [str(name) for name in islice(vocabulary, _MAX_NAMES)]
    evaluation.kind.check_shared(observations, evaluation.options, names)


def score_parts(
    parts: EvaluatedParts,
    chosen: ChosenMeasures,
    intervals: Bootstrap | None = None,
    progress: Progress = None,
) -> list[Score]:
    """Score evaluated parts.

    Parameters
    ----------
    parts : mapping from part and system to EvaluatedPart
    chosen : ChosenMeasures
    intervals : Bootstrap, optional
        How intervals are computed. By default there are no intervals.
    progress : callable, optional
    """
    heading_by_measure = dict(zip(chosen.measures, chosen.headings, strict=True))
    scores: list[Score] = []
    for part, systems in parts.items():
        headings = []
        for measure in chosen.evaluated(part):
            heading = heading_by_measure.get(measure, str(measure))
            headings.append(f"{part} {heading}".lstrip())
        fitted: dict[str, Sequence[Any]] = {}
        statistics = {}
        for system, evaluated in systems.items():
            fitted[system] = evaluated.measures
            statistics[system] = evaluated.statistics
        scores_of_part = score_statistics(
            statistics, fitted, headings=headings, ci=intervals, progress=progress
        )
        scores += [
            replace(measure_score, part=part) for measure_score in scores_of_part
        ]
    if any(terms_of(measure) for measure in chosen.measures):
        return with_derived(scores, heading_by_measure, intervals)
    return scores


def interval_options(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals are computed, or None without intervals.

    Raises
    ------
    InputError
        If ``ci`` is neither a boolean nor a `Bootstrap`, or an option contradicts it.
    """
    interval_values = {name: options.value(name) for name in INTERVAL_OPTIONS}
    ci = options.ci
    if isinstance(ci, Bootstrap):
        bootstrap_values = {**asdict(ci), "ci_method": ci.method}
        for name, value in interval_values.items():
            if name in options.set_by_user and value != bootstrap_values[name]:
                names = f"ci={ci!r} and {name}={value!r}"
                raise InputError("conflicting-options", names=names)
        return ci
    if not isinstance(ci, (bool, np.bool_)):
        wanted = "True. Set the level separately, such as ci=True, level=0.9"
        raise InputError("bad-option", name="ci", value=ci, wanted=wanted)
    # Wrong options are an error even without ci.
    intervals = Bootstrap.of(interval_values)
    if not ci:
        return None
    return intervals
