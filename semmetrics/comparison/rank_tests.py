"""Ranks of many systems over data sets or resamples: how often each, and whether they are chance.

Conventions
-----------
Values are rows of one data set (or resample) with a column for each system; higher is better, and
rank 1 is best. Systems that are equal share the mean of their ranks. All values are defined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import listing, pluralize

__all__ = [
    "Friedman",
    "Ties",
    "alike",
    "critical_difference",
    "friedman",
    "nemenyi_p",
    "rank_differences",
    "rank_matrix",
    "rank_rows",
]

Ties = Literal["mean", "best", "order"]
_ROUNDING = 1e-12  # relative to the largest value of a row: what rounding alone tells apart


@checked
def rank_rows(values: ArrayLike, *, ties: Ties = "mean") -> Floats:
    """Rank the columns of each row, the highest value first.

    Parameters
    ----------
    values : array, shape (rows, systems)
    ties : {"mean", "best", "order"}
        Equal values share the mean of their ranks, or the best; or come in the order of columns.

    Returns
    -------
    float array, shape (rows, systems)

    Raises
    ------
    InputError
        If a value is not finite, or there is no row or system.

    Examples
    --------
    >>> rank_rows([[0.5, 0.9, 0.5]]).tolist(), rank_rows([[0.5, 0.9, 0.5]], ties="best").tolist()
    ([[2.5, 1.0, 2.5]], [[2.0, 1.0, 2.0]])
    """
    if ties not in get_args(Ties):
        raise InputError(f"ties={ties!r}", remedy=f"choose one of {listing(get_args(Ties))}")
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(f"values of shape {table.shape} to rank",
                         remedy="give rows of finite values, one for each system")  # fmt: skip
    order = np.argsort(-table, axis=1, kind="stable")
    ranked = np.take_along_axis(table, order, axis=1)
    ranks = np.empty(table.shape)
    places = np.broadcast_to(np.arange(1.0, table.shape[1] + 1), table.shape)
    if ties != "order":
        slack = _ROUNDING * np.abs(table).max(axis=1, keepdims=True)
        begins = np.ones(table.shape, np.bool_)
        begins[:, 1:] = ranked[:, :-1] - ranked[:, 1:] > slack
        first = np.maximum.accumulate(np.where(begins, places, 0.0), axis=1)
        ends = np.ones(table.shape, np.bool_)
        ends[:, :-1] = begins[:, 1:]
        last = np.where(ends, places, np.inf)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        places = first if ties == "best" else (first + last) / 2
    np.put_along_axis(ranks, order, places, axis=1)
    return ranks


@checked
def rank_matrix(values: ArrayLike) -> tuple[Floats, Floats]:
    """Count how often each system has each rank, and average its ranks.

    Parameters
    ----------
    values : array, shape (rows, systems)

    Returns
    -------
    counts : float array, shape (systems, ranks)
        Systems that are equal count at each of their ranks in equal parts.
    means : float array, shape (systems,)

    References
    ----------
    Xian et al. 2018, figure 5: element (i, j) is how often system i ranks j-th.

    Examples
    --------
    >>> counts, means = rank_matrix([[0.9, 0.5, 0.1], [0.8, 0.8, 0.2]])
    >>> counts.tolist(), means.tolist()
    ([[1.5, 0.5, 0.0], [0.5, 1.5, 0.0], [0.0, 0.0, 2.0]], [1.25, 1.75, 3.0])
    """
    ranks, best = rank_rows(values), rank_rows(values, ties="best")
    sizes = 2 * (ranks - best) + 1
    n = ranks.shape[1]
    counts = np.zeros((n, n))
    for rank in range(n):
        there = (best <= rank + 1) & (rank + 1 < best + sizes)
        counts[:, rank] = (there / sizes).sum(axis=0)
    return counts, ranks.mean(axis=0)


@dataclass(frozen=True)
class Friedman:
    """Whether systems differ at all: the Friedman test.

    Attributes
    ----------
    statistic, p : float
        χ² with ``systems - 1`` degrees of freedom, corrected for ties; nan where all are tied.
    f_statistic, f_p : float
        F of Iman and Davenport, less conservative, with ``systems - 1`` and ``(systems - 1)(rows -
        1)`` degrees of freedom; infinite, with p 0, where all rows rank alike.
    rows, systems : int
    """

    statistic: float
    p: float
    f_statistic: float
    f_p: float
    rows: int
    systems: int


@checked
def friedman(values: ArrayLike) -> Friedman:
    """Test whether systems differ in their ranks over data sets.

    Parameters
    ----------
    values : array, shape (rows, systems)
        At least two rows and two systems.

    Raises
    ------
    InputError
        If there are fewer.

    References
    ----------
    Friedman 1937, Journal of the American Statistical Association 32. Iman & Davenport 1980.
    Demšar 2006, Journal of Machine Learning Research 7, section 3.2.2.

    Examples
    --------
    >>> found = friedman([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.9, 0.3]])
    >>> round(found.statistic, 4), round(found.p, 4)
    (4.6667, 0.097)
    """
    from scipy.special import chdtrc, fdtrc

    ranks = rank_rows(values)
    rows, k = ranks.shape
    if rows < 2 or k < 2:
        raise InputError(
            f"{pluralize(rows, 'data set')} x {pluralize(k, 'system')} to test",
            remedy="give two data sets and systems",
        )
    centre = (k + 1) / 2
    spread = float(((ranks - centre) ** 2).sum()) / (rows * (k - 1))
    between = float(((ranks.mean(axis=0) - centre) ** 2).sum())
    if not spread:
        return Friedman(math.nan, math.nan, math.nan, math.nan, rows, k)
    chi = rows * between / spread
    rest = rows * (k - 1) - chi
    f = (rows - 1) * chi / rest if rest > _ROUNDING * chi else math.inf
    f_p = float(fdtrc(k - 1, (k - 1) * (rows - 1), f)) if math.isfinite(f) else 0.0
    return Friedman(chi, float(chdtrc(k - 1, chi)), f, f_p, rows, k)


@checked
def critical_difference(systems: int, rows: int, level: float = 0.95) -> float:
    """Return by how much mean ranks must differ for two systems to differ (Nemenyi).

    Parameters
    ----------
    systems, rows : int
        From 2 systems and 1 row.
    level : float

    References
    ----------
    Nemenyi 1963. Demšar 2006, section 3.2.2 and table 5: q sqrt(k (k + 1) / 6 N), of which q is the
    quantile of the studentised range over sqrt(2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, 0.9), 2)
    (1.25, 1.12)
    """
    _check_systems(systems, rows)
    if not 0 < level < 1:
        raise InputError(f"level={level} is not between 0 and 1")
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, systems, np.inf)) / math.sqrt(2)
    return q * math.sqrt(systems * (systems + 1) / (6 * rows))


@checked
def nemenyi_p(means: ArrayLike, rows: int) -> Floats:
    """Return p of each pair of systems from their mean ranks over rows (Nemenyi).

    Returns
    -------
    float array, shape (systems, systems)

    Examples
    --------
    >>> nemenyi_p([1.2, 2.0, 2.8], 10).round(3).tolist()[0]
    [1.0, 0.173, 0.001]
    """
    ranks = np.asarray(means, np.float64)
    if ranks.ndim != 1 or not np.isfinite(ranks).all():
        raise InputError(f"mean ranks of shape {ranks.shape}",
                         remedy="give one finite number a system")  # fmt: skip
    _check_systems(len(ranks), rows)
    from scipy.stats import studentized_range

    k = len(ranks)
    apart = np.abs(ranks[:, None] - ranks) / math.sqrt(k * (k + 1) / (12 * rows))
    return np.asarray(np.clip(studentized_range.sf(apart, k, np.inf), 0.0, 1.0), np.float64)


def _check_systems(systems: int, rows: int) -> None:
    if systems < 2 or rows < 1:
        raise InputError(f"{pluralize(systems, 'system')} over {pluralize(rows, 'data set')}",
                         remedy="give at least two systems and a data set")  # fmt: skip


def alike(means: Floats, apart: float) -> list[list[int]]:
    """Group systems whose mean ranks are no further apart; largest groups alone, none of one.

    Examples
    --------
    >>> alike(np.array([1.0, 3.0, 1.8, 2.4]), 1.0)
    [[0, 2], [2, 3], [3, 1]]
    """
    order = np.argsort(means, kind="stable").tolist()
    groups: list[list[int]] = []
    last = 0
    for start in range(len(order)):
        stop = start
        while stop < len(order) and means[order[stop]] - means[order[start]] <= apart:
            stop += 1
        if stop - start > 1 and stop > last:
            groups.append(order[start:stop])
        last = max(last, stop)
    return groups


@checked
def rank_differences(
    first: Mapping[str, float], second: Mapping[str, float], *, ties: Ties = "best"
) -> list[dict[str, Any]]:
    """Compare the ranks of systems on two data sets.

    Parameters
    ----------
    first, second : mapping from system to value
        Higher is better; systems that only one has are left out.
    ties : {"best", "mean", "order"}
        Equal values share the best of their ranks, the mean, or come in the order given.

    Returns
    -------
    list of dict
        "system", "first" and "second" (values), "first_rank", "second_rank", and "difference": the
        first rank less the second, so that a system that is better on the second has a positive
        one. In the order of the first ranks.

    Raises
    ------
    InputError
        If they have no system in common, or a value is not finite.

    References
    ----------
    Wan et al. 2022, tables 3 and 4.

    Examples
    --------
    >>> for row in rank_differences({"A": 0.9, "B": 0.8}, {"A": 0.3, "B": 0.4}):
    ...     print(row["system"], row["first_rank"], row["second_rank"], row["difference"])
    A 1 2 -1
    B 2 1 1
    """
    names = [name for name in first if name in second]
    if not names:
        raise InputError("the two have no system in common", remedy="give scores of the same ones")
    values = [[side[name] for name in names] for side in (first, second)]
    one, other = (_plain(row) for row in rank_rows(values, ties=ties).tolist())
    rows = [
        {"system": name, "first": values[0][place], "second": values[1][place],
         "first_rank": one[place], "second_rank": other[place],
         "difference": one[place] - other[place]}
        for place, name in enumerate(names)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: row["first_rank"])


def _plain(ranks: list[float]) -> list[Any]:
    """Whole ranks as whole numbers."""
    return [int(rank) if rank == int(rank) else rank for rank in ranks]
