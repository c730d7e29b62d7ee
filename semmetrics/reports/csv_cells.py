"""Cells of CSV files that no spreadsheet or terminal executes."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from semmetrics.messages import printable
from semmetrics.reports.table_cells import TableRows

# After apostrophes and spaces: an equals sign, or another sign that does not begin a number or a
# name (see `csv_text`).
_FORMULA = re.compile(r"'*\s*(?:=|[+\-@](?![\w.%\-]*(?:[eE]\+\d+)?\Z))")
_MAY_BE_FORMULA = re.compile(r"^'*\s*[=+\-@]", re.MULTILINE)


def csv_text(text: str) -> str:
    r"""Return a string as a CSV cell that no spreadsheet or terminal executes.

    A formula gets a leading apostrophe. Numbers do not, and neither do names that
    begin with a sign and consist of letters, digits, ``.``, ``_`` and ``-``: these
    cannot call a function. Control characters are escaped.

    Examples
    --------
    >>> [csv_text(text) for text in ("=1+1", "@SUM(A1)", "-0.5", "-4wsuPCjDBc_5", "a\x1b[2J")]
    ["'=1+1", "'@SUM(A1)", '-0.5', '-4wsuPCjDBc_5', 'a\\x1b[2J']
    """
    safe_text = printable(text)
    if _FORMULA.match(text):
        return f"'{safe_text}"
    return safe_text


def plain_text(text: str) -> str:
    """Remove the apostrophe that `csv_text` writes before a formula.

    Examples
    --------
    >>> [plain_text(csv_text(text)) for text in ("=1+1", "-0.5", "'tis")]
    ['=1+1', '-0.5', "'tis"]
    """
    if text.startswith("'") and _FORMULA.match(text):
        return text[1:]
    return text


def csv_cells(values: list[Any]) -> list[Any]:
    """Return the values of a column as CSV cells. A list becomes JSON."""
    if _are_safe(values):
        return values
    return [_csv_cell(value) for value in values]


def _are_safe(values: list[Any]) -> bool:
    """Return whether all values can be written as they are, which is quick to check."""
    if list in set(map(type, values)):
        return False
    texts = [value for value in values if isinstance(value, str)]
    if not "".join(texts).isprintable():
        return False
    return _MAY_BE_FORMULA.search("\n".join(texts)) is None


def _csv_cell(value: Any) -> Any:
    """Return a value as a CSV cell."""
    if isinstance(value, str):
        return csv_text(value)
    if isinstance(value, list):
        return _json_of_list(value)
    return value


def _json_of_list(values: list[Any]) -> str:
    """Return a list as JSON without control characters."""
    text = json.dumps(values, ensure_ascii=False)
    if text.isprintable():
        return text
    return json.dumps(values).replace("\x7f", "\\u007f")


def draw_csv(rows: TableRows) -> str:
    """Return the cells of a table as CSV, without a final line break."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow(map(csv_text, row))
    return out.getvalue().rstrip("\n")
