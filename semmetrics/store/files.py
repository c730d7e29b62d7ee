"""Files kept between runs: they appear under their names when they are complete, never before.

Conventions
-----------
``SEMMETRICS_HOME`` names the cache folder; without it, it is ``semmetrics`` in the user's own
(``XDG_CACHE_HOME``, ``~/.cache``; ``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows).
Everything in it can be computed or fetched again.

What is written goes to a hidden place beside the target, ``.NAME.XXXXXXXX.part``, is put on the
disk, and takes the target's place in one step. So a process that is killed, or finds the disk
full, leaves what was there before; the hidden place is removed by the next run that writes the
same target. A link is followed. An existing file keeps its permissions, and a read-only one is
refused. Devices and pipes are written to directly.

A matrix is written block by block into ``phi.npy.part``, beside ``phi.npy.blocks``: what the matrix
is of, as one line of JSON, then the first row of each finished block and a checksum of its numbers,
a line each. A block is noted only after its numbers are written, and computed again if its numbers
differ later. The boundaries of blocks are noted too, so that an interrupted run gives the digits of
one that was not. Both files are gone when the matrix is there. A run locks its notes; where the
file system has no locks (some network drives), two runs on one file are not noticed.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeAlias

from semmetrics.errors import InputError
from semmetrics.messages import brief, report_progress

if TYPE_CHECKING:
    import numpy as np  # loaded where a matrix is written: `--help` starts without it
    from numpy.typing import NDArray

AnyPath: TypeAlias = str | os.PathLike[str]

_NAME = 200  # bytes of the target's name in that of its hidden place; a name has 255 at most
_RANDOM = 4  # bytes that distinguish the places of two runs
_PLACE = "name a file in a folder that exists"
_FORMAT = "semmetrics.matrix/3"
_CHUNK = 1 << 18  # bytes read at a time
_HASHED = {"df": "document frequencies", "inputs": "captions or references"}
_NAMED = {
    "block_rows": "number of rows of a block (memory=)",
    "dtype": "type of numbers",
}


def cache_folder() -> Path:
    """Return the folder for what can be computed or fetched again.

    Raises
    ------
    InputError
        If no folder is named and the user has no home folder, as in some containers.
    """
    if named := os.environ.get("SEMMETRICS_HOME"):
        return Path(named)
    own = os.environ.get("XDG_CACHE_HOME", "")
    if sys.platform == "win32" and not own:
        own = os.environ.get("LOCALAPPDATA", "")
    if own:
        return Path(own, "semmetrics")
    below = {"win32": "", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    try:
        return Path.home() / below / "semmetrics"
    except RuntimeError:
        raise InputError("no-home") from None


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of a file, or of several one after the other, in hex."""
    import hashlib  # it loads OpenSSL

    state, buffer = hashlib.sha256(), memoryview(bytearray(_CHUNK))
    for path in paths:
        with path.open("rb", buffering=0) as file:
            while size := file.readinto(buffer):
                state.update(buffer[:size])
    return state.hexdigest()


def lock(
    file: IO[bytes] | int, path: Path | None = None, *, unknown: bool = True
) -> bool:
    """Lock an open file until it is closed; return False where another process has it.

    Parameters
    ----------
    file : binary file, or its number
    path : Path, optional
        Where it must still be: who held the lock may have removed it.
    unknown : bool
        Whether it counts as locked where there are no locks, as on some network drives.
    """
    number = file if isinstance(file, int) else file.fileno()
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(number, 0, os.SEEK_SET)
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as error:
        if isinstance(error, BlockingIOError | PermissionError) or not unknown:
            return False
    with suppress(FileNotFoundError):
        return path is None or os.path.samestat(os.fstat(number), path.stat())
    return False


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
        if target.is_dir() and not name.endswith("/"):
            raise InputError("is-folder", where)
        if not special and (name.endswith("/") or not target.parent.is_dir()):
            raise InputError("missing-folder", where)
        needed = (
            [] if special else [target.parent, *([target] if target.exists() else [])]
        )
        if not all(os.access(one, os.W_OK) for one in needed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Name the output that an error of the system is about.

    Raises
    ------
    InputError
        In place of an OSError; if the reader of a pipe went away, BrokenPipeError as it is.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise InputError("unwritable", where, why=why) from error


def target_of(path: AnyPath, where: str = "") -> tuple[Path, bool]:
    """Return the file behind links, and whether it is written to directly, as a device is.

    Raises
    ------
    InputError
        If the path is empty, which would be the current folder.
    """
    if not os.fspath(path):
        raise InputError("empty", where, role="the path", remedy=_PLACE)
    target = Path(os.path.realpath(path))
    try:
        found = Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return target, False
    if stat.S_ISDIR(found.st_mode):
        return target, False
    with suppress(OSError):  # the links of /dev/fd are not paths
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
    zipped = os.fspath(path).lower().endswith(".gz")
    with replacing(path) as place, place.open("wb") as file:
        if binary:
            yield file
            return
        inner: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if zipped else file
        with io.TextIOWrapper(inner, "utf-8", "backslashreplace", "\n") as out:
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


def publish(
    place: Path, target: Path, beside: Callable[[], None] | None = None
) -> None:
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
    # Windows can only flush files that are open for writing.
    if sys.platform == "win32":
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        # some file systems have no such call
        if error.errno not in (
            errno.EINVAL,
            errno.ENOTSUP,
        ):
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
    if lock(number, place):
        return number
    os.close(number)
    return None


def _remove_abandoned(folder: Path, beginning: str) -> None:
    """Remove the places that runs have left that were killed; each run locks its own."""
    if sys.platform == "win32":
        return
    form = re.compile(rf"{re.escape(beginning)}[0-9a-f]{{{2 * _RANDOM}}}[.]part")
    with suppress(OSError), os.scandir(folder) as entries:
        left = [
            folder / e.name
            for e in entries
            if form.fullmatch(e.name) and not e.is_symlink()
        ]
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


def write_matrix(
    path: str | os.PathLike[str],
    shape: tuple[int, int],
    dtype: str,
    step: int,
    of: Mapping[str, str],
    block: Callable[[int, int], NDArray[Any]],
    *,
    resume: bool = True,
    progress: Callable[[int, int], None] | None = None,
    beside: Callable[[], None] | None = None,
) -> NDArray[Any]:
    """Write the blocks that are not there yet.

    Parameters
    ----------
    path : path
        Of the .npy file.
    shape : pair of int
    dtype : str
    step : int
        Rows of a block.
    of : mapping from str to str
        What the matrix is of: a file of anything else is not continued.
    block : callable
        Gives rows start to stop.
    resume : bool
        Continue what was not finished, and refuse to replace a matrix that is; otherwise all is
        computed, and replaces one that is there.
    progress : callable, optional
        Called with rows done and rows in all.
    beside : callable, optional
        Writes the files that belong to the matrix, when it is complete and before it appears.

    Returns
    -------
    array
        A read-only memory map.

    Raises
    ------
    InputError
        If the matrix exists; what was not finished is of other inputs, damaged or without notes;
        another run is writing it; or it cannot be written.
    """
    import numpy as np

    job = _MatrixFile(Path(path), shape, np.dtype(dtype))
    noted = {
        "format": _FORMAT,
        **of,
        "shape": list(shape),
        "dtype": dtype,
        "block_rows": step,
    }
    starts = range(0, shape[0], step)
    check_output(path)
    with naming(str(path)), job.locked(resume=resume) as log:
        done = job.finished(log, noted, starts, resume=resume)
        if len(done) < len(starts) or job.part.exists():
            with job.opened(fresh=not done) as matrix:
                for start in starts:
                    stop = min(start + step, shape[0])
                    if (
                        start not in done
                        or job.checksum(matrix, start, stop) != done[start]
                    ):
                        checksum = job.write(matrix, start, block(start, stop))
                        job.note(log, f"{start} {checksum:08x}\n")
                    report_progress(progress, stop, shape[0], "scoring pairs", "row")
            publish(job.part, job.target, beside)
        job.forget()
    found: NDArray[Any] = np.load(path, mmap_mode="r")
    return found


def npy_header(shape: tuple[int, int], dtype: np.dtype[Any]) -> bytes:
    """Return how a .npy file begins."""
    import numpy as np

    kind, header = np.lib.format.dtype_to_descr(dtype), io.BytesIO()
    described = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, described)
    return header.getvalue()


class _MatrixFile:
    """The file of a matrix, its unfinished numbers, and its notes."""

    def __init__(
        self, file: Path, shape: tuple[int, int], dtype: np.dtype[Any]
    ) -> None:
        self.file, self.dtype = file, dtype
        target = os.path.realpath(file) if file.is_symlink() else str(file)
        self.target = Path(target)
        self.part, self.notes = Path(f"{target}.part"), Path(f"{target}.blocks")
        self.width = shape[1] * dtype.itemsize  # bytes of a row
        self.header = npy_header(shape, dtype)
        self.size = len(self.header) + shape[0] * self.width

    def unfinished(self, why: str, where: Path | None = None) -> InputError:
        """Return the error of files that cannot be continued."""
        where = where or self.file
        return InputError(
            "matrix-unfinished", where, why=why, part=self.part, notes=self.notes
        )

    @contextmanager
    def locked(self, *, resume: bool) -> Iterator[BinaryIO]:
        """Open the notes for this run alone, if all files can be written."""
        if self.file.exists() and not self.file.is_file():
            raise InputError("not-a-file", self.file)
        for place in (self.part, self.notes):  # their names are longer
            check_output(place)
        if (
            resume
            and self.target.exists()
            and not (self.part.exists() or self.notes.exists())
        ):
            raise InputError("matrix-exists", self.file)
        with self.notes.open("a+b", buffering=0) as log:
            if not lock(log, self.notes):
                raise InputError("matrix-locked", self.file)
            yield log

    def note(self, log: BinaryIO, line: str) -> None:
        """Add a line to the notes."""
        if log.write(line.encode()) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(log.fileno())

    def finished(
        self, log: BinaryIO, noted: dict[str, Any], starts: range, *, resume: bool
    ) -> dict[int, int]:
        """Return the finished blocks and their checksums; a new run notes what the matrix is of."""
        log.seek(0)
        lines = log.read().splitlines(keepends=True) if resume else []
        # otherwise nothing was written
        begun = bool(lines) and lines[0].endswith(b"\n")
        exists = self.part.exists()
        if exists and resume and not begun:
            raise self.unfinished("no run has noted what it is", self.part)
        if begun and (exists or self.target.exists()):
            self.check_same(lines[0], noted)
            whole = [line for line in lines if line.endswith(b"\n")]
            matches = [
                re.fullmatch(rb"(\d{1,18}) ([0-9a-f]{8})\n", line) for line in whole[1:]
            ]
            every = {int(one[1]): int(one[2], 16) for one in matches if one}
            done = {start: every[start] for start in starts if start in every}
            # all: killed before the notes were removed
            if exists or len(done) == len(starts):
                log.truncate(sum(map(len, whole)))  # a line may be cut off
                return done
        if resume and self.target.exists():
            raise InputError("matrix-exists", self.file)
        log.truncate(0)
        self.note(log, json.dumps(noted) + "\n")
        return {}

    def check_same(self, line: bytes, now: dict[str, Any]) -> None:
        """Refuse the notes of another matrix."""
        try:
            noted = json.loads(line.decode("utf-8"))
            kind = noted.get("format")
        except (ValueError, RecursionError, AttributeError):
            raise self.unfinished("its notes are damaged", self.notes) from None
        if kind != _FORMAT:
            raise self.unfinished("its notes are from another version", self.notes)
        others = []
        for key in [key for key in now if noted.get(key) != now[key]]:
            values = [str(one) for one in (noted.get(key), now[key])]
            was, is_ = (text if len(text) <= 200 else brief(text) for text in values)
            differs = f"its {_NAMED.get(key, key)} is {was}, not {is_}"
            others.append(f"it has other {_HASHED[key]}" if key in _HASHED else differs)
        if others:
            raise self.unfinished(", ".join(others))

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[BinaryIO]:
        """Open the matrix to be written: its header and full length first."""
        # Blocks are written and not assigned to a map of the file: on a full disk, an assignment
        # ends the process.
        whole = self.header, self.size
        with self.part.open("w+b" if fresh else "r+b", buffering=0) as matrix:
            if fresh:
                matrix.write(self.header)
                matrix.truncate(self.size)
            elif (matrix.read(len(self.header)), self.part.stat().st_size) != whole:
                raise self.unfinished(
                    "it is damaged, cut off or of another shape", self.part
                )
            yield matrix

    def forget(self) -> None:
        """Remove the notes of a complete matrix."""
        with suppress(OSError):  # Windows removes no file that is open
            self.notes.unlink()

    def checksum(self, matrix: BinaryIO, start: int, stop: int) -> int:
        """Return the checksum of rows that were written."""
        matrix.seek(len(self.header) + start * self.width)
        left, found = (stop - start) * self.width, 0
        while left and (data := matrix.read(min(left, _CHUNK))):
            left, found = left - len(data), zlib.crc32(data, found)
        return found

    def write(self, matrix: BinaryIO, start: int, rows: NDArray[Any]) -> int:
        """Write rows at their place and on the disk, and return their checksum."""
        import numpy as np

        data = np.ascontiguousarray(rows, self.dtype).data.cast("B")
        checksum = zlib.crc32(data)
        matrix.seek(len(self.header) + start * self.width)
        while data:
            data = data[matrix.write(data) :]
        os.fsync(matrix.fileno())
        return checksum
