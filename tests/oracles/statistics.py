"""Descriptions of label lists, by counting."""

from __future__ import annotations

import math
from itertools import chain, combinations


def cardinality(lists):
    """Return number of lists, mean size, sample deviation, and lists of each size."""
    sizes = [len(labels) for labels in lists]
    n = len(sizes)
    mean = sum(sizes) / n if n else math.nan
    squares = sum((size - mean) ** 2 for size in sizes)
    deviation = math.sqrt(squares / (n - 1)) if n > 1 else math.nan
    largest = max(sizes, default=0)
    histogram = [sizes.count(size) for size in range(largest + 1)]
    return n, mean, deviation, histogram


def label_frequencies(lists, n_labels):
    """(label, count), most frequent first, then by label."""
    all_labels = list(chain.from_iterable(lists))
    pairs = [(label, all_labels.count(label)) for label in range(n_labels)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def label_order(lists):
    """(A, B, a, b, order) with A < B for labels of one item.

    Rows are sorted by decreasing order, then by A and B.
    """
    rows = []
    for low, high in combinations(sorted(set(chain.from_iterable(lists))), 2):
        a = 0
        b = 0
        for labels in lists:
            if low in labels and high in labels:
                low_is_first = labels.index(low) < labels.index(high)
                a += low_is_first
                b += not low_is_first
        if a or b:
            rows.append((low, high, a, b, max(a, b) / (a + b)))
    return sorted(rows, key=lambda row: (-row[4], row[0], row[1]))
