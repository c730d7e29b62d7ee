"""Porter's second English stemmer, in the version of METEOR 1.5.

Conventions
-----------
*Region 1* of a word begins after the first consonant that follows a vowel, or after
certain prefixes. *Region 2* is region 1 of region 1. Most suffixes are replaced only
within a region. A y at the beginning of a word or after a vowel is a consonant, and is
written as Y until the stem is found.

References
----------
Porter, 2001, The English (Porter2) stemming algorithm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

_VOWELS = "aeiouy"
_CONSONANT_Y = re.compile("^y|(?<=[aeiouy])y")
_VOWEL_AND_CONSONANT = re.compile("[aeiouy][^aeiouy]")
_LONG_PREFIX = re.compile("gener|commun|arsen")
_SHORT_SYLLABLE_AT_END = re.compile(
    "[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$"
)
_POSSESSIVE = re.compile("('s'|'s|')$")
_DOUBLE_CONSONANTS = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")

# Stems of words that the rules do not apply to.
_IRREGULAR_STEMS = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
    "sky": "sky",
    "news": "news",
    "howe": "howe",
    "atlas": "atlas",
    "cosmos": "cosmos",
    "bias": "bias",
    "andes": "andes",
}
# Words that do not change after step 1a.
_UNCHANGED_AFTER_STEP_1A = frozenset(
    [
        "inning",
        "outing",
        "canning",
        "herring",
        "earring",
        "proceed",
        "exceed",
        "succeed",
    ]
)


def _read_rules(rules: str) -> dict[str, str]:
    """Return replacements by suffix, longest first, from rules "suffix:replacement"."""
    replacements = {}
    for rule in sorted(rules.split(), key=_suffix_length, reverse=True):
        suffix, _, replacement = rule.partition(":")
        replacements[suffix] = replacement
    return replacements


def _suffix_length(rule: str) -> int:
    return len(rule.partition(":")[0])


_STEP_1B = _read_rules("eed:ee eedly:ee ed edly ing ingly")
_STEP_2 = _read_rules(
    "tional:tion enci:ence anci:ance abli:able entli:ent izer:ize ization:ize ational:ate "
    "ation:ate ator:ate alism:al aliti:al alli:al fulness:ful ousli:ous ousness:ous iveness:ive "
    "iviti:ive biliti:ble bli:ble ogi:og fulli:ful lessli:less li"
)
_STEP_3 = _read_rules(
    "tional:tion ational:ate alize:al icate:ic iciti:ic ical:ic ful ness ative"
)
_STEP_4 = _read_rules(
    "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion"
)
# One of these letters must precede the suffix.
_LETTERS_BEFORE = {"ogi": tuple("l"), "li": tuple("cdeghkmnrt"), "ion": tuple("st")}


@cache
def english_stem(word: str) -> str:
    """Return the stem of a word in lower case.

    Examples
    --------
    >>> [english_stem(word) for word in ("riding", "generously", "skies", "dog's", "apologist")]
    ['ride', 'generous', 'sky', 'dog', 'apologist']
    """
    if word in _IRREGULAR_STEMS:
        return _IRREGULAR_STEMS[word]
    if len(word) < 3:
        return word
    word = word.removeprefix("'")
    word = _CONSONANT_Y.sub("Y", word)
    prefix = _LONG_PREFIX.match(word)
    region_1 = prefix.end() if prefix else _next_region(word, 0)
    region_2 = _next_region(word, region_1)
    word = _POSSESSIVE.sub("", word)
    word = _step_1a(word)
    if word in _UNCHANGED_AFTER_STEP_1A:
        return word
    word = _step_1b(word, region_1)
    word = _step_1c(word)
    word = _replace_suffix(word, _STEP_2, region_1, region_2)
    word = _replace_suffix(word, _STEP_3, region_1, region_2)
    word = _replace_suffix(word, _STEP_4, region_2, region_2)
    word = _step_5(word, region_1, region_2)
    return word.replace("Y", "y")


def _next_region(word: str, start: int) -> int:
    """Return where the next region begins: at the end of the word if it is empty."""
    match = _VOWEL_AND_CONSONANT.search(word, start)
    return match.end() if match else len(word)


def _step_1a(word: str) -> str:
    """Remove the -s of plurals and verbs."""
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith(("us", "ss")):
        return word
    if word.endswith("s") and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _step_1b(word: str, region_1: int) -> str:
    """Remove -ed and -ing, and restore the form of the verb."""
    suffix = _find_suffix(word, _STEP_1B)
    if not suffix:
        return word
    stem = word.removesuffix(suffix)
    replacement = _STEP_1B[suffix]
    if replacement:
        return stem + replacement if len(stem) >= region_1 else word
    if not _has_vowel(stem):
        return word
    return _restore_verb(stem, region_1)


def _restore_verb(stem: str, region_1: int) -> str:
    """Return the verb of a stem without -ed or -ing: "ride" for "rid", "run" for "runn"."""
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    if stem.endswith(_DOUBLE_CONSONANTS):
        return stem[:-1]
    if len(stem) <= region_1 and _SHORT_SYLLABLE_AT_END.search(stem):
        return f"{stem}e"
    return stem


def _step_1c(word: str) -> str:
    """Replace a final y by i after a consonant that is not the first letter."""
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        return f"{word[:-1]}i"
    return word


def _replace_suffix(
    word: str, replacements: Mapping[str, str], region: int, region_2: int
) -> str:
    """Replace the longest suffix, if it is in its region (steps 2 to 4).

    The region is region 2 for "ative", and ``region`` for the other suffixes.
    """
    suffix = _find_suffix(word, replacements)
    if not suffix:
        return word
    stem = word.removesuffix(suffix)
    if suffix == "ative":
        region = region_2
    if len(stem) < region:
        return word
    if suffix in _LETTERS_BEFORE and not stem.endswith(_LETTERS_BEFORE[suffix]):
        return word
    return stem + replacements[suffix]


def _step_5(word: str, region_1: int, region_2: int) -> str:
    """Remove a final e, or one l of a final ll."""
    stem = word[:-1]
    if word.endswith("e"):
        if len(stem) >= region_2:
            return stem
        if len(stem) >= region_1 and not _SHORT_SYLLABLE_AT_END.search(stem):
            return stem
    elif word.endswith("ll") and len(stem) >= region_2:
        return stem
    return word


def _find_suffix(word: str, suffixes: Iterable[str]) -> str:
    """Return the first suffix that the word has, or an empty string."""
    for suffix in suffixes:
        if word.endswith(suffix):
            return suffix
    return ""


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word)
