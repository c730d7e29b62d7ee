"""Captions from anything that holds them: paths, lists, mappings, records, Series."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.captions import Captions, captions_of
from semmetrics.data.ids import index_ids, string_ids
from semmetrics.data.raw import RawItems
from semmetrics.data.readers import Loaded
from semmetrics.data.readers.captions import read_captions
from semmetrics.data.readers.captions_json import (
    by_id,
    by_position,
    caption_records,
    is_coco_captions,
    read_coco_captions,
)
from semmetrics.data.readers.groups import Groups
from semmetrics.data.readers.options import DEFAULTS, ReadOptions
from semmetrics.errors import InputError

__all__ = ["as_captions"]

_POSITION = "item {}"


def as_captions(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Captions:
    """Read captions from whatever holds them.

    Parameters
    ----------
    data : path, Loaded, mapping, sequence, pandas Series or Captions
        A path (str or PathLike) is read by its format. A mapping from id has a caption or a list
        of captions for each; a sequence has them by position. A list of records
        ``{"image_id": 7, "caption": "a cat"}``, COCO captions with "annotations", and a Series,
        whose index may repeat ids, are as in files.
    source : str
        What messages call it; of a path that is the path.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Captions

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_captions({"a": ["a cat", "the cat"], "b": ["a dog"]}).texts
    ['a cat', 'the cat', 'a dog']
    """
    options = options or DEFAULTS
    if isinstance(data, Captions):
        return data
    if isinstance(data, (str, os.PathLike, Loaded)):
        return captions_of(read_captions(data, options))
    if isinstance(data, np.ndarray) and (data.dtype == object or data.dtype.kind in "US"):
        data = data.tolist()
    if hasattr(data, "to_numpy") and hasattr(data, "index") and not hasattr(data, "columns"):
        return captions_of(_series(data, source))
    if isinstance(data, Mapping):
        return captions_of(_mapping(data, source))
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        if len(data) and isinstance(data[0], Mapping):
            return captions_of(caption_records(data, source, options))
        return captions_of(by_position(data, source, _POSITION))
    raise InputError(
        f"cannot read captions from a {type(data).__name__}",
        where=source,
        remedy="give a path, {id: captions}, a list of captions, records, or a Series",
    )


def _mapping(data: Mapping[Any, Any], source: str) -> RawItems:
    if is_coco_captions(data):
        return read_coco_captions(dict(data), source)
    return by_id(string_ids(data, source), list(data.values()), source)


def _series(data: Any, source: str) -> RawItems:
    items = list(data)
    if data.index.is_unique or not all(isinstance(item, str) for item in items):
        ids = index_ids(data.index, source)
        raw = by_position(items, source, "row {}") if ids is None else by_id(ids, items, source)
    else:
        groups = Groups(source, "row {}")
        groups.add(range(len(items)), string_ids(data.index, source, repeats=True), items)
        raw = groups.finish()
    raw.understood = "a Series of captions"
    return raw
