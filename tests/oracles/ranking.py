"""Ranking measures computed from their definitions, for one item or one class.

A row maps scored labels to their scores. ``truth`` is a set of labels. The labels 0 to
``n_labels - 1`` that have no score rank below the others, and are tied with each other.
"""

from __future__ import annotations

import math
from fractions import Fraction

NAN = float("nan")


def full_row(row, n_labels):
    """Give all labels without a score the same score below the others."""
    return {label: row.get(label, -math.inf) for label in range(n_labels)}


def worst_rank(scores, label):
    """The number of labels with at least the score of a label."""
    return sum(score >= scores[label] for score in scores.values())


def coverage(row, truth, n_labels):
    """The largest worst rank of a true label."""
    scores = full_row(row, n_labels)
    return max((worst_rank(scores, label) for label in truth), default=NAN)


def ranking_loss(row, truth, n_labels):
    """The share of (true, other) pairs whose true label is not strictly above the other."""
    scores = full_row(row, n_labels)
    others = scores.keys() - truth
    n_pairs = len(truth) * len(others)
    if n_pairs == 0:
        return NAN
    n_wrong = 0
    for label in truth:
        n_wrong += sum(scores[label] <= scores[other] for other in others)
    return float(Fraction(n_wrong, n_pairs))


def list_average_precision(hits, n_ref, divisor):
    """The sum of the precisions at all hits, divided by the number of hits or references."""
    total = Fraction(0)
    for rank, hit in enumerate(hits, start=1):
        if hit:
            total += Fraction(sum(hits[:rank]), rank)
    if divisor == "matched":
        n_hits = sum(hits)
        return float(total / n_hits) if n_hits else 0.0
    return float(total / n_ref) if n_ref else NAN


def curve(retrieved, n_positives, ties="grouped"):
    """(recall, precision) after each distinct score. ``retrieved`` has (score, is positive)."""
    ranked = sorted(retrieved, key=lambda pair: -pair[0])
    points = []
    n_hits = 0
    for rank, (score, is_positive) in enumerate(ranked, start=1):
        n_hits += is_positive
        is_last_of_tie = rank == len(ranked) or ranked[rank][0] != score
        if is_last_of_tie or ties == "ordered":
            points.append((n_hits / n_positives, n_hits / rank))
    return points


def interpolated_precision(points, least_recall):
    """The largest precision at a recall of at least the given one."""
    return max((p for recall, p in points if recall >= least_recall), default=0.0)


def class_average_precision(
    retrieved, n_positives, interpolation="none", ties="grouped"
):
    """Average precision of one class. ``n_positives`` includes positives that are missing."""
    if n_positives == 0:
        return NAN
    points = curve(retrieved, n_positives, ties)
    if interpolation in ("voc2007", "coco101"):
        n_steps = 10 if interpolation == "voc2007" else 100
        total = 0.0
        for step in range(n_steps):
            # The recall as the evaluation codes compute it, in floats.
            total += interpolated_precision(points, step * (1 / n_steps))
        total += interpolated_precision(points, 1.0)
        return total / (n_steps + 1)
    total = 0.0
    recall_before = 0.0
    for position, (recall, precision) in enumerate(points):
        if interpolation == "voc2010":
            precision = max(p for _, p in points[position:])
        total += (recall - recall_before) * precision
        recall_before = recall
    return total
