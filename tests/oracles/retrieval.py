"""Retrieval straight from its definitions: one query, whole sorted rankings, plain Python."""

from __future__ import annotations

import math

NAN = float("nan")


def ranking(similarities, positives, ties="position"):
    """Candidates by falling similarity; equal ones by the rule of ties."""
    before = {
        "position": lambda c: 0,
        "optimistic": lambda c: c not in positives,
        "pessimistic": lambda c: c in positives,
    }[ties]
    return sorted(
        range(len(similarities)), key=lambda c: (-similarities[c], before(c), c)
    )


def values(ranked, positives, k):
    """All values of one query by measure; nan without positives."""
    if not positives:
        names = [
            "Recall",
            "Precision",
            "HitRate",
            "MRR",
            "MAP",
            "MeanR",
            "R-Precision",
            "mAP@R",
        ]
        return dict.fromkeys(names, NAN)
    found = [candidate in positives for candidate in ranked]
    r = len(positives)
    first = found.index(True) + 1 if True in found else math.inf
    precisions = [
        sum(found[: i + 1]) / (i + 1) if hit else 0.0 for i, hit in enumerate(found)
    ]
    return {
        "Recall": sum(found[:k]) / r,
        "Precision": sum(found[:k]) / k,
        "MAP": sum(precisions[:k]) / r,
        "HitRate": float(first <= k),
        "MRR": 1 / first if first <= k else 0.0,
        "MeanR": first if first < math.inf else NAN,
        "R-Precision": sum(found[:r]) / r,
        "mAP@R": sum(precisions[:r]) / r,
    }


def median_rank(ranks):
    """The floor of the median, as VSE++ has it: of ranks from 0, then one more."""
    ordered = sorted(rank - 1 for rank in ranks)
    n = len(ordered)
    if not n:
        return NAN
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    return math.floor(middle) + 1 if middle < math.inf else NAN
