"""Parquet: one row a label, or one row an item with a list column; read through pyarrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from semmetrics.data.raw import RawItems
from semmetrics.data.readers.json_items import pair_scores
from semmetrics.data.readers.options import TABLE_ROLES, ReadOptions, assign
from semmetrics.data.readers.source import Places, Source, at, canonical_id, placed, shown
from semmetrics.data.readers.table import LongTable
from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["read_parquet"]

_ROW = "row {} (from 0)"
_BATCH = 2**16


def read_parquet(source: Source, options: ReadOptions) -> RawItems:
    """Read labels from Parquet; only the columns that are used are decoded."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingDependencyError("pyarrow", "reading Parquet files", extra="parquet") from None
    try:
        file = parquet.ParquetFile(arrow.BufferReader(source.data))
        schema = file.schema_arrow
        roles = assign(TABLE_ROLES, schema.names, options, source.name)
        kinds = {role: schema.field(i).type for role, i in roles.items()}
        wide = _check_kinds(kinds, schema.names, roles, source.name)
        columns = _columns(file, [schema.names[i] for i in roles.values()], source.name, options)
    # Damaged files raise nearly anything from inside pyarrow: OSError, ValueError, KeyError...
    except InputError:
        raise
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"it cannot be read as Parquet: {line}", where=source.name, remedy="write it again"
        ) from None
    data = dict(zip(roles, columns, strict=True))
    raw = _wide(data, source.name) if wide else _long(data, source.name)
    used = ", ".join(f"{role} {schema.names[i]!r}" for role, i in roles.items())
    raw.understood = f"Parquet, one row {'an item' if wide else 'a label'}: {used}"
    extra = [name for i, name in enumerate(schema.names) if i not in roles.values()]
    if extra:
        raw.notes.append(f"columns not used: {', '.join(map(shown, extra))}")
    return raw


def _check_kinds(kinds: dict[str, Any], names: list[str], roles: dict[str, int], name: str) -> bool:
    """Whether a row is an item; refuses columns of other kinds than labels can have."""
    types = import_module("pyarrow").types

    def has(kind: Any, *which: str) -> bool:
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return any((test := getattr(types, f"is_{one}", None)) and test(kind) for one in which)

    lists = ("list", "large_list", "fixed_size_list", "map")
    wide = has(kinds["label"], *lists)
    texts = ("string", "large_string", "string_view")
    fits = {
        "id": has(kinds["id"], *texts, "integer"),
        "label": wide or has(kinds["label"], *texts),
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
                remedy="ids are text or integers, labels text or lists, scores numbers (in lists "
                "where labels are)",
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


def _ids(values: list[Any], name: str) -> list[str]:
    if set(map(type, values)) <= {str} and "" not in values:
        return values
    return [canonical_id(value, at(name, _ROW.format(row))) for row, value in enumerate(values)]


def _long(data: dict[str, list[Any]], name: str) -> RawItems:
    table = LongTable(name, _ROW)
    labels = ["" if label is None else label for label in data["label"]]
    table.add(range(len(labels)), _ids(data["id"], name), labels, data.get("score"))
    return table.finish()


def _wide(data: dict[str, list[Any]], name: str) -> RawItems:
    first: dict[str, int] = {}
    items = data["label"]
    for row, id_ in enumerate(_ids(data["id"], name)):
        try:
            if first.setdefault(id_, row) != row:
                raise InputError(
                    f"the id is also in {_ROW.format(first[id_])}", remedy="keep one row an id"
                )
            if items[row] is None:
                raise InputError("the labels are null", remedy="write an empty list for no labels")
            if "score" in data:
                items[row] = pair_scores(items[row], data["score"][row], "")
        except InputError as error:
            raise placed(error, at(name, _ROW.format(row), id_)) from None
    ids = list(first)
    return RawItems(ids, items, Places(name, ids, _ROW, range(len(ids))), name)
