"""Ancestors of predicted and reference labels: how many they share, how far apart labels are.

Conventions
-----------
Labels are classes; where those stand in a taxonomy is a `Placed`. Every function works on many
items at once, in parts that have few ancestors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from semmetrics.core.ragged import (
    Ints,
    cell_keys,
    first_occurrences,
    is_member,
    offsets,
    row_numbers,
    runs_within,
    sum_rows,
    take_rows,
)
from semmetrics.data.lists import Side
from semmetrics.data.taxonomy import Placed
from semmetrics.metrics.matching import ItemCounts

__all__ = ["FAR", "closed_counts", "lca_distances"]

FAR = np.int64(1 << 40)  # more links than there can be
_CELLS = 1 << 16  # (label, ancestor) pairs held at once: what stays in caches is fast


def closed_counts(pred: Side, ref: Side, placed: Placed) -> ItemCounts:
    """Count the ancestors of predicted labels, of reference labels, and those of both.

    Parameters
    ----------
    pred, ref : Side
        Labels of each item, by class; repeats change nothing.
    placed : Placed
        The ancestors of each class (``placed.without_root`` leaves the root out).

    Returns
    -------
    ItemCounts

    References
    ----------
    Kiritchenko et al. 2006.

    Examples
    --------
    >>> from semmetrics.data.taxonomy import Taxonomy
    >>> flowers = Taxonomy.from_parents({"rose": "flower", "tulip": "flower", "flower": "plant"})
    >>> placed = flowers.place([("rose",), ("tulip",)]).without_root
    >>> rose, tulip = (Side(np.array([0, 1]), np.array([code], np.int32)) for code in (0, 1))
    >>> counts = closed_counts(tulip, rose, placed)
    >>> counts.hit.tolist(), counts.n_pred.tolist(), counts.n_ref.tolist()
    ([1], [2], [2])
    """
    hit, n_pred, n_ref = np.zeros((3, len(pred)), np.int64)
    for part in _parts(pred, ref, placed):
        size = (part.stop - part.start) * len(placed.height)
        sides = [_distinct(side.rows(part.start, part.stop), placed, size) for side in (pred, ref)]
        (rows, mine), (ref_rows, theirs) = sides
        shared = rows[is_member(mine, theirs, size)]
        for counts, found in ((hit, shared), (n_pred, rows), (n_ref, ref_rows)):
            counts[part] = np.bincount(found, minlength=part.stop - part.start)
    return ItemCounts(hit, n_pred, n_ref)


def _parts(pred: Side, ref: Side, placed: Placed) -> Iterator[slice]:
    """Split the items into parts that have few ancestors."""
    widths = np.diff(placed.indptr)
    cost = sum(sum_rows(widths[side.codes], side.indptr) for side in (pred, ref))
    return runs_within(offsets(np.asarray(cost)), _CELLS)


def _ancestors(side: Side, placed: Placed) -> tuple[Ints, Ints, Ints]:
    """Gather the ancestors of each label: offsets, places in ``placed``, cells by item."""
    indptr, flat = take_rows(placed.indptr, side.codes.astype(np.int64))
    return indptr, flat, cell_keys(indptr[side.indptr], placed.nodes[flat], len(placed.height))


def _distinct(side: Side, placed: Placed, size: int) -> tuple[Ints, Ints]:
    """Find the item and the cell of each ancestor, once."""
    indptr, _, keys = _ancestors(side, placed)
    rows = row_numbers(indptr[side.indptr])
    first = first_occurrences(keys, size)
    return (rows, keys) if first is None else (rows[first], keys[first])


def lca_distances(pred: Side, ref: Side, placed: Placed) -> tuple[Ints, Ints]:
    """Measure how far each predicted label is from the nearest reference label of its item.

    Parameters
    ----------
    pred, ref : Side
        Labels of each item, by class.
    placed : Placed
        The ancestors of each class, the root among them.

    Returns
    -------
    edges, height : int arrays, shape (predicted labels,)
        The least number of links through a common ancestor; the least height of a common
        ancestor, 0 for a reference label. Both are -1 without a common ancestor.

    References
    ----------
    Deng et al. 2010; Bertinetto et al. 2020.

    Examples
    --------
    >>> from semmetrics.data.taxonomy import Taxonomy
    >>> flowers = Taxonomy.from_parents({"rose": "flower", "tulip": "flower", "flower": "plant"})
    >>> placed = flowers.place([("rose",), ("tulip",), ("plant",)])
    >>> pred = Side(np.array([0, 2]), np.array([1, 2], np.int32))
    >>> lca_distances(pred, Side(np.array([0, 1]), np.array([0], np.int32)), placed)
    (array([2, 2]), array([1, 2]))
    """
    edges, height = np.full((2, len(pred.codes)), -1)
    for part in _parts(pred, ref, placed):
        mine, theirs = (side.rows(part.start, part.stop) for side in (pred, ref))
        if len(mine.codes) and len(theirs.codes):
            flat = slice(pred.indptr[part.start], pred.indptr[part.stop])
            edges[flat], height[flat] = _nearest(mine, theirs, placed)
    return edges, height


def _nearest(pred: Side, ref: Side, placed: Placed) -> tuple[Ints, Ints]:
    _, flat, keys = _ancestors(ref, placed)
    bits = int(placed.distances.max(initial=0)).bit_length()
    ordered = np.sort((keys << bits) + placed.distances[flat])
    ordered = ordered[np.flatnonzero(np.diff(ordered >> bits, prepend=-1))]  # the nearest of each
    ref_keys = ordered >> bits
    down = ordered - (ref_keys << bits)
    indptr, flat, keys = _ancestors(pred, placed)
    place = np.minimum(np.searchsorted(ref_keys, keys), len(ref_keys) - 1)
    common = ref_keys[place] == keys
    links = np.where(common, placed.distances[flat] + down[place], FAR)
    heights = np.where(common, placed.height[placed.nodes[flat]], FAR)
    edges = np.minimum.reduceat(links, indptr[:-1])
    height = np.minimum.reduceat(heights, indptr[:-1])
    connected = edges < FAR
    return np.where(connected, edges, -1), np.where(connected, height * (edges > 0), -1)
