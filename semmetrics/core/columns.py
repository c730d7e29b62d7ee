"""Additive columns: one row per item, which can be summed with and without weights.

Conventions
-----------
The method ``sum`` is exact. Counts are summed as int64. Floats are summed as Python integers in
units of 2**-1074, in arrays of type object. Every finite float64 is an integer multiple of that
unit. Therefore sums can be merged in any order, and one correctly rounded division at the end gives
the result of ``math.fsum``.

The method ``group_sums`` returns float64 sums of the groups 0 to ``n_groups`` - 1, along the
first axis. Items of other groups are ignored. Counts below 2**53 are exact there as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Codes, Floats, Ints, offsets, row_numbers, slices

UNIT = 1 << 1074
"""One over the unit of exact sums."""

# A mantissa of 53 bits is cut into two parts. Sums of 2**26 lower parts need at most 53 bits, so
# they are exact in float64, and so are sums of the upper parts.
_LOW_BITS = 27
MAX_VALUES_PER_STEP = 1 << 26

# Pairs of group and exponent that are counted without sorting.
MAX_TABLE_CELLS = 1 << 22


# ---- exact sums -------------------------------------------------------------


def exact_sums(
    values: Floats, groups: NDArray[np.integer] | None = None, n_groups: int = 1
) -> NDArray[np.object_]:
    """Sum finite floats exactly by group, in units of 2**-1074.

    Parameters
    ----------
    values : float array, shape (n,)
        Finite.
    groups : int array, shape (n,), optional
        The group of each value, in [0, n_groups). Default: all values are in one group.
    n_groups : int

    Returns
    -------
    object array of int, shape (n_groups,)

    Examples
    --------
    >>> to_floats(exact_sums(np.array([1e16, 1.0, -1e16])))
    array([1.])
    """
    sums = np.zeros(n_groups, object)
    for part in slices(len(values), MAX_VALUES_PER_STEP):
        groups_of_part = None if groups is None else groups[part]
        _add_exactly(sums, values[part], groups_of_part)
    return sums


def _add_exactly(
    sums: NDArray[np.object_], values: Floats, groups: NDArray[np.integer] | None
) -> None:
    """Add at least one float to the exact sums of the groups, in place.

    Floats of one group and one exponent are added as integers, in two parts.
    """
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    least_exponent = int(exponents.min())
    n_exponents = int(exponents.max()) - least_exponent + 1
    # The key of a float is group * n_exponents + exponent.
    keys = (exponents - least_exponent).astype(np.int64)
    if groups is not None:
        keys += groups.astype(np.int64) * n_exponents
    if len(sums) * n_exponents > MAX_TABLE_CELLS:
        distinct_keys, cells = np.unique(keys, return_inverse=True)
    else:
        distinct_keys = np.arange(len(sums) * n_exponents)
        cells = keys
    high_sums = np.bincount(cells, mantissas >> _LOW_BITS, len(distinct_keys))
    low_parts = mantissas & ((1 << _LOW_BITS) - 1)
    low_sums = np.bincount(cells, low_parts, len(distinct_keys))
    for cell in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
        group, exponent = divmod(int(distinct_keys[cell]), n_exponents)
        mantissa_sum = (int(high_sums[cell]) << _LOW_BITS) + int(low_sums[cell])
        # The value of the last bit of a mantissa is 2**shift units.
        shift = 1074 - 53 + exponent + least_exponent
        if shift >= 0:
            sums[group] += mantissa_sum << shift
        else:
            sums[group] += mantissa_sum >> -shift


def to_floats(sums: NDArray[np.object_]) -> Floats:
    """Return the floats nearest to exact sums, in the same shape."""
    floats = [value / UNIT for value in sums.ravel().tolist()]
    return np.array(floats, np.float64).reshape(sums.shape)


def as_floats(sums: NDArray[Any]) -> Floats:
    """Return sums of any column as float64."""
    if sums.dtype == object:
        return to_floats(sums)
    return sums.astype(np.float64)


def add_sums(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Add the sums of two parts of the items. Arrays of shape () stay arrays."""
    total: NDArray[Any] = np.empty(left.shape, np.result_type(left, right))
    np.add(left, right, out=total)
    return total


# ---- columns ----------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Dense:
    """A column with one finite number per item.

    Attributes
    ----------
    values : array, shape (items,)
    """

    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Return the exact sum, shape ()."""
        if weights is None:
            if self.values.dtype.kind in "iub":
                return np.array(self.values.sum(dtype=np.int64))
            return exact_sums(self.values.astype(np.float64)).reshape(())
        weighted = self.values * weights
        return exact_sums(weighted.astype(np.float64)).reshape(())

    def group_sums(
        self, groups: Ints, n_groups: int, weights: Floats | None = None
    ) -> Floats:
        """Return the sum of each group, shape (n_groups,)."""
        values = self.values.astype(np.float64)
        if weights is not None:
            values = values * weights
        return _sum_by_group(groups, n_groups, values, None, 1)[:, 0]


@dataclass(frozen=True, eq=False, repr=False)
class Coded:
    """A column with one of a few distinct numbers per item.

    Its sum follows from how often each number occurs.

    Attributes
    ----------
    codes : int array, shape (items,)
        The index of each item's number in ``table``.
    table : float array, shape (numbers,)
    """

    codes: Ints
    table: Floats

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> Floats:
        """Return the number of each item, shape (items,)."""
        return self.table.take(self.codes)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Return the exact sum, shape ()."""
        if weights is not None:
            return Dense(self.values).sum(weights)
        n_numbers = len(self.table)
        counts = np.bincount(self.codes, minlength=n_numbers).tolist()
        numbers = exact_sums(self.table, np.arange(n_numbers), n_numbers).tolist()
        total = 0
        for count, number in zip(counts, numbers, strict=True):
            total += count * number
        return np.array(total, object)

    def group_sums(
        self, groups: Ints, n_groups: int, weights: Floats | None = None
    ) -> Floats:
        """Return the sum of each group, shape (n_groups,)."""
        return Dense(self.values).group_sums(groups, n_groups, weights)


@dataclass(frozen=True, eq=False, repr=False)
class OneHot:
    """A column with one of ``width`` categories per item. Its sums count each category.

    Attributes
    ----------
    codes : int array, shape (items,)
        The category of each item.
    width : int
    """

    codes: NDArray[np.int8]
    width: int

    def __len__(self) -> int:
        return len(self.codes)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Return the exact counts of the categories, shape (width,)."""
        if weights is None:
            return np.bincount(self.codes, minlength=self.width)
        return exact_sums(weights, self.codes.astype(np.int64), self.width)

    def group_sums(
        self, groups: Ints, n_groups: int, weights: Floats | None = None
    ) -> Floats:
        """Return the counts of the categories in each group, shape (n_groups, width)."""
        return _sum_by_group(groups, n_groups, weights, self.codes, self.width)

    @staticmethod
    def join(parts: Sequence[OneHot]) -> OneHot:
        """Concatenate columns over items."""
        codes = np.concatenate([part.codes for part in parts])
        return OneHot(codes, parts[0].width)


@dataclass(frozen=True, eq=False, repr=False)
class Sparse:
    """A column with any number of ``width`` categories per item. Its sums count each category.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    codes : int array
        The categories of item ``i`` are ``codes[indptr[i]:indptr[i + 1]]``.
    width : int
    """

    indptr: Ints
    codes: Codes
    width: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Return the exact counts of the categories, shape (width,)."""
        if weights is None:
            return np.bincount(self.codes, minlength=self.width)
        code_weights = weights[row_numbers(self.indptr)]
        return exact_sums(code_weights, self.codes, self.width)

    def group_sums(
        self, groups: Ints, n_groups: int, weights: Floats | None = None
    ) -> Floats:
        """Return the counts of the categories in each group, shape (n_groups, width)."""
        items = row_numbers(self.indptr)
        code_weights = None if weights is None else weights[items]
        return _sum_by_group(
            groups[items], n_groups, code_weights, self.codes, self.width
        )

    def recoded(self, codes: Codes, width: int) -> Sparse:
        """Return the same items with category c replaced by ``codes[c]``."""
        return Sparse(self.indptr, codes[self.codes], width)

    @staticmethod
    def join(parts: Sequence[Sparse]) -> Sparse:
        """Concatenate columns over items."""
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        return Sparse(offsets(sizes), codes, parts[0].width)


@runtime_checkable
class LabelColumn(Protocol):
    """A column whose categories are labels, such as `Sparse`."""

    def recoded(self, codes: Codes, width: int) -> Any:
        """Return the same items with category c replaced by ``codes[c]``."""


Column: TypeAlias = Dense | Coded | OneHot | Sparse
"""Every column has the methods ``sum`` and ``group_sums``, with optional weights of items."""


def concatenate_columns(parts: Sequence[Any]) -> Any:
    """Concatenate columns of one class over items. A single part is returned unchanged."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], (Dense, Coded)):
        return Dense(np.concatenate([part.values for part in parts]))
    return type(parts[0]).join(parts)


def _sum_by_group(
    groups: Ints,
    n_groups: int,
    weights: Floats | None,
    codes: NDArray[Any] | None,
    width: int,
) -> Floats:
    """Sum weights by group and code.

    Parameters
    ----------
    groups : int array, shape (n,)
        Groups outside [0, n_groups) are ignored.
    n_groups : int
    weights : float array, shape (n,), or None
        None counts instead.
    codes : int array, shape (n,), or None
        In [0, width). None if there is only one code.
    width : int

    Returns
    -------
    float64 array, shape (n_groups, width)
    """
    is_inside = (groups >= 0) & (groups < n_groups)
    if not is_inside.all():
        groups = groups[is_inside]
        codes = None if codes is None else codes[is_inside]
        weights = None if weights is None else weights[is_inside]
    cells = groups
    if codes is not None:
        cells = groups.astype(np.int64) * width + codes
    sums = np.bincount(cells, weights, n_groups * width)
    return sums.astype(np.float64, copy=False).reshape(n_groups, width)
