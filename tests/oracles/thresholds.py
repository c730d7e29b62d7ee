"""Cuts of labelled pairs, in loops."""

from __future__ import annotations

import math
from itertools import pairwise

NAN = float("nan")


def pairs_at(cosines, same, threshold):
    """Counts and rates of "the cosine is above the threshold" as a test of "the same"."""
    tp = sum(c > threshold and s for c, s in zip(cosines, same, strict=True))
    fp = sum(c > threshold and not s for c, s in zip(cosines, same, strict=True))
    yes, no = sum(same), len(same) - sum(same)
    return {
        "precision": tp / (tp + fp) if tp + fp else NAN,
        "recall": tp / yes,
        "f1": 2 * tp / (tp + fp + yes),
        "accuracy": (tp + no - fp) / (yes + no),
        "youden": tp / yes - fp / no,
    }


def decisions(cosines):
    """One threshold for every decision that a threshold from -1 to 1 can make, rising."""
    ends = [-1.0, *sorted({c for c in cosines if math.isfinite(c)}), 1.0]
    return sorted({(a + b) / 2 for a, b in pairwise(ends)})


def area(cosines, same):
    """How often a pair that means the same has the larger cosine; half where they are equal."""
    wins = [
        1.0 if a > b else 0.5 if a == b else 0.0
        for a, s in zip(cosines, same, strict=True)
        for b, t in zip(cosines, same, strict=True)
        if s and not t
    ]
    return sum(wins) / len(wins)
