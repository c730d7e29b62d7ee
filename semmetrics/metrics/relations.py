"""Relations between queries and items, and rankings.

Conventions
-----------
A relation between queries and items is a pair (indptr, indices): the items of query q are
``indices[indptr[q]:indptr[q + 1]]``. A ranking is an array ``top`` of shape
(queries, ranks). It contains positions in the gallery, best first. A short ranking is
padded with -1 at its end.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Ints
from semmetrics.errors import FROM_0, InputError
from semmetrics.metrics.array_inputs import integer_array

Relation: TypeAlias = tuple[Ints, Ints]


# ---- relations ------------------------------------------------------------------------


def check_relation(
    relation: Any, n: int | None, width: int | None, name: str
) -> Relation:
    """Return a relation as two int64 arrays.

    Parameters
    ----------
    relation : pair of int arrays
    n : int or None
        The number of queries. None allows any number.
    width : int or None
        The size of the gallery. None allows any item.
    name : str
        The name of the relation in messages.

    Raises
    ------
    InputError
        If the offsets are wrong, or an item is not in the gallery or occurs twice for a
        query. The message names the relation and the query.
    """
    indptr, indices = [integer_array(part, name) for part in relation]
    n_queries = n
    if n_queries is None:
        n_queries = max(0, len(indptr) - 1)
    if not _are_offsets(indptr, n_queries, len(indices)):
        raise InputError(
            "wrong-offsets",
            name,
            offsets=len(indptr),
            queries=n_queries,
            items=len(indices),
        )
    if width is None:
        width = int(indices.max(initial=-1)) + 1
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    _check_items(outside, "not-in-gallery", name, indptr, indices, width)
    keys = ragged.cell_keys(indptr, indices, width)
    order = np.argsort(keys, kind="stable")
    is_repeated = ~ragged.starts_run(keys[order])  # equal to the key before
    repeated = order[is_repeated]
    _check_items(repeated, "duplicate", name, indptr, indices, width)
    return indptr, indices


def _are_offsets(indptr: Ints, n_queries: int, n_items: int) -> bool:
    """Return whether an array contains ascending offsets from 0 to the number of items."""
    if len(indptr) != n_queries + 1:
        return False
    if indptr[0] != 0 or indptr[-1] != n_items:
        return False
    return not (np.diff(indptr) < 0).any()


def _check_items(
    wrong_positions: Ints,
    code: str,
    name: str,
    indptr: Ints,
    indices: Ints,
    width: int,
) -> None:
    """Raise an error for the first wrong position in a relation, if there is one."""
    if len(wrong_positions):
        first = wrong_positions[0]
        query = np.searchsorted(indptr, first, side="right") - 1
        where = f"{name}, query {query}{FROM_0}"
        value = int(indices[first])
        raise InputError(code, where, role="place", value=value, size=width)


# ---- rankings -------------------------------------------------------------------------


def check_ranking(top: Any, width: int, name: str = "top") -> Ints:
    """Return a ranking as int64.

    Raises
    ------
    InputError
        If it is not a ranking, an item occurs twice for a query, or an item is not in the
        gallery, whose size is ``width``. The message names the query.
    """
    places = integer_array(top, name)
    is_outside = (places < -1) | (places >= width)
    _check_places(is_outside, "not-in-gallery", name, places, width)
    next_places = places[:, 1:]
    follows_end = (next_places >= 0) & (places[:, :-1] < 0)
    _check_places(follows_end, "item-after-end", name, next_places, width)
    ordered = np.sort(places, axis=1)
    next_ordered = ordered[:, 1:]
    is_repeated = (next_ordered == ordered[:, :-1]) & (next_ordered >= 0)
    _check_places(is_repeated, "duplicate", name, next_ordered, width)
    return places


def _check_places(
    is_wrong: Bools, code: str, name: str, places: Ints, width: int
) -> None:
    """Raise an error for the first wrong place of a ranking, if there is one."""
    if is_wrong.any():
        query, column = np.argwhere(is_wrong)[0]
        where = f"{name}, query {query}{FROM_0}"
        value = int(places[query, column])
        raise InputError(code, where, role="place", value=value, size=width)


def leave_out_items(places: Ints, relation: Relation, width: int) -> tuple[Ints, Ints]:
    """Remove related items from rankings, and close the gaps.

    Returns
    -------
    places : array, same shape
        Padded with -1.
    columns : array, same shape
        The column that each place came from.
    """
    is_removed = is_related(places, relation, width) | (places < 0)
    # A stable sort of the flags moves removed items to the end, and keeps the order of others.
    columns = np.argsort(is_removed, axis=1, kind="stable")
    remaining = np.take_along_axis(places, columns, axis=1)
    remaining[np.take_along_axis(is_removed, columns, axis=1)] = -1
    return remaining, columns


def is_related(places: Ints, relation: Relation, width: int) -> Bools:
    """Return whether each place in a ranking is an item of the query. False for -1."""
    n_queries = len(places)
    indptr, indices = relation
    queries = np.arange(n_queries)[:, None]
    keys = (queries * width + np.maximum(places, 0)).ravel()
    related_keys = ragged.cell_keys(indptr, indices, width)
    n_cells = n_queries * width or 1
    is_member = ragged.is_member(keys, related_keys, n_cells)
    return is_member.reshape(places.shape) & (places >= 0)
