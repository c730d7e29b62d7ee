"""Well-known word vectors: where they are, under which licence; fetched, checked and converted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from semmetrics.embed.converted import convert, is_converted, read_meta
from semmetrics.embed.word_formats import WORD_KINDS
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, pluralize
from semmetrics.store import cache_folder

if TYPE_CHECKING:
    from semmetrics.embed.word_vectors import WordVectors

__all__ = ["MANIFEST", "Entry", "Fetched", "fetch", "read_manifest", "vectors_folder"]

MANIFEST = Path(__file__).with_name("manifest.toml")
_REQUIRED = ("url", "kind", "dimension", "licence")
_ALTERNATIVE = "get the file otherwise and run: semmetrics embed convert FILE FOLDER"


def vectors_folder() -> Path:
    """Return the folder of fetched vectors."""
    return cache_folder() / "vectors"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Word vectors that can be fetched.

    Attributes
    ----------
    name, url, kind, licence : str
    dimension : int
    sha256 : str
        Of the file at the URL, or "" where it is not known for certain: then that of the first
        download is trusted and kept, and later ones are compared with it.
    member : str
        The file in a zip archive, or "".
    words, megabytes : int
        For information; 0 where not known.
    page : str
        Where the vectors are described.
    """

    name: str
    url: str
    kind: str
    dimension: int
    licence: str
    sha256: str = ""
    member: str = ""
    words: int = 0
    megabytes: int = 0
    page: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its converted form, once it has been fetched."""
        return vectors_folder() / self.name


def read_manifest(path: str | os.PathLike[str] | None = None) -> dict[str, Entry]:
    """Read a manifest.

    Parameters
    ----------
    path : path, optional
        A TOML file with one table a name; None is the one that comes with the package.

    Returns
    -------
    dict from name to Entry

    Raises
    ------
    InputError
        If it is missing, no TOML, or an entry is not complete; names the entry.

    Examples
    --------
    >>> read_manifest()["word2vec-googlenews-300"].dimension
    300
    """
    file = MANIFEST if path is None else Path(path)
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables = toml.loads(file.read_text("utf-8"))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"it cannot be read: {why}", where=str(file), remedy="check it") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"it is no TOML: {why}", where=str(file), remedy="correct it") from None
    return {name: _entry(name, table, str(file)) for name, table in tables.items()}


def _entry(name: str, table: Any, file: str) -> Entry:
    known = {field.name: field.type for field in fields(Entry) if field.name != "name"}
    problem = remedy = ""
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith(".") or not isinstance(table, dict):
        problem, remedy = "it is no entry", "write [name] and its keys"
    elif wrong := [key for key in table if type(table[key]).__name__ != known.get(key)]:
        problem = f"{wrong[0]} = {brief(table[wrong[0]])}"
        remedy = f"the keys are {', '.join(known)}; texts, or whole numbers for the last"
    elif missing := [key for key in _REQUIRED if key not in table]:
        problem, remedy = f"there is no {missing[0]}", f"write {missing[0]} = …"
    elif not _is_url(table["url"]):
        problem, remedy = f"url = {table['url']!r}", "only http and https are fetched"
    elif table["kind"] not in WORD_KINDS:
        problem = f"kind = {table['kind']!r}"
        remedy = f"choose one of {', '.join(WORD_KINDS)}"
    if problem:
        raise InputError(problem, where=f"{file}, {name}", remedy=remedy)
    return Entry(name=name, **table)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number
        return False


@dataclass(frozen=True)
class Fetched:
    """What was fetched.

    Attributes
    ----------
    folder : Path
        The converted vectors.
    sha256 : str
        Of the download, or "" where nothing was downloaded.
    checked : str
        What it was compared with: "manifest", the "first download" from the URL, whose SHA-256 was
        kept, or "" where this is the first.
    """

    folder: Path
    sha256: str
    checked: str


def fetch(
    entry: Entry,
    *,
    folder: str | os.PathLike[str] | None = None,
    max_words: int | None = None,
    keep: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    """Download word vectors of the manifest, check and convert them.

    Parameters
    ----------
    entry : Entry
    folder : path, optional
        Where the converted vectors go; None is the user's cache folder.
    max_words : int, optional
        Convert the first words only.
    keep : bool
        Keep the download, beside which a second fetch needs no network.
    progress : callable, optional
        Called with bytes, and then rows, done and in all.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If the network fails, the SHA-256 is another, the vectors are not those expected, or
        something else is in the folder.
    """
    from semmetrics.store.downloads import (
        download,
        download_path,
        exclusive,
        record_path,
        recorded,
    )

    target = entry.folder if folder is None else Path(folder)
    source = (
        entry.url if max_words is None else f"{entry.url}, the first {pluralize(max_words, 'word')}"
    )
    if target.exists():
        return _existing(target, entry, source)
    file = download_path(entry.url)
    with exclusive(file):
        if target.exists():  # another process has fetched it meanwhile
            return _existing(target, entry, source)
        checked = "manifest" if entry.sha256 else "first download" if recorded(entry.url) else ""
        sha256 = download(
            entry.url, file, sha256=entry.sha256, alternative=_ALTERNATIVE, progress=progress
        )
        try:
            vectors = _read(entry, file, max_words)
        except InputError:
            if not checked:  # what the server sent may not be the file at all
                file.unlink()
                record_path(entry.url).unlink(missing_ok=True)
            raise
        convert(vectors, target, licence=entry.licence, source=source, progress=progress)
        if not keep:
            file.unlink()
    return Fetched(target, sha256, checked)


def _read(entry: Entry, file: Path, max_words: int | None) -> WordVectors:
    """Read a download, and compare it with its entry."""
    from semmetrics.embed.vector_files import read_vectors

    vectors = read_vectors(
        file, kind=entry.kind, max_words=max_words, name=entry.name, member=entry.member or None
    )
    if vectors.dimension != entry.dimension:
        raise InputError(
            f"its vectors have {pluralize(vectors.dimension, 'number')}, and "
            f"{entry.dimension} were expected",
            where=str(file),
            remedy="correct the manifest, or fetch it again",
        )
    return vectors


def _existing(folder: Path, entry: Entry, source: str) -> Fetched:
    """Return the vectors that are in a folder; refuse others than those that were asked for."""
    problem, remedy = "it exists", "name a new folder, or remove it"
    if is_converted(folder):
        meta = read_meta(folder)
        if (meta["name"], meta.get("source")) == (entry.name, source):
            return Fetched(folder, "", "manifest" if entry.sha256 else "")
        problem = f"it holds other vectors: {meta['name']}, from {meta.get('source')}"
    raise InputError(problem, where=str(folder), remedy=remedy)
