"""Many small transport problems at once, exactly: a simplex method vectorised over problems.

Conventions
-----------
Problems lie along the last axis (rows, columns, problems), so that every step is a few long
vector operations; numpy arrays and torch tensors on any device take the same code. A basis of a
transport problem is a spanning tree of its rows and columns (Dantzig 1951). The tree is kept
without pointers: for every node two bit masks hold the edges of its path from the root, those
walked from row to column and those from column to row. The cycle that a new edge closes, the
nodes behind the edge that leaves, and their new paths are then bitwise operations alone.

Every step of a problem depends on that problem only, and sums run in a fixed order: a result has
the same bits alone, in any block and under any padding.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from semmetrics.core.space import Space, running_total

__all__ = ["MOST_NODES", "Solved", "solve"]

MOST_NODES = 63
"""Rows and columns together that one problem may have: edges fit a signed 64-bit mask."""

_OPTIMAL = 1e-13  # a reduced cost above minus this, relative to the largest cost, is none
_KEPT = 0.7  # solved problems are taken out when fewer than these are left


@dataclass
class _Trees:
    """Bases of the problems being solved; the last axis is the problem everywhere."""

    number: Any  # which problem it is
    costs: Any  # (rows, columns)
    tolerance: Any
    cell: Any  # (edges,): row * columns + column
    flow: Any  # (edges,)
    down: Any  # (nodes,): edges from row to column on the path from the root; rows, then columns
    up: Any  # (nodes,): edges from column to row
    u: Any  # (rows,)
    v: Any  # (columns,)

    def chosen(self, keep: Any) -> _Trees:
        return _Trees(*(getattr(self, field.name)[..., keep] for field in fields(self)))


@dataclass(frozen=True)
class Solved:
    """Costs of optimal plans with what proves them; the last axis is the problem."""

    costs: Any
    gaps: Any
    """By how much a cost can miss the optimum: primal minus dual value, and unplaced mass times
    the largest cost."""
    cells: Any
    """Cells of a plan that may carry mass, row * columns + column, shape (edges, problems)."""
    flows: Any
    """Their mass."""


def solve(costs: Any, rows: Any, columns: Any, n_rows: Any, n_columns: Any) -> Solved:
    """Solve a block of transport problems.

    Parameters
    ----------
    costs : float64 array or tensor, shape (rows, columns, problems)
        Finite and not negative within the sizes, infinite outside them.
    rows, columns : float64, shapes (rows, problems) and (columns, problems)
        Mass, positive within the sizes and 0 outside them; the two sums of a problem agree.
    n_rows, n_columns : int64, shape (problems,)
        Sizes, at least 1; rows and columns together at most ``MOST_NODES``.

    Returns
    -------
    Solved

    Examples
    --------
    >>> costs = np.array([[1.0, 3.0], [2.0, 1.0]])[:, :, None]
    >>> half, two = np.full((2, 1), 0.5), np.array([2])
    >>> solve(costs, half, half, two, two).costs
    array([1.])
    """
    space = Space(costs)
    trees = _first_trees(space, costs, rows, columns, n_rows, n_columns)
    final = trees.chosen(space.arange(0))
    cell, flow = space.xp.zeros_like(trees.cell), space.xp.zeros_like(trees.flow)
    u = space.xp.zeros_like(trees.u)

    def put(done: _Trees) -> None:
        cell[:, done.number], flow[:, done.number], u[:, done.number] = done.cell, done.flow, done.u

    for _ in range(40 + 10 * sum(costs.shape[:2])):
        reduced, column = _price(space, trees)
        active = reduced < -trees.tolerance
        left = int(space.xp.count_nonzero(active))
        if left < _KEPT * len(reduced) or not left:
            final = trees.chosen(space.nonzero(~active))
            put(final)
            keep = space.nonzero(active)
            trees = trees.chosen(keep)
            reduced, column, active = reduced[keep], column[keep], active[keep]
        if not left:
            break
        _pivot(space, trees, reduced, column, active)
    put(trees)  # those left at the limit: their gaps tell
    return _proved(space, costs, rows, columns, cell, flow, u)


def _opening(space: Space, costs: Any, n_rows: Any, n_columns: Any) -> tuple[Any, Any]:
    """Row offsets that make rows alike, and columns by falling regret of their second-best row.

    Only differences between rows matter, as every column is served: so from each row its mean
    cost is taken, and closed rows are infinitely dear.
    """
    m, n, _ = costs.shape
    where = space.xp.where
    real = space.arange(n)[:, None] < n_columns
    rows = space.arange(m)[:, None] < n_rows
    means = running_total(
        [where(real[column] & rows, costs[:, column], 0.0) for column in range(n)]
    )
    offset = where(rows, -means / n_columns, np.inf)
    best, second = costs[0] + offset[0], space.zeros(*real.shape) + np.inf
    for row in range(1, m):
        cost = costs[row] + offset[row]
        second = space.xp.minimum(second, space.xp.maximum(best, cost))
        best = space.xp.minimum(best, cost)
    return offset, space.stable_order(where(real, best - where(real, second, 0.0), np.inf))


def _first_trees(
    space: Space, costs: Any, rows: Any, columns: Any, n_rows: Any, n_columns: Any
) -> _Trees:
    """Trees from serving one column after the other from its cheapest row with mass left."""
    m, n, size = costs.shape
    where, at = space.xp.where, space.arange(size)
    offset, order = _opening(space, costs, n_rows, n_columns)
    rows, columns, opened, turn, price = rows + 0, columns + 0, n_rows + 0, at * 0, offset + 0
    edges = m + n - 1
    row_of, column_of = (space.zeros(edges, size, dtype="int64") for _ in range(2))
    flow = space.zeros(edges, size)
    leaf_row = space.zeros(edges, size, dtype="bool")
    for edge in range(edges):
        column, last = order[turn, at], turn == n_columns - 1
        row = space.first_least(costs[:, column, at] + price)[1]
        have, need = rows[row, at], columns[column, at]
        moved = space.xp.minimum(have, need)
        ends = ((have < need) & (opened > 1)) | last
        row_of[edge], column_of[edge], flow[edge], leaf_row[edge] = row, column, moved, ends
        rows[row, at], columns[column, at] = have - moved, need - moved
        price[row, at] = where(ends & (opened > 1), np.inf, price[row, at])
        opened = opened - where(ends, 1, 0)
        turn = turn + where(ends, 0, 1)
    used = space.arange(edges)[:, None] < n_rows + n_columns - 1
    return _rooted(space, costs, (row_of, column_of), where(used, flow, 0.0), leaf_row, used)


def _rooted(
    space: Space, costs: Any, ends: tuple[Any, Any], flow: Any, leaf_row: Any, used: Any
) -> _Trees:
    """Paths and potentials, from the last edge placed, whose column is the root, to the first."""
    m, n, size = costs.shape
    where, at = space.xp.where, space.arange(size)
    kind = "int32" if len(flow) <= 31 else "int64"  # one bit an edge, and the sign
    down, up = space.zeros(m + n + 1, size, dtype=kind), space.zeros(m + n + 1, size, dtype=kind)
    potential = space.zeros(m + n + 1, size)
    zero = space.zeros(1, dtype=kind)
    for edge in range(len(flow) - 1, -1, -1):
        row, column = ends[0][edge], m + ends[1][edge]
        leaf = where(used[edge], where(leaf_row[edge], row, column), m + n)  # one node to spare
        parent = where(leaf_row[edge], column, row)
        bit = zero + (1 << edge)
        down[leaf, at] = down[parent, at] | where(leaf_row[edge], zero, bit)
        up[leaf, at] = up[parent, at] | where(leaf_row[edge], bit, zero)
        potential[leaf, at] = costs[row, ends[1][edge], at] - potential[parent, at]
    largest = space.xp.amax(where(space.xp.isfinite(costs), costs, 0.0), (0, 1))
    nodes = slice(m + n)
    return _Trees(
        at, costs, _OPTIMAL * largest, ends[0] * n + ends[1], flow,
        down[nodes], up[nodes], potential[:m], potential[m:-1],
    )  # fmt: skip


def _price(space: Space, trees: _Trees) -> tuple[Any, Any]:
    """The least reduced cost, and the first column that has it."""
    least = trees.costs[0] - trees.u[0]
    for row in range(1, len(trees.u)):
        space.xp.minimum(least, trees.costs[row] - trees.u[row], out=least)
    least -= trees.v
    return space.first_least(least)


def _pivot(space: Space, trees: _Trees, reduced: Any, column: Any, active: Any) -> None:
    """Bring the cheapest cell into each tree, send mass around its cycle and mend the tree.

    A solved problem gets an edge that its tree has, which changes nothing.
    """
    where, (m, n) = space.xp.where, trees.costs.shape[:2]
    at = space.arange(len(column))
    column = where(active, column, trees.cell[0] % n)
    row = space.first_least(trees.costs[:, column, at] - trees.u)[1]
    row = where(active, row, trees.cell[0] // n)
    from_row, to_row = trees.down[row, at], trees.up[row, at]
    from_column, to_column = trees.down[m + column, at], trees.up[m + column, at]
    less = (from_column & ~from_row) | (to_row & ~to_column)
    more = (from_row & ~from_column) | (to_column & ~to_row)
    shift = space.bits(less, len(trees.cell))
    falls, grows = (less >> shift) & 1, (more >> shift) & 1
    amount, leaving = space.first_least(space.xp.maximum(trees.flow, (1 - falls) * 1e300))
    trees.flow += amount * (grows - falls)
    trees.flow[leaving, at], trees.cell[leaving, at] = amount, row * n + column
    place = shift[leaving, 0]
    bit = (place * 0 + 1) << place
    behind = (from_column | to_column) & bit != 0  # the column is cut off, and not the row
    gain, loss = where(behind, more, less & ~bit), where(behind, less & ~bit, more)
    _mend(space, trees, place, bit, (gain, loss), (behind, where(active, reduced, 0.0)))


def _mend(
    space: Space, trees: _Trees, place: Any, bit: Any, cycle: tuple[Any, Any], cut: tuple[Any, Any]
) -> None:
    """Lead the paths of the nodes cut off through the new edge, and shift their potentials.

    Paths are sums of signed edges, so a new path is the old one plus or minus the cycle.
    """
    where, m = space.xp.where, len(trees.u)
    down, up = trees.down, trees.up
    apart = -(((down | up) >> place) & 1)  # all bits set for the nodes behind the old edge
    gain, loss, swap = cycle[0] & apart, cycle[1] & apart, bit & apart
    new_down = (down & ~loss) | (gain & ~up)
    new_up = (up & ~gain) | (loss & ~down)
    forward = -(cut[0] * (bit * 0 + 1))
    trees.down = (new_down & ~swap) | (swap & forward)
    trees.up = (new_up & ~swap) | (swap & ~forward)
    step = where(cut[0], cut[1], -cut[1])
    trees.v -= apart[m:] * step  # apart is 0 or -1
    trees.u += apart[:m] * step


def _proved(
    space: Space, costs: Any, rows: Any, columns: Any, cell: Any, flow: Any, u: Any
) -> Solved:
    """Costs of the plans and their distance from what the potentials prove."""
    (m, n, size), where = costs.shape, space.xp.where
    at = space.arange(size)
    finite = where(space.xp.isfinite(costs), costs, 0.0).reshape(m * n, size)
    parts = zip(cell, flow, strict=True)
    value = running_total([finite[place, at] * mass for place, mass in parts])
    v = costs[0] - u[0]
    for row in range(1, m):
        v = space.xp.minimum(v, costs[row] - u[row])
    v = where(columns > 0, v, 0.0)
    bound = running_total(rows * u) + running_total(columns * v)
    rows, columns = rows + 0, columns + 0
    for place, mass in zip(cell, flow, strict=True):
        rows[place // n, at] -= mass
        columns[place % n, at] -= mass
    unplaced = running_total(abs(rows)) + running_total(abs(columns))
    gaps = abs(value - bound) + unplaced * space.xp.amax(finite, 0)
    return Solved(value, gaps, cell, flow)
