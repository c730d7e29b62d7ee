"""Descriptions of label lists, by counting."""

from __future__ import annotations

import math
from itertools import combinations


def cardinality(lists):
    """Return number of lists, mean size, sample deviation, and lists of each size."""
    sizes = [len(labels) for labels in lists]
    n = len(sizes)
    mean = sum(sizes) / n if n else float("nan")
    squares = sum((size - mean) ** 2 for size in sizes)
    std = math.sqrt(squares / (n - 1)) if n > 1 else float("nan")
    return (
        n,
        mean,
        std,
        [sizes.count(size) for size in range(max(sizes, default=0) + 1)],
    )


def label_frequencies(lists, n_labels):
    """(label, count), most frequent first, then by label."""
    flat = [label for labels in lists for label in labels]
    return sorted(
        ((c, flat.count(c)) for c in range(n_labels)), key=lambda p: (-p[1], p[0])
    )


def label_order(lists):
    """(A, B, a, b, order) with A < B for labels seen together, by falling order, then A, B."""
    first = [{label: labels.index(label) for label in labels} for labels in lists]
    every = sorted({label for labels in lists for label in labels})
    found = []
    for low, high in combinations(every, 2):
        both = [place for place in first if low in place and high in place]
        a = sum(place[low] < place[high] for place in both)
        if both:
            b = len(both) - a
            found.append((low, high, a, b, max(a, b) / (a + b)))
    return sorted(found, key=lambda row: (-row[4], row[0], row[1]))
