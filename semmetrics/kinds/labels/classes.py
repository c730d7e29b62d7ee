"""Labels as they are compared: named normalisations, class lists, and labels to ignore.

Conventions
-----------
A normalisation turns one written label into its terms: one term for a plain label, several for
synonyms. Several are applied one after the other: ``lower+plural``. The name of the normalisation
is part of every signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.data.lists import Terms, clean_terms
from semmetrics.data.matrix import class_terms
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.kinds.labels.plural import singular
from semmetrics.messages import listing, misfit

__all__ = [
    "NORMALIZATIONS",
    "REPEATING",
    "Ignored",
    "class_name",
    "cleaned_classes",
    "normalization",
]

Cleaning: TypeAlias = Callable[[str], Terms]


def none(label: str) -> Terms:
    """Leave the label as it is written."""
    return (label,)


def lower(label: str) -> Terms:
    """Strip the white space around the label and lower its case.

    Examples
    --------
    >>> lower(" Traffic light")
    ('traffic light',)
    """
    return (label.strip().lower(),)


def kubany2020(label: str) -> Terms:
    """Clean a label as Kubany et al. 2020 do; a comma separates synonyms.

    Each synonym is stripped, its blanks become underscores, what is not a word character is
    dropped, and the rest is put in lower case.

    Examples
    --------
    >>> kubany2020("Kitchen & dining room table")
    ('kitchen__dining_room_table',)
    >>> kubany2020("mailbox, letter box")
    ('mailbox', 'letter_box')
    """
    parts = label.split(",")
    return tuple(re.sub(r"\W", "", part.strip().replace(" ", "_")).lower() for part in parts)


def separators(label: str) -> Terms:
    """Make each run of white space, underscores and hyphens one blank; none stays at the ends.

    Examples
    --------
    >>> separators("traffic_light"), separators(" T-shirt ")
    (('traffic light',), ('T shirt',))
    """
    return (" ".join(label.replace("_", " ").replace("-", " ").split()),)


def plural(label: str) -> Terms:
    """Put the last word of the label in the singular: -s, -es and -ies of English nouns.

    See `semmetrics.kinds.labels.plural` for the rule.

    Examples
    --------
    >>> plural("Traffic lights"), plural("berries"), plural("glass")
    (('Traffic light',), ('berry',), ('glass',))
    """
    return (singular(label),)


NORMALIZATIONS: dict[str, Cleaning] = {
    "none": none,
    "lower": lower,
    "separators": separators,
    "plural": plural,
    "kubany2020": kubany2020,
}
REPEATING = "kubany2020"
"""The normalisation that keeps a term as often as a label repeats it, for the joined text."""


def normalization(name: str) -> Cleaning:
    """Return the normalisation of that name; of several, joined by "+", one after the other.

    Raises
    ------
    InputError
        If there is none of that name, one is named twice, or "none" is named beside others.

    Examples
    --------
    >>> normalization("lower+separators+plural")("Traffic_Lights")
    ('traffic light',)
    """
    names = name.split("+") if isinstance(name, str) else []
    unknown = [one for one in names if one not in NORMALIZATIONS]
    if unknown or not names:
        wrong = unknown[0] if unknown else name
        raise InputError(
            f"there is no label normalisation {wrong!r}",
            remedy=f"choose one of {listing(NORMALIZATIONS)}, or several as 'lower+plural'",
        )
    if len(set(names)) < len(names) or (len(names) > 1 and "none" in names):
        raise InputError(
            f"the label normalisation {name!r} names one twice, or none beside others",
            remedy="name each once, as 'lower+plural'",
        )
    steps = tuple(NORMALIZATIONS[one] for one in names)
    return _Chain(steps) if len(steps) > 1 else steps[0]


@dataclass(frozen=True)
class _Chain:
    """Normalisations that are applied one after the other."""

    steps: tuple[Cleaning, ...]

    def __call__(self, label: str) -> Terms:
        terms: Terms = (label,)
        for step in self.steps:
            terms = clean_terms(terms, step)
        return terms


def class_name(terms: Terms) -> str:
    """How a class is called: its terms, joined.

    Examples
    --------
    >>> class_name(("ashcan", "trash can"))
    'ashcan | trash can'
    """
    return " | ".join(terms)


def cleaned_classes(classes: Iterable[str | Sequence[str]], clean: Cleaning) -> list[Terms]:
    """The terms of each class of a class list, normalised.

    Raises
    ------
    InputError
        If a class is not a name, or nothing is left of it; names its place.
    """
    listed = []
    for number, entry in enumerate(class_terms(classes)):
        terms = clean_terms(entry, clean)
        if not terms:
            raise InputError(
                f"nothing is left of the class {class_name(entry)!r} after normalisation",
                where=f"class list, class {number} (from 0)",
                remedy="rename the class, remove it, or choose another normalisation",
            )
        listed.append(terms)
    return listed


@dataclass(frozen=True)
class Ignored:
    """The labels to ignore: as they were written, and what each of them is called."""

    written: frozenset[str]
    names: tuple[Terms, ...]

    @staticmethod
    def of(ignore: Iterable[str], clean: Cleaning) -> Ignored:
        """Check and normalise them; one of which nothing is left stays as it is."""
        written = [ignore] if isinstance(ignore, str) else list(ignore)
        names = []
        for label in written:
            if not isinstance(label, str):
                raise InputError(
                    f"the label to ignore {misfit(label, 'a string')}",
                    remedy='write labels to ignore as ["cat", "dog"]',
                )
            terms = clean_terms([label], clean) or (label,)
            names.append((class_name(terms), *terms, label))
        return Ignored(frozenset(written), tuple(dict.fromkeys(names)))

    def chosen(self, classes: Iterable[Terms]) -> tuple[Bools, int]:
        """Which classes are ignored, and how many of the labels to ignore are none of them."""
        every = {name for names in self.names for name in names}
        calls = [{class_name(terms), *terms} & every for terms in classes]
        found = set().union(*calls)
        unknown = sum(found.isdisjoint(names) for names in self.names)
        return np.array([len(names) > 0 for names in calls], np.bool_), unknown
