"""What ``semmetrics validate`` does: read each file, survey it, and write the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from semmetrics.cli.files import check_inputs
from semmetrics.cli.messages import complain
from semmetrics.cli.reading import Reading, count
from semmetrics.cli.survey import TOP, survey
from semmetrics.errors import InputError

__all__ = ["SCHEMA", "inspect"]

SCHEMA = "semmetrics.validation/1"


def inspect(files: Sequence[str], reading: Reading, form: str) -> int:
    """Report on all files.

    Returns
    -------
    int
        The exit code: 2 if a file is bad.

    Raises
    ------
    InputError
        If an option is wrong.
    """
    check_inputs(files)
    reading.options()
    classes = reading.class_list()
    reports = []
    for path in files:
        report: dict[str, Any] = {"schema": SCHEMA, "file": path, "error": None}
        try:
            report |= survey(reading.labels(path, classes))
        except InputError as error:
            report["error"] = str(error)
        reports.append(report)
        if form == "table":
            _show(report, first=len(reports) == 1)
        elif report["error"]:
            complain(f"error: {report['error']}")
    if form == "json":
        click.echo(json.dumps(reports, indent=1, ensure_ascii=False, allow_nan=False))
    return 2 if any(report["error"] for report in reports) else 0


def _show(report: dict[str, Any], *, first: bool) -> None:
    if report["error"]:
        complain(f"error: {report['error']}")
        return
    lines = [f"{report['file']}: {report['understood']}"]
    lines += [f"  {name.ljust(14)}  {text}" for name, text in _facts(report).items() if text]
    lines += [f"  note: {note}" for note in report["notes"]]
    lines += [f"  odd: {line}" for line in report["odd"]]
    if not report["odd"]:
        lines.append("  nothing is odd")
    click.echo(("" if first else "\n") + "\n".join(lines))


def _facts(report: dict[str, Any]) -> dict[str, str]:
    number = "score" if report["ranked"] else "label"
    return {
        "items": f"{report['items']:,}, known by {'id' if report['ids'] else 'position'}",
        "labels": f"{count(report['labels'], number)}, {report['vocabulary']:,} distinct",
        "synonyms": f"{report['synonyms']:,} labels have several names"
        if report["synonyms"]
        else "",
        "scores": _scores(report),
        "labels an item": _cardinality(report),
        "most frequent": _frequent(report),
        "label order": _order(report),
    }


def _scores(report: dict[str, Any]) -> str:
    scores = report["scores"]
    if scores is None:
        return "none"
    rule = "; a decoding rule or a cutoff makes sets of them" if report["ranked"] else ""
    return f"from {scores['min']:g} to {scores['max']:g}{rule}"


def _cardinality(report: dict[str, Any]) -> str:
    sizes = report["cardinality"]
    std = "" if sizes["std"] is None else f" ({sizes['std']:.2f})"
    return f"{sizes['mean']:.2f}{std} mean (std), from {sizes['min']} to {sizes['max']}"


def _frequent(report: dict[str, Any]) -> str:
    if report["ranked"]:
        return ""
    shown = [f"{entry['label']} {entry['count']:,}" for entry in report["frequencies"][:TOP]]
    more = len(report["frequencies"]) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _order(report: dict[str, Any]) -> str:
    order = report["order"]
    if order is None or order["mean"] is None:
        return ""
    pairs = count(order["pairs"], "pair")
    return f"{order['mean']:.3f} over {pairs} (0.5: none, 1: always the same)"
