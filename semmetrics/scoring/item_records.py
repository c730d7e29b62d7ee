"""Records of items: the values of all items, and the items with extreme values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.reports import Records
from semmetrics.scoring.result import Score

_EXTREME_COLUMNS = ("system", "measure", "id", "value")


def plain_id(name: Any) -> str | int:
    """Return the id of an item as in JSON."""
    if isinstance(name, str):
        return name
    return int(name)


def headings_with_items(scores: Sequence[Score]) -> list[str]:
    """Return the headings of the scores with values of items, in order.

    Raises
    ------
    InputError
        If no score has values of items.
    """
    headings: dict[str, None] = {}
    for score in scores:
        if score.items is not None:
            headings[score.heading] = None
    if not headings:
        raise InputError("lacks-measure", what="item values", example="F1")
    return list(headings)


def first_scores_with_items(scores: Sequence[Score]) -> list[Score]:
    """Return all scores of the first measure of each part that has values of items."""
    heading_of_part: dict[str, str] = {}
    for score in scores:
        if score.items is not None:
            heading_of_part.setdefault(score.part, score.heading)
    first_scores = []
    for score in scores:
        if score.heading == heading_of_part.get(score.part):
            first_scores.append(score)
    return first_scores


def list_items(scores: Sequence[Score]) -> Records:
    """Return the value of each item by each measure that has values of items.

    Returns
    -------
    Records
        With the columns "id", "system", "part" (if there are several), and one column per
        heading.
    """
    headings = headings_with_items(scores)
    scores_by_part: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        if score.items is not None:
            scores_of_part = scores_by_part.setdefault((score.system, score.part), {})
            scores_of_part[score.heading] = score
    ids: list[str | int] = []
    systems: list[str] = []
    parts: list[str] = []
    values: dict[str, list[Floats]] = {heading: [] for heading in headings}
    for (system, part), scores_of_part in scores_by_part.items():
        first_score, *_ = scores_of_part.values()
        n_items = first_score.n
        ids += map(plain_id, first_score.ids)
        systems += [system] * n_items
        parts += [part] * n_items
        for heading in headings:
            values[heading].append(_item_values(scores_of_part.get(heading), n_items))
    columns: dict[str, Any] = {"id": ids, "system": systems}
    if len(set(parts)) > 1:
        columns["part"] = parts
    for heading in headings:
        columns[heading] = np.concatenate(values[heading])
    return Records(columns)


def _item_values(score: Score | None, n_items: int) -> Floats:
    """Return the values of items, or nan without a score."""
    if score is None or score.items is None:
        return np.full(n_items, np.nan)
    return score.items


def find_extreme_items(
    scores: Sequence[Score],
    chosen: Sequence[Score],
    n: int,
    end: Literal["worst", "best"],
) -> Records:
    """Return the items of each system and part with the worst or best values.

    Parameters
    ----------
    scores : sequence of Score
        All scores of the table. They decide the order of items with equal values.
    chosen : sequence of Score
        For each part, the first one with values of items is used.
    n : int
        The number of items per system and part.
    end : {"worst", "best"}

    Returns
    -------
    Records
        With the columns "system", "measure", "id" and "value", and columns that depend
        on the kind of data.
    """
    rows: list[dict[str, Any]] = []
    for score in first_scores_with_items(chosen):
        values = score.items
        if values is None:
            continue
        order = _order_items(scores, score, end)
        n_defined = int((~np.isnan(values)).sum())
        n_shown = min(int(n), n_defined)
        for index in order[:n_shown].tolist():
            rows.append(_describe_item(score, values, index))
    columns: dict[str, None] = {}
    for row in rows:
        columns |= dict.fromkeys(row)
    return Records.from_rows(list(columns) or _EXTREME_COLUMNS, rows)


def _order_items(
    scores: Sequence[Score], score: Score, end: Literal["worst", "best"]
) -> Ints:
    """Return the indices of items by the values of a score, undefined values last.

    Items with equal values are ordered by the scores after it in the table.
    """
    index_of_score = list(scores).index(score)
    keys = []
    for other in scores[index_of_score:]:
        is_same_part = (other.system, other.part) == (score.system, score.part)
        if not is_same_part or other.items is None:
            continue
        key = other.items
        worst_is_lowest = other.measure.higher_is_better
        worst_first = end == "worst"
        if worst_first != worst_is_lowest:
            key = -key  # lexsort sorts in ascending order
        keys.append(key)
    keys.reverse()  # lexsort sorts by the last key first
    return np.lexsort(keys)


def _describe_item(score: Score, values: Floats, index: int) -> dict[str, Any]:
    """Return the record of an item, with its labels or captions."""
    row = {
        "system": score.system,
        "measure": score.heading,
        "id": plain_id(score.ids[index]),
        "value": finite_or_none(float(values[index])),
    }
    if score.task is not None:
        describer = find_kind(score.task.kind)
        row |= describer.show_item(score.task, index, score.measure)
    return row
