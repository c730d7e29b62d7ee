"""Numbers as papers print them: values of systems on data sets, splits or seeds, compared.

Conventions
-----------
A table has a row for each data set, or split, or seed, and a column for each system; values are
paired by rows. In long form a row has the columns dataset, system and value. What ``score --runs``
writes is a table, too: its rows are the runs, by their places.

Gains are a system's values less those of the baseline on the rows that both have. A mean (std) has
n - 1 in the denominator.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.data.form import DEFAULTS, ReadOptions, takes_options
from semmetrics.data.json_files import parse_source
from semmetrics.data.objects import frame_table, is_frame
from semmetrics.data.side_tables import opened, read_rows
from semmetrics.data.source import load
from semmetrics.errors import ROW, InputError
from semmetrics.kinds.common import finite_or_none
from semmetrics.messages import listing
from semmetrics.metrics.registry import parse, parse_in_any_case
from semmetrics.options import CORRECTIONS, OF_VALUES, TAKEN, TESTS
from semmetrics.reports import Records, entries_of, format_p
from semmetrics.schema import as_id, as_number, is_missing
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.result import matching_names
from semmetrics.scoring.table import RUNS, RunSummary
from semmetrics.studies import comparisons, rank_tests, significance

Values = dict[str, dict[str, float]]
"""By row, then by system."""
LONG = (
    ("dataset", "data set", "data", "split", "seed", "run"),
    ("system", "model", "method"),
    ("value", "score", "mean"),
)
"""What the columns of a table in long form may be called."""
_WORD = re.compile(r"[^\s@(),]+")  # of the name of a row: i2t MedR, WMD (voc)
# rows and columns that are not compared
_SUMMARIES = (
    "average",
    "avg",
    "avg.",
    "mean",
)
_ROUNDING = 1e-13  # of a difference, relative to the values that are subtracted
_SPREAD = re.compile(r"\s*(?:\(.*|±.*|\+/-.*)$")  # behind a mean: 86.4 (0.2)


def read_values(
    data: Any, measure: str | None = None, options: ReadOptions = DEFAULTS
) -> Values:
    """Read a table of values.

    Parameters
    ----------
    data : path, frame, rows, or mapping
        CSV, TSV, JSON or JSONL, wide or long; from row to a mapping from system to value; or from
        system to the path of its results of ``score --runs``.
    measure : str, optional
        Of results of ``score --runs`` that have several.
    options : ReadOptions

    Returns
    -------
    dict of row to dict of system to float
        Without the cells that are empty.

    Raises
    ------
    InputError
        If a value is no number, a system has two on a row, or files of runs have other measures or
        numbers of runs.

    Examples
    --------
    >>> read_values({"COCO": {"A": 0.7, "B": 0.6}})
    {'COCO': {'A': 0.7, 'B': 0.6}}
    """
    return read_table(data, measure, options)[0]


def read_table(
    data: Any, measure: str | None, options: ReadOptions
) -> tuple[Values, str, dict[str, None]]:
    """Read a table of values, the measure that they are of, where that is known, and systems."""
    rows: Any
    if isinstance(data, Mapping):
        if data and all(isinstance(one, (str, os.PathLike)) for one in data.values()):
            runs = {s: read_runs(path, measure, options) for s, path in data.items()}
            check_runs(runs, paired=True)
            rows = zip(*(one.values for one in runs.values()), strict=True)
            made = {
                f"run {n}": dict(zip(runs, row, strict=True))
                for n, row in enumerate(rows, 1)
            }
            return made, next(iter(runs.values())).measure, dict.fromkeys(runs)
        rows = [(str(row), {"": row, **cells}) for row, cells in data.items()]
    elif isinstance(data, (str, os.PathLike)):
        rows = read_rows(load(data, options.max_bytes), options, "values are")[1]
    else:
        data = (
            frame_table(data, options, "values", "value").to_pylist()
            if is_frame(data)
            else data
        )
        rows = [(ROW.format(n), row) for n, row in enumerate(data)]
    found: Values = {}
    every: dict[str, None] = {}
    for where, row in rows:
        place, cells = _cells(row, where)
        every |= dict.fromkeys(name for name in cells if name.strip())
        mine = found.setdefault(place, {})
        for name, cell in cells.items():
            cell = _SPREAD.sub("", cell).strip() if isinstance(cell, str) else cell
            if is_missing(cell) or cell in ("", "-", "–", "—"):
                continue
            if name in mine or not name.strip():
                raise InputError(
                    "duplicate", where, role=f"the value of {place} by", value=name
                )
            mine[name] = _as_value(cell, f"the value of {name}", where)
    _check_no_summary(found, every)
    return found, measure or "", every


def _check_no_summary(values: Values, systems: Iterable[str]) -> None:
    """Raise an error if a row or a column summarises others, as a mean does.

    Raises
    ------
    InputError
        Names the row or the column.
    """
    if len(values) > 1:
        for name in values:
            if name.strip().casefold() in _SUMMARIES:
                raise InputError("summary", what="row", name=name)
    known = list(systems)
    for name in known:
        folded = name.strip().casefold()
        spread_of = next(
            (one for one in known if folded == f"{one.strip().casefold()}_std"), None
        )
        if len(known) > 2 and (
            folded in (*_SUMMARIES, "n", "std") or spread_of is not None
        ):
            raise InputError("summary", what="column", name=name)


def _cells(row: Any, where: str) -> tuple[str, dict[str, Any]]:
    """Return the data set of a row, and what it has of each system."""
    if not isinstance(row, Mapping) or not row:
        wanted = 'a row such as {"data": "COCO", "ours": 0.5, "theirs": 0.4}'
        raise InputError("wrong-type", where, value=row, wanted=wanted)
    names = {str(name).strip().casefold(): name for name in row}
    dataset, system, value = (
        next((names[n] for n in some if n in names), None) for some in LONG
    )
    if dataset is not None and system is not None and value is not None:
        cells = {as_id(row[system], "the system", where): row[value]}
    else:
        dataset, *systems = row
        cells = {str(name): row[name] for name in systems}
        first, *others = names
        odd = [n for n in others if n in (*LONG[0], *LONG[1], "metric", "measure")]
        is_decimal = re.compile(r"\s*[-+]?\d*\.\d+\s*").fullmatch
        odd += [n for n in (row[dataset], *systems) if is_decimal(str(n))]
        if odd or first in LONG[1]:
            wanted, example = (
                "the name of a data set or system",
                "data,ours,theirs, as rows",
            )
            value = repr((odd or [first])[0])
            raise InputError(
                "wrong-content", where, value=value, wanted=wanted, example=example
            )
    return as_id(row[dataset], "the row", where), cells


def _as_value(value: Any, role: str, where: str) -> float:
    number = as_number(value, role, where)
    if abs(number) > 1e100:  # squares are added up
        raise InputError("not-finite", where, role=role, value=value)
    return number


class Runs(NamedTuple):
    """What ``score --runs --format json`` wrote of one measure of a system."""

    measure: str
    values: list[float]
    signatures: list[str]


def is_lower_better(measure: str, rows: Iterable[str]) -> bool:
    """Whether lower is better by a measure, which must be known; by none, by names in rows' names.

    Raises
    ------
    InputError
        If rows are called by measures, and lower is better by some of them only.
    """
    if measure and not parse_in_any_case(measure):
        parse(measure)
    named = {
        name: [one for word in _WORD.findall(name) for one in parse_in_any_case(word)]
        for name in ([measure] if measure else rows)
    }
    lower = {
        any(not one.higher_is_better for one in some): name
        for name, some in named.items()
    }
    if len(lower) > 1:
        raise InputError("mixed-directions", measure=lower[True])
    return True in lower


def is_of_runs(found: Any) -> bool:
    """Whether a value of JSON is what ``score --runs`` writes."""
    listed = isinstance(found, list) and found
    return bool(listed) and all(
        isinstance(e, dict) and e.get("schema") == RUNS for e in found
    )


def choose_measure(
    measure: str | None,
    named: Collection[tuple[str, str]],
    where: str,
    default: str = "",
) -> set[tuple[str, str]]:
    """Return the headings and measures that a name means; without one, the only or the default."""
    headings = list(dict.fromkeys(heading for heading, _ in named))
    name = measure or (headings[0] if len(headings) == 1 else default)
    found = matching_names(name, set(named)) if name else set()
    if found:
        return found
    there = listing(headings, most=20, write=str)
    if not measure:
        what = f"a file of several measures ({there})"
        raise InputError("needs-option", where, what=what, name="measure")
    raise InputError(
        "unknown-name",
        where,
        what="measure",
        value=measure,
        remedy=f"choose among {there}",
    )


def read_runs(
    data: Any, measure: str | None, options: ReadOptions, default: str = ""
) -> Runs:
    """Return the runs of a system by a measure, or by the only one; of a path, or parsed."""
    with opened(data, options) as source:
        entries = entries_of(data if source is data else source.parsed(parse_source))
        where = getattr(source, "name", "runs")
        if not is_of_runs(entries):
            raise InputError("not-scores", where)
        named = {
            (str(one.get("heading")), str(one.get("measure"))): one for one in entries
        }
        meant = min(choose_measure(measure, named, where, default))
        runs = named[meant].get("runs")
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise InputError("not-scores", where)
        values = [_as_value(run.get("value"), "the run's value", where) for run in runs]
        return Runs(meant[1], values, [str(run.get("signature")) for run in runs])


def check_runs(runs: Mapping[str, Runs], *, paired: bool = False) -> None:
    """Refuse runs of systems by different measures or on different data; pairs are as many."""
    found = {
        "measures": {one.measure for one in runs.values()},
        "data": {
            part
            for one in runs.values()
            for signature in one.signatures
            for part in signature.split("|")
            if part.startswith("data:")
        },
        "numbers": {str(len(one.values)) for one in runs.values() if paired},
    }
    for what, several in found.items():
        if len(several) > 1:
            raise InputError(
                "unlike-runs", " and ".join(runs), what=what, names=sorted(several)
            )


@takes_options()
def compare_values(
    values: Any,
    *,
    baseline: str | None = None,
    test: str = "t",
    correction: str = "holm",
    measure: str | None = None,
    **options: Any,
) -> Records:
    """Compare values of systems, paired by data sets, splits or seeds.

    Parameters
    ----------
    values : path, frame, rows or mapping
        As `read_values` takes them.
    baseline : str, optional
        The system that all others are compared with. Without it all pairs are compared: each
        system with those before it.
    test : {"t", "wilcoxon", "randomization"}
        Student's paired t-test; Wilcoxon's signed ranks; signs of gains at random, all of them
        where these are at most ``resamples``.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of pairs.
    measure : str, optional
        Of results of ``score --runs`` that have several; of other values it says alone whether
        lower is better.
    **options

    Returns
    -------
    Records
        A row for each pair, a "system" and its "baseline": "n" rows that both have, mean (std) of
        both and of the gains ("difference"), the limits of the mean gain by Student's t (within the
        range that the measure allows, if it is known), p (None where
        there are not two rows, or all gains are alike), and the rows won, tied and lost, by
        the direction of the measure, where that is known, or else by higher values.

    Raises
    ------
    InputError
        If the table is wrong, or has fewer than two systems.

    References
    ----------
    Demšar 2006, Statistical comparisons of classifiers over multiple data sets, section 3.1.
    Pineda, Salvador et al. 2019, table 4 and figure 4. Xian et al. 2018, section 6.1.

    Examples
    --------
    >>> values = {f"seed {n}": {"A": 0.5, "B": 0.6 + n / 50} for n in range(5)}
    >>> (one,) = compare_values(values)
    >>> [round(one[name], 4) for name in ("mean", "std", "difference", "p")]
    [0.64, 0.0316, 0.14, 0.0006]
    """
    check_choice("test", test, OF_VALUES)
    check_choice("correction", correction, CORRECTIONS)
    given = {name: value for name, value in options.items() if value is not None}
    made = Bootstrap.of(
        {"resamples": TAKEN["compare_values"]["resamples"].default, **given}
    )
    table, named, systems = read_table(values, measure, given.get("read", DEFAULTS))
    comparisons.check_systems(systems, baseline)
    pairs, lower = (
        comparisons.pair_systems(systems, baseline),
        is_lower_better(named, table),
    )
    span = _span(named, table)
    rows = [_gain(*pair, table, test, made, lower, span) for pair in pairs]
    corrected = significance.correct_p([row["p"] for row in rows], correction)
    for row, p in zip(rows, corrected, strict=True):
        row |= {
            "p_corrected": p,
            "significant": p < made.alpha,
            "measure": named or None,
        }
        row |= {"test": test, "correction": correction, "level": made.level}
        row |= {
            name: finite_or_none(one)
            for name, one in row.items()
            if isinstance(one, float)
        }
    return Records.from_rows([*rows[0]], rows)


def _span(measure: str, table: Values) -> float:
    """Return the largest gain that is possible by a measure.

    It is infinite if the measure is not known, or a value lies outside its bounds, as percentages
    do.
    """
    measures = parse_in_any_case(measure) if measure else []
    if not measures:
        return math.inf
    least = min(one.definition.bounds[0] for one in measures)
    most = max(one.definition.bounds[1] for one in measures)
    for cells in table.values():
        for value in cells.values():
            if not least <= value <= most:
                return math.inf
    return most - least


def _gain(
    system: str,
    baseline: str,
    table: Values,
    test: str,
    made: Bootstrap,
    lower: bool,
    span: float,
) -> dict[str, Any]:
    """Compare a system with the baseline on the rows that both have.

    ``span`` is the largest gain that is possible, and limits the interval.
    """
    both = [
        (row[system], row[baseline])
        for row in table.values()
        if {system, baseline} <= {*row}
    ]
    sides = np.array(both, np.float64).reshape(-1, 2).T
    gains: Floats = significance.subtract(*sides)
    p = low = high = math.nan
    if len(both) > 1:
        p, low, high = significance.student_t(gains, made.level)
        low, high = max(low, -span), min(high, span)
        if math.isnan(p):  # all gains are alike
            low = high = math.nan
    if len(both) > 1 and test == "wilcoxon":
        p = rank_tests.signed_rank_p(gains)
    elif len(both) > 1 and test == "randomization":
        rounding = _ROUNDING * float(np.abs(sides).max())
        p = significance.sign_flip_p(gains, made.resamples, made.seed, rounding)
    row: dict[str, Any] = {"system": system, "baseline": baseline, "n": len(both)}
    names = (
        ("mean", "std"),
        ("baseline_mean", "baseline_std"),
        ("difference", "difference_std"),
    )
    for pair, side in zip(names, (*sides, gains), strict=True):
        row |= zip(pair, RunSummary.of("", side.tolist()).moments, strict=True)
    row |= {"low": low, "high": high, "p": p}
    signs = (-1 if lower else 1) * np.sign(gains)
    won = zip(("wins", "ties", "losses"), (1, 0, -1), strict=True)
    return row | {name: int((signs == sign).sum()) for name, sign in won}


def draw_values(found: Records, form: str, *, digits: int = 4) -> str:
    """Draw what `compare_values` found, in a form of results; json and csv have all columns."""
    if form in ("json", "csv"):
        return found.render(form)
    written = {
        name: [format_p(math.nan if p is None else p) for p in found.column(name)]
        for name in ("p", "p_corrected")
    }
    baselines = {*found.column("baseline")}
    shared = [
        "measure",
        "level",
        "test",
        "correction",
        *["baseline"] * (len(baselines) == 1),
    ]
    shown = found.drop(*shared).with_columns(**written)
    text, of = shown.render(form, digits=digits), found[0]
    measure, by = of["measure"], CORRECTIONS[of["correction"]]
    over = "the baseline of each row" if len(baselines) > 1 else of["baseline"]
    gains = f"gains over {over}" + (f" in {measure}" if measure else "")
    parts = (
        gains,
        TESTS[of["test"]],
        by and f"p corrected by {by}",
        f"{of['level']:.0%} intervals",
    )
    return f"{text}\n\n{', '.join(filter(None, parts))}" if form == "table" else text
