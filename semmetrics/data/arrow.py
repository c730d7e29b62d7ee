"""Columns that Arrow reads: Parquet and Arrow files, Arrow streams, and large JSON lines and CSV.

Conventions
-----------
Batches of columns are coded as they come: ids and distinct entries are kept, the text is let go.
Where something is odd (a null, an empty id, an id that stands twice, a blank entry), ``OddError``
is raised, and the strict reader of the format says what is wrong and where, or accepts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from semmetrics.core.ragged import Floats, Ints, offsets
from semmetrics.data.form import Form, ReadOptions, assign, canonical_id, columns_not_used
from semmetrics.data.items import encode
from semmetrics.data.lists import Lists, Side, Texts
from semmetrics.data.source import Source
from semmetrics.data.tables import RowTable, item_rows, row_notes, table_understood
from semmetrics.errors import InputError, Places, at

__all__ = ["Batch", "Coder", "OddError", "arrow_columns", "read_arrow", "read_arrow_table"]

ROW = "row {} (from 0)"
_BATCH = 2**16
_SAMPLE = 2**13  # strings whose order and repeats tell what to expect of the others
_LISTS = ("list", "large_list", "fixed_size_list", "map")
_TEXTS = ("string", "large_string", "string_view")


class OddError(Exception):
    """There is something that only the strict reader can judge."""


class Batch(NamedTuple):
    """Some rows: their ids, entries, perhaps scores, and their lines, or the first of them."""

    ids: Any
    values: Any
    scores: Any = None
    lines: Any = None


class Coder:
    """Lists made of batches of columns.

    Parameters
    ----------
    form : Form
    by_row : bool
        Whether a row is an entry, so that rows of one id are gathered, or an item with a list.
    parsed : bool
        Whether dictionaries were made while text was parsed: their entries all occur, in order.
    """

    def __init__(self, form: Form, *, by_row: bool, parsed: bool = False) -> None:
        self.form, self.by_row, self._parsed = form, by_row, parsed
        self._ordered = True  # whether codes are numbered in order of first appearance
        self._distinct = False  # whether most entries are different, as captions are
        self._rows = 0
        self._last: Any = None
        self._ids: list[Any] = []  # of runs of rows with one id
        self._starts: list[Any] = []
        self._lines: list[Any] = []
        self._widths: list[Any] = []
        self._names: list[Any] = []
        self._codes: list[Any] = []
        self._scores: list[Any] = []

    def add(self, batch: Batch) -> None:
        """Code the rows of a batch."""
        ids, values, scores = _texts(batch.ids), batch.values, batch.scores
        if ids.null_count or values.null_count:
            raise OddError
        if not len(ids):
            return
        starts = self._new_runs(ids) if self.by_row else np.arange(len(ids))
        self._ids.append(ids.take(pa.array(starts)) if len(starts) < len(ids) else ids)
        self._starts.append(starts + self._rows)
        if isinstance(batch.lines, int):
            self._lines.append(batch.lines + starts)
        elif batch.lines is not None:
            self._lines.append(batch.lines[starts])
        self._rows += len(ids)
        if not self.by_row:
            self._widths.append(_widths(values))
            values = values.flatten()
            if scores is not None:
                if scores.null_count or not np.array_equal(_widths(scores), self._widths[-1]):
                    raise OddError
                scores = scores.flatten()
        self._code(values)
        if scores is not None:
            self._scores.append(_numbers(scores))

    def _new_runs(self, ids: Any) -> Ints:
        """Find the rows whose id is not that of the row before."""
        change = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1))
        starts = np.flatnonzero(change.to_numpy(zero_copy_only=False)) + 1
        goes_on = self._last is not None and ids[0].equals(self._last)
        self._last = ids[len(ids) - 1]
        return starts if goes_on else np.append(0, starts)

    def _code(self, values: Any) -> None:
        """Code entries within their batch."""
        if values.null_count:
            raise OddError
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
        if pc.any(pc.equal(pc.binary_length(runs), 0)).as_py():
            raise OddError  # an empty id
        items, ids = _numbered(runs)
        if not self.by_row and len(ids) < len(runs):
            raise OddError  # an id stands twice
        codes = _joined(self._codes, np.int32)
        scores = _joined(self._scores, np.float64) if self._scores else None
        table, names = _numbered(_chained(self._names))
        if len(names) < len(table):
            codes = table[codes]
        vocabulary: Sequence[str] = names if self.form.blank else list(names)
        empty = 0
        if self.by_row:
            widths = np.diff(np.append(_joined(self._starts, np.int64), self._rows))
            bare = not self.form.blank and "" in vocabulary
            if bare or len(ids) < len(runs):
                rows = np.repeat(items, widths)
                if bare:
                    empties = codes == vocabulary.index("")
                    empty = int(empties.sum())
                    rows, codes, scores = self._without_empty(
                        empties, rows, codes, scores, len(ids)
                    )
                order = np.argsort(rows, kind="stable")
                codes = codes[order]
                scores = None if scores is None else scores[order]
                widths = np.bincount(rows, minlength=len(ids))
                self._ordered = False
        else:
            widths = _joined(self._widths, np.int64)
        if scores is not None and np.isnan(scores).any():
            raise OddError
        scores = scores if scores is not None and len(scores) else None
        if not self._ordered:
            vocabulary, codes = _in_order(list(vocabulary), codes)
        if not self.form.blank and not all(map(str.strip, vocabulary)):
            raise OddError
        first = np.unique(items, return_index=True)[1] if len(ids) < len(runs) else slice(None)
        apart = len(np.unique(np.delete(items, first))) if len(ids) < len(runs) else 0
        lines = _joined(self._lines or self._starts, np.int64)[first]
        return Lists(
            ids,
            vocabulary,
            Side(offsets(widths), codes, scores),
            noun=self.form.noun,
            source=name,
            notes=row_notes(empty, apart, self.form),
            where=Places(name, ids, unit, lines),
        )

    def _without_empty(
        self, bare: Any, rows: Ints, codes: Any, scores: Floats | None, n_items: int
    ) -> tuple[Ints, Any, Floats | None]:
        """Leave out the rows that say that an item has no entries."""
        if (np.bincount(rows, minlength=n_items)[rows[bare]] > 1).any():
            raise OddError
        if scores is not None:
            if not np.isnan(scores[bare]).all():
                raise OddError  # a score beside an empty entry
            scores = scores[~bare]
        return rows[~bare], codes[~bare], scores


def _chained(parts: Sequence[Any]) -> Any:
    return pa.concat_arrays(parts) if parts else pa.array([], pa.string())


def _rising(texts: Any) -> bool:
    found = pc.all(pc.less(texts[:-1], texts[1:])).as_py() if len(texts) > 1 else True
    return bool(found)


def _numbered(texts: Any) -> tuple[Any, Texts]:
    """Number the distinct strings in order of first appearance."""
    sample = texts[:_SAMPLE]
    rising = _rising(sample) and _rising(texts)  # sorted, so that none stands twice
    if rising or (len(sample.unique()) == len(sample) and len(texts.unique()) == len(texts)):
        numbers, distinct = np.arange(len(texts)), texts
    else:
        coded = texts.dictionary_encode()
        numbers, distinct = coded.indices.to_numpy(zero_copy_only=False), coded.dictionary
    _, ends, data = distinct.buffers()
    first, last = distinct.offset, distinct.offset + len(distinct) + 1
    places = (
        np.frombuffer(ends, np.int32)[first:last] if ends is not None else np.zeros(1, np.int32)
    )
    data = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
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


def _numbers(scores: Any) -> Floats:
    """Return scores as floats, nan for nulls."""
    floats = scores.cast(pa.float64())
    if pc.all(pc.is_finite(floats)).as_py() is False:
        raise OddError
    found: Floats = floats.to_numpy(zero_copy_only=False)
    return found


def _joined(parts: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _in_order(entries: list[str], codes: Any) -> tuple[list[str], Any]:
    """Number the entries that occur in order of first appearance."""
    if len(codes):
        highest = np.maximum.accumulate(codes)
        known = highest[0] == 0 and highest[-1] == len(entries) - 1
        if known and (highest[1:] - highest[:-1] <= 1).all():
            return entries, codes
    first = np.full(len(entries), len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several writes the last one stays
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.zeros(len(entries), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return [entries[i] for i in order.tolist()], place[codes]


def arrow_columns(source: Source, kind: str) -> list[str]:
    """Return the names of the columns of a Parquet or Arrow file."""
    with _opened(source, kind) as (schema, _):
        names: list[str] = schema.names
    return names


def read_arrow(source: Source, kind: str, form: Form, options: ReadOptions) -> Lists:
    """Read a Parquet or Arrow file; only the columns that are used are decoded."""
    with _opened(source, kind) as (schema, batches):
        columns = Columns.of(schema, form, options, source.name)
        limited = _limited(batches(columns.names), options.max_bytes, source.name)
        try:
            found = columns.lists(limited)
        except (OddError, pa.ArrowException):
            limited = _limited(batches(columns.names), options.max_bytes, source.name)
            found = columns.strict(limited)
    return columns.noted(found, "Parquet" if kind == "parquet" else "Arrow")


def read_arrow_table(table: Any, form: Form, name: str, options: ReadOptions) -> Lists:
    """Read a table in memory."""
    columns = Columns.of(table.schema, form, options, name)
    batches = table.select(columns.names).to_batches(max_chunksize=_BATCH)
    for batch in batches:
        batch.validate(full=True)
    try:
        found = columns.lists(batches)
    except (OddError, pa.ArrowException):
        found = columns.strict(batches)
    return columns.noted(found, "a table")


@contextmanager
def _opened(source: Source, kind: str) -> Iterator[tuple[Any, Any]]:
    """Open a file: its schema, and a function from column names to batches."""
    try:
        stream = _stream(source)
        if kind == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(stream)
            read = partial(file.iter_batches, _BATCH)
            yield file.schema_arrow, lambda names: read(columns=names)
        elif source.head[:6] == b"ARROW1":
            file = pa.ipc.open_file(stream)
            yield file.schema, partial(_file_batches, file)
        else:
            yield _stream_batches(stream)
    # Damaged files raise nearly anything from inside pyarrow: OSError, ValueError, KeyError...
    except InputError:
        raise
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        what = "Parquet" if kind == "parquet" else "Arrow"
        raise InputError(
            f"it cannot be read as {what}: {line}", where=source.name, remedy="write it again"
        ) from None


def _stream(source: Source) -> Any:
    """Return what pyarrow reads from; no memory map, which ends the process if a file is cut."""
    if source.packed or not source.is_large:
        return pa.BufferReader(source.data)
    return source.spool if source.path is None else pa.OSFile(str(source.path))


def _file_batches(file: Any, names: Sequence[str]) -> Iterator[Any]:
    for number in range(file.num_record_batches):
        yield file.get_batch(number).select(names)


def _stream_batches(stream: Any) -> tuple[Any, Any]:
    schema = pa.ipc.open_stream(stream).schema

    def batches(names: Sequence[str]) -> Iterator[Any]:
        stream.seek(0)
        for batch in pa.ipc.open_stream(stream):
            yield batch.select(names)

    return schema, batches


def _limited(batches: Iterable[Any], max_bytes: int, name: str) -> Iterator[Any]:
    total = 0
    for batch in batches:
        batch.validate(full=True)
        total += batch.nbytes
        if total > max_bytes:
            raise InputError(
                f"it holds more than {max_bytes} bytes when decompressed",
                where=name,
                remedy="if that is right, raise max_bytes (--max-bytes)",
            )
        yield batch


class Columns(NamedTuple):
    """Which columns play which role, and whether a row is an item with a list of entries."""

    name: str
    form: Form
    every: Sequence[str]
    roles: Mapping[str, int]
    wide: bool

    @staticmethod
    def of(schema: Any, form: Form, options: ReadOptions, name: str) -> Columns:
        """Find the columns, and refuse types that their roles cannot have."""
        roles = assign(form.table, schema.names, options, name, form.first_id)
        kinds = {role: schema.field(i).type for role, i in roles.items()}
        entries, scores = kinds[form.noun], kinds.get("score")
        wide = _has(entries, *_LISTS)
        score_kinds = _LISTS[:3] if wide else ("integer", "floating")
        fits = {
            "id": _has(kinds["id"], *_TEXTS, "integer"),
            form.noun: wide or _has(entries, *_TEXTS),
            "score": scores is None or _has(scores, *score_kinds),
        }
        for role in (role for role, fit in fits.items() if not fit):
            raise InputError(
                f"{kinds[role]} is no type of a column of {role}s",
                where=at(name, f"column {schema.names[roles[role]]!r}"),
                remedy=f"ids are text or integers, {form.noun}s text or lists, scores numbers (in "
                f"lists where {form.noun}s are)",
            )
        return Columns(name, form, schema.names, roles, wide)

    @property
    def names(self) -> list[str]:
        """The names of the columns that are used."""
        return [self.every[i] for i in self.roles.values()]

    def lists(self, batches: Iterable[Any]) -> Lists:
        """Code the batches."""
        coder = Coder(self.form, by_row=not self.wide)
        for batch in batches:
            ids, values, *scores = (batch.column(name) for name in self.names)
            if self.wide and not (_has(values.type, "list", "large_list")):
                raise OddError
            if self.wide and not _has(values.type.value_type, *_TEXTS):
                raise OddError
            if not self.wide and not self.form.blank:
                values = values if not values.null_count else pc.fill_null(_texts(values), "")
            coder.add(Batch(ids, values, *scores))
        return coder.finish(self.name)

    def strict(self, batches: Iterable[Any]) -> Lists:
        """Read the batches value by value, to say what is wrong, or to accept what is odd."""
        read: dict[str, list[Any]] = {role: [] for role in self.roles}
        for batch in batches:
            for role, name in zip(self.roles, self.names, strict=True):
                read[role].extend(batch.column(name).to_pylist())
        ids = [
            canonical_id(value, at(self.name, ROW.format(row)))
            for row, value in enumerate(read["id"])
        ]
        values, scores = read[self.form.noun], read.get("score")
        if self.wide:
            beside = [None] * len(ids) if scores is None else scores
            rows = zip(range(len(ids)), ids, values, beside, strict=True)
            return encode(item_rows(rows, self.name, self.form, ROW), self.form)
        if self.form.blank and None in values:
            row = values.index(None)
            raise InputError(
                f"the {self.form.noun} is null",
                where=at(self.name, ROW.format(row), ids[row]),
                remedy=f"write an empty text for an empty {self.form.noun}",
            )
        table = RowTable(self.name, self.form, ROW)
        entries = ["" if value is None else value for value in values]
        table.add(range(len(ids)), ids, entries, scores)
        return encode(table.finish(), self.form)

    def noted(self, found: Lists, kind: str) -> Lists:
        """Say how it was read."""
        understood = table_understood(kind, self.every, dict(self.roles), self.form, self.wide)
        notes = [*found.notes, *columns_not_used(self.every, dict(self.roles))]
        return replace(found, understood=understood, notes=notes)


def _has(kind: Any, *which: str) -> bool:
    """Tell whether a type is one of those, perhaps coded in a dictionary."""
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return any((test := getattr(types, f"is_{one}", None)) and test(kind) for one in which)
