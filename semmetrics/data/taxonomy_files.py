"""Taxonomies from what users give: objects, JSON, CSV, WordNet.

Conventions
-----------
WordNet is read from its own files data.noun and index.noun (their format: wndb(5)): noun synsets
under their hypernyms, instances under their instance hypernyms.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.inputs import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, columns_not_used, field_limit
from semmetrics.data.taxonomy import MAX_PAIRS, Links, Taxonomy
from semmetrics.errors import InputError, MissingDependencyError, at
from semmetrics.messages import a_kind, shown

__all__ = ["as_taxonomy", "read_taxonomy", "read_wordnet"]


def as_taxonomy(value: Any, *, options: ReadOptions = DEFAULTS) -> Taxonomy:
    """Make a taxonomy of what a user may give.

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
    raise InputError(f"{a_kind(value)} is no taxonomy", remedy='give {"cat": "animal"}, or a file')


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
        return read_wordnet(path.partition(":")[2] or None, max_bytes=options.max_bytes)
    source = load(path, options.max_bytes)
    with enough_memory(source.name, options.max_bytes):
        return _read_source(source, options)


def _read_source(source: Source, options: ReadOptions) -> Taxonomy:
    used = options.beside()
    kind = format_among(source, used, "a taxonomy is", ("json", "csv", "tsv"))
    if kind == "json":
        value = parse_source(source)
        if isinstance(value, dict):
            return Taxonomy.from_parents(value, source=source.name)
        if isinstance(value, list):
            return Taxonomy.from_edges(value, source=source.name)
        raise InputError(
            f"{shown(value)} is no taxonomy", where=source.name, remedy='write {"cat": "animal"}'
        )
    with field_limit(used.max_line_bytes):
        notes: list[str] = []
        links = _rows(source, used, notes, tabs=kind == "tsv")
        return replace(Taxonomy.from_links(links, source=source.name), notes=notes)


def _rows(source: Source, options: ReadOptions, notes: list[str], *, tabs: bool) -> Links:
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
    unused = columns_not_used(rows.header, (child, parent))
    notes += [f"{source.name}: {note}" for note in unused]
    known: dict[str, str] = {}
    for line, row in rows:
        where = at(source.name, f"line {line}")
        for name in (row[child], row[parent]):
            # cells are kept exactly, as those of labels are: "a, b" would part a name from itself
            if (other := known.setdefault(name.strip(), name)) != name:
                raise InputError(
                    f"{shown(name)} and {shown(other)} differ by blanks alone",
                    where=where,
                    remedy="write the name in one way, without blanks beside the delimiter",
                )
        yield row[child], row[parent] or None, where


def read_wordnet(
    folder: str | os.PathLike[str] | None = None,
    *,
    max_pairs: int = MAX_PAIRS,
    max_bytes: int = DEFAULTS.max_bytes,
) -> Taxonomy:
    """Read WordNet's noun synsets.

    Parameters
    ----------
    folder : path, optional
        Where WordNet's files data.noun and index.noun are; where nltk keeps them, otherwise.
    max_pairs : int
        The most pairs of a synset and its ancestor.
    max_bytes : int
        The most bytes of a file.

    Raises
    ------
    InputError
        If the files are not there, or cannot be understood.
    MissingDependencyError
        If nltk is needed and not installed.
    """
    index, data = (_file(name, folder, max_bytes) for name in ("index.noun", "data.noun"))
    senses: dict[str, list[str]] = dict(_lines(index, _index_entry))
    links, names = _synsets(data, senses)
    made = Taxonomy.from_links(links, source=data.name, max_pairs=max_pairs)
    lookup = dict(made.lookup)
    for lemma, found in senses.items():
        lookup.setdefault(lemma, made.lookup[names[found[0]]])
    return replace(made, lookup=lookup, identity=f"wordnet:{made.identity}", lemmas=True)


def _file(name: str, folder: str | os.PathLike[str] | None, max_bytes: int) -> Source:
    if folder is not None:
        return load(Path(folder) / name, max_bytes)
    try:
        nltk: Any = importlib.import_module("nltk.data")
    except ImportError as error:
        raise MissingDependencyError(
            "nltk", "finding WordNet", extra="wordnet", error=error
        ) from error
    try:
        pointer = nltk.find(f"corpora/wordnet/{name}")
    except LookupError:
        raise InputError(
            "nltk has no WordNet data",
            remedy="run: python -m nltk.downloader wordnet, or write wordnet:FOLDER with the "
            "folder of WordNet's data.noun",
        ) from None
    try:
        with pointer.open() as stream:
            return Source(f"nltk's {name}", stream.read(), None)
    except OSError as error:
        raise InputError(
            f"nltk cannot read WordNet: {error}",
            remedy="check its data, or write wordnet:FOLDER with the folder of data.noun",
        ) from None


def _lines(source: Source, read: Callable[[str], Any]) -> Iterator[Any]:
    for number, line in enumerate(source.text.splitlines(), 1):
        if line and not line.startswith("  "):  # the licence is indented
            try:
                yield read(line)
            except (ValueError, IndexError):
                raise InputError(
                    "it is no line of WordNet's noun files",
                    where=at(source.name, f"line {number}"),
                    remedy="give the folder of WordNet 3's data.noun and index.noun",
                ) from None


def _index_entry(line: str) -> tuple[str, list[str]]:
    """Read a lemma, and the offsets of its synsets by rank."""
    parts = line.split()
    senses = int(parts[2])
    found = parts[-senses:]
    if senses < 1 or not all(map(str.isdecimal, found)):
        raise ValueError(line)
    return parts[0], found


def _data_entry(line: str) -> tuple[str, str, list[str]]:
    """Read the offset of a synset, its first word, and the offsets of its hypernyms."""
    parts = line.partition(" | ")[0].split()
    end = 4 + 2 * int(parts[3], 16)
    pointers = parts[end + 1 : end + 1 + 4 * int(parts[end])]
    above = [
        target
        for symbol, target, kind in zip(pointers[::4], pointers[1::4], pointers[2::4], strict=True)
        if symbol in ("@", "@i") and kind == "n"
    ]
    return parts[0], parts[4].lower(), above


def _synsets(
    data: Source, senses: Mapping[str, list[str]]
) -> tuple[list[tuple[str, str | None, str]], dict[str, str]]:
    """Links of synsets by name, and the name of each offset."""
    names: dict[str, str] = {}
    above: dict[str, list[str]] = {}
    for offset, word, hypernyms in _lines(data, _data_entry):
        try:
            names[offset] = f"{word}.n.{senses[word].index(offset) + 1:02}"
        except (KeyError, ValueError):
            raise _mismatch(data, f"{word!r} at {offset}") from None
        above[offset] = hypernyms
    known = {*names}
    lost = {o for every in (*senses.values(), *above.values()) for o in every} - known
    if lost:
        raise _mismatch(data, f"no synset at {min(lost)}")
    links: list[tuple[str, str | None, str]] = []
    for offset, every in above.items():
        parents: list[str | None] = [names[target] for target in every]
        links += [(names[offset], parent, data.name) for parent in parents or [None]]
    return links, names


def _mismatch(data: Source, what: str) -> InputError:
    return InputError(
        f"index.noun and data.noun do not belong together: {what}",
        where=data.name,
        remedy="take both from one version of WordNet",
    )
