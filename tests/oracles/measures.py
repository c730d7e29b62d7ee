"""Set measures in loops: a formula on counts, a policy for each 0/0, and a mean.

Predictions and references are lists of sets of labels.
"""

from __future__ import annotations

import math

NAN = float("nan")
EPS = 1e-8
POLICIES = {"nan": NAN, "0": 0.0, "1": 1.0}
DEFAULTS = {
    "empty": "1",
    "absent": "skip",
    "no_prediction": "0",
    "no_reference": "0",
    "undefined": "nan",
}


def ratio(numerator, denominator):
    return numerator / denominator if denominator else None


def smoothed(hit, n_pred, n_ref, _):
    precision = (hit + EPS) / (n_pred + EPS)
    recall = (hit + EPS) / (n_ref + EPS)
    return 2 * precision * recall / (precision + recall)


FORMULAS = {
    "Precision": lambda h, p, r, t: ratio(h, p),
    "Recall": lambda h, p, r, t: ratio(h, r),
    "F1": lambda h, p, r, t: ratio(2 * h, p + r),
    "Jaccard": lambda h, p, r, t: ratio(h, p + r - h),
    "SubsetAccuracy": lambda h, p, r, t: float(h == p == r),
    "HammingLoss": lambda h, p, r, t: ratio(p + r - 2 * h, t),
    "CardinalityError": lambda h, p, r, t: float(abs(p - r)),
    "O-F1": smoothed,
    "C-F1": smoothed,
    "I-F1": smoothed,
}


def settled(value, n_pred, n_ref, policies, nothing):
    """The value, or if undefined the value of its policy. None is not counted."""
    if value is not None:
        return value
    cause = "undefined"
    if not n_pred and not n_ref:
        cause = nothing
    elif not n_pred:
        cause = "no_prediction"
    elif not n_ref:
        cause = "no_reference"
    return POLICIES.get({**DEFAULTS, **policies}[cause])


def mean(values, weights):
    """Weighted mean of the values that are not None and have a weight above 0."""
    products = []
    used_weights = []
    for value, weight in zip(values, weights, strict=True):
        if value is not None and weight > 0:
            products.append(value * weight)
            used_weights.append(weight)
    total = math.fsum(used_weights)
    return math.fsum(products) / total if total else NAN


def universe(preds, refs, labels):
    """The labels that count: ``labels`` is "reference", "union" or a list."""
    if not isinstance(labels, str):
        return list(labels)
    label_sets = refs if labels == "reference" else [*preds, *refs]
    return sorted(set().union(*label_sets))


def example_mean(formula, preds, refs, weights, policies):
    """The mean over items."""
    values = []
    for pred, ref in zip(preds, refs, strict=True):
        n_pred = len(pred)
        n_ref = len(ref)
        value = formula(len(pred & ref), n_pred, n_ref, None)
        values.append(settled(value, n_pred, n_ref, policies, "empty"))
    return mean(values, weights)


def label_counts(label, preds, refs, weights):
    """The weighted numbers of hits, predictions and references of one label."""
    hits = []
    predictions = []
    references = []
    for pred, ref, weight in zip(preds, refs, weights, strict=True):
        if label in pred:
            predictions.append(weight)
        if label in ref:
            references.append(weight)
        if label in pred and label in ref:
            hits.append(weight)
    return math.fsum(hits), math.fsum(predictions), math.fsum(references)


def micro_value(formula, counts, total, policies):
    """The value of the counts of all labels together."""
    hit = math.fsum(label_hits for label_hits, _, _ in counts)
    n_pred = math.fsum(predictions for _, predictions, _ in counts)
    n_ref = math.fsum(references for _, _, references in counts)
    value = formula(hit, n_pred, n_ref, total * len(counts))
    value = settled(value, n_pred, n_ref, policies, "empty")
    return NAN if value is None else value


def label_mean(formula, counts, total, policies, average):
    """The mean over labels. "weighted" weights each label by its references."""
    values = []
    support = []
    for hit, n_pred, n_ref in counts:
        value = formula(hit, n_pred, n_ref, total)
        values.append(settled(value, n_pred, n_ref, policies, "absent"))
        support.append(n_ref)
    defined_support = sum(
        n for value, n in zip(values, support, strict=True) if value is not None
    )
    if average == "weighted" and defined_support:
        return mean(values, support)
    return mean(values, [1] * len(values))


def score(name, preds, refs, *, average, labels="union", weights=None, **policies):
    """The value of a measure. ``labels`` is "reference", "union" or the class list."""
    formula = FORMULAS[name]
    if weights is None:
        weights = [1] * len(refs)
    if average == "example":
        return example_mean(formula, preds, refs, weights, policies)
    counts = []
    for label in universe(preds, refs, labels):
        counts.append(label_counts(label, preds, refs, weights))
    total = math.fsum(weights)
    if average == "micro":
        return micro_value(formula, counts, total, policies)
    if labels == "reference":
        # A label does not count if all its references have weight 0.
        counts = [label for label in counts if label[2] > 0]
    return label_mean(formula, counts, total, policies, average)
