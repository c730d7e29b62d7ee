"""Lemmas of English words, by rules and exceptions.

Conventions
-----------
Words have *classes* by their tags: V for verbs, N for plural nouns, and the first
letter of the tag in lower case for others.
"""

from __future__ import annotations

from collections.abc import Mapping

_VOWELS = frozenset("aeiouy")
_SUFFIXES_WITH_ES = ("ches", "shes", "xes", "sses", "zzes", "oes")
_ENDS_BEFORE_E = ("at", "iz", "bl", "v", "c", "u", "dg", "rg", "s")


class Lemmas:
    """Dictionary forms of words.

    Parameters
    ----------
    exceptions : mapping from str to str
        The lemma of words for which the rules return another. Keys have the class and
        the word: ``"N wolves"``.

    Examples
    --------
    >>> lemmas = Lemmas({"N wolves": "wolf"})
    >>> for word, tag in [("Wolves", "NNS"), ("dishes", "NNS"), ("riding", "VBG"), ("red", "JJ")]:
    ...     print(lemmas.of(word, tag))
    wolf
    dish
    ride
    red
    """

    def __init__(self, exceptions: Mapping[str, str]) -> None:
        self._exceptions = exceptions

    @staticmethod
    def key(word: str, tag: str) -> str:
        """Return the key of a word in lower case among the exceptions."""
        return f"{_word_class(tag)} {word}"

    def of(self, word: str, tag: str) -> str:
        """Return the lemma of a word with a tag, in lower case."""
        word = word.lower()
        lemma = self._exceptions.get(self.key(word, tag))
        if lemma is None:
            return self.by_rule(word, tag)
        return lemma

    @staticmethod
    def by_rule(word: str, tag: str) -> str:
        """Return the lemma of a word in lower case by the rules only."""
        word_class = _word_class(tag)
        if word_class == "V":
            for suffix in ("ing", "ed"):
                stem = word.removesuffix(suffix)
                if stem != word and not _VOWELS.isdisjoint(stem):
                    return _restore_verb(stem)
        if word_class in ("V", "N"):
            return _remove_s(word)
        return word


def _word_class(tag: str) -> str:
    """Return the class of words with a tag."""
    if tag[0] == "V":
        return "V"
    if tag == "NNS":
        return "N"
    return tag[0].lower()


def _remove_s(word: str) -> str:
    """Return a word without the -s of a plural or verb."""
    if len(word) < 3 or not word.endswith("s") or word.endswith(("ss", "us")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(_SUFFIXES_WITH_ES):
        return word[:-2]
    return word[:-1]


def _restore_verb(stem: str) -> str:
    """Return the verb of a stem without -ing or -ed: "ride" for "rid", "run" for "runn"."""
    if stem.endswith("i"):
        return stem[:-1] + "y"
    has_double_letter = len(stem) > 2 and stem[-1] == stem[-2]
    if has_double_letter and stem[-1] not in "aeiouylsz":
        return stem[:-1]
    if _needs_e(stem):
        return stem + "e"
    return stem


def _needs_e(stem: str) -> bool:
    """Return whether the verb of a stem ends with an e."""
    is_vowel = [letter in _VOWELS for letter in stem[-3:]]
    if stem.endswith(_ENDS_BEFORE_E):
        has_two_vowels = is_vowel[:2] == [True, True]
        return not stem.endswith("ss") and not has_two_vowels
    is_short = len(stem) == 3 and is_vowel == [False, True, False]
    return is_short and stem[2] not in "wx"
