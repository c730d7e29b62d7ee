"""Scored labels of each class, sorted once for any number of rows of item weights.

Conventions
-----------
``sort_by_class`` sorts the items of every class by score. Average precision
(`class_precision`) and the area under the ROC curve (`class_roc`) then evaluate rows of
item weights, such as bootstrap resamples, without another sort.

Arrays of weights have the shape (rows, items). Sums by class have the shape (rows, classes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.array_inputs import item_weights
from semmetrics.metrics.item_ranking import find_ties

TieRule: TypeAlias = Literal["grouped", "ordered"]

MAX_CELLS_PER_STEP = 1 << 22
_MAX_CODES_OF_16_BITS = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class ClassCurves:
    """Scored labels sorted by class and descending score, made by `sort_by_class`.

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
        Either all verified or all unverified cells of a class and an item, as the ground
        truth lists them, sorted by class. Unverified cells are neither positives nor
        negatives. Empty if all cells are verified.
    lists_verified : bool
        Whether the listed cells are the verified ones.
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
    listed_classes: Ints
    listed_items: Ints
    lists_verified: bool = False

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.indptr) - 1

    @property
    def class_of_hit(self) -> Ints:
        """The class of each hit, shape (hits,)."""
        return ragged.row_numbers(self.hit_indptr)


def sort_by_class(
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
        them one by one in the order of the input, like the VOC and COCO evaluation code.

    Returns
    -------
    ClassCurves

    Examples
    --------
    >>> from semmetrics.metrics.class_precision import class_average_precision
    >>> zeros, hit = np.zeros(3, int), np.array([True, False, True])
    >>> curves = sort_by_class(zeros, np.array([0.9, 0.5, 0.2]), hit, np.arange(3),
    ...                        np.zeros(2, int), np.array([0, 2]), 1)
    >>> class_average_precision(curves, np.array([[1, 1, 1], [1, 0, 2]])).round(4).tolist()
    [[0.8333], [1.0]]
    """
    check_choice("ties", ties, get_args(TieRule))
    indptr = ragged.offsets(np.bincount(classes, minlength=n_classes))
    by_class = _order_by_class(classes, n_classes)
    scores_by_class = scores[by_class]
    by_score = ragged.order_rows(indptr, scores_by_class)
    sorted_scores = scores_by_class[by_score]
    order = by_class[by_score]
    sorted_hit = hit[order]
    items = item[order].astype(np.int64)

    hits = np.flatnonzero(sorted_hit)
    n_hits_before = ragged.offsets(sorted_hit)  # of each position
    hit_indptr = n_hits_before[indptr]
    first_tied = hits
    tie_ends = hits + 1  # one past the last position
    if ties == "grouped":
        groups = find_ties(indptr, sorted_scores)
        group_of_hit = groups.group[hits]
        first_tied = groups.starts[group_of_hit]
        tie_ends = groups.ends[group_of_hit]

    missed_classes, missed_items = _find_missed(
        positive_classes.astype(np.int64),
        positive_items.astype(np.int64),
        ragged.row_numbers(hit_indptr),
        items[hits],
        n_classes,
    )
    return ClassCurves(
        indptr=indptr,
        items=items,
        hit_indptr=hit_indptr,
        hits=hits,
        first_tied=first_tied,
        last_tied=tie_ends - 1,
        last_hit=n_hits_before[tie_ends] - 1,
        missed_classes=missed_classes,
        missed_items=missed_items,
        listed_classes=np.zeros(0, np.int64),
        listed_items=np.zeros(0, np.int64),
    )


def _order_by_class(classes: NDArray[np.integer], n_classes: int) -> Ints:
    """Return indices that sort labels by class. Labels of a class keep their order."""
    if n_classes <= _MAX_CODES_OF_16_BITS:
        # NumPy has a much faster stable sort for integers of 16 bits.
        classes = classes.astype(np.uint16)
    return np.argsort(classes, kind="stable")


def _find_missed(
    positive_classes: Ints,
    positive_items: Ints,
    hit_classes: Ints,
    hit_items: Ints,
    n_classes: int,
) -> tuple[Ints, Ints]:
    """Return the positives that are not hits, because they have no score.

    Returns
    -------
    classes, items : int arrays, shape (missed,)
        Sorted by class, then by item.
    """
    last_item = max(positive_items.max(initial=0), hit_items.max(initial=0))
    n_items = int(last_item) + 1
    positive_cells = positive_classes * n_items + positive_items
    hit_cells = hit_classes * n_items + hit_items
    is_scored = ragged.is_member(positive_cells, hit_cells, n_classes * n_items)
    missed_cells = np.unique(positive_cells[~is_scored])
    return missed_cells // n_items, missed_cells % n_items


# ---- rows of weights ------------------------------------------------------------------


def evaluate_in_steps(
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
    step = max(1, MAX_CELLS_PER_STEP // cells_per_row)
    for start in range(0, n_rows, step):
        rows = slice(start, start + step)
        part = weights[rows].astype(np.float64)
        item_weights(part.ravel(), part.size)  # only to check the weights
        values[rows] = evaluate(part)
    return values


def accumulate(operation: np.ufunc, table: Floats, indptr: Ints) -> None:
    """Accumulate a table of one column per position or hit along each class, in place.

    Classes are accumulated separately, so that none affects the rounding of another.
    """
    for start, stop in pairwise(indptr.tolist()):
        part = table[:, start:stop]
        operation.accumulate(part, axis=1, out=part)


def find_classes_with_hits(curves: ClassCurves) -> Ints:
    """Return the classes that have hits."""
    return np.flatnonzero(ragged.lengths(curves.hit_indptr))


def sum_by_class(curves: ClassCurves, values: Floats) -> Floats:
    """Sum values of hits by class, shape (rows, classes)."""
    sums = np.zeros((len(values), curves.n_classes))
    classes = find_classes_with_hits(curves)
    if len(classes):
        first_hits = curves.hit_indptr[:-1][classes]
        sums[:, classes] = np.add.reduceat(values, first_hits, axis=1)
    return sums


def take_last_of_class(curves: ClassCurves, values: Floats) -> Floats:
    """Return the value of the last hit of each class, or 0 without hits."""
    last_values = np.zeros((len(values), curves.n_classes))
    classes = find_classes_with_hits(curves)
    last_hits = curves.hit_indptr[1:][classes] - 1
    last_values[:, classes] = values[:, last_hits]
    return last_values


def sum_missed_positives(curves: ClassCurves, weights: Floats) -> Floats:
    """Sum the weights of the positives of each class that have no score."""
    sums = np.zeros((len(weights), curves.n_classes))
    if len(curves.missed_classes):
        starts = np.flatnonzero(ragged.starts_run(curves.missed_classes))
        missed = weights[:, curves.missed_items]
        classes = curves.missed_classes[starts]
        sums[:, classes] = np.add.reduceat(missed, starts, axis=1)
    return sums
