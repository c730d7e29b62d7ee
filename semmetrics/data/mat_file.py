"""MATLAB files of versions 5 to 7: variables made of structs, cells, texts and numbers.

Conventions
-----------
A size in the file is trusted only if as many bytes follow. So a damaged file is refused;
scipy.io.loadmat trusts types and sizes, and a wrong one ends the process. Arrays are flat, column
by column; numbers keep the type in which they are stored; of a text with several rows, the first
is read.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.source import Source
from semmetrics.errors import InputError

_HEADER = 128  # bytes, of which the last four are the version and the order of bytes
_MATRIX, _COMPRESSED = 14, 15
_CELLS, _STRUCTS, _TEXT, _NUMBERS = 1, 2, 4, range(6, 16)
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8"}  # fmt: skip
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_DEEPEST = 16


class Struct(NamedTuple):
    """The records of a struct array.

    Attributes
    ----------
    fields : tuple of str
    records : list of tuple
    """

    fields: tuple[str, ...]
    records: list[tuple[Any, ...]]


_Element = tuple[int, int, int, int]
"""A type, where the bytes of an element begin and end, and where the next one begins."""


def read_mat(source: Source, names: Collection[str]) -> dict[str, Any]:
    """Read some variables.

    Returns
    -------
    dict
        Of those that are there: a Struct, a list of cells, a str, or a flat array of numbers.

    Raises
    ------
    InputError
        If it is no such file, or a size in it is wrong.
    """
    data = bytes(source.data)
    ends = {b"IM": "<", b"MI": ">"}.get(data[126:_HEADER])
    if ends is not None and struct.unpack(f"{ends}H", data[124:126])[0] == 0x0200:
        raise InputError("wrong-format", source.name, what="a matrix", format="MATLAB 7.3",
                         wanted="save(..., '-v7')")  # fmt: skip
    try:
        if ends is None:
            raise ValueError("its header is another")
        return dict(_Variables(data, ends).read(names, source.max_bytes))
    except (ValueError, LookupError, struct.error, zlib.error) as error:
        raise InputError("damaged", source.name, why=error) from None


class _Variables:
    """The variables of a file, or those that a compressed part of it holds."""

    def __init__(self, data: bytes, ends: str) -> None:
        self._data, self._ends = data, ends
        self._pair = struct.Struct(f"{ends}II")
        self._usual = struct.Struct(f"{ends}6I2i2I")  # the head of an array without a name
        wide = {"<": "-le", ">": "-be"}[ends]
        self._encodings = {
            kind: name + wide * name.startswith(("utf-16", "utf-32"))
            for kind, name in _ENCODINGS.items()
        }

    def read(self, names: Collection[str], most: int, at: int = _HEADER) -> list[tuple[str, Any]]:
        """Return the variables of some names; a compressed part may hold ``most`` bytes."""
        found = []
        while at < len(self._data):
            kind, start, stop, following = self._element(at, len(self._data))
            if kind == _COMPRESSED:
                inside = zlib.decompressobj().decompress(self._data[start:stop], most + 1)
                if len(inside) > most:
                    raise ValueError(f"it holds more than {most} bytes when decompressed")
                found += _Variables(inside, self._ends)._plain(names)
            elif kind == _MATRIX:
                found += self._plain(names, at)
            at = stop if kind == _COMPRESSED else following
        return found

    def _plain(self, names: Collection[str], at: int = 0) -> list[tuple[str, Any]]:
        """Return the variable that begins here, if it has one of the names."""
        _, start, stop, _ = self._element(at, len(self._data), _MATRIX)
        name = self._head(start, stop)[2]
        return [(name, self._array(start, stop, 0))] if name in names else []

    def _element(self, at: int, stop: int, kind: int | None = None) -> _Element:
        """Return the element that begins here; refuse one of another kind than is asked for."""
        if at + 8 > stop:
            raise ValueError("it ends too early")
        own, size = self._pair.unpack_from(self._data, at)
        if own >> 16:  # a small element: up to four bytes within the tag
            found = own & 0xFFFF, at + 4, at + 4 + (own >> 16), at + 8
            wrong = own >> 16 > 4
        else:
            found = own, at + 8, at + 8 + size, at + 8 + size + -size % 8
            wrong = found[2] > stop
        if wrong or kind not in (None, found[0]):
            raise ValueError("an element has another type or size than its place allows")
        return found

    def _head(self, start: int, stop: int) -> tuple[int, tuple[int, ...], str, int]:
        """Return the type of an array, its shape, its name, and where its values begin."""
        if start + self._usual.size <= stop:
            usual = self._usual.unpack_from(self._data, start)
            if usual[:2] + usual[4:6] + usual[8:] == (6, 8, 5, 8, 1, 0):
                return usual[2] & 0xFF, usual[6:8], "", start + self._usual.size
        parts, at = [], start
        for kind, least in ((6, 8), (5, 4), (1, 0)):
            _, first, last, at = self._element(at, stop, kind)
            if last - first < least:
                raise ValueError("the head of an array is too short")
            parts.append((first, last))
        (flags, _), (first, last), name = parts
        (kind,) = struct.unpack_from(f"{self._ends}I", self._data, flags)
        dims = struct.unpack_from(f"{self._ends}{(last - first) // 4}i", self._data, first)
        return kind & 0xFF, dims, self._data[slice(*name)].decode("latin-1"), at

    def _array(self, start: int, stop: int, depth: int) -> Any:
        """Return what an array holds."""
        if start == stop:  # an empty one
            return ""
        kind, dims, _, at = self._head(start, stop)
        number = math.prod(dims)
        if min(dims) < 0 or depth > _DEEPEST:
            raise ValueError("an array has a wrong shape, or is nested too deeply")
        if kind == _CELLS:
            return self._arrays(number, at, stop, depth)
        if kind == _STRUCTS:
            return self._structs(number, at, stop, depth)
        stored, first, last, _ = self._element(at, stop)
        part = self._data[first:last]
        if kind == _TEXT:
            return part.decode(self._encodings[stored])[: number : max(1, dims[0])]
        if kind not in _NUMBERS:
            raise ValueError(f"an array is of the type {kind}")
        return np.frombuffer(part, self._ends + _TYPES[stored])

    def _arrays(self, number: int, at: int, stop: int, depth: int) -> list[Any]:
        """Return so many consecutive arrays."""
        if number > (stop - at) // 8:
            raise ValueError("an array has more entries than there are bytes")
        found = []
        for _ in range(number):
            _, first, last, at = self._element(at, stop, _MATRIX)
            found.append(self._array(first, last, depth + 1))
        return found

    def _structs(self, number: int, at: int, stop: int, depth: int) -> Struct:
        """Return the records of a struct array."""
        _, length, _, at = self._element(at, stop, 5)
        _, first, last, at = self._element(at, stop, 1)
        (wide,) = struct.unpack_from(f"{self._ends}i", self._data, length)
        if wide < 1:
            raise ValueError("the names of fields have no length")
        fields = tuple(
            self._data[start : min(start + wide, last)].split(b"\0")[0].decode("latin-1")
            for start in range(first, last, wide)
        )
        values = self._arrays(number * len(fields), at, stop, depth)
        step = max(1, len(fields))
        return Struct(fields, [tuple(values[i : i + step]) for i in range(0, len(values), step)])
