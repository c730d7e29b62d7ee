"""Transport problems with equal masses and as many rows as columns: assignment problems.

Some optimal plan of such a problem is a permutation (Birkhoff 1946). Potentials prove that it is
optimal, as for any other plan.

Conventions
-----------
Small problems are solved together by a search for potentials. Each row potential is moved halfway
between the two least of the row's costs minus column potentials. Then each column potential is
moved halfway between the two least of the column's costs minus row potentials, and so on. Belief
propagation finds a matching by the same messages (Bayati, Shah, Sharma 2008), but sends one for
each cell instead of one for each row and each column. Each step is a third longer than halfway,
which reduces the number of steps. If every column has a different cheapest row, these cells are the
plan. Steps are computed in single precision, and the proof in double precision.

The remaining problems, such as those with several best plans, and large problems are solved one by
one by ``linear_sum_assignment`` of scipy (Crouse 2016). It is exact, but returns no potentials.
Therefore the gap of these problems is reported as 0 without a proof.

References
----------
Bayati, Shah, Sharma, 2008, Max-product for maximum weight matching: convergence, correctness, and
LP duality, IEEE Transactions on Information Theory 54 (3).
Crouse, 2016, On implementing 2D rectangular assignment algorithms, IEEE Transactions on Aerospace
and Electronic Systems 52 (4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semmetrics.core.backend import sum_in_order
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.transport_problems import (
    Plans,
    Singles,
    Solutions,
    TransportProblems,
    certify,
    scale_costs,
)

MAX_TOGETHER = 32
"""Number of rows up to which solving all problems together is faster than one by one."""

_MIN_ROWS = 4  # smaller problems are solved faster by the simplex method
_SWEEPS_BEFORE_CHECKS = (3, 2, 2, 3, 4)  # before the first check, the second and so on
_STEP_LENGTH = np.float32(1.35)
_FIRST_STEP_LENGTH = np.float32(1)
_HALF = np.float32(0.5)
_PADDING_COST = np.float32(1 << 60)  # much larger than scaled costs
_MAX_PROVED_GAP = 1e-13  # relative to the largest cost


def is_uniform(rows: Floats, columns: Floats, n_rows: Ints, n_columns: Ints) -> Bools:
    """Return whether a problem has equal masses, and as many rows as columns.

    Problems with fewer than four rows do not count, as other solvers are faster.

    Parameters
    ----------
    rows, columns : float64 arrays, shapes (rows, problems) and (columns, problems)
        Masses, and 0 for padding.
    n_rows, n_columns : int64 arrays, shape (problems,)

    Examples
    --------
    >>> masses, size = np.full((8, 1), 0.125), np.array([8])
    >>> is_uniform(masses, masses, size, size).tolist()
    [True]
    """
    uniform: Bools = (n_rows == n_columns) & (n_rows >= _MIN_ROWS)
    for masses in (rows, columns):
        without_padding = np.where(masses > 0, masses, np.inf)
        uniform &= without_padding.min(0) == masses.max(0)
    return uniform


def solve_uniform(problems: TransportProblems) -> Solutions:
    """Solve a block of small problems with equal masses together.

    Examples
    --------
    >>> costs = 1.0 - np.eye(3)[::-1, :, None]
    >>> masses, size = np.full((3, 1), 1 / 3), np.array([3])
    >>> solve_uniform(TransportProblems(costs, masses, masses, size, size, np.ones(1))).costs
    array([0.])
    """
    n_rows, n_columns = problems.costs.shape[:2]
    is_row = np.arange(n_rows)[:, None] < problems.n_rows
    closed_costs = problems.costs  # with inf for padding, as `certify` takes them
    if not is_row.all():
        is_cell = is_row[:, None] & is_row
        closed_costs = np.where(is_cell, problems.costs, np.inf)
    column_of_row, row_potentials = _balance_potentials(
        problems.costs, is_row, problems.n_rows, problems.largest
    )
    cells = np.arange(n_rows)[:, None] * n_columns + column_of_row
    flows = problems.rows  # each row sends its whole mass to one column
    plans = Plans(np.where(is_row, cells, 0), flows, row_potentials)
    solutions = certify(problems, closed_costs, plans)
    is_proved = solutions.gaps <= _MAX_PROVED_GAP * problems.largest
    unproved = np.flatnonzero(~is_proved)
    if len(unproved):
        others = solve_singly(problems.take(unproved))
        solutions.costs[unproved] = others.costs
        solutions.gaps[unproved] = others.gaps
    return solutions


def solve_singly(problems: TransportProblems) -> Solutions:
    """Solve problems of any size with equal masses one by one."""
    from scipy.optimize import linear_sum_assignment

    values = np.empty(len(problems.n_rows))
    tables = np.ascontiguousarray(np.moveaxis(problems.costs, -1, 0))
    for number, size in enumerate(problems.n_rows.tolist()):
        table = tables[number]
        pairs = linear_sum_assignment(table[:size, :size])
        masses = problems.rows[:size, number]
        values[number] = sum_in_order(table[pairs] * masses)
    return Solutions(values, np.zeros(len(values)))


def _balance_potentials(
    costs: Floats, is_row: Bools, sizes: Ints, largest: Floats
) -> tuple[Ints, Floats]:
    """Search for potentials that prove a permutation.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns, problems)
    is_row : bool array, shape (rows, problems)
        False for padding. The columns have the same padding.
    sizes : int64 array, shape (problems,)
    largest : float64 array, shape (problems,)
        The largest costs.

    Returns
    -------
    column_of_row : int64 array, shape (rows, problems)
    row_potentials : float64 array, shape (rows, problems)
        Both are 0 for problems without success.
    """
    column_of_row = np.zeros(is_row.shape, np.int64)
    row_potentials = np.zeros(is_row.shape)
    search = _Search.start(costs, is_row, sizes, largest)
    column_numbers = np.arange(len(is_row), dtype=np.int8)[:, None]
    step_length = _FIRST_STEP_LENGTH
    for n_sweeps in _SWEEPS_BEFORE_CHECKS:
        for _ in range(n_sweeps):
            least_of_columns = search.sweep(step_length)
            step_length = _STEP_LENGTH
        # A problem is solved if every row is the cheapest row of a column. If rows of equal cost
        # share a column, `certify` finds a gap. The sweep computed the same differences, so
        # that the least ones are exactly equal.
        is_cheapest = search.costs - search.u[:, None] == least_of_columns
        has_column = is_cheapest.any(axis=1)
        is_solved = has_column.all(axis=0)
        solved = np.flatnonzero(is_solved)
        numbers = search.numbers[solved]
        numbers_if_cheapest = is_cheapest.take(solved, -1) * column_numbers
        column_of_row[:, numbers] = numbers_if_cheapest.max(axis=1)
        row_potentials[:, numbers] = search.u.take(solved, -1)
        search = search.take(np.flatnonzero(~is_solved))
        if not len(search.numbers):
            break
    return column_of_row, row_potentials * largest


class _Search(NamedTuple):
    """The problems whose potentials are still searched for.

    Attributes
    ----------
    numbers : int array, shape (problems,)
    costs : float32 array, shape (rows, columns, problems)
        From 0 to 1.
    u, v : float32 arrays, shapes (rows, problems) and (columns, problems)
        Row and column potentials.
    step_factors : float32 array, shape (rows, problems)
        0 for padding, whose potentials stay 0. Otherwise 1.
    """

    numbers: Ints
    costs: Singles
    u: Singles
    v: Singles
    step_factors: Singles

    @staticmethod
    def start(costs: Floats, is_row: Bools, sizes: Ints, largest: Floats) -> _Search:
        """Return the start of the search: the means of columns as their potentials.

        A row of padding serves the column of padding with its number at no cost, and no other.
        """
        scaled = scale_costs(costs, largest)
        v = sum_in_order(scaled) / sizes.astype(np.float32)
        if not is_row.all():
            scaled[~(is_row[:, None] & is_row)] = _PADDING_COST
            # 0 where a row of padding meets its column.
            diagonal = np.arange(len(is_row))
            scaled[diagonal, diagonal] *= is_row
        numbers = np.arange(len(sizes))
        return _Search(numbers, scaled, np.zeros_like(v), v, is_row.astype(np.float32))

    def sweep(self, row_step_length: np.float32) -> Singles:
        """Move the row potentials and then the column potentials, in place.

        Parameters
        ----------
        row_step_length : float
            1 in the first sweep, as row potentials of 0 are no estimate yet.

        Returns
        -------
        float32 array, shape (columns, problems)
            The least of each column's costs minus row potentials.
        """
        u = self.u
        v = self.v
        rows = _two_least(self.costs.swapaxes(0, 1), v)
        u += (rows.middle - u) * (row_step_length * self.step_factors)
        columns = _two_least(self.costs, u)
        v += (columns.middle - v) * (_STEP_LENGTH * self.step_factors)
        return columns.least

    def take(self, places: Ints) -> _Search:
        """Return some of the problems."""
        return _Search(
            numbers=self.numbers[places],
            costs=self.costs.take(places, -1),
            u=self.u.take(places, -1),
            v=self.v.take(places, -1),
            step_factors=self.step_factors.take(places, -1),
        )


class _TwoLeast(NamedTuple):
    """The least number of each line, and the middle between the two least."""

    least: Singles
    middle: Singles


def _two_least(costs: Singles, potentials: Singles) -> _TwoLeast:
    """Return the two least of costs minus potentials along the first axis.

    Parameters
    ----------
    costs : float32 array, shape (k, n, problems)
        With k at least 2.
    potentials : float32 array, shape (k, problems)
    """
    least = costs[0] - potentials[0]
    reduced = costs[1] - potentials[1]
    second = np.maximum(least, reduced)
    larger = np.empty_like(reduced)
    np.minimum(least, reduced, out=least)
    for line_costs, potential in zip(costs[2:], potentials[2:], strict=True):
        # The larger of the least so far and the new number may be the second least.
        np.subtract(line_costs, potential, out=reduced)
        np.maximum(least, reduced, out=larger)
        np.minimum(least, reduced, out=least)
        np.minimum(second, larger, out=second)
    second += least
    second *= _HALF
    return _TwoLeast(least, middle=second)
