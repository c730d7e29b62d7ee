"""Columns that Arrow reads: Parquet and Arrow files, Arrow streams, and large JSON lines and CSV.

Conventions
-----------
Batches of columns are coded as they come: ids and distinct entries are kept, the text is let go.
Where something is odd (a null, an empty id, an id that appears twice, a blank entry), ``OddError``
is raised, and the strict reader of the format says what is wrong and where, or accepts it.

Columns of JSON lines and CSV have explicit types, so that "007" stays an id; a block of lines is
parsed while the one before it is coded. What pyarrow would read otherwise than the strict reader is
searched for in the bytes of each block (bad UTF-8, NUL, byte order marks, blank lines, several
records in a line, NaN, deep nesting, quotes inside a cell). Of keys that no role uses only the JSON
syntax is checked.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv
from pyarrow import json as pa_json
from pyarrow import types

from semmetrics.core.ragged import Ints, offsets
from semmetrics.data.cells import are_lists_of_scores
from semmetrics.data.entries import object_keys
from semmetrics.data.form import Form, ReadOptions, column_among, find_columns, unused
from semmetrics.data.item_rows import item_rows, row_notes
from semmetrics.data.items import Items, encode
from semmetrics.data.json_files import parse
from semmetrics.data.lists import Lists, Side, Texts, in_order
from semmetrics.data.source import UTF16, Source, ahead, line_blocks, undamaged
from semmetrics.data.tables import describe_table, entry_rows, split_text
from semmetrics.errors import ROW, Fact, InputError, Places, at
from semmetrics.schema import as_id

_BATCH, _CELLS = 2**16, 2**22  # rows, and their cells, that are read together
# bytes of texts in a part of a file that are decoded without a thought
_DECODED = 2**31
_SAMPLE = 2**13  # strings whose order and repeats tell what to expect of the others
_LISTS = ("list", "large_list", "fixed_size_list", "map")
_TEXTS = ("string", "large_string", "string_view")
BLOCK = 2**22  # bytes
_PARSED = 2**20  # bytes that a thread of pyarrow parses at once
_WIDEST = 10_000  # columns that pyarrow is given: it takes long over a million
_DIGITS = 4300  # of an integer that Python reads
_HUGE = re.compile(rb"\d{%d}" % (_DIGITS + 1))
_OPENED = (
    500  # brackets in a line, and so levels, that pyarrow is given: at 9,000 it is lost
)
_NAN = re.compile(rb"[\[:,][ \t]*-?(?:NaN|Inf)")
_BARE = re.compile(rb'"(?:[^"\\]|\\.)*"|(NaN|Inf)')
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_NEWLINE, _RETURN, _QUOTE = b"\n"[0], b"\r"[0], b'"'[0]


class OddError(Exception):
    """There is something that only the strict reader can judge."""


def leave_if(odd: object) -> None:
    """Leave the input to the strict reader if something is odd."""
    if odd:
        raise OddError


class Coder:
    """Lists made of batches of columns.

    Parameters
    ----------
    form : Form
    by_row : bool
        Whether a row is an entry, so that rows of one id are gathered, or an item with a list.
    parsed : bool
        Whether dictionaries were made while text was parsed: their entries all occur, in order.
    first : int
        The number of the first row.
    """

    def __init__(
        self, form: Form, *, by_row: bool, parsed: bool = False, first: int = 0
    ) -> None:
        self.form, self.by_row, self._parsed = form, by_row, parsed
        self._ordered = True  # whether codes are numbered in order of first appearance
        self._distinct = False  # whether most entries are different, as captions are
        self._rows = first
        self._last: Any = None
        self._ids: list[Any] = []  # of runs of rows with one id
        self._starts: list[Any] = []
        self._lines: list[Any] = []
        self._widths: list[Any] = []
        self._names: list[Any] = []
        self._codes: list[Any] = []
        self._scores: list[Any] = []

    def add(self, ids: Any, values: Any, scores: Any = None, lines: Any = None) -> None:
        """Code some rows: ids, entries, perhaps scores, and their lines or the first of them."""
        ids = _texts(ids)
        leave_if(ids.null_count or values.null_count)
        if not len(ids):
            return
        starts = np.arange(len(ids))
        if self.by_row:  # the rows whose id is not that of the row before
            change = pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
            goes_on = self._last is not None and ids[0].equals(self._last)
            starts = np.flatnonzero(np.append(not goes_on, change))
            self._last = ids[-1]
        self._ids.append(ids.take(pa.array(starts)) if len(starts) < len(ids) else ids)
        self._starts.append(starts + self._rows)
        if lines is not None:
            self._lines.append(
                lines + starts if isinstance(lines, int) else lines[starts]
            )
        self._rows += len(ids)
        if not self.by_row:
            self._widths.append(_widths(values))
            values = values.flatten()
            if scores is not None:
                leave_if(scores.null_count)
                leave_if(not np.array_equal(_widths(scores), self._widths[-1]))
                scores = scores.flatten()
        self._code(values)
        if scores is not None:
            # -0.0 is 0, as JSON's -0 is
            floats = pc.add(scores.cast(pa.float64()), 0.0)
            leave_if(pc.all(pc.is_finite(floats)).as_py() is False)
            self._scores.append(floats.to_numpy(zero_copy_only=False))  # nan for nulls

    def _code(self, values: Any) -> None:
        """Code entries within their batch."""
        leave_if(_null_count(values))
        known = types.is_dictionary(values.type)
        self._ordered &= not known or self._parsed
        first = sum(map(len, self._names))
        if self._distinct and not known:  # coded once, at the end
            self._names.append(_texts(values))
            self._codes.append(np.arange(first, first + len(values), dtype=np.int32))
            return
        coded = values if known else values.dictionary_encode()
        self._distinct = len(coded.dictionary) > len(values) / 2
        self._names.append(_texts(coded.dictionary))
        codes = coded.indices.to_numpy(zero_copy_only=False)
        self._codes.append(np.add(codes, first, dtype=np.int32))

    def finish(self, name: str, unit: str = ROW) -> Lists:
        """Return the lists of all batches."""
        runs = _chained(self._ids)
        leave_if(pc.any(pc.equal(pc.binary_length(runs), 0)).as_py())  # an empty id
        items, ids = _numbered(runs)
        leave_if(not self.by_row and len(ids) < len(runs))  # an id that appears twice
        table, names = _numbered(_chained(self._names))
        codes = _joined(self._codes, np.int32)
        codes = table[codes] if len(names) < len(table) else codes
        vocabulary: Sequence[str] = names if self.form.blank else list(names)
        scores = _joined(self._scores, np.float64) if self._scores else None
        widths = self._widths
        if self.by_row:
            widths = [np.diff(np.append(_joined(self._starts, np.int64), self._rows))]
        side = Side(offsets(_joined(widths, np.int64)), codes, scores)
        lines = _joined(self._lines or self._starts, np.int64)
        scattered: list[str] = []
        if len(ids) < len(runs):
            side, first, several = _grouped(side, items)
            lines, scattered = lines[first], [ids[i] for i in several.tolist()]
        if self.by_row and not self.form.blank and "" in vocabulary:
            bare, rows = side.codes == vocabulary.index(""), side.sizes
            leave_if((np.repeat(rows, rows)[bare] > 1).any())
            # a score alone
            leave_if(side.scores is not None and not np.isnan(side.scores[bare]).all())
            side, self._ordered = side.keep(~bare), False
        empty = len(codes) - len(side.codes)
        leave_if(side.scores is not None and np.isnan(side.scores).any())
        if not self._ordered or scattered:
            vocabulary, codes = in_order(list(vocabulary), side.codes)
            side = replace(side, codes=codes)
        leave_if(not self.form.blank and not all(map(str.strip, vocabulary)))
        return Lists(
            ids,
            vocabulary,
            side if len(side.codes) else replace(side, scores=None),
            noun=self.form.noun,
            source=name,
            notes=row_notes(empty, scattered, self.form),
            where=Places(name, ids, unit, lines),
        )


def _grouped(side: Side, items: Ints) -> tuple[Side, Ints, Ints]:
    """Bring the runs of each item together: also the first of each, and the items of several."""
    order = np.argsort(items, kind="stable")
    _, starts = np.unique(items[order], return_index=True)
    side, ends = side.take(order), np.append(starts, len(order))
    several = np.flatnonzero(np.diff(ends) > 1)
    return replace(side, indptr=side.indptr[ends]), order[starts], several


def _chained(parts: Sequence[Any]) -> Any:
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


def _numbered(texts: Any) -> tuple[Any, Texts]:
    """Number the distinct strings in order of first appearance."""
    sample = texts[:_SAMPLE]
    rising = all(  # sorted, so that none appears twice
        pc.all(pc.less(part[:-1], part[1:])).as_py() is not False
        for part in (sample, texts)
    )
    if rising or (
        len(sample.unique()) == len(sample) and len(texts.unique()) == len(texts)
    ):
        numbers, distinct = np.arange(len(texts)), texts
    else:
        coded = texts.dictionary_encode()
        numbers, distinct = (
            coded.indices.to_numpy(zero_copy_only=False),
            coded.dictionary,
        )
    _, ends, data = distinct.buffers()
    first, last = distinct.offset, distinct.offset + len(distinct) + 1
    # none has no buffers
    places = np.frombuffer(ends or bytes(4), np.int32)[first:last]
    data = np.frombuffer(data or b"", np.uint8)
    return numbers, Texts(data[places[0] : places[-1]], places - places[0])


def _texts(values: Any) -> Any:
    """Return a column as text."""
    if types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values if types.is_string(values.type) else values.cast(pa.string())


def _widths(lists: Any) -> Ints:
    found: Ints = (
        pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    )
    return found


def _joined(parts: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def read_arrow_table(table: Any, form: Form, name: str, options: ReadOptions) -> Lists:
    """Read a table in memory."""

    def batches(names: Sequence[str]) -> Iterator[Any]:
        for batch in table.select(names).to_batches(max_chunksize=_BATCH):
            batch.validate(full=True)
            yield batch

    found = read_columns(table.schema, batches, form, options, name, "a table")
    elsewhere = unused(options, ("delimiter", "label_delimiter"), "a table in memory")
    return replace(found, notes=found.notes + elsewhere)


@contextmanager
def open_arrow(source: Source, kind: str) -> Iterator[tuple[Any, Any]]:
    """Open a file: its schema, and a function from column names to batches."""
    if source.table is not None:  # of an open one
        yield source.table.schema, lambda names: source.table.select(names).to_batches()
        return
    # damaged files raise nearly anything from inside pyarrow: OSError, ValueError, KeyError...
    with undamaged(source.name, Exception):
        if source.packed or not source.is_large:
            stream = pa.BufferReader(source.data)
        else:  # no memory map, which ends the process if a file is cut
            stream = (
                source.spool if source.path is None else pa.OSFile(str(source.path))
            )
        if kind == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(stream)
            schema = file.schema_arrow
        else:
            is_file = source.head[:6] == b"ARROW1"
            opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
            schema = opened(stream).schema

        def batches(names: Sequence[str]) -> Iterator[Any]:
            total = 0
            if kind == "parquet":
                safe = _safe_to_decode(file, stream, names)
                rows = max(1, min(_BATCH, _CELLS // max(1, len(names))))
                parts = _parquet_batches(safe, rows, names, source.name)
            else:
                stream.seek(0)
                parts = reader = opened(stream)
                if is_file:
                    parts = map(reader.get_batch, range(reader.num_record_batches))
            for part in parts:
                batch = part.select(names)
                batch.validate(full=True)
                total += batch.nbytes + sum(map(_decoded_size, batch.columns))
                if total > source.max_bytes:
                    raise InputError("too-large", source.name, limit=source.max_bytes)
                yield batch

        yield schema, batches


def _parquet_batches(
    file: Any, rows: int, names: Sequence[str], where: str
) -> Iterator[Any]:
    """Yield the rows of a Parquet file.

    Lists of a dictionary are read one row group at a time. pyarrow cannot join the dictionaries of
    several groups.

    Raises
    ------
    InputError
        If there are other rows than the file says.
    """
    schema = file.schema_arrow
    coded_lists = False
    for name in names:
        kind = schema.field(name).type
        if has_type(kind, *_LISTS) and "dictionary<" in str(kind):
            coded_lists = True
    if coded_lists:
        groups = [[group] for group in range(file.num_row_groups)]
    else:
        groups = [list(range(file.num_row_groups))]
    n_rows = 0
    for group in groups:
        for batch in file.iter_batches(rows, row_groups=group, columns=names):
            n_rows += len(batch)
            yield batch
    if n_rows != file.metadata.num_rows:
        why = f"it has {n_rows:,} of {file.metadata.num_rows:,} rows"
        raise InputError("damaged", where, why=why)


def _safe_to_decode(file: Any, stream: Any, names: Sequence[str]) -> Any:
    """Return the file, or one whose texts stay coded if they would take very much otherwise.

    A text that stands once in a file may be meant a million times, and is decoded as often.
    """
    from pyarrow import parquet

    chosen = {
        leaf.path: i
        for i, leaf in enumerate(
            map(file.schema.column, range(file.metadata.num_columns))
        )
        if leaf.physical_type == "BYTE_ARRAY" and leaf.path.partition(".")[0] in names
    }
    coded = parquet.ParquetFile(
        stream, metadata=file.metadata, read_dictionary=list(chosen)
    )
    for path, i in chosen.items():
        for group in range(file.num_row_groups):
            # Read first: damaged metadata then raise, and end the process if only looked at.
            first = next(
                coded.iter_batches(1, row_groups=[group], columns=[path]), None
            )
            number = file.metadata.row_group(group).column(i).num_values
            values = None if first is None else _leaf(first.column(0))
            if values is not None and types.is_dictionary(values.type):
                longest = pc.max(pc.binary_length(values.dictionary)).as_py() or 0
                if number * longest > _DECODED:
                    return coded
    return file


def _leaf(values: Any) -> Any:
    """Return what lists hold."""
    while has_type(values.type, *_LISTS[:3]):
        values = values.flatten()
    return values


def _decoded_size(values: Any) -> int:
    """Return the bytes of the texts that a dictionary stands for."""
    values = _leaf(values)
    if not types.is_dictionary(values.type) or not has_type(values.type, *_TEXTS[:2]):
        return 0
    lengths_of = pc.binary_length(values.dictionary).cast(pa.int64())
    return pc.sum(lengths_of.take(values.indices)).as_py() or 0


def read_columns(
    schema: Any,
    batches: Callable[[list[str]], Iterable[Any]],
    form: Form,
    options: ReadOptions,
    name: str,
    title: str,
    first: int = 0,
) -> Lists:
    """Code batches of columns, or read them value by value if something is odd.

    The number of the first row is ``first``.
    """
    roles = find_columns(form.table, schema.names, options, name)
    kinds = {role: schema.field(i).type for role, i in roles.items()}
    entries, scores = kinds[form.noun], kinds.get("score")
    wide = has_type(entries, *_LISTS)
    if wide and scores is not None:  # nothing is cast from texts or truth values
        scores = scores.value_type if has_type(scores, *_LISTS[:3]) else pa.string()
    written = (
        has_type(entries, *_TEXTS) and scores is not None and has_type(scores, *_TEXTS)
    )
    numbers = ["integer", "floating"]
    if wide:
        numbers.append("null")
    if form.truths:
        numbers.append("boolean")
    plain = [] if form.blank else ["null"]  # a column of nulls: items without entries
    plain += ["integer"] * (form.numbered or form.places)
    fits = {
        "id": has_type(kinds["id"], *_TEXTS, "integer"),
        form.noun: wide or has_type(entries, *_TEXTS, *plain),
        "score": scores is None or written or has_type(scores, *numbers),
    }
    for role in (role for role, fit in fits.items() if not fit):
        where = at(name, f"column {schema.names[roles[role]]!r}")
        raise InputError("wrong-column-type", where, found=str(kinds[role]), role=role)
    names = [schema.names[i] for i in roles.values()]
    try:
        leave_if(written)  # perhaps lists
        coder = Coder(form, by_row=not wide, first=first)
        for batch in batches(names):
            coder.add(*_columns_of(batch, names, form, wide))
        found = coder.finish(name)
    except MemoryError:  # pyarrow's is one of its exceptions, too
        raise
    except (OddError, pa.ArrowException):
        found = encode(
            _read_strictly(batches(names), names, form, name, wide, first), form
        )
    found = describe_table(found, title, schema.names, roles, form, wide)
    return replace(found, precision=_precision_of_type(scores or _score_type(entries)))


def _score_type(entries: Any) -> Any:
    """Return the type of the scores in lists of label objects, None if there are none."""
    if not has_type(entries, *_LISTS[:3]) or not has_type(entries.value_type, "struct"):
        return None
    fields = {field.name: field.type for field in entries.value_type.fields}
    _, score_key = object_keys(fields)
    return fields.get(score_key)


def _precision_of_type(kind: Any) -> str:
    """Return the floating-point type of a column of scores, None without one."""
    if kind is None:
        return "float64"
    return {"float": "float32", "halffloat": "float16"}.get(str(kind), "float64")


def _columns_of(batch: Any, names: Sequence[str], form: Form, wide: bool) -> list[Any]:
    """Return ids, entries and perhaps scores; leave lists of another kind to the strict reader."""
    ids, values, *scores = (batch.column(name) for name in names)
    values = values.cast(pa.string()) if has_type(values.type, "integer") else values
    if wide:
        leave_if(not has_type(values.type, "list", "large_list"))
        leave_if(not has_type(values.type.value_type, *_TEXTS))
    elif not form.blank and _null_count(values):
        values = pc.fill_null(_texts(values), "")
    return [ids, values, *scores]


def _read_strictly(
    batches: Iterable[Any],
    names: Sequence[str],
    form: Form,
    name: str,
    wide: bool,
    first: int,
) -> Items:
    """Read batches value by value; names what is wrong and where."""
    read: list[list[Any]] = [[] for _ in names]
    for batch in batches:
        for cells, one in zip(read, names, strict=True):
            cells.extend(batch.column(one).to_pylist())
    if wide:
        rows = enumerate(zip(*read, strict=True), first)
        items = (
            (row, cells[:2] if cells[-1] is None else cells) for row, cells in rows
        )
        return item_rows(items, iter, name, form, ROW)
    given, values, *scores = read
    if scores and not are_lists_of_scores(scores[0]):
        _check_numbers(scores[0], names[2], name)
    ids = [
        as_id(id_, where=at(name, ROW.format(row)))
        for row, id_ in enumerate(given, first)
    ]
    if form.blank and None in values:
        row = values.index(None)
        remedy = f"write an empty text for an empty {form.noun}"
        where = at(name, ROW.format(first + row), ids[row])
        raise InputError("null", where, role=f"the {form.noun}", remedy=remedy)
    entries = ["" if value is None else value for value in values]
    places = range(first, first + len(ids))
    return entry_rows([(places, ids, entries, *scores)], name, form, ROW)


def _check_numbers(scores: Sequence[Any], column: str, name: str) -> None:
    """Raise if scores are texts; those of CSV files always are."""
    if any(isinstance(score, str) for score in scores):
        where = at(name, f"column {column!r}")
        raise InputError("wrong-column-type", where, found="string", role="score")


def _null_count(values: Any) -> int:
    """Count nulls, of a dictionary also those that stand in it."""
    known = types.is_dictionary(values.type)
    return int(values.null_count + (values.dictionary.null_count if known else 0))


def has_type(kind: Any, *which: str) -> bool:
    """Tell whether a type is one of those, perhaps coded in a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return any(
        (test := getattr(types, f"is_{one}", None)) and test(kind) for one in which
    )


# Large JSON lines and CSV


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


def _blocks(
    source: Source, start: int, limit: int, *, quoted: bool = False
) -> Iterator[bytes]:
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
    used = [
        keys[i] for i in find_columns(form.record, keys, options, source.name).values()
    ]
    extra = {key: None for key in keys if key not in used}
    # the types of the keys are those of the first record: no others are read here
    id_, entries = first[used[0]], first[used[1]]
    by_row = form.single and isinstance(entries, str)
    texts = isinstance(entries, list) and all(
        isinstance(entry, str) for entry in entries
    )
    leave_if(not (by_row or texts))
    whole = isinstance(id_, int) and not isinstance(id_, bool)
    listed = pa.string() if by_row else pa.list_(pa.string())
    kinds = [pa.int64() if whole else pa.string(), listed, pa.list_(pa.float64())]
    schema = pa.schema(dict(zip(used, kinds, strict=False)))
    free = [
        one
        for one in form.record.columns
        if column_among(options, one.role, keys) is None
    ]
    lacking = filter(None, (options.column(column.role) for column in free))
    others = {
        name.casefold()
        for name in {n for one in free for n in one.known}.union(lacking)
    }
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
    # in a record: an empty entry
    leave_if(any(note.code == "empty-cells" for note in found.notes))
    notes = found.notes + [Fact("unused-columns", len(extra), tuple(extra))] * bool(
        extra
    )
    return replace(found, understood=f"JSON lines, one record {row_is}", notes=notes)


def _parse_records(
    block: bytes,
    schema: Any,
    others: set[str],
    extra: dict[str, None],
    options: ReadOptions,
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
    unused_keys = [key for key in table.column_names if key not in schema.names]
    # another name of a role: the strict reader knows which of two it means, or refuses both
    leave_if(
        any(
            key not in extra and key.strip().casefold() in others for key in unused_keys
        )
    )
    extra |= dict.fromkeys(unused_keys)
    leave_if(extra and longest > _DIGITS and _HUGE.search(block))
    leave_if(len(table) != len(ends) + (data[-1] != _NEWLINE))
    return table


def _parse_json(block: bytes, schema: Any, longest: int, unknown: str) -> Any:
    read = pa_json.ReadOptions(block_size=max(_PARSED, 2 * longest))
    kinds = pa_json.ParseOptions(
        explicit_schema=schema, unexpected_field_behavior=unknown
    )
    return pa_json.read_json(
        pa.BufferReader(block), read_options=read, parse_options=kinds
    )


# CSV


def _read_table(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    delimiter = options.delimiter or ("\t" if kind == "tsv" else ",")
    header_end = source.head.find(b"\n") + 1
    first = source.head[:header_end].removeprefix(_MARK)
    _check_text(first)
    line = first.decode()[:-1].removesuffix("\r")
    leave_if(
        not header_end or not delimiter.isascii() or "\r" in line or line.count('"') % 2
    )
    leave_if(header_end > options.max_line_bytes or line.count(delimiter) > _WIDEST)
    header = next(csv.reader([line], delimiter=delimiter, strict=True))
    roles = find_columns(form.table, header, options, at(source.name, "line 1"))
    split = options.label_delimiter if form.scored else None
    kinds = [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.float64()]
    columns = [str(i) for i in range(len(header))]
    used = [columns[i] for i in roles.values()]
    kinds_of = dict(
        zip(used, kinds if split is None else [pa.string()] * 3, strict=False)
    )
    coder = Coder(form, by_row=split is None, parsed=True)

    def parsed(block: bytes) -> tuple[Any, Any, int]:
        return _parse_rows(block, delimiter, columns, kinds_of, options.max_line_bytes)

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
    return replace(
        found, understood=found.understood + split_text(several, len(found), split)
    )


def _parse_rows(
    block: bytes,
    delimiter: str,
    columns: Sequence[str],
    kinds: Mapping[str, Any],
    limit: int,
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
        _check_long_rows(data == ord(delimiter), ends, row_ends, len(columns))
    else:
        # pyarrow makes rows of blank lines
        leave_if(b"\n\n" in block or b"\n\r\n" in block)
    longest = _longest(row_ends, len(block), limit)
    read = pa_csv.ReadOptions(
        column_names=columns, block_size=max(_PARSED, 2 * longest)
    )
    split = pa_csv.ParseOptions(
        delimiter=delimiter,
        newlines_in_values=len(row_ends) < len(ends),
        ignore_empty_lines=False,
    )
    convert = pa_csv.ConvertOptions(
        include_columns=list(kinds),
        column_types=kinds,
        null_values=[""],
        strings_can_be_null=False,
    )
    table = pa_csv.read_csv(pa.BufferReader(block), read, split, convert)
    if len(row_ends) == len(ends):  # a line is a row
        return table, None, len(ends)
    return table, np.append(0, np.searchsorted(ends, row_ends) + 1), len(ends)


def _check_long_rows(is_delimiter: Any, ends: Ints, row_ends: Ints, width: int) -> None:
    """Leave rows of several lines that may be several rows: each line may have all the cells."""
    if len(row_ends) == len(ends):
        return
    last = len(is_delimiter) - 1
    if last not in ends[-1:]:  # the last row has no line break
        ends = np.append(ends, last)
        row_ends = np.append(row_ends, last)
    n_delimiters = np.diff(np.cumsum(is_delimiter)[row_ends], prepend=0)
    n_lines = np.diff(np.searchsorted(ends, row_ends, side="right"), prepend=0)
    leave_if(((n_lines > 1) & (n_delimiters >= n_lines * (width - 1))).any())


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
