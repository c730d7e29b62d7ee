"""Read large JSON lines, CSV and TSV files with the fast parsers of pyarrow.

Columns have explicit types, so that "007" remains an id. A block of lines is parsed in a thread
while the block before it is coded.

pyarrow reads some things differently from the strict readers: invalid UTF-8, NUL, byte order
marks, blank lines, several records in a line, NaN, deep nesting, and quotes inside a cell. Each
block is searched for them, and `FallbackError` hands the file over to the strict reader. The values
of keys without a role are only checked for valid JSON syntax.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv
from pyarrow import json as pa_json

from semmetrics.core.prefetch import prefetch
from semmetrics.core.ragged import Ints
from semmetrics.data.column_coder import Coder, FallbackError, fall_back_if
from semmetrics.data.csv_rows import delimiter_of
from semmetrics.data.form import Form
from semmetrics.data.input_columns import chosen_column, find_columns
from semmetrics.data.item_rows import row_notes
from semmetrics.data.json_files import parse
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import UTF16, Source, line_blocks
from semmetrics.data.tables import describe_splits, describe_table
from semmetrics.errors import Fact, InputError, format_place

BLOCK_BYTES = 2**22
"""Bytes of whole lines that are parsed together."""
_BYTES_PER_THREAD = 2**20  # The block size of pyarrow's own threads.
_MAX_COLUMNS = 10_000  # pyarrow takes very long for a million columns.
_MAX_DIGITS = 4300  # Python does not parse integers with more digits.
_MAX_BRACKETS_PER_LINE = 500  # Limits the nesting: at 9,000 levels pyarrow crashes.
_HUGE_INTEGER = re.compile(rb"\d{%d}" % (_MAX_DIGITS + 1))
_NOT_JSON_NUMBER = re.compile(rb"[\[:,][ \t]*-?(?:NaN|Inf)")
_STRING_OR_NAN = re.compile(rb'"(?:[^"\\]|\\.)*"|(NaN|Inf)')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NEWLINE = ord("\n")
_RETURN = ord("\r")
_QUOTE = ord('"')
_OPENING_BRACE = ord("{")
_CLOSING_BRACE = ord("}")
_OPENING_BRACKET = ord("[")


def read_large(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    """Read a JSON lines, CSV or TSV file.

    Parameters
    ----------
    source : Source
    kind : {"jsonl", "csv", "tsv"}
    form : Form
    options : ReadOptions

    Raises
    ------
    FallbackError
        If only the strict reader can read the file or report the problem.
    """
    fall_back_if(source.head[:2] in UTF16)
    try:
        if kind == "jsonl":
            return _read_records(source, form, options)
        return _read_table(source, kind, form, options)
    except MemoryError:  # pyarrow's MemoryError is also an ArrowException.
        raise
    except (InputError, pa.ArrowException, UnicodeDecodeError, csv.Error):
        raise FallbackError from None


def _blocks(
    source: Source, start: int, limit: int, *, quoted: bool = False
) -> Iterator[bytes]:
    """Yield blocks of whole lines from a position in the file on."""
    blocks = line_blocks(source.chunks(BLOCK_BYTES), limit, quoted=quoted)
    first_block = next(blocks)[start:]
    return chain([first_block], blocks)


def _check_text(block: bytes) -> None:
    """Check for bytes that no strict reader accepts in any format."""
    fall_back_if(b"\0" in block)
    if not block.isascii():
        block.decode()
        fall_back_if(_BYTE_ORDER_MARK in block)


def _longest_line(ends: Ints, size: int, limit: int) -> int:
    """Return the bytes of the longest line, after checking the limit."""
    longest = int(np.diff(ends, prepend=-1, append=size).max())
    fall_back_if(longest > limit)
    return longest


# JSON lines


class _RecordColumns(NamedTuple):
    """The keys of records with a role, by the first record of a file.

    Attributes
    ----------
    names : list of str
        The keys of ids, entries and scores (if any).
    other_keys : list of str
        The keys without a role.
    by_row : bool
        Whether a record has one entry, not a list.
    schema : pyarrow.Schema
        The types of the keys with a role.
    """

    names: list[str]
    other_keys: list[str]
    by_row: bool
    schema: Any


def _read_records(source: Source, form: Form, options: ReadOptions) -> Lists:
    """Read JSON lines with one record per line."""
    columns = _find_record_columns(source, form, options)
    parser = _RecordParser(columns, form, options)
    coder = Coder(form, by_row=columns.by_row)
    n_lines = source.offset.n_lines
    start = 0
    if source.head.startswith(_BYTE_ORDER_MARK):
        start = len(_BYTE_ORDER_MARK)
    blocks = _blocks(source, start, options.max_line_bytes)
    for table in prefetch(map(parser.parse, blocks)):
        for batch in table.select(columns.names).to_batches():
            ids, values, *scores = batch.columns
            coder.add(ids, values, scores[0] if scores else None, n_lines + 1)
            n_lines += len(ids)
    lists = coder.finish(source.name, "line {}")
    # In a record an empty entry is an error.
    fall_back_if(any(note.code == "empty-cells" for note in lists.notes))
    notes = lists.notes
    unused_keys = tuple(parser.unused_keys)
    if unused_keys:
        notes = [*notes, Fact("unused-columns", len(unused_keys), unused_keys)]
    row_noun = form.noun if columns.by_row else "item"
    understood = f"JSON lines, one record per {row_noun}"
    return replace(lists, understood=understood, notes=notes)


def _find_record_columns(
    source: Source, form: Form, options: ReadOptions
) -> _RecordColumns:
    """Find the keys with a role, and their types, in the first record of a file.

    Raises
    ------
    FallbackError
        If the entries of the first record are neither a string nor a list of strings.
    """
    line, newline, _ = source.head.removeprefix(_BYTE_ORDER_MARK).partition(b"\n")
    fall_back_if(not newline)
    record = parse(line.decode(), source.name)
    fall_back_if(not isinstance(record, dict))
    keys = list(record)
    positions = find_columns(form.record, keys, options, source.name)
    names = [keys[position] for position in positions.values()]
    other_keys = [key for key in keys if key not in names]
    first_id = record[names[0]]
    first_entries = record[names[1]]
    by_row = form.single and isinstance(first_entries, str)
    fall_back_if(not by_row and not _is_list_of_strings(first_entries))
    id_type = pa.string()
    if isinstance(first_id, int) and not isinstance(first_id, bool):
        id_type = pa.int64()
    entries_type = pa.string() if by_row else pa.list_(pa.string())
    column_types = [id_type, entries_type, pa.list_(pa.float64())]
    schema = pa.schema(dict(zip(names, column_types, strict=False)))
    return _RecordColumns(names, other_keys, by_row, schema)


def _is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


class _RecordParser:
    """Parse blocks of records, one per line.

    Attributes
    ----------
    unused_keys : dict of str to None
        All keys without a role in order of appearance, as an ordered set.
    """

    def __init__(
        self, columns: _RecordColumns, form: Form, options: ReadOptions
    ) -> None:
        self.unused_keys: dict[str, None] = dict.fromkeys(columns.other_keys)
        self._schema = columns.schema
        self._max_line_bytes = options.max_line_bytes
        first_keys = [*columns.names, *columns.other_keys]
        self._role_names = _names_of_missing_roles(first_keys, form, options)

    def parse(self, block: bytes) -> Any:
        """Return a block of records as a table with at least the columns of the schema."""
        _check_text(block)
        data = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        longest = _longest_line(ends, len(block), self._max_line_bytes)
        starts = ends[ends < len(data) - 1] + 1
        _check_record_lines(data, starts, ends)
        table = None
        if not self.unused_keys:
            with suppress(pa.ArrowInvalid):  # There is a key that is not in the schema.
                table = _parse_json(block, self._schema, longest, "error")
        if table is None:
            _check_json_syntax(block, data, starts, ends)
            table = _parse_json(block, self._schema, longest, "infer")
        self._collect_unused_keys(table.column_names)
        if self.unused_keys and longest > _MAX_DIGITS:
            fall_back_if(_HUGE_INTEGER.search(block))
        n_lines = len(ends) + int(data[-1] != _NEWLINE)
        fall_back_if(len(table) != n_lines)
        return table

    def _collect_unused_keys(self, keys: Sequence[str]) -> None:
        """Add to the keys without a role.

        Raises
        ------
        FallbackError
            If the name of a new key usually means a role. The strict reader decides which of two
            names is meant, or raises an error.
        """
        for key in keys:
            if key in self._schema.names or key in self.unused_keys:
                continue
            fall_back_if(key.strip().casefold() in self._role_names)
            self.unused_keys[key] = None


def _names_of_missing_roles(
    keys: Sequence[str], form: Form, options: ReadOptions
) -> set[str]:
    """Return the names, in lower case, by which a later key would have a role that is missing."""
    names: set[str] = set()
    for column in form.record.columns:
        option = options.column(column.role)
        if chosen_column(options, column.role, keys) is not None:
            continue
        names.update(name.casefold() for name in column.known)
        if option:
            names.add(option.casefold())
    return names


def _check_record_lines(data: Any, starts: Ints, ends: Ints) -> None:
    """Check that each line begins and ends with a brace, so that no record spans lines."""
    fall_back_if(data[0] == _NEWLINE)
    has_return = data[ends - 1] == _RETURN
    last_characters = np.where(has_return, data[ends - 2], data[ends - 1])
    fall_back_if((last_characters != _CLOSING_BRACE).any())
    fall_back_if((data[starts] != _OPENING_BRACE).any())


def _check_json_syntax(block: bytes, data: Any, starts: Ints, ends: Ints) -> None:
    """Check for NaN, Infinity and deep nesting, which pyarrow accepts in keys without a role."""
    has_letters = b"NaN" in block or b"Inf" in block
    if has_letters and _NOT_JSON_NUMBER.search(block):
        fall_back_if(any(match[1] for match in _STRING_OR_NAN.finditer(block)))
    n_brackets = block.count(b"[") + block.count(b"{")
    # Each line has at least one bracket, so a small surplus cannot exceed the limit.
    if n_brackets - len(ends) <= _MAX_BRACKETS_PER_LINE:
        return
    is_bracket = (data == _OPENING_BRACKET) | (data == _OPENING_BRACE)
    line_starts = np.append(0, starts)
    brackets_per_line = np.add.reduceat(is_bracket, line_starts, dtype=np.int64)
    fall_back_if(brackets_per_line.max() > _MAX_BRACKETS_PER_LINE)


def _parse_json(block: bytes, schema: Any, longest: int, unknown_keys: str) -> Any:
    block_size = max(_BYTES_PER_THREAD, 2 * longest)
    return pa_json.read_json(
        pa.BufferReader(block),
        read_options=pa_json.ReadOptions(block_size=block_size),
        parse_options=pa_json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior=unknown_keys
        ),
    )


# CSV and TSV


class _Header(NamedTuple):
    """The header of a table.

    Attributes
    ----------
    names : list of str
    end : int
        The position of the first row below the header, in bytes.
    """

    names: list[str]
    end: int


class _ParsedRows(NamedTuple):
    """A parsed block of rows.

    Attributes
    ----------
    table : pyarrow.Table
        The columns with a role.
    starts : int array, or None
        The line of each row within the block. None if each line is a row.
    n_lines : int
    """

    table: Any
    starts: Any
    n_lines: int

    def lines(self, first_line: int, row: int, n_rows: int) -> Any:
        """Return the lines of some rows, or the line of the first one if each line is a row."""
        if self.starts is None:
            return first_line + row
        return first_line + self.starts[row : row + n_rows]


def _read_table(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    """Read CSV or TSV with one row per entry, or one row per item with a label delimiter."""
    delimiter = delimiter_of(options, tabs=kind == "tsv")
    header = _read_header(source, delimiter, options)
    where = format_place(source.name, "line 1")
    positions = find_columns(form.table, header.names, options, where)
    label_delimiter = options.label_delimiter if form.scored else None
    has_lists = label_delimiter is not None
    # Columns are called by their numbers, since names may occur twice.
    names = [str(position) for position in positions.values()]
    types_by_name = dict(zip(names, _column_types(has_lists=has_lists), strict=False))
    n_columns = len(header.names)
    limit = options.max_line_bytes
    parser = _RowParser(delimiter, n_columns, types_by_name, limit)
    coder = Coder(form, by_row=not has_lists, parsed=True)
    first_line = 2 + source.offset.n_lines
    n_empty = 0
    blocks = _blocks(source, header.end, limit, quoted=True)
    for rows in prefetch(map(parser.parse, blocks)):
        row = 0
        for batch in rows.table.to_batches():
            lines = rows.lines(first_line, row, len(batch))
            row += len(batch)
            ids, values, *score_columns = batch.columns
            scores = score_columns[0] if score_columns else None
            if label_delimiter is not None:
                n_empty += _count_empty_cells(values)
                values = _split_cells(values, label_delimiter)
                scores = _split_scores(scores, label_delimiter)
            coder.add(ids, values, scores, lines)
        first_line += rows.n_lines
    lists = coder.finish(source.name, "line {}")
    if has_lists:
        # The coder does not know empty cells, because they became empty lists.
        lists = replace(lists, notes=row_notes(n_empty, (), form))
    lists = describe_table(
        lists, kind.upper(), header.names, positions, form, has_lists
    )
    if label_delimiter is None:
        return lists
    n_split = int((lists.side.sizes > 1).sum())
    description = describe_splits(n_split, len(lists), label_delimiter)
    return replace(lists, understood=lists.understood + description)


def _column_types(*, has_lists: bool) -> list[Any]:
    """Return the Arrow types of the columns of ids, of entries and of scores."""
    if has_lists:
        return [pa.string(), pa.string(), pa.string()]
    coded_strings = pa.dictionary(pa.int32(), pa.string())
    return [pa.string(), coded_strings, pa.float64()]


def _read_header(source: Source, delimiter: str, options: ReadOptions) -> _Header:
    """Parse the first line of a table.

    Raises
    ------
    FallbackError
        If the header is not on one line, or has too many columns for pyarrow.
    """
    end = source.head.find(b"\n") + 1
    line_bytes = source.head[:end].removeprefix(_BYTE_ORDER_MARK)
    _check_text(line_bytes)
    line = line_bytes.decode()[:-1].removesuffix("\r")
    fall_back_if(not end or not delimiter.isascii())
    fall_back_if("\r" in line or line.count('"') % 2)
    fall_back_if(end > options.max_line_bytes or line.count(delimiter) > _MAX_COLUMNS)
    names = next(csv.reader([line], delimiter=delimiter, strict=True))
    return _Header(names, end)


class _RowParser:
    """Parse blocks of rows.

    Parameters
    ----------
    delimiter : str
    n_columns : int
    column_types : mapping of str to pyarrow.DataType
        The numbers of the columns with a role, as strings, and their types.
    max_line_bytes : int
    """

    def __init__(
        self,
        delimiter: str,
        n_columns: int,
        column_types: Mapping[str, Any],
        max_line_bytes: int,
    ) -> None:
        self._delimiter = delimiter
        self._columns = list(map(str, range(n_columns)))
        self._column_types = column_types
        self._max_line_bytes = max_line_bytes

    def parse(self, block: bytes) -> _ParsedRows:
        """Parse a block, after checking for text that pyarrow reads differently."""
        _check_text(block)
        fall_back_if(b"\r" in block and block.count(b"\r") != block.count(b"\r\n"))
        data = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(data == _NEWLINE)
        row_ends = self._find_row_ends(block, data, ends)
        longest = _longest_line(row_ends, len(block), self._max_line_bytes)
        n_lines = len(ends)
        is_line_row = len(row_ends) == n_lines
        table = self._parse_csv(block, longest, has_newlines=not is_line_row)
        if is_line_row:
            return _ParsedRows(table, None, n_lines)
        starts = np.append(0, np.searchsorted(ends, row_ends) + 1)
        return _ParsedRows(table, starts, n_lines)

    def _find_row_ends(self, block: bytes, data: Any, ends: Ints) -> Ints:
        """Return the line ends that are not within quotes."""
        if b'"' not in block:
            # pyarrow reads blank lines as rows.
            fall_back_if(b"\n\n" in block or b"\n\r\n" in block)
            return ends
        delimiter = ord(self._delimiter)
        quotes = np.flatnonzero(data == _QUOTE)
        _check_quotes(data, quotes, delimiter)
        # A line end after an odd number of quotes is within a quoted cell.
        n_quotes_before = np.searchsorted(quotes, ends)
        row_ends: Ints = ends[n_quotes_before % 2 == 0]
        _check_long_rows(data == delimiter, ends, row_ends, len(self._columns))
        return row_ends

    def _parse_csv(self, block: bytes, longest: int, *, has_newlines: bool) -> Any:
        block_size = max(_BYTES_PER_THREAD, 2 * longest)
        return pa_csv.read_csv(
            pa.BufferReader(block),
            pa_csv.ReadOptions(column_names=self._columns, block_size=block_size),
            pa_csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=has_newlines,
                ignore_empty_lines=False,
            ),
            pa_csv.ConvertOptions(
                include_columns=list(self._column_types),
                column_types=self._column_types,
                null_values=[""],
                strings_can_be_null=False,
            ),
        )


def _check_long_rows(
    is_delimiter: Any, ends: Ints, row_ends: Ints, n_columns: int
) -> None:
    """Check that rows of several lines are not several rows, joined by an unclosed quote.

    They may be, if they have as many delimiters as that number of rows would have.
    """
    if len(row_ends) == len(ends):
        return
    last = len(is_delimiter) - 1
    if last not in ends[-1:]:  # The last row has no newline.
        ends = np.append(ends, last)
        row_ends = np.append(row_ends, last)
    n_delimiters = np.diff(np.cumsum(is_delimiter)[row_ends], prepend=0)
    n_lines = np.diff(np.searchsorted(ends, row_ends, side="right"), prepend=0)
    has_all_cells = n_delimiters >= n_lines * (n_columns - 1)
    fall_back_if(((n_lines > 1) & has_all_cells).any())


def _check_quotes(data: Any, quotes: Ints, delimiter: int) -> None:
    """Check that quotes enclose whole cells, or are doubled within a quoted cell."""
    fall_back_if(len(quotes) % 2)
    opening = quotes[::2]
    closing = quotes[1::2]
    # `padded[i + 1]` is `data[i]`. The block begins and ends like a line.
    padded = np.pad(data, 1, constant_values=_NEWLINE)
    before = padded[opening]
    after = padded[closing + 2]
    # The first of two doubled quotes closes the cell, and the second one opens it again.
    reopens = np.append(False, opening[1:] == closing[:-1] + 1)
    reopens_next = np.append(reopens[1:], False)
    starts_cell = (before == delimiter) | (before == _NEWLINE)
    ends_cell = (after == delimiter) | (after == _NEWLINE) | (after == _RETURN)
    fall_back_if(not ((starts_cell | reopens) & (ends_cell | reopens_next)).all())


def _count_empty_cells(cells: Any) -> int:
    return int(pc.sum(pc.equal(cells, "")).as_py() or 0)


def _split_cells(cells: Any, delimiter: str) -> Any:
    """Split cells at a delimiter. An empty cell becomes an empty list.

    Raises
    ------
    FallbackError
        If a part of a cell is empty.
    """
    lists = pc.split_pattern(cells, delimiter)
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    is_empty = pc.equal(cells, "").to_numpy(zero_copy_only=False)
    is_part = ~np.repeat(is_empty, sizes)
    parts = lists.flatten().filter(pa.array(is_part))
    fall_back_if(pc.any(pc.equal(parts, "")).as_py())
    ends = np.append(0, np.cumsum(np.where(is_empty, 0, sizes)))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), parts)


def _split_scores(cells: Any, delimiter: str) -> Any:
    """Split cells of scores into lists of numbers. Return None if there are no scores."""
    if cells is None:
        return None
    lists = _split_cells(cells, delimiter)
    return pa.ListArray.from_arrays(lists.offsets, lists.values.cast(pa.float64()))
