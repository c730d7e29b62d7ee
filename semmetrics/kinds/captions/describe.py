"""Lists described: what they look like, what in them is probably a mistake, and one item."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints, row_numbers
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import CaptionTask
from semmetrics.kinds.captions.oddities import find_odd_captions
from semmetrics.kinds.description import (
    describe_input,
    describe_sizes,
    find_empty,
    find_odd_ids,
    find_repeated,
    format_counts,
    format_known,
    format_spread,
    list_ids,
    on_one_line,
)
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Definition, Measure

__all__ = [
    "FILES",
    "describe",
    "explain_definition",
    "explain_protocol",
    "report",
    "report_item",
    "show_item",
]

FILES = "captions.json references.json"  # of an example
_LONGEST = 40  # letters of a caption among others
_LONGEST_ITEM = 500  # letters of a caption on a line of its own


def describe(captions: Lists) -> dict[str, Any]:
    """Describe captions.

    Words stand between blanks; punctuation is a part of them.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items,
        captions and words, the captions that occur more than once, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.captions.reading import as_captions
    >>> found = describe(as_captions({"a": ["a cat", "a cat sleeps"], "b": ["a cat"]}))
    >>> found["captions"], found["distinct"], found["words"]["max"], found["repeated"]
    (3, 2, 3, [{'caption': 'a cat', 'count': 2}])
    """
    counts = Counter(captions.values())
    return {
        **describe_input(captions),
        "captions": len(captions.values()),
        "distinct": len(counts),
        "cardinality": describe_sizes(captions.side.indptr),
        "words": _describe_words(captions),
        "repeated": [
            {"caption": text, "count": times} for text, times in counts.most_common() if times > 1
        ],
        "odd": list(_find_odd(captions)),
    }


def _describe_words(captions: Lists) -> dict[str, Any]:
    """How many words captions have, and how many different words there are."""
    split = [text.split() for text in captions.values()]
    sizes = np.fromiter(map(len, split), np.int64, len(split))
    some = len(sizes) > 0
    return {
        "total": int(sizes.sum()),
        "distinct": len({word for words in split for word in words}),
        "mean": float(sizes.mean()) if some else None,
        "std": float(sizes.std(ddof=1)) if len(sizes) > 1 else None,
        "min": int(sizes.min()) if some else None,
        "max": int(sizes.max()) if some else None,
    }


def _find_odd(captions: Lists) -> Iterator[str]:
    """What is accepted and yet probably not meant, one line each."""
    item = row_numbers(captions.side.indptr)
    yield from find_empty(captions)
    blank = [place for place, text in enumerate(captions.values()) if not text.strip()]
    if blank:
        rows = np.unique(item[blank])
        where = "item" if len(rows) == 1 else "items"
        what = pluralize(len(blank), "caption", "are")
        yield f"{what} empty, in the {where} {list_ids(captions.ids, rows)}"
    yield from find_repeated(captions)
    yield from _find_shared(captions, item)
    yield from _find_odd_letters(captions)
    yield from find_odd_captions(captions)
    yield from find_odd_ids(captions.ids)


def _find_shared(captions: Lists, item: Ints) -> Iterator[str]:
    """Say which captions several items have."""
    first: dict[str, int] = {}
    several: dict[str, None] = {}
    for row, text in zip(item.tolist(), captions.values(), strict=True):
        if text.strip() and first.setdefault(text, row) != row:
            several[text] = None
    if several:
        what = pluralize(len(several), "caption", "are")
        yield f"{what} in more than one item: {_list_texts(list(several))}"


def _find_odd_letters(captions: Lists) -> Iterator[str]:
    texts = list(dict.fromkeys(captions.values()))
    padded = [text for text in texts if text != text.strip() and text.strip()]
    if padded:
        what, them = pluralize(len(padded), "caption", "have"), "it" if len(padded) == 1 else "them"
        yield f"{what} blanks around {them}: {_list_texts(padded)}"
    odd = {letter for letter in set().union(*texts) if unicodedata.category(letter) == "Cc"}
    strange = [text for text in texts if odd & set(text)] if odd else []
    if strange:
        what = pluralize(len(strange), "caption", "have")
        yield f"{what} control characters: {_list_texts(strange)}"


def _list_texts(texts: list[str]) -> str:
    return listing(map(_shorten, texts))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    words = record["words"]
    return {
        "items": format_known(record),
        "captions": f"{pluralize(record['captions'], 'caption')}, {record['distinct']:,} distinct",
        "captions an item": format_spread(record["cardinality"]),
        "words": f"{pluralize(words['total'], 'word')}, {words['distinct']:,} distinct",
        "words a caption": format_spread(words) if record["captions"] else "",
        "most frequent": format_counts(
            [(repr(_shorten(entry["caption"])), entry["count"]) for entry in record["repeated"]]
        ),
    }


def show_item(task: CaptionTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item: its "caption", its "references", and what else the measure looks at."""
    _, references = task.pairs(row, row + 1)
    more = measure.definition.extra.get("show", lambda *item: {})
    return {
        "caption": task.texts[task.candidates[row]],
        "references": [task.texts[code] for code in references.tolist()],
        **more(task, row, measure),
    }


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the caption, a line for each reference, tuples and phrases."""
    lines = [f"caption    {_cut(record['caption'])}"]
    lines += [f"reference  {_cut(text)}" for text in record["references"]]
    for name in ("matched", "unmatched", "missing"):
        if record.get(name):
            tuples = ", ".join(map("-".join, map(_in_words, record[name])))
            lines.append(f"{name:<9}  {_cut(tuples)}")
    if record.get("nearest"):
        pairs = (f"{one} ~ {other} {value:.2f}" for one, other, value in record["nearest"])
        lines.append(f"nearest    {_cut(', '.join(pairs))}")
    return lines


def _in_words(slots: list[str]) -> list[str]:
    """Return the slots of a tuple in the order of words: subject, relation, object."""
    return [slots[0], slots[2], slots[1]] if len(slots) == 3 else slots


def _cut(text: str) -> str:
    line = on_one_line(text[: 2 * _LONGEST_ITEM])
    more = len(text) - _LONGEST_ITEM
    return f"{line[:_LONGEST_ITEM]} ... and {more:,} more letters" if more > 0 else line


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return nothing: captions have no cutoff, and the traits of labels say nothing of them."""
    return {}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, and what it leaves out."""
    absent = "; ".join(f"{heading} {reason}" for heading, reason in protocol.absent.items())
    return {"predictions": "one caption an image, or several", "not computed": absent}
