"""Taxonomies and measures on them, by recursion over parents, with sets, dicts and fractions.

``parents`` maps names to the sets of their parents. A label that is not in it is its own root.
"""

from __future__ import annotations

import math
from fractions import Fraction

NAN = float("nan")


def ancestors(parents, name):
    """The shortest distance to each ancestor and to the name itself."""
    distances = {name: 0}
    for parent in parents.get(name, ()):
        for ancestor, distance in ancestors(parents, parent).items():
            shortest = distances.get(ancestor, math.inf)
            distances[ancestor] = min(distance + 1, shortest)
    return distances


def roots(parents):
    """The names without parents."""
    return {name for name, own_parents in parents.items() if not own_parents}


def depth(parents, name):
    """The distance to the nearest root."""
    distances = []
    for ancestor, distance in ancestors(parents, name).items():
        if not parents.get(ancestor):
            distances.append(distance)
    return min(distances)


def height(parents, name):
    """The length of the longest path to a descendant."""
    longest = 0
    for child, own_parents in parents.items():
        if name in own_parents:
            longest = max(longest, 1 + height(parents, child))
    return longest


def only_root(parents):
    """The ancestor of all names, or None."""
    tops = roots(parents)
    if len(tops) == 1 and len(parents) > 1:
        return tops.pop()
    return None


def with_ancestors(parents, labels, root):
    """The labels and all their ancestors."""
    names = set()
    for label in labels:
        names.update(ancestors(parents, label))
    if root == "exclude":
        names.discard(only_root(parents))
    return names


def counts(parents, predicted, true, root):
    """Common, predicted and true labels with ancestors of one item."""
    pred_names = with_ancestors(parents, predicted, root)
    true_names = with_ancestors(parents, true, root)
    return len(pred_names & true_names), len(pred_names), len(true_names)


def ratio(name, hit, n_pred, n_ref):
    """hP, hR or hF of counts, nan for 0/0."""
    ratios = {
        "hP": (hit, n_pred),
        "hR": (hit, n_ref),
        "hF": (2 * hit, n_pred + n_ref),
    }
    numerator, denominator = ratios[name]
    if not denominator:
        return NAN
    return float(Fraction(numerator, denominator))


def pair_distance(parents, label, other, measure):
    """The distance of two labels, or None without a common ancestor."""
    distances = ancestors(parents, label)
    other_distances = ancestors(parents, other)
    common = distances.keys() & other_distances.keys()
    if not common:
        return None
    if measure == "edges":
        return min(distances[name] + other_distances[name] for name in common)
    if label == other:
        return 0
    return min(height(parents, name) for name in common)


def distance_over_roots(parents, label, other, measure):
    """The distance of two labels through an implied root above all roots."""
    if measure == "edges":
        return depth(parents, label) + depth(parents, other) + 2
    return 1 + max(height(parents, name) for name in roots(parents))


def largest_distance(parents, measure):
    """The largest distance in a taxonomy, which divides the others."""
    tops = roots(parents)
    span = max(height(parents, name) for name in tops)
    if len(tops) > 1:
        span += 1
    if measure == "edges":
        return 2 * max(span, 1)
    return max(span, 1)


def item_distance(
    parents, predicted, true, measure, unconnected="root", normalize="none"
):
    """The mean least distance of predictions to a true label, and how many are unconnected."""
    if not true:
        return NAN, 0
    values = []
    n_unconnected = 0
    for label in predicted:
        distances = []
        for other in true:
            distance = pair_distance(parents, label, other, measure)
            if distance is not None:
                distances.append(distance)
        if not distances:
            n_unconnected += 1
            if unconnected == "skip":
                continue
            for other in true:
                distances.append(distance_over_roots(parents, label, other, measure))
        value = Fraction(min(distances))
        if normalize == "depth":
            value = min(value / largest_distance(parents, measure), Fraction(1))
        values.append(value)
    if not values:
        return NAN, n_unconnected
    return float(sum(values) / len(values)), n_unconnected


def mean(values):
    """The mean of the defined values."""
    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return NAN
    return sum(defined) / len(defined)
