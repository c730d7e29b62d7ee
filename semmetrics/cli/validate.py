"""The command ``semmetrics validate``: what is in a file, how it is understood, what is odd."""

from __future__ import annotations

import json
from typing import Any

import click

from semmetrics.cli.flags import format_option, read_given, reading_options, score_options
from semmetrics.cli.help import FILE, Command, option
from semmetrics.cli.messages import complain, echo
from semmetrics.options import KINDS

__all__ = ["command"]


@click.command(
    "validate",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics validate preds.json gt.json",
        "semmetrics validate --format json gt.csv > gt.report.json",
        "semmetrics validate --classes labels.txt scores.npy",
        "semmetrics validate --task captions captions.json references.json",
    ],
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@option(
    "What the data are",
    "--task",
    type=click.Choice(KINDS),
    help="What the files hold, where their shape does not tell: lists of sentences are taken for "
    "captions.",
)
@score_options("classes")
@reading_options()
@format_option("table", "json", help="json has everything, with the full frequency distribution.")
def command(files: tuple[str, ...], form: str, task: str | None, **given: Any) -> int:
    """Say what was read of each file, how it was understood, and what is odd.

    Numbers of items and labels, labels per item, the most frequent labels, how consistently labels
    are ordered; repeated labels, empty lists, labels that differ only by case or blanks, ids with
    blanks, scores out of order. Of captions: words a caption, repeated and empty captions, control
    characters. All files are tried; the exit code is 2 if one of them is bad.
    """
    from semmetrics.cli.files import check_files
    from semmetrics.errors import InputError
    from semmetrics.reports.validation import SCHEMA, report_validation, validate

    check_files(files)
    classes, read = given.pop("classes"), read_given(given)["read"]
    records: list[dict[str, Any]] = []
    for path in files:
        try:
            record = validate(path, classes=classes, task=task, read=read)
            if form == "table":
                echo(("\n" if records else "") + report_validation(record))
        except InputError as error:
            record = {"schema": SCHEMA, "file": path, "error": str(error)}
            complain(f"error: {error}")
        records.append(record)
    if form == "json":
        echo(json.dumps(records, indent=1, ensure_ascii=False, allow_nan=False), form)
    return 2 if any(record["error"] for record in records) else 0
