"""Records: rows of plain values under named columns, in every format.

Conventions
-----------
None is a value that is undefined or unknown. Numbers that are undefined or infinite
become None, so that every format can hold them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, overload

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.errors import InputError, require
from semmetrics.messages import pluralize
from semmetrics.options import FORMAT_OF_EXTENSION, RESULT_FORMATS
from semmetrics.reports.csv_cells import csv_cells, csv_text
from semmetrics.reports.drawing import draw
from semmetrics.reports.html_tables import LEFT, draw_html_table
from semmetrics.reports.table_cells import format_number

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

_FORMS = (*RESULT_FORMATS, "jsonl", "tsv")
_ROWS_PER_CHUNK = 4096
MAX_NOTEBOOK_ROWS = 60


class Records(Sequence[dict[str, Any]]):
    """Rows of plain values under named columns: an immutable sequence of dictionaries.

    Parameters
    ----------
    columns : mapping from name to sequence or array
        All of the same length. Numbers that are not finite are read as None.

    Examples
    --------
    >>> records = Records({"id": ["a", "b"], "F1": np.array([0.5, np.nan])})
    >>> records[0], len(records), records.columns
    ({'id': 'a', 'F1': 0.5}, 2, ('id', 'F1'))
    >>> print(records.to_csv(), end="")
    id,F1
    a,0.5
    b,
    """

    __slots__ = ("_columns", "_length")

    def __init__(self, columns: Mapping[str, Any]) -> None:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            found = f"values by column: {sorted(lengths)}"
            raise InputError("wrong-count", "columns", found=found, wanted="the rows")
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0

    @staticmethod
    def from_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Records:
        """Create records from rows. A row without a column has None there.

        Examples
        --------
        >>> list(Records.from_rows(["a", "b"], [{"a": 1}, {"b": 2, "a": 3}]))
        [{'a': 1, 'b': None}, {'a': 3, 'b': 2}]
        """
        values: dict[str, list[Any]] = {name: [] for name in columns}
        for row in rows:
            for name, column in values.items():
                column.append(row.get(name))
        return Records(values)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column.

        Raises
        ------
        InputError
            If the column does not exist.
        """
        check_choice("column", name, self.columns)
        return _to_plain(self._columns[name])

    def drop(self, *names: str) -> Records:
        """Return the records without the named columns."""
        columns = self._columns.items()
        return Records({name: values for name, values in columns if name not in names})

    def with_columns(self, **columns: Any) -> Records:
        """Return the records with columns added or replaced.

        Examples
        --------
        >>> list(Records({"id": ["a"]}).with_columns(n=[1]))
        [{'id': 'a', 'n': 1}]
        """
        return Records({**self._columns, **columns})

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> Records: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | Records:
        if isinstance(place, slice):
            parts = {name: values[place] for name, values in self._columns.items()}
            return Records(parts)
        row = range(self._length)[place]
        record = {}
        for name, values in self._columns.items():
            (record[name],) = _to_plain(values[row : row + 1])
        return record

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self._columns, row, strict=True)) for row in self._rows())

    def _rows(
        self, convert: Callable[[list[Any]], list[Any]] = list
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of each record.

        Parameters
        ----------
        convert : callable
            Applied to the values of a column, some thousand rows at a time.
        """
        for start in range(0, self._length, _ROWS_PER_CHUNK):
            columns = []
            for values in self._columns.values():
                part = values[start : start + _ROWS_PER_CHUNK]
                columns.append(convert(_to_plain(part)))
            yield from zip(*columns, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        if self.columns != other.columns:
            return False
        return all(self.column(name) == other.column(name) for name in self.columns)

    def __hash__(self) -> int:
        return hash((self.columns, self._length))

    def __repr__(self) -> str:
        return f"Records({pluralize(self._length, 'row')}: {', '.join(self._columns)})"

    # ---- formats ----------------------------------------------------------------------

    def write(self, out: TextIO, form: str, digits: int = 4) -> None:
        """Write the records to a stream, row by row if the format allows it.

        Parameters
        ----------
        out : text stream
        form : {"csv", "tsv", "json", "jsonl", "table", "markdown", "latex", "html"}
            Or the extension of a file, such as "tex". CSV, TSV and JSON have full
            precision. In CSV and TSV, None is an empty cell, a list is written as JSON,
            and formulas are made harmless. "json" is one list of objects.
        digits : int
            The number of decimals in the other formats.

        Raises
        ------
        InputError
            If the format is unknown.
        """
        form = FORMAT_OF_EXTENSION.get(f".{form}", form)
        check_choice("form", form, _FORMS)
        if form == "csv":
            self._write_csv(out, ",")
        elif form == "tsv":
            self._write_csv(out, "\t")
        elif form == "jsonl":
            for row in self:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        elif form == "json":
            rows = list(self)
            text = json.dumps(rows, indent=1, ensure_ascii=False, allow_nan=False)
            out.write(text + "\n")
        else:
            table = cells(self, digits)
            out.write(draw(table, form) + "\n")

    def _write_csv(self, out: TextIO, delimiter: str) -> None:
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        writer.writerow(map(csv_text, self.columns))
        writer.writerows(self._rows(csv_cells))

    def to_csv(self) -> str:
        """Return a header and one line per record. None is an empty cell."""
        return self._text("csv")

    def to_json(self) -> str:
        """Return a JSON list of objects."""
        return self._text("json")

    def to_jsonl(self) -> str:
        """Return one JSON object per line."""
        return self._text("jsonl")

    def to_parquet(self) -> bytes:
        """Return the content of a Parquet file with one row per record.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        parquet = require("pyarrow.parquet", "to_parquet", extra="report")
        out = io.BytesIO()
        parquet.write_table(self.to_arrow(), out)
        return out.getvalue()

    def render(self, form: str, *, digits: int = 4) -> str:
        """Return the records in a format of `write`, without the final line break.

        Examples
        --------
        >>> print(Records({"id": ["a"], "F1": [0.5]}).render("table", digits=2))
        id    F1
        a   0.50
        """
        return self._text(form, digits).removesuffix("\n")

    def _text(self, form: str, digits: int = 4) -> str:
        out = io.StringIO()
        self.write(out, form, digits)
        return out.getvalue()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame with one row per record. None is a missing value.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", "to_pandas", extra="report")
        columns: dict[str, Any] = {}
        for name, values in self._columns.items():
            if _is_float_array(values):
                columns[name] = np.where(np.isfinite(values), values, np.nan)
            else:
                columns[name] = _to_plain(values)
        frame: pd.DataFrame = pandas.DataFrame(columns, columns=list(self._columns))
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame with one row per record. None becomes null.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        polars = require("polars", "to_polars", extra="report")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per record. None becomes null.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        arrow = require("pyarrow", "to_arrow", extra="report")
        columns = {}
        for name, values in self._columns.items():
            # Arrow infers the type from the values, but floats may all be undefined.
            arrow_type = arrow.float64() if _is_float_array(values) else None
            columns[name] = arrow.array(_to_plain(values), arrow_type)
        table: pa.Table = arrow.table(columns)
        return table

    def __str__(self) -> str:
        return draw(cells(self, 4))

    def _repr_html_(self) -> str:
        shown_rows = cells(self[:MAX_NOTEBOOK_ROWS], 4)
        table = draw_html_table(shown_rows, LEFT)
        n_hidden = len(self) - MAX_NOTEBOOK_ROWS
        if n_hidden <= 0:
            return f"<div>{table}</div>"
        return f"<div>{table}<p>… and {pluralize(n_hidden, 'row')} more</p></div>"


def cells(records: Records, digits: int) -> list[list[str]]:
    """Return records as the cells of a table, with the header first.

    Floats have ``digits`` decimals. None is an empty cell.
    """
    rows = [list(records.columns)]
    for record in records:
        row = [_format_value(value, digits) for value in record.values()]
        rows.append(row)
    return rows


def _format_value(value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return format_number(value, digits)
    return str(value)


def _is_float_array(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "f"


def _to_plain(column: Any) -> list[Any]:
    """Return a column or a part of it as plain values, with None for nan and infinity."""
    if not isinstance(column, np.ndarray):
        return list(column)
    values: list[Any] = column.tolist()
    if _is_float_array(column):
        not_finite = np.flatnonzero(~np.isfinite(column))
        for row in not_finite.tolist():
            values[row] = None
    return values
