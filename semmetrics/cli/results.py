"""What ``semmetrics score`` writes: the result, the files beside it, and remarks on both."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from semmetrics.cli.files import ending, open_output
from semmetrics.cli.meaning import unused
from semmetrics.errors import InputError
from semmetrics.reports.details import find_matching_heading
from semmetrics.reports.records import Records
from semmetrics.reports.score_text import (
    draw_runs,
    draw_signatures,
    draw_systems,
    draw_worst,
    report_gaps,
    report_shared,
)
from semmetrics.reports.table import ScoreTable

if TYPE_CHECKING:
    from semmetrics.cli.job import Request

__all__ = ["ENDINGS", "collect_details", "collect_remarks", "render_result", "write_details"]

ENDINGS = {
    "--per-item": (".jsonl", ".csv"),
    "--per-label": (".json", ".csv"),
    "--matches": (".csv", ".json", ".jsonl"),
}


def render_result(request: Request, table: ScoreTable) -> str:
    """Write the result in the form asked for."""
    scale, digits = _scale(request)
    if request.runs:
        return draw_runs(table, request.form, digits=digits, scale=scale)
    if request.form == "json":
        return _json(request, table)
    if request.form != "table":
        return table.render(request.form, digits=digits, scale=scale)
    wide = request.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if wide else None
    parts = [draw_systems(table, width=width, digits=digits, scale=scale), *report_gaps(table)]
    parts += _worst(request, table)
    parts += [report_shared(table)] if len(table) else []
    if request.signatures:
        parts.append(draw_signatures(table))
    return "\n\n".join(parts)


def collect_remarks(request: Request, table: ScoreTable) -> list[str]:
    """Collect what is said on standard error."""
    lines: list[str] = []
    if request.form != "table" or request.runs:
        parts = [*report_gaps(table), *_worst(request, table)]
        lines += [line for part in parts for line in part.split("\n")]
        if request.signatures and request.form not in ("json", "csv"):
            lines += draw_signatures(table).split("\n")
    idle = {"--seed": request.seed, "--resamples": request.resamples, "--level": request.level}
    given = [name for name, value in idle.items() if value is not None]
    if request.ci and request.runs:
        lines.append("--ci has no effect on the result of --runs")
    if given and not request.ci:
        lines.append(f"{', '.join(given)} has no effect without --ci")
    if request.form in ("json", "csv") and (request.percent or request.digits is not None):
        lines.append(f"--percent and --digits have no effect on {request.form}: full precision")
    if request.matches is not None:
        lines.append(f"{request.matches}: the matches of {find_matching_heading(table)}")
    return [*lines, *unused(request, [score.measure for score in table])]


def _worst(request: Request, table: ScoreTable) -> list[str]:
    if request.worst is None:
        return []
    scale, digits = _scale(request)
    with _name_option("--worst"):
        return [draw_worst(table, request.worst, digits=digits, scale=scale)]


def _scale(request: Request) -> tuple[float, int]:
    digits = 2 if request.percent else 4
    return (100.0 if request.percent else 1.0), digits if request.digits is None else request.digits


def _json(request: Request, table: ScoreTable) -> str:
    scores = table.to_dicts()
    for entry, score in zip(scores, table, strict=True):
        if request.per_item is not None and score.items is not None:
            entry["rows"] = request.per_item
    return json.dumps(scores, indent=1, ensure_ascii=False, allow_nan=False)


@contextmanager
def _name_option(option: str) -> Iterator[None]:
    """Say in an error which option asks for what is not there."""
    try:
        yield
    except InputError as error:
        remedy = f"leave it out, or {error.remedy}"
        raise InputError(error.problem, where=option, remedy=remedy) from None


def collect_details(request: Request, table: ScoreTable) -> dict[str, Records]:
    """Collect what the files beside the result are to hold, by path.

    Raises
    ------
    InputError
        If no measure has it; names the option.
    """
    found: dict[str, Records] = {}
    if request.worst is not None:
        with _name_option("--worst"):
            table.worst(1)
    wanted: tuple[tuple[str, str | None, Any], ...] = (
        ("--per-item", request.per_item, table.per_item),
        ("--matches", request.matches, table.matches),
        ("--per-label", request.per_label, table.per_label),
    )
    for option, path, collect in wanted:
        if path is not None:
            with _name_option(option):
                found[path] = collect()
    if request.matches is not None and len(table.systems) == 1:
        found[request.matches] = found[request.matches].drop("system")
    return found


def write_details(files: dict[str, Records]) -> None:
    """Write records, each in the form that the ending of its file names."""
    for path, records in files.items():
        with open_output(path) as out:
            records.write(out, ending(path)[1:])
