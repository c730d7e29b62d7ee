"""A maximum discrepancy competition in loops: selection, dominance and ranks."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from itertools import combinations

from oracles.agreement import spearman as spearman  # noqa: PLC0414
from oracles.captions_ngram import ngsm


def select(systems, k, similarity=None, n=4, lower=()):
    """For each pair of systems, the k images whose captions are least similar.

    Images of similarity 0 are ordered by the similarities in ``lower``, and equal ones
    by id.
    """

    def ngsm_of_texts(first, second):
        return ngsm(first.split(), second.split(), n)

    similarity = similarity or ngsm_of_texts
    selected = {}
    for first, second in combinations(systems, 2):
        keys = []
        for image, caption in systems[first].items():
            other = systems[second][image]
            value = similarity(caption, other)
            lower_values = [0] * len(lower)
            if value == 0:
                lower_values = [measure(caption, other) for measure in lower]
            keys.append((value, *lower_values, image))
        selected[first, second] = [(key[-1], key[0]) for key in sorted(keys)[:k]]
    return selected


def product(matrix, vector):
    """A matrix times a vector."""
    sums = []
    for row in matrix:
        products = [factor * v for factor, v in zip(row, vector, strict=True)]
        sums.append(sum(products))
    return sums


def normalized(vector):
    total = sum(vector)
    return [v / total for v in vector]


def power_mean(matrix, powers):
    """Equation 7 as printed, up to a power."""
    size = len(matrix)
    vector = [1.0] * size
    total = [0.0] * size
    for _ in range(powers):
        vector = normalized(product(matrix, vector))
        total = [t + v for t, v in zip(total, vector, strict=True)]
    return [t / powers for t in total]


def squared(matrix):
    """The square of a matrix, divided by its largest element."""
    columns = list(zip(*matrix, strict=True))
    rows = [product(columns, row) for row in matrix]
    largest = max(max(row) for row in rows)
    scaled = []
    for row in rows:
        scaled.append([value / largest for value in row])
    return scaled


def power_limit(matrix, period=1, doublings=70):
    """The mean of equation 7 over one period, at a very high power, in 60 digits."""
    with localcontext(Context(prec=60, Emax=10**17, Emin=-(10**17))):
        decimals = []
        for row in matrix:
            decimals.append([Decimal(float(value)) for value in row])
        power = decimals
        for _ in range(doublings):
            power = squared(power)
        vector = [sum(row) for row in power]
        total = [Decimal(0)] * len(vector)
        for _ in range(period):
            vector = normalized(product(decimals, vector))
            total = [t + v for t, v in zip(total, vector, strict=True)]
        return [float(t / period) for t in total]


def dominance(scores):
    """The ratio of the scores of each pair of systems."""
    matrix = []
    for i, row in enumerate(scores):
        ratios = [score / scores[j][i] for j, score in enumerate(row) if j != i]
        ratios.insert(i, 1.0)
        matrix.append(ratios)
    return matrix
