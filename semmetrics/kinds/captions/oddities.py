"""Find marks of other programs in captions, and several references in one caption."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from semmetrics.core.ragged import Codes
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
_BYTES = re.compile(r"b(['\"]).*\1", re.DOTALL)
_NUMBER = re.compile(r"\d+[.)] ")
_SUBWORDS = {
    "@@": re.compile(r"\w@@(?: |$)"),
    "##": re.compile(r"\w ##\w"),
    "\u2581": re.compile("\u2581"),
    "\u0120": re.compile("\\w\u0120\\w"),
}
_SEPARATORS = ("\n", "|||", " | ", "#", "; ")
_MOST = 0.8  # share of references with a separator from which on they look joined
_SPECIAL = "special tokens"
_SUBWORD = "subwords"
_JOINED = "joined references"
_REFERENCES = "references"


def find_marks(side: str, lists: Lists, codes: Codes) -> Observations:
    """Find what all captions of a side contain, and how many have marks of subwords."""
    captions = [str(lists.vocabulary[code]) for code in np.unique(codes).tolist()]
    observations = Observations()
    for token in _shared_marks(captions):
        observations.count(_SPECIAL, 1, side, token)
    for mark, pattern in _SUBWORDS.items():
        n = sum(mark in text and pattern.search(text) is not None for text in captions)
        if n:
            observations.count(_SUBWORD, n, side, mark)
    return observations


def _shared_marks(texts: Sequence[str]) -> set[str]:
    """Return the special tokens, and what is put before captions, of all captions."""
    shared: set[str] | None = None
    for text in texts:
        marks = set(_SPECIAL_TOKEN.findall(text))
        if len(texts) > 1:
            marks |= _marks_before(text)
        shared = marks if shared is None else shared & marks
        if not shared:
            break
    return shared or set()


def _marks_before(text: str) -> set[str]:
    """Return a prefix such as "Caption:", a number, or the mark of bytes."""
    prefix = _PREFIX.match(text)
    if prefix is not None:
        return {prefix[0]}
    if _NUMBER.match(text) is not None:
        return {"1."}
    if _BYTES.fullmatch(text) is not None:
        return {"b'...'"}
    return set()


def mark_facts(observed: Observations, side: str, noun: str) -> list[Fact]:
    """Note what is in all captions of a side, in all parts of the data, and marks of subwords."""
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


def find_joined(references: Lists, codes: Codes) -> Observations:
    """Count the references that look like several captions, by what separates them."""
    captions = [str(references.vocabulary[code]) for code in np.unique(codes).tolist()]
    observations = Observations()
    observations.count(_REFERENCES, len(captions))
    for separator in _SEPARATORS:
        n = sum(
            separator in text and _are_captions(text, separator) for text in captions
        )
        if n:
            observations.count(_JOINED, n, separator)
    return observations


def _are_captions(text: str, separator: str) -> bool:
    """Tell whether every part of a text has two words or more."""
    parts = text.strip().split(separator)
    return len(parts) > 1 and all(len(part.split()) > 1 for part in parts)


def joined_facts(observed: Observations) -> list[Fact]:
    """Note that nearly all references look like several captions in one."""
    n_references = observed.number(_REFERENCES)
    for separator in _SEPARATORS:
        n = observed.number(_JOINED, separator)
        if n > 1 and n >= _MOST * n_references:
            return [Fact("joined-references", n, values={"separator": separator})]
    return []
