"""Confidence intervals from the replicates and the jackknife values of a measure.

Conventions
-----------
Replicates contain everything that the methods need, so an interval of another level or
method needs no new computation. Each measure has a default method, which was chosen by
its coverage in simulations (see the page on intervals). A single item, or a single group
of items, has no interval.

Methods
-------
``percentile``
    Quantiles of the replicates.
``bca``
    Quantiles corrected for bias and skewness (Efron 1987).
``jackknife``
    The value ± Student's t times the jackknife standard error (Tukey 1958).
``jackknife-bias``
    The union of such intervals around all numbers from the value to the value less its
    bootstrap bias.
``wilson``
    All numbers c that differ from the value by less than Student's t times the jackknife
    standard error, which is scaled like the standard error of a proportion: by
    sqrt((c - a)(b - c)) in bounds [a, b], and by sqrt(c - a) above a (Wilson 1927).
``hall``
    The jackknife, with a transformation that removes its skewness (Hall 1992).
``poisson``
    The default method of the measure, with the standard error and the skewness of
    replicates that draw each item independently, a Poisson number of times with mean 1
    (Chamandy et al. 2012). The number is a hash of the seed, the resample and the id, so
    that parts of the data can be added and no item has to be stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

AUTO = "auto"
POISSON = "poisson"
OF_RESAMPLES = ("percentile", "bca", "jackknife-bias", POISSON)
"""The methods that use the values of the replicates."""
_MAX_RESAMPLES = 1_000_000
"""More resamples do not change the printed digits of limits."""
_ROUNDING = 1e-12
"""Equal numbers may differ by this much because of rounding."""
_MAX_ACCELERATION = 0.05
_MAX_ACCELERATION_OF_HALL = 0.1
_MIN_EFFECTIVE_ITEMS = 10.0
_MIN_SHARE_OF_PROPORTION = 0.85
_MAX_SHARE_OF_PROPORTION = 1.1
"""A value whose effective items are such a share of the items varies like a proportion."""
_N_BISECTIONS = 40


def default_method(measure: Measure) -> str:
    """Return the method that ``auto`` selects.

    Examples
    --------
    >>> import semmetrics
    >>> [default_method(semmetrics.parse(name)[0]) for name in ("F1", "MacroF1", "mAP")]
    ['wilson', 'jackknife-bias', 'wilson']
    """
    is_macro = measure["average"] == "macro"
    if is_macro and measure["no_reference"] != "skip":
        # Labels without true items count as 0, which causes a bias that resamples repeat.
        return "jackknife-bias"
    return measure.definition.interval


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are computed from a bootstrap over items.

    Attributes
    ----------
    level : float
        In (0, 1).
    resamples : int
        From 2 to 1,000,000.
    seed : int
        At least 0.
    method : str
        "auto" is the default method of each measure.
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 12345
    method: str = AUTO

    def __post_init__(self) -> None:
        level = _unwrap(self.level)
        if type(level) is not float or not 0 < level < 1:
            raise _bad_option("level", level, "a level between 0 and 1")
        resamples = _unwrap(self.resamples)
        if type(resamples) is not int or not 2 <= resamples <= _MAX_RESAMPLES:
            raise _bad_option("resamples", resamples, f"2 to {_MAX_RESAMPLES:,}")
        seed = _unwrap(self.seed)
        if type(seed) is not int or seed < 0:
            raise _bad_option("seed", seed, "0 or more")
        check_choice("method", self.method, OPTIONS["ci_method"].choices)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "resamples", resamples)
        object.__setattr__(self, "seed", seed)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Bootstrap:
        """Return the bootstrap of the options of a score. Missing options have defaults."""
        names = ("level", "resamples", "seed", "ci_method")
        values = [options.get(name, OPTIONS[name].default) for name in names]
        return cls(*values)

    @property
    def alpha(self) -> float:
        """The limit below which p is significant: 1 - level, without its rounding error.

        Examples
        --------
        >>> 0.05 < 1 - 0.95, 0.05 < Bootstrap(level=0.95).alpha
        (True, False)
        """
        return (1 - self.level) * (1 - _ROUNDING)

    def __str__(self) -> str:
        return f"{self.method},{self.level},{self.resamples},{self.seed}"


def _unwrap(value: Any) -> Any:
    """Return a NumPy scalar as a Python number, and other values unchanged."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _bad_option(name: str, value: object, wanted: str) -> InputError:
    return InputError("bad-option", name=name, value=value, wanted=wanted)


@by_value()
@dataclass(frozen=True, eq=False)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        nan if there is no interval: the value is undefined, there is a single item, or
        too few resamples or jackknife values are defined.
    bootstrap : Bootstrap
        Its method is the method that was used, never "auto".
    undefined : int
        The number of resamples and, for methods that use them, jackknife values in which
        the measure is undefined. They are left out.
    """

    low: float
    high: float
    bootstrap: Bootstrap
    undefined: int = 0

    @property
    def method(self) -> str:
        """The method that was used."""
        return self.bootstrap.method

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as in JSON, with None for undefined limits."""
        return {
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "level": self.bootstrap.level,
            "method": self.method,
            "resamples": self.bootstrap.resamples,
            "seed": self.bootstrap.seed,
            "undefined": self.undefined,
        }


def _no_floats() -> Floats:
    return np.zeros(0)


def _no_ints() -> Ints:
    return np.zeros(0, np.int64)


@by_value()
@dataclass(frozen=True, eq=False)
class Replicates:
    """The value of a measure in each resample, and without each part of the items.

    Attributes
    ----------
    values : float64 array, shape (resamples,)
        The value in each resample. Read-only, nan if undefined.
    seed : int
    unit : str
        What an item is, such as "image".
    grouped : bool
        Whether items are drawn in groups, such as the captions of one image.
    drawn : str
        A hash of the weights. Replicates with equal hashes are paired: differences of
        their values, and other formulas of them, are again replicates.
    method : {"multinomial", "poisson"}
        Whether as many items are drawn as there are, with replacement, or each item
        independently.
    value : float
        The value of all items.
    left_out : float64 array, shape (parts,)
        The value without each part, in the order of the hashes of ids. Read-only, nan if
        undefined. A part is one item or group, or several of them if there are many.
        Empty for "poisson".
    sizes : int array, shape (parts,)
        The number of items, or groups, in each part. For "poisson" their total number.
    bounds : (float, float)
        The bounds of the measure.
    default : str
        The default method of intervals.
    items : float
        The number of items with a value, in units of items with equal weights, for
        intervals of values at a bound. 0 if unknown.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["dog"]], [["cat"], ["car"]], measures="F1", ci=True)
    >>> replicates = table["F1"].replicates
    >>> interval = replicates.interval(level=0.9)
    >>> len(replicates), round(interval.low, 3), round(interval.high, 3), interval.method
    (1000, 0.006, 0.994, 'wilson')
    >>> sorted(replicates.left_out.tolist()), replicates.standard_error
    ([0.0, 1.0], 0.5)
    """

    values: Floats = field(repr=False)
    seed: int
    unit: str
    grouped: bool
    drawn: str
    method: str = "multinomial"
    value: float = math.nan
    left_out: Floats = field(default_factory=_no_floats, repr=False)
    sizes: Ints = field(default_factory=_no_ints, repr=False)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    default: str = "percentile"
    items: float = 0.0

    def __post_init__(self) -> None:
        # A view would keep the replicates of all measures in memory.
        object.__setattr__(self, "values", _copy_read_only(self.values, np.float64))
        object.__setattr__(self, "left_out", _copy_read_only(self.left_out, np.float64))
        object.__setattr__(self, "sizes", _copy_read_only(self.sizes, np.int64))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def _is_poisson(self) -> bool:
        return self.method == POISSON

    @property
    def _n_items(self) -> int:
        """The number of items or groups."""
        return int(self.sizes.sum())

    def _defined_values(self) -> Floats:
        """Return the values of the resamples in which the measure is defined."""
        return self.values[~np.isnan(self.values)]

    # ---- standard error and skewness --------------------------------------------------

    @cached_property
    def standard_error(self) -> float:
        """The standard error from the jackknife or, for "poisson", from the replicates.

        It is nan with fewer than two defined values. Parts of different sizes are
        weighted as in Busing, Meijer & van der Leeden 1999, "Delete-m jackknife for
        unequal m", Statistics and Computing 9.
        """
        if self._is_poisson:
            return self._error_of_resamples()
        deviations, shares = self._deviations()
        if len(deviations) < 2:
            return math.nan
        variances = deviations**2 * shares / (1 - shares)
        return math.sqrt(float(variances.mean()))

    def _error_of_resamples(self) -> float:
        """Return the standard deviation of the replicates, corrected for few items."""
        defined = self._defined_values()
        n_items = self._n_items
        if len(defined) < 2 or n_items < 2:
            return math.nan
        return float(defined.std(ddof=1)) * math.sqrt(n_items / (n_items - 1))

    def _deviations(self) -> tuple[Floats, Floats]:
        """Return the pseudo-values of the parts less their mean, and their shares.

        The share of a part is its share of all items. Parts without a defined value are
        left out.
        """
        is_defined = ~np.isnan(self.left_out)
        shares = self.sizes[is_defined] / max(1, self.sizes.sum())
        if not len(shares) or math.isnan(self.value):
            return np.zeros(0), shares
        influence = self.value - self.left_out[is_defined]
        pseudo_values = self.value + (1 / shares - 1) * influence
        mean = np.average(pseudo_values, weights=shares)
        return pseudo_values - mean, shares

    @cached_property
    def acceleration(self) -> float:
        """One sixth of the skewness of the value (Efron 1987). 0 if nothing varies."""
        if self._is_poisson:
            return self._acceleration_of_resamples()
        deviations, shares = self._deviations()
        weighted = deviations * shares
        sum_of_squares = float((weighted**2).sum())
        if not sum_of_squares:
            return 0.0
        sum_of_cubes = float((weighted**3).sum())
        acceleration: float = sum_of_cubes / (6 * sum_of_squares**1.5)
        return acceleration

    def _acceleration_of_resamples(self) -> float:
        """Return one sixth of the skewness of the replicates."""
        defined = self._defined_values()
        if not len(defined):
            return 0.0
        deviations = defined - defined.mean()
        error = float(deviations.std())
        if not error > _ROUNDING:
            return 0.0
        return float((deviations**3).mean()) / (6 * error**3)

    # ---- reliability ------------------------------------------------------------------

    def rests_on_few(self, method: str = AUTO) -> bool:
        """Return whether a few parts determine the value.

        In simulations, intervals were too short if the acceleration was above 0.05 (0.1
        for "hall"), or if the value varied like a proportion of fewer than 10 items.
        Wilson's interval is reliable for values that are proportions of items.
        """
        if method == AUTO:
            method = self.default
        if self.default == "percentile":  # medians: the jackknife is uninformative
            return False
        if method == "wilson" and self._is_proportion:
            return False
        limit = _MAX_ACCELERATION_OF_HALL if method == "hall" else _MAX_ACCELERATION
        return self.varies_as_few or abs(self.acceleration) > limit

    @property
    def _is_proportion(self) -> bool:
        """Whether the value varies like a proportion of the items."""
        share = self.effective_items / self.sizes.sum()
        return bool(_MIN_SHARE_OF_PROPORTION <= share <= _MAX_SHARE_OF_PROPORTION)

    @property
    def effective_items(self) -> float:
        """The number of items in a proportion that varies as much as the value.

        It is infinite if the measure is unbounded or the value does not vary.
        """
        low, high = self.bounds
        if not self.standard_error > 0 or not low <= self.value <= high < math.inf:
            return math.inf
        return (self.value - low) * (high - self.value) / self.standard_error**2

    @property
    def varies_as_few(self) -> bool:
        """Whether the value varies like a proportion of fewer than 10 items.

        False if the data have hardly more items than the proportion.
        """
        fewer_than_all = _MIN_SHARE_OF_PROPORTION * self._n_items
        return self.effective_items < min(_MIN_EFFECTIVE_ITEMS, fewer_than_all)

    # ---- intervals --------------------------------------------------------------------

    def interval(self, level: float = 0.95, method: str = AUTO) -> Interval:
        """Return a confidence interval.

        Parameters
        ----------
        level : float
            In (0, 1).
        method : {"auto", "percentile", "bca", "jackknife", "jackknife-bias", "wilson", "hall"}
            "auto" is the default method of the measure, and the only one for replicates
            by "poisson".

        Returns
        -------
        Interval
            Within the bounds of the measure.

        Raises
        ------
        InputError
            If the level is not between 0 and 1, or the replicates do not allow the method.

        References
        ----------
        Chamandy, Muralidharan, Najmi & Naidu 2012, Estimating uncertainty for massive data streams.
        Efron 1987, Journal of the American Statistical Association 82 (BCa). Tukey 1958, Annals
        of Mathematical Statistics 29 (jackknife). Wilson 1927, Journal of the American Statistical
        Association 22. Hall 1992, Journal of the Royal Statistical Society B 54.
        """
        bootstrap = Bootstrap(level, len(self), self.seed, method)
        self._check_method(method)
        limit_method = method
        if method in (AUTO, POISSON):
            limit_method = self.default
        reported_method = POISSON if self._is_poisson else limit_method
        undefined = 0
        if reported_method in OF_RESAMPLES:
            undefined += int(np.isnan(self.values).sum())
        if limit_method != "percentile":
            undefined += int(np.isnan(self.left_out).sum())
        tail = (1 - bootstrap.level) / 2
        low, high = self._limits(limit_method, tail)
        bootstrap = replace(bootstrap, method=reported_method)
        return Interval(low, high, bootstrap, undefined)

    def _check_method(self, method: str) -> None:
        """Check that the replicates allow a method."""
        is_allowed = method != POISSON
        if self._is_poisson:
            is_allowed = method in (AUTO, POISSON)
        if not is_allowed:
            wanted = f"auto, because the replicates are {self.method}"
            raise _bad_option("ci_method", method, wanted)

    def p_value(self) -> float:
        """Return the smallest 1 - level at which the interval of a difference excludes 0.

        The interval is computed by the default method.

        Returns
        -------
        float
            nan without an interval, or if there is a difference that does not vary. From
            quantiles it is at least 1 / (resamples + 1).
        """
        method = self.default
        low, high = self._limits(method, 0.5 / (len(self) + 1))
        if math.isnan(low) or math.isclose(low, high, rel_tol=_ROUNDING):
            return 1.0 if low == high == 0 else math.nan
        if method.startswith("jackknife"):
            return self._p_by_student(method)
        return self._p_by_bisection(method)

    def _p_by_student(self, method: str) -> float:
        """Return the p-value of a t-test with the jackknife standard error."""
        from scipy.special import stdtr

        low, high = self._centres(method)
        distance = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        if distance and self.standard_error <= _ROUNDING * distance:
            return math.nan
        t = -distance / self.standard_error
        return 2 * float(stdtr(self._degrees_of_freedom, t))

    def _p_by_bisection(self, method: str) -> float:
        """Return the smallest 1 - level at which the interval excludes 0.

        The interval grows with the level, so bisection finds it.
        """
        lower = 0.0 if method == "hall" else 1 / (len(self) + 1)
        upper = 1.0
        for _ in range(_N_BISECTIONS):
            middle = (lower + upper) / 2
            low, high = self._limits(method, middle / 2)
            excludes_zero = low > 0 or high < 0
            if excludes_zero:
                upper = middle
            else:
                lower = middle
        return upper

    @property
    def _degrees_of_freedom(self) -> int:
        """The degrees of freedom of the standard error."""
        if self._is_poisson:
            return self._n_items - 1
        return len(self.left_out) - 1

    def _centres(self, method: str) -> tuple[float, float]:
        """Return the lower and the upper centre of an interval.

        Both are the value. For "jackknife-bias", one of them is the value less its
        bootstrap bias.
        """
        if method != "jackknife-bias":
            return self.value, self.value
        mean = math.nan
        if (~np.isnan(self.values)).any():
            mean = float(np.nanmean(self.values))
        corrected = 2 * self.value - mean
        if corrected < self.value:
            return corrected, self.value
        return self.value, corrected

    def _limits(self, method: str, tail: float) -> tuple[float, float]:
        """Return the limits of an interval that leaves out ``tail`` at each end."""
        is_single_item = self.sizes.sum() == 1
        if is_single_item or math.isnan(self.value):
            # All resamples of a single item are equal. An undefined value would get an
            # interval from the resamples without the items that make it undefined.
            return math.nan, math.nan
        if method in ("percentile", "bca"):
            return self._quantile_limits(method, tail)
        return self._student_limits(method, tail)

    def _quantile_limits(self, method: str, tail: float) -> tuple[float, float]:
        """Return quantiles of the replicates."""
        defined = self._defined_values()
        shares = (tail, 1 - tail)
        if method == "bca":
            shares = self._bca_shares(defined, tail)
        if not len(defined) or math.isnan(shares[0]):
            return math.nan, math.nan
        quantiles = np.quantile(defined, shares)
        low, high = np.clip(quantiles, *self.bounds).tolist()
        return low, high

    def _student_limits(self, method: str, tail: float) -> tuple[float, float]:
        """Return limits from the standard error and Student's t."""
        from scipy.special import stdtrit  # other methods do not need scipy

        error = self.standard_error
        if math.isnan(error) or np.isnan(self.left_out).any():
            # The value is undefined without some part. Only the other parts, which matter
            # less, would contribute to the standard error.
            return math.nan, math.nan
        t = -float(stdtrit(self._degrees_of_freedom, tail))
        if method == "hall":
            skewness = 6 * self.acceleration
            low = self.value - error * _unskew(t, skewness)
            high = self.value - error * _unskew(-t, skewness)
        elif method == "wilson":
            bounds = self._checked_bounds
            low, high = _wilson_limits(self.value, t, error, bounds, self.items)
        else:
            low_centre, high_centre = self._centres(method)
            low = low_centre - t * error
            high = high_centre + t * error
        return self.clip(low, high)

    @property
    def _checked_bounds(self) -> tuple[float, float]:
        """The bounds, or infinities if the value violates them, which a note reports."""
        low, high = self.bounds
        if low - _ROUNDING <= self.value <= high + _ROUNDING:
            return low, high
        return -math.inf, math.inf

    def clip(self, low: float, high: float) -> tuple[float, float]:
        """Clip limits to the bounds of the measure.

        Examples
        --------
        >>> replicates = Replicates([0.5], 0, "item", False, "", value=0.5, bounds=(0.0, 1.0))
        >>> replicates.clip(-0.1, 0.9)
        (0.0, 0.9)
        """
        lower_bound, upper_bound = self._checked_bounds
        clipped_low = float(np.clip(low, lower_bound, upper_bound))
        clipped_high = float(np.clip(high, lower_bound, upper_bound))
        return clipped_low, clipped_high

    def _bca_shares(self, defined: Floats, tail: float) -> tuple[float, float]:
        """Return the shares at which BCa takes the quantiles, nan if undefined."""
        if np.isnan(self.left_out).all() or not len(defined):
            return math.nan, math.nan
        # Replicates equal to the value count half as below it.
        share_below = (defined < self.value).mean()
        share_up_to = (defined <= self.value).mean()
        share = float((share_below + share_up_to) / 2)
        min_share = 0.5 / len(defined)  # shares of 0 and 1 would have an infinite bias
        share = min(max(share, min_share), 1 - min_share)
        normal = NormalDist()
        bias = normal.inv_cdf(share)
        low = self._bca_share(bias, bias + normal.inv_cdf(tail))
        high = self._bca_share(bias, bias - normal.inv_cdf(tail))
        return low, high

    def _bca_share(self, bias: float, z: float) -> float:
        """Return the share at which BCa takes a quantile (Efron 1987)."""
        divisor = 1 - self.acceleration * z
        if divisor > 0:
            return NormalDist().cdf(bias + z / divisor)
        return float(z > 0)  # the limit as the divisor approaches 0


def _copy_read_only(values: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """Return a copy of an array that cannot be changed."""
    array: NDArray[Any] = np.array(values, dtype)
    array.flags.writeable = False
    return array


def _unskew(z: float, skewness: float) -> float:
    """Return the studentised mean that Hall's cubic transformation maps to z."""
    if abs(skewness) < 1e-6:
        return z - skewness / 6
    cube = 1 + skewness * (z - skewness / 6)
    root = math.copysign(abs(cube) ** (1 / 3), cube)
    return 3 / skewness * (root - 1)


def _wilson_limits(
    value: float, t: float, error: float, bounds: tuple[float, float], items: float
) -> tuple[float, float]:
    """Return Wilson's limits of a value whose standard error depends on the value.

    Parameters
    ----------
    value, t, error : float
        The value, Student's t and the standard error.
    bounds : (float, float)
        If both are finite, the standard error varies as for a proportion. If only the
        lower one is finite, it varies as the root of the distance from it. Otherwise it
        is constant.
    items : float
        The number of items with a value. At a bound no item varies, and the standard
        error of a proportion of these items is used.
    """
    low, high = bounds
    value = min(max(value, low), high)
    if math.isinf(low) or (math.isinf(high - low) and not math.isinf(high)):
        return value - t * error, value + t * error
    if math.isinf(high):
        return _wilson_limits_above(value, t, error, low)
    width = high - low
    share = (value - low) / width
    variance = share * (1 - share)
    # t² divided by the number of items in a proportion with this standard error.
    t_squared_per_item = 0.0
    is_at_bound = min(value - low, high - value) <= _ROUNDING * min(1.0, width)
    if not is_at_bound:
        t_squared_per_item = (t * error / width) ** 2 / variance
    elif items:
        t_squared_per_item = t**2 / items
    centre = share + t_squared_per_item / 2
    half_width = math.sqrt(t_squared_per_item * variance + t_squared_per_item**2 / 4)
    low_share = (centre - half_width) / (1 + t_squared_per_item)
    high_share = (centre + half_width) / (1 + t_squared_per_item)
    return low + low_share * width, low + high_share * width


def _wilson_limits_above(
    value: float, t: float, error: float, low: float
) -> tuple[float, float]:
    """Return Wilson's limits of a value that has only a lower bound."""
    above = value - low
    # t² times the factor by which the variance grows with the distance from the bound.
    square = 0.0
    if above:
        square = (t * error) ** 2 / above
    half_width = math.sqrt(square * above + square**2 / 4)
    return value + square / 2 - half_width, value + square / 2 + half_width
