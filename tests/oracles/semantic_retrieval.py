"""Semantic recall, NCS and nDCG by definition: one query, plain Python.

``phi`` is the row of a query: its similarity to each item of the gallery. ``top`` lists
the retrieved items, best first, and ``out`` the items to ignore.
"""

from __future__ import annotations

import math

NAN = float("nan")


def ranking(row, k, out=()):
    """The k best items. Of equal ones the first."""
    items = without(range(len(row)), out)
    return sorted(items, key=lambda item: (-row[item], item))[:k]


def without(items, out):
    return [item for item in items if item not in out]


def phi_sum(phi, items):
    return sum(phi[item] for item in items)


def ncs(top, phi, k, out=()):
    """As in the released code: means of K items, or of all if there are fewer."""
    best = ranking(phi, k, out)
    best_sum = phi_sum(phi, best)
    if best_sum <= 0:
        return NAN
    retrieved = without(top, out)[:k]
    retrieved_mean = phi_sum(phi, retrieved) / len(best)
    return retrieved_mean / (best_sum / len(best) + 1e-10)


def equation_5(top, phi, k, m, out=()):
    """The retrieved share, by phi, of the m most similar items."""
    similar = ranking(phi, m, out)
    retrieved = without(top, out)[:k]
    found_items = [item for item in retrieved if item in similar]
    total = phi_sum(phi, similar)
    return phi_sum(phi, found_items) / total if total > 0 else NAN


def semantic_recall(top, relevant, k, variant, phi=None, out=()):
    """Recall: "hard", "hit", "soft" or by phi."""
    retrieved = without(top, out)[:k]
    hits = [item for item in retrieved if item in relevant]
    if not relevant:
        return NAN
    if variant == "hard":
        return len(hits) / len(relevant)
    if variant == "hit":
        return float(bool(hits))
    total = phi_sum(phi, relevant)
    if total <= 0:
        return NAN
    share = phi_sum(phi, hits) / (total + 1e-20)
    return share / len(relevant) if variant == "soft" else share


def discounted_gain(items, phi, gain, discount):
    """The sum of the gains of ranked items, each divided by its rank's discount."""
    terms = []
    for rank, item in enumerate(items, start=1):
        item_gain = max(phi[item], 0.0)
        if gain == "exponential":
            item_gain = 2**item_gain - 1
        discount_rank = rank + 1 if discount == "log2" else max(rank, 2)
        terms.append(item_gain / math.log2(discount_rank))
    return sum(terms)


def ndcg(top, phi, k, gain, discount, out=()):
    """Discounted gains divided by those of the best order."""
    ideal = discounted_gain(ranking(phi, k, out), phi, gain, discount)
    retrieved = without(top, out)[:k]
    if ideal <= 0:
        return NAN
    return discounted_gain(retrieved, phi, gain, discount) / ideal


def similar_images(phi, captions, m, depth, itself):
    """The m images that are most similar to each one by the lists of its captions."""
    neighbours = []
    for image, own_captions in enumerate(captions):
        sums: dict[int, float] = {}
        for caption in own_captions:
            column = [row[caption] for row in phi]
            for other in ranking(column, depth):
                sums[other] = sums.get(other, 0.0) + column[other]
        if not itself:
            sums.pop(image, None)
        neighbours.append(sorted(sums, key=sums.get, reverse=True)[:m])
    return neighbours
