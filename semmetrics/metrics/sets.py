"""Precision, recall, F1 and their relatives on label sets.

Conventions
-----------
``hit`` counts predicted labels that are in the reference set, ``n_pred`` and ``n_ref`` the labels
of each side: of an item (``average=example``), of a label over all items (``macro``,
``weighted``), or of everything (``micro``). Values lie in [0, 1]; 0/0 is nan here and becomes
what the measure's policy says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Value
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.set_measures import measure

__all__ = [
    "AP",
    "F1",
    "BalancedAccuracy",
    "CardinalityError",
    "HammingLoss",
    "Jaccard",
    "Precision",
    "Recall",
    "SubsetAccuracy",
    "c_f1",
    "i_f1",
    "o_f1",
]

_ALL = ("example", "macro", "micro", "weighted")


@measure(
    averages=_ALL,
    equation="|Y ∩ Z| / |Z|",
    source="Kubany et al. 2020, equations 2, 7 and 10 (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    policies=("empty", "absent", "no_prediction"),
    aliases={
        "MacroPrecision": "Precision(average=macro)",
        "MicroPrecision": "Precision(average=micro)",
    },
)
def Precision(hit: Any, n_pred: Any) -> Any:  # named as papers write it
    """Share of the predicted labels that are true."""
    return formulas.precision(hit, n_pred)


@measure(
    averages=_ALL,
    equation="|Y ∩ Z| / |Y|",
    source="Kubany et al. 2020, equations 3, 8 and 11 (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    policies=("empty", "absent", "no_reference"),
    aliases={"MacroRecall": "Recall(average=macro)", "MicroRecall": "Recall(average=micro)"},
)
def Recall(hit: Any, n_ref: Any) -> Any:
    """Share of the true labels that are predicted."""
    return formulas.recall(hit, n_ref)


@measure(
    averages=_ALL,
    symmetric=True,
    equation="2 |Y ∩ Z| / (|Y| + |Z|)",
    source="Kubany et al. 2020, equations 4, 9 and 12",
    cite=("kubany2020",),
    policies=("empty", "absent"),
    aliases={"MacroF1": "F1(average=macro)", "MicroF1": "F1(average=micro)"},
)
def F1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Harmonic mean of precision and recall."""
    return formulas.f1(hit, n_pred, n_ref)


@measure(
    averages=_ALL,
    symmetric=True,
    equation="|Y ∩ Z| / |Y ∪ Z|",
    source="Kubany et al. 2020, equation 1, there called accuracy (Godbole & Sarawagi 2004)",
    cite=("kubany2020", "godbole2004"),
    policies=("empty", "absent"),
    aliases={"MacroJaccard": "Jaccard(average=macro)", "MicroJaccard": "Jaccard(average=micro)"},
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
    return formulas.average_precision(precision_sum, hit, n_pred, n_ref, normalize=normalize)


@measure(
    averages=("example",),
    equation="(tp / (tp + fn) + tn / (tn + fp)) / 2, tn = q - tp - fp - fn",
    source="Brodersen et al. 2010; per image in the reference code of Kubany et al. 2020",
    cite=("brodersen2010", "kubany2020"),
)
def BalancedAccuracy(hit: Any, n_pred: Any, n_ref: Any, *, q: int) -> Any:
    """Mean of an item's recall and of its recall of labels that are not true."""
    if q < max(np.max(n_pred + n_ref - hit, initial=0), 1):
        raise InputError(
            f"q={q} is less than the labels of one item",
            remedy="give the number of labels of the data set",
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
_PINEDA = "Pineda, Salvador et al. 2019, section 3.3, with the reference code's eps = 1e-8"


def _smoothed_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    precision = (hit + _EPS) / (n_pred + _EPS)
    recall = (hit + _EPS) / (n_ref + _EPS)
    return formulas.harmonic_mean(precision, recall)


def _smoothed(
    name: str, average: str, labels: dict[str, Value] | None = None
) -> Callable[[Callable[..., Any]], Definition]:
    return measure(
        averages=(average,),
        symmetric=True,
        equation="2PR / (P + R), P = (tp + eps)/(tp + fp + eps), R = (tp + eps)/(tp + fn + eps)",
        source=_PINEDA,
        cite=("pineda2019",),
        name=name,
        defaults=labels,
        policies=(),
    )


@_smoothed("O-F1", "micro")
def o_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Overall F1: of the counts of all labels together; nothing on either side scores 1."""
    return _smoothed_f1(hit, n_pred, n_ref)


@_smoothed("C-F1", "macro", {"labels": "given"})
def c_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Per-class F1: mean over the dictionary; a class absent on both sides scores 1."""
    return _smoothed_f1(hit, n_pred, n_ref)


@_smoothed("I-F1", "example")
def i_f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Per-image F1: mean over images; an empty prediction of an empty set scores 1."""
    return _smoothed_f1(hit, n_pred, n_ref)
