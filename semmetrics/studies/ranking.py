"""The ranks of systems over several datasets: records, tests, tables and reports."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import listing, pluralize, visible
from semmetrics.reports import Records, Table, draw, entry_of, format_full
from semmetrics.studies import rank_tests
from semmetrics.studies.rank_diagram import draw_mean_ranks
from semmetrics.studies.rank_tests import Ties, rank_rows

_RANK_COLUMNS = (
    "system",
    "rank",
    "measure",
    "value",
    "normalized",
    "mean_rank",
    "ranks",
    "lacking",
)
_MAX_SYSTEMS_OF_MATRIX = 12
_FRIEDMAN_FIELDS = ("statistic", "p", "f_statistic", "f_p")


@by_value()
@dataclass(frozen=True, eq=False)
class Rank:
    """The rank of a system over several datasets.

    Attributes
    ----------
    system : str
    rank : int or None
        From 1. Equal systems share the better rank. None if the system has no value on
        one of the datasets.
    value : float
        Mean of ``normalized`` over the datasets of the system. nan if lower is better.
    normalized : mapping from dataset to float
        The value of the system, divided by the best value on the dataset.
    lacking : tuple of str
        The datasets without a value of the system.
    mean_rank : float
        Mean rank over the datasets, among the systems that have all datasets. nan if the
        system does not have all.
    ranks : mapping from dataset to float
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
        """Return the rank as in JSON, with None for undefined values."""
        return entry_of(
            self,
            "semmetrics.ranks/1",
            _RANK_COLUMNS,
            measure=measure,
            lacking=list(self.lacking),
        )


@by_value()
@dataclass(frozen=True, eq=False)
class Ranking(Table[Rank]):
    """Systems in the order of their ranks, with tests of the differences of ranks.

    Attributes
    ----------
    places : tuple of Rank
        Ranked systems, best first, then systems without a value on some dataset.
    measure : str
    values : mapping from dataset to mapping from system to value
    by : {"normalized", "rank"}
    higher_is_better : bool
    level : float
        The confidence level of the tests.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {}
    >>> for n in range(5):
    ...     values[f"set {n}"] = {"A": 0.9 - n / 50, "B": 0.6, "C": 0.3 + n / 50}
    >>> ranking = rank_normalized(values)
    >>> [(place.system, place.mean_rank) for place in ranking]
    [('A', 1.0), ('B', 2.0), ('C', 3.0)]
    >>> round(ranking.friedman.p, 4), round(ranking.critical_difference, 2)
    (0.0067, 1.48)
    >>> ranking.groups
    (('A', 'B'), ('B', 'C'))
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
        """The datasets, in the order given."""
        return tuple(self.values)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The systems that have all datasets, in the order of their ranks."""
        return tuple(place.system for place in self.places if not place.lacking)

    @property
    def _sign(self) -> float:
        """The factor of values that makes higher values better."""
        if self.higher_is_better:
            return 1.0
        return -1.0

    def _signed_values(self) -> Floats:
        """Return the values of ranked systems, shape (datasets, systems).

        Higher is better.
        """
        systems = self.ranked
        sign = self._sign
        rows = []
        for value_by_system in self.values.values():
            rows.append([sign * value_by_system[system] for system in systems])
        return np.array(rows, np.float64).reshape(len(rows), len(systems))

    @property
    def is_testable(self) -> bool:
        """Whether there are at least two datasets, and two systems that have all."""
        return len(self.values) > 1 and len(self.ranked) > 1

    @property
    def friedman(self) -> rank_tests.Friedman | None:
        """The Friedman test of the ranked systems, None if not testable."""
        if not self.is_testable:
            return None
        return rank_tests.friedman(self._signed_values())

    @property
    def critical_difference(self) -> float:
        """The critical difference of mean ranks (Nemenyi), nan if not testable."""
        if not self.is_testable:
            return math.nan
        return rank_tests.critical_difference(
            len(self.ranked), len(self.values), self.level
        )

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of systems whose mean ranks do not differ much.

        Systems of a group differ by no more than the critical difference.
        """
        if not self.is_testable:
            return ()
        systems = self.ranked
        mean_ranks = rank_rows(self._signed_values()).mean(axis=0)
        groups = rank_tests.group_indistinct(mean_ranks, self.critical_difference)
        names = []
        for group in groups:
            names.append(tuple(systems[index] for index in group))
        return tuple(names)

    def rank_matrix(self) -> Floats:
        """Return on how many datasets each system of ``ranked`` has each rank.

        Returns
        -------
        float array, shape (systems, ranks)
            Equal systems count at each of their ranks in equal parts.
        """
        if not self.ranked:
            return np.zeros((0, 0))
        counts, _ = rank_tests.rank_matrix(self._signed_values())
        return counts

    def differences(self, first: str, second: str, *, ties: Ties = "best") -> Records:
        """Compare the ranks of systems on two datasets, as `rank_differences`.

        Systems without a value on both datasets are left out.

        Raises
        ------
        InputError
            If a dataset is unknown.
        """
        sign = self._sign
        rows = rank_tests.rank_differences(
            self._finite_values(first), self._finite_values(second), ties=ties
        )
        for row in rows:
            row["first"] = sign * row["first"]
            row["second"] = sign * row["second"]
        return Records.from_rows(list(rows[0]), rows)

    def _finite_values(self, dataset: str) -> dict[str, float]:
        """Return the finite values of systems on a dataset. Higher is better."""
        if dataset not in self.values:
            raise InputError(
                "unknown-name",
                what="dataset",
                value=dataset,
                remedy=f"choose among {listing(self.values)}",
            )
        finite = {}
        for system, value in self.values[dataset].items():
            if math.isfinite(value):
                finite[system] = self._sign * value
        return finite

    def to_svg(self) -> str:
        """Draw the mean ranks, with the critical difference and the groups.

        Raises
        ------
        InputError
            If fewer than two systems have all datasets.
        """
        mean_ranks = [place.mean_rank for place in self.places if not place.lacking]
        measure = self.measure or "the values of the table"
        datasets = pluralize(len(self.values), "dataset")
        return draw_mean_ranks(
            self.ranked,
            mean_ranks,
            self.critical_difference,
            self.groups,
            title=f"mean ranks by {measure} over {datasets}",
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each rank as in JSON, with the tests of all systems."""
        friedman = self.friedman
        friedman_entry = None
        if friedman is not None:
            friedman_entry = {}
            for name in _FRIEDMAN_FIELDS:
                friedman_entry[name] = finite_or_none(getattr(friedman, name))
        tests = {
            "by": self.by,
            "datasets": len(self.values),
            "friedman": friedman_entry,
            "critical_difference": finite_or_none(self.critical_difference),
            "level": self.level,
        }
        entries = []
        for place in self.places:
            values = {}
            for dataset, value_by_system in self.values.items():
                if place.system in value_by_system:
                    values[dataset] = finite_or_none(value_by_system[place.system])
            entry = place.to_dict(self.measure)
            entries.append(entry | {"values": values} | tests)
        return entries

    def to_records(self) -> Records:
        """Return one row per system and dataset.

        Returns
        -------
        Records
            "system", its "rank", "mean_rank" and "mean_normalized", "dataset", and the
            "value", "normalized" value and "dataset_rank" of the system on it. None for
            undefined values.
        """
        rows = []
        for place in self.places:
            for dataset, value_by_system in self.values.items():
                value = value_by_system.get(place.system, math.nan)
                row = {
                    "system": place.system,
                    "rank": place.rank,
                    "dataset": dataset,
                    "mean_rank": finite_or_none(place.mean_rank),
                    "mean_normalized": finite_or_none(place.value),
                    "value": finite_or_none(value),
                    "normalized": place.normalized.get(dataset),
                    "dataset_rank": place.ranks.get(dataset),
                }
                rows.append(row)
        return Records.from_rows(self._columns, rows)

    def to_csv(self) -> str:
        """Return CSV in full precision: a row per system, a column per dataset."""
        return draw(self._rows(None), "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        return [self._rows(digits)]

    def _rows(self, digits: int | None) -> list[list[str]]:
        """Return the header and one row per system.

        Columns of datasets contain the values that ranks are based on. Numbers have
        full precision if ``digits`` is None.
        """
        head = ["system", "rank"]
        if self.by == "normalized":
            head.append(f"normalized {self.measure}".rstrip())
        head += ["mean rank", *self.values]
        return [head, *(self._cells(place, digits) for place in self.places)]

    def _cells(self, place: Rank, digits: int | None) -> list[str]:
        """Return the row of a system."""
        no_rank = "-"
        mean_rank_digits: int | None = 2
        if digits is None:
            no_rank = ""
            mean_rank_digits = None
        cells = [place.system, str(place.rank or no_rank)]
        if self.by == "normalized":
            cells.append(_format_value(place.value, digits))
        cells.append(_format_value(place.mean_rank, mean_rank_digits))
        for dataset, value_by_system in self.values.items():
            if self.by == "normalized":
                value = place.normalized.get(dataset, math.nan)
            else:
                value = value_by_system.get(place.system, math.nan)
            cells.append(_format_value(value, digits))
        return cells

    def __repr__(self) -> str:
        systems = pluralize(len(self.places), "system")
        datasets = pluralize(len(self.values), "dataset")
        return f"Ranking({systems} over {datasets} by {self.measure or self.by})"

    def _sentences(self) -> list[str]:
        return report_ranks(self)


def _format_value(value: float, digits: int | None) -> str:
    """Write a number with so many decimals, or in full precision for None."""
    if digits is None:
        return format_full(value)
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}f}"


# ---- reports -------------------------------------------------------------------------


def report_ranks(ranking: Ranking) -> list[str]:
    """Draw the rank matrix, and describe whether ranks differ significantly.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9, "B": 0.66 + n / 20, "C": 0.5} for n in range(8)}
    >>> for part in report_ranks(rank_normalized(values)):
    ...     print(part)
    datasets at rank  1  2  3
    A                 5  3  0
    B                 3  5  0
    C                 0  0  8
    Friedman test of 3 systems over 8 datasets: chi2 = 12.25 (2 degrees of freedom), p = 0.002;
    F of Iman and Davenport 22.87, p < 0.001
    mean ranks differ if they are more than 1.17 apart (Nemenyi, level 0.95)
    not significantly different: A, B
    """
    test = ranking.friedman
    if test is None:
        return []
    parts = []
    if len(ranking.ranked) <= _MAX_SYSTEMS_OF_MATRIX:
        parts.append(_draw_rank_matrix(ranking))
    systems = pluralize(test.systems, "system")
    datasets = pluralize(test.rows, "dataset")
    title = f"Friedman test of {systems} over {datasets}"
    if math.isnan(test.p):
        parts.append(f"{title}: all are equal everywhere")
        return parts

    degrees = pluralize(test.systems - 1, "degree")
    chi2 = f"chi2 = {test.statistic:.2f} ({degrees} of freedom), {_describe_p(test.p)}"
    f = f"{test.f_statistic:.2f}, {_describe_p(test.f_p)}"
    if math.isinf(test.f_statistic):
        f = "is infinite, as all rows rank alike"
    parts.append(f"{title}: {chi2}; F of Iman and Davenport {f}")
    parts.append(
        f"mean ranks differ if they are more than {ranking.critical_difference:.2f} "
        f"apart (Nemenyi, level {ranking.level:g})"
    )
    groups = [", ".join(group) for group in ranking.groups]
    if groups:
        parts.append(f"not significantly different: {visible('; '.join(groups))}")
    else:
        parts.append("all systems differ significantly")
    return parts


def _draw_rank_matrix(ranking: Ranking) -> str:
    """Draw on how many datasets each system has each rank."""
    matrix = ranking.rank_matrix().tolist()
    ranks = range(1, len(matrix) + 1)
    rows = [["datasets at rank", *map(str, ranks)]]
    for system, counts in zip(ranking.ranked, matrix, strict=True):
        rows.append([system, *map(_format_count, counts)])
    return draw(rows)


def _format_count(count: float) -> str:
    """Write an integer without decimals, and other numbers with two."""
    if count == int(count):
        return f"{count:g}"
    return f"{count:.2f}"


def _describe_p(p: float) -> str:
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}"


def draw_rank_differences(
    rows: Sequence[dict[str, Any]],
    first: str,
    second: str,
    form: str,
    *,
    digits: int = 4,
) -> str:
    """Draw the ranks of systems on two datasets side by side.

    Parameters
    ----------
    rows : sequence of dict
        The result of ``Ranking.differences``.
    first, second : str
        The datasets.
    form : {"table", "json", "csv", "markdown", "latex", "html"}
    digits : int
        Decimals of the values.
    """
    if form == "json":
        datasets = {"first_dataset": first, "second_dataset": second}
        entries = [datasets | row for row in rows]
        return json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)
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
    table = [head]
    for row in rows:
        difference = "0"
        if row["difference"]:
            difference = f"{row['difference']:+g}"
        cells = [
            row["system"],
            f"{row['first']:.{digits}f}",
            f"{row['first_rank']:g}",
            f"{row['second']:.{digits}f}",
            f"{row['second_rank']:g}",
            difference,
        ]
        table.append(cells)
    return draw(table, form)
