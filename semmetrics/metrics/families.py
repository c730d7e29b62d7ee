"""Set metrics of label lists: from counts of hits, predictions and references to a value.

Conventions
-----------
``average=example`` is the mean of the formula over items; ``macro`` its mean over labels;
``weighted`` that mean with the number of references as weights; ``micro`` the formula on the
counts of all labels together.

Where the formula is 0/0, a policy ``nan|0|1|skip`` named by the cause decides: nothing predicted
and nothing true (``empty`` for items, ``absent`` for labels), nothing predicted
(``no_prediction``),
nothing true (``no_reference``), or another reason (``undefined``). What was undefined is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Coded, Dense, OneHot, Sparse, as_floats
from semmetrics.core.ragged import Bools, Floats, prefixes, row_numbers
from semmetrics.data.block import Block, Step
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
from semmetrics.metrics.matching import (
    Counts,
    Cut,
    Distinct,
    ItemCounts,
    Matched,
    Matches,
    PrecisionSums,
    Ranked,
    Reference,
)
from semmetrics.metrics.policies import (
    CAUSES,
    LABEL_AVERAGES,
    POLICIES,
    apply_policies,
    cause_option,
    causes,
    divide,
    item_values,
    mean_of_defined,
    undefined_items,
)

__all__ = [
    "ItemValues",
    "LabelCounts",
    "SetFamily",
    "check_decode",
    "cut_of",
    "divide",
    "evaluate_formula",
    "own_options",
    "set_options",
]


def check_decode(value: Value) -> None:
    """Whether a decoding rule is written rightly."""
    rule, colon, number = str(value).partition(":")
    if rule in ("all", "cardinality", "cardinality+scores") and not colon:
        return
    if value == "cardinality+scores:code":
        return
    if rule in ("threshold", "cumulative"):
        if (rule, number) == ("threshold", "best"):
            return
        try:
            if np.isfinite(float(number)):
                return
        except ValueError:
            pass
    raise InputError(
        f"decode={value} is not a decoding rule",
        remedy="write all, threshold:0.5, threshold:best, cumulative:0.5, cardinality or "
        "cardinality+scores",
    )


def _check_count(value: Value) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"min_labels={value} is not a whole number from 0")


def _policy(name: str, short: str, default: Any, text: str, averages: Any = None) -> Option:
    return Option(name, short, default, POLICIES, help=f"policy for {text}", averages=averages)


def set_options(averages: tuple[str, ...]) -> tuple[Option, ...]:
    """The options that all set metrics share."""
    over_labels = ("macro", "micro", "weighted")
    options = [
        Option("average", "avg", averages[0], averages, help="what the mean is taken over"),
        Option(
            "labels",
            "labels",
            {"macro": "reference", "weighted": "reference", "micro": "union"},
            ("reference", "union", "given"),
            help="the labels that count: of the ground truth, of both sides, or the class list",
            averages=over_labels,
        ),
        Option(
            "count",
            "count",
            "set",
            ("set", "list"),
            help="count a repeated label once, or each time",
            averages=("example",),
        ),
        _policy("empty", "empty", "1", "nothing predicted and nothing true", ("example", "micro")),
        _policy("absent", "absent", "skip", "a label on neither side", LABEL_AVERAGES),
        _policy("no_prediction", "nopred", "0", "0/0 with nothing predicted"),
        _policy("no_reference", "noref", "0", "0/0 with nothing true"),
        _policy("undefined", "undef", "nan", "0/0 for another reason"),
        Option("decode", "decode", "all", help="the rule that makes sets", check=check_decode),
        Option("min_labels", "min", 0, kind=int, help="labels always kept", check=_check_count),
    ]
    chosen = set(averages)
    return tuple(o for o in options if o.averages is None or chosen & set(o.averages))


def cut_of(measure: Measure) -> Cut:
    """The cut that a measure's options describe."""
    return Cut(str(measure["decode"]), int(measure["min_labels"] or 0), measure.k)


@dataclass(frozen=True)
class ItemValues:
    """The formula on each item: its value, and the cause where it has none."""

    definition: Definition
    cut: Cut
    matches: Step[Matched]
    options: tuple[tuple[str, Value], ...] = ()
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Columns "value" (0 where undefined) and "cause"."""
        counts = Counts(self.cut, self.matches)
        if "precision_sum" in self.definition.arguments:
            extra = block.get(PrecisionSums(self.cut, self.matches))
            value, cause = self._values(block.get(counts), precision_sum=extra)
            return {"value": Dense(value), "cause": OneHot(cause, len(CAUSES))}
        distinct = block.get(Distinct(counts))
        value, cause = self._values(distinct.counts)
        return {
            "value": Coded(distinct.codes, value),
            "cause": OneHot(cause.take(distinct.codes), len(CAUSES)),
        }

    def _values(self, counts: ItemCounts, **more: Any) -> tuple[Floats, NDArray[np.int8]]:
        known = {"hit": counts.hit, "n_pred": counts.n_pred, "n_ref": counts.n_ref, **more}
        value = evaluate_formula(self.definition, known, self.options)
        cause = causes(value, counts.n_pred, counts.n_ref)
        return np.where(cause == 0, value, 0.0), cause


def evaluate_formula(
    definition: Definition, known: dict[str, Any], options: tuple[tuple[str, Value], ...]
) -> Floats:
    """The formula on counts, as floats."""
    if definition.formula is None:
        raise TypeError(f"{definition.name} has no formula")
    arguments = {name: known[name] for name in definition.arguments}
    values = np.asarray(definition.formula(**arguments, **dict(options)), np.float64)
    endless = np.isinf(values).any()
    if values.shape != known["hit"].shape or endless:
        raise InputError(
            f"the formula of {definition.name} gives "
            + ("an infinite value" if endless else f"an array of shape {values.shape}"),
            remedy="let it give one number for each count, nan where it is undefined",
        )
    return values


@dataclass(frozen=True)
class LabelCounts:
    """Hits, predictions and references of each label, each counted once an item."""

    cut: Cut
    additive: bool = True
    labels: frozenset[str] = frozenset(("hit", "n_pred", "n_ref"))

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Columns "hit", "n_pred", "n_ref" of shape (items, labels), and "items" (ones)."""
        ranked, ref = block.get(Ranked()), block.get(Reference())
        matched, kept = block.get(Matches("set", "class")), block.get(self.cut)
        chosen = None if matched.counted is None else matched.counted
        if (kept < np.diff(ranked.indptr)).any():
            inside = prefixes(ranked.indptr, kept)
            chosen = inside if chosen is None else inside & chosen
        hit = matched.hit if chosen is None else matched.hit & chosen
        predicted = ranked if chosen is None else ranked.keep(chosen)
        hits = ranked.keep(hit)
        distinct = ref if matched.once is None else ref.keep(matched.once)
        width = len(block.task.classes)
        return {
            "hit": Sparse(hits.indptr, hits.codes, width),
            "n_pred": Sparse(predicted.indptr, predicted.codes, width),
            "n_ref": Sparse(distinct.indptr, distinct.codes, width),
            "items": Dense(np.ones(len(block), np.int8)),
        }


class SetFamily:
    """Measures whose formula takes counts of hits, predictions and references."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values for ``example``, label counts for the other averages."""
        if measure["average"] == "example":
            own = own_options(measure)
            matches = Matches(str(measure["count"]))
            return ItemValues(measure.definition, cut_of(measure), matches, own)
        return LabelCounts(cut_of(measure))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The average."""
        if measure["average"] == "example":
            return mean_of_defined(measure, sums)
        values, n_ref, kept = self._values(measure, sums, frame)
        if measure["average"] == "micro":
            return np.where(kept, values, np.nan)[..., 0]
        if measure["labels"] == "reference":
            # only in a resample can a reference label be without references: it has none of it
            kept = kept & (n_ref > 0)
        weights = np.where(kept, n_ref if measure["average"] == "weighted" else 1.0, 0.0)
        # a label of weight 0 must not spread its nan
        total = np.where(weights > 0, values, 0.0) * weights
        return np.asarray(divide(total.sum(axis=-1), weights.sum(axis=-1)))

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Items, or labels, without a value by cause."""
        if measure["average"] == "example":
            return undefined_items(sums)
        raw, n_pred, n_ref = self._raw(measure, sums, frame)
        code = causes(raw, n_pred, n_ref)
        names = [cause_option(measure, name) for name in CAUSES]
        return {names[c]: int((code == c).sum()) for c in range(1, 5) if (code == c).any()}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The formula on each item."""
        if measure["average"] == "example":
            return item_values(rows)
        if measure["average"] != "micro":
            return None
        inside = frame.universe(str(measure["labels"]))
        known = {name: _row_counts(rows[name], inside) for name in ("hit", "n_pred", "n_ref")}
        known["total"] = np.full(len(known["hit"]), float(inside.sum()))
        return evaluate_formula(measure.definition, known, own_options(measure))

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """The value and counts of each label in the universe; nan where undefined."""
        if measure["average"] not in LABEL_AVERAGES:
            return None
        values, n_pred, n_ref = self._raw(measure, sums, frame)
        inside = frame.universe(str(measure["labels"]))
        hit = as_floats(sums["hit"])[inside]
        names = np.array(frame.labels, dtype=object)[inside]
        return {"label": names, "value": values, "support": n_ref, "predicted": n_pred, "hit": hit}

    def _raw(self, measure: Measure, sums: Sums, frame: Frame) -> tuple[Floats, Floats, Floats]:
        """The formula on labels (or all together for micro), label axis last; nan at 0/0."""
        inside = frame.universe(str(measure["labels"]))
        # in one layout, so that labels are added in one order whatever stands in front of them
        known = {
            name: np.ascontiguousarray(as_floats(sums[name])[..., inside])
            for name in ("hit", "n_pred", "n_ref")
        }
        items = as_floats(sums["items"])[..., None]
        if measure["average"] == "micro":
            known = {name: n.sum(axis=-1, keepdims=True) for name, n in known.items()}
            items = items * inside.sum()
        total = np.broadcast_to(items, known["hit"].shape)
        options = own_options(measure)
        value = evaluate_formula(measure.definition, {**known, "total": total}, options)
        return value, known["n_pred"], known["n_ref"]

    def _values(self, measure: Measure, sums: Sums, frame: Frame) -> tuple[Floats, Floats, Bools]:
        values, n_pred, n_ref = self._raw(measure, sums, frame)
        values, kept = apply_policies(measure, values, causes(values, n_pred, n_ref))
        return values, n_ref, kept


def own_options(measure: Measure) -> tuple[tuple[str, Value], ...]:
    """The options that the formula itself takes."""
    own = measure.definition.extra.get("own", ())
    return tuple((name, value) for name, value in measure.options if name in own)


def _row_counts(column: Any, inside: Bools) -> Floats:
    rows = row_numbers(column.indptr)
    return np.bincount(rows, inside[column.codes], minlength=len(column)).astype(np.float64)
