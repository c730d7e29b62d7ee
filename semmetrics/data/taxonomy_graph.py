"""Ancestors in a directed graph without cycles, all names at once.

Conventions
-----------
Names are numbers from 0; ``child`` and ``parent`` are the ends of each link, no link given twice.
Names come in generations: those without parents, then always those whose last parent has come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semmetrics.core.ragged import Codes, Ints, offsets, row_numbers, runs_within, take_rows
from semmetrics.errors import InputError

__all__ = ["closure", "generations", "heights"]

_CELLS = 1 << 21  # pairs that are gathered at once
_HEAVY = 1 << 14  # pairs of one name's parents from which on they are looked at parent by parent
_SHOWN = 10  # names of a cycle in a message


def _rows_of(keys: Ints, values: Ints, size: int) -> tuple[Ints, Ints]:
    """Group values into ragged rows by key."""
    order = np.argsort(keys, kind="stable")
    return offsets(np.bincount(keys, minlength=size)), values[order]


def generations(
    child: Ints, parent: Ints, names: Sequence[str], source: str, max_pairs: int
) -> list[Ints]:
    """Order names: those without parents, then always those whose last parent has come.

    Raises
    ------
    InputError
        If there is a cycle, or there are more than ``max_pairs`` pairs of a name and its ancestor.
    """
    below_ptr, below = _rows_of(parent, child, len(names))
    waiting = np.bincount(child, minlength=len(names))
    found, pairs = list[Ints](), 0
    now = np.flatnonzero(waiting == 0)
    while len(now):
        found.append(now)
        pairs += len(now) * len(found)  # each has an ancestor in every generation
        _check_size(pairs, max_pairs, source)
        reached, times = np.unique(below[take_rows(below_ptr, now)[1]], return_counts=True)
        waiting[reached] -= times
        now = reached[waiting[reached] == 0]
    if waiting.any():
        inside = (waiting > 0)[child] & (waiting > 0)[parent]
        raise _in_cycle([names[code] for code in _cycle(child[inside], parent[inside])], source)
    return found


def _in_cycle(names: list[str], source: str) -> InputError:
    written = [repr(name) for name in names]
    if len(written) > _SHOWN:
        written[_SHOWN:] = [f"{len(written) - _SHOWN} more"]
    return InputError(
        f"there is a cycle: {' -> '.join([*written, written[0]])}",
        where=source,
        remedy="remove one of its links",
    )


def _cycle(child: Ints, parent: Ints) -> list[int]:
    """Find the names of a cycle, where every name has a parent that is left."""
    above = dict(zip(child[::-1].tolist(), parent[::-1].tolist(), strict=True))
    node, seen = min(above), dict[int, int]()
    while node not in seen:
        seen[node] = len(seen)
        node = above[node]
    cycle = list(seen)[seen[node] :]
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]


def _check_size(pairs: int, max_pairs: int, source: str) -> None:
    if pairs > max_pairs:
        raise InputError(
            f"it has more than {max_pairs} pairs of a name and its ancestor",
            where=source,
            remedy="leave out names that no label needs (in Python, max_pairs= sets another limit)",
        )


class _Growing:
    """Ancestors of names that come one after the other, with room for more."""

    def __init__(self, size: int) -> None:
        self.start, self.width = np.zeros((2, size), np.int64)
        self.used = 0
        self._flat = np.empty((2, 1 << 10), np.int32)

    def add(self, owners: Ints, widths: Ints, nodes: Ints, distances: Ints) -> None:
        stop = self.used + len(nodes)
        if stop > self._flat.shape[1]:
            self._flat = np.hstack([self._flat, np.empty((2, stop), np.int32)])
        self._flat[0, self.used : stop], self._flat[1, self.used : stop] = nodes, distances
        self.start[owners], self.width[owners] = self.used + offsets(widths)[:-1], widths
        self.used = stop

    def row(self, owner: int) -> tuple[Codes, Codes]:
        """Return the ancestors and distances of one name."""
        start = self.start[owner]
        ancestors, distances = self._flat[:, start : start + self.width[owner]]
        return ancestors, distances

    def take(self, owners: Ints) -> tuple[Ints, Codes, Codes]:
        """Gather the offsets, ancestors and distances of some names."""
        indptr = offsets(self.width[owners])
        flat = np.arange(indptr[-1]) + np.repeat(self.start[owners] - indptr[:-1], np.diff(indptr))
        return indptr, self._flat[0].take(flat), self._flat[1].take(flat)


def closure(
    ordered: Sequence[Ints], child: Ints, parent: Ints, source: str, max_pairs: int
) -> tuple[Ints, Codes, Codes]:
    """Find the ancestors of every name, itself included, and the least number of links to each.

    Parameters
    ----------
    ordered : sequence of int arrays
        The generations.

    Returns
    -------
    indptr, ancestors, distances : int arrays
        The ancestors of each name by rising number.

    Raises
    ------
    InputError
        If there are more than ``max_pairs`` pairs.
    """
    size = sum(map(len, ordered))
    above_ptr, above = _rows_of(child, parent, size)
    rows, nearest = _Growing(size), np.full(size, size, np.int32)
    for generation in ordered:
        whole_ptr, whole = take_rows(above_ptr, generation)
        cost = np.diff(offsets(rows.width[above[whole]])[whole_ptr])
        heavy = cost > _HEAVY
        light = generation[~heavy]
        parts = [np.array([node]) for node in generation[heavy]]
        parts += [light[run] for run in runs_within(offsets(cost[~heavy]), _CELLS)]
        n_heavy = len(generation) - len(light)
        for number, part in enumerate(parts):
            if number < n_heavy:
                found = _merged(rows, part, above_ptr, above, nearest)
            else:
                found = _merged_by_sorting(rows, part, above_ptr, above, len(ordered))
            _check_size(rows.used + len(found[1]), max_pairs, source)
            rows.add(part, *found)
    return rows.take(np.arange(size))


def _merged_by_sorting(
    rows: _Growing, part: Ints, above_ptr: Ints, above: Ints, longest: int
) -> tuple[Ints, Ints, Ints]:
    """Merge the ancestors of the parents of some names: widths, ancestors and distances."""
    size, bits = len(rows.width), longest.bit_length()
    above_part, flat = take_rows(above_ptr, part)
    indptr, nodes, distances = rows.take(above[flat])
    owner = np.repeat(row_numbers(above_part), np.diff(indptr))
    keys = (owner * size + nodes << bits) + distances + 1
    keys = np.append(keys, np.arange(len(part)) * size + part << bits)
    keys.sort()  # of equal pairs the nearest stands first
    pairs = keys >> bits
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    owner, kept = np.divmod(pairs[first], size)
    return np.bincount(owner, minlength=len(part)), kept, keys[first] - (pairs[first] << bits)


def _merged(
    rows: _Growing, part: Ints, above_ptr: Ints, above: Ints, nearest: Codes
) -> tuple[Ints, Ints, Ints]:
    """Do what ``_merged_by_sorting`` does for one name, parent by parent.

    A parent that is an ancestor of another adds no ancestor, and can only lower distances above 2;
    so where names are linked to most of their ancestors, few parents are looked at.

    Parameters
    ----------
    nearest : int32 array, shape (names,)
        Room to work in: larger than any distance before and after.
    """
    parents = above[take_rows(above_ptr, part)[1]]
    unknown = len(nearest)

    def look(parent: int) -> None:
        ancestors, distances = rows.row(parent)
        nearest[ancestors] = np.minimum(nearest[ancestors], distances + 1)

    within = []
    for parent in parents[np.argsort(-rows.width[parents], kind="stable")].tolist():
        if nearest[parent] < unknown:
            within.append(parent)
        else:
            look(parent)
    nearest[parents], nearest[part] = 1, 0
    found = np.flatnonzero(nearest < unknown)
    far = found[nearest[found] > 2]
    for parent in within:
        if not len(far):
            break
        look(parent)
        far = far[nearest[far] > 2]
    distances = nearest[found].astype(np.int64)
    nearest[found] = unknown
    return np.array([len(found)]), found, distances


def heights(ordered: Sequence[Ints], child: Ints, parent: Ints, size: int) -> Ints:
    """Measure the largest number of links from each name down to one without children."""
    above_ptr, above = _rows_of(child, parent, size)
    height = np.zeros(size, np.int64)
    for generation in reversed(ordered[1:]):
        indptr, flat = take_rows(above_ptr, generation)
        np.maximum.at(height, above[flat], height[generation][row_numbers(indptr)] + 1)
    return height
