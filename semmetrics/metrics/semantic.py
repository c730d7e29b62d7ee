"""Precision, recall and F1 of label sets whose words differ, on embeddings of the labels.

Conventions
-----------
**Matched** (``SemPrecision`` and the like): a predicted label matches a reference label when the
cosine of their embeddings is above a threshold, strictly. With tp matched predictions, p
predictions and g references, precision is tp/p, recall tp/g (with ``match=any`` the references that
some prediction matches, over g). ``threshold=auto`` is the threshold of the embedding: calibrated
for the default model, 0.4 for word2vec (Kubany et al. 2020, section 3.2, footnote 2).

**Soft** (``SoftPrecision`` and the like): precision is the mean over predictions of the similarity
to the nearest reference, recall the mean over references of that to the nearest prediction, without
a threshold, and with similarities below 0 taken as 0. With ``match=total`` labels are paired
one-to-one so that the similarities of the pairs have the largest sum, and a label without a partner
counts 0.

References
----------
Zhang, Kishore, Wu, Weinberger, Artzi, 2020, BERTScore: Evaluating Text Generation with BERT, ICLR,
equation 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.assignment import max_similarity_matching
from semmetrics.core.backend import Backend
from semmetrics.core.columns import Dense
from semmetrics.core.ragged import row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, ItemSums, Measure, Option, Statistic, Value
from semmetrics.metrics.families import CountFormulas, choose_policies
from semmetrics.metrics.label_similarity import EMBEDDING, LabelSimilarity
from semmetrics.metrics.matching import Counts, Cut, PrecisionSums, Ranked, cut_of
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_matching import Layout, SemanticMatches
from semmetrics.metrics.set_measures import set_options
from semmetrics.options import clean_number

__all__ = [
    "SemAP",
    "SemF1",
    "SemJaccard",
    "SemPrecision",
    "SemRecall",
    "SemanticCounts",
    "SemanticFamily",
    "SoftCounts",
    "SoftF1",
    "SoftFamily",
    "SoftPrecision",
    "SoftRecall",
]

LabelBlock = Block[LabelTask]


@dataclass(frozen=True)
class SemanticCounts(ItemSums):
    """Counts of semantic matches of each item: columns "hit", "served", "n_pred", "n_ref".

    ``served`` counts the references that a prediction matches; it differs from ``hit`` only where
    a reference may serve several predictions.
    """

    cut: Cut
    matches: SemanticMatches
    ranks: bool = False

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Count within the kept prefix of each item."""
        counts = block.get(Counts(self.cut, self.matches))
        served = counts.hit
        if self.matches.match == "any":
            matched, ranked = block.get(self.matches), block.get(Ranked())
            ref_ptr = block.task.ref.rows(block.start, block.stop).indptr
            end = (ranked.indptr[:-1] + block.get(self.cut))[row_numbers(ref_ptr)]
            served = sum_rows(matched.first < end, ref_ptr)
        columns = {
            "hit": Dense(counts.hit),
            "served": Dense(served),
            "n_pred": Dense(counts.n_pred),
            "n_ref": Dense(counts.n_ref),
        }
        if self.ranks:
            columns["precision_sum"] = Dense(block.get(PrecisionSums(self.cut, self.matches)))
        return columns


class SemanticFamily(CountFormulas):
    """Formulas on counts of semantic matches: means over items, or of all counts together."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the counts of matches."""
        if measure["threshold"] == "auto":
            raise InputError(f"the threshold of {measure} is not fitted yet")
        matches = SemanticMatches(
            float(str(measure["threshold"])),
            str(measure["match"]),
            str(measure["duplicates"]),
            str(measure["embedding"]),
        )
        ranks = "precision_sum" in measure.definition.arguments
        return SemanticCounts(cut_of(measure), matches, ranks)


@dataclass(frozen=True)
class SoftCounts(ItemSums):
    """Similarities of labels to what they go with on the other side, summed as hits are counted.

    Columns "hit" (over predictions), "served" (over references), "n_pred" and "n_ref". ``match``
    is "any", where a label goes with the nearest of the other side, or "total", where pairs are
    one-to-one with the largest sum. Similarities below 0 are taken as 0.
    """

    cut: Cut
    duplicates: str
    model: str
    match: str = "any"

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


def _soft_f1(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    precision, recall = formulas.divide(hit, n_pred, 0.0), formulas.divide(served, n_ref, 0.0)
    nothing = (n_pred == 0) & (n_ref == 0)
    return np.where(nothing, np.nan, formulas.harmonic_mean(precision, recall))


def _match_options(
    averages: tuple[str, ...], policies: tuple[str, ...], *more: Option
) -> tuple[Option, ...]:
    """Return the options of a measure that compares labels with labels."""
    every = set_options(averages, without=("labels",))
    average, duplicates, *shared = choose_policies(every, ("empty", *policies))
    return (average, *more, EMBEDDING, replace(duplicates, averages=None), *shared)


def _check_threshold(value: Value) -> None:
    if value != "auto":
        try:
            if -1 <= float(str(value)) <= 1:
                return
        except ValueError:
            pass
        raise InputError(f"threshold={value} is neither a cosine nor auto")


class _Threshold(Option):
    """An option whose value may be given as a number."""

    def read(self, text: Value) -> Value:
        """A number as it is written."""
        number = isinstance(text, (int, float, np.number)) and not isinstance(text, bool)
        return super().read(repr(float(text)) if number else text)  # type: ignore[arg-type]


_THRESHOLD = _Threshold(
    "threshold",
    "thr",
    "auto",
    help="cosine that a match is above; auto: the embedding's own",
    check=_check_threshold,
    clean=clean_number,
)
_PAIRS = Option(  # a formula that counts pairs has no match=any
    "match",
    "match",
    "greedy",
    ("greedy", "optimal", "total"),
    help="first unused reference in order; most matches; the matches with the largest total "
    "similarity",
)
_MATCH = replace(
    _PAIRS,
    choices=(*_PAIRS.choices, "any"),
    help=f"{_PAIRS.help}; a reference may serve several",
)
_NEAREST = Option(
    "match",
    "match",
    "any",
    ("any", "total"),
    help="the nearest label of the other side; pairs one-to-one with the largest total similarity",
)
_HITS = Option(
    "normalize",
    "normalize",
    "references",
    ("references", "hits"),
    help="divide by the references, or by the hits (Kubany et al. 2020)",
)


def _by_threshold(
    name: str,
    summary: str,
    equation: str,
    formula: Callable[..., Any],
    *options: Option,
    averages: tuple[str, ...] = ("example", "micro"),
    policies: tuple[str, ...] = (),
) -> Definition:
    return add(
        Definition(
            name,
            SemanticFamily(),
            summary,
            equation,
            source="Kubany et al. 2020, section 3.2",
            cite=("kubany2020",),
            options=_match_options(averages, policies, _THRESHOLD, *options),
            averages=averages,
            order_invariant=False,
            formula=formula,
            needs=frozenset({"embedding"}),
        )
    )


def _soft(
    name: str, summary: str, equation: str, formula: Callable[..., Any], *policies: str
) -> Definition:
    return add(
        Definition(
            name,
            SoftFamily(),
            summary,
            equation,
            source="Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
            cite=("zhang2020",),
            options=_match_options(("example",), policies, _NEAREST),
            averages=("example",),
            symmetric=name == "SoftF1",
            formula=formula,
            needs=frozenset({"embedding"}),
        )
    )


SemPrecision = _by_threshold(
    "SemPrecision",
    "Share of the predicted labels that mean the same as a true one.",
    "tp / p",
    formulas.precision,
    _MATCH,
    policies=("no_prediction",),
)
SemRecall = _by_threshold(
    "SemRecall",
    "Share of the true labels that a predicted label means.",
    "tp / g",
    _recall,
    _MATCH,
    policies=("no_reference",),
)
SemF1 = _by_threshold(
    "SemF1",
    "Harmonic mean of semantic precision and recall.",
    "2PR / (P + R)",
    formulas.f1_many_to_one,
    _MATCH,
)
SemJaccard = _by_threshold(
    "SemJaccard",
    "Matched labels over all labels; the paper's accuracy.",
    "tp / (p + g - tp)",
    formulas.jaccard,
    _PAIRS,
)
SemAP = _by_threshold(
    "SemAP",
    "Average precision of the ranked labels of an item, matched by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    formulas.average_precision,
    _PAIRS,
    _HITS,
    averages=("example",),
    policies=("no_prediction", "no_reference"),
)
SoftPrecision = _soft(
    "SoftPrecision",
    "Mean similarity of predictions to the nearest truth.",
    "Σ max cos / p",
    formulas.precision,
    "no_prediction",
)
SoftRecall = _soft(
    "SoftRecall",
    "Mean similarity of true labels to the nearest prediction.",
    "Σ max cos / g",
    _recall,
    "no_reference",
)
SoftF1 = _soft(
    "SoftF1", "Harmonic mean of soft precision and soft recall.", "2PR / (P + R)", _soft_f1
)
