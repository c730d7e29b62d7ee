"""Recognise tables that another program wrote: other delimiters, and tables in a .txt file.

Conventions
-----------
The header decides. A table is split at the delimiter of its format if a column of ids then has a
usual name, otherwise at the first of ``, ; | tab`` for which that holds. A ``.txt`` file is a table
if its first line has the names of a column of ids and of a column of entries, as in Kaggle's
``image,caption``. Otherwise it is plain text. Options that name a format or a delimiter are obeyed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from dataclasses import replace

from semmetrics.data.csv_rows import first_row
from semmetrics.data.form import FILE_ID
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import InputError, at
from semmetrics.messages import shown
from semmetrics.schema import ID_NAMES

_DELIMITERS = (",", ";", "|", "\t")
_SHOWN = {"\t": "tabs"}
_FILE_LINE = re.compile(
    r"\S+\.(?:jpe?g|png|bmp|gif|webp|tiff?)\s*(?:[,;|\t]|\s)\s*\S", re.IGNORECASE
)
_NUMBER_LINE = re.compile(r"\d+\t\s*\S")
_FAIRSEQ_LINE = re.compile(r"[DHPST]-\d+\t")  # of fairseq-generate
# also 0/1 of NUS-WIDE
_ONLY_NUMBERS = re.compile(r"[-+.\d]*\d(?:[\s,;]+[-+.\d]*\d)*\s*")
_MARKED_LINE = re.compile(r"\S*\d\s+(?:-1|0|1)\s*")  # as VOC's list of each class
_JSON_START = re.compile(r"""\s*(?:\{\s*"|\[\s*[\[{"])""")
_CHECKED_LINES = 20  # of a plain text that may be a table without a header


def find_delimiter(source: Source, options: ReadOptions, kind: str) -> ReadOptions:
    """Return the options to read a table with, whose delimiter is that of its header.

    Parameters
    ----------
    source : Source
    options : ReadOptions
        They stay as they are if they name a delimiter, or if the delimiter of the format fits.
    kind : {"csv", "tsv"}
    """
    if options.delimiter is not None:
        return options
    usual = "\t" if kind == "tsv" else ","
    if names_id(_header(source, options, usual), options):
        return options
    for delimiter in _DELIMITERS:
        names = _header(source, options, delimiter)
        if delimiter != usual and len(names) > 1 and names_id(names, options):
            return replace(options, delimiter=delimiter)
    return options


def describe_delimiter(options: ReadOptions, used: ReadOptions) -> str:
    """Return how a table was split if nobody named its delimiter."""
    if options.delimiter is not None or used.delimiter is None:
        return ""
    return f", cells separated by {_SHOWN.get(used.delimiter, repr(used.delimiter))}"


def table_in_text(
    source: Source, options: ReadOptions, entry_names: Set[str]
) -> str | None:
    """Return the format of a table in a .txt file, or None if it is plain text.

    Parameters
    ----------
    source : Source
    options : ReadOptions
    entry_names : set of str
        What a column of entries may be called.
    """
    if options.format is not None or source.suffix != ".txt":
        return None
    delimiters = _DELIMITERS if options.delimiter is None else (options.delimiter,)
    for delimiter in delimiters:
        names = _header(source, options, delimiter)
        folded = [name.strip().casefold() for name in names]
        if (
            len(names) > 1
            and names_id(names, options)
            and not entry_names.isdisjoint(folded)
        ):
            return "tsv" if delimiter == "\t" else "csv"
    return None


def check_plain_text(source: Source, lines: Sequence[str]) -> None:
    """Raise if lines of plain text begin with the ids of items, or are JSON.

    Raises
    ------
    InputError
        The message names the first line, and the option that reads the file.
    """
    filled = [line for line in lines[:_CHECKED_LINES] if line.strip()]
    if not filled:
        return
    where = at(source.name, f"line {lines.index(filled[0]) + 1}")
    if _is_json(filled[0]):
        raise InputError("text-is-json", where, value=shown(filled[0]))
    if all(map(_FAIRSEQ_LINE.match, filled)):
        raise InputError("fairseq-lines", where, value=shown(filled[0]))
    for pattern in (_FILE_LINE, _NUMBER_LINE):
        if all(map(pattern.match, filled)):
            raise InputError("ids-in-text", where, value=shown(filled[0]))
    for pattern in (_ONLY_NUMBERS, _MARKED_LINE):
        if len(filled) > 1 and all(map(pattern.fullmatch, filled)):
            raise InputError("numbers-in-text", where, value=shown(filled[0]))


def _is_json(line: str) -> bool:
    """Tell whether a line is a JSON object or list, or begins one."""
    if not _JSON_START.match(line):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _header(source: Source, options: ReadOptions, delimiter: str) -> list[str]:
    return first_row(source, replace(options, delimiter=delimiter))


def names_id(names: Sequence[str], options: ReadOptions) -> bool:
    """Tell whether a column of ids has a usual name, or the name that an option gives."""
    if options.id_column is not None:
        return options.id_column in names
    known = {*ID_NAMES, FILE_ID}
    return any(name.strip().casefold() in known for name in names)
