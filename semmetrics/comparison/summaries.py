"""Scores summed up: several runs of one system, and systems over several data sets.

Conventions
-----------
The standard deviation over runs has n - 1 in its denominator, unless said otherwise. A normalised
value is a system's value over the best value on the same data set, so that every data set counts
alike (Pineda, Salvador et al. 2019, section 4.1 and table 3).
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.arguments import checked, checked_but
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError, a_kind, listing, pluralize
from semmetrics.frozen import dataclass
from semmetrics.metrics.registry import parse_in_any_case
from semmetrics.scoring.score_result import SCHEMA as SCORES
from semmetrics.scoring.score_result import Score, names_meant

__all__ = ["SCHEMA", "Rank", "RunSummary", "rank_normalized", "rank_systems", "summarize"]

SCHEMA = "semmetrics.ranks/1"


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


@checked
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
                f"{heading} has {pluralize(len(column), 'value')} for "
                f"{pluralize(len(runs), 'run')}",
                remedy="score every run with the same measures",
            )
    return [_summary(heading, column, ddof) for heading, column in values.items()]


def _summary(heading: str, values: Sequence[float], ddof: int) -> RunSummary:
    n = len(values)
    mean = math.fsum(values) / n
    square = math.fsum((value - mean) ** 2 for value in values)
    std = math.sqrt(square / (n - ddof)) if n > ddof else math.nan
    return RunSummary(heading, mean, std, n, tuple(values), ddof)


@checked_but("datasets")
def rank_systems(
    datasets: Mapping[str, Any], measure: str = "O-F1", *, max_bytes: int = DEFAULTS.max_bytes
) -> list[Rank]:
    """Rank systems over several data sets by a normalised measure.

    Parameters
    ----------
    datasets : mapping from name to scores
        Of each data set a ScoreTable or other Scores, their dictionaries, or the path of a file
        that holds these (``semmetrics score --format json -o FILE``).
    measure : str
        The measure, an alias of it or its heading, in any case as in a ScoreTable; higher is
        better.
    max_bytes : int
        The most bytes to read of a file, after decompression, and to make of them.

    Returns
    -------
    list of Rank
        As of ``rank_normalized``.

    Raises
    ------
    InputError
        If there are no such scores, or the measure is better when it is lower.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"A": [["cat"], ["dog"]], "B": [["cat"], ["cow"]]}
    >>> table = semmetrics.score_systems(systems, [["cat"], ["dog"]], measures=["O-F1"])
    >>> [(rank.system, rank.rank, round(rank.value, 4)) for rank in rank_systems({"VOC": table})]
    [('A', 1, 1.0), ('B', 2, 0.5)]
    """
    if not isinstance(datasets, Mapping):
        raise InputError(f"{a_kind(datasets)} instead of data sets by their names",
                         remedy="give {name: scores}")  # fmt: skip
    measure = measure.strip()
    if not measure:
        raise InputError("no measure is named", remedy="name one with measure= (-m)")
    _check_direction(measure, [measure])
    return rank_normalized({
        name: _read_values(scores, name, measure, max_bytes) for name, scores in datasets.items()
    })  # fmt: skip


def _check_direction(measure: str, texts: Iterable[str]) -> None:
    """Refuse a measure that is better when it is lower, by all texts that it is known under."""
    found = [one for text in texts for one in parse_in_any_case(text)]
    if any(not one.definition.higher_is_better for one in found):
        raise InputError(
            f"{measure} is better when it is lower, and values are divided by the best",
            remedy="rank by a measure that is better when it is higher",
        )


def _read_values(scores: Any, name: str, measure: str, max_bytes: int) -> dict[str, float]:
    """The value of each system; nan where it is undefined."""
    if isinstance(scores, (str, os.PathLike)):
        source = load(os.fspath(scores), max_bytes)
        with enough_memory(source.name, max_bytes):
            name, scores = source.name, parse_source(source)
    several = isinstance(scores, Iterable) and not isinstance(scores, (str, bytes, Mapping))
    entries = list(map(_as_entry, scores)) if several else [scores]
    if not all(map(_is_score, entries)) or not several:
        raise InputError(
            "this is no list of scores", where=name,
            remedy="give a table of scores, or a file of: semmetrics score --format json -o FILE",
        )  # fmt: skip
    meant = names_meant(measure, set(map(_heading_and_measure, entries)))
    chosen = [entry for entry in entries if _heading_and_measure(entry) in meant]
    _check_direction(measure, {entry["measure"] for entry in chosen})  # a heading may not say it
    found: dict[str, float] = {}
    for entry in chosen:
        if entry["system"] in found:
            raise InputError(f"{entry['system']} has {measure} twice", where=name,
                             remedy="name one of them as the file does")  # fmt: skip
        found[entry["system"]] = math.nan if entry["value"] is None else float(entry["value"])
    if not found:
        there = listing(dict.fromkeys(e.get("heading", e["measure"]) for e in entries), most=20)
        raise InputError(f"there is no {measure}", where=name,
                         remedy=f"choose measure= (-m) among {there}")  # fmt: skip
    return found


def _as_entry(score: Any) -> Any:
    """A score as a file has it, without what takes long."""
    if not isinstance(score, Score):
        return score
    return {
        "schema": SCORES,
        "system": score.system,
        "measure": str(score.measure),
        "heading": score.heading,
        "value": score.value,
    }


def _is_score(entry: Any) -> bool:
    if not isinstance(entry, Mapping) or entry.get("schema") != SCORES:
        return False
    texts = (entry.get("system"), entry.get("measure"), entry.get("heading", ""))
    return _is_value(entry.get("value", "")) and all(isinstance(text, str) for text in texts)


def _is_value(value: Any) -> bool:
    """Whether it is a number that a float can hold, or none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value is None
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def _heading_and_measure(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry.get("heading", entry["measure"]), entry["measure"]


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

    def to_dict(self, measure: str) -> dict[str, Any]:
        """Return the rank as JSON has it: null for what is undefined."""
        return {
            "schema": SCHEMA,
            "system": self.system,
            "rank": self.rank,
            "measure": measure,
            "value": None if math.isnan(self.value) else self.value,
            "normalized": dict(self.normalized),
            "lacking": list(self.lacking),
        }


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
            if not math.isfinite(value / best):
                raise InputError(f"{system!r} has {value} on {dataset!r}, and the best is {best}",
                                 remedy="check its scores")  # fmt: skip
            normalized[system][dataset] = value / best
    return _rank_all(normalized, list(values))


def _rank_all(normalized: Mapping[str, Mapping[str, float]], datasets: list[str]) -> list[Rank]:
    entries = []
    for system, row in normalized.items():
        lacking = tuple(name for name in datasets if name not in row)
        value = math.fsum(row.values()) / len(row) if row else math.nan
        entries.append(Rank(system, None, value, row, lacking))
    whole = sorted((e for e in entries if not e.lacking), key=lambda e: -e.value)
    ranked = [replace(e, rank=1 + sum(other.value > e.value for other in whole)) for e in whole]
    return ranked + [entry for entry in entries if entry.lacking]
