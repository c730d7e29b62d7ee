"""The bytes of an input: files and standard input, gzip, text encodings and size limits."""

from __future__ import annotations

import difflib
import os
import sys
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import Any, BinaryIO

from semmetrics.errors import InputError, listing

__all__ = [
    "Places",
    "Source",
    "at",
    "canonical_id",
    "check_lines",
    "counted",
    "load",
    "number",
    "placed",
    "shown",
]

_CHUNK = 2**20
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_STDIN = "standard input"


def shown(value: object) -> str:
    """Write a value for a message: texts and numbers, cut when long; of others the kind."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:57]!r}..."
    if isinstance(value, int | float):
        huge = isinstance(value, int) and value.bit_length() > 10_000  # Python refuses to print it
        return "a number of thousands of digits" if huge else str(value)[:60]
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return type(value).__name__


def counted(things: Collection[object], noun: str) -> str:
    """Write how many there are: "1 row", "2 rows"."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


def at(name: str, place: str = "", id_: str | None = None) -> str:
    """Write a place for a message.

    Examples
    --------
    >>> at("gt.csv", "line 7", "a")
    "gt.csv, line 7, id 'a'"
    """
    parts = [name, place, "" if id_ is None else f"id {shown(id_)}"]
    return ", ".join(part for part in parts if part)


def placed(error: InputError, where: str) -> InputError:
    """The same error with its place, which loops write only when it is needed."""
    return InputError(error.problem, where=where, remedy=error.remedy)


@dataclass(frozen=True)
class Places:
    """Where each item stands; a `RawItems.where` that costs nothing until it is asked.

    Examples
    --------
    >>> Places("gt.csv", ["a", "b"], "line {}", [2, 7])(1)
    "gt.csv, line 7, id 'b'"
    """

    name: str
    ids: Sequence[str] | None
    unit: str = ""
    numbers: Sequence[int] = ()

    def __call__(self, position: int) -> str:
        """Write the place of the item at a position."""
        place = self.unit.format(self.numbers[position]) if self.unit else ""
        return at(self.name, place, None if self.ids is None else self.ids[position])


def canonical_id(value: object, where: str) -> str:
    """An id as text: 42 and "42" are the same item; anything but text and integers is refused."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        "the id is empty" if value == "" else f"{shown(value)} is no id",
        where=where,
        remedy="an id is a text or an integer",
    )


def number(value: object, where: str, what: str = "score") -> float:
    """A finite float from a JSON number or the text of a cell."""
    try:
        if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = float("nan")
    if result - result != 0:
        problem = f"the {what} is empty" if value == "" else f"the {what} {shown(value)} is no"
        tail = "" if value == "" else " finite number"
        raise InputError(problem + tail, where=where, remedy=f"write the {what} as 0.5") from None
    return result


@dataclass(frozen=True)
class Source:
    """An input that has been read; its suffix is None where it has no name to tell one by."""

    name: str
    data: bytes
    suffix: str | None
    packed: bool = False

    @cached_property
    def text(self) -> str:
        """The text, decoded strictly; a byte order mark at the very start is taken off."""
        codec = "utf-16" if self.data[:2] in _UTF16 else "utf-8"
        try:
            text = self.data.decode(codec)
        except UnicodeDecodeError as error:
            line = self.data[: error.start].decode(codec, "ignore").count("\n") + 1
            raise InputError(
                f"byte {error.start} (from 0) is no valid {codec.upper()}",
                where=at(self.name, f"line {line}"),
                remedy="save it as UTF-8",
            ) from None
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


def check_lines(source: Source, limit: int) -> None:
    """Refuse lines above a limit; jumps from line end to line end, so it reads little."""
    data, start = source.text.encode() if source.data[:2] in _UTF16 else source.data, 0
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
    """Read an input into memory, decompressed; "-" is standard input."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str):
        raise InputError(f"a path is expected, not {type(path).__name__}", remedy="give a text")
    file, where = Path(name), _STDIN if name == "-" else name
    try:
        if name == "-":
            return _read(_stdin(), where, None, max_bytes)
        with file.open("rb") as stream:
            return _read(stream, name, _suffix(file), max_bytes)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, remedy=_near(file)) from None
    except IsADirectoryError:
        raise InputError("it is a directory", where=where, remedy="name a file in it") from None
    except PermissionError:
        # Windows answers so for a directory, too.
        what = "it is a directory" if file.is_dir() else "it may not be read"
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
    folder = file.parent
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - Path.iterdir would build paths
    except OSError:
        return f"the directory {str(folder)!r} cannot be listed; check the path"
    close = difflib.get_close_matches(file.name, names, n=3)
    return f"did you mean {listing(close)}?" if close else "check the path"


def _read(stream: BinaryIO, name: str, suffix: str | None, max_bytes: int) -> Source:
    chunks = iter(lambda: stream.read(_CHUNK), b"")
    first = next(chunks, b"")
    packed = first.startswith(_GZIP)
    if not first:
        raise InputError("it is empty (0 bytes)", where=name, remedy="check how it was written")
    if suffix and suffix.endswith(".gz") and not packed:
        raise InputError("it is not gzip", where=name, remedy="name it without .gz")
    parts, total = [], 0
    for part in _inflate(first, chunks, name) if packed else chain([first], chunks):
        parts.append(part)
        total += len(part)
        if total > max_bytes:
            raise InputError(
                f"it holds more than {max_bytes} bytes{' when decompressed' if packed else ''}",
                where=name,
                remedy="if that is right, raise max_bytes (--max-bytes)",
            )
    return Source(name, b"".join(parts), suffix and suffix.removesuffix(".gz"), packed)


def _inflate(first: bytes, rest: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Decompress gzip members one after the other, never more than a chunk at once."""
    member = zlib.decompressobj(wbits=31)
    try:
        for packed in chain([first], rest):
            left = packed
            while left:
                if member.eof:
                    left = left.lstrip(b"\0")  # padding, which gzip allows after a member
                    member = zlib.decompressobj(wbits=31) if left else member
                yield member.decompress(left, _CHUNK) if left else b""
                left = member.unconsumed_tail or member.unused_data if left else b""
    except zlib.error as error:
        raise InputError(
            f"the gzip data is corrupt ({error})", where=name, remedy="compress or copy it again"
        ) from None
    if not member.eof:
        raise InputError(
            "the gzip data ends too early", where=name, remedy="it was cut off: copy it again"
        )
