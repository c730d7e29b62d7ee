"""Blocks of small transport problems, and proofs of how good their plans are.

Conventions
-----------
A transport problem has a mass for each row and each column, and a cost for each cell (row, column).
A plan assigns a flow to each cell, so that the flows of a row or column add up to its mass. Its
value is the sum of flows times costs.

All problems of a block are along the last axis of its arrays, so that every step of a solver is a
few operations on long vectors. Rows, columns and costs outside the size of a problem are padding.
Sums are computed in a fixed order, so that a problem has the same bits alone, in any block and with
any padding.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints

Singles: TypeAlias = NDArray[np.float32]

_MIN_DIVISOR = 1e-300  # quotients by smaller numbers may overflow


class TransportProblems(NamedTuple):
    """A block of transport problems.

    Attributes
    ----------
    costs : float64 array, shape (rows, columns, problems)
        Finite and not negative. 0 for padding.
    rows, columns : float64 arrays, shapes (rows, problems) and (columns, problems)
        Masses: positive, and 0 for padding. The rows and the columns of a problem have equal sums.
    n_rows, n_columns : int64 arrays, shape (problems,)
        The sizes of the problems, at least 1.
    largest : float64 array, shape (problems,)
        The largest cost of each problem.
    """

    costs: Floats
    rows: Floats
    columns: Floats
    n_rows: Ints
    n_columns: Ints
    largest: Floats

    def take(self, numbers: Ints) -> TransportProblems:
        """Return problems by number."""
        return TransportProblems(
            costs=self.costs.take(numbers, -1),
            rows=self.rows.take(numbers, -1),
            columns=self.columns.take(numbers, -1),
            n_rows=self.n_rows.take(numbers, -1),
            n_columns=self.n_columns.take(numbers, -1),
            largest=self.largest.take(numbers, -1),
        )


class Solutions(NamedTuple):
    """Costs of optimal plans, and how far they can be from the optimum.

    Attributes
    ----------
    costs : float64 array, shape (problems,)
        The values of the plans.
    gaps : float64 array, shape (problems,)
        The value of a plan minus the value of dual potentials, plus the mass that the plan does not
        place times the largest cost.
    """

    costs: Floats
    gaps: Floats


class Plans(NamedTuple):
    """Plans of transport problems, and the row potentials that prove them.

    Attributes
    ----------
    cells : int64 array, shape (edges, problems)
        The cells with a flow: row * columns + column.
    flows : float64 array, shape (edges, problems)
    row_potentials : float64 array, shape (rows, problems)
    """

    cells: Ints
    flows: Floats
    row_potentials: Floats


def used_cells(rows: Floats, columns: Floats) -> Bools:
    """Return which cells have mass in their row and in their column.

    Parameters
    ----------
    rows, columns : float arrays, shapes (rows, problems) and (columns, problems)

    Returns
    -------
    bool array, shape (rows, columns, problems)
    """
    used: Bools = (rows > 0)[:, None] & (columns > 0)
    return used


def certify(
    problems: TransportProblems, closed_costs: Floats, plans: Plans
) -> Solutions:
    """Return the values of plans, and how far they can be from the optimum.

    The best column potentials for given row potentials are the minima of costs minus row
    potentials. Then the sum of masses times potentials is a lower bound of every plan's value.

    Parameters
    ----------
    problems : TransportProblems
    closed_costs : float64 array, shape (rows, columns, problems)
        The costs, with inf for padding.
    plans : Plans
    """
    n_columns, n_problems = problems.costs.shape[1:]
    numbers = np.arange(n_problems)
    flat_costs = problems.costs.reshape(-1)
    cell_costs = flat_costs.take(plans.cells * n_problems + numbers)
    values = sum_in_order(cell_costs * plans.flows)
    reduced_costs = best_rows(closed_costs, plans.row_potentials)
    column_potentials = np.where(problems.columns > 0, reduced_costs, 0.0)
    row_bounds = sum_in_order(problems.rows * plans.row_potentials)
    column_bounds = sum_in_order(problems.columns * column_potentials)
    bounds = row_bounds + column_bounds
    unplaced = np.zeros(n_problems)
    unplaced += _sum_unplaced(problems.rows, plans.cells // n_columns, plans.flows)
    unplaced += _sum_unplaced(problems.columns, plans.cells % n_columns, plans.flows)
    return Solutions(values, abs(values - bounds) + unplaced * problems.largest)


def _sum_unplaced(masses: Floats, lines: Ints, flows: Floats) -> Floats:
    """Return how much the flows of rows or columns differ from their masses.

    Parameters
    ----------
    masses : float64 array, shape (lines, problems)
        Masses of the rows, or of the columns.
    lines : int64 array, shape (edges, problems)
        The row or column of each flow.
    flows : float64 array, shape (edges, problems)

    Returns
    -------
    float64 array, shape (problems,)
    """
    n_problems = masses.shape[1]
    places = (lines * n_problems + np.arange(n_problems)).reshape(-1)
    placed = np.bincount(places, flows.reshape(-1), masses.size)
    differences = abs(masses - placed.reshape(-1, n_problems))
    unplaced: Floats = sum_in_order(differences)
    return unplaced


def best_rows(costs: Floats, row_potentials: Floats) -> Floats:
    """Return the minimum of costs minus row potentials in each column.

    Parameters
    ----------
    costs : float array, shape (rows, columns, problems)
    row_potentials : float array, shape (rows, problems)

    Returns
    -------
    float array, shape (columns, problems)
    """
    least: Floats = costs[0] - row_potentials[0]
    for row in range(1, len(row_potentials)):
        np.minimum(least, costs[row] - row_potentials[row], out=least)
    return least


def scale_costs(costs: Floats, largest: Floats) -> Singles:
    """Divide costs by the largest cost of each problem, in single precision. 0 if that is 0."""
    divisors = np.where(largest > _MIN_DIVISOR, largest, np.inf)
    scaled: Singles = np.empty(costs.shape, np.float32)
    np.multiply(costs, 1 / divisors, out=scaled, casting="same_kind")
    return scaled
