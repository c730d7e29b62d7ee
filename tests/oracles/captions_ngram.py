"""BLEU, ROUGE-L, NGSM and descriptions of captions in loops, on lists of tokens.

``Blanks`` and ``task_of`` make a task of captions whose tokens stand between blanks, and ``scored``
the scores that a user gets of them.
"""

from __future__ import annotations

import math
from collections import Counter

import semmetrics
from semmetrics.data.tasks import caption_task

NAN = float("nan")


class Blanks:
    """A tokenizer: words between blanks."""

    name = "blanks"

    def tokens(self, captions):
        return [caption.split() for caption in captions]


def task_of(candidates, references, ids=None, tokenizer=None, **more):
    """One candidate an image; both sides are texts."""
    names = (
        [f"image{place}" for place in range(len(candidates))] if ids is None else ids
    )
    return caption_task(
        [[text] for text in candidates],
        references,
        names,
        tokenizer or Blanks(),
        **more,
    )


def scored(candidates, references, measures, ids=None, **options):
    """The scores of one candidate an image, in the order given."""
    names = (
        [f"image{place}" for place in range(len(candidates))] if ids is None else ids
    )
    sides = (dict(zip(names, side, strict=True)) for side in (candidates, references))
    options = {"task": "captions", "missing": "empty", "tokenizer": Blanks(), **options}
    return semmetrics.score(*sides, measures=measures, **options).scores


def ngrams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu_row(candidate, references, rule="closest"):
    """Tokens, effective reference length, n-grams and clipped matches; all 0 without references."""
    if not references:
        return 0, 0, [0] * 4, [0] * 4
    sizes = [len(reference) for reference in references]
    length = {
        "closest": min(sizes, key=lambda size: (abs(size - len(candidate)), size)),
        "shortest": min(sizes),
        "average": sum(sizes) / len(sizes),
    }[rule]
    guess, correct = [], []
    for n in range(1, 5):
        mine = ngrams(candidate, n)
        theirs = [ngrams(reference, n) for reference in references]
        guess.append(sum(mine.values()))
        correct.append(
            sum(
                min(count, max(bag[gram] for bag in theirs))
                for gram, count in mine.items()
            )
        )
    return len(candidate), length, guess, correct


def bleu(rows, n):
    """BLEU-n of rows of counts added up; tiny where nothing is found, as the COCO code has it."""
    testlen, reflen = (sum(row[place] for row in rows) for place in (0, 1))
    product = 1.0
    for order in range(n):
        guess, correct = (sum(row[place][order] for row in rows) for place in (2, 3))
        product *= (correct + 1e-15) / (guess + 1e-9)
    ratio = (testlen + 1e-15) / (reflen + 1e-9)
    return product ** (1 / n) * (math.exp(1 - 1 / ratio) if ratio < 1 else 1.0)


def lcs(left, right):
    """Length of the longest common subsequence by dynamic programming."""
    above = [0] * (len(right) + 1)
    for token in left:
        row = [0]
        for place, other in enumerate(right):
            same = token == other
            row.append(above[place] + 1 if same else max(above[place + 1], row[place]))
        above = row
    return above[-1]


def rouge_l(candidate, references, beta=1.2):
    """An empty caption is one empty token."""
    if not references:
        return NAN
    mine, others = candidate or [""], [reference or [""] for reference in references]
    common = [lcs(mine, other) for other in others]
    precision = max(common) / len(mine)
    recall = max(size / len(other) for size, other in zip(common, others, strict=True))
    if not precision or not recall:
        return 0.0
    return (1 + beta**2) * precision * recall / (recall + beta**2 * precision)


def ngsm(first, second, n=4):
    values = []
    for order in range(1, n + 1):
        left, right = ngrams(first, order), ngrams(second, order)
        union = sum((left | right).values())
        if union:
            values.append(sum((left & right).values()) / union)
    return math.prod(values) ** (1 / max(1, len(values)))


def duplicated(tokens, times=3):
    return any(
        len(set(tokens[start : start + times])) == 1
        for start in range(len(tokens) - times + 1)
    )
