"""Check lists of class names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.errors import InputError


def check_classes(
    classes: Sequence[Any],
    where: str,
    place_format: str = "{noun} {} (from 0)",
    start: int = 0,
    noun: str = "class",
) -> None:
    """Raise if a class is not a string, is empty or appears twice.

    Parameters
    ----------
    classes : sequence
    where : str
        Name of the input, for messages.
    place_format : str
        Template for the place of a class. "{noun}" is replaced by the noun, "{}" by the number.
    start : int
        Number of the first class.
    noun : str
        Noun for a class: "class", or "class name", of which " name" is dropped.
    """
    noun = noun.removesuffix(" name")
    place_format = place_format.replace("{noun}", noun)
    first_numbers: dict[str, int] = {}
    for number, name in enumerate(classes, start):
        place = f"{where}, {place_format.format(number)}"
        if not isinstance(name, str):
            wanted = f"the name of a {noun}"
            raise InputError("wrong-type", place, value=name, wanted=wanted)
        if not name.strip():
            remedy = "give it a name, because each position stands for a column"
            raise InputError("empty", place, role=f"the {noun}", remedy=remedy)
        first_number = first_numbers.setdefault(name, number)
        if first_number != number:
            other = place_format.format(first_number)
            raise InputError("duplicate-at", place, role=repr(name), other=other)
