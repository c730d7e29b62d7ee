"""Sets of (row, code) cells: membership and first occurrences, for many rows at once.

Conventions
-----------
A cell is ``row * width + code``. A table of all cells is used while it is small enough to stay
in memory caches; sorted cells otherwise, so that cost does not grow with the number of codes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Ints, offsets

__all__ = ["cells", "distinct", "first_occurrences", "members", "occurrence_numbers"]

_TABLE = 1 << 26


def cells(indptr: Ints, codes: NDArray[np.integer], width: int) -> Ints:
    """The cell of each flat element."""
    rows = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64) * width, np.diff(indptr))
    rows += codes
    return rows


def distinct(indptr: Ints, codes: NDArray[np.integer], width: int) -> tuple[Ints, Ints, Ints]:
    """Offsets, the distinct codes of each row in rising order, and how often each occurs.

    Codes lie in [0, width).

    Examples
    --------
    >>> [part.tolist() for part in distinct(np.array([0, 3, 4]), np.array([5, 2, 5, 0]), 6)]
    [[0, 2, 3], [2, 5, 0], [1, 2, 1]]
    """
    keys = cells(indptr, codes, width)
    keys.sort()
    new = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    starts = np.flatnonzero(new)
    times, keys = np.diff(starts, append=len(keys)), keys[starts]
    rows = keys // width  # cheaper than a remainder
    keys -= rows * width
    return offsets(np.bincount(rows, minlength=len(indptr) - 1)), keys, times


def members(keys: Ints, among: Ints, size: int) -> Bools:
    """Whether each key is among the others; all lie in [0, size).

    Examples
    --------
    >>> members(np.array([3, 1]), np.array([1, 2]), 4).tolist()
    [False, True]
    """
    if size <= _TABLE:
        table = np.zeros(size, np.bool_)
        table[among] = True
        found: Bools = table[keys]
        return found
    return np.isin(keys, among)


def first_occurrences(keys: Ints, size: int) -> Bools | None:
    """Whether each key appears for the first time; None where no key is repeated.

    Examples
    --------
    >>> first_occurrences(np.array([3, 1, 3]), 4).tolist()
    [True, True, False]
    """
    if size <= _TABLE:
        table = np.zeros(size, np.bool_)
        table[keys] = True
        if np.count_nonzero(table) == len(keys):
            return None
    else:
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
    first = np.unique(keys, return_index=True)[1]
    flags = np.zeros(len(keys), np.bool_)
    flags[first] = True
    return flags


def occurrence_numbers(keys: Ints) -> Ints:
    """How many equal keys stand before each key.

    Examples
    --------
    >>> occurrence_numbers(np.array([3, 1, 3, 3])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(keys) else order
    run = np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = np.arange(len(keys)) - run
    return numbers
