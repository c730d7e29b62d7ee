"""A matrix written block by block into a .npy file, by a job that can be killed and run again.

Conventions
-----------
``phi.npy`` appears when it is complete. Until then its numbers are in ``phi.npy.part``, beside
``phi.npy.blocks``: what the matrix is of, as one line of JSON, then the first row of each finished
block and a checksum of its numbers, a line each. A block is noted only after its numbers are
written; one whose numbers are others later is computed again. The boundaries of blocks
are noted too, so that a run that was interrupted gives the digits of one that was not. Both files
are gone when the matrix is there, which is then replaced on request only.

A run locks its notes, so that no other run writes the same matrix. Where the file system has no
locks (some network drives), two runs on one file are not noticed.

The notes are worth nothing without the numbers: where these are gone, all are computed again.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError
from semmetrics.messages import brief
from semmetrics.store import lock
from semmetrics.store.outputs import check_output, naming, publish

__all__ = ["write_matrix"]

_FORMAT = "semmetrics.matrix/3"
_CHUNK = 1 << 20  # bytes that are read at a time
# Of what is noted as a hash, only that it differs is worth saying.
_HASHED = {"df": "document frequencies", "inputs": "captions or references"}
_NOT_NOTED = "the file is there already, and no run has noted what it is"
_NAMED = {"block_rows": "number of rows of a block (memory=)", "dtype": "type of numbers"}


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
        If the matrix is there already; what was not finished is of other inputs or damaged, or no
        run has noted what it is; another run is writing it; or it cannot be written.
    """
    job = _File(Path(path), shape, np.dtype(dtype))
    said = {"format": _FORMAT, **of, "shape": list(shape), "dtype": dtype, "block_rows": step}
    starts = range(0, shape[0], step)
    check_output(path)
    job.check_place(resume=resume)
    with job.locked() as log:
        done = job.finished(log, said, starts, resume=resume)
        if len(done) < len(starts) or job.part.exists():
            _write_blocks(job, log, done, starts, block, progress)
            job.publish(beside)
        job.forget()
    found: NDArray[Any] = np.load(job.file, mmap_mode="r")
    return found


def _write_blocks(
    job: _File,
    log: BinaryIO,
    done: Mapping[int, int],
    starts: range,
    block: Callable[[int, int], NDArray[Any]],
    progress: Callable[[int, int], None] | None,
) -> None:
    """Compute and note the blocks that are not there yet, or not as they were noted."""
    rows = job.shape[0]
    with job.opened(fresh=not done) as matrix:
        for start in starts:
            stop = min(start + starts.step, rows)
            if start not in done or job.checksum(matrix, start, stop) != done[start]:
                checksum = job.write(matrix, start, block(start, stop))
                job.note(log, f"{start} {checksum:08x}\n")
            if progress is not None:
                progress(stop, rows)


class _File:
    """The file of a matrix, its unfinished numbers, and its notes."""

    def __init__(self, file: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.file, self.shape, self.dtype = file, shape, dtype
        target = os.path.realpath(file) if file.is_symlink() else str(file)
        self.target = Path(target)
        self.part, self.notes = Path(f"{target}.part"), Path(f"{target}.blocks")
        self.header = 0  # bytes before the numbers

    def there(self) -> InputError:
        """The error about a matrix that is complete."""
        return InputError(
            "the file is there already",
            where=str(self.file),
            remedy="choose another path, or compute it again with resume=False (--overwrite)",
        )

    def wrong(self, problem: str, where: Path | None = None) -> InputError:
        """An error about files that cannot be continued."""
        return InputError(
            problem,
            where=str(where or self.file),
            remedy=f"choose another path, remove {self.part} and {self.notes}, or compute all of "
            "it with resume=False (--overwrite)",
        )

    def writing(self) -> AbstractContextManager[None]:
        """Errors of the system, with the name of the file."""
        return naming(
            str(self.file), "make room or choose another place; a run on the same file continues it"
        )

    def check_place(self, *, resume: bool) -> None:
        """Whether a file can be there, before anything is written."""
        if self.file.exists() and not self.file.is_file():
            remedy = "name a file in a folder that exists"
            raise InputError("it is no regular file", where=str(self.file), remedy=remedy)
        for place in (self.part, self.notes):  # their names are longer
            check_output(place)
        if resume and self.target.exists() and not (self.part.exists() or self.notes.exists()):
            raise self.there()

    @contextmanager
    def locked(self) -> Iterator[BinaryIO]:
        """The notes, open, and of this run alone."""
        with self.writing():
            log = self.notes.open("a+b", buffering=0)
        with log:
            # Notes that another run has just removed would be lost.
            gone = not self.notes.exists() or not os.path.samestat(
                os.fstat(log.fileno()), self.notes.stat()
            )
            if gone or not lock(log):
                raise InputError(
                    "another run is writing it",
                    where=str(self.file),
                    remedy="wait until it has ended, or choose another path",
                )
            yield log

    def note(self, log: BinaryIO, line: str) -> None:
        """Add a line to the notes."""
        with self.writing():
            if log.write(line.encode()) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(log.fileno())

    def finished(
        self, log: BinaryIO, said: dict[str, Any], starts: range, *, resume: bool
    ) -> dict[int, int]:
        """The blocks that are there, and their checksums; a new run notes what the matrix is of."""
        log.seek(0)
        lines = log.read().splitlines(keepends=True) if resume else []
        begun = bool(lines) and lines[0].endswith(b"\n")  # otherwise nothing was written
        there = self.part.exists()
        if there and resume and not begun:
            raise self.wrong(_NOT_NOTED, self.part)
        if begun and (there or self.target.exists()):
            self.check_same(lines[0], said)
            whole = [line for line in lines if line.endswith(b"\n")]
            noted = [re.fullmatch(rb"(\d{1,18}) ([0-9a-f]{8})\n", line) for line in whole[1:]]
            every = {int(one[1]): int(one[2], 16) for one in noted if one}
            done = {start: every[start] for start in starts if start in every}
            if there or len(done) == len(starts):  # all: killed before the notes were removed
                log.truncate(sum(map(len, whole)))  # a line may be cut off
                return done
        if resume and self.target.exists():
            raise self.there()
        log.truncate(0)
        self.note(log, json.dumps(said) + "\n")
        return {}

    def check_same(self, line: bytes, said: dict[str, Any]) -> None:
        """Refuse the notes of another matrix."""
        try:
            noted = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            noted = None
        if not isinstance(noted, dict):
            raise self.wrong("it is damaged", self.notes)
        if noted.get("format") != _FORMAT:
            raise self.wrong("it was written by another version", self.notes)
        keys = [key for key in said if noted.get(key) != said[key]]
        if keys:
            parts = [_difference(key, noted.get(key), said[key]) for key in keys]
            raise self.wrong(f"it is of something else: {'; '.join(parts)}")

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[BinaryIO]:
        """The matrix, open to be written."""
        # Blocks are written and not assigned to a map of the file: on a full disk, an assignment
        # ends the process.
        with self.writing():
            matrix = self.part.open("w+b" if fresh else "r+b", buffering=0)
        with matrix:
            if not fresh:
                self.check_matrix()
            else:  # write the header, and make the file as long as it will be
                kind = np.lib.format.dtype_to_descr(self.dtype)
                header = {"descr": kind, "fortran_order": False, "shape": self.shape}
                with self.writing():
                    np.lib.format.write_array_header_1_0(matrix, header)
                    self.header = matrix.tell()
                    matrix.truncate(self.header + prod(self.shape) * self.dtype.itemsize)
            yield matrix

    def publish(self, beside: Callable[[], None] | None) -> None:
        """Give the numbers, which are complete, the name of the matrix."""
        with self.writing():
            publish(self.part, self.target, beside)

    def forget(self) -> None:
        """Remove the notes of a matrix that is there."""
        with suppress(OSError):  # Windows removes no file that is open
            self.notes.unlink()

    def check_matrix(self) -> None:
        """Refuse a file that is not as long as the matrix, or of another shape."""
        try:
            found = np.lib.format.open_memmap(self.part, mode="r")
        except (OSError, ValueError) as error:  # a map longer than the file, too
            raise self.wrong(f"it is damaged or cut off ({error})", self.part) from None
        if found.shape != self.shape or found.dtype != self.dtype or not found.flags.c_contiguous:
            raise self.wrong(f"it has shape {found.shape} and type {found.dtype}", self.part)
        self.header = found.offset

    def place(self, row: int) -> int:
        """Where a row begins."""
        return self.header + row * self.shape[1] * self.dtype.itemsize

    def checksum(self, matrix: BinaryIO, start: int, stop: int) -> int:
        """The checksum of rows that were written."""
        with self.writing():
            matrix.seek(self.place(start))
            left, found = self.place(stop) - self.place(start), 0
            while left and (data := matrix.read(min(left, _CHUNK))):
                left, found = left - len(data), zlib.crc32(data, found)
        return found

    def write(self, matrix: BinaryIO, start: int, rows: NDArray[Any]) -> int:
        """Put rows at their place, on the disk, and return their checksum."""
        data = np.ascontiguousarray(rows, self.dtype).data.cast("B")
        checksum = zlib.crc32(data)
        with self.writing():
            matrix.seek(self.place(start))
            while data:
                data = data[matrix.write(data) :]
            os.fsync(matrix.fileno())
        return checksum


def _difference(key: str, noted: Any, said: Any) -> str:
    if key in _HASHED:
        return f"its {_HASHED[key]} are others"
    short = [str(value) if len(str(value)) <= 200 else brief(value) for value in (noted, said)]
    return f"its {_NAMED.get(key, key)} is {short[0]}, not {short[1]}"
