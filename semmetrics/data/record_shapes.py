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
    """Return the records of a mapping, each with an id, or None if it contains none.

    A record without an id has its key as the id. The numbers of rows that pandas writes as keys are
    not ids if the records have their own.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> find_records({"a": {"labels": ["cat"]}}, form, ReadOptions())
    [{'id': 'a', 'labels': ['cat']}]
    >>> find_records({"id": {"0": "a"}, "labels": {"0": ["cat"]}}, form, ReadOptions())
    [{'id': 'a', 'labels': ['cat']}]
    """
    entry_names = {
        options.column(form.noun),
        *form.record.columns[1].known,
        *form.columns,
    }
    records = _split_rows(document) or _by_column(document, entry_names)
    records = records or _by_key(document, entry_names)
    if not records:
        return None
    is_numbered = [key for key, _ in records] == [
        str(number) for number in range(len(records))
    ]
    id_names = {
        options.id_column,
        *form.record.columns[0].known,
        *form.table.columns[0].known,
    }
    id_name = form.first_id or "id"
    records_with_id: list[Mapping[str, Any]] = []
    for key, record in records:
        own_ids = [
            name for name in record if _folded(name) in id_names or name in id_names
        ]
        if own_ids and (is_numbered or options.id_column is not None):
            records_with_id.append(record)
            continue
        others = {name: cell for name, cell in record.items() if name not in own_ids}
        records_with_id.append({id_name: key, **others})
    return records_with_id


def _folded(name: Any) -> str:
    return str(name).strip().casefold()


def _is_entry(value: Any) -> bool:
    """Tell whether a value may be an entry or entries; a number is a score."""
    return value is None or isinstance(value, str | list | tuple)


def _is_record(value: Any, entry_names: set[str | None]) -> bool:
    """Tell whether a value is an object with entries under a known name."""
    if not isinstance(value, Mapping) or "_cls" in value:
        return False
    for name, cell in value.items():
        if (name in entry_names or _folded(name) in entry_names) and _is_entry(cell):
            return True
    return False


def _by_key(document: Mapping[Any, Any], entry_names: set[str | None]) -> Records:
    """Return the records of ``{key: record}``."""
    values = list(document.values())
    if not all(isinstance(value, Mapping) for value in values):
        return []
    if not all(_is_record(value, entry_names) for value in values[:_CHECKED_RECORDS]):
        return []
    return [(str(key), record) for key, record in document.items()]


def _by_column(document: Mapping[Any, Any], entry_names: set[str | None]) -> Records:
    """Return the records of ``{column: {index: cell}}``."""
    columns = list(document.values())
    if not columns or not all(isinstance(column, Mapping) for column in columns):
        return []
    keys = list(columns[0])
    if not keys or any(list(column) != keys for column in columns):
        return []
    first = {name: column[keys[0]] for name, column in document.items()}
    if not _is_record(first, entry_names):
        return []
    records: Records = []
    for key in keys:
        record = {name: column[key] for name, column in document.items()}
        records.append((str(key), record))
    return records


def _split_rows(document: Mapping[Any, Any]) -> Records:
    """Return the records of ``orient="split"`` and ``orient="table"``."""
    names = set(map(str, document))
    data = document.get("data")
    if not isinstance(data, Sequence) or isinstance(data, str) or not data:
        return []
    is_table = names == _TABLE and isinstance(document["schema"], Mapping)
    if is_table and all(isinstance(record, Mapping) for record in data):
        return [(str(number), record) for number, record in enumerate(data)]
    if names != _SPLIT or not all(isinstance(row, list) for row in data):
        return []
    columns = document["columns"]
    index = document["index"]
    if len(index) != len(data) or any(len(row) != len(columns) for row in data):
        return []
    records: Records = []
    for key, row in zip(index, data, strict=True):
        records.append((str(key), dict(zip(columns, row, strict=True))))
    return records
