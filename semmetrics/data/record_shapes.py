"""Records in other shapes than a list: by id, and as ``DataFrame.to_json`` writes them.

Conventions
-----------
``to_json`` writes ``{column: {index: cell}}`` by default. With ``orient`` it writes
``{index: record}``, ``{"columns", "index", "data"}`` or ``{"schema", "data"}``. All of these become
records, and the ordinary reader reads them. A mapping from labels to numbers is never a record.

The ids are in the id column, as in a frame. The index contains the ids only if there is no such
column, because it is often what a filter, a sort or a concatenation left of row numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from semmetrics.data.form import Form
from semmetrics.data.input_columns import role_of
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import Fact, InputError

_SPLIT = {"columns", "index", "data"}
_SPLIT_WITHOUT_INDEX = {"columns", "data"}
_TABLE = {"schema", "data"}
_CHECKED_RECORDS = 20

Records = list[tuple[str, Mapping[str, Any]]]
"""Records, each with its key."""


class RecordsWithIds(NamedTuple):
    """Records that contain their ids.

    Attributes
    ----------
    records : list of mapping
    notes : list of Fact
        A note if an index, or ids in the records, are not used.
    """

    records: list[Mapping[str, Any]]
    notes: list[Fact]


def find_records(
    document: Mapping[Any, Any], form: Form, options: ReadOptions, source: str
) -> RecordsWithIds | None:
    """Return the records of a mapping with their ids, or None if it does not contain records.

    In a table, the id of a record is its own id if all records have one, and otherwise its key. In a
    mapping from keys to records, the keys are the ids, unless they are the numbers of rows or the
    options name a column of ids.

    Raises
    ------
    InputError
        If two columns of ids, entries or scores have the same name.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> find_records({"a": {"labels": ["cat"]}}, form, ReadOptions(), "gt.json").records
    [{'id': 'a', 'labels': ['cat']}]
    >>> table = {"id": {"7": "a"}, "labels": {"7": ["cat"]}}
    >>> find_records(table, form, ReadOptions(), "gt.json").records
    [{'id': 'a', 'labels': ['cat']}]
    """
    id_column, entry_column, *_ = form.record.columns
    entry_names = {options.column(form.noun), *entry_column.known, *form.columns}
    table_id_column, *_ = form.table.columns
    id_names = {options.id_column, *id_column.known, *table_id_column.known}
    records = (
        _records_of_table(document, id_names)
        or _records_of_split(document, form, options, source)
        or _records_by_column(document, entry_names)
    )
    is_table = bool(records)
    if not is_table:
        records = _records_by_key(document, entry_names)
    if not records:
        return None
    own_ids_by_keys = _names_by_keys(records, id_names)
    has_own_ids = all(own_ids_by_keys.values())
    has_row_numbers = _has_row_numbers(records)
    prefers_own_ids = is_table or has_row_numbers or options.id_column is not None
    uses_own_ids = has_own_ids and prefers_own_ids
    # Some names of ids are only known in tables. Records need a name that they know as well.
    record_id_names = {options.id_column, *id_column.known}
    id_name = form.first_id or "id"
    records_with_id: list[Mapping[str, Any]] = []
    for key, record in records:
        own_ids = own_ids_by_keys[tuple(record)]
        if uses_own_ids and _names_among(own_ids, record_id_names):
            records_with_id.append(record)
            continue
        record_id = record[own_ids[0]] if uses_own_ids else key
        others = {name: cell for name, cell in record.items() if name not in own_ids}
        records_with_id.append({id_name: record_id, **others})
    notes = []
    if is_table and uses_own_ids and not has_row_numbers:
        notes.append(Fact("index-not-used"))
    elif has_own_ids and not uses_own_ids:
        notes.append(Fact("own-ids-not-used"))
    return RecordsWithIds(records_with_id, notes)


def _names_by_keys(
    records: Records, names: set[str | None]
) -> dict[tuple[Any, ...], list[Any]]:
    """Return the keys that are among some names, by all keys of a record."""
    names_by_keys: dict[tuple[Any, ...], list[Any]] = {}
    for _, record in records:
        keys = tuple(record)
        if keys not in names_by_keys:
            names_by_keys[keys] = _names_among(keys, names)
    return names_by_keys


def _has_row_numbers(records: Records) -> bool:
    """Return whether the keys of records are the numbers of rows."""
    return all(key == str(number) for number, (key, _) in enumerate(records))


def _names_among(record: Iterable[Any], names: set[str | None]) -> list[Any]:
    """Return the keys of a record that are among some names, in any case."""
    return [name for name in record if name in names or _folded(name) in names]


def _folded(name: Any) -> str:
    return str(name).strip().casefold()


def _is_entry(value: Any) -> bool:
    """Return whether a value may be an entry or entries. A number is a score."""
    return value is None or isinstance(value, str | list | tuple)


def _is_record(value: Any, entry_names: set[str | None]) -> bool:
    """Return whether a value is an object with entries under a known name."""
    # FiftyOne writes "_cls" into its labels, which are not records.
    if not isinstance(value, Mapping) or "_cls" in value:
        return False
    return any(_is_entry(value[name]) for name in _names_among(value, entry_names))


def _records_by_key(
    document: Mapping[Any, Any], entry_names: set[str | None]
) -> Records:
    """Return the records of ``{key: record}``."""
    values = list(document.values())
    if not all(isinstance(value, Mapping) for value in values):
        return []
    if not all(_is_record(value, entry_names) for value in values[:_CHECKED_RECORDS]):
        return []
    return [(str(key), record) for key, record in document.items()]


def _records_by_column(
    document: Mapping[Any, Any], entry_names: set[str | None]
) -> Records:
    """Return the records of ``{column: {index: cell}}``."""
    keys = _shared_keys(list(document.values()))
    if not keys or not _is_record(_row_of(document, keys[0]), entry_names):
        return []
    return [(str(key), _row_of(document, key)) for key in keys]


def _shared_keys(columns: list[Any]) -> list[Any]:
    """Return the keys of several mappings, or an empty list if they do not have the same ones."""
    if not columns or not all(isinstance(column, Mapping) for column in columns):
        return []
    keys = list(columns[0])
    if any(list(column) != keys for column in columns):
        return []
    return keys


def _row_of(document: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    """Return the cell of each column under a key."""
    return {name: column[key] for name, column in document.items()}


def _rows_of(document: Mapping[Any, Any]) -> Sequence[Any]:
    """Return the rows under the key "data", or an empty list if there are none."""
    rows = document.get("data")
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        return []
    return rows


def _records_of_table(
    document: Mapping[Any, Any], id_names: set[str | None]
) -> Records:
    """Return the records of ``orient="table"``, with the index as keys.

    The index is a column of the table. If the column has a name of ids, it remains in the records.
    """
    rows = _rows_of(document)
    if set(map(str, document)) != _TABLE or not isinstance(document["schema"], Mapping):
        return []
    if not all(isinstance(row, Mapping) for row in rows):
        return []
    index_name = _index_name(document["schema"], rows)
    if index_name is None or _names_among([index_name], id_names):
        return [(str(number), row) for number, row in enumerate(rows)]
    records: Records = []
    for row in rows:
        others = {name: cell for name, cell in row.items() if name != index_name}
        records.append((str(row[index_name]), others))
    return records


def _index_name(schema: Mapping[Any, Any], rows: Sequence[Any]) -> str | None:
    """Return the name of the index of a table, or None if it is not a single column."""
    names = schema.get("primaryKey")
    if not isinstance(names, list) or len(names) != 1:
        return None
    [name] = names
    if not isinstance(name, str) or not all(name in row for row in rows):
        return None
    return name


def _records_of_split(
    document: Mapping[Any, Any], form: Form, options: ReadOptions, source: str
) -> Records:
    """Return the records of ``orient="split"``, with the index as keys.

    Without an index, as ``index=False`` writes it, the keys are the numbers of rows.

    Raises
    ------
    InputError
        If two columns of ids, entries or scores have the same name.
    """
    rows = _rows_of(document)
    if set(map(str, document)) not in (_SPLIT, _SPLIT_WITHOUT_INDEX):
        return []
    columns = document["columns"]
    index = document.get("index")
    if index is None:
        index = range(len(rows))
    if not isinstance(columns, (list, tuple)) or not _is_index_of(index, rows):
        return []
    for row in rows:
        if not isinstance(row, (list, tuple)) or len(row) != len(columns):
            return []
    # With several header rows, the name of a column is a list.
    names = list(map(str, columns))
    _check_columns(names, form, options, source)
    records: Records = []
    for key, row in zip(index, rows, strict=True):
        records.append((str(key), dict(zip(names, row, strict=True))))
    return records


def _is_index_of(index: Any, rows: Sequence[Any]) -> bool:
    """Return whether an index has one key for each row."""
    return isinstance(index, (list, tuple, range)) and len(index) == len(rows)


def _check_columns(
    names: list[str], form: Form, options: ReadOptions, source: str
) -> None:
    """Raise an error if two columns of ids, entries or scores have the same name."""
    for name in names:
        is_used = name in form.keys or role_of(name, form, options) != ""
        if is_used and names.count(name) > 1:
            raise InputError("duplicate-column", source, name=name)
