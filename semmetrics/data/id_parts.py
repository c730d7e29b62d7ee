"""Ids, and the part of an id that a regular expression matches."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from semmetrics.errors import InputError
from semmetrics.schema import as_id

ToId: TypeAlias = Callable[..., str]
"""Converts a value to an id. It accepts the role of the value as a second argument."""


class _IdPartReader:
    """Converts a value to the part of its id that a regular expression matches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __call__(self, value: Any, role: str = "") -> str:
        """Return the only group of the expression, or the whole match if it has no group."""
        item_id = as_id(value)
        match = self._pattern.search(item_id)
        group = self._pattern.groups
        if match is None or not match[group]:
            expression = self._pattern.pattern
            raise InputError("id-mismatch", value=item_id, pattern=expression)
        return str(match[group])


def id_reader(expression: str | None) -> ToId:
    """Return a function that converts a value to an id.

    Parameters
    ----------
    expression : str or None
        A regular expression that matches the part of the id to compare. None compares whole ids.

    Raises
    ------
    InputError
        If the expression is not a valid regular expression, or has several groups.

    Examples
    --------
    >>> id_reader(r"(.+)[.]jpg")("7.jpg"), id_reader(None)(7)
    ('7', '7')
    """
    if expression is None:
        return as_id
    try:
        pattern = re.compile(expression)
    except re.error:
        raise _expression_error(expression) from None
    if pattern.groups > 1:
        raise _expression_error(expression)
    return _IdPartReader(pattern)


def _expression_error(expression: str) -> InputError:
    wanted = "a regular expression with at most one group"
    return InputError("bad-option", name="ids", value=expression, wanted=wanted)
