"""Results and their forms: records for programs, tables for people.

Conventions
-----------
A record is a row of plain values; None is a value that is undefined or unknown. Undefined and
infinite numbers are None, so that every format can hold them. A result declares its columns and
rows; all formats follow from these.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    TextIO,
    TypeGuard,
    TypeVar,
    cast,
    overload,
)

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.errors import Fact, InputError, render_facts, require
from semmetrics.messages import (
    Spelling,
    keyword,
    listing,
    pluralize,
    printable,
    visible,
)
from semmetrics.options import ENDINGS, RESULT_FORMATS

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

T = TypeVar("T")
FORMS = (*RESULT_FORMATS, "jsonl", "tsv")
_ROWS = 4096  # made at a time
_SHOWN, _LONG = 60, 5000  # by a notebook, and by a report
_TELLING = ("system", "part", "heading", "group", "statistic")  # rows apart
_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}

_MARKDOWN = str.maketrans(
    {"|": "\\|", "*": "\\*", "`": "\\`", "\\": "\\\\", "<": "&lt;"}
)
_FORMULA = re.compile(r"'*\s*(?:=|[+\-@](?![\w.%\-]*(?:[eE]\+\d+)?\Z))")
_MAY_BE_FORMULA = re.compile(r"^'*\s*[=+\-@]", re.MULTILINE)
_NO_NAMES = ("nan", "inf")
_NUMBERS = re.compile(r"(?=.*\d)[-+\d., \[\]]+")  # as tables write them
_SHADES = (248, 105, 107), (255, 235, 132), (99, 190, 123)  # red, yellow, green
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

    def __init__(self, columns: Mapping[str, Any]) -> None:
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            found = f"values by column: {sorted(lengths)}"
            raise InputError("wrong-count", "columns", found=found, wanted="the rows")
        self._columns = dict(columns)
        self._length = lengths.pop() if lengths else 0

    @staticmethod
    def from_rows(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Records:
        """Make records of rows; a row without a column has None there.

        Examples
        --------
        >>> list(Records.from_rows(["a", "b"], [{"a": 1}, {"b": 2, "a": 3}]))
        [{'a': 1, 'b': None}, {'a': 3, 'b': 2}]
        """
        lists: dict[str, list[Any]] = {name: [] for name in columns}
        for row in rows:
            for name, column in lists.items():
                column.append(row.get(name))
        return Records(lists)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._columns)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column.

        Raises
        ------
        InputError
            If there is no such column.
        """
        check_choice("column", name, self.columns)
        return _to_plain(self._columns[name])

    def drop(self, *names: str) -> Records:
        """Return the records without some columns."""
        return Records(
            {name: c for name, c in self._columns.items() if name not in names}
        )

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
            return Records(
                {name: column[place] for name, column in self._columns.items()}
            )
        row = range(self._length)[place]
        return {
            name: _to_plain(column[row : row + 1])[0]
            for name, column in self._columns.items()
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (
            dict(zip(self._columns, values, strict=True)) for values in self._rows()
        )

    def _rows(
        self, make: Callable[[list[Any]], list[Any]] = list
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of each record, converted some thousand rows at a time."""
        for start in range(0, self._length, _ROWS):
            parts = [column[start : start + _ROWS] for column in self._columns.values()]
            yield from zip(*(make(_to_plain(part)) for part in parts), strict=True)

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

    def write(self, out: TextIO, form: str, digits: int = 4) -> None:
        """Write the records; CSV and JSON in full precision, row by row where the form allows it.

        Parameters
        ----------
        out : text stream
        form : {"csv", "tsv", "json", "jsonl", "table", "markdown", "latex", "html"}
            In CSV and TSV an empty cell stands for None, a list is written as JSON, and a text as
            `csv_text` has it; "json" is one list of objects. Or the ending of a file: "tex".
        digits : int
            After the point, in tables for people.

        Raises
        ------
        InputError
            If the form is unknown.
        """
        form = ENDINGS.get(f".{form}", form)
        check_choice("form", form, FORMS)
        if form not in ("csv", "tsv", "json", "jsonl"):
            out.write(draw(cells(self, digits), form) + "\n")
        elif form in ("csv", "tsv"):
            delimiter = "\t" if form == "tsv" else ","
            writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
            writer.writerow(map(csv_text, self.columns))
            writer.writerows(self._rows(_csv_cells))
        elif form == "jsonl":
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self)
        else:
            out.write(
                json.dumps(list(self), indent=1, ensure_ascii=False, allow_nan=False)
                + "\n"
            )

    def to_csv(self) -> str:
        """Return one line a record below a head; an empty cell for None."""
        return self._text("csv")

    def to_json(self) -> str:
        """Return a JSON list of objects."""
        return self._text("json")

    def to_jsonl(self) -> str:
        """Return one JSON object a line."""
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
        """Return the records as a text in a form of ``write``, without the last end of a line.

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
        """Return a DataFrame with one row a record; None becomes pandas' missing value.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", "to_pandas", extra="report")
        columns = {
            name: np.where(np.isfinite(c), c, np.nan) if _is_float(c) else _to_plain(c)
            for name, c in self._columns.items()
        }
        frame: pd.DataFrame = pandas.DataFrame(columns, columns=list(self._columns))
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a DataFrame of polars with one row a record; None becomes null.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        polars = require("polars", "to_polars", extra="report")
        frame: pl.DataFrame = polars.from_arrow(self.to_arrow())
        return frame

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row a record; None becomes null.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        arrow = require("pyarrow", "to_arrow", extra="report")
        # floats may all be undefined; of other columns the values tell the type
        columns = {
            name: arrow.array(_to_plain(c), arrow.float64() if _is_float(c) else None)
            for name, c in self._columns.items()
        }
        table: pa.Table = arrow.table(columns)
        return table

    def __str__(self) -> str:
        return draw(cells(self, 4))

    def _repr_html_(self) -> str:
        hidden = max(0, len(self) - _SHOWN)
        more = f"<p>… and {pluralize(hidden, 'row')} more</p>" if hidden else ""
        return f"<div>{_html_table(cells(self[:_SHOWN], 4), _LEFT)}{more}</div>"


def _is_float(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind == "f"


def _to_plain(column: Any) -> list[Any]:
    """Return plain values of a column or a part of it, None for numbers that are not finite."""
    if not isinstance(column, np.ndarray):
        return list(column)
    values: list[Any] = column.tolist()
    if _is_float(column):
        for place in np.flatnonzero(~np.isfinite(column)).tolist():
            values[place] = None
    return values


def report_date() -> str:
    """Return the day of SOURCE_DATE_EPOCH, or today, in UTC: "2024-02-29".

    Raises
    ------
    InputError
        If SOURCE_DATE_EPOCH is not a number of seconds.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        seconds = time.time() if text is None else int(text)
        return time.strftime("%Y-%m-%d", time.gmtime(seconds))
    except (ValueError, OverflowError, OSError):
        values = {"role": "the number of seconds", "value": text}
        raise InputError("not-a-number", "SOURCE_DATE_EPOCH", **values) from None


class Graded(str):
    """A cell, and where its value stands between the worst (0) and the best (1) of its row."""

    grade: float
    mark: str | None = None
    """Superscript letters behind it, in place of a shade."""


def grade(texts: Sequence[str], values: Sequence[float], *, higher: bool) -> list[str]:
    """Return the cells of a row of unlike values as such; others stay.

    Examples
    --------
    >>> [one.grade for one in grade(["0.1", "0.3"], [0.1, 0.3], higher=False)]
    [1.0, 0.0]
    """
    # What rounding alone tells apart is equal.
    values = [float(f"{value:.12g}") for value in values]
    known = [value for value in values if math.isfinite(value)]
    if len({*known}) < 2:
        return list(texts)
    worst, best = (min(known), max(known))[:: 1 if higher else -1]
    found = list(texts)
    for place, value in enumerate(values):
        if math.isfinite(value):
            found[place] = graded = Graded(found[place])
            graded.grade = abs(value - worst) / abs(best - worst)
    return found


def draw(
    rows: Rows, form: str = "table", *, graded: bool = False, caption: str = ""
) -> str:
    """Draw rows, the first of which is the head, in a form of results; the caption stands below.

    In Markdown, LaTeX and HTML the best of graded cells are bold; ``graded`` shades all of them in
    the last two.

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
    forms = {"table": align, "csv": _csv, "markdown": _markdown, "latex": _latex}
    for cell in (
        cell for row in rows for cell in row if isinstance(cell, Graded) and not graded
    ):
        cell.mark = cell.mark or ""
    if form == "html":
        below = f"<p>{_escape(caption)}</p>" if caption else ""
        return f'<meta charset="utf-8">{_html_table(rows, shaded=True)}{below}'
    escape = {"markdown": _escape_markdown, "latex": _escape_latex}.get(form, visible)
    return "\n\n".join([forms[form](rows), *([escape(caption)] if caption else [])])


def align(rows: Rows, *, left: bool = False, indent: str = "") -> str:
    """Align columns for a terminal: all but the first to the right, or ``left`` all to the left."""
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    place = str.ljust if left else str.rjust
    lines = []
    for first, *rest in rows:
        cells = [
            place(cell, width) for cell, width in zip(rest, widths[1:], strict=True)
        ]
        lines.append((indent + "  ".join([first.ljust(widths[0]), *cells])).rstrip())
    return "\n".join(lines)


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


def plain_text(text: str) -> str:
    """Return a text without the apostrophe that `csv_text` put before it.

    Examples
    --------
    >>> [plain_text(csv_text(one)) for one in ("=1+1", "-0.5", "'tis")]
    ['=1+1', '-0.5', "'tis"]
    """
    return text[1:] if text[:1] == "'" and _FORMULA.match(text) else text


def _csv_cells(values: list[Any]) -> list[Any]:
    """Return the values of a column as CSV has them."""
    if list not in set(map(type, values)):
        texts = [value for value in values if isinstance(value, str)]
        if "".join(texts).isprintable() and not _MAY_BE_FORMULA.search(
            "\n".join(texts)
        ):
            return values
    cells = []
    for value in values:
        if isinstance(value, str):
            value = csv_text(value)
        elif isinstance(value, list):
            text = json.dumps(value, ensure_ascii=False)
            ascii_text = json.dumps(value).replace("\x7f", "\\u007f")
            value = text if text.isprintable() else ascii_text
        cells.append(value)
    return cells


def _csv(rows: Rows) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(csv_text, row) for row in rows)
    return out.getvalue().rstrip("\n")


def _escape_markdown(text: str) -> str:
    return visible(text).translate(_MARKDOWN).replace("](", "]\\(")


def _escape_latex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in visible(text))


def _mark(cell: str, form: str = "<sup>{}</sup>") -> str:
    """Return the letters behind a cell as a format has them."""
    return form.format(cell.mark) if isinstance(cell, Graded) and cell.mark else ""


def _is_shaded(cell: str) -> TypeGuard[Graded]:
    return isinstance(cell, Graded) and cell.mark is None


def _markdown(rows: Rows) -> str:
    def escape(cell: str) -> str:
        text = _escape_markdown(cell)
        return (f"**{text}**" if _is_best(cell) else text) + _mark(cell)

    escaped = [list(map(escape, row)) for row in rows]
    rule = "|" + "".join("---:|" if right else "---|" for right in _right(rows))
    head, *body = ["| " + " | ".join(row) + " |" for row in escaped]
    return "\n".join([head, rule, *body])


def _right(rows: Rows) -> list[bool]:
    """Tell for each column whether it is aligned right: neither the first, nor one of names."""
    aligned = [False]
    for _, *column in list(zip(*rows, strict=True))[1:]:
        aligned.append(
            not any(cell[:1].isalpha() and cell not in _NO_NAMES for cell in column)
        )
    return aligned


def _is_best(cell: str) -> bool:
    return isinstance(cell, Graded) and cell.grade == 1


def _shade(grade: float) -> str:
    """Return a colour from red (0) through yellow (0.5) to green (1) in hexadecimal digits."""
    place, part = divmod(2 * grade, 1) if grade < 1 else (1, 1.0)
    ends = zip(*_SHADES[int(place) : int(place) + 2], strict=True)
    return "".join(f"{round(low + part * (high - low)):02X}" for low, high in ends)


def _latex(rows: Rows) -> str:
    def escape(cell: str) -> str:
        text = _escape_latex(cell)
        if _NUMBERS.fullmatch(text):
            text = re.sub(r"(?<!\d)-(?=[\d.])", "$-$", text)
        text = rf"\textbf{{{text}}}" if _is_best(cell) else text
        shade = rf"\cellcolor[HTML]{{{_shade(cell.grade)}}}" if _is_shaded(cell) else ""
        return shade + text + _mark(cell, "$^{{{}}}$")

    head, *body = [
        "{}" * row[0].startswith(("[", "*")) + " & ".join(map(escape, row)) + r" \\"
        for row in rows  # what stands behind a line's end would be its argument
    ]
    columns = "".join("r" if right else "l" for right in _right(rows))
    above = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*above, *body, r"\bottomrule", r"\end{tabular}"])


def comment(result: object, form: str) -> list[str]:
    """Write what was not computed, and why, as comments of a table; in HTML as paragraphs."""
    forms = {"latex": "% {}", "html": "<p>{}</p>", "markdown": "<!-- {} -->"}
    absent = getattr(result, "not_computed", ()) if form in forms else ()
    lines = [f"not computed: {one.heading} - {one.reason}" for one in absent]
    return [
        forms[form].format(visible(one) if form == "latex" else _escape(one))
        for one in lines
    ]


def format_number(value: float, digits: int = 4) -> str:
    """Write a number with so many digits after the point."""
    return f"{value:.{digits}f}" if math.isfinite(value) else str(value)


def format_full(value: float) -> str:
    """Write a number in full precision; nothing if it is undefined."""
    return repr(value) if math.isfinite(value) else ""


def format_p(p: float) -> str:
    """Write p with four digits after the point.

    Examples
    --------
    >>> format_p(0.04963), format_p(1.0), format_p(0.00001)
    ('0.0496', '1.0000', '<0.0001')
    """
    if math.isnan(p):
        return ""
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def cells(records: Records, digits: int) -> list[list[str]]:
    """Return records as cells, the head first: so many digits, nothing for what is undefined."""

    def shown(value: Any) -> str:
        if isinstance(value, float):
            return format_number(value, digits)
        return "" if value is None else str(value)

    return [list(records.columns), *(list(map(shown, row.values())) for row in records)]


def entries_of(found: Any) -> Any:
    """Return the list of entries in what ``to_json`` wrote and was read; anything else as it is.

    Examples
    --------
    >>> entries_of({"schema": "semmetrics.scores/1", "scores": [1], "notes": []}), entries_of([1])
    ([1], [1])
    """
    if not isinstance(found, Mapping):
        return found
    return found.get(re.sub(r"^semmetrics\.|/1$", "", str(found.get("schema"))), found)


def entry_of(
    record: object, schema: str, columns: Sequence[str], **known: Any
) -> dict[str, Any]:
    """Return a record as JSON has it: a value for each column, null for what is undefined.

    Columns that are not known otherwise are attributes of the record.
    """
    entry: dict[str, Any] = {"schema": schema}
    for name in columns:
        value = known[name] if name in known else getattr(record, name)
        undefined = isinstance(value, float) and not math.isfinite(value)
        entry[name] = None if undefined else value
    return entry


class Result(ABC):
    """A result: records for programs, tables for people.

    A class says what its rows are (``to_records``), what JSON has (``to_dict``, or ``to_dicts`` for
    entries, whose name is ``_of``), what its tables show (``_tables``) and what a terminal shows
    below them (``_lines``). With ``_reads_truth_last`` the last line of ``understood`` is the
    ground truth.
    """

    facts: Sequence[Fact] = ()
    _of: ClassVar[str] = ""
    _reads_truth_last: ClassVar[bool] = False

    @property
    def notes(self) -> list[str]:
        """What is odd in the input, or has no effect."""
        return self.write_notes()

    def write_notes(self, spell: Spelling = keyword) -> list[str]:
        """Write the facts, with options as the caller writes them."""
        return render_facts(self.facts, self._systems(), spell)

    def _systems(self) -> Collection[str]:
        """Return the systems as facts name them; those of many are one line."""
        return ()

    @abstractmethod
    def to_records(self) -> Records:
        """Return the rows of ``to_csv`` and ``to_pandas``."""

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        """Return what ``to_json`` writes: the result, and what is to be known of it."""
        this, schema = cast("Any", self), {"schema": f"semmetrics.{self._of}/1"}
        entry = {**schema, self._of: this.to_dicts()} if self._of else this.to_dict()
        absent = [
            {**vars(one), "value": None} for one in getattr(self, "not_computed", ())
        ]
        understood, notes = (
            list(getattr(self, "understood", ())),
            self.write_notes(spell),
        )
        return {
            **entry,
            "understood": understood,
            "notes": notes,
            "not_computed": absent,
        }

    @abstractmethod
    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return the cells of each table, the head first."""

    def _lines(self, digits: int) -> list[str]:
        """Return what a terminal shows below the tables."""
        return []

    def to_json(self, spell: Spelling = keyword) -> str:
        """Write JSON in full precision; null for what is undefined.

        Beside the result it has what was "understood" of the inputs, "notes" and "not_computed".
        """
        return json.dumps(
            self._entry(spell), indent=1, ensure_ascii=False, allow_nan=False
        )

    def to_csv(self) -> str:
        """Write the rows of ``to_records`` in full precision; empty cells for what is undefined."""
        return self.to_records().to_csv()

    def to_pandas(self) -> pd.DataFrame:
        """Return a DataFrame of ``to_records``; what is undefined is missing.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return self.to_records().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return a DataFrame of polars of ``to_records``; null for what is undefined.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        return self.to_records().to_polars()

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table of ``to_records``; null for what is undefined.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        return self.to_records().to_arrow()

    def to_markdown(self, **shape: Any) -> str:
        """Write Markdown tables; the keywords are those of ``render``."""
        return self.render("markdown", **shape)

    def to_latex(self, **shape: Any) -> str:
        """Write LaTeX tabulars in the style of booktabs; the keywords are those of ``render``."""
        return self.render("latex", **shape)

    def to_text(self, **shape: Any) -> str:
        """Write aligned columns, and remarks below them; the keywords are those of ``render``."""
        return self.render("table", **shape)

    def render(self, form: str, *, digits: int = 4) -> str:
        """Write the result as "table", "json", "csv", "markdown", "latex" or "html".

        Raises
        ------
        InputError
            If the format is unknown.
        """
        return self._render(form, digits)

    def _render(
        self,
        form: str,
        digits: int,
        scale: float = 1.0,
        *,
        graded: bool = False,
        **how: Any,
    ) -> str:
        check_choice("form", form, RESULT_FORMATS)
        if form == "json":
            return self.to_json()
        if form == "csv":
            return self.to_csv().rstrip("\n")
        if not 0 <= digits <= 17:
            raise InputError(
                "bad-option", name="digits", value=digits, wanted="0 to 17"
            )
        make: Any = self._tables
        drawn = "\n\n".join(
            draw(rows, form, graded=graded) for rows in make(digits, scale, **how)
        )
        lines = list(map(printable, self._lines(digits))) if form == "table" else []
        return "\n".join([*([drawn] if drawn else []), *lines, *comment(self, form)])

    def to_html_report(self, path: str | PathLike[str], **how: Any) -> None:
        """Write the report that ``html_report`` returns to a file; the keywords are its own.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        from semmetrics.store.files import open_output

        text = self.html_report(**how)
        with open_output(os.fspath(path)) as out:
            out.write(text)

    def html_report(
        self,
        *,
        title: str | None = None,
        images: str | None = None,
        n: int = 10,
        digits: int = 4,
        scale: float = 1.0,
        date: str | None = None,
    ) -> str:
        """Return a report as one HTML page that loads nothing.

        It has the values, figures, values of labels, the worst and best items, what was undefined,
        left out or not computed, and signatures.

        Parameters
        ----------
        title : str, optional
            The default names the systems.
        images : str, optional
            A folder of images called by the ids of items, or a path with ``{id}`` in it. They are
            shown beside their items as thumbnails of at most 160 pixels.
        n : int
            How many of the worst and of the best items are shown of each system.
        digits : int
        scale : float
        date : str, optional
            The default is the day of the environment variable SOURCE_DATE_EPOCH, or today (UTC).

        Raises
        ------
        MissingDependencyError
            If jinja2, matplotlib or, for images, Pillow is not installed.
        InputError
            If there is no such folder of images.
        """
        from semmetrics.reports import figures, page

        records, tables = self.to_records(), dict[str, Rows]()
        for name, rows in self._details():
            rows = self._scaled(rows, scale)
            first = (
                f" (the first {_LONG:,} of {len(rows):,})" if len(rows) > _LONG else ""
            )
            tables[name + first] = cells(rows[:_LONG], digits)
        named = [name for name in _TELLING if name in records.columns]
        signed = {
            n: records.column(n) for n in (*named, "signature") if n in records.columns
        }
        absent = getattr(self, "not_computed", ())
        shown = [n for n in ("baseline", *named[:1]) if n in records.columns]
        of = dict.fromkeys(name for column in shown for name in records.column(column))
        return page.write_report(
            title=title or f"Report on {listing(of or ['results'], write=str)}",
            about=self._about(date),
            values=self._tables(digits, scale),
            align=_right,
            tables=tables,
            images=images,
            lines=self._sentences() if isinstance(self, Table) else [],
            digits=digits,
            figures={
                name: figures.svg_text(one) for name, one in figures.suiting(self)
            },
            examples={
                name: self._scaled(rows, scale) for name, rows in self._examples(n)
            },
            signatures=cells(Records(signed), digits),
            folded={
                "What was read": getattr(self, "understood", ()),
                "Not computed": [f"{one.heading}: {one.reason}" for one in absent],
                "Notes": self.notes,
            },
        )

    def _about(self, date: str | None) -> list[str]:
        """Return what a report says on top: the date, the number of items, and the ground truth."""
        lines = [f"Written on {date or report_date()} by semmetrics {__version__}."]
        sizes = {
            score.n for score in getattr(self, "scores", ()) if hasattr(score, "n")
        }
        if sizes:
            least, most = min(sizes), max(sizes)
            lines.append(
                f"Items: {most:,}."
                if least == most
                else f"Items: {least:,} to {most:,}."
            )
        inputs = list(getattr(self, "understood", ()))
        if inputs and self._reads_truth_last:
            source, _, how = inputs[-1].partition(": ")
            lines.append(f"Ground truth: {how if ' more' in source else inputs[-1]}.")
        lines.append("The best value of each measure is bold.")
        return lines

    def _scaled(self, rows: Records, scale: float) -> Records:
        """Return records with the values of measures times the scale at which papers print them."""
        scored = (one for one in getattr(self, "scores", ()) if hasattr(one, "heading"))
        scales = {
            one.heading: one.measure.definition.printed_scale(scale) for one in scored
        }
        by = [scales.get(one, 1.0) for one in rows.column("measure")] if scales else []
        return rows.with_columns(
            **{
                name: [
                    value and value * one
                    for value, one in zip(rows.column(name), by, strict=True)
                ]
                for name in ("value", "baseline_value", "difference")
                if by and name in rows.columns
            }
        )

    def _details(self) -> Iterable[tuple[str, Records]]:
        """Return further tables of a report, with their titles."""
        return ()

    def _examples(self, n: int) -> Iterable[tuple[str, Records]]:
        """Return the items of a report, with their titles."""
        return ()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Write the tables of a terminal, and the lines below them."""
        tables = self._tables(4, 1.0)
        shown = "".join(_html_table(rows[: _SHOWN + 1]) for rows in tables)
        hidden = sum(max(0, len(rows) - 1 - _SHOWN) for rows in tables)
        lines = [
            f"… and {pluralize(hidden, 'row')} more" if hidden else "",
            *self._lines(4),
        ]
        return f"<div>{shown}{_html_list([*filter(None, lines)])}</div>"


class ScaledResult(Result):
    """A result whose values people may read in percent.

    ``scale`` multiplies values in [-1, 1], CIDEr, SPICE and SPIDEr; others stay.
    """

    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write the result as "table", "json", "csv", "markdown", "latex" or "html".

        Raises
        ------
        InputError
            If the format is unknown.
        """
        return self._render(form, digits, scale)


class Table(Result, Sequence[T]):
    """A result that is a sequence of entries, each with ``to_dict``: a row of its records.

    A class declares the columns of ``to_records``, and the attribute that has its entries.
    """

    _columns: ClassVar[tuple[str, ...]]

    def _entries(self) -> Sequence[T]:
        """Return the entries in order."""
        entries: Sequence[T] = getattr(self, self._of)
        return entries

    def _find(self, key: Any) -> T:
        """Return the entry of a name."""
        raise TypeError(
            f"{type(self).__name__} indices must be integers or slices, not {key!r}"
        )

    def __len__(self) -> int:
        return len(self._entries())

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries())

    @overload
    def __getitem__(self, key: int | str | tuple[str, ...]) -> T: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[T]: ...

    def __getitem__(self, key: Any) -> T | Sequence[T]:
        is_place = isinstance(key, (int, slice, np.integer))
        return self._entries()[key] if is_place else self._find(key)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each entry as JSON has it: null for what is undefined."""
        return [one.to_dict() for one in self]  # type: ignore[attr-defined]

    def to_records(self) -> Records:
        """Return one row an entry, with the columns that the class lists."""
        return Records.from_rows(self._columns, self.to_dicts())

    @abstractmethod
    def _sentences(self) -> list[str]:
        """Say in words what the table shows."""

    def _lines(self, digits: int) -> list[str]:
        lines = self._sentences()
        return ["", *lines] if len(self) and lines else lines


def draw_signatures(rows: Records) -> str:
    """Draw the signature of each row of a result that has one, beside what tells rows apart."""
    names = [
        name
        for name in _TELLING
        if name == "heading"
        or (name in rows.columns and len(set(rows.column(name))) > 1)
    ]
    signed = [row for row in rows if row["signature"]]
    return align(
        [[str(row[name]) for name in (*names, "signature")] for row in signed],
        left=True,
    )


# ---- as notebooks show them -------------------------------------------------------------------
# HTML without scripts or links, in the colours of the notebook. Everything that a user or
# a file named is escaped. The best values of a row are bold where there are several systems.

_LEFT, _RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def _escape(text: str) -> str:
    from html import escape  # 1 ms that most runs do without

    return escape(visible(text))


def write_table(
    rows: Rows, scores: Sequence[Any], lines: Sequence[str], undefined: Records
) -> str:
    """Write the cells of a table of scores, lines, and folded what is undefined, and signatures."""
    below = [_html_list(lines)]
    if undefined:
        below.append(_fold("undefined", _html_table(cells(undefined, 4), _LEFT)))
    signed = [[one.system, one.heading, one.signature] for one in scores]
    head = ["system", "measure", "signature"]
    below.append(_fold("signatures", _html_table([head, *signed], _LEFT)))
    return f"<div>{_html_table(rows)}{''.join(below)}</div>"


def _html_list(lines: Sequence[str]) -> str:
    return (
        f"<ul>{''.join(f'<li>{_escape(line)}</li>' for line in lines)}</ul>"
        if lines
        else ""
    )


def _html_table(rows: Rows, align: str = _RIGHT, *, shaded: bool = False) -> str:
    """Draw rows, the first of which is the head; the first of a row is its head, too.

    The best are bold.
    """
    head, *below = rows

    def draw_cell(cell: str) -> str:
        text, style = _escape(cell), align
        if shaded and _is_shaded(cell):
            shade = f"background: #{_shade(cell.grade)}; color: black"
            style = f' style="text-align: right; {shade}"'
        text = f"<strong>{text}</strong>" if _is_best(cell) else text
        return f"<td{style}>{text}{_mark(cell)}</td>"

    top = "".join(
        f'<th scope="col"{align if place else _LEFT}>{_escape(one)}</th>'
        for place, one in enumerate(head)
    )
    body = "".join(
        f'<tr><th scope="row"{_LEFT}>{_escape(first)}</th>{"".join(map(draw_cell, rest))}</tr>'
        for first, *rest in below
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _fold(title: str, inside: str) -> str:
    return f"<details><summary>{_escape(title)}</summary>{inside}</details>"
