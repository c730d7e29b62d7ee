"""Describe one input of label sets, and explain measures and protocols for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import (
    cell_keys,
    row_numbers,
)
from semmetrics.data.lists import Lists, as_entry
from semmetrics.errors import Fact
from semmetrics.kinds import descriptions, item_notes, note_builders, odd_texts
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
    DELIMITERS,
    WORD_DELIMITERS,
    are_joined,
    are_joined_words,
    are_permuted,
    has_parts,
)
from semmetrics.kinds.labels.normalization import (
    class_name,
)
from semmetrics.kinds.labels.notes import unlike_scores
from semmetrics.kinds.labels.oddities import (
    LIST_AS_TEXT,
    SENTENCE,
)
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import (
    Definition,
)
from semmetrics.options import OPTIONS

# pairs of labels worth counting: in all items, different
_PAIRS, _UNLIKE = (
    1 << 28,
    1 << 22,
)
_OFTEN = 0.95
_FEW = 20  # items below which shares say little


def describe(labels: Lists) -> dict[str, Any]:
    """Describe label lists.

    Returns
    -------
    dict
        Plain values, None for what is undefined: how the input was understood, numbers of items and
        labels, labels an item, the frequency of each label, the order statistic, and what is odd.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> found = describe(as_labels({"a": ["cat", "dog"], "b": ["cat"]}))
    >>> found["items"], found["labels"], found["vocabulary"], found["frequencies"][0]
    (2, 3, 2, {'label': 'cat', 'count': 2})
    """
    from semmetrics.metrics.arrays import label_frequencies, label_order

    labels = labels.renamed(
        [as_entry(tuple(dict.fromkeys(terms))) for terms in labels.terms]
    )
    side, scores = labels.side, labels.side.scores
    counts = label_frequencies(side.codes, len(labels.vocabulary))
    names = [class_name(terms) for terms in labels.terms]
    sizes = side.sizes.astype(np.float64)
    pairs, mean = int((sizes * (sizes - 1) / 2).sum()), None
    distinct = min(pairs, len(names) * (len(names) - 1) // 2)
    if pairs <= _PAIRS and distinct <= _UNLIKE and not labels.ranked:  # else minutes
        found = label_order(side.indptr, side.codes)
        mean, pairs = descriptions.finite_or_none(found.mean), len(found.order)
    span = None
    if scores is not None and len(scores):
        span = {"min": float(scores.min()), "max": float(scores.max())}
    return descriptions.describe_input(
        labels,
        _find_odd(labels),
        labels=len(side.codes),
        vocabulary=len(names),
        synonyms=sum(len(terms) > 1 for terms in labels.terms),
        ranked=labels.ranked,
        scores=span,
        cardinality=descriptions.describe_sizes(side.indptr),
        frequencies=[
            {"label": names[code], "count": times}
            for code, times in zip(
                counts.labels.tolist(), counts.counts.tolist(), strict=True
            )
        ],
        order=None if labels.ranked else {"mean": mean, "pairs": pairs},
    )


def _find_odd(labels: Lists) -> list[Fact]:
    """Note what is accepted and yet probably not meant."""
    side, width, scores = (
        labels.side,
        max(1, len(labels.vocabulary)),
        labels.side.scores,
    )
    names = [term for terms in labels.terms for term in terms]
    facts = item_notes.find_gaps(labels) + unlike_scores(labels)
    if not labels.ranked and len(labels) >= _FEW:
        present = np.bincount(
            np.unique(cell_keys(side.indptr, side.codes, width)) % width
        )
        often = np.flatnonzero(present > _OFTEN * len(labels)).tolist()
        facts += note_builders.named(
            "common-labels", (class_name(labels.terms[code]) for code in often)
        )
        facts += note_builders.counted(
            "rare-labels", int((present == 1).sum()), total=width
        )
    facts += odd_texts.find_odd_texts(list(dict.fromkeys(names)), "label")
    lists = list(filter(LIST_AS_TEXT.search, names))
    facts += note_builders.named("lists-as-text", lists, side="distinct")
    if not lists:
        is_single = len(side.indptr) > 1 and np.diff(side.indptr).max() <= 1
        facts += _find_joined(names, is_single=is_single)
    words = sum(name.count(" ") + 1 for name in names)
    if not labels.ranked and words and words >= SENTENCE * len(names):
        facts.append(
            Fact("sentences", values={"side": "distinct", "mean": words / len(names)})
        )
    facts += odd_texts.find_odd_ids(labels.ids)
    if scores is None or not len(scores):
        return facts
    outside = int(((scores < 0) | (scores > 1)).sum())
    facts += note_builders.counted("outside-0-1", outside, total=len(scores))
    if len(scores) > 1 and scores.min() == scores.max():
        facts.append(Fact("equal-scores", values={"score": float(scores[0])}))
    rows = row_numbers(side.indptr)
    rising = np.unique(rows[1:][(np.diff(scores) > 0) & (np.diff(rows) == 0)])
    return (
        facts
        if labels.ranked
        else facts + note_builders.of_items("rising-scores", labels, rising)
    )


def _find_joined(names: Sequence[str], *, is_single: bool) -> list[Fact]:
    """Note labels of one input that are several labels, if items have one label at most."""
    facts: list[Fact] = []
    delimiters = ALL_DELIMITERS if is_single else DELIMITERS
    for delimiter in delimiters:
        joined = [name for name in names if has_parts(name, delimiter)]
        if delimiter in WORD_DELIMITERS:
            are_several = are_joined_words(names, (), delimiter)
        elif delimiter in DELIMITERS:
            are_several = are_joined(joined, names, delimiter)
        else:
            are_several = False
        if is_single and not are_several:
            are_several = are_permuted(names, (), delimiter)
        if joined and are_several:
            values = {"side": "distinct", "delimiter": delimiter}
            facts += note_builders.counted(
                "joined-labels", len(joined), joined[:1], **values
            )
    return facts


def format_description(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts of a description as texts by name; an empty text is not worth a line."""
    number, scores, order = "score" if record["ranked"] else "label", "none", ""
    if record["scores"] is not None:
        rule = (
            "; a decoding rule or a cutoff makes sets of them"
            if record["ranked"]
            else ""
        )
        scores = "from {min:g} to {max:g}".format(**record["scores"]) + rule
    if record["order"] is not None and record["order"]["pairs"]:
        mean, pairs = (
            record["order"]["mean"],
            pluralize(record["order"]["pairs"], "pair"),
        )
        order = f"not computed: {pairs} of labels are too many"
        if mean is not None:
            order = f"{mean:.3f} over {pairs} (0.5: none, 1: always the same)"
    frequencies = [(entry["label"], entry["count"]) for entry in record["frequencies"]]
    several = record["synonyms"]
    return {
        "items": descriptions.format_known(record),
        "labels": f"{pluralize(record['labels'], number)}, {record['vocabulary']:,} distinct",
        "synonyms": f"{pluralize(several, 'label')} with several names"
        if several
        else "",
        "scores": scores,
        "labels an item": descriptions.format_spread(record["cardinality"]),
        "most frequent": ""
        if record["ranked"]
        else descriptions.format_counts(frequencies),
        "label order": order,
    }


def explain_definition(definition: Definition) -> dict[str, str]:
    """Return what a definition makes of cutoffs, and which orders and sides matter to it."""
    free = (definition.symmetric, definition.order_invariant)
    sides, order = ("does not matter" if one else "matters" for one in free)
    cutoff = (
        f"{definition.name}@5 takes the first 5 predictions"
        if definition.cutoff
        else "none"
    )
    traits = f"which side predicts {sides}; the order of labels in a list {order}"
    return {"cutoff": cutoff, "traits": traits}


def explain_protocol(protocol: Any) -> dict[str, str]:
    """Return the cutoffs of a protocol, and what predictions it takes."""
    cutoffs = ", ".join(f"@{k}" for k in protocol.top_k)
    return {
        "cutoffs": f"{cutoffs or 'none'} unless {OPTIONS['top_k'].both} says otherwise",
        "predictions": f"label lists, or scores that {OPTIONS['threshold'].both} or "
        f"{OPTIONS['decode'].both} make sets of"
        if protocol.decode and "{logits}" not in str(protocol.entries)
        else f"logits, which predict a label from 0, or scores from {OPTIONS['threshold'].both}"
        if protocol.decode
        else "label lists, ranked by their scores where they have them",
    }
