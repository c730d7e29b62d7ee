"""Cells of a table of scores: one row per measure and one column per system, or reversed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from semmetrics.arguments import check_choice
from semmetrics.options import OUTPUT
from semmetrics.reports import format_number, grade
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score

_INDENTED_THRESHOLD = "  threshold"
NOTHING_COMPUTED = "no measure could be computed"
"""The text of a table without scores."""


def list_systems(scores: Sequence[Score]) -> list[str]:
    """Return the systems of scores, in order."""
    return list(dict.fromkeys(score.system for score in scores))


def list_headings(scores: Sequence[Score]) -> list[str]:
    """Return the headings of scores, in order."""
    return list(dict.fromkeys(score.heading for score in scores))


def score_cells(
    scores: Sequence[Score],
    not_computed: Sequence[NotComputed],
    digits: int = 4,
    scale: float = 1.0,
    systems: str | None = None,
) -> list[list[str]]:
    """Return the cells of a table of scores, with the header first.

    Parameters
    ----------
    scores : sequence of Score
    not_computed : sequence of NotComputed
        Measures whose cells are "-".
    digits : int
        The number of decimals.
    scale : float
        Factor of the values that papers print in percent: values in [-1, 1], CIDEr, SPICE and
        SPIDEr.
    systems : {"rows", "columns"}, optional
        Default: rows if there are more systems than measures.
    """
    check_choice("systems", systems, (None, *OUTPUT["systems"].choices))
    system_names = list_systems(scores)
    headings = list_headings(scores)
    score_of_cell = {(score.system, score.heading): score for score in scores}
    rows = [["measure", *map(_on_one_line, system_names)]]
    for heading in headings:
        row = [score_of_cell.get((system, heading)) for system in system_names]
        cells = _value_cells(row, digits, scale)
        rows.append([_on_one_line(heading), *cells])
        thresholds = _threshold_cells(row)
        if any(thresholds):
            rows.append([_INDENTED_THRESHOLD, *thresholds])
    for measure in not_computed:
        dashes = ["-" for _ in system_names]
        rows.append([_on_one_line(measure.heading), *dashes])
    has_many_systems = len(system_names) > len(headings) + len(not_computed)
    if systems == "rows" or (systems is None and has_many_systems):
        return _transpose(rows)
    return rows


def _on_one_line(name: str) -> str:
    """Return a name without line breaks."""
    return " ".join(name.splitlines())


def _value_cells(
    scores: Sequence[Score | None], digits: int, scale: float
) -> list[str]:
    """Return the cells of a measure, with a grade from worst to best. None is an empty cell."""
    texts = []
    values = []
    higher_is_better = False
    for score in scores:
        if score is None:
            texts.append("")
            values.append(math.nan)
        else:
            texts.append(_format_score(score, digits, scale))
            values.append(score.value)
            # All scores are of the same measure.
            higher_is_better = score.measure.higher_is_better
    return grade(texts, values, higher=higher_is_better)


def _format_score(score: Score, digits: int, scale: float) -> str:
    """Return the value of a score, with its interval if there is one."""
    scale = score.measure.definition.printed_scale(scale)
    text = format_number(score.value * scale, digits)
    if score.ci is None:
        return text
    low = format_number(score.ci.low * scale, digits)
    high = format_number(score.ci.high * scale, digits)
    return f"{text} [{low}, {high}]"


def _threshold_cells(scores: Sequence[Score | None]) -> list[str]:
    """Return the best threshold of each score, and an empty cell if there is none."""
    cells = []
    for score in scores:
        if score is None or score.best_threshold is None:
            cells.append("")
        else:
            cells.append(repr(score.best_threshold))  # with all digits
    return cells


def _transpose(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a table with one row per system."""
    transposed = []
    for column in zip(*rows, strict=True):
        cells = []
        for cell in column:
            # Only the indented heading of thresholds is stripped, since ``strip`` would lose
            # the grade of a value.
            if cell.startswith(" "):
                cell = cell.strip()
            cells.append(cell)
        transposed.append(cells)
    transposed[0][0] = "system"
    return transposed


def describe_not_computed(measures: Sequence[NotComputed]) -> list[str]:
    """Return a line for each reason why measures were not computed."""
    headings_by_reason: dict[str, list[str]] = {}
    for measure in measures:
        headings_by_reason.setdefault(measure.reason, []).append(measure.heading)
    lines = []
    for reason, headings in headings_by_reason.items():
        lines.append(f"not computed: {join_headings(headings)} - {reason}")
    return lines


def join_headings(headings: Sequence[str]) -> str:
    """Join headings, and write cutoffs only once.

    Examples
    --------
    >>> join_headings(["F1@1", "F1@3"]), join_headings(["F1@1", "WMD@1", "F1@3", "WMD@3"])
    ('F1@1,3', 'F1, WMD (@1,3)')
    >>> join_headings(["F1", "F1@1", "F1@3"])
    'F1, F1@1,3'
    """
    cutoffs_by_name: dict[str, list[str]] = {}
    names_by_cutoffs: dict[str, list[str]] = {}
    for heading in headings:
        name, at_sign, cutoff = heading.rpartition("@")
        if at_sign and cutoff.isdecimal():
            cutoffs_by_name.setdefault(name, []).append(cutoff)
        else:
            without_cutoff = names_by_cutoffs.setdefault("", [])
            without_cutoff.append(heading)
    for name, cutoffs in cutoffs_by_name.items():
        names_by_cutoffs.setdefault(",".join(cutoffs), []).append(name)
    parts = []
    for joined_cutoffs, names in names_by_cutoffs.items():
        part = ", ".join(names)
        if joined_cutoffs and len(names) > 1:
            part += f" (@{joined_cutoffs})"
        elif joined_cutoffs:
            part += f"@{joined_cutoffs}"
        parts.append(part)
    return ", ".join(parts)
