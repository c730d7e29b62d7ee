"""Precision, recall and F1 of label sets whose words differ: matching on embeddings.

Conventions
-----------
A predicted label matches a reference label when the cosine of their embeddings is above a
threshold, strictly. With tp matched predictions, p predictions and g references, precision is
tp/p, recall tp/g (with ``match=any`` the references that some prediction matches, over g). The
soft measures have no threshold: precision is the mean over predictions of the similarity to the
nearest reference, recall the mean over references of that to the nearest prediction, with
similarities below 0 taken as 0. With ``match=total`` labels are paired one-to-one so that the
similarities of the pairs have the largest sum, and a label without a partner counts 0.

``threshold=auto`` is the threshold of the embedding: calibrated for the default model, 0.4 for
word2vec (Kubany et al. 2020, section 3.2, footnote 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.assignment import most_similar
from semmetrics.core.columns import Dense, as_floats
from semmetrics.core.ragged import Floats, Ints, row_numbers, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.task import LabelTask
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
from semmetrics.metrics.families import cut_of, set_options
from semmetrics.metrics.matching import Counts, Cut, PrecisionSums, Ranked
from semmetrics.metrics.policies import (
    CAUSES,
    ItemMeans,
    apply_policies,
    causes,
    divide,
    item_values,
    mean_of_defined,
    undefined_items,
    value_columns,
)
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_steps import Laid, Layout, SemanticMatches
from semmetrics.metrics.similar import Similar, Source

__all__ = [
    "SemAP",
    "SemF1",
    "SemJaccard",
    "SemPrecision",
    "SemRecall",
    "SoftF1",
    "SoftPrecision",
    "SoftRecall",
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


class SemanticFamily:
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
            return mean_of_defined(measure, sums)
        value, n_pred, n_ref = self._micro(measure, sums)
        values, kept = apply_policies(measure, value, causes(value, n_pred, n_ref))
        return np.where(kept, values, np.nan)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Items without a value, by cause."""
        if measure["average"] == "example":
            return undefined_items(sums)
        value, n_pred, n_ref = map(np.atleast_1d, self._micro(measure, sums))
        cause = int(causes(value, n_pred, n_ref)[0])
        return {CAUSES[cause]: 1} if cause else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The value of each item."""
        if measure["average"] == "example":
            return item_values(rows)
        known = {name: column.values for name, column in rows.items()}  # type: ignore[attr-defined]
        return np.asarray(_FORMULAS[measure.definition.name](known, None), np.float64)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """None: matches are between labels, not of one."""
        return None

    @staticmethod
    def _micro(measure: Measure, sums: Sums) -> tuple[Floats, Floats, Floats]:
        known = {name: as_floats(array) for name, array in sums.items()}
        value = np.asarray(_FORMULAS[measure.definition.name](known, None), np.float64)
        return value, known["n_pred"], known["n_ref"]


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
        sums = _paired if self.match == "total" else _best
        best_pred, best_ref = sums(layout, block.get(Similar(self.model)))
        n_pred = sum_rows(layout.pred_kept, layout.pred.indptr)
        n_ref = sum_rows(layout.ref_kept, layout.ref.indptr)
        n = len(block)
        mine = np.bincount(row_numbers(layout.pred.indptr), best_pred, minlength=n)
        theirs = np.bincount(row_numbers(layout.ref.indptr), best_ref, minlength=n)
        return mine.astype(np.float64), theirs.astype(np.float64), n_pred, n_ref


def _best(layout: Laid, source: Source) -> tuple[Floats, Floats]:
    mine, theirs = np.zeros(len(layout.pred.codes)), np.zeros(len(layout.ref.codes))
    for batch in layout.batches(by_term=False):
        table = batch.similarities(source)
        for best, nearest, place in (
            (mine, table.max(axis=2), batch.owner),
            (theirs, table.max(axis=1), batch.goal),
        ):
            real = place >= 0
            best[place[real]] = np.maximum(nearest[real], 0.0)
    return mine, theirs


def _paired(layout: Laid, source: Source) -> tuple[Floats, Floats]:
    """The similarity of each label to the one that it is paired with; 0 where it is not."""
    mine, theirs = np.zeros(len(layout.pred.codes)), np.zeros(len(layout.ref.codes))
    for batch in layout.batches(by_term=False):
        table = batch.similarities(source)
        found = most_similar(table, 0.0)
        item, row = np.nonzero(found >= 0)
        column = found[item, row]
        similarity = table[item, row, column]
        mine[batch.owner[item, row]] = similarity
        theirs[batch.goal[item, column]] = similarity
    return mine, theirs


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


EMBEDDING = Option(
    "embedding", "embedding", "default", help="which of the embeddings given is meant"
)
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

_SOFT_MATCH = Option(
    "match",
    "match",
    "any",
    ("any", "total"),
    help="the nearest label of the other side; pairs one-to-one with the largest total similarity",
)


def _options(averages: tuple[str, ...], *more: Option) -> tuple[Option, ...]:
    shared = [o for o in set_options(averages) if o.name not in ("labels", "absent")]
    shared = [replace(o, averages=None) if o.name == "count" else o for o in shared]
    return (shared[0], *more, EMBEDDING, *shared[1:])


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
            options=_options(averages, _THRESHOLD, match, *more),
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


def _soft(name: str, summary: str, equation: str) -> Definition:
    return add(
        Definition(
            name=name,
            family=SoftFamily(),
            summary=summary,
            equation=equation,
            source="Zhang et al. 2020 (BERTScore), equation 1, on labels in place of tokens",
            cite=("zhang2020",),
            options=_options(("example",), _SOFT_MATCH),
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
