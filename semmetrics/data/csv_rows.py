"""Read the rows of CSV and TSV files, checked for errors that shift cells or join rows."""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import not_
from typing import Any

from semmetrics.data.item_rows import without_blanks
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import InputError, at

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
        before = csv.field_size_limit(min(limit, _MAX_FIELD_SIZE))
        try:
            yield
        finally:
            csv.field_size_limit(before)


class Rows:
    """The rows of a CSV or TSV file below its header, all as wide as the header.

    Iterating yields the first line and the cells of each row. Use it within `field_limit`.

    Attributes
    ----------
    name : str
        The name of the file in messages.
    header : list of str
    notes : list of Fact
        Reports blank lines between rows, after the last row was read.

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
        self.notes: list[Any] = []
        self._delimiter = _delimiter_of(options, tabs=tabs)
        self._numbered_rows = self._read(source, options, tabs=tabs)
        _, self.header = next(self._numbered_rows)
        if not self.header:
            where = at(self.name, "line 1")
            remedy = "start with a header such as id,label"
            raise InputError("empty", where, role="the header", remedy=remedy)

    def _read(
        self, source: Source, options: ReadOptions, *, tabs: bool
    ) -> Iterator[Any]:
        """Yield the first line and the cells of each row, the header included."""
        reader = csv_reader(source.text, options, tabs=tabs)
        last_line = 0
        try:
            for row in reader:
                yield last_line + 1, row
                last_line = reader.line_num + source.before[0]
        except csv.Error as error:
            where = at(self.name, f"line {last_line + 1}")
            raise InputError("not-csv", where, why=error) from None

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        width = len(self.header)
        for line, row in without_blanks(self._numbered_rows, not_, self.notes, "rows"):
            if len(row) != width:
                where = at(self.name, f"line {line}")
                raise InputError(
                    "wrong-width", where, found=len(row), wanted=width, first=row[0]
                )
            has_newline = any("\n" in cell for cell in row)
            if has_newline and are_joined_rows(row, self._delimiter):
                raise InputError("joined-rows", at(self.name, f"line {line}"))
            yield line, row

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield the lines and the rows of many rows at once, for fast access to columns."""
        rows = iter(self)
        max_rows = _MAX_CELLS_PER_BATCH // len(self.header)
        batch_size = max(1, min(_MAX_ROWS_PER_BATCH, max_rows))
        while batch := list(islice(rows, batch_size)):
            yield [line for line, _ in batch], [row for _, row in batch]


def are_joined_rows(row: Sequence[str], delimiter: str) -> bool:
    r"""Return whether a row of several lines looks like several rows.

    This happens if a quote is part of a cell. Each line then has as many cells as the row, and
    in some column, such as the ids, the values of all lines look alike.

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
    return any(map(_look_alike, zip(*cells_by_line, strict=True)))


def _look_alike(cells: Sequence[str]) -> bool:
    """Return whether cells are words that differ only in letters and in numbers."""
    shapes = {_DIGITS.sub("0", _LETTER.sub("a", cell)) for cell in cells}
    return len(shapes) == 1 and all(map(_is_word, cells))


def _is_word(cell: str) -> bool:
    return cell != "" and not any(map(str.isspace, cell))


def _delimiter_of(options: ReadOptions, *, tabs: bool) -> str:
    return options.delimiter or ("\t" if tabs else ",")


def csv_reader(text: str, options: ReadOptions, *, tabs: bool) -> Any:
    """Return a strict reader of the csv module for a text."""
    delimiter = _delimiter_of(options, tabs=tabs)
    return csv.reader(text_lines(text, newline=""), delimiter=delimiter, strict=True)


def first_row(source: Source, options: ReadOptions, *, tabs: bool = False) -> list[str]:
    """Return the header of a table as `Rows` reads it, or an empty list if it is not CSV.

    The beginning of a large file is tried first, then the whole text, for a longer header.
    """
    texts = [source.beginning]
    if source.is_large:
        texts.append(source.text)
    for text in texts:
        try:
            header = next(csv_reader(text, options, tabs=tabs), None)
        except csv.Error:  # Perhaps a quoted newline is cut off.
            continue
        if header is not None:
            return list(header)
    return []


def second_row(source: Source, options: ReadOptions, *, tabs: bool) -> list[str]:
    """Return the row below the header, or an empty list if it is not complete in the beginning."""
    reader = csv_reader(source.beginning, options, tabs=tabs)
    try:
        rows = [list(row) for row in islice(reader, 3)]
    except csv.Error:  # Perhaps a quoted newline is cut off.
        return []
    return rows[1] if len(rows) > 2 else []
