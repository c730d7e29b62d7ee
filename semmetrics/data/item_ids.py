"""The ids of items: strings, strings stored as UTF-8 bytes, or positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, hash_strings
from semmetrics.core.ragged import Ints, offsets

Ids: TypeAlias = "Sequence[str] | range | Ints"
"""The ids of items, or the numbers of items that are identified by position."""
_MAX_STRINGS_PER_BATCH = 1 << 16


def take_ids(ids: Ids, rows: Ints) -> Ids:
    """Return the ids of some items, in the order of ``rows``.

    Examples
    --------
    >>> take_ids(["a", "b", "c"], np.array([2, 0])), take_ids(range(3), np.array([2])).tolist()
    (['c', 'a'], [2])
    """
    if isinstance(ids, (range, np.ndarray)):
        return np.asarray(ids, np.int64)[rows]
    return [ids[i] for i in rows.tolist()]


def join_ids(parts: Sequence[Ids]) -> Sequence[str]:
    """Concatenate the ids of several parts. The result is `Utf8Strings` if all parts are.

    Examples
    --------
    >>> join_ids([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if len(parts) == 1 and isinstance(parts[0], Utf8Strings):
        return parts[0]
    texts = [part for part in parts if isinstance(part, Utf8Strings)]
    if not texts or len(texts) < len(parts):
        return list(map(str, chain.from_iterable(parts)))
    widths = np.concatenate([np.diff(part.ends) for part in texts])
    # Parts may share their data with other strings.
    data = np.concatenate([part.data[part.ends[0] : part.ends[-1]] for part in texts])
    return Utf8Strings(data, offsets(widths))


class Utf8Strings(Sequence[str]):
    """Strings that are stored as UTF-8 bytes and become str on access.

    Parameters
    ----------
    data : uint8 array
    ends : int array, shape (strings + 1,)
        String ``i`` is ``data[ends[i]:ends[i + 1]]``, so ``ends[0]`` is the start of the first.

    Examples
    --------
    >>> ids = Utf8Strings(np.frombuffer(b"abc", np.uint8), np.array([0, 1, 3]))
    >>> list(ids), ids[1], ids == ["a", "bc"]
    (['a', 'bc'], 'bc', True)
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.integer]) -> None:
        self.data = data
        self.ends = ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            return self._strings(start, max(start, stop))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        row = index % len(self)
        (text,) = self._strings(row, row + 1)
        return text

    def __iter__(self) -> Iterator[str]:
        size = len(self)
        for start in range(0, size, _MAX_STRINGS_PER_BATCH):
            stop = min(start + _MAX_STRINGS_PER_BATCH, size)
            yield from self._strings(start, stop)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            return list(self) == other
        if not isinstance(other, Utf8Strings):
            return False
        have_same_ends = np.array_equal(self.ends, other.ends)
        return have_same_ends and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        examples = [repr(text[:20]) for text in self[:3]]
        if len(self) > 3:
            examples.append("…")
        return f"Utf8Strings({len(self):,}: {', '.join(examples)})"

    @cached_property
    def hashes(self) -> Hashes:
        """The hash of each string."""
        return hash_strings(self)

    def rows(self, start: int, stop: int) -> Utf8Strings:
        """Return the strings from start to stop. They share memory with these."""
        new = Utf8Strings(self.data, self.ends[start : stop + 1])
        if "hashes" in vars(self):  # already computed
            new.hashes = self.hashes[start:stop]
        return new

    def utf8(self, start: int, stop: int) -> tuple[NDArray[np.uint8], Ints]:
        """Return the bytes of the strings from start to stop, and their offsets in these bytes."""
        ends = self.ends[start : stop + 1].astype(np.int64)
        return self.data[ends[0] : ends[-1]], ends - ends[0]

    def _strings(self, start: int, stop: int) -> list[str]:
        """Return the strings from start to stop."""
        ends = self.ends[start : stop + 1].tolist()
        first = ends[0]
        utf8 = self.data[first : ends[-1]].tobytes()
        if utf8.isascii():
            # A character is one byte, so that decoding once is enough.
            text = utf8.decode("ascii")
            return [text[a - first : b - first] for a, b in pairwise(ends)]
        return [utf8[a - first : b - first].decode() for a, b in pairwise(ends)]
