"""Tables as text: aligned for a terminal, in Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from semmetrics.messages import visible
from semmetrics.reports.csv_cells import draw_csv
from semmetrics.reports.html_tables import draw_html_table, escape_html
from semmetrics.reports.table_cells import (
    TableRows,
    is_best,
    is_shaded,
    mark_of,
    right_aligned,
    shade,
)

_LATEX_ESCAPES = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_MARKDOWN_ESCAPES = str.maketrans(
    {"|": "\\|", "*": "\\*", "`": "\\`", "\\": "\\\\", "<": "&lt;"}
)
_NUMBERS = re.compile(r"(?=.*\d)[-+\d., \[\]]+")  # 0.50 [-0.10, 1.00]
_MINUS = re.compile(r"(?<!\d)-(?=[\d.])")


def draw(
    rows: TableRows, form: str = "table", *, graded: bool = False, caption: str = ""
) -> str:
    """Return a table as text.

    In Markdown, LaTeX and HTML the best graded cells are bold.

    Parameters
    ----------
    rows : sequence of rows
        The first row is the header.
    form : {"table", "csv", "markdown", "latex", "html"}
    graded : bool
        Whether LaTeX and HTML shade all graded cells that have no mark.
    caption : str
        A line below the table, as a comment in LaTeX.

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
    if form == "html":
        table = draw_html_table(rows, shaded=graded)
        below = f"<p>{escape_html(caption)}</p>" if caption else ""
        return f'<meta charset="utf-8">{table}{below}'
    drawers: dict[str, Callable[[TableRows], str]] = {
        "table": align,
        "csv": draw_csv,
        "markdown": _draw_markdown,
        "latex": partial(_draw_latex, shaded=graded),
    }
    table = drawers[form](rows)
    if not caption:
        return table
    if form == "latex":
        return f"{table}\n\n% {visible(caption)}"
    if form == "markdown":
        return f"{table}\n\n{_escape_markdown(caption)}"
    return f"{table}\n\n{visible(caption)}"


# ---- terminal -------------------------------------------------------------------------


def align(rows: TableRows, *, left: bool = False, indent: str = "") -> str:
    """Align the columns of a table for a terminal.

    The first column is aligned left, the others right, or left if ``left``.
    """
    rows = [list(map(visible, row)) for row in rows]
    widths = []
    for column in zip(*rows, strict=True):
        width = max(map(len, column))
        widths.append(width)
    pad = str.ljust if left else str.rjust
    lines = []
    for first_cell, *other_cells in rows:
        cells = [first_cell.ljust(widths[0])]
        for cell, width in zip(other_cells, widths[1:], strict=True):
            cells.append(pad(cell, width))
        line = indent + "  ".join(cells)
        lines.append(line.rstrip())
    return "\n".join(lines)


# ---- Markdown -------------------------------------------------------------------------


def _draw_markdown(rows: TableRows) -> str:
    """Return a table in Markdown, with the best cells in bold."""
    lines = []
    for row in rows:
        cells = " | ".join(map(_markdown_cell, row))
        lines.append(f"| {cells} |")
    rule = "|"
    for is_right in right_aligned(rows):
        rule += "---:|" if is_right else "---|"
    lines.insert(1, rule)
    return "\n".join(lines)


def _markdown_cell(cell: str) -> str:
    text = _escape_markdown(cell)
    if is_best(cell):
        text = f"**{text}**"
    mark = mark_of(cell)
    if mark:
        text += f"<sup>{mark}</sup>"
    return text


def _escape_markdown(text: str) -> str:
    escaped = visible(text).translate(_MARKDOWN_ESCAPES)
    return escaped.replace("](", "]\\(")


# ---- LaTeX ----------------------------------------------------------------------------


def _draw_latex(rows: TableRows, *, shaded: bool) -> str:
    """Return a tabular in the style of booktabs, with the best cells in bold."""
    lines = []
    for row in rows:
        cells = [_latex_cell(cell, shaded=shaded) for cell in row]
        line = " & ".join(cells) + r" \\"
        if row[0].startswith(("[", "*")):
            # Otherwise LaTeX reads it as an argument of the \\ before it.
            line = "{}" + line
        lines.append(line)
    header, *body = lines
    columns = ""
    for is_right in right_aligned(rows):
        columns += "r" if is_right else "l"
    begin = rf"\begin{{tabular}}{{{columns}}}"
    parts = [begin, r"\toprule", header, r"\midrule"]
    parts += body
    parts += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(parts)


def _latex_cell(cell: str, *, shaded: bool) -> str:
    text = _escape_latex(cell)
    if _NUMBERS.fullmatch(text):
        text = _MINUS.sub("$-$", text)
    if is_best(cell):
        text = rf"\textbf{{{text}}}"
    if shaded and is_shaded(cell):
        text = rf"\cellcolor[HTML]{{{shade(cell)}}}{text}"
    mark = mark_of(cell)
    if mark:
        text += f"$^{{{mark}}}$"
    return text


def _escape_latex(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(letter, letter) for letter in visible(text))
