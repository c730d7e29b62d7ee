"""Ranking measures on label scores, as definitions: LRAP, ranking loss, coverage, mAP.

Conventions
-----------
Item-wise measures are means over items; class-wise average precision is the mean over classes
that have positives, and is not a function of sums: its rows are kept and weighted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Floats, Ints, offsets, row_numbers, sum_rows, take_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics import ranking
from semmetrics.metrics.class_precision import ClassCurves, class_average_precision, class_curves
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.matching import Matches, Ranked, Reference
from semmetrics.metrics.policies import (
    CAUSES,
    POLICIES,
    divide,
    mean_of_defined,
    undefined_items,
)
from semmetrics.metrics.registry import add

__all__ = ["LRAP", "CoverageError", "RankingLoss", "mAP"]

_Cores = Mapping[str, Callable[..., Floats]]
_CORES: _Cores = {
    "LRAP": ranking.lrap_items,
    "RankingLoss": ranking.ranking_loss_items,
    "CoverageError": ranking.coverage_items,
}


def _scored(block: Block[LabelTask], name: str) -> Any:
    ranked = block.get(Ranked())
    if not len(ranked.codes):  # nothing is predicted, so no score is lacking
        return replace(ranked, scores=np.zeros(0))
    if ranked.scores is None:
        raise InputError(
            f"{name} needs a score for each predicted label",
            remedy="give scores (a score matrix, or labels with scores), or another measure",
        )
    return ranked


@dataclass(frozen=True)
class ItemRanking:
    """What a ranking measure needs of each item before the number of labels is known.

    The labels that an item does not score tie below the others. How many these are is known when
    all parts have been merged, so this is not a function of sums.
    """

    name: str
    additive: bool = False
    labels: frozenset[str] = frozenset()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Columns "part" (the measure on the scored labels), "n_ref", "scored", "missed"."""
        ranked = _scored(block, self.name)
        matched = block.get(Matches("set", "class"))
        side, hit = ranked, matched.hit
        if matched.counted is not None:
            side, hit = ranked.keep(matched.counted), hit[matched.counted]
        if block.task.given is not None:  # what is not in the class list counts nowhere
            inside = side.codes < block.task.given
            side, hit = side.keep(inside), hit[inside]
        n_ref, scored = matched.n_ref, np.diff(side.indptr)
        missed = n_ref - sum_rows(hit, side.indptr)
        n_labels = {"LRAP": np.inf, "RankingLoss": scored + missed, "CoverageError": 0}[self.name]
        part = _CORES[self.name](side.indptr, side.scores, hit, n_ref, n_labels)
        if self.name == "RankingLoss":  # as a number of pairs
            part = np.rint(part * (n_ref * (n_labels - n_ref)))
        part = np.where(np.isnan(part), 0.0, part)
        known = {"part": part, "n_ref": n_ref, "scored": scored, "missed": missed}
        return {name: Dense(values) for name, values in known.items()}


class ItemRankingFamily:
    """Means of ranking measures over items."""

    def statistic(self, measure: Measure) -> Statistic:
        """What is known of each item."""
        return ItemRanking(measure.definition.name)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The mean, under the policies; items are added in an order of their own."""
        values, cause = self._values(measure, sums["rows"], frame)
        order = sums["order"]
        values, cause = np.where(cause == 0, values, 0.0)[order], cause[order]
        places = [np.flatnonzero(cause == c) for c in range(len(CAUSES))]
        total, counts = np.empty(len(sums["weights"])), np.zeros((len(sums["weights"]), 5))
        for row, weights in enumerate(sums["weights"]):
            heavy = weights[order]
            total[row] = (values * heavy).sum()
            counts[row] = [heavy[place].sum() for place in places]
        return mean_of_defined(measure, {"value": total, "cause": counts})

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Items without a value, by cause."""
        cause = self._values(measure, sums["rows"], frame)[1]
        return undefined_items({"cause": np.bincount(cause, minlength=len(CAUSES))})

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The value of each item."""
        return self._values(measure, rows, frame)[0]

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """None: there is no value of a label."""
        return None

    @staticmethod
    def _values(measure: Measure, rows: Any, frame: Frame) -> tuple[Floats, NDArray[np.int8]]:
        """The value of each item, nan where undefined, and the cause."""
        part, n_ref, scored, missed = (
            rows[name].values for name in ("part", "n_ref", "scored", "missed")
        )
        size = frame.dictionary
        if measure.definition.name == "LRAP":
            value = part + missed / max(size, 1)
        elif measure.definition.name == "CoverageError":
            value = np.where(missed > 0, float(size), part)
        else:
            wrong = part + missed * (size - scored - missed)
            value = divide(wrong, n_ref * (size - n_ref))
        value = np.where(n_ref > 0, value, np.nan)
        cause = np.where(np.isnan(value), np.where(n_ref == 0, 3, 4), 0).astype(np.int8)
        return value, cause


@dataclass(frozen=True, eq=False)
class Pairs:
    """A column of (item, label) pairs with a score and a hit: what cannot be summed.

    Attributes
    ----------
    indptr, codes, scores, hit
        Predicted labels of each item.
    ref_indptr, ref_codes
        Distinct reference labels of each item.
    """

    indptr: Ints
    codes: NDArray[np.int32]
    scores: Floats
    hit: NDArray[np.bool_]
    ref_indptr: Ints
    ref_codes: NDArray[np.int32]
    _sorted: dict[tuple[int, str], ClassCurves] = field(default_factory=dict, repr=False)
    _taken: list[Pairs] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @staticmethod
    def join(parts: Any) -> Pairs:
        """Parts one after the other."""
        flat = ("codes", "scores", "hit", "ref_codes")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(p, name) for p in parts]) for name in flat
        }
        for name in ("indptr", "ref_indptr"):
            joined[name] = offsets(np.concatenate([np.diff(getattr(p, name)) for p in parts]))
        return Pairs(**joined)

    def take(self, order: Ints) -> Pairs:
        """The items in an order, which is always the same; made once."""
        if not self._taken:
            indptr, flat = take_rows(self.indptr, order)
            ref_indptr, ref_flat = take_rows(self.ref_indptr, order)
            columns = (self.codes[flat], self.scores[flat], self.hit[flat])
            self._taken.append(Pairs(indptr, *columns, ref_indptr, self.ref_codes[ref_flat]))
        return self._taken[0]

    def curves(self, n_classes: int, ties: str) -> ClassCurves:
        """Pairs in the order of class and falling score, sorted once."""
        key = (n_classes, ties)
        if key not in self._sorted:
            rule: Any = ties
            self._sorted[key] = class_curves(
                self.codes,
                self.scores,
                self.hit,
                row_numbers(self.indptr),
                self.ref_codes,
                row_numbers(self.ref_indptr),
                n_classes,
                ties=rule,
            )
        return self._sorted[key]

    def recoded(self, codes: NDArray[np.int32], width: int) -> Pairs:
        """The same pairs with label c called codes[c]."""
        new, ref = codes[self.codes], codes[self.ref_codes]
        return Pairs(self.indptr, new, self.scores, self.hit, self.ref_indptr, ref)


@dataclass(frozen=True)
class ScoredPairs:
    """Predicted labels with scores and hits, and reference labels, of each item."""

    additive: bool = False
    labels: frozenset[str] = frozenset()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Column "pairs"."""
        side = _scored(block, "mAP")
        ref = block.get(Reference())
        matched = block.get(Matches("set", "class"))
        hit = matched.hit
        if matched.counted is not None:
            side, hit = side.keep(matched.counted), hit[matched.counted]
        if matched.once is not None:
            ref = ref.keep(matched.once)
        return {"pairs": Pairs(side.indptr, side.codes, side.scores, hit, ref.indptr, ref.codes)}


class ClassPrecisionFamily:
    """Means over classes of average precision, from weighted rows."""

    def statistic(self, measure: Measure) -> Statistic:
        """The scored pairs themselves."""
        return ScoredPairs()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The mean over classes, under the policy for classes without positives."""
        values, support = self._values(measure, sums, frame)
        weights = support if measure["average"] == "weighted" else np.ones(values.shape)
        policy, bad = str(measure["no_reference"]), np.isnan(values)
        if measure["labels"] == "reference" or policy == "skip":
            weights = np.where(bad, 0.0, weights)
        values = np.where(bad, {"nan": np.nan, "1": 1.0}.get(policy, 0.0), values)
        total = np.where(weights > 0, values, 0.0) * weights
        number = weights.sum(axis=-1)
        return np.where(number > 0, total.sum(axis=-1) / np.where(number > 0, number, 1), np.nan)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Classes without positives."""
        values, _ = self._values(measure, sums, frame)
        number = int(np.isnan(values[0]).sum())
        return {"no_reference": number} if number else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """None: an item alone has no class-wise precision."""
        return None

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """Average precision and number of positives of each class in the universe."""
        values, support = self._values(measure, sums, frame)
        names = np.array(frame.labels, dtype=object)[frame.universe(str(measure["labels"]))]
        return {"label": names, "value": values[0], "support": support[0]}

    def _values(self, measure: Measure, sums: Sums, frame: Frame) -> tuple[Floats, Floats]:
        rows: Any = sums["rows"]
        pairs: Pairs = rows["pairs"]
        weights = sums["weights"]
        if measure["ties"] == "grouped":  # only then does the order of the items not matter
            pairs, weights = pairs.take(sums["order"]), weights[:, sums["order"]]
        inside = frame.universe(str(measure["labels"]))
        curves = pairs.curves(len(frame.labels), str(measure["ties"]))
        interpolation: Any = measure["interpolation"]
        values = class_average_precision(curves, weights, interpolation=interpolation)
        of_item = row_numbers(pairs.ref_indptr)
        support: Floats = np.stack(
            [np.bincount(pairs.ref_codes, w[of_item], minlength=len(inside)) for w in weights]
        )
        # in one layout, so that classes are added in one order for any number of resamples
        return np.ascontiguousarray(values[:, inside]), np.ascontiguousarray(support[:, inside])


_NO_REFERENCE = Option(
    "no_reference", "noref", "skip", POLICIES, help="policy for items without true labels"
)
_UNDEFINED = Option(
    "undefined", "undef", "skip", POLICIES, help="policy for items for which every label is true"
)


LRAP = add(
    Definition(
        name="LRAP",
        family=ItemRankingFamily(),
        summary="Mean over true labels of the share of true labels among those ranked as high.",
        equation="(1/|Y|) Σ over y in Y of |{y' in Y: s(y') >= s(y)}| / |{l: s(l) >= s(y)}|",
        source="Tsoumakas et al. 2010, section 7.3.3; ties as in scikit-learn",
        cite=("tsoumakas2010",),
        options=(_NO_REFERENCE, _UNDEFINED),
        cutoff=False,
        dictionary=True,
    )
)
RankingLoss = add(
    Definition(
        name="RankingLoss",
        family=ItemRankingFamily(),
        summary="Share of an item's (true, other) label pairs in the wrong order; a tie is wrong.",
        equation="|{(y, z): s(y) <= s(z)}| / (|Y| |not Y|)",
        source="Schapire & Singer 2000; Tsoumakas et al. 2010, section 7.3.3",
        cite=("schapire2000", "tsoumakas2010"),
        options=(_NO_REFERENCE, _UNDEFINED),
        higher_is_better=False,
        cutoff=False,
        dictionary=True,
    )
)
CoverageError = add(
    Definition(
        name="CoverageError",
        family=ItemRankingFamily(),
        summary="How many labels to go through, best first, until all true ones are found.",
        equation="max over y in Y of |{l: s(l) >= s(y)}|",
        source="Tsoumakas et al. 2010, section 7.3.3, plus one",
        cite=("tsoumakas2010",),
        options=(_NO_REFERENCE, _UNDEFINED),
        bounds=(0.0, np.inf),
        higher_is_better=False,
        cutoff=False,
        dictionary=True,
    )
)
mAP = add(
    Definition(
        name="mAP",
        family=ClassPrecisionFamily(),
        summary="Mean over classes of the average precision of the items ranked by that class.",
        equation="AP = Σ (R_n - R_{n-1}) P_n; interpolated variants by name",
        source="Everingham et al. 2010, section 4.2 (voc2007, voc2010); Lin et al. 2014 (coco101)",
        cite=("everingham2010", "lin2014"),
        options=(
            Option("average", "avg", "macro", ("macro", "weighted"), help="equal or by support"),
            Option(
                "labels",
                "labels",
                "reference",
                ("reference", "union", "given"),
                help="the classes that count: of the truth, of both sides, or the class list",
            ),
            Option(
                "interpolation",
                "interp",
                "none",
                ("none", "voc2007", "voc2010", "coco101"),
                help="none as scikit-learn; 11 points; all points; 101 points",
            ),
            Option(
                "ties",
                "ties",
                "grouped",
                ("grouped", "ordered"),
                help="equal scores together as scikit-learn, or in file order as VOC and COCO",
            ),
            Option("no_reference", "noref", "skip", POLICIES, help="policy for unseen classes"),
        ),
        averages=("macro", "weighted"),
        cutoff=False,
    )
)
