"""Sums of floats without rounding error, so that any order and any split give the same bits.

A finite float64 is an integer times 2**-1074, so a sum of floats is a Python integer in that
unit. Integers add exactly: partial sums merge in any order, and one correctly rounded division
at the end gives the float that ``math.fsum`` would give.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats

__all__ = ["UNIT", "exact_sums", "to_floats"]

UNIT = 1 << 1074
_HALF = 27  # a mantissa is cut in two, so that 2**26 halves add up without leaving 53 bits
_MOST = 1 << 26
_TABLE = 1 << 22  # cells of (group, exponent) that are counted without sorting them first


def exact_sums(
    values: Floats, groups: NDArray[np.integer] | None = None, n_groups: int = 1
) -> NDArray[np.object_]:
    """Exact sums of finite floats, in units of 2**-1074, one for each group.

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
    for start in range(0, len(values), _MOST):
        part = slice(start, start + _MOST)
        total += _block(values[part], None if groups is None else groups[part], n_groups)
    return total


def _block(
    values: Floats, groups: NDArray[np.integer] | None, n_groups: int
) -> NDArray[np.object_]:
    total = np.zeros(n_groups, object)
    if not len(values):
        return total
    fractions, exponents = np.frexp(values)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    low = int(exponents.min())
    width = int(exponents.max()) - low + 1
    keys = (exponents - low).astype(np.int64)
    if groups is not None:
        keys += groups.astype(np.int64) * width
    if n_groups * width > _TABLE:
        cells, keys = np.unique(keys, return_inverse=True)
    else:
        cells = np.arange(n_groups * width)
    high = np.bincount(keys, mantissas >> _HALF, len(cells))
    rest = np.bincount(keys, mantissas & ((1 << _HALF) - 1), len(cells))
    for place in np.flatnonzero((high != 0) | (rest != 0)).tolist():
        group, exponent = divmod(int(cells[place]), width)
        number = (int(high[place]) << _HALF) + int(rest[place])
        shift = 1074 - 53 + exponent + low  # the mantissa's last bit, in units of 2**-1074
        total[group] += number << shift if shift >= 0 else number >> -shift
    return total


def to_floats(sums: NDArray[np.object_]) -> Floats:
    """The floats nearest to exact sums; the shape is kept."""
    flat = [value / UNIT for value in sums.ravel().tolist()]
    return np.array(flat, np.float64).reshape(sums.shape)
