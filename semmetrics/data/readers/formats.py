"""Which format an input is in: by option, by extension, or by the content of a stream."""

from __future__ import annotations

import re
from typing import Any

from semmetrics.data.readers.options import EXTENSIONS, JSON_ROLES, ReadOptions
from semmetrics.data.readers.source import Source
from semmetrics.data.readers.strict_json import parse
from semmetrics.errors import InputError

__all__ = ["format_of"]

_BINARY = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet"}
_INK = re.compile(r"\S")


def format_of(source: Source, options: ReadOptions) -> str:
    """The format of an input; a file whose extension says nothing needs the option."""
    if options.format is not None:
        return options.format
    if source.suffix is None:
        return _sniff(source, options)
    if source.suffix in EXTENSIONS:
        return EXTENSIONS[source.suffix]
    named = f"the extension {source.suffix!r}" if source.suffix else "a name without extension"
    raise InputError(
        f"{named} says nothing about the format",
        where=source.name,
        remedy=f"give format (--input-format), or use one of {', '.join(EXTENSIONS)}",
    )


def _sniff(source: Source, options: ReadOptions) -> str:
    for magic, kind in _BINARY.items():
        if source.data.startswith(magic):
            return kind
    text = source.text
    start = match.start() if (match := _INK.search(text)) else 0
    end = text.find("\n", start) if "\n" in text[start:] else len(text)
    line = text[start:end]
    if line[0] == "{" and _one_record(line, more=_INK.search(text, end) is not None):
        return "jsonl"
    if line[0] in "[{":
        return "json"
    return "tsv" if "\t" in line and options.delimiter is None else "csv"


def _one_record(line: str, *, more: bool) -> bool:
    """Whether a line is an object of its own: others follow, or it has an id for a value."""
    try:
        value: Any = parse(line, "")
    except InputError:  # an object over several lines, or an error that its reader names
        return False
    known = JSON_ROLES["id"].known
    return isinstance(value, dict) and (
        more or any(isinstance(value.get(key), str | int) for key in known)
    )
