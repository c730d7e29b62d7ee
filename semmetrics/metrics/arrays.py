"""Set metrics on 0/1 matrices, and what label lists look like: pure functions without ids.

Conventions
-----------
``pred`` and ``ref`` have shape (items, labels) and hold 0 and 1. In the functions named after a
metric all columns count (``labels=given``). Averages and policies are those of the measures, and
so are the values.

``cardinality``, ``label_frequencies`` and ``label_order`` describe one set of label lists: ragged
rows of label codes, repeated labels kept; each function says whether it counts them.

Metrics
-------
``precision``, ``recall``, ``f1``, ``jaccard``, ``hamming_loss``, ``subset_accuracy``, and ``score``
for any measure whose formula is on counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core import ragged
from semmetrics.core.backend import dense_array
from semmetrics.core.binary_matrices import binary_matrix, column_counts, row_counts
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics import sets
from semmetrics.metrics.decoding import Weights, integer_list, item_weights
from semmetrics.metrics.definition import Definition, Frame, Measure, Sums
from semmetrics.metrics.families import evaluate_formula, formula_options, value_columns

_CELLS = 1 << 22  # label pairs collected before they are counted


Binary: TypeAlias = ArrayLike
"""A matrix of 0 and 1, or a scipy.sparse one: items x labels."""


def score(
    measure: Measure, pred: Binary, ref: Binary, *, weights: Weights = None
) -> float:
    """Compute a set measure on 0/1 matrices.

    Parameters
    ----------
    measure : Measure
        Of a formula on counts, such as ``F1(average="macro")``, without cutoff or decoding.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float
        nan where undefined.

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or the measure is of
        another kind.

    Examples
    --------
    >>> score(sets.F1(average="micro"), [[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    sums, frame = _sums(measure, pred, ref, weights)
    return float(sets.SetFamily().aggregate(measure, sums, frame))


def per_label(
    definition: Definition, pred: Binary, ref: Binary, *, weights: Weights = None
) -> Floats:
    """Evaluate the formula of a measure on each label.

    Parameters
    ----------
    definition : Definition
        Of a measure of label sets, such as ``semmetrics.metrics.sets.F1``.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float array, shape (labels,)
        nan where undefined.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1 (names row and column).

    Examples
    --------
    >>> per_label(sets.Recall, [[1, 0], [1, 1]], [[1, 0], [0, 0]])
    array([ 1., nan])
    """
    measure = definition(average="macro", labels="given")
    table: Any = sets.SetFamily().per_label(
        measure, *_sums(measure, pred, ref, weights)
    )
    return np.asarray(table["value"], np.float64)


def per_item(definition: Definition, pred: Binary, ref: Binary) -> Floats:
    """Evaluate the formula of a measure on each item.

    Parameters
    ----------
    definition : Definition
        Of a measure of label sets, such as ``semmetrics.metrics.sets.F1``.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.

    Returns
    -------
    float array, shape (items,)
        nan where undefined.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1 (names row and column).

    Examples
    --------
    >>> per_item(sets.F1, [[1, 0], [1, 1]], [[1, 0], [0, 1]]).round(4).tolist()
    [1.0, 0.6667]
    """
    measure = definition(average="example")
    return _items(measure, *_matrices(measure, pred, ref))[0]


def _items(measure: Measure, pred: Any, ref: Any) -> tuple[Floats, Ints, Ints]:
    """Return the value, the predictions and the references of each item."""
    hit, n_pred, n_ref = row_counts(pred, ref)
    known = {"hit": hit, "n_pred": n_pred, "n_ref": n_ref}
    return (
        evaluate_formula(measure.definition, known, formula_options(measure)),
        n_pred,
        n_ref,
    )


def _sums(
    measure: Measure, pred: Binary, ref: Binary, weights: Weights
) -> tuple[Sums, Frame]:
    """Return what the measure aggregates, and the label axis."""
    mine, theirs = _matrices(measure, pred, ref)
    shares = None if weights is None else item_weights(weights, len(mine))
    in_reference = in_union = np.ones(mine.shape[1], np.bool_)
    # only then does it matter what occurs
    if measure["labels"] in (
        "reference",
        "union",
    ):
        in_reference = np.asarray(theirs.any(axis=0))
        in_union = in_reference | np.asarray(mine.any(axis=0))
    names = tuple(map(str, range(mine.shape[1])))
    frame = Frame(names, in_reference, in_union, len(names))
    if measure["average"] == "example":
        columns = value_columns(*_items(measure, mine, theirs))
        return {name: column.sum(shares) for name, column in columns.items()}, frame
    hit, n_pred, n_ref = column_counts(mine, theirs, shares)
    items = np.array(len(mine) if shares is None else shares.sum())
    return {"hit": hit, "n_pred": n_pred, "n_ref": n_ref, "items": items}, frame


def _matrices(measure: Measure, pred: Binary, ref: Binary) -> tuple[Any, Any]:
    """Check that a measure is one of 0/1 matrices, and their shapes."""
    definition = measure.definition
    counts = (
        isinstance(definition.family, sets.SetFamily) and measure["decode"] == "all"
    )
    if not counts or measure.k is not None or "precision_sum" in definition.arguments:
        raise InputError("measure-option", option="a 0/1 matrix", measure=measure)
    mine, theirs = binary_matrix(pred, "pred"), binary_matrix(ref, "ref")
    if mine.shape != theirs.shape or not mine.size:
        shape, wanted = (
            f"{mine.shape}, and ref {theirs.shape}",
            "some items x labels on both sides",
        )
        raise InputError("wrong-shape", role="pred", shape=shape, wanted=wanted)
    return mine, theirs


def _average(
    definition: Definition,
    average: str,
    policies: Any,
    pred: Binary,
    ref: Binary,
    weights: Weights,
) -> float:
    labels: dict[str, Any] = {} if average == "example" else {"labels": "given"}
    return score(
        definition(average=average, **labels, **policies), pred, ref, weights=weights
    )


def precision(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the share of the predicted labels that are true.

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    average : {"macro", "micro", "weighted", "example"}
    weights : array-like, shape (items,), optional
        Sample weights.
    **policies
        ``empty`` or ``absent``, ``no_prediction``, ``no_reference``: "nan", "0", "1" or "skip".

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 2, 7 and 10.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _average(sets.Precision, average, policies, pred, ref, weights)


def recall(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the share of the true labels that are predicted.

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    average : {"macro", "micro", "weighted", "example"}
    weights : array-like, shape (items,), optional
        Sample weights.
    **policies
        ``empty`` or ``absent``, ``no_prediction``, ``no_reference``: "nan", "0", "1" or "skip".

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 3, 8 and 11.

    Examples
    --------
    >>> recall([[1, 0], [1, 0]], [[1, 0], [0, 1]])
    0.5
    """
    return _average(sets.Recall, average, policies, pred, ref, weights)


def f1(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the harmonic mean of precision and recall (Kubany et al. 2020, equations 4, 9, 12).

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    average : {"macro", "micro", "weighted", "example"}
    weights : array-like, shape (items,), optional
        Sample weights.
    **policies
        ``empty`` or ``absent``, ``no_prediction``, ``no_reference``: "nan", "0", "1" or "skip".

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    Examples
    --------
    >>> f1([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.8
    """
    return _average(sets.F1, average, policies, pred, ref, weights)


def jaccard(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "example",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Divide the labels on both sides by those on either side (Kubany et al. 2020, equation 1).

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    average : {"macro", "micro", "weighted", "example"}
    weights : array-like, shape (items,), optional
        Sample weights.
    **policies
        ``empty`` or ``absent``, ``no_prediction``, ``no_reference``: "nan", "0", "1" or "skip".

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    Examples
    --------
    >>> jaccard([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _average(sets.Jaccard, average, policies, pred, ref, weights)


def subset_accuracy(pred: Binary, ref: Binary, *, weights: Weights = None) -> float:
    """Compute the share of the items whose predicted set is exactly the true set.

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return score(sets.SubsetAccuracy(), pred, ref, weights=weights)


def hamming_loss(pred: Binary, ref: Binary, *, weights: Weights = None) -> float:
    """Compute the share of the item-label pairs that are wrong; lower is better.

    Parameters
    ----------
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float, in [0, 1]

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (names row and column), or an option is wrong.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return score(sets.HammingLoss(labels="given"), pred, ref, weights=weights)


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
    ValueError
        If indptr falls: it is not an array of row offsets.

    References
    ----------
    Pineda, Salvador et al., 2019, table 2 and figure 2.

    Examples
    --------
    >>> cardinality([0, 2, 2, 5]).histogram.tolist()
    [1, 0, 1, 1]
    """
    sizes = ragged.lengths(dense_array(indptr, "indptr", np.int64))
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
    flat = integer_list(codes, "codes")
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
    rows, flat = (
        dense_array(indptr, "indptr", np.int64),
        integer_list(codes, "codes"),
    )
    if flat.shape != (rows[-1],):
        wanted = f"{rows[-1]}, as indptr has it"
        raise InputError("wrong-shape", role="codes", shape=flat.shape, wanted=wanted)
    span = int(flat.max(initial=0)) + 1
    first = ragged.first_occurrences(
        ragged.cell_keys(rows, flat, span), span * (len(rows) - 1)
    )
    if first is not None:  # later places of repeated labels do not count
        rows, flat = ragged.offsets(ragged.sum_rows(first, rows)), flat[first]
    pairs, a, b = _count_pairs(rows, flat, span)
    order = np.maximum(a, b) / (a + b)
    falling = np.argsort(-order, kind="stable")
    found = np.stack([pairs // span, pairs % span], axis=1)[falling]
    return LabelOrder(found, a[falling], b[falling], order[falling])


def _count_pairs(rows: Ints, flat: Ints, span: int) -> tuple[Ints, Ints, Ints]:
    """Count the lists with each pair A < B, A * span + B, in this order and in the other.

    Pairs at distance 1, 2, ... in their lists are formed for all lists at once, and counted
    whenever there are enough of them.
    """
    pairs, a, b = np.zeros((3, 0), np.int64)
    waiting: list[Ints] = []
    left = np.arange(len(flat))
    sizes = ragged.lengths(rows)
    # labels from here to the end
    after = np.repeat(sizes, sizes) - ragged.positions(rows)
    distance = size = 0
    while len(left):
        distance += 1
        left = left[after[left] > distance]
        waiting.append(np.stack([flat[left], flat[left + distance]]))
        size += len(left)
        if size > _CELLS or not len(left):
            one, other = np.concatenate(waiting, axis=1)
            fresh = np.minimum(one, other) * span + np.maximum(one, other)
            pairs, which = np.unique(np.append(pairs, fresh), return_inverse=True)
            a = np.bincount(which, np.append(a, one < other)).astype(np.int64)
            b = np.bincount(which, np.append(b, one > other)).astype(np.int64)
            waiting, size = [], 0
    return pairs, a, b
