"""Ranks of systems over data sets as people and programs read them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, overload

import numpy as np

from semmetrics.arguments import checked
from semmetrics.comparison.diagram import draw_mean_ranks
from semmetrics.comparison.rank_tests import (
    Friedman,
    Ties,
    alike,
    critical_difference,
    friedman,
    rank_differences,
    rank_matrix,
    rank_rows,
)
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds.describe import finite_or_none
from semmetrics.messages import listing, pluralize, visible
from semmetrics.reports.records import Records, draw, format_full
from semmetrics.reports.report import Report

__all__ = ["SCHEMA", "Rank", "Ranking", "draw_rank_differences", "report_ranks"]

SCHEMA = "semmetrics.ranks/1"
_COLUMNS = (
    "system", "rank", "mean_rank", "mean_normalized", "dataset", "value", "normalized",
    "dataset_rank",
)  # fmt: skip
_MANY = 12  # systems whose rank matrix is drawn below a table


@dataclass(frozen=True)
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
        return {
            "schema": SCHEMA,
            "system": self.system,
            "rank": self.rank,
            "measure": measure,
            "value": finite_or_none(self.value),
            "normalized": dict(self.normalized),
            "mean_rank": finite_or_none(self.mean_rank),
            "ranks": dict(self.ranks),
            "lacking": list(self.lacking),
        }


@by_value()
@dataclass(frozen=True, eq=False)
class Ranking(Report, Sequence[Rank]):
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
    >>> from semmetrics.api.dataset_ranks import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9 - n / 50, "B": 0.6, "C": 0.3 + n / 50} for n in range(5)}
    >>> found = rank_normalized(values)
    >>> [(place.system, place.mean_rank) for place in found]
    [('A', 1.0), ('B', 2.0), ('C', 3.0)]
    >>> round(found.friedman.p, 4), round(found.critical_difference, 2), found.groups
    (0.0067, 1.48, (('A', 'B'), ('B', 'C')))
    """

    places: tuple[Rank, ...]
    measure: str
    values: Mapping[str, Mapping[str, float]] = field(repr=False)
    by: str = "normalized"
    higher_is_better: bool = True
    level: float = 0.95

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Rank]:
        return iter(self.places)

    @overload
    def __getitem__(self, place: int) -> Rank: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Rank]: ...

    def __getitem__(self, place: int | slice) -> Rank | Sequence[Rank]:
        return self.places[place]

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
        rows = [[sign * row[name] for name in self.ranked] for row in self.values.values()]
        return np.array(rows, np.float64).reshape(len(rows), len(self.ranked))

    @property
    def is_testable(self) -> bool:
        """Whether there are at least two data sets and two systems that have them."""
        return len(self.values) > 1 and len(self.ranked) > 1

    @property
    def friedman(self) -> Friedman | None:
        """The Friedman test of the systems that have all data sets; None of fewer than two."""
        return friedman(self._table()) if self.is_testable else None

    @property
    def critical_difference(self) -> float:
        """By how much mean ranks differ where systems do (Nemenyi); nan without two of each."""
        if not self.is_testable:
            return math.nan
        return critical_difference(len(self.ranked), len(self.values), self.level)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of systems that the critical difference does not tell apart."""
        if not self.is_testable:
            return ()
        names, means = self.ranked, rank_rows(self._table()).mean(axis=0)
        found = alike(means, self.critical_difference)
        return tuple(tuple(names[place] for place in group) for group in found)

    def rank_matrix(self) -> Floats:
        """Return on how many data sets each system of ``ranked`` has each rank.

        Returns
        -------
        float array, shape (systems, ranks)
            Equal systems count at each of their ranks in equal parts.
        """
        if not self.ranked:
            return np.zeros((0, 0))
        return rank_matrix(self._table())[0]

    @checked
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
                raise InputError(f"there is no data set {name!r}",
                                 remedy=f"choose among {listing(self.values)}")  # fmt: skip
            sides.append({s: sign * v for s, v in self.values[name].items() if math.isfinite(v)})
        rows = rank_differences(*sides, ties=ties)
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
        names = self.ranked
        if len(names) < 2:
            raise InputError(
                f"{pluralize(len(names), 'system', 'have')} all data sets: nothing to draw",
                remedy="give scores of at least two systems on every data set",
            )
        means = [place.mean_rank for place in self.places if not place.lacking]
        title = f"mean ranks by {self.measure} over {pluralize(len(self.values), 'data set')}"
        return draw_mean_ranks(names, means, self.critical_difference, self.groups, title)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each rank as JSON has it, with the tests of all."""
        test = self.friedman
        tests = {
            "by": self.by,
            "datasets": len(self.values),
            "friedman": None if test is None else {
                "statistic": finite_or_none(test.statistic), "p": finite_or_none(test.p),
                "f_statistic": finite_or_none(test.f_statistic), "f_p": finite_or_none(test.f_p),
            },
            "critical_difference": finite_or_none(self.critical_difference),
            "level": self.level,
        }  # fmt: skip
        return [
            place.to_dict(self.measure) | {"values": self._values_of(place.system)} | tests
            for place in self.places
        ]

    def _values_of(self, system: str) -> dict[str, float | None]:
        rows = self.values.items()
        return {name: finite_or_none(row[system]) for name, row in rows if system in row}

    def to_json(self) -> str:
        """Write a JSON list of ``to_dicts``."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

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
                "system": place.system, "rank": place.rank,
                "mean_rank": finite_or_none(place.mean_rank),
                "mean_normalized": finite_or_none(place.value), "dataset": name,
                "value": finite_or_none(row.get(place.system, math.nan)),
                "normalized": place.normalized.get(name), "dataset_rank": place.ranks.get(name),
            }
            for place in self.places
            for name, row in self.values.items()
        ]  # fmt: skip
        return Records.from_rows(_COLUMNS, rows)

    def to_csv(self) -> str:
        """Write one row a system, with a column for each data set, in full precision."""
        return draw(self._cells(lambda value, _: format_full(value), ""), "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        def shown(value: float, places: int | None) -> str:
            return "-" if math.isnan(value) else f"{value:.{digits if places is None else places}f}"

        return [self._cells(shown, "-")]

    def _cells(self, shown: Callable[[float, int | None], str], blank: str) -> list[list[str]]:
        """Return one row a system; data sets have the values that the rank comes from."""
        normalized = self.by == "normalized"
        mean = [f"normalized {self.measure}".rstrip()] if normalized else []
        rows = [["system", "rank", *mean, "mean rank", *self.values]]
        for place in self.places:
            of = (
                place.normalized.get(name, math.nan) if normalized
                else row.get(place.system, math.nan)
                for name, row in self.values.items()
            )  # fmt: skip
            rows.append([
                place.system, str(place.rank or blank),
                *([shown(place.value, None)] if normalized else []), shown(place.mean_rank, 2),
                *(shown(value, None) for value in of),
            ])  # fmt: skip
        return rows

    def _lines(self, digits: int) -> list[str]:
        parts = report_ranks(self)
        return ["", *parts] if parts else []

    def __repr__(self) -> str:
        systems = pluralize(len(self.places), "system")
        over = pluralize(len(self.values), "data set")
        return f"Ranking({systems} over {over} by {self.measure or self.by})"


def report_ranks(ranking: Ranking) -> list[str]:
    """Draw the rank matrix, and say whether ranks differ by more than chance.

    Examples
    --------
    >>> from semmetrics.api.dataset_ranks import rank_normalized
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
    test = ranking.friedman
    if test is None:
        return []
    parts = [_draw_matrix(ranking)] if len(ranking.ranked) <= _MANY else []
    over = f"{pluralize(test.systems, 'system')} over {pluralize(test.rows, 'data set')}"
    if math.isnan(test.p):
        return [*parts, f"Friedman test of {over}: all are equal everywhere"]
    groups = "; ".join(", ".join(group) for group in ranking.groups)
    free = pluralize(test.systems - 1, "degree") + " of freedom"
    f = "infinite" if math.isinf(test.f_statistic) else f"{test.f_statistic:.2f}"
    apart = ranking.critical_difference
    return [
        *parts,
        f"Friedman test of {over}: chi2 = {test.statistic:.2f} ({free}), {_say_p(test.p)}; "
        f"F of Iman and Davenport {f}, {_say_p(test.f_p)}",
        f"mean ranks differ where they are more than {apart:.2f} apart (Nemenyi, level "
        f"{ranking.level:g})",
        f"not told apart: {visible(groups)}" if groups else "all systems are told apart",
    ]


def _say_p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _draw_matrix(ranking: Ranking) -> str:
    matrix = ranking.rank_matrix().tolist()
    head = ["data sets at rank", *map(str, range(1, len(matrix) + 1))]
    rows = [[name, *(f"{count:g}" if count == int(count) else f"{count:.2f}" for count in row)]
            for name, row in zip(ranking.ranked, matrix, strict=True)]  # fmt: skip
    return draw([head, *rows])


def draw_rank_differences(
    rows: Sequence[dict[str, Any]], first: str, second: str, form: str, *, digits: int = 4
) -> str:
    """Draw the ranks of systems on two data sets side by side.

    Parameters
    ----------
    rows : sequence of dict
        As of ``Ranking.differences``.
    first, second : str
        The data sets.
    form : {"table", "json", "csv", "markdown", "latex"}
    digits : int
    """
    if form == "json":
        named = [{"first_dataset": first, "second_dataset": second} | row for row in rows]
        return json.dumps(named, indent=1, ensure_ascii=False, allow_nan=False)
    if form == "csv":
        return Records.from_rows(list(rows[0]), rows).to_csv().rstrip("\n")
    head = ["system", first, f"rank on {first}", second, f"rank on {second}", "difference"]
    body = [
        [row["system"], f"{row['first']:.{digits}f}", f"{row['first_rank']:g}",
         f"{row['second']:.{digits}f}", f"{row['second_rank']:g}",
         f"{row['difference']:+g}" if row["difference"] else "0"]
        for row in rows
    ]  # fmt: skip
    return draw([head, *body], form)
