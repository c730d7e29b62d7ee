"""An option of a definition: its values, how they are read and how they are written.

Conventions
-----------
A value is text, a whole number or a number. What is written in a name or a signature is read back
as the same value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from semmetrics.errors import InputError

__all__ = ["Option", "Value", "written"]

Value: TypeAlias = "str | int | float | None"


@dataclass(frozen=True)
class Option:
    """An option of a definition.

    Attributes
    ----------
    name, short : str
        As it is written, and its key in a signature.
    default : value, or mapping from average to value
    choices : tuple of values
        All allowed values, where they can be listed.
    kind : type
        What a written value is read as: str, int or float.
    help : str
    averages : tuple of str, or None
        The averages for which it means something; None for all.
    required : bool
    check : callable, optional
        Raises InputError for a value that is not allowed.
    """

    name: str
    short: str
    default: Value | Mapping[str, Value] = None
    choices: tuple[Value, ...] = ()
    kind: type = str
    help: str = ""
    averages: tuple[str, ...] | None = None
    required: bool = False
    check: Callable[[Value], None] | None = None

    def default_for(self, average: str | None) -> Value:
        """The default under an average."""
        if isinstance(self.default, Mapping):
            return self.default[average or ""]
        return self.default

    def read(self, text: Value) -> Value:
        """A written value as the option's kind; InputError where it is not allowed."""
        value = self._converted(text.item() if isinstance(text, np.generic) else text)
        if self.choices and value not in self.choices:
            raise InputError(
                f"{self.name}={value} is not allowed", remedy=f"choose one of {self._listed()}"
            )
        if self.check is not None:
            self.check(value)
        return value

    def _converted(self, value: Value) -> Value:
        """The value as the option's kind; a bool is of no kind."""
        if isinstance(value, str) and self.kind is not str:
            try:
                value = self.kind(value)
            except ValueError:
                raise InputError(f"{self.name}={value} is not {self._kind_name()}") from None
        elif isinstance(value, int) and not isinstance(value, bool):
            value = value if self.kind is int else self.kind(value)
        right = isinstance(value, self.kind) and not isinstance(value, bool)
        if not right or (isinstance(value, float) and math.isnan(value)):
            raise InputError(f"{self.name}={value!r} is not {self._kind_name()}")
        if isinstance(value, str) and not self.choices and not _can_be_written(value):
            raise InputError(
                f"{self.name}={value!r} cannot be written in the name of a measure",
                remedy="use no blanks at its ends, and commas only inside parentheses that close",
            )
        return value

    def _kind_name(self) -> str:
        return {"int": "a whole number", "float": "a number"}.get(self.kind.__name__, "text")

    def _listed(self) -> str:
        return ", ".join(map(str, self.choices))


def _can_be_written(text: str) -> bool:
    """Whether a value can be read back from inside an option list."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (letter == "," and not depth):
            return False
    return bool(text) and text == text.strip() and not depth


def written(value: Value) -> str:
    """A value as it stands in a name or a signature.

    Examples
    --------
    >>> written(0.5), written("greedy")
    ('0.5', 'greedy')
    """
    return repr(value) if isinstance(value, float) else str(value)
