"""Ranks of systems over data sets as people and programs read them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from semmetrics.comparison.dataset_ranking import Ranking
from semmetrics.errors import pluralize
from semmetrics.reports.records import Records, draw, format_full

__all__ = ["draw_rank_differences", "draw_ranks", "report_ranks"]

_MANY = 12  # systems whose rank matrix is drawn below a table


def draw_ranks(ranking: Ranking, form: str, *, digits: int = 4) -> str:
    """Draw the ranks of systems over data sets.

    Parameters
    ----------
    ranking : Ranking
    form : {"table", "json", "csv", "markdown", "latex"}
        json and csv have full precision.
    digits : int
    """
    if form == "json":
        return json.dumps(ranking.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)
    blank = "" if form == "csv" else "-"

    def shown(value: float, places: int = digits) -> str:
        text = format_full(value) if form == "csv" else f"{value:.{places}f}"
        return blank if math.isnan(value) else text

    normalized = ranking.by == "normalized"
    mean = [f"normalized {ranking.measure}"] if normalized else []
    head = ["system", "rank", *mean, "mean rank", *ranking.datasets]
    rows = []
    for place in ranking:
        system = place.system
        values = {
            name: place.normalized.get(name, math.nan) if normalized else row.get(system, math.nan)
            for name, row in ranking.values.items()
        }
        rows.append([
            system, str(place.rank or blank), *([shown(place.value)] if normalized else []),
            shown(place.mean_rank, 2), *map(shown, values.values()),
        ])  # fmt: skip
    return draw([head, *rows], form)


def report_ranks(ranking: Ranking) -> list[str]:
    """Draw the rank matrix, and say whether ranks differ by more than chance.

    Examples
    --------
    >>> from semmetrics.comparison.dataset_ranking import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9, "B": 0.66 + n / 20, "C": 0.5} for n in range(8)}
    >>> for part in report_ranks(rank_normalized(values)):
    ...     print(part)
    data sets at rank  1  2  3
    A                  5  3  0
    B                  3  5  0
    C                  0  0  8
    Friedman test of 3 systems over 8 data sets: chi2 = 12.25 (2 degrees of freedom), p = 0.002;
    F of Iman and Davenport 22.87, p = 0.000
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
        f"Friedman test of {over}: chi2 = {test.statistic:.2f} ({free}), p = {test.p:.3f}; "
        f"F of Iman and Davenport {f}, p = {test.f_p:.3f}",
        f"mean ranks differ where they are more than {apart:.2f} apart (Nemenyi, level "
        f"{ranking.level:g})",
        f"not told apart: {groups}" if groups else "all systems are told apart",
    ]


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
