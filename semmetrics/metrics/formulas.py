"""Formulas on counts: precision, recall, F1 and Jaccard of labels, ancestors or matches.

Conventions
-----------
``hit`` counts predictions that are correct. ``n_pred`` and ``n_ref`` count predictions
and references. Counts are of an item, of a label over all items, or of the whole data.
They may count labels, ancestors of labels, or labels matched by meaning. Arguments are
arrays of one shape, or of shapes that broadcast. Values are in [0, 1], and 0/0 is nan.

Formulas
--------
``precision``, ``recall``, ``f1``, ``jaccard``
``f1_many_to_one``     F1 if several predictions may match the same reference
``harmonic_mean``      of precision and recall
``average_precision``  of the ranked predictions of an item
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats


def divide(numerator: Any, denominator: Any, empty: float = np.nan) -> Floats:
    """Divide as float64. The result is ``empty`` if the denominator is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    numerator = np.asarray(numerator)
    denominator = np.asarray(denominator)
    is_defined = denominator != 0
    quotient: Floats
    if is_defined.all():
        quotient = np.divide(numerator, denominator, dtype=np.float64)
        return quotient
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    quotient = np.full(shape, empty, np.float64)
    np.divide(numerator, denominator, out=quotient, where=is_defined)
    return quotient


def precision(hit: Any, n_pred: Any) -> Any:
    """Return the fraction of the predictions that are correct."""
    return divide(hit, n_pred)


def recall(hit: Any, n_ref: Any) -> Any:
    """Return the fraction of the references that are predicted."""
    return divide(hit, n_ref)


def f1(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return the harmonic mean of precision and recall."""
    return divide(2 * hit, n_pred + n_ref)


def f1_many_to_one(hit: Any, served: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return F1 if several predictions may match the same reference.

    ``served`` counts the references that a prediction matches.

    Examples
    --------
    >>> float(f1_many_to_one(2, 1, 3, 1)), float(harmonic_mean(2 / 3, 1 / 1))
    (0.8, 0.8)
    """
    # With P = hit / n_pred and R = served / n_ref, multiply the numerator and the
    # denominator of 2PR / (P + R) by n_pred * n_ref. The result is exactly f1 if
    # hit = served.
    denominator = hit * n_ref + served * n_pred
    with_hits = divide(2.0 * hit * served, denominator)
    without_hits = divide(0.0 * hit, n_pred + n_ref)  # 0, or nan if both are empty
    return np.where(denominator == 0, without_hits, with_hits)


def harmonic_mean(precision: Any, recall: Any) -> Any:
    """Return 2PR / (P + R), and 0 if both are 0."""
    total = precision + recall
    denominator = np.where(total > 0, total, 1.0)
    return 2 * (precision * recall) / denominator


def jaccard(hit: Any, n_pred: Any, n_ref: Any) -> Any:
    """Return the size of the intersection over the size of the union."""
    return divide(hit, n_pred + n_ref - hit)


def average_precision(
    precision_sum: Any,
    hit: Any,
    n_pred: Any,
    n_ref: Any,
    *,
    normalize: str = "references",
) -> Any:
    """Return the sum of precisions at each hit over the number of references or hits.

    ``normalize="references"`` divides by the references, ``"hits"`` by the hits. The
    value is 0 without hits, and nan without predictions or references.
    """
    no_predictions = n_pred == 0
    if normalize == "references":
        return np.where(no_predictions, np.nan, divide(precision_sum, n_ref))
    is_undefined = no_predictions | (n_ref == 0)
    return np.where(is_undefined, np.nan, precision_sum / np.maximum(hit, 1))
