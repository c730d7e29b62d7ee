"""Lists of classes by name.

Conventions
-----------
A class is given by its name, or by its place in the class list, from 0, where none of the names is
a number. ``M500`` and ``L500`` are the most and the least populated classes, ``2H`` those within
two hops, as papers write them; ``1K`` is 1000. Where unseen classes are named, these alone take
part. Of equal populations those first in the class list come first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights
from semmetrics.errors import InputError, at
from semmetrics.kinds import class_names, sample_weights
from semmetrics.kinds.base import (
    Measures,
    Options,
)
from semmetrics.metrics.class_predictions import SEEN, UNSEEN
from semmetrics.metrics.classes import LISTS, RESERVED
from semmetrics.metrics.families import flat_terms
from semmetrics.schema.cells import as_number

_NUMBERED = re.compile(r"(?P<most>[ML])(?P<size>\d{1,9}K?)|(?P<hops>\d{1,4})H")


def _read_numbers(given: Any, files: ReadOptions, option: str) -> Weights:
    """Read a number for each class; its values are None if it is not a mapping."""
    found = sample_weights.read_weights(given, files, option) or Weights(None, option)
    if not found.is_by_id:
        return replace(found, values=None)
    read: dict[str, float] = {}
    for name, value in found.values.items():
        where = at(option, "", str(name))
        if str(name) in read:
            raise InputError("duplicate", where, role="the class", value=str(name))
        read[str(name)] = as_number(value, "the number", where)
        if read[str(name)] < 0:
            wanted = "a number from 0"
            raise InputError(
                "out-of-range", where, role="the number", value=value, wanted=wanted
            )
    return replace(found, values=read)


def code_names(names: Sequence[str], classes: Sequence[str]) -> tuple[Ints, bool]:
    """Return the place of each name in the class list, -1 for none, and whether names are places.

    Examples
    --------
    >>> [codes.tolist() for codes, _ in (code_names(["dog"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["1", "2"]))]
    [[1], [1, 0], [0, -1]]
    """
    codes, lost = class_names.find_names(names, classes)
    named = len(lost) < len(names) or any(map(_is_number, classes))
    if named or not lost or not all(map(_is_number, names)):
        return codes, False
    numbers = np.fromiter(map(int, names), np.int64, len(names))
    return np.where((numbers >= 0) & (numbers < len(classes)), numbers, -1), True


def _is_number(name: str) -> bool:
    return name.isascii() and name.removeprefix("-").isdecimal() and len(name) < 18


def named_sides(
    options: Options, classes: Sequence[str], *, whole: bool
) -> tuple[dict[str, frozenset[str]], str]:
    """Return the seen and unseen classes, as far as they are known, and which side is the rest.

    Parameters
    ----------
    options : ResolvedOptions
    classes : sequence of str
        The class list.
    whole : bool
        Whether it is known whole, so that what is not seen is unseen.

    Raises
    ------
    InputError
        If a class is on both sides, or is not in the class list.
    """
    named = {
        name: frozenset(_listed(options.value(name), classes, name))
        for name in (SEEN, UNSEEN)
        if options.value(name) is not None
    }
    both = frozenset.intersection(*named.values()) if len(named) > 1 else ()
    if both:
        raise InputError("seen-and-unseen", n=len(both), names=sorted(both))
    if len(named) == 1 and whole:
        (name,) = named
        if rest := frozenset(classes) - named[name]:
            other = UNSEEN if name == SEEN else SEEN
            return {**named, other: rest}, other
    return named, ""


def _listed(names: Sequence[str], classes: Sequence[str], where: str) -> list[str]:
    """Return the names of listed classes; refuse those outside the class list."""
    codes, _ = code_names(names, classes)
    if lost := [names[i] for i in np.flatnonzero(codes < 0).tolist()]:
        raise class_names.outside_classes(lost[0], classes, where, "the class")
    return [classes[code] for code in codes.tolist()]


def names_asked(measures: Measures) -> list[str]:
    """Return the names of the lists that measures, or their terms, need."""
    flat = flat_terms(measures)
    found = [
        str(one[option]) for one in flat for option in LISTS if one[option] is not None
    ]
    if any("scores" in one.definition.needs for one in flat):
        found += [SEEN, UNSEEN]
    return [name for name in dict.fromkeys(found) if name not in RESERVED]


def find_list(
    name: str, options: Options, named: Mapping[str, Any], classes: Sequence[str]
) -> Any:
    """Return the classes of a named list: the user's own, or else one made from numbers.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    given = options.class_lists or {}
    if name in given:
        return frozenset(_listed(given[name], classes, f"class list {name}"))
    if name in (SEEN, UNSEEN):
        raise unknown_side(name, named, classes)
    form = _NUMBERED.fullmatch(name)
    if form is None:
        remedy = f"give class_lists={{{name!r}: ...}} (--class-list {name}=FILE)"
        raise InputError("unknown-name", what="class list", value=name, remedy=remedy)
    among = [one for one in classes if one in named.get(UNSEEN, classes)]
    option = "hops" if form["hops"] else "populations"
    numbers = options.value(option).values
    if numbers is None:
        raise InputError("needs-option", what=f"the list {name}", name=option)
    if form["hops"]:
        of = {one: numbers[one] for one in among if one in numbers}
        found = frozenset(one for one, hops in of.items() if hops <= int(form["hops"]))
        if not found:
            nearest = f"{min(of.values()):g} hops" if of else "none"
            raise InputError("empty-list", "hops", name=name, nearest=nearest)
        return found
    size = int(form["size"].replace("K", "000"))
    if lost := [one for one in among if one not in numbers]:
        raise InputError(
            "without-value",
            "populations",
            n=len(lost),
            noun="class",
            what="number",
            names=lost,
        )
    if not 0 < size <= len(among):
        wanted = f"a size from 1 to {len(among):,}"
        raise InputError(
            "out-of-range", "populations", role="the list", value=name, wanted=wanted
        )
    return frozenset(
        sorted(among, key=numbers.__getitem__, reverse=form["most"] == "M")[:size]
    )


def unknown_side(
    name: str, named: Mapping[str, Any], classes: Sequence[str]
) -> InputError:
    """Return why the seen or the unseen classes are not known."""
    other = UNSEEN if name == SEEN else SEEN
    if other in named and named[other].issuperset(classes):
        return InputError("empty-side", side=name, other=other)
    return InputError("unknown-side", side=name, other=other)
