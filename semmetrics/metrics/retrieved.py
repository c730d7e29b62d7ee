"""The items that queries retrieved, checked against phi."""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.top_k import read_rows, row_slices
from semmetrics.errors import FROM_0, InputError
from semmetrics.metrics.array_inputs import integer_array
from semmetrics.metrics.nearest_items import MostSimilar, most_similar
from semmetrics.metrics.phi_matrix import (
    MAX_BYTES_PER_BLOCK,
    Queries,
    count_queries_and_items,
    take_phi,
)
from semmetrics.metrics.relations import (
    Relation,
    check_ranking,
    check_relation,
    is_related,
    leave_out_items,
)


class Retrieved:
    """The first k items of some queries, without the items that are left out.

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        A ranking, see `relations`.
    matrix : array, shape (images, captions), or an object whose rows can be sliced
        phi.
    k : int
    queries : {"rows", "columns"}
    leave_out : pair of int arrays or None
        Items of each query that do not count.
    rows : int array, shape (queries,), or None
        Which queries of the matrix these are. None means the first ones.

    Attributes
    ----------
    matrix, queries, rows, leave_out
        As the parameters, checked.
    width : int
        The size of the gallery.
    places : array, shape (queries, k), int64
        Positions in the gallery, best first. -1 if a ranking is shorter.

    Raises
    ------
    InputError
        If a ranking does not fit the matrix, or has too few ranks.
    """

    def __init__(
        self, top: Any, matrix: Any, k: int, queries: Queries, leave_out: Any, rows: Any
    ) -> None:
        n_rows, width = count_queries_and_items(matrix, queries)
        places = check_ranking(top, width)
        n_queries = len(places)
        if rows is None:
            rows = np.arange(n_queries)
        checked_rows = integer_array(rows, "rows", n_rows)
        if len(checked_rows) != n_queries:
            found = len(checked_rows)
            wanted = f"{n_queries} of top"
            raise InputError("wrong-count", "rows", found=found, wanted=wanted)
        is_short = (places < 0).any(axis=1)
        sizes = np.full(n_queries, width)
        if leave_out is not None:
            leave_out = check_relation(leave_out, n_queries, width, "leave_out")
            places, _ = leave_out_items(places, leave_out, width)
            sizes -= ragged.lengths(leave_out[0])
        n_found = (places >= 0).sum(axis=1)
        has_too_few = ~is_short & (n_found < np.minimum(k, sizes))
        if has_too_few.any():
            query = int(has_too_few.argmax())
            where = f"query {checked_rows[query]}{FROM_0}"
            found = int(n_found[query])
            raise InputError("too-few-ranks", where, found=found, wanted=k)

        self.matrix = matrix
        self.queries = queries
        self.leave_out: Relation | None = leave_out
        self.rows: Ints = checked_rows
        self.width = width
        self.places: Ints = np.full((n_queries, min(k, width)), -1)
        n_ranks = min(places.shape[1], k, width)
        self.places[:, :n_ranks] = places[:, :n_ranks]

    def phi(self) -> Floats:
        """Return phi of the items, shape (queries, k). It is 0 if a ranking is shorter."""
        values = np.zeros(self.places.shape)
        is_item = self.places >= 0
        number_of_query, _ = np.nonzero(is_item)
        query = self.rows[number_of_query]
        values[is_item] = take_phi(
            self.matrix, query, self.places[is_item], self.queries
        )
        return values

    def among(self, relation: Relation) -> Bools:
        """Return which of the items are in a relation, shape (queries, k)."""
        return is_related(self.places, relation, self.width)

    def best(self, k: int, known: MostSimilar | None) -> MostSimilar:
        """Return the k most similar items of the queries.

        Parameters
        ----------
        k : int
        known : MostSimilar or None
            The most similar items, at least k of them. If None, they are searched for.

        Raises
        ------
        InputError
            If ``known`` has fewer items, or another number of queries.
        """
        k = max(1, min(k, self.width))
        best = known
        if best is None:
            phi = self._phi_of_queries()
            best = most_similar(phi, k, queries=self.queries, leave_out=self.leave_out)
        n_queries = len(self.places)
        if len(best) != n_queries:
            found = f"{len(best):,} queries"
            wanted = f"the {n_queries:,} of top"
            raise InputError("other-items", name="best", found=found, wanted=wanted)
        best.check(k)
        return best

    def _phi_of_queries(self) -> Any:
        """Return the rows or columns of phi that belong to the queries."""
        n_rows, _ = count_queries_and_items(self.matrix, self.queries)
        if np.array_equal(self.rows, np.arange(n_rows)):
            return self.matrix
        parts = []
        if self.queries == "rows":
            # An empty part gives the right shape if there is no query.
            parts.append(read_rows(self.matrix, slice(0, 0)))
            for row in self.rows.tolist():
                parts.append(read_rows(self.matrix, slice(row, row + 1)))
        else:
            for block in row_slices(self.matrix, MAX_BYTES_PER_BLOCK):
                parts.append(read_rows(self.matrix, block)[:, self.rows])
        return np.concatenate(parts)
