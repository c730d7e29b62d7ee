"""Tables of published values of several systems, and results of ``score --runs``.

Conventions
-----------
A table has one row per dataset, split or seed, and one column per system. In long form,
each row has the columns dataset, system and value. The output of ``score --runs`` is
also a table, with one row per run, in their order.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from semmetrics.data.frames import frame_table, is_frame
from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_tables import opened, read_rows
from semmetrics.data.source import load
from semmetrics.errors import ROW, InputError
from semmetrics.messages import listing
from semmetrics.metrics.parsing import parse, parse_in_any_case
from semmetrics.reports import entries_of
from semmetrics.schema import as_id, as_number, is_missing
from semmetrics.scoring.result import matching_names
from semmetrics.scoring.runs import RUNS_SCHEMA

Values = dict[str, dict[str, float]]
"""Values by row, then by system."""

LONG = {
    "dataset": ("dataset", "data set", "data", "split", "seed", "run"),
    "system": ("system", "model", "method"),
    "value": ("value", "score", "mean"),
}
"""The names that the columns of a table in long form may have."""

_NOT_SYSTEMS = (*LONG["dataset"], *LONG["system"], "metric", "measure")
_DECIMAL = re.compile(r"\s*[-+]?\d*\.\d+\s*")
_WORD = re.compile(r"[^\s@(),]+")  # In the name of a row: i2t MedR, WMD (voc)
_SPREAD = re.compile(r"\s*(?:\(.*|±.*|\+/-.*)$")  # After a mean: 86.4 (0.2)
_EMPTY_CELLS = ("", "-", "–", "—")
_SUMMARY_NAMES = ("average", "avg", "avg.", "mean")
_MAX_VALUE = 1e100  # Sums of squares must be finite.


class ValueTable(NamedTuple):
    """The values of a table.

    Attributes
    ----------
    values : dict of row to dict of system to float
    measure : str
        The measure of the values, or an empty string if it is unknown.
    systems : dict of system to None
        The systems in their order, including systems without any value.
    """

    values: Values
    measure: str
    systems: dict[str, None]


class Runs(NamedTuple):
    """Runs of a system by one measure, as ``score --runs --format json`` writes them.

    Attributes
    ----------
    measure : str
    values : list of float
        One per run.
    signatures : list of str
        One per run.
    """

    measure: str
    values: list[float]
    signatures: list[str]


# ---- tables --------------------------------------------------------------------------


def read_values(
    data: Any, measure: str | None = None, options: ReadOptions = DEFAULTS
) -> Values:
    """Read a table of values.

    Parameters
    ----------
    data : path, frame, rows, or mapping
        A table in wide or long form: a CSV, TSV, JSON or JSONL file, a frame, or a list
        of rows. Also a mapping from row to a mapping from system to value, or a mapping
        from system to the path of its results of ``score --runs``.
    measure : str, optional
        Which measure to read from results of ``score --runs`` that have several.
    options : ReadOptions

    Returns
    -------
    dict of row to dict of system to float
        Empty cells are left out.

    Raises
    ------
    InputError
        If a value is not a number, a system has two values on a row, a row or a column
        summarises the others, or the runs of systems differ in their measure or their
        number.

    Examples
    --------
    >>> read_values({"COCO": {"A": 0.7, "B": 0.6}})
    {'COCO': {'A': 0.7, 'B': 0.6}}
    """
    return read_table(data, measure, options).values


def read_table(data: Any, measure: str | None, options: ReadOptions) -> ValueTable:
    """Read a table of values, with its systems and the measure that it names."""
    if _is_mapping_of_paths(data):
        return _read_runs_of_systems(data, measure, options)
    values: Values = {}
    systems: dict[str, None] = {}
    for where, row in _list_rows(data, options):
        row_name, cells = _split_row(row, where)
        values_of_row = values.setdefault(row_name, {})
        for system, cell in cells.items():
            has_name = bool(system.strip())
            if has_name:
                systems[system] = None
            mean = _drop_spread(cell)
            if is_missing(mean) or mean in _EMPTY_CELLS:
                continue
            if system in values_of_row or not has_name:
                role = f"the value of {row_name} by"
                raise InputError("duplicate", where, role=role, value=system)
            role = f"the value of {system}"
            values_of_row[system] = _as_value(mean, role, where)
    _check_no_summary(values, systems)
    return ValueTable(values, measure or "", systems)


def _check_no_summary(values: Values, systems: Iterable[str]) -> None:
    """Raise an error if a row or a column summarises the others, such as a mean.

    Raises
    ------
    InputError
        Names the row or the column.
    """
    if len(values) > 1:
        for name in values:
            if _fold_name(name) in _SUMMARY_NAMES:
                raise InputError("summary", what="row", name=name)
    names = list(systems)
    if len(names) < 3:
        return
    folded_names = {_fold_name(name) for name in names}
    for name in names:
        if _is_summary_column(_fold_name(name), folded_names):
            raise InputError("summary", what="column", name=name)


def _is_summary_column(folded_name: str, folded_names: Collection[str]) -> bool:
    """Return whether a column has a statistic, or the spread of another column."""
    if folded_name in _SUMMARY_NAMES or folded_name in ("n", "std"):
        return True
    is_spread = folded_name.endswith("_std")
    return is_spread and folded_name.removesuffix("_std") in folded_names


def _fold_name(name: str) -> str:
    """Return a name without surrounding spaces, in one case."""
    return name.strip().casefold()


def _is_mapping_of_paths(data: Any) -> bool:
    """Return whether the data map systems to paths."""
    if not isinstance(data, Mapping) or not data:
        return False
    return all(map(_is_path, data.values()))


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def _read_runs_of_systems(
    paths: Mapping[str, Any], measure: str | None, options: ReadOptions
) -> ValueTable:
    """Read a table from the results of ``score --runs`` of each system."""
    runs = {system: read_runs(path, measure, options) for system, path in paths.items()}
    check_runs(runs, paired=True)
    values: Values = {}
    for system, runs_of_system in runs.items():
        for number, value in enumerate(runs_of_system.values, start=1):
            values_of_run = values.setdefault(f"run {number}", {})
            values_of_run[system] = value
    systems = dict.fromkeys(runs)
    first_runs, *_ = runs.values()
    return ValueTable(values, first_runs.measure, systems)


def _list_rows(data: Any, options: ReadOptions) -> list[tuple[str, Any]]:
    """Return the rows of a table, and the place of each for messages."""
    if isinstance(data, Mapping):
        rows = []
        for name, cells in data.items():
            row = {"": name, **cells}
            rows.append((str(name), row))
        return rows
    if _is_path(data):
        source = load(data, options.max_bytes)
        _, rows = read_rows(source, options, "values are")
        return rows
    if is_frame(data):
        table = frame_table(data, options, "values", "value")
        data = table.to_pylist()
    return [(ROW.format(number), row) for number, row in enumerate(data)]


def _split_row(row: Any, where: str) -> tuple[str, dict[str, Any]]:
    """Return the name of a row and its cells by system."""
    if not isinstance(row, Mapping) or not row:
        wanted = 'a row such as {"data": "COCO", "ours": 0.5, "theirs": 0.4}'
        raise InputError("wrong-type", where, value=row, wanted=wanted)
    columns = {}
    for column in row:
        name = str(column).strip()
        columns[name.casefold()] = column
    dataset = _find_column(columns, "dataset")
    system = _find_column(columns, "system")
    value = _find_column(columns, "value")
    if dataset is None or system is None or value is None:
        return _split_wide_row(row, columns, where)
    system_name = as_id(row[system], "the system", where)
    row_name = as_id(row[dataset], "the row", where)
    cells = {system_name: row[value]}
    return row_name, cells


def _find_column(columns: Mapping[str, Any], role: str) -> Any:
    """Return the column of a role in long form, or None."""
    for name in LONG[role]:
        if name in columns:
            return columns[name]
    return None


def _split_wide_row(
    row: Mapping[Any, Any], columns: Iterable[str], where: str
) -> tuple[str, dict[str, Any]]:
    """Return the name of a row and its cells by system.

    The first cell is the name.
    """
    unexpected = _find_unexpected_name(row, columns)
    if unexpected is not None:
        raise InputError(
            "wrong-content",
            where,
            value=repr(unexpected),
            wanted="the name of a dataset or system",
            example="data,ours,theirs, as rows",
        )
    first_column, *systems = row
    cells = {str(system): row[system] for system in systems}
    row_name = as_id(row[first_column], "the row", where)
    return row_name, cells


def _find_unexpected_name(row: Mapping[Any, Any], columns: Iterable[str]) -> Any:
    """Return a name that shows that a row is not in wide form, or None."""
    first_name, *other_names = columns
    for name in other_names:
        if name in _NOT_SYSTEMS:
            return name
    first_column, *systems = row
    row_name = row[first_column]
    for name in (row_name, *systems):
        if _DECIMAL.fullmatch(str(name)):
            return name
    if first_name in LONG["system"]:
        return first_name
    return None


def _drop_spread(cell: Any) -> Any:
    """Return the mean in a cell such as "86.4 (0.2)", and other cells unchanged."""
    if not isinstance(cell, str):
        return cell
    return _SPREAD.sub("", cell).strip()


def _as_value(value: Any, role: str, where: str) -> float:
    """Return a finite number that is not too large for sums of squares."""
    number = as_number(value, role, where)
    if abs(number) > _MAX_VALUE:
        raise InputError("not-finite", where, role=role, value=value)
    return number


# ---- measures and runs ---------------------------------------------------------------


def is_lower_better(measure: str, rows: Iterable[str]) -> bool:
    """Return whether lower values are better.

    Parameters
    ----------
    measure : str
        Must be a registered measure, or empty. If it is empty, measures in the names of
        the rows decide.
    rows : iterable of str

    Raises
    ------
    InputError
        If the measure is unknown, or lower is better on some rows only.
    """
    if measure and not parse_in_any_case(measure):
        parse(measure)  # Raises an error that suggests similar names.
    names = [measure]
    if not measure:
        names = list(rows)
    lower = list(filter(_names_lower_better_measure, names))
    if lower and len(lower) < len(names):
        raise InputError("mixed-directions", measure=lower[-1])
    return bool(lower)


def _names_lower_better_measure(name: str) -> bool:
    """Return whether a word of the name is a measure with better lower values."""
    for word in _WORD.findall(name):
        for measure in parse_in_any_case(word):
            if not measure.higher_is_better:
                return True
    return False


def is_of_runs(parsed: Any) -> bool:
    """Return whether parsed JSON is the output of ``score --runs``."""
    if not isinstance(parsed, list) or not parsed:
        return False
    return all(map(_is_run_entry, parsed))


def _is_run_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("schema") == RUNS_SCHEMA


def choose_measure(
    measure: str | None,
    named: Collection[tuple[str, str]],
    where: str,
    default: str = "",
) -> set[tuple[str, str]]:
    """Return the entries of a measure. Default: the only measure, or ``default``.

    Parameters
    ----------
    measure : str or None
    named : collection of pairs of str
        The heading and the measure of each entry.
    where : str
        What messages call the entries.
    default : str
        The measure to choose among several if none is named.

    Raises
    ------
    InputError
        If no entry has this measure, or entries have several measures and none is
        named.
    """
    headings = []
    for heading, _ in named:
        if heading not in headings:
            headings.append(heading)
    name = measure or default
    if not measure and len(headings) == 1:
        name = headings[0]
    if name:
        known_names = set(named)
        chosen = matching_names(name, known_names)
        if chosen:
            return chosen
    choices = listing(headings, most=20, write=str)
    if not measure:
        what = f"a file of several measures ({choices})"
        raise InputError("needs-option", where, what=what, name="measure")
    remedy = f"choose among {choices}"
    raise InputError(
        "unknown-name", where, what="measure", value=measure, remedy=remedy
    )


def read_runs(
    data: Any, measure: str | None, options: ReadOptions, default: str = ""
) -> Runs:
    """Return the runs of a system by one measure.

    Parameters
    ----------
    data : path, or parsed JSON
        The output of ``score --runs --format json``.
    measure : str or None
        None is the only measure, or ``default`` if there are several.
    options : ReadOptions
    default : str
    """
    with opened(data, options) as source:
        parsed = data
        if source is not data:
            parsed = source.parsed(parse_source)
        where = getattr(source, "name", "runs")
        return _find_runs(parsed, measure, where, default)


def _find_runs(parsed: Any, measure: str | None, where: str, default: str) -> Runs:
    """Return the runs by one measure in parsed JSON."""
    entries = entries_of(parsed)
    if not is_of_runs(entries):
        raise InputError("not-scores", where)
    entry_of_names = {}
    for entry in entries:
        heading = str(entry.get("heading"))
        measure_name = str(entry.get("measure"))
        entry_of_names[heading, measure_name] = entry
    choices = choose_measure(measure, entry_of_names, where, default)
    first_choice = min(choices)
    _, measure_name = first_choice
    entry = entry_of_names[first_choice]
    return _as_runs(measure_name, entry.get("runs"), where)


def _as_runs(measure: str, runs: Any, where: str) -> Runs:
    """Return the values and signatures of parsed runs."""
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InputError("not-scores", where)
    values = []
    signatures = []
    for run in runs:
        value = _as_value(run.get("value"), "the run's value", where)
        values.append(value)
        signatures.append(str(run.get("signature")))
    return Runs(measure, values, signatures)


def check_runs(runs: Mapping[str, Runs], *, paired: bool = False) -> None:
    """Check that all systems have runs by the same measure on the same data.

    Paired systems must also have the same number of runs.
    """
    measures: set[str] = set()
    datasets: set[str] = set()
    numbers: set[str] = set()
    for runs_of_system in runs.values():
        measures.add(runs_of_system.measure)
        datasets |= _find_data(runs_of_system.signatures)
        if paired:
            number = len(runs_of_system.values)
            numbers.add(str(number))
    distinct = {"measures": measures, "data": datasets, "numbers": numbers}
    for what, names in distinct.items():
        if len(names) > 1:
            where = " and ".join(runs)
            raise InputError("unlike-runs", where, what=what, names=sorted(names))


def _find_data(signatures: Iterable[str]) -> set[str]:
    """Return the parts of signatures that identify the data."""
    data_parts = set()
    for signature in signatures:
        for part in signature.split("|"):
            if part.startswith("data:"):
                data_parts.add(part)
    return data_parts
