"""Precision, recall, F1 and their relatives on label sets; `measure` makes more of them.

Conventions
-----------
``hit`` counts predicted labels that are in the reference set, ``n_pred`` and ``n_ref`` the labels
of each side. ``average=example`` is the mean of a formula on the counts of each item; ``macro`` its
mean over labels, on counts over all items; ``weighted`` that mean with the number of references as
weights; ``micro`` the formula on the counts of all labels together. Values lie in [0, 1]. Policies
say what counts where a formula is 0/0, see `semmetrics.metrics.families`.

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
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints, overload

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.columns import Dense, Sparse, as_floats
from semmetrics.core.ragged import Floats, prefixes, row_numbers
from semmetrics.data.tasks import Block, LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics import definition, families, formulas, matching
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    Measure,
    Option,
    Sums,
    Value,
)
from semmetrics.metrics.families import LABEL_AVERAGES, CountFormulas
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.registry import define
from semmetrics.options import DECODING, clean_rule

_COUNTS = ("hit", "n_pred", "n_ref", "total", "precision_sum")
_ALL = ("example", "macro", "micro", "weighted")


def check_decode(value: str) -> str:
    """Refuse a decoding rule that is not written rightly; write its number in one way."""
    rule, _, number = value.partition(":")
    plain = ("all", "cardinality", "cardinality+scores", "cardinality+scores:code")
    if value in (*plain, "threshold:best"):
        return value
    with suppress(ValueError):
        numbered = rule in ("threshold", "at-least", "cumulative", "dirichlet")
        if (
            numbered
            and np.isfinite(float(number))
            and (rule != "dirichlet" or float(number) > 0)
        ):
            return str(clean_rule(value))
    wanted = f"a decoding rule such as {', '.join(DECODING)}"
    raise InputError("bad-option", name="decode", value=value, wanted=wanted)


def set_options(
    averages: tuple[str, ...],
    *,
    without: tuple[str, ...] = (),
    defaults: Mapping[str, Value] | None = None,
    policies: Container[str] | None = None,
) -> tuple[Option, ...]:
    """Return the options that all set metrics share, but for some, and with other defaults.

    Where policies are named, only they can be chosen.
    """
    policy = families.policy_option
    options = [
        Option(
            "average", "avg", averages[0], averages, help="what the mean is taken over"
        ),
        definition.universe_option(("macro", "micro", "weighted")),
        Option(
            "duplicates",
            "dup",
            "once",
            ("once", "each"),
            averages=("example",),
            help="count a repeated label once, or each time",
        ),
        policy(
            "empty",
            "empty",
            "1",
            "nothing predicted and nothing true",
            ("example", "micro"),
        ),
        policy("absent", "absent", "skip", "a label on neither side", LABEL_AVERAGES),
        policy("no_prediction", "nopred", "0", "0/0 with nothing predicted"),
        policy("no_reference", "noref", "0", "0/0 with nothing true"),
        policy("undefined", "undef", "nan", "0/0 for another reason"),
        Option(
            "decode",
            "decode",
            "all",
            help="the rule that makes sets",
            check=check_decode,
        ),
        Option(
            "keep_at_least",
            "min",
            0,
            kind=int,
            help="labels always kept",
            within=(0, np.inf),
        ),
    ]
    chosen, other = set(averages), defaults or {}
    shared = tuple(
        o._replace(default=other.get(o.name, o.default))
        for o in options
        if o.name not in without and (o.averages is None or chosen & set(o.averages))
    )
    return shared if policies is None else families.choose_policies(shared, policies)


@dataclass(frozen=True, repr=False)
class LabelCounts(definition.Statistic):
    """Hits, predictions and references of each label, each counted once an item."""

    cut: matching.Cut
    labels = frozenset(("hit", "n_pred", "n_ref", "unverified", "verified"))

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Count "hit", "n_pred", "n_ref" of shape (items, labels), and "items" (ones)."""
        ranked, ref = matching.sides_of(block)
        matched, kept = (
            block.get(matching.Matches("once", "class")),
            block.get(self.cut),
        )
        chosen = matched.counted
        if (kept < np.diff(ranked.indptr)).any():
            inside = prefixes(ranked.indptr, kept)
            chosen = inside if chosen is None else inside & chosen
        hit = matched.hit if chosen is None else matched.hit & chosen
        predicted = ranked if chosen is None else ranked.keep(chosen)
        distinct = ref if matched.once is None else ref.keep(matched.once)
        sides = {"hit": ranked.keep(hit), "n_pred": predicted, "n_ref": distinct}
        if block.task.unverified is not None:
            cells = block.task.unverified.cells.rows(block.start, block.stop)
            sides[block.task.unverified.name] = cells
        width = len(block.task.classes)
        columns = {
            name: Sparse(side.indptr, side.codes, width) for name, side in sides.items()
        }
        return {**columns, "items": Dense(np.ones(len(block), np.int8))}


@dataclass(frozen=True, repr=False)
class PaddedCounts(definition.Statistic):
    """Counts of items in which every item has k predictions, as if short lists were padded."""

    counts: definition.Statistic
    k: int

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Replace the number of predictions by k."""
        columns = dict(block.get(self.counts))
        columns["n_pred"] = Dense(np.full(len(columns["n_pred"]), self.k))
        return columns


class SetFamily(CountFormulas):
    """Formulas on counts of label sets: ``macro`` and ``weighted`` average over labels."""

    def counts(self, measure: Measure) -> definition.Statistic:
        """Choose counts of items for ``example``, of labels for the other averages."""
        cut = matching.cut_of(measure)
        if measure["average"] != "example":
            _check_cutoff(measure)
            return LabelCounts(cut)
        matches = matching.Matches(str(measure["duplicates"]))
        if "precision_sum" in measure.definition.arguments:
            return matching.CountColumns(cut, matches, ranks=True)
        if measure["denominator"] == "cutoff":
            return PaddedCounts(
                matching.DistinctCounts(cut, matches), _check_cutoff(measure)
            )
        return matching.DistinctCounts(cut, matches)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over items or labels, or evaluate the formula on the counts of all."""
        if measure["average"] not in LABEL_AVERAGES:
            return super().aggregate(measure, sums, frame)
        known = self.together(measure, sums, frame)
        values, kept = families.apply_policies(
            measure, *self._evaluated(measure, sums, frame)
        )
        if measure["labels"] == "reference":
            # only in a resample can a reference label be without references: it has none of it
            kept = kept & (known["n_ref"] > 0)
        return families.label_mean(measure, values, known["n_ref"], kept)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item; None where it is averaged over labels."""
        if measure["average"] in LABEL_AVERAGES:
            return None
        return super().items(measure, rows, frame)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> definition.LabelTable | None:
        """Return the value and counts of each label in the universe; nan where undefined."""
        if measure["average"] not in LABEL_AVERAGES:
            return None
        known = self.together(measure, sums, frame)
        return {
            "label": np.array(frame.labels, dtype=object)[frame.universe(measure)],
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
        total = np.broadcast_to(items, known["hit"].shape)
        if "verified" in sums:
            total = np.ascontiguousarray(as_floats(sums["verified"])[..., inside])
        elif "unverified" in sums:
            total = total - np.ascontiguousarray(
                as_floats(sums["unverified"])[..., inside]
            )
        if measure["average"] == "micro":
            total = total.sum(axis=-1, keepdims=True)
            known = {name: n.sum(axis=-1, keepdims=True) for name, n in known.items()}
            if measure["denominator"] == "cutoff":
                known["n_pred"] = items * _check_cutoff(measure)
        return {**known, "total": total}

    def item_counts(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of each item within the universe."""
        inside = frame.universe(measure)
        total = np.full(len(rows["hit"]), float(inside.sum()))
        known: dict[str, Floats] = {}
        for name in ("hit", "n_pred", "n_ref", "verified", "unverified"):
            if name not in rows:
                continue
            column = rows[name]
            counted, items = inside[column.codes], row_numbers(column.indptr)
            known[name] = np.bincount(items, counted, len(column)).astype(np.float64)
        known["total"] = known.get("verified", total - known.get("unverified", 0.0))
        if measure["denominator"] == "cutoff":
            known["n_pred"] = np.full(len(known["hit"]), float(_check_cutoff(measure)))
        return known


def _check_cutoff(measure: Measure) -> int:
    """Return the cutoff of a measure, 0 without one.

    Raises
    ------
    InputError
        If the measure divides by a cutoff that it does not have.
    """
    if measure["denominator"] == "cutoff" and measure.k is None:
        raise InputError("no-cutoff", measure=measure, wanted=f"{measure}@5")
    return measure.k or 0


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
    kind : {"labels"}
        What the measure evaluates. A formula on counts can only be a measure of label sets.
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
        If the kind is not "labels", a name is taken by a measure that comes with semmetrics or is
        an alias of another, or a parameter of the formula is neither a count nor keyword-only.

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
    if kind != "labels":
        raise InputError("measure-of-kind", value=kind)

    def decorate(formula: Callable[..., Any]) -> Definition:
        own = _own_options(formula, averages)
        shared = set_options(averages, defaults=defaults, policies=policies)
        for wrong in defaults or {}:
            check_choice("defaults", wrong, [option.name for option in shared])
        summary = (inspect.getdoc(formula) or "").split("\n")[0]
        return define(
            name or formula.__name__,
            SetFamily(),
            summary,
            equation,
            source,
            cite,
            shared + own,
            averages,
            bounds,
            higher_is_better,
            symmetric,
            order_invariant,
            kind=kind,
            formula=formula,
            aliases=aliases or {},
        )

    return decorate if formula is None else decorate(formula)


def _own_options(
    formula: Callable[..., Any], averages: tuple[str, ...]
) -> tuple[Option, ...]:
    """Check a formula's parameters, and make options of those that are keyword-only."""
    for average in averages:
        check_choice("averages", average, _ALL)
    own = []
    hints = get_type_hints(formula)
    for name, parameter in inspect.signature(formula).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            if name not in _COUNTS:
                values = {"measure": formula.__name__, "problem": f"takes {name!r}"}
                remedy = (
                    f"use the counts {', '.join(_COUNTS)}; options are keyword-only"
                )
                raise InputError("wrong-formula", remedy=remedy, **values)
            continue
        hint = hints.get(name, str)
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        kind = type(choices[0]) if choices else hint
        if kind not in (str, int, float) or not all(
            type(choice) is kind for choice in choices
        ):
            wanted = "an annotation str, int, float or Literal[…]"
            raise InputError("bad-option", name=name, value=hint, wanted=wanted)
        required = parameter.default is parameter.empty
        text = _HELP.get(name, "an option of the formula")
        default = None if required else parameter.default
        own.append(Option(name, name, default, choices, kind, text, required=required))
    return tuple(own)


_HELP = {
    "q": "the number of labels of the data set",
    "beta": "how many times as much recall weighs as precision",
    "normalize": "divide by the hits (Kubany et al. 2020), or by the references",
}


_DENOMINATOR = Option(
    "denominator",
    "denom",
    "predictions",
    ("predictions", "cutoff"),
    help="the number of predictions of an item: those that it has, or the cutoff k",
    averages=("example", "micro"),
)

Precision = define(
    "Precision",
    SetFamily(),
    "Share of the predicted labels that are true.",
    "|Y ∩ Z| / |Z|",
    "Kubany et al. 2020, equations 2, 7 and 10 (Godbole & Sarawagi 2004)",
    ("kubany2020", "godbole2004"),
    (*set_options(_ALL, policies=("empty", "absent", "no_prediction")), _DENOMINATOR),
    _ALL,
    formula=formulas.precision,
    aliases={
        "MacroPrecision": "Precision(average=macro)",
        "MicroPrecision": "Precision(average=micro)",
        "CP": "Precision(average=macro,absent=0)",
        "OP": "Precision(average=micro)",
    },
)


@measure(
    averages=_ALL,
    equation="|Y ∩ Z| / |Y|",
    source="Kubany et al. 2020, equations 3, 8 and 11 (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    policies=("empty", "absent", "no_reference"),
    aliases={
        "MacroRecall": "Recall(average=macro)",
        "MicroRecall": "Recall(average=micro)",
        "CR": "Recall(average=macro,no_reference=skip)",
        "OR": "Recall(average=micro)",
    },
)
def Recall(hit: Any, n_ref: Any) -> Any:
    """Share of the true labels that are predicted."""
    return formulas.recall(hit, n_ref)


F1 = define(
    "F1",
    SetFamily(),
    "Harmonic mean of precision and recall.",
    "2 |Y ∩ Z| / (|Y| + |Z|)",
    "Kubany et al. 2020, equations 4, 9 and 12",
    ("kubany2020",),
    (*set_options(_ALL, policies=("empty", "absent")), _DENOMINATOR),
    _ALL,
    symmetric=True,
    formula=formulas.f1,
    aliases={
        "MacroF1": "F1(average=macro)",
        "MicroF1": "F1(average=micro)",
        "OF1": "F1(average=micro)",
    },
)


class ClassF1(SetFamily):
    """The harmonic mean of CP and CR, which are means over classes."""

    def terms(self, measure: Measure) -> tuple[Measure, Measure]:
        """Return CP and CR, over the labels of the measure."""
        shared: Any = {"average": "macro", "labels": measure["labels"]}
        return Precision(**shared, absent="0"), Recall(**shared, no_reference="skip")

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Compute the harmonic mean of both means; 0 where both are 0."""
        each = [
            super(ClassF1, self).aggregate(m, sums, frame) for m in self.terms(measure)
        ]
        return np.asarray(formulas.harmonic_mean(*each))

    def by_cause(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the labels without a recall, by cause."""
        return super().by_cause(self.terms(measure)[1], sums, frame)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> definition.LabelTable | None:
        """Return None: a label alone has no value."""
        return None


CF1 = define(
    "CF1",
    ClassF1(),
    "Harmonic mean of the means over classes of precision and recall (CP, CR). It is neither the "
    "mean of the classes' F1 (MacroF1) nor C-F1 of pineda2019.",
    "2 CP CR / (CP + CR)",
    "Chen et al. 2019, section 4.1, and the released code of ML-GCN",
    ("chen2019",),
    set_options(("macro",), without=("absent", *families.CAUSES)),
    ("macro",),
)


@measure(
    averages=_ALL,
    equation="(1 + β²) |Y ∩ Z| / (β² |Y| + |Z|)",
    source="van Rijsbergen 1979, chapter 7",
    cite=("vanrijsbergen1979",),
    policies=("empty", "absent"),
)
def FBeta(hit: Any, n_pred: Any, n_ref: Any, *, beta: float) -> Any:
    """Harmonic mean of precision and recall in which recall weighs beta times as much."""
    if not 0 < beta < 1e6:
        wanted = "a number above 0, below 1e6"
        raise InputError(
            "bad-option", name="beta", value=beta, wanted=wanted, in_measure=True
        )
    return divide((1 + beta**2) * hit, beta**2 * n_ref + n_pred)


@measure(
    averages=_ALL,
    symmetric=True,
    equation="|Y ∩ Z| / |Y ∪ Z|",
    source="Kubany et al. 2020, equation 1, there called accuracy (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    policies=("empty", "absent"),
    aliases={
        "MacroJaccard": "Jaccard(average=macro)",
        "MicroJaccard": "Jaccard(average=micro)",
    },
)
def Jaccard(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Labels on both sides over labels on either side."""
    return formulas.jaccard(hit, n_pred, n_ref)


@measure(
    averages=("example",),
    symmetric=True,
    equation="1 if Y = Z else 0",
    source="Sorower 2010, exact match ratio",
    cite=("sorower2010",),
    policies=("empty",),
)
def SubsetAccuracy(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Share of the items whose predicted set is exactly the true set."""
    same = ((hit == n_pred) & (hit == n_ref)).astype(np.float64)
    return np.where((n_pred == 0) & (n_ref == 0), np.nan, same)


@measure(
    averages=("micro", "macro"),
    symmetric=True,
    higher_is_better=False,
    equation="|Y Δ Z| / q",
    source="Schapire & Singer 2000; Tsoumakas et al. 2009",
    cite=("schapire2000", "tsoumakas2009"),
    defaults={"empty": "0"},
    policies=("empty",),
)
def HammingLoss(hit: Any, n_pred: Any, n_ref: Any, total: Any) -> Any:
    """Share of the item-label pairs that are wrong."""
    return divide(n_pred + n_ref - 2 * hit, total)


@measure(
    averages=("example",),
    order_invariant=False,
    equation="Σ over hits of (hits so far / rank), over the hits or the references",
    source="Kubany et al. 2020, reference code (normalize=hits); Manning et al. 2008, section 8.4",
    cite=("kubany2020", "manning2008"),
    policies=("empty", "no_prediction", "no_reference"),
)
def AP(
    precision_sum: Any,
    hit: Any,
    n_pred: Any,
    n_ref: Any,
    *,
    normalize: Literal["references", "hits"] = "references",
) -> Any:
    """Average precision of the ranked labels of an item; 0 where none is a hit."""
    return formulas.average_precision(
        precision_sum, hit, n_pred, n_ref, normalize=normalize
    )


@measure(
    averages=("example",),
    equation="(tp / (tp + fn) + tn / (tn + fp)) / 2, tn = q - tp - fp - fn",
    source="Brodersen et al. 2010; per image in the reference code of Kubany et al. 2020",
    cite=("brodersen2010", "kubany2020"),
)
def BalancedAccuracy(hit: Any, n_pred: Any, n_ref: Any, *, q: int) -> Any:
    """Mean of an item's recall and of its recall of labels that are not true."""
    if q < max(np.max(n_pred + n_ref - hit, initial=0), 1):
        wanted = "the number of labels of the data set, not less than those of an item"
        raise InputError(
            "bad-option", name="q", value=q, wanted=wanted, in_measure=True
        )
    negative = q - n_ref
    return (divide(hit, n_ref) + divide(negative - (n_pred - hit), negative)) / 2


@measure(
    averages=("example",),
    symmetric=True,
    higher_is_better=False,
    bounds=(0.0, np.inf),
    equation="| |Z| - |Y| |",
    source="Pineda, Salvador et al. 2019, figure 3",
    cite=("pineda2019",),
    policies=(),
)
def CardinalityError(n_pred: Any, n_ref: Any) -> Any:
    """Difference between the numbers of predicted and true labels, without its sign."""
    return np.abs(np.asarray(n_pred, np.float64) - n_ref)


_EPS = 1e-8


def _smoothed_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    precision = (hit + _EPS) / (n_pred + _EPS)
    recall = (hit + _EPS) / (n_ref + _EPS)
    return formulas.harmonic_mean(precision, recall)


def _smoothed_class_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    value = _smoothed_f1(hit, n_pred, n_ref)
    return np.where((n_pred == 0) & (n_ref == 0), np.nan, value)


def _smoothed(
    name: str,
    average: str,
    summary: str,
    formula: Callable[..., Any] = _smoothed_f1,
    policies: tuple[str, ...] = (),
    **defaults: Value,
) -> Definition:
    options = set_options((average,), defaults=defaults, policies=policies)
    equation = (
        "2PR / (P + R), P = (tp + eps)/(tp + fp + eps), R = (tp + eps)/(tp + fn + eps)"
    )
    source = "Pineda, Salvador et al. 2019, section 3.3, with the reference code's eps = 1e-8"
    return define(
        name,
        SetFamily(),
        summary,
        equation,
        source,
        ("pineda2019",),
        options,
        (average,),
        symmetric=True,
        formula=formula,
    )


_smoothed(
    "O-F1",
    "micro",
    "Overall F1: of the counts of all labels together; nothing on either side scores 1. It is OF1 "
    "(MicroF1) but for eps.",
)
_smoothed(
    "C-F1",
    "macro",
    "Per-class F1: mean over the dictionary; a class absent on both sides scores 1. It is not CF1, "
    "the harmonic mean of two means over classes.",
    _smoothed_class_f1,
    ("absent",),
    labels="given",
    absent="1",
)
_smoothed(
    "I-F1",
    "example",
    "Per-image F1: mean over images; an empty prediction of an empty set scores 1.",
)
