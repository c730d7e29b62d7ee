"""Describe captions, and explain measures and protocols for captions."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import offsets, row_numbers
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact
from semmetrics.kinds import descriptions, item_notes, note_builders, odd_texts
from semmetrics.kinds.captions.oddities import count_words
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition

_MAX_CHARACTERS = 40
"""How many characters are shown of a caption in a list."""


def describe(captions: Lists) -> dict[str, Any]:
    """Describe captions.

    Words are separated by white space. Punctuation belongs to the words.

    Returns
    -------
    dict
        Plain values, None if undefined: the form of the input, the numbers of items, captions and
        words, the captions that occur more than once, and probable mistakes.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> record = describe(as_captions({"a": ["a cat", "a cat sleeps"], "b": ["a cat"]}))
    >>> record["captions"], record["distinct"], record["words"]["max"], record["repeated"]
    (3, 2, 3, [{'caption': 'a cat', 'count': 2}])
    """
    texts = captions.values()
    occurrences = Counter(texts)
    repeated = []
    for text, n in occurrences.most_common():
        if n > 1:
            repeated.append({"caption": text, "count": n})
    return descriptions.describe_input(
        captions,
        _find_mistakes(captions, texts),
        captions=len(texts),
        distinct=len(occurrences),
        cardinality=descriptions.describe_sizes(captions.side.indptr),
        words=_describe_words(texts),
        repeated=repeated,
    )


def _describe_words(texts: Sequence[str]) -> dict[str, Any]:
    """Describe the words of captions: how many in all, distinct, and per caption."""
    words_of_texts = [text.split() for text in texts]
    sizes = np.fromiter(map(len, words_of_texts), np.int64, len(texts))
    distinct: set[str] = set()
    for words in words_of_texts:
        distinct.update(words)
    record: dict[str, Any] = {"total": int(sizes.sum()), "distinct": len(distinct)}
    words_per_caption: dict[str, Any] = {}
    if texts:
        words_per_caption = descriptions.describe_sizes(offsets(sizes))
    for name in ("mean", "std", "min", "max"):
        record[name] = words_per_caption.get(name)
    return record


def _find_mistakes(captions: Lists, texts: Sequence[str]) -> list[Fact]:
    """Return notes on captions that are accepted but are probably mistakes."""
    facts = item_notes.find_gaps(captions)
    facts += _find_empty(captions, texts)
    distinct = list(dict.fromkeys(texts))
    padded = []
    for text in distinct:
        stripped = text.strip()
        if stripped and text != stripped:
            padded.append(text)
    facts += _caption_notes("shared-captions", _find_shared(captions, texts))
    facts += _caption_notes("padded-texts", padded)
    facts += _caption_notes("hidden-characters", _find_hidden_characters(distinct))
    n_words, n_captions = count_words(captions, captions.side.codes)
    if n_captions:
        values = {"side": "captions", "mean": n_words / n_captions}
        facts.append(Fact("single-words", values=values))
    return facts + odd_texts.find_odd_ids(captions.ids)


def _find_empty(captions: Lists, texts: Sequence[str]) -> list[Fact]:
    """Return a note on items with captions that are empty or only white space."""
    is_empty = np.array([not text.strip() for text in texts], np.bool_)
    item_of_caption = row_numbers(captions.side.indptr)
    items = np.unique(item_of_caption[is_empty])
    n_empty = int(is_empty.sum())
    return note_builders.of_items("blank-captions", captions, items, captions=n_empty)


def _find_shared(captions: Lists, texts: Sequence[str]) -> list[str]:
    """Return the captions that several items have, each once."""
    item_of_caption = row_numbers(captions.side.indptr).tolist()
    first_item: dict[str, int] = {}
    shared: dict[str, None] = {}
    for item, text in zip(item_of_caption, texts, strict=True):
        if text.strip() and first_item.setdefault(text, item) != item:
            shared[text] = None
    return list(shared)


def _find_hidden_characters(texts: Sequence[str]) -> list[str]:
    """Return the captions with control characters, such as tabs and line breaks."""
    characters = set().union(*texts)
    controls = {char for char in characters if unicodedata.category(char) == "Cc"}
    if not controls:
        return []
    return [text for text in texts if not controls.isdisjoint(text)]


def _caption_notes(code: str, texts: Sequence[str]) -> list[Fact]:
    """Return a note that counts captions and shows the first ones, shortened."""
    return note_builders.named(code, map(_shorten, texts), noun="caption")


def _shorten(text: str) -> str:
    """Return a caption, or the beginning of a long one, to show it in a list."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]}..."


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of a description by their names. An empty line is not shown."""
    words = record["words"]
    words_per_caption = ""
    if record["captions"]:
        words_per_caption = descriptions.format_spread(words)
    repeated = []
    for entry in record["repeated"]:
        repeated.append((repr(_shorten(entry["caption"])), entry["count"]))
    return {
        "items": descriptions.format_item_count(record),
        "captions": f"{pluralize(record['captions'], 'caption')}, {record['distinct']:,} distinct",
        "captions per item": descriptions.format_spread(record["cardinality"]),
        "words": f"{pluralize(words['total'], 'word')}, {words['distinct']:,} distinct",
        "words per caption": words_per_caption,
        "most frequent": descriptions.format_counts(repeated),
    }


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return nothing, because measures of captions have neither cutoffs nor traits of labels."""
    return {}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return which predictions a protocol takes, and which measures it does not compute."""
    absent = [f"{heading} {reason}" for heading, reason in protocol.absent.items()]
    return {
        "predictions": "one caption per image, or several",
        "not computed": "; ".join(absent),
    }
