"""Show single queries with their positives and the candidates that are ranked first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semmetrics.core.ragged import Codes
from semmetrics.data.tasks.retrieval import UNRANKED, RetrievalTask
from semmetrics.kinds import descriptions
from semmetrics.metrics.definition import Measure

_MAX_CANDIDATES = 5
_MAX_CHARACTERS = 200
"""How many characters of a line are shown."""


def show_item(task: RetrievalTask, row: int, measure: Measure) -> dict[str, Any]:
    """Return the "positives" of a query, their "ranks", and the "first" candidates.

    The rank of a positive that is not ranked is None.
    """
    positives = task.positives[task.indptr[row] : task.indptr[row + 1]]
    ranks: list[int | None] = []
    for rank in task.ranks(row, row + 1).ranks.tolist():
        ranks.append(rank if rank < UNRANKED else None)
    (first,) = task.first(row, row + 1, _MAX_CANDIDATES)
    return {
        "positives": _name_candidates(task, positives),
        "ranks": ranks,
        "first": _name_candidates(task, first),
    }


def _name_candidates(task: RetrievalTask, codes: Codes) -> list[str | int]:
    """Return the names of candidates, or their positions if they have no names."""
    names: list[str | int] = []
    for code in codes.tolist():
        name = task.gallery[code]
        names.append(name if isinstance(name, str) else int(name))
    return names


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of a query: its positives, their ranks, and the first candidates."""
    ranks = []
    for rank in record["ranks"]:
        ranks.append("-" if rank is None else f"{rank:,}")
    return [
        _format_line("positives", record["positives"]),
        _format_line("ranks", ranks),
        _format_line(f"top {len(record['first'])}", record["first"]),
    ]


def _format_line(name: str, entries: list[Any]) -> str:
    """Write a line of entries, cut if it is too long."""
    line = descriptions.on_one_line(", ".join(map(str, entries)))
    if len(line) > _MAX_CHARACTERS:
        line = f"{line[:_MAX_CHARACTERS]} ..."
    return f"{name:<9}  {line}"
