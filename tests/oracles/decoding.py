"""Decoding rules for one item, label by label. The scores of an item are in descending order."""

from __future__ import annotations

import math


def top(scores, k):
    """How many labels are among the first k."""
    return min(len(scores), k)


def above(scores, threshold, keep_at_least=0):
    """How many labels have a score above the threshold, or are among the first to keep."""
    n_kept = 0
    for position, score in enumerate(scores):
        if score > threshold or position < keep_at_least:
            n_kept += 1
    return n_kept


def cumulative(scores, threshold, keep_at_least=0):
    """How many labels are kept if the sum of the scores before each is below the threshold."""
    n_kept = 0
    sum_before = 0.0
    for position, score in enumerate(scores):
        if sum_before < threshold or position < keep_at_least:
            n_kept += 1
        sum_before += score
    return n_kept


def cardinality(scores, head, offset=0):
    """The most probable cardinality, at most the number of labels."""
    best_column = 0
    for column, value in enumerate(head):
        if value > head[best_column]:
            best_column = column
    return min(best_column + offset, len(scores))


def cardinality_with_scores(scores, head, offset=0, extra=0):
    """The cardinality with the largest product of its probability and the scores of its labels."""
    best = min(offset, len(scores))
    best_value = -math.inf
    for column, probability in enumerate(head):
        size = column + offset
        if size > len(scores):
            break
        factors = [probability, *scores[: size + extra]]
        value = -math.inf
        if min(factors) > 0:
            value = sum(math.log(factor) for factor in factors)
        if value > best_value:
            best = size
            best_value = value
    return best
