"""The steps of measures on a taxonomy: where labels stand, which take part, what is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense, OneHot
from semmetrics.core.ragged import Bools, Floats, Ints, prefixes, row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.data.taxonomy import Placed
from semmetrics.errors import InputError, listing
from semmetrics.metrics.ancestors import FAR, closed_counts, lca_distances
from semmetrics.metrics.definition import Definition
from semmetrics.metrics.families import evaluate_formula
from semmetrics.metrics.matching import Cut, Matches, Ranked, Reference
from semmetrics.metrics.policies import divide, value_columns

__all__ = ["COUNTS", "ClosedCounts", "ClosedValues", "LabelDistances", "Places", "TakingPart"]

LabelBlock = Block[LabelTask]
COUNTS = ("hit", "n_pred", "n_ref")


@dataclass(frozen=True)
class Places:
    """Where the labels of the task stand in its taxonomy; the same for all blocks."""

    root: str = "include"

    def compute(self, block: LabelBlock) -> Placed:
        """Place them at their first use."""
        task = block.task
        if task.taxonomy is None:
            raise InputError(
                "there is no taxonomy of the labels", remedy="give taxonomy= (--taxonomy FILE)"
            )
        key = ("taxonomy", self.root)
        if key not in task.shared:
            if self.root == "exclude":
                task.shared[key] = block.get(Places()).without_root
            else:
                terms = task.terms or [()] * len(task.classes)
                names = [(name, *more) for name, more in zip(task.classes, terms, strict=True)]
                task.shared[key] = task.taxonomy.place(names)
        placed: Placed = task.shared[key]
        return placed


@dataclass(frozen=True, eq=False)
class Sides:
    """The labels that take part, and which items have one outside the taxonomy."""

    pred: Side
    ref: Side
    outside: Bools


@dataclass(frozen=True)
class TakingPart:
    """The labels that take part: predictions under a cut, and references.

    Attributes
    ----------
    cut : Cut
    unknown : {"error", "own"}
        What a label outside the taxonomy is.
    count : {"set", "list"}
        Whether repeated predictions are left out.
    """

    cut: Cut
    unknown: str
    count: str = "list"

    def compute(self, block: LabelBlock) -> Sides:
        """Cut, and refuse labels outside the taxonomy where that is asked for."""
        pred, ref = block.get(Ranked()), block.get(Reference())
        chosen = prefixes(pred.indptr, block.get(self.cut))
        if self.count == "set":
            counted = block.get(Matches("set", "class")).counted
            chosen &= True if counted is None else counted
        if not chosen.all():
            pred = pred.keep(chosen)
        outside = block.get(Places()).outside
        strange = [outside[side.codes] for side in (pred, ref)]
        if self.unknown == "error" and any(one.any() for one in strange):
            codes = np.union1d(pred.codes[strange[0]], ref.codes[strange[1]])
            names = [block.task.classes[code] for code in codes.tolist()]
            raise InputError(
                f"labels are not in the taxonomy: {listing(names)}",
                remedy="add them to it, or take each as a root of its own with unknown=own",
            )
        having = sum_rows(strange[0], pred.indptr) + sum_rows(strange[1], ref.indptr) > 0
        return Sides(pred, ref, having)


@dataclass(frozen=True)
class ClosedCounts:
    """Ancestors of each item: columns "hit", "n_pred", "n_ref" and "outside"."""

    cut: Cut
    root: str
    unknown: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Close both sides under ancestors and count."""
        part = block.get(TakingPart(self.cut, self.unknown))
        counts = closed_counts(part.pred, part.ref, block.get(Places(self.root)))
        return {
            "hit": Dense(counts.hit),
            "n_pred": Dense(counts.n_pred),
            "n_ref": Dense(counts.n_ref),
            "outside": OneHot(part.outside.astype(np.int8), 2),
        }


@dataclass(frozen=True)
class ClosedValues:
    """A formula on the ancestors of each item: columns "value", "cause" and "outside"."""

    definition: Definition
    counts: ClosedCounts
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Evaluate it item by item."""
        columns = block.get(self.counts)
        known = {name: columns[name].values for name in COUNTS}
        value = evaluate_formula(self.definition, known, ())
        return {
            **value_columns(value, known["n_pred"], known["n_ref"]),
            "outside": columns["outside"],
        }


@dataclass(frozen=True)
class LabelDistances:
    """Distances of each item: columns "value", "cause", "outside" and "unconnected"."""

    cut: Cut
    count: str
    measure: str
    normalize: str
    unconnected: str
    unknown: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Average the distances of the predicted labels of each item."""
        part = block.get(TakingPart(self.cut, self.unknown, self.count))
        placed = block.get(Places())
        edges, height = lca_distances(part.pred, part.ref, placed)
        rows = row_numbers(part.pred.indptr)
        n_pred, n_ref = np.diff(part.pred.indptr), np.diff(part.ref.indptr)
        asked = n_ref[rows] > 0
        apart = asked & (edges < 0)
        distance = edges if self.measure == "edges" else height
        if self.unconnected == "root":
            distance = np.where(apart, self._joined(part, placed, rows), distance)
        counted = asked & ~apart if self.unconnected == "skip" else asked
        number = np.bincount(rows[counted], minlength=len(block))
        total = np.bincount(rows[counted], self._scaled(distance, placed)[counted], len(block))
        alone = np.bincount(rows[apart], minlength=len(block)) > 0
        return {
            **value_columns(divide(total, number), n_pred, n_ref),
            "outside": OneHot(part.outside.astype(np.int8), 2),
            "unconnected": OneHot(alone.astype(np.int8), 2),
        }

    def _joined(self, part: Sides, placed: Placed, rows: Ints) -> Ints:
        """The distance of each prediction through the implied root."""
        if self.measure == "height":
            return np.full(len(rows), placed.top)
        nearest = np.full(len(part.ref), FAR)
        np.minimum.at(nearest, row_numbers(part.ref.indptr), placed.depth[part.ref.codes])
        joined: Ints = placed.depth[part.pred.codes] + nearest[rows] + 2
        return joined

    def _scaled(self, distance: Ints, placed: Placed) -> Floats:
        if self.normalize == "none":
            return distance.astype(np.float64)
        most = max(placed.span, 1) * (2 if self.measure == "edges" else 1)
        return np.minimum(distance / most, 1.0)
