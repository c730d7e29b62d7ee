"""Agreement with people in loops over pairs and over resamples."""

from __future__ import annotations

import math
from itertools import combinations


def sign(value):
    return (value > 0) - (value < 0)


def counts(scores, ratings):
    """C - D, pairs, pairs that are untied in the scores and in the ratings."""
    pairs = list(combinations(range(len(scores)), 2))
    signs = [
        (sign(scores[i] - scores[j]), sign(ratings[i] - ratings[j])) for i, j in pairs
    ]
    return (
        sum(a * b for a, b in signs),
        len(pairs),
        sum(a != 0 for a, _ in signs),
        sum(b != 0 for _, b in signs),
    )


def tau_b(scores, ratings):
    more, _, x, y = counts(scores, ratings)
    return more / math.sqrt(x * y) if x and y else math.nan


def tau_c(scores, ratings):
    more, *_ = counts(scores, ratings)
    m = min(len(set(scores)), len(set(ratings)))
    return 2 * more * m / (len(scores) ** 2 * (m - 1)) if m > 1 else math.nan


def accuracy(scores, ratings):
    """Of the pairs that people tell apart, those in the same order; tied scores count half."""
    found = [
        0.5 + sign(scores[i] - scores[j]) * sign(ratings[i] - ratings[j]) / 2
        for i, j in combinations(range(len(scores)), 2)
        if ratings[i] != ratings[j]
    ]
    return math.fsum(found) / len(found) if found else math.nan


def pearson(scores, ratings):
    n = len(scores)
    x, y = (sum(side) / max(n, 1) for side in (scores, ratings))
    top = math.fsum((a - x) * (b - y) for a, b in zip(scores, ratings, strict=True))
    squares = [
        math.fsum((value - mean) ** 2 for value in side)
        for side, mean in ((scores, x), (ratings, y))
    ]
    if len(set(scores)) < 2 or len(set(ratings)) < 2:
        return math.nan
    return top / math.sqrt(squares[0] * squares[1])


def ranks(values):
    return [
        sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2
        for v in values
    ]


def spearman(scores, ratings):
    return pearson(ranks(scores), ranks(ratings))


STATISTICS = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall-b": tau_b,
    "kendall-c": tau_c,
    "accuracy": accuracy,
}


def williams_t(first, second, between, n):
    """Steiger 1980, equation 7, term by term."""
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    below = 2 * ((n - 1) / (n - 3)) * determinant + mean**2 * (1 - between) ** 3
    return (first - second) * math.sqrt((n - 1) * (1 + between) / below)
