"""Arrays in .npy, .npz and HDF5 files: matrices of items x names, dense or sparse, and vectors.

Conventions
-----------
Rows and columns count from 0 in messages. A .npz file holds the matrix as "values", "scores",
"labels", "y" or as its only array; beside it there may be "classes" and "ids". So does an HDF5
file, for which h5py is needed. The files of
``scipy.sparse.save_npz`` (CSR, CSC, COO) become CSR; a cell that stands twice is an error.
Headers are parsed here and not by numpy, so that nothing is unpickled or evaluated, and a damaged
shape allocates nothing. Arrays of a .npy file are views of its bytes, and read-only;
large files are memory-mapped.
"""

from __future__ import annotations

import io
import mmap
import re
import zipfile
import zlib
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.form import Form, ReadOptions, canonical_id, check_classes
from semmetrics.data.items import Items, encode_numbers
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_finite
from semmetrics.data.source import Source, too_large
from semmetrics.errors import ROW, InputError, MissingDependencyError, Places, at
from semmetrics.messages import listing, pluralize

__all__ = ["is_vector", "parse_npy", "plain_array", "read_arrays", "read_matrix_file"]

_MAGIC, _ZIP = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")  # of an archive, and an empty one
_HDF = b"\x89HDF"
_CHUNK = 2**20
_ROW, _COLUMN = 32, 300  # bytes that an item and a class of a matrix take, at most, if it is empty
_MATRIX = ("values", "scores", "labels", "y")
_BESIDE = ("classes", "ids")
_SPARSE = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "coo": ("row", "col"),
}


def parse_npy(data: bytes | mmap.mmap, where: str) -> NDArray[np.generic]:
    """The array in the bytes of a .npy file: booleans, integers, floats or text."""
    if data[: len(_MAGIC)] != _MAGIC:
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
    data: bytes | mmap.mmap,
    start: int,
    dtype: np.dtype[Any],
    sizes: list[int],
    fortran: bool,
    where: str,
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
                raise too_large(source.name, max_bytes, packed=True)
            for member in members:
                entry = f", in the entry {member.filename!r}"
                key = member.filename.removesuffix(".npy")
                if key in arrays or member.compress_type not in (0, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile(f"the entry {key!r}")
                arrays[key] = parse_npy(_read(archive, member), at(source.name, f"array {key!r}"))
    except InputError:
        raise
    # What zipfile raises for damaged files is not documented; all of these were seen.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError):
        raise InputError(
            f"it is damaged, or was cut off{entry}",
            where=source.name,
            remedy="copy it again, or write it with numpy.savez",
        ) from None
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
                raise too_large(source.name, max_bytes)
            for one in found:
                text = h5py.check_string_dtype(one.dtype) is not None
                values = np.array(one.asstr()[...].tolist()) if text else one[...]
                arrays[one.name.removeprefix("/")] = values
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"it is damaged, or was cut off: {error}",
            where=source.name,
            remedy="copy it again, or write it with h5py",
        ) from None
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
        raise InputError(
            f"{listing(elsewhere)}: external or virtual, and only this file is read",
            where=name,
            remedy="copy the values into this file, with h5py: file['values'] = values",
        )


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Read a file of an archive, and no more of it than its size, which may be wrong."""
    with archive.open(member) as stream:
        return b"".join(iter(lambda: stream.read(_CHUNK), b""))


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
            return _vector(values, arrays, source, form, where)
    _check_array(values, 2, where)
    rows, columns = values.shape
    source.room().take(_ROW * rows + _COLUMN * columns)
    own = _classes(arrays, options, columns, source.name)
    kind = "sparse" if sparse else "HDF5" if source.head.startswith(_HDF) else "NumPy"
    extra = [key for key in arrays if key not in used and key not in _BESIDE]
    return as_matrix(
        values,
        names if own is None else own,
        _ids(arrays["ids"], rows, at(source.name, "array 'ids'")) if "ids" in arrays else None,
        source=source.name,
        understood=f"{kind} matrix, {pluralize(rows, 'item')} x {pluralize(columns, 'class')}, "
        f"{values.dtype}",
        notes=[f"arrays not used: {', '.join(map(repr, extra))}"] if extra else [],
        finite=form is None or not form.by_block,
    )


def _vector(
    values: NDArray[np.generic],
    arrays: dict[str, NDArray[np.generic]],
    source: Source,
    form: Form,
    where: str,
) -> Items | Lists:
    """Return items of one entry each."""
    source.room().take(_COLUMN * len(values))
    ids = None
    if "ids" in arrays:
        ids = _ids(arrays["ids"], len(values), at(source.name, "array 'ids'"))
    understood = f"NumPy vector of {form.noun}s"
    if values.dtype.kind in "iu":
        return encode_numbers(values, form, source.name, understood, ids)
    places = Places(source.name, ids, ROW, range(len(values)))
    return Items(ids, _strings(values, where), places, source.name, understood)


def plain_array(source: Source, options: ReadOptions, dimensions: int) -> NDArray[np.generic]:
    """Read a dense array of finite numbers with so many dimensions."""
    arrays = read_arrays(source, options.max_bytes)
    key, where = _main(arrays, source.name)
    if extra := [name for name in arrays if name != key]:
        raise InputError(
            f"beside the array {key!r} there are {listing(extra)}",
            where=source.name,
            remedy="save the one array alone",
        )
    _check_array(arrays[key], dimensions, where)
    if arrays[key].dtype.kind == "f":
        check_finite(arrays[key], where)
    return arrays[key]


def _main(arrays: dict[str, NDArray[np.generic]], name: str) -> tuple[str, str]:
    found = [key for key in arrays if key in _MATRIX]
    found = found or [key for key in arrays if key not in _BESIDE]
    if len(found) != 1:
        raise InputError(
            f"{len(found)} arrays could be the values{': ' if found else ''}{listing(found)}",
            where=name,
            remedy="save one of them as 'values', beside 'classes' and 'ids'",
        )
    return found[0], at(name, f"array {found[0]!r}" if found[0] else "")


def _check_array(values: Any, dimensions: int, where: str) -> None:
    if values.ndim != dimensions:
        need = "a vector" if dimensions == 1 else "rows and columns"
        raise InputError(
            f"its shape is {values.shape}, not that of {need}",
            where=where,
            remedy="reshape it before saving",
        )
    if values.dtype.kind not in "biuf":
        raise InputError(f"it holds {values.dtype}", where=where, remedy="save numbers")


def _strings(values: NDArray[np.generic], where: str) -> list[Any]:
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            f"it is {values.dtype} of shape {values.shape}",
            where=where,
            remedy="save a vector of text (dtype U)",
        )
    try:
        names = values.tolist()
        "".join(map(str, names)).encode()
    except ValueError:  # code points beyond Unicode, or halves of pairs
        raise InputError("its text is damaged", where=where, remedy="save it again") from None
    return names  # type: ignore[no-any-return]


def _ids(values: NDArray[np.generic], rows: int, where: str) -> list[str]:
    ids: dict[str, int] = {}
    for row, value in enumerate(_strings(values, where)):
        try:
            id_ = canonical_id(value, "")
            if ids.setdefault(id_, row) != row:
                raise InputError(f"the id {id_!r} is also in row {ids[id_]}", remedy="keep one")
        except InputError as error:
            raise error.placed(at(where, f"row {row} (from 0)")) from None
    if len(ids) != rows:
        raise InputError(
            f"{pluralize(len(ids), 'id')} for {pluralize(rows, 'row')}",
            where=where,
            remedy="save one id a row",
        )
    return list(ids)


def _classes(
    arrays: dict[str, NDArray[np.generic]], options: ReadOptions, columns: int, name: str
) -> Sequence[str] | None:
    classes = options.classes
    if "classes" in arrays:
        where = at(name, "array 'classes'")
        own = _strings(arrays["classes"], where)
        check_classes(own, where)
        if classes is not None and own != list(classes):
            raise InputError(
                "the classes differ from those given", where=where, remedy="leave out one of them"
            )
        classes = own
    if classes is not None and len(classes) != columns:
        raise InputError(
            f"{pluralize(len(classes), 'class')} for {pluralize(columns, 'column')}",
            where=name,
            remedy="give one class a column, in their order",
        )
    return classes


def _sparse(
    arrays: dict[str, NDArray[np.generic]], name: str, max_bytes: int
) -> tuple[Any, set[str]]:
    """A CSR matrix from what save_npz wrote, and the names of the arrays it is made of."""
    form = arrays["format"]
    kind = form.tobytes().replace(b"\0", b"").decode("latin-1") if form.dtype.kind in "SU" else ""
    used = {"data", "format", "shape", "_is_array", *_SPARSE.get(kind, ())}
    if kind not in _SPARSE or not used - {"_is_array"} <= arrays.keys():
        raise InputError(
            f"a sparse matrix of format {kind!r} lacks parts or is not read",
            where=name,
            remedy="write it with scipy.sparse.save_npz(file, matrix.tocsr())",
        )
    parts = [arrays[key] for key in ("data", *_SPARSE[kind])]
    try:
        return _to_csr(kind, parts, arrays["shape"], max_bytes), used
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"the sparse matrix is damaged: {error}", where=name, remedy="write it again"
        ) from None


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
        raise ValueError("a cell stands twice")
    return result
