"""The arrays in .npy and .npz files.

Conventions
-----------
Headers are parsed here and not by numpy, so that nothing is unpickled or evaluated, and a damaged
shape allocates nothing. Arrays of a .npy file are views of its bytes, and read-only.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.source import Source, at
from semmetrics.errors import InputError

__all__ = ["parse_npy", "read_arrays"]

_MAGIC = b"\x93NUMPY"


def parse_npy(data: bytes, where: str) -> NDArray[np.generic]:
    """The array in the bytes of a .npy file: booleans, integers, floats or text."""
    if not data.startswith(_MAGIC):
        what = "a pickle, and pickles are never loaded" if data[:1] == b"\x80" else "no NumPy file"
        raise InputError(f"it is {what}", where=where, remedy="write it with numpy.save")
    wide = data[6:7] != b"\x01"  # versions 2 and 3 have four bytes for the header's length
    start = 12 if wide else 10
    end = start + int.from_bytes(data[8:start], "little")
    header = data[start : min(end, start + 10_000)].decode("latin-1")
    fields = [
        re.search(pattern, header)
        for pattern in (
            r"'descr': *('[^']*'|\[)",
            r"'fortran_order': *(True|False)",
            r"'shape': *\(([0-9L, ]*)\)",
        )
    ]
    if not all(fields) or end > len(data):
        raise InputError("its header is damaged or cut off", where=where, remedy="write it again")
    kind, fortran, shape = (field[1] for field in fields if field)
    dtype = _dtype(kind.strip("'"), where)
    # Longer numbers are no sizes; cut, they still do not fit the bytes that follow.
    sizes = [int(size[:18]) for size in re.findall(r"\d+", shape)]
    need, have = prod(sizes) * dtype.itemsize, len(data) - end
    if need != have:
        raise InputError(
            f"the array {tuple(sizes)} of {dtype} needs {need} bytes, {have} are there",
            where=where,
            remedy="it is cut off or damaged: write it again" if need > have else "write it again",
        )
    return _array(data, end, dtype, sizes, fortran == "True", where)


def _dtype(kind: str, where: str) -> np.dtype[Any]:
    try:
        if re.fullmatch(r"[<>|=]?[biufUS]\d{1,9}", kind):
            dtype = np.dtype(kind)
            if dtype.itemsize > 0 and (dtype.itemsize <= 8 or dtype.kind in "US"):
                return dtype
    except (TypeError, ValueError):
        pass
    what = {"|O": "Python objects (a pickle)", "[": "records"}.get(kind, f"the type {kind!r}")
    raise InputError(
        f"an array of {what} is not read",
        where=where,
        remedy="save booleans, integers, floats to 64 bits, or text (dtype U)",
    )


def _array(
    data: bytes, start: int, dtype: np.dtype[Any], sizes: list[int], fortran: bool, where: str
) -> NDArray[np.generic]:
    try:
        count = prod(sizes)
        flat = np.frombuffer(data, dtype, count, start) if count else np.zeros(0, dtype)
        array = flat.reshape(sizes, order="F" if fortran else "C")
    except ValueError as error:  # more dimensions, or larger ones, than numpy has
        raise InputError(
            f"its shape is wrong: {error}", where=where, remedy="write it again"
        ) from None
    if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
        raise InputError("a boolean is neither 0 nor 1", where=where, remedy="write it again")
    return array.astype(dtype.newbyteorder("="), copy=False)


def read_arrays(source: Source, max_bytes: int) -> dict[str, NDArray[np.generic]]:
    """The arrays of a .npz file by name, or of a .npy file under the name ""."""
    if source.data.startswith(_MAGIC) or not zipfile.is_zipfile(io.BytesIO(source.data)):
        return {"": parse_npy(source.data, source.name)}
    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > max_bytes:
                raise InputError(
                    f"it holds more than {max_bytes} bytes when decompressed",
                    where=source.name,
                    remedy="if that is right, raise max_bytes (--max-bytes)",
                )
            for member in members:
                key = member.filename.removesuffix(".npy")
                if key in arrays or member.compress_type not in (0, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile(f"the entry {key!r}")
                arrays[key] = parse_npy(archive.read(member), at(source.name, f"array {key!r}"))
    except InputError:
        raise
    # What zipfile raises for damaged files is not documented; all of these were seen.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:
        raise InputError(
            f"it is damaged: {error}", where=source.name, remedy="write it with numpy.savez"
        ) from None
    return arrays
