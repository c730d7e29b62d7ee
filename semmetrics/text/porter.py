"""Porter's stemmer, as in his paper of 1980.

Conventions
-----------
The rules follow the paper, without the changes of later programs: words of one or two
letters are stemmed as well, ``abli`` becomes ``able``, and ``logi`` has no rule. A
vowel is one of a, e, i, o, u, or a y after a consonant. Every other character is a
consonant, including digits and signs.

The *measure* m of a stem counts how often vowels are followed by consonants:
[C](VC)^m[V].

References
----------
Porter, 1980, An algorithm for suffix stripping, Program 14(3). METEOR has a later
version of the stemmer, `semmetrics.text.porter2`.
"""

from __future__ import annotations

from collections.abc import Mapping


def _read_rules(rules: str) -> dict[str, str]:
    """Return replacements by suffix, from rules "suffix:replacement" or "suffix"."""
    replacements = {}
    for rule in rules.split():
        suffix, _, replacement = rule.partition(":")
        replacements[suffix] = replacement
    return replacements


# Only the longest suffix of a word is tried, so suffixes come before those that they
# end with.
_STEP_1A = _read_rules("sses:ss ies:i ss:ss s")
_STEP_2 = _read_rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble"
)
_STEP_3 = _read_rules("icate:ic ative alize:al iciti:ic ical:ic ful ness")
_STEP_4 = _read_rules(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
)


def porter_stem(word: str) -> str:
    """Return the stem of a word.

    Parameters
    ----------
    word : str
        Case is ignored.

    Returns
    -------
    str
        In lower case.

    Examples
    --------
    >>> [porter_stem(word) for word in ("relational", "riding", "motorcycles", "sky")]
    ['relat', 'ride', 'motorcycl', 'sky']
    """
    word = word.lower()
    word = _replace_suffix(word, _STEP_1A, min_measure=0)
    word = _step_1b(word)
    word = _step_1c(word)
    word = _replace_suffix(word, _STEP_2, min_measure=1)
    word = _replace_suffix(word, _STEP_3, min_measure=1)
    word = _replace_suffix(word, _STEP_4, min_measure=2)
    return _step_5(word)


def _replace_suffix(
    word: str, replacements: Mapping[str, str], min_measure: int
) -> str:
    """Replace the first suffix that matches, if the rest has at least this measure."""
    for suffix, replacement in replacements.items():
        if not word.endswith(suffix):
            continue
        stem = word.removesuffix(suffix)
        if _measure(stem) < min_measure:
            return word
        if suffix == "ion" and not stem.endswith(("s", "t")):
            return word
        return stem + replacement
    return word


def _step_1b(word: str) -> str:
    """Remove -ed and -ing, and restore the form of the verb."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = "ed" if word.endswith("ed") else "ing"
    stem = word.removesuffix(suffix)
    if stem == word or not _has_vowel(stem):
        return word
    return _restore_verb(stem)


def _restore_verb(stem: str) -> str:
    """Return the verb of a stem without -ed or -ing: "ride" for "rid", "run" for "runn"."""
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if _ends_with_double_consonant(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    if _measure(stem) == 1 and _is_short(stem):
        return f"{stem}e"
    return stem


def _step_1c(word: str) -> str:
    """Replace a final y by i, if there is a vowel before it."""
    if word.endswith("y") and _has_vowel(word[:-1]):
        return f"{word[:-1]}i"
    return word


def _step_5(word: str) -> str:
    """Remove a final e, then one l of a final ll."""
    if word.endswith("e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _is_short(stem)):
            word = stem
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _letter_kinds(word: str) -> str:
    """Return "c" for each consonant and "v" for each vowel."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    return _letter_kinds(stem).count("vc")


def _has_vowel(stem: str) -> bool:
    return "v" in _letter_kinds(stem)


def _ends_with_double_consonant(stem: str) -> bool:
    """Return whether a stem ends with the same consonant twice (*d in the paper)."""
    if len(stem) < 2 or stem[-1] != stem[-2]:
        return False
    return _letter_kinds(stem).endswith("c")


def _is_short(stem: str) -> bool:
    """Return whether a stem ends with consonant, vowel, consonant (not w, x, y): *o."""
    return _letter_kinds(stem).endswith("cvc") and stem[-1] not in "wxy"
