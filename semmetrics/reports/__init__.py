"""Results and their formats: records for programs, tables, pages and figures for people.

A result defines its records and tables. All formats are derived from these.

==================  ==================================================================
``table_cells``     numbers as text, and grades of the values in a row
``csv_cells``       cells of CSV files
``html_tables``     tables and lists in HTML
``drawing``         tables as text, Markdown, LaTeX, HTML and CSV
``records``         rows of plain values under named columns, in every format
``result``          base classes of results
``page``            reports as HTML pages, with images
``figures``         figures of results
==================  ==================================================================
"""

from semmetrics.reports.csv_cells import csv_text, plain_text
from semmetrics.reports.drawing import align, draw
from semmetrics.reports.records import Records, cells
from semmetrics.reports.result import (
    Result,
    ScaledResult,
    Table,
    comment,
    draw_signatures,
    entries_of,
    entry_of,
)
from semmetrics.reports.table_cells import (
    Graded,
    format_full,
    format_number,
    format_p,
    grade,
)

__all__ = [
    "Graded",
    "Records",
    "Result",
    "ScaledResult",
    "Table",
    "align",
    "cells",
    "comment",
    "csv_text",
    "draw",
    "draw_signatures",
    "entries_of",
    "entry_of",
    "format_full",
    "format_number",
    "format_p",
    "grade",
    "plain_text",
]
