"""Rows of text in the forms of a report: align, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

__all__ = ["FORMS", "draw"]

FORMS = ("table", "csv", "markdown", "latex")
Rows = Sequence[Sequence[str]]


def draw(rows: Rows, form: str = "table") -> str:
    """Rows, of which the first is the head, in one of FORMS; all but the first column to the right.

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
    """Columns for a terminal; ``left`` aligns all of them to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    place = str.ljust if left else str.rjust
    lines = []
    for first, *rest in rows:
        cells = [place(cell, width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append((indent + "  ".join([first.ljust(widths[0]), *cells])).rstrip())
    return "\n".join(lines)


def _csv(rows: Rows) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")


def _markdown(rows: Rows) -> str:
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([_bars(head), rule, *map(_bars, body)])


def _bars(row: Sequence[str]) -> str:
    return "| " + " | ".join(row) + " |"


def _latex(rows: Rows) -> str:
    head, *body = [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    columns = "l" + "r" * (len(rows[0]) - 1)
    begin = rf"\begin{{tabular}}{{{columns}}}"
    return "\n".join(
        [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    )


_TEX = {letter: f"\\{letter}" for letter in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
