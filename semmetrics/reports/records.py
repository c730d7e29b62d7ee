"""Rows of values and of text, and their forms: records as files keep them, tables as people read.

Conventions
-----------
A record is a row of plain values; None stands for what is undefined or not known. Undefined and
infinite numbers are None, so that every form of the records can hold them.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, overload

import numpy as np

from semmetrics.arguments import check_type, checked
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.messages import brief, listing, pluralize, printable, visible

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["FORMS", "Records", "align", "check_digits", "csv_text", "draw", "format_full"]

FORMS = ("csv", "json", "jsonl")
_ROWS = 4096  # made at a time
_SHOWN = 60  # by a notebook
_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
}  # fmt: skip

_MARKDOWN = str.maketrans({"|": "\\|", "`": "\\`", "\\": "\\\\", "<": "&lt;"})
_FORMULA = re.compile(r"'*\s*(?:=|[+\-@](?![\w.%\-]*(?:[eE]\+\d+)?\Z))")
_MAY_BE_FORMULA = re.compile(r"^'*\s*[=+\-@]", re.MULTILINE)
_NO_NAMES = ("nan", "inf")
Rows = Sequence[Sequence[str]]


class Records(Sequence[dict[str, Any]]):
    """Rows of plain values under named columns: an immutable sequence of dictionaries.

    Parameters
    ----------
    columns : mapping from name to sequence or array
        All of one length; a number that is not finite is read as None.

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

    @checked
    def __init__(self, columns: Mapping[str, Any]) -> None:
        for name, column in columns.items():
            check_type(f"columns[{brief(name)}]", column, Sequence[Any])
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise InputError(
                f"columns of different lengths: {sorted(lengths)}", remedy="give one value a row"
            )
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0

    @staticmethod
    @checked
    def from_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Records:
        """Make records of rows; a row without a column has None there.

        Examples
        --------
        >>> list(Records.from_rows(["a", "b"], [{"a": 1}, {"b": 2, "a": 3}]))
        [{'a': 1, 'b': None}, {'a': 3, 'b': 2}]
        """
        lists: dict[str, list[Any]] = {name: [] for name in columns}
        appends = [(name, column.append) for name, column in lists.items()]
        for row in rows:
            for name, append in appends:
                append(row.get(name))
        return Records(lists)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    @checked
    def column(self, name: str) -> list[Any]:
        """Return the values of one column.

        Raises
        ------
        InputError
            If there is no such column.
        """
        if name not in self._columns:
            raise InputError(
                f"the records have no column {name!r}", remedy=f"they have {listing(self.columns)}"
            )
        return _to_plain(self._columns[name])

    def drop(self, *names: str) -> Records:
        """Return the records without some columns."""
        return Records({name: c for name, c in self._columns.items() if name not in names})

    def with_columns(self, **columns: Any) -> Records:
        """Return the records with other columns, or with more of them.

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
            return Records({name: column[place] for name, column in self._columns.items()})
        row = range(self._length)[place]
        return {name: _to_plain(column[row : row + 1])[0] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self._columns, values, strict=True)) for values in self._rows())

    def _rows(
        self, made: Callable[[list[Any]], list[Any]] = lambda part: part
    ) -> Iterator[tuple[Any, ...]]:
        """The values of each record, made some thousand rows at a time."""
        for start in range(0, self._length, _ROWS):
            parts = [column[start : start + _ROWS] for column in self._columns.values()]
            yield from zip(*(made(_to_plain(part)) for part in parts), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records):
            return NotImplemented
        return self.columns == other.columns and all(
            self.column(name) == other.column(name) for name in self.columns
        )

    def __hash__(self) -> int:
        return hash((self.columns, self._length))

    def __repr__(self) -> str:
        return f"Records({pluralize(self._length, 'row')}: {', '.join(self._columns)})"

    @checked
    def write(self, out: TextIO, form: str) -> None:
        """Write the records in full precision, row by row where the form allows it.

        Parameters
        ----------
        out : text stream
        form : {"csv", "json", "jsonl"}
            In CSV an empty cell stands for None, a list is written as JSON, and a text as
            `csv_text` has it; "json" is one list of objects.

        Raises
        ------
        InputError
            If the form is unknown.
        """
        if form == "csv":
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(map(csv_text, self.columns))
            writer.writerows(self._rows(_csv_cells))
        elif form == "jsonl":
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self)
        elif form == "json":
            out.write(json.dumps(list(self), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            raise InputError(f"there is no format {form!r}", remedy=f"choose {listing(FORMS)}")

    def to_csv(self) -> str:
        """Return one line a record below a head; an empty cell for None."""
        return self._text("csv")

    def to_json(self) -> str:
        """Return a JSON list of objects."""
        return self._text("json")

    def to_jsonl(self) -> str:
        """Return one JSON object a line."""
        return self._text("jsonl")

    def _text(self, form: str) -> str:
        out = io.StringIO()
        self.write(out, form)
        return out.getvalue()

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame with one row a record; None becomes pandas' missing value.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = _imported("pandas", "to_pandas")
        columns = {name: _finite(column) for name, column in self._columns.items()}
        frame: pd.DataFrame = pandas.DataFrame(columns, columns=list(self._columns))
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a DataFrame of polars with one row a record; None becomes null.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        frame: pl.DataFrame = _imported("polars", "to_polars").from_arrow(self.to_arrow())
        return frame

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row a record; None becomes null.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        arrow = _imported("pyarrow", "to_arrow")
        table: pa.Table = arrow.table(
            {
                name: arrow.array(_to_plain(column), _arrow_type(column, arrow))
                for name, column in self._columns.items()
            }
        )
        return table

    def _repr_html_(self) -> str:
        from semmetrics.reports.html import write_records

        return write_records(self.columns, self[:_SHOWN], max(0, len(self) - _SHOWN))


def _imported(package: str, purpose: str) -> Any:
    """Import a package that not every user has."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError(package, purpose, extra="report", error=error) from error


def _finite(column: Any) -> Any:
    """A column as pandas takes it: numbers that are not finite are missing."""
    if not isinstance(column, np.ndarray) or column.dtype.kind != "f":
        return _to_plain(column)
    return np.where(np.isfinite(column), column, np.nan)


def _arrow_type(column: Any, pa: Any) -> Any:
    """The type of a column of floats, which may all be undefined; None where the values tell."""
    return pa.float64() if isinstance(column, np.ndarray) and column.dtype.kind == "f" else None


def _to_plain(column: Any) -> list[Any]:
    """Plain values of a column or a part of it, None for numbers that are not finite."""
    if not isinstance(column, np.ndarray):
        return list(column)
    values: list[Any] = column.tolist()
    if column.dtype.kind == "f":
        for place in np.flatnonzero(~np.isfinite(column)).tolist():
            values[place] = None
    return values


def draw(rows: Rows, form: str = "table") -> str:
    """Draw rows, the first of which is the head, as "table", "csv", "markdown" or "latex".

    Examples
    --------
    >>> print(draw([["measure", "mean"], ["F1", "0.5"]]))
    measure  mean
    F1        0.5
    >>> print(draw([["measure", "mean"], ["F1", "0.5"]], "markdown"))
    | measure | mean |
    |---|---:|
    | F1 | 0.5 |
    """
    return {"table": align, "csv": _csv, "markdown": _markdown, "latex": _latex}[form](rows)


def align(rows: Rows, *, left: bool = False, indent: str = "") -> str:
    """Align columns for a terminal: all but the first to the right, or ``left`` all to the left."""
    rows = _visible(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    place = str.ljust if left else str.rjust
    lines = []
    for first, *rest in rows:
        cells = [place(cell, width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append((indent + "  ".join([first.ljust(widths[0]), *cells])).rstrip())
    return "\n".join(lines)


def _visible(rows: Rows) -> list[list[str]]:
    """Return cells as people may read them."""
    return [list(map(visible, row)) for row in rows]


def csv_text(text: str) -> str:
    r"""Return a text as CSV has it, which runs nothing in a spreadsheet or a terminal.

    What a spreadsheet would compute has an apostrophe before it. Numbers have none, nor names of
    letters, digits, ``.``, ``_`` and ``-`` after a sign, which call nothing.

    Examples
    --------
    >>> [csv_text(one) for one in ("=1+1", "@SUM(A1)", "-0.5", "-4wsuPCjDBc_5", "a\x1b[2J")]
    ["'=1+1", "'@SUM(A1)", '-0.5', '-4wsuPCjDBc_5', 'a\\x1b[2J']
    """
    return f"'{printable(text)}" if _FORMULA.match(text) else printable(text)


def _csv_cells(values: list[Any]) -> list[Any]:
    """Return the values of a column as CSV has them."""
    kinds = set(map(type, values))
    if list not in kinds:
        texts = [value for value in values if isinstance(value, str)]
        if "".join(texts).isprintable() and not _MAY_BE_FORMULA.search("\n".join(texts)):
            return values
    return [
        csv_text(value)
        if isinstance(value, str)
        else _json_cell(value)
        if isinstance(value, list)
        else value
        for value in values
    ]


def _json_cell(value: list[Any]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value).replace("\x7f", "\\u007f")


def _csv(rows: Rows) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(csv_text, row) for row in rows)
    return out.getvalue().rstrip("\n")


def _markdown(rows: Rows) -> str:
    head, *body = [
        [cell.translate(_MARKDOWN).replace("](", "]\\(") for cell in row] for row in _visible(rows)
    ]
    rule = "|" + "".join("---:|" if right else "---|" for right in _right(rows))
    return "\n".join([_bars(head), rule, *map(_bars, body)])


def _right(rows: Rows) -> list[bool]:
    """Tell for each column whether it stands to the right: not the first, and none of names."""
    _, *others = zip(*rows, strict=True)
    named = [
        any(cell[:1].isalpha() and cell not in _NO_NAMES for cell in one[1:]) for one in others
    ]
    return [False, *(not one for one in named)]


def _bars(row: Sequence[str]) -> str:
    return "| " + " | ".join(row) + " |"


def _latex(rows: Rows) -> str:
    head, *body = [" & ".join(map(_tex, row)) + r" \\" for row in _visible(rows)]
    columns = "".join("r" if right else "l" for right in _right(rows))
    begin = rf"\begin{{tabular}}{{{columns}}}"
    return "\n".join(
        [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    )


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)


def check_digits(digits: int) -> None:
    """Refuse a number of digits after the point that a float does not have.

    Examples
    --------
    >>> check_digits(-1)
    Traceback (most recent call last):
    semmetrics.errors.InputError: digits=-1; give 0 to 17
    """
    if not 0 <= digits <= 17:
        raise InputError(f"digits={digits}", remedy="give 0 to 17")


def format_full(value: float) -> str:
    """Write a number in full precision; nothing where it is undefined."""
    return repr(value) if math.isfinite(value) else ""
