"""Additive columns: one row an item, that can be summed, weighted and resampled.

Conventions
-----------
``sum`` is exact: int64 for counts, and for floats Python integers in units of 2**-1074 (dtype
object, see ``core.exact``). ``resample`` takes item weights of shape (B, items) and gives float64
sums with B in front; counts are exact there too, below 2**53.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.exact import exact_sums, to_floats
from semmetrics.core.ragged import Codes, Floats, Ints, offsets, row_numbers

__all__ = ["Coded", "Column", "Dense", "OneHot", "Sparse", "as_floats", "plus", "stack"]


class Column(Protocol):
    """What every kind of column does."""

    def __len__(self) -> int: ...

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Exact sum over items, weighted where weights of shape (items,) are given."""
        ...

    def resample(self, weights: Floats) -> Floats:
        """Sums under weights of shape (B, items)."""
        ...

    def rows(self, start: int, stop: int) -> Column:
        """Items start to stop, sharing memory."""
        ...


def as_floats(sums: NDArray[Any]) -> Floats:
    """Exact sums as float64."""
    return to_floats(sums) if sums.dtype == object else sums.astype(np.float64)


def plus(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Sums of two parts, as an array also where they are single numbers."""
    total: NDArray[Any] = np.empty(left.shape, np.result_type(left, right))
    np.add(left, right, out=total)
    return total


@dataclass(frozen=True, eq=False)
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

    def resample(self, weights: Floats) -> Floats:
        """Shape (B,)."""
        return weights @ self.values.astype(np.float64)

    def rows(self, start: int, stop: int) -> Dense:
        """Items start to stop, sharing memory."""
        return Dense(self.values[start:stop])

    @staticmethod
    def join(parts: Sequence[Dense]) -> Dense:
        """Parts one after the other."""
        return Dense(np.concatenate([part.values for part in parts]))


@dataclass(frozen=True, eq=False)
class Coded:
    """One of few distinct numbers an item: summed by how often each occurs."""

    codes: Ints
    table: Floats

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def values(self) -> Floats:
        """The number of each item."""
        return self.table.take(self.codes)

    def sum(self, weights: Floats | None = None) -> NDArray[Any]:
        """Exact sum, shape ()."""
        if weights is not None:
            return Dense(self.values).sum(weights)
        times = np.bincount(self.codes, minlength=len(self.table)).tolist()
        each = exact_sums(self.table, np.arange(len(self.table)), len(self.table)).tolist()
        total: NDArray[Any] = np.empty((), object)
        total[()] = sum(number * unit for number, unit in zip(times, each, strict=True))
        return total

    def resample(self, weights: Floats) -> Floats:
        """Shape (B,)."""
        return Dense(self.values).resample(weights)

    def rows(self, start: int, stop: int) -> Coded:
        """Items start to stop, sharing memory."""
        return Coded(self.codes[start:stop], self.table)

    @staticmethod
    def join(parts: Sequence[Coded]) -> Dense:
        """Parts one after the other."""
        return Dense(np.concatenate([part.values for part in parts]))


@dataclass(frozen=True, eq=False)
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

    def resample(self, weights: Floats) -> Floats:
        """Shape (B, width)."""
        total = np.zeros((len(weights), self.width))
        for category in np.unique(self.codes).tolist():
            chosen = self.codes == category
            part = weights if chosen.all() else weights[:, chosen]
            total[:, category] = part.sum(axis=1)
        return total

    def rows(self, start: int, stop: int) -> OneHot:
        """Items start to stop, sharing memory."""
        return OneHot(self.codes[start:stop], self.width)

    @staticmethod
    def join(parts: Sequence[OneHot]) -> OneHot:
        """Parts one after the other."""
        return OneHot(np.concatenate([part.codes for part in parts]), parts[0].width)


@dataclass(frozen=True, eq=False)
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

    def resample(self, weights: Floats) -> Floats:
        """Shape (B, width)."""
        from scipy.sparse import csc_array

        ones = np.ones(len(self.codes))
        table = csc_array((ones, self.codes, self.indptr), shape=(self.width, len(self)))
        result: Floats = np.ascontiguousarray((table @ np.ascontiguousarray(weights.T)).T)
        return result

    def rows(self, start: int, stop: int) -> Sparse:
        """Items start to stop, sharing memory."""
        first, last = self.indptr[start], self.indptr[stop]
        return Sparse(self.indptr[start : stop + 1] - first, self.codes[first:last], self.width)

    def recoded(self, codes: Codes, width: int) -> Sparse:
        """The same items with column c called codes[c]."""
        return Sparse(self.indptr, codes[self.codes], width)

    @staticmethod
    def join(parts: Sequence[Sparse]) -> Sparse:
        """Parts one after the other."""
        widths = np.concatenate([np.diff(part.indptr) for part in parts])
        codes = np.concatenate([part.codes for part in parts])
        return Sparse(offsets(widths), codes, parts[0].width)


def stack(parts: Sequence[Any]) -> Any:
    """Columns of one kind joined over items; one part is returned as it is."""
    return parts[0] if len(parts) == 1 else type(parts[0]).join(parts)
