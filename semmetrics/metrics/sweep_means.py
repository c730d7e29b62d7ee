"""Means of precision, recall and F1 at every point of a sweep.

Conventions
-----------
Each label of each item is put once at the first point that keeps it; sums over points do the rest.
A ratio 0/0 is a matter of policy: see `Undefined`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, row_numbers
from semmetrics.errors import InputError
from semmetrics.metrics.formulas import divide

__all__ = ["AVERAGES", "DEFAULT", "Average", "Rows", "Sweep", "Undefined", "sweep_average"]

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
    """One average at every point; bins count along the points in their given `order`."""
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
    """Mean precision, recall and F1 of groups of labels at every point, in blocks of groups."""
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
