"""Array code that runs on NumPy or on torch, floating-point types, and threads.

Conventions
-----------
The input decides which library computes: torch for tensors, on the device of the tensor, and NumPy
for everything else. NumPy code runs in at most two threads. Torch uses threads of its own.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError, require

LOW_PRECISIONS = frozenset({"float32", "float16", "bfloat16"})
"""Floating-point types of scores that require thresholds to be rounded before a comparison."""

# More threads lose more time waiting for the interpreter than they save.
_MAX_WORKERS = 2


# ---- arrays and floating-point types ----------------------------------------


def is_torch(values: Any) -> bool:
    """Return whether a value is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def to_numpy(values: Any) -> NDArray[Any]:
    """Return an array or tensor as a NumPy array, without gradients."""
    if is_torch(values):
        # NumPy cannot read tensors that are conjugated or negated lazily.
        values = values.detach().cpu().resolve_conj().resolve_neg()
    return np.asarray(values)


def precision_of(values: object) -> str:
    """Return the name of the floating-point type of scores, or "float64" for other types.

    Examples
    --------
    >>> precision_of(np.zeros(1, np.float32)), precision_of([0.5]), precision_of(np.array([1]))
    ('float32', 'float64', 'float64')
    """
    dtype = getattr(values, "dtype", "")
    name = str(dtype).removeprefix("torch.")
    if name in LOW_PRECISIONS:
        return name
    return "float64"


def common_precision(names: Iterable[str]) -> str:
    """Return the name of the floating-point type that represents scores of several types exactly.

    Examples
    --------
    >>> common_precision(["float16", "float32"]), common_precision(["float16", "bfloat16"])
    ('float32', 'float32')
    >>> common_precision(["float32", "float64"]), common_precision([])
    ('float64', 'float64')
    """
    distinct_names = set(names)
    if len(distinct_names) == 1:
        return distinct_names.pop()
    if distinct_names and distinct_names <= LOW_PRECISIONS:
        return "float32"
    return "float64"


def round_to(value: float, precision: str) -> float:
    """Round a number to a floating-point type.

    NumPy and torch round a number like this before they compare it with an array of that type.

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
        if precision == "bfloat16":
            return _round_to_bfloat16(value)
        return float(np.dtype(precision).type(value))


def _round_to_bfloat16(value: float) -> float:
    """Round to the upper 16 bits of single precision, half to even."""
    bits = int(np.float32(value).view(np.uint32))
    last_kept_bit = bits >> 16 & 1
    rounded_bits = (bits + 0x7FFF + last_kept_bit) & 0xFFFF0000
    return float(np.uint32(rounded_bits).view(np.float32))


def check_not_masked(value: object, where: str) -> None:
    """Raise an error for masked values. NumPy would use the numbers below the mask."""
    if np.ma.is_masked(value):
        raise InputError("masked", where)


def dense_array(values: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    """Return values of a user as an array. Sparse matrices of scipy become dense.

    Parameters
    ----------
    values : array-like or sparse matrix
    name : str
        What messages call the values.
    dtype : numpy type, optional

    Raises
    ------
    InputError
        If values are masked.
    """
    check_not_masked(values, name)
    if hasattr(values, "toarray"):
        values = values.toarray()
    return np.asarray(values, dtype)


# ---- devices ----------------------------------------------------------------


def check_device(name: str, torch: Any) -> None:
    """Check that this machine has a device of torch.

    Parameters
    ----------
    name : str
        Such as "cuda:1".
    torch : module

    Raises
    ------
    InputError
        If there is no such device.
    """
    try:
        is_available = _is_available(torch.device(name), torch)
    except (RuntimeError, TypeError):
        is_available = False
    if not is_available:
        raise InputError("no-such-device", name=name)


def _is_available(device: Any, torch: Any) -> bool:
    """Return whether this machine has a device. Types other than cuda and mps are not checked."""
    if device.type == "cuda":
        if not torch.cuda.is_available():
            return False
        index: int = device.index or 0
        n_devices: int = torch.cuda.device_count()
        return index < n_devices
    if device.type == "mps":
        return bool(torch.backends.mps.is_available())
    return True


def find_device(name: str | None) -> Any:
    """Return the torch device on which measures are computed, or None for NumPy.

    Parameters
    ----------
    name : str, optional
        A device of torch. "cpu" means the processor with NumPy, which is exact and faster than
        torch. "torch:cpu" means the processor with torch, to compare the two.

    Raises
    ------
    InputError
        If there is no such device, or it does not support double precision.
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
    torch_name = str(name).removeprefix("torch:")
    check_device(torch_name, torch)
    try:
        torch.zeros(1, dtype=torch.float64, device=torch_name)
    except (RuntimeError, TypeError):
        raise InputError("no-double-precision", name=name) from None
    return torch.device(torch_name)


def to_device(values: NDArray[Any], device: Any) -> Any:
    """Return values as a tensor on a device of ``find_device``. None leaves them unchanged."""
    if device is None:
        return values
    return sys.modules["torch"].tensor(values, device=device)


# ---- operations of NumPy and torch ------------------------------------------


class Backend:
    """The operations that NumPy and torch spell differently, for arrays like a given one.

    Parameters
    ----------
    like : array or tensor

    Attributes
    ----------
    torch : bool
        Whether torch computes.
    xp : module
        numpy or torch.
    device_options : dict
        Keyword arguments of functions of ``xp`` that create arrays: the device of torch.
    """

    def __init__(self, like: Any) -> None:
        self.uses_torch = is_torch(like)
        self.xp: Any = np
        self.device_options: dict[str, Any] = {}
        if self.uses_torch:
            self.xp = sys.modules["torch"]
            self.device_options = {"device": like.device}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the device only, as modules cannot be pickled."""
        return _backend_on, (self.device_options.get("device"),)

    @property
    def on_cpu(self) -> bool:
        """Whether the processor computes, with NumPy or torch."""
        return not self.uses_torch or self.device_options["device"].type == "cpu"

    def zeros(self, *shape: int) -> Any:
        """Return zeros in double precision."""
        return self.xp.zeros(shape, dtype=self.xp.float64, **self.device_options)

    def array(self, values: Any, dtype: str | None = None) -> Any:
        """Return an array or tensor as an array of this backend, without gradients."""
        xp_dtype = None
        if dtype is not None:
            xp_dtype = getattr(self.xp, dtype)
        if self.uses_torch:
            tensor = self.xp.as_tensor(values, dtype=xp_dtype, **self.device_options)
            return tensor.detach()
        return np.asarray(to_numpy(values), xp_dtype)

    def max_rows(self, values: Any, indptr: NDArray[np.int64], axis: int) -> Any:
        """Return the maximum of each ragged row along an axis.

        Parameters
        ----------
        values : array or tensor of two dimensions
        indptr : int array, shape (rows + 1,)
            Offsets of the ragged rows along the axis. No row may be empty.
        axis : {0, 1}

        Returns
        -------
        array or tensor
            With one entry per ragged row along the axis.
        """
        if not self.uses_torch:
            return np.maximum.reduceat(values, indptr[:-1], axis=axis)
        n_rows = len(indptr) - 1
        row_of_entry = self.array(np.repeat(np.arange(n_rows), np.diff(indptr)))
        row_index = row_of_entry[None]
        if axis == 0:
            row_index = row_of_entry[:, None]
        shape = [*values.shape]
        shape[axis] = n_rows
        maxima = self.xp.full(shape, -np.inf, dtype=values.dtype, **self.device_options)
        return maxima.scatter_reduce(axis, row_index.expand_as(values), values, "amax")


def _backend_on(device: Any) -> Backend:
    """Return the backend for a device of torch, or for NumPy if it is None."""
    if device is None:
        return Backend(np.zeros(0))
    torch = importlib.import_module("torch")
    return Backend(torch.empty(0, device=device))


def sum_in_order(values: Any) -> Any:
    """Sum along the first axis, from first to last.

    Trailing zeros therefore do not change a bit of the result, unlike with ``np.sum``.
    """
    total = values[0] + 0
    for value in values[1:]:
        total += value
    return total


# ---- threads ----------------------------------------------------------------


def count_workers() -> int:
    """Return the number of threads to use: the available processors, but at most two."""
    get_affinity = getattr(os, "sched_getaffinity", None)
    n_processors = os.cpu_count() or 1
    if get_affinity is not None:
        n_processors = len(get_affinity(0))
    return min(_MAX_WORKERS, n_processors)


def run_parts(run: Callable[[Any], None], parts: Sequence[Any], workers: int) -> None:
    """Call a function with every part, in at most ``workers`` threads.

    Each call must write only to places of its own part, so that threads do not change the result.
    If several parts raise an error, the error of the first of these parts is raised.

    Examples
    --------
    >>> squares = [0, 0, 0]
    >>> run_parts(lambda number: squares.__setitem__(number, number * number), range(3), 2)
    >>> squares
    [0, 1, 4]
    """
    workers = min(workers, len(parts))
    if workers <= 1:
        for part in parts:
            run(part)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        results = pool.map(run, parts)
        list(results)  # waits for all parts, and raises their errors
