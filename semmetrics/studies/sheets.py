"""Sheets of a competition: the page to annotate in, and filled sheets read back.

Conventions
-----------
A sheet is what ``DiscrepancySelection.sheet`` gives or the page to annotate in saves: CSV, TSV,
JSON or JSON lines with the columns "image_id", "annotator", the answer ("caption" or "label") and,
for ratings, "rating". Rows may be added, removed and reordered. A row whose answer or rating is
blank is not filled. Several ratings of an answer are averaged. A cell of labels holds one label a
line, or several between ``label_delimiter``; in JSON it may be a list.

The page is one HTML file with the images, fields to fill, and a button that saves. It contains its
styles and script and loads only the images. All names from users and files are escaped. The browser
keeps what was typed until it is saved, as CSV with the columns of the sheet.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

from semmetrics.data.dialect import find_delimiter
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.inputs import open_input
from semmetrics.data.lists import Lists
from semmetrics.data.objects import is_frame
from semmetrics.data.side_tables import TABLE_KINDS, read_rows
from semmetrics.data.source import load
from semmetrics.errors import FROM_0, Fact, InputError
from semmetrics.kinds.common import counted, named
from semmetrics.messages import printable
from semmetrics.reports import Records, csv_text, plain_text
from semmetrics.reports.page import fill_address, fill_page, has_place_of_id
from semmetrics.schema import as_answer, as_id, as_number
from semmetrics.scoring.evaluation import Evaluation, describe_inputs
from semmetrics.studies.competition_state import DiscrepancySelection, answer_text

_EMPTY = ("", "nan", "NaT", "<NA>")  # cells of frames
Row = tuple[str, Mapping[str, Any]]


def read_references(
    given: Any,
    state: DiscrepancySelection,
    setup: Evaluation,
    missing: str,
    notes: list[Fact],
    understood: list[str],
) -> dict[str, list[Any]]:
    """Return the references of the images selected, from filled sheets or any other references.

    Parameters
    ----------
    given : path, list of paths, or data
    state : DiscrepancySelection
    setup : Evaluation
        It reads the files that are not sheets.
    missing : {"error", "skip"}
        Whether rows of other images in a sheet are an error.
    notes, understood : list of str
        What is odd, and how each input was read, is added.

    Returns
    -------
    dict from image to list
        Images without a reference are not there.

    Raises
    ------
    InputError
        If a sheet is of other images.
    """
    wanted = set(state.images)
    found: dict[str, list[Any]] = {}
    read: ReadOptions = setup.options.read
    for one in _files(given):
        rows = _sheet_rows(one, state.noun, read)
        if rows is None:
            lists = setup.read_truth(open_input(one, read))
            understood += describe_inputs([lists])
            if not isinstance(lists, Lists):
                raise InputError(
                    "wrong-format",
                    lists.source,
                    what="references",
                    format="a matrix",
                    wanted="the references of each image",
                )
            for image, entries in zip(
                map(str, lists.ids), lists.to_list(), strict=True
            ):
                filled = [entry for entry in entries if entry and str(entry).strip()]
                if filled and image in wanted:
                    found.setdefault(image, []).extend(filled)
            others = sum(str(image) not in wanted for image in lists.ids)
            notes += counted("references-not-used", others)
            continue
        if rows and "rating" in rows[0][1]:  # its answers are those of the systems
            raise InputError(
                "not-a-sheet", _name_of(one), wanted="references", name="ratings"
            )
        keys = {(image,) for image in wanted}
        for (image,), where, row in _rows_of(keys, one, rows, state, missing, notes):
            if "keep" in row:
                raise InputError("votes", where)
            if entries := _entries_of(row, state.noun, where, read):
                found.setdefault(image, []).extend(entries)
    return found


def read_ratings(
    given: Any, state: DiscrepancySelection, read: Any, missing: str, notes: list[Fact]
) -> dict[tuple[str, str], float]:
    """Return the mean rating of what each system answers for each image.

    Parameters
    ----------
    given : path, list of paths, or rows
    state : DiscrepancySelection
    read : ReadOptions or None
    missing : {"error", "skip"}
        Whether rows of other images or answers are an error.
    notes : list of str
        What is odd is added.

    Returns
    -------
    dict from image and system to float
        What is not rated is not there.

    Raises
    ------
    InputError
        If a rating is no finite number, or a sheet is of other images or answers.
    """
    asked = {
        (image, system): (image, answer_text(answer))
        for image, answers in state.answers.items()
        for system, answer in answers.items()
    }
    values: dict[tuple[str, ...], list[float]] = {}
    for one in _files(given):
        rows = _sheet_rows(one, "rating", read or DEFAULTS)
        if rows is None:
            raise InputError(
                "not-a-sheet", _name_of(one), wanted="ratings", name="references"
            )
        keys = set(asked.values())
        for key, where, row in _rows_of(keys, one, rows, state, missing, notes):
            rating = row.get("rating")
            if rating is not None and str(rating).strip():
                values.setdefault(key, []).append(
                    as_number(rating, "the rating", where)
                )
    means = {key: math.fsum(some) / len(some) for key, some in values.items()}
    return {key: means[answer] for key, answer in asked.items() if answer in means}


def inspect_sheets(
    given: Any, *, inspectors: int = 3, read: ReadOptions = DEFAULTS
) -> Records:
    """Return the sheet on which inspectors vote, or, of one that is filled, what they keep.

    Parameters
    ----------
    given : path, list of paths, or rows
        Filled sheets of references: each annotation gets a row for each inspector, to be filled
        with yes or no in the column "keep". Sheets with that column: an annotation stays if more
        inspectors say yes than no.
    inspectors : int
    read : ReadOptions

    Returns
    -------
    Records
        The columns of the sheets; of votes to be given also "inspector" and "keep".

    Raises
    ------
    InputError
        If it is no such sheet, a vote is not yes or no, or an inspector votes twice.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.3: three inspectors, by majority.

    Examples
    --------
    >>> filled = [{"image_id": "1", "annotator": "1", "caption": "a dog"}]
    >>> votes = inspect_sheets(filled, inspectors=2)
    >>> votes[0]
    {'image_id': '1', 'annotator': '1', 'caption': 'a dog', 'inspector': '1', 'keep': ''}
    >>> list(inspect_sheets([{**row, "keep": "yes"} for row in votes])) == filled
    True
    """
    rows: list[tuple[str, Any]] = []
    for one in _files(given):
        either = [_sheet_rows(one, noun, read) for noun in ("caption", "label")]
        some = next((rows for rows in either if rows is not None), None)
        if some is None:
            raise InputError(
                "not-a-sheet", _name_of(one), wanted="references", name="references"
            )
        rows += some
    noun = "label" if any("label" in row for _, row in rows) else "caption"
    columns = ["image_id", "annotator", noun]
    voted = any("keep" in row or "inspector" in row for _, row in rows)
    asked: dict[str, dict[str, Any]] = {}
    votes: dict[str, dict[str, bool]] = {}
    for where, row in rows:
        if noun not in row:
            raise InputError("not-a-sheet", where, wanted=f"{noun}s", name="references")
        if entries := _entries_of(row, noun, where, read):
            kept = {**{name: row[name] for name in columns}, noun: "\n".join(entries)}
            asked[repr(kept)] = kept
            mine, inspector = (
                votes.setdefault(repr(kept), {}),
                str(row.get("inspector")),
            )
            if inspector in mine:
                who = (
                    f"inspector {inspector}"
                    if voted
                    else f"annotator {kept['annotator']}"
                )
                raise InputError("duplicate", where, role="the entry of", value=who)
            mine[inspector] = voted and as_answer(row.get("keep"), "keep", where)
    if not voted:
        blank = [{"inspector": str(n + 1), "keep": ""} for n in range(inspectors)]
        every = [{**kept, **one} for kept in asked.values() for one in blank]
        return Records.from_rows([*columns, "inspector", "keep"], every)
    chosen = (key for key, mine in votes.items() if 2 * sum(mine.values()) > len(mine))
    return Records.from_rows(columns, [asked[key] for key in chosen])


def _files(given: Any) -> Sequence[Any]:
    """Return each of several files; anything else as it is."""
    several = isinstance(given, (list, tuple)) and given
    return (
        given
        if several and all(isinstance(g, (str, os.PathLike)) for g in given)
        else [given]
    )


def _sheet_rows(data: Any, column: str, read: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet with their places; None where it is no sheet.

    Blank rows, as those below a spreadsheet's last, are left out.
    """
    needed, names = {"image_id", "annotator", column}, set[str]()
    rows: list[tuple[str, Any]] = []
    if isinstance(data, (str, os.PathLike)):
        source = load(data, read.max_bytes)
        if (source.suffix or "")[
            1:
        ] not in TABLE_KINDS and read.format not in TABLE_KINDS:
            return None
        kind = read.format or (source.suffix or "")[1:]
        if kind in ("csv", "tsv"):
            read = find_delimiter(source, read, kind)
        names, rows = read_rows(source, read, "sheets are")
        if names:  # of CSV, which has apostrophes before what looks like a formula
            rows = [
                (at, {k: plain_text(v) for k, v in row.items()}) for at, row in rows
            ]
    else:
        if is_frame(data) and hasattr(data, "columns"):
            data = (
                data.to_dicts()
                if hasattr(data, "to_dicts")
                else data.to_dict("records")
            )
        if isinstance(data, Iterable) and not isinstance(data, (Mapping, Lists)):
            rows = [(f"row {n}{FROM_0}", row) for n, row in enumerate(data)]
    if not all(isinstance(row, Mapping) for _, row in rows):
        return None
    # a sheet without rows is one, too
    if not needed <= ({*rows[0][1]} if rows else names):
        return None
    return [
        row
        for row in rows
        if any(
            value is not None and str(value).strip() not in _EMPTY
            for value in row[1].values()
        )
    ]


def _text_of(row: Mapping[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if value is None or value != value:  # an empty cell of a frame
        return ""
    if not isinstance(value, str):
        raise InputError("wrong-type", where, value=value, wanted="text")
    return value


def _entries_of(
    row: Mapping[str, Any], noun: str, where: str, read: ReadOptions
) -> list[str]:
    """Return what stands in a cell that is not blank: a caption, or labels."""
    value = row.get(noun)
    if noun != "label":
        texts = [_text_of(row, noun, where)]
        return [text for text in texts if text.strip()]
    cells = value if isinstance(value, (list, tuple)) else [value]
    lines = [
        line
        for cell in cells
        for line in _text_of({noun: cell}, noun, where).splitlines()
    ]
    split = read.label_delimiter
    parts = [
        part for line in lines for part in (line.split(split) if split else [line])
    ]
    return [part.strip() for part in parts if part.strip()]


def _name_of(data: Any) -> str:
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else "the sheet"


def _rows_of(
    wanted: Set[tuple[str, ...]],
    data: Any,
    rows: Iterable[Row],
    state: DiscrepancySelection,
    missing: str,
    notes: list[Fact],
) -> Iterator[tuple[tuple[str, ...], str, Mapping[str, Any]]]:
    """Yield the rows of images, or of images and answers; refuse others, or count them."""
    written = {tuple(map(printable, key)): key for key in wanted}
    noun = "image" if all(len(key) == 1 for key in wanted) else "answer"
    foreign: dict[str, None] = {}
    for where, row in rows:
        key: tuple[str, ...] = (as_id(row.get("image_id"), where=where),)
        if noun == "answer":
            key = (*key, _text_of(row, state.noun, where))
        key = written.get(key, key)
        if key in wanted:
            yield key, where, row
        elif key[0] not in state.excluded:  # it was filled before it was taken out
            foreign[": ".join(key)] = None
    if foreign and missing == "error":
        raise InputError(
            "foreign-rows", _name_of(data), noun=noun, examples=tuple(foreign)
        )
    notes += named("foreign-rows-ignored", foreign, _name_of(data), noun=noun)


def write_annotation_page(
    sheet: Records,
    *,
    annotator: str | None = None,
    images: str | Mapping[str, str] | None = None,
    title: str = "Annotation",
    scale: int = 5,
    name: str = "annotations.csv",
) -> str:
    """Write the page in which a sheet is filled.

    Parameters
    ----------
    sheet : Records
        What ``DiscrepancySelection.sheet`` gives.
    annotator : str, optional
        Whose rows the page has; left out, those of all.
    images : str or mapping from id to str, optional
        Where images are: an address or a path with ``{id}`` in it, such as "images/{id}.jpg" or
        "images/{id:012d}.jpg" (ids with leading zeros), or
        the address of each image. Without it only ids are shown.
    title : str
    scale : int
        Ratings are whole numbers from 1 to this.
    name : str
        What the file that the page saves is called.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If the records are no sheet, or ``images`` has no ``{id}``.

    Examples
    --------
    >>> sheet = Records({"image_id": ["7"], "annotator": ["1"], "caption": [""]})
    >>> '<img src="images/7.jpg"' in write_annotation_page(sheet, images="images/{id}.jpg")
    True
    """
    if isinstance(images, str) and not has_place_of_id(images):
        raise InputError(
            "bad-option", name="images", value=images, wanted="an address with {id}"
        )
    columns = list(sheet.columns)
    if columns[:2] != ["image_id", "annotator"] or len(columns) != 3 + (
        columns[-1] == "rating"
    ):
        raise InputError(
            "bad-option",
            name="sheet",
            value=columns,
            wanted="what DiscrepancySelection.sheet gives",
        )
    rows = [
        [str(row[column]) for column in columns[:-1]]
        for row in sheet
        if annotator in (None, row["annotator"])
    ]
    cells = [list(map(csv_text, row)) for row in rows]
    kept: dict[str, Any] = {"columns": columns, "rows": cells, "name": name}
    text = json.dumps(kept, ensure_ascii=True)
    kept["digest"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    # nothing in the data may end the script that holds it
    data = (
        json.dumps(kept, ensure_ascii=True)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
    )
    head = (
        f'<header><strong>{escape(title)}</strong> <span id="count"></span> '
        '<button id="save" type="button">Save as CSV</button></header>'
    )
    body = "\n".join(
        [head, _question(columns[-2:], scale), *_sections(rows, columns, images, scale)]
    )
    data = f'<script type="application/json" id="sheet">{data}</script>\n'
    return fill_page(title, body, "annotation", images="* data: file:", data=data)


def _question(columns: Sequence[str], scale: int) -> str:
    """Return what a page asks for: the rating of an answer, or a reference of an image."""
    answer, asked = columns
    if asked == "rating":
        what = "caption" if answer == "caption" else "list of labels"
        text = (
            f"How well does each {what} describe its image? "
            f"1: it does not describe the image. {scale}: it describes the image fully and "
            f"correctly."
        )
    elif asked == "label":
        text = "Which things does each image show? Write one label per line."
    else:
        text = "What does each image show? Describe it in one sentence."
    return f"<p>{text}</p>"


def _address(image: str, images: str | Mapping[str, str]) -> str:
    """Return the address of a picture."""
    if isinstance(images, str):
        return fill_address(
            images, image, lambda id_: quote(id_, safe="", errors="replace")
        )
    return images[image]


def _sections(
    rows: list[list[str]],
    columns: list[str],
    images: str | Mapping[str, str] | None,
    scale: int,
) -> Iterator[str]:
    """Yield one section per image, with a field for each of its rows."""
    for image, of_image in groupby(enumerate(rows), key=lambda pair: pair[1][0]):
        picture = ""
        if images is not None:
            address = escape(_address(image, images))
            picture = f'<img src="{address}" alt="{escape(image)}" loading="lazy">'
        fields = [_field(place, row, columns[-1], scale) for place, row in of_image]
        lines = "\n".join(fields)
        yield f"<section>\n<h2>{escape(image)}</h2>\n{picture}\n{lines}\n</section>"


def _field(place: int, row: list[str], asked: str, scale: int) -> str:
    """Return the field of a row: a box for text, or the choices of a rating."""
    annotator = f"annotator {escape(row[1])}"
    if asked != "rating":
        hint = 'placeholder="one label per line" ' if asked == "label" else ""
        return (
            f'<p><textarea rows="2" data-row="{place}" {hint}'
            f'aria-label="{annotator}"></textarea></p>'
        )
    choices = []
    for value in range(1, scale + 1):
        meaning = {1: " (not at all)", scale: " (fully)"}.get(value, "")
        choices.append(
            f'<label><input type="radio" name="row{place}" data-row="{place}" '
            f'value="{value}"> {value}{meaning}</label>'
        )
    return f"<p>{escape(row[2])} ({annotator})<br>{''.join(choices)}</p>"
