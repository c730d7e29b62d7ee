"""The table of multi-label recognition, in loops.

Marks are 1 (present), 0 (difficult) and -1 (absent).
"""

from __future__ import annotations

from statistics import harmonic_mean, mean

from oracles.ranking import class_average_precision


def chosen_classes(row, threshold, k):
    """Classes with scores at or above the threshold, among the k highest of a row."""
    ranked = sorted(range(len(row)), key=lambda c: -row[c])
    return {c for c in ranked[:k] if row[c] >= threshold}


def sets(scores, marks, threshold, k=None):
    """CP, CR, CF1, OP, OR and OF1. With k, of the k highest scores of a row."""
    n_classes = len(scores[0])
    hits = [0] * n_classes
    predicted = [0] * n_classes
    true = [0] * n_classes
    for row, truth in zip(scores, marks, strict=True):
        chosen = chosen_classes(row, threshold, k)
        for c in range(n_classes):
            predicted[c] += c in chosen
            true[c] += truth[c] == 1
            hits[c] += c in chosen and truth[c] == 1

    precisions = []
    recalls = []
    for c in range(n_classes):
        precisions.append(hits[c] / predicted[c] if predicted[c] else 0.0)
        if true[c]:
            recalls.append(hits[c] / true[c])
    class_precision = mean(precisions)
    class_recall = mean(recalls)
    class_f1 = harmonic_mean([class_precision, class_recall])
    precision = sum(hits) / sum(predicted)
    recall = sum(hits) / sum(true)
    f1 = harmonic_mean([precision, recall])
    return [class_precision, class_recall, class_f1, precision, recall, f1]


def mean_average_precision(scores, marks):
    """Mean over the classes with a positive, each without its difficult items."""
    values = []
    for class_scores, class_marks in zip(scores.T, marks.T, strict=True):
        marked = class_marks != 0
        positive = class_marks[marked] == 1
        n_positives = positive.sum()
        if n_positives:
            retrieved = list(zip(class_scores[marked], positive, strict=True))
            values.append(class_average_precision(retrieved, n_positives))
    return mean(values)
