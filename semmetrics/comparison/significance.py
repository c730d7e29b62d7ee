"""Whether a difference is chance: p values, their correction, and tests of item differences.

Conventions
-----------
All p values are two-sided. Where n differences are simulated, p = (c + 1) / (n + 1): c of them are
at least as large as the difference that was found. Differences that rounding alone tells apart
are equal. p is 1 where nothing differs, and nan where there is no difference to test.

Methods
-------
``bootstrap``            differences of resamples, moved so that their mean is 0
``bootstrap-sacrebleu``  the same of their sizes, as Riezler & Maxwell 2005 and sacrebleu have it
``randomization``        differences after the items of both systems are swapped at random
``t``, ``wilcoxon``      from the differences of items
``williams``             of two correlations with the same third variable
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.comparison.rank_tests import rank_rows
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.messages import listing
from semmetrics.options import CORRECTIONS

__all__ = [
    "LEAST_OF_WILLIAMS",
    "correct_p",
    "shifted_p",
    "shifted_size_p",
    "signed_rank_p",
    "simulated_p",
    "student_t",
    "subtract",
    "williams_p",
]

LEAST_OF_WILLIAMS = 4
"""Items that Williams' test needs."""
_ROUNDING = 1e-12  # of the differences, relative to the largest one
_EXACT = 50  # items whose signed ranks are counted out


def subtract(values: Floats | float, others: Floats | float) -> Floats:
    """Return differences of values, 0 where rounding alone tells two apart.

    Examples
    --------
    >>> subtract(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    found = values - others
    largest = max(np.fmax.reduce(np.abs(side).ravel(), initial=0.0) for side in (values, others))
    slack = _ROUNDING * np.maximum(min(1.0, largest), np.abs(values))
    return np.where(np.abs(found) <= slack, 0.0, found)


@checked
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
    values: Floats = np.asarray(simulated, np.float64)
    if values.ndim != 1:
        raise InputError(f"simulated differences of shape {values.shape}",
                         remedy="give one number a simulation")  # fmt: skip
    return values[~np.isnan(values)]


def _share(values: Floats, least: float, largest: float) -> float:
    if math.isnan(least) or not len(values):
        return math.nan
    reached = values >= least - _ROUNDING * max(least, largest)
    return (int(reached.sum()) + 1) / (len(values) + 1)


@checked
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


@checked
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
    return (int((values - values.mean() > abs(difference)).sum()) + 1) / (len(values) + 1)


@checked
def student_t(differences: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """Return p of a paired t-test, and the interval of the mean difference.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.
    level : float

    Returns
    -------
    p, low, high : float
        Where all differences are equal, p is 1 if they are 0 and 0 otherwise.

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
    if not 0 < level < 1:
        raise InputError(f"level={level} is not between 0 and 1")
    mean, n = math.fsum(values) / len(values), len(values)
    spread = math.sqrt(math.fsum((values - mean) ** 2) / (n - 1) / n)
    if spread <= _ROUNDING * abs(mean):
        return float(mean == 0), mean, mean
    half = float(stdtrit(n - 1, (1 + level) / 2)) * spread
    return 2 * float(stdtr(n - 1, -abs(mean) / spread)), mean - half, mean + half


@checked
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
    doubled = (2 * rank_rows([-np.abs(values)])[0]).astype(np.int64)  # twice the mean rank, a whole
    less = min(int(doubled[values > 0].sum()), int(doubled[values < 0].sum()))
    if len(values) <= _EXACT:
        ways = np.ones(1)
        for rank in doubled.tolist():
            ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
        return min(1.0, 2 * float(ways[: less + 1].sum()) / 2.0 ** len(values))
    from scipy.special import ndtr

    centre, variance = doubled.sum() / 2, float((doubled.astype(np.float64) ** 2).sum()) / 4
    return min(1.0, 2 * float(ndtr((less - centre) / math.sqrt(variance))))


@checked
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
        raise InputError(f"Williams' test needs at least four items, and {n} can be compared",
                         remedy="give more items, or use test='bootstrap' (--test)")  # fmt: skip
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
    values: Floats = np.asarray(differences, np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InputError(f"differences of shape {values.shape} to test",
                         remedy="give one finite number an item")  # fmt: skip
    if len(values) < 2:
        raise InputError(
            f"a test needs at least two items, and {len(values)} can be compared",
            remedy="give more items",
        )
    return values


@checked
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
    if method not in CORRECTIONS:
        raise InputError(f"correction={method!r}", remedy=f"choose one of {listing(CORRECTIONS)}")
    given = np.array(values, np.float64)
    known = np.flatnonzero(~np.isnan(given))
    wrong = [value for value in given[known].tolist() if not 0 <= value <= 1]
    if wrong:
        raise InputError(f"a p value is {wrong[0]}", remedy="give numbers from 0 to 1")
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
