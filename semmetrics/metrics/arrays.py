"""Set measures on 0/1 matrices, as functions without ids.

Conventions
-----------
``pred`` and ``ref`` have shape (items, labels) and contain 0 and 1. In the functions named
after a measure, all columns count (``labels=given``). Averages, policies and values are
those of the registered measures.

Functions
---------
``precision``, ``recall``, ``f1``, ``jaccard``, ``hamming_loss``, ``subset_accuracy``, and
``score`` for any measure with a formula on counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.binary_matrices import binary_matrix, column_counts, row_counts
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics import sets
from semmetrics.metrics.array_inputs import Weights, item_weights
from semmetrics.metrics.definition import Definition, Frame, LabelTable, Measure, Sums
from semmetrics.metrics.families import value_columns
from semmetrics.metrics.formula_values import evaluate_formula, formula_options
from semmetrics.metrics.set_families import SetFamily

Binary: TypeAlias = ArrayLike
"""A matrix of 0 and 1, dense or scipy.sparse: items x labels."""


# ---- any measure ----------------------------------------------------------------------


def score(
    measure: Measure, pred: Binary, ref: Binary, *, weights: Weights = None
) -> float:
    """Compute a set measure on 0/1 matrices.

    Parameters
    ----------
    measure : Measure
        A measure with a formula on counts, such as ``F1(average="macro")``, without a
        cutoff or decoding rule.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float
        nan if undefined.

    Raises
    ------
    InputError
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        the measure is of another kind.

    Examples
    --------
    >>> score(sets.F1(average="micro"), [[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    sums, frame = _aggregate(measure, pred, ref, weights)
    return float(SetFamily().aggregate(measure, sums, frame))


def per_label(
    definition: Definition, pred: Binary, ref: Binary, *, weights: Weights = None
) -> Floats:
    """Evaluate the formula of a measure on each label.

    Parameters
    ----------
    definition : Definition
        A measure of label sets, such as ``semmetrics.metrics.sets.F1``.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.
    weights : array-like, shape (items,), optional
        Sample weights.

    Returns
    -------
    float array, shape (labels,)
        nan if undefined.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1 (the message names row and column).

    Examples
    --------
    >>> per_label(sets.Recall, [[1, 0], [1, 1]], [[1, 0], [0, 0]])
    array([ 1., nan])
    """
    measure = definition(average="macro", labels="given")
    sums, frame = _aggregate(measure, pred, ref, weights)
    # There is a table, because the average is over labels.
    table = cast("LabelTable", SetFamily().per_label(measure, sums, frame))
    return np.asarray(table["value"], np.float64)


def per_item(definition: Definition, pred: Binary, ref: Binary) -> Floats:
    """Evaluate the formula of a measure on each item.

    Parameters
    ----------
    definition : Definition
        A measure of label sets, such as ``semmetrics.metrics.sets.F1``.
    pred, ref : array-like or scipy.sparse, shape (items, labels)
        0 and 1.

    Returns
    -------
    float array, shape (items,)
        nan if undefined.

    Raises
    ------
    InputError
        If shapes differ or a value is neither 0 nor 1 (the message names row and column).

    Examples
    --------
    >>> per_item(sets.F1, [[1, 0], [1, 1]], [[1, 0], [0, 1]]).round(4).tolist()
    [1.0, 0.6667]
    """
    measure = definition(average="example")
    pred_matrix, ref_matrix = _check_matrices(measure, pred, ref)
    return _evaluate_items(measure, pred_matrix, ref_matrix).values


class _ItemValues(NamedTuple):
    """The value and the numbers of predictions and references of each item."""

    values: Floats
    n_pred: Ints
    n_ref: Ints


def _evaluate_items(
    measure: Measure, pred: NDArray[Any], ref: NDArray[Any]
) -> _ItemValues:
    """Evaluate the formula of a measure on the counts of each item."""
    hit, n_pred, n_ref = row_counts(pred, ref)
    counts = {"hit": hit, "n_pred": n_pred, "n_ref": n_ref}
    options = formula_options(measure)
    values = evaluate_formula(measure.definition, counts, options)
    return _ItemValues(values, n_pred, n_ref)


def _aggregate(
    measure: Measure, pred: Binary, ref: Binary, weights: Weights
) -> tuple[Sums, Frame]:
    """Return the sums that the measure aggregates, and the label axis."""
    pred_matrix, ref_matrix = _check_matrices(measure, pred, ref)
    n_items = len(pred_matrix)
    weight_of_item = None
    if weights is not None:
        weight_of_item = item_weights(weights, n_items)
    frame = _label_frame(measure, pred_matrix, ref_matrix)
    if measure["average"] == "example":
        items = _evaluate_items(measure, pred_matrix, ref_matrix)
        columns = value_columns(items.values, items.n_pred, items.n_ref)
        value_sums = {}
        for name, column in columns.items():
            value_sums[name] = column.sum(weight_of_item)
        return value_sums, frame

    hit, n_pred, n_ref = column_counts(pred_matrix, ref_matrix, weight_of_item)
    total_weight = np.array(n_items)
    if weight_of_item is not None:
        total_weight = np.array(weight_of_item.sum())
    sums = {"hit": hit, "n_pred": n_pred, "n_ref": n_ref, "items": total_weight}
    return sums, frame


def _label_frame(measure: Measure, pred: NDArray[Any], ref: NDArray[Any]) -> Frame:
    """Return the label axis. Labels are named by the number of their column."""
    n_labels = pred.shape[1]
    # Only two label universes depend on which labels occur.
    in_reference = np.ones(n_labels, np.bool_)
    in_union = in_reference
    if measure["labels"] in ("reference", "union"):
        in_reference = np.asarray(ref.any(axis=0))
        in_union = in_reference | np.asarray(pred.any(axis=0))
    names = tuple(map(str, range(n_labels)))
    return Frame(names, in_reference, in_union, n_labels)


def _check_matrices(
    measure: Measure, pred: Binary, ref: Binary
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Check that a measure can be computed on 0/1 matrices, and return the matrices."""
    definition = measure.definition
    is_set_measure = isinstance(definition.family, SetFamily)
    needs_ranking = measure.k is not None or "precision_sum" in definition.arguments
    if not is_set_measure or measure["decode"] != "all" or needs_ranking:
        raise InputError("measure-option", option="a 0/1 matrix", measure=measure)
    pred_matrix = binary_matrix(pred, "pred")
    ref_matrix = binary_matrix(ref, "ref")
    if pred_matrix.shape != ref_matrix.shape or not pred_matrix.size:
        raise InputError(
            "wrong-shape",
            role="pred",
            shape=f"{pred_matrix.shape}, and ref {ref_matrix.shape}",
            wanted="the same shape (items, labels) on both sides, not empty",
        )
    return pred_matrix, ref_matrix


# ---- single measures ------------------------------------------------------------------


def precision(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the fraction of the predicted labels that are true.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 2, 7 and 10.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _score_average(sets.Precision, average, policies, pred, ref, weights)


def recall(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the fraction of the true labels that are predicted.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 3, 8 and 11.

    Examples
    --------
    >>> recall([[1, 0], [1, 0]], [[1, 0], [0, 1]])
    0.5
    """
    return _score_average(sets.Recall, average, policies, pred, ref, weights)


def f1(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "macro",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Compute the harmonic mean of precision and recall.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 4, 9 and 12.

    Examples
    --------
    >>> f1([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.8
    """
    return _score_average(sets.F1, average, policies, pred, ref, weights)


def jaccard(
    pred: Binary,
    ref: Binary,
    *,
    average: str = "example",
    weights: Weights = None,
    **policies: str,
) -> float:
    """Divide the number of shared labels by the number of labels on at least one side.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equation 1.

    Examples
    --------
    >>> jaccard([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _score_average(sets.Jaccard, average, policies, pred, ref, weights)


def subset_accuracy(pred: Binary, ref: Binary, *, weights: Weights = None) -> float:
    """Compute the fraction of the items whose predicted set is exactly the true set.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return score(sets.SubsetAccuracy(), pred, ref, weights=weights)


def hamming_loss(pred: Binary, ref: Binary, *, weights: Weights = None) -> float:
    """Compute the fraction of the item-label pairs that are wrong. Lower is better.

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
        If shapes differ, a value is neither 0 nor 1 (the message names row and column), or
        an option is wrong.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return score(sets.HammingLoss(labels="given"), pred, ref, weights=weights)


def _score_average(
    definition: Definition,
    average: str,
    policies: Mapping[str, Any],
    pred: Binary,
    ref: Binary,
    weights: Weights,
) -> float:
    """Compute an average of a measure in which all columns count."""
    if average == "example":
        measure = definition(average=average, **policies)
    else:
        measure = definition(average=average, labels="given", **policies)
    return score(measure, pred, ref, weights=weights)
