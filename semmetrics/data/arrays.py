"""Arrays in .npy, .npz and HDF5 files: matrices of items x names, and vectors.

Conventions
-----------
Rows and columns count from 0 in messages. A .npz file holds the matrix as "values", "scores",
"labels", "y" or as its only array; beside it there may be "classes" and "ids". So does an HDF5
file, for which h5py is needed. The files of
``scipy.sparse.save_npz`` (CSR, CSC, COO) become CSR; a repeated cell is an error.
Headers of NumPy are parsed here, so that nothing is unpickled or evaluated, and a damaged
shape allocates nothing. Arrays of a .npy file are views of its bytes, and read-only;
large files are memory-mapped.
"""

from __future__ import annotations

import contextlib
import io
import mmap
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.form import Form, Items, ReadOptions, check_classes, encode_numbers
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_finite
from semmetrics.data.source import Source
from semmetrics.errors import EXAMPLES, ROW, Fact, InputError, MissingDependencyError, Places, at
from semmetrics.messages import pluralize
from semmetrics.schema import Column, as_id

_MAGIC, _ZIP = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and an empty one
_HDF = b"\x89HDF"
_CHUNK = 2**20
_ROW, _COLUMN = 32, 300  # bytes that an item and a class of a matrix take, at most, if it is empty
_MATRIX = ("values", "scores", "labels", "y")
_BESIDE = ("classes", "ids")
_SPARSE = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def parse_npy(data: bytes | mmap.mmap, where: str) -> NDArray[np.generic]:
    """Return the array in the bytes of a .npy file: booleans, integers, floats or text."""
    if data[: len(_MAGIC)] != _MAGIC:
        pickled = data[:1] == b"\x80"
        raise InputError("not-numpy", where, why="a pickle, which is never loaded" if pickled else
                         "it has another header")  # fmt: skip
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
        raise InputError("damaged", where, why="its header")
    kind, fortran, shape = (field[1] for field in fields if field)
    dtype = None
    if re.fullmatch(r"[<>|=]?[biufUS]\d{1,9}", kind := kind.strip("'")):
        with contextlib.suppress(TypeError, ValueError):
            dtype = np.dtype(kind)
    if dtype is None or not dtype.itemsize or (dtype.itemsize > 8 and dtype.kind not in "US"):
        what = {"|O": "object (a pickle)", "[": "records"}.get(kind, kind)
        raise InputError(
            "wrong-dtype",
            where,
            role="the array",
            dtype=what,
            wanted="booleans, integers, floats to 64 bits, or text (dtype U)",
        )
    # Longer numbers are no sizes; cut, they still do not fit the bytes that follow.
    sizes = [int(size[:18]) for size in re.findall(r"\d+", shape)]
    count, have = prod(sizes), len(data) - end
    if count * dtype.itemsize != have:
        raise InputError("damaged", where, why=f"the array {tuple(sizes)} of {dtype} needs "
                         f"{count * dtype.itemsize} bytes, and has {have}")  # fmt: skip
    try:
        flat = np.frombuffer(data, dtype, count, end) if count else np.zeros(0, dtype)
        array = flat.reshape(sizes, order="F" if fortran == "True" else "C")
    except ValueError as error:  # more dimensions, or larger ones, than numpy has
        raise InputError("damaged", where, why=error) from None
    if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
        raise InputError("damaged", where, why="a boolean is neither 0 nor 1")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _mapped(source: Source) -> bytes | mmap.mmap:
    """Return the bytes of an input, those of a large file as they lie on disk."""
    if source.path is None or source.packed:
        return source.data
    with source.opened() as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def is_vector(source: Source) -> bool:
    """Tell from its header whether a .npy file holds one dimension."""
    shape = re.search(rb"'shape': *\(\d+,\)", source.head[:10_000])
    return source.head.startswith(_MAGIC) and shape is not None


def read_arrays(source: Source, max_bytes: int) -> dict[str, NDArray[np.generic]]:
    """The arrays of a .npz or HDF5 file by name, or of a .npy file under the name ""."""
    if source.head.startswith(_HDF):
        return _read_hdf(source, max_bytes)
    if not source.head.startswith(_ZIP):
        return {"": parse_npy(_mapped(source), source.name)}
    arrays: dict[str, NDArray[np.generic]] = {}
    entry = ""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > max_bytes:
                raise InputError("too-large", source.name, limit=max_bytes)
            for member in members:
                entry = f"entry {member.filename!r}"
                key = member.filename.removesuffix(".npy")
                if key in arrays or member.compress_type not in (0, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile(f"the entry {key!r}")
                with archive.open(member) as stream:  # no more than its size, which may be wrong
                    content = b"".join(iter(lambda: stream.read(_CHUNK), b""))
                arrays[key] = parse_npy(content, at(source.name, f"array {key!r}"))
    except InputError:
        raise
    # What zipfile raises for damaged files is not documented; all of these were seen.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:
        raise InputError("damaged", at(source.name, entry), why=error) from None
    return arrays


def _read_hdf(source: Source, max_bytes: int) -> dict[str, NDArray[np.generic]]:
    """Read the arrays of an HDF5 file, those in groups too."""
    try:
        import h5py
    except ImportError as error:
        raise MissingDependencyError(
            "h5py", f"reading {source.name}", extra="hdf5", error=error
        ) from error
    arrays: dict[str, NDArray[np.generic]] = {}
    found: list[Any] = []
    try:
        with h5py.File(source.path or io.BytesIO(source.data), "r") as file:
            file.visititems(lambda name, one: found.append(one))
            found = [
                one for one in found if isinstance(one, h5py.Dataset) and one.shape is not None
            ]
            _check_stored_here(file, found, source.name)
            if sum(one.nbytes for one in found) > max_bytes:
                raise InputError("too-large", source.name, limit=max_bytes)
            for one in found:
                text = h5py.check_string_dtype(one.dtype) is not None
                values = np.array(one.asstr()[...].tolist()) if text else one[...]
                arrays[one.name.removeprefix("/")] = values
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("damaged", source.name, why=error) from None
    return arrays


def _check_stored_here(file: Any, datasets: Sequence[Any], name: str) -> None:
    """Refuse what would be read from another file: whoever wrote this one chose which.

    A virtual dataset of its own file is refused, too: one that contains itself ends the process.
    """
    from h5py import h5l

    elsewhere: list[str] = []

    def look(link: bytes, info: Any) -> None:
        if info.type not in (h5l.TYPE_HARD, h5l.TYPE_SOFT):
            elsewhere.append(link.decode("utf-8", "replace"))

    file.id.links.visit(look, info=True)
    elsewhere += [one.name.removeprefix("/") for one in datasets if one.external or one.is_virtual]
    if elsewhere:
        raise InputError("stored-elsewhere", name, names=elsewhere)


def read_matrix_file(
    source: Source,
    options: ReadOptions,
    names: Sequence[str | Sequence[str]] | None = None,
    form: Form | None = None,
) -> Matrix | Items | Lists:
    """Read a matrix of items x names: 0/1 membership, or scores.

    Of a form whose items may be one entry, a vector of names or whole numbers is these.
    """
    arrays = read_arrays(source, options.max_bytes)
    sparse = "format" in arrays and "shape" in arrays
    if sparse:
        values, used = _sparse(arrays, source.name, options.max_bytes)
        where = source.name
    else:
        key, where = _main(arrays, source.name)
        values, used = arrays[key], {key}
        if form is not None and form.alone and values.ndim == 1 and values.dtype.kind in "iuU":
            source.room().take(_COLUMN * len(values))
            ids = _ids(arrays, len(values), source.name)
            understood = f"NumPy vector of {form.noun}s"
            if values.dtype.kind in "iu":
                return encode_numbers(values, form, source.name, understood, ids)
            places = Places(source.name, ids, ROW, range(len(values)))
            return Items(ids, _strings(values, where), places, source.name, understood)
    _check_array(values, 2, where)
    rows, columns = values.shape
    source.room().take(_ROW * rows + _COLUMN * columns)
    own = _classes(arrays, options, columns, source.name)
    kind = "sparse" if sparse else "HDF5" if source.head.startswith(_HDF) else "NumPy"
    extra = [key for key in arrays if key not in used and key not in _BESIDE]
    return as_matrix(
        values,
        names if own is None else own,
        _ids(arrays, rows, source.name),
        source=source.name,
        understood=f"{kind} matrix, {pluralize(rows, 'item')} x {pluralize(columns, 'class')}, "
        f"{values.dtype}",
        notes=[Fact("unused-arrays", len(extra), tuple(extra[:EXAMPLES]))] if extra else [],
        finite=form is None or not form.by_block,
    )


def plain_array(source: Source, options: ReadOptions, dimensions: int) -> NDArray[np.generic]:
    """Read a dense array of finite numbers with so many dimensions."""
    arrays = read_arrays(source, options.max_bytes)
    key, where = _main(arrays, source.name)
    if extra := [name for name in arrays if name != key]:
        raise InputError("several-arrays", source.name, name=key, extra=extra)
    _check_array(arrays[key], dimensions, where)
    if arrays[key].dtype.kind == "f":
        check_finite(arrays[key], where)
    return arrays[key]


def _main(arrays: dict[str, NDArray[np.generic]], name: str) -> tuple[str, str]:
    """Return the name of the array that has the values, and its place."""
    found = [key for key in arrays if key in _MATRIX]
    found = found or [key for key in arrays if key not in _BESIDE]
    if len(found) != 1:
        raise InputError("no-main-array", name, n=len(found), found=found)
    return found[0], at(name, f"array {found[0]!r}" if found[0] else "")


def _check_array(values: Any, dimensions: int, where: str) -> None:
    if values.ndim != dimensions:
        wanted = "a vector" if dimensions == 1 else "rows and columns"
        raise InputError("wrong-shape", where, role="the array", shape=values.shape, wanted=wanted)
    if values.dtype.kind not in "biuf":
        raise InputError(
            "wrong-dtype", where, role="the array", dtype=values.dtype, wanted="numbers"
        )


def _strings(values: NDArray[np.generic], where: str) -> list[Any]:
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            "wrong-dtype",
            where,
            role="the array",
            dtype=f"{values.dtype}{values.shape}",
            wanted="a vector of text (dtype U)",
        )
    names = values.tolist()
    try:
        "".join(map(str, names)).encode()
    except ValueError:  # code points beyond Unicode, or halves of pairs
        raise InputError("damaged", where, why="its text") from None
    return names  # type: ignore[no-any-return]


def _ids(arrays: dict[str, NDArray[np.generic]], rows: int, name: str) -> list[str] | None:
    """Return the ids of the rows, if there are any."""
    if "ids" not in arrays:
        return None
    where = at(name, "array 'ids'")
    column = Column("id", read=as_id)
    ids = column.values(_strings(arrays["ids"], where), lambda i: at(where, ROW.format(i)))
    if len(set(ids)) != len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        row = [i for i, one in enumerate(ids) if one == twice][1]
        raise InputError("duplicate-id", at(where, ROW.format(row)), value=twice)
    if len(ids) != rows:
        raise InputError("wrong-count", where, found=pluralize(len(ids), "id"),
                         wanted=pluralize(rows, "row"))  # fmt: skip
    return ids


def _classes(
    arrays: dict[str, NDArray[np.generic]], options: ReadOptions, columns: int, name: str
) -> Sequence[str] | None:
    classes = options.classes
    if "classes" in arrays:
        where = at(name, "array 'classes'")
        own = _strings(arrays["classes"], where)
        check_classes(own, where)
        if classes is not None and own != list(classes):
            raise InputError("other-classes", where)
        classes = own
    if classes is not None and len(classes) != columns:
        raise InputError("wrong-count", name, found=pluralize(len(classes), "class"),
                         wanted=pluralize(columns, "column"))  # fmt: skip
    return classes


def _sparse(
    arrays: dict[str, NDArray[np.generic]], name: str, max_bytes: int
) -> tuple[Any, set[str]]:
    """A CSR matrix from what save_npz wrote, and the names of the arrays it is made of."""
    form = arrays["format"]
    kind = form.tobytes().replace(b"\0", b"").decode("latin-1") if form.dtype.kind in "SU" else ""
    used = {"data", "format", "shape", "_is_array", *_SPARSE.get(kind, ())}
    if kind not in _SPARSE or not used - {"_is_array"} <= arrays.keys():
        raise InputError("not-sparse", name, kind=kind)
    parts = [arrays[key] for key in ("data", *_SPARSE[kind])]
    try:
        return _to_csr(kind, parts, arrays["shape"], max_bytes), used
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError("damaged", name, why=error) from None


def _to_csr(kind: str, parts: list[Any], shape: NDArray[np.generic], max_bytes: int) -> Any:
    from scipy import sparse

    data, first, second = parts  # typed loosely: their types are checked here
    integers = all(part.dtype.kind in "iu" for part in (first, second, shape))
    vectors = all(part.ndim == 1 for part in (*parts, shape))
    if not integers or not vectors or data.dtype.kind not in "biuf" or len(shape) != 2:
        raise ValueError("parts of a wrong type or shape")
    size = tuple(shape.tolist())
    if min(size) < 0 or _ROW * size[0] + _COLUMN * size[1] > max(
        max_bytes, 2**30
    ):  # offsets are allocated for every row
        raise ValueError(f"shape {size}")
    if kind == "coo":
        matrix: Any = sparse.coo_array((data, (first, second)), size)
    else:
        matrix = getattr(sparse, f"{kind}_array")((data, first, second), size)
        matrix.check_format(full_check=True)
    result = matrix.tocsr(copy=True)
    result.sum_duplicates()  # sorts the columns; adds entries of one cell, and so tells of them
    if result.nnz != matrix.nnz:
        raise ValueError("a cell is there twice")
    return result
