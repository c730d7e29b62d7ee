"""What all of captions share: checks, tokens as integers, stems, and raw tuples of scene graphs.

Conventions
-----------
The stemmer follows the rules of Porter's paper, without the departures of later programs: words of
one or two letters are stemmed too, ``abli`` becomes ``able``, and there is no rule for ``logi``. A
letter is a vowel if it is one of a, e, i, o, u, or a y after a consonant; all else, digits and
signs too, is a consonant.

A raw tuple of a scene graph is ``(object,)``, ``(object, attribute)`` or ``(subject, object,
relation)``, in this order of the slots.

References
----------
Porter, 1980, An algorithm for suffix stripping, Program 14(3).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Codes, Ints, offsets
from semmetrics.errors import FROM_0, InputError

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
                "wrong-type", f"caption {index}{FROM_0}", value=caption, wanted="a string"
            )


def one_line(caption: str) -> str:
    r"""Replace each line separator of a caption with a blank.

    Examples
    --------
    >>> one_line("a dog\nruns\u2028fast")
    'a dog runs fast'
    """
    return _LINE_ENDS.sub(" ", caption)


def encode_tokens(token_lists: Sequence[Sequence[str]]) -> tuple[Ints, Codes, list[str]]:
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
    table: defaultdict[str, int] = defaultdict(count().__next__)
    flat = chain.from_iterable(token_lists)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, int(indptr[-1]))
    return indptr, codes, list(table)


def check_tuples(caption: object, where: str) -> None:
    """Refuse what is not a list of raw tuples.

    Raises
    ------
    InputError
        Shows the first that is not one.
    """
    several = isinstance(caption, list | tuple)
    for raw in caption if several else [caption]:  # type: ignore[attr-defined]
        slots = raw if several and isinstance(raw, list | tuple) and 1 <= len(raw) <= 3 else [0]
        if not all(isinstance(word, str) and word.strip() for word in slots):
            raise InputError("wrong-tuples", where, value=raw)


def _endings(rules: str) -> tuple[tuple[str, str], ...]:
    """Read rules ``ending:other``, or endings that are dropped."""
    return tuple((rule.partition(":")[0], rule.partition(":")[2]) for rule in rules.split())


# The longest ending that fits is tried alone, so longer ones come before those that end them.
_STEP_1A = _endings("sses:ss ies:i ss:ss s")
_STEP_2 = _endings(
    "ational:ate tional:tion enci:ence anci:ance izer:ize abli:able alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble"
)
_STEP_3 = _endings("icate:ic ative alize:al iciti:ic ical:ic ful ness")
_STEP_4 = _endings("al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize")


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
    word = _replace_ending(word.lower(), _STEP_1A, -1)
    word = _step_1b(word)
    if word.endswith("y") and "v" in _letter_kinds(word[:-1]):  # step 1c
        word = f"{word[:-1]}i"
    for endings, more_than in ((_STEP_2, 0), (_STEP_3, 0), (_STEP_4, 1)):
        word = _replace_ending(word, endings, more_than)
    if word.endswith("e"):  # step 5a
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word  # step 5b


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


def _replace_ending(word: str, rules: tuple[tuple[str, str], ...], more_than: int) -> str:
    """Apply the first rule whose ending the word has, if m of the stem is more than a number."""
    for ending, other in rules:
        if word.endswith(ending):
            stem = word.removesuffix(ending)
            allowed = _measure(stem) > more_than and (ending != "ion" or stem.endswith(("s", "t")))
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
    if len(stem) > 1 and stem[-1] == stem[-2] and kinds.endswith("c"):  # a consonant twice (*d)
        return stem if stem[-1] in "lsz" else stem[:-1]
    return f"{stem}e" if _measure(stem) == 1 and _is_short(stem) else stem
