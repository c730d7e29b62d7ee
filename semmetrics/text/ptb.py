"""Penn Treebank tokens as COCO's caption evaluation makes them, without Java.

The rules are our own, found by running pycocoevalcap's tokenizer (Stanford's ``PTBTokenizer``
3.4.1 with ``-preserveLines -lowerCase``, then the removal of 17 punctuation tokens) on many
strings. Tokens are lower case. Brackets are ``-lrb-``, ``-rrb-`` and so on and are *not* removed:
the list that pycocoevalcap removes has them in capitals. ``don't`` is ``do``, ``n't``.

Conventions
-----------
The tokens of a caption depend on that caption alone. A token may hold a no-break space, which the
Java program writes for a blank: ``5 1/2`` is one token. (BLEU and CIDEr of pycocoevalcap
split there again.)

Known differences from pycocoevalcap
------------------------------------
- There, a caption that ends with an initial ("a box of vitamin C.") or with an abbreviation
  of a number ("no.") loses or keeps its full stop by what the *next* caption begins with.
  ``run_on=True`` does the same; by default the stop of the initial stays (``c.``) and that of the
  number goes.
- There, the last caption of a run has no end of line, without which some rules do not match: its
  last "'s" or ":)" may come out in pieces. Here it is as any other.
- A caption with a line separator other than the line feed (carriage return, vertical tab, form
  feed, U+2028, U+2029) becomes several lines there, and every caption after it gets the tokens of
  another. Here, and in ``ptb-java``, each separator is a blank, as the line feed is in both.
- A capital sigma beside a digit or another script is "ς" or "σ" by Python's rule for the end of a
  word, which is not Java's.
- What is dropped within a caption (``&nbsp;``, a lone surrogate) leaves no empty token and raises
  no error.
- Addresses are recognised up to 255 characters before the "@" and 64 parts, and markup
  declarations (``<!...>``) up to 1,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from semmetrics.text.ptb_rules import (
    ABBREVIATION,
    BEFORE_NUMBER,
    RULES,
    SENTENCE_END,
    SPLIT,
    Rule,
)
from semmetrics.text.tokens import PUNCTUATION, check_captions, one_line

__all__ = ["PtbTokenizer", "Scanner"]

_CACHED = 200_000  # words kept with their tokens
_LONGEST = 40  # letters of a word that is kept

# A word after which the next one counts: an initial, or an abbreviation of a number.
_OPEN = rf"(?:^|[^A-Za-z]|'[A-Za-z]*)(?:[A-Za-z]|{BEFORE_NUMBER})\."
_OPEN_END = re.compile(_OPEN + "$")
# Where a token may run across a blank, or an odd blank stands.
_RUNS_ON = re.compile(rf"[^\S ]|<|[\d)] +\d|\. \.|{_OPEN} ")
# Letters and at most one sign that is removed: what most new words are, told without the rules.
_SIMPLE = re.compile(
    rf"(?!(?:{SENTENCE_END}|{ABBREVIATION}|[A-Za-z])\.|(?i:{SPLIT})(?![A-Za-z]))"
    r"([A-Za-z]+)[.,;:!?]?"
)
# A word that no word beside it can change.
_PLAIN = re.compile(r"""[A-Za-z'"(),;:!?.&/-]*""")


_Match: TypeAlias = tuple[
    Callable[[str, int], "re.Match[str] | None"], "Callable[[str], str] | None"
]


class Scanner:
    """A scanner that cuts captions into tokens by rules, the longest match first.

    Parameters
    ----------
    rules : iterable of Rule, optional
        Those of the PTB tokenizer if not given.

    Examples
    --------
    >>> Scanner().scan("The dog's ball isn't red.")
    ['the', 'dog', "'s", 'ball', 'is', "n't", 'red']
    """

    def __init__(self, rules: Iterable[Rule] = RULES) -> None:
        self._rules = [
            (re.compile(f"[{rule.starts}]"), (rule.compiled().match, rule.change)) for rule in rules
        ]
        self._by_first: dict[str, list[_Match]] = {}

    def scan(self, caption: str, following: str = "") -> list[str]:
        """Return the tokens of one caption without line separators.

        Parameters
        ----------
        caption : str
        following : str, optional
            The next line, where that is to count.
        """
        text = f"{caption}\n{following}"
        pieces = []
        place = 0
        while place < len(caption):
            piece, place = self._token(text, place)
            if piece:
                pieces.append(piece)
        if pieces:
            pieces[-1] = pieces[-1].rstrip()
        return [piece for piece in pieces if piece and piece not in PUNCTUATION]

    def _token(self, text: str, place: int) -> tuple[str, int]:
        """Return the token at a place, as it is written, and where it ends."""
        first = text[place]
        rules = self._by_first.get(first)
        if rules is None:
            rules = self._by_first[first] = [
                do for starts, do in self._rules if starts.match(first)
            ]
        longest, best, change = place, None, None
        for match, its_change in rules:
            found = match(text, place)
            if found is not None and found.end() > longest:
                longest, best, change = found.end(), found, its_change
        if best is None:
            return "", place + 1
        token = best[1] if change is None else change(best[1])
        return token.replace(" ", "\xa0").lower(), best.end(1)


class _WordTokens(dict[str, list[str]]):
    """The tokens of single words, found at their first use.

    Words that no neighbour can change are in ``plain``, too.
    """

    def __init__(self, scanner: Scanner, plain: dict[str, list[str]]) -> None:
        super().__init__()
        self._scanner, self._plain = scanner, plain

    def __missing__(self, word: str) -> list[str]:
        simple = _SIMPLE.fullmatch(word)
        found = [simple[1].lower()] if simple else self._scanner.scan(word)
        if len(word) <= _LONGEST:
            if len(self) >= _CACHED:
                self.clear()
                self._plain.clear()
            self[word] = found
            if (simple or _PLAIN.fullmatch(word)) and not _OPEN_END.search(word):
                self._plain[word] = found
        return found


class PtbTokenizer:
    """The tokenizer of the Penn Treebank rules.

    Words are looked up with their tokens once they have been seen; only captions in which a token
    may depend on its neighbours are scanned whole.

    Parameters
    ----------
    run_on : bool, optional
        Let the beginning of each caption count for the end of the one before it, as pycocoevalcap
        does; the tokens of a caption then depend on the order of the captions.

    Attributes
    ----------
    name : str
        "ptb", or "ptb-run-on".

    Examples
    --------
    >>> PtbTokenizer().tokens(["A man's hat (red).", "It cannot fly!"])
    [['a', 'man', "'s", 'hat', '-lrb-', 'red', '-rrb-'], ['it', 'can', 'not', 'fly']]
    """

    def __init__(self, *, run_on: bool = False) -> None:
        self.name = "ptb-run-on" if run_on else "ptb"
        self._run_on = run_on
        self._scanner = Scanner()
        self._plain: dict[str, list[str]] = {}
        self._alone = _WordTokens(self._scanner, self._plain)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Parameters
        ----------
        captions : sequence of str

        Returns
        -------
        list of list of str

        Raises
        ------
        InputError
            If a caption is not a string; names its index.
        """
        check_captions(captions)
        plain = self._plain
        result = []
        for caption in captions:
            try:
                result.append([token for word in caption.split(" ") for token in plain[word]])
            except KeyError:
                result.append(self._scan_unknown(caption))
        if self._run_on:
            self._rescan_ends(captions, result)
        return result

    def _scan_unknown(self, caption: str) -> list[str]:
        """Return the tokens of a caption with a word that is new or not plain."""
        caption = one_line(caption)
        if _RUNS_ON.search(caption):
            return self._scanner.scan(caption)
        alone = self._alone
        return [token for word in caption.split(" ") for token in alone[word]]

    def _rescan_ends(self, captions: Sequence[str], result: list[list[str]]) -> None:
        """Scan again the captions whose end may depend on the next caption."""
        for index in range(len(captions) - 1):
            caption = one_line(captions[index])
            if _OPEN_END.search(caption.rstrip()):
                following = one_line(captions[index + 1])
                result[index] = self._scanner.scan(caption, following + "\n")
