"""Average precision of each class, over items ranked by the scores of the class.

Conventions
-----------
An item without a score for a class is not retrieved for the class. It only counts if it is
a positive. A class without positives has the value nan.

Metrics
-------
``average_precision``        of each class, higher is better, in [0, 1]
``mean_average_precision``   its mean over the classes with positives
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.metrics.array_inputs import item_weights, score_matrix, target_matrix
from semmetrics.metrics.class_curves import (
    ClassCurves,
    TieRule,
    accumulate,
    evaluate_in_steps,
    find_classes_with_hits,
    sort_by_class,
    sum_by_class,
    sum_missed_positives,
    take_last_of_class,
)
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.item_ranking import mean_over_items

Interpolation: TypeAlias = Literal["none", "voc2007", "voc2010", "coco101"]
_RECALL_POINTS = {
    "voc2007": np.linspace(0.0, 1.0, 11),
    "coco101": np.linspace(0.0, 1.0, 101),
}


# ---- matrices -------------------------------------------------------------------------


def average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: TieRule = "grouped",
) -> Floats:
    """Compute the average precision of each class over the items.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none" is scikit-learn's ``average_precision_score``. "voc2010" first raises the
        precision at each recall to the best at that or a higher recall. "voc2007" and
        "coco101" average the raised precision at 11 and 101 equal steps of recall.
    weights : array-like, shape (n,), optional
        The weight of each item (scikit-learn's ``sample_weight``).
    ties : {"grouped", "ordered"}
        "grouped" retrieves equal scores together, like scikit-learn. "ordered" retrieves
        them one by one in the order of the items, like the VOC and COCO evaluation code.

    Returns
    -------
    array, shape (L,), in [0, 1]
        nan for a class without positives.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), shapes
        differ, or an option is unknown.

    References
    ----------
    Everingham et al., 2010, The PASCAL VOC challenge, section 4.2 (eleven points; the
    development kit of 2010 for all points). Lin et al., 2014, Microsoft COCO, evaluation
    code.

    Examples
    --------
    >>> average_precision([[0.9, 0.2], [0.5, 0.1], [0.2, 0.3]], [[1, 0], [0, 0], [1, 0]]).round(4)
    array([0.8333,    nan])
    """
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n_items, n_labels = table.shape
    positive_classes, positive_items = np.nonzero(truth.T)
    curves = sort_by_class(
        np.repeat(np.arange(n_labels), n_items),
        table.T.ravel(),
        truth.T.ravel(),
        np.tile(np.arange(n_items), n_labels),
        positive_classes,
        positive_items,
        n_labels,
        ties=ties,
    )
    one_row = item_weights(weights, n_items)[None, :]
    values = class_average_precision(curves, one_row, interpolation=interpolation)
    values_of_row: Floats = values[0]
    return values_of_row


def mean_average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: TieRule = "grouped",
) -> float:
    """Compute the mean of average precision over the classes with positives (mAP).

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    interpolation, weights, ties
        See `average_precision`.

    Returns
    -------
    float, in [0, 1]
        nan if no class has positives.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both messages name the row), shapes
        differ, or an option is unknown.

    Examples
    --------
    >>> mean_average_precision([[0.9, 0.2], [0.5, 0.1]], [[0, 0], [1, 0]])
    0.5
    """
    values = average_precision(
        scores, targets, interpolation=interpolation, weights=weights, ties=ties
    )
    return mean_over_items(values, "skip", None)


# ---- curves ---------------------------------------------------------------------------


def class_average_precision(
    curves: ClassCurves,
    weights: NDArray[np.generic],
    *,
    interpolation: Interpolation = "none",
) -> Floats:
    r"""Compute the average precision of every class, for every row of item weights.

    With precision P and recall R at each distinct score, this is
    :math:`\sum P \, \Delta R`. The interpolations first raise P at a recall to the best P
    at that recall or a higher one.

    Parameters
    ----------
    curves : ClassCurves
    weights : array, shape (rows, items), at least 0
        How often each item counts, such as the counts of a bootstrap resample. 0 leaves an
        item out. (Copies of an item are retrieved together, even with ``ties="ordered"``.
        The interpolation "none" would distinguish them if they were separate items.)
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none" is the sum above, like scikit-learn. "voc2010" is the sum with raised P.
        "voc2007" and "coco101" are the mean of raised P at 11 and 101 equal steps of
        recall from 0 to 1. The precision at a recall that is not reached is 0. Recalls are
        compared as floats with ``np.linspace(0, 1, ...)``, as in that evaluation code: 3
        of 10 does not reach 0.30000000000000004.

    Returns
    -------
    array, shape (rows, classes), in [0, 1]
        nan if the positives of a class have no weight.

    Raises
    ------
    InputError
        If the interpolation is unknown, or weights are negative or not finite.

    References
    ----------
    Everingham et al., 2010, The PASCAL VOC challenge, section 4.2 (eleven points; the
    development kit of 2010 for all points). Lin et al., 2014, Microsoft COCO, evaluation
    code.
    """
    check_choice("interpolation", interpolation, get_args(Interpolation))
    evaluate = partial(_compute_average_precision, curves, interpolation)
    return evaluate_in_steps(curves, weights, evaluate)


class CurvePoints(NamedTuple):
    """Points of precision-recall curves, for every row of item weights.

    Attributes
    ----------
    precision, recall : arrays, shape (rows, hits)
        At each hit.
    positives : array, shape (rows, classes)
        The total weight of the positives of each class.
    """

    precision: Floats
    recall: Floats
    positives: Floats


def compute_curve_points(
    curves: ClassCurves, weights: Floats, interpolation: Interpolation
) -> CurvePoints:
    """Compute precision and recall at each hit.

    Interpolations other than "none" raise a precision to the best one at the same or a
    higher recall.
    """
    # Weights that are retrieved up to each position, and up to each hit
    retrieved = np.take(weights, curves.items, axis=1)
    retrieved_hits = retrieved[:, curves.hits]
    accumulate(np.add, retrieved, curves.indptr)
    accumulate(np.add, retrieved_hits, curves.hit_indptr)
    scored_positives = take_last_of_class(curves, retrieved_hits)
    positives = sum_missed_positives(curves, weights) + scored_positives
    # Hits that tie are retrieved together.
    retrieved_hits = retrieved_hits[:, curves.last_hit]
    precision = divide(retrieved_hits, retrieved[:, curves.last_tied], 0.0)
    recall = divide(retrieved_hits, positives[:, curves.class_of_hit], 0.0)
    if interpolation != "none":
        # Accumulate in place from the last hit of each class to the first.
        reversed_indptr = curves.hit_indptr[-1] - curves.hit_indptr[::-1]
        accumulate(np.maximum, precision[:, ::-1], reversed_indptr)
    return CurvePoints(precision, recall, positives)


def _compute_average_precision(
    curves: ClassCurves, interpolation: Interpolation, weights: Floats
) -> Floats:
    """Compute the area under each precision-recall curve, shape (rows, classes)."""
    precision, recall, positives = compute_curve_points(curves, weights, interpolation)
    if interpolation in _RECALL_POINTS:
        # The first hit that reaches a step of recall counts for it. Recalls are rounded,
        # because sums of fractional weights have rounding errors.
        steps = _RECALL_POINTS[interpolation]
        n_reached = np.searchsorted(steps, np.round(recall, 12), side="right")
        recall = n_reached / len(steps)
    gained_recall = np.diff(recall, axis=1, prepend=0.0)
    # The first hit of a class does not follow the last hit of the previous class.
    first_hits = curves.hit_indptr[:-1][find_classes_with_hits(curves)]
    gained_recall[:, first_hits] = recall[:, first_hits]
    areas = sum_by_class(curves, precision * gained_recall)
    areas[positives == 0] = np.nan
    return areas
