"""Precision, recall and F1 over every cut of the rankings: first k labels, or a threshold.

Conventions
-----------
A label is kept at k where it is among its item's first k, and at threshold t where its score is
above t, strictly; so ``decode`` repeats the decision of every point. Each label is put once at the
first point that keeps it; sums over points do the rest.

Averages
--------
example  means over items of each item's precision, recall and F1
micro    from the counts of all items and labels together
macro    means over all labels of the dictionary

A ratio 0/0 is a matter of policy: see `Undefined`.

References
----------
Pineda, Salvador et al., 2019, section 4 (I-F1, O-F1, C-F1 are the three averages of F1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import checked
from semmetrics.core.ragged import Bools, Floats, Ints, offsets, order_rows, positions, row_numbers
from semmetrics.errors import InputError
from semmetrics.frozen import with_arrays
from semmetrics.metrics.decoding import score_matrix
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.ranking import target_matrix

__all__ = [
    "AVERAGES",
    "DEFAULT",
    "Average",
    "BestThreshold",
    "Rows",
    "Sweep",
    "Undefined",
    "best_threshold",
    "candidate_thresholds",
    "sweep_rows",
    "sweep_thresholds",
    "sweep_top_k",
    "thin_out",
]

Average: TypeAlias = Literal["example", "micro", "macro"]
AVERAGES: tuple[Average, ...] = get_args(Average)
_CELLS = 1 << 22  # numbers in one temporary table


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


@with_arrays
class Sweep(NamedTuple):
    """Precision, recall and F1 at each point (a k or a threshold); arrays of one length."""

    points: NDArray[np.generic]
    precision: Floats
    recall: Floats
    f1: Floats


class Rows(NamedTuple):
    """Scored labels of each item, and the references of each item and of each label.

    Attributes
    ----------
    indptr : array, shape (n + 1,), int64
    codes, hit, scores : arrays, shape (indptr[-1],)
        Code of each label in the dictionary, whether it is a reference label of its item, and its
        score.
    n_ref : array, shape (n,)
        Reference labels of each item, scored or not.
    class_ref : array, shape (n_labels,)
        Items that each label is a reference of.
    """

    indptr: Ints
    codes: NDArray[np.integer]
    hit: Bools
    scores: Floats
    n_ref: NDArray[np.integer]
    class_ref: NDArray[np.integer]


class BestThreshold(NamedTuple):
    """The threshold with the best F1, and that F1."""

    threshold: float
    value: float


@checked
def sweep_top_k(
    scores: ArrayLike, targets: ArrayLike, ks: Sequence[int], *, undefined: Undefined = DEFAULT
) -> dict[Average, Sweep]:
    """Compute precision, recall and F1 of the first k labels, for every k, after one sort.

    Parameters
    ----------
    scores : array-like, shape (n, L)
        Equal scores rank in the order of the columns.
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    ks : sequence of int, at least 0
    undefined : Undefined

    Returns
    -------
    dict
        A `Sweep` for each of "example", "micro", "macro"; points in the order given.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or a k is
        negative.

    Examples
    --------
    >>> sweep = sweep_top_k([[0.9, 0.4, 0.1], [0.3, 0.2, 0.1]], [[0, 1, 0], [1, 0, 0]], [1, 2])
    >>> sweep["micro"].precision.tolist(), sweep["example"].recall.tolist()
    ([0.5, 0.5], [0.5, 1.0])
    """
    points = np.asarray(ks)
    if points.ndim != 1 or not (points.size == 0 or points.dtype.kind in "iu"):
        raise InputError(f"ks = {ks!r} is not a list of integers")
    if (points < 0).any():
        raise InputError(f"k = {points.min()} is negative", remedy="give 0 or more")
    points, rows = points.astype(np.int64), _dense_rows(scores, targets)
    order = order_rows(rows.indptr, rows.scores)
    rows = rows._replace(codes=rows.codes[order], hit=rows.hit[order])
    rising = np.argsort(points, kind="stable")
    bins = np.searchsorted(points[rising], positions(rows.indptr), side="right")
    return {one: _average(rows, one, points, rising, bins, undefined) for one in AVERAGES}


@checked
def sweep_thresholds(
    scores: ArrayLike,
    targets: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    max_points: int = 1001,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Compute precision, recall and F1 of the labels scored above t, for every threshold t.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    thresholds : array-like, shape (T,), optional
        Left out: for micro every decision that a threshold can make, which are those of
        `candidate_thresholds`; for example and macro at most `max_points` of them, evenly spaced
        by rank among the distinct scores, the first and the last included. Falling.
    max_points : int, at least 2
    undefined : Undefined

    Returns
    -------
    dict
        A `Sweep` for each of "example", "micro", "macro"; given thresholds keep their order.

    Raises
    ------
    InputError
        If scores are NaN, targets are not 0 or 1 (both name the row), shapes differ, or a
        threshold is NaN.

    Examples
    --------
    >>> sweep = sweep_thresholds([[0.9, 0.4], [0.3, 0.2]], [[0, 1], [1, 0]], [0.35, 0.25])
    >>> sweep["micro"].f1.tolist(), sweep["example"].recall.tolist()
    ([0.5, 0.8], [0.5, 1.0])
    """
    rows = _dense_rows(scores, targets)
    return sweep_rows(rows, thresholds, max_points=max_points, undefined=undefined)


def sweep_rows(
    rows: Rows,
    thresholds: ArrayLike | None = None,
    *,
    averages: Sequence[Average] = AVERAGES,
    max_points: int = 1001,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Do what `sweep_thresholds` does on ragged rows, in any order within a row.

    Parameters
    ----------
    rows : Rows
        A label without a score is above no threshold.
    averages : sequence of {"example", "micro", "macro"}
        Which to compute.
    thresholds, max_points, undefined
        As for `sweep_thresholds`.

    Returns
    -------
    dict of Sweep
    """
    scores, by_score = rows.scores, None
    if thresholds is None:
        by_score, every = np.argsort(-scores, kind="stable"), candidate_thresholds(scores)
    else:
        every = np.asarray(thresholds, np.float64)
        if every.ndim != 1 or np.isnan(every).any():
            raise InputError("thresholds must be a list of numbers without NaN")
    result: dict[Average, Sweep] = {}
    for average in averages:
        thin = thresholds is None and average != "micro"
        points = thin_out(every, max_points) if thin else every
        falling = np.argsort(-points, kind="stable")
        bins = _first_below(points[falling], scores, by_score)
        result[average] = _average(rows, average, points, falling, bins, undefined)
    return result


@checked
def best_threshold(
    scores: ArrayLike,
    targets: ArrayLike,
    *,
    average: Average = "micro",
    thresholds: ArrayLike | None = None,
    max_points: int = 1001,
    undefined: Undefined = DEFAULT,
) -> BestThreshold:
    """Find the threshold with the best F1; of equally good ones the highest.

    Parameters
    ----------
    scores : array-like, shape (n, L)
    targets : array-like or scipy.sparse, shape (n, L), 0 or 1
    average : {"micro", "macro", "example"}
        Whose F1 is to be best.
    thresholds, max_points, undefined
        As for `sweep_thresholds`: with neither thresholds given nor micro asked for, the search
        is over at most `max_points` of the distinct scores.

    Returns
    -------
    BestThreshold
        threshold and value; ``keep_above`` at this threshold gives this value.

    Raises
    ------
    InputError
        As for `sweep_thresholds`; also if there is no item or no threshold to choose from.

    Examples
    --------
    >>> best_threshold([[0.9, 0.4], [0.3, 0.2]], [[0, 1], [1, 0]])
    BestThreshold(threshold=0.2, value=0.8)
    """
    rows = _dense_rows(scores, targets)
    sweep = sweep_rows(
        rows, thresholds, averages=[average], max_points=max_points, undefined=undefined
    )[average]
    if not len(sweep.points) or not len(rows.n_ref):
        raise InputError("there is no score to choose a threshold by", remedy="give some items")
    best = np.lexsort((sweep.points, sweep.f1))[-1]
    return BestThreshold(float(sweep.points[best]), float(sweep.f1[best]))


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


def thin_out(points: Floats, most: int) -> Floats:
    """Return at most so many of the points, evenly spaced, the first and the last included."""
    if most < 2:
        raise InputError(f"max_points = {most} is below 2")
    if len(points) <= most:
        return points
    thin: Floats = points[np.linspace(0, len(points) - 1, most).round().astype(np.int64)]
    return thin


def _dense_rows(scores: ArrayLike, targets: ArrayLike) -> Rows:
    table = score_matrix(scores)
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    return Rows(
        offsets(np.full(n, width)),
        np.tile(np.arange(width), n),
        truth.ravel(),
        table.ravel(),
        truth.sum(axis=1, dtype=np.int64),
        truth.sum(axis=0, dtype=np.int64),
    )


def _first_below(points: Floats, scores: Floats, by_score: Ints | None) -> Ints:
    """Return the first falling point below each score; `by_score` sorts them, for many points.

    Looking up sorted scores stays in the cache, which among millions of points is ten times faster.
    """
    if by_score is None:
        return np.searchsorted(-points, -scores, side="right")
    bins = np.empty(len(scores), np.int64)
    bins[by_score] = np.searchsorted(-points, -scores[by_score], side="right")
    return bins


def _average(
    rows: Rows,
    average: Average,
    points: NDArray[np.generic],
    order: Ints,
    bins: Ints,
    undefined: Undefined,
) -> Sweep:
    """Return one average at every point; bins count along the points in that order."""
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
