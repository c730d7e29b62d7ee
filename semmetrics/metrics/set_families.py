"""How measures of label sets count labels and average values.

Conventions
-----------
``average=example`` is the mean over items of a formula on the counts of each item.
``macro`` is the mean over labels of the formula on the counts of each label, and
``weighted`` is this mean weighted by the number of references. ``micro`` is the formula on
the counts of all labels together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense, Sparse, as_floats
from semmetrics.core.ragged import Bools, Floats, prefixes, row_numbers
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import (
    Columns,
    Frame,
    LabelTable,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import (
    LABEL_AVERAGES,
    CountFormulas,
    apply_policies,
    label_mean,
)
from semmetrics.metrics.matching import (
    CountColumns,
    Cut,
    DistinctCounts,
    Matches,
    cut_of,
    sides_of,
)


@dataclass(frozen=True, repr=False)
class LabelCounts(Statistic):
    """Hits, predictions and references of labels, each label counted once per item.

    The columns are "hit", "n_pred" and "n_ref" of shape (items, labels), and "items",
    which is 1 for each item. If cells are unverified, there is also a column "unverified"
    or "verified" of shape (items, labels).
    """

    cut: Cut
    labels = frozenset(("hit", "n_pred", "n_ref", "unverified", "verified"))

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Return the columns."""
        task = block.task
        ranked, ref = sides_of(block)
        matched = block.get(Matches("once", "class"))
        n_kept = block.get(self.cut)
        is_counted = matched.is_counted_pred
        if (n_kept < ranked.sizes).any():
            is_kept = prefixes(ranked.indptr, n_kept)
            if is_counted is not None:
                is_kept &= is_counted
            is_counted = is_kept
        hit = matched.hit
        predicted = ranked
        if is_counted is not None:
            hit = hit & is_counted
            predicted = ranked.keep(is_counted)
        if matched.is_first_ref is not None:
            ref = ref.keep(matched.is_first_ref)
        sides: dict[str, Side] = {
            "hit": ranked.keep(hit),
            "n_pred": predicted,
            "n_ref": ref,
        }
        if task.unverified is not None:
            cells = task.unverified.cells
            sides[task.unverified.name] = cells.rows(block.start, block.stop)
        n_labels = len(task.classes)
        columns: dict[str, Any] = {}
        for name, side in sides.items():
            columns[name] = Sparse(side.indptr, side.codes, n_labels)
        columns["items"] = Dense(np.ones(len(block), np.int8))
        return columns


@dataclass(frozen=True, repr=False)
class PaddedCounts(Statistic):
    """Counts of items as if each had k predictions: short lists are padded."""

    counts: Statistic
    k: int

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Replace the number of predictions by k."""
        columns = dict(block.get(self.counts))
        n_rows = len(columns["n_pred"])
        columns["n_pred"] = Dense(np.full(n_rows, self.k))
        return columns


class SetFamily(CountFormulas):
    """Formulas on counts of label sets. ``macro`` and ``weighted`` average over labels."""

    def counts(self, measure: Measure) -> Statistic:
        """Return counts of items for ``example``, and of labels for other averages."""
        cut = cut_of(measure)
        if measure["average"] != "example":
            _check_cutoff(measure)  # before any item is read
            return LabelCounts(cut)
        matches = Matches(str(measure["duplicates"]))
        if "precision_sum" in measure.definition.arguments:
            return CountColumns(cut, matches, with_precision_sum=True)
        counts = DistinctCounts(cut, matches)
        if measure["denominator"] == "cutoff":
            return PaddedCounts(counts, _check_cutoff(measure))
        return counts

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over items or labels, or evaluate the formula on the counts of all."""
        if measure["average"] not in LABEL_AVERAGES:
            return super().aggregate(measure, sums, frame)
        n_ref = self.pooled_counts(measure, sums, frame)["n_ref"]
        values, cause = self.evaluate_pooled(measure, sums, frame)
        values, is_counted = apply_policies(measure, values, cause)
        if measure["labels"] == "reference":
            # A reference label has no references only in a resample that has no item
            # with it.
            is_counted = is_counted & (n_ref > 0)
        return label_mean(measure, values, n_ref, is_counted)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item. None for averages over labels."""
        if measure["average"] in LABEL_AVERAGES:
            return None
        return super().items(measure, rows, frame)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> LabelTable | None:
        """Return the value and counts of each label in the universe, nan if undefined."""
        if measure["average"] not in LABEL_AVERAGES:
            return None
        counts = self.pooled_counts(measure, sums, frame)
        values, _ = self.evaluate_pooled(measure, sums, frame)
        return {
            "label": np.array(frame.labels, dtype=object)[frame.universe(measure)],
            "value": values,
            "support": counts["n_ref"],
            "predicted": counts["n_pred"],
            "hit": counts["hit"],
        }

    def pooled_counts(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of each label in the universe, or of all labels (micro).

        The label axis is the last. For micro, its length is 1.
        """
        in_universe = frame.universe(measure)
        counts = {
            "hit": _select_labels(sums, "hit", in_universe),
            "n_pred": _select_labels(sums, "n_pred", in_universe),
            "n_ref": _select_labels(sums, "n_ref", in_universe),
        }
        n_items = as_floats(sums["items"])[..., None]
        total: Floats = np.broadcast_to(n_items, counts["hit"].shape)
        if "verified" in sums:
            total = _select_labels(sums, "verified", in_universe)
        elif "unverified" in sums:
            total = total - _select_labels(sums, "unverified", in_universe)
        counts["total"] = total
        if measure["average"] != "micro":
            return counts
        for name in list(counts):
            counts[name] = counts[name].sum(axis=-1, keepdims=True)
        if measure["denominator"] == "cutoff":
            counts["n_pred"] = n_items * _check_cutoff(measure)
        return counts

    def item_counts(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of each item within the universe."""
        in_universe = frame.universe(measure)
        counts: dict[str, Floats] = {}
        for name in ("hit", "n_pred", "n_ref", "verified", "unverified"):
            if name in rows:
                counts[name] = _count_in_universe(rows[name], in_universe)
        n_items = len(rows["hit"])
        total = np.full(n_items, float(in_universe.sum()))
        if "verified" in counts:
            total = counts["verified"]
        elif "unverified" in counts:
            total = total - counts["unverified"]
        counts["total"] = total
        if measure["denominator"] == "cutoff":
            counts["n_pred"] = np.full(n_items, float(_check_cutoff(measure)))
        return counts


def _select_labels(sums: Sums, name: str, in_universe: Bools) -> Floats:
    """Return the sums of the labels in the universe.

    They are contiguous, so that labels are always added in the same order, whatever axes
    there are before the label axis.
    """
    return np.ascontiguousarray(as_floats(sums[name])[..., in_universe])


def _count_in_universe(column: Sparse, in_universe: Bools) -> Floats:
    """Count the labels of each item that are in the universe."""
    is_counted = in_universe[column.codes]
    items = row_numbers(column.indptr)
    return np.bincount(items, is_counted, len(column)).astype(np.float64)


def _check_cutoff(measure: Measure) -> int:
    """Return the cutoff of a measure, or 0 without a cutoff.

    Raises
    ------
    InputError
        If the measure divides by a cutoff that it does not have.
    """
    if measure.k is None:
        if measure["denominator"] == "cutoff":
            raise InputError("no-cutoff", measure=measure, wanted=f"{measure}@5")
        return 0
    return measure.k
