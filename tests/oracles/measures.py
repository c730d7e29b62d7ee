"""Set measures in loops: a formula on counts, a policy for each 0/0, a mean, a bootstrap.

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
    """The value, what its policy puts in its place, or None where it is left out."""
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
    """Weighted mean of what is not None; values of weight 0 say nothing."""
    pairs = [
        (v, w) for v, w in zip(values, weights, strict=True) if v is not None and w > 0
    ]
    total = math.fsum(w for _, w in pairs)
    return math.fsum(v * w for v, w in pairs) / total if total else NAN


def universe(preds, refs, labels):
    """The labels that count: by name of the convention, or a list that is given."""
    if not isinstance(labels, str):
        return list(labels)
    sides = refs if labels == "reference" else [*preds, *refs]
    return sorted(set().union(*sides))


def score(name, preds, refs, *, average, labels="union", weights=None, **policies):
    """The value of a measure; labels is "reference", "union", or the class list."""
    formula = FORMULAS[name]
    weights = [1] * len(refs) if weights is None else weights
    pairs = list(zip(preds, refs, strict=True))
    if average == "example":
        values = [
            settled(
                formula(len(p & r), len(p), len(r), None),
                len(p),
                len(r),
                policies,
                "empty",
            )
            for p, r in pairs
        ]
        return mean(values, weights)
    classes = universe(preds, refs, labels)
    counts = {}
    for label in classes:
        rows = [(label in p and label in r, label in p, label in r) for p, r in pairs]
        counts[label] = [
            math.fsum(w * row[place] for row, w in zip(rows, weights, strict=True))
            for place in range(3)
        ]
    total = math.fsum(weights)
    if average == "micro":
        hit, n_pred, n_ref = (
            math.fsum(c[place] for c in counts.values()) for place in range(3)
        )
        value = formula(hit, n_pred, n_ref, total * len(classes))
        value = settled(value, n_pred, n_ref, policies, "empty")
        return NAN if value is None else value
    if labels == "reference":  # a label all of whose references have weight 0 is none
        counts = {label: c for label, c in counts.items() if c[2] > 0}
    values = [
        settled(formula(*c, total), c[1], c[2], policies, "absent")
        for c in counts.values()
    ]
    support = [c[2] for c in counts.values()]
    known = any(w for v, w in zip(values, support, strict=True) if v is not None)
    return mean(
        values, support if average == "weighted" and known else [1] * len(values)
    )
