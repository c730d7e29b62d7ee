"""Transport between as many equal masses on either side: an assignment problem.

Conventions
-----------
Problems lie along the last axis, as in ``core.simplex``. Some optimal plan is then a permutation
(Birkhoff 1946), and potentials prove it like any other plan.

Potentials are looked for in all problems at once. Each row's is put halfway between the two least
of its costs minus the columns' potentials, then each column's halfway between the two least of its
costs minus the rows', and so on, to and fro. These are the messages by which belief propagation
finds a matching (Bayati, Shah, Sharma 2008), with one for a row or column instead of one for a
cell; each step is made a third longer, which needs fewer of them. Where the columns' cheapest rows
are all different, that is the plan. Steps are of 32 bits, the proof of 64.

What is left, such as problems with several best plans, and larger ones go one by one to scipy's
``linear_sum_assignment`` (Crouse 2016), which is exact. It gives no potentials: the gap is 0 on its
word.

References
----------
Bayati, Shah, Sharma, 2008, Max-product for maximum weight matching: convergence, correctness, and
LP duality, IEEE Transactions on Information Theory 54 (3).
Crouse, 2016, On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace
and Electronic Systems 52 (4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.simplex import Solutions, certify, scale_costs

__all__ = ["MAX_TOGETHER", "is_uniform", "solve_singly", "solve_uniform"]

Singles = NDArray[np.float32]

MAX_TOGETHER = 32
"""Rows up to which looking in all problems at once is faster."""
_FEWEST = 4  # rows from which it is faster than the simplex method
_SWEEPS = 3, 2, 2, 3, 4  # to and fro, each number followed by a look at what is solved
_LONGER = np.float32(1.35)
_HALF = np.float32(0.5)
_FAR = np.float32(1 << 60)  # beside scaled costs
_PROVED = 1e-13  # of the largest cost


def is_uniform(rows: Floats, columns: Floats, n_rows: Ints, n_columns: Ints) -> Bools:
    """Return whether all masses of a problem are equal, and as many on both sides.

    Examples
    --------
    >>> side, size = np.full((8, 1), 0.125), np.array([8])
    >>> is_uniform(side, side, size, size).tolist()
    [True]
    """
    uniform: Bools = (n_rows == n_columns) & (n_rows >= _FEWEST)
    for side in (rows, columns):
        np.logical_and(uniform, np.where(side > 0, side, np.inf).min(0) == side.max(0), out=uniform)
    return uniform


def solve_uniform(
    costs: Floats, rows: Floats, columns: Floats, sizes: Ints, _: Ints, largest: Floats
) -> Solutions:
    """Solve a block of small ones. Parameters and result are those of ``solve_simplex``.

    Examples
    --------
    >>> costs = 1.0 - np.eye(3)[::-1, :, None]
    >>> side = np.full((3, 1), 1 / 3)
    >>> solve_uniform(costs, side, side, np.array([3]), np.array([3]), np.array([1.0])).costs
    array([0.])
    """
    m, n = costs.shape[:2]
    real = np.arange(m)[:, None] < sizes
    closed = costs if real.all() else np.where(real[:, None] & real, costs, np.inf)
    column, u = _balance_potentials(costs, real, sizes, largest)
    cells = np.where(real, np.arange(m)[:, None] * n + column, 0)
    found = certify((costs, closed), (rows, columns), (cells, rows, u), largest)
    rest = np.flatnonzero(~(found.gaps <= _PROVED * largest))
    if len(rest):
        few: list[Any] = [costs, rows, columns, sizes, sizes, largest]
        other = solve_singly(*(values.take(rest, -1) for values in few))
        found.costs[rest], found.gaps[rest] = other.costs, other.gaps
    return found


def solve_singly(
    costs: Floats, rows: Floats, columns: Floats, sizes: Ints, _: Ints, largest: Floats
) -> Solutions:
    """Solve problems of any size one by one. Parameters are those of ``solve_simplex``."""
    from scipy.optimize import linear_sum_assignment

    value, tables = np.empty(len(sizes)), np.ascontiguousarray(np.moveaxis(costs, -1, 0))
    for k, (table, size) in enumerate(zip(tables, sizes.tolist(), strict=True)):
        chosen = linear_sum_assignment(table[:size, :size])
        value[k] = sum_in_order(table[chosen] * rows[:size, k])
    return Solutions(value, np.zeros(len(sizes)))


def _balance_potentials(
    costs: Floats, real: Bools, sizes: Ints, largest: Floats
) -> tuple[Ints, Floats]:
    """Return columns of the rows, and row potentials; zeros where none are found."""
    column, potentials = np.zeros(real.shape, np.int64), np.zeros(real.shape)
    table, v = _scaled_table(costs, real, sizes, largest)
    u, mask, number = np.zeros_like(v), real.astype(np.float32), np.arange(len(sizes))
    names, longer = np.arange(len(real), dtype=np.int8)[:, None], np.float32(1)
    for sweeps in _SWEEPS:
        for _ in range(sweeps):
            u += (_two_least(table.swapaxes(0, 1), v)[1] - u) * (longer * mask)
            longer = _LONGER
            best, middle = _two_least(table, u)
            v += (middle - v) * (longer * mask)
        hit = table - u[:, None] == best
        done = hit.any(1).all(0)
        these, left = np.flatnonzero(done), np.flatnonzero(~done)
        column[:, number[these]] = (hit.take(these, -1) * names).max(1)
        potentials[:, number[these]] = u.take(these, -1)
        number = number[left]
        if not len(number):
            break
        table, u, v, mask = (x.take(left, -1) for x in (table, u, v, mask))
    return column, potentials * largest


def _scaled_table(
    costs: Floats, real: Bools, sizes: Ints, largest: Floats
) -> tuple[Singles, Singles]:
    """Return costs from 0 to 1, and the means of columns, with which the search starts.

    Rows and columns that only pad serve each other at no cost, and nobody else.
    """
    table: Singles = scale_costs(costs, largest)
    means = sum_in_order(table) / sizes.astype(np.float32)
    if not real.all():
        table[~(real[:, None] & real)] = _FAR
        same = np.arange(len(real))
        table[same, same] *= real
    return table, means


def _two_least(table: Singles, offset: Singles) -> tuple[Singles, Singles]:
    """Return the least of a table minus offsets along the first axis, and halfway to the second."""
    best, one = table[0] - offset[0], table[1] - offset[1]
    second, worse = np.maximum(best, one), np.empty_like(one)
    np.minimum(best, one, out=best)
    for costs, off in zip(table[2:], offset[2:], strict=True):
        np.subtract(costs, off, out=one)
        np.maximum(best, one, out=worse)
        np.minimum(best, one, out=best)
        np.minimum(second, worse, out=second)
    second += best
    second *= _HALF
    return best, second
