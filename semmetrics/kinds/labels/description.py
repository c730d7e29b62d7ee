"""Describe one input of label sets, and explain measures and protocols for label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import cell_keys, row_numbers
from semmetrics.data.lists import Lists, as_entry
from semmetrics.errors import Fact
from semmetrics.kinds.descriptions import (
    describe_input,
    describe_sizes,
    finite_or_none,
    format_counts,
    format_item_count,
    format_spread,
)
from semmetrics.kinds.item_notes import find_gaps
from semmetrics.kinds.labels import MIN_WORDS_OF_SENTENCE
from semmetrics.kinds.labels.input_notes import unlike_scores
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
    DELIMITERS,
    WORD_DELIMITERS,
    are_joined,
    are_joined_words,
    are_permuted,
    find_joined,
)
from semmetrics.kinds.labels.normalization import class_name
from semmetrics.kinds.labels.oddities import LIST_AS_TEXT
from semmetrics.kinds.note_builders import counted, named, of_items
from semmetrics.kinds.odd_texts import find_odd_ids, find_odd_texts
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Definition
from semmetrics.options import OPTIONS

_MAX_PAIRS = 1 << 28
_MAX_DISTINCT_PAIRS = 1 << 22
"""Pairs of labels in all items, and different pairs, up to which their order is computed."""
_COMMON_SHARE = 0.95  # of the items, above which a label is in nearly all of them
_MIN_ITEMS = 20  # below which shares mean little


# ---- the record ---------------------------------------------------------------------------------


def describe(labels: Lists) -> dict[str, Any]:
    """Return a record that describes label lists.

    Returns
    -------
    dict
        How the input was read, the numbers of items and labels, the labels per item, the frequency
        of each label, the order of labels, and probable mistakes. Undefined values are None.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> record = describe(as_labels({"a": ["cat", "dog"], "b": ["cat"]}))
    >>> record["items"], record["labels"], record["vocabulary"], record["frequencies"][0]
    (2, 3, 2, {'label': 'cat', 'count': 2})
    """
    entries = []
    for terms in labels.terms:
        distinct_terms = tuple(dict.fromkeys(terms))
        entries.append(as_entry(distinct_terms))
    labels = labels.renamed(entries)
    scores = labels.side.scores
    span = None
    if scores is not None and len(scores):
        span = {"min": float(scores.min()), "max": float(scores.max())}
    return describe_input(
        labels,
        _find_mistakes(labels),
        labels=len(labels.side.codes),
        vocabulary=len(labels.terms),
        synonyms=sum(len(terms) > 1 for terms in labels.terms),
        ranked=labels.ranked,
        scores=span,
        cardinality=describe_sizes(labels.side.indptr),
        frequencies=_count_labels(labels),
        order=_describe_order(labels),
    )


def _count_labels(labels: Lists) -> list[dict[str, Any]]:
    """Return how often each label occurs, most frequent first."""
    from semmetrics.metrics.label_statistics import label_frequencies

    frequencies = label_frequencies(labels.side.codes, len(labels.vocabulary))
    codes = frequencies.labels.tolist()
    counts = frequencies.counts.tolist()
    records = []
    for code, n in zip(codes, counts, strict=True):
        records.append({"label": class_name(labels.terms[code]), "count": n})
    return records


def _describe_order(labels: Lists) -> dict[str, Any] | None:
    """Return the mean order of pairs of labels, and the number of different pairs.

    With too many pairs, which would take minutes, the mean is None, and the number is the number of
    pairs in all items. Ranked labels have no order.
    """
    if labels.ranked:
        return None
    from semmetrics.metrics.label_statistics import label_order

    sizes = labels.side.sizes.astype(np.float64)
    n_names = len(labels.terms)
    n_pairs = int((sizes * (sizes - 1) / 2).sum())
    max_distinct_pairs = min(n_pairs, n_names * (n_names - 1) // 2)
    if n_pairs > _MAX_PAIRS or max_distinct_pairs > _MAX_DISTINCT_PAIRS:
        return {"mean": None, "pairs": n_pairs}
    order = label_order(labels.side.indptr, labels.side.codes)
    return {"mean": finite_or_none(order.mean), "pairs": len(order.order)}


# ---- probable mistakes --------------------------------------------------------------------------


def _find_mistakes(labels: Lists) -> list[Fact]:
    """Return notes on probable mistakes, which do not raise an error."""
    names: list[str] = []
    for terms in labels.terms:
        names += terms
    notes = find_gaps(labels) + unlike_scores(labels)
    if not labels.ranked and len(labels) >= _MIN_ITEMS:
        notes += _frequency_notes(labels)
    notes += find_odd_texts(list(dict.fromkeys(names)), "label")
    lists = list(filter(LIST_AS_TEXT.search, names))
    notes += named("lists-as-text", lists, side="distinct")
    if not lists:
        is_single = len(labels) > 0 and labels.side.sizes.max() <= 1
        notes += _joined_notes(names, is_single=is_single)
    if not labels.ranked and names:
        mean_words = sum(1 + name.count(" ") for name in names) / len(names)
        if mean_words >= MIN_WORDS_OF_SENTENCE:
            values = {"side": "distinct", "mean": mean_words}
            notes.append(Fact("sentences", values=values))
    notes += find_odd_ids(labels.ids)
    return notes + _score_notes(labels)


def _frequency_notes(labels: Lists) -> list[Fact]:
    """Return notes on labels of nearly all items, and on labels of a single item."""
    side = labels.side
    n_names = max(1, len(labels.vocabulary))
    cells = np.unique(cell_keys(side.indptr, side.codes, n_names))
    n_items = np.bincount(cells % n_names)
    common_codes = np.flatnonzero(n_items > _COMMON_SHARE * len(labels)).tolist()
    common_names = [class_name(labels.terms[code]) for code in common_codes]
    n_rare = int((n_items == 1).sum())
    notes = named("common-labels", common_names)
    return notes + counted("rare-labels", n_rare, total=n_names)


def _joined_notes(names: Sequence[str], *, is_single: bool) -> list[Fact]:
    """Return notes on labels that are several labels with a delimiter between them.

    Parameters
    ----------
    names : sequence of str
    is_single : bool
        Whether every item has at most one label.
    """
    delimiters: Sequence[str] = DELIMITERS
    if is_single:
        delimiters = ALL_DELIMITERS
    notes: list[Fact] = []
    for delimiter in delimiters:
        joined = find_joined(names, delimiter)
        if joined and _separates_labels(delimiter, names, joined, is_single=is_single):
            values = {"side": "distinct", "delimiter": delimiter}
            notes += counted("joined-labels", len(joined), joined[:1], **values)
    return notes


def _separates_labels(
    delimiter: str, names: Sequence[str], joined: Sequence[str], *, is_single: bool
) -> bool:
    """Return whether a delimiter separates labels in the names that contain it."""
    if delimiter in WORD_DELIMITERS and are_joined_words(names, (), delimiter):
        return True
    if delimiter in DELIMITERS and are_joined(joined, names, delimiter):
        return True
    return is_single and are_permuted(names, (), delimiter)


def _score_notes(labels: Lists) -> list[Fact]:
    """Return notes on scores outside [0, 1], equal scores, and scores in rising order."""
    scores = labels.side.scores
    if scores is None or not len(scores):
        return []
    n_outside = int(((scores < 0) | (scores > 1)).sum())
    notes = counted("outside-0-1", n_outside, total=len(scores))
    if len(scores) > 1 and scores.min() == scores.max():
        notes.append(Fact("equal-scores", values={"score": float(scores[0])}))
    if labels.ranked:
        return notes
    rows = row_numbers(labels.side.indptr)
    is_rising = (np.diff(scores) > 0) & (np.diff(rows) == 0)
    rising_rows = np.unique(rows[1:][is_rising])
    return notes + of_items("rising-scores", labels, rising_rows)


# ---- text ---------------------------------------------------------------------------------------


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of a description by their names. An empty line is not shown."""
    noun = "label"
    most_frequent = ""
    if record["ranked"]:
        noun = "score"
    else:
        entries = record["frequencies"]
        counts = [(entry["label"], entry["count"]) for entry in entries]
        most_frequent = format_counts(counts)
    n_synonyms = record["synonyms"]
    synonyms = ""
    if n_synonyms:
        synonyms = f"{pluralize(n_synonyms, 'label')} with several names"
    n_labels = pluralize(record["labels"], noun)
    return {
        "items": format_item_count(record),
        "labels": f"{n_labels}, {record['vocabulary']:,} distinct",
        "synonyms": synonyms,
        "scores": _format_scores(record),
        "labels per item": format_spread(record["cardinality"]),
        "most frequent": most_frequent,
        "label order": _format_order(record["order"]),
    }


def _format_scores(record: Mapping[str, Any]) -> str:
    """Write the range of scores."""
    span = record["scores"]
    if span is None:
        return "none"
    text = f"from {span['min']:g} to {span['max']:g}"
    if record["ranked"]:
        text += "; a decoding rule or a cutoff makes sets of them"
    return text


def _format_order(order: Mapping[str, Any] | None) -> str:
    """Write the mean order of pairs of labels."""
    if order is None or not order["pairs"]:
        return ""
    pairs = pluralize(order["pairs"], "pair")
    if order["mean"] is None:
        return f"not computed: {pairs} of labels are too many"
    return f"{order['mean']:.3f} over {pairs} (0.5: none, 1: always the same)"


# ---- explanations -------------------------------------------------------------------------------


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return the effect of a cutoff, and whether the order of labels and sides matters."""
    cutoff = "none"
    if definition.cutoff:
        cutoff = f"{definition.name}@5 takes the first 5 predictions"
    sides = _matters(is_invariant=definition.symmetric)
    order = _matters(is_invariant=definition.order_invariant)
    traits = f"which side predicts {sides}; the order of labels in a list {order}"
    return {"cutoff": cutoff, "traits": traits}


def _matters(*, is_invariant: bool) -> str:
    """Write whether something matters to a measure."""
    if is_invariant:
        return "does not matter"
    return "matters"


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and which predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k) or "none"
    top_k = OPTIONS["top_k"].keyword_and_flag
    return {
        "cutoffs": f"{cutoffs} unless {top_k} says otherwise",
        "predictions": _explain_predictions(protocol),
    }


def _explain_predictions(protocol: Any) -> str:
    """Write which predictions a protocol takes."""
    threshold = OPTIONS["threshold"].keyword_and_flag
    decode = OPTIONS["decode"].keyword_and_flag
    if not protocol.decode:
        return "label lists, ranked by their scores if they have any"
    if "{logits}" in str(protocol.entries):
        return f"logits, which predict a label from 0, or scores from {threshold}"
    return f"label lists, or scores that {threshold} or {decode} make sets of"
