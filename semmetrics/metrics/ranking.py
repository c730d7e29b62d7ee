"""Registered measures of scored labels: rankings within items, and curves of classes.

Conventions
-----------
``LRAP``, ``RankingLoss`` and ``CoverageError`` rank the labels of each item. The module
`item_ranking` has the formulas. ``mAP`` and ``ROC-AUC`` rank the items by the scores of
each class, see `class_precision` and `class_roc`. ``average=micro`` pools all classes into one.

``mAP`` leaves out predictions that the ground truth marks as difficult. ``ROC-AUC`` counts
them as negatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.metrics import definition, families
from semmetrics.metrics.class_curves import ClassCurves, TieRule
from semmetrics.metrics.class_precision import (
    Interpolation,
    class_average_precision,
    compute_curve_points,
)
from semmetrics.metrics.class_roc import class_roc_auc
from semmetrics.metrics.definition import Columns, Frame, Measure, Statistic, Sums
from semmetrics.metrics.families import CAUSES, Causes, ItemMeans
from semmetrics.metrics.item_ranking import complete_values, scored_part
from semmetrics.metrics.measure_options import (
    MeasureOption,
    choice_option,
    universe_option,
)
from semmetrics.metrics.registry import define
from semmetrics.metrics.scored_pairs import PairColumn, ScoredPairs, scored_labels

_NEEDS_SCORES = frozenset(["scores"])
_NO_REFERENCE = CAUSES.index("no_reference")
_UNDEFINED = CAUSES.index("undefined")


# ---- items ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ItemRanking(Statistic):
    """Numbers of each item from which a ranking measure is computed.

    The labels that an item does not score tie below the others. Their number is available
    only after all parts have been merged, so values are not a function of sums.
    """

    additive = False
    name: str

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Return the columns "part", "n_ref", "scored" and "missed".

        With unverified cells there is also a column "unverified" or "verified": the
        number of such labels of each item.
        """
        task = block.task
        labels = scored_labels(block, self.name)
        if task.n_listed is not None:
            # Labels outside the class list do not count.
            labels = labels.keep(labels.side.codes < task.n_listed)
        indptr = labels.side.indptr
        n_ref = labels.matched.n_ref
        part = scored_part(self.name, indptr, labels.scores, labels.hit, n_ref)
        n_missed = n_ref - ragged.sum_rows(labels.hit, indptr)
        columns = {
            "part": Dense(part),
            "n_ref": Dense(n_ref),
            "scored": Dense(labels.side.sizes),
            "missed": Dense(n_missed),
        }
        if task.unverified is not None:
            cells = task.unverified.cells.rows(block.start, block.stop)
            if task.n_listed is not None:
                cells = cells.keep(cells.codes < task.n_listed)
            columns[task.unverified.name] = Dense(cells.sizes)
        return columns


class ItemRankingFamily(ItemMeans):
    """Means over items of values that depend on the number of labels. Rows are weighted."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the numbers of each item."""
        return ItemRanking(measure.definition.name)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the items under the policies.

        Items are added in the order of ``sums["order"]``, which does not depend on the
        order of the input.
        """
        order = sums["order"]
        values, cause = self.values(measure, sums["rows"], frame)
        values = np.where(cause == 0, values, 0.0)[order]
        cause = cause[order]
        items_by_cause = [np.flatnonzero(cause == code) for code in range(len(CAUSES))]
        n_rows = len(sums["weights"])
        total = np.empty(n_rows)
        counts = np.zeros((n_rows, len(CAUSES)))
        for row, weights in enumerate(sums["weights"]):
            ordered_weights = weights[order]
            total[row] = (values * ordered_weights).sum()
            for code, items in enumerate(items_by_cause):
                counts[row, code] = ordered_weights[items].sum()
        return families.mean_of_defined(measure, {"value": total, "cause": counts})

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value, by cause."""
        _, cause = self.values(measure, sums["rows"], frame)
        counts = np.bincount(cause, minlength=len(CAUSES))
        return families.count_undefined_items({"cause": counts})

    def values(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> tuple[Floats, Causes]:
        """Return the value of each item, nan if undefined, and the cause."""
        n_ref = rows["n_ref"].values
        n_labels = frame.dictionary_size
        if "verified" in rows:
            n_labels = rows["verified"].values
        elif "unverified" in rows:
            n_labels = n_labels - rows["unverified"].values
        values = complete_values(
            measure.definition.name,
            rows["part"].values,
            n_ref,
            rows["scored"].values,
            rows["missed"].values,
            n_labels,
        )
        cause = np.zeros(len(values), np.int8)
        is_undefined = np.isnan(values)
        cause[is_undefined] = _UNDEFINED
        cause[is_undefined & (n_ref == 0)] = _NO_REFERENCE
        return values, cause


_ITEM_POLICIES = (
    families.policy_option(
        "no_reference", "noref", "skip", "items without true labels"
    ),
    families.policy_option(
        "undefined", "undef", "skip", "items for which every label is true"
    ),
)


def _define_item_ranking(
    name: str, *, policies: tuple[str, ...] = ("no_reference",), **traits: Any
) -> definition.Definition:
    """Register a ranking measure of items that can meet the causes of these policies."""
    return define(
        name,
        ItemRankingFamily(),
        needs_dictionary_size=True,
        options=families.restrict_policies(_ITEM_POLICIES, policies),
        needs=_NEEDS_SCORES,
        cutoff=False,
        **traits,
    )


LRAP = _define_item_ranking(
    "LRAP",
    summary="Mean, over the true labels of an item, of the share of true labels among "
    "the labels ranked at least as high.",
    equation="(1/|Y|) Σ over y in Y of |{y' in Y: s(y') >= s(y)}| / |{l: s(l) >= s(y)}|",
    source="Tsoumakas et al. 2010, section 7.3.3; ties as in scikit-learn, which counts an "
    "item without true labels as 1 (no_reference=1)",
    cite=("tsoumakas2010",),
)
RankingLoss = _define_item_ranking(
    "RankingLoss",
    summary="Share of the pairs of a true label and another label that are in the "
    "wrong order. Ties count as wrong.",
    equation="|{(y, z): s(y) <= s(z)}| / (|Y| |not Y|)",
    source="Schapire & Singer 2000; Tsoumakas et al. 2010, section 7.3.3",
    cite=("schapire2000", "tsoumakas2010"),
    policies=("no_reference", "undefined"),
    higher_is_better=False,
)
CoverageError = _define_item_ranking(
    "CoverageError",
    summary="Number of highest-ranked labels that are needed to cover all true labels.",
    equation="max over y in Y of |{l: s(l) >= s(y)}|",
    source="Tsoumakas et al. 2010, section 7.3.3, plus one",
    cite=("tsoumakas2010",),
    bounds=(0.0, np.inf),
    higher_is_better=False,
)


# ---- classes --------------------------------------------------------------------------


class _WeightedCurves(NamedTuple):
    """The curves of classes, and the weights to evaluate them under.

    Attributes
    ----------
    pairs : PairColumn
    weights : array, shape (rows, items)
        In the order of the items of the pairs.
    curves : ClassCurves
    """

    pairs: PairColumn
    weights: Floats
    curves: ClassCurves


class ClassCurveFamily(definition.Family):
    """Means over classes of a value of their curves.

    Parameters
    ----------
    values : callable (measure, curves, weights, n_pooled) -> array, shape (rows, classes)
        ``n_pooled`` is the number of labels of an item that are pooled in a class.
    counts_difficult : bool
        Whether predictions that the ground truth marks as difficult count.
    """

    def __init__(
        self,
        values: Callable[[Measure, ClassCurves, Floats, int], Floats],
        *,
        counts_difficult: bool,
    ) -> None:
        self._values_of_curves = values
        self._counts_difficult = counts_difficult

    def statistic(self, measure: Measure) -> Statistic:
        """Return the scored pairs."""
        return ScoredPairs()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over classes under the policy for classes without positives."""
        values, support = self._compute_values(measure, sums, frame)
        is_undefined = np.isnan(values)
        policy = str(measure["no_reference"])
        is_counted = np.ones(values.shape, np.bool_)
        if measure["labels"] == "reference" or policy == "skip":
            is_counted = ~is_undefined
        replacement = {"nan": np.nan, "1": 1.0}.get(policy, 0.0)
        values = np.where(is_undefined, replacement, values)
        return families.label_mean(measure, values, support, is_counted)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the classes without positives."""
        values, _ = self._compute_values(measure, sums, frame)
        n_undefined = int(np.isnan(values[0]).sum())
        return {"no_reference": n_undefined}

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> definition.LabelTable | None:
        """Return the value and the number of positives of each class in the universe."""
        if measure["average"] == "micro":
            return None
        values, support = self._compute_values(measure, sums, frame)
        names = np.array(frame.labels, dtype=object)[frame.universe(measure)]
        return {"label": names, "value": values[0], "support": support[0]}

    def precision_recall(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> Iterator[tuple[str | None, Floats, Floats]]:
        """Yield the precision-recall curve of each class in the universe.

        Yields
        ------
        label : str, or None for all classes pooled
        recall, precision : arrays, shape (points,)
            At each hit.
        """
        _, weights, curves = self._weighted_curves(measure, sums, frame)
        interpolation = cast("Interpolation", measure["interpolation"] or "none")
        points = compute_curve_points(curves, weights.astype(np.float64), interpolation)
        (recall,) = points.recall
        (precision,) = points.precision
        (positives,) = points.positives
        is_micro = measure["average"] == "micro"
        codes = [0]
        if not is_micro:
            codes = np.flatnonzero(frame.universe(measure)).tolist()
        for code in codes:
            hits = slice(curves.hit_indptr[code], curves.hit_indptr[code + 1])
            recall_at_hits = recall[hits]
            precision_at_hits = precision[hits]
            if positives[code] and not len(recall_at_hits):
                # Positives without any hit have the single point (0, 0).
                recall_at_hits = np.zeros(1)
                precision_at_hits = np.zeros(1)
            label = None
            if not is_micro:
                label = frame.labels[code]
            yield label, recall_at_hits, precision_at_hits

    def _compute_values(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Floats, Floats]:
        """Return values and positives of the classes in the universe, or of all pooled.

        Returns
        -------
        values, support : arrays, shape (rows, classes)
        """
        pairs, weights, curves = self._weighted_curves(measure, sums, frame)
        in_universe = frame.universe(measure)
        if measure["average"] == "micro":
            n_pooled = int(in_universe.sum())
            values = self._values_of_curves(measure, curves, weights, n_pooled)
            return values, values  # a single value needs no support
        values = self._values_of_curves(measure, curves, weights, 1)
        support = _sum_references(pairs.ref, weights, n_classes=len(in_universe))
        # In one memory layout, classes are added in one order for any number of rows.
        values_in_universe = np.ascontiguousarray(values[:, in_universe])
        return values_in_universe, np.ascontiguousarray(support[:, in_universe])

    def _weighted_curves(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> _WeightedCurves:
        """Return the curves of a measure, sorted at most once for all measures."""
        pairs = sums["rows"]["pairs"]
        weights = sums["weights"]
        if measure["ties"] != "ordered":
            # Use an order that does not depend on the order of the input.
            pairs = pairs.take(sums["order"])
            weights = weights[:, sums["order"]]
        pooled = None
        if measure["average"] == "micro":
            pooled = frame.universe(measure)
        curves = pairs.curves(
            len(frame.labels),
            measure["ties"] or "grouped",
            pooled=pooled,
            with_difficult=self._counts_difficult,
        )
        return _WeightedCurves(pairs, weights, curves)


def _sum_references(ref: Side, weights: Floats, n_classes: int) -> Floats:
    """Sum the weights of the references of each class, shape (rows, classes)."""
    items = ragged.row_numbers(ref.indptr)
    sums = []
    for row in weights:
        sums.append(np.bincount(ref.codes, row[items], minlength=n_classes))
    return np.stack(sums)


def _average_precision(
    measure: Measure, curves: ClassCurves, weights: Floats, n_pooled: int
) -> Floats:
    """Return the average precision of each class."""
    interpolation = cast("Interpolation", measure["interpolation"])
    return class_average_precision(curves, weights, interpolation=interpolation)


def _roc_auc(
    measure: Measure, curves: ClassCurves, weights: Floats, n_pooled: int
) -> Floats:
    """Return the area under the ROC curve of each class."""
    return class_roc_auc(curves, weights, n_pooled)


_AVERAGE = choice_option(
    "average",
    "macro weighted micro",
    "average the classes equally, average them by support, or pool them",
    short="avg",
)
_AVERAGES = ("macro", "weighted", "micro")
mAP = define(
    name="mAP",
    family=ClassCurveFamily(_average_precision, counts_difficult=False),
    summary="Mean average precision: the mean over classes of the average precision of "
    "the items ranked by their score for the class.",
    equation="AP = Σ (R_n - R_{n-1}) P_n; interpolated variants by name",
    source="Everingham et al. 2010, section 4.2 (voc2007, voc2010); Lin et al. 2014 (coco101)",
    cite=("everingham2010", "lin2014"),
    options=(
        _AVERAGE,
        universe_option(),
        MeasureOption(
            "interpolation",
            "interp",
            "none",
            get_args(Interpolation),
            help="none, as in scikit-learn; at 11 points; at all points; at 101 points",
        ),
        MeasureOption(
            "ties",
            "ties",
            "grouped",
            get_args(TieRule),
            help="equal scores as one step, as in scikit-learn, or in the order of the "
            "file, as VOC and COCO do",
        ),
        families.policy_option("no_reference", "noref", "skip", "unseen classes"),
    ),
    averages=_AVERAGES,
    cutoff=False,
    needs=_NEEDS_SCORES,
)
define(
    name="ROC-AUC",
    family=ClassCurveFamily(_roc_auc, counts_difficult=True),
    summary="Mean over classes of the probability that a positive item has a higher "
    "score than a negative item.",
    equation="P(s(positive) > s(other)) + P(s(positive) = s(other)) / 2",
    source="Fawcett 2006, section 7",
    cite=("fawcett2006",),
    options=(
        _AVERAGE,
        universe_option(),
        families.policy_option(
            "no_reference",
            "noref",
            "skip",
            "classes that all items have, or that no item has",
        ),
    ),
    averages=_AVERAGES,
    cutoff=False,
    needs=_NEEDS_SCORES,
)
