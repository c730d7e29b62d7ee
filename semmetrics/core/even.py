"""Transport between as many equal masses on either side: an assignment problem.

Conventions
-----------
Problems lie along the last axis, as in ``core.simplex``. Some optimal plan is then a permutation
(Birkhoff 1946), found by scipy's ``linear_sum_assignment`` (Crouse 2016). It gives no potentials;
they are shortest distances between rows, where row i is reached from row l at the cost of serving
l's column instead of l (Bellman 1958; in alternating order, Yen 1970), and prove the plan like
any other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.simplex import Solved, proved

__all__ = ["LEAST", "are_even", "solve_even"]

LEAST = 8
"""Rows from which it is faster than the simplex method."""
_KEPT = 0.7  # problems whose potentials stand are taken out when fewer than these are left
_CELLS = 1 << 17  # looked at together: they stay in a cache
_SAME = 1e-14  # of the largest cost: a potential changes by more, or not at all


def are_even(rows: Floats, columns: Floats, n_rows: Ints, n_columns: Ints) -> Bools:
    """Whether all masses of a problem are equal, and as many on both sides.

    Examples
    --------
    >>> side, size = np.full((8, 1), 0.125), np.array([8])
    >>> are_even(side, side, size, size).tolist()
    [True]
    """
    even: Bools = (n_rows == n_columns) & (n_rows >= LEAST)
    for side in (rows, columns):
        np.logical_and(even, np.where(side > 0, side, np.inf).min(0) == side.max(0), out=even)
    return even


def solve_even(
    costs: Floats, rows: Floats, columns: Floats, sizes: Ints, _: Ints, largest: Floats
) -> Solved:
    """Solve a block of such problems; what it takes and gives is that of ``simplex.solve``.

    Examples
    --------
    >>> costs = 1.0 - np.eye(3)[::-1, :, None]
    >>> side = np.full((3, 1), 1 / 3)
    >>> solve_even(costs, side, side, np.array([3]), np.array([3]), np.array([1.0])).costs
    array([0.])
    """
    from scipy.optimize import linear_sum_assignment

    m, n = costs.shape[:2]
    tables = np.ascontiguousarray(np.moveaxis(costs, -1, 0))
    found = [
        linear_sum_assignment(table[:size, :size])[1]
        for table, size in zip(tables, sizes.tolist(), strict=True)
    ]
    real = np.arange(m)[:, None] < sizes
    chosen = np.zeros((len(sizes), m), np.int64)
    chosen[real.T] = np.concatenate(found)
    column = np.ascontiguousarray(chosen.T)
    closed = costs if real.all() else np.where(real[:, None] & (columns > 0), costs, np.inf)
    cells = np.where(real, np.arange(m)[:, None] * n + column, 0)
    u, step = np.zeros((m, len(sizes))), max(1, _CELLS // (m * n))
    for start in range(0, len(sizes), step):
        part = slice(start, start + step)
        u[:, part] = _potentials(costs[..., part], column[:, part], real[:, part], largest[part])
    return proved((costs, closed), (rows, columns), (cells, rows, u), largest)


def _potentials(costs: Floats, column: Ints, real: Bools, largest: Floats) -> NDArray[np.float64]:
    """Row potentials under which no cell is cheaper than the chosen one of its column."""
    m, size = column.shape
    number, row = np.arange(size), np.arange(m)[:, None]
    steps = costs[row, column[:, None], number]  # from the first to the second axis
    steps -= costs[row, column, number][:, None]
    if not real.all():
        steps[~(real[:, None] & real)] = np.inf
    found, u = np.zeros((m, size)), np.zeros((m, size))
    for sweep in range(m):
        before, u = u, u.copy()
        for one in range(m)[:: -1 if sweep % 2 else 1]:  # to and fro, which halves the sweeps
            np.minimum(u, steps[one] + u[one], out=u)
        u = np.where(u < before - _SAME * largest, u, before)
        found[:, number] = u
        moved = np.flatnonzero((u != before).any(0))
        if not len(moved):
            break
        if len(moved) < _KEPT * len(number):
            number, largest = number[moved], largest[moved]
            u, steps = u.take(moved, -1), steps.take(moved, -1)
    return found
