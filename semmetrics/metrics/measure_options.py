"""Options of measures, and the values that they accept.

Conventions
-----------
The value of an option is a string, an integer or a float. A value is written to the name
or the signature of a measure in one way only, and reading it gives the same value again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from semmetrics.errors import InputError
from semmetrics.metrics.hints import CHOICES_ELSEWHERE

OptionValue: TypeAlias = "str | int | float | None"

ALL_AVERAGES = ("example", "macro", "micro", "weighted")

AUTO = "auto"
"""The choice of "labels": the class list or, without one, the labels of both sides."""

_INTEGER_LIMIT = 2**53
"""All integers below it are exact as float64."""
_WANTED_OF_KIND = {int: "an integer below 2**53", float: "a number"}
"""What messages call the values of each type of number."""


class MeasureOption(NamedTuple):
    """An option of a measure.

    Attributes
    ----------
    name : str
    short : str
        The key in a signature.
    default : value, or mapping from average to value
    choices : tuple of values
        All values that are allowed. Empty if they cannot be listed.
    kind : type
        The type of the values: str, int or float.
    help : str
    averages : tuple of str, or None
        The averages that the option applies to. None if it applies to all.
    required : bool
    within : pair of float
        The smallest and the largest number that is allowed.
    check : callable, optional
        Raises InputError if a value of the right type is not allowed. It returns the
        canonical form of the value, or None if the value is canonical.
    """

    name: str
    short: str
    default: OptionValue | Mapping[str, OptionValue] = None
    choices: tuple[OptionValue, ...] = ()
    kind: type = str
    help: str = ""
    averages: tuple[str, ...] | None = None
    required: bool = False
    within: tuple[float, float] = (-np.inf, np.inf)
    check: Callable[[Any], Any] | None = None

    def default_for(self, average: OptionValue) -> OptionValue:
        """Return the default for an average. A mapping has the key "" for no average."""
        if isinstance(self.default, Mapping):
            return self.default[str(average or "")]
        return self.default

    def applies(self, average: OptionValue) -> bool:
        """Return whether the option applies to an average."""
        return self.averages is None or average in self.averages

    def read(self, raw_value: OptionValue) -> OptionValue:
        """Convert a value to the type of the option, and check it.

        Raises
        ------
        InputError
            If the value is not allowed.
        """
        may_be_unset = self.default is None and not self.required
        if raw_value is None and may_be_unset:
            return None
        value: OptionValue = self._convert(raw_value)
        if not self._has_right_type(value):
            wanted = _WANTED_OF_KIND.get(self.kind, "text")
            raise InputError(
                "bad-option", name=self.name, value=raw_value, wanted=wanted
            )
        self._check_choices(value)
        self._check_bounds(value)
        if self.check is None:
            return value
        canonical: OptionValue = self.check(value)
        if canonical is None:
            return value
        return canonical

    def _convert(self, value: Any) -> Any:
        """Convert a string or an integer to the type of the option, if that is possible.

        Integers that a float cannot represent exactly remain as they are.
        """
        if isinstance(value, np.generic):
            value = value.item()
        is_written_number = isinstance(value, str) and self.kind is not str
        is_exact_integer = is_integer(value) and abs(value) < _INTEGER_LIMIT
        if is_written_number or is_exact_integer:
            with suppress(ValueError):
                return self.kind(value)
        return value

    def _has_right_type(self, value: Any) -> bool:
        """Return whether a value has the type of the option. NaN and huge integers do not."""
        if isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        if isinstance(value, int):
            return abs(value) < _INTEGER_LIMIT
        is_nan = value != value
        return not is_nan

    def _check_choices(self, value: Any) -> None:
        """Raise an error if a value is not a choice, or a string that a name cannot contain."""
        if self.choices:
            if value not in self.choices:
                hint = CHOICES_ELSEWHERE.get((self.name, value), "")
                raise InputError(
                    "bad-choice",
                    name=self.name,
                    value=value,
                    choices=self.choices,
                    hint=f" {hint}",
                )
        elif isinstance(value, str) and not _can_be_written(value):
            wanted = (
                "a string that can be part of a measure's name: without leading or "
                "trailing spaces, and with commas only inside balanced parentheses"
            )
            raise InputError("bad-option", name=self.name, value=value, wanted=wanted)

    def _check_bounds(self, value: Any) -> None:
        """Raise an error if a number is out of bounds."""
        smallest, largest = self.within
        if not isinstance(value, (int, float)) or smallest <= value <= largest:
            return
        if self.kind is float or largest < np.inf:
            wanted = f"a number in [{smallest}, {largest}]"
        else:
            wanted = f"an integer of at least {smallest}"
        raise InputError("bad-option", name=self.name, value=value, wanted=wanted)


def choice_option(
    name: str, choices: str, help_text: str, *, short: str = ""
) -> MeasureOption:
    """Return an option with choices.

    Parameters
    ----------
    name : str
    choices : str
        The choices, separated by spaces. The first is the default.
    help_text : str
    short : str, optional
        The key in a signature. Default: the name.
    """
    words = tuple(choices.split())
    return MeasureOption(name, short or name, words[0], words, help=help_text)


def universe_option(averages: tuple[str, ...] | None = None) -> MeasureOption:
    """Return the option for the labels that count in a measure."""
    help_text = (
        "the labels that are evaluated: auto is the class list, or the labels of "
        "both sides without one; reference is the labels of the ground truth; "
        "union is the labels of both sides; given is the class list"
    )
    option = choice_option("labels", f"{AUTO} reference union given", help_text)
    return option._replace(averages=averages)


def is_integer(value: object) -> TypeGuard[int | np.integer]:
    """Return whether a value is an integer of Python or numpy. A bool is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_cutoff(k: object) -> bool:
    """Return whether a value is an integer from 1 and below 2**53."""
    return is_integer(k) and 1 <= int(k) < _INTEGER_LIMIT


def format_value(value: OptionValue) -> str:
    """Return how a name or a signature writes a value.

    Examples
    --------
    >>> format_value(0.5), format_value("greedy")
    ('0.5', 'greedy')
    """
    if isinstance(value, float):
        return repr(value)
    return str(value)


def _can_be_written(text: str) -> bool:
    """Return whether a string can be read back from a list of options, such as "(a=b, c=d)"."""
    if not text or text != text.strip():
        return False
    depth = 0
    for letter in text:
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        if depth < 0 or (letter == "," and depth == 0):
            return False
    return depth == 0
