"""The area under the ROC curve of each class, over items ranked by its scores."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.class_curves import (
    ClassCurves,
    accumulate,
    evaluate_in_steps,
    sum_by_class,
    sum_missed_positives,
    take_last_of_class,
)
from semmetrics.metrics.formulas import divide

_ROUNDING_ERROR = 1e-12  # of a difference of sums of weights, relative to the sums


def class_roc_auc(
    curves: ClassCurves, weights: NDArray[np.generic], labels: int = 1
) -> Floats:
    """Compute the area under the ROC curve of every class, for every row of item weights.

    This is the probability that a positive ranks before a negative. Ties count half.
    Items without a score for a class rank last and tie with each other.

    Parameters
    ----------
    curves : ClassCurves
    weights : array, shape (rows, items), at least 0
        See `class_average_precision`.
    labels : int
        The number of labels of each item that are pooled in a class.

    Returns
    -------
    array, shape (rows, classes), in [0, 1]
        nan if all items, or none, are positives of a class.

    Raises
    ------
    InputError
        If weights are negative or not finite.

    References
    ----------
    Fawcett 2006, An introduction to ROC analysis, Pattern Recognition Letters 27, section 7.

    Examples
    --------
    >>> from semmetrics.metrics.class_curves import sort_by_class
    >>> zeros, hit = np.zeros(3, int), np.array([True, False, True])
    >>> curves = sort_by_class(zeros, np.array([0.9, 0.5, 0.2]), hit, np.arange(3),
    ...                        np.zeros(2, int), np.array([0, 2]), 1)
    >>> class_roc_auc(curves, np.array([[1, 1, 1], [1, 0, 2], [3, 1, 1]])).tolist()
    [[0.5], [nan], [0.75]]
    """
    return evaluate_in_steps(
        curves, weights, partial(_compute_roc_areas, curves, labels)
    )


def _compute_roc_areas(curves: ClassCurves, n_pooled: int, weights: Floats) -> Floats:
    """Compute the area under each ROC curve, shape (rows, classes).

    A positive *loses* against a negative that ranks before it, and loses half against one
    that ties with it.
    """
    negatives_before = _sum_negatives_before(curves, weights)
    starts = curves.indptr[:-1]
    ends = curves.indptr[1:]
    scored_negatives = np.where(ends > starts, negatives_before[:, ends], 0.0)

    # The mean of the negatives above a hit, and of those above it or tied with it
    hit_weights = weights[:, curves.items[curves.hits]]
    is_below_first = curves.first_tied > starts[curves.class_of_hit]
    above = np.where(is_below_first, negatives_before[:, curves.first_tied], 0.0)
    above_or_tied = negatives_before[:, curves.last_tied + 1]
    lost = sum_by_class(curves, hit_weights * (above + above_or_tied) / 2)

    accumulate(np.add, hit_weights, curves.hit_indptr)
    scored_positives = take_last_of_class(curves, hit_weights)
    positives = sum_missed_positives(curves, weights) + scored_positives
    unscored_negatives = _sum_unscored_negatives(
        curves, n_pooled, weights, positives, scored_negatives
    )
    negatives = scored_negatives + unscored_negatives
    # Positives without a score rank below all scored negatives and tie with the others.
    lost += (positives - scored_positives) * (scored_negatives + negatives) / 2
    return 1.0 - divide(lost, positives * negatives)


def _sum_negatives_before(curves: ClassCurves, weights: Floats) -> Floats:
    """Sum the weights of the negatives of a class before each position.

    Returns
    -------
    array, shape (rows, scored + 1)
        Column p + 1 is the sum up to and including position p. So the column of the first
        position of a class contains the sum of the previous class.
    """
    negatives = np.take(weights, curves.items, axis=1)
    negatives[:, curves.hits] = 0.0
    n_rows, n_positions = negatives.shape
    sums = np.zeros((n_rows, n_positions + 1))
    sums[:, 1:] = negatives
    accumulate(np.add, sums[:, 1:], curves.indptr)
    return sums


def _sum_unscored_negatives(
    curves: ClassCurves,
    n_pooled: int,
    weights: Floats,
    positives: Floats,
    scored_negatives: Floats,
) -> Floats:
    """Return the weight of the negatives of each class that have no score.

    This is a difference of sums. Without such negatives, it is set to exactly 0.
    """
    n_verified, verified = _sum_verified_cells(curves, n_pooled, weights)
    unscored = verified - positives - scored_negatives
    n_scored = ragged.lengths(curves.indptr)
    n_missed = np.bincount(curves.missed_classes, minlength=curves.n_classes)
    has_no_unscored = n_verified == n_scored + n_missed
    is_rounding_error = unscored < _ROUNDING_ERROR * (positives + scored_negatives)
    return np.where(has_no_unscored | is_rounding_error, 0.0, unscored)


def _sum_verified_cells(
    curves: ClassCurves, n_pooled: int, weights: Floats
) -> tuple[Ints, Floats]:
    """Count the verified items of each class, and sum their weights.

    Returns
    -------
    int array, shape (classes,)
    float array, shape (rows, classes)
    """
    n_rows, n_items = weights.shape
    n_listed = np.bincount(curves.listed_classes, minlength=curves.n_classes)
    bounds = ragged.offsets(n_listed)
    listed = np.zeros((n_rows, curves.n_classes))
    for code in np.flatnonzero(n_listed).tolist():
        items = curves.listed_items[bounds[code] : bounds[code + 1]]
        listed[:, code] = weights[:, items].sum(axis=1)
    if curves.lists_verified:
        return n_listed, listed
    # Otherwise all other cells are verified.
    n_cells = n_pooled * n_items
    weight_of_cells = n_pooled * weights.sum(axis=1)[:, None]
    return n_cells - n_listed, weight_of_cells - listed
