"""Exact optimal transport between weighted words, with a proof of how exact it is.

Conventions
-----------
The predicted and the reference words of item ``i`` are ``codes[indptr[i]:indptr[i + 1]]``, with
weights at the same places. Both sides use one vocabulary. The cost of an item is the least cost of
moving the weights of one side to the other, for one unit of mass: each side is divided by its own
sum, so that sides may contain counts, or differ by rounding. Words without weight are left out. An
item with an empty side has the cost nan.

Equal words have distance 0. Distances are a metric, so that mass that a word has on both sides can
stay where it is: by the triangle inequality, an optimal plan that moves it can be changed into one
that does not, at no cost. That mass is removed, which leaves smaller problems with the same result.

A *gap* is how far a cost can be from the optimum: the value of the plan minus the value of dual
potentials, plus the mass misplaced by rounding times the largest cost. It is at most 1e-9 of the
largest cost of the item. Otherwise an error is raised.

Items are solved in blocks of similar sizes. The result of an item has the same bits alone and in
any block. With torch, distances are computed on the device and transferred block by block, and the
problems are solved on the processor.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from semmetrics.core.backend import count_workers, run_parts, sum_in_order, to_numpy
from semmetrics.core.distances import EuclideanDistances
from semmetrics.core.ragged import Bools, Floats, Ints, group_by_size
from semmetrics.core.transport_problems import Solutions, used_cells
from semmetrics.core.transport_solvers import solve_block

_MAX_CELLS_PER_BLOCK = 1 << 19
_MIN_CELLS_PER_BLOCK = 1 << 16  # with smaller blocks, threads cost more than they save
# Blocks are larger than an equal share of the cells, so that no small block is left at the end.
_SLACK = 1.05
_MIN_SHARE = 1e-15  # smaller shares of mass result from rounding


class WeightedWords(NamedTuple):
    """The words of one side of all items.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    codes : int array
    weights : float array
        Finite and not negative.
    """

    indptr: Ints
    codes: Ints
    weights: Floats

    def padded(self, items: Ints) -> _PaddedWords:
        """Return the words of some items, padded to the same number of words."""
        sizes = np.diff(self.indptr)[items]
        places = np.arange(int(sizes.max(initial=0)))[:, None]
        is_word = places < sizes
        flat = np.where(is_word, self.indptr[items] + places, 0)
        weights = np.where(is_word, self.weights[flat], 0.0)
        totals = 1.0
        if len(weights):
            totals = sum_in_order(weights)
        shares = weights / np.where(totals > 0, totals, 1.0)
        return _PaddedWords(self.codes[flat], shares)


class _PaddedWords(NamedTuple):
    """The words of one side of some items, along the first axis.

    Attributes
    ----------
    codes : int array, shape (words, items)
        Any code for padding.
    shares : float64 array, shape (words, items)
        The share of each word in the weight of its item. 0 for padding.
    """

    codes: Ints
    shares: Floats


class _Sides(NamedTuple):
    """The words of both sides of all items."""

    pred: WeightedWords
    ref: WeightedWords

    def sizes(self, items: Ints | slice = slice(None)) -> Ints:
        """Return the number of words of items on both sides, shape (2, items)."""
        pred_sizes = np.diff(self.pred.indptr)[items]
        ref_sizes = np.diff(self.ref.indptr)[items]
        return np.stack([pred_sizes, ref_sizes])


def transport(
    distances: EuclideanDistances,
    pred: WeightedWords,
    ref: WeightedWords,
    *,
    workers: int | None = None,
) -> Solutions:
    """Return the exact transport cost of each item: the word mover's distance (Kusner et al. 2015).

    Parameters
    ----------
    distances : EuclideanDistances
    pred, ref : WeightedWords
    workers : int, optional
        The number of threads. Default: at most two. Results do not depend on it.

    Returns
    -------
    Solutions
        Costs and gaps, float64 arrays of shape (items,).

    Raises
    ------
    InputError
        If a problem cannot be solved. The message names the item.

    Examples
    --------
    >>> from semmetrics.core.distances import EuclideanDistances
    >>> distances = EuclideanDistances(np.array([[0.0], [1.0], [2.0]]))
    >>> pred = WeightedWords(np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> ref = WeightedWords(np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5]))
    >>> transport(distances, pred, ref).costs
    array([1.])
    """
    sides = _Sides(pred, ref)
    n_items = len(pred.indptr) - 1
    solutions = Solutions(np.zeros(n_items), np.zeros(n_items))
    if workers is None:
        workers = count_workers()
    solve_items = partial(_solve_items, distances, sides, solutions)
    run_parts(solve_items, list(_group_items(sides, workers)), workers)
    return solutions


def relaxed_transport(
    distances: EuclideanDistances, pred: WeightedWords, ref: WeightedWords
) -> Floats:
    r"""Return the larger of two lower bounds of ``transport`` (Kusner et al. 2015, section 4.3).

    Without the condition on the masses of one side, every word of the other side is moved to its
    nearest word: :math:`\max(\sum_i a_i \min_j c_{ij}, \sum_j b_j \min_i c_{ij})`.

    Parameters
    ----------
    distances, pred, ref
        As in ``transport``.

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
    sides = _Sides(pred, ref)
    bounds = np.full(len(pred.indptr) - 1, np.nan)
    for items in _group_items(sides, 1):
        block = _make_block(distances, sides, items)
        used = used_cells(block.rows, block.columns)
        if not used.shape[0] or not used.shape[1]:
            continue
        costs = np.where(used, block.costs, np.inf)
        row_bounds = _sum_nearest(np.amin(costs, 1), block.rows)
        column_bounds = _sum_nearest(np.amin(costs, 0), block.columns)
        larger = np.maximum(row_bounds, column_bounds)
        bounds[items] = np.where(used.any(0).any(0), larger, np.nan)
    return bounds


def _sum_nearest(costs: Floats, masses: Floats) -> Floats:
    """Sum the costs of moving each word to its nearest word, shape (words, items)."""
    sums: Floats = sum_in_order(np.where(masses > 0, costs, 0.0) * masses)
    return sums


# ---- blocks of items --------------------------------------------------------


def _group_items(sides: _Sides, workers: int) -> Iterator[Ints]:
    """Yield groups of items of similar sizes, with an equal share of the costs for each worker."""
    n_pred, n_ref = sides.sizes()
    n_cells = int((n_pred * n_ref).sum())
    max_cells_of_round = _MAX_CELLS_PER_BLOCK * workers  # with one block per worker
    n_rounds = max(1, -(-n_cells // max_cells_of_round))  # rounded up
    cells_per_block = int(n_cells / (workers * n_rounds) * _SLACK)
    cells_per_block = max(_MIN_CELLS_PER_BLOCK, cells_per_block)
    cells_per_block = min(_MAX_CELLS_PER_BLOCK, cells_per_block)
    return group_by_size(n_pred, n_ref, cells_per_block)


class _Block(NamedTuple):
    """The transport problems of some items, along the last axis.

    Attributes
    ----------
    costs : float64 array, shape (pred words, ref words, items)
    rows, columns : float64 arrays, shapes (pred words, items) and (ref words, items)
        Masses.
    is_equal : bool array, shape (pred words, ref words, items)
        Whether both words are the same and have mass.
    """

    costs: Floats
    rows: Floats
    columns: Floats
    is_equal: Bools


def _solve_items(
    distances: EuclideanDistances, sides: _Sides, solutions: Solutions, items: Ints
) -> None:
    """Write the costs and gaps of some items."""
    block = _make_block(distances, sides, items)
    rows, columns = _remove_common(block)
    block_solutions = solve_block(block.costs, rows, columns, items)
    # An item whose mass was all common costs nothing.
    has_words = _has_mass(block.rows) & _has_mass(block.columns)
    is_free = has_words & ~(_has_mass(rows) & _has_mass(columns))
    solutions.costs[items] = np.where(is_free, 0.0, block_solutions.costs)
    solutions.gaps[items] = np.where(is_free, 0.0, block_solutions.gaps)


def _has_mass(masses: Floats) -> Bools:
    """Return which items have a word with mass, shape (items,)."""
    has_mass: Bools = np.any(masses > 0, axis=0)
    return has_mass


def _make_block(distances: EuclideanDistances, sides: _Sides, items: Ints) -> _Block:
    """Return the transport problems of some items."""
    pred = sides.pred.padded(items)
    ref = sides.ref.padded(items)
    costs = _gather_costs(distances, sides.sizes(items), pred.codes, ref.codes)
    is_used = used_cells(pred.shares, ref.shares)
    is_equal = (pred.codes[:, None] == ref.codes) & is_used
    costs[is_equal] = 0.0
    return _Block(costs, pred.shares, ref.shares, is_equal)


def _gather_costs(
    distances: EuclideanDistances, sizes: Ints, pred_codes: Ints, ref_codes: Ints
) -> Floats:
    """Compute the distances of all pairs of words.

    With NumPy, consecutive items of one size are computed together, without padding, because the
    bits of a matrix product depend on its shape. Torch does not compute products: all items are
    computed together, and transferred once.

    Parameters
    ----------
    distances : EuclideanDistances
    sizes : int array, shape (2, items)
        The number of words of both sides.
    pred_codes, ref_codes : int arrays, shapes (pred words, items) and (ref words, items)

    Returns
    -------
    float64 array, shape (pred words, ref words, items)
        0 for padding.
    """
    backend = distances.backend
    n_items = sizes.shape[1]
    size_changes: list[int] = []
    if not backend.uses_torch:
        differs = (sizes[:, 1:] != sizes[:, :-1]).any(0)
        size_changes = (np.flatnonzero(differs) + 1).tolist()
    costs = np.zeros((len(pred_codes), len(ref_codes), n_items))
    for start, stop in pairwise([0, *size_changes, n_items]):
        m, n = sizes[:, start:stop].max(1).tolist()
        if m and n:
            table = distances(
                backend.array(pred_codes[:m, start:stop].T),
                backend.array(ref_codes[:n, start:stop].T),
            )
            by_item = to_numpy(table)
            costs[:m, :n, start:stop] = by_item.transpose(1, 2, 0)
    return costs


def _remove_common(block: _Block) -> tuple[Floats, Floats]:
    """Return the masses without the mass that a word has on both sides.

    The sums of both sides are made equal again. An item with a repeated word on one side keeps its
    masses.

    Returns
    -------
    rows, columns : float64 arrays
    """
    items = np.flatnonzero(block.is_equal.any(0).any(0))
    if not len(items):
        return block.rows, block.columns
    is_equal = block.is_equal.take(items, -1)
    rows = block.rows.take(items, -1)
    columns = block.columns.take(items, -1)
    has_unique_rows = (is_equal.sum(0) <= 1).all(0)
    has_unique_columns = (is_equal.sum(1) <= 1).all(0)
    has_no_repeats = has_unique_rows & has_unique_columns
    smaller_masses = np.minimum(rows[:, None], columns)
    common = np.where(is_equal & has_no_repeats, smaller_masses, 0.0)
    # Each sum has at most one number that is not 0.
    rest_rows = rows - common.sum(1)
    rest_columns = columns - common.sum(0)
    rest_rows = np.where(has_no_repeats & (rest_rows < _MIN_SHARE), 0.0, rest_rows)
    rest_columns = np.where(
        has_no_repeats & (rest_columns < _MIN_SHARE), 0.0, rest_columns
    )
    row_sums = sum_in_order(rest_rows)
    column_sums = sum_in_order(rest_columns)
    ratios = row_sums / np.where(column_sums > 0, column_sums, 1.0)
    scale = np.where(has_no_repeats & (column_sums > 0), ratios, 1.0)
    all_rows = np.array(block.rows, order="C")
    all_columns = np.array(block.columns, order="C")
    all_rows[:, items] = rest_rows
    all_columns[:, items] = rest_columns * scale
    return all_rows, all_columns
