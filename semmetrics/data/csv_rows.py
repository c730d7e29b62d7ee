"""Read the rows of CSV and TSV files, checked for errors that shift cells or join rows."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from semmetrics.data.item_rows import without_blanks
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import Fact, InputError, format_place

_MAX_ROWS_PER_BATCH = 2**14
_MAX_CELLS_PER_BATCH = 2**20
_MAX_FIELD_SIZE = 2**31 - 1  # The largest limit that the csv module accepts everywhere.
_LOCK = threading.Lock()
_LETTER = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d+")


@contextmanager
def field_limit(limit: int) -> Iterator[None]:
    """Raise the csv module's limit for the length of a cell, and restore it at the end.

    The limit belongs to the process, so only one thread at a time can be in this context.
    """
    with _LOCK:
        previous_limit = csv.field_size_limit(min(limit, _MAX_FIELD_SIZE))
        try:
            yield
        finally:
            csv.field_size_limit(previous_limit)


class Rows:
    """The rows of a CSV or TSV file below its header, all as wide as the header.

    Iterating yields the number of the first line and the cells of each row. Iterate within the
    context of `field_limit`.

    Attributes
    ----------
    name : str
        The name of the file in messages.
    header : list of str
    notes : list of Fact
        A note on blank lines between rows, if there are any. It is added after the last row.

    Raises
    ------
    InputError
        If the header is empty, a line is too long, the text is not CSV, a row has more or fewer
        cells than the header, or a cell seems to contain rows because of an unclosed quote.
    """

    def __init__(
        self, source: Source, options: ReadOptions, *, tabs: bool = False
    ) -> None:
        check_lines(source, options.max_line_bytes)
        self.name = source.name
        self.notes: list[Fact] = []
        self._delimiter = delimiter_of(options, tabs=tabs)
        self._numbered_rows = self._read(source, options, tabs=tabs)
        _, self.header = next(self._numbered_rows)
        if not self.header:
            where = format_place(self.name, "line 1")
            remedy = "start with a header such as id,label"
            raise InputError("empty", where, role="the header", remedy=remedy)

    def _read(
        self, source: Source, options: ReadOptions, *, tabs: bool
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line and the cells of each row, the header included."""
        reader = csv_reader(source.text, options, tabs=tabs)
        n_lines_before = source.offset.n_lines
        last_line = 0
        try:
            for row in reader:
                yield last_line + 1, row
                last_line = n_lines_before + reader.line_num
        except csv.Error as error:
            where = format_place(self.name, f"line {last_line + 1}")
            raise InputError("not-csv", where, why=error) from None

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        width = len(self.header)
        numbered_rows = without_blanks(
            self._numbered_rows, _is_blank, notes=self.notes, between="rows"
        )
        for line, row in numbered_rows:
            if len(row) != width:
                where = format_place(self.name, f"line {line}")
                raise InputError(
                    "wrong-width", where, found=len(row), wanted=width, first=row[0]
                )
            has_newline = any("\n" in cell for cell in row)
            if has_newline and are_joined_rows(row, self._delimiter):
                raise InputError("joined-rows", format_place(self.name, f"line {line}"))
            yield line, row

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield batches of rows, with their lines. Batches make the access to columns fast."""
        numbered_rows = iter(self)
        max_rows = _MAX_CELLS_PER_BATCH // len(self.header)
        batch_size = max(1, min(_MAX_ROWS_PER_BATCH, max_rows))
        while batch := list(islice(numbered_rows, batch_size)):
            lines = [line for line, _ in batch]
            yield lines, [row for _, row in batch]


def _is_blank(row: list[str]) -> bool:
    return not row


def are_joined_rows(row: Sequence[str], delimiter: str) -> bool:
    r"""Return whether a row of several lines looks like several rows.

    A quote that is part of a cell joins rows in this way. Each line then has as many cells as the
    row, and in some column, such as the ids, the values of all lines look alike.

    Examples
    --------
    >>> are_joined_rows(["7.jpg", "The Scream\n8.jpg,a bus"], ",")
    True
    >>> are_joined_rows(["7.jpg", "a dog\nand then, a bus"], ",")
    False
    """
    lines = delimiter.join(row).split("\n")
    cells_by_line = [line.split(delimiter) for line in lines]
    if any(len(cells) != len(row) for cells in cells_by_line):
        return False
    columns = zip(*cells_by_line, strict=True)
    return any(_look_alike(column) for column in columns)


def _look_alike(cells: Sequence[str]) -> bool:
    """Return whether cells are words of the same shape: only letters and numbers differ."""
    shapes = set()
    for cell in cells:
        if not _is_word(cell):
            return False
        # "img12.jpg" has the shape "aaa0.aaa".
        with_equal_letters = _LETTER.sub("a", cell)
        shapes.add(_DIGITS.sub("0", with_equal_letters))
    return len(shapes) == 1


def _is_word(cell: str) -> bool:
    has_space = any(character.isspace() for character in cell)
    return cell != "" and not has_space


def delimiter_of(options: ReadOptions, *, tabs: bool) -> str:
    """Return the delimiter that the options set, or the usual one of CSV or TSV."""
    usual_delimiter = "\t" if tabs else ","
    return options.delimiter or usual_delimiter


def csv_reader(text: str, options: ReadOptions, *, tabs: bool) -> Any:
    """Return a strict reader of the csv module for a string."""
    delimiter = delimiter_of(options, tabs=tabs)
    return csv.reader(text_lines(text, newline=""), delimiter=delimiter, strict=True)


def first_row(source: Source, options: ReadOptions, *, tabs: bool = False) -> list[str]:
    """Return the header of a table as `Rows` reads it, or an empty list if it is not CSV.

    The whole text of a large file is read only if its header does not end in the beginning.
    """
    header = _header_of(source.beginning, options, tabs=tabs)
    if header is None and source.is_large:
        header = _header_of(source.text, options, tabs=tabs)
    return header or []


def _header_of(text: str, options: ReadOptions, *, tabs: bool) -> list[str] | None:
    """Return the first row of a text, or None if there is none or it is not CSV."""
    try:
        return next(csv_reader(text, options, tabs=tabs), None)
    except csv.Error:  # Perhaps a quoted newline is cut off.
        return None


def second_row(source: Source, options: ReadOptions, *, tabs: bool) -> list[str]:
    """Return the row below the header, or an empty list if the beginning cuts it off."""
    reader = csv_reader(source.beginning, options, tabs=tabs)
    try:
        rows = [list(row) for row in islice(reader, 3)]
    except csv.Error:  # Perhaps a quoted newline is cut off.
        return []
    if len(rows) < 3:
        # The beginning may end in the middle of the second row.
        return []
    return rows[1]
