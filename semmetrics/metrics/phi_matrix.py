"""Read values of a matrix phi of similarities of images and captions.

Conventions
-----------
phi has one row per image and one column per caption, for both directions. With
``queries="rows"``, images are the queries and captions the gallery. With
``queries="columns"``, it is the other way round. phi is an array, which may be
memory-mapped, a sparse matrix (missing cells are 0), or any object with a shape whose
slices of rows are arrays. It is read in blocks, and never copied or transposed whole.
Tensors of torch are moved to the CPU.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.backend import check_not_masked, is_torch, to_numpy
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.top_k import read_rows, row_slices
from semmetrics.errors import FROM_0, InputError
from semmetrics.metrics.relations import Relation

Queries: TypeAlias = Literal["rows", "columns"]

MAX_BYTES_PER_BLOCK = 1 << 26


def as_matrix(values: Any) -> Any:
    """Return phi as an array, a sparse matrix, or an object whose rows can be sliced.

    Raises
    ------
    InputError
        If it is masked.
    """
    if is_torch(values):
        return to_numpy(values)
    if hasattr(values, "tocsr"):
        return values.tocsr()
    check_not_masked(values, "phi")
    if isinstance(getattr(values, "shape", None), tuple):
        return values
    return np.asarray(values)


def count_queries_and_items(matrix: Any, queries: str) -> tuple[int, int]:
    """Return the number of queries, and of items in the gallery.

    Raises
    ------
    InputError
        If ``queries`` is neither "rows" nor "columns".
    """
    check_choice("queries", queries, ("rows", "columns"))
    n_rows, n_columns = matrix.shape
    if queries == "rows":
        return n_rows, n_columns
    return n_columns, n_rows


def take_phi(
    matrix: Any, query: Ints, place: Ints, queries: Queries = "rows"
) -> Floats:
    """Return phi of pairs of a query and an item of the gallery.

    Parameters
    ----------
    matrix : array, shape (images, captions), or an object whose rows can be sliced
    query, place : int arrays, shape (n,)
        The query of each pair, and the position of its item in the gallery.
    queries : {"rows", "columns"}

    Returns
    -------
    array, shape (n,), float64

    Raises
    ------
    InputError
        If one is NaN. The message names its row and column.

    Examples
    --------
    >>> take_phi(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), np.array([0, 0]), "columns")
    array([2., 1.])
    """
    row = query
    column = place
    if queries == "columns":
        row = place
        column = query
    if isinstance(matrix, np.ndarray):
        values = matrix[row, column].astype(np.float64)
    else:
        values = np.empty(len(row))
        for block in row_slices(matrix, MAX_BYTES_PER_BLOCK):
            in_block = np.flatnonzero((row >= block.start) & (row < block.stop))
            if len(in_block):
                block_rows = row[in_block] - block.start
                table = read_rows(matrix, block)
                values[in_block] = table[block_rows, column[in_block]]
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        first = missing[0]
        where = f"row {row[first]}, column {column[first]}{FROM_0}"
        raise InputError("not-a-number", where, role="phi", value=np.nan)
    return values


def count_equal(
    matrix: Any,
    query: Ints,
    values: Floats,
    queries: Queries,
    leave_out: Relation | None,
) -> Ints:
    """Count the items of the gallery that have a given phi, for some queries.

    Parameters
    ----------
    matrix : array, shape (images, captions), or an object whose rows can be sliced
    query : int array, shape (n,)
    values : array, shape (n,)
        The phi to count for each query.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of these n queries that do not count.

    Returns
    -------
    int array, shape (n,)

    Examples
    --------
    >>> phi = np.array([[1.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
    >>> count_equal(phi, np.array([0, 1]), np.array([0.5, 0.5]), "rows", None).tolist()
    [2, 2]
    >>> count_equal(phi, np.array([0]), np.array([0.5]), "columns", None).tolist()
    [1]
    """
    n_queries = len(query)
    counts = np.zeros(n_queries, np.int64)
    if queries == "rows":
        for number, row in enumerate(query.tolist()):
            phi_of_query = read_rows(matrix, slice(row, row + 1))
            counts[number] = (phi_of_query == values[number]).sum()
    else:
        for block in row_slices(matrix, MAX_BYTES_PER_BLOCK):
            phi_of_queries = read_rows(matrix, block)[:, query]
            counts += (phi_of_queries == values).sum(axis=0)
    if leave_out is not None:
        indptr, indices = leave_out
        owners = ragged.row_numbers(indptr)
        left_out_phi = take_phi(matrix, query[owners], indices, queries)
        is_equal = left_out_phi == values[owners]
        counts -= np.bincount(owners[is_equal], minlength=n_queries)
    return counts
