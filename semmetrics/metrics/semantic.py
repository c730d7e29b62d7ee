"""Precision, recall and F1 of label sets whose words differ: matching on embeddings.

Conventions
-----------
A predicted label matches a reference label when the cosine of their embeddings is above a
threshold, strictly. With tp matched predictions, p predictions and g references, precision is
tp/p, recall tp/g (with ``match=any`` the references that some prediction matches, over g).

``threshold=auto`` is the threshold of the embedding: calibrated for the default model, 0.4 for
word2vec (Kubany et al. 2020, section 3.2, footnote 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense, as_floats
from semmetrics.core.ragged import Floats, row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
    Value,
)
from semmetrics.metrics.families import cut_of
from semmetrics.metrics.matching import Counts, Cut, PrecisionSums, Ranked
from semmetrics.metrics.policies import (
    CAUSES,
    ItemMeans,
    apply_policies,
    causes,
    divide,
    value_columns,
)
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_options import match_options
from semmetrics.metrics.semantic_steps import SemanticMatches

__all__ = [
    "SemAP",
    "SemF1",
    "SemJaccard",
    "SemPrecision",
    "SemRecall",
    "SemanticCounts",
    "SemanticFamily",
    "SemanticValues",
]

LabelBlock = Block[LabelTask]


@dataclass(frozen=True)
class SemanticCounts:
    """Counts of semantic matches of each item: columns "hit", "served", "n_pred", "n_ref".

    ``served`` counts the references that a prediction matches; it differs from ``hit`` only where
    a reference may serve several predictions.
    """

    cut: Cut
    matches: SemanticMatches
    ranks: bool = False
    additive: bool = True
    labels: frozenset[str] = frozenset()

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


@dataclass(frozen=True)
class SemanticValues:
    """A formula on the semantic counts of each item: columns "value" and "cause"."""

    name: str
    counts: SemanticCounts
    normalize: str | None = None
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Evaluate it item by item."""
        columns = block.get(self.counts)
        known = {name: column.values for name, column in columns.items()}
        value = _FORMULAS[self.name](known, self.normalize)
        return value_columns(value, known["n_pred"], known["n_ref"])


def _precision(known: Any, _: Any) -> Any:
    return divide(known["hit"], known["n_pred"])


def _recall(known: Any, _: Any) -> Any:
    return divide(known["served"], known["n_ref"])


def _f1(known: Any, _: Any) -> Any:
    hit, served = known["hit"], known["served"]
    n_pred, n_ref = known["n_pred"], known["n_ref"]
    # 2PR / (P + R) multiplied out, so that it is 2 hit / (n_pred + n_ref) one-to-one
    bottom = hit * n_ref + served * n_pred
    return np.where(
        bottom == 0, divide(0.0 * hit, n_pred + n_ref), divide(2.0 * hit * served, bottom)
    )


def _jaccard(known: Any, _: Any) -> Any:
    return divide(known["hit"], known["n_pred"] + known["n_ref"] - known["hit"])


def _ap(known: Any, normalize: Any) -> Any:
    if normalize == "references":
        return divide(known["precision_sum"], known["n_ref"])
    nothing = (known["n_pred"] == 0) | (known["n_ref"] == 0)
    return np.where(nothing, np.nan, known["precision_sum"] / np.maximum(known["hit"], 1))


_FORMULAS = {
    "SemPrecision": _precision,
    "SemRecall": _recall,
    "SemF1": _f1,
    "SemJaccard": _jaccard,
    "SemAP": _ap,
}


class SemanticFamily(ItemMeans):
    """Measures on the counts of semantic matches: means over items, or of all counts together."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values for ``example``, counts for ``micro``."""
        name, threshold = measure.definition.name, measure["threshold"]
        if threshold == "auto":
            raise InputError(f"the threshold of {measure} is not fitted yet")
        matches = SemanticMatches(
            float(str(threshold)),
            str(measure["match"]),
            str(measure["count"]),
            str(measure["embedding"]),
        )
        counts = SemanticCounts(cut_of(measure), matches, name == "SemAP")
        if measure["average"] == "micro":
            return counts
        normalize = measure["normalize"]
        return SemanticValues(name, counts, None if normalize is None else str(normalize))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The mean over items, or the formula on the sums."""
        if measure["average"] == "example":
            return super().aggregate(measure, sums, frame)
        value, n_pred, n_ref = self._micro(measure, sums)
        values, kept = apply_policies(measure, value, causes(value, n_pred, n_ref))
        return np.where(kept, values, np.nan)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Items without a value, by cause."""
        if measure["average"] == "example":
            return super().undefined(measure, sums, frame)
        value, n_pred, n_ref = map(np.atleast_1d, self._micro(measure, sums))
        cause = int(causes(value, n_pred, n_ref)[0])
        return {CAUSES[cause]: 1} if cause else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The value of each item."""
        if measure["average"] == "example":
            return super().items(measure, rows, frame)
        known = {name: column.values for name, column in rows.items()}  # type: ignore[attr-defined]
        return np.asarray(_FORMULAS[measure.definition.name](known, None), np.float64)

    @staticmethod
    def _micro(measure: Measure, sums: Sums) -> tuple[Floats, Floats, Floats]:
        known = {name: as_floats(array) for name, array in sums.items()}
        value = np.asarray(_FORMULAS[measure.definition.name](known, None), np.float64)
        return value, known["n_pred"], known["n_ref"]


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
    "threshold", "thr", "auto", help="cosine that a match is above; auto: the embedding's own",
    check=_check_threshold,
)  # fmt: skip
_MATCH = Option(
    "match",
    "match",
    "greedy",
    ("greedy", "optimal", "total", "any"),
    help="first unused reference in order; most matches; the matches with the largest total "
    "similarity; a reference may serve several",
)

_PAIRS = Option(  # a formula that counts pairs has no match=any
    "match",
    "match",
    "greedy",
    ("greedy", "optimal", "total"),
    help="first unused reference in order; most matches; the matches with the largest total "
    "similarity",
)


def _semantic(
    name: str,
    summary: str,
    equation: str,
    *more: Option,
    match: Option = _MATCH,
    micro: bool = True,
) -> Definition:
    averages = ("example", "micro") if micro else ("example",)
    return add(
        Definition(
            name=name,
            family=SemanticFamily(),
            summary=summary,
            equation=equation,
            source="Kubany et al. 2020, section 3.2",
            cite=("kubany2020",),
            options=match_options(averages, _THRESHOLD, match, *more),
            averages=averages,
            order_invariant=False,
        )
    )


SemPrecision = _semantic(
    "SemPrecision", "Share of the predicted labels that mean the same as a true one.", "tp / p"
)
SemRecall = _semantic(
    "SemRecall", "Share of the true labels that a predicted label means.", "tp / g"
)
SemF1 = _semantic("SemF1", "Harmonic mean of semantic precision and recall.", "2PR / (P + R)")
SemJaccard = _semantic(
    "SemJaccard",
    "Matched labels over all labels; the paper's accuracy.",
    "tp / (p + g - tp)",
    match=_PAIRS,
)
SemAP = _semantic(
    "SemAP",
    "Average precision of the ranked labels of an item, matched by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    Option(
        "normalize",
        "normalize",
        "references",
        ("references", "hits"),
        help="divide by the references, or by the hits (Kubany et al. 2020)",
    ),
    match=_PAIRS,
    micro=False,
)
