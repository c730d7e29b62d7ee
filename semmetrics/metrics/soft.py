"""Precision, recall and F1 of label sets by similarity alone, without a threshold.

Conventions
-----------
Precision is the mean over predictions of the similarity to the nearest reference, recall the mean
over references of that to the nearest prediction, with similarities below 0 taken as 0. With
``match=total`` labels are paired one-to-one so that the similarities of the pairs have the largest
sum, and a label without a partner counts 0.

References
----------
Zhang, Kishore, Wu, Weinberger, Artzi, 2020, BERTScore: Evaluating Text Generation with BERT, ICLR,
equation 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.assignment import most_similar
from semmetrics.core.ragged import Floats, Ints, row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic
from semmetrics.metrics.families import cut_of
from semmetrics.metrics.matching import Cut
from semmetrics.metrics.policies import ItemMeans, divide, value_columns
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_layout import Layout
from semmetrics.metrics.semantic_options import match_options
from semmetrics.metrics.similar import Similar

__all__ = ["Nearest", "SoftF1", "SoftFamily", "SoftPrecision", "SoftRecall", "SoftValues"]

LabelBlock = Block[LabelTask]


@dataclass(frozen=True)
class Nearest:
    """For each item the similarities of labels to what they go with on the other side.

    ``match`` is "any", where a label goes with the nearest of the other side, or "total", where
    pairs are one-to-one with the largest sum.
    """

    cut: Cut
    count: str
    model: str
    match: str = "any"

    def compute(self, block: LabelBlock) -> tuple[Floats, Floats, Ints, Ints]:
        """Sums of similarities over predictions and over references, and how many those are.

        Similarities below 0 are taken as 0.
        """
        layout = block.get(Layout(self.count, self.model, self.cut))
        source, rule = block.get(Similar(self.model)), _RULES[self.match]
        sides = (layout.pred, layout.pred_kept), (layout.ref, layout.ref_kept)
        found = [np.zeros(len(side.codes)) for side, _ in sides]
        for batch in layout.batches(by_term=False):
            part = rule(batch.similarities(source))
            for values, new, place in zip(found, part, (batch.owner, batch.goal), strict=True):
                real = place >= 0
                values[place[real]] = new[real]
        mine, theirs = (
            np.bincount(row_numbers(side.indptr), values, minlength=len(block)).astype(np.float64)
            for (side, _), values in zip(sides, found, strict=True)
        )
        n_pred, n_ref = (sum_rows(kept, side.indptr) for side, kept in sides)
        return mine, theirs, n_pred, n_ref


def _nearest(table: Floats) -> tuple[Floats, Floats]:
    """Similarities of rows and of columns to their nearest, in a table of each item."""
    rows, columns = (np.maximum(table.max(axis=axis), 0.0) for axis in (2, 1))
    return rows, columns


def _paired(table: Floats) -> tuple[Floats, Floats]:
    """Similarities of rows and of columns to their partners; 0 without one."""
    rows, columns = np.zeros(table.shape[:2]), np.zeros(table.shape[::2])
    found = most_similar(table, 0.0)
    item, row = np.nonzero(found >= 0)
    column = found[item, row]
    rows[item, row] = columns[item, column] = table[item, row, column]
    return rows, columns


_RULES = {"any": _nearest, "total": _paired}


@dataclass(frozen=True)
class SoftValues:
    """Soft precision, recall or F1 of each item: columns "value" and "cause"."""

    name: str
    nearest: Nearest
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Evaluate it item by item."""
        mine, theirs, n_pred, n_ref = block.get(self.nearest)
        precision, recall = divide(mine, n_pred), divide(theirs, n_ref)
        if self.name == "SoftF1":
            filled = [np.where(np.isnan(part), 0.0, part) for part in (precision, recall)]
            both = filled[0] + filled[1]
            value = divide(2 * filled[0] * filled[1], np.where(both > 0, both, 1.0))
            value = np.where((n_pred == 0) & (n_ref == 0), np.nan, value)
        else:
            value = precision if self.name == "SoftPrecision" else recall
        return value_columns(value, n_pred, n_ref)


class SoftFamily(ItemMeans):
    """Means over items of similarities without a threshold."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        nearest = Nearest(
            cut_of(measure),
            str(measure["count"]),
            str(measure["embedding"]),
            str(measure["match"]),
        )
        return SoftValues(measure.definition.name, nearest)


_MATCH = Option(
    "match",
    "match",
    "any",
    ("any", "total"),
    help="the nearest label of the other side; pairs one-to-one with the largest total similarity",
)


def _soft(name: str, summary: str, equation: str) -> Definition:
    return add(
        Definition(
            name=name,
            family=SoftFamily(),
            summary=summary,
            equation=equation,
            source="Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
            cite=("zhang2020",),
            options=match_options(("example",), _MATCH),
            averages=("example",),
            symmetric=name == "SoftF1",
        )
    )


SoftPrecision = _soft(
    "SoftPrecision", "Mean similarity of predictions to the nearest truth.", "Σ max cos / p"
)
SoftRecall = _soft(
    "SoftRecall", "Mean similarity of true labels to the nearest prediction.", "Σ max cos / g"
)
SoftF1 = _soft("SoftF1", "Harmonic mean of soft precision and soft recall.", "2PR / (P + R)")
