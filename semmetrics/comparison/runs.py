"""Several runs of one system, and several systems over several data sets.

Conventions
-----------
The standard deviation over runs has n - 1 in its denominator, unless said otherwise. A normalised
value is a system's value over the best value on the same data set, so that every data set counts
alike (Pineda, Salvador et al. 2019, section 4.1 and table 3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from semmetrics.errors import InputError
from semmetrics.scoring.score import Score

__all__ = ["Rank", "RunSummary", "rank_normalized", "summarize"]


@dataclass(frozen=True)
class RunSummary:
    """A measure over several runs.

    Attributes
    ----------
    heading : str
    mean, std : float
        std is nan for one run (with n - 1), and both are where a run has no value.
    n : int
    values : tuple of float
        Of each run, in the order given.
    ddof : int
        What was subtracted from n in the standard deviation.
    """

    heading: str
    mean: float
    std: float
    n: int
    values: tuple[float, ...]
    ddof: int = 1

    def text(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """As papers print it: mean (std).

        Examples
        --------
        >>> RunSummary("O-F1", 0.864, 0.0019, 5, ()).text(digits=2, scale=100)
        '86.40 (0.19)'
        """
        return f"{self.mean * scale:.{digits}f} ({self.std * scale:.{digits}f})"


def summarize(scores: Sequence[Score], *, ddof: int = 1) -> list[RunSummary]:
    """Mean and standard deviation of each measure over the runs of one system.

    Parameters
    ----------
    scores : sequence of Score, such as a ScoreTable whose systems are the runs
    ddof : int
        1 for n - 1, 0 for n in the denominator.

    Returns
    -------
    list of RunSummary
        In the order of the measures.

    Raises
    ------
    InputError
        If a run lacks a measure.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> summarize(list(table))[0].text()
    '0.7500 (0.3536)'
    """
    runs = list(dict.fromkeys(score.system for score in scores))
    values: dict[str, list[float]] = {}
    for score in scores:
        values.setdefault(score.heading, []).append(score.value)
    for heading, column in values.items():
        if len(column) != len(runs):
            raise InputError(
                f"{heading} has {len(column)} values for {len(runs)} runs",
                remedy="score every run with the same measures",
            )
    return [_summary(heading, column, ddof) for heading, column in values.items()]


def _summary(heading: str, values: Sequence[float], ddof: int) -> RunSummary:
    n = len(values)
    mean = math.fsum(values) / n
    square = math.fsum((value - mean) ** 2 for value in values)
    std = math.sqrt(square / (n - ddof)) if n > ddof else math.nan
    return RunSummary(heading, mean, std, n, tuple(values), ddof)


@dataclass(frozen=True)
class Rank:
    """A system's place among others over several data sets.

    Attributes
    ----------
    system : str
    rank : int or None
        From 1, equal values share the better one; None for a system that lacks a data set.
    value : float
        Mean over the data sets that it has of value over best value.
    normalized : mapping from data set to float
    lacking : tuple of str
    """

    system: str
    rank: int | None
    value: float
    normalized: Mapping[str, float]
    lacking: tuple[str, ...] = ()


def rank_normalized(values: Mapping[str, Mapping[str, float]]) -> list[Rank]:
    """Rank systems by their mean normalised value over data sets.

    Parameters
    ----------
    values : mapping from data set to mapping from system to value
        Higher is better; nan counts as lacking.

    Returns
    -------
    list of Rank
        Ranked systems first, best first; then those that lack a data set, which still count as
        the best of the data sets that they have, as in the source.

    Raises
    ------
    InputError
        If there is no value, or the best value of a data set is not positive.

    References
    ----------
    Pineda, Salvador et al., 2019, section 4.1 and table 3.

    Examples
    --------
    >>> ranks = rank_normalized({"VOC": {"A": 0.8, "B": 0.9}, "COCO": {"A": 0.7, "B": 0.6}})
    >>> [(r.system, r.rank, round(r.value, 4)) for r in ranks]
    [('A', 1, 0.9444), ('B', 2, 0.9286)]
    """
    if not values or not any(values.values()):
        raise InputError("there is nothing to rank", remedy="give values of at least one data set")
    normalized: dict[str, dict[str, float]] = {}
    for dataset, row in values.items():
        known = {system: value for system, value in row.items() if not math.isnan(value)}
        best = max(known.values(), default=math.nan)
        if not best > 0:
            raise InputError(f"the best value on {dataset!r} is {best}", remedy="check its scores")
        for system in row:
            normalized.setdefault(system, {})
        for system, value in known.items():
            normalized[system][dataset] = value / best
    return _ranked(normalized, list(values))


def _ranked(normalized: Mapping[str, Mapping[str, float]], datasets: list[str]) -> list[Rank]:
    entries = []
    for system, row in normalized.items():
        lacking = tuple(name for name in datasets if name not in row)
        value = math.fsum(row.values()) / len(row) if row else math.nan
        entries.append(Rank(system, None, value, row, lacking))
    whole = sorted((e for e in entries if not e.lacking), key=lambda e: -e.value)
    order = np.array([entry.value for entry in whole])
    ranked = [
        Rank(e.system, 1 + int((order > e.value).sum()), e.value, e.normalized) for e in whole
    ]
    return ranked + [entry for entry in entries if entry.lacking]
