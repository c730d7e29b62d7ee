"""Matching of label lists item by item, and counts by class, in loops.

A label is a tuple of terms; a prediction is a pair of a label and its score (None without scores).
"""

from __future__ import annotations


def name(terms):
    return " | ".join(terms)


def classes_of(refs, listed=None):
    """The class list, or all reference labels by name."""
    if listed is not None:
        return list(listed)
    return sorted({label for labels in refs for label in labels}, key=name)


def class_of(terms, classes):
    """The class that the label is, or the first with its first known term, or itself."""
    if terms in classes:
        return terms
    for term in terms:
        for known in classes:
            if term in known:
                return known
    return terms


def kept(pred, k=None, above=None):
    """Labels by falling score (equal scores in their order), cut at a threshold and to k."""
    ranked = sorted(pred, key=lambda pair: 0 if pair[1] is None else -pair[1])
    if above is not None:
        ranked = [pair for pair in ranked if pair[1] > above]
    return [label for label, _ in ranked][:k]


def once(labels, classes):
    """The first label of each class."""
    first = {}
    for label in labels:
        first.setdefault(class_of(label, classes), label)
    return list(first.values())


def greedy(pred, ref):
    """Whether each prediction takes a reference: its terms in order, the first one unused."""
    unused, hits = list(ref), []
    for terms in pred:
        taken = next((r for term in terms for r in unused if term in r), None)
        if taken is not None:
            unused.remove(taken)
        hits.append(taken is not None)
    return hits


def item(pred, ref, classes, *, duplicates, k=None, above=None):
    """Hits, predictions, references, and the precision at each hit summed."""
    labels = kept(pred, k, above)
    if duplicates == "once":
        labels, ref = once(labels, classes), once(ref, classes)
    hits = greedy(labels, [class_of(label, classes) for label in ref])
    at_hits = [sum(hits[: n + 1]) / (n + 1) for n, hit in enumerate(hits) if hit]
    return sum(hits), len(labels), len(ref), sum(at_hits)


def by_class(preds, refs, classes, *, k=None, above=None):
    """{class name: (hits, predictions, references)}, each class once an item."""
    table = {}
    for pred, ref in zip(preds, refs, strict=True):
        mine = {class_of(label, classes) for label in kept(pred, k, above)}
        theirs = {class_of(label, classes) for label in ref}
        for label in mine | theirs:
            counts = table.setdefault(name(label), [0, 0, 0])
            counts[0] += label in mine and label in theirs
            counts[1] += label in mine
            counts[2] += label in theirs
    return {label: tuple(counts) for label, counts in table.items()}
