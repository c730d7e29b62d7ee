"""Recognise tables that another program wrote: other delimiters, and tables in a .txt file.

Conventions
-----------
The header decides. A table is split at the usual delimiter of its format if the header then has a
column of ids. Otherwise it is split at the first of ``, ; | tab`` that gives a column of ids. A
``.txt`` file is a table if its first line names a column of ids and a column of entries, such as
``image,caption`` from Kaggle. Otherwise it is plain text. Options for the format and the delimiter
take precedence over the header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from dataclasses import replace

from semmetrics.data.csv_rows import first_row
from semmetrics.data.input_columns import has_usual_id_name
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import InputError, format_place
from semmetrics.messages import shown

_DELIMITERS = (",", ";", "|", "\t")
_DELIMITER_NAMES = {"\t": "tabs"}
_FILE_LINE = re.compile(
    r"\S+\.(?:jpe?g|png|bmp|gif|webp|tiff?)\s*(?:[,;|\t]|\s)\s*\S", re.IGNORECASE
)
_NUMBER_LINE = re.compile(r"\d+\t\s*\S")
_FAIRSEQ_LINE = re.compile(r"[DHPST]-\d+\t")
"""A line of the output of fairseq-generate."""
_ONLY_NUMBERS = re.compile(r"[-+.\d]*\d(?:[\s,;]+[-+.\d]*\d)*\s*")
"""A line of numbers, such as the 0 and 1 in the files of NUS-WIDE."""
_MARKED_LINE = re.compile(r"\S*\d\s+(?:-1|0|1)\s*")
"""An image and its mark, as in the list of each class of PASCAL VOC."""
_JSON_START = re.compile(r"""\s*(?:\{\s*"|\[\s*[\[{"])""")
_MAX_LINES_TO_CHECK = 20
"""How many lines of plain text are checked for being a table without a header, or JSON."""


def find_delimiter(source: Source, options: ReadOptions, kind: str) -> ReadOptions:
    """Return the options for reading a table, with the delimiter that its header uses.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        Returned unchanged if they set a delimiter, or if the usual delimiter fits.
    kind : {"csv", "tsv"}
    """
    if options.delimiter is not None:
        return options
    usual = "\t" if kind == "tsv" else ","
    if has_id_name(_header(source, options, usual), options):
        return options
    for delimiter in _DELIMITERS:
        names = _header(source, options, delimiter)
        if delimiter != usual and len(names) > 1 and has_id_name(names, options):
            return replace(options, delimiter=delimiter)
    return options


def describe_delimiter(options: ReadOptions, used: ReadOptions) -> str:
    """Describe the delimiter that was detected, or return "" if it was set or is the usual one."""
    delimiter = used.delimiter
    if options.delimiter is not None or delimiter is None:
        return ""
    return f", cells separated by {_DELIMITER_NAMES.get(delimiter, repr(delimiter))}"


def table_in_text(
    source: Source, options: ReadOptions, entry_names: Set[str]
) -> str | None:
    """Return the format of a table in a .txt file, or None if it is plain text.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    entry_names : set of str
        The usual names of a column of entries.
    """
    if options.format is not None or source.suffix != ".txt":
        return None
    delimiters = _DELIMITERS if options.delimiter is None else (options.delimiter,)
    for delimiter in delimiters:
        names = _header(source, options, delimiter)
        folded = [name.strip().casefold() for name in names]
        has_entries = not entry_names.isdisjoint(folded)
        if len(names) > 1 and has_id_name(names, options) and has_entries:
            return "tsv" if delimiter == "\t" else "csv"
    return None


def check_plain_text(source: Source, lines: Sequence[str]) -> None:
    """Raise if lines of plain text begin with the ids of items, or are JSON.

    Raises
    ------
    InputError
        The message names the first line, and the option that reads the file.
    """
    nonblank_lines = [line for line in lines[:_MAX_LINES_TO_CHECK] if line.strip()]
    if not nonblank_lines:
        return
    first_line = nonblank_lines[0]
    where = format_place(source.name, f"line {lines.index(first_line) + 1}")
    if _is_json(first_line):
        raise InputError("text-is-json", where, value=shown(first_line))
    if all(map(_FAIRSEQ_LINE.match, nonblank_lines)):
        raise InputError("fairseq-lines", where, value=shown(first_line))
    for pattern in (_FILE_LINE, _NUMBER_LINE):
        if all(map(pattern.match, nonblank_lines)):
            raise InputError("ids-in-text", where, value=shown(first_line))
    for pattern in (_ONLY_NUMBERS, _MARKED_LINE):
        if len(nonblank_lines) > 1 and all(map(pattern.fullmatch, nonblank_lines)):
            raise InputError("numbers-in-text", where, value=shown(first_line))


def _is_json(line: str) -> bool:
    """Return whether a line is a JSON object or list that contains something."""
    if not _JSON_START.match(line):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _header(source: Source, options: ReadOptions, delimiter: str) -> list[str]:
    return first_row(source, replace(options, delimiter=delimiter))


def has_id_name(names: Sequence[str], options: ReadOptions) -> bool:
    """Return whether one of the names is set by an option, or is usual, for a column of ids.

    The column of an option must be among the names, because these may be split at a delimiter that
    the table does not use.
    """
    if options.id_column is not None:
        return options.id_column in names
    return has_usual_id_name(names)
