"""Accuracy by class straight from its definition: one image at a time, sorted classes, loops."""

from __future__ import annotations

import math
from itertools import pairwise

NAN = float("nan")


def ranking(scores, true, candidates, ties="position"):
    """Candidates by falling score; equal ones by the rule of ties."""
    before = {
        "position": lambda c: 0,
        "optimistic": lambda c: c != true,
        "pessimistic": lambda c: c == true,
    }[ties]
    return sorted(candidates, key=lambda c: (-scores[c], before(c), c))


def hits(table, truth, candidates, k, ties="position"):
    """Whether the class of each image is among its first k."""
    return [
        true in ranking(line, true, candidates, ties)[:k]
        for line, true in zip(table, truth, strict=True)
    ]


def per_class(found, truth, classes):
    """Mean over the classes with images of the share of hits in each."""
    shares = []
    for one in classes:
        own = [hit for hit, true in zip(found, truth, strict=True) if true == one]
        if own:
            shares.append(sum(own) / len(own))
    return math.fsum(shares) / len(shares) if shares else NAN


def by_image(found, truth, classes):
    """Share of the images of some classes that are hit."""
    own = [hit for hit, true in zip(found, truth, strict=True) if true in classes]
    return sum(own) / len(own) if own else NAN


def harmonic(one, other):
    return 2 * one * other / (one + other) if one + other else 0.0 * (one + other)


def curve(table, truth, seen, unseen, ties="position"):
    """Unseen and seen accuracy under constants below, between and above all differences."""
    gaps = {
        a - b
        for line in table
        for a in (line[c] for c in seen)
        for b in (line[c] for c in unseen)
    }
    gaps = sorted(gaps)
    middles = [(a + b) / 2 for a, b in pairwise(gaps)]
    points = []
    for constant in [gaps[0] - 1, *middles, gaps[-1] + 1]:
        moved = [
            [score - constant if c in seen else score for c, score in enumerate(line)]
            for line in table
        ]
        found = hits(moved, truth, sorted({*seen, *unseen}), 1, ties)
        points.append((per_class(found, truth, unseen), per_class(found, truth, seen)))
    return points


def area(points):
    """The area under seen over unseen accuracy, trapezoid by trapezoid."""
    return math.fsum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))
