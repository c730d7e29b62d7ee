"""Values of measures by threshold, of a sweep, a calibration or a table of scores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.reports.figures.curves import Curves, prefix_system, read_curves
from semmetrics.reports.figures.result_values import scores_of

if TYPE_CHECKING:
    from typing_extensions import Self

_THRESHOLD = re.compile(r",?(?:decode=(threshold):|(threshold)=)([-+.\de]+|best)")
"""A threshold in the name of a measure: of scores, or of similarity."""
_CALIBRATION_CURVES = ("f1", "youden", "accuracy", "own", "other", "contrast")


@dataclass
class _Thresholds:
    """Values by threshold.

    Attributes
    ----------
    records : list of dict
        With the columns "name", "threshold" and "value".
    chosen : dict from name to (x, y)
        The thresholds that were fitted, as points of curves.
    kinds : set of str
        What is compared with the thresholds: "scores", "similarity" or both. Empty means
        similarity.
    lower_is_better : set of str
        The names of curves for which lower values are better.
    """

    records: list[dict[str, Any]] = field(default_factory=list)
    chosen: dict[str, tuple[float, float]] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    lower_is_better: set[str] = field(default_factory=set)


class ThresholdDisplay(Curves):
    """Values by threshold of scores or of similarity.

    A star marks the threshold that was chosen or, for thresholds of scores, the best
    value. The best value over thresholds of similarity is not marked: at a lower
    threshold more labels match.

    Examples
    --------
    >>> from semmetrics import sweep
    >>> found = sweep([["bike"], ["cat"]], [["bicycle"], ["car"]], thresholds="0.1:0.9:0.4")
    >>> display = ThresholdDisplay.from_sweep(found)
    >>> list(display.curves), display.chosen
    (['SemF1'], {})
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show a sweep, a calibration, or a table of scores with several thresholds."""
        thresholds = _read_thresholds(result)
        curves: dict[str, Floats] = {}
        chosen: dict[str, tuple[float, float]] = {}
        y_axis = "value"
        for name, curve in read_curves(thresholds.records, "threshold").items():
            y_axis = name
            if name in thresholds.chosen:
                point = thresholds.chosen[name]
                verb = "chosen"
            elif "scores" in thresholds.kinds:
                is_lower_better = name in thresholds.lower_is_better
                point = _find_best_point(curve, is_lower_better=is_lower_better)
                verb = "lowest" if is_lower_better else "highest"
            else:
                curves[name] = curve
                continue
            threshold, _ = point
            title = f"{name}: {verb} at {threshold:.3g}"
            curves[title] = curve
            chosen[title] = point
        if not curves:
            example = "F1 at several of threshold="
            raise InputError(
                "lacks-measure", what="several thresholds", example=example
            )
        if len(curves) > 1:
            y_axis = "value"
        kinds = sorted(thresholds.kinds) or ["similarity"]
        x_axis = f"threshold of {' or '.join(kinds)}"
        return cls(curves, chosen=chosen, axis=(x_axis, y_axis))

    from_sweep = of
    from_scores = of


def _find_best_point(curve: Floats, *, is_lower_better: bool) -> tuple[float, float]:
    """Return the best point of a curve, of equal ones the one at the highest threshold."""
    sign = -1 if is_lower_better else 1
    qualities = np.nan_to_num(sign * curve[1], nan=-np.inf)
    points = zip(curve[0], qualities, strict=True)
    threshold, quality = max(points, key=itemgetter(1, 0))
    return float(threshold), float(sign * quality)


def _read_thresholds(result: Any) -> _Thresholds:
    """Read values by threshold from a result."""
    curve = getattr(result, "curve", None)
    if isinstance(curve, Mapping):
        return _read_calibration(result, curve)
    if hasattr(result, "points"):
        return _read_sweep(result)
    return _read_scores(scores_of(result))


def _read_calibration(calibration: Any, curve: Mapping[str, Any]) -> _Thresholds:
    """Read the curves of a calibration, and the threshold that it chose."""
    thresholds = _Thresholds()
    for name in _CALIBRATION_CURVES:
        points = zip(curve["threshold"], curve.get(name, ()), strict=False)
        for threshold, value in points:
            record = {"name": name, "threshold": threshold, "value": value}
            thresholds.records.append(record)
    criterion = "contrast" if "contrast" in curve else calibration.criterion
    thresholds.chosen[criterion] = calibration.threshold, calibration.value
    return thresholds


def _read_sweep(sweep: Any) -> _Thresholds:
    """Read the values of a sweep of thresholds of similarity."""
    systems: set[str] = set()
    for scores in sweep.scores.values():
        systems.update(score.system for score in scores)
    thresholds = _Thresholds()
    for record in sweep.to_records():
        name = record["measure"]
        if len(systems) > 1:
            name = f"{record['system']} {name}"
        thresholds.records.append({**record, "name": name})
    return thresholds


def _read_scores(table: Any) -> _Thresholds:
    """Read the values of the measures in a table that have a threshold."""
    thresholds = _Thresholds()
    for score, record in zip(table, table.to_records(), strict=False):
        match = _THRESHOLD.search(record["measure"])
        if match is None:
            continue
        of_scores, _, number = match.groups()
        threshold = float(number)
        name = prefix_system(table, record, _drop_threshold(record))
        kind = "scores" if of_scores else "similarity"
        thresholds.kinds.add(kind)
        thresholds.records.append({**record, "name": name, "threshold": threshold})
        if not score.measure.higher_is_better:
            thresholds.lower_is_better.add(name)
        if score.best_threshold is not None:
            thresholds.chosen[name] = threshold, record["value"]
    return thresholds


def _drop_threshold(record: Mapping[str, Any]) -> str:
    """Return the heading, or else the measure, of a score without its threshold."""
    name: str = record["measure"]
    if _THRESHOLD.search(record["heading"]):
        name = record["heading"]
    name = _THRESHOLD.sub("", name)
    return name.replace("(,", "(").replace("()", "")
