"""Ranking measures along an item's labels: coverage, ranking loss, label ranking precision.

Conventions
-----------
Measures look along an item's row. Equal scores tie, with the worst rank of the tie for every label
in it, as in scikit-learn. Rows are ragged and sorted by falling score, and may hold only some
labels of the dictionary: the labels without a score stand below all scored ones and tie with each
other. A value that is not defined is nan; the caller's policy decides what becomes of it.

A value has two steps: a part that the scored labels give, and what the size of the dictionary
makes of it, which is known when all labels are.

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

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.tasks import Block, LabelTask
from semmetrics.metrics import families
from semmetrics.metrics.decoding import Weights, item_weights, score_matrix, target_matrix
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Family,
    Frame,
    ItemSums,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import CAUSES
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.matching import Matched, Matches, Ranked, no_scores
from semmetrics.metrics.registry import define

Empty: TypeAlias = float | Literal["skip"]


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


def _scored_part(name: str, indptr: Ints, scores: Floats, hit: Bools, n_ref: Ints) -> NDArray[Any]:
    """Return what the scored labels of each item give; ``_complete`` makes a value of it.

    For LRAP the precisions at the ranks of scored references, over all references; for RankingLoss
    the (reference, other) pairs in the wrong order whose other label is scored; for CoverageError
    the worst rank of a scored reference.
    """
    firsts, ends = tie_spans(indptr, scores)
    hits, found = ragged.running_sums(hit), np.flatnonzero(hit)
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
    name: str, part: NDArray[Any], n_ref: Ints, scored: Ints, missed: Ints, n_labels: int
) -> Floats:
    """Return values from the parts of scored labels; ``missed`` references have no score."""
    if name == "LRAP":
        value = part + missed / max(n_labels, 1)
    elif name == "CoverageError":
        value = np.where(missed > 0, float(n_labels), part)
    else:
        wrong = part + missed * (n_labels - scored - missed)
        value = divide(wrong, n_ref * (n_labels - n_ref))
    return np.where(n_ref > 0, value, np.nan)


def coverage_error(
    scores: ArrayLike, targets: ArrayLike, *, empty: Empty = "skip", weights: Weights = None
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
    scores: ArrayLike, targets: ArrayLike, *, empty: Empty = "skip", weights: Weights = None
) -> float:
    """Average the share of (reference, other) label pairs in the wrong order; a tie is wrong.

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
    return _mean_value("RankingLoss", scores, targets, empty, weights)


def label_ranking_average_precision(
    scores: ArrayLike, targets: ArrayLike, *, empty: Empty = "skip", weights: Weights = None
) -> float:
    """Average over items the mean precision at the rank of each reference label.

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
    fresh = np.ones(len(scores), np.bool_)
    fresh[1:] = (scores[1:] != scores[:-1]) | np.diff(ragged.row_numbers(indptr)).astype(np.bool_)
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
    ranked, matched = block.get(Ranked()), block.get(Matches("once", "class"))
    if not len(ranked.codes):  # nothing is predicted, so no score is lacking
        ranked = replace(ranked, scores=np.zeros(0))
    if ranked.scores is None:
        raise no_scores(name, block.task, "another measure")
    if matched.counted is None:
        return ranked, matched.hit, matched
    return ranked.keep(matched.counted), matched.hit[matched.counted], matched


@dataclass(frozen=True)
class ItemRanking(ItemSums):
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
        known = {
            "part": _scored_part(self.name, side.indptr, side.scores, hit, n_ref),
            "n_ref": n_ref,
            "scored": ragged.lengths(side.indptr),
            "missed": n_ref - ragged.sum_rows(hit, side.indptr),
        }
        return {name: Dense(values) for name, values in known.items()}


class ItemRankingFamily(Family):
    """Means over items of values that are known only when all items are: rows are weighted."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the numbers of each item."""
        return ItemRanking(measure.definition.name)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average under the policies; items are added in an order of their own."""
        values, cause = self._values(measure, sums["rows"], frame)
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
        cause = self._values(measure, sums["rows"], frame)[1]
        return families.undefined_items({"cause": np.bincount(cause, minlength=len(CAUSES))})

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each item."""
        return self._values(measure, rows, frame)[0]

    def averaged(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value that each item has in the mean, nan where left out."""
        return families.averaged_values(measure, *self._values(measure, rows, frame))

    def _values(self, measure: Measure, rows: Any, frame: Frame) -> tuple[Floats, NDArray[np.int8]]:
        """Return the value of each item, nan where undefined, and the cause."""
        part, n_ref, scored, missed = (
            rows[name].values for name in ("part", "n_ref", "scored", "missed")
        )
        name, size = measure.definition.name, frame.dictionary
        value = _complete(name, part, n_ref, scored, missed, size)
        cause = np.where(np.isnan(value), np.where(n_ref == 0, 3, 4), 0).astype(np.int8)
        return value, cause


SCORES = frozenset(["scores"])
_OPTIONS = (
    families.policy_option("no_reference", "noref", "skip", "items without true labels"),
    families.policy_option("undefined", "undef", "skip", "items for which every label is true"),
)


def _ranking(name: str, **traits: Any) -> Definition:
    """Register a ranking measure of items."""
    policies = ("no_reference", "undefined") if name == "RankingLoss" else ("no_reference",)
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
