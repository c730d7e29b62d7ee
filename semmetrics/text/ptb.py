r"""Penn Treebank tokens as in COCO's caption evaluation, without Java.

The tokenizer imitates pycocoevalcap's: Stanford's ``PTBTokenizer`` 3.4.1 with
``-preserveLines -lowerCase``, then the removal of 17 punctuation tokens. Tokens are in
lower case. Brackets become ``-lrb-``, ``-rrb-`` and so on and are *not* removed,
because pycocoevalcap's list has them in capitals. ``don't`` becomes ``do``, ``n't``.

Conventions
-----------
The tokens of a caption depend on that caption only. A token may contain a no-break
space, which the Java program writes for a space: ``5 1/2`` is one token. (BLEU and
CIDEr of pycocoevalcap split it again.)

At each position the rule with the longest match makes the token, and the first one of
equally long matches. What must follow a token counts in the length of the match but is
not part of the token. The end of a caption is ``"\n"``, which no token contains.
`semmetrics.text.ptb_rules` has the rules.

Known differences from pycocoevalcap
------------------------------------
- There, if a caption ends with an initial ("a box of vitamin C.") or with an
  abbreviation of a number ("no."), the *next* caption decides whether it keeps its full
  stop. ``run_on=True`` does the same. By default an initial keeps its full stop
  (``c.``) and the abbreviation loses it.
- There, the last caption of a run has no end of line, without which some rules do not
  match: "'s" or ":)" at its end may be split. Here it is tokenized as any other
  caption.
- A caption with a line separator other than the line feed (carriage return, vertical
  tab, form feed, U+2028, U+2029) becomes several lines there, and every later caption
  gets the tokens of another one. Here, and in ``ptb-java``, each separator becomes a
  space, as the line feed does in both.
- A capital sigma next to a digit or another script becomes "ς" or "σ" by Python's rule
  for the end of a word, which differs from Java's.
- Parts of a caption that are dropped (``&nbsp;``, a lone surrogate) leave no empty
  token and raise no error.
- Addresses are recognised up to 255 characters before the "@" and 64 parts, and markup
declarations (``<!...>``) up to 1,000 characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from semmetrics.text.captions import check_captions, one_line
from semmetrics.text.ptb_rules import (
    ABBREVIATION,
    BEFORE_NUMBER,
    PUNCTUATION,
    RULES,
    SENTENCE_END,
    SPLIT_WORD,
    Rule,
)

_MAX_CACHED_WORDS = 200_000
_MAX_LETTERS_OF_CACHED_WORD = 40
_MAX_CACHED_CHARACTERS = 1 << 16

# A word that the next one can change: an initial, or an abbreviation of a number.
_OPEN_WORD = rf"(?:^|[^A-Za-z]|'[A-Za-z]*)(?:[A-Za-z]|{BEFORE_NUMBER})\."
_OPEN_END = re.compile(_OPEN_WORD + "$")
# A caption that must be scanned as a whole, because a token may contain a space or depend
# on the next word, or because it has an unusual space.
_NEEDS_WHOLE_SCAN = re.compile(rf"[^\S ]|<|[\d)] +\d|\. \.|{_OPEN_WORD} ")
# Letters and at most one punctuation sign, which is removed: most words, without a need
# for rules.
_SIMPLE_WORD = re.compile(
    rf"(?!(?:{SENTENCE_END}|{ABBREVIATION}|[A-Za-z])\.|(?i:{SPLIT_WORD})(?![A-Za-z]))"
    r"([A-Za-z]+)[.,;:!?]?"
)
# A word that no neighbouring word can change, unless its end is open.
_CONTEXT_FREE_WORD = re.compile(r"""[A-Za-z'"(),;:!?.&/-]*""")


class _CompiledRule(NamedTuple):
    """A rule ready to be applied: group 1 of a match is the token."""

    match: Callable[[str, int], re.Match[str] | None]
    normalize: Callable[[str], str] | None


@cache
def _compile_rule(rule: Rule) -> _CompiledRule:
    pattern = re.compile(f"({rule.token})(?:{rule.follow})", re.ASCII)
    return _CompiledRule(pattern.match, rule.normalize)


@cache
def _compile_first(first: str) -> re.Pattern[str]:
    return re.compile(f"[{first}]")


@lru_cache(_MAX_CACHED_CHARACTERS)
def _rules_for(first: str) -> list[_CompiledRule]:
    """Return the rules of tokens that may start with a character.

    Rules are compiled at their first use, once per process.
    """
    rules = []
    for rule in RULES:
        if _compile_first(rule.first).match(first):
            rules.append(_compile_rule(rule))
    return rules


def _find_token(text: str, position: int) -> tuple[re.Match[str], _CompiledRule] | None:
    """Return the longest match at a position and its rule, or None."""
    longest_end = position
    longest_match = None
    for rule in _rules_for(text[position]):
        match = rule.match(text, position)
        if match is not None and match.end() > longest_end:
            longest_end = match.end()
            longest_match = (match, rule)
    return longest_match


def scan_caption(caption: str, next_line: str = "") -> list[str]:
    """Return the tokens of a caption by the rules.

    Parameters
    ----------
    caption : str
        Without line separators.
    next_line : str, optional
        The next caption, if it may change the end of this one.

    Examples
    --------
    >>> scan_caption("The dog's ball isn't red.")
    ['the', 'dog', "'s", 'ball', 'is', "n't", 'red']
    """
    text = f"{caption}\n{next_line}"
    tokens = []
    position = 0
    while position < len(caption):
        match_and_rule = _find_token(text, position)
        if match_and_rule is None:
            position += 1
            continue
        match, rule = match_and_rule
        token = match[1]
        if rule.normalize is not None:
            token = rule.normalize(token)
        if token:
            tokens.append(token.replace(" ", "\xa0").lower())
        position = match.end(1)
    if tokens:
        tokens[-1] = tokens[-1].rstrip()
    return [token for token in tokens if token and token not in PUNCTUATION]


class _WordTokens(dict[str, list[str]]):
    """The tokens of single words, computed and cached at the first access.

    Attributes
    ----------
    context_free : dict of str to list of str
        The cached words that no neighbouring word can change.
    """

    def __init__(self) -> None:
        super().__init__()
        self.context_free: dict[str, list[str]] = {}

    def __missing__(self, word: str) -> list[str]:
        simple_word = _SIMPLE_WORD.fullmatch(word)
        tokens = [simple_word[1].lower()] if simple_word else scan_caption(word)
        if len(word) > _MAX_LETTERS_OF_CACHED_WORD:
            return tokens
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
            self.context_free.clear()
        self[word] = tokens
        may_be_context_free = simple_word or _CONTEXT_FREE_WORD.fullmatch(word)
        if may_be_context_free and not _OPEN_END.search(word):
            self.context_free[word] = tokens
        return tokens


class PtbTokenizer:
    """The tokenizer of the Penn Treebank rules.

    The tokens of words are cached. Only a caption in which a token may depend on
    neighbouring words is scanned as a whole.

    Parameters
    ----------
    run_on : bool, optional
        Whether the beginning of the next caption can change the end of a caption, as in
        pycocoevalcap. The tokens of a caption then depend on the order of the captions.

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
        self.name = "ptb"
        if run_on:
            self.name = "ptb-run-on"
        self._run_on = run_on
        self._word_tokens = _WordTokens()

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
            If a caption is not a string. The message has its index.
        """
        check_captions(captions)
        token_lists = list(map(self._tokenize, captions))
        if self._run_on:
            self._rescan_open_ends(captions, token_lists)
        return token_lists

    def _tokenize(self, caption: str) -> list[str]:
        """Return the tokens of a caption, from cached words if possible."""
        tokens_of_word = self._word_tokens.context_free
        tokens = []
        try:
            for word in caption.split(" "):
                tokens.extend(tokens_of_word[word])
        except KeyError:  # a word is new, or may depend on its neighbours
            return self._tokenize_line(one_line(caption))
        return tokens

    def _tokenize_line(self, line: str) -> list[str]:
        """Return the tokens of a caption without line separators."""
        if _NEEDS_WHOLE_SCAN.search(line):
            return scan_caption(line)
        tokens = []
        for word in line.split(" "):
            tokens.extend(self._word_tokens[word])
        return tokens

    def _rescan_open_ends(
        self, captions: Sequence[str], token_lists: list[list[str]]
    ) -> None:
        """Replace the tokens of captions whose end depends on the next caption."""
        for index in range(len(captions) - 1):
            line = one_line(captions[index])
            if _OPEN_END.search(line.rstrip()):
                next_line = one_line(captions[index + 1]) + "\n"
                token_lists[index] = scan_caption(line, next_line)
