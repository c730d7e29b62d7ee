"""Captions in tables: CSV, TSV and Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from semmetrics.data.form import (
    CAPTION_TABLE_ROLES,
    ReadOptions,
    Role,
    assign,
    columns_not_used,
    columns_used,
)
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.groups import Groups
from semmetrics.data.readers.parquet import ROW, read_columns, row_ids
from semmetrics.data.readers.table import Rows, field_limit
from semmetrics.data.source import Places, Source, at
from semmetrics.errors import InputError

__all__ = ["assign_caption", "read_caption_parquet", "read_caption_table"]

_IMAGE = "image_id"


def assign_caption(
    roles: Mapping[str, Role], names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Find the columns of id and caption; "image_id" goes before the "id" of an annotation.

    Examples
    --------
    >>> assign_caption(CAPTION_TABLE_ROLES, ["id", "image_id", "caption"], ReadOptions(), "a.csv")
    {'id': 1, 'caption': 2}
    """
    image = [name for name in names if name.strip().casefold() == _IMAGE]
    if len(image) == 1 and options.id_column is None and options.caption_column != image[0]:
        options = replace(options, id_column=image[0])
    return assign(roles, names, options, where)


def read_caption_table(source: Source, options: ReadOptions, *, tabs: bool = False) -> RawItems:
    """Read captions from CSV or TSV, one row a caption."""
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        where = at(source.name, "line 1")
        roles = assign_caption(CAPTION_TABLE_ROLES, rows.header, options, where)
        groups = Groups(source.name)
        for lines, batch in rows.batches():
            ids, captions = ([row[i] for row in batch] for i in roles.values())
            groups.add(lines, ids, captions)
    raw = groups.finish()
    kind = "TSV" if tabs else "CSV"
    raw.understood = f"{kind}, one row a caption: {columns_used(rows.header, roles)}"
    raw.notes += columns_not_used(rows.header, roles) + rows.notes
    return raw


def read_caption_parquet(source: Source, options: ReadOptions) -> RawItems:
    """Read captions from Parquet, one row a caption, or one an item with a list column."""
    table = read_columns(source, options, partial(assign_caption, CAPTION_TABLE_ROLES), "caption")
    ids = row_ids(table.data["id"], source.name)
    read = _wide if table.wide else _long
    raw = read(ids, table.data["caption"], source.name)
    row_is = "an item" if table.wide else "a caption"
    raw.understood = f"Parquet, one row {row_is}: {columns_used(table.names, table.roles)}"
    raw.notes += columns_not_used(table.names, table.roles)
    return raw


def _long(ids: list[str], captions: list[Any], name: str) -> RawItems:
    groups = Groups(name, ROW)
    _refuse_null(ids, captions, name)
    groups.add(range(len(ids)), ids, captions)
    return groups.finish()


def _wide(ids: list[str], captions: list[Any], name: str) -> RawItems:
    first: dict[str, int] = {}
    for row, id_ in enumerate(ids):
        if first.setdefault(id_, row) != row:
            raise InputError(
                f"the id is also in {ROW.format(first[id_])}",
                where=at(name, ROW.format(row), id_),
                remedy="keep one row an id",
            )
    _refuse_null(ids, captions, name)
    return RawItems(ids, captions, Places(name, ids, ROW, range(len(ids))), name)


def _refuse_null(ids: list[str], captions: list[Any], name: str) -> None:
    if None in captions:
        row = captions.index(None)
        raise InputError(
            "the caption is null",
            where=at(name, ROW.format(row), ids[row]),
            remedy="write an empty text for an empty caption",
        )
