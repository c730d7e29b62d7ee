"""Outputs: a file or a folder appears under its name when it is complete, and never before.

Conventions
-----------
What is written goes to a hidden place beside the target, ``.NAME.XXXXXXXX.part``, is put on the
disk, and takes the target's place in one step. So a process that is killed, or finds the disk
full, leaves what was there before; the hidden place that it leaves is removed by the next run that
writes the same target.

A link is followed. An existing file keeps its permissions, and one that may not be written is
refused. What is no regular file (a device, a pipe) is written to as it is.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias

from semmetrics.errors import InputError
from semmetrics.store import lock

__all__ = ["AnyPath", "check_output", "naming", "open_output", "publish", "replacing", "target_of"]

AnyPath: TypeAlias = str | os.PathLike[str]

_NAME = 200  # bytes of the target's name in that of its hidden place; a name has 255 at most
_RANDOM = 4  # bytes that tell the places of two runs apart
_PLACE = "name a file in a folder that exists"


def check_output(path: AnyPath, where: str = "") -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Parameters
    ----------
    path : path
    where : str
        What a message calls it, such as "-o scores.json"; the path where left out.

    Raises
    ------
    InputError
        If it is a folder, has no place or too long a name, or may not be written.
    """
    name = os.fspath(path)
    where = where or name
    with naming(where):
        target, special = target_of(path, where.strip())
        problem = "this is a folder" if target.is_dir() else ""
        if not (problem or special or target.parent.is_dir()) or (
            name.endswith("/") > bool(problem)
        ):
            problem = "there is no such folder"
        if problem:
            raise InputError(problem, where=where, remedy=_PLACE)
        if special:
            return
        for needed in (target.parent, *([target] if target.exists() else [])):
            if not os.access(needed, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def naming(where: str, remedy: str = "choose another place") -> Iterator[None]:
    """Say of an error of the system which output it is about.

    Raises
    ------
    InputError
        In place of an OSError; where the reader of a pipe went away, BrokenPipeError as it is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise InputError(f"it cannot be written: {why}", where=where, remedy=remedy) from error
    except ValueError as error:
        if isinstance(error, InputError) or "null" not in str(error):
            raise
        raise InputError(f"it is no path: {error}", where=repr(where), remedy=remedy) from None


def target_of(path: AnyPath, where: str = "") -> tuple[Path, bool]:
    """Return the file behind links, and whether it is written to directly, as a device is.

    Raises
    ------
    InputError
        If the path is empty, which would be the folder that is worked in.
    """
    if not os.fspath(path):
        raise InputError("the path is empty", where=where, remedy=_PLACE)
    target = Path(os.path.realpath(path))
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return target, False
    if stat.S_ISDIR(found.st_mode):
        return target, False
    with suppress(OSError):  # the links of /dev/fd name what is no path
        if stat.S_ISREG(found.st_mode) and os.path.samestat(found, target.stat()):
            return target, False
    return Path(path), True


@contextmanager
def open_output(path: AnyPath, *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete.

    Parameters
    ----------
    path : path
    binary : bool
        Whether bytes are written; otherwise text, as UTF-8, and with gzip where the name ends in
        ``.gz``, as it is read.

    Raises
    ------
    InputError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "scores.txt")
    >>> with open_output(path) as out:
    ...     _ = out.write("0.5")
    ...     path.exists()
    False
    >>> path.read_text()
    '0.5'
    """
    how: dict[str, Any] = {"encoding": "utf-8", "errors": "backslashreplace", "newline": "\n"}
    zipped = os.fspath(path).lower().endswith(".gz")
    with replacing(path) as place, place.open("wb") as file:
        if binary:
            yield file
            return
        inner: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if zipped else file
        with io.TextIOWrapper(inner, **how) as out:
            yield out


@contextmanager
def replacing(path: AnyPath, *, folder: bool = False) -> Iterator[Path]:
    """Give a place to write to, which takes the target's place when all went well.

    Parameters
    ----------
    path : path
    folder : bool
        Whether a folder is written.

    Yields
    ------
    Path
        An empty file or folder; the target itself where that is a device or a pipe.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    with naming(os.fspath(path)):
        target, special = target_of(path)
        if special:
            yield target
            return
        name = os.fsencode(target.name)[:_NAME].decode("utf-8", "ignore")
        _remove_abandoned(target.parent, f".{name}.")
        guard = None
        while guard is None:
            place = target.with_name(f".{name}.{os.urandom(_RANDOM).hex()}.part")
            try:  # before the place is made: a signal may come at any moment
                if folder:
                    place.mkdir(parents=True)
                else:
                    place.open("xb").close()
                # Another run may have taken it for abandoned before it was locked.
                guard = _guard(place)
                if guard is not None:
                    yield place
                    publish(place, target)
            finally:
                if guard is not None:
                    os.close(guard)
                _remove(place)


def publish(place: Path, target: Path, beside: Callable[[], None] | None = None) -> None:
    """Put a finished file or folder on the disk, and in one step in the place of the target.

    Parameters
    ----------
    place, target : Path
    beside : callable, optional
        Writes the files that belong to the target, which appear before it does. A target that is
        replaced is removed first, so that it is never found beside them.

    Raises
    ------
    OSError
        If that fails; without `beside`, the target is then as it was.
    """
    for written in (*(place.iterdir() if place.is_dir() else ()), place):
        _sync(written)
    with suppress(FileNotFoundError):
        before = target.stat()
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with suppress(OSError, AttributeError):  # only an owner may give files away
            os.chown(place, before.st_uid, before.st_gid)
        place.chmod(stat.S_IMODE(before.st_mode))
        if beside is not None:
            target.unlink()
    if beside is not None:
        beside()
    place.replace(target)


def _sync(path: Path) -> None:
    """Wait until all of a file is on the disk; a full disk may only be noticed now."""
    if sys.platform == "win32":  # which does so for files that are open to be written alone
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have no such call
            raise
    finally:
        os.close(number)


def _guard(place: Path) -> int | None:
    """Lock a place for as long as the number returned is open; None where it has been removed."""
    if sys.platform == "win32":  # no file that is open can be replaced
        return os.open(os.devnull, os.O_RDONLY)
    try:
        number = os.open(place, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with suppress(FileNotFoundError):
        if lock(number) and os.path.samestat(os.fstat(number), place.stat()):
            return number
    os.close(number)
    return None


def _remove_abandoned(folder: Path, beginning: str) -> None:
    """Remove the places that runs have left that were killed; each run locks its own."""
    if sys.platform == "win32":
        return
    length = len(beginning) + 2 * _RANDOM + len(".part")
    with suppress(OSError), os.scandir(folder) as entries:
        left = [
            folder / entry.name for entry in entries
            if entry.name.startswith(beginning) and len(entry.name) == length
            and entry.name.endswith(".part") and not entry.is_symlink()
        ]  # fmt: skip
        for place in left:
            with suppress(OSError):
                number = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
                try:
                    if lock(number, unknown=False):
                        _remove(place)
                finally:
                    os.close(number)


def _remove(place: Path) -> None:
    with suppress(OSError):
        if place.is_dir():
            import shutil  # it takes ten modules along

            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)
