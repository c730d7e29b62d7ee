"""A block of transport problems solved by what suits each, and checked.

Conventions
-----------
Problems lie along the last axis. One with a single row or column has one plan; as many equal
masses on both sides are an assignment (``core.even``); others of at most 63 rows and columns are
solved together (``core.simplex``); larger ones, those of costs above 1e306, and any whose gap
stays above 1e-9 of its largest cost, are solved one by one by POT's network simplex (Bonneel et
al. 2011), in its compiled form, whose Python wrapper costs ten times the solution. POT is imported
only then: importing it takes a second, and three where torch is installed, which it loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.even import are_even, solve_even
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.simplex import MOST_NODES, Solved, solve
from semmetrics.core.space import Space, running_total
from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["CELLS", "block_cells", "checked_cells", "parts_by_size", "settle", "wrong_value"]

Way: TypeAlias = Callable[[Any, Any, Any, Any, Any, Any], Solved]

CELLS = 1 << 19
"""Most costs in a block on the processor; on another device 16 times as many."""

_FEWEST = 1 << 16  # below, threads cost more than they save
_SLACK = 1.05  # so that blocks of unlike sizes leave no small one over

_GAP = 1e-9  # of the largest cost
_DEAREST = 1e306  # sums of larger costs may not be finite
STEPS = (100_000, 100_000_000)  # of the network simplex, before giving up
_OPTIMAL = 1  # its status


def block_cells(space: Space, n_rows: Ints, n_columns: Ints, workers: int) -> int:
    """How many costs make a block on the device of an array: an equal share, or the most."""
    device = space.where.get("device")
    if device is not None and device.type != "cpu":
        return CELLS << 4
    total = int((n_rows * n_columns).sum())
    blocks = workers * max(1, -(-total // (CELLS * workers)))
    return min(CELLS, max(_FEWEST, int(total / blocks * _SLACK)))


def parts_by_size(n_rows: Ints, n_columns: Ints, cells: int) -> Iterator[Ints]:
    """Positions of problems in parts of similar sizes, each of about ``cells`` cells.

    Examples
    --------
    >>> [part.tolist() for part in parts_by_size(np.array([1, 2, 1]), np.array([4, 2, 4]), 8)]
    [[0, 2], [1]]
    """
    order = np.lexsort((n_columns, n_rows))
    tall, wide, start = n_rows[order], n_columns[order], 0
    while start < len(order):
        stop = start + max(1, cells // max(1, int(tall[start] * wide[start])))
        area = int(tall[start:stop][-1]) * int(wide[start:stop].max())
        stop = min(stop, start + max(1, cells // max(1, area)))
        yield order[start:stop]
        start = stop


def wrong_value(what: str, space: Space, values: Any, good: Any, numbers: Any) -> InputError:
    """Name the first problem with a value that is not good; problems lie along the last axis."""
    bad = space.numpy(~good).reshape(-1, good.shape[-1])
    column = int(np.flatnonzero(bad.any(0))[0])
    place = int(np.flatnonzero(bad[:, column])[0])
    value = space.numpy(values).reshape(bad.shape)[place, column]
    return InputError(
        f"{what} is {value}",
        where=f"problem {int(numbers[column])}",
        remedy="give finite numbers that are not negative",
    )


def checked_cells(costs: Any, rows: Any, columns: Any, numbers: Any) -> Any:
    """Cells where both sides have mass.

    Raises
    ------
    InputError
        If a cost of such a cell is negative or not finite; names the problem.
    """
    used = (rows > 0)[:, None] & (columns > 0)
    if not used.any() or (costs.min() >= 0 and costs.max() < np.inf):
        return used
    good = (costs >= 0) & (costs < np.inf) | ~used
    if not good.all():
        raise wrong_value("a cost", Space(costs), costs, good, numbers)
    return used


def settle(
    costs: Any, rows: Any, columns: Any, numbers: Ints, *, method: str = "auto", plan: Any = None
) -> tuple[Any, Any]:
    """Costs and gaps of the problems of one block.

    Parameters
    ----------
    costs : float64 array or tensor, shape (rows, columns, problems)
        Anything where a side has no mass.
    rows, columns : float64, shapes (rows, problems) and (columns, problems)
        Masses, not negative. The two sums of a problem agree up to rounding; they need not be 1.
    numbers : int array, shape (problems,)
        What to call the problems in errors.
    method : {"auto", "network"}
    plan : float64, shape (rows, columns, problems), optional
        Zeros; the plans are written into it.

    Returns
    -------
    two float64 arrays or tensors, shape (problems,)
        nan where a side has no mass.

    Raises
    ------
    InputError
        If a cost is negative or not finite, or a problem cannot be solved; names the problem.
    """
    space, size = Space(costs), costs.shape[2]
    used = checked_cells(costs, rows, columns, numbers)
    value, gaps = space.zeros(size) + np.nan, space.zeros(size) + np.nan
    if not (costs.shape[0] and costs.shape[1]):
        return value, gaps
    costs = costs if used.all() else space.xp.where(used, costs, 0.0)
    largest = space.xp.amax(space.xp.amax(costs, 0), 0)
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    some = (n_rows > 0) & (n_columns > 0)
    summable = some & (largest <= _DEAREST)
    if method == "auto":
        for way, chosen in _ways(space, rows, columns, n_rows, n_columns):
            for flip in (False, True):
                these = space.nonzero(summable & chosen & ((n_rows > n_columns) == flip))
                if len(these):
                    found = _together(
                        space, way, (costs, rows, columns, largest), these, flip, plan
                    )
                    value[these], gaps[these] = found.costs, found.gaps
    for k in space.nonzero(some & ~(gaps <= _GAP * largest)).tolist():
        cost, mine, theirs = (space.numpy(side[..., k]) for side in (costs, rows, columns))
        value[k], gaps[k], one = _network(cost, mine, theirs, int(numbers[k]))
        if plan is not None:
            plan[..., k] = space.array(one)
    return value, gaps


def _ways(
    space: Space, rows: Any, columns: Any, n_rows: Any, n_columns: Any
) -> Iterator[tuple[Way, Any]]:
    """Ways to solve problems together, and those for each: what a problem is decides alone."""
    lone = (n_rows == 1) | (n_columns == 1)
    yield _only_plan, lone
    even = lone & False
    if not space.torch:  # some one by one on the processor, which a device would wait for
        even = are_even(rows, columns, n_rows, n_columns)
        yield solve_even, even
    yield solve, ~lone & ~even & (n_rows + n_columns <= MOST_NODES)


def _together(
    space: Space, way: Way, sides: tuple[Any, ...], these: Any, flip: bool, plan: Any
) -> Solved:
    """Solve these problems at once, turned so that rows are the shorter side."""
    if len(these) == sides[0].shape[2]:
        costs, rows, columns, largest = sides
    else:
        costs, rows, columns, largest = (space.chosen(side, these) for side in sides)
    costs, rows, row_order = _to_front(space, costs, rows, 0)
    costs, columns, column_order = _to_front(space, costs, columns, 1)
    if flip:
        costs, rows, columns = costs.swapaxes(0, 1), columns, rows
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    m, n = int(n_rows.max()), int(n_columns.max())
    costs, rows, columns = space.dense(costs[:m, :n]), rows[:m], columns[:n]
    found = way(costs, rows, columns, n_rows, n_columns, largest)
    if plan is not None:
        at = space.arange(len(these))
        for cell, flow in zip(found.cells, found.flows, strict=True):
            row, column = cell // n, cell % n
            row, column = (column, row) if flip else (row, column)
            plan[row_order[row, at], column_order[column, at], these] += flow
    return found


def _to_front(space: Space, costs: Any, mass: Any, axis: int) -> tuple[Any, Any, Any]:
    """Rows or columns with mass before those without, in their order, and where each was."""
    used = mass > 0
    order = space.arange(len(mass))[:, None] + space.zeros(1, mass.shape[1], dtype="int64")
    some = space.nonzero((used[1:] & ~used[:-1]).any(0))
    if len(some):
        order[:, some] = sorting = space.stable_order(~used[:, some])
        costs, mass, few = costs + 0, mass + 0, costs[..., some]
        whole = sorting[:, None] if axis == 0 else sorting[None]
        whole = whole + space.zeros(*few.shape, dtype="int64")
        costs[..., some] = space.along(few, whole, axis)
        mass[:, some] = space.along(mass[:, some], sorting, 0)
    return costs, mass, order


def _only_plan(
    costs: Any, rows: Any, columns: Any, n_rows: Any, n_columns: Any, largest: Any
) -> Solved:
    """One row serves every column."""
    space = Space(costs)
    cells = space.arange(len(columns))[:, None] + n_rows * 0
    unplaced = abs(rows[0] - running_total(columns))
    return Solved(running_total(costs[0] * columns), unplaced * largest, cells, columns)


def _network(
    costs: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any], number: int
) -> tuple[float, float, Floats]:
    """One problem by POT's network simplex: its cost, gap and plan."""
    plan = np.zeros(costs.shape)
    kept = np.ix_(rows > 0, columns > 0)
    costs, rows, columns = np.ascontiguousarray(costs[kept]), rows[rows > 0], columns[columns > 0]
    columns = columns * (rows.sum() / columns.sum())
    largest = float(costs.max())
    if largest == 0.0:  # the network simplex may not return
        plan[kept] = rows[:, None] * columns / rows.sum()
        return 0.0, 0.0, plan
    scaled = costs / largest
    part, u = _emd(scaled, rows, columns, number)
    value = float((part * costs).sum())
    bound = float(rows @ u + columns @ (scaled - u[:, None]).min(axis=0))
    unplaced = abs(part.sum(1) - rows).sum() + abs(part.sum(0) - columns).sum()
    gap = abs(value / largest - bound) + float(unplaced)
    if not gap <= _GAP:
        raise InputError(
            f"the plan of the network simplex misses the optimum by up to {gap * largest}",
            where=f"problem {number}",
            remedy="scale its masses, whose range is too wide",
        )
    plan[kept] = part
    return value, gap * largest, plan


def _emd(costs: Floats, rows: Floats, columns: Floats, number: int) -> tuple[Floats, Floats]:
    """Plan and row potentials, with more steps where the first number of them does not do."""
    try:
        from ot.lp.emd_wrap import emd_c  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingDependencyError("POT", "optimal transport", extra="all") from error
    status = -1
    for steps in STEPS:
        plan, _, u, _, status = emd_c(rows, columns, costs, steps, 1)
        if status == _OPTIMAL:
            return np.asarray(plan), np.asarray(u)
    raise InputError(
        f"the network simplex found no plan in {STEPS[-1]:,} steps (status {status})",
        where=f"problem {number}",
        remedy="check its masses, or make the problem smaller",
    )
