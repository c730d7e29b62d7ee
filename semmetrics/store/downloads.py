"""Downloads that go on where they stopped, are checked, and are made by one process at a time.

Conventions
-----------
A file takes its name when it is known to be whole: the server said how long it is, or sent it in
chunks with an end, or its SHA-256 is known. If no SHA-256 is given, that of the first download is
trusted and kept (``checksums`` in the cache folder, as sha256sum writes it), and
later downloads from the same URL are compared with it.
"""

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
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from semmetrics._version import __version__
from semmetrics.errors import InputError
from semmetrics.store.files import cache_folder, file_digest, lock, naming, open_output, publish

_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
_NAME = 150  # bytes of a name; endings are added to it
_PAUSE = 0.1  # seconds between two attempts to lock a file
Progress: TypeAlias = Callable[[int, int], None]


def download_path(url: str) -> Path:
    """Return where a download is kept: a file that no other URL has."""
    return cache_folder() / "downloads" / _name_of(url)


def record_path(url: str) -> Path:
    """Return where the SHA-256 of the first download is kept that was trusted."""
    return cache_folder() / "checksums" / f"{_name_of(url)}.sha256"


def _name_of(url: str) -> str:
    name = Path(unquote(urlsplit(url).path)).name.replace("\0", "") or "download"
    short = name.encode("utf-8", "ignore")[-_NAME:].decode("utf-8", "ignore")
    return f"{hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}-{short}"


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
        while True:
            locked = path.open("ab")
            with suppress(FileNotFoundError):
                # Who held the lock has removed the file: what is locked must still exist.
                if lock(locked) and os.path.samestat(os.fstat(locked.fileno()), path.stat()):
                    break
            locked.close()
            time.sleep(_PAUSE)
    except OSError as error:
        raise InputError("unwritable", path, why=error.strerror or type(error).__name__) from None
    with locked:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                path.unlink()


def download(
    url: str,
    file: Path,
    *,
    sha256: str = "",
    instead: str = "copy the file from elsewhere",
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
        What its SHA-256 must be; "" if that is not known, and that of the first download counts.
    instead : str
        What else the user can do if the network fails; the end of messages.
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
    wanted = sha256 or recorded(url)
    if not file.is_file():
        _download(url, file, instead, progress, known=bool(wanted))
    found = file_digest(file)
    if wanted and found != wanted:
        file.unlink()
        remedy = "it was removed; fetch it again, or check whether the file was replaced"
        if not sha256:  # it was that of the first download
            remedy += f": if it was, and you trust it, remove {record_path(url)}"
        raise InputError("wrong-digest", url, found=found, wanted=wanted, remedy=remedy)
    if not wanted:
        record = record_path(url)
        with naming(str(record)):
            record.parent.mkdir(parents=True, exist_ok=True)
        with open_output(record) as out:
            out.write(f"{found}  {file.name}\n")
    return found


def recorded(url: str) -> str:
    """Return the SHA-256 of the first download that was trusted; "" where there was none."""
    with suppress(OSError, UnicodeDecodeError):
        text = record_path(url).read_text("utf-8")[:64]
        if re.fullmatch("[0-9a-f]{64}", text):
            return text
    return ""


def _download(
    url: str, file: Path, instead: str, progress: Progress | None, *, known: bool
) -> None:
    part, tag = file.with_name(f"{file.name}.part"), file.with_name(f"{file.name}.tag")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        headers = {"User-Agent": f"semmetrics/{__version__}", "Accept-Encoding": "identity"}
        # Without a tag nothing tells that the part is of the file that is there now.
        if part.is_file() and part.stat().st_size and tag.is_file():
            rest = f"bytes={part.stat().st_size}-"
            headers |= {"Range": rest, "If-Range": tag.read_text("utf-8")}
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            if not (known or response.chunked or response.status == 206 or _length(response)):
                raise InputError("no-length", url, instead=instead)
            _receive(response, part, tag, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the server cannot go on with this part
            part.unlink(missing_ok=True)
            tag.unlink(missing_ok=True)
        status = f"{error.code} {error.reason}"
        raise InputError("http-error", url, status=status, instead=instead) from None
    except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
        have = part.stat().st_size if part.is_file() else 0
        why = getattr(error, "reason", None) or repr(error)
        raise InputError("fetch-failed", url, n=have, why=why, instead=instead) from None
    except OSError as error:
        raise InputError("unwritable", part, why=error.strerror or type(error).__name__) from None
    with naming(str(file)):
        publish(part, file)
    tag.unlink(missing_ok=True)


def _receive(response: HTTPResponse, part: Path, tag: Path, progress: Progress | None) -> None:
    """Write what comes; from the start where the server does not go on."""
    have = part.stat().st_size if part.is_file() else 0
    goes_on, total = response.status == 206, _length(response)
    if goes_on:
        header = response.headers.get("Content-Range") or ""
        span = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", header)
        if span is None or int(span[1]) != have or int(span[2]) + 1 != int(span[3]):
            part.unlink(missing_ok=True)
            tag.unlink(missing_ok=True)
            raise ConnectionError(f"the server sent {header!r} when asked for the rest")
        total = int(span[3])
    done = have if goes_on else 0
    size = max(0, total - done)
    if size and shutil.disk_usage(part.parent).free < size:
        raise InputError("no-room", part.parent, n=size)
    mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if mark and not mark.startswith("W/"):
        tag.write_text(mark, "utf-8")
    with part.open("ab" if goes_on else "wb") as file:
        # What has come is written before more is waited for, as the server may hang.
        while data := response.read1(_CHUNK):
            file.write(data)
            done += len(data)
            if progress is not None:
                progress(done, max(total, done))
    if total and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")
    if total and done > total:
        part.unlink(missing_ok=True)
        raise ConnectionError(f"it sent {done:,} bytes and announced {total:,}")


def _length(response: HTTPResponse) -> int:
    """Return how many bytes are announced; 0 if it is not known."""
    text = response.headers.get("Content-Length") or ""
    return int(text) if re.fullmatch(r"\d{1,18}", text) else 0
