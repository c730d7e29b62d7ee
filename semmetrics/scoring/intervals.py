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
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from semmetrics.arguments import check_type, checked
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError, brief, listing
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds.description import finite_or_none
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

__all__ = ["AUTO", "Bootstrap", "Interval", "Replicates", "default_method"]

AUTO = "auto"
_NONE: Any = ()
_ROUNDING = 1e-12  # by which numbers may differ that are equal
_MOST = 1_000_000  # resamples: the digits of their limits do not change any more


def default_method(measure: Measure) -> str:
    """Return how intervals of a measure are made where nothing is said.

    Examples
    --------
    >>> import semmetrics
    >>> [default_method(semmetrics.parse(name)[0]) for name in ("F1", "MacroF1")]
    ['percentile', 'jackknife-bias']
    """
    if measure["average"] == "macro":  # rare labels bias it, and resamples repeat the bias
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
    method : {"auto", "percentile", "bca", "jackknife", "jackknife-bias"}
        "auto" is the default of each measure.
    """

    level: float = 0.95
    resamples: int = 1000
    seed: int = 12345
    method: str = AUTO

    def __post_init__(self) -> None:
        for name, kinds in (("level", (float,)), ("resamples", (int,)), ("seed", (int,))):
            value = getattr(self, name)
            value = value.item() if isinstance(value, np.generic) else value
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise InputError(f"{name}={value!r}", remedy="give a number such as the default")
            object.__setattr__(self, name, value)
        if not 0 < self.level < 1:
            raise InputError(f"level={self.level} is not between 0 and 1")
        if self.resamples < 2:
            raise InputError(f"resamples={self.resamples} is less than 2")
        if self.resamples > _MOST:
            raise InputError(f"resamples={brief(self.resamples)} is more than {_MOST:,}")
        if self.seed < 0:
            raise InputError(f"seed={self.seed} is negative")
        known = OPTIONS["ci_method"].choices
        check_type("method", self.method, str, known)
        if self.method not in known:
            raise InputError(f"method={self.method!r}", remedy=f"choose one of {listing(known)}")

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


@dataclass(frozen=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    low, high : float
        nan where there is none: one item alone, or too few resamples or leave-one-out values
        that are defined.
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
    method : str
        "multinomial": as many items are drawn as there are, with replacement.
    value : float
        The value of the whole.
    left_out : float64 array, shape (parts,)
        The value without each part; read-only, nan where undefined. A part is one item, or one
        group; of many items several make a part. They are in the order of the ids' hashes.
    sizes : int array, shape (parts,)
        How many items, or groups, each part has.
    bounds : pair of float
        Of the measure.
    default : str
        The method of intervals where none is named.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["dog"]], [["cat"], ["car"]], measures="F1", ci=True)
    >>> replicates = table["F1"].replicates
    >>> interval = replicates.interval(level=0.9)
    >>> len(replicates), interval.low, interval.high, interval.method
    (1000, 0.0, 1.0, 'percentile')
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

    def __post_init__(self) -> None:
        for name, kind in (("values", np.float64), ("left_out", np.float64), ("sizes", np.int64)):
            # a copy, so that one measure's replicates do not keep those of all others in memory
            array = np.array(getattr(self, name), kind)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def standard_error(self) -> float:
        """The jackknife standard error; nan with fewer than two defined values.

        Parts of unequal sizes are weighed as in Busing, Meijer & van der Leeden 1999, "Delete-m
        jackknife for unequal m", Statistics and Computing 9.
        """
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

    @checked
    def interval(self, level: float = 0.95, method: str = AUTO) -> Interval:
        """Return a confidence interval, from the resamples that have a value.

        Parameters
        ----------
        level : float
            In (0, 1).
        method : {"auto", "percentile", "bca", "jackknife", "jackknife-bias"}
            "auto" is the default of the measure.

        Returns
        -------
        Interval
            Within the bounds of the measure.

        Raises
        ------
        InputError
            If the level is not between 0 and 1, or the method is not known.

        References
        ----------
        Efron 1987, Journal of the American Statistical Association 82 (BCa). Tukey 1958, Annals
        of Mathematical Statistics 29 (jackknife).
        """
        bootstrap = Bootstrap(level, len(self), self.seed, method)
        method = self.default if method == AUTO else method
        bootstrap = replace(bootstrap, method=method)
        undefined = 0 if method == "jackknife" else int(np.isnan(self.values).sum())
        if self.sizes.sum() == 1:  # every resample is the same, which says nothing
            return Interval(math.nan, math.nan, bootstrap, undefined)
        undefined += 0 if method == "percentile" else int(np.isnan(self.left_out).sum())
        low, high = self._limits(method, (1 - bootstrap.level) / 2)
        return Interval(low, high, bootstrap, undefined)

    def _limits(self, method: str, tail: float) -> tuple[float, float]:
        defined = self.values[~np.isnan(self.values)]
        if method == "percentile":
            return _quantiles(defined, tail, 1 - tail)
        if method == "bca":
            return _quantiles(defined, *self._bca_shares(defined, tail))
        from scipy.special import stdtrit  # not needed for other methods

        parts = int((~np.isnan(self.left_out)).sum())
        half = float(stdtrit(parts - 1, 1 - tail)) * self.standard_error if parts > 1 else math.nan
        centres = [self.value]
        if method == "jackknife-bias":
            centres.append(2 * self.value - float(defined.mean()) if len(defined) else math.nan)
        limits = np.array([np.min(centres) - half, np.max(centres) + half])
        low, high = np.clip(limits, *self.bounds).tolist()
        return low, high

    def _bca_shares(self, defined: Floats, tail: float) -> tuple[float, float]:
        """The shares at which BCa reads the quantiles; nan where they are not defined."""
        spread, shares = self._deviations()
        if not len(spread) or not len(defined):
            return math.nan, math.nan
        influence = spread * shares
        squares = float((influence**2).sum())
        skewness = float((influence**3).sum()) / (6 * squares**1.5) if squares else 0.0
        below = float(((defined < self.value).mean() + (defined <= self.value).mean()) / 2)
        least = 0.5 / len(defined)
        normal = NormalDist()
        bias = normal.inv_cdf(min(max(below, least), 1 - least))
        found = []
        for z in (bias + normal.inv_cdf(tail), bias + normal.inv_cdf(1 - tail)):
            rest = 1 - skewness * z
            found.append(normal.cdf(bias + z / rest) if rest > 0 else float(z > 0))
        return found[0], found[1]


def _quantiles(values: Floats, low: float, high: float) -> tuple[float, float]:
    if not len(values) or math.isnan(low):
        return math.nan, math.nan
    first, second = np.quantile(values, [low, high]).tolist()
    return first, second
