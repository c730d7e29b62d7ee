"""Counts of the rows and columns of 0/1 matrices of items and labels.

Conventions
-----------
Matrices are read in blocks of rows that fit into the processor's cache. Each block is converted to
bytes and checked to contain only 0 and 1. Columns are summed as bytes, at most 255 rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import dense_array
from semmetrics.core.ragged import Floats, Ints, slices
from semmetrics.errors import FROM_0, InputError

_Bytes: TypeAlias = NDArray[np.uint8]

_MAX_ROWS_IN_BYTES = 255  # the largest sum that a byte can represent
_CELLS_PER_BLOCK = 1 << 19


def binary_matrix(values: Any, name: str) -> NDArray[Any]:
    """Return a 0/1 matrix as an array of shape (items, labels). Its values are not checked.

    Raises
    ------
    InputError
        If the matrix does not have two dimensions.
    """
    matrix = dense_array(values, name)
    if matrix.ndim != 2:
        raise InputError(
            "wrong-shape",
            name,
            role="the matrix",
            shape=matrix.shape,
            wanted="items x labels of 0 and 1",
        )
    return matrix


def column_counts(
    pred: NDArray[Any], ref: NDArray[Any], weights: Floats | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Count the hits, the predictions and the references of each label.

    Parameters
    ----------
    pred, ref : arrays, shape (items, labels)
        Matrices of 0 and 1, of any numeric type.
    weights : array, shape (items,), optional

    Returns
    -------
    hits, predictions, references : arrays, shape (labels,)
        int64, or float64 with weights.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1. The message names its row and column.

    Examples
    --------
    >>> counts = column_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [2, 1], [1, 1]]
    """
    n_labels = pred.shape[1]
    n_groups = max(1, _CELLS_PER_BLOCK // (_MAX_ROWS_IN_BYTES * max(1, n_labels)))
    dtype = np.int64 if weights is None else np.float64
    counts: NDArray[Any] = np.zeros((3, n_labels), dtype)
    for block in _read_blocks(pred, ref, n_groups * _MAX_ROWS_IN_BYTES):
        for total, flags in zip(counts, block.flags(), strict=True):
            if weights is None:
                total += _sum_columns(flags)
            else:
                total += weights[block.rows] @ flags
    return counts[0], counts[1], counts[2]


def row_counts(pred: NDArray[Any], ref: NDArray[Any]) -> tuple[Ints, Ints, Ints]:
    """Count the hits, the predictions and the references of each item.

    Parameters
    ----------
    pred, ref : arrays, shape (items, labels)
        Matrices of 0 and 1, of any numeric type.

    Returns
    -------
    hits, predictions, references : int64 arrays, shape (items,)

    Raises
    ------
    InputError
        If a value is neither 0 nor 1. The message names its row and column.

    Examples
    --------
    >>> counts = row_counts(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    >>> [part.tolist() for part in counts]
    [[1, 1], [1, 2], [1, 1]]
    """
    n_items, n_labels = pred.shape
    counts = np.zeros((3, n_items), np.int64)
    for block in _read_blocks(pred, ref, _CELLS_PER_BLOCK // max(1, n_labels)):
        for total, flags in zip(counts, block.flags(), strict=True):
            total[block.rows] = np.count_nonzero(flags.view(np.bool_), axis=1)
    return counts[0], counts[1], counts[2]


class _Block(NamedTuple):
    """Some rows of two 0/1 matrices, as bytes.

    Attributes
    ----------
    rows : slice
    pred, ref : uint8 arrays, shape (rows, labels)
    """

    rows: slice
    pred: _Bytes
    ref: _Bytes

    def flags(self) -> tuple[_Bytes, _Bytes, _Bytes]:
        """Return flags of the hits, the predictions and the references."""
        return self.pred & self.ref, self.pred, self.ref


def _read_blocks(
    pred: NDArray[Any], ref: NDArray[Any], n_rows: int
) -> Iterator[_Block]:
    """Yield blocks of ``n_rows`` rows, and at least one row."""
    for rows in slices(len(pred), n_rows):
        pred_bytes = _as_bytes(pred[rows], "pred", rows.start)
        ref_bytes = _as_bytes(ref[rows], "ref", rows.start)
        yield _Block(rows, pred_bytes, ref_bytes)


def _as_bytes(block: NDArray[Any], name: str, first_row: int) -> _Bytes:
    """Return a block as bytes, after a check that all values are 0 or 1."""
    if block.dtype == np.bool_:
        return np.ascontiguousarray(block).view(np.uint8)
    if block.dtype == np.uint8:
        as_bytes = np.ascontiguousarray(block)
        is_wrong = as_bytes.size > 0 and as_bytes.max() > 1
    else:
        as_bytes = (block == 1).view(np.uint8)
        is_wrong = not np.array_equal(block, as_bytes)
    if is_wrong:
        raise _not_binary_error(block, name, first_row)
    return as_bytes


def _not_binary_error(block: NDArray[Any], name: str, first_row: int) -> InputError:
    """Return the error for the first value that is neither 0 nor 1."""
    row, column = np.argwhere((block != 0) & (block != 1))[0].tolist()
    where = f"{name}, row {first_row + row}, column {column}{FROM_0}"
    value = block[row, column]
    return InputError(
        "out-of-range", where, role="a value", value=value, wanted="0 or 1"
    )


def _sum_columns(block: _Bytes) -> Ints:
    """Sum the columns of a block of 0 and 1.

    Groups of 255 rows are added as bytes first: row i of all groups lies next to each other if the
    block is reshaped, so that all groups are added in one long operation.
    """
    n_labels = block.shape[1]
    n_groups = len(block) // _MAX_ROWS_IN_BYTES
    n_grouped = n_groups * _MAX_ROWS_IN_BYTES
    sums = np.zeros(n_labels, np.int64)
    if n_groups:
        groups = block[:n_grouped].reshape(_MAX_ROWS_IN_BYTES, n_groups * n_labels)
        group_sums = np.add.reduce(groups, axis=0, dtype=np.uint8)
        group_sums = group_sums.reshape(n_groups, n_labels)
        sums += np.add.reduce(group_sums, axis=0, dtype=np.int64)
    sums += np.add.reduce(block[n_grouped:], axis=0, dtype=np.int64)
    return sums
