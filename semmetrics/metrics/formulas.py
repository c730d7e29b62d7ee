"""Formulas on counts: precision, recall, F1 and Jaccard of whatever has been counted.

Conventions
-----------
``hit`` counts predictions that are right, ``n_pred`` and ``n_ref`` predictions and references: of
an item, of a label over all items, or of everything. What is counted may be labels, ancestors of
labels, or labels matched by meaning. All are arrays of one shape, or shapes that broadcast. Values
lie in [0, 1]; 0/0 is nan.

Formulas
--------
``precision``, ``recall``, ``f1``, ``jaccard``
``f1_many_to_one``     F1 where several predictions may find one reference
``harmonic_mean``      of a precision and a recall that are known themselves
``average_precision``  of the ranked predictions of an item
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats


def divide(numerator: Any, denominator: Any, empty: float = np.nan) -> Floats:
    """Divide, with ``empty`` where the denominator is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    top, bottom = np.asarray(numerator), np.asarray(denominator)
    some = bottom != 0
    if some.all():
        quotient: Floats = np.divide(top, bottom, dtype=np.float64)
        return quotient
    filled = np.full(np.broadcast_shapes(top.shape, bottom.shape), empty, np.float64)
    np.divide(top, bottom, out=filled, where=some)
    return filled


def precision(hit: Any, n_pred: Any) -> Any:
    """Share of the predictions that are right."""
    return divide(hit, n_pred)


def recall(hit: Any, n_ref: Any) -> Any:
    """Share of the references that are found."""
    return divide(hit, n_ref)


def f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Harmonic mean of precision and recall."""
    return divide(2 * hit, n_pred + n_ref)


def f1_many_to_one(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    """F1 where several predictions may find one reference; ``served`` references are found.

    Examples
    --------
    >>> float(f1_many_to_one(2, 1, 3, 1)), float(harmonic_mean(2 / 3, 1 / 1))
    (0.8, 0.8)
    """
    # 2PR / (P + R) multiplied out, so that it is f1 where hit = served
    base = hit * n_ref + served * n_pred
    return np.where(
        base == 0, divide(0.0 * hit, n_pred + n_ref), divide(2.0 * hit * served, base)
    )


def harmonic_mean(precision: Any, recall: Any) -> Any:
    """2PR / (P + R), and 0 where both are 0."""
    both = precision + recall
    return 2 * (precision * recall) / np.where(both > 0, both, 1.0)


def jaccard(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Labels on both sides over labels on either side."""
    return divide(hit, n_pred + n_ref - hit)


def average_precision(
    precision_sum: Any,
    hit: Any,
    n_pred: Any,
    n_ref: Any,
    *,
    normalize: str = "references",
) -> Any:
    """Precision at each hit, summed, over the references or (``normalize="hits"``) over the hits.

    Without hits it is 0, without predictions or references nan.
    """
    if normalize == "references":
        return np.where(n_pred == 0, np.nan, divide(precision_sum, n_ref))
    return np.where(
        (n_pred == 0) | (n_ref == 0), np.nan, precision_sum / np.maximum(hit, 1)
    )
