"""The stemmer of Porter (1980), as it was published.

Conventions
-----------
These are the rules of the paper, without the departures of later programs: words of one or two
letters are stemmed too, ``abli`` becomes ``able``, and there is no rule for ``logi``. A letter is a
vowel if it is one of a, e, i, o, u, or a y after a consonant; all else, digits and signs too, is a
consonant. No package is needed.

References
----------
Porter, 1980, An algorithm for suffix stripping, Program 14(3).
"""

from __future__ import annotations

__all__ = ["porter_stem"]


def _endings(rules: str) -> tuple[tuple[str, str], ...]:
    """Read rules ``ending:other``, or endings that are dropped."""
    return tuple((rule.partition(":")[0], rule.partition(":")[2]) for rule in rules.split())


# The longest ending that fits is tried alone, so longer ones stand before those that end them.
_STEP_1A = _endings("sses:ss ies:i ss:ss s")
_STEP_2 = _endings(
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble"
)
_STEP_3 = _endings("icate:ic ative alize:al iciti:ic ical:ic ful ness")
_STEP_4 = _endings("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize")


def porter_stem(word: str) -> str:
    """Return the stem of a word.

    Parameters
    ----------
    word : str
        Read as lower case.

    Returns
    -------
    str

    Examples
    --------
    >>> [porter_stem(word) for word in ("relational", "riding", "motorcycles", "sky")]
    ['relat', 'ride', 'motorcycl', 'sky']
    """
    word = _replace_ending(word.lower(), _STEP_1A, -1)
    word = _step_1c(_step_1b(word))
    for endings, more_than in ((_STEP_2, 0), (_STEP_3, 0), (_STEP_4, 1)):
        word = _replace_ending(word, endings, more_than)
    return _step_5b(_step_5a(word))


def _letter_kinds(word: str) -> str:
    """Return a "c" or "v" for each letter: consonant or vowel."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    """Count how often consonants follow vowels: m in [C](VC)^m[V]."""
    return _letter_kinds(stem).count("vc")


def _has_vowel(stem: str) -> bool:
    return "v" in _letter_kinds(stem)


def _is_doubled(word: str) -> bool:
    """Return whether it ends in a consonant twice (*d)."""
    return len(word) > 1 and word[-1] == word[-2] and _letter_kinds(word).endswith("c")


def _is_short(word: str) -> bool:
    """Return whether it ends in consonant, vowel, consonant, the last not w, x or y (*o)."""
    return _letter_kinds(word).endswith("cvc") and word[-1] not in "wxy"


def _replace_ending(word: str, rules: tuple[tuple[str, str], ...], more_than: int) -> str:
    """Apply the first rule whose ending the word has, if m of the stem is more than a number."""
    for ending, other in rules:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            allowed = _measure(stem) > more_than and (ending != "ion" or stem.endswith(("s", "t")))
            return stem + other if allowed else word
    return word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if stem == word or not _has_vowel(stem):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if _is_doubled(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _is_short(stem) else stem


def _step_1c(word: str) -> str:
    return f"{word[:-1]}i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _step_5a(word: str) -> str:
    if not word.endswith("e"):
        return word
    stem = word[:-1]
    m = _measure(stem)
    return stem if m > 1 or (m == 1 and not _is_short(stem)) else word


def _step_5b(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
