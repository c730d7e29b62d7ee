"""Rows of codes, all of one length: found in a table of rows, and counted together.

Conventions
-----------
Codes are whole numbers from 0 below ``width``. Rows are compared two columns at a time, so that
long rows of large codes do not overflow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints

__all__ = ["add_equal_rows", "find_rows"]


def find_rows(table: NDArray[np.integer], asked: NDArray[np.integer], width: int) -> Ints:
    """Where each asked row stands in a table of distinct rows; -1 where it does not.

    Parameters
    ----------
    table : int array, shape (rows, length)
    asked : int array, shape (asked, length)
        A negative code is in no row of the table.
    width : int

    Examples
    --------
    >>> find_rows(np.array([[0, 2], [1, 1]]), np.array([[1, 1], [2, 0], [-1, 2]]), 3).tolist()
    [1, -1, -1]
    """
    if not len(table):
        return np.full(len(asked), -1)
    number, wanted = table[:, 0].astype(np.int64), asked[:, 0].astype(np.int64)
    for column, asks in zip(table.T[1:], asked.T[1:], strict=True):
        keys, number = _numbered(number * width + column)
        known = (wanted >= 0) & (asks >= 0)
        wanted = _find(keys, np.where(known, wanted * width + asks, -1))
    keys, first = np.unique(number, return_index=True)
    place = _find(keys, wanted)
    return np.where(place >= 0, first[place], -1)


def add_equal_rows(
    rows: NDArray[np.integer], counts: Ints, width: int
) -> tuple[NDArray[np.integer], Ints]:
    """The distinct rows, in the order of their first places, and the sum of counts of each.

    Examples
    --------
    >>> rows, counts = add_equal_rows(np.array([[1, 2], [0, 1], [1, 2]]), np.array([3, 4, 5]), 3)
    >>> rows.tolist(), counts.tolist()
    ([[1, 2], [0, 1]], [8, 4])
    """
    number = rows[:, 0].astype(np.int64)
    for column in rows.T[1:]:
        _, number = _numbered(number * width + column)
    _, first, same = np.unique(number, return_index=True, return_inverse=True)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, same.ravel(), counts)
    order = np.argsort(first, kind="stable")
    return rows[first[order]], total[order]


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    distinct, number = np.unique(keys, return_inverse=True)
    return distinct, number.ravel()


def _find(keys: Ints, wanted: Ints) -> Ints:
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)
