"""A page to annotate in: one HTML file with the images, fields to fill, and a button that saves.

Conventions
-----------
The page has its styles and its script in itself and loads nothing but the images, from where they
are said to be. Everything that a user or a file named is escaped. What was typed is kept by the
browser until it is saved, as CSV with the columns of the sheet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import quote

from semmetrics.arguments import checked
from semmetrics.errors import InputError
from semmetrics.messages import listing
from semmetrics.reports.records import Records, csv_text

__all__ = ["write_annotation_page"]

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


@checked
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
        raise InputError(f"images={images!r} names no image", remedy="write {id} for the id")
    if not 2 <= scale <= _SCALE:
        raise InputError(f"scale={scale}", remedy=f"give 2 to {_SCALE}")
    columns = list(sheet.columns)
    if columns[:2] != ["image_id", "annotator"] or len(columns) != 3 + (columns[-1] == "rating"):
        raise InputError(f"the records have the columns {listing(columns)}, and are no sheet",
                         remedy="give what DiscrepancySelection.sheet gives")  # fmt: skip
    rows = [[str(row[column]) for column in columns[:-1]] for row in sheet]
    cells = [list(map(csv_text, row)) for row in rows]
    kept: dict[str, Any] = {"columns": columns, "rows": cells, "name": name}
    kept["digest"] = _digest(kept)
    body = "\n".join(_sections(rows, columns, images, scale))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><strong>{escape(title)}</strong> <span id="count"></span> '
        f'<button id="save" type="button">Save as CSV</button></header>\n{body}\n'
        f'<script type="application/json" id="sheet">{_in_script(kept)}</script>\n'
        f"<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _digest(kept: dict[str, Any]) -> str:
    import hashlib

    text = json.dumps(kept, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _in_script(value: Any) -> str:
    """Write JSON so that nothing in it ends the script that holds it."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e")


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
