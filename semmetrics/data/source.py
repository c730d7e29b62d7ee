"""The bytes of an input: files and streams, gzip, text encodings and size limits.

Conventions
-----------
What is small is read at once. The rest of a large file is read when it is asked for, in chunks or
whole; a large stream, which cannot be read twice, is first copied to a temporary file.

One limit, ``max_bytes``, holds for the bytes that are read, after decompression, and for the memory
that the objects made of them take, which may always be 1 GiB: "[]," has 3 bytes, its list 80.
"""

from __future__ import annotations

import gc
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from semmetrics.arguments import foreign_errors
from semmetrics.errors import InputError, at
from semmetrics.frozen import dataclass
from semmetrics.messages import listing

__all__ = ["SMALL", "UTF16", "Lines", "Room", "Source", "check_lines", "enough_memory",
           "foreign_errors", "load",
           "no_collection", "too_large"]  # fmt: skip

SMALL = 2 * 2**20
"""Bytes of an input that is read at once, by Python: pyarrow takes 0.25 s to import, in which the
strict readers read about 2 MB of JSON lines or CSV."""

UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 2**20
_ROOM = 2**30  # bytes of objects that may be made of any input
_RAISE = "if that is right, raise max_bytes (--max-bytes)"
_GZIP = b"\x1f\x8b"
_STDIN = "standard input"


class Room:
    """The memory that may yet be taken by what is made of an input.

    Parameters
    ----------
    name : str
        What messages call the input.
    max_bytes : int

    Examples
    --------
    >>> Room("gt.json", 2**20).take(2**40)
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: what it holds takes more than 1073741824 bytes of memory;
    if that is right, raise max_bytes (--max-bytes)
    """

    def __init__(self, name: str, max_bytes: int) -> None:
        self.name, self.limit = name, max(max_bytes, _ROOM)
        self._left = self.limit

    def take(self, size: int) -> None:
        """Count bytes that are made.

        Raises
        ------
        InputError
            If there is no room for them.
        """
        self._left -= size
        if self._left < 0:
            raise InputError(
                f"what it holds takes more than {self.limit} bytes of memory",
                where=self.name,
                remedy=_RAISE,
            )


@contextmanager
def enough_memory(name: str, max_bytes: int | None = None) -> Iterator[None]:
    """Say of which input it is that it does not fit into the memory of the machine."""
    try:
        yield
    except MemoryError:
        allowed = (
            "" if max_bytes is None else f" (max_bytes, --max-bytes, allows {max_bytes} bytes)"
        )
        raise InputError(
            f"there is not enough memory for it{allowed}",
            where=name,
            remedy="give fewer items at once, or use a machine with more memory",
        ) from None


class Lines:
    r"""The lines of a text with their ends; blank ones can be passed over, however many they are.

    Parameters
    ----------
    text : str
    newline : str
        What ends a line: "\n", or with "" a carriage return, too.

    Examples
    --------
    >>> lines = Lines("a\n\n\nb\n")
    >>> [(line, lines.skip(re.compile("[^\n]"))) for line in lines]
    [('a\n', 2), ('b\n', 0)]
    """

    def __init__(self, text: str, newline: str = "\n") -> None:
        self._text, self._newline = text, newline
        self._start = self._stop = 0  # of the part that is being read
        self._part = io.StringIO()

    def __iter__(self) -> Iterator[str]:
        # of the text a part at a time: a stream takes four bytes a letter
        while self._stop < len(self._text):
            self._open(self._stop)
            yield from self._part

    def _open(self, start: int) -> None:
        self._start = start
        self._stop = self._text.find("\n", start + _CHUNK) + 1 or len(self._text)
        self._part = io.StringIO(self._text[start : self._stop], newline=self._newline)

    def skip(self, ink: re.Pattern[str]) -> int:
        """Pass over the lines before the next one that has ink, and return their number."""
        start = self._start + self._part.tell()
        found = ink.search(self._text, start)
        end = len(self._text) if found is None else found.start()
        if found is not None and self._newline:
            end = self._text.rfind(self._newline, start, end) + 1 or start
        ends = self._text.count("\n", start, end)
        if not self._newline:
            ends += self._text.count("\r", start, end) - self._text.count("\r\n", start, end)
        self._part.seek(min(end, self._stop) - self._start)
        self._stop = max(end, self._stop)
        return ends


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
    """

    name: str
    head: bytes
    suffix: str | None = None
    packed: bool = False
    path: Path | None = None
    spool: Any = None
    max_bytes: int = 4 * 2**30

    @property
    def is_large(self) -> bool:
        """Whether only the beginning has been read."""
        return self.path is not None or self.spool is not None

    def chunks(self, size: int | None = None) -> Iterator[bytes]:
        """Yield all bytes, decompressed, in parts of about a size."""
        if not self.is_large:
            yield self.head
            return
        with self.opened() as stream:
            yield from _limited(stream, self.name, self.max_bytes, size=size or _CHUNK)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Open the bytes as they lie on disk or in memory, from their beginning."""
        with _naming(self.name, self.path):
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
            raise InputError(
                f"byte {error.start} (from 0) is no valid {codec.upper()}",
                where=at(self.name, f"line {line}"),
                remedy="save it as UTF-8",
            ) from None
        if self.is_large:
            self.__dict__.pop("data", None)  # it can be read again
        text = text.removeprefix("\ufeff") if codec == "utf-8" else text
        for bad, problem, remedy in (
            ("\0", "a NUL character", "save it as UTF-8 text"),
            ("\ufeff", "a byte order mark (U+FEFF) inside the text", "remove it; it stands where "
             "files were joined"),
        ):  # fmt: skip
            if (place := text.find(bad)) >= 0:
                line = text.count("\n", 0, place) + 1
                raise InputError(problem, where=at(self.name, f"line {line}"), remedy=remedy)
        if not text or text.isspace():
            raise InputError("it is empty", where=self.name, remedy="check how it was written")
        return text

    def lines(self) -> Lines:
        """Return the lines of the text."""
        return Lines(self.text)

    def room(self) -> Room:
        """Return the memory that what is made of it may take."""
        return Room(self.name, self.max_bytes)

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
            line = data.count(b"\n", 0, start) + 1
            raise InputError(
                f"the line is longer than {limit} bytes",
                where=at(source.name, f"line {line}"),
                remedy="check its line ends, or raise max_line_bytes (--max-line-bytes)",
            )
        start = end + 1


def load(path: str | os.PathLike[str], max_bytes: int) -> Source:
    """Open an input; "-" is standard input."""
    with foreign_errors("path"):
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str):
        raise InputError(f"a path is expected, not {type(path).__name__}", remedy="give a text")
    if not name:
        raise InputError("the path is empty", remedy="name a file, or - for standard input")
    if name == "-":
        with _naming(_STDIN, None):
            return _open(_stdin(), _STDIN, None, max_bytes)
    file = Path(name)
    with _naming(name, file), file.open("rb") as stream:
        return _open(stream, name, file, max_bytes)


@contextmanager
def _naming(where: str, file: Path | None) -> Iterator[None]:
    """Say of an error of the system where it was, and what to do."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        remedy = "check the path" if file is None else _near(file)
        raise InputError("there is no such file", where=where, remedy=remedy) from None
    except IsADirectoryError:
        raise InputError("it is a directory", where=where, remedy="name a file in it") from None
    except PermissionError:
        # Windows answers so for a directory, too.
        folder = file is not None and file.is_dir()
        what = "it is a directory" if folder else "it may not be read"
        raise InputError(what, where=where, remedy="check the path and its permissions") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"it cannot be read: {why}", where=where, remedy="check it") from None


def _suffix(file: Path) -> str | None:
    if not file.is_file():  # a pipe, such as <(command) gives: its name says nothing
        return None
    suffix = file.suffix.lower()
    return f"{file.with_suffix('').suffix.lower()}.gz" if suffix == ".gz" else suffix


def _stdin() -> BinaryIO:
    stream: Any = getattr(sys.stdin, "buffer", None)
    if stream is None or stream.closed:
        raise InputError("it is closed", where=_STDIN, remedy="give a path")
    return stream  # type: ignore[no-any-return]


def _near(file: Path) -> str:
    import difflib  # only to say what is wrong

    folder = file.parent
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - Path.iterdir would build paths
    except OSError:
        return f"the directory {str(folder)!r} cannot be listed; check the path"
    if file.is_symlink():
        return f"it is a link to {str(file.readlink())!r}, which is not there"
    close = difflib.get_close_matches(file.name, names, n=3)
    return f"did you mean {listing(close)}?" if close else "check the path"


def _open(stream: BinaryIO, name: str, file: Path | None, max_bytes: int) -> Source:
    suffix = None if file is None else _suffix(file)
    start = stream.read(SMALL + 1)
    packed = start.startswith(_GZIP)
    if not start:
        raise InputError("it is empty (0 bytes)", where=name, remedy="check how it was written")
    if suffix and suffix.endswith(".gz") and not packed:
        raise InputError("it is not gzip", where=name, remedy="name it without .gz")
    suffix, spool, path = suffix and suffix.removesuffix(".gz"), None, None
    whole = len(start) <= SMALL
    head = bytearray()
    for part in _limited(io.BytesIO(start), name, max_bytes, cut=not whole):
        head += part
        if len(head) > SMALL:
            break
    if not whole or len(head) > SMALL:
        if suffix is None:
            spool = _spooled(start, stream, name, max_bytes)
        else:
            path = file
    return Source(name, bytes(head), suffix, packed, path, spool, max_bytes)


def _spooled(start: bytes, stream: BinaryIO, name: str, max_bytes: int) -> Any:
    """Copy a stream of limited size to a temporary file, which goes when it is closed."""
    import tempfile  # it takes ten modules along

    spool = tempfile.TemporaryFile(prefix="semmetrics-")  # noqa: SIM115 - the source keeps it
    total = 0
    for part in chain([start], iter(lambda: stream.read(_CHUNK), b"")):
        total += len(part)
        if total > max_bytes:
            spool.close()
            raise too_large(name, max_bytes)
        spool.write(part)
    return spool


def too_large(name: str, max_bytes: int, *, packed: bool = False, times: int = 1) -> InputError:
    """Return the error of an input with more bytes than the limit, or some times the limit."""
    return InputError(
        f"it holds more than {max_bytes} bytes{' when decompressed' if packed else ''}",
        where=name,
        remedy=_RAISE if times == 1 else f"{_RAISE}, of which it may have {times} times as many",
    )


def _limited(
    stream: BinaryIO, name: str, max_bytes: int, *, size: int = _CHUNK, cut: bool = False
) -> Iterator[bytes]:
    """Yield the bytes of a stream, decompressed, up to a limit; it may be cut off on purpose."""
    chunks = iter(lambda: stream.read(size), b"")
    first = next(chunks, b"")
    packed, total = first.startswith(_GZIP), 0
    for part in _inflate(first, chunks, name, size, cut=cut) if packed else chain([first], chunks):
        total += len(part)
        if total > max_bytes:
            raise too_large(name, max_bytes, packed=packed)
        yield part


def _inflate(
    first: bytes, rest: Iterator[bytes], name: str, size: int, *, cut: bool
) -> Iterator[bytes]:
    """Decompress gzip members one after the other, never more than a chunk at once."""
    member = zlib.decompressobj(wbits=31)
    try:
        for packed in chain([first], rest):
            left = packed
            while left:
                if member.eof:
                    left = left.lstrip(b"\0")  # padding, which gzip allows after a member
                    member = zlib.decompressobj(wbits=31) if left else member
                yield member.decompress(left, size) if left else b""
                left = member.unconsumed_tail or member.unused_data if left else b""
    except zlib.error as error:
        raise InputError(
            f"the gzip data is corrupt ({error})", where=name, remedy="compress or copy it again"
        ) from None
    if not member.eof and not cut:
        raise InputError(
            "the gzip data ends too early", where=name, remedy="it was cut off: copy it again"
        )
