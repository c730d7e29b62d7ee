"""Find the format of a file or stream.

Conventions
-----------
The extension of a file gives its format, with or without ".gz". Gzip is recognised by content.
"-" is standard input, which has no extension, so its format is recognised by content.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from semmetrics.data.form import EXTENSIONS, FILE_ID, RECORD_IDS, Form
from semmetrics.data.json_files import parse
from semmetrics.data.karpathy_files import TOKEN_LINE
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import InputError

FIRST_LINE = re.compile(r"\S[^\n]*")
"""The first line that is not blank, without the spaces before it."""

_BINARY_FORMATS = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\x89HDF": "hdf5",
}
"""Binary formats by the bytes that their files begin with."""


def format_of(source: Source, options: ReadOptions, form: Form) -> str:
    """Find the format of an input among the formats of a form.

    Raises
    ------
    InputError
        If the format is unknown, or the form cannot be read from it.
    """
    if source.suffix == ".txt":
        from semmetrics.data.dialect import table_in_text

        table_format = table_in_text(source, options, frozenset(form.columns))
        if table_format:
            return table_format
    what = f"{form.noun}s"
    return format_among(source, options, what, form.formats, has_format_option=True)


def format_among(
    source: Source,
    options: ReadOptions,
    what: str,
    kinds: Collection[str],
    *,
    has_format_option: bool = False,
) -> str:
    """Find the format of an input among the accepted formats.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        ``format`` overrides the extension and is required for unknown extensions.
    what : str
        The content of the input, for messages: "labels", or "numbers are", without its verb.
    kinds : collection of str
        Accepted formats, in the order in which messages list them. If plain text is one of them,
        a stream of text is still read as a table if it has a header with a column of ids.
    has_format_option : bool
        Whether the user can set ``format`` for this input.

    Raises
    ------
    InputError
        If the format is unknown or not accepted.
    """
    file_format = options.format or _guess_format(source, options, kinds)
    is_guessed_text = file_format == "txt" and options.format is None
    is_refused_text = is_guessed_text and has_format_option and "txt" not in kinds
    if file_format is None or is_refused_text:
        raise _unknown_extension(source, kinds, has_format_option=has_format_option)
    if file_format not in kinds:
        raise InputError(
            "wrong-format",
            source.name,
            what=what.removesuffix(" are").removesuffix(" is"),
            format=file_format,
            wanted=", ".join(kinds),
        )
    return file_format


def _guess_format(
    source: Source, options: ReadOptions, kinds: Collection[str]
) -> str | None:
    """Return the format of the extension or the content, or None if it is unknown."""
    if source.suffix is None:
        file_format: str | None = sniff(source, options, text="txt" in kinds)
    else:
        file_format = EXTENSIONS.get(source.suffix)
    is_text = file_format == "txt"
    if is_text and "flickr" in kinds and TOKEN_LINE.match(source.beginning):
        return "flickr"
    return file_format


def _unknown_extension(
    source: Source, kinds: Collection[str], *, has_format_option: bool
) -> InputError:
    """Return the error for an extension that no accepted format has."""
    extensions = []
    for extension, file_format in EXTENSIONS.items():
        if file_format in kinds:
            extensions.append(extension)
    return InputError(
        "unknown-extension",
        source.name,
        ending=source.suffix or "",
        known=", ".join(extensions),
        instead="format" if has_format_option else "",
    )


def sniff(source: Source, options: ReadOptions, *, text: bool) -> str:
    """Recognise the format of an input by its content.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    text : bool
        Whether plain text is accepted. If it is not, text that is not JSON is a table.
    """
    for magic, file_format in _BINARY_FORMATS.items():
        if source.head.startswith(magic):
            return file_format
    first_line = FIRST_LINE.search(source.beginning)
    line = ""
    if first_line is not None:
        line = first_line.group()
        if line.startswith("{"):
            return _sniff_object(source.beginning, first_line)
        if line.startswith("["):
            return "json"
    is_tabbed = "\t" in line and options.delimiter is None
    table_format = "tsv" if is_tabbed else "csv"
    if not text:
        return table_format
    return _sniff_text(source, options, line, table_format)


def _sniff_text(
    source: Source, options: ReadOptions, line: str, table_format: str
) -> str:
    """Tell apart Flickr's token file, a table with a column of ids, and plain text.

    ``table_format`` is the format of the content if it is a table.
    """
    if TOKEN_LINE.fullmatch(line.rstrip("\r")):
        return "flickr"
    from semmetrics.data.csv_rows import first_row
    from semmetrics.data.dialect import find_delimiter, has_id_name

    dialect = find_delimiter(source, options, table_format)
    header = first_row(source, dialect, tabs=table_format == "tsv")
    if len(header) > 1 and has_id_name(header, options):
        return table_format
    return "txt"


def _sniff_object(content: str, first_line: re.Match[str]) -> str:
    """Return "jsonl" if content that begins with an object consists of records, else "json"."""
    try:
        value = parse(first_line.group(), "")
    except InputError:
        # The object has several lines, or its reader will raise the error.
        return "json"
    if FIRST_LINE.search(content, first_line.end()) is not None:
        return "jsonl"
    for key in (*RECORD_IDS, FILE_ID):
        if isinstance(value.get(key), str | int):
            return "jsonl"
    return "json"
