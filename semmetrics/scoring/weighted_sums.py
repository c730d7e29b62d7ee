"""Exact sums of items under many sets of weights at once.

Conventions
-----------
Numbers are split into parts on grids of powers of two, whose sums are exact in any order.
The sums of all columns of all systems are one matrix product. Counts of labels are sparse
products.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Coded, Column, Dense, OneHot, Sparse, exact_sums
from semmetrics.core.ragged import Floats, Ints
from semmetrics.metrics.definition import Statistic
from semmetrics.scoring.draws import Draws
from semmetrics.scoring.statistics import Statistics

MIN_UNITS_PER_BLOCK = 1 << 12
"""Units that are summed at a time. The block stays in the cache of the processor."""
_MAX_EXACT_FLOAT32 = 1 << 24
"""Sums of integers below it are exact in float32, at half the cost of float64."""


class _Group(NamedTuple):
    """Columns of a stack that are summed in one data type.

    Attributes
    ----------
    indices : list of int
        The index of each column in the stack.
    blocks : list of arrays, shape (rows, units of the block)
        A vector has one row, and a column of labels has one row per label.
    kind : data type
    ends : int array, shape (columns,), or None
        The end of the rows of each column of labels. None for vectors.
    """

    indices: list[int]
    blocks: list[Any]
    kind: Any
    ends: Ints | None = None


class Stack:
    """Columns over the same units, which are summed together. Equal columns are summed once.

    Integers whose sums fit into float32 are summed in float32. For vectors, this is done
    only if all of them fit, since a second product would take longer. All columns must be
    added before the first product.

    Parameters
    ----------
    times : int
        The number of draws in a resample is at most this number times the number of units.
    """

    def __init__(self, times: int = 1) -> None:
        self.times = times
        self._vectors: dict[int, Floats] = {}
        self._label_columns: dict[int, Any] = {}
        self._index_of_hash: dict[bytes, int] = {}

    def add(self, vector: Floats) -> int:
        """Add a vector, and return its index."""
        index = self._find_index(_hash(vector))
        if index not in self._vectors:
            self._vectors[index] = vector
        return index

    def add_labels(self, column: Sparse, weights: Floats | None) -> int:
        """Add a column of labels, with a weight for each label or None, and return its index."""
        width = np.array(column.width)
        arrays: list[NDArray[Any]] = [column.indptr, column.codes, width]
        if weights is not None:
            arrays.append(weights)
        index = self._find_index(_hash(*arrays))
        if index not in self._label_columns:
            self._label_columns[index] = self._as_matrix(column, weights)
        return index

    def _find_index(self, key: bytes) -> int:
        """Return the index of the column with a hash, which may be a new one."""
        next_index = len(self._index_of_hash)
        return self._index_of_hash.setdefault(key, next_index)

    def _as_matrix(self, column: Sparse, weights: Floats | None) -> Any:
        """Return a column of labels as a sparse matrix, shape (labels, units)."""
        from scipy.sparse import csc_array

        data = weights
        if data is None:
            n_units = len(column)
            max_labels = int(np.diff(column.indptr).max(initial=0))
            max_sum = n_units * max_labels * self.times
            kind = np.float32 if max_sum < _MAX_EXACT_FLOAT32 else np.float64
            data = np.ones(len(column.codes), kind)
        shape = column.width, len(column)
        return csc_array((data, column.codes, column.indptr), shape=shape)

    def multiply(self, counts: NDArray[Any]) -> list[Floats]:
        """Return the sums of each column when units count several times.

        Parameters
        ----------
        counts : int array, shape (B, units)
            Each row draws at most ``times`` as many units as there are.

        Returns
        -------
        list of float arrays, shape (B,) for vectors and (B, labels) for labels
        """
        block_size, groups = self._groups
        n_rows = len(counts)
        n_units = counts.shape[1]
        totals = [np.zeros((group.blocks[0].shape[0], n_rows)) for group in groups]
        sparse_kinds = {group.kind for group in groups if group.ends is not None}
        for number, start in enumerate(range(0, n_units, block_size)):
            block = counts[:, start : start + block_size].T
            converted: dict[Any, NDArray[Any]] = {}
            for group, total in zip(groups, totals, strict=True):
                kind = group.kind
                if kind not in converted:
                    converted[kind] = _convert(block, kind, sparse_kinds)
                total += group.blocks[number] @ converted[kind]
        return _split_totals(groups, totals)

    @cached_property
    def _groups(self) -> tuple[int, list[_Group]]:
        """The number of units per block, and the columns by their data type, in blocks."""
        labels_by_kind: dict[Any, dict[int, Any]] = {}
        n_labels = 0
        for index, matrix in self._label_columns.items():
            labels_by_kind.setdefault(matrix.dtype, {})[index] = matrix
            n_labels += matrix.shape[0]
        # Each block adds to the sums of all labels, so it has at least as many units.
        block_size = max(MIN_UNITS_PER_BLOCK, n_labels)
        groups = []
        if self._vectors:
            groups.append(self._group_vectors(block_size))
        for kind, matrices in labels_by_kind.items():
            groups.append(_group_labels(matrices, kind, block_size))
        # The groups contain copies of all columns.
        self._vectors.clear()
        self._label_columns.clear()
        return block_size, groups

    def _group_vectors(self, block_size: int) -> _Group:
        """Return all vectors in blocks."""
        vectors = list(self._vectors.values())
        kind: np.dtype[Any] = np.dtype(np.float64)
        if all(map(self._fits_float32, vectors)):
            kind = np.dtype(np.float32)
        table = np.array(vectors, kind)
        return _Group(list(self._vectors), _split_columns(table, block_size), kind)

    def _fits_float32(self, vector: Floats) -> bool:
        """Return whether all sums of a vector are exact in float32."""
        is_integer = bool((vector == np.rint(vector)).all())
        if not is_integer:
            return False
        max_sum = np.abs(vector).max(initial=0) * len(vector) * self.times
        return bool(max_sum < _MAX_EXACT_FLOAT32)


def _group_labels(matrices: Mapping[int, Any], kind: Any, block_size: int) -> _Group:
    """Return columns of labels with the same data type in blocks."""
    from scipy.sparse import vstack

    table = vstack(list(matrices.values()), format="csc")
    ends = np.cumsum([matrix.shape[0] for matrix in matrices.values()])
    return _Group(list(matrices), _split_columns(table, block_size), kind, ends)


def _convert(
    counts: NDArray[Any], kind: Any, sparse_kinds: Collection[Any]
) -> NDArray[Any]:
    """Return counts in a data type. A product with a sparse matrix needs C order."""
    if kind in sparse_kinds:
        return counts.astype(kind, "C")
    return counts.astype(kind, "K")


def _split_totals(groups: Sequence[_Group], totals: Sequence[Floats]) -> list[Floats]:
    """Return the sums of each column of a stack, in the order of the stack."""
    sums: dict[int, Floats] = {}
    for group, total in zip(groups, totals, strict=True):
        rows_of_columns = list(total)
        if group.ends is not None:
            rows_of_columns = np.split(total, group.ends[:-1])
        for index, rows in zip(group.indices, rows_of_columns, strict=True):
            sums[index] = np.ascontiguousarray(rows.T)
    return [sums[index] for index in range(len(sums))]


def _split_columns(table: Any, block_size: int) -> list[Any]:
    """Split a dense or sparse matrix into blocks of columns."""
    blocks = []
    for start in range(0, table.shape[1], block_size):
        blocks.append(table[:, start : start + block_size])
    return blocks


def _hash(*arrays: NDArray[Any]) -> bytes:
    """Return a hash of the types, shapes and values of arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.digest()


class ExactPart(NamedTuple):
    """A part of a column of a statistic whose sums are exact.

    Attributes
    ----------
    name : str
        The name of the column.
    column : Column
    weights : float array, shape (items,), or None
        The weights of the items. None if they are contained in the column.
    """

    name: str
    column: Column
    weights: Floats | None


@dataclass(frozen=True, repr=False)
class _Term:
    """A term of a sum: the sum of one column of the stack, less the sums of others.

    Attributes
    ----------
    statistic : Statistic
    name : str
        The name of the statistic's column.
    plus : int
        The index of the column in the stack.
    minus : tuple of int
        The indices of columns to subtract.
    category, width : int
        The category that the term counts, and the number of categories. The width is 0 if
        the column has no categories.
    """

    statistic: Statistic
    name: str
    plus: int
    minus: tuple[int, ...] = ()
    category: int = 0
    width: int = 0


class WeightedSums:
    """The sums that the measures of one system aggregate, when items count several times.

    Parameters
    ----------
    statistics : Statistics
        With rows.
    needed : iterable of Statistic
    draws : Draws
    stack : Stack
        The columns are added to it.

    Attributes
    ----------
    exact : mapping from additive statistic to list of ExactPart

    Raises
    ------
    InputError
        If rows were not stored.
    """

    def __init__(
        self,
        statistics: Statistics,
        needed: Iterable[Statistic],
        draws: Draws,
        stack: Stack,
    ) -> None:
        self.statistics = statistics
        self.draws = draws
        self.exact: dict[Statistic, list[ExactPart]] = {}
        self._row_statistics: list[Statistic] = []
        self._terms: list[_Term] = []
        max_draws = draws.max_items * stack.times
        weight_parts: list[Floats | None] = [None]
        if statistics.weights is not None:
            weight_parts = [*split_on_grids(statistics.weights, max_draws)]
        for statistic in dict.fromkeys(needed):
            if not statistic.additive:
                self._row_statistics.append(statistic)
                continue
            parts = self._split_statistic(statistic, weight_parts, max_draws)
            self.exact[statistic] = parts
            for part in parts:
                self._add_part(statistic, part, stack)

    def _split_statistic(
        self,
        statistic: Statistic,
        weight_parts: Sequence[Floats | None],
        max_draws: int,
    ) -> list[ExactPart]:
        """Split the columns of a statistic into parts whose sums are exact."""
        parts = []
        for name, column in self.statistics.rows(statistic).items():
            if isinstance(column, (Dense, Coded)):
                values = column.values * self.statistics.item_weights
                for part in split_on_grids(values, max_draws):
                    parts.append(ExactPart(name, Dense(part), None))
            else:
                for weights in weight_parts:
                    parts.append(ExactPart(name, column, weights))
        return parts

    def _add_part(self, statistic: Statistic, part: ExactPart, stack: Stack) -> None:
        """Add the columns of a part to the stack, and the terms that use them."""
        name, column, weights = part
        if isinstance(column, OneHot):
            self._add_categories(statistic, part, column, stack)
        elif isinstance(column, Sparse):
            index = stack.add_labels(*self.draws.gather_labels(column, weights))
            self._terms.append(_Term(statistic, name, index))
        else:
            index = stack.add(self.draws.sum_items(column.values))
            self._terms.append(_Term(statistic, name, index))

    def _add_categories(
        self, statistic: Statistic, part: ExactPart, column: OneHot, stack: Stack
    ) -> None:
        """Add a column for each category but the most frequent one, and one for all items.

        The sum of the most frequent category is the sum of all items less the sums of the
        other categories.
        """
        name, _, weights = part
        if weights is None:
            weights = np.ones(len(column))
        counts = np.bincount(column.codes, minlength=column.width)
        most_frequent = int(counts.argmax())
        others = []
        for category in np.flatnonzero(counts).tolist():
            if category == most_frequent:
                continue
            in_category = np.where(column.codes == category, weights, 0.0)
            index = stack.add(self.draws.sum_items(in_category))
            others.append(index)
            term = _Term(statistic, name, index, (), category, column.width)
            self._terms.append(term)
        all_items = stack.add(self.draws.sum_items(weights))
        term = _Term(
            statistic, name, all_items, tuple(others), most_frequent, column.width
        )
        self._terms.append(term)

    def sums(
        self, counts: NDArray[Any], product: Sequence[Floats], *, exact: bool = False
    ) -> dict[Statistic, Any]:
        """Return what the measures of each statistic aggregate.

        Parameters
        ----------
        counts : int array, shape (B, units)
            How often each unit counts, at most 2**16 times.
        product : sequence of arrays
            The product of the stack with these counts.
        exact : bool
            Whether sums are integers in the units of `exact_sums` if `Statistics.sums`
            has such integers. Otherwise they are the nearest floats.
        """
        sums_by_statistic: dict[Statistic, Any] = {}
        for statistic in self.exact:
            sums_by_statistic[statistic] = {}
        for term in self._terms:
            part = self._sum_term(term, product, exact=exact)
            _add_to(sums_by_statistic[term.statistic], term, part)
        if self._row_statistics:
            item_weights = counts[:, self.draws.unit_of_item].astype(np.float64)
            item_weights *= self.statistics.item_weights
            for statistic in self._row_statistics:
                rows = self.statistics.weighted_rows(statistic, item_weights)
                sums_by_statistic[statistic] = rows
        return sums_by_statistic

    def _sum_term(
        self, term: _Term, product: Sequence[Floats], *, exact: bool
    ) -> NDArray[Any]:
        """Return the sums of a term."""
        part: NDArray[Any] = product[term.plus]
        for index in term.minus:
            part = part - product[index]
        if not exact:
            return part
        total = self.statistics.sums[term.statistic][term.name]
        if total.dtype != object:
            return part
        cells = np.arange(part.size)
        return exact_sums(part.ravel(), cells, part.size).reshape(part.shape)


def _add_to(sums: dict[str, NDArray[Any]], term: _Term, part: NDArray[Any]) -> None:
    """Add the sums of a term to the sums of its statistic."""
    name = term.name
    if term.width:
        if name not in sums:
            sums[name] = np.zeros((len(part), term.width), part.dtype)
        sums[name][:, term.category] += part
    elif name in sums:
        sums[name] = sums[name] + part
    else:
        sums[name] = part


def split_on_grids(values: Floats, max_added: int) -> list[Floats]:
    """Split values into a coarse and a fine part on grids of powers of two.

    The parts add up to the values, except for an error far below the rounding of float64 if more
    than 2**26 values are added. If at most ``max_added`` values are added, each sum of
    a part is a multiple of its grid that float64 represents exactly. Therefore it is the
    same in any order.
    """
    bits = 52 - max_added.bit_length()
    largest = np.abs(values).max(initial=0.0)
    exponent = int(np.frexp(largest)[1])
    parts = []
    rest = values
    for shift in (bits - exponent, 2 * bits - exponent):
        # Round to multiples of 2**-shift.
        part = np.ldexp(np.rint(np.ldexp(rest, shift)), -shift)
        parts.append(part)
        rest = rest - part
        if not rest.any():
            break
    return parts
