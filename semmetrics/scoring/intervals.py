"""Confidence intervals: their limits, from the replicates of a measure and its jackknife values.

Conventions
-----------
Replicates hold what every method needs, so that an interval of another level or method needs no
new computation. Each measure has a method of its own, which simulated coverage has chosen (see
the page on intervals). A single item, or a single group of items, has no interval.

Methods
-------
``percentile``      quantiles of the replicates
``bca``             quantiles corrected for bias and skewness (Efron 1987)
``jackknife``       the value ± Student's t times the jackknife standard error (Tukey 1958)
``jackknife-bias``  the same around everything from the value to the value less its bootstrap bias
``wilson``          all values c from which the value differs by less than Student's t times the
                    jackknife standard error, scaled as that of a proportion is: by
                    sqrt((c - a)(b - c)) in bounds [a, b], by sqrt(c - a) above a (Wilson 1927)
``hall``            the jackknife, with its skewness removed by a transformation (Hall 1992)
``poisson``         the method that suits the measure, with the standard error and the skewness of
                    replicates in which each item counts as often as a Poisson number with mean 1
                    says (Chamandy et al. 2012); the number is a hash of the seed, the resample and
                    the id, so parts of the data add up, and no item has to be kept
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

AUTO, POISSON = "auto", "poisson"
_NONE: Any = ()
_ROUNDING = 1e-12  # by which numbers may differ that are equal
OF_RESAMPLES = ("percentile", "bca", "jackknife-bias", POISSON)
_MOST = 1_000_000  # resamples: the digits of their limits do not change any more


def default_method(measure: Measure) -> str:
    """Return the method that ``auto`` stands for.

    Examples
    --------
    >>> import semmetrics
    >>> [default_method(semmetrics.parse(name)[0]) for name in ("F1", "MacroF1", "mAP")]
    ['wilson', 'jackknife-bias', 'wilson']
    """
    is_macro = measure["average"] == "macro"
    if is_macro and measure["no_reference"] != "skip":
        # labels without true items count as 0 and bias it, and resamples repeat the bias
        return "jackknife-bias"
    return measure.definition.interval


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made, from a bootstrap over items.

    Attributes
    ----------
    level : float
        In (0, 1).
    resamples, seed : int
        From 2 to 1,000,000 resamples; a seed from 0.
    method : str
        Of ``semmetrics.options``; "auto" is the default of each measure.
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 12345
    method: str = AUTO

    def __post_init__(self) -> None:
        wanted: tuple[tuple[str, type, str, Callable[[Any], bool]], ...] = (
            ("level", float, "a level between 0 and 1", lambda level: 0 < level < 1),
            ("resamples", int, f"2 to {_MOST:,}", lambda number: 2 <= number <= _MOST),
            ("seed", int, "0 or more", lambda seed: seed >= 0),
        )
        for name, kind, text, is_right in wanted:
            value = getattr(self, name)
            value = value.item() if isinstance(value, np.generic) else value
            if type(value) is not kind or not is_right(value):
                raise InputError("bad-option", name=name, value=value, wanted=text)
            object.__setattr__(self, name, value)
        check_choice("method", self.method, OPTIONS["ci_method"].choices)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Bootstrap:
        """Make it from options of a score, with the default of each that is missing."""
        names = ("level", "resamples", "seed", "ci_method")
        return cls(*(options.get(name, OPTIONS[name].default) for name in names))

    @property
    def alpha(self) -> float:
        """What p must be below: 1 - level, less what rounding alone may add to it.

        Examples
        --------
        >>> 0.05 < 1 - 0.95, 0.05 < Bootstrap(level=0.95).alpha
        (True, False)
        """
        return (1 - self.level) * (1 - _ROUNDING)

    def __str__(self) -> str:
        return f"{self.method},{self.level},{self.resamples},{self.seed}"


@by_value()
@dataclass(frozen=True, eq=False)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        nan if there is none: the value is undefined, there is one item alone, or too few
        resamples or leave-one-out values are defined.
    bootstrap : Bootstrap
        Its method is the one that was used, never "auto".
    undefined : int
        Resamples in which the measure had no value, and, for the methods that use them, values
        with a part of the items left out that were undefined; they are left out.
    """

    low: float
    high: float
    bootstrap: Bootstrap
    undefined: int = 0

    @property
    def method(self) -> str:
        """How it was made."""
        return self.bootstrap.method

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as JSON has it: null for what is undefined."""
        return {
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "level": self.bootstrap.level,
            "method": self.method,
            "resamples": self.bootstrap.resamples,
            "seed": self.bootstrap.seed,
            "undefined": self.undefined,
        }


@by_value()
@dataclass(frozen=True, eq=False)
class Replicates:
    """The value of a measure in each resample, and with each part left out; immutable.

    Attributes
    ----------
    values : float64 array, shape (resamples,)
        Read-only; nan where the measure has no value in a resample.
    seed : int
    unit : str
        What an item is.
    grouped : bool
        Whether items are drawn in groups, as the captions of one image.
    drawn : str
        A hash of the weights. Replicates with equal hashes are paired: a difference of their
        values, or a formula on them, is itself a set of replicates.
    method : {"multinomial", "poisson"}
        As many items are drawn as there are, with replacement; or each by itself.
    value : float
        The value of the whole.
    left_out : float64 array, shape (parts,)
        The value without each part; read-only, nan where undefined. A part is one item, or one
        group; of many items several make a part. They are in the order of the ids' hashes. Empty
        for "poisson".
    sizes : int array, shape (parts,)
        How many items, or groups, each part has; for "poisson" all of them.
    bounds : pair of float
        Of the measure.
    default : str
        The method of intervals where none is named.
    items : float
        How many items of equal weight have a value, which a value at a bound rests on; 0 unknown.

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
    left_out: Floats = field(default=_NONE, repr=False)
    sizes: Ints = field(default=_NONE, repr=False)
    bounds: tuple[float, float] = (-math.inf, math.inf)
    default: str = "percentile"
    items: float = 0.0

    def __post_init__(self) -> None:
        for name, kind in (
            ("values", np.float64),
            ("left_out", np.float64),
            ("sizes", np.int64),
        ):
            # a copy, so that one measure's replicates do not keep those of all others in memory
            array = np.array(getattr(self, name), kind)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def standard_error(self) -> float:
        """The standard error: that of the jackknife; for "poisson" that of the replicates.

        It is nan with fewer than two defined values. Parts of unequal sizes are weighed as in
        Busing, Meijer & van der Leeden 1999, "Delete-m jackknife for unequal m", Statistics and
        Computing 9.
        """
        if self.method == POISSON:
            defined, n = self.values[~np.isnan(self.values)], int(self.sizes.sum())
            enough = len(defined) > 1 and n > 1
            return (
                float(defined.std(ddof=1)) * math.sqrt(n / (n - 1))
                if enough
                else math.nan
            )
        spread, shares = self._deviations()
        if len(spread) < 2:
            return math.nan
        return math.sqrt(float((spread**2 * shares / (1 - shares)).mean()))

    def _deviations(self) -> tuple[Floats, Floats]:
        """Pseudo-values of the parts less their mean, and the share of the items in each part."""
        known = ~np.isnan(self.left_out)
        shares = self.sizes[known] / max(1, self.sizes.sum())
        if not len(shares) or math.isnan(self.value):
            return np.zeros(0), shares
        pseudo = self.value + (1 / shares - 1) * (self.value - self.left_out[known])
        return pseudo - np.average(pseudo, weights=shares), shares

    @cached_property
    def acceleration(self) -> float:
        """The skewness of a mean of the parts, over 6 (Efron 1987); 0 if nothing varies."""
        spread, shares = self._deviations()
        if self.method == POISSON:  # of the replicates, which are such means
            defined = self.values[~np.isnan(self.values)]
            spread = defined - defined.mean() if len(defined) else defined
            error = float(spread.std()) if len(spread) else 0.0
            return (
                float((spread**3).mean()) / (6 * error**3) if error > _ROUNDING else 0.0
            )
        squares = float(((spread * shares) ** 2).sum())
        return (
            float(((spread * shares) ** 3).sum()) / (6 * squares**1.5)
            if squares
            else 0.0
        )

    def rests_on_few(self, method: str = AUTO) -> bool:
        """Whether a few parts decide the value, so that simulated intervals were too short.

        They were where the acceleration is above 0.05 (0.1 for "hall"), or the value varies like a
        proportion of fewer than 10 items; not for Wilson's interval of proportions themselves.
        """
        method = self.default if method == AUTO else method
        if self.default == "percentile":  # a median, whose jackknife says nothing
            return False
        if (
            method == "wilson"
            and 0.85 <= self.effective_items / self.sizes.sum() <= 1.1
        ):
            return False
        most = 0.1 if method == "hall" else 0.05
        return self.varies_as_few or abs(self.acceleration) > most

    @property
    def effective_items(self) -> float:
        """Items of a proportion that varies as the value does; inf if unbounded or constant."""
        least, most = self.bounds
        if not self.standard_error > 0 or not least <= self.value <= most < math.inf:
            return math.inf
        return (self.value - least) * (most - self.value) / self.standard_error**2

    @property
    def varies_as_few(self) -> bool:
        """Whether it varies like a proportion of fewer than 10 items, though it is of more."""
        return self.effective_items < min(10.0, 0.85 * int(self.sizes.sum()))

    def interval(self, level: float = 0.95, method: str = AUTO) -> Interval:
        """Return a confidence interval.

        Parameters
        ----------
        level : float
            In (0, 1).
        method : {"auto", "percentile", "bca", "jackknife", "jackknife-bias", "wilson", "hall"}
            "auto" is the default of the measure. Replicates by "poisson" have no other.

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
        bootstrap, poisson = (
            Bootstrap(level, len(self), self.seed, method),
            self.method == POISSON,
        )
        if (method == POISSON) > poisson or (poisson and method not in (AUTO, POISSON)):
            raise InputError(
                "bad-option",
                name="ci_method",
                value=method,
                wanted=f"auto, as the replicates are {self.method}",
            )
        inner = self.default if method in (AUTO, POISSON) else method
        method = POISSON if poisson else inner
        undefined = int(np.isnan(self.values).sum()) if method in OF_RESAMPLES else 0
        undefined += 0 if inner == "percentile" else int(np.isnan(self.left_out).sum())
        low, high = self._limits(inner, (1 - bootstrap.level) / 2)
        return Interval(low, high, replace(bootstrap, method=method), undefined)

    def p_value(self) -> float:
        """Return the smallest 1 - level at which the default interval of a difference excludes 0.

        Returns
        -------
        float
            nan without an interval, or if nothing varies but there is a difference. At least
            1 / (resamples + 1) by quantiles.
        """
        method = self.default
        low, high = self._limits(method, 0.5 / (len(self) + 1))
        if math.isnan(low) or math.isclose(low, high, rel_tol=_ROUNDING):
            return 1.0 if low == high == 0 else math.nan
        if not method.startswith("jackknife"):
            least, most = 0.0 if method == "hall" else 1 / (len(self) + 1), 1.0
            for _ in range(40):  # the limits move apart with the level
                middle = (least + most) / 2
                low, high = self._limits(method, middle / 2)
                least, most = (least, middle) if low > 0 or high < 0 else (middle, most)
            return most
        from scipy.special import stdtr

        low, high = self._centres(method)
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        if nearest and self.standard_error <= _ROUNDING * nearest:
            return math.nan
        return 2 * float(stdtr(self._freedom, -nearest / self.standard_error))

    @property
    def _freedom(self) -> int:
        """The degrees of freedom of the standard error."""
        return (
            int(self.sizes.sum()) if self.method == POISSON else len(self.left_out)
        ) - 1

    def _centres(self, method: str) -> tuple[float, float]:
        """Return the value; with allowance for bias also the value less it, the lower one first."""
        if method != "jackknife-bias":
            return self.value, self.value
        mean = (
            float(np.nanmean(self.values))
            if (~np.isnan(self.values)).any()
            else math.nan
        )
        corrected = 2 * self.value - mean
        return (
            (corrected, self.value)
            if corrected < self.value
            else (self.value, corrected)
        )

    def _limits(self, method: str, tail: float) -> tuple[float, float]:
        # of one item every resample is the same; of an undefined value some lack what undoes it
        if self.sizes.sum() == 1 or math.isnan(self.value):
            return math.nan, math.nan
        if method in ("percentile", "bca"):
            defined = self.values[~np.isnan(self.values)]
            shares = (
                (tail, 1 - tail)
                if method == "percentile"
                else self._bca_shares(defined, tail)
            )
            if not len(defined) or math.isnan(shares[0]):
                return math.nan, math.nan
            low, high = np.clip(np.quantile(defined, shares), *self.bounds).tolist()
            return low, high
        from scipy.special import stdtrit  # not needed for other methods

        if math.isnan(self.standard_error) or np.isnan(self.left_out).any():
            # without what decides most, all others vary too little
            return (
                math.nan,
                math.nan,
            )
        t = -float(stdtrit(self._freedom, tail))
        low, high = self._centres(method)
        limits = low - t * self.standard_error, high + t * self.standard_error
        bounds = self._checked_bounds
        if method == "hall":
            skew = 6 * self.acceleration
            low, high = (
                self.value - self.standard_error * _unskewed(z, skew) for z in (t, -t)
            )
            limits = low, high
        elif method == "wilson":
            limits = _wilson(self.value, t, self.standard_error, bounds, self.items)
        return self.clip(*limits)

    @property
    def _checked_bounds(self) -> tuple[float, float]:
        """The bounds, or infinities if the value is outside: a note says that they are wrong."""
        least, most = self.bounds
        if least - _ROUNDING <= self.value <= most + _ROUNDING:
            return least, most
        return -math.inf, math.inf

    def clip(self, low: float, high: float) -> tuple[float, float]:
        """Clip limits to the bounds of the measure.

        Examples
        --------
        >>> replicates = Replicates([0.5], 0, "item", False, "", value=0.5, bounds=(0.0, 1.0))
        >>> replicates.clip(-0.1, 0.9)
        (0.0, 0.9)
        """
        least, most = self._checked_bounds
        return float(np.clip(low, least, most)), float(np.clip(high, least, most))

    def _bca_shares(self, defined: Floats, tail: float) -> tuple[float, float]:
        """The shares at which BCa reads the quantiles; nan where they are not defined."""
        if np.isnan(self.left_out).all() or not len(defined):
            return math.nan, math.nan
        below = float(
            ((defined < self.value).mean() + (defined <= self.value).mean()) / 2
        )
        least = 0.5 / len(defined)
        normal = NormalDist()
        bias = normal.inv_cdf(min(max(below, least), 1 - least))
        found = []
        for z in (bias + normal.inv_cdf(tail), bias - normal.inv_cdf(tail)):
            rest = 1 - self.acceleration * z
            found.append(normal.cdf(bias + z / rest) if rest > 0 else float(z > 0))
        return found[0], found[1]


def _unskewed(z: float, skew: float) -> float:
    """Return the studentised mean that Hall's cubic transformation takes to z."""
    if abs(skew) < 1e-6:
        return z - skew / 6
    return (
        3
        / skew
        * (math.copysign(abs(w := 1 + skew * (z - skew / 6)) ** (1 / 3), w) - 1)
    )


def _wilson(
    value: float, t: float, error: float, bounds: tuple[float, float], items: float
) -> tuple[float, float]:
    """Return Wilson's limits of a value, whose standard error depends on where it lies.

    At a bound of a share no item varies, and the error is that of a proportion of the items.
    """
    least, most = bounds
    value = min(max(value, least), most)
    if math.isinf(least) or (math.isinf(most - least) and not math.isinf(most)):
        return value - t * error, value + t * error
    if math.isinf(most):
        above = value - least
        square = (t * error) ** 2 / above if above else 0.0
        half = math.sqrt(square * above + square**2 / 4)
        return value + square / 2 - half, value + square / 2 + half
    share = (value - least) / (most - least)
    variance = share * (1 - share)
    if min(value - least, most - value) <= _ROUNDING * min(1.0, most - least):
        square = t**2 / items if items else 0.0
    else:
        square = (t * error / (most - least)) ** 2 / variance
    centre, half = share + square / 2, math.sqrt(square * variance + square**2 / 4)
    low, high = ((centre + sign * half) / (1 + square) for sign in (-1, 1))
    return least + low * (most - least), least + high * (most - least)
