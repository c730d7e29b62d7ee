"""ROUGE-L as the COCO caption code computes it, and the n-gram similarity NGSM.

Conventions
-----------
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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.subsequences import lcs_lengths
from semmetrics.data.tasks.base import memoised
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CaptionBlock,
    CaptionMeans,
    caption_measure,
    captions_of,
    key_ngrams,
    largest_of_rows,
    share_ngrams,
    task_tokens,
)
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import MeasureOption, choice_option, is_cutoff
from semmetrics.text.tokenizers import encode_tokens

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


@memoised
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


def ngsm_pairs(grams: Sequence[NGrams], first: Ints, second: Ints) -> Floats:
    """Return the n-gram similarity of many pairs of captions.

    Parameters
    ----------
    grams : sequence of NGrams
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
    for ngrams in grams:
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
    grams: Sequence[NGrams], texts: Ints, pairs: Sequence[tuple[int, int]]
) -> Floats:
    """Return the n-gram similarity of the captions of pairs of systems, image by image.

    The result is the same as with `ngsm_pairs`. The n-grams of an image are compared
    once for all systems, which is faster the more systems there are.

    Parameters
    ----------
    grams : sequence of NGrams
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
    counts_by_order = [_count_by_system(ngrams, texts) for ngrams in grams]
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
    # A stable sort is fast here, because the keys of each system nearly rise.
    order = np.argsort(keyed.keys, kind="stable")
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
