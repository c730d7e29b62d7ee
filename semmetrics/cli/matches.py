"""The file of --matches: which prediction matched which reference, and how similar they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from semmetrics.cli.files import written
from semmetrics.cli.rows import ending, write_csv
from semmetrics.errors import InputError
from semmetrics.metrics.semantic import SemanticFamily
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.matches import match_rows

__all__ = ["COLUMNS", "match_table", "matched_heading", "write_matches"]

COLUMNS = ("id", "system", "rank", "prediction", "reference", "similarity")


def matched_heading(table: ScoreTable) -> str:
    """The first measure that matches labels by meaning.

    Raises
    ------
    InputError
        If there is none.
    """
    for score in table:
        if isinstance(score.measure.definition.family, SemanticFamily):
            return score.heading
    raise InputError(
        "no measure here matches labels by meaning",
        where="--matches",
        remedy="leave it out, or add a measure such as SemF1 (those of a protocol need "
        "--embedding FILE)",
    )


def match_table(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """One row a predicted label, and one a reference label that nothing matched.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat", "car"]], measures=["SemF1(threshold=0.6)"])
    >>> for row in match_table(table):
    ...     print(list(row.values()))
    ['0', 1, 'cat', 'cat', 1.0]
    ['0', None, None, 'car', None]
    """
    heading = matched_heading(table)
    several = len(table.systems) > 1
    for system in table.systems:
        task: Any = table.tasks[system]
        for row in match_rows(task, table[system, heading].measure):
            name = {"system": system} if several else {}
            yield {"id": row["id"], **name, **row}


def write_matches(path: str, table: ScoreTable) -> None:
    """Write them, as JSON, JSONL or CSV by the name's ending."""
    rows = match_table(table)
    with written(path) as out:
        if ending(path) == ".csv":
            columns = [c for c in COLUMNS if c != "system" or len(table.systems) > 1]
            write_csv(out, columns, rows)
        elif ending(path) == ".jsonl":
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        else:
            out.write(json.dumps(list(rows), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
