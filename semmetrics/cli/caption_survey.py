"""What a set of captions looks like, and what in it is probably a mistake."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from semmetrics.cli.survey import number, odd_texts
from semmetrics.core.ragged import Ints, lengths, row_numbers
from semmetrics.data.captions import Captions
from semmetrics.errors import listing
from semmetrics.metrics.set_statistics import cardinality

__all__ = ["odd_captions", "shortened", "survey_captions"]

_LONGEST = 40  # letters of a caption that are shown


def survey_captions(captions: Captions) -> dict[str, Any]:
    """All that a report says; plain values, None for what is undefined.

    Words stand between blanks; punctuation is a part of them.

    Examples
    --------
    >>> from semmetrics.data.caption_inputs import as_captions
    >>> found = survey_captions(as_captions({"a": ["a cat", "a cat sleeps"], "b": ["a cat"]}))
    >>> found["captions"], found["distinct"], found["words"]["max"], found["repeated"]
    (3, 2, 3, [{'caption': 'a cat', 'count': 2}])
    """
    sizes, counts = cardinality(captions.indptr), Counter(captions.texts)
    return {
        "understood": captions.understood,
        "notes": list(captions.notes),
        "items": len(captions),
        "ids": not isinstance(captions.ids, range),
        "captions": len(captions.texts),
        "distinct": len(counts),
        "cardinality": {
            "mean": number(sizes.mean),
            "std": number(sizes.std),
            "min": int(np.flatnonzero(sizes.histogram)[0]),
            "max": len(sizes.histogram) - 1,
            "histogram": sizes.histogram.tolist(),
        },
        "words": _words(captions),
        "repeated": [
            {"caption": text, "count": times} for text, times in counts.most_common() if times > 1
        ],
        "odd": list(odd_captions(captions)),
    }


def _words(captions: Captions) -> dict[str, Any]:
    """How many words captions have, and how many different words there are."""
    split = [text.split() for text in captions.texts]
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


def odd_captions(captions: Captions) -> Iterator[str]:
    """What is accepted and yet probably not meant, one line each."""
    item = row_numbers(captions.indptr)
    bare = np.flatnonzero(lengths(captions.indptr) == 0)
    if len(bare):
        yield f"{_of(len(bare), captions)} have no captions: {_items(captions, bare)}"
    blank = [place for place, text in enumerate(captions.texts) if not text.strip()]
    if blank:
        rows = np.unique(item[blank])
        yield f"{len(blank):,} captions are empty, in the items {_items(captions, rows)}"
    yield from _repeated(captions, item)
    yield from _odd_letters(captions)
    if not isinstance(captions.ids, range):
        yield from odd_texts([str(name) for name in captions.ids], "id")


def _repeated(captions: Captions, item: Ints) -> Iterator[str]:
    """Captions that an item has twice, and those that several items have."""
    within: dict[int, None] = {}
    first: dict[str, int] = {}
    several: dict[str, None] = {}
    seen: set[tuple[int, str]] = set()
    for row, text in zip(item.tolist(), captions.texts, strict=True):
        if (row, text) in seen:
            within[row] = None
        elif text.strip() and first.setdefault(text, row) != row:
            several[text] = None
        seen.add((row, text))
    if within:
        rows = np.array(list(within), np.int64)
        yield f"{_of(len(rows), captions)} repeat a caption: {_items(captions, rows)}"
    if several:
        yield f"{len(several):,} captions are in more than one item: {_shown(list(several))}"


def _odd_letters(captions: Captions) -> Iterator[str]:
    texts = list(dict.fromkeys(captions.texts))
    padded = [text for text in texts if text != text.strip() and text.strip()]
    if padded:
        yield f"{len(padded):,} captions have blanks around them: {_shown(padded)}"
    odd = {letter for letter in set().union(*texts) if unicodedata.category(letter) == "Cc"}
    strange = [text for text in texts if odd & set(text)] if odd else []
    if strange:
        yield f"{len(strange):,} captions have control characters: {_shown(strange)}"


def _shown(texts: list[str]) -> str:
    return listing(map(shortened, texts))


def shortened(text: str) -> str:
    """The beginning of a caption.

    Examples
    --------
    >>> shortened("a very long caption of a very, very small dog")
    'a very long caption of a very, very smal...'
    """
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _of(some: int, captions: Captions) -> str:
    return f"{some:,} of {len(captions):,} items"


def _items(captions: Captions, rows: Any) -> str:
    return listing(captions.ids[row] for row in rows.tolist())
