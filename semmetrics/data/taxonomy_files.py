"""Readers of taxonomies: mappings, pairs, tables, files and WordNet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_tables import opened, read_side_table
from semmetrics.data.source import Source
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.data.wordnet import read_wordnet
from semmetrics.errors import InputError
from semmetrics.schema import LINKS, Table

_TAXONOMY_FORMATS = ("json", "csv", "tsv")


def as_taxonomy(value: Any, *, options: ReadOptions = DEFAULTS) -> Taxonomy:
    r"""Return the taxonomy that a user provides.

    Parameters
    ----------
    value : Taxonomy, mapping, iterable of pairs, array of shape (links, 2), frame, or path
        ``{child: parent(s)}``, (child, parent) pairs, or a table with such columns. A path is of
        JSON ``{child: parent}``, ``{child: [parents]}`` or ``[[child, parent]]``, or of CSV or TSV
        with the columns "child" and "parent" and one link per row. In a table, a root may have an
        empty parent, and spaces are part of a name. The string "wordnet" is WordNet as nltk
        installs it, and "wordnet:FOLDER" the folder of its data.noun.
    options : ReadOptions
        The limits and the delimiter of CSV apply to paths. The extension determines the format.

    Raises
    ------
    InputError
        If the value is something else, cannot be read, or is not a taxonomy. The message names the
        line or the name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "taxonomy.csv")
    >>> _ = path.write_text("child,parent\ncat,animal\n")
    >>> as_taxonomy(path).names
    ('cat', 'animal')
    """
    if isinstance(value, Taxonomy):
        return value
    if isinstance(value, str):
        prefix, _, folder = value.partition(":")
        if prefix == "wordnet":
            return read_wordnet(folder or None, max_bytes=options.max_bytes)
    if isinstance(value, (str, os.PathLike)):
        options = options.for_side_inputs()
    with opened(value, options) as data:
        source = "taxonomy"
        if isinstance(data, Source):
            source = data.name
            file_format = format_among(
                data, options, "a taxonomy is", _TAXONOMY_FORMATS
            )
            if file_format == "json":
                data = data.parsed(parse_source)
        if isinstance(data, Mapping):
            return Taxonomy.from_parents(data, source)
        table = read_side_table(data, LINKS, options, source)
    if table.names:
        _check_spaces(table)
    taxonomy = Taxonomy.from_links(_links_of_table(table), table.source)
    return replace(taxonomy, notes=table.notes)


def _list_links(table: Table) -> Iterator[tuple[Any, Any]]:
    """Yield the child and the parent of each row."""
    children = table.columns.get("child", ())
    parents = table.columns.get("parent", ())
    return zip(children, parents, strict=True)


def _check_spaces(table: Table) -> None:
    """Raise an error if two names differ only by surrounding spaces.

    Cells are read verbatim, as labels are, so "a, b" would make " b" another name than "b".
    """
    first_spelling: dict[str, str] = {}
    for row, link in enumerate(_list_links(table)):
        for name in link:
            if not isinstance(name, str):
                continue
            other = first_spelling.setdefault(name.strip(), name)
            if other != name:
                where = table.where(row)
                raise InputError("differ-by-blanks", where, names=[other, name])


def _links_of_table(table: Table) -> Iterator[tuple[Any, Any, str]]:
    """Yield the links of a table with their places."""
    for row, (child, parent) in enumerate(_list_links(table)):
        # With a header, the cell of a root is empty.
        if table.names and parent in ("", None):
            parent = None
        yield child, parent, table.where(row)
