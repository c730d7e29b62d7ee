"""Arrays in .npy, .npz and HDF5 files: matrices of items x names, and vectors.

Conventions
-----------
Rows and columns count from 0 in messages. A .npz file holds the matrix as "values", "scores",
"labels", "y" or as its only array; beside it there may be "classes" and "ids". So does an HDF5
file, for which h5py is needed. The files of
``scipy.sparse.save_npz`` (CSR, CSC, COO) become CSR; a repeated cell is an error.
Nothing is unpickled, and a damaged shape allocates nothing. Arrays of a .npy file are views of its
bytes, and read-only; large files are memory-mapped.

MATLAB files of versions 5 to 7 hold variables made of structs, cells, texts and numbers. A size in
the file is trusted only if as many bytes follow, so that a damaged file is refused;
scipy.io.loadmat trusts types and sizes, and a wrong one ends the process. Arrays are flat, column
by column; numbers keep the type in which they are stored; of a text with several rows, the first
is read.
"""

from __future__ import annotations

import io
import mmap
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from semmetrics.data.form import Form, ReadOptions, check_classes
from semmetrics.data.items import Items, encode_numbers
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_finite, class_numbers
from semmetrics.data.source import Source, undamaged
from semmetrics.errors import EXAMPLES, ROW, Fact, InputError, Places, at, require
from semmetrics.messages import pluralize
from semmetrics.schema import Column, as_id

# of an archive, and an empty one
_MAGIC, _ZIP = (
    b"\x93NUMPY",
    (b"PK\x03\x04", b"PK\x05\x06"),
)
_HDF = b"\x89HDF"
# bytes read at once; and those that have the header of an array
_CHUNK, _HEADER = (
    2**20,
    10_100,
)
_MATRIX = ("values", "scores", "labels", "y")
_BESIDE = ("classes", "ids")
_SPARSE = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "coo": ("row", "col"),
}
Arrays: TypeAlias = dict[str, NDArray[np.generic]]
# What zipfile raises for damaged files is not documented; all of these were seen.
_UNZIPPING = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)


def parse_npy(data: bytes | mmap.mmap, where: str) -> NDArray[np.generic]:
    """Return the array in the bytes of a .npy file: booleans, integers, floats or text."""
    if data[: len(_MAGIC)] != _MAGIC:
        why = (
            "a pickle, which is never loaded"
            if data[:1] == b"\x80"
            else "it has another header"
        )
        raise InputError("not-numpy", where, why=why)
    header = io.BytesIO(data[:_HEADER])
    # what numpy raises on a damaged header is not bounded
    with undamaged(where, Exception):
        first = npy.read_magic(header) == (1, 0)
        read = npy.read_array_header_1_0 if first else npy.read_array_header_2_0
        sizes, by_column, dtype = read(header)
        number = dtype.kind in "biuf" and dtype.itemsize <= 8
        if not dtype.itemsize or not (number or dtype.kind in "US"):
            what = {"O": "object (a pickle)", "V": "records"}.get(dtype.kind, dtype)
            wanted = "booleans, integers, floats to 64 bits, or text (dtype U)"
            raise InputError(
                "wrong-dtype", where, role="the array", dtype=what, wanted=wanted
            )
        count, have = prod(sizes), len(data) - header.tell()
        if (need := count * dtype.itemsize) != have:
            text = f"the array {tuple(sizes)} of {dtype} needs {need} bytes, and has {have}"
            raise ValueError(text)
        flat = (
            np.frombuffer(data, dtype, count, header.tell())
            if count
            else np.zeros(0, dtype)
        )
        array = flat.reshape(sizes, order="F" if by_column else "C")
        if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
            raise ValueError("a boolean is neither 0 nor 1")
    return array.astype(dtype.newbyteorder("="), copy=False)


def read_arrays(source: Source, max_bytes: int) -> Arrays:
    """The arrays of a .npz or HDF5 file by name, or of a .npy file under the name ""."""
    if source.head.startswith(_HDF):
        return _read_hdf(source, max_bytes)
    if not source.head.startswith(_ZIP):
        if source.path is None or source.packed:
            return {"": parse_npy(source.data, source.name)}
        with source.opened() as stream:  # a large file as it lies on disk
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        return {"": parse_npy(mapped, source.name)}
    arrays: Arrays = {}
    with undamaged(source.name, *_UNZIPPING):
        archive = zipfile.ZipFile(io.BytesIO(source.data))
    members = archive.infolist()
    if sum(member.file_size for member in members) > max_bytes:
        raise InputError("too-large", source.name, limit=max_bytes)
    for member in members:
        key = member.filename.removesuffix(".npy")
        with undamaged(at(source.name, f"entry {member.filename!r}"), *_UNZIPPING):
            if key in arrays or member.compress_type not in (0, zipfile.ZIP_DEFLATED):
                raise zipfile.BadZipFile(f"the entry {key!r}")
            with archive.open(
                member
            ) as stream:  # no more than its size, which may be wrong
                content = b"".join(iter(lambda: stream.read(_CHUNK), b""))
        arrays[key] = parse_npy(content, at(source.name, f"array {key!r}"))
    return arrays


def _read_hdf(source: Source, max_bytes: int) -> Arrays:
    """Read the arrays of an HDF5 file, those in groups too."""
    h5py = require("h5py", f"reading {source.name}", extra="hdf5")
    arrays: Arrays = {}
    found: list[Any] = []
    with (
        undamaged(source.name, OSError, RuntimeError, ValueError, TypeError),
        h5py.File(source.path or io.BytesIO(source.data), "r") as file,
    ):
        file.visititems(lambda name, one: found.append(one))
        found = [
            one
            for one in found
            if isinstance(one, h5py.Dataset) and one.shape is not None
        ]
        # what would be read from another file is refused: whoever wrote this one chose which;
        # and so is a virtual dataset of its own file: one that contains itself ends the process
        lies = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
        links = list[str]()

        def look(link: bytes, info: Any) -> None:
            if info.type not in lies:
                links.append(link.decode("utf-8", "replace"))

        file.id.links.visit(look, info=True)
        apart = [
            one.name.removeprefix("/")
            for one in found
            if one.external or one.is_virtual
        ]
        if links or apart:
            raise InputError("stored-elsewhere", source.name, names=[*links, *apart])
        if sum(one.nbytes for one in found) > max_bytes:
            raise InputError("too-large", source.name, limit=max_bytes)
        for one in found:
            text = h5py.check_string_dtype(one.dtype) is not None
            values = np.array(one.asstr()[...].tolist()) if text else one[...]
            arrays[one.name.removeprefix("/")] = values
    return arrays


def read_matrix_file(
    source: Source,
    options: ReadOptions,
    names: Sequence[str | Sequence[str]] | None,
    form: Form,
) -> Matrix | Items | Lists:
    """Read a matrix of items x names: 0/1 membership, or scores.

    Of a form whose items may be one entry, a vector of names or whole numbers is these.
    """
    arrays = read_arrays(source, options.max_bytes)
    sparse = "format" in arrays and "shape" in arrays
    if sparse:
        values, used = _sparse(arrays, source.name)
        where = source.name
    else:
        key, where = _main(arrays, source.name)
        values, used = arrays[key], {key}
        understood = f"NumPy vector of {form.noun}s"
        numbers = class_numbers(values) if form.alone else None
        if numbers is not None:
            ids = _ids(arrays, len(values), source.name)
            return encode_numbers(numbers, form, source.name, understood, ids)
        if form.alone and values.ndim == 1 and values.dtype.kind == "U":
            ids = _ids(arrays, len(values), source.name)
            places = Places(source.name, ids, ROW, range(len(values)))
            return Items(ids, _strings(values, where), places, source.name, understood)
    if values.ndim == 1:
        raise InputError(
            "vector-as-matrix", where, role="the array", shape=values.shape
        )
    _check_array(values, 2, where)
    own = _classes(arrays, options, source.name)
    rows, columns = (
        pluralize(values.shape[0], "item"),
        pluralize(values.shape[1], "class"),
    )
    kind = "sparse" if sparse else "HDF5" if source.head.startswith(_HDF) else "NumPy"
    extra = [key for key in arrays if key not in used and key not in _BESIDE]
    return as_matrix(
        values,
        names if own is None else own,
        _ids(arrays, values.shape[0], source.name),
        source=source.name,
        understood=f"{kind} matrix, {rows} x {columns}, {values.dtype}",
        notes=[Fact("unused-arrays", len(extra), tuple(extra[:EXAMPLES]))]
        if extra
        else [],
        finite=not (form.by_block or form.allows_nan),
    )


def plain_array(
    source: Source, options: ReadOptions, dimensions: int
) -> NDArray[np.generic]:
    """Read a dense array of finite numbers with so many dimensions."""
    arrays = read_arrays(source, options.max_bytes)
    key, where = _main(arrays, source.name)
    if extra := [name for name in arrays if name != key]:
        raise InputError("several-arrays", source.name, name=key, extra=extra)
    _check_array(arrays[key], dimensions, where)
    if arrays[key].dtype.kind == "f":
        check_finite(arrays[key], where)
    return arrays[key]


def _main(arrays: Arrays, name: str) -> tuple[str, str]:
    """Return the name of the array that has the values, and its place."""
    found = [key for key in arrays if key in _MATRIX]
    found = found or [key for key in arrays if key not in _BESIDE]
    if len(found) != 1:
        raise InputError("no-main-array", name, n=len(found), found=found)
    return found[0], at(name, f"array {found[0]!r}" if found[0] else "")


def _check_array(values: Any, dimensions: int, where: str) -> None:
    if values.ndim != dimensions:
        wanted = "a vector" if dimensions == 1 else "rows and columns"
        raise InputError(
            "wrong-shape", where, role="the array", shape=values.shape, wanted=wanted
        )
    if values.dtype.kind not in "biuf":
        raise InputError(
            "wrong-dtype", where, role="the array", dtype=values.dtype, wanted="numbers"
        )


def _strings(values: NDArray[np.generic], where: str) -> list[Any]:
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        dtype = f"{values.dtype}{values.shape}"
        wanted = "a vector of text (dtype U)"
        raise InputError(
            "wrong-dtype", where, role="the array", dtype=dtype, wanted=wanted
        )
    names = values.tolist()
    try:
        "".join(map(str, names)).encode()
    except ValueError:  # code points beyond Unicode, or halves of pairs
        raise InputError("damaged", where, why="its text") from None
    return names  # type: ignore[no-any-return]


def _ids(arrays: Arrays, rows: int, name: str) -> list[str] | None:
    """Return the ids of the rows, if there are any."""
    if "ids" not in arrays:
        return None
    where = at(name, "array 'ids'")
    column = Column("id", read=as_id)
    ids = column.values(
        _strings(arrays["ids"], where), lambda i: at(where, ROW.format(i))
    )
    if len(set(ids)) != len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        row = [i for i, one in enumerate(ids) if one == twice][1]
        raise InputError("duplicate-id", at(where, ROW.format(row)), value=twice)
    if len(ids) != rows:
        raise InputError(
            "wrong-count",
            where,
            found=pluralize(len(ids), "id"),
            wanted=pluralize(rows, "row"),
        )
    return ids


def _classes(arrays: Arrays, options: ReadOptions, name: str) -> Sequence[str] | None:
    classes = options.classes
    if "classes" in arrays:
        where = at(name, "array 'classes'")
        own = _strings(arrays["classes"], where)
        check_classes(own, where)
        if classes is not None and own != list(classes):
            raise InputError("other-classes", where)
        classes = own
    return classes


def _sparse(arrays: Arrays, name: str) -> tuple[Any, set[str]]:
    """Return a CSR matrix from what save_npz wrote, and the names of the arrays it is made of."""
    from scipy import sparse

    form = arrays["format"]
    kind = (
        form.tobytes().replace(b"\0", b"").decode("latin-1")
        if form.dtype.kind in "SU"
        else ""
    )
    used = {"data", "format", "shape", *_SPARSE.get(kind, ())}
    if kind not in _SPARSE or not used <= arrays.keys():
        raise InputError("not-sparse", name, kind=kind)
    data, first, second = (arrays[key] for key in ("data", *_SPARSE[kind]))
    with undamaged(name, ValueError, TypeError, OverflowError, IndexError):
        parts: Any = (data, (first, second)) if kind == "coo" else (data, first, second)
        matrix = getattr(sparse, f"{kind}_array")(
            parts, tuple(arrays["shape"].tolist())
        )
        if kind != "coo":
            matrix.check_format(full_check=True)
        found = matrix.tocsr(copy=True)
        found.sum_duplicates()  # sorts the columns; adds entries of one cell, and so tells of them
        if found.nnz != matrix.nnz:
            raise ValueError("a cell is there twice")
        kinds = data.dtype.kind + first.dtype.kind + second.dtype.kind
        if matrix.ndim != 2 or not re.fullmatch("[biuf][iu][iu]", kinds):
            raise ValueError("parts of a wrong type or shape")
    return found, {*used, "_is_array"}


# ---- MATLAB -------------------------------------------------------------------------------------

_START = 128  # bytes of the header, of which the last four are the version and the order of bytes
_ARRAY, _COMPRESSED = 14, 15
_CELLS, _STRUCTS, _TEXT, _NUMBERS = 1, 2, 4, range(6, 16)
_TYPES = {
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
_ENCODINGS = {
    1: "latin-1",
    2: "latin-1",
    4: "utf-16",
    16: "utf-8",
    17: "utf-16",
    18: "utf-32",
}
_DEEPEST = 16
_TAG = {order: struct.Struct(f"{order}II") for order in "<>"}
# of an array without a name
_HEAD = {order: struct.Struct(f"{order}6I2i2I") for order in "<>"}


class Struct(NamedTuple):
    """The records of a struct array.

    Attributes
    ----------
    fields : tuple of str
    records : list of tuple
    """

    fields: tuple[str, ...]
    records: list[tuple[Any, ...]]


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
    data, found = bytes(source.data), dict[str, Any]()
    order = {b"IM": "<", b"MI": ">"}.get(data[126:_START], "")
    if order and struct.unpack(f"{order}H", data[124:126])[0] == 0x0200:
        raise InputError(
            "wrong-format",
            source.name,
            what="a matrix",
            format="MATLAB 7.3",
            wanted="save(..., '-v7')",
        )
    with undamaged(source.name, ValueError, LookupError, struct.error, zlib.error):
        if not order:
            raise ValueError("its header is another")
        for kind, part in _elements(data, order, _START):
            if kind == _COMPRESSED:
                inside = zlib.decompressobj().decompress(part, source.max_bytes + 1)
                if len(inside) > source.max_bytes:
                    raise ValueError(f"it holds more than {source.max_bytes} bytes")
                ((kind, part),) = _elements(inside, order)
            if kind == _ARRAY:
                name = _array_head(part, order)[2].decode("latin-1")
                if name in names:
                    found[name] = _mat_value(part, order, 0)
    return found


def _elements(data: bytes, order: str, at: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield consecutive elements: their types, and their bytes."""
    stop, tag_at = len(data), _TAG[order].unpack_from
    while at < stop:
        kind, size = tag_at(data, at)
        start, at = at + 8, at + 8 + (size if kind == _COMPRESSED else size + -size % 8)
        if kind >> 16:  # a small element: up to four bytes within the tag
            kind, size, start, at = kind & 0xFFFF, kind >> 16, start - 4, start
        if start + size > min(at, stop):
            raise ValueError("an element has another size than its place allows")
        yield kind, data[start : start + size]


def _array_head(part: bytes, order: str) -> tuple[int, tuple[int, ...], bytes, Any]:
    """Return the type of an array, its shape, its name, and the elements that have its values."""
    head = _HEAD[order]
    if len(part) >= head.size:
        usual = head.unpack_from(part)
        if usual[:2] + usual[4:6] + usual[8:] == (6, 8, 5, 8, 1, 0):
            return usual[2] & 0xFF, usual[6:8], b"", _elements(part, order, head.size)
    elements = _elements(part, order)
    (_, kind), (_, shape), (_, name) = islice(elements, 3)
    sizes = struct.unpack(f"{order}{len(shape) // 4}i", shape)
    return struct.unpack_from(f"{order}I", kind)[0] & 0xFF, sizes, name, elements


def _mat_value(part: bytes, order: str, depth: int) -> Any:
    """Return what an array holds."""
    if not len(part):
        return ""
    kind, sizes, _, elements = _array_head(part, order)
    if min(sizes, default=-1) < 0 or depth > _DEEPEST:
        raise ValueError("an array has a wrong shape, or is nested too deeply")
    if kind in (_CELLS, _STRUCTS):
        fields: tuple[str, ...] = ("",)
        if kind == _STRUCTS:
            (_, length), (_, names) = islice(elements, 2)
            (wide,) = struct.unpack(f"{order}i", length)
            starts = range(0, len(names), wide)
            fields = tuple(
                names[i : i + wide].split(b"\0")[0].decode("latin-1") for i in starts
            )
        values = [_mat_value(one, order, depth + 1) for _, one in elements]
        if len(values) != prod(sizes) * len(fields):
            raise ValueError("an array has another number of entries than its shape")
        if kind == _CELLS:
            return values
        return Struct(fields, list(zip(*[iter(values)] * len(fields), strict=True)))
    stored, content = next(elements, (0, part))
    if kind == _TEXT:
        encoding = _ENCODINGS[stored]
        wide_order = (
            {"<": "-le", ">": "-be"}[order] if encoding in ("utf-16", "utf-32") else ""
        )
        return content.decode(encoding + wide_order)[: prod(sizes) : max(1, sizes[0])]
    if kind not in _NUMBERS:
        raise ValueError(f"an array is of the type {kind}")
    return np.frombuffer(content, order + _TYPES[stored])
