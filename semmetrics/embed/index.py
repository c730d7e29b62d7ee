"""Which row of a matrix a word has: millions of words, found through sorted hashes.

Conventions
-----------
Words are kept as UTF-8 bytes, one after the other, with offsets; a word is found by a binary search
for its 64-bit hash and is then compared itself. Of equal words the first row counts.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, hash_strings
from semmetrics.core.ragged import Ints, offsets
from semmetrics.errors import InputError

__all__ = ["Index", "KeyIndex", "WordIndex", "hash_mark"]

PARTS = ("hashes.npy", "order.npy", "offsets.npy", "words.utf8")


class Index(Protocol):
    """Words and their rows."""

    def __len__(self) -> int:
        """The number of rows."""
        ...

    def find(self, words: Sequence[str]) -> Ints:
        """The row of each word, -1 where there is none."""
        ...

    def word(self, row: int) -> str:
        """The word of a row."""
        ...


def hash_mark() -> str:
    """What tells whether saved hashes are those that this version computes."""
    return f"{int(hash_strings(['semmetrics'])[0]):016x}"


class WordIndex:
    """Words as one block of bytes, found through their sorted hashes.

    Parameters
    ----------
    hashes : uint64 array, shape (words,)
        Rising.
    order : int array, shape (words,)
        The row of each hash; equal hashes by rising row.
    starts : int array, shape (words + 1,)
        Where each row's word begins in ``text``.
    text : bytes or memory map

    Examples
    --------
    >>> index = WordIndex.build([b"cat", b"dog", b"cat"])
    >>> index.find(["dog", "cow", "cat"]).tolist(), index.word(1)
    ([1, -1, 0], 'dog')
    """

    def __init__(self, hashes: Hashes, order: NDArray[Any], starts: Ints, text: Any) -> None:
        self._hashes, self._order, self._starts, self._text = hashes, order, starts, text

    @classmethod
    def build(cls, words: Sequence[bytes]) -> WordIndex:
        """Index words given as UTF-8; bytes that are no UTF-8 are kept, and never found."""
        hashes = hash_strings([word.decode("utf-8", "replace") for word in words])
        order = np.argsort(hashes, kind="stable")
        starts = offsets(np.fromiter(map(len, words), np.int64, len(words)))
        return cls(hashes[order], order.astype(np.int32), starts, b"".join(words))

    def __len__(self) -> int:
        return len(self._order)

    def find(self, words: Sequence[str]) -> Ints:
        """The row of each word, -1 where there is none."""
        rows = np.full(len(words), -1, np.int64)
        if not len(words) or not len(self):
            return rows
        hashes = hash_strings(words)
        place = np.searchsorted(self._hashes, hashes)
        near = np.minimum(place, len(self) - 1)
        for number in np.flatnonzero(self._hashes[near] == hashes).tolist():
            rows[number] = self._compare(words[number], int(place[number]))
        return rows

    def _compare(self, word: str, place: int) -> int:
        """The first row with this hash and this word."""
        wanted, hashed = word.encode("utf-8", "surrogatepass"), self._hashes[place]
        while place < len(self) and self._hashes[place] == hashed:
            row = int(self._order[place])
            if self._bytes(row) == wanted:
                return row
            place += 1
        return -1

    def _bytes(self, row: int) -> bytes:
        return bytes(self._text[int(self._starts[row]) : int(self._starts[row + 1])])

    def word(self, row: int) -> str:
        """The word of a row."""
        return self._bytes(row).decode("utf-8", "replace")

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        for name, part in zip(PARTS[:3], (self._hashes, self._order, self._starts), strict=True):
            np.save(folder / name, part, allow_pickle=False)
        (folder / PARTS[3]).write_bytes(self._text)

    @classmethod
    def open(cls, folder: Path) -> WordIndex:
        """Map a saved index into memory; nothing is read before it is needed."""
        hashes, order, starts = (
            np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in PARTS[:3]
        )
        with (folder / PARTS[3]).open("rb") as file:
            text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if not len(hashes) == len(order) == len(starts) - 1 or int(starts[-1]) != len(text):
            raise ValueError("the parts of the word index are of different lengths")
        return cls(hashes, order, starts, text)


class KeyIndex:
    """Words of a mapping from word to row.

    Parameters
    ----------
    rows : mapping from str to int
    words : sequence of str
    """

    def __init__(self, rows: dict[str, int], words: Sequence[str]) -> None:
        self._rows, self._words = rows, words

    @classmethod
    def build(cls, words: Sequence[str], where: str) -> KeyIndex:
        """Number words.

        Raises
        ------
        InputError
            If a word stands twice; names it.
        """
        rows = {word: row for row, word in enumerate(words)}
        if len(rows) != len(words):
            twice = next(word for row, word in enumerate(words) if rows[word] != row)
            raise InputError(
                f"{json.dumps(twice, ensure_ascii=False)} is there twice", where=where,
                remedy="keep one row a text",
            )  # fmt: skip
        return cls(rows, words)

    def __len__(self) -> int:
        return len(self._words)

    def find(self, words: Sequence[str]) -> Ints:
        """The row of each word, -1 where there is none."""
        return np.fromiter((self._rows.get(word, -1) for word in words), np.int64, len(words))

    def word(self, row: int) -> str:
        """The word of a row."""
        return self._words[row]
