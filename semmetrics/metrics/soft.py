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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.assignment import max_similarity_matching
from semmetrics.core.backend import Backend
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.tasks import LabelTask
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.label_batches import Layout
from semmetrics.metrics.label_similarity import LabelSimilarity
from semmetrics.metrics.matching import Cut, cut_of
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic import match_options

__all__ = ["SoftCounts", "SoftF1", "SoftFamily", "SoftPrecision", "SoftRecall"]

LabelBlock = Block[LabelTask]


@dataclass(frozen=True)
class SoftCounts:
    """Similarities of labels to what they go with on the other side, summed as hits are counted.

    Columns "hit" (over predictions), "served" (over references), "n_pred" and "n_ref". ``match``
    is "any", where a label goes with the nearest of the other side, or "total", where pairs are
    one-to-one with the largest sum. Similarities below 0 are taken as 0.
    """

    cut: Cut
    duplicates: str
    model: str
    match: str = "any"
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Sum the similarities of each item."""
        layout = block.get(Layout(self.duplicates, self.model, self.cut))
        source, rule = block.get(LabelSimilarity(self.model)), _RULES[self.match]
        sides = (layout.pred, layout.pred_kept), (layout.ref, layout.ref_kept)
        found = [np.zeros(len(side.codes)) for side, _ in sides]
        for batch in layout.batches(by_term=False):
            part = rule(batch.similarities(source))
            for values, new, place in zip(found, part, (batch.owner, batch.goal), strict=True):
                real = place >= 0
                values[place[real]] = Backend(new).numpy(new)[real]
        hit, served = (
            np.bincount(row_numbers(side.indptr), values, minlength=len(block)).astype(np.float64)
            for (side, _), values in zip(sides, found, strict=True)
        )
        n_pred, n_ref = (sum_rows(kept, side.indptr) for side, kept in sides)
        known = {"hit": hit, "served": served, "n_pred": n_pred, "n_ref": n_ref}
        return {name: Dense(values) for name, values in known.items()}


def _nearest(table: Any) -> tuple[Any, Any]:
    """Return similarities of rows and of columns to their nearest, in a table of each item."""
    xp = Backend(table).xp
    rows, columns = (xp.clip(xp.amax(table, axis), 0.0, None) for axis in (2, 1))
    return rows, columns


def _paired(table: Any) -> tuple[Any, Any]:
    """Return similarities of rows and of columns to their partners; 0 without one."""
    backend = Backend(table)
    rows, columns = backend.zeros(*table.shape[:2]), backend.zeros(*table.shape[::2])
    found = max_similarity_matching(table)
    item, row = backend.xp.where(found >= 0)
    column = found[item, row]
    rows[item, row] = columns[item, column] = table[item, row, column]
    return rows, columns


_RULES = {"any": _nearest, "total": _paired}


class SoftFamily(CountFormulas):
    """Formulas on similarities without a threshold."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the sums of similarities."""
        return SoftCounts(
            cut_of(measure),
            str(measure["duplicates"]),
            str(measure["embedding"]),
            str(measure["match"]),
        )


def _recall(served: Any, n_ref: Any) -> Any:
    return formulas.recall(served, n_ref)


def _f1(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    precision, recall = formulas.divide(hit, n_pred, 0.0), formulas.divide(served, n_ref, 0.0)
    nothing = (n_pred == 0) & (n_ref == 0)
    return np.where(nothing, np.nan, formulas.harmonic_mean(precision, recall))


_MATCH = Option(
    "match",
    "match",
    "any",
    ("any", "total"),
    help="the nearest label of the other side; pairs one-to-one with the largest total similarity",
)


def _soft(name: str, summary: str, equation: str, formula: Callable[..., Any]) -> Definition:
    return add(
        Definition(
            name=name,
            family=SoftFamily(),
            summary=summary,
            equation=equation,
            source="Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
            cite=("zhang2020",),
            needs=frozenset({"embedding"}),
            options=match_options(("example",), _MATCH),
            averages=("example",),
            symmetric=name == "SoftF1",
            formula=formula,
        )
    )


SoftPrecision = _soft(
    "SoftPrecision",
    "Mean similarity of predictions to the nearest truth.",
    "Σ max cos / p",
    formulas.precision,
)
SoftRecall = _soft(
    "SoftRecall",
    "Mean similarity of true labels to the nearest prediction.",
    "Σ max cos / g",
    _recall,
)
SoftF1 = _soft("SoftF1", "Harmonic mean of soft precision and soft recall.", "2PR / (P + R)", _f1)
