"""Correlations of scores with human ratings of the same items, and their intervals.

`semmetrics.studies.weighted_correlations` defines the statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.options import AGREEMENT
from semmetrics.scoring.draws import Draws
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import Bootstrap, Interval, Replicates
from semmetrics.studies.weighted_correlations import Correlated, WeightedTable

NAMES = ("pearson", "spearman", "kendall")
"""The statistics of a `Correlation`. Kendall's is tau-b."""

_STATISTICS = ("pearson", "spearman", "kendall-b")
"""What `correlation` calls the statistics of `NAMES`."""

_RESAMPLES_PER_CHUNK = 256
"""The number of resamples that are drawn at once."""


def correlation(
    scores: ArrayLike, ratings: ArrayLike, statistic: str = "kendall-b"
) -> float:
    """Return how well scores agree with ratings of the same items.

    Parameters
    ----------
    scores, ratings : array-like, shape (n,)
        Finite.
    statistic : {"pearson", "spearman", "kendall-b", "kendall-c", "accuracy"}

    Returns
    -------
    float
        In [-1, 1], or in [0, 1] for the accuracy. nan if undefined.

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or the statistic is unknown.

    References
    ----------
    Kendall, 1945, The treatment of ties in ranking problems, Biometrika 33 (tau-b).
    Stuart, 1953, The estimation and comparison of strengths of association in
    contingency tables, Biometrika 40 (tau-c).

    Examples
    --------
    >>> scores, ratings = [0.1, 0.4, 0.4, 0.9], [1, 2, 3, 3]
    >>> round(correlation(scores, ratings, "kendall-b"), 4)
    0.8
    >>> round(correlation(scores, ratings, "kendall-c"), 4)
    0.75
    >>> correlation(scores, ratings, "accuracy")
    0.9
    """
    check_choice("statistic", statistic, AGREEMENT)
    table = Correlated.of(scores, ratings)
    return table.values([statistic])[statistic]


def resample(
    tables: Sequence[WeightedTable],
    statistics: Sequence[str],
    bootstrap: Bootstrap,
    draws: Draws,
    progress: Progress = None,
) -> list[dict[str, Floats]]:
    """Return statistics of each table under the same resamples of groups.

    Parameters
    ----------
    tables : sequence of WeightedTable
        All with the same groups.
    statistics : sequence of str
    bootstrap : Bootstrap
    draws : Draws
        Of the groups.
    progress : callable, optional
        Called with the number of resamples done and their total.

    Returns
    -------
    list of dict from statistic to array, shape (resamples,)
        One per table.
    """
    batches: list[dict[str, list[Floats]]] = []
    for _ in tables:
        batches.append({name: [] for name in statistics})
    n_done = 0
    for counts in draws.counts(bootstrap, _RESAMPLES_PER_CHUNK):
        for table, batches_of_table in zip(tables, batches, strict=True):
            for name, values in table.weighted(statistics, counts).items():
                batches_of_table[name].append(values)
        n_done += len(counts)
        report_progress(progress, n_done, bootstrap.resamples, "bootstrap", "resample")
    return [_concatenate_batches(batches_of_table) for batches_of_table in batches]


def _concatenate_batches(batches: Mapping[str, list[Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate(values) for name, values in batches.items()}


@dataclass(frozen=True)
class Correlation:
    """How one score agrees with another over n pairs.

    Attributes
    ----------
    n : int
        The number of pairs, which are the items that have both scores.
    pearson, spearman, kendall : float
        In [-1, 1], nan if undefined. Kendall's is tau-b.
    intervals : mapping from name to Interval
        Empty if they were not requested.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    intervals: Mapping[str, Interval]


def correlate_values(
    scores: ArrayLike,
    ratings: ArrayLike,
    *,
    bootstrap: Bootstrap | None = None,
    progress: Progress = None,
) -> Correlation:
    """Correlate scores with ratings of the same pairs.

    Parameters
    ----------
    scores, ratings : array-like, shape (n,)
        Finite.
    bootstrap : Bootstrap, optional
        How to compute intervals. The method must be "auto" or "percentile". Default: no
        intervals.
    progress : callable, optional
        Called with the number of resamples done and their total.

    Returns
    -------
    Correlation

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or the method of intervals is not
        supported.

    Examples
    --------
    >>> result = correlate_values([0.1, 0.4, 0.4, 0.9], [1, 2, 3, 5])
    >>> round(result.pearson, 4), round(result.spearman, 4), round(result.kendall, 4)
    (0.971, 0.9487, 0.9129)
    """
    table = Correlated.of(scores, ratings)
    if bootstrap is not None and bootstrap.method not in ("auto", "percentile"):
        raise InputError(
            "bad-option", name="method", value=bootstrap.method, wanted="percentile"
        )
    values = table.values(_STATISTICS)
    intervals: dict[str, Interval] = {}
    if bootstrap is not None:
        intervals = _percentile_intervals(table, values, bootstrap, progress)
    return Correlation(
        table.n_groups,
        pearson=values["pearson"],
        spearman=values["spearman"],
        kendall=values["kendall-b"],
        intervals=intervals,
    )


def _percentile_intervals(
    table: Correlated,
    values: Mapping[str, float],
    bootstrap: Bootstrap,
    progress: Progress,
) -> dict[str, Interval]:
    """Return the interval of each statistic of `NAMES`, from resamples of pairs."""
    n = table.n_groups  # each pair is a group of its own
    pairs = np.arange(n)
    draws_in_given_order = Draws(
        unit_of_item=pairs, max_items=n, hashes=pairs.astype(np.uint64)
    )
    (replicates,) = resample(
        [table], _STATISTICS, bootstrap, draws_in_given_order, progress
    )
    intervals = {}
    for name, statistic in zip(NAMES, _STATISTICS, strict=True):
        intervals[name] = percentile_interval(
            replicates[statistic], values[statistic], bootstrap, n, "pair"
        )
    return intervals


def percentile_interval(
    replicates: Floats, value: float, bootstrap: Bootstrap, n_groups: int, unit: str
) -> Interval:
    """Return the percentile interval of a statistic.

    Parameters
    ----------
    replicates : float64 array, shape (resamples,)
        The statistic in each resample, nan if undefined.
    value : float
        The statistic of all items.
    bootstrap : Bootstrap
    n_groups : int
        The number of groups that were drawn.
    unit : str
        What messages call a group.
    """
    return Replicates(
        replicates,
        bootstrap.seed,
        unit,
        grouped=False,
        drawn="",
        value=value,
        left_out=np.zeros(0),
        sizes=np.ones(n_groups, np.int64),
    ).interval(bootstrap.level)
