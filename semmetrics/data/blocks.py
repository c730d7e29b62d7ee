"""Read files and streams of any size as lists of a bounded number of items.

Conventions
-----------
A block consists of whole lines of a text file, about `BLOCK_BYTES` bytes, or of up to
`MAX_BLOCK_ROWS` rows of a Parquet or Arrow file. It is read like a file of its own that has the
header of the whole file, so a kind reads blocks and files in the same way. Errors name the lines,
rows and bytes of the whole file. The rows of an item must be together. They may continue in the
next block, so the last item of a block is read again together with the next block, and the counts
in notes may count it twice.

JSON lines, CSV and TSV are read only once, from files, gzip, pipes and standard input. Parquet and
Arrow are read from files. All of these formats have ids, so items are never matched by position.
"""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import hash_ids
from semmetrics.core.prefetch import prefetch
from semmetrics.data.cell_lists import check_styles, place_of_styles
from semmetrics.data.form import DELIMITED_FORMATS, EXTENSIONS
from semmetrics.data.input_formats import format_among
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import (
    MAX_SMALL_BYTES,
    UTF16,
    Offset,
    Source,
    as_utf8,
    line_blocks,
    open_parts,
    translating_read_errors,
)
from semmetrics.errors import InputError, Places, format_place

Read: TypeAlias = Callable[[Any, str], Any]
"""Returns the Lists or the Matrix in a Source or an Arrow table. The second argument is the name
in messages."""

_STREAM_FORMATS = ("jsonl", *DELIMITED_FORMATS)
_FILE_FORMATS = ("parquet", "arrow")
"""The formats that are read in blocks from files, but not from streams."""
FORMATS = (*_STREAM_FORMATS, *_FILE_FORMATS)
"""The formats that are read in blocks."""
BLOCK_BYTES = 2**22
"""The size of a block of text."""
MAX_BLOCK_ROWS = 2**16
"""The largest number of rows in a block of Parquet or Arrow."""
MAX_BLOCK_CELLS = 2**22
"""The largest number of cells in a block of Parquet or Arrow."""
_TYPE_DETAILS = re.compile(r"large_|\w+: | not null|, indices=\w+|, ordered=\d")
"""SideFiles of Arrow types that may differ between files."""


@dataclass(frozen=True)
class SideFiles:
    """The files of one side, in their order.

    Attributes
    ----------
    name : str
        The name in messages: the path, folder or pattern of the user.
    paths : tuple of str
        "-" is standard input.
    size : int or None
        The size of the files on disk. None if one of them is a stream.
    first : str
        The first file of the side, if ``paths`` are only some of its files. All files must have
        its columns. Files without items are then accepted.
    """

    name: str
    paths: tuple[str, ...]
    size: int | None
    first: str = ""

    def lists(
        self, read: Read, options: ReadOptions, advance: Callable[[int], object]
    ) -> Iterator[Lists]:
        """Yield the items of all files in their order, block by block.

        A thread reads the next block while the previous one is used.

        Parameters
        ----------
        read : callable
            Reads a block, as `Read`.
        options : ReadOptions
            The options that ``read`` uses.
        advance : callable
            Called with the size of a block on disk once the block has been used.

        Raises
        ------
        InputError
            As for whole files. Also if rows of an id are not together, files have other columns
            than the first, or a format is not read in blocks.

        Examples
        --------
        >>> from semmetrics import as_labels
        >>> parts = find_side_files("examples/kubany2020_table2/predictions/imagga.json")
        >>> list(parts.lists(lambda data, _: as_labels(data), ReadOptions(), print))
        Traceback (most recent call last):
        semmetrics.errors.InputError: examples/kubany2020_table2/predictions/imagga.json: cannot
        read a stream from json. Use jsonl, csv, tsv, parquet, arrow.
        """
        for lists, n_bytes in prefetch(self._lists(read, options)):
            if lists:
                yield lists
            advance(n_bytes)

    def _lists(self, read: Read, options: ReadOptions) -> Iterator[tuple[Any, int]]:
        """Yield the items of each block, or None if it has none, and its size on disk."""
        columns = self._columns_of_first_file(read, options)
        styles: dict[str, str] = {}
        has_items = False
        empty_error: InputError | None = None  # the first one
        for path in self.paths:
            with _open_blocks(path, read, options, columns) as (rows, blocks):
                name = rows.file.name
                layout = ""
                previous_end = 0
                for block, end, is_last in _mark_last(blocks):
                    lists = None
                    try:
                        contents = read(rows.add(block), name)
                    except InputError as error:
                        if not _has_no_items(error, name):
                            raise
                        empty_error = empty_error or error
                    else:
                        has_items = True
                        layout = _check_layout(contents, layout)
                        lists = self._finish_block(contents, rows, styles, is_last)
                    yield lists, end - previous_end
                    previous_end = end
        if empty_error is not None and not has_items and not self.first:
            raise empty_error

    def _columns_of_first_file(
        self, read: Read, options: ReadOptions
    ) -> dict[str, str]:
        """Return the types of the columns that all files must have, if another file sets them."""
        columns: dict[str, str] = {}
        begins_with_first = self.first in self.paths[:1]
        if self.first and not begins_with_first:
            with _open_blocks(self.first, read, options, columns):
                pass  # Opening the file fills the columns.
        return columns

    def _finish_block(
        self,
        block: Any,
        rows: _TextRows | _ArrowRows,
        styles: dict[str, str],
        is_last: bool,
    ) -> Lists:
        """Return the complete items of a block, with their notes.

        Parameters
        ----------
        block : Lists or Matrix
        rows : _TextRows or _ArrowRows
            The rows of the file. Those of complete items are dropped.
        styles : dict from str to str
            How the cells of each column are written in the blocks before. Columns of this block
            are added.
        is_last : bool
            Whether the block is the last one of its file.
        """
        name = rows.file.name
        lists: Lists = block if isinstance(block, Lists) else block.ranked()
        check_styles(lists.styles, styles, place_of_styles(lists))
        styles.update(lists.styles)
        for note in lists.notes:
            if note.code == "scattered-rows":
                raise InputError("rows-apart", format_place(name, "", note.examples[0]))
        if not is_last and isinstance(lists.where, Places):
            # The rows of the last item may continue in the next block.
            rows.drop(int(lists.where.numbers[-1]))
            lists = lists.rows(0, len(lists) - 1)
        items = replace(lists, source=self.name, notes=rows.notes + lists.notes)
        # The ids store their hashes, which are computed here, in the thread that reads.
        hash_ids(items.ids)
        return items


def _has_no_items(error: InputError, name: str) -> bool:
    """Return whether an error means that a block has only a header or blank lines."""
    return error.code in ("nothing-given", "empty") and error.where == name


def _check_layout(block: Any, before: str) -> str:
    """Return the layout of a block: whether its rows are items or labels.

    Raises
    ------
    InputError
        If the blocks before have the other layout.
    """
    was_matrix = isinstance(block, Matrix) or block.was_matrix
    layout = "one row per item" if was_matrix else "one row per label"
    if before and layout != before:
        raise InputError(
            "mixed-layout",
            block.where(0),
            found=layout,
            wanted=before,
            noun=block.noun,
            flag=f"{block.noun}_column",
        )
    return layout


def find_side_files(path: str) -> SideFiles:
    """Find the files of one side.

    Parameters
    ----------
    path : str
        A file, "-" for standard input, a folder, or a glob pattern. The files of a folder are
        those with the extension of a format, sorted by name and without hidden ones. A path that
        exists is not a pattern.

    Raises
    ------
    InputError
        If there are no files.

    Examples
    --------
    >>> parts = find_side_files("examples/kubany2020_table2/predictions/im*.json")
    >>> parts.name, len(parts.paths)
    ('examples/kubany2020_table2/predictions/im*.json', 1)
    """
    if path == "-":
        return SideFiles("standard input", (path,), None)
    single_path = Path(path)
    is_folder = single_path.is_dir()
    is_pattern = glob.has_magic(str(path)) and not single_path.exists()
    if not is_folder and not is_pattern:
        with translating_read_errors(path, single_path):
            size = single_path.stat().st_size
        return SideFiles(path, (path,), size if single_path.is_file() else None)
    files = _list_files(path, is_folder=is_folder)
    if not files:
        remedy = "check the pattern"
        if is_folder:
            remedy = f"give files that end with {', '.join(EXTENSIONS)}"
        raise InputError("nothing-given", path, what="files to read", remedy=remedy)
    total_size = sum(file.stat().st_size for file in files)
    return SideFiles(path, tuple(map(str, files)), total_size)


def _list_files(path: str, *, is_folder: bool) -> list[Path]:
    """Return the files of a folder that have a known extension, or those of a pattern."""
    pattern = path
    extensions: tuple[str, ...] = ("",)  # any
    if is_folder:
        pattern = f"{glob.escape(path)}/*"
        extensions = tuple(EXTENSIONS)
    files = []
    for name in glob.glob(pattern, recursive=True):  # noqa: PTH207
        has_extension = name.lower().removesuffix(".gz").endswith(extensions)
        if has_extension and Path(name).is_file():
            files.append(Path(name))
    return sorted(files)


# ---- blocks of one file -------------------------------------------------------------------------


class _TextRows:
    """The header of a text file, and the lines of items that may be incomplete.

    Attributes
    ----------
    file : Source
        The properties that all blocks of the file share.
    notes : list
        Notes on the whole file.
    """

    def __init__(self, file: Source, header: bytes) -> None:
        self.file = file
        self.notes: list[Any] = []
        self._header = header
        self._n_header_lines = len(header.splitlines())
        self._rest = b""
        # How many lines and bytes between the header and the rest were dropped.
        self._n_lines_dropped = 0
        self._n_bytes_dropped = 0

    def add(self, block: bytes) -> Source:
        """Add lines, and return the header and all lines as a part of the file."""
        self._rest += block
        data = self._header + self._rest
        spool = None
        if self._n_lines_dropped or len(data) > MAX_SMALL_BYTES:
            spool = io.BytesIO(data)
        offset = Offset(self._n_lines_dropped, self._n_bytes_dropped)
        return replace(
            self.file, head=data[: MAX_SMALL_BYTES + 1], spool=spool, offset=offset
        )

    def drop(self, number: int) -> None:
        """Drop the lines before the line with this number in the file."""
        n_lines = number - 1 - self._n_header_lines - self._n_lines_dropped
        data = np.frombuffer(self._rest, np.uint8)
        is_end = data == ord("\n")
        # In a table, a carriage return also ends a line unless a newline follows.
        if self._header and b"\r" in self._rest:
            is_return = data[:-1] == ord("\r")
            is_end[:-1] |= is_return & ~is_end[1:]
        ends = np.append(-1, np.flatnonzero(is_end))
        n_bytes = int(ends[n_lines]) + 1
        self._rest = self._rest[n_bytes:]
        self._n_lines_dropped += n_lines
        self._n_bytes_dropped += n_bytes


class _ArrowRows:
    """The rows of items that may be incomplete, as `_TextRows`, for Parquet and Arrow."""

    def __init__(self, file: Source, empty: Any, notes: list[Any]) -> None:
        self.file = file
        self.notes = notes
        self._rest = empty
        self._n_rows_dropped = 0

    def add(self, block: Any) -> Source:
        """Add rows, and return all rows as a part of the file."""
        from pyarrow import concat_tables

        self._rest = concat_tables([self._rest, block])
        offset = Offset(self._n_rows_dropped)
        return replace(self.file, table=self._rest, offset=offset)

    def drop(self, number: int) -> None:
        """Drop the rows before the row with this number in the file."""
        self._rest = self._rest.slice(number - self._n_rows_dropped)
        self._n_rows_dropped = number


Blocks: TypeAlias = Iterator[tuple[Any, int]]
"""Blocks of lines or Arrow tables, each with the position of its end in the file in bytes."""


def _mark_last(blocks: Blocks) -> Iterator[tuple[Any, int, bool]]:
    """Yield each block, the position of its end, and whether it is the last one."""
    sentinel = (None, 0)
    for (block, end), (next_block, _) in pairwise(chain(blocks, [sentinel])):
        yield block, end, next_block is None


@contextmanager
def _open_blocks(
    path: str, read: Read, options: ReadOptions, columns: dict[str, str]
) -> Iterator[tuple[_TextRows | _ArrowRows, Blocks]]:
    """Open a file for reading in blocks.

    Parameters
    ----------
    path : str
    read : callable
    options : ReadOptions
    columns : dict from str to str
        The types of the columns of the first table, which all tables must have. It is filled if it
        is empty.

    Yields
    ------
    rows : _TextRows or _ArrowRows
        Still without rows.
    blocks : iterator
        As `Blocks`.
    """
    with open_parts(path, BLOCK_BYTES) as (source, chunks, stream):
        if source.head[:2] in UTF16:
            chunks = as_utf8(chain([source.head], chunks), source.name)
            source = replace(source, head=next(chunks))
        is_stream = source.suffix is None or source.packed
        formats = _STREAM_FORMATS if is_stream else FORMATS
        file_format = format_among(
            source, options, "a stream", formats, has_format_option=True
        )
        source = replace(source, suffix=f".{file_format}", spool=None)
        if file_format not in _FILE_FORMATS:
            header, blocks = _split_header(
                chain([source.head], chunks),
                options.max_line_bytes,
                is_table=file_format in DELIMITED_FORMATS,
            )
            rows = _TextRows(source, header)
            yield rows, ((block, stream.n_bytes_read) for block in blocks)
            return
    with _open_arrow_blocks(source, path, file_format, read, columns) as arrow_blocks:
        yield arrow_blocks


@contextmanager
def _open_arrow_blocks(
    source: Source, path: str, file_format: str, read: Read, columns: dict[str, str]
) -> Iterator[tuple[_ArrowRows, Blocks]]:
    """Open a Parquet or Arrow file, as `_open_blocks`."""
    from semmetrics.data.arrow_files import open_arrow

    source = replace(source, path=Path(path))
    with open_arrow(source, file_format) as (schema, batches):
        empty_table = schema.empty_table()
        # Reading an empty table shows which columns are not used.
        notes = []
        unused_columns: set[str] = set()
        for note in read(empty_table, source.name).notes:
            if note.code == "unused-columns":
                notes.append(note)
                unused_columns.update(note.examples)
        distinct_names = dict.fromkeys(schema.names)
        used_names = [name for name in distinct_names if name not in unused_columns]
        empty_table = empty_table.select(used_names)
        _check_columns(empty_table.schema, columns, source.name)
        rows = _ArrowRows(source, empty_table, notes)
        yield rows, _read_tables(batches, empty_table.schema, source)


def _split_header(
    chunks: Iterable[bytes], limit: int, *, is_table: bool
) -> tuple[bytes, Iterator[bytes]]:
    """Return the header of a text file, which only tables have, and blocks of the other lines."""
    blocks = line_blocks(chunks, limit, quoted=is_table)
    first_block = next(blocks, b"")
    header = b""
    if is_table:
        # Blocks of a file object are single lines, which may have quoted newlines.
        lines = line_blocks(io.BytesIO(first_block), limit, quoted=True)
        header = next(lines, b"")
    return header, chain([first_block.removeprefix(header)], blocks)


def _check_columns(schema: Any, columns: dict[str, str], where: str) -> None:
    """Raise an error if the columns of a table, or their types, differ from those of the first.

    ``columns`` has the types of the first table, and is filled if it is empty.
    """
    types = {field.name: _name_type(field.type) for field in schema}
    if not columns:
        columns.update(types)
    for name in dict.fromkeys([*columns, *types]):
        own_type = types.get(name, "missing")
        first_type = columns.get(name, "missing")
        # Columns without values have the type null.
        has_no_values = "null" in own_type or "null" in first_type
        if own_type != first_type and not has_no_values:
            place = format_place(where, f"column {name!r}")
            raise InputError("other-column", place, found=own_type, wanted=first_type)


def _name_type(arrow_type: Any) -> str:
    """Return the name of an Arrow type without details that may differ between files."""
    if "dictionary" in str(arrow_type):
        arrow_type = getattr(arrow_type, "value_type", arrow_type)
    return _TYPE_DETAILS.sub("", str(arrow_type))


def _read_tables(batches: Any, schema: Any, source: Any) -> Blocks:
    """Yield tables with a bounded number of rows, each with the position of its end in bytes.

    A file without rows yields one empty table.
    """
    from pyarrow import Table, parquet

    max_rows = max(1, min(MAX_BLOCK_ROWS, MAX_BLOCK_CELLS // max(1, len(schema))))
    size = source.path.stat().st_size
    n_rows_of_file = 0
    if source.suffix == ".parquet":
        n_rows_of_file = parquet.read_metadata(source.path).num_rows
    parts: list[Any] = []
    n_rows = 0
    n_bytes = 0.0
    for part in _slice_batches(batches(schema.names), max_rows):
        if n_rows >= max_rows:
            yield Table.from_batches(parts), min(size, int(n_bytes))
            parts = []
            n_rows = 0
        parts.append(part)
        n_rows += len(part)
        if n_rows_of_file:
            n_bytes += size * len(part) / n_rows_of_file
        else:
            n_bytes += part.nbytes
    yield Table.from_batches(parts, schema), size


def _slice_batches(batches: Iterable[Any], max_rows: int) -> Iterator[Any]:
    """Yield the rows of Arrow batches in slices of a bounded size."""
    for batch in batches:
        for start in range(0, len(batch), max_rows):
            yield batch.slice(start, max_rows)
