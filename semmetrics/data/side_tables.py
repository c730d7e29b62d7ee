"""Tables other than predictions and ground truth, such as weights, pairs and judgements.

Conventions
-----------
Tables are files (CSV, TSV, JSON lines, or a JSON list of objects or lists), frames, and lists of
mappings or lists. ``semmetrics.schema`` defines the columns of each table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.arguments import check_once, is_iterable
from semmetrics.data.csv_rows import Rows, field_limit
from semmetrics.data.frames import frame_table, is_frame
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.errors import ROW, InputError, format_place
from semmetrics.schema import ColumnChooser, Row, Schema, Table

TABLE_FORMATS = ("csv", "tsv", "json", "jsonl")
"""The formats of files that contain a table."""
_DELIMITED_FORMATS = ("csv", "tsv")
_LINE = "line {}"
_ELEMENT = "element [{}]"


@contextmanager
def opened(data: Any, options: ReadOptions) -> Iterator[Any]:
    """Open data that is a path, within the memory limit. Yield other data unchanged."""
    if not isinstance(data, str | os.PathLike):
        yield data
        return
    source = load(data, options.max_bytes)
    with enough_memory(source.name):
        yield source


def read_rows(
    source: Source, options: ReadOptions, what: str
) -> tuple[set[str], list[tuple[str, Any]]]:
    """Read the rows of a table without a schema.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    what : str
        The content of the table, for messages: "values are".

    Returns
    -------
    columns : set of str
        The names in the header. Empty for JSON and JSON lines.
    rows : list of pairs
        The place of each row, for messages, and the row.
    """
    file_format = format_among(
        source, options, what, TABLE_FORMATS, has_format_option=True
    )
    with enough_memory(source.name):
        if file_format in _DELIMITED_FORMATS:
            return _read_delimited_rows(source, options, tabs=file_format == "tsv")
        if file_format == "jsonl":
            return set(), _place_rows(json_lines(source, []), source.name, _LINE)
        elements = parse_source(source)
        if not isinstance(elements, list):
            return set(), []
        return set(), _place_rows(enumerate(elements), source.name, _ELEMENT)


def _read_delimited_rows(
    source: Source, options: ReadOptions, *, tabs: bool
) -> tuple[set[str], list[tuple[str, Any]]]:
    """Read the header and the rows of a CSV or TSV file."""
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        check_once(rows.header, "duplicate", source.name, role="the column")
        placed_rows: list[tuple[str, Any]] = []
        for line, cells in rows:
            row = dict(zip(rows.header, cells, strict=True))
            placed_rows.append((format_place(source.name, _LINE.format(line)), row))
        return set(rows.header), placed_rows


def _place_rows(
    numbered_rows: Iterable[tuple[int, Any]], name: str, place_format: str
) -> list[tuple[str, Any]]:
    """Replace the numbers of rows by their places for messages."""
    return [
        (format_place(name, place_format.format(number)), row)
        for number, row in numbered_rows
    ]


def read_side_table(
    data: Any,
    schema: Schema,
    options: ReadOptions,
    name: str = "",
    *,
    chosen: Mapping[str, str] | None = None,
    choose_columns: ColumnChooser | None = None,
    alone: str = "score",
) -> Table:
    """Read a table from a path, an open source, a frame, or a list of mappings or lists.

    Parameters
    ----------
    data : path, Source, frame, or iterable
    schema : Schema
    options : ReadOptions
    name : str
        What messages call Python objects.
    chosen : mapping from role to column, optional
        Columns that the user named.
    choose_columns : callable, optional
        As for ``Schema.read``.
    alone : str
        The name that the column of a frame gets if it is the only one besides the index.

    Raises
    ------
    InputError
        If the data are not such a table. The message names the place.
    """
    if isinstance(data, str | os.PathLike):
        with opened(data, options) as source:
            return _read_source(source, schema, options, chosen, choose_columns)
    if isinstance(data, Source):
        return _read_source(data, schema, options, chosen, choose_columns)
    if is_frame(data):
        table = frame_table(data, options, name, alone)
        names = table.column_names
        columns = [column.to_pylist() for column in table.columns]
        rows = enumerate(zip(*columns, strict=True))
        named_rows = ((number, names, cells) for number, cells in rows)
        return schema.read(named_rows, name, ROW, chosen, choose_columns)
    return _read_elements(data, schema, name, chosen, choose_columns)


def _read_source(
    source: Source,
    schema: Schema,
    options: ReadOptions,
    chosen: Mapping[str, str] | None,
    choose_columns: ColumnChooser | None,
) -> Table:
    """Read a table from an open file."""
    what = f"{schema.noun}s are"
    file_format = format_among(
        source, options, what, TABLE_FORMATS, has_format_option=True
    )
    if file_format in _DELIMITED_FORMATS:
        with field_limit(options.max_line_bytes):
            delimited_rows = Rows(source, options, tabs=file_format == "tsv")
            header = delimited_rows.header
            if choose_columns is None:
                # Without rows, the schema would not report missing columns.
                schema.find(header, chosen or {}, format_place(source.name, "line 1"))
            lines = ((line, header, cells) for line, cells in delimited_rows)
            table = schema.read(lines, source.name, _LINE, chosen, choose_columns)
        return replace(table, notes=[*delimited_rows.notes, *table.notes])
    if file_format == "jsonl":
        notes: list[Any] = []
        rows = _named_rows(json_lines(source, notes), schema, source.name, _LINE)
        table = schema.read(rows, source.name, _LINE, chosen, choose_columns)
        return replace(table, notes=[*notes, *table.notes])
    elements = source.parsed(parse_source)
    return _read_elements(elements, schema, source.name, chosen, choose_columns)


def _read_elements(
    elements: Any,
    schema: Schema,
    name: str,
    chosen: Mapping[str, str] | None,
    choose_columns: ColumnChooser | None,
) -> Table:
    """Read a table from a list of mappings or lists."""
    if isinstance(elements, str | bytes | Mapping) or not is_iterable(elements):
        wanted = f"a list of {schema.noun}s such as {schema.example}"
        raise InputError("wrong-type", name, value=elements, wanted=wanted)
    rows = _named_rows(enumerate(elements), schema, name, _ELEMENT)
    return schema.read(rows, name, _ELEMENT, chosen, choose_columns)


def _named_rows(
    numbered_rows: Iterable[tuple[Any, Any]],
    schema: Schema,
    name: str,
    place_format: str,
) -> Iterator[Row]:
    """Yield the number, the column names (None for a list) and the cells of each row."""
    for number, row in numbered_rows:
        if isinstance(row, Mapping):
            yield number, [str(column) for column in row], list(row.values())
        elif isinstance(row, np.ndarray):
            yield number, None, row.tolist()
        elif isinstance(row, Sequence) and not isinstance(row, str | bytes):
            yield number, None, row
        else:
            where = format_place(name, place_format.format(number))
            wanted = f"a {schema.noun} such as {schema.example}"
            raise InputError("wrong-type", where, value=row, wanted=wanted)
