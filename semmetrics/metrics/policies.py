"""What a value is worth where a formula is 0/0, and what is counted of it.

Conventions
-----------
A value is undefined for one of four causes: nothing predicted and nothing true (``empty``; for a
label ``absent``), nothing predicted (``no_prediction``), nothing true (``no_reference``), or
another reason (``undefined``). The measure's option of that name decides: ``nan`` makes the mean
undefined, ``0`` and ``1`` are values, ``skip`` leaves it out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Column, Dense, OneHot, as_floats
from semmetrics.core.ragged import Bools, Floats
from semmetrics.metrics.definition import Columns, Frame, Measure, Sums

__all__ = [
    "CAUSES",
    "LABEL_AVERAGES",
    "POLICIES",
    "ItemMeans",
    "apply_policies",
    "cause_option",
    "causes",
    "divide",
    "item_values",
    "mean_of_defined",
    "undefined_items",
    "value_columns",
]

CAUSES = ("defined", "empty", "no_prediction", "no_reference", "undefined")
POLICIES = ("nan", "0", "1", "skip")
LABEL_AVERAGES = ("macro", "weighted")
_NUMBERS = {"nan": np.nan, "0": 0.0, "1": 1.0}


def divide(numerator: Any, denominator: Any) -> Any:
    """Quotient, nan where the denominator is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    nothing = bottom == 0
    quotient = np.divide(top, bottom + nothing, dtype=np.float64)
    return np.where(nothing, np.nan, quotient) if nothing.any() else quotient


def causes(values: Floats, n_pred: Any, n_ref: Any) -> NDArray[np.int8]:
    """Why each value is undefined, as a position in CAUSES; 0 where it is defined."""
    code = np.zeros(values.shape, np.int8)
    bad = np.isnan(values)
    if bad.any():
        nothing, without = np.equal(n_pred, 0)[bad], np.equal(n_ref, 0)[bad]
        code[bad] = np.select([nothing & without, nothing, without], [1, 2, 3], 4)
    return code


def value_columns(values: Floats, n_pred: Any, n_ref: Any) -> dict[str, Column]:
    """The columns "value" (0 where undefined) and "cause" of a value of each item."""
    cause = causes(values, n_pred, n_ref)
    return {
        "value": Dense(np.where(cause == 0, values, 0.0)),
        "cause": OneHot(cause, len(CAUSES)),
    }


def cause_option(measure: Measure, cause: str) -> str:
    """The option that names the policy for a cause."""
    return "absent" if cause == "empty" and measure["average"] in LABEL_AVERAGES else cause


def apply_policies(
    measure: Measure, values: Floats, code: NDArray[np.int8]
) -> tuple[Floats, Bools]:
    """Values with undefined ones replaced, and which of them count.

    Parameters
    ----------
    measure : Measure
    values : float array
        nan where undefined.
    code : int8 array of the same shape
        The cause of each, as a position in CAUSES.
    """
    kept = np.ones(values.shape, np.bool_)
    if code.any():
        values = values.copy()
        for number, name in enumerate(CAUSES[1:], 1):
            policy, where = str(measure[cause_option(measure, name)]), code == number
            if policy == "skip":
                kept &= ~where
            elif where.any():
                values[where] = _NUMBERS[policy]
    return values, kept


def mean_of_defined(measure: Measure, sums: Sums) -> Floats:
    """Mean over items from the sum of values and the count of each cause, under the policies."""
    total, counts = as_floats(sums["value"]), as_floats(sums["cause"])
    number = counts[..., 0]
    unknown = np.zeros(number.shape, np.bool_)
    for place, name in enumerate(CAUSES[1:], 1):
        policy, some = measure[name], counts[..., place]
        if policy is None:  # a cause that this measure does not have
            continue
        if policy == "nan":
            unknown |= some > 0
        elif policy != "skip":
            total, number = total + _NUMBERS[str(policy)] * some, number + some
    return np.where(unknown, np.nan, divide(total, number))


def undefined_items(sums: Sums) -> dict[str, int]:
    """How many items have no value, by cause, whatever their weights."""
    counts = sums.get("cause_items", sums["cause"]).tolist()
    return {CAUSES[place]: counts[place] for place in range(1, len(CAUSES)) if counts[place]}


def item_values(rows: Columns) -> Floats:
    """The value of each item from the columns "value" and "cause"; nan where undefined."""
    value: Any = rows["value"]
    cause: Any = rows["cause"]
    return np.where(cause.codes == 0, value.values, np.nan)


class ItemMeans:
    """What families have in common whose measures are means over items of "value" and "cause"."""

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The mean, under the policies."""
        return mean_of_defined(measure, sums)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Items without a value, by cause."""
        return undefined_items(sums)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The value of each item."""
        return item_values(rows)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """None: a label alone has no value."""
        return None
