"""Files of vectors as one block of bytes: mapped into memory, unpacked where they are packed."""

from __future__ import annotations

import gzip
import hashlib
import mmap
import shutil
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from semmetrics.errors import InputError, listing

__all__ = ["digest", "file_digest", "mapped", "unpack"]

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHUNK = 1 << 24


def mapped(path: Path, member: str | None = None) -> mmap.mmap:
    """Map a file into memory; a packed one is first unpacked into a file without a name.

    Parameters
    ----------
    path : Path
        A plain file, or one packed with gzip or zip.
    member : str, optional
        The file in a zip archive; needed where there are several.

    Raises
    ------
    InputError
        If it is missing, empty, or packed and damaged.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4)
            if head[:2] == _GZIP or head == _ZIP:
                with tempfile.TemporaryFile() as plain:
                    unpack(path, plain, member)
                    plain.flush()
                    return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(
            "there is no such file", where=str(path), remedy="check the path"
        ) from None
    except ValueError:
        raise InputError(
            "it is empty", where=str(path), remedy="copy or download it again"
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise InputError(f"it cannot be read: {why}", where=str(path), remedy="check it") from None


def unpack(path: Path, target: IO[bytes], member: str | None = None) -> None:
    """Unpack a gzip file, or one file of a zip archive.

    Raises
    ------
    InputError
        If it is damaged or encrypted, or the file in the archive is not named and not alone.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                name = _member(archive, member, str(path))
                with archive.open(name) as source:
                    shutil.copyfileobj(source, target, _CHUNK)
        else:
            with gzip.open(path, "rb") as stream:
                shutil.copyfileobj(stream, target, _CHUNK)
    except RuntimeError as error:  # encrypted, or packed in a way that Python does not know
        raise InputError(
            f"it cannot be unpacked: {error}", where=str(path), remedy="unpack it first"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise InputError(
            f"what is packed in it is damaged or cut off ({error})",
            where=str(path),
            remedy="copy or download it again",
        ) from None


def _member(archive: zipfile.ZipFile, member: str | None, where: str) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if member is None and len(names) == 1:
        return names[0]
    if member not in names:
        problem = "it holds several files" if member is None else f"it holds no {member!r}"
        raise InputError(
            f"{problem}: {listing(names)}",
            where=where,
            remedy="unpack it and give the path of one of them",
        )
    return member


def digest(buffer: Any) -> str:
    """SHA-256 of bytes, in hex."""
    state = hashlib.sha256()
    with memoryview(buffer) as view:
        for start in range(0, len(view), _CHUNK):
            state.update(view[start : start + _CHUNK])
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            state.update(part)
    return state.hexdigest()
