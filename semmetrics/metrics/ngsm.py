"""NGSM, the similarity of two captions by the n-grams that they share.

Conventions
-----------
NGSM of one order is the weighted Jaccard index of the two bags of n-grams; the similarity is its
geometric mean over orders 1 to N (N = 4). An order that neither caption has is left out, so two
captions of the same tokens have 1, also where both are empty; an order that one alone has gives 0.
Values lie in [0, 1]; the two captions can be exchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock
from semmetrics.metrics.definition import Option, is_cutoff, one_of
from semmetrics.metrics.formulas import divide
from semmetrics.text.tokenizers import encode_tokens


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
        raise InputError("bad-option", name="n", value=n, wanted="a whole number from 1")
    for name, caption in (("first", first), ("second", second)):
        if isinstance(caption, (str, bytes)):
            raise InputError("wrong-type", name, value=caption, wanted="a list of tokens")
    indptr, codes, _ = encode_tokens([first, second])
    return float(ngsm_pairs(count_ngrams(indptr, codes, int(n)), np.array([0]), np.array([1]))[0])


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
    counts = ((common_ngrams(g, first, second), g.totals[first] + g.totals[second]) for g in grams)
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


def ngsm_systems(grams: Sequence[NGrams], texts: Ints, pairs: Sequence[tuple[int, int]]) -> Floats:
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


def _shared_counts(grams: NGrams, captions: Ints) -> tuple[Ints, NDArray[np.integer], Ints]:
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
    keys, owner, counts = keys[order], owner[order] // images, grams.counts[cells][order]
    same = np.zeros(len(keys) + 1, np.bool_)  # whether a cell has the n-gram of the one before
    np.equal(keys[1:], keys[:-1], out=same[1:-1])
    kept = same[:-1] | same[1:]
    group = np.cumsum(~same[:-1][kept]) - 1
    image = keys[kept][~same[:-1][kept]] // max(1, len(grams))
    table = np.zeros((systems, len(image)), np.int32)
    table[owner[kept], group] = counts[kept]
    return ragged.offsets(np.bincount(image, minlength=images)), table, grams.totals[captions]


def common_ngrams(grams: NGrams, first: Ints, second: Ints, *, at_once: int = 1 << 20) -> Ints:
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
    total = np.bincount(ragged.row_numbers(captions.indptr), values, minlength=len(block))
    return np.asarray(divide(total, captions.n_refs))


NGSM = caption_steps.caption_measure(
    "NGSM",
    caption_steps.CaptionMeans(_ngsm_values),
    "Geometric mean over orders of the shared n-grams among all of both captions.",
    "(Π over n = 1..N of C_n / (U_n(s) + U_n(t) - C_n))^(1/N)",
    "Wan et al. 2022, equations 1 to 4",
    cite=("wan2022",),
    options=(
        Option("order", "order", 4, (1, 2, 3, 4), int, help="the largest order of n-grams"),
        one_of("refs", "mean max", "over the references of an item"),
        NO_REFERENCE,
    ),
    symmetric=True,
)
