"""A transport simplex method that solves many small problems at once, exactly.

Conventions
-----------
The problems are along the last axis (rows, columns, problems). A basis of a transport problem is a
spanning tree of its rows and columns, which are the *nodes* (Dantzig 1951). Each *edge* of the tree
is a cell, from its row to its column.

The tree is stored without pointers. Each node has two bit masks with one bit per edge: the edges on
its path from the root that are walked from row to column (``down``), and those that are walked from
column to row (``up``). Then the cycle that a new edge closes, the nodes behind the edge that
leaves, and their new paths are found by bitwise operations.

A step of a problem depends only on that problem, and sums have a fixed order. Therefore a result
has the same bits alone, in any block and with any padding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.transport_problems import (
    Plans,
    Singles,
    Solutions,
    TransportProblems,
    best_rows,
    certify,
    scale_costs,
    used_cells,
)

MAX_NODES = 63
"""Number of rows and columns of the largest problem: its edges fit into a signed 64-bit mask."""

Masks: TypeAlias = NDArray[np.signedinteger[Any]]
"""Sets of edges, with one bit per edge: 32-bit or 64-bit integers."""

_TOLERANCE = 1e-13  # of reduced costs, relative to the largest cost
_LARGE_FLOW = 1e300  # larger than any mass
_LARGE_COST = 1e30  # larger than scaled costs
# The steps in which rows are balanced, in units of the spread.
_SHIFT_STEPS = (1.5, 1.1, 0.7, 0.4)
_MASS_UNITS = 1 << 20  # of the whole mass, when rows are balanced
_MIN_ACTIVE_SHARE = 0.7  # solved problems are removed if fewer problems are active
_CLOSING_COST = np.float32(np.inf)  # of a row that has no mass left

# The last six bits of a number can store its place on an axis, as there are at most 63 nodes.
_PLACE_MASK = 63


def solve_simplex(problems: TransportProblems) -> Solutions:
    """Solve a block of transport problems with at most ``MAX_NODES`` rows and columns together.

    Examples
    --------
    >>> costs = np.array([[1.0, 3.0], [2.0, 1.0]])[:, :, None]
    >>> half, two = np.full((2, 1), 0.5), np.array([2])
    >>> solve_simplex(TransportProblems(costs, half, half, two, two, np.array([3.0]))).costs
    array([1.])
    """
    first_edges = _place_edges(problems, _order_columns(problems))
    used = used_cells(problems.rows, problems.columns)
    closed_costs = problems.costs
    if not used.all():
        closed_costs = np.where(used, problems.costs, np.inf)
    trees = _root_trees(closed_costs, first_edges, _TOLERANCE * problems.largest)
    plans = Plans(
        cells=np.zeros_like(trees.cells),
        flows=np.zeros_like(trees.flows),
        row_potentials=np.zeros_like(trees.u),
    )
    n_rows, n_columns, _ = problems.costs.shape
    max_steps = 40 + 10 * (n_rows + n_columns)
    for _ in range(max_steps):
        least = best_rows(trees.costs, trees.u)
        least -= trees.v
        entering = _first_minimum(least)
        is_active = entering.values < -trees.tolerance
        n_active = np.count_nonzero(is_active)
        if n_active < _MIN_ACTIVE_SHARE * len(is_active) or not n_active:
            _store_plans(plans, trees, np.flatnonzero(~is_active))
            active = np.flatnonzero(is_active)
            trees = trees.take(active)
            entering = entering.take(active)
            is_active = is_active[active]
        if not n_active:
            break
        _pivot(trees, entering.values, entering.places, is_active)
    # The gaps tell whether a problem was not solved within the limit of steps.
    _store_plans(plans, trees, np.arange(len(trees.numbers)))
    return certify(problems, closed_costs, plans)


@dataclass
class _Trees:
    """The bases of the problems that are being solved. The last axis is the problem.

    Attributes
    ----------
    numbers : int array, shape (problems,)
        The number of each problem in the block.
    costs : float64 array, shape (rows, columns, problems)
        With inf for padding.
    tolerance : float64 array, shape (problems,)
    cells : int array, shape (edges, problems)
        The cell of each edge: row * columns + column.
    flows : float64 array, shape (edges, problems)
    down, up : int arrays, shape (nodes, problems)
        The edges on the path from the root to each node that are walked from row to column, and
        those that are walked from column to row. Nodes are the rows, and then the columns.
    u, v : float64 arrays, shapes (rows, problems) and (columns, problems)
        Potentials: their sum is the cost of each edge.
    """

    numbers: Ints
    costs: Floats
    tolerance: Floats
    cells: Ints
    flows: Floats
    down: Masks
    up: Masks
    u: Floats
    v: Floats

    def take(self, places: Ints) -> _Trees:
        """Return the trees of some problems."""
        return _Trees(
            numbers=self.numbers.take(places, -1),
            costs=self.costs.take(places, -1),
            tolerance=self.tolerance.take(places, -1),
            cells=self.cells.take(places, -1),
            flows=self.flows.take(places, -1),
            down=self.down.take(places, -1),
            up=self.up.take(places, -1),
            u=self.u.take(places, -1),
            v=self.v.take(places, -1),
        )


def _store_plans(plans: Plans, trees: _Trees, places: Ints) -> None:
    """Write the plans of some trees to their places in the block."""
    numbers = trees.numbers[places]
    plans.cells[:, numbers] = trees.cells.take(places, -1)
    plans.flows[:, numbers] = trees.flows.take(places, -1)
    plans.row_potentials[:, numbers] = trees.u.take(places, -1)


# ---- minima and places ------------------------------------------------------


class _Minima(NamedTuple):
    """The minimum of each problem along the first axis, and the first place that has it."""

    values: Floats
    places: Ints

    def take(self, numbers: Ints) -> _Minima:
        """Return the minima of some problems."""
        return _Minima(self.values[numbers], self.places[numbers])


def _first_minimum(values: Floats) -> _Minima:
    """Return the minimum along the first axis, and the first place that has it.

    This is faster than ``argmin`` along the first axis.
    """
    least = np.amin(values, 0)
    size = len(values)
    # The first of the places with the minimum has the largest distance from the end.
    from_end = np.amax((values == least) * _distances_from_end(size), 0)
    return _Minima(least, (size - from_end).astype(np.int64))


@cache
def _distances_from_end(size: int) -> NDArray[np.uint8]:
    """Return the numbers from ``size`` down to 1, shape (size, 1)."""
    return np.arange(size, 0, -1).astype(np.uint8)[:, None]


def _tag_places(values: NDArray[Any]) -> Singles:
    """Replace the last six bits of single-precision numbers by their place on the first axis."""
    bits = values.astype(np.float32, copy=False).view(np.int32) & ~_PLACE_MASK
    places = np.arange(len(values), dtype=np.int32)
    other_axes = [1] * (values.ndim - 1)
    bits |= places.reshape(-1, *other_axes)
    return bits.view(np.float32)


def _read_places(values: Singles) -> Ints:
    """Return the places that ``_tag_places`` stored."""
    return (values.view(np.int32) & _PLACE_MASK).astype(np.int64)


# ---- the first trees --------------------------------------------------------


class _ColumnOrder(NamedTuple):
    """In which order, and from which rows, the columns are served first.

    Attributes
    ----------
    costs : float32 array, shape (rows, columns, problems)
        Shifted costs. The last bits of a cost are the number of its row.
    columns : int64 array, shape (columns, problems)
        The columns by decreasing regret: the difference between their two cheapest rows.
    """

    costs: Singles
    columns: Ints


def _order_columns(problems: TransportProblems) -> _ColumnOrder:
    """Shift the costs of rows to balance them, and order the columns by their regret.

    Only cost differences between rows matter, as every column has to be served. A few digits are
    enough to start a tree.
    """
    is_column = problems.columns > 0
    table = scale_costs(problems.costs, problems.largest)
    row_sums = sum_in_order(table.swapaxes(0, 1))
    table -= (row_sums / problems.n_columns.astype(np.float32))[:, None]
    squares = sum_in_order(table * table) * is_column
    n_cells = problems.n_rows * problems.n_columns
    spread = np.sqrt(sum_in_order(squares) / n_cells).astype(np.float32)
    padding = np.where(problems.rows > 0, 0.0, _LARGE_COST)
    table += padding.astype(np.float32)[:, None]
    _balance_rows(table, problems.rows, problems.columns, spread)
    table = _tag_places(table)
    best = table[0]
    second = best + _LARGE_COST  # for problems with one row
    for row_costs in table[1:]:
        second = np.minimum(second, np.maximum(best, row_costs))
        best = np.minimum(best, row_costs)
    regrets = _tag_places(np.where(is_column, best - second, _LARGE_COST))
    return _ColumnOrder(table, _read_places(np.sort(regrets, 0)))


def _balance_rows(
    table: Singles, rows: Floats, columns: Floats, spread: Singles
) -> None:
    """Shift the rows of a table until each receives about as much mass as it has, in place.

    Every column is served by its cheapest row. Then a row becomes more expensive by its surplus, or
    cheaper by the mass that it still needs. These are subgradient steps of the dual problem (Shor
    1985), in units of the spread of costs. Masses are integers here, so that sums do not depend on
    an order.

    Parameters
    ----------
    table : float32 array, shape (rows, columns, problems)
    rows, columns : float64 arrays
        Masses.
    spread : float32 array, shape (problems,)
    """
    unit = _MASS_UNITS / sum_in_order(rows)
    row_masses = (rows * unit).astype(np.int32)
    column_masses = (columns * unit).astype(np.int32)
    for step in _SHIFT_STEPS:
        best = np.amin(table, 0)
        for row_costs, mass in zip(table, row_masses, strict=True):
            received = ((row_costs == best) * column_masses).sum(0, dtype=np.int32)
            surplus = (received - mass).astype(np.float32)
            row_costs += surplus * (spread * (step / _MASS_UNITS))


class _PlacedEdges(NamedTuple):
    """The edges of the first trees in the order in which they are placed.

    All have the shape (edges, problems).

    Attributes
    ----------
    rows, columns : int64 arrays
    flows : float64 array
    is_row_leaf : bool array
        Whether the row of an edge has no later edge. Otherwise its column has no later edge.
    is_used : bool array
        False for padding. A tree has one edge less than nodes.
    """

    rows: Ints
    columns: Ints
    flows: Floats
    is_row_leaf: Bools
    is_used: Bools


def _place_edges(problems: TransportProblems, order: _ColumnOrder) -> _PlacedEdges:
    """Serve one column after the other, each from its cheapest rows with mass left."""
    m, n, size = order.costs.shape
    numbers = np.arange(size)
    n_edges = m + n - 1
    rows = np.zeros((n_edges, size), np.int64)
    column_places = np.zeros((n_edges, size), np.int64)
    flows = np.zeros((n_edges, size))
    is_row_leaf = np.zeros((n_edges, size), np.bool_)
    # Arrays are indexed flat, at (place on the first axis) * size + problem.
    costs_by_row = order.costs.reshape(m, -1)
    supplies = np.array(problems.rows, order="C").reshape(-1)
    demands = problems.columns.reshape(-1)
    ordered_columns = (order.columns * size + numbers).reshape(-1)
    # Adding these to the costs of rows closes the rows that have no mass left.
    closing_costs = np.zeros((m, size), np.float32)
    flat_closing_costs = closing_costs.reshape(-1)
    n_closed = np.zeros_like(numbers)
    max_closed = problems.n_rows - 1
    # The place in ``ordered_columns`` of the column that is being served.
    turn = numbers
    last_turn = (problems.n_columns - 1) * size + numbers
    column = ordered_columns[:size]
    demand = demands.take(column)
    for edge in range(n_edges):
        open_costs = costs_by_row.take(column, -1) + closing_costs
        row = _read_places(np.amin(open_costs, 0))
        row_place = row * size + numbers
        supply = supplies.take(row_place)
        flow = np.minimum(supply, demand)
        # Either the row or the column is finished, and one row stays open for the last column.
        row_ends = ((supply <= demand) & (n_closed < max_closed)) | (turn == last_turn)
        rows[edge] = row
        column_places[edge] = column
        flows[edge] = flow
        is_row_leaf[edge] = row_ends
        supplies[row_place] = supply - flow
        flat_closing_costs[row_place] = np.where(row_ends, _CLOSING_COST, 0.0)
        n_closed = n_closed + row_ends
        turn = np.where(row_ends, turn, turn + size)
        column = ordered_columns.take(turn)
        demand = np.where(row_ends, demand - flow, demands.take(column))
    n_nodes = problems.n_rows + problems.n_columns
    is_used = np.arange(n_edges)[:, None] < n_nodes - 1
    return _PlacedEdges(
        rows=np.where(is_used, rows, 0),
        columns=np.where(is_used, column_places // size, 0),
        flows=np.where(is_used, flows, 0.0),
        is_row_leaf=is_row_leaf,
        is_used=is_used,
    )


def _root_trees(costs: Floats, edges: _PlacedEdges, tolerance: Floats) -> _Trees:
    """Find the paths and potentials of the first trees.

    The edge placed last is at the root. Edges are added from the last to the first, so that the
    parent of each new leaf has its path already.
    """
    m, n, size = costs.shape
    numbers = np.arange(size)
    n_edges = len(edges.rows)
    # One bit per edge, and the sign bit.
    mask_type: np.dtype[Any] = np.dtype(np.int64)
    if n_edges <= 31:
        mask_type = np.dtype(np.int32)
    bits = _edge_bits(n_edges, mask_type)
    no_edge = np.zeros_like(bits)
    down_bits = np.where(edges.is_row_leaf, no_edge, bits)
    up_bits = np.where(edges.is_row_leaf, bits, no_edge)
    cells = edges.rows * n + edges.columns
    edge_costs = costs.reshape(-1).take(cells * size + numbers)
    # Nodes are indexed flat, at node * size + problem. Unused edges write to one more node.
    row_nodes = edges.rows * size + numbers
    column_nodes = (m + edges.columns) * size + numbers
    parents = np.where(edges.is_row_leaf, column_nodes, row_nodes)
    leaves = np.where(edges.is_row_leaf, row_nodes, column_nodes)
    leaves = np.where(edges.is_used, leaves, (m + n) * size + numbers)
    down = np.zeros((m + n + 1) * size, mask_type)
    up = np.zeros((m + n + 1) * size, mask_type)
    potentials = np.zeros((m + n + 1) * size)
    for edge in range(n_edges - 1, -1, -1):
        leaf = leaves[edge]
        parent = parents[edge]
        down[leaf] = down[parent] | down_bits[edge]
        up[leaf] = up[parent] | up_bits[edge]
        potentials[leaf] = edge_costs[edge] - potentials[parent]
    by_node = potentials.reshape(m + n + 1, size)
    return _Trees(
        numbers=numbers,
        costs=costs,
        tolerance=tolerance,
        cells=cells,
        flows=edges.flows,
        down=down.reshape(m + n + 1, size)[:-1],
        up=up.reshape(m + n + 1, size)[:-1],
        u=by_node[:m],
        v=by_node[m:-1],
    )


def _edge_bits(n_edges: int, mask_type: np.dtype[Any]) -> Masks:
    """Return the mask of each edge, shape (edges, 1)."""
    shifts = np.arange(n_edges, dtype=mask_type)[:, None]
    bits: Masks = np.ones_like(shifts) << shifts
    return bits


# ---- pivots -----------------------------------------------------------------


class _Cycle(NamedTuple):
    """The cycle that an entering cell closes in each tree.

    The arrays have the shape (problems,), and masks contain edges of the tree.

    Attributes
    ----------
    falling, rising : int arrays
        The edges whose flow becomes smaller and those whose flow becomes larger.
    column_path : int array
        The edges on the path to the column of the entering cell.
    """

    falling: Masks
    rising: Masks
    column_path: Masks


def _pivot(trees: _Trees, reduced: Floats, column: Ints, is_active: Bools) -> None:
    """Let the cheapest cell enter each tree, send mass around its cycle and repair the tree.

    In a solved problem, a cell enters that the tree already contains. That changes nothing.

    Parameters
    ----------
    trees : _Trees
    reduced : float64 array, shape (problems,)
        The least reduced cost of each problem.
    column : int64 array, shape (problems,)
        The column of a cell with that reduced cost.
    is_active : bool array, shape (problems,)
        False for solved problems.
    """
    m, n = trees.costs.shape[:2]
    numbers = np.arange(len(column))
    column = np.where(is_active, column, trees.cells[0] % n)
    column_costs = trees.costs.reshape(m, -1).take(column * len(numbers) + numbers, -1)
    row = _first_minimum(column_costs - trees.u).places
    row = np.where(is_active, row, trees.cells[0] // n)
    cycle = _find_cycle(trees, row, m + column)
    leaving = _send_mass(trees, cycle, row * n + column)
    # The sign with which potentials change depends on the side of the leaving edge.
    cuts_column = (cycle.column_path >> leaving) & 1 != 0
    sign = np.where(cuts_column, 1, -1)
    behind = _repair_paths(trees, cycle, leaving, cuts_column)
    step = reduced * is_active * sign
    # The mask is -1 for nodes behind the leaving edge, and 0 for other nodes.
    trees.v -= behind[m:] * step
    trees.u += behind[:m] * step


def _find_cycle(trees: _Trees, row: Ints, column_node: Ints) -> _Cycle:
    """Return the cycle of the edge from a row to a column.

    The cycle is walked from the row to the column over the new edge, and back over the tree: edges
    that are walked from column to row lose mass. Edges common to both paths cancel out.

    Parameters
    ----------
    trees : _Trees
    row, column_node : int64 arrays, shape (problems,)
        The nodes of the new edge.
    """
    numbers = np.arange(len(row))
    down_to_row = trees.down[row, numbers]
    up_to_row = trees.up[row, numbers]
    down_to_column = trees.down[column_node, numbers]
    up_to_column = trees.up[column_node, numbers]
    return _Cycle(
        falling=(down_to_column & ~down_to_row) | (up_to_row & ~up_to_column),
        rising=(down_to_row & ~down_to_column) | (up_to_column & ~up_to_row),
        column_path=down_to_column | up_to_column,
    )


def _send_mass(trees: _Trees, cycle: _Cycle, cell: Ints) -> Masks:
    """Send as much mass as possible around the cycle of a new cell, in place.

    Returns
    -------
    int array, shape (problems,)
        The number of the edge that leaves the tree. The new cell gets its number.
    """
    numbers = np.arange(len(cell))
    n_edges = len(trees.cells)
    bits = _edge_bits(n_edges, cycle.falling.dtype)
    is_falling = (cycle.falling & bits) != 0
    is_rising = (cycle.rising & bits) != 0
    smallest = _first_minimum(np.where(is_falling, trees.flows, _LARGE_FLOW))
    amount = smallest.values
    leaving = smallest.places
    increase = np.where(is_rising, amount, 0.0)
    trees.flows += np.where(is_falling, -amount, increase)
    trees.flows[leaving, numbers] = amount
    trees.cells[leaving, numbers] = cell
    return leaving.astype(bits.dtype)


def _repair_paths(
    trees: _Trees, cycle: _Cycle, leaving: Masks, cuts_column: Bools
) -> Masks:
    """Lead the paths of all nodes behind the leaving edge over the new edge, in place.

    A path is a sum of signed edges. The new path of a node is its old path plus or minus the cycle:
    edges of the cycle that the path contains are removed, and the others are added.

    Parameters
    ----------
    trees : _Trees
    cycle : _Cycle
    leaving : int array, shape (problems,)
        The number of the leaving edge, which is also the number of the new edge.
    cuts_column : bool array, shape (problems,)
        Whether the column of the new edge is behind the leaving edge. Otherwise its row is.

    Returns
    -------
    int array, shape (nodes, problems)
        -1 for nodes behind the leaving edge, and 0 for other nodes.
    """
    one = np.ones_like(leaving)
    leaving_bit = one << leaving
    other_falling = cycle.falling & ~leaving_bit
    down = trees.down
    up = trees.up
    # All bits of -1 are ones, so that `& behind` selects the nodes behind the leaving edge.
    behind: Masks = -(((down | up) >> leaving) & 1)
    gained = np.where(cuts_column, cycle.rising, other_falling) & behind
    lost = np.where(cuts_column, other_falling, cycle.rising) & behind
    new_edge = leaving_bit & behind
    walks_down: Masks = -(cuts_column * one)  # -1 or 0, as for ``behind``
    changed_down = (down & ~lost) | (gained & ~up)
    changed_up = (up & ~gained) | (lost & ~down)
    trees.down = (changed_down & ~new_edge) | (new_edge & walks_down)
    trees.up = (changed_up & ~new_edge) | (new_edge & ~walks_down)
    return behind
