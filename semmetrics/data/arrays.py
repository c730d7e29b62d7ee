"""Arrays in .npy, .npz and HDF5 files: matrices of items x names, and vectors.

Conventions
-----------
Rows and columns count from 0 in messages. A .npz file has the matrix as "values", "scores",
"labels", "y" or as its only array, and may also have "classes" and "ids". The same applies to HDF5
files, for which h5py is needed. The files of ``scipy.sparse.save_npz`` (CSR, CSC, COO) become CSR,
and a repeated cell raises an error. Nothing is unpickled, and a damaged shape allocates no memory.
Arrays of a .npy file are read-only views of its bytes. Large files are memory-mapped.
"""

from __future__ import annotations

import io
import mmap
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from semmetrics.data.class_lists import check_classes
from semmetrics.data.form import Form
from semmetrics.data.items import Items, encode_numbers
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_finite, class_numbers
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, reporting_damage
from semmetrics.errors import (
    MAX_EXAMPLES,
    ROW,
    Fact,
    InputError,
    Places,
    format_place,
    require,
)
from semmetrics.messages import pluralize
from semmetrics.schema import Column, as_id

_NPY_START = b"\x93NUMPY"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of an archive, and of an empty one."""
_HDF_START = b"\x89HDF"
_PICKLE_START = b"\x80"
_MAX_BYTES_PER_READ = 2**20
_MAX_HEADER_BYTES = 10_100
"""How many bytes are searched for the header of an array."""
_MATRIX_KEYS = ("values", "scores", "labels", "y")
_NAME_KEYS = ("classes", "ids")
_SPARSE_KEYS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "coo": ("row", "col"),
}
"""The names of the arrays of indices, by the format of a sparse matrix."""
_UNZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
)
"""What zipfile was seen to raise for damaged files. It is not documented."""
Arrays: TypeAlias = dict[str, NDArray[np.generic]]


# ---- files --------------------------------------------------------------------------------------


def parse_npy(data: bytes | mmap.mmap, where: str) -> NDArray[np.generic]:
    """Return the array in the bytes of a .npy file: booleans, integers, floats or text."""
    if data[: len(_NPY_START)] != _NPY_START:
        why = "the header is invalid"
        if data[:1] == _PICKLE_START:
            why = "a pickle, which semmetrics never loads"
        raise InputError("not-numpy", where, why=why)
    header = io.BytesIO(data[:_MAX_HEADER_BYTES])
    # NumPy may raise any exception on a damaged header.
    with reporting_damage(where, Exception):
        read_header = npy.read_array_header_2_0
        if npy.read_magic(header) == (1, 0):
            read_header = npy.read_array_header_1_0
        shape, is_fortran, dtype = read_header(header)
        _check_dtype(dtype, where)
        start = header.tell()
        size = prod(shape)
        n_needed = size * dtype.itemsize
        n_bytes = len(data) - start
        if n_needed != n_bytes:
            raise ValueError(
                f"the array {tuple(shape)} of {dtype} needs {n_needed} bytes, and has {n_bytes}"
            )
        flat = np.zeros(0, dtype)
        if size:
            flat = np.frombuffer(data, dtype, size, start)
        array = flat.reshape(shape, order="F" if is_fortran else "C")
        if dtype.kind == "b" and flat.size and flat.view(np.uint8).max() > 1:
            raise ValueError("a boolean is neither 0 nor 1")
    return array.astype(dtype.newbyteorder("="), copy=False)


def _check_dtype(dtype: np.dtype[Any], where: str) -> None:
    """Raise an error unless elements are booleans, numbers of up to 64 bits, or text."""
    is_number = dtype.kind in "biuf" and dtype.itemsize <= 8
    if dtype.itemsize and (is_number or dtype.kind in "US"):
        return
    names = {"O": "object (a pickle)", "V": "records"}
    raise InputError(
        "wrong-dtype",
        where,
        role="the array",
        dtype=names.get(dtype.kind, dtype),
        wanted="booleans, integers, floats to 64 bits, or strings (dtype U)",
    )


def read_arrays(source: Source, max_bytes: int) -> Arrays:
    """Return the arrays of a .npz or HDF5 file by name, or of a .npy file under the name ""."""
    if source.head.startswith(_HDF_START):
        return _read_hdf(source, max_bytes)
    if source.head.startswith(_ZIP_STARTS):
        return _read_archive(source, max_bytes)
    if source.path is None or source.packed:
        return {"": parse_npy(source.data, source.name)}
    with source.opened() as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return {"": parse_npy(mapped, source.name)}


def _read_archive(source: Source, max_bytes: int) -> Arrays:
    """Read the arrays of a .npz file."""
    with reporting_damage(source.name, *_UNZIP_ERRORS):
        archive = zipfile.ZipFile(io.BytesIO(source.data))
    members = archive.infolist()
    if sum(member.file_size for member in members) > max_bytes:
        raise InputError("too-large", source.name, limit=max_bytes)
    arrays: Arrays = {}
    for member in members:
        key = member.filename.removesuffix(".npy")
        entry = format_place(source.name, f"entry {member.filename!r}")
        with reporting_damage(entry, *_UNZIP_ERRORS):
            is_readable = member.compress_type in (0, zipfile.ZIP_DEFLATED)
            if key in arrays or not is_readable:
                raise zipfile.BadZipFile(f"the entry {key!r}")
            content = _read_member(archive, member)
        arrays[key] = parse_npy(content, format_place(source.name, f"array {key!r}"))
    return arrays


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of an entry, whose size may be wrong, without reading beyond it."""
    chunks = []
    with archive.open(member) as stream:
        while chunk := stream.read(_MAX_BYTES_PER_READ):
            chunks.append(chunk)
    return b"".join(chunks)


def _read_hdf(source: Source, max_bytes: int) -> Arrays:
    """Read the arrays of an HDF5 file, including those in groups."""
    h5py = require("h5py", f"reading {source.name}", extra="hdf5")
    arrays: Arrays = {}
    with (
        reporting_damage(source.name, OSError, RuntimeError, ValueError, TypeError),
        h5py.File(source.path or io.BytesIO(source.data), "r") as file,
    ):
        datasets = _list_datasets(file, h5py)
        stored_elsewhere = _list_outside_links(file, h5py)
        for dataset in datasets:
            # A virtual dataset that contains itself ends the process.
            if dataset.external or dataset.is_virtual:
                stored_elsewhere.append(dataset.name.removeprefix("/"))
        if stored_elsewhere:
            # The author of the file would choose which other file is read.
            raise InputError("stored-elsewhere", source.name, names=stored_elsewhere)
        if sum(dataset.nbytes for dataset in datasets) > max_bytes:
            raise InputError("too-large", source.name, limit=max_bytes)
        for dataset in datasets:
            if h5py.check_string_dtype(dataset.dtype) is None:
                values = dataset[...]
            else:
                values = np.array(dataset.asstr()[...].tolist())
            arrays[dataset.name.removeprefix("/")] = values
    return arrays


def _list_datasets(file: Any, h5py: Any) -> list[Any]:
    """Return the datasets of an HDF5 file that have a shape."""
    objects: list[Any] = []
    file.visititems(lambda name, member: objects.append(member))
    datasets = []
    for member in objects:
        if isinstance(member, h5py.Dataset) and member.shape is not None:
            datasets.append(member)
    return datasets


def _list_outside_links(file: Any, h5py: Any) -> list[str]:
    """Return the links of an HDF5 file that lead to other files."""
    links: list[tuple[bytes, int]] = []
    file.id.links.visit(lambda name, info: links.append((name, info.type)), info=True)
    inside = (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT)
    return [
        name.decode("utf-8", "replace") for name, kind in links if kind not in inside
    ]


# ---- matrices -----------------------------------------------------------------------------------


class _Values(NamedTuple):
    """The main array of a file.

    Attributes
    ----------
    values : array or CSR matrix
    where : str
        Its place, for messages.
    used : set of str
        The names of the arrays that contain its parts.
    is_sparse : bool
    """

    values: Any
    where: str
    used: set[str]
    is_sparse: bool


def read_matrix_file(
    source: Source,
    options: ReadOptions,
    names: Sequence[str | Sequence[str]] | None,
    form: Form,
) -> Matrix | Items | Lists:
    """Read a matrix of items x names: 0/1 membership, or scores.

    If the form allows it, a vector of names or integers is read as items with one entry each.
    """
    arrays = read_arrays(source, options.max_bytes)
    main = _read_values(arrays, source.name)
    values = main.values
    if not main.is_sparse and form.single_integers:
        items = _read_vector(values, arrays, main.where, form, source)
        if items is not None:
            return items
    if values.ndim == 1:
        shape = values.shape
        raise InputError("vector-as-matrix", main.where, role="the array", shape=shape)
    _check_array(values, 2, main.where)
    own_classes = _read_classes(arrays, options, source.name)
    n_rows, n_columns = values.shape
    size = f"{pluralize(n_rows, 'item')} x {pluralize(n_columns, 'class')}"
    title = f"{_file_kind(source, is_sparse=main.is_sparse)} matrix"
    return as_matrix(
        values,
        names if own_classes is None else own_classes,
        _read_ids(arrays, n_rows, source.name),
        source=source.name,
        understood=f"{title}, {size}, {values.dtype}",
        title=title,
        notes=_note_unused_arrays(arrays, main.used),
        finite=not (form.checked_by_block or form.allows_nan),
    )


def _read_values(arrays: Arrays, name: str) -> _Values:
    """Return the main array, or the sparse matrix if the arrays are its parts."""
    if "format" in arrays and "shape" in arrays:
        values, used = _read_sparse(arrays, name)
        return _Values(values, name, used, is_sparse=True)
    key, where = _find_main(arrays, name)
    return _Values(arrays[key], where, {key}, is_sparse=False)


def _read_vector(
    values: NDArray[np.generic],
    arrays: Arrays,
    where: str,
    form: Form,
    source: Source,
) -> Items | Lists | None:
    """Read a vector of names or integers as items with one entry each.

    Return None for other arrays.
    """
    understood = f"NumPy vector of {form.noun}s"
    numbers = class_numbers(values)
    if numbers is not None:
        ids = _read_ids(arrays, len(values), source.name)
        return encode_numbers(numbers, form, source.name, understood, ids)
    if values.ndim == 1 and values.dtype.kind == "U":
        ids = _read_ids(arrays, len(values), source.name)
        places = Places(source.name, ids, ROW, range(len(values)))
        entries = _read_strings(values, where)
        return Items(ids, entries, places, source.name, understood)
    return None


def _file_kind(source: Source, *, is_sparse: bool) -> str:
    """Return the name of the format of a matrix, for messages."""
    if is_sparse:
        return "sparse"
    if source.head.startswith(_HDF_START):
        return "HDF5"
    return "NumPy"


def _note_unused_arrays(arrays: Arrays, used: set[str]) -> list[Fact]:
    """Return a note on arrays that are not used, if there are any."""
    unused = [key for key in arrays if key not in used and key not in _NAME_KEYS]
    if not unused:
        return []
    return [Fact("unused-arrays", len(unused), tuple(unused[:MAX_EXAMPLES]))]


def plain_array(
    source: Source, options: ReadOptions, dimensions: int
) -> NDArray[np.generic]:
    """Read a dense array of finite numbers with this number of dimensions."""
    arrays = read_arrays(source, options.max_bytes)
    key, where = _find_main(arrays, source.name)
    others = [name for name in arrays if name != key]
    if others:
        raise InputError("several-arrays", source.name, name=key, extra=others)
    values = arrays[key]
    _check_array(values, dimensions, where)
    if values.dtype.kind == "f":
        check_finite(values, where)
    return values


def _find_main(arrays: Arrays, name: str) -> tuple[str, str]:
    """Return the name of the array that has the values, and its place."""
    keys = [key for key in arrays if key in _MATRIX_KEYS]
    if not keys:
        keys = [key for key in arrays if key not in _NAME_KEYS]
    if len(keys) != 1:
        raise InputError("no-main-array", name, n=len(keys), found=keys)
    (key,) = keys
    place = f"array {key!r}" if key else ""
    return key, format_place(name, place)


def _check_array(values: Any, dimensions: int, where: str) -> None:
    """Raise an error unless an array has numbers and this number of dimensions."""
    if values.ndim != dimensions:
        wanted = "a vector" if dimensions == 1 else "rows and columns"
        raise InputError(
            "wrong-shape", where, role="the array", shape=values.shape, wanted=wanted
        )
    if values.dtype.kind not in "biuf":
        raise InputError(
            "wrong-dtype", where, role="the array", dtype=values.dtype, wanted="numbers"
        )


def _read_strings(values: NDArray[np.generic], where: str) -> list[Any]:
    """Return the strings or integers of a vector."""
    if values.ndim != 1 or values.dtype.kind not in "Uiu":
        raise InputError(
            "wrong-dtype",
            where,
            role="the array",
            dtype=f"{values.dtype}{values.shape}",
            wanted="a vector of strings (dtype U)",
        )
    names: list[Any] = values.tolist()
    try:
        "".join(map(str, names)).encode()
    except ValueError:  # code points beyond Unicode, or lone surrogates
        raise InputError(
            "damaged", where, why="its strings cannot be decoded"
        ) from None
    return names


def _read_ids(arrays: Arrays, n_rows: int, name: str) -> list[str] | None:
    """Return the ids of the rows, if there are any."""
    if "ids" not in arrays:
        return None
    where = format_place(name, "array 'ids'")
    column = Column("id", read=as_id)
    cells = _read_strings(arrays["ids"], where)
    ids: list[str] = column.values(cells, lambda i: format_place(where, ROW.format(i)))
    if len(set(ids)) != len(ids):
        ((repeated_id, _),) = Counter(ids).most_common(1)
        first_row = ids.index(repeated_id)
        row = ids.index(repeated_id, first_row + 1)
        raise InputError(
            "duplicate-id", format_place(where, ROW.format(row)), value=repeated_id
        )
    if len(ids) != n_rows:
        number = pluralize(len(ids), "id")
        wanted = pluralize(n_rows, "row")
        raise InputError("wrong-count", where, found=number, wanted=wanted)
    return ids


def _read_classes(
    arrays: Arrays, options: ReadOptions, name: str
) -> Sequence[str] | None:
    """Return the classes in a file or in the option. If both have classes, they must be equal."""
    if "classes" not in arrays:
        return options.classes
    where = format_place(name, "array 'classes'")
    own_classes = _read_strings(arrays["classes"], where)
    check_classes(own_classes, where)
    if options.classes is not None and own_classes != list(options.classes):
        raise InputError("other-classes", where)
    return own_classes


# ---- sparse matrices ----------------------------------------------------------------------------


def _read_sparse(arrays: Arrays, name: str) -> tuple[Any, set[str]]:
    """Return the CSR matrix that save_npz wrote, and the names of its arrays."""
    sparse_format = _sparse_format(arrays["format"])
    index_keys = _SPARSE_KEYS.get(sparse_format, ())
    used = {"data", "format", "shape", *index_keys}
    if not index_keys or not used <= arrays.keys():
        raise InputError("not-sparse", name, kind=sparse_format)
    data = arrays["data"]
    first_indices, second_indices = [arrays[key] for key in index_keys]
    with reporting_damage(name, ValueError, TypeError, OverflowError, IndexError):
        shape = tuple(arrays["shape"].tolist())
        matrix = _make_sparse(sparse_format, data, first_indices, second_indices, shape)
        csr = matrix.tocsr(copy=True)
        # This also sorts the columns.
        csr.sum_duplicates()
        if csr.nnz != matrix.nnz:
            raise ValueError("a cell occurs twice")
        index_kinds = {first_indices.dtype.kind, second_indices.dtype.kind}
        have_types = data.dtype.kind in "biuf" and index_kinds <= {"i", "u"}
        if matrix.ndim != 2 or not have_types:
            raise ValueError("parts with a wrong type or shape")
    # The key by which SciPy tells sparse arrays from its older sparse matrices.
    return csr, {*used, "_is_array"}


def _sparse_format(stored_format: NDArray[np.generic]) -> str:
    """Return the format that save_npz wrote, or an empty string if it is not text."""
    if stored_format.dtype.kind not in "SU":
        return ""
    return stored_format.tobytes().replace(b"\0", b"").decode("latin-1")


def _make_sparse(
    sparse_format: str, data: Any, first_indices: Any, second_indices: Any, shape: Any
) -> Any:
    """Return a sparse matrix in its own format, and check its indices."""
    from scipy import sparse

    if sparse_format == "coo":
        return sparse.coo_array((data, (first_indices, second_indices)), shape)
    make = sparse.csr_array if sparse_format == "csr" else sparse.csc_array
    matrix = make((data, first_indices, second_indices), shape)
    matrix.check_format(full_check=True)
    return matrix
