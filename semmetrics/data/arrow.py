"""Columns that Arrow reads: Parquet and Arrow files, Arrow streams, and large JSON lines and CSV.

Conventions
-----------
Batches of columns are coded as they come: ids and distinct entries are kept, the text is let go.
Where something is odd (a null, an empty id, an id that appears twice, a blank entry), ``OddError``
is raised, and the strict reader of the format says what is wrong and where, or accepts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from semmetrics.core.ragged import Ints, lengths, offsets
from semmetrics.data.form import Form, Items, ReadOptions, encode, find_columns, unused
from semmetrics.data.json_files import item_rows, row_notes
from semmetrics.data.lists import Lists, Side, Texts, in_order
from semmetrics.data.source import Source, undamaged
from semmetrics.data.tables import describe_table, entry_rows
from semmetrics.errors import ROW, InputError, Places, at
from semmetrics.schema import as_id

_BATCH, _CELLS = 2**16, 2**22  # rows, and their cells, that are read together
_DECODED = 2**31  # bytes of texts in a part of a file that are decoded without a thought
_SAMPLE = 2**13  # strings whose order and repeats tell what to expect of the others
_LISTS = ("list", "large_list", "fixed_size_list", "map")
_TEXTS = ("string", "large_string", "string_view")


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

    def __init__(self, form: Form, *, by_row: bool, parsed: bool = False, first: int = 0) -> None:
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
            self._lines.append(lines + starts if isinstance(lines, int) else lines[starts])
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
            floats = pc.add(scores.cast(pa.float64()), 0.0)  # -0.0 is 0, as JSON's -0 is
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
            bare, rows = side.codes == vocabulary.index(""), lengths(side.indptr)
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
        pc.all(pc.less(part[:-1], part[1:])).as_py() is not False for part in (sample, texts)
    )
    if rising or (len(sample.unique()) == len(sample) and len(texts.unique()) == len(texts)):
        numbers, distinct = np.arange(len(texts)), texts
    else:
        coded = texts.dictionary_encode()
        numbers, distinct = coded.indices.to_numpy(zero_copy_only=False), coded.dictionary
    _, ends, data = distinct.buffers()
    first, last = distinct.offset, distinct.offset + len(distinct) + 1
    places = np.frombuffer(ends or bytes(4), np.int32)[first:last]  # none has no buffers
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
    found: Ints = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
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
            stream = source.spool if source.path is None else pa.OSFile(str(source.path))
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
                parts = safe.iter_batches(rows, columns=names)
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


def _safe_to_decode(file: Any, stream: Any, names: Sequence[str]) -> Any:
    """Return the file, or one whose texts stay coded if they would take very much otherwise.

    A text that stands once in a file may be meant a million times, and is decoded as often.
    """
    from pyarrow import parquet

    chosen = {
        leaf.path: i
        for i, leaf in enumerate(map(file.schema.column, range(file.metadata.num_columns)))
        if leaf.physical_type == "BYTE_ARRAY" and leaf.path.partition(".")[0] in names
    }
    coded = parquet.ParquetFile(stream, metadata=file.metadata, read_dictionary=list(chosen))
    for path, i in chosen.items():
        for group in range(file.num_row_groups):
            # Read first: damaged metadata then raise, and end the process if only looked at.
            first = next(coded.iter_batches(1, row_groups=[group], columns=[path]), None)
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
    plain = [] if form.blank else ["null"]  # a column of nulls: items without entries
    plain += ["integer"] * (form.numbered or form.places)
    fits = {
        "id": has_type(kinds["id"], *_TEXTS, "integer"),
        form.noun: wide or has_type(entries, *_TEXTS, *plain),
        "score": scores is None or has_type(scores, "integer", "floating", *["null"] * wide),
    }
    for role in (role for role, fit in fits.items() if not fit):
        where = at(name, f"column {schema.names[roles[role]]!r}")
        raise InputError("wrong-column-type", where, found=str(kinds[role]), role=role)
    names = [schema.names[i] for i in roles.values()]
    try:
        coder = Coder(form, by_row=not wide, first=first)
        for batch in batches(names):
            coder.add(*_columns_of(batch, names, form, wide))
        found = coder.finish(name)
    except MemoryError:  # pyarrow's is one of its exceptions, too
        raise
    except (OddError, pa.ArrowException):
        found = encode(_read_strictly(batches(names), names, form, name, wide, first), form)
    return describe_table(found, title, schema.names, roles, form, wide)


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
    batches: Iterable[Any], names: Sequence[str], form: Form, name: str, wide: bool, first: int
) -> Items:
    """Read batches value by value; names what is wrong and where."""
    read: list[list[Any]] = [[] for _ in names]
    for batch in batches:
        for cells, one in zip(read, names, strict=True):
            cells.extend(batch.column(one).to_pylist())
    if wide:
        rows = enumerate(zip(*read, strict=True), first)
        items = ((row, cells[:2] if cells[-1] is None else cells) for row, cells in rows)
        return item_rows(items, iter, name, form, ROW)
    given, values, *scores = read
    ids = [as_id(id_, where=at(name, ROW.format(row))) for row, id_ in enumerate(given, first)]
    if form.blank and None in values:
        row = values.index(None)
        remedy = f"write an empty text for an empty {form.noun}"
        where = at(name, ROW.format(first + row), ids[row])
        raise InputError("null", where, role=f"the {form.noun}", remedy=remedy)
    entries = ["" if value is None else value for value in values]
    places = range(first, first + len(ids))
    return entry_rows([(places, ids, entries, *scores)], name, form, ROW)


def _null_count(values: Any) -> int:
    """Count nulls, of a dictionary also those that stand in it."""
    known = types.is_dictionary(values.type)
    return int(values.null_count + (values.dictionary.null_count if known else 0))


def has_type(kind: Any, *which: str) -> bool:
    """Tell whether a type is one of those, perhaps coded in a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return any((test := getattr(types, f"is_{one}", None)) and test(kind) for one in which)
