"""Results: base classes that turn the records and tables of a class into all formats."""

from __future__ import annotations

import json
import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast, overload

import numpy as np

from semmetrics._version import __version__
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.messages import (
    Spelling,
    keyword,
    listing,
    pluralize,
    printable,
    visible,
)
from semmetrics.options import RESULT_FORMATS, format_hint
from semmetrics.reports.drawing import align, draw
from semmetrics.reports.html_tables import draw_html_list, draw_html_table, escape_html
from semmetrics.reports.records import MAX_NOTEBOOK_ROWS, Records, cells
from semmetrics.reports.table_cells import TableRows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

T = TypeVar("T")
_MAX_REPORT_ROWS = 5000
_ROW_NAMES = ("system", "part", "heading", "group", "statistic")
"""The columns that tell the rows of a result apart."""
_SCALED_COLUMNS = ("value", "baseline_value", "difference")


class Result(ABC):
    """A result: records for programs, tables for people.

    A subclass defines its rows (``to_records``) and its tables (``_tables``). It also
    defines its JSON: either ``to_dict``, or ``to_dicts`` for a list of entries, with the
    name of that list in ``_of``. It may define the lines that a terminal shows below
    the tables (``_lines``), and further parts of a report (``_details``, ``_examples``).
    If ``_reads_truth_last``, the last line of ``understood`` is about the ground truth.
    """

    facts: Sequence[Fact] = ()
    _of: ClassVar[str] = ""
    _reads_truth_last: ClassVar[bool] = False

    # ---- methods for subclasses to define ---------------------------------------------

    @abstractmethod
    def to_records(self) -> Records:
        """Return the rows of ``to_csv`` and ``to_pandas``."""

    @abstractmethod
    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return the cells of each table, with the header first."""

    def _lines(self, digits: int) -> list[str]:
        """Return the lines that a terminal shows below the tables."""
        return []

    def _systems(self) -> Collection[str]:
        """Return the names of systems in facts. A fact about all systems becomes one note."""
        return ()

    def _details(self) -> Iterable[tuple[str, Records]]:
        """Return further tables of a report, with their titles."""
        return ()

    def _examples(self, n: int) -> Iterable[tuple[str, Records]]:
        """Return the items that a report shows, with their titles."""
        return ()

    # ---- notes ------------------------------------------------------------------------

    @property
    def notes(self) -> list[str]:
        """Unusual properties of the input, and options without an effect."""
        return self.write_notes()

    def write_notes(self, spell: Spelling = keyword) -> list[str]:
        """Return the notes, with options spelled as in Python or on the command line."""
        return render_facts(self.facts, self._systems(), spell)

    # ---- formats ----------------------------------------------------------------------

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        """Return the object that ``to_json`` writes."""
        result = cast("Any", self)  # a subclass defines to_dicts or to_dict
        entry: dict[str, Any]
        if self._of:
            schema = f"semmetrics.{self._of}/1"
            entry = {"schema": schema, self._of: result.to_dicts()}
        else:
            entry = dict(result.to_dict())
        not_computed = []
        for measure in _not_computed(self):
            not_computed.append({**vars(measure), "value": None})
        entry["understood"] = _understood(self)
        entry["notes"] = self.write_notes(spell)
        entry["not_computed"] = not_computed
        return entry

    def to_json(self, spell: Spelling = keyword) -> str:
        """Return the result as JSON in full precision. Undefined values are null.

        The JSON also contains how the inputs were read ("understood"), the "notes", and
        the measures that were "not_computed".
        """
        entry = self._entry(spell)
        return json.dumps(entry, indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """Return the rows of ``to_records`` as CSV in full precision.

        Undefined values are empty cells.
        """
        return self.to_records().to_csv()

    def to_pandas(self) -> pd.DataFrame:
        """Return ``to_records`` as a pandas DataFrame. Undefined values are missing.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return self.to_records().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return ``to_records`` as a polars DataFrame. Undefined values are null.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        return self.to_records().to_polars()

    def to_arrow(self) -> pa.Table:
        """Return ``to_records`` as an Arrow table. Undefined values are null.

        Raises
        ------
        MissingDependencyError
            If pyarrow is not installed.
        """
        return self.to_records().to_arrow()

    def to_markdown(self, **shape: Any) -> str:
        """Return Markdown tables. Takes the keywords of ``render``."""
        return self.render("markdown", **shape)

    def to_latex(self, **shape: Any) -> str:
        """Return LaTeX tables in the style of booktabs. Takes the keywords of ``render``."""
        return self.render("latex", **shape)

    def to_text(self, **shape: Any) -> str:
        """Return aligned columns with notes below. Takes the keywords of ``render``."""
        return self.render("table", **shape)

    def render(self, form: str, *, digits: int = 4) -> str:
        """Return the result as "table", "json", "csv", "markdown", "latex" or "html".

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
        **table_options: Any,
    ) -> str:
        if form not in RESULT_FORMATS:
            raise InputError(
                "bad-choice",
                name="form",
                value=form,
                choices=RESULT_FORMATS,
                hint=f" {format_hint(str(form))}",
            )
        if form == "json":
            return self.to_json()
        if form == "csv":
            return self.to_csv().rstrip("\n")
        if not 0 <= digits <= 17:
            raise InputError(
                "bad-option", name="digits", value=digits, wanted="0 to 17"
            )
        tables = []
        for rows in self._tables(digits, scale, **table_options):
            tables.append(draw(rows, form, graded=graded))
        parts = []
        drawn = "\n\n".join(tables)
        if drawn:
            parts.append(drawn)
        if form == "table":
            parts += map(printable, self._lines(digits))
        parts += comment(self, form)
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the tables and lines of the terminal, as a notebook shows them."""
        html = ""
        n_hidden = 0
        for rows in self._tables(4, 1.0):
            html += draw_html_table(rows[: MAX_NOTEBOOK_ROWS + 1])
            n_hidden += max(0, len(rows) - 1 - MAX_NOTEBOOK_ROWS)
        lines = []
        if n_hidden:
            lines.append(f"… and {pluralize(n_hidden, 'row')} more")
        lines += filter(None, self._lines(4))
        return f"<div>{html}{draw_html_list(lines)}</div>"

    # ---- HTML report ------------------------------------------------------------------

    def to_html_report(self, path: str | PathLike[str], **how: Any) -> None:
        """Write the report of ``html_report`` to a file. Takes the keywords of that method.

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
        """Return a report as one HTML page that loads nothing from elsewhere.

        The report contains the values, figures, values of labels, the worst and best
        items, counts of undefined values, the labels and measures that were left out,
        and signatures.

        Parameters
        ----------
        title : str, optional
            Default: a title that names the systems.
        images : str, optional
            A folder of images named by the ids of items, or a path that contains
            ``{id}``. The images are shown next to their items, as thumbnails of at most
            160 pixels.
        n : int
            The number of best and of worst items per system.
        digits : int
            The number of decimals.
        scale : float
            Multiplies the values of measures in [-1, 1].
        date : str, optional
            Default: the day of the environment variable SOURCE_DATE_EPOCH, or today
            (UTC).

        Raises
        ------
        MissingDependencyError
            If jinja2, matplotlib or, for images, Pillow is not installed.
        InputError
            If the folder of images does not exist.
        """
        from semmetrics.reports import figures, page

        records = self.to_records()
        tables = self._report_tables(digits, scale)
        about = self._about(date)
        values = self._tables(digits, scale)
        lines = self._report_sentences()
        svg_by_name = {}
        for name, display in figures.iter_suitable(self):
            svg_by_name[name] = figures.svg_text(display)
        examples = {}
        for name, items in self._examples(n):
            examples[name] = self._scaled(items, scale)
        not_computed = []
        for measure in _not_computed(self):
            not_computed.append(f"{measure.heading}: {measure.reason}")
        content = page.ReportContent(
            title=title or _default_title(records),
            about=about,
            values=values,
            lines=lines,
            figures=svg_by_name,
            examples=examples,
            tables=tables,
            signatures=_signature_cells(records, digits),
            understood=_understood(self),
            not_computed=not_computed,
            notes=self.notes,
        )
        return page.write_report(content, images=images, digits=digits)

    def _report_tables(self, digits: int, scale: float) -> dict[str, TableRows]:
        """Return the cells of the further tables of a report, by their titles."""
        tables: dict[str, TableRows] = {}
        for title, records in self._details():
            scaled = self._scaled(records, scale)
            n_rows = len(scaled)
            if n_rows > _MAX_REPORT_ROWS:
                title += f" (the first {_MAX_REPORT_ROWS:,} of {n_rows:,})"
            tables[title] = cells(scaled[:_MAX_REPORT_ROWS], digits)
        return tables

    def _report_sentences(self) -> list[str]:
        """Return the sentences that a report has below the values."""
        return []

    def _about(self, date: str | None) -> list[str]:
        """Return the first lines of a report: date, number of items, ground truth."""
        lines = [f"Written on {date or report_date()} by semmetrics {__version__}."]
        sizes = set()
        for score in getattr(self, "scores", ()):
            if hasattr(score, "n"):
                sizes.add(score.n)
        if len(sizes) == 1:
            lines.append(f"Items: {max(sizes):,}.")
        elif sizes:
            lines.append(f"Items: {min(sizes):,} to {max(sizes):,}.")
        inputs = _understood(self)
        if inputs and self._reads_truth_last:
            truth = inputs[-1]
            source, _, description = truth.partition(": ")
            if " more" in source:  # the line is about several files
                truth = description
            lines.append(f"Ground truth: {truth}.")
        lines.append("The best value of each measure is bold.")
        return lines

    def _scaled(self, rows: Records, scale: float) -> Records:
        """Multiply the values of measures by the scale at which papers print them."""
        scale_of_measure = {}
        for score in getattr(self, "scores", ()):
            if hasattr(score, "heading"):
                definition = score.measure.definition
                scale_of_measure[score.heading] = definition.printed_scale(scale)
        if not scale_of_measure:
            return rows
        scales = [scale_of_measure.get(name, 1.0) for name in rows.column("measure")]
        columns = {}
        for name in _SCALED_COLUMNS:
            if scales and name in rows.columns:
                columns[name] = _multiply(rows.column(name), scales)
        return rows.with_columns(**columns)


class ScaledResult(Result):
    """A result whose values can be printed in percent.

    ``scale`` multiplies values in [-1, 1], CIDEr, SPICE and SPIDEr, but no others.
    """

    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Return the result as "table", "json", "csv", "markdown", "latex" or "html".

        Raises
        ------
        InputError
            If the format is unknown.
        """
        return self._render(form, digits, scale)


class Table(Result, Sequence[T]):
    """A result that is a sequence of entries. Each entry is a row and has ``to_dict``.

    A subclass defines the columns of ``to_records`` (``_columns``), and the name of the
    attribute that contains its entries (``_of``).
    """

    _columns: ClassVar[tuple[str, ...]]

    def _entries(self) -> Sequence[T]:
        """Return the entries in order."""
        entries: Sequence[T] = getattr(self, self._of)
        return entries

    def _find(self, key: Any) -> T:
        """Return the entry with a name."""
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
        if isinstance(key, slice):
            return self._entries()[key]
        if isinstance(key, (int, np.integer)):
            return self._entries()[int(key)]
        return self._find(key)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each entry as in JSON, with None for undefined values."""
        return [entry.to_dict() for entry in self]  # type: ignore[attr-defined]

    def to_records(self) -> Records:
        """Return one row per entry."""
        return Records.from_rows(self._columns, self.to_dicts())

    @abstractmethod
    def _sentences(self) -> list[str]:
        """Return sentences that describe the results."""

    def _report_sentences(self) -> list[str]:
        return self._sentences()

    def _lines(self, digits: int) -> list[str]:
        lines = self._sentences()
        if len(self) and lines:
            return ["", *lines]
        return lines


# ---- parts of results -----------------------------------------------------------------


def _not_computed(result: object) -> Sequence[Any]:
    """Return the measures that were not computed, if the result has such a list."""
    measures: Sequence[Any] = getattr(result, "not_computed", ())
    return measures


def _understood(result: object) -> list[str]:
    """Return descriptions of how the inputs were read, if the result has them."""
    return list(getattr(result, "understood", ()))


def comment(result: object, form: str) -> list[str]:
    """Return comments for a table that name the measures not computed, with the reason.

    The comments are paragraphs in HTML. Formats other than LaTeX, HTML and Markdown have
    no comments.
    """
    if form not in ("latex", "html", "markdown"):
        return []
    comments = []
    for measure in _not_computed(result):
        line = f"not computed: {measure.heading} - {measure.reason}"
        if form == "latex":
            comments.append(f"% {visible(line)}")
        elif form == "html":
            comments.append(f"<p>{escape_html(line)}</p>")
        else:
            comments.append(f"<!-- {escape_html(line)} -->")
    return comments


def draw_signatures(rows: Records) -> str:
    """Return a table with the signature of each row that has one."""
    names = []
    for name in _ROW_NAMES:
        has_several_values = name in rows.columns and len(set(rows.column(name))) > 1
        if has_several_values or name == "heading":
            names.append(name)
    names.append("signature")
    lines = []
    for row in rows:
        if row["signature"]:
            lines.append([str(row[name]) for name in names])
    return align(lines, left=True)


def _signature_cells(records: Records, digits: int) -> list[list[str]]:
    """Return the signature of each record and the columns that tell records apart."""
    columns = {}
    for name in (*_ROW_NAMES, "signature"):
        if name in records.columns:
            columns[name] = records.column(name)
    return cells(Records(columns), digits)


def _default_title(records: Records) -> str:
    """Return a title of a report that names the systems."""
    # The first of these columns has the systems, or what a result has in place of systems.
    columns = [name for name in _ROW_NAMES if name in records.columns]
    system_columns = columns[:1]
    if "baseline" in records.columns:
        system_columns.insert(0, "baseline")
    systems: dict[str, None] = {}
    for column in system_columns:
        systems |= dict.fromkeys(records.column(column))
    names = list(systems) or ["results"]
    return f"Report on {listing(names, write=str)}"


def _multiply(values: Sequence[Any], factors: Sequence[float]) -> list[Any]:
    """Multiply each value by its factor. Values that are None or 0 stay as they are."""
    products = []
    for value, factor in zip(values, factors, strict=True):
        if value:
            value = value * factor
        products.append(value)
    return products


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
        raise InputError(
            "not-a-number",
            "SOURCE_DATE_EPOCH",
            role="the number of seconds",
            value=text,
        ) from None


# ---- entries in JSON ------------------------------------------------------------------


def entry_of(
    record: object, schema: str, columns: Sequence[str], **known: Any
) -> dict[str, Any]:
    """Return a record as a JSON object, with None for undefined numbers.

    Parameters
    ----------
    record : object
    schema : str
        The name and version of the format.
    columns : sequence of str
        The keys. Their values are attributes of the record, or ``known``.
    **known
        Values that the record does not have, or that replace its attributes.
    """
    entry: dict[str, Any] = {"schema": schema}
    for name in columns:
        value = known[name] if name in known else getattr(record, name)
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        entry[name] = value
    return entry


def entries_of(parsed: Any) -> Any:
    """Return the list of entries in parsed output of ``to_json``.

    Other values are returned unchanged.

    Examples
    --------
    >>> entries_of({"schema": "semmetrics.scores/1", "scores": [1], "notes": []}), entries_of([1])
    ([1], [1])
    """
    if not isinstance(parsed, Mapping):
        return parsed
    schema = str(parsed.get("schema"))
    name_of_list = re.sub(r"^semmetrics\.|/1$", "", schema)
    return parsed.get(name_of_list, parsed)
