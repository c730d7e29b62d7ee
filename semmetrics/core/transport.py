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
blocks of similar sizes; an item's result has the same bits alone and in any block.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import Backend, count_workers, run_parts, sum_in_order
from semmetrics.core.ragged import Floats, Ints, group_by_size
from semmetrics.core.simplex import Solutions
from semmetrics.core.transport_block import cells_per_block, solve_block, used_cells
from semmetrics.frozen import dataclass

__all__ = ["Distances", "WeightedWords", "relaxed_transport", "transport"]

_ROUNDING = 1e-15  # a share below this is what rounding left


class Distances(Protocol):
    """Distances of words, such as ``core.similarity.EuclideanDistances``."""

    backend: Backend

    def __call__(self, pred_codes: Any, ref_codes: Any) -> Any:
        """Return the distances of codes (items, m) and (items, n), shape (items, m, n)."""
        ...


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
        """Return codes and weights with the items along the last axis; padding has weight 0."""
        sizes = np.diff(self.indptr)[items]
        place = np.arange(int(sizes.max(initial=0)))[:, None]
        real = place < sizes
        flat = np.where(real, self.indptr[items] + place, 0)
        return self.codes[flat], np.where(real, self.weights[flat], 0.0)


Sides = tuple[WeightedWords, WeightedWords]


@dataclass(frozen=True)
class _Block:
    """Some items, along the last axis; ``equal`` marks pairs of one word."""

    items: Ints
    costs: Any
    rows: Any
    columns: Any
    equal: Any


def transport(
    distances: Distances, pred: WeightedWords, ref: WeightedWords, *, workers: int | None = None
) -> Solutions:
    """Return the exact transport cost of each item: the word mover's distance (Kusner et al. 2015).

    Parameters
    ----------
    distances : Distances
    pred, ref : WeightedWords
    workers : int, optional
        Threads, two at most where it is not given; one for torch. Results do not depend on it.

    Returns
    -------
    Solutions
        Costs and gaps, float64, shape (items,); of the kind and on the device of the distances.

    Raises
    ------
    InputError
        If a problem cannot be solved; names the item.

    Examples
    --------
    >>> from semmetrics.core.similarity import EuclideanDistances
    >>> distances = EuclideanDistances(np.array([[0.0], [1.0], [2.0]]))
    >>> pred = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> ref = WeightedWords(np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> transport(distances, pred, ref).costs
    array([1.])
    """
    sides, backend = (pred, ref), distances.backend
    costs, gaps = (backend.zeros(len(sides[0].indptr) - 1) for _ in range(2))

    def solve(items: Ints) -> None:
        block = _make_block(distances, sides, items)
        rows, columns = _remove_common(backend, block)
        found = solve_block(block.costs, rows, columns, block.items)
        words = (block.rows > 0).any(0) & (block.columns > 0).any(0)
        same = words & ~((rows > 0).any(0) & (columns > 0).any(0))
        these = backend.array(block.items)
        costs[these] = backend.xp.where(same, 0.0, found.costs)
        gaps[these] = backend.xp.where(same, 0.0, found.gaps)

    workers = count_workers(backend) if workers is None else workers
    run_parts(solve, [*_groups(backend, sides, workers)], workers)
    return Solutions(costs, gaps)


def relaxed_transport(distances: Distances, pred: WeightedWords, ref: WeightedWords) -> Any:
    r"""Return the larger of two lower bounds of ``transport`` (Kusner et al. 2015, section 4.3).

    Without the condition on one side, every word of the other goes to its nearest:
    :math:`\max(\sum_i a_i \min_j c_{ij}, \sum_j b_j \min_i c_{ij})`.

    Parameters
    ----------
    distances, pred, ref
        As for ``transport``.

    Returns
    -------
    float64 array or tensor, shape (items,)

    Examples
    --------
    >>> from semmetrics.core.similarity import EuclideanDistances
    >>> distances = EuclideanDistances(np.array([[0.0], [1.0], [2.0]]))
    >>> pred = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> ref = WeightedWords(np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> relaxed_transport(distances, pred, ref)
    array([0.5])
    """
    sides, backend = (pred, ref), distances.backend
    bounds = backend.zeros(len(pred.indptr) - 1)
    for items in _groups(backend, sides, 1):
        bounds[backend.array(items)] = _relaxed_block(_make_block(distances, sides, items))
    return bounds


def _relaxed_block(block: _Block) -> Any:
    backend, costs = Backend(block.costs), block.costs
    if not (costs.shape[0] and costs.shape[1]):
        return backend.zeros(costs.shape[2]) + np.nan
    used = used_cells(block.rows, block.columns)
    where, costs = backend.xp.where, backend.xp.where(used, costs, np.inf)
    sums = [
        sum_in_order(where(mass > 0, backend.xp.amin(costs, axis), 0.0) * mass)
        for axis, mass in ((1, block.rows), (0, block.columns))
    ]
    return where(used.any(0).any(0), backend.xp.maximum(*sums), np.nan)


def _groups(backend: Backend, sides: Sides, workers: int) -> Iterator[Ints]:
    """Yield the numbers of items of similar sizes."""
    n_pred, n_ref = (np.diff(side.indptr) for side in sides)
    return group_by_size(n_pred, n_ref, cells_per_block(backend, n_pred, n_ref, workers))


def _make_block(distances: Distances, sides: Sides, items: Ints) -> _Block:
    backend = distances.backend
    (mine, rows), (theirs, columns) = (side.padded(items) for side in sides)
    rows, columns = (backend.array(_normalize(side)) for side in (rows, columns))
    pred, ref = backend.array(mine), backend.array(theirs)
    costs = _gather_costs(distances, sides, (pred, ref), items)
    equal = (pred[:, None] == ref) & used_cells(rows, columns)
    costs[equal] = 0.0
    return _Block(items, costs, rows, columns, equal)


def _normalize(weights: NDArray[Any]) -> NDArray[Any]:
    """Divide weights by their sum, where that is not 0; items lie along the last axis."""
    if not len(weights):
        return weights
    total = sum_in_order(weights)
    return weights / np.where(total > 0, total, 1.0)


def _gather_costs(distances: Distances, sides: Sides, codes: Any, items: Ints) -> Any:
    """Compute distances of items of one size together: a product depends on its shape."""
    backend = distances.backend
    sizes = np.stack([np.diff(side.indptr)[items] for side in sides])
    starts = np.flatnonzero((sizes[:, 1:] != sizes[:, :-1]).any(0)) + 1
    costs = backend.zeros(len(codes[0]), len(codes[1]), len(items))
    for start, stop in pairwise([0, *starts.tolist(), len(items)]):
        m, n = sizes[:, start].tolist()
        if m and n:
            found = distances(codes[0][:m, start:stop].T, codes[1][:n, start:stop].T)
            costs[:m, :n, start:stop] = (
                backend.array(found, "float64").swapaxes(0, 2).swapaxes(0, 1)
            )
    return costs


def _remove_common(backend: Backend, block: _Block) -> tuple[Any, Any]:
    """Return masses without what a word has on both sides, the two sums made equal again.

    An item that lists a word twice on a side keeps its masses.
    """
    rows, columns = block.rows, block.columns
    these = backend.nonzero(block.equal.any(0).any(0))
    if len(these):
        sides = (backend.take_last(side, these) for side in (block.equal, rows, columns))
        rows, columns = backend.copy(rows), backend.copy(columns)
        rows[:, these], columns[:, these] = _subtract_common(backend, *sides)
    return rows, columns


def _subtract_common(backend: Backend, equal: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Do the same for items with a word on both sides."""
    where = backend.xp.where
    some = (equal.sum(0) <= 1).all(0) & (equal.sum(1) <= 1).all(0)
    common = where(equal & some, backend.xp.minimum(rows[:, None], columns), 0.0)
    left = []
    for mass, axis in ((rows, 1), (columns, 0)):
        rest = mass - common.sum(axis)  # of at most one number that is not 0
        left.append(where(some & (rest < _ROUNDING), 0.0, rest))
    totals = [sum_in_order(side) for side in left]
    scale = where(some & (totals[1] > 0), totals[0] / where(totals[1] > 0, totals[1], 1.0), 1.0)
    return left[0], left[1] * scale
