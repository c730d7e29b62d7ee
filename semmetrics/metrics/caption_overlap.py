"""BLEU and ROUGE-L as the COCO caption code computes them, and the n-gram similarity NGSM.

Conventions
-----------
**BLEU.** BLEU-N of a corpus is a function of sums over candidates: tokens, the length of
the effective reference, n-grams, and n-grams that occur in a reference. Each n-gram
counts at most as often as in the reference that has it most often. The value of an item
is the same formula on its row. Candidates without references are left out of the sums,
and counted as undefined.

**ROUGE-L.** Precision is the length of the longest common subsequence divided by the
number of the candidate's tokens. Recall is that length divided by the number of the
reference's tokens. The value uses the largest precision and the largest recall over all
references, even if they belong to different references. An empty caption counts as one
empty token, so two empty captions agree.

**NGSM.** For one order, it is the weighted Jaccard index of the two bags of n-grams. The
similarity is the geometric mean over orders 1 to N (N = 4). An order is left out if
neither caption has n-grams of it, so two captions of the same tokens have the value 1,
even if both are empty. If only one caption has n-grams of an order, the value is 0. The
two captions can be exchanged.

Values are in [0, 1], and higher is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.subsequences import lcs_lengths
from semmetrics.data.tasks import kept
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    SKIP_OR_NAN,
    CaptionBlock,
    CaptionMeans,
    caption_measure,
    captions_of,
    cause_column,
    key_ngrams,
    largest_of_rows,
    share_ngrams,
    task_tokens,
)
from semmetrics.metrics.definition import Definition, Measure, Statistic
from semmetrics.metrics.families import SumFormulas
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import MeasureOption, choice_option, is_cutoff
from semmetrics.text.tokenizers import encode_tokens

ORDERS = 4

# Constants of the COCO caption code. Without a match, a precision is tiny instead of 0,
# and no denominator is 0.
_TINY = 1e-15
_SMALL = 1e-9

_LENGTH_LIMIT = 1 << 26
"""Greater than the length of any caption. Its square is exact in float64."""

# ---- BLEU ----------------------------------------------------------------------------

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

# ---- ROUGE-L -------------------------------------------------------------------------


def rouge_l(precision: NDArray[Any], recall: NDArray[Any], beta: float = 1.2) -> Floats:
    """Return the weighted F of precision and recall, 0 if either is 0.

    Parameters
    ----------
    precision, recall : arrays of one shape, in [0, 1]
        nan gives nan.
    beta : float
        The weight of recall, not negative.

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
    numerator = (1 + weight) * precision * recall
    denominator = recall + weight * precision
    denominator = np.where(denominator == 0, 1.0, denominator)
    return np.where(numerator == 0, 0.0, numerator / denominator)


class _BestShares(NamedTuple):
    """The largest precision and recall over references, nan without references."""

    precision: Floats
    recall: Floats


@kept
def _best_shares(block: CaptionBlock) -> _BestShares:
    """Return the largest precision and recall of each candidate over its references."""
    table = task_tokens(block.task)
    captions = captions_of(block)
    candidates = captions.pair_candidates
    references = captions.references
    caption_lengths = ragged.lengths(table.indptr)
    n_candidate = caption_lengths[candidates]
    n_reference = caption_lengths[references]
    n_common = lcs_lengths(table.indptr, table.codes, candidates, references)
    n_common[(n_candidate == 0) & (n_reference == 0)] = 1  # both are one empty token
    precisions = n_common / np.maximum(n_candidate, 1)
    recalls = n_common / np.maximum(n_reference, 1)
    return _BestShares(
        largest_of_rows(precisions, captions.indptr),
        largest_of_rows(recalls, captions.indptr),
    )


def _rouge_values(block: CaptionBlock, *, beta: float) -> Floats:
    """Return ROUGE-L of each candidate."""
    best = _best_shares(block)
    return rouge_l(best.precision, best.recall, beta)


ROUGE_L = caption_measure(
    "ROUGE-L",
    CaptionMeans(_rouge_values),
    "F-measure of the longest common subsequence with the references, weighted "
    "towards recall.",
    "(1 + β²) P R / (R + β² P); P = max LCS/|candidate|, R = max LCS/|reference|",
    "Lin 2004, equations 2 to 4; β and maxima of the COCO caption code (Chen et al. 2015)",
    cite=("lin2004", "chen2015"),
    options=(
        MeasureOption(
            "beta", "beta", 1.2, kind=float, within=(0, 1e154), help="weight of recall"
        ),
        NO_REFERENCE,
    ),
)

# ---- NGSM ----------------------------------------------------------------------------


def ngsm(first: Sequence[str], second: Sequence[str], n: int = 4) -> float:
    """Return the n-gram similarity of two captions.

    Parameters
    ----------
    first, second : sequences of str
        Tokens.
    n : int
        The largest order of n-grams, at least 1.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If a caption is a string instead of its tokens, or ``n`` is not a positive
        integer.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, equations 1 to 4.

    Examples
    --------
    >>> round(ngsm(["a", "red", "dog"], ["a", "red", "cat"], n=2), 4)
    0.4082
    >>> ngsm([], [])
    1.0
    """
    if not is_cutoff(n):
        wanted = "a positive integer"
        raise InputError("bad-option", name="n", value=n, wanted=wanted)
    for name, caption in (("first", first), ("second", second)):
        if isinstance(caption, (str, bytes)):
            wanted = "a list of tokens"
            raise InputError("wrong-type", name, value=caption, wanted=wanted)
    indptr, codes, _ = encode_tokens([first, second])
    ngrams_by_order = count_ngrams(indptr, codes, int(n))
    values = ngsm_pairs(ngrams_by_order, np.array([0]), np.array([1]))
    return float(values[0])


def ngsm_pairs(ngrams_by_order: Sequence[NGrams], first: Ints, second: Ints) -> Floats:
    """Return the n-gram similarity of many pairs of captions.

    Parameters
    ----------
    ngrams_by_order : sequence of NGrams
        N-grams of orders 1 to N of all captions.
    first, second : int arrays, shape (pairs,)
        The captions of each pair.

    Returns
    -------
    float array, shape (pairs,), in [0, 1]

    References
    ----------
    Wan et al., 2022, Pattern Recognition, equations 1 to 4.

    Examples
    --------
    >>> grams = count_ngrams(np.array([0, 3, 6]), np.array([0, 1, 2, 0, 1, 3]), 2)
    >>> ngsm_pairs(grams, np.array([0, 0]), np.array([1, 0])).round(4).tolist()
    [0.4082, 1.0]
    """
    mean = _GeometricMean(len(first))
    for ngrams in ngrams_by_order:
        n_shared = common_ngrams(ngrams, first, second)
        mean.add_order(n_shared, ngrams.totals[first] + ngrams.totals[second])
    return mean.value()


class _GeometricMean:
    """The geometric mean over orders of the weighted Jaccard index of two bags.

    Orders that neither caption of a pair has do not count. Only running products are
    stored, because the counts of one order may be large.
    """

    def __init__(self, n_pairs: int) -> None:
        self._products = np.ones(n_pairs)
        self._n_orders = np.zeros(n_pairs, np.int64)

    def add_order(self, n_shared: Ints, n_total: Ints) -> None:
        """Add an order: the n-grams that each pair shares, and those of both captions."""
        jaccard = divide(n_shared, n_total - n_shared)
        has_ngrams = ~np.isnan(jaccard)
        self._n_orders += has_ngrams
        self._products *= np.where(has_ngrams, jaccard, 1.0)

    def value(self) -> Floats:
        """Return the mean of each pair, 1 without any n-gram."""
        n_orders = np.maximum(self._n_orders, 1)
        return np.asarray(self._products ** (1.0 / n_orders))


def ngsm_systems(
    ngrams_by_order: Sequence[NGrams], texts: Ints, pairs: Sequence[tuple[int, int]]
) -> Floats:
    """Return the n-gram similarity of the captions of pairs of systems, image by image.

    The result is the same as with `ngsm_pairs`. The n-grams of an image are compared
    once for all systems, which is faster the more systems there are.

    Parameters
    ----------
    ngrams_by_order : sequence of NGrams
        N-grams of orders 1 to N of all captions.
    texts : int array, shape (systems, images)
        The caption that each system gives an image.
    pairs : sequence of pairs of int
        Numbers of systems.

    Returns
    -------
    float array, shape (pairs, images), in [0, 1]

    References
    ----------
    Wan et al., 2022, Pattern Recognition, equations 1 to 4.

    Examples
    --------
    >>> grams = count_ngrams(np.array([0, 3, 6]), np.array([0, 1, 2, 0, 1, 3]), 2)
    >>> ngsm_systems(grams, np.array([[0, 1], [1, 1]]), [(0, 1)]).round(4).tolist()
    [[0.4082, 1.0]]
    """
    counts_by_order = [_count_by_system(ngrams, texts) for ngrams in ngrams_by_order]
    n_images = texts.shape[1]
    values = np.ones((len(pairs), n_images))
    for row, (first, second) in enumerate(pairs):
        mean = _GeometricMean(n_images)
        for counts in counts_by_order:
            smaller_counts = np.minimum(counts.table[first], counts.table[second])
            n_shared = ragged.sum_rows(smaller_counts, counts.indptr)
            mean.add_order(n_shared, counts.totals[first] + counts.totals[second])
        values[row] = mean.value()
    return values


class _CountsBySystem(NamedTuple):
    """Counts of the n-grams that at least two systems have for the same image.

    Attributes
    ----------
    indptr : int array, shape (images + 1,)
        Offsets of the columns of each image.
    table : int array, shape (systems, columns)
        How often each system has an n-gram. There is a column for each such image and
        n-gram.
    totals : int array, shape (systems, images)
        The number of n-grams of each caption, shared or not.
    """

    indptr: Ints
    table: NDArray[np.integer]
    totals: Ints


def _count_by_system(ngrams: NGrams, texts: Ints) -> _CountsBySystem:
    """Count the n-grams of one order that at least two systems have for an image.

    Parameters
    ----------
    ngrams : NGrams
    texts : int array, shape (systems, images)
    """
    n_systems, n_images = texts.shape
    image_of_text = np.tile(np.arange(n_images), n_systems)
    keyed = key_ngrams(ngrams, texts.ravel(), image_of_text)
    order = np.argsort(
        keyed.keys, kind="stable"
    )  # fast, as a system's keys nearly rise
    keys = keyed.keys[order]
    system = ragged.row_numbers(keyed.indptr)[order] // n_images
    counts = ngrams.counts[keyed.cells[order]]

    # Equal keys are neighbours now. Each key that several systems have is a column.
    is_first = ragged.starts_run(keys)
    is_last = np.ones(len(keys), np.bool_)
    is_last[:-1] = is_first[1:]
    is_shared = ~(is_first & is_last)
    starts_column = is_first[is_shared]
    column = np.cumsum(starts_column) - 1
    n_distinct = max(1, len(ngrams))
    image_of_column = keys[is_shared][starts_column] // n_distinct
    table = np.zeros((n_systems, len(image_of_column)), np.int32)
    table[system[is_shared], column] = counts[is_shared]
    n_columns_of_image = np.bincount(image_of_column, minlength=n_images)
    return _CountsBySystem(
        ragged.offsets(n_columns_of_image), table, ngrams.totals[texts]
    )


def common_ngrams(
    ngrams: NGrams, first: Ints, second: Ints, *, max_cells: int = 1 << 20
) -> Ints:
    """Count the n-grams that both captions of each pair have.

    An n-gram counts as often as in the caption that has it less often.

    Parameters
    ----------
    ngrams : NGrams
    first, second : int arrays, shape (pairs,)
    max_cells : int
        How many n-grams of pairs are in memory at a time. One pair may have more.

    Returns
    -------
    int array, shape (pairs,)

    Examples
    --------
    >>> unigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 7, 7, 7, 7]), 1)[0]
    >>> common_ngrams(unigrams, np.array([0]), np.array([1])).tolist()
    [2]
    """
    sizes = ragged.lengths(ngrams.indptr)
    costs = ragged.offsets(sizes[first] + sizes[second])
    n_common = np.zeros(len(first), np.int64)
    for run in ragged.runs_within(costs, max_cells):
        n_pairs = run.stop - run.start
        one_reference_each = np.arange(n_pairs + 1)
        shared = share_ngrams(ngrams, first[run], one_reference_each, second[run])
        counts = np.minimum(shared.candidate_counts, shared.reference_counts)
        n_common[run] = np.bincount(shared.pairs, counts, n_pairs)
    return n_common


def _ngsm_values(block: CaptionBlock, *, order: int, refs: str) -> Floats:
    """Return the mean or largest similarity of each candidate to its references."""
    captions = captions_of(block)
    ngrams_by_order = task_tokens(block.task).ngrams[:order]
    values = ngsm_pairs(ngrams_by_order, captions.pair_candidates, captions.references)
    if refs == "max":
        return largest_of_rows(values, captions.indptr)
    sums = np.bincount(captions.pair_items, values, minlength=len(block))
    return np.asarray(divide(sums, captions.n_refs))


NGSM = caption_measure(
    "NGSM",
    CaptionMeans(_ngsm_values),
    "Geometric mean, over the orders of n-grams, of the Jaccard similarity of "
    "two captions' n-grams.",
    "(Π over n = 1..N of C_n / (U_n(s) + U_n(t) - C_n))^(1/N)",
    "Wan et al. 2022, equations 1 to 4",
    cite=("wan2022",),
    options=(
        MeasureOption(
            "order",
            "order",
            4,
            (1, 2, 3, 4),
            int,
            help="the largest order of the n-grams",
        ),
        choice_option("refs", "mean max", "how the references of an item are combined"),
        NO_REFERENCE,
    ),
    symmetric=True,
)
