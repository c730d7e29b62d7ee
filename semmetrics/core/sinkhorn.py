"""Entropic transport of many small problems by Sinkhorn's iterations: approximate, and named so.

Conventions
-----------
Problems are padded as in ``core.padded``, and their masses are divided by the sum of their side.
The iterations run on logarithms, so a small regularisation does not underflow. The cost is that of
the plan, without the entropy, and is above the optimum as a rule; the *marginal error* is the mass
(of 1 in all) that the plan's rows miss, and its columns, which are exact but for rounding: that
counts where the regularisation is below 1e-6. A problem stops by itself when its error is below
the tolerance, so its result does not depend on the others.

References
----------
Cuturi, 2013, Sinkhorn distances: lightspeed computation of optimal transport, NeurIPS.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.padded import checked_sides
from semmetrics.core.settle import block_cells, checked_cells, parts_by_size
from semmetrics.core.space import Space, running_total
from semmetrics.errors import InputError

__all__ = ["Approximate", "sinkhorn"]

_EVERY = 10  # iterations between two looks at the error


class Approximate(NamedTuple):
    """Costs of plans and the mass that they misplace, shape (problems,), float64."""

    costs: Any
    errors: Any


def sinkhorn(
    costs: Any,
    rows: Any,
    columns: Any,
    *,
    regularization: float,
    tolerance: float = 1e-9,
    most_iterations: int = 10_000,
) -> Approximate:
    """Approximate costs of transport under an entropic penalty (Cuturi 2013).

    Parameters
    ----------
    costs : array or torch tensor, shape (problems, rows, columns)
    rows, columns : arrays, shapes (problems, rows) and (problems, columns)
        As for ``transport``.
    regularization : float
        Weight of the entropy relative to each problem's largest cost: 0.01 is near the optimum,
        and slow.
    tolerance : float
        Of the marginal error.
    most_iterations : int

    Returns
    -------
    Approximate
        Errors above the tolerance are those of problems that the limit stopped; nan where a
        side is empty.

    Raises
    ------
    InputError
        If a shape, a mass, a cost or an option is wrong; names the problem.

    Examples
    --------
    >>> table = np.array([[[0.0, 2.0], [2.0, 1.0]]])
    >>> found = sinkhorn(table, np.array([[1, 1]]), np.array([[1, 3]]), regularization=0.02)
    >>> found.costs.round(6), bool(found.errors[0] < 1e-9)
    (array([1.]), True)
    """
    if not (regularization > 0 and tolerance > 0):
        raise InputError(
            f"regularization is {regularization}, tolerance {tolerance}", remedy="both above 0"
        )
    if most_iterations < 1:
        raise InputError(f"most_iterations is {most_iterations}", remedy="give 1 or more")
    space, *sides = checked_sides(costs, rows, columns)
    size = sides[0].shape[2]
    value, errors = space.zeros(size) + np.nan, space.zeros(size) + np.nan
    n_rows, n_columns = (space.numpy((side > 0).sum(0)) for side in sides[1:])
    for numbers in parts_by_size(n_rows, n_columns, block_cells(space, n_rows, n_columns, 1)):
        these = space.array(numbers)
        table, mine, theirs = (space.dense(side[..., these]) for side in sides)
        used = checked_cells(table, mine, theirs, numbers)
        if used.any():
            real = space.xp.where(used, table, 0.0)
            scale = space.xp.amax(real, (0, 1)) * regularization
            kernel = -real / space.xp.where(scale > 0, scale, 1.0)
            kernel = space.xp.where(used, kernel, -np.inf)
            value[these], errors[these] = _block(
                (real, kernel, mine, theirs), tolerance, most_iterations
            )
    return Approximate(value, errors)


def _block(
    sides: tuple[Any, Any, Any, Any], tolerance: float, most_iterations: int
) -> tuple[Any, Any]:
    """Costs and errors of problems given by costs, kernels and masses."""
    real, kernel, mine, theirs = sides
    space, size = Space(real), real.shape[2]
    value, errors = space.zeros(size) + np.nan, space.zeros(size) + np.nan
    open_ = space.nonzero((mine > 0).any(0) & (theirs > 0).any(0))
    g = space.zeros(*theirs.shape)[:, open_]
    for count in range(0, most_iterations, _EVERY):
        if not len(open_):
            break
        part, a, b = kernel[..., open_], mine[:, open_], theirs[:, open_]
        f, g = _steps(space, part, a, b, g, min(_EVERY, most_iterations - count))
        plan = space.xp.exp(part + f[:, None] + g)
        found = running_total(abs(_sum_columns(plan) - a))
        found += running_total(abs(running_total(plan) - b))
        errors[open_] = found
        value[open_] = running_total(_sum_columns(plan * real[..., open_]))
        left = space.nonzero(~(found < tolerance))
        open_, g = open_[left], g[:, left]
    return value, errors


def _sum_columns(values: Any) -> Any:
    """Sums over the second of three axes, in a fixed order."""
    return running_total(values.swapaxes(0, 1))


def _steps(
    space: Space, kernel: Any, rows: Any, columns: Any, g: Any, count: int
) -> tuple[Any, Any]:
    """Scale rows and columns in turn; columns last. Sides without mass stay at zero."""
    where, log = space.xp.where, space.xp.log
    log_rows = log(where(rows > 0, rows, 1.0))
    log_columns = log(where(columns > 0, columns, 1.0))
    for _ in range(count):
        f = where(rows > 0, log_rows - _log_sum(space, (kernel + g).swapaxes(0, 1)), 0.0)
        g = where(columns > 0, log_columns - _log_sum(space, kernel + f[:, None]), 0.0)
    return f, g


def _log_sum(space: Space, values: Any) -> Any:
    """Logarithm of the sum of exponentials along the first axis; 0 where all are -inf."""
    top = space.xp.amax(values, 0)
    top = space.xp.where(top > -np.inf, top, 0.0)
    total = running_total(space.xp.exp(values - top))
    return space.xp.log(space.xp.where(total > 0, total, 1.0)) + top
