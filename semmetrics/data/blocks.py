"""Files and streams of any size, read as lists of a bounded number of items.

Conventions
-----------
A block is some whole lines of a file, about `BLOCK` bytes, or `ROWS` rows of a table. It is read as
a file is, with the header of the file, so a kind reads from blocks what it reads from files, and
errors name the lines, rows and bytes of the file. The rows of an item are together. They may go on
in the next block, so the last item of a block is read again with that one.

JSON lines, CSV and TSV are read once, also from gzip, pipes and standard input; Parquet and Arrow
from files. All of these have ids, so no items are known by position.
"""

from __future__ import annotations

import glob
import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
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
    line_blocks,
    naming,
    open_path,
    unpacked,
)
from semmetrics.errors import InputError, at

Read: TypeAlias = Callable[[Any, str], Any]
"""Makes lists of a Source or an Arrow table, given what messages call it."""

FORMATS = ("jsonl", *TABLES, "parquet", "arrow")
"""The formats that are read in blocks; the last two from files alone."""
BLOCK, ROWS = 2**23, 2**16  # bytes of text, rows of a table
_CELLS = 2**22  # of a table in a block
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_SPELLING = re.compile(r"large_|\w+: | not null|, indices=\w+|, ordered=\d")


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
    """

    name: str
    paths: tuple[str, ...]
    size: int | None

    def lists(
        self, read: Read, options: ReadOptions, advance: Callable[[int], object]
    ) -> Iterator[Lists]:
        """Yield the items of all files in their order, a block at a time.

        The next block is read in a thread while the one before is used.

        Parameters
        ----------
        read : callable
            As ``Setup.read``.
        options : ReadOptions
            Those that ``read`` uses.
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
            if found:
                yield found
            advance(taken)

    def _lists(self, read: Read, options: ReadOptions) -> Iterator[tuple[Any, int]]:
        """Yield the items of each block, perhaps none, and the bytes that it took."""
        columns: dict[str, str] = {}
        nothing: InputError | None = None
        n_items = 0
        for path in self.paths:
            with _open_blocks(path, read, options, columns) as (rows, blocks):
                name, done = rows.file.name, 0
                for (block, taken), (more, _) in pairwise(chain(blocks, [(None, 0)])):
                    found = None
                    try:
                        found = read(rows.add(block), name)
                    except InputError as error:  # a header or blank lines alone
                        if error.code not in ("nothing-given", "empty") or error.where != name:
                            raise
                        nothing = nothing or error
                    else:
                        for note in found.notes:
                            if note.code == "scattered-rows":
                                raise InputError("rows-apart", at(name, "", note.examples[0]))
                        goes_on = more is not None and isinstance(found, Lists)
                        rows.drop(int(found.where.numbers[-1]) if goes_on else None)
                        found = _without_last(found) if goes_on else found
                        found = replace(found, source=self.name, notes=rows.notes + found.notes)
                        n_items += len(found)
                    yield found, taken - done
                    done = taken
        if nothing is not None and not n_items:
            raise nothing


def _without_last(found: Lists) -> Lists:
    """Return all items but the last one, which is read again."""
    ends = (found.whole or found).side.indptr
    again = ("empty-cells",) if ends[-1] == ends[-2] else ()
    notes = [replace(one, n=one.n - (one.code in again)) for one in found.notes]
    return replace(found.rows(0, len(found) - 1), notes=notes)


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
    given, endings = Path(path), tuple(EXTENSIONS)
    if given.is_dir():
        names = [one for one in given.iterdir() if one.name[0] != "."]
        files = [one for one in names if one.name.lower().removesuffix(".gz").endswith(endings)]
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


class _Bytes:
    """The bytes of a file from its beginning, as they lie on disk, and how many were taken."""

    def __init__(self, start: bytes, stream: Any, name: str, file: Path | None) -> None:
        self._start, self._stream, self._named = io.BytesIO(start), stream, (name, file)
        self.taken = 0

    def read(self, size: int) -> bytes:
        with naming(*self._named):
            part: bytes = self._start.read(size) or self._stream.read(size)
        self.taken += len(part)
        return part


@contextmanager
def _open_blocks(
    path: str, read: Read, options: ReadOptions, columns: dict[str, str]
) -> Iterator[tuple[_Text | _Table, Iterator[tuple[Any, int]]]]:
    """Open a file: its rows, of which none are read, and its blocks with the bytes up to their end.

    Of a table ``columns`` have the types that those of the first one have.
    """
    with open_path(path) as (stream, name, file):
        with naming(name, file):
            suffix, packed, start = begin(stream, name, file)
        given = _Bytes(start, stream, name, file)
        parts = unpacked(given, name, sys.maxsize, BLOCK, packed=packed)
        head, second = next(parts, b""), next(parts, b"")
        spool = stream if second else None
        source = Source(name, head, suffix, packed, spool=spool, max_bytes=sys.maxsize)
        is_file = suffix is not None and not packed
        kinds, what = (FORMATS, "a") if is_file else (FORMATS[:-2], "a compressed or piped")
        kind = format_among(source, options, f"{what} stream", kinds, told=True)
        if kind not in FORMATS[-2:]:
            if head[:2] in UTF16:
                raise InputError("not-utf8", at(name, "line 1"), byte=0, codec="UTF-8")
            limit, quoted = options.max_line_bytes, kind in TABLES
            lines = line_blocks(chain([head, second], parts), name, limit, quoted=quoted)
            first = next(lines, b"")
            # before each block: the header, or a mark, so that no other is taken for one
            header = next(line_blocks(io.BytesIO(first), name, limit, quoted=True), b"")
            header = header if quoted else _MARK
            rest = first.removeprefix(header)
            rows = _Text(replace(source, suffix=f".{kind}"), header, len(first) - len(rest))
            yield rows, ((block, given.taken) for block in chain([rest], lines))
            return
    from semmetrics.data.arrow import open_arrow

    source = replace(source, head=start[:8], suffix=f".{kind}", spool=None, path=file)
    with open_arrow(source, kind) as (schema, batches):
        empty = schema.empty_table()
        notes = [one for one in read(empty, name).notes if one.code == "unused-columns"]
        unused = {column for note in notes for column in note.examples}
        names = [column for column in dict.fromkeys(schema.names) if column not in unused]
        empty = empty.select(names)
        _check_columns(empty.schema, columns, name)
        yield _Table(source, empty, notes), _tables(batches(names), empty.schema, file, kind)


class _Text:
    """Lines of a file that are not read yet, and what was before them.

    Attributes
    ----------
    file : Source
        What all blocks of the file have in common.
    notes : list
        What was odd of all of them.
    """

    def __init__(self, file: Source, header: bytes, size: int) -> None:
        self.file, self.notes, self._rest, self._header = file, list[Any](), b"", header
        self._is_table = header != _MARK
        self._top = len(header.splitlines()) * self._is_table
        self._lines, self._bytes = 0, size - len(header)  # between header and rest

    def add(self, block: bytes) -> Source:
        """Add lines, and return all of them as a part of the file."""
        self._rest += block
        data = self._header + self._rest
        spool = io.BytesIO(data) if self._lines or len(data) > SMALL else None
        before = self._lines, self._bytes
        return replace(self.file, head=data[: SMALL + 1], spool=spool, before=before)

    def drop(self, number: int | None) -> None:
        """Drop the lines before that of a number, or all."""
        ends = self._rest
        if self._is_table:  # a carriage return alone ends a line, too
            ends = ends.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
        n = ends.count(b"\n")
        lines = n if number is None else number - 1 - self._top - self._lines
        stop = len((b"\n" + ends).rsplit(b"\n", n - lines + 1)[0])
        self._rest = self._rest[stop:]
        self._lines, self._bytes = self._lines + lines, self._bytes + stop


class _Table:
    """Rows of Parquet or Arrow; as `_Text`."""

    def __init__(self, file: Source, empty: Any, notes: list[Any]) -> None:
        self.file, self.notes, self._rest, self._first = file, notes, empty, 0

    def add(self, block: Any) -> Source:
        from pyarrow import concat_tables

        self._rest = concat_tables([self._rest, block])
        return replace(self.file, table=self._rest, before=(self._first, 0))

    def drop(self, number: int | None) -> None:
        stop = len(self._rest) if number is None else number - self._first
        self._rest, self._first = self._rest.slice(stop), self._first + stop


def _check_columns(schema: Any, columns: dict[str, str], where: str) -> None:
    """Refuse a table whose columns, or their types, are not those of the first one."""
    kinds = {one.name: re.sub(_SPELLING, "", str(one.type)) for one in schema}
    if not columns:
        columns |= kinds
    for name in dict.fromkeys([*columns, *kinds]):
        found, wanted = (some.get(name, "missing") for some in (kinds, columns))
        if found != wanted and "null" not in found + wanted:  # a type of columns without values
            where = at(where, f"column {name!r}")
            raise InputError("other-column", where, found=found, wanted=wanted)


def _tables(batches: Any, schema: Any, file: Any, kind: str) -> Iterator[tuple[Any, int]]:
    """Yield tables of a bounded number of rows, at least one, and the bytes up to their end."""
    from pyarrow import Table, parquet

    most, size = max(1, min(ROWS, _CELLS // max(1, len(schema)))), file.stat().st_size
    total = parquet.read_metadata(file).num_rows if kind == "parquet" else 0
    parts, n, taken = list[Any](), 0, 0.0
    for batch in batches:
        for start in range(0, len(batch), most):
            if n >= most:
                yield Table.from_batches(parts), min(size, int(taken))
                parts, n = [], 0
            parts.append(batch.slice(start, most))
            n += len(parts[-1])
            taken += size * len(parts[-1]) / total if total else parts[-1].nbytes
    yield Table.from_batches(parts, schema), size
