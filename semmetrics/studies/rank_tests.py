"""Ranks of systems over datasets or resamples, and tests that are based on ranks.

Conventions
-----------
A table has one row per dataset or resample and one column per system. All values are defined.
Higher values are better, and rank 1 is best. Equal systems share the mean of their ranks.

Methods
-------
``wilcoxon``   whether two systems differ, from the ranks of the differences of items
``friedman``   whether several systems differ in their ranks at all
``nemenyi``    which pairs of them differ
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Bools, Floats
from semmetrics.errors import InputError
from semmetrics.studies.significance import (
    ROUNDING,
    as_floats,
    as_item_differences,
    check_level,
)

Ties = Literal["mean", "best", "order"]
_MAX_ITEMS_OF_EXACT_RANK_TEST = 50


# ---- ranks -------------------------------------------------------------------------------------


def rank_rows(values: ArrayLike, *, ties: Ties = "mean") -> Floats:
    """Rank the columns of each row, the highest value first.

    Parameters
    ----------
    values : array, shape (rows, systems)
    ties : {"mean", "best", "order"}
        Equal values share the mean of their ranks or the best of them, or are ranked in the order
        of the columns.

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
    check_choice("ties", ties, get_args(Ties))
    table = as_floats(values, "a value to rank", ndim=2)
    n_rows, n_systems = table.shape
    if not table.size:
        raise InputError("too-few-systems", systems=n_systems, rows=n_rows)
    order = np.argsort(-table, axis=1, kind="stable")
    falling = np.take_along_axis(table, order, axis=1)
    positions = np.broadcast_to(np.arange(1.0, n_systems + 1), table.shape)
    sorted_ranks = positions
    if ties != "order":
        tolerance = ROUNDING * np.abs(table).max(axis=1, keepdims=True)
        starts_group = np.ones(table.shape, np.bool_)
        starts_group[:, 1:] = falling[:, :-1] - falling[:, 1:] > tolerance
        first = _first_positions(starts_group, positions)
        sorted_ranks = first
        if ties == "mean":
            sorted_ranks = (first + _last_positions(starts_group, positions)) / 2
    ranks = np.empty(table.shape)
    np.put_along_axis(ranks, order, sorted_ranks, axis=1)
    return ranks


def _first_positions(starts_group: Bools, positions: Floats) -> Floats:
    """Return the first position in the group of equal values of each cell."""
    return np.maximum.accumulate(np.where(starts_group, positions, 0.0), axis=1)


def _last_positions(starts_group: Bools, positions: Floats) -> Floats:
    """Return the last position in the group of equal values of each cell."""
    # The cell before a start ends a group. The first cell of a row is a start, so that rolling
    # marks the last cell of the row.
    ends_group = np.roll(starts_group, -1, axis=1)
    end_positions = np.where(ends_group, positions, np.inf)
    from_the_right = np.minimum.accumulate(end_positions[:, ::-1], axis=1)
    return from_the_right[:, ::-1]


def rank_matrix(values: ArrayLike) -> tuple[Floats, Floats]:
    """Count how often each system has each rank, and average its ranks.

    Parameters
    ----------
    values : array, shape (rows, systems)

    Returns
    -------
    counts : float array, shape (systems, ranks)
        A system that shares its rank counts in equal parts at each of the ranks that the tied
        systems share.
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
    mean_ranks = rank_rows(values)
    best_ranks = rank_rows(values, ties="best")
    # The mean of the ranks that n systems share is (n - 1) / 2 above the best of these ranks.
    n_tied = 2 * (mean_ranks - best_ranks) + 1
    counts = []
    for rank in range(1, mean_ranks.shape[1] + 1):
        has_rank = (best_ranks <= rank) & (rank < best_ranks + n_tied)
        counts.append((has_rank / n_tied).sum(axis=0))
    return np.stack(counts, axis=1), mean_ranks.mean(axis=0)


def rank_differences(
    first: Mapping[str, float], second: Mapping[str, float], *, ties: Ties = "best"
) -> list[dict[str, Any]]:
    """Compare the ranks of systems on two datasets.

    Parameters
    ----------
    first, second : mapping from system to value
        Higher is better. Systems that only one of them has are left out.
    ties : {"best", "mean", "order"}
        Equal values share the best or the mean of their ranks, or are ranked in the order of
        ``first``.

    Returns
    -------
    list of dict
        "system", "first" and "second" (values), "first_rank", "second_rank", and "difference": the
        first rank minus the second, which is positive for a system that ranks better on the
        second. Sorted by the first rank.

    Raises
    ------
    InputError
        If the datasets have no system in common, or a value is not finite.

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
    systems = [system for system in first if system in second]
    if not systems:
        raise InputError(
            "nothing-given", what="systems in common", remedy="score the same systems"
        )
    first_values = [first[system] for system in systems]
    second_values = [second[system] for system in systems]
    ranks = rank_rows([first_values, second_values], ties=ties).tolist()
    rows = []
    for column, system in enumerate(systems):
        first_rank = _as_rank(ranks[0][column])
        second_rank = _as_rank(ranks[1][column])
        row = {
            "system": system,
            "first": first_values[column],
            "second": second_values[column],
            "first_rank": first_rank,
            "second_rank": second_rank,
            "difference": first_rank - second_rank,
        }
        rows.append(row)
    return sorted(rows, key=lambda row: row["first_rank"])


def _as_rank(rank: float) -> float:
    """Return a rank as an integer if it is one."""
    whole = int(rank)
    return whole if rank == whole else rank


# ---- a test of two systems ---------------------------------------------------------------------


def signed_rank_p(differences: ArrayLike) -> float:
    """Return p of the Wilcoxon signed-rank test.

    Differences of 0 are left out, and equal sizes share the mean of their ranks. p is exact for up
    to 50 remaining differences, ties included. For more it is approximated by the normal
    distribution.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.

    Raises
    ------
    InputError
        If there are fewer than two differences, or one is not finite.

    References
    ----------
    Wilcoxon 1945, Biometrics Bulletin 1.

    Examples
    --------
    >>> signed_rank_p([0.1, 0.3, 0.2, 0.4, 0.5]), signed_rank_p([0.0, 0.0])
    (0.0625, 1.0)
    """
    values = as_item_differences(differences)
    sizes = np.abs(values)
    values = values[sizes > ROUNDING * sizes.max()]
    if not len(values):
        return 1.0
    # The largest size has the highest rank. Twice a mean of ranks is an integer.
    ranks = rank_rows([-np.abs(values)])[0]
    doubled_ranks = (2 * ranks).astype(np.int64)
    sum_of_positive = int(doubled_ranks[values > 0].sum())
    sum_of_negative = int(doubled_ranks[values < 0].sum())
    smaller_sum = min(sum_of_positive, sum_of_negative)
    if len(values) <= _MAX_ITEMS_OF_EXACT_RANK_TEST:
        return _exact_rank_sum_p(doubled_ranks.tolist(), smaller_sum)
    from scipy.special import ndtr

    centre = doubled_ranks.sum() / 2
    variance = float((doubled_ranks.astype(np.float64) ** 2).sum()) / 4
    return min(1.0, 2 * float(ndtr((smaller_sum - centre) / math.sqrt(variance))))


def _exact_rank_sum_p(ranks: Sequence[int], smaller_sum: int) -> float:
    """Return p of a sum of signed ranks, from the number of subsets of ranks with each sum."""
    subsets_by_sum = np.ones(1)
    for rank in ranks:
        without_rank = np.pad(subsets_by_sum, (0, rank))
        with_rank = np.pad(subsets_by_sum, (rank, 0))
        subsets_by_sum = without_rank + with_rank
    n_as_small = float(subsets_by_sum[: smaller_sum + 1].sum())
    return min(1.0, 2 * n_as_small / 2.0 ** len(ranks))


# ---- tests of several systems ------------------------------------------------------------------


@dataclass(frozen=True)
class Friedman:
    """Result of the Friedman test of whether systems differ at all.

    Attributes
    ----------
    statistic, p : float
        χ² with ``systems - 1`` degrees of freedom, corrected for ties. nan if all systems are tied
        on all rows.
    f_statistic, f_p : float
        The F statistic of Iman and Davenport, which is less conservative, with ``systems - 1`` and
        ``(systems - 1)(rows - 1)`` degrees of freedom. Infinite, with a p of 0, if all rows rank
        the systems equally.
    rows, systems : int
        The size of the table.
    """

    statistic: float
    p: float
    f_statistic: float
    f_p: float
    rows: int
    systems: int


def friedman(values: ArrayLike) -> Friedman:
    """Test whether systems differ in their ranks over datasets.

    Parameters
    ----------
    values : array, shape (rows, systems)
        At least two rows and two systems.

    Raises
    ------
    InputError
        If there are fewer than two rows or systems.

    References
    ----------
    Friedman 1937, Journal of the American Statistical Association 32. Iman & Davenport 1980.
    Demšar 2006, Journal of Machine Learning Research 7, section 3.2.2.

    Examples
    --------
    >>> test = friedman([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.9, 0.3]])
    >>> round(test.statistic, 4), round(test.p, 4)
    (4.6667, 0.097)
    """
    from scipy.special import chdtrc, fdtrc

    ranks = rank_rows(values)
    n, k = ranks.shape
    if n < 2 or k < 2:
        raise InputError("too-few-systems", systems=k, rows=n)
    centre = (k + 1) / 2
    variance = float(((ranks - centre) ** 2).sum()) / (n * (k - 1))
    if not variance:
        return Friedman(math.nan, math.nan, math.nan, math.nan, n, k)
    between = float(((ranks.mean(axis=0) - centre) ** 2).sum())
    chi_square = n * between / variance
    p = float(chdtrc(k - 1, chi_square))
    residual = n * (k - 1) - chi_square
    if residual <= ROUNDING * chi_square:
        return Friedman(chi_square, p, math.inf, 0.0, n, k)
    f = (n - 1) * chi_square / residual
    f_p = float(fdtrc(k - 1, (k - 1) * (n - 1), f))
    return Friedman(chi_square, p, f, f_p, n, k)


def critical_difference(systems: int, rows: int, level: float = 0.95) -> float:
    """Return how far mean ranks must be apart for two systems to differ (Nemenyi).

    Parameters
    ----------
    systems : int
        The number of systems, at least 2.
    rows : int
        The number of rows, at least 1.
    level : float

    Raises
    ------
    InputError
        If there are too few systems or rows, or the level is not between 0 and 1.

    References
    ----------
    Nemenyi 1963. Demšar 2006, section 3.2.2 and table 5: q sqrt(k (k + 1) / 6 N), where q is the
    quantile of the studentised range divided by sqrt(2).

    Examples
    --------
    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, 0.9), 2)
    (1.25, 1.12)
    """
    if systems < 2 or rows < 1:
        raise InputError("too-few-systems", systems=systems, rows=rows)
    check_level(level)
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, systems, np.inf)) / math.sqrt(2)
    return q * math.sqrt(systems * (systems + 1) / (6 * rows))


def nemenyi_p(means: ArrayLike, rows: int) -> Floats:
    """Return p of each pair of systems from their mean ranks (Nemenyi).

    Parameters
    ----------
    means : array, shape (systems,)
        Mean ranks of at least two systems.
    rows : int
        The number of rows that the ranks are averaged over.

    Returns
    -------
    float array, shape (systems, systems)

    Raises
    ------
    InputError
        If there are too few systems or rows, or a mean rank is not finite.

    Examples
    --------
    >>> nemenyi_p([1.2, 2.0, 2.8], 10).round(3).tolist()[0]
    [1.0, 0.173, 0.001]
    """
    mean_ranks = as_floats(means, "a mean rank")
    k = len(mean_ranks)
    if k < 2 or rows < 1:
        raise InputError("too-few-systems", systems=k, rows=rows)
    from scipy.stats import studentized_range

    distances = np.abs(mean_ranks[:, None] - mean_ranks)
    statistics = distances / math.sqrt(k * (k + 1) / (12 * rows))
    p = studentized_range.sf(statistics, k, np.inf)
    return np.asarray(np.clip(p, 0.0, 1.0), np.float64)


def group_indistinct(means: Floats, difference: float) -> list[list[int]]:
    """Group systems whose mean ranks differ by at most a given difference.

    Returns
    -------
    list of list of int
        Only the largest groups, of two or more systems, from the best mean rank to the worst.

    Examples
    --------
    >>> group_indistinct(np.array([1.0, 3.0, 1.8, 2.4]), 1.0)
    [[0, 2], [2, 3], [3, 1]]
    """
    order = np.argsort(means, kind="stable").tolist()
    rising = means[order]
    groups: list[list[int]] = []
    last_stop = 0
    for start in range(len(order)):
        is_near = rising - rising[start] <= difference
        stop = int(is_near.sum())
        if stop - start > 1 and stop > last_stop:
            groups.append(order[start:stop])
        last_stop = max(last_stop, stop)
    return groups
