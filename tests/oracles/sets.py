"""Matching of label lists item by item, and counts by class, in loops.

A label is a tuple of terms. A prediction is a pair of a label and its score, or None.
"""

from __future__ import annotations


def name(terms):
    return " | ".join(terms)


def classes_of(refs, listed=None):
    """The list of classes, or all reference labels by name."""
    if listed is not None:
        return list(listed)
    labels = set()
    for item_labels in refs:
        labels.update(item_labels)
    return sorted(labels, key=name)


def class_of(terms, classes):
    """The class that a label is, or the first class with its first known term, or the label."""
    if terms in classes:
        return terms
    for term in terms:
        for known in classes:
            if term in known:
                return known
    return terms


def _rank_key(prediction):
    _, score = prediction
    return 0 if score is None else -score


def decode(pred, k=None, above=None):
    """Labels by descending score, above a threshold and at most k. Ties keep their order."""
    labels = []
    for label, score in sorted(pred, key=_rank_key):
        if above is None or score > above:
            labels.append(label)
    return labels[:k]


def once(labels, classes):
    """The first label of each class."""
    first = {}
    for label in labels:
        first.setdefault(class_of(label, classes), label)
    return list(first.values())


def _first_reference(terms, references):
    """The first reference with the first term that is in any reference, or None."""
    for term in terms:
        for reference in references:
            if term in reference:
                return reference
    return None


def greedy(pred, ref):
    """Whether each prediction matches a reference that no earlier prediction matches."""
    unused = list(ref)
    hits = []
    for terms in pred:
        match = _first_reference(terms, unused)
        if match is not None:
            unused.remove(match)
        hits.append(match is not None)
    return hits


def item(pred, ref, classes, *, duplicates, k=None, above=None):
    """Hits, predictions and references, and the sum of the precisions at all hits."""
    labels = decode(pred, k, above)
    if duplicates == "once":
        labels = once(labels, classes)
        ref = once(ref, classes)
    hits = greedy(labels, [class_of(label, classes) for label in ref])
    sum_of_precisions = 0.0
    for rank, hit in enumerate(hits, start=1):
        if hit:
            sum_of_precisions += sum(hits[:rank]) / rank
    return sum(hits), len(labels), len(ref), sum_of_precisions


def by_class(preds, refs, classes, *, k=None, above=None):
    """(hits, predictions, references) by class name. Each class counts once per item."""
    table = {}
    for pred, ref in zip(preds, refs, strict=True):
        predicted = {class_of(label, classes) for label in decode(pred, k, above)}
        true = {class_of(label, classes) for label in ref}
        for label in predicted | true:
            n_hits, n_predicted, n_true = table.get(name(label), (0, 0, 0))
            n_hits += label in predicted and label in true
            n_predicted += label in predicted
            n_true += label in true
            table[name(label)] = (n_hits, n_predicted, n_true)
    return table
