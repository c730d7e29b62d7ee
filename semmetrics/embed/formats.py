"""Word vectors in files: word2vec (binary, text), GloVe and fastText text, read where they stand.

Conventions
-----------
A file is gone through once for its words and for where their numbers stand; the numbers of a word
are read when they are asked for. A header says how many words there are; all must be there.
"""

from __future__ import annotations

import re
import warnings
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints
from semmetrics.embed.base import Vectors
from semmetrics.errors import InputError

__all__ = ["ArrayTable", "BinaryTable", "Scanned", "Table", "TextTable", "scan", "told"]

FASTTEXT = (793712314).to_bytes(4, "little")  # how a fastText model begins
LONGEST_WORD, LONGEST_LINE = 1 << 12, 1 << 20
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})[ \r]*\n")
_HEADER_ALONE = re.compile(rb"\d{1,12} \d{1,6}[ \r]*")
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_DECIMAL = re.compile(rb"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
_LOOKED_AT = 1000  # words: where a header names another width, the second is wrong already


class Table(Protocol):
    """Rows of numbers, read when they are asked for."""

    @property
    def dimension(self) -> int:
        """Numbers in a row."""
        ...

    def rows(self, numbers: Ints) -> Vectors:
        """The rows of those numbers, as float32."""
        ...


class Scanned(NamedTuple):
    """The words of a file, as UTF-8, and their rows."""

    words: list[bytes]
    table: Table


class BinaryTable:
    """Rows of little-endian float32 in a block of bytes."""

    def __init__(self, buffer: Any, starts: Ints, dimension: int) -> None:
        self._buffer, self._starts, self.dimension = buffer, starts, dimension

    def rows(self, numbers: Ints) -> Vectors:
        """The rows of those numbers."""
        found = np.empty((len(numbers), self.dimension), np.float32)
        for place, start in enumerate(self._starts[numbers].tolist()):
            found[place] = np.frombuffer(self._buffer, "<f4", self.dimension, start)
        return found


class TextTable:
    """Rows of decimal numbers in a block of bytes."""

    def __init__(self, buffer: Any, starts: Ints, stops: Ints, dimension: int, where: str) -> None:
        self._buffer, self._starts, self._stops = buffer, starts, stops
        self.dimension, self._where = dimension, where

    def rows(self, numbers: Ints) -> Vectors:
        """The rows of those numbers.

        Raises
        ------
        InputError
            If something is no number; names the line.
        """
        found = _parsed(b" ".join(map(self._text, numbers.tolist())))
        if found is not None and found.size == len(numbers) * self.dimension:
            return found.reshape(len(numbers), self.dimension)
        for number in numbers.tolist():
            row = _parsed(self._text(number))
            if row is None or row.size != self.dimension:
                line = self._buffer[: int(self._starts[number])].count(b"\n") + 1
                raise InputError(
                    f"not all of the {self.dimension} numbers are numbers",
                    where=f"{self._where}, line {line}",
                    remedy="copy or download it again",
                )
        raise InputError("its numbers cannot be read", where=self._where, remedy="write it again")

    def _text(self, number: int) -> bytes:
        text: bytes = self._buffer[int(self._starts[number]) : int(self._stops[number])]
        return text


class ArrayTable:
    """Rows of an array, which may be mapped into memory."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array, self.dimension = array, int(array.shape[1])

    def rows(self, numbers: Ints) -> Vectors:
        """The rows of those numbers."""
        return np.asarray(self._array[numbers], np.float32)


def _parsed(text: bytes) -> NDArray[np.float32] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def told(buffer: Any, where: str) -> str:
    """What a file is, by its content: "binary", "text" (both word2vec's), "glove", "fasttext".

    Raises
    ------
    InputError
        If it is nothing of these.
    """
    if buffer[:4] == FASTTEXT:
        return "fasttext"
    head = bytes(buffer[:LONGEST_LINE])
    header = _HEADER.match(head)
    if header is not None:
        return _with_header(head, header.end(), int(header[2]), where)
    if _HEADER_ALONE.fullmatch(head):
        raise InputError(
            "it ends in its header",
            where=where,
            remedy="it was cut off: copy or download it again",
        )
    if _fields(head, 0) >= 1 and not head.startswith(_MARK):
        return "glove"
    raise InputError(
        "it begins with a byte order mark, which would be part of the first word"
        if head.startswith(_MARK)
        else "its first line is neither a header ('3000000 300') nor a word and its numbers",
        where=where,
        remedy="word vectors are word2vec files (binary or text), GloVe text or fastText",
    )


def _with_header(head: bytes, start: int, dimension: int, where: str) -> str:
    """Whether numbers or bytes stand after the first word."""
    numbers = _fields(head, start)
    following = head[start:].partition(b"\n")[2]
    if numbers == dimension or (numbers > dimension and _fields(following, 0) == dimension):
        return "text"  # of more numbers the first belong to the word: "route 66"
    if numbers > 1:  # bytes do not look like several numbers
        raise InputError(
            f"there are {numbers} numbers after the word, and its header promises {dimension}",
            where=f"{where}, line 2",
            remedy="it is damaged, or its header is wrong",
        )
    line = head[start:].partition(b"\n")[0].rstrip(b" \r")
    last = line.split(b" ")[1:][-dimension:] if dimension > 1 else []
    phrase = _parsed(b" ".join(last)) if len(last) == dimension else None
    return "binary" if phrase is None or phrase.size != dimension else "text"


def _fields(head: bytes, start: int) -> int:
    """How many numbers stand after the word in a line of text; -1 if it is no such line."""
    line = head[start:].partition(b"\n")[0].rstrip(b" \r")
    numbers = _parsed(line.partition(b" ")[2])
    return -1 if numbers is None else int(numbers.size)


def scan(buffer: Any, kind: str, limit: int | None, where: str) -> Scanned:
    """Go through a file for its words.

    Parameters
    ----------
    buffer : bytes or memory map
    kind : {"binary", "text", "glove"}
    limit : int, optional
        The first words only.
    where : str
        The name of the file, for messages.

    Raises
    ------
    InputError
        If it is cut off or has lines of different widths.
    """
    header = None if kind == "glove" else _HEADER.match(buffer)
    count, dimension = (None, 0) if header is None else (int(header[1]), int(header[2]))
    start = 0 if header is None else header.end()
    if header is not None and (dimension == 0 or count == 0):
        raise InputError("its header promises no vectors", where=where, remedy="write it again")
    del header  # it would keep the map open
    if kind == "binary":
        return _scan_binary(buffer, start, count or 0, dimension, limit, where)
    return _scan_text(buffer, start, count, dimension, limit, where)


def _cut_off(where: str, have: int, count: int) -> InputError:
    return InputError(
        f"it ends after {have:,} of {count:,} words",
        where=where,
        remedy="it was cut off: copy or download it again",
    )


def _scan_binary(
    buffer: Any, start: int, count: int, dimension: int, limit: int | None, where: str
) -> Scanned:
    size, end, wanted = 4 * dimension, len(buffer), count if limit is None else min(count, limit)
    if wanted > end:  # no word is shorter than a byte
        raise _cut_off(where, 0, count)
    words: list[bytes] = []
    starts = np.zeros(wanted, np.int64)
    find = buffer.find
    for row in range(wanted):
        blank = find(b" ", start, start + LONGEST_WORD)
        if blank < 0 or blank + 1 + size > end:
            if blank < 0 and end - start > LONGEST_WORD:
                raise InputError(
                    f"there is no word where number {row + 1} should be",
                    where=where,
                    remedy="it is damaged, or no word2vec binary file",
                )
            raise _cut_off(where, row, count)
        words.append(buffer[start:blank].lstrip(b"\n"))
        starts[row] = blank + 1
        start = blank + 1 + size
    _check_words(words[:_LOOKED_AT], where)
    if limit is None and bytes(buffer[start : start + 2]).strip():
        raise InputError(
            f"there is more after the {count:,} words that the header promises",
            where=where,
            remedy="it is damaged, or its header is wrong",
        )
    return Scanned(words, BinaryTable(buffer, starts, dimension))


def _check_words(words: list[bytes], where: str) -> None:
    """Refuse what is read of a file whose header names another width: bytes of numbers."""
    for row, word in enumerate(words):
        if b"\n" in word or b"\0" in word:
            raise InputError(
                f"there is no word where number {row + 1} should be",
                where=where,
                remedy="it is damaged, or its header is wrong",
            )


def _scan_text(
    buffer: Any, start: int, count: int | None, dimension: int, limit: int | None, where: str
) -> Scanned:
    words: list[bytes] = []
    starts: list[int] = []
    stops: list[int] = []
    end = len(buffer)
    while start < end and (limit is None or len(words) < limit):
        stop = buffer.find(b"\n", start)
        stop = end if stop < 0 else stop
        line = buffer[start:stop].rstrip(b" \r")
        blanks = line.count(b" ")
        dimension = dimension or blanks
        if blanks < dimension or not dimension:
            if not line and not buffer[stop:].strip():
                break
            raise _narrow(blanks, dimension, len(words), count, where)
        width = line.index(b" ") if blanks == dimension else len(line.rsplit(b" ", dimension)[0])
        if blanks > dimension and _DECIMAL.fullmatch(line[:width].rpartition(b" ")[2]):
            raise _narrow(blanks, dimension, len(words), count, where)
        words.append(line[:width])
        starts.append(start + width + 1)
        stops.append(start + len(line))
        start = stop + 1
    if count is not None and limit is None and len(words) != count:
        raise _miscounted(len(words), count, where)
    if count is not None and limit is not None and len(words) < min(limit, count):
        raise _cut_off(where, len(words), count)
    table = TextTable(
        buffer, np.array(starts, np.int64), np.array(stops, np.int64), dimension, where
    )
    return Scanned(words, table)


def _narrow(blanks: int, dimension: int, row: int, count: int | None, where: str) -> InputError:
    line = row + (1 if count is None else 2)
    return InputError(
        f"there are {blanks} numbers after the word, and {dimension} in the first line",
        where=f"{where}, line {line}",
        remedy="it is damaged or was cut off: copy or download it again",
    )


def _miscounted(have: int, count: int, where: str) -> InputError:
    if have < count:
        return _cut_off(where, have, count)
    return InputError(
        f"it holds {have:,} words, and its header promises {count:,}",
        where=where,
        remedy="it is damaged, or its header is wrong",
    )
