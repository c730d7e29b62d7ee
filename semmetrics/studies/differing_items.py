"""The items on which systems differ most from their baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.kinds import find_kind
from semmetrics.kinds.descriptions import on_one_line
from semmetrics.messages import visible
from semmetrics.reports import Records
from semmetrics.scoring.result import Score
from semmetrics.studies.differences import (
    Difference,
    find_headings,
    pair_item_values,
)
from semmetrics.studies.significance import subtract

_BASELINE_PREFIX = "baseline_"  # of the columns with the content for the baseline
_COLUMNS = (
    "system",
    "baseline",
    "measure",
    "id",
    "value",
    "baseline_value",
    "difference",
)


def tabulate_differing(
    differences: Sequence[Difference], n: int, measure: str | None
) -> Records:
    """Return the n items on which each system differs most from its baseline.

    Parameters
    ----------
    differences : sequence of Difference
    n : int
    measure : str or None
        None is the first measure with values of items.

    Returns
    -------
    Records
        The columns of ``ComparisonTable.differing``.

    Raises
    ------
    InputError
        If n is less than 1, or the measure has no values of items.
    """
    if n < 1:
        raise InputError("bad-option", name="n", value=n, wanted="a positive integer")
    rows: list[dict[str, Any]] = []
    for difference in _choose_differences(differences, measure):
        rows += _differing_rows(difference, n)
    columns = dict.fromkeys(_COLUMNS)
    for row in rows:
        columns.update(dict.fromkeys(row))
    return Records.from_rows(list(columns), rows)


def _choose_differences(
    differences: Sequence[Difference], measure: str | None
) -> list[Difference]:
    """Return the differences of the first heading with values of items."""
    candidates = list(differences)
    if measure is not None:
        headings = find_headings(measure, differences)
        candidates = [entry for entry in candidates if entry.heading in headings]
    with_items = [entry for entry in candidates if entry.items is not None]
    if not with_items:
        raise InputError("no-item-values", measure=measure or "any measure")
    first_heading = with_items[0].heading
    return [entry for entry in with_items if entry.heading == first_heading]


def _differing_rows(difference: Difference, n: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each of the n largest differences that are not 0."""
    score = difference.score
    against = difference.against
    pair = pair_item_values(score, against)
    if pair is None:
        return
    item_differences = subtract(pair.values, pair.baseline_values)
    # Values are in the order of hashes. These are the rows of the items in each task.
    task_rows = score.statistics.order
    baseline_task_rows = against.statistics.order
    ids = difference.ids
    for index in _find_largest(item_differences, task_rows, n):
        row: dict[str, Any] = {
            "system": difference.system,
            "baseline": difference.baseline,
            "measure": difference.heading,
            "id": ids[index],
            "value": float(pair.values[index]),
            "baseline_value": float(pair.baseline_values[index]),
            "difference": float(item_differences[index]),
        }
        row |= _describe_item(
            score, against, int(task_rows[index]), int(baseline_task_rows[index])
        )
        yield row


def _find_largest(differences: Floats, rows: Ints, n: int) -> list[int]:
    """Return the indices of the n largest differences that are neither 0 nor nan.

    Equal differences are in the order of their rows in the task.
    """
    sizes = np.where(np.isnan(differences), 0.0, np.abs(differences))
    largest = np.lexsort((rows, -sizes))[:n]
    return [index for index in largest.tolist() if sizes[index]]


def _describe_item(
    score: Score, against: Score, row: int, baseline_row: int
) -> dict[str, Any]:
    """Return the content of an item for a system, and for its baseline if it differs."""
    if score.task is None or against.task is None:
        return {}
    show_item = find_kind(score.task.kind).show_item
    content = show_item(score.task, row, score.measure)
    baseline_content = show_item(against.task, baseline_row, against.measure)
    cells = {}
    for name, value in content.items():
        cells[name] = value
        baseline_value = baseline_content.get(name)
        if baseline_value != value:
            cells[f"{_BASELINE_PREFIX}{name}"] = baseline_value
    return cells


def draw_items(
    records: Records,
    score_by_heading: Mapping[str, Score],
    *,
    digits: int = 4,
    scale: float = 1.0,
) -> str:
    """Draw the rows of `tabulate_differing` as text.

    Parameters
    ----------
    records : Records
    score_by_heading : mapping from heading to Score
        A score of each measure.
    digits : int
        Digits after the decimal point.
    scale : float
        The factor of printed values in [-1, 1], such as 100 for percentages.
    """
    lines: list[str] = []
    for record in records:
        title = f"{record['measure']}: {record['system']} minus {record['baseline']}"
        if title not in lines:
            lines.append(title)
        score = score_by_heading[record["measure"]]
        factor = score.measure.definition.printed_scale(scale)
        difference = record["difference"] * factor
        item_id = on_one_line(str(record["id"]))
        lines.append(f"  {difference:+.{digits}f}  {item_id}")
        if score.task is not None:
            report_item = find_kind(score.task.kind).format_item
            lines += _draw_content(record, report_item)
    if not lines:
        lines = ["no item differs"]
    return "\n".join(map(visible, lines))


def _draw_content(
    record: Mapping[str, Any], report_item: Callable[[Any], list[str]]
) -> list[str]:
    """Return lines on the content of an item, and on what differs for the baseline."""
    # What the baseline has under the same names.
    content_of_baseline = {}
    for name, value in record.items():
        if name.startswith(_BASELINE_PREFIX):
            content_of_baseline[name.removeprefix(_BASELINE_PREFIX)] = value
    own_lines = report_item(record)
    lines = [f"    {line}" for line in own_lines]
    for line in report_item({**record, **content_of_baseline}):
        if line not in own_lines:
            lines.append(f"    baseline {line}")
    return lines
