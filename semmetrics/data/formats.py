"""Which format an input is in: by option, by extension, or by the content of a stream."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from semmetrics.data.form import EXTENSIONS, IDS, RECORD_IDS, Form, ReadOptions
from semmetrics.data.json_files import parse
from semmetrics.data.public import TOKEN_LINE
from semmetrics.data.source import UTF16, Source
from semmetrics.errors import InputError

__all__ = ["beginning", "format_among", "format_of", "header", "sniff"]

_BINARY = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"PAR1": "parquet", b"ARROW1": "arrow",
           b"\x89HDF": "hdf5"}  # fmt: skip
_INK = re.compile(r"\S")


def format_of(source: Source, options: ReadOptions, form: Form) -> str:
    """Find the format of an input; a file whose extension says nothing needs the option.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    form : Form
        The formats it may have. Where plain text is one of them, a stream of text with a header
        that names an id is a table all the same.

    Raises
    ------
    InputError
        If it cannot be told, or nothing of the kind is read from that format.
    """
    if source.suffix is None and options.format is None:
        return sniff(source, options, text="txt" in form.formats)
    kind = options.format or EXTENSIONS.get(source.suffix or "")
    if kind == "txt" != options.format and "flickr" in form.formats:
        kind = "flickr" if TOKEN_LINE.match(beginning(source)) else kind
    if kind in form.formats:
        return kind
    if kind is not None and (options.format is not None or kind != "txt"):
        raise InputError(
            f"{form.noun}s are not read from {'plain text' if kind == 'txt' else kind}",
            where=source.name,
            remedy="use JSON, CSV or .txt" if "txt" in form.formats else "use JSON or CSV",
        )
    known = [suffix for suffix, kind in EXTENSIONS.items() if kind in form.formats]
    raise _no_format(source, f"give format (--input-format), or use one of {', '.join(known)}")


def format_among(
    source: Source, options: ReadOptions, what: str, kinds: Collection[str], *, told: bool = False
) -> str:
    """The format of a file that stands beside labels, and is read from some formats alone.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    what : str
        What it holds, for messages: "numbers are".
    kinds : collection of str
        The formats it is read from, as messages list them.
    told : bool
        Whether a user of the program can name the format.

    Raises
    ------
    InputError
        If it cannot be told, or is none of these.
    """
    if source.suffix is None and options.format is None:
        kind: str | None = sniff(source, options, text=False)
    else:
        kind = options.format or EXTENSIONS.get(source.suffix or "")
    if kind is None:
        ends = [suffix for suffix, known in EXTENSIONS.items() if known in kinds]
        option = ", or give format (--input-format)" if told else ""
        raise _no_format(source, f"name the file {_either(ends)}{option}")
    if kind not in kinds:
        raise InputError(
            f"{what} not read from {kind}",
            where=source.name,
            remedy=f"use {_either([known.upper() for known in kinds])}",
        )
    return kind


def _no_format(source: Source, remedy: str) -> InputError:
    named = f"the extension {source.suffix!r}" if source.suffix else "a name without extension"
    return InputError(f"{named} says nothing about the format", where=source.name, remedy=remedy)


def _either(names: list[str]) -> str:
    """The names as a choice."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def sniff(source: Source, options: ReadOptions, *, text: bool) -> str:
    """Tell the format from the content; text that is no table is plain text, if that is read."""
    for magic, kind in _BINARY.items():
        if source.head.startswith(magic):
            return kind
    content = beginning(source)
    start = match.start() if (match := _INK.search(content)) else 0
    end = content.find("\n", start) if "\n" in content[start:] else len(content)
    line = content[start:end]
    if line[0] == "{" and _one_record(line, more=_INK.search(content, end) is not None):
        return "jsonl"
    if line[0] in "[{":
        return "json"
    kind = "tsv" if "\t" in line and options.delimiter is None else "csv"
    if text and TOKEN_LINE.fullmatch(line.rstrip("\r")):
        return "flickr"
    table = not text or _names_an_id(header(content, options, kind), options)
    return kind if table else "txt"


def beginning(source: Source) -> str:
    """Return the text that an input begins with; all of it where that is small."""
    if not source.is_large or source.head[:2] in UTF16:
        return source.text
    return source.head[: source.head.rfind(b"\n") + 1].decode("utf-8", "replace").lstrip("\ufeff")


def header(text: str, options: ReadOptions, kind: str) -> list[str]:
    """The cells of the first line of a table; a text that is no table has some, too."""
    delimiter = options.delimiter or ("\t" if kind == "tsv" else ",")
    line = text[: text.find("\n")] if "\n" in text else text
    return [cell.removeprefix('"').removesuffix('"') for cell in line.strip().split(delimiter)]


def _names_an_id(cells: list[str], options: ReadOptions) -> bool:
    if len(cells) < 2:
        return False
    return any(cell == options.id_column or cell.strip().casefold() in IDS for cell in cells)


def _one_record(line: str, *, more: bool) -> bool:
    """Whether a line is an object of its own: others follow, or it has an id for a value."""
    try:
        value: Any = parse(line, "")
    except InputError:  # an object over several lines, or an error that its reader names
        return False
    return isinstance(value, dict) and (
        more or any(isinstance(value.get(key), str | int) for key in RECORD_IDS)
    )
