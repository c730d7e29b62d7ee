"""Which format an input is in: by option, by extension, or by the content of a stream."""

from __future__ import annotations

import re
from typing import Any

from semmetrics.data.readers.options import EXTENSIONS, JSON_ROLES, TABLE_ROLES, ReadOptions
from semmetrics.data.readers.source import Source
from semmetrics.data.readers.strict_json import parse
from semmetrics.errors import InputError

__all__ = ["format_of", "header"]

_BINARY = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet"}
_INK = re.compile(r"\S")


def format_of(source: Source, options: ReadOptions, *, captions: bool = False) -> str:
    """The format of an input; a file whose extension says nothing needs the option.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    captions : bool
        Whether it may hold captions, which plain text can; a stream of text with a header that
        names an id is a table all the same.

    Raises
    ------
    InputError
        If it cannot be told, or nothing of the kind is read from that format.
    """
    if source.suffix is None and options.format is None:
        return _sniff(source, options, captions=captions)
    kind = options.format or EXTENSIONS.get(source.suffix or "")
    if kind is not None and (captions or kind != "txt"):
        return kind
    if options.format is not None:
        raise InputError(
            "labels are not read from plain text", where=source.name, remedy="use JSON or CSV"
        )
    named = f"the extension {source.suffix!r}" if source.suffix else "a name without extension"
    known = [suffix for suffix, kind in EXTENSIONS.items() if captions or kind != "txt"]
    raise InputError(
        f"{named} says nothing about the format",
        where=source.name,
        remedy=f"give format (--input-format), or use one of {', '.join(known)}",
    )


def _sniff(source: Source, options: ReadOptions, *, captions: bool) -> str:
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
    kind = "tsv" if "\t" in line and options.delimiter is None else "csv"
    return "txt" if captions and not _names_an_id(header(text, options, kind), options) else kind


def header(text: str, options: ReadOptions, kind: str) -> list[str]:
    """The cells of the first line of a table; a text that is no table has some, too."""
    delimiter = options.delimiter or ("\t" if kind == "tsv" else ",")
    line = text[: text.find("\n")] if "\n" in text else text
    return [cell.removeprefix('"').removesuffix('"') for cell in line.strip().split(delimiter)]


def _names_an_id(cells: list[str], options: ReadOptions) -> bool:
    known = TABLE_ROLES["id"].known
    if len(cells) < 2:
        return False
    return any(cell == options.id_column or cell.strip().casefold() in known for cell in cells)


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
