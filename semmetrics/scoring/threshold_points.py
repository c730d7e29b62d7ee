"""Thresholds to look at: 0, 0.01, … 1, or those that a user names; and the best of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from semmetrics.errors import InputError, brief
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import all_definitions

__all__ = ["best_place", "check_swept", "threshold_points"]

DEFAULT_POINTS = "0:1:0.01"
_MOST = 10_001
_REMEDY = "write START:STOP:STEP, as 0:1:0.05, or 0.3,0.4,0.5"


def threshold_points(given: Any = None) -> list[float]:
    """Thresholds, rising.

    Parameters
    ----------
    given : str, number or iterable of number, optional
        "START:STOP:STEP" with both ends, or "0.3,0.4,0.5"; left out, "0:1:0.01". Decimal steps
        are exact: 0.3 is the float 0.3.

    Returns
    -------
    list of float

    Raises
    ------
    InputError
        If one is no cosine, stands twice, or there are none or more than 10,001.

    Examples
    --------
    >>> threshold_points("0:0.5:0.1")
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    >>> threshold_points([0.5, 0.25])
    [0.25, 0.5]
    """
    given = DEFAULT_POINTS if given is None else given
    if isinstance(given, str):
        found = _steps(given) if ":" in given else [_decimal(part) for part in given.split(",")]
        points = sorted(map(float, found))
    else:
        several = given if isinstance(given, Iterable) else [given]
        points = sorted(map(_number, several))
    if not points or len(points) > _MOST:
        raise InputError(f"{len(points):,} thresholds", remedy=f"give 1 to {_MOST:,}")
    twice = next((a for a, b in pairwise(points) if a == b), None)
    if twice is not None:
        raise InputError(f"the threshold {twice!r} is given twice", remedy="give each once")
    outside = next((point for point in points if not -1 <= point <= 1), None)
    if outside is not None:
        raise InputError(f"the threshold {outside!r} is no cosine", remedy="give -1 to 1")
    return points


def _steps(text: str) -> list[Decimal]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(f"{text!r} are no thresholds", remedy=_REMEDY)
    start, stop, step = map(_decimal, parts)
    if step <= 0 or stop < start:
        raise InputError(f"{text!r} is no rising row of thresholds", remedy=_REMEDY)
    if (stop - start) / step > _MOST:
        raise InputError(f"{text!r} are more than {_MOST:,} thresholds", remedy="take larger steps")
    return [start + place * step for place in range(int((stop - start) / step) + 1)]


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InputError(f"{text!r} is no threshold", remedy=_REMEDY)
    return number


def _number(value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{brief(value)} is no threshold", remedy="give numbers from -1 to 1")
    return number


def best_place(values: Sequence[float]) -> int | None:
    """Where the largest value stands, of equal ones the last; None where all are undefined.

    Examples
    --------
    >>> best_place([0.2, 0.5, 0.5, float("nan")]), best_place([float("nan")])
    (2, None)
    """
    known = [place for place, value in enumerate(values) if not math.isnan(value)]
    return max(known, key=lambda place: (values[place], place), default=None)


def check_swept(measures: Iterable[Measure]) -> None:
    """Refuse measures without a threshold, and those that have theirs already.

    Raises
    ------
    InputError
        If there is one; names the measures that have a threshold.
    """
    for measure in measures:
        if measure["threshold"] is None:
            having = [
                definition.name
                for definition in all_definitions()
                if any(option.name == "threshold" for option in definition.options)
            ]
            raise InputError(
                f"{measure} has no threshold of similarity",
                remedy=f"those that have one are {', '.join(having)}; score thresholds are those "
                "of decode=threshold:0.5 (semmetrics score --threshold 0.3,0.5)",
            )
        if measure["threshold"] != "auto":
            raise InputError(
                f"{measure} has its threshold already", remedy="leave threshold out of the measure"
            )
