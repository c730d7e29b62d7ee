"""Label lists from anything that holds them: paths, lists, mappings, Series, matrices."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.data.encode import encode, encode_matrix
from semmetrics.data.ids import index_ids, string_ids
from semmetrics.data.labels import Labels
from semmetrics.data.raw import RawItems, RawMatrix
from semmetrics.data.readers import Loaded, ReadOptions, read
from semmetrics.errors import InputError

__all__ = ["as_labels"]


def as_labels(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Labels:
    """Read label lists from whatever holds them.

    Parameters
    ----------
    data : path, Loaded, mapping, sequence, pandas Series, array or sparse matrix
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        of label lists is known by position. An array or scipy.sparse matrix of items x classes
        holds 0/1, or scores as floats. A set of labels is taken in sorted order.
    source : str
        What messages call it.
    classes : sequence, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files are read.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> len(as_labels({"a": ["cat", "dog"], "b": []}))
    2
    """
    if isinstance(data, Labels):
        return data
    if isinstance(data, (str, os.PathLike, Loaded)):
        raw = read(data, options or ReadOptions())
        return _matrix(raw, classes) if isinstance(raw, RawMatrix) else encode(raw)
    if hasattr(data, "to_numpy") and hasattr(data, "index"):
        return _series(data, source, classes)
    if isinstance(data, np.ndarray) and (data.dtype == object or data.dtype.kind in "US"):
        data = data.tolist()
    if isinstance(data, np.ndarray) or hasattr(data, "tocsr"):
        return _matrix(RawMatrix(data, None, source=source), classes)
    if isinstance(data, Mapping):
        ids = string_ids(data, source)
        where = lambda i: f"id {ids[i]!r}"  # noqa: E731
        return encode(RawItems(ids, list(data.values()), where, source, "{id: [labels]}"))
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return encode(RawItems(None, data, "item {}".format, source, "[[labels]]"))
    raise InputError(
        f"cannot read labels from a {type(data).__name__}",
        where=source,
        remedy="give a path, {id: [labels]}, a list of label lists, a Series, or a matrix",
    )


def _matrix(raw: RawMatrix, classes: Sequence[str | Sequence[str]] | None) -> Labels:
    if raw.classes is None and classes is not None:
        raw = replace(raw, classes=classes)
    return encode_matrix(raw)


def _series(data: Any, source: str, classes: Any) -> Labels:
    """A pandas Series of label lists, or a DataFrame of items x classes."""
    if hasattr(data, "columns"):
        values = data.to_numpy()
        names = [str(name) for name in data.columns]
        ids = index_ids(data.index, source)
        return encode_matrix(RawMatrix(values, names, ids, source, "a DataFrame"))
    ids = index_ids(data.index, source)
    where = lambda i: f"id {ids[i]!r}" if ids is not None else f"row {i}"  # noqa: E731
    return encode(RawItems(ids, list(data), where, source, "a Series of label lists"))
