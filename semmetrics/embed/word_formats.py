"""The formats of word vectors: word2vec (binary, text), GloVe and fastText text, where they stand.

Conventions
-----------
A file is one block of bytes, mapped into memory, and unpacked first if it is packed. It is gone
through once for its words and for where their numbers stand; the numbers of a word are read when
they are asked for. A header says how many words there are; all must be there.
"""

from __future__ import annotations

import gzip
import mmap
import re
import tempfile
import warnings
import zipfile
import zlib
from array import array
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints
from semmetrics.data.form import DEFAULTS
from semmetrics.data.source import Room, too_large
from semmetrics.embed.embedder import Vectors
from semmetrics.errors import InputError
from semmetrics.messages import agreeing, listing, pluralize

__all__ = ["WORD_KINDS", "detect_format", "map_file", "scan_words"]

#: What a file of word vectors may be said to be, and the formats that it then may have.
WORD_KINDS = {
    "word2vec": ("binary", "text"),
    "glove": ("glove", "text"),
    "fasttext": ("fasttext", "text"),
}

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHUNK = 1 << 24
_FASTTEXT = (793712314).to_bytes(4, "little")  # how a fastText model begins
_LONGEST_WORD, _LONGEST_LINE = 1 << 12, 1 << 20
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})[ \r]*\n")
_HEADER_ALONE = re.compile(rb"\d{1,12} \d{1,6}[ \r]*")
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_DECIMAL = re.compile(rb"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
_WORD = 200  # bytes that a word takes, at most, with its place and its hash
_AGAIN, _WRONG_HEADER = "copy or download it again", "it is damaged, or its header is wrong"
_CHECKED_WORDS = 1000  # words: where a header names another width, the second is wrong already


def map_file(
    path: Path, member: str | None = None, max_bytes: int = 16 * DEFAULTS.max_bytes
) -> mmap.mmap:
    """Map a file into memory; a packed one is first unpacked into a file without a name.

    Parameters
    ----------
    path : Path
        A plain file, or one packed with gzip or zip.
    member : str, optional
        The file in a zip archive; needed where there are several.
    max_bytes : int
        The most bytes, unpacked.

    Raises
    ------
    InputError
        If it is missing, empty, or packed and damaged.
    """
    where = str(path)
    try:
        with path.open("rb") as file:
            if path.stat().st_size > max_bytes:
                raise too_large(where, max_bytes, times=16)
            if not file.read(4).startswith((_GZIP, _ZIP)):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with tempfile.TemporaryFile() as plain:
            _unpack(path, plain, member, max_bytes)
            plain.flush()
            return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError("there is no such file", where=where, remedy="check the path") from None
    except RuntimeError as error:  # encrypted, or packed in a way that Python does not know
        raise InputError(
            f"it cannot be unpacked: {error}", where=where, remedy="unpack it first"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise InputError(
            f"what is packed in it is damaged or cut off ({error})", where=where, remedy=_AGAIN
        ) from None
    except ValueError:
        raise InputError("it is empty", where=where, remedy=_AGAIN) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"it cannot be read: {why}", where=where, remedy="check it") from None


def _unpack(path: Path, target: IO[bytes], member: str | None, max_bytes: int) -> None:
    """Unpack a gzip file, or one file of a zip archive."""
    if not zipfile.is_zipfile(path):
        with gzip.open(path, "rb") as stream:
            _copy(stream, target, str(path), max_bytes)
        return
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if member is None and len(names) == 1:
            member = names[0]
        if member not in names:
            problem = "it holds several files" if member is None else f"it holds no {member!r}"
            raise InputError(
                f"{problem}: {listing(names)}",
                where=str(path),
                remedy="unpack it and give the path of one of them",
            )
        with archive.open(member) as source:
            _copy(source, target, str(path), max_bytes)


def _copy(source: Any, target: IO[bytes], where: str, max_bytes: int) -> None:
    """Copy a stream of limited size."""
    while part := source.read(_CHUNK):
        if target.tell() + len(part) > max_bytes:
            raise too_large(where, max_bytes, packed=True, times=16)
        target.write(part)


class FileRows:
    """Rows of numbers where they stand in a file, read when they are asked for.

    Parameters
    ----------
    buffer : bytes or memory map
    starts, stops : int arrays, shape (rows,)
    dimension : int
    where : str
        The name of the file, for messages.
    binary : bool
        Whether a row is little-endian float32, or decimal numbers.
    """

    def __init__(
        self, buffer: Any, starts: Ints, stops: Ints, dimension: int, where: str, *, binary: bool
    ) -> None:
        self._buffer, self._starts, self._stops = buffer, starts, stops
        self.shape, self._where, self._binary = (len(starts), dimension), where, binary

    def __getitem__(self, numbers: Ints) -> Vectors:
        """Return the rows of those numbers.

        Raises
        ------
        InputError
            If something is no number; names the line.
        """
        found = np.empty((len(numbers), self.shape[1]), np.float32)
        starts, stops = self._starts[numbers].tolist(), self._stops[numbers].tolist()
        for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            part = self._buffer[start:stop]
            row = np.frombuffer(part, "<f4") if self._binary else _parse_numbers(part)
            if row is None or len(row) != self.shape[1]:
                line = self._buffer[:start].count(b"\n") + 1
                raise InputError(
                    f"not all of the {pluralize(self.shape[1], 'number')} are numbers",
                    where=f"{self._where}, line {line}",
                    remedy=_AGAIN,
                )
            found[place] = row
        return found


def _parse_numbers(text: bytes) -> NDArray[np.float32] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def detect_format(buffer: Any, where: str) -> str:
    """Return what a file is by its content: "binary" or "text" (word2vec), "glove" or "fasttext".

    Raises
    ------
    InputError
        If it is nothing of these.
    """
    if buffer[:4] == _FASTTEXT:
        return "fasttext"
    head = bytes(buffer[:_LONGEST_LINE])
    header = _HEADER.match(head)
    if header is not None:
        return _format_with_header(head, header.end(), int(header[2]), where)
    problem = "its first line is neither a header ('3000000 300') nor a word and its numbers"
    remedy = "word vectors are word2vec files (binary or text), GloVe text or fastText"
    if _HEADER_ALONE.fullmatch(head):
        problem, remedy = "it ends in its header", f"it was cut off: {_AGAIN}"
    elif head.startswith(_MARK):
        problem = "it begins with a byte order mark, which would be part of the first word"
    elif _count_numbers(head, 0) >= 1:
        return "glove"
    raise InputError(problem, where=where, remedy=remedy)


def _format_with_header(head: bytes, start: int, dimension: int, where: str) -> str:
    """Return "text" if numbers stand after the first word, "binary" if bytes do."""
    numbers = _count_numbers(head, start)
    following = head[start:].partition(b"\n")[2]
    if numbers == dimension or (numbers > dimension and _count_numbers(following, 0) == dimension):
        return "text"  # of more numbers the first belong to the word: "route 66"
    if numbers > 1:  # bytes do not look like several numbers
        raise InputError(
            f"there are {numbers} numbers after the word, and its header promises {dimension}",
            where=f"{where}, line 2",
            remedy=_WRONG_HEADER,
        )
    line = head[start:].partition(b"\n")[0].rstrip(b" \r")
    last = line.split(b" ")[1:][-dimension:] if dimension > 1 else []
    phrase = _parse_numbers(b" ".join(last)) if len(last) == dimension else None
    return "binary" if phrase is None or phrase.size != dimension else "text"


def _count_numbers(head: bytes, start: int) -> int:
    """Count the numbers after the word in a line of text; -1 if it is no such line."""
    line = head[start:].partition(b"\n")[0].rstrip(b" \r")
    numbers = _parse_numbers(line.partition(b" ")[2])
    return -1 if numbers is None else int(numbers.size)


def scan_words(
    buffer: Any, form: str, max_words: int | None, where: str, room: Room | None = None
) -> tuple[list[bytes], FileRows]:
    """Go through a file for its words, as UTF-8, and the rows of their numbers.

    Parameters
    ----------
    buffer : bytes or memory map
    form : {"binary", "text", "glove"}
    max_words : int, optional
        The first words only.
    where : str
        The name of the file, for messages.
    room : Room, optional
        What its words may take.

    Raises
    ------
    InputError
        If it is cut off or has lines of different widths.
    """
    header = None if form == "glove" else _HEADER.match(buffer)
    count, dimension = (None, 0) if header is None else (int(header[1]), int(header[2]))
    start = 0 if header is None else header.end()
    if header is not None and (dimension == 0 or count == 0):
        raise InputError("its header promises no vectors", where=where, remedy="write it again")
    del header  # it would keep the map open
    room = room or Room(where, DEFAULTS.max_bytes)
    if form == "binary":
        return _scan_binary(buffer, start, count or 0, dimension, max_words, where, room)
    return _scan_text(buffer, start, count, dimension, max_words, where, room)


def _cut_off(where: str, have: int, count: int) -> InputError:
    return InputError(
        f"it ends after {have:,} of {pluralize(count, 'word')}",
        where=where,
        remedy=f"it was cut off: {_AGAIN}",
    )


def _scan_binary(
    buffer: Any,
    start: int,
    count: int,
    dimension: int,
    max_words: int | None,
    where: str,
    room: Room,
) -> tuple[list[bytes], FileRows]:
    size, end = 4 * dimension, len(buffer)
    wanted = count if max_words is None else min(count, max_words)
    if wanted > end:  # no word is shorter than a byte
        raise _cut_off(where, 0, count)
    room.take(_WORD * min(wanted, end // (size + 1)))
    words: list[bytes] = []
    starts = np.zeros(wanted, np.int64)
    find = buffer.find
    for row in range(wanted):
        blank = find(b" ", start, start + _LONGEST_WORD)
        if blank < 0 and end - start > _LONGEST_WORD:
            raise _no_word(where, row, "it is damaged, or no word2vec binary file")
        if blank < 0 or blank + 1 + size > end:
            raise _cut_off(where, row, count)
        words.append(buffer[start:blank].lstrip(b"\n"))
        starts[row] = blank + 1
        start = blank + 1 + size
    # where the header names another width, bytes of numbers are read as words
    for row, word in enumerate(words[:_CHECKED_WORDS]):
        if b"\n" in word or b"\0" in word:
            raise _no_word(where, row, _WRONG_HEADER)
    if max_words is None and bytes(buffer[start : start + 2]).strip():
        raise InputError(
            f"there is more after the {pluralize(count, 'word')} that the header promises",
            where=where,
            remedy=_WRONG_HEADER,
        )
    return words, FileRows(buffer, starts, starts + size, dimension, where, binary=True)


def _no_word(where: str, row: int, remedy: str) -> InputError:
    return InputError(
        f"there is no word where number {row + 1} should be", where=where, remedy=remedy
    )


def _scan_text(
    buffer: Any,
    start: int,
    count: int | None,
    dimension: int,
    max_words: int | None,
    where: str,
    room: Room,
) -> tuple[list[bytes], FileRows]:
    words: list[bytes] = []
    starts, stops = array("q"), array("q")
    end = len(buffer)
    while start < end and (max_words is None or len(words) < max_words):
        stop = buffer.find(b"\n", start)
        stop = end if stop < 0 else stop
        line = buffer[start:stop].rstrip(b" \r")
        blanks = line.count(b" ")
        dimension = dimension or blanks
        if not line and not buffer[stop:].strip():
            break
        width = line.find(b" ") if blanks <= dimension else len(line.rsplit(b" ", dimension)[0])
        wide = blanks > dimension and _DECIMAL.fullmatch(line[:width].rpartition(b" ")[2])
        if blanks < dimension or not dimension or wide:
            raise InputError(
                f"there {agreeing(blanks, 'are')} {pluralize(blanks, 'number')} after the word, "
                f"and {dimension} in the first line",
                where=f"{where}, line {len(words) + (1 if count is None else 2)}",
                remedy=f"it is damaged or was cut off: {_AGAIN}",
            )
        words.append(line[:width])
        if not len(words) % _CHECKED_WORDS:
            room.take(_CHECKED_WORDS * _WORD)
        starts.append(start + width + 1)
        stops.append(start + len(line))
        start = stop + 1
    if count is not None and len(words) < (count if max_words is None else min(max_words, count)):
        raise _cut_off(where, len(words), count)
    if count is not None and max_words is None and len(words) > count:
        raise InputError(
            f"it holds {pluralize(len(words), 'word')}, and its header promises {count:,}",
            where=where,
            remedy=_WRONG_HEADER,
        )
    places = np.array(starts, np.int64), np.array(stops, np.int64)
    return words, FileRows(buffer, *places, dimension, where, binary=False)
