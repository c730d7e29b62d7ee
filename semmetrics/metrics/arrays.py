"""Set metrics on 0/1 matrices: pure functions without ids, files or signatures.

Conventions
-----------
``pred`` and ``ref`` have shape (items, labels) and hold 0 and 1. In the functions named after a
metric all columns count (``labels=given``). Averages and policies are those of the measures, and
so are the values.

Metrics
-------
``precision``, ``recall``, ``f1``, ``jaccard``, ``hamming_loss``, ``subset_accuracy``, and ``score``
for any measure whose formula is on counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Floats, Ints, binary_matrix, column_counts, row_counts
from semmetrics.errors import InputError
from semmetrics.metrics.decoding import item_weights
from semmetrics.metrics.definition import Definition, Frame, Measure
from semmetrics.metrics.families import evaluate_formula, formula_options, value_columns
from semmetrics.metrics.set_measures import SetFamily
from semmetrics.metrics.sets import F1, HammingLoss, Jaccard, Precision, Recall, SubsetAccuracy


def score(
    measure: Measure, pred: ArrayLike, ref: ArrayLike, *, weights: ArrayLike | None = None
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
    >>> score(F1(average="micro"), [[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    mine, theirs, shares = _prepare(measure, pred, ref, weights)
    frame = _frame(mine, theirs, str(measure["labels"]))
    if measure["average"] == "example":
        columns = value_columns(*_items(measure, mine, theirs))
        sums = {name: column.sum(shares) for name, column in columns.items()}
    else:
        sums = _label_sums(mine, theirs, shares)
    return float(SetFamily().aggregate(measure, sums, frame))


def per_label(
    definition: Definition, pred: ArrayLike, ref: ArrayLike, *, weights: ArrayLike | None = None
) -> Floats:
    """Evaluate the formula on each label; shape (labels,), nan where undefined.

    Examples
    --------
    >>> per_label(Recall, [[1, 0], [1, 1]], [[1, 0], [0, 0]])
    array([ 1., nan])
    """
    measure = definition(average="macro", labels="given")
    mine, theirs, shares = _prepare(measure, pred, ref, weights)
    sums = _label_sums(mine, theirs, shares)
    table = SetFamily().per_label(measure, sums, _frame(mine, theirs, "given"))
    return np.zeros(0) if table is None else table["value"]


def per_item(definition: Definition, pred: ArrayLike, ref: ArrayLike) -> Floats:
    """Evaluate the formula on each item; shape (items,), nan where undefined.

    Examples
    --------
    >>> per_item(F1, [[1, 0], [1, 1]], [[1, 0], [0, 1]]).round(4).tolist()
    [1.0, 0.6667]
    """
    measure = definition(average="example")
    mine, theirs, _ = _prepare(measure, pred, ref, None)
    return _items(measure, mine, theirs)[0]


def _items(measure: Measure, pred: Any, ref: Any) -> tuple[Floats, Ints, Ints]:
    """Return the value, the predictions and the references of each item."""
    hit, n_pred, n_ref = row_counts(pred, ref)
    known = {"hit": hit, "n_pred": n_pred, "n_ref": n_ref}
    value = evaluate_formula(measure.definition, known, formula_options(measure))
    return value, n_pred, n_ref


def _label_sums(pred: Any, ref: Any, weights: Floats | None) -> dict[str, Any]:
    hit, n_pred, n_ref = column_counts(pred, ref, weights)
    items = np.array(len(pred) if weights is None else weights.sum())
    return {"hit": hit, "n_pred": n_pred, "n_ref": n_ref, "items": items}


def _frame(pred: Any, ref: Any, labels: str) -> Frame:
    """Describe the label axis; look up which columns occur only if a universe needs it."""
    n_labels = pred.shape[1]
    true = union = np.ones(n_labels, np.bool_)
    if labels in ("reference", "union"):
        true = np.asarray(ref.any(axis=0))
        union = true | np.asarray(pred.any(axis=0))
    return Frame(tuple(map(str, range(n_labels))), true, union, n_labels)


def _prepare(measure: Measure, pred: Any, ref: Any, weights: Any) -> tuple[Any, Any, Floats | None]:
    """Check that a measure is one of 0/1 matrices, and its arrays."""
    definition = measure.definition
    counts = isinstance(definition.family, SetFamily) and measure["decode"] == "all"
    if not counts or measure.k is not None or "precision_sum" in definition.arguments:
        raise InputError("measure-option", option="a 0/1 matrix", measure=measure)
    mine, theirs = binary_matrix(pred, "pred"), binary_matrix(ref, "ref")
    if mine.shape != theirs.shape or not mine.size:
        wanted = "both sides items x labels, of one shape" if mine.size else "items and labels"
        shape = f"{mine.shape}, and ref {theirs.shape}"
        raise InputError("wrong-shape", role="pred", shape=shape, wanted=wanted)
    return mine, theirs, None if weights is None else item_weights(weights, len(mine))


def _average(
    definition: Definition,
    average: str,
    policies: dict[str, Any],
    pred: Any,
    ref: Any,
    weights: Any,
) -> float:
    labels: dict[str, Any] = {} if average == "example" else {"labels": "given"}
    measure = definition(average=average, **{**labels, **policies})
    return score(measure, pred, ref, weights=weights)


def precision(
    pred: ArrayLike,
    ref: ArrayLike,
    *,
    average: str = "macro",
    weights: ArrayLike | None = None,
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
        As for ``score``.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 2, 7 and 10.

    Examples
    --------
    >>> precision([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _average(Precision, average, dict(policies), pred, ref, weights)


def recall(
    pred: ArrayLike,
    ref: ArrayLike,
    *,
    average: str = "macro",
    weights: ArrayLike | None = None,
    **policies: str,
) -> float:
    """Compute the share of the true labels that are predicted.

    Parameters, Returns, Raises
        As for ``precision``.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, equations 3, 8 and 11.

    Examples
    --------
    >>> recall([[1, 0], [1, 0]], [[1, 0], [0, 1]])
    0.5
    """
    return _average(Recall, average, dict(policies), pred, ref, weights)


def f1(
    pred: ArrayLike,
    ref: ArrayLike,
    *,
    average: str = "macro",
    weights: ArrayLike | None = None,
    **policies: str,
) -> float:
    """Compute the harmonic mean of precision and recall (Kubany et al. 2020, equations 4, 9, 12).

    Parameters, Returns, Raises
        As for ``precision``.

    Examples
    --------
    >>> f1([[1, 0], [1, 1]], [[1, 0], [0, 1]], average="micro")
    0.8
    """
    return _average(F1, average, dict(policies), pred, ref, weights)


def jaccard(
    pred: ArrayLike,
    ref: ArrayLike,
    *,
    average: str = "example",
    weights: ArrayLike | None = None,
    **policies: str,
) -> float:
    """Divide the labels on both sides by those on either side (Kubany et al. 2020, equation 1).

    Parameters, Returns, Raises
        As for ``precision``.

    Examples
    --------
    >>> jaccard([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.75
    """
    return _average(Jaccard, average, dict(policies), pred, ref, weights)


def subset_accuracy(pred: ArrayLike, ref: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Compute the share of the items whose predicted set is exactly the true set.

    Parameters, Returns, Raises
        As for ``precision``.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """
    return score(SubsetAccuracy(), pred, ref, weights=weights)


def hamming_loss(pred: ArrayLike, ref: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Compute the share of the item-label pairs that are wrong; lower is better.

    Parameters, Returns, Raises
        As for ``precision``.

    Examples
    --------
    >>> hamming_loss([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.25
    """
    return score(HammingLoss(labels="given"), pred, ref, weights=weights)
