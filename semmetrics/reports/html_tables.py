"""Tables and lists in HTML, as notebooks show them.

The HTML has no scripts and no links, and uses the colors of the notebook. Everything
that comes from a user or a file is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from semmetrics.messages import visible
from semmetrics.reports.table_cells import TableRows, is_best, is_shaded, mark_of, shade

LEFT = ' style="text-align: left"'
RIGHT = ' style="text-align: right"'


def escape_html(text: str) -> str:
    """Escape a string for HTML, and make its control characters visible."""
    from html import escape  # its import takes 1 ms, and most runs do not need it

    return escape(visible(text))


def draw_html_table(
    rows: TableRows, align: str = RIGHT, *, shaded: bool = False
) -> str:
    """Return a table in HTML.

    The first row and the first column are headers. The best graded cells are bold.

    Parameters
    ----------
    rows : sequence of rows
    align : str
        The style attribute of the cells after the first column.
    shaded : bool
        Whether graded cells without a mark get a background color.
    """
    header, *body = rows
    head = _draw_head(header, align)
    lines = ""
    for first_cell, *other_cells in body:
        cells = [_draw_cell(cell, align, shaded=shaded) for cell in other_cells]
        lines += f'<tr><th scope="row"{LEFT}>{escape_html(first_cell)}</th>'
        lines += "".join(cells) + "</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _draw_head(header: Sequence[str], align: str) -> str:
    """Return the cells of the header. The first one is aligned left."""
    head = ""
    style = LEFT
    for name in header:
        head += f'<th scope="col"{style}>{escape_html(name)}</th>'
        style = align
    return head


def _draw_cell(cell: str, align: str, *, shaded: bool) -> str:
    """Return a cell of the body."""
    text = escape_html(cell)
    if is_best(cell):
        text = f"<strong>{text}</strong>"
    mark = mark_of(cell)
    if mark:
        text += f"<sup>{mark}</sup>"
    style = align
    if shaded and is_shaded(cell):
        color = shade(cell)
        style = f' style="text-align: right; background: #{color}; color: black"'
    return f"<td{style}>{text}</td>"


def draw_html_list(lines: Sequence[str]) -> str:
    """Return a bulleted list, or an empty string without lines."""
    if not lines:
        return ""
    items = [f"<li>{escape_html(line)}</li>" for line in lines]
    return f"<ul>{''.join(items)}</ul>"


def fold_html(title: str, content: str) -> str:
    """Return HTML that a reader unfolds with a click on the title."""
    return f"<details><summary>{escape_html(title)}</summary>{content}</details>"
