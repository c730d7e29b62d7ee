"""Open Parquet and Arrow files, and read their columns in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from semmetrics.data.source import Source, reporting_damage
from semmetrics.errors import InputError

MAX_ROWS_PER_BATCH = 2**16
_MAX_CELLS_PER_BATCH = 2**22
_MAX_DECODED_BYTES = 2**31
"""The strings of a row group are decoded at once up to this size."""
STRING_TYPES = ("string", "large_string", "string_view")
LIST_TYPES = ("list", "large_list", "fixed_size_list")
MAP_TYPE = "map"


def has_type(kind: Any, *type_names: str) -> bool:
    """Return whether an Arrow type, or the type of a dictionary's values, has one of these names.

    Names of types that the installed pyarrow does not know are ignored.
    """
    if types.is_dictionary(kind):
        kind = kind.value_type
    for name in type_names:
        is_type = getattr(types, f"is_{name}", None)
        if is_type is not None and is_type(kind):
            return True
    return False


@contextmanager
def open_arrow(source: Source, kind: str) -> Iterator[tuple[Any, Any]]:
    """Open a Parquet or Arrow file.

    Parameters
    ----------
    source : Source
    kind : {"parquet", "arrow"}

    Yields
    ------
    pyarrow.Schema
    function
        Takes names of columns, and returns an iterable of record batches with these columns.

    Raises
    ------
    InputError
        If the file is damaged, or its decoded size is above ``source.max_bytes``.
    """
    if source.table is not None:
        yield source.table.schema, lambda names: source.table.select(names).to_batches()
        return
    # A damaged file raises nearly any exception inside pyarrow.
    with reporting_damage(source.name, Exception):
        stream = _open_stream(source)
        reader: _ParquetReader | _IpcReader
        if kind == "parquet":
            reader = _ParquetReader(stream, source.name)
        else:
            reader = _IpcReader(stream, source)
        yield reader.schema, partial(_checked_batches, reader, source)


def _open_stream(source: Source) -> Any:
    """Return the file in the form in which pyarrow reads it: a buffer or a stream."""
    if source.packed or not source.is_large:
        return pa.BufferReader(source.data)
    # A memory map would crash the process if the file were truncated while it is read.
    if source.path is None:
        return source.spool
    return pa.OSFile(str(source.path))


def _checked_batches(
    reader: _ParquetReader | _IpcReader, source: Source, names: Sequence[str]
) -> Iterator[Any]:
    """Yield batches of columns after validating them and checking their total size."""
    total_bytes = 0
    for part in reader.batches(names):
        batch = part.select(names)
        batch.validate(full=True)
        total_bytes += batch.nbytes + sum(map(_decoded_bytes, batch.columns))
        if total_bytes > source.max_bytes:
            raise InputError("too-large", source.name, limit=source.max_bytes)
        yield batch


class _IpcReader:
    """Read record batches of an Arrow file or stream."""

    def __init__(self, stream: Any, source: Source) -> None:
        self._stream = stream
        self._is_file = source.head[:6] == b"ARROW1"
        self.schema = self._open().schema

    def _open(self) -> Any:
        if self._is_file:
            return pa.ipc.open_file(self._stream)
        return pa.ipc.open_stream(self._stream)

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the record batches, with all columns."""
        self._stream.seek(0)
        reader = self._open()
        if not self._is_file:
            yield from reader
            return
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


class _ParquetReader:
    """Read record batches of a Parquet file."""

    def __init__(self, stream: Any, name: str) -> None:
        from pyarrow import parquet

        self._stream = stream
        self._name = name
        self._file = parquet.ParquetFile(stream)
        self.schema = self._file.schema_arrow

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield record batches with some of the columns.

        Raises
        ------
        InputError
            If the number of rows differs from the number in the metadata.
        """
        file = self._file_for_decoding(names)
        max_rows = _MAX_CELLS_PER_BATCH // max(1, len(names))
        batch_rows = max(1, min(MAX_ROWS_PER_BATCH, max_rows))
        n_rows = 0
        for groups in _row_group_sets(file, names):
            for batch in file.iter_batches(
                batch_rows, row_groups=groups, columns=names
            ):
                n_rows += len(batch)
                yield batch
        if n_rows != file.metadata.num_rows:
            why = f"it has {n_rows:,} of {file.metadata.num_rows:,} rows"
            raise InputError("damaged", self._name, why=why)

    def _file_for_decoding(self, names: Sequence[str]) -> Any:
        """Return the file, reopened with coded strings if decoding them takes too much memory.

        A dictionary stores a string once, but the column may refer to it a million times.
        """
        from pyarrow import parquet

        file = self._file
        columns = _string_columns(file, names)
        coded_file = parquet.ParquetFile(
            self._stream, metadata=file.metadata, read_dictionary=list(columns)
        )
        for path, column in columns.items():
            for group in range(file.num_row_groups):
                # Read the row group before its metadata. If the metadata are damaged, reading
                # raises an exception, but using them first crashes the process.
                longest = _longest_coded_string(coded_file, group, path)
                n_values = file.metadata.row_group(group).column(column).num_values
                if n_values * longest > _MAX_DECODED_BYTES:
                    return coded_file
        return file


def _row_group_sets(file: Any, names: Sequence[str]) -> list[list[int]]:
    """Return the row groups that can be read together.

    Lists of dictionary strings are read one row group at a time, since pyarrow cannot join the
    dictionaries of several groups.
    """
    groups = range(file.num_row_groups)
    for name in names:
        kind = file.schema_arrow.field(name).type
        if has_type(kind, *LIST_TYPES, MAP_TYPE) and "dictionary<" in str(kind):
            return [[group] for group in groups]
    return [list(groups)]


def _string_columns(file: Any, names: Sequence[str]) -> dict[str, int]:
    """Return the Parquet columns of strings within columns with these names, as {path: number}."""
    columns = {}
    for number in range(file.metadata.num_columns):
        leaf = file.schema.column(number)
        name = leaf.path.partition(".")[0]
        if leaf.physical_type == "BYTE_ARRAY" and name in names:
            columns[leaf.path] = number
    return columns


def _longest_coded_string(file: Any, group: int, path: str) -> int:
    """Return the size of the longest string in the dictionary of a column, in bytes.

    Return 0 if the column has no dictionary.
    """
    batch = next(file.iter_batches(1, row_groups=[group], columns=[path]), None)
    if batch is None:
        return 0
    values = _flatten_lists(batch.column(0))
    if not types.is_dictionary(values.type):
        return 0
    return pc.max(pc.binary_length(values.dictionary)).as_py() or 0


def _decoded_bytes(values: Any) -> int:
    """Return the size in bytes of the strings of a dictionary column after decoding."""
    values = _flatten_lists(values)
    if not types.is_dictionary(values.type):
        return 0
    if not has_type(values.type, "string", "large_string"):
        return 0
    string_bytes = pc.binary_length(values.dictionary).cast(pa.int64())
    return pc.sum(string_bytes.take(values.indices)).as_py() or 0


def _flatten_lists(values: Any) -> Any:
    """Return the elements of the innermost lists of an array."""
    while has_type(values.type, *LIST_TYPES):
        values = values.flatten()
    return values
