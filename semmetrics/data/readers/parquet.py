"""Parquet: one row a label, or one row an item with a list column; read through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from semmetrics.data.form import (
    TABLE_ROLES,
    ReadOptions,
    assign,
    columns_not_used,
    columns_used,
)
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.json_items import pair_scores
from semmetrics.data.readers.records import Assigning
from semmetrics.data.readers.table import LongTable
from semmetrics.data.source import Places, Source, at, canonical_id, placed
from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["ROW", "Columns", "column_names", "read_columns", "read_parquet", "row_ids"]

ROW = "row {} (from 0)"
_BATCH = 2**16


def read_parquet(source: Source, options: ReadOptions) -> RawItems:
    """Read labels from Parquet; only the columns that are used are decoded."""
    table = read_columns(source, options, partial(assign, TABLE_ROLES), "label")
    raw = _wide(table.data, source.name) if table.wide else _long(table.data, source.name)
    row_is = "an item" if table.wide else "a label"
    raw.understood = f"Parquet, one row {row_is}: {columns_used(table.names, table.roles)}"
    raw.notes += columns_not_used(table.names, table.roles)
    return raw


def column_names(source: Source) -> list[str]:
    """The columns of a Parquet file."""
    with _reading(source) as file:
        names: list[str] = file.schema_arrow.names
    return names


@dataclass(frozen=True)
class Columns:
    """Columns by role; wide where a row is an item, with a list of what it has."""

    names: list[str]
    roles: dict[str, int]
    data: dict[str, list[Any]]
    wide: bool


def read_columns(
    source: Source, options: ReadOptions, assigning: Assigning, content: str
) -> Columns:
    """The columns of the roles; that of the role ``content`` may hold lists."""
    with _reading(source) as file:
        schema = file.schema_arrow
        roles = assigning(schema.names, options, source.name)
        kinds = {role: schema.field(i).type for role, i in roles.items()}
        wide = _check_kinds(kinds, schema.names, roles, source.name, content)
        columns = _columns(file, [schema.names[i] for i in roles.values()], source.name, options)
    return Columns(schema.names, roles, dict(zip(roles, columns, strict=True)), wide)


@contextmanager
def _reading(source: Source) -> Iterator[Any]:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingDependencyError("pyarrow", "reading Parquet files", extra="parquet") from None
    try:
        yield parquet.ParquetFile(arrow.BufferReader(source.data))
    # Damaged files raise nearly anything from inside pyarrow: OSError, ValueError, KeyError...
    except InputError:
        raise
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"it cannot be read as Parquet: {line}", where=source.name, remedy="write it again"
        ) from None


def _check_kinds(
    kinds: dict[str, Any], names: list[str], roles: dict[str, int], name: str, content: str
) -> bool:
    """Whether a row is an item; refuses columns of other kinds than the content can have."""
    types = import_module("pyarrow").types

    def has(kind: Any, *which: str) -> bool:
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return any((test := getattr(types, f"is_{one}", None)) and test(kind) for one in which)

    lists = ("list", "large_list", "fixed_size_list", "map")
    wide = has(kinds[content], *lists)
    texts = ("string", "large_string", "string_view")
    fits = {
        "id": has(kinds["id"], *texts, "integer"),
        content: wide or has(kinds[content], *texts),
        "score": "score" not in kinds
        or (
            has(kinds["score"], *lists[:3]) if wide else has(kinds["score"], "integer", "floating")
        ),
    }
    for role, fit in fits.items():
        if not fit:
            raise InputError(
                f"{kinds[role]} is no type of a column of {role}s",
                where=at(name, f"column {names[roles[role]]!r}"),
                remedy=f"ids are text or integers, {content}s text or lists, scores numbers (in "
                f"lists where {content}s are)",
            )
    return wide


def _columns(file: Any, names: list[str], name: str, options: ReadOptions) -> list[list[Any]]:
    columns: list[list[Any]] = [[] for _ in names]
    total = 0
    for batch in file.iter_batches(batch_size=_BATCH, columns=names, use_threads=False):
        total += batch.nbytes
        if total > options.max_bytes:
            raise InputError(
                f"it holds more than {options.max_bytes} bytes when decompressed",
                where=name,
                remedy="if that is right, raise max_bytes (--max-bytes)",
            )
        for column, values in zip(names, columns, strict=True):
            values.extend(batch.column(column).to_pylist())
    return columns


def row_ids(values: list[Any], name: str) -> list[str]:
    """The ids of a column as text."""
    if set(map(type, values)) <= {str} and "" not in values:
        return values
    return [canonical_id(value, at(name, ROW.format(row))) for row, value in enumerate(values)]


def _long(data: dict[str, list[Any]], name: str) -> RawItems:
    table = LongTable(name, ROW)
    labels = ["" if label is None else label for label in data["label"]]
    table.add(range(len(labels)), row_ids(data["id"], name), labels, data.get("score"))
    return table.finish()


def _wide(data: dict[str, list[Any]], name: str) -> RawItems:
    first: dict[str, int] = {}
    items = data["label"]
    for row, id_ in enumerate(row_ids(data["id"], name)):
        try:
            if first.setdefault(id_, row) != row:
                raise InputError(
                    f"the id is also in {ROW.format(first[id_])}", remedy="keep one row an id"
                )
            if items[row] is None:
                raise InputError("the labels are null", remedy="write an empty list for no labels")
            if "score" in data:
                items[row] = pair_scores(items[row], data["score"][row], "")
        except InputError as error:
            raise placed(error, at(name, ROW.format(row), id_)) from None
    ids = list(first)
    return RawItems(ids, items, Places(name, ids, ROW, range(len(ids))), name)
