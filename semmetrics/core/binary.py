"""Counts of 0/1 matrices of items x labels, without copies of the matrix.

Conventions
-----------
Matrices are read in blocks that stay in the processor's cache; each block is checked to hold
nothing but 0 and 1, and its columns are added in bytes, 255 rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import FROM_0, InputError

__all__ = ["column_counts", "binary_matrix", "row_counts"]

_GROUP = 255  # so many ones fit a byte
_CELLS = 1 << 19


def binary_matrix(values: Any, name: str) -> NDArray[Any]:
    """Return a 0/1 matrix as an array of shape (items, labels).

    Raises
    ------
    InputError
        If it has another shape or holds no numbers.
    """
    try:
        table = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InputError(f"{name} is no matrix", remedy="give items x labels of 0 and 1") from None
    if table.ndim != 2:
        raise InputError(f"{name} has shape {table.shape}", remedy="give items x labels of 0 and 1")
    if table.dtype.kind not in "biuf":
        raise InputError(f"{name} holds {table.dtype}", remedy="give items x labels of 0 and 1")
    return table


def _bytes(table: NDArray[Any], name: str, start: int) -> NDArray[np.uint8]:
    """Return a block as bytes, checked to be 0/1."""
    if table.dtype == np.bool_:
        return np.ascontiguousarray(table).view(np.uint8)
    if table.dtype == np.uint8:
        small = np.ascontiguousarray(table)
        wrong = small.size > 0 and small.max() > 1
    else:
        small = (table == 1).view(np.uint8)
        wrong = not np.array_equal(table, small)
    if wrong:
        row, column = np.argwhere((table != 0) & (table != 1))[0].tolist()
        raise InputError(
            f"{name} holds {table[row, column]} at row {start + row}, column {column}{FROM_0}",
            remedy="give 0 and 1 (decode scores first)",
        )
    return small


def _blocks(
    pred: NDArray[Any], ref: NDArray[Any], rows: int
) -> Iterator[tuple[slice, NDArray[np.uint8], NDArray[np.uint8]]]:
    for start in range(0, len(pred), rows):
        part = slice(start, start + rows)
        yield part, _bytes(pred[part], "pred", start), _bytes(ref[part], "ref", start)


def _sum_columns(block: NDArray[np.uint8]) -> Ints:
    """Sum columns: whole groups of rows are added side by side, in bytes."""
    width = block.shape[1]
    side = len(block) // _GROUP
    total = np.zeros(width, np.int64)
    if side:
        groups = block[: side * _GROUP].reshape(_GROUP, side * width)
        bytes_ = np.add.reduce(groups, axis=0, dtype=np.uint8)
        total += np.add.reduce(bytes_.reshape(side, width), axis=0, dtype=np.int64)
    total += np.add.reduce(block[side * _GROUP :], axis=0, dtype=np.int64)
    return total


def column_counts(
    pred: NDArray[Any], ref: NDArray[Any], weights: Floats | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count hits, predictions and references of each label.

    Parameters
    ----------
    pred, ref : arrays, shape (items, labels)
        0/1 of any numeric type.
    weights : array, shape (items,), optional

    Returns
    -------
    three arrays, shape (labels,)
        int64, or float64 with weights.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1; names row and column.

    Examples
    --------
    >>> counts = column_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [2, 1], [1, 1]]
    """
    width = pred.shape[1]
    side = max(1, _CELLS // (_GROUP * max(1, width)))
    kind = np.int64 if weights is None else np.float64
    total = np.zeros((3, width), kind)
    for part, mine, theirs in _blocks(pred, ref, side * _GROUP):
        for place, block in enumerate((mine & theirs, mine, theirs)):
            total[place] += _sum_columns(block) if weights is None else weights[part] @ block
    return total[0], total[1], total[2]


def row_counts(pred: NDArray[Any], ref: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Count hits, predictions and references of each item; three int64 arrays of shape (items,).

    Examples
    --------
    >>> counts = row_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [1, 2], [1, 1]]
    """
    total = np.zeros((3, len(pred)), np.int64)
    rows = max(1, _CELLS // max(1, pred.shape[1]))
    for part, mine, theirs in _blocks(pred, ref, rows):
        for place, block in enumerate((mine & theirs, mine, theirs)):
            total[place, part] = np.count_nonzero(block.view(np.bool_), axis=1)
    return total[0], total[1], total[2]
