"""Lookup rules: from a label's term to the words of a vocabulary that may stand for it.

Conventions
-----------
A rule gives candidates in the order in which they are tried; the first that the vocabulary has is
taken. Rules know nothing of vectors.
"""

from __future__ import annotations

import re

from semmetrics.embed.function_words import FUNCTION_WORDS

__all__ = ["exact", "kubany2020", "kubany2020_cleaned", "words", "words_in"]

_REMOVED = str.maketrans("", "", "-%#@!?.,/\\\"'[]()")
_LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z empty"
# What NLTK's word tokenisation takes apart among words without punctuation.
_TAKEN_APART = {
    "cannot": ("can", "not"), "gimme": ("gim", "me"), "gonna": ("gon", "na"),
    "gotta": ("got", "ta"), "lemme": ("lem", "me"), "wanna": ("wan", "na"),
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


def kubany2020_cleaned(term: str) -> str:
    """Drop the characters and function words that the paper's code drops; "" is passed over.

    Examples
    --------
    >>> [kubany2020_cleaned(term) for term in ("parking_meter", "t-shirt", "the", "x")]
    ['parking_meter', 'tshirt', '', '']
    """
    kept = [
        part
        for token in term.translate(_REMOVED).split()
        for part in _TAKEN_APART.get(token.lower(), (token,))
        if part not in FUNCTION_WORDS
    ]
    cleaned = " ".join(kept)
    return "" if cleaned in _LETTERS else cleaned


def kubany2020(term: str) -> tuple[str, ...]:
    """Words tried for a term by Kubany et al. 2020 (footnote 9, and their code).

    The term, the term without every ``a_``, the term without every ``the_``; each as it is, without
    underscores, and in title case.

    Examples
    --------
    >>> kubany2020("parking_meter")[:3]
    ('parking_meter', 'parkingmeter', 'Parking_Meter')
    >>> kubany2020("on_the_road")[6:]
    ('on_road', 'onroad', 'On_Road')
    """
    cleaned = kubany2020_cleaned(term)
    if not cleaned:
        return ()
    forms = (cleaned, cleaned.replace("a_", ""), cleaned.replace("the_", ""))
    return tuple(tried for form in forms for tried in (form, form.replace("_", ""), form.title()))


def exact(term: str) -> tuple[str, ...]:
    """Words tried for a term where the vocabulary lists whole labels.

    As it is, with underscores as blanks, with blanks as underscores; then all in lower case.

    Examples
    --------
    >>> exact("Traffic_light")[:3]
    ('Traffic_light', 'Traffic light', 'traffic_light')
    """
    forms = (term, term.replace("_", " "), term.replace(" ", "_"))
    return tuple(dict.fromkeys((*forms, *(form.lower() for form in forms))))


def words(term: str) -> tuple[str, ...]:
    """Words tried for a whole term: blanks as underscores, as written; lower case; title case.

    Examples
    --------
    >>> words("traffic light")
    ('traffic_light', 'traffic light', 'Traffic_Light', 'Traffic Light')
    """
    joined = "_".join(term.split())
    return tuple(
        dict.fromkeys((joined, term, joined.lower(), term.lower(), joined.title(), term.title()))
    )


def words_in(term: str) -> list[tuple[str, ...]]:
    """The words of a term, each as it is, in lower case and in title case.

    Examples
    --------
    >>> words_in("T-shirt & tie")
    [('T', 't'), ('shirt', 'Shirt'), ('tie', 'Tie')]
    """
    return [
        tuple(dict.fromkeys((word, word.lower(), word.title()))) for word in _WORD.findall(term)
    ]
