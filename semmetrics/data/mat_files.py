"""Variables in MATLAB files of versions 5 to 7: structs, cells, text and numbers.

Conventions
-----------
A size in the file is used only if that many bytes follow, so that a damaged file raises an error.
scipy.io.loadmat trusts types and sizes, and a wrong one ends the process. Arrays are flat, column
by column. Numbers keep the type in which they are stored. Only the first row of a text with several
rows is read.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.source import Source, reporting_damage
from semmetrics.errors import InputError

_HEADER_SIZE = 128
"""The header ends with the version and the byte order, of two bytes each."""
_ARRAY_ELEMENT = 14
_COMPRESSED_ELEMENT = 15
_CELL_ARRAY = 1
_STRUCT_ARRAY = 2
_TEXT_ARRAY = 4
_NUMBER_ARRAYS = range(6, 16)
_DTYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
"""The types of numbers, by the type of their element."""
_ENCODINGS = {
    1: "latin-1",
    2: "latin-1",
    4: "utf-16",
    16: "utf-8",
    17: "utf-16",
    18: "utf-32",
}
"""The encodings of text, by the type of its element."""
_MAX_DEPTH = 16
_BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
_VERSION_7_3 = 0x0200
_TAGS = {order: struct.Struct(f"{order}II") for order in "<>"}
"""The type and the size of an element."""
_USUAL_HEADS = {order: struct.Struct(f"{order}6I2i2I") for order in "<>"}
"""The head of an array that has two dimensions and no name.

It consists of a tag and two flags, a tag and the shape, and the tag of the empty name.
"""
_USUAL_TAGS = (6, 8, 5, 8, 1, 0)
"""The types and sizes in the three tags of such a head."""


class Struct(NamedTuple):
    """The records of a struct array.

    Attributes
    ----------
    fields : tuple of str
    records : list of tuple
    """

    fields: tuple[str, ...]
    records: list[tuple[Any, ...]]


class _Array(NamedTuple):
    """An array whose values are not read yet.

    Attributes
    ----------
    kind : int
    shape : tuple of int
    name : bytes
    elements : iterator
        The elements that contain the values.
    """

    kind: int
    shape: tuple[int, ...]
    name: bytes
    elements: Iterator[tuple[int, bytes]]


def read_mat(source: Source, names: Collection[str]) -> dict[str, Any]:
    """Read some variables.

    Returns
    -------
    dict
        The variables that exist: a Struct, a list of cells, a str, or a flat array of numbers.

    Raises
    ------
    InputError
        If the file is not a MATLAB file, or a size in it is wrong.
    """
    data = bytes(source.data)
    order = _BYTE_ORDERS.get(data[126:_HEADER_SIZE], "")
    if order:
        _check_version(data, order, source.name)
    variables: dict[str, Any] = {}
    with reporting_damage(
        source.name, ValueError, LookupError, struct.error, zlib.error
    ):
        if not order:
            raise ValueError("the header is not supported")
        for kind, content in _read_elements(data, order, _HEADER_SIZE):
            if kind == _COMPRESSED_ELEMENT:
                unpacked = _decompress(content, source.max_bytes)
                ((kind, content),) = _read_elements(unpacked, order)
            if kind != _ARRAY_ELEMENT:
                continue
            name = _read_head(content, order).name.decode("latin-1")
            if name in names:
                variables[name] = _read_value(content, order, 0)
    return variables


def _check_version(data: bytes, order: str, name: str) -> None:
    """Raise an error for a file of version 7.3, which is HDF5."""
    (version,) = struct.unpack(f"{order}H", data[124:126])
    if version == _VERSION_7_3:
        raise InputError(
            "wrong-format",
            name,
            what="a matrix",
            format="MATLAB 7.3",
            wanted="save(..., '-v7')",
        )


def _decompress(content: bytes, max_bytes: int) -> bytes:
    unpacked = zlib.decompressobj().decompress(content, max_bytes + 1)
    if len(unpacked) > max_bytes:
        raise ValueError(f"it exceeds {max_bytes} bytes")
    return unpacked


def _read_elements(
    data: bytes, order: str, start: int = 0
) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the content of consecutive elements."""
    tag = _TAGS[order]
    stop = len(data)
    next_tag = start
    while next_tag < stop:
        kind, size = tag.unpack_from(data, next_tag)
        content_start = next_tag + tag.size
        next_tag = content_start + size
        if kind != _COMPRESSED_ELEMENT:
            next_tag += -size % 8  # padding
        if kind >> 16:  # a small element: up to four bytes within the tag
            size = kind >> 16
            kind &= 0xFFFF
            next_tag = content_start
            content_start -= 4
        content_end = content_start + size
        if content_end > min(next_tag, stop):
            raise ValueError("the size of an element does not fit its position")
        yield kind, data[content_start:content_end]


def _read_head(content: bytes, order: str) -> _Array:
    """Read the type, the shape and the name of an array."""
    head = _USUAL_HEADS[order]
    if len(content) >= head.size:
        fields = head.unpack_from(content)
        tags = fields[:2] + fields[4:6] + fields[8:]
        if tags == _USUAL_TAGS:
            elements = _read_elements(content, order, head.size)
            return _Array(fields[2] & 0xFF, fields[6:8], b"", elements)
    elements = _read_elements(content, order)
    (_, flags), (_, sizes), (_, name) = islice(elements, 3)
    shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes)
    (kind,) = struct.unpack_from(f"{order}I", flags)
    return _Array(kind & 0xFF, shape, name, elements)


def _read_value(content: bytes, order: str, depth: int) -> Any:
    """Read the value of an array."""
    if not len(content):
        return ""
    array = _read_head(content, order)
    has_valid_shape = len(array.shape) > 0 and min(array.shape) >= 0
    if not has_valid_shape or depth > _MAX_DEPTH:
        raise ValueError("an array has a wrong shape, or is nested too deeply")
    if array.kind == _CELL_ARRAY:
        return _read_nested(array, 1, order, depth)
    if array.kind == _STRUCT_ARRAY:
        fields = _read_fields(array, order)
        values = iter(_read_nested(array, len(fields), order, depth))
        # The values of the fields of a record follow each other.
        records = zip(*[values] * len(fields), strict=True)
        return Struct(fields, list(records))
    # An array without elements has the type 0, which is not a type of numbers or text.
    element_kind, element = next(array.elements, (0, content))
    if array.kind == _TEXT_ARRAY:
        text = element.decode(_encoding_of(element_kind, order))
        n_rows = max(1, array.shape[0])
        # Characters are stored column by column, so these are the characters of the first row.
        return text[: prod(array.shape) : n_rows]
    if array.kind not in _NUMBER_ARRAYS:
        raise ValueError(f"an array is of the type {array.kind}")
    return np.frombuffer(element, order + _DTYPES[element_kind])


def _read_fields(array: _Array, order: str) -> tuple[str, ...]:
    """Read the names of the fields of a struct array, which all have the same width."""
    (_, length), (_, names) = islice(array.elements, 2)
    (width,) = struct.unpack(f"{order}i", length)
    fields = []
    for start in range(0, len(names), width):
        name, *_ = names[start : start + width].split(b"\0")
        fields.append(name.decode("latin-1"))
    return tuple(fields)


def _read_nested(array: _Array, n_fields: int, order: str, depth: int) -> list[Any]:
    """Read the values of cells, or of the fields of records."""
    values = [_read_value(content, order, depth + 1) for _, content in array.elements]
    if len(values) != prod(array.shape) * n_fields:
        raise ValueError("the number of entries of an array does not fit its shape")
    return values


def _encoding_of(element_kind: int, order: str) -> str:
    """Return the encoding of text in an element."""
    encoding = _ENCODINGS[element_kind]
    if encoding in ("utf-16", "utf-32"):
        encoding += {"<": "-le", ">": "-be"}[order]
    return encoding
