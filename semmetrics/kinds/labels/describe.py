"""Label lists described: what they look like, what is probably a mistake, one item, its matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import cell_keys, lengths, row_numbers
from semmetrics.data.lists import Lists, as_entry
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.kinds.description import (
    count_items,
    describe_input,
    describe_sizes,
    find_empty,
    find_odd_ids,
    find_odd_texts,
    find_repeated,
    finite_or_none,
    format_counts,
    format_known,
    format_spread,
    list_ids,
    on_one_line,
)
from semmetrics.kinds.labels.classes import class_name
from semmetrics.kinds.labels.oddities import find_odd_labels
from semmetrics.kinds.labels.score_notes import unlike_scores
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.label_similarity import written_codes
from semmetrics.metrics.matching import Ranked, Reference, cut_of
from semmetrics.metrics.semantic import MatchedPairs, SemanticFamily, SemanticMatches
from semmetrics.metrics.sets import label_frequencies, label_order
from semmetrics.options import OPTIONS

__all__ = [
    "FILES",
    "describe",
    "explain_definition",
    "explain_protocol",
    "match_rows",
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
    labels = labels.renamed([as_entry(tuple(dict.fromkeys(terms))) for terms in labels.terms])
    side = labels.side
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    scores = side.scores
    return {
        **describe_input(labels),
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
    """The label order statistic; no mean where lists are so long that it would take minutes."""
    sizes = lengths(labels.side.indptr).astype(np.float64)
    number = int((sizes * (sizes - 1) / 2).sum())
    if number > _PAIRS:
        return {"mean": None, "pairs": number}
    found = label_order(labels.side.indptr, labels.side.codes)
    return {"mean": finite_or_none(found.mean), "pairs": len(found.order)}


def _find_odd(labels: Lists) -> Iterator[str]:
    """What is accepted and yet probably not meant, one line each."""
    yield from find_empty(labels)
    yield from find_repeated(labels)
    yield from unlike_scores(labels)
    yield from _find_common(labels)
    terms = list(dict.fromkeys(term for terms in labels.terms for term in terms))
    yield from find_odd_texts(terms, "label")
    yield from find_odd_labels(labels)
    yield from find_odd_ids(labels.ids)
    yield from _find_odd_scores(labels)


def _find_common(labels: Lists) -> Iterator[str]:
    """Say which labels nearly all items have, and how many labels one item alone has."""
    if labels.ranked or len(labels) < _FEW:
        return
    side, width = labels.side, max(1, len(labels.vocabulary))
    cells = np.unique(cell_keys(side.indptr, side.codes, width))
    present = np.bincount(cells % width)
    common = np.flatnonzero(present > _OFTEN * len(labels))
    if len(common):
        names = listing(class_name(labels.terms[code]) for code in common.tolist())
        yield f"labels are in more than {_OFTEN:.0%} of the items: {names}"
    once = int((present == 1).sum())
    if once:
        are = "is" if once == 1 else "are"
        total = pluralize(len(labels.vocabulary), "label")
        yield f"of {total} {once:,} {are} in one item alone"


def _find_odd_scores(labels: Lists) -> Iterator[str]:
    scores, side = labels.side.scores, labels.side
    if scores is None or not len(scores):
        return
    outside = int(((scores < 0) | (scores > 1)).sum())
    if outside:
        are = "is" if outside == 1 else "are"
        yield f"{outside:,} of {pluralize(len(scores), 'score')} {are} not between 0 and 1"
    if len(scores) > 1 and scores.min() == scores.max():
        yield f"all scores are {scores[0]:g}"
    rows = row_numbers(side.indptr)
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    if len(rising) and not labels.ranked:
        yield (
            f"{count_items(len(rising), labels, 'do')} not list labels by falling score (they are "
            f"ranked by score): {list_ids(labels.ids, rising)}"
        )


def report(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    number = "score" if record["ranked"] else "label"
    return {
        "items": format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{pluralize(record['synonyms'], 'label')} with several names"
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
    if order is None or not order["pairs"]:
        return ""
    pairs = pluralize(order["pairs"], "pair")
    if order["mean"] is None:
        return f"not computed: {pairs} of labels are too many"
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


def match_rows(task: LabelTask, measure: Measure) -> Iterator[dict[str, Any]]:
    """What each predicted label matched, and the references that nothing matched.

    Parameters
    ----------
    task : LabelTask
        With the label vectors of the measure's embedding.
    measure : Measure
        A semantic set measure, its threshold and rule fixed.

    Yields
    ------
    dict
        "id"; "rank" (from 1; None for a reference that nothing matched), "prediction",
        "reference" (None without a match), "similarity" (of the pair, else of the prediction and
        its nearest reference; None where the item has no reference).

    Raises
    ------
    InputError
        If the measure matches nothing.
    """
    if not isinstance(measure.definition.family, SemanticFamily):
        raise InputError(f"{measure} matches no labels", remedy="name a measure such as SemF1")
    step = SemanticMatches(
        float(str(measure["threshold"])),
        str(measure["match"]),
        str(measure["duplicates"]),
        str(measure["embedding"]),
        cut_of(measure),
    )
    names = task.classes
    if task.synonyms is not None:
        names = tuple(map(class_name, task.synonyms.terms))
    for block in task.blocks():
        ranked, ref = block.get(Ranked()), block.get(Reference())
        matched, kept = block.get(step), block.get(cut_of(measure))
        pairs = block.get(MatchedPairs(step))
        counted = np.ones(len(ranked.codes), np.bool_)
        if matched.counted is not None:
            counted = matched.counted
        once = np.ones(len(ref.codes), np.bool_) if matched.once is None else matched.once
        for item in range(len(block)):
            first, end = int(ranked.indptr[item]), int(ranked.indptr[item]) + int(kept[item])
            base = {"id": str(task.ids[block.start + item])}
            for place in range(first, end):
                if counted[place]:
                    yield {**base, **_prediction(names, ranked, ref, pairs, first, place)}
            for place in range(int(ref.indptr[item]), int(ref.indptr[item + 1])):
                if once[place] and matched.first[place] >= end:
                    yield {
                        **base,
                        "rank": None,
                        "prediction": None,
                        "reference": names[written_codes(ref)[place]],
                        "similarity": None,
                    }


def _prediction(
    names: Sequence[str], ranked: Any, ref: Any, pairs: Any, first: int, place: int
) -> dict[str, Any]:
    partner, similarity = (array[place].item() for array in pairs)
    return {
        "rank": place - first + 1,
        "prediction": names[written_codes(ranked)[place]],
        "reference": None if partner < 0 else names[written_codes(ref)[partner]],
        "similarity": similarity if np.isfinite(similarity) else None,
    }


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
        "cutoffs": f"{cutoffs or 'none'} unless {OPTIONS['top_k'].both} says otherwise",
        "predictions": f"label lists, or scores that {OPTIONS['threshold'].both} or "
        f"{OPTIONS['decode'].both} make sets of"
        if protocol.decode
        else "label lists, ranked by their scores where they have them",
    }
