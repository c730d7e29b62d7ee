"""The table of multi-label recognition in loops; marks are 1 present, 0 difficult, -1 absent."""

from __future__ import annotations

from oracles.ranking import class_average_precision


def harmonic(one, other):
    return 2 * one * other / (one + other) if one + other else 0.0


def sets(scores, marks, threshold, k=None):
    """CP, CR, CF1, OP, OR and OF1; with k, of the k highest scores of a row."""
    classes = range(len(scores[0]))
    hits, predicted, true = ([0 for _ in classes] for _ in range(3))
    for row, truth in zip(scores, marks, strict=True):
        highest = sorted(classes, key=lambda c: -row[c])[:k]
        for c in classes:
            chosen = c in highest and row[c] >= threshold
            predicted[c] += chosen
            true[c] += truth[c] == 1
            hits[c] += chosen and truth[c] == 1
    precisions = [hits[c] / predicted[c] if predicted[c] else 0.0 for c in classes]
    recalls = [hits[c] / true[c] for c in classes if true[c]]
    cp, cr = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    op, overall = sum(hits) / sum(predicted), sum(hits) / sum(true)
    return [cp, cr, harmonic(cp, cr), op, overall, harmonic(op, overall)]


def mean_average_precision(scores, marks):
    """Of the classes that have a positive; difficult items are left out of theirs."""
    values = []
    for column, truth in zip(zip(*scores, strict=True), zip(*marks, strict=True), strict=True):
        items = [(s, mark == 1) for s, mark in zip(column, truth, strict=True) if mark]
        if 1 in truth:
            values.append(class_average_precision(items, truth.count(1)))
    return sum(values) / len(values)
