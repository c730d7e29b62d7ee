"""Tokens of the offline parser, and their features for its network.

Conventions
-----------
Tokens are Penn Treebank tokens, as far as captions need them, and keep their case.
Signs are separate tokens unless they are within a word or number. "don't" becomes "do",
"n't", and "dog's" becomes "dog", "'s". Signs that are neither punctuation nor ASCII
(emoji) are dropped. A sentence ends after ".", "!" or "?".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from zlib import crc32

BUCKETS = 4096
"""The number of buckets of hashed affixes. Bucket 0 is for tokens that are too short."""
SHAPES = 8
"""The number of shapes of tokens."""

_MAX_CACHED_WORDS = 200_000
_MAX_CHARACTERS = 40  # of a cached word, and of a token

_TITLES = "Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Ave|Blvd|Inc|Co|Corp|Ltd|vs|etc|No"
_APOSTROPHE = "['’]"
_LETTER = r"[^\W\d_]"
# The first alternative that matches makes the token.
_TOKEN = re.compile(
    "|".join(
        [
            # "can" and "not", and both parts of "don't"
            rf"can(?=not\b)|{_LETTER}+?(?=n{_APOSTROPHE}t\b)|n{_APOSTROPHE}t\b",
            rf"{_APOSTROPHE}(?:s|re|ve|ll|d|m)\b",
            # numbers such as 1,000 and 1/2, acronyms, titles, initials, "example.com"
            rf"\d+(?:[.,:/]\d+)+|(?:{_LETTER}\.){{2,}}|(?:{_TITLES})\.|\b{_LETTER}\.(?!\w)",
            rf"{_LETTER}+(?:\.{_LETTER}+)+",
            # words, also with hyphens, ampersands or slashes
            r"[oO]'clock\b|\w+(?:-\w+)+|\w+(?:&\w+)+|\w+/\w+(?:/\w+)*|\w+",
            # signs
            r"\.{2,}|-{2,}|``|''|\S",
        ]
    ),
    re.IGNORECASE,
)
_ASCII_LETTERS = re.compile(r"[A-Za-z]+")
_BRACKETS = {
    "(": "-LRB-",
    ")": "-RRB-",
    "[": "-LSB-",
    "]": "-RSB-",
    "{": "-LCB-",
    "}": "-RCB-",
}
# A bracket in a caption that was tokenized before.
_BRACKET_TOKEN = re.compile(r"-[lr][rsc]b-", re.IGNORECASE)
_DOUBLE_QUOTES = ('"', "“", "”")
_SENTENCE_ENDS = frozenset(".!?")
_CLOSING_TOKENS = frozenset(["''", "'", "-RRB-", "-rrb-"])
_DIGIT = re.compile(r"\d")

_SUFFIX_SIZES = (1, 2, 3, 4)
_PREFIX_SIZES = (2, 3)


# ---- tokens --------------------------------------------------------------------------


def cut_sentences(caption: str) -> list[list[str]]:
    """Return the tokens of each sentence of a caption. No sentence is empty.

    Examples
    --------
    >>> cut_sentences("A dog's ball (red). It isn't new!")
    [['A', 'dog', "'s", 'ball', '-LRB-', 'red', '-RRB-', '.'], ['It', 'is', "n't", 'new', '!']]
    """
    tokens: list[str] = []
    for word in caption.split():
        if len(word) <= _MAX_CHARACTERS:
            tokens.extend(_split_word_cached(word))
        else:
            tokens.extend(_split_word(word))
    if not tokens:
        return []
    if _SENTENCE_ENDS.isdisjoint(tokens[:-1]):
        return [tokens]
    sentences: list[list[str]] = [[]]
    has_ended = False
    for token in tokens:
        if has_ended and token not in _CLOSING_TOKENS:
            sentences.append([])
            has_ended = False
        sentences[-1].append(token)
        if token in _SENTENCE_ENDS:
            has_ended = True
    return sentences


def _split_word(word: str) -> tuple[str, ...]:
    """Return the tokens of a word."""
    is_plain = _ASCII_LETTERS.fullmatch(word) and word.lower() != "cannot"
    if is_plain or _BRACKET_TOKEN.fullmatch(word):
        return (word[:_MAX_CHARACTERS],)
    tokens = []
    for match in _TOKEN.finditer(word):
        token = match[0][:_MAX_CHARACTERS]
        if token in _DOUBLE_QUOTES:
            is_opening = match.start() == 0 and match.end() < len(word)
            tokens.append("``" if is_opening else "''")
        elif token in _BRACKETS:
            tokens.append(_BRACKETS[token])
        elif not _is_dropped(token):
            tokens.append(token.replace("’", "'"))
    return tuple(tokens)


_split_word_cached = lru_cache(_MAX_CACHED_WORDS)(_split_word)


def _is_dropped(token: str) -> bool:
    """Return whether a token is a sign, but not punctuation or printable ASCII."""
    if len(token) > 1 or token.isalnum():
        return False
    if token.isascii():
        return not token.isprintable()
    return not unicodedata.category(token).startswith("P")


# ---- features ------------------------------------------------------------------------


def word_form(token: str) -> str:
    """Return the form for look-ups of a token: lower case, with 0 for every digit.

    Examples
    --------
    >>> word_form("B-52s")
    'b-00s'
    """
    return _DIGIT.sub("0", token.lower())


def affixes(token: str) -> list[int]:
    """Return the buckets of the last 1 to 4 and of the first 2 and 3 characters."""
    form = word_form(token)
    buckets = []
    for size in _SUFFIX_SIZES:
        if len(form) >= size:
            buckets.append(_bucket(f"{size}{form[-size:]}"))
        else:
            buckets.append(0)
    for size in _PREFIX_SIZES:
        if len(form) > size:
            buckets.append(_bucket(f"-{size}{form[:size]}"))
        else:
            buckets.append(0)
    return buckets


def _bucket(affix: str) -> int:
    return 1 + crc32(affix.encode()) % (BUCKETS - 1)


def shape(token: str) -> int:
    """Return a number below `SHAPES` for the kinds of characters of a token.

    Examples
    --------
    >>> [shape(token) for token in ("dog", "12", ",", "3rd", "t-shirt", "Dog", "DOG", "iPod")]
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if token.isalpha():
        return _shape_by_case(token)
    if token.isdigit():
        return 1
    if not any(map(str.isalnum, token)):
        return 2
    if any(map(str.isdigit, token)):
        return 3
    if "-" in token[1:-1]:
        return 4
    return _shape_by_case(token)


def _shape_by_case(token: str) -> int:
    if token.islower():
        return 0
    rest = token[1:]
    if token[:1].isupper() and (not rest or rest.islower()):
        return 5
    if token.isupper():
        return 6
    return 7
