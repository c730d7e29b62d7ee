"""Write numbers of things: "1 item", "2,000 categories"."""

from __future__ import annotations

from collections.abc import Collection

_SIBILANTS = ("s", "x", "z", "ch", "sh")
_VOWELS = "aeiou"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> plural("query"), plural("array"), plural("class"), plural("match"), plural("image")
    ('queries', 'arrays', 'classes', 'matches', 'images')
    """
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    if noun.endswith(_SIBILANTS):
        return f"{noun}es"
    return f"{noun}s"


def pluralize(number: float, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> pluralize(1, "item"), pluralize(2000, "category"), pluralize(2, "key")
    ('1 item', '2,000 categories', '2 keys')
    """
    if number != 1:
        noun = plural(noun)
    return f"{number:,} {noun}"


def counted(things: Collection[object], noun: str) -> str:
    """Return the size of a collection with its noun.

    Examples
    --------
    >>> counted([7], "row"), counted([7, 8], "row")
    ('1 row', '2 rows')
    """
    return pluralize(len(things), noun)
