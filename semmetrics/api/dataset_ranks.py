"""Systems ranked over several data sets, by normalised values or by their mean rank.

Conventions
-----------
A normalised value is a system's value over the best value on the same data set, so that every data
set counts alike (Pineda, Salvador et al. 2019, section 4.1 and table 3). A mean rank is that over
data sets, equal values sharing the mean of their ranks (Xian et al. 2018, figure 5; Demšar 2006).
A system that lacks a data set is listed and not ranked; tests are of the others.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from semmetrics.arguments import checked_but
from semmetrics.comparison.rank_tests import rank_rows
from semmetrics.data.form import DEFAULTS
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError
from semmetrics.messages import a_kind, listing
from semmetrics.metrics.registry import parse_in_any_case
from semmetrics.options import RANKED_BY
from semmetrics.reports.rank_table import Rank, Ranking
from semmetrics.reports.score_text import RUNS
from semmetrics.scoring.result import SCHEMA as SCORES
from semmetrics.scoring.result import Score, names_meant

__all__ = ["rank_normalized", "rank_systems"]


@checked_but("datasets")
def rank_systems(
    datasets: Mapping[str, Any],
    measure: str = "O-F1",
    *,
    by: str = "normalized",
    level: float = 0.95,
    max_bytes: int = DEFAULTS.max_bytes,
) -> Ranking:
    """Rank systems over several data sets by a normalised measure, or by their mean rank.

    Parameters
    ----------
    datasets : mapping from name to scores
        Of each data set a ScoreTable or other Scores, their dictionaries, or the path of a file
        that holds these (``semmetrics score --format json -o FILE``).
    measure : str
        The measure, an alias of it or its heading, in any case as in a ScoreTable.
    by : {"normalized", "rank"}
        The mean of value over best value, for which higher must be better; or the mean rank.
    level : float
        Of the critical difference.
    max_bytes : int
        The most bytes to read of a file, after decompression, and to make of them.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        If there are no such scores, or the measure is better when it is lower and values are to be
        normalised.

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
    _check_by(by, level)
    if by == "normalized":
        _check_direction(measure, [measure])
    lower: dict[str, bool] = {}
    values = {}
    for name, scores in datasets.items():
        values[name], lower[name] = _read_values(scores, name, measure, by, max_bytes)
    if len(set(lower.values())) > 1:
        raise InputError(f"{measure} is better when it is lower on some data sets alone",
                         remedy="name the measure as all files do")  # fmt: skip
    if by == "normalized":
        return rank_normalized(values, measure=measure, level=level)
    return _rank_all(values, measure, by, not any(lower.values()), level)


def _check_own(
    measure: str, texts: Iterable[str], entries: Iterable[Mapping[str, Any]], name: str
) -> None:
    """Refuse a measure of the user's own that is not defined here: lower may be better."""
    signatures = (str(entry.get("signature", "")).split("|") for entry in entries)
    own = any(part.startswith("own:") for parts in signatures for part in parts)
    if own and not any(map(parse_in_any_case, texts)):
        raise InputError(
            f"{measure} is a measure of your own, and nothing says whether higher is better",
            where=name, remedy="import the file that defines it (--import FILE.py)",
        )  # fmt: skip


def _check_by(by: str, level: float) -> None:
    if by not in RANKED_BY:
        raise InputError(f"by={by!r}", remedy=f"choose one of {listing(RANKED_BY)}")
    if not 0 < level < 1:
        raise InputError(f"level={level} is not between 0 and 1")


def _check_direction(measure: str, texts: Iterable[str]) -> None:
    """Refuse a measure that is better when it is lower, by all texts that it is known under."""
    if _is_lower_better(texts):
        raise InputError(
            f"{measure} is better when it is lower, and values are divided by the best",
            remedy="rank by a measure that is better when it is higher, or by='rank' (--by rank)",
        )


def _is_lower_better(texts: Iterable[str]) -> bool:
    found = [one for text in texts for one in parse_in_any_case(text)]
    return any(not one.definition.higher_is_better for one in found)


def _read_values(
    scores: Any, name: str, measure: str, by: str, max_bytes: int
) -> tuple[dict[str, float], bool]:
    """The value of each system, nan where it is undefined; and whether lower is better."""
    if isinstance(scores, (str, os.PathLike)):
        source = load(os.fspath(scores), max_bytes)
        if source.suffix in (".csv", ".tsv"):
            raise _no_scores(source.name)
        with enough_memory(source.name, max_bytes):
            name, scores = source.name, parse_source(source)
    several = isinstance(scores, Iterable) and not isinstance(scores, (str, bytes, Mapping))
    entries = list(map(_as_entry, scores)) if several else [scores]
    if not all(map(_is_score, entries)) or not several:
        raise _no_scores(name, runs=any(map(_is_of_runs, entries)))
    meant = names_meant(measure, set(map(_heading_and_measure, entries)))
    chosen = [entry for entry in entries if _heading_and_measure(entry) in meant]
    texts = {measure, *(entry["measure"] for entry in chosen)}  # a heading may not say it
    _check_own(measure, texts, chosen, name)
    if by == "normalized":
        _check_direction(measure, texts)
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
    return found, _is_lower_better(texts)


def _no_scores(name: str, *, runs: bool = False) -> InputError:
    remedy = "give a table of scores, or a file of: semmetrics score --format json -o FILE"
    if runs:
        remedy = "give a file of: semmetrics score --format json -o FILE, without --runs"
    return InputError("this is no list of scores", where=name, remedy=remedy)


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


def _is_of_runs(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("schema") == RUNS


def _is_value(value: Any) -> bool:
    """Whether it is a number that a float can hold, or none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value is None
    return isinstance(value, float) or abs(value) <= sys.float_info.max


def _heading_and_measure(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry.get("heading", entry["measure"]), entry["measure"]


def rank_normalized(
    values: Mapping[str, Mapping[str, float]], *, measure: str = "", level: float = 0.95
) -> Ranking:
    """Rank systems by their mean normalised value over data sets.

    Parameters
    ----------
    values : mapping from data set to mapping from system to value
        Higher is better; nan counts as lacking.
    measure : str
        What the values are.
    level : float
        Of the critical difference.

    Returns
    -------
    Ranking
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
    return _rank_all(values, measure, "normalized", True, level)


def _normalize(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Divide by the best value of each data set; by data set and system."""
    normalized: dict[str, dict[str, float]] = {}
    for dataset, row in values.items():
        known = {system: value for system, value in row.items() if not math.isnan(value)}
        best = max(known.values(), default=math.nan)
        if not best > 0:
            raise InputError(f"the best value on {dataset!r} is {best}", remedy="check its scores")
        normalized[dataset] = {}
        for system, value in known.items():
            if not math.isfinite(value / best):
                raise InputError(f"{system!r} has {value} on {dataset!r}, and the best is {best}",
                                 remedy="check its scores")  # fmt: skip
            normalized[dataset][system] = value / best
    return normalized


def _rank_all(
    values: Mapping[str, Mapping[str, float]], measure: str, by: str, higher: bool, level: float
) -> Ranking:
    if not values or not any(values.values()):
        raise InputError("there is nothing to rank", remedy="give values of at least one data set")
    normalized = _normalize(values) if by == "normalized" else {}
    systems = list(dict.fromkeys(system for row in values.values() for system in row))
    entries = []
    for system in systems:
        lacking = tuple(n for n, row in values.items() if math.isnan(row.get(system, math.nan)))
        row = {n: some[system] for n, some in normalized.items() if system in some}
        value = math.fsum(row.values()) / len(row) if row else math.nan
        entries.append(Rank(system, None, value, row, lacking))
    entries = _with_mean_ranks(entries, values, higher)

    def order(entry: Rank) -> float:
        return -entry.value if by == "normalized" else entry.mean_rank

    whole = [entry for entry in entries if not entry.lacking]
    ranks = rank_rows([[-order(e) for e in whole]], ties="best")[0].tolist() if whole else []
    places = [replace(e, rank=int(rank)) for e, rank in zip(whole, ranks, strict=True)]
    places.sort(key=lambda place: place.rank or 0)
    places += [entry for entry in entries if entry.lacking]
    kept = {name: dict(row) for name, row in values.items()}
    return Ranking(tuple(places), measure, kept, by, higher, level)


def _with_mean_ranks(
    entries: Sequence[Rank], values: Mapping[str, Mapping[str, float]], higher: bool
) -> list[Rank]:
    """Add the ranks of the systems that have all data sets, on each and in the mean."""
    whole = [entry.system for entry in entries if not entry.lacking]
    if not whole:
        return list(entries)
    sign = 1.0 if higher else -1.0
    for name, some in values.items():
        endless = [system for system in whole if not math.isfinite(some[system])]
        if endless:
            raise InputError(f"{endless[0]!r} has {some[endless[0]]} on {name!r}",
                             remedy="check its scores")  # fmt: skip
    ranks = rank_rows([[sign * row[system] for system in whole] for row in values.values()])
    means, place = ranks.mean(axis=0), {system: n for n, system in enumerate(whole)}
    return [
        entry if entry.lacking else replace(
            entry,
            mean_rank=float(means[place[entry.system]]),
            ranks=dict(zip(values, ranks[:, place[entry.system]].tolist(), strict=True)),
        )
        for entry in entries
    ]  # fmt: skip
