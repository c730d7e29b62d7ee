"""Accuracy by class by definition: one image at a time, sorted classes, loops."""

from __future__ import annotations

import math
from itertools import pairwise

NAN = float("nan")


def ranking(scores, true, candidates, ties="position"):
    """Candidates by decreasing score. ``ties`` orders equal ones."""

    def key(candidate):
        tie = 0
        if ties == "optimistic":
            tie = candidate != true
        elif ties == "pessimistic":
            tie = candidate == true
        return -scores[candidate], tie, candidate

    return sorted(candidates, key=key)


def hits(table, truth, candidates, k, ties="position"):
    """Whether the class of each image is among its first k."""
    is_hit = []
    for scores, true in zip(table, truth, strict=True):
        is_hit.append(true in ranking(scores, true, candidates, ties)[:k])
    return is_hit


def by_image(is_hit, truth, classes):
    """Share of hits among the images of some classes."""
    own = [hit for hit, true in zip(is_hit, truth, strict=True) if true in classes]
    return sum(own) / len(own) if own else NAN


def per_class(is_hit, truth, classes):
    """Mean share of hits over the classes that have images."""
    shares = [by_image(is_hit, truth, {label}) for label in classes if label in truth]
    return math.fsum(shares) / len(shares) if shares else NAN


def harmonic(first, second):
    total = first + second
    if not total:
        return 0.0
    return 2 * first * second / total


def differences(table, seen, unseen):
    """All differences of a seen and an unseen score of an image, in increasing order."""
    values = set()
    for scores in table:
        for label in seen:
            values |= {scores[label] - scores[other] for other in unseen}
    return sorted(values)


def calibrated(table, seen, constant):
    """The scores after subtracting a constant from those of seen classes."""
    calibrated_table = []
    for scores in table:
        row = list(scores)
        for label in seen:
            row[label] = scores[label] - constant
        calibrated_table.append(row)
    return calibrated_table


def curve(table, truth, seen, unseen, ties="position"):
    """Unseen and seen accuracy for constants below, between and above all differences."""
    values = differences(table, seen, unseen)
    middles = [(low + high) / 2 for low, high in pairwise(values)]
    candidates = sorted({*seen, *unseen})
    points = []
    for constant in [values[0] - 1, *middles, values[-1] + 1]:
        is_hit = hits(calibrated(table, seen, constant), truth, candidates, 1, ties)
        unseen_accuracy = per_class(is_hit, truth, unseen)
        seen_accuracy = per_class(is_hit, truth, seen)
        points.append((unseen_accuracy, seen_accuracy))
    return points


def area(points):
    """The area under seen over unseen accuracy by the trapezoidal rule."""
    trapezoids = []
    for (unseen, seen), (next_unseen, next_seen) in pairwise(points):
        trapezoids.append((next_unseen - unseen) * (seen + next_seen) / 2)
    return math.fsum(trapezoids)
