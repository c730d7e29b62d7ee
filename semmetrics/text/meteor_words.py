"""Words of captions as METEOR 1.5 splits them, and its word lists.

Conventions
-----------
The rules were found by running METEOR's program on English captions with ``-norm``. The
word lists are read from its jar, which the package pycocoevalcap contains.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from semmetrics.text.captions import one_line
from semmetrics.text.jars import open_jar
from semmetrics.text.java import METEOR_LISTS

CHECKSUMS = {
    "synonym/english.synsets": 1821968136,
    "synonym/english.exceptions": 2060711662,
    "function/english.words": 341246028,
    "nonbreaking/english.prefixes": 1317770426,
}
"""The word lists of METEOR 1.5, and their CRC-32."""

_LETTERS = "A-Za-zÀ-ÖØ-öø-žŸ\u0400-\u0527\ua640-\ua66e\ua67e-\ua697\u1d00-\u1d7f"
_HAS_LETTER = re.compile(f"[{_LETTERS}]")
_NEEDS_NO_RULE = re.compile("[a-z \n]*")
_UNUSUAL_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
# Replacements that separate words, applied in this order to all captions at once.
_REPLACEMENTS = (
    (re.compile(f"([^{_LETTERS}0-9 \n.',\\-‘’`])"), r" \1 "),
    (re.compile(r"(\.\.+)"), r" \1 "),
    (re.compile("([^0-9]),([^0-9])"), r"\1 , \2"),
    (re.compile("([0-9]),([^0-9])"), r"\1 , \2"),
    (re.compile("([^0-9]),([0-9])"), r"\1 , \2"),
    (re.compile("[`‘’]"), "'"),
    (re.compile("[“”]|''"), ' " '),
    (re.compile("–|--"), "-"),
    (re.compile(f"([{_LETTERS}0-9.])-([{_LETTERS}0-9])"), r"\1 \2"),
    (re.compile(f"([^{_LETTERS}])'([^{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([^{_LETTERS}0-9])'([{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTERS}])'([^{_LETTERS}])"), r"\1 ' \2"),
    (re.compile(f"([{_LETTERS}])'([{_LETTERS}])"), r"\1 '\2"),
    (re.compile("([0-9])'s"), r"\1 's"),
)


def normalize(captions: Sequence[str]) -> list[list[str]]:
    """Return the words of captions as METEOR splits them (``-norm``).

    Raises
    ------
    MissingDependencyError, InputError
        If a caption has a full stop, and the list of abbreviations is missing or
        damaged.

    Examples
    --------
    >>> normalize(["The man's x-ray, taken", "1,000 dogs"])
    [['the', 'man', "'s", 'x', 'ray', ',', 'taken'], ['1,000', 'dogs']]
    """
    if not captions:
        return []
    lines = map(_clean, captions)
    text = "\n".join(lines).encode("utf-8", "replace").decode()
    if not _NEEDS_NO_RULE.fullmatch(text):
        for pattern, replacement in _REPLACEMENTS:
            text = pattern.sub(replacement, text)
    abbreviations: _Abbreviations | None = None
    word_lists = []
    for line in text.split("\n"):
        words = [word for word in line.split(" ") if word]
        if "." in line:
            if abbreviations is None:
                abbreviations = _read_abbreviations()
            words = _split_full_stops(words, abbreviations)
        if not line.isprintable():
            words = _drop_unprintable_words(words)
        if not line.islower():
            words = list(map(str.lower, words))
        word_lists.append(words)
    return word_lists


def _clean(caption: str) -> str:
    """Return a caption as one line without tabs and separators of the program."""
    line = one_line(caption).replace("\t", " ").replace("|||", "")
    return f" {line} "


def _drop_unprintable_words(words: list[str]) -> list[str]:
    """Drop words that begin with an unusual space, and at both ends control characters."""
    words = [word for word in words if not _UNUSUAL_SPACE.match(word)]
    # Words that begin with a control character sort before a space.
    while words and words[-1] < " ":
        words.pop()
    while words and words[0] < " ":
        words.pop(0)
    return words


class _Abbreviations(NamedTuple):
    """Words that keep their full stop.

    Attributes
    ----------
    anywhere : set of str
    before_number : set of str
        Words that keep it only if a number follows.
    """

    anywhere: set[str]
    before_number: set[str]


def _read_abbreviations() -> _Abbreviations:
    """Read the list of abbreviations."""
    anywhere = set()
    before_number = set()
    for line in read_list("nonbreaking/english.prefixes"):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) == 1:
            anywhere.add(fields[0])
        else:
            before_number.add(fields[0])
    return _Abbreviations(anywhere, before_number)


def _split_full_stops(words: list[str], abbreviations: _Abbreviations) -> list[str]:
    """Separate full stops from the ends of words, except from abbreviations."""
    separated = []
    following_words = [*words[1:], ""]
    for word, following in zip(words, following_words, strict=True):
        stem = word[:-1]
        if not word.endswith(".") or not stem.strip("."):
            separated.append(word)
        elif "." in stem and _HAS_LETTER.search(stem):  # such as U.S.
            separated.append(word.replace(".", ""))
        elif _keeps_full_stop(stem, following, abbreviations):
            separated.append(word)
        else:
            separated.append(stem)
            separated.append(".")
    return separated


def _keeps_full_stop(stem: str, following: str, abbreviations: _Abbreviations) -> bool:
    """Return whether a word keeps its full stop before the following word."""
    if stem in abbreviations.anywhere or re.match("[a-z]", following):
        return True
    return stem in abbreviations.before_number and bool(re.match("[0-9]", following))


@cache
def read_list(name: str) -> list[str]:
    """Return the lines of a word list, read once per process.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If its jar is damaged, or is not from METEOR 1.5.
    """
    with open_jar(METEOR_LISTS) as jar:
        checksums = {listed: jar.getinfo(listed).CRC for listed in CHECKSUMS}
        for list_name, checksum in checksums.items():
            if checksum != CHECKSUMS[list_name]:
                raise ValueError(f"{list_name} is not that of METEOR 1.5")
        return jar.read(name).decode().splitlines()
