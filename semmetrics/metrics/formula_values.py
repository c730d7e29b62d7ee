"""Evaluation of the formula of a measure on counts, with checks of what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError, place_in
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.measure_options import OptionValue
from semmetrics.metrics.registry import is_own

OptionValues: TypeAlias = tuple[tuple[str, OptionValue], ...]
"""Names and values of options."""


def evaluate_formula(
    definition: Definition, counts: Mapping[str, Any], options: OptionValues
) -> Floats:
    """Evaluate the formula of a definition on counts.

    Parameters
    ----------
    definition : Definition
    counts : mapping from name to array
        All arrays have the same shape.
    options : tuple of (name, value)
        The options of the formula.

    Returns
    -------
    float array, same shape
        nan if undefined.

    Raises
    ------
    InputError
        If a user's formula fails, or a formula returns an infinite value or an array of
        another shape than the counts.
    """
    formula = definition.formula
    if formula is None:
        raise TypeError(f"{definition.name} has no formula")
    arguments = {name: counts[name] for name in definition.arguments}
    try:
        with np.errstate(all="ignore"):  # 0/0 is nan, which is an undefined value
            values = np.asarray(formula(**arguments, **dict(options)), np.float64)
    except Exception as error:
        is_users_formula = is_own(definition)
        if isinstance(error, InputError) or not is_users_formula:
            raise
        raise _formula_error(definition, error) from error
    first_count = next(iter(counts.values()))
    _check_values(definition, values, first_count.shape)
    return values


def _formula_error(definition: Definition, error: Exception) -> InputError:
    """Return the error for a user's formula that raised an exception."""
    where = ""
    code = getattr(definition.formula, "__code__", None)
    if code is not None:
        where = place_in(error, code.co_filename)
    return InputError(
        "own-code-failed",
        where,
        what=f"the formula of {definition.name}",
        kind=type(error).__name__,
        why=error,
        remedy="correct it",
    )


def _check_values(
    definition: Definition, values: Floats, shape: tuple[int, ...]
) -> None:
    """Raise an error if the values of a formula are infinite or have a wrong shape."""
    is_infinite = np.isinf(values).any()
    if values.shape == shape and not is_infinite:
        return
    problem = f"returns an array of shape {values.shape}"
    remedy = (
        "return an array of the same length as the counts, with nan for undefined "
        "values"
    )
    if is_infinite:
        problem = "returns an infinite value"
        remedy = (
            "divide with semmetrics.metrics.formulas.divide, which returns nan for a "
            "division by 0"
        )
    raise InputError(
        "wrong-formula", measure=definition.name, problem=problem, remedy=remedy
    )


def formula_options(measure: Measure) -> OptionValues:
    """Return the options that are parameters of the formula itself."""
    parameters = measure.definition.parameters
    return tuple((name, value) for name, value in measure.options if name in parameters)
