"""Read CSV and TSV files with one column per label (one-hot) as matrices.

A table is one-hot if it has a column of ids, at least one other column, and no column with a name of
labels or scores. Its cells are 0 or 1, "true" or "false", or scores from 0 to 1. Other numbers are
an error, since such columns are not labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.data.class_columns import (
    BINARY,
    SHARE,
    find_id_beside_classes,
    find_named_classes,
)
from semmetrics.data.csv_rows import Rows, field_limit, first_row, second_row
from semmetrics.data.form import Form
from semmetrics.data.input_columns import column_flag, find_id, is_one_hot
from semmetrics.data.matrix import Matrix, as_matrix, check_named
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import InputError, Places, format_place
from semmetrics.schema import TRUTHS, as_id, as_number

_MISSING_CELLS = frozenset({"", "nan", "na", "null", "none"})
# Cells that often mean that nobody verified the label.
_UNVERIFIED_CELLS = _MISSING_CELLS | {"-1", "-1.0"}
_INTEGER_CELLS = {"0", "1", *TRUTHS}


def read_one_hot(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Matrix | None:
    """Read a CSV or TSV file as a matrix. Return None if it is not one-hot.

    Parameters
    ----------
    source : Source
    kind : {"csv", "tsv"}
    form : Form
    options : ReadOptions

    Raises
    ------
    InputError
        If a cell is neither 0 or 1 nor a score, or an id is empty or occurs twice. The error
        names the place.
    """
    is_tsv = kind == "tsv"
    with field_limit(options.max_line_bytes):
        header = first_row(source, options, tabs=is_tsv)
        classes = _find_classes(source, kind, header, form, options)
        id_column = find_one_hot_ids(header, form, options, classes=classes)
        if id_column is None:
            return None
        rows = Rows(source, options, tabs=is_tsv)
        check_named(rows.header, format_place(source.name, "line 1"))
        cell_reader = _CellReader(source.name, rows.header, id_column, form, options)
        for lines, batch in rows.batches():
            if not cell_reader.add(lines, batch):
                return None
    ids = list(cell_reader.lines_by_id)
    matrix = as_matrix(
        cell_reader.values(),
        cell_reader.names,
        ids,
        source=source.name,
        notes=rows.notes,
        finite=not form.allows_nan,
        understood=f"{kind.upper()}, {describe_one_hot(form, rows.header[id_column])}",
    )
    lines_of_ids = list(cell_reader.lines_by_id.values())
    return replace(matrix, where=Places(source.name, ids, "line {}", lines_of_ids))


class _CellReader:
    """Convert batches of rows to ids and numbers.

    Attributes
    ----------
    names : list of str
        The names of the columns of labels.
    lines_by_id : dict of str to int
        The line of each row by its id, in the order of the rows.
    """

    def __init__(
        self,
        source_name: str,
        header: list[str],
        id_column: int,
        form: Form,
        options: ReadOptions,
    ) -> None:
        self.names = [name for place, name in enumerate(header) if place != id_column]
        self.lines_by_id: dict[str, int] = {}
        self._source_name = source_name
        self._id_column = id_column
        self._form = form
        self._options = options
        self._parts: list[Any] = []
        self._are_integers = True

    def add(self, lines: Sequence[int], rows: list[list[str]]) -> bool:
        """Convert the rows on some lines. The ids are removed from the rows.

        Return False if the table is not one-hot, because its only column has other cells. The
        reader of tables then reports what is missing.
        """
        ids = [row.pop(self._id_column) for row in rows]
        # A table has few distinct cells, so each is converted once.
        numbers = dict.fromkeys(chain.from_iterable(rows), 0.0)
        for text in numbers:
            number = _cell_value(text, self._form)
            if number is None:
                if len(self.names) == 1:
                    return False
                raise self._cell_error(text, lines, ids, rows)
            numbers[text] = number
        # An id also occurs twice if each row is a label, so other cells are reported first.
        self._add_ids(lines, ids)
        if self._are_integers:
            folded_cells = {text.strip().casefold() for text in numbers}
            self._are_integers = folded_cells <= _INTEGER_CELLS
        cells = map(numbers.__getitem__, chain.from_iterable(rows))
        flat = np.fromiter(cells, np.float64, len(rows) * len(self.names))
        dtype = np.int8 if self._are_integers else np.float64
        self._parts.append(flat.reshape(len(rows), -1).astype(dtype))
        return True

    def _add_ids(self, lines: Sequence[int], ids: Sequence[str]) -> None:
        for line, id_ in zip(lines, ids, strict=True):
            as_id(id_, where=format_place(self._source_name, f"line {line}"))
            first_line = self.lines_by_id.setdefault(id_, line)
            if first_line != line:
                where = format_place(self._source_name, f"line {line}", id_)
                raise InputError(
                    "duplicate-row-at",
                    where,
                    other=f"line {first_line}",
                    **duplicate_values(self._form, self._options),
                )

    def _cell_error(
        self,
        text: str,
        lines: Sequence[int],
        ids: Sequence[str],
        rows: Sequence[Sequence[str]],
    ) -> InputError:
        """Return the error for a cell that no label can have, at the cell's first place."""
        row_number = 0
        while text not in rows[row_number]:
            row_number += 1
        column = self.names[rows[row_number].index(text)]
        place = f"line {lines[row_number]}, column {column!r}"
        where = format_place(self._source_name, place, ids[row_number])
        return not_a_label_column(text, self._form, self._options).placed(where)

    def values(self) -> Any:
        """Return the numbers of all rows, shape (rows, labels)."""
        no_rows = np.zeros((0, len(self.names)), np.int8)
        return np.concatenate([no_rows, *self._parts])


def _find_classes(
    source: Source, kind: str, header: Sequence[str], form: Form, options: ReadOptions
) -> frozenset[str]:
    """Return the columns with names of labels or scores that are classes, judged by their cells."""
    id_column = find_id_beside_classes(header, form, options)
    if id_column is None:
        return frozenset()
    names = [name for place, name in enumerate(header) if place != id_column]
    first_cells = second_row(source, options, tabs=kind == "tsv")
    if len(first_cells) == len(header):
        del first_cells[id_column]
        if _kind_of_cells(first_cells) is None:
            return frozenset()
    rows = Rows(source, options, tabs=kind == "tsv")
    kinds = dict.fromkeys(names, BINARY)
    ids: set[str] = set()
    n_rows = 0
    for _, batch in rows.batches():
        columns = list(zip(*batch, strict=True))
        ids.update(columns.pop(id_column))
        n_rows += len(batch)
        for name, cells in zip(names, columns, strict=True):
            cell_kind = _kind_of_cells(cells)
            if cell_kind is None:
                return frozenset()
            if cell_kind == SHARE:
                kinds[name] = SHARE
    if not n_rows:
        return frozenset()
    repeats = len(ids) < n_rows
    where = format_place(source.name, "line 1")
    return find_named_classes(kinds, form, options, where, repeats=repeats)


def _kind_of_cells(cells: Sequence[str]) -> str | None:
    """Return `BINARY` or `SHARE`, or None if some cells are not numbers from 0 to 1."""
    is_binary = True
    for text in set(cells):
        folded = text.strip().casefold()
        value = TRUTHS.get(folded)
        if value is None:
            try:
                value = float(folded)
            except ValueError:
                return None
        if not 0 <= value <= 1:
            return None
        is_binary = is_binary and value in (0.0, 1.0)
    return BINARY if is_binary else SHARE


def find_one_hot_ids(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
) -> int | None:
    """Find the column of ids of a one-hot table.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    form : Form
    options : ReadOptions
    numbers, classes : set of str
        The columns of numbers, and the columns that are classes, as in `is_one_hot`.

    Returns
    -------
    int or None
        The position of the column. None if the table is not one-hot.
    """
    is_split = options.label_delimiter is not None
    if not is_split and is_one_hot(names, form, options, numbers, classes):
        with suppress(InputError):  # The reader of tables raises it again.
            return find_id(names, form, options, "")
    return None


def describe_one_hot(form: Form, id_: str) -> str:
    """Describe how a one-hot table was read."""
    return f"one row per item, one column per {form.noun}: id {id_!r}"


def duplicate_values(form: Form, options: ReadOptions) -> dict[str, str]:
    """Return the values of the error for an id that occurs twice in a one-hot table."""
    return {"noun": form.noun, "flag": column_flag(form.noun, options)}


def not_a_label_column(value: object, form: Form, options: ReadOptions) -> InputError:
    """Return the error for a column that is not a label, with one of its cells or its type."""
    folded = str(value).strip().casefold()
    if form.scored and not form.unknown and folded in _UNVERIFIED_CELLS:
        return InputError("unverified-cell", value=value)
    known = ", ".join(form.columns)
    flag = column_flag(form.noun, options)
    return InputError(
        "not-a-label-column", value=value, noun=form.noun, known=known, flag=flag
    )


def _cell_value(text: str, form: Form) -> float | None:
    """Return the number in a cell, or None if no label can have it."""
    folded = text.strip().casefold()
    if form.allows_nan and folded in _MISSING_CELLS:
        return math.nan
    value = TRUTHS.get(folded)
    if value is None:
        try:
            value = as_number(text, "")
        except InputError:
            return None
    if form.integers_as_names or 0 <= value <= 1 or value in form.unknown:
        return value + 0.0  # -0.0 becomes 0.0
    return None
