"""Normalisations of labels, by name.

Conventions
-----------
A normalisation turns a label as it is written into its terms: one term, or several for synonyms.
Several normalisations can be applied one after the other, as in ``lower+plural``. The name of the
normalisation is part of every signature.

``plural`` puts the last word of a label in the singular. The last word is the run of letters a to
z, in any case, at the end of the label. Words of up to three letters do not change. The first rule
that fits decides:

============================  ====================================  ==========================
word ends in                  becomes                               such as
============================  ====================================  ==========================
an exception                  itself, or its singular in the table  lens, shoes, cookies, buses
ss, us, is                    itself                                glass, cactus, tennis
ies                           y                                     berries, cities
sses, xes, zzes, ches, shes   without es                            glasses, boxes, dishes
oes                           without es                            tomatoes, heroes
s                             without s                             cats, houses, gloves
============================  ====================================  ==========================

Predictions and ground truth are normalised in the same way. Therefore a singular that the rules
shorten ("jeans") still equals itself. Two different words may become equal ("glasses", "glass").
Irregular plurals (men, knives, axes) stay as they are, or lose their s.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from semmetrics.data.lists import Terms, clean_terms
from semmetrics.errors import InputError

Cleaning: TypeAlias = Callable[[str], Terms]


# ---- plurals ------------------------------------------------------------------------------------

_LAST_WORD = re.compile(r"[A-Za-z]{4,}$")
_UNCHANGED = frozenset(
    "alias atlas bias canvas christmas lens news pancreas series species texas".split()  # noqa: SIM905
)
"""Singulars that end in s."""
_SINGULARS_IN_IE = (
    "birdie brownie calorie collie cookie genie hoodie movie pixie prairie rookie selfie smoothie "
    "veggie zombie pie tie lie die magpie necktie"
)
_SINGULARS_IN_OE = "shoe horseshoe snowshoe canoe oboe aloe toe hoe foe doe"
_SINGULARS_IN_E = (
    "ache axe avalanche headache moustache mustache niche cache toothache quiche"
)
_SINGULARS_IN_S = (
    "bus cactus octopus virus walrus minibus hippopotamus platypus crocus lens gas atlas canvas "
    "iris"
)
_WITHOUT_ES = ("sses", "xes", "zzes", "ches", "shes", "oes")


def _list_exceptions() -> dict[str, str]:
    """Return the singulars of plurals for which the rules are wrong."""
    singular_of_plural = {}
    in_e = f"{_SINGULARS_IN_IE} {_SINGULARS_IN_OE} {_SINGULARS_IN_E}"
    for word in in_e.split():
        singular_of_plural[f"{word}s"] = word
    for word in _SINGULARS_IN_S.split():
        singular_of_plural[f"{word}es"] = word
    return singular_of_plural


_SINGULAR_OF_PLURAL = _list_exceptions()


def singular(label: str) -> str:
    """Return the label with its last word in the singular.

    Examples
    --------
    >>> [singular(word) for word in ("cats", "Boxes", "CITIES", "bus", "buses", "gloves")]
    ['cat', 'Box', 'CITY', 'bus', 'bus', 'glove']
    >>> singular("traffic_lights"), singular("men"), singular("glasses (eye)")
    ('traffic_light', 'men', 'glasses (eye)')
    """
    if not label.endswith(("s", "S")):
        return label
    match = _LAST_WORD.search(label)
    if match is None:
        return label
    start = label[: match.start()]
    word = match.group()
    lower_word = word.lower()
    if lower_word in _SINGULAR_OF_PLURAL:
        n_letters = len(_SINGULAR_OF_PLURAL[lower_word])
        return start + word[:n_letters]
    if lower_word in _UNCHANGED or lower_word.endswith(("ss", "us", "is")):
        return label
    if lower_word.endswith("ies") and len(lower_word) > 4:
        ending = "Y" if word.isupper() else "y"
        return start + word[:-3] + ending
    if lower_word.endswith(_WITHOUT_ES):
        return start + word[:-2]
    return start + word[:-1]


# ---- normalisations -----------------------------------------------------------------------------


def none(label: str) -> Terms:
    """Return the label as it is written."""
    return (label,)


def lower(label: str) -> Terms:
    """Strip white space around the label, and convert it to lower case.

    Examples
    --------
    >>> lower(" Traffic light")
    ('traffic light',)
    """
    return (label.strip().lower(),)


def separators(label: str) -> Terms:
    """Replace each run of white space, underscores and hyphens by one space, and strip spaces.

    Examples
    --------
    >>> separators("traffic_light"), separators(" T-shirt ")
    (('traffic light',), ('T shirt',))
    """
    words = label.replace("_", " ").replace("-", " ").split()
    return (" ".join(words),)


def plural(label: str) -> Terms:
    """Put the last word of the label in the singular: -s, -es and -ies of English nouns.

    Examples
    --------
    >>> plural("Traffic lights"), plural("berries"), plural("glass")
    (('Traffic light',), ('berry',), ('glass',))
    """
    return (singular(label),)


def kubany2020(label: str) -> Terms:
    """Clean a label as Kubany et al. 2020 do. A comma separates synonyms.

    Each synonym is stripped, its spaces become underscores, other characters that are not part of
    words are removed, and the rest is converted to lower case.

    Examples
    --------
    >>> kubany2020("Kitchen & dining room table")
    ('kitchen__dining_room_table',)
    >>> kubany2020("mailbox, letter box")
    ('mailbox', 'letter_box')
    """
    terms = []
    for part in label.split(","):
        term = part.strip().replace(" ", "_")
        term = re.sub(r"\W", "", term)
        terms.append(term.lower())
    return tuple(terms)


NORMALIZATIONS: dict[str, Cleaning] = {
    "none": none,
    "lower": lower,
    "separators": separators,
    "plural": plural,
    "kubany2020": kubany2020,
}
REPEATING = "kubany2020"
"""The normalisation that keeps each repetition of a term in a label, for the joined text."""


def normalization(name: str) -> Cleaning:
    """Return a normalisation by its name, or several joined by "+" as one.

    Raises
    ------
    InputError
        If a name is unknown or repeated, or "none" is combined with others.

    Examples
    --------
    >>> normalization("lower+separators+plural")("Traffic_Lights")
    ('traffic light',)
    """
    names = []
    if isinstance(name, str):
        names = name.split("+")
    are_known = bool(names) and all(part in NORMALIZATIONS for part in names)
    has_repeated = len(set(names)) < len(names)
    has_none_and_others = len(names) > 1 and "none" in names
    if not are_known or has_repeated or has_none_and_others:
        choices = ", ".join(NORMALIZATIONS)
        wanted = f"one or several of {choices}, such as 'lower+plural'"
        raise InputError("bad-option", name="normalize", value=name, wanted=wanted)
    steps = tuple(NORMALIZATIONS[part] for part in names)
    if len(steps) == 1:
        return steps[0]
    return partial(_apply_all, steps)


def _apply_all(steps: tuple[Cleaning, ...], label: str) -> Terms:
    """Apply normalisations one after the other."""
    terms: Terms = (label,)
    for clean in steps:
        terms = clean_terms(terms, clean)
    return terms


def class_name(terms: Terms) -> str:
    """Return the name of a class: its terms, joined.

    Examples
    --------
    >>> class_name(("ashcan", "trash can"))
    'ashcan | trash can'
    """
    return " | ".join(terms)
