"""Words as the offline parser sees them: tokens, sentences, features and lemmas.

Conventions
-----------
Tokens keep their case. They are those of the Penn Treebank as far as captions need them: signs are
tokens of their own, but for those within a word or number; "don't" is "do", "n't"; "dog's" is
"dog", "'s". Signs that are neither punctuation nor ASCII (emoji) are no tokens. A sentence ends
after ".", "!" or "?".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from zlib import crc32

__all__ = ["BUCKETS", "Lemmas", "SHAPES", "WordCutter", "affixes", "shape", "word_form"]

BUCKETS = 4096
"""Of hashed affixes; 0 is that of a word that is too short for one."""
SHAPES = 8

_CACHED = 200_000  # words kept with their tokens
_LONGEST = 40  # letters of a word that is kept, and of a token

_TITLES = "Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Ave|Blvd|Inc|Co|Corp|Ltd|vs|etc|No"
_APOSTROPHE = "['’]"
_LETTER = r"[^\W\d_]"
_TOKEN = re.compile(
    "|".join(
        [
            rf"can(?=not\b)|{_LETTER}+?(?=n{_APOSTROPHE}t\b)|n{_APOSTROPHE}t\b",
            rf"{_APOSTROPHE}(?:s|re|ve|ll|d|m)\b",
            rf"\d+(?:[.,:/]\d+)+|(?:{_LETTER}\.){{2,}}|(?:{_TITLES})\.|\b{_LETTER}\.(?!\w)",
            rf"{_LETTER}+(?:\.{_LETTER}+)+",
            r"[oO]'clock\b|\w+(?:-\w+)+|\w+(?:&\w+)+|\w+/\w+(?:/\w+)*|\w+",
            r"\.{2,}|-{2,}|``|''|\S",
        ]
    ),
    re.IGNORECASE,
)
_SIMPLE = re.compile(r"[A-Za-z]+")
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_ROUND = re.compile(r"-[lr][rsc]b-", re.IGNORECASE)  # brackets of text that is in tokens already
_ENDS = frozenset(".!?")
_CLOSING = frozenset(["''", "'", "-RRB-", "-rrb-"])
_DIGIT = re.compile(r"\d")


class WordCutter:
    """Cuts captions into sentences of tokens.

    Examples
    --------
    >>> WordCutter().sentences("A dog's ball (red). It isn't new!")
    [['A', 'dog', "'s", 'ball', '-LRB-', 'red', '-RRB-', '.'], ['It', 'is', "n't", 'new', '!']]
    """

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}

    def sentences(self, caption: str) -> list[list[str]]:
        """Return the tokens of each sentence of a caption; no sentence is empty."""
        known = self._known
        tokens: list[str] = []
        for word in caption.split():
            tokens.extend(known[word] if word in known else self._cut(word))
        if _ENDS.isdisjoint(tokens[:-1]):
            return [tokens] if tokens else []
        return _split_sentences(tokens)

    def _cut(self, word: str) -> list[str]:
        if _SIMPLE.fullmatch(word) and word.lower() != "cannot":
            found = [word[:_LONGEST]]
        else:
            found = _cut_signs(word)
        if len(word) <= _LONGEST:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[word] = found
        return found


def _cut_signs(word: str) -> list[str]:
    if _ROUND.fullmatch(word):
        return [word]
    found = []
    for match in _TOKEN.finditer(word):
        token = match[0][:_LONGEST]
        if token in ('"', "“", "”"):
            token = "``" if match.start() == 0 and match.end() < len(word) else "''"
        elif len(token) == 1 and not (token.isalnum() or _is_sign(token)):
            continue
        found.append(_BRACKETS.get(token, token.replace("’", "'")))
    return found


def _is_sign(character: str) -> bool:
    if character.isascii():
        return character.isprintable()
    return unicodedata.category(character).startswith("P")


def _split_sentences(tokens: Sequence[str]) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    ended = False
    for token in tokens:
        if ended and token not in _CLOSING:
            sentences.append([])
            ended = False
        sentences[-1].append(token)
        ended = ended or token in _ENDS
    return sentences


def word_form(token: str) -> str:
    """Return what a token is looked up as: lower case, every digit a 0.

    Examples
    --------
    >>> word_form("B-52s")
    'b-00s'
    """
    return _DIGIT.sub("0", token.lower())


def affixes(token: str) -> list[int]:
    """Return the buckets of a token's last one to four and first two and three letters."""
    form = word_form(token)
    ends = [f"{size}{form[-size:]}" if len(form) >= size else "" for size in (1, 2, 3, 4)]
    starts = [f"-{size}{form[:size]}" if len(form) > size else "" for size in (2, 3)]
    return [1 + crc32(part.encode()) % (BUCKETS - 1) if part else 0 for part in ends + starts]


def shape(token: str) -> int:
    """Return a number below `SHAPES` for what a token looks like.

    Examples
    --------
    >>> [shape(token) for token in ("dog", "12", ",", "3rd", "t-shirt", "Dog", "DOG", "iPod")]
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if token.isalpha():
        return _case(token)
    if token.isdigit():
        return 1
    if not any(map(str.isalnum, token)):
        return 2
    if any(map(str.isdigit, token)):
        return 3
    return 4 if "-" in token[1:-1] else _case(token)


def _case(token: str) -> int:
    if token.islower():
        return 0
    if token[:1].isupper() and (len(token) == 1 or token[1:].islower()):
        return 5
    return 6 if token.isupper() else 7


_VOWELS = frozenset("aeiouy")


class Lemmas:
    """Dictionary forms of words.

    Parameters
    ----------
    exceptions : mapping from str to str
        ``"N wolves"``, a class of tags and a word, to its lemma where the rules give another.

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
        found = self._exceptions.get(self.key(word, tag))
        return self.by_rule(word, tag) if found is None else found

    @staticmethod
    def by_rule(word: str, tag: str) -> str:
        """Return what the rules alone give for a word in lower case."""
        kind = _word_class(tag)
        if kind == "V":
            for ending in ("ing", "ed"):
                if word.endswith(ending) and not _VOWELS.isdisjoint(word[: -len(ending)]):
                    return _restore(word[: -len(ending)])
        return _without_s(word) if kind in ("V", "N") else word


def _word_class(tag: str) -> str:
    """Return V for verbs, N for plural nouns, and the first letter in lower case for others."""
    return "V" if tag[0] == "V" else "N" if tag == "NNS" else tag[0].lower()


def _without_s(word: str) -> str:
    """Take the s of a plural or of a verb away."""
    if len(word) < 3 or not word.endswith("s") or word.endswith(("ss", "us")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("ches", "shes", "xes", "sses", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


def _restore(stem: str) -> str:
    """Restore a verb whose -ing or -ed is cut off: "rid" to "ride", "runn" to "run"."""
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiouylsz":
        return stem[:-1]
    vowels = [letter in _VOWELS for letter in stem[-3:]]
    if stem.endswith(("at", "iz", "bl", "v", "c", "u", "dg", "rg", "s")):
        return stem if stem.endswith("ss") or vowels[:2] == [True, True] else stem + "e"
    short = len(stem) == 3 and vowels == [False, True, False] and stem[2] not in "wx"
    return stem + "e" if short else stem
