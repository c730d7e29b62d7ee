"""A calibrated threshold as a person reads it."""

from __future__ import annotations

import numpy as np

from semmetrics.errors import amount
from semmetrics.reports.grid import draw
from semmetrics.scoring.calibration import Calibration

__all__ = ["calibration_text"]

_ROWS = 11  # of the curve
_NEAR = 0.95  # of the best value: thresholds that are nearly as good


def calibration_text(calibration: Calibration, *, digits: int = 4) -> str:
    """The threshold, the criterion's value, and the curve at some points, the best marked."""
    one = calibration
    lines = [
        f"threshold {one.threshold!r} for {one.embedding}",
        f"{one.method}, {one.criterion}: {one.value:.{digits}f} on {amount(one.n, one.unit)}",
    ]
    low, high = _nearly_as_good(one)
    lines.append(f"at least {_NEAR:.0%} of that from {low:.{digits}f} to {high:.{digits}f}")
    if one.auc is not None:
        lines.append(f"AUC {one.auc:.{digits}f}")
    names, points = list(one.curve), one.curve["threshold"]
    some = np.linspace(0, len(points) - 1, _ROWS).round().astype(int).tolist()
    rows = [
        [f"{points[row]:.{digits}f}{'*' if points[row] == one.threshold else ''}"]
        + [f"{one.curve[name][row]:.{digits}f}" for name in names[1:]]
        for row in sorted({*some, points.index(one.threshold)})
    ]
    return "\n".join([*lines, "", draw([names, *rows])])


def _nearly_as_good(one: Calibration) -> tuple[float, float]:
    """The thresholds around the best, without a gap, whose value is nearly as large."""
    points = one.curve["threshold"]
    values = one.curve["contrast" if one.method == "contrast" else one.criterion]
    low = high = points.index(one.threshold)
    enough = one.value - (1 - _NEAR) * abs(one.value)
    while low and values[low - 1] >= enough:
        low -= 1
    while high + 1 < len(points) and values[high + 1] >= enough:
        high += 1
    return points[low], points[high]
