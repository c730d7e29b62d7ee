"""Taxonomies from what users give: objects, JSON, CSV, WordNet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.formats import format_among
from semmetrics.data.links import Placing
from semmetrics.data.places import at, shown
from semmetrics.data.source import Source, load
from semmetrics.data.strict_json import parse
from semmetrics.data.tables import Rows, field_limit
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.errors import InputError

__all__ = ["as_taxonomy", "read_taxonomy"]


def as_taxonomy(value: Any, *, options: ReadOptions = DEFAULTS) -> Taxonomy:
    """A taxonomy from what a user may give.

    Parameters
    ----------
    value : Taxonomy, mapping, iterable of pairs, array of shape (links, 2), or path
        ``{child: parent(s)}``, (child, parent) pairs, or as for ``read_taxonomy``.
    options : ReadOptions

    Raises
    ------
    InputError
        If it is none of these, or is no taxonomy.
    """
    if isinstance(value, Taxonomy):
        return value
    if isinstance(value, (str, os.PathLike)):
        return read_taxonomy(value, options)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return Taxonomy.from_parents(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return Taxonomy.from_edges(value)
    raise InputError(
        f"a {type(value).__name__} is no taxonomy", remedy='give {"cat": "animal"}, or a file'
    )


def read_taxonomy(path: str | os.PathLike[str], options: ReadOptions = DEFAULTS) -> Taxonomy:
    r"""Read a taxonomy from a file, or WordNet.

    Parameters
    ----------
    path : str or path
        JSON ``{child: parent}``, ``{child: [parents]}`` or ``[[child, parent]]``; CSV or TSV with
        the columns "child" and "parent", a link a row, where a root may have an empty parent and
        blanks are part of a name;
        "wordnet" for that of nltk; "wordnet:FOLDER" for the folder of its data.noun.
    options : ReadOptions
        The limits and the delimiter of CSV are used; the format is that of the extension.

    Raises
    ------
    InputError
        If it cannot be read; names the line or the name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "taxonomy.csv")
    >>> _ = path.write_text("child,parent\ncat,animal\n")
    >>> read_taxonomy(path).names
    ('cat', 'animal')
    """
    if isinstance(path, str) and path.partition(":")[0] == "wordnet":
        return Taxonomy.from_wordnet(path.partition(":")[2] or None)
    source = load(path, options.max_bytes)
    used = ReadOptions(
        delimiter=options.delimiter,
        max_bytes=options.max_bytes,
        max_line_bytes=options.max_line_bytes,
    )
    kind = format_among(source, used, "a taxonomy is", ("json", "csv", "tsv"))
    if kind == "json":
        value = parse(source.text, source.name)
        if isinstance(value, dict):
            return Taxonomy.from_parents(value, source=source.name)
        if isinstance(value, list):
            return Taxonomy.from_edges(value, source=source.name)
        raise InputError(
            f"{shown(value)} is no taxonomy", where=source.name, remedy='write {"cat": "animal"}'
        )
    with field_limit(used.max_line_bytes):
        links = _rows(source, used, tabs=kind == "tsv")
        return Taxonomy.from_links(links, source=source.name)


def _rows(source: Source, options: ReadOptions, *, tabs: bool) -> Placing:
    rows = Rows(source, options, tabs=tabs)
    header = [column.strip().casefold() for column in rows.header]
    if header.count("child") != 1 or header.count("parent") != 1:
        raise InputError(
            f"the columns are {', '.join(map(shown, rows.header))}",
            where=at(source.name, "line 1"),
            remedy="call one of them child and one parent, or name what separates them with "
            "delimiter (--delimiter)",
        )
    child, parent = header.index("child"), header.index("parent")
    known: dict[str, str] = {}
    for lines, batch in rows.batches():
        for line, row in zip(lines, batch, strict=True):
            where = at(source.name, f"line {line}")
            for name in (row[child], row[parent]):
                _check_blanks(name, known, where)
            yield row[child], row[parent] or None, where


def _check_blanks(name: str, known: dict[str, str], where: str) -> None:
    """Cells are kept exactly, as those of labels are; "a, b" would part a name from itself."""
    if (other := known.setdefault(name.strip(), name)) != name:
        raise InputError(
            f"{shown(name)} and {shown(other)} differ by blanks alone",
            where=where,
            remedy="write the name in one way, without blanks beside the delimiter",
        )
