"""Agreement of scores with people: correlations over pairs, and their intervals.

Conventions
-----------
Equal values share the mean of their ranks (Spearman), and count as ties (Kendall's tau-b). A
correlation with something that is the same everywhere is not defined: nan.

A resample draws as many pairs as there are, with replacement. Correlations of a resample are those
of its pairs, and intervals are quantiles of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.scoring.intervals import Bootstrap, Interval, Replicates

__all__ = ["NAMES", "Correlation", "correlate_values"]

NAMES = ("pearson", "spearman", "kendall")


@dataclass(frozen=True)
class Correlation:
    """How one score agrees with another over n pairs.

    Attributes
    ----------
    n : int
    pearson, spearman, kendall : float
        In [-1, 1]; nan where not defined.
    intervals : mapping from name to Interval
        Empty where none were asked for.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    intervals: dict[str, Interval]


@checked
def correlate_values(
    scores: ArrayLike,
    ratings: ArrayLike,
    *,
    bootstrap: Bootstrap | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Correlation:
    """Correlate scores with ratings of the same pairs.

    Parameters
    ----------
    scores, ratings : array-like, shape (n,)
        Finite.
    bootstrap : Bootstrap, optional
        For intervals; its method must be "auto" or "percentile".
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    Correlation

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or the method of intervals is another one.

    References
    ----------
    Kendall, 1945, The treatment of ties in ranking problems, Biometrika 33 (tau-b).

    Examples
    --------
    >>> found = correlate_values([0.1, 0.4, 0.4, 0.9], [1, 2, 3, 5])
    >>> round(found.pearson, 4), round(found.spearman, 4), round(found.kendall, 4)
    (0.971, 0.9487, 0.9129)
    """
    one, other = (np.asarray(side, np.float64) for side in (scores, ratings))
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"scores have shape {one.shape}, and ratings {other.shape}",
                         remedy="give one number a pair on either side")  # fmt: skip
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("a number is not finite", remedy="leave the pair out")
    if bootstrap is not None and bootstrap.method not in ("auto", "percentile"):
        raise InputError(
            f"method={bootstrap.method!r}: intervals of correlations are percentile intervals",
            remedy="leave method= out",
        )
    sides = _Side.of(one), _Side.of(other)
    everything = np.arange(len(one))
    values = _correlate(sides, everything)
    intervals: dict[str, Interval] = {}
    if bootstrap is not None:
        drawn = _resample(sides, bootstrap, progress)
        for name, value, row in zip(NAMES, values, drawn, strict=True):
            replicates = Replicates(
                row, bootstrap.seed, "pair", grouped=False, drawn="", value=value,
                left_out=np.zeros(0), sizes=np.ones(len(one), np.int64), bounds=(-1.0, 1.0),
            )  # fmt: skip
            intervals[name] = replicates.interval(bootstrap.level)
    return Correlation(len(one), *values, intervals)


@dataclass(frozen=True, eq=False)
class _Side:
    """Values, and the number of each among the distinct ones, from the lowest."""

    values: Floats
    codes: Ints
    distinct: int

    @classmethod
    def of(cls, values: Floats) -> _Side:
        distinct, codes = np.unique(values, return_inverse=True)
        return cls(values, codes.astype(np.int64), len(distinct))

    def ranks(self, drawn: Ints) -> Floats:
        """Return the ranks of some pairs among themselves; equal values share their mean."""
        codes = self.codes[drawn]
        counts = np.bincount(codes, minlength=self.distinct)
        last = np.cumsum(counts)
        return (last - (counts - 1) / 2)[codes]


def _correlate(sides: tuple[_Side, _Side], drawn: Ints) -> tuple[float, float, float]:
    """Return the three correlations of some pairs, which may be there several times."""
    from scipy.stats import kendalltau

    if len(drawn) < 2:
        return math.nan, math.nan, math.nan
    one, other = sides
    codes = one.codes[drawn], other.codes[drawn]
    if any((side == side[0]).all() for side in codes):
        return math.nan, math.nan, math.nan
    return (
        _product_moment(one.values[drawn], other.values[drawn]),
        _product_moment(one.ranks(drawn), other.ranks(drawn)),
        float(kendalltau(*codes).statistic),
    )


def _product_moment(one: Floats, other: Floats) -> float:
    """Return Pearson's correlation of two sides that both vary."""
    one, other = one - one.mean(), other - other.mean()
    one, other = one / abs(one).max(), other / abs(other).max()  # squares do not overflow
    value = float(one @ other) / math.sqrt(float(one @ one) * float(other @ other))
    return min(1.0, max(-1.0, value))


def _resample(sides: tuple[_Side, _Side], bootstrap: Bootstrap, progress: Any) -> Floats:
    """Return the correlations of each resample, shape (3, resamples)."""
    random, n = np.random.default_rng(bootstrap.seed), len(sides[0].values)
    found = np.full((len(NAMES), bootstrap.resamples), np.nan)
    for place in range(bootstrap.resamples if n > 1 else 0):
        found[:, place] = _correlate(sides, random.integers(0, n, n))
        if progress is not None:
            progress(place + 1, bootstrap.resamples)
    return found
