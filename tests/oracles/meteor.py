"""METEOR 1.5 of statistics lines, with fractions as far as there is no root.

A line has 23 numbers: words of the candidate and of the reference, function words of both; for
each stage content words and function words that match, of both; chunks; matched words of both.
"""

from __future__ import annotations

from fractions import Fraction

ALPHA, BETA, GAMMA, DELTA = Fraction(85, 100), 0.2, 0.6, Fraction(3, 4)
STAGES = [Fraction(1), Fraction(3, 5), Fraction(4, 5), Fraction(3, 5)]


def whole(line):
    """Whether all words of both sides match in one chunk."""
    return line[20] == 1 and line[21] == line[0] and line[22] == line[1]


def share(line, side):
    """Weighted matches of a side over its weighted words."""
    words, function = line[side], line[2 + side]
    length = DELTA * (words - function) + (1 - DELTA) * function
    matches = 0
    for stage, weight in enumerate(STAGES):
        content, small = line[4 + 4 * stage + side], line[6 + 4 * stage + side]
        matches += weight * (DELTA * content + (1 - DELTA) * small)
    return Fraction(matches) / length if length else Fraction(0)


def meteor(lines):
    """The value of segments together."""
    lines = [[int(number) for number in line] for line in lines]
    total = [sum(column) for column in zip(*lines, strict=True)]
    chunks = sum(line[20] for line in lines if not whole(line))
    precision, recall = share(total, 0), share(total, 1)
    if not precision or not recall:
        return 0.0
    mean = 1 / (ALPHA / recall + (1 - ALPHA) / precision)
    parts = Fraction(2 * chunks, total[21] + total[22])
    return float(mean) * (1 - GAMMA * float(parts) ** BETA)


def exact_line(candidate, references):
    """The statistics line of a program that knows equal words only and no function words.

    A word matches the first equal one that is free; the reference with most matches counts, of
    these the first.
    """
    best = None
    for reference in references:
        words, free = candidate.split(), dict(enumerate(reference.split()))
        pairs = []
        for place, word in enumerate(words):
            found = next((spot for spot, other in free.items() if other == word), None)
            if found is not None:
                pairs.append((place, found))
                del free[found]
        chunks = sum((a - 1, b - 1) not in pairs for a, b in pairs)
        hits, n_ref = len(pairs), len(reference.split())
        line = [len(words), n_ref, 0, 0, hits, hits, *[0] * 14, chunks, hits, hits]
        if best is None or hits > best[21]:
            best = line
    return best
