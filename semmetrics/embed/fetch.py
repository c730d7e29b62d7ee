"""Well-known word vectors: where they are, under which licence; fetched, checked and converted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semmetrics.embed.word_files import WORD_KINDS, read_vectors
from semmetrics.embed.words import convert, is_converted, read_meta
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.store.files import cache_folder

MANIFEST = Path(__file__).with_name("manifest.toml")
_REQUIRED = ("url", "kind", "dimension", "licence")
_INSTEAD = "get the file otherwise and run: semmetrics embed convert FILE FOLDER"


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
        Of the file at the URL, or "" if it is not known for certain: then that of the first
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
        If it is missing, not TOML, or an entry is not complete; names the entry.

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
        raise InputError("unreadable", file, why=error.strerror or type(error).__name__) from None
    except (ValueError, RecursionError) as error:
        raise InputError("unreadable", file, why=f"not TOML: {error}") from None
    return {name: _read_entry(name, table, f"{file}, {name}") for name, table in tables.items()}


def _read_entry(name: str, table: Any, where: str) -> Entry:
    known = {field.name: field.type for field in fields(Entry) if field.name != "name"}
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith(".") or not isinstance(table, dict):
        raise InputError("wrong-type", where, value=table, wanted="a table [name] of keys")
    for key in [*table, *_REQUIRED]:
        value = table.get(key)
        if type(value).__name__ != known.get(key):
            wanted = known.get(key) or f"only {', '.join(known)}"
            raise InputError("bad-option", where, name=key, value=value, wanted=wanted)
    try:
        url = urlsplit(table["url"])
        fits = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # brackets that do not close, a port that is not a number
        fits = False
    if not fits:
        wanted = "an http or https address"
        raise InputError("bad-option", where, name="url", value=table["url"], wanted=wanted)
    if table["kind"] not in WORD_KINDS:
        value = table["kind"]
        raise InputError("bad-choice", where, name="kind", value=value, choices=WORD_KINDS)
    return Entry(name=name, **table)


@dataclass(frozen=True)
class Fetched:
    """What was fetched.

    Attributes
    ----------
    folder : Path
        The converted vectors.
    sha256 : str
        Of the download, or "" if nothing was downloaded.
    checked : str
        What it was compared with: "manifest", the "first download" from the URL, whose SHA-256 was
        kept, or "" if this is the first.
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
    from semmetrics.store.downloads import download, download_path, exclusive, record_path, recorded

    target = entry.folder if folder is None else Path(folder)
    source = entry.url
    if max_words is not None:
        source += f", the first {pluralize(max_words, 'word')}"
    if target.exists():
        return _existing(target, entry, source)
    file = download_path(entry.url)
    with exclusive(file):
        if target.exists():  # another process has fetched it meanwhile
            return _existing(target, entry, source)
        checked = "manifest" if entry.sha256 else "first download" if recorded(entry.url) else ""
        sha256 = download(entry.url, file, sha256=entry.sha256, instead=_INSTEAD, progress=progress)
        names: Any = {"kind": entry.kind, "name": entry.name, "member": entry.member or None}
        try:
            vectors = read_vectors(file, max_words=max_words, **names)
            if vectors.dimension != entry.dimension:
                shape = (len(vectors), vectors.dimension)
                wanted = f"dimension {entry.dimension}, or correct the manifest"
                raise InputError("wrong-shape", file, role="the file", shape=shape, wanted=wanted)
        except InputError:
            if not checked:  # what the server sent may not be the file at all
                file.unlink()
                record_path(entry.url).unlink(missing_ok=True)
            raise
        convert(vectors, target, licence=entry.licence, source=source, progress=progress)
        if not keep:
            file.unlink()
    return Fetched(target, sha256, checked)


def _existing(folder: Path, entry: Entry, source: str) -> Fetched:
    """Return the vectors that are in a folder; refuse others than those that were asked for."""
    if not is_converted(folder):
        raise InputError("exists", folder)
    meta = read_meta(folder)
    if (meta["name"], meta.get("source")) != (entry.name, source):
        found = f"{meta['name']}, from {meta.get('source')}"
        raise InputError("other-vectors", folder, found=found)
    return Fetched(folder, "", "manifest" if entry.sha256 else "")
