"""Precision, recall, F1 and related measures of label sets.

Conventions
-----------
``hit`` counts predicted labels that are in the reference set, ``n_pred`` and ``n_ref`` the
labels of each side. Values are in [0, 1]. `set_families` explains the averages, and
`families` the policies for a formula that is 0/0.

Most measures are functions with the decorator `measure`. A parameter such as ``n_ref``
gets the counts of that name. You can also define your own measures in this way. Precision
and F1 call `define` because they have the option ``denominator``, and CF1 because it has
its own family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.metrics import families, formulas
from semmetrics.metrics.count_measures import measure
from semmetrics.metrics.definition import Definition, Frame, LabelTable, Measure, Sums
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import ALL_AVERAGES, MeasureOption, OptionValue
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_families import SetFamily
from semmetrics.metrics.set_options import set_options

_DENOMINATOR = MeasureOption(
    name="denominator",
    short="denom",
    default="predictions",
    choices=("predictions", "cutoff"),
    help="the number of predictions of an item that precision divides by: the "
    "actual number, or the cutoff k",
    averages=("example", "micro"),
)

Precision = define(
    name="Precision",
    family=SetFamily(),
    summary="Share of the predicted labels that are true.",
    equation="|Y ∩ Z| / |Z|",
    source="Kubany et al. 2020, equations 2, 7 and 10 (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    options=(
        *set_options(ALL_AVERAGES, policies=("empty", "absent", "no_prediction")),
        _DENOMINATOR,
    ),
    averages=ALL_AVERAGES,
    formula=formulas.precision,
    aliases={
        "MacroPrecision": "Precision(average=macro)",
        "MicroPrecision": "Precision(average=micro)",
        "CP": "Precision(average=macro,absent=0)",
        "OP": "Precision(average=micro)",
    },
)


@measure(
    averages=ALL_AVERAGES,
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
    name="F1",
    family=SetFamily(),
    summary="Harmonic mean of precision and recall.",
    equation="2 |Y ∩ Z| / (|Y| + |Z|)",
    source="Kubany et al. 2020, equations 4, 9 and 12",
    cite=("kubany2020",),
    options=(*set_options(ALL_AVERAGES, policies=("empty", "absent")), _DENOMINATOR),
    averages=ALL_AVERAGES,
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
        """Return CP and CR over the labels of the measure."""
        labels = measure["labels"]
        cp = Precision(average="macro", labels=labels, absent="0")
        cr = Recall(average="macro", labels=labels, no_reference="skip")
        return cp, cr

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Compute the harmonic mean of both means. It is 0 if both are 0."""
        cp, cr = self.terms(measure)
        mean_precision = super().aggregate(cp, sums, frame)
        mean_recall = super().aggregate(cr, sums, frame)
        return np.asarray(formulas.harmonic_mean(mean_precision, mean_recall))

    def count_by_cause(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, int]:
        """Count the labels without a recall, by cause."""
        _, cr = self.terms(measure)
        return super().count_by_cause(cr, sums, frame)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> LabelTable | None:
        """Return None: a single label has no value."""
        return None


CF1 = define(
    name="CF1",
    family=ClassF1(),
    summary="Harmonic mean of the class means of precision (CP) and recall (CR). It "
    "differs from MacroF1, the mean of the classes' F1, and from C-F1 of "
    "pineda2019.",
    equation="2 CP CR / (CP + CR)",
    source="Chen et al. 2019, section 4.1, and the released code of ML-GCN",
    cite=("chen2019",),
    # CP and CR have fixed policies for classes without a value.
    options=set_options(("macro",), without=("absent", *families.CAUSES)),
    averages=("macro",),
)


@measure(
    averages=ALL_AVERAGES,
    equation="(1 + β²) |Y ∩ Z| / (β² |Y| + |Z|)",
    source="van Rijsbergen 1979, chapter 7",
    cite=("vanrijsbergen1979",),
    policies=("empty", "absent"),
)
def FBeta(hit: Any, n_pred: Any, n_ref: Any, *, beta: float) -> Any:
    """Weighted harmonic mean of precision and recall, in which recall has beta times the weight."""
    if not 0 < beta < 1e6:
        wanted = "a number above 0 and below 1e6"
        raise InputError(
            "bad-option", name="beta", value=beta, wanted=wanted, in_measure=True
        )
    return divide((1 + beta**2) * hit, beta**2 * n_ref + n_pred)


@measure(
    averages=ALL_AVERAGES,
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
    """Number of labels on both sides divided by the number of labels on either side."""
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
    """Share of the items whose predicted set equals the true set."""
    is_exact = ((hit == n_pred) & (hit == n_ref)).astype(np.float64)
    is_empty = (n_pred == 0) & (n_ref == 0)
    return np.where(is_empty, np.nan, is_exact)


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
    n_wrong = n_pred + n_ref - 2 * hit
    return divide(n_wrong, total)


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
    """Average precision of the ranked labels of an item, 0 if there is no hit."""
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
    """Mean of an item's recall (sensitivity) and its true negative rate (specificity)."""
    n_labels = n_pred + n_ref - hit
    smallest_q = np.max(n_labels, initial=1)
    if q < smallest_q:
        wanted = (
            "the number of labels in the dataset, at least the number of labels of any "
            "item"
        )
        raise InputError(
            "bad-option", name="q", value=q, wanted=wanted, in_measure=True
        )
    n_negative = q - n_ref
    false_positive = n_pred - hit
    true_negative = n_negative - false_positive
    sensitivity = divide(hit, n_ref)
    specificity = divide(true_negative, n_negative)
    return (sensitivity + specificity) / 2


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
    """Absolute difference between the numbers of predicted and true labels."""
    return np.abs(np.asarray(n_pred, np.float64) - n_ref)


# ---- pineda2019 -----------------------------------------------------------------------

_EPS = 1e-8


def _smoothed_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return the harmonic mean of smoothed precision and recall."""
    precision = (hit + _EPS) / (n_pred + _EPS)
    recall = (hit + _EPS) / (n_ref + _EPS)
    return formulas.harmonic_mean(precision, recall)


def _smoothed_class_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return the smoothed F1 of classes, nan for those that are absent on both sides."""
    value = _smoothed_f1(hit, n_pred, n_ref)
    is_absent = (n_pred == 0) & (n_ref == 0)
    return np.where(is_absent, np.nan, value)


def _define_smoothed_f1(
    name: str,
    average: str,
    summary: str,
    *,
    formula: Callable[..., Any] = _smoothed_f1,
    policies: tuple[str, ...] = (),
    defaults: Mapping[str, OptionValue] | None = None,
) -> Definition:
    """Register an average of smoothed F1, with other defaults of shared options."""
    return define(
        name=name,
        family=SetFamily(),
        summary=summary,
        equation="2PR / (P + R), P = (tp + eps)/(tp + fp + eps), R = (tp + eps)/(tp + fn + eps)",
        source="Pineda, Salvador et al. 2019, section 3.3, with the reference code's eps = 1e-8",
        cite=("pineda2019",),
        options=set_options((average,), defaults=defaults, policies=policies),
        averages=(average,),
        symmetric=True,
        formula=formula,
    )


_define_smoothed_f1(
    "O-F1",
    "micro",
    "Overall F1, from the counts of all labels together. If there are no "
    "labels at all, it is 1. It differs from OF1 (MicroF1) only by eps.",
)
_define_smoothed_f1(
    "C-F1",
    "macro",
    "Per-class F1, the mean over all classes. A class that is absent on both "
    "sides scores 1. It differs from CF1, the harmonic mean of two means over "
    "classes.",
    formula=_smoothed_class_f1,
    policies=("absent",),
    defaults={"labels": "given", "absent": "1"},
)
_define_smoothed_f1(
    "I-F1",
    "example",
    "Per-image F1, the mean over images. An empty prediction for an empty set "
    "scores 1.",
)
