"""What two inputs hold, labels or captions, where nobody has said.

Conventions
-----------
Files and objects that can only be the one or the other say so themselves: matrices, scores, COCO
instances and columns of labels; plain text, columns of captions, and COCO captions. Otherwise lists
of strings on both sides are labels, and a string for each item on either side makes them captions.
Lists that hold sentences on both sides, or single words where strings stand for lists, could be
either, and that is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal

import numpy as np

from semmetrics.data.form import (
    CAPTION_JSON_ROLES,
    CAPTION_TABLE_ROLES,
    DEFAULTS,
    JSON_ROLES,
    TABLE_ROLES,
    ReadOptions,
    Role,
)
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.readers import Loaded, opened
from semmetrics.data.readers.captions_json import is_coco_captions
from semmetrics.data.readers.coco import is_coco
from semmetrics.data.readers.formats import format_of, header
from semmetrics.data.readers.parquet import column_names
from semmetrics.data.readers.strict_json import parse
from semmetrics.errors import InputError

__all__ = ["Kind", "kind_of", "kind_of_one"]

_ITEMS, _STRINGS = 200, 20
_LINE = re.compile(r"\S[^\n]*")
_ROLES = {
    "columns": (TABLE_ROLES["label"], CAPTION_TABLE_ROLES["caption"]),
    "keys": (JSON_ROLES["label"], CAPTION_JSON_ROLES["caption"]),
}
_PHRASE, _SENTENCE = 2.5, 5.0  # mean words: above those of labels, and those of captions
_REMEDY = "say task='labels' or task='captions' (on the command line --task)"


@dataclass(frozen=True)
class Kind:
    """What is evaluated, and why.

    Attributes
    ----------
    task : {"labels", "captions"}
    understood : str
        What each side was taken for.
    sure : bool
        Whether it could hardly be the other.
    """

    task: Literal["labels", "captions"]
    understood: str
    sure: bool = True


@dataclass(frozen=True)
class _Shape:
    """One side: "labels", "captions", or strings alone that could be either."""

    form: Literal["labels", "captions", "strings", "lists"]
    what: str
    sample: Sequence[str] = ()

    @property
    def words(self) -> float:
        """Mean number of words of a sample of its strings."""
        return sum(len(text.split()) for text in self.sample) / max(1, len(self.sample))

    @property
    def single(self) -> bool:
        """Whether every string is one word; scripts without blanks do not tell."""
        return all(text.isascii() and len(text.split()) < 2 for text in self.sample)


def kind_of(pred: Any, ref: Any, *, options: ReadOptions | None = None) -> Kind:
    """Tell from a sample of both sides whether labels or captions are evaluated.

    Parameters
    ----------
    pred, ref : Loaded, path, or what `as_labels` and `as_captions` take
        Of paths only ``opened`` ones are not read again by the readers.
    options : ReadOptions, optional

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        If both are possible, the sides are of different kinds, or a file cannot be read.

    Examples
    --------
    >>> kind_of({"a": ["cat"]}, {"a": ["cat", "dog"]}).task
    'labels'
    >>> kind = kind_of({"a": "a cat sleeps"}, {"a": ["the cat sleeps"]})
    >>> kind.task, kind.understood
    ('captions', 'predictions: a string an item; ground truth: lists of strings')
    """
    options = options or DEFAULTS
    mine, theirs = (_shape(opened(side, options), options) for side in (pred, ref))
    forms = {mine.form, theirs.form}
    understood = f"predictions: {mine.what}; ground truth: {theirs.what}"
    if {"labels", "captions"} <= forms:
        raise InputError(f"the two sides are of different kinds: {understood}", remedy=_REMEDY)
    if "labels" in forms:
        return Kind("labels", understood)
    if "captions" in forms:
        return Kind("captions", understood)
    if "strings" in forms:
        if mine.single and theirs.single:
            raise InputError(
                f"single words could be labels or captions: {understood}",
                remedy='write labels as lists, ["cat"], also one label; or ' + _REMEDY,
            )
        return Kind("captions", understood)
    if min(mine.words, theirs.words) >= _SENTENCE:
        raise InputError(
            f"lists of sentences could be labels or captions: {mine.words:.1f} words on average "
            f"in the predictions, {theirs.words:.1f} in the ground truth",
            remedy=_REMEDY,
        )
    return Kind("labels", understood)


def kind_of_one(data: Any, *, options: ReadOptions | None = None) -> Kind:
    """Tell what one side holds, where there is no other; lists of sentences are captions.

    Parameters
    ----------
    data : Loaded, path, or what `as_labels` and `as_captions` take
    options : ReadOptions, optional

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        If a file cannot be read.

    Examples
    --------
    >>> kind_of_one({"a": ["a man rides a brown horse"]})
    Kind(task='captions', understood='lists of strings of 6.0 words on average', sure=False)
    >>> kind_of_one({"a": ["ice cream", "cat"]}).task
    'labels'
    """
    options = options or DEFAULTS
    shape = _shape(opened(data, options), options)
    if shape.form != "lists":
        return Kind("labels" if shape.form == "labels" else "captions", shape.what)
    understood = f"{shape.what} of {shape.words:.1f} words on average"
    task: Literal["labels", "captions"] = "captions" if shape.words >= _SENTENCE else "labels"
    return Kind(task, understood, sure=shape.words < _PHRASE)


def _shape(data: Any, options: ReadOptions) -> _Shape:
    if isinstance(data, Loaded):
        return _file(data, options)
    if isinstance(data, (Lists, Matrix)):
        return _Shape("captions" if data.noun == "caption" else "labels", data.understood)
    if hasattr(data, "to_numpy") and hasattr(data, "index") and not hasattr(data, "columns"):
        return _values(data)
    if isinstance(data, np.ndarray) and (data.dtype == object or data.dtype.kind in "US"):
        data = data[:_ITEMS].tolist()
    if isinstance(data, Mapping):
        return _mapping(data)
    if isinstance(data, Sequence) and not isinstance(data, (bytes, bytearray)):
        return _sequence(data, options)
    return _Shape("labels", f"a {type(data).__name__}")


def _file(loaded: Loaded, options: ReadOptions) -> _Shape:
    source = loaded.source
    kind = format_of(source, options, captions=True)
    if kind in ("json", "coco"):
        value = loaded.json
        if isinstance(value, dict):
            return _mapping(value)
        return _sequence(value, options) if isinstance(value, list) else _Shape("labels", "JSON")
    if kind == "jsonl":
        line = _LINE.search(source.text)
        return _sequence([parse(line.group() if line else "{}", source.name)], options)
    if kind in ("csv", "tsv"):
        return _columns("columns", header(source.text, options, kind), options)
    if kind == "parquet":
        return _columns("columns", column_names(source), options)
    return _Shape("captions", "plain text") if kind == "txt" else _Shape("labels", "a matrix")


def _mapping(data: Mapping[Any, Any]) -> _Shape:
    if is_coco_captions(data):
        return _Shape("captions", "COCO captions")
    if is_coco(data):
        return _Shape("labels", "COCO instances")
    return _values(data.values())


def _sequence(data: Sequence[Any], options: ReadOptions) -> _Shape:
    if not len(data) or not isinstance(data[0], Mapping):
        return _values(data)
    records = [record for record in data[:_STRINGS] if isinstance(record, Mapping)]
    return _columns("keys", list(dict.fromkeys(chain.from_iterable(records))), options)


def _columns(
    what: Literal["columns", "keys"], names: Sequence[Any], options: ReadOptions
) -> _Shape:
    """The kind of a table, or of records, from the names of what it has."""
    label, caption = _ROLES[what]
    understood = f"{what} {', '.join(map(repr, names[:8]))}"
    captions = _plays(names, caption, options.caption_column)
    if options.caption_column is None:
        captions = captions and not _plays(names, label, options.label_column)
    return _Shape("captions" if captions else "labels", understood)


def _plays(names: Sequence[Any], role: Role, chosen: str | None) -> bool:
    if chosen is not None:
        return chosen in names
    return any(str(name).strip().casefold() in role.known for name in names)


def _values(items: Iterable[Any]) -> _Shape:
    """The kind of items that are strings or lists, from the first of them."""
    first = list(islice(items, _ITEMS))
    lists = [item for item in first if isinstance(item, (list, tuple, Set, np.ndarray))]
    if not lists:
        texts = [item for item in first if isinstance(item, str)]
        return _Shape("strings", "a string an item", texts) if texts else _Shape("labels", "items")
    sample = [part for item in lists for part in islice(item, _STRINGS)]
    if all(isinstance(part, str) for part in sample):
        return _Shape("lists", "lists of strings", sample)
    return _Shape("labels", "lists of labels")
