"""Read the class list, the labels to ignore, and other inputs that options name."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semmetrics.core.backend import check_not_masked
from semmetrics.core.ragged import Floats
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import FROM_0, InputError

_MAX_EXCESS = 0.01
"""By how much the sum of probabilities may exceed 1, as it does in half precision."""


def read_class_names(names: Any, files: ReadOptions) -> list[Any]:
    """Return a list of classes or labels, which is read from a file if it is a path."""
    if isinstance(names, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_class_list

        return list(read_class_list(names, files))
    return list(names)


def unknown_values(unknown_value: str | float | None) -> tuple[float, ...]:
    """Return the values of cells that nobody verified.

    Parameters
    ----------
    unknown_value : str, float or None
        The option of the user: one value, or several separated by commas.

    Raises
    ------
    InputError
        If a value is not a number, or is 0 or 1.

    Examples
    --------
    >>> unknown_values("-1,nan"), unknown_values(-1), unknown_values(None)
    ((-1.0, nan), (-1.0,), ())
    """
    if unknown_value is None:
        return ()
    values = []
    for text in str(unknown_value).split(","):
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if value in (0.0, 1.0):
            wanted = "a number other than 0 and 1, nan, or several such as -1,nan"
            raise InputError(
                "bad-option", name="unknown_value", value=unknown_value, wanted=wanted
            )
        values.append(value)
    return tuple(values)


def read_set_size_probs(probs: Any, files: ReadOptions | None) -> Floats | None:
    """Return the probabilities of set sizes, which the decoding rule "cardinality" uses.

    Parameters
    ----------
    probs : path, array, tensor, frame or None
        One row per item, one column per set size.
    files : ReadOptions or None
        How a file is read.

    Raises
    ------
    InputError
        If values are masked, a probability is negative, or the probabilities of an item sum to
        more than 1.
    """
    if probs is None:
        return None
    from semmetrics.data.objects import plain_object

    where = "set_size_probs"
    if isinstance(probs, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        where = os.fspath(probs)
        options = (files or ReadOptions()).for_side_inputs()
        probs = read_dense(probs, options, "a matrix is", ("npy", "npz"))
    check_not_masked(probs, where)
    values = np.asarray(plain_object(probs)).astype(np.float64)
    if values.ndim == 2:
        _check_probabilities(values, where)
    return values


def _check_probabilities(values: Floats, where: str) -> None:
    """Raise an error if a row does not contain probabilities.

    They may sum to less than 1, because larger set sizes may have no column.
    """
    exceeds_1 = values.sum(axis=1) > 1 + _MAX_EXCESS
    has_negative = (values < 0).any(axis=1)
    is_wrong = exceeds_1 | has_negative
    if is_wrong.any():
        row = int(is_wrong.argmax())
        where = f"{where}, row {row}{FROM_0}"
        raise InputError("not-probabilities", where, value=values[row])
