"""Read lists and matrices from Python objects.

Accepted are the contents of any JSON file as Python objects, frames, Series, NumPy and sparse
arrays, tensors, and Arrow streams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import check_not_masked, precision_of
from semmetrics.data.form import Form
from semmetrics.data.formats import find_document
from semmetrics.data.frame_reader import Names, read_frame
from semmetrics.data.frames import (
    conversion_errors,
    index_ids,
    is_frame,
    is_series,
    string_ids,
    to_arrow_table,
)
from semmetrics.data.items import Items, encode, encode_numbers
from semmetrics.data.json_files import is_columns, pair_mappings, read_object
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, class_numbers, is_number_rows
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.tables import entry_rows
from semmetrics.errors import ROW, InputError, Places


def read_python(
    data: Any, form: Form, source: str, names: Names | None, options: ReadOptions
) -> Lists | Matrix:
    """Read lists or a matrix from a Python object.

    Parameters
    ----------
    data : mapping, sequence, Series, frame, array, tensor, sparse matrix, or Arrow stream
    form : Form
    source : str
        The name of the input in messages.
    names : sequence, optional
        The names of the columns of a matrix.
    options : ReadOptions

    Raises
    ------
    InputError
        If the object has another type or its content is invalid.
    """
    precision = precision_of(data)  # Ask before the conversion: NumPy has no bfloat16.
    data = plain_object(data)
    if is_frame(data):
        with conversion_errors(source):
            return read_frame(data, form, source, names, options)
    if is_series(data):
        return encode(_read_series(data, form, source), form)
    if form.single_integers:
        numbers = class_numbers(data)
        if numbers is not None:
            return encode_numbers(numbers, form, source, f"a vector of {form.noun}s")
    is_array = isinstance(data, np.ndarray) or hasattr(data, "tocsr")
    if form.takes_matrices and is_array:
        return _read_array(data, form, source, names, precision)
    if form.integers_as_names and is_number_rows(data):
        return as_matrix(
            plain_matrix(data, source),
            names,
            source=source,
            understood="rows of numbers",
            finite=not form.allows_nan,
        )
    return _read_lists(data, form, source, options)


def _read_array(
    data: Any, form: Form, source: str, names: Names | None, precision: str
) -> Matrix:
    """Read a matrix from an array. ``precision`` is the type before its conversion."""
    must_be_finite = not (form.checked_by_block or form.allows_nan)
    matrix = as_matrix(
        data, names, source=source, title="matrix", finite=must_be_finite
    )
    if precision == "float64":
        return matrix
    return replace(matrix, precision=precision)


def _read_lists(data: Any, form: Form, source: str, options: ReadOptions) -> Lists:
    """Read lists from a mapping, a sequence or a mapping of columns."""
    if isinstance(data, Mapping):
        if find_document(data, form) is None:
            if is_columns(data, form, options, source):
                return read_columns(data, form, source, options)
            data = _with_string_ids(data, form, source)
    elif not isinstance(data, Sequence) or isinstance(data, (bytes, bytearray)):
        noun = form.noun
        wanted = f"{noun}s: a path, {{id: [{noun}s]}}, lists, records or a frame"
        raise InputError("wrong-type", source, value=data, wanted=wanted)
    return encode(read_object(data, source, form, options), form)


def _with_string_ids(
    data: Mapping[Any, Any], form: Form, source: str
) -> Mapping[Any, Any]:
    """Convert the keys of a mapping to string ids. A COCO document is returned unchanged."""
    if form.coco is not None and form.is_coco(data):
        return data
    if set(map(type, data)) == {str}:
        return data
    return dict(zip(string_ids(data, source), data.values(), strict=True))


def read_columns(
    data: Mapping[Any, Any], form: Form, source: str, options: ReadOptions
) -> Lists:
    """Read lists from a mapping of names to columns."""
    from semmetrics.data.arrow import read_arrow_table

    with conversion_errors(source):
        return read_arrow_table(to_arrow_table(data), form, source, options)


def read_once(data: Any) -> Any:
    """Return an Arrow stream as a table, since some streams can be read only once.

    Other objects are returned unchanged.

    Raises
    ------
    InputError
        If the stream does not consist of named columns.
    """
    if is_series(data) or not hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "columns") or hasattr(data, "column_names"):
        return data
    with conversion_errors("input"):
        return to_arrow_table(data)


def plain_object(data: Any) -> Any:
    """Convert tensors and other array-likes to arrays, and arrays of strings to lists.

    Other objects, sparse matrices and frames are returned unchanged.
    """
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        data = _tensor_array(data)
    elif not _is_container(data):
        if hasattr(data, "__array__"):
            data = np.asarray(data)
        elif hasattr(data, "__dlpack__"):
            data = np.from_dlpack(data)
    if isinstance(data, np.ndarray) and data.dtype.kind in "OUS":
        return data.tolist()
    return data


def _is_container(data: Any) -> bool:
    """Return whether the readers accept an object without conversion."""
    if isinstance(data, (np.ndarray, Mapping, Sequence)):
        return True
    return is_frame(data) or is_series(data) or hasattr(data, "tocsr")


def _tensor_array(tensor: Any) -> Any:
    """Copy a tensor of PyTorch, on any device and of any type and layout, to an array."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    layout = getattr(tensor, "layout", None)
    if layout is not None and "strided" not in str(layout):
        tensor = tensor.to_dense()
    try:
        return tensor.numpy()
    except TypeError:  # NumPy has no such type, for example bfloat16.
        return tensor.float().numpy()


def plain_matrix(rows: Any, source: str) -> NDArray[Any]:
    """Convert rows of numbers to an array. NaN is accepted.

    Parameters
    ----------
    rows : array, tensor or nested sequence, shape (rows, columns)
    source : str
        The name of the input, for errors.

    Raises
    ------
    InputError
        If the rows have unequal lengths or do not contain numbers, or if values are masked.
    """
    values = plain_object(rows)
    check_not_masked(values, source)
    if isinstance(values, list | tuple):
        with suppress(TypeError, ValueError, OverflowError):
            values = np.array(values, np.float64)
    is_matrix = isinstance(values, np.ndarray) and values.ndim == 2
    if is_matrix and values.dtype.kind in "biuf":
        return np.asarray(values)
    wanted = "rows of numbers with the same length"
    raise InputError("wrong-type", source, value=rows, wanted=wanted)


def _read_series(data: Any, form: Form, source: str) -> Items:
    """Read a Series: an entry, a list of entries or a 0/1 mapping per row.

    Rows with equal ids in the index belong to one item, if each row is a single entry.
    """
    values = data.to_list()
    index = getattr(data, "index", None)
    suffix = ""
    has_entries = form.single and all(isinstance(value, str) for value in values)
    if has_entries and index is not None and not index.is_unique:
        ids = string_ids(index, source, repeats=True)
        chunk = (range(len(values)), ids, values)
        items = entry_rows([chunk], source, form, ROW)
    else:
        unique_ids = index_ids(index, source)
        if unique_ids is None:
            places = Places(source, None, ROW, range(len(values)))
        else:
            places = Places(source, unique_ids, "", ())
        items = Items(unique_ids, values, places, source)
        _, value_kind = pair_mappings(items, form)
        if value_kind == "0/1":
            suffix = ", 0/1"
    plural = "s" if form.single else " lists"
    items.understood = f"a Series of {form.noun}{plural}{suffix}"
    return items
