"""Search for the items that are most similar to queries, by a matrix phi.

The items are found once for all cutoffs and measures. Of equal numbers, the first in the
gallery wins, both in rankings and among the most similar items. The released code of Biten
et al. reverses an unstable sort, so there another one may win.

`phi_matrix` describes phi, and `relations` describes rankings and relations.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2, and the released
code, furkanbiten/ncs_metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.top_k import top_k
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import as_cutoffs
from semmetrics.metrics.phi_matrix import (
    Queries,
    as_matrix,
    count_queries_and_items,
)
from semmetrics.metrics.relations import Relation, check_relation, leave_out_items


@by_value()
@dataclass(frozen=True, eq=False)
class MostSimilar:
    """The items of the gallery that are most similar to each query, for all cutoffs.

    Attributes
    ----------
    values : array, shape (queries, n), float64
        Their phi, in descending order. 0 if there are fewer items.
    places : array, shape (queries, n), int64
        Their positions in the gallery. -1 if there are fewer items.
    sizes : array, shape (queries,), int64
        How many items each query can retrieve: the size of the gallery without the items
        that are left out.
    """

    values: Floats
    places: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: Any) -> MostSimilar:
        """Return the items of some queries, given by an int array or a slice."""
        return MostSimilar(self.values[rows], self.places[rows], self.sizes[rows])

    def relation(self, m: int) -> Relation:
        """Return the m most similar items of each query.

        These are the extended ground truth of equation 4.

        Raises
        ------
        InputError
            If fewer were found.
        """
        self.check(m)
        places = self.places[:, :m]
        is_item = places >= 0
        return ragged.offsets(is_item.sum(axis=1)), places[is_item]

    def check(self, m: int) -> None:
        """Check that m items were found for each query, or the whole gallery."""
        n_found = self.values.shape[1]
        if m < 1 or (m > n_found and (self.sizes > n_found).any()):
            raise InputError("too-few-similar", found=n_found, wanted=m)


def top_items(
    similarities: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
) -> Ints:
    """Rank the k best items of the gallery for each query.

    Parameters
    ----------
    similarities : array, shape (images, captions), or an object whose rows can be sliced
        Higher is more similar.
    k : int
        At least 1. A gallery with fewer items returns fewer.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that are not ranked, such as its ground truth.

    Returns
    -------
    array, shape (queries, k or the size of the gallery), int64
        Positions in the gallery, best first. Equal similarities are in the order of the
        gallery. -1 if no item is left.

    Raises
    ------
    InputError
        If a similarity is NaN. The message names its row and column.

    Examples
    --------
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 2)
    array([[1, 2],
           [0, 2]])
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 1, queries="columns").ravel()
    array([1, 0, 1])
    """
    return most_similar(similarities, k, queries=queries, leave_out=leave_out).places


def most_similar(
    phi: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
) -> MostSimilar:
    """Find the k items of the gallery that are most similar to each query.

    Parameters
    ----------
    phi : array, shape (images, captions), or an object whose rows can be sliced
    k : int
        At least 1: the largest cutoff, or m, that is needed.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that do not count, such as its ground truth.

    Returns
    -------
    MostSimilar

    Raises
    ------
    InputError
        If a number is NaN, or the relation does not fit the matrix.

    Examples
    --------
    >>> best = most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2)
    >>> best.values.tolist(), best.places.tolist()
    ([[2.0, 1.0], [3.0, 0.1]], [[0, 2], [1, 2]])
    >>> own = np.array([0, 1, 2]), np.array([0, 1])
    >>> most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2, leave_out=own).places.tolist()
    [[2, 1], [2, 0]]
    """
    matrix = as_matrix(phi)
    n_queries, width = count_queries_and_items(matrix, queries)
    as_cutoffs(k)  # raises an error unless k is a positive integer
    sizes = np.full(n_queries, width)
    max_left_out = 0
    if leave_out is not None:
        leave_out = check_relation(leave_out, n_queries, width, "leave_out")
        n_left_out = ragged.lengths(leave_out[0])
        sizes = sizes - n_left_out
        max_left_out = int(n_left_out.max(initial=0))
    k = min(k, width)
    best_values = np.zeros((n_queries, k))
    best_places = np.full((n_queries, k), -1)
    if not n_queries or not k:
        return MostSimilar(best_values, best_places, sizes)

    # Items that are left out may be among the best, so more than k are searched for.
    n_searched = min(k + max_left_out, width)
    values, places = top_k(matrix, n_searched, columns=queries == "columns")
    if leave_out is not None:
        places, columns = leave_out_items(places, leave_out, width)
        values = np.take_along_axis(values, columns, axis=1)
        values = np.where(places >= 0, values, 0.0)
    n_found = min(k, places.shape[1])
    best_values[:, :n_found] = values[:, :n_found]
    best_places[:, :n_found] = places[:, :n_found]
    return MostSimilar(best_values, best_places, sizes)
