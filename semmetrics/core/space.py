"""One way to write array code for numpy and for torch on any device.

Conventions
-----------
The kind of array follows from the input. Torch is used only where it is loaded already.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.similarity import is_torch

__all__ = ["Space", "running_total"]

_TINY = 1e-300  # what is divided by less may not be finite


class Space:
    """The few ways in which numpy and torch differ, on the device of an array."""

    def __init__(self, like: Any) -> None:
        self.torch = is_torch(like)
        self.xp: Any = sys.modules["torch"] if self.torch else np
        self.where = {"device": like.device} if self.torch else {}

    def kind(self, dtype: str) -> Any:
        """The data type of a name."""
        return getattr(self.xp, dtype) if self.torch else np.dtype(dtype)

    def zeros(self, *shape: int, dtype: str = "float64") -> Any:
        """Zeros of a shape."""
        return self.xp.zeros(shape, dtype=self.kind(dtype), **self.where)

    def arange(self, stop: int, dtype: str = "int64") -> Any:
        """Integers from 0."""
        return self.xp.arange(stop, dtype=self.kind(dtype), **self.where)

    def nonzero(self, flags: Any) -> Any:
        """Positions of what is true."""
        return self.xp.nonzero(flags, as_tuple=True)[0] if self.torch else np.flatnonzero(flags)

    def column(self, stop: int, dtype: str, *, down: bool = False) -> Any:
        """Integers from 0, or from ``stop`` down to 1, as a column."""
        kind = self.kind(dtype)
        numbers = stop - np.arange(stop) if down else np.arange(stop)
        return self.xp.asarray(numbers.astype(dtype), dtype=kind, **self.where)[:, None]

    def array(self, values: Any, dtype: str | None = None) -> Any:
        """Values of either kind as an array of this kind, on the device, without gradients."""
        kind = None if dtype is None else self.kind(dtype)
        if self.torch:
            return self.xp.as_tensor(values, dtype=kind, **self.where).detach()
        return np.asarray(self.numpy(values), kind)

    def numpy(self, values: Any) -> NDArray[Any]:
        """Values of either kind as a numpy array."""
        return np.asarray(values.detach().cpu() if is_torch(values) else values)

    def dense(self, values: Any) -> Any:
        """The same with its elements in order in memory."""
        return values.contiguous() if self.torch else np.ascontiguousarray(values)

    def copy(self, values: Any) -> Any:
        """A copy with its elements in order in memory."""
        return values.contiguous().clone() if self.torch else np.array(values, order="C")

    def along(self, values: Any, order: Any, axis: int) -> Any:
        """Elements taken along an axis."""
        if self.torch:
            return self.xp.take_along_dim(values, order, axis)
        return np.take_along_axis(values, order, axis)

    def chosen(self, values: Any, keep: Any) -> Any:
        """What stands at these places of the last axis."""
        return values[..., keep] if self.torch else values.take(keep, -1)

    def totals(self, places: Any, values: Any, size: int) -> Any:
        """Sums of the values of each place, added in the order of the first axis."""
        if not self.torch:
            return np.bincount(places.reshape(-1), values.reshape(-1), size)
        total = self.zeros(size)
        for place, value in zip(places, values, strict=True):
            total[place] += value  # a place once in a row
        return total

    def stable_order(self, values: Any) -> Any:
        """What sorts the first axis, equal values in their order."""
        if self.torch:
            return self.xp.sort(values, dim=0, stable=True).indices
        return np.argsort(values, axis=0, kind="stable")

    def sorted(self, values: Any) -> Any:
        """The same with the first axis in rising order."""
        return self.xp.sort(values, 0).values if self.torch else np.sort(values, 0)

    def shares(self, costs: Any, largest: Any) -> Any:
        """Costs as shares of the largest of each problem, in single precision; 0 where it is 0."""
        scale = 1 / self.xp.where(largest > _TINY, largest, np.inf)
        if self.torch:
            return (costs * scale).float()
        found = np.empty(costs.shape, np.float32)
        return np.multiply(costs, scale, out=found, casting="same_kind")

    def numbered(self, values: Any) -> Any:
        """Finite values of 32 bits whose last six are their place along the first axis."""
        bits = self.array(values, "float32").view(self.kind("int32")) & -64
        bits |= self.arange(len(values), "int32").reshape(-1, *[1] * (values.ndim - 1))
        return bits.view(self.kind("float32"))

    def numbers(self, values: Any) -> Any:
        """The last six bits of such values."""
        return self.array(values.view(self.kind("int32")) & 63, "int64")

    def first_true(self, flags: Any) -> Any:
        """The first place along the last axis that is true, or 0."""
        return flags.to(self.xp.uint8).argmax(-1) if self.torch else flags.argmax(-1)

    def from_end(self, stop: int) -> Any:
        """Integers from ``stop`` down to 1, as a column of bytes."""
        return self.column(stop, "uint8", down=True) if self.torch else _from_end(stop)

    def first_least(self, values: Any) -> tuple[Any, Any]:
        """Least value along the first axis, and the first place that has it."""
        least = self.xp.amin(values, 0)
        from_end = self.from_end(len(values))
        place = len(values) - self.xp.amax((values == least) * from_end, 0)
        return least, place.long() if self.torch else place.astype(np.int64)


@cache
def _from_end(stop: int) -> NDArray[np.uint8]:
    return np.arange(stop, 0, -1).astype(np.uint8)[:, None]


def running_total(values: Any) -> Any:
    """Sum along the first axis, from first to last."""
    total = values[0] + 0
    for value in values[1:]:
        total += value
    return total
