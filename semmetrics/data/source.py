"""The bytes of an input: files and streams, gzip, text encodings and size limits.

Conventions
-----------
Small inputs are read at once. The rest of a large file is read on demand, in chunks or as a whole.
A large stream, which cannot be read twice, is first copied to a temporary file.

The limit ``max_bytes`` applies to the bytes that are read, after decompression.
"""

from __future__ import annotations

import codecs
import gc
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from semmetrics.errors import InputError, format_place, reason_of
from semmetrics.messages import listing

MAX_SMALL_BYTES = 2 * 2**20
"""The largest size in bytes of an input that is read at once, in Python.

pyarrow takes 0.25 s to import. In this time, the strict readers read about 2 MB of JSON lines or
CSV.
"""

UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""The byte order marks of UTF-16."""
CHUNK_BYTES = 2**20
_MAX_QUOTED_ROW = 2**24
"""The largest number of bytes of a row with quoted newlines."""
_GZIP = b"\x1f\x8b"
_LFS = b"version https://git-lfs.github.com/spec/"
_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls
_HTML = (b"<!doctype html", b"<html")
_TEXT_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".txt")
_BAD_CHARACTERS = {"\0": "a NUL character", "\ufeff": "a byte order mark (U+FEFF)"}
"""What messages call characters that no text may contain."""
_STDIN = "standard input"


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Convert a MemoryError to the error of an input that does not fit into memory."""
    try:
        yield
    except MemoryError:
        raise InputError("out-of-memory", name) from None


@contextmanager
def reporting_damage(
    where: str, *errors: type[Exception], code: str = "damaged"
) -> Iterator[None]:
    """Convert the errors that a library raises for damaged content to the error of an input."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except errors as error:
        lines = str(error).splitlines()
        why = lines[0] if lines else type(error).__name__
        raise InputError(code, where, why=why) from None


def text_lines(text: str, newline: str = "\n") -> Iterator[str]:
    r"""Yield the lines of a text with their line ends.

    With ``newline=""``, a carriage return also ends a line.

    Examples
    --------
    >>> list(text_lines("a\r\n\nb")), list(text_lines("a\rb", newline=""))
    (['a\r\n', '\n', 'b'], ['a\r', 'b'])
    """
    start = 0
    # In parts, because a StringIO needs four bytes per character.
    while start < len(text):
        stop = text.find("\n", start + CHUNK_BYTES) + 1 or len(text)
        yield from io.StringIO(text[start:stop], newline=newline)
        start = stop


class Offset(NamedTuple):
    """How much of a file comes before a part of it.

    If the part begins with the header of the file, the header does not count.

    Attributes
    ----------
    n_lines : int
        The number of lines. For Parquet and Arrow files, the number of rows.
    n_bytes : int
    """

    n_lines: int = 0
    n_bytes: int = 0


_NO_OFFSET = Offset()


@dataclass(frozen=True, eq=False)
class Source:
    """An input that has been opened.

    Attributes
    ----------
    name : str
        The name in messages.
    head : bytes
        The beginning, decompressed. All bytes if the input is small.
    suffix : str or None
        The extension, without ".gz". None if the input has no name that tells the format.
    packed : bool
        Whether the input is compressed with gzip.
    path : Path or None
        The file, if it is large.
    spool : file or None
        The copy of a large stream.
    max_bytes : int
        The largest number of bytes to read, after decompression.
    offset : Offset
        The position in the file, if this is a part of a file.
    table : Arrow table or None
        The rows of a part of a Parquet or Arrow file.
    """

    name: str
    head: bytes
    suffix: str | None = None
    packed: bool = False
    path: Path | None = None
    spool: Any = None
    max_bytes: int = 4 * 2**30
    offset: Offset = _NO_OFFSET
    table: Any = None

    @property
    def is_large(self) -> bool:
        """Whether only the beginning has been read."""
        return self.path is not None or self.spool is not None

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Yield all bytes, decompressed, in parts of about this size."""
        if not self.is_large:
            yield self.head
            return
        with self.opened() as stream:
            packed = stream.read(len(_GZIP)) == _GZIP
            stream.seek(0)
            yield from unpacked(stream, self.name, self.max_bytes, size, packed=packed)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the raw bytes on disk or in memory, which may be compressed."""
        with translating_read_errors(self.name, self.path):
            if self.path is not None:
                with self.path.open("rb") as stream:
                    yield stream
            elif self.spool is not None:
                self.spool.seek(0)
                yield self.spool
            else:
                yield io.BytesIO(self.head)

    @cached_property
    def data(self) -> bytes:
        """All bytes, decompressed."""
        if not self.is_large:
            return self.head
        return b"".join(self.chunks())

    @cached_property
    def text(self) -> str:
        """The text, decoded strictly, without a byte order mark at the beginning."""
        codec = "utf-16" if self.head[:2] in UTF16 else "utf-8"
        try:
            text = self.data.decode(codec)
        except UnicodeDecodeError as error:
            raise self._decoding_error(error, codec) from None
        if self.is_large:
            self.__dict__.pop("data", None)  # can be read again
        if codec == "utf-8":
            text = text.removeprefix("\ufeff")
        for character, what in _BAD_CHARACTERS.items():
            position = text.find(character)
            if position >= 0:
                line = text.count("\n", 0, position) + 1 + self.offset.n_lines
                where = format_place(self.name, f"line {line}")
                raise InputError("bad-character", where, what=what)
        if not text or text.isspace():
            remedy = "check the program that wrote it"
            raise InputError("empty", self.name, role="the file", remedy=remedy)
        return text

    def _decoding_error(self, error: UnicodeDecodeError, codec: str) -> InputError:
        """Return the error for bytes that are not text, with their place in the whole file."""
        text_before = self.data[: error.start].decode(codec, "ignore")
        line = text_before.count("\n") + 1 + self.offset.n_lines
        byte = error.start + self.offset.n_bytes
        where = format_place(self.name, f"line {line}")
        return InputError("not-utf8", where, byte=byte, codec=codec.upper())

    @property
    def beginning(self) -> str:
        """The first whole lines of the text, or all of it if the input is small."""
        if not self.is_large or self.head[:2] in UTF16:
            return self.text
        end = self.head.rfind(b"\n") + 1
        return self.head[:end].decode("utf-8", "replace").lstrip("\ufeff")

    def parsed(self, parse: Callable[[Source], Any]) -> Any:
        """Return the result of a parser, which is cached. Callers must not change it."""
        if "value" not in self.__dict__:
            with no_collection():
                self.__dict__["value"] = parse(self)
        return self.__dict__["value"]

    def forget(self) -> None:
        """Free the cached text and the cached results, which can be computed again."""
        cached = ["value", "text"]
        if self.is_large:
            cached.append("data")
        for name in cached:
            self.__dict__.pop(name, None)


# ---- text ---------------------------------------------------------------------------------------


def as_utf8(parts: Iterable[bytes], name: str) -> Iterator[bytes]:
    r"""Convert a text in UTF-16 with a byte order mark to UTF-8, part by part.

    Raises
    ------
    InputError
        If it is not UTF-16.

    Examples
    --------
    >>> data = "a\nb".encode("utf-16")
    >>> b"".join(as_utf8([data[:3], data[3:]], "labels.csv"))
    b'a\nb'
    """
    decoder = codecs.getincrementaldecoder("utf-16")()
    n_lines = 0
    n_bytes = 0
    for part in chain(parts, [None]):
        is_last = part is None
        part = part or b""
        try:
            text = decoder.decode(part, is_last)
        except UnicodeDecodeError as error:
            where = format_place(name, f"line {n_lines + 1}")
            byte = n_bytes + error.start
            raise InputError("not-utf8", where, byte=byte, codec="UTF-16") from None
        n_lines += text.count("\n")
        n_bytes += len(part)
        yield text.encode()


def line_blocks(
    parts: Iterable[bytes], limit: int, *, quoted: bool = False
) -> Iterator[bytes]:
    r"""Yield the bytes of a text in blocks of whole lines.

    Parameters
    ----------
    parts : iterable of bytes
    limit : int
        The largest number of bytes of a line. A longer line is cut, and the reader raises an error
        for it.
    quoted : bool
        Whether newlines between quotes do not end a line. After 16 MB they do, because the quote
        may have been part of a cell.

    Examples
    --------
    >>> list(line_blocks([b'a,"b\n', b'c"\nd', b',e'], 99, quoted=True))
    [b'a,"b\nc"\n', b'd,e']
    """
    rest = b""  # a line whose end was not found yet
    for part in parts:
        end = part.rfind(b"\n") + 1
        if quoted:
            n_quotes = rest.count(b'"')
            end = _end_of_closed_rows(part, end, n_quotes)
        if not end:
            # Either the line continues, or all newlines are between quotes.
            rest += part
            end = rest.rfind(b"\n") + 1
            max_bytes = min(_MAX_QUOTED_ROW, limit) if end else limit
            if len(rest) <= max_bytes:
                continue
            # Too long: end the block at a quoted newline, or else cut the line.
            part = rest
            rest = b""
            end = end or len(part)
        yield b"".join([rest, memoryview(part)[:end]])
        rest = part[end:]
    if rest:
        yield rest


def _end_of_closed_rows(part: bytes, end: int, n_quotes_before: int) -> int:
    """Return the end of the last line up to ``end`` at which all quotes are closed, or 0."""
    n_quotes = n_quotes_before + part.count(b'"', 0, end)
    while end and n_quotes % 2:
        line_start = part.rfind(b"\n", 0, end - 1) + 1
        # Parity is the same whether the quotes of the line are added or subtracted.
        n_quotes += part.count(b'"', line_start, end)
        end = line_start
    return end


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable the garbage collector while a reader makes its lists."""
    # Millions of new lists trigger the cycle collector, which takes two thirds of the time and
    # finds nothing. If several threads read, the first one to start enables it again.
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # inside try, because an interruption may follow immediately
        yield
    finally:
        gc.enable()


def check_lines(source: Source, limit: int) -> None:
    """Raise an error if a line has more bytes than a limit."""
    data = source.data
    if data[:2] in UTF16:
        data = source.text.encode()
    start = 0
    # Look for the last line end within the limit, which reads little.
    while len(data) - start > limit:
        end = data.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1 + source.offset.n_lines
            where = format_place(source.name, f"line {line}")
            raise InputError("line-too-long", where, limit=limit)
        start = end + 1


# ---- opening ------------------------------------------------------------------------------------


def _check_start(head: bytes, name: str, suffix: str | None) -> None:
    """Raise an error if a file is a workbook, a web page, or a pointer of Git LFS."""
    if head.startswith(_LFS):
        raise InputError("lfs-pointer", name)
    if suffix not in _TEXT_SUFFIXES:
        return
    is_new_excel = head.startswith(_ZIP) and b"[Content_Types].xml" in head
    if head.startswith(_OLD_EXCEL) or is_new_excel:
        raise InputError("workbook", name)
    if suffix != ".txt" and head[:200].lstrip().lower().startswith(_HTML):
        raise InputError("web-page", name)


def load(path: str | os.PathLike[str], max_bytes: int) -> Source:
    """Open an input. The path "-" is standard input."""
    with (
        open_parts(path, CHUNK_BYTES, max_bytes) as (source, parts, _),
        translating_read_errors(source.name, None),
    ):
        if source.spool is None:
            return source
        if source.suffix is not None:  # a file, which can be opened again
            return replace(source, path=Path(source.name), spool=None)
        return replace(source, spool=copy_to_file(chain([source.head], parts)))


class Stream:
    """A stream that counts the bytes it reads, before decompression, and names itself in errors.

    Attributes
    ----------
    packed : bool
        Whether it is compressed with gzip.
    n_bytes_read : int
    """

    def __init__(self, stream: BinaryIO, name: str, file: Path | None) -> None:
        self._stream = stream
        self._name = name
        self._file = file
        self.n_bytes_read = 0
        self._start = self._read_stream(len(_GZIP))
        if not self._start:
            raise InputError("empty-file", name)
        self.packed = self._start == _GZIP

    def read(self, size: int) -> bytes:
        """Read at most this number of bytes."""
        part = self._start or self._read_stream(size)
        self._start = b""
        self.n_bytes_read += len(part)
        return part

    def _read_stream(self, size: int) -> bytes:
        with translating_read_errors(self._name, self._file):
            return self._stream.read(size)


@contextmanager
def open_parts(
    path: str | os.PathLike[str], size: int, max_bytes: int = sys.maxsize
) -> Iterator[tuple[Source, Iterator[bytes], Stream]]:
    """Open an input for reading it once.

    Parameters
    ----------
    path : path
    size : int
        How many bytes are read at once.
    max_bytes : int
        The largest number of bytes to read, after decompression.

    Yields
    ------
    source : Source
        It only has its head. If bytes follow the head, ``spool`` is the stream, which must only be
        read through ``parts``.
    parts : iterator of bytes
        The bytes after the head, decompressed.
    stream : Stream
    """
    with open_path(path) as (opened, name, file):
        suffix = None
        has_gzip_name = False
        # The name of a pipe such as <(command) has no meaning.
        if file is not None and file.is_file():
            has_gzip_name = file.suffix.lower() == ".gz"
            unpacked_name = file.with_suffix("") if has_gzip_name else file
            suffix = unpacked_name.suffix.lower()
        stream = Stream(opened, name, file)
        if has_gzip_name and not stream.packed:
            raise InputError("not-gzip", name)
        parts = unpacked(stream, name, max_bytes, size, packed=stream.packed)
        head = b""
        while len(head) <= MAX_SMALL_BYTES and (part := next(parts, b"")):
            head += part
        _check_start(head, name, suffix)
        source = Source(
            name,
            head,
            suffix,
            packed=stream.packed,
            spool=stream if len(head) > MAX_SMALL_BYTES else None,
            max_bytes=max_bytes,
        )
        yield source, parts, stream


@contextmanager
def open_path(
    path: str | os.PathLike[str],
) -> Iterator[tuple[BinaryIO, str, Path | None]]:
    """Open the bytes of an input. Yield them, the name in messages, and the file if there is one.

    The path "-" is standard input.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError("wrong-type", value=path, wanted="a path")
    name = os.fspath(path)
    if not name:
        remedy = "name a file, or - for standard input"
        raise InputError("empty", role="the path", remedy=remedy)
    if name == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None or stream.closed:
            raise InputError("unreadable", _STDIN, why="standard input is closed")
        yield stream, _STDIN, None
        return
    file = Path(name)
    with translating_read_errors(name, file):
        stream = file.open("rb")
    with stream:
        yield stream, name, file


@contextmanager
def translating_read_errors(where: str, file: Path | None) -> Iterator[None]:
    """Convert errors of the operating system to the errors of an input that cannot be read.

    `semmetrics.store.files.translating_write_errors` does so for outputs. It suggests no other path
    and lets closed pipes pass.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        remedy = "check the path" if file is None else _suggest_path(file)
        raise InputError("missing-file", where, remedy=remedy) from None
    except (OSError, ValueError) as error:
        # Path.is_dir raises an error for very long names.
        if file is not None and os.path.isdir(file):  # noqa: PTH112
            raise InputError("is-folder", where) from None
        raise InputError("unreadable", where, why=reason_of(error)) from None


def _suggest_path(file: Path) -> str:
    """Return a remedy for a file that does not exist, with similar names if there are any."""
    import difflib  # only for this message

    if file.is_symlink():
        return f"correct the link, whose target {str(file.readlink())!r} does not exist"
    try:
        names = sorted(os.listdir(file.parent))  # noqa: PTH208 - Path.iterdir would build paths
    except OSError:
        return f"check the path: the folder {str(file.parent)!r} cannot be listed"
    similar_names = difflib.get_close_matches(file.name, names, n=3)
    if not similar_names:
        return "check the path"
    return f"did you mean {listing(similar_names)}?"


def copy_to_file(parts: Iterable[bytes]) -> Any:
    """Copy a stream to a temporary file, which is deleted when it is closed."""
    import tempfile  # imports ten other modules

    # The source keeps the file open.
    spool = tempfile.TemporaryFile(prefix="semmetrics-")  # noqa: SIM115
    try:
        spool.writelines(parts)
    except BaseException:
        spool.close()
        raise
    return spool


def unpacked(
    stream: Any, name: str, max_bytes: int, size: int, *, packed: bool
) -> Iterator[bytes]:
    """Yield the bytes of a file from its beginning, decompressed, up to a limit."""
    n_bytes = 0
    reader = gzip.GzipFile(fileobj=stream) if packed else stream
    try:
        while part := reader.read(size):
            n_bytes += len(part)
            if n_bytes > max_bytes:
                raise InputError("too-large", name, limit=max_bytes)
            yield part
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        why = f"the packed data is corrupt ({error})"
        raise InputError("damaged", name, why=why) from None
