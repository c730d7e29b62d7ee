"""What figures read from results, whatever their class: scores, records and grids.

The classes of results are in layers above this one, so the functions here look for
methods and columns instead of classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.reports.records import Records


def scores_of(result: Any) -> Any:
    """Return the table of scores of a result, such as a comparison, or the result itself.

    Raises
    ------
    InputError
        If the result has no scores.
    """
    for table in (result, getattr(result, "scores", ())):
        if hasattr(table, "per_label") and len(table):
            return table
    raise InputError("other-result", what="scores", of="score")


def records_of(result: Any, what: str, of: str, *columns: str) -> Records:
    """Return the records of a result, or the result itself if it is records.

    Parameters
    ----------
    result : Any
    what, of : str
        For the error message: the values, and the function whose results have them.
    *columns : str
        The columns that the records must have.

    Raises
    ------
    InputError
        If there are no records, or they do not have these columns.
    """
    records = result
    if hasattr(result, "to_records"):
        records = result.to_records()
    if not records or not set(columns) <= set(getattr(records, "columns", ())):
        raise InputError("other-result", what=what, of=of)
    known_records: Records = records
    return known_records


class Grid(NamedTuple):
    """Values arranged by two columns of records.

    Attributes
    ----------
    rows, columns : list
        The names of rows and columns.
    values : float array, shape (values, rows, columns)
        nan if there is no value.
    """

    rows: list[Any]
    columns: list[Any]
    values: Floats


def arrange(
    records: Iterable[Mapping[str, Any]], row: str, column: str, names: Sequence[str]
) -> Grid:
    """Arrange values of records in a grid.

    Parameters
    ----------
    records : iterable of records
    row, column : str
        The columns of the records with the names of the grid's rows and columns.
    names : sequence of str
        The columns of the records with the values.
    """
    values_of_cell = {}
    for record in records:
        values = [record[name] for name in names]
        values_of_cell[record[row], record[column]] = values
    row_names = list(dict.fromkeys(row_name for row_name, _ in values_of_cell))
    column_names = list(dict.fromkeys(name for _, name in values_of_cell))
    undefined = [math.nan] * len(names)
    cells = []
    for row_name in row_names:
        values_of_row = []
        for column_name in column_names:
            cell = row_name, column_name
            values_of_row.append(values_of_cell.get(cell, undefined))
        cells.append(values_of_row)
    table = np.array(cells, np.float64)
    return Grid(row_names, column_names, table.transpose(2, 0, 1))


def select_measure(measure: str | None, known: Iterable[str], table: Any = ()) -> str:
    """Return the heading of a measure, by default the first.

    Parameters
    ----------
    measure : str, optional
        Any name of the measure in the table.
    known : iterable of str
        The headings to choose from.
    table : table of scores

    Raises
    ------
    InputError
        If there are no headings, or none is the heading of the measure.
    """
    headings = list(dict.fromkeys(known))
    if not headings:
        raise InputError("other-result", what="values", of="measures that have any")
    if not measure:
        return headings[0]
    found = {score.heading for score in table.find(measure)} if table else set()
    for heading in headings:
        if heading in found:
            return heading
    check_choice("measure", measure, headings)
    return measure
