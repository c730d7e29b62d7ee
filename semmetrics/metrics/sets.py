"""Precision, recall, F1 and their relatives on label sets, and what label lists look like.

Conventions
-----------
``hit`` counts predicted labels that are in the reference set, ``n_pred`` and ``n_ref`` the labels
of each side: of an item (``average=example``), of a label over all items (``macro``,
``weighted``), or of everything (``micro``). Values lie in [0, 1]; 0/0 is nan here and becomes
what the measure's policy says.

``cardinality``, ``label_frequencies`` and ``label_order`` describe one set of label lists: ragged
rows of label codes, repeated labels kept; each function says whether it counts them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import (
    Floats,
    Ints,
    cell_keys,
    dense_array,
    first_occurrences,
    lengths,
    offsets,
    positions,
    sum_rows,
)
from semmetrics.core.same import by_value
from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Value
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.set_measures import measure

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
        wanted = "the number of labels of the data set, not less than those of an item"
        raise InputError("bad-option", name="q", value=q, wanted=wanted)
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


_CELLS = 1 << 22  # label pairs collected before they are counted


@by_value()
class Cardinality(NamedTuple):
    """Labels per list.

    Attributes
    ----------
    n : int
        Number of lists, empty ones included.
    mean : float
        nan without lists.
    std : float
        Of the sample: the squares are divided by n - 1; nan below two lists.
    histogram : array, shape (longest + 1,), int64
        At c the number of lists with c labels.
    """

    n: int
    mean: float
    std: float
    histogram: Ints


@by_value()
class LabelFrequencies(NamedTuple):
    """Labels and their counts, most frequent first; equal counts in the order of the codes."""

    labels: Ints
    counts: Ints


@by_value()
class LabelOrder(NamedTuple):
    """Pairs of labels that occur together, by falling order; equal ones by their codes.

    Attributes
    ----------
    pairs : array, shape (p, 2), int64
        Codes A < B of each pair.
    a, b : arrays, shape (p,), int64
        Lists in which A precedes B, and B precedes A.
    order : array, shape (p,), in [0.5, 1]
        max(a, b) / (a + b): 0.5 is no order, 1 always the same. Drawn against a normalised x axis
        this is figure 5 of the paper.
    """

    pairs: Ints
    a: Ints
    b: Ints
    order: Floats

    @property
    def mean(self) -> float:
        """Mean order over the pairs, each counted once; nan without pairs."""
        return float(self.order.mean()) if len(self.order) else float("nan")


def cardinality(indptr: ArrayLike) -> Cardinality:
    """Summarise the number of labels per list; repeated labels count.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)

    Returns
    -------
    Cardinality

    Raises
    ------
    InputError
        If indptr is no array of row offsets.

    References
    ----------
    Pineda, Salvador et al., 2019, table 2 and figure 2.

    Examples
    --------
    >>> cardinality([0, 2, 2, 5]).histogram.tolist()
    [1, 0, 1, 1]
    """
    sizes = lengths(_row_offsets(indptr))
    n = len(sizes)
    mean = float(sizes.mean()) if n else float("nan")
    std = float(sizes.std(ddof=1)) if n > 1 else float("nan")
    return Cardinality(n, mean, std, np.bincount(sizes, minlength=1))


def label_frequencies(codes: ArrayLike, n_labels: int) -> LabelFrequencies:
    """Count every label of the dictionary, most frequent first; repeated labels count.

    Parameters
    ----------
    codes : array-like of int, shape (m,), in [0, n_labels)
        The labels of all lists.
    n_labels : int
        Size of the dictionary; labels that never occur come last, with count 0.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If a code is outside the dictionary.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, figure 1.

    Examples
    --------
    >>> label_frequencies([2, 0, 2], 3)
    LabelFrequencies(labels=array([2, 0, 1]), counts=array([2, 1, 0]))
    """
    flat = _codes(codes)
    if flat.max(initial=-1) >= n_labels:
        wanted = f"codes below {n_labels}"
        raise InputError("out-of-range", role="a code", value=flat.max(), wanted=wanted)
    counts = np.bincount(flat, minlength=n_labels)
    labels = np.argsort(-counts, kind="stable")
    return LabelFrequencies(labels, counts[labels])


def label_order(indptr: ArrayLike, codes: ArrayLike) -> LabelOrder:
    """Measure how consistently one label of a pair precedes the other, for all pairs.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    codes : array-like of int, shape (indptr[-1],), at least 0
        Labels in the order of their list; of a repeated label the first place counts.

    Returns
    -------
    LabelOrder

    Raises
    ------
    InputError
        If indptr is no array of row offsets for the codes, or a code is negative.

    References
    ----------
    Pineda, Salvador et al., 2019, supplement A.1 and figure 5.

    Examples
    --------
    >>> found = label_order([0, 2, 4, 7], [0, 1, 1, 0, 0, 1, 2])
    >>> found.pairs.tolist(), found.a.tolist(), found.b.tolist(), found.order.round(2).tolist()
    ([[0, 2], [1, 2], [0, 1]], [1, 1, 2], [0, 0, 1], [1.0, 1.0, 0.67])
    """
    rows, flat = _row_offsets(indptr), _codes(codes)
    if flat.shape != (rows[-1],):
        wanted = f"{rows[-1]}, as indptr has it"
        raise InputError("wrong-shape", role="codes", shape=flat.shape, wanted=wanted)
    span = int(flat.max(initial=0)) + 1
    first = first_occurrences(cell_keys(rows, flat, span), span * (len(rows) - 1))
    if first is not None:  # later places of repeated labels do not count
        rows, flat = offsets(sum_rows(first, rows)), flat[first]
    keys, counts = _directed(rows, flat, span)
    left, right = keys // span, keys % span
    low, high = np.minimum(left, right), np.maximum(left, right)
    pairs, which = np.unique(low * span + high, return_inverse=True)
    forward = left < right
    a, b = np.zeros((2, len(pairs)), np.int64)
    a[which[forward]] = counts[forward]  # a direction of a pair occurs once among the keys
    b[which[~forward]] = counts[~forward]
    order = np.maximum(a, b) / (a + b)
    falling = np.argsort(-order, kind="stable")
    found = np.stack([pairs // span, pairs % span], axis=1)[falling]
    return LabelOrder(found, a[falling], b[falling], order[falling])


def _directed(rows: Ints, flat: Ints, span: int) -> tuple[Ints, Ints]:
    """Keys left * span + right of the labels that precede one another, and their counts.

    Pairs at distance 1, 2, ... in their lists are formed for all lists at once, and counted
    whenever there are enough of them.
    """
    keys, counts = np.zeros((2, 0), np.int64)
    waiting: list[Ints] = []
    size = 0
    left = np.arange(len(flat))
    after = np.repeat(lengths(rows), lengths(rows)) - positions(rows)  # labels from here to the end
    distance = 1
    while len(left):
        left = left[after[left] > distance]
        waiting.append(flat[left] * span + flat[left + distance])
        size += len(left)
        distance += 1
        if size > _CELLS or not len(left):
            keys, counts = _merged(keys, counts, np.concatenate(waiting))
            waiting, size = [], 0
    return keys, counts


def _merged(keys: Ints, counts: Ints, fresh: Ints) -> tuple[Ints, Ints]:
    found, times = np.unique(fresh, return_counts=True)
    every, which = np.unique(np.concatenate([keys, found]), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    total[which[: len(keys)]] = counts
    total[which[len(keys) :]] += times
    return every, total


def _codes(codes: ArrayLike) -> Ints:
    """Check codes of labels: integers from 0."""
    flat = dense_array(codes, "codes")
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in "iu"):
        wanted = "a flat array of integers"
        raise InputError("wrong-dtype", role="codes", dtype=flat.dtype, wanted=wanted)
    if flat.min(initial=0) < 0:
        raise InputError("out-of-range", role="a code", value=flat.min(), wanted="codes from 0")
    return flat.astype(np.int64)


def _row_offsets(indptr: ArrayLike) -> Ints:
    """Check row offsets: from 0, never falling."""
    rows: Ints = dense_array(indptr, "indptr", np.int64)
    if rows.ndim != 1 or not len(rows) or rows[0] != 0 or (np.diff(rows) < 0).any():
        wanted = "row offsets, from 0 and never falling"
        raise InputError("bad-option", name="indptr", value=rows, wanted=wanted)
    return rows
