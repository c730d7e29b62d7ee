"""Labels as they are compared: named normalisations, class lists, and labels to ignore.

Conventions
-----------
A normalisation turns one written label into its terms: one term for a plain label, several for
synonyms. Several are applied one after the other: ``lower+plural``. The name of the normalisation
is part of every signature.

``plural`` puts the last word of a label in the singular: the run of letters a to z, in any case, at
its end; words of up to three letters stay. The first line that fits decides:

============================  =====================================  ==========================
ends in                       becomes                                such as
============================  =====================================  ==========================
an exception                  itself, or what the table has for it   lens, shoes, cookies, buses
ss, us, is                    itself                                 glass, cactus, tennis
ies                           y                                      berries, cities
sses, xes, zzes, ches, shes   without es                             glasses, boxes, dishes
oes                           without es                             tomatoes, heroes
s                             without s                              cats, houses, gloves
============================  =====================================  ==========================

Both sides are changed alike, so a singular that the rule cuts ("jeans") still equals itself; two
different words may become one ("glasses", "glass"). Irregular plurals (men, knives, axes) stay as
they are, or lose their s.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.data.lists import Terms, clean_terms
from semmetrics.errors import InputError

Cleaning: TypeAlias = Callable[[str], Terms]

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_LAST_WORD = re.compile(r"[A-Za-z]{4,}$")
# Singulars that end in s, and plurals that the endings would get wrong.
_STAY = frozenset(
    "alias atlas bias canvas christmas lens news pancreas series species texas".split()  # noqa: SIM905
)
_IN_IE = (
    "birdie brownie calorie collie cookie genie hoodie movie pixie prairie rookie selfie smoothie "
    "veggie zombie pie tie lie die magpie necktie"
)
_IN_OE = "shoe horseshoe snowshoe canoe oboe aloe toe hoe foe doe"
_IN_US = "bus cactus octopus virus walrus minibus hippopotamus platypus crocus"
_OTHERS = "ache axe avalanche headache moustache mustache niche cache toothache quiche"
_TABLE = {
    **{f"{word}s": word for word in f"{_IN_IE} {_IN_OE} {_OTHERS}".split()},
    **{f"{word}es": word for word in f"{_IN_US} lens gas atlas canvas iris".split()},
}
_WITHOUT_ES = ("sses", "xes", "zzes", "ches", "shes", "oes")


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
    return tuple(
        re.sub(r"\W", "", part.strip().replace(" ", "_")).lower() for part in parts
    )


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

    Examples
    --------
    >>> plural("Traffic lights"), plural("berries"), plural("glass")
    (('Traffic light',), ('berry',), ('glass',))
    """
    return (singular(label),)


def singular(label: str) -> str:
    """Return the label with its last word in the singular.

    Examples
    --------
    >>> [singular(word) for word in ("cats", "Boxes", "CITIES", "bus", "buses", "gloves")]
    ['cat', 'Box', 'CITY', 'bus', 'bus', 'glove']
    >>> singular("traffic_lights"), singular("men"), singular("glasses (eye)")
    ('traffic_light', 'men', 'glasses (eye)')
    """
    found = _LAST_WORD.search(label) if label[-1:] in ("s", "S") else None
    if found is None:
        return label
    start, word = label[: found.start()], found.group()
    plain = word.lower()
    if plain in _TABLE:
        return start + word[: len(_TABLE[plain])]
    if plain in _STAY or plain.endswith(("ss", "us", "is")):
        return label
    if plain.endswith("ies") and len(plain) > 4:
        return start + word[:-3] + ("Y" if word.isupper() else "y")
    return start + (word[:-2] if plain.endswith(_WITHOUT_ES) else word[:-1])


NORMALIZATIONS: dict[str, Cleaning] = {
    one.__name__: one for one in (none, lower, separators, plural, kubany2020)
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
    known = all(one in NORMALIZATIONS for one in names)
    if (
        not names
        or not known
        or len(set(names)) < len(names)
        or (names[1:] and "none" in names)
    ):
        wanted = (
            f"one or several of {', '.join(NORMALIZATIONS)}, such as 'lower+plural'"
        )
        raise InputError("bad-option", name="normalize", value=name, wanted=wanted)
    steps = tuple(NORMALIZATIONS[one] for one in names)
    return partial(_clean, steps) if len(steps) > 1 else steps[0]


def _clean(steps: Iterable[Cleaning], label: str) -> Terms:
    """Apply normalisations one after the other."""
    return reduce(clean_terms, steps, (label,))


def differently_encoded(labels: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    r"""Return labels that look the same as one of the others, by that label.

    They are equal after Unicode normalisation (NFC) and without invisible characters such as the
    zero-width space.

    Examples
    --------
    >>> pairs = differently_encoded(["cafe\u0301", "bus"], ["caf\u00e9"])
    >>> [(ascii(label), ascii(other)) for label, other in pairs.items()]
    [("'cafe\\u0301'", "'caf\\xe9'")]
    """
    if "".join(labels).isascii() and "".join(others).isascii():  # as a rule
        return {}
    known = set(others)
    seen = {_visible(label): label for label in others}
    pairs = {}
    for label in labels:
        other = seen.get(_visible(label))
        if other is not None and label not in known:
            pairs[label] = other
    return pairs


def _visible(label: str) -> str:
    """Return a label in normal form, without invisible characters."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", label))


def class_name(terms: Terms) -> str:
    """Return how a class is called: its terms, joined.

    Examples
    --------
    >>> class_name(("ashcan", "trash can"))
    'ashcan | trash can'
    """
    return " | ".join(terms)


class Ignored(NamedTuple):
    """The labels to ignore: as they were written, and what each of them is called."""

    written: frozenset[str]
    names: tuple[Terms, ...]

    @staticmethod
    def of(ignore: Iterable[str], clean: Cleaning) -> Ignored:
        """Check and normalise them; one of which nothing is left stays as it is."""
        written = [ignore] if isinstance(ignore, str) else list(ignore)
        names = []
        for label in written:
            terms = clean_terms([label], clean) or (label,)
            names.append((class_name(terms), *terms, label))
        return Ignored(frozenset(written), tuple(dict.fromkeys(names)))

    def chosen(self, classes: Iterable[Terms]) -> tuple[Bools, frozenset[str]]:
        """Return which classes are ignored, and which labels to ignore are among them."""
        every = {name for names in self.names for name in names}
        calls = [{class_name(terms), *terms} & every for terms in classes]
        found = set().union(*calls)
        among = frozenset(
            names[0] for names in self.names if not found.isdisjoint(names)
        )
        return np.array([len(names) > 0 for names in calls], np.bool_), among
