"""BLEU, ROUGE-L, NGSM and descriptions of captions in loops, on lists of tokens.

``Blanks`` and ``task_of`` create a task of captions with tokens separated by spaces, and
``scored`` computes their scores with the public function.
"""

from __future__ import annotations

import math
from collections import Counter

import semmetrics
from semmetrics.data.tasks.captions import caption_task

NAN = float("nan")


class Blanks:
    """A tokenizer that splits at spaces."""

    name = "blanks"

    def tokens(self, captions):
        return [caption.split() for caption in captions]


def image_names(candidates, ids):
    if ids is not None:
        return ids
    return [f"image{number}" for number in range(len(candidates))]


def task_of(candidates, references, ids=None, tokenizer=None, **options):
    """A task with one candidate per image. Both sides are strings."""
    names = image_names(candidates, ids)
    candidate_lists = [[caption] for caption in candidates]
    tokenizer = tokenizer or Blanks()
    return caption_task(candidate_lists, references, names, tokenizer, **options)


def scored(candidates, references, measures, ids=None, **options):
    """The scores of one candidate per image, in the given order."""
    names = image_names(candidates, ids)
    preds = dict(zip(names, candidates, strict=True))
    refs = dict(zip(names, references, strict=True))
    options = {"task": "captions", "missing": "empty", "tokenizer": Blanks(), **options}
    return semmetrics.score(preds, refs, measures=measures, **options).scores


def ngrams(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def reference_length(candidate, references, rule):
    sizes = [len(reference) for reference in references]
    if rule == "shortest":
        return min(sizes)
    if rule == "average":
        return sum(sizes) / len(sizes)
    return min(sizes, key=lambda size: (abs(size - len(candidate)), size))


def clipped_matches(counts, reference_counts):
    """N-grams in common with the references, at most as often as in one of them."""
    matches = 0
    for gram, count in counts.items():
        largest = max(other[gram] for other in reference_counts)
        matches += min(count, largest)
    return matches


def bleu_row(candidate, references, rule="closest"):
    """Tokens, effective reference length, n-grams and clipped matches.

    All are 0 without references.
    """
    if not references:
        return 0, 0, [0] * 4, [0] * 4
    guess = []
    correct = []
    for n in range(1, 5):
        counts = ngrams(candidate, n)
        reference_counts = [ngrams(reference, n) for reference in references]
        guess.append(sum(counts.values()))
        correct.append(clipped_matches(counts, reference_counts))
    length = reference_length(candidate, references, rule)
    return len(candidate), length, guess, correct


def bleu(rows, n):
    """BLEU-n of the summed counts, with the tiny constants of the COCO code."""
    testlen = sum(row[0] for row in rows)
    reflen = sum(row[1] for row in rows)
    product = 1.0
    for order in range(n):
        guess = sum(row[2][order] for row in rows)
        correct = sum(row[3][order] for row in rows)
        product *= (correct + 1e-15) / (guess + 1e-9)
    ratio = (testlen + 1e-15) / (reflen + 1e-9)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    return product ** (1 / n) * penalty


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
