"""Ranking metrics on label scores: coverage, ranking loss, and average precision.

Conventions
-----------
Item-wise measures (``coverage_items``, ``ranking_loss_items``, ``lrap_items``) look along an
item's row. Equal scores tie, with the worst rank of the tie for every label in it, as in
scikit-learn. Rows are ragged and sorted by falling score, and may hold only some labels of the
dictionary: the labels without a score stand below all scored ones and tie with each other.
A value that is not defined is nan; the caller's policy decides what becomes of it.

Class-wise average precision looks along a class's column. ``class_curves`` sorts once;
``class_average_precision`` then evaluates any number of item weights (bootstrap resamples). An
item without a score for a class is not retrieved for it: it counts among the positives only.

Metrics
-------
``coverage_error``                      lower is better, at least the mean number of references
``ranking_loss``                        lower is better, in [0, 1]
``label_ranking_average_precision``     higher is better, in (0, 1]
``average_precision``                   for each class, higher is better, in [0, 1]
``mean_average_precision``              their mean over the classes that have positives
``average_precision_items``             for each list, higher is better, in [0, 1]

References
----------
Tsoumakas, Katakis and Vlahavas, 2010, Mining multi-label data, section 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    order_rows,
    positions,
    row_numbers,
    running_sums,
    sum_rows,
)
from semmetrics.errors import InputError
from semmetrics.metrics.decoding import score_matrix

__all__ = [
    "ClassCurves",
    "Empty",
    "Interpolation",
    "Ties",
    "average_precision",
    "average_precision_items",
    "class_average_precision",
    "class_curves",
    "coverage_error",
    "coverage_items",
    "label_ranking_average_precision",
    "lrap_items",
    "mean_average_precision",
    "ranking_loss",
    "ranking_loss_items",
    "sorted_rows",
    "target_matrix",
]

Empty: TypeAlias = "float | Literal['skip']"
Interpolation: TypeAlias = Literal["none", "voc2007", "voc2010", "coco101"]
Ties: TypeAlias = Literal["grouped", "ordered"]

_CELLS = 1 << 22  # numbers in one temporary table
_POINTS = {"voc2007": np.linspace(0.0, 1.0, 11), "coco101": np.linspace(0.0, 1.0, 101)}


# ---- along an item's row -------------------------------------------------------------------


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
    _, ends = _ties(indptr, scores)
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
    firsts, _ = _ties(indptr, scores)
    found = running_sums(hit)
    above = found[firsts] - np.repeat(found[indptr[:-1]], lengths(indptr))
    not_above = np.repeat(n_ref, lengths(indptr)) - above
    wrong = sum_rows(np.where(hit, 0, not_above), indptr)
    missed = n_ref - sum_rows(hit, indptr)  # reference labels without a score
    wrong = wrong + missed * (n_labels - lengths(indptr) - missed)
    pairs = n_ref * (n_labels - n_ref)
    return _divide(wrong, pairs, np.nan)


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
    _, ends = _ties(indptr, scores)
    until = ends[found]
    hits = running_sums(hit)
    precisions = (hits[until] - hits[indptr[rows]]) / (until - indptr[rows])
    total = np.bincount(rows, precisions, minlength=len(n_ref))
    missed = n_ref - sum_rows(hit, indptr)
    return _divide(total + missed * (n_ref / max(n_labels, 1)), n_ref, np.nan)


def average_precision_items(
    indptr: Ints, hit: Bools, n_ref: Ints, *, divisor: Literal["matched", "reference"] = "matched"
) -> Floats:
    """Average precision of each ranked list: mean precision at the ranks that match.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    hit : array, shape (indptr[-1],), bool
        Whether the label at this rank matches a reference label.
    n_ref : array, shape (n,)
    divisor : {"matched", "reference"}
        "matched" divides by the number of matches and is 0 without any (Kubany et al. 2020,
        example-based average precision); "reference" divides by the number of reference labels,
        so that a missed one counts 0, and is nan without any.

    Returns
    -------
    array, shape (n,), in [0, 1]

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, example-based measures.

    Examples
    --------
    >>> hit = np.array([True, False, True])
    >>> average_precision_items(np.array([0, 3]), hit, np.array([4])).round(4)
    array([0.8333])
    """
    if divisor not in ("matched", "reference"):
        raise InputError(f"unknown divisor {divisor!r}", remedy="use 'matched' or 'reference'")
    found = np.flatnonzero(hit)
    rows = np.searchsorted(indptr, found, side="right") - 1
    hits = running_sums(hit)
    precisions = (hits[found + 1] - hits[indptr[rows]]) / (positions(indptr)[found] + 1)
    total = np.bincount(rows, precisions, minlength=len(n_ref))
    if divisor == "matched":
        return _divide(total, sum_rows(hit, indptr), 0.0)
    return _divide(total, n_ref, np.nan)


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
    return _mean(coverage_items(*rows), empty, weights)


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
    return _mean(ranking_loss_items(*rows), empty, weights)


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
    return _mean(lrap_items(*rows), empty, weights)


# ---- along a class's column ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """Scored labels in the order of class and falling score: made by `class_curves`.

    Attributes
    ----------
    indptr : array, shape (n_classes + 1,)
        Row offsets of the classes in `item`.
    item : array, shape (m,)
        Items of a class by falling score.
    hit_ptr : array, shape (n_classes + 1,)
        Row offsets of the classes in `hits`, `last` and `last_hit`.
    hits : array, shape (h,)
        Positions in `item` that are positives of their class.
    last : array, shape (h,)
        The last position that ties with the hit.
    last_hit : array, shape (h,)
        The last of `hits` that ties with the hit.
    missed_class, missed_item : arrays, shape (u,)
        The positives without a score.
    """

    indptr: Ints
    item: Ints
    hit_ptr: Ints
    hits: Ints
    last: Ints
    last_hit: Ints
    missed_class: Ints
    missed_item: Ints


def class_curves(
    classes: NDArray[np.integer],
    scores: Floats,
    hit: Bools,
    item: NDArray[np.integer],
    positive_classes: NDArray[np.integer],
    positive_items: NDArray[np.integer],
    n_classes: int,
    *,
    ties: Ties = "grouped",
) -> ClassCurves:
    """Sort scored labels once, for the average precision of every class.

    Parameters
    ----------
    classes, scores, hit, item : arrays, shape (m,)
        Each scored label: its code in [0, n_classes), its score, whether it is right, and the
        number of its item. An item scores a class once.
    positive_classes, positive_items : arrays, shape (p,)
        Every true (class, item) pair, scored or not, once.
    n_classes : int
    ties : {"grouped", "ordered"}
        "grouped": equal scores are retrieved together (scikit-learn); "ordered": one after the
        other in the order given (the VOC and COCO evaluation codes).

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
    if ties not in get_args(Ties):
        raise InputError(f"unknown tie rule {ties!r}", remedy="use 'grouped' or 'ordered'")
    indptr = offsets(np.bincount(classes, minlength=n_classes))
    order = np.argsort(classes, kind="stable")
    order = order[order_rows(indptr, scores[order])]
    sorted_hit, sorted_item = hit[order], item[order].astype(np.int64)
    hits = np.flatnonzero(sorted_hit)
    counts = running_sums(sorted_hit)
    ends = hits + 1 if ties == "ordered" else _ties(indptr, scores[order])[1][hits]
    missed = _unscored(classes[order][hits], sorted_item[hits], positive_classes, positive_items)
    return ClassCurves(
        indptr, sorted_item, counts[indptr], hits, ends - 1, counts[ends] - 1, *missed
    )


def class_average_precision(
    curves: ClassCurves, weights: NDArray[np.generic], *, interpolation: Interpolation = "none"
) -> Floats:
    r"""Average precision of every class, for every row of item weights.

    With precision P and recall R at each distinct score, this is
    :math:`\sum P \, \Delta R`; the interpolations first raise P at a recall to the best P at that
    recall or a higher one.

    Parameters
    ----------
    curves : ClassCurves
    weights : array, shape (B, n_items), at least 0
        How often each item counts: the counts of a bootstrap resample give what the repeated
        items would give; 0 takes an item out. (Copies of an item are retrieved together, also
        with ``ties="ordered"``, where the interpolation "none" would tell them apart.)
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none": the sum above (scikit-learn); "voc2010": the same with raised P; "voc2007" and
        "coco101": the mean of raised P at 11 and 101 equal steps of recall from 0 to 1, where
        a recall that is not reached counts 0. Recalls are compared as floats with
        ``np.linspace(0, 1, ...)``, as those evaluation codes do: 3 of 10 does not reach
        0.30000000000000004.

    Returns
    -------
    array, shape (B, n_classes), in [0, 1]
        nan where the positives of a class have no weight.

    Raises
    ------
    InputError
        If the interpolation is unknown, or weights are negative or not finite.

    References
    ----------
    Everingham et al., 2010, The PASCAL VOC challenge, section 4.2 (eleven points; the development
    kit of 2010 for all points); Lin et al., 2014, Microsoft COCO, evaluation code.
    """
    if interpolation not in get_args(Interpolation):
        names = ", ".join(get_args(Interpolation))
        raise InputError(f"unknown interpolation {interpolation!r}", remedy=f"use one of {names}")
    areas = np.empty((len(weights), len(curves.indptr) - 1))
    cells = max(1, len(curves.item), weights.shape[1])
    step = max(1, _CELLS // cells)  # rows of weights do not depend on each other
    for start in range(0, len(weights), step):
        part = weights[start : start + step].astype(np.float64)
        if not (np.isfinite(part) & (part >= 0)).all():
            raise InputError("a weight is negative or not finite")
        areas[start : start + step] = _areas(curves, part, interpolation)
    return areas


def average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: Ties = "grouped",
) -> Floats:
    """Average precision of each class over the items.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        As for `class_average_precision`; "none" is scikit-learn's ``average_precision_score``.
    weights : array-like, shape (n,), optional
        Weight of each item (scikit-learn's ``sample_weight``).
    ties : {"grouped", "ordered"}
        As for `class_curves`.

    Returns
    -------
    array, shape (L,), in [0, 1]
        nan for a class without positives.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or an option
        is unknown.

    References
    ----------
    As for `class_average_precision`.

    Examples
    --------
    >>> average_precision([[0.9, 0.2], [0.5, 0.1], [0.2, 0.3]], [[1, 0], [0, 0], [1, 0]]).round(4)
    array([0.8333,    nan])
    """
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    positive_items, positive_classes = np.nonzero(truth)
    curves = class_curves(
        np.repeat(np.arange(width), n),
        table.T.ravel(),
        truth.T.ravel(),
        np.tile(np.arange(n), width),
        positive_classes,
        positive_items,
        width,
        ties=ties,
    )
    rows = _item_weights(weights, n)[None, :]
    values: Floats = class_average_precision(curves, rows, interpolation=interpolation)[0]
    return values


def mean_average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: Ties = "grouped",
) -> float:
    """Mean of `average_precision` over the classes that have positives.

    Parameters
    ----------
    scores, targets, interpolation, weights, ties
        As for `average_precision`.

    Returns
    -------
    float, in [0, 1]
        nan where no class has positives.

    Raises
    ------
    InputError
        As for `average_precision`.

    Examples
    --------
    >>> mean_average_precision([[0.9, 0.2], [0.5, 0.1]], [[0, 0], [1, 0]])
    0.5
    """
    values = average_precision(
        scores, targets, interpolation=interpolation, weights=weights, ties=ties
    )
    return _mean(values, "skip", None)


# ---- shared --------------------------------------------------------------------------------


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


def _ties(indptr: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """First, and one past the last, flat position of the labels that tie with each label."""
    fresh = np.ones(len(scores), np.bool_)
    fresh[1:] = (scores[1:] != scores[:-1]) | np.diff(row_numbers(indptr)).astype(np.bool_)
    begins = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    return begins[group], np.append(begins[1:], len(scores))[group]


def _unscored(
    classes: NDArray[np.integer],
    items: NDArray[np.integer],
    positive_classes: NDArray[np.integer],
    positive_items: NDArray[np.integer],
) -> tuple[Ints, Ints]:
    """The positives that are not among the hits."""
    span = int(max(items.max(initial=0), positive_items.max(initial=0))) + 1
    found = classes.astype(np.int64) * span + items
    every = positive_classes.astype(np.int64) * span + positive_items
    missed = np.setdiff1d(every, found)
    return missed // span, missed % span


def _areas(curves: ClassCurves, weights: Floats, interpolation: Interpolation) -> Floats:
    """Areas under the curves of some replicates; positives' weights sum up as recall does."""
    seen = np.take(weights, curves.item, axis=1)
    right = seen[:, curves.hits]
    _class_cumsum(seen, curves.indptr)
    _class_cumsum(right, curves.hit_ptr)
    n_classes = len(curves.indptr) - 1
    filled = np.flatnonzero(lengths(curves.hit_ptr))
    positives = _missed_weights(curves, weights)
    positives[:, filled] += right[:, curves.hit_ptr[1:][filled] - 1]

    right = right[:, curves.last_hit]
    precision = _divide(right, seen[:, curves.last], 0.0)
    of_class = np.repeat(np.arange(n_classes), lengths(curves.hit_ptr))
    recall = _divide(right, positives[:, of_class], 0.0)
    if interpolation != "none":
        _raise_precision(precision, curves.hit_ptr)
    if interpolation in _POINTS:  # a point of recall belongs to the first hit that reaches it
        points = _POINTS[interpolation]
        recall = np.searchsorted(points, recall, side="right") / len(points)
    starts = curves.hit_ptr[:-1][filled]
    steps = np.diff(recall, axis=1, prepend=0.0)
    steps[:, starts] = recall[:, starts]
    areas = np.zeros((len(weights), n_classes))
    if len(filled):
        areas[:, filled] = np.add.reduceat(precision * steps, starts, axis=1)
    areas[positives == 0] = np.nan
    return areas


def _missed_weights(curves: ClassCurves, weights: Floats) -> Floats:
    """Weight of each class's positives without a score, shape (B, n_classes)."""
    total = np.zeros((len(weights), len(curves.indptr) - 1))
    if len(curves.missed_class):  # sorted by class
        starts = np.flatnonzero(np.diff(curves.missed_class, prepend=-1))
        sums = np.add.reduceat(weights[:, curves.missed_item], starts, axis=1)
        total[:, curves.missed_class[starts]] = sums
    return total


def _class_cumsum(table: Floats, indptr: Ints) -> None:
    """Running sums of each class in place; class by class, so that none rounds another."""
    for row in np.flatnonzero(lengths(indptr)):
        part = table[:, indptr[row] : indptr[row + 1]]
        np.cumsum(part, axis=1, out=part)


def _raise_precision(table: Floats, indptr: Ints) -> None:
    """Best precision at the same or a higher recall, in place (the curve's envelope)."""
    for row in np.flatnonzero(lengths(indptr)):
        part = table[:, indptr[row] : indptr[row + 1]][:, ::-1]
        np.maximum.accumulate(part, axis=1, out=part)


def _item_weights(weights: ArrayLike | None, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    table = np.asarray(weights, np.float64)
    if table.shape != (n,):
        raise InputError(f"weights have shape {table.shape}", remedy=f"give {n} numbers")
    if not (np.isfinite(table) & (table >= 0)).all():
        raise InputError("a weight is negative or not finite")
    return table


def _mean(values: Floats, empty: Empty, weights: ArrayLike | None) -> float:
    """Weighted mean with the policy for items that are not defined; nan of nothing."""
    share = _item_weights(weights, len(values))
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


def _divide(numerator: NDArray[np.generic], divisor: NDArray[np.generic], empty: float) -> Floats:
    result = np.full(numerator.shape, empty)
    np.divide(numerator, divisor, out=result, where=divisor != 0)
    return result
