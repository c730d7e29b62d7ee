"""The command ``semmetrics correlate``: read, correlate, write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    digits_option,
    format_option,
    max_bytes_option,
    output_option,
    read_given,
    score_options,
)
from semmetrics.cli.help import FILE, Command, option, quiet_option
from semmetrics.errors import InputError

if TYPE_CHECKING:
    from semmetrics.reports.result import Records

__all__ = ["command"]

PAIRS, WHAT = "How pairs are found", "What is computed"


@click.command(
    "correlate",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics pairs --phi CIDEr-D -o phi.npy captions.json references.json",
        "semmetrics correlate ratings.csv phi.npy",
        "semmetrics correlate ratings.csv SPICE=spice.npy CIDEr=cider.npy binary=positives.json",
        "semmetrics correlate --columns caption,image,agg_score --group-by sampling_method --ids "
        "'0*(\\d+)(?:[.]jpg)?$' sits_test.csv phi.npy",
    ],
)
@click.argument("ratings", type=FILE, metavar="RATINGS")
@click.argument("phi", type=FILE, metavar="[NAME=]PHI...", nargs=-1, required=True)
@option(
    PAIRS,
    "--columns",
    metavar="ID,ID,SCORE",
    help="Columns of RATINGS. The default is its first three.",
)
@option(
    PAIRS,
    "--group-by",
    metavar="COLUMN",
    help="Column of RATINGS; each of its values has a row of its own, too.",
)
@option(
    PAIRS,
    "--ids",
    metavar="REGEX",
    help="The part of an id that is compared: the group of the expression, or all that it finds.",
)
@option(
    WHAT,
    "--ncs",
    type=click.Choice(["rows", "columns"]),
    help="NCS@1 in place of phi: each value over the largest one of its row (images are queries) "
    "or column (captions are).",
)
@score_options("ci", "seed", "resamples", "level")
@max_bytes_option
@format_option(help="json and csv have full precision.")
@output_option()
@digits_option(default=4, show_default=True, help="After the point.")
@quiet_option
def command(
    ratings: str,
    phi: tuple[str, ...],
    columns: str | None,
    group_by: str | None,
    ids: str | None,
    ncs: Any,
    form: str,
    output: str | None,
    digits: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Correlate scores of pairs with ratings of the same pairs by people.

    RATINGS is a CSV, TSV, JSON or JSONL file with two ids and a score in each row. PHI is a matrix
    of 'semmetrics pairs' (a .npy file with its .ids.json), a JSON object {id: [ids]} of what
    belongs together, or a file of scores like RATINGS. Pairs that a PHI lacks are counted.
    """
    from semmetrics.cli.files import check_files, write_text
    from semmetrics.cli.messages import say, show_progress
    from semmetrics.studies.correlations import correlate

    named = _name_files(phi)
    options = read_given(given)
    check_files([ratings, *named.values()], {"-o": output})
    with show_progress(quiet=quiet) as progress:
        found = correlate(
            ratings,
            named,
            columns=columns.split(",") if columns else None,
            group_by=group_by,
            ids=ids,
            ncs=ncs or "none",
            ci=_intervals(options),
            read=options["read"],
            progress=progress,
        )
    say(found.notes, quiet=quiet)
    write_text(_render(found, form, digits), output, form)


def _name_files(phi: tuple[str, ...]) -> dict[str, str]:
    """Return the files by name: those given, or those of the files."""
    from pathlib import Path

    from semmetrics.cli.files import name_files

    found: dict[str, str] = {}
    plain = [text for text in phi if "=" not in text or Path(text).exists()]
    names = dict(zip(plain, name_files(plain), strict=True))
    for text in phi:
        name, _, path = text.partition("=")
        name, path = (names[text], text) if text in names else (name, path)
        if not name or not path:
            raise InputError("a name or a file is missing", where=text, remedy="write NAME=FILE")
        if name in found:
            raise InputError(f"two files are called {name!r}", remedy="name them: NAME=FILE")
        found[name] = path
    return found


def _intervals(options: dict[str, Any]) -> Any:
    """Return how intervals are made, if they are asked for."""
    from semmetrics.scoring.intervals import Bootstrap

    given = {name: options[name] for name in ("level", "resamples", "seed") if name in options}
    if given and not options.get("ci"):
        flag = f"--{next(iter(given))}"
        raise InputError(f"{flag} means nothing without --ci", remedy="leave it out, or give --ci")
    return Bootstrap(**given) if options.get("ci") else False


def _render(found: Records, form: str, digits: int) -> str:
    """Write the rows, numbers rounded where a person reads them."""
    from semmetrics.reports.result import draw, format_full

    if form == "json":
        return json.dumps(list(found), indent=1, ensure_ascii=False)

    def shown(value: Any) -> str:
        if value is None:
            return "" if form == "csv" else "-"
        if isinstance(value, float):
            return format_full(value) if form == "csv" else f"{value:.{digits}f}"
        return str(value) if form == "csv" or isinstance(value, str) else f"{value:,}"

    return draw([list(found.columns), *([shown(v) for v in row.values()] for row in found)], form)
