"""Significance of differences: p values and their correction for multiple comparisons.

Conventions
-----------
All p values are two-sided. If n differences are simulated, p = (c + 1) / (n + 1), where c counts
the simulated differences that are at least as large as the observed one. Values that differ only by
rounding errors are treated as equal. p is 1 if nothing differs, and nan if there is no
difference to test.

Methods
-------
``bootstrap``            differences of resamples, shifted so that their mean is 0
``bootstrap-sacrebleu``  absolute differences of resamples, shifted as in Riezler & Maxwell 2005
                         and sacrebleu
``randomization``        differences after the items of both systems are swapped at random
``sign flips``           means of differences with random signs (for tables of values)
``t``                    Student's test of the differences of items
``williams``             difference of two correlations with the same third variable
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.options import CORRECTIONS

LEAST_OF_WILLIAMS = 4
"""The smallest number of items for Williams' test."""
ROUNDING = 1e-12
"""Relative difference up to which two numbers count as equal."""

_MAX_SIGNS_PER_BATCH = 1_000_000


# ---- checks of arguments -----------------------------------------------------------------------


def as_floats(
    values: ArrayLike, role: str, *, ndim: int = 1, finite: bool = True
) -> Floats:
    """Return numbers as a float array after checking them.

    Parameters
    ----------
    values : array
    role : str
        What error messages call a value.
    ndim : int
        The number of dimensions that the array must have.
    finite : bool
        Whether all numbers must be finite.

    Raises
    ------
    InputError
        If values are masked or not finite, or the number of dimensions is wrong.
    """
    # NumPy would use the numbers below the mask.
    if np.ma.is_masked(values):
        raise InputError("masked", role)
    array = np.asarray(values, np.float64)
    if array.ndim != ndim:
        wanted = "one number each" if ndim == 1 else "rows of numbers"
        raise InputError("wrong-shape", role=role, shape=array.shape, wanted=wanted)
    if not finite:
        return array
    is_finite = np.isfinite(array)
    if not is_finite.all():
        first_wrong = float(array[~is_finite][0])
        raise InputError("not-finite", role=role, value=first_wrong)
    return array


def check_level(level: float) -> None:
    """Check that a confidence level is between 0 and 1.

    Raises
    ------
    InputError
        If it is not.
    """
    if not 0 < level < 1:
        raise InputError(
            "bad-option", name="level", value=level, wanted="a number between 0 and 1"
        )


def as_item_differences(differences: ArrayLike) -> Floats:
    """Return the differences of items as an array of at least two finite numbers.

    Raises
    ------
    InputError
        If there are fewer than two differences, or one is not finite.
    """
    values = as_floats(differences, "the difference of an item")
    if len(values) < 2:
        raise InputError(
            "too-few-for-test", n=len(values), least=2, test="a test", unit="item"
        )
    return values


# ---- differences -------------------------------------------------------------------------------


def subtract(values: Floats | float, others: Floats | float) -> Floats:
    """Subtract values. The result is 0 if two values differ only by rounding errors.

    Examples
    --------
    >>> subtract(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    differences = values - others
    # A tolerance relative to each value would be too small for values near 0 among larger ones.
    largest = max(_largest_size(values), _largest_size(others))
    tolerance = ROUNDING * np.maximum(min(1.0, largest), np.abs(values))
    return np.where(np.abs(differences) <= tolerance, 0.0, differences)


def _largest_size(values: Floats | float) -> float:
    """Return the largest absolute value, ignoring nan."""
    sizes = np.abs(values).ravel()
    return float(np.fmax.reduce(sizes, initial=0.0))


# ---- tests on simulated differences ------------------------------------------------------------


def simulated_p(simulated: ArrayLike, difference: float) -> float:
    """Return p from differences that were simulated under the null hypothesis.

    Parameters
    ----------
    simulated : array, shape (n,)
        nan is an undefined difference, which is left out.
    difference : float
        The observed difference.

    Returns
    -------
    float
        (c + 1) / (n + 1), in (0, 1]. nan if the observed difference is nan, or no simulated
        difference is defined.

    References
    ----------
    Noreen 1989, Computer-intensive methods for testing hypotheses. Edgington 1986.

    Examples
    --------
    >>> simulated_p([0.1, -0.3, 0.2], -0.2)
    0.75
    """
    sizes = np.abs(_drop_undefined(simulated))
    largest = float(sizes.max(initial=0.0))
    return _share_as_large(sizes, abs(difference), largest)


def _drop_undefined(simulated: ArrayLike) -> Floats:
    """Return the simulated differences that are not nan."""
    values = as_floats(simulated, "a simulated difference", finite=False)
    return values[~np.isnan(values)]


def _share_as_large(sizes: Floats, observed: float, largest: float) -> float:
    """Return the share of sizes that are at least as large as the observed one.

    The observed size is one more size in this share. ``largest`` is the largest value that the
    sizes were computed from, to which rounding errors are relative.
    """
    if math.isnan(observed) or not len(sizes):
        return math.nan
    is_as_large = sizes >= observed - ROUNDING * max(observed, largest)
    return (int(is_as_large.sum()) + 1) / (len(sizes) + 1)


def shifted_p(replicates: ArrayLike, difference: float) -> float:
    """Return p of a paired bootstrap, whose differences are shifted so that their mean is 0.

    Parameters
    ----------
    replicates : array, shape (n,)
        The difference in each resample, nan if it is undefined.
    difference : float
        The observed difference.

    Returns
    -------
    float
        nan if the observed difference is nan, a replicate is infinite, or none is defined.

    References
    ----------
    Noreen 1989, section 3.3 (the shift method). Riezler & Maxwell 2005, section 4.

    Examples
    --------
    >>> shifted_p([0.1, 0.2, 0.3, 0.2], 0.2), shifted_p([0.0, 0.0], 0.0)
    (0.2, 1.0)
    """
    values = _drop_undefined(replicates)
    if not np.isfinite(values).all() or not len(values):  # without a mean
        return math.nan
    largest = float(np.abs(values).max())
    shifted_sizes = np.abs(values - values.mean())
    return _share_as_large(shifted_sizes, abs(difference), largest)


def shifted_size_p(replicates: ArrayLike, difference: float) -> float:
    """Return p of sacrebleu's paired bootstrap: absolute differences minus their mean.

    If the sign of the difference is clear, only one tail counts. p is then half of `shifted_p`,
    and equal systems are found to differ more often than the level allows. As in sacrebleu, only
    differences larger than the observed one count. Unlike in sacrebleu, p is 1 if no resample
    differs.

    Parameters
    ----------
    replicates : array, shape (n,)
        The difference in each resample, nan if it is undefined.
    difference : float
        The observed difference.

    Returns
    -------
    float
        nan if the observed difference is nan, a replicate is infinite, or none is defined.

    References
    ----------
    Riezler & Maxwell 2005, figure 2. sacrebleu 2.6, ``significance.py``.

    Examples
    --------
    >>> shifted_size_p([0.1, 0.2, 0.3, 0.2], 0.2), shifted_size_p([0.0, 0.0], 0.0)
    (0.2, 1.0)
    """
    sizes = np.abs(_drop_undefined(replicates))
    if math.isnan(difference) or not np.isfinite(sizes).all() or not len(sizes):
        return math.nan
    if not sizes.any():
        return 1.0
    observed = abs(difference)
    threshold = observed + ROUNDING * max(observed, float(sizes.max()))
    is_larger = sizes - sizes.mean() > threshold
    return (int(is_larger.sum()) + 1) / (len(sizes) + 1)


def sign_flip_p(
    differences: ArrayLike, resamples: int, seed: int, rounding: float = 0.0
) -> float:
    """Return p of the mean difference if the signs of differences are random.

    All combinations of signs are enumerated if there are at most ``resamples`` of them. Otherwise
    that many are drawn.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.
    resamples, seed : int
    rounding : float
        The largest rounding error of a difference. A mean that is smaller than the observed one by
        no more than this counts as equal to it.

    Returns
    -------
    float
        Twice the share of means that are at least as far on one side as the observed mean, at most
        1. If signs are drawn, the observed signs count as one more draw.

    Raises
    ------
    InputError
        If there are fewer than two differences, or one is not finite.

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

    values = as_item_differences(differences)
    test = permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        rng=seed,
        batch=1 + _MAX_SIGNS_PER_BATCH // len(values),
    )
    means = np.asarray(test.null_distribution)
    observed = float(test.statistic)
    tolerance = max(rounding, ROUNDING * float(np.abs(values).max()))
    at_most = int((means <= observed + tolerance).sum())
    at_least = int((means >= observed - tolerance).sum())
    # SciPy enumerates all combinations of signs if there are at most so many.
    is_exact = len(values) < 64 and 2 ** len(values) <= resamples
    observed_draws = 0 if is_exact else 1
    share = (min(at_most, at_least) + observed_draws) / (len(means) + observed_draws)
    return min(1.0, 2 * share)


# ---- tests on the differences of items ---------------------------------------------------------


def student_t(
    differences: ArrayLike, level: float = 0.95
) -> tuple[float, float, float]:
    """Return p of a paired t-test, and the confidence interval of the mean difference.

    Parameters
    ----------
    differences : array, shape (items,)
        At least two, all finite.
    level : float

    Returns
    -------
    p, low, high : float
        If all differences are equal, p is 1 if they are 0 and nan otherwise.

    Raises
    ------
    InputError
        If there are fewer than two differences, one is not finite, or the level is not between 0
        and 1.

    Examples
    --------
    >>> [round(value, 4) for value in student_t([0.1, 0.3, 0.2, 0.4])]
    [0.0305, 0.0446, 0.4554]
    """
    from scipy.special import stdtr, stdtrit

    values = as_item_differences(differences)
    check_level(level)
    n = len(values)
    mean = math.fsum(values) / n
    standard_error = math.sqrt(math.fsum((values - mean) ** 2) / (n - 1) / n)
    if standard_error <= ROUNDING * abs(mean):
        p = 1.0 if mean == 0 else math.nan
        return p, mean, mean
    half_width = float(stdtrit(n - 1, (1 + level) / 2)) * standard_error
    p = 2 * float(stdtr(n - 1, -abs(mean) / standard_error))
    return p, mean - half_width, mean + half_width


def williams_p(first: float, second: float, between: float, n: int) -> float:
    r"""Return p of Williams' test that two scores correlate equally with the same ratings.

    .. math:: t = (r_1 - r_2) \sqrt{\frac{(n - 1)(1 + r_{12})}
        {2 \frac{n - 1}{n - 3} |R| + \frac{(r_1 + r_2)^2}{4} (1 - r_{12})^3}}

    with n - 3 degrees of freedom and :math:`|R| = 1 - r_1^2 - r_2^2 - r_{12}^2 + 2 r_1 r_2 r_{12}`.

    Parameters
    ----------
    first, second : float
        Pearson's correlation of each score with the ratings.
    between : float
        Pearson's correlation of the two scores.
    n : int
        The number of items, at least four. The test assumes that they are independent.

    Returns
    -------
    float
        1 if the correlations are equal, nan if one is undefined.

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
    if math.isnan(first) or math.isnan(second) or math.isnan(between):
        return math.nan
    if abs(first - second) <= ROUNDING:
        return 1.0
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    denominator = 2 * (n - 1) / (n - 3) * max(0.0, determinant)
    denominator += ((first + second) / 2) ** 2 * (1 - between) ** 3
    if denominator <= 0:
        return 0.0
    t = (first - second) * math.sqrt((n - 1) * (1 + between) / denominator)
    return 2 * float(stdtr(n - 3, -abs(t)))


# ---- multiple comparisons ----------------------------------------------------------------------


def correct_p(values: Sequence[float], method: str = "holm") -> list[float]:
    """Correct p values for the number of comparisons.

    Parameters
    ----------
    values : sequence of float
        Values of nan stay nan and do not count as comparisons.
    method : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        The first two control the probability of any false difference. "benjamini-hochberg"
        controls the share of false differences among those found.

    Raises
    ------
    InputError
        If the method is unknown, or a p value is not in [0, 1].

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
    p_values = np.array(values, np.float64)
    defined = np.flatnonzero(~np.isnan(p_values))
    for value in p_values[defined].tolist():
        if not 0 <= value <= 1:
            raise InputError(
                "out-of-range", role="a p value", value=value, wanted="0 to 1"
            )
    rising_order = defined[np.argsort(p_values[defined], kind="stable")]
    rising = p_values[rising_order]
    n = len(rising)
    corrected = rising
    if method == "bonferroni":
        corrected = rising * n
    elif method == "holm":
        corrected = np.maximum.accumulate(rising * np.arange(n, 0, -1))
    elif method == "benjamini-hochberg":
        adjusted = rising * n / np.arange(1, n + 1)
        # The minimum over this p and all larger ones.
        from_the_largest = np.minimum.accumulate(adjusted[::-1])
        corrected = from_the_largest[::-1]
    p_values[rising_order] = np.minimum(corrected, 1.0)
    return [float(value) for value in p_values.tolist()]
