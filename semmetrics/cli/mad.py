"""The commands ``semmetrics mad``: a maximum discrepancy competition, selected and ranked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    digits_option,
    format_option,
    measure_option,
    named_files,
    output_option,
    read_given,
    reading_options,
    score_options,
    split_measures,
)
from semmetrics.cli.help import (
    EXIT_CODES,
    FILE,
    Command,
    F,
    Group,
    add_options,
    option,
    quiet_option,
)
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.options import DATA

if TYPE_CHECKING:
    from semmetrics.studies.discrepancy import DiscrepancySelection

__all__ = ["command"]

SELECTED, SHEETS, RANKED = "What is selected", "Sheets to fill", "What is ranked"
_SHEETS = (".csv", ".json", ".jsonl")
_STABILITY = re.compile(r"(\d+)(?::(\d+)(?::(\d+))?)?")
_OF_SELECTION = (
    "task", "normalize", "classes", "ignore", "embedding", "lookup", "oov",
    "device", "max_words", "cache", "calibration", "taxonomy", "tokenizer", "doc_freq", "tuples",
)  # fmt: skip


@click.group(
    "mad",
    cls=Group,
    no_args_is_help=True,
    examples=[
        "semmetrics mad select -k 70 -o state.json --sheet sheet.csv a.json b.json c.json",
        "semmetrics mad rank -m CIDEr-D --references sheet.csv state.json",
        "semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json d.json",
    ],
    epilog=EXIT_CODES,
)
def command() -> None:
    """Compare systems on the images on which they differ most (Wan et al. 2022).

    Systems answer for any number of images without references. For each pair of systems the k
    images are selected on which their answers are least alike; these few are annotated, and the
    systems are ranked by them.
    """


def _missing_option(command: F) -> F:
    return option(
        DATA,
        "--missing",
        type=click.Choice(["error", "skip"]),
        help="An image that a system lacks is an error, or is left out (skip). The default is "
        "error.",
    )(command)


def _sheet_options(command: F) -> F:
    """Add the options of the sheets that are to be filled."""
    return add_options(
        command,
        output_option("--sheet", help="Write a sheet for references there: .csv, .json or .jsonl."),
        output_option(
            "--rating-sheet",
            help="Write a sheet there in which the answers are rated: .csv, .json or .jsonl.",
        ),
        output_option("--page", help="Write a sheet as an HTML page to annotate in."),
        output_option("--rating-page", help="Write a sheet of ratings as an HTML page."),
        option(SHEETS, "--annotators", type=click.IntRange(1, 100), metavar="N", default=3,
               show_default=True, help="Rows for each image, or for each answer to rate."),
        option(SHEETS, "--images", metavar="TEMPLATE",
               help="Where the page finds images, with {id} in it: 'images/{id}.jpg'."),
        option(SHEETS, "--scale", type=click.IntRange(2, 100), metavar="N", default=5,
               show_default=True, help="Ratings on the page are 1 to N."),
    )  # fmt: skip


def _selection_options(command: F) -> F:
    """Add what both ways of selecting share."""
    return add_options(
        command,
        option(SELECTED, "--exclude", type=FILE, metavar="FILE",
               help="Images that are not to be selected, one id a line; the next ones are taken."),
        score_options(*_OF_SELECTION),
        _missing_option,
        reading_options(),
        output_option(help="Write the state of the competition there, as JSON.", required=True),
        format_option(help="What is shown: a table of the pairs, the state as json, or "
                      "the images as csv."),
        digits_option(default=4, show_default=True, help="Digits after the point."),
        _sheet_options,
        quiet_option,
    )  # fmt: skip


@command.command(
    "select",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics mad select -o state.json --sheet sheet.csv a.json b.json c.json",
        "semmetrics mad select -k 20 -o state.json --rating-page rate.html a.json b.json",
        "semmetrics mad select -m SemF1 -o state.json a.json b.json",
    ],
)
@click.argument("systems", nargs=-1, required=True, type=FILE, metavar="FILE...")
@option(SELECTED, "-k", "k", type=int, metavar="K", default=70, show_default=True,
        help="Images of each pair.")  # fmt: skip
@measure_option(
    SELECTED, help="What tells how alike two answers are: a measure with values of items. The "
    "default is NGSM.",
)  # fmt: skip
@option(SELECTED, "--ties", type=click.Choice(["id", "position", "random"]), default="id",
        show_default=True, help="How images of equal values are told apart: by id, by where they "
        "stand, or by a hash of the seed, the pair and the id.")  # fmt: skip
@option(SELECTED, "--seed", type=int, metavar="N", default=12345, show_default=True,
        help="Seed of --ties random.")  # fmt: skip
@_selection_options
def select(
    systems: tuple[str, ...], k: int, measure: str | None, ties: str, seed: int, **given: Any
) -> None:
    """Select the images on which systems differ most.

    Each FILE holds what a system answers for the same images: a caption each, or labels (with -m
    SemF1, F1 and the like). The state and the sheets that are asked for are written; annotators
    fill the rows, and 'semmetrics mad rank' reads them back.
    """
    from semmetrics.cli.files import name_files
    from semmetrics.studies.discrepancy import select_discrepant

    named = dict(zip(name_files(systems), systems, strict=True))

    def make(**options: Any) -> DiscrepancySelection:
        return select_discrepant(
            named, k, measure=measure or "NGSM", ties=ties, seed=seed, **options
        )

    _select(make, list(systems), None, given)


@command.command(
    "add",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json",
    ],
)
@click.argument("state", type=FILE, metavar="STATE")
@click.argument("systems", nargs=-1, required=True, type=FILE, metavar="FILE...")
@_selection_options
def add(state: str, systems: tuple[str, ...], **given: Any) -> None:
    """Add systems to a competition; its own pairs are not compared again.

    STATE is what 'semmetrics mad select' wrote. Each FILE is a system: all those of the
    competition, with the same names and answers as then, and the new ones. Sheets have only the
    rows that are not in those of STATE.
    """
    from semmetrics.cli.files import name_files
    from semmetrics.studies.discrepancy import DiscrepancySelection, add_systems

    before = DiscrepancySelection.load(state, max_bytes=given["max_bytes"])
    named = dict(zip(name_files(systems), systems, strict=True))

    def make(**options: Any) -> DiscrepancySelection:
        return add_systems(before, named, **options)

    _select(make, [state, *systems], before, given)


def _select(
    make: Callable[..., DiscrepancySelection],
    files: Sequence[str],
    before: DiscrepancySelection | None,
    given: dict[str, Any],
) -> None:
    """Select, and write the sheets, then the state, then what is shown."""
    from semmetrics.cli.files import check_endings, check_files, write_text
    from semmetrics.cli.messages import say_understood, show_progress

    own = {name: given.pop(name) for name in (
        "output", "form", "digits", "quiet", "sheet", "rating_sheet", "page", "rating_page",
        "annotators", "images", "scale", "exclude",
    )}  # fmt: skip
    written = {f"--{n.replace('_', '-')}": own[n]
               for n in ("sheet", "rating_sheet", "page", "rating_page")}  # fmt: skip
    exclude = own["exclude"]
    inputs = [*files, *named_files(given), *([exclude] if exclude else [])]
    remedy = "write the state to another file" if before else "give the output another name"
    check_files(inputs, {"-o": own["output"], **written}, remedy=remedy)
    check_endings(written, {"--sheet": _SHEETS, "--rating-sheet": _SHEETS})
    if own["images"] is not None and not (own["page"] or own["rating_page"]):
        raise InputError("--images means nothing without a page", remedy="leave it out")
    missing = given.pop("missing")
    options = read_given(given) | ({} if missing is None else {"missing": missing})
    with show_progress(quiet=own["quiet"]) as progress:
        state = make(exclude=own["exclude"] or (), progress=progress, **options)
    say_understood(state, quiet=own["quiet"])
    write_text(state.to_json(), own["output"], "json", dict(_sheets(state, before, own)))
    if own["output"] != "-":
        shown = state.render(own["form"], digits=own["digits"])
        shown = f"{shown}\n\n{_summary(state, before)}" if own["form"] == "table" else shown
        write_text(shown, form=own["form"])


def _sheets(
    state: DiscrepancySelection, before: DiscrepancySelection | None, own: dict[str, Any]
) -> Sequence[tuple[str, str]]:
    """Return the sheets asked for, each behind its path."""
    from pathlib import PurePath

    from semmetrics.cli.files import ending
    from semmetrics.studies.sheets import write_annotation_page

    made = []
    for ratings in (False, True):
        prefix = "rating_" if ratings else ""
        path, page = own[f"{prefix}sheet"], own[f"{prefix}page"]
        if path is None and page is None:
            continue
        sheet = state.sheet(ratings=ratings, annotators=own["annotators"], since=before)
        if path is not None:
            made.append((path, getattr(sheet, f"to_{ending(path)[1:]}")()))
        if page is not None:
            name = f"{PurePath(page).stem}.csv"
            text = write_annotation_page(sheet, images=own["images"], scale=own["scale"], name=name)
            made.append((page, text))
    return made


def _summary(state: DiscrepancySelection, before: DiscrepancySelection | None) -> str:
    new = "" if before is None else f" ({len({*state.images} - {*before.images}):,} of them new)"
    return (
        f"{pluralize(len(state.images), 'image')} to annotate{new}, of {state.n:,}; "
        f"{state.measure}, k={state.k}, ties by {state.ties}"
    )


@command.command(
    "rank",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics mad rank -m CIDEr-D --references sheet.csv state.json",
        "semmetrics mad rank --ratings ratings.csv --stability 5:65:10 state.json",
    ],
)
@click.argument("state", type=FILE, metavar="STATE")
@option(RANKED, "--references", type=FILE, metavar="FILE", multiple=True,
        help="Sheets of references that were filled, or references in another form; may be "
        "repeated.")  # fmt: skip
@option(RANKED, "--ratings", type=FILE, metavar="FILE", multiple=True,
        help="Sheets of ratings that were filled; may be repeated.")  # fmt: skip
@measure_option(
    RANKED,
    "measures",
    multiple=True,
    help="Measures that the systems are scored by, such as CIDEr-D and SPICE; may be repeated. The "
    "default is what 'semmetrics score' computes.",
)
@option(RANKED, "-k", "k", type=int, metavar="K",
        help="Only the first K images of each pair.")  # fmt: skip
@option(RANKED, "--floor", type=float, metavar="X",
        help="Raise smaller scores to X, so that a score of 0 has a dominance.")  # fmt: skip
@option(RANKED, "--stability", metavar="K,...|K:K[:STEP]",
        help="Compare the ranks of these k with those of all images (SRCC).")  # fmt: skip
@option(RANKED, "--missing", type=click.Choice(["error", "skip"]), default="error",
        show_default=True, help="Images that are not annotated, and rows of other images, are an "
        "error, or are left out (skip).")  # fmt: skip
@score_options(*(n for n in _OF_SELECTION if n != "task"))
@reading_options()
@format_option(help="json has the matrices; csv has full precision, too.")
@output_option()
@output_option("--pairs", "pairs_file", help="Write scores and dominance of each pair there: "
               ".csv, .json or .jsonl.")  # fmt: skip
@digits_option(default=4, show_default=True, help="Digits after the point.")
@quiet_option
def rank(
    state: str,
    references: tuple[str, ...],
    ratings: tuple[str, ...],
    measures: tuple[str, ...],
    k: int | None,
    floor: float | None,
    stability: str | None,
    missing: str,
    form: str,
    output: str | None,
    pairs_file: str | None,
    digits: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Rank the systems of a competition by what annotators wrote or rated.

    STATE is what 'semmetrics mad select' or 'add' wrote. Both systems of a pair are scored on the
    images of the pair; the ratio of their scores is the dominance of one over the other, and all
    dominances give the global rank (Wan et al. 2022, equation 7).
    """
    from semmetrics.cli.files import check_endings, check_files, write_text
    from semmetrics.cli.messages import say, say_understood
    from semmetrics.reports.result import cells, draw
    from semmetrics.studies.competition import rank_competition

    outputs = {"-o": output, "--pairs": pairs_file}
    check_files([state, *references, *ratings, *named_files(given)], outputs)
    check_endings({"--pairs": pairs_file}, {"--pairs": _SHEETS})
    if ratings and measures:
        raise InputError("-m means nothing for --ratings", remedy="leave it out")
    options = read_given(given)
    if measures:
        options["measures"] = split_measures(measures, "CIDEr-D")
    found = rank_competition(
        state,
        list(references) or None,
        ratings=list(ratings) or None,
        k=k,
        missing=missing,
        floor=floor,
        stability=_read_stability(stability),
        **options,
    )
    say_understood(found, quiet=quiet)
    pairs = {} if pairs_file is None else {pairs_file: found.pair_records()}
    write_text(found.render(form, digits=digits), output, form, pairs)
    if form == "csv" and stability is not None:  # which has one table
        say(draw(cells(found.stability_records(), digits)).split("\n"), quiet=False)


def _read_stability(text: str | None) -> list[int]:
    """Return the numbers of a list whose parts may be ranges, with both ends.

    Examples
    --------
    >>> _read_stability("5,10:20:5")
    [5, 10, 15, 20]
    """
    found: list[int] = []
    for part in text.split(",") if text is not None else ():
        parts = _STABILITY.fullmatch(part.strip())
        if parts is None or len(part) > 30 or parts[3] == "0":
            raise InputError(f"--stability {part[:30]} is no number and no range",
                             remedy="write 5,10,20 or 5:65:10")  # fmt: skip
        start, stop, step = int(parts[1]), int(parts[2] or parts[1]), int(parts[3] or 1)
        if stop < start:
            raise InputError(f"--stability {part} ends before it begins", remedy="write 5:65:10")
        if stop - start > 10_000:
            raise InputError(f"--stability {part} is too many", remedy="write a larger step")
        found += range(start, stop + 1, step)
    return found
