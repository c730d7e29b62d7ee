"""Find the names that labels are forms of: normalised, without an article, in the singular.

Conventions
-----------
A label is normalised as in the static model (`semmetrics.embed.static.normalise`), and an article
is dropped. Then the last word is replaced by its singular if it is a plural:

- An irregular plural such as *men* is looked up in a short list.
- Among the regular singulars that are nouns of the model, the nearest in the static model is
  chosen. How near it has to be depends on whether the plural is a noun itself. *Shoes* is a noun,
  and its cosine with *shoe* is 0.90. *Glasses* has 0.74 with *glass* and is not changed.
- If neither the word nor a singular is a noun of the model, the singular has to be very near.

Last, two or more words are joined if only the joined word is a noun and both are near: *cell phone*
is *cellphone*.

A label with characters that cannot be read, such as letters of another script or the signs of
*C++*, keeps its own name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from semmetrics.embed.static import StaticEmbedder, fold_accents, normalise

__all__ = ["LabelNames", "has_digit", "is_partly_read", "singulars"]

_IRREGULAR_PLURALS = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "mice": "mouse",
    "lice": "louse",
    "feet": "foot",
    "teeth": "tooth",
    "geese": "goose",
    "oxen": "ox",
}
_IRREGULAR_SUFFIXES = (
    ("women", "woman"),
    ("men", "man"),
    ("children", "child"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("geese", "goose"),
    ("i", "us"),
)
"""Plural and singular suffixes, used if only the singular is a noun: *snowmen*, *cacti*."""
_ARTICLES = frozenset(["a", "an", "the"])
_NOT_PLURALS = frozenset(["boxers", "briefs", "leggings", "trainers", "trousers"])
_REGULAR_SUFFIXES = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ves", "f"),
    ("ves", "fe"),
)
"""Plural and singular suffixes."""
_CERTAIN_SUFFIXES = ("ies", "ves")
"""A noun that replaces one of these suffixes needs no cosine: *currency* for *currencies*."""
_MIN_COSINE_OF_NOUNS = 0.8
"""The cosine from which a noun or an unknown word is a plural, and from which words are joined."""
_MIN_COSINE_OF_OTHERS = 0.3
"""The cosine from which another word is the plural of a noun: *sandals*, but not *Mars*."""
_MAX_NAMES_PER_BATCH = 4096
_DROPPED_SIGNS = re.compile(r"[^\W_][+#]|(?:^|\s)-\d")
"""Signs that normalisation drops: *C++*, *C#*, *-5*."""


def has_digit(name: str) -> bool:
    """Return whether a name contains a digit, as codes and numbers do."""
    return any(character.isdigit() for character in name)


def is_partly_read(text: str) -> bool:
    """Return whether normalisation drops letters, digits or signs of a label.

    Examples
    --------
    >>> [is_partly_read(text) for text in ("Crème brûlée", "#cat", "C++", "собака 1", "-5")]
    [False, False, True, True, True]
    """
    if _DROPPED_SIGNS.search(text):
        return True
    if text.isascii():
        return False
    return any(c.isalnum() and not c.isascii() for c in fold_accents(text))


def singulars(word: str) -> list[str]:
    """Return the singulars that a word may be the regular plural of.

    Examples
    --------
    >>> singulars("lights"), singulars("leaves"), singulars("glass")
    (['light'], ['leave', 'leav', 'leaf', 'leafe'], [])
    """
    if not word.endswith("s") or word.endswith("ss") or word in _NOT_PLURALS:
        return []
    candidates = []
    for suffix, singular_suffix in _REGULAR_SUFFIXES:
        if word.endswith(suffix) and len(word) > len(suffix) + 1:
            candidates.append(word.removesuffix(suffix) + singular_suffix)
    return candidates


class LabelNames:
    """Find the names that labels are forms of.

    Parameters
    ----------
    static : StaticEmbedder
        The model whose cosines decide.
    is_noun : callable
        Whether a normalised name has a vector of its own.
    """

    def __init__(self, static: StaticEmbedder, is_noun: Callable[[str], bool]) -> None:
        self._static = static
        self._is_noun = is_noun

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the name of each label."""
        names = [self._normalise(text) for text in texts]
        distinct_names = list(dict.fromkeys(names))
        singular_names = self._find_singular_names(distinct_names)
        distinct_singulars = list(dict.fromkeys(singular_names.values()))
        joined_names = self._find_joined(distinct_singulars)
        forms = []
        for name in names:
            singular = singular_names[name]
            forms.append(joined_names.get(singular, singular))
        return forms

    def _normalise(self, text: str) -> str:
        """Return a label normalised and without article.

        If a part of it cannot be read, only its case and spaces are normalised.
        """
        if is_partly_read(text):
            return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
        name = normalise(text)
        first, _, rest = name.partition(" ")
        if rest and first in _ARTICLES and not self._is_noun(name):
            return rest
        return name

    def _find_singular_names(self, names: Sequence[str]) -> dict[str, str]:
        """Return each name with its last word, the head, in the singular."""
        heads = dict.fromkeys(name.rpartition(" ")[2] for name in names)
        singular_heads = self._find_singulars(list(heads))
        singular_names = {}
        for name in names:
            singular_names[name] = name
            modifiers, _, head = name.rpartition(" ")
            is_phrase_with_meaning = bool(modifiers) and self._is_noun(name)
            if head in singular_heads and not is_phrase_with_meaning:
                singular_names[name] = f"{modifiers} {singular_heads[head]}".lstrip()
        return singular_names

    def _find_singulars(self, words: Sequence[str]) -> dict[str, str]:
        """Return the singular of each word that is a plural."""
        singular_of = {}
        candidates_of = {}
        for word in words:
            irregular = self._find_irregular_singular(word)
            candidates = singulars(word)
            if irregular is not None:
                singular_of[word] = irregular
            elif candidates:
                candidates_of[word] = candidates
        for word, cosines in self._compare(candidates_of).items():
            singular = self._choose_singular(word, cosines)
            if singular is not None:
                singular_of[word] = singular
        return singular_of

    def _find_irregular_singular(self, word: str) -> str | None:
        """Return the singular of an irregular plural, or None."""
        if word in _IRREGULAR_PLURALS:
            return _IRREGULAR_PLURALS[word]
        for suffix, singular_suffix in _IRREGULAR_SUFFIXES:
            if word.endswith(suffix):
                candidate = word.removesuffix(suffix) + singular_suffix
                if self._is_noun(candidate) and not self._is_noun(word):
                    return candidate
        return None

    def _choose_singular(self, word: str, cosines: Mapping[str, float]) -> str | None:
        """Return the singular of a word among candidates with their cosines, or None."""
        is_noun = self._is_noun(word)
        nouns = [candidate for candidate in cosines if self._is_noun(candidate)]
        if is_noun and not nouns:
            return None
        nearest = max(nouns or cosines, key=cosines.__getitem__)
        min_cosine = _MIN_COSINE_OF_NOUNS
        if nouns and not is_noun:
            if word.endswith(_CERTAIN_SUFFIXES) and nouns != [word.removesuffix("s")]:
                return nearest
            min_cosine = _MIN_COSINE_OF_OTHERS
        if cosines[nearest] < min_cosine:
            return None
        return nearest

    def _find_joined(self, names: Sequence[str]) -> dict[str, str]:
        """Return the joined word of each name of several words that is a noun only if joined."""
        candidates_of = {}
        for name in names:
            joined = name.replace(" ", "")
            if joined != name and self._is_noun(joined) and not self._is_noun(name):
                candidates_of[name] = [joined]
        joined_of = {}
        for name, cosines in self._compare(candidates_of).items():
            (joined,) = cosines
            if cosines[joined] >= _MIN_COSINE_OF_NOUNS:
                joined_of[name] = joined
        return joined_of

    def _compare(
        self, candidates_of: Mapping[str, Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        """Return the cosines of each name with its candidates in the static model."""
        names = list(candidates_of)
        cosines_of = {}
        for low in range(0, len(names), _MAX_NAMES_PER_BATCH):
            batch = names[low : low + _MAX_NAMES_PER_BATCH]
            compared_names = []
            for name in batch:
                compared_names.append(name)
                compared_names.extend(candidates_of[name])
            vectors = self._static.embed(compared_names).vectors
            start = 0
            for name in batch:
                candidates = candidates_of[name]
                end = start + 1 + len(candidates)
                products = vectors[start + 1 : end] * vectors[start]
                cosines = products.sum(axis=1, dtype=np.float64).tolist()
                cosines_of[name] = dict(zip(candidates, cosines, strict=True))
                start = end
        return cosines_of
