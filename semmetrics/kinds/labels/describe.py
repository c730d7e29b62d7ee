"""Label lists described: what they look like, what in them is probably a mistake, and one item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths, row_numbers
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Lists
from semmetrics.errors import listing, pluralize
from semmetrics.kinds.description import (
    count_items,
    describe_sizes,
    find_odd_ids,
    find_odd_texts,
    finite_or_none,
    format_counts,
    format_known,
    format_spread,
    list_ids,
    on_one_line,
)
from semmetrics.kinds.labels.classes import class_name
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.matching import Ranked, Reference, cut_of
from semmetrics.metrics.set_statistics import label_frequencies, label_order

__all__ = [
    "FILES",
    "describe",
    "explain_definition",
    "explain_protocol",
    "report",
    "report_item",
    "show_item",
]

FILES = "preds.json gt.json"  # of an example
_PAIRS = 1 << 28  # ordered pairs that are worth counting
_OFTEN = 0.95
_FEW = 20  # items below which shares say little
_MOST = 20  # labels of a list that are shown


def describe(labels: Lists) -> dict[str, Any]:
    """Describe label lists.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items and
        labels, labels an item, the frequency of each label, the order statistic, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.labels.reading import as_labels
    >>> found = describe(as_labels({"a": ["cat", "dog"], "b": ["cat"]}))
    >>> found["items"], found["labels"], found["vocabulary"], found["frequencies"][0]
    (2, 3, 2, {'label': 'cat', 'count': 2})
    """
    side = labels.side
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    scores = side.scores
    return {
        "understood": labels.understood,
        "notes": list(labels.notes),
        "items": len(labels),
        "ids": not isinstance(labels.ids, range),
        "labels": len(side.codes),
        "vocabulary": len(names),
        "synonyms": sum(len(terms) > 1 for terms in labels.terms),
        "ranked": labels.ranked,
        "scores": None
        if scores is None or not len(scores)
        else {"min": float(scores.min()), "max": float(scores.max())},
        "cardinality": describe_sizes(side.indptr),
        "frequencies": [
            {"label": names[code], "count": times}
            for code, times in zip(counts.labels.tolist(), counts.counts.tolist(), strict=True)
        ],
        "order": None if labels.ranked else _describe_order(labels),
        "odd": list(_find_odd(labels)),
    }


def _describe_order(labels: Lists) -> dict[str, Any] | None:
    """The label order statistic; None where lists are so long that it would take minutes."""
    sizes = lengths(labels.side.indptr).astype(np.float64)
    if (sizes * (sizes - 1) / 2).sum() > _PAIRS:
        return None
    found = label_order(labels.side.indptr, labels.side.codes)
    return {"mean": finite_or_none(found.mean), "pairs": len(found.order)}


def _find_odd(labels: Lists) -> Iterator[str]:
    """What is accepted and yet probably not meant, one line each."""
    yield from _find_odd_lists(labels)
    terms = list(dict.fromkeys(term for terms in labels.terms for term in terms))
    yield from find_odd_texts(terms, "label")
    yield from find_odd_ids(labels.ids)
    yield from _find_odd_scores(labels)


def _find_odd_lists(labels: Lists) -> Iterator[str]:
    side = labels.side
    empty = np.flatnonzero(lengths(side.indptr) == 0)
    if len(empty):
        yield f"{count_items(len(empty), labels)} have no labels: {list_ids(labels.ids, empty)}"
    rows = row_numbers(side.indptr)
    cells, times = np.unique(rows * max(1, len(labels.vocabulary)) + side.codes, return_counts=True)
    repeated = np.unique(cells[times > 1] // max(1, len(labels.vocabulary)))
    if len(repeated):
        ids = list_ids(labels.ids, repeated)
        yield f"{count_items(len(repeated), labels)} repeat a label: {ids}"
    if not labels.ranked and len(labels) >= _FEW:
        present = np.bincount(cells % max(1, len(labels.vocabulary)))
        common = np.flatnonzero(present > _OFTEN * len(labels))
        if len(common):
            names = listing(class_name(labels.terms[code]) for code in common.tolist())
            yield f"labels are in more than {_OFTEN:.0%} of the items: {names}"
        once = int((present == 1).sum())
        if once:
            yield f"of {len(labels.vocabulary):,} labels {once:,} are in one item alone"


def _find_odd_scores(labels: Lists) -> Iterator[str]:
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
            f"{count_items(len(rising), labels)} do not list labels by falling score (they are "
            f"ranked by score): {list_ids(labels.ids, rising)}"
        )


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    number = "score" if record["ranked"] else "label"
    return {
        "items": format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{record['synonyms']:,} labels have several names"
        if record["synonyms"]
        else "",
        "scores": _report_scores(record),
        "labels an item": format_spread(record["cardinality"]),
        "most frequent": ""
        if record["ranked"]
        else format_counts([(entry["label"], entry["count"]) for entry in record["frequencies"]]),
        "label order": _report_order(record),
    }


def _report_scores(record: Mapping[str, Any]) -> str:
    scores = record["scores"]
    if scores is None:
        return "none"
    rule = "; a decoding rule or a cutoff makes sets of them" if record["ranked"] else ""
    return f"from {scores['min']:g} to {scores['max']:g}{rule}"


def _report_order(record: Mapping[str, Any]) -> str:
    order = record["order"]
    if order is None or order["mean"] is None:
        return ""
    pairs = pluralize(order["pairs"], "pair")
    return f"{order['mean']:.3f} over {pairs} (0.5: none, 1: always the same)"


def show_item(task: LabelTask, row: int, measure: Measure) -> dict[str, Any]:
    """Show one item as a measure sees it.

    Returns
    -------
    dict
        "predicted": the labels that the measure's cutoff or decoding rule keeps, in its order, and
        "true".
    """
    (block,) = task.take(np.array([row])).blocks()
    pred, ref = block.get(Ranked()), block.get(Reference())
    kept = len(pred.codes)
    if measure["decode"] is not None:
        kept = int(block.get(cut_of(measure))[0])
    elif measure.k is not None:
        kept = min(kept, measure.k)
    sides = {"predicted": pred.codes[:kept], "true": ref.codes}
    return {name: [task.classes[code] for code in codes.tolist()] for name, codes in sides.items()}


def report_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an item: the predicted labels, and the true ones."""
    return [f"{name:<9}  {_join_labels(record[name])}" for name in ("predicted", "true")]


def _join_labels(names: Sequence[str]) -> str:
    shown = ", ".join(map(on_one_line, names[:_MOST]))
    return shown + (f" and {len(names) - _MOST:,} more" if len(names) > _MOST else "") or "nothing"


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a definition makes of cutoffs, and which orders and sides matter to it."""
    exchange = "does not matter" if definition.symmetric else "matters"
    order = "does not matter" if definition.order_invariant else "matters"
    cutoff = f"{definition.name}@5 takes the first 5 predictions" if definition.cutoff else "none"
    return {
        "cutoff": cutoff,
        "traits": f"which side predicts {exchange}; the order of labels in a list {order}",
    }


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and what predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k)
    return {
        "cutoffs": f"{cutoffs} unless --top-k says otherwise"
        if cutoffs
        else "none unless --top-k says so",
        "predictions": "label lists, or scores that --threshold or --decode make sets of"
        if protocol.decode
        else "label lists, ranked by their scores where they have them",
    }
