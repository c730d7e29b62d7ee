"""Downloads into the cache folder.

Conventions
-----------
An interrupted download is continued, and one process at a time downloads a file. The file appears
under its name when it is certainly complete: the server sent its length or sent it in chunks, or
its SHA-256 digest was available.

If the caller does not know the SHA-256 digest, the digest of the first download is trusted. It is
stored in the folder ``checksums`` of the cache folder, in the format of sha256sum, and later
downloads from the same URL are compared with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from semmetrics._version import __version__
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.store.files import (
    cache_folder,
    file_digest,
    open_output,
    publish,
    translating_write_errors,
)

if TYPE_CHECKING:
    from http.client import HTTPResponse  # loaded only for a download
    from urllib.request import Request

Progress: TypeAlias = Callable[[int, int], None]
"""A function that is called with the work done so far and the whole work."""

_BYTES_PER_READ = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
_MAX_NAME_BYTES = 150  # of a file name, to which extensions are added

_PARTIAL_CONTENT = 206
_RANGE_NOT_SATISFIABLE = 416


def download_path(url: str) -> Path:
    """Return the path of a downloaded file. No other URL has the same path."""
    return cache_folder() / "downloads" / _file_name(url)


def record_path(url: str) -> Path:
    """Return the path of the file that stores the SHA-256 digest of the first download."""
    return cache_folder() / "checksums" / f"{_file_name(url)}.sha256"


def _file_name(url: str) -> str:
    """Return the last part of a URL, after a hash of the whole URL."""
    from urllib.parse import unquote, urlsplit

    url_path = unquote(urlsplit(url).path)
    name = Path(url_path).name.replace("\0", "") or "download"
    short_name = name.encode("utf-8", "ignore")[-_MAX_NAME_BYTES:]
    url_digest = hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{url_digest[:8]}-{short_name.decode('utf-8', 'ignore')}"


def download(
    url: str,
    file: Path,
    *,
    sha256: str = "",
    instead: str = "copy the file from another machine",
    progress: Progress | None = None,
) -> str:
    """Download a file if it does not exist, and check its SHA-256 digest.

    The caller must hold the file with `semmetrics.store.files.exclusive`.

    Parameters
    ----------
    url : str
    file : Path
        It appears when it is complete. Until then the data are in a file with the additional
        extension ``.part``, which the next attempt continues.
    sha256 : str
        The expected digest. If it is empty, the digest of the first download is expected.
    instead : str
        What else the user can do if the download fails. Messages end with it.
    progress : callable, optional
        Called with the number of bytes done and the number of all bytes.

    Returns
    -------
    str
        The SHA-256 digest of the file.

    Raises
    ------
    InputError
        If the server cannot be reached or does not send the whole file, with the ways to continue.
        If the file cannot be written. If the digest is not the expected one, in which case the file
        is removed.
    """
    expected = sha256 or recorded_digest(url)
    if not file.is_file():
        _fetch(url, file, instead, progress, has_digest=bool(expected))
    digest = file_digest(file)
    if not expected:
        _record_digest(url, file, digest)
    elif digest != expected:
        file.unlink()
        remedy = "the file was removed. Download it again, or check whether the original has changed"
        if not sha256:  # the digest of the first download was expected
            remedy += f". If it has, and you trust it, remove {record_path(url)}"
        raise InputError(
            "wrong-digest", url, found=digest, wanted=expected, remedy=remedy
        )
    return digest


def recorded_digest(url: str) -> str:
    """Return the SHA-256 digest of the first download, or an empty string if there was none."""
    with suppress(OSError, UnicodeDecodeError):
        digest = record_path(url).read_text("utf-8")[:64]
        if re.fullmatch("[0-9a-f]{64}", digest):
            return digest
    return ""


def _record_digest(url: str, file: Path, digest: str) -> None:
    """Store the digest of the first download."""
    record = record_path(url)
    with translating_write_errors(str(record)):
        record.parent.mkdir(parents=True, exist_ok=True)
    with open_output(record) as out:
        out.write(f"{digest}  {file.name}\n")


# ---- transfer ---------------------------------------------------------------


class _PartialDownload(NamedTuple):
    """The files of a download that is not complete.

    Attributes
    ----------
    data : Path
        The bytes received so far.
    tag : Path
        Contains the entity tag or the date by which the server recognises the file. Without it, the
        file on the server may have changed, and the download starts again.
    """

    data: Path
    tag: Path

    def size(self) -> int:
        """Return the number of bytes received so far."""
        if not self.data.is_file():
            return 0
        return self.data.stat().st_size

    def remove(self) -> None:
        """Remove both files."""
        self.data.unlink(missing_ok=True)
        self.tag.unlink(missing_ok=True)


def _fetch(
    url: str, file: Path, instead: str, progress: Progress | None, *, has_digest: bool
) -> None:
    """Download a file, and let it appear under its name when it is complete."""
    import urllib.request
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    partial = _PartialDownload(
        data=file.with_name(f"{file.name}.part"),
        tag=file.with_name(f"{file.name}.tag"),
    )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        request = _build_request(url, partial)
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            if not has_digest and not _is_end_known(response):
                raise InputError("no-length", url, instead=instead)
            _receive(response, partial, progress)
    except HTTPError as error:
        error.close()
        if error.code == _RANGE_NOT_SATISFIABLE:
            partial.remove()
        status = f"{error.code} {error.reason}"
        raise InputError("http-error", url, status=status, instead=instead) from None
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        why = getattr(error, "reason", None) or repr(error)
        n_received = partial.size()
        raise InputError(
            "fetch-failed", url, n=n_received, why=why, instead=instead
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError("unwritable", partial.data, why=why) from None
    with translating_write_errors(str(file)):
        publish(partial.data, file)
    partial.tag.unlink(missing_ok=True)


def _build_request(url: str, partial: _PartialDownload) -> Request:
    """Return the request for a file, or for the rest of a file that was partly received."""
    import urllib.request

    headers = {
        "User-Agent": f"semmetrics/{__version__}",
        "Accept-Encoding": "identity",
    }
    n_received = partial.size()
    if n_received and partial.tag.is_file():
        headers["Range"] = f"bytes={n_received}-"
        headers["If-Range"] = partial.tag.read_text("utf-8")
    return urllib.request.Request(url, headers=headers)


def _is_end_known(response: HTTPResponse) -> bool:
    """Return whether the end of the file can be distinguished from a broken connection."""
    if response.chunked or response.status == _PARTIAL_CONTENT:
        return True
    return _announced_size(response) > 0


def _receive(
    response: HTTPResponse, partial: _PartialDownload, progress: Progress | None
) -> None:
    """Write the body of a response, after the bytes received so far if it continues them."""
    import shutil  # imported here, because it loads ten other modules

    is_continued = response.status == _PARTIAL_CONTENT
    n_done = 0
    size = _announced_size(response)
    if is_continued:
        n_done = partial.size()
        size = _check_range(response, partial, n_done)
    n_missing = max(0, size - n_done)
    if n_missing and shutil.disk_usage(partial.data.parent).free < n_missing:
        raise InputError("no-room", partial.data.parent, n=n_missing)
    _store_tag(response, partial)
    mode: Literal["ab", "wb"] = "ab" if is_continued else "wb"
    with partial.data.open(mode) as file:
        # Received bytes are written at once, as the server may stop sending.
        while data := response.read1(_BYTES_PER_READ):
            file.write(data)
            n_done += len(data)
            report_progress(
                progress,
                n_done,
                max(size, n_done),
                "downloading",
                "B",
                unit_scale=True,
            )
    if size and n_done < size:
        raise ConnectionError(
            f"the connection ended after {n_done:,} of {size:,} bytes"
        )
    if size and n_done > size:
        partial.data.unlink(missing_ok=True)
        raise ConnectionError(f"it sent {n_done:,} bytes and announced {size:,}")


def _check_range(
    response: HTTPResponse, partial: _PartialDownload, n_received: int
) -> int:
    """Check that a response contains exactly the missing bytes.

    Returns
    -------
    int
        The size of the whole file.
    """
    header = response.headers.get("Content-Range") or ""
    match = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", header)
    if match is not None:
        first, last, size = map(int, match.groups())
        if first == n_received and last + 1 == size:
            return size
    partial.remove()
    raise ConnectionError(f"the server sent {header!r} when asked for the rest")


def _store_tag(response: HTTPResponse, partial: _PartialDownload) -> None:
    """Store the entity tag of a file, or its date, so that a download can be continued."""
    headers = response.headers
    tag = headers.get("ETag") or headers.get("Last-Modified") or ""
    is_weak = tag.startswith("W/")
    if tag and not is_weak:
        partial.tag.write_text(tag, "utf-8")


def _announced_size(response: HTTPResponse) -> int:
    """Return the announced number of bytes, or 0 if it is not known."""
    header = response.headers.get("Content-Length") or ""
    if not re.fullmatch(r"\d{1,18}", header):
        return 0
    return int(header)
