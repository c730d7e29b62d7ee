"""The commands ``mad ...``, which compare systems on the images on which they differ most."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semmetrics.cli import output
from semmetrics.cli.generate import DRAWN, RESULT, command
from semmetrics.cli.run import Run
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.messages import pluralize
from semmetrics.options import KINDS

if TYPE_CHECKING:
    from semmetrics.reports.page import Pictures
    from semmetrics.studies.competition_state import DiscrepancySelection

_MAX_RANGE = 10_000
"""The largest difference between the ends of a range of ``--stability``."""
_MAX_DIGITS = 8
"""The largest number of digits of a number of ``--stability``."""


@command("mad", {})
def mad(run: Run) -> None:
    """Compare systems on the images on which they differ most (Wan et al. 2022).

    Systems answer for any number of images without references. For each pair of systems, the k
    images with the least similar answers are selected. Only these images are annotated, and the
    systems are ranked by the annotations.

    Examples
    --------
    semmetrics mad select -k 70 -o state.json --sheet sheet.csv a.json b.json c.json
    semmetrics mad rank -m CIDEr-D --references sheet.csv state.json
    semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json d.json
    """


# ---- selection --------------------------------------------------------------


@command(
    "mad select",
    {"systems": "FILE..."},
    api_function="select_discrepant",
    reads=KINDS,
    output=RESULT,
)
def mad_select(run: Run) -> None:
    """Select the images on which systems differ most.

    Each FILE has the answers of a system for the same images: captions, or labels (with -m
    SemF1, F1 or similar). The command writes the state and sheets for annotators. 'semmetrics mad
    rank' reads the filled sheets.

    Examples
    --------
    semmetrics mad select -o state.json --sheet sheet.csv a.json b.json c.json
    semmetrics mad select -k 20 -o state.json --rating-page rate.html a.json b.json
    semmetrics mad select -m SemF1 -o state.json a.json b.json
    """
    from semmetrics.studies.discrepancy import select_discrepant

    _select(run, select_discrepant, run.systems())


@command(
    "mad add",
    {"state": "STATE", "systems": "FILE..."},
    api_function="add_systems",
    reads=KINDS,
    output=RESULT,
)
def mad_add(run: Run) -> None:
    """Add systems to a competition, without comparing its pairs again.

    STATE is a file of 'semmetrics mad select'. Each FILE is a system. Name all systems of the
    competition, with the same names and answers as before, and the new ones. Sheets have only rows
    that are not in the sheets of STATE.

    Examples
    --------
    semmetrics mad add -o more.json --sheet new.csv state.json a.json b.json c.json
    """
    from semmetrics.studies.competition_state import DiscrepancySelection
    from semmetrics.studies.discrepancy import add_systems

    before = DiscrepancySelection.load(run["state"], max_bytes=run["max_bytes"])
    _select(run, add_systems, before, run.systems(), before=before)


@command(
    "mad replace",
    {"state": "STATE", "systems": "FILE..."},
    api_function="add_systems",
    reads=KINDS,
    output=RESULT,
)
def mad_replace(run: Run) -> None:
    """Replace images of a competition by the next images of their pairs.

    STATE is a file of 'semmetrics mad select' or 'add', and each FILE is a system with the same
    name and answers as before. Sheets have only rows that are not in the sheets of STATE.

    Examples
    --------
    semmetrics mad replace --exclude bad.txt -o more.json --sheet new.csv state.json a.json b.json
    """
    mad_add(run)


def _select(
    run: Run,
    select: Callable[..., Any],
    *arguments: Any,
    before: DiscrepancySelection | None = None,
) -> None:
    """Select images, and write the state, the sheets and a table.

    Parameters
    ----------
    run : Run
    select : callable
        A function of the API.
    arguments
        Its arguments.
    before : DiscrepancySelection, optional
        The earlier state, whose rows the new sheets leave out.
    """
    _check_pages(run)
    state = run.call(select, *arguments, exclude=run["exclude"] or ())
    sheets = dict(_write_sheets(run, state, before))
    _note_odd_pictures(run, list(state.images))
    form = run["form"]
    if run["output"] is None and form != "json":
        text = _render_selection(run, state, before)
        output.write_text(text, form=form, other_files=sheets)
        hint = "the selection is not saved. To save it, add -o state.json."
        output.report([hint], quiet=run.quiet)
        return
    output.write_text(state.to_json(), run["output"], "json", sheets)
    state_is_on_stdout = run["output"] in (None, "-")
    if not state_is_on_stdout:
        output.write_text(_render_selection(run, state, before), form=form)


def _check_pages(run: Run) -> None:
    """Raise an error, before a long computation, if ``--images`` has no page or folder."""
    page = run["page"] or run["rating_page"]
    if page:
        _find_addresses([], run["images"], Path(page).parent)
    elif run["images"] is not None:
        raise InputError("needs-option", what="--images", name="page")


def _render_selection(
    run: Run, state: DiscrepancySelection, before: DiscrepancySelection | None
) -> str:
    """Return the table of pairs in the format of ``--format``."""
    text = state.render(run["form"], **run.shape)
    if run["form"] != "table":
        return text
    return f"{text}\n\n{_summarize_selection(state, before)}"


def _summarize_selection(
    state: DiscrepancySelection, before: DiscrepancySelection | None
) -> str:
    """Return the number of images to annotate, and the settings of the selection."""
    text = f"{pluralize(len(state.images), 'image')} to annotate"
    if before:
        n_new = len(set(state.images) - set(before.images))
        text += f" ({n_new:,} of them new)"
    return f"{text}, of {state.n:,}; {state.measure}, k={state.k}, ties by {state.ties}"


# ---- sheets and pages -------------------------------------------------------


def _write_sheets(
    run: Run, state: DiscrepancySelection, before: DiscrepancySelection | None
) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of each sheet and page that an option names."""
    for is_for_ratings in (False, True):
        prefix = "rating_" if is_for_ratings else ""
        sheet_path = run[f"{prefix}sheet"]
        page_path = run[f"{prefix}page"]
        if sheet_path is None and page_path is None:
            continue
        sheet = state.sheet(
            ratings=is_for_ratings, annotators=run["annotators"], since=before
        )
        if sheet_path is not None:
            form = output.extension_of(sheet_path).removeprefix(".")
            yield sheet_path, getattr(sheet, f"to_{form}")()
        if page_path is not None:
            yield from _write_pages(run, sheet, Path(page_path))


def _write_pages(run: Run, sheet: Any, page: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of the page of each annotator.

    If there are several annotators, the names of their pages end in their numbers.
    """
    from semmetrics.studies.annotation_page import write_annotation_page

    annotators = list(dict.fromkeys(sheet.column("annotator")))
    images = list(dict.fromkeys(sheet.column("image_id")))
    for annotator in annotators:
        path = page
        if len(annotators) > 1:
            path = page.with_stem(f"{page.stem}-{annotator}")
        content = write_annotation_page(
            sheet,
            annotator=annotator,
            images=_find_addresses(images, run["images"], path.parent),
            title=f"Annotator {annotator}",
            scale=run["scale"],
            name=f"{path.stem}.csv",
        )
        yield str(path), content


def _open_pictures(images: str, folder: Path) -> Pictures:
    """Return the pictures of a folder, relative to the folder of a page or the working folder."""
    from semmetrics.reports.page import Pictures

    try:
        return Pictures(str(folder / images))
    except InputError:
        return Pictures(images)


def _is_web_address(images: str) -> bool:
    return re.match(r"[a-z]+:", images) is not None


def _note_odd_pictures(run: Run, ids: Sequence[str]) -> None:
    """Report pictures of annotation pages whose content does not match their extension."""
    images = run["images"]
    if images is None or _is_web_address(images):
        return
    from semmetrics.reports.page import is_picture

    page = run["page"] or run["rating_page"]
    pictures = _open_pictures(images, Path(page).parent)
    odd_ids = []
    for id_ in ids:
        path = pictures.find(id_)
        if path is not None and not is_picture(path):
            odd_ids.append(id_)
    if odd_ids:
        fact = Fact("odd-pictures", len(odd_ids), tuple(odd_ids))
        output.report(render_facts([fact]), quiet=run.quiet)


def _find_addresses(
    ids: Sequence[str], images: str | None, folder: Path
) -> Mapping[str, str] | str | None:
    """Return the addresses of pictures relative to the folder of a page.

    Parameters
    ----------
    ids : sequence of str
        The images of the page.
    images : str or None
        A folder of pictures or a path with ``{id}``, relative to the working folder or the page, or
        a web address, which is returned unchanged.
    folder : Path
        The folder of the page.

    Raises
    ------
    InputError
        If the folder does not exist, or has no picture of an image.
    """
    if images is None or _is_web_address(images):
        return images
    from urllib.parse import quote

    pictures = _open_pictures(images, folder)
    addresses: dict[str, str] = {}
    missing = []
    for id_ in ids:
        path = pictures.find(id_)
        if path is None:
            missing.append(id_)
        else:
            address = Path(os.path.relpath(path, folder)).as_posix()
            addresses[id_] = quote(address, errors="surrogateescape")
    if missing:
        raise InputError("missing-pictures", images, n=len(missing), names=missing)
    return addresses


# ---- inspection and ranking -------------------------------------------------


@command("mad inspect", {"files": "SHEET..."}, api_function="inspect_sheets")
def mad_inspect(run: Run) -> None:
    """Let inspectors vote on annotations, and keep those with a majority.

    For filled sheets of references, it writes a sheet of votes with a row for each reference and
    inspector. Inspectors write yes or no into the column keep. For the filled sheet of votes, it
    writes the references that more than half of the inspectors keep.

    Examples
    --------
    semmetrics mad inspect -o votes.csv sheet.csv
    semmetrics mad inspect -o kept.csv votes.csv
    semmetrics mad rank -m CIDEr-D --references kept.csv state.json
    """
    from semmetrics.studies.inspections import inspect_sheets

    read = run.values()["read"]
    sheet = inspect_sheets(list(run["files"]), inspectors=run["inspectors"], read=read)
    path = run["output"]
    summary = f"{path}: {pluralize(len(sheet), 'row')}"
    output.write_text(summary, other_files={path: sheet})


@command(
    "mad rank",
    {"state": "STATE"},
    api_function="rank_competition",
    reads=KINDS,
    output=DRAWN,
)
def mad_rank(run: Run) -> None:
    """Rank the systems of a competition by the filled sheets.

    STATE is a file of 'semmetrics mad select' or 'add'. Both systems of a pair are scored on the
    images of the pair. The ratio of their scores is the dominance of one over the other, and all
    dominances give the global rank (Wan et al. 2022, equation 7).

    Examples
    --------
    semmetrics mad rank -m CIDEr-D --references sheet.csv state.json
    semmetrics mad rank --ratings ratings.csv --stability 5:65:10 state.json
    """
    from semmetrics.studies.competition import rank_competition

    if run["ratings"] and run["measures"]:
        raise InputError("not-applicable", name="measures", what="ratings")
    ranking = run.call(
        rank_competition,
        run["state"],
        references=list(run["references"]) or None,
        ratings=list(run["ratings"]) or None,
        stability=_read_stability(run["stability"]),
    )
    pairs = {}
    if run["pairs_file"] is not None:
        pairs[run["pairs_file"]] = ranking.pair_records()
    run.write_text(run.render(ranking), pairs, result=ranking)
    if run["form"] == "csv" and run["stability"] is not None:
        # CSV has only one table, so the other one goes to standard error.
        records = ranking.stability_records()
        text = records.render("table", digits=run.shape["digits"])
        output.report(output.split_lines([text]), quiet=run.quiet)


def _read_stability(text: str | None) -> list[int]:
    """Return the numbers of a list of numbers and ranges, START:STOP or START:STOP:STEP.

    A range includes both ends.

    Examples
    --------
    >>> _read_stability("5,10:20:5")
    [5, 10, 15, 20]
    """
    if text is None:
        return []
    numbers: list[int] = []
    for part in text.split(","):
        range_of_part = _read_range(part)
        if range_of_part is None:
            wanted = "5,10,20 or 5:65:10"
            raise InputError("bad-option", name="stability", value=part, wanted=wanted)
        numbers += range_of_part
    return numbers


def _read_range(text: str) -> range | None:
    """Return the range that is written as N, START:STOP or START:STOP:STEP, or None."""
    numbers = []
    for digits in text.strip().split(":"):
        if not digits.isdecimal() or len(digits) > _MAX_DIGITS:
            return None
        numbers.append(int(digits))
    if len(numbers) > 3:
        return None
    start = numbers[0]
    stop = numbers[1] if len(numbers) > 1 else start
    step = numbers[2] if len(numbers) > 2 else 1
    if step == 0 or not 0 <= stop - start <= _MAX_RANGE:
        return None
    return range(start, stop + 1, step)
