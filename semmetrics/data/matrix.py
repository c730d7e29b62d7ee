"""Matrices of items x names: class scores, similarities, 0/1 membership.

Conventions
-----------
Values are dense (possibly memory-mapped), sparse, or the product of two matrices of vectors. Cells
that a sparse matrix does not store have no score. A matrix becomes Lists by blocks of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import is_iterable
from semmetrics.core.backend import check_not_masked, precision_of
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, offsets, order_rows, positions
from semmetrics.data.item_ids import Ids
from semmetrics.data.lists import Entry, Lists, Side, Terms, as_entry
from semmetrics.errors import FROM_0, ROW, Fact, InputError, Places
from semmetrics.messages import pluralize

_MAX_EXACT_INTEGER = 2**53 - 1
"""Integers up to it are exact in float64, and no other integer is rounded to one of them."""
_MAX_VALUES_PER_BLOCK = 1 << 22


@by_value()
@dataclass(frozen=True, eq=False)
class Matrix:
    """A value for each item and name.

    Attributes
    ----------
    values : array, shape (items, names), or sparse CSR array
    ids : sequence of str, or range
        A range if the input has no ids.
    vocabulary : sequence of str or tuples of str
        The name of each column.
    source, understood : str
        The name of the input, and how it was read. ``understood`` is only shown.
    notes : list of Fact
        Notes on how the input was read.
    where : callable
        Returns the place of item ``i`` for messages, with the name of the input.
    noun : str
        The kind of name: "label".
    named : bool
        Whether the user named the columns. Otherwise their names are their numbers.
    id_part : str or None
        The regular expression that extracted these ids from longer ones.
    precision : str
        The floating-point type of the input. Empty if it is the type of ``values``.
    title : str
        What descriptions call the matrix before its size: "NumPy matrix". Empty if ``understood``
        does not contain the size.
    """

    values: Any
    ids: Ids
    vocabulary: Sequence[Entry]
    source: str = "matrix"
    understood: str = "matrix of items x names"
    notes: list[Any] = field(default_factory=list)
    where: Callable[[int], str] = field(default=ROW.format, compare=False)
    noun: str = "label"
    named: bool = True
    id_part: str | None = field(default=None, repr=False, compare=False)
    precision: str = ""
    title: str = field(default="", repr=False, compare=False)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        n_items, n_names = self.values.shape
        size = f"{pluralize(n_items, 'item')} x {n_names:,} {self.noun}s"
        kind = str(self.values.dtype)
        if self.is_sparse:
            kind = f"sparse {kind}"
        return f"Matrix({self.source}: {size}, {kind})"

    @property
    def contents(self) -> tuple[int, str]:
        """The number of values, and what a value is."""
        return self._count_values(), "score"

    def _count_values(self) -> int:
        if self.is_sparse:
            return int(self.values.nnz)
        return int(np.prod(self.values.shape))

    @property
    def has_ids(self) -> bool:
        """Whether rows are identified by an id, and not by their position."""
        return not isinstance(self.ids, range)

    @property
    def is_sparse(self) -> bool:
        """Whether cells that are not stored have no value."""
        return hasattr(self.values, "tocsr")

    def rows(self, start: int, stop: int, k: int | None = None) -> Side:
        """Return the items from start to stop as lists of names with their values.

        Parameters
        ----------
        start, stop : int
        k : int, optional
            Only the k largest values of a row, in descending order. Equal values are in the order
            of the columns. None returns all of them in the order of the columns.
        """
        values = self.values[start:stop]
        if self.is_sparse:
            indptr = values.indptr.astype(np.int64)
            scores = _as_scores(values.data, self.source)
            side = Side(indptr, values.indices.astype(np.int32), scores)
        else:
            scores = _as_scores(np.asarray(values), self.source)
            n_items, n_names = scores.shape
            codes = np.tile(np.arange(n_names, dtype=np.int32), n_items)
            side = Side(np.arange(n_items + 1) * n_names, codes, scores.ravel())
        if k is None:
            return side
        order = order_rows(side.indptr, scores.ravel())
        order = order[positions(side.indptr) < k]
        widths = np.minimum(side.sizes, k)
        return Side(offsets(widths), side.codes[order], scores.ravel()[order])

    def ranked(self, k: int | None = None) -> Lists:
        """Return the names of each item with their values, as ``rows`` does."""
        return self.lists(self.rows(0, len(self), k), ranked=True)

    def lists(self, side: Side, *, ranked: bool = False, cells: str = "") -> Lists:
        """Return lists of names, with the ids and the source of the matrix."""
        return Lists(
            self.ids,
            self.vocabulary,
            side,
            noun=self.noun,
            ranked=ranked,
            cells=cells,
            order="columns" if cells else "",
            source=self.source,
            understood=self.understood,
            notes=self.notes,
            where=self.where,
            columns=None if self.named else len(self.vocabulary),
            names_all=True,
            precision=self.precision or precision_of(self.values),
        )


def note_unstored(data: Any) -> Any:
    """Add a note on the cells that a sparse matrix of scores does not store.

    Other data are returned unchanged.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> print(*note_unstored(as_matrix(csr_array([[0.5, 0.0]]))).notes)
    sparse matrix: 1 of 2 cells not stored, so they have no score (rather than 0) and are not
    ranked
    """
    if not isinstance(data, Matrix) or not data.is_sparse:
        return data
    n_cells = int(np.prod(data.values.shape))
    n_unstored = n_cells - int(data.values.nnz)
    if not n_unstored:
        return data
    fact = Fact("unstored-cells", n_unstored, values={"cells": n_cells})
    return replace(data, notes=[*data.notes, fact])


def row_blocks(values: Any) -> Iterator[tuple[int, Any]]:
    """Yield blocks of rows that fit into memory, each with the number of its first row."""
    width = 1
    if values.ndim > 1:
        width = max(1, values.shape[-1])
    n_rows_per_block = max(1, _MAX_VALUES_PER_BLOCK // width)
    for start in range(0, values.shape[0], n_rows_per_block):
        yield start, values[start : start + n_rows_per_block]


def check_finite(values: Any, where: str) -> None:
    """Raise an error if a number is not finite. The message names the row and the column."""
    for start, block in row_blocks(values):
        cells = block if isinstance(block, np.ndarray) else block.data
        is_wrong = ~np.isfinite(cells)
        if is_wrong.any():
            cell = int(is_wrong.argmax())
            place = f"{where}, {_place_of_cell(block, cell, start)}"
            value = cells.flat[cell]
            raise InputError("not-finite", place, role="the value", value=value)


def _place_of_cell(block: Any, cell: int, start: int) -> str:
    """Return the row and the column of a flat index into a block, for messages.

    ``start`` is the first row of the block.
    """
    if not isinstance(block, np.ndarray):
        row = int(np.searchsorted(block.indptr, cell, side="right")) - 1
        column = int(block.indices[cell])
        return f"row {start + row}, column {column} (from 0)"
    row, *columns = (int(index) for index in np.unravel_index(cell, block.shape))
    place = f"row {start + row}"
    if columns:
        place += f", column {columns[0]}"
    return f"{place} (from 0)"


def as_matrix(
    values: Any,
    names: Iterable[str | Sequence[str]] | None = None,
    ids: Ids | None = None,
    *,
    source: str = "matrix",
    understood: str = "matrix of items x classes",
    title: str = "",
    notes: Sequence[Any] = (),
    finite: bool = True,
) -> Matrix:
    """Check the shape, the type and the names of a matrix.

    Parameters
    ----------
    values : array or scipy.sparse matrix, shape (items, names)
    names : iterable of str or of synonym lists, optional
        The names of the columns. Default: their numbers.
    ids : sequence of str, optional
    source, understood, title, notes
        As for ``Matrix``.
    finite : bool
        Whether to check that dense values are finite. Otherwise, this is checked on use.

    Raises
    ------
    InputError
        If the shape is not (items, names), a name is empty or occurs twice, or values are masked,
        not numbers, or not finite. The message names the row and the column.

    Examples
    --------
    >>> as_matrix(np.array([[0.5, 0.25]]), ["cat", "dog"]).rows(0, 1, k=1).codes.tolist()
    [0]
    """
    check_not_masked(values, source)
    _check_two_axes(values, source)
    n_items, n_names = values.shape
    class_names = map(str, range(n_names)) if names is None else names
    terms = class_terms(class_names)
    _check_column_names(terms, values.shape, source)
    if isinstance(values, np.ndarray):
        values = np.asarray(values)
    else:
        values = values.tocsr(copy=True)
        values.sum_duplicates()
    if values.size and values.dtype.kind not in "biuf":
        raise InputError(
            "wrong-dtype",
            source,
            role="the matrix",
            dtype=values.dtype,
            wanted="0/1 or float scores",
        )
    matrix = Matrix(
        values,
        range(n_items) if ids is None else ids,
        [as_entry(entry) for entry in terms],
        source,
        understood,
        list(notes),
        Places(source, None, ROW, range(n_items)),
        named=names is not None,
        title=title,
    )
    if values.dtype.kind == "f" and (finite or matrix.is_sparse):
        check_finite(values, source)
    return matrix


def _check_two_axes(values: Any, source: str) -> None:
    """Raise an error for an array that does not have two axes."""
    if values.ndim == 1:
        raise InputError(
            "vector-as-matrix", source, role="the array", shape=values.shape
        )
    if values.ndim != 2:
        raise InputError(
            "wrong-shape",
            source,
            role="the matrix",
            shape=values.shape,
            wanted="items x classes",
        )


def _check_column_names(
    terms: Sequence[Terms], shape: tuple[int, int], source: str
) -> None:
    """Raise an error if there is not one name for each column."""
    n_items, n_columns = shape
    if len(terms) != n_columns:
        values: dict[str, Any] = {"n_classes": len(terms), "n_columns": n_columns}
        if len(terms) == n_items:
            values["fix"] = "rows must be items, so transpose the matrix"
        raise InputError("classes-of-columns", source, **values)
    if len(set(terms)) != n_columns:
        ((repeated, _),) = Counter(terms).most_common(1)
        raise InputError("duplicate-column", source, name=", ".join(repeated))


def class_numbers(values: Any) -> Any:
    """Return the class of each item as an integer array, or None if these are not classes.

    A vector of integers, or of floats that are integers, contains classes. So does a matrix with
    one column, which scikit-learn and MATLAB write.

    Examples
    --------
    >>> class_numbers(np.array([[3.0], [1.0]])), class_numbers(np.array([0.5, 1.0]))
    (array([3, 1]), None)
    """
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf":
        return None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.ndim != 1:
        return None
    if values.dtype.kind != "f":
        return values
    is_integer = np.isfinite(values) & (values == np.round(values))
    return values.astype(np.int64) if is_integer.all() else None


def is_number_rows(value: Any) -> bool:
    """Return whether a value is a list of rows of numbers that are not all integers.

    Rows of integers may be lists of positions.

    Examples
    --------
    >>> is_number_rows([[0.5, 1], [0.25, 0]]), is_number_rows([[3, 4]])
    (True, False)
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or not len(value):
        return False
    if not all(isinstance(row, (list, tuple)) for row in value):
        return False
    for cell in value[0]:
        if not isinstance(cell, (int, float)) or isinstance(cell, bool):
            return False
    return any(isinstance(cell, float) for cell in chain.from_iterable(value))


# ---- membership ---------------------------------------------------------------------------------


def is_membership(matrix: Matrix) -> bool:
    """Return whether a matrix contains only 0 and 1, which tell the names that an item has.

    Raises
    ------
    InputError
        If an integer is neither 0, 1 nor -1. The message names the row and the column.
    """
    kind = matrix.values.dtype.kind
    if kind not in "iuf":
        return True
    for start, block in row_blocks(matrix.values):
        cells = block.data if matrix.is_sparse else block
        is_other = (cells != 0) & (cells != 1)
        if not is_other.any():
            continue
        if kind == "f" or is_signed(matrix.values):
            return False
        cell = int(is_other.argmax())
        where = f"{matrix.source}, {_place_of_cell(block, cell, start)}"
        raise InputError(
            "out-of-range",
            where,
            role="the integer",
            value=cells.flat[cell],
            wanted="membership as 0 and 1, and scores as floats",
        )
    return True


PRESENT, ABSENT, UNVERIFIED = 1.0, -1.0, 0.5
"""The marks of a ground truth with unverified labels. See `semmetrics.data.lists.Lists`."""


def is_unknown(values: Any, unknown: Iterable[float]) -> NDArray[np.bool_]:
    """Return which values mean that a cell is unverified. ``unknown`` lists these values.

    Examples
    --------
    >>> is_unknown(np.array([1.0, -1.0, float("nan")]), (-1, float("nan"))).tolist()
    [False, True, True]
    """
    is_among = np.zeros(np.shape(values), np.bool_)
    for value in unknown:
        is_nan = value != value
        if is_nan:
            is_among |= np.isnan(values)
        else:
            is_among |= np.equal(values, value)
    return is_among


def mark_values(values: Any, unknown: Iterable[float]) -> Floats:
    """Return the mark of each value: present (not 0), absent (0) or unverified.

    Examples
    --------
    >>> mark_values(np.array([1, 0, -1]), [-1]).tolist()
    [1.0, -1.0, 0.5]
    """
    marks = np.where(np.equal(values, 0), ABSENT, PRESENT)
    marks[is_unknown(values, unknown)] = UNVERIFIED
    return marks


def mark_cells(matrix: Matrix, unknown: Sequence[float]) -> Lists:
    """Mark every cell of a 0/1 matrix as present, absent or unverified.

    Parameters
    ----------
    matrix : Matrix
    unknown : sequence of float
        The values of unverified cells.

    Raises
    ------
    InputError
        If a cell is neither 0, 1 nor one of these values. The message names the row and the column.
    """
    dense = matrix.values.toarray() if matrix.is_sparse else np.asarray(matrix.values)
    is_wrong = ~((dense == 0) | (dense == 1) | is_unknown(dense, unknown))
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0].tolist()
        where = f"{matrix.source}, row {row}, column {column} (from 0)"
        wanted = "0, 1 or the unknown value in a ground truth with an unknown value"
        raise InputError(
            "out-of-range",
            where,
            role="the cell",
            value=dense[row, column],
            wanted=wanted,
        )
    marked = replace(matrix, values=mark_values(dense, unknown))
    return replace(marked.ranked(), has_marks=True)


def is_signed(values: Any) -> bool:
    """Return whether a dense matrix contains only -1 (absent), 0 (difficult) and 1 (present).

    Examples
    --------
    >>> is_signed(np.array([[1, -1], [0, 1]])), is_signed(np.array([[0.5, 1]]))
    (True, False)
    """
    if not isinstance(values, np.ndarray):
        return False
    for _, block in row_blocks(values):
        is_sign = (block == 0) | (np.abs(block) == 1)
        if not is_sign.all():
            return False
    return True


def members(matrix: Matrix) -> Lists:
    """Return the names that each item has, which are the columns of its cells other than 0."""
    if matrix.is_sparse:
        values = matrix.values.copy()
        values.eliminate_zeros()
        codes = values.indices.astype(np.int32)
        side = Side(values.indptr.astype(np.int64), codes)
        return matrix.lists(side, cells="members")
    sizes = [np.zeros(0, np.int64)]
    codes_of_blocks = [np.zeros(0, np.int32)]
    for _, block in row_blocks(matrix.values):
        cells = np.flatnonzero(np.ascontiguousarray(block))
        rows, columns = np.divmod(cells, max(1, block.shape[1]))
        sizes.append(np.bincount(rows, minlength=len(block)))
        codes_of_blocks.append(columns.astype(np.int32))
    side = Side(offsets(np.concatenate(sizes)), np.concatenate(codes_of_blocks))
    # Floats may also be scores of 0 and 1.
    may_be_scores = matrix.values.dtype.kind == "f"
    return matrix.lists(side, cells="either" if may_be_scores else "members")


# ---- scores and names ---------------------------------------------------------------------------


def _as_scores(values: Any, where: str) -> Floats:
    """Return numbers as float64.

    Raises
    ------
    InputError
        If two different integers may become equal.
    """
    scores: Floats = values.astype(np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        inexact = np.flatnonzero(np.abs(scores) > _MAX_EXACT_INTEGER)
        if len(inexact):
            raise InputError("inexact", where, value=values.flat[inexact[0]])
    return scores


def check_named(columns: Iterable[str], where: str) -> None:
    """Raise an error if a column of a table has no name."""
    for number, name in enumerate(columns):
        if not name.strip():
            raise InputError(
                "empty",
                f"{where}, column {number}{FROM_0}",
                role="the name of the column",
                remedy="name it, or leave it out if it numbers the rows (to_csv(index=False))",
            )


def class_terms(classes: Iterable[str | Sequence[str]]) -> list[Terms]:
    """Return the terms of each class of a class list.

    Raises
    ------
    InputError
        If a class is not a string or a list of synonyms, or is empty. The message names its place.

    Examples
    --------
    >>> class_terms(["dog", ["cat", "kitty"]])
    [('dog',), ('cat', 'kitty')]
    """
    if isinstance(classes, (str, bytes, Mapping, Set)) or not is_iterable(classes):
        wanted = "a list of names, in the order of the columns"
        raise InputError("wrong-type", value=classes, wanted=wanted)
    terms: list[Terms] = []
    for number, entry in enumerate(classes):
        if isinstance(entry, str) and entry.strip():
            terms.append((entry,))
        else:
            terms.append(_synonyms_of(entry, f"class list, class {number} (from 0)"))
    return terms


def _synonyms_of(entry: Any, where: str) -> Terms:
    """Return the distinct synonyms of a class, and raise an error for other entries."""
    synonyms = (entry,) if isinstance(entry, str) else entry
    is_list = isinstance(synonyms, (list, tuple))
    if not is_list or not all(isinstance(term, str) for term in synonyms):
        wanted = 'a class such as "cat", or synonyms ["cat", "kitty"]'
        raise InputError("wrong-type", where, value=entry, wanted=wanted)
    if not synonyms or not all(term.strip() for term in synonyms):
        remedy = "name it, or remove it"
        raise InputError("empty", where, role="the class", remedy=remedy)
    return tuple(dict.fromkeys(synonyms))
