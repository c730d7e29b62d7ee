"""Ranking metrics straight from their definitions: one item, one class, plain Python.

A row is a dict from label to score, holding the scored labels only; ``truth`` is a set of labels;
labels 0 .. n_labels - 1 without a score stand below the others and tie with each other.
"""

from __future__ import annotations

import math
from fractions import Fraction

NAN = float("nan")


def full_row(row, n_labels):
    """Give the labels without a score one score below all others."""
    return {label: row.get(label, -math.inf) for label in range(n_labels)}


def worst_rank(scores, label):
    """Number of labels scored at least as high."""
    return sum(score >= scores[label] for score in scores.values())


def coverage(row, truth, n_labels):
    """Largest worst rank of a reference label."""
    scores = full_row(row, n_labels)
    return max((worst_rank(scores, label) for label in truth), default=NAN)


def ranking_loss(row, truth, n_labels):
    """Share of (reference, other) pairs whose reference label is not strictly above."""
    scores = full_row(row, n_labels)
    pairs = [(r, o) for r in truth for o in scores if o not in truth]
    if not pairs:
        return NAN
    return float(Fraction(sum(scores[r] <= scores[o] for r, o in pairs), len(pairs)))


def list_average_precision(hits, n_ref, divisor):
    """Sum of precision at each matching rank, over the matches or the references."""
    total = Fraction(0)
    for rank, hit in enumerate(hits, start=1):
        if hit:
            total += Fraction(sum(hits[:rank]), rank)
    size = sum(hits) if divisor == "matched" else n_ref
    if size == 0:
        return 0.0 if divisor == "matched" else NAN
    return float(total / size)


def curve(retrieved, n_positives, ties="grouped"):
    """(recall, precision) after each distinct score; retrieved is [(score, is positive)]."""
    ranked = sorted(retrieved, key=lambda pair: -pair[0])
    points, right = [], 0
    for rank, (score, positive) in enumerate(ranked, start=1):
        right += positive
        ends = rank == len(ranked) or ranked[rank][0] != score
        if ends or ties == "ordered":
            points.append((right / n_positives, right / rank))
    return points


def class_average_precision(
    retrieved, n_positives, interpolation="none", ties="grouped"
):
    """Average precision of one class; positives that were not retrieved count in n_positives."""
    if n_positives == 0:
        return NAN
    points = curve(retrieved, n_positives, ties)
    if interpolation in ("voc2007", "coco101"):
        steps = 10 if interpolation == "voc2007" else 100
        total = 0.0
        # the points as the evaluation codes have them, in floats
        for step in range(steps + 1):
            point = step * (1 / steps) if step < steps else 1.0
            total += max((p for r, p in points if r >= point), default=0.0)
        return total / (steps + 1)
    total, before = 0.0, 0.0
    for place, (recall, precision) in enumerate(points):
        if interpolation == "voc2010":
            precision = max(p for _, p in points[place:])
        total += (recall - before) * precision
        before = recall
    return total
