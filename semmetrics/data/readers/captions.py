"""Captions from files: JSON, JSON lines, tables, Parquet, COCO, and plain text.

Conventions
-----------
An id may have one caption or several, kept in file order. Rows of a table, and records whose
caption is a text, are one caption each; those of an id are gathered. Plain text has one item a
line, by position, and tabs between its captions; a line ends with a line feed, or a carriage return
and a line feed, and nothing else; a blank one is an empty caption. Captions are kept exactly as
they are.
"""

from __future__ import annotations

import os

from semmetrics.data.form import DEFAULTS, ReadOptions, unused
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.captions_json import read_caption_json, read_caption_jsonl
from semmetrics.data.readers.captions_table import read_caption_parquet, read_caption_table
from semmetrics.data.readers.formats import format_of
from semmetrics.data.readers.loaded import Loaded, no_collection
from semmetrics.data.source import Places, Source, at, check_lines, counted
from semmetrics.errors import InputError

__all__ = ["read_captions"]

_TABLES = ("csv", "tsv")
_NAMED = (*_TABLES, "parquet", "json", "jsonl", "coco")
_APPLIES = {
    "id_column": _NAMED,
    "caption_column": _NAMED,
    "delimiter": _TABLES,
    "label_column": (),
    "score_column": (),
    "label_delimiter": (),
}


def read_captions(
    path: str | os.PathLike[str] | Loaded, options: ReadOptions = DEFAULTS
) -> RawItems:
    """Read the captions of items.

    Parameters
    ----------
    path : str, path or Loaded
        A JSON, JSONL, CSV, TSV, Parquet or text file, COCO captions or COCO results, perhaps with
        gzip; "-" is standard input.
    options : ReadOptions

    Returns
    -------
    RawItems
        Each item is a caption, or a list of captions; what they are is not yet checked.

    Raises
    ------
    InputError
        If it cannot be read without a guess; names file, line or key, id and remedy.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "results.json")
    >>> _ = path.write_text(json.dumps([{"image_id": 7, "caption": "a cat"}]))
    >>> raw = read_captions(path)
    >>> raw.ids, raw.items, raw.understood
    (['7'], [['a cat']], 'JSON, one record a caption')
    """
    loaded = Loaded.of(path, options)
    kind = format_of(loaded.source, options, captions=True)
    with no_collection():
        raw = _read(loaded, kind, options)
    if not raw.items:
        raise InputError(
            "there are no captions", where=loaded.source.name, remedy="check how it was written"
        )
    elsewhere = [option for option, kinds in _APPLIES.items() if kind not in kinds]
    raw.notes += unused(options, elsewhere, kind)
    if loaded.source.packed:
        raw.understood += ", gzip"
    return raw


def _read(loaded: Loaded, kind: str, options: ReadOptions) -> RawItems:
    source = loaded.source
    if kind in ("json", "coco"):
        return read_caption_json(loaded.take_json(), source.name, options)
    if kind == "jsonl":
        return read_caption_jsonl(source, options)
    if kind in _TABLES:
        return read_caption_table(source, options, tabs=kind == "tsv")
    if kind == "parquet":
        return read_caption_parquet(source, options)
    if kind == "txt":
        return _read_text(source, options)
    raise InputError(
        f"captions are not read from {kind}", where=source.name, remedy="use JSON, CSV or .txt"
    )


def _read_text(source: Source, options: ReadOptions) -> RawItems:
    check_lines(source, options.max_line_bytes)
    text = source.text
    if "\n" not in text and "\r" in text.strip("\r"):
        raise InputError(
            "its lines end with a carriage return alone",
            where=at(source.name, "line 1"),
            remedy="save it with line feeds",
        )
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    places = Places(source.name, None, "line {}", range(1, len(lines) + 1))
    raw = RawItems(None, lines, places, source.name, "text, one caption a line")
    if "\t" in text:
        raw.items = [line.split("\t") for line in lines]
        raw.understood = "text, one item a line, tabs between its captions"
    if blank := [number for number, line in enumerate(lines, 1) if not line or line.isspace()]:
        raw.notes.append(
            f"{counted(blank, 'blank line')}, taken as empty captions; the first is line {blank[0]}"
        )
    return raw
