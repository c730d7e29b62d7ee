"""Lists and matrices from Python objects: mappings, lists, frames, arrays, tensors, Arrow streams.

Conventions
-----------
Whatever a JSON file may hold may be handed over as Python objects. A frame is a table, one row an
entry or one row an item with a list, where it has a column of entries; otherwise its columns are
names, and it holds 0/1 or scores. A pandas index has the ids, unless it is plain numbering.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import refuse_masked
from semmetrics.data.form import IDS, MATRICES, Form, ReadOptions, assign, is_one_hot, unused
from semmetrics.data.items import Items, encode, encode_numbers
from semmetrics.data.json_files import is_columns, pair_mappings, read_object
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import (
    Matrix,
    as_matrix,
    check_named,
    is_number_rows,
    number_matrix,
)
from semmetrics.data.tables import RowTable
from semmetrics.errors import ROW, InputError, Places, at
from semmetrics.messages import a_kind, listing, pluralize

__all__ = ["column_names", "frame_table", "is_frame", "is_series", "number_columns", "plain_matrix",
           "plain_object", "read_columns", "read_once", "read_python", "string_ids"]  # fmt: skip

Names = Sequence["str | Sequence[str]"]


def read_python(
    data: Any, form: Form, source: str, names: Names | None, options: ReadOptions
) -> Lists | Matrix:
    """Read lists or a matrix from a Python object.

    Parameters
    ----------
    data : mapping, sequence, Series, frame, array, tensor, sparse matrix, or Arrow stream
    form : Form
    source : str
        What messages call it.
    names : sequence, optional
        Of the columns of a matrix.
    options : ReadOptions

    Raises
    ------
    InputError
        If it is none of these, or what it holds is wrong.
    """
    data = plain_object(data)
    if is_frame(data):
        with _as_table(source):
            return _frame(data, form, source, names, options)
    if is_series(data):
        return encode(_series(data, form, source), form)
    if isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "iu" and form.alone:
        return encode_numbers(data, form, source, f"a vector of {form.noun}s")
    if MATRICES[0] in form.formats and (isinstance(data, np.ndarray) or hasattr(data, "tocsr")):
        return as_matrix(data, names, source=source, finite=not form.by_block)
    if form.numbered and is_number_rows(data):
        return number_matrix(data, names, source, "rows of numbers")
    return _plain(data, form, source, options)


def _plain(data: Any, form: Form, source: str, options: ReadOptions) -> Lists:
    """Read lists from mappings and sequences."""
    if isinstance(data, Mapping):
        if is_columns(data, form, options, source):
            return read_columns(data, form, source, options)
        texts = set(map(type, data)) == {str}
        if not texts and (form.coco is None or not form.is_coco(data)):
            data = dict(zip(string_ids(data, source), data.values(), strict=True))
        return encode(read_object(data, source, form, options), form)
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return encode(read_object(data, source, form, options), form)
    raise InputError(
        f"cannot read {form.noun}s from {a_kind(data)}",
        where=source,
        remedy=f"give a path, {{id: [{form.noun}s]}}, a list of lists or records, a Series or a "
        "frame" + (", or a matrix" if MATRICES[0] in form.formats else ""),
    )


def read_columns(data: Mapping[Any, Any], form: Form, source: str, options: ReadOptions) -> Lists:
    """Read a mapping from names to columns."""
    with _as_table(source):
        return _table(_arrow_table(data), form, source, options)


@contextmanager
def _as_table(source: str) -> Iterator[None]:
    """Name the input and a remedy where a frame or a stream cannot be converted."""
    try:
        yield
    except InputError as error:
        raise error if error.where else error.placed(source)  # noqa: B904 - it is the same one
    except MemoryError:
        raise
    except Exception as error:  # of whatever library the object is
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"it cannot be read as a table: {line}",
            where=source,
            remedy="give each column its own name and values of one type, or give lists",
        ) from None


def read_once(data: Any) -> Any:
    """Return an Arrow stream, which may be gone once it is read, as a table.

    Raises
    ------
    InputError
        If it is no stream of named columns.
    """
    named = is_series(data) or hasattr(data, "columns") or hasattr(data, "column_names")
    if named or not hasattr(data, "__arrow_c_stream__"):
        return data
    with _as_table("input"):
        return _arrow_table(data)


def plain_object(data: Any) -> Any:
    """Return arrays of text as lists, and tensors and what is like them as arrays."""
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        data = _of_tensor(data)
    elif not isinstance(data, (np.ndarray, Mapping, Sequence)) and not _is_table(data):
        if hasattr(data, "__array__"):
            data = np.asarray(data)
        elif hasattr(data, "__dlpack__"):
            data = np.from_dlpack(data)
    if isinstance(data, np.ndarray) and (data.dtype == object or data.dtype.kind in "US"):
        return data.tolist()
    return data


def plain_matrix(given: Any, source: str) -> NDArray[Any]:
    """Return rows of numbers, which may be nan, as an array: from an array, a tensor, or lists.

    Raises
    ------
    InputError
        If it is something else, or values are masked.
    """
    values = plain_object(given)
    refuse_masked(values, source)
    if isinstance(values, list | tuple):
        with suppress(TypeError, ValueError, OverflowError):
            values = np.array(values, np.float64)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf":
        return np.asarray(values)
    shape = f" of shape {values.shape}, {values.dtype}," if isinstance(values, np.ndarray) else ""
    raise InputError(f"{a_kind(given)}{shape} is no matrix of numbers", where=source,
                     remedy="give rows of numbers, all of one length")  # fmt: skip


def _of_tensor(data: Any) -> Any:
    """Return a tensor of any device and type as an array."""
    data = data.detach().cpu()
    if getattr(data, "layout", None) is not None and "strided" not in str(data.layout):
        data = data.to_dense()
    try:
        return data.numpy()
    except TypeError:  # types that numpy lacks, such as bfloat16
        return data.float().numpy()


def _is_table(data: Any) -> bool:
    return is_frame(data) or is_series(data) or hasattr(data, "tocsr")


def is_series(data: Any) -> bool:
    """Tell whether it is one column, of pandas or polars."""
    one = not hasattr(data, "columns") and not isinstance(data, np.ndarray)
    return one and hasattr(data, "to_numpy") and hasattr(data, "__len__") and hasattr(data, "dtype")


def is_frame(data: Any) -> bool:
    """Tell whether it has named columns, or gives them as an Arrow stream."""
    if is_series(data):
        return False
    return (
        hasattr(data, "__arrow_c_stream__")
        or _is_dataset(data)
        or (hasattr(data, "columns") and hasattr(data, "to_numpy"))
    )


def _is_dataset(data: Any) -> bool:
    """Tell whether it is a data set of Hugging Face, which gives Arrow tables when it is sliced."""
    return hasattr(data, "with_format") and hasattr(data, "column_names")


def column_names(data: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    found = getattr(data, "column_names", None)
    if found is None:
        found = getattr(data, "columns", None)
    if found is None:
        found = _arrow_table(data).column_names
    return [str(name) for name in found]


def _frame(
    data: Any, form: Form, source: str, names: Names | None, options: ReadOptions
) -> Lists | Matrix:
    columns = column_names(data)
    value = options.column(form.noun)
    known = [name for name in columns if name.strip().casefold() in form.columns]
    index = getattr(data, "index", None)
    matrix = MATRICES[0] in form.formats
    has_ids = _has_ids(columns, options)
    listed = bool(known) and (
        _has_roles_only(columns, form, options) or not _is_numeric(data, known)
    )
    if has_ids:  # as in a file
        numbers = number_columns(_arrow_table(data).schema) if known else frozenset()
        listed = not is_one_hot(columns, form, options, numbers)
    if value is not None or listed or not matrix:
        return _table(_arrow_table(data if has_ids else _with_ids(data)), form, source, options)
    unnamed, notes = is_numbering(getattr(data, "columns", None)), list[str]()
    check_named(() if unnamed else columns, source)
    if index is not None and not has_ids:
        values, ids = data.to_numpy(), index_ids(index, source)
        if values.dtype.kind not in "biuf":
            values = _column_stack(_arrow_table(data), form, source, "the index" * bool(ids))
    else:
        values, ids, columns = _numbers(data, form, source, options)
        if index is not None and not is_numbering(index):
            notes.append("the ids are those of the column of ids, not those of the index")
    notes += [] if unnamed else _odd_columns(values, columns)
    return as_matrix(
        values,
        names if unnamed else columns,
        ids,
        source=source,
        understood=f"{a_kind(data)}",
        notes=notes,
    )


def frame_table(data: Any, options: ReadOptions, source: str, alone: str) -> Any:
    """Return a frame as an Arrow table, with the ids of its index where no column has them.

    Parameters
    ----------
    data : frame, or what gives an Arrow stream
    options : ReadOptions
    source : str
    alone : str
        What the only column beside such ids is called.
    """
    with _as_table(source):
        names = column_names(data)
        if not _has_ids(names, options) and (found := _with_ids(data)) is not data:
            data = found.set_axis(["id", alone], axis=1) if len(names) == 1 else found
        return _arrow_table(data)


def _has_ids(columns: Sequence[str], options: ReadOptions) -> bool:
    return options.id_column is not None or any(name.strip().casefold() in IDS for name in columns)


def _with_ids(data: Any) -> Any:
    """Return a frame with its index as a column of ids, unless that is plain numbering."""
    index = getattr(data, "index", None)
    return data if index is None or is_numbering(index) else data.rename_axis("id").reset_index()


def _has_roles_only(columns: Sequence[str], form: Form, options: ReadOptions) -> bool:
    """Tell whether each column has a role (ids, entries or scores), and each another."""
    found = []
    for name in columns:
        roles = [
            role
            for role, known in form.table.items()
            if name == options.column(role) or name.strip().casefold() in known.known
        ]
        found.append(roles[0] if roles else "")
    return "" not in found and len(set(found)) == len(found)


def _is_numeric(data: Any, columns: Sequence[str]) -> bool:
    """Tell whether columns hold numbers: names of classes that are called as columns are."""
    return number_columns(_arrow_table(data).schema).issuperset(columns)


def number_columns(schema: Any) -> frozenset[str]:
    """Return the names of the columns of a table that hold numbers."""
    return frozenset(f.name for f in schema if _is_number(f.type) and str(f.type) != "null")


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = types.is_boolean, types.is_integer, types.is_floating, types.is_null
    return any(test(kind) for test in tests)


def _column_stack(table: Any, form: Form, source: str, ids: str = "") -> Any:
    """Return the columns of a table as a matrix.

    Parameters
    ----------
    table : pyarrow.Table
    form : Form
    source : str
    ids : str
        What the ids were taken from, for messages.

    Raises
    ------
    InputError
        If a column holds no numbers; names it.
    """
    noun = form.noun
    for column in table.schema:
        if not _is_number(column.type):
            taken = f" (they were taken from {ids})" if ids else ""
            raise InputError(
                f"it holds {_in_words(column.type)}, and where no column has the {noun}s (sought "
                f"any of {', '.join(form.columns)}) each is a {noun} with 0/1 or scores",
                where=f"{source}, column {column.name!r}",
                remedy=f"leave it out, or name it with id_column if it has the ids{taken}, with "
                f"{noun}_column if it has the {noun}s",
            )
    columns = [column.to_numpy() for column in table.columns]
    return np.column_stack(columns) if columns else np.zeros((table.num_rows, 0))


def _odd_columns(values: Any, columns: Sequence[str]) -> list[str]:
    """Name the few columns that hold numbers outside [0, 1] where all others do not."""
    outside = ((values < 0) | (values > 1)).any(axis=0)
    if not 0 < 2 * outside.sum() < len(columns):
        return []
    number, of = int(outside.sum()), pluralize(len(columns), "column")
    return [
        f"numbers outside [0, 1] stand in {number} of {of} and in no other: "
        f"{listing(compress(columns, outside.tolist()))}; leave out what is no label"
    ]


def _in_words(kind: Any) -> str:
    return "text" if "string" in str(kind) else f"the type {kind}"


def _numbers(
    data: Any, form: Form, source: str, options: ReadOptions
) -> tuple[Any, list[str] | None, list[str]]:
    """Return the numbers of a frame without an index, its ids, and the names of the rest."""
    table = _arrow_table(data)
    roles = {"id": form.table["id"]._replace(required=False)}
    place = assign(roles, table.column_names, options, source, form.first_id).get("id")
    ids = None
    name = ""
    if place is not None:
        name = f"column {table.column_names[place]!r}"
        ids = string_ids(table.column(place).to_pylist(), f"{source}, {name}")
        table = table.remove_column(place)
    found = _column_stack(table, form, source, name)
    _check_cells(table, ids, source)
    return found, ids, table.column_names


def _check_cells(table: Any, ids: Sequence[str] | None, source: str) -> None:
    """Refuse a cell of a table without a finite number; names row, column and id."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.to_numpy()
        if values.dtype.kind != "f" or (finite := np.isfinite(values)).all():
            continue
        row = int(finite.argmin())
        cell = column[row].as_py()
        raise InputError(
            "the cell is null" if cell is None else f"{cell} is no finite number",
            where=at(
                source, f"row {row} (from 0), column {name!r}", None if ids is None else ids[row]
            ),
            remedy="replace it",
        )


def _table(table: Any, form: Form, source: str, options: ReadOptions) -> Lists:
    from semmetrics.data.arrow import read_arrow_table

    found = read_arrow_table(table, form, source, options)
    return replace(
        found,
        notes=found.notes + unused(options, ("delimiter", "label_delimiter"), "a table in memory"),
    )


def _arrow_table(data: Any) -> Any:
    import pyarrow as pa

    if isinstance(data, Mapping):
        columns = {str(name): list(column) for name, column in data.items()}
        for name, column in columns.items():
            _check_depth(name, column)
        return pa.table(columns)
    if _is_dataset(data):
        return data.with_format("arrow")[:]
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "index"):
        return pa.table(data)
    return pa.Table.from_pandas(data, preserve_index=False)


def _check_depth(name: str, column: Sequence[Any]) -> None:
    """Refuse lists in lists in lists, at whose depth pyarrow ends the process."""
    level: list[Any] = list(column)
    for _ in range(3):
        nested = [one for one in level if isinstance(one, (list, tuple, dict))]
        if any(isinstance(one, dict) and one for one in nested):
            break
        level = list(chain.from_iterable(nested))
        if not level:
            return
    if not any(isinstance(one, (list, tuple, dict)) for one in level):
        return
    raise InputError(
        f"the column {name!r} holds objects, or lists that are nested too deeply",
        remedy="give texts, numbers, or lists of those",
    )


def _series(data: Any, form: Form, source: str) -> Items:
    items, index, member = data.to_list(), getattr(data, "index", None), ""
    texts = form.single and all(isinstance(item, str) for item in items)
    if texts and index is not None and not index.is_unique:
        rows = RowTable(source, form, ROW)
        rows.add(range(len(items)), string_ids(index, source, repeats=True), items)
        found = rows.finish()
    else:
        ids = None if index is None else index_ids(index, source)
        unit, numbers = ("", ()) if ids is not None else (ROW, range(len(items)))
        places = Places(source, ids, unit, numbers)
        member = ", 0/1" * (pair_mappings(items, form, places)[1] == "0/1")
        found = Items(ids, items, places, source, order="keys" if member else "")
    found.understood = f"a Series of {form.noun}{'s' if form.single else ' lists'}{member}"
    return found


def string_ids(names: Iterable[Any], source: str, *, repeats: bool = False) -> list[str]:
    """Ids as text; only strings and whole numbers are ids, and none may be there twice.

    Examples
    --------
    >>> string_ids([7, "a"], "input")
    ['7', 'a']
    """
    ids = list(names)
    for position, name in enumerate(ids if set(map(type, ids)) != {str} else ()):
        if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
            raise InputError(
                "an id is None" if name is None else f"the id {name!r} is {a_kind(name)}",
                where=source,
                remedy="ids are strings or whole numbers",
            )
        ids[position] = str(name)
    if "" in ids:
        raise InputError(
            "the id is empty",
            where=f"{source}, row {ids.index('')} (from 0)",
            remedy="name the item",
        )
    if not repeats and len(set(ids)) != len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise InputError(f"the id {twice!r} is there twice", where=source, remedy="keep one")
    return ids


def is_numbering(index: Any) -> bool:
    """Whether an index is the plain numbering that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def index_ids(index: Any, source: str) -> list[str] | None:
    """The ids of an index; None for the plain numbering that pandas makes by itself."""
    if is_numbering(index):
        return None
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise InputError(f"the id {twice!r} is there twice", where=source, remedy="keep one")
    return string_ids(index, source)
