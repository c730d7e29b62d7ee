"""Similarities of labels to their nearest label or partner, without a threshold.

These are the counts behind ``SoftPrecision``, ``SoftRecall`` and ``SoftF1``, which
`semmetrics.metrics.semantic` defines. Soft-SPICE compares phrases in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import assignment, ragged
from semmetrics.core.backend import Backend, to_numpy
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats
from semmetrics.data.lists import Side
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Measure, Statistic, model_key
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.label_batches import BatchLayout, LabelBlock, lay_out
from semmetrics.metrics.label_similarity import similarities_of
from semmetrics.metrics.matching import Cut, cut_of
from semmetrics.metrics.similarity_sources import SimilaritySource


class LabelSimilarities(NamedTuple):
    """The similarity of each label of either side to the other side, 0 without any.

    Attributes
    ----------
    pred, ref : float arrays, shapes (predictions,) and (references,)
    """

    pred: Floats
    ref: Floats


def nearest_by_rule(
    layout: BatchLayout, source: SimilaritySource, rule: str = "any"
) -> LabelSimilarities:
    """Return how similar each label is to its nearest label, or to its partner.

    Parameters
    ----------
    layout : BatchLayout
    source : SimilarityTable or PairwiseSimilarity
    rule : {"any", "total"}
        "any": the nearest label of the other side. "total": the partner in one-to-one
        pairs with the largest sum of similarities.
    """
    similarities = LabelSimilarities(
        np.zeros(len(layout.pred.codes)), np.zeros(len(layout.ref.codes))
    )
    for batch in layout.batches(by_term=False):
        table = source.gather(batch.rows, batch.columns)
        if rule == "any":
            xp = Backend(table).xp
            of_rows = to_numpy(xp.amax(table, 2))
            of_columns = to_numpy(xp.amax(table, 1))
        else:
            of_rows, of_columns = _similarities_of_partners(to_numpy(table))
        is_row = batch.pred_places >= 0
        is_column = batch.ref_places >= 0
        similarities.pred[batch.pred_places[is_row]] = of_rows[is_row]
        similarities.ref[batch.ref_places[is_column]] = of_columns[is_column]
    return similarities


def _similarities_of_partners(table: Floats) -> tuple[Floats, Floats]:
    """Return the similarity of each row and of each column to its partner, or 0."""
    n_items, n_rows, n_columns = table.shape
    of_rows = np.zeros((n_items, n_rows))
    of_columns = np.zeros((n_items, n_columns))
    partners = assignment.max_similarity_matching(table)
    item, row = np.nonzero(partners >= 0)
    column = partners[item, row]
    similarities = table[item, row, column]
    of_rows[item, row] = similarities
    of_columns[item, column] = similarities
    return of_rows, of_columns


@dataclass(frozen=True, repr=False)
class SoftCounts(Statistic):
    """A step: sums of the similarities of labels to the other side, in place of hits.

    Negative similarities count as 0. The columns are "hit" and "n_pred" of predictions,
    "served" and "n_ref" of references.

    Attributes
    ----------
    cut : Cut
    duplicates : {"once", "each"}
    model : str
        The ``model_key`` of the measure.
    match : {"any", "total"}
        As for `nearest_by_rule`.
    """

    cut: Cut
    duplicates: str
    model: str
    match: str = "any"

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Sum the similarities of each item."""
        layout = lay_out(block, self.duplicates, self.model, self.cut)
        source = similarities_of(block, self.model)
        similarities = nearest_by_rule(layout, source, self.match)
        return {
            "hit": Dense(_sum_positive(layout.pred, similarities.pred)),
            "n_pred": Dense(ragged.sum_rows(layout.pred_used, layout.pred.indptr)),
            "served": Dense(_sum_positive(layout.ref, similarities.ref)),
            "n_ref": Dense(ragged.sum_rows(layout.ref_used, layout.ref.indptr)),
        }


def _sum_positive(side: Side, similarities: Floats) -> Floats:
    """Sum the positive similarities of each item's labels."""
    rows = ragged.row_numbers(side.indptr)
    sums = np.bincount(rows, np.maximum(similarities, 0.0), len(side))
    return sums.astype(np.float64)


class SoftFamily(CountFormulas):
    """Formulas on similarities without a threshold."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the sums of similarities."""
        duplicates = str(measure["duplicates"])
        match = str(measure["match"])
        return SoftCounts(cut_of(measure), duplicates, model_key(measure), match)


def soft_f1(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return the harmonic mean of soft precision and recall, nan without any label.

    Precision or recall is 0 if its side has no labels.
    """
    precision = formulas.divide(hit, n_pred, 0.0)
    recall = formulas.divide(served, n_ref, 0.0)
    has_no_labels = (n_pred == 0) & (n_ref == 0)
    return np.where(has_no_labels, np.nan, formulas.harmonic_mean(precision, recall))
