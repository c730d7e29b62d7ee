"""Read the scores of systems on a dataset, to rank the systems."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError
from semmetrics.metrics.parsing import parse_in_any_case
from semmetrics.reports import entries_of
from semmetrics.schema import as_real
from semmetrics.scoring.result import SCHEMA as SCORES
from semmetrics.scoring.result import Score
from semmetrics.scoring.runs import RunSummary
from semmetrics.studies import value_tables

_DEFAULT_MEASURE = "O-F1"


class DatasetScores(NamedTuple):
    """The values of systems on a dataset by one measure.

    Attributes
    ----------
    values : dict from system to float
        nan if undefined.
    lower_is_better : bool
    measure : str
    """

    values: dict[str, float]
    lower_is_better: bool
    measure: str


class _Entry(NamedTuple):
    """A score of a system, as in a file."""

    system: str
    measure: str
    heading: str
    value: float
    signature: str = ""


def read_scores(
    scores: Any, name: str, measure: str, by: str, max_bytes: int
) -> DatasetScores:
    """Return the values of systems on a dataset by one measure.

    Parameters
    ----------
    scores
        Scores, their dictionaries, or the path of a file of them. Or a mapping from
        system to a value, or to the path of its runs.
    name : str
        What messages call the dataset.
    measure : str
        The default is the only measure or, if there are several, O-F1.
    by : {"normalized", "rank"}
    max_bytes : int

    Raises
    ------
    InputError
        If the scores are invalid, or have a measure that cannot be ranked ``by``.
    """
    if isinstance(scores, Mapping) and "schema" not in scores:
        if _are_numbers(scores):
            lower_is_better = check_direction(measure, [measure], by)
            name_of_measure = measure or _DEFAULT_MEASURE
            return DatasetScores(dict(scores), lower_is_better, name_of_measure)
        scores = _read_run_means(scores, measure, max_bytes)
    elif isinstance(scores, (str, os.PathLike)):
        name, scores = _read_file(os.fspath(scores), max_bytes)
    entries = _as_entries(scores, name)
    chosen = _choose_entries(entries, measure, name)
    measure = measure or chosen[0].heading
    lower_is_better = _find_direction(chosen, measure, by, name)
    values: dict[str, float] = {}
    for entry in chosen:
        if entry.system in values:
            role = f"{measure} of"
            raise InputError("duplicate", name, role=role, value=entry.system)
        values[entry.system] = entry.value
    return DatasetScores(values, lower_is_better, measure)


def _are_numbers(scores: Mapping[str, Any]) -> bool:
    """Return whether a mapping from system has values, not paths of runs."""
    if not scores:
        return False
    return all(isinstance(value, (int, float)) for value in scores.values())


def check_direction(measure: str, names: Iterable[str], by: str) -> bool:
    """Return whether lower values of a measure are better.

    Parameters
    ----------
    measure : str
        What messages call the measure.
    names : iterable of str
        Its names. Unknown ones are ignored.
    by : {"normalized", "rank"}

    Raises
    ------
    InputError
        If lower is better, and values are to be normalised.
    """
    measures = []
    for name in names:
        measures += parse_in_any_case(name)
    lower_is_better = any(not candidate.higher_is_better for candidate in measures)
    if lower_is_better and by == "normalized":
        raise InputError("lower-is-better", measure=measure)
    return lower_is_better


def _read_run_means(
    paths: Mapping[str, Any], measure: str, max_bytes: int
) -> list[dict[str, Any]]:
    """Return the mean of the runs of each system, as a dictionary of a score."""
    options = ReadOptions(max_bytes=max_bytes)
    runs = {}
    for system, path in paths.items():
        runs[system] = value_tables.read_runs(path, measure, options, _DEFAULT_MEASURE)
    value_tables.check_runs(runs)
    scores = []
    for system, runs_of_system in runs.items():
        summary = RunSummary.of("", runs_of_system.values)
        score = {
            "schema": SCORES,
            "system": system,
            "heading": measure or runs_of_system.measure,
            "measure": runs_of_system.measure,
            "value": summary.mean,
            "signature": "|".join(runs_of_system.signatures),
        }
        scores.append(score)
    return scores


def _read_file(path: str, max_bytes: int) -> tuple[str, Any]:
    """Return the name of a file of scores, and its entries."""
    source = load(path, max_bytes)
    if source.suffix in (".csv", ".tsv"):
        raise InputError("not-scores", source.name)
    with enough_memory(source.name):
        return source.name, entries_of(parse_source(source))


def _as_entries(scores: Any, name: str) -> list[_Entry]:
    """Return scores, or their dictionaries, as entries."""
    if not isinstance(scores, Iterable) or isinstance(scores, (str, bytes, Mapping)):
        raise InputError("not-scores", name)
    return [_as_entry(score, name) for score in scores]


def _as_entry(score: Any, name: str) -> _Entry:
    """Return a score, or its dictionary, as an entry."""
    if isinstance(score, Score):
        return _Entry(score.system, str(score.measure), score.heading, score.value)
    if not isinstance(score, Mapping) or score.get("schema") != SCORES:
        raise InputError("not-scores", name)
    system = score.get("system")
    measure = score.get("measure")
    heading = score.get("heading", measure)
    if not isinstance(system, str):
        raise InputError("not-scores", name)
    if not isinstance(measure, str) or not isinstance(heading, str):
        raise InputError("not-scores", name)
    value = score.get("value", "")
    number = math.nan
    if value is not None:
        number = as_real(value, f"{heading} of {name}")
    return _Entry(system, measure, heading, number, str(score.get("signature", "")))


def _choose_entries(entries: Sequence[_Entry], measure: str, name: str) -> list[_Entry]:
    """Return the entries of a measure. The default is the only measure, or O-F1."""
    names = [(entry.heading, entry.measure) for entry in entries]
    chosen_names = value_tables.choose_measure(measure, names, name, _DEFAULT_MEASURE)
    return [
        entry for entry in entries if (entry.heading, entry.measure) in chosen_names
    ]


def _find_direction(
    entries: Iterable[_Entry], measure: str, by: str, name: str
) -> bool:
    """Return whether lower values are better, by all names of the measure.

    Raises
    ------
    InputError
        If the measure is the user's own and not registered, or cannot be ranked ``by``.
    """
    names = {measure}
    is_own = False
    for entry in entries:
        # The heading may not be the name of a measure.
        names.add(entry.measure)
        parts = entry.signature.split("|")
        if any(part.startswith("own:") for part in parts):
            is_own = True
    if is_own and not any(map(parse_in_any_case, names)):
        raise InputError("unknown-direction", name, measure=measure)
    return check_direction(measure, names, by)


def group_files(files: Mapping[str, str], max_bytes: int) -> dict[str, Any]:
    """Group files of scores and of runs by dataset.

    A file of scores is a dataset. A file of runs is a system, and its folder is the
    dataset.

    Parameters
    ----------
    files : mapping from name to path
    max_bytes : int

    Returns
    -------
    dict from dataset to scores
        The path of a file of scores (its content, if it cannot be read twice), or a
        mapping from system to parsed runs.

    Raises
    ------
    InputError
        If a dataset, or a system of a dataset, occurs twice.
    """
    datasets: dict[str, Any] = {}
    folders: dict[str, Path] = {}
    for name, path in files.items():
        source = load(path, max_bytes)
        entries = None
        if source.suffix not in (".csv", ".tsv"):
            entries = entries_of(source.parsed(parse_source))
        if value_tables.is_of_runs(entries):
            _add_runs(datasets, folders, name, path, entries)
            continue
        if name in datasets:
            raise InputError("duplicate", path, role="the system", value=name)
        if entries is None or Path(path).is_file():
            datasets[name] = path
        else:
            datasets[name] = entries  # A pipe cannot be read again.
    return datasets


def _add_runs(
    datasets: dict[str, Any],
    folders: dict[str, Path],
    name: str,
    path: str,
    entries: Any,
) -> None:
    """Add the runs of a system to the dataset of its folder.

    Datasets are named after folders, so all runs of a dataset must be in one folder.
    """
    folder = Path(path).resolve().parent
    system = name.rpartition("/")[2]
    runs_by_system = datasets.setdefault(folder.name, {})
    is_other_folder = folders.setdefault(folder.name, folder) != folder
    is_file_of_scores = not isinstance(runs_by_system, dict)
    if is_other_folder or is_file_of_scores or system in runs_by_system:
        value = f"{folder.name}/{system}"
        raise InputError("duplicate", path, role="the system", value=value)
    runs_by_system[system] = entries
