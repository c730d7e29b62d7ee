"""The cache folder, and output files that appear under their names only when they are complete.

Conventions
-----------
The environment variable ``SEMMETRICS_HOME`` sets the cache folder. The default is the folder
``semmetrics`` in the user's own cache folder: ``XDG_CACHE_HOME``, or ``~/.cache``
(``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows). Everything in it can be computed or
downloaded again.

Output is written to a hidden temporary file ``.NAME.XXXXXXXX.part`` next to the target, is flushed
to the disk, and then replaces the target in one step. A process that is killed, or that fills the
disk, leaves the previous file untouched. The next run that writes the same target removes the
temporary file. Links are followed. An existing file keeps its permissions, and a read-only file
raises an error. Devices and pipes are written to directly.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from semmetrics.errors import InputError, reason_of

AnyPath: TypeAlias = str | os.PathLike[str]

_CACHES_IN_HOME = {"win32": "", "darwin": "Library/Caches"}
_MAX_NAME_BYTES = (
    200  # of the target's name in that of its temporary file, which may have 255
)
_RANDOM_BYTES = 4  # distinguish the temporary files of two runs
_EMPTY_PATH_REMEDY = "name a file in a folder that exists"
_BYTES_PER_READ = 1 << 18
_SECONDS_BETWEEN_LOCKS = 0.1  # between two attempts to lock a file


# ---- the cache folder, digests and locks ------------------------------------


def cache_folder() -> Path:
    """Return the folder for files that can be computed or downloaded again.

    Raises
    ------
    InputError
        If no variable sets the folder and the user has no home folder, as in some containers.
    """
    own_folder = os.environ.get("SEMMETRICS_HOME")
    if own_folder:
        return Path(own_folder)
    user_folder = os.environ.get("XDG_CACHE_HOME", "")
    if sys.platform == "win32" and not user_folder:
        user_folder = os.environ.get("LOCALAPPDATA", "")
    if user_folder:
        return Path(user_folder, "semmetrics")
    caches = _CACHES_IN_HOME.get(sys.platform, ".cache")
    try:
        return Path.home() / caches / "semmetrics"
    except RuntimeError:
        raise InputError("no-home") from None


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 digest of a file, or of the concatenation of several files, in hex."""
    import hashlib  # slow to import, as it loads OpenSSL

    digest = hashlib.sha256()
    buffer = memoryview(bytearray(_BYTES_PER_READ))
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                digest.update(buffer[:size])
    return digest.hexdigest()


def lock(
    file: IO[bytes] | int, path: Path | None = None, *, if_unsupported: bool = True
) -> bool:
    """Lock an open file until it is closed.

    Parameters
    ----------
    file : binary file or file descriptor
    path : Path, optional
        The path that the file must still have. The process that held the lock before may have
        removed it.
    if_unsupported : bool
        The result if the file system has no locks, as some network drives.

    Returns
    -------
    bool
        False if another process holds the lock, or if the file does not have its path any more.
    """
    descriptor = file if isinstance(file, int) else file.fileno()
    try:
        _lock_descriptor(descriptor)
    except (BlockingIOError, PermissionError):
        return False
    except (ImportError, OSError):
        if not if_unsupported:
            return False
    if path is None:
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _lock_descriptor(descriptor: int) -> None:
    """Lock an open file without waiting."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Prevent other processes from working on a file during the block.

    Other processes wait. The lock is a file with the additional extension ``.lock``. If the process
    that holds it is killed, it is released.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    path = file.with_name(f"{file.name}.lock")
    with translating_write_errors(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            locked_file = path.open("ab")
            if lock(locked_file, path):
                break
            locked_file.close()
            time.sleep(_SECONDS_BETWEEN_LOCKS)
    with locked_file:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows does not remove open files
                path.unlink()


# ---- output files -----------------------------------------------------------


class Target(NamedTuple):
    """The file that a path leads to.

    Attributes
    ----------
    path : Path
        Without links.
    is_special : bool
        Whether the file is written to directly, as a device or a pipe.
    """

    path: Path
    is_special: bool


def check_output(path: AnyPath, where: str = "") -> None:
    """Check that a file can be written, before anything is computed.

    Parameters
    ----------
    path : path
    where : str
        What a message calls the file, such as "-o scores.json". Default: the path.

    Raises
    ------
    InputError
        If the path is a folder, has no parent folder, is too long or is not writable.
    """
    name = os.fspath(path)
    where = where or name
    with translating_write_errors(where):
        target, is_special = target_of(path, where.strip())
        is_folder_name = name.endswith("/")
        if target.is_dir() and not is_folder_name:
            raise InputError("is-folder", where)
        if is_special:
            return
        if is_folder_name or not target.parent.is_dir():
            raise InputError("missing-folder", where)
        _check_writable(target.parent)
        if target.exists():
            _check_writable(target)


def _check_writable(path: Path) -> None:
    """Raise an error if a file or folder may not be written."""
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def translating_write_errors(where: str) -> Iterator[None]:
    """Add the name of the output to errors of the operating system.

    Raises
    ------
    InputError
        In place of an OSError. A BrokenPipeError is raised unchanged: the program that reads the
        output has exited.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError("unwritable", where, why=reason_of(error)) from error


def target_of(path: AnyPath, where: str = "") -> Target:
    """Return the file that a path leads to.

    Parameters
    ----------
    path : path
    where : str
        What a message calls the file.

    Raises
    ------
    InputError
        If the path is empty. It would lead to the current folder.
    """
    if not os.fspath(path):
        raise InputError("empty", where, role="the path", remedy=_EMPTY_PATH_REMEDY)
    real_path = Path(os.path.realpath(path))
    try:
        status = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return Target(real_path, is_special=False)
    if stat.S_ISDIR(status.st_mode):
        return Target(real_path, is_special=False)
    with suppress(OSError):  # links in /dev/fd do not lead to paths
        is_regular = stat.S_ISREG(status.st_mode)
        if is_regular and os.path.samestat(status, real_path.stat()):
            return Target(real_path, is_special=False)
    return Target(Path(path), is_special=True)


@contextmanager
def open_output(path: AnyPath, *, binary: bool = False) -> Iterator[IO[Any]]:
    """Open a file that appears under its name only when it is complete.

    Parameters
    ----------
    path : path
    binary : bool
        Whether to write bytes. Otherwise text is written as UTF-8, and is compressed if the name
        ends in ``.gz``.

    Raises
    ------
    InputError
        If the file cannot be written.

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
    is_compressed = os.fspath(path).lower().endswith(".gz")
    with replacing(path) as temporary, temporary.open("wb") as file:
        if binary:
            yield file
            return
        raw: IO[bytes] | gzip.GzipFile = file
        if is_compressed:
            raw = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
        with io.TextIOWrapper(raw, "utf-8", "backslashreplace", "\n") as out:
            yield out


@contextmanager
def replacing(path: AnyPath, *, folder: bool = False) -> Iterator[Path]:
    """Provide a temporary file or folder that replaces the target if the block succeeds.

    Parameters
    ----------
    path : path
    folder : bool
        Whether to provide a folder.

    Yields
    ------
    Path
        An empty file or folder, or the target itself if it is a device or a pipe.

    Raises
    ------
    InputError
        If the target cannot be written.
    """
    with translating_write_errors(os.fspath(path)):
        target, is_special = target_of(path)
        if is_special:
            yield target
            return
        name = os.fsencode(target.name)[:_MAX_NAME_BYTES].decode("utf-8", "ignore")
        _remove_abandoned(target.parent, name)
        descriptor = None
        while descriptor is None:
            random = os.urandom(_RANDOM_BYTES).hex()
            temporary = target.with_name(f".{name}.{random}.part")
            try:  # begins before the file is created, as a signal may arrive at any moment
                _create(temporary, folder=folder)
                # Another run may remove it as abandoned before it is locked. Then try again.
                descriptor = open_locked(temporary)
                if descriptor is not None:
                    yield temporary
                    publish(temporary, target)
            finally:
                if descriptor is not None:
                    os.close(descriptor)
                _remove(temporary)


def publish(
    temporary: Path, target: Path, write_companions: Callable[[], None] | None = None
) -> None:
    """Flush a finished file or folder to the disk, and let it replace the target in one step.

    Parameters
    ----------
    temporary, target : Path
    write_companions : callable, optional
        Writes the files that belong to the target. They appear before it does. An existing target
        is removed before that, so that the old target is never found with the new files.

    Raises
    ------
    OSError
        If that fails. Without ``write_companions``, the target is then unchanged.
    """
    if temporary.is_dir():
        for file in temporary.iterdir():
            _flush(file)
    _flush(temporary)
    with suppress(FileNotFoundError):
        _copy_permissions(target, temporary)
        if write_companions is not None:
            target.unlink()
    if write_companions is not None:
        write_companions()
    temporary.replace(target)


def _copy_permissions(target: Path, temporary: Path) -> None:
    """Give a file the owner and the permissions of its target, which must be writable."""
    status = target.stat()
    _check_writable(target)
    with suppress(OSError, AttributeError):  # only root may change the owner
        os.chown(temporary, status.st_uid, status.st_gid)
    temporary.chmod(stat.S_IMODE(status.st_mode))


def _flush(path: Path) -> None:
    """Wait until a file is on the disk. Some full disks raise an error only then."""
    # Windows can only flush files that are open for writing.
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        is_unsupported = error.errno in (errno.EINVAL, errno.ENOTSUP)
        if not is_unsupported:
            raise
    finally:
        os.close(descriptor)


# ---- temporary files --------------------------------------------------------


def _create(temporary: Path, *, folder: bool) -> None:
    """Create an empty file or folder that does not exist yet."""
    if folder:
        temporary.mkdir(parents=True)
    else:
        temporary.open("xb").close()


def open_locked(temporary: Path) -> int | None:
    """Lock a temporary file, so that other runs do not take it for abandoned.

    Returns
    -------
    int or None
        A file descriptor that holds the lock until it is closed. None if another run has removed
        the file.
    """
    if sys.platform == "win32":
        # Windows does not replace an open file, so the file is not locked there.
        return os.open(os.devnull, os.O_RDONLY)
    try:
        descriptor = os.open(temporary, os.O_RDONLY)
    except FileNotFoundError:
        return None
    if lock(descriptor, temporary):
        return descriptor
    os.close(descriptor)
    return None


def _remove_abandoned(folder: Path, name: str) -> None:
    """Remove the temporary files of runs that were killed.

    Parameters
    ----------
    folder : Path
    name : str
        The name of the target, cut off as in the names of its temporary files.
    """
    if sys.platform == "win32":
        return
    with suppress(OSError):
        for temporary in _list_temporary_files(folder, name):
            with suppress(OSError):
                _remove_unlocked(temporary)


def _list_temporary_files(folder: Path, name: str) -> list[Path]:
    """Return the temporary files and folders of a target."""
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}\.part")
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if pattern.fullmatch(entry.name) and not entry.is_symlink():
                files.append(folder / entry.name)
    return files


def _remove_unlocked(temporary: Path) -> None:
    """Remove a temporary file, unless a running process has locked it."""
    descriptor = os.open(temporary, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if lock(descriptor, if_unsupported=False):
            _remove(temporary)
    finally:
        os.close(descriptor)


def _remove(temporary: Path) -> None:
    """Remove a file or folder, if it exists."""
    with suppress(OSError):
        if temporary.is_dir():
            import shutil  # imported here, because it loads ten other modules

            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)
