"""What ``semmetrics validate`` does: read each file, survey it, and write the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

from semmetrics.cli.caption_survey import shortened, survey_captions
from semmetrics.cli.files import check_inputs
from semmetrics.cli.messages import complain
from semmetrics.cli.reading import Reading
from semmetrics.cli.survey import TOP, survey
from semmetrics.data.inputs import open_input
from semmetrics.errors import InputError, amount
from semmetrics.kinds.resolve import kind_of_one

__all__ = ["SCHEMA", "inspect"]

SCHEMA = "semmetrics.validation/1"


def inspect(files: Sequence[str], reading: Reading, form: str, task: str | None = None) -> int:
    """Report on all files; without a task the shape of each tells what it holds.

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
            report |= _survey(path, reading, classes, task)
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


def _survey(
    path: str, reading: Reading, classes: Sequence[str] | None, task: str | None
) -> dict[str, Any]:
    """What a file holds, and how it looks."""
    data = open_input(path, reading.options())
    notes: list[str] = []
    if task is None and classes is None:
        kind = kind_of_one(data, options=reading.options())
        task, other = kind.task, {"labels": "captions", "captions": "labels"}[kind.task]
        if not kind.sure:
            notes = [f"{kind.understood}, taken for {task}; if not, say --task {other}"]
    if task == "captions":
        found = survey_captions(reading.captions(data))
        notes += [] if classes is None else ["--classes has no effect on captions"]
    else:
        found = survey(reading.labels(data, classes))
    found["notes"] += notes
    return {"task": task or "labels", **found}


def _show(report: dict[str, Any], *, first: bool) -> None:
    if report["error"]:
        complain(f"error: {report['error']}")
        return
    lines = [f"{report['file']}: {report['understood']}"]
    facts = (_caption_facts if report["task"] == "captions" else _facts)(report)
    width = max(map(len, facts))
    lines += [f"  {name.ljust(width)}  {text}" for name, text in facts.items() if text]
    lines += [f"  note: {note}" for note in report["notes"]]
    lines += [f"  odd: {line}" for line in report["odd"]]
    if not report["odd"]:
        lines.append("  nothing is odd")
    click.echo(("" if first else "\n") + "\n".join(lines))


def _facts(report: dict[str, Any]) -> dict[str, str]:
    number = "score" if report["ranked"] else "label"
    return {
        "items": _known(report),
        "labels": f"{amount(report['labels'], number)}, {report['vocabulary']:,} distinct",
        "synonyms": f"{report['synonyms']:,} labels have several names"
        if report["synonyms"]
        else "",
        "scores": _scores(report),
        "labels an item": _spread(report["cardinality"]),
        "most frequent": ""
        if report["ranked"]
        else _listed([(entry["label"], entry["count"]) for entry in report["frequencies"]]),
        "label order": _order(report),
    }


def _caption_facts(report: dict[str, Any]) -> dict[str, str]:
    words = report["words"]
    return {
        "items": _known(report),
        "captions": f"{amount(report['captions'], 'caption')}, {report['distinct']:,} distinct",
        "captions an item": _spread(report["cardinality"]),
        "words": f"{amount(words['total'], 'word')}, {words['distinct']:,} distinct",
        "words a caption": _spread(words) if report["captions"] else "",
        "most frequent": _listed(
            [(repr(shortened(entry["caption"])), entry["count"]) for entry in report["repeated"]]
        ),
    }


def _known(report: dict[str, Any]) -> str:
    return f"{report['items']:,}, known by {'id' if report['ids'] else 'position'}"


def _scores(report: dict[str, Any]) -> str:
    scores = report["scores"]
    if scores is None:
        return "none"
    rule = "; a decoding rule or a cutoff makes sets of them" if report["ranked"] else ""
    return f"from {scores['min']:g} to {scores['max']:g}{rule}"


def _spread(sizes: Mapping[str, Any]) -> str:
    std = "" if sizes["std"] is None else f" ({sizes['std']:.2f})"
    return f"{sizes['mean']:.2f}{std} mean (std), from {sizes['min']:,} to {sizes['max']:,}"


def _listed(counts: Sequence[tuple[str, int]]) -> str:
    shown = [f"{name} {times:,}" for name, times in counts[:TOP]]
    more = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _order(report: dict[str, Any]) -> str:
    order = report["order"]
    if order is None or order["mean"] is None:
        return ""
    pairs = amount(order["pairs"], "pair")
    return f"{order['mean']:.3f} over {pairs} (0.5: none, 1: always the same)"
