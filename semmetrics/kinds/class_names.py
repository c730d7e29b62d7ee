"""Look up names in a list of classes or ids, and report names that are not in a class list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.errors import InputError

_MAX_DIGITS = 17  # of a number that may be the position of a class


def find_names(names: Iterable[Any], among: Iterable[Any]) -> tuple[Ints, list[str]]:
    """Find the position of each name in a list.

    Parameters
    ----------
    names, among : iterable of str or int
        Names are compared as strings.

    Returns
    -------
    positions : int array
        -1 for a name that is not in the list. The last of equal names counts.
    missing : list of str
        The names that are not in the list.

    Examples
    --------
    >>> positions, missing = find_names(["dog", "cow"], ["cat", "dog"])
    >>> positions.tolist(), missing
    ([1, -1], ['cow'])
    """
    position_of_name = {str(name): position for position, name in enumerate(among)}
    wanted = [str(name) for name in names]
    lookups = (position_of_name.get(name, -1) for name in wanted)
    positions = np.fromiter(lookups, np.int64, len(wanted))
    missing = [wanted[row] for row in np.flatnonzero(positions < 0).tolist()]
    return positions, missing


def outside_classes_error(
    value: object, classes: Sequence[Any], where: str, role: str
) -> InputError:
    """Return the error for a name that is not in the class list.

    A number beyond the end of the class list, and a name with a similar class, have messages of
    their own.

    Parameters
    ----------
    value : str
        The name or number.
    classes : sequence of str, or of tuples of synonyms
        The class list.
    where : str
        The place of the value.
    role : str
        The role of the value, for the message: "the class".

    Examples
    --------
    >>> print(outside_classes_error("2", ["cat", "dog"], "gt.json", "the class"))
    gt.json: the class is 2, but the class list has 2 classes, numbered from 0 to 1. If the file
    counts from 1, subtract 1. Otherwise correct classes=.
    """
    text = str(value)
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    last = len(classes) - 1
    if is_number and int(text) > last and not _has_number(classes):
        return InputError(
            "number-outside-classes",
            where,
            role=role,
            value=text,
            size=len(classes),
            last=last,
        )
    values: dict[str, Any] = {"role": role, "value": value}
    similar = _find_similar_class(text, classes)
    if similar is not None:
        return InputError("similar-class", where, **values, similar=similar)
    if _are_positions(classes) and not text.removeprefix("-").isdecimal():
        values["problem"] = f"a name, but the classes are only numbers, 0 to {last}"
        values["action"] = "Name the classes with"
    return InputError("outside-classes", where, **values)


def _are_positions(classes: Sequence[Any]) -> bool:
    """Return whether the classes have only numbers, such as the columns of a matrix without names."""
    names = map(str, range(len(classes)))
    return all(entry == name for entry, name in zip(classes, names, strict=True))


def _has_number(classes: Sequence[Any]) -> bool:
    """Return whether the name of a class is a number.

    Numbers in the data are then names of classes, not their positions.
    """
    for entry in classes:
        terms = entry
        if isinstance(entry, str):
            terms = [entry]
        for term in terms:
            if term.isdecimal():
                return True
    return False


def _find_similar_class(name: str, classes: Sequence[Any]) -> str | None:
    """Return the first class that is the name with a number before it or synonyms after it.

    ImageNet's "n02084071 dog, domestic dog" is similar to "dog". Upper and lower case are equal.
    """
    expression = rf"\s*(?:n?\d+\W+)?{re.escape(name)}\s*(?:,.*)?"
    pattern = re.compile(expression, re.IGNORECASE)
    for entry in classes:
        class_name = entry
        if not isinstance(entry, str):
            class_name = entry[0]
        if pattern.fullmatch(class_name):
            return str(class_name)
    return None
