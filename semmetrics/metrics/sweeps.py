"""Precision, recall and F1 over every cut of the rankings: first k labels, or a threshold.

Conventions
-----------
A label is kept at k where it is among its item's first k, and at threshold t where its score is
above t, strictly; so ``keep_top`` and ``keep_above`` repeat the decision of every point. Each
label is put once at the first point that keeps it; sums over points do the rest.

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
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, order_rows, positions
from semmetrics.errors import InputError
from semmetrics.metrics.decoding import score_matrix
from semmetrics.metrics.ranking import target_matrix
from semmetrics.metrics.sweep_averages import (
    AVERAGES,
    DEFAULT,
    Average,
    Rows,
    Sweep,
    Undefined,
    candidate_thresholds,
    check_thresholds,
    first_beyond,
    sweep_average,
    thin_out,
)

__all__ = [
    "AVERAGES",
    "DEFAULT",
    "Average",
    "BestThreshold",
    "Sweep",
    "Undefined",
    "best_threshold",
    "candidate_thresholds",
    "sweep_thresholds",
    "sweep_thresholds_rows",
    "sweep_top_k",
    "sweep_top_k_rows",
]


class BestThreshold(NamedTuple):
    """The threshold with the best F1, and that F1."""

    threshold: float
    value: float


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
    table = score_matrix(scores)
    rows = _dense(table, targets)
    order = order_rows(rows.indptr, table.ravel())
    rows = rows._replace(codes=rows.codes[order], hit=rows.hit[order])
    return sweep_top_k_rows(*rows, ks, undefined=undefined)


def sweep_top_k_rows(
    indptr: Ints,
    codes: NDArray[np.integer],
    hit: Bools,
    n_ref: NDArray[np.integer],
    class_ref: NDArray[np.integer],
    ks: Sequence[int],
    *,
    averages: Sequence[Average] = AVERAGES,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Do what `sweep_top_k` does on ragged rows sorted by falling score.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    codes, hit : arrays, shape (indptr[-1],)
        Code of each label in the dictionary, and whether it is a reference label of its item.
    n_ref : array, shape (n,)
        Reference labels of each item, scored or not.
    class_ref : array, shape (n_labels,)
        Items that each label is a reference of.
    ks : sequence of int, at least 0
    averages : sequence of {"example", "micro", "macro"}
        Which to compute.
    undefined : Undefined

    Returns
    -------
    dict of Sweep
    """
    points = np.asarray(ks)
    if points.ndim != 1 or not (points.size == 0 or points.dtype.kind in "iu"):
        raise InputError(f"ks = {ks!r} is not a list of integers")
    if (points < 0).any():
        raise InputError(f"k = {points.min()} is negative", remedy="give 0 or more")
    points = points.astype(np.int64)
    order = np.argsort(points, kind="stable")
    bins = np.searchsorted(points[order], positions(indptr), side="right")
    rows = Rows(indptr, codes, hit, n_ref, class_ref)
    return {
        average: sweep_average(rows, average, points, order, bins, undefined)
        for average in averages
    }


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
    table = score_matrix(scores)
    return sweep_thresholds_rows(
        *_dense(table, targets),
        table.ravel(),
        thresholds,
        max_points=max_points,
        undefined=undefined,
    )


def sweep_thresholds_rows(
    indptr: Ints,
    codes: NDArray[np.integer],
    hit: Bools,
    n_ref: NDArray[np.integer],
    class_ref: NDArray[np.integer],
    scores: Floats,
    thresholds: ArrayLike | None = None,
    *,
    averages: Sequence[Average] = AVERAGES,
    max_points: int = 1001,
    undefined: Undefined = DEFAULT,
) -> dict[Average, Sweep]:
    """Do what `sweep_thresholds` does on ragged rows, in any order within a row.

    Parameters
    ----------
    indptr, codes, hit, n_ref, class_ref, averages
        As for `sweep_top_k_rows`.
    scores : array, shape (indptr[-1],)
    thresholds, max_points, undefined
        As for `sweep_thresholds`. A label without a score is above no threshold.

    Returns
    -------
    dict of Sweep
    """
    rows = Rows(indptr, codes, hit, n_ref, class_ref)
    by_score = None if thresholds is not None else np.argsort(-scores, kind="stable")
    every = check_thresholds(thresholds) if thresholds is not None else candidate_thresholds(scores)
    result: dict[Average, Sweep] = {}
    for average in averages:
        thin = thresholds is None and average != "micro"
        points = thin_out(every, max_points) if thin else every
        order = np.argsort(-points, kind="stable")
        bins = first_beyond(-points[order], -scores, by_score)
        result[average] = sweep_average(rows, average, points, order, bins, undefined)
    return result


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
    table = score_matrix(scores)
    sweep = sweep_thresholds_rows(
        *_dense(table, targets),
        table.ravel(),
        thresholds,
        averages=[average],
        max_points=max_points,
        undefined=undefined,
    )[average]
    if not len(sweep.points) or not len(table):
        raise InputError("there is no score to choose a threshold by", remedy="give some items")
    best = np.lexsort((sweep.points, sweep.f1))[-1]
    return BestThreshold(float(sweep.points[best]), float(sweep.f1[best]))


def _dense(table: Floats, targets: ArrayLike) -> Rows:
    truth = target_matrix(targets, table.shape)
    n, width = table.shape
    return Rows(
        offsets(np.full(n, width)),
        np.tile(np.arange(width), n),
        truth.ravel(),
        truth.sum(axis=1, dtype=np.int64),
        truth.sum(axis=0, dtype=np.int64),
    )
