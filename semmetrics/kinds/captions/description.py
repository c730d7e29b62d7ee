"""Describe captions, and show single items of them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import (
    offsets,
    row_numbers,
)
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import Fact
from semmetrics.kinds import descriptions, item_notes, note_builders, odd_texts
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition, Measure

if TYPE_CHECKING:
    pass
from semmetrics.kinds.captions.task import count_words

_LONGEST = 40  # letters of a caption among others
_LONGEST_ITEM = 500  # letters of a caption on a line of its own


def describe(captions: Lists) -> dict[str, Any]:
    """Describe captions.

    Words are separated by blanks; punctuation is a part of them.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items,
        captions and words, the captions that occur more than once, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> found = describe(as_captions({"a": ["a cat", "a cat sleeps"], "b": ["a cat"]}))
    >>> found["captions"], found["distinct"], found["words"]["max"], found["repeated"]
    (3, 2, 3, [{'caption': 'a cat', 'count': 2}])
    """
    texts = captions.values()
    counts, split = Counter(texts), [text.split() for text in texts]
    sizes = np.fromiter(map(len, split), np.int64, len(split))
    spread: dict[str, Any] = (
        descriptions.describe_sizes(offsets(sizes)) if len(sizes) else {}
    )
    return descriptions.describe_input(
        captions,
        _find_odd(captions),
        captions=len(texts),
        distinct=len(counts),
        cardinality=descriptions.describe_sizes(captions.side.indptr),
        words={
            "total": int(sizes.sum()),
            "distinct": len({word for words in split for word in words}),
            **{name: spread.get(name) for name in ("mean", "std", "min", "max")},
        },
        repeated=[
            {"caption": text, "count": times}
            for text, times in counts.most_common()
            if times > 1
        ],
    )


def _find_odd(captions: Lists) -> list[Fact]:
    """Note what is accepted and yet probably not meant."""
    item, texts = row_numbers(captions.side.indptr), captions.values()
    blank = [place for place, text in enumerate(texts) if not text.strip()]
    first: dict[str, int] = {}
    shared: dict[str, None] = {}
    for row, text in zip(item.tolist(), texts, strict=True):
        if text.strip() and first.setdefault(text, row) != row:
            shared[text] = None
    controls = {
        letter for letter in set().union(*texts) if unicodedata.category(letter) == "Cc"
    }
    distinct = dict.fromkeys(texts)
    found = {
        "shared-captions": shared,
        "padded-texts": [
            text for text in distinct if text != text.strip() and text.strip()
        ],
        "hidden-characters": [text for text in distinct if controls & set(text)]
        * bool(controls),
    }
    rows = np.unique(item[blank]) if blank else item[:0]
    facts = item_notes.find_gaps(captions)
    facts += note_builders.of_items(
        "blank-captions", captions, rows, captions=len(blank)
    )
    for code, some in found.items():
        facts += note_builders.named(code, map(_shorten, some), noun="caption")
    words, number = count_words(captions, captions.side.codes)
    if number:
        facts.append(
            Fact("single-words", values={"side": "captions", "mean": words / number})
        )
    return facts + odd_texts.find_odd_ids(captions.ids)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    words = record["words"]
    repeated = [
        (repr(_shorten(one["caption"])), one["count"]) for one in record["repeated"]
    ]
    return {
        "items": descriptions.format_known(record),
        "captions": f"{pluralize(record['captions'], 'caption')}, {record['distinct']:,} distinct",
        "captions an item": descriptions.format_spread(record["cardinality"]),
        "words": f"{pluralize(words['total'], 'word')}, {words['distinct']:,} distinct",
        "words a caption": descriptions.format_spread(words)
        if record["captions"]
        else "",
        "most frequent": descriptions.format_counts(repeated),
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


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the caption, a line for each reference, tuples and phrases."""
    lines = [
        ("caption", record["caption"]),
        *(("reference", one) for one in record["references"]),
    ]
    if record.get("aligned"):
        words = (
            mine if stage == "exact" else f"{mine} ~ {other} ({stage})"
            for mine, other, stage in record["aligned"]
        )
        lines.append(("aligned", ", ".join(words)))
    for name in ("matched", "unmatched", "missing"):
        if record.get(name):  # the slots of a tuple in the order of words
            ordered = ([t[0], t[2], t[1]] if len(t) == 3 else t for t in record[name])
            lines.append((name, ", ".join(map("-".join, ordered))))
    if record.get("nearest"):
        pairs = (
            f"{one} ~ {other} {value:.2f}" for one, other, value in record["nearest"]
        )
        lines.append(("nearest", ", ".join(pairs)))
    shown = []
    for name, text in lines:
        line, more = (
            descriptions.on_one_line(text[: 2 * _LONGEST_ITEM]),
            len(text) - _LONGEST_ITEM,
        )
        line = (
            f"{line[:_LONGEST_ITEM]} ... and {more:,} more letters"
            if more > 0
            else line
        )
        shown.append(f"{name:<9}  {line}")
    return shown


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return nothing: captions have no cutoff, and the traits of labels do not apply to them."""
    return {}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return what predictions a protocol takes, and what it leaves out."""
    absent = "; ".join(
        f"{heading} {reason}" for heading, reason in protocol.absent.items()
    )
    return {"predictions": "one caption an image, or several", "not computed": absent}
