"""Systems ranked over several data sets, from their scores or from files of scores.

Conventions
-----------
A normalised value is a system's value over the best value on the same data set, so that every data
set counts alike (Pineda, Salvador et al. 2019, section 4.1 and table 3).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse as parse_json
from semmetrics.data.source import load
from semmetrics.errors import InputError, listing
from semmetrics.metrics.registry import parse
from semmetrics.scoring.score_result import SCHEMA as SCORES
from semmetrics.scoring.score_result import Score

__all__ = ["SCHEMA", "Rank", "rank_normalized", "rank_systems"]

SCHEMA = "semmetrics.ranks/1"


def rank_systems(datasets: Mapping[str, Any], measure: str = "O-F1") -> list[Rank]:
    """Rank systems over several data sets by a normalised measure.

    Parameters
    ----------
    datasets : mapping from name to scores
        Of each data set a ScoreTable or other Scores, their dictionaries, or the path of a file
        that holds these (``semmetrics score --format json -o FILE``).
    measure : str
        The measure, or its heading; higher is better.

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
        raise InputError(f"a {type(datasets).__name__} instead of data sets by their names",
                         remedy="give {name: scores}")  # fmt: skip
    _check_direction(measure)
    return rank_normalized({
        name: _read_values(scores, name, measure) for name, scores in datasets.items()
    })  # fmt: skip


def _check_direction(measure: str) -> None:
    try:
        definition = parse(measure)[0].definition
    except InputError:
        return  # a heading of a protocol
    if not definition.higher_is_better:
        raise InputError(
            f"{measure} is better when it is lower, and values are divided by the best",
            remedy="rank by a measure that is better when it is higher",
        )


def _read_values(scores: Any, name: str, measure: str) -> dict[str, float]:
    """The value of each system; nan where it is undefined."""
    if isinstance(scores, (str, os.PathLike)):
        source = load(os.fspath(scores), DEFAULTS.max_bytes)
        name, scores = source.name, parse_json(source.text, source.name)
    entries = list(map(_as_entry, scores)) if _is_iterable(scores) else []
    if not _is_iterable(scores) or not all(map(_is_score, entries)):
        raise InputError(
            "this is no list of scores", where=name,
            remedy="write it with: semmetrics score --format json -o FILE",
        )  # fmt: skip
    names = _spellings(measure)
    found: dict[str, float] = {}
    for entry in entries:
        if entry["measure"] not in names and entry.get("heading") not in names:
            continue
        if entry["system"] in found:
            raise InputError(f"{entry['system']} has {measure} twice", where=name,
                             remedy="name one of them as the file does")  # fmt: skip
        found[entry["system"]] = math.nan if entry["value"] is None else float(entry["value"])
    if not found:
        there = listing(dict.fromkeys(e.get("heading", e["measure"]) for e in entries), most=20)
        raise InputError(f"there is no {measure}", where=name,
                         remedy=f"choose with -m among {there}")  # fmt: skip
    return found


def _is_iterable(scores: Any) -> bool:
    return isinstance(scores, Iterable) and not isinstance(scores, (str, bytes, Mapping))


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
    value = entry.get("value", "")
    number = value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
    return number and isinstance(entry.get("system"), str) and isinstance(entry.get("measure"), str)


def _spellings(measure: str) -> set[str]:
    """The name as it is written, and as scores write it."""
    try:
        return {measure, *map(str, parse(measure))}
    except InputError:
        return {measure}


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
            normalized[system][dataset] = value / best
    return _rank_all(normalized, list(values))


def _rank_all(normalized: Mapping[str, Mapping[str, float]], datasets: list[str]) -> list[Rank]:
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
