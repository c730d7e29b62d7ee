"""A matrix written block by block into a .npy file, by a job that can be killed and run again.

Conventions
-----------
Beside ``phi.npy`` stands ``phi.npy.blocks``: what the matrix is of, as one line of JSON, then the
first row of each block that is finished, a line each. A block is noted only after its numbers are
written. The boundaries of blocks are noted too, so that a run that was interrupted gives the digits
of one that was not. The file stays there when the matrix is complete.

A run locks its notes, so that no other run writes the same matrix. Where the file system has no
locks (some network drives), two runs on one file are not noticed.

The notes are worth nothing without the matrix: where it is gone, all of it is computed again.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError, brief
from semmetrics.store import lock

__all__ = ["write_matrix"]

_FORMAT = "semmetrics.matrix/1"
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
        Continue a file that is there; otherwise it is written anew.
    progress : callable, optional
        Called with rows done and rows in all.

    Returns
    -------
    array
        A read-only memory map.

    Raises
    ------
    InputError
        If there is a file of other inputs, or one that no run has noted, or a damaged one; another
        run is writing it; or it cannot be written.
    """
    job = _File(Path(path), shape, np.dtype(dtype))
    said = {"format": _FORMAT, **of, "shape": list(shape), "dtype": dtype, "block_rows": step}
    starts = range(0, shape[0], step)
    job.check_place(resume=resume)
    with job.locked() as log:
        done = job.finished(log, said, starts, resume=resume)
        with job.opened(fresh=not done) as matrix:
            for start in starts:
                stop = min(start + step, shape[0])
                if start not in done:
                    job.write(matrix, start, block(start, stop))
                    job.note(log, f"{start}\n")
                if progress is not None:
                    progress(stop, shape[0])
    found: NDArray[Any] = np.load(job.file, mmap_mode="r")
    return found


class _File:
    """The file of a matrix, and its notes."""

    def __init__(self, file: Path, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.file, self.shape, self.dtype = file, shape, dtype
        self.notes = Path(f"{file}.blocks")
        self.header = 0  # bytes before the numbers

    def wrong(self, problem: str, where: Path | None = None) -> InputError:
        """An error about files that cannot be continued."""
        return InputError(
            problem,
            where=str(where or self.file),
            remedy=f"choose another path, remove {self.file} and {self.notes}, or overwrite them "
            "with resume=False (--overwrite)",
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Errors of the system, with the name of the file."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"it cannot be written: {error.strerror or type(error).__name__}",
                where=str(self.file),
                remedy="make room or choose another place; a run on the same file continues it",
            ) from error

    def check_place(self, *, resume: bool) -> None:
        """Whether a file can be there, before anything is written."""
        problem = ""
        if self.file.exists() and not self.file.is_file():
            problem = "this is a folder" if self.file.is_dir() else "it is no regular file"
        elif not self.file.parent.is_dir():
            problem = "there is no such folder"
        elif resume and self.file.exists() and not self.notes.exists():
            raise self.wrong(_NOT_NOTED)
        if problem:
            remedy = "name a file in a folder that exists"
            raise InputError(problem, where=str(self.file), remedy=remedy)

    @contextmanager
    def locked(self) -> Iterator[BinaryIO]:
        """The notes, open, and of this run alone."""
        with self.writing():
            log = self.notes.open("a+b", buffering=0)
        with log:
            if not lock(log):
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
    ) -> set[int]:
        """The blocks that are there; a new run notes what the matrix is of."""
        log.seek(0)
        lines = log.read().splitlines(keepends=True) if resume else []
        begun = bool(lines) and lines[0].endswith(b"\n")  # otherwise nothing was written
        if resume and self.file.exists():
            if not begun:
                raise self.wrong(_NOT_NOTED)
            self.check_same(lines[0], said)
            whole = [line for line in lines if line.endswith(b"\n")]
            log.truncate(sum(map(len, whole)))  # a line may be cut off
            known = {b"%d\n" % start: start for start in starts}
            return {known[line] for line in whole[1:] if line in known}
        log.truncate(0)
        self.note(log, json.dumps(said) + "\n")
        return set()

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
            if fresh:  # maps of the file as it was stay as they are; a link stays a link
                Path(os.path.realpath(self.file)).unlink(missing_ok=True)
            matrix = self.file.open("w+b" if fresh else "r+b", buffering=0)
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

    def check_matrix(self) -> None:
        """Refuse a file that is not as long as the matrix, or of another shape."""
        try:
            found = np.lib.format.open_memmap(self.file, mode="r")
        except (OSError, ValueError) as error:  # a map longer than the file, too
            raise self.wrong(f"it is damaged or cut off ({error})") from None
        if found.shape != self.shape or found.dtype != self.dtype or not found.flags.c_contiguous:
            raise self.wrong(f"it has shape {found.shape} and type {found.dtype}")
        self.header = found.offset

    def write(self, matrix: BinaryIO, start: int, rows: NDArray[Any]) -> None:
        """Put rows at their place, on the disk."""
        data = np.ascontiguousarray(rows, self.dtype).data.cast("B")
        with self.writing():
            matrix.seek(self.header + start * self.shape[1] * self.dtype.itemsize)
            while data:
                data = data[matrix.write(data) :]
            os.fsync(matrix.fileno())


def _difference(key: str, noted: Any, said: Any) -> str:
    if key in _HASHED:
        return f"its {_HASHED[key]} are others"
    short = [str(value) if len(str(value)) <= 200 else brief(value) for value in (noted, said)]
    return f"its {_NAMED.get(key, key)} is {short[0]}, not {short[1]}"
