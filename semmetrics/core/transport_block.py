"""Optimal transport of a block of small problems, each solved by the method that suits it.

Conventions
-----------
Problems lie along the last axis, as (rows, columns, problems). A problem with a single row or
column has one plan. As many equal masses on both sides are an assignment
(``core.uniform_assignment``). Other problems of at most 63 rows and columns are solved together
(``core.simplex``). What is left is solved one by one: larger problems, those of costs above 1e306,
and any whose gap stays above 1e-9 of its largest cost.

One problem alone is solved by POT's network simplex (Bonneel et al. 2011) where POT is installed,
in its compiled form, whose Python wrapper costs ten times the solution; otherwise, and where that
finds no plan, by scipy's linear programming (HiGHS, Huangfu and Hall 2018). Both are exact; the
first is some thirty times faster. POT is imported only then: importing it takes a second, and
three where torch is installed, which it loads.

References
----------
Bonneel, van de Panne, Paris, Heidrich, 2011, Displacement interpolation using Lagrangian mass
transport, ACM Transactions on Graphics 30 (6).
Huangfu, Hall, 2018, Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10 (1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, sum_in_order
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.simplex import MAX_NODES, Solutions, solve_simplex
from semmetrics.core.uniform_assignment import (
    MAX_TOGETHER,
    is_uniform,
    solve_singly,
    solve_uniform,
)
from semmetrics.errors import InputError

__all__ = [
    "cells_per_block",
    "linear_program",
    "network_simplex",
    "solve_block",
    "used_cells",
]

Solver: TypeAlias = Callable[[Any, Any, Any, Any, Any, Any], Solutions]
Plan: TypeAlias = tuple[Floats, Floats]  # and row potentials

CELLS = 1 << 19
"""Most costs in a block on the processor; on another device 16 times as many."""

_FEWEST = 1 << 16  # below, threads cost more than they save
_SLACK = 1.05  # so that blocks of unlike sizes leave no small one over

_GAP = 1e-9  # of the largest cost
_DEAREST = 1e306  # sums of larger costs may not be finite
_PIVOTS = 100_000  # of the network simplex
_OPTIMAL = 1  # its status
_FEASIBLE = 1e-10  # the least tolerance that HiGHS takes


def cells_per_block(backend: Backend, n_rows: Ints, n_columns: Ints, workers: int) -> int:
    """Return how many costs make a block: an equal share for each worker, or the most."""
    if not backend.on_cpu:
        return CELLS << 4
    total = int((n_rows * n_columns).sum())
    blocks = workers * max(1, -(-total // (CELLS * workers)))
    return min(CELLS, max(_FEWEST, int(total / blocks * _SLACK)))


def used_cells(rows: Any, columns: Any) -> Any:
    """Return the cells where both sides have mass."""
    return (rows > 0)[:, None] & (columns > 0)


def solve_block(costs: Any, rows: Any, columns: Any, numbers: Ints) -> Solutions:
    """Solve the problems of one block.

    Parameters
    ----------
    costs : float64 array or tensor, shape (rows, columns, problems)
        Finite and not negative; anything where a side has no mass.
    rows, columns : float64, shapes (rows, problems) and (columns, problems)
        Masses, not negative. The two sums of a problem agree up to rounding; they need not be 1.
    numbers : int array, shape (problems,)
        What to call the problems in errors.

    Returns
    -------
    Solutions
        nan where a side has no mass.

    Raises
    ------
    InputError
        If a problem cannot be solved; names it.
    """
    backend, size = Backend(costs), costs.shape[2]
    used = used_cells(rows, columns)
    value, gaps = backend.zeros(size) + np.nan, backend.zeros(size) + np.nan
    if not (costs.shape[0] and costs.shape[1]):
        return Solutions(value, gaps)
    costs = costs if used.all() else backend.xp.where(used, costs, 0.0)
    largest = backend.xp.amax(backend.xp.amax(costs, 0), 0)
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    some = (n_rows > 0) & (n_columns > 0)
    summable = some & (largest <= _DEAREST)
    for solver, chosen in _choose_solvers(backend, rows, columns, n_rows, n_columns):
        for flip in (False, True):
            these = backend.nonzero(summable & chosen & ((n_rows > n_columns) == flip))
            if len(these):
                found = _solve_together(solver, (costs, rows, columns, largest), these, flip)
                value[these], gaps[these] = found.costs, found.gaps
    for k in backend.nonzero(some & ~(gaps <= _GAP * largest)).tolist():
        one, mine, theirs = (backend.numpy(side[..., k]) for side in (costs, rows, columns))
        value[k], gaps[k] = _solve_alone(one, mine, theirs, int(numbers[k]))
    return Solutions(value, gaps)


def _choose_solvers(
    backend: Backend, rows: Any, columns: Any, n_rows: Any, n_columns: Any
) -> Iterator[tuple[Solver, Any]]:
    """Yield solvers and the problems for each: only the problem itself decides."""
    lone = (n_rows == 1) | (n_columns == 1)
    yield _solve_single_row, lone
    uniform = lone & False
    if not backend.torch:  # some one by one on the processor, which a device would wait for
        uniform = is_uniform(rows, columns, n_rows, n_columns)
        yield solve_uniform, uniform & (n_rows <= MAX_TOGETHER)
        yield solve_singly, uniform & (n_rows > MAX_TOGETHER)
    yield solve_simplex, ~lone & ~uniform & (n_rows + n_columns <= MAX_NODES)


def _solve_together(solver: Solver, sides: tuple[Any, ...], these: Any, flip: bool) -> Solutions:
    """Solve these problems at once, turned so that rows are the shorter side."""
    backend = Backend(sides[0])
    if len(these) == sides[0].shape[2]:
        costs, rows, columns, largest = sides
    else:
        costs, rows, columns, largest = (backend.take_last(side, these) for side in sides)
    costs, rows = _pack_front(backend, costs, rows, 0)
    costs, columns = _pack_front(backend, costs, columns, 1)
    if flip:
        costs, rows, columns = costs.swapaxes(0, 1), columns, rows
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    m, n = int(n_rows.max()), int(n_columns.max())
    costs, rows, columns = backend.contiguous(costs[:m, :n]), rows[:m], columns[:n]
    return solver(costs, rows, columns, n_rows, n_columns, largest)


def _pack_front(backend: Backend, costs: Any, mass: Any, axis: int) -> tuple[Any, Any]:
    """Move rows or columns with mass before those without, keeping their order."""
    used = mass > 0
    some = backend.nonzero((used[1:] & ~used[:-1]).any(0))
    if len(some):
        order = backend.stable_argsort(~used[:, some])
        costs, mass, few = costs + 0, mass + 0, costs[..., some]
        whole = order[:, None] if axis == 0 else order[None]
        whole = whole + backend.zeros(*few.shape, dtype="int64")
        costs[..., some] = backend.take_along(few, whole, axis)
        mass[:, some] = backend.take_along(mass[:, some], order, 0)
    return costs, mass


def _solve_single_row(
    costs: Any, rows: Any, columns: Any, n_rows: Any, n_columns: Any, largest: Any
) -> Solutions:
    """Serve every column from the one row."""
    unplaced = abs(rows[0] - sum_in_order(columns))
    return Solutions(sum_in_order(costs[0] * columns), unplaced * largest)


def _solve_alone(
    costs: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], number: int
) -> tuple[float, float]:
    """Return the cost and the gap of one problem."""
    costs = np.ascontiguousarray(costs[np.ix_(rows > 0, columns > 0)])
    rows, columns = rows[rows > 0], columns[columns > 0]
    columns = columns * (rows.sum() / columns.sum())
    largest = float(costs.max())
    if largest == 0.0:  # the network simplex may not return
        return 0.0, 0.0
    scaled = costs / largest
    found = network_simplex(scaled, rows, columns) or linear_program(scaled, rows, columns)
    if found is None:
        raise InputError(
            "no plan of transport was found",
            where=f"problem {number}",
            remedy="check its masses, or make the problem smaller",
        )
    plan, u = found
    value = float((plan * costs).sum())
    bound = float(rows @ u + columns @ (scaled - u[:, None]).min(axis=0))
    unplaced = abs(plan.sum(1) - rows).sum() + abs(plan.sum(0) - columns).sum()
    gap = abs(value / largest - bound) + float(unplaced)
    if not gap <= _GAP:
        raise InputError(
            f"the plan of transport misses the optimum by up to {gap * largest}",
            where=f"problem {number}",
            remedy="scale its masses, whose range is too wide",
        )
    return value, gap * largest


def network_simplex(costs: Floats, rows: Floats, columns: Floats) -> Plan | None:
    """Return a plan and row potentials by POT; None where it is missing or finds none."""
    try:
        from ot.lp.emd_wrap import emd_c  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    plan, _, u, _, status = emd_c(rows, columns, costs, _PIVOTS, 1)
    return (np.asarray(plan), np.asarray(u)) if status == _OPTIMAL else None


def linear_program(costs: Floats, rows: Floats, columns: Floats) -> Plan | None:
    """Return a plan and row potentials by scipy; None where it finds none."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    (m, n), size = costs.shape, costs.size
    row, column = np.divmod(np.arange(size), n)
    places = np.stack([row, m + column], axis=1).ravel()
    sums: Any = csc_array((np.ones(2 * size), places, np.arange(0, 2 * size + 1, 2)), (m + n, size))
    # the last column follows from the others, up to rounding, which would leave no plan
    found = linprog(
        costs.ravel(),
        A_eq=sums[:-1],
        b_eq=np.concatenate([rows, columns[:-1]]),
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": _FEASIBLE,
            "dual_feasibility_tolerance": _FEASIBLE,
        },
    )
    if found.x is None:
        return None
    return found.x.reshape(m, n), found.eqlin.marginals[:m]
