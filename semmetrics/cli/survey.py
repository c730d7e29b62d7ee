"""What a set of label lists looks like, and what in it is probably a mistake."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths, row_numbers
from semmetrics.data.class_list import class_name
from semmetrics.data.labels import Labels
from semmetrics.errors import listing
from semmetrics.metrics.set_statistics import cardinality, label_frequencies, label_order

__all__ = ["TOP", "number", "odd", "odd_texts", "survey"]

TOP = 10
_PAIRS = 1 << 28  # ordered pairs that are worth counting
_OFTEN = 0.95
_FEW = 20  # items below which shares say little


def survey(labels: Labels) -> dict[str, Any]:
    """All that a report says; plain values, None for what is undefined.

    Examples
    --------
    >>> from semmetrics.data.inputs import as_labels
    >>> found = survey(as_labels({"a": ["cat", "dog"], "b": ["cat"]}))
    >>> found["items"], found["labels"], found["vocabulary"], found["frequencies"][0]
    (2, 3, 2, {'label': 'cat', 'count': 2})
    """
    side = labels.side
    sizes = cardinality(side.indptr)
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.vocabulary]
    scores = side.scores
    return {
        "understood": labels.understood,
        "notes": list(labels.notes),
        "items": len(labels),
        "ids": not isinstance(labels.ids, range),
        "labels": len(side.codes),
        "vocabulary": len(names),
        "synonyms": sum(len(terms) > 1 for terms in labels.vocabulary),
        "ranked": labels.ranked,
        "scores": None
        if scores is None or not len(scores)
        else {"min": float(scores.min()), "max": float(scores.max())},
        "cardinality": {
            "mean": number(sizes.mean),
            "std": number(sizes.std),
            "min": int(np.flatnonzero(sizes.histogram)[0]),
            "max": len(sizes.histogram) - 1,
            "histogram": sizes.histogram.tolist(),
        },
        "frequencies": [
            {"label": names[code], "count": times}
            for code, times in zip(counts.labels.tolist(), counts.counts.tolist(), strict=True)
        ],
        "order": None if labels.ranked else _order(labels),
        "odd": list(odd(labels)),
    }


def number(value: float) -> float | None:
    """A number as JSON has it: None where there is none."""
    return value if math.isfinite(value) else None


def _order(labels: Labels) -> dict[str, Any] | None:
    """The label order statistic; None where lists are so long that it would take minutes."""
    sizes = lengths(labels.side.indptr).astype(np.float64)
    if (sizes * (sizes - 1) / 2).sum() > _PAIRS:
        return None
    found = label_order(labels.side.indptr, labels.side.codes)
    return {"mean": number(found.mean), "pairs": len(found.order)}


def odd(labels: Labels) -> Iterator[str]:
    """What is accepted and yet probably not meant, one line each."""
    yield from _odd_lists(labels)
    yield from _odd_labels(labels)
    if not isinstance(labels.ids, range):
        yield from odd_texts([str(name) for name in labels.ids], "id")
    if labels.side.scores is not None:
        yield from _odd_scores(labels)


def _odd_lists(labels: Labels) -> Iterator[str]:
    side = labels.side
    empty = np.flatnonzero(lengths(side.indptr) == 0)
    if len(empty):
        yield f"{_of(len(empty), labels)} have no labels: {_items(labels, empty)}"
    rows = row_numbers(side.indptr)
    cells, times = np.unique(rows * max(1, len(labels.vocabulary)) + side.codes, return_counts=True)
    repeated = np.unique(cells[times > 1] // max(1, len(labels.vocabulary)))
    if len(repeated):
        yield f"{_of(len(repeated), labels)} repeat a label: {_items(labels, repeated)}"
    if not labels.ranked and len(labels) >= _FEW:
        present = np.bincount(cells % max(1, len(labels.vocabulary)))
        common = np.flatnonzero(present > _OFTEN * len(labels))
        if len(common):
            names = listing(class_name(labels.vocabulary[code]) for code in common.tolist())
            yield f"labels are in more than {_OFTEN:.0%} of the items: {names}"
        once = int((present == 1).sum())
        if once:
            yield f"of {len(labels.vocabulary):,} labels {once:,} are in one item alone"


def _of(some: int, labels: Labels) -> str:
    return f"{some:,} of {len(labels):,} items"


def _items(labels: Labels, rows: Any) -> str:
    return listing(labels.ids[row] for row in rows.tolist())


def _odd_labels(labels: Labels) -> Iterator[str]:
    terms = list(dict.fromkeys(term for terms in labels.vocabulary for term in terms))
    yield from odd_texts(terms, "label")


def odd_texts(texts: Sequence[str], noun: str) -> Iterator[str]:
    """What is odd in names: blanks around them, what cannot be seen, and names that are alike."""
    padded = [text for text in texts if text != text.strip()]
    if padded:
        yield f"{len(padded):,} {noun}s have blanks around them: {listing(padded)}"
    strange = [text for text in texts if not text.strip().isprintable()]
    if strange:
        yield f"{len(strange):,} {noun}s have characters that cannot be seen: {listing(strange)}"
    alike = _alike(texts)
    if alike:
        shown = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
        more = f" and {len(alike) - 3:,} more" if len(alike) > 3 else ""
        yield f"{noun}s differ only by case or white space: {shown}{more}"


def _alike(texts: Iterable[str]) -> list[list[str]]:
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault("".join(text.split()).casefold(), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _odd_scores(labels: Labels) -> Iterator[str]:
    scores, side = labels.side.scores, labels.side
    if scores is None or not len(scores):
        return
    outside = int(((scores < 0) | (scores > 1)).sum())
    if outside:
        yield f"{outside:,} of {len(scores):,} scores are not between 0 and 1"
    if len(scores) > 1 and scores.min() == scores.max():
        yield f"all scores are {scores[0]:g}"
    rows = row_numbers(side.indptr)
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    if len(rising) and not labels.ranked:
        yield (
            f"{_of(len(rising), labels)} do not list labels by falling score (they are ranked by "
            f"score): {_items(labels, rising)}"
        )
