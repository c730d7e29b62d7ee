"""The points of a sweep, and means of precision, recall and F1 at each of them.

Conventions
-----------
Each label of each item is put once at the first point that keeps it; sums over points do the rest.
A ratio 0/0 is a matter of policy: see `Undefined`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, row_numbers
from semmetrics.errors import InputError
from semmetrics.metrics.formulas import divide

__all__ = [
    "AVERAGES",
    "DEFAULT",
    "Average",
    "Rows",
    "Sweep",
    "Undefined",
    "candidate_thresholds",
    "check_thresholds",
    "first_beyond",
    "sweep_average",
    "thin_out",
]

Average: TypeAlias = Literal["example", "micro", "macro"]
AVERAGES: tuple[Average, ...] = get_args(Average)
_CELLS = 1 << 22  # numbers in one temporary table


def candidate_thresholds(scores: ArrayLike) -> Floats:
    """Return thresholds that make every decision "score > t" can make on these scores, falling.

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


def check_thresholds(thresholds: ArrayLike) -> Floats:
    """Return the thresholds that a user gives, refusing NaN."""
    points = np.asarray(thresholds, np.float64)
    if points.ndim != 1 or np.isnan(points).any():
        raise InputError("thresholds must be a list of numbers without NaN")
    return points


def first_beyond(points: Floats, scores: Floats, order: Ints | None) -> Ints:
    """Return the first rising point beyond each score; `order` sorts the scores, for many points.

    Looking up sorted scores stays in the cache, which among millions of points is ten times faster.
    """
    if order is None:
        return np.searchsorted(points, scores, side="right")
    bins = np.empty(len(scores), np.int64)
    bins[order] = np.searchsorted(points, scores[order], side="right")
    return bins


def thin_out(points: Floats, most: int) -> Floats:
    """Return at most so many of the points, evenly spaced, the first and the last included."""
    if most < 2:
        raise InputError(f"max_points = {most} is below 2")
    if len(points) <= most:
        return points
    thin: Floats = points[np.linspace(0, len(points) - 1, most).round().astype(np.int64)]
    return thin


class Undefined(NamedTuple):
    """What stands for 0/0.

    Attributes
    ----------
    ratio : float
        A precision without predictions, a recall without references.
    item : float
        The F1 of an item (and the micro F1) with nothing on both sides.
    label : float
        The F1 of a label with nothing on both sides; pineda2019 has 1, scikit-learn 0.
    """

    ratio: float = 0.0
    item: float = 1.0
    label: float = 0.0


DEFAULT = Undefined()


class Sweep(NamedTuple):
    """Precision, recall and F1 at each point (a k or a threshold); arrays of one length."""

    points: NDArray[np.generic]
    precision: Floats
    recall: Floats
    f1: Floats


class Rows(NamedTuple):
    """Labels with their code and truth, and the number of references of each item and label."""

    indptr: Ints
    codes: NDArray[np.integer]
    hit: Bools
    n_ref: NDArray[np.integer]
    class_ref: NDArray[np.integer]


def sweep_average(
    rows: Rows,
    average: Average,
    points: NDArray[np.generic],
    order: Ints,
    bins: Ints,
    undefined: Undefined,
) -> Sweep:
    """Return one average at every point; bins count along the points in their given `order`."""
    if average == "macro":
        by_class = np.argsort(rows.codes, kind="stable")
        indptr = offsets(np.bincount(rows.codes, minlength=len(rows.class_ref)))
        groups = indptr, bins[by_class], rows.hit[by_class], rows.class_ref
    elif average == "example":
        groups = rows.indptr, bins, rows.hit, rows.n_ref
    elif average == "micro":
        groups = rows.indptr[[0, -1]], bins, rows.hit, rows.n_ref.sum(keepdims=True)
    else:
        raise InputError(f"unknown average {average!r}", remedy=f"use one of {', '.join(AVERAGES)}")
    empty = undefined.label if average == "macro" else undefined.item
    means = np.empty((3, len(points)))
    means[:, order] = _group_means(*groups, len(points), undefined.ratio, empty)
    return Sweep(points, *means)


def _group_means(
    indptr: Ints,
    bins: Ints,
    hit: Bools,
    n_ref: NDArray[np.integer],
    n_points: int,
    ratio: float,
    empty: float,
) -> Floats:
    """Return mean precision, recall and F1 of groups of labels at every point."""
    n, wide = len(indptr) - 1, n_points + 1  # the last bin holds what no point keeps
    total = np.zeros((3, n_points))
    step = max(1, _CELLS // wide)
    for start in range(0, n, step):
        part = indptr[start : start + step + 1]
        flat = slice(part[0], part[-1])
        keys = row_numbers(part) * wide + bins[flat]
        shape = (len(part) - 1, wide)
        kept, true = (
            np.bincount(chosen, minlength=shape[0] * wide).reshape(shape)[:, :-1].cumsum(axis=1)
            for chosen in (keys, keys[hit[flat]])
        )
        ref = n_ref[start : start + step, None]
        total[0] += divide(true, kept, ratio).sum(axis=0)
        total[1] += divide(true, ref, ratio).sum(axis=0)
        total[2] += divide(2 * true, kept + ref, empty).sum(axis=0)
    return total / n if n else np.full_like(total, np.nan)
