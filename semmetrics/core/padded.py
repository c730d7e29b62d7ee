"""Exact optimal transport of many small problems, each cost with the proof of its exactness.

Conventions
-----------
A problem has masses on its rows and on its columns and a cost for each cell; the result is the
least cost of carrying the one to the other, for one unit of mass. Each side is divided by its own
sum, so sides that differ by rounding, or hold counts, need no care. Rows and columns without mass
are left out, so problems of different sizes are padded with zero mass, over any costs. A problem
with an empty side has cost nan.

A *gap* is how far a cost can be from the optimum, in its units: the value of the plan minus what
dual potentials prove, and the mass misplaced by rounding times the largest cost. It is at most
1e-9 of a problem's largest cost, or there is an error. A problem's result has the same bits alone,
in any block and under any padding.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
Bonneel, van de Panne, Paris, Heidrich, 2011, Displacement interpolation using Lagrangian mass
transport, ACM Transactions on Graphics 30 (6).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints
from semmetrics.core.settle import block_cells, checked_cells, parts_by_size, settle, wrong_value
from semmetrics.core.space import Space, running_total
from semmetrics.core.workers import do_parts, usable_workers
from semmetrics.errors import InputError

__all__ = [
    "Transported",
    "relaxed_block",
    "relaxed_costs",
    "shares_of",
    "transport",
    "transport_plans",
]

METHODS = ("auto", "network")
_LARGE = 2.0**960  # masses above it are divided by it: no side has so many that they overflow then


class Transported(NamedTuple):
    """Costs and gaps of problems, shape (problems,), float64, in units of the costs given."""

    costs: Any
    gaps: Any


def transport(
    costs: Any, rows: Any, columns: Any, *, method: str = "auto", workers: int | None = None
) -> Transported:
    """Least costs of carrying the rows' mass to the columns, for padded problems.

    Parameters
    ----------
    costs : array or torch tensor, shape (problems, rows, columns)
        Finite and not negative where both sides have mass; anything elsewhere.
    rows, columns : arrays, shapes (problems, rows) and (problems, columns)
        Masses or counts, not negative; zero pads. Each side is divided by its sum.
    method : {"auto", "network"}
        "auto" solves many problems at once; "network" solves each by POT's network simplex.
        Both are exact.
    workers : int, optional
        Threads, two at most where it is not given; one for torch. Results do not depend on it.

    Returns
    -------
    Transported
        Of the kind of ``costs``, on its device; nan where a side is empty.

    Raises
    ------
    InputError
        If a shape, a mass, a cost or an option is wrong; names the problem.

    Examples
    --------
    >>> costs = np.array([[[0.0, 2.0], [2.0, 1.0]]])
    >>> transport(costs, np.array([[1, 1]]), np.array([[1, 3]])).costs
    array([1.])
    """
    space, *sides = checked_sides(costs, rows, columns)
    return _solved(space, sides, method, None, workers)


def transport_plans(
    costs: Any, rows: Any, columns: Any, *, method: str = "auto", workers: int | None = None
) -> tuple[Any, Transported]:
    """Do the same as ``transport`` and keep the plans.

    Returns
    -------
    plans : float64 array or tensor, shape (problems, rows, columns)
        Mass carried by each cell, in all 1, or 0 where a side is empty.
    Transported

    Examples
    --------
    >>> costs = np.array([[[0.0, 2.0], [2.0, 1.0]]])
    >>> transport_plans(costs, np.array([[1, 1]]), np.array([[1, 3]]))[0].tolist()
    [[[0.25, 0.25], [0.0, 0.5]]]
    """
    space, *sides = checked_sides(costs, rows, columns)
    plans = space.zeros(*sides[0].shape)
    found = _solved(space, sides, method, plans, workers)
    return space.dense(plans.swapaxes(0, 1).swapaxes(0, 2)), found


def _solved(
    space: Space, sides: list[Any], method: str, plans: Any, workers: int | None
) -> Transported:
    """Blocks of problems of similar sizes."""
    if method not in METHODS:
        raise InputError(f"method is {method!r}", remedy="give 'auto' or 'network'")
    size, workers = sides[0].shape[2], usable_workers(workers, space)
    value, gaps = space.zeros(size), space.zeros(size)
    n_rows, n_columns = (space.numpy((side > 0).sum(0)) for side in sides[1:])

    def put(numbers: Ints) -> None:
        these = space.array(numbers)
        costs, rows, columns = (space.dense(side[..., these]) for side in sides)
        plan = None if plans is None else space.zeros(*costs.shape)
        value[these], gaps[these] = settle(costs, rows, columns, numbers, method=method, plan=plan)
        if plan is not None:
            plans[..., these] = plan

    cells = block_cells(space, n_rows, n_columns, workers)
    do_parts(put, [*parts_by_size(n_rows, n_columns, cells)], workers)
    return Transported(value, gaps)


def checked_sides(costs: Any, rows: Any, columns: Any) -> tuple[Space, Any, Any, Any]:
    """Costs and shares in float64 on one device, problems along the last axis.

    Raises
    ------
    InputError
        If a shape or a mass is wrong; names the problem.
    """
    space = Space(costs)
    costs, rows, columns = (space.array(side, "float64") for side in (costs, rows, columns))
    shapes = tuple(costs.shape), tuple(rows.shape), tuple(columns.shape)
    if len(shapes[0]) != 3 or shapes[1:] != (shapes[0][:2], shapes[0][::2]):
        raise InputError(
            "costs, rows and columns have shapes {}, {} and {}".format(*shapes),
            remedy="give (problems, rows, columns), (problems, rows) and (problems, columns)",
        )
    numbers = np.arange(shapes[0][0])
    mine, theirs = shares_of(rows.T, "a row", numbers), shares_of(columns.T, "a column", numbers)
    return space, costs.swapaxes(0, 2).swapaxes(0, 1), mine, theirs


def shares_of(masses: Any, name: str, numbers: Any) -> Any:
    """Masses divided by their sum, and zeros where that is 0; problems lie along the last axis.

    Raises
    ------
    InputError
        If a mass is negative or not finite; names the problem.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 0.0], [3.0, 0.0]]), "a row", range(2)).tolist()
    [[0.25, 0.0], [0.75, 0.0]]
    """
    space = Space(masses)
    good = (masses >= 0) & (masses < np.inf)
    if not good.all():
        raise wrong_value(f"the mass of {name}", space, masses, good, numbers)
    if not len(masses):
        return masses
    most = space.xp.amax(masses, 0)
    if (most > _LARGE).any():
        masses = space.xp.where(most > _LARGE, masses / _LARGE, masses)
    total = running_total(masses)
    return masses / space.xp.where(total > 0, total, 1.0)


def relaxed_costs(costs: Any, rows: Any, columns: Any) -> Any:
    r"""Lower bounds of ``transport``: the larger of its two relaxations (Kusner et al. 2015, 4.3).

    Without the condition on columns every row goes to its nearest column, and the other way
    round: :math:`\max(\sum_i a_i \min_j c_{ij}, \sum_j b_j \min_i c_{ij})`.

    Parameters
    ----------
    costs, rows, columns
        As for ``transport``.

    Returns
    -------
    float64 array or tensor, shape (problems,)
        nan where a side is empty.

    Examples
    --------
    >>> costs = np.array([[[0.0, 2.0], [2.0, 1.0]]])
    >>> relaxed_costs(costs, np.array([[1, 1]]), np.array([[1, 3]]))
    array([0.75])
    """
    _, table, mine, theirs = checked_sides(costs, rows, columns)
    return relaxed_block(table, mine, theirs, np.arange(len(costs)))


def relaxed_block(costs: Any, rows: Any, columns: Any, numbers: Any) -> Any:
    """The same for a block with problems along the last axis and shares for masses."""
    space = Space(costs)
    if not (costs.shape[0] and costs.shape[1]):
        return space.zeros(costs.shape[2]) + np.nan
    used = checked_cells(costs, rows, columns, numbers)
    where, costs = space.xp.where, space.xp.where(used, costs, np.inf)
    sums = [
        running_total(where(mass > 0, space.xp.amin(costs, axis), 0.0) * mass)
        for axis, mass in ((1, rows), (0, columns))
    ]
    bound = space.xp.maximum(*sums)
    return where(used.any(0).any(0), bound, np.nan)
