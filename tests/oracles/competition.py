"""A maximum discrepancy competition in loops: selection, scores of pairs, dominance, ranks."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from operator import mul

from oracles.captions_ngram import ngsm


def select(systems, k, similarity=None, n=4, lower=()):
    """For each pair the k images of least similarity.

    Images of similarity 0 are ordered by the similarities in ``lower``, and equal ones by id.
    """
    alike = similarity or (lambda a, b: ngsm(a.split(), b.split(), n))

    def key(image, value, first, second):
        captions = systems[first][image], systems[second][image]
        rest = [one(*captions) for one in lower] if value == 0 else [0] * len(lower)
        return value, *rest, image

    found = {}
    for first, second in combinations(systems, 2):
        values = {
            i: alike(systems[first][i], systems[second][i]) for i in systems[first]
        }
        keys = {
            image: key(image, value, first, second) for image, value in values.items()
        }
        chosen = sorted(values, key=keys.__getitem__)[:k]
        found[first, second] = [(i, values[i]) for i in chosen]
    return found


def ngsm_product(first, second, n):
    """The product of NGSM's n ratios, exactly, of texts of n words or more."""
    product = Fraction(1)
    for order in range(1, n + 1):
        one, other = (
            Counter(zip(*(side[i:] for i in range(order)), strict=False))
            for side in (first, second)
        )
        product *= Fraction((one & other).total(), (one | other).total())
    return product


def power_mean(matrix, powers):
    """Equation 7 as it stands, up to a power."""
    size = len(matrix)
    vector, total = [1.0] * size, [0.0] * size
    for _ in range(powers):
        vector = [
            math.fsum(f * v for f, v in zip(row, vector, strict=True)) for row in matrix
        ]
        whole = math.fsum(vector)
        vector = [v / whole for v in vector]
        total = [t + v for t, v in zip(total, vector, strict=True)]
    return [t / powers for t in total]


def power_limit(matrix, period=1, doublings=70):
    """The mean over one period of equation 7, at a very high power, in 60 digits of any size."""
    with localcontext(Context(prec=60, Emax=10**17, Emin=-(10**17))):
        matrix = [[Decimal(float(f)) for f in row] for row in matrix]
        high, size = matrix, range(len(matrix))
        for _ in range(doublings):
            columns = list(zip(*high, strict=True))
            high = [[sum(map(mul, row, column)) for column in columns] for row in high]
            most = max(max(row) for row in high)
            high = [[f / most for f in row] for row in high]
        vector, total = [sum(row) for row in high], [Decimal(0)] * len(size)
        for _ in range(period):
            vector = [sum(map(mul, row, vector)) for row in matrix]
            vector = [v / sum(vector) for v in vector]
            total = [t + v for t, v in zip(total, vector, strict=True)]
        return [float(t / period) for t in total]


def dominance(scores):
    size = range(len(scores))
    return [
        [1.0 if i == j else scores[i][j] / scores[j][i] for j in size] for i in size
    ]


def spearman(first, second):
    """Of numbers that may be equal: the correlation of their mean ranks."""

    def ranks(values):
        return [
            sum(o < v for o in values) + (sum(o == v for o in values) + 1) / 2
            for v in values
        ]

    a, b = ranks(first), ranks(second)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    top = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return top / math.sqrt(
        sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    )


def repeats_word(tokens):
    """Whether a word stands three or more times in a row."""
    return any(
        a == b == c for a, b, c in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
