"""Thresholds of a sweep: which there are, and the first that keeps a score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError

__all__ = ["candidate_thresholds", "first_below", "given_thresholds", "thinned"]


def candidate_thresholds(scores: ArrayLike) -> Floats:
    """Thresholds that make every decision "score > t" can make on these scores, falling.

    These are the distinct scores, each leaving out itself and all below it, and the next float64
    below the lowest score, which keeps everything (where the lowest is not -inf).

    Parameters
    ----------
    scores : array-like, any shape, without NaN

    Returns
    -------
    array, shape (T,)

    Examples
    --------
    >>> candidate_thresholds([0.5, 1.0, 0.5]).tolist()
    [1.0, 0.5, 0.49999999999999994]
    """
    distinct = np.unique(np.asarray(scores, np.float64))[::-1]
    if not len(distinct) or distinct[-1] == -np.inf:
        return distinct
    return np.append(distinct, np.nextafter(distinct[-1], -np.inf))


def given_thresholds(thresholds: ArrayLike) -> Floats:
    """Thresholds that a user gives, without NaN."""
    points = np.asarray(thresholds, np.float64)
    if points.ndim != 1 or np.isnan(points).any():
        raise InputError("thresholds must be a list of numbers without NaN")
    return points


def first_below(points: Floats, scores: Floats, order: Ints | None) -> Ints:
    """First rising point beyond each score; `order` sorts the scores, for many points.

    Looking up sorted scores stays in the cache, which among millions of points is ten times faster.
    """
    if order is None:
        return np.searchsorted(points, scores, side="right")
    bins = np.empty(len(scores), np.int64)
    bins[order] = np.searchsorted(points, scores[order], side="right")
    return bins


def thinned(points: Floats, most: int) -> Floats:
    """At most so many of the points, evenly spaced, the first and the last included."""
    if most < 2:
        raise InputError(f"max_points = {most} is below 2")
    if len(points) <= most:
        return points
    thin: Floats = points[np.linspace(0, len(points) - 1, most).round().astype(np.int64)]
    return thin
