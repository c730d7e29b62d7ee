"""Tokenizers: captions to lists of tokens, by name or by a function of the user's own.

Conventions
-----------
A tokenizer has a ``name``, which goes into the signature, and gives the same tokens for the same
captions every time.

The stemmer follows the rules of Porter's paper (1980, An algorithm for suffix stripping, Program
14(3)), without the departures of later programs: words of one or two letters are stemmed too,
``abli`` becomes ``able``, and there is no rule for ``logi``. A letter is a vowel if it is one of a,
e, i, o, u, or a y after a consonant; all else, digits and signs too, is a consonant.

A raw tuple of a scene graph is ``(object,)``, ``(object, attribute)`` or ``(subject, object,
relation)``, in this order of the slots.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence, Sized
from contextlib import suppress
from functools import partial
from itertools import chain
from pkgutil import resolve_name
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from semmetrics.core.hashing import UNVERSIONED, own_version, qualified_name
from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.data.lists import code_values
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import brief, did_you_mean, pluralize


@runtime_checkable
class Tokenizer(Protocol):
    """The interface of a tokenizer.

    Attributes
    ----------
    name : str
        The name in the signature.
    """

    name: str

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption."""


class NamedTokenizer:
    """A tokenizer made of a name and of what gives the tokens of captions.

    Parameters
    ----------
    name : str
    run : callable
        From a list of captions to the list of the tokens of each.

    Examples
    --------
    >>> NamedTokenizer("whitespace", partial(map, str.split)).tokens(["A dog  runs."])
    [['A', 'dog', 'runs.']]
    """

    def __init__(
        self, name: str, run: Callable[[Sequence[str]], Iterable[list[str]]]
    ) -> None:
        self.name, self._run = name, run

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption.

        Raises
        ------
        InputError
            If a caption is not a string; names its index.
        """
        check_captions(captions)
        return list(self._run(captions))


_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_SIGNS = str.maketrans({sign: f" {sign} " for sign in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'})
# In this order, each over the whole caption.
_BY_DIGITS = (
    (re.compile("([^0-9])([.,])"), r"\1 \2 "),
    (re.compile("([.,])([^0-9])"), r" \1 \2"),
    (re.compile("([0-9])-"), r"\1 - "),
)


def split_13a(caption: str) -> list[str]:
    """Return the 13a tokens of mteval-v13a.pl and sacreBLEU.

    Case is kept, as sacreBLEU keeps it unless told otherwise. Only ASCII punctuation is cut off; a
    full stop or comma stays between digits.

    References
    ----------
    NIST, mteval-v13a.pl, 2009, the tokenization of Western languages; Post, "A call for clarity in
    reporting BLEU scores", 2018 (sacreBLEU's ``13a``).

    Examples
    --------
    >>> split_13a("It's 1,000.5 kg, isn't it?")
    ["It's", '1,000.5', 'kg', ',', "isn't", 'it', '?']
    """
    line = caption.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, sign in _ENTITIES:
            line = line.replace(entity, sign)
    line = f" {line} ".translate(_SIGNS)
    for pattern, spaced in _BY_DIGITS:
        line = pattern.sub(spaced, line)
    return line.split()


def _call(
    function: Callable[[str], Sequence[str]], captions: Sequence[str]
) -> list[list[str]]:
    """Return the tokens that a user's function gives for each caption.

    Raises
    ------
    InputError
        If it fails, or gives something else than a list or tuple of strings; names the caption's
        index.
    """
    try:
        result = list(map(function, captions))
    except Exception as error:
        values = {"what": f"the tokenizer {qualified_name(function)}", "why": error}
        values["remedy"] = "give a function from a caption to the list of its tokens"
        raise InputError(
            "own-code-failed", kind=type(error).__name__, **values
        ) from error
    for index, found in enumerate(result):
        if not isinstance(found, (list, tuple)) or not set(map(type, found)) <= {str}:
            where, wanted = f"caption {index}{FROM_0}", "a list of tokens (strings)"
            raise InputError("wrong-type", where, value=found, wanted=wanted)
    return list(map(list, result))


def _own_tokenizer(
    name: str, given: Any, run: Callable[[Sequence[str]], Any]
) -> NamedTokenizer:
    """Return a user's own tokenizer under a name that says what it does to some captions.

    The name has a hash of its version (the attribute ``version`` of the function or the tokenizer,
    a text) and of the tokens of captions that tell tokenizers apart; without a version it says
    "unversioned", because another tokenizer may give the same tokens. One that knows its own
    captions alone is named by its version alone.
    """
    version, tokens = own_version(given), None
    with suppress(InputError):  # it may know its own captions alone
        tokens = run(_PROBE)
    decisive = json.dumps([version or "", tokens]).encode()
    sign = f"{UNVERSIONED}-" if version is None else "@"
    return NamedTokenizer(
        f"{name}{sign}{hashlib.sha256(decisive).hexdigest()[:12]}", run
    )


_PROBE = (
    "",
    "A dog runs.",
    'Two women, a man and 3 children don\'t eat (in) the "blue-green" café!',
    "The U.S. flag costs $1,000.50 - see http://example.org/a_b?c=1 & more...",
    "10:30 a.m.: it's John's 2nd T-shirt; half/half",
)


class CachingTokenizer:
    """A tokenizer that tokenizes each caption once, however many systems are scored.

    Parameters
    ----------
    tokenizer : Tokenizer

    Examples
    --------
    >>> tokenizer = CachingTokenizer(open_tokenizer("whitespace"))
    >>> tokenizer.name, tokenizer.tokens(["a cat", "a dog", "a cat"])
    ('whitespace', [['a', 'cat'], ['a', 'dog'], ['a', 'cat']])
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[str]] = {}
        self.name: str = tokenizer.name

    def tokens(self, captions: Sequence[str]) -> list[list[str]]:
        """Return the tokens of each caption."""
        new = [text for text in dict.fromkeys(captions) if text not in self._known]
        found = self._tokenizer.tokens(new)
        check_count(f"the tokenizer {self.name}", found, new)
        self._known.update(zip(new, found, strict=True))
        return [self._known[text] for text in captions]

    def forget(self) -> None:
        """Let the tokens of all captions go."""
        self._known = {}


TOKENIZERS: dict[str, Callable[[str], list[str]] | str] = {
    "ptb": "ptb.PtbTokenizer",
    "ptb-java": "java.PtbJavaTokenizer",
    "13a": split_13a,
    "whitespace": str.split,
}
"""The tokenizers by name: a class, imported when it is needed, or what splits one caption."""


def open_tokenizer(spec: str | Tokenizer | Callable[[str], Sequence[str]]) -> Tokenizer:
    """Open a tokenizer by its name, a function or a tokenizer.

    Parameters
    ----------
    spec : {"ptb", "ptb-java", "13a", "whitespace"}, callable or Tokenizer
        "ptb": what COCO's caption evaluation does, without Java; "ptb-java": its Java program;
        "13a": as sacreBLEU; "whitespace": ``str.split``. A callable takes one caption and gives its
        tokens.

    Returns
    -------
    Tokenizer

    Raises
    ------
    InputError
        If no tokenizer has the name, or the argument is none of these.
    MissingDependencyError
        If "ptb-java" is asked for and pycocoevalcap is not installed.

    Examples
    --------
    >>> open_tokenizer("ptb").tokens(["Two dogs aren't alone."])
    [['two', 'dogs', 'are', "n't", 'alone']]
    >>> open_tokenizer(str.split).name
    'str.split@unversioned-4dc5385fd01a'
    """
    choice: Any = spec
    if isinstance(choice, str):
        if choice not in TOKENIZERS:
            remedy = did_you_mean(
                choice, TOKENIZERS, f"choose one of {', '.join(TOKENIZERS)}"
            )
            raise InputError(
                "unknown-name", what="tokenizer", value=choice, remedy=remedy
            )
        opener = TOKENIZERS[choice]
        if not isinstance(opener, str):
            return NamedTokenizer(choice, partial(map, opener))
        tokenizer: Tokenizer = resolve_name(f"semmetrics.text.{opener}")()
        return tokenizer
    if isinstance(choice, type) and hasattr(choice, "tokens"):
        choice = choice()
    if isinstance(choice, Tokenizer):
        own = type(choice).__module__.startswith("semmetrics.")
        return choice if own else _own_tokenizer(choice.name, choice, choice.tokens)
    if callable(choice):
        return _own_tokenizer(qualified_name(choice), choice, partial(_call, choice))
    wanted = f"a tokenizer: a function, or one of {', '.join(TOKENIZERS)}"
    raise InputError("wrong-type", value=choice, wanted=wanted)


RawTuple: TypeAlias = Sequence[str]
Parsed: TypeAlias = list[list[str]]

# The PTB tokens that pycocoevalcap removes, in its capitals.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", "--", "...", *".?!,:-;"]
)
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\u2028\u2029]")


def check_captions(captions: Sequence[str]) -> None:
    """Refuse captions that are not strings.

    Raises
    ------
    InputError
        If the captions are one string, or one of them is not a string; names its index.

    Examples
    --------
    >>> check_captions(["a dog", None])
    Traceback (most recent call last):
    semmetrics.errors.InputError: caption 1 (from 0): None is None, not a string
    """
    if isinstance(captions, str):
        raise InputError("wrong-type", value=captions, wanted="a list of captions")
    if set(map(type, captions)) <= {str}:
        return
    for index, caption in enumerate(captions):
        if not isinstance(caption, str):
            raise InputError(
                "wrong-type",
                f"caption {index}{FROM_0}",
                value=caption,
                wanted="a string",
            )


def check_count(where: str, found: Sized, captions: Sized) -> None:
    """Refuse another number of lists than of captions."""
    if len(found) != len(captions):
        counts = pluralize(len(found), "list"), pluralize(len(captions), "caption")
        raise InputError("wrong-count", where, found=counts[0], wanted=counts[1])


def one_line(caption: str) -> str:
    r"""Replace each line separator of a caption with a blank.

    Examples
    --------
    >>> one_line("a dog\nruns\u2028fast")
    'a dog runs fast'
    """
    return _LINE_ENDS.sub(" ", caption)


def encode_tokens(
    token_lists: Sequence[Sequence[str]],
) -> tuple[Ints, Codes, list[str]]:
    """Code tokens by their first occurrence.

    Parameters
    ----------
    token_lists : sequence of sequence of str

    Returns
    -------
    indptr : array, shape (captions + 1,), int64
        Caption ``i`` has the codes ``codes[indptr[i]:indptr[i + 1]]``.
    codes : array, shape (tokens,), int32
        Places in the vocabulary.
    vocabulary : list of str
        The distinct tokens in order of first occurrence.

    Examples
    --------
    >>> indptr, codes, vocabulary = encode_tokens([["a", "dog"], [], ["dog", "a", "cat"]])
    >>> indptr.tolist(), codes.tolist(), vocabulary
    ([0, 2, 2, 5], [0, 1, 1, 0, 2], ['a', 'dog', 'cat'])
    """
    indptr = offsets(np.fromiter(map(len, token_lists), np.int64, len(token_lists)))
    vocabulary, codes = code_values(chain.from_iterable(token_lists), int(indptr[-1]))
    return indptr, codes, vocabulary


def check_tuples(caption: object, where: str) -> None:
    """Refuse what is not a list of raw tuples.

    Raises
    ------
    InputError
        Shows the first that is not one.
    """
    several = isinstance(caption, list | tuple)
    for raw in caption if several else [caption]:  # type: ignore[attr-defined]
        slots = (
            raw
            if several and isinstance(raw, list | tuple) and 1 <= len(raw) <= 3
            else [0]
        )
        if not all(isinstance(word, str) and word.strip() for word in slots):
            raise InputError(
                "wrong-content",
                where,
                value=brief(raw),
                wanted="a tuple of a scene graph",
                example='["dog"] or ["dog", "small"]',
            )


def _endings(rules: str) -> tuple[tuple[str, str], ...]:
    """Read rules ``ending:other``, or endings that are dropped."""
    return tuple(
        (rule.partition(":")[0], rule.partition(":")[2]) for rule in rules.split()
    )


# The longest ending that fits is tried alone, so longer ones come before those that end them.
_STEP_1A = _endings("sses:ss ies:i ss:ss s")
_STEP_2 = _endings(
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble"
)
_STEP_3 = _endings("icate:ic ative alize:al iciti:ic ical:ic ful ness")
_STEP_4 = _endings(
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
)


def porter_stem(word: str) -> str:
    """Return the stem of a word.

    Parameters
    ----------
    word : str
        Read as lower case.

    Returns
    -------
    str

    Examples
    --------
    >>> [porter_stem(word) for word in ("relational", "riding", "motorcycles", "sky")]
    ['relat', 'ride', 'motorcycl', 'sky']
    """
    word = _step_1b(_replace_ending(word.lower(), _STEP_1A, -1))
    if word.endswith("y") and "v" in _letter_kinds(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    for endings, more_than in ((_STEP_2, 0), (_STEP_3, 0), (_STEP_4, 1)):
        word = _replace_ending(word, endings, more_than)
    if word.endswith("e"):  # step 5a
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    # step 5b
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _letter_kinds(word: str) -> str:
    """Return a "c" or "v" for each letter: consonant or vowel."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    """Count how often consonants follow vowels: m in [C](VC)^m[V]."""
    return _letter_kinds(stem).count("vc")


def _is_short(word: str) -> bool:
    """Return whether it ends in consonant, vowel, consonant, the last not w, x or y (*o)."""
    return _letter_kinds(word).endswith("cvc") and word[-1] not in "wxy"


def _replace_ending(
    word: str, rules: tuple[tuple[str, str], ...], more_than: int
) -> str:
    """Apply the first rule whose ending the word has, if m of the stem is more than a number."""
    for ending, other in rules:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            allowed = _measure(stem) > more_than and (
                ending != "ion" or stem.endswith(("s", "t"))
            )
            return stem + other if allowed else word
    return word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    stem = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if stem == word or "v" not in (kinds := _letter_kinds(stem)):
        return word
    if stem.endswith(("at", "bl", "iz")):
        return f"{stem}e"
    # a consonant twice (*d)
    if len(stem) > 1 and stem[-1] == stem[-2] and kinds.endswith("c"):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _is_short(stem) else stem
