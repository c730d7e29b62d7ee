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

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic, Value
from semmetrics.metrics.families import CountFormulas
from semmetrics.metrics.label_similarity import EMBEDDING
from semmetrics.metrics.matching import Counts, Cut, PrecisionSums, Ranked, cut_of
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_matching import SemanticMatches
from semmetrics.metrics.set_measures import set_options

__all__ = [
    "SemAP",
    "SemF1",
    "SemJaccard",
    "SemPrecision",
    "SemRecall",
    "SemanticCounts",
    "SemanticFamily",
    "match_options",
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


def _recall(served: Any, n_ref: Any) -> Any:
    return formulas.recall(served, n_ref)


def match_options(averages: tuple[str, ...], *more: Option) -> tuple[Option, ...]:
    """Return the options of a measure that compares labels with labels."""
    shared = [o for o in set_options(averages) if o.name not in ("labels", "absent")]
    shared = [replace(o, averages=None) if o.name == "duplicates" else o for o in shared]
    return (shared[0], *more, EMBEDDING, *shared[1:])


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
    formula: Callable[..., Any],
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
            needs=frozenset({"embedding"}),
            options=match_options(averages, _THRESHOLD, match, *more),
            averages=averages,
            order_invariant=False,
            formula=formula,
        )
    )


SemPrecision = _semantic(
    "SemPrecision",
    "Share of the predicted labels that mean the same as a true one.",
    "tp / p",
    formulas.precision,
)
SemRecall = _semantic(
    "SemRecall",
    "Share of the true labels that a predicted label means.",
    "tp / g",
    _recall,
)
SemF1 = _semantic(
    "SemF1",
    "Harmonic mean of semantic precision and recall.",
    "2PR / (P + R)",
    formulas.f1_many_to_one,
)
SemJaccard = _semantic(
    "SemJaccard",
    "Matched labels over all labels; the paper's accuracy.",
    "tp / (p + g - tp)",
    formulas.jaccard,
    match=_PAIRS,
)
SemAP = _semantic(
    "SemAP",
    "Average precision of the ranked labels of an item, matched by meaning.",
    "Σ over matched ranks of (matches so far / rank), over the references or the matches",
    formulas.average_precision,
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
