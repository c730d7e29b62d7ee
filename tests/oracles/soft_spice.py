"""Soft-SPICE and BagSim of captions in loops, on a function from a text to a list of numbers."""

from __future__ import annotations

from oracles.semantic import cosine

NAN = float("nan")


def phrases(tuples):
    """The distinct phrases of raw tuples."""
    found = set()
    for raw in tuples:
        if len(raw) == 3 and raw[2] != "is":
            found |= {f"{raw[0]} {raw[2]} {raw[1]}", raw[0], raw[1]}
        elif len(raw) == 1:
            found.add(raw[0])
        else:
            found |= {f"{raw[1]} {raw[0]}", raw[0]}
    return sorted(found)


def nearest(mine, theirs, vector):
    return sum(max(cosine(vector(a), vector(b)) for b in theirs) for a in mine) / len(
        mine
    )


def soft_spice(candidate, references, vector, *, bidirectional=False):
    """Of raw tuples; nan where either side has no phrase."""
    mine, theirs = (
        phrases(candidate),
        phrases([raw for one in references for raw in one]),
    )
    if not mine or not theirs:
        return NAN
    precision = nearest(mine, theirs, vector)
    if not bidirectional:
        return precision
    precision, recall = (precision + 1) / 2, (nearest(theirs, mine, vector) + 1) / 2
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def bag_similarity(caption, references, vector, *, how="joined"):
    """Of captions; nan where either side is blank."""
    texts = [text.strip() for text in references if text.strip()]
    if not caption.strip() or not texts:
        return NAN
    texts = [" ".join(texts)] if how == "joined" else texts
    return sum(cosine(vector(caption.strip()), vector(text)) for text in texts) / len(
        texts
    )
