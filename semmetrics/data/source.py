"""The bytes of an input: files and streams, gzip, text encodings and size limits.

Conventions
-----------
What is small is read at once. The rest of a large file is read when it is asked for, in chunks or
whole; a large stream, which cannot be read twice, is first copied to a temporary file.

The limit ``max_bytes`` is for the bytes that are read, after decompression.
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
from typing import Any, BinaryIO, TypeVar

from semmetrics.errors import InputError, at
from semmetrics.messages import listing

SMALL = 2 * 2**20
"""Bytes of an input that is read at once, by Python: pyarrow takes 0.25 s to import, in which the
strict readers read about 2 MB of JSON lines or CSV."""

UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 2**20
_ROW = 2**24  # bytes in which the quotes of a row are closed
_GZIP = b"\x1f\x8b"
_LFS = b"version https://git-lfs.github.com/spec/"
_ZIP = b"PK\x03\x04"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls
_HTML = (b"<!doctype html", b"<html")
_TEXT_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".txt")
_STDIN = "standard input"
T = TypeVar("T")


@contextmanager
def enough_memory(name: str) -> Iterator[None]:
    """Raise a MemoryError as the error of an input that does not fit into memory."""
    try:
        yield
    except MemoryError:
        raise InputError("out-of-memory", name) from None


@contextmanager
def undamaged(
    where: str, *errors: type[Exception], code: str = "damaged"
) -> Iterator[None]:
    """Raise what a library raises for other content than it reads as the error of an input."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except errors as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(code, where, why=why) from None


def text_lines(text: str, newline: str = "\n") -> Iterator[str]:
    r"""Yield the lines of a text with their ends; with newline="" a carriage return ends one, too.

    Examples
    --------
    >>> list(text_lines("a\r\n\nb")), list(text_lines("a\rb", newline=""))
    (['a\r\n', '\n', 'b'], ['a\r', 'b'])
    """
    start = 0
    while start < len(text):  # a part at a time: a stream takes four bytes a letter
        stop = text.find("\n", start + _CHUNK) + 1 or len(text)
        yield from io.StringIO(text[start:stop], newline=newline)
        start = stop


@dataclass(frozen=True, eq=False)
class Source:
    """An input that has been opened.

    Attributes
    ----------
    name : str
        What messages call it.
    head : bytes
        Its beginning, decompressed; all of it where it is small.
    suffix : str or None
        The extension, without ".gz"; None where it has no name to tell a format by.
    packed : bool
        Whether it is compressed by gzip.
    path : Path or None
        The file, where it is large.
    spool : file or None
        The copy of a large stream.
    max_bytes : int
        The most bytes to read, after decompression.
    before : tuple of int and int
        How many lines (rows, of a table) and bytes come before a part of a file. If the part begins
        with the header of the file, they are those between both.
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
    before: tuple[int, int] = (0, 0)
    table: Any = None

    @property
    def is_large(self) -> bool:
        """Whether only the beginning has been read."""
        return self.path is not None or self.spool is not None

    def chunks(self, size: int = _CHUNK) -> Iterator[bytes]:
        """Yield all bytes, decompressed, in parts of about a size."""
        if not self.is_large:
            yield self.head
            return
        with self.opened() as stream:
            packed = stream.read(len(_GZIP)) == _GZIP
            stream.seek(0)
            yield from unpacked(stream, self.name, self.max_bytes, size, packed=packed)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the bytes as they lie on disk or in memory, from their beginning."""
        with naming(self.name, self.path):
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
        return b"".join(self.chunks()) if self.is_large else self.head

    @cached_property
    def text(self) -> str:
        """The text, decoded strictly; a byte order mark at the very start is taken off."""
        codec = "utf-16" if self.head[:2] in UTF16 else "utf-8"
        try:
            text = self.data.decode(codec)
        except UnicodeDecodeError as error:
            line = self.data[: error.start].decode(codec, "ignore").count("\n") + 1
            where = at(self.name, f"line {line + self.before[0]}")
            byte = error.start + self.before[1]
            raise InputError(
                "not-utf8", where, byte=byte, codec=codec.upper()
            ) from None
        if self.is_large:
            self.__dict__.pop("data", None)  # it can be read again
        text = text.removeprefix("\ufeff") if codec == "utf-8" else text
        for bad, what in (
            ("\0", "a NUL character"),
            ("\ufeff", "a byte order mark (U+FEFF)"),
        ):
            if (place := text.find(bad)) >= 0:
                line = text.count("\n", 0, place) + 1 + self.before[0]
                raise InputError(
                    "bad-character", at(self.name, f"line {line}"), what=what
                )
        if not text or text.isspace():
            raise InputError(
                "empty", self.name, role="the text", remedy="check how it was written"
            )
        return text

    @property
    def beginning(self) -> str:
        """The text that it begins with; all of it where that is small."""
        if not self.is_large or self.head[:2] in UTF16:
            return self.text
        return (
            self.head[: self.head.rfind(b"\n") + 1]
            .decode("utf-8", "replace")
            .lstrip("\ufeff")
        )

    def parsed(self, parse: Callable[[Source], Any]) -> Any:
        """Return what a parser makes of the source, once; readers do not change it."""
        if "value" not in self.__dict__:
            with no_collection():
                self.__dict__["value"] = parse(self)
        return self.__dict__["value"]

    def forget(self) -> None:
        """Let go of what can be read or parsed again."""
        for name in ("value", "text", *(("data",) if self.is_large else ())):
            self.__dict__.pop(name, None)


def as_utf8(parts: Iterable[bytes], name: str) -> Iterator[bytes]:
    r"""Yield a text in UTF-16, which begins with a byte order mark, as UTF-8.

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
    n_lines = n_bytes = 0
    for part, is_last in chain(((part, False) for part in parts), [(b"", True)]):
        try:
            text = decoder.decode(part, is_last)
        except UnicodeDecodeError as error:
            where = at(name, f"line {n_lines + 1}")
            byte = n_bytes + error.start
            raise InputError("not-utf8", where, byte=byte, codec="UTF-16") from None
        n_lines += text.count("\n")
        n_bytes += len(part)
        yield text.encode()


def line_blocks(
    parts: Iterable[bytes], limit: int, *, quoted: bool = False
) -> Iterator[bytes]:
    r"""Yield the bytes of a text again, in blocks of whole lines.

    Parameters
    ----------
    parts : iterable of bytes
    limit : int
        How many bytes a line may have; one that has more, which its reader refuses, is cut.
    quoted : bool
        Whether newlines between quotes end no line, in 16 MB: then one does, because a quote within
        a cell opens nothing.

    Examples
    --------
    >>> list(line_blocks([b'a,"b\n', b'c"\nd', b',e'], 99, quoted=True))
    [b'a,"b\nc"\n', b'd,e']
    """
    rest = b""
    for part in parts:
        end = part.rfind(b"\n") + 1
        quotes = rest.count(b'"') + part.count(b'"', 0, end) if quoted else 0
        while end and quotes % 2:
            before = part.rfind(b"\n", 0, end - 1) + 1
            end, quotes = before, quotes + part.count(b'"', before, end)
        if not end:
            rest += part
            end = rest.rfind(b"\n") + 1
            if len(rest) <= (min(_ROW, limit) if end else limit):
                continue
            part, rest, end = rest, b"", end or len(rest)
        yield b"".join([rest, memoryview(part)[:end]])
        rest = part[end:]
    if rest:
        yield rest


def ahead(items: Iterator[T], *, worth: bool = True) -> Iterator[T]:
    """Make the next item in a thread of its own, while the one before is used.

    Parameters
    ----------
    items : iterator
    worth : bool
        Whether an item takes longer than handing it over; if not, there is no thread.

    Examples
    --------
    >>> list(ahead(iter("abc"))), list(ahead(iter("abc"), worth=False))
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    """
    if not worth:
        yield from items
        return
    from concurrent.futures import ThreadPoolExecutor  # only large data need it

    nothing = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, nothing)
        while (item := coming.result()) is not nothing:
            coming = pool.submit(next, items, nothing)
            yield item  # type: ignore[misc]


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable the garbage collector while a reader makes its lists."""
    # Millions of new lists set off the cycle collector, which takes two thirds of the time and
    # finds nothing. Of readers in several threads the first one to start switches it on again.
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # within: an interruption may come as soon as it is done
        yield
    finally:
        gc.enable()


def check_lines(source: Source, limit: int) -> None:
    """Refuse lines above a limit; jumps from line end to line end, so it reads little."""
    data, start = source.text.encode() if source.data[:2] in UTF16 else source.data, 0
    while len(data) - start > limit:
        end = data.rfind(b"\n", start, start + limit + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1 + source.before[0]
            raise InputError(
                "line-too-long", at(source.name, f"line {line}"), limit=limit
            )
        start = end + 1


def _check_start(head: bytes, name: str, suffix: str | None) -> None:
    """Raise if a file is a workbook, a page of the web, or a pointer of Git LFS.

    Raises
    ------
    InputError
        The message says how to get the data.
    """
    if head.startswith(_LFS):
        raise InputError("lfs-pointer", name)
    if suffix not in _TEXT_SUFFIXES:
        return
    if head.startswith(_OLD_EXCEL) or (
        head.startswith(_ZIP) and b"[Content_Types].xml" in head
    ):
        raise InputError("workbook", name)
    if suffix != ".txt" and head[:200].lstrip().lower().startswith(_HTML):
        raise InputError("web-page", name)


def load(path: str | os.PathLike[str], max_bytes: int) -> Source:
    """Open an input; "-" is standard input."""
    with (
        open_parts(path, _CHUNK, max_bytes) as (source, parts, _),
        naming(source.name, None),
    ):
        if source.spool is None:
            return source
        if source.suffix is not None:
            return replace(source, path=Path(source.name), spool=None)
        return replace(source, spool=_spooled(chain([source.head], parts)))


class Stream:
    """A stream that names its errors, and counts its bytes as they lie on disk.

    Attributes
    ----------
    packed : bool
        Whether it is compressed by gzip.
    taken : int
        How many bytes were read.
    """

    def __init__(self, stream: BinaryIO, name: str, file: Path | None) -> None:
        self._stream, self._named, self.taken, self._start = (
            stream,
            (name, file),
            0,
            b"",
        )
        self._start = self.read(len(_GZIP))
        if not self._start:
            raise InputError("empty-file", name)
        self.packed, self.taken = self._start == _GZIP, 0

    def read(self, size: int) -> bytes:
        """Read some bytes, of which there may be as many."""
        start, self._start = self._start, b""
        with naming(*self._named):
            part = start or self._stream.read(size)
        self.taken += len(part)
        return part


@contextmanager
def open_parts(
    path: str | os.PathLike[str], size: int, max_bytes: int = sys.maxsize
) -> Iterator[tuple[Source, Iterator[bytes], Stream]]:
    """Open an input, to be read once.

    Parameters
    ----------
    path : path
    size : int
        How many bytes are read at once.
    max_bytes : int
        The most bytes to read, after decompression.

    Yields
    ------
    source : Source
        Has a spool, which is not to be read, if there is more than its head.
    parts : iterator of bytes
        What comes after the head, decompressed.
    stream : Stream
    """
    with open_path(path) as (opened, name, file):
        suffix, packed_name = None, False
        # not a pipe such as <(command), whose name is none
        if file is not None and file.is_file():
            packed_name = file.suffix.lower() == ".gz"
            suffix = (file.with_suffix("") if packed_name else file).suffix.lower()
        stream = Stream(opened, name, file)
        if packed_name and not stream.packed:
            raise InputError("not-gzip", name)
        parts = unpacked(stream, name, max_bytes, size, packed=stream.packed)
        head = b""
        while len(head) <= SMALL and (part := next(parts, b"")):
            head += part
        _check_start(head, name, suffix)
        spool = stream if len(head) > SMALL else None
        yield (
            Source(name, head, suffix, stream.packed, None, spool, max_bytes),
            parts,
            stream,
        )


@contextmanager
def open_path(
    path: str | os.PathLike[str],
) -> Iterator[tuple[BinaryIO, str, Path | None]]:
    """Open the bytes of an input: also yield what messages call it, and its file if it has one."""
    if not isinstance(path, str | os.PathLike):
        raise InputError("wrong-type", value=path, wanted="a path")
    name = os.fspath(path)
    if not name:
        raise InputError(
            "empty", role="the path", remedy="name a file, or - for standard input"
        )
    if name == "-":
        stream: Any = getattr(sys.stdin, "buffer", None)
        if stream is None or stream.closed:
            raise InputError("unreadable", _STDIN, why="it is closed")
        yield stream, _STDIN, None
        return
    file = Path(name)
    with naming(name, file):
        stream = file.open("rb")
    with stream:
        yield stream, name, file


@contextmanager
def naming(where: str, file: Path | None) -> Iterator[None]:
    """Raise an error of the system as the error of an input."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        remedy = "check the path" if file is None else _near(file)
        raise InputError("missing-file", where, remedy=remedy) from None
    except (OSError, ValueError) as error:
        if file is not None and os.path.isdir(file):  # noqa: PTH112 - of any length
            raise InputError("is-folder", where) from None
        why = getattr(error, "strerror", None) or error
        raise InputError("unreadable", where, why=why) from None


def _near(file: Path) -> str:
    import difflib  # only for this message

    if file.is_symlink():
        return f"it is a link to {str(file.readlink())!r}, which does not exist"
    try:
        names = sorted(os.listdir(file.parent))  # noqa: PTH208 - Path.iterdir would build paths
    except OSError:
        return f"the folder {str(file.parent)!r} cannot be listed; check the path"
    close = difflib.get_close_matches(file.name, names, n=3)
    return f"did you mean {listing(close)}?" if close else "check the path"


def _spooled(parts: Iterable[bytes]) -> Any:
    """Copy a stream to a temporary file, which goes when it is closed."""
    import tempfile  # it takes ten modules along

    spool = tempfile.TemporaryFile(prefix="semmetrics-")  # noqa: SIM115 - the source keeps it
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
    total = 0
    reader = gzip.GzipFile(fileobj=stream) if packed else stream
    try:
        for part in iter(lambda: reader.read(size), b""):
            total += len(part)
            if total > max_bytes:
                raise InputError("too-large", name, limit=max_bytes)
            yield part
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            "damaged", name, why=f"the packed data is corrupt ({error})"
        ) from None
