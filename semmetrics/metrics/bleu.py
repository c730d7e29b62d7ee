"""BLEU as the COCO caption code computes it.

Conventions
-----------
BLEU-N of a corpus is a function of sums over candidates: tokens, the length of the
effective reference, n-grams, and n-grams that occur in a reference. Each n-gram counts at
most as often as in the reference that has it most often. The value of an item is the same
formula on its row. Candidates without references are left out of the sums, and counted as
undefined.

Values are in [0, 1], and higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ngrams import NGrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.caption_steps import (
    SKIP_OR_NAN,
    CaptionBlock,
    caption_measure,
    captions_of,
    cause_column,
    key_ngrams,
    largest_of_rows,
    task_tokens,
)
from semmetrics.metrics.definition import Definition, Measure, Statistic
from semmetrics.metrics.families import SumFormulas
from semmetrics.metrics.measure_options import choice_option

ORDERS = 4

# Constants of the COCO caption code. Without a match, a precision is tiny instead of 0,
# and no denominator is 0.
_TINY = 1e-15
_SMALL = 1e-9

_LENGTH_LIMIT = 1 << 26
"""Greater than the length of any caption. Its square is exact in float64."""

REFERENCE_LENGTH = choice_option(
    "reflen",
    "closest shortest average",
    "the effective reference length: that of the reference closest to the "
    "candidate (the shorter one in a tie), the shortest, or the average",
)


def bleu_of_counts(
    testlen: NDArray[Any],
    reflen: NDArray[Any],
    guess: NDArray[Any],
    correct: NDArray[Any],
) -> Floats:
    """Return BLEU of every order from counts.

    Parameters
    ----------
    testlen, reflen : arrays, shape (...)
        Tokens of the candidates, and of their effective references.
    guess, correct : arrays, shape (..., orders)
        N-grams of the candidates, and those that occur in a reference.

    Returns
    -------
    float array, shape (..., orders), in [0, 1]

    References
    ----------
    Papineni et al., 2002, section 2.3, with the constants of the COCO caption code (Chen
    et al. 2015).

    Examples
    --------
    >>> bleu_of_counts(np.array(9), np.array(10), np.array([9, 8]), np.array([6, 2])).round(4)
    array([0.5966, 0.3653])
    """
    matches = np.asarray(correct, np.float64) + _TINY
    precisions = matches / (np.asarray(guess) + _SMALL)
    orders = np.arange(1, precisions.shape[-1] + 1)
    means = np.cumprod(precisions, axis=-1) ** (1.0 / orders)
    length = np.asarray(testlen, np.float64) + _TINY
    length_ratio = length / (np.asarray(reflen) + _SMALL)
    brevity_penalty = np.exp(np.minimum(0.0, 1.0 - 1.0 / length_ratio))
    return np.asarray(means * brevity_penalty[..., None])


def reference_lengths(
    testlen: Ints, indptr: Ints, lengths: Ints, rule: str
) -> NDArray[Any]:
    """Return the length of each candidate's effective reference, 0 without references.

    Parameters
    ----------
    testlen : int array, shape (items,)
        Lengths of the candidates.
    indptr, lengths : int arrays
        Lengths of the references of each item.
    rule : {"closest", "shortest", "average"}
        Which length is effective. Of two lengths that are equally close, the shorter is.

    Examples
    --------
    >>> indptr, lengths = np.array([0, 3]), np.array([8, 12, 9])
    >>> reference_lengths(np.array([10]), indptr, lengths, "closest").tolist()
    [9]
    """
    n_refs = ragged.lengths(indptr)
    if rule == "average":
        return ragged.sum_rows(lengths, indptr) / np.maximum(n_refs, 1)
    keys = lengths
    if rule == "closest":
        # Keys are ordered by distance, then by length.
        distances = np.abs(lengths - np.repeat(testlen, n_refs))
        keys = distances * _LENGTH_LIMIT + lengths
    smallest_keys = -largest_of_rows(-keys, indptr)
    smallest_keys = np.nan_to_num(smallest_keys)  # nan without references
    return smallest_keys.astype(np.int64) % _LENGTH_LIMIT


class _ImagesOfBlock(NamedTuple):
    """The images of a block's items, and the references of each image.

    Attributes
    ----------
    image_of_item : int array, shape (items,)
        Numbers of images within the block.
    image_of_reference, references : int arrays, shape (references,)
        The image and the text of each reference.
    """

    image_of_item: Ints
    image_of_reference: Ints
    references: Ints


def _images_of(block: CaptionBlock) -> _ImagesOfBlock:
    """Return the distinct images of a block's items."""
    task = block.task
    images_of_items = task.images[block.start : block.stop]
    images, image_of_item = np.unique(images_of_items, return_inverse=True)
    indptr, places = ragged.take_rows(task.indptr, images)
    return _ImagesOfBlock(
        image_of_item.ravel(), ragged.row_numbers(indptr), task.references[places]
    )


def _count_clipped(ngrams: NGrams, candidates: Ints, images: _ImagesOfBlock) -> Ints:
    """Count the n-grams of each candidate that occur in its references.

    Each n-gram counts at most as often as in the reference that has it most often.
    """
    by_reference = key_ngrams(ngrams, images.references, images.image_of_reference)
    by_candidate = key_ngrams(ngrams, candidates, images.image_of_item)
    largest_counts = _find_largest_counts(
        by_reference.keys, ngrams.counts[by_reference.cells], by_candidate.keys
    )
    clipped_counts = np.minimum(largest_counts, ngrams.counts[by_candidate.cells])
    return ragged.sum_rows(clipped_counts, by_candidate.indptr)


def _find_largest_counts(
    keys: Ints, counts: NDArray[np.integer], wanted_keys: Ints
) -> Ints:
    """Return the largest count of each wanted key, 0 if it is not among the keys."""
    # A key and a count are packed into one integer. In ascending order, the last integer
    # of a key has its largest count.
    n_bits = int(counts.max(initial=0)).bit_length()
    packed = np.sort((keys << n_bits) | counts)
    next_key_starts = np.searchsorted(packed, (wanted_keys + 1) << n_bits)
    # The position -1, before the first key, finds the appended -1.
    last_of_key = np.append(packed, -1)[next_key_starts - 1]
    is_found = last_of_key >> n_bits == wanted_keys
    count_mask = (1 << n_bits) - 1
    return np.where(is_found, last_of_key & count_mask, 0)


@dataclass(frozen=True, repr=False)
class BleuCounts(Statistic):
    """A step: the counts from which BLEU of every order is computed.

    Attributes
    ----------
    reflen : {"closest", "shortest", "average"}
        The rule for the length of the effective reference.
    """

    reflen: str = "closest"

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns "testlen", "reflen", "guess_n", "correct_n" and "cause"."""
        table = task_tokens(block.task)
        captions = captions_of(block)
        caption_lengths = ragged.lengths(table.indptr)
        has_reference = captions.n_refs > 0
        testlen = np.where(has_reference, caption_lengths[captions.candidates], 0)
        ref_lengths = caption_lengths[captions.references]
        reflen = reference_lengths(testlen, captions.indptr, ref_lengths, self.reflen)
        columns: dict[str, Any] = {"testlen": Dense(testlen), "reflen": Dense(reflen)}
        images = _images_of(block)
        for ngrams in table.ngrams[:ORDERS]:
            n_ngrams = np.maximum(testlen - ngrams.order + 1, 0)
            n_correct = _count_clipped(ngrams, captions.candidates, images)
            columns[f"guess_{ngrams.order}"] = Dense(n_ngrams)
            columns[f"correct_{ngrams.order}"] = Dense(n_correct)
        columns["cause"] = cause_column(captions.n_refs)
        return columns


class BleuFamily(SumFormulas):
    """BLEU of one order, from counts summed over the corpus."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that counts n-grams."""
        return BleuCounts(str(measure["reflen"]))

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return BLEU of the measure's order."""
        order = int(measure.definition.extra["order"])
        guess = _stack_orders(numbers, "guess", order)
        correct = _stack_orders(numbers, "correct", order)
        bleu = bleu_of_counts(numbers["testlen"], numbers["reflen"], guess, correct)
        return bleu[..., -1]


def _stack_orders(numbers: Mapping[str, Floats], name: str, order: int) -> Floats:
    """Return the counts of orders 1 to ``order`` along a last axis."""
    counts = [numbers[f"{name}_{n}"] for n in range(1, order + 1)]
    return np.stack(counts, axis=-1)


def _define_bleu(order: int) -> Definition:
    """Register BLEU of an order."""
    noun = f"n-grams of 1 to {order} words"
    if order == 1:
        noun = "unigrams"
    return caption_measure(
        f"BLEU-{order}",
        BleuFamily(),
        f"Clipped precision of {noun} over the corpus, times a penalty on brevity.",
        "min(1, exp(1 - r/c)) (Π over n = 1..N of correct_n / guess_n)^(1/N)",
        "Papineni et al. 2002, section 2.3; reference length and constants of the COCO caption "
        "code (Chen et al. 2015)",
        cite=("papineni2002", "chen2015"),
        options=(REFERENCE_LENGTH, SKIP_OR_NAN),
        extra={"order": order},
    )


BLEU = tuple(_define_bleu(order) for order in range(1, ORDERS + 1))
