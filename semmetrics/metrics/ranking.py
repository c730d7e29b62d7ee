"""Rankings of labels: measures along the labels of an item, and average precision of classes.

Conventions
-----------
**Of items.** Equal scores tie, with the worst rank of the tie for every label in it, as in
scikit-learn. Rows are ragged and sorted by falling score, and may hold only some labels of the
dictionary: the labels without a score stand below all scored ones and tie with each other. A value
that is not defined is nan; the caller's policy decides what becomes of it. A value has two steps: a
part that the scored labels give, and what the size of the dictionary makes of it, which is known
when all labels are.

**Of classes.** Items are ranked by the score of a class. ``class_curves`` sorts once;
``class_average_precision`` then evaluates any number of item weights (bootstrap resamples). An item
without a score for a class is not retrieved for it: it counts among the positives only. A class
without positives has no value (nan).

Metrics
-------
``coverage_error``                      lower is better, at least the mean number of references
``ranking_loss``                        lower is better, in [0, 1]
``label_ranking_average_precision``     higher is better, in (0, 1]
``average_precision``                   for each class, higher is better, in [0, 1]
``mean_average_precision``              their mean over the classes that have positives
``class_roc_auc``                       for each class, higher is better, in [0, 1]

References
----------
Tsoumakas, Katakis and Vlahavas, 2010, Mining multi-label data, section 7.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks import Block, LabelTask
from semmetrics.metrics import definition, families
from semmetrics.metrics.array_inputs import (
    Weights,
    item_weights,
    score_matrix,
    target_matrix,
)
from semmetrics.metrics.definition import (
    Columns,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import CAUSES, Causes, ItemMeans
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.matching import Matched, Matches, no_scores, sides_of
from semmetrics.metrics.registry import define

Empty: TypeAlias = float | Literal["skip"]
Interpolation: TypeAlias = Literal["none", "voc2007", "voc2010", "coco101"]
Ties: TypeAlias = Literal["grouped", "ordered"]

_CELLS = 1 << 22  # numbers in one temporary table
_POINTS = {"voc2007": np.linspace(0.0, 1.0, 11), "coco101": np.linspace(0.0, 1.0, 101)}


def item_values(
    name: str, indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints, n_labels: int
) -> Floats:
    """Compute a ranking measure of each item.

    Parameters
    ----------
    name : {"LRAP", "RankingLoss", "CoverageError"}
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
    array, shape (n,)
        nan where undefined: for an item without reference labels, and the ranking loss where every
        label is a reference.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.4, 0.4]), np.array([False, True, False])
    >>> item_values("CoverageError", *rows, np.array([1]), 5)
    array([3.])
    >>> item_values("CoverageError", *rows, np.array([2]), 5)
    array([5.])
    """
    part = _scored_part(name, indptr, scores, hit, n_ref)
    missed = n_ref - ragged.sum_rows(hit, indptr)
    return _complete(name, part, n_ref, ragged.lengths(indptr), missed, n_labels)


def _scored_part(
    name: str, indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints
) -> NDArray[Any]:
    """Return what the scored labels of each item give; ``_complete`` makes a value of it.

    For LRAP the precisions at the ranks of scored references, over all references; for RankingLoss
    the (reference, other) pairs in the wrong order whose other label is scored; for CoverageError
    the worst rank of a scored reference.
    """
    firsts, ends = tie_spans(indptr, scores)
    hits, found = ragged.offsets(hit), np.flatnonzero(hit)
    if name == "RankingLoss":
        above = hits[firsts] - np.repeat(hits[indptr[:-1]], ragged.lengths(indptr))
        not_above = np.repeat(n_ref, ragged.lengths(indptr)) - above
        return ragged.sum_rows(np.where(hit, 0, not_above), indptr)
    rows = np.searchsorted(indptr, found, side="right") - 1
    ranks = ends[found] - indptr[rows]
    if name == "CoverageError":
        worst = np.zeros(len(n_ref))
        np.maximum.at(worst, rows, ranks)
        return worst
    precisions = (hits[ends[found]] - hits[indptr[rows]]) / ranks
    return divide(np.bincount(rows, precisions, minlength=len(n_ref)), n_ref, 0.0)


def _complete(
    name: str,
    part: NDArray[Any],
    n_ref: Ints,
    scored: Ints,
    missed: Ints,
    n_labels: int | Ints,
) -> Floats:
    """Return values from the parts of scored labels; ``missed`` references have no score."""
    if name == "LRAP":
        value = part + missed / np.maximum(n_labels, 1)
    elif name == "CoverageError":
        value = np.where(missed > 0, np.asarray(n_labels, np.float64), part)
    else:
        value = divide(
            part + missed * (n_labels - scored - missed), n_ref * (n_labels - n_ref)
        )
    return np.where(n_ref > 0, value, np.nan)


def coverage_error(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: Weights = None,
) -> float:
    """Average the number of labels to go through, best first, to find all reference labels.

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
    return _mean_value("CoverageError", scores, targets, empty, weights)


def ranking_loss(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    empty: Empty = "skip",
    weights: Weights = None,
) -> float:
    """Average the share of (reference, other) label pairs in the wrong order; a tie is wrong.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    weights : array-like, shape (n,), optional
        Weight of each item in the mean.
    empty : float or "skip"
        The value of an item where the measure is not defined (no label or every label is a
        reference); "skip" leaves the item out of the mean, nan makes the mean nan. scikit-learn
        has 0.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), or shapes differ.

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
    weights : array-like, shape (n,), optional
        Weight of each item in the mean.
    empty : float or "skip"
        The value of an item where the measure is not defined (no reference label); "skip"
        leaves the item out of the mean, nan makes the mean nan. scikit-learn has 1.

    Returns
    -------
    float, in (0, 1]

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), or shapes differ.

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
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    indptr = ragged.offsets(np.full(n, width))
    order = ragged.order_rows(indptr, table.ravel())
    n_ref = truth.sum(axis=1, dtype=np.int64)
    rows = indptr, table.ravel()[order], truth.ravel()[order], n_ref, width
    return mean_over_items(item_values(name, *rows), empty, weights)


def tie_spans(indptr: Ints, scores: Floats) -> tuple[Ints, Ints]:
    """Find the first, and one past the last, position of the labels that tie with each label."""
    fresh = ragged.starts_run(scores) | ragged.starts_run(ragged.row_numbers(indptr))
    begins = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    return begins[group], np.append(begins[1:], len(scores))[group]


def mean_over_items(values: Floats, empty: Empty, weights: Weights) -> float:
    """Average with weights, under the policy for items that are not defined; nan of nothing."""
    share = item_weights(weights, len(values))
    undefined = np.isnan(values)
    fill = 0.0 if empty == "skip" else float(empty)
    if empty == "skip":
        share = np.where(undefined, 0.0, share)
    counted = share > 0
    weighted = np.where(undefined, fill, values)[counted] * share[counted]
    return float(weighted.sum() / share.sum()) if counted.any() else float("nan")


def scored_labels(block: Block[LabelTask], name: str) -> tuple[Any, Bools, Matched]:
    """Return the ranked predictions that count, which of them are hits, and the matching.

    Raises
    ------
    InputError
        If they have no scores.
    """
    (ranked, _), matched = sides_of(block), block.get(Matches("once", "class"))
    if not len(ranked.codes):  # nothing is predicted, so no score is lacking
        ranked = replace(ranked, scores=np.zeros(0))
    if ranked.scores is None:
        raise no_scores(name, block.task, "another measure")
    if matched.counted is None:
        return ranked, matched.hit, matched
    return ranked.keep(matched.counted), matched.hit[matched.counted], matched


@dataclass(frozen=True, repr=False)
class ItemRanking(Statistic):
    """Numbers of each item for a ranking measure, before the number of labels is known.

    The labels that an item does not score tie below the others. How many these are is known when
    all parts have been merged, so this is not a function of sums.
    """

    additive = False
    name: str

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Compute "part" (what the scored labels give), "n_ref", "scored" and "missed"."""
        side, hit, matched = scored_labels(block, self.name)
        if block.task.given is not None:  # what is not in the class list counts nowhere
            inside = side.codes < block.task.given
            side, hit = side.keep(inside), hit[inside]
        n_ref = matched.n_ref
        part = _scored_part(self.name, side.indptr, side.scores, hit, n_ref)
        scored, missed = (
            ragged.lengths(side.indptr),
            n_ref - ragged.sum_rows(hit, side.indptr),
        )
        known = {"part": part, "n_ref": n_ref, "scored": scored, "missed": missed}
        if block.task.unverified is not None:
            cells = block.task.unverified.cells.rows(block.start, block.stop)
            if block.task.given is not None:
                cells = cells.keep(cells.codes < block.task.given)
            known[block.task.unverified.name] = ragged.lengths(cells.indptr)
        return {name: Dense(values) for name, values in known.items()}


class ItemRankingFamily(ItemMeans):
    """Means over items of values that are known only when all items are: rows are weighted."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the numbers of each item."""
        return ItemRanking(measure.definition.name)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average under the policies; items are added in an order of their own."""
        values, cause = self.values(measure, sums["rows"], frame)
        order = sums["order"]
        values, cause = np.where(cause == 0, values, 0.0)[order], cause[order]
        places = [np.flatnonzero(cause == c) for c in range(len(CAUSES))]
        total = np.empty(len(sums["weights"]))
        counts = np.zeros((len(sums["weights"]), len(CAUSES)))
        for row, weights in enumerate(sums["weights"]):
            ordered = weights[order]
            total[row] = (values * ordered).sum()
            counts[row] = [ordered[place].sum() for place in places]
        return families.mean_of_defined(measure, {"value": total, "cause": counts})

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value, by cause."""
        cause = self.values(measure, sums["rows"], frame)[1]
        return families.undefined_items(
            {"cause": np.bincount(cause, minlength=len(CAUSES))}
        )

    def values(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> tuple[Floats, Causes]:
        """Return the value of each item, nan where undefined, and the cause."""
        names, size = ("part", "n_ref", "scored", "missed"), frame.dictionary
        part, n_ref, scored, missed = (rows[name].values for name in names)
        if "verified" in rows:
            size = rows["verified"].values
        elif "unverified" in rows:
            size = size - rows["unverified"].values
        value = _complete(measure.definition.name, part, n_ref, scored, missed, size)
        return value, np.where(np.isnan(value), np.where(n_ref == 0, 3, 4), 0).astype(
            np.int8
        )


SCORES = frozenset(["scores"])
_OPTIONS = (
    families.policy_option(
        "no_reference", "noref", "skip", "items without true labels"
    ),
    families.policy_option(
        "undefined", "undef", "skip", "items for which every label is true"
    ),
)


def _ranking(name: str, **traits: Any) -> definition.Definition:
    """Register a ranking measure of items."""
    policies = (
        ("no_reference", "undefined") if name == "RankingLoss" else ("no_reference",)
    )
    options = families.choose_policies(_OPTIONS, policies)
    shared: dict[str, Any] = {"options": options, "needs": SCORES, "cutoff": False}
    return define(name, ItemRankingFamily(), dictionary=True, **shared, **traits)


LRAP = _ranking(
    "LRAP",
    summary="Mean over true labels of the share of true labels among those ranked as high.",
    equation="(1/|Y|) Σ over y in Y of |{y' in Y: s(y') >= s(y)}| / |{l: s(l) >= s(y)}|",
    source="Tsoumakas et al. 2010, section 7.3.3; ties as in scikit-learn",
    cite=("tsoumakas2010",),
)
RankingLoss = _ranking(
    "RankingLoss",
    summary="Share of an item's (true, other) label pairs in the wrong order; a tie is wrong.",
    equation="|{(y, z): s(y) <= s(z)}| / (|Y| |not Y|)",
    source="Schapire & Singer 2000; Tsoumakas et al. 2010, section 7.3.3",
    cite=("schapire2000", "tsoumakas2010"),
    higher_is_better=False,
)
CoverageError = _ranking(
    "CoverageError",
    summary="How many labels to go through, best first, until all true ones are found.",
    equation="max over y in Y of |{l: s(l) >= s(y)}|",
    source="Tsoumakas et al. 2010, section 7.3.3, plus one",
    cite=("tsoumakas2010",),
    bounds=(0.0, np.inf),
    higher_is_better=False,
)


@dataclass(frozen=True, eq=False, repr=False)
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
    first, last : arrays, shape (h,)
        The first and the last position that tie with the hit.
    last_hit : array, shape (h,)
        The last of `hits` that ties with the hit.
    missed_class, missed_item : arrays, shape (u,)
        The positives without a score.
    unknown_class, unknown_item : arrays, shape (v,)
        Items of which nobody verified whether they are positives of the class, sorted by class.
        They count nowhere.
    has_verified : bool
        Whether these are the items that were verified, and all others count nowhere.
    """

    indptr: Ints
    item: Ints
    hit_ptr: Ints
    hits: Ints
    first: Ints
    last: Ints
    last_hit: Ints
    missed_class: Ints
    missed_item: Ints
    unknown_class: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    unknown_item: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    has_verified: bool = False

    @property
    def class_of_hit(self) -> Ints:
        """The class of each hit, shape (h,)."""
        return ragged.row_numbers(self.hit_ptr)


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
    check_choice("ties", ties, get_args(Ties))
    indptr = ragged.offsets(np.bincount(classes, minlength=n_classes))
    order = np.argsort(classes, kind="stable")
    order = order[ragged.order_rows(indptr, scores[order])]
    sorted_hit, items = hit[order], item[order].astype(np.int64)
    hits = np.flatnonzero(sorted_hit)
    counts = ragged.offsets(sorted_hit)
    begins, ends = hits, hits + 1
    if ties == "grouped":
        begins, ends = (ends_of[hits] for ends_of in tie_spans(indptr, scores[order]))
    # the positives that are not among the hits
    span = int(max(item.max(initial=0), positive_items.max(initial=0))) + 1
    found = classes[order][hits].astype(np.int64) * span + items[hits]
    missed = np.setdiff1d(
        positive_classes.astype(np.int64) * span + positive_items, found
    )
    ties_of = begins, ends - 1, counts[ends] - 1
    return ClassCurves(
        indptr, items, counts[indptr], hits, *ties_of, missed // span, missed % span
    )


def class_average_precision(
    curves: ClassCurves,
    weights: NDArray[np.generic],
    *,
    interpolation: Interpolation = "none",
) -> Floats:
    r"""Compute the average precision of every class, for every row of item weights.

    With precision P and recall R at each distinct score, this is
    :math:`\sum P \, \Delta R`; the interpolations first raise P at a recall to the best P at that
    recall or a higher one.

    Parameters
    ----------
    curves : ClassCurves
    weights : array, shape (B, n_items), at least 0
        How often each item counts: the counts of a bootstrap resample give what the repeated
        items would give; 0 takes an item out. (Copies of an item are retrieved together, also
        with ``ties="ordered"``, where the interpolation "none" would distinguish them.)
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
    check_choice("interpolation", interpolation, get_args(Interpolation))
    return _in_steps(curves, weights, lambda part: _areas(curves, part, interpolation))


def class_roc_auc(
    curves: ClassCurves, weights: NDArray[np.generic], labels: int = 1
) -> Floats:
    """Compute the area under the ROC curve of every class, for every row of item weights.

    It is the probability that a positive is ranked before an item that is none; ties count half.
    Items without a score for a class are behind all others, and tie.

    Parameters
    ----------
    curves : ClassCurves
    weights : array, shape (B, n_items), at least 0
        As for `class_average_precision`.
    labels : int
        How many labels of an item are pooled in a class.

    Returns
    -------
    array, shape (B, n_classes), in [0, 1]
        nan where all items, or none, are positives of a class.

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

    def areas(part: Floats) -> Floats:
        seen = np.take(part, curves.item, axis=1)
        right = seen[:, curves.hits]
        seen[:, curves.hits] = 0.0
        before = np.zeros((len(part), len(curves.item) + 1))
        before[:, 1:] = seen  # the negatives up to each position, of its class
        _accumulate(np.add, before[:, 1:], curves.indptr)
        starts, of_class = curves.indptr[:-1], curves.class_of_hit
        earlier = np.where(
            curves.first > starts[of_class], before[:, curves.first], 0.0
        )
        behind = np.where(curves.indptr[1:] > starts, before[:, curves.indptr[1:]], 0.0)
        behind_these = right * (earlier + before[:, curves.last + 1]) / 2
        _accumulate(np.add, right, curves.hit_ptr)
        positives = _positives(curves, part, right)
        # of the other items that have no score; where there are none, rounding makes none
        missed = np.bincount(curves.missed_class, minlength=len(starts))
        n_verified, verified = _verified(curves, part, labels)
        others = verified - positives - behind
        none = n_verified == ragged.lengths(curves.indptr) + missed
        negatives = behind + np.where(
            none | (others < 1e-12 * (positives + behind)), 0.0, others
        )
        filled = np.flatnonzero(ragged.lengths(curves.hit_ptr))
        scored, lost = np.zeros(positives.shape), np.zeros(positives.shape)
        scored[:, filled] = right[:, curves.hit_ptr[1:][filled] - 1]
        if len(filled):
            lost[:, filled] = np.add.reduceat(
                behind_these, curves.hit_ptr[:-1][filled], axis=1
            )
        lost += (positives - scored) * (behind + negatives) / 2
        return 1.0 - divide(lost, positives * negatives)

    return _in_steps(curves, weights, areas)


def _verified(curves: ClassCurves, weights: Floats, labels: int) -> tuple[Ints, Floats]:
    """Count the items of each class that somebody verified, and add their weights.

    Returns
    -------
    int array, shape (n_classes,)
    float array, shape (B, n_classes)
    """
    n_classes = len(curves.indptr) - 1
    listed = np.zeros((len(weights), n_classes))
    counts = np.bincount(curves.unknown_class, minlength=n_classes)
    bounds = ragged.offsets(counts)
    for place in np.flatnonzero(counts).tolist():
        items = curves.unknown_item[bounds[place] : bounds[place + 1]]
        listed[:, place] = weights[:, items].sum(axis=1)
    if curves.has_verified:
        return counts, listed
    everything = labels * weights.sum(axis=1)[:, None]
    return labels * weights.shape[1] - counts, everything - listed


def _in_steps(
    curves: ClassCurves,
    weights: NDArray[np.generic],
    values: Callable[[Floats], Floats],
) -> Floats:
    """Compute values of classes from few rows of weights at a time, which changes nothing."""
    found = np.empty((len(weights), len(curves.indptr) - 1))
    step = max(1, _CELLS // max(1, len(curves.item), weights.shape[1]))
    for start in range(0, len(weights), step):
        part = weights[start : start + step].astype(np.float64)
        item_weights(part.ravel(), part.size)
        found[start : start + step] = values(part)
    return found


def average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: Ties = "grouped",
) -> Floats:
    """Compute the average precision of each class over the items.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none": scikit-learn's ``average_precision_score``; "voc2010": the same with raised
        precision; "voc2007" and "coco101": the mean of raised precision at 11 and 101 equal steps
        of recall.
    weights : array-like, shape (n,), optional
        Weight of each item (scikit-learn's ``sample_weight``).
    ties : {"grouped", "ordered"}
        "grouped": equal scores are retrieved together (scikit-learn); "ordered": one after the
        other in the order given (the VOC and COCO evaluation codes).

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
    Everingham et al., 2010, The PASCAL VOC challenge, section 4.2 (eleven points; the development
    kit of 2010 for all points); Lin et al., 2014, Microsoft COCO, evaluation code.

    Examples
    --------
    >>> average_precision([[0.9, 0.2], [0.5, 0.1], [0.2, 0.3]], [[1, 0], [0, 0], [1, 0]]).round(4)
    array([0.8333,    nan])
    """
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    classes, items = np.repeat(np.arange(width), n), np.tile(np.arange(n), width)
    pairs = classes, table.T.ravel(), truth.T.ravel(), items
    positive_classes, positive_items = np.nonzero(truth.T)
    curves = class_curves(*pairs, positive_classes, positive_items, width, ties=ties)
    rows = item_weights(weights, n)[None, :]
    values: Floats = class_average_precision(curves, rows, interpolation=interpolation)[
        0
    ]
    return values


def mean_average_precision(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    interpolation: Interpolation = "none",
    weights: ArrayLike | None = None,
    ties: Ties = "grouped",
) -> float:
    """Compute the mean over classes of average precision (mAP), of those that have positives.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    interpolation : {"none", "voc2007", "voc2010", "coco101"}
        "none": scikit-learn's ``average_precision_score``; "voc2010": the same with raised
        precision; "voc2007" and "coco101": the mean of raised precision at 11 and 101 equal steps
        of recall.
    weights : array-like, shape (n,), optional
        Weight of each item (scikit-learn's ``sample_weight``).
    ties : {"grouped", "ordered"}
        "grouped": equal scores are retrieved together (scikit-learn); "ordered": one after the
        other in the order given (the VOC and COCO evaluation codes).

    Returns
    -------
    float, in [0, 1]
        nan where no class has positives.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or an option
        is unknown.

    Examples
    --------
    >>> mean_average_precision([[0.9, 0.2], [0.5, 0.1]], [[0, 0], [1, 0]])
    0.5
    """
    ap = average_precision(
        scores, targets, interpolation=interpolation, weights=weights, ties=ties
    )
    return mean_over_items(ap, "skip", None)


def _areas(
    curves: ClassCurves, weights: Floats, interpolation: Interpolation
) -> Floats:
    """Compute the areas under the curves; positives' weights are summed as recall is."""
    precision, recall, positives = _points(curves, weights, interpolation)
    filled = np.flatnonzero(ragged.lengths(curves.hit_ptr))
    # a point of recall belongs to the first hit that reaches it
    if interpolation in _POINTS:
        points = _POINTS[interpolation]
        # fractional weights add up to it with rounding errors
        recall = np.round(recall, 12)
        recall = np.searchsorted(points, recall, side="right") / len(points)
    starts = curves.hit_ptr[:-1][filled]
    steps = np.diff(recall, axis=1, prepend=0.0)
    steps[:, starts] = recall[:, starts]
    areas = np.zeros(positives.shape)
    if len(filled):
        areas[:, filled] = np.add.reduceat(precision * steps, starts, axis=1)
    areas[positives == 0] = np.nan
    return areas


def _points(
    curves: ClassCurves, weights: Floats, interpolation: Interpolation
) -> tuple[Floats, Floats, Floats]:
    """Compute precision and recall at each hit, and the weights of the positives of classes."""
    seen = np.take(weights, curves.item, axis=1)
    right = seen[:, curves.hits]
    _accumulate(np.add, seen, curves.indptr)
    _accumulate(np.add, right, curves.hit_ptr)
    positives = _positives(curves, weights, right)
    right = right[:, curves.last_hit]
    precision = divide(right, seen[:, curves.last], 0.0)
    recall = divide(right, positives[:, curves.class_of_hit], 0.0)
    if interpolation != "none":
        # the best at the same or a higher recall: the envelope
        _accumulate(
            np.maximum, precision[:, ::-1], curves.hit_ptr[-1] - curves.hit_ptr[::-1]
        )
    return precision, recall, positives


def _positives(curves: ClassCurves, weights: Floats, right: Floats) -> Floats:
    """Add the weights of the positives of each class; those of its hits are accumulated."""
    positives = np.zeros((len(weights), len(curves.indptr) - 1))
    if len(curves.missed_class):  # sorted by class
        begins = np.flatnonzero(np.diff(curves.missed_class, prepend=-1))
        sums = np.add.reduceat(weights[:, curves.missed_item], begins, axis=1)
        positives[:, curves.missed_class[begins]] = sums
    filled = np.flatnonzero(ragged.lengths(curves.hit_ptr))
    positives[:, filled] += right[:, curves.hit_ptr[1:][filled] - 1]
    return positives


def _accumulate(operation: np.ufunc, table: Floats, indptr: Ints) -> None:
    """Accumulate along each class in place; class by class, so that none rounds another."""
    for start, stop in pairwise(indptr.tolist()):
        part = table[:, start:stop]
        operation.accumulate(part, axis=1, out=part)


def _concatenate(sides: Sequence[Side]) -> Side:
    """Put sides one after the other; they have scores if all of them have."""
    widths = np.concatenate([np.diff(side.indptr) for side in sides])
    codes = np.concatenate([side.codes for side in sides])
    scores = [side.scores for side in sides if side.scores is not None]
    if len(scores) < len(sides):
        return Side(ragged.offsets(widths), codes)
    return Side(ragged.offsets(widths), codes, np.concatenate(scores))


@dataclass(frozen=True, eq=False, repr=False)
class PairColumn:
    """A column of (item, label) pairs with a score and a hit: what cannot be summed.

    Attributes
    ----------
    pred : Side
        Predicted labels of each item, with scores.
    hit : bool array, shape (predictions,)
    ref : Side
        Distinct reference labels of each item.
    unverified : Side or None
        Labels of each item that nobody verified.
    has_verified : bool
        Whether these are the verified labels instead.
    """

    pred: Side
    hit: Bools
    ref: Side
    unverified: Side | None = None
    has_verified: bool = False
    _taken: list[PairColumn] = field(default_factory=list, repr=False)
    _curves: dict[Any, ClassCurves] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.pred)

    @staticmethod
    def join(parts: Any) -> PairColumn:
        """Put parts one after the other."""
        pred = _concatenate([part.pred for part in parts])
        ref = _concatenate([part.ref for part in parts])
        cells = [part.unverified for part in parts if part.unverified is not None]
        hit = np.concatenate([part.hit for part in parts])
        unverified = _concatenate(cells) if cells else None
        return PairColumn(pred, hit, ref, unverified, parts[0].has_verified)

    def take(self, order: Ints) -> PairColumn:
        """Put the items in an order, which is always the same; done once."""
        if not self._taken:
            hit = self.hit[ragged.take_rows(self.pred.indptr, order)[1]]
            cells = None if self.unverified is None else self.unverified.take(order)
            sides = self.pred.take(order), hit, self.ref.take(order)
            self._taken.append(PairColumn(*sides, cells, self.has_verified))
        return self._taken[0]

    def curves(
        self, n_classes: int, ties: Any, pooled: Bools | None = None
    ) -> ClassCurves:
        """Sort pairs by class and falling score, once; pooled classes are one."""
        key = n_classes, ties, pooled if pooled is None else pooled.tobytes()
        if key not in self._curves:
            scores: Any = self.pred.scores
            items = [ragged.row_numbers(side.indptr) for side in (self.pred, self.ref)]
            codes, hit = [self.pred.codes, self.ref.codes], self.hit
            if pooled is not None:  # each pair is an item of the one class
                kept = [pooled[some] for some in codes]
                items = [
                    (i * n_classes + c)[k]
                    for i, c, k in zip(items, codes, kept, strict=True)
                ]
                codes, scores = [np.zeros_like(one) for one in items], scores[kept[0]]
                hit = hit[kept[0]]
            made = class_curves(
                codes[0],
                scores,
                hit,
                items[0],
                codes[1],
                items[1],
                n_classes if pooled is None else 1,
                ties=ties,
            )
            if pooled is not None:
                made = replace(
                    made,
                    item=made.item // n_classes,
                    missed_item=made.missed_item // n_classes,
                )
            self._curves[key] = self._with_unknown(made, pooled)
        return self._curves[key]

    def _with_unknown(self, curves: ClassCurves, pooled: Bools | None) -> ClassCurves:
        """Return curves that leave out the cells that nobody verified."""
        if self.unverified is None:
            return curves
        items = ragged.row_numbers(self.unverified.indptr)
        codes = self.unverified.codes.astype(np.int64)
        if pooled is not None:
            items, codes = (
                items[pooled[codes]],
                np.zeros(int(pooled[codes].sum()), np.int64),
            )
        order = np.argsort(codes, kind="stable")
        cells = {"unknown_class": codes[order], "unknown_item": items[order]}
        return replace(curves, **cells, has_verified=self.has_verified)

    def recoded(self, codes: NDArray[np.int32], width: int) -> PairColumn:
        """Rename label c to codes[c]."""
        pred, ref = (
            replace(side, codes=codes[side.codes]) for side in (self.pred, self.ref)
        )
        cells = self.unverified
        cells = None if cells is None else replace(cells, codes=codes[cells.codes])
        return PairColumn(pred, self.hit, ref, cells, self.has_verified)


@dataclass(frozen=True, repr=False)
class ScoredPairs(Statistic):
    """Predicted labels with scores and hits, and reference labels, of each item.

    Attributes
    ----------
    difficult : bool
        Whether difficult labels are among the predicted ones; otherwise they are left out.
    """

    additive = False
    difficult: bool = True

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Make the column "pairs"."""
        side, hit, matched = scored_labels(block, "mAP")
        _, ref = sides_of(block)
        if not self.difficult and block.task.difficult is not None:
            width = len(block.task.classes)
            hard = block.task.difficult.rows(block.start, block.stop)
            mine, theirs = (
                ragged.cell_keys(s.indptr, s.codes, width) for s in (side, hard)
            )
            easy = ~ragged.is_member(mine, theirs, width * len(block))
            side, hit = side.keep(easy), hit[easy]
        if matched.once is not None:
            ref = ref.keep(matched.once)
        unverified = block.task.unverified
        if unverified is None:
            return {"pairs": PairColumn(side, hit, ref)}
        cells = unverified.cells.rows(block.start, block.stop)
        has_verified = unverified.categories is not None
        return {"pairs": PairColumn(side, hit, ref, cells, has_verified)}


class ClassCurveFamily(definition.Family):
    """Means over classes of a value of their curves, from weighted rows.

    Parameters
    ----------
    values : callable (measure, curves, weights, labels) -> values by class
        ``labels`` of an item are pooled in a class.
    """

    def __init__(
        self, values: Callable[[Measure, ClassCurves, Floats, int], Floats]
    ) -> None:
        self._of_curves = values

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the scored pairs themselves."""
        return ScoredPairs(difficult=measure["interpolation"] is None)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over classes, under the policy for classes without positives."""
        values, support = self._values(measure, sums, frame)
        policy, bad = str(measure["no_reference"]), np.isnan(values)
        left_out = measure["labels"] == "reference" or policy == "skip"
        kept = ~bad if left_out else np.ones(values.shape, np.bool_)
        values = np.where(bad, {"nan": np.nan, "1": 1.0}.get(policy, 0.0), values)
        return families.label_mean(measure, values, support, kept)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the classes without positives."""
        values, _ = self._values(measure, sums, frame)
        return {"no_reference": int(np.isnan(values[0]).sum())}

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> definition.LabelTable | None:
        """Return the value and positives of each class in the universe."""
        if measure["average"] == "micro":
            return None
        values, support = self._values(measure, sums, frame)
        names = np.array(frame.labels, dtype=object)[frame.universe(measure)]
        return {"label": names, "value": values[0], "support": support[0]}

    def precision_recall(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> Iterator[tuple[str | None, Floats, Floats]]:
        """Yield each class in the universe (None for all as one), recall and precision at hits."""
        _, weights, curves = self._curves(measure, sums, frame)
        rule: Any = measure["interpolation"] or "none"
        (precision,), (recall,), (positives,) = _points(
            curves, weights.astype(np.float64), rule
        )
        micro = measure["average"] == "micro"
        for place in [0] if micro else np.flatnonzero(frame.universe(measure)).tolist():
            hits = slice(*curves.hit_ptr[place : place + 2].tolist())
            # nothing is found
            none = [0.0] * bool(positives[place] and hits.start == hits.stop)
            name = None if micro else frame.labels[place]
            yield name, np.append(none, recall[hits]), np.append(none, precision[hits])

    def _curves(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Any, Any, ClassCurves]:
        """Return pairs and weights in the order that the measure reads, and the curves."""
        pairs, weights = sums["rows"]["pairs"], sums["weights"]
        # only then does the order of the items not matter
        if measure["ties"] != "ordered":
            pairs, weights = pairs.take(sums["order"]), weights[:, sums["order"]]
        pooled = frame.universe(measure) if measure["average"] == "micro" else None
        return (
            pairs,
            weights,
            pairs.curves(len(frame.labels), measure["ties"] or "grouped", pooled),
        )

    def _values(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Floats, Floats]:
        pairs, weights, curves = self._curves(measure, sums, frame)
        inside, micro = frame.universe(measure), measure["average"] == "micro"
        values = self._of_curves(
            measure, curves, weights, int(inside.sum()) if micro else 1
        )
        if micro:
            return values, values
        of_item = ragged.row_numbers(pairs.ref.indptr)
        support: Floats = np.stack(
            [
                np.bincount(pairs.ref.codes, w[of_item], minlength=len(inside))
                for w in weights
            ]
        )
        # in one layout, so that classes are added in one order for any number of resamples
        return np.ascontiguousarray(values[:, inside]), np.ascontiguousarray(
            support[:, inside]
        )


def _precision_of(
    measure: Measure, curves: ClassCurves, weights: Floats, labels: int
) -> Floats:
    rule: Any = measure["interpolation"]
    return class_average_precision(curves, weights, interpolation=rule)


_AVERAGE = definition.one_of(
    "average",
    "macro weighted micro",
    "classes alike or by support, or all as one",
    short="avg",
)
_TRAITS: Any = {
    "averages": ("macro", "weighted", "micro"),
    "cutoff": False,
    "needs": SCORES,
}
_INTERPOLATIONS = "none as scikit-learn; 11 points; all points; 101 points"
_TIES = "equal scores together as scikit-learn, or in file order as VOC and COCO"
mAP = define(
    name="mAP",
    family=ClassCurveFamily(_precision_of),
    summary="Mean over classes of the average precision of the items ranked by that class.",
    equation="AP = Σ (R_n - R_{n-1}) P_n; interpolated variants by name",
    source="Everingham et al. 2010, section 4.2 (voc2007, voc2010); Lin et al. 2014 (coco101)",
    cite=("everingham2010", "lin2014"),
    options=(
        _AVERAGE,
        definition.universe_option(),
        Option(
            "interpolation",
            "interp",
            "none",
            get_args(Interpolation),
            help=_INTERPOLATIONS,
        ),
        Option("ties", "ties", "grouped", get_args(Ties), help=_TIES),
        families.policy_option("no_reference", "noref", "skip", "unseen classes"),
    ),
    **_TRAITS,
)
define(
    name="ROC-AUC",
    family=ClassCurveFamily(lambda _, *given: class_roc_auc(*given)),
    summary="Mean over classes of the probability that a positive is ranked before another item.",
    equation="P(s(positive) > s(other)) + P(s(positive) = s(other)) / 2",
    source="Fawcett 2006, section 7",
    cite=("fawcett2006",),
    options=(
        _AVERAGE,
        definition.universe_option(),
        families.policy_option(
            "no_reference", "noref", "skip", "classes of all items, or of none"
        ),
    ),
    **_TRAITS,
)
