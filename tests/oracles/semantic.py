"""Label lists compared by meaning, in loops: matching, soft sums, word mover's distance, bags.

A label is a tuple of terms; vectors are a dict from term to a list of numbers, without the terms
that take no part.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter

from oracles.sets import class_of, kept
from oracles.transport import relaxed_cost, transport_cost

NAN = float("nan")


def cosine(left, right):
    """Rounded to nine decimals; 0 with a zero vector."""
    lengths = math.sqrt(sum(x * x for x in left)) * math.sqrt(sum(x * x for x in right))
    if lengths == 0:
        return 0.0
    return round(sum(x * y for x, y in zip(left, right, strict=True)) / lengths, 9)


def terms_similarity(left, right, vectors):
    """1 for equal terms; None where a term takes no part."""
    if left not in vectors or right not in vectors:
        return None
    return 1.0 if left == right else cosine(vectors[left], vectors[right])


def similarity(left, right, vectors):
    """Of the most similar terms of two labels."""
    found = [terms_similarity(a, b, vectors) for a in left for b in right]
    return max(value for value in found if value is not None)


def terms_match(left, right, vectors, threshold):
    """Whether two terms take part, are similar, and are so above the threshold.

    Different terms of which one has a vector of zeros are not.
    """
    value = terms_similarity(left, right, vectors)
    if value is None:
        return False
    if left != right and not (any(vectors[left]) and any(vectors[right])):
        return False
    return value > threshold


def labels_match(left, right, vectors, threshold):
    return any(terms_match(a, b, vectors, threshold) for a in left for b in right)


def are_equal(left, right, vectors):
    """Whether two labels share a term that takes part."""
    return any(term in vectors and term in right for term in left)


def counted(labels, classes, vectors, *, duplicates):
    """Labels that take part; under "once" the first of each class among them."""
    labels = [label for label in labels if any(term in vectors for term in label)]
    if duplicates == "each":
        return labels
    first = {}
    for label in labels:
        first.setdefault(class_of(label, classes), label)
    return list(first.values())


def sides(pred, ref, classes, vectors, *, duplicates="once", k=None, above=None):
    """Predictions (cut first) and references that count."""
    labels = kept(pred, k, above)
    ref = [class_of(label, classes) for label in ref]
    return tuple(
        counted(side, classes, vectors, duplicates=duplicates) for side in (labels, ref)
    )


def greedy(pred, ref, vectors, threshold):
    """Predictions in order, terms in order, each taking the first unused reference."""
    unused, found = list(range(len(ref))), []
    for label in pred:
        place = -1
        for term in label:
            for j in unused:
                if place < 0 and labels_match((term,), ref[j], vectors, threshold):
                    place = j
        if place >= 0:
            unused.remove(place)
        found.append(place)
    return found


def most(pred, ref, vectors, threshold):
    """How many pairs the largest one-to-one matching has."""
    if not pred:
        return 0
    without = most(pred[1:], ref, vectors, threshold)
    taken = [
        1 + most(pred[1:], ref[:j] + ref[j + 1 :], vectors, threshold)
        for j in range(len(ref))
        if labels_match(pred[0], ref[j], vectors, threshold)
    ]
    return max([without, *taken])


def largest(pred, ref, vectors, threshold):
    """How many pairs the one-to-one matching has whose similarities, above 0, add up to most."""
    table = [[similarity(p, r, vectors) for r in ref] for p in pred]
    places = itertools.permutations([*range(len(ref)), *[-1] * len(pred)], len(pred))
    found = []
    for chosen in places:
        pairs = [row[j] for row, j in zip(table, chosen, strict=True) if j >= 0]
        if all(value > max(threshold, 0.0) for value in pairs):
            found.append((round(sum(pairs), 8), len(pairs)))
    return max(found)[1]


def exact_first(pred, ref, vectors, threshold):
    """How many pairs the best one-to-one matching has, by trying all.

    It has the most pairs of equal labels, of those the largest sum of similarities of the other
    pairs, and of those the most pairs.
    """
    worth = [[_worth(p, r, vectors, threshold) for r in ref] for p in pred]
    return max(_sums(worth, frozenset(range(len(ref)))))[2]


def _sums(worth, unused):
    """What every one-to-one matching adds up to."""
    if not worth:
        return {(0, 0, 0)}
    found = _sums(worth[1:], unused)
    for j in unused:
        if worth[0][j] is not None:
            others = _sums(worth[1:], unused - {j})
            found = found | {
                tuple(map(sum, zip(worth[0][j], s, strict=True))) for s in others
            }
    return found


def _worth(left, right, vectors, threshold):
    """What a pair adds to the equal pairs, to the sum of the others, and to the pairs."""
    if are_equal(left, right, vectors):
        return (1, 0, 1)
    units = _units(left, right, vectors, threshold)
    return None if units is None else (0, units, 1)


def _units(left, right, vectors, threshold):
    """The similarity of two labels in units of 1e-9; None if they do not match."""
    found = [
        terms_similarity(a, b, vectors)
        for a in left
        for b in right
        if terms_match(a, b, vectors, threshold)
    ]
    return round(max(found) * 1e9) if found else None


def exact_first_in_steps(pred, ref, vectors, threshold):
    """The same for labels of one term, as a person would do it.

    Equal labels are taken off both lists first, and the rest is matched.
    """
    left, right, n_equal = [], [*ref], 0
    for label in pred:
        if label in right:
            right.remove(label)
            n_equal += 1
        else:
            left.append(label)
    return n_equal + exact_first(left, right, vectors, threshold)


def hits(pred, ref, vectors, threshold, match):
    """Whether each prediction is a hit, and how many references are served."""
    if match == "greedy":
        found = [place >= 0 for place in greedy(pred, ref, vectors, threshold)]
        return found, sum(found)
    if match == "any":
        above = [[labels_match(p, r, vectors, threshold) for r in ref] for p in pred]
        return [any(row) for row in above], sum(map(any, zip(*above, strict=True)))
    size = {"optimal": most, "total": largest, "exact-first": exact_first}[match]
    sizes = [size(pred[:k], ref, vectors, threshold) for k in range(len(pred) + 1)]
    return [b > a for a, b in itertools.pairwise(sizes)], sizes[-1]


def set_values(pred, ref, vectors, threshold, match):
    """Semantic precision, recall, F1, Jaccard and average precisions of an item; nan at 0/0."""
    found, served = hits(pred, ref, vectors, threshold, match)
    tp, p, g = sum(found), len(pred), len(ref)
    at_hits = sum(sum(found[: n + 1]) / (n + 1) for n, hit in enumerate(found) if hit)
    precision, recall = tp / p if p else NAN, served / g if g else NAN
    both = tp and served
    f1 = (
        2 * precision * recall / (precision + recall)
        if both
        else 0.0
        if p or g
        else NAN
    )
    return {
        "SemPrecision": precision,
        "SemRecall": recall,
        "SemF1": f1,
        "SemJaccard": tp / (p + g - tp) if p or g else NAN,
        "SemAP": at_hits / g if p and g else NAN,
        "SemAP(normalize=hits)": at_hits / max(tp, 1) if p and g else NAN,
    }


def soft_values(pred, ref, vectors, match):
    """Soft precision, recall and F1 of an item; nan at 0/0."""
    table = [[max(0.0, similarity(p, r, vectors)) for r in ref] for p in pred]
    if not (pred and ref):
        mine = theirs = 0.0
    elif match == "any":
        mine = sum(map(max, table))
        theirs = sum(map(max, zip(*table, strict=True)))
    else:
        places = itertools.permutations(
            [*range(len(ref)), *[-1] * len(pred)], len(pred)
        )
        mine = theirs = max(
            sum(row[j] for row, j in zip(table, chosen, strict=True) if j >= 0)
            for chosen in places
        )
    precision, recall = (
        mine / len(pred) if pred else NAN,
        theirs / len(ref) if ref else NAN,
    )
    f1 = 2 * precision * recall / (precision + recall) if mine and theirs else 0.0
    return {
        "SoftPrecision": precision,
        "SoftRecall": recall,
        "SoftF1": f1 if pred or ref else NAN,
    }


def distance(left, right):
    return math.dist(left, right)


def transport_value(mine, theirs, vectors, *, text, relaxed=False):
    """Of two lists of words; nan where one is empty. ``text``: with the paper's quirks."""
    if not mine or not theirs:
        return NAN
    words = sorted({*mine, *theirs})
    bags = [[Counter(side)[word] for word in words] for side in (mine, theirs)]
    costs = [[distance(vectors[a], vectors[b]) for b in words] for a in words]
    if text and len(words) > 1 and not any(map(any, costs)):
        costs = [[1.0] * len(words) for _ in words]
    return (relaxed_cost if relaxed else transport_cost)(costs, *bags)


def text_words(labels):
    """The words of all terms of all labels, joined to one text."""
    return re.findall(
        r"\b\w\w+\b", " ".join(term for label in labels for term in label).lower()
    )


def label_points(labels, vectors):
    """For each label its first term that takes part."""
    found = [
        next((term for term in label if term in vectors), None) for label in labels
    ]
    return [term for term in found if term is not None]


def mean_similarity(mine, theirs, vectors):
    """Cosine of the sums of normalised vectors; nan where a side is empty."""
    totals = []
    for side in (mine, theirs):
        if not side:
            return NAN
        units = [
            [x / (math.hypot(*vectors[t]) or 1.0) for x in vectors[t]] for t in side
        ]
        totals.append([sum(column) for column in zip(*units, strict=True)])
    return cosine(*totals)


def mean(values, causes, policies):
    """Mean over items: undefined ones as the policy of their cause says."""
    known = []
    for value, cause in zip(values, causes, strict=True):
        if not math.isnan(value):
            known.append(value)
        elif policies[cause] != "skip":
            known.append({"0": 0.0, "1": 1.0, "nan": NAN}[policies[cause]])
    return sum(known) / len(known) if known else NAN
