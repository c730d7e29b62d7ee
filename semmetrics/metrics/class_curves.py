"""Average precision and the ROC curve of each class, over items ranked by its scores.

Conventions
-----------
``class_curves`` sorts the items of every class once. ``class_average_precision`` and
``class_roc_auc`` then evaluate any number of rows of item weights, such as bootstrap
resamples, without another sort.

An item without a score for a class is not retrieved for it: average precision counts it
only among the positives. A class without positives has the value nan.

Metrics
-------
``average_precision``        of each class, higher is better, in [0, 1]
``mean_average_precision``   its mean over the classes with positives
``class_roc_auc``            of each class, higher is better, in [0, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.array_inputs import item_weights, score_matrix, target_matrix
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.item_ranking import find_ties, mean_over_items

Interpolation: TypeAlias = Literal["none", "voc2007", "voc2010", "coco101"]
TieRule: TypeAlias = Literal["grouped", "ordered"]

_MAX_CELLS_PER_STEP = 1 << 22
_MAX_CODES_OF_16_BITS = 1 << 16
_RECALL_POINTS = {
    "voc2007": np.linspace(0.0, 1.0, 11),
    "coco101": np.linspace(0.0, 1.0, 101),
}
_ROUNDING_ERROR = 1e-12  # of a sum of weights, relative to the weights


def _no_cells() -> Ints:
    """Return an empty array."""
    return np.zeros(0, np.int64)


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
        them one after the other in the given order, like the VOC and COCO evaluation
        codes.

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
    curves = class_curves(
        np.repeat(np.arange(n_labels), n_items),
        table.T.ravel(),
        truth.T.ravel(),
        np.tile(np.arange(n_items), n_labels),
        positive_classes,
        positive_items,
        n_labels,
        ties=ties,
    )
    weight_rows = item_weights(weights, n_items)[None, :]
    values = class_average_precision(curves, weight_rows, interpolation=interpolation)
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
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none" is scikit-learn's ``average_precision_score``. "voc2010" first raises the
        precision at each recall to the best at that or a higher recall. "voc2007" and
        "coco101" average the raised precision at 11 and 101 equal steps of recall.
    weights : array-like, shape (n,), optional
        The weight of each item (scikit-learn's ``sample_weight``).
    ties : {"grouped", "ordered"}
        "grouped" retrieves equal scores together, like scikit-learn. "ordered" retrieves
        them one after the other in the given order, like the VOC and COCO evaluation
        codes.

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


# ---- sorted labels --------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ClassCurves:
    """Scored labels sorted by class and descending score, made by `class_curves`.

    Attributes
    ----------
    indptr : array, shape (classes + 1,)
        Offsets of the classes in `items`.
    items : array, shape (scored,)
        The items of each class by descending score. A *position* is an index into it.
    hit_indptr : array, shape (classes + 1,)
        Offsets of the classes in `hits`, `first_tied`, `last_tied` and `last_hit`.
    hits : array, shape (hits,)
        The positions of positives.
    first_tied, last_tied : arrays, shape (hits,)
        The first and the last position that tie with each hit.
    last_hit : array, shape (hits,)
        The index of the last hit that ties with each hit.
    missed_classes, missed_items : arrays, shape (missed,)
        The positives without a score, sorted by class.
    listed_classes, listed_items : arrays, shape (listed,)
        Cells of a class and an item that the ground truth lists as verified or
        unverified, sorted by class. Unverified cells are neither positives nor negatives.
    lists_verified : bool
        Whether the listed cells are the verified ones. Otherwise they are the unverified
        ones.
    """

    indptr: Ints
    items: Ints
    hit_indptr: Ints
    hits: Ints
    first_tied: Ints
    last_tied: Ints
    last_hit: Ints
    missed_classes: Ints
    missed_items: Ints
    listed_classes: Ints = field(default_factory=_no_cells)
    listed_items: Ints = field(default_factory=_no_cells)
    lists_verified: bool = False

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.indptr) - 1

    @property
    def class_of_hit(self) -> Ints:
        """The class of each hit, shape (hits,)."""
        return ragged.row_numbers(self.hit_indptr)


def class_curves(
    classes: NDArray[np.integer],
    scores: Floats,
    hit: NDArray[np.bool_],
    item: NDArray[np.integer],
    positive_classes: NDArray[np.integer],
    positive_items: NDArray[np.integer],
    n_classes: int,
    *,
    ties: TieRule = "grouped",
) -> ClassCurves:
    """Sort scored labels by class and score.

    Parameters
    ----------
    classes, scores, hit, item : arrays, shape (scored,)
        For each scored label: its class from 0 to ``n_classes - 1``, its score, whether it
        is a positive, and the number of its item. An item scores a class at most once.
    positive_classes, positive_items : arrays, shape (positives,)
        Every positive (class, item) pair once, with or without a score.
    n_classes : int
    ties : {"grouped", "ordered"}
        "grouped" retrieves equal scores together, like scikit-learn. "ordered" retrieves
        them one after the other in the given order, like the VOC and COCO evaluation
        codes.

    Returns
    -------
    ClassCurves

    Examples
    --------
    >>> zeros, hit = np.zeros(3, int), np.array([True, False, True])
    >>> curves = class_curves(zeros, np.array([0.9, 0.5, 0.2]), hit, np.arange(3),
    ...                       np.zeros(2, int), np.array([0, 2]), 1)
    >>> class_average_precision(curves, np.array([[1, 1, 1], [1, 0, 2]])).round(4).tolist()
    [[0.8333], [1.0]]
    """
    check_choice("ties", ties, get_args(TieRule))
    indptr = ragged.offsets(np.bincount(classes, minlength=n_classes))
    by_class = _order_by_class(classes, n_classes)
    scores_by_class = scores[by_class]
    by_score = ragged.order_rows(indptr, scores_by_class)
    sorted_scores = scores_by_class[by_score]
    sorted_hit = hit[by_class][by_score]
    items = item[by_class][by_score].astype(np.int64)

    hits = np.flatnonzero(sorted_hit)
    hits_before = ragged.offsets(sorted_hit)
    hit_indptr = hits_before[indptr]
    first_tied = hits
    ends = hits + 1
    if ties == "grouped":
        groups = find_ties(indptr, sorted_scores)
        group_of_hit = groups.group[hits]
        first_tied = groups.starts[group_of_hit]
        ends = groups.ends[group_of_hit]

    # Positives that are not among the hits have no score.
    span = int(max(item.max(initial=0), positive_items.max(initial=0))) + 1
    hit_cells = ragged.row_numbers(hit_indptr) * span + items[hits]
    positive_cells = positive_classes.astype(np.int64) * span + positive_items
    is_scored = ragged.is_member(positive_cells, hit_cells, n_classes * span)
    missed_cells = np.unique(positive_cells[~is_scored])
    return ClassCurves(
        indptr=indptr,
        items=items,
        hit_indptr=hit_indptr,
        hits=hits,
        first_tied=first_tied,
        last_tied=ends - 1,
        last_hit=hits_before[ends] - 1,
        missed_classes=missed_cells // span,
        missed_items=missed_cells % span,
    )


def _order_by_class(classes: NDArray[np.integer], n_classes: int) -> Ints:
    """Return indices that sort labels by class. Labels of a class keep their order."""
    if n_classes <= _MAX_CODES_OF_16_BITS:
        # NumPy has a much faster stable sort for integers of 16 bits.
        classes = classes.astype(np.uint16)
    return np.argsort(classes, kind="stable")


# ---- values under weights -------------------------------------------------------------


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
        recall from 0 to 1. A recall that is not reached counts 0. Recalls are compared
        as floats with ``np.linspace(0, 1, ...)``, like those evaluation codes do: 3 of 10
        does not reach 0.30000000000000004.

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
    evaluate = partial(_average_precisions, curves, interpolation)
    return _evaluate_in_steps(curves, weights, evaluate)


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
        As for `class_average_precision`.
    labels : int
        The number of labels of an item that are pooled in a class.

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
    >>> zeros, hit = np.zeros(3, int), np.array([True, False, True])
    >>> curves = class_curves(zeros, np.array([0.9, 0.5, 0.2]), hit, np.arange(3),
    ...                       np.zeros(2, int), np.array([0, 2]), 1)
    >>> class_roc_auc(curves, np.array([[1, 1, 1], [1, 0, 2], [3, 1, 1]])).tolist()
    [[0.5], [nan], [0.75]]
    """
    return _evaluate_in_steps(curves, weights, partial(_roc_areas, curves, labels))


def _evaluate_in_steps(
    curves: ClassCurves,
    weights: NDArray[np.generic],
    evaluate: Callable[[Floats], Floats],
) -> Floats:
    """Evaluate the values of classes for a few rows of weights at a time.

    Rows are independent, so the steps do not change the values.
    """
    n_rows, n_items = weights.shape
    values = np.empty((n_rows, curves.n_classes))
    cells_per_row = max(1, len(curves.items), n_items)
    step = max(1, _MAX_CELLS_PER_STEP // cells_per_row)
    for start in range(0, n_rows, step):
        part = weights[start : start + step].astype(np.float64)
        item_weights(part.ravel(), part.size)  # checks them
        values[start : start + step] = evaluate(part)
    return values


# ---- average precision ----------------------------------------------------------------


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


def curve_points(
    curves: ClassCurves, weights: Floats, interpolation: Interpolation
) -> CurvePoints:
    """Compute precision and recall at each hit.

    Interpolations other than "none" raise a precision to the best one at the same or a
    higher recall.
    """
    retrieved = np.take(weights, curves.items, axis=1)
    hits = retrieved[:, curves.hits]
    _accumulate(np.add, retrieved, curves.indptr)
    _accumulate(np.add, hits, curves.hit_indptr)
    positives = _missed_positives(curves, weights) + _last_of_class(curves, hits)
    hits = hits[:, curves.last_hit]
    precision = divide(hits, retrieved[:, curves.last_tied], 0.0)
    recall = divide(hits, positives[:, curves.class_of_hit], 0.0)
    if interpolation != "none":
        # Accumulate in place from the last hit of each class to the first.
        reversed_indptr = curves.hit_indptr[-1] - curves.hit_indptr[::-1]
        _accumulate(np.maximum, precision[:, ::-1], reversed_indptr)
    return CurvePoints(precision, recall, positives)


def _average_precisions(
    curves: ClassCurves, interpolation: Interpolation, weights: Floats
) -> Floats:
    """Compute the area under each precision-recall curve, shape (rows, classes)."""
    precision, recall, positives = curve_points(curves, weights, interpolation)
    if interpolation in _RECALL_POINTS:
        # The first hit that reaches a step of recall counts for it.
        steps = _RECALL_POINTS[interpolation]
        # Sums of fractional weights have rounding errors.
        rounded_recall = np.round(recall, 12)
        n_reached = np.searchsorted(steps, rounded_recall, side="right")
        recall = n_reached / len(steps)
    gained_recall = np.diff(recall, axis=1, prepend=0.0)
    first_hits = curves.hit_indptr[:-1][_classes_with_hits(curves)]
    gained_recall[:, first_hits] = recall[:, first_hits]
    areas = _sum_by_class(curves, precision * gained_recall)
    areas[positives == 0] = np.nan
    return areas


# ---- ROC ------------------------------------------------------------------------------


def _roc_areas(curves: ClassCurves, n_pooled: int, weights: Floats) -> Floats:
    """Compute the area under each ROC curve, shape (rows, classes).

    A positive *loses* against a negative that ranks before it, and loses half against one
    that ties with it.
    """
    negatives_before = _scored_negatives_before(curves, weights)
    starts = curves.indptr[:-1]
    ends = curves.indptr[1:]
    scored_negatives = np.where(ends > starts, negatives_before[:, ends], 0.0)

    hits = weights[:, curves.items[curves.hits]]
    is_below_first = curves.first_tied > starts[curves.class_of_hit]
    above = np.where(is_below_first, negatives_before[:, curves.first_tied], 0.0)
    above_or_tied = negatives_before[:, curves.last_tied + 1]
    lost = _sum_by_class(curves, hits * (above + above_or_tied) / 2)

    _accumulate(np.add, hits, curves.hit_indptr)
    scored_positives = _last_of_class(curves, hits)
    positives = _missed_positives(curves, weights) + scored_positives
    unscored_negatives = _unscored_negatives(
        curves, n_pooled, weights, positives, scored_negatives
    )
    negatives = scored_negatives + unscored_negatives
    # Positives without a score rank below all scored negatives and tie with the others.
    lost += (positives - scored_positives) * (scored_negatives + negatives) / 2
    return 1.0 - divide(lost, positives * negatives)


def _scored_negatives_before(curves: ClassCurves, weights: Floats) -> Floats:
    """Sum the weights of the negatives of a class before each position.

    Returns
    -------
    array, shape (rows, scored + 1)
        Column p + 1 is the sum up to and including position p. A column that belongs to
        the start of a class contains the sum of the previous class.
    """
    negatives = np.take(weights, curves.items, axis=1)
    negatives[:, curves.hits] = 0.0
    sums = np.zeros((len(weights), len(curves.items) + 1))
    sums[:, 1:] = negatives
    _accumulate(np.add, sums[:, 1:], curves.indptr)
    return sums


def _unscored_negatives(
    curves: ClassCurves,
    n_pooled: int,
    weights: Floats,
    positives: Floats,
    scored_negatives: Floats,
) -> Floats:
    """Return the weight of the negatives of each class that have no score.

    It is a difference of sums. If there are no such negatives, it is set to exactly 0.
    """
    n_verified, verified = _verified_cells(curves, n_pooled, weights)
    unscored = verified - positives - scored_negatives
    n_scored = ragged.lengths(curves.indptr)
    n_missed = np.bincount(curves.missed_classes, minlength=curves.n_classes)
    has_none = n_verified == n_scored + n_missed
    is_rounding_error = unscored < _ROUNDING_ERROR * (positives + scored_negatives)
    return np.where(has_none | is_rounding_error, 0.0, unscored)


def _verified_cells(
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
    all_cells = n_pooled * weights.sum(axis=1)[:, None]
    return n_pooled * n_items - n_listed, all_cells - listed


# ---- sums by class --------------------------------------------------------------------


def _accumulate(operation: np.ufunc, table: Floats, indptr: Ints) -> None:
    """Accumulate along each class, in place.

    Classes are accumulated separately, so that none affects the rounding of another.
    """
    for start, stop in pairwise(indptr.tolist()):
        part = table[:, start:stop]
        operation.accumulate(part, axis=1, out=part)


def _classes_with_hits(curves: ClassCurves) -> Ints:
    """Return the classes that have hits."""
    return np.flatnonzero(ragged.lengths(curves.hit_indptr))


def _sum_by_class(curves: ClassCurves, values: Floats) -> Floats:
    """Sum values of hits by class, shape (rows, classes)."""
    sums = np.zeros((len(values), curves.n_classes))
    classes = _classes_with_hits(curves)
    if len(classes):
        first_hits = curves.hit_indptr[:-1][classes]
        sums[:, classes] = np.add.reduceat(values, first_hits, axis=1)
    return sums


def _last_of_class(curves: ClassCurves, values: Floats) -> Floats:
    """Return the value of the last hit of each class, or 0 without hits."""
    last_values = np.zeros((len(values), curves.n_classes))
    classes = _classes_with_hits(curves)
    last_hits = curves.hit_indptr[1:][classes] - 1
    last_values[:, classes] = values[:, last_hits]
    return last_values


def _missed_positives(curves: ClassCurves, weights: Floats) -> Floats:
    """Sum the weights of the positives of each class that have no score."""
    sums = np.zeros((len(weights), curves.n_classes))
    if len(curves.missed_classes):
        starts = np.flatnonzero(ragged.starts_run(curves.missed_classes))
        missed = weights[:, curves.missed_items]
        classes = curves.missed_classes[starts]
        sums[:, classes] = np.add.reduceat(missed, starts, axis=1)
    return sums
