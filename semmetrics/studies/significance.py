"""Whether differences are chance: p values, their correction, and tests of ranks.

Conventions
-----------
All p values are two-sided. Where n differences are simulated, p = (c + 1) / (n + 1): c of them are
at least as large as the observed difference. Differences that rounding alone tells apart
are equal. p is 1 where nothing differs, and nan where there is no difference to test.

Ranks are of rows (a data set or a resample) with a column for each system; higher is better, and
rank 1 is best. Equal systems share the mean of their ranks. All values are defined.

Methods
-------
``bootstrap``            differences of resamples, shifted so that their mean is 0
``bootstrap-sacrebleu``  the same of their sizes, as Riezler & Maxwell 2005 and sacrebleu have it
``randomization``        differences after the items of both systems are swapped at random
``sign flips``           means of differences whose signs are random (of tables of values)
``t``, ``wilcoxon``      from the differences of items
``williams``             of two correlations with the same third variable
``friedman``             whether systems differ in their ranks at all; pairs by Nemenyi's test
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.options import CORRECTIONS

LEAST_OF_WILLIAMS = 4
"""Items that Williams' test needs."""
_ROUNDING = 1e-12  # relative to the largest value or difference
_EXACT = 50  # items whose signed ranks are counted out
_MAX_CELLS_PER_BATCH = 1_000_000  # signs that are drawn at a time
Ties = Literal["mean", "best", "order"]


def as_floats(
    values: ArrayLike, role: str, *, ndim: int = 1, finite: bool = True
) -> Floats:
    """Return numbers as an array of so many dimensions.

    Raises
    ------
    InputError
        If values are masked, not finite, or have another number of dimensions.
    """
    if np.ma.is_masked(values):  # NumPy would use the numbers below the mask
        raise InputError("masked", role)
    found = np.asarray(values, np.float64)
    if found.ndim != ndim:
        wanted = "one number each" if ndim == 1 else "rows of numbers"
        raise InputError("wrong-shape", role=role, shape=found.shape, wanted=wanted)
    if finite and not np.isfinite(found).all():
        value = float(found[~np.isfinite(found)][0])
        raise InputError("not-finite", role=role, value=value)
    return found


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(
            "bad-option", name="level", value=level, wanted="a number between 0 and 1"
        )


def subtract(values: Floats | float, others: Floats | float) -> Floats:
    """Return differences of values, 0 where rounding alone tells two apart.

    Examples
    --------
    >>> subtract(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    found = values - others
    largest = max(
        np.fmax.reduce(np.abs(side).ravel(), initial=0.0) for side in (values, others)
    )
    slack = _ROUNDING * np.maximum(min(1.0, largest), np.abs(values))
    return np.where(np.abs(found) <= slack, 0.0, found)


def simulated_p(simulated: ArrayLike, difference: float) -> float:
    """Return the share of simulated differences at least as large as the one that was found.

    Parameters
    ----------
    simulated : array, shape (n,)
        Under the null hypothesis; nan, where there is none, is left out.
    difference : float

    Returns
    -------
    float
        (c + 1) / (n + 1), in (0, 1]; nan without a difference or simulated ones.

    References
    ----------
    Noreen 1989, Computer-intensive methods for testing hypotheses. Edgington 1986.

    Examples
    --------
    >>> simulated_p([0.1, -0.3, 0.2], -0.2)
    0.75
    """
    values = np.abs(_defined(simulated))
    return _share(values, abs(difference), float(values.max(initial=0.0)))


def _defined(simulated: ArrayLike) -> Floats:
    """Return the simulated differences that there are."""
    values = as_floats(simulated, "a simulated difference", finite=False)
    return values[~np.isnan(values)]


def _share(values: Floats, least: float, largest: float) -> float:
    if math.isnan(least) or not len(values):
        return math.nan
    reached = values >= least - _ROUNDING * max(least, largest)
    return (int(reached.sum()) + 1) / (len(values) + 1)


def shifted_p(replicates: ArrayLike, difference: float) -> float:
    """Return p of a paired bootstrap: differences of resamples, moved so that their mean is 0.

    Parameters
    ----------
    replicates : array, shape (n,)
        The difference in each resample; nan where there is none.
    difference : float

    References
    ----------
    Noreen 1989, section 3.3 (the shift method). Riezler & Maxwell 2005, section 4.

    Examples
    --------
    >>> shifted_p([0.1, 0.2, 0.3, 0.2], 0.2), shifted_p([0.0, 0.0], 0.0)
    (0.2, 1.0)
    """
    values = _defined(replicates)
    if not np.isfinite(values).all() or not len(values):  # they have no mean
        return math.nan
    largest = float(np.abs(values).max())
    return _share(np.abs(values - values.mean()), abs(difference), largest)


def shifted_size_p(replicates: ArrayLike, difference: float) -> float:
    """Return p as sacrebleu's paired bootstrap: sizes of differences, less their mean size.

    Where the sign of the difference is clear, one tail is counted: p is half of `shifted_p`, and
    systems without a difference are told apart more often than the level says. As in sacrebleu,
    only what is larger than the difference counts; unlike there, p is 1 where no resample differs.

    Parameters
    ----------
    replicates : array, shape (n,)
        The difference in each resample; nan where there is none.
    difference : float

    References
    ----------
    Riezler & Maxwell 2005, figure 2. sacrebleu 2.6, ``significance.py``.

    Examples
    --------
    >>> shifted_size_p([0.1, 0.2, 0.3, 0.2], 0.2), shifted_size_p([0.0, 0.0], 0.0)
    (0.2, 1.0)
    """
    values = np.abs(_defined(replicates))
    if math.isnan(difference) or not np.isfinite(values).all() or not len(values):
        return math.nan
    if not values.any():
        return 1.0
    least = abs(difference) + _ROUNDING * max(abs(difference), float(values.max()))
    return (int((values - values.mean() > least).sum()) + 1) / (len(values) + 1)


def sign_flip_p(
    differences: ArrayLike, resamples: int, seed: int, rounding: float = 0.0
) -> float:
    """Return p of the mean difference if the signs of differences are random.

    All signs are counted if there are at most ``resamples`` combinations of them. Otherwise as many
    are drawn.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.
    resamples, seed : int
    rounding : float
        The largest rounding error of a difference. A mean that is only that much below the
        observed one is counted as equal to it.

    Returns
    -------
    float
        Twice the share of means that are at least as far on one side as the observed one, at most
        1. If signs are drawn, the observed ones count as one more draw.

    Raises
    ------
    InputError
        If there are fewer, or one is not finite.

    References
    ----------
    Fisher 1935, The design of experiments, section 21. Phipson & Smyth 2010.

    Examples
    --------
    The mean of the second is 0, although its sum in floats is not:

    >>> sign_flip_p([0.1, 0.3, 0.2, 0.4, 0.5], 1000, 0)
    0.0625
    >>> sign_flip_p([0.1, 0.2, -0.3], 1000, 0)
    1.0
    """
    from scipy.stats import permutation_test

    values = _of_items(differences)
    batch = 1 + _MAX_CELLS_PER_BATCH // len(values)
    test = permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=seed,
        batch=batch,
    )
    means = np.asarray(test.null_distribution)
    observed = float(test.statistic)
    slack = max(rounding, _ROUNDING * float(np.abs(values).max()))
    at_most = int((means <= observed + slack).sum())
    at_least = int((means >= observed - slack).sum())
    is_exact = len(values) < 64 and 2 ** len(values) <= resamples
    observed_draws = 0 if is_exact else 1
    share = (min(at_most, at_least) + observed_draws) / (len(means) + observed_draws)
    return min(1.0, 2 * share)


def student_t(
    differences: ArrayLike, level: float = 0.95
) -> tuple[float, float, float]:
    """Return p of a paired t-test, and the interval of the mean difference.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.
    level : float

    Returns
    -------
    p, low, high : float
        Where all differences are equal, p is 1 if they are 0 and nan otherwise.

    Raises
    ------
    InputError
        If there are fewer, one is not finite, or the level is not between 0 and 1.

    Examples
    --------
    >>> [round(value, 4) for value in student_t([0.1, 0.3, 0.2, 0.4])]
    [0.0305, 0.0446, 0.4554]
    """
    from scipy.special import stdtr, stdtrit

    values = _of_items(differences)
    _check_level(level)
    mean, n = math.fsum(values) / len(values), len(values)
    spread = math.sqrt(math.fsum((values - mean) ** 2) / (n - 1) / n)
    if spread <= _ROUNDING * abs(mean):
        return 1.0 if mean == 0 else math.nan, mean, mean
    half = float(stdtrit(n - 1, (1 + level) / 2)) * spread
    return 2 * float(stdtr(n - 1, -abs(mean) / spread)), mean - half, mean + half


def signed_rank_p(differences: ArrayLike) -> float:
    """Return p of the Wilcoxon signed-rank test.

    Differences of 0 are left out; equal ones share the mean of their ranks. Up to 50 that are left,
    p is counted out over all signs (ties included); of more it is that of the normal distribution.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.

    Raises
    ------
    InputError
        If there are fewer, or one is not finite.

    References
    ----------
    Wilcoxon 1945, Biometrics Bulletin 1.

    Examples
    --------
    >>> signed_rank_p([0.1, 0.3, 0.2, 0.4, 0.5]), signed_rank_p([0.0, 0.0])
    (0.0625, 1.0)
    """
    values = _of_items(differences)
    values = values[np.abs(values) > _ROUNDING * np.abs(values).max()]
    if not len(values):
        return 1.0
    # twice the mean rank, a whole
    doubled = (2 * rank_rows([-np.abs(values)])[0]).astype(np.int64)
    less = min(int(doubled[values > 0].sum()), int(doubled[values < 0].sum()))
    if len(values) <= _EXACT:
        ways = np.ones(1)
        for rank in doubled.tolist():
            ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
        return min(1.0, 2 * float(ways[: less + 1].sum()) / 2.0 ** len(values))
    from scipy.special import ndtr

    centre, variance = (
        doubled.sum() / 2,
        float((doubled.astype(np.float64) ** 2).sum()) / 4,
    )
    return min(1.0, 2 * float(ndtr((less - centre) / math.sqrt(variance))))


def williams_p(first: float, second: float, between: float, n: int) -> float:
    r"""Return p of Williams' test: whether two scores correlate alike with the same ratings.

    .. math:: t = (r_1 - r_2) \sqrt{\frac{(n - 1)(1 + r_{12})}
        {2 \frac{n - 1}{n - 3} |R| + \frac{(r_1 + r_2)^2}{4} (1 - r_{12})^3}}

    with n - 3 degrees of freedom and :math:`|R| = 1 - r_1^2 - r_2^2 - r_{12}^2 + 2 r_1 r_2 r_{12}`.

    Parameters
    ----------
    first, second : float
        Pearson's correlation of either score with the ratings.
    between : float
        That of one score with the other.
    n : int
        Items, which the test takes as independent; at least four.

    Returns
    -------
    float
        1 where the correlations are equal; nan where one is not defined.

    Raises
    ------
    InputError
        If there are fewer than four items.

    References
    ----------
    Williams, 1959, Regression analysis. Steiger, 1980, Tests for comparing elements of a
    correlation matrix, Psychological Bulletin 87, equation 7.

    Examples
    --------
    >>> round(williams_p(0.4, 0.5, 0.1, 103), 4), williams_p(0.4, 0.4, 1.0, 10)
    (0.3749, 1.0)
    """
    from scipy.special import stdtr

    if n < LEAST_OF_WILLIAMS:
        raise InputError(
            "too-few-for-test",
            n=n,
            least=LEAST_OF_WILLIAMS,
            test="Williams' test",
            unit="item",
        )
    if any(math.isnan(value) for value in (first, second, between)):
        return math.nan
    if abs(first - second) <= _ROUNDING:
        return 1.0
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    rest = 2 * (n - 1) / (n - 3) * max(0.0, determinant)
    rest += ((first + second) / 2) ** 2 * (1 - between) ** 3
    if rest <= 0:
        return 0.0
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / rest)
    return 2 * float(stdtr(n - 3, -abs(t)))


def _of_items(differences: ArrayLike) -> Floats:
    """Return the differences of items, of which a test needs two."""
    values = as_floats(differences, "the difference of an item")
    if len(values) < 2:
        raise InputError(
            "too-few-for-test", n=len(values), least=2, test="a test", unit="item"
        )
    return values


def correct_p(values: Sequence[float], method: str = "holm") -> list[float]:
    """Correct p values for their number; those that are nan do not count.

    Parameters
    ----------
    values : sequence of float
    method : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        The first two hold the chance of any false difference at the level; "benjamini-hochberg" the
        share of false ones among the differences found.

    Raises
    ------
    InputError
        If there is no such correction, or a p value is not in [0, 1].

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6. Benjamini & Hochberg 1995, Journal of the Royal
    Statistical Society B 57.

    Examples
    --------
    >>> correct_p([0.01, 0.04, 0.03]), correct_p([0.01, 0.04, 0.03], "bonferroni")
    ([0.03, 0.06, 0.06], [0.03, 0.12, 0.09])
    """
    check_choice("correction", method, CORRECTIONS)
    given = np.array(values, np.float64)
    known = np.flatnonzero(~np.isnan(given))
    for value in given[known].tolist():
        if not 0 <= value <= 1:
            raise InputError(
                "out-of-range", role="a p value", value=value, wanted="0 to 1"
            )
    ranked = known[np.argsort(given[known], kind="stable")]
    rising, n = given[ranked], len(ranked)
    if method == "bonferroni":
        rising = rising * n
    elif method == "holm":
        rising = np.maximum.accumulate(rising * np.arange(n, 0, -1))
    elif method == "benjamini-hochberg":
        rising = np.minimum.accumulate((rising * n / np.arange(1, n + 1))[::-1])[::-1]
    given[ranked] = np.minimum(rising, 1.0)
    return [float(value) for value in given.tolist()]


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
    check_choice("ties", ties, get_args(Ties))
    table = as_floats(values, "a value to rank", ndim=2)
    if not table.size:
        raise InputError("too-few-systems", systems=table.shape[1], rows=len(table))
    order = np.argsort(-table, axis=1, kind="stable")
    ranked = np.take_along_axis(table, order, axis=1)
    ranks = np.empty(table.shape)
    places = np.broadcast_to(np.arange(1.0, table.shape[1] + 1), table.shape)
    if ties != "order":
        slack = _ROUNDING * np.abs(table).max(axis=1, keepdims=True)
        begins = np.ones(table.shape, np.bool_)
        begins[:, 1:] = ranked[:, :-1] - ranked[:, 1:] > slack
        first = np.maximum.accumulate(np.where(begins, places, 0.0), axis=1)
        last = np.where(np.roll(begins, -1, axis=1), places, np.inf)
        last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
        places = first if ties == "best" else (first + last) / 2
    np.put_along_axis(ranks, order, places, axis=1)
    return ranks


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
    counts = [
        (((best <= rank) & (rank < best + sizes)) / sizes).sum(axis=0)
        for rank in range(1, ranks.shape[1] + 1)
    ]
    return np.stack(counts, axis=1), ranks.mean(axis=0)


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
        raise InputError("too-few-systems", systems=k, rows=rows)
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
    if systems < 2 or rows < 1:
        raise InputError("too-few-systems", systems=systems, rows=rows)
    _check_level(level)
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(level, systems, np.inf)) / math.sqrt(2)
    return q * math.sqrt(systems * (systems + 1) / (6 * rows))


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
    ranks = as_floats(means, "a mean rank")
    if len(ranks) < 2 or rows < 1:
        raise InputError("too-few-systems", systems=len(ranks), rows=rows)
    from scipy.stats import studentized_range

    k = len(ranks)
    apart = np.abs(ranks[:, None] - ranks) / math.sqrt(k * (k + 1) / (12 * rows))
    return np.asarray(
        np.clip(studentized_range.sf(apart, k, np.inf), 0.0, 1.0), np.float64
    )


def group_indistinct(means: Floats, difference: float) -> list[list[int]]:
    """Group systems whose mean ranks differ by no more; the largest groups, none of one system.

    Examples
    --------
    >>> group_indistinct(np.array([1.0, 3.0, 1.8, 2.4]), 1.0)
    [[0, 2], [2, 3], [3, 1]]
    """
    order = np.argsort(means, kind="stable").tolist()
    groups: list[list[int]] = []
    last = 0
    for start in range(len(order)):
        stop = int((means[order] - means[order[start]] <= difference).sum())
        if stop - start > 1 and stop > last:
            groups.append(order[start:stop])
        last = max(last, stop)
    return groups


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
        raise InputError(
            "nothing-given", what="systems in common", remedy="score the same ones"
        )
    values = [[side[name] for name in names] for side in (first, second)]
    ranks = (
        [int(rank) if rank == int(rank) else rank for rank in row]
        for row in rank_rows(values, ties=ties).tolist()
    )
    rows = [
        {
            "system": name,
            "first": a,
            "second": b,
            "first_rank": one,
            "second_rank": other,
            "difference": one - other,
        }
        for name, a, b, one, other in zip(names, *values, *ranks, strict=True)
    ]
    return sorted(rows, key=lambda row: row["first_rank"])
