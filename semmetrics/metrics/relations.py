"""Relations between queries and items, rankings, and phi: checked, and read where it is needed.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction: with
``queries="rows"`` images are the queries and captions the gallery, with ``queries="columns"`` the
other way round. It is an array, also a memory-mapped one, a sparse matrix (what it does not hold is
0), or anything with a shape whose slices of rows are arrays; it is read in blocks, and never copied
or transposed whole. Tensors of torch are moved to the processor.

A ranking is an array ``top`` of shape (queries, ranks): places in the gallery, best first; what a
short ranking lacks is -1, at its end. A relation between queries and items is a pair (indptr,
indices): the items of query q are ``indices[indptr[q]:indptr[q + 1]]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.backend import is_torch, refuse_masked
from semmetrics.core.ragged import Bools, Floats, Ints, cell_keys, is_member, lengths, row_numbers
from semmetrics.core.ranks import read_rows, row_slices
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import counted, pluralize
from semmetrics.metrics.definition import is_cutoff

Queries: TypeAlias = Literal["rows", "columns"]
Relation: TypeAlias = tuple[Ints, Ints]

_MEMORY = 1 << 26  # bytes of a block of rows
_MATRIX = "numbers, with a row for each image and a column for each caption"


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The items that some queries retrieved, without what is left out.

    Attributes
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    queries : {"rows", "columns"}
    rows : int array, shape (queries,)
        Which queries of the matrix they are.
    places : array, shape (queries, k), int64
        Best first; -1 where a ranking is shorter.
    leave_out : pair of int arrays or None
    """

    matrix: Any
    queries: Queries
    rows: Ints
    places: Ints
    leave_out: Relation | None

    @classmethod
    def of(
        cls, top: Any, matrix: Any, k: int, queries: Queries, leave_out: Any, rows: Any
    ) -> Retrieved:
        """Check a ranking, and keep the first k that count.

        Raises
        ------
        InputError
            If it does not fit the matrix, or has too few ranks.
        """
        n_queries, width = sides(matrix, queries)
        places = check_ranking(top, width)
        rows = _check_rows(rows, len(places), n_queries, queries)
        short, sizes = (places < 0).any(axis=1), np.full(len(places), width)
        if leave_out is not None:
            leave_out = check_relation(leave_out, len(places), width, "leave_out")
            places, sizes = without(places, leave_out, width)[0], sizes - lengths(leave_out[0])
        found = (places >= 0).sum(axis=1)
        few = np.flatnonzero(~short & (found < np.minimum(k, sizes)))
        if len(few):
            raise InputError("too-few-ranks", f"query {rows[few[0]]}{FROM_0}",
                             found=int(found[few[0]]), wanted=k)  # fmt: skip
        wide = np.full((len(places), min(k, width)), -1)
        wide[:, : places.shape[1]] = places[:, : wide.shape[1]]
        return cls(matrix, queries, rows, wide, leave_out)

    @property
    def width(self) -> int:
        """Items of the gallery."""
        return sides(self.matrix, self.queries)[1]

    def phi(self) -> Floats:
        """Return phi of what is retrieved, shape (queries, k); 0 where a ranking is shorter."""
        found, kept = np.zeros(self.places.shape), self.places >= 0
        query = self.rows[np.nonzero(kept)[0]]
        found[kept] = take_phi(self.matrix, query, self.places[kept], self.queries)
        return found

    def phi_of(self, relation: Relation) -> Floats:
        """Return phi of a relation's items, one after the other."""
        query = self.rows[row_numbers(relation[0])]
        return take_phi(self.matrix, query, relation[1], self.queries)

    def among(self, relation: Relation) -> Bools:
        """Tell which of the items are in a relation, shape (queries, k)."""
        return is_related(self.places, relation, self.width)

    def own_phi(self) -> Any:
        """Return the part of phi that is of these queries."""
        n_queries, width = sides(self.matrix, self.queries)
        if np.array_equal(self.rows, np.arange(n_queries)):
            return self.matrix
        by_row = self.queries == "rows"
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[self.rows] if by_row else self.matrix[:, self.rows]
        blocks = row_slices(self.matrix, _MEMORY)
        if not by_row:
            return np.concatenate([read_rows(self.matrix, one)[:, self.rows] for one in blocks])
        found = np.empty((len(self.rows), width))
        for one in blocks:
            here = np.flatnonzero((self.rows >= one.start) & (self.rows < one.stop))
            if len(here):
                found[here] = read_rows(self.matrix, one)[self.rows[here] - one.start]
        return found


def _check_rows(rows: Any, number: int, n_queries: int, queries: str) -> Ints:
    """Return the query of each row of a ranking: by default the first queries.

    Raises
    ------
    InputError
        If there is another number of them, or no such query.
    """
    if rows is None:
        if number > n_queries:
            wanted = f"{pluralize(n_queries, 'query')} ({queries} of phi)"
            raise InputError("wrong-count", "top", found=pluralize(number, "row"), wanted=wanted)
        return np.arange(number)
    found = _whole_numbers(rows, 1, "rows")
    if len(found) != number:
        raise InputError("wrong-count", "rows", found=counted(found, "query"),
                         wanted=f"{pluralize(number, 'row')} of top")  # fmt: skip
    outside = found[(found < 0) | (found >= n_queries)]
    if len(outside):
        raise InputError("out-of-range", "rows", role="a query", value=int(outside[0]),
                         wanted=f"one from 0 to {n_queries - 1} ({queries} of phi)")  # fmt: skip
    return found


def as_matrix(values: Any, name: str = "phi") -> Any:
    """Return an array, or what gives rows by slices as it is.

    Raises
    ------
    InputError
        If it is not a matrix of numbers, or masked.
    """
    values = to_numpy(values)
    if hasattr(values, "tocsr"):
        return values.tocsr()
    refuse_masked(values, name)
    if not isinstance(getattr(values, "shape", None), tuple):
        values = np.asarray(values)
    dtype = getattr(values, "dtype", np.dtype(float))
    if len(values.shape) != 2:
        raise InputError("wrong-shape", role=name, shape=values.shape, wanted=_MATRIX)
    if dtype.kind not in "biuf":
        raise InputError("wrong-dtype", role=name, dtype=dtype, wanted=_MATRIX)
    return values


def to_numpy(values: Any) -> Any:
    """Return a tensor of torch on any device as an array, and anything else as it is."""
    return values.detach().cpu().numpy() if is_torch(values) else values


def sides(matrix: Any, queries: str) -> tuple[int, int]:
    """Return the numbers of queries and of items in the gallery.

    Raises
    ------
    InputError
        If queries are neither rows nor columns.
    """
    check_choice("queries", queries, ("rows", "columns"))
    rows, columns = matrix.shape
    return (rows, columns) if queries == "rows" else (columns, rows)


def take_phi(matrix: Any, query: Ints, place: Ints, queries: Queries = "rows") -> Floats:
    """Return phi of pairs of a query and an item of the gallery.

    Parameters
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    query, place : int arrays, shape (n,)
    queries : {"rows", "columns"}

    Returns
    -------
    array, shape (n,), float64

    Raises
    ------
    InputError
        If one is NaN; names its row and column.

    Examples
    --------
    >>> take_phi(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), np.array([0, 0]), "columns")
    array([2., 1.])
    """
    row, column = (query, place) if queries == "rows" else (place, query)
    if isinstance(matrix, np.ndarray):
        found = matrix[row, column].astype(np.float64)
    else:
        found = np.empty(len(row))
        for block in row_slices(matrix, _MEMORY):
            here = np.flatnonzero((row >= block.start) & (row < block.stop))
            if len(here):
                found[here] = read_rows(matrix, block)[row[here] - block.start, column[here]]
    wrong = np.flatnonzero(np.isnan(found))
    if len(wrong):
        where = f"row {row[wrong[0]]}, column {column[wrong[0]]}{FROM_0}"
        raise InputError("not-a-number", where, role="phi", value=np.nan)
    return found


def check_relation(relation: Any, n: int | None, width: int | None, name: str) -> Relation:
    """Return a relation of n queries as int64 arrays; of any where it is None, and so the gallery.

    Raises
    ------
    InputError
        If it is not such a pair, holds an item that is not in the gallery, or one twice in a row;
        names it and the query.
    """
    if not isinstance(relation, tuple | list) or len(relation) != 2:
        raise InputError("wrong-type", name, value=relation, wanted="a pair (indptr, indices)")
    indptr, indices = (_whole_numbers(part, 1, name) for part in relation)
    n = max(0, len(indptr) - 1) if n is None else n
    rising = len(indptr) == n + 1 and not indptr[0] and indptr[-1] == len(indices)
    if not rising or (np.diff(indptr) < 0).any():
        sizes = {"offsets": len(indptr), "queries": n, "items": len(indices)}
        raise InputError("wrong-offsets", name, **sizes)
    width = int(indices.max(initial=-1)) + 1 if width is None else width
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    keys = cell_keys(indptr, indices, width)
    order = np.argsort(keys, kind="stable")
    twice = order[1:][keys[order][1:] == keys[order][:-1]]
    for bad, code in ((outside, "not-in-gallery"), (twice, "duplicate")):
        if len(bad):
            where = f"{name}, query {np.searchsorted(indptr, bad[0], side='right') - 1}{FROM_0}"
            raise InputError(code, where, role="place", value=int(indices[bad[0]]), size=width)
    return indptr, indices


def _whole_numbers(values: Any, dimensions: int, name: str) -> Ints:
    """Return an array of so many dimensions as int64.

    Raises
    ------
    InputError
        If it is another one, holds other things, or is masked; names it.
    """
    refuse_masked(values, name)
    table = np.asarray(to_numpy(values))
    wanted = "whole numbers" + ", in a row for each query" * (dimensions == 2)
    if table.ndim != dimensions:
        raise InputError("wrong-shape", role=name, shape=table.shape, wanted=wanted)
    if table.size and table.dtype.kind not in "iu":
        raise InputError("wrong-dtype", role=name, dtype=table.dtype, wanted=wanted)
    return table.astype(np.int64)


def check_places(values: Any, size: int, name: str) -> Ints:
    """Return a table of places, -1 for none.

    Raises
    ------
    InputError
        If one is outside; names the row.
    """
    table = _whole_numbers(values, 2, name)
    outside = np.argwhere((table < -1) | (table >= size))
    if len(outside):
        value = int(table[tuple(outside[0])])
        raise InputError("not-in-gallery", f"{name}, row {outside[0][0]}{FROM_0}",
                         value=value, size=size)  # fmt: skip
    return table


def check_ranking(top: Any, width: int) -> Ints:
    """Return a ranking as int64.

    Raises
    ------
    InputError
        If it is none, or holds an item twice, or one that is not in the gallery; names the query.
    """
    places = _whole_numbers(top, 2, "top")
    ordered = np.sort(places, axis=1)
    again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    for values, bad, code in (
        (places, (places < -1) | (places >= width), "not-in-gallery"),
        (places[:, 1:], (places[:, 1:] >= 0) & (places[:, :-1] < 0), "item-after-end"),
        (ordered[:, 1:], again, "duplicate"),
    ):
        if bad.any():
            query, column = np.argwhere(bad)[0]
            raise InputError(code, f"top, query {query}{FROM_0}", role="place",
                             value=int(values[query, column]), size=width)  # fmt: skip
    return places


def without(places: Ints, relation: Relation, width: int) -> tuple[Ints, Ints]:
    """Leave items out of rankings; return the places, and the columns that they came from."""
    gone = is_related(places, relation, width) | (places < 0)
    columns = np.argsort(gone, axis=1, kind="stable")
    kept = np.take_along_axis(places, columns, axis=1)
    kept[np.take_along_axis(gone, columns, axis=1)] = -1
    return kept, columns


def is_related(places: Ints, relation: Relation, width: int) -> Bools:
    """Tell which places of a table, a row a query, are items of the query; -1 is none."""
    n = len(places)
    keys = (np.arange(n)[:, None] * width + np.maximum(places, 0)).ravel()
    found = is_member(keys, cell_keys(*relation, width), n * width).reshape(places.shape)
    return found & (places >= 0)


def check_cutoffs(**given: Any) -> None:
    """Refuse a number of items that is not a whole number from 1."""
    for name, value in given.items():
        if not is_cutoff(value):
            raise InputError("bad-option", name=name, value=value, wanted="a whole number from 1")
