"""What ``semmetrics score`` writes: the result, the files beside it, and remarks on both."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semmetrics.cli.files import ending, open_output
from semmetrics.errors import InputError
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
    from semmetrics.reports.records import Records

__all__ = [
    "ENDINGS",
    "Output",
    "collect_details",
    "collect_remarks",
    "render_result",
    "write_details",
]

ENDINGS = {
    "--per-item": (".jsonl", ".csv"),
    "--per-label": (".json", ".csv"),
    "--matches": (".csv", ".json", ".jsonl"),
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is written, and how; None and empty where nothing was said."""

    signatures: bool
    form: str
    output: str | None
    digits: int | None
    percent: bool
    runs: bool
    per_item: str | None
    per_label: str | None
    matches: str | None
    worst: int | None

    @classmethod
    def take(cls, given: dict[str, Any]) -> Output:
        """Take it from what the command was given."""
        return cls(**{name: given.pop(name) for name in cls.__dataclass_fields__})

    def files(self) -> dict[str, str | None]:
        """Return all files that are written, by option."""
        return {
            "-o": self.output,
            "--per-item": self.per_item,
            "--per-label": self.per_label,
            "--matches": self.matches,
        }


def render_result(output: Output, table: ScoreTable) -> str:
    """Write the result in the form asked for."""
    scale, digits = _scale(output)
    if output.runs:
        return draw_runs(table, output.form, digits=digits, scale=scale)
    if output.form == "json":
        return _json(output, table)
    if output.form != "table":
        return table.render(output.form, digits=digits, scale=scale)
    wide = output.output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if wide else None
    parts = [draw_systems(table, width=width, digits=digits, scale=scale), *report_gaps(table)]
    parts += _worst(output, table)
    parts += [report_shared(table)] if len(table) else []
    if output.signatures:
        parts.append(draw_signatures(table))
    return "\n\n".join(parts)


def collect_remarks(output: Output, table: ScoreTable) -> list[str]:
    """Collect what is said on standard error."""
    lines: list[str] = []
    if output.form != "table" or output.runs:
        parts = [*report_gaps(table), *_worst(output, table)]
        lines += [line for part in parts for line in part.split("\n")]
        if output.signatures and output.form not in ("json", "csv"):
            lines += draw_signatures(table).split("\n")
    if output.runs and any(score.ci is not None for score in table):
        lines.append("--ci has no effect on the result of --runs")
    if output.form in ("json", "csv") and (output.percent or output.digits is not None):
        lines.append(f"--percent and --digits have no effect on {output.form}: full precision")
    if output.matches is not None:
        from semmetrics.reports.details import find_matching_heading

        lines.append(f"{output.matches}: the matches of {find_matching_heading(table)}")
    return lines


def _worst(output: Output, table: ScoreTable) -> list[str]:
    if output.worst is None:
        return []
    scale, digits = _scale(output)
    with _name_option("--worst"):
        return [draw_worst(table, output.worst, digits=digits, scale=scale)]


def _scale(output: Output) -> tuple[float, int]:
    digits = 2 if output.percent else 4
    return (100.0 if output.percent else 1.0), digits if output.digits is None else output.digits


def _json(output: Output, table: ScoreTable) -> str:
    scores = table.to_dicts()
    for entry, score in zip(scores, table, strict=True):
        if output.per_item is not None and score.items is not None:
            entry["rows"] = output.per_item
    return json.dumps(scores, indent=1, ensure_ascii=False, allow_nan=False)


@contextmanager
def _name_option(option: str) -> Iterator[None]:
    """Say in an error which option asks for what is not there."""
    try:
        yield
    except InputError as error:
        remedy = f"leave it out, or {error.remedy}"
        raise InputError(error.problem, where=option, remedy=remedy) from None


def collect_details(output: Output, table: ScoreTable) -> dict[str, Records]:
    """Collect what the files beside the result are to hold, by path.

    Raises
    ------
    InputError
        If no measure has it; names the option.
    """
    found: dict[str, Records] = {}
    if output.worst is not None:
        with _name_option("--worst"):
            table.worst(1)
    wanted: tuple[tuple[str, str | None, Any], ...] = (
        ("--per-item", output.per_item, table.per_item),
        ("--matches", output.matches, table.matches),
        ("--per-label", output.per_label, table.per_label),
    )
    for option, path, collect in wanted:
        if path is not None:
            with _name_option(option):
                found[path] = collect()
    if output.matches is not None and len(table.systems) == 1:
        found[output.matches] = found[output.matches].drop("system")
    return found


def write_details(files: dict[str, Records]) -> None:
    """Write records, each in the form that the ending of its file names."""
    for path, records in files.items():
        with open_output(path) as out:
            records.write(out, ending(path)[1:])
