"""Records of labels and matches: values of labels, confusions, curves and matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.metrics.families import CAUSES
from semmetrics.reports import Records
from semmetrics.scoring.result import Score, point_sums

T = TypeVar("T")
_LABEL_COLUMNS = (
    "system",
    "measure",
    "label",
    "value",
    "support",
    "predicted",
    "hit",
)
_MATCH_COLUMNS = (
    "id",
    "system",
    "rank",
    "prediction",
    "reference",
    "reason",
    "similarity",
    "nearest",
)
_CONFUSION_COLUMNS = ("system", "measure", "true", "predicted", "count")
_PRECISION_RECALL_COLUMNS = ("system", "measure", "label", "recall", "precision")
_UNDEFINED_COLUMNS = ("system", "measure", "cause", "unit", "policy", "count")
_UNIT_OF_AVERAGE = {"macro": "label", "weighted": "label"}


def first_of_systems(
    scores: Sequence[Score],
    compute: Callable[[Score], T | None],
    what: str,
    example: str,
) -> dict[str, T]:
    """Return a value of the first score of each system for which it can be computed.

    Parameters
    ----------
    scores : sequence of Score
    compute : callable
        Returns None if it cannot compute the value of a score.
    what, example : str
        For the error message: the value, and a measure that has it.

    Raises
    ------
    InputError
        If the value cannot be computed for any score.
    """
    values: dict[str, T] = {}
    for score in scores:
        if score.system in values:
            continue
        value = compute(score)
        if value is not None:
            values[score.system] = value
    if not values:
        raise InputError("lacks-measure", what=what, example=example)
    return values


# ---- labels ---------------------------------------------------------------------------


def list_labels(scores: Sequence[Score]) -> Records:
    """Return the value and the counts of each label, for measures averaged over labels."""
    with_labels = [score for score in scores if score.per_label is not None]
    if not with_labels:
        raise InputError("lacks-measure", what="values of labels", example="MacroF1")
    rows: list[dict[str, Any]] = []
    for score in with_labels:
        rows += _label_rows(score)
    return Records.from_rows(_LABEL_COLUMNS, rows)


def _label_rows(score: Score) -> Iterator[dict[str, Any]]:
    """Yield a record for each label of a score.

    Counts that are integers become int, and values that are not finite become None.
    """
    columns = score.per_label or {}
    lists = [column.tolist() for column in columns.values()]
    for values in zip(*lists, strict=True):
        row: dict[str, Any] = {"system": score.system, "measure": score.heading}
        for name, value in zip(columns, values, strict=True):
            row[name] = value
            if not isinstance(value, float):
                continue
            if name != "value" and value.is_integer():
                row[name] = int(value)
            else:
                row[name] = finite_or_none(value)
        yield row


# ---- matches and confusions -----------------------------------------------------------


def find_matching_heading(scores: Sequence[Score]) -> str:
    """Return the heading of the first measure that matches labels by meaning or words.

    Raises
    ------
    InputError
        If no measure matches labels or words.
    """
    # Exact measures do not need this module.
    from semmetrics.metrics.semantic import SemanticFamily

    for score in scores:
        definition = score.measure.definition
        is_semantic = isinstance(definition.family, SemanticFamily)
        if is_semantic or "matches" in definition.extra:
            return score.heading
    raise InputError(
        "lacks-measure",
        what="matches of labels by meaning, or matches of words",
        example="SemF1, or METEOR for captions",
    )


def list_matches(scores: Sequence[Score]) -> Records:
    """Return which prediction matches which reference, by the first measure that matches."""
    from semmetrics.kinds.labels.matches import match_rows

    heading = find_matching_heading(scores)
    matching = [score for score in scores if score.heading == heading]
    if any(score.task is None for score in matching):
        raise InputError("rows-not-kept")
    find_matches = matching[0].measure.definition.extra.get("matches", match_rows)
    rows = []
    for score in matching:
        for match in find_matches(score.task, score.measure):
            rows.append({"id": match.pop("id"), "system": score.system, **match})
    columns = list(rows[0]) if rows else _MATCH_COLUMNS
    return Records.from_rows(columns, rows)


def list_confusions(scores: Sequence[Score]) -> Records:
    """Return how often each label is predicted for each true label."""
    confusions = first_of_systems(
        scores,
        _count_confusions,
        what="predicted classes, or sets of labels",
        example="F1, or PerClassAccuracy for classes",
    )
    return _as_records(_CONFUSION_COLUMNS, confusions)


def _count_confusions(score: Score) -> list[tuple[Any, ...]] | None:
    """Return rows of confusions, or None if the measure predicts no labels."""
    measure = score.measure
    # Soft measures match labels by degree, so no label is confused with another.
    is_soft = measure["match"] is not None and measure["threshold"] is None
    if measure["decode"] is not None and not is_soft:
        return _count_confused_sets(score)
    return _count_confused_classes(score)


def _count_confused_sets(score: Score) -> list[tuple[Any, ...]]:
    """Return rows of confusions of label sets, the most frequent first."""
    from semmetrics.kinds.labels.matches import count_confused

    if not isinstance(score.task, LabelTask):
        raise InputError("rows-not-kept")
    rows = []
    for pair, count in count_confused(score.task, score.measure).most_common():
        true, predicted = pair
        rows.append((score.system, score.heading, true, predicted, count))
    return rows


def _count_confused_classes(score: Score) -> list[tuple[Any, ...]] | None:
    """Return rows of confusions of classes, or None if the measure predicts no class."""
    family = score.measure.definition.family
    if not hasattr(family, "confusion"):
        return None
    statistic = family.statistic(score.measure)
    confusion = family.confusion(score.statistics.rows(statistic))
    if confusion is None:
        return None
    names = [*score.frame.labels, None]  # the code -1 means that no class is predicted
    columns = [column.tolist() for column in confusion]
    rows = []
    for true_code, predicted_code, count in zip(*columns, strict=True):
        true = names[true_code]
        predicted = names[predicted_code]
        rows.append((score.system, score.heading, true, predicted, count))
    return rows


def _as_records(
    columns: Sequence[str], rows_by_system: dict[str, list[tuple[Any, ...]]]
) -> Records:
    """Return the rows of all systems as records."""
    records = []
    for rows in rows_by_system.values():
        for row in rows:
            records.append(dict(zip(columns, row, strict=True)))
    return Records.from_rows(columns, records)


# ---- curves ---------------------------------------------------------------------------


def list_seen_unseen(scores: Sequence[Score]) -> Records:
    """Return the accuracies on seen and unseen classes for each calibrating constant."""
    curves = first_of_systems(
        scores,
        _seen_unseen_curve,
        what="a curve of seen and unseen accuracy",
        example="AUSUC",
    )
    systems: list[str] = []
    arrays: dict[str, list[Floats]] = {}
    for system, curve in curves.items():
        systems += [system] * len(curve.seen)
        low = np.append(-np.inf, curve.bounds)
        high = np.append(curve.bounds, np.inf)
        arrays.setdefault("low", []).append(low)
        arrays.setdefault("high", []).append(high)
        arrays.setdefault("unseen", []).append(curve.unseen)
        arrays.setdefault("seen", []).append(curve.seen)
        arrays.setdefault("H", []).append(curve.harmonic)
    columns: dict[str, Any] = {"system": systems}
    for name, parts in arrays.items():
        columns[name] = np.concatenate(parts)
    return Records(columns)


def _seen_unseen_curve(score: Score) -> Any:
    """Return the curve of a score, or None if its measure has no curve."""
    family = score.measure.definition.family
    if not hasattr(family, "curve"):
        return None
    statistics = score.statistics
    rows = statistics.rows(family.statistic(score.measure))
    return family.curve(rows, score.frame, statistics.item_weights)


def list_precision_recall(scores: Sequence[Score]) -> Records:
    """Return precision and recall at each true item of the ranking by each class."""
    points = first_of_systems(
        scores, _precision_recall_rows, what="items ranked by class", example="mAP"
    )
    return _as_records(_PRECISION_RECALL_COLUMNS, points)


def _precision_recall_rows(score: Score) -> list[tuple[Any, ...]] | None:
    """Return the points of all curves of a score, or None if its measure has no curve."""
    family = score.measure.definition.family
    if not hasattr(family, "precision_recall"):
        return None
    sums = point_sums(score.measure, score.statistics)
    rows = []
    curves = family.precision_recall(score.measure, sums, score.frame)
    for label, recalls, precisions in curves:
        points = zip(recalls.tolist(), precisions.tolist(), strict=True)
        for recall, precision in points:
            rows.append((score.system, score.heading, label, recall, precision))
    return rows


# ---- undefined values -----------------------------------------------------------------


def count_undefined(scores: Sequence[Score]) -> Records:
    """Return how many values are undefined, by cause, and the policy for them."""
    rows: list[dict[str, Any]] = []
    for score in scores:
        names = {"system": score.system, "measure": score.heading}
        for cause, count in score.undefined.items():
            policy = score.measure[cause]
            if policy is not None:
                policy = str(policy)
            row = {
                "cause": cause,
                "unit": _unit_of_cause(score, cause),
                "policy": policy,
                "count": count,
            }
            rows.append({**names, **row})
        if score.ci is not None and score.ci.undefined:
            cause = "resample" if score.ci.method == "percentile" else "replicate"
            row = {"cause": cause, "policy": "skip", "count": score.ci.undefined}
            rows.append({**names, **row})
    return Records.from_rows(_UNDEFINED_COLUMNS, rows)


def _unit_of_cause(score: Score, cause: str) -> str | None:
    """Return the noun for what is undefined: an item, a label, or None for the whole value."""
    if cause == "absent":
        return "label"
    average = score.measure["average"]
    if average == "example" or (average is None and cause in CAUSES):
        return score.unit
    return _UNIT_OF_AVERAGE.get(str(average))
