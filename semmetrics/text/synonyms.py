"""Synonyms of METEOR and word lists of SPICE, from the package pycocoevalcap.

Conventions
-----------
Synonyms come from WordNet 3.0, as METEOR 1.5 stores them. A word or phrase has the
synsets of its form and of its stem. The same number can be a synset of several parts of
speech (1740 is "entity", "breathe" and "able"), as in SPICE. The word lists of SPICE's
categories are constants of its class ``TupleFilter``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

from semmetrics.text.jars import open_jar, read_string_arrays
from semmetrics.text.java import SPICE_FILES, JavaProgram

CATEGORIES = ("Cardinality", "Color", "Size")
"""The categories of attributes that have a word list, in the order of the class."""

# Suffixes and their replacements, in the order in which they are tried.
_SUFFIX_RULES = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
)
_NO_SYNSETS: frozenset[int] = frozenset()


class SynonymTable:
    """Synsets of words and phrases.

    Parameters
    ----------
    synsets : mapping from str to str
        The numbers of each word's synsets, separated by spaces.
    exceptions : mapping from str to list of str
        The base forms of irregular forms.
    identity : str
        Identifies the synonyms in caches. If it is empty, merged graphs are not cached.

    Examples
    --------
    >>> table = SynonymTable({"car": "1 2", "ride": "3"}, {"rode": ["ride"]})
    >>> [sorted(table.synsets(word)) for word in ("Cars", "rode", "riding", "truck")]
    [[1, 2], [3], [3], []]
    """

    def __init__(
        self,
        synsets: Mapping[str, str],
        exceptions: Mapping[str, list[str]],
        identity: str = "",
    ) -> None:
        self.identity = identity
        self._synsets = synsets
        self._exceptions = exceptions

    def synsets(self, phrase: str) -> frozenset[int]:
        """Return the numbers of the synsets of a word or phrase, and of its stem."""
        form = phrase.strip().lower().replace(" ", "_")
        stems = self._stems(form)
        return self._synsets_of(form).union(*map(self._synsets_of, stems))

    def _synsets_of(self, form: str) -> frozenset[int]:
        numbers = self._synsets.get(form)
        if not numbers:
            return _NO_SYNSETS
        return frozenset(map(int, numbers.split()))

    def _stems(self, form: str) -> list[str]:
        """Return the base forms of an irregular form, or the first stem that is known."""
        if form in self._exceptions:
            return self._exceptions[form]
        if len(form) <= 2 or form.endswith("ss"):
            return [form]
        inflected = form.removesuffix("ful")
        ful = form[len(inflected) :]  # or an empty string
        for suffix, replacement in _SUFFIX_RULES:
            if inflected.endswith(suffix):
                stem = inflected.removesuffix(suffix) + replacement + ful
                if stem in self._synsets:
                    return [stem]
        return []


@cache
def open_synonyms(files: JavaProgram = SPICE_FILES) -> SynonymTable:
    """Read the synonyms, once per process.

    Parameters
    ----------
    files : JavaProgram
        The last one of its files is the jar with the synonyms.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If its jar is damaged.
    """
    with open_jar(files) as jar:
        synset_file = jar.read("synonym/english.synsets")
        exception_file = jar.read("synonym/english.exceptions")
        synset_lines = synset_file.decode().splitlines()
        exception_lines = exception_file.decode().splitlines()

    # Both files have two lines per entry: a word and its synsets, or a base form and
    # its forms.
    words = synset_lines[::2]
    synsets = dict(zip(words, synset_lines[1::2], strict=False))
    exceptions: dict[str, list[str]] = {}
    bases = exception_lines[::2]
    for base, forms in zip(bases, exception_lines[1::2], strict=False):
        for form in forms.split():
            exceptions.setdefault(form, []).append(base)
    identity = f"{_short_digest(synset_file)}-{_short_digest(exception_file)}"
    return SynonymTable(synsets, exceptions, identity)


def _short_digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=6).hexdigest()


@cache
def category_words() -> dict[str, frozenset[str]]:
    """Read the words of each category, once per process.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If its jar is damaged.
    """
    with open_jar(SPICE_FILES, 0) as jar:
        class_file = jar.read("edu/anu/spice/TupleFilter.class")
        return dict(zip(CATEGORIES, read_string_arrays(class_file), strict=True))
