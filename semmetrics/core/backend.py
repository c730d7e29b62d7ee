"""Array code for numpy and for torch on any device, and the threads that share it.

Conventions
-----------
The kind of array follows from the input: what is put on a device stays there, and torch computes
with it there. On the processor numpy computes, in two threads at most; torch has threads of its
own.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError, require

LOW_PRECISIONS = frozenset({"float32", "float16", "bfloat16"})
"""Floating-point types of scores in which thresholds are rounded before they are compared."""
_MOST_WORKERS = 2  # with more, threads wait longer for the interpreter than they save


def is_torch(values: Any) -> bool:
    """Return whether this is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def to_numpy(values: Any) -> NDArray[Any]:
    """Return an array of NumPy, of a tensor without its gradient.

    A tensor may be conjugated or negated lazily, which NumPy does not know.
    """
    if is_torch(values):
        values = values.detach().cpu().resolve_conj().resolve_neg()
    return np.asarray(values)


def precision_of(values: object) -> str:
    """Return the name of the floating-point type of scores; "float64" if they are not an array.

    Examples
    --------
    >>> precision_of(np.zeros(1, np.float32)), precision_of([0.5]), precision_of(np.array([1]))
    ('float32', 'float64', 'float64')
    """
    name = str(getattr(values, "dtype", "")).removeprefix("torch.")
    return name if name in LOW_PRECISIONS else "float64"


def common_precision(names: Iterable[str]) -> str:
    """Return the floating-point type that holds the scores of several types without loss.

    Examples
    --------
    >>> common_precision(["float16", "float32"]), common_precision(["float16", "bfloat16"])
    ('float32', 'float32')
    >>> common_precision(["float32", "float64"]), common_precision([])
    ('float64', 'float64')
    """
    distinct = set(names)
    if len(distinct) == 1:
        return distinct.pop()
    return "float32" if distinct and distinct <= LOW_PRECISIONS else "float64"


def round_to(value: float, precision: str) -> float:
    """Round a number to a floating-point type, as NumPy and torch do with the other operand.

    Parameters
    ----------
    value : float
    precision : {"float64", "float32", "float16", "bfloat16"}

    Examples
    --------
    >>> round_to(0.3, "float32"), round_to(0.3, "bfloat16"), round_to(0.3, "float64")
    (0.30000001192092896, 0.30078125, 0.3)
    """
    if precision == "float64" or not np.isfinite(value):
        return value
    with np.errstate(over="ignore"):
        if precision != "bfloat16":
            return float(np.dtype(precision).type(value))
        bits = int(np.float32(value).view(np.uint32))
        # round half to even, and drop the 16 lowest bits of the fraction
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        return float(np.uint32(bits).view(np.float32))


def refuse_masked(value: object, where: str) -> None:
    """Refuse masked values, which NumPy would take for the numbers below the mask."""
    if np.ma.is_masked(value):
        raise InputError("masked", where)


def check_device(name: str, torch: Any) -> None:
    """Refuse a device that does not exist, or that this machine does not have.

    Raises
    ------
    InputError
        If so.
    """
    with suppress(RuntimeError, TypeError):
        device = torch.device(name)
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        available = {
            "cuda": (device.index or 0) < count,
            "mps": torch.backends.mps.is_available(),
        }
        if available.get(device.type, True):
            return
    raise InputError("no-such-device", name=name)


def find_device(name: str | None) -> Any:
    """Return the torch device on which measures compute, or None where numpy computes.

    Parameters
    ----------
    name : str, optional
        A device of torch. "cpu" is the processor, where numpy is exact and faster than torch;
        "torch:cpu" is the processor by torch, to compare the two.

    Raises
    ------
    InputError
        If there is no such device, or it has no double precision.
    MissingDependencyError
        If torch is not installed.

    Examples
    --------
    >>> find_device(None), find_device("cpu")
    (None, None)
    """
    if name in (None, "cpu"):
        return None
    torch = require("torch", f"device={name!r}", extra="sbert")
    plain = str(name).removeprefix("torch:")
    check_device(plain, torch)
    try:
        torch.zeros(1, dtype=torch.float64, device=plain)
    except (RuntimeError, TypeError):
        raise InputError("no-double-precision", name=name) from None
    return torch.device(plain)


def to_device(values: NDArray[Any], device: Any) -> Any:
    """Return values as a torch tensor on a device of ``find_device``; as they are without one."""
    return (
        values if device is None else sys.modules["torch"].tensor(values, device=device)
    )


class Backend:
    """The operations that numpy and torch spell differently, on the device of an array."""

    def __init__(self, like: Any) -> None:
        self.torch = is_torch(like)
        self.xp: Any = sys.modules["torch"] if self.torch else np
        self.place = {"device": like.device} if self.torch else {}

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the kind of array and the device; a module is not pickled."""
        return _backend_on, (self.place.get("device"),)

    @property
    def on_cpu(self) -> bool:
        """Whether the processor computes, by numpy or by torch."""
        return not self.torch or self.place["device"].type == "cpu"

    def zeros(self, *shape: int) -> Any:
        """Return zeros of a shape, in double precision."""
        return self.xp.zeros(shape, dtype=self.xp.float64, **self.place)

    def array(self, values: Any, dtype: str | None = None) -> Any:
        """Return values of either kind as an array of this kind and device, without gradients."""
        kind = None if dtype is None else getattr(self.xp, dtype)
        if self.torch:
            return self.xp.as_tensor(values, dtype=kind, **self.place).detach()
        return np.asarray(to_numpy(values), kind)

    def max_rows(self, values: Any, indptr: NDArray[np.int64], axis: int) -> Any:
        """Return the maximum of each ragged row along an axis; no row is empty."""
        if not self.torch:
            return np.maximum.reduceat(values, indptr[:-1], axis=axis)
        rows = self.array(np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)))
        shape = [*values.shape]
        shape[axis] = len(indptr) - 1
        found = self.xp.full(shape, -np.inf, dtype=values.dtype, **self.place)
        index = rows[:, None] if axis == 0 else rows[None]
        return found.scatter_reduce(axis, index.expand_as(values), values, "amax")


def _backend_on(device: Any) -> Backend:
    """Return the backend of a device of torch, or of numpy."""
    if device is None:
        return Backend(np.zeros(0))
    return Backend(importlib.import_module("torch").empty(0, device=device))


def sum_in_order(values: Any) -> Any:
    """Sum along the first axis, from first to last: the same bits under any padding with zeros."""
    total = values[0] + 0
    for value in values[1:]:
        total += value
    return total


def count_workers() -> int:
    """Return how many threads to use: up to two of the processors available."""
    available = getattr(os, "sched_getaffinity", None)
    return min(_MOST_WORKERS, len(available(0)) if available else os.cpu_count() or 1)


def run_parts(run: Callable[[Any], None], parts: Sequence[Any], workers: int) -> None:
    """Run a function on every part, in that many threads at most.

    A part must write only what is its own, so threads change no result. The error of the first
    part that has one is raised, whichever came first.

    Examples
    --------
    >>> found = [0, 0, 0]
    >>> run_parts(lambda place: found.__setitem__(place, place * place), range(3), 2)
    >>> found
    [0, 1, 4]
    """
    workers = min(workers, len(parts))
    if workers <= 1:
        for part in parts:
            run(part)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(run, parts))
