"""Word vectors that can be downloaded, and their download.

Conventions
-----------
The manifest is a TOML file with a table for each name. It gives the address of well-known word
vectors, their kind, dimension and licence. Fetched vectors are stored in their converted form.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from semmetrics.embed.converted import convert, is_converted, read_meta
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.store.files import cache_folder

if TYPE_CHECKING:
    from semmetrics.embed.words import WordVectors

MANIFEST = Path(__file__).with_name("manifest.toml")
"""The manifest of the package."""

_NAME = re.compile(r"[\w-][\w.-]*")
_REQUIRED_KEYS = ("url", "kind", "dimension", "licence")
_ALTERNATIVE = (
    "download the file in another way and run `semmetrics embed convert FILE FOLDER`"
)


def vectors_folder() -> Path:
    """Return the folder of fetched vectors."""
    return cache_folder() / "vectors"


# ---- manifest ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False)
class Entry:
    """Word vectors that can be fetched.

    Attributes
    ----------
    name, url, kind, licence : str
    dimension : int
    sha256 : str
        The SHA-256 of the file at the URL, or "" if it is not certain. Then the first download is
        trusted, its SHA-256 is recorded, and later downloads are compared with it.
    member : str
        The file in a zip archive, or "".
    words, megabytes : int
        The number of words and the size of the download, or 0 if unknown. For information only.
    page : str
        The web page that describes the vectors.
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
        """The folder of the converted vectors, once they have been fetched."""
        return vectors_folder() / self.name


_TYPE_OF_KEY = {key.name: key.type for key in fields(Entry) if key.name != "name"}
"""The keys of a table in the manifest, and the names of their types."""


def read_manifest(path: str | os.PathLike[str] | None = None) -> dict[str, Entry]:
    """Read a manifest.

    Parameters
    ----------
    path : path, optional
        A TOML file with one table per name. Default: the manifest of the package.

    Returns
    -------
    dict from name to Entry

    Raises
    ------
    InputError
        If the file is missing or not TOML, or an entry is invalid. The message names the entry.

    Examples
    --------
    >>> read_manifest()["word2vec-googlenews-300"].dimension
    300
    """
    file = MANIFEST if path is None else Path(path)
    entries = {}
    for name, table in _parse_toml(file).items():
        where = f"{file}, {name}"
        if not _NAME.fullmatch(name) or not isinstance(table, dict):
            wanted = "a table [name] of keys"
            raise InputError("wrong-type", where, value=table, wanted=wanted)
        _check_table(table, where)
        entries[name] = Entry(name=name, **table)
    return entries


def _parse_toml(file: Path) -> dict[str, Any]:
    """Parse a TOML file."""
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables: dict[str, Any] = toml.loads(file.read_text("utf-8"))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError("unreadable", file, why=why) from None
    except (ValueError, RecursionError) as error:
        raise InputError("unreadable", file, why=f"not TOML: {error}") from None
    return tables


def _check_table(table: Mapping[str, Any], where: str) -> None:
    """Raise if a table has other keys than an `Entry`, or invalid values."""
    from semmetrics.embed.word_files import WORD_KINDS

    for key in [*table, *_REQUIRED_KEYS]:
        value = table.get(key)
        type_name = _TYPE_OF_KEY.get(key)
        if type(value).__name__ != type_name:
            wanted = type_name or f"only {', '.join(_TYPE_OF_KEY)}"
            raise InputError("bad-option", where, name=key, value=value, wanted=wanted)
    url = table["url"]
    if not _is_web_address(url):
        wanted = "an http or https address"
        raise InputError("bad-option", where, name="url", value=url, wanted=wanted)
    kind = table["kind"]
    if kind not in WORD_KINDS:
        raise InputError(
            "bad-choice", where, name="kind", value=kind, choices=WORD_KINDS
        )


def _is_web_address(url: str) -> bool:
    """Return whether a string is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets are not closed, or the port is not a number
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


# ---- download ---------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Fetched:
    """Vectors that were fetched.

    Attributes
    ----------
    folder : Path
        The converted vectors.
    sha256 : str
        The SHA-256 of the download, or "" if nothing was downloaded.
    checked : str
        The source of the expected SHA-256: the "manifest", the "first download" from the URL, or ""
        if this is the first download.
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
        The folder for the converted vectors. Default: a folder in the user's cache folder.
    max_words : int, optional
        Convert the first words only.
    keep : bool
        Keep the download, so that fetching it again needs no network.
    progress : callable, optional
        Called with the bytes, and later the rows, that are done and that are expected.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If the network fails, the SHA-256 differs, the vectors are not the expected ones, or the
        folder contains something else.
    """
    from semmetrics.store.downloads import download, download_path
    from semmetrics.store.files import exclusive

    target = entry.folder if folder is None else Path(folder)
    source = entry.url
    if max_words is not None:
        source += f", the first {pluralize(max_words, 'word')}"
    if target.exists():
        return _find_existing(target, entry, source)
    file = download_path(entry.url)
    with exclusive(file):
        if target.exists():  # another process has fetched it meanwhile
            return _find_existing(target, entry, source)
        checked = _source_of_digest(entry)
        sha256 = download(
            entry.url,
            file,
            sha256=entry.sha256,
            instead=_ALTERNATIVE,
            progress=progress,
        )
        try:
            vectors = _read_download(file, entry, max_words)
        except InputError:
            if not checked:  # the server may have sent something else
                _forget_download(file, entry)
            raise
        convert(
            vectors, target, licence=entry.licence, source=source, progress=progress
        )
        if not keep:
            file.unlink()
    return Fetched(target, sha256, checked)


def _find_existing(folder: Path, entry: Entry, source: str) -> Fetched:
    """Return the vectors in a folder, and raise if they are other vectors than the entry's."""
    if not is_converted(folder):
        raise InputError("exists", folder)
    meta = read_meta(folder)
    name = meta["name"]
    source_of_folder = meta.get("source")
    if name != entry.name or source_of_folder != source:
        found = f"{name}, from {source_of_folder}"
        raise InputError("other-vectors", folder, found=found)
    return Fetched(folder, "", "manifest" if entry.sha256 else "")


def _source_of_digest(entry: Entry) -> str:
    """Return the source of the expected SHA-256 of a download, as in `Fetched`."""
    from semmetrics.store.downloads import recorded_digest

    if entry.sha256:
        return "manifest"
    if recorded_digest(entry.url):
        return "first download"
    return ""


def _read_download(file: Path, entry: Entry, max_words: int | None) -> WordVectors:
    """Open downloaded vectors, and raise if they do not have the expected dimension."""
    from semmetrics.embed.word_files import read_vectors

    vectors = read_vectors(
        file,
        kind=entry.kind,
        max_words=max_words,
        name=entry.name,
        member=entry.member or None,
    )
    if vectors.dimension != entry.dimension:
        raise InputError(
            "wrong-shape",
            file,
            role="the file",
            shape=(len(vectors), vectors.dimension),
            wanted=f"dimension {entry.dimension}, or correct the manifest",
        )
    return vectors


def _forget_download(file: Path, entry: Entry) -> None:
    """Remove a download and the SHA-256 that was recorded for it."""
    from semmetrics.store.downloads import record_path

    file.unlink()
    record_path(entry.url).unlink(missing_ok=True)
