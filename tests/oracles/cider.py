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
    frequencies = Counter()
    for captions in documents:
        distinct = set()
        for tokens in captions:
            for order in range(1, 5):
                distinct |= set(ngrams(tokens, order))
        frequencies.update(distinct)
    return frequencies


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
    """Of the tf-idf vectors of one order, or 0 if one of them is zero."""

    def weights(tokens):
        vector = {}
        for gram, count in ngrams(tokens, order).items():
            frequency = max(1, frequencies.get(gram, 0))
            vector[gram] = count * (math.log(documents) - math.log(frequency))
        return vector

    left = weights(candidate)
    right = weights(reference)
    left_length = math.sqrt(sum(weight * weight for weight in left.values()))
    right_length = math.sqrt(sum(weight * weight for weight in right.values()))
    if not left_length or not right_length:
        return 0.0
    products = []
    for gram, weight in left.items():
        other = right.get(gram, 0.0)
        if clip:
            weight = min(weight, other)
        products.append(weight * other)
    return sum(products) / (left_length * right_length)
