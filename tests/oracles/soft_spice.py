"""Soft-SPICE and BagSim of captions in loops, on a function from a text to a list of numbers."""

from __future__ import annotations

import itertools

from oracles.semantic import cosine

NAN = float("nan")


def phrases(tuples):
    """The distinct phrases of raw tuples."""
    distinct = set()
    for raw in tuples:
        if len(raw) == 3 and raw[2] != "is":
            distinct |= {f"{raw[0]} {raw[2]} {raw[1]}", raw[0], raw[1]}
        elif len(raw) == 1:
            distinct.add(raw[0])
        else:
            distinct |= {f"{raw[1]} {raw[0]}", raw[0]}
    return sorted(distinct)


def nearest(mine, theirs, vector):
    """The mean, over phrases, of the similarity to the most similar other phrase."""
    total = 0
    for phrase in mine:
        total += max(cosine(vector(phrase), vector(other)) for other in theirs)
    return total / len(mine)


def soft_spice(candidate, references, vector, *, bidirectional=False):
    """Of raw tuples, or nan if a side has no phrase."""
    mine = phrases(candidate)
    theirs = phrases(itertools.chain.from_iterable(references))
    if not mine or not theirs:
        return NAN
    precision = nearest(mine, theirs, vector)
    if not bidirectional:
        return precision
    precision = (precision + 1) / 2
    recall = (nearest(theirs, mine, vector) + 1) / 2
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def bag_similarity(caption, references, vector, *, how="joined"):
    """Of captions, or nan if a side is blank."""
    texts = [text.strip() for text in references if text.strip()]
    if not caption.strip() or not texts:
        return NAN
    if how == "joined":
        texts = [" ".join(texts)]
    own_vector = vector(caption.strip())
    similarities = [cosine(own_vector, vector(text)) for text in texts]
    return sum(similarities) / len(similarities)
