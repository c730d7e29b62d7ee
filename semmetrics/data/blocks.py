"""Files and streams of any size, read as lists of a bounded number of items.

Conventions
-----------
A block is some whole lines of a file, about `BLOCK` bytes, or `ROWS` rows of a table. It is read as
a file is, with the header of the file, so a kind reads from blocks what it reads from files, and
errors name the lines, rows and bytes of the file. The rows of an item are together. They may go on
in the next block, so the last item of a block is read again with that one; what notes count may
count it twice.

JSON lines, CSV and TSV are read once, also from gzip, pipes and standard input; Parquet and Arrow
from files. All of these have ids, so no items are known by position.
"""

from __future__ import annotations

import glob
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.hashing import hash_ids
from semmetrics.data.cell_lists import check_styles, place_of_styles
from semmetrics.data.form import EXTENSIONS, TABLES, ReadOptions
from semmetrics.data.input_formats import format_among
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.source import (
    SMALL,
    UTF16,
    Source,
    ahead,
    as_utf8,
    line_blocks,
    naming,
    open_parts,
)
from semmetrics.errors import InputError, at

Read: TypeAlias = Callable[[Any, str], Any]
"""Makes lists of a Source or an Arrow table, given what messages call it."""

FORMATS = ("jsonl", *TABLES, "parquet", "arrow")
"""The formats that are read in blocks; the last two from files alone."""
# bytes of text; rows of a table, and their cells
BLOCK, ROWS, CELLS = (
    2**22,
    2**16,
    2**22,
)
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
    first : str
        Of some of the files: the first of all, whose columns they must have. The others may have
        the items.
    """

    name: str
    paths: tuple[str, ...]
    size: int | None
    first: str = ""

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
        styles: dict[str, str] = {}
        problem: Any = None
        if self.first not in ("", *self.paths[:1]):
            # Opening it notes its columns.
            with _open_blocks(self.first, read, options, columns):
                pass
        for path in self.paths:
            with _open_blocks(path, read, options, columns) as (rows, blocks):
                name, done, layout = rows.file.name, 0, ""
                for (block, taken), (more, _) in pairwise(chain(blocks, [(None, 0)])):
                    found: Any = None
                    try:
                        found = read(rows.add(block), name)
                    except InputError as error:
                        if not _has_no_items(error, name):
                            raise
                        problem = error if problem is None else problem
                    else:
                        layout = _check_layout(found, layout)
                        found = self._finish_block(found, rows, styles, more is None)
                        problem = False  # there are items
                    yield found, taken - done
                    done = taken
        if problem and not self.first:
            raise problem

    def _finish_block(
        self, found: Any, rows: Any, styles: dict[str, str], is_last: bool
    ) -> Lists:
        """Return the complete items of a block, with their notes."""
        name = rows.file.name
        found = found if isinstance(found, Lists) else found.ranked()
        check_styles(found.styles, styles, place_of_styles(found))
        styles.update(found.styles)
        for note in found.notes:
            if note.code == "scattered-rows":
                raise InputError("rows-apart", at(name, "", note.examples[0]))
        if not is_last:
            rows.drop(int(found.where.numbers[-1]))
            found = found.rows(0, len(found) - 1)
        items: Lists = replace(found, source=self.name, notes=rows.notes + found.notes)
        hash_ids(items.ids)  # in the thread that reads; ids keep their hashes
        return items


def _has_no_items(error: InputError, name: str) -> bool:
    """Return whether an error tells that a block has only a header or blank lines."""
    return error.code in ("nothing-given", "empty") and error.where == name


def _check_layout(found: Any, before: str) -> str:
    """Return whether the rows of a block are items or labels.

    Raises
    ------
    InputError
        If those of the blocks before are read in the other way.
    """
    was_matrix = isinstance(found, Matrix) or found.was_matrix
    layout = "one row per item" if was_matrix else "one row per label"
    if before and layout != before:
        flag = f"{found.noun}_column"
        values = {"found": layout, "wanted": before, "noun": found.noun, "flag": flag}
        raise InputError("mixed-layout", found.where(0), **values)
    return layout


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
    is_folder = given.is_dir()
    if not is_folder and (given.exists() or not glob.has_magic(path)):
        with naming(path, given):
            size = given.stat().st_size
        return Parts(path, (path,), size if given.is_file() else None)
    found = glob.glob(f"{glob.escape(path)}/*" if is_folder else path, recursive=True)  # noqa: PTH207
    endings = tuple(EXTENSIONS) if is_folder else ("",)
    known = (one for one in found if one.lower().removesuffix(".gz").endswith(endings))
    files = sorted(file for file in map(Path, known) if file.is_file())
    if not files:
        remedy = "check the pattern"
        if is_folder:
            remedy = f"give files that end with {', '.join(EXTENSIONS)}"
        raise InputError("nothing-given", path, what="files to read", remedy=remedy)
    return Parts(path, tuple(map(str, files)), sum(one.stat().st_size for one in files))


@contextmanager
def _open_blocks(
    path: str, read: Read, options: ReadOptions, columns: dict[str, str]
) -> Iterator[tuple[_Text | _Table, Iterator[tuple[Any, int]]]]:
    """Open a file: its rows, of which none are read, and its blocks with the bytes up to their end.

    Of a table ``columns`` have the types that those of the first one have.
    """
    with open_parts(path, BLOCK) as (source, parts, stream):
        if source.head[:2] in UTF16:
            parts = as_utf8(chain([source.head], parts), source.name)
            source = replace(source, head=next(parts))
        kinds = FORMATS[:-2] if source.suffix is None or source.packed else FORMATS
        kind, name = (
            format_among(source, options, "a stream", kinds, told=True),
            source.name,
        )
        source = replace(source, suffix=f".{kind}", spool=None)
        if kind not in FORMATS[-2:]:
            limit, is_table = options.max_line_bytes, kind in TABLES
            blocks = line_blocks(chain([source.head], parts), limit, quoted=is_table)
            first = next(blocks, b"")
            header = (
                next(line_blocks(io.BytesIO(first), limit, quoted=True), b"") * is_table
            )
            blocks = chain([first.removeprefix(header)], blocks)
            yield _Text(source, header), ((block, stream.taken) for block in blocks)
            return
    from semmetrics.data.arrow import open_arrow

    source = replace(source, path=Path(path))
    with open_arrow(source, kind) as (schema, batches):
        empty = schema.empty_table()
        notes = [one for one in read(empty, name).notes if one.code == "unused-columns"]
        unused = {column for note in notes for column in note.examples}
        empty = empty.select(
            [one for one in dict.fromkeys(schema.names) if one not in unused]
        )
        _check_columns(empty.schema, columns, name)
        yield _Table(source, empty, notes), _tables(batches, empty.schema, source)


class _Text:
    """Lines of a file that are not read yet, between its header and the rest.

    Attributes
    ----------
    file : Source
        What all blocks of the file have in common.
    notes : list
        What was odd of all of them.
    """

    def __init__(self, file: Source, header: bytes) -> None:
        self.file, self.notes, self._header, self._rest = file, list[Any](), header, b""
        # the lines of the header, and the lines and bytes between header and rest
        self._top, self._lines, self._bytes = len(header.splitlines()), 0, 0

    def add(self, block: bytes) -> Source:
        """Add lines, and return all of them as a part of the file."""
        self._rest += block
        data, before = self._header + self._rest, (self._lines, self._bytes)
        spool = io.BytesIO(data) if self._lines or len(data) > SMALL else None
        return replace(self.file, head=data[: SMALL + 1], spool=spool, before=before)

    def drop(self, number: int) -> None:
        """Drop the lines before that of a number."""
        data, lines = (
            np.frombuffer(self._rest, np.uint8),
            number - 1 - self._top - self._lines,
        )
        ends = data == b"\n"[0]
        # in a table it ends a line, unless one follows
        if self._header and b"\r" in self._rest:
            ends[:-1] |= (data[:-1] == b"\r"[0]) & ~ends[1:]
        stop = int(np.append(-1, np.flatnonzero(ends))[lines]) + 1
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

    def drop(self, number: int) -> None:
        self._rest, self._first = self._rest.slice(number - self._first), number


def _check_columns(schema: Any, columns: dict[str, str], where: str) -> None:
    """Refuse a table whose columns, or their types, are not those of the first one."""
    types = {
        one.name: getattr(one.type, "value_type", one.type)
        if "dictionary" in str(one.type)
        else one.type
        for one in schema
    }
    kinds = {name: re.sub(_SPELLING, "", str(one)) for name, one in types.items()}
    columns.update(columns or kinds)
    for one in dict.fromkeys([*columns, *kinds]):
        found, wanted = (some.get(one, "missing") for some in (kinds, columns))
        # a type of columns without values
        if found != wanted and "null" not in found + wanted:
            where = at(where, f"column {one!r}")
            raise InputError("other-column", where, found=found, wanted=wanted)


def _tables(batches: Any, schema: Any, source: Any) -> Iterator[tuple[Any, int]]:
    """Yield tables of a bounded number of rows, at least one, and the bytes up to their end."""
    from pyarrow import Table, parquet

    most, size = (
        max(1, min(ROWS, CELLS // max(1, len(schema)))),
        source.path.stat().st_size,
    )
    total = (
        parquet.read_metadata(source.path).num_rows
        if source.suffix == ".parquet"
        else 0
    )
    parts, n, taken = list[Any](), 0, 0.0
    slices = (
        one.slice(k, most)
        for one in batches(schema.names)
        for k in range(0, len(one), most)
    )
    for part in slices:
        if n >= most:
            yield Table.from_batches(parts), min(size, int(taken))
            parts, n = [], 0
        parts.append(part)
        n, taken = (
            n + len(part),
            taken + (size * len(part) / total if total else part.nbytes),
        )
    yield Table.from_batches(parts, schema), size
