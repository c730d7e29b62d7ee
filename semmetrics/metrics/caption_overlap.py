"""Words that captions share with their references: BLEU and ROUGE-L of the COCO caption code.

Conventions
-----------
BLEU-N of a corpus is a function of sums over candidates: tokens, the length of the effective
reference, n-grams, and n-grams found in a reference (each at most as often as in the reference
that has it most often). The value of an item is the same formula on its row. Candidates without
references are left out of the sums, and counted.

Of ROUGE-L precision is the length of the longest common subsequence over the candidate's tokens,
recall over the reference's. The largest of each over all references counts, be it of different
ones, and an empty caption is one empty token, which another empty caption has too.

Values lie in [0, 1]; higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Dense
from semmetrics.core.ngrams import lcs_lengths
from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, sum_rows, take_rows
from semmetrics.data.tasks import kept
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, SKIP_OR_NAN, CaptionBlock
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic, one_of
from semmetrics.metrics.families import SumFormulas

ORDERS = 4
# The COCO code's: where nothing is found a value is tiny, not 0, and nothing divides by 0.
_TINY, _SMALL = 1e-15, 1e-9
_LENGTHS = 1 << 26  # no text has so many tokens; products with them are exact in float64

REFERENCE_LENGTH = one_of("reflen", "closest shortest average", "length of the effective "
                          "reference: closest to the candidate's (the shorter of two)")  # fmt: skip


def bleu_of_counts(
    testlen: NDArray[Any], reflen: NDArray[Any], guess: NDArray[Any], correct: NDArray[Any]
) -> Floats:
    """Return BLEU of every order, from counts.

    Parameters
    ----------
    testlen, reflen : arrays, shape (...)
        Tokens of the candidates, and of their effective references.
    guess, correct : arrays, shape (..., orders)
        N-grams of the candidates, and those found in a reference.

    Returns
    -------
    float array, shape (..., orders), in [0, 1]

    References
    ----------
    Papineni et al., 2002, section 2.3; constants of the COCO caption code (Chen et al. 2015).

    Examples
    --------
    >>> bleu_of_counts(np.array(9), np.array(10), np.array([9, 8]), np.array([6, 2])).round(4)
    array([0.5966, 0.3653])
    """
    precisions = (np.asarray(correct, np.float64) + _TINY) / (np.asarray(guess) + _SMALL)
    means = np.cumprod(precisions, axis=-1) ** (1.0 / np.arange(1, precisions.shape[-1] + 1))
    ratio = (np.asarray(testlen, np.float64) + _TINY) / (np.asarray(reflen) + _SMALL)
    brevity = np.exp(np.minimum(0.0, 1.0 - 1.0 / ratio))
    return np.asarray(means * brevity[..., None])


def reference_lengths(testlen: Ints, indptr: Ints, widths: Ints, rule: str) -> NDArray[Any]:
    """Return the length of the effective reference of each candidate; 0 without references.

    Parameters
    ----------
    testlen : int array, shape (items,)
    indptr, widths : int arrays
        Lengths of the references of each item.
    rule : {"closest", "shortest", "average"}

    Examples
    --------
    >>> indptr, widths = np.array([0, 3]), np.array([8, 12, 9])
    >>> reference_lengths(np.array([10]), indptr, widths, "closest").tolist()
    [9]
    """
    if rule == "average":
        return sum_rows(widths, indptr) / np.maximum(lengths(indptr), 1)
    if rule == "closest":  # the distance, then the length, in one number
        widths = np.abs(widths - np.repeat(testlen, lengths(indptr))) * _LENGTHS + widths
    least = np.nan_to_num(-caption_steps.largest_of_rows(-widths, indptr))
    return least.astype(np.int64) % _LENGTHS


@dataclass(frozen=True, repr=False)
class BleuCounts(Statistic):
    """A step: the counts that BLEU of every order is a formula of.

    ``reflen`` is "closest", "shortest" or "average". An n-gram counts as often as in the candidate,
    at most as often as in the reference that has it most often.
    """

    reflen: str = "closest"

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns "testlen", "reflen", "guess_n", "correct_n" and "cause"."""
        table, captions = caption_steps.task_tokens(block.task), caption_steps.items_of(block)
        widths, some = lengths(table.indptr), captions.n_refs > 0
        testlen = np.where(some, widths[captions.candidates], 0)
        of_each = captions.indptr, widths[captions.references]
        reflen = reference_lengths(testlen, *of_each, self.reflen)
        columns: dict[str, Any] = {"testlen": Dense(testlen), "reflen": Dense(reflen)}
        images, groups = np.unique(block.task.images[block.start : block.stop], return_inverse=True)
        image_rows, flat = take_rows(block.task.indptr, images)
        image, references = row_numbers(image_rows), block.task.references[flat]
        for grams in table.ngrams[:ORDERS]:
            size, bits = len(grams), int(grams.counts.max(initial=0)).bit_length()
            rows, cells = take_rows(grams.indptr, references)
            keys = np.repeat(image * size, lengths(rows)) + grams.codes[cells]
            # image, n-gram and count in one number: the last of an n-gram has the largest count
            held = np.append(np.sort((keys << bits) | grams.counts[cells]), -1)
            rows, cells = take_rows(grams.indptr, captions.candidates)
            wanted = np.repeat(groups.ravel() * size, lengths(rows)) + grams.codes[cells]
            last = held[np.searchsorted(held[:-1], (wanted + 1) << bits) - 1]
            most = np.where(last >> bits == wanted, last & ((1 << bits) - 1), 0)
            found = sum_rows(np.minimum(most, grams.counts[cells]), rows)
            columns[f"guess_{grams.order}"] = Dense(np.maximum(testlen - grams.order + 1, 0))
            columns[f"correct_{grams.order}"] = Dense(found)
        return {**columns, "cause": caption_steps.cause_column(captions.n_refs)}


class BleuFamily(SumFormulas):
    """BLEU of one order, from the counts of all."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that counts."""
        return BleuCounts(str(measure["reflen"]))

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return BLEU of the measure's order."""
        orders = range(1, int(measure.definition.extra["order"]) + 1)
        guess, correct = (
            np.stack([numbers[f"{name}_{order}"] for order in orders], axis=-1)
            for name in ("guess", "correct")
        )
        return bleu_of_counts(numbers["testlen"], numbers["reflen"], guess, correct)[..., -1]


def _bleu(order: int) -> Definition:
    names = "unigrams" if order == 1 else f"n-grams of 1 to {order} words"
    return caption_steps.caption_measure(
        f"BLEU-{order}",
        BleuFamily(),
        f"Clipped precision of {names} over the corpus, times a penalty on brevity.",
        "min(1, exp(1 - r/c)) (Π over n = 1..N of correct_n / guess_n)^(1/N)",
        "Papineni et al. 2002, section 2.3; reference length and constants of the COCO caption "
        "code (Chen et al. 2015)",
        cite=("papineni2002", "chen2015"),
        options=(REFERENCE_LENGTH, SKIP_OR_NAN),
        extra={"order": order},
    )


BLEU = tuple(_bleu(order) for order in range(1, ORDERS + 1))


def rouge_l(precision: NDArray[Any], recall: NDArray[Any], beta: float = 1.2) -> Floats:
    """Return F of precision and recall with a weight on recall; 0 where either is 0.

    Parameters
    ----------
    precision, recall : arrays of one shape, in [0, 1]
        nan stays nan.
    beta : float
        Not negative.

    Returns
    -------
    float array, in [0, 1]

    References
    ----------
    Lin, 2004, ROUGE: a package for automatic evaluation of summaries, equation 4.

    Examples
    --------
    >>> rouge_l(np.array([0.5, 0.0]), np.array([0.25, 0.0])).round(4).tolist()
    [0.3144, 0.0]
    """
    weight = beta**2
    top = (1 + weight) * precision * recall
    bottom = recall + weight * precision
    return np.where(top == 0, 0.0, top / np.where(bottom == 0, 1.0, bottom))


@kept
def _best_shares(block: CaptionBlock) -> tuple[Floats, Floats]:
    """Return the largest precision and recall of each candidate over its references; or nan."""
    table, captions = caption_steps.task_tokens(block.task), caption_steps.items_of(block)
    pairs = captions.pair_candidates, captions.references
    mine, theirs = (lengths(table.indptr)[side] for side in pairs)
    common = lcs_lengths(table.indptr, table.codes, *pairs) + ((mine == 0) & (theirs == 0))
    precision = caption_steps.largest_of_rows(common / np.maximum(mine, 1), captions.indptr)
    recall = caption_steps.largest_of_rows(common / np.maximum(theirs, 1), captions.indptr)
    return precision, recall


def _rouge_values(block: CaptionBlock, *, beta: float) -> Floats:
    return rouge_l(*_best_shares(block), beta)


ROUGE_L = caption_steps.caption_measure(
    "ROUGE-L",
    caption_steps.CaptionMeans(_rouge_values),
    "F of the longest common subsequence with the references, recall weighing more.",
    "(1 + β²) P R / (R + β² P); P = max LCS/|candidate|, R = max LCS/|reference|",
    "Lin 2004, equations 2 to 4; β and maxima of the COCO caption code (Chen et al. 2015)",
    cite=("lin2004", "chen2015"),
    options=(
        Option("beta", "beta", 1.2, kind=float, within=(0, 1e154), help="weight of recall"),
        NO_REFERENCE,
    ),
)
