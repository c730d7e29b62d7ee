"""What each side says about the labels of the other, applied before the sides are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semmetrics.data.categories import leave_out_unverified, name_categories
from semmetrics.kinds import Options
from semmetrics.kinds.labels.normalization import normalization


def reconcile(preds: Mapping[str, Any], ref: Any, options: Options) -> tuple[dict[str, Any], Any]:
    """Name category ids, and leave labels that nobody verified out of predictions.

    Parameters
    ----------
    preds : mapping from system to Lists or Matrix
    ref : Lists or Matrix
    options : Options
        Those of a score: the normalization decides which labels are equal.

    Returns
    -------
    tuple of dict and Lists or Matrix
        Predictions and ground truth.

    Raises
    ------
    InputError
        If a category has no name.
    """
    named, ref = name_categories(preds, ref)
    if not getattr(ref, "verified", None) or "normalize" not in options:
        return named, ref
    clean = normalization(options["normalize"])
    for name, pred in named.items():
        named[name] = leave_out_unverified(pred, ref, clean)
    return named, ref
