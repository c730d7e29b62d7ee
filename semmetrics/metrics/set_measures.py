"""Measures of label sets: a formula on counts becomes a measure, under every average.

Conventions
-----------
``average=example`` is the mean of the formula over items; ``macro`` its mean over labels;
``weighted`` that mean with the number of references as weights; ``micro`` the formula on the
counts of all labels together. Policies say what counts where the formula is 0/0, see
`semmetrics.metrics.families`.

Examples
--------
A metric of one's own is a formula on counts of an item, a label or the whole:

>>> from semmetrics.metrics.formulas import divide
>>> @measure(averages=("example", "micro"), source="Szymkiewicz 1934", symmetric=True)
... def OverlapExample(hit, n_pred, n_ref):
...     "Shared labels over the size of the smaller set."
...     return divide(hit, np.minimum(n_pred, n_ref))
>>> str(OverlapExample(average="micro"))
'OverlapExample(average=micro)'
>>> from semmetrics.metrics.registry import forget
>>> forget(OverlapExample)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.columns import Coded, Dense, OneHot, Sparse, as_floats
from semmetrics.core.ragged import Floats, prefixes, row_numbers
from semmetrics.data.tasks import Block, LabelTask, Step
from semmetrics.errors import InputError
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    ItemSums,
    Measure,
    Option,
    Statistic,
    Sums,
    Value,
)
from semmetrics.metrics.families import (
    CAUSES,
    LABEL_AVERAGES,
    CountFormulas,
    apply_policies,
    causes,
    choose_policies,
    evaluate_formula,
    formula_options,
    policy_option,
    support_weights,
    universe_option,
    weighted_mean,
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
    cut_of,
)
from semmetrics.metrics.registry import add
from semmetrics.options import clean_rule

_COUNTS = ("hit", "n_pred", "n_ref", "total", "precision_sum")
_AVERAGES = ("example", "micro", "macro", "weighted")


def check_decode(value: Value) -> None:
    """Refuse a decoding rule that is not written rightly."""
    rule, _, number = str(value).partition(":")
    plain = ("all", "cardinality", "cardinality+scores", "cardinality+scores:code")
    if value in (*plain, "threshold:best"):
        return
    with suppress(ValueError):
        if rule in ("threshold", "cumulative") and np.isfinite(float(number)):
            return
    wanted = "a decoding rule: all, threshold:0.5, threshold:best, cumulative:0.5, cardinality or "
    wanted += "cardinality+scores"
    raise InputError("bad-option", name="decode", value=value, wanted=wanted)


def _check_count(value: int) -> None:
    if value < 0:
        wanted = "a whole number from 0"
        raise InputError("bad-option", name="keep_at_least", value=value, wanted=wanted)


def set_options(
    averages: tuple[str, ...],
    *,
    without: tuple[str, ...] = (),
    defaults: Mapping[str, Value] | None = None,
) -> tuple[Option, ...]:
    """Return the options that all set metrics share, but for some, and with other defaults."""
    over_labels = ("macro", "micro", "weighted")
    options = [
        Option("average", "avg", averages[0], averages, help="what the mean is taken over"),
        universe_option(over_labels),
        Option("duplicates", "dup", "once", ("once", "each"), averages=("example",),
               help="count a repeated label once, or each time"),
        policy_option("empty", "empty", "1", "nothing predicted and nothing true",
                      ("example", "micro")),
        policy_option("absent", "absent", "skip", "a label on neither side", LABEL_AVERAGES),
        policy_option("no_prediction", "nopred", "0", "0/0 with nothing predicted"),
        policy_option("no_reference", "noref", "0", "0/0 with nothing true"),
        policy_option("undefined", "undef", "nan", "0/0 for another reason"),
        Option("decode", "decode", "all", help="the rule that makes sets",
               check=check_decode, clean=clean_rule),
        Option("keep_at_least", "min", 0, kind=int, help="labels always kept", check=_check_count),
    ]  # fmt: skip
    chosen, other = set(averages), defaults or {}
    return tuple(
        replace(o, default=other.get(o.name, o.default))
        for o in options
        if o.name not in without and (o.averages is None or chosen & set(o.averages))
    )


@dataclass(frozen=True)
class ItemValues(ItemSums):
    """The formula on each item: its value, and the cause where it has none."""

    definition: Definition
    cut: Cut
    matches: Step[Matched]
    options: tuple[tuple[str, Value], ...] = ()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Compute the columns "value" (0 where undefined) and "cause"."""
        counts = Counts(self.cut, self.matches)
        if "precision_sum" in self.definition.arguments:
            extra = block.get(PrecisionSums(self.cut, self.matches))
            value, cause = self._values(block.get(counts), precision_sum=extra)
            return {"value": Dense(value), "cause": OneHot(cause, len(CAUSES))}
        distinct = block.get(Distinct(counts))
        value, cause = self._values(distinct.counts)
        causes_of = OneHot(cause.take(distinct.codes), len(CAUSES))
        return {"value": Coded(distinct.codes, value), "cause": causes_of}

    def _values(self, counts: ItemCounts, **more: Any) -> tuple[Floats, NDArray[np.int8]]:
        known = {"hit": counts.hit, "n_pred": counts.n_pred, "n_ref": counts.n_ref, **more}
        value = evaluate_formula(self.definition, known, self.options)
        cause = causes(value, counts.n_pred, counts.n_ref)
        return np.where(cause == 0, value, 0.0), cause


@dataclass(frozen=True)
class LabelCounts:
    """Hits, predictions and references of each label, each counted once an item."""

    cut: Cut
    additive: bool = True
    labels: frozenset[str] = frozenset(("hit", "n_pred", "n_ref"))

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Count "hit", "n_pred", "n_ref" of shape (items, labels), and "items" (ones)."""
        ranked, ref = block.get(Ranked()), block.get(Reference())
        matched, kept = block.get(Matches("once", "class")), block.get(self.cut)
        chosen = matched.counted
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


class SetFamily(CountFormulas):
    """Formulas on counts of label sets: ``macro`` and ``weighted`` average over labels."""

    def counts(self, measure: Measure) -> Statistic:
        """Choose the counts of each label."""
        return LabelCounts(cut_of(measure))

    def statistic(self, measure: Measure) -> Statistic:
        """Choose item values for ``example``, label counts for the other averages."""
        if measure["average"] != "example":
            return self.counts(measure)
        options, matches = formula_options(measure), Matches(str(measure["duplicates"]))
        return ItemValues(measure.definition, cut_of(measure), matches, options)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over items or labels, or evaluate the formula on the counts of all."""
        if measure["average"] not in LABEL_AVERAGES:
            return super().aggregate(measure, sums, frame)
        known = self.together(measure, sums, frame)
        values, kept = apply_policies(measure, *self._evaluated(measure, sums, frame))
        if measure["labels"] == "reference":
            # only in a resample can a reference label be without references: it has none of it
            kept = kept & (known["n_ref"] > 0)
        if measure["average"] == "weighted":
            return weighted_mean(values, support_weights(known["n_ref"], kept))
        return weighted_mean(values, kept.astype(np.float64))

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item; None where it is averaged over labels."""
        if measure["average"] in LABEL_AVERAGES:
            return None
        return super().items(measure, rows, frame)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """Return the value and counts of each label in the universe; nan where undefined."""
        if measure["average"] not in LABEL_AVERAGES:
            return None
        known = self.together(measure, sums, frame)
        names = np.array(frame.labels, dtype=object)[frame.universe(measure)]
        return {
            "label": names,
            "value": self._evaluated(measure, sums, frame)[0],
            "support": known["n_ref"],
            "predicted": known["n_pred"],
            "hit": known["hit"],
        }

    def together(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, Floats]:
        """Return the counts of each label in the universe, or of all (micro); label axis last."""
        inside = frame.universe(measure)
        # in one layout, so that labels are added in one order whatever stands in front of them
        known = {
            name: np.ascontiguousarray(as_floats(sums[name])[..., inside])
            for name in ("hit", "n_pred", "n_ref")
        }
        items = as_floats(sums["items"])[..., None]
        if measure["average"] == "micro":
            known = {name: n.sum(axis=-1, keepdims=True) for name, n in known.items()}
            items = items * inside.sum()
        return {**known, "total": np.broadcast_to(items, known["hit"].shape)}

    def item_counts(self, measure: Measure, rows: Columns, frame: Frame) -> dict[str, Floats]:
        """Return the counts of each item within the universe."""
        inside, columns = frame.universe(measure), dict[str, Any](rows)
        known: dict[str, Floats] = {"total": np.full(len(columns["hit"]), float(inside.sum()))}
        for name in ("hit", "n_pred", "n_ref"):
            column = columns[name]
            counted, items = inside[column.codes], row_numbers(column.indptr)
            known[name] = np.bincount(items, counted, len(column)).astype(np.float64)
        return known


@overload
def measure(formula: Callable[..., Any], /) -> Definition: ...


@overload
def measure(
    *,
    kind: str = ...,
    averages: tuple[str, ...] = ...,
    bounds: tuple[float, float] = ...,
    higher_is_better: bool = ...,
    symmetric: bool = ...,
    order_invariant: bool = ...,
    source: str = ...,
    equation: str = ...,
    cite: tuple[str, ...] = ...,
    name: str | None = ...,
    defaults: Mapping[str, Value] | None = ...,
    policies: Container[str] | None = ...,
    aliases: Mapping[str, str] | None = ...,
) -> Callable[[Callable[..., Any]], Definition]: ...


def measure(
    formula: Callable[..., Any] | None = None,
    /,
    *,
    kind: str = "labels",
    averages: tuple[str, ...] = ("example",),
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    symmetric: bool = False,
    order_invariant: bool = True,
    source: str = "",
    equation: str = "",
    cite: tuple[str, ...] = (),
    name: str | None = None,
    defaults: Mapping[str, Value] | None = None,
    policies: Container[str] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Definition | Callable[[Callable[..., Any]], Definition]:
    """Make a set metric of a formula on counts, and register it.

    The formula's positional parameters say which counts it takes, all arrays of one shape: ``hit``
    (predictions that match), ``n_pred``, ``n_ref``, and, but for ``average=example``, ``total``
    (items for a label; items times labels for micro); ``precision_sum`` (precision at each hit,
    summed) for ``average=example`` alone. It returns nan where it is undefined. Its keyword-only
    parameters become options of the measure. It takes the place of an earlier measure of your own
    with the same name.

    Parameters
    ----------
    formula : callable
        Given by ``@measure`` without parentheses.
    kind : str
        What the measure evaluates.
    averages : tuple of {"example", "micro", "macro", "weighted"}
        The first is the default.
    bounds, higher_is_better, symmetric, order_invariant
        Traits; the property tests hold the metric to them.
    source, equation, cite
        Where it comes from.
    name : str, optional
        The function's name when left out.
    defaults : mapping, optional
        Other defaults for the shared options.
    policies : tuple of str, optional
        The policies that can be chosen, such as "empty": those whose 0/0 the formula has. All when
        left out.
    aliases : mapping, optional
        Other names, and the measures that they stand for.

    Returns
    -------
    Definition, or the decorator that gives it
        It is called with options to choose them.

    Raises
    ------
    InputError
        If a name is taken by a measure that comes with semmetrics or is an alias of another, or a
        parameter of the formula is neither a count nor keyword-only.

    Examples
    --------
    >>> from semmetrics.metrics.formulas import divide
    >>> from semmetrics.metrics.registry import forget
    >>> @measure
    ... def Hits(hit, n_ref):
    ...     return divide(hit, n_ref)
    >>> Hits(), "average" in Hits()
    (Measure('Hits'), True)
    >>> forget(Hits)
    """

    def decorate(formula: Callable[..., Any]) -> Definition:
        own = _own_options(formula, averages)
        shared = set_options(averages, defaults=defaults)
        if policies is not None:
            shared = choose_policies(shared, policies)
        known = [option.name for option in shared]
        for wrong in defaults or {}:
            check_choice("defaults", wrong, known)
        summary = (inspect.getdoc(formula) or "").split("\n")[0]
        return add(
            Definition(
                name or formula.__name__, SetFamily(), summary, equation, source, cite,
                shared + own, averages, bounds, higher_is_better, symmetric, order_invariant,
                kind=kind, formula=formula,
            ),
            aliases,
        )  # fmt: skip

    return decorate if formula is None else decorate(formula)


def _own_options(formula: Callable[..., Any], averages: tuple[str, ...]) -> tuple[Option, ...]:
    """Check a formula's parameters, and make options of those that are keyword-only."""
    for average in averages or ("",):
        check_choice("averages", average, _AVERAGES)
    counts, own = [], []
    hints = get_type_hints(formula)
    for name, parameter in inspect.signature(formula).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            own.append(_own_option(name, parameter, hints.get(name, str)))
        elif name in _COUNTS and parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            counts.append(name)
        else:
            raise InputError(
                "wrong-formula", measure=formula.__name__, problem=f"takes {name!r}",
                remedy=f"use the counts {', '.join(_COUNTS)}; options are keyword-only",
            )  # fmt: skip
    for count, allowed in (("total", _AVERAGES[1:]), ("precision_sum", _AVERAGES[:1])):
        if count in counts and not set(averages) <= set(allowed):
            remedy = f"choose averages among {', '.join(allowed)}"
            problem = f"takes {count!r}, which other averages do not have"
            raise InputError(
                "wrong-formula", measure=formula.__name__, problem=problem, remedy=remedy
            )
    return tuple(own)


def _own_option(name: str, parameter: inspect.Parameter, hint: Any) -> Option:
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    kind = type(choices[0]) if choices else hint
    if kind not in (str, int, float) or not all(type(choice) is kind for choice in choices):
        wanted = "an annotation str, int, float or Literal[…]"
        raise InputError("bad-option", name=name, value=hint, wanted=wanted)
    required = parameter.default is inspect.Parameter.empty
    default, text = parameter.default, _HELP.get(name, "an option of the formula")
    return Option(name, name, None if required else default, choices, kind, text, required=required)


_HELP = {
    "q": "the number of labels of the data set",
    "normalize": "divide by the hits (Kubany et al. 2020), or by the references",
}
