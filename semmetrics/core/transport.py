"""Transport between weighted words, with distances taken from a table or from vectors.

Conventions
-----------
Predicted and reference words of item ``i`` are ``codes[indptr[i]:indptr[i + 1]]`` with weights at
the same places, in one vocabulary; each side's weights are divided by their sum. Equal words are
at distance 0 by their code, whatever the table says. Items come in any order and are solved in
blocks of similar sizes; an item without words on one side has nan. Exactness and gaps are those
of ``core.padded``, whose functions are found here too.

Where distances are a metric, mass that a word has on both sides stays where it is: an optimal plan
that moves it can be changed by the triangle inequality into one that does not, at no cost. So it
is taken out, which leaves smaller problems with the same result.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.padded import (
    METHODS,
    Transported,
    relaxed_block,
    relaxed_costs,
    shares_of,
    transport,
    transport_plans,
)
from semmetrics.core.pairs import Euclidean
from semmetrics.core.ragged import Ints
from semmetrics.core.settle import block_cells, parts_by_size, settle
from semmetrics.core.space import Space, running_total
from semmetrics.core.workers import do_parts, usable_workers
from semmetrics.errors import InputError

__all__ = [
    "Euclidean",
    "Transported",
    "gathered_transport",
    "relaxed_costs",
    "relaxed_transport",
    "transport",
    "transport_plans",
]

_REST = 1e-15  # a share below this is what rounding left


Distances = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class _Words:
    """One side of all items."""

    indptr: Ints
    codes: Ints
    weights: NDArray[np.float64]

    def padded(self, items: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
        """Codes and weights with the items along the last axis; padding has weight 0."""
        sizes = np.diff(self.indptr)[items]
        place = np.arange(int(sizes.max(initial=0)))[:, None]
        real = place < sizes
        flat = np.where(real, self.indptr[items] + place, 0)
        return self.codes[flat], np.where(real, self.weights[flat], 0.0)


@dataclass(frozen=True)
class _Block:
    """Some items, along the last axis; ``equal`` marks pairs of one word."""

    items: Ints
    costs: Any
    rows: Any
    columns: Any
    equal: Any


def gathered_transport(
    distances: Any,
    pred_indptr: Any,
    pred_codes: Any,
    pred_weights: Any,
    ref_indptr: Any,
    ref_codes: Any,
    ref_weights: Any,
    *,
    metric: bool = True,
    method: str = "auto",
    workers: int | None = None,
) -> Transported:
    """Exact transport costs of items, such as word mover's distances (Kusner et al. 2015).

    Parameters
    ----------
    distances : array or torch tensor, shape (words, words), or function
        Where it is a function, ``distances(pred_codes, ref_codes)`` gives the distances of codes
        (items, m) and (items, n) as (items, m, n): ``Euclidean(vectors)``, for instance, which is
        less work than a table where words are many and items few.
    pred_indptr, ref_indptr : int arrays, shape (items + 1,)
    pred_codes, ref_codes : int arrays
    pred_weights, ref_weights : float arrays
        Not negative.
    metric : bool
        Whether the triangle inequality holds, so that mass common to both sides stays in place.
    method : {"auto", "network"}
        As in ``transport``.
    workers : int, optional
        Threads, two at most where it is not given; one for torch. Results do not depend on it.

    Returns
    -------
    Transported
        Costs and gaps, float64, shape (items,); of the kind and on the device of ``distances``.

    Raises
    ------
    InputError
        If offsets, codes, weights, distances or options are wrong; names the item.

    Examples
    --------
    >>> table = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    >>> pred = np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5])
    >>> ref = np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5])
    >>> gathered_transport(table, *pred, *ref).costs
    array([1.])
    """
    sides = _sides(distances, pred_indptr, pred_codes, pred_weights, ref_indptr, ref_codes,
                   ref_weights)  # fmt: skip
    if method not in METHODS:
        raise InputError(f"method is {method!r}", remedy="give 'auto' or 'network'")
    space = _space(distances)
    value, gaps = (space.zeros(len(sides[0].indptr) - 1) for _ in range(2))

    def put(items: Ints) -> None:
        block = _block(space, distances, sides, items)
        rows, columns = _apart(block) if metric else (block.rows, block.columns)
        cost, gap = settle(block.costs, rows, columns, block.items, method=method)
        words = (block.rows > 0).any(0) & (block.columns > 0).any(0)
        same = words & ~((rows > 0).any(0) & (columns > 0).any(0))
        these = space.array(block.items)
        value[these] = space.xp.where(same, 0.0, cost)
        gaps[these] = space.xp.where(same, 0.0, gap)

    workers = usable_workers(workers, space)
    do_parts(put, [*_parts(space, sides, workers)], workers)
    return Transported(value, gaps)


def relaxed_transport(
    distances: Any,
    pred_indptr: Any,
    pred_codes: Any,
    pred_weights: Any,
    ref_indptr: Any,
    ref_codes: Any,
    ref_weights: Any,
) -> Any:
    """Lower bounds of ``gathered_transport``: the larger relaxation (Kusner et al. 2015, 4.3).

    Parameters
    ----------
    distances, pred_indptr, pred_codes, pred_weights, ref_indptr, ref_codes, ref_weights
        As for ``gathered_transport``.

    Returns
    -------
    float64 array or tensor, shape (items,)

    Examples
    --------
    >>> table = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    >>> pred = np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5])
    >>> ref = np.array([0, 2]), np.array([1, 2]), np.array([0.5, 0.5])
    >>> relaxed_transport(table, *pred, *ref)
    array([0.5])
    """
    sides = _sides(distances, pred_indptr, pred_codes, pred_weights, ref_indptr, ref_codes,
                   ref_weights)  # fmt: skip
    space = _space(distances)
    bounds = space.zeros(len(sides[0].indptr) - 1)
    for items in _parts(space, sides, 1):
        block = _block(space, distances, sides, items)
        found = relaxed_block(block.costs, block.rows, block.columns, items)
        bounds[space.array(block.items)] = found
    return bounds


def _space(distances: Any) -> Space:
    space: Space = getattr(distances, "space", None) or Space(
        np.zeros(0) if callable(distances) else distances
    )
    return space


def _sides(distances: Any, *flat: Any) -> tuple[_Words, _Words]:
    """Both sides, checked."""
    shape, sides = tuple(getattr(distances, "shape", ())), []
    if not (callable(distances) or (len(shape) == 2 and shape[0] == shape[1])):
        raise InputError(
            f"distances have shape {shape}", remedy="give an array of (words, words), or a function"
        )
    for name, (indptr, codes, weights) in (("pred", flat[:3]), ("ref", flat[3:])):
        side = _Words(
            np.asarray(indptr, np.int64), np.asarray(codes, np.int64), np.asarray(weights, float)
        )
        if not len(side.indptr) or side.indptr[0] != 0 or (np.diff(side.indptr) < 0).any():
            raise InputError(f"{name}_indptr is no list of offsets", remedy="start at 0 and rise")
        if not len(side.codes) == len(side.weights) == side.indptr[-1]:
            raise InputError(
                f"{name} has {len(side.codes)} codes, {len(side.weights)} weights and offsets up"
                f" to {side.indptr[-1]}",
                remedy="give a weight for each code",
            )
        known = len(distances) if hasattr(distances, "__len__") else None
        if len(side.codes) and (
            side.codes.min() < 0 or (known is not None and side.codes.max() >= known)
        ):
            raise InputError(f"a code of {name} has no distances", remedy="give codes of the table")
        sides.append(side)
    if len(sides[0].indptr) != len(sides[1].indptr):
        raise InputError(
            f"{len(sides[0].indptr) - 1} predicted and {len(sides[1].indptr) - 1} reference items",
            remedy="give both sides of each item",
        )
    return sides[0], sides[1]


def _parts(space: Space, sides: tuple[_Words, _Words], workers: int) -> Iterator[Ints]:
    """Items of similar sizes."""
    mine, theirs = (np.diff(side.indptr) for side in sides)
    return parts_by_size(mine, theirs, block_cells(space, mine, theirs, workers))


def _block(space: Space, distances: Any, sides: tuple[_Words, _Words], items: Ints) -> _Block:
    (mine, rows), (theirs, columns) = (side.padded(items) for side in sides)
    rows, columns = (
        shares_of(rows, "a predicted word", items),
        shares_of(columns, "a reference word", items),
    )
    pred, ref = space.array(mine), space.array(theirs)
    rows, columns = space.array(rows), space.array(columns)
    if callable(distances):
        costs = _computed(space, distances, sides, (pred, ref), items)
    else:
        costs = space.array(distances[pred[:, None], ref], "float64")
    equal = (pred[:, None] == ref) & (rows > 0)[:, None] & (columns > 0)
    costs[equal] = 0.0  # in a copy of what was given
    return _Block(items, costs, rows, columns, equal)


def _computed(
    space: Space, distances: Distances, sides: tuple[_Words, _Words], codes: Any, items: Ints
) -> Any:
    """Distances item by item, those of one size together: a product depends on its shape."""
    sizes = np.stack([np.diff(side.indptr)[items] for side in sides])
    starts = np.flatnonzero((sizes[:, 1:] != sizes[:, :-1]).any(0)) + 1
    costs = space.zeros(len(codes[0]), len(codes[1]), len(items))
    for start, stop in pairwise([0, *starts.tolist(), len(items)]):
        m, n = sizes[:, start].tolist()
        if m and n:
            found = distances(codes[0][:m, start:stop].T, codes[1][:n, start:stop].T)
            costs[:m, :n, start:stop] = space.array(found, "float64").swapaxes(0, 2).swapaxes(0, 1)
    return costs


def _apart(block: _Block) -> tuple[Any, Any]:
    """Masses without what a word has on both sides, the two sums made equal again.

    An item that lists a word twice on a side keeps its masses.
    """
    space, rows, columns = Space(block.rows), block.rows, block.columns
    these = space.nonzero(block.equal.any(0).any(0))
    if len(these):
        sides = (space.chosen(side, these) for side in (block.equal, rows, columns))
        rows, columns = space.copy(rows), space.copy(columns)
        rows[:, these], columns[:, these] = _rest(space, *sides)
    return rows, columns


def _rest(space: Space, equal: Any, rows: Any, columns: Any) -> tuple[Any, Any]:
    """The same for items with a word on both sides."""
    where = space.xp.where
    some = (equal.sum(0) <= 1).all(0) & (equal.sum(1) <= 1).all(0)
    common = where(equal & some, space.xp.minimum(rows[:, None], columns), 0.0)
    less = []
    for mass, axis in ((rows, 1), (columns, 0)):
        rest = mass - common.sum(axis)  # of at most one number that is not 0
        less.append(where(some & (rest < _REST), 0.0, rest))
    totals = [running_total(side) for side in less]
    scale = where(some & (totals[1] > 0), totals[0] / where(totals[1] > 0, totals[1], 1.0), 1.0)
    return less[0], less[1] * scale
