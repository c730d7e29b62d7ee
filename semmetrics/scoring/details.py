"""What scores hold beyond their values, as records: items, labels, matches, what was undefined.

Conventions
-----------
Items are known by their ids, or by their numbers where they have none. Scores are those of one
table; a heading is how the table calls a measure. None stands for what is undefined or not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.metrics.families import CAUSES
from semmetrics.reports.result import Records
from semmetrics.scoring.result import Score

__all__ = [
    "collect_confusion",
    "collect_curves",
    "collect_item_values",
    "collect_label_values",
    "find_matching_heading",
    "collect_matches",
    "count_undefined",
    "find_worst_items",
]

_MATCHES = ("id", "system", "rank", "prediction", "reference", "similarity")
_CONFUSION = ("system", "measure", "true", "predicted", "count")
_LABELS = ("system", "measure", "label", "value", "support", "predicted", "hit")
_UNDEFINED = ("system", "measure", "cause", "unit", "policy", "count")


def collect_item_values(scores: Sequence[Score]) -> Records:
    """Collect the value of each item, with a column for each measure that has such values.

    Of data in several parts a column says which; measures of others have no value there.

    Raises
    ------
    InputError
        If no measure has item values.
    """
    headings = _item_headings(scores)
    parts = dict.fromkeys((one.system, one.part) for one in scores if one.items is not None)
    known = ("id", "system", "part") if len({part for _, part in parts}) > 1 else ("id", "system")
    columns: dict[str, list[Any]] = {name: [] for name in ("id", "system", "part", *headings)}
    for system, part in parts:
        found = {
            score.heading: score for score in scores if (score.system, score.part) == (system, part)
        }
        ids = _plain_ids(next(iter(found.values())))
        columns["id"].append(ids)
        columns["system"].append([system] * len(ids))
        columns["part"].append([part] * len(ids))
        for heading in headings:
            values = found[heading].items if heading in found else None
            columns[heading].append(np.full(len(ids), np.nan) if values is None else values)
    joined: dict[str, Any] = {name: np.concatenate(columns[name]) for name in headings}
    named = {name: [one for part in columns[name] for one in part] for name in known}
    return Records({**named, **joined})


def _item_headings(scores: Sequence[Score]) -> list[str]:
    """The measures that have a value for an item alone."""
    found = list(dict.fromkeys(score.heading for score in scores if score.items is not None))
    if not found:
        raise InputError("lacks-measure", what="item values", example="F1")
    return found


def _plain_ids(score: Score) -> list[str | int]:
    return [name if isinstance(name, str) else int(name) for name in score.ids]


def collect_label_values(scores: Sequence[Score]) -> Records:
    """Collect the value and the counts of each label that a measure averages over.

    Raises
    ------
    InputError
        If no measure has values of labels.
    """
    found = [score for score in scores if score.per_label is not None]
    if not found:
        raise InputError("lacks-measure", what="values of labels", example="MacroF1")
    return Records.from_rows(_LABELS, (row for score in found for row in _label_rows(score)))


def _label_rows(score: Score) -> Iterator[dict[str, Any]]:
    columns = score.per_label or {}
    shared = {"system": score.system, "measure": score.heading}
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        yield shared | {name: _plain_number(name, value) for name, value in row.items()}


def _plain_number(name: str, value: Any) -> Any:
    """A number that is not finite is None, and a count that is whole an int."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if name != "value" and value == int(value) else value


def find_worst_items(scores: Sequence[Score], number: int) -> Records:
    """Find the worst items of each system and part by the first measure that has item values.

    Items without a value are left out; of equal ones those that come first are taken.

    Parameters
    ----------
    scores : sequence of Score
    number : int
        Of each system, from 1.

    Returns
    -------
    Records
        "system", "measure", "id", "value", and what the item is: of labels "predicted" and
        "true", of captions "caption" and "references". The worst come first.

    Raises
    ------
    InputError
        If no measure has item values, or the number is below 1.
    """
    if number < 1:
        raise InputError("bad-option", name="worst", value=number, wanted="a whole number from 1")
    _item_headings(scores)  # there is one
    first = {score.part: score.heading for score in reversed(scores) if score.items is not None}
    rows: list[dict[str, Any]] = []
    for score in scores:
        if score.heading == first.get(score.part):
            rows += _worst_rows(score, score.task, int(number))
    columns = dict.fromkeys(name for row in rows for name in row)
    return Records.from_rows(list(columns) or ["system", "measure", "id", "value"], rows)


def _worst_rows(score: Score, task: Any, number: int) -> Iterator[dict[str, Any]]:
    values = np.full(score.n, np.nan) if score.items is None else score.items
    for row in _rank_worst(values, score.measure.definition.higher_is_better)[:number].tolist():
        name = score.ids[row]
        known = {
            "system": score.system,
            "measure": score.heading,
            "id": name if isinstance(name, str) else int(name),
            "value": float(values[row]) if math.isfinite(values[row]) else None,
        }
        if task is not None:
            known |= find_kind(task.kind).describer.show_item(task, row, score.measure)
        yield known


def _rank_worst(values: Any, higher_is_better: bool) -> Ints:
    """Places of the items that have a value, the worst first."""
    order = np.argsort(values if higher_is_better else -values, kind="stable")  # nan last
    ranked: Ints = order[: int((~np.isnan(values)).sum())]
    return ranked


def find_matching_heading(scores: Sequence[Score]) -> str:
    """Find the first measure that matches labels by meaning.

    Raises
    ------
    InputError
        If there is none.
    """
    from semmetrics.metrics.semantic import SemanticFamily  # exact measures do without it

    for score in scores:
        if isinstance(score.measure.definition.family, SemanticFamily):
            return score.heading
    raise InputError("lacks-measure", what="matches of labels by meaning", example="SemF1")


def collect_matches(scores: Sequence[Score]) -> Records:
    """Collect what each predicted label matched, and the references that nothing matched.

    The first measure that matches labels by meaning is used.

    Parameters
    ----------
    scores : sequence of Score

    Returns
    -------
    Records
        "id", "system", "rank" (from 1; None for a reference that nothing matched), "prediction",
        "reference" (None without a match), "similarity" (of the pair, else of the prediction and
        its nearest reference; None where the item has no reference).

    Raises
    ------
    InputError
        If no measure matches labels by meaning, or items were not kept.
    """
    from semmetrics.kinds.labels.facts import match_rows

    heading = find_matching_heading(scores)
    if any(score.task is None for score in scores if score.heading == heading):
        raise InputError("rows-not-kept")
    rows = (
        {**row, "system": score.system}
        for score in scores
        if score.heading == heading
        for row in match_rows(score.task, score.measure)
    )
    return Records.from_rows(_MATCHES, rows)


def collect_confusion(scores: Sequence[Score]) -> Records:
    """Collect how many images of each class are taken for each class, where there are any.

    The first measure of each system that predicts one class for each image says among which
    candidates; all images are counted.

    Returns
    -------
    Records
        "system", "measure", "true", "predicted" (None for nothing) and "count".

    Raises
    ------
    InputError
        If no measure predicts a class, or rows were not kept.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for score in scores:
        family = score.measure.definition.family
        if score.system in found or not hasattr(family, "confusion"):
            continue
        counted = family.confusion(_rows_of(score))
        if counted is not None:
            names = [*score.frame.labels, None]  # -1 is the last
            found[score.system] = [
                {
                    "system": score.system,
                    "measure": score.heading,
                    "true": names[true],
                    "predicted": names[predicted],
                    "count": count,
                }
                for true, predicted, count in zip(*(c.tolist() for c in counted), strict=True)
            ]
    if not found:
        raise InputError(
            "lacks-measure",
            what="one predicted class for each image",
            example="PerClassAccuracy, of task='classes' (--task classes)",
        )
    return Records.from_rows(_CONFUSION, (row for rows in found.values() for row in rows))


def collect_curves(scores: Sequence[Score]) -> Records:
    """Collect the accuracy on seen and unseen classes for every calibrating constant.

    Returns
    -------
    Records
        "system", "low" and "high" (the constants between which a point holds; None for infinite
        ones), "unseen", "seen" and "H", a row a point.

    Raises
    ------
    InputError
        If no measure has a curve, or rows were not kept.
    """
    curves: dict[str, Any] = {}
    for score in scores:
        family = score.measure.definition.family
        if score.system not in curves and hasattr(family, "curve"):
            weights = score.statistics.weights
            every = np.ones(score.n) if weights is None else weights
            curves[score.system] = family.curve(_rows_of(score), score.frame, every)
    if not curves:
        raise InputError("lacks-measure", what="a curve of seen and unseen", example="AUSUC")
    columns = {
        "low": [np.append(-np.inf, curve.bounds) for curve in curves.values()],
        "high": [np.append(curve.bounds, np.inf) for curve in curves.values()],
        "unseen": [curve.unseen for curve in curves.values()],
        "seen": [curve.seen for curve in curves.values()],
        "H": [curve.harmonic for curve in curves.values()],
    }
    systems = [name for name, curve in curves.items() for _ in curve.seen]
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    return Records({"system": systems, **joined})


def _rows_of(score: Score) -> Any:
    return score.statistics.rows(score.measure.definition.family.statistic(score.measure))


def count_undefined(scores: Iterable[Score]) -> Records:
    """Count what has no value, by cause.

    Returns
    -------
    Records
        "system", "measure", "cause", "unit" (what is counted: the unit of the items, "label", or
        None for the whole), "policy" (what counts for it: "0", "1", "skip", "nan"; None where the
        measure has none) and "count".
    """
    rows = (row for score in scores for row in _undefined_rows(score))
    return Records.from_rows(_UNDEFINED, rows)


def _undefined_rows(score: Score) -> Iterator[dict[str, Any]]:
    average = score.measure["average"]
    units = {"example": score.unit, "macro": "label", "weighted": "label"}
    shared = {"system": score.system, "measure": score.heading}
    for cause, number in score.undefined.items():
        policy = score.measure[cause]
        of_item = score.unit if average is None and cause in CAUSES else None
        yield shared | {
            "cause": cause,
            "unit": "label" if cause == "absent" else of_item or units.get(str(average)),
            "policy": None if policy is None else str(policy),
            "count": number,
        }
    if score.ci is not None and score.ci.undefined:
        cause = "resample" if score.ci.method == "percentile" else "replicate"
        count = {"cause": cause, "unit": None, "policy": "skip", "count": score.ci.undefined}
        yield shared | count
