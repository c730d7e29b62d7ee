"""Matrices of items x names: class scores, similarities, 0/1 membership.

Conventions
-----------
Values are dense (also memory-mapped), sparse, or the product of two matrices of vectors. What a
sparse matrix does not hold has no score. A matrix becomes Lists a block of rows at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import precision_of, refuse_masked
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, offsets, order_rows, positions
from semmetrics.data.form import is_iterable
from semmetrics.data.lists import Entry, Ids, Lists, Side, Terms, as_entry
from semmetrics.errors import FROM_0, ROW, Fact, InputError, Places
from semmetrics.messages import pluralize

# whole numbers up to it are exact in float64, and no other becomes one of them
_EXACT = 2**53 - 1
_BLOCK = 1 << 22  # values looked at together


@by_value()
@dataclass(frozen=True, eq=False)
class Matrix:
    """A value for each item and name.

    Attributes
    ----------
    values : array, shape (items, names), or sparse CSR array
    ids : sequence of str, or range
        A range where the input has no ids.
    vocabulary : sequence of str or tuples of str
        The name of each column.
    source, understood : str
        The name of the input, and how it was read.
    notes : list of str
        What was odd and nevertheless accepted.
    where : callable
        The place of item ``i``, for messages; it names the input, too.
    noun : str
        What a name is: "label".
    named : bool
        Whether the columns were given names; otherwise they are called by their numbers.
    id_part : str or None
        The regular expression that found the ids in longer ones.
    precision : str
        The floating-point type in which scores were given; empty if it is that of ``values``.
    """

    values: Any
    ids: Ids
    vocabulary: Sequence[Entry]
    source: str = "matrix"
    understood: str = "matrix of items x names"
    notes: list[str] = field(default_factory=list)
    where: Callable[[int], str] = field(default=ROW.format, compare=False)
    noun: str = "label"
    named: bool = True
    id_part: str | None = field(default=None, repr=False, compare=False)
    precision: str = ""

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        items, names = self.values.shape
        kind = "sparse " * self.sparse + str(self.values.dtype)
        return f"Matrix({self.source}: {pluralize(items, 'item')} x {names:,} {self.noun}s, {kind})"

    @property
    def contents(self) -> tuple[int, str]:
        """How many of what it holds."""
        return int(
            self.values.nnz if self.sparse else np.prod(self.values.shape)
        ), "score"

    @property
    def has_ids(self) -> bool:
        """Whether rows are identified by an id, and not by their position."""
        return not isinstance(self.ids, range)

    @property
    def sparse(self) -> bool:
        """Whether what is not held has no value."""
        return hasattr(self.values, "tocsr")

    def rows(self, start: int, stop: int, k: int | None = None) -> Side:
        """Return items start to stop as lists: the names of a row with their values.

        Parameters
        ----------
        start, stop : int
        k : int, optional
            Only the k largest values of a row, falling; equal ones in the order of the columns.
            None is all of them, in the order of the columns.
        """
        values = self.values[start:stop]
        if self.sparse:
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
        order = order_rows(side.indptr, side.scores)  # type: ignore[arg-type]
        order = order[positions(side.indptr) < k]
        widths = np.minimum(np.diff(side.indptr), k)
        return Side(offsets(widths), side.codes[order], side.scores[order])  # type: ignore[index]

    def ranked(self, k: int | None = None) -> Lists:
        """Return the names of each item with their values; see ``rows``."""
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


def note_unstored(found: Any) -> Any:
    """Return what was read, with a note on the cells of a sparse matrix of scores that have none.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> print(*note_unstored(as_matrix(csr_array([[0.5, 0.0]]))).notes)
    sparse: 1 of 2 cells not stored: without a score, which is not a score of 0, and not ranked
    """
    sparse = isinstance(found, Matrix) and found.sparse
    cells = int(np.prod(found.values.shape)) if sparse else 0
    lacking = cells - int(found.values.nnz) if sparse else 0
    if not lacking:
        return found
    fact = Fact("unstored-cells", lacking, values={"cells": cells})
    return replace(found, notes=[*found.notes, fact])


def row_blocks(values: Any) -> Iterator[tuple[int, Any]]:
    """Yield blocks of rows that fit memory, each with the number of its first row."""
    step = max(1, _BLOCK // max(1, values.shape[-1] if values.ndim > 1 else 1))
    for start in range(0, values.shape[0], step):
        yield start, values[start : start + step]


def check_finite(values: Any, where: str) -> None:
    """Refuse a number that is not finite; names its place."""
    for start, block in row_blocks(values):
        cells = block if isinstance(block, np.ndarray) else block.data
        bad = ~np.isfinite(cells)
        if bad.any():
            first = int(bad.argmax())
            where = f"{where}, {_place(block, first, start)}"
            raise InputError(
                "not-finite", where, role="the value", value=cells.flat[first]
            )


def _place(block: Any, cell: int, start: int) -> str:
    """Write the row and column of a cell."""
    if isinstance(block, np.ndarray):
        place = [int(part) for part in np.unravel_index(cell, block.shape)]
    else:
        row = int(np.searchsorted(block.indptr, cell, side="right")) - 1
        place = [row, int(block.indices[cell])]
    place[0] += start
    at = ", ".join(
        f"{what} {i}" for what, i in zip(("row", "column"), place, strict=False)
    )
    return f"{at} (from 0)"


def as_matrix(
    values: Any,
    names: Iterable[str | Sequence[str]] | None = None,
    ids: Ids | None = None,
    *,
    source: str = "matrix",
    understood: str = "matrix of items x classes",
    notes: Sequence[Any] = (),
    finite: bool = True,
) -> Matrix:
    """Check the shape, the type and the names of a matrix.

    Parameters
    ----------
    values : array or scipy.sparse matrix, shape (items, names)
    names : iterable of str or of synonym lists, optional
        Of the columns, which are called by their numbers where left out.
    ids : sequence of str, optional
    source, understood, notes
        As for ``Matrix``.
    finite : bool
        Whether to check that dense values are finite; otherwise what uses them does.

    Raises
    ------
    InputError
        If the shape is not (items, names), a name is none or is there twice, values are masked,
        are no numbers, or are not finite; names row and column.

    Examples
    --------
    >>> as_matrix(np.array([[0.5, 0.25]]), ["cat", "dog"]).rows(0, 1, k=1).codes.tolist()
    [0]
    """
    refuse_masked(values, source)
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
    n_items, n_names = values.shape
    terms = class_terms(map(str, range(n_names)) if names is None else names)
    if len(terms) != n_names:
        raise InputError(
            "wrong-count",
            source,
            found=pluralize(len(terms), "class"),
            wanted=pluralize(n_names, "column"),
        )
    if len(set(terms)) != n_names:
        twice = Counter(terms).most_common(1)[0][0]
        raise InputError("duplicate-column", source, name=", ".join(twice))
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
    made = Matrix(
        values,
        range(n_items) if ids is None else ids,
        [as_entry(entry) for entry in terms],
        source,
        understood,
        list(notes),
        Places(source, None, ROW, range(n_items)),
        named=names is not None,
    )
    if values.dtype.kind == "f" and (finite or made.sparse):
        check_finite(values, source)
    return made


def class_numbers(values: Any) -> Any:
    """Return the class of each item as an integer array, or None if these are not classes.

    A vector of integers, or of floats that are integers, holds classes. So does a column, which
    scikit-learn and MATLAB write.

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
    """Tell whether it is a list of rows of numbers, some of which are not whole.

    Examples
    --------
    >>> is_number_rows([[0.5, 1], [0.25, 0]]), is_number_rows([[3, 4]])  # of numbers of items
    (True, False)
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or not len(value):
        return False
    if not all(isinstance(row, (list, tuple)) for row in value):
        return False
    plain = all(
        isinstance(one, (int, float)) and not isinstance(one, bool) for one in value[0]
    )
    return plain and any(isinstance(one, float) for row in value for one in row)


def is_membership(matrix: Matrix) -> bool:
    """Tell whether a matrix says only which names an item has: all its values are 0 or 1.

    Raises
    ------
    InputError
        If an integer is neither 0, 1 nor -1; names row and column.
    """
    kind = matrix.values.dtype.kind
    for start, block in row_blocks(matrix.values) if kind in "iuf" else ():
        cells = block.data if matrix.sparse else block
        other = (cells != 0) & (cells != 1)
        if not other.any():
            continue
        if kind == "f" or is_signed(matrix.values):
            return False
        first = int(other.argmax())
        where = f"{matrix.source}, {_place(block, first, start)}"
        raise InputError(
            "out-of-range",
            where,
            role="the integer",
            value=cells.flat[first],
            wanted="membership as 0 and 1, and scores as floats",
        )
    return True


PRESENT, ABSENT, UNVERIFIED = 1.0, -1.0, 0.5
"""The marks of a ground truth that says what nobody verified; see `semmetrics.data.lists.Lists`."""


def is_unknown(values: Any, unknown: Iterable[float]) -> NDArray[np.bool_]:
    """Tell which values are among those of cells that nobody verified.

    Examples
    --------
    >>> is_unknown(np.array([1.0, -1.0, float("nan")]), (-1, float("nan"))).tolist()
    [False, True, True]
    """
    found = np.zeros(np.shape(values), np.bool_)
    for value in unknown:
        found |= np.isnan(values) if value != value else np.equal(values, value)
    return found


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


def marked_members(matrix: Matrix, unknown: Sequence[float]) -> Lists:
    """Return the mark of every cell of a 0/1 matrix in which some cells were not verified.

    Raises
    ------
    InputError
        If a cell is neither 0, 1 nor such a value; names row and column.
    """
    dense = matrix.values.toarray() if matrix.sparse else np.asarray(matrix.values)
    odd = ~((dense == 0) | (dense == 1) | is_unknown(dense, unknown))
    if odd.any():
        row, column = np.argwhere(odd)[0].tolist()
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
    """Tell whether dense values are -1, 0 and 1 alone: absent, difficult and present.

    Examples
    --------
    >>> is_signed(np.array([[1, -1], [0, 1]])), is_signed(np.array([[0.5, 1]]))
    (True, False)
    """
    blocks = (
        row_blocks(values) if isinstance(values, np.ndarray) else [(0, np.array(2))]
    )
    return all(((block == 0) | (np.abs(block) == 1)).all() for _, block in blocks)


def members(matrix: Matrix) -> Lists:
    """Return the names that each item has: the cells that are not 0."""
    either = not matrix.sparse and matrix.values.dtype.kind == "f"
    if matrix.sparse:
        values = matrix.values.copy()
        values.eliminate_zeros()
        side = Side(values.indptr.astype(np.int64), values.indices.astype(np.int32))
    else:
        widths, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for _, block in row_blocks(matrix.values):
            cells = np.flatnonzero(np.ascontiguousarray(block))
            rows, places = np.divmod(cells, max(1, block.shape[1]))
            widths.append(np.bincount(rows, minlength=len(block)))
            columns.append(places.astype(np.int32))
        side = Side(offsets(np.concatenate(widths)), np.concatenate(columns))
    return matrix.lists(side, cells="either" if either else "members")


def _as_scores(values: Any, where: str) -> Floats:
    """Return numbers as float64.

    Raises
    ------
    InputError
        If two whole numbers may become one.
    """
    found: Floats = values.astype(np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        large = np.flatnonzero(np.abs(found) > _EXACT)
        if len(large):
            raise InputError("inexact", where, value=values.flat[large[0]])
    return found


def check_named(columns: Iterable[str], where: str) -> None:
    """Refuse columns of a table of which one has no name."""
    for place, name in enumerate(columns):
        if not name.strip():
            remedy = (
                "name it, or leave it out if it numbers the rows (to_csv(index=False))"
            )
            raise InputError(
                "empty",
                f"{where}, column {place}{FROM_0}",
                role="the name of the column",
                remedy=remedy,
            )


def class_terms(classes: Iterable[str | Sequence[str]]) -> list[Terms]:
    """Return the terms of each class of a class list.

    Raises
    ------
    InputError
        If a class is not a string or a list of synonyms, or is empty; names its place.

    Examples
    --------
    >>> class_terms(["dog", ["cat", "kitty"]])
    [('dog',), ('cat', 'kitty')]
    """
    listed: list[Terms] = []
    if isinstance(classes, (str, bytes, Mapping, Set)) or not is_iterable(classes):
        raise InputError(
            "wrong-type",
            value=classes,
            wanted="a list of names, in the order of the columns",
        )
    for number, entry in enumerate(classes):
        if isinstance(entry, str) and entry.strip():
            listed.append((entry,))
            continue
        terms = (entry,) if isinstance(entry, str) else entry
        where = f"class list, class {number} (from 0)"
        if not isinstance(terms, (list, tuple)) or not all(
            isinstance(t, str) for t in terms
        ):
            wanted = 'a class such as "cat", or synonyms ["cat", "kitty"]'
            raise InputError("wrong-type", where, value=entry, wanted=wanted)
        if not terms or not all(term.strip() for term in terms):
            raise InputError(
                "empty", where, role="the class", remedy="name it, or remove it"
            )
        listed.append(tuple(dict.fromkeys(terms)))
    return listed
