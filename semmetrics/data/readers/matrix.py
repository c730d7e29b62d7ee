"""Matrices of items x classes in NumPy files, dense or sparse, and plain matrices and vectors.

Conventions
-----------
Rows and columns count from 0 in messages. A .npz file holds the matrix as "values", "scores",
"labels", "y" or as its only array; beside it there may be "classes" and "ids". The files of
``scipy.sparse.save_npz`` (CSR, CSC, COO) become CSR; a cell that stands twice is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.form import ReadOptions, check_classes
from semmetrics.data.raw import RawMatrix
from semmetrics.data.readers.npy import read_arrays
from semmetrics.data.source import Source, at, canonical_id, placed
from semmetrics.errors import InputError, listing

__all__ = ["plain_array", "read_label_matrix"]

_MATRIX = ("values", "scores", "labels", "y")
_BESIDE = ("classes", "ids")
_SPARSE = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "coo": ("row", "col"),
}


def read_label_matrix(source: Source, options: ReadOptions) -> RawMatrix:
    """Read a matrix of items x classes: 0/1 membership, or scores."""
    arrays = read_arrays(source, options.max_bytes)
    sparse = "format" in arrays and "shape" in arrays
    if sparse:
        values, used = _sparse(arrays, source.name, options.max_bytes)
        where = source.name
    else:
        key, where = _main(arrays, source.name)
        values, used = arrays[key], {key}
    _check_dimensions(values, 2, where)
    _check_cells(values, where, binary=True)
    rows, columns = values.shape
    raw = RawMatrix(values, _classes(arrays, options, columns, source.name), source=source.name)
    if "ids" in arrays:
        raw.ids = _ids(arrays["ids"], rows, at(source.name, "array 'ids'"))
    kind = "sparse" if sparse else "NumPy"
    raw.understood = f"{kind} matrix, {rows} items x {columns} classes, {values.dtype}"
    if extra := [key for key in arrays if key not in used and key not in _BESIDE]:
        raw.notes.append(f"arrays not used: {', '.join(map(repr, extra))}")
    return raw


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
    _check_dimensions(arrays[key], dimensions, where)
    _check_cells(arrays[key], where, binary=False)
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


def _check_dimensions(values: Any, dimensions: int, where: str) -> None:
    if values.ndim != dimensions:
        need = "a vector" if dimensions == 1 else "rows and columns"
        raise InputError(
            f"its shape is {values.shape}, not that of {need}",
            where=where,
            remedy="reshape it before saving",
        )


def _check_cells(values: Any, where: str, *, binary: bool) -> None:
    """Refuse a cell that is not finite, or an integer that is not 0 or 1, with its place."""
    cells = values if isinstance(values, np.ndarray) else values.data
    if cells.dtype.kind not in "biuf":
        raise InputError(f"it holds {cells.dtype}", where=where, remedy="save numbers")
    if cells.dtype.kind == "f":
        bad, problem, remedy = ~np.isfinite(cells), "is no finite number", "replace it"
    elif binary and cells.dtype.kind != "b":
        bad, problem = (cells != 0) & (cells != 1), "is an integer, but neither 0 nor 1"
        remedy = "save membership as 0 and 1, and scores as floats"
    else:
        return
    if not bad.any():
        return
    first = int(bad.argmax())
    if isinstance(values, np.ndarray):
        place = [int(part) for part in np.unravel_index(first, values.shape)]
    else:
        place = [
            int(np.searchsorted(values.indptr, first, "right") - 1),
            int(values.indices[first]),
        ]
    at_cell = ", ".join(f"{n} {i}" for n, i in zip(("row", "column"), place, strict=False))
    raise InputError(
        f"{cells.flat[first]} {problem}", where=at(where, f"{at_cell} (from 0)"), remedy=remedy
    )


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
            raise placed(error, at(where, f"row {row} (from 0)")) from None
    if len(ids) != rows:
        raise InputError(f"{len(ids)} ids for {rows} rows", where=where, remedy="save one id a row")
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
            f"{len(classes)} classes for {columns} columns",
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
    if min(size) < 0 or 8 * max(size) > max_bytes:  # offsets are allocated for every row
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
