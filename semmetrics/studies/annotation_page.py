"""The page on which annotators fill a sheet.

Conventions
-----------
The page is a single HTML file with the images, input fields, and a button that saves
the sheet. It contains its styles and its script, and loads only the images. All names
from users and files are escaped. The browser stores all input until it is saved, as CSV
with the columns of the sheet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

from semmetrics.errors import InputError
from semmetrics.reports import Records, csv_text
from semmetrics.reports.page import fill_address, fill_page, has_place_of_id


def write_annotation_page(
    sheet: Records,
    *,
    annotator: str | None = None,
    images: str | Mapping[str, str] | None = None,
    title: str = "Annotation",
    scale: int = 5,
    name: str = "annotations.csv",
) -> str:
    """Return the page on which a sheet is filled.

    Parameters
    ----------
    sheet : Records
        The result of ``DiscrepancySelection.sheet``.
    annotator : str, optional
        Whose rows to show. Default: the rows of all annotators.
    images : str or mapping from id to str, optional
        Where images are: an address or a path that contains ``{id}``, such as
        "images/{id}.jpg" or "images/{id:012d}.jpg" (ids with leading zeros), or the
        address of each image. Default: show only ids.
    title : str
    scale : int
        Ratings are integers from 1 to this number.
    name : str
        The name of the file that the page saves.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If the records are not a sheet, or ``images`` does not contain ``{id}``.

    Examples
    --------
    >>> sheet = Records({"image_id": ["7"], "annotator": ["1"], "caption": [""]})
    >>> page = write_annotation_page(sheet, images="images/{id}.jpg")
    >>> '<img src="images/7.jpg"' in page
    True
    """
    if isinstance(images, str) and not has_place_of_id(images):
        raise InputError(
            "bad-option", name="images", value=images, wanted="an address with {id}"
        )
    columns = list(sheet.columns)
    if not _is_sheet(columns):
        raise InputError(
            "bad-option",
            name="sheet",
            value=columns,
            wanted="the output of DiscrepancySelection.sheet",
        )
    rows = []
    for row in sheet:
        if annotator in (None, row["annotator"]):
            rows.append([str(row[column]) for column in columns[:-1]])
    header = (
        f'<header><strong>{escape(title)}</strong> <span id="count"></span> '
        '<button id="save" type="button">Save as CSV</button></header>'
    )
    question = _ask_question(columns, scale)
    sections = _draw_sections(rows, columns, images, scale)
    body = "\n".join([header, question, *sections])
    data = _embed_sheet(rows, columns, name)
    # Images may come from any address, unlike everything else.
    return fill_page(title, body, "annotation", images="* data: file:", data=data)


def _is_sheet(columns: Sequence[str]) -> bool:
    """Return whether a sheet of references or ratings has these columns."""
    n_columns = 3
    if columns[-1:] == ["rating"]:
        n_columns = 4
    return columns[:2] == ["image_id", "annotator"] and len(columns) == n_columns


def _embed_sheet(
    rows: Sequence[Sequence[str]], columns: Sequence[str], name: str
) -> str:
    """Return the element with the rows of the sheet, for the script of the page."""
    cells = [list(map(csv_text, row)) for row in rows]
    content: dict[str, Any] = {"columns": columns, "rows": cells, "name": name}
    text = json.dumps(content, ensure_ascii=True)
    content["digest"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    data = json.dumps(content, ensure_ascii=True)
    # Nothing in the data may end the script element.
    data = data.replace("<", "\\u003c").replace(">", "\\u003e")
    return f'<script type="application/json" id="sheet">{data}</script>\n'


def _ask_question(columns: Sequence[str], scale: int) -> str:
    """Return the question to annotators, who fill the last column of the sheet."""
    filled_column = columns[-1]
    if filled_column == "rating":
        noun = "list of labels"
        if "caption" in columns:
            noun = "caption"
        text = (
            f"How well does each {noun} describe its image? "
            f"1: it does not describe the image. {scale}: it describes the image fully "
            f"and correctly."
        )
    elif filled_column == "label":
        text = "Which things does each image show? Write one label per line."
    else:
        text = "What does each image show? Describe it in one sentence."
    return f"<p>{text}</p>"


def _draw_sections(
    rows: Sequence[Sequence[str]],
    columns: Sequence[str],
    images: str | Mapping[str, str] | None,
    scale: int,
) -> Iterator[str]:
    """Yield one section per image, with an input field for each of its rows."""
    numbered_rows = enumerate(rows)
    for image, rows_of_image in groupby(numbered_rows, key=lambda pair: pair[1][0]):
        picture = ""
        if images is not None:
            address = escape(_find_address(image, images))
            picture = f'<img src="{address}" alt="{escape(image)}" loading="lazy">'
        fields = []
        for number, row in rows_of_image:
            fields.append(_draw_field(number, row, columns[-1], scale))
        lines = "\n".join(fields)
        yield f"<section>\n<h2>{escape(image)}</h2>\n{picture}\n{lines}\n</section>"


def _find_address(image: str, images: str | Mapping[str, str]) -> str:
    """Return the address of an image."""
    if isinstance(images, str):
        return fill_address(images, image, _quote)
    return images[image]


def _quote(image: str) -> str:
    return quote(image, safe="", errors="replace")


def _draw_field(number: int, row: Sequence[str], column: str, scale: int) -> str:
    """Return the input field of a row: a text box, or the choices of a rating."""
    annotator = f"annotator {escape(row[1])}"
    if column != "rating":
        hint = ""
        if column == "label":
            hint = 'placeholder="one label per line" '
        return (
            f'<p><textarea rows="2" data-row="{number}" {hint}'
            f'aria-label="{annotator}"></textarea></p>'
        )
    meanings = {1: " (not at all)", scale: " (fully)"}
    choices = []
    for value in range(1, scale + 1):
        meaning = meanings.get(value, "")
        choices.append(
            f'<label><input type="radio" name="row{number}" data-row="{number}" '
            f'value="{value}"> {value}{meaning}</label>'
        )
    return f"<p>{escape(row[2])} ({annotator})<br>{''.join(choices)}</p>"
