"""Show single images and the classes that are predicted for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semmetrics.data.rankings import RankedLists
from semmetrics.data.tasks.classes import ALL, ClassTask
from semmetrics.kinds import descriptions
from semmetrics.metrics.definition import Measure

_MAX_PREDICTIONS = 3


def show_item(task: ClassTask, row: int, measure: Measure) -> dict[str, Any]:
    """Return the "class" of an image, its "rank" and the "first" classes.

    The rank is None if the class is not ranked.
    """
    candidates = ALL
    if measure["candidates"] is not None:
        candidates = str(measure["candidates"])
    columns = task.columns(candidates)
    rank = int(task.rank(row, row + 1, columns).ranks[0])
    first: list[int] = []
    if task.rows[row] >= 0:
        n_first = _MAX_PREDICTIONS
        if not isinstance(task.scores, RankedLists):
            n_classes = task.scores.shape[1] if columns is None else len(columns)
            n_first = min(n_first, n_classes)
        rows = task.rows[row : row + 1]
        (codes,) = task.scores.first(rows, columns, n_first, None)
        first = codes.tolist()
    return {
        "class": task.classes[task.truth[row]],
        "rank": rank or None,
        "first": [task.classes[code] for code in first],
    }


def format_item(record: Mapping[str, Any]) -> list[str]:
    """Return the lines of an image: its class with the rank, and the classes ranked first."""
    rank = "not ranked"
    if record["rank"] is not None:
        rank = f"rank {record['rank']:,}"
    top = f"top {len(record['first'])}"
    return [
        descriptions.on_one_line(f"class  {record['class']} ({rank})"),
        descriptions.on_one_line(f"{top}  {', '.join(record['first'])}"),
    ]
