"""Rows of a small table, each under the names of its columns, from a file or Python objects.

Conventions
-----------
A row is an object, or a list without names. Files are CSV, TSV, JSON lines of objects, or a JSON
list of objects or of lists; Python objects are frames, and iterables of mappings or of lists.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from semmetrics.data.form import ReadOptions
from semmetrics.data.inputs import format_among
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.objects import frame_table, is_frame
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, field_limit
from semmetrics.errors import FROM_0, InputError, at
from semmetrics.messages import a_kind, shown

__all__ = ["TABLE_FORMATS", "Noun", "Row", "check_named_once", "opened_table", "read_rows"]

TABLE_FORMATS = ("csv", "tsv", "json", "jsonl")
Row: TypeAlias = tuple[str, "list[str] | None", Sequence[Any]]
"""The place of a row, the names of its cells, if they have any, and these."""


class Noun(NamedTuple):
    """What messages call a row, and how it is written.

    Attributes
    ----------
    name : str
    held : str
        What it holds.
    json, python : str
        An example.
    """

    name: str
    held: str
    json: str
    python: str


@contextmanager
def opened_table(data: Any, options: ReadOptions) -> Iterator[Source | None]:
    """Open a path, if it is one, within a limit of memory."""
    if not isinstance(data, str | os.PathLike):
        yield None
        return
    source = load(data, options.max_bytes)
    with enough_memory(source.name, options.max_bytes):
        yield source


def read_rows(
    data: Any, source: Source | None, options: ReadOptions, name: str, notes: list[str], noun: Noun
) -> Iterator[Row]:
    """Yield the rows of a table.

    Parameters
    ----------
    data : path, frame, or iterable of mappings or of lists
    source : Source or None
        What a path opened.
    options : ReadOptions
    name : str
        What messages call the data.
    notes : list of str
        Is added to, once all rows have been read.
    noun : Noun

    Raises
    ------
    InputError
        If it is no such table; names the place.
    """
    if source is None:
        if is_frame(data):
            data = frame_table(data, options, name, "score").to_pylist()
        if isinstance(data, Mapping) or not isinstance(data, Iterable):
            raise InputError(
                f"{a_kind(data)} holds no {noun.name}s",
                where=name, remedy=f"give a path, or a list of {noun.python}",
            )  # fmt: skip
        for place, value in enumerate(data):
            yield _row(value, at(name, f"{noun.name} {place}{FROM_0}"), noun)
        return
    kind = format_among(source, options, f"{noun.name}s are", TABLE_FORMATS)
    if kind in ("csv", "tsv"):
        with field_limit(options.max_line_bytes):
            rows = Rows(source, options, tabs=kind == "tsv")
            yield from ((at(name, f"line {line}"), rows.header, row) for line, row in rows)
        notes += rows.notes
    elif kind == "jsonl":
        for line, value in json_lines(source, notes):
            yield _row(value, at(name, f"line {line}"), noun)
    else:
        values = source.parsed(parse_source)
        if not isinstance(values, list):
            raise InputError(
                f"{shown(values)} is no list of {noun.name}s",
                where=name, remedy=f"write [{noun.json}, ...]",
            )  # fmt: skip
        for place, value in enumerate(values):
            yield _row(value, at(name, f"{noun.name} {place}{FROM_0}"), noun)


def _row(value: Any, place: str, noun: Noun) -> Row:
    if isinstance(value, Mapping):
        return place, [str(name) for name in value], list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return place, None, value
    raise InputError(f"{shown(value)} is no {noun.name}", where=place, remedy=f"write {noun.held}")


def check_named_once(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse a column of a name that several columns have."""
    for name in wanted:
        if names.count(name) > 1:
            raise InputError(f"two columns are called {name!r}", where=where,
                             remedy="give each column its own name")  # fmt: skip
