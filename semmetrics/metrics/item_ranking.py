"""Measures of the ranking of labels within each item.

Conventions
-----------
Tied labels all have the worst rank of their tie, as in scikit-learn. Rows are ragged and
sorted by descending score. They need not contain all labels of the dictionary. Labels
without a score rank below all scored labels and tie with each other. Undefined values are
nan, and the caller applies a policy to them.

A value is computed in two steps. The first needs only the scored labels of an item. The
second needs the size of the dictionary, which may not be available before all items have
been read.

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

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.metrics.array_inputs import (
    Weights,
    item_weights,
    score_matrix,
    target_matrix,
)
from semmetrics.metrics.formulas import divide

Empty: TypeAlias = float | Literal["skip"]


# ---- matrices -------------------------------------------------------------------------


def coverage_error(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: Weights = None,
) -> float:
    """Average how many of the best labels are needed to include all reference labels.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    empty : float or "skip"
        The value of an item if it is undefined (no reference label). "skip" leaves the
        item out of the mean, and nan makes the mean nan. scikit-learn uses 0.
    weights : array-like, shape (n,), optional
        The weight of each item in the mean.

    Returns
    -------
    float
        nan if no item is left.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), or shapes
        differ.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3, plus one.

    Examples
    --------
    >>> coverage_error([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    1.5
    """
    return _mean_value("CoverageError", scores, targets, empty, weights)


def ranking_loss(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: Weights = None,
) -> float:
    """Average the fraction of (reference, other) label pairs in the wrong order.

    A tie is in the wrong order.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    empty : float or "skip"
        The value of an item if it is undefined (no label or every label is a reference).
        "skip" leaves the item out of the mean, and nan makes the mean nan. scikit-learn
        uses 0.
    weights : array-like, shape (n,), optional
        The weight of each item in the mean.

    Returns
    -------
    float, in [0, 1]
        nan if no item is left.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), or shapes
        differ.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3.

    Examples
    --------
    >>> ranking_loss([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    0.25
    """
    return _mean_value("RankingLoss", scores, targets, empty, weights)


def label_ranking_average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: Weights = None,
) -> float:
    """Average over items the mean precision at the rank of each reference label.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    empty : float or "skip"
        The value of an item if it is undefined (no reference label). "skip" leaves the
        item out of the mean, and nan makes the mean nan. scikit-learn uses 1.
    weights : array-like, shape (n,), optional
        The weight of each item in the mean.

    Returns
    -------
    float, in (0, 1]
        nan if no item is left.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), or shapes
        differ.

    References
    ----------
    Tsoumakas et al., 2010, section 7.3.3, "average precision".

    Examples
    --------
    >>> label_ranking_average_precision([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]])
    0.75
    """
    return _mean_value("LRAP", scores, targets, empty, weights)


def _mean_value(
    name: str, scores: ArrayLike, targets: ArrayLike, empty: Empty, weights: Weights
) -> float:
    """Check matrices of scores and targets, and average a measure over the items."""
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n_items, n_labels = table.shape
    indptr = ragged.offsets(np.full(n_items, n_labels))
    flat_scores = table.ravel()
    order = ragged.order_rows(indptr, flat_scores)
    ranked_scores = flat_scores[order]
    hit = truth.ravel()[order]
    n_ref = truth.sum(axis=1, dtype=np.int64)
    values = item_values(name, indptr, ranked_scores, hit, n_ref, n_labels)
    return mean_over_items(values, empty, weights)


def mean_over_items(values: Floats, empty: Empty, weights: Weights) -> float:
    """Return the weighted mean, or nan if no value counts.

    Parameters
    ----------
    values : array, shape (n,)
        nan if undefined.
    empty : float or "skip"
        The replacement for undefined values. "skip" leaves them out.
    weights : array-like, shape (n,), optional
    """
    weight_of_item = item_weights(weights, len(values))
    is_undefined = np.isnan(values)
    if empty == "skip":
        weight_of_item = np.where(is_undefined, 0.0, weight_of_item)
    else:
        values = np.where(is_undefined, float(empty), values)
    is_counted = weight_of_item > 0  # Values without weight may be nan.
    if not is_counted.any():
        return float("nan")
    weighted = values[is_counted] * weight_of_item[is_counted]
    return float(weighted.sum() / weight_of_item.sum())


# ---- ragged rows ----------------------------------------------------------------------


def item_values(
    name: str, indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints, n_labels: int
) -> Floats:
    """Compute a ranking measure of each item.

    Parameters
    ----------
    name : {"LRAP", "RankingLoss", "CoverageError"}
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],)
        Descending in each row.
    hit : array, shape (indptr[-1],), bool
        Whether the label is a reference label of the item.
    n_ref : array, shape (n,)
        The number of reference labels of the item, with or without a score.
    n_labels : int
        The size of the dictionary, at least the length of each row.

    Returns
    -------
    array, shape (n,)
        nan if undefined: for an item without reference labels, and for the ranking loss
        if every label is a reference.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.4, 0.4]), np.array([False, True, False])
    >>> item_values("CoverageError", *rows, np.array([1]), 5)
    array([3.])
    >>> item_values("CoverageError", *rows, np.array([2]), 5)
    array([5.])
    """
    part = scored_part(name, indptr, scores, hit, n_ref)
    n_scored = ragged.lengths(indptr)
    n_missed = n_ref - ragged.sum_rows(hit, indptr)
    return complete_values(name, part, n_ref, n_scored, n_missed, n_labels)


def scored_part(
    name: str, indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints
) -> NDArray[Any]:
    """Compute the part of each value that depends only on the scored labels.

    Parameters
    ----------
    name, indptr, scores, hit, n_ref
        See `item_values`.

    Returns
    -------
    array, shape (n,)
        The argument ``part`` of `complete_values`:

        - LRAP: the sum of the precisions at the ranks of scored references, divided by
          the number of references
        - RankingLoss: the number of (reference, other) pairs in the wrong order whose
          other label is scored
        - CoverageError: the worst rank of a scored reference
    """
    ties = find_ties(indptr, scores)
    if name == "RankingLoss":
        return _count_wrong_pairs(ties, indptr, hit, n_ref)
    n_items = len(n_ref)
    # For each hit: its item, where the item starts, and one past the last tied label
    hits = np.flatnonzero(hit)
    items = np.searchsorted(indptr, hits, side="right") - 1
    starts = indptr[items]
    ends = ties.ends[ties.group[hits]]
    ranks = ends - starts
    if name == "CoverageError":
        worst_ranks = np.zeros(n_items)
        np.maximum.at(worst_ranks, items, ranks)
        return worst_ranks
    n_hits_before = ragged.offsets(hit)  # of each position, from all rows
    precisions = (n_hits_before[ends] - n_hits_before[starts]) / ranks
    precision_sums = np.bincount(items, precisions, minlength=n_items)
    return divide(precision_sums, n_ref, 0.0)


def _count_wrong_pairs(ties: Ties, indptr: Ints, hit: Bools, n_ref: Ints) -> Ints:
    """Count the (reference, scored other) pairs in the wrong order, ties included."""
    row_lengths = ragged.lengths(indptr)
    n_hits_before = ragged.offsets(hit)  # of each position, from all rows
    # The references above each label, whose scores are higher
    first_tied = ties.starts[ties.group]
    n_hits_before_row = np.repeat(n_hits_before[indptr[:-1]], row_lengths)
    n_above = n_hits_before[first_tied] - n_hits_before_row
    n_not_above = np.repeat(n_ref, row_lengths) - n_above
    return ragged.sum_rows(np.where(hit, 0, n_not_above), indptr)


def complete_values(
    name: str,
    part: NDArray[Any],
    n_ref: Ints,
    n_scored: Ints,
    n_missed: Ints,
    n_labels: int | Ints,
) -> Floats:
    """Compute values from the parts of scored labels and the number of labels.

    Parameters
    ----------
    name : str
    part : array, shape (n,)
        As `scored_part` returns it.
    n_ref, n_scored, n_missed : int arrays, shape (n,)
        The numbers of references, of scored labels, and of references without a score.
    n_labels : int, or int array, shape (n,)

    Returns
    -------
    array, shape (n,)
        nan if undefined.
    """
    if name == "LRAP":
        # All missed references have the last rank, where the precision is
        # n_ref / n_labels. The mean over the references cancels n_ref.
        values = part + n_missed / np.maximum(n_labels, 1)
    elif name == "CoverageError":
        last_rank = np.asarray(n_labels, np.float64)
        values = np.where(n_missed > 0, last_rank, part)
    else:
        n_unscored_others = n_labels - n_scored - n_missed
        n_wrong = part + n_missed * n_unscored_others
        values = divide(n_wrong, n_ref * (n_labels - n_ref))
    return np.where(n_ref > 0, values, np.nan)


class Ties(NamedTuple):
    """Groups of labels of a row that have the same score.

    Attributes
    ----------
    starts, ends : int arrays, shape (groups,)
        The first position of each group, and one past its last.
    group : int array, shape (labels,)
        The group of each label.
    """

    starts: Ints
    ends: Ints
    group: Ints


def find_ties(indptr: Ints, scores: Floats) -> Ties:
    """Find the labels that tie in rows sorted by descending score.

    Examples
    --------
    >>> ties = find_ties(np.array([0, 3, 4]), np.array([0.9, 0.4, 0.4, 0.4]))
    >>> ties.starts.tolist(), ties.ends.tolist(), ties.group.tolist()
    ([0, 1, 3], [1, 3, 4], [0, 1, 1, 2])
    """
    starts_group = ragged.starts_run(scores)
    row_starts = indptr[:-1][ragged.lengths(indptr) > 0]
    starts_group[row_starts] = True
    starts = np.flatnonzero(starts_group)
    ends = np.append(starts[1:], len(scores))
    return Ties(starts, ends, np.cumsum(starts_group) - 1)
