"""Describe an input of any kind, and write such descriptions as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, row_blocks
from semmetrics.errors import Fact
from semmetrics.messages import visible

_MAX_SHOWN_NAMES = 10  # with their counts


# ---- records ------------------------------------------------------------------------------------


def describe_input(
    data: Lists | Matrix, odd: Iterable[Fact], **values_of_kind: Any
) -> dict[str, Any]:
    """Return a record that describes an input.

    Parameters
    ----------
    data : Lists or Matrix
    odd : iterable of Fact
        Notes on probable mistakes.
    **values_of_kind
        Other values of the record, which depend on the kind.

    Returns
    -------
    dict
        "understood", "notes", "items", "ids" (whether items have ids), the values of the kind, and
        "odd". For a matrix also "shape", "dtype" and "range", whose ends are None if they are
        undefined.
    """
    if isinstance(data, Matrix):
        values_of_kind["shape"] = list(data.values.shape)
        values_of_kind["dtype"] = str(data.values.dtype)
        values_of_kind["range"] = _find_range(data)
    return {
        "understood": data.understood,
        "notes": list(map(str, data.notes)),
        "items": len(data),
        "ids": data.has_ids,
        **values_of_kind,
        "odd": list(map(str, odd)),
    }


def _find_range(matrix: Matrix) -> list[float | None]:
    """Return the lowest and the highest value. None is undefined."""
    blocks = matrix_cells(matrix)
    if not blocks:
        return [None, None]
    lowest = min(block.min() for block in blocks)
    highest = max(block.max() for block in blocks)
    return [finite_or_none(float(lowest)), finite_or_none(float(highest))]


def matrix_cells(matrix: Matrix) -> list[Any]:
    """Return the values of a matrix in blocks. A sparse matrix has only the stored values."""
    blocks = []
    for _, rows in row_blocks(matrix.values):
        values = rows
        if not isinstance(rows, np.ndarray):
            values = rows.data
        if values.size:
            blocks.append(values)
    return blocks


def describe_sizes(indptr: Ints) -> dict[str, Any]:
    """Return a record that describes how many entries items have.

    Parameters
    ----------
    indptr : int array, shape (items + 1,)

    Returns
    -------
    dict
        "mean", "std" (None for one item), "min", "max" and "histogram", the number of items with
        0, 1, 2 and more entries.

    Examples
    --------
    >>> describe_sizes(np.array([0, 2, 2]))["histogram"]
    [1, 0, 1]
    """
    from semmetrics.metrics.label_statistics import cardinality

    sizes = cardinality(indptr)
    return {
        "mean": finite_or_none(sizes.mean),
        "std": finite_or_none(sizes.std),
        "min": int(np.flatnonzero(sizes.histogram)[0]),
        "max": len(sizes.histogram) - 1,
        "histogram": sizes.histogram.tolist(),
    }


def finite_or_none(value: float) -> float | None:
    """Return a number as JSON can represent it, with None for nan and infinity."""
    if math.isfinite(value):
        return value
    return None


# ---- text ---------------------------------------------------------------------------------------


def format_item_count(record: Mapping[str, Any]) -> str:
    """Write how many items there are, and what identifies them."""
    key = "position"
    if record["ids"]:
        key = "id"
    return f"{record['items']:,}, known by {key}"


def format_spread(sizes: Mapping[str, Any] | None) -> str:
    """Write the mean, the standard deviation and the range of sizes."""
    if sizes is None:
        return ""
    std = ""
    if sizes["std"] is not None:
        std = f" ({sizes['std']:.2f})"
    span = f"from {sizes['min']:,} to {sizes['max']:,}"
    return f"{sizes['mean']:.2f}{std} mean (std), {span}"


def format_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Write the first names with their counts, and how many others there are."""
    parts = [f"{name} {n:,}" for name, n in counts[:_MAX_SHOWN_NAMES]]
    text = ", ".join(parts)
    n_others = len(counts) - _MAX_SHOWN_NAMES
    if n_others > 0:
        text += f" and {n_others:,} more"
    return text


def format_matrix(record: Mapping[str, Any], items: str, values: str) -> dict[str, str]:
    """Return the lines that describe a matrix.

    Parameters
    ----------
    record : mapping
        From `describe_input`.
    items, values : str
        The names of the lines for items and for values.
    """
    rows, columns = record["shape"]
    low, high = record["range"]
    span = ""
    if low is not None:
        span = f"from {low:g} to {high:g}"
    return {
        items: format_item_count(record),
        "shape": f"{rows:,} x {columns:,}, {record['dtype']}",
        values: span,
    }


def on_one_line(text: str) -> str:
    r"""Return a string on one line, with control characters escaped.

    Examples
    --------
    >>> on_one_line("a\nb\x1b[2J")
    'a b\\x1b[2J'
    """
    line = " ".join(text.splitlines()).replace("\t", " ")
    return visible(line)
