"""Cells of tables: numbers written as text, and how good a value is within its row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

TableRows = Sequence[Sequence[str]]
"""The cells of a table, row by row. The first row is the header."""

_RED = (248, 105, 107)
_YELLOW = (255, 235, 132)
_GREEN = (99, 190, 123)
_WORDS_FOR_NUMBERS = ("nan", "inf")


class Graded(str):
    """A cell with the grade of its value among the values of its row."""

    grade: float
    """The position of the value between the worst (0) and the best (1) of the row."""
    mark: str | None = None
    """Letters written as a superscript after the cell. A marked cell is not shaded."""


def grade(texts: Sequence[str], values: Sequence[float], *, higher: bool) -> list[str]:
    """Grade the cells of a row, unless all their values are equal.

    Parameters
    ----------
    texts : sequence of str
        The cells.
    values : sequence of float
        The value of each cell. A cell whose value is not finite is not graded.
    higher : bool
        Whether higher values are better.

    Examples
    --------
    >>> [cell.grade for cell in grade(["0.1", "0.3"], [0.1, 0.3], higher=False)]
    [1.0, 0.0]
    """
    # Values that differ only by rounding errors are equal.
    rounded = [float(f"{value:.12g}") for value in values]
    finite = [value for value in rounded if math.isfinite(value)]
    cells = list(texts)
    if len(set(finite)) < 2:
        return cells
    worst = min(finite)
    best = max(finite)
    if not higher:
        worst, best = best, worst
    for column, value in enumerate(rounded):
        if math.isfinite(value):
            cell = Graded(cells[column])
            cell.grade = abs(value - worst) / abs(best - worst)
            cells[column] = cell
    return cells


def is_best(cell: str) -> TypeGuard[Graded]:
    """Return whether a cell has the best value of its row."""
    return isinstance(cell, Graded) and cell.grade == 1


def is_shaded(cell: str) -> TypeGuard[Graded]:
    """Return whether a cell can have a background color: it has a grade and no mark."""
    return isinstance(cell, Graded) and cell.mark is None


def mark_of(cell: str) -> str:
    """Return the letters of a cell's superscript, or an empty string."""
    if isinstance(cell, Graded) and cell.mark:
        return cell.mark
    return ""


def shade(cell: Graded) -> str:
    """Return the color of a grade as six hexadecimal digits.

    The colors go from red (grade 0) through yellow (0.5) to green (1).
    """
    start = _RED
    end = _YELLOW
    share = 2 * cell.grade
    if cell.grade >= 0.5:
        start = _YELLOW
        end = _GREEN
        share -= 1
    digits = ""
    for low, high in zip(start, end, strict=True):
        level = round(low + share * (high - low))
        digits += f"{level:02X}"
    return digits


def right_aligned(rows: TableRows) -> list[bool]:
    """Return for each column whether it is aligned right.

    The first column and columns that contain names are aligned left.
    """
    columns = list(zip(*rows, strict=True))
    aligned = [False]
    for column in columns[1:]:
        cells = column[1:]
        has_names = any(map(_is_name, cells))
        aligned.append(not has_names)
    return aligned


def _is_name(cell: str) -> bool:
    """Return whether a cell begins with a letter and is not the name of a number."""
    return cell[:1].isalpha() and cell not in _WORDS_FOR_NUMBERS


def format_number(value: float, digits: int = 4) -> str:
    """Format a number with a fixed number of decimals."""
    if math.isfinite(value):
        return f"{value:.{digits}f}"
    return str(value)


def format_full(value: float) -> str:
    """Format a number in full precision, or an undefined one as an empty string."""
    if math.isfinite(value):
        return repr(value)
    return ""


def format_p(p: float) -> str:
    """Format a p-value with four decimals.

    Examples
    --------
    >>> format_p(0.04963), format_p(1.0), format_p(0.00001)
    ('0.0496', '1.0000', '<0.0001')
    """
    if math.isnan(p):
        return ""
    if p < 1e-4:
        return "<0.0001"
    return f"{p:.4f}"
