"""Semantic recall, NCS and nDCG straight from their definitions: one query, plain Python.

``phi`` is the row of a query: its similarity to each item of the gallery. ``top`` lists the items
retrieved, best first, and ``out`` the items that are left out of everything.
"""

from __future__ import annotations

import math

NAN = float("nan")


def ranking(row, k, out=()):
    """The k best items; of equal ones the first."""
    kept = [place for place in range(len(row)) if place not in set(out)]
    return sorted(kept, key=lambda place: (-row[place], place))[:k]


def ncs(top, phi, k, out=()):
    """As the released code has it: means of K, or of all items where there are fewer."""
    best = ranking(phi, k, out)
    retrieved = [place for place in top if place not in set(out)][:k]
    if sum(phi[place] for place in best) <= 0:
        return NAN
    mine = sum(phi[place] for place in retrieved) / len(best)
    return mine / (sum(phi[place] for place in best) / len(best) + 1e-10)


def equation_5(top, phi, k, m, out=()):
    """The retrieved part of the m most similar items, by phi."""
    extended = ranking(phi, m, out)
    retrieved = [place for place in top if place not in set(out)][:k]
    whole = sum(phi[place] for place in extended)
    return sum(phi[p] for p in retrieved if p in extended) / whole if whole > 0 else NAN


def semantic_recall(top, relevant, k, variant, phi=None, out=()):
    """The four variants."""
    hits = [place for place in top if place not in set(out)][:k]
    hits = [place for place in hits if place in set(relevant)]
    if not relevant:
        return NAN
    if variant in ("hard", "hit"):
        return len(hits) / len(relevant) if variant == "hard" else float(bool(hits))
    whole = sum(phi[place] for place in relevant)
    if whole <= 0:
        return NAN
    share = sum(phi[place] for place in hits) / (whole + 1e-20)
    return share / len(relevant) if variant == "soft" else share


def ndcg(top, phi, k, gain, discount, out=()):
    """Discounted gains over those of the best order."""

    def total(places):
        gains = [max(phi[place], 0.0) for place in places]
        if gain == "exponential":
            gains = [2**one - 1 for one in gains]
        divisors = [
            math.log2(r + 1 if discount == "log2" else max(r, 2))
            for r in range(1, k + 1)
        ]
        return sum(one / by for one, by in zip(gains, divisors, strict=False))

    ideal = total(ranking(phi, k, out))
    retrieved = [place for place in top if place not in set(out)][:k]
    return total(retrieved) / ideal if ideal > 0 else NAN


def similar_images(phi, captions, m, depth, itself):
    """The m images that are most similar to each one by the lists of its captions."""
    found = []
    for image, own in enumerate(captions):
        sums: dict[int, float] = {}
        for caption in own:
            column = [row[caption] for row in phi]
            for other in ranking(column, depth):
                sums[other] = sums.get(other, 0.0) + column[other]
        if not itself:
            sums.pop(image, None)
        found.append(sorted(sums, key=lambda one: -sums[one])[:m])
    return found
