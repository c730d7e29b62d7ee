"""The forms that every result has: records for programs, tables for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from semmetrics.arguments import checked
from semmetrics.errors import InputError
from semmetrics.messages import listing, printable
from semmetrics.options import RESULT_FORMATS
from semmetrics.reports.records import Records, align, check_digits, draw

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Report", "ScaledReport", "cells", "draw_signatures"]

_TELLING = ("system", "part", "heading", "group", "statistic")
"""Columns that may tell the rows of a result apart."""


class Report(ABC):
    """A result that is records for programs and a table for people.

    A class has ``to_records`` and ``to_json``, and says what stands in its tables by ``_tables``;
    what a terminal shows below them by ``_lines``.
    """

    @abstractmethod
    def to_records(self) -> Records:
        """Return the rows of ``to_csv`` and ``to_pandas``."""

    @abstractmethod
    def to_json(self) -> str:
        """Write JSON in full precision; null for what is undefined."""

    @abstractmethod
    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return the cells of each table, the head first."""

    def _lines(self, digits: int) -> list[str]:
        """Return what a terminal shows below the tables."""
        return []

    def to_csv(self) -> str:
        """Write the rows of ``to_records`` in full precision; empty cells where undefined."""
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

    @checked
    def to_markdown(self, *, digits: int = 4) -> str:
        """Write Markdown tables."""
        return self._drawn("markdown", digits)

    @checked
    def to_latex(self, *, digits: int = 4) -> str:
        """Write LaTeX tabulars in the style of booktabs."""
        return self._drawn("latex", digits)

    @checked
    def to_text(self, *, digits: int = 4) -> str:
        """Write aligned columns for a terminal, and what is said below them."""
        return self._drawn("table", digits)

    @checked
    def render(self, form: str, *, digits: int = 4) -> str:
        """Write the result as "table", "json", "csv", "markdown" or "latex".

        Raises
        ------
        InputError
            If there is no such format.
        """
        return self._rendered(form, digits)

    def __str__(self) -> str:
        return self._drawn("table", 4)

    def _rendered(self, form: str, digits: int, scale: float = 1.0) -> str:
        if form not in RESULT_FORMATS:
            raise InputError(
                f"there is no format {form!r}", remedy=f"choose {listing(RESULT_FORMATS)}"
            )
        if form == "json":
            return self.to_json()
        return self.to_csv().rstrip("\n") if form == "csv" else self._drawn(form, digits, scale)

    def _drawn(self, form: str, digits: int, scale: float = 1.0) -> str:
        check_digits(digits)
        drawn = "\n\n".join(draw(cells, form) for cells in self._tables(digits, scale))
        lines = list(map(printable, self._lines(digits))) if form == "table" else []
        return "\n".join([*([drawn] if drawn else []), *lines])


class ScaledReport(Report):
    """A result whose values people may read in percent.

    ``scale`` multiplies values in [-1, 1], CIDEr, SPICE and SPIDEr; others stay.
    """

    @checked
    def to_markdown(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write Markdown tables."""
        return self._drawn("markdown", digits, scale)

    @checked
    def to_latex(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write LaTeX tabulars in the style of booktabs."""
        return self._drawn("latex", digits, scale)

    @checked
    def to_text(self, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write aligned columns for a terminal, and what is said below them."""
        return self._drawn("table", digits, scale)

    @checked
    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write the result as "table", "json", "csv", "markdown" or "latex".

        Raises
        ------
        InputError
            If there is no such format.
        """
        return self._rendered(form, digits, scale)


def draw_signatures(report: Report) -> str:
    """Draw the whole signature of each row, beside what tells rows apart."""
    rows = report.to_records()
    names = [name for name in _TELLING if name == "heading"
             or (name in rows.columns and len(set(rows.column(name))) > 1)]  # fmt: skip
    return align([[str(row[name]) for name in (*names, "signature")] for row in rows], left=True)


def cells(records: Records, digits: int) -> list[list[str]]:
    """Return records as cells, the head first: so many digits, nothing for what is undefined."""
    rows = ([_cell(value, digits) for value in record.values()] for record in records)
    return [list(records.columns), *rows]


def _cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    return "" if value is None else str(value)
