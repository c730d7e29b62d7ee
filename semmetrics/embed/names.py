"""The name that a label is a form of: normalised, without article, in the singular.

Conventions
-----------
A text is normalised as the static model does it (`semmetrics.embed.static.normalise`), and an
article is left out. Then the last word is read as a plural if it is one:

- An irregular plural such as *men* is looked up in a short list.
- Of the regular singulars that are nouns of the model, the one that is nearest in the static model
  is chosen. How near it has to be depends on whether the plural is a noun itself: *shoes* is one,
  and its cosine with *shoe* is 0.90. *Glasses* has 0.74 with *glass*, and stays what it is.
- If neither the word nor a singular is a noun of the model, the singular has to be very near.

Last, two or more words are joined if only the joined word is a noun and both are near: *cell phone*
is *cellphone*.

A text of which a part cannot be read, such as a letter of another script or the signs of *C++*,
keeps its own name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from semmetrics.embed.static import StaticEmbedder, fold_accents, normalise

__all__ = ["LabelNames", "has_digit", "is_partly_read", "singulars"]

_IRREGULAR = {
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
_IRREGULAR_ENDINGS = (
    ("women", "woman"),
    ("men", "man"),
    ("children", "child"),
    ("mice", "mouse"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("geese", "goose"),
    ("i", "us"),
)
"""Plural and singular endings, used if only the singular is a noun: *snowmen*, *cacti*."""
_ARTICLES = frozenset(["a", "an", "the"])
_NO_PLURALS = frozenset(["boxers", "briefs", "leggings", "trainers", "trousers"])
_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"))
_CERTAIN_ENDINGS = ("ies", "ves")
"""A noun that replaces one of these endings needs no cosine: *currency* for *currencies*."""
_NEAR = 0.8
"""The cosine from which a noun or an unknown word is a plural, and from which words are joined."""
_LEAST = 0.3
"""The cosine from which another word is the plural of a noun: *sandals*, but not *Mars*."""
_BLOCK = 4096  # words whose singulars are compared at a time
_SIGNS = re.compile(r"[^\W_][+#]|(?:^|\s)-\d")
"""Signs that normalisation leaves out: *C++*, *C#*, *-5*."""


def has_digit(name: str) -> bool:
    """Return whether a name contains a digit, as codes and numbers do."""
    return any(character.isdigit() for character in name)


def is_partly_read(text: str) -> bool:
    """Return whether a text has letters, digits or signs that normalisation leaves out.

    Examples
    --------
    >>> [is_partly_read(text) for text in ("Crème brûlée", "#cat", "C++", "собака 1", "-5")]
    [False, False, True, True, True]
    """
    if _SIGNS.search(text):
        return True
    return not text.isascii() and any(
        c.isalnum() and not c.isascii() for c in fold_accents(text)
    )


def singulars(word: str) -> list[str]:
    """Return the singulars that a word may be the regular plural of.

    Examples
    --------
    >>> singulars("lights"), singulars("leaves"), singulars("glass")
    (['light'], ['leave', 'leav', 'leaf', 'leafe'], [])
    """
    if not word.endswith("s") or word.endswith("ss") or word in _NO_PLURALS:
        return []
    candidates = []
    for ending, singular in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            candidates.append(word.removesuffix(ending) + singular)
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
        """Return the name of each text."""
        names = [self._read(text) for text in texts]
        heads = dict.fromkeys(name.rpartition(" ")[2] for name in names)
        singular_of_head = self._find_singulars(list(heads))
        name_of = {}
        for name in dict.fromkeys(names):
            modifiers, _, head = name.rpartition(" ")
            is_phrase_with_meaning = bool(modifiers) and self._is_noun(name)
            if head in singular_of_head and not is_phrase_with_meaning:
                name_of[name] = f"{modifiers} {singular_of_head[head]}".lstrip()
            else:
                name_of[name] = name
        joined_of = self._find_joined(list(dict.fromkeys(name_of.values())))
        found = []
        for name in names:
            singular = name_of[name]
            found.append(joined_of.get(singular, singular))
        return found

    def _read(self, text: str) -> str:
        """Return a text normalised and without article, or as it is if a part cannot be read."""
        if is_partly_read(text):
            return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
        name = normalise(text)
        first, _, rest = name.partition(" ")
        if rest and first in _ARTICLES and not self._is_noun(name):
            return rest
        return name

    def _find_singulars(self, words: Sequence[str]) -> dict[str, str]:
        """Return the singular of each word that is a plural."""
        found = {}
        regular = {}
        for word in words:
            irregular = self._irregular_singular(word)
            if irregular is not None:
                found[word] = irregular
            elif candidates := singulars(word):
                regular[word] = candidates
        for word, cosines in self._compare(regular).items():
            singular = self._choose_singular(word, cosines)
            if singular is not None:
                found[word] = singular
        return found

    def _irregular_singular(self, word: str) -> str | None:
        if word in _IRREGULAR:
            return _IRREGULAR[word]
        for ending, singular in _IRREGULAR_ENDINGS:
            if word.endswith(ending):
                candidate = word.removesuffix(ending) + singular
                if self._is_noun(candidate) and not self._is_noun(word):
                    return candidate
        return None

    def _choose_singular(self, word: str, cosines: Mapping[str, float]) -> str | None:
        """Return the singular of a word among candidates with their cosines, or None."""
        is_noun = self._is_noun(word)
        nouns = [candidate for candidate in cosines if self._is_noun(candidate)]
        if nouns:
            nearest = max(nouns, key=cosines.__getitem__)
            is_certain = word.endswith(_CERTAIN_ENDINGS) and nouns != [
                word.removesuffix("s")
            ]
            if is_noun:
                is_plural = cosines[nearest] >= _NEAR
            elif is_certain:
                is_plural = True
            else:
                is_plural = cosines[nearest] >= _LEAST
            return nearest if is_plural else None
        nearest = max(cosines, key=cosines.__getitem__)
        if not is_noun and cosines[nearest] >= _NEAR:
            return nearest
        return None

    def _find_joined(self, names: Sequence[str]) -> dict[str, str]:
        """Return the joined word of each name of several words that is a noun only if joined."""
        candidates = {}
        for name in names:
            joined = name.replace(" ", "")
            if joined != name and self._is_noun(joined) and not self._is_noun(name):
                candidates[name] = [joined]
        found = {}
        for name, cosines in self._compare(candidates).items():
            (joined,) = cosines
            if cosines[joined] >= _NEAR:
                found[name] = joined
        return found

    def _compare(
        self, candidates: Mapping[str, Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        """Return the cosines of each name with its candidates in the static model."""
        names = list(candidates)
        found = {}
        for low in range(0, len(names), _BLOCK):
            block = names[low : low + _BLOCK]
            compared = []
            for name in block:
                compared += [name, *candidates[name]]
            vectors = self._static.embed(compared).vectors
            start = 0
            for name in block:
                end = start + 1 + len(candidates[name])
                products = vectors[start + 1 : end] * vectors[start]
                cosines = products.sum(axis=1, dtype=np.float64).tolist()
                found[name] = dict(zip(candidates[name], cosines, strict=True))
                start = end
        return found
