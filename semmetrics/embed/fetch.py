"""Downloads that go on where they stopped, are checked, and end as converted vectors."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import unquote, urlsplit

from semmetrics._version import __version__
from semmetrics.embed.buffers import file_digest
from semmetrics.embed.compact import convert, is_converted, meta_of
from semmetrics.embed.folders import cache_folder
from semmetrics.embed.manifest import Entry
from semmetrics.embed.vectors import read_vectors
from semmetrics.errors import InputError

__all__ = ["Fetched", "download", "fetch"]

_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Fetched:
    """What was fetched.

    Attributes
    ----------
    folder : Path
        The converted vectors.
    sha256 : str
        Of the download, or "" where nothing was downloaded.
    checked : bool
        Whether the manifest says which SHA-256 it must have.
    """

    folder: Path
    sha256: str
    checked: bool


def fetch(
    entry: Entry,
    *,
    folder: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    keep: bool = False,
    progress: Progress | None = None,
) -> Fetched:
    """Download word vectors of the manifest, check and convert them.

    Parameters
    ----------
    entry : Entry
    folder : path, optional
        Where the converted vectors go; None is the user's cache folder.
    limit : int, optional
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
    target = entry.folder if folder is None else Path(folder)
    source = entry.url if limit is None else f"{entry.url}, the first {limit:,} words"
    if is_converted(target):
        _check_there(target, entry, source)
        return Fetched(target, "", bool(entry.sha256))
    if target.exists():
        raise InputError("it exists", where=str(target), remedy="name a new folder, or remove it")
    file = cache_folder() / "downloads" / _file_name(entry)
    if not file.is_file():
        download(entry.url, file, progress=progress)
    sha256 = file_digest(file)
    if entry.sha256 and sha256 != entry.sha256:
        file.unlink()
        raise InputError(
            f"its SHA-256 is {sha256}, and {entry.sha256} was expected",
            where=entry.url,
            remedy="it was removed; fetch it again, or see whether the file was replaced",
        )
    vectors = read_vectors(
        file, kind=entry.kind, limit=limit, name=entry.name, member=entry.member or None
    )
    if vectors.dimension != entry.dimension:
        raise InputError(
            f"its vectors have {vectors.dimension} numbers, and {entry.dimension} were expected",
            where=str(file),
            remedy="correct the manifest, or fetch it again",
        )
    convert(vectors, target, licence=entry.licence, source=source, progress=progress)
    if not keep:
        file.unlink()
    return Fetched(target, sha256, bool(entry.sha256))


def _file_name(entry: Entry) -> str:
    """The name of a download, which no file of another URL has."""
    name = Path(unquote(urlsplit(entry.url).path)).name or entry.name
    return f"{hashlib.sha256(entry.url.encode()).hexdigest()[:8]}-{name}"


def _check_there(folder: Path, entry: Entry, source: str) -> None:
    """Refuse a folder in which other vectors are than those that were asked for."""
    meta = meta_of(folder)
    if (meta["name"], meta.get("source")) != (entry.name, source):
        raise InputError(
            f"it holds other vectors: {meta['name']}, from {meta.get('source')}",
            where=str(folder),
            remedy="name a new folder, or remove it",
        )


def download(url: str, file: Path, *, progress: Progress | None = None) -> None:
    """Download a file; what is there of an earlier attempt is gone on with.

    Parameters
    ----------
    url : str
    file : Path
        It appears when it is complete; until then it is beside it with the ending ``.part``.
    progress : callable, optional
        Called with bytes done and in all.

    Raises
    ------
    InputError
        If the server cannot be reached or does not send all; says how to go on.
    """
    part, tag = file.with_name(f"{file.name}.part"), file.with_name(f"{file.name}.tag")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _opened(url, part, tag) as answer:
            _receive(answer, part, tag, progress)
    except urllib.error.HTTPError as error:
        _again(error, part, tag)
        raise InputError(
            f"the server answers {error.code} {error.reason}",
            where=url,
            remedy="see whether the file has moved, or get it otherwise and convert it: "
            "semmetrics embed convert FILE FOLDER",
        ) from None
    except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
        have = part.stat().st_size if part.is_file() else 0
        raise InputError(
            f"it cannot be fetched: {getattr(error, 'reason', None) or error!r}",
            where=url,
            remedy="check the network and run the same command again"
            + (f"; it goes on after the {have:,} bytes that are here" if have else "")
            + "; or get the file otherwise and run: semmetrics embed convert FILE FOLDER",
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(
            f"it cannot be written: {why}",
            where=str(part),
            remedy="check its folder and the free space",
        ) from None
    part.replace(file)
    tag.unlink(missing_ok=True)


def _again(error: urllib.error.HTTPError, part: Path, tag: Path) -> None:
    """Forget a part that the server cannot go on with."""
    if error.code == 416:
        part.unlink(missing_ok=True)
        tag.unlink(missing_ok=True)


def _opened(url: str, part: Path, tag: Path) -> HTTPResponse:
    headers = {"User-Agent": f"semmetrics/{__version__}", "Accept-Encoding": "identity"}
    have = part.stat().st_size if part.is_file() else 0
    # Without a tag nothing says that the part is of the file that is there now.
    if have and tag.is_file():
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text("utf-8")}
    request = urllib.request.Request(url, headers=headers)
    answer: HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT)
    return answer


def _receive(answer: HTTPResponse, part: Path, tag: Path, progress: Progress | None) -> None:
    """Write what comes; from the start where the server does not go on."""
    span = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    have = part.stat().st_size if part.is_file() else 0
    goes_on = answer.status == 206 and span is not None and int(span[1]) == have
    done = have if goes_on else 0
    size = int(answer.headers.get("Content-Length") or 0)
    total = done + size
    if size and shutil.disk_usage(part.parent).free < size:
        raise InputError(
            f"{size:,} bytes are to come, and there is no room for them",
            where=str(part.parent),
            remedy="make room, or name another folder in SEMMETRICS_HOME",
        )
    mark = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
    if mark and not mark.startswith("W/"):
        tag.write_text(mark, "utf-8")
    with part.open("ab" if goes_on else "wb") as file:
        while data := answer.read(_CHUNK):
            file.write(data)
            done += len(data)
            if progress is not None:
                progress(done, max(total, done))
    if size and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")
