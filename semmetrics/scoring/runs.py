"""Several runs of one system: the mean and standard deviation of each measure."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from semmetrics.data.lists import gather
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import Spelling, keyword, pluralize
from semmetrics.reports import comment, draw, entry_of, format_full
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_cells import list_systems
from semmetrics.scoring.table import ScoreTable

RUNS_SCHEMA = "semmetrics.runs/1"
"""The schema of a measure of several runs in JSON."""
_SUMMARIES = "semmetrics.summaries/1"
_ENTRY_KEYS = ("measure", "heading", "mean", "std", "ddof", "n", "runs")


@dataclass(frozen=True)
class RunSummary:
    """A measure over several runs.

    Attributes
    ----------
    heading : str
    mean, std : float
        std is nan for a single run (with n - 1). Both are nan if a run has no value.
    n : int
        The number of runs.
    values : tuple of float
        The value of each run, in the given order.
    ddof : int
        The number that is subtracted from n in the standard deviation.
    """

    heading: str
    mean: float
    std: float
    n: int
    values: tuple[float, ...]
    ddof: int = 1

    @staticmethod
    def of(heading: str, values: Sequence[float], ddof: int = 1) -> RunSummary:
        """Summarize values. Without any values, mean and std are nan."""
        n = len(values)
        mean = math.fsum(values) / n if n else math.nan
        squares = math.fsum((value - mean) ** 2 for value in values)
        std = math.sqrt(squares / (n - ddof)) if n > ddof else math.nan
        return RunSummary(heading, mean, std, n, tuple(values), ddof)

    @property
    def moments(self) -> tuple[float, float]:
        """The mean and the standard deviation."""
        return self.mean, self.std

    def text(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Return mean (std), as in papers.

        Examples
        --------
        >>> RunSummary("O-F1", 0.864, 0.0019, 5, ()).text(digits=2, scale=100)
        '86.40 (0.19)'
        """
        return f"{self.mean * scale:.{digits}f} ({self.std * scale:.{digits}f})"


def summarize(scores: Sequence[Score], *, ddof: int = 1) -> list[RunSummary]:
    """Return the mean and standard deviation of each measure over the runs of a system.

    Parameters
    ----------
    scores : sequence of Score
        Such as a ScoreTable whose systems are the runs.
    ddof : int
        1 for n - 1, 0 for n in the denominator.

    Returns
    -------
    list of RunSummary
        In the order of the measures.

    Raises
    ------
    InputError
        If a run does not have a measure.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> summarize(list(table))[0].text()
    '0.7500 (0.3536)'
    """
    n_runs = len(list_systems(scores))
    values_by_heading = gather((score.heading, score.value) for score in scores)
    summaries = []
    for heading, values in values_by_heading.items():
        if len(values) != n_runs:
            raise InputError(
                "wrong-count",
                heading,
                found=pluralize(len(values), "value"),
                wanted=pluralize(n_runs, "run"),
            )
        summaries.append(RunSummary.of(heading, values, ddof))
    return summaries


def draw_runs(
    table: ScoreTable,
    form: str,
    *,
    digits: int = 4,
    scale: float = 1.0,
    spell: Spelling = keyword,
) -> str:
    """Return mean (std) of each measure over systems that are runs of one system.

    Parameters
    ----------
    table : ScoreTable
    form : {"table", "json", "csv", "markdown", "latex", "html"}
        JSON and CSV have full precision, and the values of the runs.
    digits : int
        The number of decimals.
    scale : float
        Multiplies values in [-1, 1], CIDEr, SPICE and SPIDEr.
    spell : callable
        How notes in JSON spell options.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> print(draw_runs(table, "table"))
    measure  mean (std, n-1) of 2 runs
    O-F1               0.7500 (0.3536)
    """
    summaries = summarize(list(table))
    if form == "json":
        return _summaries_json(table, summaries, spell)
    if form == "csv":
        rows = _full_rows(table, summaries)
    else:
        rows = _rounded_rows(table, summaries, digits, scale)
    return "\n".join([draw(rows, form), *comment(table, form)])


def _scores_of_heading(table: ScoreTable, heading: str) -> list[Score]:
    """Return the scores of a measure, one for each run."""
    return [score for score in table if score.heading == heading]


def _summaries_json(
    table: ScoreTable, summaries: Sequence[RunSummary], spell: Spelling
) -> str:
    """Return the summaries and the values of the runs as JSON."""
    entries = []
    for summary in summaries:
        scores = _scores_of_heading(table, summary.heading)
        runs = []
        for score in scores:
            run = {
                "system": score.system,
                "value": finite_or_none(score.value),
                "signature": score.signature,
            }
            runs.append(run)
        measure = str(scores[0].measure)
        entry = entry_of(summary, RUNS_SCHEMA, _ENTRY_KEYS, measure=measure, runs=runs)
        entries.append(entry)
    document = table._entry(spell)
    del document["scores"]
    document["schema"] = _SUMMARIES
    document["summaries"] = entries
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def _full_rows(table: ScoreTable, summaries: Sequence[RunSummary]) -> list[list[str]]:
    """Return a table of the summaries and the values of the runs in full precision."""
    header = ["measure", "mean", "std", "n", *table.systems]
    rows = [header]
    for summary in summaries:
        row = [
            summary.heading,
            format_full(summary.mean),
            format_full(summary.std),
            str(summary.n),
        ]
        row += map(format_full, summary.values)
        rows.append(row)
    for measure in table.not_computed:
        empty_cells = ["" for _ in header[1:]]
        rows.append([measure.heading, *empty_cells])
    return rows


def _rounded_rows(
    table: ScoreTable, summaries: Sequence[RunSummary], digits: int, scale: float
) -> list[list[str]]:
    """Return a table of the summaries as papers print them."""
    n_runs = pluralize(len(table.systems), "run")
    rows = [["measure", f"mean (std, n-1) of {n_runs}"]]
    for summary in summaries:
        score = _scores_of_heading(table, summary.heading)[0]
        printed_scale = score.measure.definition.printed_scale(scale)
        cell = summary.text(digits=digits, scale=printed_scale)
        rows.append([summary.heading, cell])
    rows += [[measure.heading, "-"] for measure in table.not_computed]
    return rows
