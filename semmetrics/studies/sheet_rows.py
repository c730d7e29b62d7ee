"""Rows of annotation sheets, read from files, frames or objects.

Conventions
-----------
A sheet is what ``DiscrepancySelection.sheet`` returns or the annotation page saves:
CSV, TSV, JSON or JSON lines with the columns "image_id", "annotator", the answer
("caption" or "label") and, for ratings, "rating". Rows may be added, removed and
reordered. A row with an empty answer or rating is not filled. A cell of labels contains
one label per line, or several separated by ``label_delimiter``. In JSON it may be a
list.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from semmetrics.data.dialect import find_delimiter
from semmetrics.data.frames import is_frame
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.side_tables import TABLE_FORMATS, read_rows
from semmetrics.data.source import load
from semmetrics.errors import FROM_0, InputError
from semmetrics.reports import plain_text

Row: TypeAlias = tuple[str, Mapping[str, Any]]
"""Where a row is, for messages, and its cells by column."""

_EMPTY_CELLS = ("", "nan", "NaT", "<NA>")
"""How frames write empty cells."""


def list_files(data: Any) -> Sequence[Any]:
    """Return the paths of a list or tuple of paths. Other data are a single file."""
    if isinstance(data, (list, tuple)) and data and all(map(_is_path, data)):
        return data
    return [data]


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def name_of_sheet(data: Any) -> str:
    """Return what messages call a sheet."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    return "the sheet"


def read_sheet(data: Any, column: str, options: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet, or None if the data are not a sheet with a column.

    Empty rows are left out, such as those below the last row of a spreadsheet.
    """
    header: set[str] = set()
    if _is_path(data):
        table = _read_table(data, options)
        if table is None:
            return None
        header, rows = table
    else:
        rows = _list_rows(data)
    if not all(isinstance(row, Mapping) for _, row in rows):
        return None
    columns = header  # A sheet may have a header and no rows.
    if rows:
        _, first_row = rows[0]
        columns = set(first_row)
    if not columns.issuperset({"image_id", "annotator", column}):
        return None
    return [(where, row) for where, row in rows if _has_content(row)]


def _read_table(
    path: Any, options: ReadOptions
) -> tuple[set[str], list[tuple[str, Any]]] | None:
    """Return the header and the rows of a file, or None if it is not a table.

    Only CSV and TSV have a header.
    """
    source = load(path, options.max_bytes)
    extension = (source.suffix or "")[1:]
    if extension not in TABLE_FORMATS and options.format not in TABLE_FORMATS:
        return None
    kind = options.format or extension
    if kind in ("csv", "tsv"):
        options = find_delimiter(source, options, kind)
    header, rows = read_rows(source, options, "sheets are")
    if not header:
        return header, rows
    # In CSV, cells that look like formulas are preceded by an apostrophe.
    plain_rows = []
    for where, row in rows:
        plain_row = {name: plain_text(value) for name, value in row.items()}
        plain_rows.append((where, plain_row))
    return header, plain_rows


def _list_rows(data: Any) -> list[tuple[str, Any]]:
    """Return the rows of a frame or an iterable. Other data have no rows."""
    if is_frame(data) and hasattr(data, "columns"):
        data = _frame_rows(data)
    if not isinstance(data, Iterable) or isinstance(data, (Mapping, Lists)):
        return []
    return [(f"row {number}{FROM_0}", row) for number, row in enumerate(data)]


def _frame_rows(frame: Any) -> Any:
    """Return the rows of a frame of polars or pandas."""
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    return frame.to_dict("records")


def _has_content(row: Mapping[str, Any]) -> bool:
    """Return whether any cell of a row is not empty."""
    for value in row.values():
        if value is not None and str(value).strip() not in _EMPTY_CELLS:
            return True
    return False


def read_text(row: Mapping[str, Any], column: str, where: str) -> str:
    """Return the text of a cell, "" if it is empty."""
    return _as_text(row.get(column), where)


def _as_text(value: Any, where: str) -> str:
    is_nan = value != value  # as in an empty cell of a frame
    if value is None or is_nan:
        return ""
    if not isinstance(value, str):
        raise InputError("wrong-type", where, value=value, wanted="a string")
    return value


def read_entries(
    row: Mapping[str, Any], noun: str, where: str, options: ReadOptions
) -> list[str]:
    """Return the caption or the labels of a row. Empty if the row is not filled.

    Parameters
    ----------
    row : mapping from column to cell
    noun : {"caption", "label"}
        The column of the answer.
    where : str
        The place of the row, for messages.
    options : ReadOptions
    """
    if noun == "label":
        return _read_labels(row.get(noun), where, options)
    text = read_text(row, noun, where)
    if not text.strip():
        return []
    return [text]


def _read_labels(value: Any, where: str, options: ReadOptions) -> list[str]:
    """Return the labels of a cell, without surrounding spaces."""
    cells = [value]
    if isinstance(value, (list, tuple)):
        cells = list(value)
    parts = []
    for cell in cells:
        for line in _as_text(cell, where).splitlines():
            if options.label_delimiter:
                parts += line.split(options.label_delimiter)
            else:
                parts.append(line)
    return [part.strip() for part in parts if part.strip()]
