"""Exact optimal transport between weighted words, with the proof of its exactness.

Conventions
-----------
Predicted and reference words of item ``i`` are ``codes[indptr[i]:indptr[i + 1]]`` with weights at
the same places, in one vocabulary. The cost of an item is the least cost of carrying the weights of
one side to the other, for one unit of mass: each side is divided by its own sum, so sides that
differ by rounding, or hold counts, need no care. Words without weight are left out. An item with
an empty side has cost nan.

Equal words are at distance 0 by their code, whatever the distances say. Distances are a metric:
mass that a word has on both sides stays where it is, since an optimal plan that moves it can be
changed by the triangle inequality into one that does not, at no cost. It is taken out, which
leaves smaller problems with the same result.

A *gap* is how far a cost can be from the optimum, in its units: the value of the plan minus what
dual potentials prove, and the mass misplaced by rounding times the largest cost. It is at most
1e-9 of an item's largest cost, or there is an error. Items come in any order and are solved in
blocks of similar sizes; an item's result has the same bits alone and in any block. What is on a
device of torch are the distances: they come to the processor one block at a time, and the problems
are solved there.

A problem with a single row or column has one plan. As many equal masses on both sides are an
assignment, and other problems of at most 63 rows and columns are solved together (both in
``core.simplex``). What is left is solved one by one: larger problems, those of costs above 1e306,
and any whose gap stays above 1e-9 of its largest cost.

One problem alone is solved by POT's network simplex (Bonneel et al. 2011) if POT is installed, in
its compiled form, whose Python wrapper costs ten times the solution; otherwise, and if that finds
no plan, by scipy's linear programming (HiGHS, Huangfu and Hall 2018). Both are exact; the first is
some thirty times faster. POT is imported only then: importing it takes a second, and three if torch
is installed, which it loads.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
Bonneel, van de Panne, Paris, Heidrich, 2011, Displacement interpolation using Lagrangian mass
transport, ACM Transactions on Graphics 30 (6).
Huangfu, Hall, 2018, Parallelizing the dual revised simplex method, Mathematical Programming
Computation 10 (1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import simplex
from semmetrics.core.backend import count_workers, run_parts, sum_in_order, to_numpy
from semmetrics.core.distances import EuclideanDistances as Distances
from semmetrics.core.ragged import Floats, Ints, group_by_size
from semmetrics.core.simplex import MAX_NODES, MAX_TOGETHER, Solutions
from semmetrics.errors import InputError

_ROUNDING = 1e-15  # a share below this is what rounding left


class WeightedWords(NamedTuple):
    """The words of one side of all items.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    codes : int array
    weights : float array
        Finite, not negative.
    """

    indptr: Ints
    codes: Ints
    weights: Floats

    def padded(self, items: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return codes and shares of the weight, items along the last axis; padding has none."""
        sizes = np.diff(self.indptr)[items]
        place = np.arange(int(sizes.max(initial=0)))[:, None]
        real = place < sizes
        flat = np.where(real, self.indptr[items] + place, 0)
        weights = np.where(real, self.weights[flat], 0.0)
        total = sum_in_order(weights) if len(weights) else 1.0
        return self.codes[flat], weights / np.where(total > 0, total, 1.0)


Sides = tuple[WeightedWords, WeightedWords]


def transport(
    distances: Distances,
    pred: WeightedWords,
    ref: WeightedWords,
    *,
    workers: int | None = None,
) -> Solutions:
    """Return the exact transport cost of each item: the word mover's distance (Kusner et al. 2015).

    Parameters
    ----------
    distances : Distances
    pred, ref : WeightedWords
    workers : int, optional
        Threads, two at most where it is not given. Results do not depend on it.

    Returns
    -------
    Solutions
        Costs and gaps, float64 arrays of shape (items,).

    Raises
    ------
    InputError
        If a problem cannot be solved; names the item.

    Examples
    --------
    >>> from semmetrics.core.distances import EuclideanDistances
    >>> distances = EuclideanDistances(np.array([[0.0], [1.0], [2.0]]))
    >>> pred = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> ref = WeightedWords(np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> transport(distances, pred, ref).costs
    array([1.])
    """
    sides = pred, ref
    costs, gaps = (np.zeros(len(pred.indptr) - 1) for _ in range(2))

    def solve(items: Ints) -> None:
        costs_of, *masses, equal = _make_block(distances, sides, items)
        rows, columns = _remove_common(equal, *masses)
        found = solve_block(costs_of, rows, columns, items)
        words = (masses[0] > 0).any(0) & (masses[1] > 0).any(0)
        same = words & ~((rows > 0).any(0) & (columns > 0).any(0))
        costs[items] = np.where(same, 0.0, found.costs)
        gaps[items] = np.where(same, 0.0, found.gaps)

    workers = count_workers() if workers is None else workers
    run_parts(solve, [*_groups(sides, workers)], workers)
    return Solutions(costs, gaps)


def relaxed_transport(
    distances: Distances, pred: WeightedWords, ref: WeightedWords
) -> Floats:
    r"""Return the larger of two lower bounds of ``transport`` (Kusner et al. 2015, section 4.3).

    Without the condition on one side, every word of the other goes to its nearest:
    :math:`\max(\sum_i a_i \min_j c_{ij}, \sum_j b_j \min_i c_{ij})`.

    Parameters
    ----------
    distances, pred, ref
        As for ``transport``.

    Returns
    -------
    float64 array, shape (items,)

    Examples
    --------
    >>> from semmetrics.core.distances import EuclideanDistances
    >>> distances = EuclideanDistances(np.array([[0.0], [1.0], [2.0]]))
    >>> pred = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> ref = WeightedWords(np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> relaxed_transport(distances, pred, ref)
    array([0.5])
    """
    sides, bounds = (pred, ref), np.full(len(pred.indptr) - 1, np.nan)
    for items in _groups(sides, 1):
        costs, rows, columns, _ = _make_block(distances, sides, items)
        used = used_cells(rows, columns)
        if not (used.shape[0] and used.shape[1]):
            continue
        costs = np.where(used, costs, np.inf)
        sums = [
            sum_in_order(np.where(mass > 0, np.amin(costs, axis), 0.0) * mass)
            for axis, mass in ((1, rows), (0, columns))
        ]
        bounds[items] = np.where(used.any(0).any(0), np.maximum(*sums), np.nan)
    return bounds


def _groups(sides: Sides, workers: int) -> Iterator[Ints]:
    """Yield the numbers of items of similar sizes: an equal share of costs for each worker."""
    n_pred, n_ref = (np.diff(side.indptr) for side in sides)
    total = int((n_pred * n_ref).sum())
    blocks = workers * max(1, -(-total // (CELLS * workers)))
    return group_by_size(
        n_pred, n_ref, min(CELLS, max(_FEWEST, int(total / blocks * _SLACK)))
    )


def _make_block(
    distances: Distances, sides: Sides, items: Ints
) -> tuple[Any, Any, Any, Any]:
    """Return costs, masses of rows and columns, and the pairs of one word; items come last."""
    (pred, rows), (ref, columns) = (side.padded(items) for side in sides)
    costs = _gather_costs(distances, sides, (pred, ref), items)
    equal = (pred[:, None] == ref) & used_cells(rows, columns)
    costs[equal] = 0.0
    return costs, rows, columns, equal


def _gather_costs(
    distances: Distances, sides: Sides, codes: Any, items: Ints
) -> Floats:
    """Compute distances of items of one size together: a product depends on its shape.

    Torch makes no products: there all are computed together, padded, and come in one transfer.
    """
    backend = distances.backend
    sizes = np.stack([np.diff(side.indptr)[items] for side in sides])
    changes = (sizes[:, 1:] != sizes[:, :-1]).any(0) & (not backend.torch)
    costs = np.zeros((len(codes[0]), len(codes[1]), len(items)))
    for start, stop in pairwise(
        [0, *(np.flatnonzero(changes) + 1).tolist(), len(items)]
    ):
        m, n = sizes[:, start:stop].max(1).tolist()
        if m and n:
            some = codes[0][:m, start:stop].T, codes[1][:n, start:stop].T
            found = to_numpy(distances(*map(backend.array, some)))
            costs[:m, :n, start:stop] = found.swapaxes(0, 2).swapaxes(0, 1)
    return costs


def _remove_common(equal: Any, all_rows: Any, all_columns: Any) -> tuple[Any, Any]:
    """Return masses without what a word has on both sides, the two sums made equal again.

    An item that lists a word twice on a side keeps its masses.
    """
    these = np.flatnonzero(equal.any(0).any(0))
    if not len(these):
        return all_rows, all_columns
    equal, rows, columns = (
        side.take(these, -1) for side in (equal, all_rows, all_columns)
    )
    some = (equal.sum(0) <= 1).all(0) & (equal.sum(1) <= 1).all(0)
    common = np.where(equal & some, np.minimum(rows[:, None], columns), 0.0)
    left = []
    for mass, axis in ((rows, 1), (columns, 0)):
        rest = mass - common.sum(axis)  # of at most one number that is not 0
        left.append(np.where(some & (rest < _ROUNDING), 0.0, rest))
    mine, theirs = map(sum_in_order, left)
    scale = np.where(some & (theirs > 0), mine / np.where(theirs > 0, theirs, 1.0), 1.0)
    rows, columns = (np.array(side, order="C") for side in (all_rows, all_columns))
    rows[:, these], columns[:, these] = left[0], left[1] * scale
    return rows, columns


Solver: TypeAlias = Callable[[Any, Any, Any, Any, Any, Any], Solutions]
Plan: TypeAlias = tuple[Floats, Floats]  # and row potentials

CELLS = 1 << 19
"""Most costs in a block."""

_FEWEST = 1 << 16  # below, threads cost more than they save
_SLACK = 1.05  # so that blocks of unlike sizes leave no small one over

_GAP = 1e-9  # of the largest cost
_DEAREST = 1e306  # sums of larger costs may not be finite
_PIVOTS = 100_000  # of the network simplex
_OPTIMAL = 1  # its status
_FEASIBLE = 1e-10  # the least tolerance that HiGHS takes


def used_cells(rows: Any, columns: Any) -> Any:
    """Return the cells where both sides have mass."""
    return (rows > 0)[:, None] & (columns > 0)


def solve_block(costs: Any, rows: Any, columns: Any, numbers: Ints) -> Solutions:
    """Solve the problems of one block.

    Parameters
    ----------
    costs : float64 array, shape (rows, columns, problems)
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
    used = used_cells(rows, columns)
    value, gaps = (np.full(costs.shape[2], np.nan) for _ in range(2))
    if not (costs.shape[0] and costs.shape[1]):
        return Solutions(value, gaps)
    costs = costs if used.all() else np.where(used, costs, 0.0)
    largest = np.amax(np.amax(costs, 0), 0)
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    some = (n_rows > 0) & (n_columns > 0)
    summable = some & (largest <= _DEAREST)
    for solver, chosen in _choose_solvers(rows, columns, n_rows, n_columns):
        for flip in (False, True):
            these = np.flatnonzero(summable & chosen & ((n_rows > n_columns) == flip))
            if len(these):
                found = _solve_together(
                    solver, (costs, rows, columns, largest), these, flip
                )
                value[these], gaps[these] = found.costs, found.gaps
    for k in np.flatnonzero(some & ~(gaps <= _GAP * largest)).tolist():
        one = costs[..., k], rows[..., k], columns[..., k]
        value[k], gaps[k] = _solve_alone(*one, int(numbers[k]))
    return Solutions(value, gaps)


def _choose_solvers(
    rows: Any, columns: Any, n_rows: Any, n_columns: Any
) -> Iterator[tuple[Solver, Any]]:
    """Yield solvers and the problems for each: only the problem itself decides."""
    lone = (n_rows == 1) | (n_columns == 1)
    yield _solve_single_row, lone
    uniform = simplex.is_uniform(rows, columns, n_rows, n_columns)
    yield simplex.solve_uniform, uniform & (n_rows <= MAX_TOGETHER)
    yield simplex.solve_singly, uniform & (n_rows > MAX_TOGETHER)
    yield simplex.solve_simplex, ~lone & ~uniform & (n_rows + n_columns <= MAX_NODES)


def _solve_together(
    solver: Solver, sides: tuple[Any, ...], these: Any, flip: bool
) -> Solutions:
    """Solve these problems at once, turned so that rows are the shorter side."""
    if len(these) < sides[0].shape[2]:
        sides = tuple(side.take(these, -1) for side in sides)
    costs, rows, columns, largest = sides
    costs, rows = _pack_front(costs, rows, 0)
    costs, columns = _pack_front(costs, columns, 1)
    if flip:
        costs, rows, columns = costs.swapaxes(0, 1), columns, rows
    n_rows, n_columns = (rows > 0).sum(0), (columns > 0).sum(0)
    m, n = int(n_rows.max()), int(n_columns.max())
    costs, rows, columns = np.ascontiguousarray(costs[:m, :n]), rows[:m], columns[:n]
    return solver(costs, rows, columns, n_rows, n_columns, largest)


def _pack_front(costs: Any, mass: Any, axis: int) -> tuple[Any, Any]:
    """Move rows or columns with mass before those without, keeping their order."""
    used = mass > 0
    some = np.flatnonzero((used[1:] & ~used[:-1]).any(0))
    if len(some):
        order = np.argsort(~used[:, some], axis=0, kind="stable")
        costs, mass, few = costs + 0, mass + 0, costs[..., some]
        whole = order[:, None] if axis == 0 else order[None]
        costs[..., some] = np.take_along_axis(few, whole, axis)
        mass[:, some] = np.take_along_axis(mass[:, some], order, 0)
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
    if found := network_simplex(scaled, rows, columns) or linear_program(
        scaled, rows, columns
    ):
        plan, u = found
        value = float((plan * costs).sum())
        bound = float(rows @ u + columns @ (scaled - u[:, None]).min(axis=0))
        unplaced = abs(plan.sum(1) - rows).sum() + abs(plan.sum(0) - columns).sum()
        gap = abs(value / largest - bound) + float(unplaced)
        if gap <= _GAP:
            return value, gap * largest
    raise InputError("unsolved-transport", f"problem {number}", gap=_GAP)


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
    sums: Any = csc_array(
        (np.ones(2 * size), places, np.arange(0, 2 * size + 1, 2)), (m + n, size)
    )
    # the last column follows from the others, up to rounding, which would leave no plan
    options: Any = {
        f"{one}_feasibility_tolerance": _FEASIBLE for one in ("primal", "dual")
    }
    b_eq = np.concatenate([rows, columns[:-1]])
    found = linprog(
        costs.ravel(), A_eq=sums[:-1], b_eq=b_eq, method="highs-ds", options=options
    )
    if found.x is None:
        return None
    return found.x.reshape(m, n), found.eqlin.marginals[:m]
