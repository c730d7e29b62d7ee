"""The result of ``semmetrics score`` as text, and what is said beside it."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from semmetrics.cli.matches import matched_heading
from semmetrics.cli.runs import runs_text
from semmetrics.cli.worst import worst_text
from semmetrics.reports.grid import aligned
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.score import Score
from semmetrics.scoring.signature import MODELS, SETTINGS

if TYPE_CHECKING:
    from semmetrics.cli.score import Output

__all__ = ["remarks", "result"]

_POLICIES = {
    "0": "counted as 0",
    "1": "counted as 1",
    "skip": "left out",
    "nan": "makes the value undefined",
}
_LONG = 40  # measures that share a line
_SHARED = (*SETTINGS, *MODELS, "ci", "n", "data", "v")


def result(output: Output, table: ScoreTable) -> str:
    """The result in the form asked for."""
    scale, digits = _scale(output)
    if output.runs:
        return runs_text(table, output.form, digits=digits, scale=scale)
    if output.form == "json":
        return _json(output, table)
    if output.form != "table":
        return table.render(output.form, digits=digits, scale=scale)
    wide = output.output is None and sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if wide else None
    parts = [drawn(table, columns, digits, scale), *beside(table)]
    parts += _worst(output, table)
    parts += [_shared(table)] if len(table) else []
    if output.signatures:
        parts.append(_signatures(table))
    return "\n\n".join(parts)


def remarks(output: Output, table: ScoreTable) -> list[str]:
    """What is said on standard error."""
    lines: list[str] = []
    if output.form != "table" or output.runs:
        parts = [*beside(table), *_worst(output, table)]
        lines += [line for part in parts for line in part.split("\n")]
        if output.signatures and output.form not in ("json", "csv"):
            lines += _signatures(table).split("\n")
    if output.runs and any(score.ci is not None for score in table):
        lines.append("--ci has no effect on the result of --runs")
    if output.form in ("json", "csv") and (output.percent or output.digits is not None):
        lines.append(f"--percent and --digits have no effect on {output.form}: full precision")
    if output.matches is not None:
        lines.append(f"{output.matches}: the matches of {matched_heading(table)}")
    return lines


def _worst(output: Output, table: ScoreTable) -> list[str]:
    scale, digits = _scale(output)
    worst = output.worst
    return [] if worst is None else [worst_text(table, worst, digits=digits, scale=scale)]


def _scale(output: Output) -> tuple[float, int]:
    digits = 2 if output.percent else 4
    return (100.0 if output.percent else 1.0), digits if output.digits is None else output.digits


def _json(output: Output, table: ScoreTable) -> str:
    scores = table.to_dicts()
    for entry, score in zip(scores, table, strict=True):
        if output.per_item is not None and score.items is not None:
            entry["rows"] = output.per_item
    return json.dumps(scores, indent=1, ensure_ascii=False, allow_nan=False)


def drawn(table: ScoreTable, columns: int | None, digits: int, scale: float) -> str:
    """The table, in parts one below the other where a terminal is too narrow for all systems."""

    def text(systems: Sequence[str]) -> str:
        some = [score for score in table if score.system in systems]
        return ScoreTable(some).to_text(digits=digits, scale=scale)

    parts: list[list[str]] = []
    for system in table.systems:
        grown = [*parts[-1], system] if parts else []
        if grown and (columns is None or max(map(len, text(grown).split("\n"))) <= columns):
            parts[-1] = grown
        else:
            parts.append([system])
    return "\n\n".join(map(text, parts)) or "no measure could be computed"


def beside(table: ScoreTable) -> list[str]:
    """What was undefined, by cause and counted; and what was not computed, with the reason."""
    parts = []
    rows = undefined(table)
    if rows:
        parts.append(aligned([["undefined", *table.systems], *rows]))
    reasons: dict[str, list[str]] = {}
    for entry in table.not_computed:
        reasons.setdefault(entry.reason, []).append(entry.heading)
    if reasons:
        parts.append(
            "\n".join(f"not computed: {together(h)} - {reason}" for reason, h in reasons.items())
        )
    return parts


def together(headings: Sequence[str]) -> str:
    """Headings with their cutoffs once.

    Examples
    --------
    >>> together(["F1@1", "F1@3"]), together(["F1@1", "WMD@1", "F1@3", "WMD@3"])
    ('F1@1,3', 'F1, WMD (@1,3)')
    """
    cuts: dict[str, list[str]] = {}
    for heading in headings:
        name, sign, cut = heading.rpartition("@")
        whole = not sign or not cut.isdecimal()
        cuts.setdefault(heading if whole else name, []).extend([] if whole else [cut])
    alike: dict[str, list[str]] = {}
    for name, several in cuts.items():
        alike.setdefault(",".join(several), []).append(name)
    return ", ".join(_cut_together(names, cut) for cut, names in alike.items())


def _cut_together(names: Sequence[str], cut: str) -> str:
    if cut and len(names) > 1:
        return f"{', '.join(names)} (@{cut})"
    return f"{names[0]}@{cut}" if cut else ", ".join(names)


def undefined(table: ScoreTable) -> list[list[str]]:
    """A row for each cause: the measures, the cause and its policy, the count of each system."""
    scores = {(score.heading, score.system): score for score in table}
    groups: dict[tuple[str, ...], list[str]] = {}
    for heading in table.headings:
        row = [scores.get((heading, system)) for system in table.systems]
        causes: dict[str, dict[str, int]] = {}
        for score in row:
            for cause, number in [] if score is None else _causes(score):
                causes.setdefault(cause, {})[score.system] = number  # type: ignore[union-attr]
        for cause, numbers in causes.items():
            key = (cause, *(str(numbers.get(system, 0)) for system in table.systems))
            groups.setdefault(key, []).append(heading)
    rows = []
    for (cause, *counts), headings in groups.items():
        together = ", ".join(headings)
        shown = [together] if len(together) <= _LONG else headings
        rows += [[f"{heading}: {cause}", *counts] for heading in shown]
    return rows


def _causes(score: Score) -> list[tuple[str, int]]:
    over = {"example": f"{score.unit}s", "macro": "labels", "weighted": "labels"}
    unit = over.get(str(score.measure["average"]))
    found = []
    for cause, number in score.undefined.items():
        policy = _POLICIES.get(str(score.measure[cause]))
        text = f"{cause.replace('_', ' ')}{f' ({unit})' if unit else ''}"
        found.append((f"{text}, {policy}" if policy else text, number))
    if score.ci is not None and score.ci.undefined:
        found.append(("resamples without a value, left out", score.ci.undefined))
    return found


def _shared(table: ScoreTable) -> str:
    """What all signatures say of items, settings, data and version, in one line."""
    split = [score.signature.split("|") for score in table]
    shared = [
        part
        for part in split[0]
        if part.partition(":")[0] in _SHARED and all(part in other for other in split[1:])
    ]
    return f"signatures share: {'|'.join(shared)}"


def _signatures(table: ScoreTable) -> str:
    several = len(table.systems) > 1
    return aligned(
        [[*([score.system] if several else []), score.heading, score.signature] for score in table],
        left=True,
    )
