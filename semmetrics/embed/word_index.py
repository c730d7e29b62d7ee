"""Find the rows of words.

Conventions
-----------
The words of large files are stored as UTF-8 bytes, one after the other, with offsets. A word is
found by a binary search for its 64-bit hash, and is then compared itself. If a word occurs in
several rows, the first row counts.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, hash_strings
from semmetrics.core.ragged import Ints, offsets

_HASHES = "hashes.npy"
_ORDER = "order.npy"
_OFFSETS = "offsets.npy"
_WORDS = "words.utf8"

INDEX_FILES = (_HASHES, _ORDER, _OFFSETS, _WORDS)
"""The files of a saved `WordIndex`."""


class Index(Protocol):
    """The rows of words."""

    def __len__(self) -> int: ...

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, or -1."""
        ...

    def word(self, row: int) -> str:
        """Return the word of a row."""
        ...


def hash_version() -> str:
    """Return a value that changes if hashes are computed in another way, so that an index is stale."""
    return f"{int(hash_strings(['semmetrics'])[0]):016x}"


class WordIndex:
    """Words as one block of bytes, found through their sorted hashes.

    Parameters
    ----------
    hashes : uint64 array, shape (words,)
        Rising.
    order : int array, shape (words,)
        The row of each hash. Rows with equal hashes are rising.
    starts : int array, shape (words + 1,)
        The position in ``text`` at which the word of each row starts.
    text : bytes or memory map

    Examples
    --------
    >>> index = WordIndex.build([b"cat", b"dog", b"cat"])
    >>> index.find(["dog", "cow", "cat"]).tolist(), index.word(1)
    ([1, -1, 0], 'dog')
    """

    def __init__(
        self,
        hashes: Hashes,
        order: NDArray[Any],
        starts: Ints,
        text: bytes | mmap.mmap,
    ) -> None:
        self._hashes = hashes
        self._order = order
        self._starts = starts
        self._text = text

    @classmethod
    def build(cls, words: Sequence[bytes]) -> WordIndex:
        """Index words in UTF-8. Words that are not valid UTF-8 are stored but never found."""
        decoded_words = [word.decode("utf-8", "replace") for word in words]
        hashes = hash_strings(decoded_words)
        order = np.argsort(hashes, kind="stable")
        starts = offsets(np.fromiter(map(len, words), np.int64, len(words)))
        return cls(hashes[order], order.astype(np.int32), starts, b"".join(words))

    def __len__(self) -> int:
        return len(self._order)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, or -1."""
        rows = np.full(len(words), -1, np.int64)
        if not len(words) or not len(self):
            return rows
        hashes = hash_strings(words)
        places = np.searchsorted(self._hashes, hashes)
        last_place = len(self) - 1
        has_hash = self._hashes[np.minimum(places, last_place)] == hashes
        for number in np.flatnonzero(has_hash).tolist():
            rows[number] = self._find_from(int(places[number]), words[number])
        return rows

    def _find_from(self, place: int, word: str) -> int:
        """Return the row of a word among all rows with the hash at a place, or -1."""
        encoded_word = word.encode("utf-8", "surrogatepass")
        word_hash = self._hashes[place]
        while place < len(self) and self._hashes[place] == word_hash:
            row = int(self._order[place])
            if self._bytes(row) == encoded_word:
                return row
            place += 1
        return -1

    def _bytes(self, row: int) -> bytes:
        """Return the word of a row, in UTF-8."""
        start = int(self._starts[row])
        stop = int(self._starts[row + 1])
        return bytes(self._text[start:stop])

    def word(self, row: int) -> str:
        """Return the word of a row."""
        return self._bytes(row).decode("utf-8", "replace")

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        np.save(folder / _HASHES, self._hashes, allow_pickle=False)
        np.save(folder / _ORDER, self._order, allow_pickle=False)
        np.save(folder / _OFFSETS, self._starts, allow_pickle=False)
        (folder / _WORDS).write_bytes(self._text)

    @classmethod
    def open(cls, folder: Path) -> WordIndex:
        """Map a saved index into memory. Only the parts in use are read.

        Raises
        ------
        ValueError
            If its parts do not fit together.
        """
        hashes = np.load(folder / _HASHES, mmap_mode="r", allow_pickle=False)
        order = np.load(folder / _ORDER, mmap_mode="r", allow_pickle=False)
        starts = np.load(folder / _OFFSETS, mmap_mode="r", allow_pickle=False)
        with (folder / _WORDS).open("rb") as file:
            text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        has_one_length = len(hashes) == len(order) == len(starts) - 1
        if not has_one_length or int(starts[-1]) != len(text):
            raise ValueError("the parts of the word index are of different lengths")
        return cls(hashes, order, starts, text)


class KeyIndex:
    """Words of a mapping from word to row.

    Parameters
    ----------
    words : sequence of str
    rows : mapping from str to int, optional
        The row of each word. Default: its position in ``words``.
    """

    def __init__(
        self, words: Sequence[str], rows: Mapping[str, int] | None = None
    ) -> None:
        if rows is None:
            rows = {word: row for row, word in enumerate(words)}
        self._words = words
        self._rows = rows

    def __len__(self) -> int:
        return len(self._words)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, or -1."""
        rows = (self._rows.get(word, -1) for word in words)
        return np.fromiter(rows, np.int64, len(words))

    def word(self, row: int) -> str:
        """Return the word of a row."""
        return self._words[row]
