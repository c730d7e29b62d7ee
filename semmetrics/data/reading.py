"""Lists or a matrix from anything that holds them: paths, lists, mappings, frames, arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.encode import encode
from semmetrics.data.form import DEFAULTS, Form, ReadOptions
from semmetrics.data.ids import index_ids, string_ids
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix
from semmetrics.data.raw import RawItems, RawMatrix
from semmetrics.data.readers import Loaded, read
from semmetrics.data.readers.captions import read_captions
from semmetrics.data.readers.captions_json import (
    by_id,
    by_position,
    caption_records,
    is_coco_captions,
    read_coco_captions,
)
from semmetrics.data.readers.groups import Groups
from semmetrics.data.source import Places
from semmetrics.errors import InputError

__all__ = ["as_data"]


def as_data(
    data: Any,
    form: Form,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists | Matrix:
    """Read lists or a matrix from whatever holds them.

    Parameters
    ----------
    data : path, Loaded, mapping, sequence, pandas Series or DataFrame, array or sparse matrix
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        has items by position.
    form : Form
        How values are written.
    source : str
        What messages call it; a path is called by itself.
    classes : sequence, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix
        The latter of arrays, sparse matrices, frames of numbers, and files of them.

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.
    """
    options = options or DEFAULTS
    if isinstance(data, (Lists, Matrix)):
        if data.noun != form.noun:
            raise InputError(
                f"it holds {data.noun}s, not {form.noun}s",
                where=data.source,
                remedy="read it again",
            )
        return data
    if isinstance(data, (str, os.PathLike, Loaded)):
        raw = read_captions(data, options) if form.single else read(data, options)
        return _matrix(raw, classes) if isinstance(raw, RawMatrix) else encode(raw, form)
    if isinstance(data, np.ndarray) and (data.dtype == object or data.dtype.kind in "US"):
        data = data.tolist()
    if hasattr(data, "to_numpy") and hasattr(data, "index"):
        if not hasattr(data, "columns"):
            return encode(_series(data, form, source), form)
        if not form.single:
            ids = index_ids(data.index, source)
            names = [str(name) for name in data.columns]
            frame = RawMatrix(data.to_numpy(), names, ids, source, "a DataFrame")
            return _matrix(frame, classes)
    if not form.single and (isinstance(data, np.ndarray) or hasattr(data, "tocsr")):
        return _matrix(RawMatrix(data, None, source=source), classes)
    if isinstance(data, Mapping):
        return encode(_mapping(data, form, source), form)
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return encode(_sequence(data, form, source, options), form)
    known = "records, or a Series" if form.single else "a Series, or a matrix"
    shape = (
        "{id: captions}, a list of captions"
        if form.single
        else "{id: [labels]}, a list of label lists"
    )
    raise InputError(
        f"cannot read {form.noun}s from a {type(data).__name__}",
        where=source,
        remedy=f"give a path, {shape}, {known}",
    )


def _matrix(raw: RawMatrix, classes: Sequence[str | Sequence[str]] | None) -> Matrix:
    return as_matrix(
        raw.values,
        raw.classes if raw.classes is not None else classes,
        raw.ids,
        source=raw.source,
        understood=raw.understood,
        notes=raw.notes,
    )


def _mapping(data: Mapping[Any, Any], form: Form, source: str) -> RawItems:
    if form.single:
        if is_coco_captions(data):
            return read_coco_captions(dict(data), source)
        return by_id(string_ids(data, source), list(data.values()), source)
    ids = string_ids(data, source)
    return RawItems(ids, list(data.values()), Places(source, ids), source, "{id: [labels]}")


def _sequence(data: Sequence[Any], form: Form, source: str, options: ReadOptions) -> RawItems:
    if not form.single:
        places = Places(source, None, "item {}", range(len(data)))
        return RawItems(None, data, places, source, "[[labels]]")
    if len(data) and isinstance(data[0], Mapping):
        return caption_records(data, source, options)
    return by_position(data, source, "item {}")


def _series(data: Any, form: Form, source: str) -> RawItems:
    items = list(data)
    several = form.single and not data.index.is_unique
    if several and all(isinstance(item, str) for item in items):
        groups = Groups(source, "row {}")
        groups.add(range(len(items)), string_ids(data.index, source, repeats=True), items)
        raw = groups.finish()
    else:
        ids = index_ids(data.index, source)
        places = Places(source, ids, *(() if ids is not None else ("row {}", range(len(items)))))
        raw = RawItems(ids, items, places, source)
    raw.understood = f"a Series of {form.noun}{'s' if form.single else ' lists'}"
    return raw
