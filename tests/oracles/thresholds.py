"""Thresholds for the cosine of labelled pairs, in loops."""

from __future__ import annotations

import math
from itertools import pairwise

NAN = float("nan")


def pairs_at(cosines, same, threshold):
    """Counts and rates of "the cosine is above the threshold" as a test for "same"."""
    tp = 0
    fp = 0
    for cosine, is_same in zip(cosines, same, strict=True):
        if cosine > threshold and is_same:
            tp += 1
        elif cosine > threshold:
            fp += 1
    positives = sum(same)
    negatives = len(same) - positives
    predicted = tp + fp
    precision = tp / predicted if predicted else NAN
    recall = tp / positives
    false_positive_rate = fp / negatives
    correct = tp + negatives - fp
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * tp / (predicted + positives),
        "accuracy": correct / len(same),
        "youden": recall - false_positive_rate,
    }


def decisions(cosines):
    """One threshold, in increasing order, for each way to split the pairs."""
    finite = {cosine for cosine in cosines if math.isfinite(cosine)}
    ends = [-1.0, *sorted(finite), 1.0]
    middles = {(low + high) / 2 for low, high in pairwise(ends)}
    return sorted(middles)


def area(cosines, same):
    """How often a pair with the same meaning has the larger cosine. Ties count half."""
    pairs = list(zip(cosines, same, strict=True))
    positives = [cosine for cosine, is_same in pairs if is_same]
    negatives = [cosine for cosine, is_same in pairs if not is_same]
    wins = 0.0
    for positive in positives:
        for negative in negatives:
            if positive > negative:
                wins += 1.0
            elif positive == negative:
                wins += 0.5
    return wins / (len(positives) * len(negatives))
