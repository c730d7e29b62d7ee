"""English plurals in -s, -es and -ies: a rule for the last word of a label, and no stemmer.

Conventions
-----------
The last word is the run of letters a to z, in any case, at the end of the label; words of up to
three letters stay. The first line that fits decides:

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

__all__ = ["singular"]

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


def singular(label: str) -> str:
    """Return the label with its last word in the singular.

    Examples
    --------
    >>> [singular(word) for word in ("cats", "Boxes", "CITIES", "bus", "buses", "gloves")]
    ['cat', 'Box', 'CITY', 'bus', 'bus', 'glove']
    >>> singular("traffic_lights"), singular("men"), singular("glasses (eye)")
    ('traffic_light', 'men', 'glasses (eye)')
    """
    if label[-1:] not in ("s", "S"):
        return label
    found = _LAST_WORD.search(label)
    return label if found is None else label[: found.start()] + _singular_word(found.group())


def _singular_word(word: str) -> str:
    plain = word.lower()
    if plain in _TABLE:
        return word[: len(_TABLE[plain])]
    if plain in _STAY or plain.endswith(("ss", "us", "is")):
        return word
    if plain.endswith("ies") and len(plain) > 4:
        return word[:-3] + ("Y" if word.isupper() else "y")
    return word[:-2] if plain.endswith(_WITHOUT_ES) else word[:-1]
