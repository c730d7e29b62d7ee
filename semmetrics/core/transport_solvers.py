"""Solvers of transport problems, and the choice among them.

Conventions
-----------
The choice depends only on the problem itself:

- A problem with one row or one column has one plan.
- A problem with equal masses, as many on both sides, is an assignment problem
  (`core.uniform_transport`).
- Other problems with at most 63 rows and columns are solved together (`core.simplex`).
- The rest is solved one by one: larger problems, problems with costs above 1e306, and problems with
  a gap above 1e-9 of their largest cost.

One by one, problems are solved by the network simplex of POT (Bonneel et al. 2011), if POT is
installed. Its compiled function is called directly, since its Python wrapper takes ten times as
long as the solution. If POT is not installed or finds no plan, the linear programming of scipy is
used (HiGHS, Huangfu and Hall 2018). Both are exact. POT is about thirty times faster. It is
imported only if it is needed: the import takes a second, or three seconds if torch is installed.

References
----------
Bonneel, van de Panne, Paris, Heidrich, 2011, Displacement interpolation using Lagrangian mass
transport, ACM Transactions on Graphics 30 (6).
Huangfu, Hall, 2018, Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10 (1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.simplex import MAX_NODES, solve_simplex
from semmetrics.core.transport_problems import (
    Solutions,
    TransportProblems,
    used_cells,
)
from semmetrics.core.uniform_transport import (
    MAX_TOGETHER,
    is_uniform,
    solve_singly,
    solve_uniform,
)
from semmetrics.errors import InputError

Solver: TypeAlias = Callable[[TransportProblems], Solutions]

_MAX_GAP = 1e-9  # relative to the largest cost
_MAX_SUMMABLE_COST = 1e306  # sums of larger costs may overflow
_MAX_PIVOTS = 100_000  # of POT
_POT_OPTIMAL = 1  # a status of POT
_HIGHS_TOLERANCE = 1e-10  # the least tolerance that HiGHS accepts


# ---- blocks of problems -----------------------------------------------------


def solve_block(costs: Floats, rows: Floats, columns: Floats, names: Ints) -> Solutions:
    """Solve a block of transport problems.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns, problems)
        Finite and not negative. Costs of rows and columns without mass are ignored.
    rows, columns : float64 arrays, shapes (rows, problems) and (columns, problems)
        Masses, not negative. The two sums of a problem are equal up to rounding, and need not be 1.
    names : int array, shape (problems,)
        The number of each problem in messages.

    Returns
    -------
    Solutions
        nan for problems without mass.

    Raises
    ------
    InputError
        If a problem cannot be solved. The message names it.
    """
    n_problems = costs.shape[2]
    values = np.full(n_problems, np.nan)
    gaps = np.full(n_problems, np.nan)
    if not costs.shape[0] or not costs.shape[1]:
        return Solutions(values, gaps)
    used = used_cells(rows, columns)
    if not used.all():
        costs = np.where(used, costs, 0.0)
    largest = np.amax(np.amax(costs, 0), 0)
    n_rows = (rows > 0).sum(0)
    n_columns = (columns > 0).sum(0)
    problems = TransportProblems(costs, rows, columns, n_rows, n_columns, largest)
    has_mass = (n_rows > 0) & (n_columns > 0)
    is_summable = has_mass & (largest <= _MAX_SUMMABLE_COST)
    # Problems with more rows than columns are flipped.
    is_tall = n_rows > n_columns
    for solver, is_chosen in _choose_solvers(problems):
        for flip in (False, True):
            numbers = np.flatnonzero(is_summable & is_chosen & (is_tall == flip))
            if len(numbers):
                solutions = solver(_pack_problems(problems, numbers, flip=flip))
                values[numbers] = solutions.costs
                gaps[numbers] = solutions.gaps
    is_solved = gaps <= _MAX_GAP * largest
    for number in np.flatnonzero(has_mass & ~is_solved).tolist():
        values[number], gaps[number] = _solve_alone(
            costs[..., number],
            rows[..., number],
            columns[..., number],
            int(names[number]),
        )
    return Solutions(values, gaps)


def _choose_solvers(problems: TransportProblems) -> Iterator[tuple[Solver, Bools]]:
    """Yield each solver, and which problems it is chosen for. Only the problem itself decides."""
    n_rows = problems.n_rows
    n_columns = problems.n_columns
    has_single_line = (n_rows == 1) | (n_columns == 1)
    yield _solve_single_row, has_single_line
    uniform = is_uniform(problems.rows, problems.columns, n_rows, n_columns)
    yield solve_uniform, uniform & (n_rows <= MAX_TOGETHER)
    yield solve_singly, uniform & (n_rows > MAX_TOGETHER)
    is_small = n_rows + n_columns <= MAX_NODES
    yield solve_simplex, ~has_single_line & ~uniform & is_small


def _pack_problems(
    problems: TransportProblems, numbers: Ints, *, flip: bool
) -> TransportProblems:
    """Return problems by number, without rows and columns that are padding in all of them.

    Parameters
    ----------
    problems : TransportProblems
    numbers : int array
    flip : bool
        Whether to swap rows and columns, so that no problem has more rows than columns.
    """
    if len(numbers) < len(problems.largest):
        problems = problems.take(numbers)
    costs, rows = _pack_front(problems.costs, problems.rows, 0)
    costs, columns = _pack_front(costs, problems.columns, 1)
    n_rows = problems.n_rows
    n_columns = problems.n_columns
    if flip:
        costs = costs.swapaxes(0, 1)
        rows, columns = columns, rows
        n_rows, n_columns = n_columns, n_rows
    m = int(n_rows.max())
    n = int(n_columns.max())
    return TransportProblems(
        costs=np.ascontiguousarray(costs[:m, :n]),
        rows=rows[:m],
        columns=columns[:n],
        n_rows=n_rows,
        n_columns=n_columns,
        largest=problems.largest,
    )


def _pack_front(costs: Floats, masses: Floats, axis: int) -> tuple[Floats, Floats]:
    """Move rows or columns with mass before those without mass, and keep their order.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns, problems)
    masses : float64 array, shape (rows or columns, problems)
    axis : {0, 1}
        The axis of ``costs`` to which the masses belong.
    """
    has_mass = masses > 0
    is_out_of_order = (has_mass[1:] & ~has_mass[:-1]).any(0)
    numbers = np.flatnonzero(is_out_of_order)
    if not len(numbers):
        return costs, masses
    order = np.argsort(~has_mass[:, numbers], axis=0, kind="stable")
    cost_order = order[:, None] if axis == 0 else order[None]
    packed_costs = costs + 0
    packed_masses = masses + 0
    packed_costs[..., numbers] = np.take_along_axis(
        costs[..., numbers], cost_order, axis
    )
    packed_masses[:, numbers] = np.take_along_axis(masses[:, numbers], order, 0)
    return packed_costs, packed_masses


def _solve_single_row(problems: TransportProblems) -> Solutions:
    """Serve every column from the only row."""
    values = sum_in_order(problems.costs[0] * problems.columns)
    unplaced = abs(problems.rows[0] - sum_in_order(problems.columns))
    return Solutions(values, unplaced * problems.largest)


# ---- single problems --------------------------------------------------------


class _SinglePlan(NamedTuple):
    """A plan of one problem, and row potentials that prove it.

    Attributes
    ----------
    flows : float64 array, shape (rows, columns)
    row_potentials : float64 array, shape (rows,)
    """

    flows: Floats
    row_potentials: Floats


def _solve_alone(
    costs: Floats, rows: Floats, columns: Floats, name: int
) -> tuple[float, float]:
    """Return the cost and the gap of one problem.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns)
    rows, columns : float64 arrays, shapes (rows,) and (columns,)
        Masses.
    name : int
        The number of the problem in messages.
    """
    costs = np.ascontiguousarray(costs[np.ix_(rows > 0, columns > 0)])
    rows = rows[rows > 0]
    columns = columns[columns > 0]
    columns = columns * (rows.sum() / columns.sum())
    largest = float(costs.max())
    if largest == 0.0:
        return 0.0, 0.0  # the network simplex may not return
    scaled_costs = costs / largest
    plan = network_simplex(scaled_costs, rows, columns)
    if plan is None:
        plan = linear_program(scaled_costs, rows, columns)
    if plan is not None:
        flows, row_potentials = plan
        value = float((flows * costs).sum())
        column_potentials = (scaled_costs - row_potentials[:, None]).min(axis=0)
        bound = float(rows @ row_potentials + columns @ column_potentials)
        unplaced_rows = abs(flows.sum(1) - rows).sum()
        unplaced_columns = abs(flows.sum(0) - columns).sum()
        gap = abs(value / largest - bound) + float(unplaced_rows + unplaced_columns)
        if gap <= _MAX_GAP:
            return value, gap * largest
    raise InputError("unsolved-transport", f"problem {name}", gap=_MAX_GAP)


def network_simplex(costs: Floats, rows: Floats, columns: Floats) -> _SinglePlan | None:
    """Solve one problem with POT. Return None if POT is not installed or finds no plan."""
    try:
        from ot.lp.emd_wrap import emd_c  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    flows, _, row_potentials, _, status = emd_c(rows, columns, costs, _MAX_PIVOTS, 1)
    if status != _POT_OPTIMAL:
        return None
    return _SinglePlan(np.asarray(flows), np.asarray(row_potentials))


def linear_program(costs: Floats, rows: Floats, columns: Floats) -> _SinglePlan | None:
    """Solve one problem with scipy. Return None if scipy finds no plan."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    m, n = costs.shape
    n_cells = costs.size
    row, column = np.divmod(np.arange(n_cells), n)
    # The matrix sums the flows of each row and each column: every cell counts in one of each.
    lines = np.stack([row, m + column], axis=1).ravel()
    cell_offsets = np.arange(0, 2 * n_cells + 1, 2)
    sums = csc_array((np.ones(2 * n_cells), lines, cell_offsets), (m + n, n_cells))
    # The condition for the last column follows from the others, up to rounding, with which there
    # may be no plan.
    result = linprog(
        costs.ravel(),
        A_eq=sums[:-1],
        b_eq=np.concatenate([rows, columns[:-1]]),
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _HIGHS_TOLERANCE,
            "dual_feasibility_tolerance": _HIGHS_TOLERANCE,
        },
    )
    if result.x is None:
        return None
    return _SinglePlan(result.x.reshape(m, n), result.eqlin.marginals[:m])
