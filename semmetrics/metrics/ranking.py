"""Ranking metrics along an item's labels: coverage, ranking loss, label ranking precision.

Conventions
-----------
Item-wise measures (``coverage_items``, ``ranking_loss_items``, ``lrap_items``) look along an
item's row. Equal scores tie, with the worst rank of the tie for every label in it, as in
scikit-learn. Rows are ragged and sorted by falling score, and may hold only some labels of the
dictionary: the labels without a score stand below all scored ones and tie with each other.
A value that is not defined is nan; the caller's policy decides what becomes of it.

Metrics
-------
``coverage_error``                      lower is better, at least the mean number of references
``ranking_loss``                        lower is better, in [0, 1]
``label_ranking_average_precision``     higher is better, in (0, 1]

References
----------
Tsoumakas, Katakis and Vlahavas, 2010, Mining multi-label data, section 7.3.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    order_rows,
    row_numbers,
    running_sums,
    sum_rows,
)
from semmetrics.errors import InputError
from semmetrics.metrics.decoding import score_matrix

__all__ = [
    "Empty",
    "coverage_error",
    "coverage_items",
    "divide_or",
    "item_weights",
    "label_ranking_average_precision",
    "lrap_items",
    "mean_over_items",
    "ranking_loss",
    "ranking_loss_items",
    "sorted_rows",
    "target_matrix",
    "tie_spans",
]

Empty: TypeAlias = "float | Literal['skip']"


def coverage_items(indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints, n_labels: int) -> Floats:
    """How far down an item's ranking all its reference labels are found.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],)
        Falling in each row.
    hit : array, shape (indptr[-1],), bool
        Whether the label is a reference label of the item.
    n_ref : array, shape (n,)
        Reference labels of the item, scored or not.
    n_labels : int
        Size of the dictionary, the longest that a row can be.

    Returns
    -------
    array, shape (n,), in [n_ref, n_labels]
        The worst rank of a reference label; nan for an item without reference labels.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.4, 0.4]), np.array([False, True, False])
    >>> coverage_items(*rows, np.array([1]), 5), coverage_items(*rows, np.array([2]), 5)
    (array([3.]), array([5.]))
    """
    found = np.flatnonzero(hit)
    _, ends = tie_spans(indptr, scores)
    rows = np.searchsorted(indptr, found, side="right") - 1
    worst = np.zeros(len(n_ref))
    np.maximum.at(worst, rows, ends[found] - indptr[rows])
    worst[sum_rows(hit, indptr) < n_ref] = n_labels
    return np.where(n_ref > 0, worst, np.nan)


def ranking_loss_items(
    indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints, n_labels: int
) -> Floats:
    """Share of an item's (reference, other) label pairs in the wrong order; a tie is wrong.

    Parameters
    ----------
    indptr, scores, hit, n_ref, n_labels
        As for `coverage_items`.

    Returns
    -------
    array, shape (n,), in [0, 1]
        nan for an item without a pair: no label is a reference, or every label is.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.4, 0.1]), np.array([False, True, False])
    >>> ranking_loss_items(*rows, np.array([1]), 3)
    array([0.5])
    """
    firsts, _ = tie_spans(indptr, scores)
    found = running_sums(hit)
    above = found[firsts] - np.repeat(found[indptr[:-1]], lengths(indptr))
    not_above = np.repeat(n_ref, lengths(indptr)) - above
    wrong = sum_rows(np.where(hit, 0, not_above), indptr)
    missed = n_ref - sum_rows(hit, indptr)  # reference labels without a score
    wrong = wrong + missed * (n_labels - lengths(indptr) - missed)
    pairs = n_ref * (n_labels - n_ref)
    return divide_or(wrong, pairs, np.nan)


def lrap_items(indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints, n_labels: int) -> Floats:
    """Label ranking average precision: mean precision at the rank of each reference label.

    Parameters
    ----------
    indptr, scores, hit, n_ref, n_labels
        As for `coverage_items`.

    Returns
    -------
    array, shape (n,), in (0, 1]
        nan for an item without reference labels; 1 where every label is a reference.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.4, 0.1]), np.array([False, True, True])
    >>> lrap_items(*rows, np.array([2]), 3).round(4)
    array([0.5833])
    """
    found = np.flatnonzero(hit)
    rows = np.searchsorted(indptr, found, side="right") - 1
    _, ends = tie_spans(indptr, scores)
    until = ends[found]
    hits = running_sums(hit)
    precisions = (hits[until] - hits[indptr[rows]]) / (until - indptr[rows])
    total = np.bincount(rows, precisions, minlength=len(n_ref))
    missed = n_ref - sum_rows(hit, indptr)
    return divide_or(total + missed * (n_ref / max(n_labels, 1)), n_ref, np.nan)


def coverage_error(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: ArrayLike | None = None,
) -> float:
    """Mean number of labels to go through, best first, until all reference labels are found.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    empty : float or "skip"
        The value of an item where the measure is not defined (no reference label); "skip"
        leaves the item out of the mean, nan makes the mean nan. scikit-learn has 0.
    weights : array-like, shape (n,), optional
        Weight of each item in the mean.

    Returns
    -------
    float
        nan where no item is left.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), or shapes differ.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3, plus one.

    Examples
    --------
    >>> coverage_error([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    1.5
    """
    rows = sorted_rows(scores, targets)
    return mean_over_items(coverage_items(*rows), empty, weights)


def ranking_loss(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: ArrayLike | None = None,
) -> float:
    """Mean share of (reference, other) label pairs in the wrong order; a tie is wrong.

    Parameters
    ----------
    scores, targets, weights
        As for `coverage_error`.
    empty : float or "skip"
        As for `coverage_error`; not defined where no label or every label is a reference.
        scikit-learn has 0.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        As for `coverage_error`.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3.

    Examples
    --------
    >>> ranking_loss([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    0.25
    """
    rows = sorted_rows(scores, targets)
    return mean_over_items(ranking_loss_items(*rows), empty, weights)


def label_ranking_average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: ArrayLike | None = None,
) -> float:
    """Mean over items of the mean precision at the rank of each reference label.

    Parameters
    ----------
    scores, targets, weights
        As for `coverage_error`.
    empty : float or "skip"
        As for `coverage_error`. scikit-learn has 1.

    Returns
    -------
    float, in (0, 1]

    Raises
    ------
    InputError
        As for `coverage_error`.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3, "average precision".

    Examples
    --------
    >>> label_ranking_average_precision([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    0.75
    """
    rows = sorted_rows(scores, targets)
    return mean_over_items(lrap_items(*rows), empty, weights)


def target_matrix(targets: ArrayLike, shape: tuple[int, ...]) -> Bools:
    """Check a 0/1 matrix of reference labels against the shape of the scores; give it as bool.

    Raises
    ------
    InputError
        If the shape differs or an entry is neither 0 nor 1; names the row.

    Examples
    --------
    >>> target_matrix([[0, 1], [2, 0]], (2, 2))
    Traceback (most recent call last):
    semmetrics.errors.InputError: targets, row 1: an entry is neither 0 nor 1
    """
    dense = getattr(targets, "toarray", None)  # scipy.sparse, without importing it
    table = np.asarray(targets if dense is None else dense())
    if table.shape != shape:
        raise InputError(
            f"targets have shape {table.shape}, scores {shape}", remedy="give both the same shape"
        )
    bad = (table != 0) & (table != 1)
    if bad.any():
        where = f"targets, row {int(bad.any(axis=1).argmax())}"
        raise InputError("an entry is neither 0 nor 1", where=where)
    return table.astype(np.bool_)


def sorted_rows(scores: ArrayLike, targets: ArrayLike) -> tuple[Ints, Floats, Bools, Ints, int]:
    """Dense scores and targets as ragged rows: indptr, scores, hit, n_ref, n_labels.

    Examples
    --------
    >>> [np.asarray(part).tolist() for part in sorted_rows([[0.1, 0.9]], [[0, 1]])]
    [[0, 2], [0.9, 0.1], [True, False], [1], 2]
    """
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    indptr = offsets(np.full(n, width))
    order = order_rows(indptr, table.ravel())
    n_ref = truth.sum(axis=1, dtype=np.int64)
    return indptr, table.ravel()[order], truth.ravel()[order], n_ref, width


def tie_spans(indptr: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """First, and one past the last, flat position of the labels that tie with each label."""
    fresh = np.ones(len(scores), np.bool_)
    fresh[1:] = (scores[1:] != scores[:-1]) | np.diff(row_numbers(indptr)).astype(np.bool_)
    begins = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    return begins[group], np.append(begins[1:], len(scores))[group]


def mean_over_items(values: Floats, empty: Empty, weights: ArrayLike | None) -> float:
    """Weighted mean with the policy for items that are not defined; nan of nothing."""
    share = item_weights(weights, len(values))
    undefined = np.isnan(values)
    fill = 0.0
    if not isinstance(empty, str):
        fill = float(empty)
    elif empty == "skip":
        share = np.where(undefined, 0.0, share)
    else:
        raise InputError(f"unknown policy {empty!r}", remedy="use 'skip' or a number")
    counted = share > 0
    weighted = np.where(undefined, fill, values)[counted] * share[counted]
    return float(weighted.sum() / share.sum()) if counted.any() else float("nan")


def divide_or(numerator: NDArray[np.generic], divisor: NDArray[np.generic], empty: float) -> Floats:
    """Quotient, with another value where the divisor is 0."""
    result = np.full(numerator.shape, empty)
    np.divide(numerator, divisor, out=result, where=divisor != 0)
    return result


def item_weights(weights: ArrayLike | None, n: int) -> Floats:
    """Weights of n items, checked; ones where there are none."""
    if weights is None:
        return np.ones(n)
    table = np.asarray(weights, np.float64)
    if table.shape != (n,):
        raise InputError(f"weights have shape {table.shape}", remedy=f"give {n} numbers")
    if not (np.isfinite(table) & (table >= 0)).all():
        raise InputError("a weight is negative or not finite")
    return table
