"""Records in other shapes than a list: by id, and as ``DataFrame.to_json`` writes them.

Conventions
-----------
``to_json`` writes ``{column: {index: cell}}`` by default. With ``orient`` it writes
``{index: record}``, ``{"columns", "index", "data"}`` or ``{"schema", "data"}``. All of these become
records, and the ordinary reader reads them. A mapping from labels to numbers is never a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.read_options import ReadOptions

_SPLIT = {"columns", "index", "data"}
_TABLE = {"schema", "data"}
_CHECKED_RECORDS = 20

Records = list[tuple[str, Mapping[str, Any]]]
"""Records, each with its key."""


def find_records(
    document: Mapping[Any, Any], form: Form, options: ReadOptions
) -> list[Mapping[str, Any]] | None:
    """Return the records of a mapping with their ids, or None if it does not contain records.

    The id of a record is its key, or the record's own id if the keys are the numbers of rows, as
    pandas writes them, or if the options name the column of ids.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> find_records({"a": {"labels": ["cat"]}}, form, ReadOptions())
    [{'id': 'a', 'labels': ['cat']}]
    >>> find_records({"id": {"0": "a"}, "labels": {"0": ["cat"]}}, form, ReadOptions())
    [{'id': 'a', 'labels': ['cat']}]
    """
    id_column, entry_column, *_ = form.record.columns
    entry_names = {options.column(form.noun), *entry_column.known, *form.columns}
    records = (
        _records_of_orient(document)
        or _records_by_column(document, entry_names)
        or _records_by_key(document, entry_names)
    )
    if not records:
        return None
    table_id_column, *_ = form.table.columns
    id_names = {options.id_column, *id_column.known, *table_id_column.known}
    prefers_own_ids = options.id_column is not None or _has_row_numbers(records)
    id_name = form.first_id or "id"
    records_with_id: list[Mapping[str, Any]] = []
    for key, record in records:
        own_ids = _names_among(record, id_names)
        if own_ids and prefers_own_ids:
            records_with_id.append(record)
            continue
        others = {name: cell for name, cell in record.items() if name not in own_ids}
        records_with_id.append({id_name: key, **others})
    return records_with_id


def _has_row_numbers(records: Records) -> bool:
    """Return whether the keys of records are the numbers of rows."""
    return all(key == str(number) for number, (key, _) in enumerate(records))


def _names_among(record: Mapping[Any, Any], names: set[str | None]) -> list[Any]:
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


def _records_of_orient(document: Mapping[Any, Any]) -> Records:
    """Return the records of ``orient="split"`` and ``orient="table"``."""
    names = set(map(str, document))
    data = document.get("data")
    if not isinstance(data, Sequence) or isinstance(data, str) or not data:
        return []
    if names == _TABLE and isinstance(document["schema"], Mapping):
        return _records_of_table(data)
    if names == _SPLIT:
        return _records_of_split(document["columns"], document["index"], data)
    return []


def _records_of_table(data: Sequence[Any]) -> Records:
    """Return the records of ``orient="table"``, which have the numbers of rows as keys."""
    if not all(isinstance(record, Mapping) for record in data):
        return []
    return [(str(number), record) for number, record in enumerate(data)]


def _records_of_split(
    columns: Sequence[Any], index: Sequence[Any], data: Sequence[Any]
) -> Records:
    """Return the records of ``orient="split"``, with the index as keys."""
    if not all(isinstance(row, list) for row in data):
        return []
    if len(index) != len(data) or any(len(row) != len(columns) for row in data):
        return []
    records: Records = []
    for key, row in zip(index, data, strict=True):
        records.append((str(key), dict(zip(columns, row, strict=True))))
    return records
