"""Files and streams of any size, read as lists of a bounded number of items.

Conventions
-----------
A block is some whole items of one file: about `BLOCK` bytes of lines, or `ROWS` rows of a table. It
is read as a file is, so a kind reads from blocks what it reads from files, and errors name the
lines, rows and bytes of the file. The rows of an item are together: the last item of a block may go
on in the next one, and so is the first item there.

JSON lines, CSV and TSV are read once, also from gzip, pipes and standard input; Parquet and Arrow
from files. All of these have ids, so no items are known by position.
"""

from __future__ import annotations

import glob
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from semmetrics.data.form import EXTENSIONS, TABLES, ReadOptions
from semmetrics.data.inputs import format_among
from semmetrics.data.lists import Lists
from semmetrics.data.source import (
    SMALL,
    UTF16,
    Source,
    ahead,
    begin,
    first_bytes,
    naming,
    open_path,
    unpacked,
)
from semmetrics.data.tables import row_ends
from semmetrics.errors import InputError, at

Read: TypeAlias = Callable[[Any, str], Any]
"""Makes lists of a Source or an Arrow table, given what messages call it."""

FORMATS = ("jsonl", *TABLES, "parquet", "arrow")
"""The formats that are read in blocks; the last two from files alone."""
BLOCK, ROWS = 2**23, 2**16  # bytes of text, rows of a table
_CELLS = 2**22  # of a table in a block
_TAIL = 2**14  # bytes or rows at the end of a block in which its last item is looked for
_PIECE = 2**20  # bytes that are read at once
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_SPELLING = re.compile(r"large_|\w+: | not null|, indices=\w+|, ordered=\d")
_NAMING = ("unused-columns", "unused-entry-keys", "unused-options", "odd-columns")


@dataclass(frozen=True)
class Parts:
    """The files of one side, in their order.

    Attributes
    ----------
    name : str
        What messages call them: the path, folder or pattern as it was given.
    paths : tuple of str
        "-" is standard input.
    size : int or None
        Their bytes as they lie on disk; None if one is a stream.
    first : str
        Of a part of the files: the first of all, whose columns they must have. Others may have the
        items, so that a part may be empty.
    """

    name: str
    paths: tuple[str, ...]
    size: int | None
    first: str = ""

    def lists(
        self, read: Read, options: ReadOptions, advance: Callable[[int], object]
    ) -> Iterator[Lists]:
        """Yield the items of all files in their order, a block at a time.

        The next block is read in a thread while the one before is used. Facts add up over blocks:
        those that name columns or keys name each once.

        Parameters
        ----------
        read : callable
            As ``Setup.read``.
        options : ReadOptions
            Those that ``read`` uses; the limit on bytes is that of a block.
        advance : callable
            Called with the number of bytes that a block took on disk, once it has been used.

        Raises
        ------
        InputError
            As for whole files; and if rows of an id are not together, files have other columns than
            the first, or a format is not read in blocks.

        Examples
        --------
        >>> from semmetrics import as_labels
        >>> parts = find_parts("examples/kubany2020_table2/predictions/imagga.json")
        >>> list(parts.lists(lambda data, _: as_labels(data), ReadOptions(), print))
        Traceback (most recent call last):
        semmetrics.errors.InputError: examples/kubany2020_table2/predictions/imagga.json: a stream
        cannot be read from json; use jsonl, csv, tsv, parquet, arrow
        """
        for found, taken in ahead(self._lists(read, options)):
            if found is not None:
                yield found
            advance(taken)

    def _lists(self, read: Read, options: ReadOptions) -> Iterator[tuple[Lists | None, int]]:
        named: set[tuple[str, str]] = set()
        columns: dict[str, str] = {}
        nothing: InputError | None = None
        some = False
        if self.first not in ("", *self.paths[:1]):
            with _open_blocks(self.first, read, options, columns):  # which notes its columns
                pass
        for path in self.paths:
            with _open_blocks(path, read, options, columns) as blocks:
                taken = 0
                for block in _split(blocks, read):
                    found = None
                    try:
                        found = read(block, block.name)
                    except InputError as error:  # a header alone
                        if error.code != "nothing-given":
                            raise
                        nothing = nothing or error
                    else:
                        notes, blocks.notes, some = [*blocks.notes, *found.notes], [], True
                        notes = _new_notes(notes, named, block.name)
                        found = replace(found, source=self.name, notes=notes)
                    yield found, blocks.taken - taken
                    taken = blocks.taken
        if nothing is not None and not some and not self.first:
            raise nothing


def _new_notes(notes: Sequence[Any], named: set[tuple[str, str]], name: str) -> list[Any]:
    """Return notes without the names that are known; refuse rows that are not together."""
    found = []
    for note in notes:
        if note.code == "scattered-rows":
            raise InputError("rows-apart", at(name, "", note.examples[0]))
        names = tuple(one for one in note.examples if (note.code, one) not in named)
        if note.code not in _NAMING:
            found.append(note)
        elif names:
            named.update((note.code, one) for one in names)
            found.append(replace(note, n=len(names), examples=names))
    return found


def find_parts(path: str) -> Parts:
    """Find the files of one side.

    Parameters
    ----------
    path : str
        A file, "-" for standard input, a folder, or a pattern. Of a folder these are the files with
        the extension of a format, by name, but for hidden ones. What exists is no pattern.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> found = find_parts("examples/kubany2020_table2/predictions/im*.json")
    >>> found.name, len(found.paths)
    ('examples/kubany2020_table2/predictions/im*.json', 1)
    """
    if path == "-":
        return Parts("standard input", (path,), None)
    given = Path(path)
    if given.is_dir():
        files = [
            one for one in given.iterdir() if one.name[0] != "." and _ending(one) in EXTENSIONS
        ]
    elif glob.has_magic(path) and not given.exists():
        files = [*map(Path, glob.glob(path, recursive=True))]  # noqa: PTH207 - as it was given
    else:
        with naming(path, given):
            size = given.stat().st_size
        return Parts(path, (path,), size if given.is_file() else None)
    files = sorted(one for one in files if one.is_file())
    if not files:
        remedy = f"give files that end with {', '.join(EXTENSIONS)}"
        raise InputError("nothing-given", path, what="files to read", remedy=remedy)
    return Parts(path, tuple(map(str, files)), sum(one.stat().st_size for one in files))


def _ending(file: Path) -> str:
    return (file.with_suffix("") if file.suffix.lower() == ".gz" else file).suffix.lower()


class _Pieces:
    """The bytes of a file from its beginning, decompressed, in pieces.

    Attributes
    ----------
    taken : int
        How many bytes were read, as they lie on disk.
    """

    def __init__(self, stream: Any, name: str, file: Path | None) -> None:
        self._stream, self._named, self.taken = stream, (name, file), 0
        with naming(name, file):
            self.suffix, self.packed, start = begin(stream, name, file)
        self._start = io.BytesIO(start)
        self.parts = unpacked(self, name, sys.maxsize, _PIECE, packed=self.packed)

    def read(self, size: int) -> bytes:
        """Read some bytes as they lie on disk."""
        with naming(*self._named):
            part: bytes = self._start.read(size) or self._stream.read(size)
        self.taken += len(part)
        return part


@contextmanager
def _open_blocks(
    path: str, read: Read, options: ReadOptions, columns: dict[str, str]
) -> Iterator[_Text | _Table]:
    """Open a file, and find its format."""
    with open_path(path) as (stream, name, file):
        pieces = _Pieces(stream, name, file)
        is_file = pieces.suffix is not None and not pieces.packed
        head = first_bytes(pieces.parts)
        large = stream if len(head) > SMALL else None
        source = Source(
            name, head, pieces.suffix, pieces.packed, spool=large, max_bytes=sys.maxsize
        )
        kinds = FORMATS if is_file else FORMATS[:-2]
        what = "a stream" if is_file else "a compressed or piped stream"
        kind = format_among(source, options, what, kinds, told=True)
        if kind in ("jsonl", *TABLES):
            if head[:2] in UTF16:
                raise InputError("not-utf8", at(name, "line 1"), byte=0, codec="UTF-8")
            yield _Text(source, kind, pieces, options)
            return
    from semmetrics.data.arrow import open_arrow

    with open_arrow(replace(source, path=file if large else None, spool=None), kind) as opened:
        yield _Table(source, kind, file, opened, read, columns)


class _Text:
    """Lines of JSON, CSV or TSV that are not in a block yet.

    Attributes
    ----------
    file : Source
        What all blocks of the file have in common.
    rest : bytes
        What was read and is not in a block yet.
    most, limit : int
        How long a block is, and how long a row may be.
    first, bytes : int
        How many lines and bytes come before the rest.
    taken : int
        How much of the file was read, in bytes as they lie on disk.
    notes : list
        What is known before any item.
    """

    def __init__(self, source: Source, kind: str, more: _Pieces, options: ReadOptions) -> None:
        self.file, self.rest = replace(source, suffix=f".{kind}", spool=None), source.head
        self.more, self.options, self.most, self.notes = more, options, BLOCK, list[Any]()
        self.first = self.bytes = self.taken = 0
        self.is_table, self.tabs = kind in TABLES, kind == "tsv"
        self.delimiter = options.delimiter or ("\t" if self.tabs else ",")
        self.line_end = re.compile(rb"\r\n?|\n" if self.is_table else rb"\n")
        self.limit = options.max_line_bytes * (4 if self.is_table else 1)  # a row may have lines
        # what a block begins with: the header, or a mark, so that no other is taken for one
        self.lines = sum(self._row_ends(self.rest, most=1)) if self.is_table else 0
        self.header = self.rest[: self._lines_end(0, self.lines)] if self.is_table else _MARK

    def fill(self, size: int) -> bool:
        """Read more than a size, if there is more; otherwise return True."""
        parts, n, part = [self.rest], len(self.rest), b"-"
        while n <= size and (part := next(self.more.parts, b"")):
            parts.append(part)
            n += len(part)
        self.rest, self.taken = b"".join(parts), self.more.taken
        if not part and self.bytes and self.rest.isspace():
            self.rest = b""
        return not part and len(self.rest) <= size

    def rows_end(self, size: int) -> int:
        """Return where the last whole row ends within a size."""
        rows, self.plain = self.rest[:size], True
        if self.is_table and b'"' in rows:
            from semmetrics.data.large import has_plain_quotes, rows_end

            end = rows_end(rows)
            self.plain = has_plain_quotes(rows[:end], self.delimiter)
            if not self.plain:
                end = self._lines_end(0, max(self._row_ends(rows), default=0))
        else:
            end = rows.rfind(b"\n") + 1
        return end if self.header else 0

    def _row_ends(self, rows: bytes, most: int | None = None) -> list[int]:
        text = rows[: rows.rfind(b"\n") + 1].removeprefix(_MARK).decode("utf-8", "replace")
        return row_ends(text, self.options, tabs=self.tabs, most=most)

    def row_start(self, place: int) -> int:
        """Return where the first row begins that does not begin before a place."""
        if place <= 0 or not self.plain:
            return 0
        start = self.rest.find(b"\n", place - 1) + 1
        while self.is_table and self.rest.count(b'"', 0, start) % 2:
            start = self.rest.find(b"\n", start) + 1
        return start

    def place(self, start: int, number: int) -> int:
        """Return where the row of a number begins, which is not before ``start``."""
        stop = self._lines_end(start, number - 1 - self.first - self._count_lines(start))
        while self.rest[stop - 1] in (b"\r\n" if self.is_table else b" \t\r\n"):
            stop -= 1  # blank lines go with the row behind them
        return self._lines_end(stop, 1)

    def _count_lines(self, stop: int) -> int:
        """Count the lines up to the end of one."""
        n = self.rest.count(b"\n", 0, stop)
        if self.is_table and b"\r" in self.rest:
            n += self.rest.count(b"\r", 0, stop) - self.rest.count(b"\r\n", 0, stop)
        return n

    def _lines_end(self, start: int, lines: int) -> int:
        """Return where a number of lines ends."""
        ends = self.line_end.finditer(self.rest, start)
        return next(islice(ends, lines - 1, None)).end() if lines else start

    def part(self, start: int, stop: int) -> Source:
        """Return some rows as a part of the file."""
        rows, before = self.rest[start:stop], (0, 0)
        if self.bytes or start:
            line = self.first + self._count_lines(start) - self.lines
            before = line, self.bytes + start - len(self.header)
            rows = self.header + rows
        large = len(rows) > (_TAIL if self.bytes else SMALL)
        head, spool = (rows[: SMALL + 1], io.BytesIO(rows)) if large else (rows, None)
        return replace(self.file, head=head, spool=spool, before=before)

    def drop(self, stop: int) -> None:
        """Leave out the rows up to a place."""
        self.first, self.bytes = self.first + self._count_lines(stop), self.bytes + stop
        self.rest = self.rest[stop:]


class _Table:
    """Rows of Parquet or Arrow, of the columns in use; as `_Text`."""

    limit = sys.maxsize

    def __init__(
        self, source: Source, kind: str, file: Any, opened: Any, read: Read, columns: dict[str, str]
    ) -> None:
        from pyarrow import parquet

        schema, batches = opened
        empty = schema.empty_table()
        source = replace(source, head=b"", suffix=f".{kind}", spool=None, table=empty)
        try:
            found = read(source.table, source.name)
        except InputError:
            read(source, source.name)  # says it of a file
            raise
        notes = [note for note in found.notes if note.code == "unused-columns"]
        unused = {name for note in notes for name in note.examples}
        names = [name for name in dict.fromkeys(schema.names) if name not in unused]
        _check_columns(schema, names, columns, source.name)
        self.most = max(1, min(ROWS, _CELLS // max(1, len(names))))
        self.file, self.rest = source, source.table.select(names)
        self.more, self.notes, self.size = batches(names), notes, file.stat().st_size
        # of Arrow bytes are read, of Parquet rows, the total of which is known
        self.first = self.taken = self.read = 0
        self.total = parquet.read_metadata(file).num_rows if kind == "parquet" else 0

    def fill(self, size: int) -> bool:
        import pyarrow as pa

        parts, n, batch = [self.rest], len(self.rest), self.rest
        while n <= size and (batch := next(self.more, None)) is not None:
            parts.append(pa.table(batch))
            n, self.read = n + len(batch), self.read + (len(batch) if self.total else batch.nbytes)
        self.rest = pa.concat_tables(parts)
        ended = batch is None and n <= size
        share = 1.0 if ended else min(1.0, self.read / (self.total or self.size))
        self.taken = int(self.size * share)
        return ended

    def rows_end(self, size: int) -> int:
        return size

    def row_start(self, place: int) -> int:
        return max(0, place)

    def place(self, start: int, number: int) -> int:
        return number - self.first

    def part(self, start: int, stop: int) -> Source:
        table, before = self.rest.slice(start, stop - start), (self.first + start, 0)
        return replace(self.file, table=table, before=before)

    def drop(self, stop: int) -> None:
        self.first, self.rest = self.first + stop, self.rest.slice(stop)


def _check_columns(schema: Any, names: Sequence[str], columns: dict[str, str], where: str) -> None:
    """Refuse a table whose columns, or their types, are not those of the first one."""
    kinds = {name: re.sub(_SPELLING, "", str(schema.field(name).type)) for name in names}
    if not columns:
        columns |= kinds
    for name in dict.fromkeys([*columns, *names]):
        found, wanted = (some.get(name, "missing") for some in (kinds, columns))
        if found != wanted and "null" not in found + wanted:  # a type of columns without values
            where = at(where, f"column {name!r}")
            raise InputError("other-column", where, found=found, wanted=wanted)


def _split(rows: _Text | _Table, read: Read) -> Iterator[Source]:
    """Yield blocks of whole items; at least one, which may have none."""
    size, n = rows.most, 0
    while True:
        ended = rows.fill(size)
        stop = len(rows.rest) if ended else _last_item(rows, size, read)
        if stop or (ended and not n):
            yield rows.part(0, stop)
            rows.drop(stop)
            size, n = rows.most, n + 1
        elif not ended:  # it is one item
            size *= 2
        if ended:
            return


def _last_item(rows: _Text | _Table, size: int, read: Read) -> int:
    """Return where the last item begins in the whole rows of a size; 0 if it is alone there."""
    name, end, tail = rows.file.name, rows.rows_end(size), _TAIL
    if not end and size > rows.limit:
        read(rows.part(0, size), name)  # says what is wrong, as a rule
        raise InputError("line-too-long", at(name, f"line {rows.first + 1}"), limit=rows.limit)
    while end:
        start = rows.row_start(end - tail)
        try:
            found = read(rows.part(start, end), name)
        except InputError as error:
            bare = (error.code, error.where) in (("nothing-given", name), ("empty", name))
            if not start and not bare:
                ended = rows.fill(2 * size)  # so that the item it is about is whole
                read(rows.part(0, len(rows.rest) if ended else rows.rows_end(2 * size)), name)
                raise
        else:
            if len(found) > 1:
                return rows.place(start, found.where.numbers[-1])
        end, tail = end if start else 0, 16 * tail
    return 0
