"""Large JSON lines and CSV, read by pyarrow a block of lines at a time.

Conventions
-----------
Columns have explicit types, so that "007" stays an id. A block is parsed while the one before it is
coded. This reader takes a file whole or leaves it to the strict one (``OddError``), which accepts
or refuses it: what pyarrow would read otherwise than that one is searched for in the bytes of each
block (bad UTF-8, NUL, byte order marks, blank lines, several records in a line, NaN, deep nesting,
quotes inside a cell). Of keys that no role uses only the JSON syntax is checked.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv
from pyarrow import json as pa_json

from semmetrics.data.arrow import Coder, OddError, leave_if
from semmetrics.data.form import Form, ReadOptions, column_among, find_columns
from semmetrics.data.json_files import parse, row_notes
from semmetrics.data.lists import Lists
from semmetrics.data.source import UTF16, Source, ahead, line_blocks
from semmetrics.data.tables import describe_table, split_text
from semmetrics.errors import Fact, InputError, at

BLOCK = 2**22  # bytes
_PARSED = 2**20  # bytes that a thread of pyarrow parses at once
_WIDEST = 10_000  # columns that pyarrow is given: it takes long over a million
_DIGITS = 4300  # of an integer that Python reads
_HUGE = re.compile(rb"\d{%d}" % (_DIGITS + 1))
_OPENED = 500  # brackets in a line, and so levels, that pyarrow is given: at 9,000 it is lost
_NAN = re.compile(rb"[\[:,][ \t]*-?(?:NaN|Inf)")
_BARE = re.compile(rb'"(?:[^"\\]|\\.)*"|(NaN|Inf)')
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_NEWLINE, _RETURN, _QUOTE = b"\n"[0], b"\r"[0], b'"'[0]


def read_large(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    """Read JSON lines, CSV or TSV.

    Raises
    ------
    OddError
        If the strict reader has to read it.
    """
    leave_if(source.head[:2] in UTF16)
    read = _read_jsonl if kind == "jsonl" else _read_table
    try:
        return read(source, kind, form, options)
    except MemoryError:  # pyarrow's is one of its exceptions, too
        raise
    except (InputError, pa.ArrowException, UnicodeDecodeError, csv.Error):
        raise OddError from None


def _blocks(source: Source, start: int, limit: int, *, quoted: bool = False) -> Iterator[bytes]:
    """Yield blocks of whole lines from a place on."""
    blocks = line_blocks(source.chunks(BLOCK), limit, quoted=quoted)
    return chain([next(blocks)[start:]], blocks)


def _check_text(block: bytes) -> None:
    """Look for what the strict readers refuse in any text."""
    leave_if(b"\0" in block)
    if not block.isascii():
        block.decode()
        leave_if(_MARK in block)


def _longest(ends: Any, size: int, limit: int) -> int:
    """Return the length of the longest line."""
    longest = int(np.diff(ends, prepend=-1, append=size).max())
    leave_if(longest > limit)
    return longest


# JSON lines


def _read_jsonl(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    line, newline, _ = source.head.removeprefix(_MARK).partition(b"\n")
    first: Any = parse(line.decode(), source.name) if newline else None
    leave_if(not isinstance(first, dict))
    keys = list(first)
    used = [keys[i] for i in find_columns(form.record, keys, options, source.name).values()]
    extra = {key: None for key in keys if key not in used}
    # the types of the keys are those of the first record: no others are read here
    id_, entries = first[used[0]], first[used[1]]
    by_row = form.single and isinstance(entries, str)
    texts = isinstance(entries, list) and all(isinstance(entry, str) for entry in entries)
    leave_if(not (by_row or texts))
    whole = isinstance(id_, int) and not isinstance(id_, bool)
    kinds = [
        pa.int64() if whole else pa.string(),
        pa.string() if by_row else pa.list_(pa.string()),
        pa.list_(pa.float64()),
    ]
    schema = pa.schema(dict(zip(used, kinds, strict=False)))
    free = [one for one in form.record.columns if column_among(options, one.role, keys) is None]
    lacking = filter(None, (options.column(column.role) for column in free))
    others = {name.casefold() for name in {n for one in free for n in one.known}.union(lacking)}
    coder, lines = Coder(form, by_row=by_row), source.before[0]

    def parsed(block: bytes) -> Any:
        return _parse_records(block, schema, others, extra, options)

    start = len(_MARK) if source.head.startswith(_MARK) else 0
    for table in ahead(map(parsed, _blocks(source, start, options.max_line_bytes))):
        for record_batch in table.select(used).to_batches():
            ids, values, *scores = record_batch.columns
            coder.add(ids, values, scores[0] if scores else None, lines + 1)
            lines += len(ids)
    found = coder.finish(source.name, "line {}")
    row_is = f"a {form.noun}" if by_row else "an item"
    leave_if(any(note.code == "empty-cells" for note in found.notes))  # in a record: an empty entry
    notes = found.notes + [Fact("unused-columns", len(extra), tuple(extra))] * bool(extra)
    return replace(found, understood=f"JSON lines, one record {row_is}", notes=notes)


def _parse_records(
    block: bytes, schema: Any, others: set[str], extra: dict[str, None], options: ReadOptions
) -> Any:
    """Parse a block of records, one a line; keys that no role uses are added to ``extra``."""
    _check_text(block)
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    longest = _longest(ends, len(block), options.max_line_bytes)
    leave_if(data[0] == _NEWLINE)
    before = np.where(data[ends - 1] == _RETURN, data[ends - 2], data[ends - 1])
    # an object ends before each newline and one begins after it, so no newline is within an object
    leave_if((before != b"}"[0]).any())
    leave_if((data[ends[ends < len(data) - 1] + 1] != b"{"[0]).any())

    table = None
    if not extra:
        with suppress(pa.ArrowInvalid):  # a key that is not in the schema
            table = _parse_json(block, schema, longest, "error")
    if table is None:  # values of keys that no role uses may be of any kind
        # no numbers that JSON does not allow, and no lines that may be nested too deeply
        found = _NAN.search(block) if b"NaN" in block or b"Inf" in block else None
        leave_if(found and any(match[1] for match in _BARE.finditer(block)))
        opened = block.count(b"[") + block.count(b"{")
        if opened - len(ends) > _OPENED:  # each line has one at least
            starts = np.append(0, ends[ends < len(data) - 1] + 1)
            brackets = (data == b"["[0]) | (data == b"{"[0])
            leave_if(np.add.reduceat(brackets, starts, dtype=np.int64).max() > _OPENED)
        table = _parse_json(block, schema, longest, "infer")
    unused = [key for key in table.column_names if key not in schema.names]
    # another name of a role: the strict reader knows which of two it means, or refuses both
    leave_if(any(key not in extra and key.strip().casefold() in others for key in unused))
    extra |= dict.fromkeys(unused)
    leave_if(extra and longest > _DIGITS and _HUGE.search(block))
    leave_if(len(table) != len(ends) + (data[-1] != _NEWLINE))
    return table


def _parse_json(block: bytes, schema: Any, longest: int, unknown: str) -> Any:
    read = pa_json.ReadOptions(block_size=max(_PARSED, 2 * longest))
    kinds = pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unknown)
    return pa_json.read_json(pa.BufferReader(block), read_options=read, parse_options=kinds)


# CSV


def _read_table(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    delimiter = options.delimiter or ("\t" if kind == "tsv" else ",")
    header_end = source.head.find(b"\n") + 1
    first = source.head[:header_end].removeprefix(_MARK)
    _check_text(first)
    line = first.decode()[:-1].removesuffix("\r")
    leave_if(not header_end or not delimiter.isascii() or "\r" in line or line.count('"') % 2)
    leave_if(header_end > options.max_line_bytes or line.count(delimiter) > _WIDEST)
    header = next(csv.reader([line], delimiter=delimiter, strict=True))
    roles = find_columns(form.table, header, options, at(source.name, "line 1"))
    split = options.label_delimiter if form.scored else None
    kinds = [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.float64()]
    columns = [str(i) for i in range(len(header))]
    used = [columns[i] for i in roles.values()]
    types = dict(zip(used, kinds if split is None else [pa.string()] * 3, strict=False))
    coder = Coder(form, by_row=split is None, parsed=True)

    def parsed(block: bytes) -> tuple[Any, Any, int]:
        return _parse_rows(block, delimiter, columns, types, options.max_line_bytes)

    lines, empty = 2 + source.before[0], 0
    blocks = _blocks(source, header_end, options.max_line_bytes, quoted=True)
    for table, starts, n_lines in ahead(map(parsed, blocks)):
        row = 0
        for batch in table.to_batches():
            places = lines + (row if starts is None else starts[row : row + len(batch)])
            row += len(batch)
            ids, values, *scores = batch.columns
            if split is not None:
                empty += int(pc.sum(pc.equal(values, "")).as_py() or 0)
                values, *scores = _cells(split, values, *scores)
            coder.add(ids, values, scores[0] if scores else None, places)
        lines += n_lines
    found = coder.finish(source.name, "line {}")
    if split is not None:
        found = replace(found, notes=row_notes(empty, (), form))
    found = describe_table(found, kind.upper(), header, roles, form, split is not None)
    if split is None:
        return found
    several = int((np.diff(found.side.indptr) > 1).sum())
    return replace(found, understood=found.understood + split_text(several, len(found), split))


def _parse_rows(
    block: bytes, delimiter: str, columns: Sequence[str], types: Mapping[str, Any], limit: int
) -> tuple[Any, Any, int]:
    """Parse a block of rows.

    Return the columns in use, the line of each row (None: every line is a row), and the number of
    lines.
    """
    _check_text(block)
    leave_if(b"\r" in block and block.count(b"\r") != block.count(b"\r\n"))
    data = np.frombuffer(block, np.uint8)
    ends = row_ends = np.flatnonzero(data == _NEWLINE)
    if b'"' in block:
        quotes = np.flatnonzero(data == _QUOTE)
        _check_quotes(data, quotes, ord(delimiter))
        row_ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
    else:
        leave_if(b"\n\n" in block or b"\n\r\n" in block)  # pyarrow makes rows of blank lines
    longest = _longest(row_ends, len(block), limit)
    table = pa_csv.read_csv(
        pa.BufferReader(block),
        read_options=pa_csv.ReadOptions(column_names=columns, block_size=max(_PARSED, 2 * longest)),
        parse_options=pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=len(row_ends) < len(ends),
            ignore_empty_lines=False,
        ),
        convert_options=pa_csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[""],
            strings_can_be_null=False,
        ),
    )
    if len(row_ends) == len(ends):  # a line is a row
        return table, None, len(ends)
    return table, np.append(0, np.searchsorted(ends, row_ends) + 1), len(ends)


def _check_quotes(data: Any, quotes: Any, comma: int) -> None:
    """Look for quotes that are not around a whole cell, or twice within one."""
    leave_if(len(quotes) % 2)
    opening, closing = quotes[::2], quotes[1::2]
    padded = np.pad(data, 1, constant_values=_NEWLINE)
    before, after = padded[opening], padded[closing + 2]
    again = np.append(False, opening[1:] == closing[:-1] + 1)  # a quote within a cell
    starts = (before == comma) | (before == _NEWLINE) | again
    ends = (after == comma) | (after == _NEWLINE) | (after == _RETURN)
    leave_if(not (starts & (ends | np.append(again[1:], False))).all())


def _cells(split: str, values: Any, scores: Any = None) -> Iterator[Any]:
    """Split cells that have several entries, and their scores."""
    for cells in (values, scores):
        if cells is None:
            return
        lists = pc.split_pattern(cells, split)
        widths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
        bare = pc.equal(cells, "").to_numpy(zero_copy_only=False)
        parts = lists.flatten().filter(pa.array(~np.repeat(bare, widths)))
        leave_if(pc.any(pc.equal(parts, "")).as_py())
        ends = np.append(0, np.cumsum(np.where(bare, 0, widths)))
        parts = parts if cells is values else parts.cast(pa.float64())
        yield pa.ListArray.from_arrays(pa.array(ends, pa.int32()), parts)
