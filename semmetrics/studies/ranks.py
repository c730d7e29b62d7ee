"""Systems ranked over several data sets, by normalised values or by their mean rank.

Conventions
-----------
A normalised value is a system's value over the best value on the same data set, so that every data
set counts alike (Pineda, Salvador et al. 2019, section 4.1 and table 3). A mean rank is that over
data sets, equal values sharing the mean of their ranks (Xian et al. 2018, figure 5; Demšar 2006).
A system that lacks a data set is listed and not ranked; tests are of the others.

In the diagram of mean ranks the best rank is on the left, and a bar joins systems that the critical
difference does not tell apart (Demšar 2006, figure 1). Colours are those of the text around it, so
that light and dark pages can both show it; names are escaped.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import enough_memory, load
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import listing, pluralize, visible
from semmetrics.metrics.registry import parse_in_any_case
from semmetrics.options import RANKED_BY
from semmetrics.reports import Records, Table, draw, entries_of, entry_of, format_full
from semmetrics.reports.figures import rank_lines
from semmetrics.schema import as_real
from semmetrics.scoring.result import SCHEMA as SCORES
from semmetrics.scoring.result import Score
from semmetrics.scoring.table import RunSummary
from semmetrics.studies import rank_tests
from semmetrics.studies import values as tables
from semmetrics.studies.rank_tests import Ties, rank_rows

_MANY = 12  # systems whose rank matrix is drawn below a table
_DEFAULT = "O-F1"
_OF_RANK = (
    "system",
    "rank",
    "measure",
    "value",
    "normalized",
    "mean_rank",
    "ranks",
    "lacking",
)


@by_value()
@dataclass(frozen=True, eq=False)
class Rank:
    """A system's place among others over several data sets.

    Attributes
    ----------
    system : str
    rank : int or None
        From 1, equal systems share the better one; None for a system that lacks a data set.
    value : float
        Mean over the data sets that it has of value over best value; nan where lower is better.
    normalized : mapping from data set to float
    lacking : tuple of str
    mean_rank : float
        Over the data sets, among the systems that have all of them; nan where it lacks one.
    ranks : mapping from data set to float
        Equal values share the mean of their ranks.
    """

    system: str
    rank: int | None
    value: float
    normalized: Mapping[str, float]
    lacking: tuple[str, ...] = ()
    mean_rank: float = math.nan
    ranks: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self, measure: str) -> dict[str, Any]:
        """Return the rank as JSON has it: null for what is undefined."""
        lacking = list(self.lacking)
        return entry_of(
            self, "semmetrics.ranks/1", _OF_RANK, measure=measure, lacking=lacking
        )


@by_value()
@dataclass(frozen=True, eq=False)
class Ranking(Table[Rank]):
    """Systems in the order of their ranks, and whether their ranks are chance.

    Attributes
    ----------
    places : tuple of Rank
        Ranked systems first, best first; then those that lack a data set.
    measure : str
    values : mapping from data set to mapping from system to value
    by : {"normalized", "rank"}
    higher_is_better : bool
    level : float
        Of the tests.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9 - n / 50, "B": 0.6, "C": 0.3 + n / 50} for n in range(5)}
    >>> found = rank_normalized(values)
    >>> [(place.system, place.mean_rank) for place in found]
    [('A', 1.0), ('B', 2.0), ('C', 3.0)]
    >>> round(found.friedman.p, 4), round(found.critical_difference, 2), found.groups
    (0.0067, 1.48, (('A', 'B'), ('B', 'C')))
    """

    _columns = (
        "system",
        "rank",
        "mean_rank",
        "mean_normalized",
        "dataset",
        "value",
        "normalized",
        "dataset_rank",
    )
    _of = "places"
    places: tuple[Rank, ...]
    measure: str
    values: Mapping[str, Mapping[str, float]] = field(repr=False)
    by: str = "normalized"
    higher_is_better: bool = True
    level: float = 0.95

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, in the order given."""
        return tuple(self.values)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The systems that have all data sets, in the order of the ranks."""
        return tuple(place.system for place in self.places if not place.lacking)

    def _table(self) -> Floats:
        """Values of the systems that have all data sets, higher better: (data sets, systems)."""
        sign = 1.0 if self.higher_is_better else -1.0
        rows = [
            [sign * row[name] for name in self.ranked] for row in self.values.values()
        ]
        return np.array(rows, np.float64).reshape(len(rows), len(self.ranked))

    @property
    def is_testable(self) -> bool:
        """Whether there are at least two data sets and two systems that have them."""
        return len(self.values) > 1 and len(self.ranked) > 1

    @property
    def friedman(self) -> rank_tests.Friedman | None:
        """The Friedman test of the systems that have all data sets; None of fewer than two."""
        return rank_tests.friedman(self._table()) if self.is_testable else None

    @property
    def critical_difference(self) -> float:
        """By how much mean ranks differ where systems do (Nemenyi); nan without two of each."""
        if not self.is_testable:
            return math.nan
        return rank_tests.critical_difference(
            len(self.ranked), len(self.values), self.level
        )

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of systems that the critical difference does not tell apart."""
        if not self.is_testable:
            return ()
        names, means = self.ranked, rank_rows(self._table()).mean(axis=0)
        found = rank_tests.group_indistinct(means, self.critical_difference)
        return tuple(tuple(names[place] for place in group) for group in found)

    def rank_matrix(self) -> Floats:
        """Return on how many data sets each system of ``ranked`` has each rank.

        Returns
        -------
        float array, shape (systems, ranks)
            Equal systems count at each of their ranks in equal parts.
        """
        return (
            rank_tests.rank_matrix(self._table())[0]
            if self.ranked
            else np.zeros((0, 0))
        )

    def differences(self, first: str, second: str, *, ties: Ties = "best") -> Records:
        """Compare the ranks of the systems that two data sets have, as `rank_differences`.

        Raises
        ------
        InputError
            If there is no such data set.
        """
        sign = 1.0 if self.higher_is_better else -1.0
        sides = []
        for name in (first, second):
            if name not in self.values:
                raise InputError(
                    "unknown-name",
                    what="data set",
                    value=name,
                    remedy=f"choose among {listing(self.values)}",
                )
            sides.append(
                {s: sign * v for s, v in self.values[name].items() if math.isfinite(v)}
            )
        rows = rank_tests.rank_differences(*sides, ties=ties)
        for row in rows:
            row["first"], row["second"] = sign * row["first"], sign * row["second"]
        return Records.from_rows(list(rows[0]), rows)

    def to_svg(self) -> str:
        """Draw the mean ranks, with the critical difference and what it does not tell apart.

        Raises
        ------
        InputError
            If there are fewer than two systems that have all data sets.
        """
        means = [place.mean_rank for place in self.places if not place.lacking]
        by = self.measure or "the values of the table"
        title = f"mean ranks by {by} over {pluralize(len(self.values), 'data set')}"
        return draw_mean_ranks(
            self.ranked, means, self.critical_difference, self.groups, title
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each rank as JSON has it, with the tests of all."""
        test, names = self.friedman, ("statistic", "p", "f_statistic", "f_p")
        found = test and {name: finite_or_none(getattr(test, name)) for name in names}
        apart = finite_or_none(self.critical_difference)
        tests = {
            "by": self.by,
            "datasets": len(self.values),
            "friedman": found,
            "critical_difference": apart,
            "level": self.level,
        }
        return [
            {
                **place.to_dict(self.measure),
                "values": {
                    name: finite_or_none(row[place.system])
                    for name, row in self.values.items()
                    if place.system in row
                },
                **tests,
            }
            for place in self.places
        ]

    def to_records(self) -> Records:
        """Return one row for each system and data set.

        Returns
        -------
        Records
            Columns "system", "rank", "mean_rank" and "mean_normalized" of the system, "dataset",
            and its "value", "normalized" value and "dataset_rank" there; None for what is not
            known.
        """
        rows = [
            {
                "system": place.system,
                "rank": place.rank,
                "dataset": name,
                "mean_rank": finite_or_none(place.mean_rank),
                "mean_normalized": finite_or_none(place.value),
                "value": finite_or_none(row.get(place.system, math.nan)),
                "normalized": place.normalized.get(name),
                "dataset_rank": place.ranks.get(name),
            }
            for place in self.places
            for name, row in self.values.items()
        ]
        return Records.from_rows(self._columns, rows)

    def to_csv(self) -> str:
        """Write one row a system, with a column for each data set, in full precision."""
        return draw(self._cells(None), "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        return [self._cells(digits)]

    def _cells(self, digits: int | None) -> list[list[str]]:
        """Return one row a system; data sets have the values that the rank comes from."""

        def shown(value: float, places: int | None = digits) -> str:
            if digits is None:
                return format_full(value)
            return "-" if math.isnan(value) else f"{value:.{places}f}"

        normalized, blank = self.by == "normalized", "" if digits is None else "-"
        mean = [f"normalized {self.measure}".rstrip()] if normalized else []
        rows = [["system", "rank", *mean, "mean rank", *self.values]]
        for place in self.places:
            own = {
                name: row.get(place.system, math.nan)
                for name, row in self.values.items()
            }
            of = place.normalized if normalized else own
            cells = [place.system, str(place.rank or blank)]
            cells += [shown(place.value)] if normalized else []
            cells += [
                shown(place.mean_rank, 2),
                *(shown(of.get(n, math.nan)) for n in self.values),
            ]
            rows.append(cells)
        return rows

    def __repr__(self) -> str:
        systems = pluralize(len(self.places), "system")
        over = pluralize(len(self.values), "data set")
        return f"Ranking({systems} over {over} by {self.measure or self.by})"

    def _sentences(self) -> list[str]:
        return report_ranks(self)


def report_ranks(ranking: Ranking) -> list[str]:
    """Draw the rank matrix, and say whether ranks differ by more than chance.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9, "B": 0.66 + n / 20, "C": 0.5} for n in range(8)}
    >>> for part in report_ranks(rank_normalized(values)):
    ...     print(part)
    data sets at rank  1  2  3
    A                  5  3  0
    B                  3  5  0
    C                  0  0  8
    Friedman test of 3 systems over 8 data sets: chi2 = 12.25 (2 degrees of freedom), p = 0.002;
    F of Iman and Davenport 22.87, p < 0.001
    mean ranks differ where they are more than 1.17 apart (Nemenyi, level 0.95)
    not told apart: A, B
    """
    test, parts = ranking.friedman, []
    if test is None:
        return []
    if len(ranking.ranked) <= _MANY:
        matrix = ranking.rank_matrix().tolist()
        head = ["data sets at rank", *map(str, range(1, len(matrix) + 1))]
        rows = [
            [name, *(f"{n:g}" if n == int(n) else f"{n:.2f}" for n in row)]
            for name, row in zip(ranking.ranked, matrix, strict=True)
        ]
        parts = [draw([head, *rows])]
    over = (
        f"{pluralize(test.systems, 'system')} over {pluralize(test.rows, 'data set')}"
    )
    if math.isnan(test.p):
        return [*parts, f"Friedman test of {over}: all are equal everywhere"]
    groups = "; ".join(", ".join(group) for group in ranking.groups)
    free = pluralize(test.systems - 1, "degree") + " of freedom"
    p, f_p = (
        "p < 0.001" if one < 0.001 else f"p = {one:.3f}" for one in (test.p, test.f_p)
    )
    f = "is infinite, as all rows rank alike"
    f = f if math.isinf(test.f_statistic) else f"{test.f_statistic:.2f}, {f_p}"
    return [
        *parts,
        f"Friedman test of {over}: chi2 = {test.statistic:.2f} ({free}), {p}; "
        f"F of Iman and Davenport {f}",
        f"mean ranks differ where they are more than {ranking.critical_difference:.2f} apart "
        f"(Nemenyi, level {ranking.level:g})",
        f"not told apart: {visible(groups)}"
        if groups
        else "all systems are told apart",
    ]


def draw_rank_differences(
    rows: Sequence[dict[str, Any]],
    first: str,
    second: str,
    form: str,
    *,
    digits: int = 4,
) -> str:
    """Draw the ranks of systems on two data sets side by side.

    Parameters
    ----------
    rows : sequence of dict
        As of ``Ranking.differences``.
    first, second : str
        The data sets.
    form : {"table", "json", "csv", "markdown", "latex", "html"}
    digits : int
    """
    if form == "json":
        named = [
            {"first_dataset": first, "second_dataset": second} | row for row in rows
        ]
        return json.dumps(named, indent=1, ensure_ascii=False, allow_nan=False)
    if form == "csv":
        return Records.from_rows(list(rows[0]), rows).to_csv().rstrip("\n")
    head = [
        "system",
        first,
        f"rank on {first}",
        second,
        f"rank on {second}",
        "difference",
    ]
    body = [
        [
            row["system"],
            f"{row['first']:.{digits}f}",
            f"{row['first_rank']:g}",
            f"{row['second']:.{digits}f}",
            f"{row['second_rank']:g}",
            f"{row['difference']:+g}" if row["difference"] else "0",
        ]
        for row in rows
    ]
    return draw([head, *body], form)


def rank_systems(
    datasets: Any,
    measure: str | None = None,
    *,
    by: str = "normalized",
    level: float = 0.95,
    max_bytes: int = DEFAULTS.max_bytes,
) -> Ranking:
    """Rank systems over several data sets by a normalised measure, or by their mean rank.

    Parameters
    ----------
    datasets : mapping from name to scores, path or frame
        Of each data set a ScoreTable or other Scores, their dictionaries, or the path of a file
        that holds these (``semmetrics score --format json -o FILE``); or a mapping from system to
        the path of what ``score --runs`` wrote, whose means are ranked. Otherwise a table of
        values: a row for each data set, as `semmetrics.studies.compare_values` takes it.
    measure : str, optional
        The measure, an alias of it or its heading, in any case as in a ScoreTable. The default is
        the only one of the first data set, or O-F1; of a table it says alone whether lower is
        better.
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
    check_choice("by", by, RANKED_BY)
    measure = (measure or "").strip()
    if not isinstance(datasets, Mapping):
        table, _, systems = tables.read_table(
            datasets, None, ReadOptions(max_bytes=max_bytes)
        )
        for row in table.values():  # a system without any value is listed, too
            row.update({name: math.nan for name in systems if name not in row})
        higher = not tables.is_lower_better(measure, table)
        if not higher and by == "normalized":
            raise InputError("lower-is-better", measure=measure or next(iter(table)))
        return _rank_all(table, measure, by, higher, level)
    _check_direction(measure, [measure], by)
    lower: dict[str, bool] = {}
    values = {}
    for name, scores in datasets.items():
        values[name], lower[name], measure = _read_values(
            scores, name, measure, by, max_bytes
        )
    if len(set(lower.values())) > 1:
        raise InputError("mixed-directions", measure=measure)
    return _rank_all(values, measure, by, not any(lower.values()), level)


def _check_direction(measure: str, texts: Iterable[str], by: str) -> bool:
    """Return whether lower is better, by all texts of a measure; normalised, it may not be."""
    found = [one for text in texts for one in parse_in_any_case(text)]
    lower = any(not one.higher_is_better for one in found)
    if lower and by == "normalized":
        raise InputError("lower-is-better", measure=measure)
    return lower


def _read_values(
    scores: Any, name: str, measure: str, by: str, max_bytes: int
) -> tuple[dict[str, float], bool, str]:
    """Return the value of each system, nan where undefined, whether lower is better, and by what.

    Without a measure it is the only one, or the default.
    """
    if isinstance(scores, Mapping) and "schema" not in scores:
        if scores and all(isinstance(one, (int, float)) for one in scores.values()):
            return (
                dict(scores),
                _check_direction(measure, [measure], by),
                measure or _DEFAULT,
            )
        files = ReadOptions(max_bytes=max_bytes)
        runs = {
            s: tables.read_runs(path, measure, files, _DEFAULT)
            for s, path in scores.items()
        }
        tables.check_runs(runs)
        scores = [
            {
                "schema": SCORES,
                "system": system,
                "heading": measure or one.measure,
                "measure": one.measure,
                "value": RunSummary.of("", one.values).mean,
                "signature": "|".join(one.signatures),
            }
            for system, one in runs.items()
        ]
    if isinstance(scores, (str, os.PathLike)):
        source = load(os.fspath(scores), max_bytes)
        if source.suffix in (".csv", ".tsv"):
            raise InputError("not-scores", source.name)
        with enough_memory(source.name):
            name, scores = source.name, entries_of(parse_source(source))
    if not isinstance(scores, Iterable) or isinstance(scores, (str, bytes, Mapping)):
        raise InputError("not-scores", name)
    entries = [_as_entry(score, name) for score in scores]
    named = [(entry["heading"], entry["measure"]) for entry in entries]
    meant = tables.choose_measure(measure, named, name, _DEFAULT)
    chosen = [
        entry for entry, names in zip(entries, named, strict=True) if names in meant
    ]
    measure = measure or chosen[0]["heading"]
    # a heading may not say it
    texts = {
        measure,
        *(entry["measure"] for entry in chosen),
    }
    parts = {
        part for entry in chosen for part in str(entry.get("signature", "")).split("|")
    }
    if any(part.startswith("own:") for part in parts) and not any(
        map(parse_in_any_case, texts)
    ):
        raise InputError("unknown-direction", name, measure=measure)
    lower = _check_direction(measure, texts, by)
    found: dict[str, float] = {}
    for entry in chosen:
        if entry["system"] in found:
            raise InputError(
                "duplicate", name, role=f"{measure} of", value=entry["system"]
            )
        found[entry["system"]] = entry["value"]
    return found, lower, measure


def _as_entry(score: Any, name: str) -> Mapping[str, Any]:
    """Return a score as a file has it, without what takes long."""
    if isinstance(score, Score):
        return {
            "system": score.system,
            "measure": str(score.measure),
            "heading": score.heading,
            "value": score.value,
        }
    if not isinstance(score, Mapping) or score.get("schema") != SCORES:
        raise InputError("not-scores", name)
    entry = {"heading": score.get("measure"), "value": "", **score}
    if not all(
        isinstance(entry.get(text), str) for text in ("system", "measure", "heading")
    ):
        raise InputError("not-scores", name)
    value = entry["value"]
    number = (
        math.nan if value is None else as_real(value, f"{entry['heading']} of {name}")
    )
    return entry | {"value": number}


def group_files(files: Mapping[str, str], max_bytes: int) -> dict[str, Any]:
    """Return data sets by name: a file of scores, or the files of runs that lie in one folder.

    A file of runs is a system, called as the file; its folder is the data set.
    """
    found: dict[str, Any] = {}
    folders: dict[str, Path] = {}
    for name, path in files.items():
        source = load(path, max_bytes)
        table = source.suffix in (".csv", ".tsv")
        entries = None if table else entries_of(source.parsed(parse_source))
        of, key, is_other = found, name, False
        if tables.is_of_runs(entries):
            folder, key = Path(path).resolve().parent, name.rpartition("/")[2]
            of, name = found.setdefault(folder.name, {}), f"{folder.name}/{key}"
            is_other = folders.setdefault(
                folder.name, folder
            ) != folder or not isinstance(of, dict)
        elif entries is None or Path(path).is_file():  # a pipe is read once
            entries = path
        if is_other or key in of:
            raise InputError("duplicate", path, role="the system", value=name)
        of[key] = entries
    return found


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


def _rank_all(
    values: Mapping[str, Mapping[str, float]],
    measure: str,
    by: str,
    higher: bool,
    level: float,
) -> Ranking:
    """Rank the systems that have all data sets, by normalised values or by ranks."""
    systems = list(dict.fromkeys(system for row in values.values() for system in row))
    if not systems:
        raise InputError(
            "nothing-given", what="values to rank", remedy="give at least one"
        )
    table = np.array(
        [[row.get(s, math.nan) for s in systems] for row in values.values()]
    )
    normalized, ranks = np.full(table.shape, np.nan), np.full(table.shape, np.nan)
    lacks = np.isnan(table)
    whole = ~lacks.any(axis=0)
    usable = ~whole | np.isfinite(table)
    if by == "normalized":
        best = np.fmax.reduce(table, axis=1, keepdims=True)
        with np.errstate(all="ignore"):
            normalized = table / best
        usable = (lacks | np.isfinite(normalized)) & (best > 0)
    for row, column in np.argwhere(~usable)[:1].tolist():
        raise InputError(
            "out-of-range",
            list(values)[row],
            role=f"the value of {systems[column]}",
            value=float(table[row, column]),
            wanted="scores to rank by",
        )
    known = [column[~np.isnan(column)].tolist() for column in normalized.T]
    means = [math.fsum(some) / len(some) if some else math.nan for some in known]
    places = np.zeros(len(systems), np.int64)
    if whole.any():
        ranks[:, whole] = rank_rows((table if higher else -table)[:, whole])
        order = np.array(means) if by == "normalized" else -ranks.mean(axis=0)
        places[whole] = rank_rows([order[whole]], ties="best")[0]

    def by_name(column: Floats) -> dict[str, float]:
        pairs = zip(values, column.tolist(), strict=True)
        return {name: value for name, value in pairs if not math.isnan(value)}

    entries = [
        Rank(
            systems[i],
            places[i].item() or None,
            means[i],
            by_name(normalized[:, i]),
            tuple(
                name
                for name, lacking in zip(values, lacks[:, i], strict=True)
                if lacking
            ),
            ranks[:, i].mean().item(),
            by_name(ranks[:, i]),
        )
        for i in np.argsort(
            np.where(whole, places, len(systems) + 1), kind="stable"
        ).tolist()
    ]
    kept = {name: dict(row) for name, row in values.items()}
    return Ranking(tuple(entries), measure, kept, by, higher, level)


_WIDTH, _MARGIN, _LINE, _AXIS = 720, 180, 22, 70
_LETTER = 7.5  # of the width of a letter, about


def draw_mean_ranks(
    names: Sequence[str],
    means: Sequence[float],
    apart: float,
    groups: Sequence[Sequence[str]] = (),
    title: str = "",
) -> str:
    """Draw systems on an axis of mean ranks.

    Parameters
    ----------
    names : sequence of str
    means : sequence of float
        Mean ranks, from 1 to the number of systems.
    apart : float
        The critical difference; not drawn where it is nan.
    groups : sequence of sequences of str
        Systems that are not told apart.
    title : str

    Returns
    -------
    str
        An SVG document.

    Raises
    ------
    InputError
        If there are fewer than two systems, or other numbers of names and ranks.

    Examples
    --------
    >>> text = draw_mean_ranks(["A", "B"], [1.25, 1.75], 0.7, [["A", "B"]])
    >>> text.startswith("<svg"), text.count("<text")
    (True, 5)
    """
    if len(names) < 2:
        raise InputError("too-few-systems", systems=len(names), rows=len(means))
    order = sorted(range(len(names)), key=means.__getitem__)
    where = dict(zip(names, means, strict=True))
    margin = max(_MARGIN, 60 + _LETTER * max(map(len, names)))
    width = 2 * margin + max(_WIDTH - 2 * _MARGIN, 40 * len(names))
    step = (width - 2 * margin) / (len(names) - 1)
    zero = margin - step  # where a rank of 0 would be
    first = _AXIS + 24 + 10 * len(groups)
    parts = [_text(width / 2, 18, title, "middle")] if title else []
    parts.append(_line(margin, _AXIS, width - margin, _AXIS))
    for rank in range(1, len(names) + 1):
        x = zero + rank * step
        parts += [
            _line(x, _AXIS - 6, x, _AXIS),
            _text(x, _AXIS - 10, str(rank), "middle"),
        ]
    if not math.isnan(apart):
        start, stop = margin, margin + apart * step
        parts += [
            _line(start, 34, stop, 34),
            *(_line(x, 30, x, 38) for x in (start, stop)),
            _text(stop + 8, 38, f"CD = {apart:.2f}", "start"),
        ]
    for number, group in enumerate(groups):
        ends, y = (
            [zero + where[name] * step for name in group],
            _AXIS + 12 + 10 * number,
        )
        parts.append(_line(min(ends) - 4, y, max(ends) + 4, y, 4))
    # a line from the mean rank down and out to the name
    for place, (left, line) in zip(order, rank_lines(len(order)), strict=True):
        x, name, mean = zero + means[place] * step, names[place], f"{means[place]:.2f}"
        y = first + _LINE * line
        end = margin - 12 if left else width - margin + 12
        text = (
            (end - 4, y + 4, f"{name} {mean}", "end")
            if left
            else (end + 4, y + 4, f"{mean} {name}", "start")
        )
        parts += [_line(x, _AXIS, x, y), _line(x, y, end, y), _text(*text)]
    height = first + _LINE * math.ceil(len(order) / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13" '
        f'fill="currentColor" stroke="none">{"".join(parts)}</svg>\n'
    )


def _line(x1: float, y1: float, x2: float, y2: float, width: float = 1) -> str:
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="currentColor" '
        f'stroke-width="{width:g}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(visible(text))}</text>'
