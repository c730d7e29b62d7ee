"""CIDEr-D and CIDEr of one caption, and document frequencies: dicts and loops over tokens."""

from __future__ import annotations

import math
from collections import Counter

from semmetrics.text.porter import porter_stem


def split(captions, stem="none"):
    change = porter_stem if stem == "porter" else str
    return [[change(word) for word in caption.split()] for caption in captions]


def ngrams(tokens, order):
    """How often each n-gram of one order occurs."""
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def document_frequencies(documents):
    """In how many lists of captions each n-gram of orders 1 to 4 occurs."""
    found = Counter()
    for captions in documents:
        found.update(
            {g for tokens in captions for n in range(1, 5) for g in ngrams(tokens, n)}
        )
    return found


def score(candidate, references, frequencies, documents, *, sigma=6.0, clip=True):
    """CIDEr-D of tokens; CIDEr with ``sigma=None, clip=False``."""
    values = []
    for reference in references:
        total = 0.0
        for order in range(1, 5):
            total += cosine(
                candidate, reference, order, frequencies, documents, clip=clip
            )
        if sigma is not None:
            gap = max(len(candidate) - 1, 0) - max(len(reference) - 1, 0)
            total *= math.exp(-(gap**2) / (2 * sigma**2))
        values.append(total / 4)
    return 10 * sum(values) / len(values)


def cosine(candidate, reference, order, frequencies, documents, *, clip):
    """Of the tf-idf vectors of one order; 0 where one of them is zero."""
    mine, theirs = ngrams(candidate, order), ngrams(reference, order)

    def weighted(counts):
        return {
            g: count * (math.log(documents) - math.log(max(1, frequencies.get(g, 0))))
            for g, count in counts.items()
        }

    left, right = weighted(mine), weighted(theirs)
    lengths = [math.sqrt(sum(w * w for w in side.values())) for side in (left, right)]
    if not all(lengths):
        return 0.0
    common = [g for g in left if g in right]
    products = [
        (min(left[g], right[g]) if clip else left[g]) * right[g] for g in common
    ]
    return sum(products) / (lengths[0] * lengths[1])
