"""Read lists and matrices from frames, Arrow tables, Parquet files and Arrow files.

A frame with a column of entries is a table with one row per entry, or one row per item if its
cells are lists. In any other frame each column is a label, and the cells are 0/1 or scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.class_columns import (
    BINARY,
    SHARE,
    find_id_beside_classes,
    find_named_classes,
)
from semmetrics.data.form import Form
from semmetrics.data.formats import find_table
from semmetrics.data.formats.base import Table
from semmetrics.data.frames import (
    column_names,
    conversion_errors,
    has_id_column,
    index_ids,
    is_numbering,
    string_ids,
    to_arrow_table,
    with_index_ids,
)
from semmetrics.data.input_columns import find_id, role_of
from semmetrics.data.items import encode
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_named, is_unknown
from semmetrics.data.one_hot_tables import (
    describe_one_hot,
    duplicate_values,
    find_one_hot_ids,
    not_a_label_column,
)
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import ROW, Fact, InputError, Places, format_place
from semmetrics.messages import type_with_article

Names = Sequence["str | Sequence[str]"]
_NUMBER_TYPES = ("boolean", "integer", "floating")
_MAX_CELLS_PER_CHECK = 2**22


class _Cells(NamedTuple):
    """The cells of a frame with a column for each label.

    Attributes
    ----------
    values : array, shape (rows, columns)
    columns : list of str
        The names of the columns, without the column of ids.
    ids : list of str, or None
        None if the rows have no ids.
    """

    values: Any
    columns: list[str]
    ids: list[str] | None


def read_frame(
    data: Any,
    form: Form,
    source: str,
    names: Names | None,
    options: ReadOptions,
    first_row: int = 0,
) -> Lists | Matrix:
    """Read lists or a matrix from a frame.

    Parameters
    ----------
    data : frame, Arrow table or Arrow stream
    form : Form
    source : str
        The name of the input in messages.
    names : sequence, optional
        The labels of the columns, used if the columns of the frame have no names.
    options : ReadOptions
    first_row : int
        The number of the first row in messages.

    Raises
    ------
    InputError
        If a column that is needed is missing or has another type, or if a cell is invalid.
    """
    from semmetrics.data.arrow import read_arrow_table

    columns = column_names(data)

    def make_table() -> Any:
        return to_arrow_table(data)

    public_lists = _read_public_table(
        make_table, columns, form, source, options, first_row
    )
    if public_lists is not None:
        return public_lists
    has_entries = _has_entry_column(make_table, columns, form, source, options)
    is_named = options.column(form.noun) is not None
    if is_named or has_entries or not form.takes_matrices:
        if not has_id_column(columns, options):
            data = with_index_ids(data)
        return read_arrow_table(to_arrow_table(data), form, source, options)
    return _read_frame_matrix(data, columns, form, source, names, options, first_row)


def _read_public_table(
    make_table: Callable[[], Any],
    columns: Sequence[str],
    form: Form,
    source: str,
    options: ReadOptions,
    first_row: int,
) -> Lists | None:
    """Read an Arrow table in the public format of a dataset. Return None if it is not one."""
    public_format = find_table(columns, form, options)
    if public_format is None:
        return None
    cells = [column.to_pylist() for column in make_table().columns]
    rows = enumerate(zip(*cells, strict=True), first_row)
    items = public_format.read(Table(source, columns, ROW, rows), form, options)
    items.notes += public_format.unused(options, form)
    return encode(items, form)


def _has_entry_column(
    make_table: Callable[[], Any],
    columns: list[str],
    form: Form,
    source: str,
    options: ReadOptions,
) -> bool:
    """Return whether a frame has a column of entries instead of a column for each label."""
    role_columns = [name for name in columns if name.strip().casefold() in form.columns]
    numbers: frozenset[str] = frozenset()
    if role_columns:
        numbers = number_columns(make_table().schema)
    if has_id_column(columns, options):  # The same rule as for files.
        classes = _named_classes(None, make_table, columns, form, source, options)
        id_position = find_one_hot_ids(columns, form, options, numbers, classes)
        if id_position is None or len(columns) != 2:
            return id_position is None
        numbers = number_columns(make_table().schema)
        return _has_one_text_column(columns, id_position, numbers)
    if not role_columns:
        return False
    if not numbers.issuperset(role_columns):
        return True
    return _has_roles_only(columns, form, options)


def _has_roles_only(columns: Sequence[str], form: Form, options: ReadOptions) -> bool:
    """Return whether every column has a role (ids, entries or scores), and no role occurs twice."""
    roles = [role_of(name, form, options) for name in columns]
    return "" not in roles and len(set(roles)) == len(roles)


def number_columns(schema: Any) -> frozenset[str]:
    """Return the names of the columns of an Arrow schema that contain numbers."""
    from semmetrics.data.arrow_files import has_type

    return frozenset(
        field.name for field in schema if has_type(field.type, *_NUMBER_TYPES)
    )


def _named_classes(
    numbers: frozenset[str] | None,
    make_table: Callable[[], Any],
    names: Sequence[str],
    form: Form,
    source: str,
    options: ReadOptions,
) -> frozenset[str]:
    """Return the columns that are classes although their names usually mean labels or scores.

    Parameters
    ----------
    numbers : frozenset of str, or None
        The columns that contain numbers, if they are known without calling ``make_table``.
    make_table : callable
        Returns the Arrow table. It is not called if other columns contain something else.
    names : sequence of str
        All columns.
    form : Form
    source : str
        The name of the input in messages.
    options : ReadOptions
    """
    id_position = find_id_beside_classes(names, form, options)
    if id_position is None:
        return frozenset()
    cell_names = {
        name for position, name in enumerate(names) if position != id_position
    }
    if numbers is not None and not numbers >= cell_names:
        return frozenset()
    table = make_table()
    if not table.num_rows or not number_columns(table.schema) >= cell_names:
        return frozenset()
    cell_kinds = {}
    for position, name in enumerate(names):
        if position != id_position:
            cell_kinds[name] = _kind_of_numbers(table.column(position))
    ids = table.column(id_position)
    repeats = len(ids.unique()) < len(ids)
    integers_are_labels = form.integers_as_names or form.integers_as_positions
    return find_named_classes(
        cell_kinds,
        form,
        options,
        source,
        repeats=repeats,
        numbers_are_labels=integers_are_labels,
    )


def _kind_of_numbers(column: Any) -> str:
    """Return the kind of the cells of a column, as `find_named_classes` expects it."""
    values = column.to_numpy()
    if column.null_count or not ((values >= 0) & (values <= 1)).all():
        return ""
    is_binary = ((values == 0) | (values == 1)).all()
    return BINARY if is_binary else SHARE


def _read_frame_matrix(
    data: Any,
    columns: list[str],
    form: Form,
    source: str,
    names: Names | None,
    options: ReadOptions,
    first_row: int,
) -> Matrix:
    """Read a frame with a column for each label."""
    is_unnamed = is_numbering(getattr(data, "columns", None))
    check_named(() if is_unnamed else columns, source)
    index = getattr(data, "index", None)
    notes: list[Fact] = []
    if index is not None and not has_id_column(columns, options):
        cells = _cells_by_index(data, columns, form, source, options)
    else:
        cells = _cells_by_id_column(data, form, source, options, first_row)
        if index is not None and not is_numbering(index):
            notes.append(Fact("index-not-used"))
    if not is_unnamed and not form.unknown:
        notes += _odd_column_facts(cells.values, cells.columns)
    return as_matrix(
        cells.values,
        names if is_unnamed else cells.columns,
        cells.ids,
        source=source,
        understood=type_with_article(data),
        notes=notes,
        finite=not form.allows_nan,
    )


def _cells_by_index(
    data: Any, columns: list[str], form: Form, source: str, options: ReadOptions
) -> _Cells:
    """Return the cells of a pandas frame whose ids are in its index."""
    values = data.to_numpy()
    if values.dtype.kind not in "biuf":
        values = _column_stack(to_arrow_table(data), form, source, options)
    # An id also occurs twice if each row is a label, so other cells are reported first.
    values_of_error = duplicate_values(form, options)
    ids = index_ids(data.index, source, "duplicate-row", values_of_error)
    return _Cells(values, columns, ids)


def _cells_by_id_column(
    data: Any, form: Form, source: str, options: ReadOptions, first_row: int
) -> _Cells:
    """Return the cells of a frame with a column of ids, or without ids, after checking them."""
    table = to_arrow_table(data)
    id_position = find_id(table.column_names, form, options, source)
    cell_table = table
    if id_position is not None:
        cell_table = table.remove_column(id_position)
    values = _column_stack(cell_table, form, source, options)
    ids = None
    if id_position is not None:
        where = f"{source}, column {table.column_names[id_position]!r}"
        # An id also occurs twice if each row is a label, so other cells are reported first.
        ids = string_ids(
            table.column(id_position).to_pylist(),
            where,
            first_row=first_row,
            code="duplicate-row",
            values=duplicate_values(form, options),
        )
    cells = _Cells(values, cell_table.column_names, ids)
    _check_finite(cells, form, source, first_row)
    return cells


def _check_finite(cells: _Cells, form: Form, source: str, first_row: int) -> None:
    """Raise an error that names the first cell that is neither finite nor unknown."""
    is_valid = np.isfinite(cells.values) | is_unknown(cells.values, form.unknown)
    if is_valid.all():
        return
    row, column = np.argwhere(~is_valid)[0].tolist()
    cell = f"{ROW.format(first_row + row)}, column {cells.columns[column]!r}"
    item_id = cells.ids[row] if cells.ids else None
    where = format_place(source, cell, item_id)
    value = cells.values[row, column]
    raise InputError("not-finite", where, role="the cell", value=value)


def _odd_column_facts(values: Any, columns: Sequence[str]) -> list[Fact]:
    """Return a note on columns with values outside [0, 1] if they are a minority.

    Such columns may not be labels. If most columns have such values, they are scores.
    """
    is_outside = ((values < 0) | (values > 1)).any(axis=0).tolist()
    if not 0 < 2 * sum(is_outside) < len(columns):
        return []
    odd_columns = tuple(compress(columns, is_outside))
    n_columns = {"of": len(columns)}
    return [Fact("odd-columns", len(odd_columns), odd_columns, values=n_columns)]


def _column_stack(table: Any, form: Form, source: str, options: ReadOptions) -> Any:
    """Return the columns of a table as a matrix.

    Raises
    ------
    InputError
        If a column does not contain numbers.
    """
    from semmetrics.data.arrow_files import has_type

    for column in table.schema:
        if not has_type(column.type, *_NUMBER_TYPES, "null"):
            where = f"{source}, column {column.name!r}"
            raise not_a_label_column(str(column.type), form, options).placed(where)
    columns = [column.to_numpy() for column in table.columns]
    if not columns:
        return np.zeros((table.num_rows, 0))
    return np.column_stack(columns)


def read_arrow_file(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Lists | Matrix:
    """Read a Parquet or Arrow file: a matrix if it has a column for each label, else lists.

    Parameters
    ----------
    source : Source
    kind : {"parquet", "arrow"}
    form : Form
    options : ReadOptions

    Raises
    ------
    InputError
        If the file is damaged, or its columns or cells are invalid.
    """
    from semmetrics.data.arrow import read_columns
    from semmetrics.data.arrow_files import open_arrow

    title = "Parquet" if kind == "parquet" else "Arrow"
    first_row = source.offset.n_lines
    with open_arrow(source, kind) as (schema, batches):
        names = schema.names
        numbers = number_columns(schema)

        def make_table() -> Any:
            import pyarrow as pa

            return pa.Table.from_batches(batches(names), schema)

        public_lists = _read_public_table(
            make_table, names, form, source.name, options, first_row
        )
        if public_lists is not None:
            return public_lists
        classes = _named_classes(numbers, make_table, names, form, source.name, options)
        id_position = find_one_hot_ids(names, form, options, numbers, classes)
        if id_position is None or _has_one_text_column(names, id_position, numbers):
            return read_columns(
                schema, batches, form, options, source.name, title, first_row
            )
        table = make_table()
    with conversion_errors(source.name):
        matrix: Any = read_frame(table, form, source.name, None, options, first_row)
    if not form.integers_as_names:
        _check_label_cells(matrix, form, source.name, options, first_row)
    rows = range(first_row, first_row + len(matrix))
    one_hot: Matrix = replace(
        matrix,
        understood=f"{title}, {describe_one_hot(form, names[id_position])}",
        where=Places(source.name, matrix.ids, ROW, rows),
    )
    return one_hot


def _has_one_text_column(
    names: Sequence[str], id_position: int, numbers: frozenset[str]
) -> bool:
    """Return whether the only column next to the ids does not contain numbers."""
    return len(names) == 2 and names[1 - id_position] not in numbers


def _check_label_cells(
    matrix: Matrix, form: Form, source: str, options: ReadOptions, first_row: int
) -> None:
    """Raise an error that names the first cell outside [0, 1] that is not unknown."""
    step = max(1, _MAX_CELLS_PER_CHECK // (len(matrix.vocabulary) + 1))
    for start in range(0, len(matrix), step):
        cells = np.asarray(matrix.values[start : start + step])
        is_valid = (cells >= 0) & (cells <= 1) | is_unknown(cells, form.unknown)
        invalid = np.argwhere(~is_valid)
        if not len(invalid):
            continue
        row, column = invalid[0].tolist()
        name = matrix.vocabulary[column]
        row_number = start + row
        place = f"{ROW.format(first_row + row_number)}, column {name!r}"
        where = format_place(source, place, matrix.ids[row_number])
        value = cells[row, column]
        raise not_a_label_column(value, form, options).placed(where)
