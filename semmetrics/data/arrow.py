"""Read lists from Arrow tables and from the columns of Parquet and Arrow files.

Batches of columns are coded as they arrive. If `Coder` cannot judge something, the table is read
again value by value. That is slower, but it accepts more and reports the place of a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from semmetrics.data.arrow_files import (
    LIST_TYPES,
    MAP_TYPE,
    MAX_ROWS_PER_BATCH,
    STRING_TYPES,
    has_type,
)
from semmetrics.data.cells import are_lists_of_scores
from semmetrics.data.column_coder import (
    Coder,
    FallbackError,
    as_strings,
    fall_back_if,
    null_count,
)
from semmetrics.data.entries import object_keys
from semmetrics.data.form import Form
from semmetrics.data.input_columns import find_columns
from semmetrics.data.item_rows import item_rows
from semmetrics.data.items import Items, encode
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions, note_unused_options
from semmetrics.data.tables import describe_table, entry_rows
from semmetrics.errors import ROW, InputError, format_place
from semmetrics.schema import as_id


def read_arrow_table(table: Any, form: Form, name: str, options: ReadOptions) -> Lists:
    """Read lists from an Arrow table in memory.

    Parameters
    ----------
    table : pyarrow.Table
    form : Form
    name : str
        The name of the input in messages.
    options : ReadOptions

    Raises
    ------
    InputError
        If a column is missing or has the wrong type, or if a cell is invalid.
    """

    def batches(names: Sequence[str]) -> Iterator[Any]:
        for batch in table.select(names).to_batches(max_chunksize=MAX_ROWS_PER_BATCH):
            batch.validate(full=True)
            yield batch

    lists = read_columns(table.schema, batches, form, options, name, "a table")
    text_options = ("delimiter", "label_delimiter")
    unused_facts = note_unused_options(options, text_options, "a table in memory")
    return replace(lists, notes=lists.notes + unused_facts)


class _ColumnTypes(NamedTuple):
    """The Arrow types of the columns in use.

    Attributes
    ----------
    ids, entries : pyarrow.DataType
    scores : pyarrow.DataType, or None
        The type of one score. None without a column of scores.
    has_lists : bool
        Whether a cell has the list of all entries of an item.
    has_score_strings : bool
        Whether the scores are strings, each of which may be a list written as text.
    """

    ids: Any
    entries: Any
    scores: Any
    has_lists: bool
    has_score_strings: bool


def read_columns(
    schema: Any,
    batches: Callable[[list[str]], Iterable[Any]],
    form: Form,
    options: ReadOptions,
    name: str,
    title: str,
    first_row: int = 0,
) -> Lists:
    """Read lists from batches of columns.

    Parameters
    ----------
    schema : pyarrow.Schema
    batches : function
        Takes names of columns, and returns an iterable of record batches with these columns.
        It is called a second time if the batches must be read value by value.
    form : Form
    options : ReadOptions
    name : str
        The name of the input in messages.
    title : str
        The format, for the description of how the input was read.
    first_row : int
        The number of the first row.

    Raises
    ------
    InputError
        If a column is missing or has the wrong type, or if a cell is invalid.
    """
    positions = find_columns(form.table, schema.names, options, name)
    types_by_role = {}
    for role, position in positions.items():
        types_by_role[role] = schema.field(position).type
    column_types = _find_types(types_by_role, form)
    unfit_role = _find_unfit_role(column_types, form)
    if unfit_role is not None:
        where = format_place(name, f"column {schema.names[positions[unfit_role]]!r}")
        unfit_type = str(types_by_role[unfit_role])
        raise InputError("wrong-column-type", where, found=unfit_type, role=unfit_role)
    names = [schema.names[position] for position in positions.values()]
    has_lists = column_types.has_lists
    try:
        fall_back_if(column_types.has_score_strings)
        coder = Coder(form, by_row=not has_lists, first_row=first_row)
        for batch in batches(names):
            coder.add(*_prepare_columns(batch, names, form, has_lists))
        lists = coder.finish(name)
    except MemoryError:  # pyarrow's MemoryError is also an ArrowException.
        raise
    except (FallbackError, pa.ArrowException):
        items = _read_strictly(batches(names), names, form, name, has_lists, first_row)
        lists = encode(items, form)
    lists = describe_table(lists, title, schema.names, positions, form, has_lists)
    score_type = column_types.scores
    if score_type is None:
        score_type = _score_type_of_objects(column_types.entries)
    return replace(lists, precision=_precision_of_type(score_type))


def _find_types(types_by_role: dict[str, Any], form: Form) -> _ColumnTypes:
    """Return the types of ids, of entries, and of one score."""
    entries = types_by_role[form.noun]
    scores = types_by_role.get("score")
    has_lists = has_type(entries, *LIST_TYPES, MAP_TYPE)
    if has_lists and scores is not None:
        # Lists of entries need lists of scores. Other columns are rejected as strings are.
        scores = scores.value_type if has_type(scores, *LIST_TYPES) else pa.string()
    has_score_strings = False
    if scores is not None and has_type(entries, *STRING_TYPES):
        has_score_strings = has_type(scores, *STRING_TYPES)
    ids = types_by_role["id"]
    return _ColumnTypes(ids, entries, scores, has_lists, has_score_strings)


def _find_unfit_role(column_types: _ColumnTypes, form: Form) -> str | None:
    """Return the first role whose column has a type that cannot be read."""
    if not has_type(column_types.ids, *STRING_TYPES, "integer"):
        return "id"
    entry_types = _entry_types(form)
    if not column_types.has_lists and not has_type(column_types.entries, *entry_types):
        return form.noun
    if column_types.scores is None or column_types.has_score_strings:
        return None
    number_types = ["integer", "floating"]
    if column_types.has_lists:
        number_types.append("null")
    if form.allows_grades:
        number_types.append("boolean")
    if not has_type(column_types.scores, *number_types):
        return "score"
    return None


def _entry_types(form: Form) -> list[str]:
    """Return the types that a column of entries may have."""
    entry_types = list(STRING_TYPES)
    if not form.allows_empty:
        entry_types.append("null")  # A column of nulls: no item has entries.
    if form.integers_as_names or form.integers_as_positions:
        entry_types.append("integer")
    return entry_types


def _score_type_of_objects(entries: Any) -> Any:
    """Return the type of the scores in lists of label objects, None if there are none."""
    if not has_type(entries, *LIST_TYPES) or not has_type(entries.value_type, "struct"):
        return None
    types_by_key = {field.name: field.type for field in entries.value_type.fields}
    _, score_key = object_keys(types_by_key)
    return types_by_key.get(score_key)


def _precision_of_type(score_type: Any) -> str:
    """Return the floating-point type of scores, "float64" if there are none."""
    names = {"float": "float32", "halffloat": "float16"}
    return names.get(str(score_type), "float64")


def _prepare_columns(
    batch: Any, names: Sequence[str], form: Form, has_lists: bool
) -> list[Any]:
    """Return ids, entries and scores (if any) for `Coder.add`.

    Raises
    ------
    FallbackError
        If the cells are lists of something other than strings.
    """
    ids, values, *scores = (batch.column(name) for name in names)
    if has_type(values.type, "integer"):
        values = values.cast(pa.string())
    if has_lists:
        fall_back_if(not has_type(values.type, "list", "large_list"))
        fall_back_if(not has_type(values.type.value_type, *STRING_TYPES))
    elif not form.allows_empty and null_count(values):
        values = pc.fill_null(as_strings(values), "")
    return [ids, values, *scores]


def _read_strictly(
    batches: Iterable[Any],
    names: Sequence[str],
    form: Form,
    name: str,
    has_lists: bool,
    first_row: int,
) -> Items:
    """Read batches value by value, and report what is wrong and where."""
    columns: list[list[Any]] = [[] for _ in names]
    for batch in batches:
        for column, column_name in zip(columns, names, strict=True):
            column.extend(batch.column(column_name).to_pylist())
    if has_lists:
        return item_rows(_number_rows(columns, first_row), iter, name, form, ROW)
    return _read_entry_rows(columns, names, form, name, first_row)


def _read_entry_rows(
    columns: list[list[Any]],
    names: Sequence[str],
    form: Form,
    name: str,
    first_row: int,
) -> Items:
    """Read the columns of a table with one row per entry."""
    id_cells, values, *scores = columns
    if scores and not are_lists_of_scores(scores[0]):
        _check_numbers(scores[0], names[2], name)
    ids = []
    for row, cell in enumerate(id_cells, first_row):
        ids.append(as_id(cell, where=format_place(name, ROW.format(row))))
    if form.allows_empty and None in values:
        row = values.index(None)
        where = format_place(name, ROW.format(first_row + row), ids[row])
        raise _null_error(form, where)
    entries = ["" if value is None else value for value in values]
    rows = range(first_row, first_row + len(ids))
    return entry_rows([(rows, ids, entries, *scores)], name, form, ROW)


def _null_error(form: Form, where: str) -> InputError:
    """Return the error for a null in a column whose entries may be empty strings."""
    remedy = f"write an empty string for an empty {form.noun}"
    return InputError("null", where, role=f"the {form.noun}", remedy=remedy)


def _number_rows(
    columns: list[list[Any]], first_row: int
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the cells of each row, without the scores if they are null."""
    for row, cells in enumerate(zip(*columns, strict=True), first_row):
        if cells[-1] is None:
            yield row, cells[:2]
        else:
            yield row, cells


def _check_numbers(scores: Sequence[Any], column: str, name: str) -> None:
    """Raise an error if scores are strings, which only text files may contain."""
    if any(isinstance(score, str) for score in scores):
        where = format_place(name, f"column {column!r}")
        raise InputError("wrong-column-type", where, found="string", role="score")
