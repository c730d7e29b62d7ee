"""Reports on the ranks of systems over datasets, as text and tables."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semmetrics.messages import pluralize, visible
from semmetrics.reports import Records, draw

if TYPE_CHECKING:
    from semmetrics.studies.ranking import Ranking

_MAX_SYSTEMS_OF_MATRIX = 12


def report_ranks(ranking: Ranking) -> list[str]:
    """Draw the rank matrix, and describe whether ranks differ significantly.

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
    test = ranking.friedman
    if test is None:
        return []
    parts = []
    if len(ranking.ranked) <= _MAX_SYSTEMS_OF_MATRIX:
        parts.append(_draw_rank_matrix(ranking))
    systems = pluralize(test.systems, "system")
    datasets = pluralize(test.rows, "data set")
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
        f"mean ranks differ where they are more than {ranking.critical_difference:.2f} "
        f"apart (Nemenyi, level {ranking.level:g})"
    )
    groups = [", ".join(group) for group in ranking.groups]
    if groups:
        parts.append(f"not told apart: {visible('; '.join(groups))}")
    else:
        parts.append("all systems are told apart")
    return parts


def _draw_rank_matrix(ranking: Ranking) -> str:
    """Draw on how many datasets each system has each rank."""
    matrix = ranking.rank_matrix().tolist()
    ranks = range(1, len(matrix) + 1)
    rows = [["data sets at rank", *map(str, ranks)]]
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
