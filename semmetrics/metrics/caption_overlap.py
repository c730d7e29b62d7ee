"""Words that captions share: BLEU and ROUGE-L of the COCO caption code, and NGSM of two captions.

Conventions
-----------
BLEU-N of a corpus is a function of sums over candidates: tokens, the length of the effective
reference, n-grams, and n-grams found in a reference (each at most as often as in the reference
that has it most often). The value of an item is the same formula on its row. Candidates without
references are left out of the sums, and counted.

Of ROUGE-L precision is the length of the longest common subsequence over the candidate's tokens,
recall over the reference's. The largest of each over all references counts, be it of different
ones, and an empty caption is one empty token, which another empty caption has too.

NGSM of one order is the weighted Jaccard index of the two bags of n-grams; the similarity is its
geometric mean over orders 1 to N (N = 4). An order that neither caption has is left out, so two
captions of the same tokens have 1, also where both are empty; an order that one alone has gives 0.
The two captions can be exchanged.

Values lie in [0, 1]; higher is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.subsequences import lcs_lengths
from semmetrics.data.tasks import kept
from semmetrics.errors import InputError
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, SKIP_OR_NAN, CaptionBlock
from semmetrics.metrics.definition import (
    Definition,
    Measure,
    Option,
    Statistic,
    is_cutoff,
    one_of,
)
from semmetrics.metrics.families import SumFormulas
from semmetrics.metrics.formulas import divide
from semmetrics.text.tokenizers import encode_tokens

ORDERS = 4
# The COCO code's: where nothing is found a value is tiny, not 0, and nothing divides by 0.
_TINY, _SMALL = 1e-15, 1e-9
# no text has so many tokens; products with them are exact in float64
_LENGTHS = 1 << 26

REFERENCE_LENGTH = one_of(
    "reflen",
    "closest shortest average",
    "length of the effective "
    "reference: closest to the candidate's (the shorter of two)",
)


def bleu_of_counts(
    testlen: NDArray[Any],
    reflen: NDArray[Any],
    guess: NDArray[Any],
    correct: NDArray[Any],
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
    precisions = (np.asarray(correct, np.float64) + _TINY) / (
        np.asarray(guess) + _SMALL
    )
    means = np.cumprod(precisions, axis=-1) ** (
        1.0 / np.arange(1, precisions.shape[-1] + 1)
    )
    ratio = (np.asarray(testlen, np.float64) + _TINY) / (np.asarray(reflen) + _SMALL)
    brevity = np.exp(np.minimum(0.0, 1.0 - 1.0 / ratio))
    return np.asarray(means * brevity[..., None])


def reference_lengths(
    testlen: Ints, indptr: Ints, widths: Ints, rule: str
) -> NDArray[Any]:
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
        return ragged.sum_rows(widths, indptr) / np.maximum(ragged.lengths(indptr), 1)
    if rule == "closest":  # the distance, then the length, in one number
        widths = (
            np.abs(widths - np.repeat(testlen, ragged.lengths(indptr))) * _LENGTHS
            + widths
        )
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
        table, captions = (
            caption_steps.task_tokens(block.task),
            caption_steps.items_of(block),
        )
        widths, some = ragged.lengths(table.indptr), captions.n_refs > 0
        testlen = np.where(some, widths[captions.candidates], 0)
        of_each = captions.indptr, widths[captions.references]
        reflen = reference_lengths(testlen, *of_each, self.reflen)
        columns: dict[str, Any] = {"testlen": Dense(testlen), "reflen": Dense(reflen)}
        images, groups = np.unique(
            block.task.images[block.start : block.stop], return_inverse=True
        )
        image_rows, flat = ragged.take_rows(block.task.indptr, images)
        image, references = ragged.row_numbers(image_rows), block.task.references[flat]
        for grams in table.ngrams[:ORDERS]:
            size, bits = len(grams), int(grams.counts.max(initial=0)).bit_length()
            rows, cells = ragged.take_rows(grams.indptr, references)
            keys = np.repeat(image * size, ragged.lengths(rows)) + grams.codes[cells]
            # image, n-gram and count in one number: the last of an n-gram has the largest count
            held = np.append(np.sort((keys << bits) | grams.counts[cells]), -1)
            rows, cells = ragged.take_rows(grams.indptr, captions.candidates)
            wanted = (
                np.repeat(groups.ravel() * size, ragged.lengths(rows))
                + grams.codes[cells]
            )
            last = held[np.searchsorted(held[:-1], (wanted + 1) << bits) - 1]
            most = np.where(last >> bits == wanted, last & ((1 << bits) - 1), 0)
            found = ragged.sum_rows(np.minimum(most, grams.counts[cells]), rows)
            columns[f"guess_{grams.order}"] = Dense(
                np.maximum(testlen - grams.order + 1, 0)
            )
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
        return bleu_of_counts(numbers["testlen"], numbers["reflen"], guess, correct)[
            ..., -1
        ]


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
    table, captions = (
        caption_steps.task_tokens(block.task),
        caption_steps.items_of(block),
    )
    pairs = captions.pair_candidates, captions.references
    mine, theirs = (ragged.lengths(table.indptr)[side] for side in pairs)
    common = lcs_lengths(table.indptr, table.codes, *pairs) + (
        (mine == 0) & (theirs == 0)
    )
    precision = caption_steps.largest_of_rows(
        common / np.maximum(mine, 1), captions.indptr
    )
    recall = caption_steps.largest_of_rows(
        common / np.maximum(theirs, 1), captions.indptr
    )
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
        Option(
            "beta", "beta", 1.2, kind=float, within=(0, 1e154), help="weight of recall"
        ),
        NO_REFERENCE,
    ),
)


def ngsm(first: Sequence[str], second: Sequence[str], n: int = 4) -> float:
    """Return the similarity of two captions by their n-grams of orders 1 to ``n``.

    Parameters
    ----------
    first, second : sequences of str
        Tokens.
    n : int
        At least 1.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If a caption is a text and not its tokens, or ``n`` is no order.

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
        raise InputError(
            "bad-option", name="n", value=n, wanted="a whole number from 1"
        )
    for name, caption in (("first", first), ("second", second)):
        if isinstance(caption, (str, bytes)):
            raise InputError(
                "wrong-type", name, value=caption, wanted="a list of tokens"
            )
    indptr, codes, _ = encode_tokens([first, second])
    return float(
        ngsm_pairs(count_ngrams(indptr, codes, int(n)), np.array([0]), np.array([1]))[0]
    )


def ngsm_pairs(grams: Sequence[NGrams], first: Ints, second: Ints) -> Floats:
    """Return the similarity of many pairs of captions.

    Parameters
    ----------
    grams : sequence of NGrams
        Of orders 1 to N of all captions.
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
    counts = (
        (common_ngrams(g, first, second), g.totals[first] + g.totals[second])
        for g in grams
    )
    return _geometric_mean(counts, len(first))


def _geometric_mean(counts: Iterable[tuple[Ints, Ints]], size: int) -> Floats:
    """Return the geometric mean over orders, from the n-grams shared and those of both sides."""
    product, orders = np.ones(size), np.zeros(size, np.int64)
    for shared, both in counts:
        value = divide(shared, both - shared)
        neither = np.isnan(value)
        orders += ~neither
        product *= np.where(neither, 1.0, value)
    return np.asarray(product ** (1.0 / np.maximum(orders, 1)))


def ngsm_systems(
    grams: Sequence[NGrams], texts: Ints, pairs: Sequence[tuple[int, int]]
) -> Floats:
    """Return the similarity of the captions of pairs of systems, image by image.

    The values are those of ``ngsm_pairs``. The n-grams of an image are compared once for all
    systems, which is faster the more systems there are.

    Parameters
    ----------
    grams : sequence of NGrams
        Of orders 1 to N of all captions.
    texts : int array, shape (systems, images)
        The caption that each system gives an image.
    pairs : sequence of pairs of int
        Of systems.

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
    tables = [_shared_counts(one, texts) for one in grams]
    found = np.ones((len(pairs), texts.shape[1]))
    for row, (first, second) in enumerate(pairs):
        counts = []
        for indptr, table, totals in tables:
            shared = ragged.sum_rows(np.minimum(table[first], table[second]), indptr)
            counts.append((shared, totals[first] + totals[second]))
        found[row] = _geometric_mean(counts, texts.shape[1])
    return found


def _shared_counts(
    grams: NGrams, captions: Ints
) -> tuple[Ints, NDArray[np.integer], Ints]:
    """Count how often each system has each n-gram that two of them have for an image.

    Returns
    -------
    indptr : int array, shape (images + 1,)
    counts : int array, shape (systems, n-grams of images)
    totals : int array, shape (systems, images)
        The n-grams of each caption, shared or not.
    """
    systems, images = captions.shape
    indptr, cells = ragged.take_rows(grams.indptr, captions.ravel())
    owner = np.repeat(np.arange(systems * images), ragged.lengths(indptr))
    keys = owner % images * max(1, len(grams)) + grams.codes[cells]
    order = np.argsort(keys, kind="stable")  # fast: those of a system are in order
    keys, owner, counts = (
        keys[order],
        owner[order] // images,
        grams.counts[cells][order],
    )
    # whether a cell has the n-gram of the one before
    same = np.zeros(len(keys) + 1, np.bool_)
    np.equal(keys[1:], keys[:-1], out=same[1:-1])
    kept = same[:-1] | same[1:]
    group = np.cumsum(~same[:-1][kept]) - 1
    image = keys[kept][~same[:-1][kept]] // max(1, len(grams))
    table = np.zeros((systems, len(image)), np.int32)
    table[owner[kept], group] = counts[kept]
    return (
        ragged.offsets(np.bincount(image, minlength=images)),
        table,
        grams.totals[captions],
    )


def common_ngrams(
    grams: NGrams, first: Ints, second: Ints, *, at_once: int = 1 << 20
) -> Ints:
    """Count the n-grams that both captions of each pair have, as often as the one with fewer.

    Parameters
    ----------
    grams : NGrams
    first, second : int arrays, shape (pairs,)
    at_once : int
        How many n-grams of pairs are in memory at a time; a pair may have more.

    Returns
    -------
    int array, shape (pairs,)

    Examples
    --------
    >>> unigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 7, 7, 7, 7]), 1)[0]
    >>> common_ngrams(unigrams, np.array([0]), np.array([1])).tolist()
    [2]
    """
    widths = ragged.lengths(grams.indptr)
    costs = ragged.offsets(widths[first] + widths[second])
    found = np.zeros(len(first), np.int64)
    for run in ragged.runs_within(costs, at_once):
        each = np.arange(run.stop - run.start + 1)
        shared = caption_steps.share_ngrams(grams, first[run], each, second[run])
        times = np.minimum(shared.mine, shared.theirs)
        found[run] = np.bincount(shared.pairs, times, len(each) - 1)
    return found


def _ngsm_values(block: CaptionBlock, *, order: int, refs: str) -> Floats:
    captions = caption_steps.items_of(block)
    grams = caption_steps.task_tokens(block.task).ngrams[:order]
    values = ngsm_pairs(grams, captions.pair_candidates, captions.references)
    if refs == "max":
        return caption_steps.largest_of_rows(values, captions.indptr)
    total = np.bincount(
        ragged.row_numbers(captions.indptr), values, minlength=len(block)
    )
    return np.asarray(divide(total, captions.n_refs))


NGSM = caption_steps.caption_measure(
    "NGSM",
    caption_steps.CaptionMeans(_ngsm_values),
    "Geometric mean over orders of the shared n-grams among all of both captions.",
    "(Π over n = 1..N of C_n / (U_n(s) + U_n(t) - C_n))^(1/N)",
    "Wan et al. 2022, equations 1 to 4",
    cite=("wan2022",),
    options=(
        Option(
            "order", "order", 4, (1, 2, 3, 4), int, help="the largest order of n-grams"
        ),
        one_of("refs", "mean max", "over the references of an item"),
        NO_REFERENCE,
    ),
    symmetric=True,
)
