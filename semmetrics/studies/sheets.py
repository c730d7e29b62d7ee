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
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.inputs import format_among, open_input
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.lists import Lists
from semmetrics.data.objects import is_frame
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, field_limit
from semmetrics.errors import EXAMPLES, FROM_0, Fact, InputError, at
from semmetrics.reports.result import Records, csv_text
from semmetrics.schema import as_id, as_number
from semmetrics.scoring.plan import Setup, describe_inputs
from semmetrics.studies.discrepancy import DiscrepancySelection, answer_text

_KINDS = ("csv", "tsv", "json", "jsonl")
_SUFFIXES = tuple(f".{kind}" for kind in _KINDS)
_EMPTY = ("", "nan", "NaT", "<NA>")  # cells of frames
Row = tuple[str, Mapping[str, Any]]


def read_references(
    given: Any,
    state: DiscrepancySelection,
    setup: Setup,
    missing: str,
    notes: list[Fact],
    understood: list[str],
) -> dict[str, list[Any]]:
    """Return the references of the images selected, from filled sheets or any other references.

    Parameters
    ----------
    given : path, list of paths, or data
    state : DiscrepancySelection
    setup : Setup
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
    written = {csv_text(image): image for image in wanted}
    found: dict[str, list[Any]] = {}
    read: ReadOptions = setup.options["read"] or DEFAULTS
    for one in _each_file(given):
        rows = _filled_rows(one, state.noun, read)
        if rows is None:
            others = 0
            for image, entries in _lists_of(one, setup, understood):
                filled = [entry for entry in entries if entry and str(entry).strip()]
                others += image not in wanted
                if filled and image in wanted:
                    found.setdefault(image, []).extend(filled)
            if others:
                notes.append(Fact("references-not-used", others))
            continue
        if rows and "rating" in rows[0][1]:  # its answers are those of the systems
            raise InputError("not-a-sheet", _name_of(one), wanted="references", name="ratings")
        foreign: dict[str, None] = {}
        for where, row in rows:
            image = as_id(row.get("image_id"), where=where)
            entries = _entries_of(row, state.noun, where, read)
            image = written.get(image, image)
            if image not in wanted:
                foreign[image] = None
            elif entries:
                found.setdefault(image, []).extend(entries)
        _check_foreign(foreign, "image", one, missing, notes)
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
    wanted = {
        (image, answer_text(answer))
        for image, answers in state.answers.items()
        for answer in answers.values()
    }
    written = {(csv_text(image), csv_text(answer)): (image, answer) for image, answer in wanted}
    values: dict[tuple[str, str], list[float]] = {}
    for one in _each_file(given):
        rows = _filled_rows(one, "rating", read or DEFAULTS)
        if rows is None:
            raise InputError("not-a-sheet", _name_of(one), wanted="ratings", name="references")
        foreign: dict[str, None] = {}
        for where, row in rows:
            image = as_id(row.get("image_id"), where=where)
            answer = _text_of(row, state.noun, where)
            image, answer = written.get((image, answer), (image, answer))
            rating = row.get("rating")
            if (image, answer) not in wanted:
                foreign[f"{image}: {answer}"] = None
            elif rating is not None and str(rating).strip():
                values.setdefault((image, answer), []).append(
                    as_number(rating, "the rating", where)
                )
        _check_foreign(foreign, "answer", one, missing, notes)
    means = {key: math.fsum(some) / len(some) for key, some in values.items()}
    return {
        (image, system): means[image, answer_text(answer)]
        for image, answers in state.answers.items()
        for system, answer in answers.items()
        if (image, answer_text(answer)) in means
    }


def _each_file(given: Any) -> Iterator[Any]:
    """Yield each of several files, opened; anything else as it is."""
    several = isinstance(given, (list, tuple)) and given
    paths = given if several and all(isinstance(g, (str, os.PathLike)) for g in given) else [given]
    return iter(paths)


def _filled_rows(data: Any, column: str, read: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet that are not blank, as those below a spreadsheet's last."""
    rows = _sheet_of(data, column, read)
    return rows and [
        row for row in rows
        if any(v is not None and str(v).strip() not in _EMPTY for v in row[1].values())
    ]  # fmt: skip


def _sheet_of(data: Any, column: str, read: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet with their places; None where it is none."""
    needed = {"image_id", "annotator", column}
    rows: list[tuple[str, Any]] = []
    if isinstance(data, (str, os.PathLike)):
        source = load(data, read.max_bytes)
        if source.suffix not in _SUFFIXES and read.format not in _KINDS:
            return None
        names, rows = _rows_of(source, read)
        if not rows:  # a sheet without rows is one, too
            return rows if needed <= names else None
    elif is_frame(data) and hasattr(data, "columns"):
        found = data.to_dicts() if hasattr(data, "to_dicts") else data.to_dict("records")
        rows = [(f"row {n}{FROM_0}", row) for n, row in enumerate(found)]
    elif isinstance(data, Iterable) and not isinstance(data, (Mapping, Lists)):
        rows = [(f"row {n}{FROM_0}", row) for n, row in enumerate(data)]
    if not rows or not all(isinstance(row, Mapping) for _, row in rows):
        return None
    return rows if needed <= {*rows[0][1]} else None


def _rows_of(source: Source, read: ReadOptions) -> tuple[set[str], list[tuple[str, Any]]]:
    """Return the names of columns, where there is a header, and the rows with their places."""
    kind = format_among(source, read, "sheets are", _KINDS, told=True)
    with enough_memory(source.name, read.max_bytes):
        if kind in ("csv", "tsv"):
            with field_limit(read.max_line_bytes):
                rows = Rows(source, read, tabs=kind == "tsv")
                return set(rows.header), [
                    (at(source.name, f"line {line}"), dict(zip(rows.header, row, strict=True)))
                    for line, row in rows
                ]
        if kind == "jsonl":
            return set(), [(at(source.name, f"line {n}"), v) for n, v in json_lines(source, [])]
        values = parse_source(source)
        listed = values if isinstance(values, list) else []
        return set(), [(at(source.name, f"element [{n}]"), v) for n, v in enumerate(listed)]


def _lists_of(data: Any, setup: Setup, understood: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield what is not a sheet, image by image."""
    lists = setup.read_truth(open_input(data, setup.options["read"] or DEFAULTS))
    understood += describe_inputs([lists])
    if not isinstance(lists, Lists):
        raise InputError("wrong-format", lists.source, what="references", format="a matrix",
                         wanted="the references of each image")  # fmt: skip
    return zip(map(str, lists.ids), lists.to_list(), strict=True)


def _text_of(row: Mapping[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if value is None or value != value:  # an empty cell of a frame
        return ""
    if not isinstance(value, str):
        raise InputError("wrong-type", where, value=value, wanted="text")
    return value


def _entries_of(row: Mapping[str, Any], noun: str, where: str, read: ReadOptions) -> list[str]:
    """Return what stands in a cell that is not blank: a caption, or labels."""
    value = row.get(noun)
    if noun != "label":
        texts = [_text_of(row, noun, where)]
        return [text for text in texts if text.strip()]
    cells = value if isinstance(value, (list, tuple)) else [value]
    lines = [line for cell in cells for line in _text_of({noun: cell}, noun, where).splitlines()]
    if split := read.label_delimiter:
        lines = [part for line in lines for part in line.split(split)]
    return [line.strip() for line in lines if line.strip()]


def _name_of(data: Any) -> str:
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else "the sheet"


def _check_foreign(
    foreign: Mapping[str, None], noun: str, data: Any, missing: str, notes: list[Fact]
) -> None:
    """Refuse rows of other images or answers, or count them."""
    if not foreign:
        return
    name, some = _name_of(data), tuple(foreign)
    if missing == "error":
        raise InputError("foreign-rows", name, noun=noun, examples=some)
    notes.append(Fact("foreign-rows-ignored", len(some), some[:EXAMPLES], name, {"noun": noun}))


_SCALE = 100  # at most
_STYLE = """
body { font-family: sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; line-height: 1.4 }
header { position: sticky; top: 0; background: Canvas; padding: .5rem 0 }
section { border-top: 1px solid GrayText; padding: 1rem 0 }
img { max-width: 100%; max-height: 26rem; display: block; margin-bottom: .5rem }
textarea { width: 100%; box-sizing: border-box; font: inherit }
label { margin-right: 1rem; white-space: nowrap }
"""
_SCRIPT = """
const sheet = JSON.parse(document.getElementById("sheet").textContent);
const fields = [...document.querySelectorAll("[data-row]")];
const value = row => {
  const mine = fields.filter(field => field.dataset.row === String(row));
  if (mine[0].type !== "radio") return mine[0].value;
  const chosen = mine.find(field => field.checked);
  return chosen ? chosen.value : "";
};
const key = "semmetrics " + sheet.digest;
const count = () => {
  const filled = sheet.rows.filter((_, row) => value(row).trim()).length;
  document.getElementById("count").textContent = filled + " of " + sheet.rows.length + " filled";
};
const keep = () => {
  try { localStorage.setItem(key, JSON.stringify(sheet.rows.map((_, row) => value(row)))); }
  catch (error) { /* a browser may keep nothing of local files */ }
  count();
};
try {
  (JSON.parse(localStorage.getItem(key)) || []).forEach((text, row) => {
    fields.filter(field => field.dataset.row === String(row)).forEach(field => {
      if (field.type === "radio") field.checked = field.value === text;
      else field.value = text;
    });
  });
} catch (error) { /* nothing was kept */ }
const cell = text => /[",\\r\\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
document.getElementById("save").addEventListener("click", () => {
  const rows = sheet.rows.map((row, place) => [...row, value(place)]);
  const lines = [sheet.columns, ...rows].map(row => row.map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], {type: "text/csv"}));
  link.download = sheet.name;
  link.click();
  URL.revokeObjectURL(link.href);
});
document.addEventListener("input", keep);
count();
"""


def write_annotation_page(
    sheet: Records,
    *,
    images: str | None = None,
    title: str = "Annotation",
    scale: int = 5,
    name: str = "annotations.csv",
) -> str:
    """Write the page in which a sheet is filled.

    Parameters
    ----------
    sheet : Records
        What ``DiscrepancySelection.sheet`` gives.
    images : str, optional
        Where images are: an address or a path with ``{id}`` in it, such as "images/{id}.jpg".
        Without it, ids alone are shown.
    title : str
    scale : int
        Ratings are whole numbers from 1 to this, at most 100.
    name : str
        What the file that the page saves is called.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InputError
        If the records are no sheet, ``images`` has no ``{id}``, or the scale is not 2 to 100.

    Examples
    --------
    >>> sheet = Records({"image_id": ["7"], "annotator": ["1"], "caption": [""]})
    >>> '<img src="images/7.jpg"' in write_annotation_page(sheet, images="images/{id}.jpg")
    True
    """
    if images is not None and "{id}" not in images:
        raise InputError("bad-option", name="images", value=images, wanted="an address with {id}")
    if not 2 <= scale <= _SCALE:
        raise InputError("bad-option", name="scale", value=scale, wanted=f"2 to {_SCALE}")
    columns = list(sheet.columns)
    if columns[:2] != ["image_id", "annotator"] or len(columns) != 3 + (columns[-1] == "rating"):
        raise InputError("bad-option", name="sheet", value=columns,
                         wanted="what DiscrepancySelection.sheet gives")  # fmt: skip
    rows = [[str(row[column]) for column in columns[:-1]] for row in sheet]
    cells = [list(map(csv_text, row)) for row in rows]
    kept: dict[str, Any] = {"columns": columns, "rows": cells, "name": name}
    text = json.dumps(kept, ensure_ascii=True)
    kept["digest"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    # nothing in the data may end the script that holds it
    data = json.dumps(kept, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e")
    body = "\n".join(_sections(rows, columns, images, scale))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><strong>{escape(title)}</strong> <span id="count"></span> '
        f'<button id="save" type="button">Save as CSV</button></header>\n{body}\n'
        f'<script type="application/json" id="sheet">{data}</script>\n'
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _sections(
    rows: list[list[str]], columns: list[str], images: str | None, scale: int
) -> Iterator[str]:
    """Yield one section an image, with a field for each of its rows."""
    numbered = list(enumerate(rows))
    for image, some in groupby(numbered, key=lambda pair: pair[1][0]):
        picture = ""
        if images is not None:
            place = escape(
                images.replace("{id}", quote(image, safe="", errors="replace")), quote=True
            )
            picture = f'<img src="{place}" alt="{escape(image, quote=True)}" loading="lazy">'
        fields = "\n".join(
            _rating(number, row, scale)
            if columns[-1] == "rating"
            else _text(number, row, columns[-1])
            for number, row in some
        )
        yield f"<section>\n<h2>{escape(image)}</h2>\n{picture}\n{fields}\n</section>"


def _text(number: int, row: list[str], noun: str) -> str:
    hint = 'placeholder="one label a line" ' if noun == "label" else ""
    return (
        f'<p><textarea rows="2" data-row="{number}" {hint}'
        f'aria-label="annotator {escape(row[1], quote=True)}"></textarea></p>'
    )


def _rating(number: int, row: list[str], scale: int) -> str:
    choices = "".join(
        f'<label><input type="radio" name="row{number}" data-row="{number}" value="{value}"> '
        f"{value}</label>"
        for value in range(1, scale + 1)
    )
    return f"<p>{escape(row[2])} (annotator {escape(row[1])})<br>{choices}</p>"
