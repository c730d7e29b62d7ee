"""Decoding rules for one item, label by label; scores fall along the list."""

from __future__ import annotations

import math


def top(scores, k):
    """How many of the labels are among the first k."""
    return sum(place < k for place in range(len(scores)))


def above(scores, threshold, keep_at_least=0):
    """How many labels score above the threshold, or belong to the least number kept."""
    return sum(
        score > threshold or place < keep_at_least for place, score in enumerate(scores)
    )


def cumulative(scores, threshold, keep_at_least=0):
    """How many labels are kept when each needs the sum before it to be below the threshold."""
    kept, total = 0, 0.0
    for place, score in enumerate(scores):
        if total < threshold or place < keep_at_least:
            kept += 1
        total += score
    return kept


def cardinality(scores, head, offset=0):
    """The most probable cardinality, cut to the labels there are."""
    best = max(range(len(head)), key=lambda column: (head[column], -column))
    return min(best + offset, len(scores))


def cardinality_with_scores(scores, head, offset=0, extra=0):
    """The cardinality with the best product of its probability and its labels' scores."""
    best, best_value = min(offset, len(scores)), -math.inf
    for column, probability in enumerate(head):
        size = column + offset
        if size > len(scores):
            break
        factors = [probability, *scores[: size + extra]]
        value = -math.inf
        if min(factors) > 0:
            value = sum(math.log(factor) for factor in factors)
        if value > best_value:
            best, best_value = size, value
    return best
