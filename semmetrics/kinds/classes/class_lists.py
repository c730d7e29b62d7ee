"""Lists of classes by name: seen and unseen ones, a user's own, and those of a file of numbers.

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
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.join import Weights
from semmetrics.errors import InputError
from semmetrics.kinds import Options
from semmetrics.messages import agreeing, listing, pluralize
from semmetrics.metrics.classes import LISTS, RESERVED, SEEN, UNSEEN
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.derived import flat_terms
from semmetrics.options import OPTIONS

__all__ = ["code_names", "explain_unknown_side", "find_list", "named_sides", "names_asked",
           "number_notes", "overlap_note", "unnamed_columns"]  # fmt: skip


_ARE = ("is", "are")
_NUMBERED = re.compile(r"(?P<most>[ML])(?P<size>\d{1,9}K?)|(?P<hops>\d{1,4})H")


def code_names(names: Sequence[str], classes: Sequence[str]) -> tuple[Ints, bool]:
    """Return the place of each name in the class list, -1 for none, and whether names are places.

    Examples
    --------
    >>> [codes.tolist() for codes, _ in (code_names(["dog"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["cat", "dog"]),
    ...                                  code_names(["1", "0"], ["1", "2"]))]
    [[1], [1, 0], [0, -1]]
    """
    place = {name: code for code, name in enumerate(classes)}
    codes = np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))
    if not len(codes) or (codes >= 0).any() or not all(map(_is_number, names)):
        return codes, False
    if any(map(_is_number, classes)):
        return codes, False
    numbers = np.fromiter(map(int, names), np.int64, len(names))
    return np.where((numbers >= 0) & (numbers < len(classes)), numbers, -1), True


def unnamed_columns(lost: Sequence[str], classes: Sequence[str]) -> str:
    """Return the remedy where names are sought among columns that are only numbered, or ""."""
    if all(map(_is_number, classes)) and not any(map(_is_number, lost)):
        return "the columns have no names: name them with classes= (--classes)"
    return ""


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
        name: frozenset(_listed(options[name], classes, f"{name} class", name))
        for name in (SEEN, UNSEEN)
        if options[name] is not None
    }
    both = frozenset.intersection(*named.values()) if len(named) > 1 else ()
    if both:
        raise InputError(
            f"{pluralize(len(both), 'class', 'are')} seen and unseen: {listing(sorted(both))}",
            remedy="keep each in one of seen= (--seen) and unseen= (--unseen)",
        )
    if len(named) == 1 and whole:
        (name,) = named
        rest = frozenset(classes) - named[name]
        if rest:
            other = UNSEEN if name == SEEN else SEEN
            return {**named, other: rest}, other
    return named, ""


def _listed(names: Sequence[str], classes: Sequence[str], noun: str, option: str) -> list[str]:
    """Return the names of listed classes; refuse those outside the class list."""
    codes, _ = code_names(names, classes)
    lost = [names[i] for i in np.flatnonzero(codes < 0).tolist()]
    if lost:
        remedy = "write names as the class list has them, or places in it, from 0"
        remedy = unnamed_columns(lost, classes) or remedy
        raise InputError(
            f"{pluralize(len(lost), noun, 'are')} not in the class list: {listing(lost)}",
            where=option,
            remedy=remedy,
        )
    return [classes[code] for code in codes.tolist()]


def names_asked(measures: Sequence[Measure]) -> list[str]:
    """Return the names of the lists that measures, or their terms, need."""
    flat = flat_terms(measures)
    found = [str(one[option]) for one in flat for option in LISTS if one[option] is not None]
    if any("scores" in one.definition.needs for one in flat):
        found += [SEEN, UNSEEN]
    return [name for name in dict.fromkeys(found) if name not in RESERVED]


def find_list(name: str, options: Options, named: Mapping[str, Any], classes: Sequence[str]) -> Any:
    """Return the classes of a named list: the user's own, or else one made from numbers.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    given = options["class_lists"] or {}
    if name in given:
        return frozenset(_listed(given[name], classes, "class", f"class list {name}"))
    if name in (SEEN, UNSEEN):
        problem, remedy = explain_unknown_side(name, named, classes)
        raise InputError(problem, remedy=remedy)
    form = _NUMBERED.fullmatch(name)
    if form is None:
        more = f"; there are {listing(given)}" if given else ""
        raise InputError(
            f"there is no class list {name!r}",
            remedy=f"give class_lists={{{name!r}: ...}} (--class-list {name}=FILE){more}",
        )
    among = [one for one in classes if one in named.get(UNSEEN, classes)]
    noun = "unseen class" if UNSEEN in named else "class"
    if form["hops"]:
        return _within_hops(int(form["hops"]), among, _numbers(options, "hops", name), noun)
    size = int(form["size"].removesuffix("K")) * (1000 if form["size"].endswith("K") else 1)
    numbers = _numbers(options, "populations", name)
    return _populated(name, size, among, numbers, noun, most=form["most"] == "M")


def explain_unknown_side(
    name: str, named: Mapping[str, Any], classes: Sequence[str]
) -> tuple[str, str]:
    """Return why the seen or the unseen classes are not known, and the remedy."""
    other, unknown = UNSEEN if name == SEEN else SEEN, f"which classes are {name} is not known"
    give = f"give {OPTIONS[name].both}"
    if other not in named:
        return unknown, f"give {OPTIONS[SEEN].both} and {OPTIONS[UNSEEN].both}"
    if named[other].issuperset(classes):
        every = f"all of {pluralize(len(classes), 'class')} are {other}"
        return f"no class is {name}: {every}", f"correct {OPTIONS[other].both}, or {give}"
    rest = f"or the class list, of which they are the rest: {OPTIONS['classes'].both}"
    return unknown, f"{give}, {rest}"


def _numbers(options: Options, option: str, name: str) -> Mapping[str, float]:
    values = options[option]
    if isinstance(values, Weights):
        values = values.values
    if not isinstance(values, Mapping):
        raise InputError(
            f"the list {name} needs {option} of classes",
            remedy=f"give {option}={{class: number}} (--{option} FILE)",
        )
    return values


def _populated(
    name: str,
    size: int,
    among: Sequence[str],
    numbers: Mapping[str, float],
    noun: str,
    *,
    most: bool,
) -> frozenset[str]:
    lost = [one for one in among if one not in numbers]
    if lost:
        problem = f"{pluralize(len(lost), 'class', 'have')} no number: {listing(lost)}"
        remedy = "give the number of images of each"
        raise InputError(problem, where="populations", remedy=remedy)
    if not 0 < size <= len(among):
        there = pluralize(len(among), noun)
        problem = f"{name} is of {pluralize(size, 'class')}, and there are {there}"
        raise InputError(problem, where="populations", remedy="name fewer, from 1")
    order = sorted(among, key=lambda one: -numbers[one] if most else numbers[one])
    return frozenset(order[:size])


def _within_hops(
    most: int, among: Sequence[str], numbers: Mapping[str, float], noun: str
) -> frozenset[str]:
    of = {one: numbers[one] for one in among if one in numbers}
    found = frozenset(one for one, hops in of.items() if hops <= most)
    if not found:
        nearest, remedy = "", "check that its classes are named as in the class list"
        if of:
            nearest, remedy = f": the nearest has {min(of.values()):g}", "name a list with more"
        problem = f"no {noun} is within {pluralize(most, 'hop')}{nearest}"
        raise InputError(problem, where="hops", remedy=remedy)
    return found


def number_notes(
    asked: Sequence[str], options: Options, unseen: frozenset[str] | None, classes: Sequence[str]
) -> list[str]:
    """Say of hops and populations which classes have no number, and which numbers no class.

    Parameters
    ----------
    asked : sequence of str
        The names of lists that measures name.
    options : ResolvedOptions
    unseen : set of str or None
        The unseen classes, where they are known: lists of numbers are of these.
    classes : sequence of str
        The class list.
    """
    notes = []
    own = options["class_lists"] or {}
    forms = [_NUMBERED.fullmatch(name) for name in asked if name not in own]
    for option, example in (("populations", "M500 or L500"), ("hops", "2H")):
        values = options[option]
        values = values.values if isinstance(values, Weights) else values
        if values is None:
            continue
        if not any(form and bool(form["hops"]) == (option == "hops") for form in forms):
            both = OPTIONS[option].both
            notes.append(f"{both} has no effect: no measure names a list as {example}")
            continue
        if not isinstance(values, Mapping):  # which is refused
            continue
        noun = "class" if unseen is None else "unseen class"
        lost = [one for one in classes if one not in values and one in (unseen or classes)]
        if lost:
            number = pluralize(len(lost), noun, "have")
            notes.append(f"{option}: {number} no number, and {_ARE[len(lost) > 1]} in no list such "
                         f"as {example}: {listing(lost, most=3)}")  # fmt: skip
        known = frozenset(classes)
        strange = [name for name in values if name not in known]
        if strange:
            number = pluralize(len(strange), "number", "are")
            notes.append(f"{option}: {number} of what is no class here: {listing(strange, most=3)}")
    return notes


def overlap_note(
    options: Options, unseen: frozenset[str] | None, classes: Sequence[str]
) -> list[str]:
    """Say which unseen classes are among those of pre-training."""
    known = options["pretraining"]
    if known is None:
        return []
    if unseen is None:
        return ["pretraining= (--pretraining) has no effect without unseen= (--unseen)"]
    codes, _ = code_names(known, classes)
    both = sorted(unseen.intersection(classes[code] for code in codes.tolist() if code >= 0))
    of = pluralize(len(known), "class")
    if not both:
        return [f"none of {pluralize(len(unseen), 'unseen class')} is among {of} of pre-training"]
    return [
        f"{len(both):,} of {pluralize(len(unseen), 'unseen class')} "
        f"{agreeing(len(both), 'are')} among {of} of "
        f"pre-training, and so not unseen: {listing(both)}"
    ]
