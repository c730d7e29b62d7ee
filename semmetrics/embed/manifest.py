"""The well-known word vectors: where they are, what they are, and under which licence."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from semmetrics.embed.folders import vectors_folder
from semmetrics.embed.vectors import KINDS
from semmetrics.errors import InputError

__all__ = ["MANIFEST", "Entry", "read_manifest"]

MANIFEST = Path(__file__).with_name("manifest.toml")
_REQUIRED = ("url", "kind", "dimension", "licence")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Word vectors that can be fetched.

    Attributes
    ----------
    name, url, kind, licence : str
    dimension : int
    sha256 : str
        Of the file at the URL, or "" where it is not known for certain.
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
        """Where its converted form is, once it has been fetched."""
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
    except ValueError as error:
        raise InputError(f"it is no TOML: {error}", where=str(file), remedy="correct it") from None
    return {name: _entry(name, table, str(file)) for name, table in tables.items()}


def _entry(name: str, table: Any, file: str) -> Entry:
    where = f"{file}, {name}"
    known = {field.name: field.type for field in fields(Entry) if field.name != "name"}
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith(".") or not isinstance(table, dict):
        raise InputError("it is no entry", where=where, remedy="write [name] and its keys")
    for key, value in table.items():
        if key not in known or type(value).__name__ != known[key]:
            raise InputError(
                f"{key} = {value!r}",
                where=where,
                remedy=f"the keys are {', '.join(known)}; texts, or whole numbers for the last",
            )
    missing = [key for key in _REQUIRED if key not in table]
    if missing:
        raise InputError(f"there is no {missing[0]}", where=where, remedy=f"write {missing[0]} = …")
    if not _is_url(table["url"]):
        raise InputError(
            f"url = {table['url']!r}", where=where, remedy="only http and https are fetched"
        )
    if table["kind"] not in KINDS:
        raise InputError(
            f"kind = {table['kind']!r}", where=where, remedy=f"choose one of {', '.join(KINDS)}"
        )
    return Entry(name=name, **table)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is no number
        return False
