"""Lists of classes by name, such as the unseen classes or those within two hops.

Conventions
-----------
A class is given by its name, or by its position in the class list, from 0, if none of the names is
a number.

As papers write them, ``M500`` and ``L500`` are the 500 most and the 500 least populated classes,
``2H`` are the classes within two hops, and ``1K`` is 1000. If unseen classes are named, only they
take part. Of equally populated classes, the first in the class list come first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.join import Weights
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError, format_place
from semmetrics.kinds import class_names, sample_weights
from semmetrics.kinds.base import Measures, Options
from semmetrics.metrics.class_predictions import SEEN, UNSEEN
from semmetrics.metrics.classes import LISTS, RESERVED
from semmetrics.metrics.families import flat_terms
from semmetrics.schema import as_number

NUMBERED_LIST = re.compile(r"(?P<most>[ML])(?P<size>\d{1,9}K?)|(?P<hops>\d{1,4})H")
"""The name of a list that is made from a number for each class."""
EXAMPLE_LIST_OF_OPTION = {"populations": "M500", "hops": "2H"}
"""The options that give a number for each class, and a list that is made from the numbers."""
_MAX_DIGITS = 17
"""How many digits a name may have to be read as a number."""


# ---- classes by name or position ----------------------------------------------------------------


def code_names(names: Sequence[str], classes: Sequence[str]) -> tuple[Ints, bool]:
    """Return the position of each name in the class list.

    Returns
    -------
    codes : int array, shape (names,)
        -1 for a name that is not in the class list.
    are_positions : bool
        Whether the names were read as positions.

    Examples
    --------
    >>> code_names(["dog"], ["cat", "dog"])
    (array([1]), False)
    >>> code_names(["1", "0"], ["cat", "dog"])
    (array([1, 0]), True)
    >>> code_names(["1", "0"], ["1", "2"])
    (array([ 0, -1]), False)
    """
    codes, unknown = class_names.find_names(names, classes)
    if not unknown:
        return codes, False
    has_known_name = len(unknown) < len(names)
    if has_known_name or any(_is_number(name) for name in classes):
        return codes, False
    if not all(_is_number(name) for name in names):
        return codes, False
    positions = np.fromiter(map(int, names), np.int64, len(names))
    is_inside = (positions >= 0) & (positions < len(classes))
    return np.where(is_inside, positions, -1), True


def _is_number(name: str) -> bool:
    """Return whether a name is an integer."""
    has_digits = name.isascii() and name.removeprefix("-").isdecimal()
    return has_digits and len(name) <= _MAX_DIGITS


def _find_classes(
    names: Sequence[str], classes: Sequence[str], where: str
) -> list[str]:
    """Return the names of classes that are given by name or position.

    Raises
    ------
    InputError
        If one is not in the class list.
    """
    codes, _ = code_names(names, classes)
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        name = names[int(unknown[0])]
        raise class_names.outside_classes_error(name, classes, where, "the class")
    return [classes[code] for code in codes.tolist()]


# ---- seen and unseen classes --------------------------------------------------------------------


class NamedSides(NamedTuple):
    """The seen and the unseen classes.

    Attributes
    ----------
    named : dict from "seen" or "unseen" to frozenset of str
        The sides that were found.
    rest : {"", "seen", "unseen"}
        The side that consists of all other classes, because only the other side was given.
    """

    named: dict[str, frozenset[str]]
    rest: str


def name_sides(
    options: Options, classes: Sequence[str], *, is_complete: bool
) -> NamedSides:
    """Return the seen and the unseen classes, as far as the options name them.

    Parameters
    ----------
    options : ResolvedOptions
    classes : sequence of str
        The class list.
    is_complete : bool
        Whether the class list has all classes. Classes that are not seen are then unseen.

    Raises
    ------
    InputError
        If a class is on both sides, or is not in the class list.
    """
    named = {}
    for side in (SEEN, UNSEEN):
        names = options.value(side)
        if names is not None:
            named[side] = frozenset(_find_classes(names, classes, side))
    if len(named) == 2:
        both = named[SEEN] & named[UNSEEN]
        if both:
            raise InputError("seen-and-unseen", n=len(both), names=sorted(both))
    if len(named) != 1 or not is_complete:
        return NamedSides(named, "")
    (side,) = named
    others = frozenset(classes) - named[side]
    if not others:
        return NamedSides(named, "")
    other_side = _other_side(side)
    named[other_side] = others
    return NamedSides(named, other_side)


def _other_side(side: str) -> str:
    """Return the side of all classes that are not on this side."""
    return UNSEEN if side == SEEN else SEEN


def unknown_side_error(
    side: str, named: Mapping[str, Any], classes: Sequence[str]
) -> InputError:
    """Return the error for seen or unseen classes that are not known."""
    other = _other_side(side)
    if other in named and named[other].issuperset(classes):
        return InputError("empty-side", side=side, other=other)
    return InputError("unknown-side", side=side, other=other)


# ---- lists that measures name -------------------------------------------------------------------


def requested_lists(measures: Measures) -> list[str]:
    """Return the names of the lists that measures use, or the terms of measures, each once."""
    terms = flat_terms(measures)
    names: dict[str, None] = {}
    for term in terms:
        for option in LISTS:
            if term[option] is not None:
                names[str(term[option])] = None
    if any("scores" in term.definition.needs for term in terms):
        names[SEEN] = None
        names[UNSEEN] = None
    return [name for name in names if name not in RESERVED]


def find_list(
    name: str, options: Options, named: Mapping[str, Any], classes: Sequence[str]
) -> frozenset[str]:
    """Return the classes of a named list, which the user gives or which is made from numbers.

    Parameters
    ----------
    name : str
    options : ResolvedOptions
    named : mapping from "seen" or "unseen" to frozenset of str
        The sides that were found.
    classes : sequence of str
        The class list.

    Raises
    ------
    InputError
        If there is no list with this name, or it contains no class.
    """
    class_lists = options.class_lists or {}
    if name in class_lists:
        where = f"class list {name}"
        return frozenset(_find_classes(class_lists[name], classes, where))
    if name in (SEEN, UNSEEN):
        raise unknown_side_error(name, named, classes)
    match = NUMBERED_LIST.fullmatch(name)
    if match is None:
        remedy = f"give class_lists={{{name!r}: ...}} (--class-list {name}=FILE)"
        raise InputError("unknown-name", what="class list", value=name, remedy=remedy)
    candidates = list(classes)
    if UNSEEN in named:
        candidates = [class_ for class_ in classes if class_ in named[UNSEEN]]
    option = "hops" if match["hops"] else "populations"
    numbers = options.value(option).values
    if numbers is None:
        raise InputError("needs-option", what=f"the list {name}", name=option)
    if option == "hops":
        return _find_near(name, int(match["hops"]), candidates, numbers)
    size = int(match["size"].replace("K", "000"))
    is_most = match["most"] == "M"
    return _find_populated(name, size, candidates, numbers, is_most=is_most)


def _find_near(
    name: str, max_hops: int, candidates: Sequence[str], hops: Mapping[str, float]
) -> frozenset[str]:
    """Return the classes within a number of hops. A class without a number is not one of them."""
    hops_of = {class_: hops[class_] for class_ in candidates if class_ in hops}
    near = frozenset(class_ for class_, n in hops_of.items() if n <= max_hops)
    if not near:
        nearest = "none"
        if hops_of:
            nearest = f"{min(hops_of.values()):g} hops"
        raise InputError("empty-list", "hops", name=name, nearest=nearest)
    return near


def _find_populated(
    name: str,
    size: int,
    candidates: Sequence[str],
    populations: Mapping[str, float],
    *,
    is_most: bool,
) -> frozenset[str]:
    """Return the most or the least populated classes."""
    where = "populations"
    unnumbered = [class_ for class_ in candidates if class_ not in populations]
    if unnumbered:
        raise InputError(
            "without-value",
            where,
            n=len(unnumbered),
            noun="class",
            what="number",
            names=unnumbered,
        )
    if not 0 < size <= len(candidates):
        wanted = f"a size from 1 to {len(candidates):,}"
        raise InputError(
            "out-of-range", where, role="the list", value=name, wanted=wanted
        )
    by_population = sorted(candidates, key=populations.__getitem__, reverse=is_most)
    return frozenset(by_population[:size])


# ---- numbers of classes -------------------------------------------------------------------------


def read_numbers(numbers: Any, files: ReadOptions, option: str) -> Weights:
    """Read a number for each class, from 0.

    Parameters
    ----------
    numbers : path, frame, Series, mapping from class, or None
    files : ReadOptions
    option : str
        The option that gives the numbers, for messages.

    Returns
    -------
    Weights
        Its values are None if the input is not a mapping from class.

    Raises
    ------
    InputError
        If a class is there twice, or its number is negative or not finite.
    """
    weights = sample_weights.read_weights(numbers, files, option) or Weights(
        None, option
    )
    if not weights.is_by_id:
        return replace(weights, values=None)
    number_of_class: dict[str, float] = {}
    for key, value in weights.values.items():
        name = str(key)
        where = format_place(option, "", name)
        if name in number_of_class:
            raise InputError("duplicate", where, role="the class", value=name)
        number = as_number(value, "the number", where)
        if number < 0:
            wanted = "a number from 0"
            raise InputError(
                "out-of-range", where, role="the number", value=value, wanted=wanted
            )
        number_of_class[name] = number
    return replace(weights, values=number_of_class)
