"""Formats of word vectors: word2vec (binary or text) and GloVe text.

Conventions
-----------
A file is one block of bytes, mapped into memory. It is scanned once for its words and the places of
their numbers. The numbers are parsed when they are needed. If a header gives the number of words,
the file must contain all of them.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Callable
from mmap import mmap
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints
from semmetrics.embed.embedder import Vectors
from semmetrics.errors import InputError
from semmetrics.messages import pluralize

Buffer: TypeAlias = bytes | mmap

_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
"""The first bytes of a fastText model."""
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})[ \r]*\n")
_HEADER_WITHOUT_ROWS = re.compile(rb"\d{1,12} \d{1,6}[ \r]*")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DECIMAL = re.compile(rb"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)

_MAX_WORD_LENGTH = 1 << 12
_MAX_LINE_LENGTH = 1 << 20
_MAX_CHECKED_REST = 1 << 24
"""Bytes after the last word that are searched for more words."""
_N_CHECKED_WORDS = 1000
"""Words that are checked for line breaks. If the header is wrong, the second word has one."""


# ---- detection --------------------------------------------------------------------------


def detect_format(buffer: Buffer, where: str) -> str:
    """Return the format of a file by its content.

    Returns
    -------
    {"binary", "text", "glove", "fasttext"}
        The first two are formats of word2vec.

    Raises
    ------
    InputError
        If the content has another format.
    """
    if buffer[:4] == _FASTTEXT_MAGIC:
        return "fasttext"
    beginning = bytes(buffer[:_MAX_LINE_LENGTH])
    header = _HEADER.match(beginning)
    if header is None:
        if _looks_like_glove(beginning):
            return "glove"
        raise InputError("not-word-vectors", where)

    dimension = int(header[2])
    first_row, _, next_rows = beginning[header.end() :].partition(b"\n")
    n_numbers = _count_numbers(first_row)
    if n_numbers == dimension:
        return "text"
    if n_numbers > dimension:
        # The first numbers may belong to the word, such as "route 66".
        next_row = next_rows.partition(b"\n")[0]
        if _count_numbers(next_row) == dimension:
            return "text"
    if n_numbers > 1:  # bytes do not look like several numbers
        why = f"{n_numbers} numbers follow the word, but the header says {dimension}"
        raise InputError("damaged", f"{where}, line 2", why=why)
    if _ends_in_numbers(first_row, dimension):
        return "text"
    return "binary"


def _looks_like_glove(beginning: bytes) -> bool:
    """Return whether the first line is a word with numbers."""
    if beginning.startswith(_BYTE_ORDER_MARK):
        return False
    if _HEADER_WITHOUT_ROWS.fullmatch(beginning):
        return False
    first_row = beginning.partition(b"\n")[0]
    return _count_numbers(first_row) >= 1


def _count_numbers(line: bytes) -> int:
    """Count the numbers after the first word of a line, or return -1 if it has other words."""
    values = line.rstrip(b" \r").partition(b" ")[2]
    numbers = _parse_numbers(values)
    if numbers is None:
        return -1
    return int(numbers.size)


def _ends_in_numbers(line: bytes, dimension: int) -> bool:
    """Return whether a line ends in as many numbers as a vector has, after several words."""
    last_words: list[bytes] = []
    if dimension > 1:
        last_words = line.rstrip(b" \r").split(b" ")[1:][-dimension:]
    if len(last_words) != dimension:
        return False
    numbers = _parse_numbers(b" ".join(last_words))
    return numbers is not None and numbers.size == dimension


# ---- rows -------------------------------------------------------------------------------


class FileRows:
    """Rows of numbers at their places in a file, which are parsed when they are needed.

    Parameters
    ----------
    buffer : bytes or memory map
    starts, stops : int arrays, shape (rows,)
        The position of the first byte of each row, and of the byte after the last.
    dimension : int
        The numbers in a row.
    where : str
        The name of the file, for messages.
    binary : bool
        Whether rows are little-endian float32. Otherwise they are decimal numbers.

    Attributes
    ----------
    shape : pair of int
    """

    def __init__(
        self,
        buffer: Buffer,
        starts: Ints,
        stops: Ints,
        dimension: int,
        where: str,
        *,
        binary: bool,
    ) -> None:
        self.shape = (len(starts), dimension)
        self._buffer = buffer
        self._starts = starts
        self._stops = stops
        self._where = where
        self._parse: Callable[[bytes], NDArray[np.float32] | None] = _parse_numbers
        if binary:
            self._parse = _parse_floats

    def __getitem__(self, numbers: Ints) -> Vectors:
        """Return rows by their numbers.

        Raises
        ------
        InputError
            If a row does not consist of numbers. The message names the line.
        """
        dimension = self.shape[1]
        vectors = np.empty((len(numbers), dimension), np.float32)
        starts = self._starts[numbers].tolist()
        stops = self._stops[numbers].tolist()
        for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            row = self._parse(self._buffer[start:stop])
            if row is None or len(row) != dimension:
                where = f"{self._where}, line {_line_number(self._buffer, start)}"
                why = f"a word does not have {pluralize(dimension, 'number')}"
                raise InputError("damaged", where, why=why)
            vectors[place] = row
        return vectors


def _parse_floats(data: bytes) -> NDArray[np.float32]:
    """Return little-endian float32 numbers."""
    return np.frombuffer(data, "<f4")


def _parse_numbers(text: bytes) -> NDArray[np.float32] | None:
    """Return decimal numbers between spaces, or None if something is not a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def _line_number(buffer: Buffer, position: int) -> int:
    """Return the number of the line at a position, from 1."""
    return buffer[:position].count(b"\n") + 1


# ---- words ------------------------------------------------------------------------------


class _Header(NamedTuple):
    """The header of a file.

    Attributes
    ----------
    n_words : int or None
        None if there is no header.
    dimension : int
        0 if there is no header.
    end : int
        The position of the first row.
    """

    n_words: int | None
    dimension: int
    end: int


class _ScannedWords(NamedTuple):
    """The words of a file.

    Attributes
    ----------
    words : list of bytes
        In UTF-8.
    rows : FileRows
    end : int
        The position after the last row.
    """

    words: list[bytes]
    rows: FileRows
    end: int


def scan_words(
    buffer: Buffer, file_format: str, max_words: int | None, where: str
) -> tuple[list[bytes], FileRows]:
    """Scan a file for its words and the rows of their numbers.

    Parameters
    ----------
    buffer : bytes or memory map
    file_format : {"binary", "text", "glove"}
    max_words : int, optional
        Read the first words only.
    where : str
        The name of the file, for messages.

    Returns
    -------
    words : list of bytes
        In UTF-8.
    rows : FileRows

    Raises
    ------
    InputError
        If the file is truncated or has lines of different widths.
    """
    header = _read_header(buffer, file_format, where)
    n_words = header.n_words
    limits = [limit for limit in (n_words, max_words) if limit is not None]
    limit = min(limits, default=len(buffer))
    scan = _scan_binary if file_format == "binary" else _scan_text
    scanned = scan(buffer, header.end, limit, header.dimension, where)

    n_scanned = len(scanned.words)
    if n_words is not None and n_scanned < limit:
        why = f"it ends after {n_scanned:,} of {pluralize(n_words, 'word')}"
        raise InputError("damaged", where, why=why)
    if n_words is not None and max_words is None:
        rest = buffer[scanned.end : scanned.end + _MAX_CHECKED_REST]
        if rest.strip():
            why = f"the file continues after {pluralize(n_words, 'word')}, the number in its header"
            raise InputError("damaged", where, why=why)
    return scanned.words, scanned.rows


def _read_header(buffer: Buffer, file_format: str, where: str) -> _Header:
    """Return the header of a file, and raise if it declares no vectors."""
    match = None
    if file_format != "glove":
        match = _HEADER.match(buffer)
    if match is None:
        return _Header(n_words=None, dimension=0, end=0)
    header = _Header(int(match[1]), int(match[2]), match.end())
    if header.n_words == 0 or header.dimension == 0:
        raise InputError("damaged", where, why="the header declares no vectors")
    return header


def _scan_binary(
    buffer: Buffer, start: int, max_words: int, dimension: int, where: str
) -> _ScannedWords:
    """Scan a binary file from a position, until there are enough words or the file ends."""
    find = buffer.find
    end = len(buffer)
    n_bytes = 4 * dimension
    words: list[bytes] = []
    starts = array("q")
    for number in range(1, max_words + 1):
        space = find(b" ", start, start + _MAX_WORD_LENGTH)
        if space < 0 and end - start > _MAX_WORD_LENGTH:
            raise InputError("damaged", where, why=f"word {number} is missing")
        row_start = space + 1
        if space < 0 or row_start + n_bytes > end:
            break
        words.append(buffer[start:space].lstrip(b"\n"))
        starts.append(row_start)
        start = row_start + n_bytes
    _check_words(words, where)
    row_starts = np.array(starts, np.int64)
    row_stops = row_starts + n_bytes
    rows = FileRows(buffer, row_starts, row_stops, dimension, where, binary=True)
    return _ScannedWords(words, rows, start)


def _check_words(words: list[bytes], where: str) -> None:
    """Raise if the first words of a binary file contain bytes of numbers.

    They do if the header gives another dimension than the vectors have.
    """
    for number, word in enumerate(words[:_N_CHECKED_WORDS], start=1):
        if b"\n" in word or b"\0" in word:
            why = f"word {number} does not start at the expected position"
            raise InputError("damaged", where, why=why)


def _scan_text(
    buffer: Buffer, start: int, max_words: int, dimension: int, where: str
) -> _ScannedWords:
    """Scan a text file like `_scan_binary`. If the dimension is 0, the first line decides."""
    end = len(buffer)
    words: list[bytes] = []
    starts = array("q")
    stops = array("q")
    while start < end and len(words) < max_words:
        stop = buffer.find(b"\n", start)
        if stop < 0:
            stop = end
        line = buffer[start:stop].rstrip(b" \r")
        n_values = line.count(b" ")
        dimension = dimension or n_values
        if not line and not buffer[stop:].strip():
            break
        word_length = _measure_word(line, n_values, dimension)
        if word_length is None:
            line_number = _line_number(buffer, start)
            why = f"{pluralize(n_values, 'number')} after the word, not {dimension}"
            raise InputError("damaged", f"{where}, line {line_number}", why=why)
        words.append(line[:word_length])
        starts.append(start + word_length + 1)
        stops.append(start + len(line))
        start = stop + 1
    row_starts = np.array(starts, np.int64)
    row_stops = np.array(stops, np.int64)
    rows = FileRows(buffer, row_starts, row_stops, dimension, where, binary=False)
    return _ScannedWords(words, rows, start)


def _measure_word(line: bytes, n_values: int, dimension: int) -> int | None:
    """Return the length of the word before the numbers of a line.

    Parameters
    ----------
    line : bytes
    n_values : int
        How many values are after the first space.
    dimension : int
        How many of them are numbers. The others belong to the word, such as "route 66".

    Returns
    -------
    int or None
        None if there are too few values, or a decimal number would belong to the word.
    """
    if not dimension or n_values < dimension:
        return None
    if n_values == dimension:
        return line.find(b" ")
    word = line.rsplit(b" ", dimension)[0]
    last_part = word.rpartition(b" ")[2]
    if _DECIMAL.fullmatch(last_part):
        return None
    return len(word)
