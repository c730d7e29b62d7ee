"""Several runs of one system, summed up.

Conventions
-----------
The standard deviation over runs has n - 1 in its denominator, unless said otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.scoring.result import Score


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
            raise InputError("wrong-count", heading, found=pluralize(len(column), "value"),
                             wanted=pluralize(len(runs), "run"))  # fmt: skip
    found = []
    for heading, column in values.items():
        n = len(column)
        mean = math.fsum(column) / n
        square = math.fsum((value - mean) ** 2 for value in column)
        std = math.sqrt(square / (n - ddof)) if n > ddof else math.nan
        found.append(RunSummary(heading, mean, std, n, tuple(column), ddof))
    return found
