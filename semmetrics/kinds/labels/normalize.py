"""Named label normalisations: what is done to a label's text before labels are compared.

Conventions
-----------
A normalisation turns one written label into its terms: one term for a plain label, several for
synonyms. The name of the normalisation is part of every signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from semmetrics.errors import InputError, listing

__all__ = ["NORMALIZATIONS", "normalization"]


def none(label: str) -> tuple[str, ...]:
    """Leave the label as it is written."""
    return (label,)


def lower(label: str) -> tuple[str, ...]:
    """Strip the white space around the label and lower its case.

    Examples
    --------
    >>> lower(" Traffic light")
    ('traffic light',)
    """
    return (label.strip().lower(),)


def kubany2020(label: str) -> tuple[str, ...]:
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


NORMALIZATIONS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "none": none,
    "lower": lower,
    "kubany2020": kubany2020,
}


def normalization(name: str) -> Callable[[str], tuple[str, ...]]:
    """The normalisation of that name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if not isinstance(name, str) or name not in NORMALIZATIONS:
        raise InputError(
            f"there is no label normalisation {name!r}",
            remedy=f"choose one of {listing(NORMALIZATIONS)}",
        )
    return NORMALIZATIONS[name]
