"""The table of multi-label recognition in loops; marks are 1 present, 0 difficult, -1 absent."""

from __future__ import annotations

from statistics import harmonic_mean, mean

from oracles.ranking import class_average_precision


def sets(scores, marks, threshold, k=None):
    """CP, CR, CF1, OP, OR and OF1; with k, of the k highest scores of a row."""
    classes = range(len(scores[0]))
    hits, predicted, true = ([0 for _ in classes] for _ in range(3))
    for row, truth in zip(scores, marks, strict=True):
        for c in classes:
            chosen = (
                row[c] >= threshold and c in sorted(classes, key=lambda c: -row[c])[:k]
            )
            predicted[c] += chosen
            true[c] += truth[c] == 1
            hits[c] += chosen and truth[c] == 1
    cp = mean(hits[c] / predicted[c] if predicted[c] else 0.0 for c in classes)
    cr = mean(hits[c] / true[c] for c in classes if true[c])
    op, overall = sum(hits) / sum(predicted), sum(hits) / sum(true)
    return [cp, cr, harmonic_mean([cp, cr]), op, overall, harmonic_mean([op, overall])]


def mean_average_precision(scores, marks):
    """Of the classes that have a positive; difficult items are left out of theirs."""
    pairs = zip(scores.T, marks.T, strict=True)
    known = [[*zip(s[m != 0], m[m != 0] == 1, strict=True)] for s, m in pairs]
    positives = [
        (column, n) for column in known if (n := sum(true for _, true in column))
    ]
    return mean(class_average_precision(*column) for column in positives)
