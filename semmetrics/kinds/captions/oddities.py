"""Observe captions that are probably mistakes, and make notes of the observations.

Examples are captions that look like labels, swapped sides, marks of other programs in captions, and
several references in one caption.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from semmetrics.core.ragged import Codes
from semmetrics.data.join import Joined
from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.errors import Fact
from semmetrics.kinds import note_builders, side_observations

_SPECIAL_TOKEN = re.compile(
    r"[<\[]\|?/?(?:start|end|s|sos|eos|bos|pad|unk|cls|sep|mask|startoftext|endoftext|im_start"
    r"|im_end|begin_of_text|end_of_text|eot_id)\|?[>\]]|\b(?:startseq|endseq)\b",
    re.IGNORECASE,
)
"""Marks that tokenizers and decoders of models put into captions."""
_PREFIX = re.compile(r"[A-Za-z][\w ]{0,30}:(?= )")
_NUMBER = re.compile(r"\d+[.)] ")
_BYTES = re.compile(r"b(['\"]).*\1", re.DOTALL)
_SUBWORDS = {
    "@@": re.compile(r"\w@@(?: |$)"),
    "##": re.compile(r"\w ##\w"),
    "\u2581": re.compile("\u2581"),
    "\u0120": re.compile("\\w\u0120\\w"),
}
"""The marks of subwords in BPE, WordPiece, SentencePiece and GPT-2, and how they are used."""
_SEPARATORS = ("\n", "|||", " | ", "#", "; ")
_MIN_SHARE_WITH_SEPARATOR = 0.8
"""The smallest share of references with a separator at which they look joined."""
_MAX_WORDS_OF_LABEL = 1.5
"""The mean number of words below which captions look like labels."""
_CAPTIONS_PER_BLOCK = 256
"""The number of captions after which counting words may stop."""

_SPECIAL = "special tokens"
_SUBWORD = "subwords"
_JOINED = "joined references"
_REFERENCES = "references"


def find_oddities(candidates: Lists, references: Lists, joined: Joined) -> Observations:
    """Observe probable mistakes in the joined captions of both sides."""
    observations = side_observations.observe_swapped_sides(candidates, references)
    sides = {"pred": (candidates, joined.pred), "ref": (references, joined.ref)}
    for name, (lists, side) in sides.items():
        n_words, n_captions = count_words(lists, side.codes)
        if n_words:
            observations.merge(
                side_observations.observe_words(name, n_words, n_captions)
            )
        observations.merge(find_marks(name, lists, side.codes))
    observations.merge(find_joined(references, joined.ref.codes))
    pred_sizes = joined.pred.sizes
    has_several_each = len(pred_sizes) > 0 and pred_sizes.min() > 1
    if has_several_each and joined.ref.sizes.max() == 1:
        observations.count(side_observations.SWAPPED, 1, "several")
    return observations


def count_words(lists: Lists, codes: Codes) -> tuple[int, int]:
    """Count the words and the captions of a side, if the captions look like labels.

    Empty captions are not counted. Counting stops when it is clear that captions are sentences.

    Parameters
    ----------
    lists : Lists
    codes : int array
        The captions that occur, as codes in the vocabulary.

    Returns
    -------
    n_words, n_captions : int
        Both are 0 if the captions do not look like labels.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> labels = as_captions({"a": ["cat", "polar bear", "dog"]})
    >>> count_words(labels, labels.side.codes)
    (4, 3)
    """
    vocabulary = lists.vocabulary
    occurrences = np.bincount(codes, minlength=len(vocabulary))
    n_words = 0
    n_captions = 0
    for start in range(0, len(occurrences), _CAPTIONS_PER_BLOCK):
        block = slice(start, start + _CAPTIONS_PER_BLOCK)
        sizes = np.array(
            [len(str(text).split()) for text in vocabulary[block]], np.int64
        )
        n_words += int(sizes @ occurrences[block])
        n_captions += int((sizes > 0) @ occurrences[block])
        if n_words >= _MAX_WORDS_OF_LABEL * len(codes):
            return 0, 0
    if n_words < _MAX_WORDS_OF_LABEL * n_captions:
        return n_words, n_captions
    return 0, 0


# ---- marks of other programs --------------------------------------------------------------------


def find_marks(side: str, lists: Lists, codes: Codes) -> Observations:
    """Observe marks that all captions of a side contain, and count those with marks of subwords."""
    captions = _distinct_captions(lists, codes)
    observations = Observations()
    for token in _shared_marks(captions):
        observations.count(_SPECIAL, 1, side, token)
    for mark, pattern in _SUBWORDS.items():
        n = sum(mark in text and pattern.search(text) is not None for text in captions)
        if n:
            observations.count(_SUBWORD, n, side, mark)
    return observations


def _distinct_captions(lists: Lists, codes: Codes) -> list[str]:
    """Return the captions that occur, each once."""
    return [str(lists.vocabulary[code]) for code in np.unique(codes).tolist()]


def _shared_marks(captions: Sequence[str]) -> set[str]:
    """Return the special tokens that all captions contain, and the prefix that all of them have."""
    shared: set[str] | None = None
    for text in captions:
        marks = set(_SPECIAL_TOKEN.findall(text))
        if len(captions) > 1:
            marks |= _find_prefix(text)
        if shared is None:
            shared = marks
        shared &= marks
        if not shared:
            break
    return shared or set()


def _find_prefix(text: str) -> set[str]:
    """Return the prefix of a caption: a word such as "Caption:", a number, or b for bytes."""
    prefix = _PREFIX.match(text)
    if prefix is not None:
        return {prefix[0]}
    if _NUMBER.match(text) is not None:
        return {"1."}
    if _BYTES.fullmatch(text) is not None:
        return {"b'...'"}
    return set()


def mark_facts(observed: Observations, side: str, noun: str) -> list[Fact]:
    """Return notes on marks of subwords, and on marks that all captions of a side contain."""
    # A mark is in all captions if all parts of the data have observed it.
    n_parts = side_observations.count_parts(observed, side)
    tokens = []
    for (token_side, token), n in observed.counts_of(_SPECIAL).items():
        if token_side == side and n == n_parts:
            tokens.append(str(token))
    facts = note_builders.named("special-tokens", sorted(tokens), side=noun)
    for mark in _SUBWORDS:
        n = observed.number(_SUBWORD, side, mark)
        if n > 1:
            facts.append(Fact("subwords", n, values={"side": noun, "mark": mark}))
    return facts


# ---- several references in one caption ----------------------------------------------------------


def find_joined(references: Lists, codes: Codes) -> Observations:
    """Count the references that look like several captions, for each separator."""
    captions = _distinct_captions(references, codes)
    observations = Observations()
    observations.count(_REFERENCES, len(captions))
    for separator in _SEPARATORS:
        n = sum(_is_joined(text, separator) for text in captions)
        if n:
            observations.count(_JOINED, n, separator)
    return observations


def _is_joined(text: str, separator: str) -> bool:
    """Return whether a text has several parts of at least two words each."""
    if separator not in text:
        return False
    parts = text.strip().split(separator)
    return len(parts) > 1 and all(len(part.split()) > 1 for part in parts)


def joined_facts(observed: Observations) -> list[Fact]:
    """Return a note if nearly all references look like several captions in one."""
    n_references = observed.number(_REFERENCES)
    for separator in _SEPARATORS:
        n = observed.number(_JOINED, separator)
        if n > 1 and n >= _MIN_SHARE_WITH_SEPARATOR * n_references:
            return [Fact("joined-references", n, values={"separator": separator})]
    return []
