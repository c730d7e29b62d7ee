"""Downloads that go on where they stopped, are checked, and are made by one process at a time."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, TypeAlias
from urllib.parse import unquote, urlsplit

from semmetrics._version import __version__
from semmetrics.errors import InputError
from semmetrics.store import cache_folder, file_digest, lock

__all__ = ["Progress", "download", "download_path", "exclusive"]

_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
_PAUSE = 0.1  # seconds between two attempts to lock a file
Progress: TypeAlias = Callable[[int, int], None]


def download_path(url: str) -> Path:
    """Return where a download is kept: a file that no other URL has."""
    name = Path(unquote(urlsplit(url).path)).name or "download"
    prefix = hashlib.sha256(url.encode()).hexdigest()[:8]
    return cache_folder() / "downloads" / f"{prefix}-{name}"


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Work on a file while no other process does; wait for the one that does.

    The lock is a file beside it with the ending ``.lock``, and ends with the process that holds it.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    path = file.with_name(f"{file.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while (locked := _try_lock(path)) is None:
            time.sleep(_PAUSE)
    except OSError as error:
        raise _unwritable(path, error) from None
    with locked:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                path.unlink()


def _try_lock(path: Path) -> IO[bytes] | None:
    """Return the lock file, open and locked; None if another process holds it."""
    file = path.open("ab")
    with suppress(FileNotFoundError):
        # Who held the lock has removed the file: what is locked must still be there.
        if lock(file) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return file
    file.close()
    return None


def download(
    url: str,
    file: Path,
    *,
    sha256: str = "",
    alternative: str = "",
    progress: Progress | None = None,
) -> str:
    """Download a file unless it is there, and check it; hold it `exclusive` meanwhile.

    Parameters
    ----------
    url : str
    file : Path
        It appears when it is complete; until then it is beside it with the ending ``.part``, where
        the next attempt goes on.
    sha256 : str
        What its SHA-256 must be; "" if that is not known.
    alternative : str
        What else the user can do where the network fails; the end of messages.
    progress : callable, optional
        Called with bytes done and in all.

    Returns
    -------
    str
        The SHA-256 of the file.

    Raises
    ------
    InputError
        If the server cannot be reached or does not send all, which says how to go on; if the file
        cannot be written, or has another SHA-256, in which case it is removed.
    """
    if not file.is_file():
        _download(url, file, f"or {alternative}" if alternative else "", progress)
    found = file_digest(file)
    if sha256 and found != sha256:
        file.unlink()
        raise InputError(
            f"its SHA-256 is {found}, and {sha256} was expected",
            where=url,
            remedy="it was removed; fetch it again, or see whether the file was replaced",
        )
    return found


def _download(url: str, file: Path, alternative: str, progress: Progress | None) -> None:
    part, tag = file.with_name(f"{file.name}.part"), file.with_name(f"{file.name}.tag")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _request(url, part, tag) as response:
            _receive(response, part, tag, progress)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the server cannot go on with this part
            part.unlink(missing_ok=True)
            tag.unlink(missing_ok=True)
        raise InputError(
            f"the server answers {error.code} {error.reason}",
            where=url,
            remedy=f"see whether the file has moved, {alternative}".rstrip(", "),
        ) from None
    except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
        have = part.stat().st_size if part.is_file() else 0
        goes_on = f"it goes on after the {have:,} bytes that are here" if have else ""
        again = "check the network and run the same command again"
        raise InputError(
            f"it cannot be fetched: {getattr(error, 'reason', None) or error!r}",
            where=url,
            remedy="; ".join(filter(None, (again, goes_on, alternative))),
        ) from None
    except OSError as error:
        raise _unwritable(part, error) from None
    part.replace(file)
    tag.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"it cannot be written: {error.strerror or type(error).__name__}",
        where=str(path),
        remedy="check its folder and the free space",
    )


def _request(url: str, part: Path, tag: Path) -> HTTPResponse:
    """Ask for a file, or for the rest of it."""
    headers = {"User-Agent": f"semmetrics/{__version__}", "Accept-Encoding": "identity"}
    have = part.stat().st_size if part.is_file() else 0
    # Without a tag nothing says that the part is of the file that is there now.
    if have and tag.is_file():
        headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text("utf-8")}
    request = urllib.request.Request(url, headers=headers)
    response: HTTPResponse = urllib.request.urlopen(request, timeout=_TIMEOUT)
    return response


def _receive(response: HTTPResponse, part: Path, tag: Path, progress: Progress | None) -> None:
    """Write what comes; from the start where the server does not go on."""
    span = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
    have = part.stat().st_size if part.is_file() else 0
    goes_on = response.status == 206 and span is not None and int(span[1]) == have
    done = have if goes_on else 0
    size = int(response.headers.get("Content-Length") or 0)
    total = done + size
    if size and shutil.disk_usage(part.parent).free < size:
        raise InputError(
            f"{size:,} bytes are to come, and there is no room for them",
            where=str(part.parent),
            remedy="make room, or name another folder in SEMMETRICS_HOME",
        )
    mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if mark and not mark.startswith("W/"):
        tag.write_text(mark, "utf-8")
    with part.open("ab" if goes_on else "wb") as file:
        while data := response.read(_CHUNK):
            file.write(data)
            done += len(data)
            if progress is not None:
                progress(done, max(total, done))
    if size and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")
