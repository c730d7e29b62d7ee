"""Retrieval measures by definition: one query, complete sorted rankings, plain Python."""

from __future__ import annotations

import math

NAN = float("nan")
MEASURES = (
    "Recall",
    "Precision",
    "HitRate",
    "MRR",
    "MAP",
    "MeanR",
    "R-Precision",
    "mAP@R",
)


def ranking(similarities, positives, ties="position"):
    """Candidates by decreasing similarity. ``ties`` orders equal ones."""

    def key(candidate):
        tie = 0
        if ties == "optimistic":
            tie = candidate not in positives
        elif ties == "pessimistic":
            tie = candidate in positives
        return -similarities[candidate], tie, candidate

    return sorted(range(len(similarities)), key=key)


def precisions_at_hits(hits):
    """The precision at each rank with a hit, and 0 at the other ranks."""
    precisions = []
    for rank, is_hit in enumerate(hits, start=1):
        precisions.append(sum(hits[:rank]) / rank if is_hit else 0.0)
    return precisions


def values(ranked, positives, k):
    """All values of one query by measure, or nan if the query has no positives."""
    if not positives:
        return dict.fromkeys(MEASURES, NAN)
    hits = [candidate in positives for candidate in ranked]
    r = len(positives)
    first = hits.index(True) + 1 if True in hits else math.inf
    precisions = precisions_at_hits(hits)
    return {
        "Recall": sum(hits[:k]) / r,
        "Precision": sum(hits[:k]) / k,
        "MAP": sum(precisions[:k]) / r,
        "HitRate": float(first <= k),
        "MRR": 1 / first if first <= k else 0.0,
        "MeanR": first if first < math.inf else NAN,
        "R-Precision": sum(hits[:r]) / r,
        "mAP@R": sum(precisions[:r]) / r,
    }


def median_rank(ranks):
    """The floor of the median as in VSE++: of ranks that start at 0, then plus 1."""
    ordered = sorted(rank - 1 for rank in ranks)
    n = len(ordered)
    if not n:
        return NAN
    lower = ordered[(n - 1) // 2]
    upper = ordered[n // 2]
    middle = (lower + upper) / 2
    return math.floor(middle) + 1 if middle < math.inf else NAN
