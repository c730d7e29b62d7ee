"""Readers: files of labels to `RawItems` or `RawMatrix`, checked for form but not for meaning.

Conventions
-----------
The format is that of the extension, with or without ".gz"; gzip is known by its content. "-" is
standard input, and its format is told by its content. Text is UTF-8, or UTF-16 with a byte order
mark. An input is read whole, up to ``max_bytes``; nothing is dropped or repaired, and what is odd
but clear is said in the notes.
"""

from __future__ import annotations

import os

from semmetrics.data.form import DEFAULTS, ReadOptions, unused
from semmetrics.data.raw import RawItems, RawMatrix
from semmetrics.data.readers.formats import format_of
from semmetrics.data.readers.json_items import read_json, read_jsonl
from semmetrics.data.readers.lists import read_class_list, read_matrix, read_numbers
from semmetrics.data.readers.loaded import Loaded, no_collection, opened
from semmetrics.data.readers.matrix import read_label_matrix
from semmetrics.data.readers.parquet import read_parquet
from semmetrics.data.readers.table import read_table
from semmetrics.errors import InputError

__all__ = [
    "Loaded",
    "ReadOptions",
    "opened",
    "read",
    "read_class_list",
    "read_matrix",
    "read_numbers",
]

_TABLES = ("csv", "tsv")
_NAMED = (*_TABLES, "parquet", "json", "jsonl", "coco")
_APPLIES = {
    "id_column": _NAMED,
    "label_column": _NAMED,
    "score_column": _NAMED,
    "caption_column": (),
    "delimiter": _TABLES,
    "label_delimiter": _TABLES,
}


def read(
    path: str | os.PathLike[str] | Loaded, options: ReadOptions = DEFAULTS
) -> RawItems | RawMatrix:
    """Read the labels of items.

    Parameters
    ----------
    path : str, path or Loaded
        A JSON, JSONL, CSV, TSV, Parquet, .npy, .npz or COCO instances file, perhaps with gzip;
        "-" is standard input.
    options : ReadOptions

    Returns
    -------
    RawItems or RawMatrix
        The latter for .npy and .npz.

    Raises
    ------
    InputError
        If it cannot be read without a guess; names file, line or key, id and remedy.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "gt.json")
    >>> _ = path.write_text(json.dumps({"a": ["cat", "dog"], "b": []}))
    >>> raw = read(path)
    >>> raw.ids, raw.items, raw.understood
    (['a', 'b'], [['cat', 'dog'], []], 'JSON, {id: [labels]}')
    """
    loaded = Loaded.of(path, options)
    source = loaded.source
    kind = format_of(source, options)
    with no_collection():
        raw = _read(loaded, kind, options)
    if not (raw.items if isinstance(raw, RawItems) else raw.values.shape[0]):
        raise InputError("there are no items", where=source.name, remedy="check how it was written")
    elsewhere = [option for option, kinds in _APPLIES.items() if kind not in kinds]
    raw.notes += unused(options, elsewhere, kind)
    if source.packed:
        raw.understood += ", gzip"
    return raw


def _read(loaded: Loaded, kind: str, options: ReadOptions) -> RawItems | RawMatrix:
    source = loaded.source
    if kind in ("json", "coco"):
        return read_json(loaded.take_json(), source.name, options)
    if kind == "jsonl":
        return read_jsonl(source, options)
    if kind in _TABLES:
        return read_table(source, options, tabs=kind == "tsv")
    if kind == "parquet":
        return read_parquet(source, options)
    return read_label_matrix(source, options)
