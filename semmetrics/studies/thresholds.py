"""Thresholds of similarity: parse them, and calibrate the threshold of an embedding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from semmetrics.data.option_keywords import takes_options
from semmetrics.data.side_inputs import as_pairs
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.embeddings import read_embedding
from semmetrics.kinds.labels.notes import label_notes
from semmetrics.kinds.labels.prepare import prepare_labels
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import pluralize, visible
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse, parse_one
from semmetrics.metrics.registry import all_definitions
from semmetrics.reports import draw
from semmetrics.scoring import threshold_search
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.evaluate import check_kind
from semmetrics.scoring.evaluation import join_systems, requested_kind
from semmetrics.scoring.fits import BEST
from semmetrics.scoring.score import system_name

MeasureLike: TypeAlias = str | Measure | Definition
"""A measure, or its name or definition."""

_DEFAULT_THRESHOLDS = "0:1:0.01"
_MAX_THRESHOLDS = 10_001
_MAX_ROWS_OF_CURVE = 11
_NEARLY_AS_GOOD = 0.95
"""Share of the best value at which a report calls other thresholds nearly as good."""


@takes_options()
def calibrate_threshold(
    preds: Any,
    gts: Any,
    *,
    measure: MeasureLike = "SemF1",
    holdout: float = 0.2,
    seed: int = 12345,
    thresholds: str | float | Iterable[float] | None = None,
    **options: Any,
) -> Calibration:
    """Find the threshold of an embedding on predictions and ground truth, by contrast.

    A held-out part of the items is scored twice: predictions with their own references,
    and the same predictions with the references of another item. The result is the
    threshold with the largest difference of the two scores. The highest threshold wins
    a tie. This criterion is specific to semmetrics and needs no labelled pairs.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measure : str, Measure or Definition
        A measure with a similarity threshold.
    holdout : float
        The share of items to use. A hash of the id and the seed decides whether an item
        is used, independently of the other items.
    seed : int
    thresholds : str or iterable of float, optional
        The thresholds to choose from. Default: 0, 0.01, … 1.
    **options

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If the measure has no similarity threshold, the held-out part has fewer than two
        items, the predictions do not match their own references better than others, or
        the input or an option is invalid.

    Examples
    --------
    >>> preds = {"a": ["bike"], "b": ["cat", "dog"], "c": ["boat"]}
    >>> gts = {"a": ["bicycle"], "b": ["kitten"], "c": ["ship"]}
    >>> result = calibrate_threshold(preds, gts, holdout=1, thresholds="0:0.9:0.1")
    >>> result.criterion, result.n, len(result.curve["contrast"])
    ('SemF1', 3, 10)
    """
    parsed_measure = parse_one(measure, "a calibration")
    check_sweepable([parsed_measure], options)
    if parsed_measure["decode"] == BEST:
        raise InputError(
            "bad-option",
            str(parsed_measure),
            name="decode",
            value=BEST,
            wanted="a score threshold, such as threshold:0.5",
        )
    points = parse_thresholds(thresholds)
    name = system_name(preds)
    settings = {**options, "measures": [parsed_measure]}
    prepared = join_systems({name: preds}, gts, settings)
    task = prepared.tasks[name][""]  # Labels have no named parts.
    result = threshold_search.of_contrast(
        task, parsed_measure, points=points, holdout=holdout, seed=seed
    )
    facts = (*result.facts, *prepared.notes())
    return replace(result, facts=facts, understood=tuple(prepared.understood()))


@takes_options()
def calibrate_threshold_on_pairs(
    pairs: Any, embedding: Any = None, *, criterion: str = "f1", **options: Any
) -> Calibration:
    """Find the threshold of an embedding on labelled pairs.

    Parameters
    ----------
    pairs : path, or sequence of (a, b, same)
        A CSV, TSV, JSON or JSONL file with the columns ``a``, ``b`` and ``same``, or
        such triples.
    embedding : str, path, Embedder, callable or mapping from word to vector, optional
        Default: the model "same", which is part of the package.
    criterion : {"f1", "youden", "accuracy"}
        What to maximise. The highest threshold wins a tie.
    **options

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If all pairs are the same or all are different, the embedding has a name, or the
        input or an option is invalid.

    Examples
    --------
    >>> pairs = [("car", "automobile", 1), ("bike", "bicycle", 1), ("car", "tree", 0)]
    >>> result = calibrate_threshold_on_pairs(pairs)
    >>> result.value, result.auc, 0.3 < result.threshold < 0.86
    (1.0, 1.0, True)
    """
    embedding = read_embedding(embedding)
    if isinstance(embedding, Mapping) and set(embedding) != {"default"}:
        raise InputError(
            "bad-option",
            name="embedding",
            value=list(embedding),
            wanted="one unnamed embedding",
        )
    resolved = resolve_options({"embedding": embedding, **options}, "labels")
    read_notes: list[Fact] = []
    labelled_pairs = as_pairs(pairs, resolved.read, read_notes)
    task = threshold_search.pairs_task(labelled_pairs, resolved)
    measures = parse("SemF1")
    tasks = prepare_labels({"pairs": {"": task}}, measures, resolved)
    result = threshold_search.of_pairs(
        tasks["pairs"][""], labelled_pairs, measures[0], criterion=criterion
    )
    facts = label_notes(tasks, measures, resolved, {})
    return replace(result, facts=(*read_notes, *result.facts, *facts))


def check_sweepable(measures: Iterable[Measure], options: Mapping[str, Any]) -> None:
    """Check that measures have a threshold that is not set yet, and fit the task.

    Raises
    ------
    InputError
        If a measure has no threshold, or it is set, or the task is not for the measure.
    """
    for measure in measures:
        threshold = measure["threshold"]
        if threshold is None:
            names = ", ".join(_list_measures_with_threshold())
            raise InputError("no-threshold", str(measure), measures=names)
        if threshold != "auto":
            raise InputError(
                "not-applicable", str(measure), name="threshold", what="a sweep"
            )
    kind, _ = requested_kind({"task": options.get("task"), "measures": measures})
    check_kind(measures, str(kind))


def _list_measures_with_threshold() -> list[str]:
    names = []
    for definition in all_definitions():
        if any(option.name == "threshold" for option in definition.options):
            names.append(definition.name)
    return names


# ---- thresholds ----------------------------------------------------------------------


def parse_thresholds(
    thresholds: str | float | Iterable[float] | None,
) -> list[float]:
    """Return distinct thresholds in [-1, 1], in rising order.

    Decimal steps are exact, so that 0.3 is the float 0.3.

    Parameters
    ----------
    thresholds : str, number, iterable of numbers, or None
        "START:STOP:STEP", numbers separated by commas, or numbers. None is 0, 0.01, …
        1.

    Raises
    ------
    InputError
        If a threshold is invalid or occurs twice, or there are too many.
    """
    if thresholds is None:
        thresholds = _DEFAULT_THRESHOLDS
    if isinstance(thresholds, str) and thresholds.count(":") == 2:
        numbers = _expand_range(thresholds)
    elif isinstance(thresholds, str):
        numbers = list(map(_parse_number, thresholds.split(",")))
    elif isinstance(thresholds, Iterable):
        numbers = list(map(_parse_number, thresholds))
    else:
        numbers = [_parse_number(thresholds)]
    points = sorted(map(float, numbers))
    _check_thresholds(points)
    return points


def _check_thresholds(points: Sequence[float]) -> None:
    """Check the number of sorted thresholds, their range, and that all are distinct."""
    if not points or len(points) > _MAX_THRESHOLDS:
        raise InputError("bad-thresholds", value=f"{len(points):,} thresholds")
    points_and_end = [*points, math.inf]
    for point, next_point in pairwise(points_and_end):
        if point == next_point:
            raise InputError("duplicate", role="the threshold", value=point)
        if not -1 <= point <= 1:
            raise InputError(
                "out-of-range",
                role="a threshold",
                value=point,
                wanted="cosines from -1 to 1",
            )


def _expand_range(text: str) -> list[Decimal]:
    """Return the numbers of "START:STOP:STEP", with both ends."""
    start, stop, step = map(_parse_number, text.split(":"))
    if step <= 0 or stop < start or (stop - start) / step > _MAX_THRESHOLDS:
        raise InputError("bad-thresholds", value=text)
    n_steps = int((stop - start) / step)
    return [start + index * step for index in range(n_steps + 1)]


def _parse_number(value: Any) -> Decimal:
    """Return a finite number. The decimal number of a string is exact."""
    try:
        if isinstance(value, str):
            number = Decimal(value.strip())
        else:
            number = Decimal(float(value))
    except (ArithmeticError, TypeError, ValueError):
        number = Decimal("nan")
    if isinstance(value, bool) or not number.is_finite():
        raise InputError("bad-thresholds", value=value)
    return number


# ---- reports -------------------------------------------------------------------------


def report_calibration(result: Calibration) -> str:
    """Describe a calibration: threshold, criterion, and some points of the curve.

    The row of the threshold is marked.
    """
    units = pluralize(result.n, result.unit)
    criterion = f"{result.method}, {result.criterion}"
    lines = [
        f"threshold {result.threshold!r} for {visible(result.embedding)}",
        f"{criterion}: {result.value:.4f} on {units}",
        _describe_plateau(result),
    ]
    if result.auc is not None:
        lines.append(f"AUC {result.auc:.4f}")
    rows = _curve_rows(result)
    n_points = len(result.curve["threshold"])
    lines.append("")
    if len(rows) < n_points:
        thresholds = pluralize(n_points, "threshold")
        lines.append(f"{len(rows)} of {thresholds} that were tried:")
    lines.append(draw([list(result.curve), *rows]))
    return "\n".join(lines)


def _describe_plateau(result: Calibration) -> str:
    """Describe the range of thresholds around the best that are nearly as good."""
    points = result.curve["threshold"]
    column = result.criterion
    if result.method == "contrast":
        column = "contrast"
    values = result.curve[column]
    least = result.value - (1 - _NEARLY_AS_GOOD) * abs(result.value)
    best = points.index(result.threshold)
    low = best
    while low > 0 and values[low - 1] >= least:
        low -= 1
    high = best
    while high + 1 < len(points) and values[high + 1] >= least:
        high += 1
    return (
        f"at least {_NEARLY_AS_GOOD:.0%} of that from {points[low]:.4f} "
        f"to {points[high]:.4f}"
    )


def _curve_rows(result: Calibration) -> list[list[str]]:
    """Return evenly spaced rows of the curve, and the row of the threshold."""
    points = result.curve["threshold"]
    columns: list[Sequence[float]] = list(result.curve.values())
    spaced = np.linspace(0, len(points) - 1, _MAX_ROWS_OF_CURVE).round().astype(int)
    indices = {*spaced.tolist(), points.index(result.threshold)}
    rows = []
    for index in sorted(indices):
        mark = ""
        if points[index] == result.threshold:
            mark = "*"
        row = [f"{points[index]:.4f}{mark}"]
        row += [f"{column[index]:.4f}" for column in columns[1:]]
        rows.append(row)
    return rows
