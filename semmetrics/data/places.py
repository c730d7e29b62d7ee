"""How messages write values and places; ids and numbers as readers take them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from semmetrics.errors import InputError

__all__ = ["Places", "at", "canonical_id", "counted", "number", "placed", "shown"]


def shown(value: object) -> str:
    """Write a value for a message: texts and numbers, cut when long; of others the kind."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."
    if isinstance(value, int | float):
        huge = isinstance(value, int) and value.bit_length() > 10_000  # Python refuses to print it
        return "a number of thousands of digits" if huge else str(value)[:60]
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return type(value).__name__


def counted(things: Collection[object], noun: str) -> str:
    """Write how many there are: "1 row", "2 rows"."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def at(name: str, place: str = "", id_: str | None = None) -> str:
    """Write a place for a message.

    Examples
    --------
    >>> at("gt.csv", "line 7", "a")
    "gt.csv, line 7, id 'a'"
    """
    parts = [name, place, "" if id_ is None else f"id {shown(id_)}"]
    return ", ".join(part for part in parts if part)


def placed(error: InputError, where: str) -> InputError:
    """The same error with its place, which loops write only when it is needed."""
    return InputError(error.problem, where=where, remedy=error.remedy)


@dataclass(frozen=True)
class Places:
    """Where each item stands; a `RawItems.where` that costs nothing until it is asked.

    Examples
    --------
    >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7])(1)
    "gt.csv, line 7, id 'b'"
    """

    name: str
    ids: Sequence[str] | None
    unit: str = ""
    numbers: Sequence[int] | Any = ()

    def __call__(self, position: int) -> str:
        """Write the place of the item at a position."""
        place = self.unit.format(self.numbers[position]) if self.unit else ""
        return at(self.name, place, None if self.ids is None else self.ids[position])


def canonical_id(value: object, where: str) -> str:
    """An id as text: 42 and "42" are the same item; anything but text and integers is refused."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        "the id is empty" if value == "" else f"{shown(value)} is no id",
        where=where,
        remedy="an id is a text or an integer",
    )


def number(value: object, where: str, what: str = "score") -> float:
    """A finite float from a JSON number or the text of a cell."""
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = float("nan")
    if result - result != 0:
        problem = f"the {what} is empty" if value == "" else f"the {what} {shown(value)} is no"
        tail = "" if value == "" else " finite number"
        raise InputError(problem + tail, where=where, remedy=f"write the {what} as 0.5") from None
    return result
