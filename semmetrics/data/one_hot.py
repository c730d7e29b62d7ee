"""Tables with a column for each label (one-hot), from files: a matrix, as frames of that shape are.

Conventions
-----------
A table is one where it has a column of ids, at least one other, and none that is named as scores
are, or as labels are with text in it, which every cell of a text file is. Its cells are 0 or 1,
"true" or "false", or scores from 0 to 1; numbers beyond are refused, because other columns than
labels have them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.data.form import (
    MATRICES,
    TABLES,
    Form,
    ReadOptions,
    assign,
    canonical_id,
    is_one_hot,
    number,
)
from semmetrics.data.matrix import Matrix, as_matrix, check_named
from semmetrics.data.source import Source
from semmetrics.data.tables import Rows, field_limit, first_row
from semmetrics.errors import InputError, Places, at
from semmetrics.messages import shown

__all__ = ["read_one_hot"]

_CELL, _ITEM = 8, 400  # bytes that a cell takes, and a row beside its cells
_PAIR = 2  # columns: ids and one other, which may be of labels under another name
_WORDS = {"true": 1.0, "false": 0.0}
_WHOLE = {"0", "1", *_WORDS}


def read_one_hot(source: Source, kind: str, form: Form, options: ReadOptions) -> Matrix | None:
    """Read a table of a file as a matrix; None where it is not one with a column for each label.

    Raises
    ------
    InputError
        If a cell is neither 0 or 1 nor a score, or an id is empty or stands twice; names the place.
    """
    if MATRICES[0] not in form.formats or options.label_delimiter is not None:
        return None
    if kind not in TABLES:
        return _read_arrow(source, kind, form, options)
    with field_limit(options.max_line_bytes):
        header = first_row(source, options, tabs=kind == "tsv")
        place = _id_place(header, form, options)
        return None if place is None else _read_text(source, kind, place, form, options)


def _id_place(
    names: Sequence[str], form: Form, options: ReadOptions, numbers: Set[str] = frozenset()
) -> int | None:
    """Find the column of ids of a table with a column for each label; None where it is no such."""
    if not is_one_hot(names, form, options, numbers):
        return None
    try:
        return assign({"id": form.table["id"]}, names, options, "", form.first_id)["id"]
    except InputError:  # which the reader of tables says
        return None


def _read_text(
    source: Source, kind: str, place: int, form: Form, options: ReadOptions
) -> Matrix | None:
    rows, room = Rows(source, options, tabs=kind == "tsv"), source.room()
    names = [name for column, name in enumerate(rows.header) if column != place]
    check_named(rows.header, at(source.name, "line 1"))
    where, places, parts, whole = source.name, dict[str, int](), list[Any](), True
    for lines, batch in rows.batches():
        room.take((_CELL * len(names) + _ITEM) * len(batch))
        ids = [row.pop(place) for row in batch]
        for line, id_ in zip(lines, ids, strict=True):
            canonical_id(id_, at(where, f"line {line}"))
            if places.setdefault(id_, line) != line:
                raise InputError(
                    f"the id is also in line {places[id_]}",
                    where=at(where, f"line {line}", id_),
                    remedy="keep one row an id, or name the column of labels with label_column "
                    "(--label-column)",
                )
        values = dict.fromkeys(chain.from_iterable(batch), 0.0)
        for text in values:
            try:
                values[text] = _value(text, form)
            except InputError as error:
                if len(names) == 1:  # the reader of tables says what it lacks
                    return None
                row = next(i for i, cells in enumerate(batch) if text in cells)
                column = names[batch[row].index(text)]
                there = at(where, f"line {lines[row]}, column {column!r}", ids[row])
                raise error.placed(there) from None
        whole = whole and {text.strip().casefold() for text in values} <= _WHOLE
        flat = map(values.__getitem__, chain.from_iterable(batch))
        found = np.fromiter(flat, np.float64, len(batch) * len(names))
        parts.append(found.reshape(len(batch), -1).astype(np.int8 if whole else np.float64))
    table = np.concatenate([np.zeros((0, len(names)), np.int8), *parts])
    ids = list(places)
    made = as_matrix(
        table,
        names,
        ids,
        source=where,
        understood=_understood(kind.upper(), form, rows.header[place]),
        notes=rows.notes,
    )
    return replace(made, where=Places(where, ids, "line {}", list(places.values())))


def _understood(kind: str, form: Form, id_: str) -> str:
    return f"{kind}, one row an item, one column a {form.noun}: id {id_!r}"


def _value(text: str, form: Form) -> float:
    """Return the value of a cell."""
    value = _WORDS.get(text.strip().casefold())
    try:
        value = number(text, "", "cell") if value is None else value
    except InputError:
        value = None
    if value is None or not (form.numbered or 0 <= value <= 1):
        raise _no_cell("the cell is empty" if text == "" else f"the cell is {shown(text)}", form)
    return value + 0.0


def _no_cell(what: str, form: Form) -> InputError:
    noun = form.noun
    return InputError(
        f"{what}, and where no column has the {noun}s (sought any of {', '.join(form.columns)}) "
        f"each is a {noun} with 0/1 or scores from 0 to 1",
        remedy=f"leave the column out, or name the column of {noun}s with {noun}_column "
        f"(--{noun}-column)",
    )


def _read_arrow(source: Source, kind: str, form: Form, options: ReadOptions) -> Matrix | None:
    from semmetrics.data.arrow import arrow_schema, whole_table
    from semmetrics.data.objects import number_columns, read_python

    schema = arrow_schema(source, kind)
    names = schema.names
    numbers = number_columns(schema)
    place = _id_place(names, form, options, numbers)
    if place is None or (len(names) == _PAIR and names[1 - place] not in numbers):
        return None
    table = whole_table(source, kind, options)
    made: Any = read_python(table, form, source.name, None, options)
    for start in () if form.numbered else range(0, len(made), max(1, 2**22 // len(names))):
        part = np.asarray(made.values[start : start + max(1, 2**22 // len(names))])
        outside = np.argwhere(~((part >= 0) & (part <= 1)))
        if len(outside):
            row, column = outside[0].tolist()
            there = f"row {start + row} (from 0), column {made.vocabulary[column]!r}"
            raise _no_cell(f"the cell is {part[row, column]}", form).placed(
                at(source.name, there, made.ids[start + row])
            )
    title = "Parquet" if kind == "parquet" else "Arrow"
    found: Matrix = replace(made, understood=_understood(title, form, names[place]))
    return found
