"""Tables of scores as the command line prints them, with undefined values and signatures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from semmetrics.kinds import find_kind
from semmetrics.kinds.descriptions import on_one_line
from semmetrics.messages import plural, visible
from semmetrics.reports import align, draw
from semmetrics.scoring.item_records import first_scores_with_items
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_cells import (
    NOTHING_COMPUTED,
    describe_not_computed,
    join_headings,
    list_headings,
    list_systems,
    score_cells,
)
from semmetrics.scoring.signature import MODELS, SETTINGS
from semmetrics.scoring.table import ScoreTable

_POLICY_TEXTS = {
    "0": "counted as 0",
    "1": "counted as 1",
    "skip": "left out",
    "nan": "makes the value undefined",
}
_CAUSE_TEXTS = {
    "resample": "resamples without a value",
    "replicate": "resamples and jackknife values that are undefined",
}
_MAX_LETTERS_OF_JOINED_HEADINGS = 40
_MAX_SIGNATURE_LINES = 6
_SHARED_KEYS = frozenset(
    {
        *SETTINGS,
        *MODELS,
        "task",
        "groups",
        "verified",
        "thr",
        "fit",
        "cal",
        "ci",
        "n",
        "data",
        "v",
    }
)
"""The keys of signatures that `report_shared` reports."""


# ---- values ---------------------------------------------------------------------------


def draw_systems(
    table: ScoreTable,
    *,
    width: int | None = None,
    systems: str | None = None,
    **shape: Any,
) -> str:
    """Return the scores as text, with systems as rows or columns.

    If systems do not fit as columns, they become rows. If they do not fit as rows either,
    or columns were requested, they are columns of several tables below each other.

    Parameters
    ----------
    table : ScoreTable
    width : int, optional
        The maximum number of letters per line. Default: no limit.
    systems : {"rows", "columns"}, optional
    **shape
        The keywords ``digits`` and ``scale`` of ``ScoreTable.render``.
    """
    if not table.systems:
        return NOTHING_COMPUTED
    layouts = [systems]
    if systems is None:
        layouts.append("rows")
    for layout in layouts:
        cells = score_cells(table.scores, table.not_computed, systems=layout, **shape)
        text = draw(cells)
        if systems == "rows" or _fits(text, width):
            return text
    return _draw_parts(table, width, **shape)


def _fits(text: str, width: int | None) -> bool:
    """Return whether no line is too long."""
    if width is None:
        return True
    longest = max(map(len, text.split("\n")))
    return longest <= width


def _draw_parts(table: ScoreTable, width: int | None, **shape: Any) -> str:
    """Return several tables, each with as many columns of systems as fit into a line."""
    groups: list[list[str]] = []
    for system in table.systems:
        if groups:
            grown_group = [*groups[-1], system]
            if _fits(_draw_columns(table, grown_group, **shape), width):
                groups[-1] = grown_group
                continue
        groups.append([system])
    return "\n\n".join(_draw_columns(table, group, **shape) for group in groups)


def _draw_columns(table: ScoreTable, systems: Sequence[str], **shape: Any) -> str:
    """Return a table with some of the systems as columns."""
    scores = [score for score in table.scores if score.system in systems]
    cells = score_cells(scores, table.not_computed, systems="columns", **shape)
    return draw(cells)


# ---- undefined values -----------------------------------------------------------------


class _UndefinedCause(NamedTuple):
    """Why values of a measure are undefined."""

    heading: str
    cause: str


def report_gaps(table: ScoreTable) -> list[str]:
    """Return the counts of undefined values by cause, and the measures not computed."""
    parts = []
    rows = _undefined_rows(table)
    if rows:
        header = ["undefined", *table.systems]
        parts.append(align([header, *rows]))
    lines = describe_not_computed(table.not_computed)
    if lines:
        parts.append("\n".join(lines))
    return parts


def _undefined_rows(table: ScoreTable) -> list[list[str]]:
    """Return a row for each measure and cause, with the count of each system.

    Measures with the same cause and counts share a row if it is not too long.
    """
    headings_by_counts: dict[tuple[str, ...], list[str]] = {}
    for (heading, cause), count_of_system in _count_undefined(table).items():
        counts = [str(count_of_system.get(system, 0)) for system in table.systems]
        headings_by_counts.setdefault((cause, *counts), []).append(heading)
    rows = []
    for (cause, *counts), headings in headings_by_counts.items():
        joined_headings = ", ".join(headings)
        if len(joined_headings) <= _MAX_LETTERS_OF_JOINED_HEADINGS:
            headings = [joined_headings]
        for heading in headings:
            rows.append([f"{heading}: {cause}", *counts])
    return rows


def _count_undefined(table: ScoreTable) -> dict[_UndefinedCause, dict[str, int]]:
    """Return the number of undefined values of each system, by measure and cause."""
    index_of_heading = {heading: n for n, heading in enumerate(table.headings)}
    counts: dict[_UndefinedCause, dict[str, int]] = {}
    records = list(table.undefined())
    records.sort(key=lambda record: index_of_heading[record["measure"]])
    for record in records:
        cause = _UndefinedCause(record["measure"], _describe_cause(record))
        counts.setdefault(cause, {})[record["system"]] = record["count"]
    return counts


def _describe_cause(record: Mapping[str, Any]) -> str:
    """Return a cause with its unit and policy: "no prediction (images), counted as 0"."""
    cause: str = record["cause"]
    text = _CAUSE_TEXTS.get(cause, cause.replace("_", " "))
    if record["unit"]:
        text += f" ({plural(record['unit'])})"
    policy = str(record["policy"])
    if policy in _POLICY_TEXTS:
        text += f", {_POLICY_TEXTS[policy]}"
    return text


# ---- worst items ----------------------------------------------------------------------


def draw_worst(
    table: ScoreTable, number: int, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Return the worst items of each system and part, with their labels or captions.

    Raises
    ------
    InputError
        If no measure has item values.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
    >>> print(draw_worst(table, 1))
    lowest F1
      0.0000  1
        predicted  cow
        true       dog
        missed     dog
        wrong      cow
    """
    records = list(table.worst(number))
    has_several_systems = len(table.systems) > 1
    parts = []
    for score in first_scores_with_items(table.scores):
        end = "lowest" if score.measure.higher_is_better else "highest"
        title = f"{end} {score.heading}"
        if has_several_systems:
            title += f" of {visible(score.system)}"
        lines = [title]
        for record in records:
            is_of_system = record["system"] == score.system
            if is_of_system and record["measure"] == score.heading:
                lines += _describe_item(score, record, digits, scale)
        if len(lines) == 1:
            lines.append("  no item has a value")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _describe_item(
    score: Score, record: Mapping[str, Any], digits: int, scale: float
) -> list[str]:
    """Return the value and id of an item, and below them its labels or captions."""
    value = record["value"]
    if value is None:
        value = math.inf  # records contain None instead, for JSON
    value *= score.measure.definition.printed_scale(scale)
    lines = [f"  {value:.{digits}f}  {on_one_line(str(record['id']))}"]
    if score.task is None:
        return lines
    kind = find_kind(score.task.kind)
    matches_by_name = score.measure["embedding"] is None
    for line in kind.format_item({**record, "by_name": matches_by_name}):
        lines.append(f"    {line}")
    return lines


# ---- signatures -----------------------------------------------------------------------


def report_shared(table: ScoreTable) -> str:
    """Return which parts of signatures all scores share, and which only some of them have.

    Only parts about items, settings, data and version are reported.

    Examples
    --------
    >>> import semmetrics
    >>> measures = ["F1", "SemF1"]
    >>> table = semmetrics.score([["cat"]], [["dog"]], measures=measures, embedding="static")
    >>> print(report_shared(table).splitlines()[1])
    signatures of SemF1: thr:0.5|emb:semmetrics-static-320@c476d4872c28|lookup:text|oov:zero
    """
    scores_by_part: dict[str, list[Score]] = {}
    for score in table:
        for part in score.signature.split("|"):
            key, _, _ = part.partition(":")
            if key in _SHARED_KEYS:
                scores_by_part.setdefault(part, []).append(score)
    shared_parts = []
    parts_by_scores: dict[str, list[str]] = {}
    for part, scores in scores_by_part.items():
        if len(scores) == len(table):
            shared_parts.append(part)
        else:
            names = _name_scores(scores, table)
            parts_by_scores.setdefault(names, []).append(part)
    lines = [f"signatures share: {'|'.join(shared_parts)}"]
    lines += _describe_parts(parts_by_scores)
    return "\n".join(map(visible, lines))


def _describe_parts(parts_by_scores: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each group of scores with parts that not all scores have."""
    lines = []
    for names, parts in parts_by_scores.items():
        lines.append(f"signatures of {names}: {'|'.join(parts)}")
    if len(lines) > _MAX_SIGNATURE_LINES:
        n_shown = _MAX_SIGNATURE_LINES - 1
        n_hidden = len(lines) - n_shown
        more = (
            f"and {n_hidden} more, see the signature of each score (--show-signatures)"
        )
        lines = [*lines[:n_shown], more]
    return lines


def _name_scores(scores: Sequence[Score], table: ScoreTable) -> str:
    """Return the headings of scores, or their systems, or both if neither is sufficient.

    Headings are sufficient if the table has no other scores with these headings.
    """
    headings = list_headings(scores)
    systems = list_systems(scores)
    chosen = {(score.system, score.heading) for score in scores}
    with_headings = set()
    of_systems = set()
    for score in table:
        if score.heading in headings:
            with_headings.add((score.system, score.heading))
        if score.system in systems:
            of_systems.add((score.system, score.heading))
    if chosen == with_headings:
        return join_headings(headings)
    if chosen == of_systems:
        return ", ".join(systems)
    return ", ".join(f"{score.system} {score.heading}" for score in scores)
