"""Lists and matrices from Python objects: mappings, lists, frames, arrays, tensors, Arrow streams.

Conventions
-----------
Whatever a JSON file may hold may be handed over as Python objects. A frame is a table, one row an
entry or one row an item with a list, where it has a column of entries; otherwise its columns are
names, and it holds 0/1 or scores. A pandas index has the ids, unless it is plain numbering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from itertools import chain, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_once
from semmetrics.core.backend import precision_of, refuse_masked
from semmetrics.data.class_columns import (
    BINARY,
    SHARE,
    find_id_beside_classes,
    find_named_classes,
)
from semmetrics.data.form import FILE_ID, Form, ReadOptions, find_id, is_one_hot
from semmetrics.data.formats import find_document, find_table
from semmetrics.data.formats.base import Table
from semmetrics.data.items import Items, encode, encode_numbers
from semmetrics.data.json_files import is_columns, pair_mappings, read_object
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import (
    Matrix,
    as_matrix,
    check_named,
    class_numbers,
    is_number_rows,
    is_unknown,
)
from semmetrics.data.source import Source, undamaged
from semmetrics.data.tables import (
    entry_rows,
    not_a_label_column,
    one_hot_ids,
    one_hot_text,
)
from semmetrics.errors import ROW, Fact, InputError, Places, at
from semmetrics.messages import a_kind
from semmetrics.schema import ID_NAMES, as_id

Names = Sequence["str | Sequence[str]"]
_NUMBERS = ("boolean", "integer", "floating")


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
    precision = precision_of(data)  # NumPy has no bfloat16
    data = plain_object(data)
    if is_frame(data):
        with _as_table(source):
            return _frame(data, form, source, names, options)
    if is_series(data):
        return encode(_series(data, form, source), form)
    if form.alone:
        numbers = class_numbers(data)
        if numbers is not None:
            return encode_numbers(numbers, form, source, f"a vector of {form.noun}s")
    if form.takes_matrices and (isinstance(data, np.ndarray) or hasattr(data, "tocsr")):
        is_finite = not (form.by_block or form.allows_nan)
        matrix = as_matrix(data, names, source=source, finite=is_finite)
        return (
            replace(matrix, precision=precision) if precision != "float64" else matrix
        )
    if form.numbered and is_number_rows(data):
        rows = plain_matrix(data, source)
        is_finite = not form.allows_nan
        return as_matrix(
            rows, names, source=source, understood="rows of numbers", finite=is_finite
        )
    return _read_lists(data, form, source, options)


def _read_lists(data: Any, form: Form, source: str, options: ReadOptions) -> Lists:
    """Read lists from a mapping, a sequence or columns."""
    if isinstance(data, Mapping):
        if find_document(data, form) is None:
            if is_columns(data, form, options, source):
                return read_columns(data, form, source, options)
            data = _with_string_ids(data, form, source)
    elif not isinstance(data, Sequence) or isinstance(data, (bytes, bytearray)):
        wanted = (
            f"{form.noun}s: a path, {{id: [{form.noun}s]}}, lists, records or a frame"
        )
        raise InputError("wrong-type", source, value=data, wanted=wanted)
    return encode(read_object(data, source, form, options), form)


def _with_string_ids(
    data: Mapping[Any, Any], form: Form, source: str
) -> Mapping[Any, Any]:
    """Return a mapping by id with ids that are strings; a COCO document as it is."""
    is_coco = form.coco is not None and form.is_coco(data)
    if is_coco or set(map(type, data)) == {str}:
        return data
    return dict(zip(string_ids(data, source), data.values(), strict=True))


def read_columns(
    data: Mapping[Any, Any], form: Form, source: str, options: ReadOptions
) -> Lists:
    """Read a mapping from names to columns."""
    from semmetrics.data.arrow import read_arrow_table

    with _as_table(source):
        return read_arrow_table(_arrow_table(data), form, source, options)


@contextmanager
def _as_table(source: str) -> Iterator[None]:
    """Name the input and a remedy where a frame or a stream cannot be converted."""
    try:
        # of whatever library the object is
        with undamaged(source, Exception, code="not-a-table"):
            yield
    except InputError as error:
        raise error if error.where else error.placed(source)  # noqa: B904 - it is the same one


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
    # a tensor of any device and type
    if hasattr(data, "detach") and hasattr(data, "cpu"):
        data = data.detach().cpu().resolve_conj().resolve_neg()
        if getattr(data, "layout", None) is not None and "strided" not in str(
            data.layout
        ):
            data = data.to_dense()
        try:
            data = data.numpy()
        except TypeError:  # types that numpy lacks, such as bfloat16
            data = data.float().numpy()
    elif not (
        isinstance(data, (np.ndarray, Mapping, Sequence))
        or is_frame(data)
        or is_series(data)
        or hasattr(data, "tocsr")
    ):
        if hasattr(data, "__array__"):
            data = np.asarray(data)
        elif hasattr(data, "__dlpack__"):
            data = np.from_dlpack(data)
    if isinstance(data, np.ndarray) and (
        data.dtype == object or data.dtype.kind in "US"
    ):
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
    if (
        isinstance(values, np.ndarray)
        and values.ndim == 2
        and values.dtype.kind in "biuf"
    ):
        return np.asarray(values)
    raise InputError(
        "wrong-type", source, value=given, wanted="rows of numbers, all of one length"
    )


def is_series(data: Any) -> bool:
    """Tell whether it is one column, of pandas or polars."""
    one = not hasattr(data, "columns") and not isinstance(data, np.ndarray)
    return (
        one
        and hasattr(data, "to_numpy")
        and hasattr(data, "__len__")
        and hasattr(data, "dtype")
    )


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
    for attribute in ("column_names", "columns"):
        if (found := getattr(data, attribute, None)) is not None:
            return list(map(str, found))
    return list(map(str, _arrow_table(data).column_names))


def _frame(
    data: Any,
    form: Form,
    source: str,
    names: Names | None,
    options: ReadOptions,
    first: int = 0,
) -> Lists | Matrix:
    from semmetrics.data.arrow import read_arrow_table

    columns = column_names(data)
    public = _read_public_table(
        lambda: _arrow_table(data), columns, form, source, options, first
    )
    if public is not None:
        return public
    known = [name for name in columns if name.strip().casefold() in form.columns]
    numbers = number_columns(_arrow_table(data).schema) if known else frozenset()
    has_ids = _has_ids(columns, options)
    if has_ids:  # as in a file

        def make_table() -> Any:
            return _arrow_table(data)

        classes = _named_classes(None, make_table, columns, form, source, options)
        listed = not is_one_hot(columns, form, options, numbers, classes)
    else:
        texts = not numbers.issuperset(known)
        listed = bool(known) and (texts or _has_roles_only(columns, form, options))
    if options.column(form.noun) is not None or listed or not form.takes_matrices:
        table = _arrow_table(data if has_ids else _with_ids(data))
        return read_arrow_table(table, form, source, options)
    index = getattr(data, "index", None)
    unnamed, notes = is_numbering(getattr(data, "columns", None)), list[Fact]()
    check_named(() if unnamed else columns, source)
    if index is not None and not has_ids:
        values, ids = data.to_numpy(), _index_ids(index, source)
        if values.dtype.kind not in "biuf":
            values = _column_stack(_arrow_table(data), form, source)
    else:
        table = _arrow_table(data)
        place, ids = find_id(table.column_names, form, options, source), None
        if place is not None:
            where = f"{source}, column {table.column_names[place]!r}"
            ids = string_ids(table.column(place).to_pylist(), where, first=first)
            table = table.remove_column(place)
        values, columns = _column_stack(table, form, source), table.column_names
        _check_finite(values, columns, ids, form, source, first)
        if index is not None and not is_numbering(index):
            notes.append(Fact("index-not-used"))
    if not unnamed and not form.unknown:
        notes += _odd_column_facts(values, columns)
    return as_matrix(
        values,
        names if unnamed else columns,
        ids,
        source=source,
        understood=f"{a_kind(data)}",
        notes=notes,
        finite=not form.allows_nan,
    )


def _check_finite(
    values: Any,
    columns: Sequence[str],
    ids: Sequence[str] | None,
    form: Form,
    source: str,
    first: int,
) -> None:
    """Raise an error that names the first cell that is neither finite nor unknown."""
    finite = np.isfinite(values) | is_unknown(values, form.unknown)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0].tolist()
    cell = f"{ROW.format(first + row)}, column {columns[column]!r}"
    where = at(source, cell, ids[row] if ids else None)
    value = values[row, column]
    raise InputError("not-finite", where, role="the cell", value=value)


def _odd_column_facts(values: Any, columns: Sequence[str]) -> list[Fact]:
    """Note columns with values outside [0, 1], if they are few and so perhaps no labels."""
    is_outside = ((values < 0) | (values > 1)).any(axis=0).tolist()
    if not 0 < 2 * sum(is_outside) < len(columns):
        return []
    odd = tuple(compress(columns, is_outside))
    return [Fact("odd-columns", len(odd), odd, values={"of": len(columns)})]


def _read_public_table(
    make_table: Callable[[], Any],
    columns: Sequence[str],
    form: Form,
    source: str,
    options: ReadOptions,
    first: int,
) -> Lists | None:
    """Read an Arrow table of a public format; None if it is not one."""
    public_format = find_table(columns, form, options)
    if public_format is None:
        return None
    cells = [column.to_pylist() for column in make_table().columns]
    rows = enumerate(zip(*cells, strict=True), first)
    items = public_format.read(Table(source, columns, ROW, rows), form, options)
    items.notes += public_format.unused(options, form)
    return encode(items, form)


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
    return options.id_column is not None or any(
        name.strip().casefold() in (*ID_NAMES, FILE_ID) for name in columns
    )


def _with_ids(data: Any) -> Any:
    """Return a frame with its index as a column of ids, unless that is plain numbering."""
    index = getattr(data, "index", None)
    return (
        data
        if index is None or is_numbering(index)
        else data.rename_axis("id").reset_index()
    )


def _has_roles_only(columns: Sequence[str], form: Form, options: ReadOptions) -> bool:
    """Tell whether each column has a role (ids, entries or scores), and each another."""
    found = []
    for name in columns:
        folded = name.strip().casefold()
        found += [
            column.role
            for column in form.table.columns
            if name == options.column(column.role) or folded in column.known
        ][:1] or [""]
    return "" not in found and len(set(found)) == len(found)


def number_columns(schema: Any) -> frozenset[str]:
    """Return the names of the columns of a table that hold numbers."""
    from semmetrics.data.arrow import has_type

    return frozenset(f.name for f in schema if has_type(f.type, *_NUMBERS))


def _named_classes(
    numbers: frozenset[str] | None,
    make_table: Callable[[], Any],
    names: Sequence[str],
    form: Form,
    source: str,
    options: ReadOptions,
) -> frozenset[str]:
    """Return the columns called as labels or scores whose numbers show that they are classes."""
    id_place = find_id_beside_classes(names, form, options)
    if id_place is None:
        return frozenset()
    cell_names = {name for place, name in enumerate(names) if place != id_place}
    if numbers is not None and not numbers >= cell_names:
        return frozenset()  # without reading the file
    table = make_table()
    if not table.num_rows or not number_columns(table.schema) >= cell_names:
        return frozenset()
    kinds = {}
    for place, name in enumerate(names):
        if place != id_place:
            kinds[name] = _kind_of_numbers(table.column(place))
    ids = table.column(id_place)
    repeats = len(ids.unique()) < len(ids)
    integers_are_labels = form.numbered or form.places
    return find_named_classes(
        kinds,
        form,
        options,
        source,
        repeats=repeats,
        numbers_are_labels=integers_are_labels,
    )


def _kind_of_numbers(column: Any) -> str:
    """Return what the cells of a column are, as `find_named_classes` takes it."""
    values = column.to_numpy()
    if column.null_count or not ((values >= 0) & (values <= 1)).all():
        return ""
    is_binary = ((values == 0) | (values == 1)).all()
    return BINARY if is_binary else SHARE


def _column_stack(table: Any, form: Form, source: str) -> Any:
    """Return the columns of a table as a matrix; raise if one does not hold numbers."""
    from semmetrics.data.arrow import has_type

    for column in table.schema:
        if not has_type(column.type, *_NUMBERS, "null"):
            where = f"{source}, column {column.name!r}"
            raise not_a_label_column(str(column.type), form).placed(where)
    columns = [column.to_numpy() for column in table.columns]
    return np.column_stack(columns) if columns else np.zeros((table.num_rows, 0))


def read_arrow_file(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Lists | Matrix:
    """Read a Parquet or Arrow file: a matrix where it has a column for each label."""
    from semmetrics.data.arrow import open_arrow, read_columns

    title, first = "Parquet" if kind == "parquet" else "Arrow", source.before[0]
    with open_arrow(source, kind) as (schema, batches):
        names, numbers = schema.names, number_columns(schema)

        def whole() -> Any:
            return import_module("pyarrow").Table.from_batches(batches(names), schema)

        public = _read_public_table(whole, names, form, source.name, options, first)
        if public is not None:
            return public
        classes = _named_classes(numbers, whole, names, form, source.name, options)
        id_place = one_hot_ids(names, form, options, numbers, classes)
        if id_place is None or (len(names) == 2 and names[1 - id_place] not in numbers):
            return read_columns(
                schema, batches, form, options, source.name, title, first
            )
        table = whole()
    with _as_table(source.name):
        made: Any = _frame(table, form, source.name, None, options, first)
    step = max(1, 2**22 // len(names))
    for start in () if form.numbered else range(0, len(made), step):
        part = np.asarray(made.values[start : start + step])
        outside = np.argwhere(
            ~((part >= 0) & (part <= 1) | is_unknown(part, form.unknown))
        )
        if len(outside):
            row, column = outside[0].tolist()
            there = (
                f"{ROW.format(first + start + row)}, column {made.vocabulary[column]!r}"
            )
            where = at(source.name, there, made.ids[start + row])
            raise not_a_label_column(part[row, column], form).placed(where)
    places = Places(source.name, made.ids, ROW, range(first, first + len(made)))
    understood = f"{title}, {one_hot_text(form, names[id_place])}"
    found: Matrix = replace(made, understood=understood, where=places)
    return found


def _arrow_table(data: Any) -> Any:
    import pyarrow as pa

    if isinstance(data, Mapping):
        columns = {str(name): list(column) for name, column in data.items()}
        for name, level in columns.items():
            for _ in range(3):
                level = [
                    *chain.from_iterable(
                        x for x in level if isinstance(x, (list, tuple))
                    )
                ]
            # may end the process
            if any(isinstance(one, (list, tuple)) for one in level):
                raise InputError("deep-column", name=name)
        return pa.table(columns)
    if _is_dataset(data):
        return _with_names(
            data.with_format("arrow")[:], getattr(data, "features", None) or {}
        )
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "index"):
        return pa.table(data)
    return pa.Table.from_pandas(data, preserve_index=False)


def _with_names(table: Any, features: Mapping[str, Any]) -> Any:
    """Return a table with names in place of the numbers of ClassLabel features, -1 without one."""
    for place, name in enumerate(table.column_names):
        feature: Any = features.get(name)
        feature = (
            feature[0]
            if isinstance(feature, list)
            else getattr(feature, "feature", feature)
        )
        if not hasattr(feature, "int2str"):
            continue
        names = [*feature.names, None]
        cells = table.column(name).to_pylist()
        named = [
            [names[code] for code in cell]
            if isinstance(cell, list)
            else None
            if cell is None
            else names[cell]
            for cell in cells
        ]
        table = table.set_column(place, name, [named])
    return table


def _series(data: Any, form: Form, source: str) -> Items:
    items, index, member = data.to_list(), getattr(data, "index", None), ""
    texts = form.single and all(isinstance(item, str) for item in items)
    if texts and index is not None and not index.is_unique:
        names = string_ids(index, source, repeats=True)
        found = entry_rows([(range(len(items)), names, items)], source, form, ROW)
    else:
        ids = _index_ids(index, source)
        unit, numbers = ("", ()) if ids is not None else (ROW, range(len(items)))
        places = Places(source, ids, unit, numbers)
        found = Items(ids, items, places, source)
        _, values = pair_mappings(found, form)
        if values == "0/1":
            member = ", 0/1"
    found.understood = (
        f"a Series of {form.noun}{'s' if form.single else ' lists'}{member}"
    )
    return found


def string_ids(
    names: Iterable[Any], source: str, *, repeats: bool = False, first: int = 0
) -> list[str]:
    """Return ids as text; only strings and whole numbers are ids, and none may appear twice.

    The number of the first one is ``first``.

    Examples
    --------
    >>> string_ids([7, "a"], "input")
    ['7', 'a']
    """
    ids = list(names)
    if set(map(type, ids)) != {str}:
        ids = [name if type(name) is str else as_id(name, where=source) for name in ids]
    if "" in ids:
        raise InputError("empty-id", f"{source}, {ROW.format(first + ids.index(''))}")
    if not repeats:
        check_once(ids, "duplicate-id", source)
    return ids


def is_numbering(index: Any) -> bool:
    """Tell whether an index is the plain numbering that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _index_ids(index: Any, source: str) -> list[str] | None:
    """Return the ids of an index; None for the plain numbering that pandas makes by itself."""
    return None if index is None or is_numbering(index) else string_ids(index, source)
