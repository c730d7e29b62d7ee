"""Word lists of the package pycocoevalcap, read from its jars without Java.

Conventions
-----------
Synonyms are those of WordNet 3.0 as METEOR 1.5 keeps them. A word or phrase has the synsets of its
form and of its stem. Numbers of synsets collide between parts of speech (1740 is "entity",
"breathe" and "able"), as they do in SPICE. The word lists of SPICE's categories are the constants
of its own class.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from semmetrics.errors import InputError
from semmetrics.text.java import SPICE_FILES, JavaProgram

CATEGORIES = ("Cardinality", "Color", "Size")
"""The categories of attributes that have a list of words, in the order of the class."""

_DAMAGED = (
    OSError,
    LookupError,
    ValueError,
    EOFError,
    RuntimeError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)

# Endings and what takes their place, in the order in which they are tried.
_RULES = tuple(
    rule.split("-")
    for rule in (
        *("s-", "ses-s", "xes-x", "zes-z", "ches-ch", "shes-sh", "men-man", "ies-y"),
        *(
            "es-e",
            "es-",
            "ed-e",
            "ed-",
            "ing-e",
            "ing-",
            "er-",
            "est-",
            "er-e",
            "est-e",
        ),
    )
)
_NONE: frozenset[int] = frozenset()

# Of a Java class: tags of constants, their sizes, and how one string is put into an array.
_UTF8, _STRING, _DOUBLE = 1, 8, (5, 6)
_SIZES = {
    1: 2,
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    18: 4,
}
_ELEMENT = rb"\x59(?:[\x03-\x08]|\x10.)(?:\x12(.)|\x13(..))\x53"


class SynonymTable:
    """Synsets of words and phrases.

    Parameters
    ----------
    synsets : mapping from str to str
        The numbers of each word's synsets, separated by blanks.
    exceptions : mapping from str to list of str
        The bases of irregular forms.
    identity : str
        Which synonyms they are; "" if it is not known, and then no merged graph is kept.

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
        self._synsets, self._exceptions, self.identity = synsets, exceptions, identity

    def synsets(self, phrase: str) -> frozenset[int]:
        """Return the numbers of the synsets of a word or phrase and of its stem."""
        form = phrase.strip().lower().replace(" ", "_")
        return self._of(form).union(*map(self._of, self._stems(form)))

    def _of(self, form: str) -> frozenset[int]:
        numbers = self._synsets.get(form)
        return frozenset(map(int, numbers.split())) if numbers else _NONE

    def _stems(self, form: str) -> list[str]:
        """Return the bases of an irregular form, or the one that a rule gives."""
        if form in self._exceptions:
            return self._exceptions[form]
        if len(form) <= 2 or form.endswith("ss"):
            return [form]
        rest, kept = (form[:-3], "ful") if form.endswith("ful") else (form, "")
        for ending, instead in _RULES:
            if rest.endswith(ending):
                stem = rest[: len(rest) - len(ending)] + instead + kept
                if stem in self._synsets:
                    return [stem]
        return []


@cache
def open_synonyms(files: JavaProgram = SPICE_FILES) -> SynonymTable:
    """Read the synonyms, once a process.

    Parameters
    ----------
    files : JavaProgram
        The last jar of its files has them.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap, which brings them, is not installed.
    InputError
        If its jar is damaged.
    """
    with open_jar(files) as jar:
        lists = [
            jar.read(f"synonym/english.{name}") for name in ("synsets", "exceptions")
        ]
        words, forms = (data.decode().splitlines() for data in lists)
    exceptions: dict[str, list[str]] = {}
    for base, inflected in zip(forms[::2], forms[1::2], strict=False):
        for form in inflected.split():
            exceptions.setdefault(form, []).append(base)
    synsets = dict(zip(words[::2], words[1::2], strict=False))
    hashes = (hashlib.blake2b(data, digest_size=6).hexdigest() for data in lists)
    return SynonymTable(synsets, exceptions, "-".join(hashes))


@cache
def category_words() -> dict[str, frozenset[str]]:
    """Read the words of each category, once a process.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap, which brings them, is not installed.
    InputError
        If its jar is damaged.
    """
    with open_jar(SPICE_FILES, 0) as jar:
        data = jar.read("edu/anu/spice/TupleFilter.class")
        return dict(zip(CATEGORIES, _arrays(data), strict=True))


@contextmanager
def open_jar(files: JavaProgram, number: int = -1) -> Iterator[zipfile.ZipFile]:
    """Open a jar to read, the last one of a program's files; name it if it is damaged.

    Raises
    ------
    MissingDependencyError, InputError
        If it is not there, is damaged, or what is read from it.
    """
    path = files.folder_of_files() / files.files[number]
    try:
        with zipfile.ZipFile(path) as jar:
            yield jar
    except _DAMAGED as error:
        raise InputError("damaged-package", path, why=error) from error


def _arrays(data: bytes) -> Iterator[frozenset[str]]:
    """Yield the arrays of string constants that a Java class is made with.

    References
    ----------
    The Java Virtual Machine Specification, section 4.4 (constants) and chapter 6 (instructions).
    """
    texts, strings = dict[int, str](), dict[int, int]()  # by the numbers of constants
    place, number, count = 10, 1, int.from_bytes(data[8:10], "big")
    while number < count:
        tag, value = data[place], int.from_bytes(data[place + 1 : place + 3], "big")
        if tag == _UTF8:
            texts[number] = data[place + 3 : place + 3 + value].decode()
            place += value
        elif tag == _STRING:
            strings[number] = value
        place += 1 + _SIZES[tag]
        number += 2 if tag in _DOUBLE else 1
    for array in re.finditer(b"(?:%b)+" % _ELEMENT, data[place:], re.DOTALL):
        found = re.finditer(_ELEMENT, array[0], re.DOTALL)
        numbers = (int.from_bytes(one[1] or one[2], "big") for one in found)
        yield frozenset(texts[strings[number]] for number in numbers)
