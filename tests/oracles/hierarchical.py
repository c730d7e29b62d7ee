"""Taxonomies and the measures on them by recursion over parents; sets, dicts and fractions.

``parents`` maps every name to the set of its parents; a label that it lacks is its own root.
"""

from __future__ import annotations

import math
from fractions import Fraction

NAN = float("nan")


def ancestors(parents, name):
    """Shortest distance up to each ancestor, the name itself included."""
    found = {name: 0}
    for parent in parents.get(name, ()):
        for ancestor, distance in ancestors(parents, parent).items():
            found[ancestor] = min(distance + 1, found.get(ancestor, distance + 1))
    return found


def roots(parents):
    """Names without parents."""
    return {name for name, above in parents.items() if not above}


def depth(parents, name):
    """Distance to the nearest name without parents."""
    up = ancestors(parents, name)
    return min(up[top] for top in up if not parents.get(top))


def height(parents, name):
    """Longest way down."""
    below = [child for child, above in parents.items() if name in above]
    return max((1 + height(parents, child) for child in below), default=0)


def the_root(parents):
    """The name above all others, if there is one."""
    tops = roots(parents)
    return tops.pop() if len(tops) == 1 and len(parents) > 1 else None


def closed(parents, labels, root):
    """Labels with all their ancestors."""
    found = {above for label in labels for above in ancestors(parents, label)}
    return found - {the_root(parents)} if root == "exclude" else found


def counts(parents, predicted, true, root):
    """Shared, predicted and true ancestors of one item."""
    mine, theirs = closed(parents, predicted, root), closed(parents, true, root)
    return len(mine & theirs), len(mine), len(theirs)


def ratio(name, hit, n_pred, n_ref):
    """hP, hR or hF of counts; nan at 0/0."""
    top, bottom = {
        "hP": (hit, n_pred),
        "hR": (hit, n_ref),
        "hF": (2 * hit, n_pred + n_ref),
    }[name]
    return float(Fraction(top, bottom)) if bottom else NAN


def pair(parents, label, other, measure):
    """Distance of two labels; None without a common ancestor."""
    mine, theirs = ancestors(parents, label), ancestors(parents, other)
    common = mine.keys() & theirs.keys()
    if not common:
        return None
    if measure == "edges":
        return min(mine[name] + theirs[name] for name in common)
    return 0 if label == other else min(height(parents, name) for name in common)


def joined(parents, label, other, measure):
    """Distance of two labels through an implied root above all names without parents."""
    if measure == "edges":
        return depth(parents, label) + depth(parents, other) + 2
    return 1 + max(height(parents, name) for name in roots(parents))


def largest(parents, measure):
    """Largest value in a taxonomy, to divide by."""
    span = max(height(parents, name) for name in roots(parents)) + (
        len(roots(parents)) > 1
    )
    return max(span, 1) * (2 if measure == "edges" else 1)


def item_distance(
    parents, predicted, true, measure, unconnected="root", normalize="none"
):
    """Mean over predictions of the least distance to a true label, and how many have none."""
    if not true:
        return NAN, 0
    values, apart = [], 0
    for label in predicted:
        known = [d for o in true if (d := pair(parents, label, o, measure)) is not None]
        if not known:
            apart += 1
            if unconnected == "skip":
                continue
            known = [joined(parents, label, o, measure) for o in true]
        value = Fraction(min(known))
        if normalize == "depth":
            value = min(value / largest(parents, measure), Fraction(1))
        values.append(value)
    return (float(sum(values) / len(values)) if values else NAN), apart


def mean(values):
    """Mean of the values that are defined."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else NAN
