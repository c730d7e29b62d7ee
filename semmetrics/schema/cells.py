"""Convert the cells of tables: ids, numbers, grades and answers.

Every function takes the cell and what messages call it (its role). Some also take the place of the
cell. They raise an `InputError` if the cell does not have the type that they return.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeAlias

from semmetrics.errors import InputError

Reader: TypeAlias = Callable[[Any, str], Any]
"""Converts a cell, given its role."""

TRUTHS = {"true": 1.0, "false": 0.0}
"""The numbers of true and false, by their spelling in lower case."""

_YES = ("1", "true", "yes", "same", "y", "t")
_NO = ("0", "false", "no", "different", "n", "f")


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty, null or NaN."""
    if value is None:
        return True
    if not str(value).strip():
        return True
    return isinstance(value, float) and math.isnan(value)


def as_given(value: Any, role: str) -> Any:
    """Return a cell unchanged."""
    return value


def as_id(value: Any, role: str = "", where: str = "") -> str:
    """Return an id as a string, so that 42 and "42" are the same id.

    Raises
    ------
    InputError
        If it is neither a string nor an integer, or is empty.
    """
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    code = "empty-id" if isinstance(value, str) else "wrong-id"
    raise InputError(code, where, value=value)


def as_text(value: Any, role: str, where: str = "") -> str:
    """Return a string. It must contain more than white space."""
    if not isinstance(value, str):
        raise InputError("wrong-type", where, value=value, wanted="a string")
    if not value.strip():
        raise InputError("empty", where, role=role, remedy="fill it in")
    return value


def as_group(value: Any, role: str) -> str:
    """Return the name of a group as a string. It must not be empty, null or NaN."""
    if is_missing(value):
        raise InputError("empty", role=role, remedy="fill it in")
    return str(value)


def as_number(value: Any, role: str, where: str = "") -> float:
    """Return a finite number from a number or a numeric string.

    Booleans, complex numbers, arrays and digits separated by underscores raise an error.
    """
    try:
        number = _to_float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise not_a_number(role, value, where) from None
    if not math.isfinite(number):
        raise InputError("not-finite", where, role=role, value=value)
    return number


def not_a_number(role: str, value: Any, where: str = "") -> InputError:
    """Return the error for a value that is not a number, such as a number in quotes.

    Examples
    --------
    >>> not_a_number("the score", "0.9").remedy
    'Write it without quotes: 0.9.'
    """
    error = InputError("not-a-number", where, role=role, value=value)
    if isinstance(value, str):
        with suppress(TypeError, ValueError):
            if math.isfinite(_to_float(value)):
                error.values["fix"] = f"Write it without quotes: {value.strip()}."
    return error


def _to_float(value: Any) -> float:
    """Convert a value as ``float`` does, but reject some values that ``float`` accepts."""
    type_name = type(value).__name__
    if type_name in ("bool", "bool_") or "complex" in type_name:
        raise TypeError
    if type_name == "str" and "_" in value:
        raise TypeError
    if getattr(value, "ndim", 0):  # older NumPy converts an array of one element
        raise TypeError
    return float(value)


def as_grade(value: Any, role: str) -> float:
    """Return a finite number. True and false, also as strings, are 1 and 0.

    Examples
    --------
    >>> as_grade("True", "the grade"), as_grade(False, "the grade"), as_grade("2", "the grade")
    (1.0, 0.0, 2.0)
    """
    truth = TRUTHS.get(str(value).strip().casefold())
    if truth is not None:
        return truth
    return as_number(value, role)


def as_real(value: Any, role: str) -> float:
    """Return a finite number from a number. A string such as "0.5" raises an error."""
    if isinstance(value, str):
        raise not_a_number(role, value)
    return as_number(value, role)


def as_answer(value: Any, role: str, where: str = "") -> bool:
    """Return True for 1, true or yes, and False for 0, false or no."""
    plain = value
    if getattr(value, "shape", None) == ():  # a scalar of NumPy or torch
        plain = value.item()
    answer = str(plain).strip().casefold().removesuffix(".0")
    if answer in _YES:
        return True
    if answer in _NO:
        return False
    raise InputError(
        "wrong-content",
        where,
        value=repr(value),
        wanted="yes or no",
        example="true or false, 1 or 0, or yes or no",
    )


def is_numeric(text: str) -> bool:
    """Return whether a string can be parsed as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
