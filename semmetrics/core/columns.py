"""Additive columns: one row an item, that can be summed and weighted.

Conventions
-----------
``sum`` is exact: int64 for counts, and for floats Python integers in units of 2**-1074 (dtype
object). A finite float64 is a whole number of that unit, so sums merge in any order, and one
correctly rounded division at the end gives what ``math.fsum`` would give. ``group_sums`` gives
float64 sums of groups 0 to ``number``, which stand in front; items of other groups take no part.
Counts are exact there too, below 2**53.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Codes, Floats, Ints, offsets, row_numbers, slices

UNIT = 1 << 1074
_HALF = (
    27  # a mantissa is cut in two, so that 2**26 halves add up without leaving 53 bits
)
_MOST = 1 << 26
# cells of (group, exponent) that are counted without sorting them first
_TABLE = 1 << 22


def exact_sums(
    values: Floats, groups: NDArray[np.integer] | None = None, n_groups: int = 1
) -> NDArray[np.object_]:
    """Sum finite floats exactly, in units of 2**-1074, group by group.

    Parameters
    ----------
    values : array, shape (n,)
        Finite.
    groups : int array, shape (n,), optional
        The group of each value, in [0, n_groups); one group when left out.
    n_groups : int

    Returns
    -------
    object array of int, shape (n_groups,)

    Examples
    --------
    >>> to_floats(exact_sums(np.array([1e16, 1.0, -1e16])))
    array([1.])
    """
    total = np.zeros(n_groups, object)
    for part in slices(len(values), _MOST):
        fractions, exponents = np.frexp(values[part])
        mantissas = np.ldexp(fractions, 53).astype(np.int64)
        low = int(exponents.min())
        width = int(exponents.max()) - low + 1
        keys = (exponents - low).astype(np.int64)
        if groups is not None:
            keys += groups[part].astype(np.int64) * width
        if n_groups * width > _TABLE:
            cells, keys = np.unique(keys, return_inverse=True)
        else:
            cells = np.arange(n_groups * width)
        high = np.bincount(keys, mantissas >> _HALF, len(cells))
        rest = np.bincount(keys, mantissas & ((1 << _HALF) - 1), len(cells))
        for place in np.flatnonzero((high != 0) | (rest != 0)).tolist():
            group, exponent = divmod(int(cells[place]), width)
            number = (int(high[place]) << _HALF) + int(rest[place])
            # the mantissa's last bit, in units of 2**-1074
            shift = 1074 - 53 + exponent + low
            total[group] += number << shift if shift >= 0 else number >> -shift
    return total


def to_floats(sums: NDArray[np.object_]) -> Floats:
    """Return the floats nearest to exact sums, in the same shape."""
    flat = [value / UNIT for value in sums.ravel().tolist()]
    return np.array(flat, np.float64).reshape(sums.shape)


def as_floats(sums: NDArray[Any]) -> Floats:
    """Return exact sums as float64."""
    return to_floats(sums) if sums.dtype == object else sums.astype(np.float64)


def add_sums(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Add the sums of two parts; single numbers stay arrays."""
    total: NDArray[Any] = np.empty(left.shape, np.result_type(left, right))
    np.add(left, right, out=total)
    return total


def _grouped(
    groups: Ints,
    number: int,
    weights: Floats | None,
    codes: NDArray[Any] | None,
    width: int,
) -> Floats:
    """Weights (or ones) summed by group and code, shape (number, width)."""
    inside = (groups >= 0) & (groups < number)
    if not inside.all():
        groups, codes = groups[inside], None if codes is None else codes[inside]
        weights = None if weights is None else weights[inside]
    cells = groups if codes is None else groups.astype(np.int64) * width + codes
    counts = np.bincount(cells, weights, number * width).astype(np.float64, copy=False)
    return counts.reshape(number, width)


@dataclass(frozen=True, eq=False, repr=False)
class Dense:
    """One finite number an item."""

    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Exact sum, shape ()."""
        if weights is None and self.values.dtype.kind in "iub":
            return np.array(self.values.sum(dtype=np.int64))
        values = self.values if weights is None else self.values * weights
        return exact_sums(values.astype(np.float64)).reshape(())

    def group_sums(
        self, groups: Ints, number: int, weights: Floats | None = None
    ) -> Floats:
        """Shape (number,)."""
        values = self.values.astype(np.float64) * (1.0 if weights is None else weights)
        return _grouped(groups, number, values, None, 1)[:, 0]


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """One of few distinct numbers an item: summed by how often each occurs."""

    codes: Ints
    table: Floats

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> Floats:
        """Return the number of each item."""
        return self.table.take(self.codes)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Exact sum, shape ()."""
        if weights is not None:
            return Dense(self.values).sum(weights)
        times = np.bincount(self.codes, minlength=len(self.table)).tolist()
        each = exact_sums(
            self.table, np.arange(len(self.table)), len(self.table)
        ).tolist()
        return np.array(
            sum(n * unit for n, unit in zip(times, each, strict=True)), object
        )

    def group_sums(
        self, groups: Ints, number: int, weights: Floats | None = None
    ) -> Floats:
        """Shape (number,)."""
        return Dense(self.values).group_sums(groups, number, weights)


@dataclass(frozen=True, eq=False, repr=False)
class OneHot:
    """One of ``width`` categories an item; its sums are counts of each."""

    codes: NDArray[np.int8]
    width: int

    def __len__(self) -> int:
        return len(self.codes)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Counts, shape (width,)."""
        if weights is None:
            return np.bincount(self.codes, minlength=self.width)
        return exact_sums(weights, self.codes.astype(np.int64), self.width)

    def group_sums(
        self, groups: Ints, number: int, weights: Floats | None = None
    ) -> Floats:
        """Shape (number, width)."""
        return _grouped(groups, number, weights, self.codes, self.width)

    @staticmethod
    def join(parts: Sequence[OneHot]) -> OneHot:
        """Parts one after the other."""
        return OneHot(np.concatenate([part.codes for part in parts]), parts[0].width)


@dataclass(frozen=True, eq=False, repr=False)
class Sparse:
    """Some of ``width`` columns an item, each counting one."""

    indptr: Ints
    codes: Codes
    width: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Counts, shape (width,)."""
        if weights is None:
            return np.bincount(self.codes, minlength=self.width)
        return exact_sums(weights[row_numbers(self.indptr)], self.codes, self.width)

    def group_sums(
        self, groups: Ints, number: int, weights: Floats | None = None
    ) -> Floats:
        """Shape (number, width)."""
        rows = row_numbers(self.indptr)
        repeated = None if weights is None else weights[rows]
        return _grouped(groups[rows], number, repeated, self.codes, self.width)

    def recoded(self, codes: Codes, width: int) -> Sparse:
        """Return the same items with column c called codes[c]."""
        return Sparse(self.indptr, codes[self.codes], width)

    @staticmethod
    def join(parts: Sequence[Sparse]) -> Sparse:
        """Parts one after the other."""
        widths = np.concatenate([np.diff(part.indptr) for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        return Sparse(offsets(widths), codes, parts[0].width)


Column: TypeAlias = Dense | Coded | OneHot | Sparse
"""Every column has ``sum``, perhaps under weights of items, and ``group_sums``."""


def concatenate_columns(parts: Sequence[Any]) -> Any:
    """Join columns of one kind over items; a single part is returned as it is."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], (Dense, Coded)):
        return Dense(np.concatenate([part.values for part in parts]))
    return type(parts[0]).join(parts)
