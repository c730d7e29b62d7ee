"""Ancestors and distances in a directed graph without cycles.

Conventions
-----------
Names are numbers from 0. ``child`` and ``parent`` are the ends of each link, without repeated
links. Each name is an ancestor of itself at distance 0. The distance of another ancestor is the
smallest number of links up to it.

The first generation consists of the names without parents. Any other name is in the generation
after the last one of its parents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Codes, Ints
from semmetrics.errors import InputError

MAX_PAIRS = 1 << 25
"""The largest number of pairs of a name and an ancestor, of 8 bytes each."""
_MAX_PAIRS_PER_BATCH = 1 << 21
_MAX_PAIRS_TO_SORT = 1 << 14
"""Names whose parents have more ancestors in total are merged parent by parent."""
_MAX_NAMES_OF_CYCLE = 10


class Ancestors(NamedTuple):
    """The ancestors of each name, including the name itself, in rising order.

    Attributes
    ----------
    indptr : int array, shape (names + 1,)
    ancestors, distances : int32 arrays, shape (pairs,)
    """

    indptr: Ints
    ancestors: Codes
    distances: Codes


# ---- generations --------------------------------------------------------------------------------


def find_generations(
    child: Ints, parent: Ints, names: Sequence[str], source: str
) -> list[Ints]:
    """Return the names of each generation.

    Raises
    ------
    InputError
        If there is a cycle, or there are more than ``MAX_PAIRS`` pairs of a name and its ancestor.
    """
    n_names = len(names)
    children_ptr, children = _group_by_key(parent, child, n_names)
    # Links from each name to parents that are in no generation yet.
    n_open_links = np.bincount(child, minlength=n_names)
    generations: list[Ints] = []
    n_pairs = 0
    generation = np.flatnonzero(n_open_links == 0)
    while len(generation):
        generations.append(generation)
        # Each name has at least one ancestor in every generation so far.
        n_pairs += len(generation) * len(generations)
        _check_size(n_pairs, source)
        _, links = ragged.take_rows(children_ptr, generation)
        own_children, n_links = np.unique(children[links], return_counts=True)
        n_open_links[own_children] -= n_links
        generation = own_children[n_open_links[own_children] == 0]
    if n_open_links.any():
        raise _cycle_error(child, parent, n_open_links > 0, names, source)
    return generations


def _group_by_key(keys: Ints, values: Ints, size: int) -> tuple[Ints, Ints]:
    """Return offsets and values of ragged rows, one for each key."""
    order = np.argsort(keys, kind="stable")
    counts = np.bincount(keys, minlength=size)
    return ragged.offsets(counts), values[order]


def _check_size(n_pairs: int, source: str) -> None:
    if n_pairs > MAX_PAIRS:
        raise InputError("too-many-ancestors", source, limit=MAX_PAIRS)


def _cycle_error(
    child: Ints, parent: Ints, is_open: Bools, names: Sequence[str], source: str
) -> InputError:
    """Return the error that shows a cycle among the names that are in no generation."""
    cycle = _find_cycle(child, parent, is_open)
    shown_names = [repr(names[number]) for number in cycle]
    n_more = len(cycle) - _MAX_NAMES_OF_CYCLE
    if n_more > 0:
        shown_names[_MAX_NAMES_OF_CYCLE:] = [f"{n_more} more"]
    shown_names.append(shown_names[0])
    return InputError("cycle", source, names=" -> ".join(shown_names))


def _find_cycle(child: Ints, parent: Ints, is_open: Bools) -> list[int]:
    """Return the names of a cycle, each followed by its parent. The smallest number comes first."""
    is_open_link = is_open[child] & is_open[parent]
    children = child[is_open_link].tolist()
    parents = parent[is_open_link].tolist()
    # Every name that is in no generation has a parent that is in no generation.
    first_parent: dict[int, int] = {}
    for own_child, own_parent in zip(children, parents, strict=True):
        first_parent.setdefault(own_child, own_parent)
    path: dict[int, int] = {}
    name = min(first_parent)
    while name not in path:
        path[name] = len(path)
        name = first_parent[name]
    cycle = list(path)[path[name] :]
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]


# ---- ancestors ----------------------------------------------------------------------------------


def find_ancestors(
    generations: Sequence[Ints], child: Ints, parent: Ints, source: str
) -> Ancestors:
    """Return the ancestors of every name, and the distance of each.

    Raises
    ------
    InputError
        If there are more than ``MAX_PAIRS`` pairs.
    """
    closure = _Closure(generations, child, parent, source)
    for generation in generations:
        costs = closure.count_ancestors_of_parents(generation)
        is_heavy = costs > _MAX_PAIRS_TO_SORT
        light_names = generation[~is_heavy]
        light_costs = ragged.offsets(costs[~is_heavy])
        for batch in ragged.runs_within(light_costs, _MAX_PAIRS_PER_BATCH):
            closure.merge_by_sorting(light_names[batch])
        for name in generation[is_heavy].tolist():
            closure.merge_by_parents(name)
    return closure.finish()


class _Closure:
    """The ancestors of the names so far, from the first generation on.

    A row has the ancestors of a name in rising order. Each element is
    ``ancestor << bits | distance``.
    """

    def __init__(
        self, generations: Sequence[Ints], child: Ints, parent: Ints, source: str
    ) -> None:
        size = sum(map(len, generations))
        self._size = size
        self._source = source
        self._bits = len(generations).bit_length()
        self._parents_ptr, self._parents = _group_by_key(child, parent, size)
        self._rows = [np.zeros(0, np.int64)] * size
        self._widths = np.zeros(size, np.int64)
        self._n_pairs = 0
        # Distances to one name, larger than any distance except during `merge_by_parents`.
        self._nearest = np.full(size, size)

    def count_ancestors_of_parents(self, names: Ints) -> Ints:
        """Return how many ancestors the parents of each name have in total."""
        indptr, links = ragged.take_rows(self._parents_ptr, names)
        return ragged.sum_rows(self._widths[self._parents[links]], indptr)

    def merge_by_sorting(self, names: Ints) -> None:
        """Merge the rows of the parents of each name into its row."""
        size = self._size
        bits = self._bits
        n_names = len(names)
        indptr, links = ragged.take_rows(self._parents_ptr, names)
        parent_rows = [self._rows[parent] for parent in self._parents[links].tolist()]
        widths = np.fromiter(map(len, parent_rows), np.int64, len(parent_rows))
        # The position, in `names`, of the child of each element of the parent rows.
        positions = np.repeat(ragged.row_numbers(indptr), widths)
        # A key is (position, ancestor, distance). A name is its own ancestor at distance 0, and
        # the ancestors of a parent are one link further away.
        own_keys = (np.arange(n_names) * size + names) << bits
        keys = np.concatenate([own_keys, *parent_rows])
        keys[n_names:] += (positions * size << bits) + 1
        keys.sort()
        # The first key of each pair (position, ancestor) has the smallest distance.
        pairs = keys >> bits
        nearest = np.flatnonzero(np.diff(pairs, prepend=-1))
        positions = pairs[nearest] // size
        merged = keys[nearest] - (positions * size << bits)
        self._store(names, merged, np.bincount(positions, minlength=n_names))

    def merge_by_parents(self, name: int) -> None:
        """Merge the rows of the parents of one name into its row, parent by parent.

        If a parent is an ancestor of another parent, its row adds no ancestor and can only lower
        distances above 2. Such rows are merged last, and only while such a distance is left. If
        names are linked to most of their ancestors, this skips most parents.
        """
        first = self._parents_ptr[name]
        last = self._parents_ptr[name + 1]
        parents = self._parents[first:last]
        widest_first = np.argsort(-self._widths[parents], kind="stable")
        parents = parents[widest_first]
        nearest = self._nearest
        unknown = self._size
        covered_parents = []
        for parent in parents.tolist():
            if nearest[parent] < unknown:
                covered_parents.append(parent)
            else:
                _lower_distances(nearest, self._rows[parent], self._bits)
        nearest[parents] = 1
        nearest[name] = 0
        ancestors = np.flatnonzero(nearest < unknown)
        far_ancestors = ancestors[nearest[ancestors] > 2]
        for parent in covered_parents:
            if not len(far_ancestors):
                break
            _lower_distances(nearest, self._rows[parent], self._bits)
            far_ancestors = far_ancestors[nearest[far_ancestors] > 2]
        merged = ancestors << self._bits | nearest[ancestors]
        nearest[ancestors] = unknown
        self._store(np.array([name]), merged, np.array([len(merged)]))

    def _store(self, names: Ints, merged: Ints, widths: Ints) -> None:
        """Store the rows of some names, which are concatenated."""
        self._n_pairs += len(merged)
        _check_size(self._n_pairs, self._source)
        self._widths[names] = widths
        ends = ragged.offsets(widths).tolist()
        for row, name in enumerate(names.tolist()):
            self._rows[name] = merged[ends[row] : ends[row + 1]]

    def finish(self) -> Ancestors:
        """Return the ancestors of all names, and free the rows."""
        pairs = np.concatenate(self._rows)
        self._rows.clear()
        distances = pairs & ((1 << self._bits) - 1)
        return Ancestors(
            ragged.offsets(self._widths),
            (pairs >> self._bits).astype(np.int32),
            distances.astype(np.int32),
        )


def _lower_distances(nearest: Ints, row: Ints, bits: int) -> None:
    """Lower the distances to the ancestors in the row of a parent, in place."""
    ancestors = row >> bits
    distances = (row & ((1 << bits) - 1)) + 1
    nearest[ancestors] = np.minimum(nearest[ancestors], distances)


def find_heights(
    generations: Sequence[Ints], child: Ints, parent: Ints, size: int
) -> Ints:
    """Return the largest number of links from each name down to a name without children."""
    heights = np.zeros(size, np.int64)
    parents_ptr, parents = _group_by_key(child, parent, size)
    for generation in reversed(generations[1:]):
        indptr, links = ragged.take_rows(parents_ptr, generation)
        own_heights = heights[generation][ragged.row_numbers(indptr)]
        np.maximum.at(heights, parents[links], own_heights + 1)
    return heights


def find_depths(ancestors: Ancestors, roots: Ints) -> Ints:
    """Return the distance of each name to its nearest root."""
    n_names = len(ancestors.indptr) - 1
    is_root = np.isin(ancestors.ancestors, roots)
    distances = np.where(is_root, ancestors.distances, n_names)
    depths: Ints = np.minimum.reduceat(distances, ancestors.indptr[:-1])
    return depths
