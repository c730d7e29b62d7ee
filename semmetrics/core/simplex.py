"""Many small transport problems at once, exactly: a simplex method vectorised over problems.

Conventions
-----------
Problems lie along the last axis (rows, columns, problems), so that every step is a few long
vector operations. A basis of a transport problem is a spanning tree of its rows and columns
(Dantzig 1951). The tree is kept without pointers: for every node two bit masks hold the edges of
its path from the root, those walked from row to column and those from column to row. The cycle
that a new edge closes, the nodes behind the edge that leaves, and their new paths are then bitwise
operations alone.

Every step of a problem depends on that problem only, and sums run in a fixed order: a result has
the same bits alone, in any block and under any padding.

**Equal masses.** With as many equal masses on both sides, some optimal plan is a permutation
(Birkhoff 1946), and potentials prove it like any other plan. They are searched in all problems at
once. Each row's is put halfway between the two least of its costs minus the columns' potentials,
then each column's halfway between the two least of its costs minus the rows', and so on, to and
fro. These are the messages by which belief propagation finds a matching (Bayati, Shah, Sharma
2008), with one for a row or column instead of one for a cell; each step is made a third longer,
which needs fewer of them. If the columns' cheapest rows are all different, that is the plan. Steps
are of 32 bits, the proof of 64.

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

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints

MAX_NODES = 63
"""Rows and columns together that one problem may have: edges fit a signed 64-bit mask."""

_OPTIMAL = (
    1e-13  # a reduced cost above minus this, relative to the largest cost, is none
)
_HUGE = 1e300  # above any mass
_FAR = 1e30  # beside scaled costs
_STEPS = 1.5, 1.1, 0.7, 0.4  # by which rows are shifted before a tree starts
_UNITS = 1 << 20  # of mass, in doing so
_KEPT = 0.7  # solved problems are taken out when fewer than these are left
_TINY = 1e-300  # what is divided by less may not be finite

Singles = NDArray[np.float32]


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

    def select(self, keep: Ints) -> _Trees:
        """Return the trees of some problems."""
        return _Trees(
            *(getattr(self, field.name).take(keep, -1) for field in fields(self))
        )


class Solutions(NamedTuple):
    """Costs of optimal plans, and how far each can be from the optimum.

    Attributes
    ----------
    costs, gaps : float64 arrays, shape (problems,)
        A gap is the primal minus the dual value, and the unplaced mass times the largest cost.
    """

    costs: Any
    gaps: Any


def solve_simplex(
    costs: Any, rows: Any, columns: Any, n_rows: Any, n_columns: Any, largest: Any
) -> Solutions:
    """Solve a block of transport problems.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns, problems)
        Finite and not negative; 0 outside the sizes.
    rows, columns : float64, shapes (rows, problems) and (columns, problems)
        Mass, positive within the sizes and 0 outside them; the two sums of a problem agree.
    n_rows, n_columns : int64, shape (problems,)
        Sizes, at least 1; rows and columns together at most ``MAX_NODES``.
    largest : float64, shape (problems,)
        Largest costs.

    Returns
    -------
    Solutions

    Examples
    --------
    >>> costs = np.array([[1.0, 3.0], [2.0, 1.0]])[:, :, None]
    >>> half, two = np.full((2, 1), 0.5), np.array([2])
    >>> solve_simplex(costs, half, half, two, two, np.array([3.0])).costs
    array([1.])
    """
    shifted, order = _plan_start(costs, (rows, columns), (n_rows, n_columns), largest)
    start = _build_trees_in_order(shifted, order, (rows, columns), (n_rows, n_columns))
    used = (rows > 0)[:, None] & (columns > 0)
    table = costs if used.all() else np.where(used, costs, np.inf)
    trees = _root_trees(table, start, _OPTIMAL * largest)
    cell, flow, u = (np.zeros_like(part) for part in (trees.cell, trees.flow, trees.u))

    def put(done: Ints) -> None:
        numbers = trees.number[done]
        for whole, part in ((cell, trees.cell), (flow, trees.flow), (u, trees.u)):
            whole[:, numbers] = part.take(done, -1)

    for _ in range(40 + 10 * sum(costs.shape[:2])):
        least = _best_rows(trees.costs, trees.u)
        least -= trees.v
        reduced, column = _first_minimum(least)
        active = reduced < -trees.tolerance
        left = np.count_nonzero(active)
        if left < _KEPT * len(reduced) or not left:
            put(np.flatnonzero(~active))
            keep = np.flatnonzero(active)
            trees = trees.select(keep)
            reduced, column, active = reduced[keep], column[keep], active[keep]
        if not left:
            break
        _pivot(trees, reduced, column, active)
    put(np.arange(len(trees.number)))  # those left at the limit: their gaps tell
    return certify((costs, table), (rows, columns), (cell, flow, u), largest)


def scale_costs(costs: Any, largest: Any) -> Singles:
    """Divide costs by the largest of each problem, in single precision; 0 where that is 0."""
    scale = 1 / np.where(largest > _TINY, largest, np.inf)
    found: Singles = np.empty(costs.shape, np.float32)
    np.multiply(costs, scale, out=found, casting="same_kind")
    return found


def _plan_start(
    costs: Any, masses: tuple[Any, Any], sizes: tuple[Any, Any], largest: Any
) -> tuple[Any, Any]:
    """Return costs shifted by row, and columns by falling regret of their second-best row.

    Only differences between rows matter, as every column is served. A few digits do where a tree
    starts; the last bits of a cost hold the number of its row.
    """
    (rows, columns), (n_rows, n_columns) = masses, sizes
    table: Any = scale_costs(costs, largest)
    table -= (sum_in_order(table.swapaxes(0, 1)) / n_columns.astype(np.float32))[
        :, None
    ]
    squares = sum_in_order(table * table) * (columns > 0)
    spread = np.sqrt(sum_in_order(squares) / (n_rows * n_columns)).astype(np.float32)
    table += np.where(rows > 0, 0.0, _FAR).astype(np.float32)[:, None]
    _balance_rows(table, masses, spread)
    table = _tag_places(table)
    best = table[0]
    second = best + _FAR  # of one row there is none
    for cost in table[1:]:
        second = np.minimum(second, np.maximum(best, cost))
        best = np.minimum(best, cost)
    regret = _tag_places(np.where(columns > 0, best - second, _FAR))
    return table, _read_places(np.sort(regret, 0))


def _tag_places(values: Any) -> Any:
    """Replace the last six bits of single-precision values by their place on the first axis."""
    bits = values.astype(np.float32, copy=False).view(np.int32) & -64
    bits |= np.arange(len(values), dtype=np.int32).reshape(-1, *[1] * (values.ndim - 1))
    return bits.view(np.float32)


def _read_places(values: Any) -> Any:
    """Read the places that ``_tag_places`` wrote."""
    return (values.view(np.int32) & 63).astype(np.int64)


def _balance_rows(table: Any, masses: tuple[Any, Any], spread: Any) -> None:
    """Shift the rows of a table until about as much comes to each as it has.

    With every column at its cheapest row, a row gets dearer by what comes to it beyond its mass,
    or cheaper by what is missing: subgradients of the dual (Shor 1985), in steps of the spread of
    costs. Masses are whole numbers, whose sums know no order.
    """
    unit = _UNITS / sum_in_order(masses[0])
    rows, columns = ((mass * unit).astype(np.int32) for mass in masses)
    for step in _STEPS:
        best = np.amin(table, 0)
        for row, mass in zip(table, rows, strict=True):
            surplus = ((row == best) * columns).sum(0, dtype=columns.dtype) - mass
            row += surplus.astype(np.float32) * (spread * (step / _UNITS))


def _build_trees_in_order(
    costs: Any, order: Any, masses: tuple[Any, Any], sizes: tuple[Any, Any]
) -> tuple[Any, ...]:
    """Serve one column after the other, each from its cheapest row with mass left.

    Return edges of the first trees in the order placed, shape (edges, problems): row, column, flow,
    whether the edge's row, or else its column, has no later edge, and whether there is one.
    """
    m, n, size = costs.shape
    at, edges = np.arange(size), m + n - 1
    flat_rows = np.array(masses[0], order="C").reshape(-1)
    flat_shut = np.zeros(m * size, np.float32)
    flat_columns, shut = masses[1].reshape(-1), flat_shut.reshape(m, size)
    flat_order, by_row = (order * size + at).reshape(-1), costs.reshape(m, -1)
    row_of, column_of = (np.zeros((edges, size), np.int64) for _ in range(2))
    flow, leaf_row = np.zeros((edges, size)), np.zeros((edges, size), np.bool_)
    most, never = sizes[0] - 1, np.float32(np.inf)
    closed, turn, end = at * 0, at + 0, (sizes[1] - 1) * size + at
    there = flat_order[:size]
    need = flat_columns.take(there)
    for edge in range(edges):
        row = _read_places(np.amin(by_row.take(there, -1) + shut, 0))
        here = row * size + at
        have = flat_rows.take(here)
        moved = np.minimum(have, need)
        ends = ((have <= need) & (closed < most)) | (turn == end)
        row_of[edge], column_of[edge], flow[edge], leaf_row[edge] = (
            row,
            there,
            moved,
            ends,
        )
        flat_rows[here] = have - moved
        flat_shut[here] = np.where(ends, never, 0.0)
        closed = closed + ends
        turn = turn + ~ends * size
        there = flat_order.take(turn)
        need = np.where(ends, need - moved, flat_columns.take(there))
    used = np.arange(edges)[:, None] < sizes[0] + sizes[1] - 1
    return row_of * used, column_of // size * used, flow * used, leaf_row, used


def _root_trees(costs: Any, start: tuple[Any, ...], tolerance: Any) -> _Trees:
    """Find paths and potentials, from the last edge placed, at the root, to the first."""
    row_of, column_of, flow, leaf_row, used = start
    m, n, size = costs.shape
    at, edges = np.arange(size), len(row_of)
    # one bit an edge, and the sign
    kind = np.dtype(np.int32 if edges <= 31 else np.int64)
    place = np.arange(edges, dtype=kind)[:, None]
    bits = (place * 0 + 1) << place
    forward, backward = bits * ~leaf_row, bits * leaf_row
    cell = row_of * n + column_of
    price = costs.reshape(-1).take(cell * size + at)
    row, column = row_of * size + at, (m + column_of) * size + at
    parent = np.where(leaf_row, column, row)
    # one node to spare
    leaf = np.where(used, row + column - parent, (m + n) * size + at)
    down, up = (np.zeros((m + n + 1) * size, kind) for _ in range(2))
    potential = np.zeros((m + n + 1) * size)
    for edge in range(edges - 1, -1, -1):
        child, origin = leaf[edge], parent[edge]
        down[child] = down[origin] | forward[edge]
        up[child] = up[origin] | backward[edge]
        potential[child] = price[edge] - potential[origin]
    down, up, potential = (x.reshape(m + n + 1, size) for x in (down, up, potential))
    return _Trees(
        at,
        costs,
        tolerance,
        cell,
        flow,
        down[:-1],
        up[:-1],
        potential[:m],
        potential[m:-1],
    )


def _best_rows(costs: Any, u: Any) -> Any:
    """Return the least of costs minus row potentials in each column."""
    least = costs[0] - u[0]
    for row in range(1, len(u)):
        np.minimum(least, costs[row] - u[row], out=least)
    return least


def _first_minimum(values: Any) -> tuple[Any, Any]:
    """Return the minimum along the first axis, and the first place that has it."""
    least = np.amin(values, 0)
    place = len(values) - np.amax((values == least) * _from_end(len(values)), 0)
    return least, place.astype(np.int64)


@cache
def _from_end(stop: int) -> NDArray[np.uint8]:
    return np.arange(stop, 0, -1).astype(np.uint8)[:, None]


def _pivot(trees: _Trees, reduced: Any, column: Any, active: Any) -> None:
    """Bring the cheapest cell into each tree, send mass around its cycle and mend the tree.

    A solved problem gets an edge that its tree has, which changes nothing. The paths of the nodes
    cut off lead through the new edge, and their potentials shift. Paths are sums of signed edges,
    so a new path is the old one plus or minus the cycle.
    """
    (m, n), at = trees.costs.shape[:2], np.arange(len(column))
    column = np.where(active, column, trees.cell[0] % n)
    costs = trees.costs.reshape(m, -1).take(column * len(at) + at, -1)
    row = _first_minimum(costs - trees.u)[1]
    row = np.where(active, row, trees.cell[0] // n)
    from_row, to_row = trees.down[row, at], trees.up[row, at]
    from_column, to_column = trees.down[m + column, at], trees.up[m + column, at]
    less = (from_column & ~from_row) | (to_row & ~to_column)
    more = (from_row & ~from_column) | (to_column & ~to_row)
    shift = np.arange(len(trees.cell), dtype=less.dtype)[:, None]
    bits = (shift * 0 + 1) << shift
    falls, grows = (less & bits) != 0, (more & bits) != 0
    amount, leaving = _first_minimum(np.where(falls, trees.flow, _HUGE))
    trees.flow += np.where(falls, -amount, np.where(grows, amount, 0.0))
    trees.flow[leaving, at], trees.cell[leaving, at] = amount, row * n + column
    place = shift[leaving, 0]
    bit = (place * 0 + 1) << place
    rest = less & ~bit
    cut = (from_column | to_column) & bit != 0  # the column is cut off, and not the row
    down, up = trees.down, trees.up
    # all bits set for the nodes behind the old edge
    behind = -(((down | up) >> place) & 1)
    gain, loss = np.where(cut, more, rest) & behind, np.where(cut, rest, more) & behind
    swap = bit & behind
    forward = -(cut * (bit * 0 + 1))
    trees.down = (((down & ~loss) | (gain & ~up)) & ~swap) | (swap & forward)
    trees.up = (((up & ~gain) | (loss & ~down)) & ~swap) | (swap & ~forward)
    step = reduced * active * (cut * 2 - 1)
    trees.v -= behind[m:] * step  # behind is 0 or -1
    trees.u += behind[:m] * step


def certify(
    tables: tuple[Any, Any],
    masses: tuple[Any, Any],
    plan: tuple[Any, Any, Any],
    largest: Any,
) -> Solutions:
    """Evaluate plans, and how far they can be from what row potentials prove.

    Parameters
    ----------
    tables : two arrays, shape (rows, columns, problems)
        Costs, 0 outside the sizes; and infinite there.
    masses : rows and columns
    plan : cells (row * columns + column) and flows, shape (edges, problems); row potentials
    largest : array, shape (problems,)
    """
    (costs, closed), (rows, columns), (cell, flow, u) = tables, masses, plan
    n, size = costs.shape[1:]
    at = np.arange(size)
    value = sum_in_order(costs.reshape(-1).take(cell * size + at) * flow)
    v = np.where(columns > 0, _best_rows(closed, u), 0.0)
    bound = sum_in_order(rows * u) + sum_in_order(columns * v)
    unplaced = np.zeros(size)
    for mass, node in ((rows, cell // n), (columns, cell % n)):
        places = (node * size + at).reshape(-1)
        placed = np.bincount(places, flow.reshape(-1), mass.size).reshape(-1, size)
        unplaced += sum_in_order(abs(mass - placed))
    return Solutions(value, abs(value - bound) + unplaced * largest)


MAX_TOGETHER = 32
"""Rows up to which looking in all problems at once is faster."""
_FEWEST = 4  # rows from which it is faster than the simplex method
_SWEEPS = 3, 2, 2, 3, 4  # to and fro, each number followed by a look at what is solved
_LONGER = np.float32(1.35)
_HALF = np.float32(0.5)
_BEYOND = np.float32(1 << 60)  # beside scaled costs
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
        np.logical_and(
            uniform, np.where(side > 0, side, np.inf).min(0) == side.max(0), out=uniform
        )
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

    value, tables = (
        np.empty(len(sizes)),
        np.ascontiguousarray(np.moveaxis(costs, -1, 0)),
    )
    for k, (table, size) in enumerate(zip(tables, sizes.tolist(), strict=True)):
        chosen = linear_sum_assignment(table[:size, :size])
        value[k] = sum_in_order(table[chosen] * rows[:size, k])
    return Solutions(value, np.zeros(len(sizes)))


def _balance_potentials(
    costs: Floats, real: Bools, sizes: Ints, largest: Floats
) -> tuple[Ints, Floats]:
    """Return columns of the rows, and row potentials; zeros where none are found."""
    column, potentials = np.zeros(real.shape, np.int64), np.zeros(real.shape)
    # costs from 0 to 1, and the means of columns, with which the search starts; rows and columns
    # that only pad serve each other at no cost, and nobody else
    table: Singles = scale_costs(costs, largest)
    v = sum_in_order(table) / sizes.astype(np.float32)
    if not real.all():
        table[~(real[:, None] & real)] = _BEYOND
        same = np.arange(len(real))
        table[same, same] *= real
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
