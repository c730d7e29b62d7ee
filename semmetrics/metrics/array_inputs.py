"""Checks of arrays that users pass to functions: scores, 0/1 targets, weights, indices.

Each function converts an argument to an array of a fixed type and shape. It raises an
`InputError` that names the argument, and the row if there is one.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.backend import check_not_masked, dense_array, to_numpy
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.errors import FROM_0, ROW, InputError
from semmetrics.messages import pluralize
from semmetrics.metrics.measure_options import is_cutoff

Weights: TypeAlias = "ArrayLike | None"
"""A weight per item. None means that all items have weight 1."""


def score_matrix(scores: ArrayLike) -> Floats:
    """Return a dense score matrix as float64, shape (items, labels).

    Raises
    ------
    InputError
        If it is not two-dimensional, or contains a NaN. The message names the row.

    Examples
    --------
    >>> score_matrix([[0.5], [float("nan")]])
    Traceback (most recent call last):
    semmetrics.errors.InputError: scores, row 1 (from 0): a score is nan. Expected a number.
    """
    matrix = dense_array(scores, "scores", np.float64)
    if matrix.ndim != 2:
        raise InputError(
            "wrong-shape",
            role="scores",
            shape=matrix.shape,
            wanted="one row for each item: (n, L)",
        )
    check_cells("scores", matrix, np.isnan(matrix), role="a score", wanted="a number")
    return matrix


def target_matrix(targets: ArrayLike, shape: tuple[int, ...]) -> Bools:
    """Return a 0/1 matrix of reference labels as bool.

    Parameters
    ----------
    targets : array-like or scipy.sparse, 0 or 1
    shape : tuple of int
        The shape of the scores, which the targets must have.

    Raises
    ------
    InputError
        If the shape differs, or an entry is neither 0 nor 1. The message names the row.

    Examples
    --------
    >>> target_matrix([[0, 1], [2, 0]], (2, 2))
    Traceback (most recent call last):
    semmetrics.errors.InputError: targets, row 1 (from 0): an entry is 2. Expected 0 or 1.
    """
    table = dense_array(targets, "targets")
    if table.shape != shape:
        raise InputError(
            "wrong-shape",
            role="targets",
            shape=table.shape,
            wanted=f"the shape of the scores, {shape}",
        )
    is_wrong = (table != 0) & (table != 1)
    check_cells("targets", table, is_wrong, role="an entry", wanted="0 or 1")
    return table.astype(np.bool_)


def check_cells(
    name: str, table: NDArray[Any], is_wrong: Bools, *, role: str, wanted: str
) -> None:
    """Raise an error if a cell of a matrix is wrong.

    Parameters
    ----------
    name : str
        The name of the matrix in messages.
    table : array, shape (rows, columns)
    is_wrong : bool array, same shape
    role : str
        The name of a cell in the message, such as "a score".
    wanted : str
        The values that are allowed, such as "a number".

    Raises
    ------
    InputError
        Names the row of the first wrong cell.
    """
    if is_wrong.any():
        row = int(is_wrong.any(axis=1).argmax())
        where = f"{name}, row {row}{FROM_0}"
        value = table[is_wrong][0]
        raise InputError("out-of-range", where, role=role, value=value, wanted=wanted)


def integer_list(values: ArrayLike, name: str) -> Ints:
    """Return a list of integers as an int64 vector.

    Raises
    ------
    InputError
        If it is not a list of integers, or one of them is negative.
    """
    integers = dense_array(values, name)
    if not _is_integer_list(integers):
        wanted = "a list of integers from 0"
        raise InputError("bad-option", name=name, value=integers, wanted=wanted)
    return integers.astype(np.int64)


def _is_integer_list(values: NDArray[Any]) -> bool:
    """Return whether an array is a vector of integers from 0, or an empty vector."""
    if values.ndim != 1:
        return False
    if values.size and values.dtype.kind not in "iu":
        return False
    return bool(values.min(initial=0) >= 0)


def integer_array(values: Any, name: str, size: int | None = None) -> Ints:
    """Return an array of integers as int64.

    Parameters
    ----------
    values : array or tensor, any shape
    name : str
        The name of the array in messages.
    size : int, optional
        If given, the array must be a vector of integers from 0 to ``size - 1``.

    Raises
    ------
    InputError
        If the array is masked, contains anything but integers, or contains an integer
        that is not below ``size``.
    """
    check_not_masked(values, name)
    table = to_numpy(values)
    if table.size and table.dtype.kind not in "iu":
        dtype = table.dtype
        raise InputError("wrong-dtype", role=name, dtype=dtype, wanted="integers")
    if size is not None:
        is_outside = (table < 0) | (table >= size)
        if is_outside.any():
            row = int(np.argwhere(is_outside)[0][0])
            raise InputError(
                "out-of-range",
                f"{name}, {ROW.format(row)}",
                role="the position",
                value=int(table[is_outside][0]),
                wanted=f"one from 0 to {size - 1}",
            )
    return table.astype(np.int64)


def item_weights(weights: Weights, n_items: int) -> Floats:
    """Return the weights of items as float64, shape (n_items,). Default: ones.

    Raises
    ------
    InputError
        If the shape is wrong, or a weight is negative or not finite.
    """
    if weights is None:
        return np.ones(n_items)
    vector = dense_array(weights, "weights", np.float64)
    if vector.shape != (n_items,):
        wanted = pluralize(n_items, "number")
        shape = vector.shape
        raise InputError("wrong-shape", role="weights", shape=shape, wanted=wanted)
    is_wrong = ~(np.isfinite(vector) & (vector >= 0))
    if is_wrong.any():
        value = vector[is_wrong][0]
        wanted = "a finite number from 0"
        raise InputError("out-of-range", role="a weight", value=value, wanted=wanted)
    return vector


def as_cutoffs(k: Any, name: str = "k") -> list[int]:
    """Return one or several cutoffs as a list.

    Raises
    ------
    InputError
        If the list is empty, or contains anything but integers from 1.
    """
    cutoffs = [k]
    if np.iterable(k):
        cutoffs = list(k)
    if not cutoffs or not all(map(is_cutoff, cutoffs)):
        wanted = "a positive integer"
        raise InputError("bad-option", name=name, value=k, wanted=wanted)
    return [int(cutoff) for cutoff in cutoffs]
